//! Mixed instances policies in AWS's types and in those of `foo-model`.

use crate::numbers::signed;
use aws_sdk_autoscaling::types as aws;
use foo_model::requirements::{
    Bounds, Feature, Inclusion, List, PriceLimit, Range, Requirements, Thousandths,
};
use foo_model::{InstancesMix, MixOverride, MixTypes, OnDemandStrategy, SpotStrategy};
use std::collections::BTreeSet;

/// The call that a policy is part of: only an update has earlier values to clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Create,
    Update,
}

pub(super) fn policy(
    template: aws::LaunchTemplateSpecification,
    mix: &InstancesMix,
    purpose: Purpose,
) -> aws::MixedInstancesPolicy {
    let InstancesMix {
        overrides,
        on_demand_base,
        on_demand_percentage,
        on_demand_strategy,
        spot_strategy,
        spot_max_price,
    } = mix;
    let overrides = overrides.iter().map(|MixOverride { types, image }| {
        let to = aws::LaunchTemplateOverrides::builder();
        let to = match types {
            MixTypes::Named(name) => to.instance_type(name.as_str()),
            MixTypes::Requirements(it) => to.instance_requirements(requirements(it)),
        };
        to.set_image_id(image.as_ref().map(|image| image.as_str().to_owned())).build()
    });
    // An update leaves fields that it does not contain unchanged; an empty text clears a price (Auto Scaling
    // API Reference, InstancesDistribution: SpotMaxPrice).
    let price = match (spot_max_price, purpose) {
        (Some(price), _) => Some(price.clone()),
        (None, Purpose::Update) => Some(String::new()),
        (None, Purpose::Create) => None,
    };
    let distribution = aws::InstancesDistribution::builder()
        .on_demand_allocation_strategy(<&str>::from(on_demand_strategy))
        .on_demand_base_capacity(signed(*on_demand_base))
        .on_demand_percentage_above_base_capacity(signed(*on_demand_percentage))
        .spot_allocation_strategy(spot_strategy.name())
        .set_spot_max_price(price)
        .build();
    let template = aws::LaunchTemplate::builder()
        .launch_template_specification(template)
        .set_overrides(Some(overrides.collect()))
        .build();
    aws::MixedInstancesPolicy::builder()
        .launch_template(template)
        .instances_distribution(distribution)
        .build()
}

/// The part of a policy that the model expresses: types by name or by attributes, perhaps with an image. Weights and launch templates
/// of single overrides, which another client set, are left out. Absent values are AWS's defaults (InstancesDistribution).
pub(super) fn mix(policy: &aws::MixedInstancesPolicy) -> InstancesMix {
    let overrides = policy.launch_template().map(aws::LaunchTemplate::overrides).unwrap_or_default();
    let overrides: Vec<_> = overrides.iter().filter_map(choice).collect();
    let distribution = policy.instances_distribution();
    let number = |value: Option<i32>, default: u32| {
        value.and_then(|value| u32::try_from(value).ok()).unwrap_or(default)
    };
    let of_on_demand = distribution.and_then(aws::InstancesDistribution::on_demand_allocation_strategy);
    let of_spot = distribution.and_then(aws::InstancesDistribution::spot_allocation_strategy);
    let price = distribution.and_then(aws::InstancesDistribution::spot_max_price);
    InstancesMix {
        on_demand_base: number(distribution.and_then(aws::InstancesDistribution::on_demand_base_capacity), 0),
        on_demand_percentage: number(
            distribution.and_then(aws::InstancesDistribution::on_demand_percentage_above_base_capacity),
            100,
        ),
        on_demand_strategy: of_on_demand
            .and_then(|name| name.parse().ok())
            .unwrap_or_else(|| OnDemandStrategy::default_for(&overrides)),
        spot_strategy: of_spot.and_then(SpotStrategy::from_name).unwrap_or(SpotStrategy::LowestPrice),
        spot_max_price: price.filter(|price| !price.is_empty()).map(str::to_owned),
        overrides,
    }
}

fn choice(choice: &aws::LaunchTemplateOverrides) -> Option<MixOverride> {
    let image = choice.image_id().map(Into::into);
    Some(match choice.instance_type() {
        Some(name) => MixOverride::named(name.into(), image),
        None => MixOverride::described(read(choice.instance_requirements()?), image),
    })
}

/// The AWS SDK has a type for each range.
macro_rules! range {
    ($request:ident, $bounds:expr, $number:expr) => {
        aws::$request::builder().set_min($bounds.min.map($number)).set_max($bounds.max.map($number)).build()
    };
}

/// The same the other way round.
macro_rules! bounds {
    ($range:expr) => {
        $range.map(|it| Bounds { min: thousandths(it.min()), max: thousandths(it.max()) })
    };
}

