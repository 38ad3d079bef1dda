//! Groups that others created and the pool adopts.

use super::NOTHING;
use crate::world::{Fault, Pool, World, content, pool, unowned_group};
use foo_model::group::GroupStatus;
use foo_model::names::{
    INSTALLATION_OF_RETAINED, TAG_ADOPTABLE, TAG_ADOPTED, TAG_CLUSTER, TAG_GROUP, TAG_INSTALLATION, TAG_POOL,
};
use foo_model::{
    Adoption, Agreement, Blocked, Instance, InstanceId, InstanceType, InstancesMix, LaunchTemplate,
    LaunchTemplateId, LifecycleState, MixOverride, OnDemandStrategy, Process, Protection, Reason,
    SpotStrategy, TemplateVersion,
};
use foo_planner::action::{GroupAction, HookAction, PoolAction};
use foo_planner::desired::Wanted;
use foo_planner::observed::{Finalizer, LastRead};
use foo_planner::report::ConditionKind;
use foo_planner::{Action, Observed, plan, violations};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A pool that adopts a group of three instances.
fn adopting(pool: Pool) -> World {
    let mut world = pool.new_world();
    world.adopt();
    unowned_group(world.now, &mut world.cloud, 3);
    world
}

/// What the condition of the group says.
fn reported(world: &mut World) -> (Reason, String) {
    let report = world.plan_of(0).report;
    let found = report.conditions.into_iter().find(|it| it.kind == ConditionKind::AutoScalingGroupReady);
    found.map(|condition| (condition.reason, condition.message)).unwrap()
}

#[test]
fn the_instances_of_an_adopted_group_run_on_with_machines() {
    let mut world = adopting(pool().of(3));
    let before: BTreeSet<_> = world.instances().into_iter().collect();
    world.settle();
    assert_eq!(world.instances().into_iter().collect::<BTreeSet<_>>(), before);
    assert_eq!(world.kube.alive().len(), 3);
    assert!(world.kube.recorded_adoption);
    let group = world.cloud.group.as_ref().unwrap();
    assert_eq!(group.tags[TAG_ADOPTED], "true");
    assert!(world.cloud.hook.is_some());
    // It stays so until a user begins the roll-out.
    world.desired.template = Wanted::Ready(content("v2", "d2"));
    world.settle();
    assert_eq!(world.instances().into_iter().collect::<BTreeSet<_>>(), before);
    world.end_adoption();
    world.settle();
    assert!(world.instances().iter().all(|id| !before.contains(id)), "{}", world.story());
}

/// A scale-in is no roll-out: the instance that is too many does not stay as its surge.
#[test]
fn an_adopted_group_scales_while_its_roll_out_waits() {
    let mut world = adopting(pool().of(3).with_surge(1));
    world.settle();
    world.scale_to(4);
    world.settle();
    assert_eq!(world.cloud.existing(), 4);
    world.scale_to(3);
    world.settle();
    assert_eq!((world.cloud.existing(), world.kube.alive().len()), (3, 3));
}

