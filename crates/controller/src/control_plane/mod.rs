//! FooControlPlane, external mode: an API server that somebody else runs is made known to Cluster API.
//!
//! The user's kubeconfig is checked, copied into the Secret that Cluster API reads, and the API server is asked for its
//! version. `externalManagedControlPlane: true` is what makes Cluster API drain the Nodes of pools at all.

mod secret;
mod status;

use crate::Context;
use crate::apply::{self, StatusWriter};
use crate::backoff::{Backoff, jittered};
use crate::clock::kube_time;
use crate::kubeconfig::{self, Usable};
use crate::metrics::{Controller as Which, PassResult, Watched};
use crate::owners;
use crate::passes;
use crate::queue::Action;
use crate::watch::{Filled, Passing, Watch, Which as Watching};
use foo_api::capi::Cluster;
use foo_api::names::managers;
use foo_api::patterns::is_object_name;
use foo_api::{FooControlPlane, names};
use foo_planner::desired::Blocked;
use foo_planner::report::{Severity, some_names};
use futures::StreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::core::PartialObjectMeta;
use kube::runtime::controller::{Action as KubeAction, Config, Controller, Error as ControllerError};
use kube::{Api, Resource, ResourceExt};
use kube_runtime::reflector::{ObjectRef, Store};
use secret::Trouble;
use serde_json::json;
use status::{Facts, Seen};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How soon an API server that cannot be used is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(30);
/// How soon one that answers is asked again.
const LOOK_AGAIN: Duration = Duration::from_mins(1);
/// With many of them, each adds so much to that: five are asked in a second.
const EACH: Duration = Duration::from_millis(200);

/// Runs the controller until `shutdown` resolves.
pub async fn run(context: Context, shutdown: impl Future<Output = ()> + Send + Sync + 'static) {
    let own = Watch::<FooControlPlane>::guarded(
        &context,
        Watched::FooControlPlane,
        Watching::Ours,
        Passing::AllButStatus,
    );
    let clusters =
        Watch::<Cluster>::guarded(&context, Watched::Cluster, Watching::All, Passing::AllButStatus);
    let secrets = Watch::<PartialObjectMeta<Secret>>::guarded(
        &context,
        Watched::Secret,
        Watching::Labelled(names::CLUSTER_NAME_LABEL),
        Passing::EveryVersion,
    );
    let concurrency = context.settings.concurrency;
    let with_secret = own.store.clone();
    let queue = context.metrics.queue(Which::ControlPlane);
    let (turns, gone) = (queue.clone(), queue.clone());
    let reconciler = Arc::new(ControlPlanes {
        backoff: Backoff::new(context.settings.seed),
        status: StatusWriter::new(managers::CONTROL_PLANE),
        clusters: clusters.store,
        filled: clusters.filled,
        own: own.store.clone(),
        context,
    });
    Controller::for_stream(queue.changed(own.changes), own.store)
        .with_config(Config::default().concurrency(concurrency))
        .watches_stream(
            clusters.changes,
            queue.named_by(|cluster: Cluster| {
                let namespace = cluster.namespace().unwrap_or_default();
                let reference =
                    cluster.spec.control_plane_ref.filter(|reference| reference.kind == "FooControlPlane");
                reference.map(|reference| ObjectRef::new(&reference.name).within(&namespace))
            }),
        )
        .watches_stream(
            secrets.changes,
            queue.named_by(move |secret: PartialObjectMeta<Secret>| {
                let (namespace, name) = (secret.namespace(), secret.name_any());
                with_secret
                    .state_filter(|control_plane| {
                        control_plane.namespace() == namespace
                            && (control_plane.spec.external.kubeconfig_secret_ref.name == name
                                || is_made_for(control_plane, &name))
                    })
                    .iter()
                    .map(|control_plane| ObjectRef::from_obj(control_plane.as_ref()))
                    .collect::<Vec<_>>()
            }),
        )
        .graceful_shutdown_on(shutdown)
        .run(
            move |control_plane, reconciler: Arc<ControlPlanes>| {
                let object = ObjectRef::from_obj(control_plane.as_ref());
                turns.clone().turn(object, reconciler.reconcile(control_plane))
            },
            |_control_plane, error: &apply::Error, _reconciler| {
                tracing::error!(%error, "the reconcile returned an error");
                KubeAction::requeue(Duration::from_secs(30))
            },
            reconciler,
        )
        .for_each(move |ended| {
            if let Err(ControllerError::ObjectNotFound(object)) = &ended {
                gone.is_gone(object);
            }
            std::future::ready(())
        })
        .await;
}

