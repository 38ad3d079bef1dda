//! Whatever happens, in any order: every watched group is read.

use super::{Bench, g, seconds, start};
use foo_cloud::{ErrorKind, Pace};
use foo_model::GroupName;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// What may happen to an observer.
#[derive(Clone, Debug)]
enum Step {
    Watch(u8),
    Forget(u8),
    Pace(u8, bool),
    Request(u8),
    /// The wall clock is set by this many seconds.
    Clock(i64),
    /// Every call fails from now on, or does not.
    Fail(bool),
    /// Calls with this group never come back.
    Hang(Option<u8>),
    /// Calls take this many seconds.
    Latency(u64),
    /// What drives the observer ends and is started again.
    Restart,
    /// This many seconds pass.
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0_u8..6).prop_map(Step::Watch),
        1 => (0_u8..6).prop_map(Step::Forget),
        1 => (0_u8..6, any::<bool>()).prop_map(|(at, active)| Step::Pace(at, active)),
        1 => (0_u8..6).prop_map(Step::Request),
        2 => (-7_200_i64..7_200).prop_map(Step::Clock),
        1 => any::<bool>().prop_map(Step::Fail),
        1 => proptest::option::of(0_u8..6).prop_map(Step::Hang),
        1 => (0_u64..20).prop_map(Step::Latency),
        1 => Just(Step::Restart),
        4 => (0_u64..90).prop_map(Step::Wait),
    ]
}

/// The quiet period of these tests.
const PERIOD: Duration = Duration::from_secs(30);

async fn plays(steps: Vec<Step>) {
    let mut bench = Bench::of(6).await;
    let name = |at: u8| g(&format!("g{at}"));
    let mut watched: BTreeMap<GroupName, Instant> = (0..6).map(|at| (name(at), Instant::now())).collect();
    let check = |bench: &Bench, watched: &BTreeMap<GroupName, Instant>, aws_responds: bool| {
        for (group, since) in watched {
            let asked = bench.cloud.edit(|world| {
                let calls = world.group_calls.iter().rev();
                calls.clone().find(|(_, names)| names.contains(group)).map(|(at, _)| *at)
            });
            let age = asked.unwrap_or(*since).max(*since).elapsed();
            assert!(!aws_responds || age <= PERIOD * 2, "{group}: observed {age:?} ago");
            if age > PERIOD * 2 {
                assert!(
                    bench.observer.unseen_since(group).is_some(),
                    "{group}: it is not reported as unseen"
                );
            }
            if aws_responds {
                assert_eq!(bench.observer.unseen_since(group), None, "{group}");
            }
        }
    };
    for step in steps {
        match step {
            Step::Watch(at) => {
                bench.observer.watch(&name(at));
                watched.entry(name(at)).or_insert_with(Instant::now);
            }
            Step::Forget(at) => {
                bench.observer.forget(&name(at));
                watched.remove(&name(at));
            }
            Step::Pace(at, active) => {
                bench.observer.pace(&name(at), if active { Pace::Active } else { Pace::Quiet });
            }
            Step::Request(at) => bench.observer.invalidate(&name(at), bench.clock.now()),
            Step::Clock(seconds) => bench.wall.steps_by(seconds),
            Step::Fail(fails) => bench.fail(fails.then_some(ErrorKind::Throttled)),
            Step::Hang(at) => bench.cloud.edit(|world| world.hanging = at.map(name)),
            Step::Latency(seconds) => bench.cloud.edit(|world| world.latency = Duration::from_secs(seconds)),
            Step::Restart => {
                bench.driver.abort();
                bench.driver = start(&bench.observer);
            }
            Step::Wait(time) => seconds(time).await,
        }
        check(&bench, &watched, false);
    }
    bench.fail(None);
    bench.cloud.edit(|world| (world.hanging, world.latency) = (None, Duration::ZERO));
    // A read that hangs is cancelled after two minutes, and the pause after that is at most one.
    seconds(190).await;
    for _ in 0..10 {
        check(&bench, &watched, true);
        seconds(17).await;
    }
    bench.driver.abort();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_every_watched_group_is_described_within_two_periods_while_aws_responds(
        steps in proptest::collection::vec(step(), 0..40)
    ) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(plays(steps));
    }
}
