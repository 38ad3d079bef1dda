//! FooClusterIdentity: AWS credentials, and which namespaces may use them.
//!
//! Cluster-scoped: the owner of a namespace must not decide who may use which credentials. It contains no
//! secrets: keys are in a Secret in the manager's own namespace, where no tenant can write.

use crate::patterns;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of the identity that a FooCluster without `identityRef` uses. Without an object of that name it uses
/// the manager's own credentials.
pub const DEFAULT_IDENTITY: &str = "default";

/// Keys of a Secret with static credentials, as in cluster-api-provider-aws.
pub mod secret_keys {
    /// Access key id.
    pub const ACCESS_KEY_ID: &str = "AccessKeyID";
    /// Secret access key.
    pub const SECRET_ACCESS_KEY: &str = "SecretAccessKey";
    /// Session token; temporary credentials only.
    pub const SESSION_TOKEN: &str = "SessionToken";
}

// The label move-hierarchy makes clusterctl move all identities, and the Secrets that they own, with any
// cluster (clusterctl provider contract, "Move"). Objects that the target cluster already has stay unchanged,
// and nothing is deleted in the source cluster.
/// AWS credentials that the manager uses for FooClusters, and which namespaces may use them.
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
        .message("set exactly one of controller, secret and role")
)]
pub struct FooClusterIdentitySpec {
    /// Namespaces whose FooClusters may use this identity. Default: no namespace. `{}`: all namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_namespaces: Option<AllowedNamespaces>,
    /// Names of the IAM instance profiles that pools with this identity may give to their instances. A `*` at
    /// the end matches any text, and `{namespace}` is the namespace of the FooCluster; a character that no
    /// namespace can have follows it. Default: any profile, or none if the manager runs with
    /// `--require-identity` and several namespaces may use the identity. A pool without an instance profile is
    /// always allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 1000),
        inner(length(min = 1, max = 128), regex(pattern = patterns::INSTANCE_PROFILE_OR_PREFIX))
    )]
    pub allowed_instance_profiles: Option<Vec<String>>,
    /// AWS regions in which FooClusters may use this identity. Default: any region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 32), regex(pattern = patterns::REGION)))]
    pub allowed_regions: Option<Vec<String>>,
    /// Ids of the subnets that FooClusters with this identity may use, whether they name them by id or by
    /// tags, and of the secondary subnets that their FooMachinePools may name. Default: any subnet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 1000),
        inner(length(min = 1, max = 64), regex(pattern = patterns::RESOURCE_ID))
    )]
    pub allowed_subnets: Option<Vec<String>>,
    /// Names that EKS clusters with this identity may have besides those that begin with the namespace of their FooControlPlane and an
    /// underscore; a `*` at the end matches any text. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 1000),
        inner(length(min = 1, max = 100), regex(pattern = patterns::CONTROL_PLANE_NAME_OR_PREFIX))
    )]
    pub allowed_control_plane_names: Option<Vec<String>>,
    /// Whether FooControlPlanes with this identity may adopt EKS clusters (`spec.eks.adopt`), and FooMachinePools Auto Scaling groups
    /// (`spec.adopt`). The cluster or group must allow it as well, with the tag `infrastructure.foo.com/adoptable`. Default: false.
    #[serde(default)]
    pub allow_adoption: bool,
    /// ARNs of the IAM roles that FooControlPlanes and pools with this identity may name: for the control plane, add-ons,
    /// pods and lifecycle hooks. `*` and `{namespace}` as in `allowedInstanceProfiles`. Default: any role, or none if the
    /// manager runs with `--require-identity` and several namespaces may use the identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 1000),
        inner(length(min = 1, max = 2048), regex(pattern = patterns::ARN_OR_PREFIX))
    )]
    pub allowed_roles: Option<Vec<String>>,
    /// Ids of the existing VPCs that FooClusters with this identity may use, whether they name them, or
    /// subnets in them. Default: any VPC. A VPC that the provider creates is always allowed.
    #[serde(default, rename = "allowedVPCs", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1000), inner(length(min = 1, max = 64), regex(pattern = patterns::RESOURCE_ID)))]
    pub allowed_vpcs: Option<Vec<String>>,
    /// Ids of the security groups that FooClusters, FooControlPlanes and pools with this identity may name, by
    /// id or by tags. Default: any security group. Those of a network that the provider creates are always
    /// allowed in that network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1000), inner(length(min = 1, max = 64), regex(pattern = patterns::RESOURCE_ID)))]
    pub allowed_security_groups: Option<Vec<String>>,
    /// KMS keys that FooControlPlanes and pools with this identity may name, as they name them: by ARN, id or
    /// alias. `*` and `{namespace}` as in `allowedInstanceProfiles`. Default: any key.
    #[serde(default, rename = "allowedKMSKeys", skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 1000),
        inner(length(min = 1, max = 2048), regex(pattern = patterns::ARN_OR_PREFIX))
    )]
    pub allowed_kms_keys: Option<Vec<String>>,
    /// Names of the key pairs that pools with this identity may give to their instances. `*` and `{namespace}`
    /// as in `allowedInstanceProfiles`. Default: any key pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 1000),
        inner(length(min = 1, max = 255), regex(pattern = patterns::KEY_PAIR_OR_PREFIX))
    )]
    pub allowed_key_pairs: Option<Vec<String>>,
    /// Names of the buckets in which pools with this identity may keep user data. A `*` at the end matches any
    /// text, and `{namespace}` at the end is the namespace of the FooCluster. Default: any bucket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 1000),
        inner(length(min = 1, max = 74), regex(pattern = patterns::BUCKET_OR_PREFIX))
    )]
    pub allowed_buckets: Option<Vec<String>>,
    /// ARNs of the target groups, of Elastic Load Balancing and of VPC Lattice, and names of the Classic Load Balancers that pools
    /// with this identity may be attached to. `*` and `{namespace}` as in `allowedInstanceProfiles`. Default: any, or none if the
    /// manager runs with `--require-identity` and several namespaces may use the identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 1000),
        inner(length(min = 1, max = 256), regex(pattern = patterns::ARN_OR_PREFIX))
    )]
    pub allowed_target_groups: Option<Vec<String>>,
    /// ARNs of the SNS topics and SQS queues that pools with this identity may have EC2 Auto Scaling send messages to. `*` and
    /// `{namespace}` as in `allowedInstanceProfiles`. Default: any, or none if the manager runs with `--require-identity` and
    /// several namespaces may use the identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 1000),
        inner(length(min = 1, max = 256), regex(pattern = patterns::ARN_OR_PREFIX))
    )]
    pub allowed_notification_targets: Option<Vec<String>>,
    /// Placement groups, Capacity Reservations, host resource groups, groups of reservations and license configurations that pools
    /// with this identity may name, as they name them: by name, id or ARN. `*` and `{namespace}` as in
    /// `allowedInstanceProfiles`. Default: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 1000),
        inner(length(min = 1, max = 2048), regex(pattern = patterns::CAPACITY_OR_PREFIX))
    )]
    pub allowed_capacity: Option<Vec<String>>,
    /// Ids of the EBS snapshots that pools with this identity may create volumes from; `*` is any snapshot. Default: any snapshot,
    /// or none if the manager runs with `--require-identity` and several namespaces may use the identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 1000),
        inner(length(min = 1, max = 64), regex(pattern = patterns::SNAPSHOT_OR_ANY))
    )]
    pub allowed_snapshots: Option<Vec<String>>,
    /// Use the manager's own credentials: the IAM role of its ServiceAccount, its instance profile, or its
    /// environment. Set exactly one of `controller`, `secret` and `role`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<ControllerCredentials>,
    /// Use static access keys from a Secret. Set exactly one of `controller`, `secret` and `role`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretName>,
    /// Assume an IAM role. Set exactly one of `controller`, `secret` and `role`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
}

