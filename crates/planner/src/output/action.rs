//! What can be done about a pool. Each action is complete: the one who carries it out has no choice left.

use crate::observed::Quarantine;
use foo_model::hook::HookConfig;
use foo_model::{
    Decrement, DeletionTimeouts, GroupChange, GroupName, InstanceId, LaunchTemplateId, MachineName, NewGroup,
    Process, SpecHash, TemplateContent, TemplateHashes, TemplateVersion, Uid, UserData, Zone,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use strum::{IntoStaticStr, VariantNames};

/// One thing to do. Actions of a plan are carried out in order; one that fails holds up only what depends on it.
///
/// The families are what whoever handles actions tells apart: which object is written, what is void afterwards, what depends on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// What is written to the FooMachinePool and its MachinePool.
    Pool(PoolAction),
    /// What is read, so that the next plan knows it.
    Read(ReadAction),
    /// Changes of the launch template.
    Template(TemplateAction),
    /// Changes of the group itself.
    Group(GroupAction),
    /// Changes of members of the group, by name.
    Instance(InstanceAction),
    /// Calls about our lifecycle hook.
    Hook(HookAction),
    /// What is written to FooMachines and Machines.
    Machine(MachineAction),
    /// What is done in the workload cluster.
    Node(NodeAction),
}

/// What is written to the FooMachinePool and its MachinePool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum PoolAction {
    /// Put our finalizer on the FooMachinePool. Always before the first AWS write.
    AddFinalizer,
    /// Take our finalizer off the FooMachinePool: nothing of it is left.
    RemoveFinalizer,
    /// Say on the FooMachinePool that it must not be moved to another management cluster. Before anything is made in AWS
    /// that the spec does not tell of.
    BlockMove,
    /// Take that back.
    UnblockMove,
    /// Take the annotation off the FooMachinePool that allowed to adopt its group.
    ForgetAdoption,
    /// Write the group's ARN into FooMachinePool.spec.providerID.
    RecordArn {
        /// The ARN.
        arn: String,
    },
    /// Record on the FooMachinePool which content does not work. Before anything that follows from it.
    Quarantine {
        /// All of it, the latest last.
        records: Vec<Quarantine>,
    },
    /// Write MachinePool.spec.replicas, when the size is decided through the group.
    PublishReplicas {
        /// The group's desired capacity.
        replicas: u32,
    },
}

/// What is read, so that the next plan knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum ReadAction {
    /// Read the launch template with its versions, then plan again.
    DescribeLaunchTemplate,
    /// Ask EC2 whether instances live that are not in the group or wait in it for their end, then plan again.
    DescribeInstances {
        /// Their ids.
        ids: Vec<InstanceId>,
    },
    /// Read our lifecycle hook, then plan again.
    DescribeLifecycleHook {
        /// Group.
        group: GroupName,
    },
}

/// Changes of the launch template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum TemplateAction {
    /// Make the launch template with its first version.
    CreateTemplate {
        /// Name, equal to the group's.
        name: String,
        /// Content.
        content: Box<TemplateContent>,
        /// What it is found again by.
        hashes: TemplateHashes,
        /// Tags of the template itself.
        tags: BTreeMap<String, String>,
    },
    /// Add a version to the launch template.
    CreateTemplateVersion {
        /// Template.
        id: LaunchTemplateId,
        /// Content.
        content: Box<TemplateContent>,
        /// What it is found again by.
        hashes: TemplateHashes,
    },
    /// Add a version that is like another one but for what rolls nothing.
    CopyTemplateVersion {
        /// Template.
        id: LaunchTemplateId,
        /// The version to copy.
        from: TemplateVersion,
        /// The user data it gets.
        user_data: UserData,
        /// The tags that its instances and volumes get.
        tags: BTreeMap<String, String>,
        /// What it is found again by.
        hashes: TemplateHashes,
    },
    /// Delete versions that nothing uses any more.
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
    /// Make the group.
    CreateGroup(Box<NewGroup>),
    /// Change settings of the group, absolutely.
    UpdateGroup {
        /// Group.
        name: GroupName,
        /// What to change.
        change: GroupChange,
        /// Why, for events and logs.
        why: String,
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
    /// Resume processes of the group that AWS suspended by itself.
    ResumeProcesses {
        /// Group.
        name: GroupName,
        /// Processes.
        processes: BTreeSet<Process>,
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
    /// Put scale-in protection back on members that lack it.
    ProtectInstances {
        /// Group.
        name: GroupName,
        /// Members, at most 50.
        ids: Vec<InstanceId>,
    },
    /// End a released instance.
    TerminateInstance {
        /// Group.
        group: GroupName,
        /// Instance.
        id: InstanceId,
        /// What happens to desired capacity.
        decrement: Decrement,
        /// Why, for events and logs.
        why: String,
    },
}

/// Calls about our lifecycle hook. None changes what a look at the group shows: an instance whose hook is completed was on its
/// way out before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum HookAction {
    /// Make our terminating hook, or give it other terms.
    PutLifecycleHook {
        /// Group.
        group: GroupName,
        /// Its terms.
        terms: HookConfig,
    },
    /// Keep an instance alive that waits for our hook.
    RecordHeartbeat {
        /// Group.
        group: GroupName,
        /// Instance.
        id: InstanceId,
    },
    /// Let an instance go that waits for our hook. Just before, its Machine is read live, as before a termination.
    CompleteLifecycleAction {
        /// Group.
        group: GroupName,
        /// Instance.
        id: InstanceId,
        /// Why, for events and logs.
        why: String,
    },
}

