//! How many instances are desired, and what desired capacity is.

use crate::desired::Size;
use crate::memory::Memory;
use foo_model::{Decrement, Group};

/// The bounds of desired capacity while an effect of our own call is unseen; otherwise both are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capacity {
    pub(crate) low: u32,
    pub(crate) high: u32,
}

/// How many instances are desired.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The desired replicas, capped at the maximum.
    pub(crate) replicas: u32,
    /// MachinePool.spec.replicas; compared with a live read before a deletion.
    pub(crate) spec_replicas: u32,
    pub(crate) max: Option<u32>,
    pub(crate) managed_by: ReplicasManagedBy,
}

/// Who manages the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplicasManagedBy {
    /// The user, by MachinePool.spec.replicas; the provider writes desired capacity.
    Replicas,
    /// Another controller, through the group; the provider never writes desired capacity.
    External { min: u32, max: u32, published: u32 },
}

impl Capacity {
    pub(super) fn of(group: Option<&Group>, memory: &Memory) -> Self {
        let seen = group.map_or(0, |group| group.sizes.desired);
        let expected = memory.ledger.desired.map_or(seen, |(expected, _)| expected);
        Self { low: seen.min(expected), high: seen.max(expected) }
    }

    /// Whether terminating one instance lowers desired capacity: yes if the rest still covers `wanted`.
    /// `None` if the two bounds disagree.
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

    /// Desired capacity without doubt.
    pub(crate) fn exactly(desired: u32) -> Self {
        Self { low: desired, high: desired }
    }
}

impl Target {
    pub(super) fn of(size: &Size, group: Option<&Group>, capacity: Capacity) -> Self {
        match *size {
            // No decision depends on it (`sizable_group`); the report uses the present size of the group.
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
                // AWS creates a group at its minimum. Afterwards the group's desired capacity is the target;
                // of two possible values the higher deletes fewer Machines.
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
