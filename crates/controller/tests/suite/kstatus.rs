//! What clients that evaluate objects by kstatus (Flux, `kubectl wait` alike) show for a pool and for an EKS control
//! plane: routine work is no failure (decision 0021).

use crate::support::{Pool, World};
use foo_api::pool::Ami;
use foo_simulator_core::core::catalogue::IMAGE_X86_64_NEWER;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// kstatus' rules for a custom resource (cli-utils, `pkg/kstatus`, "Conditions"): the generation, then `Reconciling`
/// and `Stalled`, then `Ready`.
fn kstatus(object: &Value) -> &'static str {
    let observed = object.pointer("/status/observedGeneration").and_then(Value::as_i64);
    if observed.is_some_and(|observed| {
        Some(observed) != object.pointer("/metadata/generation").and_then(Value::as_i64)
    }) {
        return "InProgress";
    }
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    let status_of = |kind: &str| {
        let found = conditions.into_iter().flatten().find(|it| it["type"] == kind);
        found.and_then(|it| it["status"].as_str()).unwrap_or("absent").to_owned()
    };
    match (status_of("Reconciling").as_str(), status_of("Stalled").as_str(), status_of("Ready").as_str()) {
        ("True", _, _) => "InProgress",
        (_, "True", _) => "Failed",
        (_, _, "True") => "Current",
        (_, _, _) => "InProgress",
    }
}

impl Pool<'_> {
    fn kstatus(&self) -> &'static str {
        kstatus(&serde_json::to_value(self.object()).unwrap())
    }
}

/// What is seen of the pool each second until a condition is met.
async fn seen_until(world: &World, pool: &Pool<'_>, done: impl Fn() -> bool) -> BTreeSet<&'static str> {
    seen_of(world, || pool.kstatus(), done).await
}

/// The same of anything.
async fn seen_of(
    world: &World,
    kstatus: impl Fn() -> &'static str,
    done: impl Fn() -> bool,
) -> BTreeSet<&'static str> {
    let mut seen = BTreeSet::new();
    for _ in 0..(2 * 3_600) {
        world.waits(Duration::from_secs(1)).await;
        seen.insert(kstatus());
        if done() {
            return seen;
        }
    }
    panic!("it never was\n{}", world.summary());
}

#[tokio::test(start_paused = true)]
async fn a_new_pool_is_in_progress_until_its_instances_serve() {
    let world = World::new().await;
    let pool = world.pool("p").begins_with(3);
    let seen = seen_until(&world, &pool, || pool.kstatus() == "Current").await;
    assert_eq!(seen, BTreeSet::from(["Current", "InProgress"]));
    world.settles().await;
    pool.is_of(3);
}

#[tokio::test(start_paused = true)]
async fn a_scale_in_that_drains_for_long_leaves_a_pool_current() {
    let world = World::new().await;
    let pool = world.pool("p").of(4).await;
    world.drains_take(Duration::from_mins(15));
    pool.scales_to(2);
    let seen = seen_until(&world, &pool, || pool.instances().len() == 2).await;
    assert_eq!(seen, BTreeSet::from(["Current"]), "{}", world.summary());
    world.settles().await;
    assert_eq!(pool.state_of("Ready"), "True");
}

#[tokio::test(start_paused = true)]
async fn a_roll_out_leaves_a_pool_current_once_its_spec_is_observed() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    world.drains_take(Duration::from_mins(10));
    pool.edits(|spec| spec.ami = Ami::of_id(IMAGE_X86_64_NEWER));
    world.until("the spec is observed", || pool.kstatus() == "Current").await;
    let finished = || pool.status().rollout.is_some_and(|rollout| rollout.phase == "Finished");
    world.until("the roll-out begins", || !finished()).await;
    let seen = seen_until(&world, &pool, || finished() && pool.instances().len() == 3).await;
    assert_eq!(seen, BTreeSet::from(["Current"]), "{}", world.summary());
}

#[tokio::test(start_paused = true)]
async fn a_pool_that_cannot_follow_its_spec_is_not_current() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    pool.edits(|spec| spec.ami = Ami::of_id("ami-0000000000000dead"));
    world.settles().await;
    assert_eq!(pool.kstatus(), "InProgress", "{}", world.summary());
}

#[tokio::test(start_paused = true)]
async fn an_upgrade_leaves_an_eks_control_plane_current_once_its_spec_is_observed() {
    let world = World::of_eks(json!({ "addons": [{ "name": "vpc-cni" }] })).await;
    let kstatus = || kstatus(&serde_json::to_value(world.eks_object()).unwrap());
    assert_eq!(kstatus(), "Current");
    world.requests_version("v1.36.1");
    world.until("it upgrades", || world.eks_state("Upgrading").starts_with("True")).await;
    let version = || world.eks_object().status.unwrap().version.unwrap();
    let done = || version() == "v1.36.1" && world.eks_state("Upgrading").starts_with("False");
    let seen = seen_of(&world, kstatus, done).await;
    assert_eq!(seen, BTreeSet::from(["Current"]), "{}", world.eks_summary());
}
