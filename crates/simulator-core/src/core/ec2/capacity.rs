//! Placement groups, Capacity Reservations and snapshots. Resource groups and license configurations belong to other
//! services and are not simulated: EC2 takes any ARN of one.

use foo_model::network::Tags;
use foo_model::{InstanceType, Timestamp, Zone};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long before the end of a Capacity Block EC2 begins to terminate its instances (EC2 User Guide, "How Capacity Blocks work").
pub const BLOCK_INSTANCES_END_BEFORE: Duration = Duration::from_mins(30);

/// What an account has apart from instances and networks.
#[derive(Clone, Debug, Default)]
pub struct Capacity {
    /// Placement groups, by name.
    pub placement_groups: BTreeMap<String, PlacementGroup>,
    /// Capacity Reservations, by id. Cancelled ones stay.
    pub reservations: BTreeMap<String, CapacityReservation>,
    /// Snapshots, by id.
    pub snapshots: BTreeMap<String, Snapshot>,
}

/// A placement group (EC2 User Guide, "Placement groups for your Amazon EC2 instances").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementGroup {
    /// Its id.
    pub id: String,
    /// How its instances are placed.
    pub strategy: Strategy,
    /// Its tags.
    pub tags: Tags,
}

/// How the instances of a placement group are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Close together in one zone.
    Cluster,
    /// Each on hardware of its own, at most seven in a zone.
    Spread,
    /// In this number of partitions of each zone, 1 to 7.
    Partition(u32),
}

/// Capacity for instances of a type in a zone (EC2 User Guide, "Reserve compute capacity with EC2 On-Demand Capacity
/// Reservations").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapacityReservation {
    /// Type of the instances.
    pub instance_type: InstanceType,
    /// Where they are.
    pub zone: Zone,
    /// How many there can be.
    pub total: u32,
    /// Who uses it.
    pub criteria: MatchCriteria,
    /// Whether it was not cancelled.
    pub active: bool,
    /// When it has capacity, of a Capacity Block.
    pub block: Option<Period>,
    /// When it was created.
    pub created: Timestamp,
    /// Its tags.
    pub tags: Tags,
}

/// From when until when a Capacity Block is (EC2 User Guide, "Capacity Blocks for ML").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// StartDate.
    pub starts: Timestamp,
    /// EndDate.
    pub ends: Timestamp,
}

/// Which instances use a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchCriteria {
    /// All that match, unless they say otherwise.
    Open,
    /// Those that name it.
    Targeted,
}

/// A copy of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Size of the volume in GiB.
    pub size_gib: u32,
    /// Id of the volume.
    pub volume: String,
    /// What it is for.
    pub description: String,
    /// When it was created.
    pub started: Timestamp,
    /// Its tags.
    pub tags: Tags,
}

impl Period {
    /// When EC2 begins to terminate the instances.
    pub fn instances_end(self) -> Timestamp {
        self.ends.minus(BLOCK_INSTANCES_END_BEFORE)
    }
}

impl CapacityReservation {
    /// EC2's word for its state at a moment.
    pub fn state(&self, now: Timestamp) -> &'static str {
        match self.block {
            _ if !self.active => "cancelled",
            Some(period) if now < period.starts => "scheduled",
            Some(period) if now >= period.ends => "expired",
            Some(_) | None => "active",
        }
    }

    /// Whether instances can be launched in it at a moment.
    pub fn takes_launches(&self, now: Timestamp) -> bool {
        self.active && self.block.is_none_or(|it| it.starts <= now && now < it.instances_end())
    }
}

impl Strategy {
    /// EC2's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Spread => "spread",
            Self::Partition(_) => "partition",
        }
    }
}

impl MatchCriteria {
    /// EC2's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Targeted => "targeted",
        }
    }
}
