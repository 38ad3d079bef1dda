//! Reads of EKS, with all pages.

use super::shapes;
use crate::error::{self, Gap};
use aws_sdk_eks::Client;
use aws_sdk_eks::types as aws;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use foo_cloud::{CloudError, ErrorKind, Operation, Result};
use foo_model::eks::{Answer, Minor, Question};
use std::error::Error;

/// Entries of a page, the most that EKS gives (EKS API Reference, maxResults).
const PAGE: i32 = 100;

/// Whether EKS says that what is asked for does not exist.
///
/// Now and then EKS reports an absent cluster as a `ClientException`; nothing but its text says so
/// (hashicorp/terraform-provider-aws, `findClusterByName`). An add-on or version that EKS does not offer is an invalid parameter of
/// questions that have no others.
pub(super) fn is_absence(question: &Question, error: &CloudError) -> bool {
    let asks_what_is_offered =
        matches!(question, Question::AddonReleases { .. } | Question::AddonSchema { .. });
    error.kind == ErrorKind::NotFound
        || match error.code.as_deref() {
            Some("ClientException") => error.message.starts_with("No cluster found for name:"),
            Some("InvalidParameterException") => asks_what_is_offered,
            _ => false,
        }
}

fn answered<T, E>(operation: Operation, answer: Result<T, SdkError<E, HttpResponse>>) -> Result<T>
where
    E: ProvideErrorMetadata + Error + 'static,
{
    answer.map_err(|failed| error::of(operation, &failed))
}

/// A part that an answer must have.
fn part<A, P>(
    operation: Operation,
    answer: Option<&A>,
    name: &'static str,
    read: impl FnOnce(&A) -> Result<P, Gap>,
) -> Result<P> {
    answer.ok_or(Gap(name)).and_then(read).map_err(|gap| gap.during(operation))
}

/// All entries of all pages of a list.
macro_rules! every {
    ($operation:ident, $call:expr) => {{
        let mut entries = Vec::new();
        let mut pages = $call.into_paginator().page_size(PAGE).items().send();
        while let Some(entry) = pages.next().await {
            entries.push(answered(Operation::$operation, entry)?);
        }
        entries
    }};
}

pub(super) async fn cluster(eks: &Client, name: &str) -> Result<Answer> {
    const OPERATION: Operation = Operation::DescribeCluster;
    let answer = answered(OPERATION, eks.describe_cluster().name(name).send().await)?;
    let cluster = part(OPERATION, answer.cluster(), "cluster", shapes::cluster)?;
    Ok(Answer::Cluster(Some(Box::new(cluster))))
}

pub(super) async fn updates(eks: &Client, cluster: &str) -> Result<Answer> {
    let ids = every!(ListUpdates, eks.list_updates().name(cluster));
    Ok(Answer::Names(ids.into_iter().collect()))
}

pub(super) async fn update(eks: &Client, cluster: &str, id: &str, addon: Option<&str>) -> Result<Answer> {
    const OPERATION: Operation = Operation::DescribeUpdate;
    let call = eks.describe_update().name(cluster).update_id(id).set_addon_name(addon.map(str::to_owned));
    let answer = answered(OPERATION, call.send().await)?;
    Ok(Answer::Update(Some(part(OPERATION, answer.update(), "update", shapes::update)?)))
}

pub(super) async fn insights(eks: &Client, cluster: &str) -> Result<Answer> {
    let filter = aws::InsightsFilter::builder().categories(aws::Category::UpgradeReadiness).build();
    let found = every!(ListInsights, eks.list_insights().cluster_name(cluster).filter(filter));
    let insights: Result<_, Gap> = found.iter().map(shapes::insight).collect();
    Ok(Answer::Insights(insights.map_err(|gap| gap.during(Operation::ListInsights))?))
}

pub(super) async fn insights_refresh(eks: &Client, cluster: &str) -> Result<Answer> {
    const OPERATION: Operation = Operation::DescribeInsightsRefresh;
    let answer = answered(OPERATION, eks.describe_insights_refresh().cluster_name(cluster).send().await)?;
    let refresh = shapes::insights_refresh(&answer).map_err(|gap| gap.during(OPERATION))?;
    Ok(Answer::InsightsRefresh(Some(refresh)))
}

pub(super) async fn addons(eks: &Client, cluster: &str) -> Result<Answer> {
    let names = every!(ListAddons, eks.list_addons().cluster_name(cluster));
    Ok(Answer::Names(names.into_iter().collect()))
}

pub(super) async fn addon(eks: &Client, cluster: &str, name: &str) -> Result<Answer> {
    const OPERATION: Operation = Operation::DescribeAddon;
    let call = eks.describe_addon().cluster_name(cluster).addon_name(name);
    let answer = answered(OPERATION, call.send().await)?;
    Ok(Answer::Addon(Some(Box::new(part(OPERATION, answer.addon(), "addon", shapes::addon)?))))
}

