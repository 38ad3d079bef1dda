//! Prints what differs.

use super::{Action, Comparison, Diff, Diffs};
use crate::plan::{changes, conditions, settings, with_rest};
use crate::text::{line, one_line, section, table};

/// The differences as text: a block for each object, a line if it has none. Ends with a new line.
pub fn text(all: &Diffs) -> String {
    if all.objects.is_empty() && all.not_compared.is_empty() {
        return "there is nothing to compare\n".to_owned();
    }
    let mut text = String::new();
    let mut last = None;
    for diff in &all.objects {
        // Lines of equal objects stay together.
        if last.is_some_and(|last| [last, diff.result].iter().any(|it| *it != Comparison::Equal)) {
            text.push('\n');
        }
        text.push_str(&one(diff));
        last = Some(diff.result);
    }
    text
}

fn one(diff: &Diff) -> String {
    let Diff { kind, namespace, name, .. } = diff;
    let mut text = String::new();
    if diff.result == Comparison::Equal {
        line(&mut text, &format!("{kind} {namespace}/{name}: no differences"));
        return text;
    }
    line(&mut text, &format!("{kind} {namespace}/{name}"));
    section(&mut text, "Changed in the spec", &changes(&diff.changes, "DESIRED"));
    section(&mut text, "Different in AWS", &settings(&diff.settings));
    section(&mut text, "What the manager would do", &actions(diff));
    let notes: Vec<String> = diff.notes.iter().map(|note| one_line(note)).collect();
    let mut open = conditions(&diff.remaining);
    if diff.result == Comparison::Different {
        section(&mut text, "Not as desired then, or not known", &open);
        section(&mut text, "Notes", &notes);
        return text;
    }
    open.extend(notes);
    if open.is_empty() {
        open.push("the manager waits, and its plan does not name for what".to_owned());
    }
    section(&mut text, "Not known to be as desired", &open);
    text
}

fn actions(diff: &Diff) -> Vec<String> {
    let row = |action: &Action| [action.name.clone(), action.times.to_string(), one_line(&action.why)];
    let lines = table(["ACTION", "TIMES", "WHY"], diff.actions.iter().map(row).collect());
    with_rest(lines, 0, diff.more_actions)
}
