//! FooControlPlane, external mode: an API server that somebody else runs is made known to Cluster API.
//!
//! The user's kubeconfig is checked, copied into the Secret that Cluster API reads, and the API server is asked for its
//! version. `externalManagedControlPlane: true` is what makes Cluster API drain the Nodes of pools at all.

mod status;

use crate::Context;
use crate::apply::{self, StatusWriter};
use crate::backoff::{Backoff, jittered};
use crate::clock::kube_time;
use crate::kubeconfig::{self, Usable};
use crate::metrics::{Controller as Which, PassResult, Watched};
use crate::owners;
use crate::passes;
use crate::watch::{Filled, Passing, Watch, Which as Watching};
use foo_api::capi::Cluster;
use foo_api::names::managers;
use foo_api::patterns::is_object_name;
use foo_api::{FooControlPlane, names};
use foo_planner::desired::Blocked;
use foo_planner::report::Severity;
use futures::StreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::core::PartialObjectMeta;
use kube::runtime::controller::{Action, Config, Controller};
use kube::{Api, Resource, ResourceExt};
use kube_runtime::reflector::{ObjectRef, Store};
use serde_json::json;
use status::Seen;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How soon an API server that cannot be used is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(30);

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
    let reconciler = Arc::new(ControlPlanes {
        backoff: Backoff::new(context.settings.seed),
        status: StatusWriter::new(managers::CONTROL_PLANE),
        clusters: clusters.store,
        filled: clusters.filled,
        context,
    });
    Controller::for_stream(own.changes, own.store)
        .with_config(Config::default().concurrency(concurrency))
        .watches_stream(clusters.changes, |cluster: Cluster| {
            let namespace = cluster.namespace().unwrap_or_default();
            let reference =
                cluster.spec.control_plane_ref.filter(|reference| reference.kind == "FooControlPlane");
            reference.map(|reference| ObjectRef::new(&reference.name).within(&namespace))
        })
        .watches_stream(secrets.changes, move |secret: PartialObjectMeta<Secret>| {
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
        })
        .graceful_shutdown_on(shutdown)
        .run(
            |control_plane, reconciler: Arc<ControlPlanes>| reconciler.reconcile(control_plane),
            |_control_plane, error: &apply::Error, _reconciler| {
                tracing::error!(%error, "a pass ended with an error");
                Action::requeue(Duration::from_secs(30))
            },
            reconciler,
        )
        .for_each(|_| std::future::ready(()))
        .await;
}

