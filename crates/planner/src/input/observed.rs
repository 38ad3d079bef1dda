//! What is known about one pool, how old it is, and what is unknown.

use foo_model::hook::HookConfig;
use foo_model::{
    Adoption, Agreement, Applied, Aws, Comparison, FooMachine, FoundReservation, Group, HookName, InstanceId,
    LaunchTemplate, LifecycleHook, Machine, Notifications, Reason, Signal, SpecHash, TargetGroupArn, Targets,
    Timestamp,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Everything known about one pool at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// The present time.
    pub now: Timestamp,
    /// Whether the manager's clock and the API server's agree. All times in this struct are the manager's; those of Kubernetes were
    /// converted. Without agreement no age of a Kubernetes object is a reason to delete a Machine or to end an instance.
    #[serde(default)]
    pub clocks: Agreement,
    /// AWS's clock, compared with the manager's: what AWS dates is of another type, and has an age by its clock. Without agreement no
    /// such age is a reason to delete anything or to replace an instance.
    #[serde(default)]
    pub aws_clock: Comparison<Aws>,
    /// The group.
    pub group: LastRead<Option<Group>>,
    /// The launch template. While it is `Unknown`, the planner reads it only if a decision needs it.
    pub template: LastRead<Option<LaunchTemplate>>,
    /// Names of the pool's objects in the place where its spec keeps user data. `Unknown` if it keeps none, or before the first
    /// read.
    #[serde(default)]
    pub stored: LastRead<BTreeSet<String>>,
    /// The settings of our lifecycle hook; `None` if it does not exist.
    pub hook: LastRead<Option<HookConfig>>,
    /// The other lifecycle hooks of the group, from the same read; of no meaning without one.
    #[serde(default)]
    pub other_hooks: BTreeMap<HookName, LifecycleHook>,
    /// What the group reports to topics. `Unknown` before the first read, which a pool that neither has nor had any does not cause.
    #[serde(default)]
    pub notifications: LastRead<Notifications>,
    /// State reported by EC2 for instances that have a FooMachine but are no longer in the group, or are in
    /// `Terminating:Wait`.
    pub ec2_states: BTreeMap<InstanceId, Ec2State>,
    /// The health of the targets of each of the pool's target groups. `Unknown` if the pool does not ask for it, or
    /// before the first read.
    #[serde(default)]
    pub target_health: LastRead<BTreeMap<TargetGroupArn, Targets>>,
    /// The reservation of the pool's Capacity Block; `None` if EC2 does not know it. `Unknown` if the spec names no block, or before
    /// the first read of this one.
    #[serde(default)]
    pub capacity_block: LastRead<Option<FoundReservation>>,
    /// What AWS announced about instances of the group and has not withdrawn. An announcement may be lost,
    /// late or wrong, so acting on it must do no harm.
    #[serde(default)]
    pub signals: BTreeMap<InstanceId, Signal>,
    /// Our FooMachines, by name.
    pub foo_machines: Vec<FooMachine>,
    /// The Machines of the pool, by name.
    pub machines: Vec<Machine>,
    /// Whether our finalizer is on the FooMachinePool.
    pub finalizer: Finalizer,
    /// Whether the FooMachinePool blocks `clusterctl move`.
    #[serde(default)]
    pub move_block: MoveBlock,
    /// Content that failed in a roll-out, as recorded on the FooMachinePool, the latest last.
    pub quarantine: Vec<Quarantine>,
    /// FooMachinePool.spec.providerID.
    pub recorded_arn: Option<String>,
    /// Whether the FooMachinePool has the annotation that its group was adopted.
    #[serde(default)]
    pub recorded_adoption: bool,
    /// What the FooMachinePool records of its spec as applied to the group.
    #[serde(default)]
    pub applied: Applied,
    /// Before this moment the planner decides nothing that depends on the group's size: a manager that just
    /// started, or just became the leader, does not know what its predecessor did last.
    pub size_decisions_from: Timestamp,
    /// Until then nothing is read that only confirms what an idle pool has: a manager that starts with many pools
    /// spreads these reads.
    #[serde(default)]
    pub confirmed_from: Timestamp,
    /// AWS's message on the last failed launch, if one failed lately. Shown to users; no decision depends on
    /// it.
    pub launch_failure: Option<String>,
    /// AWS's messages on why it terminates instances that wait for our hook, as far as they were read. Shown
    /// to users; no decision depends on them.
    #[serde(default)]
    pub termination_causes: BTreeMap<InstanceId, String>,
}

