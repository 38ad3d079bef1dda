//! Which outdated Machines are deleted, and does the new content work?
//!
//! Level-triggered: each pass compares the content of every instance with the target. Only the progress of
//! the new content is remembered, and that may be lost. This step deletes the Machine; the group replaces the
//! terminated instance (see the ends step) by one with the new content.

use super::victims::Queue;
use crate::action::PoolAction;
use crate::desired::{Goal, OnFailure, Wanted};
use crate::draft::{Draft, Stage};
use crate::memory::RolloutProgress;
use crate::observed::{Quarantine, Verdict};
use crate::report::EventTrigger;
use crate::situation::{
    ContentState, MachineState, Member, Phase, Situation, TargetFailure, View, available_from, is_available,
    is_blind, staying, target_failure,
};
use crate::steps::budget::{canary, room_to_drain};
use crate::steps::delete::delete_machine;
use foo_model::{EventReason, Machine, MachineName, NodeState, Seconds, SpecHash, Timestamp, count};
use std::collections::BTreeSet;
use std::time::Duration;

/// A Node that stopped being Ready this often did not do so by accident.
const RELAPSES: u32 = 3;

/// How many failed contents are remembered. A rollback could choose only the latest ones by mistake.
const RECORDS: usize = 5;

/// Records content that fails. Returns whether this pass may replace instances.
pub(crate) fn judge(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    track_progress(situation, draft);
    let failed = failure(situation, draft);
    let mut records = supersede_records(situation);
    if let (Some(message), Some(hash)) = (&failed, situation.content.target_hash) {
        let record = verdict(situation, hash, message, draft);
        records.retain(|other| other.hash != record.hash);
        records.push(record);
        records.drain(..records.len().saturating_sub(RECORDS));
    }
    if records != situation.observed.quarantine {
        draft.act(Stage::Own, PoolAction::Quarantine { records });
    }
    failed.is_none()
}

/// The records of failed content, without those for content that is no longer desired.
fn supersede_records(situation: &Situation<'_>) -> Vec<Quarantine> {
    let mut records = situation.observed.quarantine.clone();
    if let Wanted::Ready(wanted) = &situation.desired.template {
        for record in records.iter_mut().filter(|record| record.hash != wanted.spec_hash) {
            record.verdict = Verdict::Over;
        }
    }
    records
}

/// The record of a failure. A failure during a rollback does not cause another rollback: two contents that
/// fail have a common cause elsewhere.
fn verdict(situation: &Situation<'_>, hash: &SpecHash, message: &str, draft: &mut Draft) -> Quarantine {
    if let Some(first) = situation.content.failed_target {
        let text = format!("Rollback to {hash} halted: {message}");
        draft.event(EventTrigger::Verdict, EventReason::RollbackFailed, text);
        let message = format!("{}; the rollback to {hash} failed as well: {message}", first.message);
        return Quarantine { hash: first.hash.clone(), message, verdict: Verdict::Stuck };
    }
    let what = match situation.desired.rollout.on_failure {
        OnFailure::Halt => "halted",
        OnFailure::Rollback => "failed, rolling back",
    };
    let text = format!("Rollout of {hash} {what}: {message}");
    draft.event(EventTrigger::Verdict, EventReason::RolloutFailed, text);
    Quarantine { hash: hash.clone(), message: message.to_owned(), verdict: Verdict::Stands }
}

