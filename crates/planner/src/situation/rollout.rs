//! Where the replacement of outdated instances stands. What is done about it is in `steps/replace.rs`.

use super::content::ContentState;
use super::facts::Facts;
use super::group::launches_wanted_content;
use super::member::{MachineState, Member};
use super::size::ReplicasManagedBy;
use super::view::View;
use crate::desired::{Goal, OnFailure, Strategy, Wanted};
use crate::observed::Verdict;
use foo_model::{LifecycleState, NodeState, Timestamp, count};

/// Where it stands, in numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) phase: Phase,
    /// Instances beyond the desired replicas that are wanted for its sake.
    pub(crate) surge: u32,
    /// The same while those that go for its sake are still there: what came for them is no surplus.
    pub(crate) surge_retained: u32,
    /// Members that stay, and were launched from other content than the one to reach.
    pub(crate) outdated: u32,
    /// Members that stay, and were launched from the content to reach.
    pub(crate) updated: u32,
    /// Those of them that are available.
    pub(crate) updated_available: u32,
    /// Members that stay and are available, whatever they were launched from.
    pub(crate) available: u32,
    /// Surge is wanted and the ceiling, or whoever decides on the size, leaves no room for any; nor may any be
    /// unavailable.
    pub(crate) blocked_by_limits: bool,
}

/// Whether it goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
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

impl Progress {
    pub(crate) fn of(facts: &Facts<'_>) -> Self {
        let mut progress = Self::default();
        for member in staying(facts) {
            let available = is_available(facts, member);
            progress.available += u32::from(available);
            match member.content {
                ContentState::UpToDate => {
                    progress.updated += 1;
                    progress.updated_available += u32::from(available);
                }
                ContentState::Outdated => progress.outdated += 1,
                ContentState::Unknown => {}
            }
        }
        progress.phase = phase(facts, progress);
        let going = count(facts.members.iter().filter(|member| is_departing_outdated(member)));
        let most = room(facts, progress.outdated);
        progress.surge = surge(facts, progress, most);
        progress.surge_retained =
            surge(facts, progress, room(facts, progress.outdated.saturating_add(going)));
        progress.blocked_by_limits = progress.phase.is_replacing()
            && progress.outdated > 0
            && most == 0
            && facts.desired.rollout.unavailable(facts.target.replicas) == 0;
        progress
    }
}

impl Phase {
    /// Whether instances are being replaced.
    pub(crate) fn is_replacing(self) -> bool {
        matches!(self, Self::Rolling | Self::RollingBack)
    }
}

fn phase(facts: &Facts<'_>, progress: Progress) -> Phase {
    let rules = &facts.desired.rollout;
    let ours = matches!(facts.view, View::Ours(_));
    if facts.desired.goal != Goal::Run || !ours {
        return Phase::Finished;
    }
    let stuck = facts.content.failed_target.is_some_and(|record| record.verdict == Verdict::Stuck);
    let back = facts.content.fallback.is_some() && rules.on_failure == OnFailure::Rollback && !stuck;
    // A way back that was given up on has come to its end after all when nothing else is left.
    let is_back = stuck && progress.outdated == 0 && progress.updated_available > 0;
    if facts.content.failed_target.is_some() && !back {
        return if is_back { Phase::Finished } else { Phase::Halted };
    }
    match (progress.outdated, rules.strategy) {
        (0, _) if !is_unproven(facts, progress) => Phase::Finished,
        (_, Strategy::OnDelete) => Phase::OnDelete,
        (_, Strategy::RollingUpdate) if rules.paused => Phase::Paused,
        (_, Strategy::RollingUpdate) if matches!(facts.desired.template, Wanted::Blocked(_)) => {
            Phase::Waiting
        }
        (_, Strategy::RollingUpdate) if !launches_wanted_content(facts) => Phase::Preparing,
        (_, Strategy::RollingUpdate) if back => Phase::RollingBack,
        (_, Strategy::RollingUpdate) => Phase::Rolling,
    }
}

/// The last of the old content is gone before anything of the new one was available, as in a pool of one instance: it may
/// still fail. Known from the last pass; after a crash such a roll-out counts as finished.
fn is_unproven(facts: &Facts<'_>, progress: Progress) -> bool {
    let tried = facts.memory.rollout.as_ref().map(|progress| &progress.hash);
    facts.target.replicas > 0
        && progress.updated_available == 0
        && tried.is_some()
        && tried == facts.content.target_hash
}

fn is_departing_outdated(member: &Member<'_>) -> bool {
    member.state.is_leaving() && member.content == ContentState::Outdated
}

/// How many instances beyond the desired replicas there may be for the replacement of so many.
pub(crate) fn room(facts: &Facts<'_>, outdated: u32) -> u32 {
    let target = facts.target;
    match target.managed_by {
        ReplicasManagedBy::External { .. } => 0,
        ReplicasManagedBy::Replicas => {
            let rules = facts.desired.rollout;
            let most =
                if target.replicas == 0 { 0 } else { rules.max_surge.up(target.replicas).min(outdated) };
            target.max.map_or(most, |ceiling| most.min(ceiling.saturating_sub(target.replicas)))
        }
    }
}

/// One first, the canary; when it is available, all that are allowed. What is there of the new content already, or on its
/// way, is not taken back because a new Node falters or the roll-out is stopped: the surplus may be what is available.
fn surge(facts: &Facts<'_>, progress: Progress, room: u32) -> u32 {
    let coming = facts.unlaunched();
    let beyond = facts.counts.active.saturating_add(coming).saturating_sub(facts.target.replicas);
    let there = beyond.min(progress.updated.saturating_add(coming));
    match progress.phase {
        Phase::Finished | Phase::OnDelete => 0,
        Phase::Paused | Phase::Preparing | Phase::Waiting => room.min(there),
        // What does not work stays to be looked at, and is made up for.
        Phase::Halted => room.min(there.max(progress.updated.saturating_sub(progress.updated_available))),
        Phase::Rolling | Phase::RollingBack if progress.updated_available > 0 => room,
        Phase::Rolling | Phase::RollingBack => room.min(there.max(1)),
    }
}

/// Members that are not on their way out.
pub(crate) fn staying<'s, 'a>(facts: &'s Facts<'a>) -> impl Iterator<Item = &'s Member<'a>> {
    facts.members.iter().filter(|member| {
        matches!(member.state, MachineState::New | MachineState::AwaitingMachine | MachineState::Active)
    })
}

/// Whether a member that stays serves: its Node is Ready, and a new one has been so for long enough; and nobody calls it
/// sick.
pub(crate) fn is_available(facts: &Facts<'_>, member: &Member<'_>) -> bool {
    available_from(facts, member).is_some_and(|from| from <= facts.observed.now)
}

/// From when on a member that stays is available if its Node stays Ready; `None` when its Node is not.
pub(crate) fn available_from(facts: &Facts<'_>, member: &Member<'_>) -> Option<Timestamp> {
    let machine = member.machine.filter(|machine| machine.unhealthy_because().is_none())?;
    if member.instance.lifecycle != LifecycleState::InService || machine.node != NodeState::Ready {
        return None;
    }
    let since = machine.node_since.unwrap_or(machine.created);
    Some(match member.content {
        ContentState::UpToDate => since.plus(facts.desired.rollout.min_ready.into()),
        ContentState::Outdated | ContentState::Unknown => since,
    })
}
