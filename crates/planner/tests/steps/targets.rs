//! Target groups and other traffic sources: attached and detached, and what the health of targets means.

use super::NOTHING;
use crate::world::{World, content, pool};
use foo_model::{
    Agreement, InstanceId, LatticeTargetGroupArn, Reason, Seconds, TargetGroupArn, TargetState,
    TrafficSource, TrafficSourceKind,
};
use foo_planner::desired::{IntOrPercent, TargetHealthRules, Wanted};
use foo_planner::observed::LastRead;
use foo_planner::report::{ConditionKind, Status};
use foo_planner::{Plan, target_health};
use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

const WEB: &str = "arn:aws:elasticloadbalancing:eu-1:1:targetgroup/web/1";
const TLS: &str = "arn:aws:elasticloadbalancing:eu-1:1:targetgroup/tls/2";
const LATTICE: &str = "arn:aws:vpc-lattice:eu-1:1:targetgroup/tg-0123456789abcdef0";
const RULES: TargetHealthRules = TargetHealthRules { required: true, replace: true, grace: Seconds(300) };

fn arns(arns: &[&str]) -> BTreeSet<TargetGroupArn> {
    arns.iter().map(|arn| TargetGroupArn::new(*arn)).collect()
}

/// What a group is attached to.
fn sources(arns: &[&str]) -> BTreeSet<TrafficSource> {
    arns.iter().map(|arn| TrafficSourceKind::TargetGroup.with(arn)).collect()
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
    assert_eq!(group.traffic_sources, sources(&[WEB, TLS]));
    group.traffic_sources = sources(&[WEB, "arn:other"]);
    assert_eq!(world.wants(), [format!("attach {TLS}"), "detach arn:other".to_owned()]);
    world.settle();
    assert_eq!(world.cloud.group.as_ref().unwrap().traffic_sources, sources(&[WEB, TLS]));
}

#[test]
fn without_any_in_the_spec_those_of_the_group_stay() {
    let mut world = pool().of(1).running();
    world.cloud.group.as_mut().unwrap().traffic_sources = sources(&[WEB]);
    assert_eq!(world.wants(), NOTHING);
    world.desired.group.target_groups = Some(BTreeSet::new());
    assert_eq!(world.wants(), [format!("detach {WEB}")]);
}

#[test]
fn each_target_group_is_attached_by_a_call_of_its_own() {
    let mut world = pool().of(1).running();
    world.desired.group.target_groups = Some(arns(&[WEB, TLS]));
    assert_eq!(world.wants(), [format!("attach {TLS}"), format!("attach {WEB}")]);
}

/// A list of the spec decides about what is of its kind, and about nothing else.
#[test]
fn each_kind_of_traffic_source_is_attached_and_detached_on_its_own() {
    let attached = |world: &World| world.cloud.group.as_ref().unwrap().traffic_sources.clone();
    let [old, new] = ["old", "new"].map(|name| TrafficSourceKind::ClassicLoadBalancer.with(name));
    let lattice = TrafficSourceKind::LatticeTargetGroup.with(LATTICE);
    let web = TrafficSourceKind::TargetGroup.with(WEB);
    let mut world = pool()
        .of(1)
        .with(|desired| {
            desired.group.classic_load_balancers = Some(["old".into()].into());
            desired.group.lattice_target_groups = Some([LATTICE.into()].into());
        })
        .running();
    assert_eq!(attached(&world), [old, lattice.clone()].into());
    // Another user attaches a target group, about which the spec decides nothing, and detaches the one of VPC Lattice.
    let group = world.cloud.group.as_mut().unwrap();
    group.traffic_sources.insert(web.clone());
    group.traffic_sources.remove(&lattice);
    assert_eq!(world.wants(), [format!("attach {LATTICE}")]);
    world.desired.group.classic_load_balancers = Some(["new".into()].into());
    assert_eq!(
        world.wants(),
        ["attach new".to_owned(), format!("attach {LATTICE}"), "detach old".to_owned()]
    );
    world.settle();
    assert_eq!(attached(&world), [new, web.clone(), lattice].into());
    world.desired.group.classic_load_balancers = Some(BTreeSet::new());
    world.desired.group.lattice_target_groups = Some(BTreeSet::new());
    world.settle();
    assert_eq!(attached(&world), [web].into());
    assert_eq!(world.wants(), NOTHING);
}

