//! A manager: what it sees, the plan that the real planner makes of it, and what comes of each of its actions.

use super::scenario::{LIFETIME, Scenario};
use super::state::{
    Ages, Foo, Group, Life, Mach, Mind, NOW, Owner, POOL, RAISE_WAITS, RENEWAL_WAITS, RecordedWarmPool,
    State, TICK, Target, Unit, WarmPool, Wrong,
};
use foo_model::hook::HookConfig;
use foo_model::{
    Applied, AppliedWarmPool, AwsTime, Decrement, Deletion, DeletionStage, DeletionTimeouts, FooMachine,
    GroupChange, GroupSettings, GroupSettingsChange, Health, Instance, InstanceId, InstanceType,
    LaunchTemplate, LaunchTemplateId, LifecycleState, Machine, MachineName, MachinePause, NodeState, Process,
    Protection, RemovalMark, Sizes, TargetGroupArn, TargetHealth, TargetState, Targets, TemplateChoice,
    TemplateRecord, TemplateVersion, Timestamp, Uid, WarmPoolSettings, WarmState, Zone,
};
use foo_planner::action::{
    GroupAction, HookAction, InstanceAction, MachineAction, PoolAction, ReadAction, TemplateAction,
};
use foo_planner::observed::{Ec2State, Finalizer, Quarantine, Verdict};
use foo_planner::{Action, LastRead, Observed, Plan, Precondition, WriteOutcome, plan, violations};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

/// When the group was last changed by a manager that changed it: before a read that may be used, after one that may not.
pub(crate) const CHANGED: Timestamp = Timestamp(NOW.0 - 2);
const SEEN_AFTER: Timestamp = Timestamp(NOW.0 - 1);
const SEEN_BEFORE: Timestamp = Timestamp(NOW.0 - 3);

/// One manager.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "independent of each other")]
pub(crate) struct Manager {
    /// Which one since the beginning.
    pub(crate) number: u8,
    pub(crate) mind: Mind,
    /// What it has planned and not yet done.
    pub(crate) pending: Option<PendingActions>,
    /// It has led for longer than anything its predecessor did can be unseen.
    pub(crate) settled: bool,
    /// How many versions of the template it has seen.
    pub(crate) versions: Option<u8>,
    /// EC2's word on instances.
    pub(crate) words: BTreeMap<u8, Ec2Report>,
    /// It has seen the last write on the group; reads do not go back.
    pub(crate) sees_group: bool,
    /// Its caches show the last write on objects.
    pub(crate) sees_objects: bool,
    /// It may begin another pass.
    pub(crate) leads: bool,
}

/// EC2's word on an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ec2Report {
    Gone,
    Alive,
    /// It does not know it: no word of its end.
    NotFound,
}

/// The rest of a plan.
#[derive(Clone, Debug)]
pub(crate) struct PendingActions {
    actions: Arc<Vec<Action>>,
    next: usize,
    print: u64,
}

impl PartialEq for PendingActions {
    fn eq(&self, other: &Self) -> bool {
        self.rest() == other.rest()
    }
}

impl Eq for PendingActions {}

impl Hash for PendingActions {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.print.hash(hasher);
    }
}

impl PendingActions {
    fn new(actions: Arc<Vec<Action>>, next: usize) -> Option<Self> {
        let rest = actions.get(next..).filter(|rest| !rest.is_empty())?;
        let mut hasher = DefaultHasher::new();
        format!("{rest:?}").hash(&mut hasher);
        Some(Self { print: hasher.finish(), actions, next })
    }

    pub(crate) fn rest(&self) -> &[Action] {
        &self.actions[self.next..]
    }
}

/// What a pass is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// All as it is.
    Fresh,
    /// The group as it was before the last write.
    LateLook,
    /// The objects as they were before the last write.
    LateCache,
    /// The last read was before this manager's own last change.
    NoLook,
    /// The health of targets could not be read; all else is as it is.
    NoTargets,
}

/// What befalls an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    Completed,
    /// It is carried out, the response is lost.
    ResponseLost,
    /// It is not carried out, and the manager cannot know.
    RequestLost,
    /// EC2 does not know what it is asked about, dead or alive.
    NotFound,
}

