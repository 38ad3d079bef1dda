//! The checker finds what is wrong with plans that the planner would not make.

use crate::world::{
    World, block_until, both_architectures, in_block, pool, sets_of_both_architectures, unowned_group,
    warm_pool,
};
use foo_model::names::TAG_INSTALLATION;
use foo_model::{
    Agreement, Applied, AppliedWarmPool, Blocked, Decrement, GroupChange, GroupName, GroupSettingsChange,
    HookResult, InstanceId, InstancesMix, LaunchTemplateId, LifecycleHook, MachinePause, Maintenance,
    MixOverride, Process, Protection, Reason, Seconds, SignalKind, TemplateVersion, Transition, WarmPool,
    WarmPoolSettings, WarmState,
};
use foo_planner::action::{
    GroupAction, HookAction, InstanceAction, MachineAction, PoolAction, ReadAction, TemplateAction,
};
use foo_planner::check::Rule;
use foo_planner::desired::{IntOrPercent, PausedBy, Rebalance, RolloutPause, Wanted};
use foo_planner::{Action, LastRead, Plan, Precondition, Violation, violations};
use std::time::Duration;

/// What the checker finds in a plan of only this action.
fn found_in(world: &mut World, action: Action) -> Vec<Violation> {
    found_in_all(world, vec![action])
}

fn found_in_all(world: &mut World, actions: Vec<Action>) -> Vec<Violation> {
    world.wait(1);
    world.read_group();
    let plan = Plan { actions, ..world.plan_of(0) };
    let memory = world.managers[0].memory.clone();
    let observed = world.observe(0);
    violations(&world.desired, &observed, &memory, &plan)
}

/// The rules that a plan of only this action breaks.
fn broken_by(world: &mut World, action: Action) -> Vec<Rule> {
    broken_by_all(world, vec![action])
}

/// The rules that a plan of these actions breaks.
fn broken_by_all(world: &mut World, actions: Vec<Action>) -> Vec<Rule> {
    let mut rules: Vec<Rule> = found_in_all(world, actions).iter().map(Violation::rule).collect();
    rules.dedup();
    rules
}

fn group() -> GroupName {
    GroupName::new(crate::world::NAME)
}

fn end(number: u32, decrement: Decrement) -> Action {
    Action::Instance(InstanceAction::TerminateInstance {
        group: group(),
        id: InstanceId::new(format!("i-{number:08x}")),
        decrement,
        why: String::new(),
    })
}

fn set(change: GroupChange) -> Action {
    Action::Group(GroupAction::UpdateGroup { name: group(), change, why: String::new() })
}

fn desired(desired: u32) -> GroupChange {
    GroupChange { desired: Some(desired), max: Some(desired.max(3)), ..GroupChange::default() }
}

fn delete(world: &World, index: usize, only_if: Precondition) -> Action {
    let machine = &world.kube.machines[index];
    Action::Machine(MachineAction::DeleteMachine {
        name: machine.name.clone(),
        uid: machine.uid.clone(),
        only_if,
        why: String::new(),
    })
}

#[test]
fn a_violation_names_its_subject() {
    let mut world = pool().of(2).running();
    let found = found_in(&mut world, end(1, Decrement::Replace));
    assert_eq!(found, [Violation::TerminatedUndrained { id: InstanceId::new("i-00000001") }]);
    assert_eq!(
        found[0].to_string(),
        "ends-only-released: i-00000001 is terminated before its Machine is drained"
    );
}

#[test]
fn launching_instances_that_aws_may_choose_for_scale_in() {
    let mut world = pool().of(2).running();
    let protection = |new_instances| GroupChange {
        settings: GroupSettingsChange {
            new_instances: Some(new_instances),
            ..GroupSettingsChange::default()
        },
        ..GroupChange::default()
    };
    assert_eq!(broken_by(&mut world, set(protection(Protection::Unprotected))), [Rule::EndsOnlyReleased]);
    assert_eq!(broken_by(&mut world, set(protection(Protection::Protected))), []);
}

