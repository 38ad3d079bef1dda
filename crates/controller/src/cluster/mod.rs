//! FooCluster: finds the network that the user named, or creates one, and publishes it for pools and for
//! Cluster API.
//!
//! Nothing is created in AWS for an existing network ([`network`]); [`managed`] creates, maintains and
//! deletes one. The object stays until the last pool of its cluster is deleted, because pools read their
//! region and their network from it.

mod clusters;
mod managed;
mod network;
mod network_state;
mod removal;
mod status;

use crate::apply::{self, StatusWriter};
use crate::backoff::jittered;
use crate::calls::{Goal, Purpose};
use crate::clouds::{CloudKey, CloudRegion};
use crate::harness::{Harness, PassOutcome, Reconciler, Urgency};
use crate::identities::identity_of;
use crate::labels::{Controller, Watched};
use crate::owners;
use crate::queue::Action;
use crate::responders::Subject;
use crate::watch::{ChangeFilter, Scope, Watch, refs_of};
use crate::{Context, installation};
use clusters::{Clusters, READ_AGAIN};
use foo_api::capi::Cluster;
use foo_api::in_aws::Thing;
use foo_api::{FooCluster, FooMachinePool, names};
use foo_cloud::lookups::Asking;
use foo_model::{Blocked, Reason};
use futures::{StreamExt, stream};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{Api, ResourceExt};
use kube_runtime::reflector::{ObjectRef, Store};
use status::{Found, Published, credentials, is_found, not_yet_used};
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::Instant;

/// Runs the controller until `shutdown` resolves.
pub async fn run(context: Context, shutdown: impl Future<Output = ()> + Send + Sync + 'static) {
    let mut shutdown = Box::pin(shutdown);
    let installation = tokio::select! {
        id = installation::id(&context.client, &context.readiness) => id,
        () = &mut shutdown => return,
    };
    let own =
        Watch::<FooCluster>::lenient(&context, Watched::FooCluster, Scope::Ours, ChangeFilter::AllButStatus);
    let clusters =
        Watch::<Cluster>::lenient(&context, Watched::Cluster, Scope::All, ChangeFilter::AllButStatus);
    let pools = Watch::<FooMachinePool>::lenient(
        &context,
        Watched::FooMachinePool,
        Scope::All,
        ChangeFilter::AllButStatus,
    );
    let reconciler = Arc::new(Clusters {
        installation,
        networks: network_state::Networks::default(),
        believed: Mutex::default(),
        regions: Mutex::default(),
        status: StatusWriter::new(names::managers::CLUSTER_STATUS),
        own: own.store.clone(),
        owners: clusters.store.clone(),
        pools: pools.store.clone(),
        context: context.clone(),
    });
    let (of_identity, of_pool) = (own.store.clone(), own.store.clone());
    let identified = context.identities.changes().flat_map(move |names| {
        stream::iter(refs_of(&of_identity, |cluster| names.contains(identity_of(cluster))))
    });
    Harness::new(&context, Controller::Cluster, own)
        .watches(clusters, infrastructure_of)
        .watches(pools, move |pool| waiting_for(&of_pool, &pool))
        .foresees(Subject::Network, &reconciler)
        .reconciles_on(identified)
        .needs_identities()
        .run(reconciler, shutdown)
        .await;
}

/// The FooCluster that a Cluster names.
fn infrastructure_of(cluster: Cluster) -> Option<ObjectRef<FooCluster>> {
    let namespace = cluster.namespace().unwrap_or_default();
    let reference = cluster.spec.infrastructure_ref.filter(|reference| reference.kind == "FooCluster")?;
    Some(ObjectRef::new(&reference.name).within(&namespace))
}

/// FooClusters whose deletion waits for a pool.
fn waiting_for(clusters: &Store<FooCluster>, pool: &FooMachinePool) -> Vec<ObjectRef<FooCluster>> {
    refs_of(clusters, |cluster| {
        cluster.metadata.deletion_timestamp.is_some() && cluster.namespace() == pool.namespace()
    })
}

