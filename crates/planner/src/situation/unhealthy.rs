//! Which Machines are unhealthy. `steps/remediate.rs` acts on it.

use super::{ContentState, MachineState, Member, Phase, Situation, TargetFailure, target_failure};
use foo_model::{Deletion, LifecycleState, Machine, NodeState, Timestamp, count};

/// The unhealthy Machines of a pool.
pub(crate) struct Unhealthy<'s, 'a> {
    /// Unhealthy Machines that are not being deleted, oldest first, each with what is wrong.
    pub(crate) staying: Vec<(&'s Member<'a>, String)>,
    /// How many unhealthy Machines are being deleted.
    pub(crate) leaving: u32,
    /// When the next Node exceeds the time that it may take to join.
    pub(crate) next: Option<Timestamp>,
}

impl Unhealthy<'_, '_> {
    /// How many there are, including those being deleted.
    pub(crate) fn count(&self) -> u32 {
        count(&self.staying).saturating_add(self.leaving)
    }

    /// Whether there are too many for a cause in the Machines themselves.
    pub(crate) fn exceeds_limit(&self, situation: &Situation<'_>) -> bool {
        self.count() > situation.desired.remediation.unhealthy_limit.up(situation.target.replicas)
    }
}

/// Failed instances of a halted roll-out stay for inspection.
fn is_kept_for_inspection(situation: &Situation<'_>, member: &Member<'_>) -> bool {
    situation.rollout.phase == Phase::Halted && member.content == ContentState::UpToDate
}

/// Whether a Machine that is being deleted was unhealthy when its deletion began.
fn was_unhealthy(situation: &Situation<'_>, machine: &Machine) -> bool {
    let late = match (machine.deletion, situation.desired.remediation.join_timeout) {
        (Deletion::Since(at), Some(timeout)) => {
            machine.node == NodeState::None && machine.created.plus(timeout.into()) <= at
        }
        (Deletion::Alive, _) | (_, None) => false,
    };
    machine.unhealthy_because().is_some() || (late && !machine.spared)
}

fn wake(next: &mut Option<Timestamp>, at: Timestamp) {
    *next = Some(next.map_or(at, |next| next.min(at)));
}

/// The unhealthy Machines.
pub(crate) fn unhealthy<'s, 'a>(situation: &'s Situation<'a>) -> Unhealthy<'s, 'a> {
    let mut next = None;
    let mut staying = Vec::new();
    for member in situation.members_that_are(MachineState::Active) {
        let Some(machine) = member.machine.filter(|machine| !machine.spared) else { continue };
        if is_kept_for_inspection(situation, member) || member.cannot_be_drained() {
            continue;
        }
        if let Some(why) = machine.unhealthy_because() {
            staying.push((member, format!("MachineHealthCheck found it unhealthy: {why}")));
            continue;
        }
        match target_failure(situation, member) {
            TargetFailure::Unhealthy(why) => {
                staying.push((member, why));
                continue;
            }
            TargetFailure::InGrace(until) if situation.knows_ages() => wake(&mut next, until),
            TargetFailure::InGrace(_) | TargetFailure::None => {}
        }
        let serving = member.instance.lifecycle == LifecycleState::InService;
        let Some(timeout) = situation.desired.remediation.join_timeout else { continue };
        // It joined long before it had a Machine.
        if member.adopted || !serving || machine.node != NodeState::None || !situation.knows_ages() {
            continue;
        }
        let until = machine.created.plus(timeout.into());
        if until <= situation.observed.now {
            staying.push((member, format!("its Node has not joined within {timeout}")));
        } else {
            wake(&mut next, until);
        }
    }
    staying.sort_by_key(|(member, _)| (member.machine.map(|machine| machine.created), member.name.clone()));
    // A target may become unhealthy because its Pods leave: it does not count here.
    let going = situation
        .members_that_are(MachineState::Draining)
        .filter(|member| member.machine.is_some_and(|machine| was_unhealthy(situation, machine)));
    Unhealthy { staying, leaving: count(going), next }
}
