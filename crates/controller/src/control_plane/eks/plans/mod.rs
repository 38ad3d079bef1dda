//! Responds to FooPlans about FooControlPlanes.
//!
//! * this file: what is asked, and the forecast of `foo_eks` on the inputs of a pass over the changed object. It only
//!   reads, from AWS too: what a forecast depends on and no pass has read yet;
//! * [`differences`]: what differs in AWS's terms;
//! * [`result`]: the status.

mod differences;
mod result;

use super::control_planes::EksControlPlanes;
use super::state::EksState;
use crate::calls::{Driver as _, Goal};
use crate::owners;
use crate::plans::objects::{are_about_control_plane, check, insert, is_of, not_planned, parse};
use crate::plans::{Foresees, computed, in_words};
use foo_api::FooControlPlane;
use foo_api::control_plane::Eks;
use foo_api::plan::{FooPlan, FooPlanStatus};
use foo_eks::forecast::End;
use foo_eks::report::ReadRequest;
use foo_eks::{Desired, Observed};
use foo_model::Blocked;
use foo_model::names::{ADOPTED_ANNOTATION, CONTROL_PLANE_ID_ANNOTATION, EKS_NAME_ANNOTATION};
use kube::ResourceExt;
use kube::api::ObjectMeta;
use kube_runtime::reflector::ObjectRef;
use result::result;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How long a plan waits for a pass over the same control plane.
const PASS: Duration = Duration::from_secs(20);
/// Reads of AWS for one plan, at most. A new cluster with ten add-ons needs about fifty.
const READS: usize = 200;

const OTHER_MODE: &str = "plans are about control planes in mode eks, and the mode is immutable";

/// A question about one control plane.
pub(super) struct Question {
    /// The control plane as it is.
    present: Arc<FooControlPlane>,
    /// As it is planned.
    planned: Arc<FooControlPlane>,
}

impl Foresees for EksControlPlanes {
    type Question = Question;

    fn question(&self, plan: &FooPlan) -> Result<Option<Question>, String> {
        if !are_about_control_plane(plan) {
            return Ok(None);
        }
        let namespace = plan.namespace().unwrap_or_default();
        let mut planned = None;
        for object in &plan.spec.objects {
            check(object, &namespace)?;
            if !is_of::<FooControlPlane>(object) {
                return Err(not_planned(object));
            }
            insert(&mut planned, parse::<FooControlPlane>(object, &namespace)?)?;
        }
        let Some(planned) = planned else { return Ok(None) };
        let name = planned.name_any();
        let Some(present) = self.own.get(&ObjectRef::new(&name).within(&namespace)) else {
            if self.context.settings.watch_filter.is_some() {
                return Ok(None);
            }
            return Err(format!(
                "there is no FooControlPlane {name} in namespace {namespace}; one is planned only once it and its Cluster exist"
            ));
        };
        if present.metadata.deletion_timestamp.is_some() {
            return Err(format!("FooControlPlane {name} is being deleted"));
        }
        let planned = Arc::new(trusted(planned, &present)?);
        Ok(Some(Question { present, planned }))
    }

    async fn foresee(&self, question: &Question, computes: &Arc<Semaphore>) -> Result<FooPlanStatus, String> {
        let Question { present, planned } = question;
        let (Some(eks), Some(planned_eks)) = (&present.spec.eks, &planned.spec.eks) else {
            return Err(OTHER_MODE.to_owned());
        };
        let mut state = self.copy_of_state(present).await?;
        let before = self.desired_for_plan(present, eks, &state).await;
        let desired = self.desired_for_plan(planned, planned_eks, &state).await;
        let desired = desired.map_err(|it| in_words(&it))?;
        let foreseen = self.foresee_control_plane(planned, desired, &mut state, computes).await?;
        Ok(FooPlanStatus {
            control_plane: Some(result(&planned.name_any(), before, &foreseen)),
            ..FooPlanStatus::default()
        })
    }
}

/// What was foreseen, and from which inputs.
struct Foreseen {
    desired: Desired,
    observed: Observed,
    forecast: foo_eks::forecast::Forecast,
}

impl EksControlPlanes {
    /// A copy of what is remembered of a control plane, once no pass over it is under way.
    async fn copy_of_state(&self, present: &FooControlPlane) -> Result<EksState, String> {
        let slot = self.states.of(&ObjectRef::from_obj(present));
        let state = timeout(PASS, slot.lock())
            .await
            .map_err(|_late| "a pass over the control plane has not ended in time; try again".to_owned())?;
        if !state.is_of(present) {
            return Err(
                "the manager has not reconciled the control plane yet; try again in a minute".to_owned()
            );
        }
        Ok(state.for_plan())
    }

    /// What a pass over an object with this content would have the cluster be.
    async fn desired_for_plan(
        &self,
        control_plane: &FooControlPlane,
        eks: &Eks,
        state: &EksState,
    ) -> Result<Desired, Blocked> {
        let pass = self.begin(control_plane, eks, Goal::Keep).await?;
        let now = self.context.clock.now();
        let mut desired = pass.desired(&pass.observed(state, now), state)?;
        desired.paused = owners::is_paused(control_plane, self.owner(control_plane).as_deref());
        Ok(desired)
    }

    /// The forecast, with all reads that it depends on.
    async fn foresee_control_plane(
        &self,
        planned: &FooControlPlane,
        desired: Desired,
        state: &mut EksState,
        computes: &Arc<Semaphore>,
    ) -> Result<Foreseen, String> {
        let place = self.place(planned).map_err(|it| in_words(&it))?;
        let credentials = self.credentials(planned, &place).map_err(|it| in_words(&it))?;
        let region = self.region(planned, &credentials, &place.region).await.map_err(|it| in_words(&it))?;
        let mut reads = 0;
        loop {
            let now = self.context.clock.now();
            let observed = state.reads.observed(now, region.clock());
            let (wanted, process) = (desired.clone(), state.process.clone());
            let (observed, forecast) = computed(computes, move || {
                let forecast = foo_eks::forecast(&wanted, &observed, &process.record, &process.memory);
                (observed, forecast)
            })
            .await?;
            let End::Unknown(queries) = &forecast.end else {
                return Ok(Foreseen { desired, observed, forecast });
            };
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

/// The control plane with everything that users do not decide as it is in the cluster. The content of a FooPlan is not
/// validated: its author could claim another control plane's identity, and with it what is known of another tenant's
/// cluster.
fn trusted(planned: FooControlPlane, present: &FooControlPlane) -> Result<FooControlPlane, String> {
    let FooControlPlane { metadata, mut spec, status: _ } = planned;
    let (Some(eks), Some(present_eks)) = (&mut spec.eks, &present.spec.eks) else {
        return Err(OTHER_MODE.to_owned());
    };
    eks.name.clone_from(&present_eks.name);
    let mut annotations = metadata.annotations.unwrap_or_default();
    for identity in [CONTROL_PLANE_ID_ANNOTATION, EKS_NAME_ANNOTATION, ADOPTED_ANNOTATION] {
        match present.annotations().get(identity) {
            Some(value) => drop(annotations.insert(identity.to_owned(), value.clone())),
            None => drop(annotations.remove(identity)),
        }
    }
    let metadata = ObjectMeta { annotations: Some(annotations), ..present.metadata.clone() };
    Ok(FooControlPlane { metadata, spec, status: present.status.clone() })
}
