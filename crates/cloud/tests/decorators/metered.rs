//! The limits and the counts around every call.

use crate::support::{Scripted, group};
use foo_cloud::metered::{Accounts, Allowance, Rate};
use foo_cloud::{Cloud, ErrorKind, Groups, Limits, Metered, Metrics, Roles};
use prometheus_client::registry::Registry;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

fn text(registry: &Registry) -> String {
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, registry).unwrap();
    text
}

#[tokio::test(start_paused = true)]
async fn calls_are_counted_by_outcome_and_limited() {
    let mut registry = Registry::default();
    let cloud = Scripted::default();
    let shared: Arc<dyn Cloud> = Arc::new(cloud.clone());
    let limits = Limits { auto_scaling: Rate { per_second: 2, burst: 4 }, ..Limits::default() };
    let metered = Metered::new(shared, limits, Metrics::register(&mut registry));
    let start = Instant::now();
    for _ in 0..8 {
        metered.describe_groups(&["g".into()]).await.unwrap();
    }
    assert!((1_900..=2_100).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());

    cloud.edit(|world| world.failing = Some(ErrorKind::Throttled));
    metered.describe_groups(&["g".into()]).await.unwrap_err();
    cloud.edit(|world| world.failing = None);
    let start = Instant::now();
    metered.describe_groups(&["g".into()]).await.unwrap();
    assert!(start.elapsed() >= Duration::from_millis(900), "half the rate: {:?}", start.elapsed());
    let text = text(&registry);
    let labels = r#"service="autoscaling",action="DescribeAutoScalingGroups",priority="read""#;
    for line in [
        format!(r#"foo_aws_requests_total{{{labels},code="ok"}} 9"#),
        format!(r#"foo_aws_requests_total{{{labels},code="Throttled"}} 1"#),
        r#"foo_aws_rate_percent{bucket="auto_scaling"} 50"#.to_owned(),
    ] {
        assert!(text.contains(&line), "{line} is missing in\n{text}");
    }
}

/// AWS throttles all calls for ten seconds.
#[tokio::test(start_paused = true)]
async fn a_throttled_heartbeat_is_repeated_and_a_throttled_read_is_not() {
    let cloud = Scripted::default();
    let shared: Arc<dyn Cloud> = Arc::new(cloud.clone());
    let metered = Metered::new(shared, Limits::default(), Metrics::unregistered());
    cloud.edit(|world| world.failing = Some(ErrorKind::Throttled));
    let ends = {
        let cloud = cloud.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(10)).await;
            cloud.edit(|world| world.failing = None);
        })
    };
    let start = Instant::now();
    metered.describe_groups(&["g".into()]).await.unwrap_err();
    assert_eq!(start.elapsed(), Duration::ZERO);
    metered.record_heartbeat(&"g".into(), &"i-1".into()).await.unwrap();
    assert!(start.elapsed() <= Duration::from_secs(16), "{:?}", start.elapsed());
    let beats = cloud.edit(|world| world.heartbeats.len());
    assert!((4..=8).contains(&beats), "{beats}");
    ends.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_that_stays_throttled_or_is_refused_ends() {
    let cloud = Scripted::default();
    let shared: Arc<dyn Cloud> = Arc::new(cloud.clone());
    let metered = Metered::new(shared, Limits::default(), Metrics::unregistered());
    cloud.edit(|world| world.failing = Some(ErrorKind::Throttled));
    let start = Instant::now();
    let error = metered.record_heartbeat(&"g".into(), &"i-1".into()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Throttled);
    assert!((30..=45).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
    let beats = cloud.edit(|world| std::mem::take(&mut world.heartbeats).len());
    assert!((7..=12).contains(&beats), "{beats}");
    cloud.edit(|world| world.failing = Some(ErrorKind::Denied));
    metered.record_heartbeat(&"g".into(), &"i-1".into()).await.unwrap_err();
    assert_eq!(cloud.edit(|world| world.heartbeats.len()), 1, "only a throttled one is repeated");
}

/// Reads wait for tokens, and a heartbeat begins to wait later.
#[tokio::test(start_paused = true)]
async fn a_heartbeat_does_not_wait_for_reads_that_wait_already() {
    let mut registry = Registry::default();
    let cloud = Scripted::default();
    let shared: Arc<dyn Cloud> = Arc::new(cloud.clone());
    let limits = Limits { auto_scaling: Rate { per_second: 1, burst: 1 }, ..Limits::default() };
    let metered = Arc::new(Metered::new(shared, limits, Metrics::register(&mut registry)));
    let reads: Vec<_> = (0..20)
        .map(|_| {
            let metered = Arc::clone(&metered);
            tokio::spawn(async move { metered.describe_groups(&["g".into()]).await.map(drop) })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let waiting = r#"foo_aws_calls_waiting{bucket="auto_scaling",priority="read"} "#;
    assert!(text(&registry).contains(&format!("{waiting}19")), "{}", text(&registry));
    let start = Instant::now();
    metered.record_heartbeat(&"g".into(), &"i-1".into()).await.unwrap();
    assert!(start.elapsed() <= Duration::from_secs(1), "{:?}", start.elapsed());
    for read in reads {
        read.await.unwrap().unwrap();
    }
    assert!(text(&registry).contains(&format!("{waiting}0")));
}

/// A cloud of an account in a region, which takes part in the limits of these accounts.
fn cloud_of(accounts: &Accounts, limits: Limits, account: &str, region: &str) -> Metered<dyn Cloud> {
    let cloud = Scripted::default();
    let mut group = group("g", 1, &[]);
    group.arn = format!("arn:aws:autoscaling:{region}:{account}:autoScalingGroup:u:autoScalingGroupName/g");
    cloud.edit(|world| world.groups.insert("g".into(), group));
    let shared: Arc<dyn Cloud> = Arc::new(cloud);
    let allowance = Arc::new(Allowance::new(limits, accounts.clone(), region));
    Metered::new(shared, limits, Metrics::unregistered()).drawing_from(allowance)
}

/// AWS counts per account and region: more identities are no more calls.
#[tokio::test(start_paused = true)]
async fn two_identities_of_one_account_share_its_limits_and_another_account_has_its_own() {
    let limits = Limits { auto_scaling: Rate { per_second: 2, burst: 4 }, ..Limits::default() };
    let accounts = Accounts::default();
    let cloud_of = |account: &str| cloud_of(&accounts, limits, account, "r-1");
    let (one, two, other) = (cloud_of("1"), cloud_of("1"), cloud_of("2"));
    for cloud in [&one, &two, &other] {
        cloud.describe_groups(&["g".into()]).await.unwrap();
    }
    let start = Instant::now();
    for _ in 0..3 {
        one.describe_groups(&["g".into()]).await.unwrap();
        other.describe_groups(&["g".into()]).await.unwrap();
    }
    assert_eq!(start.elapsed(), Duration::ZERO, "what is left of the burst");
    for _ in 0..4 {
        two.describe_groups(&["g".into()]).await.unwrap();
    }
    assert!((1_900..=2_100).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
}

/// IAM is one service for all regions.
#[tokio::test(start_paused = true)]
async fn calls_of_iam_share_one_limit_in_all_regions_of_an_account() {
    let limits = Limits { iam: Rate { per_second: 2, burst: 4 }, ..Limits::default() };
    let accounts = Accounts::default();
    let cloud_of = |account: &str, region: &str| cloud_of(&accounts, limits, account, region);
    let (here, there, other) = (cloud_of("1", "r-1"), cloud_of("1", "r-2"), cloud_of("2", "r-2"));
    for cloud in [&here, &there, &other] {
        cloud.describe_groups(&["g".into()]).await.unwrap();
    }
    let start = Instant::now();
    for _ in 0..4 {
        here.role("nodes").await.unwrap();
        other.role("nodes").await.unwrap();
    }
    assert_eq!(start.elapsed(), Duration::ZERO, "the burst of each account");
    for _ in 0..4 {
        there.role("nodes").await.unwrap();
    }
    assert!((1_900..=2_100).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
    let start = Instant::now();
    there.describe_groups(&["g".into()]).await.unwrap();
    assert_eq!(start.elapsed(), Duration::ZERO, "another service has its own");
}
