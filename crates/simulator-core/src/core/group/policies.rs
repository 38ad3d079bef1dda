//! Settings of a group that its state machine acts on, read from the stored ones (Auto Scaling API Reference,
//! CreateAutoScalingGroup).

use crate::core::document::Document;
use crate::core::error::{AwsError, AwsResult};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Shortest and longest MaxInstanceLifetime, in seconds: a day and a year.
const LIFETIME: std::ops::RangeInclusive<u64> = 86_400..=31_536_000;

/// Longest DefaultInstanceWarmup in seconds (Auto Scaling User Guide, "Set the default instance warmup").
const LONGEST_WARMUP: u32 = 3_600;

/// What the stored settings of a group mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Policies {
    /// MaxInstanceLifetime.
    pub lifetime: Option<Duration>,
    /// DefaultInstanceWarmup: for how long an instance in service does not yet count as a replacement.
    pub warmup: Option<Duration>,
    /// InstanceMaintenancePolicy.
    pub maintenance: Option<HealthyRange>,
    /// `balanced-only` of AvailabilityZoneDistribution: other zones do not replace the missing capacity of a zone.
    pub balanced_only: bool,
    /// CapacityRebalance.
    pub capacity_rebalance: bool,
    /// `RetentionTriggers.TerminateHookAbandon` of InstanceLifecyclePolicy is `retain`.
    pub retains_abandoned: bool,
}

/// How far capacity may differ from desired capacity while instances are replaced, in percent of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HealthyRange {
    /// MinHealthyPercentage, 0–100.
    pub min: u32,
    /// MaxHealthyPercentage, 100–200.
    pub max: u32,
}

impl HealthyRange {
    /// A range within AWS's limits: not more than 100 points wide (API Reference, InstanceMaintenancePolicy).
    pub fn new(min: u32, max: u32) -> AwsResult<Self> {
        let fits = min <= 100 && (100..=200).contains(&max) && max - min <= 100;
        if fits {
            return Ok(Self { min, max });
        }
        Err(AwsError::validation(format!(
            "MinHealthyPercentage {min} and MaxHealthyPercentage {max} must be 0-100 and 100-200, and not more than 100 \
             apart."
        )))
    }

    /// How much capacity may exceed desired capacity, in units: at least one if any is allowed.
    pub(crate) fn surplus(self, desired: u32) -> u32 {
        if self.max == 100 { 0 } else { percent(desired, self.max - 100).max(1) }
    }

    /// How much capacity may be missing, in units: at least one if none may exceed desired capacity, because
    /// otherwise no instance could ever be replaced.
    pub(crate) fn slack(self, desired: u32) -> u32 {
        let slack = percent(desired, 100 - self.min);
        if self.max == 100 { slack.max(1) } else { slack }
    }
}

/// `percent` of a number, rounded down.
pub(crate) fn percent(of: u32, percent: u32) -> u32 {
    u32::try_from(u64::from(of) * u64::from(percent) / 100).unwrap_or(u32::MAX)
}

/// Settings as in the requests, by AWS's name.
type Stored = BTreeMap<String, Document>;

impl Policies {
    /// Reads the stored settings. A value that resets a setting (-1, a lifetime of 0) removes it from them.
    pub(crate) fn read(stored: &mut Stored) -> AwsResult<Self> {
        let distribution = ["AvailabilityZoneDistribution", "CapacityDistributionStrategy"];
        let abandoned = ["InstanceLifecyclePolicy", "RetentionTriggers", "TerminateHookAbandon"];
        Ok(Self {
            lifetime: lifetime(stored)?,
            warmup: warmup(stored)?,
            maintenance: maintenance(stored)?,
            balanced_only: second(stored, &distribution, ["balanced-best-effort", "balanced-only"])?,
            capacity_rebalance: second(stored, &["CapacityRebalance"], ["false", "true"])?,
            retains_abandoned: second(stored, &abandoned, ["terminate", "retain"])?,
        })
    }
}

fn text<'a>(stored: &'a Stored, path: &[&str]) -> Option<&'a str> {
    let (first, rest) = path.split_first()?;
    stored.get(*first)?.get_text(rest)
}

fn invalid(name: &str, value: &str) -> AwsError {
    AwsError::validation(format!("Invalid value {value} for {name}."))
}

/// Whether the second of two values is set; the first is the default.
fn second(stored: &Stored, path: &[&str], [first, second]: [&str; 2]) -> AwsResult<bool> {
    match text(stored, path) {
        None => Ok(false),
        Some(value) if value == first => Ok(false),
        Some(value) if value == second => Ok(true),
        Some(other) => Err(invalid(path.last().copied().unwrap_or_default(), other)),
    }
}

fn lifetime(stored: &mut Stored) -> AwsResult<Option<Duration>> {
    let Some(given) = text(stored, &["MaxInstanceLifetime"]) else { return Ok(None) };
    if given == "0" {
        stored.remove("MaxInstanceLifetime");
        return Ok(None);
    }
    let seconds = given.parse::<u64>().ok().filter(|seconds| LIFETIME.contains(seconds));
    seconds.map(|seconds| Some(Duration::from_secs(seconds))).ok_or_else(|| {
        AwsError::validation(format!(
            "MaxInstanceLifetime must be 0 or between {} and {} seconds.",
            LIFETIME.start(),
            LIFETIME.end()
        ))
    })
}

fn warmup(stored: &mut Stored) -> AwsResult<Option<Duration>> {
    let Some(given) = text(stored, &["DefaultInstanceWarmup"]) else { return Ok(None) };
    if given == "-1" {
        stored.remove("DefaultInstanceWarmup");
        return Ok(None);
    }
    let seconds = given.parse::<u32>().ok().filter(|seconds| *seconds <= LONGEST_WARMUP);
    let seconds = seconds.ok_or_else(|| invalid("DefaultInstanceWarmup", given))?;
    Ok(Some(Duration::from_secs(seconds.into())))
}

fn maintenance(stored: &mut Stored) -> AwsResult<Option<HealthyRange>> {
    let bound = |name| text(stored, &["InstanceMaintenancePolicy", name]);
    match (bound("MinHealthyPercentage"), bound("MaxHealthyPercentage")) {
        (None, None) => Ok(None),
        (Some("-1"), Some("-1")) => {
            stored.remove("InstanceMaintenancePolicy");
            Ok(None)
        }
        (Some(min), Some(max)) => {
            let number = |name, text: &str| text.parse::<u32>().map_err(|_| invalid(name, text));
            let (min, max) = (number("MinHealthyPercentage", min)?, number("MaxHealthyPercentage", max)?);
            HealthyRange::new(min, max).map(Some)
        }
        _ => Err(AwsError::validation(
            "InstanceMaintenancePolicy needs both MinHealthyPercentage and MaxHealthyPercentage.",
        )),
    }
}
