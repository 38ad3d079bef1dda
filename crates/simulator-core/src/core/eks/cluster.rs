//! Clusters and what belongs to them (EKS API Reference, Cluster, Update, Addon, AccessEntry, PodIdentityAssociation).

use super::identities::{AccessEntry, PodIdentity};
use super::versions::Minor;
use foo_model::network::Tags;
use foo_model::{SecurityGroupId, SubnetId, Timestamp, VpcId};
use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use strum::IntoStaticStr;

/// Status of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are AWS's own (EKS API Reference, Cluster)")]
pub enum ClusterStatus {
    Creating,
    Active,
    Updating,
    Deleting,
    Failed,
}

/// Who is let in by what (EKS User Guide, "Set up access entries"): in the order in which it can be changed.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are AWS's own (EKS API Reference, AccessConfigResponse)")]
pub enum AuthenticationMode {
    #[default]
    ConfigMap,
    ApiAndConfigMap,
    Api,
}

/// What becomes of a cluster at the end of standard support.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum SupportType {
    /// It is updated.
    Standard,
    /// It goes on for twelve months.
    #[default]
    Extended,
}

/// A log of the control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::EnumIter)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are AWS's own (EKS API Reference, LogSetup)")]
pub enum LogType {
    Api,
    Audit,
    Authenticator,
    ControllerManager,
    Scheduler,
}

/// The addresses of Services.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[expect(
    missing_docs,
    reason = "the names are AWS's own (EKS API Reference, KubernetesNetworkConfigRequest)"
)]
pub enum IpFamily {
    #[default]
    Ipv4,
    Ipv6,
}

/// Something that is wrong with a cluster or an add-on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Issue {
    /// `ConfigurationConflict`, `InsufficientNumberOfReplicas`, …
    pub code: String,
    /// In words.
    pub message: String,
    /// What it is about.
    #[serde(default)]
    pub resource_ids: Vec<String>,
}

/// How the endpoint is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndpointAccess {
    /// From the internet.
    pub public: bool,
    /// From the VPC.
    pub private: bool,
    /// From where in the internet.
    pub cidrs: Vec<String>,
}

/// Where the control plane is in the VPC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Placement {
    /// Its subnets, as they were named.
    pub subnets: Vec<SubnetId>,
    /// Its additional security groups, as they were named.
    pub groups: Vec<SecurityGroupId>,
}

/// A cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// Its ARN.
    pub arn: String,
    /// What its endpoint and its issuer are called by: 32 hexadecimal digits.
    pub id: String,
    /// When it was created.
    pub created: Timestamp,
    /// Its status.
    pub status: ClusterStatus,
    /// Its Kubernetes version.
    pub version: Minor,
    /// Its platform version (`eks.N`).
    pub platform: u16,
    /// The version it had before the latest update of it, and when that ended: what it can be rolled back to.
    pub former: Option<(Minor, Timestamp)>,
    /// Its role.
    pub role: String,
    /// Its VPC.
    pub vpc: VpcId,
    /// Where it is in it.
    pub placement: Placement,
    /// The security group that EKS made for it.
    pub security_group: SecurityGroupId,
    /// How it is reached.
    pub endpoint: EndpointAccess,
    /// The addresses of its Services.
    pub family: IpFamily,
    /// Their IPv4 range.
    pub service_range: Ipv4Net,
    /// Names of the add-ons whose objects are in the cluster without being managed by EKS.
    pub unmanaged: BTreeSet<String>,
    /// The logs that are on.
    pub logs: BTreeSet<LogType>,
    /// The key that encrypts its Secrets.
    pub key: Option<String>,
    /// Who is let in by what.
    pub authentication: AuthenticationMode,
    /// Whether its creator may do everything: shown nowhere as long as there are no access entries.
    pub creator_is_admin: bool,
    /// Who created it: the ARN of a user or role.
    pub creator: String,
    /// What happens at the end of standard support.
    pub support: SupportType,
    /// Whether traffic can be shifted away from a zone.
    pub zonal_shift: bool,
    /// Whether it cannot be deleted.
    pub deletion_protection: bool,
    /// Its tags.
    pub tags: Tags,
    /// The token it was created with.
    pub token: Option<String>,
    /// What is wrong with it.
    pub health: Vec<Issue>,
    /// Its updates and those of its add-ons, oldest first.
    pub updates: Vec<Update>,
    /// Its access entries, by ARN of the principal.
    pub entries: BTreeMap<String, AccessEntry>,
    /// Its add-ons, by name.
    pub addons: BTreeMap<String, ClusterAddon>,
    /// Its pod identity associations, by id.
    pub pod_identities: BTreeMap<String, PodIdentity>,
    /// What a test says of its insights.
    pub insights: Vec<InsightFact>,
    /// What a test said before, and when it said something else: shown until the next refresh.
    pub former_insights: Option<(Timestamp, Vec<InsightFact>)>,
    /// When the latest refresh of its insights began.
    pub insights_refreshed: Option<Timestamp>,
    /// The API server that a test bed runs for it.
    pub server: Option<ApiServer>,
}

