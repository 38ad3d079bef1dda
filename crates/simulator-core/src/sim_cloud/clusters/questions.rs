//! Answers to questions, as EKS's own calls give them.

use super::tell::{self, of_iam};
use crate::core::Region;
use crate::core::eks::{ADDONS, InsightsFilter};
use crate::core::error::{AwsError, AwsResult};
use crate::sim_cloud::convert::dated;
use foo_model::eks::{AddonRelease, Answer, InsightsRefresh, Minor, Question};

/// The answer to one call of EKS.
pub(super) fn answer(region: &Region, question: &Question) -> AwsResult<Answer> {
    match question {
        Question::Cluster(name) => {
            let seen = region.cluster_seen(name)?;
            Ok(Answer::Cluster(Some(Box::new(tell::cluster(region, seen)))))
        }
        Question::Updates(cluster) => {
            Ok(Answer::Names(region.updates_seen(cluster, None)?.into_iter().collect()))
        }
        Question::Update { cluster, id, addon } => {
            Ok(Answer::Update(Some(tell::update(region.update_seen(cluster, id, addon.as_deref())?))))
        }
        Question::Insights(cluster) => insights(region, cluster),
        Question::InsightsRefresh(cluster) => {
            let (started, ends) = region.insights_refresh(cluster)?;
            Ok(Answer::InsightsRefresh(Some(InsightsRefresh {
                started: dated(started),
                is_over: ends <= region.now(),
            })))
        }
        Question::Addons(cluster) => {
            Ok(Answer::Names(region.cluster_seen(cluster)?.addons.keys().cloned().collect()))
        }
        Question::Addon { cluster, name } => {
            let (addon, status, issues) = region.addon_seen(cluster, name)?;
            Ok(Answer::Addon(Some(Box::new(tell::addon(addon, status, issues)))))
        }
        Question::AccessEntries(cluster) => {
            Ok(Answer::Names(region.access_entries_seen(cluster, None)?.into_iter().collect()))
        }
        Question::AccessEntry { cluster, principal } => {
            Ok(Answer::AccessEntry(Some(tell::entry(region.access_entry_seen(cluster, principal)?))))
        }
        Question::AccessPolicies { cluster, principal } => {
            let policies = &region.access_entry_seen(cluster, principal)?.policies;
            Ok(Answer::AccessPolicies(policies.iter().map(|(arn, it)| tell::policy(arn, it)).collect()))
        }
        Question::PodIdentities(cluster) => {
            let all = region.cluster_seen(cluster)?.pod_identities.values();
            Ok(Answer::PodIdentities(all.map(tell::listed_pod_identity).collect()))
        }
        Question::PodIdentity { cluster, id } => {
            let found = region.pod_identity_seen(cluster, id)?;
            Ok(Answer::PodIdentities(vec![tell::pod_identity(found)]))
        }
        Question::Versions => {
            let offers = region.settings.eks.versions.iter();
            Ok(Answer::Versions(offers.map(|offer| tell::offer(offer, region.now())).collect()))
        }
        Question::AddonReleases { addon, kubernetes } => releases(addon, *kubernetes),
        Question::AddonSchema { addon, version } => schema(addon, version),
        Question::Role(_) | Question::InstanceProfile(_) | Question::OidcProvider(_) => Err(of_iam()),
    }
}

fn insights(region: &Region, cluster: &str) -> AwsResult<Answer> {
    let filter =
        InsightsFilter { categories: vec!["UPGRADE_READINESS".to_owned()], ..InsightsFilter::default() };
    let found = region.insights_seen(cluster, &filter)?;
    Ok(Answer::Insights(found.iter().map(tell::insight).collect()))
}

/// Newest first.
fn releases(name: &str, kubernetes: Minor) -> AwsResult<Answer> {
    let addon = ADDONS.iter().find(|it| it.name == name).ok_or_else(|| not_offered("Addon"))?;
    let default = addon.default_for(kubernetes).map(|release| release.version);
    let told =
        addon.releases.iter().rev().filter(|release| release.fits(kubernetes)).map(|release| AddonRelease {
            version: release.version.to_owned(),
            default: default == Some(release.version),
            requires_configuration: false,
            requires_iam: addon.rights.is_some(),
        });
    Ok(Answer::AddonReleases(told.collect()))
}

fn schema(name: &str, version: &str) -> AwsResult<Answer> {
    let addon = ADDONS.iter().find(|it| it.name == name && it.release(version).is_some());
    let addon = addon.ok_or_else(|| not_offered("Addon version"))?;
    Ok(Answer::Schema(Some(addon.schema.to_owned())))
}

fn not_offered(what: &str) -> AwsError {
    AwsError::new("InvalidParameterException", format!("{what} specified is not supported"))
}
