//! Reads of EKS and of what EKS needs in IAM.

use super::access::{AccessEntry, AccessPolicy, PodIdentity};
use super::addon::{Addon, AddonRelease};
use super::cluster::{Cluster, Insight, InsightsRefresh, Update};
use super::iam::{InstanceProfile, OidcProvider, Role};
use super::identity_provider::IdentityProvider;
use super::version::{Minor, VersionOffer};
use crate::operation::Operation;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A read: one API call, or one per page of the response. What does not exist gives an empty result, not an error.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Query {
    /// A cluster by name (DescribeCluster): [`QueryResult::Cluster`].
    Cluster(String),
    /// Ids of the updates of a cluster, not of its add-ons (ListUpdates): [`QueryResult::Names`].
    Updates(String),
    /// An update (DescribeUpdate): [`QueryResult::Update`].
    Update {
        /// Name of the cluster.
        cluster: String,
        /// Its id.
        id: String,
        /// The add-on that it is of.
        addon: Option<String>,
    },
    /// Findings about the readiness of a cluster for the next version (ListInsights, UPGRADE_READINESS): [`QueryResult::Insights`].
    Insights(String),
    /// The newest refresh of these findings that a call asked for (DescribeInsightsRefresh): [`QueryResult::InsightsRefresh`].
    InsightsRefresh(String),
    /// Names of the add-ons of a cluster (ListAddons): [`QueryResult::Names`].
    Addons(String),
    /// An add-on (DescribeAddon): [`QueryResult::Addon`].
    Addon {
        /// Name of the cluster.
        cluster: String,
        /// Name of the add-on.
        name: String,
    },
    /// Principals of the access entries of a cluster (ListAccessEntries): [`QueryResult::Names`].
    AccessEntries(String),
    /// An access entry (DescribeAccessEntry): [`QueryResult::AccessEntry`].
    AccessEntry {
        /// Name of the cluster.
        cluster: String,
        /// ARN of the user or role.
        principal: String,
    },
    /// Access policies of an entry (ListAssociatedAccessPolicies): [`QueryResult::AccessPolicies`].
    AccessPolicies {
        /// Name of the cluster.
        cluster: String,
        /// ARN of the user or role.
        principal: String,
    },
    /// Pod identity associations of a cluster, without roles and tags (ListPodIdentityAssociations): [`QueryResult::PodIdentities`].
    PodIdentities(String),
    /// A pod identity association, with its role and tags (DescribePodIdentityAssociation): [`QueryResult::PodIdentities`] of none or one.
    PodIdentity {
        /// Name of the cluster.
        cluster: String,
        /// Its id.
        id: String,
    },
    /// Names of the identity provider configurations of a cluster (ListIdentityProviderConfigs): [`QueryResult::Names`].
    IdentityProviders(String),
    /// An identity provider configuration (DescribeIdentityProviderConfig): [`QueryResult::IdentityProvider`].
    IdentityProvider {
        /// Name of the cluster.
        cluster: String,
        /// Name of the configuration.
        name: String,
    },
    /// The versions that EKS offers in the region (DescribeClusterVersions): [`QueryResult::Versions`].
    Versions,
    /// The versions of an add-on that fit a Kubernetes version, newest first (DescribeAddonVersions): [`QueryResult::AddonReleases`].
    AddonReleases {
        /// Name of the add-on.
        addon: String,
        /// The Kubernetes version.
        kubernetes: Minor,
    },
    /// The JSON schema of an add-on's configuration (DescribeAddonConfiguration): [`QueryResult::Schema`].
    AddonSchema {
        /// Name of the add-on.
        addon: String,
        /// Version of the add-on.
        version: String,
    },
    /// A role by name, without its path (IAM GetRole): [`QueryResult::Role`].
    Role(String),
    /// An instance profile by name (IAM GetInstanceProfile): [`QueryResult::InstanceProfile`].
    InstanceProfile(String),
    /// An OIDC provider by ARN (IAM GetOpenIDConnectProvider): [`QueryResult::OidcProvider`].
    OidcProvider(String),
}

impl Query {
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
            Self::IdentityProviders(_) => Operation::ListIdentityProviderConfigs,
            Self::IdentityProvider { .. } => Operation::DescribeIdentityProviderConfig,
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
            | Self::IdentityProviders(cluster)
            | Self::Update { cluster, .. }
            | Self::Addon { cluster, .. }
            | Self::AccessEntry { cluster, .. }
            | Self::AccessPolicies { cluster, .. }
            | Self::PodIdentity { cluster, .. }
            | Self::IdentityProvider { cluster, .. } => Some(cluster),
            Self::Versions
            | Self::AddonReleases { .. }
            | Self::AddonSchema { .. }
            | Self::Role(_)
            | Self::InstanceProfile(_)
            | Self::OidcProvider(_) => None,
        }
    }

    /// The result if the requested resource does not exist.
    pub fn nothing(&self) -> QueryResult {
        match self {
            Self::Cluster(_) => QueryResult::Cluster(None),
            Self::Updates(_) | Self::Addons(_) | Self::AccessEntries(_) | Self::IdentityProviders(_) => {
                QueryResult::Names(BTreeSet::new())
            }
            Self::Update { .. } => QueryResult::Update(None),
            Self::Insights(_) => QueryResult::Insights(Vec::new()),
            Self::InsightsRefresh(_) => QueryResult::InsightsRefresh(None),
            Self::Addon { .. } => QueryResult::Addon(None),
            Self::AccessEntry { .. } => QueryResult::AccessEntry(None),
            Self::AccessPolicies { .. } => QueryResult::AccessPolicies(BTreeSet::new()),
            Self::PodIdentities(_) | Self::PodIdentity { .. } => QueryResult::PodIdentities(Vec::new()),
            Self::IdentityProvider { .. } => QueryResult::IdentityProvider(None),
            Self::Versions => QueryResult::Versions(Vec::new()),
            Self::AddonReleases { .. } => QueryResult::AddonReleases(Vec::new()),
            Self::AddonSchema { .. } => QueryResult::Schema(None),
            Self::Role(_) => QueryResult::Role(None),
            Self::InstanceProfile(_) => QueryResult::InstanceProfile(None),
            Self::OidcProvider(_) => QueryResult::OidcProvider(None),
        }
    }
}

/// The result of a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the queries say it")]
pub enum QueryResult {
    Cluster(Option<Box<Cluster>>),
    Names(BTreeSet<String>),
    Update(Option<Update>),
    Insights(Vec<Insight>),
    InsightsRefresh(Option<InsightsRefresh>),
    Addon(Option<Box<Addon>>),
    AccessEntry(Option<AccessEntry>),
    AccessPolicies(BTreeSet<AccessPolicy>),
    PodIdentities(Vec<PodIdentity>),
    IdentityProvider(Option<Box<IdentityProvider>>),
    Versions(Vec<VersionOffer>),
    AddonReleases(Vec<AddonRelease>),
    Schema(Option<String>),
    Role(Option<Role>),
    InstanceProfile(Option<InstanceProfile>),
    OidcProvider(Option<OidcProvider>),
}
