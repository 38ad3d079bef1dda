//! What reads groups cost, and what they show when.

use super::{Bench, g, only, seconds};
use foo_cloud::{Pace, Seen};
use futures::StreamExt;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::{Instant, sleep};

#[tokio::test(start_paused = true)]
async fn ten_quiet_minutes_cost_a_constant_handful_of_calls() {
    for (groups, most) in [(1, 20), (100, 20), (101, 40), (500, 100), (1_000, 110)] {
        let mut bench = Bench::of(groups).await;
        seconds(600).await;
        let calls = bench.group_calls();
        assert!(calls <= most && calls * 2 >= most, "{groups} groups: {calls} calls in 10 minutes");
        assert_eq!(bench.woken(), BTreeSet::new(), "nothing changed");
        let described = bench
            .cloud
            .edit(|world| world.group_calls.iter().flat_map(|call| &call.1).collect::<BTreeSet<_>>().len());
        assert_eq!(described, groups);
        bench.driver.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_is_seen_within_30_seconds() {
    let mut bench = Bench::of(500).await;
    for (name, at) in ["g7", "g499", "g250"].into_iter().zip(0..) {
        seconds(7 * at).await;
        bench.resize(name, 4);
        let start = Instant::now();
        let woken = bench.wakes.next().await.unwrap();
        assert_eq!((woken, bench.desired(name)), (g(name), 4), "the view is there before the wake");
        assert!(start.elapsed() <= Duration::from_secs(30), "{:?}", start.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn the_order_of_members_is_no_change_and_an_unchanged_view_gets_younger() {
    let mut bench = Bench::of(1).await;
    let before = bench.observer.view(&g("g0")).unwrap();
    bench.cloud.edit(|world| world.groups.get_mut(&g("g0")).unwrap().instances.reverse());
    seconds(60).await;
    assert_eq!(bench.woken(), BTreeSet::new());
    let after = bench.observer.view(&g("g0")).unwrap();
    assert!(after.at > before.at);
    assert_eq!(after.seen, before.seen);
}

#[tokio::test(start_paused = true)]
async fn groups_that_vanish_and_groups_that_never_existed_are_absent() {
    let mut bench = Bench::of(1).await;
    bench.observer.watch(&g("absent"));
    seconds(1).await;
    assert_eq!(bench.woken(), only("absent"));
    assert_eq!(bench.observer.view(&g("absent")).unwrap().seen, Seen::Absent);
    bench.cloud.edit(|world| world.groups.clear());
    seconds(31).await;
    assert_eq!(bench.woken(), only("g0"));
    assert_eq!(bench.observer.view(&g("g0")).unwrap().seen, Seen::Absent);
}

#[tokio::test(start_paused = true)]
async fn an_active_group_is_described_after_2_4_8_then_every_10_seconds() {
    let bench = Bench::of(300).await;
    seconds(10).await;
    bench.cloud.edit(|world| world.group_calls.clear());
    let start = Instant::now();
    bench.observer.pace(&g("g5"), Pace::Active);
    seconds(60).await;
    let reads: Vec<u64> = bench.cloud.edit(|world| {
        let calls = world.group_calls.iter().filter(|call| call.1.contains(&g("g5")));
        calls.map(|call| (call.0 - start).as_secs()).collect()
    });
    assert!(reads.starts_with(&[2, 4, 8, 16]), "{reads:?}");
    assert!(reads.len() <= 9, "{reads:?}");
    assert!(bench.group_calls() <= 15, "the quiet groups travel along: {} calls", bench.group_calls());
    bench.observer.pace(&g("g5"), Pace::Quiet);
    bench.cloud.edit(|world| world.group_calls.clear());
    seconds(60).await;
    assert!(bench.group_calls() <= 8, "{} calls", bench.group_calls());
}

#[tokio::test(start_paused = true)]
async fn a_read_after_our_own_change_comes_soon_and_wakes_even_if_nothing_changed() {
    let mut bench = Bench::of(3).await;
    let changed = bench.clock.now();
    bench.observer.invalidate(&g("g1"), changed);
    assert!(bench.observer.is_stale(&g("g1")));
    let start = Instant::now();
    assert_eq!(bench.wakes.next().await.unwrap(), g("g1"));
    assert!((1_000..=1_300).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
    assert!(bench.observer.view(&g("g1")).unwrap().at > changed);
    assert!(!bench.observer.is_stale(&g("g1")));
    assert_eq!(bench.woken(), BTreeSet::new());
}

#[tokio::test(start_paused = true)]
async fn reads_requested_by_many_pools_share_their_calls() {
    let bench = Bench::of(100).await;
    for at in 0..100 {
        bench.observer.invalidate(&g(&format!("g{at}")), bench.clock.now());
        sleep(Duration::from_millis(20)).await;
    }
    seconds(2).await;
    assert!(bench.group_calls() <= 13, "{} calls for 100 reads requested within 2 s", bench.group_calls());
}

#[tokio::test(start_paused = true)]
async fn a_read_in_flight_does_not_count_as_the_requested_one() {
    let mut bench = Bench::of(1).await;
    bench.cloud.edit(|world| world.latency = Duration::from_secs(5));
    bench.observer.pace(&g("g0"), Pace::Active);
    seconds(3).await; // the read is on its way
    let changed = bench.clock.now();
    bench.observer.invalidate(&g("g0"), changed);
    bench.wakes.next().await.unwrap();
    assert!(bench.observer.view(&g("g0")).unwrap().at >= changed.plus(Duration::from_secs(1)));
}

#[tokio::test(start_paused = true)]
async fn an_unwatched_group_costs_no_call_and_wakes_nothing() {
    let mut bench = Bench::of(2).await;
    bench.observer.forget(&g("g0"));
    bench.observer.forget(&g("g1"));
    bench.resize("g0", 9);
    seconds(600).await;
    assert_eq!((bench.group_calls(), bench.woken().len()), (0, 0));
    assert_eq!(bench.observer.view(&g("g0")), None);
    bench.observer.watch(&g("g0"));
    seconds(1).await;
    assert_eq!(bench.desired("g0"), 9);
}

#[tokio::test(start_paused = true)]
async fn a_wall_clock_that_is_set_back_hides_nothing() {
    let mut bench = Bench::of(2).await;
    bench.observer.pace(&g("g0"), Pace::Active);
    for step in [-60, -3_600, 7_200, -1, -86_400] {
        bench.wall.steps_by(step);
        let before = bench.group_calls();
        bench.resize("g1", 4 + u32::try_from(step.abs()).unwrap());
        seconds(31).await;
        assert!(bench.woken().contains(&g("g1")), "after a step of {step} s");
        assert!(bench.group_calls() > before);
        let view = bench.observer.view(&g("g1")).unwrap();
        assert!(view.at <= bench.clock.now(), "the view's time is of the clock as it is");
        assert_eq!(bench.observer.unseen_since(&g("g1")), None);
    }
    bench.observer.invalidate(&g("g1"), bench.clock.now());
    seconds(3).await;
    assert_eq!(bench.woken(), only("g1"));
    assert!(!bench.observer.is_stale(&g("g1")));
}
