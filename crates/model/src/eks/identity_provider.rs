//! The OIDC identity provider of a cluster, whose users the API server knows (EKS API Reference, `OidcIdentityProviderConfig`). EKS has
//! one per cluster, and changes none: another one is associated when the former is disassociated.

use crate::network::Tags;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use strum::{EnumString, IntoStaticStr};

/// An identity provider configuration of a cluster as DescribeIdentityProviderConfig shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityProvider {
    /// Its name.
    pub name: String,
    /// Its ARN.
    pub arn: String,
    /// Status.
    pub status: IdentityProviderStatus,
    /// Whose tokens are accepted, and who their users are.
    pub settings: IdentityProviderSettings,
    /// Tags.
    pub tags: Tags,
}

/// Whose tokens the API server accepts, and who their users are in Kubernetes. Whoever reads or writes them destructures without `..`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityProviderSettings {
    /// URL of the issuer, as `iss` in its tokens has it.
    pub issuer_url: String,
    /// Audience of the tokens.
    pub client_id: String,
    /// The claim that has the name of the user. `None`: `sub`.
    pub username_claim: Option<String>,
    /// What is put before the name; `-`: nothing. `None`: the issuer and `#`, unless the claim is `email`.
    pub username_prefix: Option<String>,
    /// The claim that has the groups. `None`: no groups.
    pub groups_claim: Option<String>,
    /// What is put before each group. `None`: nothing.
    pub groups_prefix: Option<String>,
    /// Claims that a token must have, with their values.
    pub required_claims: BTreeMap<String, String>,
}

/// Status of an identity provider configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, EnumString)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are AWS's own (EKS API Reference, OidcIdentityProviderConfig)")]
pub enum IdentityProviderStatus {
    Creating,
    Active,
    Deleting,
}
