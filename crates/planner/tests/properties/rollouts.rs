//! Roll-outs in random interleavings: edits, failures, crashes and changes of size, while no user interferes with instances.
//! What serves is never fewer than the budget wants, and there are never more instances than it allows.

use super::{Step, comes_to_rest, happen, undisturbed};
use crate::world::{World, pool};
use foo_model::{LifecycleState, NodeState, Seconds};
use foo_planner::desired::IntOrPercent;
use proptest::prelude::*;

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        67 => undisturbed(),
        2 => (1_u8..4).prop_map(Step::Content),
        1 => (1_u8..4).prop_map(Step::Broken),
    ]
}

/// Instances in service with a Ready Node whose Machines stay.
fn serving(world: &World) -> u32 {
    let members = world.cloud.group.iter().flat_map(|group| &group.instances);
    let serves = members.filter(|instance| {
        let machine = world.kube.machine(&world.name_of(&instance.id));
        instance.lifecycle == LifecycleState::InService
            && machine.is_some_and(|it| it.node == NodeState::Ready && !it.deletion.is_deleting())
    });
    u32::try_from(serves.count()).unwrap()
}

/// Among roll-outs instances grow old.
fn step_with_ages() -> impl Strategy<Value = Step> {
    prop_oneof![
        67 => undisturbed(),
        1 => (1_u8..4).prop_map(Step::Content),
        1 => (1_u8..4).prop_map(Step::Broken),
        3 => (0_u32..60_000).prop_map(Step::GrowOld),
        2 => prop::sample::select(vec![0_u32, 30, 100_000]).prop_map(Step::WindowIn),
    ]
}

proptest! {
    #![proptest_config(super::config())]

    #[test]
    fn expiry_keeps_the_limits_of_roll_outs_whatever_happens(
        size in 1_u32..6,
        surge in 0_u32..4,
        unavailable in 0_u32..3,
        ceiling in prop::option::of(0_u32..3),
        steps in prop::collection::vec(step_with_ages(), 1..150),
    ) {
        let start = pool().of(size).with_surge(surge).lacking_at_most(unavailable).draining_at_most(3).living(86_400);
        let start = if let Some(more) = ceiling { start.with_ceiling(size + more) } else { start };
        let mut world = start.running();
        let allowed = if unavailable == 0 && surge == 0 { 1 } else { unavailable };
        for step in steps {
            happen(&mut world, step);
            let serving = serving(&world);
            prop_assert!(
                serving >= size.saturating_sub(allowed),
                "{serving} serve, {allowed} of {size} may be missing\n{}", world.story()
            );
            let there = world.cloud.sizes().desired.max(world.cloud.existing());
            let most = ceiling.map_or(size + surge, |more| size + surge.min(more));
            prop_assert!(there <= most, "{there} instances, at most {most}\n{}", world.story());
        }
        world.kube.broken.clear();
        world.kube.quarantine.clear();
        world.desired.rollout.ready_timeout = Seconds(1_000_000);
        world.desired.rollout.max_unavailable = IntOrPercent::Count(1);
        // Otherwise some may reach their lifetime a little later.
        world.grow_old(86_400);
        comes_to_rest(&mut world);
        for machine in &world.kube.machines {
            prop_assert!(machine.created.until(world.now).as_secs() <= 86_400, "{machine:?}\n{}", world.story());
        }
    }

    #[test]
    fn a_roll_out_keeps_its_budgets_whatever_happens(
        size in 1_u32..6,
        surge in 0_u32..4,
        unavailable in 0_u32..3,
        rolls_back in any::<bool>(),
        ceiling in prop::option::of(0_u32..3),
        steps in prop::collection::vec(step(), 1..150),
    ) {
        let start = pool().of(size).with_surge(surge).lacking_at_most(unavailable).draining_at_most(3);
        let start = if rolls_back { start.rolling_back() } else { start };
        let start = if let Some(more) = ceiling { start.with_ceiling(size + more) } else { start };
        let mut world = start.running();
        let allowed = if unavailable == 0 && surge == 0 { 1 } else { unavailable };
        for step in steps {
            happen(&mut world, step);
            let serving = serving(&world);
            prop_assert!(
                serving >= size.saturating_sub(allowed),
                "{serving} serve, {allowed} of {size} may be missing\n{}", world.story()
            );
            let there = world.cloud.sizes().desired.max(world.cloud.existing());
            let most = ceiling.map_or(size + surge, |more| size + surge.min(more));
            prop_assert!(there <= most, "{there} instances, at most {most}\n{}", world.story());
        }
        // In the end everything works and may be unavailable, and then everything is up to date.
        world.kube.broken.clear();
        world.kube.quarantine.clear();
        world.desired.rollout.ready_timeout = Seconds(1_000_000);
        world.desired.rollout.max_unavailable = IntOrPercent::Count(1);
        comes_to_rest(&mut world);
        let wanted = match &world.desired.template {
            foo_planner::desired::Wanted::Ready(wanted) => wanted.spec_hash.clone(),
            foo_planner::desired::Wanted::Blocked(_) => unreachable!("nothing blocks it"),
        };
        let versions = &world.cloud.template.as_ref().expect("a template").versions;
        for instance in world.cloud.group.iter().flat_map(|group| &group.instances) {
            let version = instance.template.as_ref().map(|(_, version)| *version);
            let record = versions.iter().find(|record| Some(record.version) == version);
            let has = record.and_then(|record| record.spec_hash.clone());
            prop_assert_eq!(has, Some(wanted.clone()), "{}", world.story());
        }
    }
}
