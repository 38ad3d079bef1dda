//! Instance types and purchase options: from the spec to what is sent to EC2 Auto Scaling.

use foo_api::pool::{self as api, FooMachinePoolSpec, InstanceRequirements};
use foo_api::shared::unsigned;
use foo_cloud::InstanceTypeInfo;
use foo_model::requirements::{
    Bounds, Feature, Inclusion, List, PriceLimit, Range, Requirements, Thousandths,
};
use foo_model::{ImageId, InstanceType, InstancesMix, MixOverride, OnDemandStrategy, SpotStrategy};
use std::collections::{BTreeMap, BTreeSet};

/// The image of the arm64 types of a pool whose launch template has one for x86_64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::pool) struct Arm64 {
    /// The image.
    pub(in crate::pool) image: ImageId,
    /// The types with a name that boot it; sets of attributes have an architecture.
    pub(in crate::pool) types: BTreeSet<InstanceType>,
}

/// The mix of types, if the pool has one.
pub(in crate::pool) fn mix(spec: &FooMachinePoolSpec, arm64: Option<&Arm64>) -> Option<InstancesMix> {
    let mixed = spec.mixed_instances.as_ref()?;
    let overrides: Vec<_> = mixed.overrides.iter().filter_map(|choice| one(choice, arm64)).collect();
    let on_demand_strategy = match mixed.on_demand_strategy {
        None => OnDemandStrategy::default_for(&overrides),
        Some(api::OnDemandStrategy::Prioritized) => OnDemandStrategy::Prioritized,
        Some(api::OnDemandStrategy::LowestPrice) => OnDemandStrategy::LowestPrice,
    };
    Some(InstancesMix {
        overrides,
        on_demand_base: unsigned(mixed.on_demand_base),
        on_demand_percentage: unsigned(mixed.on_demand_percentage),
        on_demand_strategy,
        spot_strategy: match mixed.spot_strategy {
            api::SpotStrategy::PriceCapacityOptimized => SpotStrategy::PriceCapacityOptimized,
            api::SpotStrategy::CapacityOptimized => SpotStrategy::CapacityOptimized,
            api::SpotStrategy::CapacityOptimizedPrioritized => SpotStrategy::CapacityOptimizedPrioritized,
            api::SpotStrategy::LowestPrice => SpotStrategy::LowestPrice,
        },
        spot_max_price: mixed.spot_max_price.clone(),
    })
}

/// The schema has one of the two.
fn one(choice: &api::MixedInstancesOverride, arm64: Option<&Arm64>) -> Option<MixOverride> {
    let api::MixedInstancesOverride { instance_type, requirements } = choice;
    Some(match instance_type.as_deref().map(InstanceType::new) {
        Some(name) => {
            let own = arm64.filter(|arm64| arm64.types.contains(&name)).map(|arm64| arm64.image.clone());
            MixOverride::named(name, own)
        }
        None => described(requirements.as_ref()?, arm64),
    })
}

/// A set of attributes. In a pool of both architectures the manufacturers of processors exclude types of the other one: AWS does not
/// document that a set with an image of its own leads to types of this image's architecture only (decision 0034).
fn described(requirements: &InstanceRequirements, arm64: Option<&Arm64>) -> MixOverride {
    let mut attributes = attributes(requirements);
    let Some(Arm64 { image, types: _ }) = arm64 else { return MixOverride::described(attributes, None) };
    let makers = || words(requirements.manufacturers());
    attributes.lists.entry(List::CpuManufacturers).or_insert_with(makers);
    let own = (requirements.architecture() == api::ImageArchitecture::Arm64).then(|| image.clone());
    MixOverride::described(attributes, own)
}

/// The type in the launch template: the first one that the spec names and that boots the template's image.
pub(in crate::pool) fn type_of_template(
    spec: &FooMachinePoolSpec,
    arm64: Option<&Arm64>,
) -> Option<InstanceType> {
    let boots = |name: &InstanceType| arm64.is_none_or(|arm64| !arm64.types.contains(name));
    named_types(spec).into_iter().find(boots)
}

/// A type for tests: of x86_64, with one network card, and otherwise as little as possible.
#[cfg(test)]
pub(in crate::pool) fn small_type(name: &str) -> InstanceTypeInfo {
    InstanceTypeInfo {
        instance_type: name.into(),
        vcpus: 1,
        memory_mib: 1,
        nvidia_gpus: 0,
        neuron_devices: 0,
        architecture: "x86_64".to_owned(),
        network_cards: 1,
        efa_interfaces: 0,
        bandwidth_weightings: BTreeSet::new(),
        addresses: None,
        interfaces_per_card: BTreeMap::new(),
    }
}

