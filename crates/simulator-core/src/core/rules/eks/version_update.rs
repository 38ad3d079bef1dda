//! UpdateClusterVersion, its way back, and what AWS does at the end of support (EKS User Guide, "Update existing cluster to new
//! Kubernetes version", "Understand the Kubernetes version lifecycle on EKS").

use super::updates::NewUpdate;
use crate::core::eks::cluster::{Change, Cluster, Update};
use crate::core::eks::refusal::invalid;
use crate::core::eks::step::{ClusterRef, EksStep};
use crate::core::eks::versions::{Offer, day, offered};
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use foo_model::eks::{ClusterStatus, InsightStatus, Minor, Support, SupportType, UpdateType};
use std::time::Duration;

/// How long AWS waits with an update at the end of support for a cluster that is busy.
const BUSY: Duration = Duration::from_hours(1);

impl Region {
    /// UpdateClusterVersion: one minor version up, or back to the one before for some days.
    ///
    /// # Errors
    /// EKS's refusals; nothing begins then.
    pub fn update_cluster_version(
        &mut self,
        name: &str,
        version: Minor,
        force: bool,
        token: Option<&str>,
    ) -> AwsResult<Update> {
        const ACTION: &str = "UpdateClusterVersion";
        let request = &(version, force);
        if let Some(id) = self.eks.tokens.made_before(ACTION, name, token, request)? {
            return self.update_seen(name, &id, None).cloned();
        }
        let current = self.known_cluster(name)?.version;
        let offer = offered(&self.settings.eks.versions, Some(version), self.now)?;
        let rollback = offer.version < current;
        let kind = if rollback { UpdateType::VersionRollback } else { UpdateType::VersionUpdate };
        let cluster = self.check_free(name, kind)?;
        let allowed =
            if rollback { self.can_go_back(cluster, offer.version) } else { offer.version == current.next() };
        if !allowed {
            return Err(invalid(format!(
                "Unsupported Kubernetes minor version update from {current} to {}",
                offer.version
            )));
        }
        if !force {
            self.check_insights(name, offer.version, rollback)?;
        }
        let change = if rollback { Change::Rollback(offer.version) } else { Change::Version(offer.version) };
        let update = self.begin_version(name, kind, &offer, change)?;
        self.eks.tokens.remember(ACTION, name, token, request, &update.id);
        Ok(update)
    }

    /// Whether a cluster was at that version until some days ago.
    fn can_go_back(&self, cluster: &Cluster, version: Minor) -> bool {
        let recent = |at| self.is_younger(at, self.settings.eks.rollback);
        cluster.former.is_some_and(|(former, at)| former == version && recent(at))
    }

    fn check_insights(&self, name: &str, version: Minor, rollback: bool) -> AwsResult<()> {
        let category = if rollback { "ROLLBACK_READINESS" } else { "UPGRADE_READINESS" };
        let insights = self.insights_of(name)?;
        let bad = |it: &&super::insights::Insight| {
            it.category == category && it.version == version && it.status == InsightStatus::Error
        };
        let names: Vec<&str> = insights.iter().filter(bad).map(|it| it.name.as_str()).collect();
        if names.is_empty() {
            return Ok(());
        }
        Err(AwsError::new(
            "InvalidStateException",
            format!(
                "Cluster {name} has upgrade insights with status ERROR: {}. Resolve them, or use the force flag.",
                names.join(", ")
            ),
        ))
    }

    fn begin_version(
        &mut self,
        name: &str,
        kind: UpdateType,
        offer: &Offer,
        change: Change,
    ) -> AwsResult<Update> {
        let params = vec![
            ("Version", offer.version.to_string()),
            ("PlatformVersion", format!("eks.{}", offer.platform)),
        ];
        let takes = self.settings.eks.version_update;
        self.begin_update(name, NewUpdate { kind, params, change, takes })
    }

    /// A cluster runs a version from now on.
    pub(super) fn run_version(&mut self, cluster: &mut Cluster, version: Minor) {
        cluster.version = version;
        let offer = self.settings.eks.versions.iter().find(|offer| offer.version == version).cloned();
        let Some(offer) = offer else { return };
        cluster.platform = offer.platform;
        self.await_end_of_support(&cluster.reference(), &offer);
    }

    /// When AWS checks whether support of the cluster's version has ended.
    pub(super) fn await_end_of_support(&mut self, of: &ClusterRef, offer: &Offer) {
        for date in [offer.standard_until, offer.extended_until] {
            let wait = self.now.until(day(date));
            if !wait.is_zero() {
                self.eks_later(wait, EksStep::SupportEnds(of.clone(), offer.version));
            }
        }
    }

    /// AWS updates a cluster whose support has ended: by its policy with standard support, or with extended support.
    pub(super) fn support_ends(&mut self, name: &str, version: Minor) {
        let Some(cluster) = self.eks.cluster(name).filter(|it| it.version == version) else { return };
        let offers = &self.settings.eks.versions;
        let support = offers.iter().find(|it| it.version == version).map(|it| it.support(self.now));
        let over = match (support, cluster.support) {
            (Some(Support::Unsupported), _) | (Some(Support::ExtendedSupport), SupportType::Standard) => true,
            (Some(Support::StandardSupport) | None, _)
            | (Some(Support::ExtendedSupport), SupportType::Extended) => false,
        };
        let of = cluster.reference();
        let lasting = !matches!(cluster.status, ClusterStatus::Deleting | ClusterStatus::Failed);
        if over && lasting && self.upgrade_by_aws(name).is_err() {
            self.eks_later(BUSY, EksStep::SupportEnds(of, version));
        }
    }

    /// AWS updates a cluster to the next version, whatever its insights say.
    ///
    /// # Errors
    /// It is not ACTIVE, or the next version is not offered.
    pub fn upgrade_by_aws(&mut self, name: &str) -> AwsResult<Update> {
        let next = self.known_cluster(name)?.version.next();
        let offer = offered(&self.settings.eks.versions, Some(next), self.now)?;
        self.begin_version(name, UpdateType::VersionUpdate, &offer, Change::Forced(offer.version))
    }
}
