//! Reads of clusters: shared by all callers, and kept as long as they are requested.

use crate::support::{Scripted, Wall};
use foo_cloud::{Clock, ClusterReads, ErrorKind, Freshness, Known};
use foo_model::eks::{Minor, Query, QueryResult};
use futures::future::join_all;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const IDLE: Freshness = Freshness::Within(Duration::from_mins(5));

struct Bench {
    cloud: Scripted,
    clock: Arc<dyn Clock>,
    reads: ClusterReads,
}

fn bench() -> Bench {
    let cloud = Scripted::default();
    let clock: Arc<dyn Clock> = Arc::new(Wall::default().clock());
    let reads = ClusterReads::new(Arc::new(cloud.clone()), Arc::clone(&clock));
    Bench { cloud, clock, reads }
}

fn of(cluster: &str) -> Query {
    Query::Cluster(cluster.to_owned())
}

fn calls(cloud: &Scripted) -> Vec<Query> {
    let calls = cloud.edit(|world| std::mem::take(&mut world.eks_calls));
    calls.into_iter().map(|(_, question)| question).collect()
}

fn name(known: &Known<QueryResult>) -> &str {
    match known.last_read.as_ref().unwrap().value.as_ref() {
        QueryResult::Names(names) => names.first().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn reads_that_name_no_cluster_are_shared_by_all_clusters() {
    let Bench { cloud, reads, .. } = &bench();
    cloud.edit(|world| world.latency = Duration::from_secs(1));
    let shared = [
        Query::Versions,
        Query::AddonReleases { addon: "coredns".into(), kubernetes: Minor(34) },
        Query::Role("nodes".into()),
    ];
    let passes = (0..100).map(async |n| {
        reads.ask(&of(&format!("c-{n}")), IDLE).await;
        for question in &shared {
            reads.ask(question, IDLE).await;
        }
    });
    join_all(passes).await;
    let calls = calls(cloud);
    assert_eq!(calls.len(), 100 + shared.len());
    assert_eq!(calls.iter().collect::<BTreeSet<_>>().len(), calls.len(), "none twice");
}

#[tokio::test(start_paused = true)]
async fn a_read_that_began_before_a_change_does_not_serve_later_callers() {
    let bench = bench();
    let Bench { cloud, clock, reads } = &bench;
    let now = || Freshness::Since(clock.now());
    cloud.edit(|world| world.latency = Duration::from_secs(2));
    let earlier = async { reads.ask(&of("c"), now()).await };
    let later = async {
        sleep(Duration::from_secs(1)).await;
        let changed = now();
        cloud.edit(|world| world.eks_name = "changed".into());
        let results = join_all((0..20).map(async |_| reads.ask(&of("c"), changed).await)).await;
        assert!(results.iter().all(|known| name(known) == "changed"));
    };
    tokio::join!(earlier, later);
    assert_eq!(calls(cloud).len(), 2, "all who asked after the change share the second one");
}

#[tokio::test(start_paused = true)]
async fn failures_of_one_read_back_off_and_delay_no_other() {
    let Bench { cloud, reads, .. } = &bench();
    cloud.edit(|world| world.failing = Some(ErrorKind::Throttled));
    let start = Instant::now();
    while start.elapsed() < Duration::from_mins(10) {
        assert!(reads.ask(&of("c"), IDLE).await.failure.is_some());
        sleep(Duration::from_secs(1)).await;
    }
    let tries = calls(cloud).len();
    assert!((10..=30).contains(&tries), "{tries} in ten minutes");
    cloud.edit(|world| world.failing = None);
    assert!(reads.ask(&of("other"), IDLE).await.failure.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_times_out_and_keeps_the_last_result() {
    let Bench { cloud, reads, .. } = &bench();
    cloud.edit(|world| world.eks_name = "before".into());
    reads.ask(&of("c"), IDLE).await;
    cloud.edit(|world| world.hanging_question = Some(of("c")));
    sleep(Duration::from_mins(6)).await;
    let start = Instant::now();
    let known = reads.ask(&of("c"), IDLE).await;
    assert!(start.elapsed() <= Duration::from_mins(1), "{:?}", start.elapsed());
    assert_eq!((name(&known), known.failure.as_ref().unwrap().kind), ("before", ErrorKind::Unreachable));
}

#[tokio::test(start_paused = true)]
async fn results_that_are_no_longer_requested_are_dropped() {
    let Bench { cloud, reads, .. } = &bench();
    reads.ask(&of("left"), IDLE).await;
    assert!(reads.last(&of("left")).is_some());
    sleep(Duration::from_mins(61)).await;
    reads.ask(&of("new"), IDLE).await;
    assert!(reads.last(&of("left")).is_none() && reads.last(&of("new")).is_some());
    assert_eq!(calls(cloud), [of("left"), of("new")]);
}
