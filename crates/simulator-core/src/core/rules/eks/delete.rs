//! DeleteCluster (EKS API Reference).

use crate::core::eks::cluster::Cluster;
use crate::core::eks::refusal::{in_use, wrong_state};
use crate::core::eks::step::EksStep;
use crate::core::error::AwsResult;
use crate::core::region::Region;
use foo_model::eks::ClusterStatus;

impl Region {
    /// DeleteCluster. Repeated while it is deleted it has no effect **(A)**.
    ///
    /// # Errors
    /// There is none of that name, it is being created or updated, or it is protected.
    pub fn delete_cluster(&mut self, name: &str) -> AwsResult<Cluster> {
        let cluster = self.known_cluster(name)?.clone();
        if cluster.status == ClusterStatus::Deleting {
            return Ok(cluster);
        }
        if cluster.status == ClusterStatus::Creating || cluster.update_in_progress().is_some() {
            return Err(in_use(format!(
                "Cannot delete because cluster {name} currently has an update in progress"
            )));
        }
        // EKS User Guide, "Protect EKS clusters from accidental deletion": a failed cluster is deleted all the same.
        if cluster.deletion_protection && cluster.status != ClusterStatus::Failed {
            return Err(wrong_state(format!(
                "Cannot delete cluster {name} because deletion protection is enabled."
            )));
        }
        self.eks_later(self.settings.eks.delete, EksStep::Deleted(cluster.reference()));
        let Some(deleted) = self.eks.clusters.get_mut(&name.to_owned()) else { return Ok(cluster) };
        deleted.status = ClusterStatus::Deleting;
        Ok(deleted.clone())
    }

    /// The cluster is gone, and everything that belongs to it.
    pub(super) fn cluster_deleted(&mut self, name: &str) {
        let Some(cluster) = self.eks.clusters.remove(&name.to_owned()) else { return };
        self.remove_control_plane(name, &cluster.security_group);
        self.eks.tokens.forget_cluster(name);
    }
}
