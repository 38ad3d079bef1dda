//! A pool in which everything succeeds: Auto Scaling, EC2, Cluster API core and the kubelets, as far as the planner
//! observes them.

use super::durations::Durations;
use crate::action::{
    Action, GroupAction, HookAction, InstanceAction, MachineAction, ObjectAction, PoolAction, ReadAction,
    TemplateAction,
};
use crate::capacity_block;
use crate::desired::{Desired, Size};
use crate::observed::{Ec2State, Finalizer, LastRead, MoveBlock, Observed};
use foo_model::group::{GroupStatus, TemplateChoice};
use foo_model::hook::HookConfig;
use foo_model::{
    Decrement, Deletion, DeletionProtection, DeletionStage, DeletionTimeouts, FooMachine, Group, GroupChange,
    Health, HookName, Instance, InstanceId, InstanceType, LaunchTemplate, LaunchTemplateId, LifecycleHook,
    LifecycleState, Machine, MachineName, MachinePause, NewGroup, NodeState, Notifications, Process,
    Protection, RemovalMark, Sizes, TemplateHashes, TemplateRecord, TemplateVersion, Timestamp, Uid,
    WarmPool, Zone, count,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// The id of a launch template that a forecast creates.
pub const PLANNED_TEMPLATE: &str = "lt-forecast";
/// The most instances that a pool may have in a forecast.
pub const LARGEST_POOL: u32 = 10_000;

/// Something that happens by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Effect {
    /// An instance is in service, and its Node is Ready.
    Joined(InstanceId),
    /// The Node of a Machine is drained.
    Drained(MachineName),
    /// An instance has left the group.
    Terminated(InstanceId),
}

/// The pool, and what it is observed as.
pub(super) struct Pool {
    pub(super) desired: Desired,
    pub(super) observed: Observed,
    /// Instances that were launched.
    pub(super) launches: u32,
    /// When the last effect took place.
    pub(super) last_effect: Timestamp,
    durations: Durations,
    /// It adopted its group: that has no lifecycle hook of the provider's.
    adopts: bool,
    due: BTreeMap<Timestamp, Vec<Effect>>,
    uids: u32,
}

/// A moment from which on all reads show what was done before: a forecast knows no other manager.
fn shown_since(observed: &Observed) -> Timestamp {
    let reads = [observed.group.seen_at(), observed.hook.seen_at(), observed.notifications.seen_at()];
    reads.into_iter().flatten().fold(observed.now, Timestamp::min)
}

impl Pool {
    /// The pool as it is observed, with what is under way in it.
    pub(super) fn new(desired: &Desired, observed: &Observed, durations: &Durations) -> Self {
        let now = observed.now;
        let mut pool = Self {
            // Load balancers are content with every instance, and no Capacity Block starts or ends.
            desired: Desired { target_health: None, ..capacity_block::frozen(desired, observed) },
            observed: Observed {
                size_decisions_from: shown_since(observed),
                // A forecast sends no call that would have to wait for others.
                confirmed_from: now,
                ..observed.clone()
            },
            launches: 0,
            last_effect: now,
            durations: *durations,
            adopts: false,
            due: BTreeMap::new(),
            uids: 0,
        };
        pool.resume();
        pool.observe();
        pool
    }

    /// Schedules what has begun already.
    fn resume(&mut self) {
        self.edit(|group| group.warm_pool = group.warm_pool.filter(|pool| !pool.deleting));
        let has_machine =
            |name: &MachineName| self.observed.machines.iter().any(|machine| machine.name == *name);
        let bare: Vec<(MachineName, InstanceId)> = self
            .observed
            .foo_machines
            .iter()
            .filter(|machine| !machine.deletion.is_deleting() && !has_machine(&machine.name))
            .map(|machine| (machine.name.clone(), machine.instance.clone()))
            .collect();
        for (name, instance) in bare {
            self.create_machine(&name, &instance);
        }
        let members: Vec<(InstanceId, LifecycleState)> = self
            .group()
            .iter()
            .flat_map(|group| &group.instances)
            .map(|member| (member.id.clone(), member.lifecycle.clone()))
            .collect();
        for (id, lifecycle) in members {
            match lifecycle {
                LifecycleState::Pending | LifecycleState::PendingWait | LifecycleState::PendingProceed => {
                    self.after(self.durations.launch, Effect::Joined(id));
                }
                LifecycleState::Terminating | LifecycleState::TerminatingProceed => {
                    self.after(self.durations.termination, Effect::Terminated(id));
                }
                _ if self.node_is_missing(&id) => self.after(self.durations.launch, Effect::Joined(id)),
                _ => {}
            }
        }
        let draining: Vec<MachineName> = self
            .observed
            .machines
            .iter()
            .filter(|machine| machine.deletion.is_deleting() && machine.stage == DeletionStage::Preparing)
            .map(|machine| machine.name.clone())
            .collect();
        for name in draining {
            self.after(self.durations.drain, Effect::Drained(name));
        }
    }

