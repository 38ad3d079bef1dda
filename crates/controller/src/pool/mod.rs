//! The pool controller: one FooMachinePool is one Auto Scaling group, and this is the only place that changes it.
//!
//! A pass goes through the files in this order:
//!
//! * [`gather`]: what Kubernetes knows, from the informer caches. Read live are the bootstrap Secret ([`secret`]), the
//!   control plane's version ([`skew`]), what [`execute`] verifies just before a deletion, and the kubeconfig for [`cordon`];
//! * [`wish`] (with [`content`], [`names`]): user input, read once and judged;
//! * [`look`] (with [`shortage`] and [`causes`]): the newest shared look at AWS, and our objects, as the planner's nouns;
//! * `foo_planner::plan`: every decision;
//! * [`execute`]: the actions, one by one; [`overlay`]: what a refusal adds to the report;
//! * [`publish`] (with [`capacity`]): status, ids, events; [`upkeep`]: the metadata of FooMachines.
//!
//! [`reconcile`] (with [`rounds`]) ties them together, [`lanes`] keeps one slow account from holding up all others, [`tenure`] says which of several pools a group belongs to, [`state`] is what is remembered between passes, [`rest`] watches that nothing
//! is done for ever. There is no decision about
//! instances or Machines in this folder.

mod act;
mod capacity;
mod causes;
mod content;
mod cordon;
mod details;
mod execute;
mod gather;
mod holdup;
mod lanes;
mod look;
mod made;
mod names;
mod overlay;
mod pass;
mod publish;
mod reconcile;
mod repeats;
mod replacing;
mod rest;
mod rounds;
mod secret;
mod shortage;
mod skew;
mod state;
mod strangers;
mod tenure;
mod together;
mod twins;
mod upkeep;
mod wish;

use crate::identities::identity_of;
use crate::metrics::{Controller as Controls, Watched};
use crate::watch::{Passing, Watch, Which};
use crate::{Context, installation};
use foo_api::capi::{Cluster, Machine, MachinePool};
use foo_api::identity::DEFAULT_IDENTITY;
use foo_api::{FooCluster, FooMachine, FooMachinePool, names as api_names};
use futures::{FutureExt, StreamExt};
use gather::{Caches, belongs_to, owning_pool};
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::core::PartialObjectMeta;
use kube::runtime::controller::{Action, Config, Controller, Error as ControllerError};
use kube_runtime::reflector::{ObjectRef, Store};
use reconcile::Pools;
use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Passes over the same pool are at least this far apart: the many changes of one scale-up are worked on together, and
/// an API server under load is left alone. Short against everything AWS does.
const DEBOUNCE: Duration = Duration::from_millis(200);