/// What prevents an adoption: nothing is written, and the condition says why.
#[test]
fn a_group_is_adopted_only_with_consent_and_with_the_desired_number_of_instances() {
    type Change = fn(&mut World);
    let cases: &[(Reason, &str, Change)] = &[
        (Reason::AdoptionNotAllowed, "does not allow its adoption (allowAdoption)", |world| {
            world.desired.adoption = Adoption::NotAllowed;
        }),
        (
            Reason::AdoptionNotAllowed,
            "does not have the tag infrastructure.foo.com/adoptable=ns/workers",
            |world| {
                let group = world.cloud.group.as_mut().unwrap();
                group.tags.insert(TAG_ADOPTABLE.to_owned(), "ns/other".to_owned());
            },
        ),
        (
            Reason::AdoptionWaiting,
            "desired capacity 3, and MachinePool.spec.replicas is 2: set it to 3",
            |world| {
                world.scale_to(2);
            },
        ),
        (Reason::AdoptionWaiting, "desired capacity 3, and spec.maxSize is 1: set it to 3", |world| {
            world.desired.size = foo_planner::desired::Size::Replicas { wanted: 3, ceiling: Some(1) };
        }),
        (Reason::AdoptionWaiting, "not within spec.autoscaling, 4 to 9", |world| {
            world.let_another_controller_manage(4, 9);
        }),
        (Reason::AdoptionWaiting, "desired capacity 3 and 2 instances in service", |world| {
            world.cloud.group.as_mut().unwrap().instances[0].lifecycle = LifecycleState::Terminating;
            world.cloud.launches = crate::world::Launches::Fail;
        }),
        (Reason::SubnetNotFound, "no subnet", |world| {
            world.desired.group.settings.subnets =
                Wanted::Blocked(Blocked::new(Reason::SubnetNotFound, "no subnet"));
        }),
        (Reason::ImageNotFound, "no image", |world| {
            world.desired.template = Wanted::Blocked(Blocked::new(Reason::ImageNotFound, "no image"));
        }),
        (Reason::WaitingForMachinePool, "waiting for the owner", |world| {
            world.desired.missing =
                vec![Blocked::new(Reason::WaitingForMachinePool, "waiting for the owner")];
        }),
        (Reason::AdoptionWaiting, "another spec.launchTemplateName", |world| {
            world.cloud.template = Some(LaunchTemplate {
                id: LaunchTemplateId::new("lt-others"),
                name: "ns-prod-workers".to_owned(),
                tags: BTreeMap::new(),
                versions: Vec::new(),
            });
        }),
        (Reason::GroupNotOwned, "does not have all ownership tags", |world| {
            let group = world.cloud.group.as_mut().unwrap();
            group.tags.insert(TAG_POOL.to_owned(), "workers".to_owned());
        }),
        (Reason::GroupNotOwned, "another namespace", |world| {
            let group = world.cloud.group.as_mut().unwrap();
            group.tags.insert(TAG_CLUSTER.to_owned(), "other/prod".to_owned());
            group.tags.insert(TAG_POOL.to_owned(), "workers".to_owned());
        }),
        (Reason::GroupDeleting, "is deleting", |world| {
            world.cloud.group.as_mut().unwrap().status = GroupStatus::Deleting;
        }),
    ];
    for (reason, message, change) in cases {
        let mut world = adopting(pool().of(3));
        change(&mut world);
        world.cloud.record(world.now);
        let before = (world.cloud.group.clone(), world.cloud.template.clone());
        for _ in 0..3 {
            world.observe_and_plan();
        }
        let said = reported(&mut world);
        assert!(said.0 == *reason && said.1.contains(message), "{message}: {said:?}");
        assert_eq!((world.cloud.group.clone(), world.cloud.template.clone()), before, "{message}");
        assert_eq!(
            (world.kube.finalizer, world.kube.recorded_adoption),
            (Finalizer::Absent, false),
            "{message}"
        );
    }
}

#[test]
fn a_pool_that_adopts_creates_no_group_under_a_mistaken_name() {
    let mut world = pool().of(3).new_world();
    world.adopt();
    for _ in 0..30 {
        world.step();
    }
    assert_eq!((&world.cloud.group, &world.cloud.template), (&None, &None));
    assert_eq!(reported(&mut world).0, Reason::AdoptionWaiting);
    // One that was adopted and then deleted by hand is created again as any other.
    unowned_group(world.now, &mut world.cloud, 3);
    world.settle();
    world.cloud.group = None;
    world.cloud.record(world.now);
    world.settle();
    assert_eq!(world.cloud.existing(), 3);
}

#[test]
fn the_size_of_an_adopted_group_may_be_managed_by_another_controller() {
    let mut world = adopting(pool().of(3));
    world.let_another_controller_manage(1, 9);
    world.settle();
    assert_eq!((world.cloud.existing(), world.kube.alive().len()), (3, 3));
}