/// The instance types that the spec names, preferred ones first.
pub(in crate::pool) fn named_types(spec: &FooMachinePoolSpec) -> Vec<InstanceType> {
    let of_mix = spec.mixed_instances.iter().flat_map(api::MixedInstances::instance_types);
    spec.instance_type.as_deref().into_iter().chain(of_mix).map(InstanceType::new).collect()
}

/// What the instance types that the spec describes by their attributes have at least.
pub(in crate::pool) fn described_types(spec: &FooMachinePoolSpec) -> impl Iterator<Item = InstanceTypeInfo> {
    let sets = spec.mixed_instances.iter().flat_map(api::MixedInstances::requirements);
    sets.enumerate().map(|(index, requirements)| {
        let api::SmallestInstance { vcpus, memory_mib, nvidia_gpus, neuron_devices, architecture } =
            requirements.smallest();
        InstanceTypeInfo {
            // Of messages: no instance type has this name.
            instance_type: InstanceType::new(format!("of mixedInstances.overrides[{index}].requirements")),
            vcpus,
            memory_mib,
            nvidia_gpus,
            neuron_devices,
            architecture: architecture.to_owned(),
            // EFA is for named types only, and AWS finds types neither by their bandwidth nor by their addresses.
            network_cards: 1,
            efa_interfaces: 0,
            bandwidth_weightings: BTreeSet::new(),
            addresses: None,
            interfaces_per_card: BTreeMap::new(),
        }
    })
}

fn attributes(requirements: &InstanceRequirements) -> Requirements {
    let InstanceRequirements {
        architecture: _, // Of the image: AWS has no such attribute.
        vcpu_count,
        memory_mib,
        memory_gib_per_vcpu,
        cpu_manufacturers,
        allowed_instance_types,
        excluded_instance_types,
        instance_generations,
        bare_metal,
        burstable_performance,
        local_storage,
        local_storage_types,
        total_local_storage_gb,
        network_interface_count,
        network_bandwidth_gbps,
        baseline_ebs_bandwidth_mbps,
        accelerator_count,
        accelerator_types,
        accelerator_manufacturers,
        accelerator_names,
        accelerator_total_memory_mib,
        on_demand_max_price_percentage_over_lowest_price,
        spot_max_price_percentage_over_lowest_price,
        max_spot_price_as_percentage_of_optimal_on_demand_price,
    } = requirements;
    // AWS allows any number by default, and the image of the pool may have no drivers.
    let no_accelerators = Bounds { min: None, max: Some(Thousandths::whole(0)) };
    let accelerators_by_default = (!requirements.names_accelerators()).then_some(no_accelerators);
    let ranges = [
        (Range::VCpuCount, Some(at_least(*vcpu_count))),
        (Range::MemoryMiB, Some(at_least(*memory_mib))),
        (Range::MemoryGiBPerVCpu, memory_gib_per_vcpu.as_ref().map(decimal)),
        (Range::NetworkInterfaceCount, network_interface_count.map(whole)),
        (Range::NetworkBandwidthGbps, network_bandwidth_gbps.as_ref().map(decimal)),
        (Range::BaselineEbsBandwidthMbps, baseline_ebs_bandwidth_mbps.map(whole)),
        (Range::TotalLocalStorageGB, total_local_storage_gb.as_ref().map(decimal)),
        (Range::AcceleratorCount, accelerator_count.map(whole).or(accelerators_by_default)),
        (Range::AcceleratorTotalMemoryMiB, accelerator_total_memory_mib.map(whole)),
    ];
    let lists = [
        (List::CpuManufacturers, words(cpu_manufacturers)),
        (List::AllowedInstanceTypes, allowed_instance_types.iter().cloned().collect()),
        (List::ExcludedInstanceTypes, excluded_instance_types.iter().cloned().collect()),
        (List::InstanceGenerations, words(instance_generations)),
        (List::LocalStorageTypes, words(local_storage_types)),
        (List::AcceleratorTypes, words(accelerator_types)),
        (List::AcceleratorManufacturers, words(accelerator_manufacturers)),
        (List::AcceleratorNames, accelerator_names.iter().cloned().collect()),
    ];
    let features = [
        (Feature::BareMetal, bare_metal),
        (Feature::BurstablePerformance, burstable_performance),
        (Feature::LocalStorage, local_storage),
    ];
    let prices = [
        (
            PriceLimit::OnDemandMaxPricePercentageOverLowestPrice,
            on_demand_max_price_percentage_over_lowest_price,
        ),
        (PriceLimit::SpotMaxPricePercentageOverLowestPrice, spot_max_price_percentage_over_lowest_price),
        (
            PriceLimit::MaxSpotPriceAsPercentageOfOptimalOnDemandPrice,
            max_spot_price_as_percentage_of_optimal_on_demand_price,
        ),
    ];
    Requirements {
        ranges: ranges.into_iter().filter_map(|(range, bounds)| Some((range, bounds?))).collect(),
        lists: lists.into(),
        features: features.into_iter().filter_map(|(it, value)| Some((it, inclusion((*value)?)))).collect(),
        prices: prices.into_iter().filter_map(|(it, value)| Some((it, unsigned((*value)?)))).collect(),
    }
    .without_defaults()
}

