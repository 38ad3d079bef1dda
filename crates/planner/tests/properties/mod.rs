//! Random interleavings: whatever the order of events, the invariants hold after every step, and when people and
//! faults leave the pool alone, it comes to rest at its desired replicas.
//!
//! `PLANNER_CASES=20000 cargo test -p foo-planner --release` goes deeper.

mod anything;
mod interruptions;
mod rollouts;

use crate::world::{Fault, JOINING, Launches, OLDEST_RESPONSE, World, pool, warm_pool};
use foo_model::{InstanceId, MachineName, Maintenance, NodeState, SignalKind, SpecHash, WarmPoolSettings};
use foo_planner::Goal;
use foo_planner::desired::{Size, Wanted};
use foo_planner::report::{ConditionKind, Pace, Status};
use proptest::prelude::*;
use std::time::Duration;

/// One thing that happens.
#[derive(Clone, Copy, Debug)]
enum Step {
    Wait(u64),
    LastRead {
        lag: u64,
    },
    Pass {
        at: usize,
        fault: Happening,
    },
    AwsLaunches,
    AwsServes,
    AwsEnds,
    AwsWarms,
    CoreMakes,
    CoreDrains,
    CoreForgets,
    NodesJoin,
    Capacity(Launches),
    /// So many instances are to wait in a warm pool; 0: the spec names none.
    Warm(u32),
    /// Whether the user data wait in a warm pool.
    Waits(bool),
    /// Whether AWS cannot delete the warm pool, because its instances are moving.
    WarmPoolIsBusy(bool),
    /// An instance of this number leaves the warm pool, because that became smaller.
    LeavesWarmPool(u32),
    Scale(u32),
    AutoscalerShrinks {
        pick: usize,
        half: Half,
    },
    DesiredByHand(u32),
    MinByHand(u32),
    Kill(usize),
    /// AWS ends an instance for a reason of its own.
    Take(usize),
    Strike(usize),
    /// EC2 does not know an instance for this many seconds.
    Hide(usize, u64),
    /// AWS announces something about an instance; maybe nothing follows.
    Announce(SignalKind, usize),
    DeleteMachine(usize),
    DeleteFooMachine(usize),
    HoldDrain(usize),
    FreezeCaches(bool),
    Restart,
    HandOver,
    OldLeaderPasses,
    Managed(bool),
    Content(u8),
    /// The next maintenance window opens so many seconds later; 0: one is open.
    WindowIn(u32),
    /// All Machines become older by this many seconds.
    GrowOld(u32),
    /// The Nodes of this content do not join from now on.
    Broken(u8),
    DeletePool,
    /// With `deletionPolicy: Retain`.
    DeletePoolRetaining,
    /// Core reports Machines as paused.
    CorePauses,
}

/// What happens to the action at a place of a plan.
#[derive(Clone, Copy, Debug)]
enum Happening {
    Fault(Fault),
    /// Just before it, a user writes replicas.
    Scaled(u32),
    /// Just before it, the autoscaler takes its marks back.
    Unmarked,
}

/// How far the autoscaler's two writes get.
#[derive(Clone, Copy, Debug)]
enum Half {
    Both,
    /// It dies in between.
    MarkOnly,
    /// The second fails, and it takes the mark back.
    TakenBack,
}

/// Everything that can happen.
fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        60 => peaceful_step(),
        1 => (0_u32..8).prop_map(Step::DesiredByHand),
        1 => (0_u32..8).prop_map(Step::MinByHand),
        1 => (0_usize..6).prop_map(Step::Kill),
        1 => (0_usize..6).prop_map(Step::DeleteMachine),
        1 => (0_usize..6).prop_map(Step::DeleteFooMachine),
        2 => announcement(),
        1 => any::<bool>().prop_map(Step::Managed),
        1 => prop::bool::weighted(0.2).prop_map(|delete| if delete { Step::DeletePool } else { Step::Wait(1) }),
        1 => prop::bool::weighted(0.4).prop_map(|delete| if delete { Step::DeletePoolRetaining } else { Step::Wait(1) }),
        1 => Just(Step::CorePauses),
        2 => (0_u32..3).prop_map(Step::Warm),
        1 => any::<bool>().prop_map(Step::Waits),
        1 => any::<bool>().prop_map(Step::WarmPoolIsBusy),
        1 => (0_u32..40).prop_map(Step::LeavesWarmPool),
        3 => Just(Step::AwsWarms),
    ]
}

