//! The progress of a roll-out. `steps/replace.rs` acts on it.

use super::content::ContentState;
use super::facts::Facts;
use super::member::{MachineState, Member};
use super::size::ReplicasManagedBy;
use super::targets::is_served;
use super::view::View;
use super::warm_pool::launches_wanted_content;
use super::window::window_hold;
use crate::desired::{Goal, OnFailure, RolloutPause, Strategy, Wanted};
use crate::observed::Verdict;
use foo_model::{LifecycleState, NodeState, RemovalMark, Timestamp, count};

/// The progress in numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) phase: Phase,
    /// Surge of the roll-out.
    pub(crate) surge: u32,
    /// The same, including the surge for members whose replacement has begun: their replacements are not
    /// excess.
    pub(crate) surge_retained: u32,
    /// Staying members that were launched from other content than the target.
    pub(crate) outdated: u32,
    /// Staying members that were launched from the target content.
    pub(crate) updated: u32,
    /// Updated members that are available.
    pub(crate) updated_available: u32,
    /// Staying members that are available, whatever their content.
    pub(crate) available: u32,
    /// The roll-out needs surge, but the maximum, or the controller that manages the size, allows none; and
    /// no instance may be unavailable.
    pub(crate) blocked_by_limits: bool,
    /// It waits for a maintenance window: no replacement begins.
    pub(crate) awaits_window: bool,
}

/// The phase of a roll-out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No instance is known to be outdated.
    #[default]
    Finished,
    /// Outdated instances wait until a user deletes their Machines.
    OnDelete,
    /// A user paused it, or the group was adopted and a user has not started it.
    Paused,
    /// The desired content is blocked, and some instances do not even have the content in use.
    Waiting,
    /// The group does not launch the new content yet.
    Preparing,
    /// The new content failed, perhaps the rollback as well; no instance is replaced.
    Halted,
    /// Outdated instances are being replaced.
    Rolling,
    /// The new content failed; its instances are being replaced by instances of the previous content.
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
                // It is not replaced.
                ContentState::Outdated if member.cannot_be_drained() => {}
                ContentState::Outdated => progress.outdated += 1,
                ContentState::Unknown => {}
            }
        }
        progress.phase = phase(facts, progress);
        progress.awaits_window = progress.phase.is_replacing() && window_hold(facts).is_some();
        let going = count(facts.members.iter().filter(|member| is_departing_outdated(member)));
        let most = room(facts, progress.outdated);
        progress.surge = surge(facts, progress, most);
        progress.surge_retained =
            surge(facts, progress, room(facts, progress.outdated.saturating_add(going)));
        progress.blocked_by_limits = progress.phase.is_replacing()
            && !progress.awaits_window
            && progress.outdated > 0
            && most == 0
            && facts.desired.rollout.unavailable(facts.target.replicas) == 0;
        progress
    }
}

impl Progress {
    /// Instances with the target content that exist and do not serve yet.
    pub(super) fn on_their_way(self) -> u32 {
        self.updated.saturating_sub(self.updated_available)
    }

