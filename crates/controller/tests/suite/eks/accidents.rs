//! What others do, and what is not as it must be.

use super::{NAME, control_plane, refers};
use crate::support::{CLUSTER, NS, World, objects};
use foo_api::FooControlPlane;
use foo_api::names::CLUSTER_NAME_LABEL;
use foo_model::names::{CONTROL_PLANE_ID_ANNOTATION, ROLLOUT_PAUSED_ANNOTATION};
use kube::ResourceExt;
use serde_json::{Value, json};
use std::time::Duration;

/// Another Cluster with a FooControlPlane that names an EKS cluster.
fn begins_another(world: &World, name: &str, eks: &str) {
    let (mut cluster, infrastructure) = objects::another_cluster(name, None);
    refers(&mut cluster);
    world.has(&cluster);
    world.has(&infrastructure);
    world.has(&control_plane(name, "v1.34.0", json!({ "name": eks })));
}

#[tokio::test(start_paused = true)]
async fn the_older_of_two_control_planes_keeps_the_cluster() {
    let world = World::of_eks(json!({})).await;
    let before = world.eks_cluster();
    begins_another(&world, "d", NAME);
    let state_of = || world.eks_condition("d", "ClusterReady");
    world.until("the other one is reported", || state_of().0 == "False ClusterNameTaken").await;
    assert!(state_of().1.contains("FooControlPlane c"), "{}", state_of().1);
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(world.eks_cluster().tags, before.tags);
    assert!(world.eks_state("Ready").starts_with("True"), "{}", world.eks_summary());
    // The other one is deleted and deletes nothing in AWS.
    world.server.delete::<foo_api::FooControlPlane>(crate::support::NS, "d").unwrap();
    let is_deleted = || world.server.get::<foo_api::FooControlPlane>(crate::support::NS, "d").is_none();
    world.until("it is deleted", is_deleted).await;
    assert_eq!(world.region.clusters().len(), 1);
}

/// An object that was exported and applied under another name has the annotation of the first one.
#[tokio::test(start_paused = true)]
async fn a_deleted_copy_of_a_control_plane_leaves_the_cluster() {
    let world = World::of_eks(json!({})).await;
    let id = world.eks_object().annotations()[CONTROL_PLANE_ID_ANNOTATION].clone();
    let (mut cluster, infrastructure) = objects::another_cluster("d", None);
    refers(&mut cluster);
    world.has(&cluster);
    world.has(&infrastructure);
    let mut copy = control_plane("d", "v1.34.0", json!({ "name": NAME }));
    copy.annotations_mut().insert(CONTROL_PLANE_ID_ANNOTATION.to_owned(), id);
    world.has(&copy);
    let state_of = || world.eks_condition("d", "ClusterReady");
    world.until("the copy is reported", || state_of().0 == "False ClusterNameTaken").await;
    world.server.delete::<foo_api::FooControlPlane>(crate::support::NS, "d").unwrap();
    let is_deleted = || world.server.get::<foo_api::FooControlPlane>(crate::support::NS, "d").is_none();
    world.until("it is deleted", is_deleted).await;
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(world.region.clusters().len(), 1);
    assert_eq!(world.eks_cluster().status, foo_model::eks::ClusterStatus::Active);
    assert!(world.eks_state("Ready").starts_with("True"), "{}", world.eks_summary());
}

