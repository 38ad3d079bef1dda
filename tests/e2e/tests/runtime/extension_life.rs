//! Our extension's hooks and upgrade plans, on the real core.

use super::extension::ReleasedExtension;
use super::management::{CLUSTER, Management, on_management};
use super::provider::TEST_CONTROL_PLANE;
use super::topology;
use anyhow::{Result, ensure};
use foo_e2e::version_is_accepted;
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

/// A class of the stand-in provider whose variables and upgrade plans are the extension's, and which has a pool of the
/// provider.
async fn class(management: &Management, name: &str) -> Result<()> {
    management.namespace(name).await?;
    let pool = json!({"instanceType": "set-by-variable", "ami": {"id": "ami-0"}});
    let mut template = topology::template("FooMachinePool", name, topology::CLASS, &pool);
    template["apiVersion"] = json!("infrastructure.foo.com/v1alpha1");
    management.apply(&template).await?;
    topology::class(management, name, |class| {
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
    topology::with_variables(management, name, topology::CLASS).await.map(drop)
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

async fn control_plane_version(management: &Management, name: &str) -> Result<String> {
    let found = management.list(TEST_CONTROL_PLANE, name).await?;
    Ok(found.first().map(|one| text(one, "/spec/version").to_owned()).unwrap_or_default())
}

/// The versions that a control plane takes, until the last one.
async fn versions(management: &Management, name: &str, last: &str) -> Result<Vec<String>> {
    let mut seen: Vec<String> = Vec::new();
    wait_until(&format!("a control plane of {last}"), SOON, async || {
        let version = control_plane_version(management, name).await?;
        if seen.last() != Some(&version) {
            seen.push(version.clone());
        }
        let cluster = management.read(CLUSTER, name, name).await?;
        Ok(Probe::when(version == last, || format!("{seen:?} {:#}", cluster["status"]["conditions"])))
    })
    .await?;
    Ok(seen)
}

/// Created when AWS has what it names, its instance profile included; upgraded by two minors through the version that
/// its images name, with a pause between control plane and workers, and a wait for the last image; deleted when its
/// workloads left nothing.
#[test]
fn the_extension_blocks_a_cluster_and_plans_its_upgrade() {
    const NAME: &str = "our-life";
    on_management(async |management| {
        let extension = ReleasedExtension::start(management).await?;
        let settings = json!({"preflight": "true", "waitForImages": "true", "pauseWorkers": "true", "leftovers": "true"});
        extension.register(management, NAME, &settings).await?;
        class(management, NAME).await?;
        let unknown = json!([{"id": "subnet-0ffffffffffffffff"}]);
        topology::cluster(management, NAME, NAME, |cluster| {
            // When core removes its last annotation, its patch removes all: also one that was written since it read the
            // Cluster.
            cluster["metadata"]["annotations"] = json!({"example.com/stays": ""});
            cluster["spec"]["topology"]["variables"] = variables(&unknown, &images(MISSING));
            cluster["spec"]["topology"]["workers"] =
                json!({"machinePools": [{"class": "workers", "name": "pool", "replicas": 0}]});
        })
        .await?;
        let missing = "subnet subnet-0ffffffffffffffff in eu-central-1 does not exist";
        let blocked =
            topology::has_condition(management, NAME, NAME, &["BeforeClusterCreate", missing]).await?;
        ensure!(!topology::is_created(&blocked), "{blocked:#}");
        let unknown = "pool pool: instance profile nodes does not exist";
        topology::has_condition(management, NAME, NAME, &["BeforeClusterCreate", unknown]).await?;
        extension.put_instance_profile("nodes")?;

        let subnets: Vec<Value> = PRIVATE_SUBNETS.iter().map(|id| json!({"id": id})).collect();
        let change =
            json!({"spec": {"topology": {"variables": variables(&json!(subnets), &images(MISSING))}}});
        management.patch(CLUSTER, NAME, NAME, &change).await?;
        topology::is_reconciled(management, NAME, NAME).await?;

        let upgrade = json!({
            "metadata": {"annotations": {PAUSE: ""}},
            "spec": {"topology": {"version": "v1.36.0"}},
        });
        version_is_accepted(SOON, async || management.patch(CLUSTER, NAME, NAME, &upgrade).await).await?;
        let paused = format!("the annotation {PAUSE} of the Cluster blocks the workers");
        topology::has_condition(management, NAME, NAME, &["AfterControlPlaneUpgrade", &paused]).await?;
        ensure!(
            control_plane_version(management, NAME).await? == "v1.35.3",
            "the version that the images name"
        );
        management.patch(CLUSTER, NAME, NAME, &json!({"metadata": {"annotations": {PAUSE: null}}})).await?;
        versions(management, NAME, "v1.36.0").await?;
        let waits = format!("pool pool: image {MISSING} in eu-central-1 does not exist");
        topology::has_condition(management, NAME, NAME, &["BeforeWorkersUpgrade", &waits]).await?;
        let change =
            json!({"spec": {"topology": {"variables": variables(&json!(subnets), &images(IMAGE_X86_64))}}});
        management.patch(CLUSTER, NAME, NAME, &change).await?;
        topology::is_reconciled(management, NAME, NAME).await?;
        deleted_after_its_volume(management, &extension, NAME).await?;
        extension.was_allowed_everything()
    });
}

/// A volume of its workloads blocks the deletion, since the Cluster requests that.
async fn deleted_after_its_volume(
    management: &Management,
    extension: &ReleasedExtension,
    name: &str,
) -> Result<()> {
    let region = extension.aws.simulator().region("eu-central-1");
    let tags = [(format!("kubernetes.io/cluster/{name}"), "owned".to_owned())].into();
    let volume = region.put_volume(WorkloadVolume { size_gib: 10, attached: None, tags })?;
    management
        .patch(CLUSTER, name, name, &json!({"metadata": {"annotations": {WAIT_FOR_LEFTOVERS: ""}}}))
        .await?;
    management.delete(CLUSTER, name, name).await?;
    let left = format!("workloads of the Cluster left in AWS: volumes {volume}; delete their");
    topology::has_condition(
        management,
        name,
        name,
        &["Following hooks are blocking delete: BeforeClusterDelete", &left],
    )
    .await?;
    ensure!(region.delete_volume(&volume)?, "it was there");
    management.until((CLUSTER, name, name), "deleted", Value::is_null).await.map(drop)
}
