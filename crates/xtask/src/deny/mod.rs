//! `cargo xtask deny`: licences, banned crates, duplicate versions, sources and advisories of all dependencies, without network.
//!
//! Reads deny.toml, whose format is cargo-deny's, so that either program can be used. Advisories are those that
//! [`crate::advisories`] wrote down; cargo-deny takes them from the live database. What it does not do: the options of
//! cargo-deny that deny.toml does not use; an option it does not know is an error rather than ignored.

mod advisories;
mod policy;
mod spdx;

use crate::advisories::Table;
use crate::graph::{self, Crate, Source};
use advisories::Package;
use anyhow::{Result, bail};
use jiff::civil::Date;
use policy::Policy;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Whether advisories that are old, or do not cover all crates, are good enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advisories {
    /// They are: it is only said. What is checked here may have no network.
    AsTheyAre,
    /// They are not.
    UpToDate,
}

/// Fails with every violation.
pub fn check(root: &Path, wanted: Advisories, today: Date) -> Result<()> {
    let policy = Policy::read(&root.join("deny.toml"))?;
    let mut crates = BTreeSet::new();
    for target in &policy.graph.targets {
        crates.extend(graph::of_workspace(root, target)?);
    }
    let sources = graph::sources(root)?;
    let mut findings = findings(&policy, &crates, &sources);
    let table = Table::read(root)?;
    let packages: Vec<Package<'_>> = sources.keys().filter_map(|package| package.split_once(' ')).collect();
    findings.extend(advisories::findings(&policy.advisories, &table, &packages));
    let remarks = advisories::remarks(&policy.advisories, &table, &packages, today);
    match wanted {
        Advisories::AsTheyAre => remarks.iter().for_each(|remark| println!("warning: {remark}")),
        Advisories::UpToDate => findings.extend(remarks),
    }
    if findings.is_empty() {
        println!("{} crates keep to deny.toml; advisories of {}", crates.len(), table.date);
        return Ok(());
    }
    bail!("against deny.toml:\n  {}", findings.join("\n  "))
}

fn findings(policy: &Policy, crates: &BTreeSet<Crate>, sources: &BTreeMap<String, Source>) -> Vec<String> {
    let mut findings = Vec::new();
    for item in crates.iter().filter(|item| !item.ours) {
        let Crate { name, version, licence, .. } = item;
        match spdx::satisfied(licence, |id| policy.allows(name, id)) {
            Ok(true) => {}
            Ok(false) => findings.push(format!("licence of {name} {version} is not allowed: {licence}")),
            Err(error) => findings.push(format!("licence of {name} {version}: {error}")),
        }
        if let Some(reason) = policy.banned(name) {
            findings.push(format!("{name} {version} is banned: {reason}"));
        }
    }
    findings.extend(duplicates(policy, crates));
    for (package, source) in sources {
        if !policy.sources.allow_registry.contains(&source.address) {
            findings.push(format!("{package} comes from {}", source.address));
        }
    }
    for licence in policy.licenses.allow.iter().filter(|id| {
        !crates.iter().any(|item| {
            item.licence
                .split(|c: char| "()/ ".contains(c))
                .any(|word| word == id.split(' ').next().unwrap_or_default())
        })
    }) {
        findings.push(format!("allowed licence {licence} is used by no crate: remove it"));
    }
    findings
}

/// A crate in several versions, unless all but one of them are skipped. A skip that skips nothing is a finding as well.
fn duplicates(policy: &Policy, crates: &BTreeSet<Crate>) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for item in crates {
        versions.entry(&item.name).or_default().insert(&item.version);
    }
    let mut findings = Vec::new();
    for (name, versions) in &versions {
        let kept: Vec<&str> =
            versions.iter().copied().filter(|version| !policy.skips(name, version)).collect();
        if kept.len() > 1 {
            findings.push(format!(
                "{name} is there in several versions: {} (see `cargo tree -i {name}@…`; skip one with a reason, or \
                 unify)",
                kept.join(", ")
            ));
        }
    }
    for skip in &policy.bans.skip {
        let needed = versions.get(skip.name()).is_some_and(|there| {
            there.len() > 1 && there.iter().any(|version| skip.matches(skip.name(), version))
        });
        if !needed {
            findings.push(format!("skip of {} is not needed any more: remove it", skip.text()));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::parse_crate;

    pub(super) const POLICY: &str = r#"
        [graph]
        targets = ["x86_64-unknown-linux-gnu"]
        [licenses]
        allow = ["MIT", "Apache-2.0"]
        exceptions = [{ crate = "special", allow = ["Zlib"] }]
        [bans]
        multiple-versions = "deny"
        deny = [{ crate = "ring", reason = "one TLS provider" }]
        skip = [{ crate = "old@1", reason = "waiting" }]
        [sources]
        unknown-registry = "deny"
        unknown-git = "deny"
        allow-registry = ["https://github.com/rust-lang/crates.io-index"]
        [advisories]
        yanked = "deny"
        unmaintained = "all"
        maximum-db-staleness = "P30D"
        ignore = []
    "#;

    fn check(lines: &[&str], expected: &[&str]) {
        let policy = Policy::parse(POLICY).unwrap();
        let mut lines = lines.to_vec();
        lines.extend(["old v1.0.0|MIT", "old v2.0.0|Apache-2.0"]);
        let crates = lines.iter().map(|line| parse_crate(line).unwrap()).collect();
        let found = findings(&policy, &crates, &BTreeMap::new());
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{found} should contain {expected}");
        }
    }

    #[test]
    fn what_keeps_to_the_policy_is_not_mentioned() {
        check(
            &[
                "a v1.0.0|MIT OR GPL-3.0",
                "b v0.1.0 (proc-macro)|Apache-2.0 AND MIT (*)",
                "special v1.0.0|Zlib",
            ],
            &[],
        );
        check(&["ours v0.1.0 (/somewhere/crates/ours)|"], &[]);
    }

    #[test]
    fn licences_bans_and_duplicates_are_found() {
        check(&["a v1.0.0|Zlib"], &["licence of a 1.0.0 is not allowed: Zlib"]);
        check(&["a v1.0.0|MIT AND GPL-3.0"], &["not allowed"]);
        check(&["a v1.0.0|"], &["licence of a"]);
        check(&["ring v0.17.0|MIT"], &["banned: one TLS provider"]);
        check(&["a v1.0.0|MIT", "a v2.0.0|MIT"], &["several versions: 1.0.0, 2.0.0"]);
    }

    #[test]
    fn sources_other_than_the_registry_are_found() {
        let policy = Policy::parse(POLICY).unwrap();
        let crates =
            ["old v1.0.0|MIT", "old v2.0.0|Apache-2.0"].map(|line| parse_crate(line).unwrap()).into();
        let source = Source { address: "git+https://example.com/a".to_owned(), checksum: None };
        let sources = BTreeMap::from([("a 1.0.0".to_owned(), source)]);
        assert_eq!(findings(&policy, &crates, &sources), ["a 1.0.0 comes from git+https://example.com/a"]);
    }
}
