//! The watches of the pool controller, and which pools a change of each kind concerns.

use super::gather::{Caches, belongs_to, is_named_after, owning_pool};
use super::unowned_foo_machines;
use crate::Context;
use crate::harness::Harness;
use crate::identities::identity_of;
use crate::labels::{Controller, Watched};
use crate::watch::{ChangeFilter, Scope, Watch, refs_of};
use foo_api::capi::{Cluster, Machine, MachinePool};
use foo_api::identity::DEFAULT_IDENTITY;
use foo_api::{FooCluster, FooMachine, FooMachinePool, names};
use futures::channel::mpsc::UnboundedSender;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::core::PartialObjectMeta;
use kube_runtime::reflector::{ObjectRef, Store};
use std::collections::BTreeSet;
use std::sync::Arc;

/// All kinds.
pub(super) struct Watches {
    pub(super) pools: Watch<FooMachinePool>,
    pub(super) foo_machines: Watch<FooMachine>,
    pub(super) foo_clusters: Watch<FooCluster>,
    pub(super) clusters: Watch<Cluster>,
    pub(super) machine_pools: Watch<MachinePool>,
    pub(super) machines: Watch<Machine>,
    pub(super) secrets: Watch<PartialObjectMeta<Secret>>,
}

impl Watches {
    /// No request is sent before the watches are polled.
    pub(super) fn of(context: &Context) -> Self {
        let (but_status, every) = (ChangeFilter::AllButStatus, ChangeFilter::EveryVersion);
        let labelled = Scope::Labelled(names::CLUSTER_NAME_LABEL);
        Self {
            pools: Watch::lenient(context, Watched::FooMachinePool, Scope::Ours, but_status),
            foo_machines: Watch::strict(context, Watched::FooMachine, Scope::All, but_status),
            foo_clusters: Watch::lenient(context, Watched::FooCluster, Scope::All, every),
            clusters: Watch::lenient(context, Watched::Cluster, Scope::All, every),
            machine_pools: Watch::lenient(context, Watched::MachinePool, Scope::All, but_status),
            machines: Watch::strict(context, Watched::Machine, Scope::All, every),
            // Lenient: a pool whose Secret cannot be read reports it itself.
            secrets: Watch::lenient(context, Watched::Secret, labelled, every),
        }
    }

    /// The caches behind these watches.
    pub(super) fn caches(&self, installation: Arc<str>) -> Caches {
        Caches {
            installation,
            pools: self.pools.store.clone(),
            foo_machines: self.foo_machines.store.clone(),
            foo_clusters: self.foo_clusters.store.clone(),
            clusters: self.clusters.store.clone(),
            machine_pools: self.machine_pools.store.clone(),
            foo_machines_by_name: self.foo_machines.by_name.clone(),
            machines_by_name: self.machines.by_name.clone(),
            machine_pools_by_name: self.machine_pools.by_name.clone(),
            secrets: self.secrets.store.clone(),
            unreadable: [
                ("FooMachine", self.foo_machines.unreadable.clone()),
                ("Machine", self.machines.unreadable.clone()),
            ],
            filled: vec![
                self.pools.filled.clone(),
                self.foo_machines.filled.clone(),
                self.foo_clusters.filled.clone(),
                self.clusters.filled.clone(),
                self.machine_pools.filled.clone(),
                self.machines.filled.clone(),
                self.secrets.filled.clone(),
            ],
        }
    }

    /// Has metrics count the FooMachines, and the Machines of our pools while Cluster API deletes them: a FooMachine is
    /// not being deleted before its Node is drained.
    fn count(&self, context: &Context, caches: &Caches) {
        let (census, clock) = (context.metrics.census(), &context.kubernetes_clock);
        let foo_machines = self.foo_machines.store.clone();
        census.adds(self.foo_machines.kind, clock.clone(), foo_machines, |machine: &FooMachine| {
            Some(machine.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default())
        });
        let (caches, machines) = (caches.clone(), self.machines.store.clone());
        let is_ours = move |machine: &Machine| is_of_our_pool(&caches, machine);
        census.adds_deletions(self.machines.kind, clock.clone(), machines, is_ours);
    }

