//! SHA256SUMS of a release, as `sha256sum --check` reads it.

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The file with the checksums.
pub const NAME: &str = "SHA256SUMS";

/// Writes the checksums of all files below `folder` to a file in it, and returns its path.
pub fn write(folder: &Path) -> Result<PathBuf> {
    let mut text = String::new();
    // Its own signature cannot be in it.
    for (path, sum) in of(folder)?.iter().filter(|(path, _)| !path.starts_with(NAME)) {
        writeln!(text, "{sum}  {path}")?;
    }
    let path = folder.join(NAME);
    std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    Ok(path)
}

/// Path relative to `folder` and SHA-256 of every file below it, sorted.
pub(crate) fn of(folder: &Path) -> Result<Vec<(String, String)>> {
    let mut paths = Vec::new();
    files(folder, folder, &mut paths)?;
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let sum = checksum(&folder.join(&path))?;
            Ok((path, sum))
        })
        .collect()
}

/// Paths relative to `root`.
fn files(root: &Path, folder: &Path, found: &mut Vec<String>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("listing {}", folder.display()))?;
        let path = entry.path();
        if entry.file_type().with_context(|| format!("reading the type of {}", path.display()))?.is_dir() {
            files(root, &path, found)?;
        } else {
            let relative = path.strip_prefix(root).context("a file outside of its folder")?;
            found.push(relative.to_str().context("a file name that is not UTF-8")?.to_owned());
        }
    }
    Ok(())
}

fn checksum(path: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    let mut file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
    std::io::copy(&mut file, &mut hash).with_context(|| format!("reading {}", path.display()))?;
    Ok(format!("{:x}", hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_below_is_listed_but_the_list_itself() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("b/v1")).unwrap();
        std::fs::write(folder.path().join("b/v1/two"), "").unwrap();
        std::fs::write(folder.path().join("one"), "abc").unwrap();
        // Test vectors of FIPS 180-4.
        let expected = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  b/v1/two\n\
                        ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  one\n";
        for _ in 0..2 {
            let path = write(folder.path()).unwrap();
            assert_eq!(std::fs::read_to_string(path).unwrap(), expected);
        }
    }
}
