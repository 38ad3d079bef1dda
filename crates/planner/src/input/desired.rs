//! The desired state of one pool, validated. Invalid input either never becomes a value of these types, or is
//! a [`Blocked`] inside one.

use foo_model::names::{TAG_ADOPTABLE, TAG_ADOPTED, TAG_CLUSTER, TAG_GROUP, TAG_INSTALLATION, TAG_POOL};
use foo_model::{
    Adoption, Applied, Blocked, DeletionTimeouts, Group, GroupName, GroupSettings, HookName, InstanceType,
    InstancesMix, LatticeTargetGroupArn, LifecycleHook, LoadBalancerName, Maintenance, Notifications,
    Process, Seconds, SpecHash, Storage, StoredUserData, SubnetId, TargetGroupArn, TemplateContent,
    TemplateHashes, TrafficSource, TrafficSourceKind, WarmPoolSettings,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The desired state of one pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Desired {
    /// The names of the pool and of what it owns.
    pub identity: Identity,
    /// Whether the pool runs or is removed.
    pub goal: Goal,
    /// Set while the pool is paused: the planner only observes.
    pub pause: Option<PausedBy>,
    /// Whether a group that exists and has no owner is adopted.
    #[serde(default)]
    pub adoption: Adoption,
    /// Whether the spec leaves open what becomes of the group when the pool is deleted: an adopted one stays.
    #[serde(default)]
    pub retains_adopted: bool,
    /// Whether the spec names the group: otherwise it was not adopted.
    #[serde(default)]
    pub may_have_adopted: bool,
    /// What is still missing before the first AWS write; empty if nothing is.
    pub missing: Vec<Blocked>,
    /// The number of instances, and who manages it.
    pub size: Size,
    /// What new instances are launched from.
    pub template: Wanted<Template>,
    /// Settings of the group itself.
    pub group: GroupConfig,
    /// Scale-in settings.
    pub scale_in: ScaleIn,
    /// Roll-out settings.
    pub rollout: Rollout,
    /// When the provider may begin to replace instances by its own choice: outdated ones, and those that have reached their
    /// lifetime. Not limited: sizes, the replacement of unhealthy instances, what AWS announces, and the content of new instances.
    #[serde(default)]
    pub maintenance: Maintenance,
    /// The Capacity Block that the instances run in.
    #[serde(default)]
    pub capacity_block: Option<CapacityBlock>,
    /// Remediation settings: how unhealthy Machines are replaced.
    pub remediation: Remediation,
    /// What the health of instances in the group's target groups means. Default: nothing.
    #[serde(default)]
    pub target_health: Option<TargetHealthRules>,
    /// What to do when AWS announces an interruption.
    pub interruption: Interruption,
    /// Timeouts that every Machine of the pool gets.
    pub timeouts: DeletionTimeouts,
    /// Warnings about the user's input that block nothing.
    pub warnings: Vec<Blocked>,
}

/// Names of the pool and of what it owns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Namespace of all its Kubernetes objects.
    pub namespace: String,
    /// Name of the FooMachinePool.
    pub pool: String,
    /// Name of the Cluster.
    pub cluster: String,
    /// Name of the group.
    pub group: GroupName,
    /// Name of the launch template: that of the group, unless the spec has another one.
    pub template: String,
    /// Id of this management cluster; the group carries it in a tag.
    pub installation: String,
    /// Id of the management cluster that, according to a user, has given the pool up to this one.
    pub adopt_from: Option<String>,
}

/// Whether the pool runs or is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Goal {
    /// It runs.
    Run,
    /// It is being deleted.
    Remove,
    /// It is being deleted, and its group stays with all instances (`deletionPolicy: Retain`).
    Retain,
    /// It was moved to another management cluster (`clusterctl.cluster.x-k8s.io/delete-for-move`): finalizers
    /// are removed, AWS is not touched.
    Orphan,
}

/// What paused the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PausedBy {
    /// Cluster.spec.paused.
    Cluster,
    /// The annotation `cluster.x-k8s.io/paused` on the FooMachinePool.
    Annotation,
}

/// A part of the desired state that can be unusable while the rest is usable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wanted<T> {
    /// Usable.
    Ready(T),
    /// Not usable: existing instances keep running unchanged.
    Blocked(Blocked),
}

