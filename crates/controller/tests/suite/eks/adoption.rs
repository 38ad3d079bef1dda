//! An EKS cluster that exists: which confirmations its adoption needs, what becomes of it, and how it is adopted after
//! a restore.

use super::{NAME, control_plane, refers};
use crate::support::{CLUSTER, INSTALLATION, NS, World, objects};
use foo_api::FooControlPlane;
use foo_api::shared::DeletionPolicy;
use foo_model::eks::{Change, TagChange};
use foo_model::names::{
    ADOPT_FROM_ANNOTATION, ADOPTED_ANNOTATION, CONTROL_PLANE_ID_ANNOTATION, TAG_ADOPTABLE, TAG_ADOPTED,
    TAG_CLUSTER, TAG_CONTROL_PLANE, TAG_INSTALLATION,
};
use foo_simulator_core::DEFAULT_REGION;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use serde_json::{Value, json};
use std::time::Duration;

/// A world with an EKS cluster that has no owner, and a Cluster without a control plane.
async fn with_an_unowned_cluster() -> World {
    let world = World::of_eks(json!({ "deletionPolicy": "Retain" })).await;
    world.deletes_eks();
    world.eks_is_removed().await;
    garbage_is_collected(&world);
    let tags = world.eks_cluster().tags;
    assert!(!tags.keys().any(|key| key.starts_with("infrastructure.foo.com/")), "{tags:?}");
    world
}

/// What the FooControlPlane owned is deleted with it.
fn garbage_is_collected(world: &World) {
    for name in ["c-kubeconfig", "c-user-kubeconfig"] {
        world.server.delete::<Secret>(NS, name).unwrap();
    }
}

/// The owner of the account sets a tag on the cluster.
async fn tags(world: &World, key: &str, value: &str) {
    let arn = world.eks_cluster().arn;
    let tags = [(key.to_owned(), value.to_owned())].into();
    let owner = world.aws.cloud(DEFAULT_REGION, "owner");
    let change = Change::Tags { arn, change: TagChange::Tag(tags) };
    foo_cloud::Clusters::change_eks(&owner, &change, None).await.unwrap();
}

/// The identity of the Cluster.
fn has_identity(world: &World, allow_adoption: bool) {
    let spec = json!({ "allowedNamespaces": {}, "controller": {}, "allowAdoption": allow_adoption });
    world.has(&objects::identity("default", spec));
}

fn adopts(world: &World, fields: &Value) {
    let mut eks = json!({ "adopt": true });
    eks.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    world.has(&control_plane(CLUSTER, "v1.34.0", eks));
}

async fn is_refused(world: &World, text: &str) {
    let state_of = || world.eks_condition(CLUSTER, "ClusterReady");
    let refused = || state_of().0 == "False AdoptionNotAllowed" && state_of().1.contains(text);
    world.until("the adoption is refused", refused).await;
    let before = world.eks_cluster().tags;
    world.waits(Duration::from_mins(10)).await;
    assert!(refused(), "{:?}", state_of());
    assert_eq!(world.eks_cluster().tags, before);
}

#[tokio::test(start_paused = true)]
async fn adoption_needs_the_consent_of_the_identity_and_of_the_account() {
    let world = with_an_unowned_cluster().await;
    tags(&world, TAG_ADOPTABLE, "default/c").await;
    adopts(&world, &json!({}));
    is_refused(&world, "allowAdoption").await;
    has_identity(&world, false);
    world.waits(Duration::from_mins(1)).await;
    is_refused(&world, "allowAdoption").await;

    tags(&world, TAG_ADOPTABLE, "other/c").await;
    // Longer than the reads of an idle cluster are apart.
    world.waits(Duration::from_mins(15)).await;
    allows_adoption(&world).await;
    is_refused(&world, "adoptable=default/c").await;

    tags(&world, TAG_ADOPTABLE, "default/c").await;
    world.eks_is_ready().await;
    let tags = world.eks_cluster().tags;
    assert_eq!(tags.get(TAG_CLUSTER).map(String::as_str), Some("default/c"));
    assert_eq!(tags.get(TAG_ADOPTED).map(String::as_str), Some("true"));
    assert_eq!(world.region.clusters().len(), 1);
}

