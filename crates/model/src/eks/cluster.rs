//! Clusters, their updates and insights (EKS API Reference: `Cluster`, `Update`, `InsightSummary`).

use super::issue::Issue;
use super::reach::{EndpointAccess, Placement};
use super::version::Minor;
use crate::network::Tags;
use crate::{AwsTime, SecurityGroupId, VpcId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use strum::{EnumIter, EnumString, IntoStaticStr};

/// A cluster as DescribeCluster shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    /// Name, unique per account and region.
    pub name: String,
    /// ARN.
    pub arn: String,
    /// Status.
    pub status: ClusterStatus,
    /// Its Kubernetes version. During an update the former one.
    pub version: Minor,
    /// Platform version, `eks.12`.
    pub platform_version: Option<String>,
    /// When it was created.
    pub created: Option<AwsTime>,
    /// `https://…` of the API server; `None` until it is ACTIVE.
    pub endpoint: Option<String>,
    /// Certificate authorities that clients trust: PEM in base64; `None` until it is ACTIVE.
    pub certificate_authority: Option<String>,
    /// ARN of its role.
    pub role_arn: String,
    /// The VPC of its subnets.
    pub vpc: Option<VpcId>,
    /// Where its control plane has interfaces, and who reaches it.
    pub placement: Placement,
    /// The security group that EKS created for it.
    pub cluster_security_group: Option<SecurityGroupId>,
    /// Who reaches the API server.
    pub access: EndpointAccess,
    /// The IPv4 range of Services.
    pub service_ipv4: Option<String>,
    /// The IPv6 range of Services.
    pub service_ipv6: Option<String>,
    /// Family of the addresses of Pods and Services.
    pub ip_family: IpFamily,
    /// URL of the OIDC issuer.
    pub oidc_issuer: Option<String>,
    /// Who may come in by which means.
    pub authentication_mode: AuthenticationMode,
    /// Logs of the control plane that are switched on.
    pub logging: BTreeSet<LogType>,
    /// ARN of the KMS key that encrypts Secrets.
    pub encryption_key: Option<String>,
    /// What EKS does at the end of standard support.
    pub upgrade_policy: SupportType,
    /// Whether zonal shift is on.
    pub zonal_shift: bool,
    /// Whether EKS refuses its deletion.
    pub deletion_protection: bool,
    /// Capacity of its control plane; `None`: one that this provider does not know.
    pub scaling_tier: Option<ScalingTier>,
    /// Whether EKS itself creates nodes for it (EKS Auto Mode).
    pub auto_mode: bool,
    /// Tags.
    pub tags: Tags,
    /// What EKS says is wrong with it.
    pub health: Vec<Issue>,
}

/// Status of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, EnumString)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are AWS's own (EKS API Reference, Cluster)")]
pub enum ClusterStatus {
    Pending,
    Creating,
    Active,
    Updating,
    Deleting,
    Failed,
}

/// Who may come in by which means (EKS User Guide, "Set up access entries"), in the only order in which it can be changed.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr, EnumString,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are AWS's own (EKS API Reference, AccessConfigResponse)")]
pub enum AuthenticationMode {
    ConfigMap,
    ApiAndConfigMap,
    Api,
}

/// What EKS does with a cluster at the end of standard support.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, EnumString)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum SupportType {
    /// It updates it.
    Standard,
    /// It supports it for twelve more months, at a higher price.
    Extended,
}

/// Capacity of a control plane (EKS User Guide, "Amazon EKS Provisioned Control Plane"; the values are those of the EKS API Reference,
/// ControlPlaneScalingConfig).
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    IntoStaticStr,
    EnumString,
)]
pub enum ScalingTier {
    /// EKS scales the control plane by its load.
    #[default]
    #[serde(rename = "standard")]
    #[strum(serialize = "standard")]
    Standard,
    /// The smallest capacity that is provisioned.
    #[serde(rename = "tier-xl")]
    #[strum(serialize = "tier-xl")]
    Xl,
    /// About twice as many requests at a time.
    #[serde(rename = "tier-2xl")]
    #[strum(serialize = "tier-2xl")]
    TwoXl,
    /// About four times as many.
    #[serde(rename = "tier-4xl")]
    #[strum(serialize = "tier-4xl")]
    FourXl,
    /// About eight times as many.
    #[serde(rename = "tier-8xl")]
    #[strum(serialize = "tier-8xl")]
    EightXl,
}

/// A log of the control plane.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    IntoStaticStr,
    EnumString,
    EnumIter,
)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
#[expect(missing_docs, reason = "the names are AWS's own (EKS API Reference, LogSetup)")]
pub enum LogType {
    Api,
    Audit,
    Authenticator,
    ControllerManager,
    Scheduler,
}

/// Family of the addresses of Pods and Services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, EnumString)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[expect(
    missing_docs,
    reason = "the names are AWS's own (EKS API Reference, KubernetesNetworkConfigResponse)"
)]
pub enum IpFamily {
    Ipv4,
    Ipv6,
}

/// An update of a cluster or add-on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Update {
    /// Its id.
    pub id: String,
    /// Its type; `None` if this provider does not know it.
    pub kind: Option<UpdateType>,
    /// How far it is.
    pub status: UpdateStatus,
    /// Why it failed.
    pub errors: Vec<Issue>,
    /// When it began.
    pub created: Option<AwsTime>,
}

/// The type of an update, of those that this provider knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, EnumString)]
#[expect(missing_docs, reason = "the names are AWS's own (EKS API Reference, Update)")]
pub enum UpdateType {
    VersionUpdate,
    VersionRollback,
    EndpointAccessUpdate,
    VpcConfigUpdate,
    LoggingUpdate,
    AccessConfigUpdate,
    UpgradePolicyUpdate,
    ZonalShiftConfigUpdate,
    DeletionProtectionUpdate,
    AssociateEncryptionConfig,
    AssociateIdentityProviderConfig,
    DisassociateIdentityProviderConfig,
    ControlPlaneScalingConfigUpdate,
    AddonUpdate,
}

/// How far an update is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, EnumString)]
#[expect(missing_docs, reason = "the names are AWS's own (EKS API Reference, Update)")]
pub enum UpdateStatus {
    InProgress,
    Successful,
    Failed,
    Cancelled,
}

/// A finding about whether a cluster is ready for the next version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Insight {
    /// Its id.
    pub id: String,
    /// Its title.
    pub name: String,
    /// The version that it is about.
    pub version: Option<Minor>,
    /// What it says.
    pub status: InsightStatus,
    /// Why.
    pub reason: Option<String>,
}

/// A refresh of the insights that a call asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsightsRefresh {
    /// When it began.
    pub started: AwsTime,
    /// Whether it is over.
    pub is_over: bool,
}

/// What an insight says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, EnumString)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum InsightStatus {
    /// Nothing is found.
    Passing,
    /// A version after the next one will be a problem.
    Warning,
    /// The next version is a problem; EKS refuses the update unless it is forced.
    Error,
    /// EKS does not know.
    Unknown,
}
