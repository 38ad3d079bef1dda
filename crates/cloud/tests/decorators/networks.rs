//! Reads of networks: shared, never older than the last, and never waited for without end.

use crate::support::{Scripted, Wall};
use foo_cloud::networks::{Freshness, Known, NetworkReads};
use foo_cloud::{Clock, ErrorKind};
use foo_model::InternetGatewayId;
use foo_model::network::{InternetGateway, Kind, Parts, Quotas, Scope, Tags};
use futures::future::join_all;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const IDLE: Freshness = Freshness::Within(Duration::from_mins(5));
const KINDS: [Kind; 7] = [
    Kind::Vpc,
    Kind::Subnet,
    Kind::InternetGateway,
    Kind::Address,
    Kind::NatGateway,
    Kind::RouteTable,
    Kind::SecurityGroup,
];

fn requested() -> Scope {
    Scope::TagKey("infrastructure.foo.com/network".into())
}

struct Bench {
    cloud: Scripted,
    clock: Arc<dyn Clock>,
    reads: NetworkReads,
}

impl Bench {
    fn now(&self) -> Freshness {
        Freshness::Since(self.clock.now())
    }
}

fn bench() -> Bench {
    let cloud = Scripted::default();
    let clock: Arc<dyn Clock> = Arc::new(Wall::default().clock());
    let reads = NetworkReads::new(Arc::new(cloud.clone()), Arc::clone(&clock));
    Bench { cloud, clock, reads }
}

fn show_gateway(cloud: &Scripted, gateway: &str) {
    let part = InternetGateway { id: gateway.into(), vpc: None, tags: Tags::new() };
    cloud.edit(|world| {
        world.parts =
            Parts { internet_gateways: [(part.id.clone(), part)].into_iter().collect(), ..Parts::default() };
    });
}

fn seen(known: &Known<Parts>) -> Vec<&str> {
    known
        .last_read
        .iter()
        .flat_map(|last_read| last_read.value.internet_gateways.keys())
        .map(InternetGatewayId::as_str)
        .collect()
}

fn calls(cloud: &Scripted) -> usize {
    cloud.edit(|world| std::mem::take(&mut world.network_calls).len())
}

async fn ask(reads: &NetworkReads, freshness: Freshness) -> Known<Parts> {
    reads.parts(Kind::InternetGateway, &requested(), freshness).await
}

/// This many idle clusters for an hour, each with a pass every five minutes at a time of its own.
async fn calls_while_idle(clusters: u64) -> usize {
    let bench = bench();
    let Bench { cloud, reads, .. } = &bench;
    cloud.edit(|world| world.latency = Duration::from_millis(80));
    let start = Instant::now();
    let lives = (0..clusters).map(|cluster| async move {
        sleep(Duration::from_secs(cluster * 3)).await;
        while start.elapsed() < Duration::from_hours(1) {
            for known in join_all(KINDS.map(async |kind| reads.parts(kind, &requested(), IDLE).await)).await {
                assert!(known.last_read.is_some() && known.failure.is_none());
            }
            sleep(Duration::from_mins(5)).await;
        }
    });
    join_all(lives).await;
    calls(cloud)
}

#[tokio::test(start_paused = true)]
async fn a_hundred_idle_clusters_cost_no_more_calls_than_one() {
    let (one, hundred) = (calls_while_idle(1).await, calls_while_idle(100).await);
    assert_eq!(one, 12 * KINDS.len(), "one call per kind in five minutes");
    assert_eq!(hundred, one);
}

#[tokio::test(start_paused = true)]
async fn equal_reads_share_one_call_and_other_scopes_are_other_reads() {
    let bench = bench();
    let Bench { cloud, reads, .. } = &bench;
    cloud.edit(|world| world.latency = Duration::from_secs(1));
    let now = bench.now();
    join_all((0..50).map(|_| ask(reads, now))).await;
    assert_eq!(calls(cloud), 1);
    let of_vpc = Scope::Vpc("vpc-1".into());
    reads.parts(Kind::InternetGateway, &of_vpc, now).await;
    reads.parts(Kind::Zone, &of_vpc, now).await;
    reads.parts(Kind::Zone, &requested(), now).await;
    assert_eq!(calls(cloud), 2, "zones are the region's whatever the scope");
}

