//! A scenario: a pool, what people want of it, and what may go wrong. Everything that can happen next in a state.

use super::manager::{CallOutcome, Manager, Sight, act, begin, mishaps};
use super::rules;
use super::state::{
    Ages, Budget, Foo, Group, Life, Mach, Owner, Recorded, RecordedWarmPool, Secured, State, TICK, Tale,
    Target, Unit, WarmPool, Wrong,
};
use foo_model::names::{TAG_ADOPTABLE, TAG_INSTALLATION};
use foo_model::{
    Adoption, DeletionTimeouts, GroupName, GroupSettings, ImageId, InstanceOptions, InstanceType,
    Maintenance, MetadataOptions, Seconds, SpecHash, TargetGroupArn, TemplateContent, TrafficSource,
    UserData, WarmPoolSettings, WarmState,
};
use foo_planner::desired::{
    Desired, GroupConfig, Identity, IntOrPercent, OnFailure, Remediation, Rollout, RolloutPause, ScaleIn,
    Size, Strategy, TargetHealthRules, Template, VictimPolicy, Wanted,
};
use foo_planner::observed::Verdict;
use foo_planner::{Goal, Plan};
use stateright::{Model, Property};
use std::collections::{BTreeMap, BTreeSet};

/// Whose a group is by its tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Own,
    Nobodys,
    /// This pool's, in another management cluster.
    AnotherInstallations,
    /// Without an owner at first, and with the tag that lets the pool adopt it.
    Adoptable,
}

/// The warm pool that the group has at the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Warmth {
    None,
    /// That of the spec.
    Provider,
    /// One of running instances, which the spec does not name.
    AnotherUser,
}

/// One small world to explore.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent of each other")]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// The number of instances of the idle pool at the beginning.
    pub(crate) size: u8,
    /// What replicas may be changed to.
    pub(crate) targets: Vec<u8>,
    pub(crate) surge: u8,
    pub(crate) unavailable: u8,
    pub(crate) drains: u8,
    /// Nodes of the second content never join.
    pub(crate) broken: bool,
    /// So many of the instances of the beginning have reached their lifetime; no other one ever does.
    pub(crate) expired: u8,
    pub(crate) on_failure: OnFailure,
    /// Whose the group's tags say it is.
    pub(crate) whose: Whose,
    pub(crate) warmth: Warmth,
    /// The user data of this content do not wait in a warm pool.
    pub(crate) joining: Option<u8>,
    /// The pool is behind a load balancer, and asks for the health of its targets.
    pub(crate) balanced: bool,
    /// Connections to a target that is deregistered take their time to drain. Otherwise there are none.
    pub(crate) connected: bool,
    pub(crate) budget: Budget,
    /// Instances come in service at once, and Machines go at once after their FooMachines.
    pub(crate) hurried: bool,
    /// After how many ticks nothing grows older.
    pub(crate) cap: u8,
    /// More launches than this are wasted ones.
    pub(crate) launches: u8,
    /// What must be reached, or nothing was tried.
    pub(crate) reaches: Vec<Property<Self>>,
}

/// How long instances live in a world in which some have expired: longer than anything that is explored takes.
pub(crate) const LIFETIME: Seconds = Seconds(86_400);

/// One thing that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// AWS launches what is lacking; puts it in service; ends what leaves, and unprotected instances that are too many.
    Launch,
    Serve,
    Leave,
    ScaleIn,
    /// AWS ends the deletion of the warm pool, terminates an instance in it that is too many, or launches one into it.
    FitWarmPool,
    /// A load balancer finds an instance healthy.
    Check,
    /// Connections to a deregistered instance have drained.
    Disconnect,
    /// Core makes a Machine; a Node joins; a drain ends; a Machine goes after its FooMachine.
    Make,
    Join,
    Drain(u8),
    Forget,
    /// AWS ends an instance through the hook; one is gone at once.
    Take(u8),
    Die(u8),
    /// A load balancer finds an instance unhealthy.
    Fail(u8),
    /// From now on AWS refuses to delete warm pools.
    Deny,
    /// The autoscaler marks a Machine, or takes its mark back.
    Mark(u8),
    Unmark,
    /// People write replicas, new content, or delete a Machine.
    Target(u8),
    Edit,
    DeleteMachine(u8),
    /// People remove the warm pool from the spec, or add one.
    Toggle,
    /// People remove the target group from the spec.
    Detach,
    /// A manager reads and plans; its next action gets its outcome.
    Pass(usize, Sight),
    Act(usize, CallOutcome),
    /// The leader dies and comes back; another one takes the lead.
    Crash,
    HandOver,
    /// [`TICK`] passes.
    Tick,
}