impl Manager {
    pub(crate) fn new(number: u8) -> Self {
        Self {
            number,
            mind: Mind::default(),
            pending: None,
            settled: false,
            versions: None,
            words: BTreeMap::new(),
            sees_group: false,
            sees_objects: false,
            leads: true,
        }
    }

    pub(crate) fn tick(&mut self, ages: Ages) {
        self.mind.grow_older(ages);
        self.settled = true;
        // That one lives is true for a while, that one is gone for ever.
        self.words.retain(|_, said| *said == Ec2Report::Gone);
    }

    pub(crate) fn has_changed_group(&self) -> bool {
        self.mind.0.ledger.changed_at.is_some()
    }

    /// Whether it has known for less time than this that the group has a warm pool whose instances it should not take.
    fn has_waited_less(&self, time: Duration) -> bool {
        self.mind.0.warm_pool_unfit_since.is_none_or(|since| since.until(NOW) < time)
    }

    /// It is about to do this, whatever a planner would say.
    pub(crate) fn intends(&mut self, actions: Vec<Action>) {
        self.pending = PendingActions::new(Arc::new(actions), 0);
    }
}

/// A pass begins: a read and a plan.
pub(crate) fn begin(scenario: &Scenario, state: &mut State, index: usize, sight: Sight) -> Plan {
    let observed = observe(scenario, state, index, sight);
    let desired = scenario.desired(state);
    let memory = state.managers[index].mind.0.clone();
    let plan = plan(&desired, &observed, &memory);
    if let Some(violation) = violations(&desired, &observed, &memory, &plan).first() {
        state.wrong = Some(Wrong::Plan(violation.rule()));
    }
    if sight == Sight::NoTargets && plan.actions.iter().any(|action| replaces(state, action)) {
        state.wrong = Some(Wrong::ReplacedUnread);
    }
    let manager = &mut state.managers[index];
    manager.mind = Mind(plan.memory.clone());
    manager.mind.forget_when();
    manager.pending = PendingActions::new(Arc::new(plan.actions.clone()), 0);
    manager.sees_group |= sight != Sight::LateLook && sight != Sight::NoLook;
    manager.sees_objects |= sight != Sight::LateCache;
    plan
}

/// Whether an action deletes the Machine of an instance that runs, and not because there are too many.
fn replaces(state: &State, action: &Action) -> bool {
    let Action::Machine(MachineAction::DeleteMachine { name, only_if: Precondition::SameUid, .. }) = action
    else {
        return false;
    };
    state.units.iter().any(|unit| unit.name() == *name && unit.is_capacity())
}

/// Everything a manager knows.
fn observe(scenario: &Scenario, state: &State, index: usize, sight: Sight) -> Observed {
    let manager = &state.managers[index];
    let late = state.group_before.as_ref().filter(|_| matches!(sight, Sight::LateLook | Sight::NoLook));
    let (group, members) = late.map_or((state.group, &state.units), |before| (before.0, &before.1));
    let at = if sight == Sight::NoLook { SEEN_BEFORE } else { SEEN_AFTER };
    let objects = state.objects_before.as_ref().filter(|_| sight == Sight::LateCache).unwrap_or(&state.units);
    let word = |(number, said): (&u8, &Ec2Report)| {
        let word = match said {
            Ec2Report::Gone => Ec2State::Gone,
            Ec2Report::Alive => Ec2State::Alive,
            Ec2Report::NotFound => Ec2State::NotFound { since: NOW, at: NOW },
        };
        (Unit::launched(*number, 0).id(), word)
    };
    Observed {
        now: NOW,
        clocks: foo_model::Agreement::Agree,
        aws_clock: foo_model::Comparison::default(),
        group: LastRead::At { at, seen: Some(group_shown(scenario, group, members)) },
        template: manager.versions.map_or(LastRead::Unknown, |versions| LastRead::At {
            at: SEEN_AFTER,
            seen: (versions > 0).then(|| template(scenario, versions)),
        }),
        hook: LastRead::At { at: SEEN_AFTER, seen: group.secured.hook.then_some(HookConfig::DRAIN) },
        other_hooks: BTreeMap::new(),
        notifications: LastRead::Unknown,
        applied: Applied { warm_pool: applied(state.recorded.warm_pool), ..Applied::default() },
        // Events only save time; they have properties of their own.
        signals: std::collections::BTreeMap::new(),
        target_health: target_health(state, members, sight),
        capacity_block: LastRead::Unknown,
        ec2_states: manager.words.iter().map(word).collect(),
        foo_machines: objects.iter().filter_map(foo_machine).collect(),
        machines: objects.iter().filter_map(|unit| machine(scenario, unit)).collect(),
        finalizer: Finalizer::Present,
        quarantine: state
            .quarantine
            .iter()
            .map(|(content, verdict)| Quarantine {
                hash: Scenario::hash(*content),
                message: "it failed".to_owned(),
                verdict: *verdict,
            })
            .collect(),
        move_block: foo_planner::observed::MoveBlock::Free,
        recorded_arn: state.recorded.arn.then(|| "arn".to_owned()),
        recorded_adoption: state.recorded.adoption,
        size_decisions_from: if manager.settled { NOW.minus(TICK) } else { NOW.plus(TICK / 2) },
        confirmed_from: NOW,
        launch_failure: None,
        stored: foo_planner::observed::LastRead::Unknown,
        termination_causes: std::collections::BTreeMap::new(),
    }
}

