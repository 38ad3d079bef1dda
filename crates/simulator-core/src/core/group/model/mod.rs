//! The state of a group: its settings, its members, its failed launches.

use super::policies::Policies;
use crate::core::document::Document;
use crate::core::ec2::instances::Market;
use crate::core::ec2::launch_data::LaunchData;
use foo_model::{
    GroupName, GroupStatus, Health, InstanceId, InstanceType, LaunchTemplateId, LifecycleState, Process,
    Protection, Sizes, SubnetId, TemplateVersion, Timestamp, TrafficSource, Zone,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub mod hooks;
pub mod launch_request;
pub mod launch_source;
pub mod outgoing;
pub mod refresh;
pub mod warm_pool;

pub use launch_source::{LaunchSource, MixedPolicy, Override, TemplateRef};

use hooks::{Hook, LifecycleAction};
use outgoing::Outgoing;
use refresh::Refresh;
use warm_pool::{PoolState, WarmPool};

/// An Auto Scaling group.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// Its name.
    pub name: GroupName,
    /// Distinguishes groups of one name that existed one after the other.
    pub serial: u64,
    /// Its ARN.
    pub arn: String,
    /// When it was created.
    pub created: Timestamp,
    /// Minimum, maximum, desired.
    pub sizes: Sizes,
    /// What it launches.
    pub source: LaunchSource,
    /// Its subnets, in the order of the request.
    pub subnets: Vec<SubnetId>,
    /// The zones of the subnets, sorted.
    pub zones: Vec<Zone>,
    /// Whether new instances are protected from scale-in.
    pub new_instances: Protection,
    /// Suspended processes, each with SuspensionReason.
    pub suspended: BTreeMap<Process, String>,
    /// Since when every launch has failed.
    pub failing_since: Option<Timestamp>,
    /// Its tags.
    pub tags: BTreeMap<String, GroupTag>,
    /// The traffic sources that it is attached to.
    pub traffic_sources: BTreeSet<TrafficSource>,
    /// What it reports to SNS topics, by their ARNs.
    pub notifications: BTreeMap<String, BTreeSet<String>>,
    /// Everything else.
    pub settings: GroupSettings,
    /// Whether it is being deleted.
    pub status: GroupStatus,
    /// Its members.
    pub members: BTreeMap<InstanceId, Member>,
    /// Its warm pool.
    pub warm_pool: Option<WarmPool>,
    /// The members of its warm pool, and those that leave it.
    pub warm: BTreeMap<InstanceId, Member>,
    /// Its instance refreshes, oldest first.
    pub refreshes: Vec<Refresh>,
    /// Its lifecycle hooks, by name.
    pub hooks: BTreeMap<String, Hook>,
    /// Failed launches by zone; those whose cause is not a zone under `None`.
    #[serde(skip)]
    pub(crate) troubles: BTreeMap<Option<Zone>, Trouble>,
    /// Until when SetDesiredCapacity with HonorCooldown is refused.
    pub cooldown_until: Timestamp,
    /// The last change of desired capacity, as the beginning of an activity's cause.
    pub change: String,
    /// Since when its zones are out of balance.
    #[serde(skip)]
    pub(crate) unbalanced_since: Option<Timestamp>,
    /// Whether its purchase mix was changed, so that members may have to be replaced.
    #[serde(skip)]
    pub(crate) mix_changed: bool,
    /// The desired capacity for which an activity already reports that protected instances prevent the scale-in.
    #[serde(skip)]
    pub(crate) complained: Option<u32>,
    /// When it will next compare desired with actual capacity.
    #[serde(skip)]
    pub(crate) wakes_at: Option<Timestamp>,
}

/// A tag of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupTag {
    /// Its value.
    pub value: String,
    /// PropagateAtLaunch.
    pub propagate: bool,
}

/// Settings that the state machine reads, and those that it only stores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupSettings {
    /// DefaultCooldown.
    pub cooldown: Duration,
    /// HealthCheckGracePeriod.
    pub grace: Duration,
    /// HealthCheckType.
    pub health_check_type: String,
    /// TerminationPolicies.
    pub termination_policies: Vec<String>,
    /// DeletionProtection.
    pub deletion_protection: String,
    /// Those of the stored settings that the state machine acts on.
    pub policies: Policies,
    /// Settings that are returned as they were in the request, by AWS's name.
    pub stored: BTreeMap<String, Document>,
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Member {
    /// Its id.
    pub id: InstanceId,
    /// Its zone.
    pub zone: Zone,
    /// Its type.
    pub instance_type: InstanceType,
    /// Its lifecycle state.
    pub lifecycle: LifecycleState,
    /// Its health status in the group.
    pub health: Health,
    /// Whether scale-in may pick it.
    pub protection: Protection,
    /// Id, name and version of the template it was launched with.
    pub template: Option<(LaunchTemplateId, String, TemplateVersion)>,
    /// On demand or spot.
    pub market: Market,
    /// Its units of capacity (WeightedCapacity).
    pub weight: u32,
    /// When it was launched.
    pub launched: Timestamp,
    /// Since when it is in service.
    pub serving_since: Option<Timestamp>,
    /// Why it is terminated as soon as its replacement is in service.
    pub outgoing: Option<Outgoing>,
    /// Its state in the warm pool, or the one that it is going to.
    pub rests: Option<PoolState>,
    /// Whether it came out of the warm pool.
    pub from_warm_pool: bool,
    /// Whether it goes to the warm pool when it leaves.
    pub returns: bool,
    /// Its lifecycle actions in a `…:Wait` state, by hook.
    pub waits: BTreeMap<String, LifecycleAction>,
    /// The serial number of the activity that launches or terminates it.
    #[serde(skip)]
    pub(crate) activity: Option<u64>,
    /// State of the replacement of its root volume, while it is in service.
    pub root_volume: Option<RootVolume>,
}

