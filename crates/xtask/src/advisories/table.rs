//! hack/advisories.toml: what one state of the RustSec database has on the crates of Cargo.lock.

use anyhow::{Context as _, Result};
use jiff::civil::Date;
use semver::VersionReq;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// Where the table is.
pub(super) const PATH: &str = "hack/advisories.toml";

/// What was known on one day.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// Commit of the database.
    pub(super) commit: String,
    /// Date of that commit.
    pub(super) date: Date,
    /// Names of the crates that were looked up.
    pub(super) crates: BTreeSet<String>,
    #[serde(default, rename = "advisory")]
    pub(super) advisories: Vec<Advisory>,
}

/// What is known against some versions of a crate.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Advisory {
    pub(super) id: String,
    #[serde(rename = "crate")]
    pub(super) name: String,
    pub(super) kind: AdvisoryKind,
    /// When it was published.
    pub(super) date: Date,
    pub(super) patched: Vec<VersionReq>,
    pub(super) unaffected: Vec<VersionReq>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(super) enum AdvisoryKind {
    Vulnerability,
    Unsound,
    Unmaintained,
    Notice,
}

impl Table {
    pub(super) fn read(root: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(root.join(PATH)).with_context(|| format!("reading {PATH}"))?;
        Self::parse(&text).with_context(|| format!("in {PATH}"))
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        toml::from_str(text).context("no table of advisories")
    }

    /// One line per advisory, so that a difference between two tables can be read.
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "# What is known against the crates of Cargo.lock. Written by `cargo xtask advisories` (`make advisories`), read\n\
             # by `cargo xtask deny`. Facts of the RustSec advisory database at this commit, which describes each of them\n\
             # at https://rustsec.org/advisories/<id>.\n\
             commit = \"{}\"\ndate = \"{}\"\ncrates = [\n",
            self.commit, self.date,
        );
        let mut line = String::from(" ");
        for name in &self.crates {
            if line.len() + name.len() > 114 {
                let _ = writeln!(text, "{line}");
                line = String::from(" ");
            }
            let _ = write!(line, " \"{name}\",");
        }
        let _ = writeln!(text, "{line}\n]\nadvisory = [");
        for Advisory { id, name, kind, date, patched, unaffected } in &self.advisories {
            let (patched, unaffected) = (list(patched.iter()), list(unaffected.iter()));
            let _ = writeln!(
                text,
                "  {{ id = \"{id}\", crate = \"{name}\", kind = \"{kind}\", date = \"{date}\", patched = {patched}, \
                 unaffected = {unaffected} }},"
            );
        }
        text.push_str("]\n");
        text
    }
}

pub(super) fn list(items: impl Iterator<Item = impl std::fmt::Display>) -> String {
    let items: Vec<String> = items.map(|item| format!("\"{item}\"")).collect();
    format!("[{}]", items.join(", "))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn table() -> Table {
        Table {
            commit: "0123456789012345678901234567890123456789".to_owned(),
            date: "2026-08-21".parse().unwrap(),
            crates: ["a", "b", "old"].map(str::to_owned).into(),
            advisories: vec![Advisory {
                id: "RUSTSEC-2026-0001".to_owned(),
                name: "a".to_owned(),
                kind: AdvisoryKind::Vulnerability,
                date: "2026-01-02".parse().unwrap(),
                patched: vec![">=1.2.3, <2".parse().unwrap(), ">=2.0.1".parse().unwrap()],
                unaffected: vec!["<1.1.0".parse().unwrap()],
            }],
        }
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        assert_eq!(Table::parse(&table().text()).unwrap(), table());
        let many = (0..100).map(|number| format!("a-crate-with-a-name-{number}")).collect();
        let long = Table { crates: many, ..table() };
        let text = long.text();
        assert!(text.lines().filter(|line| !line.starts_with("  {")).all(|line| line.len() <= 120));
        assert_eq!(Table::parse(&long.text()).unwrap(), long);
    }

    #[test]
    fn the_committed_table_is_as_the_command_writes_it() {
        let text = std::fs::read_to_string(crate::root().join(PATH)).unwrap();
        assert_eq!(Table::parse(&text).unwrap().text(), text);
    }
}
