//! Prints drains.

use super::{Drain, Drains, Source, Wait};
use crate::terminal::Width;
use crate::text::{duration, line, one_line, table};
use jiff::Timestamp;

/// The drains as text at that moment. Ends with a new line.
pub fn text(all: &Drains, width: Width, now: Timestamp) -> String {
    if all.drains.is_empty() {
        return "no Machine is being deleted\n".to_owned();
    }
    all.drains.iter().map(|drain| one(drain, width, now)).collect::<Vec<_>>().join("\n")
}

fn one(drain: &Drain, width: Width, now: Timestamp) -> String {
    let Drain { namespace, cluster, machine, .. } = drain;
    let node = drain.node.as_ref().map_or_else(|| ", no Node".to_owned(), |node| format!(", Node {node}"));
    let since = drain.since.map(|since| format!(", being deleted for {}", duration(since, now)));
    let mut text = String::new();
    line(
        &mut text,
        &format!("Machine {namespace}/{machine} of Cluster {cluster}{node}{}", since.unwrap_or_default()),
    );
    if width == Width::Wide {
        line(&mut text, &instance(drain, now));
    }
    let message = one_line(&drain.message);
    match (drain.reason.is_empty(), message.is_empty()) {
        (true, _) => line(&mut text, "  Cluster API has not begun with it"),
        (false, false) => line(&mut text, &format!("  {}: {message}", drain.reason)),
        (false, true) => line(&mut text, &format!("  {}", drain.reason)),
    }
    if let Some(deadline) = &drain.deadline {
        line(&mut text, &format!("  until {:.0}, then {}", deadline.at, deadline.then));
    }
    for row in pods(drain, width, now) {
        line(&mut text, &format!("  {row}"));
    }
    match drain.unnamed_pods {
        0 if drain.source == Source::WorkloadCluster && drain.pods.is_empty() => {
            line(&mut text, "  no Pod is left that the drain waits for");
        }
        0 => {}
        1 => line(&mut text, "  and 1 more Pod, which Cluster API does not name"),
        count => line(&mut text, &format!("  and {count} more Pods, which Cluster API does not name")),
    }
    text
}

/// The instance of a Machine, and since when its Node has been drained. Empty if neither is known.
fn instance(drain: &Drain, now: Timestamp) -> String {
    let began = drain.drain_since.map(|since| format!("drain began {} ago", duration(since, now)));
    let known: Vec<String> = drain.provider_id.clone().into_iter().chain(began).collect();
    if known.is_empty() { String::new() } else { format!("  {}", known.join(", ")) }
}

/// Pods as a table. What Cluster API reports of them has no further columns.
fn pods(drain: &Drain, width: Width, now: Timestamp) -> Vec<String> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    if width == Width::Narrow || drain.source == Source::ClusterApi {
        let row = |wait: &Wait| [wait.pod.clone(), text(&wait.budget), one_line(&wait.why)];
        return table(["POD", "BUDGET", "WHY"], drain.pods.iter().map(row).collect());
    }
    let row = |wait: &Wait| {
        let age = wait.created.map(|created| duration(created, now)).unwrap_or_default();
        [wait.pod.clone(), age, text(&wait.owner), text(&wait.budget), one_line(&wait.why)]
    };
    table(["POD", "AGE", "OWNER", "BUDGET", "WHY"], drain.pods.iter().map(row).collect())
}
