//! FooControlPlane, external mode: publishes an API server of another provider to Cluster API. Mode `eks` has a
//! controller of its own, [`eks`], because it calls AWS and this one does not: they can run in two processes.
//!
//! The controller checks the user's kubeconfig, copies it into the Secret that Cluster API reads, and tries its
//! credentials at the API server. Cluster API drains the Nodes of pools only because of
//! `externalManagedControlPlane: true`.

pub mod eks;
mod pace;
mod relations;
mod secret;
mod status;

use crate::Context;
use crate::apply::{self, StatusWriter};
use crate::backoff::jittered;
use crate::clock::kube_time;
use crate::harness::{Harness, PassOutcome, Reconciler};
use crate::kubeconfig::{self, Usable};
use crate::labels::{Controller, Watched};
use crate::owners;
use crate::queue::Action;
use crate::watch::{ChangeFilter, Scope, Watch, refs_of};
use foo_api::capi::Cluster;
use foo_api::names::managers;
use foo_api::patterns::is_object_name;
use foo_api::{FooControlPlane, names};
use foo_model::{Blocked, Reason, some_names};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::core::PartialObjectMeta;
use kube::{Api, Resource, ResourceExt};
use kube_runtime::reflector::{ObjectRef, Store};
use pace::{TRY_AGAIN, healthy_period};
use relations::{control_plane_of, is_created_for, users_secret};
use secret::Problem;
use serde_json::json;
use status::{Facts, Seen};
use std::future::Future;
use std::sync::Arc;

/// Runs the controller until `shutdown` resolves.
pub async fn run(context: Context, shutdown: impl Future<Output = ()> + Send + Sync + 'static) {
    let own = Watch::<FooControlPlane>::lenient(
        &context,
        Watched::FooControlPlane,
        Scope::Ours,
        ChangeFilter::AllButStatus,
    );
    let clusters =
        Watch::<Cluster>::lenient(&context, Watched::Cluster, Scope::All, ChangeFilter::AllButStatus);
    let secrets = Watch::<PartialObjectMeta<Secret>>::lenient(
        &context,
        Watched::Secret,
        Scope::Labelled(names::CLUSTER_NAME_LABEL),
        ChangeFilter::EveryVersion,
    );
    let reconciler = Arc::new(ControlPlanes {
        status: StatusWriter::new(managers::CONTROL_PLANE),
        clusters: clusters.store.clone(),
        own: own.store.clone(),
        context: context.clone(),
    });
    let of_secret = own.store.clone();
    Harness::new(&context, Controller::ControlPlane, own)
        .watches(clusters, control_plane_of)
        .is_woken_by(secrets, move |secret| concerned_by(&of_secret, &secret))
        .run(reconciler, shutdown)
        .await;
}

/// FooControlPlanes whose kubeconfig is in this Secret, which is the user's or Cluster API's.
fn concerned_by(
    control_planes: &Store<FooControlPlane>,
    secret: &PartialObjectMeta<Secret>,
) -> Vec<ObjectRef<FooControlPlane>> {
    let (namespace, name) = (secret.namespace(), secret.name_any());
    refs_of(control_planes, |control_plane| {
        control_plane.spec.external.is_some()
            && control_plane.namespace() == namespace
            && (users_secret(control_plane) == Some(&name) || is_created_for(control_plane, &name))
    })
}

struct ControlPlanes {
    context: Context,
    own: Store<FooControlPlane>,
    clusters: Store<Cluster>,
    status: StatusWriter,
}

impl Reconciler for ControlPlanes {
    type Object = FooControlPlane;
    type Gathered = Arc<FooControlPlane>;
    type Fingerprint = Option<i64>;
    type Error = apply::Error;

    fn gather(&self, control_plane: Arc<FooControlPlane>) -> Self::Gathered {
        control_plane
    }

    fn fingerprint(&self, control_plane: &Self::Gathered) -> Self::Fingerprint {
        control_plane.metadata.generation
    }

    fn conditions(control_plane: &FooControlPlane) -> Option<&[Condition]> {
        let status = control_plane.status.as_ref();
        let conditions = status.map(|status| status.conditions.as_slice()).unwrap_or_default();
        control_plane.spec.eks.is_none().then_some(conditions)
    }

    async fn pass(&self, control_plane: Self::Gathered) -> Result<PassOutcome, Self::Error> {
        self.pass_over(&control_plane).await
    }
}

impl ControlPlanes {
    async fn pass_over(&self, control_plane: &FooControlPlane) -> Result<PassOutcome, apply::Error> {
        if control_plane.spec.eks.is_some() {
            return Ok(PassOutcome::skipped(Action::await_change()));
        }
        let owner = relations::owner(control_plane, &self.clusters);
        let paused = owners::is_paused(control_plane, owner.as_deref());
        if control_plane.metadata.deletion_timestamp.is_some() {
            return self.report_deletion(control_plane, paused).await;
        }
        if paused {
            let facts = Facts { paused, ..Facts::default() };
            let written = self.publish(control_plane, &Seen::NotLooked, &facts).await?;
            return Ok(PassOutcome::wrote(written, Action::await_change()));
        }
        let Some(owner) = owner else {
            let blocked = Blocked::new(
                Reason::WaitingForCluster,
                "no Cluster references this FooControlPlane in spec.controlPlaneRef yet",
            );
            let written = self.publish(control_plane, &Seen::Blocked(blocked), &Facts::default()).await?;
            return Ok(PassOutcome::wrote(written, Action::await_change()));
        };
        let (seen, kubeconfig) = match self.publish_endpoint(control_plane, &owner.name_any()).await? {
            Ok((usable, wrong)) => (self.ask(&usable).await, wrong.map_or(Ok(usable.expires), Err)),
            Err(blocked) => (Seen::Blocked(blocked.clone()), Err(blocked)),
        };
        let facts = Facts { kubeconfig: Some(kubeconfig), ..Facts::default() };
        let written = self.publish(control_plane, &seen, &facts).await?;
        let period = match seen {
            Seen::Version(_) | Seen::NotLooked => {
                healthy_period(self.own.len(), self.context.settings.sync_period)
            }
            Seen::Blocked(_) => TRY_AGAIN,
        };
        Ok(PassOutcome::wrote(written, Action::requeue(jittered(period, &control_plane.name_any()))))
    }

