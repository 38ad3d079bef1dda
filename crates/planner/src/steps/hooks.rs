//! Does the provider's lifecycle hook delay terminations by AWS, and which instances may AWS terminate now?
//!
//! Whatever terminates an instance (rebalancing, a health check, a spot interruption, a user in the console,
//! an instance refresh, the provider), it enters `Terminating:Wait` first. The machines step deletes its
//! Machine, Cluster API drains its Node, and then this step completes the lifecycle action. It needs no
//! events: the sweep shows the state.

use crate::action::{HookAction, ReadAction};
use crate::desired::Goal;
use crate::draft::{Draft, Stage};
use crate::memory::EFFECT_DEADLINE;
use crate::observed::{Ec2State, LastRead};
use crate::report::EventTrigger;
use crate::situation::{
    MachineState, Member, Situation, View, claim, is_secured, leaves_warm_pool, other_terminating_hooks,
};
use foo_model::group::GroupStatus;
use foo_model::hook::{
    COMPLETE_BEFORE_DEADLINE, DESCRIBE_HOOK_AFTER, HEARTBEAT_INTERVAL, HookConfig, HookWait, NODE_COMES,
};
use foo_model::{EventReason, Group, HookName, LifecycleHook, LifecycleState, Timestamp, Transition};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Maximum of completions in one plan. Each is a call; twenty leave room for other pools of the account, and
/// the next pass continues.
const COMPLETED_AT_ONCE: usize = 20;

/// When a pool is planned again whose instances leave the warm pool, or whose adopted group is about to get the hook.
const SOON: Duration = Duration::from_secs(2);

/// Creates the hook, or restores its settings.
pub(crate) fn provide(situation: &Situation<'_>, draft: &mut Draft) {
    let Some(group) = situation.writable_group() else { return };
    let name = group.name.clone();
    // An adopted group has none from its creation: nothing comes before it.
    let (reads, writes) = if situation.observed.was_adopted(group) {
        (Stage::Protect, Stage::Protect)
    } else {
        (Stage::Read, Stage::Decorate)
    };
    if !is_secured(situation, group) && !matches!(situation.observed.hook, LastRead::Failed { .. }) {
        // The settings of the group wait for it.
        draft.wake_at(situation.observed.now.plus(SOON));
    }
    match &situation.observed.hook {
        // It delays terminations, and there is nothing to terminate: a manager that starts with many empty groups does not ask about each.
        LastRead::Unknown
            if group.instances.is_empty() && group.sizes.desired == 0 && !has_others(situation) => {}
        LastRead::Unknown if only_confirms(situation, draft) => {
            draft.wake_at(situation.observed.confirmed_from);
        }
        LastRead::Unknown => draft.act(reads, ReadAction::DescribeLifecycleHook { group: name }),
        LastRead::At { at, .. } if is_outdated(situation, *at) => {
            draft.act(reads, ReadAction::DescribeLifecycleHook { group: name });
        }
        LastRead::At { seen: Some(terms), .. } if *terms == HookConfig::DRAIN => {}
        LastRead::At { seen, .. } => {
            if seen.is_some() {
                let message = "Restoring lifecycle hook foo-drain: it was changed outside this provider";
                draft.event(EventTrigger::Nothing, EventReason::DrainHookRepaired, message);
            }
            draft.act(writes, HookAction::PutLifecycleHook { group: name, terms: HookConfig::DRAIN });
        }
        LastRead::Failed { .. } => {}
    }
}

/// Creates, changes and deletes lifecycle hooks of the spec.
pub(super) fn change_others(
    put: BTreeMap<HookName, LifecycleHook>,
    delete: BTreeSet<HookName>,
    situation: &Situation<'_>,
    draft: &mut Draft,
) {
    let group = &situation.desired.identity.group;
    for (name, hook) in put {
        let mut before = situation.observed.other_hooks.get(&name).cloned();
        // It concerns instances that this plan launches, too.
        let stage = if hook.transition == Transition::Launching { Stage::Protect } else { Stage::Decorate };
        // No call clears the text.
        let loses_text = before.as_ref().is_some_and(|it| it.metadata.is_some() && hook.metadata.is_none());
        if loses_text {
            let (group, name) = (group.clone(), name.clone());
            draft.act(stage, HookAction::DeleteOtherHook { group, name });
            before = None;
        }
        draft.act(stage, HookAction::PutOtherHook { group: group.clone(), name, hook, before });
    }
    for name in delete {
        draft.act(Stage::Decorate, HookAction::DeleteOtherHook { group: group.clone(), name });
    }
}

