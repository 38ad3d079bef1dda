//! The simulated AWS of a world, and what it reports to the kubelets.
//!
//! Virtual time is real time, so that its clock and the manager's agree; launches and terminations are short instead.

pub use crate::simulated::GROUP_LABEL;

use crate::eks::UserDataCache;
use crate::{Instances, NodeSpec, lock, simulated};
use anyhow::{Context as _, Result};
use foo_simulator::core::ec2::instances::Ec2Instance;
use foo_simulator::core::group::model::Group;
use foo_simulator::core::sqs::delivery::EventRule;
use foo_simulator::core::{catalogue, network};
use foo_simulator::{FaultRule, Handle, NodeInstance, RegionHandle, Simulator, SimulatorConfig};
use kube::Client;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The region everything lives in.
pub const REGION: &str = foo_simulator::DEFAULT_REGION;
/// Subnets of all clusters, in zones a, b and c.
pub const SUBNETS: [&str; 3] = network::PRIVATE_SUBNETS;
/// Security group of all clusters.
pub const SECURITY_GROUP: &str = network::SECURITY_GROUP;
/// Image of all pools.
pub const IMAGE: &str = catalogue::IMAGE_X86_64;
/// Instance type of all pools.
pub const INSTANCE_TYPE: &str = "m7i.large";
/// Tag on instances that names their cluster.
const CLUSTER_TAG: &str = "kubernetes.io/cluster/";

/// A simulated AWS that serves HTTP.
#[derive(Debug)]
pub struct Aws {
    handle: Handle,
    region: RegionHandle,
    killed: Mutex<BTreeSet<String>>,
}

impl Aws {
    pub(super) async fn start() -> Result<Self> {
        let mut config = SimulatorConfig::scaled(1.0);
        let settings = &mut config.settings;
        settings.launch = Duration::from_secs(3);
        settings.terminate = Duration::from_secs(3);
        settings.reaction = Duration::from_millis(300);
        settings.health_check = Duration::from_secs(3);
        settings.group_delete = Duration::from_secs(1);
        settings.launch_retry_first = Duration::from_secs(2);
        let eks = &mut settings.eks;
        eks.create = Duration::from_secs(5);
        eks.delete = Duration::from_secs(3);
        eks.version_update = Duration::from_secs(5);
        eks.config_update = Duration::from_secs(3);
        eks.identity_provider_update = Duration::from_secs(5);
        eks.addon = Duration::from_secs(2);
        eks.insights_refresh = Duration::from_secs(2);
        // A caller that trusts an association that EKS lists is refused for a while.
        eks.policies_apply_spread = Duration::from_secs(30);
        let handle = Handle::start(config).await.context("starting the simulated AWS")?;
        let region = handle.region(REGION);
        Ok(Self { handle, region, killed: Mutex::default() })
    }

    /// Puts a queue before all of AWS's events; the flags with which a manager reads it.
    pub(super) fn queue_of_events(&self) -> Result<[String; 2]> {
        const QUEUE: &str = "events";
        self.region.with(|region| region.create_queue(QUEUE, &BTreeMap::new()))??;
        self.region.set_event_rules(vec![EventRule::to_queue(QUEUE)])?;
        let url = format!("{}/{}/{QUEUE}", self.endpoint(), foo_simulator::DEFAULT_ACCOUNT);
        Ok([format!("--events-queue-url={url}"), format!("--events-queue-region={REGION}")])
    }

    /// EC2 interrupts a spot instance: it is terminated in two minutes, drained or not.
    pub fn interrupt(&self, id: &str) -> Result<()> {
        self.region.interrupt(&id.into()).with_context(|| format!("interrupting {id}"))
    }

    /// What the manager takes for AWS.
    pub fn endpoint(&self) -> String {
        self.handle.endpoint()
    }

    /// The whole simulator: faults, throttling, time.
    pub fn simulator(&self) -> &Simulator {
        self.handle.simulator()
    }

    /// The region: groups, instances, templates, images.
    pub fn region(&self) -> &RegionHandle {
        &self.region
    }

    /// A group, if there is one of that name.
    pub fn group(&self, name: &str) -> Option<Group> {
        self.region.group(name)
    }

    /// The instances of a group that EC2 does not show as terminated, sorted by id.
    pub fn instances_of(&self, group: &str) -> Vec<Ec2Instance> {
        let mut instances = self.region.instances();
        instances.retain(|instance| {
            let of_group = instance.group.as_ref().is_some_and(|name| name.as_str() == group);
            of_group && instance.ended.is_none()
        });
        instances.sort_by(|a, b| a.id.cmp(&b.id));
        instances
    }

