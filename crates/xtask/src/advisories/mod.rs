//! `cargo xtask advisories --from DIR`: what is known against the crates of Cargo.lock, written down so that
//! `cargo xtask deny` can judge every later Cargo.lock without network.
//!
//! Facts come from two places: a clone of the RustSec advisory database, and cargo's own copy of the registry's index (which
//! versions were yanked). Only crates of Cargo.lock are looked up; the list of those is part of the table, so that a crate
//! that came later is not taken for a good one. Withdrawn advisories are left out; a restriction of an advisory to
//! some platforms or functions is not kept: it counts everywhere.

mod database;
mod index;

use anyhow::{Context as _, Result};
use jiff::civil::Date;
use semver::{Version, VersionReq};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Where the table is.
pub const PATH: &str = "hack/advisories.toml";

/// What was known on one day.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// Commit of the database.
    pub(crate) commit: String,
    /// Date of that commit.
    pub(crate) date: Date,
    /// Names of the crates that were looked up.
    pub(crate) crates: BTreeSet<String>,
    /// Yanked versions of them that Cargo.lock had, as `<name> <version>`.
    pub(crate) yanked: BTreeSet<String>,
    #[serde(default, rename = "advisory")]
    pub(crate) advisories: Vec<Advisory>,
}

/// What is known against some versions of a crate.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Advisory {
    pub(crate) id: String,
    #[serde(rename = "crate")]
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// When it was published.
    pub(crate) date: Date,
    pub(crate) patched: Vec<VersionReq>,
    pub(crate) unaffected: Vec<VersionReq>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Kind {
    Vulnerability,
    Unsound,
    Unmaintained,
    Notice,
}

impl Advisory {
    /// Whether that version of that crate is concerned. A version between two releases (`1.0.0-rc.1`) is, unless a
    /// range names it: as Cargo reads ranges.
    pub(crate) fn concerns(&self, name: &str, version: &Version) -> bool {
        let good = || self.patched.iter().chain(&self.unaffected).any(|range| range.matches(version));
        self.name == name && !good()
    }
}

impl Table {
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(root.join(PATH)).with_context(|| format!("reading {PATH}"))?;
        Self::parse(&text).with_context(|| format!("in {PATH}"))
    }

    pub(crate) fn parse(text: &str) -> Result<Self> {
        toml::from_str(text).context("no table of advisories")
    }

    /// One line per advisory, so that a difference between two tables can be read.
    fn text(&self) -> String {
        let mut text = format!(
            "# What is known against the crates of Cargo.lock. Written by `cargo xtask advisories` (`make advisories`), read\n\
             # by `cargo xtask deny`. Facts of the RustSec advisory database at this commit, which describes each of them\n\
             # at https://rustsec.org/advisories/<id>; yanked versions as cargo's copy of the index has them.\n\
             commit = \"{}\"\ndate = \"{}\"\nyanked = {}\ncrates = [\n",
            self.commit,
            self.date,
            list(self.yanked.iter()),
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

fn list(items: impl Iterator<Item = impl std::fmt::Display>) -> String {
    let items: Vec<String> = items.map(|item| format!("\"{item}\"")).collect();
    format!("[{}]", items.join(", "))
}

/// Writes the table from a clone of the database, and returns its path.
pub fn write(root: &Path, database: &Path) -> Result<PathBuf> {
    let sources = crate::graph::sources(root)?;
    let packages: Vec<(&str, &str)> = sources.keys().filter_map(|package| package.split_once(' ')).collect();
    let crates: BTreeSet<String> = packages.iter().map(|(name, _)| (*name).to_owned()).collect();
    let (commit, date, advisories) = database::read(database, &crates)?;
    let yanked = index::yanked(&packages)?;
    let table = Table { commit, date, crates, yanked, advisories };
    let path = root.join(PATH);
    std::fs::write(&path, table.text()).with_context(|| format!("writing {}", path.display()))?;
    Ok(path)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn table() -> Table {
        Table {
            commit: "0123456789012345678901234567890123456789".to_owned(),
            date: "2026-08-21".parse().unwrap(),
            crates: ["a", "b", "old"].map(str::to_owned).into(),
            yanked: BTreeSet::from(["b 2.0.0".to_owned()]),
            advisories: vec![Advisory {
                id: "RUSTSEC-2026-0001".to_owned(),
                name: "a".to_owned(),
                kind: Kind::Vulnerability,
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
    fn versions_are_judged_by_their_ranges() {
        let advisory = &table().advisories[0];
        let check = |name: &str, version: &str, expected: bool| {
            assert_eq!(advisory.concerns(name, &version.parse().unwrap()), expected, "{name} {version}");
        };
        check("a", "1.2.2", true);
        check("a", "1.2.3", false);
        check("a", "2.0.0", true);
        check("a", "2.0.1", false);
        check("a", "1.0.9", false);
        check("a", "2.1.0-rc.1", true);
        check("b", "1.2.2", false);
    }

    #[test]
    fn the_committed_table_is_as_the_command_writes_it() {
        let text = std::fs::read_to_string(crate::root().join(PATH)).unwrap();
        assert_eq!(Table::parse(&text).unwrap().text(), text);
    }
}
