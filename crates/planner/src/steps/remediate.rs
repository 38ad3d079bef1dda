//! Which unhealthy Machines are replaced?
//!
//! MachineHealthCheck only marks the Machines of pools; the provider has to delete them. It ignores a Node
//! that never joins, so the provider has a timeout for that.

use crate::draft::Draft;
use crate::report::EventTrigger;
use crate::situation::{Situation, unhealthy};
use crate::steps::budget::room_to_drain;
use crate::steps::delete::delete_machine;
use foo_model::EventReason;

/// Deletes unhealthy Machines within the limits, unless too many are unhealthy.
pub(crate) fn remediate(situation: &Situation<'_>, draft: &mut Draft) {
    let rules = situation.desired.remediation;
    if !rules.enabled || situation.sizable_group().is_none() {
        return;
    }
    let unhealthy = unhealthy(situation);
    if let Some(next) = unhealthy.next {
        draft.wake_at(next);
    }
    // If there are too many Machines, the victims step deletes unhealthy ones first.
    if unhealthy.exceeds_limit(situation) || situation.counts.active > situation.target() {
        return;
    }
    let target = situation.target.replicas;
    // A replacement is in progress until its successor exists.
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
