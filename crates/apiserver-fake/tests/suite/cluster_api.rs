//! The stand-in for Cluster API core.

use crate::{foo_machine, parse, pool};
use foo_api::capi::{Cluster, Machine, MachinePool};
use foo_api::{FooControlPlane, FooMachine, FooMachinePool};
use foo_apiserver_fake::{
    DrainOutcome, DrainTime, FakeApiServer, FakeCore, Fault, NodeState, Object, SkipReason,
};
use kube::ResourceExt;
use serde_json::{Value, json};
use std::time::Duration;

const NS: &str = "default";

/// A cluster with one pool, and this test as the provider's controller.
struct Fixture {
    server: FakeApiServer,
    core: FakeCore,
}

impl Fixture {
    fn start() -> Self {
        Self::with(DrainTime::None)
    }

    fn with(drains: DrainTime) -> Self {
        let server = FakeApiServer::new();
        let core = FakeCore::builder(server.client_as("core")).drains(drains).start();
        server.create(&cluster()).unwrap();
        server.create(&machine_pool()).unwrap();
        server.create(&pool("fmp")).unwrap();
        Self { server, core }
    }

    fn get<K: Object>(&self, name: &str) -> K {
        self.server.get(NS, name).unwrap_or_else(|| panic!("no {} {name}", K::kind(&())))
    }

    fn has<K: Object>(&self, name: &str) -> bool {
        self.server.get::<K>(NS, name).is_some()
    }

    fn raw<K: Object>(&self, name: &str) -> Value {
        self.server.get_raw::<K>(NS, name).unwrap()
    }

    /// The provider reports these machines.
    fn report(&self, names: &[&str]) {
        let ids: Vec<String> = names.iter().map(|name| format!("aws:///z/i-{name}")).collect();
        self.server
            .edit(NS, "fmp", |pool: &mut FooMachinePool| {
                pool.spec.provider_id_list = Some(ids);
                let mut status = pool.status.take().unwrap_or_default();
                status.ready = Some(true);
                status.infrastructure_machine_kind = Some("FooMachine".to_owned());
                status.replicas = i32::try_from(names.len()).ok();
                pool.status = Some(status);
            })
            .unwrap();
    }

    /// The provider creates a FooMachine for an instance that runs.
    fn launch(&self, name: &str) {
        let mut machine = foo_machine(name);
        machine.labels_mut().insert("cluster.x-k8s.io/cluster-name".to_owned(), "c".to_owned());
        machine.labels_mut().insert("cluster.x-k8s.io/pool-name".to_owned(), "mp".to_owned());
        machine.finalizers_mut().push("foo.com/machine".to_owned());
        machine.status = Some(parse(json!({ "initialization": { "provisioned": true }, "ready": true })));
        self.server.create(&machine).unwrap();
    }

    /// The provider removes its finalizer from a FooMachine.
    fn finish(&self, name: &str) {
        self.server.edit(NS, name, |machine: &mut FooMachine| machine.finalizers_mut().clear()).unwrap();
    }

    async fn settled(drains: DrainTime, names: &[&str]) -> Self {
        let fixture = Self::with(drains);
        wait(1).await;
        for name in names {
            fixture.launch(name);
        }
        fixture.report(names);
        wait(1).await;
        fixture
    }

    fn outcome(&self, machine: &str) -> DrainOutcome {
        let records = self.core.drains();
        records
            .into_iter()
            .find(|record| record.machine == machine)
            .map_or(DrainOutcome::Pending, |record| record.outcome)
    }
}

fn cluster() -> Cluster {
    parse(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
        "metadata": { "name": "c", "namespace": NS }, "spec": {},
    }))
}

fn machine_pool() -> MachinePool {
    parse(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachinePool",
        "metadata": { "name": "mp", "namespace": NS },
        "spec": { "clusterName": "c", "replicas": 2, "template": { "spec": {
            "bootstrap": { "dataSecretName": "s" },
            "infrastructureRef": { "apiGroup": "infrastructure.foo.com", "kind": "FooMachinePool", "name": "fmp" },
        } } },
    }))
}