struct ControlPlanes {
    context: Context,
    own: Store<FooControlPlane>,
    clusters: Store<Cluster>,
    /// Whether the Clusters have been read once.
    filled: Filled,
    status: StatusWriter,
    backoff: Backoff<ObjectRef<FooControlPlane>>,
}

impl ControlPlanes {
    async fn reconcile(self: Arc<Self>, control_plane: Arc<FooControlPlane>) -> Result<Action, apply::Error> {
        let measured = self.context.metrics.pass_starts(Which::ControlPlane);
        let key = ObjectRef::from_obj(control_plane.as_ref());
        let generation = control_plane.metadata.generation;
        if let Some(left) = self.backoff.held(&key, &generation, Instant::now()) {
            measured.ends(PassResult::Skipped);
            return Ok(Action::requeue(left));
        }
        let deadline = self.context.settings.last_deadline();
        let ended = passes::within(deadline, &key, async {
            if self.filled.wait().await.is_err() {
                return Ok((Action::await_change(), PassResult::Aborted));
            }
            self.pass(&control_plane).await
        });
        let result = match ended.await {
            Some(Ok((action, result))) => {
                measured.ends(result);
                self.backoff.succeeded(&key);
                return Ok(action);
            }
            Some(Err(error)) => {
                tracing::warn!(control_plane = %key, %error, "the reconcile failed");
                PassResult::Failed
            }
            None => PassResult::GivenUp,
        };
        measured.ends(result);
        Ok(Action::requeue(self.backoff.failed(&key, generation, Instant::now())))
    }

    async fn pass(&self, control_plane: &FooControlPlane) -> Result<(Action, PassResult), apply::Error> {
        let owner = self.owner(control_plane);
        let paused = control_plane.annotations().contains_key(names::PAUSED_ANNOTATION)
            || owner.as_ref().is_some_and(|owner| owner.is_paused());
        if control_plane.metadata.deletion_timestamp.is_some() {
            return self.see_off(control_plane, paused).await;
        }
        if paused {
            let facts = Facts { paused, ..Facts::default() };
            let written = self.publish(control_plane, &Seen::NotLooked, &facts).await?;
            return Ok((Action::await_change(), result(written)));
        }
        let Some(owner) = owner else {
            let blocked = Blocked::new(
                "WaitingForCluster",
                "no Cluster names this FooControlPlane in spec.controlPlaneRef yet",
            );
            let written = self.publish(control_plane, &Seen::Blocked(blocked), &Facts::default()).await?;
            return Ok((Action::await_change(), result(written)));
        };
        let (seen, kubeconfig) = match self.make_known(control_plane, &owner.name_any()).await? {
            Ok((usable, wrong)) => (self.ask(&usable).await, wrong.map_or(Ok(usable.expires), Err)),
            Err(blocked) => (Seen::Blocked(blocked.clone()), Err(blocked)),
        };
        let facts = Facts { kubeconfig: Some(kubeconfig), ..Facts::default() };
        let written = self.publish(control_plane, &seen, &facts).await?;
        let period = match seen {
            Seen::Version(_) | Seen::NotLooked => self.healthy_period(),
            Seen::Blocked(_) => TRY_AGAIN,
        };
        Ok((Action::requeue(jittered(period, &control_plane.name_any())), result(written)))
    }

    /// How soon an API server that answers is asked again. Upgrades of pools wait for what it says, and Cluster API takes its
    /// word for whether the control plane is there; many of them share what may be asked of the network in a second.
    fn healthy_period(&self) -> Duration {
        healthy_period(self.own.len(), self.context.settings.sync_period)
    }

    /// It is being deleted. Nothing of ours holds it: what there is of it in Kubernetes goes with the owner references. Others
    /// may hold it, and it says so.
    async fn see_off(
        &self,
        control_plane: &FooControlPlane,
        paused: bool,
    ) -> Result<(Action, PassResult), apply::Error> {
        if control_plane.finalizers().is_empty() {
            return Ok((Action::await_change(), PassResult::Settled));
        }
        let others = some_names(control_plane.finalizers().iter().map(String::as_str));
        let message = format!("waiting until others take off their finalizers: {others}");
        let deleting = Some(Blocked::new("WaitingForFinalizers", message));
        let facts = Facts { paused, deleting, ..Facts::default() };
        match self.publish(control_plane, &Seen::NotLooked, &facts).await {
            Ok(written) => Ok((Action::await_change(), result(written))),
            // It went meanwhile.
            Err(apply::Error::Kube(error)) if apply::is_conflict(&error) || apply::is_not_found(&error) => {
                Ok((Action::await_change(), PassResult::Settled))
            }
            Err(error) => Err(error),
        }
    }

