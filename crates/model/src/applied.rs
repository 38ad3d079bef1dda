//! What the provider set in a group because the spec named it. AWS does not show who set it: without a record, what leaves the spec
//! could not be distinguished from what other users set.

use crate::{HookName, LaunchTemplateId, Process, TemplateVersion, TopicArn};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What the spec of a pool named, and may still be in its group. What is in here and not in the spec is removed from the group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Applied {
    /// Lifecycle hooks.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub lifecycle_hooks: BTreeSet<HookName>,
    /// Suspended processes.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub suspended_processes: BTreeSet<Process>,
    /// Topics of notifications.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub notification_topics: BTreeSet<TopicArn>,
    /// The warm pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_pool: Option<AppliedWarmPool>,
}

/// The warm pool that the spec named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AppliedWarmPool {
    /// The launch template and its version that every instance in it was launched from. None: there may be others in it. By the
    /// template's id, since the numbers of versions start again with another template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<(LaunchTemplateId, TemplateVersion)>,
}
