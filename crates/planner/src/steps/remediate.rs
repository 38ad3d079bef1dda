//! Are sick Machines replaced?
//!
//! Cluster API marks what MachineHealthCheck gave up on and leaves the Machines of pools alone; nobody else acts. A Node
//! that never joins has no verdict at all.

use crate::draft::Draft;
use crate::report::EventTrigger;
use crate::situation::{Situation, unhealthy};
use crate::steps::budget::room_to_drain;
use crate::steps::delete::delete_machine;
use foo_model::EventReason;

/// Deletes sick Machines within the budget, unless too many are sick.
pub(crate) fn remediate(situation: &Situation<'_>, draft: &mut Draft) {
    let rules = situation.desired.remediation;
    if !rules.enabled || situation.sizable_group().is_none() {
        return;
    }
    let unhealthy = unhealthy(situation);
    if let Some(next) = unhealthy.next {
        draft.wake_at(next);
    }
    // With too many Machines a sick one is the first to go (see the victims step).
    if unhealthy.exceeds_limit(situation) || situation.counts.active > situation.target() {
        return;
    }
    let target = situation.target.replicas;
    // Until its successor is there a replacement is in flight.
    let missing = situation.target().saturating_sub(situation.counts.active);
    let at_once = rules.max_in_flight.up(target).max(1).saturating_sub(unhealthy.leaving.max(missing));
    let budget = at_once.min(room_to_drain(situation, draft));
    let fresh: Vec<_> =
        unhealthy.staying.into_iter().filter(|(member, _)| !draft.deleted.contains(&member.name)).collect();
    for (member, what) in fresh.into_iter().take(usize::try_from(budget).unwrap_or(usize::MAX)) {
        let message = format!("Replacing Machine {}: {what}", member.name);
        draft.event(EventTrigger::Machine(member.name.clone()), EventReason::MachineRemediated, message);
        delete_machine(situation, member.machine, &what, draft);
    }
}
