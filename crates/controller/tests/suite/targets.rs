//! Target groups of load balancers and other traffic sources: what the health of targets costs and causes.

use crate::support::World;
use foo_api::pool::{FooMachinePoolSpec, TargetHealth};
use foo_model::network::LoadBalancerKind;
use foo_model::{TargetGroupArn, TargetState, TrafficSource, TrafficSourceKind};
use foo_simulator_core::core::network::{NewLoadBalancer, PRIVATE_SUBNETS};
use foo_simulator_core::{Fault, FaultRule};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Another user creates a load balancer with these target groups.
fn load_balancer(world: &World, name: &str, kind: LoadBalancerKind, target_groups: &[&str]) {
    let new = NewLoadBalancer {
        name: name.to_owned(),
        kind,
        subnets: PRIVATE_SUBNETS.map(Into::into).into(),
        groups: BTreeSet::new(),
        internet_facing: false,
        deletion_protection: false,
        target_groups: target_groups.iter().map(|name| (*name).to_owned()).collect(),
        tags: BTreeMap::new(),
    };
    world.region.put_load_balancer(new).unwrap();
}

/// The target group of a new load balancer of another user.
fn target_group(world: &World, name: &str) -> TargetGroupArn {
    load_balancer(world, name, LoadBalancerKind::Network, &[name]);
    let of = format!(":targetgroup/{name}/");
    let find = |region: &mut foo_simulator_core::core::Region| {
        region.network.targeted.keys().find(|arn| arn.contains(&of)).cloned()
    };
    TargetGroupArn::new(world.region.with(find).unwrap().unwrap())
}

/// A pool behind this target group, in which an instance may be unhealthy for so many seconds.
fn behind(arn: &TargetGroupArn, grace_period_seconds: i32) -> impl FnOnce(&mut FooMachinePoolSpec) {
    move |spec| {
        spec.target_groups = Some(vec![arn.to_string()]);
        spec.target_health = Some(TargetHealth { grace_period_seconds, ..TargetHealth::default() });
    }
}

const READ: &str = "DescribeTargetHealth";

#[tokio::test(start_paused = true)]
async fn an_unhealthy_target_is_drained_deregistered_and_replaced() {
    let world = World::new().await;
    let arn = target_group(&world, "web");
    let pool = world.pool("p").with(behind(&arn, 60)).of(2).await;
    pool.is_of(2);
    world.waits(Duration::from_mins(2)).await;
    let failing = pool.instances()[0].clone();
    world.region.set_target_state(&failing, Some(TargetState::Unhealthy)).unwrap();
    world.until("it is replaced", || !pool.instances().contains(&failing)).await;
    // Its connections drain for five minutes.
    world.waits(Duration::from_mins(6)).await;
    world.settles().await;
    pool.is_of(2);
    assert_eq!(world.core.drains().len(), 1);
    let targets = world.region.target_health(&arn).unwrap();
    assert_eq!(targets.keys().collect::<BTreeSet<_>>(), pool.instances().iter().collect());
}

#[tokio::test(start_paused = true)]
async fn the_node_of_an_instance_that_aws_terminates_drains_while_its_connections_do() {
    let world = World::new().await;
    let arn = target_group(&world, "web");
    let pool = world.pool("p").with(behind(&arn, 300)).of(2).await;
    pool.is_of(2);
    world.waits(Duration::from_mins(2)).await;
    world.drains_take(Duration::from_mins(2));
    let taken = pool.instances()[0].clone();
    world.region.find_unhealthy(&taken).unwrap();
    world.until("its Node drains", || !world.core.draining().is_empty()).await;
    let target = || world.region.target_health(&arn).unwrap().get(&taken).map(|it| it.state);
    assert_eq!(target(), Some(TargetState::Draining));
    world.waits(Duration::from_mins(6)).await;
    world.settles().await;
    pool.is_of(2);
    assert_eq!((target(), world.core.drains().len()), (None, 1));
}

