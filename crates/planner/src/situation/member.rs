//! One instance with what Kubernetes and EC2 know of it.

use super::content::{Content, ContentState};
use super::view::View;
use crate::desired::{Desired, Goal};
use crate::memory::Memory;
use crate::observed::{Ec2State, Observed};
use foo_model::names::machine_name;
use foo_model::{
    FooMachine, Instance, InstanceId, LifecycleState, Machine, MachineName, Signal, SignalKind, Zone,
};
use std::collections::{BTreeMap, BTreeSet};

/// One instance of the group with what Kubernetes knows of it.
pub(crate) struct Member<'a> {
    pub(crate) instance: &'a Instance,
    pub(crate) foo_machine: Option<&'a FooMachine>,
    pub(crate) machine: Option<&'a Machine>,
    /// EC2's word on it; `None` when nobody asked, and when it has no FooMachine.
    pub(crate) ec2_state: Option<Ec2State>,
    /// What AWS announced about it.
    pub(crate) signal: Option<Signal>,
    pub(crate) name: MachineName,
    pub(crate) state: MachineState,
    pub(crate) content: ContentState,
}

/// Where a member stands between the cloud and Kubernetes (the table in the planner's specification).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MachineState {
    /// Capacity without a FooMachine.
    New,
    /// Capacity with a FooMachine that has no Machine yet.
    AwaitingMachine,
    /// Capacity with a Machine that stays.
    Active,
    /// Capacity that AWS takes back in a moment; its Machine is about to be deleted for it.
    Interrupted,
    /// Its Machine is being deleted: Cluster API is at work.
    Draining,
    /// Its FooMachine is being deleted although its Machine is alive: a person did that.
    FooMachineDeletedFirst,
    /// Cluster API let go of its FooMachine: we may end it.
    Released,
    /// We ended it and have not seen it leave yet.
    TerminateSent,
    /// On its way out.
    Terminating,
    /// A member, yet neither capacity nor on its way out: standby, warm pool, being detached, unknown.
    OutOfService,
}

impl MachineState {
    /// It exists and will go.
    pub(crate) fn is_leaving(self) -> bool {
        matches!(self, Self::Interrupted | Self::Draining | Self::FooMachineDeletedFirst | Self::Released)
    }
}

/// A FooMachine whose instance is not in the group.
pub(crate) struct MissingInstance<'a> {
    pub(crate) foo_machine: &'a FooMachine,
    pub(crate) machine: Option<&'a Machine>,
    /// EC2's word; `None` when nobody asked.
    pub(crate) ec2_state: Option<Ec2State>,
}

/// The three sources, joined per instance.
pub(super) struct Joined<'a> {
    /// One per instance in the view, by instance id.
    pub(super) members: Vec<Member<'a>>,
    /// FooMachines whose instance is not in the view, by name.
    pub(super) missing: Vec<MissingInstance<'a>>,
}

/// What each instance is looked up in.
struct Sources<'s, 'a> {
    desired: &'a Desired,
    observed: &'a Observed,
    memory: &'a Memory,
    content: &'s Content<'a>,
    foo_machines: BTreeMap<&'a InstanceId, &'a FooMachine>,
    machines: BTreeMap<&'a MachineName, &'a Machine>,
}

impl<'a> Joined<'a> {
    pub(super) fn of(
        desired: &'a Desired,
        observed: &'a Observed,
        memory: &'a Memory,
        view: View<'a>,
        content: &Content<'a>,
    ) -> Self {
        let machines = observed.machines.iter().map(|machine| (&machine.name, machine)).collect();
        let mut foo_machines = BTreeMap::new();
        for foo_machine in &observed.foo_machines {
            foo_machines.entry(&foo_machine.instance).or_insert(foo_machine);
        }
        let sources = Sources { desired, observed, memory, content, foo_machines, machines };
        let instances = view.group().map_or(&[][..], |group| &group.instances);
        let mut members: Vec<Member<'a>> =
            instances.iter().map(|instance| sources.member(instance)).collect();
        members.sort_by(|a, b| a.instance.id.cmp(&b.instance.id));
        let there: BTreeSet<&InstanceId> = instances.iter().map(|instance| &instance.id).collect();
        let absent = observed.foo_machines.iter().filter(|it| !there.contains(&it.instance));
        let mut missing: Vec<MissingInstance<'a>> =
            absent.map(|foo_machine| sources.missing(foo_machine)).collect();
        missing.sort_by(|a, b| a.foo_machine.name.cmp(&b.foo_machine.name));
        Self { members, missing }
    }
}

