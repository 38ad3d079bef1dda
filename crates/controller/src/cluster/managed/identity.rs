//! Whose a network is: its id on the FooCluster, and the permission to take it over from another management cluster.

use super::Pass;
use super::state::{NetworkState, has_begun};
use crate::cluster::clusters::{Clusters, Goal};
use foo_api::FooCluster;
use foo_model::names::{ADOPT_FROM_ANNOTATION, NETWORK_ID_ANNOTATION};
use foo_model::{Blocked, Reason};
use foo_network::{Desired, Observed};
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use serde_json::json;

impl Clusters {
    /// Whether anything of the network of this FooCluster may be in AWS.
    pub(in crate::cluster) fn may_have_network(&self, cluster: &FooCluster) -> bool {
        let network = self.networks.network(cluster);
        cluster.spec.network.managed.is_some()
            && (cluster.annotations().contains_key(NETWORK_ID_ANNOTATION)
                || network.is_some_and(|network| network.id.is_some()))
    }

    /// Id of the network of a FooCluster: once anything of it is recorded that counts more than the annotation, which anybody can change.
    fn network_id(&self, cluster: &FooCluster) -> Option<String> {
        let recorded = self.networks.network(cluster).filter(has_begun).and_then(|network| network.id);
        recorded.or_else(|| cluster.annotations().get(NETWORK_ID_ANNOTATION).cloned())
    }

    /// A copy of a FooCluster that was made with its annotations names the network of the other one.
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

    /// The network's id is on the FooCluster before anything is created: whoever has the object then knows what is its.
    pub(super) async fn keep_id(&self, pass: &Pass<'_>, state: &mut NetworkState) -> Result<(), kube::Error> {
        let there = pass.cluster.annotations().get(NETWORK_ID_ANNOTATION) == Some(&state.id);
        if !there && !state.id_written && pass.goal == Goal::Keep {
            self.annotate(pass, &json!({ NETWORK_ID_ANNOTATION: state.id })).await?;
        }
        // The cache may show the annotation only later; when it has shown it and then does not, somebody took it away.
        state.id_written = !there;
        Ok(())
    }

    /// Takes the permission to adopt away once the network is this management cluster's: two that had each other's would take the
    /// network from each other for ever.
    pub(super) async fn forget_adoption(
        &self,
        pass: &Pass<'_>,
        desired: &Desired,
        observed: &Observed,
    ) -> Result<(), kube::Error> {
        let installations = foo_network::installations(desired, observed);
        let is_ours = installations.len() == 1 && installations.contains(&*self.installation);
        if is_ours && pass.cluster.annotations().contains_key(ADOPT_FROM_ANNOTATION) {
            let annotations = json!({ ADOPT_FROM_ANNOTATION: serde_json::Value::Null });
            self.annotate(pass, &annotations).await?;
        }
        Ok(())
    }

    async fn annotate(&self, pass: &Pass<'_>, annotations: &serde_json::Value) -> Result<(), kube::Error> {
        let metadata = json!({ "uid": pass.cluster.uid(), "annotations": annotations });
        let patch = Patch::Merge(json!({ "metadata": metadata }));
        let manager = foo_api::names::managers::CLUSTER_NETWORK.to_owned();
        let params = PatchParams { field_manager: Some(manager), ..PatchParams::default() };
        pass.api.patch_metadata(&pass.cluster.name_any(), &params, &patch).await.map(drop)
    }
}