impl Reconciler for Clusters {
    type Object = FooCluster;
    type Gathered = Arc<FooCluster>;
    type Fingerprint = Option<i64>;
    type Error = apply::Error;

    fn gather(&self, cluster: Arc<FooCluster>) -> Self::Gathered {
        cluster
    }

    fn fingerprint(&self, cluster: &Self::Gathered) -> Self::Fingerprint {
        cluster.metadata.generation
    }

    fn cloud(&self, cluster: &Self::Gathered) -> Option<(CloudKey, Urgency)> {
        // An account without calls needs no slot.
        let calls = match cluster.metadata.deletion_timestamp {
            None => self.owner(cluster).is_some() && !self.is_left_alone(cluster, Goal::Keep),
            Some(_) => self.may_have_network(cluster) && !self.is_left_alone(cluster, Goal::Delete),
        };
        let credentials = self.credentials(cluster).ok().filter(|_| calls)?;
        Some((CloudKey::of(&credentials, &cluster.spec.region), Urgency::Usual))
    }

    fn conditions(cluster: &FooCluster) -> Option<&[Condition]> {
        Some(cluster.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default())
    }

    async fn pass(&self, cluster: Self::Gathered) -> Result<PassOutcome, Self::Error> {
        self.pass_over(&cluster).await
    }
}

impl Clusters {
    async fn pass_over(&self, cluster: &FooCluster) -> Result<PassOutcome, apply::Error> {
        let api: Api<FooCluster> =
            Api::namespaced(self.context.client.clone(), &cluster.namespace().unwrap_or_default());
        let owner = self.owner(cluster);
        let paused = owners::is_paused(cluster, owner.as_deref());
        if cluster.metadata.deletion_timestamp.is_some() {
            return self.remove(&api, cluster, paused).await;
        }
        if cluster.annotations().contains_key(names::MANAGED_BY_ANNOTATION) {
            return Ok(PassOutcome::skipped(Action::await_change()));
        }
        if paused {
            let published = Published { paused: true, ..Published::as_before(cluster) };
            let written = self.publish(&api, cluster, &self.as_published(cluster), published).await?;
            return Ok(PassOutcome::wrote(written, Action::await_change()));
        }
        if owner.is_none() {
            let blocked = Blocked::new(
                Reason::WaitingForCluster,
                "no Cluster references this FooCluster in spec.infrastructureRef yet",
            );
            let written =
                self.publish(&api, cluster, &Found::Blocked(blocked), Published::of(not_yet_used())).await?;
            return Ok(PassOutcome::wrote(written, Action::await_change()));
        }
        if !cluster.finalizers().iter().any(|finalizer| finalizer == names::CLUSTER_FINALIZER) {
            apply::add_finalizer(&api, cluster, names::CLUSTER_FINALIZER).await?;
        }
        match &cluster.spec.network.managed {
            Some(managed) => {
                let ended = self.network_pass(&api, cluster, managed, Goal::Keep).await?;
                Ok(ended.outcome())
            }
            None => self.find_network(&api, cluster).await,
        }
    }

    /// Looks up the network that the user named.
    async fn find_network(
        &self,
        api: &Api<FooCluster>,
        cluster: &FooCluster,
    ) -> Result<PassOutcome, apply::Error> {
        let region = self.region(cluster, Purpose::Pass).await;
        let found = match &region {
            Ok(region) if self.believes(cluster, &region.key) => self.as_published(cluster),
            Ok(region) => named(look_up(cluster, region).await, &cluster.spec.region),
            Err(blocked) => Found::Blocked(blocked.clone()),
        };
        let found = self.allowed(cluster, found);
        // Lookups are cached for long; AWS may have refused the credentials since.
        let refusal = region.ok().and_then(|region| region.observer.refusal());
        let condition = credentials(&found, refusal.as_ref().map(|(_, error)| error));
        let period = match (&found, &refusal) {
            (Found::Network(_), None) => self.context.settings.sync_period,
            (Found::Network(_), Some(_)) | (Found::Managed(_) | Found::Blocked(_), _) => READ_AGAIN,
        };
        let written = self.publish(api, cluster, &found, Published::of(condition)).await?;
        Ok(PassOutcome::wrote(written, Action::requeue(jittered(period, &cluster.name_any()))))
    }

