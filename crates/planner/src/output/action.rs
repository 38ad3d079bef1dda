//! What the provider can do for a pool. An action is complete: the code that carries it out makes no
//! decision.
//!
//! A new action is a variant in its family. The compiler then leads through all code that handles actions:
//! `memory.rs`, `check/facts.rs`, `forecast/pool.rs`, and `pool/act/` in the controller.

use crate::observed::Quarantine;
use foo_model::hook::HookConfig;
use foo_model::{
    Applied, AwsTime, Decrement, DeletionTimeouts, GroupChange, GroupName, HookName, InstanceId,
    LaunchTemplateId, LifecycleHook, MachineName, NewGroup, NotificationType, Process, SpecHash, Storage,
    StoredUserData, TemplateContent, TemplateHashes, TemplateVersion, TopicArn, TrafficSource, Uid, UserData,
    WarmPoolSettings, Zone,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use strum::{IntoStaticStr, VariantNames};

/// One thing to do. Actions of a plan are carried out in order; one that fails delays only those that depend
/// on it.
///
/// A family says which object is written, which observations become void, and what depends on the action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Writes to the FooMachinePool and its MachinePool.
    Pool(PoolAction),
    /// Reads, whose results are inputs of the next plan.
    Read(ReadAction),
    /// Changes of the user data that is in S3.
    Object(ObjectAction),
    /// Changes of the launch template.
    Template(TemplateAction),
    /// Changes of the group itself.
    Group(GroupAction),
    /// Changes of members of the group, by name.
    Instance(InstanceAction),
    /// Calls about our lifecycle hook.
    Hook(HookAction),
    /// Writes to FooMachines and Machines.
    Machine(MachineAction),
    /// Writes to the workload cluster.
    Node(NodeAction),
}

/// Writes to the FooMachinePool and its MachinePool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum PoolAction {
    /// Put our finalizer on the FooMachinePool. Always before the first AWS write.
    AddFinalizer,
    /// Remove our finalizer from the FooMachinePool: nothing that it owns is left.
    RemoveFinalizer,
    /// Mark the FooMachinePool as not movable to another management cluster. Comes before anything is created
    /// in AWS that the spec does not name.
    BlockMove,
    /// Remove the move block.
    UnblockMove,
    /// Remove the annotation from the FooMachinePool that allowed adopting its group.
    ForgetAdoption,
    /// Write the annotation onto the FooMachinePool that its group was adopted. Comes before the adoption.
    RecordAdoption,
    /// Remove it: the pool creates a group of its own.
    ForgetAdopted,
    /// Write the group's ARN into FooMachinePool.spec.providerID.
    RecordArn {
        /// The ARN.
        arn: String,
    },
    /// Record failed content on the FooMachinePool. Comes before any action that follows from the failure.
    Quarantine {
        /// The complete list, the latest last.
        records: Vec<Quarantine>,
    },
    /// Record on the FooMachinePool what of its spec is set in the group. Comes before that is set, and after it was removed.
    RecordApplied {
        /// The complete record.
        applied: Applied,
    },
    /// Write MachinePool.spec.replicas if another controller manages the size through the group.
    PublishReplicas {
        /// The group's desired capacity.
        replicas: u32,
    },
}

/// Reads, whose results are inputs of the next plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum ReadAction {
    /// Read the launch template with its versions, then plan again.
    DescribeLaunchTemplate,
    /// Read from EC2 the state of instances that have a FooMachine but are not in the group, or are in
    /// `Terminating:Wait`; then plan again.
    DescribeInstances {
        /// Instance ids.
        ids: Vec<InstanceId>,
    },
    /// Read the lifecycle hooks, then plan again.
    DescribeLifecycleHook {
        /// Group.
        group: GroupName,
    },
}

/// Changes of the user data that is in S3, below the pool's own folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum ObjectAction {
    /// Write user data that is not there yet.
    StoreUserData {
        /// What to write.
        object: Box<StoredUserData>,
    },
    /// Delete the pool's objects in this place, except these.
    DeleteUserData {
        /// Where.
        storage: Storage,
        /// Names of objects that stay.
        keep: BTreeSet<String>,
        /// Objects that were written later stay, too.
        before: Option<AwsTime>,
    },
}