/// Everything but people and bad days that interfere with instances and Machines.
fn peaceful_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1_u64..20).prop_map(Step::Wait),
        8 => (0..=OLDEST_RESPONSE.as_secs()).prop_map(|lag| Step::LastRead { lag }),
        12 => (0_usize..5, happening()).prop_map(|(at, fault)| Step::Pass { at, fault }),
        4 => Just(Step::AwsLaunches),
        4 => Just(Step::AwsServes),
        4 => Just(Step::AwsEnds),
        4 => Just(Step::CoreMakes),
        4 => Just(Step::CoreDrains),
        3 => Just(Step::CoreForgets),
        3 => Just(Step::NodesJoin),
        1 => prop_oneof![Just(Launches::Work), Just(Launches::Fail)].prop_map(Step::Capacity),
        3 => (0_u32..6).prop_map(Step::Scale),
        3 => (0_usize..6, half()).prop_map(|(pick, half)| Step::AutoscalerShrinks { pick, half }),
        2 => (0_usize..6).prop_map(Step::Take),
        2 => (0_usize..6).prop_map(Step::Strike),
        2 => (0_usize..6, 1_u64..240).prop_map(|(pick, seconds)| Step::Hide(pick, seconds)),
        1 => (0_usize..6).prop_map(Step::HoldDrain),
        1 => any::<bool>().prop_map(Step::FreezeCaches),
        1 => Just(Step::Restart),
        1 => Just(Step::HandOver),
        2 => Just(Step::OldLeaderPasses),
        1 => (1_u8..4).prop_map(Step::Content),
    ]
}

/// What happens to a pool while no user changes its size or interferes with its instances.
fn undisturbed() -> impl Strategy<Value = Step> {
    let happening = happening().prop_filter("the target stays", |it| !matches!(it, Happening::Scaled(_)));
    prop_oneof![
        5 => (1_u64..20).prop_map(Step::Wait),
        8 => (0..=OLDEST_RESPONSE.as_secs()).prop_map(|lag| Step::LastRead { lag }),
        14 => (0_usize..5, happening).prop_map(|(at, fault)| Step::Pass { at, fault }),
        6 => Just(Step::AwsLaunches),
        6 => Just(Step::AwsServes),
        4 => Just(Step::AwsEnds),
        6 => Just(Step::CoreMakes),
        4 => Just(Step::CoreDrains),
        3 => Just(Step::CoreForgets),
        6 => Just(Step::NodesJoin),
        1 => Just(Step::Restart),
        1 => Just(Step::HandOver),
        2 => Just(Step::OldLeaderPasses),
        1 => Just(Step::Wait(700)),
    ]
}

fn announcement() -> impl Strategy<Value = Step> {
    let kinds = [SignalKind::Interruption, SignalKind::Rebalance, SignalKind::Retirement];
    (prop::sample::select(kinds.to_vec()), 0_usize..6).prop_map(|(kind, pick)| Step::Announce(kind, pick))
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        10 => Just(Happening::Fault(Fault::None)),
        1 => Just(Happening::Fault(Fault::ResponseLost)),
        1 => Just(Happening::Fault(Fault::RequestLost)),
        1 => Just(Happening::Fault(Fault::Refused)),
        1 => Just(Happening::Fault(Fault::CrashBefore)),
        1 => Just(Happening::Fault(Fault::CrashAfter)),
        1 => (0_u32..6).prop_map(Happening::Scaled),
        1 => Just(Happening::Unmarked),
    ]
}

fn half() -> impl Strategy<Value = Half> {
    prop_oneof![Just(Half::Both), Just(Half::MarkOnly), Just(Half::TakenBack)]
}

