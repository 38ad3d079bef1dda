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
    /// Its configuration, JSON or YAML; `None` if it has none.
    pub configuration: Option<String>,
    /// ARN of the role of its service account.
    pub service_account_role: Option<String>,
    /// ARNs of its pod identity associations.
    pub pod_identities: BTreeSet<String>,
    /// Tags.
    pub tags: Tags,
}

/// Status of an add-on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, EnumString)]
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

/// What EKS does about fields of an add-on's objects that somebody else changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, EnumString)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum ResolveConflicts {
    /// The call fails.
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
