//! Types that several kinds share.

use crate::patterns;
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A Kubernetes integer that the schema keeps at zero or above.
pub fn unsigned(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

/// Address of a Kubernetes API server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiEndpoint {
    /// Host name or IP address.
    #[schemars(length(max = 512))]
    pub host: String,
    /// Port, 1 to 65535.
    #[schemars(range(min = 0, max = 65535))]
    pub port: i32,
}

/// What becomes of resources in AWS when the object that describes them is deleted: with `Delete` the provider deletes them, with
/// `Retain` they stay, without an owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum DeletionPolicy {
    /// The provider deletes them.
    #[default]
    Delete,
    /// They stay, without an owner.
    Retain,
}

/// Selects subnets or security groups, by id or by tags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("has(self.id) != has(self.tags)").message("set either id or tags"),
    validation = Rule::new("!has(self.tags) || size(self.tags) > 0")
        .message("tags must not be empty: they would select every resource")
)]
pub struct NetworkReference {
    /// Id (`subnet-…`, `sg-…`). Set either this or `tags`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::RESOURCE_ID))]
    pub id: Option<String>,
    /// Tags that a resource must have, all of them; an empty value matches any value. Set either this or
    /// `id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, String>>,
}

/// `status.initialization` of Cluster API's contract for infrastructure providers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Initialization {
    /// Whether the infrastructure is provisioned. Once true it stays true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisioned: Option<bool>,
}

/// Labels and annotations of the objects that Cluster API creates from a template.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateMetadata {
    /// Labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, String>>,
}
