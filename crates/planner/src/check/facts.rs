//! What the checker derives from the inputs by itself.

use crate::Plan;
use crate::action::{Action, GroupAction, InstanceAction, MachineAction, PoolAction};
use crate::desired::{Desired, Goal, Size, Wanted};
use crate::memory::Memory;
use crate::observed::{Ec2State, Finalizer, Observed};
use foo_model::group::{GroupStatus, TemplateChoice};
use foo_model::hook::{COMPLETE_BEFORE_DEADLINE, HookConfig, LONGEST_WAIT, NODE_COMES};
use foo_model::names::{self, TAG_INSTALLATION};
use foo_model::{
    Adoption, Decrement, FooMachine, Group, Instance, InstanceId, InstancesMix, LaunchTemplateId,
    LifecycleState, Machine, MachineName, MachinePause, NodeState, Process, Protection, RemovalMark,
    SignalKind, SpecHash, TemplateRecord, TemplateVersion, WarmPool, WarmState,
};
use std::collections::BTreeMap;

/// Inputs and outputs, indexed.
pub(super) struct Facts<'a> {
    pub(super) desired: &'a Desired,
    pub(super) observed: &'a Observed,
    pub(super) memory: &'a Memory,
    pub(super) actions: &'a [Action],
    pub(super) group: Option<&'a Group>,
    pub(super) instances: BTreeMap<&'a InstanceId, &'a Instance>,
    pub(super) machines: BTreeMap<&'a MachineName, &'a Machine>,
    claims: BTreeMap<&'a InstanceId, &'a FooMachine>,
    foo_machines: BTreeMap<&'a MachineName, &'a FooMachine>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(
        desired: &'a Desired,
        observed: &'a Observed,
        memory: &'a Memory,
        plan: &'a Plan,
    ) -> Self {
        let group = observed.group.seen().and_then(Option::as_ref);
        let instances = group.map_or(&[][..], |group| &group.instances);
        let foo_machines = &observed.foo_machines;
        Self {
            desired,
            observed,
            memory,
            actions: &plan.actions,
            group,
            instances: instances.iter().map(|instance| (&instance.id, instance)).collect(),
            machines: observed.machines.iter().map(|machine| (&machine.name, machine)).collect(),
            claims: foo_machines.iter().map(|foo_machine| (&foo_machine.instance, foo_machine)).collect(),
            foo_machines: foo_machines.iter().map(|foo_machine| (&foo_machine.name, foo_machine)).collect(),
        }
    }

    /// Whether the group was read and does not exist.
    pub(super) fn group_is_absent(&self) -> bool {
        matches!(self.observed.group.seen(), Some(None))
    }

    /// Whether this plan creates the group.
    pub(super) fn makes_group(&self) -> bool {
        self.actions.iter().any(|action| matches!(action, Action::Group(GroupAction::CreateGroup(_))))
    }

    /// Whether the observation of the group is newer than our last change of it.
    pub(super) fn is_fresh(&self) -> bool {
        self.observed.group.seen_at().is_some_and(|at| Some(at) > self.memory.ledger.changed_at)
    }

    /// Whether the provider terminated it and no observation since contradicts that.
    pub(super) fn ended_lately(&self, id: &InstanceId) -> bool {
        let at = self.memory.ledger.leaving.get(id);
        at.is_some_and(|at| at.until(self.observed.now) < crate::memory::EFFECT_DEADLINE)
    }

    /// Whether the provider deleted it and the cache may not show that yet.
    pub(super) fn deleted_lately(&self, name: &MachineName) -> bool {
        let at = self.memory.deleted_machines.get(name);
        at.is_some_and(|at| at.until(self.observed.now) < crate::memory::CACHE_DEADLINE)
    }

    /// Whether the provider created its FooMachine and the cache may not show that yet.
    fn claimed_lately(&self, name: &MachineName) -> bool {
        let at = self.memory.created_machines.get(name);
        at.is_some_and(|at| at.until(self.observed.now) < crate::memory::CACHE_DEADLINE)
    }

    fn machine_lives(&self, name: &MachineName) -> bool {
        self.machines.get(name).is_some_and(|machine| !machine.deletion.is_deleting())
    }

    /// Whether no Kubernetes object needs the instance any more.
    pub(super) fn is_free(&self, id: &InstanceId) -> bool {
        if let Some(claim) = self.claims.get(id) {
            let released = self.machines.get(&claim.name).is_none_or(|machine| machine.releases_instance());
            claim.deletion.is_deleting() && released
        } else {
            let name = names::machine_name(&self.desired.identity.pool, id);
            let unclaimed = !self.machines.contains_key(&name) && !self.claimed_lately(&name);
            self.desired.goal == Goal::Remove && unclaimed && !self.cannot_be_drained(&name)
        }
    }

    /// Whether it waits for a terminating hook.
    pub(super) fn waits(&self, id: &InstanceId) -> bool {
        let lifecycle = self.instances.get(id).map(|instance| &instance.lifecycle);
        lifecycle == Some(&LifecycleState::TerminatingWait)
    }

    /// Whether AWS announced that it waits for a terminating hook on its way out of the provider's warm pool, and it is no member of the
    /// group.
    pub(super) fn leaves_warm_pool(&self, id: &InstanceId) -> bool {
        let signal = self.observed.signals.get(id);
        let announced = signal.is_some_and(|signal| signal.kind == SignalKind::LeavesWarmPool);
        let is_own = self.observed.applied.warm_pool.is_some();
        announced && is_own && !self.instances.contains_key(id)
    }

    /// Whether nothing is lost when AWS terminates it: it was drained, there is nothing to drain, or AWS
    /// stops waiting anyway.
    pub(super) fn may_complete(&self, id: &InstanceId) -> bool {
        let claim = self.claims.get(id);
        let name = claim
            .map_or_else(|| names::machine_name(&self.desired.identity.pool, id), |claim| claim.name.clone());
        let no_machine = !self.machines.contains_key(&name) && !self.claimed_lately(&name);
        let drained = claim.is_some_and(|claim| {
            claim.deletion.is_deleting()
                && self.machines.get(&name).is_none_or(|machine| machine.releases_instance())
        });
        let since = claim
            .and_then(|claim| claim.hook_waiting_since)
            .or_else(|| Some(self.memory.hook_waits.get(id)?.since));
        let known = self.observed.clocks.proves_ages();
        let out_of_time = since.filter(|_| known).is_some_and(|since| {
            since.until(self.observed.now) >= LONGEST_WAIT.saturating_sub(COMPLETE_BEFORE_DEADLINE)
        });
        (no_machine && !self.awaits_node(&name)) || drained || out_of_time
    }

    /// Whether the termination of an adopted instance waits for its FooMachine, Machine and Node.
    pub(super) fn awaits_node(&self, name: &MachineName) -> bool {
        let claim = self.foo_machines.get(name);
        let Some(id) = self.instance_of(name) else { return false };
        let is_created = self.desired.goal == Goal::Run
            && self.group.is_some_and(|group| group.status != GroupStatus::Deleting);
        let comes = self.machines.contains_key(name) || is_created;
        let is_being_deleted = claim.is_some_and(|claim| claim.deletion.is_deleting());
        let is_dead = self.observed.ec2_states.get(id) == Some(&Ec2State::Gone);
        if !self.waits(id) || !self.cannot_be_drained(name) || !comes || is_being_deleted || is_dead {
            return false;
        }
        let remembered = self.memory.hook_waits.get(id).map(|hold| hold.since);
        let since = remembered.or_else(|| claim?.hook_waiting_since);
        let known = self.observed.clocks.proves_ages();
        !known || since.is_none_or(|since| since.until(self.observed.now) < NODE_COMES)
    }

    /// Whether the Machine's instance is terminating or gone, or a user deleted its FooMachine.
    pub(super) fn is_lost(&self, name: &MachineName) -> bool {
        let Some(foo_machine) = self.foo_machines.get(name) else {
            let by_name = |id: &InstanceId| names::machine_name(&self.desired.identity.pool, id) == *name;
            return self
                .instances
                .iter()
                .any(|(id, instance)| by_name(id) && instance.lifecycle.is_leaving());
        };
        let instance = self.instances.get(&foo_machine.instance);
        let leaving = instance.is_some_and(|instance| instance.lifecycle.is_leaving());
        leaving || foo_machine.deletion.is_deleting() || self.is_gone(foo_machine)
    }

    /// The FooMachine of that name.
    pub(super) fn claim_of(&self, name: &MachineName) -> Option<&'a FooMachine> {
        self.foo_machines.get(name).copied()
    }

    /// Name of the Machine of an instance, even if a user deleted its FooMachine.
    pub(super) fn machine_of(&self, id: &InstanceId) -> MachineName {
        self.name_of(id).cloned().unwrap_or_else(|| names::machine_name(&self.desired.identity.pool, id))
    }

    /// Name of the FooMachine of an instance.
    pub(super) fn name_of(&self, id: &InstanceId) -> Option<&'a MachineName> {
        self.claims.get(id).map(|claim| &claim.name)
    }

    /// Whether EC2 reports that the Machine's instance is gone.
    pub(super) fn is_dead(&self, name: &MachineName) -> bool {
        self.foo_machines.get(name).is_some_and(|claim| self.says_gone(&claim.instance))
    }

    fn is_gone(&self, foo_machine: &FooMachine) -> bool {
        let outside =
            self.observed.group.seen().is_some() && !self.instances.contains_key(&foo_machine.instance);
        outside && self.says_gone(&foo_machine.instance)
    }

    /// Whether EC2 reports that it is gone, or has not known it for long.
    fn says_gone(&self, id: &InstanceId) -> bool {
        self.observed.ec2_states.get(id).is_some_and(|word| word.believed() == Ec2State::Gone)
    }

    pub(super) fn is_marked(&self, name: &MachineName) -> bool {
        self.machines.get(name).is_some_and(|machine| machine.mark == RemovalMark::DeleteFirst)
    }

    /// Whether the group is this pool's, and of this management cluster or adopted by it.
    pub(super) fn may_manage_group(&self) -> bool {
        let recorded = self.observed.recorded_arn.as_deref();
        self.group.is_some_and(|group| self.desired.identity.may_manage(group, recorded))
    }

    /// Whether the group belongs to another pool or user.
    fn group_is_foreign(&self) -> bool {
        self.group.is_some() && !self.may_manage_group()
    }

    /// Whether another management cluster has this pool's group, and so its template.
    pub(super) fn is_another_installations(&self) -> bool {
        self.group_is_foreign() && self.group.is_some_and(|group| self.desired.identity.owns(&group.tags))
    }

    /// Whether a user lets this management cluster adopt the group, which still names the other one.
    pub(super) fn is_to_be_adopted(&self) -> bool {
        self.group.is_some_and(|group| self.desired.identity.adopts(&group.tags))
    }

    /// Whether the action makes the group this management cluster's.
    pub(super) fn adopts(&self, action: &Action) -> bool {
        let own = &self.desired.identity.installation;
        matches!(action, Action::Group(GroupAction::TagGroup { tags, .. }) if tags.get(TAG_INSTALLATION) == Some(own))
    }

    /// Whether the spec requests the adoption of a group, and none is recorded.
    pub(super) fn awaits_adoption(&self) -> bool {
        self.desired.adoption != Adoption::NotRequested && self.observed.recorded_arn.is_none()
    }

    /// Whether the action adopts a group without an owner, as the spec, the identity and the tags of the group allow, with as many
    /// instances as are desired, of the desired purchase options, after it was recorded.
    pub(super) fn adopts_unowned(&self, action: &Action) -> bool {
        let Action::Group(GroupAction::AdoptGroup { tags, desired: checked, .. }) = action else {
            return false;
        };
        let Some(group) = self.group else { return false };
        let identity = &self.desired.identity;
        let has = |key: &str| group.tags.get(&format!("infrastructure.foo.com/{key}"));
        let unowned = ["cluster", "pool", "installation"].into_iter().all(|key| has(key).is_none());
        let consent = has("adoptable") == Some(&format!("{}/{}", identity.namespace, identity.pool));
        let sized = match self.desired.size {
            Size::Unknown => false,
            Size::Replicas { wanted, ceiling } => {
                group.sizes.desired == ceiling.map_or(wanted, |ceiling| wanted.min(ceiling))
            }
            Size::External { min, max, .. } => min <= group.sizes.desired && group.sizes.desired <= max,
        };
        let serving = group.instances.iter().filter(|it| it.lifecycle == LifecycleState::InService).count();
        let counted = *checked == group.sizes.desired && u32::try_from(serving) == Ok(group.sizes.desired);
        let on_demand = |mix: &Option<InstancesMix>| {
            mix.as_ref().map_or((0, 100), |mix| (mix.on_demand_base, mix.on_demand_percentage))
        };
        let bought = on_demand(&group.mix) == on_demand(&self.desired.group.mix);
        let owner = identity.owns(tags) && tags.get(TAG_INSTALLATION) == Some(&identity.installation);
        let before = self.actions.iter().take_while(|it| *it != action);
        let recorded = self.observed.recorded_adoption
            || before.into_iter().any(|it| *it == Action::Pool(PoolAction::RecordAdoption));
        let allowed = self.desired.goal == Goal::Run && self.desired.adoption == Adoption::Allowed;
        let fits = sized && counted && bought;
        allowed
            && self.awaits_adoption()
            && self.is_fresh()
            && unowned
            && consent
            && fits
            && owner
            && recorded
    }

    /// The content that a version of the launch template has.
    pub(super) fn hash_of_version(
        &self,
        id: &LaunchTemplateId,
        version: TemplateVersion,
    ) -> Option<&'a SpecHash> {
        self.record_of(id, version)?.spec_hash.as_ref()
    }

    /// What is known of a version of the launch template.
    pub(super) fn record_of(
        &self,
        id: &LaunchTemplateId,
        version: TemplateVersion,
    ) -> Option<&'a TemplateRecord> {
        let template = self.observed.template.seen()?.as_ref().filter(|template| template.id == *id)?;
        template.record(version)
    }

    /// Whether the group launches this version of a template.
    pub(super) fn group_launches(&self, id: &LaunchTemplateId, version: TemplateVersion) -> bool {
        let launches = self.group.and_then(|group| group.template.as_ref());
        launches == Some(&(id.clone(), TemplateChoice::Version(version)))
    }

    /// Whether the user data of a version are those of the pool, and wait in a warm pool.
    pub(super) fn waits_in_warm_pool(&self, id: &LaunchTemplateId, version: TemplateVersion) -> bool {
        let Wanted::Ready(wanted) = &self.desired.template else { return false };
        let record = self.record_of(id, version);
        let has_wanted_data = record.is_some_and(|it| it.data_hash.as_ref() == Some(&wanted.data_hash));
        wanted.waits_in_warm_pool && has_wanted_data
    }

    /// Whether AWS launches instances into the group's warm pool.
    pub(super) fn fills_warm_pool(&self) -> bool {
        self.group.and_then(|group| group.warm_pool).is_some_and(WarmPool::launches)
    }

    /// Whether no Pod ends with the group's warm pool, whatever its user data are: its instances were never in the group, and are stopped.
    pub(super) fn warm_pool_has_no_pods(&self) -> bool {
        let settings = self.group.and_then(|group| group.warm_pool).map(|pool| pool.settings);
        settings.is_some_and(|settings| settings.state == WarmState::Stopped && !settings.reuse)
    }

    /// The content that the Machine's instance was launched from.
    pub(super) fn content_of(&self, name: &MachineName) -> Option<&'a SpecHash> {
        let claim = self.claim_of(name)?;
        let version = self.instances.get(&claim.instance).and_then(|instance| instance.template.as_ref());
        version.and_then(|(id, version)| self.hash_of_version(id, *version)).or(claim.spec_hash.as_ref())
    }

    /// The content of an instance, which may have no FooMachine of this name.
    fn content_of_instance(&self, instance: &Instance, name: &MachineName) -> Option<&'a SpecHash> {
        let of_version =
            instance.template.as_ref().and_then(|(id, version)| self.hash_of_version(id, *version));
        of_version.or_else(|| self.content_of(name))
    }

    /// The instance of a FooMachine, or the one that would get it.
    fn instance_of(&self, name: &MachineName) -> Option<&InstanceId> {
        let by_name = |id: &InstanceId| names::machine_name(&self.desired.identity.pool, id) == *name;
        match self.foo_machines.get(name) {
            Some(claim) => Some(&claim.instance),
            None => self.instances.keys().copied().find(|id| by_name(id)),
        }
    }

    /// Whether the Machine's instance may have run Pods before it had a Machine, and no Node of it is known: nothing would drain it.
    pub(super) fn cannot_be_drained(&self, name: &MachineName) -> bool {
        let Some(instance) = self.instance_of(name).and_then(|id| self.instances.get(id)) else {
            return false;
        };
        let no_node = self.machines.get(name).is_none_or(|machine| machine.node == NodeState::None);
        self.is_adopted() && no_node && self.content_of_instance(instance, name).is_none()
    }

    /// Whether what AWS terminates in the group is drained, because the provider created it or has adopted it completely.
    pub(super) fn is_secured(&self) -> bool {
        let Some(group) = self.group.filter(|_| self.is_adopted()) else { return true };
        let own = self.observed.template.seen().and_then(Option::as_ref);
        let own = own.filter(|template| self.desired.identity.owns_template(&template.tags));
        let launches_own =
            own.is_some_and(|own| group.template.as_ref().is_some_and(|(id, _)| *id == own.id));
        let hooked = matches!(self.observed.hook.seen(), Some(Some(terms)) if *terms == HookConfig::DRAIN);
        let bare = |it: &Instance| {
            it.lifecycle == LifecycleState::InService
                && it.protection == Protection::Unprotected
                && !self.memory.ledger.leaving.contains_key(&it.id)
        };
        let suspended = group.suspended.contains_key(&Process::AZRebalance);
        launches_own || (hooked && suspended && !group.instances.iter().any(bare))
    }

    fn is_adopted(&self) -> bool {
        self.may_manage_group()
            && self.group.is_some_and(|group| {
                let recorded = self.observed.recorded_adoption
                    && self.observed.recorded_arn.as_ref() == Some(&group.arn);
                recorded || group.tags.contains_key("infrastructure.foo.com/adopted")
            })
    }

    /// Whether the Machine's instance serves in an adopted group and was not launched from the pool's template, which exists.
    pub(super) fn is_of_others(&self, name: &MachineName) -> bool {
        let Some(claim) = self.foo_machines.get(name) else { return false };
        let Some(instance) = self.instances.get(&claim.instance) else { return false };
        let Some(Some(template)) = self.observed.template.seen() else { return false };
        let own = self.desired.identity.owns_template(&template.tags);
        let of = instance.template.as_ref().map(|(id, _)| id);
        own && self.is_adopted()
            && instance.lifecycle == LifecycleState::InService
            && of != Some(&template.id)
    }

    pub(super) fn may_release(&self, name: &MachineName) -> bool {
        let Some(foo_machine) = self.foo_machines.get(name) else { return false };
        let abandoned = matches!(self.desired.goal, Goal::Remove | Goal::Retain) && self.group_is_foreign();
        match self.desired.goal {
            Goal::Orphan => true,
            Goal::Run | Goal::Remove | Goal::Retain => {
                let gone = self.is_gone(foo_machine) && !self.machine_lives(name);
                foo_machine.deletion.is_deleting() && (abandoned || gone)
            }
        }
    }

    /// Whether the objects of an instance may be removed while it runs on: Cluster API leaves the Machine alone, or there is none.
    pub(super) fn may_retain(&self, name: &MachineName) -> bool {
        let untouched = match self.machines.get(name) {
            Some(machine) => match machine.pause {
                MachinePause::Removing => true,
                MachinePause::InForce => !machine.deletion.is_deleting(),
                MachinePause::None | MachinePause::ByUser | MachinePause::Requested => false,
            },
            None => !self.claimed_lately(name),
        };
        self.desired.goal == Goal::Retain && untouched
    }

    pub(super) fn may_remove_finalizer(&self) -> bool {
        let template = self.observed.template.seen();
        let template_left = !self.is_another_installations()
            && template.is_none_or(|template| {
                template.as_ref().is_some_and(|template| self.desired.identity.owns_template(&template.tags))
            });
        let group_left = !self.group_is_absent() && !self.group_is_foreign();
        match self.desired.goal {
            Goal::Orphan => true,
            Goal::Run => false,
            Goal::Retain => {
                self.observed.finalizer == Finalizer::Present
                    && self.observed.foo_machines.is_empty()
                    && !group_left
            }
            Goal::Remove => {
                self.observed.finalizer == Finalizer::Present
                    && self.observed.foo_machines.is_empty()
                    && !group_left
                    && !template_left
            }
        }
    }
}

