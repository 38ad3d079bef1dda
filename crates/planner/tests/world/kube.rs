//! The objects in the management cluster, and Cluster API core at work on them.

use super::cloud::Cloud;
use foo_model::{
    Applied, Deletion, DeletionStage, DeletionTimeouts, FooMachine, InstanceId, Machine, MachineName,
    MachinePause, NodeState, RemovalMark, SpecHash, Timestamp, Uid, Zone,
};
use foo_planner::observed::{Finalizer, MoveBlock, Quarantine};
use std::collections::BTreeSet;

pub(crate) struct Kube {
    pub(crate) foo_machines: Vec<FooMachine>,
    pub(crate) machines: Vec<Machine>,
    pub(crate) finalizer: Finalizer,
    pub(crate) moves: MoveBlock,
    pub(crate) recorded_arn: Option<String>,
    pub(crate) recorded_adoption: bool,
    /// What of the spec was applied to the group, according to its annotation.
    pub(crate) applied: Applied,
    /// Instances whose Nodes have another provider id: core never finds them.
    pub(crate) unlinked: BTreeSet<InstanceId>,
    /// Whether the MachinePool is being deleted: core makes no Machines then.
    pub(crate) pool_deleting: bool,
    /// Machines whose drain a disruption budget blocks.
    pub(crate) held_up: BTreeSet<MachineName>,
    /// Machines whose drain was completed by core, on a living Node.
    pub(crate) drained: BTreeSet<MachineName>,
    /// Machines whose FooMachine a person deleted.
    pub(crate) deleted_first: BTreeSet<MachineName>,
    /// Machines whose objects were removed while their instances stay.
    pub(crate) retained: BTreeSet<MachineName>,
    /// The record of failed content.
    pub(crate) quarantine: Vec<Quarantine>,
    /// Content whose Nodes never join.
    pub(crate) broken: BTreeSet<SpecHash>,
    /// Machines whose Nodes were cordoned.
    pub(crate) cordoned: BTreeSet<MachineName>,
    /// Machines whose Nodes cannot be cordoned.
    pub(crate) uncordonable: BTreeSet<MachineName>,
    /// The workload cluster does not respond.
    pub(crate) workload_is_away: bool,
    uids: u32,
}

impl Kube {
    pub(crate) fn new() -> Self {
        Self {
            foo_machines: Vec::new(),
            machines: Vec::new(),
            finalizer: Finalizer::Absent,
            moves: MoveBlock::Free,
            recorded_arn: None,
            recorded_adoption: false,
            applied: Applied::default(),
            unlinked: BTreeSet::new(),
            pool_deleting: false,
            held_up: BTreeSet::new(),
            drained: BTreeSet::new(),
            deleted_first: BTreeSet::new(),
            retained: BTreeSet::new(),
            quarantine: Vec::new(),
            broken: BTreeSet::new(),
            cordoned: BTreeSet::new(),
            uncordonable: BTreeSet::new(),
            workload_is_away: false,
            uids: 0,
        }
    }

    pub(crate) fn machine(&self, name: &MachineName) -> Option<&Machine> {
        self.machines.iter().find(|machine| machine.name == *name)
    }

    pub(crate) fn machine_mut(&mut self, name: &MachineName) -> Option<&mut Machine> {
        self.machines.iter_mut().find(|machine| machine.name == *name)
    }

    pub(crate) fn foo_machine(&self, name: &MachineName) -> Option<&FooMachine> {
        self.foo_machines.iter().find(|foo_machine| foo_machine.name == *name)
    }

    pub(crate) fn foo_machine_mut(&mut self, name: &MachineName) -> Option<&mut FooMachine> {
        self.foo_machines.iter_mut().find(|foo_machine| foo_machine.name == *name)
    }

    /// etcd is restored to when only this many of the first Machines existed.
    pub(crate) fn restore(&mut self, machines: u32) {
        let kept = usize::try_from(machines).unwrap();
        let names: BTreeSet<_> =
            self.machines.iter().map(|machine| machine.name.clone()).skip(kept).collect();
        self.machines.retain(|machine| !names.contains(&machine.name));
        self.foo_machines.retain(|machine| !names.contains(&machine.name));
    }

