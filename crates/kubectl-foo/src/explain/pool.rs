//! What a pool waits for, and why, in words. Everything printed comes from an object; nothing is guessed.

use crate::gather::Facts;
use crate::terminal::harmless;
use comfy_table::{Table, presets};
use foo_api::capi::Machine;
use foo_api::conditions::find;
use foo_api::names::CLUSTER_NAME_LABEL;
use foo_api::{FooMachine, FooMachinePool};
use foo_model::Reason;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt as _;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Older warnings are not shown.
const RECENT: jiff::SignedDuration = jiff::SignedDuration::from_hours(1);
/// If a pool is not ready and its status is older than this, the output says so: either nothing has changed,
/// or no manager is at work. The user has to find out which.
const STALE: jiff::SignedDuration = jiff::SignedDuration::from_mins(10);
/// Maximum number of warnings shown.
const WARNINGS: usize = 5;
/// Conditions that are well when they are True. Of all others a False for a good reason is nothing to tell.
const WELL_WHEN_TRUE: [&str; 4] =
    ["CredentialsReady", "LaunchTemplateReady", "AutoScalingGroupReady", "CapacityAvailable"];

/// The explanation of one pool at that moment. Ends with a new line.
pub fn explain(facts: &Facts, now: Timestamp) -> String {
    let mut text = heading(&facts.pool);
    line(&mut text, &sizes(&facts.pool));
    line(&mut text, &verdict(&facts.pool, now));
    section(&mut text, "Also", &conditions(&facts.pool, now));
    section(&mut text, "Machines", &machines(facts, now));
    section(&mut text, "Warnings of the last hour", &warnings(&facts.events, now));
    harmless(&text)
}

fn heading(pool: &FooMachinePool) -> String {
    let cluster = pool.labels().get(CLUSTER_NAME_LABEL);
    let cluster = cluster.map(|cluster| format!(" of Cluster {cluster}")).unwrap_or_default();
    let group = pool.status.as_ref().and_then(|status| status.auto_scaling_group.as_ref());
    let group = group.map(|group| format!(", Auto Scaling group {}", group.name)).unwrap_or_default();
    format!("FooMachinePool {}/{}{cluster}{group}\n", pool.namespace().unwrap_or_default(), pool.name_any())
}

fn sizes(pool: &FooMachinePool) -> String {
    let Some(status) = &pool.status else {
        return "the manager has not reported on it yet".to_owned();
    };
    let counts =
        [status.desired_replicas, status.replicas, status.ready_replicas, status.up_to_date_replicas];
    if counts.iter().all(Option::is_none) {
        return "number of instances: not known yet".to_owned();
    }
    let count = |count: Option<i32>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    format!(
        "{} desired, {} current, {} ready, {} up to date",
        count(status.desired_replicas),
        count(status.replicas),
        count(status.ready_replicas),
        count(status.up_to_date_replicas)
    )
}

fn verdict(pool: &FooMachinePool, now: Timestamp) -> String {
    let Some(ready) = find(pool_conditions(pool), "Ready") else { return String::new() };
    let behind = behind(pool);
    // The status of a healthy pool is not written again: there an old one is no reason to worry.
    let written = written(pool).filter(|at| now.duration_since(*at) >= STALE);
    let stale = written.filter(|_| behind.is_some() || ready.status != "True");
    let stale = stale.map(|at| format!("the manager last wrote this status {} ago", duration(at, now)));
    let caution = behind.into_iter().chain(stale).collect::<Vec<_>>().join("; ");
    let caution = if caution.is_empty() { caution } else { format!(" ({caution})") };
    if ready.status == "True" {
        format!("Ready for {}{caution}{}", age(ready, now), asides(ready, pool_conditions(pool)))
    } else {
        format!("Not ready for {}: {}{caution}", age(ready, now), said(ready))
    }
}

/// Warnings in what `Ready` says that no other condition repeats.
fn asides(ready: &Condition, all: &[Condition]) -> String {
    let message = one_line(&ready.message);
    let is_repeated = |warning: &&str| all.iter().any(|other| one_line(&other.message) == *warning);
    let warnings = message.split("; warning: ").skip(1).filter(|warning| !is_repeated(warning));
    warnings.fold(String::new(), |asides, warning| format!("{asides}; warning: {warning}"))
}

/// Whether the status is about an older generation of the spec.
fn behind(pool: &FooMachinePool) -> Option<String> {
    let stands = pool.metadata.generation?;
    let seen = pool.status.as_ref().and_then(|status| status.observed_generation);
    let seen = seen.map_or_else(|| "none".to_owned(), |seen| seen.to_string());
    (seen != stands.to_string()).then(|| {
        format!("that is about generation {seen}; the spec has changed since, to generation {stands}")
    })
}

/// When the status was last written, as the API server remembers it.
fn written(pool: &FooMachinePool) -> Option<Timestamp> {
    let writes = pool.metadata.managed_fields.iter().flatten();
    let of_status = writes.filter(|write| write.subresource.as_deref() == Some("status"));
    of_status.filter_map(|write| write.time.as_ref()).map(|time| time.0).max()
}

