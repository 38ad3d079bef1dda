//! Watches that stall, fall behind, send no bookmarks or expire: the manager finds out within a time that is
//! documented, lists again, and decides nothing in between that harms.

use crate::support::{MANAGER, NS, World, objects};
use foo_apiserver_fake::{Fault, Verb};
use foo_controller::labels::Watched;
use foo_controller::watch::{ChangeFilter, Scope, Watch};
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use strum::IntoEnumIterator;

/// Stalls of all watches of the manager.
fn stalls(world: &World) -> u64 {
    Watched::iter().map(|kind| world.metrics().watch_stalls(kind)).sum()
}

/// The API server sends nothing to watches of this kind any more, and ends none.
async fn check_stalled(kind: &str) {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    world.drains_take(Duration::from_secs(20));
    let stall = world.server.watches().kind(kind).client(MANAGER).stall();
    for target in [5, 2] {
        pool.scales_to(target);
        let reached = || pool.instances().len() == usize::try_from(target).unwrap();
        world.until("lists show what the watches do not", reached).await;
    }
    world.waits(Duration::from_mins(6)).await;
    assert!(stalls(&world) > 0, "{kind}");
    assert!(world.missing().is_empty(), "{kind}: lists keep the caches up to date");
    stall.release();
    world.settles().await;
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_receives_nothing_and_does_not_end_is_replaced_by_a_list() {
    for kind in ["Machine", "FooMachine", "MachinePool", "*"] {
        check_stalled(kind).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_that_a_stalled_watch_does_not_show_is_known_within_six_minutes() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    let _stall = world.server.watches().kind("MachinePool").client(MANAGER).stall();
    pool.scales_to(2);
    let desired = || pool.group().unwrap().sizes.desired;
    world.waits(Duration::from_mins(2)).await;
    assert_eq!((desired(), stalls(&world)), (1, 0));
    world.waits(Duration::from_mins(4)).await;
    assert_eq!(desired(), 2, "{}", world.summary());
    assert!(world.metrics().watch_stalls(Watched::MachinePool) > 0);
    assert!(world.metrics().watch_errors(Watched::MachinePool) > 0);
}

#[tokio::test(start_paused = true)]
async fn a_watch_whose_bookmarks_fall_behind_is_replaced_by_a_list_within_twenty_minutes() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    let _hold = world.server.watches().kind("MachinePool").client(MANAGER).hold();
    pool.scales_to(2);
    let desired = || pool.group().unwrap().sizes.desired;
    world.waits(Duration::from_mins(10)).await;
    assert_eq!((desired(), stalls(&world)), (1, 0));
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(desired(), 2, "{}", world.summary());
    assert!(world.metrics().watch_stalls(Watched::MachinePool) > 0);
}

#[tokio::test(start_paused = true)]
async fn watches_of_a_healthy_api_server_count_as_no_stall() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    for target in [2, 1] {
        world.waits(Duration::from_mins(30)).await;
        pool.scales_to(target);
        world.settles().await;
    }
    assert_eq!(stalls(&world), 0);
}