/// An API server that runs somewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApiServer {
    /// Its URL.
    pub endpoint: String,
    /// The authority of its certificate: PEM in base64.
    pub certificate_authority: String,
}

/// The type of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, IntoStaticStr)]
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
    AddonUpdate,
}

/// How far an update is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, IntoStaticStr)]
#[expect(missing_docs, reason = "the names are AWS's own (EKS API Reference, Update)")]
pub enum UpdateStatus {
    InProgress,
    Failed,
    Successful,
}

/// What an update changes when it is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the types of updates say it")]
pub enum Change {
    Version(Minor),
    /// AWS changes the version at the end of support: nothing leads back.
    Forced(Minor),
    Rollback(Minor),
    Endpoint(EndpointAccess),
    Placement(Placement),
    Logs(BTreeSet<LogType>),
    Authentication(AuthenticationMode),
    Support(SupportType),
    ZonalShift(bool),
    DeletionProtection(bool),
    Key(String),
    /// The add-on of this name becomes this.
    Addon(String, Box<AddonSpec>),
}

/// An update of a cluster or of one of its add-ons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Update {
    /// Its id.
    pub id: String,
    /// Its type.
    pub kind: UpdateType,
    /// How far it is.
    pub status: UpdateStatus,
    /// What it changes, in AWS's words.
    pub params: Vec<(&'static str, String)>,
    /// When it began.
    pub created: Timestamp,
    /// Why it failed.
    pub errors: Vec<Issue>,
    /// What it changes.
    pub change: Change,
}

impl Update {
    /// The add-on that is updated, if it is not the cluster.
    pub fn addon(&self) -> Option<&str> {
        match &self.change {
            Change::Addon(name, _) => Some(name),
            Change::Version(_)
            | Change::Forced(_)
            | Change::Rollback(_)
            | Change::Endpoint(_)
            | Change::Placement(_)
            | Change::Logs(_)
            | Change::Authentication(_)
            | Change::Support(_)
            | Change::ZonalShift(_)
            | Change::DeletionProtection(_)
            | Change::Key(_) => None,
        }
    }
}

/// What can be said of an add-on by a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AddonSpec {
    /// Its version.
    pub version: String,
    /// Its configuration values, as they were given.
    pub values: Option<String>,
    /// The role of its service account.
    pub role: Option<String>,
    /// Ids of the pod identity associations that belong to it.
    pub pod_identities: Vec<String>,
}

/// What is done with an add-on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum AddonPhase {
    /// It is created, or was: whether it works is seen when it is read.
    Created,
    /// It is being updated.
    Updating,
    /// Its creation failed.
    CreateFailed,
    /// Its update failed.
    UpdateFailed,
    /// It is being deleted.
    Deleting,
}

/// An add-on of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClusterAddon {
    /// Its name.
    pub name: String,
    /// Its ARN.
    pub arn: String,
    /// What was asked for.
    pub spec: AddonSpec,
    /// What is done with it.
    pub phase: AddonPhase,
    /// When it was created.
    pub created: Timestamp,
    /// When it was last changed.
    pub modified: Timestamp,
    /// What is wrong with it.
    pub issues: Vec<Issue>,
    /// Its tags.
    pub tags: Tags,
}

/// What a test says of an insight (EKS API Reference, Insight).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InsightFact {
    /// Its name.
    pub name: String,
    /// `UPGRADE_READINESS`, `MISCONFIGURATION`, `ROLLBACK_READINESS`.
    #[serde(default = "readiness")]
    pub category: String,
    /// The version that it speaks of.
    pub kubernetes_version: Minor,
    /// `PASSING`, `WARNING`, `ERROR`, `UNKNOWN`.
    pub status: String,
    /// In words.
    #[serde(default)]
    pub reason: String,
    /// What to do.
    #[serde(default)]
    pub recommendation: String,
}

fn readiness() -> String {
    "UPGRADE_READINESS".to_owned()
}