#[test]
fn ending_an_instance_that_is_not_released() {
    let mut world = pool().of(3).running();
    assert_eq!(broken_by(&mut world, end(1, Decrement::Replace)), [Rule::EndsOnlyReleased]);
    assert_eq!(broken_by(&mut world, end(99, Decrement::Replace)), [Rule::EndsOnlyReleased]);
    let name = world.kube.alive()[0].clone();
    world.delete_foo_machine(&name);
    assert_eq!(
        broken_by(&mut world, end(1, Decrement::Replace)),
        [Rule::EndsOnlyReleased],
        "its Machine lives"
    );
    world.delete_machine(&name);
    assert_eq!(
        broken_by(&mut world, end(1, Decrement::Replace)),
        [Rule::EndsOnlyReleased],
        "its hooks may hold it"
    );
    world.kube.skip_drains();
    assert_eq!(broken_by(&mut world, end(1, Decrement::Replace)), []);
    assert_eq!(
        broken_by(&mut world, end(1, Decrement::Shrink)),
        [Rule::DesiredCoversExisting],
        "three are wanted"
    );
}

#[test]
fn deleting_a_machine_without_a_cause() {
    let mut world = pool().of(3).running();
    let same = delete(&world, 0, Precondition::SameUid);
    assert_eq!(broken_by(&mut world, same), [Rule::DeletesOnlyWithCause]);
    let unmarked = delete(&world, 0, Precondition::ReplicasAtMost { replicas: 3 });
    assert_eq!(broken_by(&mut world, unmarked.clone()), [Rule::VictimsWithinExcess], "there is no excess");
    let marked = delete(&world, 0, Precondition::StillMarkedForDeletion { replicas: 3 });
    assert_eq!(
        broken_by(&mut world, marked.clone()),
        [Rule::DeletesOnlyWithCause, Rule::VictimsWithinExcess]
    );
    let name = world.kube.alive()[0].clone();
    world.mark(&name);
    assert_eq!(broken_by(&mut world, marked), [Rule::VictimsWithinExcess], "a mark without an excess");
    world.scale_to(2);
    assert_eq!(broken_by(&mut world, unmarked), [Rule::VictimsWithinExcess], "the precondition lies");
    let right = delete(&world, 0, Precondition::StillMarkedForDeletion { replicas: 2 });
    assert_eq!(broken_by(&mut world, right), []);
}

#[test]
fn deleting_a_machine_that_aws_announced_nothing_about() {
    let mut world = pool().of(3).with_surge(1).lacking_at_most(0).running();
    let same = delete(&world, 0, Precondition::SameUid);
    let id = world.instances()[0].clone();
    world.announce(SignalKind::Rebalance, &id);
    assert_eq!(broken_by(&mut world, same.clone()), [Rule::DeletesOnlyWithCause, Rule::StaysAvailable]);
    world.desired.interruption.rebalance = Rebalance::Replace;
    assert_eq!(
        broken_by(&mut world, same.clone()),
        [Rule::DeletesOnlyWithCause, Rule::StaysAvailable],
        "the manager has only just begun"
    );
    world.wait(600);
    assert_eq!(broken_by(&mut world, same.clone()), [Rule::StaysAvailable]);
    assert_eq!(broken_by(&mut world, set(desired(4))), [], "its replacement may come first");
    assert_eq!(broken_by(&mut world, set(desired(5))), [Rule::RaisesWithinDesired]);
    world.announce(SignalKind::Interruption, &id);
    assert_eq!(broken_by(&mut world, same), [], "AWS takes it anyway");
    assert_eq!(broken_by(&mut world, set(desired(5))), [], "surge and what is taken");
    assert_eq!(broken_by(&mut world, set(desired(6))), [Rule::RaisesWithinDesired]);
}

