//! FooClusterIdentity: as whom AWS is called for the clusters of some namespaces.
//!
//! Cluster-scoped, because who may use which credentials is not for the owner of a namespace to say. Nothing secret stands
//! in it: keys are in a Secret in the manager's own namespace, where no tenant can write.

use crate::patterns;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of the identity of FooClusters that name none. Without an object of that name they use the manager's own
/// credentials.
pub const DEFAULT_IDENTITY: &str = "default";

/// Keys of a Secret with static credentials; the same as Cluster API's provider for AWS reads.
pub mod secret_keys {
    /// Access key id.
    pub const ACCESS_KEY_ID: &str = "AccessKeyID";
    /// Secret access key.
    pub const SECRET_ACCESS_KEY: &str = "SecretAccessKey";
    /// Session token, only of temporary keys.
    pub const SESSION_TOKEN: &str = "SessionToken";
}

// The label move-hierarchy makes clusterctl move all identities, and the Secrets they own, with any cluster (clusterctl
// provider contract, "Move"). What is there already on the other side stays as it is, and nothing is deleted on this side.
/// As whom AWS is called.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "infrastructure.foo.com",
    version = "v1alpha1",
    kind = "FooClusterIdentity",
    plural = "fooclusteridentities",
    shortname = "fooci",
    category = "cluster-api",
    derive = "PartialEq",
    status = "FooClusterIdentityStatus",
    label("cluster.x-k8s.io/v1beta2", "v1alpha1"),
    label("clusterctl.cluster.x-k8s.io/move-hierarchy", ""),
    printcolumn(name = "Secret", type_ = "string", json_path = ".spec.secret.name"),
    printcolumn(name = "Role", type_ = "string", json_path = ".spec.role.arn"),
    printcolumn(name = "Source", type_ = "string", json_path = ".spec.role.source.name"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(
        name = "Status",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].reason"#
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("[has(self.controller), has(self.secret), has(self.role)].exists_one(given, given)")
        .message("give exactly one of controller, secret and role")
)]
pub struct FooClusterIdentitySpec {
    /// Namespaces whose FooClusters may use this identity. Absent: none. `{}`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_namespaces: Option<AllowedNamespaces>,
    /// IAM instance profiles that pools with this identity may give their instances; a `*` at the end stands for any text.
    /// Absent: any. A pool that names none is always allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 1000),
        inner(length(min = 1, max = 128), regex(pattern = patterns::INSTANCE_PROFILE_OR_PREFIX))
    )]
    pub allowed_instance_profiles: Option<Vec<String>>,
    /// Regions of the FooClusters that may use this identity. Absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 32), regex(pattern = patterns::REGION)))]
    pub allowed_regions: Option<Vec<String>>,
    /// Subnets that FooClusters with this identity may name or find by tags. Absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 1000),
        inner(length(min = 1, max = 64), regex(pattern = patterns::RESOURCE_ID))
    )]
    pub allowed_subnets: Option<Vec<String>>,
    /// The manager's own credentials: IAM role of its ServiceAccount, instance profile, environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<ControllerCredentials>,
    /// Static keys in a Secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretName>,
    /// A role to assume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
}

/// Whether the credentials are complete. Whether AWS accepts them is said by those who use them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
pub struct FooClusterIdentityStatus {
    /// `Ready`; `Deleting` while its deletion waits for the FooClusters that use it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// Namespaces in the list, and those that the selector selects. With neither, all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllowedNamespaces {
    /// Names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub list: Option<Vec<String>>,
    /// Labels of namespaces. Whoever may label namespaces decides then who may use the identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[x_kube(
        validation = Rule::new("has(self.matchLabels) && size(self.matchLabels) > 0 || has(self.matchExpressions) && \
                                size(self.matchExpressions) > 0")
            .message("an empty selector could mean all namespaces or none: leave it out, with the list, for all")
    )]
    pub selector: Option<LabelSelector>,
}

/// Nothing is to be said about the manager's own credentials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ControllerCredentials {}

/// A Secret in the manager's namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretName {
    /// Its name. It has the keys `AccessKeyID` and `SecretAccessKey`, and `SessionToken` if they are temporary.
    #[schemars(length(min = 1, max = 253), regex(pattern = patterns::OBJECT_NAME))]
    pub name: String,
}

/// A role to assume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Role {
    /// ARN of the role.
    #[schemars(length(max = 2048), regex(pattern = r"^arn:[a-z-]+:iam::[0-9]{12}:role/.+$"))]
    pub arn: String,
    /// The external id that the role's trust policy asks for.
    #[serde(default, rename = "externalID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 1224), regex(pattern = r"^[A-Za-z0-9_+=,.@:/-]+$"))]
    pub external_id: Option<String>,
    /// Name of the sessions, as CloudTrail shows it; default `foo-manager`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 64), regex(pattern = r"^[A-Za-z0-9_+=,.@-]+$"))]
    pub session_name: Option<String>,
    /// The identity that assumes the role; default the manager's own credentials. Whether a namespace may use that one is
    /// not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<IdentityReference>,
}

/// Names a FooClusterIdentity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdentityReference {
    /// Its name.
    #[schemars(length(min = 1, max = 253), regex(pattern = patterns::OBJECT_NAME))]
    pub name: String,
}