/// Remembers the progress of the new content.
fn track_progress(situation: &Situation<'_>, draft: &mut Draft) {
    let runs = situation.desired.goal == Goal::Run;
    if runs && !(matches!(situation.view, View::Own(_)) && situation.content.target_hash.is_some()) {
        // If the target is unknown, the progress stays.
        return;
    }
    match situation.rollout.phase {
        Phase::Rolling | Phase::RollingBack => {}
        // A rotated token creates a new version of the same content; the target may be unknown for a moment.
        Phase::Preparing | Phase::Waiting => {
            let wanted = match &situation.desired.template {
                Wanted::Ready(wanted) => Some(&wanted.spec_hash),
                Wanted::Blocked(_) => None,
            };
            draft.memory.rollout = draft
                .memory
                .rollout
                .take()
                .filter(|progress| wanted.is_none_or(|wanted| progress.hash == *wanted));
            return;
        }
        Phase::Finished | Phase::OnDelete | Phase::Paused | Phase::Halted => {
            draft.memory.rollout = None;
            return;
        }
    }
    let Some(hash) = situation.content.target_hash.filter(|_| situation.is_fresh()) else { return };
    let now = situation.observed.now;
    let progress = draft.memory.rollout.take().filter(|progress| progress.hash == *hash);
    let mut progress = progress.unwrap_or_else(|| RolloutProgress::of(hash.clone(), now));
    count_relapses(situation, &mut progress);
    let available: BTreeSet<MachineName> = up_to_date_members(situation)
        .filter(|member| is_available(situation, member))
        .map(|member| member.name.clone())
        .collect();
    if available.difference(&progress.available).next().is_some() {
        progress.waiting_since = None;
    }
    let goes = |member: &&Member<'_>| {
        member.content == ContentState::UpToDate
            && matches!(
                member.state,
                MachineState::Interrupted
                    | MachineState::Draining
                    | MachineState::FooMachineDeletedFirst
                    | MachineState::Released
                    | MachineState::TerminateSent
                    | MachineState::Terminating
            )
    };
    let waits = up_to_date_members(situation)
        .any(|member| !is_available(situation, member) && !failed_before(situation, &progress, member))
        || situation.unlaunched() > 0
        || situation.members.iter().any(|member| goes(&member));
    // While nothing may be replaced, or it is not known what serves, no time runs against the content.
    let counts = waits && !situation.rollout.awaits_window;
    let since = progress.waiting_since.filter(|_| !is_blind(situation));
    progress.waiting_since = counts.then(|| since.unwrap_or(now));
    progress.available = available;
    draft.memory.rollout = Some(progress);
}

/// Counts one Node at a time: if several stop being Ready at once, the network to them failed.
fn count_relapses(situation: &Situation<'_>, progress: &mut RolloutProgress) {
    let is_ready = |member: &Member<'_>| {
        member.machine.is_some_and(|machine: &Machine| machine.node == NodeState::Ready)
    };
    let fell: Vec<&Member<'_>> = staying(situation)
        .filter(|member| progress.ready.contains(&member.name) && !is_ready(member))
        .collect();
    if let [member] = fell.as_slice()
        && member.content == ContentState::UpToDate
    {
        *progress.relapses.entry(member.name.clone()).or_default() += 1;
    }
    let names: BTreeSet<&MachineName> = staying(situation).map(|member| &member.name).collect();
    progress.relapses.retain(|name, _| names.contains(name));
    progress.ready =
        staying(situation).filter(|member| is_ready(member)).map(|member| member.name.clone()).collect();
}

/// Staying members with the target content.
fn up_to_date_members<'s, 'a>(situation: &'s Situation<'a>) -> impl Iterator<Item = &'s Member<'a>> {
    staying(situation).filter(|member| member.content == ContentState::UpToDate)
}

/// Since when a member's Node has not been Ready, and in what way.
fn unready_since(machine: &Machine) -> (Timestamp, &'static str) {
    match (machine.node, machine.node_since) {
        (NodeState::None, _) => (machine.created, "has not joined"),
        (NodeState::Ready | NodeState::NotReady, Some(since)) => (since.max(machine.created), "is not Ready"),
        (NodeState::Ready | NodeState::NotReady, None) => (machine.created, "is not Ready"),
    }
}

