//! Parts that AWS could not create: the planner remembers the failure, deletes the part, and creates it again after a pause that
//! grows with each failure.

use crate::draft::{Draft, Weight};
use crate::memory::PartFailure;
use crate::role::Role;
use crate::situation::Situation;
use foo_calls::Backoff;
use foo_model::Reason;

/// Between the failure of a part and the next attempt: doubled with each failure in a row, at most 16 minutes.
const AFTER_FAILURE: Backoff = Backoff::seconds(30, 960);

/// Remembers that a part failed, and reports it.
pub(crate) fn note(
    situation: &Situation<'_>,
    draft: &mut Draft,
    role: &Role,
    id: &str,
    reason: Reason,
    words: &str,
) {
    let message = format!("{id} failed: {words}");
    let before = draft.memory.part_failures.get(role);
    if before.is_none_or(|it| it.id != id) {
        let times = before.map_or(0, |it| it.times).saturating_add(1);
        let failure =
            PartFailure { id: id.to_owned(), times, at: situation.now, reason, message: message.clone() };
        draft.memory.part_failures.insert(role.clone(), failure);
    }
    draft.incomplete(role, "");
    draft.note(role, Weight::Failed, reason, message);
}

/// The part works: the pause after its next failure is the shortest again.
pub(crate) fn forget(draft: &mut Draft, role: &Role) {
    draft.memory.part_failures.remove(role);
}

/// Whether it is too early for another attempt. Reports what AWS said about the last one.
pub(crate) fn is_waited_for(situation: &Situation<'_>, draft: &mut Draft, role: &Role) -> bool {
    let Some(failure) = situation.memory.part_failures.get(role) else { return false };
    let until = failure.at.plus(AFTER_FAILURE.after(failure.times));
    draft.note(role, Weight::Failed, failure.reason, failure.message.clone());
    if until > situation.now {
        draft.wake_at(until);
    }
    until > situation.now
}
