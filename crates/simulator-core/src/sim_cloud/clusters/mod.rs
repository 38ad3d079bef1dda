//! The simulated EKS, and what it needs of IAM, behind the trait of clusters.

mod changes;
mod questions;
mod tell;
mod token;

use super::SimCloud;
use crate::core::Region;
use crate::world::Inner;
use async_trait::async_trait;
use foo_cloud::{CloudError, ClusterToken, Clusters, ErrorKind, Result, Roles as _};
use foo_model::eks::{Answer, Change, Changed, OidcChange, Question};

/// Entries of one page, as the adapter asks for them.
const PAGE: usize = 100;

#[async_trait]
impl Clusters for SimCloud {
    async fn describe_eks(&self, question: &Question) -> Result<Answer> {
        if let Some(answer) = self.ask_iam(question).await {
            return answer;
        }
        let mut looked = 0_usize;
        loop {
            let ask = |region: &mut Region| questions::answer(region, question);
            let answer = match self.call(question.operation(), format!("{question:?}"), ask).await {
                Err(error) if is_absence(question, &error) => question.nothing(),
                answer => answer?,
            };
            looked = looked.saturating_add(PAGE);
            if looked >= entries(&answer) {
                return Ok(answer);
            }
        }
    }

    async fn change_eks(&self, change: &Change, token: Option<&str>) -> Result<Changed> {
        match change {
            Change::Oidc(OidcChange::Create(provider)) => {
                let id = Some(self.create_oidc_provider(provider).await?);
                return Ok(Changed { id, ..Changed::default() });
            }
            Change::Oidc(OidcChange::Delete { arn }) => {
                return self.delete_oidc_provider(arn).await.map(|()| Changed::default());
            }
            Change::Cluster { .. }
            | Change::Addon { .. }
            | Change::Entry { .. }
            | Change::PodIdentity { .. }
            | Change::Tags { .. } => {}
        }
        let (arn, parameters) = (self.arn(), format!("{change:?}"));
        let config = &self.world.config;
        let carry_out = |inner: &mut Inner| {
            let principals = inner.keys.principals(&config.account);
            let region = inner.region(config, &self.region)?;
            region.begin_reads();
            changes::carry_out(region, &principals, &arn, change, token)
        };
        self.call_of_account(change.operation(), &parameters, carry_out).await
    }

    async fn cluster_token(&self, cluster: &str) -> Result<ClusterToken> {
        Ok(token::of(&self.world, &self.region, &self.caller, cluster))
    }
}

impl SimCloud {
    /// The answer to a question that IAM answers.
    async fn ask_iam(&self, question: &Question) -> Option<Result<Answer>> {
        if let Question::Role(name) = question {
            return Some(self.role(name).await.map(Answer::Role));
        }
        if let Question::InstanceProfile(name) = question {
            return Some(self.instance_profile(name).await.map(Answer::InstanceProfile));
        }
        if let Question::OidcProvider(arn) = question {
            return Some(self.oidc_provider(arn).await.map(Answer::OidcProvider));
        }
        None
    }
}

/// Whether an error says that what is asked for does not exist, as the adapter takes it.
fn is_absence(question: &Question, error: &CloudError) -> bool {
    let names_what_is_offered =
        matches!(question, Question::AddonReleases { .. } | Question::AddonSchema { .. });
    error.kind == ErrorKind::NotFound || (names_what_is_offered && error.kind == ErrorKind::Invalid)
}

/// How many entries the pages of an answer have.
fn entries(answer: &Answer) -> usize {
    match answer {
        Answer::Names(names) => names.len(),
        Answer::Insights(insights) => insights.len(),
        Answer::AccessPolicies(policies) => policies.len(),
        Answer::PodIdentities(associations) => associations.len(),
        Answer::Versions(versions) => versions.len(),
        // One add-on.
        Answer::AddonReleases(_)
        | Answer::Cluster(_)
        | Answer::InsightsRefresh(_)
        | Answer::Update(_)
        | Answer::Addon(_)
        | Answer::AccessEntry(_)
        | Answer::Schema(_)
        | Answer::Role(_)
        | Answer::InstanceProfile(_)
        | Answer::OidcProvider(_) => 1,
    }
}
