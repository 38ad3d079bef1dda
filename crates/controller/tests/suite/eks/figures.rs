//! What an EKS cluster costs in calls of AWS, in writes and in time, by the real controller: `make bench` prints it,
//! and docs/operations/aws.md has the table.
//!
//! Time is virtual. What is measured is what the provider's own order of calls, reads and waits takes while EKS is not
//! working. Part of that is that EKS is asked once in 30 seconds: it is done, and the next read has not come. The rest
//! is the provider's own: everything is known, and the next change is not sent.

use super::NAME;
use crate::support::World;
use foo_model::eks::{AddonStatus, ClusterStatus, UpdateStatus};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// What we may take while everything is known.
const OWN: Duration = Duration::from_secs(15);
/// How finely time is distinguished.
const STEP: Duration = Duration::from_millis(100);
/// The pause between reads of what EKS works on.
const ASKED_EVERY: Duration = Duration::from_secs(30);

/// Where the time was spent until something was as requested, and what it cost.
#[derive(Debug, Default)]
struct Cost {
    /// EKS was at work.
    eks: Duration,
    /// EKS was done with something, and had not been asked since.
    unasked: Duration,
    /// All was known, and nothing was sent.
    own: Duration,
    changes: BTreeMap<String, u64>,
    reads: BTreeMap<String, u64>,
    writes: usize,
}

fn is_read(action: &str) -> bool {
    ["Describe", "Get", "List"].iter().any(|verb| action.starts_with(verb))
}

fn by_action(calls: &BTreeMap<String, u64>) -> String {
    calls.iter().map(|(action, count)| format!("{count} {action}")).collect::<Vec<_>>().join(", ")
}

impl Cost {
    fn print(&self, what: &str) {
        let sum = |calls: &BTreeMap<String, u64>| calls.values().sum::<u64>();
        println!(
            "EKS, {what}: {:.0} s of EKS; beyond that {:.1} s until the next permitted read and {:.1} s of the provider",
            self.eks.as_secs_f64(),
            self.unasked.as_secs_f64(),
            self.own.as_secs_f64()
        );
        println!(
            "  {} changes: {}; {} reads: {}; {} writes to Kubernetes",
            sum(&self.changes),
            by_action(&self.changes),
            sum(&self.reads),
            by_action(&self.reads),
            self.writes
        );
    }

    /// Reads are bounded by the time that EKS takes, and by what a plan reads once.
    fn is_small(&self, once: u64) {
        assert!(self.own <= OWN, "{self:#?}");
        let waiting = (self.eks + self.unasked).as_secs() / ASKED_EVERY.as_secs();
        let all: u64 = self.reads.values().sum();
        assert!(all <= waiting + once, "{all} reads, {waiting} waits: {self:#?}");
    }
}

impl World {
    /// Whether EKS is at work on anything of the cluster.
    fn eks_works(&self) -> bool {
        let Some(cluster) = self.region.cluster(NAME) else { return false };
        let cluster_moves = match cluster.status {
            ClusterStatus::Creating | ClusterStatus::Updating | ClusterStatus::Deleting => true,
            ClusterStatus::Pending | ClusterStatus::Active | ClusterStatus::Failed => false,
        };
        let updates = cluster.updates.iter().any(|update| update.status == UpdateStatus::InProgress);
        cluster_moves || updates || self.addons().values().any(|addon| addon.is_moving())
    }

    /// Whether EKS is done with something that the FooControlPlane shows as under way.
    fn eks_is_to_be_asked(&self) -> bool {
        let Some(shown) = self.eks_object().status.and_then(|status| status.eks) else { return false };
        let Some(cluster) = self.region.cluster(NAME) else { return shown.status.is_some() };
        let is_other = |shown: Option<&str>, is: &'static str| shown.is_some_and(|shown| shown != is);
        let there = self.addons();
        let addons = shown.addons.iter().any(|addon| {
            let status = there.get(&addon.name);
            status.is_none_or(|status| is_other(addon.status.as_deref(), (*status).into()))
        });
        let update = shown.record.and_then(|record| record.update).is_some();
        is_other(shown.status.as_deref(), cluster.status.into()) || addons || update
    }

