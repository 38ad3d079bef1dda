//! Target groups of Elastic Load Balancing and other traffic sources (Auto Scaling User Guide, "Use Elastic Load Balancing to
//! distribute incoming application traffic in your Auto Scaling group", "Manage traffic flow with a VPC Lattice target group").

use super::scene::{Scene, name, refusal, scene};
use crate::core::network::{NewLoadBalancer, PRIVATE_SUBNETS};
use crate::core::rules::group::operations::{GroupUpdate, NewGroup, SettingsChange};
use foo_model::network::LoadBalancerKind;
use foo_model::{
    Decrement, Health, InstanceId, LifecycleState, SubnetId, TargetGroupArn, TargetState, TrafficSource,
    TrafficSourceKind,
};
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

fn one(arn: &TargetGroupArn) -> BTreeSet<TrafficSource> {
    [TrafficSource::TargetGroup(arn.clone())].into()
}

/// A new Classic Load Balancer.
fn classic(scene: &Scene, named: &str) -> TrafficSource {
    let new = NewLoadBalancer {
        name: named.to_owned(),
        kind: LoadBalancerKind::Classic,
        subnets: PRIVATE_SUBNETS.map(SubnetId::from).into(),
        groups: BTreeSet::new(),
        internet_facing: false,
        deletion_protection: false,
        target_groups: BTreeSet::new(),
        tags: BTreeMap::new(),
    };
    scene.region.put_load_balancer(new).expect("a load balancer");
    TrafficSourceKind::ClassicLoadBalancer.with(named)
}

/// A new target group of VPC Lattice.
fn lattice(scene: &Scene) -> TrafficSource {
    TrafficSource::LatticeTargetGroup(scene.region.put_lattice_target_group().expect("a region"))
}

fn states_behind(scene: &Scene, source: &TrafficSource) -> Vec<TargetState> {
    let health = scene.region.source_health(source).expect("a traffic source");
    health.values().map(|it| it.state).collect()
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
    let refused = refusal(scene.create(NewGroup { traffic_sources: unknown, ..pool.clone() }));
    assert!(refused.1.starts_with("Provided Target Groups may not be valid"), "{refused:?}");
    scene.create(NewGroup { traffic_sources: one(&arn), ..pool }).expect("a group");
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
    scene.create(NewGroup { traffic_sources: one(&arn), hooks, ..scene.pool((0, 1, 4)) }).expect("a group");
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
    scene.with(|region| region.attach_traffic_sources(&pool, &one(&web))).expect("attached");
    assert_eq!(states(&scene, &web), [TargetState::Initial]);
    let refused = refusal(scene.with(|region| region.detach_traffic_sources(&pool, &one(&tls))));
    assert_eq!(refused.0, "ValidationError");
    scene.with(|region| region.detach_traffic_sources(&pool, &one(&web))).expect("detached");
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
    scene.create(NewGroup { traffic_sources: one(&arn), ..scene.pool((0, 1, 4)) }).expect("a group");
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
    scene.create(NewGroup { traffic_sources: one(&arn), hooks, ..scene.pool((0, 2, 4)) }).expect("a group");
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
    scene.create(NewGroup { traffic_sources: one(&arn), ..scene.pool((0, 1, 4)) }).expect("a group");
    scene.wait(60);
    let id = scene.in_service().remove(0);
    scene.region.kill_instance(&id).expect("killed");
    let health = scene.region.target_health(&arn).expect("a target group");
    assert_eq!((health[&id].state_name(), health[&id].state.serves()), ("unused", false));
}

/// "When Amazon EC2 Auto Scaling needs to terminate an instance, it automatically deregisters the instance from the target
/// group before termination": from one of VPC Lattice, and in the same way from a Classic Load Balancer.
#[test]
fn instances_are_registered_with_every_kind_of_traffic_source_and_drain_there() {
    let scene = scene();
    let sources = BTreeSet::from([classic(&scene, "old"), lattice(&scene)]);
    let hooks = vec![super::hooks::drain()];
    let group = NewGroup { traffic_sources: sources.clone(), hooks, ..scene.pool((0, 1, 4)) };
    scene.create(group).expect("a group");
    scene.wait(60);
    let all_are = |state: TargetState| sources.iter().all(|source| states_behind(&scene, source) == [state]);
    assert!(all_are(TargetState::Healthy));
    let id = scene.in_service().remove(0);
    scene.with(|region| region.terminate_member(&id, Decrement::Shrink)).expect("accepted");
    scene.wait(299);
    assert!(all_are(TargetState::Draining));
    assert_eq!(lifecycles(&scene), [LifecycleState::Terminating]);
    scene.wait(2);
    assert_eq!(lifecycles(&scene), [LifecycleState::TerminatingWait]);
}

/// Auto Scaling User Guide, "Quotas for Amazon EC2 Auto Scaling"; API Reference, `AttachTrafficSources`.
#[test]
fn traffic_sources_have_to_exist_and_are_limited_by_their_kind() {
    let scene = scene();
    target_group(&scene, "web");
    scene.settled_pool((0, 1, 4));
    let pool = name("pool");
    let attach = |sources: BTreeSet<TrafficSource>| {
        scene.with(|region| region.attach_traffic_sources(&pool, &sources))
    };
    // An Application or Network Load Balancer is no Classic one.
    for (kind, unknown) in
        [(TrafficSourceKind::ClassicLoadBalancer, "web"), (TrafficSourceKind::LatticeTargetGroup, "arn:none")]
    {
        let refused = refusal(attach([kind.with(unknown)].into()));
        assert_eq!(refused.0, "ValidationError", "{refused:?}");
        assert!(refused.1.starts_with("Provided "), "{refused:?}");
    }
    let all: Vec<TrafficSource> = (0..6).map(|_| lattice(&scene)).collect();
    attach(all[..5].iter().cloned().collect()).expect("five");
    assert_eq!(refusal(attach([all[5].clone()].into())).0, "LimitExceeded");
    let detach = |source: &TrafficSource| {
        scene.with(|region| region.detach_traffic_sources(&pool, &[source.clone()].into()))
    };
    assert_eq!(refusal(detach(&all[5])).0, "ValidationError", "it is not attached");
    detach(&all[0]).expect("detached");
    attach([all[5].clone()].into()).expect("there is room");
}

/// "VPC_LATTICE": a health check type of its own.
#[test]
fn checks_of_vpc_lattice_count_only_if_the_group_asks_for_them() {
    let scene = scene();
    let sources = [lattice(&scene)].into();
    scene.create(NewGroup { traffic_sources: sources, ..scene.pool((0, 1, 4)) }).expect("a group");
    scene.wait(60);
    let id = scene.in_service().remove(0);
    unhealthy(&scene, &id);
    let checks = |kind: &str| {
        let settings =
            SettingsChange { health_check_type: Some(kind.to_owned()), ..SettingsChange::default() };
        let update = GroupUpdate { settings, ..GroupUpdate::default() };
        scene.with(|region| region.update_group(&name("pool"), update)).expect("updated");
        scene.wait(600);
        scene.group().members.get(&id).map(|member| member.health)
    };
    assert_eq!(checks("ELB"), Some(Health::Healthy));
    assert_ne!(checks("VPC_LATTICE"), Some(Health::Healthy));
}
