//! What AWS can be asked about clusters.

use super::access::{AccessEntry, AccessPolicy, PodIdentity};
use super::addon::{Addon, AddonRelease};
use super::cluster::{Cluster, Insight, InsightsRefresh, Update};
use super::iam::{InstanceProfile, OidcProvider, Role};
use super::version::{Minor, VersionOffer};
use crate::operation::Operation;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One question. Each is one API call, or one per page of the answer. What does not exist gives an empty answer, not an error.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Question {
    /// A cluster by name (DescribeCluster): [`Answer::Cluster`].
    Cluster(String),
    /// Ids of the updates of a cluster, not of its add-ons (ListUpdates): [`Answer::Names`].
    Updates(String),
    /// An update (DescribeUpdate): [`Answer::Update`].
    Update {
        /// Name of the cluster.
        cluster: String,
        /// Its id.
        id: String,
        /// The add-on that it is of.
        addon: Option<String>,
    },
    /// Findings about the readiness of a cluster for the next version (ListInsights, UPGRADE_READINESS): [`Answer::Insights`].
    Insights(String),
    /// The newest refresh of these findings that a call asked for (DescribeInsightsRefresh): [`Answer::InsightsRefresh`].
    InsightsRefresh(String),
    /// Names of the add-ons of a cluster (ListAddons): [`Answer::Names`].
    Addons(String),
    /// An add-on (DescribeAddon): [`Answer::Addon`].
    Addon {
        /// Name of the cluster.
        cluster: String,
        /// Name of the add-on.
        name: String,
    },
    /// Principals of the access entries of a cluster (ListAccessEntries): [`Answer::Names`].
    AccessEntries(String),
    /// An access entry (DescribeAccessEntry): [`Answer::AccessEntry`].
    AccessEntry {
        /// Name of the cluster.
        cluster: String,
        /// ARN of the user or role.
        principal: String,
    },
    /// Access policies of an entry (ListAssociatedAccessPolicies): [`Answer::AccessPolicies`].
    AccessPolicies {
        /// Name of the cluster.
        cluster: String,
        /// ARN of the user or role.
        principal: String,
    },
    /// Pod identity associations of a cluster, without roles and tags (ListPodIdentityAssociations): [`Answer::PodIdentities`].
    PodIdentities(String),
    /// A pod identity association, with its role and tags (DescribePodIdentityAssociation): [`Answer::PodIdentities`] of none or one.
    PodIdentity {
        /// Name of the cluster.
        cluster: String,
        /// Its id.
        id: String,
    },
    /// The versions that EKS offers in the region (DescribeClusterVersions): [`Answer::Versions`].
    Versions,
    /// The versions of an add-on that fit a Kubernetes version, newest first (DescribeAddonVersions): [`Answer::AddonReleases`].
    AddonReleases {
        /// Name of the add-on.
        addon: String,
        /// The Kubernetes version.
        kubernetes: Minor,
    },
    /// The JSON schema of an add-on's configuration (DescribeAddonConfiguration): [`Answer::Schema`].
    AddonSchema {
        /// Name of the add-on.
        addon: String,
        /// Version of the add-on.
        version: String,
    },
    /// A role by name, without its path (IAM GetRole): [`Answer::Role`].
    Role(String),
    /// An instance profile by name (IAM GetInstanceProfile): [`Answer::InstanceProfile`].
    InstanceProfile(String),
    /// An OIDC provider by ARN (IAM GetOpenIDConnectProvider): [`Answer::OidcProvider`].
    OidcProvider(String),
}