/// What is written to FooMachines and Machines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum MachineAction {
    /// Make the FooMachine of an instance.
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
    /// Delete a FooMachine that has no Machine and will get none. Just before, the API server is asked whether there is a
    /// Machine of that name after all: a cache may be older than core's Machine, and a deleted FooMachine ends a drain.
    DeleteFooMachine {
        /// Name.
        name: MachineName,
        /// Precondition.
        uid: Uid,
        /// Why.
        why: String,
    },
    /// Take our finalizer off a FooMachine whose instance is gone.
    ReleaseFooMachine {
        /// Name.
        name: MachineName,
        /// Precondition.
        uid: Uid,
    },
    /// Delete a Machine: Cluster API drains its Node, then deletes the FooMachine, then we end the instance.
    DeleteMachine {
        /// Name.
        name: MachineName,
        /// Precondition.
        uid: Uid,
        /// What must still hold when the live Machine is read again, just before.
        only_if: Precondition,
        /// Why, for events and logs.
        why: String,
    },
    /// Say on a Machine that there is nothing left to drain.
    ExcludeFromDraining {
        /// Name.
        name: MachineName,
        /// Precondition.
        uid: Uid,
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

/// What is done in the workload cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum NodeAction {
    /// Cordon Nodes, in the workload cluster. Each stands for itself: some may be done and others not.
    CordonNodes {
        /// Instances whose Nodes they are, and their Machines.
        nodes: BTreeMap<InstanceId, MachineName>,
    },
}

/// What must still hold for a Machine, read again from the API server just before its deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Precondition {
    /// Nothing but its uid.
    SameUid,
    /// It still carries the removal mark, and the MachinePool still requests no more replicas than the plan knew: the
    /// autoscaler takes both back when its second write fails.
    StillMarkedForDeletion {
        /// The desired replicas of the plan.
        replicas: u32,
    },
    /// The MachinePool still requests no more replicas than the plan knew.
    ReplicasAtMost {
        /// The desired replicas of the plan.
        replicas: u32,
    },
}

/// The name of an action without its values, for logs and metrics. It comes from the type and is never spelled out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionKind(&'static str);

impl ActionKind {
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
            Self::Template(action) => action.into(),
            Self::Group(action) => action.into(),
            Self::Instance(action) => action.into(),
            Self::Hook(action) => action.into(),
            Self::Machine(action) => action.into(),
            Self::Node(action) => action.into(),
        })
    }

    /// The group that a call names; the template of the group's name is not the group.
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
            | Self::Node(_) => None,
        }
    }

    /// The Machine or FooMachine, which have the same name, that it writes.
    pub fn machine(&self) -> Option<&MachineName> {
        match self {
            Self::Machine(action) => Some(action.name()),
            Self::Pool(_)
            | Self::Read(_)
            | Self::Template(_)
            | Self::Group(_)
            | Self::Instance(_)
            | Self::Hook(_)
            | Self::Node(_) => None,
        }
    }

    /// The one instance that it is about.
    pub fn instance(&self) -> Option<&InstanceId> {
        match self {
            Self::Instance(InstanceAction::TerminateInstance { id, .. })
            | Self::Hook(
                HookAction::RecordHeartbeat { id, .. } | HookAction::CompleteLifecycleAction { id, .. },
            )
            | Self::Machine(MachineAction::CreateFooMachine { instance: id, .. }) => Some(id),
            Self::Instance(InstanceAction::ProtectInstances { .. })
            | Self::Hook(HookAction::PutLifecycleHook { .. })
            | Self::Machine(
                MachineAction::DeleteFooMachine { .. }
                | MachineAction::ReleaseFooMachine { .. }
                | MachineAction::DeleteMachine { .. }
                | MachineAction::ExcludeFromDraining { .. }
                | MachineAction::SetMachineTimeouts { .. },
            )
            | Self::Pool(_)
            | Self::Read(_)
            | Self::Template(_)
            | Self::Group(_)
            | Self::Node(_) => None,
        }
    }

    /// Whether it changes the group, so that older observations of it are void afterwards. An instance that is let go was on
    /// its way out before: nothing that is decided on rests on whether a look shows it a step further.
    pub fn changes_group(&self) -> bool {
        match self {
            Self::Group(_) | Self::Instance(_) => true,
            Self::Pool(_)
            | Self::Read(_)
            | Self::Template(_)
            | Self::Hook(_)
            | Self::Machine(_)
            | Self::Node(_) => false,
        }
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
            | Self::TagGroup { name, .. }
            | Self::SuspendProcesses { name, .. }
            | Self::ResumeProcesses { name, .. }
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
            | Self::SetMachineTimeouts { name, .. } => name,
        }
    }
}

/// An action of a family is an action.
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
                "RecordArn",
                "Quarantine",
                "PublishReplicas",
                "DescribeLaunchTemplate",
                "DescribeInstances",
                "DescribeLifecycleHook",
                "CreateTemplate",
                "CreateTemplateVersion",
                "CopyTemplateVersion",
                "DeleteTemplateVersions",
                "DeleteTemplate",
                "CreateGroup",
                "UpdateGroup",
                "TagGroup",
                "SuspendProcesses",
                "ResumeProcesses",
                "DeleteGroup",
                "ProtectInstances",
                "TerminateInstance",
                "PutLifecycleHook",
                "RecordHeartbeat",
                "CompleteLifecycleAction",
                "CreateFooMachine",
                "DeleteFooMachine",
                "ReleaseFooMachine",
                "DeleteMachine",
                "ExcludeFromDraining",
                "SetMachineTimeouts",
                "CordonNodes",
            ]
        );
        assert_eq!(Action::from(PoolAction::RecordArn { arn: String::new() }).kind().name(), "RecordArn");
    }
}