    /// The object is being deleted. The provider has no finalizer on it: the garbage collector deletes what
    /// it owns in Kubernetes. Finalizers of others may block the deletion, and the status reports it.
    async fn report_deletion(
        &self,
        control_plane: &FooControlPlane,
        paused: bool,
    ) -> Result<PassOutcome, apply::Error> {
        if control_plane.finalizers().is_empty() {
            return Ok(PassOutcome::settled(Action::await_change()));
        }
        let others = some_names(control_plane.finalizers().iter().map(String::as_str));
        let message = format!("waiting for other controllers to remove their finalizers: {others}");
        let deleting = Some(Blocked::new(Reason::WaitingForFinalizers, message));
        let facts = Facts { paused, deleting, ..Facts::default() };
        match self.publish(control_plane, &Seen::NotLooked, &facts).await {
            Ok(written) => Ok(PassOutcome::wrote(written, Action::await_change())),
            // It was deleted meanwhile.
            Err(apply::Error::Kube(error)) if apply::is_conflict(&error) || apply::is_not_found(&error) => {
                Ok(PassOutcome::settled(Action::await_change()))
            }
            Err(error) => Err(error),
        }
    }

    /// Reads the user's kubeconfig, copies it to the Secret that Cluster API reads, and publishes its
    /// endpoint.
    async fn publish_endpoint(
        &self,
        control_plane: &FooControlPlane,
        cluster: &str,
    ) -> Result<Result<(Usable, Option<Blocked>), Blocked>, apply::Error> {
        let namespace = control_plane.namespace().unwrap_or_default();
        let secrets: Api<Secret> = Api::namespaced(self.context.client.clone(), &namespace);
        let Some(name) = users_secret(control_plane) else {
            let message = "spec.external is not set";
            return Ok(Err(Blocked::new(Reason::KubeconfigSecretNotFound, message)));
        };
        if !is_object_name(name) {
            let message =
                format!("spec.external.kubeconfigSecretRef.name {name:?} cannot be the name of a Secret");
            return Ok(Err(Blocked::new(Reason::KubeconfigSecretNameInvalid, message)));
        }
        let usable = match secrets.get_opt(name).await? {
            None => {
                let message = format!("Secret {name} with the kubeconfig does not exist");
                return Ok(Err(Blocked::new(Reason::KubeconfigSecretNotFound, message)));
            }
            Some(secret) => match kubeconfig::read(name, &secret) {
                Ok(usable) => usable,
                Err(blocked) => return Ok(Err(blocked)),
            },
        };
        let wrong = match secret::keep(&secrets, control_plane, cluster, &usable).await? {
            Ok(()) => None,
            Err(Problem::Wrong(wrong)) => Some(wrong),
            Err(Problem::Unusable(blocked)) => return Ok(Err(blocked)),
        };
        if control_plane.spec.control_plane_endpoint.is_none() {
            let api: Api<FooControlPlane> = Api::namespaced(self.context.client.clone(), &namespace);
            let spec = json!({
                "metadata": {"uid": control_plane.uid()},
                "spec": {"controlPlaneEndpoint": usable.endpoint}
            });
            apply::apply(&api, &control_plane.name_any(), managers::CONTROL_PLANE_ENDPOINT, spec).await?;
        }
        Ok(Ok((usable, wrong)))
    }

    async fn ask(&self, usable: &Usable) -> Seen {
        let (reason, message) = match kubeconfig::try_out(usable, &self.context.workloads).await {
            Ok(version) => return Seen::Version(version),
            Err(kubeconfig::Problem::Unreachable(message)) => (Reason::ApiServerUnreachable, message),
            Err(kubeconfig::Problem::Refused(message)) => (Reason::KubeconfigLacksRights, message),
        };
        Seen::Blocked(Blocked::new(reason, message))
    }

    async fn publish(
        &self,
        control_plane: &FooControlPlane,
        seen: &Seen,
        facts: &Facts,
    ) -> Result<apply::Written, apply::Error> {
        let namespace = control_plane.namespace().unwrap_or_default();
        let api: Api<FooControlPlane> = Api::namespaced(self.context.client.clone(), &namespace);
        let now = kube_time(&self.context.kubernetes_clock);
        let status = status::status(control_plane, seen, facts, now);
        let written =
            self.status.apply_if_changed(&api, control_plane, control_plane.status.as_ref(), &status).await?;
        if written == apply::Written::Yes {
            let object = control_plane.object_ref(&());
            let blocked = if let Seen::Blocked(blocked) = seen { Some(blocked.clone()) } else { None };
            for event in blocked.into_iter().chain(status::news(control_plane, &status)) {
                self.context.events.publish(&object, event.reason, &event.message).await;
            }
        }
        Ok(written)
    }
}
