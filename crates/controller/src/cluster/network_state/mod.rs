//! What is remembered of each managed network between passes. All of it can be lost at any time: status and tags
//! suffice.

pub(super) mod reads;
pub(super) mod record;

use crate::calls::Warned;
use crate::calls::identity::Identity;
use crate::calls::state::{States, lock};
use foo_api::FooCluster;
use foo_api::cluster::NetworkStatus;
use foo_calls::Process;
use foo_cloud::NetworkReads;
use foo_model::names::NETWORK_ID_ANNOTATION;
use foo_model::network::{Kind, Quotas, ZoneInfo};
use foo_model::{Difference, Kubernetes, Timestamp, Zone};
use foo_network::desired::Connection;
use foo_network::recorded::{Intent, Origin};
use foo_network::report::Owner;
use foo_network::{Network, Observed, Plan};
use kube::ResourceExt;
use kube_runtime::reflector::{ObjectRef, Store};
use reads::InView;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Of one network.
#[derive(Debug, Default)]
pub(super) struct NetworkState {
    /// The network's id.
    pub(super) identity: Identity,
    pub(super) process: Process<Network>,
    pub(super) in_view: InView,
    /// The kinds of the parts that the network has or is to have.
    pub(super) kinds: BTreeSet<Kind>,
    pub(super) zones: BTreeMap<Zone, ZoneInfo>,
    pub(super) quotas: Option<Quotas>,
    /// The name that the workload cluster has in AWS, as far as known.
    pub(super) kubernetes_cluster: Option<String>,
    /// Whether that name was read by this process, which is done once.
    pub(super) kubernetes_cluster_is_read: bool,
    /// Whether nodes can be connected with the cluster security group of EKS, as far as known. Learned while the spec
    /// requests that.
    pub(super) connection: Connection,
    /// How soon the FooControlPlane is read again for that.
    pub(super) connection_again: Option<Duration>,
    /// Failures that were in events.
    pub(super) warned: Warned,
}

impl NetworkState {
    /// What this process knows of the FooCluster when it sees it first: what the status reports.
    pub(super) fn first(cluster: &FooCluster, clock: Difference<Kubernetes>) -> Self {
        let status = cluster.status.as_ref().and_then(|status| status.network.as_ref());
        let recorded = status.filter(|network| has_begun(network)).and_then(|network| network.id.clone());
        let recorded = recorded.or_else(|| cluster.annotations().get(NETWORK_ID_ANNOTATION).cloned());
        Self {
            identity: Identity::first(cluster, recorded),
            process: Process::new(status.map(|status| record::read(status, clock)).unwrap_or_default()),
            ..Self::default()
        }
    }

    /// The input of the next plan.
    pub(super) fn observed(&self, reads: &NetworkReads, cluster: &str, now: Timestamp) -> Observed {
        let mut observed = self.in_view.observed(reads, (&self.identity.id, cluster), now);
        observed.zones = Some(self.zones.clone());
        observed.quotas.clone_from(&self.quotas);
        observed
    }

    /// What is read from now on, according to a plan.
    pub(super) fn sees(&mut self, plan: &Plan, now: Timestamp) {
        self.in_view.add(&plan.report.reads, now);
        let own = plan.report.resources.iter().filter(|it| it.owner == Owner::Network);
        self.kinds = own.map(|it| it.role.kind()).collect();
        self.in_view.keep(&self.kinds, now);
    }

    /// What plans need of it. Nothing that is done with it has an effect on passes.
    pub(super) fn for_plan(&self) -> Self {
        Self {
            identity: self.identity.clone(),
            process: self.process.clone(),
            in_view: self.in_view.clone(),
            kinds: self.kinds.clone(),
            zones: self.zones.clone(),
            kubernetes_cluster: self.kubernetes_cluster.clone(),
            kubernetes_cluster_is_read: self.kubernetes_cluster_is_read,
            connection: self.connection.clone(),
            ..Self::default()
        }
    }

    /// Whether it is of this very object, and not of another one that had its name, nor of the same one with another
    /// id.
    pub(super) fn is_of(&self, cluster: &FooCluster) -> bool {
        self.identity.is_of(cluster) && !self.has_another_id(cluster)
    }

    /// Whether a user gave the FooCluster the id of a network that exists (a restore). Once anything was created for
    /// it, it keeps its id.
    fn has_another_id(&self, cluster: &FooCluster) -> bool {
        let record = &self.process.record;
        let has_nothing = record.parts.is_empty() && !record.intents.values().any(is_decided);
        has_nothing && self.identity.differs_from(NETWORK_ID_ANNOTATION, cluster)
    }
}

fn is_decided(intent: &Intent) -> bool {
    intent.origin == Origin::Decided
}

/// Whether anything of the network exists, or its creation was decided.
pub(super) fn has_begun(network: &NetworkStatus) -> bool {
    // Without its times.
    let record = record::read(network, Difference::default());
    !record.parts.is_empty() || record.intents.values().any(is_decided)
}

/// Those of all networks.
#[derive(Debug, Default)]
pub(super) struct Networks {
    states: States<FooCluster, NetworkState>,
    /// The status of each network as it was written last, and the uid of the object: the cache may show an older one.
    written: Mutex<HashMap<Key, (Option<String>, NetworkStatus)>>,
}

type Key = ObjectRef<FooCluster>;

impl Networks {
    /// That of one FooCluster.
    pub(super) fn of(&self, key: &Key) -> Arc<tokio::sync::Mutex<NetworkState>> {
        self.states.of(key)
    }

    /// That of one FooCluster, if there is any.
    pub(super) fn find(&self, key: &Key) -> Option<Arc<tokio::sync::Mutex<NetworkState>>> {
        self.states.find(key)
    }

    /// The newest status of the network of this FooCluster.
    pub(super) fn network(&self, cluster: &FooCluster) -> Option<NetworkStatus> {
        let written = lock(&self.written);
        let newest = written.get(&ObjectRef::from_obj(cluster)).filter(|(uid, _)| *uid == cluster.uid());
        newest.map(|(_, network)| network.clone()).or_else(|| cluster.status.as_ref()?.network.clone())
    }

    /// This is the status of the network by now.
    pub(super) fn note(&self, cluster: &FooCluster, network: &NetworkStatus) {
        let newest = (cluster.uid(), network.clone());
        lock(&self.written).insert(ObjectRef::from_obj(cluster), newest);
    }

    /// Nothing is remembered of deleted FooClusters.
    pub(super) fn forget_vanished(&self, there: &Store<FooCluster>) {
        self.states.forget_vanished(there);
        lock(&self.written).retain(|key, _| there.get(key).is_some());
    }

    /// Nothing is remembered of this one.
    pub(super) fn forget(&self, key: &Key) {
        self.states.forget(key);
        lock(&self.written).remove(key);
    }
}