/// Each call may be lost, or its response.
#[test]
fn an_adoption_survives_lost_requests_and_responses() {
    for fault in [Fault::ResponseLost, Fault::RequestLost, Fault::Refused] {
        for lost in 0..12 {
            let mut world = adopting(pool().of(3));
            for round in 0..12 {
                world.wait(5);
                world.read_group();
                world.pass_of(0, &mut |_, _| if round == lost { fault } else { Fault::None });
                if lost % 3 == 0 {
                    world.restart(0);
                }
            }
            world.settle();
            assert_eq!((world.cloud.existing(), world.kube.alive().len()), (3, 3), "{}", world.story());
            assert_eq!(world.instances().len(), 3);
            assert!(world.instances().iter().all(|id| id.as_str() <= "i-00000003"), "{}", world.story());
        }
    }
}

/// The annotation can be lost: when a manifest replaces the object. A deletion records it first, and then retains the group.
#[test]
fn a_deletion_without_a_policy_keeps_an_adopted_group_whose_record_is_lost() {
    let mut world = adopting(pool().of(3));
    world.settle();
    world.kube.recorded_adoption = false;
    assert_eq!(world.wants(), ["record adoption"]);
    world.delete_pool();
    assert_eq!(world.wants(), ["record adoption"], "and nothing else");
    world.observe_and_plan();
    assert_eq!(world.cloud.existing(), 3);
    // The user may say in words that the group is to be deleted.
    world.kube.recorded_adoption = false;
    world.desired.retains_adopted = false;
    world.settle();
    assert!(world.is_gone(), "{}", world.story());
}

/// What makes AWS wait for drains comes before whatever makes AWS terminate instances, also if the launch template is refused for good.
#[test]
fn an_adopted_group_has_hook_and_protection_before_any_setting_changes() {
    for refused in [false, true] {
        let mut world = adopting(pool().of(3));
        let mut changes = 0;
        for _ in 0..8 {
            world.wait(5);
            world.read_group();
            let plan = world.plan_of(0);
            for action in &plan.actions {
                if let Action::Group(GroupAction::UpdateGroup { change, .. }) = action {
                    if change.settings.new_instances.is_some()
                        && change.template.is_none()
                        && change.min.is_none()
                    {
                        continue;
                    }
                    changes += 1;
                    let group = world.cloud.group.as_ref().unwrap();
                    let protected = |it: &Instance| it.protection == Protection::Protected;
                    assert!(group.suspended.contains_key(&Process::AZRebalance), "{}", world.story());
                    assert!(
                        world.cloud.hook.is_some() && group.instances.iter().all(protected),
                        "{}",
                        world.story()
                    );
                }
            }
            let refuses: Vec<bool> = plan.actions.iter().map(|it| refused && it.changes_template()).collect();
            // What comes after a refused template does not happen, as in the controller.
            let first = refuses.iter().position(|it| *it).unwrap_or(usize::MAX);
            world.carry_out_plan(0, &plan, &mut |_, at| {
                if at >= first { Fault::Refused } else { Fault::None }
            });
        }
        assert!(world.cloud.hook.is_some() && changes > 0, "{refused}: {}", world.story());
        assert_eq!(world.cloud.template.is_none(), refused);
    }
}

/// Cluster API drains nothing without a Node, and the instance has Pods.
#[test]
fn an_adopted_instance_whose_node_is_not_found_is_never_deleted_by_the_provider() {
    let mut world = adopting(pool().of(3));
    let lost = world.instances()[0].clone();
    world.kube.unlinked.insert(lost.clone());
    world.settle();
    world.end_adoption();
    world.scale_to(1);
    // Longer than a Node may take to join.
    for _ in 0..800 {
        world.step();
    }
    assert!(world.instances().contains(&lost), "{}", world.story());
    let ready = world.plan_of(0).report.conditions[0].message.clone();
    assert!(ready.contains(lost.as_str()) && ready.contains("need the provider id"), "{ready}");
    world.desired.retains_adopted = false;
    world.delete_pool();
    for round in 0..100 {
        world.step();
        if round % 10 == 3 {
            // A manager that starts does not know the group, or cannot read it.
            world.restart(0);
            world.pass();
            world.managers[0].view =
                LastRead::Failed { reason: Reason::Throttled, message: "too many".to_owned() };
            world.pass();
        }
    }
    assert_eq!(world.instances(), std::slice::from_ref(&lost), "{}", world.story());
    let report = world.plan_of(0).report;
    let deleting = report.conditions.iter().find(|it| it.kind == ConditionKind::Deleting).unwrap();
    assert_eq!(deleting.reason, Reason::AwaitingNodes, "{deleting:?}");
    // The user decides.
    let name = world.name_of(&lost);
    world.kube.drained.insert(name.clone());
    world.delete_machine(&name);
    world.settle();
    assert!(world.is_gone(), "{}", world.story());
}

