//! FooCluster: finds the network that the user named, and publishes it for pools and for Cluster API.
//!
//! Nothing is made in AWS. The object stays until the last pool of its cluster is gone, because pools find their region
//! and their network through it.

mod network;

use crate::Context;
use crate::apply::{self, StatusWriter};
use crate::backoff::{Backoff, jittered};
use crate::clock::kube_time;
use crate::clouds::CloudKey;
use crate::metrics::{Controller as Which, PassResult, Watched};
use crate::watch::{Passing, Watch, Which as Watching};
use foo_api::capi::Cluster;
use foo_api::cluster::{FailureDomain, NetworkStatus};
use foo_api::conditions::{self, Wanted};
use foo_api::shared::Initialization;
use foo_api::{FooCluster, FooClusterStatus, FooMachinePool, names};
use foo_cloud::lookups::Asking;
use foo_planner::desired::Blocked;
use foo_planner::report::Severity;
use futures::StreamExt;
use kube::runtime::controller::{Action, Config, Controller};
use kube::{Api, Resource, ResourceExt};
use kube_runtime::reflector::{ObjectRef, Store};
use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How soon a network that could not be found is looked for again.
const LOOK_AGAIN: Duration = Duration::from_mins(1);

/// Runs the controller until `shutdown` resolves.
pub async fn run(context: Context, shutdown: impl Future<Output = ()> + Send + Sync + 'static) {
    let own =
        Watch::<FooCluster>::guarded(&context, Watched::FooCluster, Watching::Ours, Passing::AllButStatus);
    let clusters =
        Watch::<Cluster>::guarded(&context, Watched::Cluster, Watching::All, Passing::AllButStatus);
    let pools = Watch::<FooMachinePool>::guarded(
        &context,
        Watched::FooMachinePool,
        Watching::All,
        Passing::AllButStatus,
    );
    let concurrency = context.settings.concurrency;
    let of_pool = own.store.clone();
    let reconciler = Arc::new(Clusters {
        backoff: Backoff::new(context.settings.seed),
        believed: Mutex::default(),
        status: StatusWriter::new(names::managers::CLUSTER_STATUS),
        owners: clusters.store,
        pools: pools.store,
        context,
    });
    Controller::for_stream(own.changes, own.store)
        .with_config(Config::default().concurrency(concurrency))
        .watches_stream(clusters.changes, move |cluster: Cluster| {
            let namespace = cluster.namespace();
            let reference =
                cluster.spec.infrastructure_ref.filter(|reference| reference.kind == "FooCluster");
            reference.map(|reference| ObjectRef::new(&reference.name).within(&namespace.unwrap_or_default()))
        })
        .watches_stream(pools.changes, move |pool: FooMachinePool| {
            // Only a FooCluster that waits for its pools cares.
            let label = pool.labels().get(names::CLUSTER_NAME_LABEL).cloned();
            of_pool
                .state_filter(|cluster| {
                    cluster.metadata.deletion_timestamp.is_some()
                        && cluster.namespace() == pool.namespace()
                        && cluster.labels().get(names::CLUSTER_NAME_LABEL) == label.as_ref()
                })
                .iter()
                .map(|cluster| ObjectRef::from_obj(cluster.as_ref()))
                .collect::<Vec<_>>()
        })
        .graceful_shutdown_on(shutdown)
        .run(
            |cluster, reconciler: Arc<Clusters>| reconciler.reconcile(cluster),
            |_cluster, error: &apply::Error, _reconciler| {
                tracing::error!(%error, "a pass ended with an error");
                Action::requeue(Duration::from_secs(30))
            },
            reconciler,
        )
        .for_each(|_| std::future::ready(()))
        .await;
}

struct Clusters {
    context: Context,
    owners: Store<Cluster>,
    pools: Store<FooMachinePool>,
    status: StatusWriter,
    backoff: Backoff<ObjectRef<FooCluster>>,
    /// Until when this process believes what an earlier one found.
    believed: Mutex<HashMap<ObjectRef<FooCluster>, Instant>>,
}

/// What a pass found.
enum Found {
    Network(NetworkStatus),
    Blocked(Blocked),
}

