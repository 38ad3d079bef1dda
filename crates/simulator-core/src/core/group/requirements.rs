//! Selection of types by attributes instead of names (Auto Scaling API Reference, InstanceRequirements).
//!
//! Requirements on attributes that the catalogue lacks (network interfaces, bandwidth of networks and EBS, hibernation) are
//! refused.

use crate::core::catalogue::TypeInfo;
use crate::core::document::Document;
use crate::core::ec2::instances::Market;
use crate::core::error::{AwsError, AwsResult};
use crate::core::wildcard::like;
use foo_model::requirements::PriceLimit;
use std::ops::RangeInclusive;

/// The supported members.
const KNOWN: [&str; 20] = [
    "AcceleratorCount",
    "AcceleratorManufacturers",
    "AcceleratorNames",
    "AcceleratorTotalMemoryMiB",
    "AcceleratorTypes",
    "AllowedInstanceTypes",
    "BareMetal",
    "BurstablePerformance",
    "CpuManufacturers",
    "ExcludedInstanceTypes",
    "InstanceGenerations",
    "LocalStorage",
    "LocalStorageTypes",
    SPOT_SHARE,
    "MemoryGiBPerVCpu",
    "MemoryMiB",
    ON_DEMAND_LIMIT,
    SPOT_LIMIT,
    "TotalLocalStorageGB",
    "VCpuCount",
];

const ON_DEMAND_LIMIT: &str = "OnDemandMaxPricePercentageOverLowestPrice";
const SPOT_LIMIT: &str = "SpotMaxPricePercentageOverLowestPrice";
const SPOT_SHARE: &str = "MaxSpotPriceAsPercentageOfOptimalOnDemandPrice";

/// Validated requirements.
pub(crate) struct Requirements<'a> {
    document: &'a Document,
    bare_metal: Wanted,
    burstable: Wanted,
    local_storage: Wanted,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Included,
    Excluded,
    Required,
}

impl<'a> Requirements<'a> {
    /// Checks requirements.
    ///
    /// # Errors
    /// A required member is missing, is not a number, or is not supported.
    pub(crate) fn read(document: &'a Document) -> AwsResult<Self> {
        let Document::Map(members) = document else {
            return Err(AwsError::missing("VCpuCount"));
        };
        if let Some(unknown) = members.keys().find(|name| !KNOWN.contains(&name.as_str())) {
            return Err(AwsError::validation(format!("InstanceRequirements.{unknown} is not simulated.")));
        }
        for required in ["VCpuCount", "MemoryMiB"] {
            if document.get_text(&[required, "Min"]).is_none() {
                return Err(AwsError::missing(format!("InstanceRequirements.{required}.Min")));
            }
        }
        for range in
            ["VCpuCount", "MemoryMiB", "MemoryGiBPerVCpu", "AcceleratorCount", "AcceleratorTotalMemoryMiB"]
        {
            bounds(document, range)?;
        }
        bounds(document, "TotalLocalStorageGB")?;
        for limit in [ON_DEMAND_LIMIT, SPOT_LIMIT, SPOT_SHARE] {
            percentage(document, limit)?;
        }
        for [one, other] in [["AllowedInstanceTypes", "ExcludedInstanceTypes"], [SPOT_LIMIT, SPOT_SHARE]] {
            if document.get(&[one]).is_some() && document.get(&[other]).is_some() {
                return Err(AwsError::validation(format!(
                    "InstanceRequirements can have either {one} or {other}, not both."
                )));
            }
        }
        Ok(Self {
            document,
            bare_metal: wanted(document, "BareMetal", Wanted::Excluded)?,
            // Burstable types are excluded unless they are requested (API Reference, InstanceRequirements).
            burstable: wanted(document, "BurstablePerformance", Wanted::Excluded)?,
            local_storage: wanted(document, "LocalStorage", Wanted::Included)?,
        })
    }

