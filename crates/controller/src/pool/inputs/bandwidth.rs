//! The bandwidth weighting of instances: one that all instance types offer.

use super::mix;
use foo_api::pool::{self as api, FooMachinePoolSpec};
use foo_cloud::InstanceTypeInfo;
use foo_model::{BandwidthWeighting, Blocked, Reason, some_names};

/// The weighting of the spec, if it differs from what instance types have anyway. Types that it describes by their attributes are not
/// checked: EC2 Auto Scaling chooses them when it launches instances.
pub(in crate::pool) fn weighting(
    spec: &FooMachinePoolSpec,
    types: &[InstanceTypeInfo],
) -> Result<Option<BandwidthWeighting>, Blocked> {
    let wanted = match spec.bandwidth_weighting {
        None | Some(api::BandwidthWeighting::Default) => return Ok(None),
        Some(api::BandwidthWeighting::Vpc1) => BandwidthWeighting::Vpc1,
        Some(api::BandwidthWeighting::Ebs1) => BandwidthWeighting::Ebs1,
    };
    let names = mix::named_types(spec);
    let mut named = types.iter().filter(|kind| names.contains(&kind.instance_type));
    match named.find(|kind| !kind.bandwidth_weightings.contains(&wanted)) {
        None => Ok(Some(wanted)),
        Some(kind) => Err(Blocked::new(Reason::BandwidthWeightingNotSupported, not_supported(wanted, kind))),
    }
}

fn not_supported(wanted: BandwidthWeighting, kind: &InstanceTypeInfo) -> String {
    let name = kind.instance_type.as_str();
    if kind.bandwidth_weightings.is_empty() {
        return format!(
            "instance type {name} does not support bandwidth weighting (spec.bandwidthWeighting)"
        );
    }
    let wanted = <&str>::from(wanted);
    let offered = some_names(kind.bandwidth_weightings.iter().map(<&str>::from));
    format!("instance type {name} does not support spec.bandwidthWeighting {wanted}; it offers {offered}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::inputs::mix::small_type;
    use foo_model::BandwidthWeighting::{Default, Ebs1, Vpc1};
    use serde_json::{Value, json};

    fn kind(name: &str, offered: &[BandwidthWeighting]) -> InstanceTypeInfo {
        InstanceTypeInfo { bandwidth_weightings: offered.iter().copied().collect(), ..small_type(name) }
    }

    /// Of a pool whose types are all there are.
    fn of(mut spec: Value) -> Result<Option<BandwidthWeighting>, String> {
        spec["ami"] = json!({"id": "ami-1"});
        let spec: FooMachinePoolSpec = serde_json::from_value(spec).unwrap();
        let known = [
            kind("all.large", &[Default, Vpc1, Ebs1]),
            kind("some.large", &[Default, Ebs1]),
            kind("none.large", &[]),
        ];
        let named = mix::named_types(&spec);
        let named = known.into_iter().filter(|it| named.contains(&it.instance_type));
        let types: Vec<_> = mix::described_types(&spec).chain(named).collect();
        weighting(&spec, &types).map_err(|blocked| blocked.message)
    }

    fn mixed(types: &[&str]) -> Value {
        let overrides: Vec<Value> = types.iter().map(|name| json!({"instanceType": name})).collect();
        json!({"mixedInstances": {"overrides": overrides}, "bandwidthWeighting": "vpc-1"})
    }

    #[test]
    fn a_pool_has_the_weighting_that_its_types_offer() {
        for (name, weighting) in [("vpc-1", Vpc1), ("ebs-1", Ebs1)] {
            let spec = json!({"instanceType": "all.large", "bandwidthWeighting": name});
            assert_eq!(of(spec), Ok(Some(weighting)));
        }
        assert_eq!(of(mixed(&["all.large"])), Ok(Some(Vpc1)));
    }

    #[test]
    fn the_default_is_what_every_type_has_and_replaces_nothing() {
        for spec in [json!({"instanceType": "none.large"}), json!({"instanceType": "all.large"})] {
            let mut named = spec.clone();
            named["bandwidthWeighting"] = json!("default");
            assert_eq!((of(spec), of(named)), (Ok(None), Ok(None)));
        }
    }

    #[test]
    fn a_type_that_does_not_offer_it_is_named_with_what_it_offers() {
        let none = "instance type none.large does not support bandwidth weighting (spec.bandwidthWeighting)";
        let spec = json!({"instanceType": "none.large", "bandwidthWeighting": "vpc-1"});
        assert_eq!(of(spec), Err(none.to_owned()));
        assert_eq!(of(mixed(&["all.large", "none.large"])), Err(none.to_owned()));
        let some = "instance type some.large does not support spec.bandwidthWeighting vpc-1; it offers default, ebs-1";
        assert_eq!(of(mixed(&["all.large", "some.large"])), Err(some.to_owned()));
    }

    #[test]
    fn what_types_with_certain_attributes_offer_is_not_known_and_not_refused() {
        let attributes = json!({"vcpuCount": {"min": 2}, "memoryMiB": {"min": 4096}});
        let spec = json!({
            "mixedInstances": {"overrides": [{"requirements": attributes}]}, "bandwidthWeighting": "ebs-1",
        });
        assert_eq!(of(spec), Ok(Some(Ebs1)));
    }
}