/// The warm pool in the record of what was applied.
fn applied(recorded: RecordedWarmPool) -> Option<AppliedWarmPool> {
    let of = |version: u8| (template_id(), TemplateVersion(version.into()));
    match recorded {
        RecordedWarmPool::Nothing => None,
        RecordedWarmPool::AnyVersion => Some(AppliedWarmPool::default()),
        RecordedWarmPool::Version(version) => Some(AppliedWarmPool { template: Some(of(version)) }),
    }
}

/// The record as a plan writes it.
fn recorded(applied: &Applied) -> RecordedWarmPool {
    let Applied { lifecycle_hooks, suspended_processes, notification_topics, warm_pool } = applied;
    let others = (lifecycle_hooks.len(), suspended_processes.len(), notification_topics.len());
    assert_eq!(others, (0, 0, 0), "not in this model");
    match warm_pool {
        None => RecordedWarmPool::Nothing,
        Some(AppliedWarmPool { template: None }) => RecordedWarmPool::AnyVersion,
        Some(AppliedWarmPool { template: Some((_, version)) }) => {
            RecordedWarmPool::Version(u8::try_from(version.0).unwrap())
        }
    }
}

/// AWS registers an instance in service, and deregisters it when its termination begins. What the spec does not name is not read.
fn target_health(
    state: &State,
    members: &[Unit],
    sight: Sight,
) -> LastRead<BTreeMap<TargetGroupArn, Targets>> {
    if !state.balances || sight == Sight::NoTargets {
        return LastRead::Unknown;
    }
    let targets: Targets = members.iter().filter_map(|unit| Some((unit.id(), health(unit)?))).collect();
    let groups = Scenario::target_groups(state.balances).into_iter();
    LastRead::At { at: SEEN_AFTER, seen: groups.map(|arn| (arn, targets.clone())).collect() }
}

fn health(unit: &Unit) -> Option<TargetHealth> {
    let state = match (unit.life, unit.target) {
        (Life::Pending | Life::Gone, _) => return None,
        (Life::Deregistering | Life::Waiting | Life::Terminating, _)
        | (Life::InService, Target::Draining) => TargetState::Draining,
        (Life::InService, Target::Unchecked) => TargetState::Unchecked,
        (Life::InService, Target::Initial) => TargetState::Initial,
        (Life::InService, Target::Healthy) => TargetState::Healthy,
        (Life::InService, Target::Unhealthy) => TargetState::Unhealthy,
    };
    Some(TargetHealth::new(state))
}

