//! Mode `eks`: an EKS cluster that the provider creates, changes, upgrades and deletes.
#![expect(clippy::struct_excessive_bools, reason = "each is a setting of its own in EKS")]

use crate::maintenance::MaintenanceWindow;
use crate::patterns;
use crate::shared::DeletionPolicy;
use crate::tags::{lengths_of_keys, reserved_keys};
use kube::KubeSchema;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// ARN of an IAM role.
const ROLE_ARN: &str = r"^arn:[a-z-]+:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+$";
/// ARN of an IAM role or user.
const PRINCIPAL_ARN: &str = r"^arn:[a-z-]+:iam::[0-9]{12}:(role|user)/[A-Za-z0-9_+=,.@/-]+$";
/// An IPv4 or IPv6 range; AWS judges the rest.
const RANGE: &str = r"^[0-9a-f:.]+/[0-9]{1,3}$";

/// An EKS cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("!has(self.endpointAccess) || self.endpointAccess.public || self.endpointAccess.private")
        .message("endpointAccess must leave the API server reachable: set public or private"),
    validation = Rule::new("!has(self.serviceCIDR) || !has(self.ipFamily) || self.ipFamily != 'ipv6'")
        .message("serviceCIDR is an IPv4 range: EKS assigns the range of Services of an IPv6 cluster"),
    validation = Rule::new("!has(self.accessEntries) || size(self.accessEntries) == 0 || !has(self.authenticationMode) || self.authenticationMode != 'CONFIG_MAP'")
        .message("accessEntries need authenticationMode API or API_AND_CONFIG_MAP"),
    validation = Rule::new("!has(self.ipFamily) || self.ipFamily != 'ipv6' || !has(self.addons) || !self.addons.exists(addon, addon.customNetworking)")
        .message("customNetworking of an add-on is for clusters with ipFamily ipv4")
)]
pub struct Eks {
    /// Name of the EKS cluster, unique per account and region. It must begin with `<namespace>_`, unless `allowedControlPlaneNames` of
    /// the FooClusterIdentity allows it, and no two FooControlPlanes for which AWS sees the same user or role may have the same name,
    /// in whatever region: a token for one cluster would be valid for the other. Default: `<namespace>_<cluster>-<hash>` with a hash
    /// of the management cluster. Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), regex(pattern = r"^[0-9A-Za-z][0-9A-Za-z_-]*$"))]
    pub name: Option<String>,
    /// ARN of the IAM role of the control plane. EKS must be trusted by it (`eks.amazonaws.com`), and it needs the policy
    /// `AmazonEKSClusterPolicy`. Immutable.
    #[serde(rename = "roleARN")]
    #[schemars(length(max = 2048), regex(pattern = ROLE_ARN))]
    pub role_arn: String,
    /// Ids of the subnets in which the control plane has network interfaces: at least two, in two zones. Default: the private
    /// subnets of the FooCluster, or all of its subnets if none is private.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), inner(length(max = 64), regex(pattern = patterns::RESOURCE_ID)))]
    pub subnets: Vec<String>,
    /// Ids of up to 4 security groups of those interfaces, besides the one that EKS creates. Default: the group `controlPlane` of a
    /// managed network, which nodes reach and which reaches nodes; in an existing network none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 4), inner(length(max = 64), regex(pattern = patterns::RESOURCE_ID)))]
    pub security_groups: Vec<String>,
    /// From where the API server is reached. Default: from the VPC and from anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_access: Option<EndpointAccess>,
    /// Logs of the control plane that EKS sends to CloudWatch. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 5))]
    pub logging: Vec<LogType>,
    /// Encryption of Secrets with a KMS key of yours. It can be added, and never changed or removed. Default: EKS encrypts with a
    /// key of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encryption: Option<Encryption>,
    /// IPv4 range of Services, a /12 to /24 that does not overlap the VPC. Default: EKS chooses `10.100.0.0/16` or
    /// `172.20.0.0/16`. Immutable.
    #[serde(default, rename = "serviceCIDR", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 18), regex(pattern = r"^[0-9.]+/(1[2-9]|2[0-4])$"))]
    pub service_cidr: Option<String>,
    /// Family of the addresses of Pods and Services. Default: `ipv4`. Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_family: Option<IpFamily>,
    /// How IAM principals get access to the cluster. It can change from `CONFIG_MAP` to `API_AND_CONFIG_MAP` and from there to
    /// `API`, not back. Default: `API`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authentication_mode: Option<AuthenticationMode>,
    /// IAM principals that get access to the cluster. The provider's own identity and the roles of the pools' instance profiles
    /// have entries without being listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["principalARN"]))]
    pub access_entries: Vec<AccessEntry>,
    /// EKS add-ons. One that is removed here is deleted, if the provider created it. Default: none; without `vpc-cni` and
    /// `kube-proxy` Nodes do not become Ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub addons: Vec<Addon>,
    /// When the provider may begin to update add-ons by its own choice: those with the version `Latest`, when another version is the
    /// default of EKS, as after an upgrade of the Kubernetes version. Outside of all windows it begins no such update, and ends what has
    /// begun. At any time it does what the spec requests: upgrades, the configuration of the cluster and of add-ons, named versions of
    /// add-ons, new ones and those that are removed. It also updates at any time an add-on whose version EKS does not offer for the
    /// cluster's Kubernetes version, and each one while a newer Kubernetes version is requested than the cluster has. The annotation
    /// `infrastructure.foo.com/rollout-now` of the FooControlPlane opens the windows until it is removed. Default: at any time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10))]
    #[x_kube(merge_strategy = ListMerge::Atomic)]
    pub maintenance_windows: Vec<MaintenanceWindow>,
    /// IAM roles of service accounts (EKS Pod Identity). The add-on `eks-pod-identity-agent` has to be installed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["namespace", "serviceAccount"]))]
    pub pod_identity_associations: Vec<PodIdentityAssociation>,
    /// Whether IAM gets an OIDC provider for the cluster's issuer, for IAM roles for service accounts. Default: false.
    #[serde(default)]
    pub oidc_provider: bool,
    /// OpenID Connect identity provider whose users the API server knows, beside those of IAM. EKS has one per cluster, and changes
    /// none: the provider disassociates one that differs, if it associated it, and associates the other one; until EKS has done both,
    /// which takes more than half an hour, its users have no access. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity_provider: Option<IdentityProvider>,
    /// How upgrades of the Kubernetes version are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgrade: Option<Upgrade>,
    /// What EKS does with the cluster at the end of standard support. Default: as EKS has it, `EXTENDED` for new clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgrade_policy: Option<UpgradePolicy>,
    /// Capacity of the control plane (EKS Provisioned Control Plane), for clusters of Kubernetes 1.28 or later. Every tier besides
    /// `standard` is billed by the hour. Back to `standard`, the database of the cluster must not have more than 8 GB. Default: as EKS
    /// has it, `standard` for new clusters: set `standard` to leave a tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaling_tier: Option<ScalingTier>,
    /// Whether AWS may shift traffic of the control plane away from an impaired zone (Amazon Application Recovery Controller).
    /// Default: false.
    #[serde(default)]
    pub zonal_shift: bool,
    /// Whether EKS refuses to delete the cluster. The deletion of the FooControlPlane then waits until this is false. Default:
    /// false.
    #[serde(default)]
    pub deletion_protection: bool,
    /// What happens to the cluster when the FooControlPlane is deleted. Default: `Delete` for a cluster that the provider created,
    /// `Retain` for one that it adopted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<DeletionPolicy>,
    /// Tags of the EKS cluster, besides the provider's. What belongs to the cluster gets them when the provider creates it; later
    /// changes concern the cluster only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(validation = reserved_keys(), validation = lengths_of_keys())]
    #[schemars(extend("maxProperties" = 40, "additionalProperties" = {"type": "string", "maxLength": 256}))]
    pub tags: BTreeMap<String, String>,
    /// Whether the provider adopts an EKS cluster of this name that exists and has no owner, as it is: what is unset, empty or false
    /// here stays. The FooClusterIdentity must allow it (`allowAdoption`), and the cluster must have the tag
    /// `infrastructure.foo.com/adoptable` with the value `<namespace>/<name>` of the Cluster. Default: false.
    #[serde(default)]
    pub adopt: bool,
}

