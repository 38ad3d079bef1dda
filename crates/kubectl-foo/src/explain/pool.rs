//! What a pool waits for, Machine by Machine.

use super::lines::{heading, others, verdict, warnings};
use super::read::Facts;
use crate::capi::Machine;
use crate::text::{age, duration, line, reported, section, table};
use foo_api::conditions::find;
use foo_api::{FooMachine, FooMachinePool};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{Resource as _, ResourceExt as _};
use std::collections::BTreeMap;

/// Conditions that are well when they are True. Of all others a False for a good reason is not printed.
pub(crate) const WELL_WHEN_TRUE: [&str; 6] = [
    "CredentialsReady",
    "LaunchTemplateReady",
    "AutoScalingGroupReady",
    "CapacityAvailable",
    "WarmPoolReady",
    "CapacityBlockReady",
];

/// The explanation of one pool at that moment. Ends with a new line.
pub fn explain(facts: &Facts, now: Timestamp) -> String {
    let pool = &facts.pool;
    let all = pool_conditions(pool);
    let group = pool.status.as_ref().and_then(|status| status.auto_scaling_group.as_ref());
    let mut text = heading(pool, group.map(|group| format!("Auto Scaling group {}", group.name)));
    line(&mut text, &sizes(pool));
    let seen = pool.status.as_ref().and_then(|status| status.observed_generation);
    line(&mut text, &verdict(pool.meta(), all, seen, now));
    section(&mut text, "Also", &others(all, &WELL_WHEN_TRUE, now));
    section(&mut text, "Machines", &machines(facts, now));
    section(&mut text, "Warnings of the last hour", &warnings(&facts.events, now));
    text
}

/// How many instances are desired, exist, are ready and up to date, and how many wait in a warm pool.
pub(crate) fn sizes(pool: &FooMachinePool) -> String {
    let Some(status) = &pool.status else {
        return "the manager has not reported on it yet".to_owned();
    };
    let counts =
        [status.desired_replicas, status.replicas, status.ready_replicas, status.up_to_date_replicas];
    if counts.iter().all(Option::is_none) {
        return "number of instances: not known yet".to_owned();
    }
    let count = |count: Option<i32>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    let warm = status.warm_pool.map(|pool| format!(", {} in the warm pool", pool.size)).unwrap_or_default();
    format!(
        "{} desired, {} current, {} ready, {} up to date{warm}",
        count(status.desired_replicas),
        count(status.replicas),
        count(status.ready_replicas),
        count(status.up_to_date_replicas)
    )
}

fn machines(facts: &Facts, now: Timestamp) -> Vec<String> {
    let mut rows = Vec::new();
    let named: BTreeMap<String, &Machine> =
        facts.machines.iter().map(|machine| (machine.name_any(), machine)).collect();
    let mut settled = 0;
    for foo_machine in &facts.foo_machines {
        let name = foo_machine.name_any();
        let why = why(foo_machine, named.get(&name).copied(), now);
        if why.is_empty() {
            settled += 1;
            continue;
        }
        let status = foo_machine.status.clone().unwrap_or_default();
        let zone = status.failure_domain.unwrap_or_default();
        let row = [
            name,
            foo_machine.spec.instance_id.clone(),
            status.instance_type.unwrap_or_default(),
            zone,
            why.join("; "),
        ];
        rows.push(row);
    }
    let mut lines = table(["NAME", "INSTANCE", "TYPE", "ZONE", "WHY"], rows);
    match (settled, lines.is_empty()) {
        (0, _) => {}
        (all, true) => lines.push(format!("all {all} are InService, Ready and up to date")),
        (1, false) => lines.push("1 more is InService, Ready and up to date".to_owned()),
        (others, false) => lines.push(format!("{others} more are InService, Ready and up to date")),
    }
    lines
}

/// What is unusual about a Machine; empty if nothing is.
pub(crate) fn why(foo_machine: &FooMachine, machine: Option<&Machine>, now: Timestamp) -> Vec<String> {
    let mut why = Vec::new();
    let status = foo_machine.status.clone().unwrap_or_default();
    if let Some(hook) = &status.drain_hook {
        why.push(format!(
            "AWS is terminating it; termination waits for its drain, until {} at the latest",
            hook.deadline.0
        ));
    }
    let is_going = foo_machine.metadata.deletion_timestamp.is_some();
    let Some(machine) = machine else {
        let word = if is_going {
            "it has no Machine and is being deleted; its instance is terminated"
        } else {
            "Cluster API has not created a Machine for it yet"
        };
        why.push(word.to_owned());
        return why;
    };
    let of_machine = machine.status.clone().unwrap_or_default();
    if machine.metadata.deletion_timestamp.is_some() {
        let deleting = find(&of_machine.conditions, "Deleting");
        why.push(deleting.map_or_else(|| "its Machine is being deleted".to_owned(), reported));
        return why;
    }
    if is_going {
        why.push("its FooMachine was deleted; its Machine is deleted first".to_owned());
    }
    match status.lifecycle_state.as_deref() {
        Some("InService") => {}
        Some(state) => why.push(format!("instance is {state}")),
        // The manager writes no status of an instance before it is in service.
        None => why.push("instance is being launched".to_owned()),
    }
    why.extend(node(machine, now));
    if find(&of_machine.conditions, "OwnerRemediated").is_some_and(|it| it.status == "False") {
        // Another condition reports what the health check found.
        let seen = find(&of_machine.conditions, "HealthCheckSucceeded").filter(|it| it.status == "False");
        let seen = seen.map(|seen| format!(": {}", reported(seen))).unwrap_or_default();
        why.push(format!("its MachineHealthCheck found it unhealthy{seen}"));
    }
    match find(&status.conditions, "UpToDate").map(|it| it.status.as_str()) {
        Some("True") => {}
        Some("False") => why.push("outdated".to_owned()),
        _ if status.lifecycle_state.is_some() => why.push("unknown whether it is up to date".to_owned()),
        _ => {}
    }
    why
}

/// What is wrong with the Node of a Machine.
fn node(machine: &Machine, now: Timestamp) -> Option<String> {
    let status = machine.status.clone().unwrap_or_default();
    let Some(node) = status.node_ref else {
        let since = machine.metadata.creation_timestamp.as_ref().map(|time| time.0);
        let since = since.map(|since| format!(" for {}", duration(since, now))).unwrap_or_default();
        return Some(format!("no Node has joined{since}"));
    };
    let Some(ready) = find(&status.conditions, "NodeReady") else {
        return Some(format!("Cluster API has not checked Node {} yet", node.name));
    };
    let (since, reported) = (age(ready, now), reported(ready));
    match ready.status.as_str() {
        "True" => None,
        "False" => Some(format!("Node {} has not been Ready for {since}: {reported}", node.name)),
        _ => Some(format!("readiness of Node {} has been unknown for {since}: {reported}", node.name)),
    }
}

fn pool_conditions(pool: &FooMachinePool) -> &[Condition] {
    pool.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default()
}
