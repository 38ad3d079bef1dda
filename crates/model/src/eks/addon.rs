//! Add-ons (EKS API Reference: `Addon`, `AddonVersionInfo`).

use super::issue::Issue;
use crate::network::Tags;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use strum::{EnumString, IntoStaticStr};

/// An add-on of a cluster as DescribeAddon shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addon {
    /// Its name, `vpc-cni`.
    pub name: String,
    /// Its ARN.
    pub arn: String,
    /// Its version, `v1.18.3-eksbuild.1`.
    pub version: String,
    /// Status.
    pub status: AddonStatus,
    /// What EKS says is wrong with it.
    pub issues: Vec<Issue>,
    /// Options.
    pub settings: AddonSettings,
    /// ARNs of its pod identity associations.
    pub pod_identities: BTreeSet<String>,
    /// Tags.
    pub tags: Tags,
}

/// The options of an add-on that are requested, sent and shown alike. Whoever reads or writes them destructures without `..`: a new
/// option does not compile until each has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddonSettings {
    /// Configuration, JSON or YAML. `None`: none; in an update `{}` clears it.
    pub configuration: Option<String>,
    /// ARN of the role of its service account. `None`: none, also in an update: EKS then takes away the role that there is.
    pub service_account_role: Option<String>,
}

impl AddonSettings {
    /// What EKS makes of them in an update: what it leaves out stays, except the role (EKS API Reference, UpdateAddon,
    /// `serviceAccountRoleArn`).
    #[must_use]
    pub fn updated(self, update: Self) -> Self {
        let Self { configuration, service_account_role } = update;
        Self { configuration: configuration.or(self.configuration), service_account_role }
    }
}

/// Status of an add-on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, EnumString)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are AWS's own (EKS API Reference, Addon)")]
pub enum AddonStatus {
    Creating,
    Active,
    CreateFailed,
    Updating,
    UpdateFailed,
    Degraded,
    Deleting,
    DeleteFailed,
}

impl AddonStatus {
    /// Whether EKS is at work on it: it accepts no change meanwhile.
    pub fn is_moving(self) -> bool {
        matches!(self, Self::Creating | Self::Updating | Self::Deleting)
    }
}

/// What EKS does about fields of an add-on's objects that another user changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, EnumString)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum ResolveConflicts {
    /// The call fails. EKS's default.
    #[default]
    None,
    /// It overwrites them.
    Overwrite,
    /// It keeps them. Updates only.
    Preserve,
}

/// A version of an add-on that fits a Kubernetes version (EKS API Reference, `DescribeAddonVersions`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddonRelease {
    /// The version of the add-on.
    pub version: String,
    /// Whether EKS installs it by default with that Kubernetes version.
    pub default: bool,
    /// Whether it cannot be created without configuration.
    pub requires_configuration: bool,
    /// Whether it needs rights in AWS.
    pub requires_iam: bool,
}