/// From where the API server is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("!has(self.publicCIDRs) || self.public")
        .message("publicCIDRs restrict the public endpoint: set public to true")
)]
pub struct EndpointAccess {
    /// From the internet. Default: true.
    #[serde(default = "yes")]
    pub public: bool,
    /// From the VPC, without leaving it. Default: true.
    #[serde(default = "yes")]
    pub private: bool,
    /// Ranges from which the public endpoint is reached. Default: anywhere.
    #[serde(default, rename = "publicCIDRs", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 40), inner(length(max = 43), regex(pattern = RANGE)))]
    pub public_cidrs: Option<Vec<String>>,
}

fn yes() -> bool {
    true
}

impl Default for EndpointAccess {
    fn default() -> Self {
        Self { public: true, private: true, public_cidrs: None }
    }
}

/// A log of the control plane, as EKS names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LogType {
    /// Requests to the API server.
    Api,
    /// Audit log.
    Audit,
    /// Authentication with identities of IAM.
    Authenticator,
    /// kube-controller-manager.
    ControllerManager,
    /// kube-scheduler.
    Scheduler,
}

/// Encryption of Secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Encryption {
    /// ARN of a symmetric KMS key in the cluster's region.
    #[serde(rename = "kmsKeyARN")]
    #[schemars(length(max = 2048), regex(pattern = r"^arn:[a-z-]+:kms:[a-z0-9-]+:[0-9]{12}:key/.+$"))]
    pub kms_key_arn: String,
}