impl Model for Scenario {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        let own = |number| Unit {
            life: Life::InService,
            foo: Foo::Alive,
            machine: Mach::Alive,
            ready: true,
            target: if self.balanced { Target::Healthy } else { Target::Unchecked },
            ..Unit::launched(number, 1)
        };
        let of_another_tool = |number| Unit {
            life: Life::InService,
            pods: true,
            protected: false,
            ..Unit::launched(number, 0)
        };
        let adopts = self.whose == Whose::Adoptable;
        let unit = |number| if adopts { of_another_tool(number) } else { own(number) };
        let version = u8::from(!adopts);
        let mut manager = Manager::new(1);
        manager.settled = true;
        manager.versions = Some(version);
        let secured = if adopts { Secured::NOT } else { Secured::FULLY };
        let warms = self.warmth == Warmth::Provider;
        let (warm_pool, recorded) = self.warm_pool_of_idle(warms, version);
        let state = State {
            group: Group {
                desired: self.size,
                max: self.size,
                version,
                secured,
                warm_pool,
                attached: self.balanced,
            },
            adopt: adopts,
            warms,
            balances: self.balanced,
            denied: false,
            recorded: Recorded { arn: !adopts, adoption: false, warm_pool: recorded },
            units: (1..=self.size).map(unit).collect(),
            group_before: None,
            objects_before: None,
            versions: version,
            quarantine: None,
            target: self.size,
            content: 1,
            managers: vec![manager],
            left: self.budget,
            tale: Tale {
                lowest: self.size,
                highest: self.size,
                lowered: 0,
                victims: 0,
                robbed: 0,
                launched: self.size,
                managers: 1,
            },
            wrong: None,
        };
        vec![state]
    }

    fn actions(&self, state: &State, steps: &mut Vec<Step>) {
        if state.wrong.is_some() {
            return;
        }
        self.nature(state, steps);
        Self::bad_days(state, steps);
        self.people(state, steps);
        Self::management(state, steps);
    }

    fn next_state(&self, last: &State, step: Step) -> Option<State> {
        let mut state = last.clone();
        self.happen(&mut state, step);
        if self.hurried {
            hurry(&mut state);
        }
        state.tidy();
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = rules::always();
        properties.extend(self.reaches.iter().cloned());
        properties
    }
}

impl Scenario {
    /// What AWS and Cluster API do by themselves. Of equals the first one moves first, except for drains.
    pub(crate) fn nature(&self, state: &State, steps: &mut Vec<Step>) {
        let any = |is: fn(&Unit) -> bool| state.units.iter().any(is);
        if state.existing() < state.group.desired {
            steps.push(Step::Launch);
        }
        if any(is_pending) {
            steps.push(Step::Serve);
        }
        if any(|unit| unit.life == Life::Terminating) {
            steps.push(Step::Leave);
        }
        if state.existing() > state.group.desired && any(is_expendable) {
            steps.push(Step::ScaleIn);
        }
        if state.group.warm_pool.is_some_and(WarmPool::is_unfinished) {
            steps.push(Step::FitWarmPool);
        }
        if any(is_to_be_checked) {
            steps.push(Step::Check);
        }
        if any(drains_connections) {
            steps.push(Step::Disconnect);
        }
        if any(wants_machine) {
            steps.push(Step::Make);
        }
        if state.units.iter().any(|unit| self.joins(unit)) {
            steps.push(Step::Join);
        }
        if any(wants_no_machine) {
            steps.push(Step::Forget);
        }
        steps.extend(state.units.iter().filter(|unit| drains(unit)).map(|unit| Step::Drain(unit.number)));
    }