/// One call per target group and minute, whatever the number of pools and instances; none for pools without it.
#[tokio::test(start_paused = true)]
async fn pools_behind_one_target_group_share_a_call_a_minute() {
    let world = World::new().await;
    let arn = target_group(&world, "web");
    for name in ["p", "q"] {
        world.pool(name).with(behind(&arn, 300)).of(3).await.is_of(3);
    }
    let plain = world.pool("r").with(|spec| spec.target_groups = Some(vec![arn.to_string()]));
    plain.of(1).await.is_of(1);
    world.waits(Duration::from_mins(5)).await;
    world.forgets();
    world.waits(Duration::from_mins(30)).await;
    let calls = world.aws.calls(READ);
    assert!((25..=35).contains(&calls), "{calls}");
    assert_eq!(world.requests().writes().changing().count(), 0, "nothing changes");
}

#[tokio::test(start_paused = true)]
async fn a_denied_read_of_the_health_is_named_and_replaces_nothing() {
    let world = World::new().await;
    let arn = target_group(&world, "web");
    let pool = world.pool("p").with(behind(&arn, 0)).of(2).await;
    let before = pool.instances();
    let rule = world.aws.add_fault(FaultRule::on(READ, Fault::Denied));
    pool.edits(|spec| spec.instance_type = Some("m6i.large".to_owned()));
    world.waits(Duration::from_mins(10)).await;
    assert!(before.iter().all(|id| pool.instances().contains(id)), "{}", world.summary());
    let message = pool.condition("RollingOut").message;
    assert!(message.ends_with("a read of the health in the target groups of spec.targetGroups"), "{message}");
    assert!(world.summary().contains("elasticloadbalancing:DescribeTargetHealth"), "{}", world.summary());
    world.aws.remove_fault(rule);
    world.until("all are replaced", || before.iter().all(|id| !pool.instances().contains(id))).await;
    world.waits(Duration::from_mins(6)).await;
    world.settles().await;
    pool.is_of(2);
}

/// Classic Load Balancers and VPC Lattice. The group's description shows them: they cost no call while nothing differs.
#[tokio::test(start_paused = true)]
async fn other_traffic_sources_are_attached_repaired_and_detached() {
    let world = World::new().await;
    load_balancer(&world, "old", LoadBalancerKind::Classic, &[]);
    let classic = TrafficSourceKind::ClassicLoadBalancer.with("old");
    let lattice = TrafficSource::LatticeTargetGroup(world.region.put_lattice_target_group().unwrap());
    let pool = world.pool("p").with(|spec| {
        spec.classic_load_balancers = Some(vec!["old".to_owned()]);
        spec.vpc_lattice_target_groups = Some(vec![lattice.identifier().to_owned()]);
    });
    let pool = pool.of(2).await;
    pool.is_of(2);
    let attached = || pool.group().unwrap().traffic_sources;
    assert_eq!(attached(), [classic.clone(), lattice.clone()].into());
    assert_eq!(world.region.source_health(&classic).unwrap().len(), 2, "both instances are registered");
    world.waits(Duration::from_mins(5)).await;
    world.forgets();
    world.waits(Duration::from_mins(30)).await;
    assert_eq!((world.aws_writes(), world.aws.calls(READ)), (0, 0));

    let name = pool.group_name().into();
    let only = [lattice.clone()].into();
    world.region.with(|region| region.detach_traffic_sources(&name, &only)).unwrap().unwrap();
    world.until("it is attached again", || attached().contains(&lattice)).await;
    pool.edits(|spec| spec.classic_load_balancers = Some(Vec::new()));
    world.until("the load balancer is detached", || !attached().contains(&classic)).await;
    // What the spec no longer mentions stays.
    pool.edits(|spec| spec.vpc_lattice_target_groups = None);
    world.settles().await;
    assert_eq!(attached(), only);
    pool.is_of(2);
    pool.is_deleted();
    world.until("the group is deleted", || pool.group().is_none()).await;
    world.settles().await;
    pool.left_nothing();
}
