use super::NOTHING;
use crate::world::pool;
use foo_model::group::GroupStatus;
use foo_model::{Blocked, LifecycleState, Process, Protection, Reason, SubnetId};
use foo_planner::desired::Wanted;
use std::collections::BTreeSet;

#[test]
fn all_differences_are_one_call() {
    let mut world = pool().of(2).running();
    world.set_min_by_hand(1);
    let group = world.cloud.group.as_mut().unwrap();
    group.settings.new_instances = Protection::Unprotected;
    group.settings.subnets = BTreeSet::from([SubnetId::new("subnet-z")]);
    world.scale_to(3);
    world.desired.group.settings.default_warmup = Some(foo_model::Seconds(60));
    assert_eq!(world.wants(), ["update group min=0 max=3 desired=3 subnets=subnet-a protect-new warmup=60"]);
    world.settle();
}

#[test]
fn missing_and_different_tags_are_repaired_and_other_tags_stay() {
    let mut world = pool().of(1).running();
    let tags = &mut world.cloud.group.as_mut().unwrap().tags;
    tags.insert("team".to_owned(), "red".to_owned());
    tags.insert("other".to_owned(), "yes".to_owned());
    assert_eq!(world.wants(), ["tag group team"]);
    world.settle();
    let tags = &world.cloud.group.as_ref().unwrap().tags;
    assert_eq!((tags["team"].as_str(), tags["other"].as_str()), ("blue", "yes"));
}

#[test]
fn az_rebalance_is_suspended_again_and_other_suspensions_stay() {
    let mut world = pool().of(1).running();
    let suspended = &mut world.cloud.group.as_mut().unwrap().suspended;
    *suspended = [(Process::AlarmNotification, String::new())].into();
    assert_eq!(world.wants(), ["suspend AZRebalance"]);
    world.settle();
    assert_eq!(world.cloud.group.as_ref().unwrap().suspended.len(), 2);
}

#[test]
fn lost_protection_is_restored_fifty_at_a_time_before_desired_is_lowered() {
    let mut world = pool().of(60).running();
    world.cloud.launches = crate::world::Launches::Fail;
    world.scale_to(62);
    world.observe_and_plan();
    for id in world.instances() {
        world.unprotect(&id);
    }
    world.scale_to(60);
    let words = world.writes();
    assert_eq!(words.len(), 2, "{words:?}");
    assert!(words[0].starts_with("protect i-00000001") && words[1].starts_with("protect i-00000033"));
    world.observe_and_plan();
    assert_eq!(world.writes(), ["update group desired=60"]);
}

#[test]
fn an_unprotected_instance_that_cannot_be_protected_yet_holds_the_lowering_up() {
    let mut world = pool().of(2).running();
    world.scale_to(4);
    world.observe_and_plan();
    world.cloud.launch(world.now);
    let pending = world.instances()[2].clone();
    world.unprotect(&pending);
    world.observe_and_plan();
    world.scale_to(2);
    assert_eq!(world.writes(), NOTHING, "AWS takes protection for instances in service only");
    world.put(2, LifecycleState::InService);
    assert_eq!(world.writes(), ["protect i-00000003"]);
}

#[test]
fn subnets_that_cannot_be_resolved_stop_the_making_and_nothing_else() {
    let blocked = Wanted::Blocked(Blocked::new(Reason::SubnetNotFound, "no subnet has these tags"));
    let mut world = pool().of(1).with(|desired| desired.group.settings.subnets = blocked.clone()).new_world();
    for _ in 0..10 {
        world.step();
    }
    assert!(world.cloud.group.is_none());
    assert_eq!(world.plan_of(0).report.conditions[0].reason, Reason::SubnetNotFound);
    let mut world = pool().of(1).running();
    world.desired.group.settings.subnets = blocked;
    world.scale_to(2);
    assert_eq!(world.writes(), ["update group max=2 desired=2"]);
}

