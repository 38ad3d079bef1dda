//! Our extension's hooks and upgrade plans, on the real core.

use crate::ours::Ours;
use crate::provider::TEST_CONTROL_PLANE;
use crate::stage::{CLUSTER, Stage, on_stage};
use crate::topology;
use anyhow::{Result, ensure};
use foo_simulator::core::catalogue::IMAGE_X86_64;
use foo_simulator::core::ec2::workload_volumes::WorkloadVolume;
use foo_simulator::core::network::PRIVATE_SUBNETS;
use foo_testbed::world::SOON;
use foo_testbed::world::kinds::text;
use foo_testbed::{Probe, wait_until};
use serde_json::{Value, json};

const PAUSE: &str = "infrastructure.foo.com/pause-workers";
const WAIT_FOR_LEFTOVERS: &str = "infrastructure.foo.com/wait-for-leftovers";
const MISSING: &str = "ami-0ffffffffffffffff";

/// A class of the stand-in provider whose variables and upgrade plans are our extension's, and which has a pool of ours.
async fn class(stage: &Stage, name: &str) -> Result<()> {
    stage.namespace(name).await?;
    let pool = json!({"instanceType": "set-by-variable", "ami": {"id": "ami-0"}});
    let mut template = topology::template("FooMachinePool", name, topology::CLASS, &pool);
    template["apiVersion"] = json!("infrastructure.foo.com/v1alpha1");
    stage.apply(&template).await?;
    topology::class(stage, name, |class| {
        let mut pools = class["spec"]["workers"]["machineDeployments"].clone();
        pools[0]["infrastructure"]["templateRef"] = json!({
            "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooMachinePoolTemplate", "name": topology::CLASS,
        });
        class["spec"]["workers"]["machinePools"] = pools;
        class["spec"]["patches"] = json!([{"name": "foo", "external": {
            "discoverVariablesExtension": format!("variables.{name}"),
            "generatePatchesExtension": format!("patches.{name}"),
            "validateTopologyExtension": format!("validation.{name}"),
        }}]);
        class["spec"]["upgrade"] =
            json!({"external": {"generateUpgradePlanExtension": format!("upgrade-plan.{name}")}});
    })
    .await?;
    topology::with_variables(stage, name, topology::CLASS).await.map(drop)
}

fn variables(subnets: &Value, images: &Value) -> Value {
    json!([
        {"name": "region", "value": "eu-central-1"}, {"name": "subnets", "value": subnets},
        {"name": "kubeconfigSecret", "value": "external"}, {"name": "instanceProfile", "value": "nodes"},
        {"name": "images", "value": images},
    ])
}

fn images(last: &str) -> Value {
    json!([
        {"version": topology::VERSION, "id": IMAGE_X86_64}, {"version": "v1.35.3", "id": IMAGE_X86_64},
        {"version": "v1.36.0", "id": last},
    ])
}

async fn control_plane_version(stage: &Stage, name: &str) -> Result<String> {
    let found = stage.list(TEST_CONTROL_PLANE, name).await?;
    Ok(found.first().map(|one| text(one, "/spec/version").to_owned()).unwrap_or_default())
}

/// The versions that a control plane takes, until the last one.
async fn versions(stage: &Stage, name: &str, last: &str) -> Result<Vec<String>> {
    let mut seen: Vec<String> = Vec::new();
    wait_until(&format!("a control plane of {last}"), SOON, async || {
        let version = control_plane_version(stage, name).await?;
        if seen.last() != Some(&version) {
            seen.push(version.clone());
        }
        let cluster = stage.read(CLUSTER, name, name).await?;
        Ok(Probe::when(version == last, || format!("{seen:?} {:#}", cluster["status"]["conditions"])))
    })
    .await?;
    Ok(seen)
}

