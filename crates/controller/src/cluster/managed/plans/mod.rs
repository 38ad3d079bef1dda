//! Responds to FooPlans about FooClusters: the forecast of `foo_network` on the inputs of a pass over the changed object.
//!
//! It only reads, from AWS too: what a forecast depends on and no pass has read yet.

mod fields;
mod in_aws;

use super::pass::Pass;
use crate::calls::{self, Driver as _, Goal, Progress, Purpose};
use crate::clouds::CloudRegion;
use crate::cluster::clusters::Clusters;
use crate::cluster::network_state::{NetworkState, reads};
use crate::owners;
use crate::plans::calls::{About, result};
use crate::plans::changed::{Changed, trusted_annotations};
use crate::plans::{copied, in_words, minutes};
use crate::responders::{Computes, Foreseen, Foresees};
use fields::fields;
use foo_api::FooCluster;
use foo_api::cluster::ManagedNetwork;
use foo_api::names::MANAGED_BY_ANNOTATION;
use foo_api::plan::{CallsPlan, FooPlan, FooPlanStatus};
use foo_model::{Blocked, Timestamp};
use foo_network::forecast::{ENDPOINT, End, Forecast, NAT, Read, remaining};
use foo_network::report::ReadRequest;
use foo_network::{Action, Desired, Observed};
use in_aws::resources;
use kube::api::ObjectMeta;
use kube::{Api, ResourceExt};
use kube_runtime::reflector::ObjectRef;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Times that a forecast may need more reads: of each kind in each scope one is enough.
const ROUNDS: usize = 20;
/// The age of a read that suffices.
const AGE: Duration = Duration::from_mins(1);

const NOT_MANAGED: &str =
    "plans are about networks that the provider creates (spec.network.managed), and that is immutable";

impl Foresees for Clusters {
    fn foresee<'a>(&'a self, plan: &'a FooPlan, computes: &'a Computes) -> Foreseen<'a> {
        Box::pin(async {
            let is_filtered = self.context.settings.watch_filter.is_some();
            let Some(changed) = Changed::of(plan, &self.own, is_filtered, trusted)? else { return Ok(None) };
            let network = Some(self.foresee_network(&changed, computes).await?);
            Ok(Some(FooPlanStatus { network, ..FooPlanStatus::default() }))
        })
    }
}

impl Clusters {
    async fn foresee_network(
        &self,
        Changed { present, planned }: &Changed<FooCluster>,
        computes: &Computes,
    ) -> Result<CallsPlan, String> {
        let (Some(managed), Some(planned_network)) =
            (&present.spec.network.managed, &planned.spec.network.managed)
        else {
            return Err(NOT_MANAGED.to_owned());
        };
        if present.annotations().contains_key(MANAGED_BY_ANNOTATION) {
            return Err("another controller manages the FooCluster".to_owned());
        }
        if self.owner(present).is_none() {
            return Err("no Cluster references the FooCluster yet".to_owned());
        }
        let mut state = self.state_for_plan(present).await?;
        self.learn_connection(present, planned_network, &mut state).await;
        let before = self.inputs_for_plan(present, managed, &state).await.map(|(desired, ..)| desired);
        let (desired, now, forecast) =
            self.foresee_calls(planned, planned_network, &mut state, computes).await?;
        let about = About {
            name: &planned.name_any(),
            before: before.map(|before| fields(&before)),
            after: fields(&desired),
            is_paused: desired.paused,
            now,
        };
        Ok(result(about, &forecast, why, resources, remaining(&forecast.report), notes(&forecast)))
    }

    /// A copy of what is remembered of a network. Of what is paused, or may not call AWS, no pass has read anything: then it is
    /// what a first pass would begin with.
    async fn state_for_plan(&self, present: &FooCluster) -> Result<NetworkState, String> {
        let slot = self.networks.find(&ObjectRef::from_obj(present));
        let copy = |state: &NetworkState| state.is_of(present).then(|| state.for_plan());
        let clock = self.context.kubernetes_clock.found().difference;
        let state = copied(slot, "network", copy).await?;
        let mut state = state.unwrap_or_else(|| NetworkState::first(present, clock));
        if state.zones.is_empty() {
            let region = self.region(present, Purpose::Plan).await.map_err(|it| in_words(&it))?;
            let zones = reads::zones(&region.networks).await;
            state.zones = zones.map_err(|error| format!("AWS cannot be read: {error}"))?;
        }
        self.learn_name(present, Goal::Keep, &mut state).await.map_err(|it| in_words(&it))?;
        Ok(state)
    }

