//! What a group launches from.

use crate::core::document::Document;
use foo_model::{ImageId, InstanceType, LaunchTemplateId};
use serde::Serialize;

/// The template or mixed instances policy of a group.
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
    /// The complete InstancesDistribution, as in the request.
    pub distribution: Document,
}

/// One override of a mixed instances policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Override {
    /// The type; overrides by requirements have none.
    pub instance_type: Option<InstanceType>,
    /// Units of capacity of one instance (WeightedCapacity), 1–999.
    pub weight: u32,
    /// Its own template.
    pub template: Option<TemplateRef>,
    /// The complete override, as in the request.
    pub document: Document,
}

impl Override {
    /// Its own image, which replaces that of its template (API Reference, LaunchTemplateOverrides: ImageId).
    pub fn image(&self) -> Option<ImageId> {
        self.document.get_text(&["ImageId"]).map(ImageId::from)
    }
}

impl LaunchSource {
    /// The template of all launches; overrides change it.
    pub fn template(&self) -> &TemplateRef {
        match self {
            Self::Template(template) => template,
            Self::Mixed(policy) => &policy.template,
        }
    }
}