#[test]
fn deleting_a_machine_that_is_not_old_enough() {
    let mut world = pool().of(3).with_surge(1).lacking_at_most(1).running();
    let same = delete(&world, 0, Precondition::SameUid);
    let uncaused = [Rule::DeletesOnlyWithCause];
    world.grow_old(90_000);
    assert_eq!(broken_by(&mut world, same.clone()), uncaused, "instances have no lifetime");
    world.desired.rollout.max_lifetime = Some(Seconds(200_000));
    assert_eq!(broken_by(&mut world, same.clone()), uncaused, "it lasts longer");
    world.desired.rollout.max_lifetime = Some(Seconds(86_400));
    assert_eq!(broken_by(&mut world, same.clone()), []);
    world.desired.rollout.paused = Some(RolloutPause::ByUser);
    assert_eq!(broken_by(&mut world, same.clone()), uncaused, "roll-outs are paused");
    world.desired.rollout.paused = None;
    world.desired.rollout.max_unavailable = IntOrPercent::Count(0);
    assert_eq!(broken_by(&mut world, same), [Rule::StaysAvailable], "no successor is there");
}

#[test]
fn replacing_outside_of_maintenance_windows() {
    let mut world = pool().of(3).with_surge(1).lacking_at_most(1).living(86_400).running();
    let same = delete(&world, 0, Precondition::SameUid);
    world.grow_old(86_400);
    world.opens_in(60);
    assert_eq!(broken_by(&mut world, same.clone()), [Rule::ReplacesInWindows], "it opens later");
    world.opens_in(0);
    assert_eq!(broken_by(&mut world, same.clone()), []);
    world.wait(3_600);
    assert_eq!(broken_by(&mut world, same.clone()), [Rule::ReplacesInWindows], "it has closed");
    let blocked = Blocked::new(Reason::MaintenanceWindowsUnusable, "");
    world.desired.maintenance = Maintenance::Unusable(blocked);
    let found = found_in(&mut world, same.clone());
    let machine = world.kube.machines[0].name.clone();
    assert_eq!(found, [Violation::ReplacedOutsideWindow { machine }]);
    let id = world.instances()[0].clone();
    world.announce(SignalKind::Interruption, &id);
    assert_eq!(broken_by(&mut world, same), [], "AWS takes it anyway");
}

#[test]
fn writing_desired_below_what_exists_or_above_what_is_wanted_for() {
    let mut world = pool().of(3).with_ceiling(4).running();
    assert_eq!(broken_by(&mut world, set(desired(2))), [Rule::DesiredCoversExisting]);
    let max = GroupChange { max: Some(2), ..GroupChange::default() };
    assert_eq!(broken_by(&mut world, set(max)), [Rule::DesiredCoversExisting], "a maximum lowers it as well");
    assert_eq!(broken_by(&mut world, set(desired(4))), [Rule::RaisesWithinDesired]);
    world.scale_to(9);
    assert_eq!(broken_by(&mut world, set(desired(4))), []);
    assert_eq!(broken_by(&mut world, set(desired(5))), [Rule::RaisesWithinDesired], "the ceiling");
}

#[test]
fn launching_into_a_capacity_block_that_ends_or_has_not_started() {
    let mut world = pool().of(3).running();
    world.scale_to(5);
    world.desired.capacity_block = Some(in_block());
    let broken = |world: &mut World, state: &str, hours: u64| {
        let ends = world.aws_clock.remote(world.now.plus(Duration::from_hours(hours)));
        world.cloud.capacity_block = Some(block_until(state, ends));
        broken_by(world, set(desired(5)))
    };
    assert_eq!(broken(&mut world, "active", 2), []);
    for (state, hours) in [("active", 1), ("scheduled", 9), ("expired", 9), ("unavailable", 9)] {
        assert_eq!(broken(&mut world, state, hours), [Rule::RaisesWithinDesired], "{state}");
    }
    world.aws_clock.agreement = Agreement::Differ;
    assert_eq!(broken(&mut world, "active", 1), [Rule::RaisesWithinDesired], "whichever clock is right");
    assert_eq!(broken(&mut world, "active", 2), []);
}