/// The number of instances, and who manages it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Size {
    /// Unknown: the MachinePool does not exist or cannot be read, or the bounds of an external size are
    /// missing. Existing instances stay; the planner decides nothing that depends on the size.
    Unknown,
    /// MachinePool.spec.replicas, up to a maximum.
    Replicas {
        /// MachinePool.spec.replicas (1 if absent).
        wanted: u32,
        /// FooMachinePool.spec.maxSize: the upper bound, including surge.
        ceiling: Option<u32>,
    },
    /// Another controller manages the size through the group (`cluster.x-k8s.io/replicas-managed-by`): the
    /// provider never writes desired capacity, and MachinePool.spec.replicas follows it.
    External {
        /// MinSize of the group.
        min: u32,
        /// MaxSize of the group.
        max: u32,
        /// The present MachinePool.spec.replicas.
        published: u32,
    },
}

/// A Capacity Block that instances run in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapacityBlock {
    /// Id of its Capacity Reservation.
    pub id: String,
    /// Type of the pool's instances.
    pub instance_type: InstanceType,
    /// How long before EC2 begins to terminate the instances their Machines are deleted.
    pub drain_lead: Seconds,
}

/// What new instances are launched from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// The content.
    pub content: TemplateContent,
    /// Hash of everything whose change replaces instances.
    pub spec_hash: SpecHash,
    /// Hash of the user data.
    pub data_hash: SpecHash,
    /// Hash of the name of the Secret with the user data. Content with another spec hash can use user data of
    /// the same Secret.
    pub source_hash: SpecHash,
    /// What the user data fetches from S3: it has to be there before a version with this content.
    pub object: Option<Box<StoredUserData>>,
    /// Whether the user data wait in a warm pool, before they join the cluster, until the instance is in service.
    #[serde(default)]
    pub waits_in_warm_pool: bool,
}

/// Desired settings of the group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupConfig {
    /// Settings that AWS changes one by one.
    pub settings: GroupSettings<Wanted<BTreeSet<SubnetId>>>,
    /// The target groups that the group is attached to. `None`: those that it has stay, whichever they are.
    #[serde(default)]
    pub target_groups: Option<BTreeSet<TargetGroupArn>>,
    /// The Classic Load Balancers that the group is attached to. `None`: those that it has stay, whichever they are.
    #[serde(default)]
    pub classic_load_balancers: Option<BTreeSet<LoadBalancerName>>,
    /// The target groups of VPC Lattice that the group is attached to. `None`: those that it has stay, whichever they are.
    #[serde(default)]
    pub lattice_target_groups: Option<BTreeSet<LatticeTargetGroupArn>>,
    /// Lifecycle hooks beside the provider's own. `None`: those that it has stay, whichever they are.
    #[serde(default)]
    pub hooks: Option<BTreeMap<HookName, LifecycleHook>>,
    /// Topics and what is reported there. `None`: those that it has stay, whichever they are.
    #[serde(default)]
    pub notifications: Option<Notifications>,
    /// Processes to suspend, besides AZRebalance.
    #[serde(default)]
    pub suspended: BTreeSet<Process>,
    /// Instances to start in advance. `None`: a warm pool of another user stays. Without `max_prepared`, as many as `min_size` wait in a
    /// group whose replicas the provider manages.
    #[serde(default)]
    pub warm_pool: Option<WarmPoolSettings>,
    /// The mix of types, if the pool has one, with the images of the desired content.
    pub mix: Option<InstancesMix>,
    /// Tags beside the ownership tags.
    pub tags: BTreeMap<String, String>,
    /// Where the pool keeps its user data, if not in the launch template.
    pub storage: Option<Storage>,
}

impl GroupConfig {
    /// The traffic sources that the group is attached to, by kind. A kind that is missing stays as it is in the group.
    pub fn traffic_sources(&self) -> BTreeMap<TrafficSourceKind, BTreeSet<TrafficSource>> {
        let names = self.classic_load_balancers.as_ref();
        let arns = self.target_groups.as_ref();
        let of_lattice = self.lattice_target_groups.as_ref();
        [
            (
                TrafficSourceKind::ClassicLoadBalancer,
                names.map(|all| each(all, TrafficSource::ClassicLoadBalancer)),
            ),
            (TrafficSourceKind::TargetGroup, arns.map(|all| each(all, TrafficSource::TargetGroup))),
            (
                TrafficSourceKind::LatticeTargetGroup,
                of_lattice.map(|all| each(all, TrafficSource::LatticeTargetGroup)),
            ),
        ]
        .into_iter()
        .filter_map(|(kind, sources)| Some((kind, sources?)))
        .collect()
    }
}

