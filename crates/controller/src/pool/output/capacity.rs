//! What one Node of a pool offers, for scaling from zero: cluster-autoscaler reads `status.capacity` and
//! `status.nodeInfo` of the FooMachinePool when no Node exists yet.

use foo_api::pool::NodeInfo;
use foo_cloud::InstanceTypeInfo;
use std::collections::BTreeMap;

/// Capacity and node information of a pool with these types: of each resource the smallest amount, so that
/// the autoscaler never plans more onto a Node than the smallest type can take. No node information if they have several
/// architectures. `None` without a type.
///
/// The values are strings: with a single number the autoscaler would drop the whole group.
///
/// `efa` is the number of Elastic Fabric Adapter interfaces, which their device plugin for Kubernetes counts.
pub(in crate::pool) fn capacity(
    types: &[InstanceTypeInfo],
    efa: Option<u32>,
) -> Option<(BTreeMap<String, String>, Option<NodeInfo>)> {
    let first = go_architecture(&types.first()?.architecture);
    let common = types.iter().all(|kind| go_architecture(&kind.architecture) == first);
    let least = |amount: fn(&InstanceTypeInfo) -> u64| types.iter().map(amount).min().unwrap_or(0);
    let mut capacity = BTreeMap::from([
        ("cpu".to_owned(), least(|t| u64::from(t.vcpus)).to_string()),
        ("memory".to_owned(), format!("{}Mi", least(|t| t.memory_mib))),
    ]);
    let gpus = least(|t| u64::from(t.nvidia_gpus));
    if gpus > 0 {
        capacity.insert("nvidia.com/gpu".to_owned(), gpus.to_string());
    }
    if let Some(efa) = efa {
        capacity.insert("vpc.amazonaws.com/efa".to_owned(), efa.to_string());
    }
    let info = || NodeInfo { architecture: first.to_owned(), operating_system: "linux".to_owned() };
    Some((capacity, common.then(info)))
}

/// Go's name of an architecture that has another name in AWS.
fn go_architecture(aws: &str) -> &str {
    match aws {
        "x86_64" | "x86_64_mac" => "amd64",
        "arm64_mac" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::inputs::mix::small_type;

    fn kind(vcpus: u32, memory_mib: u64, nvidia_gpus: u32) -> InstanceTypeInfo {
        InstanceTypeInfo { vcpus, memory_mib, nvidia_gpus, ..small_type("x") }
    }

    #[test]
    fn a_mix_offers_the_least_of_each_resource() {
        let (capacity, info) = capacity(&[kind(4, 8192, 1), kind(2, 16384, 1)], None).unwrap();
        assert_eq!(capacity.get("cpu").unwrap(), "2");
        assert_eq!(capacity.get("memory").unwrap(), "8192Mi");
        assert_eq!(capacity.get("nvidia.com/gpu").unwrap(), "1");
        assert_eq!(info.unwrap().architecture, "amd64");
    }

    #[test]
    fn a_mix_of_both_architectures_promises_neither() {
        let arm64 = InstanceTypeInfo { architecture: "arm64".into(), ..kind(4, 8192, 0) };
        let info = |types: &[InstanceTypeInfo]| capacity(types, None).unwrap().1;
        assert_eq!(info(&[kind(4, 8192, 0), arm64.clone()]), None);
        let common = NodeInfo { architecture: "arm64".to_owned(), operating_system: "linux".to_owned() };
        assert_eq!(info(&[arm64.clone(), arm64]), Some(common));
    }

    #[test]
    fn a_mix_with_a_type_without_gpu_promises_none() {
        let (capacity, _) = capacity(&[kind(4, 8192, 1), kind(4, 8192, 0)], None).unwrap();
        assert!(!capacity.contains_key("nvidia.com/gpu"));
    }
}