#[test]
fn deciding_on_sizes_before_things_settled() {
    let mut world = pool().of(3).running();
    world.scale_to(4);
    world.restart(0);
    assert_eq!(broken_by(&mut world, set(desired(4))), [Rule::SettledFirst]);
    world.wait(20);
    assert_eq!(broken_by(&mut world, set(desired(4))), []);
    world.managers[0].memory.ledger.changed_at = Some(foo_model::Timestamp(world.now.0 + 5000));
    assert_eq!(broken_by(&mut world, set(desired(4))), [Rule::SettledFirst]);
}

#[test]
fn acting_on_what_is_another_installations() {
    let mut world = pool().of(3).running();
    let tag = |key: &str, value: &str| {
        Action::Group(GroupAction::TagGroup {
            name: group(),
            tags: [(key.to_owned(), value.to_owned())].into(),
        })
    };
    let elsewhere = (TAG_INSTALLATION.to_owned(), "elsewhere".to_owned());
    world.cloud.group.as_mut().unwrap().tags.extend([elsewhere]);
    assert_eq!(broken_by(&mut world, tag("team", "red")), [Rule::OwnOnly]);
    assert_eq!(
        broken_by(&mut world, tag(TAG_INSTALLATION, "here")),
        [Rule::OwnOnly],
        "no annotation allows it"
    );
    let id = world.cloud.template.as_ref().unwrap().id.clone();
    assert_eq!(
        broken_by(&mut world, Action::Template(TemplateAction::DeleteTemplate { id })),
        [Rule::OwnOnly]
    );
    world.desired.identity.adopt_from = Some("elsewhere".to_owned());
    assert_eq!(broken_by(&mut world, tag("team", "red")), [Rule::OwnOnly], "first things first");
    assert_eq!(broken_by(&mut world, tag(TAG_INSTALLATION, "here")), []);
}

#[test]
fn acting_on_what_is_not_the_providers() {
    let mut world = pool().of(3).running();
    let other = Action::Group(GroupAction::DeleteGroup { name: GroupName::new("another") });
    assert_eq!(broken_by(&mut world, other), [Rule::OwnOnly]);
    world.cloud.group.as_mut().unwrap().tags.clear();
    world.scale_to(4);
    assert_eq!(broken_by(&mut world, set(desired(4))), [Rule::OwnOnly]);
    world.cloud.template.as_mut().unwrap().tags.clear();
    world.managers[0].template =
        foo_planner::LastRead::At { at: world.now, seen: world.cloud.template.clone() };
    let id = world.cloud.template.as_ref().unwrap().id.clone();
    assert_eq!(
        broken_by(&mut world, Action::Template(TemplateAction::DeleteTemplate { id })),
        [Rule::OwnOnly]
    );
}

#[test]
fn acting_on_a_paused_pool_or_on_a_size_that_another_controller_manages() {
    let mut world = pool().of(3).running();
    world.desired.pause = Some(PausedBy::Annotation);
    assert_eq!(broken_by(&mut world, Action::Read(ReadAction::DescribeLaunchTemplate)), [Rule::HandsOff]);
    world.desired.pause = None;
    world.let_another_controller_manage(1, 9);
    assert_eq!(broken_by(&mut world, set(desired(4))), [Rule::ExternalSize]);
}

#[test]
fn letting_go_too_early() {
    let mut world = pool().of(1).running();
    let foo_machine = &world.kube.foo_machines[0];
    let release = Action::Machine(MachineAction::ReleaseFooMachine {
        name: foo_machine.name.clone(),
        uid: foo_machine.uid.clone(),
    });
    assert_eq!(broken_by(&mut world, release), [Rule::FinalizersLast]);
    assert_eq!(broken_by(&mut world, Action::Pool(PoolAction::RemoveFinalizer)), [Rule::FinalizersLast]);
    world.delete_pool();
    assert_eq!(broken_by(&mut world, Action::Pool(PoolAction::RemoveFinalizer)), [Rule::FinalizersLast]);
}