fn group_shown(scenario: &Scenario, group: Group, members: &[Unit]) -> foo_model::Group {
    let Group { desired, max, version, secured, warm_pool, attached } = group;
    let template = if version == 0 {
        (LaunchTemplateId::new("lt-0"), TemplateChoice::Version(TemplateVersion(7)))
    } else {
        (template_id(), TemplateChoice::Version(TemplateVersion(version.into())))
    };
    let new_instances = if secured.protects_new { Protection::Protected } else { Protection::Unprotected };
    let unbalanced = secured.unbalanced.then(|| (Process::AZRebalance, String::new()));
    foo_model::Group {
        name: Scenario::name(),
        arn: "arn".to_owned(),
        sizes: Sizes { min: 0, max: max.into(), desired: desired.into() },
        template: Some(template),
        mix: None,
        settings: GroupSettings { new_instances, ..GroupSettings::in_subnets(BTreeSet::new()) },
        traffic_sources: Scenario::traffic_sources(attached),
        suspended: unbalanced.into_iter().collect(),
        tags: scenario.tags(group),
        status: foo_model::GroupStatus::Active,
        deletion_protection: foo_model::DeletionProtection::None,
        warm_pool: warm_pool.map(warm_pool_shown),
        instances: members.iter().filter_map(instance).collect(),
    }
}

fn warm_pool_shown(pool: WarmPool) -> foo_model::WarmPool {
    let WarmPool { owner, size, waiting, deleting } = pool;
    let state = match owner {
        Owner::Provider => WarmState::Stopped,
        Owner::AnotherUser => WarmState::Running,
    };
    let (min_size, max_prepared) = (size.into(), Some(size.into()));
    foo_model::WarmPool {
        settings: WarmPoolSettings { min_size, max_prepared, state, reuse: false },
        deleting,
        size: u32::from(waiting.is_some()),
    }
}

fn instance(unit: &Unit) -> Option<Instance> {
    let lifecycle = match unit.life {
        Life::Pending => LifecycleState::Pending,
        Life::InService => LifecycleState::InService,
        Life::Waiting => LifecycleState::TerminatingWait,
        Life::Deregistering | Life::Terminating => LifecycleState::Terminating,
        Life::Gone => return None,
    };
    Some(Instance {
        id: unit.id(),
        zone: Zone::new("a"),
        instance_type: InstanceType::new("t"),
        lifecycle,
        health: Health::Healthy,
        protection: if unit.protected { Protection::Protected } else { Protection::Unprotected },
        template: Some(if unit.version == 0 {
            (LaunchTemplateId::new("lt-0"), TemplateVersion(7))
        } else {
            (template_id(), TemplateVersion(unit.version.into()))
        }),
    })
}

fn foo_machine(unit: &Unit) -> Option<FooMachine> {
    let deletion = match unit.foo {
        Foo::Alive => Deletion::Alive,
        Foo::Deleting => Deletion::Since(NOW),
        Foo::NotYet | Foo::Gone => return None,
    };
    Some(FooMachine {
        name: unit.name(),
        uid: uid(unit),
        instance: unit.id(),
        zone: Zone::new("a"),
        deletion,
        has_finalizer: true,
        spec_hash: (unit.version > 0).then(|| Scenario::hash(unit.version)),
        hook_waiting_since: None,
    })
}

fn machine(scenario: &Scenario, unit: &Unit) -> Option<Machine> {
    let grown = TICK * u32::from(unit.age);
    let grown = if scenario.has_expired(unit) { grown + Duration::from(LIFETIME) } else { grown };
    let (deletion, stage) = match unit.machine {
        Mach::Alive => (Deletion::Alive, DeletionStage::Preparing),
        Mach::Draining => (Deletion::Since(NOW), DeletionStage::Preparing),
        Mach::LetGo => (Deletion::Since(NOW), DeletionStage::WaitsForInfrastructure),
        Mach::NotYet | Mach::Gone => return None,
    };
    Some(Machine {
        name: unit.name(),
        uid: uid(unit),
        deletion,
        stage,
        mark: if unit.marked { RemovalMark::DeleteFirst } else { RemovalMark::None },
        node: if unit.ready { NodeState::Ready } else { NodeState::None },
        node_since: unit.ready.then_some(NOW),
        unhealthy: None,
        spared: false,
        timeouts: DeletionTimeouts::default(),
        drain_excluded: unit.excluded,
        pause: MachinePause::None,
        created: NOW.minus(grown),
    })
}