pub(super) async fn access_entries(eks: &Client, cluster: &str) -> Result<Answer> {
    let principals = every!(ListAccessEntries, eks.list_access_entries().cluster_name(cluster));
    Ok(Answer::Names(principals.into_iter().collect()))
}

pub(super) async fn access_entry(eks: &Client, cluster: &str, principal: &str) -> Result<Answer> {
    const OPERATION: Operation = Operation::DescribeAccessEntry;
    let call = eks.describe_access_entry().cluster_name(cluster).principal_arn(principal);
    let answer = answered(OPERATION, call.send().await)?;
    let entry = part(OPERATION, answer.access_entry(), "accessEntry", shapes::access_entry)?;
    Ok(Answer::AccessEntry(Some(entry)))
}

pub(super) async fn access_policies(eks: &Client, cluster: &str, principal: &str) -> Result<Answer> {
    const OPERATION: Operation = Operation::ListAssociatedAccessPolicies;
    let call = eks.list_associated_access_policies().cluster_name(cluster).principal_arn(principal);
    let mut pages = call.into_paginator().page_size(PAGE).send();
    let mut policies = std::collections::BTreeSet::new();
    while let Some(page) = pages.next().await {
        for policy in answered(OPERATION, page)?.associated_access_policies() {
            policies.insert(shapes::access_policy(policy).map_err(|gap| gap.during(OPERATION))?);
        }
    }
    Ok(Answer::AccessPolicies(policies))
}

pub(super) async fn pod_identities(eks: &Client, cluster: &str) -> Result<Answer> {
    let call = eks.list_pod_identity_associations().cluster_name(cluster);
    let found = every!(ListPodIdentityAssociations, call);
    let all: Result<_, Gap> = found.iter().map(shapes::listed_pod_identity).collect();
    Ok(Answer::PodIdentities(all.map_err(|gap| gap.during(Operation::ListPodIdentityAssociations))?))
}

pub(super) async fn pod_identity(eks: &Client, cluster: &str, id: &str) -> Result<Answer> {
    const OPERATION: Operation = Operation::DescribePodIdentityAssociation;
    let call = eks.describe_pod_identity_association().cluster_name(cluster).association_id(id);
    let answer = answered(OPERATION, call.send().await)?;
    let found = part(OPERATION, answer.association(), "association", shapes::pod_identity)?;
    Ok(Answer::PodIdentities(vec![found]))
}

/// Also those without support, which clusters may still have.
pub(super) async fn versions(eks: &Client) -> Result<Answer> {
    let found = every!(DescribeClusterVersions, eks.describe_cluster_versions().include_all(true));
    Ok(Answer::Versions(found.iter().filter_map(shapes::version).collect()))
}

pub(super) async fn addon_releases(eks: &Client, addon: &str, kubernetes: Minor) -> Result<Answer> {
    let version = kubernetes.to_string();
    let call = eks.describe_addon_versions().addon_name(addon).kubernetes_version(&version);
    let found = every!(DescribeAddonVersions, call);
    let of_addon = found.iter().filter(|it| it.addon_name() == Some(addon));
    let releases = of_addon.flat_map(aws_sdk_eks::types::AddonInfo::addon_versions);
    let mut releases: Vec<_> = releases.filter_map(|it| shapes::addon_release(it, &version)).collect();
    shapes::newest_first(&mut releases);
    Ok(Answer::AddonReleases(releases))
}

pub(super) async fn addon_schema(eks: &Client, addon: &str, version: &str) -> Result<Answer> {
    let call = eks.describe_addon_configuration().addon_name(addon).addon_version(version);
    let answer = answered(Operation::DescribeAddonConfiguration, call.send().await)?;
    Ok(Answer::Schema(answer.configuration_schema().map(str::to_owned)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: &str, kind: ErrorKind, message: &str) -> CloudError {
        CloudError::new(Operation::DescribeCluster, kind, Some(code.to_owned()), message)
    }

    #[test]
    fn an_absent_cluster_has_two_codes() {
        let question = Question::Cluster("c".to_owned());
        let absent = |code, kind, message| is_absence(&question, &error(code, kind, message));
        assert!(absent("ResourceNotFoundException", ErrorKind::NotFound, "No cluster found for name: c."));
        assert!(absent("ClientException", ErrorKind::Invalid, "No cluster found for name: c."));
        assert!(!absent("ClientException", ErrorKind::Invalid, "The role is not usable"));
        assert!(!absent("InvalidParameterException", ErrorKind::Invalid, "The name is invalid"));
    }

    #[test]
    fn an_add_on_that_is_not_offered_is_absent() {
        let question = Question::AddonReleases { addon: "x".to_owned(), kubernetes: Minor(34) };
        let refused = |code, kind| is_absence(&question, &error(code, kind, "not supported"));
        assert!(refused("InvalidParameterException", ErrorKind::Invalid));
        assert!(!refused("AccessDeniedException", ErrorKind::Denied));
    }
}