/// Every other condition that differs from a healthy pool's.
fn conditions(pool: &FooMachinePool, now: Timestamp) -> Vec<String> {
    let all = pool_conditions(pool);
    let ready = find(all, "Ready").map(said);
    let is_telling = |condition: &&Condition| {
        let at_rest = if WELL_WHEN_TRUE.contains(&condition.type_.as_str()) {
            condition.status == "True"
        } else {
            condition.status == "False" && Reason::parse(&condition.reason).is_some_and(Reason::is_good)
        };
        condition.type_ != "Ready" && !at_rest && ready.as_ref() != Some(&said(condition))
    };
    let told = |condition: &Condition| {
        format!(
            "{} has been {} for {}: {}",
            condition.type_,
            condition.status,
            age(condition, now),
            said(condition)
        )
    };
    all.iter().filter(is_telling).map(told).collect()
}

fn machines(facts: &Facts, now: Timestamp) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["NAME", "INSTANCE", "TYPE", "ZONE", "WHY"]);
    let named: BTreeMap<String, &Machine> =
        facts.machines.iter().map(|machine| (machine.name_any(), machine)).collect();
    let mut at_rest = 0;
    for foo_machine in &facts.foo_machines {
        let name = foo_machine.name_any();
        let why = why(foo_machine, named.get(&name).copied(), now);
        if why.is_empty() {
            at_rest += 1;
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
        table.add_row(row);
    }
    let mut lines: Vec<String> = if table.is_empty() {
        Vec::new()
    } else {
        table.lines().map(|line| line.trim().to_owned()).collect()
    };
    match (at_rest, lines.is_empty()) {
        (0, _) => {}
        (all, true) => lines.push(format!("all {all} are InService, Ready and up to date")),
        (1, false) => lines.push("1 more is InService, Ready and up to date".to_owned()),
        (others, false) => lines.push(format!("{others} more are InService, Ready and up to date")),
    }
    lines
}

/// What is unusual about a Machine; empty if nothing is.
fn why(foo_machine: &FooMachine, machine: Option<&Machine>, now: Timestamp) -> Vec<String> {
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
        why.push(deleting.map_or_else(|| "its Machine is being deleted".to_owned(), said));
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
        // Another condition says what the health check found.
        let seen = find(&of_machine.conditions, "HealthCheckSucceeded").filter(|it| it.status == "False");
        let seen = seen.map(|seen| format!(": {}", said(seen))).unwrap_or_default();
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
    let (since, said) = (age(ready, now), said(ready));
    match ready.status.as_str() {
        "True" => None,
        "False" => Some(format!("Node {} has not been Ready for {since}: {said}", node.name)),
        _ => Some(format!("readiness of Node {} has been unknown for {since}: {said}", node.name)),
    }
}

/// The latest first, without duplicates.
fn warnings(events: &[Event], now: Timestamp) -> Vec<String> {
    let mut recent: Vec<(Timestamp, String)> = events
        .iter()
        .filter(|event| event.type_.as_deref() == Some("Warning"))
        .filter_map(|event| {
            let at = last_seen(event)?;
            let reason = event.reason.as_deref().unwrap_or_default();
            let message = one_line(event.message.as_deref().unwrap_or_default());
            (now.duration_since(at) < RECENT).then(|| (at, format!("{reason}: {message}")))
        })
        .collect();
    recent.sort_by(|a, b| b.cmp(a));
    let mut told = BTreeSet::new();
    recent.retain(|(_, text)| told.insert(text.clone()));
    let more = recent.len().saturating_sub(WARNINGS);
    let told =
        recent.into_iter().take(WARNINGS).map(|(at, text)| format!("{} ago {text}", duration(at, now)));
    told.chain((more > 0).then(|| format!("and {more} more"))).collect()
}

fn last_seen(event: &Event) -> Option<Timestamp> {
    let series =
        event.series.as_ref().and_then(|series| series.last_observed_time.as_ref()).map(|time| time.0);
    let last = event.last_timestamp.as_ref().map(|time| time.0);
    let single = event.event_time.as_ref().map(|time| time.0);
    series.or(last).or(single)
}

fn pool_conditions(pool: &FooMachinePool) -> &[Condition] {
    pool.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default()
}

fn one_line(message: &str) -> String {
    message.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// `Reason: message`, in one line.
fn said(condition: &Condition) -> String {
    let message = one_line(&condition.message);
    if message.is_empty() { condition.reason.clone() } else { format!("{}: {message}", condition.reason) }
}

fn age(condition: &Condition, now: Timestamp) -> String {
    duration(condition.last_transition_time.0, now)
}

/// As kubectl shows ages: `45s`, `12m`, `5h`, `3d`.
fn duration(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(since).as_secs().max(0);
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

fn line(text: &mut String, line: &str) {
    if !line.is_empty() {
        text.push_str(line);
        text.push('\n');
    }
}

fn section(text: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        // A String takes everything.
        let _written = writeln!(text, "{title}:");
        for one in lines {
            line(text, &format!("  {one}"));
        }
    }
}
