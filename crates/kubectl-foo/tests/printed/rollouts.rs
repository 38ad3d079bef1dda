//! Roll-outs.

use crate::pools::pool;
use crate::{condition, is_printed};
use foo_api::FooMachinePool;
use foo_api::capi::MachinePool;
use kubectl_foo::rollout::history::History;
use kubectl_foo::rollout::{Outcome, Rollout, Rollouts, text};
use kubectl_foo::terminal::Width;
use serde_json::json;

fn rolling(name: &str, phase: &str, updated: i32, outdated: i32, message: &str) -> FooMachinePool {
    let mut pool = pool(&[]);
    pool.metadata.name = Some(name.to_owned());
    let rollout = json!({
        "phase": phase, "targetHash": "v1-b", "updated": updated, "outdated": outdated, "message": message,
    });
    pool.status.as_mut().unwrap().rollout = Some(serde_json::from_value(rollout).unwrap());
    pool
}

fn annotated(mut pool: FooMachinePool, annotation: &str, value: &str) -> FooMachinePool {
    let annotation = format!("infrastructure.foo.com/{annotation}");
    pool.metadata.annotations.get_or_insert_default().insert(annotation, value.to_owned());
    pool
}

#[test]
fn roll_outs_are_shown_with_what_they_wait_for_and_what_failed() {
    let failed =
        "v1-b: workers-0a1b did not become available\nstuck v1-a: nor did workers-0c2d\nover v1-0: long ago";
    let halted = rolling("halted", "Halted", 1, 2, "workers-0a1b did not become available");
    let mut edited = rolling("edited", "Finished", 3, 0, "");
    edited.metadata.generation = Some(3);
    let mut imageless = rolling("imageless", "Finished", 3, 0, "");
    let missing = condition("LaunchTemplateReady", "False", "ImageNotFound", "no image ami-1");
    imageless.status.as_mut().unwrap().conditions = vec![serde_json::from_value(missing).unwrap()];
    let retried = rolling("retried", "RolledBack", 3, 0, "rolled back");
    let mut fresh = rolling("fresh", "Finished", 0, 0, "");
    fresh.status = None;
    let pools = vec![
        rolling("finished", "Finished", 3, 0, ""),
        rolling("going", "Rolling", 1, 2, "waiting for Cluster API\nto drain workers-0a1b"),
        annotated(rolling("stopping", "Rolling", 1, 2, "waiting for AWS"), "rollout-paused", ""),
        annotated(halted, "quarantine", failed),
        rolling("by-hand", "OnDelete", 1, 2, "delete outdated Machines"),
        edited,
        imageless,
        annotated(retried, "quarantine", "over v1-0: long ago"),
        fresh,
    ];
    let rollouts: Vec<Rollout> = pools.iter().map(|pool| Rollout::of(pool, None)).collect();
    let outcomes: Vec<Outcome> = rollouts.iter().map(Rollout::outcome).collect();
    let pending = Outcome::Pending;
    let (finished, failed) = (Outcome::Finished, Outcome::Failed);
    let expected = [finished, pending, pending, failed, pending, pending, pending, pending, pending];
    assert_eq!(outcomes, expected);
    is_printed("rollouts", &text(&Rollouts { rollouts }, Width::Narrow));
}

/// The version of the MachinePool is not part of the generation of the pool.
#[test]
fn a_roll_out_is_not_finished_before_the_version_was_seen() {
    let machine_pool = |version: &str| -> MachinePool {
        serde_json::from_value(json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachinePool", "metadata": {"name": "workers"},
            "spec": {"template": {"spec": {"version": version}}},
        }))
        .unwrap()
    };
    let mut finished = rolling("workers", "Finished", 3, 0, "");
    finished.status.as_mut().unwrap().version = Some("v1.34.0".to_owned());
    let outcome = |version| Rollout::of(&finished, Some(&machine_pool(version))).outcome();
    assert_eq!(outcome("v1.34.0"), Outcome::Finished);
    assert_eq!(outcome("v1.35.0"), Outcome::Pending);
}

#[test]
fn wide_roll_outs_have_what_new_instances_are_launched_from() {
    let mut going = rolling("going", "Rolling", 1, 2, "waiting for AWS");
    let status = going.status.as_mut().unwrap();
    let template = json!({"id": "lt-0a1b", "version": 7, "specHash": "v1-b"});
    status.launch_template = Some(serde_json::from_value(template).unwrap());
    (status.instance_type, status.version) = (Some("m7i.large".to_owned()), Some("v1.34.0".to_owned()));
    let going = annotated(going, "quarantine", "over v1-0: long ago");
    let mut fresh = rolling("fresh", "Finished", 0, 0, "");
    fresh.status = None;
    let rollouts = [going, fresh].iter().map(|pool| Rollout::of(pool, None)).collect();
    is_printed("rollouts-wide", &text(&Rollouts { rollouts }, Width::Wide));
}

#[test]
fn the_history_shows_versions_their_instances_and_what_changed() {
    let version = |number: i64, instances: u32, changes: &[&str]| {
        json!({
            "number": number, "created": format!("2026-11-2{number}T00:00:00Z"), "instances": instances,
            "launches": number == 3, "hash": format!("v1-{number}"), "failed": number == 4,
            "image": format!("ami-{number}"), "instanceType": "m7i.large", "changes": changes,
        })
    };
    let versions = [
        version(4, 0, &["ImageId: ami-3 -> ami-4", "UserData"]),
        version(3, 2, &["ImageId: ami-2 -> ami-3", "InstanceType: m7i.xlarge -> m7i.large"]),
        version(2, 1, &["MetadataOptions"]),
        version(1, 0, &[]),
    ];
    let history = json!({
        "namespace": "team", "pool": "workers", "region": "eu-central-1", "launchTemplate": "lt-0a1b", "versions": versions,
    });
    let history: History = serde_json::from_value(history).unwrap();
    is_printed("history", &kubectl_foo::rollout::history::text(&history, Width::Narrow));
    is_printed("history-wide", &kubectl_foo::rollout::history::text(&history, Width::Wide));
}
