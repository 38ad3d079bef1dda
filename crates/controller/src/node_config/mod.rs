//! FooNodeConfig: user data for the Nodes of a MachinePool, in a Secret that Cluster API hands on to the pool.
//!
//! A pass joins what the control plane reports of the cluster, and the FooMachinePool of its instance types, with what
//! the user wrote about the Nodes, has `foo-bootstrap` render it, and keeps the Secret as it has to be. It calls no AWS.
//! For cluster-autoscaler it writes what it knows of Nodes to the MachinePool (`scale_from_zero`). The user data has no
//! token and no time: it changes with its inputs only, and a change replaces the Nodes of the pool. While something is
//! wrong, the Secret stays as it was written last.

mod belonging;
mod facts;
mod input;
mod scale_from_zero;
mod secret;
mod status;

pub(crate) use input::family;

use crate::Context;
use crate::apply::{self, StatusWriter, Written};
use crate::backoff::jittered;
use crate::clock::kube_time;
use crate::harness::{Harness, PassOutcome, Reconciler};
use crate::kubeconfig;
use crate::labels::{Controller, Watched};
use crate::owners;
use crate::queue::Action;
use crate::watch::{ChangeFilter, Scope, Watch, refs_of};
use belonging::{Belonging, Caches};
use facts::Facts;
use foo_api::capi::{Cluster, MachinePool};
use foo_api::names::{self, managers};
use foo_api::{FooControlPlane, FooMachinePool, FooNodeConfig};
use foo_model::{Blocked, Reason, some_names};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::core::PartialObjectMeta;
use kube::{Api, Resource, ResourceExt};
use kube_runtime::reflector::{ObjectRef, Store};
use scale_from_zero::ScaleFromZero;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// When something is read again that no watch may report: a Secret without the label of a cluster.
const TRY_AGAIN: Duration = Duration::from_secs(30);

/// Runs the controller until `shutdown` resolves.
pub async fn run(context: Context, shutdown: impl Future<Output = ()> + Send + Sync + 'static) {
    let (but_status, every) = (ChangeFilter::AllButStatus, ChangeFilter::EveryVersion);
    let own = Watch::<FooNodeConfig>::lenient(&context, Watched::FooNodeConfig, Scope::Ours, but_status);
    let pools = Watch::<MachinePool>::lenient(&context, Watched::MachinePool, Scope::All, but_status);
    let clusters = Watch::<Cluster>::lenient(&context, Watched::Cluster, Scope::All, but_status);
    let planes = Watch::<FooControlPlane>::lenient(&context, Watched::FooControlPlane, Scope::All, every);
    let foo_pools = Watch::<FooMachinePool>::lenient_with_status(
        &context,
        Watched::FooMachinePool,
        Scope::All,
        belonging::status_input,
    );
    let labelled = Scope::Labelled(names::CLUSTER_NAME_LABEL);
    let secrets = Watch::<PartialObjectMeta<Secret>>::lenient(&context, Watched::Secret, labelled, every);
    let reconciler = Arc::new(NodeConfigs {
        status: StatusWriter::new(managers::NODE_CONFIG),
        scale_from_zero: ScaleFromZero::default(),
        caches: Caches {
            machine_pools: pools.store.clone(),
            clusters: clusters.store.clone(),
            control_planes: planes.store.clone(),
            foo_machine_pools: foo_pools.store.clone(),
        },
        context: context.clone(),
    });
    let (of_cluster, of_plane, of_secret) = (own.store.clone(), own.store.clone(), own.store.clone());
    let of_foo_pool = pools.store.clone();
    Harness::new(&context, Controller::NodeConfig, own)
        .watches(pools, |pool: MachinePool| config_of(&pool))
        .watches(clusters, move |cluster: Cluster| {
            labelled_with(&of_cluster, cluster.namespace().as_deref(), Some(&cluster.name_any()))
        })
        .watches(planes, move |plane: FooControlPlane| {
            let cluster = plane.labels().get(names::CLUSTER_NAME_LABEL).map(String::as_str);
            labelled_with(&of_plane, plane.namespace().as_deref(), cluster)
        })
        .watches(foo_pools, move |foo_pool: FooMachinePool| {
            let named = |pool: &&Arc<MachinePool>| belonging::is_infrastructure_of(&foo_pool, pool);
            of_foo_pool.state().iter().filter(named).filter_map(|pool| config_of(pool)).collect::<Vec<_>>()
        })
        .is_woken_by(secrets, move |secret| concerned_by(&of_secret, &secret))
        .run(reconciler, shutdown)
        .await;
}

