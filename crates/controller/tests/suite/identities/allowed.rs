//! Which identity a cluster is given, and whether its namespace may use it.

use super::{AT_ONCE, KEY, OTHER_KEY, only, with_keys};
use crate::support::{CLUSTER, MANAGER, NS, World, objects};
use foo_api::FooCluster;
use foo_api::identity::AllowedNamespaces;
use k8s_openapi::api::core::v1::Namespace;
use kube::ResourceExt as _;
use serde_json::json;
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn a_cluster_and_its_pools_use_the_identity() {
    let world = World::with_keys().await;
    let pool = world.pool("p").of(2).await;
    pool.is_of(2);
    assert_eq!(pool.state_of("CredentialsReady"), "True");
    let reported = world.cluster_condition("CredentialsReady");
    assert_eq!((reported.status.as_str(), reported.reason.as_str()), ("True", "Accepted"));
    assert_eq!(world.callers(), only(KEY), "no other credentials were used");
    let clouds = world.clouds();
    assert_eq!(clouds.len(), 1, "the cluster and the pool share one: {clouds:?}");
    assert!(!clouds[0].contains("hush"));
    pool.is_deleted();
    world.settles().await;
    pool.left_nothing();
    assert_eq!(world.callers(), only(KEY));
}

#[tokio::test(start_paused = true)]
async fn a_role_is_assumed_through_its_sources() {
    let world = World::with_identity();
    world.has(&objects::keys("base", KEY));
    world.has(&objects::identity("base", json!({"secret": {"name": "base"}})));
    let role = |name: &str, source: &str| {
        let arn = format!("arn:aws:iam::123456789012:role/{name}");
        json!({"arn": arn, "source": {"name": source}})
    };
    world.has(&objects::identity("jump", json!({"role": role("jump", "base")})));
    world.has(&objects::identity("prod", json!({"allowedNamespaces": {}, "role": role("pools", "jump")})));
    world.settles().await;
    world.pool("p").of(1).await.is_of(1);
    assert_eq!(world.callers(), only("arn:aws:iam::123456789012:role/pools"));
    let clouds = world.clouds();
    let chain = "AKIAFIRST > arn:aws:iam::123456789012:role/jump > arn:aws:iam::123456789012:role/pools #";
    assert!(clouds[0].starts_with(chain), "{clouds:?}");
}

#[tokio::test(start_paused = true)]
async fn a_missing_identity_is_named_and_its_creation_noticed() {
    let world = World::with_identity();
    let pool = world.pool("p").begins_with(1);
    let words = "FooClusterIdentity prod does not exist";
    world.is_without_credentials(&pool, "IdentityNotFound", words).await;
    world.has(&objects::identity("prod", json!({"allowedNamespaces": {}, "controller": {}})));
    world.soon("AWS is asked", || !world.callers().is_empty()).await;
    world.settles().await;
    pool.is_of(1);
    assert_eq!(world.callers(), only(MANAGER));
}

#[tokio::test(start_paused = true)]
async fn a_circle_of_sources_is_named() {
    let world = World::with_identity();
    let role = |source: &str| {
        let arn = "arn:aws:iam::123456789012:role/x";
        json!({"allowedNamespaces": {}, "role": {"arn": arn, "source": {"name": source}}})
    };
    world.has(&objects::identity("prod", role("jump")));
    world.has(&objects::identity("jump", role("prod")));
    let pool = world.pool("p").begins_with(1);
    let words = "its source identities form a circle: prod > jump > prod";
    world.is_without_credentials(&pool, "IdentityInvalid", words).await;
    let reported = &world.identity("jump").status.unwrap().conditions[0];
    assert_eq!((reported.status.as_str(), reported.reason.as_str()), ("False", "IdentityInvalid"));
}