fn template(scenario: &Scenario, versions: u8) -> LaunchTemplate {
    let record = |version: u8| TemplateRecord {
        version: TemplateVersion(version.into()),
        spec_hash: Some(Scenario::hash(version)),
        data_hash: Some(scenario.data(version)),
        source_hash: Some(scenario.data(version)),
        object: None,
        arm64_image: None,
        is_default: version == 1,
        created: AwsTime::from_millis(NOW.0),
    };
    LaunchTemplate {
        id: template_id(),
        name: Scenario::name().to_string(),
        tags: Scenario::identity().ownership_tags(),
        versions: (1..=versions).map(record).collect(),
    }
}

fn template_id() -> LaunchTemplateId {
    LaunchTemplateId::new("lt-1")
}

/// FooMachine and Machine of an instance are made once in this model.
fn uid(unit: &Unit) -> Uid {
    Uid::new(format!("{POOL}-{}", unit.number))
}

/// The next action of a manager gets its outcome, and the manager records it.
pub(crate) fn act(scenario: &Scenario, state: &mut State, index: usize, call: CallOutcome) {
    let Some(pending) = state.managers[index].pending.take() else { return };
    let action = &pending.actions[pending.next];
    let outcome = match call {
        CallOutcome::RequestLost => WriteOutcome::MayHaveHappened,
        CallOutcome::NotFound => {
            not_found(state, index, action);
            WriteOutcome::Done
        }
        CallOutcome::ResponseLost => {
            let _ = carry_out(scenario, state, index, action);
            WriteOutcome::MayHaveHappened
        }
        CallOutcome::Completed => match carry_out(scenario, state, index, action) {
            Ok(()) => WriteOutcome::Done,
            // An activity of the group is in progress.
            Err(Refused) if deletes_warm_pool(action) => WriteOutcome::NotYet,
            Err(Refused) => WriteOutcome::Refused,
        },
    };
    let manager = &mut state.managers[index];
    let in_flight = manager.mind.0.sent(&[action], NOW);
    manager.mind.0.completed(in_flight, [(action, outcome)], NOW);
    manager.mind.forget_when();
    if action.changes_template() {
        manager.versions = None;
    }
    // Nothing in the rest of the plan depends on what was not carried out yet.
    if matches!(outcome, WriteOutcome::Done | WriteOutcome::NotYet) {
        manager.pending = PendingActions::new(pending.actions.clone(), pending.next + 1);
    }
}

/// What may happen to the next action. A lost response makes no difference to a read, which is repeated; but EC2 may say that
/// it does not know what it is asked about.
pub(crate) fn mishaps(manager: &Manager) -> &'static [CallOutcome] {
    let next = manager.pending.as_ref().map(|pending| &pending.rest()[0]);
    match next {
        None | Some(Action::Read(ReadAction::DescribeLaunchTemplate)) => &[],
        Some(Action::Read(ReadAction::DescribeInstances { .. })) => &[CallOutcome::NotFound],
        Some(_) => &[CallOutcome::ResponseLost, CallOutcome::RequestLost],
    }
}

/// EC2 does not know any of these, dead or alive.
fn not_found(state: &mut State, index: usize, action: &Action) {
    let Action::Read(ReadAction::DescribeInstances { ids }) = action else { return };
    let asked = state.units.iter().filter(|unit| ids.contains(&unit.id())).map(|unit| unit.number);
    for number in asked {
        // A termination that EC2 showed is not reverted.
        state.managers[index].words.entry(number).or_insert(Ec2Report::NotFound);
    }
}

struct Refused;

fn deletes_warm_pool(action: &Action) -> bool {
    matches!(action, Action::Group(GroupAction::DeleteWarmPool { .. }))
}

