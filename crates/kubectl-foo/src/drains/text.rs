//! Prints drains.

use super::{Drain, Drains, Source, Wait};
use crate::text::{duration, line, one_line, table};
use jiff::Timestamp;

/// The drains as text at that moment. Ends with a new line.
pub fn text(all: &Drains, now: Timestamp) -> String {
    if all.drains.is_empty() {
        return "no Machine is being deleted\n".to_owned();
    }
    all.drains.iter().map(|drain| one(drain, now)).collect::<Vec<_>>().join("\n")
}

fn one(drain: &Drain, now: Timestamp) -> String {
    let Drain { namespace, cluster, machine, .. } = drain;
    let node = drain.node.as_ref().map_or_else(|| ", no Node".to_owned(), |node| format!(", Node {node}"));
    let since = drain.since.map(|since| format!(", being deleted for {}", duration(since, now)));
    let mut text = String::new();
    line(
        &mut text,
        &format!("Machine {namespace}/{machine} of Cluster {cluster}{node}{}", since.unwrap_or_default()),
    );
    let message = one_line(&drain.message);
    match (drain.reason.is_empty(), message.is_empty()) {
        (true, _) => line(&mut text, "  Cluster API has not begun with it"),
        (false, false) => line(&mut text, &format!("  {}: {message}", drain.reason)),
        (false, true) => line(&mut text, &format!("  {}", drain.reason)),
    }
    if let Some(deadline) = &drain.deadline {
        line(&mut text, &format!("  until {:.0}, then {}", deadline.at, deadline.then));
    }
    let row = |wait: &Wait| [wait.pod.clone(), wait.budget.clone().unwrap_or_default(), one_line(&wait.why)];
    for row in table(["POD", "BUDGET", "WHY"], drain.pods.iter().map(row).collect()) {
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