    fn node_is_missing(&self, id: &InstanceId) -> bool {
        let machine = self.machine_of(id);
        machine.is_some_and(|machine| machine.node == NodeState::None && !machine.deletion.is_deleting())
    }

    /// Instances that are launching or in service.
    pub(super) fn capacity(&self) -> u32 {
        self.group().map_or(0, capacity)
    }

    /// All instances.
    pub(super) fn members(&self) -> usize {
        self.group().map_or(0, |group| group.instances.len())
    }

    /// The instance of a Machine.
    pub(super) fn instance_of(&self, name: &MachineName) -> Option<InstanceId> {
        let found = self.observed.foo_machines.iter().find(|machine| machine.name == *name)?;
        Some(found.instance.clone())
    }

    /// When the next effect takes place; `None` if nothing is under way.
    pub(super) fn next_effect(&self) -> Option<Timestamp> {
        self.due.keys().next().copied()
    }

    /// Lets time pass: everything that is due until then takes place, and all is observed.
    pub(super) fn advance_to(&mut self, now: Timestamp) {
        while let Some(entry) = self.due.first_entry().filter(|entry| *entry.key() <= now) {
            let (at, effects) = entry.remove_entry();
            self.observed.now = at;
            self.last_effect = at;
            for effect in effects {
                self.take_place(effect);
            }
        }
        self.observed.now = now;
        self.launch();
        self.observe();
    }

    /// Carries out an action of a plan.
    pub(super) fn carry_out(&mut self, action: &Action) {
        match action {
            Action::Pool(action) => self.change_pool(action),
            Action::Read(action) => self.read(action),
            Action::Template(action) => self.change_template(action),
            Action::Group(action) => self.change_group(action),
            Action::Instance(action) => self.change_instances(action),
            Action::Hook(HookAction::PutLifecycleHook { terms, .. }) => {
                self.observed.hook = LastRead::At { at: self.observed.now, seen: Some(*terms) };
            }
            Action::Hook(HookAction::DeleteLifecycleHook { .. }) => {
                self.observed.hook = LastRead::At { at: self.observed.now, seen: None };
            }
            Action::Hook(HookAction::PutOtherHook { name, hook, .. }) => {
                self.observed.other_hooks.insert(name.clone(), hook.clone());
            }
            Action::Hook(HookAction::DeleteOtherHook { name, .. }) => {
                self.observed.other_hooks.remove(name);
            }
            Action::Hook(HookAction::RecordHeartbeat { .. }) | Action::Node(_) => {}
            Action::Hook(HookAction::CompleteLifecycleAction { id, .. }) => self.end(id),
            Action::Machine(action) => self.change_machine(action),
            Action::Object(action) => self.change_objects(action),
        }
    }

    fn change_pool(&mut self, action: &PoolAction) {
        match action {
            PoolAction::AddFinalizer => self.observed.finalizer = Finalizer::Present,
            PoolAction::RemoveFinalizer => self.observed.finalizer = Finalizer::Absent,
            PoolAction::BlockMove => self.observed.move_block = MoveBlock::Blocked,
            PoolAction::UnblockMove => self.observed.move_block = MoveBlock::Free,
            PoolAction::ForgetAdoption => self.desired.identity.adopt_from = None,
            PoolAction::RecordAdoption => self.observed.recorded_adoption = true,
            PoolAction::ForgetAdopted => self.observed.recorded_adoption = false,
            PoolAction::RecordArn { arn } => self.observed.recorded_arn = Some(arn.clone()),
            PoolAction::Quarantine { records } => self.observed.quarantine.clone_from(records),
            PoolAction::RecordApplied { applied } => self.observed.applied.clone_from(applied),
            PoolAction::PublishReplicas { replicas } => {
                if let Size::External { published, .. } = &mut self.desired.size {
                    *published = *replicas;
                }
            }
        }
    }