/// Whether an action depends on the group's size.
pub(super) fn depends_on_size(action: &Action) -> bool {
    match action {
        Action::Instance(InstanceAction::TerminateInstance { .. }) => true,
        Action::Group(GroupAction::UpdateGroup { change, .. }) => change.desired.is_some(),
        Action::Machine(MachineAction::DeleteMachine { only_if, .. }) => {
            *only_if != super::Precondition::SameUid
        }
        Action::Instance(InstanceAction::ProtectInstances { .. })
        | Action::Group(
            // The size of a new group follows from the desired replicas alone.
            GroupAction::CreateGroup(_)
            | GroupAction::AdoptGroup { .. }
            | GroupAction::TagGroup { .. }
            | GroupAction::SuspendProcesses { .. }
            | GroupAction::ResumeProcesses { .. }
            | GroupAction::AttachTrafficSources { .. }
            | GroupAction::DetachTrafficSources { .. }
            | GroupAction::PutNotifications { .. }
            | GroupAction::DeleteNotifications { .. }
            | GroupAction::PutWarmPool { .. }
            | GroupAction::DeleteWarmPool { .. }
            | GroupAction::DeleteGroup { .. },
        )
        | Action::Machine(
            MachineAction::CreateFooMachine { .. }
            | MachineAction::DeleteFooMachine { .. }
            | MachineAction::ReleaseFooMachine { .. }
            | MachineAction::ExcludeFromDraining { .. }
            | MachineAction::PauseMachine { .. }
            | MachineAction::ResumeMachine { .. }
            | MachineAction::RetainInstance { .. }
            | MachineAction::SetMachineTimeouts { .. },
        )
        | Action::Pool(_)
        | Action::Read(_)
        | Action::Template(_)
        | Action::Hook(_)
        | Action::Object(_)
        | Action::Node(_) => false,
    }
}