    fn bad_days(state: &State, steps: &mut Vec<Step>) {
        for unit in state.units.iter().filter(|unit| unit.is_capacity()) {
            if state.left.takes > 0 {
                steps.push(Step::Take(unit.number));
            }
            if state.left.deaths > 0 {
                steps.push(Step::Die(unit.number));
            }
            if state.left.unhealthy > 0 && unit.target == Target::Healthy {
                steps.push(Step::Fail(unit.number));
            }
        }
        if state.left.denials > 0 && !state.denied && state.group.warm_pool.is_some() {
            steps.push(Step::Deny);
        }
        if state.left.faults > 0 {
            steps.push(Step::Crash);
        }
        if state.left.hand_overs > 0 {
            steps.push(Step::HandOver);
        }
    }

    fn people(&self, state: &State, steps: &mut Vec<Step>) {
        for unit in state.units.iter().filter(|unit| unit.machine == Mach::Alive) {
            if state.left.marks > 0 && !unit.marked {
                steps.push(Step::Mark(unit.number));
            }
            if state.left.deletions > 0 {
                steps.push(Step::DeleteMachine(unit.number));
            }
        }
        if state.units.iter().any(|unit| unit.marked && unit.machine == Mach::Alive) {
            steps.push(Step::Unmark);
        }
        if state.left.targets > 0 {
            steps.extend(
                self.targets
                    .iter()
                    .filter(|target| **target != state.target)
                    .map(|target| Step::Target(*target)),
            );
        }
        if state.left.edits > 0 {
            steps.push(Step::Edit);
        }
        if state.left.toggles > 0 {
            steps.push(Step::Toggle);
        }
        if state.left.detachments > 0 && state.balances {
            steps.push(Step::Detach);
        }
    }

    fn management(state: &State, steps: &mut Vec<Step>) {
        for (index, manager) in state.managers.iter().enumerate() {
            if manager.pending.is_some() {
                steps.push(Step::Act(index, CallOutcome::Completed));
                if state.left.faults > 0 {
                    steps.extend(mishaps(manager).iter().map(|outcome| Step::Act(index, *outcome)));
                }
                continue;
            }
            if !manager.leads {
                continue;
            }
            steps.push(Step::Pass(index, Sight::Fresh));
            if state.left.unread > 0 {
                steps.push(Step::Pass(index, Sight::NoTargets));
            }
            if state.group_before.is_some() && !manager.sees_group {
                steps.push(Step::Pass(index, Sight::LateLook));
                if manager.has_changed_group() {
                    steps.push(Step::Pass(index, Sight::NoLook));
                }
            }
            if state.objects_before.is_some() && !manager.sees_objects {
                steps.push(Step::Pass(index, Sight::LateCache));
            }
        }
        if state.managers[0].pending.is_none() {
            steps.push(Step::Tick);
        }
    }