#[test]
fn releasing_a_group_before_cluster_api_leaves_its_machines_alone() {
    let mut world = pool().of(1).running();
    let (foo_machine, machine) = (&world.kube.foo_machines[0], &world.kube.machines[0]);
    let name = machine.name.clone();
    let retain = Action::Machine(MachineAction::RetainInstance {
        name: name.clone(),
        foo_machine: Some(foo_machine.uid.clone()),
        machine: Some(machine.uid.clone()),
    });
    let group = world.desired.identity.group.clone();
    let delete_hook = Action::Hook(HookAction::DeleteLifecycleHook { group: group.clone() });
    assert_eq!(broken_by(&mut world, retain.clone()), [Rule::FinalizersLast], "the pool runs");
    world.delete_pool_retaining();
    assert_eq!(broken_by(&mut world, retain.clone()), [Rule::FinalizersLast], "it would be drained");
    assert_eq!(broken_by(&mut world, delete_hook), [Rule::FinalizersLast]);
    assert_eq!(broken_by(&mut world, Action::Pool(PoolAction::RemoveFinalizer)), [Rule::FinalizersLast]);
    for resized in [set(desired(0)), Action::Group(GroupAction::DeleteGroup { name: group })] {
        assert!(broken_by(&mut world, resized.clone()).contains(&Rule::HandsOff), "{resized:?}");
    }
    world.kube.machine_mut(&name).unwrap().pause = MachinePause::Requested;
    assert_eq!(broken_by(&mut world, retain.clone()), [Rule::FinalizersLast], "it may not know yet");
    world.kube.machine_mut(&name).unwrap().pause = MachinePause::InForce;
    assert_eq!(broken_by(&mut world, retain.clone()), []);
    world.kube.delete_machine(&name, world.now);
    assert_eq!(broken_by(&mut world, retain), [Rule::FinalizersLast], "a user paused its drain");
}

/// AWS terminates an adopted instance: the hook waits for its Node, and its Machine is not deleted before.
#[test]
fn ending_the_wait_for_the_node_of_an_adopted_instance() {
    let with_a_taken_instance = || {
        let mut world = pool().of(3).new_world();
        world.adopt();
        unowned_group(world.now, &mut world.cloud, 3);
        let taken = world.instances()[0].clone();
        world.kube.unlinked.insert(taken.clone());
        world.settle();
        world.cloud.terminate_by_aws(&taken, world.now);
        world.read_group();
        world.pass();
        (world, taken)
    };
    let (mut world, taken) = with_a_taken_instance();
    let name = world.name_of(&taken);
    let index = world.kube.machines.iter().position(|machine| machine.name == name).unwrap();
    let delete = delete(&world, index, Precondition::SameUid);
    assert_eq!(broken_by(&mut world, delete.clone()), [Rule::DeletesOnlyWithCause]);
    world.wait(11 * 60);
    assert_eq!(broken_by(&mut world, delete), []);

    let (mut world, taken) = with_a_taken_instance();
    world.kube.machines.retain(|machine| machine.name != name);
    world.kube.foo_machines.retain(|foo_machine| foo_machine.name != name);
    let complete =
        Action::Hook(HookAction::CompleteLifecycleAction { group: group(), id: taken, why: String::new() });
    assert_eq!(broken_by(&mut world, complete.clone()), [Rule::CompletesOnlyDrained]);
    world.wait(11 * 60);
    assert_eq!(broken_by(&mut world, complete), []);
}