/// Changes of the launch template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum TemplateAction {
    /// Create the launch template with its first version.
    CreateTemplate {
        /// Name, equal to the group's.
        name: String,
        /// Content.
        content: Box<TemplateContent>,
        /// The hashes that identify the version.
        hashes: TemplateHashes,
        /// Tags of the template itself.
        tags: BTreeMap<String, String>,
    },
    /// Create a version of the launch template.
    CreateTemplateVersion {
        /// Template.
        id: LaunchTemplateId,
        /// Content.
        content: Box<TemplateContent>,
        /// The hashes that identify the version.
        hashes: TemplateHashes,
    },
    /// Create a version that differs from an existing one only in fields that do not replace instances.
    CopyTemplateVersion {
        /// Template.
        id: LaunchTemplateId,
        /// The version to copy.
        from: TemplateVersion,
        /// The new user data.
        user_data: UserData,
        /// The new tags of instances and volumes.
        tags: BTreeMap<String, String>,
        /// The hashes that identify the version.
        hashes: TemplateHashes,
    },
    /// Delete versions that are not in use.
    DeleteTemplateVersions {
        /// Template.
        id: LaunchTemplateId,
        /// Versions, at most 200.
        versions: Vec<TemplateVersion>,
    },
    /// Delete the launch template.
    DeleteTemplate {
        /// Template.
        id: LaunchTemplateId,
    },
}

/// Changes of the group itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum GroupAction {
    /// Create the group.
    CreateGroup(Box<NewGroup>),
    /// Change settings of the group to absolute values.
    UpdateGroup {
        /// Group.
        name: GroupName,
        /// The settings to change.
        change: GroupChange,
        /// The cause, for events and logs.
        why: String,
    },
    /// Mark a group without an owner as this pool's, if it still has none and this desired capacity.
    AdoptGroup {
        /// The group.
        name: GroupName,
        /// The tags.
        tags: BTreeMap<String, String>,
        /// Its desired capacity.
        desired: u32,
    },
    /// Create or overwrite tags of the group.
    TagGroup {
        /// Group.
        name: GroupName,
        /// Tags.
        tags: BTreeMap<String, String>,
    },
    /// Suspend processes of the group.
    SuspendProcesses {
        /// Group.
        name: GroupName,
        /// Processes.
        processes: BTreeSet<Process>,
    },
    /// Resume processes of the group that AWS suspended, or that the spec named before.
    ResumeProcesses {
        /// Group.
        name: GroupName,
        /// Processes.
        processes: BTreeSet<Process>,
    },
    /// Register new and present instances of the group with these traffic sources, too.
    AttachTrafficSources {
        /// Group.
        name: GroupName,
        /// Load balancers and target groups.
        sources: BTreeSet<TrafficSource>,
    },
    /// Deregister all instances of the group from these traffic sources.
    DetachTrafficSources {
        /// Group.
        name: GroupName,
        /// Load balancers and target groups.
        sources: BTreeSet<TrafficSource>,
    },
    /// Report exactly these types to a topic.
    PutNotifications {
        /// Group.
        name: GroupName,
        /// Topic.
        topic: TopicArn,
        /// Types.
        types: BTreeSet<NotificationType>,
    },
    /// Report nothing more to a topic.
    DeleteNotifications {
        /// Group.
        name: GroupName,
        /// Topic.
        topic: TopicArn,
    },
    /// Create the warm pool, or set all of its settings.
    PutWarmPool {
        /// Group.
        name: GroupName,
        /// Its settings.
        settings: WarmPoolSettings,
    },
    /// Delete the warm pool with its instances, which are no Nodes, without their lifecycle hooks.
    DeleteWarmPool {
        /// Group.
        name: GroupName,
        /// The cause, for events and logs.
        why: String,
    },
    /// Delete the empty group.
    DeleteGroup {
        /// Group.
        name: GroupName,
    },
}

/// Changes of members of the group, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum InstanceAction {
    /// Restore scale-in protection of members without it.
    ProtectInstances {
        /// Group.
        name: GroupName,
        /// Members, at most 50.
        ids: Vec<InstanceId>,
    },
    /// Terminate a released instance.
    TerminateInstance {
        /// Group.
        group: GroupName,
        /// Instance.
        id: InstanceId,
        /// Whether desired capacity is lowered with it.
        decrement: Decrement,
        /// The cause, for events and logs.
        why: String,
    },
}