fn requirements(requirements: &Requirements) -> aws::InstanceRequirements {
    let Requirements { ranges, lists, features, prices } = requirements;
    let whole = |number: Thousandths| signed(number.floor());
    let mut to = aws::InstanceRequirements::builder();
    for (range, it) in ranges {
        to = match range {
            Range::VCpuCount => to.v_cpu_count(range!(VCpuCountRequest, it, whole)),
            Range::MemoryMiB => to.memory_mib(range!(MemoryMiBRequest, it, whole)),
            Range::MemoryGiBPerVCpu => to.memory_gib_per_v_cpu(range!(MemoryGiBPerVCpuRequest, it, decimal)),
            Range::NetworkInterfaceCount => {
                to.network_interface_count(range!(NetworkInterfaceCountRequest, it, whole))
            }
            Range::NetworkBandwidthGbps => {
                to.network_bandwidth_gbps(range!(NetworkBandwidthGbpsRequest, it, decimal))
            }
            Range::BaselineEbsBandwidthMbps => {
                to.baseline_ebs_bandwidth_mbps(range!(BaselineEbsBandwidthMbpsRequest, it, whole))
            }
            Range::TotalLocalStorageGB => {
                to.total_local_storage_gb(range!(TotalLocalStorageGbRequest, it, decimal))
            }
            Range::AcceleratorCount => to.accelerator_count(range!(AcceleratorCountRequest, it, whole)),
            Range::AcceleratorTotalMemoryMiB => {
                to.accelerator_total_memory_mib(range!(AcceleratorTotalMemoryMiBRequest, it, whole))
            }
        };
    }
    for (list, values) in lists {
        to = match list {
            List::CpuManufacturers => to.set_cpu_manufacturers(words(values)),
            List::AllowedInstanceTypes => to.set_allowed_instance_types(texts(values)),
            List::ExcludedInstanceTypes => to.set_excluded_instance_types(texts(values)),
            List::InstanceGenerations => to.set_instance_generations(words(values)),
            List::LocalStorageTypes => to.set_local_storage_types(words(values)),
            List::AcceleratorTypes => to.set_accelerator_types(words(values)),
            List::AcceleratorManufacturers => to.set_accelerator_manufacturers(words(values)),
            List::AcceleratorNames => to.set_accelerator_names(words(values)),
        };
    }
    for (feature, inclusion) in features {
        let word = <&str>::from(inclusion);
        to = match feature {
            Feature::BareMetal => to.bare_metal(word.into()),
            Feature::BurstablePerformance => to.burstable_performance(word.into()),
            Feature::LocalStorage => to.local_storage(word.into()),
        };
    }
    for (limit, percentage) in prices {
        let percentage = signed(*percentage);
        to = match limit {
            PriceLimit::OnDemandMaxPricePercentageOverLowestPrice => {
                to.on_demand_max_price_percentage_over_lowest_price(percentage)
            }
            PriceLimit::SpotMaxPricePercentageOverLowestPrice => {
                to.spot_max_price_percentage_over_lowest_price(percentage)
            }
            PriceLimit::MaxSpotPriceAsPercentageOfOptimalOnDemandPrice => {
                to.max_spot_price_as_percentage_of_optimal_on_demand_price(percentage)
            }
        };
    }
    to.build()
}

/// What the model expresses; hibernation and baseline performance, which another client set, are left out.
fn read(found: &aws::InstanceRequirements) -> Requirements {
    let ranges = [
        (Range::VCpuCount, bounds!(found.v_cpu_count())),
        (Range::MemoryMiB, bounds!(found.memory_mib())),
        (Range::MemoryGiBPerVCpu, bounds!(found.memory_gib_per_v_cpu())),
        (Range::NetworkInterfaceCount, bounds!(found.network_interface_count())),
        (Range::NetworkBandwidthGbps, bounds!(found.network_bandwidth_gbps())),
        (Range::BaselineEbsBandwidthMbps, bounds!(found.baseline_ebs_bandwidth_mbps())),
        (Range::TotalLocalStorageGB, bounds!(found.total_local_storage_gb())),
        (Range::AcceleratorCount, bounds!(found.accelerator_count())),
        (Range::AcceleratorTotalMemoryMiB, bounds!(found.accelerator_total_memory_mib())),
    ];
    let lists = [
        (List::CpuManufacturers, set(found.cpu_manufacturers(), aws::CpuManufacturer::as_str)),
        (List::AllowedInstanceTypes, set(found.allowed_instance_types(), String::as_str)),
        (List::ExcludedInstanceTypes, set(found.excluded_instance_types(), String::as_str)),
        (List::InstanceGenerations, set(found.instance_generations(), aws::InstanceGeneration::as_str)),
        (List::LocalStorageTypes, set(found.local_storage_types(), aws::LocalStorageType::as_str)),
        (List::AcceleratorTypes, set(found.accelerator_types(), aws::AcceleratorType::as_str)),
        (
            List::AcceleratorManufacturers,
            set(found.accelerator_manufacturers(), aws::AcceleratorManufacturer::as_str),
        ),
        (List::AcceleratorNames, set(found.accelerator_names(), aws::AcceleratorName::as_str)),
    ];
    let features = [
        (Feature::BareMetal, found.bare_metal().map(aws::BareMetal::as_str)),
        (Feature::BurstablePerformance, found.burstable_performance().map(aws::BurstablePerformance::as_str)),
        (Feature::LocalStorage, found.local_storage().map(aws::LocalStorage::as_str)),
    ];
    let prices = [
        (
            PriceLimit::OnDemandMaxPricePercentageOverLowestPrice,
            found.on_demand_max_price_percentage_over_lowest_price(),
        ),
        (
            PriceLimit::SpotMaxPricePercentageOverLowestPrice,
            found.spot_max_price_percentage_over_lowest_price(),
        ),
        (
            PriceLimit::MaxSpotPriceAsPercentageOfOptimalOnDemandPrice,
            found.max_spot_price_as_percentage_of_optimal_on_demand_price(),
        ),
    ];
    let inclusion = |word: Option<&str>| word?.parse::<Inclusion>().ok();
    let percentage = |number: Option<i32>| u32::try_from(number?).ok();
    Requirements {
        ranges: ranges.into_iter().filter_map(|(it, bounds)| Some((it, bounds?))).collect(),
        lists: lists.into(),
        features: features.into_iter().filter_map(|(it, word)| Some((it, inclusion(word)?))).collect(),
        prices: prices.into_iter().filter_map(|(it, number)| Some((it, percentage(number)?))).collect(),
    }
    .without_defaults()
}

