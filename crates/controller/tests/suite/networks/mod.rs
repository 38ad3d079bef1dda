//! Networks that the provider creates: from an empty region to subnets that pools use, and back to nothing.

mod accidents;
mod bad_days;
mod crashes;
mod edits;
mod figures;
mod life;
mod many;
mod plans;
mod restores;

use crate::support::{CLUSTER, NS, World, objects};
use foo_api::FooCluster;
use foo_api::capi::Cluster;
use foo_api::cluster::{ManagedNetwork, Network, NetworkStatus};
use foo_model::names::TAG_NETWORK;
use foo_model::network::{Kind, NatState, Parts, Scope};
use foo_simulator_core::RegionHandle;
use foo_simulator_core::core::Region;
use foo_simulator_core::core::network::NewInterface;
use kube::ResourceExt;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A FooCluster whose network the provider creates.
pub(crate) fn managed(network: ManagedNetwork) -> FooCluster {
    let mut cluster = objects::foo_cluster();
    cluster.spec.network = Network { managed: Some(network), existing: None };
    cluster
}

/// As small as a network can be that has everything: quick to go through call by call.
pub(crate) fn small() -> ManagedNetwork {
    let spec = serde_json::json!({
        "zones": { "count": 2 },
        "nat": "Single",
        "endpoints": [{ "name": "S3" }],
    });
    serde_json::from_value(spec).unwrap()
}

/// What of a network there is: how many of each kind that are neither deleted nor about to be.
pub(crate) type Census = BTreeMap<&'static str, usize>;

pub(crate) fn census(parts: &Parts) -> Census {
    let live = |state: NatState| matches!(state, NatState::Pending | NatState::Available);
    let counts = [
        ("vpcs", parts.vpcs.len()),
        ("subnets", parts.subnets.len()),
        ("internet gateways", parts.internet_gateways.len()),
        ("egress-only gateways", parts.egress_only_gateways.len()),
        ("addresses", parts.addresses.len()),
        ("NAT gateways", parts.nat_gateways.values().filter(|it| live(it.state)).count()),
        ("route tables", parts.route_tables.len()),
        ("security groups", parts.security_groups.len()),
        ("endpoints", parts.endpoints.len()),
    ];
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

/// What has the tag of any managed network in a region.
pub(crate) fn tagged(region: &RegionHandle) -> Parts {
    let scope = Scope::TagKey(TAG_NETWORK.to_owned());
    seen(region, &scope)
}

fn seen(region: &RegionHandle, scope: &Scope) -> Parts {
    let mut all = Parts::default();
    for kind in Kind::OF_A_NETWORK {
        let mut part = region.with(|region| region.describe_network(kind, scope)).unwrap();
        all.vpcs.append(&mut part.vpcs);
        all.subnets.append(&mut part.subnets);
        all.internet_gateways.append(&mut part.internet_gateways);
        all.egress_only_gateways.append(&mut part.egress_only_gateways);
        all.addresses.append(&mut part.addresses);
        all.nat_gateways.append(&mut part.nat_gateways);
        all.route_tables.append(&mut part.route_tables);
        all.security_groups.append(&mut part.security_groups);
        all.endpoints.append(&mut part.endpoints);
    }
    all
}

impl World {
    /// A Cluster with such a network is begun in a region that has nothing.
    fn begins_network(&self, network: ManagedNetwork) {
        self.region.with(Region::empty_network).unwrap();
        self.has(&objects::cluster());
        self.has(&managed(network));
    }

    /// The same, and it is ready.
    async fn of_network(network: ManagedNetwork) -> Self {
        let world = Self::empty();
        world.begins_network(network);
        world.network_gets_ready().await;
        world
    }

    async fn network_gets_ready(&self) {
        self.until("the network is ready", || self.network_state("NetworkReady").0.starts_with("True")).await;
    }

    fn network_cluster(&self) -> FooCluster {
        self.server.get(NS, CLUSTER).unwrap()
    }

    fn network_status(&self) -> NetworkStatus {
        self.network_cluster().status.unwrap_or_default().network.unwrap_or_default()
    }

    /// `status reason` of a condition of the FooCluster, and its message; empty if there is none.
    fn network_state(&self, kind: &str) -> (String, String) {
        let conditions = self.network_cluster().status.unwrap_or_default().conditions;
        let condition = conditions.into_iter().find(|condition| condition.type_ == kind);
        condition.map_or_else(Default::default, |it| (format!("{} {}", it.status, it.reason), it.message))
    }

    fn edits_network(&self, edit: impl FnOnce(&mut ManagedNetwork)) {
        let set = |cluster: &mut FooCluster| edit(cluster.spec.network.managed.as_mut().unwrap());
        self.server.edit(NS, CLUSTER, set).unwrap();
    }

    fn deletes_network(&self) {
        self.server.delete::<FooCluster>(NS, CLUSTER).unwrap();
    }

    pub(crate) fn network_cluster_is_deleted(&self) -> bool {
        self.server.get::<FooCluster>(NS, CLUSTER).is_none()
    }

    async fn network_is_removed(&self) {
        self.until("the FooCluster does not exist", || self.network_cluster_is_deleted()).await;
    }

    fn pauses_network(&self, paused: bool) {
        let pause = |cluster: &mut Cluster| cluster.spec.paused = Some(paused);
        self.server.edit(NS, CLUSTER, pause).unwrap();
    }

    /// A user's interface in the first private subnet; its id.
    fn puts_foreign_interface(&self) -> String {
        let status = self.network_status();
        let subnet = status.subnets.iter().find(|subnet| !subnet.public).unwrap();
        let new = NewInterface {
            subnet: subnet.id.as_str().into(),
            groups: BTreeSet::new(),
            description: "a user's database".to_owned(),
            requester_managed: false,
            in_use: true,
            public_ip: None,
            tags: BTreeMap::new(),
        };
        let put = self.region.with(|region| region.put_foreign_interface(new)).unwrap();
        put.unwrap().as_str().to_owned()
    }

    fn deletes_by_hand(&self, id: &str) {
        self.region.with(|region| region.delete_as_another_user(id)).unwrap().unwrap();
    }

    /// Calls of EC2 since the last [`World::forgets`], by action.
    fn ec2_calls(&self) -> BTreeMap<String, u64> {
        let counts = self.aws.call_counts().into_iter();
        counts.map(|((_, action), count)| (action, count.calls)).collect()
    }

    fn annotation(&self, key: &str) -> Option<String> {
        self.network_cluster().annotations().get(key).cloned()
    }

    /// Longer than the reads of an idle network are apart.
    async fn rests(&self) {
        self.waits(Duration::from_mins(7)).await;
    }
}