#[test]
fn a_group_that_aws_is_deleting_is_waited_for() {
    let mut world = pool().of(2).running();
    world.cloud.group.as_mut().unwrap().status = GroupStatus::Deleting;
    world.scale_to(5);
    assert_eq!(world.writes(), NOTHING);
    assert_eq!(world.plan_of(0).report.conditions[0].reason, Reason::GroupDeleting);
}

#[test]
fn without_a_fresh_read_nothing_is_written() {
    let mut world = pool().of(2).running();
    world.set_min_by_hand(1);
    world.observe_and_plan();
    assert_eq!(world.pass().actions, [], "the read_group is older than our write");
    world.managers[0].view = foo_planner::LastRead::Unknown;
    assert_eq!(world.pass().actions, []);
}

#[test]
fn bounds_of_another_controller_are_adopted_and_a_lower_maximum_waits_for_protection() {
    let mut world = pool().of(4).running();
    world.let_another_controller_manage(1, 2);
    let id = world.instances()[0].clone();
    world.unprotect(&id);
    assert_eq!(world.writes(), ["protect i-00000001", "update group min=1"]);
    world.observe_and_plan();
    assert_eq!(world.writes(), ["update group max=2"]);
    world.settle();
    assert_eq!((world.cloud.existing(), world.target()), (2, 2));
}

#[test]
fn a_template_that_aws_refuses_does_not_delay_other_repairs_for_long() {
    let mut world = pool().of(2).running();
    world.cloud.refuses_templates = true;
    world.desired.template = Wanted::Ready(crate::world::content("v2", "d1"));
    world.scale_to(3);
    for _ in 0..4 {
        world.observe_and_plan();
    }
    world.set_min_by_hand(1);
    world.read_group();
    let first = world.wants();
    assert_eq!(first[0], "update group version=2", "{first:?}");
    world.observe_and_plan();
    assert_eq!(world.cloud.sizes().desired, 2, "what is launched now would have the old content");
    world.wait(60);
    world.observe_and_plan();
    let sizes = world.cloud.sizes();
    assert_eq!((sizes.desired, sizes.min), (3, 0), "capacity of the old content is better than none");
    world.cloud.refuses_templates = false;
    world.settle();
}

#[test]
fn launches_that_aws_suspended_by_itself_are_resumed_when_something_else_is_wanted() {
    let mut world = pool().of(1).running();
    world.cloud.launches = crate::world::Launches::Fail;
    world.scale_to(2);
    world.observe_and_plan();
    let reason = "Launch process suspended administratively after repeated failures";
    world.cloud.group.as_mut().unwrap().suspended.insert(Process::Launch, reason.to_owned());
    world.observe_and_plan();
    let ready = world.plan_of(0).report.conditions[0].clone();
    assert_eq!(ready.reason, Reason::LaunchSuspended);
    assert!(ready.message.contains(reason), "{}", ready.message);
    assert!(!world.writes().iter().any(|word| word.starts_with("resume")), "nothing has changed");
    world.cloud.launches = crate::world::Launches::Work;
    world.desired.template = Wanted::Ready(crate::world::content("v2", "d1"));
    world.settle();
    assert_eq!(world.cloud.existing(), 2);
}

#[test]
fn launches_that_a_person_suspended_stay_so_and_the_condition_says_it() {
    let mut world = pool().of(1).running();
    let suspended = &mut world.cloud.group.as_mut().unwrap().suspended;
    suspended.insert(Process::Launch, "User suspended at 2026-01-01T00:00:00Z".to_owned());
    world.scale_to(2);
    for _ in 0..5 {
        world.observe_and_plan();
    }
    world.scale_to(3);
    for _ in 0..5 {
        world.observe_and_plan();
    }
    assert!(world.cloud.group.as_ref().unwrap().suspended.contains_key(&Process::Launch));
    let ready = world.plan_of(0).report.conditions[0].clone();
    assert!(ready.message.contains("User suspended at"), "{}", ready.message);
}
