//! AWS that fails, hangs or responds oddly, and an observer that stands still.

use super::{Bench, g, only, seconds, start};
use foo_cloud::ErrorKind;
use foo_cloud::watchdog::WeakWatchdog;
use foo_model::GroupName;
use futures::StreamExt;
use std::collections::BTreeSet;
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn failures_back_off_wake_once_and_recover() {
    let mut bench = Bench::of(250).await;
    bench.fail(Some(ErrorKind::Unreachable));
    seconds(31).await;
    assert_eq!(bench.woken().len(), 250);
    let (_, error) = bench.observer.failure(&g("g17")).unwrap();
    assert_eq!(error.kind, ErrorKind::Unreachable);
    assert!(bench.observer.view(&g("g17")).is_some(), "the old view stays");
    bench.cloud.edit(|world| world.group_calls.clear());
    for _ in 0..10 {
        bench.observer.invalidate(&g("g17"), bench.clock.now());
        seconds(60).await;
    }
    assert!(bench.group_calls() <= 3 * 25, "{} calls in 10 minutes of failure", bench.group_calls());
    let same = bench.woken();
    assert_eq!(same, BTreeSet::new(), "the same failure is not news");
    bench.fail(Some(ErrorKind::Denied));
    seconds(61).await;
    assert_eq!(bench.woken().len(), 250, "another failure is");
    bench.fail(None);
    seconds(61).await;
    assert_eq!(bench.woken().len(), 250, "and so is its end");
    assert_eq!(bench.observer.failure(&g("g17")), None);
}

/// What cannot be read is not deleted: it is read with back-off, and reported when it has not been observed for two
/// periods.
#[tokio::test(start_paused = true)]
async fn a_malformed_description_of_a_group_fails_for_that_group_alone() {
    let mut bench = Bench::of(100).await;
    let guard = bench.guarded();
    bench.cloud.edit(|world| world.odd = Some(g("g17")));
    bench.resize("g16", 7);
    seconds(31).await;
    assert_eq!(bench.woken(), BTreeSet::from([g("g16"), g("g17")]), "the others are seen");
    let (_, error) = bench.observer.failure(&g("g17")).unwrap();
    assert_eq!(error.kind, ErrorKind::Internal);
    assert_eq!(bench.desired("g17"), 3, "the old view stays");
    assert_eq!(bench.observer.failure(&g("g16")), None);
    bench.cloud.edit(|world| world.group_calls.clear());
    seconds(600).await;
    assert!(bench.observer.unseen_since(&g("g17")).is_some());
    assert_eq!(bench.observer.unseen().groups, 1);
    assert_eq!(bench.woken(), BTreeSet::from([g("g17")]), "it has not been observed for two periods");
    assert!(bench.group_calls() <= 35, "{} calls in ten minutes", bench.group_calls());
    bench.cloud.edit(|world| world.odd = None);
    seconds(61).await;
    assert_eq!((bench.observer.failure(&g("g17")), bench.woken()), (None, BTreeSet::from([g("g17")])));
    guard.abort();
}

#[tokio::test(start_paused = true)]
async fn a_page_that_hangs_does_not_stop_the_others() {
    let mut bench = Bench::of(300).await;
    bench.cloud.edit(|world| world.hanging = Some(g("g0")));
    seconds(31).await;
    bench.resize("g299", 7);
    bench.resize("g1", 7);
    seconds(31).await;
    let woken = bench.woken();
    assert_eq!(woken.len(), 1, "one of the two shares the hanging page: {woken:?}");
}

#[tokio::test(start_paused = true)]
async fn the_driver_may_be_dropped_at_any_point() {
    let mut bench = Bench::of(2).await;
    bench.cloud.edit(|world| world.latency = Duration::from_secs(3));
    seconds(30).await; // a page is in flight
    bench.driver.abort();
    bench.resize("g1", 9);
    bench.driver = start(&bench.observer);
    assert_eq!(bench.wakes.next().await.unwrap(), g("g1"));
    assert_eq!(bench.desired("g1"), 9);
}

#[tokio::test(start_paused = true)]
async fn the_stream_of_wakes_ends_with_the_observer() {
    let bench = Bench::of(0).await;
    bench.driver.abort();
    let _ = bench.driver.await;
    drop(bench.observer);
    assert_eq!(bench.wakes.collect::<Vec<_>>().await, Vec::<GroupName>::new());
}

#[tokio::test(start_paused = true)]
async fn a_group_unobserved_for_two_periods_is_reported_once_with_its_last_time() {
    let mut bench = Bench::of(2).await;
    let guard = bench.guarded();
    let last = bench.clock.now();
    bench.driver.abort(); // Whatever stalls it: nothing reports it.
    seconds(50).await;
    assert_eq!((bench.woken().len(), bench.observer.unseen().groups), (0, 0));
    seconds(20).await;
    assert_eq!(bench.woken().len(), 2);
    let since = bench.observer.unseen_since(&g("g0")).unwrap();
    assert!(since <= last && since.until(last) < Duration::from_secs(2), "{since:?}, not {last:?}");
    let unseen = bench.observer.unseen();
    assert_eq!((unseen.groups, unseen.unexplained), (2, 2));
    seconds(600).await;
    assert_eq!(bench.woken().len(), 0, "it is known");
    assert!(bench.observer.oldest().unwrap() > Duration::from_mins(10));
    bench.driver = start(&bench.observer);
    seconds(1).await;
    assert_eq!((bench.woken().len(), bench.observer.unseen().groups), (2, 0), "the end of it is news");
    guard.abort();
}

#[tokio::test(start_paused = true)]
async fn a_read_without_a_response_times_out() {
    let mut bench = Bench::of(1).await;
    bench.cloud.edit(|world| world.hanging = Some(g("g0")));
    seconds(160).await;
    assert_eq!(bench.observer.failure(&g("g0")).unwrap().1.kind, ErrorKind::Unreachable);
    bench.cloud.edit(|world| world.hanging = None);
    bench.woken();
    seconds(130).await;
    assert_eq!(bench.woken(), only("g0"));
    assert_eq!(bench.observer.failure(&g("g0")), None);
}

#[tokio::test(start_paused = true)]
async fn loops_make_progress_whatever_aws_does_and_a_stalled_one_is_reported() {
    let bench = Bench::of(2).await;
    let watchdogs = bench.observer.watchdogs().map(|(_, watchdog)| watchdog.downgrade());
    let overdue = || watchdogs.iter().filter_map(WeakWatchdog::overdue).max().unwrap();
    // Nothing gets a response while a caller waits for it.
    bench.cloud.edit(|world| world.latency = Duration::from_hours(1));
    bench.observer.request_details(&g("g0"), &["i-1".into()], None);
    for _ in 0..200 {
        seconds(7).await;
        assert!(overdue() < Duration::from_millis(100), "{:?}", overdue());
    }
    assert_eq!(bench.observer.details_failure().unwrap().1.kind, ErrorKind::Unreachable);
    bench.driver.abort();
    seconds(600).await;
    assert!(overdue() > Duration::from_mins(5), "{:?}", overdue());
}