#[tokio::test(start_paused = true)]
async fn a_foreign_cluster_of_that_name_is_not_changed() {
    let world = World::of_eks(json!({})).await;
    let beside = world.beside("5ba1e1d0-0000-4000-8000-000000000002");
    let before = world.eks_cluster();
    // The other management cluster has a control plane of its own of that name.
    let mut cluster = objects::cluster();
    refers(&mut cluster);
    beside.has(&cluster);
    beside.has(&objects::foo_cluster());
    let mut other = control_plane(CLUSTER, "v1.34.0", json!({ "name": NAME }));
    other.annotations_mut().insert(CONTROL_PLANE_ID_ANNOTATION.to_owned(), "another".to_owned());
    beside.has(&other);
    let state_of = || beside.eks_state("ClusterReady");
    let refused = || state_of().starts_with("False Cluster") && !state_of().contains("CreatingCluster");
    beside.until("it is reported", refused).await;
    beside.waits(Duration::from_mins(10)).await;
    assert_eq!(world.eks_cluster().tags, before.tags);
    beside.deletes_eks();
    beside.eks_is_removed().await;
    assert_eq!(world.region.clusters().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn without_a_foo_cluster_it_reports_what_it_waits_for() {
    let world = World::fast_eks();
    let mut cluster = objects::cluster();
    refers(&mut cluster);
    world.has(&cluster);
    world.has(&control_plane(CLUSTER, "v1.34.0", json!({})));
    let state_of = || world.eks_state("ClusterReady");
    world.until("it is reported", || state_of() == "False WaitingForClusterInfrastructure").await;
    for kind in ["Upgrading", "AddonsReady", "AccessReady"] {
        assert_eq!(world.eks_state(kind), "Unknown NotVerified");
    }
    world.has(&objects::foo_cluster());
    world.eks_is_ready().await;
}

#[tokio::test(start_paused = true)]
async fn an_identity_that_the_namespace_may_not_use_creates_nothing() {
    let world = World::fast_eks();
    world.has(&objects::identity(
        "prod",
        json!({ "controller": {}, "allowedNamespaces": { "list": ["other"] } }),
    ));
    let mut cluster = objects::cluster();
    refers(&mut cluster);
    let mut infrastructure = objects::foo_cluster();
    infrastructure.spec.identity_ref = Some(objects::identity_reference("prod"));
    world.has(&cluster);
    world.has(&infrastructure);
    world.has(&control_plane(
        CLUSTER,
        "v1.34.0",
        json!({ "subnets": ["subnet-0a00000000000000a", "subnet-0a00000000000000b"] }),
    ));
    let state_of = || world.eks_state("ClusterReady");
    world.until("it is reported", || state_of() == "False IdentityNotAllowed").await;
    world.waits(Duration::from_mins(5)).await;
    assert!(world.region.clusters().is_empty());
    let events = world.notes("IdentityNotAllowed");
    assert_eq!(events.len(), 2, "once of the FooCluster, once of the control plane: {events:?}");
}

fn has_profile(world: &World, name: &str) {
    world.aws.put_role(serde_json::from_value(json!({ "name": name })).unwrap());
    let profile = json!({ "name": name, "role": name });
    world.aws.put_instance_profile(serde_json::from_value(profile).unwrap());
}

/// Instances of an earlier template keep their access until the last of them is terminated.
#[tokio::test(start_paused = true)]
async fn nodes_with_an_earlier_profile_have_access_until_they_are_deleted() {
    let world = World::fast_eks();
    world.begins_eks("v1.36.3", json!({}));
    world.eks_is_ready().await;
    has_profile(&world, "nodes");
    has_profile(&world, "others");
    let entered = |role: &str| {
        world.eks_cluster().entries.contains_key(&format!("arn:aws:iam::123456789012:role/{role}"))
    };
    let pool = world.pool("p").with(|spec| spec.iam_instance_profile = Some("nodes".to_owned())).of(2).await;
    world.until("the role has access", || entered("nodes")).await;
    pool.edits_object(|pool| {
        pool.annotations_mut().insert(ROLLOUT_PAUSED_ANNOTATION.to_owned(), String::new());
        pool.spec.iam_instance_profile = Some("others".to_owned());
    });
    world.until("the other role has access", || entered("others")).await;
    world.waits(Duration::from_mins(30)).await;
    assert!(entered("nodes"), "two instances have it");
    pool.edits_object(|pool| drop(pool.annotations_mut().remove(ROLLOUT_PAUSED_ANNOTATION)));
    world.until("all instances are new", || pool.status().up_to_date_replicas == Some(2)).await;
    world.until("the role has no more access", || !entered("nodes")).await;
    assert!(entered("others"));
}

/// The role of nodes.
const NODES: &str = "arn:aws:iam::123456789012:role/nodes";

fn role_of_nodes() -> foo_simulator_core::Role {
    serde_json::from_value(json!({ "name": "nodes" })).unwrap()
}

/// A cluster with a pool whose nodes have that role, which has access.
async fn with_nodes() -> World {
    let world = World::of_eks(json!({})).await;
    has_profile(&world, "nodes");
    let mut pool = objects::foo_machine_pool("p", objects::pool_spec());
    pool.spec.iam_instance_profile = Some("nodes".to_owned());
    pool.labels_mut().insert(CLUSTER_NAME_LABEL.to_owned(), CLUSTER.to_owned());
    world.has(&pool);
    world.until("the role has access", || world.eks_cluster().entries.contains_key(NODES)).await;
    world
}

/// clusterctl move loses for which role the entry was created; that it is older than the role shows it.
#[tokio::test(start_paused = true)]
async fn a_role_recreated_before_a_move_gets_access_again() {
    let mut world = with_nodes().await;
    world.eks_is_ready().await;
    let entry = |world: &World| world.eks_cluster().entries.get(NODES).map(|it| it.arn.clone());
    let former = entry(&world);
    world.kills_the_manager();
    world.waits(Duration::from_mins(10)).await;
    world.aws.remove_role("nodes");
    world.aws.put_role(role_of_nodes());
    let lose = |object: &mut Value| drop(object.as_object_mut().unwrap().remove("status"));
    world.server.corrupt::<FooControlPlane>(NS, CLUSTER, lose).unwrap();
    world.starts_the_manager();
    let again = || entry(&world).is_some_and(|entry| former.as_ref() != Some(&entry));
    world.until("there is another entry", again).await;
    world.eks_is_ready().await;
}

/// The role behind a pool's instance profile has access, and no longer when no pool has it.
#[tokio::test(start_paused = true)]
async fn the_nodes_of_pools_have_access() {
    let world = with_nodes().await;
    let entered = || world.eks_cluster().entries.contains_key(NODES);
    world.eks_is_ready().await;
    world.server.delete::<foo_api::FooMachinePool>(NS, "p").unwrap();
    world.until("the role has no more access", || !entered()).await;
}
