//! Where the replacement of outdated instances stands. What is done about it is in `steps/replace.rs`.

use super::content::Generation;
use super::facts::Facts;
use super::group::launches_wanted_content;
use super::member::{Member, Standing};
use super::size::Decider;
use super::view::View;
use crate::desired::{Goal, OnFailure, Strategy, Wanted};
use crate::observed::Verdict;
use foo_model::{LifecycleState, NodeState, Timestamp, count};

/// Where it stands, in numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Standpoint {
    pub(crate) course: Course,
    /// Instances beyond the wish that are wanted for its sake.
    pub(crate) surge: u32,
    /// The same while those that go for its sake are still there: what came for them is no surplus.
    pub(crate) held: u32,
    /// Members that stay, and were launched from other content than the one to reach.
    pub(crate) outdated: u32,
    /// Members that stay, and were launched from the content to reach.
    pub(crate) current: u32,
    /// Those of them that are available.
    pub(crate) proven: u32,
    /// Members that stay and are available, whatever they were launched from.
    pub(crate) available: u32,
    /// Surge is wanted and the ceiling, or whoever decides on the size, leaves no room for any; nor may any be
    /// unavailable.
    pub(crate) cramped: bool,
}

/// Whether it goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Course {
    /// Nothing is known to be outdated.
    #[default]
    Finished,
    /// Outdated instances wait for somebody to delete their Machines.
    OnDelete,
    /// A person stopped it.
    Paused,
    /// What is wanted cannot be made; some instances have not even what is launched now.
    Waiting,
    /// The group does not launch the new content yet.
    Preparing,
    /// The new content was given up on, perhaps the one before as well, and everything stays as it is.
    Halted,
    /// It goes on.
    Rolling,
    /// The new content was given up on, and the one before comes back.
    RollingBack,
}

impl Standpoint {
    pub(crate) fn of(facts: &Facts<'_>) -> Self {
        let mut standpoint = Self::default();
        for member in staying(facts) {
            let available = is_available(facts, member);
            standpoint.available += u32::from(available);
            match member.generation {
                Generation::Current => {
                    standpoint.current += 1;
                    standpoint.proven += u32::from(available);
                }
                Generation::Outdated => standpoint.outdated += 1,
                Generation::Unknown => {}
            }
        }
        standpoint.course = course(facts, standpoint);
        let going = count(facts.members.iter().filter(|member| goes_outdated(member)));
        let most = room(facts, standpoint.outdated);
        standpoint.surge = surge(facts, standpoint, most);
        standpoint.held = surge(facts, standpoint, room(facts, standpoint.outdated.saturating_add(going)));
        standpoint.cramped = standpoint.course.goes_on()
            && standpoint.outdated > 0
            && most == 0
            && facts.desired.rollout.unavailable(facts.wish.size) == 0;
        standpoint
    }
}

impl Course {
    /// Whether instances are being replaced.
    pub(crate) fn goes_on(self) -> bool {
        matches!(self, Self::Rolling | Self::RollingBack)
    }
}

fn course(facts: &Facts<'_>, standpoint: Standpoint) -> Course {
    let rules = &facts.desired.rollout;
    let ours = matches!(facts.view, View::Ours(_));
    if facts.desired.goal != Goal::Run || !ours {
        return Course::Finished;
    }
    let stuck = facts.content.given_up.is_some_and(|record| record.verdict == Verdict::Stuck);
    let back = facts.content.fallback.is_some() && rules.on_failure == OnFailure::Rollback && !stuck;
    // A way back that was given up on has come to its end after all when nothing else is left.
    let is_back = stuck && standpoint.outdated == 0 && standpoint.proven > 0;
    if facts.content.given_up.is_some() && !back {
        return if is_back { Course::Finished } else { Course::Halted };
    }
    match (standpoint.outdated, rules.strategy) {
        (0, _) if !is_on_trial(facts, standpoint) => Course::Finished,
        (_, Strategy::OnDelete) => Course::OnDelete,
        (_, Strategy::RollingUpdate) if rules.paused => Course::Paused,
        (_, Strategy::RollingUpdate) if matches!(facts.desired.template, Wanted::Blocked(_)) => {
            Course::Waiting
        }
        (_, Strategy::RollingUpdate) if !launches_wanted_content(facts) => Course::Preparing,
        (_, Strategy::RollingUpdate) if back => Course::RollingBack,
        (_, Strategy::RollingUpdate) => Course::Rolling,
    }
}

