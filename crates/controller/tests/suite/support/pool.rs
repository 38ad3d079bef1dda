//! One pool: what its user does with it, and what is to be seen of it.

use super::{NS, World, objects};
use foo_api::capi::{Machine, MachinePool};
use foo_api::names::CLUSTER_NAME_LABEL;
use foo_api::{FooMachine, FooMachinePool, FooMachinePoolSpec, FooMachinePoolStatus};
use foo_model::{InstanceId, LifecycleState};
use foo_simulator_core::core::group::model::Group;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;

/// A pool, or what shall become one.
pub(crate) struct Pool<'w> {
    world: &'w World,
    name: String,
    cluster: String,
    spec: FooMachinePoolSpec,
}

impl<'w> Pool<'w> {
    pub(super) fn new(world: &'w World, name: &str) -> Self {
        let cluster = super::CLUSTER.to_owned();
        Self { world, name: name.to_owned(), cluster, spec: objects::pool_spec() }
    }

    /// In another Cluster than the ordinary one.
    pub(crate) fn in_cluster(mut self, cluster: &str) -> Self {
        cluster.clone_into(&mut self.cluster);
        self
    }

    /// With another spec than the ordinary one.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut FooMachinePoolSpec)) -> Self {
        change(&mut self.spec);
        self
    }

    /// The user creates it, with its Secret, and everything settles.
    pub(crate) async fn of(self, replicas: i32) -> Self {
        let pool = self.begins_with(replicas);
        pool.world.settles().await;
        pool
    }

    /// The user creates it, with its Secret.
    pub(crate) fn begins_with(self, replicas: i32) -> Self {
        let mut secret = objects::secret(&objects::secret_name(&self.name), b"#cloud-config");
        secret.labels_mut().insert(CLUSTER_NAME_LABEL.to_owned(), self.cluster.clone());
        self.world.has(&secret);
        self.without_secret(replicas)
    }

    /// The user creates it, without its Secret.
    pub(crate) fn without_secret(self, replicas: i32) -> Self {
        self.world.has(&objects::foo_machine_pool(&self.name, self.spec.clone()));
        let mut machine_pool = objects::machine_pool(&self.name, replicas);
        machine_pool.spec.cluster_name.clone_from(&self.cluster);
        self.world.has(&machine_pool);
        self
    }

    /// The user requests another number.
    pub(crate) fn scales_to(&self, replicas: i32) {
        self.edits_machine_pool(|pool| pool.spec.replicas = Some(replicas));
    }

    /// The user changes the FooMachinePool's spec.
    pub(crate) fn edits(&self, change: impl FnOnce(&mut FooMachinePoolSpec)) {
        self.edits_object(|pool| change(&mut pool.spec));
    }

    /// The user changes the FooMachinePool.
    pub(crate) fn edits_object(&self, change: impl FnOnce(&mut FooMachinePool)) {
        self.world.server.edit(NS, &self.name, change).unwrap();
    }

    /// The user changes the MachinePool.
    pub(crate) fn edits_machine_pool(&self, change: impl FnOnce(&mut MachinePool)) {
        self.world.server.edit(NS, &self.name, change).unwrap();
    }

    /// The user annotates the MachinePool.
    pub(crate) fn annotates_machine_pool(&self, key: &str, value: &str) {
        self.edits_machine_pool(|pool| {
            pool.annotations_mut().insert(key.to_owned(), value.to_owned());
        });
    }

    /// The bootstrap provider writes other bytes into the Secret.
    pub(crate) fn bootstraps_with(&self, value: &[u8]) {
        let fresh = objects::secret(&objects::secret_name(&self.name), value);
        let edit = |secret: &mut Secret| secret.data.clone_from(&fresh.data);
        self.world.server.edit(NS, &objects::secret_name(&self.name), edit).unwrap();
    }

    /// The user deletes the MachinePool.
    pub(crate) fn is_deleted(&self) {
        self.world.server.delete::<MachinePool>(NS, &self.name).unwrap();
    }

    /// The FooMachinePool; panics if it does not exist.
    pub(crate) fn object(&self) -> FooMachinePool {
        self.world.server.get(NS, &self.name).expect("the FooMachinePool is deleted")
    }

    /// Its status; panics if there is none yet.
    pub(crate) fn status(&self) -> FooMachinePoolStatus {
        self.object().status.expect("the FooMachinePool has no status yet")
    }

    /// The MachinePool; panics if it does not exist.
    pub(crate) fn machine_pool(&self) -> MachinePool {
        self.world.server.get(NS, &self.name).expect("the MachinePool does not exist")
    }

    /// A condition; panics if it is not there.
    pub(crate) fn condition(&self, kind: &str) -> Condition {
        self.find_condition(kind).unwrap_or_else(|| panic!("no {kind}\n{}", self.world.summary()))
    }

    /// A condition, if it is there.
    pub(crate) fn find_condition(&self, kind: &str) -> Option<Condition> {
        let status = self.object().status?;
        status.conditions.into_iter().find(|condition| condition.type_ == kind)
    }

    /// `True`, `False` with its reason, or `Unknown` with its reason.
    pub(crate) fn state_of(&self, kind: &str) -> String {
        let condition = self.condition(kind);
        if condition.status == "True" {
            return condition.status;
        }
        format!("{} {}", condition.status, condition.reason)
    }

    /// Name of its group and template.
    pub(crate) fn group_name(&self) -> String {
        let separator = if self.cluster.contains('-') { '_' } else { '-' };
        let default = || [NS, &self.cluster, &self.name].join(&separator.to_string());
        self.spec.group_name.clone().unwrap_or_else(default)
    }

    /// Its group, if there is one.
    pub(crate) fn group(&self) -> Option<Group> {
        self.world.region.group(&self.group_name())
    }

    /// Instances in service, sorted by id.
    pub(crate) fn instances(&self) -> Vec<InstanceId> {
        let group = self.group();
        let members = group.iter().flat_map(|group| group.members.values());
        members
            .filter(|member| member.lifecycle == LifecycleState::InService)
            .map(|member| member.id.clone())
            .collect()
    }

    /// Names of the FooMachines, sorted.
    pub(crate) fn foo_machines(&self) -> Vec<String> {
        let machines = self.world.server.list::<FooMachine>(NS);
        let own =
            |machine: &FooMachine| machine.owner_references().iter().any(|owner| owner.name == self.name);
        machines.iter().filter(|machine| own(machine)).map(ResourceExt::name_any).collect()
    }

    /// The Machines, sorted by name.
    pub(crate) fn machines(&self) -> Vec<Machine> {
        let label = foo_api::labels::must_format_value(&self.name);
        let machines = self.world.server.list::<Machine>(NS);
        let own = |machine: &Machine| machine.labels().get(foo_api::names::POOL_NAME_LABEL) == Some(&label);
        machines.into_iter().filter(own).collect()
    }

    /// Panics unless the pool has this many instances, FooMachines, Machines and ids, and reports it.
    pub(crate) fn is_of(&self, count: usize) {
        let ids = self.object().spec.provider_id_list.unwrap_or_default();
        let seen = [self.instances().len(), self.foo_machines().len(), self.machines().len(), ids.len()];
        assert_eq!(seen, [count; 4], "instances, FooMachines, Machines, ids\n{}", self.world.summary());
        assert!(ids.is_sorted(), "{ids:?}");
        assert_eq!(self.state_of("Ready"), "True", "{}", self.world.summary());
        let number = i32::try_from(count).unwrap();
        let status = self.status();
        assert_eq!((status.replicas, status.ready_replicas), (Some(number), Some(number)));
    }

    /// Panics if anything of it is left, in Kubernetes or in AWS.
    pub(crate) fn left_nothing(&self) {
        let server = &self.world.server;
        assert!(server.get::<MachinePool>(NS, &self.name).is_none(), "the MachinePool is still there");
        assert!(server.get::<FooMachinePool>(NS, &self.name).is_none(), "the FooMachinePool is still there");
        assert_eq!((self.foo_machines().len(), self.machines().len()), (0, 0));
        let region = &self.world.region;
        assert!(self.group().is_none(), "the group is still there");
        let alive: Vec<_> = region
            .instances()
            .into_iter()
            .filter(|instance| instance.state.is_alive() && instance.group == Some(self.group_name().into()))
            .collect();
        assert!(alive.is_empty(), "{alive:?}");
        assert!(region.templates().iter().all(|template| template.name != self.group_name()));
    }
}
