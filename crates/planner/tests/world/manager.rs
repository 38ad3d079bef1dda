//! The manager: what it remembers, how it observes, and how it carries out a plan, with lost responses and crashes.

use super::{SETTLE, World};
use foo_model::hook::HookConfig;
use foo_model::{
    FooMachine, Group, GroupChange, GroupSettingsChange, HookName, InstanceId, InstancesMix, LaunchTemplate,
    LifecycleHook, Machine, MachinePause, Protection, RemovalMark, Seconds, Signal, SignalKind, Timestamp,
    TopicArn, WarmPoolSettings,
};
use foo_planner::action::{
    GroupAction, HookAction, InstanceAction, MachineAction, NodeAction, ObjectAction, PoolAction,
    Precondition, ReadAction, TemplateAction,
};
use foo_planner::desired::Size;
use foo_planner::observed::{Ec2State, Finalizer, MoveBlock, Quarantine, Verdict};
use foo_planner::report::AnnouncementState;
use foo_planner::{Action, LastRead, Memory, Observed, Plan, WriteOutcome, plan, violations};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// One manager.
pub(crate) struct Manager {
    pub(crate) memory: Memory,
    pub(crate) view: LastRead<Option<Group>>,
    pub(crate) template: LastRead<Option<LaunchTemplate>>,
    pub(crate) hook: LastRead<Option<HookConfig>>,
    other_hooks: BTreeMap<HookName, LifecycleHook>,
    pub(crate) settled_from: Timestamp,
    pub(crate) confirmed_from: Timestamp,
    ec2_states: BTreeMap<InstanceId, (Ec2State, Timestamp)>,
    /// What AWS announced, as long as it means anything.
    pub(crate) signals: BTreeMap<InstanceId, Signal>,
    /// How far in history its reads have come: a later read never shows an older group.
    read_upto: usize,
    /// Its caches of FooMachines and Machines, while they stand still.
    frozen: Option<(Vec<FooMachine>, Vec<Machine>, Timestamp)>,
    /// Words on the last failed launch.
    pub(crate) shortage: Option<String>,
}

/// What befalls an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// It is carried out, the response is lost.
    ResponseLost,
    /// It is not carried out, and the manager cannot know.
    RequestLost,
    /// It is refused.
    Refused,
    /// The manager dies just before it.
    CrashBefore,
    /// The manager dies just after it.
    CrashAfter,
}

impl Manager {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self {
            memory: Memory::default(),
            view: LastRead::Unknown,
            template: LastRead::Unknown,
            hook: LastRead::Unknown,
            other_hooks: BTreeMap::new(),
            settled_from: now.plus(SETTLE),
            confirmed_from: now,
            ec2_states: BTreeMap::new(),
            signals: BTreeMap::new(),
            read_upto: 0,
            frozen: None,
            shortage: None,
        }
    }

    /// EC2's words; that one lives is true for a while, and so is that it is not known.
    fn words(&self, now: Timestamp) -> BTreeMap<InstanceId, Ec2State> {
        let holds = |word: &Ec2State, at: Timestamp| {
            *word == Ec2State::Gone || at.until(now) < Duration::from_mins(1)
        };
        self.ec2_states
            .iter()
            .filter(|(_, (word, at))| holds(word, *at))
            .map(|(id, (word, _))| (id.clone(), *word))
            .collect()
    }
}

impl World {
    pub(crate) fn observe_group_of(&mut self, index: usize, lag: u64) {
        self.cloud.record(self.now);
        let upto = Timestamp(self.now.0 - i64::try_from(lag * 1000).unwrap());
        let manager = &mut self.managers[index];
        let (read_upto, group) = self.cloud.shown(upto, manager.read_upto);
        manager.read_upto = read_upto;
        manager.view = LastRead::At { at: self.now, seen: group };
    }

    /// The manager dies and another one starts: everything it knew is gone.
    pub(crate) fn restart(&mut self, index: usize) {
        self.record("the manager crashes and starts again");
        self.managers[index] = Manager::new(self.now);
    }

    /// AWS announces something, and the leader hears of it.
    pub(crate) fn announce(&mut self, kind: SignalKind, id: &InstanceId) {
        self.record(format!("AWS announces {kind:?} of {id}"));
        let signal = Signal { kind, at: self.aws_clock.remote(self.now) };
        let known = &mut self.managers[0].signals;
        let signal = known.get(id).map_or(signal, |before| before.or(signal));
        known.insert(id.clone(), signal);
    }

