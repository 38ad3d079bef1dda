//! The rules by name, and their violations.

use crate::action::ActionKind;
use foo_model::{GroupName, InstanceId, MachineName, SpecHash, TemplateVersion};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a plan breaks a rule, with the values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A Machine is deleted for a roll-out or because of its age although no maintenance window is open.
    ReplacedOutsideWindow {
        /// The Machine.
        machine: MachineName,
    },
    /// An action on a pool that is paused or was moved away.
    NotManaged {
        /// The action.
        action: ActionKind,
    },
    /// A call that names another group.
    NamesAnotherGroup {
        /// The action.
        action: ActionKind,
        /// The group.
        group: GroupName,
    },
    /// A call to a group that is not this pool's or was not read.
    ForeignGroup {
        /// The action.
        action: ActionKind,
    },
    /// A change of a group that still belongs to another management cluster.
    NotAdoptedYet {
        /// The action.
        action: ActionKind,
    },
    /// A change of a template of another management cluster.
    AnotherInstallationsTemplate {
        /// The action.
        action: ActionKind,
    },
    /// A change of a template that is not this pool's or was not read.
    ForeignTemplate {
        /// The action.
        action: ActionKind,
    },
    /// Something is created in AWS without our finalizer.
    WithoutFinalizer {
        /// The action.
        action: ActionKind,
    },
    /// Something is created in AWS without the move block.
    WhileMovable {
        /// The action.
        action: ActionKind,
    },
    /// The move block is removed although the group was not read.
    MovesFreedUnseen,
    /// One plan terminates an instance twice.
    TerminatedTwice {
        /// The instance.
        id: InstanceId,
    },
    /// An instance is terminated that the provider terminated a moment ago.
    TerminatedLately {
        /// The instance.
        id: InstanceId,
    },
    /// An instance is terminated that Cluster API has not released.
    TerminatedUndrained {
        /// The instance.
        id: InstanceId,
    },
    /// An instance is terminated that is not in the group or already terminating.
    TerminatedMissing {
        /// The instance.
        id: InstanceId,
    },
    /// New instances are to launch without protection from scale-in.
    LaunchesUnprotected {
        /// The action.
        action: ActionKind,
    },
    /// Settings of an adopted group change before AWS waits for drains.
    ChangedUnsecured {
        /// The action.
        action: ActionKind,
    },
    /// A Machine is excluded from draining although its instance may exist.
    ExcludedAlive {
        /// The Machine.
        machine: MachineName,
    },
    /// One plan deletes a Machine twice.
    DeletedTwice {
        /// The Machine.
        machine: MachineName,
    },
    /// A Machine is deleted that does not exist or is being deleted.
    DeletedAbsent {
        /// The Machine.
        machine: MachineName,
    },
    /// A Machine is deleted that the provider deleted a moment ago.
    DeletedLately {
        /// The Machine.
        machine: MachineName,
    },
    /// A Machine is deleted without a cause.
    DeletedWithoutCause {
        /// The Machine.
        machine: MachineName,
    },
    /// One plan completes the lifecycle action of an instance twice.
    CompletedTwice {
        /// The instance.
        id: InstanceId,
    },
    /// The lifecycle action of an instance is completed although the instance does not wait for it.
    CompletedNotWaiting {
        /// The instance.
        id: InstanceId,
    },
    /// The lifecycle action of an instance is completed before Cluster API released it.
    CompletedUndrained {
        /// The instance.
        id: InstanceId,
    },
    /// A FooMachine loses our finalizer while its instance may be alive.
    FooMachineReleasedEarly {
        /// The FooMachine.
        foo_machine: MachineName,
    },
    /// The pool loses our finalizer while something that it owns may exist.
    FinalizerRemovedEarly,
    /// The objects of an instance that stays are removed although Cluster API would drain it, or is draining it.
    RetainedUndrained {
        /// The Machine.
        machine: MachineName,
    },
    /// Our hook is deleted while instances are to be drained.
    HookDeletedEarly,
    /// What the spec does not name is removed from the group, or what it names is set, without a record that it was named.
    Unrecorded {
        /// The hook, process, topic or warm pool.
        name: String,
    },
    /// A warm pool gets instances that may join the cluster, or may have been Nodes, or have another launch template version than the record
    /// says.
    WarmsUnsuitable,
    /// A decision on size with an old observation, or before the manager is settled.
    BeforeSettled {
        /// The action.
        action: ActionKind,
    },
    /// A group is created with more instances than desired.
    CreatedTooLarge {
        /// Its desired capacity.
        desired: u32,
        /// The desired replicas.
        target: u32,
    },
    /// Desired capacity is written although another controller manages it.
    ExternalSizeWritten,
    /// A termination lowers desired capacity although another controller manages it.
    ExternalSizeLowered {
        /// The instance.
        id: InstanceId,
    },
    /// Desired capacity is lowered below what exists: AWS would choose which instances to terminate.
    LoweredBelowExisting {
        /// Before.
        before: u32,
        /// After.
        after: u32,
        /// Instances that exist.
        existing: u32,
    },
    /// Desired capacity is written below what exists.
    WrittenBelowExisting {
        /// What is written.
        written: u32,
        /// Instances that exist.
        existing: u32,
    },
    /// A termination lowers desired capacity below the desired replicas.
    TerminationLowersBelowDesired {
        /// The instance.
        id: InstanceId,
        /// After.
        after: u32,
        /// The desired replicas.
        target: u32,
    },
    /// Desired capacity is raised above target, surge and interrupted instances.
    RaisedAboveLimit {
        /// After.
        after: u32,
        /// The limit.
        limit: u32,
    },
    /// Desired capacity is raised above the maximum.
    RaisedAboveCeiling {
        /// After.
        after: u32,
        /// The maximum.
        ceiling: u32,
    },
    /// The precondition of a deletion names other desired replicas than the present ones.
    DeletedForOtherReplicas {
        /// The Machine.
        machine: MachineName,
        /// The desired replicas in the precondition.
        requested: u32,
        /// The desired replicas.
        target: u32,
    },
    /// More marked Machines are deleted than there are too many, launched or not.
    TooManyMarkedGo {
        /// How many are deleted.
        going: u32,
        /// How many are too many.
        excess: u32,
    },
    /// More Machines are deleted than there are too many.
    TooManyGo {
        /// How many are deleted.
        going: u32,
        /// How many are too many.
        excess: u32,
    },
    /// Replacements leave fewer Machines available than the limit requires.
    TooFewAvailable {
        /// How many stay available.
        left: u32,
        /// How many must.
        floor: u32,
    },
    /// The group is to launch content that failed.
    LaunchesQuarantined {
        /// Its spec hash.
        hash: SpecHash,
    },
    /// The group is to launch other images than those of its launch template version, or lacks types that have one.
    LaunchesOtherImages {
        /// The version.
        version: TemplateVersion,
    },
}

