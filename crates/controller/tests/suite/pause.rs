//! Paused: the condition reports it, and AWS is left alone.

use crate::support::{CLUSTER, NS, World};
use foo_api::capi::Cluster;
use foo_api::names::PAUSED_ANNOTATION;
use kube::ResourceExt;
use std::time::Duration;

/// Paused one way, the pool is left alone, whatever is desired; then it continues.
async fn check(pause: impl Fn(&World), proceed: impl Fn(&World)) {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    assert_eq!(pool.condition("Paused").status, "False");
    pause(&world);
    world.settles().await;
    assert_eq!(pool.condition("Paused").status, "True");
    let writes = world.aws_writes();
    pool.scales_to(4);
    pool.edits(|spec| spec.ssh_key_name = Some("k".to_owned()));
    world.waits(Duration::from_mins(15)).await;
    assert_eq!(world.aws_writes(), writes);
    assert_eq!((pool.instances().len(), pool.machines().len()), (2, 2));
    proceed(&world);
    world.settles().await;
    assert_eq!(pool.condition("Paused").status, "False");
    pool.is_of(4);
}

#[tokio::test(start_paused = true)]
async fn a_paused_cluster_pauses_its_pools() {
    let set = |paused: Option<bool>| {
        move |world: &World| {
            world.server.edit(NS, CLUSTER, |cluster: &mut Cluster| cluster.spec.paused = paused).unwrap();
        }
    };
    check(set(Some(true)), set(None)).await;
}

#[tokio::test(start_paused = true)]
async fn a_paused_pool_is_not_reconciled() {
    let pause = |world: &World| {
        world.pool("p").edits_object(|pool| {
            pool.annotations_mut().insert(PAUSED_ANNOTATION.to_owned(), String::new());
        });
    };
    let proceed = |world: &World| {
        world.pool("p").edits_object(|pool| drop(pool.annotations_mut().remove(PAUSED_ANNOTATION)));
    };
    check(pause, proceed).await;
}

#[tokio::test(start_paused = true)]
async fn a_pool_that_is_deleted_while_paused_waits() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    pool.edits_object(|pool| {
        pool.annotations_mut().insert(PAUSED_ANNOTATION.to_owned(), "x".to_owned());
    });
    world.settles().await;
    let writes = world.aws_writes();
    pool.is_deleted();
    world.waits(Duration::from_mins(15)).await;
    assert_eq!((world.aws_writes(), pool.instances().len()), (writes, 2));
    pool.edits_object(|pool| drop(pool.annotations_mut().remove(PAUSED_ANNOTATION)));
    world.settles().await;
    pool.left_nothing();
}

#[tokio::test(start_paused = true)]
async fn a_foo_cluster_reports_that_it_is_paused() {
    let world = World::new().await;
    let set = |paused: bool| {
        world.server.edit(NS, CLUSTER, |cluster: &mut Cluster| cluster.spec.paused = Some(paused)).unwrap();
    };
    let reported = || {
        let cluster: foo_api::FooCluster = world.server.get(NS, CLUSTER).unwrap();
        let conditions = cluster.status.unwrap().conditions;
        conditions.into_iter().find(|one| one.type_ == "Paused").unwrap().status
    };
    set(true);
    world.settles().await;
    assert_eq!(reported(), "True");
    set(false);
    world.settles().await;
    assert_eq!(reported(), "False");
}
