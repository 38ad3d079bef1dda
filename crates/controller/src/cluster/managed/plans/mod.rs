//! Responds to FooPlans about FooClusters: the forecast of `foo_network` on the inputs of a pass over the changed object.
//!
//! It only reads, from AWS too: what a forecast depends on and no pass has read yet.

mod fields;

use super::pass::Pass;
use crate::calls::{self, Driver as _, Goal, Progress};
use crate::clouds::CloudRegion;
use crate::cluster::clusters::Clusters;
use crate::cluster::network_state::{NetworkState, reads};
use crate::owners;
use crate::plans::calls::{About, result};
use crate::plans::changed::{Changed, trusted_annotations};
use crate::plans::objects::Subject;
use crate::plans::{Foresees, computed, copied, in_words};
use fields::fields;
use foo_api::FooCluster;
use foo_api::cluster::ManagedNetwork;
use foo_api::names::MANAGED_BY_ANNOTATION;
use foo_api::plan::{FooPlan, FooPlanStatus};
use foo_model::names::NETWORK_ID_ANNOTATION;
use foo_model::{Blocked, Timestamp};
use foo_network::forecast::{ENDPOINT, End, Forecast, NAT, Read, remaining};
use foo_network::report::ReadRequest;
use foo_network::{Action, Desired, Observed};
use kube::api::ObjectMeta;
use kube::{Api, ResourceExt};
use kube_runtime::reflector::ObjectRef;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Times that a forecast may need more reads: of each kind in each scope one is enough.
const ROUNDS: usize = 20;
/// The age of a read that suffices.
const AGE: Duration = Duration::from_mins(1);

const NOT_MANAGED: &str =
    "plans are about networks that the provider creates (spec.network.managed), and that is immutable";

impl Foresees for Clusters {
    type Question = Changed<FooCluster>;

    fn question(&self, plan: &FooPlan) -> Result<Option<Self::Question>, String> {
        if Subject::of(plan) != Subject::Network {
            return Ok(None);
        }
        Changed::of(plan, &self.own, self.context.settings.watch_filter.is_some(), trusted)
    }

    async fn foresee(
        &self,
        question: &Self::Question,
        computes: &Arc<Semaphore>,
    ) -> Result<FooPlanStatus, String> {
        let Changed { present, planned } = question;
        let (Some(managed), Some(planned_network)) =
            (&present.spec.network.managed, &planned.spec.network.managed)
        else {
            return Err(NOT_MANAGED.to_owned());
        };
        if present.annotations().contains_key(MANAGED_BY_ANNOTATION) {
            return Err("another controller manages the FooCluster".to_owned());
        }
        let slot = self.networks.of(&ObjectRef::from_obj(present.as_ref()));
        let copy = |state: &NetworkState| state.is_of(present).then(|| state.for_plan());
        let mut state = copied(&slot, "network", copy).await?;
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
        let network = result(about, &forecast, why, remaining(&forecast.report), notes(&forecast));
        Ok(FooPlanStatus { network: Some(network), ..FooPlanStatus::default() })
    }
}

impl Clusters {
    /// What a pass over an object with this content would have the network be, from what was read by now.
    async fn inputs_for_plan(
        &self,
        cluster: &FooCluster,
        managed: &ManagedNetwork,
        state: &NetworkState,
    ) -> Result<(Desired, Observed, Arc<CloudRegion>), Blocked> {
        let region = self.usable_region(cluster, Goal::Keep).await?;
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
        computes: &Arc<Semaphore>,
    ) -> Result<(Desired, Timestamp, Forecast), String> {
        for _ in 0..ROUNDS {
            let inputs = self.inputs_for_plan(planned, managed, state).await;
            let (desired, observed, region) = inputs.map_err(|it| in_words(&it))?;
            let now = observed.now;
            let (wanted, process) = (desired.clone(), state.process.clone());
            let compute = move || foo_network::forecast(&wanted, &observed, &process.record, &process.memory);
            let forecast = computed(computes, compute).await?;
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

/// The FooCluster with everything that users do not decide as it is in the cluster. Where AWS is called, and with whose
/// credentials, is the same: what another identity may read is not for whoever writes a FooPlan.
fn trusted(planned: FooCluster, present: &FooCluster) -> Result<FooCluster, String> {
    let FooCluster { metadata, spec, status: _ } = planned;
    if spec.region != present.spec.region || spec.identity_ref != present.spec.identity_ref {
        return Err("a plan has the region and the identity of the present FooCluster".to_owned());
    }
    if spec.network.managed.is_none() {
        return Err(NOT_MANAGED.to_owned());
    }
    let annotations = trusted_annotations(metadata.annotations, present, &[NETWORK_ID_ANNOTATION]);
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
    let minutes = |duration: Duration| duration.as_secs() / 60;
    vec![format!(
        "EC2 does not say how long it takes; assumed: {} min for a NAT gateway, {} min for a VPC endpoint",
        minutes(NAT),
        minutes(ENDPOINT)
    )]
}
