//! What EC2 reports of instances and of launch templates.

use super::{Bench, g, only, seconds};
use crate::support::{World, details};
use foo_cloud::{ErrorKind, InstanceDetails, InstanceReport, InstanceState, TemplateSummary};
use foo_model::{InstanceId, TemplateVersion, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::sleep;

#[tokio::test(start_paused = true)]
async fn ids_of_all_pools_are_described_together_and_once() {
    let mut bench = Bench::of(2).await;
    bench.cloud.edit(|world| world.instances.insert("i-1".into(), details("i-1")));
    let known = InstanceId::from("i-1");
    let unknown = InstanceId::from("i-2");
    bench.observer.request_details(&g("g0"), std::slice::from_ref(&known), None);
    sleep(Duration::from_millis(30)).await;
    bench.observer.request_details(&g("g1"), std::slice::from_ref(&unknown), None);
    seconds(1).await;
    assert_eq!(bench.woken(), BTreeSet::from([g("g0"), g("g1")]));
    let (at, found) = bench.observer.details(&known).unwrap();
    assert_eq!(found, InstanceReport::Known(details("i-1")));
    assert!(matches!(bench.observer.details(&unknown).unwrap().1, InstanceReport::NotFound { .. }));

    bench.observer.request_details(&g("g0"), &[known.clone(), unknown.clone()], None);
    bench.observer.request_details(&g("g0"), std::slice::from_ref(&known), Some(Timestamp(at.0 - 1)));
    seconds(1).await;
    assert_eq!(bench.cloud.edit(|world| world.instance_calls.len()), 1, "both are known");
    assert_eq!(bench.woken(), BTreeSet::new());

    bench.observer.request_details(&g("g0"), std::slice::from_ref(&known), Some(at));
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
    bench.observer.request_details(&g("g0"), &ids, None);
    seconds(1).await;
    assert_eq!(bench.cloud.edit(|world| world.instance_calls.len()), 20);
    assert!(ids.iter().all(|id| bench.observer.details(id).is_some()));
}

#[tokio::test(start_paused = true)]
async fn a_failed_fetch_is_retried_and_reported_to_waiting_callers() {
    let mut bench = Bench::of(1).await;
    bench.fail(Some(ErrorKind::Denied));
    bench.observer.request_details(&g("g0"), &["i-1".into()], None);
    seconds(1).await;
    assert_eq!(bench.woken(), only("g0"));
    assert_eq!(bench.observer.details_failure().unwrap().1.kind, ErrorKind::Denied);
    seconds(600).await;
    let calls = bench.cloud.edit(|world| world.instance_calls.len());
    assert!((10..=25).contains(&calls), "{calls} calls in 10 minutes of failure");
    bench.fail(None);
    seconds(61).await;
    assert_eq!(bench.woken(), only("g0"));
    assert_eq!(bench.observer.details_failure(), None);
    assert!(bench.observer.details(&"i-1".into()).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_needs_newer_details_than_those_in_flight_gets_them() {
    let bench = Bench::of(1).await;
    let id = InstanceId::from("i-1");
    bench.cloud.edit(|world| world.latency = Duration::from_secs(2));
    bench.observer.request_details(&g("g0"), std::slice::from_ref(&id), None);
    seconds(1).await; // in flight
    let now = bench.clock.now();
    bench.observer.request_details(&g("g0"), std::slice::from_ref(&id), Some(now));
    seconds(4).await;
    assert!(bench.observer.details(&id).unwrap().0 > now);
    assert_eq!(bench.cloud.edit(|world| world.instance_calls.len()), 2);
}

#[tokio::test(start_paused = true)]
async fn templates_are_listed_every_hour_and_their_changes_wake_their_group() {
    let mut bench = Bench::of(3).await;
    assert_eq!(bench.observer.template("g0").unwrap().1, None, "at the start");
    assert!(!bench.observer.lists_templates_first());
    seconds(3_600).await;
    assert_eq!(
        bench.woken().len(),
        3,
        "their templates may have been created and deleted since the first list"
    );
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
        let found = bench.observer.template("g0").unwrap().1;
        assert_eq!(found.map(|template| template.latest.0), expected);
    }
    seconds(36_000).await;
    assert_eq!(bench.woken(), BTreeSet::new());
    assert_eq!(bench.cloud.edit(|world| world.template_calls.len()), 14);
}

/// That of an adopted group, whose own template may have the group's name.
#[tokio::test(start_paused = true)]
async fn a_template_of_another_name_wakes_its_group() {
    let mut bench = Bench::of(3).await;
    bench.observer.names_template(&g("g0"), "own");
    bench.cloud.edit(|world| world.templates.extend([template_of("own", 1)]));
    seconds(3_601).await;
    assert_eq!(bench.woken().len(), 3, "the first list");
    for (latest, woken) in [(2, only("g0")), (2, BTreeSet::new())] {
        bench.cloud.edit(|world| world.templates.extend([template_of("own", latest)]));
        seconds(3_601).await;
        assert_eq!(bench.woken(), woken, "{latest}");
        assert_eq!(bench.observer.template("own").unwrap().1.map(|found| found.latest.0), Some(latest));
    }
    bench.observer.forget(&g("g0"));
    bench.cloud.edit(|world| world.templates.extend([template_of("own", 3)]));
    seconds(3_601).await;
    assert_eq!(bench.woken(), BTreeSet::new());
}

#[tokio::test(start_paused = true)]
async fn a_terminating_instance_never_runs_again_and_one_not_found_may() {
    let mut bench = Bench::of(1).await;
    let id = InstanceId::from("i-1");
    let ask = async |bench: &mut Bench| {
        let now = bench.observer.details(&id).map(|(at, _)| at);
        bench.observer.request_details(&g("g0"), std::slice::from_ref(&id), now);
        seconds(10).await;
        bench.observer.details(&id).unwrap()
    };
    let (first, word) = ask(&mut bench).await;
    assert_eq!(word, InstanceReport::NotFound { since: first });
    let (second, word) = ask(&mut bench).await;
    assert!(second > first);
    assert_eq!(word, InstanceReport::NotFound { since: first }, "it reported that all the time");
    bench.cloud.edit(|world| world.instances.insert(id.clone(), details("i-1")));
    assert_eq!(ask(&mut bench).await.1, InstanceReport::Known(details("i-1")));
    bench.cloud.edit(|world| world.instances.remove(&id));
    let (again, word) = ask(&mut bench).await;
    assert_eq!(word, InstanceReport::NotFound { since: again }, "counted again");
    let ended = InstanceDetails { state: InstanceState::ShuttingDown, ..details("i-1") };
    bench.cloud.edit(|world| world.instances.insert(id.clone(), ended.clone()));
    assert_eq!(ask(&mut bench).await.1, InstanceReport::Known(ended.clone()));
    for older in [Some(details("i-1")), None] {
        bench.cloud.edit(|world| match older {
            Some(older) => drop(world.instances.insert(id.clone(), older)),
            None => drop(world.instances.remove(&id)),
        });
        assert_eq!(
            ask(&mut bench).await.1,
            InstanceReport::Known(ended.clone()),
            "reads may go back, death does not"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn ids_that_ec2_omits_are_not_absent_and_are_described_again_later() {
    let mut bench = Bench::of(1).await;
    let id = InstanceId::from("i-1");
    bench.cloud.edit(|world| {
        world.instances.insert(id.clone(), details("i-1"));
        world.omitted.insert(id.clone());
    });
    bench.observer.request_details(&g("g0"), std::slice::from_ref(&id), None);
    for _ in 0..10 {
        seconds(10).await;
        bench.observer.request_details(&g("g0"), std::slice::from_ref(&id), None);
    }
    assert_eq!(bench.observer.details(&id), None);
    assert_eq!(bench.woken(), BTreeSet::new(), "nothing is new");
    let calls = bench.cloud.edit(|world| world.instance_calls.len());
    assert!((3..=5).contains(&calls), "{calls} calls in 100 s");
    bench.cloud.edit(|world| world.omitted.clear());
    seconds(40).await;
    assert_eq!(bench.observer.details(&id).unwrap().1, InstanceReport::Known(details("i-1")));
    assert_eq!(bench.woken(), only("g0"));
}

fn template_of(group: &str, latest: i64) -> (String, TemplateSummary) {
    let (id, name) = (format!("lt-{group}").as_str().into(), group.to_owned());
    let summary = TemplateSummary { id, name, latest: TemplateVersion(latest), tags: BTreeMap::default() };
    (group.to_owned(), summary)
}

/// A manager that starts asks once about all templates, and believes the response for as long as no other version is
/// the latest.
#[tokio::test(start_paused = true)]
async fn the_latest_versions_of_all_templates_are_listed_once_at_the_start() {
    let bench = Bench::with_templates([template_of("g0", 3), template_of("g1", 1)]).await;
    assert_eq!(bench.cloud.edit(|world| world.version_calls), 1);
    let latest = |group: &str| bench.observer.latest_version(group).map(|(_, _, record)| record.version.0);
    assert_eq!((latest("g0"), latest("g1"), latest("g2")), (Some(3), Some(1), None));
    bench.cloud.edit(|world| world.templates.extend([template_of("g0", 4), template_of("g2", 1)]));
    seconds(3_601).await;
    assert_eq!((latest("g0"), latest("g1"), latest("g2")), (None, Some(1), None));
    assert_eq!(bench.cloud.edit(|world| world.version_calls), 1);
}

/// Pools wait for the first list; when it fails they continue without it.
#[tokio::test(start_paused = true)]
async fn a_first_list_that_fails_or_hangs_blocks_nothing() {
    for hangs in [false, true] {
        let bench = Bench::new(&|world: &mut World| {
            world.templates.extend([template_of("g0", 3)]);
            if hangs {
                world.latency = Duration::from_mins(30);
            } else {
                world.failing = Some(foo_cloud::ErrorKind::Denied);
            }
        });
        bench.observer.watch(&g("g0"));
        seconds(0).await;
        assert!(bench.observer.lists_templates_first(), "{hangs}");
        seconds(12).await;
        assert!(!bench.observer.lists_templates_first(), "{hangs}");
        assert_eq!(bench.observer.latest_version("g0"), None);
    }
}