/// Runs the pool controller until `shutdown` resolves; passes under way are finished.
pub async fn run(context: Context, shutdown: impl Future<Output = ()> + Send + Sync + 'static) {
    let mut shutdown = Box::pin(shutdown);
    let installation = tokio::select! {
        id = installation::id(&context.client, &context.readiness) => id,
        () = &mut shutdown => return,
    };
    let pools = Watch::<FooMachinePool>::guarded(
        &context,
        Watched::FooMachinePool,
        Which::Ours,
        Passing::AllButStatus,
    );
    let foo_machines =
        Watch::<FooMachine>::strict(&context, Watched::FooMachine, Which::All, Passing::AllButStatus);
    let foo_clusters =
        Watch::<FooCluster>::guarded(&context, Watched::FooCluster, Which::All, Passing::EveryVersion);
    let clusters = Watch::<Cluster>::guarded(&context, Watched::Cluster, Which::All, Passing::EveryVersion);
    let machine_pools =
        Watch::<MachinePool>::guarded(&context, Watched::MachinePool, Which::All, Passing::AllButStatus);
    let machines = Watch::<Machine>::strict(&context, Watched::Machine, Which::All, Passing::EveryVersion);
    // Guarded: a pool whose Secret cannot be read says so itself.
    let secrets = Watch::<PartialObjectMeta<Secret>>::guarded(
        &context,
        Watched::Secret,
        Which::Labelled(api_names::CLUSTER_NAME_LABEL),
        Passing::EveryVersion,
    );
    let caches = Caches {
        installation,
        pools: pools.store.clone(),
        foo_machines: foo_machines.store.clone(),
        foo_clusters: foo_clusters.store.clone(),
        clusters: clusters.store.clone(),
        machine_pools: machine_pools.store.clone(),
        foo_machines_by_name: foo_machines.by_name,
        machines_by_name: machines.by_name,
        machine_pools_by_name: machine_pools.by_name,
        secrets: secrets.store.clone(),
        unreadable: [("FooMachine", foo_machines.unreadable), ("Machine", machines.unreadable)],
        filled: vec![
            pools.filled,
            foo_machines.filled,
            foo_clusters.filled,
            clusters.filled,
            machine_pools.filled,
            machines.filled,
            secrets.filled,
        ],
    };
    let concurrency = context.settings.concurrency;
    let observers = context.metrics.observers();
    context
        .readiness
        .wait_for("looks at Auto Scaling groups: none for two periods, and no error", move || {
            observers.unseen().unexplained == 0
        });
    let queue = context.metrics.queue(Controls::Pool);
    let (turns, gone) = (queue.clone(), queue.clone());
    let wakes = context.clouds.wakes();
    let identities = context.identities.changes();
    let controller = Arc::new(Pools::new(context, caches.clone()));
    let freed = controller.lanes.freed();
    let woken = {
        let controller = Arc::clone(&controller);
        wakes
            .flat_map(move |wake| futures::stream::iter(controller.states.pools_of(&wake.cloud, &wake.group)))
    };
    let with_identity = caches.clone();
    let identified =
        identities.flat_map(move |names| futures::stream::iter(pools_with_identity(&with_identity, &names)));
    let of_cluster = {
        let store = caches.pools.clone();
        move |namespace: Option<String>, cluster: &str| {
            pools_of_cluster(&store, namespace.as_deref(), cluster)
        }
    };
    let by_cluster = of_cluster.clone();
    let by_foo_cluster = of_cluster;
    let with_secret = caches.clone();
    let with_machine = caches.clone();
    let with_foo_machine = caches.clone();
    let (suspects, suspected) = futures::channel::mpsc::unbounded();
    let strangers = strangers::run(controller.context.clone(), caches.clone(), suspected);
    let passes = Controller::for_stream(queue.changed(pools.changes), pools.store)
        .with_config(Config::default().concurrency(concurrency).debounce(DEBOUNCE))
        .watches_stream(
            foo_machines.changes,
            queue.named_by(move |machine: FooMachine| {
                if !strangers::is_known(&with_foo_machine, &machine) {
                    // Nobody listens any more when the manager ends.
                    let _ended = suspects.unbounded_send(ObjectRef::from_obj(&machine));
                }
                pool_of_foo_machine(&with_foo_machine, &machine)
            }),
        )
        .watches_stream(
            machines.changes,
            queue.named_by(move |machine: Machine| pool_of_machine(&with_machine, &machine)),
        )
        .watches_stream(
            machine_pools.changes,
            queue.named_by(|pool: MachinePool| {
                let reference = &pool.spec.template.spec.infrastructure_ref;
                let namespace = pool.namespace().unwrap_or_default();
                (reference.kind == "FooMachinePool")
                    .then(|| ObjectRef::new(&reference.name).within(&namespace))
            }),
        )
        .watches_stream(
            clusters.changes,
            queue.named_by(move |cluster: Cluster| by_cluster(cluster.namespace(), &cluster.name_any())),
        )
        .watches_stream(
            foo_clusters.changes,
            queue.named_by(move |cluster: FooCluster| {
                let name = cluster.labels().get(api_names::CLUSTER_NAME_LABEL).cloned().unwrap_or_default();
                by_foo_cluster(cluster.namespace(), &name)
            }),
        )
        .watches_stream(
            secrets.changes,
            queue.named_by(move |secret: PartialObjectMeta<Secret>| pools_with_secret(&with_secret, &secret)),
        )
        .reconcile_on(queue.named(futures::stream::select(futures::stream::select(woken, freed), identified)))
        .graceful_shutdown_on(shutdown)
        .run(
            move |pool, controller: Arc<Pools>| {
                turns.clone().turn(ObjectRef::from_obj(pool.as_ref()), controller.reconcile(pool))
            },
            |_pool, error: &reconcile::Error, _controller| {
                // `reconcile` turns its errors into back-off; this is for what cannot happen there.
                tracing::error!(%error, "the reconcile returned an error");
                Action::requeue(Duration::from_secs(30))
            },
            controller,
        )
        .for_each(move |result| {
            if let Err(ControllerError::ObjectNotFound(object)) = &result {
                gone.is_gone(object);
            }
            if let Err(error) = result {
                // An object that is gone from the cache before its turn came is no news.
                tracing::debug!(%error, "the controller could not start a reconcile");
            }
            std::future::ready(())
        });
    // Strangers are looked at for as long as there are passes.
    let strangers = strangers.then(|()| std::future::pending::<()>());
    futures::future::select(std::pin::pin!(passes), std::pin::pin!(strangers)).await;
}

