//! Which Machines are sick? What is done about it is in `steps/remediate.rs`.

use super::{Freshness, MachineState, Member, Phase, Situation};
use foo_model::{Deletion, LifecycleState, Machine, NodeState, Timestamp, count};

/// What is sick in a pool.
pub(crate) struct Sick<'s, 'a> {
    /// Machines that stay and are sick, oldest first, each with what it has.
    pub(crate) unhealthy_machines: Vec<(&'s Member<'a>, String)>,
    /// How many sick ones are going already.
    pub(crate) going: u32,
    /// When the next Node will have been given up on.
    pub(crate) next: Option<Timestamp>,
}

impl Sick<'_, '_> {
    /// How many there are, those that are going included.
    pub(crate) fn count(&self) -> u32 {
        count(&self.unhealthy_machines).saturating_add(self.going)
    }

    /// So many are sick that the cause lies elsewhere.
    pub(crate) fn is_too_much(&self, situation: &Situation<'_>) -> bool {
        self.count() > situation.desired.remediation.unhealthy_limit.up(situation.target.replicas)
    }
}

/// What did not work in a roll-out that is halted stays to be looked at.
fn is_kept_for_inspection(situation: &Situation<'_>, member: &Member<'_>) -> bool {
    situation.rollout.phase == Phase::Halted && member.freshness == Freshness::UpToDate
}

/// Whether a Machine that is going was sick when its deletion began.
fn was_sick(situation: &Situation<'_>, machine: &Machine) -> bool {
    let late = match (machine.deletion, situation.desired.remediation.join_timeout) {
        (Deletion::Since(at), Some(timeout)) => {
            machine.node == NodeState::None && machine.created.plus(timeout.into()) <= at
        }
        (Deletion::Alive, _) | (_, None) => false,
    };
    machine.sickness().is_some() || (late && !machine.spared)
}

/// Who is sick.
pub(crate) fn sick<'s, 'a>(situation: &'s Situation<'a>) -> Sick<'s, 'a> {
    let mut next = None;
    let mut patients = Vec::new();
    for member in situation.members_that_are(MachineState::Active) {
        let Some(machine) = member.machine.filter(|machine| !machine.spared) else { continue };
        if is_kept_for_inspection(situation, member) {
            continue;
        }
        if let Some(why) = machine.sickness() {
            patients.push((member, format!("MachineHealthCheck found it unhealthy: {why}")));
            continue;
        }
        let serving = member.instance.lifecycle == LifecycleState::InService;
        let Some(timeout) = situation.desired.remediation.join_timeout else { continue };
        if !serving || machine.node != NodeState::None {
            continue;
        }
        let until = machine.created.plus(timeout.into());
        if until <= situation.observed.now {
            patients.push((member, format!("its Node has not joined within {timeout}")));
        } else {
            next = Some(next.map_or(until, |next: Timestamp| next.min(until)));
        }
    }
    patients.sort_by_key(|(member, _)| (member.machine.map(|machine| machine.created), member.name.clone()));
    let going = situation
        .members_that_are(MachineState::Draining)
        .filter(|member| member.machine.is_some_and(|machine| was_sick(situation, machine)));
    Sick { unhealthy_machines: patients, going: count(going), next }
}
