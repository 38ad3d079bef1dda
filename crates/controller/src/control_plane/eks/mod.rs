//! FooControlPlane, mode `eks`: creates an EKS cluster, keeps it in line with the spec, upgrades and deletes it, and
//! publishes its API server to Cluster API.
//!
//! * [`pass`]: read, plan, check, publish, act; [`desired`], [`reads`], [`act`], [`record`] and [`shown`] are its
//!   parts.
//! * [`api_server`] and [`kubeconfig`]: what the planner does not know about: Secrets, tokens, and whether the API
//!   server responds.
//! * [`windows`]: when add-ons that follow EKS may be updated.
//! * [`removal`]: in which order things go.
//! * [`plans`]: responds to what users ask would follow from a change.
//!
//! Nothing about the cluster is decided here: `foo_eks::plan` does that.

mod act;
mod api_server;
mod control_planes;
mod desired;
mod identity;
mod kubeconfig;
mod nodes;
mod pass;
mod plans;
mod reads;
mod record;
mod removal;
mod shown;
mod state;
mod windows;

use super::relations::{self, control_plane_of};
use crate::apply::{self, StatusWriter};
use crate::calls::Goal;
use crate::calls::state::States;
use crate::clouds::CloudKey;
use crate::harness::{Harness, PassOutcome, Reconciler, Urgency};
use crate::identities::identity_of;
use crate::labels::{Controller, Watched};
use crate::owners;
use crate::queue::Action;
use crate::responders::Subject;
use crate::watch::{ChangeFilter, Scope, Watch, refs_of};
use crate::{Context, installation};
use api_server::ApiServer;
use control_planes::EksControlPlanes;
use foo_api::capi::{Cluster, MachinePool};
use foo_api::control_plane::Eks;
use foo_api::names::{self, managers};
use foo_api::{FooCluster, FooControlPlane, FooMachinePool};
use foo_model::{Blocked, Reason};
use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;
use kube::core::PartialObjectMeta;
use kube_runtime::reflector::{ObjectRef, Store};
use shown::Facts;
use state::EksState;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often to check whether FooControlPlanes are served: the other provider, to which they belong, can be installed
/// later.
const INSTALLED: Duration = Duration::from_mins(1);
/// Deadline of that query.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs the controller until `shutdown` resolves. It begins when FooControlPlanes are installed.
pub async fn run(context: Context, shutdown: impl Future<Output = ()> + Send + Sync + 'static) {
    let mut shutdown = Box::pin(shutdown);
    let begins = async {
        until_installed(&context).await;
        installation::id(&context.client, &context.readiness).await
    };
    let installation = tokio::select! {
        id = begins => id,
        () = &mut shutdown => return,
    };
    let (but_status, every) = (ChangeFilter::AllButStatus, ChangeFilter::EveryVersion);
    let own = Watch::<FooControlPlane>::lenient(&context, Watched::FooControlPlane, Scope::Ours, but_status);
    context.identities.have_control_planes(own.store.clone(), own.filled.clone());
    let clusters = Watch::<Cluster>::lenient(&context, Watched::Cluster, Scope::All, but_status);
    let foo_clusters = Watch::<FooCluster>::lenient(&context, Watched::FooCluster, Scope::All, every);
    let pools = Watch::<FooMachinePool>::lenient(&context, Watched::FooMachinePool, Scope::All, but_status);
    let machine_pools = Watch::<MachinePool>::lenient(&context, Watched::MachinePool, Scope::All, but_status);
    let labelled = Scope::Labelled(names::CLUSTER_NAME_LABEL);
    let secrets = Watch::<PartialObjectMeta<Secret>>::lenient(&context, Watched::Secret, labelled, every);
    let reconciler = Arc::new(EksControlPlanes {
        installation,
        states: States::default(),
        own: own.store.clone(),
        clusters: clusters.store.clone(),
        foo_clusters: foo_clusters.store.clone(),
        pools: pools.store.clone(),
        machine_pools: machine_pools.store.clone(),
        status: StatusWriter::new(managers::CONTROL_PLANE),
        regions: Mutex::default(),
        context: context.clone(),
    });
    let of = || own.store.clone();
    let (of_foo_cluster, of_pool, of_machine_pool, of_secret) = (of(), of(), of(), of());
    let (of_identity, places) = (of(), Arc::clone(&reconciler));
    let identified = context.identities.changes().flat_map(move |names| {
        let uses = |it: &FooControlPlane| {
            let found = places.place(it).ok().and_then(|place| place.foo_cluster);
            found.is_some_and(|cluster| names.contains(identity_of(&cluster)))
        };
        stream::iter(refs_of(&of_identity, uses))
    });
    Harness::new(&context, Controller::Eks, own)
        .watches(clusters, control_plane_of)
        .watches(foo_clusters, move |it: FooCluster| {
            of_cluster(&of_foo_cluster, &it, label_of(&it).as_deref())
        })
        .watches(pools, move |it: FooMachinePool| of_cluster(&of_pool, &it, label_of(&it).as_deref()))
        .watches(machine_pools, move |it: MachinePool| {
            of_cluster(&of_machine_pool, &it, Some(&it.spec.cluster_name))
        })
        .is_woken_by(secrets, move |secret| with_kubeconfig(&of_secret, &secret))
        .foresees(Subject::ControlPlane, &reconciler)
        .reconciles_on(identified)
        .needs_identities()
        .run(reconciler, shutdown)
        .await;
}

