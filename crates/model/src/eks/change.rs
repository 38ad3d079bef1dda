//! Every change of a cluster and what belongs to it that can be sent. Each is one API call.

use super::access::{AccessPolicy, EntryKind};
use super::addon::{AddonSettings, ResolveConflicts};
use super::cluster::{AuthenticationMode, Cluster, IpFamily, LogType, ScalingTier, SupportType, Update};
use super::identity_provider::IdentityProviderSettings;
use super::reach::{EndpointAccess, Placement};
use super::version::Minor;
use crate::network::Tags;
use crate::operation::Operation;
use crate::{SecurityGroupId, SubnetId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One call, by what it changes. [`Change::facts`] has what is true of each operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// Of a cluster.
    Cluster {
        /// Its name.
        cluster: String,
        /// What happens to it.
        change: ClusterChange,
    },
    /// Of an add-on.
    Addon {
        /// Name of the cluster.
        cluster: String,
        /// Name of the add-on.
        name: String,
        /// What happens to it.
        change: AddonChange,
    },
    /// Of an access entry.
    Entry {
        /// Name of the cluster.
        cluster: String,
        /// ARN of the user or role.
        principal: String,
        /// What happens to it.
        change: EntryChange,
    },
    /// Of a pod identity association.
    PodIdentity {
        /// Name of the cluster.
        cluster: String,
        /// What happens to it.
        change: PodIdentityChange,
    },
    /// Of the tags of a resource of EKS.
    Tags {
        /// ARN of the resource.
        arn: String,
        /// What happens to them.
        change: TagChange,
    },
    /// Of an OIDC provider of IAM.
    Oidc(OidcChange),
}

/// A change of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClusterChange {
    /// CreateCluster.
    Create(Box<NewCluster>),
    /// UpdateClusterVersion.
    UpdateVersion {
        /// The next version.
        version: Minor,
        /// Update although insights say that the version is a problem.
        force: bool,
    },
    /// UpdateClusterConfig.
    UpdateConfig(ConfigUpdate),
    /// AssociateEncryptionConfig, with the ARN of the KMS key.
    Encrypt(String),
    /// AssociateIdentityProviderConfig.
    AssociateIdentityProvider(Box<NewIdentityProvider>),
    /// DisassociateIdentityProviderConfig, with the name of the configuration.
    DisassociateIdentityProvider(String),
    /// StartInsightsRefresh: EKS works out the insights now, not at its next daily refresh.
    RefreshInsights,
    /// DeleteCluster.
    Delete,
}

/// A change of an add-on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AddonChange {
    /// CreateAddon.
    Create(NewAddon, Tags),
    /// UpdateAddon: sets everything that is given. What is not stays, except the role.
    Update(NewAddon),
    /// DeleteAddon.
    Delete {
        /// Leave its objects in the cluster.
        preserve: bool,
    },
}

/// A change of an access entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EntryChange {
    /// CreateAccessEntry.
    Create(NewEntry),
    /// UpdateAccessEntry.
    Update {
        /// `None`: it stays; empty: EKS generates one.
        username: Option<String>,
        /// All groups. `None`: they stay.
        groups: Option<BTreeSet<String>>,
    },
    /// DeleteAccessEntry.
    Delete,
    /// AssociateAccessPolicy: adds a policy, or changes where it holds.
    Associate(AccessPolicy),
    /// DisassociateAccessPolicy, with the ARN of the policy.
    Disassociate(String),
}

/// A change of a pod identity association.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PodIdentityChange {
    /// CreatePodIdentityAssociation.
    Create(NewPodIdentity),
    /// UpdatePodIdentityAssociation.
    Update {
        /// Its id.
        id: String,
        /// ARN of the role.
        role_arn: String,
    },
    /// DeletePodIdentityAssociation.
    Delete {
        /// Its id.
        id: String,
    },
}

/// A change of tags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TagChange {
    /// TagResource.
    Tag(Tags),
    /// UntagResource, with the keys.
    Untag(BTreeSet<String>),
}

/// A change of an OIDC provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OidcChange {
    /// CreateOpenIDConnectProvider.
    Create(NewOidcProvider),
    /// DeleteOpenIDConnectProvider.
    Delete {
        /// Its ARN.
        arn: String,
    },
}

/// What is true of every call of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationFacts {
    /// Which one.
    pub operation: Operation,
    /// Whether it takes a client request token: it then does not happen twice with the same one, and a token with other parameters is
    /// refused.
    pub takes_token: bool,
    /// Whether it begins an update of the cluster, of which EKS allows one at a time.
    pub updates_cluster: bool,
}