fn happen(world: &mut World, step: Step) {
    match step {
        Step::Wait(seconds) => {
            world.wait(seconds);
            // Older caches are not explored: a watch that is lost is started again within seconds.
            world.thaw_after(20);
        }
        Step::LastRead { lag } => {
            world.wait(1);
            world.observe_with_lag(lag);
        }
        Step::Pass { at, fault } => pass(world, at, fault),
        Step::AwsLaunches => world.cloud.launch(world.now),
        Step::AwsServes => world.cloud.put_in_service(world.now),
        Step::AwsEnds => world.cloud.end_leaving(world.now),
        Step::AwsWarms => world.cloud.fit_warm_pool(world.now),
        Step::Warm(instances) => {
            world.record(format!("a warm pool of {instances}"));
            world.desired.group.warm_pool = (instances > 0).then(|| warm_pool(instances));
        }
        Step::Waits(waits) => {
            if let Wanted::Ready(template) = &mut world.desired.template {
                template.waits_in_warm_pool = waits;
                template.data_hash = SpecHash::new(if waits { "d1" } else { JOINING });
            }
        }
        Step::WarmPoolIsBusy(busy) => {
            world.cloud.refuses_warm_pool_deletion = busy.then_some("ScalingActivityInProgress");
        }
        Step::LeavesWarmPool(number) => {
            if has_own_warm_pool(world) {
                world.leaves_warm_pool(&InstanceId::new(format!("i-0000ab{number:02}")));
            }
        }
        Step::CoreMakes => world.kube.make_machines(world.now),
        Step::CoreDrains => world.kube.drain(world.now, &world.cloud),
        Step::CoreForgets => world.kube.forget_machines(),
        Step::NodesJoin => world.kube.join_nodes(world.now, &world.cloud),
        Step::Capacity(launches) => world.cloud.launches = launches,
        Step::Scale(replicas) => world.scale_to(replicas),
        Step::AutoscalerShrinks { pick, half } => shrink(world, pick, half),
        Step::DesiredByHand(desired) => world.set_desired_by_hand(desired),
        Step::MinByHand(min) => world.set_min_by_hand(min),
        Step::Kill(pick) => {
            if let Some(id) = picked(&world.instances(), pick) {
                world.kill(&id);
            }
        }
        Step::Take(pick) => {
            if let Some(id) = picked(&world.instances(), pick) {
                world.record(format!("AWS ends {id}"));
                world.cloud.terminate_by_aws(&id, world.now);
            }
        }
        Step::Strike(pick) => {
            if let Some(id) = picked(&world.instances(), pick) {
                world.record(format!("{id} dies, and AWS ends it"));
                world.cloud.fail_health_check(&id, world.now);
            }
        }
        Step::Hide(pick, seconds) => {
            if let Some(id) = picked(&world.instances(), pick) {
                world.record(format!("EC2 does not know {id} for {seconds} s"));
                world.cloud.hide(&id, world.now, seconds);
            }
        }
        Step::Announce(kind, pick) => {
            if let Some(id) = picked(&world.instances(), pick) {
                world.announce(kind, &id);
            }
        }
        Step::DeleteMachine(pick) => {
            if let Some(name) = picked(&world.kube.alive(), pick) {
                world.delete_machine(&name);
            }
        }
        Step::DeleteFooMachine(pick) => {
            if let Some(name) = picked(&world.kube.alive(), pick) {
                world.delete_foo_machine(&name);
            }
        }
        Step::HoldDrain(pick) => {
            if let Some(name) = picked(&world.kube.alive(), pick) {
                world.kube.held_up.insert(name);
            }
        }
        Step::FreezeCaches(freeze) => world.freeze_caches(freeze),
        Step::Restart => world.restart(0),
        Step::HandOver => world.hand_over(),
        Step::OldLeaderPasses => {
            // A leader stops before its lease ends: what it did is visible when its successor has settled.
            let is_over = |settled_from| world.now.plus(OLDEST_RESPONSE) > settled_from;
            if world.managers.len() > 1 && !is_over(world.managers[0].settled_from) {
                world.record("the old leader:");
                world.pass_of(1, &mut |_, _| Fault::None);
            }
        }
        Step::Managed(true) => world.let_another_controller_manage(1, 5),
        Step::Managed(false) => world.manage_again(),
        Step::WindowIn(seconds) => world.opens_in(seconds),
        Step::GrowOld(seconds) => world.grow_old(seconds),
        Step::Content(number) => {
            let content = crate::world::content(&format!("v{number}"), "d1");
            world.desired.template = Wanted::Ready(content);
        }
        Step::Broken(number) => {
            world.kube.broken.insert(format!("v{number}").into());
        }
        // Also after a deletion whose group was to stay: a user changes `deletionPolicy`.
        Step::DeletePool => world.delete_pool(),
        Step::DeletePoolRetaining if world.desired.goal == Goal::Run => world.delete_pool_retaining(),
        Step::DeletePoolRetaining => {}
        Step::CorePauses => world.kube.confirm_pauses(),
    }
}

