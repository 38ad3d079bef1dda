//! Access to a cluster: access entries with their policies, and pod identity associations.

use crate::network::Tags;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use strum::{EnumString, IntoStaticStr};

/// An access entry (EKS API Reference, `AccessEntry`). EKS binds it to the unique id of its role: a role that was deleted and created
/// again under the same name has no access.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessEntry {
    /// ARN of the user or role.
    pub principal: String,
    /// ARN of the entry.
    pub arn: String,
    /// Type; immutable.
    pub kind: EntryKind,
    /// Name of the user in Kubernetes. EKS generates one if none is given.
    pub username: String,
    /// Groups in Kubernetes.
    pub groups: BTreeSet<String>,
    /// Tags.
    pub tags: Tags,
    /// When it was created.
    pub created: Option<crate::AwsTime>,
}

/// Whether EKS generated the name in Kubernetes of an access entry: of a user it is the ARN, of a role that of its sessions (EKS
/// User Guide, "Create access entries").
pub fn is_generated_username(principal: &str, username: &str) -> bool {
    let of_sessions = principal.split_once(":role/").map(|(before, role)| {
        let name = role.rsplit('/').next().unwrap_or(role);
        format!("{}:assumed-role/{name}/{{{{SessionName}}}}", before.replacen(":iam:", ":sts:", 1))
    });
    username.is_empty() || username == principal || of_sessions.as_deref() == Some(username)
}

/// Type of an access entry.
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
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are AWS's own (EKS API Reference, CreateAccessEntry)")]
pub enum EntryKind {
    #[default]
    Standard,
    Ec2Linux,
    Ec2Windows,
    FargateLinux,
    Ec2,
    HybridLinux,
    HyperpodLinux,
}

/// An access policy of an entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AccessPolicy {
    /// ARN of the policy.
    pub arn: String,
    /// Where it holds.
    pub scope: AccessScope,
}

/// Where an access policy holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "type", content = "namespaces", rename_all = "camelCase", deny_unknown_fields)]
pub enum AccessScope {
    /// In the whole cluster.
    Cluster,
    /// In these namespaces; `*` stands for any text.
    #[serde(rename = "namespace")]
    Namespaces(BTreeSet<String>),
}

/// A pod identity association (EKS API Reference, `PodIdentityAssociation`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodIdentity {
    /// Its id, `a-…`.
    pub id: String,
    /// Its ARN.
    pub arn: String,
    /// Namespace of the service account.
    pub namespace: String,
    /// Name of the service account.
    pub service_account: String,
    /// ARN of the role that its Pods get. A list does not show it; DescribePodIdentityAssociation does.
    pub role_arn: Option<String>,
    /// ARN of the add-on that it belongs to.
    pub owner_arn: Option<String>,
    /// Tags; only DescribePodIdentityAssociation shows them.
    pub tags: Tags,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_eks_generated_is_left_out() {
        let role = "arn:aws:iam::123456789012:role/path/admin";
        let user = "arn:aws:iam::123456789012:user/jane";
        for (principal, name, expected) in [
            (role, "arn:aws:sts::123456789012:assumed-role/admin/{{SessionName}}", true),
            (role, "", true),
            (user, user, true),
            (role, "arn:aws:sts::123456789012:assumed-role/other/{{SessionName}}", false),
            (role, "admin", false),
            (user, "jane", false),
        ] {
            assert_eq!(is_generated_username(principal, name), expected, "{principal} {name}");
        }
    }
}