struct ControlPlanes {
    context: Context,
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
                tracing::warn!(control_plane = %key, %error, "the pass failed");
                PassResult::Failed
            }
            None => PassResult::GivenUp,
        };
        measured.ends(result);
        Ok(Action::requeue(self.backoff.failed(&key, generation, Instant::now())))
    }

    async fn pass(&self, control_plane: &FooControlPlane) -> Result<(Action, PassResult), apply::Error> {
        // Nothing of ours is anywhere but in Kubernetes, and that goes with the owner references.
        if control_plane.metadata.deletion_timestamp.is_some() {
            return Ok((Action::await_change(), PassResult::Settled));
        }
        let owner = self.owner(control_plane);
        let paused = control_plane.annotations().contains_key(names::PAUSED_ANNOTATION)
            || owner.as_ref().is_some_and(|owner| owner.is_paused());
        if paused {
            let written = self.publish(control_plane, &Seen::NotLooked, true).await?;
            return Ok((Action::await_change(), result(written)));
        }
        let Some(owner) = owner else {
            let blocked = Blocked::new(
                "WaitingForCluster",
                "no Cluster names this FooControlPlane in spec.controlPlaneRef yet",
            );
            let written = self.publish(control_plane, &Seen::Blocked(blocked), false).await?;
            return Ok((Action::await_change(), result(written)));
        };
        let seen = match self.make_known(control_plane, &owner.name_any()).await? {
            Ok(usable) => self.ask(&usable).await,
            Err(blocked) => Seen::Blocked(blocked),
        };
        let written = self.publish(control_plane, &seen, false).await?;
        let period = match seen {
            Seen::Version(_) | Seen::NotLooked => self.context.settings.sync_period,
            Seen::Blocked(_) => TRY_AGAIN,
        };
        Ok((Action::requeue(jittered(period, &control_plane.name_any())), result(written)))
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
    ) -> Result<Result<Usable, Blocked>, apply::Error> {
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
        if let Err(blocked) = self.copy(&secrets, control_plane, cluster, &usable).await? {
            return Ok(Err(blocked));
        }
        if control_plane.spec.control_plane_endpoint.is_none() {
            let api: Api<FooControlPlane> = Api::namespaced(self.context.client.clone(), &namespace);
            let spec = json!({
                "metadata": {"uid": control_plane.uid()},
                "spec": {"controlPlaneEndpoint": usable.endpoint}
            });
            apply::apply(&api, &control_plane.name_any(), managers::CONTROL_PLANE_ENDPOINT, spec).await?;
        }
        Ok(Ok(usable))
    }

    /// `<cluster>-kubeconfig`, unless it says the same already or is the user's own Secret. One that is there and was not made
    /// for this object is somebody's: it is left as it is.
    async fn copy(
        &self,
        secrets: &Api<Secret>,
        control_plane: &FooControlPlane,
        cluster: &str,
        usable: &Usable,
    ) -> Result<Result<(), Blocked>, apply::Error> {
        let name = kubeconfig::secret_name(cluster);
        if name == control_plane.spec.external.kubeconfig_secret_ref.name {
            return Ok(Ok(()));
        }
        if let Some(there) = secrets.get_opt(&name).await? {
            if kubeconfig::says(&there, &usable.text) {
                return Ok(Ok(()));
            }
            if !is_owned_by(&there, control_plane) {
                let message = format!(
                    "Secret {name} holds another kubeconfig and is not owned by this FooControlPlane; it is left as it is: \
                     delete it, or name it in spec.external.kubeconfigSecretRef"
                );
                return Ok(Err(Blocked::new("KubeconfigSecretNotOurs", message)));
            }
        }
        let owner = control_plane.owner_ref(&());
        let secret = json!({
            "metadata": {
                "labels": {names::CLUSTER_NAME_LABEL: cluster},
                "ownerReferences": owner.into_iter().collect::<Vec<_>>(),
            },
            "type": names::CLUSTER_SECRET_TYPE,
            "data": {names::SECRET_VALUE_KEY: k8s_openapi::ByteString(usable.text.clone().into_bytes())},
        });
        apply::apply(secrets, &name, managers::KUBECONFIG, secret).await?;
        Ok(Ok(()))
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
        paused: bool,
    ) -> Result<apply::Written, apply::Error> {
        let namespace = control_plane.namespace().unwrap_or_default();
        let api: Api<FooControlPlane> = Api::namespaced(self.context.client.clone(), &namespace);
        let now = kube_time(self.context.clock.as_ref());
        let status = status::status(control_plane, seen, paused, now);
        let written =
            self.status.apply_if_changed(&api, control_plane, control_plane.status.as_ref(), &status).await?;
        if let (apply::Written::Yes, Seen::Blocked(blocked)) = (written, seen) {
            let object = control_plane.object_ref(&());
            self.context.events.publish(&object, Severity::Warning, &blocked.reason, &blocked.message).await;
        }
        Ok(written)
    }
}

fn result(written: apply::Written) -> PassResult {
    match written {
        apply::Written::Yes => PassResult::Worked,
        apply::Written::Unchanged => PassResult::Settled,
    }
}

/// Whether a Secret was made for this very FooControlPlane.
fn is_owned_by(secret: &Secret, control_plane: &FooControlPlane) -> bool {
    let uid = control_plane.metadata.uid.as_ref();
    secret.owner_references().iter().any(|owner| Some(&owner.uid) == uid && owner.kind == "FooControlPlane")
}

/// Whether Cluster API reads a Secret of that name for the control plane's cluster.
fn is_made_for(control_plane: &FooControlPlane, secret: &str) -> bool {
    let cluster = control_plane.labels().get(names::CLUSTER_NAME_LABEL);
    cluster.is_some_and(|cluster| kubeconfig::secret_name(cluster) == secret)
}
