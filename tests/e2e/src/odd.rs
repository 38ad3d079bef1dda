//! Unusual objects that any user may write: times that no calendar has, control characters in texts.

use anyhow::{Context as _, Result, ensure};
use foo_testbed::world::kinds::{self, Kind};
use foo_testbed::world::{Pool, World, manifests};
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

/// The API server takes it for a time; the calendar of many a library ends before.
const LATE: &str = "9999-12-31T23:59:59Z";
/// C0, C1, DEL, a mark that turns the direction of writing.
pub const CONTROLS: &str = "\u{7f}\u{80}oops\u{93}\u{202e}\u{1}";
/// Name of all of them.
const ODD: &str = "odd";

/// They are in the pool's namespace, in its own annotations, and in another namespace (which need not exist).
pub async fn apply_odd_objects(world: &World, pool: &Pool<'_>, elsewhere: &str) -> Result<()> {
    world.apply(&manifests::namespace(elsewhere)).await?;
    let cluster = &pool.name().cluster;
    for namespace in [pool.name().namespace.as_str(), elsewhere] {
        let labelled = json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": ODD, "namespace": namespace, "labels": {"cluster.x-k8s.io/cluster-name": cluster}},
        });
        world.apply(&labelled).await?;
        was_written_late(world, namespace).await?;
    }
    for kind in [Kind::FooMachinePool, Kind::MachinePool] {
        pool.annotate(kind, "foo.test/odd", Some(CONTROLS)).await?;
    }
    world.apply(&odd_machine(elsewhere)).await?;
    let condition = json!({
        "type": "Ready", "status": "True", "reason": "Odd", "message": CONTROLS, "lastTransitionTime": LATE,
    });
    let status = Patch::Merge(json!({"status": {"conditions": [condition]}}));
    let machines = Kind::FooMachine.api(world.client(), elsewhere);
    machines.patch_status(ODD, &PatchParams::default(), &status).await.context("an odd status")?;
    Ok(())
}

/// They go.
pub async fn end(world: &World, pool: &Pool<'_>, elsewhere: &str) -> Result<()> {
    kinds::delete(world.client(), Kind::Secret, &pool.name().namespace, ODD).await?;
    kinds::delete(world.client(), Kind::Secret, elsewhere, ODD).await?;
    kinds::delete(world.client(), Kind::FooMachine, elsewhere, ODD).await
}

/// A FooMachine that no pool made.
fn odd_machine(namespace: &str) -> Value {
    json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooMachine",
        "metadata": {
            "name": ODD, "namespace": namespace, "annotations": {"infrastructure.foo.com/deletion-allowed": ""},
        },
        "spec": {"providerID": "aws:///eu-central-1a/i-0123456789abcdef0", "instanceID": "i-0123456789abcdef0"},
    })
}

/// A user who may write an object may write its record of who wrote it, and when.
async fn was_written_late(world: &World, namespace: &str) -> Result<()> {
    let secret = Kind::Secret.api(world.client(), namespace).get(ODD).await?;
    let mut raw = serde_json::to_value(&secret)?;
    let metadata = raw.pointer_mut("/metadata").and_then(Value::as_object_mut).context("no metadata")?;
    let fields = json!({"f:metadata": {"f:labels": {".": {}, "f:cluster.x-k8s.io/cluster-name": {}}}});
    let written = json!([{
        "manager": ODD, "operation": "Update", "apiVersion": "v1", "time": LATE, "fieldsType": "FieldsV1", "fieldsV1": fields,
    }]);
    metadata.insert("managedFields".to_owned(), written);
    // Not through types: they would not take the response.
    let path = format!("/api/v1/namespaces/{namespace}/secrets/{ODD}");
    let request = http::Request::put(path).header("Content-Type", "application/json");
    let response = world.client().request_text(request.body(serde_json::to_vec(&raw)?)?).await?;
    ensure!(response.contains(LATE), "the API server did not take the time: {response}");
    Ok(())
}