/// Family of the addresses of Pods and Services, as EKS names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IpFamily {
    /// IPv4.
    #[default]
    Ipv4,
    /// IPv6. The subnets have to have IPv6 ranges. Not in China (EKS User Guide, "Learn about IPv6 addresses").
    Ipv6,
}

/// How IAM principals get access to the cluster, as EKS names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AuthenticationMode {
    /// By the ConfigMap `aws-auth` only. The provider then creates no access entries, and Nodes join only if you keep the ConfigMap.
    ConfigMap,
    /// By access entries and the ConfigMap `aws-auth`.
    ApiAndConfigMap,
    /// By access entries.
    #[default]
    Api,
}

/// An access entry: an IAM principal that gets access to the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("!has(self.type) || self.type == 'STANDARD' || (!has(self.groups) && !has(self.policies) && !has(self.username))")
        .message("only entries of type STANDARD have a username, groups and policies")
)]
pub struct AccessEntry {
    /// ARN of the user or role.
    #[serde(rename = "principalARN")]
    #[schemars(length(max = 2048), regex(pattern = PRINCIPAL_ARN))]
    pub principal_arn: String,
    /// Type. The provider creates those of type `EC2_LINUX` for the roles of pools. Default: `STANDARD`.
    #[serde(default, rename = "type")]
    pub kind: EntryType,
    /// Name of the user in Kubernetes. Default: EKS generates one from the ARN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[x_kube(
        validation = Rule::new("!['system:', 'eks:', 'aws:', 'amazon:', 'iam:'].exists(prefix, self.startsWith(prefix))")
            .message("username must not begin with system:, eks:, aws:, amazon: or iam:")
    )]
    #[schemars(length(min = 1, max = 256))]
    pub username: Option<String>,
    /// Groups in Kubernetes, to which RoleBindings refer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[x_kube(
        validation = Rule::new("self.all(group, !['system:', 'eks:', 'aws:', 'amazon:', 'iam:'].exists(prefix, group.startsWith(prefix)))")
            .message("groups must not begin with system:, eks:, aws:, amazon: or iam:")
    )]
    #[schemars(length(min = 1, max = 20), inner(length(min = 1, max = 256)))]
    pub groups: Option<Vec<String>>,
    /// Access policies of EKS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 20))]
    pub policies: Option<Vec<AccessPolicy>>,
}

