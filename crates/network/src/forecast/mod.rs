//! What will follow from a desired network: `forecast(&Desired, &Observed, &Recorded, &Memory) -> Forecast`, against an
//! idealized EC2 ([`ideal`]). [`foo_calls::forecast`] has what that is worth.

mod created;
mod ideal;

pub use foo_calls::forecast::End;
pub use ideal::{ENDPOINT, NAT, PLANNED, Read};

use crate::memory::Memory;
use crate::report::{Condition, ConditionKind};
use crate::situation::situation;
use crate::{Action, Desired, Network, Observed, Recorded, Report};
use foo_calls::Process;
use foo_calls::report::Status;
use foo_model::Reason;
use foo_model::network::Parts;
use ideal::Ideal;

/// What will follow.
pub type Forecast = foo_calls::forecast::Forecast<Network, Read, Parts>;
/// A call.
pub type Step = foo_calls::forecast::Step<Action>;

/// What will follow from `desired`, beginning with what is `observed`, recorded and remembered.
pub fn forecast(desired: &Desired, observed: &Observed, recorded: &Recorded, memory: &Memory) -> Forecast {
    let ideal = Ideal::new(&situation(desired, observed, recorded, memory));
    let process = Process { record: recorded.clone(), memory: memory.clone() };
    foo_calls::forecast::forecast(ideal, desired, observed.clone(), process, observed.now)
}

/// The conditions of a report that are not those of a network with nothing left to do.
pub fn remaining(report: &Report) -> impl Iterator<Item = &Condition> {
    report.conditions.iter().filter(|condition| !is_settled(condition))
}

fn is_settled(condition: &Condition) -> bool {
    match condition.kind {
        // It says so if users changed parts, which the drift policy leaves as they are.
        ConditionKind::NetworkReady => condition.reason == Reason::NetworkAsRequested,
        ConditionKind::VpcReady
        | ConditionKind::SubnetsReady
        | ConditionKind::RoutesReady
        | ConditionKind::NatReady
        | ConditionKind::SecurityGroupsReady
        | ConditionKind::EndpointsReady => condition.status == Status::True,
        ConditionKind::Deleting => condition.status == Status::False,
    }
}
