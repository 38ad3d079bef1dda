//! What AWS announced about instances: what is the case, asked by several steps. What is done about it is in
//! `steps/interrupt.rs`.

use crate::desired::{Goal, Rebalance};
use crate::memory::Round;
use crate::model::{InstanceId, Signal, SignalKind, Timestamp};
use crate::report::Heed;
use crate::rollout::{Course, room};
use crate::situation::{Member, Situation, Standing};
use crate::steps::machines::is_known;
use crate::tally::count;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Between two rounds of replacements because of recommendations. A replacement can be recommended to go as well, again and
/// again while a type is in demand; this bounds what that costs a pool. New instances are in service well before.
pub(crate) const COOL_DOWN: Duration = Duration::from_mins(10);

/// How long a recommendation is worth following. AWS does not take one back; an instance that survived an hour is no more
/// at risk than its replacement would be.
pub(crate) const ADVICE_HOLDS: Duration = Duration::from_hours(1);

/// How far each announcement is.
pub(crate) fn heeds(situation: &Situation<'_>) -> BTreeMap<InstanceId, Heed> {
    let signals = &situation.observed.signals;
    signals.iter().map(|(id, signal)| (id.clone(), heed(situation, id, *signal))).collect()
}

fn heed(situation: &Situation<'_>, id: &InstanceId, signal: Signal) -> Heed {
    if is_stale(signal, situation.observed.now) {
        return Heed::Over;
    }
    let Some(member) = situation.members.iter().find(|member| member.instance.id == *id) else {
        let claimed = situation.absentees.iter().any(|absentee| absentee.foo_machine.instance == *id);
        return match (is_known(situation), claimed) {
            (false, _) => Heed::Open,
            (true, true) => Heed::Answered,
            (true, false) => Heed::Over,
        };
    };
    let rebalance = situation.desired.interruption.rebalance;
    let is_cordoned = situation.memory.cordons.get(id).is_some_and(|cordon| cordon.done);
    let ignored = signal.kind == SignalKind::Rebalance
        && (rebalance == Rebalance::Ignore || rebalance == Rebalance::Cordon && is_cordoned)
        || situation.desired.goal != Goal::Run;
    match member.standing {
        Standing::Leaving | Standing::Ending => Heed::Answered,
        // What stands by may come back into service before it ends.
        Standing::Aside if signal.kind == SignalKind::Rebalance => Heed::Answered,
        // Our own call alone does not count: what was deleted by it must have been seen.
        _ if member.machine.is_some_and(|machine| machine.deletion.is_deleting()) => Heed::Answered,
        Standing::Released => Heed::Answered,
        _ if ignored => Heed::Answered,
        Standing::Aside
        | Standing::New
        | Standing::Unclaimed
        | Standing::Kept
        | Standing::Doomed
        | Standing::Draining
        | Standing::Undercut => Heed::Open,
    }
}

fn is_stale(signal: Signal, now: Timestamp) -> bool {
    signal.kind == SignalKind::Rebalance && signal.at.until(now) >= ADVICE_HOLDS
}

/// Instances beyond the wish that are wanted so that what is at risk can be replaced within the budgets: for those that
/// stay, and for those with the ones that go for that reason.
pub(crate) fn spare(situation: &Situation<'_>) -> (u32, u32) {
    let wanted = |many: u32| if many == 0 { 0 } else { room(situation, many) };
    let stay = count(at_risk(situation));
    let round = situation.memory.round.as_ref();
    let goes = |member: &&Member<'_>| {
        let advised = round.is_some_and(|round| round.instances.contains(&member.instance.id));
        let retires = member.is_announced(SignalKind::Retirement);
        member.standing.is_going() && (retires || advised) && is_free(situation)
    };
    let go = count(situation.members.iter().filter(goes));
    (wanted(stay), wanted(stay.saturating_add(go)))
}

/// Members that stay and are to be replaced because of an announcement, as soon as the budgets allow.
pub(crate) fn at_risk<'s, 'a>(situation: &'s Situation<'a>) -> impl Iterator<Item = &'s Member<'a>> {
    let free = is_free(situation);
    let round = situation.memory.round.as_ref();
    let rested = cool_from(situation) <= situation.observed.now;
    let is_due = move |member: &Member<'_>| match round {
        Some(round) => round.instances.contains(&member.instance.id),
        None => rested,
    };
    situation
        .members_that_are(Standing::Kept)
        .filter(move |_| free)
        .filter(|member| member.machine.is_some())
        .filter(move |member| match member.signal.map(|signal| signal.kind) {
            Some(SignalKind::Retirement) => true,
            Some(SignalKind::Rebalance) => is_due(member) && is_advised(situation, member),
            // Its Machine goes at once.
            Some(SignalKind::Interruption) | None => false,
        })
}

/// One replacement of everything at a time: a roll-out that goes on replaces them as well. What would be launched must
/// work.
fn is_free(situation: &Situation<'_>) -> bool {
    let works = match situation.rollout.course {
        Course::Finished | Course::OnDelete | Course::Paused | Course::Waiting => true,
        Course::Halted => situation.fallback.is_some(),
        Course::Preparing | Course::Rolling | Course::RollingBack => false,
    };
    situation.desired.goal == Goal::Run && situation.desired.pause.is_none() && works
}

/// The round of replacements after this pass, and when the last one ended. It is made of those that are recommended to go
/// when it begins: its end does not depend on what is recommended meanwhile.
pub(crate) fn round(situation: &Situation<'_>) -> (Option<Round>, Option<Timestamp>) {
    let memory = situation.memory;
    let last = memory.rebalanced_at;
    if situation.sizable_group().is_none() {
        return (memory.round.clone(), last);
    }
    let advised = |member: &&Member<'_>| is_advised(situation, member);
    let Some(round) = &memory.round else {
        let instances: BTreeSet<InstanceId> =
            at_risk(situation).filter(advised).map(|member| member.instance.id.clone()).collect();
        return ((!instances.is_empty()).then_some(Round { instances }), last);
    };
    let there = |id: &InstanceId| {
        let members = situation.members.iter().filter(|member| member.instance.id == *id);
        let mut open = members.filter(|member| {
            member.standing.is_going() || member.standing == Standing::Kept && is_advised(situation, member)
        });
        open.next().is_some()
    };
    if round.instances.iter().any(there) && is_free(situation) {
        return (Some(round.clone()), last);
    }
    (None, Some(situation.observed.now))
}

/// A recommendation to replace it that the pool is told to follow.
pub(crate) fn is_advised(situation: &Situation<'_>, member: &Member<'_>) -> bool {
    is_recommended(situation, member, Rebalance::Replace)
}

/// A recommendation to replace it, in a pool that does this about it.
pub(crate) fn is_recommended(situation: &Situation<'_>, member: &Member<'_>, what: Rebalance) -> bool {
    let now = situation.observed.now;
    situation.desired.interruption.rebalance == what
        && member.signal.is_some_and(|signal| signal.kind == SignalKind::Rebalance && !is_stale(signal, now))
}

/// From when on the next round may begin. A manager that has just begun does not know when its predecessor made the last
/// one.
pub(crate) fn cool_from(situation: &Situation<'_>) -> Timestamp {
    let began = situation.observed.settled_from;
    situation.memory.rebalanced_at.unwrap_or(began).max(began).plus(COOL_DOWN)
}
