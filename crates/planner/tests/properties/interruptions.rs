//! Announcements of AWS in random interleavings: what is interrupted, what is only at risk, what never comes true, and what
//! happens without any announcement.

use super::{Step, comes_to_rest, happen, picked, undisturbed};
use crate::world::pool;
use foo_model::SignalKind;
use foo_planner::desired::Rebalance;
use proptest::prelude::*;

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        67 => undisturbed(),
        4 => super::announcement(),
        1 => (0_usize..6).prop_map(Step::Strike),
    ]
}

proptest! {
    #![proptest_config(super::config())]

    /// There is never more than the desired replicas, its surge and one for each that AWS takes back, and never more than the ceiling.
    #[test]
    fn announcements_never_cost_more_than_what_they_announce(
        size in 1_u32..6,
        surge in 0_u32..3,
        unavailable in 0_u32..3,
        ceiling in prop::option::of(0_u32..3),
        rebalance in prop::sample::select(vec![Rebalance::Ignore, Rebalance::Cordon, Rebalance::Replace]),
        steps in prop::collection::vec(step(), 1..150),
    ) {
        let start = pool().of(size).with_surge(surge).lacking_at_most(unavailable).draining_at_most(3);
        let start = start.with_rebalance(rebalance);
        let start = if let Some(more) = ceiling { start.with_ceiling(size + more) } else { start };
        let mut world = start.running();
        let mut announced = 0;
        for step in steps {
            announced += u32::from(matches!(step, Step::Announce(SignalKind::Interruption, _)));
            happen(&mut world, step);
            let there = world.cloud.sizes().desired.max(world.cloud.existing());
            let most = ceiling.map_or(u32::MAX, |more| size + more).min(size + surge + announced);
            prop_assert!(there <= most, "{there} instances, at most {most}\n{}", world.story());
        }
        comes_to_rest(&mut world);
        prop_assert_eq!(world.interrupted(), 0, "what is gone is forgotten\n{}", world.story());
    }

    /// However often everything is recommended to be replaced, no more go than all once in each cool-down, and a manager
    /// that dies again and again does not go round any faster.
    #[test]
    fn recommendations_never_loop(
        size in 1_u32..6,
        surge in 0_u32..3,
        restarts in prop::collection::vec(any::<bool>(), 200),
    ) {
        let mut world = pool().of(size).with_surge(surge).draining_at_most(10).following_advice().running();
        let (began, launched) = (world.now, world.cloud.launched);
        for restart in restarts {
            for id in world.instances() {
                world.announce(SignalKind::Rebalance, &id);
            }
            if restart {
                world.restart(0);
            }
            world.step();
            let rounds = u32::try_from(began.until(world.now).as_secs() / 600).unwrap() + 1;
            let replaced = world.cloud.launched - launched;
            prop_assert!(
                replaced <= rounds * size + surge,
                "{replaced} were replaced in {rounds} rounds of {size}\n{}", world.story()
            );
        }
        comes_to_rest(&mut world);
        prop_assert!(picked(&world.instances(), 0).is_some());
    }
}