/// Whether it failed before the content was tried again: it says nothing about this attempt, and is replaced.
fn failed_before(situation: &Situation<'_>, progress: &RolloutProgress, member: &Member<'_>) -> bool {
    let Some(machine) = member.machine.filter(|_| !is_available(situation, member)) else { return false };
    let unhealthy = machine.unhealthy_because().is_some() && machine.created < progress.since;
    let (since, _) = unready_since(machine);
    let overdue = situation.knows_ages()
        && machine.node != NodeState::Ready
        && since.plus(situation.desired.rollout.ready_timeout.into()) <= progress.since;
    unhealthy || overdue
}

/// Whether it shows how the content works. In a rollback most instances existed before, and their failures
/// have other causes.
fn is_tried(situation: &Situation<'_>, progress: &RolloutProgress, member: &Member<'_>) -> bool {
    situation.rollout.phase == Phase::Rolling
        || member.machine.is_some_and(|machine| machine.created >= progress.since)
}

/// What is wrong with the target content, if something is.
fn failure(situation: &Situation<'_>, draft: &mut Draft) -> Option<String> {
    if !situation.rollout.phase.is_replacing() {
        return None;
    }
    let progress = draft.memory.rollout.clone()?;
    let tried = |member: &&Member<'_>| is_tried(situation, &progress, member);
    for member in up_to_date_members(situation)
        .filter(tried)
        .filter(|member| !failed_before(situation, &progress, member))
    {
        if let Some(message) = failure_of(situation, &progress, member, draft) {
            return Some(message);
        }
    }
    let relapsed = up_to_date_members(situation)
        .filter(tried)
        .filter_map(|member| progress.relapses.get(&member.name).map(|times| (&member.name, *times)))
        .find(|(_, times)| *times >= RELAPSES);
    if let Some((name, times)) = relapsed {
        return Some(format!("Machine {name}: its Node changed between Ready and not Ready {times} times"));
    }
    // Once one instance of the content serves, missing instances say nothing about it; nor do they in a
    // rollback to content that was launched before. `CapacityAvailable` reports them.
    let rollout = situation.rollout;
    // Before its window a roll-out has launched nothing itself.
    let is_first =
        rollout.updated_available == 0 && rollout.phase == Phase::Rolling && !rollout.awaits_window;
    let since = progress.waiting_since.filter(|_| is_first)?;
    // An instance that came late has its full time; that one after another comes and fails is a failure as
    // well.
    let came = up_to_date_members(situation).next().is_some();
    let timeout = situation.desired.rollout.ready_timeout;
    let until = since.plus(Duration::from(timeout).saturating_mul(if came { 2 } else { 1 }));
    if until <= situation.observed.now {
        let words = situation.observed.launch_failure.as_ref();
        let words = words.map(|words| format!("; AWS says: {words}")).unwrap_or_default();
        return Some(format!("no new instance became available within {timeout}{words}"));
    }
    draft.wake_at(until);
    None
}

fn failure_of(
    situation: &Situation<'_>,
    progress: &RolloutProgress,
    member: &Member<'_>,
    draft: &mut Draft,
) -> Option<String> {
    let machine = member.machine?;
    if let Some(why) = machine.unhealthy_because() {
        return Some(format!("Machine {}: MachineHealthCheck found it unhealthy: {why}", machine.name));
    }
    if situation.desired.remediation.enabled
        && let TargetFailure::Unhealthy(why) = target_failure(situation, member)
    {
        return Some(format!("Machine {}: {why}", machine.name));
    }
    // For an instance that is not in service yet, a Ready Node suffices.
    if machine.node == NodeState::Ready || !situation.knows_ages() {
        return None;
    }
    let (since, what) = unready_since(machine);
    let remediation = situation.desired.remediation;
    let timeout = match remediation.join_timeout.filter(|_| remediation.enabled) {
        Some(join) if machine.node == NodeState::None => join.min(situation.desired.rollout.ready_timeout),
        Some(_) | None => situation.desired.rollout.ready_timeout,
    };
    let until = since.max(progress.since).plus(timeout.into());
    if until <= situation.observed.now {
        return Some(format!("Machine {}: its Node {what} after {timeout}", machine.name));
    }
    draft.wake_at(until);
    None
}

