//! One instance with what Kubernetes and EC2 report about it.

use super::content::{Content, ContentState};
use super::view::View;
use crate::desired::{Desired, Goal};
use crate::memory::Memory;
use crate::observed::{Ec2State, Observed};
use foo_model::names::machine_name;
use foo_model::{
    FooMachine, Instance, InstanceId, LifecycleState, Machine, MachineName, NodeState, Signal, SignalKind,
    Zone,
};
use std::collections::{BTreeMap, BTreeSet};

/// One instance of the group with its Kubernetes objects.
pub(crate) struct Member<'a> {
    pub(crate) instance: &'a Instance,
    pub(crate) foo_machine: Option<&'a FooMachine>,
    pub(crate) machine: Option<&'a Machine>,
    /// State reported by EC2; `None` if it was not requested or the instance has no FooMachine.
    pub(crate) ec2_state: Option<Ec2State>,
    /// What AWS announced about it.
    pub(crate) signal: Option<Signal>,
    pub(crate) name: MachineName,
    pub(crate) state: MachineState,
    pub(crate) content: ContentState,
    /// It may have run Pods before it had a Machine, because its group was adopted.
    pub(crate) adopted: bool,
}

/// The state of a member in AWS and Kubernetes (docs/concepts/machines.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MachineState {
    /// Capacity without a FooMachine.
    New,
    /// Capacity with a FooMachine that has no Machine yet.
    AwaitingMachine,
    /// Capacity with a Machine that is not being deleted.
    Active,
    /// Capacity that AWS is about to interrupt; its Machine is deleted for that reason.
    Interrupted,
    /// Its Machine is being deleted: Cluster API drains it.
    Draining,
    /// A user deleted its FooMachine although its Machine is not being deleted.
    FooMachineDeletedFirst,
    /// Cluster API has released its FooMachine: the provider may terminate it.
    Released,
    /// The provider sent its termination, which is not observed yet.
    TerminateSent,
    /// AWS is terminating it.
    Terminating,
    /// Neither capacity nor terminating: standby, warm pool, detaching, unknown.
    OutOfService,
}

impl MachineState {
    /// Whether it exists and is to be terminated.
    pub(crate) fn is_leaving(self) -> bool {
        matches!(self, Self::Interrupted | Self::Draining | Self::FooMachineDeletedFirst | Self::Released)
    }
}

/// A FooMachine whose instance is not in the group.
pub(crate) struct MissingInstance<'a> {
    pub(crate) foo_machine: &'a FooMachine,
    pub(crate) machine: Option<&'a Machine>,
    /// State reported by EC2; `None` if it was not requested.
    pub(crate) ec2_state: Option<Ec2State>,
}

/// The three sources, joined per instance.
pub(super) struct Joined<'a> {
    /// One per observed instance, by instance id.
    pub(super) members: Vec<Member<'a>>,
    /// FooMachines whose instance was not observed in the group, by name.
    pub(super) missing: Vec<MissingInstance<'a>>,
}

/// The sources that are joined.
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
            adopted: self.content.may_be_adopted(instance, foo_machine),
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

    /// The state that EC2 reports for an instance, as far as the provider acts on it.
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

    /// Whether AWS announced its interruption and the provider may act on that.
    fn is_interrupted(&self, id: &InstanceId) -> bool {
        let acts = self.desired.goal == Goal::Run && self.desired.pause.is_none();
        acts && self.observed.signals.get(id).is_some_and(|signal| signal.kind == SignalKind::Interruption)
    }
}

/// The state of a live instance according to Kubernetes.
///
/// A FooMachine that is being deleted counts as released only if its Machine is gone, never existed, or waits
/// for infrastructure deletion. Cluster API deletes a FooMachine only after drain and hooks, but the garbage
/// collector and users can delete it at any time. A deletionTimestamp cannot be undone, and Cluster API skips
/// the rest of a drain once the FooMachine has one; so the provider waits for Cluster API. If the Machine is
/// not being deleted, the machines step deletes it first, which lets Cluster API run its pre-terminate hooks
/// and delete the Node.
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
        // Only an observed deletionTimestamp releases; the provider's own call does not suffice.
        (true, Some(machine), _) if machine.releases_instance() => MachineState::Released,
        (true, Some(machine), _) if machine.deletion.is_deleting() => MachineState::Draining,
        (true, Some(_), _) => MachineState::FooMachineDeletedFirst,
    }
}

impl Member<'_> {
    /// Whether it is one of the pool's replicas: capacity, or terminating and not gone yet. An id leaves the
    /// provider id list only when its instance is gone, because Cluster API deletes the Node of an id that
    /// leaves the list.
    pub(crate) fn is_replica(&self) -> bool {
        match self.state {
            // A user put it into standby, but it runs, with a Node and maybe pods; without its id in the list
            // Cluster API would delete the Node at once. An instance that never had a Machine (warm pool) is
            // not listed.
            MachineState::OutOfService => self.foo_machine.is_some(),
            // The group keeps a dead instance for our hook, too. Its Node stays until Cluster API stops
            // draining the Machine: Cluster API deletes the Node of an id that leaves the list.
            MachineState::Terminating => {
                let undrained = self
                    .machine
                    .is_some_and(|machine| !machine.drain_excluded && !machine.releases_instance());
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

    /// Whether Cluster API could not drain it although Pods may run on it: an adopted instance whose Node is not known, because
    /// Cluster API has not found it yet or it has another provider id. The provider deletes no such Machine by its own choice.
    pub(crate) fn cannot_be_drained(&self) -> bool {
        self.adopted && self.machine.is_none_or(|machine| machine.node == NodeState::None)
    }

    /// Its provider id.
    pub(crate) fn provider_id(&self) -> String {
        self.instance.id.provider_id(&self.instance.zone)
    }

    /// Whether AWS announced this about it.
    pub(crate) fn is_announced(&self, kind: SignalKind) -> bool {
        self.signal.is_some_and(|signal| signal.kind == kind)
    }

    /// Its zone.
    pub(crate) fn zone(&self) -> &Zone {
        &self.instance.zone
    }

    /// Whether it waits for a terminating hook; the provider assumes that it is its own.
    pub(crate) fn waits_for_hook(&self) -> bool {
        self.instance.lifecycle == LifecycleState::TerminatingWait
    }
}
