//! Attributes that a group chooses instance types by, as a FooMachinePool has them.

use anyhow::{Context as _, Result};
use foo_api::pool::{ImageArchitecture, InstanceRequirements};
use foo_model::requirements::Thousandths;
use serde_json::{Map, Value, json};

/// AWS's name of an attribute (Auto Scaling API Reference, `InstanceRequirements`) and the API's.
const NAMES: [(&str, &str); 23] = [
    ("VCpuCount", "vcpuCount"),
    ("MemoryMiB", "memoryMiB"),
    ("MemoryGiBPerVCpu", "memoryGiBPerVCPU"),
    ("CpuManufacturers", "cpuManufacturers"),
    ("AllowedInstanceTypes", "allowedInstanceTypes"),
    ("ExcludedInstanceTypes", "excludedInstanceTypes"),
    ("InstanceGenerations", "instanceGenerations"),
    ("BareMetal", "bareMetal"),
    ("BurstablePerformance", "burstablePerformance"),
    ("LocalStorage", "localStorage"),
    ("LocalStorageTypes", "localStorageTypes"),
    ("TotalLocalStorageGB", "totalLocalStorageGB"),
    ("NetworkInterfaceCount", "networkInterfaceCount"),
    ("NetworkBandwidthGbps", "networkBandwidthGbps"),
    ("BaselineEbsBandwidthMbps", "baselineEBSBandwidthMbps"),
    ("AcceleratorCount", "acceleratorCount"),
    ("AcceleratorTypes", "acceleratorTypes"),
    ("AcceleratorManufacturers", "acceleratorManufacturers"),
    ("AcceleratorNames", "acceleratorNames"),
    ("AcceleratorTotalMemoryMiB", "acceleratorTotalMemoryMiB"),
    ("OnDemandMaxPricePercentageOverLowestPrice", "onDemandMaxPricePercentageOverLowestPrice"),
    ("SpotMaxPricePercentageOverLowestPrice", "spotMaxPricePercentageOverLowestPrice"),
    ("MaxSpotPriceAsPercentageOfOptimalOnDemandPrice", "maxSpotPriceAsPercentageOfOptimalOnDemandPrice"),
];

/// Ranges of floating-point numbers, which are texts in the API.
const DECIMALS: [&str; 3] = ["MemoryGiBPerVCpu", "NetworkBandwidthGbps", "TotalLocalStorageGB"];
/// The largest number that the API has: a larger maximum is none.
const MOST: i64 = 100_000_000;
/// Ranges of which the API requires a smallest number of at least 1, which means the same as none.
const REQUIRED: [&str; 2] = ["VCpuCount", "MemoryMiB"];

/// The attributes; those that the API does not have are named.
///
/// # Errors
/// A value has another form than in AWS's documentation.
pub(super) fn requirements(
    found: &Map<String, Value>,
    architecture: Option<&str>,
    differences: &mut Vec<String>,
) -> Result<InstanceRequirements> {
    let mut spec = Map::new();
    for (name, value) in found {
        let Some((_, field)) = NAMES.iter().find(|(aws, _)| aws == name) else {
            differences
                .push(format!("{name} of the instance requirements: a FooMachinePool does not have it"));
            continue;
        };
        let value = value.as_object().map_or_else(|| value.clone(), |bounds| range(name, bounds));
        if value != json!([]) && value != json!({}) {
            spec.insert((*field).to_owned(), value);
        }
    }
    // AWS allows any number by default, the API none.
    spec.entry("acceleratorCount").or_insert(json!({"min": 0}));
    match architecture {
        Some(name) if name == ImageArchitecture::Arm64.as_str() => {
            spec.insert("architecture".to_owned(), json!(ImageArchitecture::Arm64));
        }
        Some(_) => {}
        None => differences.push(
            "the architecture of the image cannot be read: set architecture of the requirements unless it is x86_64".to_owned(),
        ),
    }
    serde_json::from_value(Value::Object(spec)).context("the instance requirements of the group")
}