/// The traffic source of each of these identifiers.
fn each<T: Clone>(all: &BTreeSet<T>, source: fn(T) -> TrafficSource) -> BTreeSet<TrafficSource> {
    all.iter().cloned().map(source).collect()
}

/// Scale-in settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScaleIn {
    /// Which of several equal candidates is deleted first.
    pub policy: VictimPolicy,
    /// How many Machines may drain at once by the provider's choice; at least 1. Does not limit Machines with
    /// the delete-machine annotation.
    pub max_concurrent_drains: u32,
    /// How long the desired replicas must have been this low, without a failed launch, before the provider
    /// deletes unmarked Machines with a registered Node.
    pub stabilization: Seconds,
}

/// Which of several equal candidates is deleted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VictimPolicy {
    /// The oldest Machine.
    Oldest,
    /// The newest Machine.
    Newest,
}

/// Roll-out settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rollout {
    /// Who replaces outdated instances.
    pub strategy: Strategy,
    /// How many instances beyond the desired replicas a roll-out may launch; shares are rounded up.
    pub max_surge: IntOrPercent,
    /// By how many instances a roll-out may reduce the available ones below the desired replicas; shares are
    /// rounded down.
    pub max_unavailable: IntOrPercent,
    /// How long a Node must have been Ready before its new instance counts as available.
    pub min_ready: Seconds,
    /// How long a new instance may take to become available.
    pub ready_timeout: Seconds,
    /// What follows if a new instance takes longer.
    pub on_failure: OnFailure,
    /// Why it is paused, if it is.
    pub paused: Option<RolloutPause>,
    /// How old an instance may become; one that is older is replaced within the same limits. `None`: no limit.
    #[serde(default)]
    pub max_lifetime: Option<Seconds>,
}

/// Why a roll-out is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RolloutPause {
    /// A user paused it with an annotation.
    ByUser,
    /// The spec requests the adoption of the group: its instances run unchanged until a user says otherwise.
    Adoption,
}

/// Who replaces outdated instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strategy {
    /// The provider.
    RollingUpdate,
    /// The user, by deleting their Machines.
    OnDelete,
}

/// What follows if new content fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnFailure {
    /// No instance is replaced; new instances are launched from the previous content.
    Halt,
    /// Its instances are replaced by instances of the previous content.
    Rollback,
}

/// A number of instances, or a share of the desired replicas in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IntOrPercent {
    /// An absolute number.
    Count(u32),
    /// A percentage.
    Percent(u32),
}

impl IntOrPercent {
    /// The share of `of`, rounded up.
    pub fn up(self, of: u32) -> u32 {
        self.of(of, u64::div_ceil)
    }

    /// The share of `of`, rounded down.
    pub fn down(self, of: u32) -> u32 {
        self.of(of, |hundredths, hundred| hundredths / hundred)
    }

    fn of(self, of: u32, divide: impl Fn(u64, u64) -> u64) -> u32 {
        match self {
            Self::Count(count) => count,
            Self::Percent(percent) => {
                u32::try_from(divide(u64::from(of) * u64::from(percent), 100)).unwrap_or(u32::MAX)
            }
        }
    }
}

impl Rollout {
    /// How many of `target` instances a roll-out may make unavailable. Without any surge it is at least one,
    /// as for Deployments: otherwise nothing could ever be replaced.
    pub fn unavailable(&self, target: u32) -> u32 {
        match (self.max_unavailable.down(target), self.max_surge.up(target)) {
            (0, 0) => 1,
            (unavailable, _) => unavailable,
        }
    }
}

/// Remediation settings: how unhealthy Machines are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remediation {
    /// Whether unhealthy Machines are replaced.
    pub enabled: bool,
    /// How many are replaced at once; shares are rounded up, and at least one is.
    pub max_in_flight: IntOrPercent,
    /// Above this number of unhealthy Machines none is replaced, because the cause lies elsewhere. Shares are
    /// rounded up.
    pub unhealthy_limit: IntOrPercent,
    /// How long a Node may take to join; `None`: no limit.
    pub join_timeout: Option<Seconds>,
}

/// What the health of instances in target groups means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetHealthRules {
    /// Whether an instance counts as available only if it is healthy in every target group.
    pub required: bool,
    /// Whether an unhealthy one is replaced, within the limits of [`Remediation`].
    pub replace: bool,
    /// How long after its Machine was created an instance may be unhealthy.
    pub grace: Seconds,
}