/// Type of an access entry, as EKS names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum EntryType {
    /// People and programs.
    #[default]
    #[serde(rename = "STANDARD")]
    Standard,
    /// Nodes with Linux.
    #[serde(rename = "EC2_LINUX")]
    Ec2Linux,
    /// Nodes with Windows.
    #[serde(rename = "EC2_WINDOWS")]
    Ec2Windows,
    /// Hybrid nodes.
    #[serde(rename = "HYBRID_LINUX")]
    HybridLinux,
}

/// An access policy of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessPolicy {
    /// Name of the policy, for example `AmazonEKSViewPolicy` (EKS User Guide, "Review access policy permissions").
    #[schemars(length(min = 1, max = 128), regex(pattern = r"^[A-Za-z0-9]+$"))]
    pub name: String,
    /// Namespaces in which it holds; a `*` stands for any text. Default: the whole cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 100),
        inner(length(min = 1, max = 63), regex(pattern = r"^[a-z0-9*-]+$"))
    )]
    pub namespaces: Option<Vec<String>>,
}

/// An EKS add-on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("!has(self.serviceAccountRoleARN) || !has(self.podIdentities)")
        .message("set either serviceAccountRoleARN or podIdentities"),
    validation = Rule::new("!self.customNetworking || self.name == 'vpc-cni'")
        .message("customNetworking is an option of the add-on vpc-cni")
)]
pub struct Addon {
    /// Name, for example `vpc-cni`.
    #[schemars(length(min = 1, max = 100), regex(pattern = r"^[a-z0-9][a-z0-9_-]*$"))]
    pub name: String,
    /// Version of the add-on, for example `v1.18.3-eksbuild.1`, or `Latest`: the one that EKS installs by default with the cluster's
    /// Kubernetes version, looked up again when that changes, and installed within `maintenanceWindows`. Default: `Latest`.
    #[serde(default = "latest")]
    #[schemars(length(min = 1, max = 100), regex(pattern = r"^(Latest|v[0-9A-Za-z.+-]+)$"))]
    pub version: String,
    /// Configuration, as the add-on's schema has it (`aws eks describe-addon-configuration`); an object, which the provider sends
    /// as JSON. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any_object")]
    pub configuration_values: Option<Map<String, Value>>,
    /// Whether the provider configures custom networking with the subnets of type `Pods` of the managed network. It adds
    /// `env.AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG`, `env.ENI_CONFIG_LABEL_DEF` and `eniConfig`, with the first of these subnets by name in
    /// each zone, to the configuration; a value that `configurationValues` has stays. Until these subnets exist, it neither creates nor
    /// updates the add-on. Only for `vpc-cni`, in IPv4 clusters. Set `vpcCNI.customNetworking` of FooNodeConfigs, too. Default: false.
    #[serde(default)]
    pub custom_networking: bool,
    /// ARN of the IAM role of its service account (IAM roles for service accounts). Default: none.
    #[serde(default, rename = "serviceAccountRoleARN", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048), regex(pattern = ROLE_ARN))]
    pub service_account_role_arn: Option<String>,
    /// IAM roles of its service accounts (EKS Pod Identity). Default: the provider does not manage them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 20), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["serviceAccount"]))]
    pub pod_identities: Option<Vec<AddonPodIdentity>>,
    /// What EKS does about fields of the add-on's objects that another user or controller changed. Default: `OVERWRITE` when the add-on is
    /// created, `PRESERVE` when it is updated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolve_conflicts: Option<ResolveConflicts>,
    /// Whether its objects stay in the cluster when it is removed from this list. Default: false.
    #[serde(default)]
    pub preserve: bool,
}

fn latest() -> String {
    "Latest".to_owned()
}

fn any_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

/// What EKS does about fields that another user or controller changed, as EKS names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ResolveConflicts {
    /// The creation or update fails.
    None,
    /// It overwrites them.
    Overwrite,
    /// It keeps them when the add-on is updated. When it is created it overwrites them, since EKS knows this for updates only.
    Preserve,
}

/// The IAM role of a service account of an add-on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddonPodIdentity {
    /// Name of the service account.
    #[schemars(length(min = 1, max = 253), regex(pattern = patterns::OBJECT_NAME))]
    pub service_account: String,
    /// ARN of the role.
    #[serde(rename = "roleARN")]
    #[schemars(length(max = 2048), regex(pattern = ROLE_ARN))]
    pub role_arn: String,
}

