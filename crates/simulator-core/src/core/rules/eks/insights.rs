//! Insights: what keeps a cluster from its next version (EKS User Guide, "Prepare for Kubernetes version upgrades and troubleshoot
//! misconfigurations with cluster insights"). EKS works out whether add-ons fit the next version; a test says the rest.

use crate::core::chance::Chance;
use crate::core::eks::addon_catalogue::{CATALOGUE, find};
use crate::core::eks::cluster::{Cluster, InsightFact};
use crate::core::eks::refusal::not_found;
use crate::core::eks::settings::EksSettings;
use crate::core::error::AwsResult;
use crate::core::region::Region;
use foo_model::Timestamp;
use foo_model::eks::{InsightStatus, Minor};
use serde::Deserialize;
use std::time::Duration;

/// An insight (EKS API Reference, Insight).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insight {
    /// Its id: the same for the same name and version.
    pub id: String,
    /// Its name.
    pub name: String,
    /// `UPGRADE_READINESS` and so on.
    pub category: String,
    /// The version that it speaks of.
    pub version: Minor,
    /// Its status.
    pub status: InsightStatus,
    /// In words.
    pub reason: String,
    /// What to do.
    pub recommendation: String,
    /// When EKS last looked.
    pub refreshed: Timestamp,
    /// The add-ons that do not fit, each with versions that do.
    pub addons: Vec<(String, Vec<String>)>,
}

/// Which insights a caller wants; nothing is named: all (EKS API Reference, InsightsFilter).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct InsightsFilter {
    /// `UPGRADE_READINESS` and so on.
    pub categories: Vec<String>,
    /// Minor versions of Kubernetes.
    pub kubernetes_versions: Vec<String>,
    /// Statuses.
    pub statuses: Vec<String>,
}

const ADDONS: &str = "EKS add-on version compatibility";

impl Region {
    /// All insights of a cluster.
    pub(super) fn insights_of(&self, name: &str) -> AwsResult<Vec<Insight>> {
        let cluster = self.cluster_seen(name)?;
        let refreshed = cluster.insights_refreshed.unwrap_or(cluster.created);
        let facts = self.insights_shown(cluster).iter().map(|fact| Insight {
            id: id_of(cluster, &fact.name, fact.kubernetes_version),
            name: fact.name.clone(),
            category: fact.category.clone(),
            version: fact.kubernetes_version,
            status: fact.status,
            reason: fact.reason.clone(),
            recommendation: fact.recommendation.clone(),
            refreshed,
            addons: Vec::new(),
        });
        Ok(facts.chain([of_addons(cluster, refreshed)]).collect())
    }

    /// What a test says of the insights, as of their latest refresh.
    pub(super) fn insights_shown<'c>(&self, cluster: &'c Cluster) -> &'c [InsightFact] {
        match &cluster.former_insights {
            Some((changed, former)) if self.insights_as_of(cluster) < *changed => former,
            Some(_) | None => &cluster.insights,
        }
    }

    /// When the latest refresh began that is over: that of the day, or one that a call asked for.
    fn insights_as_of(&self, cluster: &Cluster) -> Timestamp {
        let EksSettings { insights_period: period, insights_refresh: takes, .. } = &self.settings.eks;
        let age = cluster.created.until(self.now).as_secs();
        let Some(since) = age.checked_rem(period.as_secs()) else { return self.now };
        let daily = cluster.created.plus(Duration::from_secs(age.saturating_sub(since)));
        let asked = cluster.insights_refreshed.filter(|started| started.plus(*takes) <= self.now);
        asked.map_or(daily, |asked| asked.max(daily))
    }

    /// ListInsights.
    pub fn insights_seen(&self, name: &str, filter: &InsightsFilter) -> AwsResult<Vec<Insight>> {
        let any = |wanted: &[String], value: &str| wanted.is_empty() || wanted.iter().any(|it| it == value);
        let mut all = self.insights_of(name)?;
        all.retain(|it| {
            any(&filter.categories, &it.category)
                && any(&filter.kubernetes_versions, &it.version.to_string())
                && any(&filter.statuses, it.status.into())
        });
        all.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(all)
    }

    /// DescribeInsight.
    pub fn insight_seen(&self, name: &str, id: &str) -> AwsResult<Insight> {
        let found = self.insights_of(name)?.into_iter().find(|it| it.id == id);
        found.ok_or_else(|| not_found(format!("No insight found for ID: {id}")))
    }

    /// StartInsightsRefresh.
    pub fn refresh_insights(&mut self, name: &str) -> AwsResult<()> {
        let now = self.now;
        self.cluster_to_change(name)?.insights_refreshed = Some(now);
        Ok(())
    }

    /// When the latest refresh of the insights began, and when it ended or will.
    pub fn insights_refresh(&self, name: &str) -> AwsResult<(Timestamp, Timestamp)> {
        let started = self.cluster_seen(name)?.insights_refreshed;
        let started =
            started.ok_or_else(|| not_found(format!("No insights refresh found for cluster {name}.")))?;
        Ok((started, started.plus(self.settings.eks.insights_refresh)))
    }
}

fn id_of(cluster: &Cluster, name: &str, version: Minor) -> String {
    Chance::new(0, &format!("{} {name} {version}", cluster.id)).uuid()
}

/// Whether the add-ons have versions that run on the next version of Kubernetes.
fn of_addons(cluster: &Cluster, refreshed: Timestamp) -> Insight {
    let version = cluster.version.next();
    let unfit = |name: &str, at: &str| {
        let release = find(name).and_then(|it| it.release(at));
        release.is_some_and(|release| !release.fits(version))
    };
    let fitting = |name: &str| {
        let of = CATALOGUE.iter().filter(|it| it.name == name).flat_map(|it| it.releases);
        of.filter(|it| it.fits(version)).map(|it| it.version.to_owned()).collect::<Vec<_>>()
    };
    let addons: Vec<(String, Vec<String>)> = cluster
        .addons
        .values()
        .filter(|addon| unfit(&addon.name, &addon.spec.version))
        .map(|addon| (addon.name.clone(), fitting(&addon.name)))
        .collect();
    let (status, reason) = if addons.is_empty() {
        (
            InsightStatus::Passing,
            "All installed EKS add-on versions are compatible with next Kubernetes version.",
        )
    } else {
        (
            InsightStatus::Warning,
            "Installed EKS add-on versions are incompatible with next Kubernetes version.",
        )
    };
    Insight {
        id: id_of(cluster, ADDONS, version),
        name: ADDONS.to_owned(),
        category: "UPGRADE_READINESS".to_owned(),
        version,
        status,
        reason: reason.to_owned(),
        recommendation:
            "Upgrade the EKS add-on version if it is incompatible with the next Kubernetes version."
                .to_owned(),
        refreshed,
        addons,
    }
}
