//! What is wanted of one pool, validated: whatever could be wrong was refused before a value of these types exists,
//! or is a [`Blocked`] inside it.

use foo_model::names::{TAG_CLUSTER, TAG_INSTALLATION, TAG_POOL};
use foo_model::{
    DeletionTimeouts, GroupName, InstancesMix, Reason, Seconds, SpecHash, SubnetId, TemplateContent,
    TemplateHashes,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Everything that is wanted of one pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Desired {
    /// Whose pool this is.
    pub identity: Identity,
    /// Whether the pool shall exist.
    pub goal: Goal,
    /// Paused: nothing at all is done, only looked at.
    pub pause: Option<PausedBy>,
    /// What must be there before the first AWS write and is not; empty when all is there.
    pub missing: Vec<Blocked>,
    /// Size and who decides on it.
    pub size: Size,
    /// What new instances are made of.
    pub template: Wanted<Template>,
    /// Settings of the group itself.
    pub group: GroupConfig,
    /// Rules of scaling in.
    pub scale_in: ScaleIn,
    /// Rules of replacing what is outdated.
    pub rollout: Rollout,
    /// Rules of replacing what is sick.
    pub remediation: Remediation,
    /// What follows from AWS's announcements.
    pub interruption: Interruption,
    /// Timeouts that every Machine of the pool gets.
    pub timeouts: DeletionTimeouts,
    /// Warnings about the user's input that stop nothing.
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
    /// Name of the group, and of its launch template.
    pub group: GroupName,
    /// Id of the management cluster: the group says which one it belongs to.
    pub installation: String,
    /// Id of the management cluster that a person says has given the pool up to this one.
    pub adopt_from: Option<String>,
}

/// Whether the pool shall exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Goal {
    /// It shall run.
    Run,
    /// It is being deleted.
    Remove,
    /// It was moved to another management cluster (`clusterctl.cluster.x-k8s.io/delete-for-move`): let go of
    /// everything, touch nothing in AWS.
    Orphan,
}

/// Who paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PausedBy {
    /// Cluster.spec.paused.
    Cluster,
    /// The annotation `cluster.x-k8s.io/paused` on the FooMachinePool.
    Annotation,
}

/// A reason why something cannot go on, for people: reason and a sentence that stays the same while the
/// cause stays the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Blocked {
    /// Reason of the condition.
    pub reason: Reason,
    /// Its message.
    pub message: String,
}

/// A part of the desired replicas that can be unusable without the rest being so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wanted<T> {
    /// Usable.
    Ready(T),
    /// Not usable: what exists keeps running as it is.
    Blocked(Blocked),
}

/// How many instances, and who says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Size {
    /// Nobody knows: the MachinePool is not there or cannot be read, or the bounds of an external size are missing.
    /// What exists stays as it is; nothing that depends on the size is decided.
    Unknown,
    /// MachinePool.spec.replicas decides, up to a ceiling.
    Replicas {
        /// MachinePool.spec.replicas (1 if absent).
        wanted: u32,
        /// FooMachinePool.spec.maxSize: never passed, surge included.
        ceiling: Option<u32>,
    },
    /// Somebody else decides through the group (`cluster.x-k8s.io/replicas-managed-by`): desired capacity is never
    /// written, MachinePool.spec.replicas follows it.
    External {
        /// MinSize of the group.
        min: u32,
        /// MaxSize of the group.
        max: u32,
        /// MachinePool.spec.replicas as it stands.
        published: u32,
    },
}

/// What new instances are made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// The content.
    pub content: TemplateContent,
    /// Hash of all that rolls nodes.
    pub spec_hash: SpecHash,
    /// Hash of the user data.
    pub data_hash: SpecHash,
    /// Hash of the name of the Secret it comes from: user data of the same Secret fits content of another hash, too.
    pub source_hash: SpecHash,
}

/// Wanted settings of the group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupConfig {
    /// Subnets.
    pub subnets: Wanted<BTreeSet<SubnetId>>,
    /// The mix of types, if the pool has one.
    pub mix: Option<InstancesMix>,
    /// Tags beside the ownership tags.
    pub tags: BTreeMap<String, String>,
}

/// Rules of scaling in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScaleIn {
    /// Which of equals goes first.
    pub policy: VictimPolicy,
    /// How many Machines may be draining at once by our own choice; at least 1. Marked Machines are not held back.
    pub max_concurrent_drains: u32,
    /// How long the desired replicas must have been as low as it is, and no launch have failed to come, before unmarked Machines with
    /// a registered Node are taken for it.
    pub stabilization: Seconds,
}

/// Which of equals goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VictimPolicy {
    /// The oldest Machine.
    Oldest,
    /// The newest Machine.
    Newest,
}

/// Rules of replacing what was launched from outdated content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rollout {
    /// Who replaces it.
    pub strategy: Strategy,
    /// How many instances beyond the desired replicas replacements may come in advance; shares are rounded up.
    pub max_surge: IntOrPercent,
    /// How many instances fewer than the desired replicas may be available because of us; shares are rounded down.
    pub max_unavailable: IntOrPercent,
    /// How long a Node must have been Ready before its new instance counts as available.
    pub min_ready: Seconds,
    /// How long a new instance may take until it is available.
    pub ready_timeout: Seconds,
    /// What follows when one takes longer.
    pub on_failure: OnFailure,
    /// A person stopped the roll-out for a while.
    pub paused: bool,
}

/// Who replaces outdated instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strategy {
    /// We do.
    RollingUpdate,
    /// Whoever deletes their Machines.
    OnDelete,
}