#[tokio::test(start_paused = true)]
async fn a_read_that_began_before_a_change_does_not_serve_later_callers() {
    let bench = bench();
    let Bench { cloud, reads, .. } = &bench;
    cloud.edit(|world| world.latency = Duration::from_secs(2));
    let earlier = async { ask(reads, bench.now()).await };
    let later = async {
        sleep(Duration::from_secs(1)).await;
        let changed = bench.clock.now();
        show_gateway(cloud, "igw-1");
        let results = join_all((0..20).map(|_| ask(reads, Freshness::Since(changed)))).await;
        assert!(results.iter().all(|known| known.last_read.as_ref().unwrap().began >= changed));
        assert_eq!(seen(&results[0]), ["igw-1"]);
    };
    tokio::join!(earlier, later);
    assert_eq!(calls(cloud), 2, "all who asked after the change share the second one");
}

#[tokio::test(start_paused = true)]
async fn a_failed_read_is_reported_with_the_last_result_and_its_age() {
    let bench = bench();
    let Bench { cloud, reads, .. } = &bench;
    show_gateway(cloud, "igw-1");
    let first = ask(reads, IDLE).await.last_read.unwrap().began;
    sleep(Duration::from_mins(10)).await;
    cloud.edit(|world| world.failing = Some(ErrorKind::Denied));
    let known = ask(reads, IDLE).await;
    assert_eq!(seen(&known), ["igw-1"]);
    assert_eq!(known.last_read.as_ref().unwrap().began, first);
    assert_eq!(known.failure.as_ref().unwrap().kind, ErrorKind::Denied);
    assert_eq!(known.fresh().unwrap_err().kind, ErrorKind::Denied);
    let content = ask(reads, Freshness::Within(Duration::from_hours(1))).await;
    assert!(content.failure.is_none(), "a result that is new enough counts, whatever failed since");
    cloud.edit(|world| world.failing = None);
    sleep(Duration::from_mins(1)).await;
    assert!(ask(reads, IDLE).await.failure.is_none());
}

#[tokio::test(start_paused = true)]
async fn failures_back_off_however_many_callers_there_are() {
    let bench = bench();
    let Bench { cloud, reads, .. } = &bench;
    cloud.edit(|world| world.failing = Some(ErrorKind::Throttled));
    let start = Instant::now();
    while start.elapsed() < Duration::from_mins(10) {
        let since = bench.now();
        for known in join_all((0..10).map(|_| ask(reads, since))).await {
            assert_eq!(known.failure.unwrap().kind, ErrorKind::Throttled);
        }
        sleep(Duration::from_secs(1)).await;
    }
    let calls = calls(cloud);
    assert!((12..=30).contains(&calls), "{calls} calls in ten minutes");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_never_returns_times_out_for_all_callers() {
    let bench = bench();
    let Bench { cloud, reads, .. } = &bench;
    show_gateway(cloud, "igw-1");
    ask(reads, IDLE).await;
    cloud.edit(|world| world.hanging_kind = Some(Kind::InternetGateway));
    let start = Instant::now();
    sleep(Duration::from_secs(1)).await;
    for known in join_all((0..10).map(|_| ask(reads, bench.now()))).await {
        assert_eq!(seen(&known), ["igw-1"]);
        assert_eq!(known.failure.unwrap().kind, ErrorKind::Unreachable);
    }
    assert!(start.elapsed() < Duration::from_mins(2), "{:?}", start.elapsed());
    assert_eq!(reads.last(Kind::InternetGateway, &requested()).unwrap().value.internet_gateways.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_caller_passes_its_turn_to_the_next() {
    let bench = bench();
    let Bench { cloud, reads, .. } = &bench;
    cloud.edit(|world| world.latency = Duration::from_secs(10));
    let since = bench.now();
    let impatient = tokio::time::timeout(Duration::from_secs(1), ask(reads, since));
    let (impatient, patient) = tokio::join!(impatient, ask(reads, since));
    assert!(impatient.is_err() && patient.last_read.is_some());
    assert_eq!(calls(cloud), 2);
}

#[tokio::test(start_paused = true)]
async fn quotas_are_read_once_while_a_network_is_created() {
    let bench = bench();
    let Bench { cloud, reads, .. } = &bench;
    cloud.edit(|world| world.quotas = Quotas { vpcs: Some((5, 3)), ..Quotas::default() });
    for _ in 0..10 {
        let known = reads.quotas(Freshness::Within(Duration::from_mins(10))).await;
        assert_eq!(known.last_read.unwrap().value.vpcs, Some((5, 3)));
        sleep(Duration::from_mins(1)).await;
    }
    assert_eq!(cloud.edit(|world| world.quota_calls), 1);
}
