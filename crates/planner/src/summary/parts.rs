//! Parts that several conditions share.

use crate::capacity_block::limits_size;
use crate::desired::Goal;
use crate::draft::{Postponed, Until};
use crate::report::{Condition, ConditionKind, Status};
use crate::situation::{MachineState, Situation, other_terminating_hooks};
use foo_model::{HookName, InstanceId, Process, Reason, some_names};

pub(super) fn condition(
    kind: ConditionKind,
    status: Status,
    reason: Reason,
    message: impl Into<String>,
) -> Condition {
    Condition { kind, status, reason, message: message.into() }
}

/// How many Machines are being deleted, and what they wait for.
pub(super) fn departures(situation: &Situation<'_>) -> Option<(Reason, String)> {
    let (reason, message) = departing(situation)?;
    let terminate = situation.view.group().and_then(|group| group.suspended.get(&Process::Terminate));
    match terminate {
        Some(why) => {
            let held = "process Terminate of the Auto Scaling group is suspended";
            Some((reason, format!("{message}; {held} ({}): resume it", said(why))))
        }
        None => Some((reason, message)),
    }
}

/// Whether a user or AWS suspended this process of the group.
pub(super) fn is_suspended(situation: &Situation<'_>, process: Process) -> bool {
    situation.view.group().is_some_and(|group| group.suspended.contains_key(&process))
}

/// AWS's message, or a text that there is none.
pub(super) fn said(reason: &str) -> &str {
    if reason.is_empty() { "no reason given" } else { reason }
}

fn departing(situation: &Situation<'_>) -> Option<(Reason, String)> {
    let counts = situation.counts;
    if counts.draining > 0 {
        let names = named(situation, MachineState::Draining);
        let machines = many(counts.draining, "Machine");
        return Some((Reason::Draining, format!("waiting for Cluster API to drain {machines}: {names}")));
    }
    if counts.released > 0 {
        let names = named(situation, MachineState::Released);
        let instances = many(counts.released, "drained instance");
        return Some((Reason::TerminatingInstances, format!("about to terminate {instances}: {names}")));
    }
    if counts.terminating > 0 {
        let instances = many(counts.terminating, "instance");
        let held = held_by_others(situation).map(|held| format!("; {held}")).unwrap_or_default();
        let message = format!("waiting for AWS to terminate {instances}{held}");
        return Some((Reason::InstancesShuttingDown, message));
    }
    None
}

/// Which drained instances wait for lifecycle hooks that the provider does not complete.
fn held_by_others(situation: &Situation<'_>) -> Option<String> {
    let hooks = other_terminating_hooks(situation);
    let is_completed =
        |id: &InstanceId| situation.memory.hook_waits.get(id).is_some_and(|hold| hold.confirmed);
    let held = situation.members_that_are(MachineState::Terminating);
    let held = held.filter(|member| member.waits_for_hook() && is_completed(&member.instance.id));
    let held: Vec<&str> = held.map(|member| member.name.as_str()).collect();
    if hooks.is_empty() || held.is_empty() {
        return None;
    }
    let which = if hooks.len() == 1 { "the lifecycle hook" } else { "one of the lifecycle hooks" };
    let waits = if held.len() == 1 { "waits" } else { "wait" };
    let hooks = some_names(hooks.into_iter().map(HookName::as_str));
    Some(format!(
        "foo-drain is completed, and {} still {waits} until another program completes {which} {hooks}",
        some_names(held.into_iter())
    ))
}

/// The message if the MachinePool requests more than `spec.maxSize` allows.
pub(super) fn cut(situation: &Situation<'_>) -> Option<String> {
    let target = situation.target;
    let limited = limits_size(situation.desired, situation.observed);
    (target.spec_replicas > target.replicas && !limited).then(|| {
        format!(
            "the MachinePool requests {}, but spec.maxSize is {}",
            many(target.spec_replicas, "replica"),
            target.replicas
        )
    })
}

/// How many excess Machines are not deleted yet, and why.
pub(super) fn kept(situation: &Situation<'_>, held: Postponed) -> String {
    let target = situation.target.replicas;
    let why = match held.from {
        Some(from) if from > target => {
            format!("replicas lowered from {from} to {target} without marking Machines")
        }
        Some(_) | None => format!("more Machines than the desired {target}, and none of them marked"),
    };
    let nodes = if held.machines == 1 {
        "1 serving node is".to_owned()
    } else {
        format!("{} serving nodes are", held.machines)
    };
    let until = match held.until {
        Until::At(at) => format!("until {}", at.time_of_day()),
        Until::AtLeast(at) => format!("at least until {}", at.time_of_day()),
        Until::Launches(window) => {
            format!("until {} min after AWS launches instances again", window.0.div_ceil(60))
        }
    };
    format!("{why}; {nodes} kept {until} unless marked for deletion")
}

/// Names of the members in a state.
pub(super) fn named(situation: &Situation<'_>, standing: MachineState) -> String {
    some_names(situation.members_that_are(standing).map(|member| member.name.as_str()))
}

/// `1 Machine`, `2 Machines`.
pub(super) fn many(count: u32, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// What prevents the provider from deleting Machines of adopted instances, if something does.
pub(super) fn undrainable(situation: &Situation<'_>) -> Option<String> {
    let members = situation.members.iter().filter(|member| {
        // Before there is a Machine, one is about to be created; not for a pool that is being deleted.
        let stays = match member.state {
            MachineState::Active => true,
            MachineState::New | MachineState::AwaitingMachine | MachineState::OutOfService => {
                situation.desired.goal == Goal::Remove
            }
            _ => false,
        };
        stays && member.cannot_be_drained()
    });
    let ids = some_names(members.map(|member| member.instance.id.as_str()));
    (!ids.is_empty()).then(|| {
        format!(
            "Cluster API knows no Node of {ids} in the adopted group, and could not drain them, so the provider does not \
             delete their Machines; their Nodes need the provider id aws:///<zone>/<instance id>"
        )
    })
}
