//! Any state at all, also states that should not exist: the planner returns a plan, always the same, and the checker
//! has nothing to say against it.

use super::cases;
use crate::world::{World, block_until, content, in_block, pool, warm_pool};
use foo_model::group::GroupStatus;
use foo_model::names::{TAG_ADOPTABLE, TAG_ADOPTED, TAG_INSTALLATION};
use foo_model::{
    Adoption, Agreement, AppliedWarmPool, AwsTime, Blocked, Comparison, Deletion, Difference, FooMachine,
    FoundReservation, Health, InstanceId, LaunchTemplateId, LifecycleState, MachineName, MachinePause,
    NodeState, Process, Protection, Reason, RemovalMark, Seconds, Signal, SignalKind, Sizes, TargetGroupArn,
    TargetHealth, TargetState, TemplateVersion, Timestamp, WarmPool, WarmPoolSettings, WarmState,
};
use foo_planner::action::{GroupAction, HookAction, MachineAction, NodeAction};
use foo_planner::desired::{PausedBy, Rebalance, Size, TargetHealthRules, Wanted};
use foo_planner::observed::{Ec2State, Finalizer, NOT_FOUND_FOR};
use foo_planner::{Action, Desired, Goal, LastRead, Memory, Observed, plan, violations};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// One change of what is observed, desired or remembered; numbers pick among what there is.
#[derive(Clone, Debug)]
enum Twist {
    NobodyKnows,
    Sizes(u32, u32, u32),
    Lifecycle(usize, LifecycleState),
    Unhealthy(usize),
    Unprotected(usize),
    DropInstance(usize),
    DropFooMachine(usize),
    Announced(usize, SignalKind, i64),
    FollowsAdvice,
    Rebalanced(i64),
    DropMachine(usize),
    FooMachineDeleting(usize),
    MachineDeleting(usize),
    Marked(usize),
    PausedMachine(usize),
    NoNode(usize),
    Word(usize, Ec2State),
    NoTags,
    /// The group carries the id of another management cluster; or none, as groups of long ago.
    Elsewhere,
    OfLongAgo,
    AdoptsFrom(&'static str),
    /// The group has no owner, and the pool has none yet; the owner of the account lets it adopt the group.
    Adoptable,
    /// A Capacity Block, which ends so many seconds from now, in this state; or one of `WITHOUT_BLOCK`.
    Block(&'static str, i64),
    Adopts(Adoption),
    /// The group was adopted, with an instance of another launch template.
    Adopted(usize),
    NoTemplateTags,
    GroupDeleting,
    NoGroup,
    GroupFailed,
    GroupUnknown,
    NoTemplate,
    TemplateUnknown,
    Content(&'static str),
    Blocked,
    Missing,
    Paused,
    Goal(Goal),
    Target(u32, Option<u32>),
    External(u32, u32),
    Unsettled,
    Unconfirmed,
    NoFinalizer,
    Changed(i64),
    Expected(u32, i64),
    Ending(usize, i64),
    DeletedMachine(usize, i64),
    CreatedMachine(usize, i64),
    NotSuspended,
    /// The manager's clock and the API server's.
    Clocks(Agreement),
    AwsClock(Agreement),
    Age(usize, i64),
    /// The pool asks for the health of its targets, and this one has this.
    TargetHealth(usize, TargetState),
    /// The pool asks for it, and it could not be read.
    TargetsUnknown,
    Lifetime(u32),
    /// It opened, or opens, so many seconds after now, for an hour.
    Window(i64),
    /// The group has a warm pool, which AWS is deleting or not.
    HasWarmPool(bool),
    /// The same with these settings, perhaps another user's.
    HasWarmPoolOf(WarmPoolSettings),
    /// For so many seconds the group has had a warm pool that it should not take instances from.
    UnfitFor(i64),
    /// The spec names a warm pool of so many instances.
    Warms(u32),
    /// The record has a warm pool of this version, or of any.
    RecordedWarmPool(Option<i64>),
    /// The user data do not wait in a warm pool.
    Joins,
}

/// What the read of a Capacity Block may be instead of a block in a state.
const WITHOUT_BLOCK: [&str; 3] = ["not read", "not readable", "not found"];

/// The read of a Capacity Block in this state, or one of `WITHOUT_BLOCK`.
fn read_block(word: &str, ends: AwsTime, at: Timestamp) -> LastRead<Option<FoundReservation>> {
    match word {
        "not read" => LastRead::Unknown,
        "not readable" => LastRead::Failed { reason: Reason::AccessDenied, message: String::new() },
        "not found" => LastRead::At { at, seen: None },
        state => LastRead::At { at, seen: Some(block_until(state, ends)) },
    }
}

fn not_found() -> impl Strategy<Value = Ec2State> {
    let at = Timestamp(1_000_000_000);
    let longest = i64::try_from(NOT_FOUND_FOR.as_millis()).unwrap() + 60_000;
    (0..longest).prop_map(move |for_ms| Ec2State::NotFound { since: Timestamp(at.0 - for_ms), at })
}

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0_u32..8, 1 => Just(u32::MAX), 1 => Just(u32::MAX - 1)]
}

fn lifecycle() -> impl Strategy<Value = LifecycleState> {
    let names = [
        "Pending",
        "Pending:Wait",
        "InService",
        "Terminating",
        "Terminating:Wait",
        "Terminating:Proceed",
        "Terminating:Retained",
        "Terminated",
        "Detaching",
        "Standby",
        "Warmed:Stopped",
        "Dreaming",
    ];
    prop::sample::select(names.to_vec()).prop_map(LifecycleState::from_name)
}

fn signal() -> impl Strategy<Value = SignalKind> {
    let kinds =
        [SignalKind::LeavesWarmPool, SignalKind::Interruption, SignalKind::Rebalance, SignalKind::Retirement];
    prop::sample::select(kinds.to_vec())
}

fn warm_pool_settings() -> impl Strategy<Value = WarmPoolSettings> {
    let of = |state, reuse| WarmPoolSettings { state, reuse, ..warm_pool(2) };
    let settings = [
        warm_pool(2).emptied(),
        of(WarmState::Stopped, true),
        of(WarmState::Running, false),
        of(WarmState::Hibernated, false),
    ];
    prop::sample::select(settings.to_vec())
}

fn target_state() -> impl Strategy<Value = TargetState> {
    let names = ["healthy", "unhealthy", "initial", "draining", "unused"];
    prop::sample::select(names.to_vec()).prop_map(TargetState::from_name)
}

/// The pool asks for the health of its targets.
fn asks_for_health(desired: &mut Desired) -> TargetGroupArn {
    let arn = TargetGroupArn::new("arn:web");
    desired.group.target_groups = Some([arn.clone()].into());
    desired.target_health = Some(TargetHealthRules { required: true, replace: true, grace: Seconds(0) });
    arn
}

fn twist() -> impl Strategy<Value = Twist> {
    let pick = || 0_usize..6;
    // Seconds before now.
    let ago = || -5_i64..90;
    prop_oneof![
        4 => (number(), number(), number()).prop_map(|(min, max, desired)| Twist::Sizes(min, max, desired)),
        6 => (pick(), lifecycle()).prop_map(|(at, state)| Twist::Lifecycle(at, state)),
        1 => pick().prop_map(Twist::Unhealthy),
        1 => pick().prop_map(Twist::Unprotected),
        3 => pick().prop_map(Twist::DropInstance),
        3 => pick().prop_map(Twist::DropFooMachine),
        3 => pick().prop_map(Twist::DropMachine),
        5 => pick().prop_map(Twist::FooMachineDeleting),
        5 => pick().prop_map(Twist::MachineDeleting),
        2 => pick().prop_map(Twist::Marked),
        1 => pick().prop_map(Twist::NoNode),
        3 => (pick(), prop_oneof![Just(Ec2State::Gone), Just(Ec2State::Alive), not_found()])
            .prop_map(|(at, word)| Twist::Word(at, word)),
        1 => prop::sample::select(vec![
            Twist::NoTags, Twist::Elsewhere, Twist::OfLongAgo, Twist::AdoptsFrom("elsewhere"), Twist::AdoptsFrom("nowhere"),
            Twist::NobodyKnows, Twist::NoTemplateTags, Twist::GroupDeleting, Twist::NoGroup, Twist::GroupFailed,
            Twist::GroupUnknown, Twist::NoTemplate, Twist::TemplateUnknown, Twist::Blocked, Twist::Missing,
            Twist::Paused, Twist::Goal(Goal::Orphan), Twist::Unsettled, Twist::Unconfirmed, Twist::NoFinalizer, Twist::NotSuspended,
            Twist::TargetsUnknown,
        ]),
        2 => Just(Twist::Goal(Goal::Remove)),
        2 => Just(Twist::Goal(Goal::Retain)),
        2 => pick().prop_map(Twist::PausedMachine),
        2 => (pick(), target_state()).prop_map(|(at, state)| Twist::TargetHealth(at, state)),
        3 => Just(Twist::Adoptable),
        3 => prop::sample::select(vec![Adoption::Allowed, Adoption::NotAllowed]).prop_map(Twist::Adopts),
        2 => pick().prop_map(Twist::Adopted),
        1 => prop::sample::select(vec!["v1", "v2"]).prop_map(Twist::Content),
        4 => (number(), prop::option::of(number())).prop_map(|(wanted, ceiling)| Twist::Target(wanted, ceiling)),
        2 => (0_u32..4, 4_u32..8).prop_map(|(min, max)| Twist::External(min, max)),
        1 => ago().prop_map(Twist::Changed),
        2 => (number(), ago()).prop_map(|(desired, at)| Twist::Expected(desired, at)),
        2 => (pick(), ago()).prop_map(|(at, ago)| Twist::Ending(at, ago)),
        4 => (pick(), signal(), ago()).prop_map(|(at, kind, ago)| Twist::Announced(at, kind, ago)),
        1 => Just(Twist::FollowsAdvice),
        1 => prop::sample::select(vec![Agreement::Unknown, Agreement::Differ]).prop_map(Twist::Clocks),
        1 => prop::sample::select(vec![Agreement::Unknown, Agreement::Differ]).prop_map(Twist::AwsClock),
        2 => (pick(), -10_000_i64..10_000).prop_map(|(at, age)| Twist::Age(at, age)),
        2 => (0_u32..10_000).prop_map(Twist::Lifetime),
        2 => (-4_000_i64..100).prop_map(Twist::Window),
        1 => (0_i64..900).prop_map(Twist::Rebalanced),
        2 => (pick(), ago()).prop_map(|(at, ago)| Twist::DeletedMachine(at, ago)),
        2 => (pick(), ago()).prop_map(|(at, ago)| Twist::CreatedMachine(at, ago)),
        2 => any::<bool>().prop_map(Twist::HasWarmPool),
        2 => warm_pool_settings().prop_map(Twist::HasWarmPoolOf),
        2 => (0_i64..900).prop_map(Twist::UnfitFor),
        2 => (1_u32..4).prop_map(Twist::Warms),
        2 => prop::option::of(1_i64..3).prop_map(Twist::RecordedWarmPool),
        1 => Just(Twist::Joins),
        3 => (
            prop::sample::select([&["active", "scheduled", "expired", "unavailable"][..], &WITHOUT_BLOCK[..]].concat()),
            -1_000_i64..8_000,
        ).prop_map(|(word, ends)| Twist::Block(word, ends)),
    ]
}

fn apply(twist: &Twist, world: &mut World, observed: &mut Observed, memory: &mut Memory) {
    let ids = world.instances();
    let name = |world: &World, at: usize| -> MachineName { world.name_of(&ids[at % ids.len()]) };
    let before = |seconds: &i64| Timestamp(observed.now.0 - seconds * 1000);
    match twist {
        Twist::Word(at, word) => {
            observed.ec2_states.insert(ids[at % ids.len()].clone(), *word);
        }
        Twist::Announced(at, kind, ago) => {
            let signal = Signal { kind: *kind, at: observed.aws_clock.remote(before(ago)) };
            observed.signals.insert(ids[at % ids.len()].clone(), signal);
        }
        Twist::Clocks(agreement) => observed.clocks = *agreement,
        Twist::AwsClock(agreement) => observed.aws_clock.agreement = *agreement,
        Twist::Age(at, seconds) => {
            let name = name(world, *at);
            for machine in observed.machines.iter_mut().filter(|it| it.name == name) {
                machine.created = before(seconds);
                machine.node_since = machine.node_since.map(|_| before(seconds));
            }
        }
        Twist::Window(seconds) => {
            let opens = Timestamp(observed.now.0 + seconds * 1_000);
            world.desired.maintenance = crate::world::window(opens, 0);
        }
        Twist::Lifetime(seconds) => world.desired.rollout.max_lifetime = Some(Seconds(*seconds)),
        Twist::FollowsAdvice => world.desired.interruption.rebalance = Rebalance::Replace,
        Twist::Block(word, ends) => {
            world.desired.capacity_block = Some(in_block());
            let ends = observed.aws_clock.remote(Timestamp(observed.now.0 + ends * 1_000));
            observed.capacity_block = read_block(word, ends, observed.now);
        }
        Twist::Rebalanced(ago) => memory.rebalanced_at = Some(before(ago)),
        Twist::DropFooMachine(at) => {
            let name = name(world, *at);
            observed.foo_machines.retain(|foo_machine| foo_machine.name != name);
        }
        Twist::DropMachine(at) => {
            let name = name(world, *at);
            observed.machines.retain(|machine| machine.name != name);
        }
        Twist::FooMachineDeleting(at) => {
            let name = name(world, *at);
            for foo_machine in observed.foo_machines.iter_mut().filter(|it| it.name == name) {
                foo_machine.deletion = Deletion::Since(observed.now);
            }
        }
        Twist::MachineDeleting(at) | Twist::Marked(at) | Twist::PausedMachine(at) | Twist::NoNode(at) => {
            let name = name(world, *at);
            for machine in observed.machines.iter_mut().filter(|it| it.name == name) {
                match twist {
                    Twist::Marked(_) => machine.mark = RemovalMark::DeleteFirst,
                    Twist::PausedMachine(_) => machine.pause = MachinePause::InForce,
                    Twist::NoNode(_) => machine.node = NodeState::None,
                    _ => machine.deletion = Deletion::Since(observed.now),
                }
            }
        }
        Twist::TargetHealth(at, state) => {
            let arn = asks_for_health(&mut world.desired);
            let healthy = |id: &InstanceId| (id.clone(), TargetHealth::new(TargetState::Healthy));
            let mut seen = observed.target_health.seen().cloned().unwrap_or_default();
            let targets = seen.entry(arn).or_insert_with(|| ids.iter().map(healthy).collect());
            targets.insert(ids[at % ids.len()].clone(), TargetHealth::new(*state));
            observed.target_health = LastRead::At { at: observed.now, seen };
        }
        Twist::TargetsUnknown => {
            asks_for_health(&mut world.desired);
            observed.target_health = LastRead::Unknown;
        }
        Twist::UnfitFor(seconds) => memory.warm_pool_unfit_since = Some(before(seconds)),
        Twist::Changed(ago) => memory.ledger.changed_at = Some(before(ago)),
        Twist::Expected(desired, ago) => memory.ledger.desired = Some((*desired, before(ago))),
        Twist::Ending(at, ago) => {
            memory.ledger.leaving.insert(ids[at % ids.len()].clone(), before(ago));
        }
        Twist::DeletedMachine(at, ago) => {
            memory.deleted_machines.insert(name(world, *at), before(ago));
        }
        Twist::CreatedMachine(at, ago) => {
            memory.created_machines.insert(name(world, *at), before(ago));
        }
        Twist::Unsettled => {
            observed.size_decisions_from = observed.now.plus(std::time::Duration::from_secs(9));
        }
        Twist::Unconfirmed => {
            observed.hook = LastRead::Unknown;
            observed.confirmed_from = observed.now.plus(std::time::Duration::from_mins(1));
        }
        Twist::NoFinalizer => observed.finalizer = Finalizer::Absent,
        Twist::NoTemplateTags => {
            if let LastRead::At { seen: Some(template), .. } = &mut observed.template {
                template.tags.clear();
            }
        }
        Twist::RecordedWarmPool(version) => {
            let template = version.map(|version| (LaunchTemplateId::new("lt-1"), TemplateVersion(version)));
            observed.applied.warm_pool = Some(AppliedWarmPool { template });
        }
        Twist::NoTemplate => observed.template = LastRead::At { at: observed.now, seen: None },
        Twist::TemplateUnknown => observed.template = LastRead::Unknown,
        other => apply_to_group_or_target(other, &ids, world, observed),
    }
}

fn apply_to_group_or_target(twist: &Twist, ids: &[InstanceId], world: &mut World, observed: &mut Observed) {
    let desired = &mut world.desired;
    match twist {
        Twist::Content(spec) => desired.template = Wanted::Ready(content(spec, "d1")),
        Twist::Blocked => desired.template = Wanted::Blocked(Blocked::new(Reason::ImageNotFound, "")),
        Twist::Warms(instances) => desired.group.warm_pool = Some(warm_pool(*instances)),
        Twist::Joins => {
            if let Wanted::Ready(template) = &mut desired.template {
                template.waits_in_warm_pool = false;
            }
        }
        Twist::Missing => desired.missing = vec![Blocked::new(Reason::WaitingForMachinePool, "")],
        Twist::Paused => desired.pause = Some(PausedBy::Cluster),
        Twist::Goal(goal) => desired.goal = *goal,
        Twist::Target(wanted, ceiling) => {
            desired.size = Size::Replicas { wanted: *wanted, ceiling: *ceiling }
        }
        Twist::External(min, max) => desired.size = Size::External { min: *min, max: *max, published: *min },
        Twist::NobodyKnows => desired.size = Size::Unknown,
        Twist::Adopts(adoption) => {
            desired.adoption = *adoption;
            desired.retains_adopted = *adoption == Adoption::Allowed;
            desired.may_have_adopted = true;
        }
        Twist::AdoptsFrom(id) => desired.identity.adopt_from = Some((*id).to_owned()),
        Twist::NoGroup => observed.group = LastRead::At { at: observed.now, seen: None },
        Twist::GroupUnknown => observed.group = LastRead::Unknown,
        Twist::GroupFailed => {
            observed.group = LastRead::Failed { reason: Reason::AccessDenied, message: String::new() };
        }
        other => {
            let LastRead::At { seen: Some(group), .. } = &mut observed.group else { return };
            match other {
                Twist::Sizes(min, max, desired) => {
                    group.sizes = Sizes { min: *min, max: *max, desired: *desired };
                }
                Twist::NoTags => group.tags.clear(),
                Twist::Adoptable => {
                    group.tags = BTreeMap::from([(TAG_ADOPTABLE.to_owned(), "ns/workers".to_owned())]);
                    observed.recorded_arn = None;
                }
                Twist::Elsewhere => {
                    group.tags.insert(TAG_INSTALLATION.to_owned(), "elsewhere".to_owned());
                }
                Twist::OfLongAgo => {
                    group.tags.remove(TAG_INSTALLATION);
                }
                Twist::HasWarmPool(deleting) => {
                    let (settings, deleting) = (warm_pool(2), *deleting);
                    group.warm_pool = Some(WarmPool { settings, deleting, size: 2 });
                }
                Twist::HasWarmPoolOf(settings) => {
                    group.warm_pool = Some(WarmPool { settings: *settings, deleting: false, size: 2 });
                }
                Twist::GroupDeleting => group.status = GroupStatus::Deleting,
                Twist::NotSuspended => {
                    group.suspended.remove(&Process::AZRebalance);
                }
                Twist::DropInstance(at) => group.instances.retain(|it| it.id != ids[at % ids.len()]),
                Twist::Lifecycle(at, _)
                | Twist::Unhealthy(at)
                | Twist::Unprotected(at)
                | Twist::Adopted(at) => {
                    if matches!(other, Twist::Adopted(_)) {
                        group.tags.insert(TAG_ADOPTED.to_owned(), "true".to_owned());
                        let of = |it: &&mut FooMachine| it.instance == ids[at % ids.len()];
                        observed.foo_machines.iter_mut().filter(of).for_each(|it| it.spec_hash = None);
                    }
                    for instance in group.instances.iter_mut().filter(|it| it.id == ids[at % ids.len()]) {
                        match other {
                            Twist::Lifecycle(_, state) => instance.lifecycle = state.clone(),
                            Twist::Unhealthy(_) => instance.health = Health::Unhealthy,
                            Twist::Adopted(_) => instance.template = None,
                            _ => instance.protection = Protection::Unprotected,
                        }
                    }
                }
                other => panic!("{other:?} is not about the group"),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases() * 2, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_planner_plans_from_any_state_and_the_checker_agrees(
        surge in 0_u32..3,
        twists in prop::collection::vec(twist(), 0..16),
    ) {
        let mut world = pool().of(5).with_surge(surge).running();
        world.read_group();
        let mut observed = world.observe(0);
        let mut memory = world.managers[0].memory.clone();
        for twist in &twists {
            apply(twist, &mut world, &mut observed, &mut memory);
        }
        let first = plan(&world.desired, &observed, &memory);
        prop_assert_eq!(&first, &plan(&world.desired, &observed, &memory));
        let broken = violations(&world.desired, &observed, &memory, &first);
        prop_assert!(broken.is_empty(), "{:?}\n{:#?}", broken, first.actions);
        prop_assert!(first.report.next.after != Some(std::time::Duration::ZERO), "a hot loop");
    }

    /// A clock that is wrong makes every Machine old, or born tomorrow.
    #[test]
    fn without_agreement_of_the_clocks_no_age_of_a_machine_is_a_reason(
        late in 0_usize..5,
        ages in prop::collection::vec(-100_000_i64..100_000, 5),
        clocks in prop::sample::select(vec![Agreement::Agree, Agreement::Unknown, Agreement::Differ]),
        lifetime in prop::option::of(50_000_u32..200_000),
    ) {
        let mut world = pool().of(5).with_surge(0).lacking_at_most(1).running();
        world.desired.remediation.enabled = true;
        world.desired.remediation.join_timeout = Some(Seconds(600));
        world.desired.rollout.max_lifetime = lifetime.map(Seconds);
        world.read_group();
        let mut observed = world.observe(0);
        let mut memory = world.managers[0].memory.clone();
        for (at, age) in ages.iter().enumerate() {
            apply(&Twist::Age(at, *age), &mut world, &mut observed, &mut memory);
        }
        apply(&Twist::NoNode(late), &mut world, &mut observed, &mut memory);
        apply(&Twist::Clocks(clocks), &mut world, &mut observed, &mut memory);
        let plan = plan(&world.desired, &observed, &memory);
        let deletes = plan.actions.iter().any(|action| {
            matches!(action, Action::Machine(MachineAction::DeleteMachine { .. }) | Action::Instance(_))
        });
        let is_late = clocks == Agreement::Agree && ages[late] >= 600;
        let oldest = ages.iter().copied().max().unwrap();
        let lifetime = lifetime.map_or(i64::MAX, i64::from);
        // In between it depends on the moment of each instance, and on whether another one is unavailable already.
        if clocks != Agreement::Agree || is_late || oldest < lifetime / 10 * 9 {
            prop_assert_eq!(deletes, is_late, "{:#?}", plan.actions);
        }
    }

    /// A recommendation is an hour's worth: whether it is older is known only by AWS's clock.
    #[test]
    fn without_agreement_of_awss_clock_no_recommendation_replaces_anything(
        ago in 0_i64..10_000,
        ahead in -100_000_i64..100_000,
        agreement in prop::sample::select(vec![Agreement::Agree, Agreement::Unknown, Agreement::Differ]),
    ) {
        let mut world = pool().of(5).with_surge(0).running();
        world.desired.interruption.rebalance = Rebalance::Replace;
        world.wait(3_600);
        world.read_group();
        let mut observed = world.observe(0);
        let mut memory = world.managers[0].memory.clone();
        observed.aws_clock = Comparison { difference: Difference::ahead_by(ahead), agreement };
        let announced = Twist::Announced(0, SignalKind::Rebalance, ago);
        apply(&announced, &mut world, &mut observed, &mut memory);
        let plan = plan(&world.desired, &observed, &memory);
        let deletes = plan.actions.iter().any(|action| matches!(action, Action::Machine(MachineAction::DeleteMachine { .. })));
        prop_assert_eq!(deletes, agreement == Agreement::Agree && ago < 3_600, "{:#?}", plan.actions);
    }

    /// Neither the group nor its template; a person's word makes it this management cluster's, and nothing else is done before that.
    #[test]
    fn what_another_installation_has_is_never_changed(
        goal in prop::sample::select(vec![Goal::Run, Goal::Remove, Goal::Retain]),
        adopt_from in prop::option::of(prop::sample::select(vec!["elsewhere", "nowhere"])),
        twists in prop::collection::vec(twist(), 0..16),
    ) {
        let mut world = pool().of(5).with_surge(1).running();
        world.read_group();
        let mut observed = world.observe(0);
        let mut memory = world.managers[0].memory.clone();
        for twist in &twists {
            apply(twist, &mut world, &mut observed, &mut memory);
        }
        apply(&Twist::Goal(goal), &mut world, &mut observed, &mut memory);
        apply(&Twist::Elsewhere, &mut world, &mut observed, &mut memory);
        world.desired.identity.adopt_from = adopt_from.map(str::to_owned);
        let identity = &world.desired.identity;
        let elsewhere = matches!(&observed.group, LastRead::At { seen: Some(group), .. } if identity.owns(&group.tags));
        let plan = plan(&world.desired, &observed, &memory);
        for action in plan.actions.iter().filter(|_| elsewhere) {
            let adopts = matches!(action, Action::Group(GroupAction::TagGroup { tags, .. }) if *tags == [(TAG_INSTALLATION.to_owned(), "here".to_owned())].into());
            let changes = action.changes_template()
                || matches!(action, Action::Group(_) | Action::Instance(_) | Action::Hook(HookAction::PutLifecycleHook { .. } | HookAction::DeleteLifecycleHook { .. } | HookAction::PutOtherHook { .. } | HookAction::DeleteOtherHook { .. } | HookAction::RecordHeartbeat { .. }));
            prop_assert!(!changes || (adopts && adopt_from == Some("elsewhere")), "{:?}", plan.actions);
            let drains = matches!(action, Action::Machine(MachineAction::DeleteMachine { .. }) | Action::Node(NodeAction::CordonNodes { .. }));
            prop_assert!(!drains || goal == Goal::Remove, "{:?}", plan.actions);
        }
    }
}
