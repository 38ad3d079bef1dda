//! What identities cost, and what they may delay.

use super::{KEY, with_keys};
use crate::support::{CLUSTER, MANAGER, NS, World, objects};
use foo_api::FooCluster;
use foo_apiserver_fake::{Fault as ApiFault, Verb};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn clusters_with_the_same_keys_share_one_observer_until_the_last_is_deleted() {
    let world = World::with_keys().await;
    // Another identity with the same content.
    world.has(&objects::identity(
        "twin",
        json!({"allowAdoption": false, "allowedNamespaces": {}, "secret": {"name": "prod"}}),
    ));
    let (cluster, foo_cluster) = objects::another_cluster("d", Some("twin"));
    world.has(&cluster);
    world.has(&foo_cluster);
    world.settles().await;
    assert!(world.server.get::<FooCluster>(NS, "d").unwrap().status.unwrap().ready == Some(true));
    assert_eq!(world.clouds().len(), 1, "{:?}", world.clouds());
    for name in ["d", CLUSTER] {
        world.server.delete::<foo_api::capi::Cluster>(NS, name).unwrap();
        world.server.delete::<FooCluster>(NS, name).unwrap();
        world.settles().await;
        assert_eq!(world.clouds().len(), usize::from(name == "d"), "{:?}", world.clouds());
    }
    world.forgets();
    world.waits(Duration::from_hours(2)).await;
    assert_eq!(world.callers(), BTreeSet::new());
}

#[tokio::test(start_paused = true)]
async fn identities_cost_nothing_while_nothing_changes() {
    let mut world = World::with_keys().await;
    let pool = world.pool("p").of(1).await;
    let no_calls = async |world: &World| {
        world.settles().await;
        let version = world.server.resource_version();
        world.forgets();
        world.waits(Duration::from_mins(30)).await;
        let live = world.requests().which(|one| matches!(one.verb, Verb::Get | Verb::List));
        assert_eq!((live.count(), world.requests().writes().count()), (0, 0), "{live:?}");
        assert_eq!(world.server.resource_version(), version);
    };
    no_calls(&world).await;
    pool.is_of(1);
    let version = world.server.resource_version();
    world.kills_the_manager();
    world.starts_the_manager();
    world.waits(Duration::from_mins(1)).await;
    assert_eq!(world.server.resource_version(), version, "a restart writes nothing");
    no_calls(&world).await;
    let spec: Value = serde_json::to_value(world.identity("prod").spec).unwrap();
    assert_eq!(spec, json!({"allowAdoption": false, "allowedNamespaces": {}, "secret": {"name": "prod"}}));
}

#[tokio::test(start_paused = true)]
async fn a_manager_that_may_not_list_identities_reports_it_and_calls_no_aws() {
    let mut world = World::new().await;
    world.pool("p").of(1).await;
    world.kills_the_manager();
    let lists = ApiFault::status(403).on(Verb::List).kind("FooClusterIdentity").client(MANAGER).always();
    world.server.inject(lists);
    world.forgets();
    world.starts_the_manager();
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(world.pool("p").state_of("CredentialsReady"), "False IdentityNotYetKnown");
    assert_eq!(world.aws.total_calls(), 0);
    world.server.heal();
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(world.pool("p").state_of("CredentialsReady"), "True");
}

#[tokio::test(start_paused = true)]
async fn reads_of_secrets_that_hang_are_reported_and_block_no_pass() {
    let world = World::with_identity();
    let names = ["a", "b", "c", "d", "prod"];
    let hangs =
        ApiFault::delay(Duration::from_hours(1)).on(Verb::Get).kind("Secret").client(MANAGER).always();
    let hangs = world.server.inject(hangs);
    for name in names {
        world.has(&objects::keys(name, KEY));
        world.has(&with_keys(name));
    }
    let given_up =
        || world.metrics().exposition().unwrap().contains("foo_task_restarts_total{task=\"identities\"} 1");
    // Each read is cancelled after a minute, all of them after four.
    world.waits(Duration::from_mins(3)).await;
    assert!(!given_up() && world.metrics().tasks().are_well());
    world.until("a read is cancelled", given_up).await;
    assert!(!world.metrics().tasks().are_well());
    assert_eq!(world.metrics().tasks().stands_still(), None);
    world.server.withdraw(&hangs);
    world.settles().await;
    assert_eq!(world.cluster_condition("CredentialsReady").status, "True");
    assert!(world.metrics().tasks().are_well());
}
