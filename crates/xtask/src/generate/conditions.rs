//! docs/operations/conditions.md: the prose of `conditions.template`, with tables from the enum of reasons.
//!
//! A line `{{reasons: <condition>}}` becomes the table of the reasons of that condition. Every one of them has to be there, and
//! so every reason is documented.

use super::Generated;
use anyhow::{Context as _, Result, ensure};
use foo_model::Reason;
use foo_model::reason::{Class, Entry, Place};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const TEMPLATE: &str = include_str!("conditions.template");

pub(super) fn file() -> Result<Generated> {
    let mut page = String::new();
    let mut left: BTreeSet<Place> =
        Reason::ALL.iter().flat_map(|reason| reason.entry().shown).map(|(place, _)| *place).collect();
    for line in TEMPLATE.lines() {
        match line.strip_prefix("{{reasons: ").and_then(|rest| rest.strip_suffix("}}")) {
            None => writeln!(page, "{line}")?,
            Some(named) => {
                let place = left.iter().copied().find(|place| format!("{place:?}") == named);
                let place = place.with_context(|| format!("conditions.template: no reasons for {named}"))?;
                left.remove(&place);
                page.push_str(&table(place));
            }
        }
    }
    ensure!(left.is_empty(), "conditions.template has no table for {left:?}");
    Ok(Generated { path: "docs/operations/conditions.md".to_owned(), text: page })
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
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut code = String::new();
        for name in ["planner", "cloud", "controller"] {
            read(&crates.join(name).join("src"), &mut code);
        }
        let words: BTreeSet<&str> = code
            .split("Reason::")
            .skip(1)
            .chain(code.split("=> Self::").skip(1))
            .filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next())
            .collect();
        let unused: Vec<&Reason> =
            Reason::ALL.iter().filter(|reason| !words.contains(reason.as_str())).collect();
        assert!(unused.is_empty(), "{unused:?}");
    }

    /// The text of all Rust files but the list of reasons itself.
    fn read(folder: &Path, code: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(&path, code);
            } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("reason/list.rs") {
                code.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
}
