//! Objects with something in them that cannot be decoded, written by any user: they block no other object. And watches
//! that receive nothing any more are reported.

use crate::support::{MANAGER, NS, World, objects};
use foo_api::capi::Machine;
use foo_api::pool::Ami;
use foo_api::{FooMachine, FooMachinePool};
use foo_apiserver_fake::{Fault, Verb};
use foo_controller::labels::Watched;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use serde_json::{Value, json};
use std::time::Duration;

const ELSEWHERE: &str = "elsewhere";
/// The API server takes it; `jiff` ends a day earlier.
const LATE: &str = "9999-12-31T23:59:59Z";

/// A FooMachine of another namespace.
fn has_elsewhere(world: &World, name: &str) {
    let spec = foo_api::FooMachineSpec {
        provider_id: "aws:///eu-central-1a/i-0123456789abcdef0".to_owned(),
        instance_id: "i-0123456789abcdef0".to_owned(),
    };
    let mut machine = FooMachine::new(name, spec);
    machine.metadata.namespace = Some(ELSEWHERE.to_owned());
    world.has(&machine);
}

fn late_managed_fields(object: &mut Value) {
    object["metadata"]["managedFields"] = json!([{"manager": "x", "operation": "Update", "apiVersion": "v1", "time": LATE, "fieldsType": "FieldsV1", "fieldsV1": {}}]);
}

#[tokio::test(start_paused = true)]
async fn times_that_cannot_be_decoded_block_no_object() {
    let mut world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let machine = pool.machines()[0].name_any();
    let foo_machine = pool.foo_machines()[0].clone();
    world.server.corrupt::<Secret>(NS, &objects::secret_name("p"), late_managed_fields).unwrap();
    world.server.corrupt::<Machine>(NS, &machine, late_managed_fields).unwrap();
    let late_condition = |object: &mut Value| {
        object["status"]["conditions"][0]["lastTransitionTime"] = json!(LATE);
    };
    world.server.corrupt::<FooMachine>(NS, &foo_machine, late_condition).unwrap();
    world.waits(Duration::from_secs(5)).await;
    world.kills_the_manager();
    world.starts_the_manager();
    world.settles().await;
    assert!(world.missing().is_empty(), "{:?}", world.missing());
    let pool = world.pool("p");
    pool.scales_to(3);
    world.settles().await;
    // The test and its stand-in for core decode as strictly as kube does: the objects with odd times are not in their
    // lists.
    assert_eq!(pool.instances().len(), 3, "{}", world.summary());
    assert_eq!(pool.object().spec.provider_id_list.map(|ids| ids.len()), Some(3));
    assert_eq!(pool.condition("Ready").message, "3 of 3 instances in service");
    assert_eq!(pool.foo_machines().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_machine_stops_the_pools_of_its_namespace_only() {
    let mut world = World::new().await;
    world.pool("p").of(2).await;
    has_elsewhere(&world, "odd");
    world.server.corrupt::<FooMachine>(ELSEWHERE, "odd", |object| object["spec"] = json!("none")).unwrap();
    world.kills_the_manager();
    world.starts_the_manager();
    world.settles().await;
    assert!(world.missing().is_empty(), "{:?}", world.missing());
    let pool = world.pool("p");
    pool.scales_to(3);
    world.settles().await;
    pool.is_of(3);

    // One of its own namespace: nothing is done, and the pool reports why.
    let spec = world.server.get_raw::<FooMachine>(NS, &pool.foo_machines()[0]).unwrap()["spec"].clone();
    let name = pool.foo_machines()[0].clone();
    world.server.corrupt::<FooMachine>(NS, &name, |object| object["spec"] = json!("none")).unwrap();
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(pool.condition("Ready").reason, "UnreadableObject", "{}", world.summary());
    assert!(pool.condition("Ready").message.contains(&name), "{}", pool.condition("Ready").message);
    let writes = world.aws_writes();
    pool.scales_to(1);
    world.waits(Duration::from_mins(20)).await;
    assert_eq!(world.aws_writes(), writes, "nothing is decided without it");
    assert!(world.server.get_raw::<FooMachinePool>(NS, "p").is_some());

    // A user repairs it.
    world.server.corrupt::<FooMachine>(NS, &name, |object| object["spec"] = spec).unwrap();
    world.settles().await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn a_watch_without_a_list_makes_the_manager_unready_until_it_has_one() {
    let world = World::new().await;
    world.pool("p").of(1).await;
    // Nothing happens for long: that is no alarm.
    world.waits(Duration::from_mins(40)).await;
    assert!(world.missing().is_empty(), "{:?}", world.missing());
    let silence = || world.metrics().pulses().silences()[&Watched::Machine];
    assert!(silence() < Duration::from_mins(2), "{:?}", silence());

    let down = Fault::unavailable().on(Verb::Watch).on(Verb::List).kind("Machine").client(MANAGER);
    let injected = world.server.inject(down.times(u64::MAX));
    world.server.watches().kind("Machine").client(MANAGER).close();
    world.waits(Duration::from_mins(12)).await;
    assert!(injected.struck() > 0);
    assert_eq!(world.missing(), ["machines/Machine"]);
    assert!(silence() > Duration::from_mins(10), "{:?}", silence());
    world.server.heal();
    world.waits(Duration::from_mins(2)).await;
    assert!(world.missing().is_empty(), "{:?}", world.missing());
}

#[tokio::test(start_paused = true)]
async fn control_characters_in_a_spec_do_not_block_the_status() {
    let world = World::new().await;
    let pool = world.pool("p").with(|spec| spec.ami = Ami::of_id("ami-\u{93}oops\u{94}\u{85}")).of(1).await;
    assert_eq!(pool.state_of("Ready"), "False ImageNotFound", "{}", world.summary());
    let version = world.server.resource_version();
    world.waits(Duration::from_mins(20)).await;
    assert_eq!(world.server.resource_version(), version, "nothing is written again and again");
}
