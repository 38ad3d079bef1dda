//! What the Nodes of the story are checked for.

use super::manifest::{CLUSTER, LABEL, LINUX, REPLICAS, ROCKETS, TAINT};
use super::steps::{EksSteps, SOON_ON_EKS};
use crate::world::kinds::text;
use anyhow::{Context as _, Result, ensure};
use foo_simulator::core::ec2::instances::Market;
use serde_json::Value;
use std::collections::BTreeSet;

impl EksSteps<'_> {
    /// Waits until a pool has its Nodes, all Ready and with a kubelet of this version.
    pub(super) async fn has_nodes(&self, pool: &str, version: &str) -> Result<Vec<Value>> {
        let is_of = |node: Option<&Value>| {
            node.is_some_and(|node| text(node, "/status/nodeInfo/kubeletVersion") == version)
        };
        let pool = self.cluster().existing_pool(pool);
        let what = format!("Nodes of {version}");
        let settled = pool.wait(&what, 2 * SOON_ON_EKS, |view| {
            view.is_settled_at(REPLICAS) && view.machines.iter().all(|machine| is_of(machine.node.as_ref()))
        });
        let view = settled.await.with_context(|| {
            let refused = self.env.world.cluster_servers().refused_nodes();
            format!("refused by the API server on EKS: {refused:?}")
        })?;
        Ok(view.machines.into_iter().filter_map(|machine| machine.node).collect())
    }

    /// The instances of both pools, by id.
    pub(super) fn instances(&self) -> BTreeSet<String> {
        let aws = self.env.world.aws();
        let groups = [LINUX, ROCKETS].map(|pool| self.cluster().existing_pool(pool).group());
        let all = groups.iter().flat_map(|group| aws.instances_of(group));
        all.map(|instance| instance.id.to_string()).collect()
    }

    /// One pool is on demand; of the other one instance is, and the rest are spot.
    pub(super) fn markets_are_right(&self) -> Result<()> {
        let spot = |pool: &str| {
            let group = self.cluster().existing_pool(pool).group();
            let instances = self.env.world.aws().instances_of(&group);
            instances.iter().filter(|instance| instance.market == Market::Spot).count()
        };
        ensure!(spot(LINUX) == 0, "{} of {LINUX} are spot", spot(LINUX));
        ensure!(spot(ROCKETS) == REPLICAS - 1, "{} of {ROCKETS} are spot", spot(ROCKETS));
        self.env.info(&format!("In {CLUSTER}, {LINUX} is on demand; of {ROCKETS}, all but one are spot."));
        Ok(())
    }
}

/// The label in the FooNodeConfig is on each Node.
pub(super) fn have_label(nodes: &[Value]) -> Result<()> {
    let (key, value) = LABEL;
    let labelled = |node: &Value| {
        let labels = node.pointer("/metadata/labels").and_then(Value::as_object);
        labels.and_then(|labels| labels.get(key)).and_then(Value::as_str) == Some(value)
    };
    ensure!(!nodes.is_empty() && nodes.iter().all(labelled), "without label {key}: {nodes:#?}");
    Ok(())
}

/// The taint in the FooNodeConfig is on each Node.
pub(super) fn have_taint(nodes: &[Value]) -> Result<()> {
    let tainted = |node: &Value| {
        let taints = node.pointer("/spec/taints").and_then(Value::as_array);
        taints.into_iter().flatten().any(|taint| text(taint, "/key") == TAINT)
    };
    ensure!(!nodes.is_empty() && nodes.iter().all(tainted), "without taint {TAINT}: {nodes:#?}");
    Ok(())
}

/// The versions that a control plane reported, each once, in order.
pub(super) fn in_order(history: &[Value]) -> Vec<String> {
    let mut versions: Vec<String> = history.iter().map(|it| text(it, "/status/version").to_owned()).collect();
    versions.dedup();
    versions
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_node_without_label_or_taint_is_noticed() {
        let good = json!({
            "metadata": {"labels": {LABEL.0: LABEL.1}}, "spec": {"taints": [{"key": TAINT, "effect": "NoSchedule"}]},
        });
        assert!(
            have_label(std::slice::from_ref(&good)).is_ok()
                && have_taint(std::slice::from_ref(&good)).is_ok()
        );
        assert!(have_label(&[good.clone(), json!({})]).is_err() && have_taint(&[good, json!({})]).is_err());
        assert!(have_label(&[]).is_err() && have_taint(&[]).is_err());
    }

    #[test]
    fn a_version_that_is_reported_again_is_named_once_unless_it_came_back() {
        let history = ["a", "a", "b", "a"].map(|version| json!({"status": {"version": version}}));
        assert_eq!(in_order(&history), ["a", "b", "a"]);
    }
}
