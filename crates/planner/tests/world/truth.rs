//! What must hold in the truth, whatever the planner saw: checked at every call that it makes and every report.

use super::World;
use foo_model::hook::{COMPLETE_BEFORE_DEADLINE, LONGEST_WAIT};
use foo_model::{Instance, InstanceId, NodeState};
use foo_planner::action::{GroupAction, HookAction, InstanceAction, MachineAction};
use foo_planner::report::ConditionKind;
use foo_planner::{Action, Goal, Plan};
use std::collections::BTreeSet;

impl World {
    /// Called before an action is carried out.
    pub(crate) fn watch(&self, action: &Action) {
        match action {
            Action::Instance(InstanceAction::TerminateInstance { id, .. }) => self.watch_end(id),
            Action::Hook(HookAction::CompleteLifecycleAction { id, .. }) => self.watch_completion(id),
            Action::Group(GroupAction::DeleteWarmPool { .. }) => self.watch_end_of_warm_pool(),
            Action::Machine(MachineAction::ReleaseFooMachine { name, .. })
                if self.desired.goal == Goal::Run =>
            {
                let foo_machine = self.kube.foo_machine(name);
                let alive = foo_machine.is_some_and(|it| self.cloud.alive().contains(&it.instance));
                assert!(!alive, "{name} is released while its instance lives\n{}", self.story());
            }
            Action::Machine(MachineAction::ExcludeFromDraining { name, .. }) => {
                let foo_machine = self.kube.foo_machine(name);
                let alive = foo_machine.is_some_and(|it| self.cloud.alive().contains(&it.instance));
                assert!(!alive, "{name} is not drained while its instance lives\n{}", self.story());
            }
            _ => {}
        }
    }

    /// I1: a warm pool is deleted undrained. That of another user is deleted with its group, whatever is in it, if its instances are stopped.
    fn watch_end_of_warm_pool(&self) {
        let pool = self.cloud.group.as_ref().and_then(|group| group.warm_pool);
        let may_have_pods =
            self.kube.applied.warm_pool.is_none() && pool.is_some_and(|it| it.settings.may_have_pods());
        let joined = self.desired.goal == Goal::Run && !self.cloud.joined.is_empty();
        assert!(!may_have_pods && !joined, "Nodes end undrained\n{}", self.story());
    }

    /// I5: nothing that AWS terminates is released under a live or undrained Machine.
    fn watch_completion(&self, id: &InstanceId) {
        let story = || format!("letting {id} go\n{}", self.story());
        if let Some(machine) = self.kube.machine(&self.name_of(id)) {
            assert!(machine.deletion.is_deleting(), "its Machine is alive: {}", story());
            let drained = machine.node == NodeState::None || self.kube.drained.contains(&machine.name);
            let deleted_first = self.kube.deleted_first.contains(&machine.name);
            let held = self.kube.foo_machine(&machine.name).and_then(|it| it.hook_waiting_since);
            let over = held
                .is_some_and(|since| since.plus(LONGEST_WAIT).minus(COMPLETE_BEFORE_DEADLINE) <= self.now);
            assert!(drained || deleted_first || over, "it was not drained: {}", story());
        }
    }

    /// I1: nothing is ended under a living Machine, and nothing undrained unless a person saw to that.
    fn watch_end(&self, id: &InstanceId) {
        let claim = self.kube.foo_machines.iter().find(|foo_machine| foo_machine.instance == *id);
        let story = || format!("ending {id}\n{}", self.story());
        let instance = self.cloud.group.as_ref().and_then(|group| group.instance(id));
        let others = |instance: &Instance| {
            instance.template.as_ref().is_some_and(|(template, _)| template.as_str() == "lt-others")
        };
        if instance.is_some_and(others) {
            // It ran Pods before the group was adopted.
            assert!(self.kube.drained.contains(&self.name_of(id)), "it was not drained: {}", story());
        }
        let Some(claim) = claim else {
            assert!(self.desired.goal == Goal::Remove, "unknown to Kubernetes: {}", story());
            assert!(self.kube.machine(&self.name_of(id)).is_none(), "its Machine lives: {}", story());
            return;
        };
        assert!(claim.deletion.is_deleting(), "its FooMachine is alive: {}", story());
        if let Some(machine) = self.kube.machine(&claim.name) {
            assert!(machine.deletion.is_deleting(), "its Machine is alive: {}", story());
            let drained = machine.node == NodeState::None || self.kube.drained.contains(&machine.name);
            // A person deleted the FooMachine before its Machine: then core skips the drain.
            let deleted_first = self.kube.deleted_first.contains(&machine.name);
            assert!(drained || deleted_first, "it was not drained: {}", story());
        }
    }

    /// Instances that live and of which neither Machine nor FooMachine is going, and launches in flight.
    pub(crate) fn staying(&self) -> u32 {
        let group = self.cloud.group.iter().flat_map(|group| &group.instances);
        let capacity: Vec<_> = group.filter(|instance| instance.lifecycle.is_capacity()).collect();
        let coming = self.cloud.sizes().desired.saturating_sub(u32::try_from(capacity.len()).unwrap());
        let stays = capacity.iter().filter(|instance| {
            let name = self.name_of(&instance.id);
            let machine_goes = self.kube.machine(&name).is_some_and(|it| it.deletion.is_deleting());
            let foo_machine_goes = self.kube.foo_machine(&name).is_some_and(|it| it.deletion.is_deleting());
            !machine_goes && !foo_machine_goes
        });
        u32::try_from(stays.count()).unwrap() + coming
    }

    /// What every report must satisfy.
    pub(crate) fn check_report(&self, plan: &Plan) {
        let report = &plan.report;
        let kinds: Vec<ConditionKind> = report.conditions.iter().map(|condition| condition.kind).collect();
        assert!(kinds.is_sorted() && kinds.len() >= 9, "conditions always come in their order: {kinds:?}");
        if let (Some(ids), Some(counts)) = (&report.provider_ids, &report.counts) {
            let distinct: BTreeSet<&String> = ids.iter().collect();
            assert_eq!(distinct.len(), ids.len(), "provider ids are distinct");
            assert!(ids.is_sorted(), "provider ids are sorted");
            assert_eq!(u32::try_from(ids.len()).unwrap(), counts.replicas, "replicas are the ids");
        }
        assert_eq!(report.provider_ids.is_some(), report.counts.is_some(), "published together");
        assert!(self.cloud.scaled_in.is_empty(), "AWS took {:?}\n{}", self.cloud.scaled_in, self.story());
    }
}
