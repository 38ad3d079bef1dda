//! Files that follow from the code: written by `cargo xtask generate`, compared by a test and by `make check`.
//!
//! Each submodule knows one kind of file and returns its text; only this module touches the disk.

mod api_reference;
mod conditions;
mod crd;
mod dashboards;
mod features;
mod file;
mod iam;
mod names_in_aws;
mod pictures;
pub(crate) mod rbac;

use anyhow::{Context as _, Result, bail};
use std::path::Path;

pub use file::Generated;
pub use pictures::{Axis, Join, Line, Mark, Plot, Scale, short};

/// All generated files, in a fixed order.
pub fn files() -> Result<Vec<Generated>> {
    let mut files = crd::files()?;
    files.extend(rbac::files()?);
    files.extend(iam::files()?);
    files.push(api_reference::file()?);
    files.push(conditions::file()?);
    files.push(names_in_aws::file()?);
    files.push(features::file()?);
    files.extend(dashboards::files()?);
    files.extend(pictures::files()?);
    Ok(files)
}

pub(crate) use crd::values as crds;

/// Writes them all, and removes CRDs of kinds, dashboards and pictures that are no more.
pub fn write(root: &Path) -> Result<()> {
    let files = files()?;
    for file in &files {
        let path = root.join(&file.path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        }
        if std::fs::read_to_string(&path).ok().as_deref() != Some(file.text.as_str()) {
            std::fs::write(&path, &file.text).with_context(|| format!("writing {}", path.display()))?;
            println!("wrote {}", file.path);
        }
    }
    for left in left_over(root, &files)? {
        std::fs::remove_file(root.join(&left)).with_context(|| format!("removing {left}"))?;
        println!("removed {left}");
    }
    Ok(())
}

/// Fails if a file on disk is not what [`write()`] would write, and names the first line that differs.
pub fn check(root: &Path) -> Result<()> {
    let files = files()?;
    let mut stale: Vec<String> = files.iter().filter_map(|file| difference(root, file)).collect();
    stale.extend(left_over(root, &files)?.into_iter().map(|path| format!("{path}: nothing generates it")));
    if stale.is_empty() {
        println!("{} generated files are up to date", files.len());
        return Ok(());
    }
    bail!("generated files are stale (run `cargo xtask generate`):\n  {}", stale.join("\n  "))
}

fn difference(root: &Path, file: &Generated) -> Option<String> {
    let Ok(there) = std::fs::read_to_string(root.join(&file.path)) else {
        return Some(format!("{}: missing", file.path));
    };
    if there == file.text {
        return None;
    }
    let line = there.lines().zip(file.text.lines()).take_while(|(a, b)| a == b).count() + 1;
    Some(format!("{}: differs from line {line} on", file.path))
}

/// Files in folders that hold nothing but generated files.
fn left_over(root: &Path, files: &[Generated]) -> Result<Vec<String>> {
    let mut left = Vec::new();
    for generated in [crd::FOLDER, dashboards::FOLDER, pictures::FOLDER] {
        let folder = root.join(generated);
        if !folder.exists() {
            continue;
        }
        for entry in std::fs::read_dir(&folder).with_context(|| format!("listing {}", folder.display()))? {
            let path = format!("{generated}/{}", entry?.file_name().to_string_lossy());
            if !files.iter().any(|file| file.path == path) {
                left.push(path);
            }
        }
    }
    left.sort();
    Ok(left)
}
