//! What EKS needs of IAM.

use crate::AwsTime;
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
    /// When it was created; IAM's times have seconds.
    pub created: AwsTime,
    /// Service principals that its trust policy allows to assume it (`ec2.amazonaws.com`); `*` stands for every principal. Conditions
    /// of the policy are not evaluated.
    pub trusted_services: BTreeSet<String>,
}

/// An instance profile: what instances get a role by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceProfile {
    /// ARN, with the profile's path.
    pub arn: String,
    /// Its role: at most one (IAM User Guide, "IAM and AWS STS quotas").
    pub role: Option<Role>,
}

/// An OIDC identity provider of IAM: an issuer of tokens that roles of the account may trust.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OidcProvider {
    /// ARN.
    pub arn: String,
    /// URL of the issuer without `https://`, as IAM shows it.
    pub url: String,
    /// Audiences of the tokens that it may issue.
    pub client_ids: BTreeSet<String>,
    /// Tags.
    pub tags: Tags,
}
