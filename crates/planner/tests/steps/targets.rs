//! Target groups: attached and detached, and what the health of their targets means.

use super::NOTHING;
use crate::world::{World, content, pool};
use foo_model::{Agreement, InstanceId, Reason, Seconds, TargetGroupArn, TargetState};
use foo_planner::desired::{IntOrPercent, TargetHealthRules, Wanted};
use foo_planner::observed::LastRead;
use foo_planner::report::{ConditionKind, Status};
use foo_planner::{Plan, target_health};
use std::collections::BTreeSet;
use std::time::Duration;

const WEB: &str = "arn:aws:elasticloadbalancing:eu-1:1:targetgroup/web/1";
const TLS: &str = "arn:aws:elasticloadbalancing:eu-1:1:targetgroup/tls/2";
const RULES: TargetHealthRules = TargetHealthRules { required: true, replace: true, grace: Seconds(300) };

fn arns(arns: &[&str]) -> BTreeSet<TargetGroupArn> {
    arns.iter().map(|arn| TargetGroupArn::new(*arn)).collect()
}

/// A running pool behind two target groups, whose Machines are older than the grace period.
fn behind_load_balancers(replicas: u32, rules: TargetHealthRules) -> World {
    let mut world = pool()
        .of(replicas)
        .with(|desired| {
            desired.group.target_groups = Some(arns(&[WEB, TLS]));
            desired.target_health = Some(rules);
        })
        .running();
    world.wait(600);
    world
}

fn ails(world: &mut World, index: usize, state: TargetState) -> InstanceId {
    let id = world.instances()[index].clone();
    world.cloud.ailing.insert(id.clone(), state);
    id
}

fn message(plan: &Plan, kind: ConditionKind) -> String {
    plan.report.conditions.iter().find(|it| it.kind == kind).map(|it| it.message.clone()).unwrap_or_default()
}

#[test]
fn a_group_is_created_with_its_target_groups_and_drift_is_repaired() {
    let mut world = behind_load_balancers(1, RULES);
    let group = world.cloud.group.as_mut().unwrap();
    assert_eq!(group.target_groups, arns(&[WEB, TLS]));
    group.target_groups = arns(&[WEB, "arn:other"]);
    assert_eq!(world.wants(), [format!("attach {TLS}"), "detach arn:other".to_owned()]);
    world.settle();
    assert_eq!(world.cloud.group.as_ref().unwrap().target_groups, arns(&[WEB, TLS]));
}

#[test]
fn without_any_in_the_spec_those_of_the_group_stay() {
    let mut world = pool().of(1).running();
    world.cloud.group.as_mut().unwrap().target_groups = arns(&[WEB]);
    assert_eq!(world.wants(), NOTHING);
    world.desired.group.target_groups = Some(BTreeSet::new());
    assert_eq!(world.wants(), [format!("detach {WEB}")]);
}

#[test]
fn aws_attaches_at_most_ten_in_one_call() {
    let mut world = pool().of(1).running();
    let many: Vec<String> = (10..31).map(|number| format!("arn:{number}")).collect();
    world.desired.group.target_groups =
        Some(many.iter().map(|arn| TargetGroupArn::new(arn.as_str())).collect());
    let sizes: Vec<usize> = world.wants().iter().map(|word| word.split(' ').count() - 1).collect();
    assert_eq!(sizes, [10, 10, 1]);
}

#[test]
fn a_roll_out_waits_until_load_balancers_report_the_new_instance_as_healthy() {
    let mut world = behind_load_balancers(2, RULES);
    world.desired.rollout.max_surge = IntOrPercent::Count(1);
    world.desired.rollout.max_unavailable = IntOrPercent::Count(0);
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    let old = world.kube.alive();
    for _ in 0..6 {
        world.step();
        if let Some(id) = world.instances().get(2) {
            world.cloud.ailing.insert(id.clone(), TargetState::Initial);
        }
    }
    let plan = world.step();
    assert_eq!((world.instances().len(), world.kube.alive().len()), (3, 3), "{}", world.story());
    let said = message(&plan, ConditionKind::RollingOut);
    assert!(said.ends_with("to become healthy in the target groups of spec.targetGroups"), "{said}");
    world.cloud.ailing.clear();
    world.settle();
    assert!(world.kube.alive().iter().all(|name| !old.contains(name)), "{}", world.story());
}

#[test]
fn a_roll_out_whose_first_instance_never_becomes_healthy_fails() {
    let mut world = behind_load_balancers(2, TargetHealthRules { replace: false, ..RULES });
    world.desired.rollout.max_surge = IntOrPercent::Count(1);
    world.desired.rollout.max_unavailable = IntOrPercent::Count(0);
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    for _ in 0..300 {
        if let Some(id) = world.instances().get(2) {
            world.cloud.ailing.insert(id.clone(), TargetState::Initial);
        }
        world.step();
    }
    assert_eq!(world.kube.quarantine.len(), 1, "{}", world.story());
    assert_eq!(world.kube.quarantine[0].message, "no new instance became available within 600s");
}

