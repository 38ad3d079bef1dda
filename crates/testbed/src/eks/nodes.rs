//! The nodes of a cluster: instances whose user data names it, and which get in with it.
//!
//! An instance reads its user data as its family does (`foo-bootstrap`), and asks the endpoint in there for its Node:
//! over TLS with the authority in there, with a token of the role in its instance profile for the cluster's name in
//! there, and with the rights of a node. Whatever of that is wrong keeps it out, in the words of what refuses it; it
//! tries again, as kubelets do. Once its Node is there the stand-in keeps it with the test bed's own rights. Where the user
//! data waits, an instance in a warm pool does not join; where it does not, an instance joins at its first boot there.
//!
//! The kubelet's version is that in the image's name.

use super::shared::Shared;
use super::user_data::UserData;
use crate::api_server::{client_of, kubeconfig_of};
use crate::kubelets::{Instances, NodeSpec, node_object};
use crate::{lock, simulated};
use anyhow::{Context as _, Result, bail};
use foo_bootstrap::Seen;
use foo_model::InstanceId;
use foo_simulator::NodeInstance;
use foo_simulator::core::catalogue::Boot;
use futures::{StreamExt as _, stream};
use k8s_openapi::api::core::v1::Node;
use kube::api::PostParams;
use kube::{Api, Error};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a node waits after it was refused.
const RETRY: Duration = Duration::from_secs(1);
/// How long an endpoint has to respond.
const PATIENCE: Duration = Duration::from_secs(5);
/// Nodes that register at a time.
const CONCURRENCY: usize = 4;

/// The instances that are nodes of one cluster.
#[derive(Debug)]
pub(super) struct ClusterNodes {
    shared: Arc<Shared>,
    cluster: String,
    /// Those that joined: a Node that a user deletes stays away, as after a real kubelet registered once.
    joined: Mutex<BTreeSet<InstanceId>>,
    tried: Mutex<BTreeMap<InstanceId, Instant>>,
}

impl ClusterNodes {
    pub(super) fn new(shared: Arc<Shared>, cluster: &str) -> Self {
        Self { shared, cluster: cluster.to_owned(), joined: Mutex::default(), tried: Mutex::default() }
    }
}

#[async_trait::async_trait]
impl Instances for ClusterNodes {
    async fn running(&self) -> Result<Vec<NodeSpec>> {
        let instances = self.shared.region.in_service_instances();
        let boots = instances.iter().filter(|instance| instance.boots == Boot::Succeeds);
        let mine = boots.filter_map(|instance| {
            let data = self.shared.user_data_of(instance);
            let is_mine = matches!(&*data, UserData::Node(seen) if seen.cluster == self.cluster);
            is_mine.then(|| self.node_of(instance.clone(), data))
        });
        let mine: Vec<_> = mine.collect();
        let nodes = stream::iter(mine).buffer_unordered(CONCURRENCY);
        Ok(nodes.filter_map(std::future::ready).collect().await)
    }
}

impl ClusterNodes {
    /// The node that an instance is, if it is one.
    async fn node_of(&self, instance: NodeInstance, data: Arc<UserData>) -> Option<NodeSpec> {
        let UserData::Node(seen) = &*data else { return None };
        self.is_in(&instance, seen).await.then(|| self.spec(&instance, seen))
    }

    /// Whether an instance is a node of the cluster; it tries now if it has not just tried.
    async fn is_in(&self, instance: &NodeInstance, seen: &Seen) -> bool {
        if lock(&self.joined).contains(&instance.id) {
            return true;
        }
        if self.shared.user_data.waits(instance, &self.shared.region) {
            return false;
        }
        let pauses = |tried: &Instant| tried.elapsed() < RETRY;
        if lock(&self.tried).get(&instance.id).is_some_and(pauses) {
            return false;
        }
        lock(&self.tried).insert(instance.id.clone(), Instant::now());
        let asked = tokio::time::timeout(PATIENCE, self.register(instance, seen)).await;
        let refusal = match asked {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(format!("{error:#}")),
            Err(_) => Some(format!("{} does not respond", seen.endpoint)),
        };
        let mut refused = lock(&self.shared.refused_nodes);
        match refusal {
            None => {
                refused.remove(instance.id.as_str());
                lock(&self.joined).insert(instance.id.clone())
            }
            Some(why) => {
                tracing::debug!(instance = %instance.id, why, "its node is refused");
                refused.insert(instance.id.to_string(), why);
                false
            }
        }
    }

