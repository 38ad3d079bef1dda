//! An Auto Scaling group and its instances, as `DescribeAutoScalingGroups` shows them.

use super::ids::{GroupName, InstanceId, InstanceType, LaunchTemplateId, TemplateVersion, Zone};
use super::names::TAG_ADOPTED;
use super::settings::{GroupSettings, Protection};
use super::template::InstancesMix;
use super::time::AwsTime;
use super::traffic::TrafficSource;
use super::warm_pool::WarmPool;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One Auto Scaling group. Counts are instances.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Its name.
    pub name: GroupName,
    /// Its ARN.
    pub arn: String,
    /// Minimum, maximum and desired capacity.
    pub sizes: Sizes,
    /// The launch template and the version new instances start from.
    pub template: Option<(LaunchTemplateId, TemplateChoice)>,
    /// Instance types and purchase options, when the group uses a mixed instances policy.
    pub mix: Option<InstancesMix>,
    /// Its other settings.
    pub settings: GroupSettings,
    /// Traffic sources that new instances are registered with.
    #[serde(default)]
    pub traffic_sources: BTreeSet<TrafficSource>,
    /// Processes that are suspended, with AWS's words on why.
    pub suspended: BTreeMap<Process, String>,
    /// The group's own tags; AWS's `aws:` tags are left out.
    pub tags: BTreeMap<String, String>,
    /// Whether AWS is deleting the group.
    pub status: GroupStatus,
    /// What a user forbade AWS to delete.
    #[serde(default)]
    pub deletion_protection: DeletionProtection,
    /// Instances started in advance.
    #[serde(default)]
    pub warm_pool: Option<WarmPool>,
    /// The members, in no particular order. The instances of the warm pool are not among them.
    pub instances: Vec<Instance>,
}

/// Minimum, maximum and desired capacity of a group, in instances. AWS keeps `min ≤ desired ≤ max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// MinSize.
    pub min: u32,
    /// MaxSize.
    pub max: u32,
    /// DesiredCapacity.
    pub desired: u32,
}

/// Which version of its template a group launches from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TemplateChoice {
    /// One version, by number: the only choice we make ourselves.
    Version(TemplateVersion),
    /// `$Latest`, `$Default` or a text we do not know.
    Floating(String),
}

/// Whether the group itself is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GroupStatus {
    /// No status text: an ordinary group.
    Active,
    /// "Delete in progress".
    Deleting,
}

/// What AWS refuses to delete (Auto Scaling User Guide, "Configure deletion protection"). A person sets it; we never change it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeletionProtection {
    /// `none`.
    #[default]
    None,
    /// `prevent-force-deletion`: with instances in it. We never ask for that.
    Forced,
    /// `prevent-all-deletion`: in any case.
    All,
}

impl DeletionProtection {
    /// By AWS's name; one that is not known forbids nothing that we know of.
    pub fn from_name(name: &str) -> Self {
        match name {
            "prevent-all-deletion" => Self::All,
            "prevent-force-deletion" => Self::Forced,
            _ => Self::None,
        }
    }
}

/// One member of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// EC2 instance id.
    pub id: InstanceId,
    /// Zone it runs in.
    pub zone: Zone,
    /// Its type.
    pub instance_type: InstanceType,
    /// Where it stands in its life.
    pub lifecycle: LifecycleState,
    /// What Auto Scaling thinks of its health.
    pub health: Health,
    /// Whether scale-in may pick it.
    pub protection: Protection,
    /// The template version it was launched from.
    pub template: Option<(LaunchTemplateId, TemplateVersion)>,
}

/// States of EC2 Auto Scaling's instance lifecycle (Auto Scaling User Guide, "Amazon EC2 Auto Scaling instance lifecycle").
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LifecycleState {
    /// Launching.
    Pending,
    /// Launching, held by a launch hook.
    PendingWait,
    /// Launching, the hook was completed.
    PendingProceed,
    /// Counts as capacity.
    InService,
    /// Leaving.
    Terminating,
    /// Leaving, held by a terminating hook.
    TerminatingWait,
    /// Leaving, the hook was completed.
    TerminatingProceed,
    /// Its terminating hook was abandoned and the group keeps such instances.
    TerminatingRetained,
    /// Ended.
    Terminated,
    /// Being detached by a user.
    Detaching,
    /// Detached by a user.
    Detached,
    /// Going to standby.
    EnteringStandby,
    /// In standby: a member, yet not capacity.
    Standby,
    /// Member of the warm pool, in whatever state.
    Warmed,
    /// In service, while an instance refresh of a user replaces its root volume.
    ReplacingRootVolume,
    /// A state this version does not know. Treated with the most care: hands off.
    Other(String),
}

/// Auto Scaling's own health verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Health {
    /// `Healthy`.
    Healthy,
    /// `Unhealthy`: Auto Scaling is going to replace it.
    Unhealthy,
}

/// Processes of a group that can be suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "the names are AWS's own (Auto Scaling User Guide, \"Suspend and resume processes\")"
)]
pub enum Process {
    Launch,
    Terminate,
    AddToLoadBalancer,
    AlarmNotification,
    AZRebalance,
    HealthCheck,
    InstanceRefresh,
    ReplaceUnhealthy,
    ScheduledActions,
}

