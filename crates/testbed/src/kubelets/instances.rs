//! Which instances run: the seam to the simulated cloud.

use crate::lock;
use anyhow::Result;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A running instance, as its kubelet registers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSpec {
    /// Name of the Node, for instance `ip-10-0-1-17.eu-west-1.compute.internal`.
    pub name: String,
    /// `spec.providerID` of the Node, for instance `aws:///eu-west-1a/i-0123456789abcdef0`. Identifies the instance.
    pub provider_id: String,
    /// Availability zone.
    pub zone: String,
    /// Instance type.
    pub instance_type: String,
    /// What the kubelet reports as its version; none means the version in [`KubeletOptions`](crate::KubeletOptions).
    pub kubelet_version: Option<String>,
    /// Labels beyond the well-known ones.
    pub labels: BTreeMap<String, String>,
}

impl NodeSpec {
    /// An instance of a common type in some zone.
    pub fn new(name: impl Into<String>, provider_id: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            provider_id: provider_id.into(),
            zone: "eu-west-1a".to_owned(),
            instance_type: "m7g.large".to_owned(),
            kubelet_version: None,
            labels: BTreeMap::new(),
        }
    }
}

/// Knows which instances run.
#[async_trait::async_trait]
pub trait Instances: Send + Sync + 'static {
    /// The instances whose operating system is up: from the end of booting until the instance is terminated, so also
    /// while it waits for a lifecycle hook. Read several times a second. An error keeps the last response in force.
    async fn running(&self) -> Result<Vec<NodeSpec>>;
}

/// Instances that a test starts and ends by hand. Clones share one list.
#[derive(Clone, Debug, Default)]
pub struct InstanceList {
    by_provider_id: Arc<Mutex<BTreeMap<String, NodeSpec>>>,
}

impl InstanceList {
    /// An instance comes up.
    pub fn launch(&self, spec: NodeSpec) {
        lock(&self.by_provider_id).insert(spec.provider_id.clone(), spec);
    }

    /// Removes an instance at once. Returns whether there was one.
    pub fn terminate(&self, provider_id: &str) -> bool {
        lock(&self.by_provider_id).remove(provider_id).is_some()
    }
}

#[async_trait::async_trait]
impl Instances for InstanceList {
    async fn running(&self) -> Result<Vec<NodeSpec>> {
        Ok(lock(&self.by_provider_id).values().cloned().collect())
    }
}
