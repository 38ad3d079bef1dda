//! FooCluster: finds the network that the user named, and publishes it for pools and for Cluster API.
//!
//! Nothing is made in AWS. The object stays until the last pool of its cluster is gone, because pools find their region
//! and their network through it.

mod managed;
mod network;

use crate::Context;
use crate::apply::{self, StatusWriter};
use crate::backoff::jittered;
use crate::clock::kube_time;
use crate::clouds::{CloudKey, CloudRegion};
use crate::credentials::Credentials;
use crate::harness::{Harness, Outcome, Reconciler, Urgency};
use crate::identities::identity_of;
use crate::metrics::{Controller, Watched};
use crate::owners;
use crate::queue::Action;
use crate::watch::{ChangeFilter, Scope, Watch, refs_of};
use foo_api::capi::Cluster;
use foo_api::cluster::{FailureDomain, NetworkStatus};
use foo_api::conditions::{self, NewCondition};
use foo_api::shared::Initialization;
use foo_api::{FooCluster, FooClusterStatus, FooMachinePool, names};
use foo_cloud::CloudError;
use foo_cloud::lookups::Asking;
use foo_model::Reason;
use foo_planner::desired::Blocked;
use foo_planner::report::{Severity, some_names};
use futures::{StreamExt, stream};
use kube::{Api, Resource, ResourceExt};
use kube_runtime::reflector::{ObjectRef, Store};
use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How soon a network that could not be found is looked for again.
const LOOK_AGAIN: Duration = Duration::from_mins(1);
const CREDENTIALS_READY: &str = "CredentialsReady";

/// Runs the controller until `shutdown` resolves.
pub async fn run(context: Context, shutdown: impl Future<Output = ()> + Send + Sync + 'static) {
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
    let label = pool.labels().get(names::CLUSTER_NAME_LABEL);
    refs_of(clusters, |cluster| {
        cluster.metadata.deletion_timestamp.is_some()
            && cluster.namespace() == pool.namespace()
            && cluster.labels().get(names::CLUSTER_NAME_LABEL) == label
    })
}

struct Clusters {
    context: Context,
    own: Store<FooCluster>,
    owners: Store<Cluster>,
    pools: Store<FooMachinePool>,
    status: StatusWriter,
    /// Until when this process believes what an earlier one found, and with which credentials it began to.
    believed: Mutex<HashMap<ObjectRef<FooCluster>, (Instant, CloudKey)>>,
    /// The cloud of each cluster, kept in being by this.
    regions: Mutex<HashMap<ObjectRef<FooCluster>, Arc<CloudRegion>>>,
}

/// What a pass found.
enum Found {
    Network(NetworkStatus),
    Blocked(Blocked),
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
        // Nobody waits for an account that is not called.
        let owner = self.owner(cluster)?;
        let calls = cluster.metadata.deletion_timestamp.is_none()
            && !cluster.annotations().contains_key(names::MANAGED_BY_ANNOTATION)
            && !owners::is_paused(cluster.as_ref(), Some(&owner));
        let credentials = self.credentials(cluster).ok().filter(|_| calls)?;
        Some((CloudKey::of(&credentials, &cluster.spec.region), Urgency::Usual))
    }

    async fn pass(&self, cluster: Self::Gathered) -> Result<Outcome, Self::Error> {
        self.pass_over(&cluster).await
    }
}

