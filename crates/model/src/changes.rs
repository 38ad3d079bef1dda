//! What a group is created with, and what of a group can be changed: decided by the planner, carried out by a cloud.

use crate::hook::DRAIN_HOOK;
use crate::{
    GroupName, GroupSettings, GroupSettingsChange, HookConfig, HookName, InstancesMix, LaunchTemplateId,
    LifecycleHook, TemplateVersion, TrafficSource,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A group to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewGroup {
    /// Its name.
    pub name: GroupName,
    /// Minimum size.
    pub min: u32,
    /// Maximum size.
    pub max: u32,
    /// Desired capacity; `None` when another controller decides: AWS starts at the minimum size.
    pub desired: Option<u32>,
    /// Template and version to launch from.
    pub template: (LaunchTemplateId, TemplateVersion),
    /// Types and purchase options, for a mixed instances policy.
    pub mix: Option<InstancesMix>,
    /// Its other settings.
    pub settings: GroupSettings,
    /// Traffic sources that new instances are registered with.
    #[serde(default)]
    pub traffic_sources: BTreeSet<TrafficSource>,
    /// Our lifecycle hook, created with the group so that nothing of it ever ends without.
    pub drain_hook: Option<HookConfig>,
    /// Other lifecycle hooks: they delay the first instance, too.
    #[serde(default)]
    pub hooks: BTreeMap<HookName, LifecycleHook>,
    /// Tags of the group, the ownership tags included; not propagated to instances (the template tags those).
    pub tags: BTreeMap<String, String>,
}

impl NewGroup {
    /// All lifecycle hooks, the provider's own first.
    pub fn lifecycle_hooks(&self) -> impl Iterator<Item = (HookName, LifecycleHook)> {
        let drain = self.drain_hook.map(|hook| (DRAIN_HOOK.into(), hook.into()));
        drain.into_iter().chain(self.hooks.iter().map(|(name, hook)| (name.clone(), hook.clone())))
    }
}

/// What to change in a group; `None` leaves a setting as it is. All sizes are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupChange {
    /// Minimum size.
    pub min: Option<u32>,
    /// Maximum size.
    pub max: Option<u32>,
    /// Desired capacity.
    pub desired: Option<u32>,
    /// Template and version to launch from, and the mix that goes with them: `None` inside means no mix.
    pub template: Option<(LaunchTemplateId, TemplateVersion, Option<InstancesMix>)>,
    /// Other settings.
    pub settings: GroupSettingsChange,
}