    /// Names of Machines that are not being deleted, in order.
    pub(crate) fn alive(&self) -> Vec<MachineName> {
        self.machines
            .iter()
            .filter(|machine| !machine.deletion.is_deleting())
            .map(|machine| machine.name.clone())
            .collect()
    }

    /// Everything core and the kubelets do, one step each.
    pub(crate) fn work(&mut self, now: Timestamp, cloud: &Cloud) {
        self.forget_machines();
        self.make_machines(now);
        self.join_nodes(now, cloud);
        self.confirm_pauses();
        self.drain(now, cloud);
    }

    /// Core reports Machines as paused that have the annotation.
    pub(crate) fn confirm_pauses(&mut self) {
        for machine in &mut self.machines {
            if machine.pause == MachinePause::Requested {
                machine.pause = MachinePause::InForce;
            }
        }
    }

    /// Removes the objects of an instance that stays, as the controller does it: after a live read of the Machine.
    pub(crate) fn retain(
        &mut self,
        name: &MachineName,
        foo_machine: Option<&Uid>,
        machine: Option<&Uid>,
    ) -> Result<(), &'static str> {
        let live = self.machine(name);
        if live.map(|machine| &machine.uid) != machine {
            return Err("another Machine");
        }
        let ready = |machine: &Machine| match machine.pause {
            MachinePause::Removing => true,
            MachinePause::Requested | MachinePause::InForce => !machine.deletion.is_deleting(),
            MachinePause::None | MachinePause::ByUser => false,
        };
        if !live.is_none_or(ready) {
            return Err("it is not paused, or is being deleted");
        }
        self.foo_machines.retain(|it| it.name != *name || Some(&it.uid) != foo_machine);
        self.machines.retain(|machine| machine.name != *name);
        self.retained.insert(name.clone());
        Ok(())
    }

    /// Whether core has something left to do. A drain that hangs is not something.
    pub(crate) fn moves(&self, cloud: &Cloud) -> bool {
        let unclaimed = !self.pool_deleting
            && self.foo_machines.iter().any(|foo_machine| {
                !foo_machine.deletion.is_deleting() && self.machine(&foo_machine.name).is_none()
            });
        let leaving = self.machines.iter().any(|machine| {
            machine.deletion.is_deleting()
                && machine.pause == MachinePause::None
                && (!self.hangs(machine, cloud) || self.foo_machine(&machine.name).is_none())
        });
        let pauses = self.machines.iter().any(|machine| machine.pause == MachinePause::Requested);
        unclaimed || pauses || leaving || self.skippable_drains().next().is_some()
    }

    /// The Machine of a FooMachine, unless the pool is going.
    pub(crate) fn make_machines(&mut self, now: Timestamp) {
        if self.pool_deleting {
            return;
        }
        let bare: Vec<MachineName> = self
            .foo_machines
            .iter()
            .filter(|foo_machine| !foo_machine.deletion.is_deleting())
            .map(|foo_machine| foo_machine.name.clone())
            .filter(|name| self.machine(name).is_none())
            .collect();
        for name in bare {
            let uid = self.next_uid();
            self.machines.push(Machine {
                name,
                uid,
                deletion: Deletion::Alive,
                mark: RemovalMark::None,
                node: NodeState::None,
                node_since: None,
                unhealthy: None,
                spared: false,
                timeouts: DeletionTimeouts::default(),
                drain_excluded: false,
                pause: MachinePause::None,
                stage: DeletionStage::Preparing,
                created: now,
            });
        }
    }

    /// Nodes of instances in service join and become ready.
    pub(crate) fn join_nodes(&mut self, now: Timestamp, cloud: &Cloud) {
        let serving: BTreeSet<MachineName> = self
            .foo_machines
            .iter()
            .filter(|foo_machine| {
                let works = foo_machine.spec_hash.as_ref().is_none_or(|hash| !self.broken.contains(hash));
                let lifecycle = cloud.lifecycle(&foo_machine.instance);
                works
                    && !self.unlinked.contains(&foo_machine.instance)
                    && lifecycle == Some(foo_model::LifecycleState::InService)
            })
            .map(|foo_machine| foo_machine.name.clone())
            .collect();
        for machine in &mut self.machines {
            if serving.contains(&machine.name) && machine.node == NodeState::None {
                machine.node = NodeState::Ready;
                machine.node_since = Some(now);
            }
        }
    }

    /// Drains end, and core deletes the FooMachine. A drain on a Node whose instance is gone never ends by itself:
    /// its pods cannot be evicted.
    pub(crate) fn drain(&mut self, now: Timestamp, cloud: &Cloud) {
        let done: Vec<MachineName> = self
            .machines
            .iter()
            .filter(|machine| machine.deletion.is_deleting() && !self.hangs(machine, cloud))
            .map(|machine| machine.name.clone())
            .collect();
        self.skip_drains();
        for name in done {
            let first =
                self.foo_machine(&name).is_some_and(|foo_machine| !foo_machine.deletion.is_deleting());
            if first {
                self.drained.insert(name.clone());
                self.delete_foo_machine(&name, now);
            }
        }
        self.skip_drains();
    }

    /// Core notes that it waits for a FooMachine that is being deleted, whoever deleted it: it skips the drain then.
    pub(crate) fn skip_drains(&mut self) {
        let going: Vec<MachineName> = self.skippable_drains().map(|machine| machine.name.clone()).collect();
        for name in going {
            if let Some(machine) = self.machine_mut(&name) {
                machine.stage = DeletionStage::WaitsForInfrastructure;
            }
        }
    }

    fn skippable_drains(&self) -> impl Iterator<Item = &Machine> {
        self.machines.iter().filter(|machine| {
            machine.deletion.is_deleting()
                && machine.stage == DeletionStage::Preparing
                && !matches!(machine.pause, MachinePause::InForce | MachinePause::Removing)
                && self
                    .foo_machine(&machine.name)
                    .is_none_or(|foo_machine| foo_machine.deletion.is_deleting())
        })
    }

    fn hangs(&self, machine: &Machine, cloud: &Cloud) -> bool {
        if matches!(machine.pause, MachinePause::InForce | MachinePause::Removing) {
            return true;
        }
        let Some(foo_machine) = self.foo_machine(&machine.name) else { return false };
        if foo_machine.deletion.is_deleting() {
            // Waits for us, not for a drain.
            return true;
        }
        let alive = cloud.alive().contains(&foo_machine.instance);
        let dead_node = !alive && machine.node != NodeState::None;
        (self.held_up.contains(&machine.name) || dead_node) && !machine.drain_excluded
    }

    /// Machines whose FooMachine is gone go.
    pub(crate) fn forget_machines(&mut self) {
        let left: BTreeSet<MachineName> =
            self.foo_machines.iter().map(|foo_machine| foo_machine.name.clone()).collect();
        self.machines.retain(|machine| !machine.deletion.is_deleting() || left.contains(&machine.name));
    }

    pub(crate) fn create_foo_machine(
        &mut self,
        name: &MachineName,
        instance: &InstanceId,
        zone: &Zone,
        spec_hash: Option<&SpecHash>,
    ) {
        if self.foo_machine(name).is_some() {
            return;
        }
        let uid = self.next_uid();
        self.foo_machines.push(FooMachine {
            name: name.clone(),
            uid,
            instance: instance.clone(),
            zone: zone.clone(),
            deletion: Deletion::Alive,
            has_finalizer: true,
            spec_hash: spec_hash.cloned(),
            hook_waiting_since: None,
        });
    }

    pub(crate) fn delete_foo_machine(&mut self, name: &MachineName, now: Timestamp) {
        if let Some(foo_machine) = self.foo_machine_mut(name)
            && !foo_machine.deletion.is_deleting()
        {
            foo_machine.deletion = Deletion::Since(now);
        }
        self.sweep();
    }

    pub(crate) fn release_foo_machine(&mut self, name: &MachineName) {
        if let Some(foo_machine) = self.foo_machine_mut(name) {
            foo_machine.has_finalizer = false;
        }
        self.sweep();
    }

    fn sweep(&mut self) {
        self.foo_machines
            .retain(|foo_machine| foo_machine.has_finalizer || !foo_machine.deletion.is_deleting());
    }

    pub(crate) fn delete_machine(&mut self, name: &MachineName, now: Timestamp) {
        if let Some(machine) = self.machine_mut(name)
            && !machine.deletion.is_deleting()
        {
            machine.deletion = Deletion::Since(now);
        }
    }

    fn next_uid(&mut self) -> Uid {
        self.uids += 1;
        Uid::new(format!("uid-{}", self.uids))
    }
}
