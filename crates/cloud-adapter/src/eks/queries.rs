//! Reads of EKS, with all pages.

use super::changes::incomplete;
use super::shapes;
use crate::error::{self, Gap};
use aws_sdk_eks::Client;
use aws_sdk_eks::types as aws;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use foo_cloud::{CloudError, ErrorKind, Operation, Result};
use foo_model::eks::{Minor, Query, QueryResult};
use std::error::Error;

/// Entries of a page, the most that EKS gives (EKS API Reference, maxResults).
const PAGE: i32 = 100;

/// Whether EKS says that what is asked for does not exist.
///
/// Now and then EKS reports an absent cluster as a `ClientException`; nothing but its text says so
/// (hashicorp/terraform-provider-aws, `findClusterByName`). An add-on or version that EKS does not offer is an invalid parameter of
/// queries that have no others.
pub(super) fn is_absence(query: &Query, error: &CloudError) -> bool {
    let asks_what_is_offered = matches!(query, Query::AddonReleases { .. } | Query::AddonSchema { .. });
    error.kind == ErrorKind::NotFound
        || match error.code.as_deref() {
            Some("ClientException") => error.message.starts_with("No cluster found for name:"),
            Some("InvalidParameterException") => asks_what_is_offered,
            _ => false,
        }
}

fn received<T, E>(operation: Operation, response: Result<T, SdkError<E, HttpResponse>>) -> Result<T>
where
    E: ProvideErrorMetadata + Error + 'static,
{
    response.map_err(|failed| error::of(operation, &failed))
}

/// A part that a response must have.
fn part<A, P>(
    operation: Operation,
    response: Option<&A>,
    name: &'static str,
    read: impl FnOnce(&A) -> Result<P, Gap>,
) -> Result<P> {
    response.ok_or(Gap(name)).and_then(read).map_err(|gap| gap.during(operation))
}

/// All entries of all pages of a list.
macro_rules! every {
    ($operation:ident, $call:expr) => {{
        let mut entries = Vec::new();
        let mut pages = $call.into_paginator().page_size(PAGE).items().send();
        while let Some(entry) = pages.next().await {
            entries.push(received(Operation::$operation, entry)?);
        }
        entries
    }};
}

pub(super) async fn cluster(eks: &Client, name: &str) -> Result<QueryResult> {
    const OPERATION: Operation = Operation::DescribeCluster;
    let response = received(OPERATION, eks.describe_cluster().name(name).send().await)?;
    let cluster = part(OPERATION, response.cluster(), "cluster", shapes::cluster)?;
    Ok(QueryResult::Cluster(Some(Box::new(cluster))))
}

pub(super) async fn updates(eks: &Client, cluster: &str) -> Result<QueryResult> {
    let ids = every!(ListUpdates, eks.list_updates().name(cluster));
    Ok(QueryResult::Names(ids.into_iter().collect()))
}

pub(super) async fn update(
    eks: &Client,
    cluster: &str,
    id: &str,
    addon: Option<&str>,
) -> Result<QueryResult> {
    const OPERATION: Operation = Operation::DescribeUpdate;
    let call = eks.describe_update().name(cluster).update_id(id).set_addon_name(addon.map(str::to_owned));
    let response = received(OPERATION, call.send().await)?;
    Ok(QueryResult::Update(Some(part(OPERATION, response.update(), "update", shapes::update)?)))
}

pub(super) async fn insights(eks: &Client, cluster: &str) -> Result<QueryResult> {
    let filter = aws::InsightsFilter::builder().categories(aws::Category::UpgradeReadiness).build();
    let found = every!(ListInsights, eks.list_insights().cluster_name(cluster).filter(filter));
    let insights: Result<_, Gap> = found.iter().map(shapes::insight).collect();
    Ok(QueryResult::Insights(insights.map_err(|gap| gap.during(Operation::ListInsights))?))
}

pub(super) async fn insights_refresh(eks: &Client, cluster: &str) -> Result<QueryResult> {
    const OPERATION: Operation = Operation::DescribeInsightsRefresh;
    let response = received(OPERATION, eks.describe_insights_refresh().cluster_name(cluster).send().await)?;
    let refresh = shapes::insights_refresh(&response).map_err(|gap| gap.during(OPERATION))?;
    Ok(QueryResult::InsightsRefresh(Some(refresh)))
}

pub(super) async fn addons(eks: &Client, cluster: &str) -> Result<QueryResult> {
    let names = every!(ListAddons, eks.list_addons().cluster_name(cluster));
    Ok(QueryResult::Names(names.into_iter().collect()))
}

pub(super) async fn addon(eks: &Client, cluster: &str, name: &str) -> Result<QueryResult> {
    const OPERATION: Operation = Operation::DescribeAddon;
    let call = eks.describe_addon().cluster_name(cluster).addon_name(name);
    let response = received(OPERATION, call.send().await)?;
    Ok(QueryResult::Addon(Some(Box::new(part(OPERATION, response.addon(), "addon", shapes::addon)?))))
}

pub(super) async fn access_entries(eks: &Client, cluster: &str) -> Result<QueryResult> {
    let principals = every!(ListAccessEntries, eks.list_access_entries().cluster_name(cluster));
    Ok(QueryResult::Names(principals.into_iter().collect()))
}

pub(super) async fn access_entry(eks: &Client, cluster: &str, principal: &str) -> Result<QueryResult> {
    const OPERATION: Operation = Operation::DescribeAccessEntry;
    let call = eks.describe_access_entry().cluster_name(cluster).principal_arn(principal);
    let response = received(OPERATION, call.send().await)?;
    let entry = part(OPERATION, response.access_entry(), "accessEntry", shapes::access_entry)?;
    Ok(QueryResult::AccessEntry(Some(entry)))
}

