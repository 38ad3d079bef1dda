//! What is true of a pool and what it waits for, as data: conditions, counts, events and the next look all come
//! from here, so that status, logs and the plugin say the same.

use crate::action::{
    Action, GroupAction, HookAction, InstanceAction, MachineAction, PoolAction, TemplateAction,
};
use crate::observed::Ec2State;
use foo_model::{
    EventReason, InstanceId, LifecycleState, MachineName, Reason, SpecHash, TemplateVersion, Timestamp, Zone,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
use strum::{IntoStaticStr, VariantNames};

/// The outcome of a pass besides its actions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// All conditions of the pool in the order of [`ConditionKind`], `Ready` first. Every kind is always there, except
    /// `AutoscalerReady`, which is there only when something is wrong with the autoscaler's annotations.
    pub conditions: Vec<Condition>,
    /// Whether the pool's infrastructure is there. The publisher keeps it true once it was true.
    pub provisioned: bool,
    /// `None`: the group is not known well enough to say anything; what was published stays.
    pub counts: Option<Counts>,
    /// Instances that exist, as provider ids, sorted; published together with the counts. An id stays until its
    /// instance is gone.
    pub provider_ids: Option<Vec<String>>,
    /// What each FooMachine's status shall say, by name.
    pub machines: Vec<MachineReport>,
    /// FooMachines whose instance is not in the group, by name.
    #[serde(default)]
    pub outside: Vec<OutsideReport>,
    /// Launch template in use. `None`: not known, for example before the template was read; what was published
    /// stays.
    pub template: Option<TemplateReport>,
    /// How far the replacement of outdated instances is. `None`: not known; what was published stays.
    pub rollout: Option<RolloutReport>,
    /// How far each of AWS's announcements is, by instance.
    #[serde(default)]
    pub announcements: BTreeMap<InstanceId, AnnouncementState>,
    /// What to tell people, once.
    pub events: Vec<Event>,
    /// When to look again, and how.
    pub next: NextLook,
}

/// How far an announcement of AWS about an instance is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AnnouncementState {
    /// Something is still to be done about it.
    Pending,
    /// It was acted on, or nothing follows from it. It is worth knowing as long as the instance is there.
    Handled,
    /// It means nothing any more: the instance is gone, or it is too old.
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
    /// A sentence for people; may be empty when the condition is as it should be.
    pub message: String,
}

/// The conditions of a FooMachinePool, by the names that its status has them by.
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
    /// Somebody paused the pool.
    Paused,
    /// AWS accepts our credentials and they allow what we need.
    CredentialsReady,
    /// A launch template version with the wanted content exists.
    LaunchTemplateReady,
    /// The group exists, is ours, and has the wanted settings.
    AutoScalingGroupReady,
    /// The instances that were asked for came.
    CapacityAvailable,
    /// Instances are on their way up.
    ScalingUp,
    /// Machines are on their way out to reach the desired replicas.
    ScalingDown,
    /// Outdated instances are being replaced, or should be.
    RollingOut,
    /// Sick Machines are being replaced, or should be.
    Remediating,
    /// The pool is being removed.
    Deleting,
    /// The autoscaler's annotations on the MachinePool can be used. Absent when there are none.
    AutoscalerReady,
}

/// Status of a condition, as the status of the pool says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum Status {
    /// It holds.
    True,
    /// It does not.
    False,
    /// Nobody knows.
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
    /// Launched from a template version with the wanted spec hash.
    pub up_to_date: u32,
    /// The group's desired capacity.
    pub group_desired: u32,
    /// The group's minimum size.
    pub group_min: u32,
    /// The group's maximum size.
    pub group_max: u32,
}

/// What a FooMachine's status shall say about its instance in the group.
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
    /// Where it stands in its life.
    pub lifecycle: LifecycleState,
    /// Version it was launched from.
    pub template_version: Option<TemplateVersion>,
    /// Spec hash of that version.
    pub spec_hash: Option<SpecHash>,
    /// Whether it was launched from what all shall have; `None` while nobody knows.
    pub up_to_date: Option<bool>,
    /// Since when it waits for our terminating hook, and until when AWS lets it.
    pub hook_wait: Option<(Timestamp, Timestamp)>,
}