impl Observed {
    /// Whether the FooMachinePool records that this very group was adopted, and not one that was created after that was deleted.
    pub fn records_adoption_of(&self, group: &Group) -> bool {
        self.recorded_adoption && self.recorded_arn.as_ref() == Some(&group.arn)
    }

    /// Whether this group was adopted, according to its tags or, if another user removed the tag, to the FooMachinePool.
    pub fn was_adopted(&self, group: &Group) -> bool {
        group.was_adopted() || self.records_adoption_of(group)
    }

    /// Whether the pool is yet to adopt its group: the spec requests that, and the FooMachinePool names no group. Then it creates none.
    pub(crate) fn awaits_adoption(&self, adoption: Adoption) -> bool {
        adoption.is_requested() && self.recorded_arn.is_none()
    }
}

/// An observation with its age.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LastRead<T> {
    /// Never read, or void since a change by the provider.
    #[default]
    Unknown,
    /// The read failed.
    Failed {
        /// Reason of the conditions that follow.
        reason: Reason,
        /// AWS's message.
        message: String,
    },
    /// Read.
    At {
        /// When the request was sent.
        at: Timestamp,
        /// The response.
        seen: T,
    },
}

/// State reported by EC2 for an instance that is outside the group or leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ec2State {
    /// Terminated or shutting down.
    Gone,
    /// Alive: detached by a user, or not visible in the group yet. The provider leaves it alone.
    Alive,
    /// EC2 does not know the id, in each response between these two moments. This does not prove that the
    /// instance is gone: see [`NOT_FOUND_FOR`].
    NotFound {
        /// When EC2 first reported it.
        since: Timestamp,
        /// When EC2 last reported it.
        at: Timestamp,
    },
}

/// How long EC2 must report again and again that it does not know an instance before the instance counts as
/// gone.
///
/// EC2's reads trail its writes, "even for a few minutes" (EC2 Developer Guide, "Eventual consistency"), and
/// an impaired zone may hide all its instances for a while. Acting at once would delete the Nodes of running
/// instances without a drain. EC2 shows a terminated instance for an hour, so the wait concerns only
/// instances that terminated unobserved.
pub const NOT_FOUND_FOR: Duration = Duration::from_mins(5);

impl Ec2State {
    /// The state to act on: an id that EC2 has not known for long counts as gone.
    pub fn believed(self) -> Self {
        match self {
            Self::NotFound { since, at } if since.until(at) >= NOT_FOUND_FOR => Self::Gone,
            word => word,
        }
    }
}

/// Content that failed in a roll-out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantine {
    /// Its spec hash.
    pub hash: SpecHash,
    /// What failed, for users.
    pub message: String,
    /// What follows from it. In any case a rollback never goes to this content.
    pub verdict: Verdict,
}

/// What follows from a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// The desired content has changed since: this content may be tried again.
    Over,
    /// It is not tried again; a rollback may replace it.
    Stands,
    /// It is not tried again, and the rollback failed as well: no instance is replaced.
    Stuck,
}

/// Whether our finalizer is on the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Finalizer {
    /// It is.
    Present,
    /// It is not.
    Absent,
}

/// Whether the pool may be moved to another management cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MoveBlock {
    /// It may be moved.
    #[default]
    Free,
    /// It carries the annotation that blocks the move.
    Blocked,
}

impl<T> LastRead<T> {
    /// The value, if it was read.
    pub fn seen(&self) -> Option<&T> {
        match self {
            Self::At { seen, .. } => Some(seen),
            Self::Unknown | Self::Failed { .. } => None,
        }
    }

    /// When it was read.
    pub fn seen_at(&self) -> Option<Timestamp> {
        match self {
            Self::At { at, .. } => Some(*at),
            Self::Unknown | Self::Failed { .. } => None,
        }
    }
}
