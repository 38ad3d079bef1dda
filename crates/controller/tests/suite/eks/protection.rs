//! A FooControlPlane that is deleted while its Cluster stays.

use super::NAME;
use crate::support::{CLUSTER, NS, World};
use foo_api::FooControlPlane;
use foo_api::capi::Cluster;
use foo_api::names::DELETION_ALLOWED_ANNOTATION;
use foo_api::shared::DeletionPolicy;
use kube::ResourceExt;
use serde_json::json;
use std::time::Duration;

/// A control plane that a user deleted, whose EKS cluster is kept.
async fn deleted_by_mistake() -> World {
    let world = World::of_eks(json!({})).await;
    world.deletes_eks_by_mistake();
    let state_of = || world.eks_condition(CLUSTER, "Deleting");
    world.until("it is blocked", || state_of().0 == "True DeletionNotConfirmed").await;
    assert!(state_of().1.contains(DELETION_ALLOWED_ANNOTATION), "{}", state_of().1);
    world.forgets();
    world.waits(Duration::from_mins(20)).await;
    assert_eq!(world.aws_writes(), 0);
    assert!(world.region.cluster(NAME).is_some());
    world
}

#[tokio::test(start_paused = true)]
async fn its_eks_cluster_is_kept_until_that_is_confirmed() {
    let world = deleted_by_mistake().await;
    let confirm = |object: &mut FooControlPlane| {
        object.annotations_mut().insert(DELETION_ALLOWED_ANNOTATION.to_owned(), String::new());
    };
    world.server.edit(NS, CLUSTER, confirm).unwrap();
    world.eks_is_removed().await;
    assert!(world.region.cluster(NAME).is_none());
}

#[tokio::test(start_paused = true)]
async fn its_eks_cluster_is_deleted_with_the_cluster() {
    let world = deleted_by_mistake().await;
    world.server.delete::<Cluster>(NS, CLUSTER).unwrap();
    world.eks_is_removed().await;
    assert!(world.region.cluster(NAME).is_none());
}

/// As after clusterctl move: only AWS knows then that there is a cluster.
#[tokio::test(start_paused = true)]
async fn its_eks_cluster_is_kept_also_when_the_status_was_lost() {
    let mut world = World::of_eks(json!({})).await;
    world.kills_the_manager();
    world.server.corrupt::<FooControlPlane>(NS, CLUSTER, |object| object["status"] = json!({})).unwrap();
    world.deletes_eks_by_mistake();
    world.starts_the_manager();
    world
        .until("it is blocked", || world.eks_condition(CLUSTER, "Deleting").0 == "True DeletionNotConfirmed")
        .await;
    world.waits(Duration::from_mins(20)).await;
    assert!(world.region.cluster(NAME).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_retained_cluster_needs_no_confirmation() {
    let world = World::of_eks(json!({})).await;
    world.edits_eks(|eks| eks.deletion_policy = Some(DeletionPolicy::Retain));
    world.waits(Duration::from_mins(1)).await;
    world.deletes_eks_by_mistake();
    world.eks_is_removed().await;
    assert!(world.region.cluster(NAME).is_some());
}