const fn once(operation: Operation) -> OperationFacts {
    OperationFacts { operation, takes_token: false, updates_cluster: false }
}

const fn with_token(operation: Operation) -> OperationFacts {
    OperationFacts { operation, takes_token: true, updates_cluster: false }
}

const fn update(operation: Operation) -> OperationFacts {
    OperationFacts { operation, takes_token: true, updates_cluster: true }
}

impl Change {
    /// Its operation.
    pub fn operation(&self) -> Operation {
        self.facts().operation
    }

    /// What is true of its operation. One table of all operations.
    pub fn facts(&self) -> OperationFacts {
        match self {
            Self::Cluster { change, .. } => match change {
                ClusterChange::Create(_) => with_token(Operation::CreateCluster),
                ClusterChange::UpdateVersion { .. } => update(Operation::UpdateClusterVersion),
                ClusterChange::UpdateConfig(_) => update(Operation::UpdateClusterConfig),
                ClusterChange::Encrypt(_) => update(Operation::AssociateEncryptionConfig),
                ClusterChange::AssociateIdentityProvider(_) => {
                    update(Operation::AssociateIdentityProviderConfig)
                }
                ClusterChange::DisassociateIdentityProvider(_) => {
                    update(Operation::DisassociateIdentityProviderConfig)
                }
                ClusterChange::RefreshInsights => once(Operation::StartInsightsRefresh),
                ClusterChange::Delete => once(Operation::DeleteCluster),
            },
            Self::Addon { change, .. } => match change {
                AddonChange::Create(..) => with_token(Operation::CreateAddon),
                AddonChange::Update(_) => with_token(Operation::UpdateAddon),
                AddonChange::Delete { .. } => once(Operation::DeleteAddon),
            },
            Self::Entry { change, .. } => match change {
                EntryChange::Create(_) => with_token(Operation::CreateAccessEntry),
                EntryChange::Update { .. } => with_token(Operation::UpdateAccessEntry),
                EntryChange::Delete => once(Operation::DeleteAccessEntry),
                EntryChange::Associate(_) => once(Operation::AssociateAccessPolicy),
                EntryChange::Disassociate(_) => once(Operation::DisassociateAccessPolicy),
            },
            Self::PodIdentity { change, .. } => match change {
                PodIdentityChange::Create(_) => with_token(Operation::CreatePodIdentityAssociation),
                PodIdentityChange::Update { .. } => with_token(Operation::UpdatePodIdentityAssociation),
                PodIdentityChange::Delete { .. } => once(Operation::DeletePodIdentityAssociation),
            },
            Self::Tags { change, .. } => match change {
                TagChange::Tag(_) => once(Operation::TagResource),
                TagChange::Untag(_) => once(Operation::UntagResource),
            },
            Self::Oidc(change) => match change {
                OidcChange::Create(_) => once(Operation::CreateOpenIDConnectProvider),
                OidcChange::Delete { .. } => once(Operation::DeleteOpenIDConnectProvider),
            },
        }
    }

    /// Whether it begins an update of the cluster, of which EKS allows one at a time.
    pub fn updates_cluster(&self) -> bool {
        self.facts().updates_cluster
    }

    /// Whether it creates the cluster.
    pub fn creates_cluster(&self) -> bool {
        matches!(self, Self::Cluster { change: ClusterChange::Create(_), .. })
    }

    /// Name of the cluster that it is about, of tags by the ARN; `None` for what is IAM's.
    pub fn cluster(&self) -> Option<&str> {
        match self {
            Self::Cluster { cluster, .. }
            | Self::Addon { cluster, .. }
            | Self::Entry { cluster, .. }
            | Self::PodIdentity { cluster, .. } => Some(cluster),
            // Only clusters are tagged after their creation.
            Self::Tags { arn, .. } => Some(arn.rsplit('/').next().unwrap_or(arn)),
            Self::Oidc(_) => None,
        }
    }

    /// The tags of what it creates; `None` if it creates nothing.
    pub fn created_tags(&self) -> Option<&Tags> {
        match self {
            Self::Cluster { change: ClusterChange::Create(new), .. } => Some(&new.tags),
            Self::Cluster { change: ClusterChange::AssociateIdentityProvider(new), .. } => Some(&new.tags),
            Self::Addon { change: AddonChange::Create(_, tags), .. } => Some(tags),
            Self::Entry { change: EntryChange::Create(new), .. } => Some(&new.tags),
            Self::PodIdentity { change: PodIdentityChange::Create(new), .. } => Some(&new.tags),
            Self::Oidc(OidcChange::Create(new)) => Some(&new.tags),
            Self::Cluster { .. }
            | Self::Addon { .. }
            | Self::Entry { .. }
            | Self::PodIdentity { .. }
            | Self::Tags { .. }
            | Self::Oidc(_) => None,
        }
    }
}

