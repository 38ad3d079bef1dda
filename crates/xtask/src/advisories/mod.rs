//! The known advisories about the crates of Cargo.lock, with which `cargo xtask deny` checks every later Cargo.lock
//! without network.
//!
//! `cargo xtask advisories --from DIR` writes it down, from a clone of the RustSec advisory database. Only crates of
//! Cargo.lock are looked up; the list of those is part of the table, so that a crate that was added later does not
//! count as one without advisories. Withdrawn advisories are left out; a restriction of an advisory to some platforms
//! or functions is not kept: it counts everywhere.

mod database;
mod table;

use anyhow::{Context as _, Result};
use jiff::civil::Date;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use table::PATH;

pub(crate) use table::Table;

/// Older advisories are mentioned.
const OLD_AFTER_DAYS: i32 = 30;

/// Writes the table from a clone of the database, and returns its path.
pub fn write(root: &Path, clone: &Path) -> Result<PathBuf> {
    let crates = locked(root)?;
    let (commit, date, advisories) = database::read(clone, &crates)?;
    let table = Table { commit, date, crates, advisories };
    let path = root.join(PATH);
    std::fs::write(&path, table.text()).with_context(|| format!("writing {}", path.display()))?;
    Ok(path)
}

/// Writes the committed table as a database that cargo-deny reads, below `folder`; and says what the table cannot know.
pub(crate) fn restore(root: &Path, folder: &Path, today: Date) -> Result<Vec<String>> {
    let table = Table::read(root)?;
    database::write(folder, &table)?;
    Ok(remarks(&table, &locked(root)?, today))
}

/// Names of the crates in Cargo.lock.
fn locked(root: &Path) -> Result<BTreeSet<String>> {
    let sources = crate::graph::sources(root)?;
    Ok(sources.keys().filter_map(|package| package.split(' ').next()).map(str::to_owned).collect())
}

/// It is old, or older than some crates.
fn remarks(table: &Table, crates: &BTreeSet<String>, today: Date) -> Vec<String> {
    let mut remarks = Vec::new();
    let age = (today - table.date).get_days();
    if age > OLD_AFTER_DAYS {
        remarks.push(format!(
            "the advisories are those of {}, {age} days ago: `make advisories` takes newer ones where a network is",
            table.date
        ));
    }
    let unheard: Vec<&str> = crates.difference(&table.crates).map(String::as_str).collect();
    if !unheard.is_empty() {
        remarks
            .push(format!("no advisories were looked up for {}: `make advisories` does", unheard.join(", ")));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_table_and_crates_that_it_does_not_know_are_said() {
        let said = |name: &str, today: &str| {
            let crates = BTreeSet::from([name.to_owned()]);
            remarks(&table::tests::table(), &crates, today.parse().unwrap())
        };
        assert_eq!(said("a", "2026-09-20"), Vec::<String>::new());
        assert!(said("a", "2026-09-21")[0].contains("2026-08-21, 31 days ago"));
        assert!(said("new", "2026-08-22")[0].contains("looked up for new:"));
    }
}