    /// Recommendations that were not followed mean nothing any more.
    pub(crate) fn forget_advice(&mut self) {
        for manager in &mut self.managers {
            manager.signals.retain(|_, signal| signal.kind != SignalKind::Rebalance);
        }
    }

    /// Instances that AWS announced to take back, as far as the leader remembers.
    pub(crate) fn interrupted(&self) -> u32 {
        let signals = self.managers[0].signals.values();
        u32::try_from(signals.filter(|signal| signal.kind == SignalKind::Interruption).count()).unwrap()
    }

    /// The caches of Kubernetes objects stand still, or catch up.
    pub(crate) fn freeze_caches(&mut self, freeze: bool) {
        let caches = (self.kube.foo_machines.clone(), self.kube.machines.clone(), self.now);
        for manager in &mut self.managers {
            manager.frozen = freeze.then(|| caches.clone());
        }
    }

    /// Caches that have stood still for this long catch up.
    pub(crate) fn thaw_after(&mut self, seconds: u64) {
        let now = self.now;
        for manager in &mut self.managers {
            manager.frozen.take_if(|(_, _, at)| at.until(now) >= Duration::from_secs(seconds));
        }
    }

    pub(crate) fn observe(&mut self, index: usize) -> Observed {
        let now = self.now;
        let manager = &mut self.managers[index];
        let (foo_machines, machines) = match &manager.frozen {
            Some((foo_machines, machines, _)) => (foo_machines.clone(), machines.clone()),
            None => (self.kube.foo_machines.clone(), self.kube.machines.clone()),
        };
        let stored = match &self.desired.group.storage {
            None => LastRead::Unknown,
            Some(storage) => {
                let objects = self.cloud.objects.keys().filter(|place| place.storage == *storage);
                let names = objects.map(|place| place.name.clone()).collect();
                self.cloud.list_fails.clone().unwrap_or(LastRead::At { at: now, seen: names })
            }
        };
        let named = self.desired.group.notifications.as_ref().is_some_and(|it| !it.is_empty());
        let notifications = match &manager.view {
            LastRead::At { seen: Some(_), .. }
                if named || !self.kube.applied.notification_topics.is_empty() =>
            {
                LastRead::At { at: now, seen: self.cloud.notifications.clone() }
            }
            _ => LastRead::Unknown,
        };
        Observed {
            now,
            notifications,
            clocks: foo_model::Agreement::Agree,
            aws_clock: self.aws_clock,
            group: manager.view.clone(),
            template: manager.template.clone(),
            stored,
            hook: manager.hook.clone(),
            other_hooks: manager.other_hooks.clone(),
            ec2_states: manager.words(now),
            target_health: self.cloud.target_health(&self.desired, now),
            capacity_block: match &self.cloud.capacity_block {
                Some(found) => LastRead::At { at: now, seen: Some(found.clone()) },
                None => LastRead::Unknown,
            },
            signals: manager.signals.clone(),
            foo_machines,
            machines,
            finalizer: self.kube.finalizer,
            quarantine: self.kube.quarantine.clone(),
            move_block: self.kube.moves,
            recorded_arn: self.kube.recorded_arn.clone(),
            recorded_adoption: self.kube.recorded_adoption,
            applied: self.kube.applied.clone(),
            size_decisions_from: manager.settled_from,
            confirmed_from: manager.confirmed_from,
            launch_failure: manager.shortage.clone(),
            termination_causes: std::collections::BTreeMap::new(),
        }
    }

    /// A plan of one manager, checked, not carried out.
    pub(crate) fn plan_of(&mut self, index: usize) -> Plan {
        let observed = self.observe(index);
        let memory = self.managers[index].memory.clone();
        let plan = plan(&self.desired, &observed, &memory);
        let broken = violations(&self.desired, &observed, &memory, &plan);
        assert!(broken.is_empty(), "{broken:?}\n{}\n{:#?}", self.story(), plan.actions);
        assert_eq!(
            plan,
            foo_planner::plan(&self.desired, &observed, &memory),
            "a plan must be deterministic"
        );
        self.check_report(&plan);
        let manager = &mut self.managers[index];
        manager.memory = plan.memory.clone();
        manager
            .signals
            .retain(|id, _| plan.report.announcements.get(id) != Some(&AnnouncementState::Expired));
        plan
    }

