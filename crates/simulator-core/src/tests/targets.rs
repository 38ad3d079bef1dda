//! Target groups of Elastic Load Balancing (Auto Scaling User Guide, "Use Elastic Load Balancing to distribute incoming
//! application traffic in your Auto Scaling group").

use super::scene::{Scene, name, refusal, scene};
use crate::core::network::{NewLoadBalancer, PRIVATE_SUBNETS};
use crate::core::rules::group::operations::{GroupUpdate, NewGroup, SettingsChange};
use foo_model::network::LoadBalancerKind;
use foo_model::{Decrement, Health, InstanceId, LifecycleState, SubnetId, TargetGroupArn, TargetState};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The target group of a new load balancer.
fn target_group(scene: &Scene, of: &str) -> TargetGroupArn {
    let new = NewLoadBalancer {
        name: of.to_owned(),
        kind: LoadBalancerKind::Application,
        subnets: PRIVATE_SUBNETS.map(SubnetId::from).into(),
        target_groups: [of.to_owned()].into(),
        groups: BTreeSet::new(),
        tags: BTreeMap::new(),
        deletion_protection: false,
        internet_facing: false,
    };
    scene.region.put_load_balancer(new).expect("a load balancer");
    scene.with(|region| {
        let of = format!("targetgroup/{of}/");
        let arn = region.network.targeted.keys().find(|arn| arn.contains(&of)).expect("a target group");
        TargetGroupArn::new(arn.as_str())
    })
}

fn one(arn: &TargetGroupArn) -> BTreeSet<TargetGroupArn> {
    [arn.clone()].into()
}

fn states(scene: &Scene, arn: &TargetGroupArn) -> Vec<TargetState> {
    let health = scene.region.target_health(arn).expect("a target group");
    health.values().map(|it| it.state).collect()
}

fn lifecycles(scene: &Scene) -> Vec<LifecycleState> {
    scene.group().members.into_values().map(|member| member.lifecycle).collect()
}

fn unhealthy(scene: &Scene, id: &InstanceId) {
    scene.region.set_target_state(id, Some(TargetState::Unhealthy)).expect("an instance");
}

/// "Before the instance reaches the InService state … the instance is registered with the load balancer."
#[test]
fn instances_are_registered_when_they_enter_service_and_become_healthy() {
    let scene = scene();
    let arn = target_group(&scene, "web");
    let unknown = one(&TargetGroupArn::new("arn:none"));
    let pool = scene.pool((0, 2, 4));
    let refused = refusal(scene.create(NewGroup { target_groups: unknown, ..pool.clone() }));
    assert!(refused.1.starts_with("Provided Target Groups may not be valid"), "{refused:?}");
    scene.create(NewGroup { target_groups: one(&arn), ..pool }).expect("a group");
    assert_eq!(states(&scene, &arn), []);
    scene.wait(21);
    assert_eq!(states(&scene, &arn), [TargetState::Initial; 2]);
    scene.wait(30);
    assert_eq!(states(&scene, &arn), [TargetState::Healthy; 2]);
    unhealthy(&scene, &scene.in_service()[0]);
    assert!(states(&scene, &arn).contains(&TargetState::Unhealthy));
    assert_eq!(scene.region.target_health(&TargetGroupArn::new("arn:none")), None);
}

/// "The terminating instance is first deregistered from the load balancer. If connection draining is enabled …, the
/// instance stops accepting new connections and waits for existing connections to drain before completing the
/// deregistration process." The terminating hook follows.
#[test]
fn a_terminating_instance_drains_its_connections_before_its_hook() {
    let scene = scene();
    let arn = target_group(&scene, "web");
    let hooks = vec![super::hooks::drain()];
    scene.create(NewGroup { target_groups: one(&arn), hooks, ..scene.pool((0, 1, 4)) }).expect("a group");
    scene.wait(60);
    let id = scene.in_service().remove(0);
    scene.with(|region| region.terminate_member(&id, Decrement::Shrink)).expect("accepted");
    scene.wait(299);
    assert_eq!(lifecycles(&scene), [LifecycleState::Terminating]);
    assert_eq!(states(&scene, &arn), [TargetState::Draining]);
    scene.wait(2);
    assert_eq!((lifecycles(&scene), states(&scene, &arn)), (vec![LifecycleState::TerminatingWait], vec![]));
}