#[test]
fn launching_images_of_another_version() {
    let mut world = pool().of(1).new_world();
    world.names_arm64_image("ami-a1");
    world.settle();
    let launches = |overrides: Vec<MixOverride>| {
        let mix = InstancesMix { overrides, ..both_architectures("ami-a1") };
        let of_version = (LaunchTemplateId::new("lt-1"), TemplateVersion(1), Some(mix));
        set(GroupChange { template: Some(of_version), ..GroupChange::default() })
    };
    let plain = |name: &str| MixOverride::named(name.into(), None);
    let with = |name: &str, image: &str| MixOverride::named(name.into(), Some(image.into()));
    let right = vec![plain("m7i.large"), with("m7g.large", "ami-a1")];
    assert_eq!(broken_by(&mut world, launches(right)), []);
    for wrong in [
        vec![plain("m7i.large"), with("m7g.large", "ami-a2")],
        vec![plain("m7i.large"), plain("m7g.large")],
        vec![with("m7i.large", "ami-a1"), with("m7g.large", "ami-a1")],
        vec![plain("m7i.large")],
        vec![with("m7g.large", "ami-a1")],
        vec![],
    ] {
        let broken = broken_by(&mut world, launches(wrong.clone()));
        assert_eq!(broken, [Rule::LaunchesImagesOfVersion], "{wrong:?}");
    }
    let template = world.cloud.template.as_mut().unwrap();
    template.versions[0].arm64_image = None;
    world.managers[0].template = LastRead::At { at: world.now, seen: world.cloud.template.clone() };
    assert_eq!(broken_by(&mut world, launches(vec![plain("m7i.large")])), [], "m7g.large has no image");
}

#[test]
fn launching_sets_of_types_with_images_of_another_version() {
    let mut world = pool().of(1).new_world();
    world.describes_types_with_arm64_image("ami-a1");
    world.settle();
    let right = sets_of_both_architectures("ami-a1");
    let [x86, arm64] = right.overrides.as_slice() else { panic!("two sets") };
    let with = |choice: &MixOverride, image: Option<&str>| MixOverride {
        image: image.map(Into::into),
        ..choice.clone()
    };
    let launches = |overrides: Vec<MixOverride>| {
        let mix = InstancesMix { overrides, ..right.clone() };
        let of_version = (LaunchTemplateId::new("lt-1"), TemplateVersion(1), Some(mix));
        set(GroupChange { template: Some(of_version), ..GroupChange::default() })
    };
    assert_eq!(broken_by(&mut world, launches(right.overrides.clone())), []);
    for wrong in [
        vec![x86.clone(), with(arm64, Some("ami-a2"))],
        vec![x86.clone(), with(arm64, None)],
        vec![with(x86, Some("ami-a1")), arm64.clone()],
        vec![x86.clone()],
        vec![arm64.clone()],
    ] {
        let broken = broken_by(&mut world, launches(wrong.clone()));
        assert_eq!(broken, [Rule::LaunchesImagesOfVersion], "{wrong:?}");
    }
}

#[test]
fn creating_a_group_with_images_of_another_version() {
    let mut world = pool().of(1).new_world();
    world.names_arm64_image("ami-a1");
    let creates = |action: &Action| matches!(action, Action::Group(GroupAction::CreateGroup(_)));
    let mut actions = Vec::new();
    for _ in 0..30 {
        world.wait(1);
        world.read_group();
        actions = world.plan_of(0).actions;
        if actions.iter().any(creates) {
            break;
        }
        world.pass();
    }
    assert_eq!(broken_by_all(&mut world, actions.clone()), []);
    for action in &mut actions {
        if let Action::Group(GroupAction::CreateGroup(group)) = action {
            group.mix = Some(both_architectures("ami-a2"));
        }
    }
    assert_eq!(broken_by_all(&mut world, actions), [Rule::LaunchesImagesOfVersion]);
}