/// Calls about lifecycle hooks. None changes what an observation of the group shows: an instance whose
/// lifecycle action is completed was terminating before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum HookAction {
    /// Create our lifecycle hook, or restore its settings.
    PutLifecycleHook {
        /// Group.
        group: GroupName,
        /// Its settings.
        terms: HookConfig,
    },
    /// Delete our lifecycle hook: the provider completes it no longer.
    DeleteLifecycleHook {
        /// Group.
        group: GroupName,
    },
    /// Create a lifecycle hook of the spec, or change it.
    PutOtherHook {
        /// Group.
        group: GroupName,
        /// Its name.
        name: HookName,
        /// Its settings.
        hook: LifecycleHook,
        /// Its settings until now, if it exists.
        before: Option<LifecycleHook>,
    },
    /// Delete a lifecycle hook that left the spec. AWS ends its waits.
    DeleteOtherHook {
        /// Group.
        group: GroupName,
        /// Its name.
        name: HookName,
    },
    /// Extend the wait of an instance in our hook.
    RecordHeartbeat {
        /// Group.
        group: GroupName,
        /// Instance.
        id: InstanceId,
    },
    /// Let AWS terminate an instance that waits for our hook. The controller first reads its Machine live, as
    /// before a termination.
    CompleteLifecycleAction {
        /// Group.
        group: GroupName,
        /// Instance.
        id: InstanceId,
        /// The cause, for events and logs.
        why: String,
    },
}

/// Writes to FooMachines and Machines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum MachineAction {
    /// Create the FooMachine of an instance.
    CreateFooMachine {
        /// Name.
        name: MachineName,
        /// Instance.
        instance: InstanceId,
        /// Zone, for the provider id.
        zone: Zone,
        /// Hash of the template version it was launched from, if known.
        spec_hash: Option<SpecHash>,
    },
    /// Delete a FooMachine that has no Machine and will get none. The controller first asks the API server
    /// whether a Machine of that name exists: the cache may be older than the Machine, and deleting a
    /// FooMachine ends a drain.
    DeleteFooMachine {
        /// Name.
        name: MachineName,
        /// Precondition.
        uid: Uid,
        /// The cause.
        why: String,
    },
    /// Remove our finalizer from a FooMachine whose instance is gone.
    ReleaseFooMachine {
        /// Name.
        name: MachineName,
        /// Precondition.
        uid: Uid,
    },
    /// Delete a Machine: Cluster API drains its Node and deletes the FooMachine, then the provider terminates
    /// the instance.
    DeleteMachine {
        /// Name.
        name: MachineName,
        /// Precondition.
        uid: Uid,
        /// What must hold when the controller reads the Machine again, just before the deletion.
        only_if: Precondition,
        /// The cause, for events and logs.
        why: String,
    },
    /// Annotate a Machine so that Cluster API does not drain it.
    ExcludeFromDraining {
        /// Name.
        name: MachineName,
        /// Precondition.
        uid: Uid,
    },
    /// Annotate a Machine so that Cluster API leaves it alone.
    PauseMachine {
        /// Name.
        name: MachineName,
        /// Precondition.
        uid: Uid,
    },
    /// Let Cluster API act again on a Machine that the provider paused.
    ResumeMachine {
        /// Name.
        name: MachineName,
        /// Precondition.
        uid: Uid,
    },
    /// Remove the FooMachine and then the Machine of an instance that stays: neither is its Node drained or deleted, nor is it
    /// terminated. The controller first reads the Machine live; it must be paused and not being deleted.
    RetainInstance {
        /// Name.
        name: MachineName,
        /// Precondition: the FooMachine, if it still exists.
        foo_machine: Option<Uid>,
        /// Precondition: the Machine, or that there is none.
        machine: Option<Uid>,
    },
    /// Write the pool's deletion timeouts into a Machine.
    SetMachineTimeouts {
        /// Name.
        name: MachineName,
        /// Precondition.
        uid: Uid,
        /// The timeouts.
        timeouts: DeletionTimeouts,
    },
}

/// Writes to the workload cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum NodeAction {
    /// Cordon Nodes in the workload cluster. They are independent: some may succeed and others fail.
    CordonNodes {
        /// The instances of the Nodes, and their Machines.
        nodes: BTreeMap<InstanceId, MachineName>,
    },
}

/// What must hold for a Machine, read from the API server just before its deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Precondition {
    /// Only its uid.
    SameUid,
    /// It still has the delete-machine annotation, and the MachinePool requests no more replicas than the
    /// plan assumed: the autoscaler reverts both if its second write fails.
    StillMarkedForDeletion {
        /// The desired replicas that the plan assumed.
        replicas: u32,
    },
    /// The MachinePool requests no more replicas than the plan assumed.
    ReplicasAtMost {
        /// The desired replicas that the plan assumed.
        replicas: u32,
    },
}

/// The name of an action without its values, for logs and metrics. It is derived from the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionKind(&'static str);

impl ActionKind {
    /// Whether it only reads.
    pub fn is_read(self) -> bool {
        ReadAction::VARIANTS.contains(&self.0)
    }

