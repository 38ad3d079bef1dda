//! Failures that a test requests: impaired zones, failing launches, quotas (EC2 User Guide, "Amazon EC2 service
//! quotas": on-demand and spot instances are counted in vCPUs, by classes of types).

use super::ec2::instances::Market;
use foo_cloud::VcpuQuota;
use foo_model::{GroupName, InstanceType, Timestamp, Zone};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// State of a zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ZoneState {
    /// Everything works.
    #[default]
    Available,
    /// EC2 launches nothing there; running instances continue.
    Impaired,
    /// EC2 launches nothing there, and running instances fail their status checks.
    Unavailable,
}

impl ZoneState {
    /// EC2's name for it (EC2 API Reference, AvailabilityZone).
    pub fn name(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::Impaired => "impaired",
            Self::Unavailable => "unavailable",
        }
    }
}

/// A rule for future launches: of those that match, `skip` succeed, then `times` fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchMishap {
    /// The group; any if absent.
    #[serde(default)]
    pub group: Option<GroupName>,
    /// The zone; any if absent.
    #[serde(default)]
    pub zone: Option<Zone>,
    /// How many matching launches succeed first.
    #[serde(default)]
    pub skip: u32,
    /// How many fail after that; all further ones if absent.
    #[serde(default)]
    pub times: Option<u32>,
    /// How they fail.
    pub mishap: Mishap,
}

/// How a launch fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Mishap {
    /// EC2 refuses it with this message: the scaling activity fails.
    Refused {
        /// EC2's code.
        code: String,
        /// EC2's message.
        message: String,
    },
    /// The instance terminates instead of running.
    Dies,
    /// The instance runs, but its Node never joins.
    NeverJoins,
}

/// How a launched instance fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    Dies,
    NeverJoins,
}

/// Classes of types that share a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum QuotaClass {
    /// A, C, D, H, I, M, R, T and Z on demand.
    Standard,
    /// G and VT on demand.
    Graphics,
    /// P on demand.
    Accelerated,
    /// Everything else on demand.
    Other,
    /// The standard families as spot instances.
    SpotStandard,
    /// All other families as spot instances.
    SpotOther,
}

impl QuotaClass {
    /// The class of a type.
    pub fn of(instance_type: &InstanceType, market: Market) -> Self {
        let family: String = instance_type.as_str().chars().take_while(char::is_ascii_alphabetic).collect();
        let standard = ["a", "c", "d", "h", "i", "m", "r", "t", "z", "im", "is"].contains(&family.as_str());
        match (market, family.as_str()) {
            (Market::Spot, _) if standard => Self::SpotStandard,
            (Market::Spot, _) => Self::SpotOther,
            (Market::OnDemand, _) if standard => Self::Standard,
            (Market::OnDemand, "g" | "vt" | "gr") => Self::Graphics,
            (Market::OnDemand, "p") => Self::Accelerated,
            (Market::OnDemand, _) => Self::Other,
        }
    }

    /// The class that stands for a quota: all families have one of their own at AWS.
    pub(super) fn reported_as(quota: VcpuQuota) -> Self {
        match quota {
            VcpuQuota::Standard => Self::Standard,
            VcpuQuota::GAndVt => Self::Graphics,
            VcpuQuota::P => Self::Accelerated,
            VcpuQuota::Dl
            | VcpuQuota::F
            | VcpuQuota::HighMemory
            | VcpuQuota::Hpc
            | VcpuQuota::Inf
            | VcpuQuota::Trn
            | VcpuQuota::X => Self::Other,
            VcpuQuota::SpotStandard => Self::SpotStandard,
            VcpuQuota::SpotDl
            | VcpuQuota::SpotF
            | VcpuQuota::SpotGAndVt
            | VcpuQuota::SpotInf
            | VcpuQuota::SpotP
            | VcpuQuota::SpotP5
            | VcpuQuota::SpotTrn
            | VcpuQuota::SpotX => Self::SpotOther,
        }
    }
}

/// The requested failures of a region.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mishaps {
    pub(crate) zones: BTreeMap<Zone, ZoneState>,
    /// Zones whose instances EC2 leaves out of its responses, and until when.
    pub(crate) left_out: BTreeMap<Zone, Timestamp>,
    pub(crate) launches: Vec<LaunchMishap>,
    pub(crate) quotas: BTreeMap<QuotaClass, u32>,
}