/// Otherwise AWS would refuse the new ones.
#[test]
fn where_there_is_no_room_for_both_traffic_sources_are_detached_before_others_are_attached() {
    let arns =
        |ids: Range<u8>| -> BTreeSet<TargetGroupArn> { ids.map(|id| format!("arn:{id}").into()).collect() };
    let of_lattice = |ids: Range<u8>| -> BTreeSet<LatticeTargetGroupArn> {
        ids.map(|id| format!("lattice:{id}").into()).collect()
    };
    let mut world = pool()
        .of(1)
        .with(|desired| {
            desired.group.target_groups = Some(arns(0..5));
            desired.group.lattice_target_groups = Some(of_lattice(0..5));
        })
        .running();
    world.desired.group.target_groups = Some(arns(1..6));
    world.desired.group.lattice_target_groups = Some(of_lattice(1..6));
    assert_eq!(world.wants(), ["detach lattice:0", "attach arn:5", "attach lattice:5", "detach arn:0"]);
}

/// The provider reads no health of them.
#[test]
fn no_decision_depends_on_the_health_behind_other_traffic_sources() {
    let mut world = behind_load_balancers(1, RULES);
    world.desired.group.target_groups = None;
    world.desired.group.classic_load_balancers = Some(["old".into()].into());
    world.desired.group.lattice_target_groups = Some([LATTICE.into()].into());
    assert!(!world.desired.asks_for_target_health());
    world.settle();
    world.read_group();
    assert_eq!(target_health::max_age(&world.desired, world.cloud.group.as_ref(), &LastRead::Unknown), None);
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
    assert_eq!(world.kube.quarantine[0].message, "no new instance became available within 600 s");
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

/// A target becomes unhealthy because its Pods leave.
#[test]
fn a_target_that_is_unhealthy_while_its_node_drains_is_no_unhealthy_machine() {
    let mut world = behind_load_balancers(4, RULES);
    let id = world.instances()[0].clone();
    let name = world.name_of(&id);
    world.kube.held_up.insert(name.clone());
    world.mark(&name);
    world.scale_to(3);
    world.step();
    world.cloud.ailing.insert(id, TargetState::Unhealthy);
    let plan = world.step();
    let remediating = |it: &&foo_planner::report::Condition| it.kind == ConditionKind::Remediating;
    let condition = plan.report.conditions.iter().find(remediating).unwrap();
    assert_eq!(
        (condition.status, condition.reason),
        (Status::False, Reason::NotRemediating),
        "{}",
        world.story()
    );
}

/// Otherwise one instance after the other would be launched and replaced.
#[test]
fn new_content_with_an_unhealthy_target_has_failed() {
    let mut world = behind_load_balancers(3, TargetHealthRules { grace: Seconds(60), ..RULES });
    world.desired.rollout.max_surge = IntOrPercent::Count(1);
    world.desired.rollout.max_unavailable = IntOrPercent::Count(0);
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    for _ in 0..60 {
        if let Some(id) = world.instances().get(3) {
            world.cloud.ailing.insert(id.clone(), TargetState::Unhealthy);
        }
        world.step();
    }
    assert_eq!(world.kube.quarantine.len(), 1, "{}", world.story());
    let message = &world.kube.quarantine[0].message;
    assert!(message.ends_with("target group tls reports it as unhealthy"), "{message}");
    assert_eq!(world.kube.alive().len(), 4, "it stays for inspection");
}

/// One failed read must not launch more from content that is not known to work.
#[test]
fn unknown_health_proves_nothing_about_new_content() {
    let mut world = behind_load_balancers(4, RULES);
    world.desired.rollout.max_surge = IntOrPercent::Count(3);
    world.desired.rollout.max_unavailable = IntOrPercent::Count(0);
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    for turn in 0..40 {
        if let Some(id) = world.instances().get(4) {
            world.cloud.ailing.insert(id.clone(), TargetState::Initial);
        }
        let failed = LastRead::Failed { reason: Reason::Throttled, message: String::new() };
        world.cloud.targets_fail = (turn % 3 == 2).then_some(failed);
        world.step();
    }
    assert_eq!(world.instances().len(), 5, "{}", world.story());
}

#[test]
fn a_paused_pool_reads_no_health() {
    let mut world = behind_load_balancers(2, RULES);
    world.desired.pause = Some(foo_planner::desired::PausedBy::Annotation);
    world.read_group();
    assert_eq!(target_health::max_age(&world.desired, world.cloud.group.as_ref(), &LastRead::Unknown), None);
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
