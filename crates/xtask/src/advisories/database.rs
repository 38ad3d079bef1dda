//! A clone of the RustSec advisory database: a git repository with one file per advisory, `crates/<crate>/<id>.md`,
//! that begins with a block of TOML. A clone without a work tree is enough.

use super::table::{Advisory, AdvisoryKind, Table, list};
use anyhow::{Context as _, Result, ensure};
use jiff::civil::Date;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Deserialize)]
struct File {
    advisory: Head,
    #[serde(default)]
    versions: Versions,
}

#[derive(Deserialize)]
struct Head {
    id: String,
    package: String,
    date: Date,
    withdrawn: Option<Date>,
    informational: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Versions {
    patched: Vec<semver::VersionReq>,
    unaffected: Vec<semver::VersionReq>,
}

/// Commit and date of the clone, and what it has on these crates, sorted by id.
pub(super) fn read(clone: &Path, crates: &BTreeSet<String>) -> Result<(String, Date, Vec<Advisory>)> {
    let commit = git(clone, &["rev-parse", "HEAD"])?.trim().to_owned();
    let date = git(clone, &["log", "-1", "--format=%cs"])?;
    let date = date.trim().parse().context("the date of the newest commit")?;
    let list = git(clone, &["ls-tree", "-r", "--name-only", "HEAD", "crates/"])?;
    ensure!(!list.is_empty(), "{} has no folder `crates`: it is no advisory database", clone.display());
    let mut advisories = Vec::new();
    for path in list.lines().filter(|path| path.split('/').nth(1).is_some_and(|name| crates.contains(name))) {
        let text = git(clone, &["show", &format!("HEAD:{path}")])?;
        advisories.extend(parse(&text).with_context(|| format!("in {path}"))?);
    }
    advisories.sort_by(|a, b| a.id.cmp(&b.id));
    Ok((commit, date, advisories))
}

/// Where cargo-deny expects the database of RustSec, below the folder of all databases.
const OF_RUSTSEC: &str = "advisory-db-3157b0e258782691";

/// Writes a database of what the table has, in place of the one that is there. It is no git repository: cargo-deny
/// would read only the time of the last fetch of one.
pub(super) fn write(folder: &Path, table: &Table) -> Result<()> {
    let database = folder.join(OF_RUSTSEC);
    if database.exists() {
        std::fs::remove_dir_all(&database).with_context(|| format!("removing {}", database.display()))?;
    }
    let write = |path: PathBuf, text: &str| {
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
    };
    for advisory in &table.advisories {
        let path = database.join("crates").join(&advisory.name).join(format!("{}.md", advisory.id));
        write(path, &text(advisory))?;
    }
    write(database.join(".git/FETCH_HEAD"), &table.commit)
}

/// An advisory as the database has it. The title is its kind: what it is about, the page of that id says.
fn text(advisory: &Advisory) -> String {
    let Advisory { id, name, kind, date, patched, unaffected } = advisory;
    let informational = match kind {
        AdvisoryKind::Vulnerability => String::new(),
        AdvisoryKind::Unsound | AdvisoryKind::Unmaintained | AdvisoryKind::Notice => {
            format!("informational = \"{kind}\"\n")
        }
    };
    let (patched, unaffected) = (list(patched.iter()), list(unaffected.iter()));
    format!(
        "```toml\n[advisory]\nid = \"{id}\"\npackage = \"{name}\"\ndate = \"{date}\"\n{informational}\n\
         [versions]\npatched = {patched}\nunaffected = {unaffected}\n```\n\n# {kind} of {name}\n"
    )
}

fn git(clone: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git").arg("-C").arg(clone).args(arguments).output().context("running git")?;
    ensure!(
        output.status.success(),
        "git {}: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).context("git wrote something else than UTF-8")
}

/// `None` if it was withdrawn.
fn parse(text: &str) -> Result<Option<Advisory>> {
    let head = text.split_once("```toml\n").and_then(|(_, rest)| rest.split_once("\n```"));
    let (head, _) = head.context("it does not begin with a block of TOML")?;
    let File { advisory, versions } = toml::from_str(head)?;
    let Head { id, package, date, withdrawn, informational } = advisory;
    if withdrawn.is_some() {
        return Ok(None);
    }
    // An unknown kind counts as a vulnerability.
    let kind = match informational.as_deref() {
        Some("unsound") => AdvisoryKind::Unsound,
        Some("unmaintained") => AdvisoryKind::Unmaintained,
        Some("notice") => AdvisoryKind::Notice,
        _ => AdvisoryKind::Vulnerability,
    };
    let Versions { patched, unaffected } = versions;
    Ok(Some(Advisory { id, name: package, kind, date, patched, unaffected }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    fn advisory(more: &str, versions: &str) -> String {
        let mut text = "```toml\n[advisory]\nid = \"RUSTSEC-2026-0001\"\npackage = \"a\"\n".to_owned();
        let _ = write!(
            text,
            "date = \"2026-01-02\"\ncategories = []\n{more}\n[versions]\n{versions}\n```\n\n# A title\n"
        );
        text
    }

    #[test]
    fn an_advisory_is_read_and_a_withdrawn_one_is_none() {
        let read = |more: &str| parse(&advisory(more, "patched = [\"^1.2.3\", \">= 2.0.1\"]")).unwrap();
        let plain = read("").unwrap();
        assert_eq!(
            (plain.name.as_str(), plain.kind, plain.patched.len()),
            ("a", AdvisoryKind::Vulnerability, 2)
        );
        assert!(plain.unaffected.is_empty());
        assert_eq!(read("informational = \"unmaintained\"").unwrap().kind, AdvisoryKind::Unmaintained);
        assert_eq!(read("informational = \"unsound\"").unwrap().kind, AdvisoryKind::Unsound);
        assert_eq!(read("informational = \"something new\"").unwrap().kind, AdvisoryKind::Vulnerability);
        assert_eq!(read("withdrawn = \"2026-01-03\""), None);
        assert!(parse("# No advisory\n").is_err());
        assert!(parse(&advisory("", "patched = [\"no range\"]")).is_err());
    }

    #[test]
    fn a_restored_database_has_what_the_table_has() {
        let folder = tempfile::tempdir().unwrap();
        let mut table = crate::advisories::table::tests::table();
        let unsound = Advisory {
            id: "RUSTSEC-2026-0002".into(),
            kind: AdvisoryKind::Unsound,
            ..table.advisories[0].clone()
        };
        table.advisories.push(unsound);
        write(folder.path(), &table).unwrap();
        for advisory in &table.advisories {
            let path = format!("{OF_RUSTSEC}/crates/a/{}.md", advisory.id);
            let text = std::fs::read_to_string(folder.path().join(path)).unwrap();
            assert_eq!(parse(&text).unwrap().as_ref(), Some(advisory));
        }
        table.advisories.pop();
        write(folder.path(), &table).unwrap();
        assert!(!folder.path().join(OF_RUSTSEC).join("crates/a/RUSTSEC-2026-0002.md").exists());
    }

    #[test]
    fn only_crates_that_are_asked_for_are_read_and_the_commit_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let clone = folder.path();
        for name in ["a", "unheard-of"] {
            std::fs::create_dir_all(clone.join("crates").join(name)).unwrap();
            let path = clone.join("crates").join(name).join("RUSTSEC-2026-0001.md");
            std::fs::write(path, advisory("", "patched = []").replace("\"a\"", &format!("\"{name}\"")))
                .unwrap();
        }
        let identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
        git(clone, &["init", "--quiet"]).unwrap();
        git(clone, &["add", "."]).unwrap();
        git(clone, &[&identity[..], &["commit", "--quiet", "--message", "one"]].concat()).unwrap();
        let (commit, _, found) = read(clone, &BTreeSet::from(["a".to_owned()])).unwrap();
        assert_eq!(commit.len(), 40);
        assert_eq!(found.iter().map(|advisory| advisory.name.as_str()).collect::<Vec<_>>(), ["a"]);
        assert!(read(&clone.join("crates/absent"), &BTreeSet::new()).is_err());
    }
}
