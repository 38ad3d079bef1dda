//! Results of reads, each from one call of EKS.

use super::to_model::{self, of_iam};
use crate::core::Region;
use crate::core::eks::ADDONS;
use crate::core::error::{AwsError, AwsResult};
use crate::core::rules::eks::InsightsFilter;
use crate::sim_cloud::convert::dated;
use foo_model::eks::{AddonRelease, InsightsRefresh, Minor, Query, QueryResult};

/// The result of one call of EKS.
pub(super) fn read(region: &Region, query: &Query) -> AwsResult<QueryResult> {
    match query {
        Query::Cluster(name) => {
            let seen = region.cluster_seen(name)?;
            Ok(QueryResult::Cluster(Some(Box::new(to_model::cluster(region, seen)))))
        }
        Query::Updates(cluster) => {
            Ok(QueryResult::Names(region.updates_seen(cluster, None)?.into_iter().collect()))
        }
        Query::Update { cluster, id, addon } => Ok(QueryResult::Update(Some(to_model::update(
            region.update_seen(cluster, id, addon.as_deref())?,
        )))),
        Query::Insights(cluster) => insights(region, cluster),
        Query::InsightsRefresh(cluster) => {
            let (started, ends) = region.insights_refresh(cluster)?;
            Ok(QueryResult::InsightsRefresh(Some(InsightsRefresh {
                started: dated(started),
                is_over: ends <= region.now(),
            })))
        }
        Query::Addons(cluster) => {
            Ok(QueryResult::Names(region.cluster_seen(cluster)?.addons.keys().cloned().collect()))
        }
        Query::Addon { cluster, name } => {
            let (addon, status, issues) = region.addon_seen(cluster, name)?;
            Ok(QueryResult::Addon(Some(Box::new(to_model::addon(addon, status, issues)))))
        }
        Query::AccessEntries(cluster) => {
            Ok(QueryResult::Names(region.access_entries_seen(cluster, None)?.into_iter().collect()))
        }
        Query::AccessEntry { cluster, principal } => {
            Ok(QueryResult::AccessEntry(Some(to_model::entry(region.access_entry_seen(cluster, principal)?))))
        }
        Query::AccessPolicies { cluster, principal } => {
            let policies = &region.access_entry_seen(cluster, principal)?.policies;
            Ok(QueryResult::AccessPolicies(
                policies.iter().map(|(arn, it)| to_model::policy(arn, it)).collect(),
            ))
        }
        Query::PodIdentities(cluster) => {
            let all = region.cluster_seen(cluster)?.pod_identities.values();
            Ok(QueryResult::PodIdentities(all.map(to_model::listed_pod_identity).collect()))
        }
        Query::PodIdentity { cluster, id } => {
            let found = region.pod_identity_seen(cluster, id)?;
            Ok(QueryResult::PodIdentities(vec![to_model::pod_identity(found)]))
        }
        Query::IdentityProviders(cluster) => {
            let all = region.cluster_seen(cluster)?.identity_provider.iter();
            Ok(QueryResult::Names(all.map(|it| it.config.name.clone()).collect()))
        }
        Query::IdentityProvider { cluster, name } => {
            let found = region.identity_provider_seen(cluster, name)?;
            Ok(QueryResult::IdentityProvider(Some(Box::new(found.clone()))))
        }
        Query::Versions => {
            let offers = region.settings.eks.versions.iter();
            Ok(QueryResult::Versions(offers.map(|offer| to_model::offer(offer, region.now())).collect()))
        }
        Query::AddonReleases { addon, kubernetes } => releases(addon, *kubernetes),
        Query::AddonSchema { addon, version } => schema(addon, version),
        Query::Role(_) | Query::InstanceProfile(_) | Query::OidcProvider(_) => Err(of_iam()),
    }
}

fn insights(region: &Region, cluster: &str) -> AwsResult<QueryResult> {
    let filter =
        InsightsFilter { categories: vec!["UPGRADE_READINESS".to_owned()], ..InsightsFilter::default() };
    let found = region.insights_seen(cluster, &filter)?;
    Ok(QueryResult::Insights(found.iter().map(to_model::insight).collect()))
}

/// Newest first.
fn releases(name: &str, kubernetes: Minor) -> AwsResult<QueryResult> {
    let addon = ADDONS.iter().find(|it| it.name == name).ok_or_else(|| not_offered("Addon"))?;
    let default = addon.default_for(kubernetes).map(|release| release.version);
    let releases =
        addon.releases.iter().rev().filter(|release| release.fits(kubernetes)).map(|release| AddonRelease {
            version: release.version.to_owned(),
            default: default == Some(release.version),
            requires_configuration: false,
            requires_iam: addon.rights.is_some(),
        });
    Ok(QueryResult::AddonReleases(releases.collect()))
}

fn schema(name: &str, version: &str) -> AwsResult<QueryResult> {
    let addon = ADDONS.iter().find(|it| it.name == name && it.release(version).is_some());
    let addon = addon.ok_or_else(|| not_offered("Addon version"))?;
    Ok(QueryResult::Schema(Some(addon.schema.to_owned())))
}

fn not_offered(what: &str) -> AwsError {
    AwsError::new("InvalidParameterException", format!("{what} specified is not supported"))
}