    /// After a restart the manager trusts what its predecessor found for this very spec until the next
    /// lookup is due: otherwise it would look up a thousand clusters at once.
    fn believes(&self, cluster: &FooCluster, with: &CloudKey) -> bool {
        let now = Instant::now();
        let period = jittered(self.context.settings.sync_period, &cluster.name_any());
        let mut believed = self.believed.lock().unwrap_or_else(PoisonError::into_inner);
        let first = || (now + period, with.clone());
        let (until, began_with) = believed.entry(ObjectRef::from_obj(cluster)).or_insert_with(first);
        if began_with != with || !with.is_managers_own() {
            // What other credentials found, or these with other limits, may differ from what these find
            // now.
            *until = now;
        }
        now < *until && is_found(cluster)
    }

    /// What was found, if the cluster's identity allows all of it.
    fn allowed(&self, cluster: &FooCluster, found: Found) -> Found {
        let Found::Network(network) = &found else { return found };
        let name = cluster.spec.identity_ref.as_ref().map(|reference| reference.name.as_str());
        let limits = self.context.identities.limits(name, &cluster.namespace().unwrap_or_default());
        let allowed = limits
            .vpc(&network.vpc_id)
            .and_then(|()| limits.subnets(network.subnets.iter().map(|subnet| subnet.id.as_str())))
            .and_then(|()| limits.security_groups(network.security_groups.iter().map(String::as_str)))
            .and_then(|()| {
                let subnets = network.subnets.iter().map(|subnet| (Thing::Subnet, subnet.id.as_str()));
                let groups = network.security_groups.iter().map(|id| (Thing::SecurityGroup, id.as_str()));
                let vpc = (Thing::Vpc, network.vpc_id.as_str());
                let neighbours = self.context.identities.neighbours(&self.own);
                limits.of_neighbours([vpc].into_iter().chain(subnets).chain(groups), &neighbours)
            });
        match allowed {
            Ok(()) => found,
            Err(blocked) => Found::Blocked(blocked),
        }
    }
}

/// If AWS does not respond, the region may be misspelt, and nothing else would show it.
fn named(found: Found, region: &str) -> Found {
    match found {
        Found::Blocked(blocked) if blocked.reason == Reason::AwsUnreachable => {
            Found::Blocked(Blocked { message: unreachable(region, &blocked.message), ..blocked })
        }
        found => found,
    }
}

/// User-facing message for an unreachable region.
pub(crate) fn unreachable(region: &str, message: &str) -> String {
    format!(
        "AWS did not respond in region {region}: is the FooCluster's spec.region right, and can the manager reach its \
         endpoints? ({message})"
    )
}

async fn look_up(cluster: &FooCluster, region: &CloudRegion) -> Found {
    let observed = cluster.status.as_ref().and_then(|status| {
        status.conditions.iter().find(|condition| condition.type_ == "NetworkReady")?.observed_generation
    });
    let asking = if observed == cluster.metadata.generation { Asking::Again } else { Asking::New };
    let Some(existing) = &cluster.spec.network.existing else {
        let message = "spec.network names no existing network";
        return Found::Blocked(Blocked::new(Reason::SubnetNotFound, message));
    };
    match network::find(existing, &region.lookups, asking).await {
        Ok(network) => Found::Network(Box::new(network)),
        Err(blocked) => Found::Blocked(blocked),
    }
}
