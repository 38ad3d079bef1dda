//! Whose a network is: its id on the FooCluster, and the permission to take it over from another management cluster.

use crate::calls::Goal;
use crate::calls::identity::Annotations;
use crate::cluster::clusters::Clusters;
use crate::cluster::network_state::{NetworkState, has_begun};
use foo_api::FooCluster;
use foo_api::names::managers;
use foo_model::names::NETWORK_ID_ANNOTATION;
use foo_model::{Blocked, Reason};
use kube::{Api, ResourceExt};

impl Clusters {
    /// Whether anything of the network of this FooCluster may be in AWS.
    pub(in crate::cluster) fn may_have_network(&self, cluster: &FooCluster) -> bool {
        let network = self.networks.network(cluster);
        cluster.spec.network.managed.is_some()
            && (cluster.annotations().contains_key(NETWORK_ID_ANNOTATION)
                || network.is_some_and(|network| network.id.is_some()))
    }

    /// Id of the network of a FooCluster: once anything of it is recorded that counts more than the annotation, which
    /// any user can change.
    fn network_id(&self, cluster: &FooCluster) -> Option<String> {
        let recorded = self.networks.network(cluster).filter(has_begun).and_then(|network| network.id);
        recorded.or_else(|| cluster.annotations().get(NETWORK_ID_ANNOTATION).cloned())
    }

    /// A copy of a FooCluster that was created with its annotations names the network of the other one.
    pub(in crate::cluster) fn is_alone(&self, cluster: &FooCluster) -> Result<(), Blocked> {
        let Some(id) = self.network_id(cluster) else {
            return Ok(());
        };
        let id = id.as_str();
        let rank = |it: &FooCluster| {
            (it.uid().as_deref() != Some(id), it.creation_timestamp(), it.namespace(), it.name_any())
        };
        let other = self.own.state_filter(|other| {
            other.uid() != cluster.uid()
                && self.network_id(other).is_some_and(|other| other == id)
                && rank(other) < rank(cluster)
        });
        let Some(other) = other.first() else { return Ok(()) };
        // What is in another namespace is not for this one's users to know.
        let whose = if other.namespace() == cluster.namespace() {
            format!("FooCluster {}", other.name_any())
        } else {
            "a FooCluster in another namespace".to_owned()
        };
        let message = format!(
            "the annotation {NETWORK_ID_ANNOTATION}, or the status, names the network of {whose}; this is a copy of that FooCluster"
        );
        Err(Blocked::new(Reason::NetworkOfAnotherCluster, message))
    }

    /// The network's id is on the FooCluster before anything is created.
    pub(super) async fn keep_id(
        &self,
        api: &Api<FooCluster>,
        cluster: &FooCluster,
        goal: Goal,
        state: &mut NetworkState,
    ) -> Result<(), kube::Error> {
        let id = state.identity.id.clone();
        annotations(api, cluster).keep_id(&[(NETWORK_ID_ANNOTATION, &id)], goal, &mut state.identity).await
    }
}

/// Those that show the owner of the network.
pub(super) fn annotations<'a>(
    api: &'a Api<FooCluster>,
    cluster: &'a FooCluster,
) -> Annotations<'a, FooCluster> {
    Annotations { api, object: cluster, manager: managers::CLUSTER_NETWORK }
}
