//! Everything about the repository that is not the product: generators, the release folder, and checks that need no
//! network. `main.rs` is the table of contents; each module is one command.
//!
//! It links neither the manager nor the AWS SDK, so that it builds in a minute on a fresh machine.
//!
//! Each generated file has a test that compares it.

pub mod advisories;
pub mod checksums;
pub mod deny;
mod files;
pub mod generate;
mod graph;
mod imports;
pub mod krew;
pub mod measure;
pub mod provenance;
pub mod release;
pub mod sbom;
pub mod tests_total;
pub mod tidy;
mod unused;
mod words;
pub mod yaml;

use std::path::PathBuf;

/// Root folder of the repository: where the workspace's Cargo.toml is.
pub fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).map_or_else(|| here.clone(), std::path::Path::to_path_buf)
}

/// Whether a file is Rust code, by its name.
fn is_rust(path: &str) -> bool {
    std::path::Path::new(path).extension().is_some_and(|extension| extension == "rs")
}
