//! What the controller has between passes, and what every pass needs: the Cluster and its parts, the cloud, the status.

use super::nodes;
use super::state::EksState;
use crate::Context;
use crate::apply::{self, StatusWriter, Written};
use crate::calls::state::States;
use crate::calls::{Goal, Purpose};
use crate::clouds::{CloudKey, CloudRegion};
use crate::control_plane::relations;
use crate::credentials::Credentials;
use crate::owners;
use crate::workload_name::eks_name;
use foo_api::capi::{Cluster, MachinePool};
use foo_api::{FooCluster, FooControlPlane, FooControlPlaneStatus, FooMachinePool, names};
use foo_model::eks::Minor;
use foo_model::{Blocked, Reason};
use kube::{Api, ResourceExt};
use kube_runtime::reflector::{ObjectRef, Store};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// The controller's own state.
pub(super) struct EksControlPlanes {
    pub(super) context: Context,
    /// Which management cluster this is.
    pub(super) installation: Arc<str>,
    pub(super) states: States<FooControlPlane, EksState>,
    pub(super) own: Store<FooControlPlane>,
    pub(super) clusters: Store<Cluster>,
    pub(super) foo_clusters: Store<FooCluster>,
    pub(super) pools: Store<FooMachinePool>,
    pub(super) machine_pools: Store<MachinePool>,
    pub(super) status: StatusWriter,
    /// The cloud of each control plane, kept in being by this.
    pub(super) regions: Mutex<HashMap<ObjectRef<FooControlPlane>, Arc<CloudRegion>>>,
}

/// Where an EKS cluster is or is to be, and whose credentials are for it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The AWS region.
    pub(super) region: String,
    /// The FooClusterIdentity that the FooCluster names.
    pub(super) identity: Option<String>,
    /// The FooCluster; `None` if it does not exist, and only the status has the region.
    pub(super) foo_cluster: Option<Arc<FooCluster>>,
}

/// ARN of the EKS cluster, once it is known.
pub(super) fn arn(control_plane: &FooControlPlane) -> Option<String> {
    control_plane.status.as_ref()?.eks.as_ref()?.arn.clone()
}

impl EksControlPlanes {
    pub(super) fn api(&self, control_plane: &FooControlPlane) -> Api<FooControlPlane> {
        Api::namespaced(self.context.client.clone(), &control_plane.namespace().unwrap_or_default())
    }

    /// The Cluster that owns this object and names it.
    pub(super) fn owner(&self, control_plane: &FooControlPlane) -> Option<Arc<Cluster>> {
        relations::owner(control_plane, &self.clusters)
    }

    /// Name of the Cluster that this object belongs to, also when the Cluster is deleted.
    pub(super) fn name_of_cluster(&self, control_plane: &FooControlPlane) -> String {
        let labelled = || control_plane.labels().get(names::CLUSTER_NAME_LABEL).cloned();
        let owner = self.owner(control_plane).map(|owner| owner.name_any());
        owner.or_else(labelled).unwrap_or_else(|| control_plane.name_any())
    }

    /// Name of the EKS cluster; `None` in another mode.
    pub(super) fn name_in_eks(&self, control_plane: &FooControlPlane) -> Option<String> {
        eks_name(control_plane, &self.name_of_cluster(control_plane), &self.installation)
    }

    /// Where the EKS cluster is to be.
    pub(super) fn place(&self, control_plane: &FooControlPlane) -> Result<Place, Blocked> {
        if let Some(found) = self.foo_cluster(control_plane) {
            let identity = found.spec.identity_ref.as_ref().map(|reference| reference.name.clone());
            return Ok(Place { region: found.spec.region.clone(), identity, foo_cluster: Some(found) });
        }
        let recorded = control_plane.status.as_ref().and_then(|status| status.eks.as_ref()?.arn.clone());
        let region = recorded.as_deref().and_then(|arn| arn.split(':').nth(3)).map(str::to_owned);
        match region.filter(|_| control_plane.metadata.deletion_timestamp.is_some()) {
            Some(region) => Ok(Place { region, identity: None, foo_cluster: None }),
            None => Err(Blocked::new(
                Reason::WaitingForClusterInfrastructure,
                "the Cluster references no FooCluster in spec.infrastructureRef, or that does not exist",
            )),
        }
    }

    /// The FooCluster of the Cluster; of a deleted Cluster the one with its label.
    fn foo_cluster(&self, control_plane: &FooControlPlane) -> Option<Arc<FooCluster>> {
        let namespace = control_plane.namespace().unwrap_or_default();
        if let Some(owner) = self.owner(control_plane) {
            let reference = owner.spec.infrastructure_ref.as_ref()?;
            let named = ObjectRef::new(&reference.name).within(&namespace);
            return (reference.kind == "FooCluster").then(|| self.foo_clusters.get(&named)).flatten();
        }
        let name = self.name_of_cluster(control_plane);
        let labelled = |it: &FooCluster| {
            it.namespace().as_ref() == Some(&namespace)
                && it.labels().get(names::CLUSTER_NAME_LABEL) == Some(&name)
        };
        self.foo_clusters.state_filter(labelled).pop()
    }