async fn wait(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn the_pool_gets_its_owner_and_its_machines() {
    let fixture = Fixture::settled(DrainTime::None, &["a", "b"]).await;
    let pool: FooMachinePool = fixture.get("fmp");
    let owner = &pool.owner_references()[0];
    assert_eq!((owner.kind.as_str(), owner.controller), ("MachinePool", Some(true)));
    assert_eq!(pool.labels()["cluster.x-k8s.io/cluster-name"], "c");
    let mp = fixture.raw::<MachinePool>("mp");
    assert_eq!(mp["spec"]["providerIDList"], json!(["aws:///z/i-a", "aws:///z/i-b"]));
    assert_eq!(mp["status"]["replicas"], 2);
    assert_eq!(mp["status"]["initialization"]["infrastructureProvisioned"], true);
    assert_eq!(mp["status"]["phase"], "Running");
    for name in ["a", "b"] {
        let machine: Machine = fixture.get(name);
        assert_eq!(machine.owner_references()[0].kind, "MachinePool");
        assert_eq!(machine.labels()["cluster.x-k8s.io/pool-name"], "mp");
        let status = machine.status.unwrap();
        assert_eq!(status.node_ref.unwrap().name, format!("node-i-{name}"));
        assert!(status.conditions.iter().any(|one| one.type_ == "NodeReady" && one.status == "True"));
        let infra: FooMachine = fixture.get(name);
        assert_eq!(infra.owner_references()[0].kind, "Machine");
    }
    assert_eq!(fixture.core.errors(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_settled_core_writes_nothing() {
    let fixture = Fixture::settled(DrainTime::None, &["a"]).await;
    let before = fixture.server.resource_version();
    fixture.server.reset_counts();
    wait(600).await;
    assert_eq!(fixture.server.resource_version(), before);
    assert!(fixture.server.requests().writes().is_empty());
}

#[tokio::test(start_paused = true)]
async fn nodes_join_when_the_test_makes_them_join() {
    let fixture = Fixture::with(DrainTime::None);
    fixture.core.set_node("aws:///z/i-a", NodeState::Absent);
    fixture.launch("a");
    fixture.report(&["a"]);
    wait(1).await;
    let ready = || {
        let status = fixture.get::<Machine>("a").status.unwrap();
        let ready = status.conditions.iter().find(|one| one.type_ == "NodeReady").unwrap().status.clone();
        (status.node_ref.is_some(), ready)
    };
    assert_eq!(ready(), (false, "Unknown".to_owned()));
    for (state, expected) in
        [(NodeState::NotReady, "False"), (NodeState::Ready, "True"), (NodeState::Absent, "False")]
    {
        fixture.core.set_node("aws:///z/i-a", state);
        wait(1).await;
        assert_eq!(ready(), (true, expected.to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_machine_is_drained_before_its_foo_machine_is_deleted() {
    let fixture = Fixture::settled(DrainTime::Takes(Duration::from_mins(2)), &["a"]).await;
    assert!(!fixture.core.may_terminate("aws:///z/i-a"));
    fixture.server.delete::<Machine>(NS, "a").unwrap();
    wait(119).await;
    assert_eq!(fixture.outcome("a"), DrainOutcome::Draining);
    assert_eq!(fixture.core.draining(), ["a"]);
    assert!(fixture.get::<FooMachine>("a").metadata.deletion_timestamp.is_none());
    wait(2).await;
    assert_eq!(fixture.outcome("a"), DrainOutcome::Completed);
    assert!(fixture.core.may_terminate("aws:///z/i-a"));
    assert!(fixture.get::<FooMachine>("a").metadata.deletion_timestamp.is_some());
    wait(60).await;
    assert!(fixture.has::<Machine>("a"), "waits for the FooMachine");
    fixture.finish("a");
    wait(1).await;
    assert!(!fixture.has::<Machine>("a") && !fixture.has::<FooMachine>("a"));
    assert!(fixture.core.undrained().is_empty());
}

#[tokio::test(start_paused = true)]
async fn drains_wait_for_their_release_or_their_timeout() {
    let fixture = Fixture::settled(DrainTime::UntilReleased, &["a", "b", "c"]).await;
    fixture
        .server
        .edit(NS, "c", |machine: &mut Machine| {
            machine.spec.deletion = Some(parse(json!({ "nodeDrainTimeoutSeconds": 30 })));
        })
        .unwrap();
    for name in ["a", "b", "c"] {
        fixture.server.delete::<Machine>(NS, name).unwrap();
    }
    fixture.core.release_drain("a");
    wait(60).await;
    assert_eq!(
        ["a", "b", "c"].map(|name| fixture.outcome(name)),
        [DrainOutcome::Completed, DrainOutcome::Draining, DrainOutcome::TimedOut,]
    );
    fixture.core.release_drains();
    wait(1).await;
    assert_eq!(fixture.outcome("b"), DrainOutcome::Completed);
}

#[tokio::test(start_paused = true)]
async fn deleting_the_foo_machine_loses_the_drain_and_is_seen() {
    let fixture = Fixture::settled(DrainTime::UntilReleased, &["a", "b", "c"]).await;
    fixture.server.delete::<FooMachine>(NS, "a").unwrap();
    fixture.server.delete::<Machine>(NS, "a").unwrap();
    fixture.server.delete::<Machine>(NS, "b").unwrap();
    wait(1).await;
    fixture.finish("b");
    fixture.server.delete::<FooMachine>(NS, "b").unwrap();
    fixture.finish("c");
    fixture.server.delete::<FooMachine>(NS, "c").unwrap();
    wait(10).await;
    let lost: Vec<String> = fixture.core.undrained().into_iter().map(|record| record.machine).collect();
    assert_eq!(lost, ["a", "b", "c"]);
    assert_eq!(fixture.outcome("a"), DrainOutcome::Skipped(SkipReason::InfrastructureDeleting));
}

#[tokio::test(start_paused = true)]
async fn some_machines_need_no_drain() {
    let fixture = Fixture::settled(DrainTime::UntilReleased, &["a"]).await;
    fixture.core.set_node("aws:///z/i-b", NodeState::Absent);
    fixture.launch("b");
    fixture.report(&["a", "b"]);
    wait(1).await;
    fixture
        .server
        .edit(NS, "a", |machine: &mut Machine| {
            let mark = "machine.cluster.x-k8s.io/exclude-node-draining".to_owned();
            machine.annotations_mut().insert(mark, String::new());
        })
        .unwrap();
    fixture.server.delete::<Machine>(NS, "a").unwrap();
    fixture.server.delete::<Machine>(NS, "b").unwrap();
    wait(1).await;
    assert_eq!(fixture.outcome("a"), DrainOutcome::Skipped(SkipReason::Excluded));
    assert_eq!(fixture.outcome("b"), DrainOutcome::Skipped(SkipReason::NoNode));
    assert!(fixture.core.undrained().is_empty());
}

#[tokio::test(start_paused = true)]
async fn hooks_delay_a_deletion() {
    let fixture = Fixture::settled(DrainTime::None, &["a"]).await;
    let hook = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/x";
    let mark = |on: bool| {
        fixture
            .server
            .edit(NS, "a", |machine: &mut Machine| {
                machine.annotations_mut().remove(hook);
                if on {
                    machine.annotations_mut().insert(hook.to_owned(), String::new());
                }
            })
            .unwrap();
    };
    mark(true);
    fixture.server.delete::<Machine>(NS, "a").unwrap();
    wait(60).await;
    assert_eq!(fixture.outcome("a"), DrainOutcome::Completed);
    assert!(fixture.get::<FooMachine>("a").metadata.deletion_timestamp.is_none());
    mark(false);
    wait(1).await;
    assert!(fixture.get::<FooMachine>("a").metadata.deletion_timestamp.is_some());
}

#[tokio::test(start_paused = true)]
async fn an_id_that_leaves_the_list_has_its_node_deleted_without_a_drain() {
    let fixture = Fixture::settled(DrainTime::UntilReleased, &["a", "b"]).await;
    fixture.report(&["b"]);
    wait(1).await;
    assert_eq!(fixture.core.retired_nodes(), ["aws:///z/i-a"]);
    fixture.server.delete::<Machine>(NS, "a").unwrap();
    wait(1).await;
    assert_eq!(fixture.outcome("a"), DrainOutcome::Skipped(SkipReason::NodeDeleted));
    assert_eq!(fixture.core.undrained().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn without_an_external_control_plane_nothing_is_drained() {
    let fixture = Fixture::settled(DrainTime::UntilReleased, &["a", "b"]).await;
    let control_plane: FooControlPlane = parse(json!({
        "apiVersion": "controlplane.foo.com/v1alpha1", "kind": "FooControlPlane",
        "metadata": { "name": "cp", "namespace": NS },
        "spec": { "version": "v1.33.0", "external": { "kubeconfigSecretRef": { "name": "k" } } },
    }));
    fixture.server.create(&control_plane).unwrap();
    let reference = json!({ "apiGroup": "controlplane.foo.com", "kind": "FooControlPlane", "name": "cp" });
    fixture
        .server
        .edit(NS, "c", |cluster: &mut Cluster| cluster.spec.control_plane_ref = Some(parse(reference)))
        .unwrap();
    fixture.server.delete::<Machine>(NS, "a").unwrap();
    wait(1).await;
    assert_eq!(fixture.outcome("a"), DrainOutcome::Skipped(SkipReason::NoControlPlane));
    fixture
        .server
        .edit(NS, "cp", |control_plane: &mut FooControlPlane| {
            control_plane.status = Some(parse(json!({ "externalManagedControlPlane": true })));
        })
        .unwrap();
    fixture.server.delete::<Machine>(NS, "b").unwrap();
    wait(1).await;
    assert_eq!(fixture.outcome("b"), DrainOutcome::Draining);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_pool_deletes_its_foo_machine_pool_first() {
    let fixture = Fixture::settled(DrainTime::None, &["a"]).await;
    fixture
        .server
        .edit(NS, "fmp", |pool: &mut FooMachinePool| pool.finalizers_mut().push("foo.com/pool".to_owned()))
        .unwrap();
    fixture.server.delete::<MachinePool>(NS, "mp").unwrap();
    wait(1).await;
    assert!(fixture.get::<FooMachinePool>("fmp").metadata.deletion_timestamp.is_some());
    wait(60).await;
    assert!(fixture.has::<MachinePool>("mp"));
    fixture.server.edit(NS, "fmp", |pool: &mut FooMachinePool| pool.finalizers_mut().clear()).unwrap();
    wait(1).await;
    assert!(!fixture.has::<MachinePool>("mp"));
    wait(1).await;
    fixture.finish("a");
    wait(1).await;
    assert!(!fixture.has::<Machine>("a"), "collected, as its owner does not exist");
}

#[tokio::test(start_paused = true)]
async fn a_deleted_cluster_takes_everything_without_drains() {
    let fixture = Fixture::settled(DrainTime::UntilReleased, &["a"]).await;
    fixture.server.delete::<Cluster>(NS, "c").unwrap();
    wait(2).await;
    assert!(!fixture.has::<FooMachinePool>("fmp") && !fixture.has::<MachinePool>("mp"));
    assert!(fixture.has::<Cluster>("c"), "waits for the Machines");
    fixture.finish("a");
    wait(10).await;
    assert!(!fixture.has::<Machine>("a") && !fixture.has::<Cluster>("c"));
    assert!(fixture.core.undrained().is_empty());
}

#[tokio::test(start_paused = true)]
async fn paused_objects_are_not_reconciled() {
    let fixture = Fixture::settled(DrainTime::None, &["a"]).await;
    fixture.server.edit(NS, "c", |cluster: &mut Cluster| cluster.spec.paused = Some(true)).unwrap();
    fixture.server.delete::<Machine>(NS, "a").unwrap();
    fixture.launch("b");
    wait(60).await;
    assert!(fixture.get::<FooMachine>("a").metadata.deletion_timestamp.is_none());
    assert!(!fixture.has::<Machine>("b"));
    fixture.server.edit(NS, "c", |cluster: &mut Cluster| cluster.spec.paused = None).unwrap();
    wait(1).await;
    assert!(fixture.has::<Machine>("b"));
}

#[tokio::test(start_paused = true)]
async fn verdicts_of_health_checks_stay_beside_cores_conditions() {
    let fixture = Fixture::settled(DrainTime::None, &["a"]).await;
    fixture.core.mark_unhealthy(NS, "a").await.unwrap();
    wait(1).await;
    let conditions = fixture.get::<Machine>("a").status.unwrap().conditions;
    let status =
        |kind: &str| conditions.iter().find(|one| one.type_ == kind).map(|one| one.status.clone()).unwrap();
    assert_eq!(
        ["HealthCheckSucceeded", "OwnerRemediated", "Ready", "NodeReady"].map(status),
        ["False", "False", "False", "True"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_foo_machine_with_another_controller_is_an_error_as_in_core() {
    let fixture = Fixture::start();
    fixture.launch("a");
    fixture
        .server
        .edit(NS, "a", |machine: &mut FooMachine| {
            let owner =
                json!({ "apiVersion": "v1", "kind": "X", "name": "x", "uid": "x", "controller": true });
            machine.owner_references_mut().push(parse(owner));
        })
        .unwrap();
    fixture.report(&["a"]);
    wait(1).await;
    assert!(fixture.core.errors().iter().any(|error| error.contains("already controlled by X x")));
}

#[tokio::test(start_paused = true)]
async fn core_survives_faults_and_outages() {
    let fixture = Fixture::start();
    for fault in [Fault::conflict(), Fault::unavailable(), Fault::lost_response(), Fault::lost_request()] {
        fixture.server.inject(fault.client("core").on_writes().times(3).skip(2));
    }
    fixture.core.pause();
    fixture.launch("a");
    fixture.report(&["a"]);
    wait(60).await;
    assert!(!fixture.has::<Machine>("a"));
    fixture.core.resume();
    wait(60).await;
    assert!(fixture.get::<Machine>("a").status.unwrap().node_ref.is_some());
}
