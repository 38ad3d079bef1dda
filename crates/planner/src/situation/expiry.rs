//! Which instances are too old, and whether they may be replaced now. `steps/expire.rs` acts on it.

use super::facts::Facts;
use super::member::{MachineState, Member};
use super::rollout::{Phase, Progress, marked, room};
use super::targets::is_blind;
use super::view::View;
use super::warm_pool::launches_wanted_content;
use super::window::window_hold;
use crate::desired::{Goal, Wanted};
use foo_model::{Timestamp, count, expires_at};

/// The instances of a pool that have reached their lifetime.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expiry {
    /// Expired members whose Machines are not being deleted.
    pub(crate) due: u32,
    /// Expired members that are being replaced.
    pub(crate) leaving: u32,
    /// Why none is replaced now.
    pub(crate) hold: Option<ExpiryHold>,
    /// Neither may an instance be added, nor may one be unavailable.
    pub(crate) blocked_by_limits: bool,
    /// Instances beyond the desired replicas for members that are still to be replaced.
    pub(super) surge: u32,
    /// The same, including those for members whose replacement has begun.
    pub(super) surge_retained: u32,
}

/// Why expired instances are not replaced now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpiryHold {
    /// Roll-outs are paused.
    Paused,
    /// A roll-out failed: successors would be launched from content that a user has to decide on.
    Failed,
    /// New instances are not launched from the content of the spec: it is blocked, or the group does not use it yet.
    Content,
    /// No maintenance window is open.
    Window,
    /// The health of targets is not known, and the pool asks for it.
    Health,
    /// A roll-out is under way. Only one kind of replacement runs at a time.
    RollingOut,
}

impl Expiry {
    pub(super) fn of(facts: &Facts<'_>, rollout: Progress) -> Self {
        let runs = facts.desired.goal == Goal::Run && facts.desired.pause.is_none();
        if !runs || !matches!(facts.view, View::Own(_)) {
            return Self::default();
        }
        let due = count(expired(facts));
        let is_leaving = |member: &&Member<'_>| member.state.is_leaving() && has_expired(facts, member);
        let leaving = count(facts.members.iter().filter(is_leaving));
        let hold = hold(facts, rollout.phase);
        let coming = facts.unlaunched();
        let beyond = facts.counts.active.saturating_add(coming).saturating_sub(facts.target.replicas);
        let wanted = |many: u32| match hold {
            _ if many == 0 => 0,
            // Until one instance of the content serves, it is not known to work.
            None if rollout.updated_available == 0 => room(facts, 1),
            None => room(facts, many),
            // Successors that are on their way stay. Once they serve, as many are too many, expired ones first.
            Some(ExpiryHold::Content | ExpiryHold::Window | ExpiryHold::Health) => {
                room(facts, many).min(beyond.saturating_sub(marked(facts))).min(rollout.on_their_way())
            }
            Some(ExpiryHold::Paused | ExpiryHold::Failed | ExpiryHold::RollingOut) => 0,
        };
        let unavailable = facts.desired.rollout.unavailable(facts.target.replicas);
        Self {
            due,
            leaving,
            hold,
            blocked_by_limits: due > 0 && hold.is_none() && wanted(due) == 0 && unavailable == 0,
            surge: wanted(due),
            surge_retained: wanted(due.saturating_add(leaving)),
        }
    }

    /// Whether expired instances are being replaced.
    pub(crate) fn is_replacing(self) -> bool {
        self.hold.is_none() && (self.due > 0 || self.leaving > 0)
    }
}

/// Active members that have reached their lifetime and can be drained.
pub(crate) fn expired<'s, 'a>(facts: &'s Facts<'a>) -> impl Iterator<Item = &'s Member<'a>> {
    facts
        .members_that_are(MachineState::Active)
        .filter(|member| has_expired(facts, member) && !member.cannot_be_drained())
}

/// When the next active member that can be drained reaches its lifetime, or has reached it.
pub(crate) fn next_expiry(facts: &Facts<'_>) -> Option<Timestamp> {
    let may_leave = facts.members_that_are(MachineState::Active).filter(|member| !member.cannot_be_drained());
    may_leave.filter_map(|member| end_of(facts, member)).min()
}

/// Whether a member has reached its lifetime.
pub(crate) fn has_expired(facts: &Facts<'_>, member: &Member<'_>) -> bool {
    facts.knows_ages() && end_of(facts, member).is_some_and(|end| end <= facts.observed.now)
}

/// When a member reaches its lifetime. It begins with the creation of its Machine: that of an adopted instance is younger than
/// the instance.
fn end_of(facts: &Facts<'_>, member: &Member<'_>) -> Option<Timestamp> {
    let lifetime = facts.desired.rollout.max_lifetime?;
    Some(expires_at(member.machine?.created, lifetime, &member.instance.id))
}

fn hold(facts: &Facts<'_>, phase: Phase) -> Option<ExpiryHold> {
    if facts.desired.rollout.paused.is_some() {
        return Some(ExpiryHold::Paused);
    }
    if facts.content.failed_target.is_some() {
        return Some(ExpiryHold::Failed);
    }
    match phase {
        Phase::Rolling | Phase::RollingBack | Phase::Preparing => Some(ExpiryHold::RollingOut),
        Phase::Paused => Some(ExpiryHold::Paused),
        Phase::Halted => Some(ExpiryHold::Failed),
        Phase::Finished | Phase::OnDelete | Phase::Waiting => {
            let ready = matches!(facts.desired.template, Wanted::Ready(_)) && launches_wanted_content(facts);
            if !ready {
                return Some(ExpiryHold::Content);
            }
            if window_hold(facts).is_some() {
                return Some(ExpiryHold::Window);
            }
            is_blind(facts).then_some(ExpiryHold::Health)
        }
    }
}
