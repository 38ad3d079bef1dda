//! Responds to FooPlans about FooControlPlanes: the forecast of `foo_eks` on the inputs of a pass over the changed object.
//!
//! It only reads, from AWS too: what a forecast depends on and no pass has read yet.

mod fields;
mod in_aws;

use super::control_planes::EksControlPlanes;
use super::state::EksState;
use crate::calls::{Driver as _, Goal, Purpose};
use crate::owners;
use crate::plans::calls::{About, result};
use crate::plans::changed::{Changed, trusted_annotations};
use crate::plans::{copied, in_words, minutes};
use crate::responders::{Computes, Foreseen, Foresees};
use fields::fields;
use foo_api::FooControlPlane;
use foo_api::control_plane::Eks;
use foo_api::plan::{CallsPlan, FooPlan, FooPlanStatus};
use foo_eks::Desired;
use foo_eks::forecast::{ADDON, CONFIG_UPDATE, CREATION, End, Forecast, VERSION_UPDATE, remaining};
use foo_eks::report::ReadRequest;
use foo_model::eks::{Change, ClusterChange};
use foo_model::{Blocked, Timestamp};
use in_aws::resources;
use kube::ResourceExt;
use kube::api::ObjectMeta;
use kube_runtime::reflector::ObjectRef;

/// Reads of AWS for one plan, at most. A cluster with ten add-ons and ten access entries needs about fifty, if no pass has read
/// them; each further entry two.
const READS: usize = 500;

const OTHER_MODE: &str = "plans are about control planes in mode eks, and the mode is immutable";

impl Foresees for EksControlPlanes {
    fn foresee<'a>(&'a self, plan: &'a FooPlan, computes: &'a Computes) -> Foreseen<'a> {
        Box::pin(async {
            let is_filtered = self.context.settings.watch_filter.is_some();
            let Some(changed) = Changed::of(plan, &self.own, is_filtered, trusted)? else { return Ok(None) };
            let control_plane = Some(self.foresee_control_plane(&changed, computes).await?);
            Ok(Some(FooPlanStatus { control_plane, ..FooPlanStatus::default() }))
        })
    }
}

impl EksControlPlanes {
    async fn foresee_control_plane(
        &self,
        Changed { present, planned }: &Changed<FooControlPlane>,
        computes: &Computes,
    ) -> Result<CallsPlan, String> {
        let (Some(eks), Some(planned_eks)) = (&present.spec.eks, &planned.spec.eks) else {
            return Err(OTHER_MODE.to_owned());
        };
        if self.owner(present).is_none() {
            return Err("no Cluster references the FooControlPlane yet".to_owned());
        }
        let slot = self.states.find(&ObjectRef::from_obj(present.as_ref()));
        let copy = |state: &EksState| state.is_of(present).then(|| state.for_plan());
        let state = copied(slot, "control plane", copy).await?;
        // Of what is paused there may have been no pass.
        let clock = self.context.kubernetes_clock.found().difference;
        let mut state = state.unwrap_or_else(|| EksState::first(present, clock));
        let before = self.desired_for_plan(present, eks, &state).await;
        let desired = self.desired_for_plan(planned, planned_eks, &state).await;
        let desired = desired.map_err(|it| in_words(&it))?;
        let (now, forecast) = self.foresee_calls(planned, &desired, &mut state, computes).await?;
        let about = About {
            name: &planned.name_any(),
            before: before.map(|before| fields(&before, &eks.maintenance_windows)),
            after: fields(&desired, &planned_eks.maintenance_windows),
            is_paused: desired.paused,
            now,
        };
        let why = |action: &foo_eks::Action| action.why.clone();
        Ok(result(about, &forecast, why, resources, remaining(&forecast.report), notes(&forecast)))
    }

    /// What a pass over an object with this content would have the cluster be.
    async fn desired_for_plan(
        &self,
        control_plane: &FooControlPlane,
        eks: &Eks,
        state: &EksState,
    ) -> Result<Desired, Blocked> {
        let pass = self.begin(control_plane, eks, Goal::Keep, Purpose::Plan).await?;
        let now = self.context.clock.now();
        let mut desired = pass.desired(&pass.observed(state, now), state)?;
        desired.paused = owners::is_paused(control_plane, self.owner(control_plane).as_deref());
        Ok(desired)
    }

    /// The forecast, with all reads that it depends on, and when it begins.
    async fn foresee_calls(
        &self,
        planned: &FooControlPlane,
        desired: &Desired,
        state: &mut EksState,
        computes: &Computes,
    ) -> Result<(Timestamp, Forecast), String> {
        let place = self.place(planned).map_err(|it| in_words(&it))?;
        let credentials = self.credentials(planned, &place).map_err(|it| in_words(&it))?;
        let region = self
            .region(planned, &credentials, &place.region, Purpose::Plan)
            .await
            .map_err(|it| in_words(&it))?;
        let mut reads = 0;
        loop {
            let now = self.context.clock.now();
            let clocks = self.context.kubernetes_clock.found().agreement;
            let observed = state.reads.observed(now, clocks, region.clock());
            let (desired, process) = (desired.clone(), state.process.clone());
            let compute = move || foo_eks::forecast(&desired, &observed, &process.record, &process.memory);
            let forecast = computes.result(compute).await?;
            let End::Unknown(queries) = &forecast.end else { return Ok((now, forecast)) };
            reads += queries.len();
            if reads > READS {
                return Err(format!("more than {READS} reads of AWS would be needed"));
            }
            let requests: Vec<ReadRequest> =
                queries.iter().map(|query| ReadRequest { query: query.clone(), from: now }).collect();
            // What fails is part of what is observed then, and of the forecast.
            let _failure = state.reads.take(&requests, &region.clusters, now).await;
        }
    }
}

/// The control plane with everything that users do not decide as it is in the cluster.
fn trusted(planned: FooControlPlane, present: &FooControlPlane) -> Result<FooControlPlane, String> {
    let FooControlPlane { metadata, mut spec, status: _ } = planned;
    let (Some(eks), Some(present_eks)) = (&mut spec.eks, &present.spec.eks) else {
        return Err(OTHER_MODE.to_owned());
    };
    eks.name.clone_from(&present_eks.name);
    let annotations = trusted_annotations(metadata.annotations, Some(present));
    let metadata = ObjectMeta { annotations: Some(annotations), ..present.metadata.clone() };
    Ok(FooControlPlane { metadata, spec, status: present.status.clone() })
}

fn notes(forecast: &Forecast) -> Vec<String> {
    let mut notes = Vec::new();
    if !forecast.steps.is_empty() {
        notes.push(format!(
            "EKS does not say how long it takes; assumed: {} for a version, {} for the configuration, {} for an add-on, {} for a new \
             cluster",
            minutes(VERSION_UPDATE),
            minutes(CONFIG_UPDATE),
            minutes(ADDON),
            minutes(CREATION)
        ));
    }
    let upgrades = forecast.steps.iter().filter(|step| is_upgrade(&step.action.change)).count();
    if upgrades > 1 {
        notes.push(
            "EKS has upgrade insights about the next version only: those about later ones may still hold the upgrade up".to_owned(),
        );
    }
    notes
}

fn is_upgrade(change: &Change) -> bool {
    matches!(change, Change::Cluster { change: ClusterChange::UpdateVersion { .. }, .. })
}