impl Clusters {
    async fn reconcile(self: Arc<Self>, cluster: Arc<FooCluster>) -> Result<Action, apply::Error> {
        let measured = self.context.metrics.pass_starts(Which::Cluster);
        let key = ObjectRef::from_obj(cluster.as_ref());
        let generation = cluster.metadata.generation;
        if let Some(left) = self.backoff.held(&key, &generation, Instant::now()) {
            measured.ends(PassResult::Skipped);
            return Ok(Action::requeue(left));
        }
        if self.owners.wait_until_ready().await.is_err() || self.pools.wait_until_ready().await.is_err() {
            return Ok(Action::await_change());
        }
        match self.pass(&cluster).await {
            Ok((action, result)) => {
                measured.ends(result);
                self.backoff.succeeded(&key);
                Ok(action)
            }
            Err(error) => {
                measured.ends(PassResult::Failed);
                tracing::warn!(cluster = %key, %error, "the pass failed");
                Ok(Action::requeue(self.backoff.failed(&key, generation, Instant::now())))
            }
        }
    }

    async fn pass(&self, cluster: &FooCluster) -> Result<(Action, PassResult), apply::Error> {
        let api: Api<FooCluster> =
            Api::namespaced(self.context.client.clone(), &cluster.namespace().unwrap_or_default());
        let owner = self.owner(cluster);
        let paused = cluster.annotations().contains_key(names::PAUSED_ANNOTATION)
            || owner.as_ref().is_some_and(|owner| owner.is_paused());
        if cluster.metadata.deletion_timestamp.is_some() {
            return self.remove(&api, cluster, paused).await;
        }
        if cluster.annotations().contains_key(names::MANAGED_BY_ANNOTATION) {
            return Ok((Action::await_change(), PassResult::Skipped));
        }
        if paused {
            let written = self.publish(&api, cluster, &as_published(cluster), true).await?;
            return Ok((Action::await_change(), result(written)));
        }
        let Some(owner) = owner else {
            let blocked = Blocked::new(
                "WaitingForCluster",
                "no Cluster names this FooCluster in spec.infrastructureRef yet",
            );
            let written = self.publish(&api, cluster, &Found::Blocked(blocked), false).await?;
            return Ok((Action::await_change(), result(written)));
        };
        if !cluster.finalizers().iter().any(|finalizer| finalizer == names::CLUSTER_FINALIZER) {
            apply::add_finalizer(&api, cluster, names::CLUSTER_FINALIZER).await?;
        }
        tracing::trace!(cluster = owner.name_any(), "looking for the network");
        let found = if self.believes(cluster) { as_published(cluster) } else { self.look(cluster).await };
        let written = self.publish(&api, cluster, &found, false).await?;
        let period = match found {
            Found::Network(_) => self.context.settings.sync_period,
            Found::Blocked(_) => LOOK_AGAIN,
        };
        Ok((Action::requeue(jittered(period, &cluster.name_any())), result(written)))
    }

    /// A manager that starts again believes what its predecessor found for this very spec, until the next look is due: a
    /// thousand clusters must not all be looked up at once.
    fn believes(&self, cluster: &FooCluster) -> bool {
        let now = Instant::now();
        let period = jittered(self.context.settings.sync_period, &cluster.name_any());
        let mut believed = self.believed.lock().unwrap_or_else(PoisonError::into_inner);
        let until = believed.entry(ObjectRef::from_obj(cluster)).or_insert_with(|| now + period);
        now < *until && is_found(cluster)
    }

    /// The Cluster that owns this object; core sets the reference.
    fn owner(&self, cluster: &FooCluster) -> Option<Arc<Cluster>> {
        let owner = cluster.owner_references().iter().find(|owner| owner.kind == "Cluster")?;
        self.owners.get(&ObjectRef::new(&owner.name).within(&cluster.namespace().unwrap_or_default()))
    }

    async fn look(&self, cluster: &FooCluster) -> Found {
        let region = match self.context.clouds.get(&CloudKey::default_in(cluster.spec.region.as_str())).await
        {
            Ok(region) => region,
            Err(error) => return Found::Blocked(Blocked::new("Credentials", error.to_string())),
        };
        let observed = cluster.status.as_ref().and_then(|status| {
            status.conditions.iter().find(|condition| condition.type_ == "NetworkReady")?.observed_generation
        });
        let asking = if observed == cluster.metadata.generation { Asking::Again } else { Asking::Anew };
        match network::find(&cluster.spec.network, &region.lookups, asking).await {
            Ok(network) => Found::Network(network),
            Err(blocked) => Found::Blocked(blocked),
        }
    }

