//! Deletion of a FooCluster: its pools first, then the network if the provider created it, then the object.

use super::clusters::Clusters;
use super::status::Published;
use crate::apply;
use crate::calls::{Ended, Goal};
use crate::harness::PassOutcome;
use crate::queue::Action;
use foo_api::shared::DeletionPolicy;
use foo_api::{FooCluster, FooControlPlane, names};
use foo_model::{Blocked, Reason, some_names};
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use std::collections::BTreeSet;
use std::time::Duration;

/// How soon a deletion that waits for a control plane asks again: nothing reports its deletion.
const ASK_AGAIN: Duration = Duration::from_secs(15);

impl Clusters {
    /// One pass over a FooCluster that is being deleted.
    pub(super) async fn remove(
        &self,
        api: &Api<FooCluster>,
        cluster: &FooCluster,
        paused: bool,
    ) -> Result<PassOutcome, apply::Error> {
        if !cluster.finalizers().iter().any(|finalizer| finalizer == names::CLUSTER_FINALIZER) {
            self.forget(cluster);
            return Ok(PassOutcome::settled(Action::await_change()));
        }
        let moved = cluster.annotations().contains_key(names::DELETE_FOR_MOVE_ANNOTATION);
        if paused && !moved {
            let why = Blocked::new(Reason::Paused, "paused: nothing is deleted until it is unpaused");
            let published = Published { paused, ..Published::as_before(cluster) };
            return self.waits(api, cluster, published, why).await;
        }
        let pools = self.pools_left(cluster);
        if !pools.is_empty() && !moved {
            let names = some_names(pools.iter().map(String::as_str));
            let message = format!("waiting for these FooMachinePools of the cluster to be deleted: {names}");
            let why = Blocked::new(Reason::WaitingForPools, message);
            return self.waits(api, cluster, Published::as_before(cluster), why).await;
        }
        if let Some(control_plane) = self.control_plane_left(cluster).await?.filter(|_| !moved) {
            let message =
                format!("waiting for the EKS cluster of FooControlPlane {control_plane} to be deleted");
            let why = Blocked::new(Reason::WaitingForControlPlaneDeletion, message);
            let waits = self.waits(api, cluster, Published::as_before(cluster), why).await?;
            return Ok(waits.again_after(ASK_AGAIN));
        }
        let network = if moved { None } else { self.delete_network(api, cluster).await? };
        if let Some(ended) = network.filter(|ended| !ended.gone) {
            return Ok(ended.outcome());
        }
        apply::remove_finalizer(api, cluster, names::CLUSTER_FINALIZER).await?;
        self.forget(cluster);
        Ok(PassOutcome::worked(Action::await_change()))
    }

    /// The published status stays; what the deletion waits for is added.
    async fn waits(
        &self,
        api: &Api<FooCluster>,
        cluster: &FooCluster,
        published: Published,
        why: Blocked,
    ) -> Result<PassOutcome, apply::Error> {
        let published = Published { deleting: Some(why), ..published };
        let written = self.publish(api, cluster, &self.as_published(cluster), published).await?;
        Ok(PassOutcome::wrote(written, Action::await_change()))
    }

    /// Names of the cluster's pools, sorted.
    fn pools_left(&self, cluster: &FooCluster) -> BTreeSet<String> {
        // The label can be removed by hand; the owner cannot.
        let owner = self.owner(cluster).map(|owner| owner.name_any());
        let labelled = cluster.labels().get(names::CLUSTER_NAME_LABEL);
        let left = self.pools.state_filter(|pool| {
            let of = pool.labels().get(names::CLUSTER_NAME_LABEL);
            pool.namespace() == cluster.namespace()
                && of.is_some_and(|of| labelled == Some(of) || owner.as_ref() == Some(of))
        });
        left.iter().map(|pool| pool.name_any()).collect()
    }

    /// Name of a FooControlPlane of the cluster that may have an EKS cluster in the network. Read live, and only by a
    /// deletion: FooControlPlanes belong to another provider, which may not be installed.
    async fn control_plane_left(&self, cluster: &FooCluster) -> Result<Option<String>, apply::Error> {
        let namespace = cluster.namespace().unwrap_or_default();
        let api: Api<FooControlPlane> = Api::namespaced(self.context.client.clone(), &namespace);
        let found = match api.list(&ListParams::default()).await {
            Ok(found) => found,
            Err(error) if apply::is_not_found(&error) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let owner = self.owner(cluster).map(|owner| owner.name_any());
        let labelled = cluster.labels().get(names::CLUSTER_NAME_LABEL);
        let is_left = |it: &FooControlPlane| {
            let of = it.labels().get(names::CLUSTER_NAME_LABEL);
            it.finalizers().iter().any(|finalizer| finalizer == names::CONTROL_PLANE_FINALIZER)
                && of.is_some_and(|of| labelled == Some(of) || owner.as_ref() == Some(of))
        };
        Ok(found.items.iter().find(|it| is_left(it)).map(ResourceExt::name_any))
    }

    /// Continues to delete the network; none if there is nothing to delete: it is the user's, was never
    /// begun, or is to stay.
    async fn delete_network(
        &self,
        api: &Api<FooCluster>,
        cluster: &FooCluster,
    ) -> Result<Option<Ended>, apply::Error> {
        let managed = cluster.spec.network.managed.as_ref();
        let managed = managed.filter(|managed| managed.deletion_policy == DeletionPolicy::Delete);
        // A copy with the annotations of another FooCluster has no network of its own.
        match managed.filter(|_| self.may_have_network(cluster) && self.is_alone(cluster).is_ok()) {
            Some(managed) => self.network_pass(api, cluster, managed, Goal::Delete).await.map(Some),
            None => Ok(None),
        }
    }
}
