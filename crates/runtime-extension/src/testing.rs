//! For tests: a simulated AWS, and a topology that it has everything for.

use crate::clouds::{Clouds, Connect};
use crate::settings::Access;
use async_trait::async_trait;
use foo_cloud::Cloud;
use foo_simulator::core::catalogue::IMAGE_X86_64;
use foo_simulator::core::network::PRIVATE_SUBNETS;
use foo_simulator::{DEFAULT_REGION, Simulator, SimulatorConfig};
use serde_json::{Value, json};
use std::sync::Arc;

/// An AWS, and connections to it.
pub(crate) struct World {
    pub(crate) aws: Simulator,
    pub(crate) clouds: Clouds,
}

struct Simulated(Simulator);

#[async_trait]
impl Connect for Simulated {
    async fn connect(&self, access: &Access, region: &str) -> anyhow::Result<Arc<dyn Cloud>> {
        let caller = match access {
            Access::Own => "own",
            Access::Role(arn) => arn,
        };
        Ok(Arc::new(self.0.cloud(region, caller)))
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let aws = Simulator::new(SimulatorConfig::stepped());
        Self { clouds: Clouds::new(Arc::new(Simulated(aws.clone()))), aws }
    }
}

/// A request of ValidateTopology: a cluster, and a pool `workers` of three; after a change.
pub(crate) fn topology_request(change: impl FnOnce(&mut Value)) -> Value {
    let subnets: Vec<Value> = PRIVATE_SUBNETS.iter().map(|id| json!({"id": id})).collect();
    let template = |kind: &str, spec: &Value| {
        json!({
            "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": kind,
            "metadata": {"name": "pool", "namespace": "n"}, "spec": {"template": {"spec": spec}},
        })
    };
    let network = json!({"region": DEFAULT_REGION, "network": {"existing": {"subnets": subnets}}});
    let pool = json!({"instanceType": "m7i.large", "ami": {"id": IMAGE_X86_64}});
    let builtin = json!({"machinePool": {"topologyName": "workers", "replicas": 3, "version": "v1.36.3"}});
    let mut request = json!({
        "settings": {"identities": "default=own"},
        "variables": [{"name": "builtin", "value": {"cluster": {
            "name": "c", "namespace": "n", "topology": {"version": "v1.36.3"},
        }}}],
        "items": [
            {"holderReference": {}, "object": template("FooClusterTemplate", &network)},
            {
                "holderReference": {}, "object": template("FooMachinePoolTemplate", &pool),
                "variables": [{"name": "builtin", "value": builtin}],
            },
        ],
    });
    change(&mut request);
    request
}
