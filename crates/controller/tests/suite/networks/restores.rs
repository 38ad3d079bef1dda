//! etcd was restored to before the Cluster existed, and its file was applied again; or the management cluster was
//! rebuilt from Git alone.

use super::{census, managed, small, tagged};
use crate::eks;
use crate::support::{CLUSTER, NS, World, objects};
use foo_api::{FooCluster, FooControlPlane};
use foo_model::names::{
    ADOPT_FROM_ANNOTATION, CONTROL_PLANE_ID_ANNOTATION, EKS_NAME_ANNOTATION, NETWORK_ID_ANNOTATION,
    TAG_CONTROL_PLANE, TAG_INSTALLATION, TAG_NETWORK,
};
use foo_simulator_core::core::Region;
use kube::ResourceExt;
use serde_json::json;
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn a_restored_cluster_gets_no_second_network_and_adopts_the_first_by_its_id() {
    let mut world = World::of_network(small()).await;
    world.kills_the_manager();
    let id = world.annotation(NETWORK_ID_ANNOTATION).unwrap();
    let (before, vpc) = (census(&tagged(&world.region)), world.network_status().vpc_id);

    let mut restored = world.restored();
    restored.has(&objects::cluster());
    restored.has(&managed(small()));
    let pending = |restored: &World| restored.network_state("NetworkReady").0 == "False EarlierNetworkExists";
    restored.until("it is blocked", || pending(&restored)).await;
    restored.waits(Duration::from_mins(10)).await;
    // The next process finds an id in the annotation.
    restored.kills_the_manager();
    restored.starts_the_manager();
    restored.waits(Duration::from_mins(10)).await;
    let (reported, message) = restored.network_state("NetworkReady");
    assert!(pending(&restored), "{reported} {message}");
    assert!(message.contains(NETWORK_ID_ANNOTATION) && message.contains(&vpc), "{message}");
    assert!(!message.contains(&id), "{message}");
    assert_eq!(census(&tagged(&restored.region)), before);

    let annotate = |cluster: &mut FooCluster| {
        cluster.annotations_mut().insert(NETWORK_ID_ANNOTATION.to_owned(), id.clone());
    };
    restored.server.edit(NS, CLUSTER, annotate).unwrap();
    restored.network_gets_ready().await;
    assert_eq!(restored.network_status().vpc_id, vpc);
    assert_eq!(restored.annotation(NETWORK_ID_ANNOTATION), Some(id));
    assert_eq!(census(&tagged(&restored.region)), before);
    restored.deletes_network();
    restored.network_is_removed().await;
    assert!(census(&tagged(&restored.region)).is_empty());
}

/// Id of the management cluster that was rebuilt.
const REBUILT: &str = "5ba1e1d0-0000-4000-8000-000000000002";

/// What Git has: a Cluster with a network and an EKS control plane.
fn of_git() -> (foo_api::capi::Cluster, FooCluster, FooControlPlane) {
    let mut cluster = objects::cluster();
    eks::refers(&mut cluster);
    (cluster, managed(small()), eks::control_plane(CLUSTER, "v1.34.0", json!({})))
}

/// Its management cluster is lost.
async fn lost() -> World {
    let mut world = World::fast_eks();
    world.region.with(Region::empty_network).unwrap();
    let (cluster, network, control_plane) = of_git();
    world.has(&cluster);
    world.has(&network);
    world.has(&control_plane);
    world.eks_is_ready().await;
    world.kills_the_manager();
    world
}

/// The values are in AWS's tags.
#[tokio::test(start_paused = true)]
async fn a_rebuilt_management_cluster_takes_network_and_eks_cluster_over_by_annotations_in_its_files() {
    let world = lost().await;
    let before = (census(&tagged(&world.region)), world.eks_cluster());
    let vpc = tagged(&world.region).vpcs.values().next().unwrap().clone();
    let eks_cluster = world.eks_cluster();
    let (cluster, mut network, mut control_plane) = of_git();
    for (key, value) in [
        (NETWORK_ID_ANNOTATION, &vpc.tags[TAG_NETWORK]),
        (ADOPT_FROM_ANNOTATION, &vpc.tags[TAG_INSTALLATION]),
    ] {
        network.annotations_mut().insert(key.to_owned(), value.clone());
    }
    for (key, value) in [
        (CONTROL_PLANE_ID_ANNOTATION, &eks_cluster.tags[TAG_CONTROL_PLANE]),
        (EKS_NAME_ANNOTATION, &eks_cluster.name),
        (ADOPT_FROM_ANNOTATION, &eks_cluster.tags[TAG_INSTALLATION]),
    ] {
        control_plane.annotations_mut().insert(key.to_owned(), value.clone());
    }

    let rebuilt = world.rebuilt(REBUILT);
    rebuilt.has(&cluster);
    rebuilt.has(&network);
    rebuilt.has(&control_plane);
    rebuilt.network_gets_ready().await;
    rebuilt.eks_is_ready().await;
    assert_eq!(census(&tagged(&rebuilt.region)), before.0);
    assert_eq!(rebuilt.network_status().vpc_id, vpc.id.to_string());
    assert_eq!(rebuilt.region.clusters().len(), 1);
    assert_eq!(rebuilt.eks_cluster().arn, before.1.arn);
    assert_eq!(rebuilt.eks_cluster().tags[TAG_INSTALLATION], REBUILT);
    assert!(!rebuilt.events_on(CLUSTER).contains(&"NetworkElsewhere".to_owned()));
}

/// It may as well be another installation in the same account: nothing is held back, and nothing is silent.
#[tokio::test(start_paused = true)]
async fn a_second_network_for_a_cluster_of_another_installation_is_reported() {
    let world = lost().await;
    let rebuilt = world.rebuilt(REBUILT);
    let (cluster, network, control_plane) = of_git();
    rebuilt.has(&cluster);
    rebuilt.has(&network);
    rebuilt.has(&control_plane);
    rebuilt.network_gets_ready().await;
    rebuilt.waits(Duration::from_mins(10)).await;
    assert_eq!(tagged(&rebuilt.region).vpcs.len(), 2);
    let (reported, message) = rebuilt.network_state("NetworkReady");
    assert!(
        reported.starts_with("True") && message.contains("another management cluster"),
        "{reported} {message}"
    );
    let events = rebuilt.notes("NetworkElsewhere");
    assert_eq!(events.len(), 1, "{events:?}");
}