fn pools_of_cluster(
    pools: &Store<FooMachinePool>,
    namespace: Option<&str>,
    cluster: &str,
) -> Vec<ObjectRef<FooMachinePool>> {
    pools
        .state_filter(|pool| {
            pool.namespace().as_deref() == namespace
                && pool.labels().get(api_names::CLUSTER_NAME_LABEL).is_some_and(|label| label == cluster)
        })
        .iter()
        .map(|pool| ObjectRef::from_obj(pool.as_ref()))
        .collect()
}

/// Pools for which AWS is called as one of these identities: their FooCluster says so, or they have none.
fn pools_with_identity(caches: &Caches, names: &BTreeSet<String>) -> Vec<ObjectRef<FooMachinePool>> {
    let concerns = |pool: &FooMachinePool| {
        names.contains(caches.foo_cluster_of(pool).as_deref().map_or(DEFAULT_IDENTITY, identity_of))
    };
    let pools = caches.pools.state_filter(concerns);
    pools.iter().map(|pool| ObjectRef::from_obj(pool.as_ref())).collect()
}

/// The pool of a FooMachine: the one it is named after, which is its owner unless somebody changed that.
fn pool_of_foo_machine(caches: &Caches, machine: &FooMachine) -> Option<ObjectRef<FooMachinePool>> {
    let namespace = machine.namespace().unwrap_or_default();
    if let Some(pool) = owning_pool(machine).filter(|pool| belongs_to(machine, pool)) {
        return Some(ObjectRef::new(pool).within(&namespace));
    }
    let named_after = |pool: &Arc<FooMachinePool>| {
        pool.namespace().as_deref() == Some(&namespace) && belongs_to(machine, &pool.name_any())
    };
    caches.pools.state().iter().find(|pool| named_after(pool)).map(|pool| ObjectRef::from_obj(pool.as_ref()))
}

/// The pool of a Machine, through its FooMachine of the same name. A Machine whose FooMachine is gone wakes nobody; the
/// next pass sees it.
fn pool_of_machine(caches: &Caches, machine: &Machine) -> Option<ObjectRef<FooMachinePool>> {
    let namespace = machine.namespace().unwrap_or_default();
    let foo = caches.foo_machines.get(&ObjectRef::new(&machine.name_any()).within(&namespace))?;
    pool_of_foo_machine(caches, &foo)
}

fn pools_with_secret(caches: &Caches, secret: &PartialObjectMeta<Secret>) -> Vec<ObjectRef<FooMachinePool>> {
    let (namespace, name) = (secret.namespace().unwrap_or_default(), secret.name_any());
    caches
        .machine_pools
        .state_filter(|pool| {
            pool.namespace().as_deref() == Some(&namespace)
                && pool.spec.template.spec.bootstrap.data_secret_name.as_deref() == Some(&name)
                && pool.spec.template.spec.infrastructure_ref.kind == "FooMachinePool"
        })
        .iter()
        .map(|pool| ObjectRef::new(&pool.spec.template.spec.infrastructure_ref.name).within(&namespace))
        .collect()
}
