//! What the FooControlPlane's status says. Together with the tags it is enough to continue after the memory is lost. It may be lost as
//! well (clusterctl move).

use foo_model::Timestamp;
use foo_model::eks::{Minor, UpdateType};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use strum::{Display, EnumString, IntoStaticStr};

/// The record of one cluster. All of it is written to the status before any call of the plan is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Recorded {
    /// ARN of the cluster, once known.
    pub arn: Option<String>,
    /// Since when its creation is decided, while no response showed the cluster.
    pub creating_since: Option<Timestamp>,
    /// How many creations failed: refused, FAILED or never shown. Tokens are derived from it.
    pub attempts: u32,
    /// Whether EKS once showed it ACTIVE. A cluster that was is never deleted because it failed, nor created again when it is gone.
    pub active_once: bool,
    /// Whether a read showed it as adopted: the tag that says so is put back when it is lost, and its loss deletes nothing.
    pub adopted: bool,
    /// How many updates of the cluster of each kind were begun (`version`, `logging`…). Tokens are derived from it.
    pub updates: BTreeMap<UpdateKind, u32>,
    /// The update of the cluster that is under way.
    pub update: Option<RecordedUpdate>,
    /// What failed in EKS, by what it was (`cluster`, a kind of update, `addon/coredns`), until it succeeds or is no longer requested.
    pub failed: BTreeMap<String, RecordedFailure>,
    /// The newest roll-back of the version that a person made.
    pub rollback: Option<RecordedRollback>,
    /// Whether the deletion was about to be sent: a cluster that is not found is then gone.
    pub deleting: bool,
    /// The version of each add-on that `Latest` was resolved to, and for which Kubernetes version.
    pub addon_versions: BTreeMap<String, (Minor, String)>,
    /// Add-ons whose objects stay in the cluster when they are no longer requested.
    pub preserved_addons: BTreeSet<String>,
    /// Add-ons that have a role because the spec named one: it is taken away when the spec does no longer. Any other role stays.
    pub addon_roles: BTreeSet<String>,
    /// Unique id of the role behind each access entry that we created, by ARN.
    pub entry_roles: BTreeMap<String, String>,
    /// ARN of the OIDC provider that we created, or were about to.
    pub oidc_provider: Option<String>,
    /// Name of the identity provider configuration that we associated, or were about to.
    pub identity_provider: Option<String>,
    /// Keys of the user's tags that were put on the cluster: one that is no longer requested is removed.
    pub tag_keys: BTreeSet<String>,
    /// Whether the API server once was reachable: once true it stays true. Set by the controller; plans keep it.
    pub initialized: bool,
}

/// What an update of the cluster is about: EKS accepts one of these per call. The text is part of client tokens and of the status.
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
    Display,
)]
#[strum(serialize_all = "camelCase")]
#[expect(missing_docs, reason = "the names are those of the fields of a cluster")]
pub enum UpdateKind {
    Version,
    Access,
    Subnets,
    SecurityGroups,
    Logging,
    AuthenticationMode,
    UpgradePolicy,
    ZonalShift,
    DeletionProtection,
    Encryption,
    ScalingTier,
    AssociateIdentityProvider,
    DisassociateIdentityProvider,
}

impl UpdateKind {
    /// As text.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The type that EKS gives it.
    pub(crate) fn of_eks(self) -> UpdateType {
        match self {
            Self::Version => UpdateType::VersionUpdate,
            Self::Access => UpdateType::EndpointAccessUpdate,
            Self::Subnets | Self::SecurityGroups => UpdateType::VpcConfigUpdate,
            Self::Logging => UpdateType::LoggingUpdate,
            Self::AuthenticationMode => UpdateType::AccessConfigUpdate,
            Self::UpgradePolicy => UpdateType::UpgradePolicyUpdate,
            Self::ZonalShift => UpdateType::ZonalShiftConfigUpdate,
            Self::DeletionProtection => UpdateType::DeletionProtectionUpdate,
            Self::Encryption => UpdateType::AssociateEncryptionConfig,
            Self::ScalingTier => UpdateType::ControlPlaneScalingConfigUpdate,
            Self::AssociateIdentityProvider => UpdateType::AssociateIdentityProviderConfig,
            Self::DisassociateIdentityProvider => UpdateType::DisassociateIdentityProviderConfig,
        }
    }

    /// Whether it is about who has access, and says nothing of the control plane.
    pub(crate) fn is_of_access(self) -> bool {
        match self {
            Self::AssociateIdentityProvider | Self::DisassociateIdentityProvider => true,
            Self::Version
            | Self::Access
            | Self::Subnets
            | Self::SecurityGroups
            | Self::Logging
            | Self::AuthenticationMode
            | Self::UpgradePolicy
            | Self::ZonalShift
            | Self::DeletionProtection
            | Self::Encryption
            | Self::ScalingTier => false,
        }
    }
}

/// An update under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedUpdate {
    /// Which.
    pub kind: UpdateKind,
    /// Hash of what was requested.
    pub content: String,
    /// Its id in EKS. `None`: the call was about to be sent.
    pub id: Option<String>,
    /// When that was decided.
    pub since: Timestamp,
}

/// What failed in EKS after the call was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedFailure {
    /// Hash of what was requested: something else is tried at once.
    pub content: String,
    /// EKS's codes and words.
    pub message: String,
    /// How often in a row.
    pub times: u32,
    /// When that was seen last.
    pub at: Timestamp,
}

/// A roll-back of the version by a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedRollback {
    /// Id of the update.
    pub update: String,
    /// The version that was requested when it was seen: the cluster is not updated to it again. `None`: another version was requested
    /// since.
    pub refused: Option<Minor>,
}