/// The identity allows adoption from now on.
async fn allows_adoption(world: &World) {
    let allow = |identity: &mut foo_api::FooClusterIdentity| identity.spec.allow_adoption = true;
    world.server.edit("", "default", allow).unwrap();
    world.waits(Duration::from_mins(1)).await;
}

/// An adopted cluster, and its FooControlPlane.
async fn adopted(fields: Value) -> World {
    let world = with_an_unowned_cluster().await;
    has_identity(&world, true);
    tags(&world, TAG_ADOPTABLE, "default/c").await;
    adopts(&world, &fields);
    world.eks_is_ready().await;
    world
}

#[tokio::test(start_paused = true)]
async fn the_deletion_of_an_adopted_cluster_retains_it_unless_the_spec_requests_deletion() {
    let world = adopted(json!({})).await;
    world.edits_eks(|eks| eks.adopt = false);
    world.waits(Duration::from_mins(2)).await;
    world.deletes_eks();
    world.eks_is_removed().await;
    let left = world.eks_cluster().tags;
    for own in [TAG_CLUSTER, TAG_CONTROL_PLANE, TAG_INSTALLATION, TAG_ADOPTED] {
        assert!(!left.contains_key(own), "{left:?}");
    }
    garbage_is_collected(&world);

    adopts(&world, &json!({}));
    world.eks_is_ready().await;
    world.edits_eks(|eks| eks.deletion_policy = Some(DeletionPolicy::Delete));
    world.waits(Duration::from_mins(2)).await;
    world.deletes_eks();
    world.eks_is_removed().await;
    assert!(world.region.cluster(NAME).is_none());
}

const OTHER: &str = "5ba1e1d0-0000-4000-8000-000000000002";

/// `clusterctl move` loses the status, and meanwhile someone removes the tag.
#[tokio::test(start_paused = true)]
async fn a_moved_control_plane_retains_its_adopted_cluster_although_the_tag_is_gone() {
    let mut world = adopted(json!({})).await;
    world.edits_eks(|eks| eks.adopt = false);
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(world.eks_object().annotations()[ADOPTED_ANNOTATION], "true");
    // Removed by mistake, it is written again.
    let forget = |object: &mut FooControlPlane| drop(object.annotations_mut().remove(ADOPTED_ANNOTATION));
    world.server.edit(NS, CLUSTER, forget).unwrap();
    world
        .until("it is written again", || world.eks_object().annotations().contains_key(ADOPTED_ANNOTATION))
        .await;
    world.pauses_eks(true);
    world.waits(Duration::from_secs(10)).await;
    let mut target = moved(&mut world);
    untags(&target, &[TAG_ADOPTED]).await;
    assert!(!target.eks_cluster().tags.contains_key(TAG_ADOPTED));
    target.deletes_eks();
    target.starts_the_manager();
    target.eks_is_removed().await;
    let left = target.eks_cluster().tags;
    for own in [TAG_CLUSTER, TAG_CONTROL_PLANE, TAG_INSTALLATION] {
        assert!(!left.contains_key(own), "{left:?}");
    }
}

/// `kubectl get --output yaml`, a backup without status, or a template carries the annotation to another object.
#[tokio::test(start_paused = true)]
async fn a_copied_annotation_does_not_retain_a_cluster_that_was_created() {
    let world = World::fast_eks();
    let mut cluster = objects::cluster();
    refers(&mut cluster);
    world.has(&cluster);
    world.has(&objects::foo_cluster());
    let mut copy = control_plane(CLUSTER, "v1.34.0", json!({}));
    copy.annotations_mut().insert(ADOPTED_ANNOTATION.to_owned(), "true".to_owned());
    world.has(&copy);
    world.eks_is_ready().await;
    world.until("it is removed", || !world.eks_object().annotations().contains_key(ADOPTED_ANNOTATION)).await;
    assert!(!world.eks_cluster().tags.contains_key(TAG_ADOPTED));
    world.deletes_eks();
    world.eks_is_removed().await;
    assert!(world.region.clusters().is_empty());
}

