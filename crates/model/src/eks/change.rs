//! Every change of a cluster and what belongs to it that can be sent. Each is one API call.

use super::access::{AccessPolicy, EntryKind};
use super::addon::ResolveConflicts;
use super::cluster::{AuthenticationMode, Cluster, IpFamily, LogType, SupportType, Update};
use super::reach::{EndpointAccess, Placement};
use super::version::Minor;
use crate::network::Tags;
use crate::{SecurityGroupId, SubnetId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use strum::IntoStaticStr;

/// One call. Its text is AWS's name of the operation.
///
/// What has a `token` does not happen twice with the same one; a token with other parameters is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[expect(missing_docs, reason = "the names are AWS's own (API references of Amazon EKS and IAM)")]
pub enum Change {
    CreateCluster {
        cluster: Box<NewCluster>,
        token: String,
    },
    UpdateClusterVersion {
        cluster: String,
        version: Minor,
        /// Update although insights say that the version is a problem.
        force: bool,
        token: String,
    },
    UpdateClusterConfig {
        cluster: String,
        update: ConfigUpdate,
        token: String,
    },
    AssociateEncryptionConfig {
        cluster: String,
        /// ARN of the KMS key.
        key: String,
        token: String,
    },
    DeleteCluster {
        cluster: String,
    },
    /// Has EKS work out the insights now, not at its next daily refresh.
    StartInsightsRefresh {
        cluster: String,
    },

    CreateAddon {
        cluster: String,
        addon: Box<NewAddon>,
        token: String,
    },
    /// Sets everything that `addon` has. What it has not stays, except the role.
    UpdateAddon {
        cluster: String,
        addon: Box<NewAddon>,
        token: String,
    },
    DeleteAddon {
        cluster: String,
        name: String,
        /// Leave its objects in the cluster.
        preserve: bool,
    },

    CreateAccessEntry {
        cluster: String,
        principal: String,
        kind: EntryKind,
        /// `None`: EKS generates one.
        username: Option<String>,
        groups: BTreeSet<String>,
        tags: Tags,
        token: String,
    },
    UpdateAccessEntry {
        cluster: String,
        principal: String,
        /// `None`: it stays.
        username: Option<String>,
        groups: BTreeSet<String>,
        token: String,
    },
    DeleteAccessEntry {
        cluster: String,
        principal: String,
    },
    /// Adds a policy to an entry, or changes where it holds.
    AssociateAccessPolicy {
        cluster: String,
        principal: String,
        policy: AccessPolicy,
    },
    DisassociateAccessPolicy {
        cluster: String,
        principal: String,
        /// ARN of the policy.
        policy: String,
    },

    CreatePodIdentityAssociation {
        cluster: String,
        namespace: String,
        service_account: String,
        role_arn: String,
        tags: Tags,
        token: String,
    },
    UpdatePodIdentityAssociation {
        cluster: String,
        id: String,
        role_arn: String,
        token: String,
    },
    DeletePodIdentityAssociation {
        cluster: String,
        id: String,
    },

    TagResource {
        arn: String,
        tags: Tags,
    },
    UntagResource {
        arn: String,
        keys: BTreeSet<String>,
    },

    CreateOpenIDConnectProvider {
        /// URL of the issuer, with `https://`.
        url: String,
        client_ids: BTreeSet<String>,
        tags: Tags,
    },
    DeleteOpenIDConnectProvider {
        arn: String,
    },
}

impl Change {
    /// AWS's name of the operation.
    pub fn operation(&self) -> &'static str {
        self.into()
    }

    /// The same change without its token: what it is about.
    #[must_use]
    pub fn without_token(&self) -> Self {
        let mut change = self.clone();
        if let Some(token) = change.token_mut() {
            token.clear();
        }
        change
    }

    /// The same change with this token, if it has one.
    #[must_use]
    pub fn with_token(&self, new: &str) -> Self {
        let mut change = self.clone();
        if let Some(token) = change.token_mut() {
            new.clone_into(token);
        }
        change
    }

    fn token_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::CreateCluster { token, .. }
            | Self::UpdateClusterVersion { token, .. }
            | Self::UpdateClusterConfig { token, .. }
            | Self::AssociateEncryptionConfig { token, .. }
            | Self::CreateAddon { token, .. }
            | Self::UpdateAddon { token, .. }
            | Self::CreateAccessEntry { token, .. }
            | Self::UpdateAccessEntry { token, .. }
            | Self::CreatePodIdentityAssociation { token, .. }
            | Self::UpdatePodIdentityAssociation { token, .. } => Some(token),
            Self::DeleteCluster { .. }
            | Self::StartInsightsRefresh { .. }
            | Self::DeleteAddon { .. }
            | Self::DeleteAccessEntry { .. }
            | Self::AssociateAccessPolicy { .. }
            | Self::DisassociateAccessPolicy { .. }
            | Self::DeletePodIdentityAssociation { .. }
            | Self::TagResource { .. }
            | Self::UntagResource { .. }
            | Self::CreateOpenIDConnectProvider { .. }
            | Self::DeleteOpenIDConnectProvider { .. } => None,
        }
    }

    /// Whether it begins an update of the cluster, of which EKS allows one at a time.
    pub fn updates_cluster(&self) -> bool {
        matches!(
            self,
            Self::UpdateClusterVersion { .. }
                | Self::UpdateClusterConfig { .. }
                | Self::AssociateEncryptionConfig { .. }
        )
    }
}

/// What AWS answered to a change, as far as it is worth knowing.
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
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own in EKS")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewCluster {
    /// Name.
    pub name: String,
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
    /// Whether zonal shift is on.
    pub zonal_shift: bool,
    /// Whether EKS refuses its deletion.
    pub deletion_protection: bool,
    /// Tags.
    pub tags: Tags,
}

/// One type of update of a cluster's configuration: EKS accepts one per call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of the fields of a cluster")]
pub enum ConfigUpdate {
    Access(EndpointAccess),
    /// All subnets; security groups stay. EKS refuses subnets of other zones than those of the creation.
    Subnets(BTreeSet<SubnetId>),
    /// All security groups besides the cluster's own; subnets stay.
    SecurityGroups(BTreeSet<SecurityGroupId>),
    /// The logs that are to be on; all others go off.
    Logging(BTreeSet<LogType>),
    AuthenticationMode(AuthenticationMode),
    UpgradePolicy(SupportType),
    ZonalShift(bool),
    DeletionProtection(bool),
}

/// An add-on to create, or what one is to become.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewAddon {
    /// Name.
    pub name: String,
    /// Version.
    pub version: String,
    /// Configuration, JSON or YAML. `None`: none; of an update: `{}` clears it.
    pub configuration: Option<String>,
    /// ARN of the role of its service account. `None`: none, also of an update: EKS then takes away the role that there is.
    pub service_account_role: Option<String>,
    /// Its pod identity associations, service account and ARN of the role. `None`: of a creation none, of an update they stay.
    pub pod_identities: Option<BTreeSet<(String, String)>>,
    /// What EKS does about fields that somebody else changed.
    pub conflicts: ResolveConflicts,
    /// Tags, of a creation.
    pub tags: Tags,
}
