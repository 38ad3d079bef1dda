//! EKS clusters and what belongs to them: an answer to every question, and every change.
//!
//! * `questions`: reads with all pages; what does not exist is an empty answer;
//! * `shapes`: answers in the nouns of `foo_model`;
//! * `changes`: one call per change.
//!
//! IAM answers what EKS needs of it (`roles`).

mod changes;
mod questions;
mod shapes;

use crate::AwsCloud;
use async_trait::async_trait;
use foo_cloud::{ClusterToken, Clusters, Result, Roles as _};
use foo_model::eks::{Answer, Change, Changed, Question};

#[async_trait]
impl Clusters for AwsCloud {
    async fn describe_eks(&self, question: &Question) -> Result<Answer> {
        let eks = &self.eks.repeating;
        let answer = match question {
            Question::Cluster(name) => questions::cluster(eks, name).await,
            Question::Updates(cluster) => questions::updates(eks, cluster).await,
            Question::Update { cluster, id, addon } => {
                questions::update(eks, cluster, id, addon.as_deref()).await
            }
            Question::Insights(cluster) => questions::insights(eks, cluster).await,
            Question::InsightsRefresh(cluster) => questions::insights_refresh(eks, cluster).await,
            Question::Addons(cluster) => questions::addons(eks, cluster).await,
            Question::Addon { cluster, name } => questions::addon(eks, cluster, name).await,
            Question::AccessEntries(cluster) => questions::access_entries(eks, cluster).await,
            Question::AccessEntry { cluster, principal } => {
                questions::access_entry(eks, cluster, principal).await
            }
            Question::AccessPolicies { cluster, principal } => {
                questions::access_policies(eks, cluster, principal).await
            }
            Question::PodIdentities(cluster) => questions::pod_identities(eks, cluster).await,
            Question::PodIdentity { cluster, id } => questions::pod_identity(eks, cluster, id).await,
            Question::Versions => questions::versions(eks).await,
            Question::AddonReleases { addon, kubernetes } => {
                questions::addon_releases(eks, addon, *kubernetes).await
            }
            Question::AddonSchema { addon, version } => questions::addon_schema(eks, addon, version).await,
            Question::Role(name) => self.role(name).await.map(Answer::Role),
            Question::InstanceProfile(name) => self.instance_profile(name).await.map(Answer::InstanceProfile),
            Question::OidcProvider(arn) => self.oidc_provider(arn).await.map(Answer::OidcProvider),
        };
        match answer {
            Err(error) if questions::is_absence(question, &error) => Ok(question.nothing()),
            answer => answer,
        }
    }

    async fn change_eks(&self, change: &Change, token: Option<&str>) -> Result<Changed> {
        changes::send(self, change, token).await
    }

    async fn cluster_token(&self, cluster: &str) -> Result<ClusterToken> {
        self.signer.token(cluster).await
    }
}