/// Whether the group has a warm pool of the provider that AWS is not deleting.
fn has_own_warm_pool(world: &World) -> bool {
    let pool = world.cloud.group.as_ref().and_then(|group| group.warm_pool);
    world.kube.applied.warm_pool.is_some() && pool.is_some_and(|pool| !pool.deleting)
}

fn picked<T: Clone>(from: &[T], pick: usize) -> Option<T> {
    (!from.is_empty()).then(|| from[pick % from.len()].clone())
}

fn pass(world: &mut World, at: usize, what: Happening) {
    world.pass_of(0, &mut |world, number| match what {
        _ if number != at => Fault::None,
        Happening::Fault(fault) => fault,
        Happening::Scaled(replicas) => {
            world.scale_to(replicas);
            Fault::None
        }
        Happening::Unmarked => {
            for name in world.kube.alive() {
                world.unmark(&name);
            }
            Fault::None
        }
    });
}

/// The autoscaler's double write: mark a Machine, then lower replicas by one.
fn shrink(world: &mut World, pick: usize, half: Half) {
    let alive: Vec<MachineName> = world.kube.alive();
    let Some(name) = picked(&alive, pick) else { return };
    world.mark(&name);
    match half {
        Half::Both => world.scale_to(world.target().saturating_sub(1)),
        Half::MarkOnly => {}
        Half::TakenBack => world.unmark(&name),
    }
}

/// Users, faults and bad days end; only the planner, AWS and Cluster API continue.
fn comes_to_rest(world: &mut World) {
    world.record("--- quiet from here on ---");
    world.freeze_caches(false);
    world.cloud.launches = Launches::Work;
    world.desired.maintenance = Maintenance::Always;
    world.kube.held_up.clear();
    world.cloud.refuses_warm_pool_deletion = None;
    world.forget_advice();
    // Messages that a manager lost in a crash come again.
    for id in world.cloud.leaving_warm_pool.clone() {
        world.announce(SignalKind::LeavesWarmPool, &id);
    }
    let plan = world.settle();
    if world.desired.goal == Goal::Retain {
        assert!(world.is_retained(), "{}\n{:#?}", world.story(), plan.report.conditions);
        return;
    }
    if world.desired.goal == Goal::Remove {
        // A user may change `deletionPolicy` when the group has no owner any more.
        assert!(
            world.is_gone() || world.is_retained(),
            "something is left\n{}\n{:#?}",
            world.story(),
            plan.report.conditions
        );
        return;
    }
    let sizes = world.cloud.sizes();
    let target = match world.desired.size {
        Size::Replicas { wanted, .. } => wanted,
        Size::External { min, max, published } => {
            assert!((min..=max).contains(&sizes.desired), "{sizes:?}\n{}", world.story());
            assert_eq!(published, sizes.desired);
            sizes.desired
        }
        Size::Unknown => sizes.desired,
    };
    assert_eq!(sizes.desired, target, "{}", world.story());
    assert_eq!(world.cloud.existing(), target, "{}", world.story());
    assert_eq!(u32::try_from(world.kube.alive().len()).unwrap(), target, "{}", world.story());
    let ready = &plan.report.conditions[0];
    assert_eq!(
        (ready.kind, ready.status),
        (ConditionKind::Ready, Status::True),
        "{ready:?}\n{}",
        world.story()
    );
    assert_eq!(plan.report.next.pace, Pace::Quiet);
    has_its_warm_pool(world);
}

/// The group has the warm pool of the spec, full of instances of its version, if their user data wait; otherwise none. Never did an
/// instance in it join the cluster, and what left it does not wait for our hook.
fn has_its_warm_pool(world: &World) {
    let Wanted::Ready(template) = &world.desired.template else { return };
    let wanted = world.desired.group.warm_pool.filter(|_| template.waits_in_warm_pool);
    let wanted = wanted.map(|settings| match world.desired.size {
        Size::Replicas { .. } => WarmPoolSettings { max_prepared: Some(settings.min_size), ..settings },
        Size::External { .. } | Size::Unknown => settings,
    });
    let has = world.cloud.group.as_ref().and_then(|group| group.warm_pool);
    assert_eq!(has.map(|pool| pool.settings), wanted, "{}", world.story());
    assert!(world.cloud.warms_its_version(), "{:?}\n{}", world.cloud.warm, world.story());
    assert!(world.cloud.joined.is_empty(), "{:?}\n{}", world.cloud.joined, world.story());
    assert!(world.cloud.leaving_warm_pool.is_empty(), "{}", world.story());
}

