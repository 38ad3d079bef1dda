//! Instance types by their attributes instead of their names (Auto Scaling API Reference, `InstanceRequirements`). EC2
//! Auto Scaling finds the types when it launches instances.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use strum::{EnumIter, IntoStaticStr};

/// Attributes that instance types must have. What is absent has AWS's default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirements {
    /// Smallest and largest values.
    pub ranges: BTreeMap<Range, Bounds>,
    /// Allowed or excluded values.
    pub lists: BTreeMap<List, BTreeSet<String>>,
    /// What types may, must or must not have.
    pub features: BTreeMap<Feature, Inclusion>,
    /// Price protection, in percent.
    pub prices: BTreeMap<PriceLimit, u32>,
}

/// An attribute with a smallest and a largest value.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, EnumIter, IntoStaticStr,
)]
#[expect(missing_docs, reason = "the names are AWS's own (Auto Scaling API Reference, InstanceRequirements)")]
pub enum Range {
    VCpuCount,
    MemoryMiB,
    MemoryGiBPerVCpu,
    NetworkInterfaceCount,
    NetworkBandwidthGbps,
    BaselineEbsBandwidthMbps,
    TotalLocalStorageGB,
    AcceleratorCount,
    AcceleratorTotalMemoryMiB,
}

/// An attribute with a list of values.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, EnumIter, IntoStaticStr,
)]
#[expect(missing_docs, reason = "the names are AWS's own (Auto Scaling API Reference, InstanceRequirements)")]
pub enum List {
    CpuManufacturers,
    AllowedInstanceTypes,
    ExcludedInstanceTypes,
    InstanceGenerations,
    LocalStorageTypes,
    AcceleratorTypes,
    AcceleratorManufacturers,
    AcceleratorNames,
}

/// An attribute that a type has or does not have.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, EnumIter, IntoStaticStr,
)]
#[expect(missing_docs, reason = "the names are AWS's own (Auto Scaling API Reference, InstanceRequirements)")]
pub enum Feature {
    BareMetal,
    BurstablePerformance,
    LocalStorage,
}

/// Whether types with a feature are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
#[expect(missing_docs, reason = "the names are AWS's own (Auto Scaling API Reference, InstanceRequirements)")]
pub enum Inclusion {
    Included,
    Excluded,
    Required,
}

/// A threshold of price protection, in percent.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, EnumIter, IntoStaticStr,
)]
#[expect(missing_docs, reason = "the names are AWS's own (Auto Scaling API Reference, InstanceRequirements)")]
pub enum PriceLimit {
    OnDemandMaxPricePercentageOverLowestPrice,
    SpotMaxPricePercentageOverLowestPrice,
    MaxSpotPriceAsPercentageOfOptimalOnDemandPrice,
}

/// Smallest and largest value of an attribute; absent: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Smallest value.
    pub min: Option<Thousandths>,
    /// Largest value.
    pub max: Option<Thousandths>,
}

/// A number of at least zero, in thousandths: comparable, unlike AWS's floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Thousandths(u64);

/// Digits after the point.
const DIGITS: usize = 3;

impl Thousandths {
    /// A whole number.
    pub fn whole(number: u32) -> Self {
        Self(u64::from(number) * 1_000)
    }

    /// The whole number below, or the number itself.
    pub fn floor(self) -> u32 {
        u32::try_from(self.0 / 1_000).unwrap_or(u32::MAX)
    }
}

impl FromStr for Thousandths {
    type Err = std::num::ParseIntError;

    /// A decimal number; digits beyond the third after the point are cut off.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let fraction: String = fraction.chars().chain("000".chars()).take(DIGITS).collect();
        format!("{whole}{fraction}").parse().map(Self)
    }
}

impl fmt::Display for Thousandths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1_000, self.0 % 1_000);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let digits = format!("{rest:03}");
        write!(f, "{whole}.{}", digits.trim_end_matches('0'))
    }
}