impl Clusters {
    async fn pass_over(&self, cluster: &FooCluster) -> Result<Outcome, apply::Error> {
        let api: Api<FooCluster> =
            Api::namespaced(self.context.client.clone(), &cluster.namespace().unwrap_or_default());
        let owner = self.owner(cluster);
        let paused = owners::is_paused(cluster, owner.as_deref());
        if cluster.metadata.deletion_timestamp.is_some() {
            return self.remove(&api, cluster, paused).await;
        }
        if cluster.annotations().contains_key(names::MANAGED_BY_ANNOTATION) {
            return Ok(Outcome::skipped(Action::await_change()));
        }
        if paused {
            let said = Said { paused: true, ..Said::as_before(cluster) };
            let written = self.publish(&api, cluster, &as_published(cluster), said).await?;
            return Ok(Outcome::wrote(written, Action::await_change()));
        }
        if owner.is_none() {
            let blocked = Blocked::new(
                Reason::WaitingForCluster,
                "no Cluster references this FooCluster in spec.infrastructureRef yet",
            );
            let written =
                self.publish(&api, cluster, &Found::Blocked(blocked), Said::of(not_yet_used())).await?;
            return Ok(Outcome::wrote(written, Action::await_change()));
        }
        if !cluster.finalizers().iter().any(|finalizer| finalizer == names::CLUSTER_FINALIZER) {
            apply::add_finalizer(&api, cluster, names::CLUSTER_FINALIZER).await?;
        }
        let region = self.region(cluster).await;
        let found = match &region {
            Ok(region) if self.believes(cluster, &region.key) => as_published(cluster),
            Ok(region) => named(look(cluster, region).await, &cluster.spec.region),
            Err(blocked) => Found::Blocked(blocked.clone()),
        };
        let found = self.allowed(cluster, found);
        // What was found is remembered for long; credentials may have been refused since.
        let refusal = region.ok().and_then(|region| region.observer.refusal());
        let said = credentials(&found, refusal.as_ref().map(|(_, error)| error));
        let period = match (&found, &refusal) {
            (Found::Network(_), None) => self.context.settings.sync_period,
            (Found::Network(_), Some(_)) | (Found::Blocked(_), _) => LOOK_AGAIN,
        };
        let written = self.publish(&api, cluster, &found, Said::of(said)).await?;
        Ok(Outcome::wrote(written, Action::requeue(jittered(period, &cluster.name_any()))))
    }

    /// A manager that starts again believes what its predecessor found for this very spec, until the next look is due: a
    /// thousand clusters must not all be looked up at once.
    fn believes(&self, cluster: &FooCluster, with: &CloudKey) -> bool {
        let now = Instant::now();
        let period = jittered(self.context.settings.sync_period, &cluster.name_any());
        let mut believed = self.believed.lock().unwrap_or_else(PoisonError::into_inner);
        let first = || (now + period, with.clone());
        let (until, began_with) = believed.entry(ObjectRef::from_obj(cluster)).or_insert_with(first);
        if began_with != with || !with.is_managers_own() {
            // What others found, or these before others, says nothing about what these find now.
            *until = now;
        }
        now < *until && is_found(cluster)
    }

    fn credentials(&self, cluster: &FooCluster) -> Result<Arc<Credentials>, Blocked> {
        let name = cluster.spec.identity_ref.as_ref().map(|reference| reference.name.as_str());
        let namespace = cluster.namespace().unwrap_or_default();
        self.context.identities.credentials(name, &namespace, &cluster.spec.region)
    }

    /// The cluster's cloud, or why nobody may call AWS for it. It is let go when the cluster turns to another.
    async fn region(&self, cluster: &FooCluster) -> Result<Arc<CloudRegion>, Blocked> {
        let key = ObjectRef::from_obj(cluster);
        let region = match self.credentials(cluster) {
            Ok(credentials) => {
                let connected = self.context.clouds.get(&credentials, &cluster.spec.region).await;
                connected.map_err(|error| Blocked::new(Reason::CredentialsInvalid, error.to_string()))
            }
            Err(blocked) => Err(blocked),
        };
        let mut regions = self.regions.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that went without asking us.
        regions.retain(|key, _| self.own.get(key).is_some());
        match &region {
            Ok(region) => drop(regions.insert(key, Arc::clone(region))),
            Err(_) => drop(regions.remove(&key)),
        }
        region
    }

    /// What was found, if the cluster's identity allows all of it.
    fn allowed(&self, cluster: &FooCluster, found: Found) -> Found {
        let Found::Network(network) = &found else { return found };
        let name = cluster.spec.identity_ref.as_ref().map(|reference| reference.name.as_str());
        let subnets = network.subnets.iter().map(|subnet| subnet.id.as_str());
        match self.context.identities.limits(name).subnets(subnets) {
            Ok(()) => found,
            Err(blocked) => Found::Blocked(blocked),
        }
    }

    fn forget(&self, cluster: &FooCluster) {
        let key = ObjectRef::from_obj(cluster);
        self.regions.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        self.believed.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }

    /// The Cluster that owns this object; core sets the reference.
    fn owner(&self, cluster: &FooCluster) -> Option<Arc<Cluster>> {
        owners::of_kind(cluster, "Cluster", &self.owners)
    }