/// What follows when new content does not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnFailure {
    /// Everything stays as it is; what must be launched is launched from the content before.
    Halt,
    /// What was launched from it is replaced by the content before.
    Rollback,
}

/// A number of instances, or a share of the desired replicas in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IntOrPercent {
    /// So many.
    Count(u32),
    /// So many of a hundred.
    Percent(u32),
}

impl IntOrPercent {
    /// Of so many, rounded up.
    pub fn up(self, of: u32) -> u32 {
        self.of(of, u64::div_ceil)
    }

    /// Of so many, rounded down.
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
    /// How many of so many instances may be unavailable because of us. With no surge either nothing could ever be
    /// replaced, so it is one then, as in Deployments.
    pub fn unavailable(&self, target: u32) -> u32 {
        match (self.max_unavailable.down(target), self.max_surge.up(target)) {
            (0, 0) => 1,
            (unavailable, _) => unavailable,
        }
    }
}

/// Rules of replacing what is sick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remediation {
    /// Whether it is done at all.
    pub enabled: bool,
    /// How many are replaced at once; shares are rounded up, and one always may be.
    pub max_in_flight: IntOrPercent,
    /// With more sick ones than this nothing is done: the cause lies elsewhere. Shares are rounded up.
    pub unhealthy_limit: IntOrPercent,
    /// How long a Node may take to join; `None`: for ever.
    pub join_timeout: Option<Seconds>,
}

/// What follows from what AWS announces about instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interruption {
    /// What follows from a rebalance recommendation.
    pub rebalance: Rebalance,
}

/// What follows from a rebalance recommendation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rebalance {
    /// Nothing.
    Ignore,
    /// Its Node gets no new pods; the instance stays.
    Cordon,
    /// The instance is replaced within the budgets of roll-outs, and not more often than the cool-down allows.
    Replace,
}

/// What to do about a name that somebody else has: it is immutable.
pub const ANOTHER_NAME: &str = "delete this pool and create it again with a spec.groupName of its own";

impl Template {
    /// What a version of it is found again by.
    pub fn hashes(&self) -> TemplateHashes {
        TemplateHashes {
            spec: self.spec_hash.clone(),
            data: self.data_hash.clone(),
            source: Some(self.source_hash.clone()),
        }
    }
}

impl Identity {
    /// The two tags that say that a group or template is this pool's.
    pub fn ownership_tags(&self) -> BTreeMap<String, String> {
        BTreeMap::from([
            (TAG_CLUSTER.to_owned(), format!("{}/{}", self.namespace, self.cluster)),
            (TAG_POOL.to_owned(), self.pool.clone()),
        ])
    }

    /// All tags that say that a group is this pool's, and this management cluster's.
    pub fn group_tags(&self) -> BTreeMap<String, String> {
        let mut tags = self.ownership_tags();
        tags.insert(TAG_INSTALLATION.to_owned(), self.installation.clone());
        tags
    }

    /// Whether a group with these tags may be changed: it is this pool's, and no other management cluster's (invariant I12). One
    /// that names none was made before groups did.
    pub fn may_manage(&self, tags: &BTreeMap<String, String>) -> bool {
        self.owns(tags)
            && self.other_installation(tags).is_none_or(|other| Some(other) == self.adopt_from.as_deref())
    }

    /// Whether a group with these tags is another management cluster's by now, and shall become this one's.
    pub fn adopts(&self, tags: &BTreeMap<String, String>) -> bool {
        self.may_manage(tags) && self.other_installation(tags).is_some()
    }

    /// The other management cluster that these tags of a group name.
    pub fn other_installation<'t>(&self, tags: &'t BTreeMap<String, String>) -> Option<&'t str> {
        tags.get(TAG_INSTALLATION).map(String::as_str).filter(|id| *id != self.installation)
    }

    /// Whether these tags are this pool's, whichever management cluster it is in (invariant I12: what lacks them is never changed).
    pub fn owns(&self, tags: &BTreeMap<String, String>) -> bool {
        self.ownership_tags().iter().all(|(key, value)| tags.get(key) == Some(value))
    }

    /// Whose something is by its tags, if they are those of a pool.
    pub fn owner_by(group: GroupName, tags: &BTreeMap<String, String>) -> Option<Self> {
        let (namespace, cluster) = tags.get(TAG_CLUSTER)?.split_once('/')?;
        let pool = tags.get(TAG_POOL)?.clone();
        let installation = tags.get(TAG_INSTALLATION).cloned().unwrap_or_default();
        let (namespace, cluster) = (namespace.to_owned(), cluster.to_owned());
        Some(Self { namespace, pool, cluster, group, installation, adopt_from: None })
    }

    /// How another pool is called in what the users of this one read. Names in other namespaces are not for them.
    pub fn other_in_words(&self, other: &Self) -> String {
        if other.namespace == self.namespace {
            format!("FooMachinePool {} of Cluster {}", other.pool, other.cluster)
        } else {
            "a FooMachinePool of another namespace".to_owned()
        }
    }

    /// What was found by our name is not ours: whose it is, and what to do.
    pub(crate) fn somebody_elses(&self, what: &str, tags: &BTreeMap<String, String>) -> String {
        match Self::owner_by(self.group.clone(), tags) {
            Some(other) => {
                format!("{what} belongs to {} and is left alone; {ANOTHER_NAME}", self.other_in_words(&other))
            }
            None => format!(
                "{what} has no ownership tags of a FooMachinePool and is left alone; if it is this pool's, restore \
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

impl Blocked {
    /// A reason and its sentence.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }
}
