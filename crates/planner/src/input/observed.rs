//! What is known of one pool, how old it is, and what is not known.

use foo_model::hook::HookConfig;
use foo_model::{
    FooMachine, Group, InstanceId, LaunchTemplate, Machine, Reason, Signal, SpecHash, Timestamp,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Everything known of one pool at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// Now.
    pub now: Timestamp,
    /// The group.
    pub group: Look<Option<Group>>,
    /// The launch template. `Unknown` asks for a look only when a decision needs it.
    pub template: Look<Option<LaunchTemplate>>,
    /// The terms of our terminating hook; `None` where there is none.
    pub hook: Look<Option<HookConfig>>,
    /// EC2's own word on instances for which a FooMachine stands, and that are not in the group or wait in it for their end.
    pub ec2_states: BTreeMap<InstanceId, Ec2State>,
    /// What AWS announced about instances of the group and has not taken back. It may be lost, late or wrong: whatever it
    /// leads to must do no harm.
    #[serde(default)]
    pub signals: BTreeMap<InstanceId, Signal>,
    /// Our FooMachines, by name.
    pub foo_machines: Vec<FooMachine>,
    /// The Machines of the pool, by name.
    pub machines: Vec<Machine>,
    /// Whether our finalizer is on the FooMachinePool.
    pub finalizer: Finalizer,
    /// Whether the FooMachinePool says that it must not be moved.
    #[serde(default)]
    pub move_block: MoveBlock,
    /// Content that roll-outs gave up on, as recorded on the FooMachinePool, the latest last.
    pub quarantine: Vec<Quarantine>,
    /// FooMachinePool.spec.providerID.
    pub recorded_arn: Option<String>,
    /// Before this moment nothing that depends on the group's size is decided: a manager that just started or took
    /// the lead does not know what its predecessor did a moment ago.
    pub size_decisions_from: Timestamp,
    /// AWS's words on the last failed launch, if one failed lately: why capacity does not come. Only shown, never
    /// decided on.
    pub launch_failure: Option<String>,
    /// AWS's words on why it ends instances that wait for our hook, as far as it was asked. Only shown, never decided on.
    #[serde(default)]
    pub termination_causes: BTreeMap<InstanceId, String>,
}

/// Knowledge with its age.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Look<T> {
    /// Never looked, or what was seen is void since a change of ours.
    Unknown,
    /// Looking failed.
    Failed {
        /// Reason of the conditions that follow.
        reason: Reason,
        /// What AWS said.
        message: String,
    },
    /// Seen.
    At {
        /// When the question was sent.
        at: Timestamp,
        /// The answer.
        seen: T,
    },
}

/// EC2's word on an instance outside the group, or on its way out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ec2State {
    /// Terminated or shutting down, in EC2's own words: gone.
    Gone,
    /// Still alive: detached by somebody, or not yet visible in the group. Hands off.
    Alive,
    /// EC2 does not know the id, and said nothing else each time it was asked between these two moments. That is no
    /// word of its end: see [`NOT_FOUND_FOR`].
    NotFound {
        /// When it first said so.
        since: Timestamp,
        /// When it last said so.
        at: Timestamp,
    },
}

/// How long EC2 must say again and again that it does not know an instance before that counts as its end.
///
/// EC2's reads trail what it did, "even for a few minutes" (EC2 Developer Guide, "Eventual consistency"), and a disturbed
/// zone may hide all its instances for a while; whoever believes that at once ends living nodes without a drain. An
/// instance that ended is shown as terminated for an hour, so only one that ended while nobody looked must be waited for.
pub const NOT_FOUND_FOR: Duration = Duration::from_mins(5);

impl Ec2State {
    /// The word as far as it is believed: an id that EC2 has not known for long is that of an instance that is gone.
    pub fn believed(self) -> Self {
        match self {
            Self::NotFound { since, at } if since.until(at) >= NOT_FOUND_FOR => Self::Gone,
            word => word,
        }
    }
}

/// Content that did not work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantine {
    /// Its spec hash.
    pub hash: SpecHash,
    /// What failed, for people.
    pub message: String,
    /// What follows from it. In any case it is nothing to go back to.
    pub verdict: Verdict,
}

/// What follows from a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// Something else was desired since: it may be tried again.
    Over,
    /// It is not tried again; what was there before may come back.
    Stands,
    /// It is not tried again, and the way back failed as well: everything stays as it is.
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
    /// Nothing stands in the way.
    #[default]
    Free,
    /// It says that it must not be.
    Blocked,
}

impl<T> Look<T> {
    /// The answer, if there is one.
    pub fn seen(&self) -> Option<&T> {
        match self {
            Self::At { seen, .. } => Some(seen),
            Self::Unknown | Self::Failed { .. } => None,
        }
    }

    /// When it was seen.
    pub fn seen_at(&self) -> Option<Timestamp> {
        match self {
            Self::At { at, .. } => Some(*at),
            Self::Unknown | Self::Failed { .. } => None,
        }
    }
}
