//! The summary: whether the pool serves what is desired, and if not, the most important reason. Routine work, a scale-in or a
//! roll-out within its budget, is a reason of a pool that is ready: clients that wait for `Ready` would take it for a failure
//! otherwise (decision 0021).

use super::parts::{condition, cut, departures, is_suspended, kept, many, undrainable};
use crate::desired::Goal;
use crate::draft::Draft;
use crate::observed::LastRead;
use crate::report::{Condition, ConditionKind, Status};
use crate::situation::{MachineState, Member, Situation, View};
use foo_model::{Process, Reason, some_names};

/// Conditions that Ready requires, the most important first.
const NEEDED: [ConditionKind; 5] = [
    ConditionKind::CredentialsReady,
    ConditionKind::CapacityBlockReady,
    ConditionKind::LaunchTemplateReady,
    ConditionKind::AutoScalingGroupReady,
    ConditionKind::CapacityAvailable,
];

/// The summary of the other conditions.
pub(super) fn ready(situation: &Situation<'_>, draft: &Draft, others: &[Condition]) -> Condition {
    let kind = ConditionKind::Ready;
    let (status, reason, message) = why_not(situation, draft, others).map_or_else(
        || {
            let size = situation.target.replicas;
            let reason = if cut(situation).is_some() { Reason::ReadyAtMaxSize } else { Reason::Ready };
            (Status::True, reason, format!("{size} of {} in service", many(size, "instance")))
        },
        |(reason, message)| (status(situation, reason), reason, message),
    );
    condition(kind, status, reason, with_warnings(situation, message))
}

/// The most important thing that is not as desired: its removal, what is missing, what is not usable,
/// what does not exist, too few Machines, too many.
fn why_not(situation: &Situation<'_>, draft: &Draft, others: &[Condition]) -> Option<(Reason, String)> {
    ending(situation, others)
        .or_else(|| {
            let missing = situation.desired.missing.first()?;
            Some((missing.reason, missing.message.clone()))
        })
        .or_else(|| unmet(others, Status::False))
        .or_else(|| unmet(others, Status::Unknown).filter(|_| !only_just_started(situation, draft)))
        .or_else(|| replacing(others))
        .or_else(|| too_few(situation))
        .or_else(|| too_many(situation, draft))
}

/// Whether a pool with this to report is ready: it is while the provider works within the limits that the user set, and as many
/// instances serve as these require.
fn status(situation: &Situation<'_>, reason: Reason) -> Status {
    let routine = match reason {
        Reason::Draining
        | Reason::TerminatingInstances
        | Reason::InstancesShuttingDown
        | Reason::ScaleInDelayed
        | Reason::TooManyMachines
        | Reason::RolloutPreparing
        | Reason::RolloutPaused
        | Reason::ExpiryWaiting
        | Reason::AwaitingMaintenanceWindow => true,
        Reason::RollingOut => !situation.rollout.blocked_by_limits,
        Reason::ReplacingExpired => !situation.expiry.blocked_by_limits,
        _ => false,
    };
    // A user has to resume it.
    let terminates = !is_suspended(situation, Process::Terminate);
    if routine && terminates && serves(situation) { Status::True } else { Status::False }
}

/// Whether as many instances are in service as are desired, less those that a roll-out may make unavailable.
fn serves(situation: &Situation<'_>) -> bool {
    let target = situation.target.replicas;
    let rollout = situation.rollout;
    let rolls = rollout.phase.is_replacing() && !rollout.awaits_window || situation.expiry.is_replacing();
    let unavailable = if rolls { situation.desired.rollout.unavailable(target) } else { 0 };
    situation.counts.without_foo_machine == 0
        && situation.counts.serving >= target.saturating_sub(unavailable)
}

fn ending(situation: &Situation<'_>, others: &[Condition]) -> Option<(Reason, String)> {
    match situation.desired.goal {
        Goal::Run => None,
        Goal::Remove | Goal::Retain => {
            let deleting = others.iter().find(|other| other.kind == ConditionKind::Deleting)?;
            Some((Reason::Deleting, deleting.message.clone()))
        }
        Goal::Orphan => Some((Reason::Moved, "the pool belongs to another management cluster".to_owned())),
    }
}

/// Whether this is the first pass of a manager over a running group: the template has not been read yet,
/// which must not make every pool unready after a restart of the manager.
fn only_just_started(situation: &Situation<'_>, draft: &Draft) -> bool {
    matches!(situation.view, View::Own(_))
        && situation.observed.template == LastRead::Unknown
        && draft.memory.template_due_since == Some(situation.observed.now)
}

/// A required condition with this status.
fn unmet(others: &[Condition], status: Status) -> Option<(Reason, String)> {
    NEEDED
        .into_iter()
        .filter_map(|kind| others.iter().find(|other| other.kind == kind))
        .find(|other| other.status == status)
        .map(|other| (other.reason, other.message.clone()))
}

/// Outdated, expired or unhealthy instances are being replaced.
fn replacing(others: &[Condition]) -> Option<(Reason, String)> {
    [ConditionKind::RollingOut, ConditionKind::Remediating]
        .into_iter()
        .filter_map(|kind| others.iter().find(|other| other.kind == kind))
        .find(|other| other.status == Status::True)
        .map(|other| (other.reason, other.message.clone()))
}

fn too_few(situation: &Situation<'_>) -> Option<(Reason, String)> {
    let counts = situation.counts;
    let target = situation.target.replicas;
    if counts.without_foo_machine > 0 {
        let what = many(counts.without_foo_machine, "instance");
        return Some((Reason::FooMachinesMissing, format!("{what} without a FooMachine yet")));
    }
    (counts.serving < target).then(|| {
        let mut message = format!("{} of {} in service", counts.serving, many(target, "instance"));
        if let Some((_, waiting)) = departures(situation) {
            message = format!("{message}; {waiting}");
        }
        (Reason::InstancesNotInService, message)
    })
}

fn too_many(situation: &Situation<'_>, draft: &Draft) -> Option<(Reason, String)> {
    if let Some((reason, message)) = departures(situation) {
        return Some((reason, message));
    }
    if situation.counts.departing > 0 {
        let waits = |member: &&Member<'_>| {
            matches!(member.state, MachineState::FooMachineDeletedFirst | MachineState::Interrupted)
        };
        let names = some_names(situation.members.iter().filter(waits).map(|member| member.name.as_str()));
        return Some((Reason::Draining, format!("waiting for Machines to be deleted: {names}")));
    }
    if let Some(held) = draft.postponed {
        return Some((Reason::ScaleInDelayed, kept(situation, held)));
    }
    let View::Own(group) = situation.view else { return None };
    let target = situation.target();
    let (active, desired) = (situation.counts.active, group.sizes.desired);
    let message = if active > target {
        format!("{} over the desired {target}", many(active - target, "instance"))
    } else if desired > target {
        // Instances that were never launched are not too many of them.
        format!("desired capacity is {desired} and is lowered to {target}")
    } else {
        return None;
    };
    Some((Reason::TooManyMachines, message))
}

/// Warnings about the user's input that have no condition of their own.
fn with_warnings(situation: &Situation<'_>, message: String) -> String {
    situation
        .desired
        .warnings
        .iter()
        .filter(|warning| !warning.reason.is_about_autoscaler())
        .map(|warning| warning.message.clone())
        .chain(cut(situation))
        .chain(undrainable(situation).filter(|_| situation.desired.goal == Goal::Run))
        .fold(message, |message, warning| format!("{message}; warning: {warning}"))
}