    /// The name, in CamelCase.
    pub fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for ActionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Action {
    /// Which action it is.
    pub fn kind(&self) -> ActionKind {
        ActionKind(match self {
            Self::Pool(action) => action.into(),
            Self::Read(action) => action.into(),
            Self::Object(action) => action.into(),
            Self::Template(action) => action.into(),
            Self::Group(action) => action.into(),
            Self::Instance(action) => action.into(),
            Self::Hook(action) => action.into(),
            Self::Machine(action) => action.into(),
            Self::Node(action) => action.into(),
        })
    }

    /// The group that the call names. A launch template with the group's name does not count.
    pub fn group(&self) -> Option<&GroupName> {
        match self {
            Self::Group(action) => Some(action.group()),
            Self::Instance(action) => Some(action.group()),
            Self::Hook(action) => Some(action.group()),
            Self::Read(ReadAction::DescribeLifecycleHook { group }) => Some(group),
            Self::Read(ReadAction::DescribeLaunchTemplate | ReadAction::DescribeInstances { .. })
            | Self::Pool(_)
            | Self::Template(_)
            | Self::Machine(_)
            | Self::Object(_)
            | Self::Node(_) => None,
        }
    }

    /// The name of the Machine or FooMachine that it writes; both have the same name.
    pub fn machine(&self) -> Option<&MachineName> {
        match self {
            Self::Machine(action) => Some(action.name()),
            Self::Pool(_)
            | Self::Read(_)
            | Self::Template(_)
            | Self::Group(_)
            | Self::Instance(_)
            | Self::Hook(_)
            | Self::Object(_)
            | Self::Node(_) => None,
        }
    }

    /// The instance that it concerns, if there is exactly one.
    pub fn instance(&self) -> Option<&InstanceId> {
        match self {
            Self::Instance(InstanceAction::TerminateInstance { id, .. })
            | Self::Hook(
                HookAction::RecordHeartbeat { id, .. } | HookAction::CompleteLifecycleAction { id, .. },
            )
            | Self::Machine(MachineAction::CreateFooMachine { instance: id, .. }) => Some(id),
            Self::Instance(InstanceAction::ProtectInstances { .. })
            | Self::Hook(
                HookAction::PutLifecycleHook { .. }
                | HookAction::DeleteLifecycleHook { .. }
                | HookAction::PutOtherHook { .. }
                | HookAction::DeleteOtherHook { .. },
            )
            | Self::Machine(
                MachineAction::DeleteFooMachine { .. }
                | MachineAction::ReleaseFooMachine { .. }
                | MachineAction::DeleteMachine { .. }
                | MachineAction::ExcludeFromDraining { .. }
                | MachineAction::PauseMachine { .. }
                | MachineAction::ResumeMachine { .. }
                | MachineAction::RetainInstance { .. }
                | MachineAction::SetMachineTimeouts { .. },
            )
            | Self::Pool(_)
            | Self::Read(_)
            | Self::Template(_)
            | Self::Group(_)
            | Self::Object(_)
            | Self::Node(_) => None,
        }
    }

    /// Whether it changes the group and so voids older observations. Completing a lifecycle action does not:
    /// the instance was terminating before, and no decision depends on whether an observation shows its next
    /// state.
    pub fn changes_group(&self) -> bool {
        match self {
            Self::Pool(_)
            | Self::Read(_)
            | Self::Template(_)
            | Self::Hook(_)
            | Self::Machine(_)
            | Self::Object(_)
            | Self::Node(_)
            // No observation of a group has them.
            | Self::Group(GroupAction::PutNotifications { .. } | GroupAction::DeleteNotifications { .. }) => false,
            Self::Group(_) | Self::Instance(_) => true,
        }
    }

    /// Whether it changes the group's warm pool.
    pub fn changes_warm_pool(&self) -> bool {
        matches!(self, Self::Group(GroupAction::PutWarmPool { .. } | GroupAction::DeleteWarmPool { .. }))
    }

    /// Whether it changes the launch template.
    pub fn changes_template(&self) -> bool {
        match self {
            Self::Template(_) => true,
            Self::Pool(_)
            | Self::Read(_)
            | Self::Group(_)
            | Self::Instance(_)
            | Self::Hook(_)
            | Self::Machine(_)
            | Self::Object(_)
            | Self::Node(_) => false,
        }
    }
}

impl GroupAction {
    /// The group.
    pub fn group(&self) -> &GroupName {
        match self {
            Self::CreateGroup(group) => &group.name,
            Self::UpdateGroup { name, .. }
            | Self::AdoptGroup { name, .. }
            | Self::TagGroup { name, .. }
            | Self::SuspendProcesses { name, .. }
            | Self::ResumeProcesses { name, .. }
            | Self::AttachTrafficSources { name, .. }
            | Self::DetachTrafficSources { name, .. }
            | Self::PutNotifications { name, .. }
            | Self::DeleteNotifications { name, .. }
            | Self::PutWarmPool { name, .. }
            | Self::DeleteWarmPool { name, .. }
            | Self::DeleteGroup { name } => name,
        }
    }
}

impl InstanceAction {
    /// The group whose members they are.
    pub fn group(&self) -> &GroupName {
        match self {
            Self::ProtectInstances { name: group, .. } | Self::TerminateInstance { group, .. } => group,
        }
    }
}

impl HookAction {
    /// The group whose hook it is.
    pub fn group(&self) -> &GroupName {
        match self {
            Self::PutLifecycleHook { group, .. }
            | Self::DeleteLifecycleHook { group }
            | Self::PutOtherHook { group, .. }
            | Self::DeleteOtherHook { group, .. }
            | Self::RecordHeartbeat { group, .. }
            | Self::CompleteLifecycleAction { group, .. } => group,
        }
    }
}

impl MachineAction {
    /// The name of the Machine and of its FooMachine.
    pub fn name(&self) -> &MachineName {
        match self {
            Self::CreateFooMachine { name, .. }
            | Self::DeleteFooMachine { name, .. }
            | Self::ReleaseFooMachine { name, .. }
            | Self::DeleteMachine { name, .. }
            | Self::ExcludeFromDraining { name, .. }
            | Self::PauseMachine { name, .. }
            | Self::ResumeMachine { name, .. }
            | Self::RetainInstance { name, .. }
            | Self::SetMachineTimeouts { name, .. } => name,
        }
    }
}

/// Each family converts into an action.
macro_rules! families {
    ($($family:ident($action:ident)),* $(,)?) => {$(
        impl From<$action> for Action {
            fn from(action: $action) -> Self {
                Self::$family(action)
            }
        }
    )*};
}

families!(
    Pool(PoolAction),
    Read(ReadAction),
    Object(ObjectAction),
    Template(TemplateAction),
    Group(GroupAction),
    Instance(InstanceAction),
    Hook(HookAction),
    Machine(MachineAction),
    Node(NodeAction),
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_actions_in_metrics_stay() {
        let families = [
            PoolAction::VARIANTS,
            ReadAction::VARIANTS,
            ObjectAction::VARIANTS,
            TemplateAction::VARIANTS,
            GroupAction::VARIANTS,
            InstanceAction::VARIANTS,
            HookAction::VARIANTS,
            MachineAction::VARIANTS,
            NodeAction::VARIANTS,
        ];
        let names = families.concat();
        assert_eq!(
            names,
            [
                "AddFinalizer",
                "RemoveFinalizer",
                "BlockMove",
                "UnblockMove",
                "ForgetAdoption",
                "RecordAdoption",
                "ForgetAdopted",
                "RecordArn",
                "Quarantine",
                "RecordApplied",
                "PublishReplicas",
                "DescribeLaunchTemplate",
                "DescribeInstances",
                "DescribeLifecycleHook",
                "StoreUserData",
                "DeleteUserData",
                "CreateTemplate",
                "CreateTemplateVersion",
                "CopyTemplateVersion",
                "DeleteTemplateVersions",
                "DeleteTemplate",
                "CreateGroup",
                "UpdateGroup",
                "AdoptGroup",
                "TagGroup",
                "SuspendProcesses",
                "ResumeProcesses",
                "AttachTrafficSources",
                "DetachTrafficSources",
                "PutNotifications",
                "DeleteNotifications",
                "PutWarmPool",
                "DeleteWarmPool",
                "DeleteGroup",
                "ProtectInstances",
                "TerminateInstance",
                "PutLifecycleHook",
                "DeleteLifecycleHook",
                "PutOtherHook",
                "DeleteOtherHook",
                "RecordHeartbeat",
                "CompleteLifecycleAction",
                "CreateFooMachine",
                "DeleteFooMachine",
                "ReleaseFooMachine",
                "DeleteMachine",
                "ExcludeFromDraining",
                "PauseMachine",
                "ResumeMachine",
                "RetainInstance",
                "SetMachineTimeouts",
                "CordonNodes",
            ]
        );
        assert_eq!(Action::from(PoolAction::RecordArn { arn: String::new() }).kind().name(), "RecordArn");
    }
}
