//! etcd was restored to before the Cluster existed, and its file was applied again.

use super::{census, managed, small, tagged};
use crate::support::{CLUSTER, NS, World, objects};
use foo_api::FooCluster;
use foo_model::names::NETWORK_ID_ANNOTATION;
use kube::ResourceExt;
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