    async fn publish(
        &self,
        api: &Api<FooCluster>,
        cluster: &FooCluster,
        found: &Found,
        said: Said,
    ) -> Result<apply::Written, apply::Error> {
        let now = kube_time(self.context.clock.as_ref());
        let tells = said.deleting.is_none();
        let status = status(cluster, found, &said, now);
        let written = self.status.apply_if_changed(api, cluster, cluster.status.as_ref(), &status).await?;
        if let (apply::Written::Yes, Found::Blocked(blocked), true) = (written, found, tells) {
            let object = cluster.object_ref(&());
            self.context
                .events
                .publish(&object, Severity::Warning, blocked.reason.as_str(), &blocked.message)
                .await;
        }
        Ok(written)
    }

    /// Waits for the pools, then lets go. AWS is not asked: there is nothing of ours in it.
    async fn remove(
        &self,
        api: &Api<FooCluster>,
        cluster: &FooCluster,
        paused: bool,
    ) -> Result<Outcome, apply::Error> {
        if !cluster.finalizers().iter().any(|finalizer| finalizer == names::CLUSTER_FINALIZER) {
            self.forget(cluster);
            return Ok(Outcome::settled(Action::await_change()));
        }
        let moved = cluster.annotations().contains_key(names::DELETE_FOR_MOVE_ANNOTATION);
        if paused && !moved {
            let why = Blocked::new(Reason::Paused, "paused: nothing is deleted until it is unpaused");
            let said = Said { paused, deleting: Some(why), ..Said::as_before(cluster) };
            let written = self.publish(api, cluster, &as_published(cluster), said).await?;
            return Ok(Outcome::wrote(written, Action::await_change()));
        }
        let label = cluster.labels().get(names::CLUSTER_NAME_LABEL);
        let left = self.pools.state_filter(|pool| {
            pool.namespace() == cluster.namespace()
                && label.is_some()
                && pool.labels().get(names::CLUSTER_NAME_LABEL) == label
        });
        if left.is_empty() || moved {
            apply::remove_finalizer(api, cluster, names::CLUSTER_FINALIZER).await?;
            self.forget(cluster);
            return Ok(Outcome::worked(Action::await_change()));
        }
        let names: Vec<String> =
            left.iter().map(|pool| pool.name_any()).collect::<BTreeSet<_>>().into_iter().collect();
        let why = Blocked::new(
            Reason::WaitingForPools,
            format!(
                "waiting for these FooMachinePools of the cluster to be deleted: {}",
                some_names(names.iter().map(String::as_str))
            ),
        );
        let said = Said { deleting: Some(why), ..Said::as_before(cluster) };
        let written = self.publish(api, cluster, &as_published(cluster), said).await?;
        Ok(Outcome::wrote(written, Action::await_change()))
    }
}

/// What is said of a FooCluster besides its network.
struct Said {
    credentials: NewCondition,
    paused: bool,
    /// What its deletion waits for, if it is being deleted.
    deleting: Option<Blocked>,
}

impl Said {
    fn of(credentials: NewCondition) -> Self {
        Self { credentials, paused: false, deleting: None }
    }

    /// Of one for which nobody looks now.
    fn as_before(cluster: &FooCluster) -> Self {
        Self::of(published(cluster, CREDENTIALS_READY).unwrap_or_else(not_yet_used))
    }
}

/// Where AWS does not answer, the region may be misspelt, and nothing else would show it.
fn named(found: Found, region: &str) -> Found {
    match found {
        Found::Blocked(blocked) if blocked.reason == Reason::AwsUnreachable => {
            Found::Blocked(Blocked { message: unreachable(region, &blocked.message), ..blocked })
        }
        found => found,
    }
}

/// In words for people that AWS does not answer in a region.
pub(crate) fn unreachable(region: &str, message: &str) -> String {
    format!(
        "AWS did not answer in region {region}: is the FooCluster's spec.region right, and can the manager reach its \
         endpoints? ({message})"
    )
}

async fn look(cluster: &FooCluster, region: &CloudRegion) -> Found {
    let observed = cluster.status.as_ref().and_then(|status| {
        status.conditions.iter().find(|condition| condition.type_ == "NetworkReady")?.observed_generation
    });
    let asking = if observed == cluster.metadata.generation { Asking::Again } else { Asking::Anew };
    let Some(existing) = &cluster.spec.network.existing else {
        let message = "spec.network names no existing network";
        return Found::Blocked(Blocked::new(Reason::SubnetNotFound, message));
    };
    match network::find(existing, &region.lookups, asking).await {
        Ok(network) => Found::Network(network),
        Err(blocked) => Found::Blocked(blocked),
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
        (condition, _) => Found::Blocked(
            condition
                .and_then(|said| Some(Blocked::new(Reason::parse(&said.reason)?, said.message.as_str())))
                .unwrap_or_else(|| Blocked::new(Reason::Paused, "not looked up while paused")),
        ),
    }
}

