//! docs/operations/conditions.md: the prose of `conditions.template`, with tables from the enums of reasons.
//!
//! A line `{{reasons: <condition>}}` becomes the table of the reasons of that condition, and a line `{{events: <object>}}` becomes
//! the rows of the events about that object. The template must have all of them, so every reason is documented.

use super::Generated;
use anyhow::{Context as _, Result, ensure};
use foo_model::event::EventObject;
use foo_model::reason::{Class, Entry, Place};
use foo_model::{EventReason, Reason, Severity};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const TEMPLATE: &str = include_str!("conditions.template");

pub(super) fn file() -> Result<Generated> {
    let mut page = String::new();
    let mut places: BTreeSet<Place> =
        Reason::ALL.iter().flat_map(|reason| reason.entry().shown).map(|(place, _)| *place).collect();
    let mut objects: BTreeSet<EventObject> = events().map(|(_, entry)| entry.object).collect();
    for line in TEMPLATE.lines() {
        if let Some(named) = argument(line, "reasons") {
            page.push_str(&table(take(&mut places, named)?));
        } else if let Some(named) = argument(line, "events") {
            page.push_str(&event_rows(take(&mut objects, named)?));
        } else {
            writeln!(page, "{line}")?;
        }
    }
    ensure!(places.is_empty(), "conditions.template has no table for {places:?}");
    ensure!(objects.is_empty(), "conditions.template has no rows for the events of {objects:?}");
    Ok(Generated { path: "docs/operations/conditions.md".to_owned(), text: page })
}

/// The `<argument>` of a line `{{<directive>: <argument>}}`.
fn argument<'l>(line: &'l str, directive: &str) -> Option<&'l str> {
    line.strip_prefix("{{")?.strip_prefix(directive)?.strip_prefix(": ")?.strip_suffix("}}")
}

/// Removes the item of that name from those that have no table yet.
fn take<T: Copy + Ord + std::fmt::Debug>(left: &mut BTreeSet<T>, named: &str) -> Result<T> {
    let found = left.iter().copied().find(|item| format!("{item:?}") == named);
    let found =
        found.with_context(|| format!("conditions.template: nothing, or nothing more, for {named}"))?;
    left.remove(&found);
    Ok(found)
}

fn events() -> impl Iterator<Item = (EventReason, foo_model::event::Entry)> {
    EventReason::ALL.iter().filter_map(|reason| Some((*reason, reason.entry()?)))
}

/// The events about an object, without the head of the table; only the first row names the object.
fn event_rows(object: EventObject) -> String {
    let mut on = match object {
        EventObject::FooMachinePool => "FooMachinePool ",
        EventObject::FooCluster => "FooCluster ",
        EventObject::FooControlPlane => "FooControlPlane ",
        EventObject::AnyKind => "any kind that users write ",
    };
    let mut rows = String::new();
    for (reason, entry) in events().filter(|(_, entry)| entry.object == object) {
        let severity = match entry.severity {
            Severity::Normal => "Normal",
            Severity::Warning => "Warning",
        };
        rows.extend([format!("| {on}| {severity} | `{reason}` | {} |\n", entry.when)]);
        on = "";
    }
    rows
}

fn table(place: Place) -> String {
    let mut rows: Vec<(usize, String)> = Vec::new();
    for reason in Reason::ALL {
        let Entry { class, shown, meaning, action } = reason.entry();
        for (_, status) in shown.iter().filter(|(shown, _)| *shown == place) {
            let order = ["True", "False", "Unknown"].iter().position(|it| it == status).unwrap_or_default();
            let row = format!("| {status} | `{reason}` | {} | {meaning} | {action} |\n", needs(class));
            rows.push((order, row));
        }
    }
    rows.sort_by_key(|(order, _)| *order);
    let rows: String = rows.into_iter().map(|(_, row)| row).collect();
    format!("| Status | Reason | Needs | Meaning | What to do |\n|---|---|---|---|---|\n{rows}")
}

fn needs(class: Class) -> &'static str {
    match class {
        Class::Good => "",
        Class::Waiting => "time",
        Class::NeedsUser => "you",
        Class::Fault => "a bug report",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_reason_is_documented() {
        let page = file().unwrap().text;
        let undocumented: Vec<&Reason> =
            Reason::ALL.iter().filter(|reason| !page.contains(&format!("| `{reason}` |"))).collect();
        assert!(undocumented.is_empty(), "{undocumented:?}");
    }

    #[test]
    fn every_reason_is_given_by_the_code() {
        let words = words(&["Reason::", "=> Self::"]);
        let unused: Vec<&Reason> =
            Reason::ALL.iter().filter(|reason| !words.contains(reason.as_str())).collect();
        assert!(unused.is_empty(), "{unused:?}");
    }

    #[test]
    fn every_reason_of_an_event_is_documented_once_and_given_by_the_code() {
        let page = file().unwrap().text;
        let words = words(&["EventReason::"]);
        for reason in EventReason::ALL {
            let rows = |severity| page.matches(&format!("| {severity} | `{reason}` |")).count();
            assert_eq!(rows("Normal") + rows("Warning"), 1, "{reason}");
            assert!(words.contains(reason.as_str()), "no event has the reason {reason}");
        }
    }

    /// The words that follow one of these in the code of those who give reasons.
    fn words(before: &[&str]) -> BTreeSet<String> {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut code = String::new();
        for name in ["model", "planner", "calls", "network", "eks", "cloud", "controller"] {
            read(&crates.join(name).join("src"), &mut code);
        }
        let rest = before.iter().flat_map(|before| code.split(before).skip(1));
        rest.filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next()).map(str::to_owned).collect()
    }

    /// The text of all Rust files but those that define the reasons themselves.
    fn read(folder: &Path, code: &mut String) {
        let defining = ["reason.rs", "reason/list.rs", "event.rs"];
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(&path, code);
            } else if path.extension().is_some_and(|it| it == "rs")
                && !defining.iter().any(|it| path.ends_with(it))
            {
                code.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
}