    pub(crate) fn happen(&self, state: &mut State, step: Step) {
        match step {
            Step::Launch => {
                state.tale.launched += 1;
                let protected = state.group.secured.protects_new;
                // AWS takes an instance that waits first; whether from a warm pool that it is deleting, it does not document.
                let waiting = state.group.warm_pool.as_mut().and_then(|pool| pool.waiting.take());
                let version = waiting.unwrap_or(state.group.version);
                state.units.push(Unit { protected, ..Unit::launched(state.tale.launched, version) });
            }
            Step::Serve => serve(state),
            Step::Leave => first(state, |unit| unit.life == Life::Terminating).life = Life::Gone,
            Step::ScaleIn => {
                let group = state.group;
                let unit = first(state, is_expendable);
                unit.life = self.leaves(group, unit);
                if !group.secured.hook && !unit.is_empty() {
                    state.wrong = Some(Wrong::ScaledInUndrained);
                }
            }
            Step::FitWarmPool => self.fit_warm_pool(state),
            Step::Check => first(state, is_to_be_checked).target = Target::Healthy,
            Step::Disconnect => disconnect(state),
            Step::Make => first(state, wants_machine).machine = Mach::Alive,
            Step::Join => first(state, |unit| self.joins(unit)).ready = true,
            Step::Drain(number) => drain(one(state, number)),
            Step::Forget => first(state, wants_no_machine).machine = Mach::Gone,
            Step::Take(number) => {
                state.left.takes -= 1;
                let group = state.group;
                let unit = rob(state, number);
                unit.life = self.leaves(group, unit);
            }
            Step::Die(number) => {
                state.left.deaths -= 1;
                rob(state, number).life = Life::Gone;
            }
            Step::Fail(number) => {
                state.left.unhealthy -= 1;
                state.tale.robbed += 1;
                one(state, number).target = Target::Unhealthy;
            }
            Step::Deny => {
                state.left.denials -= 1;
                state.denied = true;
            }
            Step::Mark(number) => {
                state.left.marks -= 1;
                one(state, number).marked = true;
            }
            Step::Unmark => state.units.iter_mut().for_each(|unit| unit.marked = false),
            Step::Target(target) => {
                state.left.targets -= 1;
                state.tale.lowered += state.target.saturating_sub(target);
                state.tale.lowest = state.tale.lowest.min(target);
                state.tale.highest = state.tale.highest.max(target);
                state.target = target;
            }
            Step::Edit => {
                state.left.edits -= 1;
                // The first change of a pool that adopts ends the pause of its roll-out.
                if state.adopt {
                    state.adopt = false;
                } else {
                    state.content += 1;
                }
            }
            Step::DeleteMachine(number) => {
                state.left.deletions -= 1;
                rob(state, number).machine = Mach::Draining;
            }
            Step::Toggle => {
                state.left.toggles -= 1;
                state.warms = !state.warms;
            }
            Step::Detach => {
                state.left.detachments -= 1;
                state.balances = false;
            }
            Step::Pass(index, sight) => self.pass(state, index, sight),
            Step::Act(index, outcome) => {
                state.left.faults -= u8::from(outcome != CallOutcome::Completed);
                act(self, state, index, outcome);
            }
            Step::Crash => {
                state.left.faults -= 1;
                state.managers[0] = another(state);
            }
            Step::HandOver => {
                state.left.hand_overs -= 1;
                let new = another(state);
                state.managers.truncate(1);
                state.managers.insert(0, new);
            }
            Step::Tick => state.tick(self.ages(self.cap)),
        }
    }

    pub(crate) fn ages(&self, cap: u8) -> Ages {
        Ages { cap, marks: self.budget.marks > 0, trials: self.broken }
    }

    fn fit_warm_pool(&self, state: &mut State) {
        let version = state.group.version;
        match &mut state.group.warm_pool {
            Some(pool) if pool.deleting => state.group.warm_pool = None,
            Some(pool) if pool.size == 0 => pool.waiting = None,
            Some(pool) => {
                pool.waiting = Some(version);
                if pool.owner == Owner::Provider && !self.waits(version) {
                    state.wrong = Some(Wrong::WarmsJoining);
                }
            }
            None => {}
        }
    }

    fn pass(&self, state: &mut State, index: usize, sight: Sight) {
        state.left.lates -= u8::from(matches!(sight, Sight::LateLook | Sight::LateCache));
        state.left.unread -= u8::from(sight == Sight::NoTargets);
        let rested = sight == Sight::Fresh && self.is_idle(state) && Self::knows(state);
        let Plan { actions, .. } = begin(self, state, index, sight);
        if rested && !actions.is_empty() {
            state.wrong = Some(Wrong::NotIdle);
        }
        // A leader that was followed by another one has its last pass.
        state.managers[index].leads = index == 0;
    }

    /// Whether the leader knows all that it needs to see that everything is as desired.
    fn knows(state: &State) -> bool {
        let manager = &state.managers[0];
        manager.settled && manager.versions == Some(state.versions)
    }