fn status(cluster: &FooCluster, found: &Found, said: &Said, now: jiff::Timestamp) -> FooClusterStatus {
    let old = cluster.status.clone().unwrap_or_default();
    let was_ready = old.ready == Some(true);
    let (network, condition) = match found {
        Found::Network(network) => {
            (Some(network.clone()), ("True", Reason::NetworkFound.as_str(), String::new()))
        }
        Found::Blocked(blocked) => {
            (old.network.clone(), ("False", blocked.reason.as_str(), blocked.message.clone()))
        }
    };
    let ready = was_ready || matches!(found, Found::Network(_));
    let paused_as = if said.paused {
        ("True", Reason::Paused.as_str(), String::new())
    } else {
        ("False", Reason::NotPaused.as_str(), String::new())
    };
    let deleting = match &said.deleting {
        Some(why) => ("True", why.reason.as_str(), why.message.clone()),
        None => ("False", Reason::NotDeleting.as_str(), String::new()),
    };
    let credentials = &said.credentials;
    // Of a network that was found, nobody can use anything with credentials that AWS refuses.
    let summary = match (&said.deleting, found) {
        (Some(why), _) => ("False", Reason::Deleting.as_str(), why.message.clone()),
        (None, Found::Network(_)) if credentials.status == "False" => {
            ("False", credentials.reason.as_str(), credentials.message.clone())
        }
        (None, _) => condition.clone(),
    };
    let conditions = [
        wanted("Ready", summary),
        said.credentials.clone(),
        wanted("NetworkReady", condition),
        wanted("Paused", paused_as),
        wanted("Deleting", deleting),
    ];
    FooClusterStatus {
        initialization: Some(Initialization { provisioned: Some(ready) }),
        ready: Some(ready),
        failure_domains: network.as_ref().map_or_else(|| old.failure_domains.clone(), failure_domains),
        network,
        conditions: conditions::merge(&old.conditions, &conditions, cluster.metadata.generation, now),
    }
}

fn wanted(kind: &str, (status, reason, message): (&'static str, &str, String)) -> NewCondition {
    NewCondition { kind: kind.to_owned(), status, reason: reason.to_owned(), message }
}

/// What is to be said of the credentials: whoever found something, or not, was let in.
fn credentials(found: &Found, refusal: Option<&CloudError>) -> NewCondition {
    let (status, reason, message) = match (found, refusal) {
        (Found::Network(_), Some(error)) => ("False", error.kind.into(), error.to_string()),
        (Found::Blocked(blocked), _) if blocked.reason.is_about_credentials() => {
            ("False", blocked.reason, blocked.message.clone())
        }
        (Found::Blocked(blocked), _) if blocked.reason.is_transient() => {
            ("Unknown", blocked.reason, blocked.message.clone())
        }
        (Found::Network(_), None) | (Found::Blocked(_), _) => ("True", Reason::Accepted, String::new()),
    };
    wanted(CREDENTIALS_READY, (status, reason.as_str(), message))
}

fn not_yet_used() -> NewCondition {
    wanted(
        CREDENTIALS_READY,
        ("Unknown", Reason::NotYetVerified.as_str(), "AWS has not been asked yet".to_owned()),
    )
}

/// A condition as it stands in the status.
fn published(cluster: &FooCluster, kind: &str) -> Option<NewCondition> {
    let conditions = cluster.status.as_ref()?.conditions.iter();
    let condition = conditions.into_iter().find(|condition| condition.type_ == kind)?;
    let status = match condition.status.as_str() {
        "True" => "True",
        "False" => "False",
        _ => "Unknown",
    };
    Some(wanted(kind, (status, &condition.reason, condition.message.clone())))
}

/// One failure domain per zone, sorted. Control plane machines run in none of them.
fn failure_domains(network: &NetworkStatus) -> Vec<FailureDomain> {
    let zones: BTreeSet<&String> = network.subnets.iter().map(|subnet| &subnet.zone).collect();
    zones
        .into_iter()
        .map(|zone| FailureDomain { name: zone.clone(), control_plane: false, attributes: None })
        .collect()
}