    /// What the manager has not read is as the planner wants it, since no call may be sent for a forecast.
    fn read(&mut self, action: &ReadAction) {
        let at = self.observed.now;
        match action {
            ReadAction::DescribeLaunchTemplate => {
                let seen = self.template().cloned();
                self.observed.template = LastRead::At { at, seen };
            }
            ReadAction::DescribeLifecycleHook { .. } => {
                let seen = self.group().filter(|_| !self.adopts).map(|_| HookConfig::DRAIN);
                self.observed.hook = LastRead::At { at, seen };
                self.observed.other_hooks = self.hooks_of_spec();
            }
            ReadAction::DescribeInstances { ids } => {
                for id in ids {
                    let alive = self.group().is_some_and(|group| group.instance(id).is_some());
                    let state = if alive { Ec2State::Alive } else { Ec2State::Gone };
                    self.observed.ec2_states.insert(id.clone(), state);
                }
            }
        }
    }

    /// The spec's lifecycle hooks that the group has according to the FooMachinePool.
    fn hooks_of_spec(&self) -> BTreeMap<HookName, LifecycleHook> {
        let recorded = &self.observed.applied.lifecycle_hooks;
        let hooks = self.desired.group.hooks.iter().flatten();
        hooks
            .filter(|(name, _)| recorded.contains(name))
            .map(|(name, hook)| (name.clone(), hook.clone()))
            .collect()
    }

    fn change_template(&mut self, action: &TemplateAction) {
        let name = self.desired.identity.template.clone();
        match action {
            TemplateAction::CreateTemplate { hashes, tags, .. } => {
                let id = LaunchTemplateId::new(PLANNED_TEMPLATE);
                let template = LaunchTemplate { id, name, tags: tags.clone(), versions: Vec::new() };
                self.show_template(Some(template));
                self.add_version(hashes);
            }
            TemplateAction::CreateTemplateVersion { hashes, .. }
            | TemplateAction::CopyTemplateVersion { hashes, .. } => self.add_version(hashes),
            TemplateAction::DeleteTemplateVersions { versions, .. } => {
                let template = self.template().cloned().map(|mut template| {
                    template.versions.retain(|record| !versions.contains(&record.version));
                    template
                });
                self.show_template(template);
            }
            TemplateAction::DeleteTemplate { .. } => self.show_template(None),
        }
    }

    fn add_version(&mut self, hashes: &TemplateHashes) {
        let created = self.observed.aws_clock.remote(self.observed.now);
        let template = self.template().cloned().map(|mut template| {
            let last = template.versions.last().map_or(0, |record| record.version.0);
            let (version, is_default) =
                (TemplateVersion(last.saturating_add(1)), template.versions.is_empty());
            let record = TemplateRecord::new(version, Some(hashes.clone()), is_default, created);
            template.versions.push(record);
            template
        });
        self.show_template(template);
    }

    fn template(&self) -> Option<&LaunchTemplate> {
        self.observed.template.seen().and_then(Option::as_ref)
    }

    fn show_template(&mut self, seen: Option<LaunchTemplate>) {
        self.observed.template = LastRead::At { at: self.observed.now, seen };
    }

    fn change_objects(&mut self, action: &ObjectAction) {
        let at = self.observed.now;
        let mut names = self.observed.stored.seen().cloned().unwrap_or_default();
        match action {
            ObjectAction::StoreUserData { object } => {
                names.insert(object.place.name.clone());
            }
            ObjectAction::DeleteUserData { keep, .. } => names.retain(|name| keep.contains(name)),
        }
        self.observed.stored = LastRead::At { at, seen: names };
    }