fn cases() -> u32 {
    std::env::var("PLANNER_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

/// What befalls a pool whose autoscaler never marks anything.
#[derive(Clone, Copy, Debug)]
enum Event {
    Scale(u32),
    Rounds(usize),
    Capacity(Launches),
    Restart,
}

/// Machines with a Node that stay.
fn registered(world: &World) -> u32 {
    let stays = |name: &&MachineName| {
        let machine = world.kube.machine(name);
        machine.is_some_and(|machine| machine.node != NodeState::None && !machine.deletion.is_deleting())
    };
    u32::try_from(world.kube.alive().iter().filter(stays).count()).unwrap()
}

/// How worlds are played.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: cases(),
        max_shrink_iters: 4000,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_pool_survives_any_interleaving(
        start in 0_u32..5,
        stabilized in any::<bool>(),
        surge in 0_u32..3,
        follows in any::<bool>(),
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let start = pool().of(start).with_surge(surge);
        let start = if follows { start.following_advice() } else { start };
        let start = if stabilized { start.stabilized() } else { start };
        let mut world = start.running();
        for step in steps {
            happen(&mut world, step);
        }
        comes_to_rest(&mut world);
    }

    /// No user touches instances or Machines: then there is never more than the largest target asked for, and never
    /// more Machines go than the smallest target leaves, whatever is lost, late, or crashes.
    #[test]
    fn a_pool_left_to_its_autoscaler_stays_between_its_targets(
        start in 0_u32..5,
        surge in 0_u32..3,
        steps in prop::collection::vec(peaceful_step(), 1..80),
    ) {
        // Without surge a roll-out goes one by one.
        let lacking = u32::from(surge == 0);
        let mut world = pool().of(start).with_surge(surge).lacking_at_most(lacking).running();
        for step in steps {
            happen(&mut world, step);
            let (fewest, most) = (world.targets.0.saturating_sub(lacking), world.targets.1);
            let staying = world.staying();
            prop_assert!(staying >= fewest, "{staying} stay, at least {fewest} were wanted for\n{}", world.story());
            let desired = world.cloud.sizes().desired.max(world.cloud.existing());
            prop_assert!(desired <= most + surge, "{desired} instances, at most {most} wanted\n{}", world.story());
        }
        comes_to_rest(&mut world);
    }

    /// What an autoscaler takes back unmarked costs no Node before the desired replicas has been that low for the whole time, and none
    /// for that time after launches failed to come, whatever is lost or crashes meanwhile.
    #[test]
    fn unmarked_nodes_stay_until_the_target_has_been_as_low_for_the_whole_time(
        start in 1_u32..6,
        steps in prop::collection::vec(
            prop_oneof![
                4 => (0_u32..8).prop_map(Event::Scale),
                3 => (1_usize..30).prop_map(Event::Rounds),
                2 => Just(Event::Capacity(Launches::Fail)),
                2 => Just(Event::Capacity(Launches::Work)),
                1 => Just(Event::Restart),
            ],
            1..30,
        ),
    ) {
        const WINDOW: u32 = 300;
        let mut world = pool().of(start).draining_at_most(20).stabilized_for(WINDOW).running();
        let mut targets = vec![(world.now, start)];
        for step in steps {
            let rounds = match step {
                Event::Scale(target) => {
                    world.scale_to(target);
                    targets.push((world.now, target));
                    1
                }
                Event::Capacity(launches) => {
                    world.cloud.launches = launches;
                    1
                }
                Event::Restart => {
                    world.restart(0);
                    1
                }
                Event::Rounds(rounds) => rounds,
            };
            for _ in 0..rounds {
                let before = registered(&world);
                world.step();
                let after = registered(&world);
                let began = world.now.minus(Duration::from_secs(u64::from(WINDOW) + 5));
                let last_before = targets.iter().rev().find(|(at, _)| *at <= began);
                let lately = targets.iter().filter(|(at, _)| *at > began);
                // Before the world began no target is known.
                let most = last_before.into_iter().chain(lately).map(|(_, target)| *target).max().unwrap_or(0);
                let least = before.min(most);
                prop_assert!(after >= least, "{before} → {after}, {most} were wanted for\n{}", world.story());
            }
        }
    }
}