#[test]
fn setting_or_removing_what_is_not_recorded() {
    let mut world = pool().of(1).running();
    let hook = || LifecycleHook {
        transition: Transition::Launching,
        heartbeat: Seconds(60),
        result: HookResult::Continue,
        target: None,
        metadata: None,
    };
    let put = || {
        HookAction::PutOtherHook { group: group(), name: "boot".into(), hook: hook(), before: None }.into()
    };
    let delete = || HookAction::DeleteOtherHook { group: group(), name: "boot".into() }.into();
    let resume = |process| GroupAction::ResumeProcesses { name: group(), processes: [process].into() }.into();
    let suspend =
        |process| GroupAction::SuspendProcesses { name: group(), processes: [process].into() }.into();
    assert_eq!(broken_by(&mut world, put()), [Rule::OwnOnly], "the spec does not name it");
    assert_eq!(broken_by(&mut world, suspend(Process::AZRebalance)), [], "the provider drains Nodes");
    assert_eq!(broken_by(&mut world, suspend(Process::HealthCheck)), [Rule::OwnOnly]);
    assert_eq!(broken_by(&mut world, delete()), [Rule::OwnOnly]);
    assert_eq!(broken_by(&mut world, resume(Process::HealthCheck)), [Rule::OwnOnly]);
    assert_eq!(broken_by(&mut world, resume(Process::AZRebalance)), [Rule::OwnOnly]);
    assert_eq!(broken_by(&mut world, resume(Process::Launch)), [], "AWS may have suspended it");
    world.desired.group.hooks = Some([("boot".into(), hook())].into());
    assert_eq!(broken_by(&mut world, put()), [Rule::OwnOnly], "it is not recorded");
    world.kube.applied.lifecycle_hooks.insert("boot".into());
    world.kube.applied.suspended_processes.insert(Process::HealthCheck);
    for action in [put(), delete(), resume(Process::HealthCheck)] {
        assert_eq!(broken_by(&mut world, action), []);
    }
    world.desired.group.suspended.insert(Process::HealthCheck);
    assert_eq!(broken_by(&mut world, resume(Process::HealthCheck)), [Rule::OwnOnly], "the spec names it");
    assert_eq!(broken_by(&mut world, suspend(Process::HealthCheck)), []);
    world.kube.applied.suspended_processes.clear();
    assert_eq!(broken_by(&mut world, suspend(Process::HealthCheck)), [Rule::OwnOnly], "it is not recorded");
}

#[test]
fn a_warm_pool_that_is_not_recorded_or_whose_instances_join_or_are_outdated() {
    let put = || {
        let (name, settings) = (group(), warm_pool(1));
        Action::Group(GroupAction::PutWarmPool { name, settings })
    };
    let delete = || Action::Group(GroupAction::DeleteWarmPool { name: group(), why: String::new() });
    let mut world = pool().of(1).keeping_warm(1).running();
    assert_eq!(broken_by(&mut world, put()), []);
    assert_eq!(broken_by(&mut world, delete()), []);
    let recorded = world.kube.applied.warm_pool.take();
    assert_eq!(broken_by(&mut world, put()), [Rule::OwnOnly, Rule::EndsOnlyReleased], "it is not recorded");
    assert_eq!(broken_by(&mut world, delete()), [Rule::OwnOnly], "it is another user's");
    world.kube.applied.warm_pool = Some(AppliedWarmPool::default());
    assert_eq!(
        broken_by(&mut world, put()),
        [Rule::EndsOnlyReleased],
        "it may have instances of any version"
    );
    world.kube.applied.warm_pool = recorded;
    if let Wanted::Ready(template) = &mut world.desired.template {
        template.waits_in_warm_pool = false;
    }
    assert_eq!(
        broken_by(&mut world, put()),
        [Rule::EndsOnlyReleased],
        "its instances would join the cluster"
    );
    world.desired.group.warm_pool = None;
    assert_eq!(broken_by(&mut world, delete()), [], "it has left the spec");
    world.kube.applied.warm_pool = None;
    assert_eq!(broken_by(&mut world, delete()), [Rule::OwnOnly]);
    world.delete_pool();
    assert_eq!(broken_by(&mut world, delete()), [], "the group is deleted with it");
    world.cloud.group.as_mut().unwrap().warm_pool.as_mut().unwrap().settings.state = WarmState::Running;
    assert_eq!(broken_by(&mut world, delete()), [Rule::OwnOnly], "its instances may be Nodes");
}

