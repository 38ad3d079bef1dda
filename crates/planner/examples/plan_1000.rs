//! Prints how long a plan for a pool of 1,000 Machines takes: idle, and when half of them must be deleted.
//!
//! `cargo run --release -p foo-planner --example plan_1000`. The target is 5 ms per plan.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    dead_code,
    unused_imports,
    reason = "the world is that of the tests, and so is how it fails"
)]

#[path = "../tests/world/mod.rs"]
mod world;

use foo_model::{Instance, InstanceId, Zone};
use foo_planner::{plan, violations};
use std::time::Instant;
use world::{World, pool};

const SIZE: u32 = 1000;

fn main() {
    let mut world = settled();
    for (what, wanted) in [("idle", SIZE), ("500 too many", SIZE / 2), ("500 too few", SIZE * 3 / 2)] {
        world.scale_to(wanted);
        let observed = world.observe(0);
        let (desired, memory) = (&world.desired, &world.managers[0].memory);
        let rounds = 50;
        let begin = Instant::now();
        let mut actions = 0;
        for _ in 0..rounds {
            actions = plan(desired, &observed, memory).actions.len();
        }
        let planned = begin.elapsed() / rounds;
        let a_plan = plan(desired, &observed, memory);
        let begin = Instant::now();
        let broken = violations(desired, &observed, memory, &a_plan).len();
        let checked = begin.elapsed();
        println!(
            "{SIZE} machines, {what}: plan {planned:?} ({actions} actions), check {checked:?} ({broken} violations)"
        );
    }
}

/// All Machines in service. The world launches one instance at a time; here all but the first come together.
fn settled() -> World {
    let mut world = pool().of(SIZE).draining_at_most(SIZE).with_surge(1).lacking_at_most(0).new_world();
    while world.instances().is_empty() {
        world.step();
    }
    let group = world.cloud.group.as_mut().unwrap();
    let first = group.instances[0].clone();
    let zones = ["eu-1a", "eu-1b", "eu-1c"];
    for (number, zone) in (1..SIZE).zip(zones.into_iter().cycle()) {
        let id = InstanceId::new(format!("i-{number:017x}"));
        group.instances.push(Instance { id, zone: Zone::new(zone), ..first.clone() });
    }
    world.settle();
    world
}