    /// Outdated instances that do not serve.
    fn outdated_unavailable(self) -> u32 {
        self.outdated.saturating_sub(self.available.saturating_sub(self.updated_available))
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
    let own = matches!(facts.view, View::Own(_));
    if facts.desired.goal != Goal::Run || !own {
        return Phase::Finished;
    }
    let stuck = facts.content.failed_target.is_some_and(|record| record.verdict == Verdict::Stuck);
    let back = facts.content.fallback.is_some() && rules.on_failure == OnFailure::Rollback && !stuck;
    // A rollback that failed is finished after all once no outdated instance is left.
    let is_back = stuck && progress.outdated == 0 && progress.updated_available > 0;
    if facts.content.failed_target.is_some() && !back {
        return if is_back { Phase::Finished } else { Phase::Halted };
    }
    match (progress.outdated, rules.strategy) {
        (0, _) if !is_unproven(facts, progress) => Phase::Finished,
        (_, Strategy::OnDelete) => Phase::OnDelete,
        (_, Strategy::RollingUpdate) if rules.paused.is_some() => Phase::Paused,
        (_, Strategy::RollingUpdate) if matches!(facts.desired.template, Wanted::Blocked(_)) => {
            Phase::Waiting
        }
        (_, Strategy::RollingUpdate) if !launches_wanted_content(facts) => Phase::Preparing,
        (_, Strategy::RollingUpdate) if back => Phase::RollingBack,
        (_, Strategy::RollingUpdate) => Phase::Rolling,
    }
}

/// All old instances are gone before a new one was available, as in a pool of one instance: the content may
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

/// How much surge the replacement of `outdated` instances may have.
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

/// First one, the canary; once it is available, as many as allowed. New instances that exist or are launching
/// are kept if a new Node fails or the roll-out is paused: they may be the available ones.
fn surge(facts: &Facts<'_>, progress: Progress, room: u32) -> u32 {
    let coming = facts.unlaunched();
    let beyond = facts.counts.active.saturating_add(coming).saturating_sub(facts.target.replicas);
    let there = beyond.min(progress.updated.saturating_add(coming));
    match progress.phase {
        Phase::Finished | Phase::OnDelete => 0,
        // No roll-out has begun: what is beyond the desired replicas is a scale-in.
        Phase::Paused if facts.desired.rollout.paused == Some(RolloutPause::Adoption) => 0,
        Phase::Paused | Phase::Preparing | Phase::Waiting => room.min(there),
        // Failed instances stay for inspection, and others are launched in their place.
        Phase::Halted => room.min(there.max(progress.updated.saturating_sub(progress.updated_available))),
        // Successors that are on their way stay. Once they serve, as many are too many, outdated ones first.
        Phase::Rolling | Phase::RollingBack if progress.awaits_window => {
            let retained = beyond.saturating_sub(marked(facts)).min(progress.on_their_way());
            // A rollback replaces what does not serve at any time.
            let broken =
                if progress.phase == Phase::RollingBack { progress.outdated_unavailable() } else { 0 };
            room.min(retained.max(broken))
        }
        Phase::Rolling | Phase::RollingBack if progress.updated_available > 0 => room,
        Phase::Rolling | Phase::RollingBack => room.min(there.max(1)),
    }
}

/// Active Machines that a user or an autoscaler wants deleted: no surge keeps the pool from deleting them.
pub(super) fn marked(facts: &Facts<'_>) -> u32 {
    let wanted =
        |member: &&Member<'_>| member.machine.is_some_and(|machine| machine.mark == RemovalMark::DeleteFirst);
    count(facts.members_that_are(MachineState::Active).filter(wanted))
}

/// Members that are not about to be terminated.
pub(crate) fn staying<'s, 'a>(facts: &'s Facts<'a>) -> impl Iterator<Item = &'s Member<'a>> {
    facts.members.iter().filter(|member| {
        matches!(member.state, MachineState::New | MachineState::AwaitingMachine | MachineState::Active)
    })
}

/// Whether a staying member serves: its Node is Ready, for a new instance long enough, the Machine is not unhealthy, and
/// load balancers send requests to it, if the pool asks for that.
pub(crate) fn is_available(facts: &Facts<'_>, member: &Member<'_>) -> bool {
    available_from(facts, member).is_some_and(|from| from <= facts.observed.now)
}

/// When a staying member becomes available if its Node stays Ready; `None` if the Node is not Ready, or no load balancer
/// sends requests to it.
pub(crate) fn available_from(facts: &Facts<'_>, member: &Member<'_>) -> Option<Timestamp> {
    let machine = member.machine.filter(|machine| machine.unhealthy_because().is_none())?;
    let runs = member.instance.lifecycle == LifecycleState::InService && machine.node == NodeState::Ready;
    if !runs || !is_served(facts, member) {
        return None;
    }
    // It is Ready, whatever the difference of two clocks says about since when.
    let since = machine.node_since.unwrap_or(machine.created).min(facts.observed.now);
    Some(match member.content {
        ContentState::UpToDate => since.plus(facts.desired.rollout.min_ready.into()),
        ContentState::Outdated | ContentState::Unknown => since,
    })
}
