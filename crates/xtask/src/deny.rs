//! `cargo xtask deny`: cargo-deny's judgement on licences, banned crates, duplicates, sources and advisories, without network.
//!
//! cargo-deny reads deny.toml; the advisories are those that [`crate::advisories`] wrote down. A warning is an error:
//! an exception that is not needed any more must be removed.

use anyhow::{Context as _, Result, ensure};
use jiff::civil::Date;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable by which deny.toml finds the advisories.
const DATABASES: &str = "FOO_ADVISORIES";

/// Fails if cargo-deny finds anything.
pub fn check(root: &Path, today: Date) -> Result<()> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let databases = root.join(target).join("advisories-written-down");
    for remark in crate::advisories::restore(root, &databases, today)? {
        println!("warning: {remark}");
    }
    // It reads the manifests of all crates of Cargo.lock, those of other platforms too. Needs no network if they are
    // downloaded.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    run(Command::new(cargo).current_dir(root).args(["fetch", "--locked", "--quiet"]))?;
    let arguments = ["--offline", "--locked", "check", "--deny", "warnings"];
    run(Command::new(program(root)).current_dir(root).args(arguments).env(DATABASES, databases))
}

/// Where hack/tools/cargo-deny.sh puts it.
fn program(root: &Path) -> PathBuf {
    let tools = std::env::var_os("FOO_TOOLS_BIN").map_or_else(|| root.join("hack/tools/bin"), PathBuf::from);
    tools.join("cargo-deny")
}

fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status =
        command.status().with_context(|| format!("running {name} (hack/tools/cargo-deny.sh builds it)"))?;
    ensure!(status.success(), "{name}: {status}");
    Ok(())
}
