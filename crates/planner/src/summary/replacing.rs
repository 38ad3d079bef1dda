//! Messages about the replacement of outdated, expired and unhealthy instances.

use super::parts::{condition, many};
use crate::desired::{Goal, RolloutPause, Wanted};
use crate::report::{Condition, ConditionKind, RolloutPhase, RolloutReport, Status};
use crate::situation::{
    ContentState, ExpiryHold, MachineState, Member, Phase, Situation, View, delays_rollout, is_available,
    is_blind, is_served, staying, unhealthy, window_hold,
};
use foo_model::{NodeState, Reason, WindowHold, some_names};

/// The progress of the roll-out; `None` if the desired content or the group is unknown.
pub(crate) fn rollout(situation: &Situation<'_>) -> Option<RolloutReport> {
    let progress = situation.rollout;
    if situation.desired.goal != Goal::Run || !matches!(situation.view, View::Own(_)) {
        return None;
    }
    let phase = match progress.phase {
        Phase::Finished if situation.content.failed_target.is_some() => RolloutPhase::RolledBack,
        Phase::Finished => RolloutPhase::Finished,
        Phase::OnDelete => RolloutPhase::OnDelete,
        Phase::Paused => RolloutPhase::Paused,
        Phase::Waiting => RolloutPhase::Waiting,
        Phase::Preparing => RolloutPhase::Preparing,
        Phase::Halted => RolloutPhase::Halted,
        Phase::Rolling if progress.awaits_window => RolloutPhase::AwaitingWindow,
        Phase::Rolling => RolloutPhase::Rolling,
        Phase::RollingBack => RolloutPhase::RollingBack,
    };
    Some(RolloutReport {
        phase,
        target_hash: situation.content.target_hash?.clone(),
        updated: progress.updated,
        outdated: progress.outdated,
        message: message(situation, phase),
    })
}

/// What it waits for.
fn message(situation: &Situation<'_>, phase: RolloutPhase) -> String {
    let failed = situation.content.failed_target.map(|record| record.message.as_str()).unwrap_or_default();
    match phase {
        RolloutPhase::Finished => String::new(),
        RolloutPhase::OnDelete => {
            "delete outdated Machines to have them replaced: spec.rollout.strategy is OnDelete".to_owned()
        }
        RolloutPhase::Paused => match situation.desired.rollout.paused {
            Some(RolloutPause::Adoption) => {
                "instances of the adopted group are replaced once spec.adopt is false".to_owned()
            }
            Some(RolloutPause::ByUser) | None => {
                format!("paused by the annotation {}", foo_model::names::ROLLOUT_PAUSED_ANNOTATION)
            }
        },
        RolloutPhase::Waiting => match &situation.desired.template {
            Wanted::Blocked(blocked) => blocked.message.clone(),
            Wanted::Ready(_) => String::new(),
        },
        RolloutPhase::Preparing if delays_rollout(situation) => {
            "waiting for AWS to delete the warm pool, from which the group would take instances".to_owned()
        }
        RolloutPhase::Preparing => "waiting for the group to use the new launch template version".to_owned(),
        RolloutPhase::Halted if situation.content.fallback.is_none() => {
            format!("{failed}; there is no other launch template version to launch instead")
        }
        RolloutPhase::Halted => failed.to_owned(),
        RolloutPhase::RolledBack => format!("rolled back, the new launch template version failed: {failed}"),
        RolloutPhase::AwaitingWindow => awaits_window(situation).unwrap_or_default(),
        RolloutPhase::Rolling => waits_for(situation, situation.rollout.blocked_by_limits),
        RolloutPhase::RollingBack => {
            let waits = awaits_window(situation)
                .unwrap_or_else(|| waits_for(situation, situation.rollout.blocked_by_limits));
            format!("{failed}; {waits}")
        }
    }
}

/// What has to come before the next replacement begins; `None` if it may begin now.
fn awaits_window(situation: &Situation<'_>) -> Option<String> {
    window_hold(situation).map(|hold| hold.to_string())
}

fn waits_for(situation: &Situation<'_>, blocked_by_limits: bool) -> String {
    if is_blind(situation) {
        return "waiting for a read of the health in the target groups of spec.targetGroups".to_owned();
    }
    if blocked_by_limits {
        return "cannot replace an instance: rollout.maxUnavailable allows none to be unavailable, and maxSize or an \
                external autoscaler allows none to be added"
            .to_owned();
    }
    if situation.unlaunched() > 0 {
        return format!("waiting for AWS to launch {}", many(situation.unlaunched(), "instance"));
    }
    let unproven = |served: bool| {
        let new = staying(situation).filter(|member| member.content == ContentState::UpToDate);
        let waits = new.filter(|member| !is_available(situation, member));
        let of_kind =
            waits.filter(move |member| (is_ready(member) && !is_served(situation, member)) != served);
        some_names(of_kind.map(|member| member.name.as_str()))
    };
    let names = unproven(true);
    if !names.is_empty() {
        return format!("waiting for the Nodes of {names} to become Ready");
    }
    let names = unproven(false);
    if !names.is_empty() {
        return format!("waiting for {names} to become healthy in the target groups of spec.targetGroups");
    }
    let draining =
        some_names(situation.members_that_are(MachineState::Draining).map(|member| member.name.as_str()));
    if draining.is_empty() {
        "waiting for AWS".to_owned()
    } else {
        format!("waiting for Cluster API to drain {draining}")
    }
}