/// States of a member whose root volume is replaced (Auto Scaling User Guide, "Instance lifecycle"). It always counts
/// as capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[expect(missing_docs, reason = "the names are AWS's own (API Reference, Instance)")]
pub enum RootVolume {
    #[strum(serialize = "ReplacingRootVolume")]
    Replacing,
    #[strum(serialize = "ReplacingRootVolume:Wait")]
    Wait,
    #[strum(serialize = "ReplacingRootVolume:Proceed")]
    Proceed,
    #[strum(serialize = "RootVolumeReplaced")]
    Replaced,
}

/// A series of failed launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) failures: u32,
    pub(crate) until: Timestamp,
}

impl Group {
    /// Whether a process is suspended.
    pub fn is_suspended(&self, process: Process) -> bool {
        self.suspended.contains_key(&process)
    }

    /// Whether it is being deleted.
    pub fn is_deleting(&self) -> bool {
        self.status == GroupStatus::Deleting
    }

    /// The capacity that is compared with desired capacity: the units of all members that launch or are in service.
    pub fn capacity(&self) -> u32 {
        units(self.members.values().filter(|member| member.lifecycle.is_capacity()))
    }

    /// Units of capacity of an instance of a type.
    pub(crate) fn weight_of(&self, instance_type: &InstanceType) -> u32 {
        let LaunchSource::Mixed(policy) = &self.source else { return 1 };
        let same = |choice: &&Override| choice.instance_type.as_ref() == Some(instance_type);
        policy.overrides.iter().find(same).map_or(1, |choice| choice.weight)
    }

    /// A member of the group or of its warm pool.
    pub fn member(&self, id: &InstanceId) -> Option<&Member> {
        self.members.get(id).or_else(|| self.warm.get(id))
    }

    /// A member of the group or of its warm pool, to be changed.
    pub(crate) fn member_mut(&mut self, id: &InstanceId) -> Option<&mut Member> {
        self.members.get_mut(id).or_else(|| self.warm.get_mut(id))
    }

    /// Removes a member of the group or of its warm pool.
    pub(crate) fn remove_member(&mut self, id: &InstanceId) -> Option<Member> {
        self.members.remove(id).or_else(|| self.warm.remove(id))
    }

    /// Whether it has neither members nor a filled warm pool.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.warm.is_empty()
    }

    /// The template of all launches; overrides change it.
    pub fn template(&self) -> &TemplateRef {
        self.source.template()
    }

    /// The tags that new instances get. One of the group wins over one of the template (Auto Scaling User Guide, "Tag Auto
    /// Scaling groups").
    pub(crate) fn tags_of_instances(&self, data: &LaunchData) -> BTreeMap<String, String> {
        let mut tags = data.tags_for("instance");
        let propagated = self.tags.iter().filter(|(_, tag)| tag.propagate);
        tags.extend(propagated.map(|(key, tag)| (key.clone(), tag.value.clone())));
        tags
    }

    /// VPCZoneIdentifier: the subnets with commas between.
    pub fn subnet_list(&self) -> String {
        self.subnets.iter().map(SubnetId::as_str).collect::<Vec<_>>().join(",")
    }
}

/// The units of capacity of some members.
pub(crate) fn units<'a>(members: impl Iterator<Item = &'a Member>) -> u32 {
    members.fold(0, |sum, member| sum.saturating_add(member.weight))
}

impl Default for GroupSettings {
    /// AWS's defaults (Auto Scaling API Reference, CreateAutoScalingGroup). The console sets a grace period of 300 s;
    /// the default of the API is 0.
    fn default() -> Self {
        Self {
            cooldown: Duration::from_mins(5),
            grace: Duration::ZERO,
            health_check_type: "EC2".to_owned(),
            termination_policies: vec!["Default".to_owned()],
            deletion_protection: "none".to_owned(),
            policies: Policies::default(),
            stored: BTreeMap::new(),
        }
    }
}