fn range(name: &str, bounds: &Map<String, Value>) -> Value {
    // The API has three digits after the point.
    let decimal =
        |value: &Value| value.to_string().parse::<Thousandths>().ok().map(|it| json!(it.to_string()));
    let number = |value: &Value| {
        let of_decimal = DECIMALS.contains(&name).then(|| decimal(value)).flatten();
        of_decimal.unwrap_or_else(|| value.clone())
    };
    let is_limit = |value: &Value| value.as_i64().is_none_or(|number| number <= MOST);
    let limits = bounds.iter().filter(|(_, value)| is_limit(value));
    let mut range: Map<String, Value> =
        limits.map(|(end, value)| (end.to_lowercase(), number(value))).collect();
    if REQUIRED.contains(&name) {
        let least = range.entry("min").or_insert(json!(1));
        if *least == json!(0) {
            *least = json!(1);
        }
    }
    Value::Object(range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_api::pool::{AtLeast, DecimalRange, Inclusion, WholeRange};
    use foo_model::requirements::{Feature, List, PriceLimit, Range};
    use std::collections::BTreeSet;
    use strum::IntoEnumIterator as _;

    /// One that the provider sends, and that is not in the table, would be named as one that a FooMachinePool does not have.
    #[test]
    fn every_attribute_that_the_provider_sends_has_a_name_in_the_api() {
        let names = Range::iter().map(<&str>::from).chain(List::iter().map(<&str>::from));
        let names =
            names.chain(Feature::iter().map(<&str>::from)).chain(PriceLimit::iter().map(<&str>::from));
        let known: BTreeSet<&str> = NAMES.into_iter().map(|(aws, _)| aws).collect();
        assert_eq!(names.collect::<BTreeSet<_>>(), known);
    }

    #[test]
    fn attributes_get_the_names_of_the_api_and_others_are_named() {
        let found = json!({
            "VCpuCount": {"Min": 0, "Max": 8}, "MemoryMiB": {"Min": 4096, "Max": 2_147_483_647_i64},
            "MemoryGiBPerVCpu": {"Min": 0.50004},
            "CpuManufacturers": [], "BareMetal": "included", "RequireHibernateSupport": true,
            "OnDemandMaxPricePercentageOverLowestPrice": 50,
        });
        let mut differences = Vec::new();
        let spec = requirements(found.as_object().unwrap(), Some("arm64"), &mut differences).unwrap();
        let expected = InstanceRequirements {
            architecture: Some(ImageArchitecture::Arm64),
            vcpu_count: AtLeast { min: 1, max: Some(8) },
            memory_mib: AtLeast { min: 4096, max: None },
            memory_gib_per_vcpu: Some(DecimalRange { min: Some("0.5".to_owned()), max: None }),
            bare_metal: Some(Inclusion::Included),
            accelerator_count: Some(WholeRange { min: Some(0), max: None }),
            on_demand_max_price_percentage_over_lowest_price: Some(50),
            ..InstanceRequirements::default()
        };
        assert_eq!(spec, expected);
        let expected =
            ["RequireHibernateSupport of the instance requirements: a FooMachinePool does not have it"];
        assert_eq!(differences, expected);
        let wrong = json!({"VCpuCount": "many", "MemoryMiB": {"Min": 1}});
        requirements(wrong.as_object().unwrap(), None, &mut Vec::new()).unwrap_err();
        let mut differences = Vec::new();
        let plain = json!({"VCpuCount": {"Min": 2}, "MemoryMiB": {"Min": 1}, "AcceleratorTypes": ["gpu"]});
        let spec = requirements(plain.as_object().unwrap(), None, &mut differences).unwrap();
        assert_eq!(spec.architecture, None);
        assert!(
            differences[0].starts_with("the architecture of the image cannot be read"),
            "{differences:?}"
        );
    }
}
