//! What the status of a FooControlPlane has in mode `eks`.

use crate::control_plane::eks::IpFamily;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The EKS cluster, as EKS shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct EksStatus {
    /// Name of the EKS cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// ARN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arn: Option<String>,
    /// Status in EKS's words, for example `ACTIVE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Platform version, for example `eks.12`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform_version: Option<String>,
    /// Certificate authorities of the API server: base64 of PEM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_authority: Option<String>,
    /// Range of Services that the cluster has.
    #[serde(default, rename = "serviceCIDR", skip_serializing_if = "Option::is_none")]
    pub service_cidr: Option<String>,
    /// Family of the addresses of Pods and Services.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_family: Option<IpFamily>,
    /// URL of the OIDC issuer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oidc_issuer: Option<String>,
    /// Id of the security group that EKS created for the cluster. Nodes need it, or one that lets them reach the API server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_security_group: Option<String>,
    /// Add-ons that are requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub addons: Vec<AddonStatus>,
    /// Internal: what the provider was about to do, for a manager that starts again. Its fields can change in any release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<EksRecord>,
}

/// An add-on, as EKS shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddonStatus {
    /// Name.
    pub name: String,
    /// Version that is installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Status in EKS's words, for example `ACTIVE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What EKS says is wrong with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What the provider was about to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct EksRecord {
    /// When the creation of the cluster was decided, until a response shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creating_since: Option<Time>,
    /// How many creations failed, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<i64>,
    /// Whether EKS once showed the cluster ACTIVE: it is never created again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub active_once: bool,
    /// Whether the cluster was adopted: it is retained unless `deletionPolicy` says otherwise, whatever its tags say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopted: bool,
    /// How many updates of each kind were begun.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["kind".into()]))]
    pub updates: Vec<CountOfUpdates>,
    /// The update of the cluster that is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<UpdateUnderWay>,
    /// What EKS accepted and then failed at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["kind".into()]))]
    pub failed: Vec<FailedInEks>,
    /// The newest roll-back of the version by a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollback: Option<Rollback>,
    /// ARN of the OIDC provider that the provider created, or was about to.
    #[serde(default, rename = "oidcProviderARN", skip_serializing_if = "Option::is_none")]
    pub oidc_provider_arn: Option<String>,
    /// Name of the identity provider configuration that the provider associated, or was about to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity_provider: Option<String>,
    /// Whether the deletion of the cluster was about to be sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleting: bool,
    /// What `Latest` was resolved to, by add-on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub addon_versions: Vec<ResolvedAddon>,
    /// Add-ons whose objects stay in the cluster when they are no longer requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preserved_addons: Vec<String>,
    /// Add-ons that have a role because `eks.addons` named one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addon_roles: Vec<String>,
    /// Unique ids of the roles behind the access entries that the provider created.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["principalARN".into()]))]
    pub entry_roles: Vec<EntryRole>,
    /// Keys of tags of `eks.tags` that the cluster got.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tag_keys: Vec<String>,
}

/// How many updates of a kind were begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CountOfUpdates {
    /// What is updated: `version`, `logging`, `addon/coredns`.
    pub kind: String,
    /// How many.
    pub count: i64,
}

/// An update under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UpdateUnderWay {
    /// What is updated.
    pub kind: String,
    /// Hash of what was requested.
    pub content: String,
    /// Id of the update in EKS. Absent until the call gets a response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// When it was decided.
    pub since: Time,
}

/// What EKS accepted and then failed at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedInEks {
    /// What failed: `cluster`, a kind of update, `addon/coredns`.
    pub kind: String,
    /// Hash of what was requested.
    pub content: String,
    /// EKS's codes and words.
    pub message: String,
    /// How often in a row.
    pub times: i64,
    /// When that was seen last.
    pub at: Time,
}

/// A roll-back of the version by a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rollback {
    /// Id of the update.
    pub update: String,
    /// Kubernetes version that was requested then, and to which the cluster is not updated again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_version: Option<String>,
}

/// What `Latest` was resolved to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedAddon {
    /// Name of the add-on.
    pub name: String,
    /// Kubernetes version, for example `1.34`.
    pub kubernetes_version: String,
    /// Version of the add-on.
    pub version: String,
}

/// The role behind an access entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntryRole {
    /// ARN of the role.
    #[serde(rename = "principalARN")]
    pub principal_arn: String,
    /// Its unique id (`AROA…`).
    #[serde(rename = "uniqueID")]
    pub unique_id: String,
}