pub(super) async fn access_policies(eks: &Client, cluster: &str, principal: &str) -> Result<QueryResult> {
    const OPERATION: Operation = Operation::ListAssociatedAccessPolicies;
    let call = eks.list_associated_access_policies().cluster_name(cluster).principal_arn(principal);
    let mut pages = call.into_paginator().page_size(PAGE).send();
    let mut policies = std::collections::BTreeSet::new();
    while let Some(page) = pages.next().await {
        for policy in received(OPERATION, page)?.associated_access_policies() {
            policies.insert(shapes::access_policy(policy).map_err(|gap| gap.during(OPERATION))?);
        }
    }
    Ok(QueryResult::AccessPolicies(policies))
}

pub(super) async fn pod_identities(eks: &Client, cluster: &str) -> Result<QueryResult> {
    let call = eks.list_pod_identity_associations().cluster_name(cluster);
    let found = every!(ListPodIdentityAssociations, call);
    let all: Result<_, Gap> = found.iter().map(shapes::listed_pod_identity).collect();
    Ok(QueryResult::PodIdentities(all.map_err(|gap| gap.during(Operation::ListPodIdentityAssociations))?))
}

pub(super) async fn pod_identity(eks: &Client, cluster: &str, id: &str) -> Result<QueryResult> {
    const OPERATION: Operation = Operation::DescribePodIdentityAssociation;
    let call = eks.describe_pod_identity_association().cluster_name(cluster).association_id(id);
    let response = received(OPERATION, call.send().await)?;
    let found = part(OPERATION, response.association(), "association", shapes::pod_identity)?;
    Ok(QueryResult::PodIdentities(vec![found]))
}

pub(super) async fn identity_providers(eks: &Client, cluster: &str) -> Result<QueryResult> {
    let found =
        every!(ListIdentityProviderConfigs, eks.list_identity_provider_configs().cluster_name(cluster));
    let of_type = found.into_iter().filter(|it| it.r#type() == shapes::OIDC);
    Ok(QueryResult::Names(of_type.map(|it| it.name).collect()))
}

pub(super) async fn identity_provider(eks: &Client, cluster: &str, name: &str) -> Result<QueryResult> {
    const OPERATION: Operation = Operation::DescribeIdentityProviderConfig;
    let call = eks.describe_identity_provider_config().cluster_name(cluster);
    let named = shapes::named(name).map_err(|why| incomplete(OPERATION, &why))?;
    let call = call.identity_provider_config(named);
    let response = received(OPERATION, call.send().await)?;
    let shown = response.identity_provider_config().and_then(aws::IdentityProviderConfigResponse::oidc);
    let found = part(OPERATION, shown, "identityProviderConfig.oidc", shapes::identity_provider)?;
    Ok(QueryResult::IdentityProvider(Some(Box::new(found))))
}

/// Also those without support, which clusters may still have.
pub(super) async fn versions(eks: &Client) -> Result<QueryResult> {
    let found = every!(DescribeClusterVersions, eks.describe_cluster_versions().include_all(true));
    Ok(QueryResult::Versions(found.iter().filter_map(shapes::version).collect()))
}

pub(super) async fn addon_releases(eks: &Client, addon: &str, kubernetes: Minor) -> Result<QueryResult> {
    let version = kubernetes.to_string();
    let call = eks.describe_addon_versions().addon_name(addon).kubernetes_version(&version);
    let found = every!(DescribeAddonVersions, call);
    let of_addon = found.iter().filter(|it| it.addon_name() == Some(addon));
    let releases = of_addon.flat_map(aws_sdk_eks::types::AddonInfo::addon_versions);
    let mut releases: Vec<_> = releases.filter_map(|it| shapes::addon_release(it, &version)).collect();
    shapes::newest_first(&mut releases);
    Ok(QueryResult::AddonReleases(releases))
}

pub(super) async fn addon_schema(eks: &Client, addon: &str, version: &str) -> Result<QueryResult> {
    let call = eks.describe_addon_configuration().addon_name(addon).addon_version(version);
    let response = received(Operation::DescribeAddonConfiguration, call.send().await)?;
    Ok(QueryResult::Schema(response.configuration_schema().map(str::to_owned)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: &str, kind: ErrorKind, message: &str) -> CloudError {
        CloudError::new(Operation::DescribeCluster, kind, Some(code.to_owned()), message)
    }

    #[test]
    fn an_absent_cluster_has_two_codes() {
        let query = Query::Cluster("c".to_owned());
        let absent = |code, kind, message| is_absence(&query, &error(code, kind, message));
        assert!(absent("ResourceNotFoundException", ErrorKind::NotFound, "No cluster found for name: c."));
        assert!(absent("ClientException", ErrorKind::Invalid, "No cluster found for name: c."));
        assert!(!absent("ClientException", ErrorKind::Invalid, "The role is not usable"));
        assert!(!absent("InvalidParameterException", ErrorKind::Invalid, "The name is invalid"));
    }

    #[test]
    fn an_add_on_that_is_not_offered_is_absent() {
        let query = Query::AddonReleases { addon: "x".to_owned(), kubernetes: Minor(34) };
        let refused = |code, kind| is_absence(&query, &error(code, kind, "not supported"));
        assert!(refused("InvalidParameterException", ErrorKind::Invalid));
        assert!(!refused("AccessDeniedException", ErrorKind::Denied));
    }
}
