//! What EKS needs of IAM.

use crate::network::Tags;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// An IAM role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Role {
    /// ARN, with the role's path.
    pub arn: String,
    /// The id that no other role ever has (`AROA…`): a role that is created again under the same name has another one.
    pub unique_id: String,
    /// Service principals that may assume it (`ec2.amazonaws.com`), as far as its trust policy names them.
    pub trusted_services: BTreeSet<String>,
}

/// An instance profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceProfile {
    /// ARN, with the profile's path.
    pub arn: String,
    /// Its role: at most one (IAM User Guide, "Use instance profiles").
    pub role: Option<Role>,
}

/// An OIDC identity provider of IAM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OidcProvider {
    /// ARN.
    pub arn: String,
    /// URL of the issuer, without `https://`.
    pub url: String,
    /// Audiences.
    pub client_ids: BTreeSet<String>,
    /// Tags.
    pub tags: Tags,
}