    /// The Cluster that owns this object, core sets the reference, and that names it. Owner references alone prove nothing:
    /// whoever may make FooControlPlanes could have the kubeconfig of any Cluster of the namespace written.
    fn owner(&self, control_plane: &FooControlPlane) -> Option<Arc<Cluster>> {
        let cluster = owners::of_kind(control_plane, "Cluster", &self.clusters)?;
        let named = cluster.spec.control_plane_ref.as_ref().is_some_and(|reference| {
            reference.kind == "FooControlPlane"
                && reference.api_group == names::CONTROL_PLANE_GROUP
                && reference.name == control_plane.name_any()
        });
        named.then_some(cluster)
    }

    /// Reads the user's kubeconfig, copies it to where Cluster API looks, and publishes the endpoint in it.
    async fn make_known(
        &self,
        control_plane: &FooControlPlane,
        cluster: &str,
    ) -> Result<Result<(Usable, Option<Blocked>), Blocked>, apply::Error> {
        let namespace = control_plane.namespace().unwrap_or_default();
        let secrets: Api<Secret> = Api::namespaced(self.context.client.clone(), &namespace);
        let name = &control_plane.spec.external.kubeconfig_secret_ref.name;
        if !is_object_name(name) {
            let message =
                format!("spec.external.kubeconfigSecretRef.name {name:?} cannot be the name of a Secret");
            return Ok(Err(Blocked::new("KubeconfigSecretNameInvalid", message)));
        }
        let usable = match secrets.get_opt(name).await? {
            None => {
                let message = format!("Secret {name} with the kubeconfig does not exist");
                return Ok(Err(Blocked::new("KubeconfigSecretNotFound", message)));
            }
            Some(secret) => match kubeconfig::read(name, &secret) {
                Ok(usable) => usable,
                Err(blocked) => return Ok(Err(blocked)),
            },
        };
        let wrong = match secret::keep(&secrets, control_plane, cluster, &usable).await? {
            Ok(()) => None,
            Err(Trouble::Wrong(wrong)) => Some(wrong),
            Err(Trouble::Unusable(blocked)) => return Ok(Err(blocked)),
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
        match kubeconfig::version(usable, &self.context.metrics).await {
            Ok(version) => Seen::Version(version),
            Err(message) => Seen::Blocked(Blocked::new("ApiServerUnreachable", message)),
        }
    }

    async fn publish(
        &self,
        control_plane: &FooControlPlane,
        seen: &Seen,
        facts: &Facts,
    ) -> Result<apply::Written, apply::Error> {
        let namespace = control_plane.namespace().unwrap_or_default();
        let api: Api<FooControlPlane> = Api::namespaced(self.context.client.clone(), &namespace);
        let now = kube_time(self.context.clock.as_ref());
        let status = status::status(control_plane, seen, facts, now);
        let written =
            self.status.apply_if_changed(&api, control_plane, control_plane.status.as_ref(), &status).await?;
        if written == apply::Written::Yes {
            let object = control_plane.object_ref(&());
            let blocked = if let Seen::Blocked(blocked) = seen { Some(blocked.clone()) } else { None };
            for told in blocked.into_iter().chain(status::news(control_plane, &status)) {
                self.context.events.publish(&object, Severity::Warning, &told.reason, &told.message).await;
            }
        }
        Ok(written)
    }
}

fn healthy_period(control_planes: usize, sync_period: Duration) -> Duration {
    let count = u32::try_from(control_planes).unwrap_or(u32::MAX);
    EACH.saturating_mul(count).max(LOOK_AGAIN).min(sync_period.max(LOOK_AGAIN))
}

fn result(written: apply::Written) -> PassResult {
    match written {
        apply::Written::Yes => PassResult::Worked,
        apply::Written::Unchanged => PassResult::Settled,
    }
}

/// Whether Cluster API reads a Secret of that name for the control plane's cluster.
fn is_made_for(control_plane: &FooControlPlane, secret: &str) -> bool {
    let cluster = control_plane.labels().get(names::CLUSTER_NAME_LABEL);
    cluster.is_some_and(|cluster| kubeconfig::secret_name(cluster) == secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_server_that_answers_is_asked_every_minute_unless_there_are_very_many() {
        let sync = Duration::from_mins(10);
        assert_eq!(healthy_period(1, sync), LOOK_AGAIN);
        assert_eq!(healthy_period(300, sync), LOOK_AGAIN);
        assert_eq!(healthy_period(1000, sync), Duration::from_secs(200));
        assert_eq!(healthy_period(100_000, sync), sync);
    }
}
