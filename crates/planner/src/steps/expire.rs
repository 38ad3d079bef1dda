//! Which Machines are replaced because of their age?
//!
//! Within the limits of roll-outs, and with the content that all instances have: an instance that came instead of an old
//! one and fails says nothing about the content. Without agreement of the clocks no age is known (see the situation), and
//! none is a reason.

use crate::draft::Draft;
use crate::report::EventTrigger;
use crate::situation::{
    ContentState, Member, Situation, available_from, expired, is_available, next_expiry, staying,
};
use crate::steps::budget::{canary, room_to_drain};
use crate::steps::delete::delete_machine;
use foo_model::{EventReason, MachineName, Timestamp, count};
use std::collections::BTreeSet;

/// Deletes the Machines of expired instances within the limits: those that do not serve, then serving ones; the oldest
/// first.
pub(crate) fn expire(situation: &Situation<'_>, draft: &mut Draft) {
    let now = situation.observed.now;
    let next = next_expiry(situation).filter(|_| situation.knows_ages());
    if let Some(next) = next.filter(|next| *next > now) {
        draft.wake_at(next);
    }
    if situation.expiry.due == 0 || situation.expiry.hold.is_some() || situation.sizable_group().is_none() {
        return;
    }
    let due: Vec<&Member<'_>> =
        expired(situation).filter(|member| !draft.deleted.contains(&member.name)).collect();
    let names: BTreeSet<&MachineName> = due.iter().map(|member| &member.name).collect();
    let stays: Vec<&Member<'_>> =
        staying(situation).filter(|member| !draft.deleted.contains(&member.name)).collect();
    let unproven: Vec<&&Member<'_>> = stays
        .iter()
        .filter(|member| member.content == ContentState::UpToDate && !names.contains(&member.name))
        .filter(|member| !is_available(situation, member))
        .collect();
    for from in unproven.iter().filter_map(|member| available_from(situation, member)) {
        if from > now {
            draft.wake_at(from);
        }
    }
    let floor = situation.least_available();
    let mut available = count(stays.iter().filter(|member| is_available(situation, member)));
    let mut left = count(&stays).saturating_sub(count(&unproven));
    let mut room = room_to_drain(situation, draft).min(canary(situation, draft, count(&unproven)));
    let mut due: Vec<(bool, Timestamp, &Member<'_>)> = due
        .into_iter()
        .filter_map(|member| Some((is_available(situation, member), member.machine?.created, member)))
        .collect();
    due.sort_by_key(|(serves, created, member)| (*serves, *created, member.name.clone()));
    for (serves, _, member) in due {
        if room == 0 || left <= floor || serves && available <= floor {
            return;
        }
        replace(situation, member, draft);
        room -= 1;
        left -= 1;
        available -= u32::from(serves);
    }
}

fn replace(situation: &Situation<'_>, member: &Member<'_>, draft: &mut Draft) {
    let Some(lifetime) = situation.desired.rollout.max_lifetime else { return };
    let name = &member.name;
    let why = format!("its instance has reached the maximum lifetime of {lifetime}");
    let message = format!("Replacing Machine {name}: {why}: {}", member.instance.id);
    draft.event(EventTrigger::Machine(name.clone()), EventReason::InstanceExpired, message);
    delete_machine(situation, member.machine, &why, draft);
}