impl<'a> Sources<'_, 'a> {
    fn member(&self, instance: &'a Instance) -> Member<'a> {
        let foo_machine = self.foo_machines.get(&instance.id).copied();
        let name = foo_machine.map_or_else(
            || machine_name(&self.desired.identity.pool, &instance.id),
            |foo_machine| foo_machine.name.clone(),
        );
        let machine = self.machines.get(&name).copied();
        Member {
            state: self.state(instance, foo_machine, machine),
            content: self.content.state_of(instance, foo_machine),
            instance,
            foo_machine,
            machine,
            ec2_state: foo_machine.and_then(|_| self.ec2_state(&instance.id)),
            signal: self.observed.signals.get(&instance.id).copied(),
            name,
        }
    }

    fn missing(&self, foo_machine: &'a FooMachine) -> MissingInstance<'a> {
        let machine = self.machines.get(&foo_machine.name).copied();
        MissingInstance { foo_machine, machine, ec2_state: self.ec2_state(&foo_machine.instance) }
    }

    /// EC2's word on an instance, as far as it is believed.
    fn ec2_state(&self, id: &InstanceId) -> Option<Ec2State> {
        self.observed.ec2_states.get(id).map(|word| word.believed())
    }

    fn state(
        &self,
        instance: &Instance,
        foo_machine: Option<&FooMachine>,
        machine: Option<&Machine>,
    ) -> MachineState {
        if instance.lifecycle.is_leaving() {
            return MachineState::Terminating;
        }
        if self.memory.ledger.leaving.contains_key(&instance.id) {
            return MachineState::TerminateSent;
        }
        if !instance.lifecycle.is_capacity() {
            return MachineState::OutOfService;
        }
        match claim(foo_machine, machine, self.memory) {
            MachineState::Active if self.is_interrupted(&instance.id) => MachineState::Interrupted,
            standing => standing,
        }
    }

    /// AWS announced to take it back, and we may do something about it.
    fn is_interrupted(&self, id: &InstanceId) -> bool {
        let acts = self.desired.goal == Goal::Run && self.desired.pause.is_none();
        acts && self.observed.signals.get(id).is_some_and(|signal| signal.kind == SignalKind::Interruption)
    }
}

/// What Kubernetes says of a live instance.
///
/// A FooMachine that is being deleted means "released" only when its Machine is gone, or never was, or says that it
/// waits for the infrastructure: core deletes a FooMachine after drain and hooks, and never otherwise, but the garbage
/// collector and people delete it at any time. Nothing undoes a deletionTimestamp, and core skips the rest of a drain
/// once it sees one on the FooMachine; what is left in our power is to wait for core's word. With its Machine alive
/// the Machine is deleted first (see the machines step), which lets core run its pre-terminate hooks and forget the
/// Node.
pub(crate) fn claim(
    foo_machine: Option<&FooMachine>,
    machine: Option<&Machine>,
    memory: &Memory,
) -> MachineState {
    let Some(foo_machine) = foo_machine else { return MachineState::New };
    let machine_goes = machine
        .map(|machine| machine.deletion.is_deleting() || memory.deleted_machines.contains_key(&machine.name));
    match (foo_machine.deletion.is_deleting(), machine, machine_goes) {
        (false, None, _) => MachineState::AwaitingMachine,
        (false, Some(_), Some(true)) => MachineState::Draining,
        (false, Some(_), _) => MachineState::Active,
        (true, None, _) => MachineState::Released,
        // Only a deletionTimestamp that was seen releases; our own call alone does not.
        (true, Some(machine), _) if machine.lets_go() => MachineState::Released,
        (true, Some(machine), _) if machine.deletion.is_deleting() => MachineState::Draining,
        (true, Some(_), _) => MachineState::FooMachineDeletedFirst,
    }
}

impl Member<'_> {
    /// One of the pool's replicas: capacity, or on its way out and not yet gone. An id is taken off the provider id
    /// list only when its instance is gone, because core deletes the Node of an id that leaves the list.
    pub(crate) fn is_replica(&self) -> bool {
        match self.state {
            // Put aside by a person, yet it runs, with a Node and maybe pods: taken off the list, core would delete its
            // Node at once. What never was a Machine of ours (the warm pool) is not listed.
            MachineState::OutOfService => self.foo_machine.is_some(),
            // The group keeps a dead instance for our hook, too. Its Node lives until the Machine is not drained any more:
            // core deletes the Node of an id that leaves the list.
            MachineState::Terminating => {
                let undrained =
                    self.machine.is_some_and(|machine| !machine.drain_excluded && !machine.lets_go());
                let dead = self.ec2_state == Some(Ec2State::Gone) && !undrained;
                self.instance.lifecycle != LifecycleState::Terminated && !dead
            }
            MachineState::New
            | MachineState::AwaitingMachine
            | MachineState::Active
            | MachineState::Interrupted
            | MachineState::Draining
            | MachineState::FooMachineDeletedFirst
            | MachineState::Released
            | MachineState::TerminateSent => true,
        }
    }

    /// Its provider id.
    pub(crate) fn provider_id(&self) -> String {
        self.instance.id.provider_id(&self.instance.zone)
    }

    /// Whether AWS announced this of it.
    pub(crate) fn is_announced(&self, kind: SignalKind) -> bool {
        self.signal.is_some_and(|signal| signal.kind == kind)
    }

    /// Its zone.
    pub(crate) fn zone(&self) -> &Zone {
        &self.instance.zone
    }

    /// Whether it waits for a terminating hook, as far as we can tell ours.
    pub(crate) fn waits_for_hook(&self) -> bool {
        self.instance.lifecycle == LifecycleState::TerminatingWait
    }
}