/// Whether a first read of the hook would only confirm what this manager's predecessor read or set, and may come later: the pool is
/// idle, nothing is about to launch or to terminate instances. At other times, too, the hook of an idle pool is read once per
/// [`DESCRIBE_HOOK_AFTER`] only.
fn only_confirms(situation: &Situation<'_>, draft: &Draft) -> bool {
    let counts = situation.counts;
    let moving = counts.terminating + counts.departing + counts.booting + counts.without_foo_machine > 0;
    let secured = situation.writable_group().is_some_and(|group| is_secured(situation, group));
    situation.observed.now < situation.observed.confirmed_from
        && secured
        && !(moving || situation.unlaunched() > 0)
        && !(has_others(situation) || draft.does_something())
}

/// Whether the spec names lifecycle hooks, or has named them.
fn has_others(situation: &Situation<'_>) -> bool {
    let wanted = situation.desired.group.hooks.as_ref().is_some_and(|hooks| !hooks.is_empty());
    wanted || !situation.observed.applied.lifecycle_hooks.is_empty()
}

/// Whether a lifecycle hook has left the spec.
fn has_left(situation: &Situation<'_>) -> bool {
    let left = situation.desired.group.no_longer_named(&situation.observed.applied);
    !left.lifecycle_hooks.is_empty()
}

/// Whether the hook was read too long ago, or not since an instance terminated without waiting: a user may have deleted it. Or a hook
/// has left the spec that this manager's predecessor may have created after the read.
fn is_outdated(situation: &Situation<'_>, at: Timestamp) -> bool {
    at.until(situation.observed.now) >= DESCRIBE_HOOK_AFTER
        || (situation.is_settled() && !situation.shows_predecessor(Some(at)) && has_left(situation))
        || (situation.observed.group.seen_at() > Some(at) && slipped_through(situation))
}

/// Whether AWS is terminating an instance that did not wait for our hook.
fn slipped_through(situation: &Situation<'_>) -> bool {
    situation.members_that_are(MachineState::Terminating).any(|member| {
        member.instance.lifecycle == LifecycleState::Terminating
            && member.machine.is_some_and(|machine| !machine.deletion.is_deleting())
    })
}

/// Sends heartbeats for instances whose Machine drains, and completes the lifecycle action of drained ones.
pub(crate) fn serve(situation: &Situation<'_>, draft: &mut Draft) {
    let View::Own(group) = situation.view else { return };
    if !situation.knows_members() {
        return;
    }
    release_from_warm_pool(situation, group, draft);
    let now = situation.observed.now;
    let mut completed = 0;
    // While the pool is deleted, nothing else reads which hook an instance waits for.
    let mut unknown = situation.desired.goal != Goal::Run && situation.observed.hook == LastRead::Unknown;
    for member in
        situation.members_that_are(MachineState::Terminating).filter(|member| member.waits_for_hook())
    {
        let hold = hook_wait_of(situation, member, draft);
        let again = completed_again_after(situation, hold);
        if let Some(at) = hold.completed.filter(|at| at.until(now) < again) {
            draft.wake_at(at.plus(again));
            if hold.confirmed && std::mem::take(&mut unknown) {
                draft.act(Stage::Read, ReadAction::DescribeLifecycleHook { group: group.name.clone() });
            }
            continue;
        }
        let why = verdict(situation, member, hold);
        if let Some(why) = why {
            completed += 1;
            if completed <= COMPLETED_AT_ONCE {
                complete(group, member, why, draft);
                continue;
            }
            draft.wake_at(now);
        }
        record_heartbeat(group, member, hold, now, draft);
        draft.wake_at(hold.deadline().minus(COMPLETE_BEFORE_DEADLINE));
    }
}

/// Completes the lifecycle actions of instances that leave the group's warm pool: they are no Nodes. No observation of the group shows them;
/// without an event of AWS they end by the hook's timeout.
fn release_from_warm_pool(situation: &Situation<'_>, group: &Group, draft: &mut Draft) {
    let announced = situation.observed.signals.keys();
    let leaving = announced.filter(|id| leaves_warm_pool(situation, id));
    for id in leaving.take(COMPLETED_AT_ONCE) {
        let why = "it leaves the warm pool and never was a Node".to_owned();
        let (group, id) = (group.name.clone(), id.clone());
        draft.act(Stage::Ends, HookAction::CompleteLifecycleAction { group, id, why });
        // No observation shows that it is complete, or that others wait.
        draft.wake_at(situation.observed.now.plus(SOON));
    }
}

/// How long after a completion the lifecycle action is completed again if the instance still waits. If AWS confirmed the completion and
/// the group has other hooks, the instance waits for one of those: the provider repeats its own rarely, only because the other hook
/// may have been deleted meanwhile and another wait have begun.
fn completed_again_after(situation: &Situation<'_>, hold: HookWait) -> Duration {
    let another = hold.confirmed && !other_terminating_hooks(situation).is_empty();
    if another { HEARTBEAT_INTERVAL } else { EFFECT_DEADLINE }
}

