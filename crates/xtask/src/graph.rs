//! The crates that cargo would compile, as `cargo tree` and Cargo.lock know them; without network.
//!
//! `cargo metadata` would list optional dependencies that no feature selects.

use anyhow::{Context as _, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// One crate of the graph.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) version: String,
    /// As its manifest says; empty if it says nothing.
    pub(crate) licence: String,
    /// Whether it is part of this repository.
    pub(crate) ours: bool,
}

/// Where a crate comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// Address of the registry's index, or of a git repository.
    pub(crate) address: String,
    /// SHA-256 of the crate's file; a git repository has none.
    pub(crate) checksum: Option<String>,
}

/// What is linked into the programs of one package, itself included, and nothing that only takes part in its build: each crate,
/// with those it depends on.
pub(crate) fn linked_into(
    root: &Path,
    package: &str,
    target: &str,
) -> Result<BTreeMap<Crate, BTreeSet<Crate>>> {
    let lines = tree(root, &["--package", package, "--edges", "normal,no-proc-macro", "--target", target])?;
    let mut graph = BTreeMap::<Crate, BTreeSet<Crate>>::new();
    // The way from the root to the line above. What a crate depends on is printed the first time only.
    let mut way: Vec<Crate> = Vec::new();
    for (depth, item) in lines {
        way.truncate(depth);
        if let Some(parent) = way.last() {
            graph.entry(parent.clone()).or_default().insert(item.clone());
        }
        graph.entry(item.clone()).or_default();
        way.push(item);
    }
    Ok(graph)
}

/// Crates with their depth, as `cargo tree` prints them.
fn tree(root: &Path, selection: &[&str]) -> Result<Vec<(usize, Crate)>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(root)
        .args(["tree", "--locked", "--prefix", "depth", "--format", "{p}|{l}"])
        .args(selection)
        .output()
        .context("running cargo tree")?;
    ensure!(output.status.success(), "cargo tree failed:\n{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).context("cargo tree wrote something else than UTF-8")?;
    text.lines().filter(|line| !line.trim().is_empty()).map(parse_line).collect()
}

/// A line of `cargo tree --prefix depth`: a number, and the crate. No crate's name begins with a digit.
fn parse_line(line: &str) -> Result<(usize, Crate)> {
    let name_at = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len());
    let (depth, item) = line.split_at(name_at);
    Ok((depth.parse().with_context(|| format!("no depth in {line:?}"))?, parse_crate(item)?))
}

/// `name v1.2.3 (proc-macro)|MIT OR Apache-2.0 (*)`, with a path in parentheses for crates of this repository.
pub(crate) fn parse_crate(line: &str) -> Result<Crate> {
    let line = line.trim_end_matches(" (*)");
    let (package, licence) = line.split_once('|').with_context(|| format!("no licence in {line:?}"))?;
    let mut words = package.split(' ');
    let name = words.next().unwrap_or_default().to_owned();
    let version = words
        .next()
        .and_then(|word| word.strip_prefix('v'))
        .with_context(|| format!("no version in {line:?}"))?
        .to_owned();
    let ours = words.any(|word| word.starts_with("(/"));
    Ok(Crate { name, version, licence: licence.to_owned(), ours })
}

#[derive(serde::Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(serde::Deserialize)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
    checksum: Option<String>,
}

/// Where each crate of Cargo.lock comes from (`<name> <version>`), of every target, except the workspace's own.
pub(crate) fn sources(root: &Path) -> Result<BTreeMap<String, Source>> {
    let path = root.join("Cargo.lock");
    let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let lock: Lock = toml::from_str(&text).context("reading Cargo.lock")?;
    Ok(lock
        .package
        .into_iter()
        .filter_map(|locked| {
            let source = locked.source?;
            let address = source.strip_prefix("registry+").unwrap_or(&source).to_owned();
            let source = Source { address, checksum: locked.checksum };
            Some((format!("{} {}", locked.name, locked.version), source))
        })
        .collect())
}