#[test]
fn a_roll_out_waits_while_the_health_cannot_be_read() {
    let mut world = behind_load_balancers(3, RULES);
    let message_of = |reason| LastRead::Failed { reason, message: "denied".to_owned() };
    world.cloud.targets_fail = Some(message_of(Reason::AccessDenied));
    world.desired.rollout.max_surge = IntOrPercent::Count(1);
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    let before = world.kube.alive();
    for _ in 0..10 {
        world.step();
    }
    let said = message(&world.step(), ConditionKind::RollingOut);
    assert!(
        said.ends_with("waiting for a read of the health in the target groups of spec.targetGroups"),
        "{said}"
    );
    assert!(before.iter().all(|name| world.kube.alive().contains(name)), "{}", world.story());
    // However long that takes, it says nothing about the new content.
    world.wait(7_200);
    world.step();
    world.step();
    world.cloud.targets_fail = None;
    world.settle();
    assert_eq!(world.kube.quarantine, []);
    assert!(before.iter().all(|name| !world.kube.alive().contains(name)), "{}", world.story());
}

#[test]
fn an_instance_that_stays_unhealthy_is_drained_and_replaced() {
    let mut world = behind_load_balancers(3, RULES);
    let id = ails(&mut world, 1, TargetState::Unhealthy);
    let name = world.name_of(&id);
    let wanted = format!("delete Machine {name} [SameUid]: target group tls reports it as unhealthy");
    assert_eq!(world.writes(), [wanted]);
    world.settle();
    assert!(!world.instances().contains(&id) && world.instances().len() == 3, "{}", world.story());
}

#[test]
fn a_young_instance_may_be_unhealthy() {
    let mut world = behind_load_balancers(3, TargetHealthRules { grace: Seconds(700), ..RULES });
    ails(&mut world, 0, TargetState::Unhealthy);
    assert_eq!(world.writes(), NOTHING);
    world.wait(100);
    assert_eq!(world.writes().len(), 1);
}

#[test]
fn too_many_unhealthy_targets_have_another_cause() {
    let mut world = behind_load_balancers(3, RULES);
    ails(&mut world, 0, TargetState::Unhealthy);
    ails(&mut world, 1, TargetState::Unhealthy);
    ails(&mut world, 2, TargetState::Unhealthy);
    assert_eq!(world.writes(), NOTHING);
    let plan = world.observe_and_plan();
    let is_limit = |it: &&foo_planner::report::Condition| it.kind == ConditionKind::Remediating;
    let remediating = plan.report.conditions.iter().find(is_limit).unwrap();
    assert_eq!((remediating.status, remediating.reason), (Status::True, Reason::TooManyUnhealthy));
}

#[test]
fn health_replaces_nothing_if_the_pool_does_not_ask_for_it_or_clocks_disagree() {
    let mut world = behind_load_balancers(3, TargetHealthRules { replace: false, ..RULES });
    ails(&mut world, 0, TargetState::Unhealthy);
    assert_eq!(world.writes(), NOTHING);
    world.desired.target_health = Some(RULES);
    let mut observed = world.observe(0);
    observed.clocks = Agreement::Unknown;
    let plan = foo_planner::plan(&world.desired, &observed, &world.managers[0].memory.clone());
    assert_eq!(plan.actions, []);
    world.desired.target_health = None;
    assert_eq!(world.writes(), NOTHING);
}

#[test]
fn a_scale_in_takes_the_unhealthy_target() {
    let mut world = behind_load_balancers(3, TargetHealthRules { required: false, ..RULES });
    let id = ails(&mut world, 2, TargetState::Unhealthy);
    world.scale_to(2);
    let name = world.name_of(&id);
    assert!(world.writes()[0].starts_with(&format!("delete Machine {name}")));
    world.settle();
    assert!(!world.instances().contains(&id));
}

#[test]
fn health_is_read_again_sooner_while_an_instance_is_not_healthy() {
    let mut world = behind_load_balancers(2, TargetHealthRules { replace: false, ..RULES });
    let after = |world: &mut World| {
        world.read_group();
        world.plan_of(0).report.next.after
    };
    assert_eq!(after(&mut world), Some(Duration::from_mins(1)));
    ails(&mut world, 0, TargetState::Draining);
    assert_eq!(after(&mut world), Some(Duration::from_secs(15)));
    world.desired.group.target_groups = None;
    assert_eq!(after(&mut world), None);
    assert_eq!(target_health::max_age(&world.desired, world.cloud.group.as_ref(), &LastRead::Unknown), None);
}
