//! How long an identity stays, and who writes to it and to its Secret.

use super::{KEY, OTHER_KEY, with_keys};
use crate::support::{CLUSTER, MANAGER, NS, World, objects};
use foo_api::names::WATCH_LABEL;
use foo_api::{FooCluster, FooClusterIdentity};
use foo_apiserver_fake::{Fault as ApiFault, Verb};
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt as _;
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn an_identity_stays_until_no_cluster_uses_it() {
    let world = World::with_keys().await;
    let pool = world.pool("p").of(1).await;
    world.server.delete::<FooClusterIdentity>("", "prod").unwrap();
    world.settles().await;
    let reported = world.identity("prod").status.unwrap().conditions;
    let deleting = reported.iter().find(|condition| condition.type_ == "Deleting").expect("not reported");
    assert_eq!((deleting.status.as_str(), deleting.reason.as_str()), ("True", "InUse"));
    let users =
        format!("in use by FooClusters, delete them or set another identityRef there: {NS}/{CLUSTER}");
    assert_eq!(deleting.message, users);
    pool.scales_to(2);
    world.settles().await;
    pool.is_of(2);
    pool.is_deleted();
    world.server.delete::<FooCluster>(NS, CLUSTER).unwrap();
    world.until("the cluster is deleted", || world.server.get::<FooCluster>(NS, CLUSTER).is_none()).await;
    world
        .soon("the identity is deleted", || world.server.get::<FooClusterIdentity>("", "prod").is_none())
        .await;
    assert!(pool.group().is_none(), "and its group was deleted before it");
}

#[tokio::test(start_paused = true)]
async fn only_one_of_two_installations_writes_to_an_identity() {
    let mut world = World::with_keys().await;
    world.restarts_the_manager_for("team");
    world.has(&objects::keys("other", OTHER_KEY));
    let mut labelled = with_keys("other");
    labelled.labels_mut().insert(WATCH_LABEL.to_owned(), "team".to_owned());
    world.has(&labelled);
    world.has(&with_keys("foreign"));
    world.settles().await;
    let ready = |name: &str| world.identity(name).status.map(|status| status.conditions[0].status.clone());
    assert_eq!((ready("other"), ready("foreign")), (Some("True".to_owned()), None));
    assert!(
        world.identity("prod").finalizers().len() == 1,
        "it is used, whichever manager writes its status"
    );
    world.edits_identity("prod", |identity| identity.spec.allowed_namespaces = None);
    world.settles().await;
    let reported = &world.identity("prod").status.unwrap().conditions[0];
    assert_eq!(reported.message, "", "this one does not report what the other one does");
    assert!(world.identity("prod").finalizers().is_empty(), "no namespace may use it any more");
}

#[tokio::test(start_paused = true)]
async fn an_unused_identity_is_released_by_the_next_manager() {
    let mut world = World::with_keys().await;
    world.kills_the_manager();
    world.server.delete::<FooClusterIdentity>("", "prod").unwrap();
    world.server.edit(NS, CLUSTER, |cluster: &mut FooCluster| cluster.metadata.finalizers = None).unwrap();
    world.server.delete::<FooCluster>(NS, CLUSTER).unwrap();
    assert!(world.server.get::<FooClusterIdentity>("", "prod").is_some());
    // There is no FooCluster left whose change could wake it, and that is known last.
    let slow = ApiFault::status(500).on(Verb::List).kind("FooCluster").client(MANAGER).times(3);
    world.server.inject(slow);
    world.starts_the_manager();
    world
        .until("the identity is deleted", || world.server.get::<FooClusterIdentity>("", "prod").is_none())
        .await;
}

#[tokio::test(start_paused = true)]
async fn sources_and_the_default_are_used_too_and_released_at_once() {
    let world = World::with_identity();
    let through_jump = json!({"arn": "arn:aws:iam::123456789012:role/x", "source": {"name": "jump"}});
    world.has(&objects::identity("prod", json!({"allowedNamespaces": {}, "role": through_jump})));
    world.has(&objects::identity("jump", json!({"controller": {}})));
    world.has(&objects::identity("default", json!({"allowedNamespaces": {}, "controller": {}})));
    world.settles().await;
    let pending = |name: &str| !world.identity(name).finalizers().is_empty();
    assert_eq!(["prod", "jump", "default"].map(pending), [true, true, false]);
    world.server.delete::<FooClusterIdentity>("", "jump").unwrap();
    world.server.edit(NS, CLUSTER, |cluster: &mut FooCluster| cluster.spec.identity_ref = None).unwrap();
    world
        .soon("the source is deleted", || world.server.get::<FooClusterIdentity>("", "jump").is_none())
        .await;
    assert_eq!(["prod", "default"].map(pending), [false, true]);
}

#[tokio::test(start_paused = true)]
async fn a_secret_belongs_to_the_identities_that_name_it() {
    let world = World::with_keys().await;
    let owners = |name: &str| -> Vec<String> {
        let secret = world.server.get::<Secret>(NS, name).unwrap();
        secret.owner_references().iter().map(|owner| format!("{} {}", owner.kind, owner.name)).collect()
    };
    assert_eq!(owners("prod"), ["FooClusterIdentity prod"]);
    let reported = &world.identity("prod").status.unwrap().conditions[0];
    assert_eq!(
        (reported.type_.as_str(), reported.status.as_str(), reported.reason.as_str()),
        ("Ready", "True", "Complete")
    );
    world.has(&with_keys("other"));
    world.edits_identity("other", |it| it.spec.secret.as_mut().unwrap().name = "prod".to_owned());
    world.settles().await;
    assert_eq!(owners("prod"), ["FooClusterIdentity prod", "FooClusterIdentity other"]);
    world.has(&objects::keys("fresh", OTHER_KEY));
    world.edits_identity("prod", |it| it.spec.secret.as_mut().unwrap().name = "fresh".to_owned());
    world.settles().await;
    assert_eq!(
        (owners("prod"), owners("fresh")),
        (vec!["FooClusterIdentity other".to_owned()], vec!["FooClusterIdentity prod".to_owned()],)
    );
    assert_eq!(world.server.get::<Secret>(NS, "prod").unwrap().data, objects::keys("prod", KEY).data);
}
