//! Deletion of a FooControlPlane: its pools first, then the EKS cluster, then the object.

use super::api_server::ApiServer;
use super::control_planes::EksControlPlanes;
use super::identity::own_principal;
use super::shown::Facts;
use super::state::EksState;
use crate::apply;
use crate::calls::{Goal, Purpose};
use crate::harness::PassOutcome;
use crate::queue::Action;
use foo_api::control_plane::Eks;
use foo_api::shared::DeletionPolicy;
use foo_api::{FooControlPlane, names};
use foo_model::{Blocked, Reason, some_names};
use kube::ResourceExt;
use std::collections::BTreeSet;
use std::time::Duration;

/// How soon a deletion that waits for pools has another pass: their Nodes are drained with the kubeconfig, whose token
/// is renewed here.
const WHILE_POOLS_GO: Duration = Duration::from_mins(1);

impl EksControlPlanes {
    /// One pass over a FooControlPlane that is being deleted.
    pub(super) async fn remove(
        &self,
        control_plane: &FooControlPlane,
        eks: &Eks,
        paused: bool,
        state: &mut EksState,
    ) -> Result<PassOutcome, apply::Error> {
        if !control_plane.finalizers().iter().any(|it| it == names::CONTROL_PLANE_FINALIZER) {
            return self.waits_for_others(control_plane, paused, state).await;
        }
        let moved = control_plane.annotations().contains_key(names::DELETE_FOR_MOVE_ANNOTATION);
        if paused && !moved {
            let why = Blocked::new(Reason::Paused, "paused: nothing is deleted until it is unpaused");
            return self.waits(control_plane, (paused, why), ApiServer::default(), state).await;
        }
        if !moved && self.needs_confirmation(control_plane, eks, state) {
            let known = self.keep_for_drains(control_plane, state).await;
            let outcome = self.waits(control_plane, (paused, unconfirmed()), known, state).await?;
            return Ok(outcome.again_after(WHILE_POOLS_GO));
        }
        let pools = self.pools_left(control_plane);
        if !pools.is_empty() && !moved {
            let names = some_names(pools.iter().map(String::as_str));
            let message = format!("waiting for these pools of the cluster to be deleted: {names}");
            let why = Blocked::new(Reason::WaitingForPools, message);
            let known = self.keep_for_drains(control_plane, state).await;
            let outcome = self.waits(control_plane, (paused, why), known, state).await?;
            return Ok(outcome.again_after(WHILE_POOLS_GO));
        }
        let is_copy = self.is_copy(control_plane);
        if is_copy {
            let name = control_plane.name_any();
            tracing::warn!(name, "another FooControlPlane has the same id and its EKS cluster, which stays");
        }
        if !moved && !is_copy && Self::may_exist(control_plane, state) {
            let ended = self.eks_pass(control_plane, eks, Goal::Delete, state).await?;
            if !ended.gone {
                return Ok(ended.outcome());
            }
        }
        let api = self.api(control_plane);
        apply::remove_finalizer(&api, control_plane, names::CONTROL_PLANE_FINALIZER).await?;
        self.forget(control_plane);
        Ok(PassOutcome::worked(Action::await_change()))
    }

    /// Whether the deletion would take the EKS cluster from a Cluster that stays: Cluster API deletes a control plane
    /// only with its Cluster.
    fn needs_confirmation(&self, control_plane: &FooControlPlane, eks: &Eks, state: &EksState) -> bool {
        // Without a record (after a move, or because nothing was ever created) a read of AWS shows whether there is a
        // managed one.
        let is_known = state.process.record.arn.is_some() || state.process.record.creating_since.is_some();
        self.is_unconfirmed(control_plane, eks) && is_known && !self.is_copy(control_plane)
    }

    /// Whether the Cluster stays, and no user confirmed that it loses its EKS cluster.
    pub(super) fn is_unconfirmed(&self, control_plane: &FooControlPlane, eks: &Eks) -> bool {
        let stays = self.owner(control_plane).is_some_and(|it| it.metadata.deletion_timestamp.is_none());
        let confirmed = control_plane.annotations().contains_key(names::DELETION_ALLOWED_ANNOTATION);
        let retained = eks.deletion_policy == Some(DeletionPolicy::Retain);
        stays && !confirmed && !retained
    }

    /// Our part is done, or there never was any; finalizers of others may hold the object.
    async fn waits_for_others(
        &self,
        control_plane: &FooControlPlane,
        paused: bool,
        state: &mut EksState,
    ) -> Result<PassOutcome, apply::Error> {
        if control_plane.finalizers().is_empty() {
            self.forget(control_plane);
            return Ok(PassOutcome::settled(Action::await_change()));
        }
        let others = some_names(control_plane.finalizers().iter().map(String::as_str));
        let message = format!("waiting for other controllers to remove their finalizers: {others}");
        let why = Blocked::new(Reason::WaitingForFinalizers, message);
        match self.waits(control_plane, (paused, why), ApiServer::default(), state).await {
            // It was deleted meanwhile.
            Err(apply::Error::Kube(error)) if apply::is_conflict(&error) || apply::is_not_found(&error) => {
                Ok(PassOutcome::settled(Action::await_change()))
            }
            waits => waits,
        }
    }

    /// The published status stays; what the deletion waits for is added.
    async fn waits(
        &self,
        control_plane: &FooControlPlane,
        (paused, why): (bool, Blocked),
        known: ApiServer,
        state: &mut EksState,
    ) -> Result<PassOutcome, apply::Error> {
        let facts = Facts { paused, deleting: Some(why), ..Facts::default() };
        let written = self.publish(control_plane, facts, known, state).await?;
        Ok(PassOutcome::wrote(written, Action::await_change()))
    }

    /// Keeps the kubeconfig alive while pools are drained. That fails in a namespace that is being deleted if the
    /// Secret does not exist, and must not keep anything else from going.
    pub(super) async fn keep_for_drains(
        &self,
        control_plane: &FooControlPlane,
        state: &mut EksState,
    ) -> ApiServer {
        let Ok(place) = self.place(control_plane) else { return ApiServer::default() };
        let Ok(credentials) = self.credentials(control_plane, &place) else { return ApiServer::default() };
        if self.may_have_its_name(control_plane, &place, &credentials).is_err() {
            return ApiServer::default();
        }
        let Ok(region) = self.region(control_plane, &credentials, &place.region, Purpose::Pass).await else {
            return ApiServer::default();
        };
        let own = own_principal(&region, &credentials).await;
        if self.is_alone_with(control_plane, own.as_ref().map(|it| it.arn.as_str())).await.is_err() {
            return ApiServer::default();
        }
        match self.keep_api_server(control_plane, None, &region, state).await {
            Ok(known) => known,
            Err(error) => {
                tracing::debug!(%error, name = control_plane.name_any(), "could not renew the kubeconfig of a cluster that is being deleted");
                ApiServer::default()
            }
        }
    }

    /// Names of the cluster's pools, sorted. A MachinePool and its FooMachinePool often have the same name.
    fn pools_left(&self, control_plane: &FooControlPlane) -> BTreeSet<String> {
        let foo_pools = self.foo_pools(control_plane).into_iter().map(|pool| pool.name_any());
        let machine_pools = self.machine_pools(control_plane).into_iter().map(|pool| pool.name_any());
        foo_pools.chain(machine_pools).collect()
    }
}

/// What a deletion waits for that would take the EKS cluster from a Cluster that stays.
fn unconfirmed() -> Blocked {
    Blocked::new(Reason::DeletionNotConfirmed, foo_eks::UNCONFIRMED)
}
