//! Machines that are updated in place (core's feature gate `InPlaceUpdates`), and one change that needs a new Machine.
//!
//! Core asks for MachineDeployments only. CanUpdateMachine is asked by the kubeadm control plane provider, which is not
//! core and is not built here; how its request and response are written is compared in tests/contract.

use super::book::{BLOCKED, Book};
use super::management::{MACHINE, MACHINE_DEPLOYMENT, Management, on_management};
use super::provider::{GROUP_VERSION, TEST_MACHINE};
use super::served::{Served, register};
use super::topology::{VERSION, template};
use anyhow::{Context as _, Result, ensure};
use foo_runtime_sdk::hooks::{
    CanUpdateMachineSet, CanUpdateMachineSetRequest, MachineSetPatches, UpdateMachine,
};
use foo_runtime_sdk::metrics::CallOutcome;
use foo_runtime_sdk::{Extension, Failure, Handler, patch};
use foo_testbed::world::SOON;
use foo_testbed::world::kinds::{is_deleting, text};
use foo_testbed::{Probe, wait_until};
use serde_json::{Value, json};

/// Namespace, Cluster, MachineDeployment and ExtensionConfig.
const NAME: &str = "in-place";
const SPEC: &str = "/spec/template/spec";

/// Sizes change in place, except the largest.
fn resizable(request: &CanUpdateMachineSetRequest) -> Result<MachineSetPatches, Failure> {
    let (current, desired) =
        (&request.current.infrastructure_machine_template, &request.desired.infrastructure_machine_template);
    let wanted = desired.at(SPEC).ok_or_else(|| Failure::new("a template has no spec.template.spec"))?;
    if text(wanted, "/size") == "huge" {
        return Ok(MachineSetPatches::default());
    }
    let mut patched = current.clone();
    if let Some(spec) = patched.0.pointer_mut(SPEC) {
        spec.clone_from(wanted);
    }
    let infrastructure_machine_template = patch::between(current, &patched)?;
    Ok(MachineSetPatches { infrastructure_machine_template, ..MachineSetPatches::default() })
}

fn extension(book: &Book) -> Result<Extension> {
    let asked = book.clone();
    Ok(Extension::new([
        Handler::new(CanUpdateMachineSet, "resizable", move |request| {
            asked.note("CanUpdateMachineSet", &request);
            std::future::ready(resizable(&request))
        }),
        book.holding(UpdateMachine),
    ])?)
}

async fn deployment_of_one(management: &Management) -> Result<()> {
    management.namespace(NAME).await?;
    management.rig().link_cluster(NAME, NAME).await?;
    for size in ["small", "large", "huge"] {
        management.apply(&template("TestMachine", NAME, size, &json!({"size": size}))).await?;
    }
    management.apply(&template("TestConfig", NAME, NAME, &json!({"files": "none"}))).await?;
    let endpoint = json!({"host": "127.0.0.1", "port": management.rig().api().port()});
    let metadata = json!({"name": NAME, "namespace": NAME});
    for (kind, spec) in [
        ("TestCluster", json!({"controlPlaneEndpoint": endpoint})),
        ("TestControlPlane", json!({"version": VERSION})),
    ] {
        let object = json!({"apiVersion": GROUP_VERSION, "kind": kind, "metadata": metadata, "spec": spec});
        management.apply(&object).await?;
    }
    let reference = |kind: &str, name: &str| json!({"apiGroup": "test.foo.com", "kind": kind, "name": name});
    let cluster = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": metadata,
        "spec": {
            "infrastructureRef": reference("TestCluster", NAME), "controlPlaneRef": reference("TestControlPlane", NAME),
        },
    });
    management.apply(&cluster).await?;
    let deployment = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineDeployment", "metadata": metadata,
        "spec": {
            "clusterName": NAME, "replicas": 1,
            "rollout": {"strategy":
                {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}},
            "template": {"spec": {
                "clusterName": NAME, "version": VERSION,
                // Not by dataSecretName: core v1.14.2 never begins to update such a Machine.
                "bootstrap": {"configRef": reference("TestConfigTemplate", NAME)},
                "infrastructureRef": reference("TestMachineTemplate", "small"),
            }},
        },
    });
    management.apply(&deployment).await
}

async fn resize(management: &Management, size: &str) -> Result<()> {
    let change = json!({"spec": {"template": {"spec": {"infrastructureRef": {"name": size}}}}});
    management.patch(MACHINE_DEPLOYMENT, NAME, NAME, &change).await
}

/// The only Machine, once its infrastructure has this size and core calls it up to date and available.
async fn settled(management: &Management, size: &str) -> Result<Value> {
    wait_until(&format!("one machine, {size}"), SOON, async || {
        let (machines, infrastructure) =
            (management.list(MACHINE, NAME).await?, management.list(TEST_MACHINE, NAME).await?);
        let deployment = management.read(MACHINE_DEPLOYMENT, NAME, NAME).await?;
        let is_one = |pointer: &str| deployment.pointer(pointer) == Some(&json!(1));
        let counted = ["/status/replicas", "/status/upToDateReplicas", "/status/availableReplicas"]
            .into_iter()
            .all(is_one);
        let sized = infrastructure.iter().all(|machine| text(machine, "/spec/size") == size);
        Ok(match machines.as_slice() {
            // The lists are read one after the other: the Machine may be that of the infrastructure before.
            [machine] if counted && sized && !is_deleting(machine) => Probe::Done(machine.clone()),
            _ => Probe::NotYet(format!("{machines:#?}\n{infrastructure:#?}\n{:#}", deployment["status"])),
        })
    })
    .await
}

#[test]
fn a_machine_is_updated_in_place_and_replaced_where_that_is_refused() {
    on_management(async |management| {
        let book = Book::default();
        let served = Served::start(management, extension(&book)?).await?;
        register(management, NAME, served.port).await?;
        deployment_of_one(management).await?;
        let first = settled(management, "small").await?;
        let (name, uid) = (text(&first, "/metadata/name"), text(&first, "/metadata/uid"));

        resize(management, "large").await?;
        management
            .until_condition((MACHINE, NAME, name), "Updating", "True", &["In-place update", BLOCKED])
            .await?;
        let asked = book.of("UpdateMachine").first().map(|call| call.request.clone());
        let asked = asked.context("UpdateMachine was not called")?;
        ensure!(text(&asked, "/desired/infrastructureMachine/spec/size") == "large", "{asked:#}");
        book.open("UpdateMachine", "");
        let resized = settled(management, "large").await?;
        ensure!(text(&resized, "/metadata/uid") == uid, "another Machine: {resized:#}");

        resize(management, "huge").await?;
        let replaced = settled(management, "huge").await?;
        ensure!(text(&replaced, "/metadata/uid") != uid, "the same Machine: {replaced:#}");
        ensure!(
            served.metrics.calls("CanUpdateMachineSet", CallOutcome::Success) >= 2,
            "not asked each time"
        );
        book.check_waits()
    });
}