fn carry_out(scenario: &Scenario, state: &mut State, index: usize, action: &Action) -> Result<(), Refused> {
    if matches!(action, Action::Read(ReadAction::DescribeLaunchTemplate)) {
        state.managers[index].versions = Some(state.versions);
        return Ok(());
    }
    if let Action::Read(ReadAction::DescribeInstances { ids }) = action {
        let lives = |unit: &Unit| unit.life != Life::Gone;
        let living: BTreeMap<InstanceId, u8> =
            state.units.iter().filter(|unit| lives(unit)).map(|unit| (unit.id(), unit.number)).collect();
        let asked = state.units.iter().filter(|unit| ids.contains(&unit.id()));
        let said =
            |unit: &Unit| if living.contains_key(&unit.id()) { Ec2Report::Alive } else { Ec2Report::Gone };
        let words: Vec<(u8, Ec2Report)> = asked.map(|unit| (unit.number, said(unit))).collect();
        state.managers[index].words.extend(words);
        return Ok(());
    }
    let is_of_hook = matches!(
        action,
        Action::Hook(HookAction::CompleteLifecycleAction { .. } | HookAction::PutLifecycleHook { .. })
    );
    if action.changes_group() || is_of_hook {
        let before = (state.group, state.units.clone());
        change_group(scenario, state, index, action)?;
        if before != (state.group, state.units.clone()) && state.left.lates > 0 {
            state.group_before = Some(Box::new(before));
            state.managers.iter_mut().for_each(|manager| manager.sees_group = false);
        }
        return Ok(());
    }
    if action.changes_template() {
        change_template(state, action);
        return Ok(());
    }
    let before = state.units.clone();
    change_objects(scenario, state, index, action)?;
    if before != state.units && state.left.lates > 0 {
        state.objects_before = Some(before);
        state.managers.iter_mut().for_each(|manager| manager.sees_objects = false);
    }
    Ok(())
}

fn change_group(
    scenario: &Scenario,
    state: &mut State,
    index: usize,
    action: &Action,
) -> Result<(), Refused> {
    if scenario.is_foreign() {
        state.wrong = Some(Wrong::WroteForeign);
    }
    let by = Some(state.managers[index].number);
    if !state.group.secured.owned && !matches!(action, Action::Group(GroupAction::AdoptGroup { .. })) {
        state.wrong = Some(Wrong::WroteForeign);
    }
    match action {
        Action::Group(GroupAction::AdoptGroup { desired, .. }) => {
            // Read live just before, as the controller does it.
            let is_as_planned = u32::from(state.group.desired) == *desired;
            if state.group.secured.owned || !is_as_planned {
                return Err(Refused);
            }
            state.group.secured.owned = true;
            Ok(())
        }
        Action::Group(GroupAction::SuspendProcesses { .. }) => {
            state.group.secured.unbalanced = true;
            Ok(())
        }
        Action::Hook(HookAction::PutLifecycleHook { .. }) => {
            state.group.secured.hook = true;
            Ok(())
        }
        Action::Instance(InstanceAction::ProtectInstances { ids, .. }) => {
            let asked = state.units.iter_mut().filter(|unit| ids.contains(&unit.id()));
            asked.filter(|unit| unit.life == Life::InService).for_each(|unit| unit.protected = true);
            Ok(())
        }
        Action::Group(GroupAction::UpdateGroup { change, .. }) => update(state, index, change),
        Action::Group(GroupAction::PutWarmPool { settings, .. }) => put_warm_pool(state, *settings),
        Action::Group(GroupAction::DeleteWarmPool { .. }) => delete_warm_pool(state),
        Action::Group(GroupAction::DetachTrafficSources { .. }) => detach(scenario, state),
        Action::Instance(InstanceAction::TerminateInstance { id, decrement, .. }) => {
            let group = state.group;
            let unit = state.units.iter_mut().find(|unit| unit.id() == *id).ok_or(Refused)?;
            let wrong = if !unit.is_released() {
                Some(Wrong::EndedUnreleased)
            } else if !unit.is_empty() {
                Some(Wrong::LetGoUndrained)
            } else if unit.ended_by == by {
                Some(Wrong::EndedTwice)
            } else {
                None
            };
            match unit.life {
                Life::Gone => return Err(Refused),
                Life::Deregistering | Life::Waiting | Life::Terminating => {}
                Life::Pending | Life::InService => {
                    unit.life = scenario.leaves(group, unit);
                    unit.ended_by = by;
                    let less = u8::from(*decrement == Decrement::Shrink);
                    state.group.desired = group.desired.checked_sub(less).ok_or(Refused)?;
                }
            }
            state.wrong = state.wrong.or(wrong);
            Ok(())
        }
        Action::Hook(HookAction::CompleteLifecycleAction { id, .. }) => {
            let unit = state.units.iter_mut().find(|unit| unit.id() == *id).ok_or(Refused)?;
            // Read live just before, as the controller does it.
            if unit.machine == Mach::Alive {
                return Err(Refused);
            }
            if unit.completed_by == by {
                state.wrong = Some(Wrong::CompletedTwice);
            }
            // AWS refuses it: the hook has not begun.
            if unit.life == Life::Deregistering {
                state.wrong = Some(Wrong::CutConnections);
            }
            if unit.life != Life::Waiting {
                return Err(Refused);
            }
            unit.life = Life::Terminating;
            unit.completed_by = by;
            if !unit.is_empty() || unit.machine == Mach::Draining {
                state.wrong = Some(Wrong::LetGoUndrained);
            }
            Ok(())
        }
        other => panic!("not in this model: {other:?}"),
    }
}

