//! What can be done about a pool. Each action is complete: the one who carries it out has no choice left.

use crate::model::hook::HookTerms;
use crate::model::{
    Decrement, DeletionTimeouts, GroupName, InstanceId, InstancesMix, LaunchTemplateId, MachineName, Process,
    SpecHash, SubnetId, TemplateContent, TemplateHashes, TemplateVersion, Uid, UserData, Zone,
};
use crate::observed::Quarantine;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One thing to do. Actions of a plan are carried out in order; after a failure those that depend on it are skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
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

    /// Read the launch template with its versions, then plan again.
    LookAtTemplate,
    /// Ask EC2 whether instances live that are not in the group or wait in it for their end, then plan again.
    LookAtStrays {
        /// Their ids.
        ids: Vec<InstanceId>,
    },
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

    /// Make the group.
    CreateGroup(Box<NewGroup>),
    /// Change settings of the group, absolutely.
    UpdateGroup {
        /// Group.
        name: GroupName,
        /// What to change.
        change: GroupSettings,
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
    /// Read our lifecycle hook, then plan again.
    LookAtHook {
        /// Group.
        group: GroupName,
    },
    /// Make our terminating hook, or give it other terms.
    PutHook {
        /// Group.
        group: GroupName,
        /// Its terms.
        terms: HookTerms,
    },
    /// Keep an instance alive that waits for our hook.
    BeatHook {
        /// Group.
        group: GroupName,
        /// Instance.
        id: InstanceId,
    },
    /// Let an instance go that waits for our hook. Just before, its Machine is read live, as before a termination.
    CompleteHook {
        /// Group.
        group: GroupName,
        /// Instance.
        id: InstanceId,
        /// Why, for events and logs.
        why: String,
    },
    /// Delete the empty group.
    DeleteGroup {
        /// Group.
        name: GroupName,
    },

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
        only_if: OnlyIf,
        /// Why, for events and logs.
        why: String,
    },
    /// Cordon Nodes, in the workload cluster. Each stands for itself: some may be done and others not.
    CordonNodes {
        /// Instances whose Nodes they are, and their Machines.
        nodes: BTreeMap<InstanceId, MachineName>,
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
    /// Write MachinePool.spec.replicas, when the size is decided through the group.
    PublishReplicas {
        /// The group's desired capacity.
        replicas: u32,
    },
}

/// What must still hold for a Machine, read again from the API server just before its deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnlyIf {
    /// Nothing but its uid.
    SameUid,
    /// It still carries the removal mark, and the MachinePool still wishes no more replicas than the plan knew: the
    /// autoscaler takes both back when its second write fails.
    StillMarked {
        /// The wish of the plan.
        wish: u32,
    },
    /// The MachinePool still wishes no more replicas than the plan knew.
    WishAtMost {
        /// The wish of the plan.
        wish: u32,
    },
}

/// A group to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewGroup {
    /// Name.
    pub name: GroupName,
    /// Minimum size.
    pub min: u32,
    /// Maximum size.
    pub max: u32,
    /// Desired capacity; none when somebody else decides.
    pub desired: Option<u32>,
    /// Template and version.
    pub template: (LaunchTemplateId, TemplateVersion),
    /// Mix of types.
    pub mix: Option<InstancesMix>,
    /// Subnets.
    pub subnets: BTreeSet<SubnetId>,
    /// Our lifecycle hook, there from the first moment.
    pub hook: HookTerms,
    /// Tags, the ownership tags included.
    pub tags: BTreeMap<String, String>,
}

/// Settings to change; `None` leaves one as it is. New instances are always protected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSettings {
    /// Minimum size.
    pub min: Option<u32>,
    /// Maximum size.
    pub max: Option<u32>,
    /// Desired capacity.
    pub desired: Option<u32>,
    /// Template and version, with the mix that goes with them.
    pub template: Option<(LaunchTemplateId, TemplateVersion, Option<InstancesMix>)>,
    /// Subnets.
    pub subnets: Option<BTreeSet<SubnetId>>,
    /// Put protection of new instances back.
    pub protect_new_instances: bool,
}

impl Action {
    /// Whether it changes the group, so that older observations of it are void afterwards. An instance that is let go was on
    /// its way out before: nothing that is decided on rests on whether a look shows it a step further.
    pub fn changes_group(&self) -> bool {
        matches!(
            self,
            Self::CreateGroup(_)
                | Self::UpdateGroup { .. }
                | Self::TagGroup { .. }
                | Self::SuspendProcesses { .. }
                | Self::ResumeProcesses { .. }
                | Self::ProtectInstances { .. }
                | Self::TerminateInstance { .. }
                | Self::DeleteGroup { .. }
        )
    }

    /// Whether it changes the launch template.
    pub fn changes_template(&self) -> bool {
        matches!(
            self,
            Self::CreateTemplate { .. }
                | Self::CreateTemplateVersion { .. }
                | Self::CopyTemplateVersion { .. }
                | Self::DeleteTemplateVersions { .. }
                | Self::DeleteTemplate { .. }
        )
    }
}