    /// A pass of one manager; `before` is asked what befalls each action, and may change the world meanwhile.
    pub(crate) fn pass_of(
        &mut self,
        index: usize,
        before: &mut dyn FnMut(&mut Self, usize) -> Fault,
    ) -> Plan {
        let plan = self.plan_of(index);
        self.carry_out_plan(index, &plan, before);
        self.publish(&plan);
        plan
    }

    /// What a pass writes into the status of FooMachines.
    fn publish(&mut self, plan: &Plan) {
        for report in &plan.report.machines {
            let machine = self.kube.foo_machines.iter_mut().find(|machine| machine.name == report.name);
            if let Some(machine) = machine {
                machine.hook_waiting_since = report.hook_wait.map(|(since, _)| since);
            }
        }
    }

    pub(crate) fn carry_out_plan(
        &mut self,
        index: usize,
        plan: &Plan,
        before: &mut dyn FnMut(&mut Self, usize) -> Fault,
    ) {
        for (number, action) in plan.actions.iter().enumerate() {
            let fault = before(self, number);
            if fault == Fault::CrashBefore {
                return self.restart(index);
            }
            let outcome = match fault {
                Fault::Refused => WriteOutcome::Refused,
                Fault::RequestLost => WriteOutcome::MayHaveHappened,
                Fault::ResponseLost => match self.carry_out(index, action) {
                    Ok(()) | Err(_) => WriteOutcome::MayHaveHappened,
                },
                Fault::None | Fault::CrashBefore | Fault::CrashAfter => match self.carry_out(index, action) {
                    Ok(()) => WriteOutcome::Done,
                    Err("ScalingActivityInProgress") => WriteOutcome::NotYet,
                    Err(_) => WriteOutcome::Refused,
                },
            };
            self.record(format!("{} ({outcome:?}, {fault:?})", short(action)));
            if fault == Fault::CrashAfter {
                return self.restart(index);
            }
            let now = self.now;
            let manager = &mut self.managers[index];
            // Each Node has its own result, recorded when it was tried.
            if !matches!(action, Action::Node(_)) {
                let in_flight = manager.memory.sent(&[action], now);
                manager.memory.completed(in_flight, [(action, outcome)], now);
            }
            if action.changes_template() {
                manager.template = LastRead::Unknown;
            }
            match (action, outcome) {
                (Action::Hook(HookAction::PutLifecycleHook { terms, .. }), WriteOutcome::Done) => {
                    manager.hook = LastRead::At { at: now, seen: Some(*terms) };
                }
                (
                    Action::Group(GroupAction::CreateGroup(_))
                    | Action::Hook(HookAction::DeleteLifecycleHook { .. }),
                    WriteOutcome::Done,
                ) => {
                    manager.hook = LastRead::At { at: now, seen: None };
                    if let Action::Group(GroupAction::CreateGroup(group)) = action {
                        manager.other_hooks = group.hooks.clone();
                    }
                }
                (
                    Action::Hook(
                        HookAction::PutLifecycleHook { .. } | HookAction::DeleteLifecycleHook { .. },
                    )
                    | Action::Group(GroupAction::CreateGroup(_)),
                    _,
                ) => manager.hook = LastRead::Unknown,
                (Action::Hook(HookAction::PutOtherHook { name, hook, .. }), WriteOutcome::Done) => {
                    manager.other_hooks.insert(name.clone(), hook.clone());
                }
                (Action::Hook(HookAction::DeleteOtherHook { name, .. }), WriteOutcome::Done) => {
                    manager.other_hooks.remove(name);
                }
                _ => {}
            }
            // Nothing depends on a warm pool.
            if outcome != WriteOutcome::Done && !action.changes_warm_pool() {
                return;
            }
        }
    }