/// What to do when AWS announces something about an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interruption {
    /// What to do after a rebalance recommendation.
    pub rebalance: Rebalance,
}

/// What to do after a rebalance recommendation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rebalance {
    /// Nothing.
    Ignore,
    /// Its Node is cordoned; the instance stays.
    Cordon,
    /// The instance is replaced within the limits of roll-outs, and not more often than the cool-down allows.
    Replace,
}

impl Desired {
    /// What the health of instances in target groups means, if any decision depends on it now.
    fn target_health_in_use(&self) -> Option<TargetHealthRules> {
        let attached = self.group.target_groups.as_ref().is_some_and(|groups| !groups.is_empty());
        let runs = self.goal == Goal::Run && self.pause.is_none();
        self.target_health.filter(|rules| attached && runs && (rules.required || rules.replace))
    }

    /// Whether any decision depends on the health of instances in target groups.
    pub fn asks_for_target_health(&self) -> bool {
        self.target_health_in_use().is_some()
    }

    /// Whether an instance counts as available only if it is healthy in every target group.
    pub fn requires_target_health(&self) -> bool {
        self.target_health_in_use().is_some_and(|rules| rules.required)
    }

    /// How long an instance may be unhealthy in a target group before it is replaced; `None` if none is replaced for that.
    pub fn target_health_grace(&self) -> Option<Seconds> {
        self.target_health_in_use().filter(|rules| rules.replace).map(|rules| rules.grace)
    }
}

impl GroupConfig {
    /// What the spec named, by this record, and does not name any more: it is removed from the group. Where the spec leaves open what the
    /// group has, nothing has left it.
    pub fn no_longer_named(&self, recorded: &Applied) -> Applied {
        let Applied { lifecycle_hooks, suspended_processes, notification_topics, warm_pool } = recorded;
        Applied {
            lifecycle_hooks: left(lifecycle_hooks, self.hooks.as_ref()),
            suspended_processes: suspended_processes.difference(&self.suspended).copied().collect(),
            notification_topics: left(notification_topics, self.notifications.as_ref()),
            warm_pool: warm_pool.clone().filter(|_| self.warm_pool.is_none()),
        }
    }
}

fn left<K: Ord + Clone, V>(recorded: &BTreeSet<K>, named: Option<&BTreeMap<K, V>>) -> BTreeSet<K> {
    let is_left = |it: &&K| named.is_some_and(|named| !named.contains_key(*it));
    recorded.iter().filter(is_left).cloned().collect()
}

/// The advice when the group's name is in use: the name is immutable.
pub const ANOTHER_NAME: &str = "delete this pool and create it again with a spec.groupName of its own";

impl Template {
    /// The hashes that identify its template version.
    pub fn hashes(&self) -> TemplateHashes {
        TemplateHashes {
            spec: self.spec_hash.clone(),
            data: self.data_hash.clone(),
            source: Some(self.source_hash.clone()),
            object: self.object.as_ref().map(|object| object.place.clone()),
            arm64_image: self.content.arm64_image.clone(),
        }
    }
}

impl Identity {
    /// The two tags that mark a group or template as this pool's.
    pub fn ownership_tags(&self) -> BTreeMap<String, String> {
        BTreeMap::from([
            (TAG_CLUSTER.to_owned(), format!("{}/{}", self.namespace, self.cluster)),
            (TAG_POOL.to_owned(), self.pool.clone()),
        ])
    }

    /// The tags that mark a launch template as this pool's. Who has the group of that name has the template; one with another
    /// name says whose it is.
    pub fn template_tags(&self) -> BTreeMap<String, String> {
        let mut tags = self.ownership_tags();
        if self.template != self.group.as_str() {
            tags.insert(TAG_GROUP.to_owned(), self.group.as_str().to_owned());
        }
        tags
    }

    /// Whether a launch template of the spec's name with these tags is this pool's.
    pub fn owns_template(&self, tags: &BTreeMap<String, String>) -> bool {
        let of_this_group = tags.get(TAG_GROUP).is_none_or(|group| group == self.group.as_str());
        of_this_group && self.template_tags().iter().all(|(key, value)| tags.get(key) == Some(value))
    }

    /// All tags that mark a group as this pool's, in this management cluster.
    pub fn group_tags(&self) -> BTreeMap<String, String> {
        let mut tags = self.ownership_tags();
        tags.insert(TAG_INSTALLATION.to_owned(), self.installation.clone());
        tags
    }

