//! The alerts on what managers of this suite serve on /metrics.

use super::{RuleTest, Series, rules, run_promtool};
use crate::support::{CLUSTER, NS, World, objects};
use crate::{eks, networks};
use foo_api::FooNodeConfig;
use foo_api::capi::{Bootstrap, Cluster, ContractReference, Machine, MachineSpec};
use foo_api::names::BOOTSTRAP_GROUP;
use foo_api::pool::{Ami, ImageFamily, RecommendedImage};
use foo_cloud::Watchdog;
use foo_controller::labels::{Controller, EventOutcome, Invariant, PassResult, Task, Watched};
use foo_controller::metrics::Metrics;
use foo_model::Severity;
use foo_simulator_core::core::Region;
use foo_simulator_core::core::catalogue::{IMAGE_X86_64, IMAGE_X86_64_NEWER};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

/// Seconds between two scrapes.
const STEP: u32 = 60;

/// What a scraper got.
pub(super) struct Scrapes {
    /// Names of metrics; `None`: all.
    used: Option<BTreeSet<String>>,
    count: u32,
    /// By series, the values and the scrape of each.
    series: BTreeMap<String, Vec<(u32, String)>>,
}

impl Scrapes {
    /// The metrics that alerts use.
    fn new() -> Self {
        let rules = rules();
        let words = rules.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let used = words.filter(|word| word.starts_with("foo_")).map(str::to_owned).collect();
        Self { used: Some(used), count: 0, series: BTreeMap::new() }
    }

    /// All metrics, not only those that alerts use.
    pub(super) fn of_everything() -> Self {
        Self { used: None, count: 0, series: BTreeMap::new() }
    }

