//! How fast the extension responds for a topology of 100 pools, and what memory it takes: `make bench` prints it.
//! Nothing here fails for being slow. A simulated AWS is inside of the server: the memory of that is counted, too.

#[path = "../../runtime-sdk/examples/load_sdk/generator.rs"]
mod generator;

use async_trait::async_trait;
use foo_cloud::Cloud;
use foo_runtime_extension::clouds::{Clouds, Connect};
use foo_runtime_extension::settings::Access;
use foo_simulator_core::core::catalogue::IMAGE_X86_64;
use foo_simulator_core::core::network::PRIVATE_SUBNETS;
use foo_simulator_core::{DEFAULT_REGION, Simulator, SimulatorConfig};
use generator::{Fallible, POOLS, Served, serve};
use hyper::body::Bytes;
use serde_json::{Value, json};
use std::sync::Arc;

struct Simulated(Simulator);

#[async_trait]
impl Connect for Simulated {
    async fn connect(&self, _: &Access, region: &str) -> anyhow::Result<Arc<dyn Cloud>> {
        Ok(Arc::new(self.0.cloud(region, "own")))
    }
}

/// What core sends: the templates of a Cluster with this many pools, two for each, and one for the cluster.
fn topology() -> Bytes {
    let template = |uid: String, api_version: &str, kind: &str, spec: Value, own: Value| {
        json!({
            "uid": uid, "holderReference": {"kind": "MachinePool", "namespace": "n", "name": "pool"},
            "object": {
                "apiVersion": api_version, "kind": kind, "metadata": {"name": "pool", "namespace": "n"},
                "spec": {"template": {"spec": spec}},
            },
            "variables": own,
        })
    };
    let group_version = "infrastructure.foo.com/v1alpha1";
    let subnets: Vec<Value> = PRIVATE_SUBNETS.iter().map(|id| json!({"id": id})).collect();
    let network = json!({"region": DEFAULT_REGION, "network": {"existing": {"subnets": subnets}}});
    let mut items =
        vec![template("cluster".to_owned(), group_version, "FooClusterTemplate", network, json!([]))];
    for pool in 0..POOLS {
        let spec = json!({"instanceType": "m7i.large", "ami": {"id": IMAGE_X86_64}, "subnets": subnets});
        let builtin = json!({"machinePool": {
            "topologyName": format!("pool-{pool}"), "replicas": 3, "version": "v1.36.3",
        }});
        let own = json!([
            {"name": "builtin", "value": builtin}, {"name": "tags", "value": {"pool": format!("pool-{pool}")}},
        ]);
        items.push(template(format!("pool-{pool}"), group_version, "FooMachinePoolTemplate", spec, own));
        // User data as long as it usually is.
        let config = json!({"files": [{"path": "/etc/motd", "content": "x".repeat(8 << 10)}]});
        let kubeadm = "bootstrap.cluster.x-k8s.io/v1beta2";
        items.push(template(format!("config-{pool}"), kubeadm, "KubeadmConfigTemplate", config, json!([])));
    }
    let cluster = json!({"cluster": {"name": "c", "namespace": "n", "topology": {"version": "v1.36.3"}}});
    let variables = json!([
        {"name": "builtin", "value": cluster}, {"name": "region", "value": DEFAULT_REGION},
        {"name": "subnets", "value": subnets}, {"name": "instanceProfile", "value": "nodes"},
        {"name": "kubeconfigSecret", "value": "external"}, {"name": "instanceType", "value": "m7i.large"},
        {"name": "images", "value": [{"version": "v1.36.3", "id": IMAGE_X86_64}]},
    ]);
    let settings = json!({"identities": "default=own"});
    Bytes::from(json!({"settings": settings, "variables": variables, "items": items}).to_string())
}

#[tokio::main]
async fn main() -> Fallible<()> {
    if let Some(folder) = generator::folder() {
        let aws = Simulator::new(SimulatorConfig::scaled(1.0));
        let extension = foo_runtime_extension::extension(Clouds::new(Arc::new(Simulated(aws))))?;
        return serve(extension, &folder).await;
    }
    let topology = topology();
    let server = Served::start()?;
    server.first(("DiscoverVariables", "variables"), &Bytes::from_static(b"{}")).await?;
    server.one_by_one("patches", "validation", &topology).await?;
    server.all_at_once(("ValidateTopology", "validation"), &topology, 1).await
}