/// An adopted group with an instance whose Node Cluster API has not found, and which AWS terminates.
fn with_a_taken_instance() -> (World, InstanceId) {
    let mut world = adopting(pool().of(3));
    let taken = world.instances()[0].clone();
    world.kube.unlinked.insert(taken.clone());
    world.settle();
    world.cloud.terminate_by_aws(&taken, world.now);
    (world, taken)
}

/// Steps until so much time is over.
fn steps_for(world: &mut World, duration: Duration) {
    let began = world.now;
    while began.until(world.now) < duration {
        world.step();
        world.wait(5);
    }
}

fn waits(world: &World, id: &InstanceId) {
    assert_eq!(world.cloud.lifecycle(id), Some(LifecycleState::TerminatingWait), "{}", world.story());
    assert!(world.kube.alive().contains(&world.name_of(id)), "{}", world.story());
}

/// AWS waits for the hook: time for Cluster API to find the Node, without which it drains nothing.
#[test]
fn an_adopted_instance_that_aws_terminates_waits_for_its_node() {
    let (mut world, taken) = with_a_taken_instance();
    steps_for(&mut world, Duration::from_mins(5));
    // Another manager knows from the FooMachine when the wait began.
    world.restart(0);
    steps_for(&mut world, Duration::from_mins(4));
    waits(&world, &taken);
    world.kube.unlinked.remove(&taken);
    world.settle();
    assert!(world.kube.drained.contains(&world.name_of(&taken)), "{}", world.story());
    assert!(!world.instances().contains(&taken), "{}", world.story());
}

/// A Node of another provider id never comes.
#[test]
fn an_adopted_instance_that_aws_terminates_waits_ten_minutes() {
    for removed in [false, true] {
        let (mut world, taken) = with_a_taken_instance();
        world.desired.retains_adopted = false;
        if removed {
            world.delete_pool();
        }
        steps_for(&mut world, Duration::from_mins(9));
        waits(&world, &taken);
        // What runs there ends with the instance.
        world.kube.drained.insert(world.name_of(&taken));
        steps_for(&mut world, Duration::from_mins(3));
        assert!(!world.instances().contains(&taken), "{removed}: {}", world.story());
    }
}

/// The hook stays until those that AWS terminates are drained.
#[test]
fn a_retained_group_waits_for_the_node_of_an_instance_that_aws_terminates() {
    let (mut world, taken) = with_a_taken_instance();
    world.delete_pool_retaining();
    steps_for(&mut world, Duration::from_mins(8));
    waits(&world, &taken);
    assert!(world.cloud.hook.is_some(), "{}", world.story());
    world.kube.unlinked.remove(&taken);
    world.settle();
    assert!(world.kube.drained.contains(&world.name_of(&taken)), "{}", world.story());
}

/// No instance ends because of an age while the clocks differ, and the checker agrees with the planner.
#[test]
fn without_known_ages_the_hook_of_an_adopted_instance_waits_on() {
    for has_foo_machine in [true, false] {
        let (mut world, taken) = with_a_taken_instance();
        let name = world.name_of(&taken);
        world.read_group();
        world.pass();
        world.kube.machines.retain(|machine| machine.name != name);
        if !has_foo_machine {
            world.kube.foo_machines.retain(|foo_machine| foo_machine.name != name);
        }
        world.wait(11 * 60);
        world.read_group();
        for (clocks, completes) in [(Agreement::Differ, false), (Agreement::Agree, true)] {
            let observed = Observed { clocks, ..world.observe(0) };
            let memory = world.managers[0].memory.clone();
            let plan = plan(&world.desired, &observed, &memory);
            let is_completion =
                |it: &Action| matches!(it, Action::Hook(HookAction::CompleteLifecycleAction { .. }));
            assert_eq!(plan.actions.iter().any(is_completion), completes, "{clocks:?}: {:?}", plan.actions);
            assert_eq!(violations(&world.desired, &observed, &memory, &plan), []);
        }
    }
}

