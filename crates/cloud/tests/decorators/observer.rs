//! The observer against a scripted cloud, in paused time: what it costs, what it sees, whom it wakes.

use crate::support::{Scripted, Wall, details, group};
use foo_cloud::observer::{Settings, Wakes};
use foo_cloud::watchdog::WeakWatchdog;
use foo_cloud::{
    Clock, ErrorKind, InstanceDetails, InstanceState, Observer, Pace, Seen, TemplateSummary, Word,
};
use foo_model::{GroupName, InstanceId, TemplateVersion, Timestamp};
use futures::{FutureExt, StreamExt};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

struct Bench {
    cloud: Scripted,
    observer: Arc<Observer>,
    wakes: Wakes,
    clock: Arc<dyn Clock>,
    wall: Wall,
    driver: JoinHandle<()>,
}

impl Bench {
    /// An observer of so many groups that exist, called `g0`, `g1`, …, which has looked at all of them once.
    async fn of(groups: usize) -> Self {
        let cloud = Scripted::default();
        for at in 0..groups {
            let name = format!("g{at}");
            cloud.edit(|world| world.groups.insert(name.as_str().into(), group(&name, 3, &["i-1", "i-2"])));
        }
        let wall = Wall::default();
        let clock: Arc<dyn Clock> = Arc::new(wall.clock());
        let observer =
            Arc::new(Observer::new(Arc::new(cloud.clone()), Settings::default(), Arc::clone(&clock)));
        let wakes = observer.wakes();
        let driver = start(&observer);
        for at in 0..groups {
            observer.watch(&format!("g{at}").as_str().into());
        }
        let mut bench = Self { cloud, observer, wakes, clock, wall, driver };
        seconds(1).await;
        assert_eq!(bench.woken().len(), groups, "the first look at a group is news");
        bench.cloud.edit(|world| {
            world.group_calls.clear();
            world.template_calls.clear();
        });
        bench
    }

    fn woken(&mut self) -> BTreeSet<GroupName> {
        let mut names = BTreeSet::new();
        while let Some(Some(name)) = self.wakes.next().now_or_never() {
            assert!(names.insert(name), "named twice");
        }
        names
    }

    fn group_calls(&self) -> usize {
        self.cloud.edit(|world| world.group_calls.len())
    }

    fn fail(&self, kind: Option<ErrorKind>) {
        self.cloud.edit(|world| world.failing = kind);
    }

    fn resize(&self, name: &str, desired: u32) {
        self.cloud.edit(|world| world.groups.get_mut(&g(name)).unwrap().sizes.desired = desired);
    }

    fn desired(&self, name: &str) -> u32 {
        match self.observer.view(&g(name)).unwrap().seen {
            Seen::Present(group) => group.sizes.desired,
            Seen::Absent => panic!("absent"),
        }
    }
}

fn start(observer: &Arc<Observer>) -> JoinHandle<()> {
    let observer = Arc::clone(observer);
    tokio::spawn(async move { observer.run().await })
}

fn g(name: &str) -> GroupName {
    name.into()
}

fn only(name: &str) -> BTreeSet<GroupName> {
    BTreeSet::from([g(name)])
}

