//! The order of the questions.

use crate::report::{Deletion, Report};
use crate::{Desired, Memory, Observed, Plan, Recorded};

/// Decides what to do next about one cluster.
///
/// Total and deterministic: the same values give the same plan, and every combination of values gives one.
pub fn plan(_desired: &Desired, _observed: &Observed, recorded: &Recorded, memory: &Memory) -> Plan {
    let report = Report {
        conditions: Vec::new(),
        cluster: None,
        addons: Vec::new(),
        upgrading: false,
        looks: Vec::new(),
        again_at: None,
        settled: false,
        deletion: Deletion::NotAsked,
    };
    Plan { actions: Vec::new(), report, record: recorded.clone(), memory: memory.clone() }
}
