//! What users, autoscalers, operators and AWS's bad days do.

use super::World;
use foo_model::names::{INSTALLATION_OF_RETAINED, TAG_INSTALLATION};
use foo_model::{Adoption, InstanceId, InstancesMix, MachineName, Protection, RemovalMark, SignalKind};
use foo_planner::Goal;
use foo_planner::desired::{RolloutPause, Size, Wanted};
use foo_planner::observed::{Quarantine, Verdict};
use std::time::Duration;

impl World {
    /// MachinePool.spec.replicas as it stands.
    pub(crate) fn target(&self) -> u32 {
        match self.desired.size {
            Size::Replicas { wanted, .. } => wanted,
            Size::External { published, .. } => published,
            Size::Unknown => panic!("the target is unknown"),
        }
    }

    /// A user writes MachinePool.spec.replicas.
    pub(crate) fn scale_to(&mut self, replicas: u32) {
        self.record(format!("replicas = {replicas}"));
        self.targets = (self.targets.0.min(replicas), self.targets.1.max(replicas));
        match &mut self.desired.size {
            Size::Replicas { wanted, .. } => *wanted = replicas,
            Size::External { published, .. } => *published = replicas,
            Size::Unknown => {}
        }
    }

    /// A user names types of both architectures, and this image for those of arm64.
    pub(crate) fn names_arm64_image(&mut self, image: &str) {
        self.chooses_from(super::both_architectures(image), image);
    }

    /// A user describes types of both architectures by their attributes, and names this image for those of arm64.
    pub(crate) fn describes_types_with_arm64_image(&mut self, image: &str) {
        self.chooses_from(super::sets_of_both_architectures(image), image);
    }

    fn chooses_from(&mut self, mix: InstancesMix, image: &str) {
        self.record(format!("the image of arm64 = {image}"));
        self.desired.group.mix = Some(mix);
        if let Wanted::Ready(template) = &mut self.desired.template {
            template.content.arm64_image = Some(image.into());
        }
    }

    /// A user requests this content, which failed already.
    pub(crate) fn fails(&mut self, spec: &str) {
        self.record(format!("{spec} is wanted, and has failed"));
        self.desired.template = Wanted::Ready(super::content(spec, "d1"));
        self.kube.quarantine =
            vec![Quarantine { hash: spec.into(), message: "failed".to_owned(), verdict: Verdict::Stands }];
    }

    /// Time passes for all Machines that there are, and for nothing else.
    pub(crate) fn grow_old(&mut self, seconds: u32) {
        self.record(format!("all Machines are {seconds} s older"));
        for machine in &mut self.kube.machines {
            machine.created = machine.created.minus(Duration::from_secs(seconds.into()));
        }
    }

    /// Time passes for one Machine only.
    pub(crate) fn grow_old_alone(&mut self, name: &MachineName, seconds: u32) {
        self.record(format!("{name} is {seconds} s older"));
        if let Some(machine) = self.kube.machine_mut(name) {
            machine.created = machine.created.minus(Duration::from_secs(seconds.into()));
        }
    }

    /// The next maintenance window opens in so many seconds, for an hour; 0: one is open now.
    pub(crate) fn opens_in(&mut self, seconds: u32) {
        self.record(format!("a maintenance window opens in {seconds} s"));
        self.desired.maintenance = super::window(self.now, seconds);
    }

    /// The autoscaler marks a Machine, its first write of a scale-in.
    pub(crate) fn mark(&mut self, name: &MachineName) {
        self.record(format!("{name} is marked"));
        if let Some(machine) = self.kube.machine_mut(name) {
            machine.mark = RemovalMark::DeleteFirst;
        }
    }

    /// The autoscaler takes its mark back.
    pub(crate) fn unmark(&mut self, name: &MachineName) {
        self.record(format!("{name} is unmarked"));
        if let Some(machine) = self.kube.machine_mut(name) {
            machine.mark = RemovalMark::None;
        }
    }

    /// A user writes the group's desired capacity, and its maximum if needed.
    pub(crate) fn set_desired_by_hand(&mut self, desired: u32) {
        self.record(format!("desired capacity = {desired} by hand"));
        if let Some(group) = &mut self.cloud.group {
            group.sizes.max = group.sizes.max.max(desired);
            group.sizes.min = group.sizes.min.min(desired);
            group.sizes.desired = desired;
        }
        self.cloud.record(self.now);
        self.cloud.scale_in(self.now);
    }