    fn carry_out(&mut self, index: usize, action: &Action) -> Result<(), &'static str> {
        let now = self.now;
        // Read live just before, as the controller does it: caches may not know of the Machine yet.
        if let Action::Hook(HookAction::CompleteLifecycleAction { id, .. }) = action {
            let machine = self.kube.machine(&self.name_of(id));
            if machine.is_some_and(|machine| !machine.deletion.is_deleting()) {
                return Err("its Machine is not being deleted");
            }
        }
        self.watch(action);
        if matches!(action, Action::Group(_) | Action::Instance(_)) || action.changes_template() {
            self.cloud.writes += 1;
        }
        match action {
            Action::Read(ReadAction::DescribeLaunchTemplate) => {
                self.managers[index].template = LastRead::At { at: now, seen: self.cloud.template.clone() };
                Ok(())
            }
            Action::Read(ReadAction::DescribeInstances { ids }) => {
                let alive = self.cloud.alive();
                for id in ids {
                    let hidden = self.cloud.hidden.get(id).is_some_and(|until| now < *until);
                    let before = self.managers[index].ec2_states.get(id).map(|(word, _)| *word);
                    let word = match before {
                        Some(Ec2State::Gone) => Ec2State::Gone,
                        Some(Ec2State::NotFound { since, .. }) if hidden => {
                            Ec2State::NotFound { since, at: now }
                        }
                        _ if hidden => Ec2State::NotFound { since: now, at: now },
                        _ if alive.contains(id) => Ec2State::Alive,
                        _ => Ec2State::Gone,
                    };
                    self.managers[index].ec2_states.insert(id.clone(), (word, now));
                }
                Ok(())
            }
            Action::Read(ReadAction::DescribeLifecycleHook { .. }) => {
                self.managers[index].hook = LastRead::At { at: now, seen: self.cloud.hook };
                self.managers[index].other_hooks = self.cloud.other_hooks.clone();
                Ok(())
            }
            Action::Hook(HookAction::PutLifecycleHook { terms, .. }) => {
                self.cloud.hook = Some(*terms);
                self.cloud.writes += 1;
                Ok(())
            }
            Action::Hook(HookAction::DeleteLifecycleHook { .. }) => self.cloud.delete_hook(now),
            Action::Hook(HookAction::PutOtherHook { name, hook, before, .. }) => {
                let has = self.cloud.other_hooks.insert(name.clone(), hook.clone());
                assert_eq!(has.as_ref(), before.as_ref(), "what was read is what there is");
                self.cloud.writes += 1;
                Ok(())
            }
            Action::Hook(HookAction::DeleteOtherHook { name, .. }) => {
                self.cloud.writes += 1;
                self.cloud.other_hooks.remove(name).map(drop).ok_or("ValidationError: no such hook")
            }
            Action::Hook(HookAction::RecordHeartbeat { id, .. }) => self.cloud.record_heartbeat(id),
            Action::Hook(HookAction::CompleteLifecycleAction { id, .. }) => {
                self.cloud.writes += 1;
                self.cloud.complete_hook(id, now)
            }
            Action::Node(NodeAction::CordonNodes { nodes }) => {
                for (id, name) in nodes {
                    let done = !self.kube.workload_is_away && !self.kube.uncordonable.contains(name);
                    if done {
                        self.kube.cordoned.insert(name.clone());
                    }
                    let one =
                        Action::from(NodeAction::CordonNodes { nodes: [(id.clone(), name.clone())].into() });
                    let outcome = if done { WriteOutcome::Done } else { WriteOutcome::Refused };
                    let memory = &mut self.managers[index].memory;
                    let in_flight = memory.sent(&[&one], now);
                    memory.completed(in_flight, [(&one, outcome)], now);
                }
                Ok(())
            }
            Action::Object(action) => {
                self.change_stored(action);
                Ok(())
            }
            action @ (Action::Group(_) | Action::Instance(_)) => self.change_group(action),
            action if action.changes_template() => self.change_template(action),
            action => self.change_objects(action),
        }
    }

    fn change_stored(&mut self, action: &ObjectAction) {
        self.cloud.writes += 1;
        match action {
            ObjectAction::StoreUserData { object } => {
                self.cloud.objects.insert(object.place.clone(), self.now);
            }
            ObjectAction::DeleteUserData { storage, keep, before } => {
                let clock = self.aws_clock;
                self.cloud.objects.retain(|place, written| {
                    let young = before.is_some_and(|before| *written >= clock.local(before));
                    place.storage != *storage || keep.contains(&place.name) || young
                });
            }
        }
    }

    fn change_group(&mut self, action: &Action) -> Result<(), &'static str> {
        let now = self.now;
        match action {
            Action::Group(GroupAction::CreateGroup(group)) => self.cloud.create_group(group, now),
            Action::Group(GroupAction::UpdateGroup { change, .. }) => self.cloud.update_group(change, now),
            Action::Group(GroupAction::AdoptGroup { tags, .. } | GroupAction::TagGroup { tags, .. }) => {
                self.cloud.tag_group(tags, now)
            }
            Action::Group(GroupAction::SuspendProcesses { processes, .. }) => {
                self.cloud.suspend(processes, now)
            }
            Action::Group(GroupAction::ResumeProcesses { processes, .. }) => {
                self.cloud.resume(processes, now)
            }
            Action::Group(GroupAction::AttachTrafficSources { sources, .. }) => {
                self.cloud.attach(sources, now)
            }
            Action::Group(GroupAction::DetachTrafficSources { sources, .. }) => {
                self.cloud.detach(sources, now)
            }
            Action::Group(GroupAction::PutNotifications { topic, types, .. }) => {
                self.cloud.notifications.insert(topic.clone(), types.clone());
                Ok(())
            }
            Action::Group(GroupAction::DeleteNotifications { topic, .. }) => {
                self.cloud.notifications.remove(topic).map(drop).ok_or("not there")
            }
            Action::Group(GroupAction::PutWarmPool { settings, .. }) => {
                self.cloud.put_warm_pool(*settings, now)
            }
            Action::Group(GroupAction::DeleteWarmPool { .. }) => self.cloud.delete_warm_pool(now),
            Action::Instance(InstanceAction::ProtectInstances { ids, .. }) => self.cloud.protect(ids, now),
            Action::Instance(InstanceAction::TerminateInstance { id, decrement, .. }) => {
                self.cloud.terminate(id, *decrement, now)
            }
            Action::Group(GroupAction::DeleteGroup { .. }) => self.cloud.delete_group(now),
            other => panic!("{other:?} does not change the group"),
        }
    }

    fn change_template(&mut self, action: &Action) -> Result<(), &'static str> {
        let now = self.now;
        match action {
            Action::Template(TemplateAction::CreateTemplate { hashes, tags, .. }) => {
                self.cloud.create_template(tags)?;
                self.cloud.add_version(hashes, now)
            }
            Action::Template(TemplateAction::CreateTemplateVersion { hashes, .. }) => {
                self.cloud.add_version(hashes, now)
            }
            Action::Template(TemplateAction::CopyTemplateVersion { from, hashes, .. }) => {
                let template = self.cloud.template.as_ref().ok_or("NotFound")?;
                let copied = template.record(*from);
                let copied = copied.ok_or("NotFound")?;
                assert_eq!(copied.spec_hash.as_ref(), Some(&hashes.spec), "a true copy");
                assert_eq!(copied.arm64_image, hashes.arm64_image, "a true copy");
                self.cloud.add_version(hashes, now)
            }
            Action::Template(TemplateAction::DeleteTemplateVersions { versions, .. }) => {
                let template = self.cloud.template.as_mut().ok_or("NotFound")?;
                template.versions.retain(|record| !versions.contains(&record.version));
                Ok(())
            }
            Action::Template(TemplateAction::DeleteTemplate { .. }) => {
                self.cloud.template.take().map(drop).ok_or("NotFound")
            }
            other => panic!("{other:?} does not change the template"),
        }
    }

    fn change_objects(&mut self, action: &Action) -> Result<(), &'static str> {
        let now = self.now;
        match action {
            Action::Pool(PoolAction::AddFinalizer) => self.kube.finalizer = Finalizer::Present,
            Action::Pool(PoolAction::Quarantine { records }) => self.kube.quarantine.clone_from(records),
            Action::Pool(PoolAction::RemoveFinalizer) => self.kube.finalizer = Finalizer::Absent,
            Action::Pool(PoolAction::BlockMove) => self.kube.moves = MoveBlock::Blocked,
            Action::Pool(PoolAction::UnblockMove) => self.kube.moves = MoveBlock::Free,
            Action::Pool(PoolAction::ForgetAdoption) => self.desired.identity.adopt_from = None,
            Action::Pool(PoolAction::RecordAdoption) => self.kube.recorded_adoption = true,
            Action::Pool(PoolAction::ForgetAdopted) => self.kube.recorded_adoption = false,
            Action::Pool(PoolAction::RecordApplied { applied }) => self.kube.applied = applied.clone(),
            Action::Pool(PoolAction::RecordArn { arn }) => {
                assert!(self.kube.recorded_arn.is_none(), "the ARN is written once");
                self.kube.recorded_arn = Some(arn.clone());
            }
            Action::Machine(MachineAction::CreateFooMachine { name, instance, zone, spec_hash }) => {
                self.kube.create_foo_machine(name, instance, zone, spec_hash.as_ref());
            }
            Action::Machine(MachineAction::DeleteFooMachine { name, uid, .. }) => {
                let live = self.kube.foo_machine(name).ok_or("NotFound")?;
                if live.uid != *uid {
                    return Err("Conflict");
                }
                // The live re-read: our cache of Machines may be older than core's Machine.
                if self.kube.machine(name).is_some() {
                    return Err("it has a Machine");
                }
                self.kube.delete_foo_machine(name, now);
            }
            Action::Machine(MachineAction::ReleaseFooMachine { name, .. }) => {
                self.kube.release_foo_machine(name);
            }
            Action::Machine(MachineAction::DeleteMachine { name, uid, only_if, .. }) => {
                let live = self.kube.machine(name).ok_or("NotFound")?;
                if live.uid != *uid || !self.still_holds(live.mark, *only_if) {
                    return Err("Conflict");
                }
                self.kube.delete_machine(name, now);
            }
            Action::Machine(MachineAction::ExcludeFromDraining { name, .. }) => {
                self.kube.machine_mut(name).ok_or("NotFound")?.drain_excluded = true;
            }
            Action::Machine(MachineAction::PauseMachine { name, .. }) => {
                let machine = self.kube.machine_mut(name).ok_or("NotFound")?;
                if machine.pause == MachinePause::None {
                    machine.pause = MachinePause::Requested;
                }
            }
            Action::Machine(MachineAction::ResumeMachine { name, .. }) => {
                self.kube.machine_mut(name).ok_or("NotFound")?.pause = MachinePause::None;
            }
            Action::Machine(MachineAction::RetainInstance { name, foo_machine, machine }) => {
                return self.kube.retain(name, foo_machine.as_ref(), machine.as_ref());
            }
            Action::Machine(MachineAction::SetMachineTimeouts { name, timeouts, .. }) => {
                self.kube.machine_mut(name).ok_or("NotFound")?.timeouts = *timeouts;
            }
            Action::Pool(PoolAction::PublishReplicas { replicas }) => match &mut self.desired.size {
                Size::External { published, .. } => *published = *replicas,
                Size::Replicas { .. } | Size::Unknown => return Err("not managed by another controller"),
            },
            other => panic!("{other:?} is none of these"),
        }
        Ok(())
    }

    /// The live re-read before a Machine's deletion.
    fn still_holds(&self, mark: RemovalMark, only_if: Precondition) -> bool {
        let live = match self.desired.size {
            Size::Replicas { wanted, .. } => wanted,
            Size::External { published, .. } => published,
            Size::Unknown => panic!("a Machine is chosen for deletion although the target is unknown"),
        };
        match only_if {
            Precondition::SameUid => true,
            Precondition::StillMarkedForDeletion { replicas: target } => {
                mark == RemovalMark::DeleteFirst && live <= target
            }
            Precondition::ReplicasAtMost { replicas: target } => live <= target,
        }
    }
}

