//! How many instances are wanted, and how many desired capacity asks for.

use crate::desired::Size;
use crate::memory::Memory;
use foo_model::{Decrement, Group};

/// Desired capacity between the two values that it may have while an effect of ours is unseen. Equal otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capacity {
    pub(crate) low: u32,
    pub(crate) high: u32,
}

/// How many instances are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The desired replicas within its ceiling.
    pub(crate) replicas: u32,
    /// The desired replicas as it is written in the MachinePool: what a live re-read is compared with.
    pub(crate) spec_replicas: u32,
    pub(crate) max: Option<u32>,
    pub(crate) managed_by: ReplicasManagedBy,
}

/// Who decides on the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplicasManagedBy {
    /// MachinePool.spec.replicas; we write desired capacity.
    Replicas,
    /// Somebody else through the group; we never write desired capacity.
    External { min: u32, max: u32, published: u32 },
}

impl Capacity {
    pub(super) fn of(group: Option<&Group>, memory: &Memory) -> Self {
        let seen = group.map_or(0, |group| group.sizes.desired);
        let expected = memory.ledger.desired.map_or(seen, |(expected, _)| expected);
        Self { low: seen.min(expected), high: seen.max(expected) }
    }

    /// Whether ending one instance shall lower desired capacity: yes when what is left is still what is wanted.
    /// `None` when the two values it may have disagree.
    pub(crate) fn decrement(self, wanted: u32, min: u32) -> Option<Decrement> {
        let shrinks = |desired: u32| desired > wanted && desired > min;
        match (shrinks(self.low), shrinks(self.high)) {
            (true, true) => Some(Decrement::Shrink),
            (false, false) => Some(Decrement::Replace),
            (true, false) | (false, true) => None,
        }
    }

    pub(crate) fn less_one(self) -> Self {
        Self { low: self.low.saturating_sub(1), high: self.high.saturating_sub(1) }
    }

    /// Known exactly.
    pub(crate) fn exactly(desired: u32) -> Self {
        Self { low: desired, high: desired }
    }
}

impl Target {
    pub(super) fn of(size: &Size, group: Option<&Group>, capacity: Capacity) -> Self {
        match *size {
            // Not decided on (`sizable_group`); for the report the group is what it should be.
            Size::Unknown => Self {
                replicas: capacity.high,
                spec_replicas: capacity.high,
                max: None,
                managed_by: ReplicasManagedBy::Replicas,
            },
            Size::Replicas { wanted, ceiling } => Self {
                replicas: ceiling.map_or(wanted, |ceiling| wanted.min(ceiling)),
                spec_replicas: wanted,
                max: ceiling,
                managed_by: ReplicasManagedBy::Replicas,
            },
            Size::External { min, max, published } => {
                // Before there is a group, AWS would start it at its minimum. Afterwards the group's desired
                // capacity is the desired replicas; of two values the higher takes fewer Machines away.
                let size = if group.is_some() { capacity.high } else { min };
                Self {
                    replicas: size,
                    spec_replicas: size,
                    max: Some(max),
                    managed_by: ReplicasManagedBy::External { min, max, published },
                }
            }
        }
    }
}