/// The IAM role of a service account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodIdentityAssociation {
    /// Namespace of the service account.
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub namespace: String,
    /// Name of the service account.
    #[schemars(length(min = 1, max = 253), regex(pattern = patterns::OBJECT_NAME))]
    pub service_account: String,
    /// ARN of the role. EKS must be trusted by it (`pods.eks.amazonaws.com`).
    #[serde(rename = "roleARN")]
    #[schemars(length(max = 2048), regex(pattern = ROLE_ARN))]
    pub role_arn: String,
}

/// An OpenID Connect identity provider (EKS User Guide, "Grant users access to Kubernetes with an external OIDC provider").
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("!has(self.groupsPrefix) || has(self.groupsClaim)")
        .message("groupsPrefix is put before the groups of groupsClaim: set groupsClaim")
)]
pub struct IdentityProvider {
    /// Name of the configuration in EKS.
    #[schemars(length(min = 1, max = 100), regex(pattern = r"^[0-9A-Za-z][0-9A-Za-z_-]*$"))]
    pub name: String,
    /// URL of the issuer, as `iss` in its tokens has it, without a query. EKS reads `.well-known/openid-configuration` below it over the
    /// internet, and accepts no self-signed certificate. It must not be the issuer of the cluster.
    #[serde(rename = "issuerURL")]
    #[schemars(length(max = 1024), regex(pattern = r"^https://[^?#\s]+$"))]
    pub issuer_url: String,
    /// Id of the client, which is the audience of its tokens.
    #[serde(rename = "clientID")]
    #[schemars(length(min = 1, max = 1024))]
    pub client_id: String,
    /// Claim of the token that has the name of the user. Default: `sub`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub username_claim: Option<String>,
    /// What is put before the name of the user; `-` for nothing. Default: `<issuerURL>#`, and nothing before an `email`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[x_kube(
        validation = Rule::new("!self.contains('system:')").message("usernamePrefix must not contain system:")
    )]
    #[schemars(length(min = 1, max = 256))]
    pub username_prefix: Option<String>,
    /// Claim of the token that has the groups of the user. Default: users have no groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub groups_claim: Option<String>,
    /// What is put before the name of each group. Default: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[x_kube(
        validation = Rule::new("!self.contains('system:')").message("groupsPrefix must not contain system:")
    )]
    #[schemars(length(min = 1, max = 256))]
    pub groups_prefix: Option<String>,
    /// Claims that a token must have, with their values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(
        validation = Rule::new("self.all(claim, size(claim) >= 1 && size(claim) <= 63)")
            .message("names of required claims must have 1 to 63 characters")
    )]
    #[schemars(extend("maxProperties" = 40, "additionalProperties" = {"type": "string", "minLength": 1, "maxLength": 253}))]
    pub required_claims: BTreeMap<String, String>,
}

/// Capacity of a control plane, as EKS names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ScalingTier {
    /// EKS scales the control plane by its load.
    #[serde(rename = "standard")]
    Standard,
    /// The smallest capacity that is provisioned.
    #[serde(rename = "tier-xl")]
    Xl,
    /// About twice as many requests at a time.
    #[serde(rename = "tier-2xl")]
    TwoXl,
    /// About four times as many.
    #[serde(rename = "tier-4xl")]
    FourXl,
    /// About eight times as many.
    #[serde(rename = "tier-8xl")]
    EightXl,
}

/// How upgrades of the Kubernetes version are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Upgrade {
    /// Upgrade although EKS's insights say that something in the cluster fails with the next version. The condition `Upgrading`
    /// names what they say. Default: false.
    #[serde(default)]
    pub force: bool,
}

/// What EKS does at the end of standard support.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpgradePolicy {
    /// Until when EKS supports the version of the cluster.
    pub support_type: SupportType,
}

/// Until when EKS supports a version, as EKS names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum SupportType {
    /// It upgrades the cluster to the next version.
    Standard,
    /// It supports the version for twelve more months at a higher price, and then upgrades the cluster.
    Extended,
}
