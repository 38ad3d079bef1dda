//! What AWS announced about instances, and whom it puts at risk. What is done about it is in `steps/interrupt.rs`.

use super::facts::Facts;
use super::member::{Member, Standing};
use super::rollout::{Course, Standpoint, room};
use crate::desired::{Goal, Rebalance};
use crate::memory::Round;
use crate::report::Heed;
use foo_model::signal::{ADVICE_HOLDS, COOL_DOWN};
use foo_model::{InstanceId, Signal, SignalKind, Timestamp, count};
use std::collections::{BTreeMap, BTreeSet};

/// How far each announcement is.
pub(crate) fn heeds(facts: &Facts<'_>) -> BTreeMap<InstanceId, Heed> {
    let signals = &facts.observed.signals;
    signals.iter().map(|(id, signal)| (id.clone(), heed(facts, id, *signal))).collect()
}

fn heed(facts: &Facts<'_>, id: &InstanceId, signal: Signal) -> Heed {
    if is_stale(signal, facts.observed.now) {
        return Heed::Over;
    }
    let Some(member) = facts.members.iter().find(|member| member.instance.id == *id) else {
        let claimed = facts.absentees.iter().any(|absentee| absentee.foo_machine.instance == *id);
        return match (facts.knows_members(), claimed) {
            (false, _) => Heed::Open,
            (true, true) => Heed::Answered,
            (true, false) => Heed::Over,
        };
    };
    let rebalance = facts.desired.interruption.rebalance;
    let is_cordoned = facts.memory.cordons.get(id).is_some_and(|cordon| cordon.done);
    let ignored = signal.kind == SignalKind::Rebalance
        && (rebalance == Rebalance::Ignore || rebalance == Rebalance::Cordon && is_cordoned)
        || facts.desired.goal != Goal::Run;
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

/// Instances beyond the wish that are wanted so that what is at risk can be replaced within the budgets.
pub(super) struct Spare {
    /// For those that stay.
    pub(super) wanted: u32,
    /// For those, and for the ones that go for that reason.
    pub(super) held: u32,
}

impl Spare {
    pub(super) fn of(facts: &Facts<'_>, rollout: Standpoint) -> Self {
        let wanted = |many: u32| if many == 0 { 0 } else { room(facts, many) };
        let stay = count(at_risk(facts, rollout));
        let round = facts.memory.round.as_ref();
        let goes = |member: &&Member<'_>| {
            let advised = round.is_some_and(|round| round.instances.contains(&member.instance.id));
            let retires = member.is_announced(SignalKind::Retirement);
            member.standing.is_going() && (retires || advised) && is_free(facts, rollout)
        };
        let go = count(facts.members.iter().filter(goes));
        Self { wanted: wanted(stay), held: wanted(stay.saturating_add(go)) }
    }
}

/// Members that stay and are to be replaced because of an announcement, as soon as the budgets allow.
pub(crate) fn at_risk<'s, 'a>(
    facts: &'s Facts<'a>,
    rollout: Standpoint,
) -> impl Iterator<Item = &'s Member<'a>> {
    let free = is_free(facts, rollout);
    let round = facts.memory.round.as_ref();
    let rested = cool_from(facts) <= facts.observed.now;
    let is_due = move |member: &Member<'_>| match round {
        Some(round) => round.instances.contains(&member.instance.id),
        None => rested,
    };
    facts
        .members_that_are(Standing::Kept)
        .filter(move |_| free)
        .filter(|member| member.machine.is_some())
        .filter(move |member| match member.signal.map(|signal| signal.kind) {
            Some(SignalKind::Retirement) => true,
            Some(SignalKind::Rebalance) => is_due(member) && is_advised(facts, member),
            // Its Machine goes at once.
            Some(SignalKind::Interruption) | None => false,
        })
}

/// One replacement of everything at a time: a roll-out that goes on replaces them as well. What would be launched must
/// work.
fn is_free(facts: &Facts<'_>, rollout: Standpoint) -> bool {
    let works = match rollout.course {
        Course::Finished | Course::OnDelete | Course::Paused | Course::Waiting => true,
        Course::Halted => facts.content.fallback.is_some(),
        Course::Preparing | Course::Rolling | Course::RollingBack => false,
    };
    facts.desired.goal == Goal::Run && facts.desired.pause.is_none() && works
}

/// The round of replacements after this pass, and when the last one ended. It is made of those that are recommended to go
/// when it begins: its end does not depend on what is recommended meanwhile.
pub(crate) fn round(facts: &Facts<'_>, rollout: Standpoint) -> (Option<Round>, Option<Timestamp>) {
    let memory = facts.memory;
    let last = memory.rebalanced_at;
    if facts.sizable_group().is_none() {
        return (memory.round.clone(), last);
    }
    let advised = |member: &&Member<'_>| is_advised(facts, member);
    let Some(round) = &memory.round else {
        let instances: BTreeSet<InstanceId> =
            at_risk(facts, rollout).filter(advised).map(|member| member.instance.id.clone()).collect();
        return ((!instances.is_empty()).then_some(Round { instances }), last);
    };
    let there = |id: &InstanceId| {
        let members = facts.members.iter().filter(|member| member.instance.id == *id);
        let mut open = members.filter(|member| {
            member.standing.is_going() || member.standing == Standing::Kept && is_advised(facts, member)
        });
        open.next().is_some()
    };
    if round.instances.iter().any(there) && is_free(facts, rollout) {
        return (Some(round.clone()), last);
    }
    (None, Some(facts.observed.now))
}

/// A recommendation to replace it that the pool is told to follow.
pub(crate) fn is_advised(facts: &Facts<'_>, member: &Member<'_>) -> bool {
    is_recommended(facts, member, Rebalance::Replace)
}

/// A recommendation to replace it, in a pool that does this about it.
pub(crate) fn is_recommended(facts: &Facts<'_>, member: &Member<'_>, what: Rebalance) -> bool {
    let now = facts.observed.now;
    facts.desired.interruption.rebalance == what
        && member.signal.is_some_and(|signal| signal.kind == SignalKind::Rebalance && !is_stale(signal, now))
}

/// From when on the next round may begin. A manager that has just begun does not know when its predecessor made the last
/// one.
pub(crate) fn cool_from(facts: &Facts<'_>) -> Timestamp {
    let began = facts.observed.settled_from;
    facts.memory.rebalanced_at.unwrap_or(began).max(began).plus(COOL_DOWN)
}