/// What clusterctl takes along to another management cluster, whose manager has not started: metadata except the uid,
/// and the spec.
fn moved(world: &mut World) -> World {
    world.kills_the_manager();
    let mut target = world.beside(OTHER);
    target.kills_the_manager();
    has_identity(&target, true);
    let mut cluster = objects::cluster();
    refers(&mut cluster);
    target.has(&cluster);
    target.has(&objects::foo_cluster());
    let before = world.eks_object();
    let mut copy = objects::placed(FooControlPlane::new(CLUSTER, before.spec.clone()));
    copy.metadata.annotations.clone_from(&before.metadata.annotations);
    copy.metadata.finalizers.clone_from(&before.metadata.finalizers);
    copy.annotations_mut().insert(ADOPT_FROM_ANNOTATION.to_owned(), INSTALLATION.to_owned());
    target.has(&copy);
    target
}

/// Someone with rights in the account removes tags from the cluster.
async fn untags(world: &World, keys: &[&str]) {
    let arn = world.eks_cluster().arn;
    let keys = keys.iter().map(|key| (*key).to_owned()).collect();
    let owner = world.aws.cloud(DEFAULT_REGION, "owner");
    let change = Change::Tags { arn, change: TagChange::Untag(keys) };
    foo_cloud::Clusters::change_eks(&owner, &change, None).await.unwrap();
}

/// It never had a cluster, so nothing is lost by its deletion, which needs no confirmation.
#[tokio::test(start_paused = true)]
async fn a_control_plane_whose_name_another_ones_cluster_has_is_deleted_without_a_confirmation() {
    let world = with_an_unowned_cluster().await;
    world.has(&control_plane(CLUSTER, "v1.34.0", json!({})));
    let state_of = || world.eks_condition(CLUSTER, "ClusterReady");
    world.until("it is refused", || state_of().0 == "False ClusterNotOwned").await;
    world.deletes_eks_by_mistake();
    world.eks_is_removed().await;
    assert!(world.region.cluster(NAME).is_some());
}

/// etcd was restored to before the Cluster existed, and its file was applied again.
#[tokio::test(start_paused = true)]
async fn a_cluster_from_before_a_restore_is_adopted_with_the_annotation_that_its_condition_names() {
    let mut world = World::of_eks(json!({})).await;
    world.kills_the_manager();
    let (before, id) = {
        let object = world.eks_object();
        (world.eks_cluster(), object.annotations()[CONTROL_PLANE_ID_ANNOTATION].clone())
    };
    let restored = restored(&world);
    let state_of = || restored.eks_condition(CLUSTER, "ClusterReady");
    restored.until("it is refused", || state_of().0 == "False ClusterNotOwned").await;
    restored.waits(Duration::from_mins(10)).await;
    let reported = state_of().1;
    assert!(
        reported.contains("does not exist any more") && reported.contains(CONTROL_PLANE_ID_ANNOTATION),
        "{reported}"
    );
    assert!(!reported.contains(&id), "{reported}");
    assert_eq!(restored.eks_cluster().tags, before.tags);

    let annotate = |object: &mut FooControlPlane| {
        object.annotations_mut().insert(CONTROL_PLANE_ID_ANNOTATION.to_owned(), id.clone());
    };
    restored.server.edit(NS, CLUSTER, annotate).unwrap();
    restored.eks_is_ready().await;
    assert_eq!(restored.region.clusters().len(), 1);
    assert_eq!(restored.eks_cluster().arn, before.arn);
    assert_eq!(restored.eks_object().annotations()[CONTROL_PLANE_ID_ANNOTATION], id);
}

/// The same management cluster with the same Cluster applied again, and nothing else in it.
fn restored(world: &World) -> World {
    let restored = world.restored();
    let mut cluster = objects::cluster();
    refers(&mut cluster);
    restored.has(&cluster);
    restored.has(&objects::foo_cluster());
    restored.has(&control_plane(CLUSTER, "v1.34.0", json!({})));
    restored
}
