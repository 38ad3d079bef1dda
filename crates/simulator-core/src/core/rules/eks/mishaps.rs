//! What a test makes happen to clusters.

use crate::core::eks::cluster::{AddonPhase, ApiServer, InsightFact};
use crate::core::eks::refusal::{invalid, no_cluster, not_found};
use crate::core::eks::{EksMishap, MishapOf};
use crate::core::error::AwsResult;
use crate::core::region::Region;
use foo_model::eks::Issue;

impl Region {
    /// Replaces the rules for what comes.
    pub fn set_eks_mishaps(&mut self, rules: Vec<EksMishap>) {
        self.eks.mishaps = rules;
    }

    /// The rules for what comes, as far as they are not used up.
    pub fn eks_mishaps(&self) -> &[EksMishap] {
        &self.eks.mishaps
    }

    /// What goes wrong now, by the first rule that fits.
    pub(super) fn eks_strikes(
        &mut self,
        what: MishapOf,
        cluster: &str,
        addon: Option<&str>,
    ) -> Option<Issue> {
        let fits = |rule: &&mut EksMishap| {
            rule.what == what
                && rule.times > 0
                && rule.cluster.as_deref().is_none_or(|it| it == cluster)
                && rule.addon.as_deref().is_none_or(|it| Some(it) == addon)
        };
        let rule = self.eks.mishaps.iter_mut().find(fits)?;
        rule.times -= 1;
        let issue = rule.issue.clone();
        self.eks.mishaps.retain(|rule| rule.times > 0);
        Some(issue)
    }

    /// EKS finds something wrong with a cluster, or no longer: its status stays.
    ///
    /// # Errors
    /// There is no such cluster.
    pub fn set_cluster_health(&mut self, name: &str, issues: Vec<Issue>) -> AwsResult<()> {
        let cluster = self.eks.clusters.get_mut(&name.to_owned()).ok_or_else(|| no_cluster(name))?;
        cluster.health = issues;
        Ok(())
    }

    /// Says which API server runs for a cluster; none is its own endpoint, behind which nothing is.
    ///
    /// # Errors
    /// There is no such cluster.
    pub fn set_cluster_server(&mut self, name: &str, server: Option<ApiServer>) -> AwsResult<()> {
        let cluster = self.eks.clusters.get_mut(&name.to_owned()).ok_or_else(|| no_cluster(name))?;
        cluster.server = server;
        Ok(())
    }

    /// An add-on is DEGRADED, or works again.
    ///
    /// # Errors
    /// There is no such add-on.
    pub fn set_addon_health(&mut self, cluster: &str, addon: &str, issues: Vec<Issue>) -> AwsResult<()> {
        let of = self.eks.clusters.get_mut(&cluster.to_owned()).ok_or_else(|| no_cluster(cluster))?;
        let found = of.addons.get_mut(addon).filter(|it| it.phase == AddonPhase::Created);
        found.ok_or_else(|| not_found(format!("There is no add-on {addon} that works.")))?.issues = issues;
        Ok(())
    }

    /// Says which insights a cluster has beside those that EKS works out.
    ///
    /// # Errors
    /// There is no such cluster, or a category that EKS does not have.
    pub fn set_cluster_insights(&mut self, name: &str, insights: Vec<InsightFact>) -> AwsResult<()> {
        const CATEGORIES: [&str; 3] = ["UPGRADE_READINESS", "MISCONFIGURATION", "ROLLBACK_READINESS"];
        let known = |it: &InsightFact| CATEGORIES.contains(&it.category.as_str());
        if !insights.iter().all(known) {
            return Err(invalid("An insight has a category of EKS."));
        }
        let present = self.eks.cluster(name).ok_or_else(|| no_cluster(name))?;
        let former = (self.now, self.insights_shown(present).to_vec());
        let cluster = self.eks.clusters.get_mut(&name.to_owned()).ok_or_else(|| no_cluster(name))?;
        cluster.former_insights = Some(former);
        cluster.insights = insights;
        Ok(())
    }
}