#[test]
fn completing_the_action_of_an_instance_that_leaves_a_warm_pool_of_another_user() {
    let mut world = pool().of(1).keeping_warm(1).running();
    let id = InstanceId::new("i-00000abc");
    world.leaves_warm_pool(&id);
    world.wait(1);
    world.read_group();
    let complete = HookAction::CompleteLifecycleAction { group: group(), id: id.clone(), why: String::new() };
    let plan = Plan { actions: vec![complete.into()], ..world.plan_of(0) };
    let (memory, mut observed) = (world.managers[0].memory.clone(), world.observe(0));
    assert_eq!(violations(&world.desired, &observed, &memory, &plan), []);
    observed.applied.warm_pool = None;
    let found = violations(&world.desired, &observed, &memory, &plan);
    assert_eq!(found, [Violation::CompletedNotWaiting { id }]);
}

#[test]
fn a_warm_pool_of_another_user_that_may_have_pods_is_not_deleted_even_if_the_spec_names_one() {
    let mut world = pool().of(1).keeping_warm(1).running();
    world.kube.applied.warm_pool = None;
    let record = Applied { warm_pool: Some(AppliedWarmPool::default()), ..Applied::default() };
    let takes_over = || {
        let record = PoolAction::RecordApplied { applied: record.clone() };
        let delete = GroupAction::DeleteWarmPool { name: group(), why: String::new() };
        vec![record.into(), delete.into()]
    };
    assert_eq!(broken_by_all(&mut world, takes_over()), []);
    let settings = |change: fn(&mut WarmPoolSettings), world: &mut World| {
        change(&mut world.cloud.group.as_mut().unwrap().warm_pool.as_mut().unwrap().settings);
    };
    settings(|it| it.state = WarmState::Running, &mut world);
    assert_eq!(broken_by_all(&mut world, takes_over()), [Rule::OwnOnly]);
    settings(|it| (it.state, it.reuse) = (WarmState::Stopped, true), &mut world);
    assert_eq!(broken_by_all(&mut world, takes_over()), [Rule::OwnOnly]);
}

#[test]
fn a_warm_pool_gets_no_instances_that_return_to_it_and_only_an_own_one_is_emptied() {
    let put = |settings| Action::Group(GroupAction::PutWarmPool { name: group(), settings });
    let mut world = pool().of(1).keeping_warm(1).running();
    let returning = WarmPoolSettings { reuse: true, ..warm_pool(1) };
    assert_eq!(broken_by(&mut world, put(returning)), [Rule::EndsOnlyReleased]);
    world.desired.group.warm_pool = None;
    assert_eq!(broken_by(&mut world, put(warm_pool(1).emptied())), []);
    assert_eq!(broken_by(&mut world, put(warm_pool(1))), [Rule::OwnOnly], "the spec names none");
    world.kube.applied.warm_pool = None;
    assert_eq!(broken_by(&mut world, put(warm_pool(1).emptied())), [Rule::OwnOnly]);
}

#[test]
fn giving_the_group_a_version_that_joins_while_it_fills_its_warm_pool() {
    let mut world = pool().of(1).keeping_warm(1).running();
    let template = world.cloud.template.as_ref().unwrap();
    let choice = (template.id.clone(), template.versions[0].version, None);
    let update = || set(GroupChange { template: Some(choice.clone()), ..GroupChange::default() });
    assert_eq!(broken_by(&mut world, update()), []);
    if let Wanted::Ready(template) = &mut world.desired.template {
        template.waits_in_warm_pool = false;
    }
    world.desired.group.warm_pool = None;
    assert_eq!(broken_by(&mut world, update()), [Rule::EndsOnlyReleased], "whatever the spec names");
    let pool = |world: &mut World, pool| world.cloud.group.as_mut().unwrap().warm_pool = pool;
    let (settings, size) = (warm_pool(1), 1);
    pool(&mut world, Some(WarmPool { settings, deleting: true, size }));
    assert_eq!(broken_by(&mut world, update()), [], "AWS deletes it");
    pool(&mut world, Some(WarmPool { settings: warm_pool(1).emptied(), deleting: false, size }));
    assert_eq!(broken_by(&mut world, update()), [], "it is empty");
}