/// A FooMachine whose instance is not in the group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutsideReport {
    /// FooMachine.
    pub name: MachineName,
    /// Instance.
    pub instance: InstanceId,
    /// What EC2 says of it.
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

/// How far the replacement of outdated instances is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RolloutReport {
    /// Whether it goes on.
    pub phase: RolloutPhase,
    /// Spec hash that all instances shall have in the end.
    pub target_hash: SpecHash,
    /// Instances that have it.
    pub updated: u32,
    /// Instances that have another one.
    pub outdated: u32,
    /// What it waits for, or why it does not go on; empty when there is nothing to say.
    pub message: String,
}

/// Whether a roll-out goes on, by the names that status.rollout.phase has; from those a restarted manager reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum RolloutPhase {
    /// Nothing is outdated.
    Finished,
    /// Outdated instances wait for somebody to delete their Machines.
    OnDelete,
    /// A person stopped it.
    Paused,
    /// The new content cannot be made.
    Waiting,
    /// The new content is being made ready.
    Preparing,
    /// It goes on.
    Rolling,
    /// The new content does not work; nothing is replaced.
    Halted,
    /// The new content does not work; the content before comes back.
    RollingBack,
    /// The new content does not work; the content before is back.
    RolledBack,
}

/// An event on the FooMachinePool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// What happened; its severity follows from it.
    pub reason: EventReason,
    /// A sentence.
    pub message: String,
    /// What it is the news of: it is told only when that was done.
    pub about: EventTrigger,
}

/// The action that makes an event true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventTrigger {
    /// None: it is true anyway.
    Nothing,
    /// The deletion of that Machine, or its exclusion from draining.
    Machine(MachineName),
    /// The end of that instance.
    Instance(InstanceId),
    /// The completion of our hook for that instance.
    Hook(InstanceId),
    /// The group's creation.
    NewGroup,
    /// The change of the group.
    Group,
    /// A new version of the launch template.
    TemplateVersion,
    /// Giving up on new content.
    Verdict,
    /// The adoption of the group.
    Adoption,
}

impl EventTrigger {
    /// Whether it is that action.
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
            Self::Verdict => matches!(action, Action::Pool(PoolAction::Quarantine { .. })),
            Self::Adoption => matches!(action, Action::Group(GroupAction::TagGroup { .. })),
        }
    }
}

/// When to look again, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextLook {
    /// How often the observer shall look at the group.
    pub pace: Pace,
    /// Plan again after this long even if nothing happens; `None`: only when something happens.
    pub after: Option<Duration>,
}

/// How often the observer shall look at a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pace {
    /// Nothing is expected to change.
    Quiet,
    /// Something is under way that ends in its own time, and nothing is to be done when it does: instances shut down while
    /// others are being drained.
    Patient,
    /// Something is under way.
    Active,
}

/// Names, the first three of them: `a, b, c and 4 more`.
pub fn some_names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut names = names.into_iter();
    let shown = names.by_ref().take(3).collect::<Vec<_>>().join(", ");
    match names.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
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
        ];
        assert_eq!(ConditionKind::VARIANTS, conditions);
        assert_eq!(Status::VARIANTS, ["True", "False", "Unknown"]);
        let phases = [
            "Finished",
            "OnDelete",
            "Paused",
            "Waiting",
            "Preparing",
            "Rolling",
            "Halted",
            "RollingBack",
            "RolledBack",
        ];
        assert_eq!(RolloutPhase::VARIANTS, phases);
        assert_eq!(<&str>::from(RolloutPhase::RollingBack), "RollingBack");
        assert_eq!(<&str>::from(ConditionKind::ScalingUp), "ScalingUp");
    }

    #[test]
    fn three_are_named_and_the_others_counted() {
        assert_eq!(some_names(["a"]), "a");
        assert_eq!(some_names(["a", "b", "c"]), "a, b, c");
        assert_eq!(some_names(["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    }
}
