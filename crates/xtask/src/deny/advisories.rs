//! What the table of advisories says against the crates of Cargo.lock.

use super::policy::{Advisories, Ignored};
use crate::advisories::Table;
use jiff::civil::Date;
use std::collections::BTreeSet;

/// A crate of Cargo.lock: name and version.
pub(super) type Package<'a> = (&'a str, &'a str);

/// Every advisory that concerns one of the packages, every yanked one, unless ignored; and what is ignored without need.
pub(super) fn findings(policy: &Advisories, table: &Table, packages: &[Package<'_>]) -> Vec<String> {
    let mut findings = Vec::new();
    let mut needed = BTreeSet::new();
    for (name, text) in packages {
        let version = match text.parse() {
            Ok(version) => version,
            Err(error) => {
                findings.push(format!("version of {name} {text}: {error}"));
                continue;
            }
        };
        for advisory in table.advisories.iter().filter(|advisory| advisory.concerns(name, &version)) {
            let ignored = policy.ignore.iter().position(|entry| entry.is_advisory(&advisory.id));
            if let Some(ignored) = ignored {
                needed.insert(ignored);
                continue;
            }
            let patched: Vec<String> = advisory.patched.iter().map(ToString::to_string).collect();
            let patched = if patched.is_empty() { "no version".to_owned() } else { patched.join(" or ") };
            findings.push(format!(
                "{name} {text}: {} {} of {}; patched in {patched} (https://rustsec.org/advisories/{})",
                advisory.kind, advisory.id, advisory.date, advisory.id
            ));
        }
        if table.yanked.contains(&format!("{name} {text}")) {
            match policy.ignore.iter().position(|entry| entry.is_yanked(name, text)) {
                Some(ignored) => drop(needed.insert(ignored)),
                None => findings
                    .push(format!("{name} {text} was yanked from its registry: `cargo update -p {name}`")),
            }
        }
    }
    let needless = policy.ignore.iter().enumerate().filter(|(index, _)| !needed.contains(index));
    findings
        .extend(needless.map(|(_, entry)| format!("ignored {} concerns no crate: remove it", entry.text())));
    findings
}

/// What the table cannot say: it is old, or older than some crates.
pub(super) fn remarks(
    policy: &Advisories,
    table: &Table,
    packages: &[Package<'_>],
    today: Date,
) -> Vec<String> {
    let mut remarks = Vec::new();
    let age = (today - table.date).get_days();
    if age > policy.maximum_db_staleness.days {
        remarks.push(format!(
            "the advisories are those of {}, {age} days ago: `make advisories` takes newer ones where a network is",
            table.date
        ));
    }
    let names: BTreeSet<&str> = packages.iter().map(|(name, _)| *name).collect();
    let unheard: Vec<&str> = names.into_iter().filter(|name| !table.crates.contains(*name)).collect();
    if !unheard.is_empty() {
        remarks
            .push(format!("no advisories were looked up for {}: `make advisories` does", unheard.join(", ")));
    }
    remarks
}

impl Ignored {
    fn is_advisory(&self, wanted: &str) -> bool {
        matches!(self, Self::Advisory(advisory) if advisory.id == wanted)
    }

    fn is_yanked(&self, name: &str, version: &str) -> bool {
        matches!(self, Self::Yanked(entry) if entry.matches(name, version))
    }

    fn text(&self) -> &str {
        match self {
            Self::Advisory(advisory) => &advisory.id,
            Self::Yanked(entry) => entry.text(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::policy::Policy;
    use super::*;
    use crate::advisories::tests::table;

    fn policy(ignore: &str) -> Advisories {
        let text = super::super::tests::POLICY.replace("ignore = []", &format!("ignore = [{ignore}]"));
        Policy::parse(&text).unwrap().advisories
    }

    fn check(ignore: &str, packages: &[Package<'_>], expected: &[&str]) {
        let found = findings(&policy(ignore), &table(), packages);
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{found} should contain {expected}");
        }
    }

    #[test]
    fn vulnerable_and_yanked_crates_are_found_and_patched_ones_are_not() {
        check("", &[("a", "1.2.3"), ("b", "2.0.1"), ("old", "1.2.0")], &[]);
        check(
            "",
            &[("a", "1.2.2")],
            &["a 1.2.2: vulnerability RUSTSEC-2026-0001 of 2026-01-02; patched in >=1.2.3, <2 or >=2.0.1"],
        );
        check("", &[("b", "2.0.0")], &["b 2.0.0 was yanked"]);
        check("", &[("b", "two")], &["version of b two"]);
    }

    #[test]
    fn what_is_ignored_with_a_reason_is_no_finding_and_a_needless_reason_is_one() {
        let advisory = r#"{ id = "RUSTSEC-2026-0001", reason = "not reached" }"#;
        let yanked = r#"{ crate = "b@2.0.0", reason = "until b 2.0.1 is there" }"#;
        check(advisory, &[("a", "1.2.2")], &[]);
        check(yanked, &[("b", "2.0.0")], &[]);
        check(advisory, &[("a", "1.2.3")], &["ignored RUSTSEC-2026-0001 concerns no crate"]);
        check(yanked, &[("b", "2.0.1")], &["ignored b@2.0.0 concerns no crate"]);
    }

    #[test]
    fn an_old_table_and_crates_that_it_does_not_know_are_said_and_fail_nothing() {
        let said = |packages: &[Package<'_>], today: &str| {
            assert_eq!(findings(&policy(""), &table(), packages), Vec::<String>::new());
            remarks(&policy(""), &table(), packages, today.parse().unwrap())
        };
        assert_eq!(said(&[("a", "1.2.3")], "2026-09-20"), Vec::<String>::new());
        assert!(said(&[("a", "1.2.3")], "2026-09-21")[0].contains("2026-08-21, 31 days ago"));
        assert!(said(&[("new", "1.0.0")], "2026-08-22")[0].contains("looked up for new:"));
    }
}