fn decimal(number: Thousandths) -> f64 {
    // The text of a number with three digits is always a number.
    number.to_string().parse().unwrap_or_default()
}

/// AWS has whole and floating-point numbers.
fn thousandths(number: Option<impl std::fmt::Display>) -> Option<Thousandths> {
    number?.to_string().parse().ok()
}

fn texts(values: &BTreeSet<String>) -> Option<Vec<String>> {
    words(values)
}

fn words<T: for<'a> From<&'a str>>(values: &BTreeSet<String>) -> Option<Vec<T>> {
    (!values.is_empty()).then(|| values.iter().map(|value| value.as_str().into()).collect())
}

fn set<T>(found: &[T], name: impl Fn(&T) -> &str) -> BTreeSet<String> {
    found.iter().map(|value| name(value).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use strum::IntoEnumIterator as _;

    fn template() -> aws::LaunchTemplateSpecification {
        aws::LaunchTemplateSpecification::builder().launch_template_id("lt-1").version("3").build()
    }

    fn target(price: Option<&str>, overrides: Vec<MixOverride>) -> InstancesMix {
        InstancesMix {
            on_demand_base: 1,
            on_demand_percentage: 20,
            on_demand_strategy: OnDemandStrategy::LowestPrice,
            spot_strategy: SpotStrategy::PriceCapacityOptimized,
            spot_max_price: price.map(str::to_owned),
            overrides,
        }
    }

    /// Every attribute, with a value that is not AWS's default.
    fn all() -> Requirements {
        let half = |text: &str| Some(text.parse().unwrap());
        let bounds = |range| match range {
            Range::MemoryGiBPerVCpu | Range::NetworkBandwidthGbps | Range::TotalLocalStorageGB => {
                Bounds { min: half("0.5"), max: half("12.125") }
            }
            _ => Bounds { min: half("2"), max: half("64") },
        };
        Requirements {
            ranges: Range::iter().map(|it| (it, bounds(it))).collect(),
            lists: List::iter().map(|it| (it, ["current".to_owned(), "x".to_owned()].into())).collect(),
            features: Feature::iter().map(|it| (it, Inclusion::Required)).collect(),
            prices: PriceLimit::iter().map(|it| (it, 77)).collect(),
        }
    }

    #[test]
    fn a_policy_comes_back_as_it_went() {
        let types = ["m7i.large", "m6i.large"].map(|name| MixOverride::named(name.into(), None)).to_vec();
        let arm64 = MixOverride::named("m7g.large".into(), Some("ami-2".into()));
        let both = [types.clone(), vec![arm64]].concat();
        let sets = [None, Some("ami-2".into())].map(|image| MixOverride::described(all(), image)).to_vec();
        for overrides in [types, both, sets] {
            for price in [None, Some("0.05")] {
                for purpose in [Purpose::Create, Purpose::Update] {
                    let target = target(price, overrides.clone());
                    assert_eq!(mix(&policy(template(), &target, purpose)), target);
                }
            }
        }
    }

    #[test]
    fn what_aws_adds_by_default_is_no_difference() {
        let least = |min| aws::VCpuCountRequest::builder().min(min).build();
        let requested = aws::InstanceRequirements::builder()
            .v_cpu_count(least(2))
            .memory_mib(aws::MemoryMiBRequest::builder().min(4096).build());
        let returned = requested
            .clone()
            .bare_metal(aws::BareMetal::Excluded)
            .burstable_performance(aws::BurstablePerformance::Excluded)
            .local_storage(aws::LocalStorage::Included)
            .on_demand_max_price_percentage_over_lowest_price(20)
            .accelerator_count(aws::AcceleratorCountRequest::builder().min(0).build());
        assert_eq!(read(&returned.build()), read(&requested.build()));
    }
}