fn is_ready(member: &Member<'_>) -> bool {
    member.machine.is_some_and(|machine| machine.node == NodeState::Ready)
}

/// A roll-out, and the replacement of expired instances, which has the same limits.
pub(super) fn rolling_out(situation: &Situation<'_>) -> Condition {
    let Condition { kind, status, reason, message } = of_outdated(situation);
    let Some(expired) = expired(situation) else { return condition(kind, status, reason, message) };
    let said = if message.is_empty() { expired } else { format!("{message}; {expired}") };
    match (reason, situation.expiry.hold) {
        (Reason::NotRollingOut | Reason::AwaitingDeletion, None) => {
            condition(kind, Status::True, Reason::ReplacingExpired, said)
        }
        (Reason::NotRollingOut | Reason::AwaitingDeletion, Some(ExpiryHold::Window)) => {
            condition(kind, Status::True, window_reason(situation), said)
        }
        (Reason::NotRollingOut | Reason::AwaitingDeletion, Some(_)) => {
            condition(kind, Status::True, Reason::ExpiryWaiting, said)
        }
        _ => condition(kind, status, reason, said),
    }
}

/// Whether a window is still to come, or none can come.
fn window_reason(situation: &Situation<'_>) -> Reason {
    window_hold(situation).map_or(Reason::AwaitingMaintenanceWindow, WindowHold::reason)
}

/// How many instances have reached their lifetime, and what their replacement waits for.
fn expired(situation: &Situation<'_>) -> Option<String> {
    let expiry = situation.expiry;
    let lifetime = situation.desired.rollout.max_lifetime.filter(|_| expiry.due > 0)?;
    let waits = match expiry.hold {
        // It replaces them as well, if they are outdated.
        Some(ExpiryHold::RollingOut) => return None,
        Some(ExpiryHold::Paused) => "they are replaced once roll-outs are no longer paused".to_owned(),
        Some(ExpiryHold::Failed) => {
            "they are not replaced while the content of the spec counts as failed".to_owned()
        }
        Some(ExpiryHold::Content) => {
            "they are replaced once the group launches instances with the content of the spec".to_owned()
        }
        Some(ExpiryHold::Window) => awaits_window(situation)?,
        Some(ExpiryHold::Health) => {
            "they are replaced once the health in the target groups of spec.targetGroups has been read"
                .to_owned()
        }
        None => waits_for(situation, expiry.blocked_by_limits),
    };
    let instances = many(expiry.due, "instance");
    let verb = if expiry.due == 1 { "has" } else { "have" };
    Some(format!("{instances} {verb} reached the maximum lifetime of {lifetime}; {waits}"))
}

fn of_outdated(situation: &Situation<'_>) -> Condition {
    let kind = ConditionKind::RollingOut;
    let Some(report) = rollout(situation) else {
        return condition(kind, Status::False, Reason::NotRollingOut, "");
    };
    // Updated instances will replace those that are being terminated.
    let all = (report.updated + report.outdated).max(situation.target.replicas);
    let counted = format!("{} of {} updated", report.updated, many(all, "instance"));
    let said = if report.message.is_empty() { counted } else { format!("{counted}; {}", report.message) };
    match report.phase {
        RolloutPhase::Finished => condition(kind, Status::False, Reason::NotRollingOut, ""),
        RolloutPhase::RolledBack => condition(kind, Status::False, Reason::RolledBack, report.message),
        RolloutPhase::OnDelete => condition(kind, Status::False, Reason::AwaitingDeletion, said),
        RolloutPhase::Paused => condition(kind, Status::True, Reason::RolloutPaused, said),
        RolloutPhase::Waiting => condition(kind, Status::True, Reason::RolloutWaiting, said),
        RolloutPhase::Preparing => condition(kind, Status::True, Reason::RolloutPreparing, said),
        RolloutPhase::Halted => condition(kind, Status::True, Reason::RolloutHalted, said),
        RolloutPhase::AwaitingWindow => condition(kind, Status::True, window_reason(situation), said),
        RolloutPhase::Rolling => condition(kind, Status::True, Reason::RollingOut, said),
        RolloutPhase::RollingBack => condition(kind, Status::True, Reason::RollingBack, said),
    }
}

pub(super) fn remediating(situation: &Situation<'_>) -> Condition {
    let kind = ConditionKind::Remediating;
    let rules = situation.desired.remediation;
    let runs = situation.desired.goal == Goal::Run && matches!(situation.view, View::Own(_));
    let unhealthy = unhealthy(situation);
    if !runs || unhealthy.count() == 0 {
        return condition(kind, Status::False, Reason::NotRemediating, "");
    }
    let machines = many(unhealthy.count(), "unhealthy Machine");
    let names = some_names(unhealthy.staying.iter().map(|(member, _)| member.name.as_str()));
    if !rules.enabled {
        return condition(
            kind,
            Status::False,
            Reason::RemediationDisabled,
            format!("{machines}, and spec.remediation is off: {names}"),
        );
    }
    if unhealthy.exceeds_limit(situation) {
        let limit = rules.unhealthy_limit.up(situation.target.replicas);
        let message = format!("{machines}, more than the {limit} that remediation acts on: {names}");
        return condition(kind, Status::True, Reason::TooManyUnhealthy, message);
    }
    let message = format!("{machines}, {} of them being replaced", unhealthy.leaving);
    condition(kind, Status::True, Reason::Remediating, message)
}