    /// A user writes the group's minimum size; AWS raises desired capacity to it.
    pub(crate) fn set_min_by_hand(&mut self, min: u32) {
        self.record(format!("minimum size = {min} by hand"));
        if let Some(group) = &mut self.cloud.group {
            group.sizes.min = min;
            group.sizes.max = group.sizes.max.max(min);
            group.sizes.desired = group.sizes.desired.max(min);
        }
        self.cloud.record(self.now);
    }

    /// A user removes the protection of an instance.
    pub(crate) fn unprotect(&mut self, id: &InstanceId) {
        self.record(format!("{id} loses its protection"));
        if let Some(instance) = self.cloud.instance_mut(id) {
            instance.protection = Protection::Unprotected;
        }
        self.cloud.record(self.now);
    }

    /// AWS takes an instance out of the warm pool, which then waits for our hook, and announces that.
    pub(crate) fn leaves_warm_pool(&mut self, id: &InstanceId) {
        if !self.cloud.left_warm_pool.contains(id) {
            self.cloud.leaving_warm_pool.insert(id.clone());
        }
        self.announce(SignalKind::LeavesWarmPool, id);
    }

    /// An instance dies in EC2 and leaves the group.
    pub(crate) fn kill(&mut self, id: &InstanceId) {
        self.record(format!("{id} dies"));
        self.cloud.kill(id, self.now);
    }

    /// A person deletes a Machine.
    pub(crate) fn delete_machine(&mut self, name: &MachineName) {
        self.record(format!("a person deletes Machine {name}"));
        self.kube.delete_machine(name, self.now);
    }

    /// A person deletes a FooMachine.
    pub(crate) fn delete_foo_machine(&mut self, name: &MachineName) {
        self.record(format!("a person deletes FooMachine {name}"));
        let living =
            self.kube.foo_machine(name).is_some_and(|foo_machine| !foo_machine.deletion.is_deleting());
        if living {
            self.kube.deleted_first.insert(name.clone());
        }
        self.kube.delete_foo_machine(name, self.now);
    }

    /// The MachinePool is deleted, and so is the FooMachinePool.
    pub(crate) fn delete_pool(&mut self) {
        self.record("the pool is deleted");
        self.desired.goal = Goal::Remove;
        self.kube.pool_deleting = true;
    }

    /// The same, with `deletionPolicy: Retain`.
    pub(crate) fn delete_pool_retaining(&mut self) {
        self.record("the pool is deleted, its group stays");
        self.desired.goal = Goal::Retain;
        self.kube.pool_deleting = true;
    }

    /// The spec requests the adoption of a group, and the identity allows it.
    pub(crate) fn adopt(&mut self) {
        self.desired.adoption = Adoption::Allowed;
        self.desired.rollout.paused = Some(RolloutPause::Adoption);
        self.desired.retains_adopted = true;
        self.desired.may_have_adopted = true;
    }

    /// The spec does not request the adoption any more.
    pub(crate) fn end_adoption(&mut self) {
        self.desired.adoption = Adoption::NotRequested;
        self.desired.rollout.paused = None;
    }

    /// The annotation `replicas-managed-by` is put on.
    pub(crate) fn let_another_controller_manage(&mut self, min: u32, max: u32) {
        self.record(format!("replicas managed by another controller, {min} to {max}"));
        self.desired.size = Size::External { min, max, published: self.target() };
    }

    /// The annotation `replicas-managed-by` is taken off.
    pub(crate) fn manage_again(&mut self) {
        self.record("replicas managed by the MachinePool again");
        self.desired.size = Size::Replicas { wanted: self.target(), ceiling: None };
    }

    /// Whether the group is left to others: it has what it had, and nothing of it is in Kubernetes.
    pub(crate) fn is_retained(&self) -> bool {
        let left = self.cloud.group.as_ref().is_none_or(|group| {
            let free = group.tags.get(TAG_INSTALLATION).is_some_and(|id| id == INSTALLATION_OF_RETAINED);
            free && self.cloud.hook.is_none() && self.cloud.template.is_some()
        });
        left && self.kube.foo_machines.is_empty()
            && self.kube.alive().is_empty()
            && self.kube.finalizer == foo_planner::observed::Finalizer::Absent
    }

    /// Whether everything of the pool is gone.
    pub(crate) fn is_gone(&self) -> bool {
        self.cloud.group.is_none()
            && self.cloud.template.is_none()
            && self.kube.foo_machines.is_empty()
            && self.kube.finalizer == foo_planner::observed::Finalizer::Absent
    }
}