    /// What a pass over an object with this content would have the network be, from what was read by now.
    async fn inputs_for_plan(
        &self,
        cluster: &FooCluster,
        managed: &ManagedNetwork,
        state: &NetworkState,
    ) -> Result<(Desired, Observed, Arc<CloudRegion>), Blocked> {
        let region = self.usable_region(cluster, Goal::Keep, Purpose::Plan).await?;
        let api: Api<FooCluster> =
            Api::namespaced(self.context.client.clone(), &cluster.namespace().unwrap_or_default());
        let now = self.context.clock.now();
        let pass = Pass {
            clusters: self,
            api: &api,
            managed,
            scope: calls::Pass {
                context: &self.context,
                object: cluster,
                own: &self.own,
                goal: Goal::Keep,
                account: region.account().await.ok().map(str::to_owned),
                region: Arc::clone(&region),
            },
            taken: BTreeSet::new(),
            began: now,
            knows_quotas: false,
            progress: Progress::begin(&self.context),
        };
        let observed = pass.observed(state, now);
        let mut desired = pass.desired(&observed, state)?;
        desired.paused = owners::is_paused(cluster, self.owner(cluster).as_deref());
        Ok((desired, observed, region))
    }

    /// The forecast, with all reads that it depends on, and when it begins.
    async fn foresee_calls(
        &self,
        planned: &FooCluster,
        managed: &ManagedNetwork,
        state: &mut NetworkState,
        computes: &Computes,
    ) -> Result<(Desired, Timestamp, Forecast), String> {
        for _ in 0..ROUNDS {
            let inputs = self.inputs_for_plan(planned, managed, state).await;
            let (desired, observed, region) = inputs.map_err(|it| in_words(&it))?;
            let now = observed.now;
            let (wanted, process) = (desired.clone(), state.process.clone());
            let compute = move || foo_network::forecast(&wanted, &observed, &process.record, &process.memory);
            let forecast = computes.result(compute).await?;
            let End::Unknown(unknown) = &forecast.end else { return Ok((desired, now, forecast)) };
            self.read_for_plan(unknown, state, &region).await?;
        }
        Err(format!("AWS was read {ROUNDS} times, and more would be needed"))
    }

    async fn read_for_plan(
        &self,
        unknown: &[Read],
        state: &mut NetworkState,
        region: &CloudRegion,
    ) -> Result<(), String> {
        let now = self.context.clock.now();
        let request = |read: &Read| match read {
            Read::Parts(kind, scope) => {
                Some(ReadRequest { kind: *kind, scope: scope.clone(), from: now.minus(AGE) })
            }
            Read::Quotas => None,
        };
        let requests: Vec<ReadRequest> = unknown.iter().filter_map(request).collect();
        if unknown.contains(&Read::Quotas) {
            state.quotas = Some(reads::quotas(&region.networks).await);
        }
        state.in_view.add(&requests, now);
        match reads::take(&requests, &region.networks).await {
            Some(error) => Err(format!("AWS cannot be read: {error}")),
            None => Ok(()),
        }
    }
}

/// The FooCluster with everything that users do not decide as it is in the cluster. Where AWS is called, with whose
/// credentials, and in which VPC, is the same: what another identity may read, or is in another VPC, is not for whoever writes
/// a FooPlan.
fn trusted(planned: FooCluster, present: &FooCluster) -> Result<FooCluster, String> {
    let FooCluster { metadata, spec, status: _ } = planned;
    if spec.region != present.spec.region || spec.identity_ref != present.spec.identity_ref {
        return Err("a plan has the region and the identity of the present FooCluster".to_owned());
    }
    let (Some(managed), Some(present_network)) = (&spec.network.managed, &present.spec.network.managed)
    else {
        return Err(NOT_MANAGED.to_owned());
    };
    if managed.vpc_id != present_network.vpc_id {
        return Err("a plan has the VPC of the present FooCluster".to_owned());
    }
    let annotations = trusted_annotations(metadata.annotations, Some(present));
    let metadata = ObjectMeta { annotations: Some(annotations), ..present.metadata.clone() };
    Ok(FooCluster { metadata, spec, status: present.status.clone() })
}

/// Why a call is sent; the part is named.
fn why(action: &Action) -> String {
    let role = action.role.to_string();
    if action.why.starts_with(&role) { action.why.clone() } else { format!("{role}: {}", action.why) }
}

fn notes(forecast: &Forecast) -> Vec<String> {
    if forecast.steps.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "EC2 does not say how long it takes; assumed: {} for a NAT gateway, {} for a VPC endpoint",
        minutes(NAT),
        minutes(ENDPOINT)
    )]
}