#[tokio::test(start_paused = true)]
async fn a_namespace_gets_no_credentials_until_its_labels_allow_it() {
    let world = World::with_identity();
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some(NS.to_owned());
    world.has(&namespace);
    let gold = json!({"selector": {"matchLabels": {"tier": "gold"}}});
    world.has(&objects::identity("prod", json!({"allowedNamespaces": gold, "controller": {}})));
    let pool = world.pool("p").begins_with(1);
    let words = "FooClusterIdentity prod does not allow use from namespace default";
    world.is_without_credentials(&pool, "IdentityNotAllowed", words).await;
    let label = |namespace: &mut Namespace| {
        namespace.labels_mut().insert("tier".to_owned(), "gold".to_owned());
    };
    world.server.edit("", NS, label).unwrap();
    world.soon("AWS is asked", || !world.callers().is_empty()).await;
    world.settles().await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn without_allowed_namespaces_an_identity_allows_none() {
    let world = World::with_identity();
    world.has(&objects::identity("prod", json!({"controller": {}})));
    let pool = world.pool("p").begins_with(1);
    world
        .is_without_credentials(&pool, "IdentityNotAllowed", "does not allow use from namespace default")
        .await;
    let reported = &world.identity("prod").status.unwrap().conditions[0];
    assert!(reported.message.contains("no namespace may use it"), "{reported:?}");
}

#[tokio::test(start_paused = true)]
async fn the_default_identity_is_for_clusters_that_name_none() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    assert_eq!(world.callers(), only(MANAGER), "without it they use the manager's own credentials");
    let elsewhere = json!({"list": ["elsewhere"]});
    world.has(&objects::identity("default", json!({"allowedNamespaces": elsewhere, "controller": {}})));
    let words =
        "FooClusterIdentity default, which is the default of FooClusters without identityRef, does not allow";
    world.is_without_credentials(&pool, "IdentityNotAllowed", words).await;
    assert_eq!(pool.instances().len(), 1, "what runs keeps running");
    world.edits_identity("default", |identity| {
        identity.spec.allowed_namespaces = Some(AllowedNamespaces::default());
    });
    world.settles().await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn a_cluster_can_change_its_identity() {
    let world = World::with_keys().await;
    let pool = world.pool("p").of(2).await;
    let instances = pool.instances();
    world.has(&objects::keys("other", OTHER_KEY));
    world.has(&with_keys("other"));
    world.settles().await;
    world.drains_take(Duration::from_mins(2));
    pool.scales_to(1);
    world.waits(Duration::from_secs(30)).await;
    let turn = |cluster: &mut FooCluster| {
        cluster.spec.identity_ref = Some(objects::identity_reference("other"));
    };
    world.server.edit(NS, CLUSTER, turn).unwrap();
    world.soon("the other key is used", || world.callers().contains(OTHER_KEY)).await;
    world.waits(AT_ONCE).await;
    world.forgets();
    world.settles().await;
    pool.is_of(1);
    assert!(instances.contains(&pool.instances()[0]));
    assert_eq!(world.callers(), only(OTHER_KEY));
}

/// The manager does not know in that time how many replicas are desired: that is no request for none.
#[tokio::test(start_paused = true)]
async fn the_time_without_credentials_does_not_count_for_the_stabilization_of_a_scale_in() {
    let world = World::with_keys().await;
    let pool = world.pool("p").with(|spec| spec.scale_in.stabilization_seconds = Some(2100)).of(4).await;
    let before = pool.instances();
    world.edits_identity("prod", |identity| identity.spec.allowed_namespaces = None);
    world.waits(Duration::from_mins(40)).await;
    pool.scales_to(2);
    world.waits(Duration::from_mins(1)).await;
    world.edits_identity("prod", |identity| {
        identity.spec.allowed_namespaces = Some(AllowedNamespaces::default());
    });
    world.waits(Duration::from_mins(30)).await;
    assert_eq!(pool.instances(), before, "what serves is kept for as long as after any other decision");
    world.waits(Duration::from_mins(10)).await;
    world.settles().await;
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn without_credentials_aws_is_not_called_and_instances_keep_running() {
    let world = World::with_keys().await;
    let pool = world.pool("p").of(2).await;
    world.edits_identity("prod", |identity| identity.spec.allowed_namespaces = None);
    world
        .is_without_credentials(&pool, "IdentityNotAllowed", "does not allow use from namespace default")
        .await;
    assert_eq!(world.clouds(), Vec::<String>::new(), "no observer is left");
    assert_eq!((pool.instances().len(), pool.machines().len()), (2, 2));
    assert_eq!(pool.object().spec.provider_id_list.unwrap().len(), 2);
    pool.is_deleted();
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(pool.state_of("Deleting"), "True");
    assert_eq!(pool.condition("Deleting").reason, "IdentityNotAllowed", "it reports what it waits for");
    assert_eq!(pool.instances().len(), 2);
    world.edits_identity("prod", |identity| {
        identity.spec.allowed_namespaces = Some(AllowedNamespaces::default());
    });
    world.settles().await;
    pool.left_nothing();
}