    /// All tags that mark a group as adopted by this pool, in this management cluster.
    pub fn adopted_tags(&self) -> BTreeMap<String, String> {
        let mut tags = self.group_tags();
        tags.insert(TAG_ADOPTED.to_owned(), "true".to_owned());
        tags
    }

    /// The value of the tag `adoptable` with which the owner of an AWS account lets this pool adopt a group.
    pub fn adoptable_by(&self) -> String {
        format!("{}/{}", self.namespace, self.pool)
    }

    /// Whether a group with these tags has no owner, and the owner of the AWS account lets this pool adopt it.
    pub fn may_adopt(&self, tags: &BTreeMap<String, String>) -> bool {
        !Self::have_owner(tags) && tags.get(TAG_ADOPTABLE) == Some(&self.adoptable_by())
    }

    /// Whether these tags name an owner of a group, if only in part: the provider adopts only a group without one.
    pub fn have_owner(tags: &BTreeMap<String, String>) -> bool {
        [TAG_CLUSTER, TAG_POOL, TAG_INSTALLATION].iter().any(|key| tags.contains_key(*key))
    }

    /// Whether the provider may change this group: it belongs to this pool, and to this management cluster or to one
    /// that released it (invariant I12). The provider creates no group without the tag of its management cluster. A user
    /// created and tagged one that lacks it, unless its ARN is `recorded` in the FooMachinePool: that one lost its tag.
    pub fn may_manage(&self, group: &Group, recorded: Option<&str>) -> bool {
        let by_installation = match group.tags.get(TAG_INSTALLATION).map(String::as_str) {
            Some(id) => id == self.installation || Some(id) == self.adopt_from.as_deref(),
            None => recorded == Some(group.arn.as_str()),
        };
        self.owns(&group.tags) && by_installation
    }

    /// Whether a group with these tags belongs to another management cluster and a user lets this one adopt
    /// it.
    pub fn adopts(&self, tags: &BTreeMap<String, String>) -> bool {
        let other = self.other_installation(tags);
        self.owns(tags) && other.is_some() && other == self.adopt_from.as_deref()
    }

    /// The other management cluster that these tags of a group name.
    pub fn other_installation<'t>(&self, tags: &'t BTreeMap<String, String>) -> Option<&'t str> {
        tags.get(TAG_INSTALLATION).map(String::as_str).filter(|id| *id != self.installation)
    }

    /// Whether these tags are this pool's, in whatever management cluster (invariant I12: the provider never
    /// changes a group without them).
    pub fn owns(&self, tags: &BTreeMap<String, String>) -> bool {
        self.ownership_tags().iter().all(|(key, value)| tags.get(key) == Some(value))
    }

    /// The pool that these tags name, if they name one.
    pub fn owner_by(group: GroupName, tags: &BTreeMap<String, String>) -> Option<Self> {
        let (namespace, cluster) = tags.get(TAG_CLUSTER)?.split_once('/')?;
        let pool = tags.get(TAG_POOL)?.clone();
        let installation = tags.get(TAG_INSTALLATION).cloned().unwrap_or_default();
        let (namespace, cluster) = (namespace.to_owned(), cluster.to_owned());
        let template = group.as_str().to_owned();
        Some(Self { namespace, pool, cluster, group, template, installation, adopt_from: None })
    }

    /// How messages on this pool name another pool. Users of this namespace must not learn names from other
    /// namespaces.
    pub fn other_in_words(&self, other: &Self) -> String {
        if other.namespace == self.namespace {
            format!("FooMachinePool {} of Cluster {}", other.pool, other.cluster)
        } else {
            "a FooMachinePool of another namespace".to_owned()
        }
    }

    /// A message for an object that has this pool's name and belongs to another pool: its owner, and the remedy.
    pub(crate) fn of_another_owner(&self, what: &str, tags: &BTreeMap<String, String>) -> String {
        match Self::owner_by(self.group.clone(), tags).filter(|_| !self.owns(tags)) {
            Some(other) => {
                format!("{what} belongs to {} and is left alone; {ANOTHER_NAME}", self.other_in_words(&other))
            }
            None => format!(
                "{what} does not have all ownership tags of a FooMachinePool and is left alone; if it is this pool's, restore \
                 the tags, else {ANOTHER_NAME}"
            ),
        }
    }
}

/// `<namespace>/<name>` of the FooMachinePool, as logs name it.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.pool)
    }
}