/// Whether the credentials are complete. Whether AWS accepts them is reported by the FooClusters and
/// FooMachinePools that use them (condition `CredentialsReady`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
pub struct FooClusterIdentityStatus {
    /// `Ready`, and `Deleting` while the deletion waits for FooClusters that use the identity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// Namespaces that are in `list` or match `selector`. With neither, all namespaces.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllowedNamespaces {
    /// Names of namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub list: Option<Vec<String>>,
    /// Selects namespaces by their labels. Users who may label namespaces then decide which of them may use
    /// the identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[x_kube(
        validation = Rule::new("has(self.matchLabels) && size(self.matchLabels) > 0 || has(self.matchExpressions) && \
                                size(self.matchExpressions) > 0")
            .message("selector must not be empty: to allow all namespaces, set neither list nor selector")
    )]
    pub selector: Option<LabelSelector>,
}

/// The manager's own credentials; there is nothing to configure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ControllerCredentials {}

/// A Secret in the manager's namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretName {
    /// Name of the Secret. It must have the keys `AccessKeyID` and `SecretAccessKey`, and for temporary
    /// credentials `SessionToken`.
    #[schemars(length(min = 1, max = 253), regex(pattern = patterns::OBJECT_NAME))]
    pub name: String,
}

/// An IAM role that the manager assumes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Role {
    /// ARN of the role, `arn:aws:iam::<account>:role/<name>`.
    #[schemars(length(max = 2048), regex(pattern = r"^arn:[a-z-]+:iam::[0-9]{12}:role/.+$"))]
    pub arn: String,
    /// External id, if the role's trust policy requires one (`sts:ExternalId`). Default: none.
    #[serde(default, rename = "externalID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 1224), regex(pattern = r"^[A-Za-z0-9_+=,.@:/-]+$"))]
    pub external_id: Option<String>,
    /// Role session name, which CloudTrail shows. Default: `foo-manager`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 64), regex(pattern = r"^[A-Za-z0-9_+=,.@-]+$"))]
    pub session_name: Option<String>,
    /// FooClusterIdentity whose credentials assume the role. Default: the manager's own credentials. The
    /// `allowedNamespaces` of the source are not checked, only those of the identity that the FooCluster
    /// names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<IdentityReference>,
}

/// Reference to a FooClusterIdentity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdentityReference {
    /// Name of the FooClusterIdentity.
    #[schemars(length(min = 1, max = 253), regex(pattern = patterns::OBJECT_NAME))]
    pub name: String,
}