impl Question {
    /// The operation of its calls.
    pub fn operation(&self) -> Operation {
        match self {
            Self::Cluster(_) => Operation::DescribeCluster,
            Self::Updates(_) => Operation::ListUpdates,
            Self::Update { .. } => Operation::DescribeUpdate,
            Self::Insights(_) => Operation::ListInsights,
            Self::InsightsRefresh(_) => Operation::DescribeInsightsRefresh,
            Self::Addons(_) => Operation::ListAddons,
            Self::Addon { .. } => Operation::DescribeAddon,
            Self::AccessEntries(_) => Operation::ListAccessEntries,
            Self::AccessEntry { .. } => Operation::DescribeAccessEntry,
            Self::AccessPolicies { .. } => Operation::ListAssociatedAccessPolicies,
            Self::PodIdentities(_) => Operation::ListPodIdentityAssociations,
            Self::PodIdentity { .. } => Operation::DescribePodIdentityAssociation,
            Self::Versions => Operation::DescribeClusterVersions,
            Self::AddonReleases { .. } => Operation::DescribeAddonVersions,
            Self::AddonSchema { .. } => Operation::DescribeAddonConfiguration,
            Self::Role(_) => Operation::GetRole,
            Self::InstanceProfile(_) => Operation::GetInstanceProfile,
            Self::OidcProvider(_) => Operation::GetOpenIDConnectProvider,
        }
    }

    /// The cluster that it is about; `None` for what is the same for all clusters of the account and region.
    pub fn cluster(&self) -> Option<&str> {
        match self {
            Self::Cluster(cluster)
            | Self::Updates(cluster)
            | Self::Insights(cluster)
            | Self::InsightsRefresh(cluster)
            | Self::Addons(cluster)
            | Self::AccessEntries(cluster)
            | Self::PodIdentities(cluster)
            | Self::Update { cluster, .. }
            | Self::Addon { cluster, .. }
            | Self::AccessEntry { cluster, .. }
            | Self::AccessPolicies { cluster, .. }
            | Self::PodIdentity { cluster, .. } => Some(cluster),
            Self::Versions
            | Self::AddonReleases { .. }
            | Self::AddonSchema { .. }
            | Self::Role(_)
            | Self::InstanceProfile(_)
            | Self::OidcProvider(_) => None,
        }
    }

    /// The answer if what is asked for does not exist.
    pub fn nothing(&self) -> Answer {
        match self {
            Self::Cluster(_) => Answer::Cluster(None),
            Self::Updates(_) | Self::Addons(_) | Self::AccessEntries(_) => Answer::Names(BTreeSet::new()),
            Self::Update { .. } => Answer::Update(None),
            Self::Insights(_) => Answer::Insights(Vec::new()),
            Self::InsightsRefresh(_) => Answer::InsightsRefresh(None),
            Self::Addon { .. } => Answer::Addon(None),
            Self::AccessEntry { .. } => Answer::AccessEntry(None),
            Self::AccessPolicies { .. } => Answer::AccessPolicies(BTreeSet::new()),
            Self::PodIdentities(_) | Self::PodIdentity { .. } => Answer::PodIdentities(Vec::new()),
            Self::Versions => Answer::Versions(Vec::new()),
            Self::AddonReleases { .. } => Answer::AddonReleases(Vec::new()),
            Self::AddonSchema { .. } => Answer::Schema(None),
            Self::Role(_) => Answer::Role(None),
            Self::InstanceProfile(_) => Answer::InstanceProfile(None),
            Self::OidcProvider(_) => Answer::OidcProvider(None),
        }
    }
}

/// What AWS answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the questions say it")]
pub enum Answer {
    Cluster(Option<Box<Cluster>>),
    Names(BTreeSet<String>),
    Update(Option<Update>),
    Insights(Vec<Insight>),
    InsightsRefresh(Option<InsightsRefresh>),
    Addon(Option<Box<Addon>>),
    AccessEntry(Option<AccessEntry>),
    AccessPolicies(BTreeSet<AccessPolicy>),
    PodIdentities(Vec<PodIdentity>),
    Versions(Vec<VersionOffer>),
    AddonReleases(Vec<AddonRelease>),
    Schema(Option<String>),
    Role(Option<Role>),
    InstanceProfile(Option<InstanceProfile>),
    OidcProvider(Option<OidcProvider>),
}
