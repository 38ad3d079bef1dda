//! Nodes of pools in a managed network, and what has the cluster security group of EKS.

use super::{control_plane, refers};
use crate::networks::{managed, small};
use crate::support::{CLUSTER, NS, World, objects};
use foo_api::capi::Cluster;
use foo_api::cluster::{ClusterSecurityGroup, ManagedNetwork, NetworkStatus, SecurityGroups};
use foo_api::{FooCluster, FooControlPlane};
use foo_model::SecurityGroupId;
use foo_model::network::{Peer, Protocol};
use foo_simulator_core::core::Region;
use kube::ResourceExt;
use serde_json::json;
use std::time::Duration;

fn shown(world: &World) -> NetworkStatus {
    let cluster: FooCluster = world.server.get(NS, CLUSTER).unwrap();
    cluster.status.unwrap_or_default().network.unwrap_or_default()
}

/// Whether a group exists, and allows all traffic of another one.
fn allows(world: &World, group: &SecurityGroupId, from: &SecurityGroupId) -> bool {
    let groups = world.region.with(|region| region.network_now()).unwrap().security_groups;
    let peer = Peer::Group(from.clone());
    let mut rules = groups.get(group).into_iter().flat_map(|it| &it.ingress);
    rules.any(|it| it.protocol == Protocol::All && it.peer == peer)
}

/// In the order of Cluster API, which keeps the Cluster until everything else of it is deleted. EKS deletes its group
/// with the cluster only if no rule of another group names it by then.
#[tokio::test(start_paused = true)]
async fn nodes_and_the_group_of_eks_are_connected_until_the_cluster_is_deleted_and_nothing_is_left() {
    let world = World::fast_eks();
    world.region.with(Region::empty_network).unwrap();
    let mut cluster = objects::cluster();
    refers(&mut cluster);
    cluster.finalizers_mut().push("cluster.cluster.x-k8s.io".to_owned());
    let connected = ClusterSecurityGroup::Connected;
    let groups = SecurityGroups { cluster_security_group: connected, ..SecurityGroups::default() };
    world.has(&cluster);
    world.has(&managed(ManagedNetwork { security_groups: Some(groups), ..small() }));
    world.has(&control_plane(CLUSTER, "v1.34.0", json!({})));
    world.eks_is_ready().await;
    let nodes = SecurityGroupId::new(shown(&world).security_groups[0].as_str());
    let eks = world.eks_cluster().security_group;
    let both = || allows(&world, &nodes, &eks) && allows(&world, &eks, &nodes);
    world.until("both groups have their rule", both).await;
    assert_eq!(shown(&world).cluster_security_groups, [eks.to_string()]);

    world.region.change_settings(|settings| settings.eks.delete = Duration::from_mins(4)).unwrap();
    world.server.delete::<Cluster>(NS, CLUSTER).unwrap();
    world.server.delete::<FooControlPlane>(NS, CLUSTER).unwrap();
    world.eks_is_removed().await;
    let left = world.region.with(|region| region.network_now()).unwrap();
    assert!(!left.security_groups.contains_key(&eks), "EKS could not delete its group: {left:#?}");
    world.server.delete::<FooCluster>(NS, CLUSTER).unwrap();
    world.until("the FooCluster does not exist", || world.network_cluster_is_deleted()).await;
    let left = world.region.with(|region| region.network_now()).unwrap();
    assert!(!left.security_groups.contains_key(&eks) && left.vpcs.is_empty(), "{left:#?}");
}