/// Watches of this kind deliver everything eleven minutes late.
async fn check_late(kind: &str) {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    world.drains_take(Duration::from_secs(20));
    for target in [1, 4] {
        let hold = world.server.watches().kind(kind).client(MANAGER).hold();
        pool.scales_to(target);
        world.waits(Duration::from_mins(11)).await;
        hold.release();
        world.settles().await;
        pool.is_of(usize::try_from(target).unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn caches_that_are_minutes_behind_cost_no_node_and_duplicate_nothing() {
    for kind in ["Machine", "FooMachine", "MachinePool", "*"] {
        check_late(kind).await;
    }
}

#[tokio::test(start_paused = true)]
async fn watches_without_bookmarks_resume_without_a_list_and_after_a_compaction_with_one() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let _none = world.server.watches().client(MANAGER).without_bookmarks();
    world.forgets();
    world.waits(Duration::from_mins(30)).await;
    assert_eq!(world.requests().verb(Verb::List).count(), 0, "{:?}", world.requests().verb(Verb::List));
    assert!(world.requests().verb(Verb::Watch).count() > 0);
    assert!(world.missing().is_empty(), "{:?}", world.missing());
    // Other kinds change, and etcd forgets the version up to which the watches of Secrets have come.
    let before = world.metrics().watch_errors(Watched::Secret);
    for turn in 0..3 {
        pool.annotates_machine_pool("touched", &turn.to_string());
        world.waits(Duration::from_secs(1)).await;
        world.server.compact();
        world.waits(Duration::from_mins(6)).await;
    }
    assert!(world.metrics().watch_errors(Watched::Secret) > before, "410 counts");
    assert_eq!(stalls(&world), 0);
    for target in [4, 1] {
        pool.scales_to(target);
        world.settles().await;
        pool.is_of(usize::try_from(target).unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_a_version_that_a_restored_etcd_does_not_have_is_replaced_by_a_list() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    world.forgets();
    // How an API server responds to a version of the future.
    world.server.inject(Fault::status(504).on(Verb::Watch).kind("MachinePool").client(MANAGER));
    world.server.watches().kind("MachinePool").client(MANAGER).close();
    world.waits(Duration::from_mins(1)).await;
    assert_eq!(world.requests().kind("MachinePool").verb(Verb::List).count(), 1);
    pool.scales_to(2);
    world.settles().await;
    pool.is_of(2);
}

fn map(name: &str) -> ConfigMap {
    let mut map = objects::placed(ConfigMap::default());
    map.metadata.name = Some(name.to_owned());
    map
}

/// The names that were passed on since the last call, sorted.
fn taken(named: &Mutex<Vec<String>>) -> Vec<String> {
    let mut names = std::mem::take(&mut *named.lock().unwrap());
    names.sort();
    names
}

#[tokio::test(start_paused = true)]
async fn a_list_whose_pages_expire_begins_again_and_one_whose_page_is_refused_continues() {
    let mut world = World::empty();
    world.kills_the_manager();
    // Three pages.
    let all: Vec<String> = (0..1_200).map(|number| format!("m{number:04}")).collect();
    for name in &all {
        world.has(&map(name));
    }
    world.forgets();
    let lists = |fault: Fault| fault.on(Verb::List).kind("ConfigMap").client(MANAGER);
    world.server.inject(lists(Fault::gone()).skip(1));
    // The request that expired is no request to this rule.
    world.server.inject(lists(Fault::too_many_requests(2)).skip(3));
    let context = world.context();
    // Metrics have no label for ConfigMaps.
    let Watch { store, mut changes, .. } =
        Watch::<ConfigMap>::lenient(&context, Watched::FooCluster, Scope::All, ChangeFilter::EveryVersion);
    let named = Arc::new(Mutex::new(Vec::new()));
    let names = Arc::clone(&named);
    tokio::spawn(async move {
        while let Some(object) = changes.next().await {
            names.lock().unwrap().push(object.unwrap().name_any());
        }
    });
    world.waits(Duration::from_secs(30)).await;
    assert_eq!(taken(&named), all, "each once");
    assert_eq!(store.state().len(), all.len());
    assert_eq!(
        world.requests().kind("ConfigMap").verb(Verb::List).count(),
        2 + 4,
        "of the second list one page twice"
    );
    assert_eq!(context.metrics.watch_errors(Watched::FooCluster), 2);

    // The watch expires, and with it the report of a deletion.
    let hold = world.server.watches().kind("ConfigMap").hold();
    world.server.delete::<ConfigMap>(NS, "m0000").unwrap();
    world.has(&map("new"));
    world.server.compact();
    hold.release();
    world.waits(Duration::from_secs(30)).await;
    assert_eq!(taken(&named), ["m0000", "new"]);
    assert_eq!(store.state().len(), all.len());
    assert_eq!(context.metrics.watch_errors(Watched::FooCluster), 3);
}