fn put_warm_pool(state: &mut State, settings: WarmPoolSettings) -> Result<(), Refused> {
    let WarmPoolSettings { min_size, max_prepared, state: waits, reuse } = settings;
    assert_eq!(
        (max_prepared, waits, reuse),
        (Some(min_size), WarmState::Stopped, false),
        "not in this model"
    );
    let size = u8::try_from(min_size).unwrap();
    let pool = state.group.warm_pool.get_or_insert_with(|| WarmPool::empty(size));
    if pool.owner == Owner::AnotherUser {
        state.wrong = Some(Wrong::WroteForeign);
    }
    if pool.deleting {
        return Err(Refused);
    }
    pool.size = size;
    Ok(())
}

fn delete_warm_pool(state: &mut State) -> Result<(), Refused> {
    if state.denied {
        return Err(Refused);
    }
    // One that does not exist is as good as deleted.
    let Some(pool) = &mut state.group.warm_pool else { return Ok(()) };
    if pool.owner == Owner::AnotherUser {
        state.wrong = Some(Wrong::WroteForeign);
    }
    pool.deleting = true;
    Ok(())
}

/// AWS refuses to detach a target group from a group that is not attached to it.
fn detach(scenario: &Scenario, state: &mut State) -> Result<(), Refused> {
    if state.balances {
        state.wrong = Some(Wrong::DetachedNamed);
    }
    if !state.group.attached {
        return Err(Refused);
    }
    scenario.detach(state);
    Ok(())
}

/// Whether the only manager, which has seen the last change of the group, takes an outdated instance from the warm pool, or replaces one
/// by it, before it has waited this long for the deletion of that.
fn takes_outdated_early(state: &State, index: usize, waits: Duration) -> bool {
    let manager = &state.managers[index];
    let knows = state.managers.len() == 1 && manager.sees_group;
    knows && state.takes_outdated() && manager.has_waited_less(waits)
}

fn update(state: &mut State, index: usize, change: &GroupChange) -> Result<(), Refused> {
    let GroupChange { min, max, desired: wanted, template, settings } = change;
    let GroupSettingsChange { subnets, new_instances, default_warmup } = settings;
    assert_eq!((min, subnets, default_warmup), (&None, &None, &None), "not in this model");
    if let Some(protection) = new_instances {
        state.group.secured.protects_new = *protection == Protection::Protected;
    }
    let small = |size: u32| u8::try_from(size).unwrap();
    let max = max.map_or(state.group.max, small);
    let desired = wanted.map_or(state.group.desired, small);
    if wanted.is_some_and(|_| desired > max) {
        return Err(Refused);
    }
    // Beyond the target, capacity is for a roll-out.
    let waits = if desired > state.target { RENEWAL_WAITS } else { RAISE_WAITS };
    if desired > state.group.desired && takes_outdated_early(state, index, waits) {
        state.wrong = Some(Wrong::TakesOutdated);
    }
    state.group.max = max;
    state.group.desired = desired.min(max);
    if let Some((_, version, _)) = template {
        state.group.version = u8::try_from(version.0).unwrap();
        if state.quarantine == Some((state.group.version, Verdict::Stands)) {
            state.wrong = Some(Wrong::LaunchesQuarantined);
        }
    }
    Ok(())
}

