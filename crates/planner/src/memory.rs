//! What a manager remembers between two passes over a pool. It may be lost at any time: a crash only costs time.

use crate::model::{InstanceId, MachineName, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Memory between passes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Effects of our own calls that have not been seen yet.
    pub ledger: Ledger,
    /// Since when there have been more Machines than wished for.
    pub excess_since: Option<Timestamp>,
    /// Since when the group has been short of the capacity it wants.
    pub short_since: Option<Timestamp>,
    /// Machines we deleted and have not yet seen deleting.
    pub deleted_machines: BTreeMap<MachineName, Timestamp>,
    /// FooMachines we made and have not yet seen.
    pub created_machines: BTreeMap<MachineName, Timestamp>,
}

/// Expected effects of our own calls on the group, until they are seen or a deadline passes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// When we last changed the group: older observations are void.
    pub changed_at: Option<Timestamp>,
    /// Desired capacity as our last call left it, and when.
    pub desired: Option<(u32, Timestamp)>,
    /// Instances we ended, and when.
    pub leaving: BTreeMap<InstanceId, Timestamp>,
}
