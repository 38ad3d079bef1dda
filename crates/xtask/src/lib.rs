//! Everything about the repository that is not the product: generators, the release folder, and checks that need no
//! network. `main.rs` is the table of contents; each module is one command.
//!
//! It links neither the manager nor the AWS SDK, so that it builds in a minute on a fresh machine.
//!
//! Each generated file has a test that compares it.

pub mod advisories;
mod archive;
pub mod book;
pub mod chart;
pub mod checksums;
pub mod deny;
mod files;
pub mod generate;
mod graph;
pub mod image;
mod imports;
pub mod krew;
mod links;
pub mod measure;
pub mod provenance;
pub mod release;
pub mod sbom;
mod sources;
mod spelling;
mod targets;
pub mod tests_total;
pub mod tidy;
mod unused;
mod words;
pub mod yaml;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Root folder of the repository: where the workspace's Cargo.toml is.
pub fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).map_or_else(|| here.clone(), Path::to_path_buf)
}

/// What git prints for these arguments; `None` if it fails, for instance in sources that were unpacked from an archive.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(root).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether a file is Rust code, by its name.
fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}