    async fn publish(
        &self,
        api: &Api<FooCluster>,
        cluster: &FooCluster,
        found: &Found,
        paused: bool,
    ) -> Result<apply::Written, apply::Error> {
        let now = kube_time(self.context.clock.as_ref());
        let status = status(cluster, found, paused, now);
        let written = self.status.apply_if_changed(api, cluster, cluster.status.as_ref(), &status).await?;
        if let (apply::Written::Yes, Found::Blocked(blocked)) = (written, found) {
            let object = cluster.object_ref(&());
            self.context.events.publish(&object, Severity::Warning, &blocked.reason, &blocked.message).await;
        }
        Ok(written)
    }

    /// Waits for the pools, then lets go. AWS is not asked: there is nothing of ours in it.
    async fn remove(
        &self,
        api: &Api<FooCluster>,
        cluster: &FooCluster,
        paused: bool,
    ) -> Result<(Action, PassResult), apply::Error> {
        if !cluster.finalizers().iter().any(|finalizer| finalizer == names::CLUSTER_FINALIZER) {
            return Ok((Action::await_change(), PassResult::Settled));
        }
        let moved = cluster.annotations().contains_key(names::DELETE_FOR_MOVE_ANNOTATION);
        if paused && !moved {
            return Ok((Action::await_change(), PassResult::Skipped));
        }
        let label = cluster.labels().get(names::CLUSTER_NAME_LABEL);
        let left = self.pools.state_filter(|pool| {
            pool.namespace() == cluster.namespace()
                && label.is_some()
                && pool.labels().get(names::CLUSTER_NAME_LABEL) == label
        });
        if left.is_empty() || moved {
            apply::remove_finalizer(api, cluster, names::CLUSTER_FINALIZER).await?;
            return Ok((Action::await_change(), PassResult::Worked));
        }
        Ok((Action::await_change(), PassResult::Settled))
    }
}

/// Whether the status says that the network of this very spec was found.
fn is_found(cluster: &FooCluster) -> bool {
    let conditions = cluster.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
    conditions.iter().any(|condition| {
        condition.type_ == "NetworkReady"
            && condition.status == "True"
            && condition.observed_generation == cluster.metadata.generation
    })
}

/// What the status says already: while paused nobody looks.
fn as_published(cluster: &FooCluster) -> Found {
    let status = cluster.status.as_ref();
    let condition = status.and_then(|status| status.conditions.iter().find(|c| c.type_ == "NetworkReady"));
    let network = status.and_then(|status| status.network.clone());
    match (condition, network) {
        (Some(condition), Some(network)) if condition.status == "True" => Found::Network(network),
        (Some(condition), _) => {
            Found::Blocked(Blocked::new(condition.reason.as_str(), condition.message.as_str()))
        }
        (None, _) => Found::Blocked(Blocked::new("Paused", "not looked for while paused")),
    }
}

fn result(written: apply::Written) -> PassResult {
    match written {
        apply::Written::Yes => PassResult::Worked,
        apply::Written::Unchanged => PassResult::Settled,
    }
}

fn status(cluster: &FooCluster, found: &Found, paused: bool, now: jiff::Timestamp) -> FooClusterStatus {
    let old = cluster.status.clone().unwrap_or_default();
    let was_ready = old.ready == Some(true);
    let (network, condition) = match found {
        Found::Network(network) => (Some(network.clone()), ("True", "NetworkFound", String::new())),
        Found::Blocked(blocked) => {
            (old.network.clone(), ("False", blocked.reason.as_str(), blocked.message.clone()))
        }
    };
    let ready = was_ready || matches!(found, Found::Network(_));
    let wanted = |kind: &str, (status, reason, message): (&'static str, &str, String)| Wanted {
        kind: kind.to_owned(),
        status,
        reason: reason.to_owned(),
        message,
    };
    let paused_as =
        if paused { ("True", "Paused", String::new()) } else { ("False", "NotPaused", String::new()) };
    let conditions =
        [wanted("Ready", condition.clone()), wanted("NetworkReady", condition), wanted("Paused", paused_as)];
    FooClusterStatus {
        initialization: Some(Initialization { provisioned: Some(ready) }),
        ready: Some(ready),
        failure_domains: network.as_ref().map_or_else(|| old.failure_domains.clone(), failure_domains),
        network,
        conditions: conditions::merge(&old.conditions, &conditions, cluster.metadata.generation, now),
    }
}

/// One failure domain per zone, sorted. Control plane machines run in none of them.
fn failure_domains(network: &NetworkStatus) -> Vec<FailureDomain> {
    let zones: BTreeSet<&String> = network.subnets.iter().map(|subnet| &subnet.zone).collect();
    zones
        .into_iter()
        .map(|zone| FailureDomain { name: zone.clone(), control_plane: false, attributes: None })
        .collect()
}
