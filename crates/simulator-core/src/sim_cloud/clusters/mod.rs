//! The simulated EKS, and what it needs of IAM, behind the trait of clusters.

mod changes;
mod queries;
mod to_model;
mod token;

use super::SimCloud;
use crate::core::Region;
use crate::world::Inner;
use async_trait::async_trait;
use foo_cloud::{CloudError, ClusterToken, Clusters, ErrorKind, Result, Roles as _};
use foo_model::eks::{Change, Changed, OidcChange, Query, QueryResult};

/// Entries of one page, as the adapter asks for them.
const PAGE: usize = 100;

#[async_trait]
impl Clusters for SimCloud {
    async fn describe_eks(&self, query: &Query) -> Result<QueryResult> {
        if let Some(response) = self.ask_iam(query).await {
            return response;
        }
        let mut entries_read = 0_usize;
        loop {
            let read = |region: &mut Region| queries::read(region, query);
            let response = match self.call(query.operation(), format!("{query:?}"), read).await {
                Err(error) if is_absence(query, &error) => query.nothing(),
                response => response?,
            };
            entries_read = entries_read.saturating_add(PAGE);
            if entries_read >= entries(&response) {
                return Ok(response);
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
    /// The result of a read that is a call of IAM.
    async fn ask_iam(&self, query: &Query) -> Option<Result<QueryResult>> {
        if let Query::Role(name) = query {
            return Some(self.role(name).await.map(QueryResult::Role));
        }
        if let Query::InstanceProfile(name) = query {
            return Some(self.instance_profile(name).await.map(QueryResult::InstanceProfile));
        }
        if let Query::OidcProvider(arn) = query {
            return Some(self.oidc_provider(arn).await.map(QueryResult::OidcProvider));
        }
        None
    }
}

/// Whether an error says that what is asked for does not exist, as the adapter takes it.
fn is_absence(query: &Query, error: &CloudError) -> bool {
    let names_what_is_offered = matches!(query, Query::AddonReleases { .. } | Query::AddonSchema { .. });
    error.kind == ErrorKind::NotFound || (names_what_is_offered && error.kind == ErrorKind::Invalid)
}

/// How many entries a page of a response has.
fn entries(response: &QueryResult) -> usize {
    match response {
        QueryResult::Names(names) => names.len(),
        QueryResult::Insights(insights) => insights.len(),
        QueryResult::AccessPolicies(policies) => policies.len(),
        QueryResult::PodIdentities(associations) => associations.len(),
        QueryResult::Versions(versions) => versions.len(),
        // One add-on.
        QueryResult::AddonReleases(_)
        | QueryResult::Cluster(_)
        | QueryResult::InsightsRefresh(_)
        | QueryResult::Update(_)
        | QueryResult::Addon(_)
        | QueryResult::AccessEntry(_)
        | QueryResult::IdentityProvider(_)
        | QueryResult::Schema(_)
        | QueryResult::Role(_)
        | QueryResult::InstanceProfile(_)
        | QueryResult::OidcProvider(_) => 1,
    }
}