/// The last of the old content is gone before anything of the new one was available, as in a pool of one instance: it may
/// still fail. Known from the last pass; after a crash such a roll-out counts as finished.
fn is_on_trial(facts: &Facts<'_>, standpoint: Standpoint) -> bool {
    let tried = facts.memory.trial.as_ref().map(|trial| &trial.hash);
    facts.wish.size > 0 && standpoint.proven == 0 && tried.is_some() && tried == facts.content.aim
}

fn goes_outdated(member: &Member<'_>) -> bool {
    member.standing.is_going() && member.generation == Generation::Outdated
}

/// How many instances beyond the wish there may be for the replacement of so many.
pub(crate) fn room(facts: &Facts<'_>, outdated: u32) -> u32 {
    let wish = facts.wish;
    match wish.decider {
        Decider::External { .. } => 0,
        Decider::Replicas => {
            let rules = facts.desired.rollout;
            let most = if wish.size == 0 { 0 } else { rules.max_surge.up(wish.size).min(outdated) };
            wish.ceiling.map_or(most, |ceiling| most.min(ceiling.saturating_sub(wish.size)))
        }
    }
}

/// One first, the canary; when it is available, all that are allowed. What is there of the new content already, or on its
/// way, is not taken back because a new Node falters or the roll-out is stopped: the surplus may be what is available.
fn surge(facts: &Facts<'_>, standpoint: Standpoint, room: u32) -> u32 {
    let coming = facts.unlaunched();
    let beyond = facts.tally.kept.saturating_add(coming).saturating_sub(facts.wish.size);
    let there = beyond.min(standpoint.current.saturating_add(coming));
    match standpoint.course {
        Course::Finished | Course::OnDelete => 0,
        Course::Paused | Course::Preparing | Course::Waiting => room.min(there),
        // What does not work stays to be looked at, and is made up for.
        Course::Halted => room.min(there.max(standpoint.current.saturating_sub(standpoint.proven))),
        Course::Rolling | Course::RollingBack if standpoint.proven > 0 => room,
        Course::Rolling | Course::RollingBack => room.min(there.max(1)),
    }
}

/// Members that are not on their way out.
pub(crate) fn staying<'s, 'a>(facts: &'s Facts<'a>) -> impl Iterator<Item = &'s Member<'a>> {
    facts
        .members
        .iter()
        .filter(|member| matches!(member.standing, Standing::New | Standing::Unclaimed | Standing::Kept))
}

/// Whether a member that stays serves: its Node is Ready, and a new one has been so for long enough; and nobody calls it
/// sick.
pub(crate) fn is_available(facts: &Facts<'_>, member: &Member<'_>) -> bool {
    available_from(facts, member).is_some_and(|from| from <= facts.observed.now)
}

/// From when on a member that stays is available if its Node stays Ready; `None` when its Node is not.
pub(crate) fn available_from(facts: &Facts<'_>, member: &Member<'_>) -> Option<Timestamp> {
    let machine = member.machine.filter(|machine| machine.sickness().is_none())?;
    if member.instance.lifecycle != LifecycleState::InService || machine.node != NodeState::Ready {
        return None;
    }
    let since = machine.node_since.unwrap_or(machine.created);
    Some(match member.generation {
        Generation::Current => since.plus(facts.desired.rollout.min_ready.into()),
        Generation::Outdated | Generation::Unknown => since,
    })
}
