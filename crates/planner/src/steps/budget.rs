//! The limits that several steps share.

use crate::draft::Draft;
use crate::situation::{MachineState, Situation};
use foo_model::count;

/// How many more Machines may start to drain. All causes share one limit, including terminations by AWS.
pub(crate) fn room_to_drain(situation: &Situation<'_>, draft: &Draft) -> u32 {
    let taken = situation.members_that_are(MachineState::Terminating).filter(|member| {
        member.waits_for_hook() && member.machine.is_some_and(|machine| !machine.releases_instance())
    });
    let drains = situation.counts.draining.saturating_add(count(taken)).saturating_add(count(&draft.deleted));
    situation.desired.scale_in.max_concurrent_drains.max(1).saturating_sub(drains)
}

/// Until one instance of the content that is launched is available, one is replaced at a time. `unproven`: those that may
/// become available.
pub(crate) fn canary(situation: &Situation<'_>, draft: &Draft, unproven: u32) -> u32 {
    if situation.rollout.updated_available > 0 {
        return u32::MAX;
    }
    let under_way = unproven
        .saturating_add(situation.counts.departing)
        .saturating_add(situation.unlaunched())
        .saturating_add(count(&draft.deleted));
    1_u32.saturating_sub(under_way)
}
