//! Roles of an account, and what refers to them: instance profiles, and providers of OpenID Connect tokens (AWS Identity and
//! Access Management). Names are unique in the account, whatever the region.

use crate::Result;
use async_trait::async_trait;
use foo_model::eks;
use std::collections::{BTreeMap, BTreeSet};

/// A role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Its name.
    pub name: String,
    /// Its ARN, which contains its path.
    pub arn: String,
    /// Its id, which a role that is created later under the same name does not get (`AROA…`).
    pub unique_id: String,
    /// Its path: `/`, or one that begins and ends with `/`.
    pub path: String,
    /// Service principals that its trust policy allows to assume it (`ec2.amazonaws.com`); `*` stands for every principal.
    /// Conditions of the policy are not evaluated.
    pub services: BTreeSet<String>,
}

/// What instances get a role by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceProfile {
    /// Its name.
    pub name: String,
    /// Its ARN.
    pub arn: String,
    /// Its role, if it has one: at most one (IAM User Guide, "IAM and AWS STS quotas").
    pub roles: Vec<Role>,
}

/// An issuer of OpenID Connect tokens that roles of the account may trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OidcProvider {
    /// Its ARN.
    pub arn: String,
    /// Its URL without `https://`, as IAM shows it.
    pub url: String,
    /// Audiences of the tokens that it may issue.
    pub clients: BTreeSet<String>,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
}

/// An issuer to create. IAM determines the thumbprint of its certificate (IAM API Reference, CreateOpenIDConnectProvider,
/// `ThumbprintList`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewOidcProvider {
    /// `https://` and the value of `iss` in its tokens; without port and query.
    pub url: String,
    /// Audiences of its tokens; at most 100.
    pub clients: BTreeSet<String>,
    /// Its tags; at most 50.
    pub tags: BTreeMap<String, String>,
}

/// Calls of IAM. It has one endpoint for all regions of a partition, and its reads may be some seconds older than the last
/// change (IAM User Guide, "Troubleshoot IAM", eventual consistency).
#[async_trait]
pub trait Roles: Send + Sync {
    /// The instance profile of this name (not an ARN), if there is one.
    async fn instance_profile(&self, name: &str) -> Result<Option<InstanceProfile>>;
    /// The role of this name (without its path), if there is one.
    async fn role(&self, name: &str) -> Result<Option<Role>>;
    /// The issuer with this ARN, if there is one.
    async fn oidc_provider(&self, arn: &str) -> Result<Option<OidcProvider>>;
    /// Creates an issuer, and returns its ARN. `AlreadyExists` if the account has one with this URL, whoever created it;
    /// `LimitExceeded` beyond the account's quota. Sent once.
    async fn create_oidc_provider(&self, provider: &NewOidcProvider) -> Result<String>;
    /// Deletes an issuer; one that does not exist is no error. Roles that trust it stay.
    async fn delete_oidc_provider(&self, arn: &str) -> Result<()>;
}

impl From<Role> for eks::Role {
    fn from(it: Role) -> Self {
        Self { arn: it.arn, unique_id: it.unique_id, trusted_services: it.services }
    }
}

impl From<InstanceProfile> for eks::InstanceProfile {
    fn from(it: InstanceProfile) -> Self {
        Self { arn: it.arn, role: it.roles.into_iter().next().map(Into::into) }
    }
}

impl From<OidcProvider> for eks::OidcProvider {
    fn from(it: OidcProvider) -> Self {
        Self { arn: it.arn, url: it.url, client_ids: it.clients, tags: it.tags }
    }
}