/// There is nothing to wait for.
#[test]
fn a_dead_adopted_instance_is_not_waited_for() {
    let (mut world, taken) = with_a_taken_instance();
    world.kill(&taken);
    world.kube.drained.insert(world.name_of(&taken));
    steps_for(&mut world, Duration::from_mins(4));
    assert!(!world.kube.alive().contains(&world.name_of(&taken)), "{}", world.story());
}

/// At whatever moment: no adopted instance ends undrained (see `truth.rs`).
#[test]
fn a_deletion_during_an_adoption_drains_or_waits() {
    for passes in 0..10 {
        for retains in [true, false] {
            let mut world = adopting(pool().of(3));
            for _ in 0..passes {
                world.wait(5);
                world.read_group();
                world.pass();
                if passes % 2 == 0 {
                    world.kube.work(world.now, &world.cloud);
                }
            }
            world.desired.retains_adopted = retains;
            if retains && world.kube.recorded_adoption {
                world.delete_pool_retaining();
            } else {
                world.delete_pool();
            }
            for round in 0..100 {
                world.step();
                if round % 7 == 0 {
                    world.restart(0);
                    world.pass();
                }
            }
            if retains {
                assert_eq!(world.cloud.existing(), 3, "{}", world.story());
            }
        }
    }
}

/// Its predecessor adopted the group last.
#[test]
fn a_new_leader_releases_a_group_that_its_first_reads_do_not_show_as_adopted() {
    let mut world = adopting(pool().of(3));
    let is_adopted = |world: &World| world.cloud.group.as_ref().unwrap().tags.contains_key(TAG_ADOPTED);
    for _ in 0..30 {
        if !is_adopted(&world) {
            world.observe_and_plan();
        }
    }
    assert!(is_adopted(&world), "{}", world.story());
    world.restart(0);
    world.delete_pool_retaining();
    world.observe_with_lag(1);
    let plan = world.pass();
    assert!(!plan.actions.contains(&Action::Pool(PoolAction::RemoveFinalizer)), "{}", world.story());
    for _ in 0..20 {
        world.step();
    }
    let group = world.cloud.group.as_ref().unwrap();
    assert_eq!(group.tags[TAG_INSTALLATION], INSTALLATION_OF_RETAINED, "{}", world.story());
    assert_eq!(world.kube.finalizer, Finalizer::Absent, "{}", world.story());
}

/// Whether the group was adopted is known only when it was read, if the record is lost.
#[test]
fn a_deletion_without_a_policy_waits_until_the_group_is_known() {
    let mut world = adopting(pool().of(3));
    world.settle();
    world.kube.recorded_adoption = false;
    world.restart(0);
    world.delete_pool();
    for view in
        [LastRead::Unknown, LastRead::Failed { reason: Reason::AccessDenied, message: "no".to_owned() }]
    {
        world.managers[0].view = view;
        assert_eq!(world.plan_of(0).actions, []);
    }
    world.wait(60);
    world.read_group();
    assert_eq!(world.wants(), ["record adoption"]);
}

#[test]
fn a_group_that_buys_otherwise_is_not_adopted() {
    let mix = |on_demand_percentage| InstancesMix {
        overrides: vec![MixOverride::named("m7i.large".into(), None)],
        on_demand_base: 0,
        on_demand_percentage,
        on_demand_strategy: OnDemandStrategy::Prioritized,
        spot_strategy: SpotStrategy::PriceCapacityOptimized,
        spot_max_price: None,
    };
    let mut world = adopting(pool().of(3));
    world.desired.group.mix = Some(mix(0));
    world.observe_and_plan();
    let (reason, message) = reported(&mut world);
    assert_eq!(reason, Reason::AdoptionWaiting);
    assert!(message.contains("100% beyond these, and this pool 0 and 0%"), "{message}");
    world.desired.group.mix = Some(mix(100));
    world.settle();
    assert_eq!(world.kube.alive().len(), 3);
}