    /// Everything is as desired, and nothing moves.
    pub(crate) fn is_idle(&self, state: &State) -> bool {
        let content = if self.broken && state.content == 2 { 1 } else { state.content };
        let secured = Secured::FULLY;
        let (warm_pool, recorded_warm_pool) = self.warm_pool_of_idle(state.warms, content);
        let group = Group {
            desired: state.target,
            max: state.target,
            version: content,
            secured,
            warm_pool,
            attached: state.balances,
        };
        // Until the roll-out begins, instances of another tool are as desired.
        let has_content = |unit: &Unit| unit.version == content || (state.adopt && unit.version == 0);
        let serves = |unit: &Unit| unit.serves() && unit.machine == Mach::Alive && unit.ready;
        let right = |unit: &Unit| {
            serves(unit) && unit.foo == Foo::Alive && has_content(unit) && !self.has_expired(unit)
        };
        // What works may come later than the deadline: then the way back counts as failed, and comes to its end all the same.
        let recorded = match state.quarantine {
            Some((failed, verdict)) => {
                failed == state.content && failed != content && verdict != Verdict::Over
            }
            None => content == state.content,
        };
        state.group == group
            && state.recorded.warm_pool == recorded_warm_pool
            && state.units.len() == usize::from(state.target)
            && state.units.iter().all(right)
            && recorded
    }

    /// The warm pool of an idle group that launches this version, and the record of it.
    fn warm_pool_of_idle(&self, warms: bool, version: u8) -> (Option<WarmPool>, RecordedWarmPool) {
        if self.warmth == Warmth::AnotherUser {
            (Some(WarmPool::of_another_user()), RecordedWarmPool::Nothing)
        } else if warms && self.waits(version) {
            (Some(WarmPool::of(version)), RecordedWarmPool::Version(version))
        } else {
            (None, RecordedWarmPool::Nothing)
        }
    }

    /// Whether the user data of this content wait in a warm pool.
    pub(crate) fn waits(&self, content: u8) -> bool {
        self.joining != Some(content)
    }

    /// It has reached its lifetime.
    pub(crate) fn has_expired(&self, unit: &Unit) -> bool {
        unit.number <= self.expired
    }

    /// Nothing is a reason to replace an instance: it is of the wanted content, which works, has not expired, and no load balancer finds
    /// it unhealthy.
    pub(crate) fn is_sound(&self, unit: &Unit, content: u8) -> bool {
        let works = !self.broken || unit.version != 2;
        let wanted = unit.version == content && works;
        unit.is_capacity() && wanted && !self.has_expired(unit) && unit.target != Target::Unhealthy
    }

    /// What becomes of an instance whose termination begins. AWS deregisters it first, and the hook follows when its connections have
    /// drained: `targets::a_terminating_instance_drains_its_connections_before_its_hook` in docs/simulator-rules.md.
    pub(crate) fn leaves(&self, group: Group, unit: &Unit) -> Life {
        if self.connected && unit.is_registered() { Life::Deregistering } else { ends(group) }
    }

    /// The group is detached from its target group: AWS deregisters its instances, which stay (Amazon EC2 Auto Scaling User Guide,
    /// "Understand the attachment status of your load balancer").
    pub(crate) fn detach(&self, state: &mut State) {
        state.group.attached = false;
        let after = if self.connected { Target::Draining } else { Target::Unchecked };
        state.units.iter_mut().filter(|unit| unit.is_registered()).for_each(|unit| unit.target = after);
    }

    fn joins(&self, unit: &Unit) -> bool {
        let works = !self.broken || unit.version != 2;
        let there = !matches!(unit.machine, Mach::NotYet | Mach::Gone);
        // The Node of an instance of another tool is there already.
        let lives = unit.life == Life::InService || (unit.pods && unit.life == Life::Waiting);
        works && there && lives && !unit.ready
    }

    /// The group is foreign.
    pub(crate) fn is_foreign(&self) -> bool {
        matches!(self.whose, Whose::Nobodys | Whose::AnotherInstallations)
    }

    pub(crate) fn name() -> GroupName {
        GroupName::new("ns-prod-workers")
    }

    pub(crate) fn identity() -> Identity {
        Identity {
            namespace: "ns".to_owned(),
            pool: super::state::POOL.to_owned(),
            cluster: "prod".to_owned(),
            group: Self::name(),
            template: Self::name().to_string(),
            installation: "here".to_owned(),
            adopt_from: None,
        }
    }