/// The rules, with the numbers of the invariants in ARCHITECTURE.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Rule {
    /// I1: an instance is terminated only if Cluster API released its FooMachine, or in a removal if it has
    /// neither FooMachine nor Machine. No instance is terminated twice.
    EndsOnlyReleased,
    /// I1, from the other side: a healthy Machine is deleted only because of an excess, a replacement, an
    /// announcement of AWS or a removal, and never twice.
    DeletesOnlyWithCause,
    /// I2: desired capacity is never written below the number of instances that exist.
    DesiredCoversExisting,
    /// I4: desired capacity is raised at most to target plus surge plus interrupted instances, and not above
    /// the maximum.
    RaisesWithinDesired,
    /// I7: a delete-machine annotation without an excess deletes nothing, and no more Machines are deleted
    /// than there are too many.
    VictimsWithinExcess,
    /// I12: what lacks our ownership tags is never changed, nor what other users set in the group.
    OwnOnly,
    /// A paused pool is left alone, except for the ARN that a move waits for; of a moved pool only the
    /// finalizers are removed.
    HandsOff,
    /// Our finalizer and the move block come before anything is created in AWS.
    FinalizerFirst,
    /// Decisions on size wait for a settled manager and a fresh observation.
    SettledFirst,
    /// The provider does not write desired capacity that another controller manages.
    ExternalSize,
    /// I5: the lifecycle action is completed for instances that wait for our hook, once, and not before
    /// Cluster API released them, unless there is no Machine or AWS stops waiting.
    CompletesOnlyDrained,
    /// I3: a serving Machine is deleted for a replacement only while enough others are available.
    StaysAvailable,
    /// I3: outside of maintenance windows no Machine is deleted for a roll-out or because of its age.
    ReplacesInWindows,
    /// I9: failed content is not launched again.
    LaunchesNoQuarantined,
    /// I9: each instance type boots the image of its architecture that the launch template version records, and no type that has
    /// one is left out.
    LaunchesImagesOfVersion,
    /// Our finalizer stays on a FooMachine while its instance may be alive, and on the pool while anything
    /// that it owns is left. Of an instance that stays, the objects go only while Cluster API leaves them alone, and our
    /// hook after them.
    FinalizersLast,
}

