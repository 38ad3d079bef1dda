//! The name at EKS in the tags of a managed network, whose Cluster has another one.

use super::{control_plane, refers};
use crate::support::{CLUSTER, NS, World, objects};
use foo_api::FooCluster;
use foo_api::cluster::{Leftovers, ManagedNetwork, Network};
use foo_model::network::{Kind, LoadBalancerKind, Scope};
use foo_simulator_core::core::Region;
use foo_simulator_core::core::network::NewLoadBalancer;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

/// Name of the EKS cluster of a Cluster called `c`.
const AT_EKS: &str = "default_blue-at-eks";

/// A Cluster with a managed network and a control plane that does not exist yet.
fn begun() -> World {
    let world = World::fast_eks();
    world.region.with(Region::empty_network).unwrap();
    let mut cluster = objects::cluster();
    refers(&mut cluster);
    world.has(&cluster);
    let mut foo_cluster = objects::foo_cluster();
    let spec = json!({ "zones": { "count": 2 }, "egress": "None", "deletion": { "leftovers": "Delete" } });
    let managed: ManagedNetwork = serde_json::from_value(spec).unwrap();
    assert_eq!(managed.deletion.leftovers, Leftovers::Delete);
    foo_cluster.spec.network = Network { managed: Some(managed), existing: None };
    world.has(&foo_cluster);
    world
}

impl World {
    /// The parts of the network that the cluster of this name owns, by their tags: subnets and security groups.
    fn owned_by(&self, name: &str) -> (usize, usize) {
        let scope = Scope::TagKey(format!("kubernetes.io/cluster/{name}"));
        let count = |kind| self.region.with(|region| region.describe_network(kind, &scope)).unwrap();
        (count(Kind::Subnet).subnets.len(), count(Kind::SecurityGroup).security_groups.len())
    }

    fn network_is_ready(&self) -> bool {
        let cluster: Option<FooCluster> = self.server.get(NS, CLUSTER);
        let conditions = cluster.and_then(|it| it.status).unwrap_or_default().conditions;
        conditions.iter().any(|it| it.type_ == "NetworkReady" && it.status == "True")
    }

    fn name_in_status(&self) -> Option<String> {
        let cluster: FooCluster = self.server.get(NS, CLUSTER)?;
        cluster.status?.network?.kubernetes_cluster
    }
}

#[tokio::test(start_paused = true)]
async fn a_network_is_tagged_with_the_name_at_eks_and_leftovers_are_found_by_it() {
    let world = begun();
    world.until("the network is ready", || world.network_is_ready()).await;
    assert_eq!((world.name_in_status(), world.owned_by(AT_EKS), world.owned_by("c")), (None, (0, 0), (0, 0)));

    world.has(&control_plane(CLUSTER, "v1.34.0", json!({ "name": AT_EKS })));
    // EKS tags the group that it creates, too.
    world.until("the name is in the tags", || matches!(world.owned_by(AT_EKS), (4, 1 | 2))).await;
    world.until("and in the status", || world.name_in_status().as_deref() == Some(AT_EKS)).await;
    assert_eq!(world.owned_by("c"), (0, 0));

    let cluster: FooCluster = world.server.get(NS, CLUSTER).unwrap();
    let mut network = cluster.status.unwrap().network.unwrap();
    let (subnet, vpc) = (network.subnets.remove(0).id, Scope::Vpc(network.vpc_id.as_str().into()));
    let balancer = NewLoadBalancer {
        name: "web".to_owned(),
        kind: LoadBalancerKind::Network,
        subnets: [subnet.as_str().into()].into(),
        groups: [].into(),
        internet_facing: false,
        deletion_protection: false,
        target_groups: [].into(),
        tags: [("elbv2.k8s.aws/cluster".to_owned(), AT_EKS.to_owned())].into(),
    };
    world.region.put_load_balancer(balancer).unwrap();
    world.until("EKS has made it", || world.eks_state("ClusterReady").starts_with("True")).await;
    // The control plane's object is deleted first: from then on only the status has the name.
    world.deletes_eks();
    world.eks_is_removed().await;
    world.server.delete::<FooCluster>(NS, CLUSTER).unwrap();
    world.until("the network is deleted", || world.server.get::<FooCluster>(NS, CLUSTER).is_none()).await;
    let left = world.region.with(|region| region.describe_network(Kind::LoadBalancer, &vpc)).unwrap();
    assert!(left.load_balancers.is_empty(), "{left:?}");
}

/// EKS fixes the zones of a control plane at its creation; those that the network gets later are for nodes.
#[tokio::test(start_paused = true)]
async fn a_zone_that_the_network_gets_later_is_tagged_for_the_cluster_and_leaves_its_control_plane_alone() {
    let world = begun();
    world.has(&control_plane(CLUSTER, "v1.34.0", json!({ "name": AT_EKS })));
    world.until("EKS has made it", || world.eks_state("ClusterReady").starts_with("True")).await;
    world.until("the name is in the tags", || world.owned_by(AT_EKS).0 == 4).await;
    let placement = || world.region.cluster(AT_EKS).unwrap().placement;
    let before = placement();
    world.forgets();
    let add = |cluster: &mut FooCluster| {
        let zones = json!({ "count": 3 });
        let managed = cluster.spec.network.managed.as_mut().unwrap();
        managed.zones = serde_json::from_value(zones).unwrap();
    };
    world.server.edit(NS, CLUSTER, add).unwrap();
    world.until("the third zone has its subnets", || world.owned_by(AT_EKS).0 == 6).await;
    world.waits(Duration::from_mins(30)).await;
    let cluster: FooCluster = world.server.get(NS, CLUSTER).unwrap();
    let subnets = cluster.status.unwrap().network.unwrap().subnets;
    let zones: BTreeSet<String> = subnets.into_iter().map(|it| it.zone).collect();
    assert_eq!(zones.len(), 3, "where nodes may be");
    assert!(world.network_is_ready());
    assert!(world.eks_state("ClusterReady").starts_with("True"), "{}", world.eks_summary());
    assert_eq!(placement(), before);
    assert!(!world.aws_calls().contains_key("UpdateClusterConfig"), "{:?}", world.aws_calls());
}
