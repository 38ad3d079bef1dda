//! For tests: a simulated AWS, and a topology that it has everything for.

use crate::clouds::{Clouds, Connect};
use crate::settings::Access;
use async_trait::async_trait;
use foo_cloud::{Cloud, Compute as _, Groups as _};
use foo_model::names::{TAG_CLUSTER, TAG_POOL};
use foo_model::{GroupSettings, NewGroup, Protection, SubnetId};
use foo_simulator_core::core::catalogue::IMAGE_X86_64;
use foo_simulator_core::core::network::PRIVATE_SUBNETS;
use foo_simulator_core::{DEFAULT_REGION, Simulator, SimulatorConfig, plain_content};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

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

    /// Instances of the FooMachinePool `pool` of the Cluster `n/c` run, whose EKS cluster is called `at-eks`.
    pub(crate) async fn runs(&self, pool: &str, instances: u32) {
        let cloud = self.aws.cloud(DEFAULT_REGION, "manager");
        let content = plain_content(b"#!/bin/sh");
        let template = cloud.create_template(pool, &content, "", &BTreeMap::new(), pool).await.unwrap().made;
        let tags = [(TAG_CLUSTER, "n/c"), (TAG_POOL, pool), ("kubernetes.io/cluster/at-eks", "owned")];
        let group = NewGroup {
            name: pool.into(),
            min: 0,
            max: instances,
            desired: Some(instances),
            template,
            mix: None,
            settings: GroupSettings {
                new_instances: Protection::Unprotected,
                ..GroupSettings::in_subnets(PRIVATE_SUBNETS.map(SubnetId::from).into())
            },
            traffic_sources: [].into(),
            drain_hook: None,
            hooks: [].into(),
            tags: tags.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
        };
        cloud.create_group(&group).await.unwrap();
        self.aws.step(Duration::from_secs(40));
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
