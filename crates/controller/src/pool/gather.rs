//! Gathers everything that Kubernetes knows about one pool, from the informer caches only.
//!
//! The one exception is the bootstrap Secret, which is read live (its content is not cached cluster-wide),
//! and only when a metadata watch reports a change.

use super::identity;
use crate::owners::{self, group};
use crate::watch::{ByName, Filled, Unreadable, WatchEnded};
use foo_api::capi::{Cluster, Machine, MachinePool};
use foo_api::cluster::NetworkStatus;
use foo_api::{FooCluster, FooMachine, FooMachinePool, names};
use foo_model::names::machine_name;
use foo_model::{Blocked, InstanceId, Reason};
use foo_planner::desired::{Goal, Identity, PausedBy};
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::core::PartialObjectMeta;
use kube_runtime::reflector::{ObjectRef, Store};
use std::sync::Arc;

/// The informer caches the pool controller reads.
#[derive(Clone)]
pub(super) struct Caches {
    /// Id of this management cluster.
    pub(super) installation: Arc<str>,
    /// FooMachinePools.
    pub(super) pools: Store<FooMachinePool>,
    /// FooMachines.
    pub(super) foo_machines: Store<FooMachine>,
    /// FooClusters.
    pub(super) foo_clusters: Store<FooCluster>,
    /// Clusters.
    pub(super) clusters: Store<Cluster>,
    /// MachinePools.
    pub(super) machine_pools: Store<MachinePool>,
    /// The FooMachines, Machines and MachinePools again, indexed by name.
    pub(super) foo_machines_by_name: ByName<FooMachine>,
    pub(super) machines_by_name: ByName<Machine>,
    pub(super) machine_pools_by_name: ByName<MachinePool>,
    /// Metadata of the Secrets that carry a cluster's label.
    pub(super) secrets: Store<PartialObjectMeta<Secret>>,
    /// FooMachines and Machines that cannot be read.
    pub(super) unreadable: [(&'static str, Unreadable); 2],
    /// Whether each of them has been filled once.
    pub(super) filled: Vec<Filled>,
}

/// What belongs to one pool.
pub(super) struct Gathered {
    /// Id of this management cluster.
    pub(super) installation: Arc<str>,
    /// Names of the pool and of what it owns; `None` while its Cluster is unknown.
    pub(super) identity: Option<Identity>,
    /// Whether the pool runs or is removed.
    pub(super) goal: Goal,
    /// What paused it, if it is paused.
    pub(super) paused_by: Option<PausedBy>,
    /// The pool itself.
    pub(super) pool: Arc<FooMachinePool>,
    /// Its MachinePool, once Cluster API made it the owner.
    pub(super) machine_pool: Option<Arc<MachinePool>>,
    /// Names of other MachinePools that reference the pool as their infrastructure.
    pub(super) rivals: Vec<String>,
    /// Its Cluster.
    pub(super) cluster: Option<Arc<Cluster>>,
    /// The cluster's infrastructure.
    pub(super) foo_cluster: Option<Arc<FooCluster>>,
    /// Its FooMachines, by name.
    pub(super) foo_machines: Vec<Arc<FooMachine>>,
    /// The Machines of those FooMachines, by name.
    pub(super) machines: Vec<Arc<Machine>>,
    /// Why nothing can be decided about the pool: an object that may belong to it cannot be read.
    pub(super) unreadable: Option<Blocked>,
}

impl Caches {
    /// Waits until every cache has been filled once; an error while the manager is shutting down.
    pub(super) async fn wait_until_filled(&self) -> Result<(), WatchEnded> {
        for filled in &self.filled {
            filled.wait().await?;
        }
        Ok(())
    }

    /// Whether a Machine without a FooMachine is named after an instance of the pool. Names are computed only
    /// for such Machines, which are rare: every pass checks every Machine whose name begins like the pool's.
    fn is_orphan_of(&self, pool: &str, namespace: &str, machine: &Machine) -> bool {
        let foo_machine = ObjectRef::new(&machine.name_any()).within(namespace);
        self.foo_machines.get(&foo_machine).is_none() && is_named_after(pool, machine)
    }

    /// The infrastructure of the pool's cluster.
    pub(super) fn foo_cluster_of(&self, pool: &FooMachinePool) -> Option<Arc<FooCluster>> {
        let namespace = pool.namespace()?;
        let name = cluster_name(pool, None)?;
        self.infrastructure_of(&*self.clusters.get(&ObjectRef::new(&name).within(&namespace))?)
    }

    fn infrastructure_of(&self, cluster: &Cluster) -> Option<Arc<FooCluster>> {
        let reference = cluster.spec.infrastructure_ref.as_ref()?;
        let named = || ObjectRef::new(&reference.name).within(&cluster.namespace().unwrap_or_default());
        (reference.kind == "FooCluster").then(|| self.foo_clusters.get(&named())).flatten()
    }

    /// Whether the Cluster is paused meanwhile: seconds later `clusterctl move` gives the pool to another
    /// manager, so a long pass must stop.
    pub(super) fn is_paused(&self, gathered: &Gathered) -> bool {
        let cluster = gathered.cluster.as_ref().map(|cluster| ObjectRef::from_obj(cluster.as_ref()));
        cluster.and_then(|cluster| self.clusters.get(&cluster)).is_some_and(|cluster| cluster.is_paused())
    }

    /// The error if an object in a namespace cannot be read.
    fn unreadable_in(&self, namespace: &str) -> Option<Blocked> {
        self.unreadable.iter().find_map(|(kind, unreadable)| {
            let (name, error) = unreadable.all_in(namespace).pop_first()?;
            let message = format!(
                "{kind} {name} cannot be read, and nothing is done in this namespace until it is repaired or deleted: \
                 {error}"
            );
            Some(Blocked::new(Reason::UnreadableObject, message))
        })
    }

    /// Names of the MachinePools that reference this pool and do not own it. Until one owns it, none is known
    /// to be wrong.
    fn rivals(&self, pool: &FooMachinePool, owner: Option<&MachinePool>) -> Vec<String> {
        let Some(owner) = owner else { return Vec::new() };
        let name = pool.name_any();
        let names_it = |machine_pool: &MachinePool| {
            let named = &machine_pool.spec.template.spec.infrastructure_ref;
            named.kind == "FooMachinePool"
                && named.name == name
                && machine_pool.metadata.uid != owner.metadata.uid
        };
        let found = self.machine_pools_by_name.all_in(&pool.namespace().unwrap_or_default(), names_it);
        found.iter().map(|machine_pool| machine_pool.name_any()).collect()
    }

    /// What belongs to this pool.
    pub(super) fn gather(&self, pool: Arc<FooMachinePool>) -> Gathered {
        let machine_pool = owners::of_kind(pool.as_ref(), "MachinePool", &self.machine_pools);
        self.gather_with(pool, machine_pool)
    }

    /// What belongs to this pool, if it has this MachinePool.
    pub(super) fn gather_with(
        &self,
        pool: Arc<FooMachinePool>,
        machine_pool: Option<Arc<MachinePool>>,
    ) -> Gathered {
        let namespace = pool.namespace().unwrap_or_default();
        // Before the caches and after: an object is in one of both at any moment.
        let unreadable = self.unreadable_in(&namespace);
        let cluster = cluster_name(&pool, machine_pool.as_deref())
            .and_then(|name| self.clusters.get(&ObjectRef::new(&name).within(&namespace)));
        let foo_cluster = cluster.as_deref().and_then(|cluster| self.infrastructure_of(cluster));
        let name = pool.name_any();
        // Skips the FooMachines and Machines of other pools, however many there are.
        let head = name_head(&name);
        let foo_machines =
            self.foo_machines_by_name.beginning_with(&namespace, head, |machine| belongs_to(machine, &name));
        let machines = self.machines_by_name.beginning_with(&namespace, head, |machine| {
            machine.spec.infrastructure_ref.kind == "FooMachine"
                && (foo_machines
                    .binary_search_by(|foo| foo.metadata.name.cmp(&machine.metadata.name))
                    .is_ok()
                    || self.is_orphan_of(&name, &namespace, machine))
        });
        let rivals = self.rivals(&pool, machine_pool.as_deref());
        let unreadable = unreadable.or_else(|| self.unreadable_in(&namespace));
        let identity = cluster_name(&pool, machine_pool.as_deref())
            .map(|name| identity::identity(&pool, name, &self.installation));
        Gathered {
            installation: Arc::clone(&self.installation),
            identity,
            goal: identity::goal(&pool),
            paused_by: identity::paused_by(&pool, cluster.as_deref()),
            pool,
            machine_pool,
            rivals,
            cluster,
            foo_cluster,
            foo_machines,
            machines,
            unreadable,
        }
    }
}

impl Gathered {
    /// Name of the FooClusterIdentity that the FooCluster names.
    pub(super) fn identity_ref(&self) -> Option<&str> {
        let identity = self.foo_cluster.as_ref()?.spec.identity_ref.as_ref()?;
        Some(&identity.name)
    }

    /// The network that instances can be launched into. One that the provider creates shows its parts before all of them
    /// are ready: it can be used once it was ready as a whole.
    pub(super) fn network(&self) -> Option<&NetworkStatus> {
        let status = self.foo_cluster.as_ref()?.status.as_ref()?;
        let was_ready = status.initialization.as_ref().is_some_and(|it| it.provisioned == Some(true));
        status.network.as_ref().filter(|network| network.id.is_none() || was_ready)
    }

    /// Namespace of the pool.
    pub(super) fn namespace(&self) -> String {
        self.pool.namespace().unwrap_or_default()
    }
}

/// The label that Cluster API puts on the pool; before that, the MachinePool's cluster.
pub(super) fn cluster_name(pool: &FooMachinePool, machine_pool: Option<&MachinePool>) -> Option<String> {
    pool.labels()
        .get(names::CLUSTER_NAME_LABEL)
        .cloned()
        .or_else(|| machine_pool.map(|machine_pool| machine_pool.spec.cluster_name.clone()))
        .filter(|name| !name.is_empty())
}

/// Whether a FooMachine belongs to the FooMachinePool of that name. Its immutable name, made from the pool's
/// and the instance's, decides; its owners can change. The garbage collector removes the pool from them when
/// it is deleted in the foreground, and a pool without FooMachines would terminate its instances undrained.
pub(super) fn belongs_to(machine: &FooMachine, pool: &str) -> bool {
    let Some(name) = machine.metadata.name.as_deref() else { return false };
    name.starts_with(name_head(pool))
        && name == machine_name(pool, &InstanceId::new(machine.spec.instance_id.as_str())).as_str()
}

/// How the names of all FooMachines and Machines of the pool begin. Sixteen characters remain even in the
/// longest names.
fn name_head(pool: &str) -> &str {
    let stays = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    let length = pool.bytes().take(16).take_while(stays).count();
    pool.get(..length).unwrap_or_default()
}

/// Whether a Machine has the name of an instance of the pool: it belongs to the pool, even without its
/// FooMachine.
pub(super) fn is_named_after(pool: &str, machine: &Machine) -> bool {
    let id = machine.spec.provider_id.as_deref().and_then(|id| id.rsplit('/').next());
    id.is_some_and(|id| {
        machine.metadata.name.as_deref() == Some(machine_name(pool, &InstanceId::new(id)).as_str())
    })
}

/// Name of the FooMachinePool that owns a FooMachine.
pub(super) fn owning_pool(machine: &FooMachine) -> Option<&str> {
    machine
        .owner_references()
        .iter()
        .find(|owner| {
            owner.kind == "FooMachinePool" && group(&owner.api_version) == names::INFRASTRUCTURE_GROUP
        })
        .map(|owner| owner.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_api::FooMachineSpec;

    fn named(name: &str, instance: &str) -> FooMachine {
        FooMachine::new(
            name,
            FooMachineSpec {
                provider_id: format!("aws:///eu-central-1a/{instance}"),
                instance_id: instance.to_owned(),
            },
        )
    }

    #[test]
    fn a_foo_machine_belongs_to_the_pool_in_its_name_and_to_no_other() {
        let long = "a-pool-with-a-name-of-many-words-".repeat(7);
        let pools = [
            "p",
            "p-1",
            "pool",
            "pool-1",
            "pool.one",
            "a.b-c",
            "1a",
            "a-very-long-name-of-a-pool",
            long.as_str(),
        ];
        for instance in ["i-0a1b2c3d4e5f60718", "i-0a1b2c3d"] {
            for pool in pools {
                let name = machine_name(pool, &InstanceId::new(instance));
                for other in pools {
                    assert_eq!(
                        belongs_to(&named(name.as_str(), instance), other),
                        pool == other,
                        "{pool}, {other}"
                    );
                }
                assert!(
                    !belongs_to(&named(name.as_str(), "i-0123456789abcdef0"), pool),
                    "another instance's"
                );
            }
        }
    }

    /// A pass over a pool reads only objects that may belong to it, however many others there are.
    #[test]
    fn a_pool_is_gathered_without_the_machines_of_others() {
        let by_name = ByName::default();
        let (others, own) = (10_000_u32, 3_u32);
        let machine = |namespace: &str, pool: &str, number: u32| {
            let instance = format!("i-{number:017x}");
            let name = machine_name(pool, &InstanceId::new(instance.as_str()));
            let mut machine = named(name.as_str(), &instance);
            machine.metadata.namespace = Some(namespace.to_owned());
            Arc::new(machine)
        };
        for number in 0..others {
            by_name.insert(machine("tenant", "workers", number));
            by_name.insert(machine("ns", "others", number));
        }
        for number in 0..own {
            by_name.insert(machine("ns", "workers", number));
        }
        let visited = std::cell::Cell::new(0);
        let began = std::time::Instant::now();
        let found = by_name.beginning_with("ns", name_head("workers"), |machine| {
            visited.set(visited.get() + 1);
            belongs_to(machine, "workers")
        });
        println!("{own} of {} FooMachines in {:?}", 2 * others + own, began.elapsed());
        assert_eq!((found.len(), visited.get()), (3, 3));
    }
}