    fn change_group(&mut self, action: &GroupAction) {
        match action {
            GroupAction::CreateGroup(new) => {
                self.observed.hook = LastRead::At { at: self.observed.now, seen: new.drain_hook };
                self.observed.other_hooks.clone_from(&new.hooks);
                self.observed.notifications =
                    LastRead::At { at: self.observed.now, seen: Notifications::new() };
                let group = created(new);
                self.observed.group = LastRead::At { at: self.observed.now, seen: Some(group) };
            }
            GroupAction::UpdateGroup { change, .. } => self.edit(|group| update(group, change)),
            GroupAction::AdoptGroup { tags, .. } => {
                self.adopts = true;
                self.edit(|group| group.tags.extend(tags.clone()));
            }
            GroupAction::TagGroup { tags, .. } => self.edit(|group| group.tags.extend(tags.clone())),
            GroupAction::SuspendProcesses { processes, .. } => self.edit(|group| {
                group.suspended.extend(processes.iter().map(|process| (*process, String::new())));
            }),
            GroupAction::ResumeProcesses { processes, .. } => {
                self.edit(|group| group.suspended.retain(|process, _| !processes.contains(process)));
            }
            GroupAction::AttachTrafficSources { sources, .. } => {
                self.edit(|group| group.traffic_sources.extend(sources.iter().cloned()));
            }
            GroupAction::DetachTrafficSources { sources, .. } => {
                self.edit(|group| group.traffic_sources.retain(|source| !sources.contains(source)));
            }
            GroupAction::PutNotifications { topic, types, .. } => {
                if let LastRead::At { seen, .. } = &mut self.observed.notifications {
                    seen.insert(topic.clone(), types.clone());
                }
            }
            GroupAction::DeleteNotifications { topic, .. } => {
                if let LastRead::At { seen, .. } = &mut self.observed.notifications {
                    seen.remove(topic);
                }
            }
            GroupAction::PutWarmPool { settings, .. } => self.edit(|group| {
                let size = group.warm_pool.map_or(0, |pool| pool.size);
                group.warm_pool = Some(WarmPool { settings: *settings, deleting: false, size });
            }),
            GroupAction::DeleteWarmPool { .. } => self.edit(|group| group.warm_pool = None),
            GroupAction::DeleteGroup { .. } => {
                self.observed.group = LastRead::At { at: self.observed.now, seen: None };
            }
        }
    }

    fn change_instances(&mut self, action: &InstanceAction) {
        match action {
            InstanceAction::ProtectInstances { ids, .. } => self.edit(|group| {
                for member in group.instances.iter_mut().filter(|member| ids.contains(&member.id)) {
                    member.protection = Protection::Protected;
                }
            }),
            InstanceAction::TerminateInstance { id, decrement, .. } => {
                if *decrement == Decrement::Shrink {
                    self.edit(|group| group.sizes.desired = group.sizes.desired.saturating_sub(1));
                }
                if matches!(self.observed.hook, LastRead::At { seen: None, .. }) {
                    self.end(id);
                } else {
                    self.wait_for_hook(id);
                }
            }
        }
    }

    /// AWS terminates an instance only after its lifecycle action is completed.
    fn wait_for_hook(&mut self, id: &InstanceId) {
        self.edit(|group| {
            let stays = |member: &&mut Instance| member.id == *id && !member.lifecycle.is_leaving();
            for member in group.instances.iter_mut().filter(stays) {
                member.lifecycle = LifecycleState::TerminatingWait;
            }
        });
    }

    /// An instance begins to terminate.
    fn end(&mut self, id: &InstanceId) {
        let began = self.group().and_then(|group| group.instance(id)).is_some_and(|member| {
            !matches!(member.lifecycle, LifecycleState::Terminating | LifecycleState::TerminatingProceed)
        });
        if began {
            self.edit(|group| {
                for member in group.instances.iter_mut().filter(|member| member.id == *id) {
                    member.lifecycle = LifecycleState::Terminating;
                }
            });
            self.after(self.durations.termination, Effect::Terminated(id.clone()));
        }
    }