    /// The types that meet them and are not too expensive for a market (API Reference, InstanceRequirements: "Price protection").
    /// What AWS does for spot instances without a threshold is not documented: nothing is too expensive then.
    pub(crate) fn choose<'t>(
        &self,
        types: impl Iterator<Item = &'t TypeInfo>,
        market: Market,
    ) -> Vec<&'t TypeInfo> {
        let mut found: Vec<_> = types.filter(|info| self.meets(info)).collect();
        let cheapest = |fits: fn(&TypeInfo) -> bool| {
            found.iter().copied().filter(|info| fits(info)).min_by_key(|info| info.price())
        };
        let reference = cheapest(|info| info.is_current() && info.is_common())
            .or_else(|| cheapest(TypeInfo::is_current))
            .or_else(|| cheapest(|_| true));
        let Some(reference) = reference else { return found };
        let limit = |name| percentage(self.document, name).ok().flatten();
        let over = |price: u64, percent: u64| price.saturating_mul(percent.saturating_add(100)) / 100;
        match market {
            Market::OnDemand => {
                let default = PriceLimit::OnDemandMaxPricePercentageOverLowestPrice.default_percentage();
                if let Some(percent) = limit(ON_DEMAND_LIMIT).or_else(|| default.map(u64::from)) {
                    let most = over(reference.price(), percent);
                    found.retain(|info| info.price() <= most);
                }
            }
            Market::Spot => {
                let by_spot = limit(SPOT_LIMIT).map(|percent| over(reference.spot_price(), percent));
                let by_on_demand =
                    limit(SPOT_SHARE).map(|percent| reference.price().saturating_mul(percent) / 100);
                if let Some(most) = by_spot.or(by_on_demand) {
                    found.retain(|info| info.spot_price() <= most);
                }
            }
        }
        found
    }

    fn meets(&self, info: &TypeInfo) -> bool {
        let lies = |name: &str, value: f64| {
            bounds(self.document, name).ok().flatten().is_none_or(|range| range.contains(&value))
        };
        let has = |wanted: Wanted, there: bool| match wanted {
            Wanted::Included => true,
            Wanted::Excluded => !there,
            Wanted::Required => there,
        };
        let one_of = |name: &str, fits: &dyn Fn(&str) -> bool| {
            let allowed = self.document.get_texts(&[name]);
            allowed.is_empty() || allowed.iter().any(|it| fits(it))
        };
        let name = info.name.as_str();
        let gpus = info.gpu.as_ref();
        let (vcpus, memory) = (f64::from(info.vcpus), mebibytes(info.memory_mib));
        let count = gpus.map_or(0.0, |gpu| f64::from(gpu.count));
        let gpu_memory = gpus.map_or(0.0, |gpu| f64::from(gpu.memory_mib)) * count;
        let disk = info.disks.map_or(0.0, |disks| f64::from(disks.count) * mebibytes(disks.size_gb));
        let excluded = self.document.get_texts(&["ExcludedInstanceTypes"]);
        lies("VCpuCount", vcpus)
            && lies("MemoryMiB", memory)
            && lies("MemoryGiBPerVCpu", memory / 1024.0 / vcpus.max(1.0))
            && lies("AcceleratorCount", count)
            && lies("AcceleratorTotalMemoryMiB", gpu_memory)
            && one_of("AcceleratorManufacturers", &|maker| gpus.is_some_and(|it| it.manufacturer.eq_ignore_ascii_case(maker)))
            && one_of("AcceleratorNames", &|model| gpus.is_some_and(|it| it.name.eq_ignore_ascii_case(model)))
            && one_of("CpuManufacturers", &|maker| maker == cpu_manufacturer(info))
            && one_of("AllowedInstanceTypes", &|pattern| like(pattern, name))
            && !excluded.iter().any(|pattern| like(pattern, name))
            && one_of("AcceleratorTypes", &|kind| kind == "gpu" && gpus.is_some())
            && one_of("InstanceGenerations", &|generation| (generation == "current") == info.is_current())
            // All local disks of the catalogue are SSDs.
            && one_of("LocalStorageTypes", &|kind| kind == "ssd" && info.disks.is_some())
            && has(self.bare_metal, info.is_metal())
            && has(self.burstable, info.burstable)
            && has(self.local_storage, info.disks.is_some())
            && lies("TotalLocalStorageGB", disk)
    }
}

/// Sizes in MiB are small enough to be exact as floating-point numbers.
fn mebibytes(size: u64) -> f64 {
    u32::try_from(size).map_or(f64::INFINITY, f64::from)
}

fn bounds(document: &Document, name: &str) -> AwsResult<Option<RangeInclusive<f64>>> {
    let number = |end: &str, default: f64| match document.get_text(&[name, end]) {
        None => Ok(default),
        Some(text) => text.parse::<f64>().map_err(|_| {
            AwsError::validation(format!("Invalid value {text} for InstanceRequirements.{name}.{end}."))
        }),
    };
    if document.get(&[name]).is_none() {
        return Ok(None);
    }
    Ok(Some(number("Min", 0.0)?..=number("Max", f64::INFINITY)?))
}

fn percentage(document: &Document, name: &str) -> AwsResult<Option<u64>> {
    let Some(text) = document.get_text(&[name]) else { return Ok(None) };
    text.parse()
        .map(Some)
        .map_err(|_| AwsError::validation(format!("Invalid value {text} for InstanceRequirements.{name}.")))
}

fn wanted(document: &Document, name: &str, default: Wanted) -> AwsResult<Wanted> {
    match document.get_text(&[name]) {
        None => Ok(default),
        Some("included") => Ok(Wanted::Included),
        Some("excluded") => Ok(Wanted::Excluded),
        Some("required") => Ok(Wanted::Required),
        Some(other) => {
            Err(AwsError::validation(format!("Invalid value {other} for InstanceRequirements.{name}.")))
        }
    }
}

/// From the letters after the generation's number: `g` is AWS, `a` is AMD (EC2 User Guide, "Instance type naming
/// conventions").
fn cpu_manufacturer(info: &TypeInfo) -> &'static str {
    let family = info.name.as_str().split('.').next().unwrap_or_default();
    let options = family.trim_start_matches(|c: char| !c.is_ascii_digit());
    if info.architecture == "arm64" {
        "amazon-web-services"
    } else if options.contains('a') {
        "amd"
    } else {
        "intel"
    }
}