/// What the provider needs of AWS's response to a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// The cluster, of CreateCluster and DeleteCluster.
    pub cluster: Option<Box<Cluster>>,
    /// The update that began.
    pub update: Option<Update>,
    /// Id of what was created: a pod identity association's, an OIDC provider's ARN.
    pub id: Option<String>,
}

/// A cluster to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewCluster {
    /// Version; `None`: EKS's default.
    pub version: Option<Minor>,
    /// ARN of its role.
    pub role_arn: String,
    /// Subnets and security groups.
    pub placement: Placement,
    /// Who reaches the API server.
    pub access: EndpointAccess,
    /// The IPv4 range of Services; `None`: EKS chooses.
    pub service_ipv4: Option<String>,
    /// Family of the addresses of Pods and Services.
    pub ip_family: IpFamily,
    /// Who may come in by which means.
    pub authentication_mode: AuthenticationMode,
    /// Whether whoever sends the call becomes an administrator for ever, without an entry that shows it.
    pub creator_is_admin: bool,
    /// Whether EKS installs its default add-ons as unmanaged copies.
    pub self_managed_addons: bool,
    /// Logs that are switched on.
    pub logging: BTreeSet<LogType>,
    /// ARN of the KMS key that encrypts Secrets.
    pub encryption_key: Option<String>,
    /// What EKS does at the end of standard support; `None`: its default, which a setting of the account can change.
    pub upgrade_policy: Option<SupportType>,
    /// Whether zonal shift is on; `None`: off, and not named, since regions without it refuse the field.
    pub zonal_shift: Option<bool>,
    /// Whether EKS refuses its deletion.
    pub deletion_protection: bool,
    /// Capacity of the control plane; `None`: EKS's default, and not named.
    pub scaling_tier: Option<ScalingTier>,
    /// Tags.
    pub tags: Tags,
}

/// One type of update of a cluster's configuration: EKS accepts one per call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of the fields of a cluster")]
pub enum ConfigUpdate {
    Access(EndpointAccess),
    /// All subnets, all security groups besides the cluster's own, or both; `None` stays. EKS refuses subnets of other zones than those of
    /// the creation.
    Placement {
        subnets: Option<BTreeSet<SubnetId>>,
        security_groups: Option<BTreeSet<SecurityGroupId>>,
    },
    /// The logs that are to be on; all others go off.
    Logging(BTreeSet<LogType>),
    AuthenticationMode(AuthenticationMode),
    UpgradePolicy(SupportType),
    ZonalShift(bool),
    DeletionProtection(bool),
    ScalingTier(ScalingTier),
}

/// An identity provider configuration to associate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewIdentityProvider {
    /// Its name, unique in the cluster.
    pub name: String,
    /// Whose tokens are accepted, and who their users are.
    pub settings: IdentityProviderSettings,
    /// Tags.
    pub tags: Tags,
}

/// An add-on to create, or what one is to become.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewAddon {
    /// Version. `None`: of a creation EKS's default, of an update it stays.
    pub version: Option<String>,
    /// Options.
    pub settings: AddonSettings,
    /// Its pod identity associations, by service account: ARN of the role. `None`: of a creation none, of an update they stay.
    pub pod_identities: Option<BTreeMap<String, String>>,
    /// What EKS does about fields that another user changed.
    pub conflicts: ResolveConflicts,
}

/// An access entry to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewEntry {
    /// Type; immutable.
    pub kind: EntryKind,
    /// Name of the user in Kubernetes. `None`: EKS generates one.
    pub username: Option<String>,
    /// Groups in Kubernetes.
    pub groups: BTreeSet<String>,
    /// Tags.
    pub tags: Tags,
}

/// A pod identity association to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewPodIdentity {
    /// Namespace of the service account.
    pub namespace: String,
    /// Name of the service account.
    pub service_account: String,
    /// ARN of the role that its Pods get.
    pub role_arn: String,
    /// Tags.
    pub tags: Tags,
}

/// An OIDC provider of IAM to create. IAM determines the thumbprint of its certificate (IAM API Reference,
/// CreateOpenIDConnectProvider, `ThumbprintList`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewOidcProvider {
    /// URL of the issuer: `https://` and the value of `iss` in its tokens; without port and query.
    pub url: String,
    /// Audiences of the tokens that it may issue; at most 100.
    pub client_ids: BTreeSet<String>,
    /// Tags; at most 50.
    pub tags: Tags,
}
