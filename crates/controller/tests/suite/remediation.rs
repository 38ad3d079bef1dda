//! Machines that MachineHealthCheck gave up on, and those whose Node never joins, are replaced.

use crate::support::{NS, World};
use foo_api::FooMachinePoolSpec;
use foo_api::capi::Machine;
use foo_api::names::SKIP_REMEDIATION_ANNOTATION;
use foo_simulator_core::core::mishaps::{LaunchMishap, Mishap};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::ResourceExt;
use std::time::Duration;

impl World {
    /// MachineHealthCheck marks a Machine for remediation.
    fn marks_for_remediation(&self, name: &str) {
        let condition = |kind: &str, message: &str| Condition {
            type_: kind.to_owned(),
            status: "False".to_owned(),
            reason: "UnhealthyNode".to_owned(),
            message: message.to_owned(),
            last_transition_time: Time(k8s_openapi::jiff::Timestamp::UNIX_EPOCH),
            observed_generation: None,
        };
        let edit = |machine: &mut Machine| {
            let status = machine.status.get_or_insert_default();
            status
                .conditions
                .push(condition("HealthCheckSucceeded", "Health check failed: Ready on Node is False"));
            status.conditions.push(condition("OwnerRemediated", ""));
        };
        self.server.edit(NS, name, edit).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn peers_capi_11392_machines_marked_by_machine_health_check_are_replaced_one_at_a_time() {
    let world = World::new().await;
    let pool = world.pool("p").of(6).await;
    world.drains_take(Duration::from_mins(2));
    let unhealthy: Vec<String> = pool.machines()[..2].iter().map(ResourceExt::name_any).collect();
    for name in &unhealthy {
        world.marks_for_remediation(name);
    }
    world.waits(Duration::from_mins(1)).await;
    let going = |name: &String| {
        let machine = world.server.get::<Machine>(NS, name);
        machine.is_none_or(|machine| machine.metadata.deletion_timestamp.is_some())
    };
    assert_eq!(unhealthy.iter().filter(|name| going(name)).count(), 1, "rollout.maxInFlight is 1");
    let condition = pool.condition("Remediating");
    assert_eq!(condition.status, "True");
    assert!(world.events_on("p").contains(&"MachineRemediated".to_owned()));
    world.settles().await;
    pool.is_of(6);
    assert!(unhealthy.iter().all(|name| world.server.get::<Machine>(NS, name).is_none()));
    assert_eq!(pool.state_of("Remediating"), "False NotRemediating");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_remediated_while_too_many_are_unhealthy_or_for_skipped_machines() {
    let world = World::new().await;
    let pool = world.pool("p").of(5).await;
    let names: Vec<String> = pool.machines().iter().map(ResourceExt::name_any).collect();
    for name in &names[..3] {
        world.marks_for_remediation(name);
    }
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(pool.machines().len(), 5, "3 of 5 are more than 40 %");
    assert_eq!(pool.condition("Remediating").reason, "TooManyUnhealthy");
    world
        .server
        .edit(NS, &names[0], |machine: &mut Machine| {
            machine.annotations_mut().insert(SKIP_REMEDIATION_ANNOTATION.to_owned(), String::new());
        })
        .unwrap();
    world.settles().await;
    let left: Vec<String> = pool.machines().iter().map(ResourceExt::name_any).collect();
    assert!(left.contains(&names[0]) && !left.contains(&names[1]) && !left.contains(&names[2]), "{left:?}");
    pool.is_of(5);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_never_joins_is_replaced() {
    let world = World::new().await;
    let soon = |spec: &mut FooMachinePoolSpec| {
        spec.remediation.join_timeout_seconds = 600;
        spec.remediation.unhealthy_limit = IntOrString::Int(1);
    };
    let pool = world.pool("p").with(soon).of(2).await;
    let mishap =
        LaunchMishap { group: None, zone: None, skip: 0, times: Some(1), mishap: Mishap::NeverJoins };
    world.region.set_launch_mishaps(vec![mishap]).unwrap();
    pool.scales_to(3);
    world.waits(Duration::from_mins(9)).await;
    assert_eq!((pool.machines().len(), pool.status().ready_replicas), (3, Some(2)));
    world.settles().await;
    pool.is_of(3);
    let events = world.events_on("p");
    assert!(events.contains(&"MachineRemediated".to_owned()), "{events:?}");
}