fn change_template(state: &mut State, action: &Action) {
    let Action::Template(
        TemplateAction::CreateTemplate { hashes, .. } | TemplateAction::CreateTemplateVersion { hashes, .. },
    ) = action
    else {
        panic!("not in this model: {action:?}")
    };
    // A second version with the same content would do no harm and is the same here.
    state.versions = state.versions.max(Scenario::content_of(&hashes.spec));
}

fn change_objects(
    scenario: &Scenario,
    state: &mut State,
    index: usize,
    action: &Action,
) -> Result<(), Refused> {
    let (target, content) = (u32::from(state.target), state.content);
    let takes_outdated = takes_outdated_early(state, index, RENEWAL_WAITS);
    match action {
        Action::Pool(PoolAction::RecordAdoption) => state.recorded.adoption = true,
        Action::Pool(PoolAction::RecordArn { .. }) => state.recorded.arn = true,
        Action::Pool(PoolAction::RecordApplied { applied }) => state.recorded.warm_pool = recorded(applied),
        Action::Pool(PoolAction::Quarantine { records }) => {
            state.quarantine =
                records.last().map(|record| (Scenario::content_of(&record.hash), record.verdict));
        }
        Action::Machine(MachineAction::CreateFooMachine { instance, .. }) => {
            let unit = state.units.iter_mut().find(|unit| unit.id() == *instance).ok_or(Refused)?;
            if unit.foo == Foo::NotYet {
                unit.foo = Foo::Alive;
            }
        }
        Action::Machine(MachineAction::DeleteFooMachine { name, .. }) => {
            let unit = named(state, name)?;
            if !matches!(unit.machine, Mach::NotYet | Mach::Gone) {
                return Err(Refused);
            }
            unit.foo = Foo::Deleting;
        }
        Action::Machine(MachineAction::ReleaseFooMachine { name, .. }) => {
            let unit = named(state, name)?;
            unit.foo = Foo::Gone;
            if unit.life != Life::Gone {
                state.wrong = Some(Wrong::ReleasedAlive);
            }
        }
        Action::Machine(MachineAction::DeleteMachine { name, only_if, .. }) => {
            let unit = named(state, name)?;
            let holds = match only_if {
                Precondition::SameUid => true,
                Precondition::StillMarkedForDeletion { replicas: known } => unit.marked && target <= *known,
                Precondition::ReplicasAtMost { replicas: known } => target <= *known,
            };
            if !holds {
                return Err(Refused);
            }
            match unit.machine {
                Mach::NotYet | Mach::Gone => return Err(Refused),
                Mach::Draining | Mach::LetGo => {}
                Mach::Alive => {
                    unit.machine = Mach::Draining;
                    let replaced = *only_if == Precondition::SameUid;
                    let wrong = if replaced && scenario.is_sound(unit, content) {
                        Some(Wrong::ReplacedSound)
                    } else if replaced && unit.is_capacity() && takes_outdated {
                        Some(Wrong::TakesOutdated)
                    } else {
                        None
                    };
                    state.tale.victims += u8::from(!replaced);
                    state.wrong = state.wrong.or(wrong);
                }
            }
        }
        Action::Machine(MachineAction::ExcludeFromDraining { name, .. }) => {
            let unit = named(state, name)?;
            unit.excluded = true;
            if unit.life != Life::Gone {
                state.wrong = Some(Wrong::ExcludedAlive);
            }
        }
        other => panic!("not in this model: {other:?}"),
    }
    Ok(())
}

fn named<'s>(state: &'s mut State, name: &MachineName) -> Result<&'s mut Unit, Refused> {
    state.units.iter_mut().find(|unit| unit.name() == *name).ok_or(Refused)
}