/// The FooNodeConfig that a MachinePool names.
fn config_of(pool: &MachinePool) -> Option<ObjectRef<FooNodeConfig>> {
    let namespace = pool.namespace().unwrap_or_default();
    let reference = pool.spec.template.spec.bootstrap.config_ref.as_ref();
    let reference = reference.filter(|reference| reference.kind == "FooNodeConfig")?;
    Some(ObjectRef::new(&reference.name).within(&namespace))
}

/// Those with the label of this cluster, which Cluster API sets.
fn labelled_with(
    configs: &Store<FooNodeConfig>,
    namespace: Option<&str>,
    cluster: Option<&str>,
) -> Vec<ObjectRef<FooNodeConfig>> {
    let Some(cluster) = cluster else { return Vec::new() };
    refs_of(configs, |config| {
        config.metadata.namespace.as_deref() == namespace
            && config.labels().get(names::CLUSTER_NAME_LABEL).is_some_and(|label| label == cluster)
    })
}

/// Those whose user data is in this Secret, or whose cluster's kubeconfig is.
fn concerned_by(
    configs: &Store<FooNodeConfig>,
    secret: &PartialObjectMeta<Secret>,
) -> Vec<ObjectRef<FooNodeConfig>> {
    let (namespace, name) = (secret.namespace(), secret.name_any());
    refs_of(configs, |config| {
        let cluster = config.labels().get(names::CLUSTER_NAME_LABEL);
        config.namespace() == namespace
            && (config.name_any() == name
                || cluster.is_some_and(|cluster| kubeconfig::secret_name(cluster) == name))
    })
}

struct NodeConfigs {
    context: Context,
    caches: Caches,
    status: StatusWriter,
    scale_from_zero: ScaleFromZero,
}

/// What a pass begins with.
struct Gathered {
    config: Arc<FooNodeConfig>,
    /// The cluster that the Nodes join, or why that is not known.
    belonging: Result<Belonging, Blocked>,
}

impl Reconciler for NodeConfigs {
    type Object = FooNodeConfig;
    type Gathered = Gathered;
    type Fingerprint = (Option<i64>, Option<belonging::Print>);
    type Error = apply::Error;

    fn gather(&self, config: Arc<FooNodeConfig>) -> Gathered {
        let belonging = self.caches.belonging(&config);
        Gathered { config, belonging }
    }

    fn fingerprint(&self, gathered: &Gathered) -> Self::Fingerprint {
        let print = gathered.belonging.as_ref().ok().map(Belonging::print);
        (gathered.config.metadata.generation, print)
    }

    fn conditions(config: &FooNodeConfig) -> Option<&[Condition]> {
        Some(config.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default())
    }

    async fn pass(&self, gathered: Gathered) -> Result<PassOutcome, apply::Error> {
        self.pass_over(&gathered.config, &gathered.belonging).await
    }
}