    fn change_machine(&mut self, action: &MachineAction) {
        let now = self.observed.now;
        match action {
            MachineAction::CreateFooMachine { name, instance, zone, spec_hash } => {
                let uid = self.uid();
                self.observed.foo_machines.push(FooMachine {
                    name: name.clone(),
                    uid,
                    instance: instance.clone(),
                    zone: zone.clone(),
                    deletion: Deletion::Alive,
                    has_finalizer: true,
                    spec_hash: spec_hash.clone(),
                    hook_waiting_since: None,
                });
                self.observed.foo_machines.sort_by(|one, other| one.name.cmp(&other.name));
                self.create_machine(name, instance);
            }
            MachineAction::DeleteFooMachine { name, .. } => self.delete_foo_machine(name),
            MachineAction::ReleaseFooMachine { name, .. } => {
                self.observed.foo_machines.retain(|machine| machine.name != *name);
                self.observed
                    .machines
                    .retain(|machine| machine.name != *name || !machine.deletion.is_deleting());
            }
            MachineAction::DeleteMachine { name, .. } => {
                self.edit_machine(name, |machine| machine.deletion = Deletion::Since(now));
                self.after(self.durations.drain, Effect::Drained(name.clone()));
            }
            MachineAction::ExcludeFromDraining { name, .. } => {
                self.edit_machine(name, |machine| machine.drain_excluded = true);
            }
            MachineAction::PauseMachine { name, .. } => {
                self.edit_machine(name, |machine| machine.pause = MachinePause::InForce);
            }
            MachineAction::ResumeMachine { name, .. } => {
                self.edit_machine(name, |machine| machine.pause = MachinePause::None);
            }
            MachineAction::RetainInstance { name, .. } => {
                self.observed.foo_machines.retain(|machine| machine.name != *name);
                self.observed.machines.retain(|machine| machine.name != *name);
            }
            MachineAction::SetMachineTimeouts { name, timeouts, .. } => {
                self.edit_machine(name, |machine| machine.timeouts = *timeouts);
            }
        }
    }

    /// Cluster API core creates a Machine for each FooMachine of a pool.
    fn create_machine(&mut self, name: &MachineName, instance: &InstanceId) {
        let now = self.observed.now;
        let joined = self
            .group()
            .and_then(|group| group.instance(instance))
            .is_some_and(|member| member.lifecycle == LifecycleState::InService);
        let uid = self.uid();
        self.observed.machines.push(Machine {
            name: name.clone(),
            uid,
            deletion: Deletion::Alive,
            stage: DeletionStage::Preparing,
            mark: RemovalMark::None,
            node: if joined { NodeState::Ready } else { NodeState::None },
            node_since: joined.then_some(now),
            unhealthy: None,
            spared: false,
            timeouts: DeletionTimeouts::default(),
            drain_excluded: false,
            pause: MachinePause::None,
            created: now,
        });
        self.observed.machines.sort_by(|one, other| one.name.cmp(&other.name));
    }

    fn delete_foo_machine(&mut self, name: &MachineName) {
        let now = self.observed.now;
        for machine in self.observed.foo_machines.iter_mut().filter(|machine| machine.name == *name) {
            machine.deletion = Deletion::Since(now);
        }
    }

    fn take_place(&mut self, effect: Effect) {
        let now = self.observed.now;
        match effect {
            Effect::Joined(id) => {
                self.edit(|group| {
                    let launching =
                        |member: &&mut Instance| member.id == id && member.lifecycle.is_capacity();
                    for member in group.instances.iter_mut().filter(launching) {
                        member.lifecycle = LifecycleState::InService;
                    }
                });
                if let Some(name) = self.machine_of(&id).map(|machine| machine.name.clone()) {
                    self.edit_machine(&name, |machine| {
                        machine.node = NodeState::Ready;
                        machine.node_since = Some(now);
                    });
                }
            }
            Effect::Drained(name) => {
                self.edit_machine(&name, |machine| machine.stage = DeletionStage::WaitsForInfrastructure);
                self.delete_foo_machine(&name);
            }
            Effect::Terminated(id) => {
                self.edit(|group| group.instances.retain(|member| member.id != id));
                self.observed.ec2_states.insert(id, Ec2State::Gone);
            }
        }
    }