/// Waits until the API server serves FooControlPlanes: they come with the control-plane provider, which is optional.
async fn until_installed(context: &Context) {
    let version = format!("{}/v1alpha1", names::CONTROL_PLANE_GROUP);
    loop {
        match tokio::time::timeout(PATIENCE, context.client.list_api_group_resources(&version)).await {
            Ok(Ok(_)) => return,
            Ok(Err(kube::Error::Api(status))) if status.code == 404 => {
                context.identities.have_no_control_planes();
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "could not find out whether FooControlPlanes are installed");
            }
            Err(_elapsed) => {
                tracing::warn!("could not find out in time whether FooControlPlanes are installed");
            }
        }
        tokio::time::sleep(INSTALLED).await;
    }
}

fn label_of(object: &impl ResourceExt) -> Option<String> {
    object.labels().get(names::CLUSTER_NAME_LABEL).cloned()
}

/// The FooControlPlanes of a Cluster that has this name, in the namespace of an object.
fn of_cluster(
    control_planes: &Store<FooControlPlane>,
    object: &impl ResourceExt,
    cluster: Option<&str>,
) -> Vec<ObjectRef<FooControlPlane>> {
    let namespace = object.namespace();
    refs_of(control_planes, |it| {
        it.spec.eks.is_some()
            && it.namespace() == namespace
            && cluster.is_some()
            && label_of(it).as_deref() == cluster
    })
}

/// FooControlPlanes whose kubeconfig, of either kind, is in this Secret.
fn with_kubeconfig(
    control_planes: &Store<FooControlPlane>,
    secret: &PartialObjectMeta<Secret>,
) -> Vec<ObjectRef<FooControlPlane>> {
    let (namespace, name) = (secret.namespace(), secret.name_any());
    refs_of(control_planes, |it| {
        let for_people = || label_of(it).is_some_and(|it| kubeconfig::user_secret_name(&it) == name);
        it.spec.eks.is_some()
            && it.namespace() == namespace
            && (relations::is_created_for(it, &name) || for_people())
    })
}

impl Reconciler for EksControlPlanes {
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

    fn cloud(&self, control_plane: &Self::Gathered) -> Option<(CloudKey, Urgency)> {
        let is_deleted = control_plane.metadata.deletion_timestamp.is_some();
        let goal = if is_deleted { Goal::Delete } else { Goal::Keep };
        let calls = control_plane.spec.eks.is_some() && !self.is_left_alone(control_plane, goal);
        let key = self.cloud_key(control_plane).filter(|_| calls)?;
        Some((key, Urgency::Usual))
    }

    fn conditions(control_plane: &FooControlPlane) -> Option<&[Condition]> {
        let status = control_plane.status.as_ref();
        let conditions = status.map(|status| status.conditions.as_slice()).unwrap_or_default();
        control_plane.spec.eks.is_some().then_some(conditions)
    }

    async fn pass(&self, control_plane: Self::Gathered) -> Result<PassOutcome, Self::Error> {
        let Some(eks) = &control_plane.spec.eks else {
            return Ok(PassOutcome::skipped(Action::await_change()));
        };
        self.states.forget_vanished(&self.own);
        let slot = self.states.of(&ObjectRef::from_obj(control_plane.as_ref()));
        let mut state = slot.lock().await;
        if !state.is_of(&control_plane) {
            *state = EksState::first(&control_plane, self.context.kubernetes_clock.found().difference);
        }
        self.pass_over(&control_plane, eks, &mut state).await
    }
}

impl EksControlPlanes {
    async fn pass_over(
        &self,
        control_plane: &FooControlPlane,
        eks: &Eks,
        state: &mut EksState,
    ) -> Result<PassOutcome, apply::Error> {
        let owner = self.owner(control_plane);
        let paused = owners::is_paused(control_plane, owner.as_deref());
        if control_plane.metadata.deletion_timestamp.is_some() {
            return self.remove(control_plane, eks, paused, state).await;
        }
        if paused {
            let facts = Facts { paused, ..Facts::default() };
            let written = self.publish(control_plane, facts, ApiServer::default(), state).await?;
            return Ok(PassOutcome::wrote(written, Action::await_change()));
        }
        if owner.is_none() {
            let message = "no Cluster references this FooControlPlane in spec.controlPlaneRef yet";
            let blocked = Some(Blocked::new(Reason::WaitingForCluster, message));
            let facts = Facts { blocked, ..Facts::default() };
            let written = self.publish(control_plane, facts, ApiServer::default(), state).await?;
            return Ok(PassOutcome::wrote(written, Action::await_change()));
        }
        if !control_plane.finalizers().iter().any(|it| it == names::CONTROL_PLANE_FINALIZER) {
            apply::add_finalizer(&self.api(control_plane), control_plane, names::CONTROL_PLANE_FINALIZER)
                .await?;
        }
        Ok(self.eks_pass(control_plane, eks, Goal::Keep, state).await?.outcome())
    }
}
