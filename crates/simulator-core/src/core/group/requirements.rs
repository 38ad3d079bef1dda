//! Selection of types by attributes instead of names (Auto Scaling API Reference, InstanceRequirements).
//!
//! Requirements on attributes that the catalogue lacks (prices, networks, EBS bandwidth, …) are refused.

use crate::core::catalogue::TypeInfo;
use crate::core::document::Document;
use crate::core::error::{AwsError, AwsResult};
use crate::core::wildcard::like;
use std::ops::RangeInclusive;

/// The supported members.
const KNOWN: [&str; 13] = [
    "AcceleratorCount",
    "AcceleratorManufacturers",
    "AcceleratorNames",
    "AcceleratorTotalMemoryMiB",
    "AllowedInstanceTypes",
    "BurstablePerformance",
    "CpuManufacturers",
    "ExcludedInstanceTypes",
    "LocalStorage",
    "MemoryGiBPerVCpu",
    "MemoryMiB",
    "TotalLocalStorageGB",
    "VCpuCount",
];

/// Validated requirements.
pub(crate) struct Requirements<'a> {
    document: &'a Document,
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
        Ok(Self {
            document,
            // Burstable types are excluded unless they are requested (API Reference, InstanceRequirements).
            burstable: wanted(document, "BurstablePerformance", Wanted::Excluded)?,
            local_storage: wanted(document, "LocalStorage", Wanted::Included)?,
        })
    }

    /// Whether a type meets them.
    pub(crate) fn meets(&self, info: &TypeInfo) -> bool {
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
        let wants_gpus = self.document.get(&["AcceleratorCount", "Min"]).is_some();
        lies("VCpuCount", vcpus)
            && lies("MemoryMiB", memory)
            && lies("MemoryGiBPerVCpu", memory / 1024.0 / vcpus.max(1.0))
            // Types with accelerators are excluded unless some are requested (API Reference, AcceleratorCount).
            && (wants_gpus || gpus.is_none())
            && lies("AcceleratorCount", count)
            && lies("AcceleratorTotalMemoryMiB", gpu_memory)
            && one_of("AcceleratorManufacturers", &|maker| gpus.is_some_and(|it| it.manufacturer.eq_ignore_ascii_case(maker)))
            && one_of("AcceleratorNames", &|model| gpus.is_some_and(|it| it.name.eq_ignore_ascii_case(model)))
            && one_of("CpuManufacturers", &|maker| maker == cpu_manufacturer(info))
            && one_of("AllowedInstanceTypes", &|pattern| like(pattern, name))
            && !excluded.iter().any(|pattern| like(pattern, name))
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