    /// Terminates an instance in EC2. Its pods are lost, which the checks for undrained pods ignore.
    pub fn kill_instance(&self, id: &str) -> Result<()> {
        lock(&self.killed).insert(id.to_owned());
        self.region.kill_instance(&id.into()).with_context(|| format!("killing {id}"))
    }

    /// The group's health check fails for an instance: the group replaces it, through its hooks.
    pub fn find_unhealthy(&self, id: &str) -> Result<()> {
        self.region.find_unhealthy(&id.into()).with_context(|| format!("finding {id} unhealthy"))
    }

    /// The ids of all instances that [`Aws::kill_instance`] ended.
    pub fn killed(&self) -> BTreeSet<String> {
        lock(&self.killed).clone()
    }

    /// What is left of a pool in AWS: empty after it was deleted. A group and its launch template have one name.
    pub fn leftovers(&self, group: &str) -> Vec<String> {
        let mut left: Vec<String> =
            self.group(group).iter().map(|group| format!("group {}", group.name)).collect();
        let templates = self.region.templates();
        let templates = templates.iter().filter(|template| template.name == group);
        left.extend(templates.map(|template| format!("launch template {}", template.id)));
        let instances = self.instances_of(group);
        left.extend(
            instances.iter().map(|instance| format!("instance {} ({:?})", instance.id, instance.state)),
        );
        left
    }

    /// Calls fail by this rule until what is returned is dropped, also if a test fails meanwhile.
    #[must_use = "dropping it takes the rule away"]
    pub fn fails(&self, rule: FaultRule) -> Failing {
        let simulator = self.simulator().clone();
        Failing { number: simulator.add_fault(rule), simulator }
    }

    /// Numbers of calls by action, of all services together.
    pub fn calls(&self) -> BTreeMap<String, u64> {
        let counts = self.simulator().call_counts();
        counts.into_iter().map(|((_, action), count)| (action, count.calls)).collect()
    }

    /// Number of calls of one action.
    pub fn calls_of(&self, action: &str) -> u64 {
        self.simulator().calls(action)
    }
}

/// A rule by which calls of AWS fail. Dropping it takes the rule away.
#[derive(Debug)]
pub struct Failing {
    simulator: Simulator,
    number: u64,
}

impl Drop for Failing {
    fn drop(&mut self) {
        self.simulator.remove_fault(self.number);
    }
}

/// Clusters whose Nodes are on another API server than the management cluster's, and a client of it.
pub(super) type Elsewhere = Arc<Mutex<BTreeMap<String, Client>>>;

/// Which clusters have their Nodes on an API server: all, except those that live on another one.
#[derive(Clone)]
pub(super) enum Clusters {
    AllBut(Elsewhere),
    Only(String),
}

impl Clusters {
    fn contain(&self, cluster: &str) -> bool {
        match self {
            Self::AllBut(others) => !lock(others).contains_key(cluster),
            Self::Only(name) => name == cluster,
        }
    }
}

/// The instances that run kubelets of certain clusters.
#[derive(Clone)]
pub(super) struct Running {
    pub(super) region: RegionHandle,
    pub(super) clusters: Clusters,
    /// Versions of the kubelets on images, where they are not the usual one.
    pub(super) kubelet_versions: BTreeMap<String, String>,
    /// The content of their user data.
    pub(super) user_data: Arc<UserDataCache>,
}

#[async_trait::async_trait]
impl Instances for Running {
    async fn running(&self) -> Result<Vec<NodeSpec>> {
        let instances = self.region.in_service_instances();
        let joining = instances.iter().filter(|instance| instance.boots == catalogue::Boot::Succeeds);
        // Those of EKS join the servers of their own clusters.
        let joining = joining.filter(|instance| !self.user_data.is_for_eks(instance, &self.region));
        let joining = joining.filter(|instance| !self.user_data.waits(instance, &self.region));
        let mine =
            joining.filter(|instance| cluster_of(instance).is_some_and(|name| self.clusters.contain(name)));
        let node = |instance: &NodeInstance| NodeSpec {
            kubelet_version: self.kubelet_versions.get(instance.image.as_str()).cloned(),
            ..simulated::node(instance)
        };
        Ok(mine.map(node).collect())
    }
}

fn cluster_of(instance: &NodeInstance) -> Option<&str> {
    instance.tags.keys().find_map(|key| key.strip_prefix(CLUSTER_TAG))
}
