//! What will follow from a desired cluster: `forecast(&Desired, &Observed, &Recorded, &Memory) -> Forecast`, against an
//! idealized EKS ([`ideal`]). [`foo_calls::forecast`] has what that is worth.

mod ideal;

pub use foo_calls::forecast::End;
pub use ideal::{ADDON, CONFIG_UPDATE, CREATION, DELETION, VERSION_UPDATE};

use crate::memory::Memory;
use crate::report::{Condition, ConditionKind};
use crate::situation::situation;
use crate::{Action, Desired, Eks, Observed, Recorded, Report};
use foo_calls::Process;
use foo_calls::report::Status;
use foo_model::Reason;
use foo_model::eks::{Query, QueryResult};
use ideal::Ideal;
use std::collections::BTreeMap;

/// What will follow.
pub type Forecast = foo_calls::forecast::Forecast<Eks, Query, BTreeMap<Query, QueryResult>>;
/// A call.
pub type Step = foo_calls::forecast::Step<Action>;

/// What will follow from `desired`, beginning with what is `observed`, recorded and remembered.
pub fn forecast(desired: &Desired, observed: &Observed, recorded: &Recorded, memory: &Memory) -> Forecast {
    let ideal = Ideal::new(&situation(desired, observed, recorded, memory));
    let mut observed = observed.clone();
    let now = observed.now;
    // As if all that is known were read now: a list may be older than what it lists.
    observed.reads.extend(ideal.reads_of(now));
    let process = Process { record: recorded.clone(), memory: memory.clone() };
    foo_calls::forecast::forecast(ideal, desired, observed, process, now)
}

/// The conditions of a report that are not those of a cluster with nothing left to do.
pub fn remaining(report: &Report) -> impl Iterator<Item = &Condition> {
    report.conditions.iter().filter(|condition| !is_settled(condition))
}

fn is_settled(condition: &Condition) -> bool {
    match condition.kind {
        ConditionKind::ClusterReady | ConditionKind::AddonsReady | ConditionKind::AccessReady => {
            condition.status == Status::True && condition.reason.is_good()
        }
        ConditionKind::Upgrading => condition.reason == Reason::NotUpgrading,
        ConditionKind::Deleting => condition.status == Status::False,
    }
}
