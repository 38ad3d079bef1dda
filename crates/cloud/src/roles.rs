//! Roles of an account, and what refers to them: instance profiles, and providers of OpenID Connect tokens (AWS
//! Identity and Access Management). Names are unique in the account, whatever the region.

use crate::Result;
use async_trait::async_trait;
use foo_model::eks::{InstanceProfile, NewOidcProvider, OidcProvider, Role};

/// Calls of IAM. It has one endpoint for all regions of a partition, and its reads may be some seconds older than the
/// last change (IAM User Guide, "Troubleshoot IAM", eventual consistency).
#[async_trait]
pub trait Roles: Send + Sync {
    /// The instance profile of this name (not an ARN), if there is one.
    async fn instance_profile(&self, name: &str) -> Result<Option<InstanceProfile>>;
    /// The role of this name (without its path), if there is one.
    async fn role(&self, name: &str) -> Result<Option<Role>>;
    /// The issuer with this ARN, if there is one.
    async fn oidc_provider(&self, arn: &str) -> Result<Option<OidcProvider>>;
    /// Creates an issuer, and returns its ARN. `AlreadyExists` if the account has one with this URL, whoever created
    /// it; `LimitExceeded` beyond the account's quota. Sent once.
    async fn create_oidc_provider(&self, provider: &NewOidcProvider) -> Result<String>;
    /// Deletes an issuer; one that does not exist is no error. Roles that trust it stay.
    async fn delete_oidc_provider(&self, arn: &str) -> Result<()>;
}