    /// The status of each add-on in EKS.
    fn addons(&self) -> BTreeMap<String, AddonStatus> {
        let names: Vec<String> =
            self.region.cluster(NAME).into_iter().flat_map(|cluster| cluster.addons.into_keys()).collect();
        let status = |name: &String| {
            self.region
                .with(|region| region.addon_seen(NAME, name).map(|(_, status, _)| status).ok())
                .ok()
                .flatten()
        };
        names.into_iter().filter_map(|name| Some((name.clone(), status(&name)?))).collect()
    }

    /// What it costs until this is so.
    async fn costs_until(&self, is_so: impl Fn() -> bool) -> Cost {
        self.forgets();
        let mut cost = Cost::default();
        while !is_so() {
            let spent = if self.eks_works() {
                &mut cost.eks
            } else if self.eks_is_to_be_asked() {
                &mut cost.unasked
            } else {
                &mut cost.own
            };
            *spent += STEP;
            assert!(
                cost.eks + cost.unasked + cost.own < Duration::from_hours(2),
                "{cost:?}\n{}",
                self.eks_summary()
            );
            self.waits(STEP).await;
        }
        (cost.reads, cost.changes) = self.aws_calls().into_iter().partition(|(action, _)| is_read(action));
        cost.writes = self.requests().writes().count();
        cost
    }

    fn eks_is_as_requested(&self) -> bool {
        let all = ["Available", "ClusterReady", "AddonsReady", "AccessReady", "KubeconfigReady", "Ready"];
        all.iter().all(|kind| self.eks_state(kind).starts_with("True"))
    }
}

/// Three add-ons that need no nodes, an entry for a user, an OIDC provider.
fn usual() -> Value {
    json!({
        "addons": [{ "name": "vpc-cni" }, { "name": "kube-proxy" }, { "name": "eks-pod-identity-agent" }],
        "accessEntries": [{ "principalARN": "arn:aws:iam::123456789012:user/ann", "policies": [{ "name": "AmazonEKSViewPolicy" }] }],
        "oidcProvider": true,
    })
}

#[tokio::test(start_paused = true)]
async fn a_life_cycle_takes_few_calls_and_little_time_of_the_provider() {
    let world = World::empty();
    let began = Instant::now();
    world.begins_eks("v1.34.0", usual());
    let creation = world.costs_until(|| world.eks_is_as_requested()).await;
    creation.print("creation");
    assert_eq!(creation.changes.get("CreateCluster"), Some(&1));
    creation.is_small(40);
    assert!(began.elapsed() < Duration::from_mins(15), "{:?}", began.elapsed());

    world.requests_version("v1.35.0");
    let upgraded = || world.eks_cluster().version.to_string() == "1.35" && world.eks_is_as_requested();
    let upgrade = world
        .costs_until(|| upgraded() && world.eks_state("Upgrading").starts_with("False NotUpgrading"))
        .await;
    upgrade.print("upgrade by a minor");
    assert_eq!(upgrade.changes.get("UpdateClusterVersion"), Some(&1));
    upgrade.is_small(25);

    world.deletes_eks();
    let deletion = world.costs_until(|| world.eks_object_is_deleted()).await;
    deletion.print("deletion");
    assert_eq!(deletion.changes.get("DeleteCluster"), Some(&1));
    deletion.is_small(20);
}

#[tokio::test(start_paused = true)]
async fn an_idle_control_plane_costs_one_read_in_five_minutes() {
    let world = World::of_eks(usual()).await;
    world.waits_long(Duration::from_mins(15)).await;
    world.forgets();
    world.waits_long(Duration::from_hours(3)).await;
    let (calls, requests) = (world.aws_calls(), world.requests());
    let all: u64 = calls.values().sum();
    let writes = requests.clone().writes().count();
    println!(
        "EKS, three hours idle: {all} calls of AWS: {}; {writes} writes to Kubernetes",
        by_action(&calls)
    );
    // Twelve reads of the cluster an hour, and one list of groups that may have no pool.
    assert!(all <= 3 * (12 + 1) + 1, "{calls:?}");
    assert!(requests.writes().count() <= 3 * 8, "only tokens");
}
