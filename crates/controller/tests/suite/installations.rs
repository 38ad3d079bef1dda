//! Two management clusters before one AWS: a restored copy, and one that takes over.

use crate::support::{INSTALLATION, MANAGER, NS, Pool, World, objects};
use foo_api::FooMachinePool;
use foo_apiserver_fake::{Fault, Verb};
use foo_model::names::{ADOPT_FROM_ANNOTATION, TAG_INSTALLATION};
use kube::ResourceExt;
use std::time::Duration;

/// Another management cluster's id.
const COPY: &str = "c0c0c0c0-0000-4000-8000-000000000002";

/// Another management cluster with the same Cluster in it.
async fn copy(world: &World) -> World {
    let copy = world.beside(COPY);
    copy.has(&objects::cluster());
    copy.has(&objects::foo_cluster());
    world.waits(Duration::from_mins(2)).await;
    copy
}

fn installation(pool: &Pool<'_>) -> String {
    pool.group().unwrap().tags[TAG_INSTALLATION].value.clone()
}

fn adopts_from(world: &World, id: &str) {
    let annotate = |pool: &mut FooMachinePool| {
        pool.annotations_mut().insert(ADOPT_FROM_ANNOTATION.to_owned(), id.to_owned());
    };
    world.server.edit(NS, "p", annotate).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_copy_of_the_management_cluster_changes_nothing_until_a_user_confirms_the_takeover() {
    let first = World::new().await;
    let original = first.pool("p").of(2).await;
    assert_eq!(installation(&original), INSTALLATION);
    let second = copy(&first).await;
    first.forgets();
    let copied = second.pool("p").begins_with(5);
    first.waits(Duration::from_mins(10)).await;
    assert_eq!(first.aws_writes(), 0, "{:?}", first.aws.call_counts());
    assert_eq!(copied.state_of("Ready"), "False GroupOfAnotherInstallation", "{}", second.summary());
    let reported = copied.condition("AutoScalingGroupReady").message;
    assert!(reported.contains(INSTALLATION) && reported.contains(COPY), "{reported}");
    assert_eq!(copied.foo_machines(), Vec::<String>::new());
    original.is_of(2);

    // The wrong id is no word.
    adopts_from(&second, "another");
    first.waits(Duration::from_mins(5)).await;
    assert_eq!((first.aws_writes(), installation(&original)), (0, INSTALLATION.to_owned()));

    adopts_from(&second, INSTALLATION);
    first.waits(Duration::from_mins(10)).await;
    assert_eq!(installation(&original), COPY);
    assert_eq!(copied.instances().len(), 5, "{}", second.summary());
    assert!(!copied.object().annotations().contains_key(ADOPT_FROM_ANNOTATION), "it is good for once");
    assert_eq!(original.state_of("Ready"), "False GroupOfAnotherInstallation");
    assert!(original.condition("Ready").message.contains(COPY), "{}", original.condition("Ready").message);
    assert!(first.core.drains().is_empty(), "the first one drains nothing");
    assert_eq!(original.foo_machines().len(), 2, "nor does it create anything");
}

#[tokio::test(start_paused = true)]
async fn deleting_a_copy_deletes_nothing_in_aws() {
    let first = World::new().await;
    let original = first.pool("p").of(2).await;
    let second = copy(&first).await;
    let copied = second.pool("p").begins_with(2);
    first.waits(Duration::from_mins(5)).await;
    first.forgets();
    copied.is_deleted();
    first.waits(Duration::from_mins(10)).await;
    assert!(second.server.get::<FooMachinePool>(NS, "p").is_none(), "{}", second.summary());
    assert_eq!(first.aws_writes(), 0, "{:?}", first.aws.call_counts());
    assert_eq!(first.region.templates().len(), 1);
    original.scales_to(3);
    first.settles().await;
    original.is_of(3);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_done_before_the_manager_knows_in_which_management_cluster_it_is() {
    let mut world = World::new().await;
    world.pool("p").of(1).await;
    world.kills_the_manager();
    let hidden = Fault::unavailable().on(Verb::Get).kind("Namespace").client(MANAGER);
    world.server.inject(hidden.times(u64::MAX));
    world.starts_the_manager();
    world.forgets();
    let pool = world.pool("p");
    pool.scales_to(2);
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(world.aws_writes(), 0);
    assert!(
        world.missing().contains(&"the uid of namespace kube-system".to_owned()),
        "{:?}",
        world.missing()
    );
    world.server.heal();
    world.settles().await;
    world.pool("p").is_of(2);
    assert!(world.missing().is_empty(), "{:?}", world.missing());
}