/// An action in few words, for stories.
pub(crate) fn short(action: &Action) -> String {
    match action {
        Action::Pool(PoolAction::AddFinalizer) => "add finalizer".to_owned(),
        Action::Pool(PoolAction::RemoveFinalizer) => "remove finalizer".to_owned(),
        Action::Pool(PoolAction::BlockMove) => "block move".to_owned(),
        Action::Pool(PoolAction::UnblockMove) => "unblock move".to_owned(),
        Action::Pool(PoolAction::ForgetAdoption) => "forget adoption".to_owned(),
        Action::Pool(PoolAction::RecordAdoption) => "record adoption".to_owned(),
        Action::Pool(PoolAction::ForgetAdopted) => "forget that the group was adopted".to_owned(),
        Action::Pool(PoolAction::RecordArn { .. }) => "record ARN".to_owned(),
        Action::Pool(PoolAction::RecordApplied { applied }) => {
            let hooks = applied.lifecycle_hooks.iter().map(HookName::as_str);
            let processes = applied.suspended_processes.iter().map(|process| process.name());
            let topics = applied.notification_topics.iter().map(TopicArn::as_str);
            let warm_pool = applied.warm_pool.as_ref().map(|it| match &it.template {
                Some((_, version)) => format!("warm pool of version {version}"),
                None => "warm pool of any version".to_owned(),
            });
            let named = hooks.chain(processes).chain(topics).map(str::to_owned);
            format!("record as applied: {}", list(named.chain(warm_pool)))
        }
        Action::Read(ReadAction::DescribeLaunchTemplate) => "describe template".to_owned(),
        Action::Read(ReadAction::DescribeInstances { ids }) => format!("describe instance {}", list(ids)),
        Action::Pool(PoolAction::Quarantine { records }) => {
            let record = |it: &Quarantine| {
                let verdict = match it.verdict {
                    Verdict::Stands => "",
                    Verdict::Over => " (over)",
                    Verdict::Stuck => " (stuck)",
                };
                format!("{}{verdict}: {}", it.hash, it.message)
            };
            format!("quarantine {}", records.iter().map(record).collect::<Vec<_>>().join(", "))
        }
        Action::Object(ObjectAction::StoreUserData { object }) => format!("store {}", object.place),
        Action::Object(ObjectAction::DeleteUserData { storage, keep, before }) => {
            let young = before.map_or("", |_| ", the young");
            format!("delete objects in {} but {} of them{young}", storage.bucket, keep.len())
        }
        Action::Template(TemplateAction::CopyTemplateVersion { from, hashes, .. }) => {
            format!("copy template version {from} spec={} data={}", hashes.spec, hashes.data)
        }
        Action::Template(TemplateAction::CreateTemplate { hashes, .. }) => {
            format!("create template spec={} data={}", hashes.spec, hashes.data)
        }
        Action::Template(TemplateAction::CreateTemplateVersion { hashes, .. }) => {
            format!("create template version spec={} data={}", hashes.spec, hashes.data)
        }
        Action::Template(TemplateAction::DeleteTemplateVersions { versions, .. }) => {
            format!("delete template versions {}", list(versions))
        }
        Action::Template(TemplateAction::DeleteTemplate { .. }) => "delete template".to_owned(),
        Action::Group(GroupAction::CreateGroup(group)) => {
            let desired = group.desired.map_or_else(|| "-".to_owned(), |desired| desired.to_string());
            format!(
                "create group min={} max={} desired={desired} version={}{}",
                group.min,
                group.max,
                group.template.1,
                arm64_image(group.mix.as_ref())
            )
        }
        Action::Group(GroupAction::UpdateGroup { change, .. }) => format!("update group{}", changes(change)),
        Action::Group(GroupAction::AdoptGroup { desired, .. }) => format!("adopt group of {desired}"),
        Action::Group(GroupAction::TagGroup { tags, .. }) => {
            format!("tag group {}", tags.keys().cloned().collect::<Vec<_>>().join(" "))
        }
        Action::Group(GroupAction::SuspendProcesses { processes, .. }) => {
            let names: Vec<_> = processes.iter().map(|process| process.name()).collect();
            format!("suspend {}", names.join(" "))
        }
        Action::Group(GroupAction::ResumeProcesses { processes, .. }) => {
            let names: Vec<_> = processes.iter().map(|process| process.name()).collect();
            format!("resume {}", names.join(" "))
        }
        Action::Group(GroupAction::AttachTrafficSources { sources, .. }) => {
            format!("attach {}", list(sources))
        }
        Action::Group(GroupAction::DetachTrafficSources { sources, .. }) => {
            format!("detach {}", list(sources))
        }
        Action::Group(GroupAction::PutNotifications { topic, types, .. }) => {
            format!("report {} to {topic}", list(types.iter().map(|it| format!("{it:?}"))))
        }
        Action::Group(GroupAction::DeleteNotifications { topic, .. }) => format!("report nothing to {topic}"),
        Action::Group(GroupAction::PutWarmPool { settings, .. }) => {
            let WarmPoolSettings { min_size, max_prepared, state, reuse: _ } = settings;
            let most = max_prepared.map_or_else(|| "-".to_owned(), |most| most.to_string());
            format!("put warm pool min={min_size} max={most} {}", state.name())
        }
        Action::Group(GroupAction::DeleteWarmPool { why, .. }) => format!("delete warm pool: {why}"),
        Action::Instance(InstanceAction::ProtectInstances { ids, .. }) => format!("protect {}", list(ids)),
        Action::Instance(InstanceAction::TerminateInstance { id, decrement, .. }) => {
            format!("end {id} ({decrement:?})")
        }
        Action::Read(ReadAction::DescribeLifecycleHook { .. }) => "describe hook".to_owned(),
        Action::Hook(HookAction::PutLifecycleHook { .. }) => "put hook".to_owned(),
        Action::Hook(HookAction::DeleteLifecycleHook { .. }) => "delete hook".to_owned(),
        Action::Hook(HookAction::PutOtherHook { name, before, .. }) => {
            format!("{} hook {name}", if before.is_some() { "change" } else { "create" })
        }
        Action::Hook(HookAction::DeleteOtherHook { name, .. }) => format!("delete hook {name}"),
        Action::Hook(HookAction::RecordHeartbeat { id, .. }) => format!("keep {id} alive"),
        Action::Hook(HookAction::CompleteLifecycleAction { id, why, .. }) => format!("let {id} go: {why}"),
        Action::Group(GroupAction::DeleteGroup { .. }) => "delete group".to_owned(),
        Action::Machine(MachineAction::CreateFooMachine { name, .. }) => format!("create FooMachine {name}"),
        Action::Machine(MachineAction::DeleteFooMachine { name, .. }) => format!("delete FooMachine {name}"),
        Action::Machine(MachineAction::ReleaseFooMachine { name, .. }) => {
            format!("release FooMachine {name}")
        }
        Action::Machine(MachineAction::DeleteMachine { name, only_if, why, .. }) => {
            format!("delete Machine {name} [{only_if:?}]: {why}")
        }
        Action::Machine(MachineAction::ExcludeFromDraining { name, .. }) => {
            format!("exclude {name} from draining")
        }
        Action::Node(NodeAction::CordonNodes { nodes }) => {
            let names: Vec<&str> = nodes.values().map(foo_model::MachineName::as_str).collect();
            format!("cordon the Nodes of {}", names.join(", "))
        }
        Action::Machine(MachineAction::PauseMachine { name, .. }) => format!("pause Machine {name}"),
        Action::Machine(MachineAction::ResumeMachine { name, .. }) => format!("resume Machine {name}"),
        Action::Machine(MachineAction::RetainInstance { name, .. }) => {
            format!("remove the objects of {name}, whose instance stays")
        }
        Action::Machine(MachineAction::SetMachineTimeouts { name, .. }) => format!("set timeouts of {name}"),
        Action::Pool(PoolAction::PublishReplicas { replicas }) => format!("publish replicas {replicas}"),
    }
}

fn changes(change: &GroupChange) -> String {
    let GroupChange { min, max, desired, template, settings } = change;
    let GroupSettingsChange { subnets, new_instances, default_warmup } = settings;
    let mut text = String::new();
    for (name, value) in [("min", min), ("max", max), ("desired", desired)] {
        if let Some(value) = value {
            write!(text, " {name}={value}").unwrap();
        }
    }
    if let Some((_, version, mix)) = template {
        write!(text, " version={version}{}", arm64_image(mix.as_ref())).unwrap();
    }
    if let Some(subnets) = subnets {
        write!(text, " subnets={}", list(subnets)).unwrap();
    }
    if *new_instances == Some(Protection::Protected) {
        text.push_str(" protect-new");
    }
    if let Some(Seconds(seconds)) = default_warmup {
        write!(text, " warmup={seconds}").unwrap();
    }
    text
}

/// The image that a mix names for a type.
fn arm64_image(mix: Option<&InstancesMix>) -> String {
    let images = mix.iter().flat_map(|mix| &mix.overrides).filter_map(|choice| choice.image.as_ref());
    images.flat_map(|image| [" arm64=", image.as_str()]).collect()
}

fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(" ")
}