fn at_least(range: api::AtLeast) -> Bounds {
    whole(api::WholeRange { min: Some(range.min), max: range.max })
}

fn whole(range: api::WholeRange) -> Bounds {
    let number = |number| Thousandths::whole(unsigned(number));
    Bounds { min: range.min.map(number), max: range.max.map(number) }
}

/// The schema has decimal numbers only.
fn decimal(range: &api::DecimalRange) -> Bounds {
    let number = |text: &Option<String>| text.as_ref()?.parse().ok();
    Bounds { min: number(&range.min), max: number(&range.max) }
}

fn words<T: Copy + Into<&'static str>>(values: &[T]) -> BTreeSet<String> {
    values.iter().map(|value| (*value).into().to_owned()).collect()
}

fn inclusion(inclusion: api::Inclusion) -> Inclusion {
    match inclusion {
        api::Inclusion::Included => Inclusion::Included,
        api::Inclusion::Excluded => Inclusion::Excluded,
        api::Inclusion::Required => Inclusion::Required,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_model::MixTypes;
    use serde_json::json;

    fn mix_of(mixed: &serde_json::Value) -> InstancesMix {
        mix(&spec_of(mixed), None).unwrap()
    }

    /// The attributes of a pool with one set of these.
    fn only_set(mixed: &serde_json::Value) -> Requirements {
        let [MixOverride { types: MixTypes::Requirements(found), image: None }] =
            &mix_of(mixed).overrides[..]
        else {
            panic!("no requirements")
        };
        found.clone()
    }

    fn spec_of(mixed: &serde_json::Value) -> FooMachinePoolSpec {
        serde_json::from_value(json!({"ami": {"id": "ami-1"}, "mixedInstances": mixed})).unwrap()
    }

    #[test]
    fn arm64_types_have_their_image_and_the_launch_template_has_the_first_other_type() {
        let types = ["m7g.large", "m7i.large", "c7g.large", "m6i.large"];
        let overrides: Vec<_> = types.iter().map(|name| json!({"instanceType": name})).collect();
        let spec = spec_of(&json!({"overrides": overrides}));
        let arm64 = Arm64 { image: "ami-2".into(), types: ["m7g.large".into(), "c7g.large".into()].into() };
        let mix = mix(&spec, Some(&arm64)).unwrap();
        let images: Vec<_> =
            mix.overrides.iter().map(|it| it.image.as_ref().map(ToString::to_string)).collect();
        let own = || Some("ami-2".to_owned());
        assert_eq!(images, [own(), None, own(), None], "in the order of the spec");
        assert_eq!(type_of_template(&spec, Some(&arm64)), Some("m7i.large".into()));
        assert_eq!(type_of_template(&spec, None), Some("m7g.large".into()));
    }

    #[test]
    fn sets_of_both_architectures_lead_to_types_of_their_own_only() {
        type Set = (Option<ImageId>, Vec<String>);
        let set = |more: serde_json::Value| {
            let mut spec = json!({"vcpuCount": {"min": 2}, "memoryMiB": {"min": 4096}});
            spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({"requirements": spec})
        };
        let (x86, arm) = (set(json!({})), set(json!({"architecture": "arm64"})));
        let only_amd = set(json!({"architecture": "x86_64", "cpuManufacturers": ["amd"]}));
        let spec = spec_of(&json!({"overrides": [arm, x86, only_amd]}));
        let sets = |arm64: Option<&Arm64>| -> Vec<Set> {
            let makers = |types: &MixTypes| match types {
                MixTypes::Requirements(it) => {
                    it.lists.get(&List::CpuManufacturers).cloned().unwrap_or_default()
                }
                MixTypes::Named(name) => panic!("{name}"),
            };
            let of_mix = mix(&spec, arm64).unwrap().overrides;
            of_mix.into_iter().map(|it| (it.image, makers(&it.types).into_iter().collect())).collect()
        };
        let arm64 = Arm64 { image: "ami-2".into(), types: BTreeSet::new() };
        let of = |image: Option<&str>, makers: &[&str]| -> Set {
            (image.map(ImageId::new), makers.iter().map(|it| (*it).to_owned()).collect())
        };
        let own = of(Some("ami-2"), &["amazon-web-services"]);
        assert_eq!(sets(Some(&arm64)), [own, of(None, &["amd", "intel"]), of(None, &["amd"])]);
        let unrestricted = [of(None, &[]), of(None, &[]), of(None, &["amd"])];
        assert_eq!(sets(None), unrestricted, "with one image its architecture decides");
        assert_eq!(type_of_template(&spec, Some(&arm64)), None);
    }

    #[test]
    fn the_strategy_for_on_demand_instances_follows_from_what_there_is_to_choose_from() {
        let types = json!([{"instanceType": "m7i.large"}]);
        let attributes = json!([{"requirements": {"vcpuCount": {"min": 2}, "memoryMiB": {"min": 4096}}}]);
        let strategy =
            |overrides: &serde_json::Value| mix_of(&json!({"overrides": overrides})).on_demand_strategy;
        assert_eq!(strategy(&types), OnDemandStrategy::Prioritized);
        assert_eq!(strategy(&attributes), OnDemandStrategy::LowestPrice);
        let chosen = mix_of(&json!({"overrides": types, "onDemandStrategy": "lowest-price"}));
        assert_eq!(chosen.on_demand_strategy, OnDemandStrategy::LowestPrice);
    }

    #[test]
    fn types_with_accelerators_are_excluded_unless_an_attribute_asks_for_them() {
        let most = |more: serde_json::Value| {
            let mut spec = json!({"vcpuCount": {"min": 2}, "memoryMiB": {"min": 4096}});
            spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let mixed = json!({"overrides": [{"requirements": spec}]});
            let found = only_set(&mixed);
            found.ranges.get(&Range::AcceleratorCount).map(|it| it.max.map(Thousandths::floor))
        };
        assert_eq!(most(json!({})), Some(Some(0)));
        assert_eq!(most(json!({"acceleratorCount": {"min": 0}})), None, "any number, AWS's default");
        assert_eq!(most(json!({"acceleratorTypes": ["gpu"]})), None);
        assert_eq!(most(json!({"acceleratorCount": {"min": 1}})), Some(None));
    }

    /// An attribute that is not sent would be accepted and ignored: all that the API has are set to something that is no default.
    #[test]
    fn every_attribute_reaches_aws() {
        let some = |max: u32| json!({"min": 1, "max": max});
        let decimals = |max: &str| json!({"min": "0.5", "max": max});
        let spec = json!({"requirements": {
            "architecture": "arm64", "vcpuCount": some(2), "memoryMiB": some(3), "memoryGiBPerVCPU": decimals("4"),
            "cpuManufacturers": ["intel", "amazon-web-services"], "allowedInstanceTypes": ["m*"],
            "excludedInstanceTypes": ["c5*.*"], "instanceGenerations": ["current"], "bareMetal": "included",
            "burstablePerformance": "required", "localStorage": "required", "localStorageTypes": ["ssd"],
            "totalLocalStorageGB": decimals("8"), "networkInterfaceCount": some(5), "networkBandwidthGbps": decimals("6"),
            "baselineEBSBandwidthMbps": some(7), "acceleratorCount": some(9), "acceleratorTypes": ["gpu"],
            "acceleratorManufacturers": ["nvidia"], "acceleratorNames": ["a100"], "acceleratorTotalMemoryMiB": some(10),
            "onDemandMaxPricePercentageOverLowestPrice": 50, "spotMaxPricePercentageOverLowestPrice": 60,
            "maxSpotPriceAsPercentageOfOptimalOnDemandPrice": 70,
        }});
        let found = only_set(&json!({"overrides": [spec]}));
        let Requirements { ranges, lists, features, prices } = &found;
        assert_eq!((ranges.len(), lists.len(), features.len(), prices.len()), (9, 8, 3, 3), "{found:?}");
        // In the order of the enums.
        let most: Vec<u32> = ranges.values().map(|it| it.max.unwrap().floor()).collect();
        assert_eq!(most, [2, 3, 4, 5, 6, 7, 8, 9, 10]);
        let first: Vec<&str> = lists.values().map(|it| it.first().unwrap().as_str()).collect();
        let expected = ["amazon-web-services", "m*", "c5*.*", "current", "ssd", "gpu", "nvidia", "a100"];
        assert_eq!(first, expected);
        let features: Vec<Inclusion> = features.values().copied().collect();
        assert_eq!(features, [Inclusion::Included, Inclusion::Required, Inclusion::Required]);
        assert_eq!(prices.values().copied().collect::<Vec<_>>(), [50, 60, 70]);
    }
}
