//! The order of the questions.

use crate::report::{Deletion, Report};
use crate::{Desired, Memory, Observed, Plan, Recorded};

/// Decides what to do next about one network.
///
/// Total and deterministic: the same values give the same plan, and every combination of values gives one.
pub fn plan(_desired: &Desired, _observed: &Observed, recorded: &Recorded, memory: &Memory) -> Plan {
    let report = Report {
        conditions: Vec::new(),
        resources: Vec::new(),
        vpc: None,
        strangers: Vec::new(),
        looks: Vec::new(),
        wants_quotas: false,
        again_at: None,
        settled: false,
        deletion: Deletion::NotAsked,
    };
    Plan { actions: Vec::new(), report, record: recorded.clone(), memory: memory.clone() }
}