impl Range {
    /// Whether AWS requires a smallest value, which may be 0.
    fn is_required(self) -> bool {
        matches!(self, Self::VCpuCount | Self::MemoryMiB)
    }
}

impl Feature {
    /// AWS's default (Auto Scaling API Reference, `InstanceRequirements`).
    pub fn default_inclusion(self) -> Inclusion {
        match self {
            Self::BareMetal | Self::BurstablePerformance => Inclusion::Excluded,
            Self::LocalStorage => Inclusion::Included,
        }
    }
}

impl PriceLimit {
    /// AWS's default, as far as AWS documents a number (Auto Scaling API Reference, `InstanceRequirements`).
    pub fn default_percentage(self) -> Option<u32> {
        match self {
            Self::OnDemandMaxPricePercentageOverLowestPrice => Some(20),
            Self::SpotMaxPricePercentageOverLowestPrice
            | Self::MaxSpotPriceAsPercentageOfOptimalOnDemandPrice => None,
        }
    }
}

impl Requirements {
    /// The same requirements without what AWS has by default. Two sets that mean the same are equal then, whether AWS returns its
    /// defaults or not.
    #[must_use]
    pub fn without_defaults(self) -> Self {
        let Self { mut ranges, mut lists, mut features, mut prices } = self;
        for (range, bounds) in &mut ranges {
            let is_none = |min: &Thousandths| *min == Thousandths::whole(0);
            bounds.min = bounds.min.filter(|min| !is_none(min));
            if range.is_required() {
                // Each type has at least one vCPU and one MiB.
                bounds.min = bounds.min.or_else(|| Some(Thousandths::whole(1)));
            }
        }
        ranges.retain(|_, bounds| *bounds != Bounds::default());
        let all_generations = || ["current", "previous"].map(str::to_owned).into();
        lists.retain(|list, values| {
            !(values.is_empty() || *list == List::InstanceGenerations && *values == all_generations())
        });
        features.retain(|feature, inclusion| *inclusion != feature.default_inclusion());
        prices.retain(|limit, percentage| limit.default_percentage() != Some(*percentage));
        Self { ranges, lists, features, prices }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        for (text, shown) in
            [("2", "2"), ("0.5", "0.5"), ("3.840", "3.84"), ("1.9999", "1.999"), ("10.05", "10.05")]
        {
            let number: Thousandths = text.parse().unwrap();
            assert_eq!(number.to_string(), shown);
        }
        assert_eq!("2.9".parse::<Thousandths>().unwrap().floor(), 2);
        assert!("x".parse::<Thousandths>().is_err());
        assert!("-1".parse::<Thousandths>().is_err());
    }

    #[test]
    fn requirements_with_and_without_defaults_of_aws_are_equal() {
        let at_least = |min| Bounds { min: Some(Thousandths::whole(min)), max: None };
        let few = Requirements {
            ranges: [(Range::VCpuCount, at_least(1)), (Range::MemoryMiB, at_least(2048))].into(),
            ..Requirements::default()
        };
        let mut all = few.clone();
        all.ranges.insert(Range::VCpuCount, at_least(0));
        all.ranges.insert(Range::AcceleratorCount, at_least(0));
        all.ranges.insert(Range::NetworkBandwidthGbps, Bounds::default());
        all.lists.insert(List::InstanceGenerations, ["previous", "current"].map(str::to_owned).into());
        all.lists.insert(List::CpuManufacturers, BTreeSet::new());
        all.features.insert(Feature::BareMetal, Inclusion::Excluded);
        all.features.insert(Feature::LocalStorage, Inclusion::Included);
        all.prices.insert(PriceLimit::OnDemandMaxPricePercentageOverLowestPrice, 20);
        assert_eq!(all.without_defaults(), few);
        let other = Requirements { features: [(Feature::BareMetal, Inclusion::Included)].into(), ..few };
        assert_eq!(other.clone().without_defaults(), other);
    }
}