impl Process {
    /// All of them, in AWS's order.
    pub const ALL: [Self; 9] = [
        Self::Launch,
        Self::Terminate,
        Self::AddToLoadBalancer,
        Self::AlarmNotification,
        Self::AZRebalance,
        Self::HealthCheck,
        Self::InstanceRefresh,
        Self::ReplaceUnhealthy,
        Self::ScheduledActions,
    ];

    /// AWS's name of the process.
    pub fn name(self) -> &'static str {
        match self {
            Self::Launch => "Launch",
            Self::Terminate => "Terminate",
            Self::AddToLoadBalancer => "AddToLoadBalancer",
            Self::AlarmNotification => "AlarmNotification",
            Self::AZRebalance => "AZRebalance",
            Self::HealthCheck => "HealthCheck",
            Self::InstanceRefresh => "InstanceRefresh",
            Self::ReplaceUnhealthy => "ReplaceUnhealthy",
            Self::ScheduledActions => "ScheduledActions",
        }
    }

    /// The process of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|process| process.name() == name)
    }
}

/// What a termination does to desired capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decrement {
    /// Desired capacity goes down by one: the group shrinks.
    Shrink,
    /// Desired capacity stays: the group launches a replacement.
    Replace,
}

/// A scaling activity, as far as we read one: why capacity did not come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// Activity id.
    pub id: String,
    /// How it went.
    pub status: ActivityStatus,
    /// AWS's description ("Launching a new EC2 instance: i-…").
    pub description: String,
    /// AWS's reason for it ("At 2026-01-01T00:00:00Z an instance was taken out of service in response to …").
    pub cause: String,
    /// AWS's words on a failure.
    pub status_message: String,
    /// When it began.
    pub started: AwsTime,
}

/// How a scaling activity went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ActivityStatus {
    /// In progress, in any of AWS's waiting states.
    InProgress,
    /// Done.
    Successful,
    /// Failed; `status_message` says why.
    Failed,
    /// Cancelled.
    Cancelled,
}

impl Group {
    /// The member of that id.
    pub fn instance(&self, id: &InstanceId) -> Option<&Instance> {
        self.instances.iter().find(|instance| &instance.id == id)
    }

    /// Whether a pool adopted it, according to its tags: then it has instances of other launch templates.
    pub fn was_adopted(&self) -> bool {
        self.tags.contains_key(TAG_ADOPTED)
    }
}

impl LifecycleState {
    /// On its way up or in service: one of the instances desired capacity counts.
    pub fn is_capacity(&self) -> bool {
        matches!(
            self,
            Self::Pending
                | Self::PendingWait
                | Self::PendingProceed
                | Self::InService
                | Self::ReplacingRootVolume
        )
    }

    /// On its way out; the provider cannot keep it.
    pub fn is_leaving(&self) -> bool {
        matches!(
            self,
            Self::Terminating | Self::TerminatingWait | Self::TerminatingProceed | Self::Terminated
        )
    }

    /// The AWS text of the state, without the `:` forms of warm pools.
    pub fn name(&self) -> &str {
        match self {
            Self::Pending => "Pending",
            Self::PendingWait => "Pending:Wait",
            Self::PendingProceed => "Pending:Proceed",
            Self::InService => "InService",
            Self::Terminating => "Terminating",
            Self::TerminatingWait => "Terminating:Wait",
            Self::TerminatingProceed => "Terminating:Proceed",
            Self::TerminatingRetained => "Terminating:Retained",
            Self::Terminated => "Terminated",
            Self::Detaching => "Detaching",
            Self::Detached => "Detached",
            Self::EnteringStandby => "EnteringStandby",
            Self::Standby => "Standby",
            Self::Warmed => "Warmed",
            Self::ReplacingRootVolume => "ReplacingRootVolume",
            Self::Other(text) => text,
        }
    }

    /// The state of an AWS text.
    pub fn from_name(text: &str) -> Self {
        match text {
            "Pending" => Self::Pending,
            "Pending:Wait" => Self::PendingWait,
            "Pending:Proceed" => Self::PendingProceed,
            "InService" => Self::InService,
            "Terminating" => Self::Terminating,
            "Terminating:Wait" => Self::TerminatingWait,
            "Terminating:Proceed" => Self::TerminatingProceed,
            "Terminating:Retained" => Self::TerminatingRetained,
            "Terminated" => Self::Terminated,
            "Detaching" => Self::Detaching,
            "Detached" => Self::Detached,
            "EnteringStandby" => Self::EnteringStandby,
            "Standby" => Self::Standby,
            // ReplacingRootVolume, with :Wait and :Proceed, and RootVolumeReplaced, on the way back into service.
            "RootVolumeReplaced" => Self::ReplacingRootVolume,
            replacing if replacing.starts_with("ReplacingRootVolume") => Self::ReplacingRootVolume,
            warmed if warmed.starts_with("Warmed") => Self::Warmed,
            other => Self::Other(other.to_owned()),
        }
    }
}