impl Rule {
    /// All rules, for metrics.
    pub const ALL: [Self; 16] = [
        Self::EndsOnlyReleased,
        Self::DeletesOnlyWithCause,
        Self::DesiredCoversExisting,
        Self::RaisesWithinDesired,
        Self::VictimsWithinExcess,
        Self::OwnOnly,
        Self::HandsOff,
        Self::FinalizerFirst,
        Self::SettledFirst,
        Self::ExternalSize,
        Self::CompletesOnlyDrained,
        Self::StaysAvailable,
        Self::ReplacesInWindows,
        Self::LaunchesNoQuarantined,
        Self::LaunchesImagesOfVersion,
        Self::FinalizersLast,
    ];

    /// Its stable name, for metrics and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::EndsOnlyReleased => "ends-only-released",
            Self::DeletesOnlyWithCause => "deletes-only-with-cause",
            Self::DesiredCoversExisting => "desired-covers-existing",
            Self::RaisesWithinDesired => "raises-within-target",
            Self::VictimsWithinExcess => "victims-within-excess",
            Self::OwnOnly => "own-only",
            Self::HandsOff => "hands-off",
            Self::FinalizerFirst => "finalizer-first",
            Self::SettledFirst => "settled-first",
            Self::ExternalSize => "external-size",
            Self::CompletesOnlyDrained => "completes-only-drained",
            Self::StaysAvailable => "stays-available",
            Self::ReplacesInWindows => "replaces-in-windows",
            Self::LaunchesNoQuarantined => "launches-no-quarantined",
            Self::LaunchesImagesOfVersion => "launches-images-of-version",
            Self::FinalizersLast => "finalizers-last",
        }
    }
}