    /// Tags of the group.
    pub(crate) fn tags(&self, group: Group) -> BTreeMap<String, String> {
        let mut tags = Self::identity().group_tags();
        match self.whose {
            Whose::Own => {}
            Whose::Adoptable if group.secured.owned => tags = Self::identity().adopted_tags(),
            Whose::Adoptable => {
                tags = BTreeMap::from([(TAG_ADOPTABLE.to_owned(), Self::identity().adoptable_by())]);
            }
            Whose::Nobodys => tags.clear(),
            Whose::AnotherInstallations => {
                tags.insert(TAG_INSTALLATION.to_owned(), "elsewhere".to_owned());
            }
        }
        tags
    }

    pub(crate) fn hash(content: u8) -> SpecHash {
        SpecHash::new(format!("v{content}"))
    }

    pub(crate) fn content_of(hash: &SpecHash) -> u8 {
        hash.as_str().trim_start_matches('v').parse().unwrap()
    }

    /// The hash of the user data of this content.
    pub(crate) fn data(&self, content: u8) -> SpecHash {
        SpecHash::new(if self.waits(content) { "d" } else { "joining" })
    }

    /// The target group, if it is named, or attached.
    pub(crate) fn target_groups(has: bool) -> BTreeSet<TargetGroupArn> {
        has.then(|| TargetGroupArn::new("web")).into_iter().collect()
    }

    /// The same, as what the group is attached to.
    pub(crate) fn traffic_sources(has: bool) -> BTreeSet<TrafficSource> {
        Self::target_groups(has).into_iter().map(TrafficSource::TargetGroup).collect()
    }

    /// The planner's input.
    pub(crate) fn desired(&self, state: &State) -> Desired {
        Desired {
            identity: Self::identity(),
            goal: Goal::Run,
            pause: None,
            adoption: if state.adopt { Adoption::Allowed } else { Adoption::NotRequested },
            retains_adopted: false,
            may_have_adopted: false,
            missing: Vec::new(),
            size: Size::Replicas { wanted: state.target.into(), ceiling: None },
            template: Wanted::Ready(self.content(state.content)),
            group: GroupConfig {
                settings: GroupSettings::in_subnets(Wanted::Ready(BTreeSet::new())),
                mix: None,
                tags: BTreeMap::new(),
                storage: None,
                target_groups: self.balanced.then(|| Self::target_groups(state.balances)),
                classic_load_balancers: None,
                lattice_target_groups: None,
                hooks: None,
                notifications: None,
                suspended: BTreeSet::new(),
                warm_pool: state.warms.then_some(WarmPoolSettings {
                    min_size: 1,
                    max_prepared: None,
                    state: WarmState::Stopped,
                    reuse: false,
                }),
            },
            scale_in: ScaleIn {
                policy: VictimPolicy::Oldest,
                max_concurrent_drains: self.drains.into(),
                stabilization: Seconds(0),
            },
            rollout: Rollout {
                strategy: Strategy::RollingUpdate,
                max_surge: IntOrPercent::Count(self.surge.into()),
                max_unavailable: IntOrPercent::Count(self.unavailable.into()),
                min_ready: Seconds(0),
                ready_timeout: if self.broken { Seconds(60) } else { Seconds(1_000_000) },
                on_failure: self.on_failure,
                paused: state.adopt.then_some(RolloutPause::Adoption),
                max_lifetime: (self.expired > 0).then_some(LIFETIME),
            },
            target_health: self.balanced.then_some(TargetHealthRules {
                required: true,
                replace: true,
                grace: Seconds(0),
            }),
            maintenance: Maintenance::Always,
            capacity_block: None,
            remediation: Remediation {
                enabled: self.balanced,
                max_in_flight: IntOrPercent::Count(1),
                unhealthy_limit: IntOrPercent::Percent(50),
                join_timeout: None,
            },
            interruption: foo_planner::desired::Interruption {
                rebalance: foo_planner::desired::Rebalance::Ignore,
            },
            timeouts: DeletionTimeouts::default(),
            warnings: Vec::new(),
        }
    }