/// Desired capacity after an action.
pub(super) fn desired_after(action: &Action, desired: u32) -> u32 {
    match action {
        Action::Group(GroupAction::UpdateGroup { change, .. }) => {
            let wanted = change.desired.unwrap_or(desired);
            let capped = change.max.map_or(wanted, |max| wanted.min(max));
            change.min.map_or(capped, |min| capped.max(min))
        }
        Action::Instance(InstanceAction::TerminateInstance { decrement: Decrement::Shrink, .. }) => {
            desired.saturating_sub(1)
        }
        Action::Instance(
            InstanceAction::TerminateInstance { decrement: Decrement::Replace, .. }
            | InstanceAction::ProtectInstances { .. },
        )
        | Action::Group(
            GroupAction::CreateGroup(_)
            | GroupAction::AdoptGroup { .. }
            | GroupAction::TagGroup { .. }
            | GroupAction::SuspendProcesses { .. }
            | GroupAction::ResumeProcesses { .. }
            | GroupAction::AttachTrafficSources { .. }
            | GroupAction::DetachTrafficSources { .. }
            | GroupAction::PutNotifications { .. }
            | GroupAction::DeleteNotifications { .. }
            | GroupAction::PutWarmPool { .. }
            | GroupAction::DeleteWarmPool { .. }
            | GroupAction::DeleteGroup { .. },
        )
        | Action::Pool(_)
        | Action::Read(_)
        | Action::Template(_)
        | Action::Hook(_)
        | Action::Machine(_)
        | Action::Object(_)
        | Action::Node(_) => desired,
    }
}
