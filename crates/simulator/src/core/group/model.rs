//! What a group is: its settings, its members, its troubles.

use super::hooks::{Hook, LifecycleAction};
use super::policies::Policies;
use super::refresh::Refresh;
use super::replace::Outgoing;
use super::warm_pool::{PoolState, WarmPool};
use crate::core::document::Document;
use crate::core::ec2::instances::Market;
use crate::core::ec2::launch_data::LaunchData;
use foo_model::{
    GroupName, GroupStatus, Health, InstanceId, InstanceType, LaunchTemplateId, LifecycleState, Process,
    Protection, Sizes, SubnetId, TemplateVersion, Timestamp, Zone,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// An Auto Scaling group.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// Its name.
    pub name: GroupName,
    /// Tells groups of one name apart that existed one after the other.
    pub serial: u64,
    /// Its ARN.
    pub arn: String,
    /// When it was made.
    pub created: Timestamp,
    /// Minimum, maximum, desired.
    pub sizes: Sizes,
    /// What it launches.
    pub source: LaunchSource,
    /// Its subnets, in the order they were given.
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
    /// Failed launches, by zone; those for which no zone is to blame under `None`.
    #[serde(skip)]
    pub(crate) troubles: BTreeMap<Option<Zone>, Trouble>,
    /// Until when SetDesiredCapacity with HonorCooldown is refused.
    pub cooldown_until: Timestamp,
    /// The last change of desired capacity, in the words that activities begin with.
    pub change: String,
    /// Since when its zones could be better balanced than they are.
    #[serde(skip)]
    pub(crate) unbalanced_since: Option<Timestamp>,
    /// Its purchase mix was changed, and members may have to be replaced for it.
    #[serde(skip)]
    pub(crate) mix_changed: bool,
    /// The desired capacity for which an activity already says that protected instances stand in the way.
    #[serde(skip)]
    pub(crate) complained: Option<u32>,
    /// When it will next compare desired with actual capacity.
    #[serde(skip)]
    pub(crate) wakes_at: Option<Timestamp>,
}

/// What a group launches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum LaunchSource {
    /// One launch template.
    Template(TemplateRef),
    /// A mixed instances policy.
    Mixed(MixedPolicy),
}

/// A launch template as a group refers to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TemplateRef {
    /// Its id.
    pub id: LaunchTemplateId,
    /// Its name.
    pub name: String,
    /// A number, `$Latest` or `$Default`: resolved at each launch.
    pub version: String,
}

/// A mixed instances policy (Auto Scaling API Reference, MixedInstancesPolicy).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MixedPolicy {
    /// The template.
    pub template: TemplateRef,
    /// Types to choose from, by priority; empty means the template's own.
    pub overrides: Vec<Override>,
    /// How many instances, at least, are on demand.
    pub on_demand_base: u32,
    /// Percentage of on-demand instances above the base.
    pub on_demand_percentage: u32,
    /// The whole InstancesDistribution, as it was given.
    pub distribution: Document,
}

/// One override of a mixed instances policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Override {
    /// The type; overrides by requirements have none.
    pub instance_type: Option<InstanceType>,
    /// Units of capacity that one instance counts (WeightedCapacity), 1–999.
    pub weight: u32,
    /// Its own template.
    pub template: Option<TemplateRef>,
    /// The whole override, as it was given.
    pub document: Document,
}

/// A tag of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupTag {
    /// Its value.
    pub value: String,
    /// PropagateAtLaunch.
    pub propagate: bool,
}

/// Settings that the state machine reads now and then, and those it only stores.
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
    /// What the stored settings mean to the state machine.
    pub policies: Policies,
    /// What is given back as it came, by AWS's name.
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
    /// Where it stands in its life.
    pub lifecycle: LifecycleState,
    /// What the group thinks of its health.
    pub health: Health,
    /// Whether scale-in may pick it.
    pub protection: Protection,
    /// Id, name and version of the template it was launched with.
    pub template: Option<(LaunchTemplateId, String, TemplateVersion)>,
    /// How it is paid for.
    pub market: Market,
    /// Units of capacity that it counts (WeightedCapacity).
    pub weight: u32,
    /// When it was launched.
    pub launched: Timestamp,
    /// When it came into service.
    pub serving_since: Option<Timestamp>,
    /// Why it is ended as soon as a replacement serves.
    pub outgoing: Option<Outgoing>,
    /// How it rests, or will, in the warm pool.
    pub rests: Option<PoolState>,
    /// Whether it came out of the warm pool.
    pub from_warm_pool: bool,
    /// Whether it goes to the warm pool when it leaves.
    pub returns: bool,
    /// What it waits for in a `…:Wait` state, by hook.
    pub waits: BTreeMap<String, LifecycleAction>,
    /// The activity that launches or ends it.
    #[serde(skip)]
    pub(crate) activity: Option<u64>,
    /// How far the replacement of its root volume is, while it is in service.
    pub root_volume: Option<RootVolume>,
}

/// States of a member whose root volume is replaced (Auto Scaling User Guide, "Instance lifecycle"). It counts as capacity
/// all along.
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

impl LaunchSource {
    /// The template all launches begin with.
    pub fn template(&self) -> &TemplateRef {
        match self {
            Self::Template(template) => template,
            Self::Mixed(policy) => &policy.template,
        }
    }
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

    /// What desired capacity is compared with: the units of all members on their way up or in service.
    pub fn capacity(&self) -> u32 {
        units(self.members.values().filter(|member| member.lifecycle.is_capacity()))
    }

    /// What an instance of a type counts.
    pub(crate) fn weight_of(&self, instance_type: &InstanceType) -> u32 {
        let LaunchSource::Mixed(policy) = &self.source else { return 1 };
        let same = |choice: &&Override| choice.instance_type.as_ref() == Some(instance_type);
        policy.overrides.iter().find(same).map_or(1, |choice| choice.weight)
    }

    /// A member, of the warm pool too.
    pub fn member(&self, id: &InstanceId) -> Option<&Member> {
        self.members.get(id).or_else(|| self.warm.get(id))
    }

    /// The same, to change it.
    pub(crate) fn member_mut(&mut self, id: &InstanceId) -> Option<&mut Member> {
        self.members.get_mut(id).or_else(|| self.warm.get_mut(id))
    }

    /// Takes a member out, of the warm pool too.
    pub(crate) fn remove_member(&mut self, id: &InstanceId) -> Option<Member> {
        self.members.remove(id).or_else(|| self.warm.remove(id))
    }

    /// Whether it has neither members nor a filled warm pool.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.warm.is_empty()
    }

    /// The template all launches begin with.
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
    /// AWS's defaults (Auto Scaling API Reference, CreateAutoScalingGroup). The console's grace period of 300 s is the
    /// console's only; the API's default is 0.
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