    /// The credentials that are for this place, if its namespace may use them.
    pub(super) fn credentials(
        &self,
        control_plane: &FooControlPlane,
        place: &Place,
    ) -> Result<Arc<Credentials>, Blocked> {
        let namespace = control_plane.namespace().unwrap_or_default();
        self.context.identities.credentials(place.identity.as_deref(), &namespace, &place.region)
    }

    /// Which cloud a control plane's calls go to, if it is known.
    pub(super) fn cloud_key(&self, control_plane: &FooControlPlane) -> Option<CloudKey> {
        let place = self.place(control_plane).ok()?;
        let credentials = self.credentials(control_plane, &place).ok()?;
        Some(CloudKey::of(&credentials, &place.region))
    }

    /// The control plane's cloud, or why AWS may not be called for it. It is released when the control plane uses
    /// another.
    pub(super) async fn region(
        &self,
        control_plane: &FooControlPlane,
        credentials: &Credentials,
        region: &str,
        purpose: Purpose,
    ) -> Result<Arc<CloudRegion>, Blocked> {
        let key = ObjectRef::from_obj(control_plane);
        let connected = self.context.clouds.get(credentials, region).await;
        let connected =
            connected.map_err(|error| Blocked::new(Reason::CredentialsInvalid, error.to_string()));
        if purpose == Purpose::Plan {
            return connected;
        }
        let mut regions = self.regions.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that were deleted without a pass.
        regions.retain(|key, _| self.own.get(key).is_some());
        match &connected {
            Ok(region) => drop(regions.insert(key, Arc::clone(region))),
            Err(_) => drop(regions.remove(&key)),
        }
        connected
    }

    /// Whether the EKS cluster must not be changed at present: the object is paused or was moved, or the goal is no
    /// longer the same.
    pub(super) fn is_left_alone(&self, control_plane: &FooControlPlane, goal: Goal) -> bool {
        let is_deleted = control_plane.metadata.deletion_timestamp.is_some();
        control_plane.annotations().contains_key(names::DELETE_FOR_MOVE_ANNOTATION)
            || owners::is_paused(control_plane, self.owner(control_plane).as_deref())
            || is_deleted != (goal == Goal::Delete)
    }

    /// The cluster's FooMachinePools.
    pub(super) fn foo_pools(&self, control_plane: &FooControlPlane) -> Vec<Arc<FooMachinePool>> {
        let (namespace, cluster) = (control_plane.namespace(), self.name_of_cluster(control_plane));
        self.pools.state_filter(|pool| {
            pool.namespace() == namespace && pool.labels().get(names::CLUSTER_NAME_LABEL) == Some(&cluster)
        })
    }

    /// The cluster's MachinePools, whatever infrastructure they have.
    pub(super) fn machine_pools(&self, control_plane: &FooControlPlane) -> Vec<Arc<MachinePool>> {
        let (namespace, cluster) = (control_plane.namespace(), self.name_of_cluster(control_plane));
        self.machine_pools
            .state_filter(|pool| pool.namespace() == namespace && pool.spec.cluster_name == cluster)
    }

    /// Names of the instance profiles of the cluster's pools, as far as the identity allows them.
    pub(super) fn node_profiles(&self, control_plane: &FooControlPlane, place: &Place) -> BTreeSet<String> {
        let namespace = control_plane.namespace().unwrap_or_default();
        let limits = self.context.identities.limits(place.identity.as_deref(), &namespace);
        let pools = self.foo_pools(control_plane);
        let profiles = pools.iter().filter_map(|pool| pool.spec.iam_instance_profile.clone());
        profiles.filter(|profile| limits.profile(profile).is_ok()).collect()
    }

    /// Whether every instance of the cluster's pools has the profile that the spec of its pool names.
    pub(super) fn nodes_settled(&self, control_plane: &FooControlPlane) -> bool {
        nodes::are_settled(&self.machine_pools(control_plane), &self.foo_pools(control_plane))
    }

    /// The oldest version that a kubelet of the cluster's pools has, or gets, as far as Cluster API knows.
    pub(super) fn oldest_kubelet(&self, control_plane: &FooControlPlane) -> Option<Minor> {
        let pools = self.machine_pools(control_plane);
        let versions = |pool: &Arc<MachinePool>| -> Vec<Minor> {
            let run = pool.status.iter().flat_map(|status| &status.versions).map(|it| it.version.as_str());
            run.chain(pool.spec.template.spec.version.as_deref()).filter_map(Minor::of).collect()
        };
        pools.iter().flat_map(versions).min()
    }

    /// Writes a status.
    pub(super) async fn write(
        &self,
        control_plane: &FooControlPlane,
        status: FooControlPlaneStatus,
        state: &mut EksState,
    ) -> Result<Written, apply::Error> {
        let api = self.api(control_plane);
        let cached = control_plane.status.as_ref();
        let written = self.status.apply_if_changed(&api, control_plane, cached, &status).await?;
        state.written = Some(status);
        Ok(written)
    }

    pub(super) fn forget(&self, control_plane: &FooControlPlane) {
        let key = ObjectRef::from_obj(control_plane);
        self.states.forget(&key);
        self.regions.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }
}