    /// Auto Scaling launches what is missing.
    fn launch(&mut self) {
        let Some(group) = self.group() else { return };
        let missing = group.sizes.desired.min(LARGEST_POOL).saturating_sub(capacity(group));
        if group.suspended.contains_key(&Process::Launch) || group.status == GroupStatus::Deleting {
            return;
        }
        let template = group.template.as_ref().and_then(|(id, choice)| match choice {
            TemplateChoice::Version(version) => Some((id.clone(), *version)),
            TemplateChoice::Floating(_) => None,
        });
        let protection = group.settings.new_instances;
        for _ in 0..missing {
            self.launches = self.launches.saturating_add(1);
            let id = InstanceId::new(format!("i-forecast{:08}", self.launches));
            let member = Instance {
                id: id.clone(),
                zone: Zone::new("forecast"),
                instance_type: InstanceType::new("forecast"),
                lifecycle: LifecycleState::Pending,
                health: Health::Healthy,
                protection,
                template: template.clone(),
            };
            self.edit(|group| group.instances.push(member));
            self.after(self.durations.launch, Effect::Joined(id));
        }
    }

    /// What was read is read again, as of now.
    fn observe(&mut self) {
        let now = self.observed.now;
        if let LastRead::At { at, .. } = &mut self.observed.group {
            *at = now;
        }
        if let LastRead::At { at, .. } = &mut self.observed.hook {
            *at = now;
        }
        if let LastRead::At { at, .. } = &mut self.observed.stored {
            *at = now;
        }
    }

    fn after(&mut self, duration: Duration, effect: Effect) {
        self.due.entry(self.observed.now.plus(duration)).or_default().push(effect);
    }

    fn group(&self) -> Option<&Group> {
        self.observed.group.seen().and_then(Option::as_ref)
    }

    fn edit(&mut self, change: impl FnOnce(&mut Group)) {
        if let LastRead::At { seen: Some(group), .. } = &mut self.observed.group {
            change(group);
        }
    }

    fn machine_of(&self, id: &InstanceId) -> Option<&Machine> {
        let name = &self.observed.foo_machines.iter().find(|machine| machine.instance == *id)?.name;
        self.observed.machines.iter().find(|machine| machine.name == *name)
    }

    fn edit_machine(&mut self, name: &MachineName, change: impl FnOnce(&mut Machine)) {
        if let Some(machine) = self.observed.machines.iter_mut().find(|machine| machine.name == *name) {
            change(machine);
        }
    }

    fn uid(&mut self) -> Uid {
        self.uids = self.uids.saturating_add(1);
        Uid::new(format!("forecast-{}", self.uids))
    }
}

fn capacity(group: &Group) -> u32 {
    count(group.instances.iter().filter(|member| member.lifecycle.is_capacity()))
}

/// A group as AWS creates it.
fn created(new: &NewGroup) -> Group {
    let NewGroup {
        name,
        min,
        max,
        desired,
        template,
        mix,
        settings,
        traffic_sources,
        drain_hook: _,
        hooks: _,
        tags,
    } = new.clone();
    Group {
        arn: format!("forecast:{name}"),
        name,
        sizes: Sizes { min, max, desired: desired.unwrap_or(min) },
        template: Some((template.0, TemplateChoice::Version(template.1))),
        mix,
        settings,
        traffic_sources,
        suspended: BTreeMap::new(),
        tags,
        status: GroupStatus::Active,
        deletion_protection: DeletionProtection::None,
        warm_pool: None,
        instances: Vec::new(),
    }
}

/// A group after a change; AWS keeps desired capacity within the bounds.
fn update(group: &mut Group, change: &GroupChange) {
    let GroupChange { min, max, desired, template, settings } = change;
    let (min, max) = (min.unwrap_or(group.sizes.min), max.unwrap_or(group.sizes.max));
    let desired = desired.unwrap_or(group.sizes.desired).max(min).min(max);
    group.sizes = Sizes { min, max, desired };
    if let Some((id, version, mix)) = template {
        group.template = Some((id.clone(), TemplateChoice::Version(*version)));
        group.mix.clone_from(mix);
    }
    settings.apply_to(&mut group.settings);
}