/// Deletes outdated Machines within the limits: first those that do not serve, then serving ones. Outside of maintenance
/// windows none, except what a rollback replaces that does not serve.
pub(crate) fn replace(situation: &Situation<'_>, draft: &mut Draft) {
    if !situation.rollout.phase.is_replacing() || situation.sizable_group().is_none() || is_blind(situation) {
        return;
    }
    let waits = situation.rollout.awaits_window;
    if waits && situation.rollout.phase != Phase::RollingBack {
        return;
    }
    // How long a new Node has been Ready is an age, and the reason to delete the Machine it replaces.
    if !situation.knows_ages() && situation.desired.rollout.min_ready != Seconds(0) {
        return;
    }
    let now = situation.observed.now;
    let progress = draft.memory.rollout.clone();
    let failed = |member: &Member<'_>| {
        let before = progress.as_ref().is_some_and(|progress| failed_before(situation, progress, member));
        member.content == ContentState::UpToDate && before
    };
    let gone = draft.deleted.clone();
    let stays: Vec<&Member<'_>> = staying(situation).filter(|member| !gone.contains(&member.name)).collect();
    let unproven: Vec<&&Member<'_>> = stays
        .iter()
        .filter(|member| member.content == ContentState::UpToDate)
        .filter(|member| !is_available(situation, member) && !failed(member))
        .collect();
    for from in unproven.iter().filter_map(|member| available_from(situation, member)) {
        if from > now {
            draft.wake_at(from);
        }
    }
    let floor = situation.least_available();
    let available = count(stays.iter().filter(|member| is_available(situation, member)));
    let spare = count(&stays).saturating_sub(floor).saturating_sub(count(&unproven));
    let canary = canary(situation, draft, count(&unproven));
    let budget = spare.min(room_to_drain(situation, draft)).min(canary);
    let idle = |member: &Member<'_>| {
        let goes = member.content == ContentState::Outdated || failed(member);
        goes && !is_available(situation, member) && !gone.contains(&member.name)
    };
    let mut queue = Queue::of(situation, idle).without(&gone, situation);
    let mut taken = Vec::new();
    while count(&taken) < budget
        && let Some(candidate) = queue.any()
    {
        taken.push(candidate);
    }
    let going: BTreeSet<MachineName> =
        gone.iter().cloned().chain(taken.iter().map(|candidate| candidate.member.name.clone())).collect();
    let serving = |member: &Member<'_>| {
        let outdated = member.content == ContentState::Outdated;
        outdated && is_available(situation, member) && !waits && !gone.contains(&member.name)
    };
    let mut queue = Queue::of(situation, serving).without(&going, situation);
    let budget = budget.min(count(&taken).saturating_add(available.saturating_sub(floor)));
    while count(&taken) < budget
        && let Some(candidate) = queue.any()
    {
        taken.push(candidate);
    }
    let Some(target) = situation.content.target_hash else { return };
    for candidate in taken {
        let why = why(situation, candidate.member, target);
        let name = candidate.machine.name.clone();
        let message = format!("Deleting Machine {name}: {why}; {}", candidate.reason(situation));
        draft.event(EventTrigger::Machine(name), EventReason::MachineDeleted, message);
        delete_machine(situation, Some(candidate.machine), &why, draft);
    }
}

fn why(situation: &Situation<'_>, member: &Member<'_>, target: &SpecHash) -> String {
    if member.content == ContentState::UpToDate {
        return format!("it failed when {target} was tried before");
    }
    let from = situation.content.spec_hash(member.instance, member.foo_machine);
    let from = from.map_or_else(|| "another launch template version".to_owned(), ToString::to_string);
    match situation.rollout.phase {
        Phase::RollingBack => format!("rolled back from {from} to {target}"),
        _ => format!("rolled from {from} to {target}"),
    }
}
