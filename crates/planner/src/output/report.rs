//! What is true of a pool and what it waits for, as data. Conditions, counts, events and the next observation
//! all come from here, so that status, logs and the plugin agree.

use crate::action::{
    Action, GroupAction, HookAction, InstanceAction, MachineAction, ObjectAction, PoolAction, TemplateAction,
};
use crate::observed::Ec2State;
use foo_model::{
    EventReason, InstanceId, LifecycleState, MachineName, Reason, SpecHash, TemplateVersion, Timestamp, Zone,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
use strum::{IntoStaticStr, VariantNames};

/// The result of a plan besides its actions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// All conditions of the pool in the order of [`ConditionKind`], `Ready` first. Every kind is present,
    /// except `AutoscalerReady`, which is present only if the autoscaler's annotations are invalid, and
    /// `WarmPoolReady` and `CapacityBlockReady`.
    pub conditions: Vec<Condition>,
    /// Whether the pool's infrastructure exists. Once published as true it stays true.
    pub provisioned: bool,
    /// `None`: the group is not known well enough; the published counts stay.
    pub counts: Option<Counts>,
    /// Instances that exist, as sorted provider ids; published together with the counts. An id stays until
    /// its instance is gone.
    pub provider_ids: Option<Vec<String>>,
    /// The status of each FooMachine, by name.
    pub machines: Vec<MachineReport>,
    /// FooMachines whose instance is not in the group, by name.
    #[serde(default)]
    pub outside: Vec<OutsideReport>,
    /// The launch template in use. `None`: unknown, for example before the template was read; the published
    /// value stays.
    pub template: Option<TemplateReport>,
    /// The progress of the roll-out. `None`: unknown; the published value stays.
    pub rollout: Option<RolloutReport>,
    /// When the next instance reaches its lifetime, or has reached it. `None` if instances have none.
    #[serde(default)]
    pub next_expiry: Option<Timestamp>,
    /// How far each announcement of AWS is handled, by instance.
    #[serde(default)]
    pub announcements: BTreeMap<InstanceId, AnnouncementState>,
    /// Events to publish once.
    pub events: Vec<Event>,
    /// When to observe again, and how often.
    pub next: NextObservation,
}

/// How far an announcement about an instance is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AnnouncementState {
    /// The provider still has to act on it.
    Pending,
    /// The provider acted on it, or it needs no action. It is kept while the instance exists.
    Handled,
    /// It is void: the instance is gone, or the announcement is too old.
    Expired,
}

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Which.
    pub kind: ConditionKind,
    /// Whether it holds.
    pub status: Status,
    /// Why.
    pub reason: Reason,
    /// A sentence for users; may be empty if nothing is wrong.
    pub message: String,
}

/// The conditions of a FooMachinePool, by their names in its status.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    IntoStaticStr,
    VariantNames,
)]
pub enum ConditionKind {
    /// Summary of the others.
    Ready,
    /// A user paused the pool.
    Paused,
    /// AWS accepts the credentials, and they have the rights that the provider needs.
    CredentialsReady,
    /// A launch template version with the desired content exists.
    LaunchTemplateReady,
    /// The group exists, belongs to this pool, and has the desired settings.
    AutoScalingGroupReady,
    /// AWS launched the requested instances.
    CapacityAvailable,
    /// Instances are being launched.
    ScalingUp,
    /// Machines are being deleted to reach the desired replicas.
    ScalingDown,
    /// Outdated or expired instances are being replaced, or should be.
    RollingOut,
    /// Unhealthy Machines are being replaced, or should be.
    Remediating,
    /// The pool is being removed.
    Deleting,
    /// The autoscaler's annotations on the MachinePool are valid. Absent without such annotations.
    AutoscalerReady,
    /// The group has the warm pool of the spec. Absent if the spec names none and the provider has none.
    WarmPoolReady,
    /// Instances can run in the Capacity Block of the spec. Absent if the spec names none.
    CapacityBlockReady,
}

/// Status of a condition, by its name in the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum Status {
    /// It holds.
    True,
    /// It does not.
    False,
    /// It cannot be determined.
    Unknown,
}

/// Replica counts, in instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Instances that exist: the length of the provider id list.
    pub replicas: u32,
    /// The desired replicas, within its bounds.
    pub desired: u32,
    /// In service with a Ready Node.
    pub ready: u32,
    /// Launched from a template version with the desired spec hash.
    pub up_to_date: u32,
    /// The group's desired capacity.
    pub group_desired: u32,
    /// The group's minimum size.
    pub group_min: u32,
    /// The group's maximum size.
    pub group_max: u32,
    /// Instances in the group's warm pool, whoever created it. `None` without one.
    #[serde(default)]
    pub warm: Option<u32>,
}

/// The status of a FooMachine whose instance is in the group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineReport {
    /// FooMachine.
    pub name: MachineName,
    /// Instance.
    pub instance: InstanceId,
    /// Zone.
    pub zone: Zone,
    /// Type.
    pub instance_type: String,
    /// Its lifecycle state.
    pub lifecycle: LifecycleState,
    /// Version it was launched from.
    pub template_version: Option<TemplateVersion>,
    /// Spec hash of that version.
    pub spec_hash: Option<SpecHash>,
    /// Whether it was launched from the desired content; `None` while that is unknown.
    pub up_to_date: Option<bool>,
    /// Since when it waits for our lifecycle hook, and when AWS stops waiting.
    pub hook_wait: Option<(Timestamp, Timestamp)>,
}

/// A FooMachine whose instance is not in the group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutsideReport {
    /// FooMachine.
    pub name: MachineName,
    /// Instance.
    pub instance: InstanceId,
    /// The state that EC2 reports.
    pub ec2_state: Ec2State,
}