/// What is known of a wait; a new one is remembered.
fn hook_wait_of(situation: &Situation<'_>, member: &Member<'_>, draft: &mut Draft) -> HookWait {
    let id = &member.instance.id;
    if let Some(hold) = draft.memory.hook_waits.get(id) {
        return *hold;
    }
    let now = situation.observed.now;
    let recorded = member.foo_machine.and_then(|foo_machine| foo_machine.hook_waiting_since);
    let hold =
        HookWait { since: recorded.unwrap_or(now), last_heartbeat: None, completed: None, confirmed: false };
    draft.memory.hook_waits.insert(id.clone(), hold);
    let taken = member.machine.filter(|machine| !machine.deletion.is_deleting());
    if let (None, Some(machine)) = (recorded, taken) {
        let because = situation
            .observed
            .termination_causes
            .get(id)
            .map(|cause| format!(" ({cause})"))
            .unwrap_or_default();
        draft.event(
            EventTrigger::Machine(machine.name.clone()),
            EventReason::InstanceTerminatedByAws,
            format!(
                "AWS is terminating instance {id}{because}; termination waits until Machine {} is drained",
                machine.name
            ),
        );
    }
    hold
}

/// Until when an adopted instance that AWS terminates waits for its FooMachine, Machine and Node: before Cluster API has found the
/// Node, it would drain nothing. `None`: nothing is awaited.
pub(super) fn awaits_node(situation: &Situation<'_>, member: &Member<'_>) -> Option<Timestamp> {
    let is_dead = member.ec2_state == Some(Ec2State::Gone);
    let is_created = situation.desired.goal == Goal::Run
        && matches!(situation.view, View::Own(group) if group.status != GroupStatus::Deleting);
    let comes = member.machine.is_some() || is_created;
    if !member.waits_for_hook() || !member.cannot_be_drained() || is_dead || !comes {
        return None;
    }
    let now = situation.observed.now;
    let remembered = situation.memory.hook_waits.get(&member.instance.id).map(|hold| hold.since);
    let recorded = member.foo_machine.and_then(|foo_machine| foo_machine.hook_waiting_since);
    // An age that is not known ends no instance.
    let since = remembered.or(recorded).filter(|_| situation.knows_ages()).unwrap_or(now);
    let until = since.plus(NODE_COMES);
    (now < until).then_some(until)
}

/// Why a wait may be over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Drained,
    NeverJoined,
    OutOfTime,
}

fn verdict(situation: &Situation<'_>, member: &Member<'_>, hold: HookWait) -> Option<Verdict> {
    let now = situation.observed.now;
    let coming = situation.memory.created_machines.contains_key(&member.name);
    match claim(member.foo_machine, member.machine, situation.memory) {
        MachineState::Released => Some(Verdict::Drained),
        // The Machine of an instance that has Pods is about to be created.
        MachineState::New if awaits_node(situation, member).is_some() => None,
        MachineState::AwaitingMachine
            if member.adopted && (!situation.knows_ages() || now < hold.since.plus(NODE_COMES)) =>
        {
            None
        }
        MachineState::New | MachineState::AwaitingMachine if member.machine.is_none() && !coming => {
            Some(Verdict::NeverJoined)
        }
        _ if situation.knows_ages() && now >= hold.deadline().minus(COMPLETE_BEFORE_DEADLINE) => {
            Some(Verdict::OutOfTime)
        }
        _ => None,
    }
}

fn complete(group: &Group, member: &Member<'_>, verdict: Verdict, draft: &mut Draft) {
    let id = member.instance.id.clone();
    let why = match verdict {
        Verdict::Drained => "its Machine is drained",
        Verdict::NeverJoined => "it has no Machine",
        Verdict::OutOfTime => "AWS waits for at most 48 hours, and the drain has not finished",
    };
    if verdict == Verdict::OutOfTime {
        let message = format!("Instance {id} is terminated although its Machine is not drained: {why}");
        draft.event(EventTrigger::Hook(id.clone()), EventReason::DrainIncomplete, message);
    }
    let group = group.name.clone();
    draft.act(Stage::Ends, HookAction::CompleteLifecycleAction { group, id, why: why.to_owned() });
}

fn record_heartbeat(group: &Group, member: &Member<'_>, hold: HookWait, now: Timestamp, draft: &mut Draft) {
    let id = member.instance.id.clone();
    // The wait began with a full timeout; when a predecessor sent its last heartbeat is unknown.
    let due = hold.last_heartbeat.unwrap_or(hold.since).plus(HEARTBEAT_INTERVAL);
    if now < due {
        draft.wake_at(due);
        return;
    }
    draft.act(Stage::Protect, HookAction::RecordHeartbeat { group: group.name.clone(), id });
}