    /// Registers the Node of an instance as its kubelet does, with nothing but what the instance has.
    async fn register(&self, instance: &NodeInstance, seen: &Seen) -> Result<()> {
        let (region, now) = (self.shared.region.name(), self.shared.simulator.real_time());
        let key = self.shared.simulator.instance_credentials(region, &instance.id, now);
        let key = key.context("the instance has no role: its profile is unknown or empty")?;
        let token =
            key.cluster_token(&seen.cluster, &format!("https://sts.{region}.amazonaws.com"), region, now);
        let kubeconfig =
            kubeconfig_of(&seen.endpoint, &seen.certificate_authority, "kubelet", &format!("token: {token}"));
        let nodes: Api<Node> = Api::all(client_of(&kubeconfig).await?);
        let spec = self.spec(instance, seen);
        let mut node = node_object(&spec);
        let taint = |taint: &foo_bootstrap::Taint| json!({ "key": taint.key, "value": taint.value, "effect": taint.effect.to_string() });
        let taints: Vec<serde_json::Value> = seen.taints.iter().map(taint).collect();
        if let Some(of_node) = node.get_mut("spec").filter(|_| !taints.is_empty()) {
            of_node["taints"] = json!(taints);
        }
        match nodes.create(&PostParams::default(), &serde_json::from_value(node)?).await {
            Ok(_) => Ok(()),
            // From before this test bed knew of it.
            Err(Error::Api(status)) if status.code == 409 => Ok(()),
            Err(Error::Api(status)) => bail!("{}: {}", status.code, status.message),
            Err(error) => Err(error.into()),
        }
    }

    fn spec(&self, instance: &NodeInstance, seen: &Seen) -> NodeSpec {
        let mut spec = simulated::node(instance);
        spec.labels.extend(seen.labels.clone());
        spec.kubelet_version = self.shared.region.image_name(&instance.image).as_deref().and_then(version_in);
        spec
    }
}

/// The version in the name of an image, with the suffix of EKS's builds if it has one: `v1.34.0` in
/// `foo-node-v1.34.0-x86_64`, `v1.34.2-eks-113cf36` in `foo-node-v1.34.2-eks-113cf36-x86_64`.
fn version_in(image: &str) -> Option<String> {
    let is_version = |part: &str| {
        let numbers: Vec<&str> = part.strip_prefix('v').unwrap_or_default().split('.').collect();
        numbers.len() == 3 && numbers.iter().all(|number| number.parse::<u32>().is_ok())
    };
    let mut parts = image.split('-').skip_while(|part| !is_version(part));
    let version = parts.next()?.to_owned();
    match (parts.next(), parts.next()) {
        (Some("eks"), Some(build)) => Some(format!("{version}-eks-{build}")),
        (_, _) => Some(version),
    }
}

/// Records why instances that no cluster could admit are no nodes.
pub(super) fn note_hopeless(shared: &Shared) {
    let instances = shared.region.in_service_instances();
    let clusters: BTreeSet<String> =
        shared.region.clusters().into_iter().map(|cluster| cluster.name).collect();
    let mut refused = lock(&shared.refused_nodes);
    refused.retain(|id, _| instances.iter().any(|instance| instance.id.as_str() == id));
    for instance in instances.iter().filter(|instance| instance.boots == Boot::Succeeds) {
        let why = match &*shared.user_data_of(instance) {
            UserData::Other(_) => continue,
            UserData::Broken(why) => why.clone(),
            UserData::Node(seen) if clusters.contains(&seen.cluster) => continue,
            UserData::Node(seen) => format!("there is no cluster {}", seen.cluster),
        };
        refused.insert(instance.id.to_string(), why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_a_kubelet_is_in_the_name_of_its_image() {
        assert_eq!(version_in("foo-node-v1.34.0-x86_64").as_deref(), Some("v1.34.0"));
        let built = version_in("foo-node-v1.34.2-eks-113cf36-x86_64");
        assert_eq!(built.as_deref(), Some("v1.34.2-eks-113cf36"));
        assert_eq!(version_in("al2023-ami-minimal"), None);
    }
}