    fn content(&self, number: u8) -> Template {
        Template {
            content: TemplateContent {
                image: ImageId::new("ami"),
                arm64_image: None,
                instance_type: Some(InstanceType::new("t")),
                security_groups: Vec::new(),
                instance_profile: None,
                key_name: None,
                volumes: Vec::new(),
                metadata: MetadataOptions::with_tokens(1),
                spot: None,
                options: InstanceOptions::default(),
                user_data: UserData(Vec::new()),
                tags: BTreeMap::new(),
                interface_tags: BTreeMap::new(),
            },
            spec_hash: Self::hash(number),
            data_hash: self.data(number),
            source_hash: self.data(number),
            object: None,
            waits_in_warm_pool: self.waits(number),
        }
    }
}

/// What core and AWS are not waited for in the smaller state spaces.
fn hurry(state: &mut State) {
    while state.units.iter().any(is_pending) {
        serve(state);
    }
    for unit in &mut state.units {
        if wants_no_machine(unit) {
            unit.machine = Mach::Gone;
        }
    }
}

fn wants_machine(unit: &Unit) -> bool {
    unit.foo == Foo::Alive && unit.machine == Mach::NotYet
}

fn wants_no_machine(unit: &Unit) -> bool {
    unit.foo == Foo::Gone && matches!(unit.machine, Mach::Draining | Mach::LetGo)
}

/// A drain ends unless its Node is dead and core does not know: what runs there cannot be evicted.
fn drains(unit: &Unit) -> bool {
    let hangs = unit.life == Life::Gone && unit.ready && !unit.excluded && unit.foo == Foo::Alive;
    unit.machine == Mach::Draining && !hangs
}

/// The Node is empty, and core deletes the FooMachine.
fn drain(unit: &mut Unit) {
    // Core drains the Node that it knows.
    unit.drained = unit.life != Life::Gone && (unit.ready || !unit.pods);
    unit.machine = Mach::LetGo;
    if unit.foo == Foo::Alive {
        unit.foo = Foo::Deleting;
    }
}

fn is_pending(unit: &Unit) -> bool {
    unit.life == Life::Pending
}

/// An instance comes in service, and AWS registers it in the target group of its group.
fn serve(state: &mut State) {
    let attached = state.group.attached;
    let unit = first(state, is_pending);
    unit.life = Life::InService;
    unit.target = if attached { Target::Initial } else { Target::Unchecked };
}

/// It was deregistered, and connections to it are open.
fn drains_connections(unit: &Unit) -> bool {
    unit.life == Life::Deregistering || (unit.life == Life::InService && unit.target == Target::Draining)
}

/// The last connection to a deregistered instance is closed, or its deregistration delay is over.
fn disconnect(state: &mut State) {
    let group = state.group;
    let unit = first(state, drains_connections);
    if unit.life == Life::Deregistering {
        unit.life = ends(group);
    }
    unit.target = Target::Unchecked;
}

/// What follows for an instance that terminates once no connections are left.
fn ends(group: Group) -> Life {
    if group.secured.hook { Life::Waiting } else { Life::Terminating }
}

/// A load balancer checks it.
fn is_to_be_checked(unit: &Unit) -> bool {
    unit.life == Life::InService && unit.target == Target::Initial
}

/// AWS ends it when there are too many.
fn is_expendable(unit: &Unit) -> bool {
    unit.life == Life::InService && !unit.protected
}

fn one(state: &mut State, number: u8) -> &mut Unit {
    state.unit_mut(number).unwrap()
}

fn first(state: &mut State, is: impl Fn(&Unit) -> bool) -> &mut Unit {
    state.units.iter_mut().find(|unit| is(unit)).unwrap()
}

/// An instance that goes without us.
fn rob(state: &mut State, number: u8) -> &mut Unit {
    state.tale.robbed += 1;
    let unit = one(state, number);
    unit.taken = true;
    unit
}

fn another(state: &mut State) -> Manager {
    state.tale.managers += 1;
    Manager::new(state.tale.managers)
}

/// A tick is a cache's deadline, and two are that of an effect on the group.
#[test]
fn the_planners_deadlines_are_whole_ticks() {
    assert_eq!(foo_planner::memory::CACHE_DEADLINE, TICK);
    assert_eq!(foo_planner::memory::EFFECT_DEADLINE, TICK * 2);
}