/// The mark is restored; a group that the provider creates later is none of those.
#[test]
fn the_mark_of_an_adopted_group_is_restored_and_ends_with_it() {
    let mut world = adopting(pool().of(3));
    world.settle();
    world.cloud.group.as_mut().unwrap().tags.remove(TAG_ADOPTED);
    world.cloud.record(world.now);
    assert_eq!(world.wants(), ["tag group infrastructure.foo.com/adopted"]);
    world.settle();
    for id in world.instances() {
        world.kill(&id);
    }
    world.cloud.group = None;
    world.cloud.record(world.now);
    world.end_adoption();
    world.settle();
    assert!(!world.kube.recorded_adoption, "{}", world.story());
    assert!(!world.cloud.group.as_ref().unwrap().tags.contains_key(TAG_ADOPTED));
}

/// Tags name cluster and pool, which two management clusters may both have: a template with a name of its own names its group.
#[test]
fn a_template_with_a_name_of_its_own_belongs_to_the_group_that_its_tag_names() {
    let mut world = pool().of(1).with(|it| it.identity.template = "own".to_owned()).running();
    let template = world.cloud.template.as_ref().unwrap();
    assert_eq!(template.tags[TAG_GROUP], "ns-prod-workers");
    for other in [None, Some("ns-prod-others".to_owned())] {
        let tags = &mut world.cloud.template.as_mut().unwrap().tags;
        match other {
            Some(other) => drop(tags.insert(TAG_GROUP.to_owned(), other)),
            None => drop(tags.remove(TAG_GROUP)),
        }
        world.desired.template = Wanted::Ready(content("v2", "d2"));
        world.restart(0);
        let before = world.cloud.template.clone();
        for _ in 0..20 {
            world.step();
        }
        assert_eq!(world.cloud.template, before);
    }
    world.delete_pool();
    for _ in 0..40 {
        world.step();
    }
    assert!(world.cloud.template.is_some() && world.cloud.group.is_none());
}

/// Only instances in service count as outdated: AWS shows a new one before its launch template.
#[test]
fn only_instances_of_others_that_serve_are_replaced_after_an_adoption() {
    let mut world = adopting(pool().of(3));
    world.settle();
    world.end_adoption();
    let id = world.instances()[0].clone();
    for instance in &mut world.cloud.group.as_mut().unwrap().instances {
        let own = world.cloud.template.as_ref().unwrap().id.clone();
        instance.template = if instance.id == id { None } else { Some((own, TemplateVersion(1))) };
        if instance.id == id {
            instance.lifecycle = LifecycleState::Pending;
            instance.instance_type = InstanceType::new("m7i.large");
        }
    }
    world.cloud.record(world.now);
    assert_eq!(world.wants(), NOTHING);
    world.step();
    assert_eq!(world.kube.alive().len(), 2, "{}", world.story());
}

/// In a group that the provider created, an instance of an unknown template is left alone.
#[test]
fn instances_of_other_templates_count_as_outdated_only_in_adopted_groups() {
    let mut world = pool().of(2).running();
    let id = world.instances()[0].clone();
    world.cloud.instance_mut(&id).unwrap().template = None;
    for foo_machine in &mut world.kube.foo_machines {
        foo_machine.spec_hash = None;
    }
    world.cloud.record(world.now);
    assert_eq!(world.wants(), NOTHING);
    let group = world.cloud.group.as_mut().unwrap();
    group.tags.insert(TAG_ADOPTED.to_owned(), "true".to_owned());
    assert_eq!(group.tags[TAG_INSTALLATION], "here");
    world.kube.recorded_adoption = true;
    world.cloud.record(world.now);
    assert_eq!(world.wants().len(), 1, "{:?}", world.wants());
}
