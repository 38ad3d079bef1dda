//! The configuration of the VPC CNI by which Pods get addresses of the network's subnets of type `Pods`.
//!
//! The kubelets' number of Pods is not decided here: it is a setting of FooNodeConfigs, because the add-on may be
//! configured elsewhere.

use foo_api::cluster::{NetworkResource, NetworkStatus, SubnetStatus};
use serde_json::map::Entry;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// What the roles of subnets begin with, and then what the names of those for Pods begin with.
const SUBNETS: &str = "subnet/";
const FOR_PODS: &str = "pods/";

/// Adds it to what the spec has, which stays: a user can give ENIConfigs other security groups.
///
/// # Errors
///
/// What it waits for.
pub(super) fn add(
    configuration: &mut Map<String, Value>,
    network: Option<&NetworkStatus>,
    region: &str,
) -> Result<(), String> {
    let network = network.ok_or("the FooCluster's network")?;
    if let Some(missing) = missing(network) {
        return Err(format!("subnet {missing} of the FooCluster's network"));
    }
    if network.pod_subnets.is_empty() {
        return Err("subnets of type Pods, which the FooCluster's network does not have".to_owned());
    }
    merge(configuration, values(region, &network.pod_subnets));
    Ok(())
}

/// A subnet for Pods that is requested and cannot be used yet. Without it, the add-on would be configured twice, and
/// Nodes in its zone would meanwhile have no address for Pods.
fn missing(network: &NetworkStatus) -> Option<&str> {
    let usable: BTreeSet<&str> = network.pod_subnets.iter().filter_map(|it| it.name.as_deref()).collect();
    let requested = network.resources.iter().filter(|it| is_requested(it));
    let names = requested.filter_map(|it| it.role.strip_prefix(SUBNETS));
    names.filter(|name| name.starts_with(FOR_PODS)).find(|name| !usable.contains(name))
}

fn is_requested(resource: &NetworkResource) -> bool {
    !matches!(resource.state.as_str(), "Deleted" | "NotRequested")
}

/// An ENIConfig for each zone, with its name (Amazon EKS User Guide, "Deploy Pods in alternate subnets with custom
/// networking"). One without security groups leaves the VPC CNI to give an interface those of the instance's first one.
fn values(region: &str, subnets: &[SubnetStatus]) -> Map<String, Value> {
    let mut by_name: Vec<&SubnetStatus> = subnets.iter().collect();
    by_name.sort_by(|one, other| one.name.cmp(&other.name));
    let mut by_zone = Map::new();
    for subnet in by_name {
        by_zone.entry(subnet.zone.as_str()).or_insert_with(|| json!({ "id": subnet.id }));
    }
    let env = json!({
        "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true",
        "ENI_CONFIG_LABEL_DEF": "topology.kubernetes.io/zone",
    });
    let eni_config = json!({ "create": true, "region": region, "subnets": by_zone });
    [("env".to_owned(), env), ("eniConfig".to_owned(), eni_config)].into_iter().collect()
}

/// Adds values, also of objects that are there already. Other values that are there stay.
fn merge(present: &mut Map<String, Value>, added: Map<String, Value>) {
    for (key, value) in added {
        match present.entry(key) {
            Entry::Vacant(free) => drop(free.insert(value)),
            Entry::Occupied(mut there) => {
                if let (Value::Object(there), Value::Object(value)) = (there.get_mut(), value) {
                    merge(there, value);
                }
            }
        }
    }
}
