//! What tests do to the clusters of a region.

use super::RegionHandle;
use crate::core::eks::EksMishap;
use crate::core::eks::cluster::{ApiServer, Cluster, InsightFact};
use crate::core::error::AwsResult;
use crate::core::rules::eks::KubernetesIdentity;
use foo_model::eks::Issue;

impl RegionHandle {
    /// All clusters, with everything that belongs to them.
    pub fn clusters(&self) -> Vec<Cluster> {
        self.with(|region| region.eks.clusters().cloned().collect()).unwrap_or_default()
    }

    /// A cluster.
    pub fn cluster(&self, name: &str) -> Option<Cluster> {
        self.with(|region| region.eks.cluster(name).cloned()).ok().flatten()
    }

    /// EKS finds something wrong with a cluster, or no longer.
    ///
    /// # Errors
    /// There is no such cluster.
    pub fn set_cluster_health(&self, name: &str, issues: Vec<Issue>) -> AwsResult<()> {
        self.with(|region| region.set_cluster_health(name, issues))?
    }

    /// An add-on is DEGRADED, or works again.
    ///
    /// # Errors
    /// There is no such add-on.
    pub fn set_addon_health(&self, cluster: &str, addon: &str, issues: Vec<Issue>) -> AwsResult<()> {
        self.with(|region| region.set_addon_health(cluster, addon, issues))?
    }

    /// Says which insights a cluster has beside those that EKS works out.
    ///
    /// # Errors
    /// There is no such cluster, or EKS has no such insight.
    pub fn set_cluster_insights(&self, name: &str, insights: Vec<InsightFact>) -> AwsResult<()> {
        self.with(|region| region.set_cluster_insights(name, insights))?
    }

    /// Says which API server runs for a cluster.
    ///
    /// # Errors
    /// There is no such cluster.
    pub fn set_cluster_server(&self, name: &str, server: Option<ApiServer>) -> AwsResult<()> {
        self.with(|region| region.set_cluster_server(name, server))?
    }

    /// AWS updates a cluster to the next version, as it does at the end of support.
    ///
    /// # Errors
    /// It is not ACTIVE, or the next version is not offered.
    pub fn upgrade_by_aws(&self, name: &str) -> AwsResult<()> {
        self.with(|region| region.upgrade_by_aws(name).map(drop))?
    }

    /// Replaces the rules for coming creations and updates.
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn set_eks_mishaps(&self, rules: Vec<EksMishap>) -> AwsResult<()> {
        self.with(|region| region.set_eks_mishaps(rules))
    }

    /// The rules for coming creations and updates, as far as they are not used up.
    pub fn eks_mishaps(&self) -> Vec<EksMishap> {
        self.with(|region| region.eks_mishaps().to_vec()).unwrap_or_default()
    }

    /// The identity of a user or role in the Kubernetes of a cluster; `None` if no access entry lets it in.
    pub fn kubernetes_identity(
        &self,
        cluster: &str,
        principal: &str,
        unique_id: Option<&str>,
    ) -> Option<KubernetesIdentity> {
        self.with(|region| region.kubernetes_identity(cluster, principal, unique_id)).ok().flatten()
    }
}
