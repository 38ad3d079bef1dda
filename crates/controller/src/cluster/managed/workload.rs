//! By which name the network is tagged for controllers in the workload cluster, and by which what they left is found.

use crate::calls::Goal;
use crate::cluster::clusters::Clusters;
use crate::cluster::network_state::NetworkState;
use crate::workload_name;
use foo_api::FooCluster;
use foo_model::{Blocked, Reason};
use kube::ResourceExt;
use std::time::Duration;

/// How soon a FooControlPlane that does not exist yet is asked for again. Its EKS cluster takes minutes from then on.
pub(super) const ASK_AGAIN: Duration = Duration::from_secs(30);

impl Clusters {
    /// Learns that name, unless this process knows it. The FooControlPlane is deleted before the network, so that the
    /// status keeps the name.
    ///
    /// # Errors
    ///
    /// The network is being deleted, and whether there is a name cannot be learned: without it left-overs would be
    /// overlooked.
    pub(super) async fn learn_name(
        &self,
        cluster: &FooCluster,
        goal: Goal,
        state: &mut NetworkState,
    ) -> Result<(), Blocked> {
        if state.kubernetes_cluster_is_read {
            return Ok(());
        }
        let recorded = self.networks.network(cluster).and_then(|network| network.kubernetes_cluster);
        let read = match self.owner(cluster) {
            Some(owner) => {
                workload_name::workload_name(&self.context.client, &owner, &self.installation).await
            }
            None => Ok(None),
        };
        let read = match read {
            Ok(read) => read,
            Err(error) => {
                let name = cluster.name_any();
                tracing::warn!(%error, cluster = name, "could not read the FooControlPlane of the network's Cluster");
                if recorded.is_none() && goal == Goal::Delete {
                    let message = format!("the FooControlPlane of the Cluster cannot be read: {error}");
                    return Err(Blocked::new(Reason::WaitingForControlPlane, message));
                }
                None
            }
        };
        state.kubernetes_cluster_is_read = read.is_some();
        state.kubernetes_cluster = read.or(recorded).or_else(|| self.former_name(cluster, goal));
        Ok(())
    }

    /// The name that former versions of the provider used. It counts for a network that is deleted without anything
    /// having been recorded: then they created it, or nothing was ever launched into it.
    fn former_name(&self, cluster: &FooCluster, goal: Goal) -> Option<String> {
        (goal == Goal::Delete).then(|| self.name_of_cluster(cluster))
    }
}
