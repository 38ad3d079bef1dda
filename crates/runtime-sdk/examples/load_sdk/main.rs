//! How fast an extension responds, and what memory it takes: `make bench` prints it. Nothing here fails for being slow.
//! It is called with a topology of 100 pools.

mod generator;

use foo_runtime_sdk::hooks::{
    BeforeClusterCreate, GeneratePatches, GeneratePatchesRequest, GeneratePatchesResponseItem,
    ValidateTopology, ValidateTopologyRequest,
};
use foo_runtime_sdk::variables::Variables;
use foo_runtime_sdk::{Decision, Extension, Failure, Handler, InvalidExtension, Selector, patch};
use generator::{Fallible, POOLS, Served, serve};
use hyper::body::Bytes;
use serde_json::{Value, json};

const POOL_TEMPLATES: Selector<'_> = Selector::of("infrastructure.foo.com", "FooMachinePoolTemplate");

async fn tags(request: GeneratePatchesRequest) -> Result<Vec<GeneratePatchesResponseItem>, Failure> {
    let mut patches = Vec::new();
    for item in request.items.iter().flatten().filter(|item| POOL_TEMPLATES.matches(&item.object)) {
        let owner: String = Variables::new(&item.variables, &request.variables).get("owner")?;
        let mut wanted = item.object.clone();
        if let Some(tags) = wanted.0.pointer_mut("/spec/template/spec/tags") {
            *tags = json!({"owner": owner});
        }
        patches.extend(patch::between_objects(&item.object, &wanted)?.map(|patch| item.patched(patch)));
    }
    Ok(patches)
}

async fn typed(request: ValidateTopologyRequest) -> Result<(), Failure> {
    let items = request.items.unwrap_or_default();
    let mut own = items.iter().filter(|item| POOL_TEMPLATES.matches(&item.object));
    let complete = own.all(|item| item.object.at("/spec/template/spec/instanceType").is_some());
    if complete { Ok(()) } else { Err(Failure::new("a pool has no instance type")) }
}

/// What core sends: the templates of a Cluster with this many pools, two for each.
fn topology() -> Bytes {
    let cluster = json!({"name": "builtin", "value": {"cluster": {"name": "c", "namespace": "n"}}});
    let item = |kind: &str, api_version: &str, pool: usize, spec: Value| {
        json!({
            "uid": format!("{kind}-{pool}"),
            "holderReference": {
                "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachinePool", "namespace": "n",
                "name": format!("pool-{pool}"), "fieldPath": "spec.template.spec.infrastructureRef",
            },
            "object": {
                "apiVersion": api_version, "kind": kind, "metadata": {"name": "pool", "namespace": "n"},
                "spec": {"template": {"spec": spec}},
            },
            "variables": [{"name": "builtin", "value": {"machinePool": {"topologyName": format!("pool-{pool}")}}}],
        })
    };
    let items = (0..POOLS).flat_map(|pool| {
        let subnets: Vec<Value> = (0..3).map(|zone| json!({"id": format!("subnet-{pool}-{zone}")})).collect();
        let own =
            json!({"instanceType": "m7i.large", "ami": {"id": "ami-0"}, "subnets": subnets, "tags": {}});
        // User data as long as it usually is.
        let config = json!({"files": [{"path": "/etc/motd", "content": "x".repeat(8 << 10)}]});
        [
            item("FooMachinePoolTemplate", "infrastructure.foo.com/v1alpha1", pool, own),
            item("KubeadmConfigTemplate", "bootstrap.cluster.x-k8s.io/v1beta2", pool, config),
        ]
    });
    let items: Vec<Value> = items.collect();
    let variables = json!([cluster, {"name": "owner", "value": "team-a"}]);
    Bytes::from(json!({"variables": variables, "items": items}).to_string())
}

fn extension() -> Result<Extension, InvalidExtension> {
    let proceed = |_request| std::future::ready(Ok(Decision::Proceed));
    Extension::new([
        Handler::new(BeforeClusterCreate, "create", proceed),
        Handler::new(GeneratePatches, "tags", tags),
        Handler::new(ValidateTopology, "typed", typed),
    ])
}

#[tokio::main]
async fn main() -> Fallible<()> {
    if let Some(folder) = generator::folder() {
        return serve(extension()?, &folder).await;
    }
    let create = ("BeforeClusterCreate", "create");
    let cluster = Bytes::from(json!({"cluster": {"metadata": {"name": "c", "namespace": "n"}}}).to_string());
    let server = Served::start()?;
    server.first(create, &cluster).await?;
    server.one_by_one("tags", "typed", &topology()).await?;
    server.all_at_once(create, &cluster, 10).await
}
