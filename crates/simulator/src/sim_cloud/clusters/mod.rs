//! The simulated EKS, and what it needs of IAM, behind the trait of clusters.

mod changes;
mod questions;
mod requests;
mod tell;
mod token;

use super::SimCloud;
use crate::config::SimulatorConfig;
use crate::core::Region;
use crate::core::error::AwsResult;
use crate::world::Inner;
use async_trait::async_trait;
use foo_cloud::{CloudError, ClusterToken, Clusters, ErrorKind, Result};
use foo_model::eks::{Answer, Change, Changed, Question};

/// Entries of one page, as the adapter asks for them.
const PAGE: usize = 100;

/// What a call is about: a region, and the account around it.
struct Place<'a> {
    inner: &'a mut Inner,
    config: &'a SimulatorConfig,
    region: &'a str,
}

impl Place<'_> {
    fn region(&mut self) -> AwsResult<&mut Region> {
        let region = self.inner.region(self.config, self.region)?;
        region.begin_reads();
        Ok(region)
    }

    fn account(&self) -> &str {
        &self.config.account
    }
}

#[async_trait]
impl Clusters for SimCloud {
    async fn describe_eks(&self, question: &Question) -> Result<Answer> {
        let parameters = format!("{question:?}");
        let mut looked = 0_usize;
        loop {
            let ask = |inner: &mut Inner| questions::answer(&mut self.place(inner), question);
            let answer = match self.call_of_account(question.into(), &parameters, ask).await {
                Err(error) if is_absence(question, &error) => question.nothing(),
                answer => answer?,
            };
            looked = looked.saturating_add(PAGE);
            if looked >= entries(&answer) {
                return Ok(answer);
            }
        }
    }

    async fn change_eks(&self, change: &Change) -> Result<Changed> {
        let (arn, parameters) = (self.arn(), format!("{change:?}"));
        let carry_out = |inner: &mut Inner| changes::carry_out(&mut self.place(inner), &arn, change);
        self.call_of_account(change.into(), &parameters, carry_out).await
    }

    async fn cluster_token(&self, cluster: &str) -> Result<ClusterToken> {
        Ok(token::of(&self.world, &self.region, &self.caller, cluster))
    }
}

impl SimCloud {
    fn place<'a>(&'a self, inner: &'a mut Inner) -> Place<'a> {
        Place { inner, config: &self.world.config, region: &self.region }
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
        | Answer::Update(_)
        | Answer::Addon(_)
        | Answer::AccessEntry(_)
        | Answer::Schema(_)
        | Answer::Role(_)
        | Answer::InstanceProfile(_)
        | Answer::OidcProvider(_) => 1,
    }
}