async fn seconds(seconds: u64) {
    sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn ten_quiet_minutes_cost_a_constant_handful_of_calls() {
    for (groups, most) in [(1, 20), (100, 20), (101, 40), (500, 100), (1_000, 110)] {
        let mut bench = Bench::of(groups).await;
        seconds(600).await;
        let calls = bench.group_calls();
        assert!(calls <= most && calls * 2 >= most, "{groups} groups: {calls} calls in 10 minutes");
        assert_eq!(bench.woken(), BTreeSet::new(), "nothing changed");
        let looked = bench
            .cloud
            .edit(|world| world.group_calls.iter().flat_map(|call| &call.1).collect::<BTreeSet<_>>().len());
        assert_eq!(looked, groups);
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
async fn groups_that_vanish_and_groups_that_never_were_are_absent() {
    let mut bench = Bench::of(1).await;
    bench.observer.watch(&g("nobody"));
    seconds(1).await;
    assert_eq!(bench.woken(), only("nobody"));
    assert_eq!(bench.observer.view(&g("nobody")).unwrap().seen, Seen::Absent);
    bench.cloud.edit(|world| world.groups.clear());
    seconds(31).await;
    assert_eq!(bench.woken(), only("g0"));
    assert_eq!(bench.observer.view(&g("g0")).unwrap().seen, Seen::Absent);
}

#[tokio::test(start_paused = true)]
async fn an_active_group_is_looked_at_after_2_4_8_then_every_10_seconds() {
    let bench = Bench::of(300).await;
    seconds(10).await;
    bench.cloud.edit(|world| world.group_calls.clear());
    let start = Instant::now();
    bench.observer.pace(&g("g5"), Pace::Active);
    seconds(60).await;
    let looks: Vec<u64> = bench.cloud.edit(|world| {
        let calls = world.group_calls.iter().filter(|call| call.1.contains(&g("g5")));
        calls.map(|call| (call.0 - start).as_secs()).collect()
    });
    assert!(looks.starts_with(&[2, 4, 8, 16]), "{looks:?}");
    assert!(looks.len() <= 9, "{looks:?}");
    assert!(bench.group_calls() <= 15, "the quiet groups travel along: {} calls", bench.group_calls());
    bench.observer.pace(&g("g5"), Pace::Quiet);
    bench.cloud.edit(|world| world.group_calls.clear());
    seconds(60).await;
    assert!(bench.group_calls() <= 8, "{} calls", bench.group_calls());
}

#[tokio::test(start_paused = true)]
async fn a_look_after_a_change_of_ours_comes_soon_and_wakes_even_if_nothing_changed() {
    let mut bench = Bench::of(3).await;
    let changed = bench.clock.now();
    bench.observer.look_after(&g("g1"), changed);
    assert!(bench.observer.is_stale(&g("g1")));
    let start = Instant::now();
    assert_eq!(bench.wakes.next().await.unwrap(), g("g1"));
    assert!((1_000..=1_300).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
    assert!(bench.observer.view(&g("g1")).unwrap().at > changed);
    assert!(!bench.observer.is_stale(&g("g1")));
    assert_eq!(bench.woken(), BTreeSet::new());
}

#[tokio::test(start_paused = true)]
async fn looks_asked_for_by_many_pools_share_their_calls() {
    let bench = Bench::of(100).await;
    for at in 0..100 {
        bench.observer.look_after(&g(&format!("g{at}")), bench.clock.now());
        sleep(Duration::from_millis(20)).await;
    }
    seconds(2).await;
    assert!(bench.group_calls() <= 13, "{} calls for 100 looks asked for within 2 s", bench.group_calls());
}

#[tokio::test(start_paused = true)]
async fn a_look_in_flight_does_not_count_as_the_one_asked_for() {
    let mut bench = Bench::of(1).await;
    bench.cloud.edit(|world| world.latency = Duration::from_secs(5));
    bench.observer.pace(&g("g0"), Pace::Active);
    seconds(3).await; // the look is on its way
    let changed = bench.clock.now();
    bench.observer.look_after(&g("g0"), changed);
    bench.wakes.next().await.unwrap();
    assert!(bench.observer.view(&g("g0")).unwrap().at >= changed.plus(Duration::from_secs(1)));
}

#[tokio::test(start_paused = true)]
async fn failures_back_off_wake_once_and_recover() {
    let mut bench = Bench::of(250).await;
    bench.fail(Some(ErrorKind::Unreachable));
    seconds(31).await;
    assert_eq!(bench.woken().len(), 250);
    let (_, error) = bench.observer.trouble(&g("g17")).unwrap();
    assert_eq!(error.kind, ErrorKind::Unreachable);
    assert!(bench.observer.view(&g("g17")).is_some(), "the old view stays");
    bench.cloud.edit(|world| world.group_calls.clear());
    for _ in 0..10 {
        bench.observer.look_after(&g("g17"), bench.clock.now());
        seconds(60).await;
    }
    assert!(bench.group_calls() <= 3 * 25, "{} calls in 10 minutes of failure", bench.group_calls());
    let same = bench.woken();
    assert_eq!(same, BTreeSet::new(), "the same trouble is not news");
    bench.fail(Some(ErrorKind::Denied));
    seconds(61).await;
    assert_eq!(bench.woken().len(), 250, "another trouble is");
    bench.fail(None);
    seconds(61).await;
    assert_eq!(bench.woken().len(), 250, "and so is its end");
    assert_eq!(bench.observer.trouble(&g("g17")), None);
}

/// What cannot be read is not gone: it is looked at ever more seldom, and told of when nobody has seen it for two periods.
#[tokio::test(start_paused = true)]
async fn a_group_that_is_described_oddly_is_a_failed_look_at_that_group_alone() {
    let mut bench = Bench::of(100).await;
    let guard = {
        let observer = Arc::clone(&bench.observer);
        tokio::spawn(async move { observer.guard().await })
    };
    bench.cloud.edit(|world| world.odd = Some(g("g17")));
    bench.resize("g16", 7);
    seconds(31).await;
    assert_eq!(bench.woken(), BTreeSet::from([g("g16"), g("g17")]), "the others are seen");
    let (_, error) = bench.observer.trouble(&g("g17")).unwrap();
    assert_eq!(error.kind, ErrorKind::Internal);
    assert_eq!(bench.desired("g17"), 3, "the old view stays");
    assert_eq!(bench.observer.trouble(&g("g16")), None);
    bench.cloud.edit(|world| world.group_calls.clear());
    seconds(600).await;
    assert!(bench.observer.unseen_since(&g("g17")).is_some());
    assert_eq!(bench.observer.unseen().groups, 1);
    assert_eq!(bench.woken(), BTreeSet::from([g("g17")]), "nobody has seen it for two periods");
    assert!(bench.group_calls() <= 35, "{} calls in ten minutes", bench.group_calls());
    bench.cloud.edit(|world| world.odd = None);
    seconds(61).await;
    assert_eq!((bench.observer.trouble(&g("g17")), bench.woken()), (None, BTreeSet::from([g("g17")])));
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
async fn a_forgotten_group_costs_nothing_and_says_nothing() {
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
async fn the_stream_of_wakes_ends_with_the_observer() {
    let bench = Bench::of(0).await;
    bench.driver.abort();
    let _ = bench.driver.await;
    drop(bench.observer);
    assert_eq!(bench.wakes.collect::<Vec<_>>().await, Vec::<GroupName>::new());
}

#[tokio::test(start_paused = true)]
async fn ids_of_all_pools_are_asked_for_together_and_once() {
    let mut bench = Bench::of(2).await;
    bench.cloud.edit(|world| world.instances.insert("i-1".into(), details("i-1")));
    let known = InstanceId::from("i-1");
    let unknown = InstanceId::from("i-2");
    bench.observer.want_details(&g("g0"), std::slice::from_ref(&known), None);
    sleep(Duration::from_millis(30)).await;
    bench.observer.want_details(&g("g1"), std::slice::from_ref(&unknown), None);
    seconds(1).await;
    assert_eq!(bench.woken(), BTreeSet::from([g("g0"), g("g1")]));
    let (at, found) = bench.observer.details(&known).unwrap();
    assert_eq!(found, Word::Known(details("i-1")));
    assert!(matches!(bench.observer.details(&unknown).unwrap().1, Word::NotFound { .. }));

    bench.observer.want_details(&g("g0"), &[known.clone(), unknown.clone()], None);
    bench.observer.want_details(&g("g0"), std::slice::from_ref(&known), Some(Timestamp(at.0 - 1)));
    seconds(1).await;
    assert_eq!(bench.cloud.edit(|world| world.instance_calls.len()), 1, "both are known");
    assert_eq!(bench.woken(), BTreeSet::new());

    bench.observer.want_details(&g("g0"), std::slice::from_ref(&known), Some(at));
    seconds(1).await;
    assert_eq!(bench.cloud.edit(|world| world.instance_calls.len()), 2);
    assert!(bench.observer.details(&known).unwrap().0 > at);
    assert_eq!(bench.woken(), only("g0"));

    bench.observer.retain_details(&g("g0"), &BTreeSet::new());
    assert_eq!(bench.observer.details(&known), None);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_ids_take_twenty_calls() {
    let bench = Bench::of(1).await;
    let ids: Vec<InstanceId> = (0..10_000).map(|at| format!("i-{at}").into()).collect();
    bench.observer.want_details(&g("g0"), &ids, None);
    seconds(1).await;
    assert_eq!(bench.cloud.edit(|world| world.instance_calls.len()), 20);
    assert!(ids.iter().all(|id| bench.observer.details(id).is_some()));
}

#[tokio::test(start_paused = true)]
async fn a_failed_fetch_is_repeated_and_known_to_those_who_wait() {
    let mut bench = Bench::of(1).await;
    bench.fail(Some(ErrorKind::Denied));
    bench.observer.want_details(&g("g0"), &["i-1".into()], None);
    seconds(1).await;
    assert_eq!(bench.woken(), only("g0"));
    assert_eq!(bench.observer.details_trouble().unwrap().1.kind, ErrorKind::Denied);
    seconds(600).await;
    let calls = bench.cloud.edit(|world| world.instance_calls.len());
    assert!((10..=25).contains(&calls), "{calls} calls in 10 minutes of failure");
    bench.fail(None);
    seconds(61).await;
    assert_eq!(bench.woken(), only("g0"));
    assert_eq!(bench.observer.details_trouble(), None);
    assert!(bench.observer.details(&"i-1".into()).is_some());
}

#[tokio::test(start_paused = true)]
async fn somebody_who_needs_a_newer_answer_than_the_one_in_flight_gets_one() {
    let bench = Bench::of(1).await;
    let id = InstanceId::from("i-1");
    bench.cloud.edit(|world| world.latency = Duration::from_secs(2));
    bench.observer.want_details(&g("g0"), std::slice::from_ref(&id), None);
    seconds(1).await; // in flight
    let now = bench.clock.now();
    bench.observer.want_details(&g("g0"), std::slice::from_ref(&id), Some(now));
    seconds(4).await;
    assert!(bench.observer.details(&id).unwrap().0 > now);
    assert_eq!(bench.cloud.edit(|world| world.instance_calls.len()), 2);
}

#[tokio::test(start_paused = true)]
async fn templates_are_listed_every_hour_and_their_changes_wake_their_group() {
    let mut bench = Bench::of(3).await;
    assert_eq!(bench.observer.template(&g("g0")), None, "not at the start");
    seconds(3_600).await;
    assert_eq!(bench.observer.template(&g("g0")).unwrap().1, None);
    assert_eq!(bench.woken().len(), 3, "the first list is news for all");
    let template = |latest| TemplateSummary {
        id: "lt-1".into(),
        name: "g0".into(),
        latest: TemplateVersion(latest),
        tags: BTreeMap::default(),
    };
    for (change, expected) in [(Some(1), Some(1)), (Some(2), Some(2)), (None, None)] {
        bench.cloud.edit(|world| {
            world.templates.clear();
            world.templates.extend(change.map(|latest| ("g0".to_owned(), template(latest))));
        });
        seconds(3_601).await;
        assert_eq!(bench.woken(), only("g0"));
        let found = bench.observer.template(&g("g0")).unwrap().1;
        assert_eq!(found.map(|template| template.latest.0), expected);
    }
    seconds(36_000).await;
    assert_eq!(bench.woken(), BTreeSet::new());
    assert_eq!(bench.cloud.edit(|world| world.template_calls.len()), 14);
}

#[tokio::test(start_paused = true)]
async fn an_instance_that_was_seen_ending_never_lives_again_and_one_not_found_may() {
    let mut bench = Bench::of(1).await;
    let id = InstanceId::from("i-1");
    let ask = async |bench: &mut Bench| {
        let now = bench.observer.details(&id).map(|(at, _)| at);
        bench.observer.want_details(&g("g0"), std::slice::from_ref(&id), now);
        seconds(10).await;
        bench.observer.details(&id).unwrap()
    };
    let (first, word) = ask(&mut bench).await;
    assert_eq!(word, Word::NotFound { since: first });
    let (second, word) = ask(&mut bench).await;
    assert!(second > first);
    assert_eq!(word, Word::NotFound { since: first }, "it said so all the time");
    bench.cloud.edit(|world| world.instances.insert(id.clone(), details("i-1")));
    assert_eq!(ask(&mut bench).await.1, Word::Known(details("i-1")));
    bench.cloud.edit(|world| world.instances.remove(&id));
    let (again, word) = ask(&mut bench).await;
    assert_eq!(word, Word::NotFound { since: again }, "counted anew");
    let ended = InstanceDetails { state: InstanceState::ShuttingDown, ..details("i-1") };
    bench.cloud.edit(|world| world.instances.insert(id.clone(), ended.clone()));
    assert_eq!(ask(&mut bench).await.1, Word::Known(ended.clone()));
    for older in [Some(details("i-1")), None] {
        bench.cloud.edit(|world| match older {
            Some(older) => drop(world.instances.insert(id.clone(), older)),
            None => drop(world.instances.remove(&id)),
        });
        assert_eq!(ask(&mut bench).await.1, Word::Known(ended.clone()), "reads may go back, death does not");
    }
}

#[tokio::test(start_paused = true)]
async fn what_ec2_passes_over_in_silence_is_no_answer_and_is_asked_for_again_at_leisure() {
    let mut bench = Bench::of(1).await;
    let id = InstanceId::from("i-1");
    bench.cloud.edit(|world| {
        world.instances.insert(id.clone(), details("i-1"));
        world.silent_on.insert(id.clone());
    });
    bench.observer.want_details(&g("g0"), std::slice::from_ref(&id), None);
    for _ in 0..10 {
        seconds(10).await;
        bench.observer.want_details(&g("g0"), std::slice::from_ref(&id), None);
    }
    assert_eq!(bench.observer.details(&id), None);
    assert_eq!(bench.woken(), BTreeSet::new(), "nothing is new");
    let calls = bench.cloud.edit(|world| world.instance_calls.len());
    assert!((3..=5).contains(&calls), "{calls} calls in 100 s");
    bench.cloud.edit(|world| world.silent_on.clear());
    seconds(40).await;
    assert_eq!(bench.observer.details(&id).unwrap().1, Word::Known(details("i-1")));
    assert_eq!(bench.woken(), only("g0"));
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
        assert!(view.at <= bench.clock.now(), "the view tells its time by the clock as it is");
        assert_eq!(bench.observer.unseen_since(&g("g1")), None);
    }
    bench.observer.look_after(&g("g1"), bench.clock.now());
    seconds(3).await;
    assert_eq!(bench.woken(), only("g1"));
    assert!(!bench.observer.is_stale(&g("g1")));
}

#[tokio::test(start_paused = true)]
async fn a_group_that_nobody_has_seen_for_two_periods_is_named_once_and_says_since_when() {
    let mut bench = Bench::of(2).await;
    let guard = {
        let observer = Arc::clone(&bench.observer);
        tokio::spawn(async move { observer.guard().await })
    };
    let last = bench.clock.now();
    bench.driver.abort(); // Whatever it is that stands still: nobody says so.
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
async fn a_look_without_an_answer_is_given_up() {
    let mut bench = Bench::of(1).await;
    bench.cloud.edit(|world| world.hanging = Some(g("g0")));
    seconds(160).await;
    assert_eq!(bench.observer.trouble(&g("g0")).unwrap().1.kind, ErrorKind::Unreachable);
    bench.cloud.edit(|world| world.hanging = None);
    bench.woken();
    seconds(130).await;
    assert_eq!(bench.woken(), only("g0"));
    assert_eq!(bench.observer.trouble(&g("g0")), None);
}

/// What may happen to an observer.
#[derive(Clone, Debug)]
enum Step {
    Watch(u8),
    Forget(u8),
    Pace(u8, bool),
    LookAfter(u8),
    /// The wall clock is set by so many seconds.
    Clock(i64),
    /// Every call fails from now on, or does not.
    Fail(bool),
    /// Calls with this group never come back.
    Hang(Option<u8>),
    /// Calls take so many seconds.
    Latency(u64),
    /// What drives the observer ends and is started again.
    Restart,
    /// So many seconds pass.
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0_u8..6).prop_map(Step::Watch),
        1 => (0_u8..6).prop_map(Step::Forget),
        1 => (0_u8..6, any::<bool>()).prop_map(|(at, active)| Step::Pace(at, active)),
        1 => (0_u8..6).prop_map(Step::LookAfter),
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
    let check = |bench: &Bench, watched: &BTreeMap<GroupName, Instant>, aws_answers: bool| {
        for (group, since) in watched {
            let asked = bench.cloud.edit(|world| {
                let calls = world.group_calls.iter().rev();
                calls.clone().find(|(_, names)| names.contains(group)).map(|(at, _)| *at)
            });
            let age = asked.unwrap_or(*since).max(*since).elapsed();
            assert!(!aws_answers || age <= PERIOD * 2, "{group}: looked at {age:?} ago");
            if age > PERIOD * 2 {
                assert!(
                    bench.observer.unseen_since(group).is_some(),
                    "{group}: nobody says that it is unseen"
                );
            }
            if aws_answers {
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
            Step::LookAfter(at) => bench.observer.look_after(&name(at), bench.clock.now()),
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
    // A look that hangs is given up after two minutes, and the pause after that is at most one.
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
    fn whatever_happens_every_watched_group_is_looked_at_within_two_periods_while_aws_answers(
        steps in proptest::collection::vec(step(), 0..40)
    ) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(plays(steps));
    }
}

#[tokio::test(start_paused = true)]
async fn loops_turn_in_time_whatever_aws_does_and_one_that_does_not_is_noticed() {
    let bench = Bench::of(2).await;
    let watchdogs = bench.observer.watchdogs().map(|(_, watchdog)| watchdog.downgrade());
    let overdue = || watchdogs.iter().filter_map(WeakWatchdog::overdue).max().unwrap();
    // Nothing is answered while anybody waits for it.
    bench.cloud.edit(|world| world.latency = Duration::from_hours(1));
    bench.observer.want_details(&g("g0"), &["i-1".into()], None);
    for _ in 0..200 {
        seconds(7).await;
        assert!(overdue() < Duration::from_millis(100), "{:?}", overdue());
    }
    assert_eq!(bench.observer.details_trouble().unwrap().1.kind, ErrorKind::Unreachable);
    bench.driver.abort();
    seconds(600).await;
    assert!(overdue() > Duration::from_mins(5), "{:?}", overdue());
}