/// Created when AWS has what it names, its instance profile included; upgraded by two minors through the version that its images name, with a pause between
/// control plane and workers, and a wait for the last image; deleted when its workloads left nothing.
#[test]
fn the_extension_blocks_a_cluster_and_plans_its_upgrade() {
    const NAME: &str = "our-life";
    on_stage(async |stage| {
        let ours = Ours::start(stage).await?;
        let settings = json!({"preflight": "true", "waitForImages": "true", "pauseWorkers": "true", "leftovers": "true"});
        ours.register(stage, NAME, &settings).await?;
        class(stage, NAME).await?;
        let unknown = json!([{"id": "subnet-0ffffffffffffffff"}]);
        topology::cluster(stage, NAME, NAME, |cluster| {
            // When core removes its last annotation, its patch removes all: also one that was written since it read the Cluster.
            cluster["metadata"]["annotations"] = json!({"example.com/stays": ""});
            cluster["spec"]["topology"]["variables"] = variables(&unknown, &images(MISSING));
            cluster["spec"]["topology"]["workers"] =
                json!({"machinePools": [{"class": "workers", "name": "pool", "replicas": 0}]});
        })
        .await?;
        let missing = "subnet subnet-0ffffffffffffffff in eu-central-1 does not exist";
        let held = topology::says(stage, NAME, NAME, &["BeforeClusterCreate", missing]).await?;
        ensure!(!topology::is_created(&held), "{held:#}");
        let unknown = "pool pool: instance profile nodes does not exist";
        topology::says(stage, NAME, NAME, &["BeforeClusterCreate", unknown]).await?;
        ours.put_instance_profile("nodes")?;

        let subnets: Vec<Value> = PRIVATE_SUBNETS.iter().map(|id| json!({"id": id})).collect();
        let change =
            json!({"spec": {"topology": {"variables": variables(&json!(subnets), &images(MISSING))}}});
        stage.patch(CLUSTER, NAME, NAME, &change).await?;
        topology::is_reconciled(stage, NAME, NAME).await?;

        let upgrade = json!({
            "metadata": {"annotations": {PAUSE: ""}},
            "spec": {"topology": {"version": "v1.36.0"}},
        });
        // Core's webhook asks the workload cluster, to which core connects a moment after the Cluster is there.
        wait_until("core to accept another version", SOON, async || {
            let refused = stage.patch(CLUSTER, NAME, NAME, &upgrade).await.err();
            Ok(Probe::when(refused.is_none(), || format!("{refused:?}")))
        })
        .await?;
        let paused = format!("the annotation {PAUSE} of the Cluster holds the workers");
        topology::says(stage, NAME, NAME, &["AfterControlPlaneUpgrade", &paused]).await?;
        ensure!(control_plane_version(stage, NAME).await? == "v1.35.3", "the version that the images name");
        stage.patch(CLUSTER, NAME, NAME, &json!({"metadata": {"annotations": {PAUSE: null}}})).await?;
        versions(stage, NAME, "v1.36.0").await?;
        let waits = format!("pool pool: image {MISSING} in eu-central-1 does not exist");
        topology::says(stage, NAME, NAME, &["BeforeWorkersUpgrade", &waits]).await?;
        let change =
            json!({"spec": {"topology": {"variables": variables(&json!(subnets), &images(IMAGE_X86_64))}}});
        stage.patch(CLUSTER, NAME, NAME, &change).await?;
        topology::is_reconciled(stage, NAME, NAME).await?;
        deleted_after_its_volume(stage, &ours, NAME).await?;
        ours.was_allowed_everything()
    });
}

/// A volume of its workloads holds the deletion, since the Cluster asks for that.
async fn deleted_after_its_volume(stage: &Stage, ours: &Ours, name: &str) -> Result<()> {
    let region = ours.aws.simulator().region("eu-central-1");
    let tags = [(format!("kubernetes.io/cluster/{name}"), "owned".to_owned())].into();
    let volume = region.put_volume(WorkloadVolume { size_gib: 10, attached: None, tags })?;
    stage.patch(CLUSTER, name, name, &json!({"metadata": {"annotations": {WAIT_FOR_LEFTOVERS: ""}}})).await?;
    stage.delete(CLUSTER, name, name).await?;
    let left = format!("workloads of the Cluster left in AWS: volumes {volume}; delete their");
    topology::says(stage, name, name, &["Following hooks are blocking delete: BeforeClusterDelete", &left])
        .await?;
    ensure!(region.delete_volume(&volume)?, "it was there");
    stage.until((CLUSTER, name, name), "gone", Value::is_null).await.map(drop)
}