impl Violation {
    /// The rule that it breaks.
    pub fn rule(&self) -> Rule {
        match self {
            Self::NotManaged { .. } => Rule::HandsOff,
            Self::NamesAnotherGroup { .. }
            | Self::ForeignGroup { .. }
            | Self::NotAdoptedYet { .. }
            | Self::AnotherInstallationsTemplate { .. }
            | Self::ForeignTemplate { .. }
            | Self::Unrecorded { .. } => Rule::OwnOnly,
            Self::WithoutFinalizer { .. } | Self::WhileMovable { .. } | Self::MovesFreedUnseen => {
                Rule::FinalizerFirst
            }
            Self::TerminatedTwice { .. }
            | Self::TerminatedLately { .. }
            | Self::TerminatedUndrained { .. }
            | Self::TerminatedMissing { .. }
            | Self::LaunchesUnprotected { .. }
            | Self::ChangedUnsecured { .. }
            | Self::WarmsUnsuitable
            | Self::ExcludedAlive { .. } => Rule::EndsOnlyReleased,
            Self::DeletedTwice { .. }
            | Self::DeletedAbsent { .. }
            | Self::DeletedLately { .. }
            | Self::DeletedWithoutCause { .. } => Rule::DeletesOnlyWithCause,
            Self::CompletedTwice { .. }
            | Self::CompletedNotWaiting { .. }
            | Self::CompletedUndrained { .. } => Rule::CompletesOnlyDrained,
            Self::FooMachineReleasedEarly { .. }
            | Self::FinalizerRemovedEarly
            | Self::RetainedUndrained { .. }
            | Self::HookDeletedEarly => Rule::FinalizersLast,
            Self::BeforeSettled { .. } => Rule::SettledFirst,
            Self::CreatedTooLarge { .. }
            | Self::RaisedAboveLimit { .. }
            | Self::RaisedAboveCeiling { .. } => Rule::RaisesWithinDesired,
            Self::ExternalSizeWritten | Self::ExternalSizeLowered { .. } => Rule::ExternalSize,
            Self::LoweredBelowExisting { .. }
            | Self::WrittenBelowExisting { .. }
            | Self::TerminationLowersBelowDesired { .. } => Rule::DesiredCoversExisting,
            Self::DeletedForOtherReplicas { .. } | Self::TooManyMarkedGo { .. } | Self::TooManyGo { .. } => {
                Rule::VictimsWithinExcess
            }
            Self::TooFewAvailable { .. } => Rule::StaysAvailable,
            Self::ReplacedOutsideWindow { .. } => Rule::ReplacesInWindows,
            Self::LaunchesQuarantined { .. } => Rule::LaunchesNoQuarantined,
            Self::LaunchesOtherImages { .. } => Rule::LaunchesImagesOfVersion,
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.rule().name())?;
        match self {
            Self::NotManaged { action } => write!(f, "{action} of a pool that the provider must not act on"),
            Self::NamesAnotherGroup { action, group } => write!(f, "{action} names another group, {group}"),
            Self::ForeignGroup { action } => write!(f, "{action} of a foreign group"),
            Self::NotAdoptedYet { action } => {
                write!(f, "{action} before the group is this management cluster's")
            }
            Self::AnotherInstallationsTemplate { action } => {
                write!(f, "{action} of another management cluster's template")
            }
            Self::ForeignTemplate { action } => write!(f, "{action} of a foreign template"),
            Self::WithoutFinalizer { action } => write!(f, "{action} without the provider's finalizer"),
            Self::WhileMovable { action } => write!(f, "{action} while the pool may be moved"),
            Self::MovesFreedUnseen => f.write_str("moves are allowed although the group was not read"),
            Self::TerminatedTwice { id } => write!(f, "{id} is terminated twice in one plan"),
            Self::TerminatedLately { id } => write!(f, "{id} was terminated a moment ago"),
            Self::TerminatedUndrained { id } => write!(f, "{id} is terminated before its Machine is drained"),
            Self::TerminatedMissing { id } => write!(f, "{id} does not exist, or is terminating already"),
            Self::LaunchesUnprotected { action } => {
                write!(f, "{action} lets new instances launch without protection from scale-in")
            }
            Self::ChangedUnsecured { action } => {
                write!(
                    f,
                    "{action} changes an adopted group without hook or protection, in which AWS may then terminate instances"
                )
            }
            Self::ExcludedAlive { machine } => {
                write!(f, "Machine {machine} is excluded from draining although its instance may exist")
            }
            Self::DeletedTwice { machine } => write!(f, "Machine {machine} is deleted twice in one plan"),
            Self::DeletedAbsent { machine } => {
                write!(f, "Machine {machine} does not exist, or is being deleted already")
            }
            Self::DeletedLately { machine } => write!(f, "Machine {machine} was deleted a moment ago"),
            Self::DeletedWithoutCause { machine } => {
                write!(f, "Machine {machine} is deleted without a cause")
            }
            Self::CompletedTwice { id } => write!(f, "the hook of {id} is completed twice in one plan"),
            Self::CompletedNotWaiting { id } => write!(f, "{id} does not wait for a hook"),
            Self::CompletedUndrained { id } => {
                write!(f, "the hook of {id} is completed before its Machine is drained")
            }
            Self::Unrecorded { name } => {
                write!(f, "{name} is set or removed in the group, and the FooMachinePool does not record it")
            }
            Self::WarmsUnsuitable => f.write_str(
                "a warm pool gets instances that may join the cluster, or have another version than the record",
            ),
            Self::FooMachineReleasedEarly { foo_machine } => {
                write!(f, "FooMachine {foo_machine} loses its finalizer while its instance may exist")
            }
            Self::FinalizerRemovedEarly => {
                f.write_str("the pool's finalizer is removed while something of it may exist")
            }
            Self::RetainedUndrained { machine } => {
                write!(f, "Machine {machine} is removed although Cluster API may be draining it")
            }
            Self::HookDeletedEarly => {
                f.write_str("the lifecycle hook is deleted although instances may have to be drained")
            }
            Self::BeforeSettled { action } => write!(f, "{action} before the pool is settled"),
            Self::CreatedTooLarge { desired, target } => {
                write!(f, "a group is created with {desired} instances, {target} are desired")
            }
            Self::ExternalSizeWritten => {
                f.write_str("desired capacity is set although an external autoscaler manages it")
            }
            Self::ExternalSizeLowered { id } => {
                write!(
                    f,
                    "terminating {id} lowers desired capacity although an external autoscaler manages it"
                )
            }
            Self::LoweredBelowExisting { before, after, existing } => {
                write!(f, "desired capacity is lowered from {before} to {after}, {existing} instances exist")
            }
            Self::WrittenBelowExisting { written, existing } => {
                write!(f, "desired capacity is set to {written}, {existing} instances exist")
            }
            Self::TerminationLowersBelowDesired { id, after, target } => {
                write!(f, "terminating {id} lowers desired capacity to {after}, {target} are desired")
            }
            Self::RaisedAboveLimit { after, limit } => {
                write!(f, "desired capacity is raised to {after}, at most {limit} make sense")
            }
            Self::RaisedAboveCeiling { after, ceiling } => {
                write!(f, "desired capacity is raised to {after}, above the maximum {ceiling}")
            }
            Self::DeletedForOtherReplicas { machine, requested, target } => {
                write!(f, "Machine {machine} is deleted for {requested} replicas, {target} are requested")
            }
            Self::TooManyMarkedGo { going, excess } => {
                write!(f, "{going} marked Machines are deleted, {excess} are too many")
            }
            Self::TooManyGo { going, excess } => {
                write!(f, "{going} Machines are deleted, {excess} are too many")
            }
            Self::TooFewAvailable { left, floor } => {
                write!(f, "Machines are replaced so that {left} are left available, {floor} must be")
            }
            Self::ReplacedOutsideWindow { machine } => {
                write!(f, "Machine {machine} is replaced although no maintenance window is open")
            }
            Self::LaunchesQuarantined { hash } => {
                write!(f, "the group is to launch {hash} again, which failed before")
            }
            Self::LaunchesOtherImages { version } => {
                write!(
                    f,
                    "the group is to launch other images or fewer types than launch template version {version} has"
                )
            }
        }
    }
}

#[derive(Default)]
pub(super) struct Found(pub(super) Vec<Violation>);

impl Found {
    pub(super) fn check(&mut self, holds: bool, violation: impl FnOnce() -> Violation) {
        if !holds {
            self.0.push(violation());
        }
    }
}
