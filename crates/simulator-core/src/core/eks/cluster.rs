//! Clusters and what belongs to them (EKS API Reference, Cluster, Update, Addon, AccessEntry, PodIdentityAssociation).

use super::identities::{AccessEntry, ClusterProvider, PodIdentity};
use foo_model::eks::{
    AddonSettings, AuthenticationMode, ClusterStatus, ConfigUpdate, EndpointAccess, InsightStatus, IpFamily,
    Issue, LogType, Minor, Placement, ScalingTier, SupportType, UpdateStatus, UpdateType,
};
use foo_model::network::Tags;
use foo_model::{SecurityGroupId, Timestamp, VpcId};
use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

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
    /// Authentication mode: whether the ConfigMap, access entries or both grant access.
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
    /// Capacity of its control plane.
    pub scaling_tier: ScalingTier,
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
    /// Its identity provider.
    pub identity_provider: Option<ClusterProvider>,
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

/// What an update changes when it is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the types of updates say it")]
pub enum Change {
    Version(Minor),
    /// AWS changes the version at the end of support: nothing leads back.
    Forced(Minor),
    Rollback(Minor),
    /// With everything that the request left out.
    Config(ConfigUpdate),
    Key(String),
    AssociateIdentityProvider,
    DisassociateIdentityProvider,
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
            | Change::Config(_)
            | Change::Key(_)
            | Change::AssociateIdentityProvider
            | Change::DisassociateIdentityProvider => None,
        }
    }
}

/// What can be said of an add-on by a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AddonSpec {
    /// Its version.
    pub version: String,
    /// Its options, as they were given.
    pub settings: AddonSettings,
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
    /// What it says.
    pub status: InsightStatus,
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