    /// The controller of all pools. FooMachines without a known pool go to `suspects`.
    pub(super) fn harness(
        self,
        context: &Context,
        caches: &Caches,
        suspects: UnboundedSender<ObjectRef<FooMachine>>,
    ) -> Harness<FooMachinePool> {
        let of_foo_machine = with(caches, pool_of_foo_machine);
        let known = caches.clone();
        self.count(context, caches);
        Harness::new(context, Controller::Pool, self.pools)
            .watches(self.foo_machines, move |machine: FooMachine| {
                if !unowned_foo_machines::is_known(&known, &machine) {
                    // The receiver is dropped when the manager ends.
                    let _ended = suspects.unbounded_send(ObjectRef::from_obj(&machine));
                }
                of_foo_machine(machine)
            })
            .watches(self.machines, with(caches, pool_of_machine))
            .watches(self.machine_pools, |pool| pool_of_machine_pool(&pool))
            .watches(self.clusters, with(caches, pools_of_cluster))
            .watches(self.foo_clusters, with(caches, pools_of_foo_cluster))
            .watches(self.secrets, with(caches, pools_with_secret))
    }
}

/// Whether this manager has the pool of a Machine.
fn is_of_our_pool(caches: &Caches, machine: &Machine) -> bool {
    let namespace = machine.namespace().unwrap_or_default();
    let has_it = |pool: &FooMachinePool| {
        pool.metadata.namespace.as_deref() == Some(&namespace) && is_named_after(&pool.name_any(), machine)
    };
    machine.spec.infrastructure_ref.kind == "FooMachine"
        && (pool_of_machine(caches, machine).is_some_and(|pool| caches.pools.get(&pool).is_some())
            // Its FooMachine is deleted.
            || !caches.pools.state_filter(has_it).is_empty())
}

/// The pools that `names` finds for an object in these caches.
fn with<O, I>(caches: &Caches, names: fn(&Caches, &O) -> I) -> impl Fn(O) -> I + use<O, I> {
    let caches = caches.clone();
    move |object| names(&caches, &object)
}

/// The pool that a MachinePool names as its infrastructure.
fn pool_of_machine_pool(machine_pool: &MachinePool) -> Option<ObjectRef<FooMachinePool>> {
    let reference = &machine_pool.spec.template.spec.infrastructure_ref;
    let namespace = machine_pool.namespace().unwrap_or_default();
    (reference.kind == "FooMachinePool").then(|| ObjectRef::new(&reference.name).within(&namespace))
}

fn pools_of_cluster(caches: &Caches, cluster: &Cluster) -> Vec<ObjectRef<FooMachinePool>> {
    labelled(&caches.pools, cluster.namespace().as_deref(), &cluster.name_any())
}

fn pools_of_foo_cluster(caches: &Caches, cluster: &FooCluster) -> Vec<ObjectRef<FooMachinePool>> {
    let name = cluster.labels().get(names::CLUSTER_NAME_LABEL).map(String::as_str).unwrap_or_default();
    labelled(&caches.pools, cluster.namespace().as_deref(), name)
}

fn labelled(
    pools: &Store<FooMachinePool>,
    namespace: Option<&str>,
    cluster: &str,
) -> Vec<ObjectRef<FooMachinePool>> {
    refs_of(pools, |pool| {
        pool.namespace().as_deref() == namespace
            && pool.labels().get(names::CLUSTER_NAME_LABEL).is_some_and(|label| label == cluster)
    })
}

/// Pools that use the credentials of one of these identities: their FooCluster names it, or they have no
/// FooCluster.
pub(super) fn pools_with_identity(
    caches: &Caches,
    names: &BTreeSet<String>,
) -> Vec<ObjectRef<FooMachinePool>> {
    refs_of(&caches.pools, |pool| {
        names.contains(caches.foo_cluster_of(pool).as_deref().map_or(DEFAULT_IDENTITY, identity_of))
    })
}

/// The pool of a FooMachine: the one in its name, which is its owner unless a user changed that.
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

/// The pool of a Machine, through its FooMachine of the same name. A Machine whose FooMachine is deleted causes
/// no pass; the next pass sees it.
fn pool_of_machine(caches: &Caches, machine: &Machine) -> Option<ObjectRef<FooMachinePool>> {
    let namespace = machine.namespace().unwrap_or_default();
    let foo = caches.foo_machines.get(&ObjectRef::new(&machine.name_any()).within(&namespace))?;
    pool_of_foo_machine(caches, &foo)
}

/// Pools whose MachinePool has this bootstrap Secret.
fn pools_with_secret(caches: &Caches, secret: &PartialObjectMeta<Secret>) -> Vec<ObjectRef<FooMachinePool>> {
    let (namespace, name) = (secret.namespace().unwrap_or_default(), secret.name_any());
    let has_it = |pool: &MachinePool| {
        pool.namespace().as_deref() == Some(&namespace)
            && pool.spec.template.spec.bootstrap.data_secret_name.as_deref() == Some(&name)
    };
    let machine_pools = caches.machine_pools.state_filter(has_it);
    machine_pools.iter().filter_map(|pool| pool_of_machine_pool(pool)).collect()
}