#[test]
fn attached_and_detached_target_groups_change_the_targets_at_once() {
    let scene = scene();
    let (web, tls) = (target_group(&scene, "web"), target_group(&scene, "tls"));
    scene.settled_pool((0, 1, 4));
    let pool = name("pool");
    scene.with(|region| region.attach_target_groups(&pool, &one(&web))).expect("attached");
    assert_eq!(states(&scene, &web), [TargetState::Initial]);
    let refused = refusal(scene.with(|region| region.detach_target_groups(&pool, &one(&tls))));
    assert_eq!(refused.0, "ValidationError");
    scene.with(|region| region.detach_target_groups(&pool, &one(&web))).expect("detached");
    assert_eq!(states(&scene, &web), [TargetState::Draining]);
    assert_eq!(lifecycles(&scene), [LifecycleState::InService]);
}

/// "If you attached one or more load balancers or target groups … it considers the instance unhealthy if it fails either
/// the EC2 status checks or the Elastic Load Balancing health checks", once the group asks for them and the grace period is
/// over.
#[test]
fn checks_of_load_balancers_count_only_if_the_group_asks_for_them() {
    let scene = scene();
    let arn = target_group(&scene, "web");
    scene.create(NewGroup { target_groups: one(&arn), ..scene.pool((0, 1, 4)) }).expect("a group");
    scene.wait(60);
    let id = scene.in_service().remove(0);
    let health = || scene.group().members.get(&id).map(|member| member.health);
    unhealthy(&scene, &id);
    scene.wait(600);
    assert_eq!(health(), Some(Health::Healthy));
    let settings = SettingsChange {
        health_check_type: Some("ELB".to_owned()),
        grace: Some(Duration::from_mins(30)),
        ..SettingsChange::default()
    };
    let update = GroupUpdate { settings, ..GroupUpdate::default() };
    scene.with(|region| region.update_group(&name("pool"), update)).expect("updated");
    scene.wait(600);
    assert_eq!(health(), Some(Health::Healthy), "in its grace period");
    scene.wait(1_200);
    assert_ne!(health(), Some(Health::Healthy));
}

/// "ForceDelete … without waiting for all lifecycle actions": nor for connections (API Reference, DeleteAutoScalingGroup).
#[test]
fn a_forced_deletion_waits_neither_for_connections_nor_for_hooks() {
    let scene = scene();
    let arn = target_group(&scene, "web");
    let hooks = vec![super::hooks::drain()];
    scene.create(NewGroup { target_groups: one(&arn), hooks, ..scene.pool((0, 2, 4)) }).expect("a group");
    scene.wait(60);
    let id = scene.in_service().remove(0);
    scene.with(|region| region.terminate_member(&id, Decrement::Shrink)).expect("accepted");
    scene.wait(10);
    let forced = crate::core::rules::group::operations::Deletion::Forced;
    scene.with(|region| region.delete_group(&name("pool"), forced)).expect("accepted");
    scene.wait(120);
    assert!(scene.region.group("pool").is_none(), "{:?}", lifecycles(&scene));
    let states = states(&scene, &arn);
    assert!(states.iter().all(|state| *state == TargetState::Draining), "{states:?}");
}

#[test]
fn a_stopped_or_terminated_instance_cannot_serve() {
    let scene = scene();
    let arn = target_group(&scene, "web");
    scene.create(NewGroup { target_groups: one(&arn), ..scene.pool((0, 1, 4)) }).expect("a group");
    scene.wait(60);
    let id = scene.in_service().remove(0);
    scene.region.kill_instance(&id).expect("killed");
    let health = scene.region.target_health(&arn).expect("a target group");
    assert_eq!((health[&id].state_name(), health[&id].state.serves()), ("unused", false));
}
