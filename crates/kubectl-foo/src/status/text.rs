//! Prints the tree as `clusterctl describe` and `kubectl tree` do: a row for each object.

use super::{Branch, Details, Progress, Status};
use crate::terminal::Width;
use crate::text::{duration, one_line, table};
use jiff::Timestamp;

/// Characters in a bar of progress.
const BAR: u32 = 10;

/// The trees as text at that moment. Ends with a new line.
pub fn text(status: &Status, width: Width, now: Timestamp) -> String {
    if status.objects.is_empty() {
        return "no Clusters found\n".to_owned();
    }
    let mut rows = Vec::new();
    for root in &status.objects {
        let name = format!("{} {}/{}", root.kind, root.namespace, root.name);
        rows.push(row(name, root, now));
        below(root, "", now, &mut rows);
    }
    let rows = rows.into_iter();
    let lines = match width {
        Width::Narrow => table(["NAME", "READY", "SINCE", "STATUS"], rows.map(Row::narrow).collect()),
        Width::Wide => table(
            ["NAME", "READY", "SINCE", "TYPE", "ZONE", "NODE", "VERSION", "TEMPLATE", "ARN", "STATUS"],
            rows.map(Row::wide).collect(),
        ),
    };
    lines.join("\n") + "\n"
}

/// One object, or a number of Machines.
struct Row {
    name: String,
    ready: String,
    since: String,
    details: Details,
    status: String,
}

impl Row {
    fn narrow(self) -> [String; 4] {
        [self.name, self.ready, self.since, self.status]
    }

    fn wide(self) -> [String; 10] {
        let Details { instance_type, zone, node, version, launch_template_version, arn } = self.details;
        let template = launch_template_version.map(|version| version.to_string());
        let details = [instance_type, zone, node, version, template, arn].map(Option::unwrap_or_default);
        let [instance_type, zone, node, version, template, arn] = details;
        [self.name, self.ready, self.since, instance_type, zone, node, version, template, arn, self.status]
    }
}

/// The rows of what belongs to an object. `indent` continues the lines of the objects above.
fn below(branch: &Branch, indent: &str, now: Timestamp, rows: &mut Vec<Row>) {
    let well = branch.machines_well.filter(|count| *count > 0);
    let count = branch.objects.len() + usize::from(well.is_some());
    for (index, child) in branch.objects.iter().enumerate() {
        let is_last = index + 1 == count;
        let name = format!("{indent}{} {} {}", if is_last { "└─" } else { "├─" }, child.kind, child.name);
        rows.push(row(name, child, now));
        below(child, &format!("{indent}{}", if is_last { "   " } else { "│  " }), now, rows);
    }
    let name = match (well, branch.objects.is_empty()) {
        (None, _) => return,
        (Some(1), true) => "1 Machine".to_owned(),
        (Some(1), false) => "1 more Machine".to_owned(),
        (Some(count), true) => format!("{count} Machines"),
        (Some(count), false) => format!("{count} more Machines"),
    };
    let status = "InService, Ready and up to date".to_owned();
    rows.push(Row {
        name: format!("{indent}└─ {name}"),
        ready: "True".to_owned(),
        since: String::new(),
        details: Details::default(),
        status,
    });
}

fn row(name: String, branch: &Branch, now: Timestamp) -> Row {
    let summary = Some(branch.summary.clone()).filter(|summary| !summary.is_empty());
    let status: Vec<String> = summary
        .into_iter()
        .chain(branch.progress.iter().map(progress))
        .chain(branch.reasons.iter().map(|reason| one_line(reason)))
        .collect();
    let since = branch.since.map(|since| duration(since, now)).unwrap_or_default();
    Row {
        name,
        ready: branch.ready.clone().unwrap_or_else(|| "-".to_owned()),
        since,
        details: branch.details.clone(),
        status: status.join("; "),
    }
}

/// `rolling out [######----] 6 of 10: waiting for AWS`.
fn progress(progress: &Progress) -> String {
    let Progress { task, done, total, message } = progress;
    let counted = done.zip(*total).map(|(done, total)| format!(" {} {done} of {total}", bar(done, total)));
    let message = one_line(message);
    let message = if message.is_empty() { message } else { format!(": {message}") };
    format!("{task}{}{message}", counted.unwrap_or_default())
}

fn bar(done: u32, total: u32) -> String {
    let filled = done.min(total).saturating_mul(BAR).checked_div(total).unwrap_or(BAR);
    let (filled, empty) = (usize::try_from(filled), usize::try_from(BAR.saturating_sub(filled)));
    format!("[{}{}]", "#".repeat(filled.unwrap_or_default()), "-".repeat(empty.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_when_all_is_done() {
        assert_eq!(bar(0, 3), "[----------]");
        assert_eq!(bar(2, 3), "[######----]");
        assert_eq!(bar(3, 3), "[##########]");
        assert_eq!(bar(4, 3), "[##########]");
        assert_eq!(bar(0, 0), "[##########]");
    }
}
