//! EKS clusters and what belongs to them: every read and every change.
//!
//! * `queries`: reads with all pages; what does not exist is an empty result;
//! * `shapes`: responses in the nouns of `foo_model`;
//! * `changes`: one call per change.
//!
//! What EKS needs of IAM is in `roles`.

mod changes;
mod queries;
mod shapes;

use crate::AwsCloud;
use async_trait::async_trait;
use foo_cloud::{ClusterToken, Clusters, Result, Roles as _};
use foo_model::eks::{Change, Changed, Query, QueryResult};

#[async_trait]
impl Clusters for AwsCloud {
    async fn describe_eks(&self, query: &Query) -> Result<QueryResult> {
        let eks = &self.eks.repeating;
        let response = match query {
            Query::Cluster(name) => queries::cluster(eks, name).await,
            Query::Updates(cluster) => queries::updates(eks, cluster).await,
            Query::Update { cluster, id, addon } => queries::update(eks, cluster, id, addon.as_deref()).await,
            Query::Insights(cluster) => queries::insights(eks, cluster).await,
            Query::InsightsRefresh(cluster) => queries::insights_refresh(eks, cluster).await,
            Query::Addons(cluster) => queries::addons(eks, cluster).await,
            Query::Addon { cluster, name } => queries::addon(eks, cluster, name).await,
            Query::AccessEntries(cluster) => queries::access_entries(eks, cluster).await,
            Query::AccessEntry { cluster, principal } => queries::access_entry(eks, cluster, principal).await,
            Query::AccessPolicies { cluster, principal } => {
                queries::access_policies(eks, cluster, principal).await
            }
            Query::PodIdentities(cluster) => queries::pod_identities(eks, cluster).await,
            Query::PodIdentity { cluster, id } => queries::pod_identity(eks, cluster, id).await,
            Query::IdentityProviders(cluster) => queries::identity_providers(eks, cluster).await,
            Query::IdentityProvider { cluster, name } => queries::identity_provider(eks, cluster, name).await,
            Query::Versions => queries::versions(eks).await,
            Query::AddonReleases { addon, kubernetes } => {
                queries::addon_releases(eks, addon, *kubernetes).await
            }
            Query::AddonSchema { addon, version } => queries::addon_schema(eks, addon, version).await,
            Query::Role(name) => self.role(name).await.map(QueryResult::Role),
            Query::InstanceProfile(name) => {
                self.instance_profile(name).await.map(QueryResult::InstanceProfile)
            }
            Query::OidcProvider(arn) => self.oidc_provider(arn).await.map(QueryResult::OidcProvider),
        };
        match response {
            Err(error) if queries::is_absence(query, &error) => Ok(query.nothing()),
            response => response,
        }
    }

    async fn change_eks(&self, change: &Change, token: Option<&str>) -> Result<Changed> {
        changes::send(self, change, token).await
    }

    async fn cluster_token(&self, cluster: &str) -> Result<ClusterToken> {
        self.signer.token(cluster).await
    }
}
