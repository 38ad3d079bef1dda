//! Cargo's own copy of the registry's index: which versions were yanked when cargo last asked.
//!
//! The format is cargo's own affair; all that is relied on is that each file of a crate contains the index's JSON objects, one per
//! version, between bytes that are zero.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Release {
    vers: String,
    yanked: bool,
}

/// Those of the packages (name, version) that are yanked, as `<name> <version>`. Says how many the index does not have.
pub(super) fn yanked(packages: &[(&str, &str)]) -> Result<BTreeSet<String>> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let registries = home.context("neither CARGO_HOME nor HOME is set")?.join("registry/index");
    let mut found = BTreeSet::new();
    let mut unknown = 0;
    for (name, version) in packages {
        match is_yanked(&registries, name, version) {
            Some(true) => drop(found.insert(format!("{name} {version}"))),
            Some(false) => {}
            None => unknown += 1,
        }
    }
    if unknown > 0 {
        println!(
            "whether {unknown} of {} crates were yanked is unknown: `cargo update --dry-run` asks",
            packages.len()
        );
    }
    Ok(found)
}

/// `None` if no index here has that version.
fn is_yanked(registries: &Path, name: &str, version: &str) -> Option<bool> {
    let folders = std::fs::read_dir(registries).ok()?.filter_map(Result::ok);
    let files = folders.map(|folder| folder.path().join(".cache").join(place(name)));
    files.filter_map(|file| std::fs::read(file).ok()).find_map(|bytes| released(&bytes, version))
}

fn released(bytes: &[u8], version: &str) -> Option<bool> {
    let releases =
        bytes.split(|byte| *byte == 0).filter_map(|part| serde_json::from_slice::<Release>(part).ok());
    releases.filter(|release| release.vers == version).map(|release| release.yanked).next()
}

/// Where an index has a crate: `1/a`, `2/ab`, `3/a/abc`, `ab/cd/abcdef`, in lower case.
fn place(name: &str) -> String {
    let name = name.to_lowercase();
    match (name.len(), name.get(..1), name.get(..2), name.get(2..4)) {
        (3, Some(first), ..) => format!("3/{first}/{name}"),
        (4.., _, Some(first), Some(second)) => format!("{first}/{second}/{name}"),
        (length, ..) => format!("{length}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_found_where_an_index_has_them() {
        assert_eq!(
            ["a", "ab", "abc", "abcd", "Serde_JSON"].map(place),
            ["1/a", "2/ab", "3/a/abc", "ab/cd/abcd", "se/rd/serde_json"]
        );
    }

    #[test]
    fn a_yanked_version_is_told_from_another_and_from_an_unknown_one() {
        let file =
            b"\x03\x02\0\0\0etag\x001.0.0\0{\"name\":\"a\",\"vers\":\"1.0.0\",\"yanked\":true}\x001.0.1\0\
                     {\"name\":\"a\",\"vers\":\"1.0.1\",\"yanked\":false}\0";
        assert_eq!(released(file, "1.0.0"), Some(true));
        assert_eq!(released(file, "1.0.1"), Some(false));
        assert_eq!(released(file, "1.0.2"), None);
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("registry/.cache/1");
        std::fs::create_dir_all(&cache).unwrap();
        std::fs::write(cache.join("a"), file).unwrap();
        assert_eq!(is_yanked(folder.path(), "a", "1.0.0"), Some(true));
        assert_eq!(is_yanked(folder.path(), "b", "1.0.0"), None);
    }
}