    /// How many there were.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// One scrape.
    fn scrape(&mut self, metrics: &Metrics) {
        let text = metrics.exposition().unwrap();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let name = series.split('{').next().unwrap();
            if self.used.as_ref().is_none_or(|used| used.contains(name)) {
                let series = match series.split_once('{') {
                    Some((name, labels)) => format!(r#"{name}{{namespace="foo-system",{labels}"#),
                    None => format!(r#"{name}{{namespace="foo-system"}}"#),
                };
                self.series.entry(series).or_default().push((self.count, value.to_owned()));
            }
        }
        self.count += 1;
    }

    /// In promtool's notation: `_` where a scrape had no such series.
    pub(super) fn series(&self) -> Series {
        let values = |scraped: &Vec<(u32, String)>| {
            let (mut text, mut next) = (String::new(), 0);
            for (at, value) in scraped {
                for _ in next..*at {
                    text.push_str("_ ");
                }
                write!(text, "{value} ").unwrap();
                next = at + 1;
            }
            text
        };
        self.series.iter().map(|(series, scraped)| (series.clone(), values(scraped))).collect()
    }

    /// Plays the alerts; those that fired at any time are these.
    fn fired(&self, name: &str, alerts: &[&str]) {
        run_promtool(&[RuleTest {
            name: name.to_owned(),
            step: STEP,
            series: self.series(),
            fires: vec![(self.count, alerts.iter().map(|alert| (*alert).to_owned()).collect())],
            within: Some(self.count),
        }]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_failure_of_a_manager_fires() {
    let (metrics, mut scrapes) = (Metrics::new(), Scrapes::new());
    metrics.leads(Some("foo"), true);
    for minute in 0..60 {
        if minute == 10 {
            metrics.invariant_violated(Invariant::I1);
            metrics.undecodable(Watched::FooCluster);
            metrics.pass_starts(Controller::Eks).ends(PassResult::GivenUp);
            let (hangs, watchdog) = (std::future::pending::<()>(), Watchdog::default());
            let late = Duration::from_secs(1);
            assert_eq!(metrics.tasks().within(Task::Observer, &watchdog, late, hangs).await, None);
            (0..20).for_each(|_| metrics.event(Severity::Warning, EventOutcome::Lost));
        }
        scrapes.scrape(&metrics);
    }
    scrapes.fired(
        "first failures",
        &["FooEventsLost", "FooInvariantViolated", "FooPassesHang", "FooTaskRestarts", "FooUndecodable"],
    );
}

/// Scrapes for so long.
pub(super) async fn continues(world: &World, scrapes: &mut Scrapes, minutes: u32) {
    for _ in 0..(minutes * 60 / STEP) {
        world.waits_long(Duration::from_secs(STEP.into())).await;
        world.metrics().leads(Some("foo"), true);
        scrapes.scrape(world.metrics());
    }
}

/// A pool lives: nothing of it is worth an alert.
#[tokio::test(start_paused = true)]
async fn nothing_fires_while_a_healthy_pool_grows_shrinks_rolls_and_is_upgraded() {
    let mut scrapes = Scrapes::new();
    let mut world = World::empty();
    continues(&world, &mut scrapes, 2).await;
    world.has(&objects::cluster());
    world.has(&objects::foo_cluster());
    {
        let pool = world.pool("p").begins_with(3);
        continues(&world, &mut scrapes, 20).await;
        pool.is_of(3);
        world.drains_take(Duration::from_mins(4));
        pool.scales_to(6);
        continues(&world, &mut scrapes, 20).await;
        pool.scales_to(2);
        continues(&world, &mut scrapes, 40).await;
        pool.is_of(2);
        pool.scales_to(8);
        continues(&world, &mut scrapes, 20).await;
        pool.edits(|spec| spec.ami = Ami::of_id(IMAGE_X86_64_NEWER));
        continues(&world, &mut scrapes, 90).await;
        assert_eq!(pool.status().up_to_date_replicas, Some(8));
    }
    world.kills_the_manager();
    world.starts_the_manager();
    let pool = world.pool("p");
    continues(&world, &mut scrapes, 10).await;
    pool.edits_machine_pool(|pool| pool.spec.template.spec.version = Some("v1.37.0".to_owned()));
    continues(&world, &mut scrapes, 90).await;
    pool.is_deleted();
    continues(&world, &mut scrapes, 40).await;
    pool.left_nothing();
    scrapes.fired("a healthy pool", &[]);
}

/// A user applies all of it at once: a Cluster with a network of its own, an EKS control plane with add-ons, and a pool
/// whose user data is written from a FooNodeConfig.
pub(super) fn applies_an_eks_cluster(world: &World) {
    world.region.with(Region::empty_network).unwrap();
    let mut cluster = objects::cluster();
    eks::refers(&mut cluster);
    world.has(&cluster);
    world.has(&networks::managed(networks::small()));
    let addons = json!({ "addons": [{ "name": "vpc-cni" }, { "name": "coredns" }] });
    world.has(&eks::control_plane(CLUSTER, "v1.34.0", addons));
    let config = serde_json::from_value(json!({ "family": "AL2023" })).unwrap();
    world.has(&objects::placed(FooNodeConfig::new("workers", config)));
    world.aws.put_role(serde_json::from_value(json!({ "name": "nodes" })).unwrap());
    let profile = json!({ "name": "nodes", "role": "nodes" });
    world.aws.put_instance_profile(serde_json::from_value(profile).unwrap());
    let recommended = RecommendedImage { family: ImageFamily::Al2023, variant: None };
    let workers = world.pool("workers").with(|spec| {
        spec.iam_instance_profile = Some("nodes".to_owned());
        spec.ami = Ami { recommended: Some(recommended), ..Ami::default() };
    });
    let workers = workers.without_secret(2);
    workers.edits_machine_pool(|pool| {
        let template = &mut pool.spec.template.spec;
        template.version = Some("v1.34.0".to_owned());
        template.bootstrap = Bootstrap {
            config_ref: Some(ContractReference {
                api_group: BOOTSTRAP_GROUP.to_owned(),
                ..objects::reference("FooNodeConfig", "workers")
            }),
            ..Bootstrap::default()
        };
    });
}

/// EKS, EC2 and the network take the time that AWS takes: nothing of it is worth an alert.
#[tokio::test(start_paused = true)]
async fn nothing_fires_while_a_healthy_eks_cluster_is_created_idles_is_upgraded_and_deleted() {
    let mut scrapes = Scrapes::new();
    let world = World::empty();
    applies_an_eks_cluster(&world);
    continues(&world, &mut scrapes, 45).await;
    world.eks_is_ready().await;
    let workers = world.pool("workers");
    workers.is_of(2);
    continues(&world, &mut scrapes, 60).await;
    let path = "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/standard/recommended/image_id";
    world.region.publish_parameter(path, IMAGE_X86_64).unwrap();
    world.requests_version("v1.35.0");
    continues(&world, &mut scrapes, 45).await;
    assert_eq!(world.eks_object().status.unwrap().version.as_deref(), Some("v1.35.0"));
    world.eks_is_ready().await;
    workers.edits_machine_pool(|pool| pool.spec.template.spec.version = Some("v1.35.0".to_owned()));
    continues(&world, &mut scrapes, 60).await;
    workers.is_of(2);
    assert_eq!(workers.status().up_to_date_replicas, Some(2), "{}", world.summary());
    world.server.delete::<Cluster>(NS, CLUSTER).unwrap();
    continues(&world, &mut scrapes, 60).await;
    workers.left_nothing();
    assert!(world.eks_object_is_deleted() && world.region.clusters().is_empty());
    assert!(
        world.network_cluster_is_deleted() && networks::census(&networks::tagged(&world.region)).is_empty()
    );
    scrapes.fired("a healthy EKS cluster", &[]);
}

/// A roll-out that halts is worth one.
#[tokio::test(start_paused = true)]
async fn a_roll_out_that_halts_fires() {
    let mut scrapes = Scrapes::new();
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    continues(&world, &mut scrapes, 5).await;
    world
        .region
        .set_image_boot(IMAGE_X86_64_NEWER, foo_simulator_core::core::catalogue::Boot::Fails)
        .unwrap();
    pool.edits(|spec| spec.ami = Ami::of_id(IMAGE_X86_64_NEWER));
    continues(&world, &mut scrapes, 150).await;
    scrapes.fired("a roll-out that halts", &["FooPoolNotReady", "FooRolloutStuck"]);
}

/// A drain that a PodDisruptionBudget blocks leaves the pool ready and its FooMachine as it is: only the Machine shows
/// it.
#[tokio::test(start_paused = true)]
async fn a_drain_that_is_blocked_for_hours_fires_and_a_long_one_does_not() {
    let mut scrapes = Scrapes::new();
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    // Six hours after its deletion the Machine would be worth an alert.
    world.drains_take(Duration::from_mins(5 * 60 + 45));
    pool.scales_to(2);
    continues(&world, &mut scrapes, 6 * 60 + 30).await;
    pool.is_of(2);
    scrapes.fired("a drain of almost six hours", &[]);
    world.drains_take(Duration::from_hours(24));
    pool.scales_to(1);
    continues(&world, &mut scrapes, 6 * 60 + 15).await;
    assert_eq!(pool.condition("Ready").status, "True", "routine work");
    scrapes.fired("a drain that is blocked", &["FooDeletionStuck"]);
}

/// Machines of other providers have alerts of their own.
#[tokio::test(start_paused = true)]
async fn a_machine_of_another_provider_that_is_not_deleted_fires_nothing() {
    let mut scrapes = Scrapes::new();
    let world = World::new().await;
    let mut machine = objects::placed(Machine::new("foreign", MachineSpec::default()));
    machine.spec.infrastructure_ref = objects::reference("OtherMachine", "foreign");
    machine.metadata.finalizers = Some(vec!["other.example.com/machine".to_owned()]);
    world.has(&machine);
    world.server.delete::<Machine>(NS, "foreign").unwrap();
    continues(&world, &mut scrapes, 7 * 60).await;
    let left: Option<Machine> = world.server.get(NS, "foreign");
    assert!(left.is_some_and(|machine| machine.metadata.deletion_timestamp.is_some()));
    scrapes.fired("a Machine of another provider", &[]);
}
