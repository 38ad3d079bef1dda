use super::NOTHING;
use crate::world::pool;
use foo_model::LifecycleState;
use foo_planner::LastRead;
use foo_planner::observed::Finalizer;

#[test]
fn an_instance_that_kubernetes_never_knew_is_ended_directly() {
    let mut world = pool().of(1).running();
    world.scale_to(3);
    world.observe_and_plan();
    world.cloud.launch(world.now);
    world.delete_pool();
    assert_eq!(
        world.writes(),
        [
            "delete Machine workers-00000001 [SameUid]: the pool is being deleted",
            "update group max=2 desired=2",
            "end i-00000002 (Shrink)"
        ]
    );
    world.settle();
    assert!(world.is_gone());
}

#[test]
fn machines_that_were_paused_are_drained_when_the_policy_changes_to_delete() {
    let mut world = pool().of(2).running();
    world.delete_pool_retaining();
    world.observe_and_plan();
    world.kube.confirm_pauses();
    world.delete_pool();
    let writes = world.writes();
    assert!(writes.contains(&"resume Machine workers-00000001".to_owned()), "{writes:?}");
    world.settle();
    assert!(world.is_gone());
    assert_eq!(world.kube.drained.len(), 2, "both are drained");
}

#[test]
fn what_aws_terminates_is_drained_although_it_was_paused() {
    let mut world = pool().of(2).running();
    world.delete_pool_retaining();
    world.observe_and_plan();
    let id = world.kube.foo_machines[0].instance.clone();
    world.cloud.terminate_by_aws(&id, world.now);
    assert_eq!(world.writes(), ["resume Machine workers-00000001"]);
    world.settle();
    assert!(world.is_retained(), "{}", world.story());
    assert_eq!(world.kube.drained.len(), 1);
}

#[test]
fn a_template_without_a_group_is_deleted_although_the_group_would_stay() {
    let mut world = pool().of(1).running();
    world.cloud.group = None;
    world.delete_pool_retaining();
    world.settle();
    assert!(world.cloud.template.is_none() && world.is_retained(), "{}", world.story());
}

#[test]
fn an_instance_whose_foo_machine_is_not_in_our_cache_yet_is_not_unknown() {
    let mut world = pool().of(1).running();
    world.scale_to(2);
    world.observe_and_plan();
    world.cloud.launch(world.now);
    world.freeze_caches(true);
    world.observe_and_plan();
    world.delete_pool();
    assert!(!world.writes().iter().any(|word| word.starts_with("end ")));
    world.freeze_caches(false);
    world.settle();
    assert!(world.is_gone());
}

#[test]
fn a_minimum_is_lowered_before_instances_end() {
    let mut world = pool().managed_by_another_controller(2, 5).running();
    world.delete_pool();
    world.observe_and_plan();
    world.kube.drain(world.now, &world.cloud);
    world.cloud.group.as_mut().unwrap().sizes.min = 2;
    assert_eq!(world.writes()[0], "update group min=0");
    world.settle();
    assert!(world.is_gone());
}

#[test]
fn standby_and_warm_instances_go_too_and_one_being_detached_is_its_persons() {
    for (state, goes) in [
        (LifecycleState::Standby, true),
        (LifecycleState::Warmed, true),
        (LifecycleState::TerminatingRetained, true),
        (LifecycleState::Detaching, false),
    ] {
        let mut world = pool().of(1).running();
        world.scale_to(2);
        world.observe_and_plan();
        world.cloud.launch(world.now);
        world.put(1, state.clone());
        world.delete_pool();
        let ends = world.writes().contains(&"end i-00000002 (Replace)".to_owned());
        assert_eq!(ends, goes, "{state:?}");
    }
}

#[test]
fn the_workload_cluster_may_be_unreachable_while_the_group_is_unknown() {
    let mut world = pool().of(2).running();
    world.delete_pool();
    world.managers[0].view = LastRead::Unknown;
    let plan = world.pass();
    assert_eq!(plan.actions.len(), 2, "Machines are deleted meanwhile");
    assert_eq!(plan.report.counts, None);
}

#[test]
fn a_manager_that_just_started_does_not_believe_in_an_absent_group() {
    let mut world = pool().of(1).new_world();
    world.step();
    world.delete_pool();
    world.restart(0);
    world.managers[0].template = LastRead::At { at: world.now, seen: None };
    assert_eq!(world.writes(), NOTHING, "its predecessor may have made one that is not visible yet");
    world.settle();
    assert!(world.is_gone());
}

#[test]
fn a_pool_that_never_took_hold_needs_no_removal() {
    let mut world = pool().of(1).new_world();
    world.delete_pool();
    world.wait(20);
    assert_eq!(world.wants(), NOTHING);
    assert_eq!(world.kube.finalizer, Finalizer::Absent);
}

#[test]
fn a_group_that_lost_our_tags_survives_with_its_instances_and_the_pool_goes() {
    let mut world = pool().of(2).running();
    world.cloud.group.as_mut().unwrap().tags.clear();
    world.delete_pool();
    world.settle();
    assert_eq!(world.kube.finalizer, Finalizer::Absent);
    assert!(world.kube.foo_machines.is_empty());
    assert_eq!(world.cloud.existing(), 2);
}