impl NodeConfigs {
    async fn pass_over(
        &self,
        config: &FooNodeConfig,
        belonging: &Result<Belonging, Blocked>,
    ) -> Result<PassOutcome, apply::Error> {
        let cluster = belonging.as_ref().ok().map(|belonging| belonging.cluster.as_ref());
        let paused = owners::is_paused(config, cluster);
        if config.metadata.deletion_timestamp.is_some() {
            return self.report_deletion(config, paused).await;
        }
        if paused {
            let written = self.publish(config, &Facts { paused, ..Facts::default() }).await?;
            return Ok(PassOutcome::wrote(written, Action::await_change()));
        }
        let made = match belonging {
            Ok(belonging) => self.write(config, belonging).await?,
            Err(blocked) => Err(blocked.clone()),
        };
        let period = if made.is_ok() { self.context.settings.sync_period } else { TRY_AGAIN };
        let wrote_secret = matches!(made, Ok(secret::Kept { written: Written::Yes, .. }));
        let facts = Facts { made: Some(made.map(|kept| kept.bytes)), ..Facts::default() };
        let written = self.publish(config, &facts).await?;
        let written = if wrote_secret { Written::Yes } else { written };
        Ok(PassOutcome::wrote(written, Action::requeue(jittered(period, &config.name_any()))))
    }

    /// Renders the user data and keeps its Secret.
    async fn write(
        &self,
        config: &FooNodeConfig,
        belonging: &Belonging,
    ) -> Result<Result<secret::Kept, Blocked>, apply::Error> {
        let namespace = config.namespace().unwrap_or_default();
        let secrets: Api<Secret> = Api::namespaced(self.context.client.clone(), &namespace);
        let cluster = match facts::of_cluster(&secrets, config, belonging).await? {
            Ok(cluster) => cluster,
            Err(blocked) => return Ok(Err(blocked)),
        };
        let node = match input::node(&config.spec, &belonging.of_pool) {
            Ok(node) => node,
            Err(blocked) => return Ok(Err(blocked)),
        };
        match foo_bootstrap::render(&cluster, &node) {
            Ok(user_data) => {
                let content = secret::Content {
                    cluster: &belonging.cluster.name_any(),
                    user_data,
                    waits_in_warm_pool: node.join_when_in_service,
                };
                let kept = secret::keep(&secrets, config, content).await?;
                let max_pods = input::expected_max_pods(&node, &belonging.of_pool);
                let facts = scale_from_zero::facts(&config.spec, max_pods);
                self.scale_from_zero.publish(&self.context.client, &belonging.machine_pool, facts).await;
                Ok(kept)
            }
            Err(refusals) => Ok(Err(input::refused(&refusals))),
        }
    }

    /// The object is being deleted. The provider has no finalizer on it: the garbage collector deletes its Secret.
    /// Finalizers of others may block the deletion, and the status reports it.
    async fn report_deletion(
        &self,
        config: &FooNodeConfig,
        paused: bool,
    ) -> Result<PassOutcome, apply::Error> {
        if config.finalizers().is_empty() {
            return Ok(PassOutcome::settled(Action::await_change()));
        }
        let others = some_names(config.finalizers().iter().map(String::as_str));
        let message = format!("waiting for other controllers to remove their finalizers: {others}");
        let deleting = Some(Blocked::new(Reason::WaitingForFinalizers, message));
        match self.publish(config, &Facts { paused, deleting, ..Facts::default() }).await {
            Ok(written) => Ok(PassOutcome::wrote(written, Action::await_change())),
            // It was deleted meanwhile.
            Err(apply::Error::Kube(error)) if apply::is_conflict(&error) || apply::is_not_found(&error) => {
                Ok(PassOutcome::settled(Action::await_change()))
            }
            Err(error) => Err(error),
        }
    }

    async fn publish(&self, config: &FooNodeConfig, facts: &Facts) -> Result<Written, apply::Error> {
        let namespace = config.namespace().unwrap_or_default();
        let api: Api<FooNodeConfig> = Api::namespaced(self.context.client.clone(), &namespace);
        let status = status::status(config, facts, kube_time(&self.context.kubernetes_clock));
        let written = self.status.apply_if_changed(&api, config, config.status.as_ref(), &status).await?;
        if let (Written::Yes, Some(Err(blocked))) = (written, &facts.made) {
            self.context.events.publish(&config.object_ref(&()), blocked.reason, &blocked.message).await;
        }
        Ok(written)
    }
}