/// Launch template in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateReport {
    /// Its id.
    pub id: String,
    /// Version new instances launch from.
    pub version: TemplateVersion,
    /// Its spec hash.
    pub spec_hash: SpecHash,
}

/// The progress of a roll-out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RolloutReport {
    /// Its phase.
    pub phase: RolloutPhase,
    /// Spec hash that all instances get.
    pub target_hash: SpecHash,
    /// Instances that have it.
    pub updated: u32,
    /// Instances that have another one.
    pub outdated: u32,
    /// What it waits for, or why it does not progress; empty if there is nothing to report.
    pub message: String,
}

/// The phase of a roll-out, by its name in status.rollout.phase; a restarted manager reads it from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum RolloutPhase {
    /// Nothing is outdated.
    Finished,
    /// Outdated instances wait until a user deletes their Machines.
    OnDelete,
    /// A user paused it.
    Paused,
    /// The launch template for the new content is blocked.
    Waiting,
    /// The launch template version or the group is being prepared.
    Preparing,
    /// It waits for a maintenance window.
    AwaitingWindow,
    /// Outdated instances are being replaced.
    Rolling,
    /// The new content failed; no instance is replaced.
    Halted,
    /// The new content failed; its instances are being replaced by instances of the previous content.
    RollingBack,
    /// The new content failed; the previous content is restored.
    RolledBack,
}

/// An event on the FooMachinePool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// What happened; its severity follows from it.
    pub reason: EventReason,
    /// A sentence.
    pub message: String,
    /// The action that it depends on: it is published only after that action was carried out.
    pub about: EventTrigger,
}

/// The action that an event depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventTrigger {
    /// None.
    Nothing,
    /// The deletion of that Machine, or its exclusion from draining.
    Machine(MachineName),
    /// The termination of that instance.
    Instance(InstanceId),
    /// The completion of the lifecycle action of that instance.
    Hook(InstanceId),
    /// The group's creation.
    NewGroup,
    /// The change of the group.
    Group,
    /// A new version of the launch template.
    TemplateVersion,
    /// User data written to S3.
    UserData,
    /// The record that new content failed.
    Verdict,
    /// The adoption of the group.
    Adoption,
    /// The tag that says that the group is not managed any more.
    Retention,
    /// The deletion of the warm pool.
    WarmPool,
    /// The creation of that FooMachine.
    NewFooMachine(MachineName),
}

impl EventTrigger {
    /// Whether the event depends on this action.
    pub fn is(&self, action: &Action) -> bool {
        match self {
            Self::Nothing => false,
            Self::Machine(machine) => matches!(
                action,
                Action::Machine(MachineAction::DeleteMachine { name, .. } | MachineAction::ExcludeFromDraining { name, .. })
                if name == machine
            ),
            Self::Instance(instance) => {
                matches!(action, Action::Instance(InstanceAction::TerminateInstance { id, .. }) if id == instance)
            }
            Self::Hook(instance) => {
                matches!(action, Action::Hook(HookAction::CompleteLifecycleAction { id, .. }) if id == instance)
            }
            Self::NewGroup => matches!(action, Action::Group(GroupAction::CreateGroup(_))),
            Self::Group => {
                matches!(action, Action::Group(GroupAction::UpdateGroup { change, .. }) if change.desired.is_some())
            }
            Self::TemplateVersion => matches!(
                action,
                Action::Template(
                    TemplateAction::CreateTemplateVersion { .. } | TemplateAction::CopyTemplateVersion { .. }
                )
            ),
            Self::UserData => matches!(action, Action::Object(ObjectAction::StoreUserData { .. })),
            Self::Verdict => matches!(action, Action::Pool(PoolAction::Quarantine { .. })),
            Self::Adoption => {
                matches!(action, Action::Group(GroupAction::AdoptGroup { .. } | GroupAction::TagGroup { .. }))
            }
            Self::Retention => matches!(action, Action::Group(GroupAction::TagGroup { .. })),
            Self::WarmPool => matches!(action, Action::Group(GroupAction::DeleteWarmPool { .. })),
            Self::NewFooMachine(machine) => matches!(
                action,
                Action::Machine(MachineAction::CreateFooMachine { name, .. }) if name == machine
            ),
        }
    }
}

/// When to observe again, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextObservation {
    /// How often the observer describes the group.
    pub pace: Pace,
    /// Plan again after this time even if nothing changes; `None`: only after a change.
    pub after: Option<Duration>,
}

/// How often the observer describes a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pace {
    /// No change is expected.
    Quiet,
    /// Work in progress takes its own time and needs no action when it completes: instances shut down while
    /// others drain.
    Patient,
    /// Work is in progress.
    Active,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_in_statuses_and_metrics_stay() {
        let conditions = [
            "Ready",
            "Paused",
            "CredentialsReady",
            "LaunchTemplateReady",
            "AutoScalingGroupReady",
            "CapacityAvailable",
            "ScalingUp",
            "ScalingDown",
            "RollingOut",
            "Remediating",
            "Deleting",
            "AutoscalerReady",
            "WarmPoolReady",
            "CapacityBlockReady",
        ];
        assert_eq!(ConditionKind::VARIANTS, conditions);
        assert_eq!(Status::VARIANTS, ["True", "False", "Unknown"]);
        let phases = [
            "Finished",
            "OnDelete",
            "Paused",
            "Waiting",
            "Preparing",
            "AwaitingWindow",
            "Rolling",
            "Halted",
            "RollingBack",
            "RolledBack",
        ];
        assert_eq!(RolloutPhase::VARIANTS, phases);
        assert_eq!(<&str>::from(RolloutPhase::RollingBack), "RollingBack");
        assert_eq!(<&str>::from(ConditionKind::ScalingUp), "ScalingUp");
    }
}
