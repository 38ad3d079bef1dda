//! `cargo xtask <command>`: see `cargo xtask --help`.

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Generators and repository checks")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write the generated files: CRDs, RBAC, IAM policy, reference pages
    Generate {
        /// Only check that they are up to date
        #[arg(long)]
        check: bool,
    },
    /// Check licences, banned and duplicate crates and their sources against deny.toml, without network
    Deny,
    /// Check what no compiler checks: stray paths, broken links, unfinished code
    Tidy,
    /// Write a release: the folders that clusterctl installs from, the SBOM of the manager, checksums
    Release {
        /// Version to release, for instance v0.1.0
        #[arg(long)]
        version: String,
        /// Folder to write to
        #[arg(long, default_value = "dist")]
        out: PathBuf,
        /// Image of the manager, without tag
        #[arg(long, default_value = xtask::release::IMAGE)]
        image: String,
    },
    /// Write the checksums of everything in a release folder
    Checksums {
        /// The folder
        #[arg(long, default_value = "dist")]
        out: PathBuf,
    },
    /// Run `cargo test` on the workspace and end with one line that says how many tests passed and failed
    Test {
        /// Arguments for `cargo test` instead of `--workspace --no-fail-fast`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        // Findings are for people: no backtrace, whatever the environment asks for.
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run() -> Result<ExitCode> {
    let root = xtask::root();
    match Arguments::parse().command {
        Command::Generate { check: false } => xtask::generate::write(&root)?,
        Command::Generate { check: true } => xtask::generate::check(&root)?,
        Command::Deny => xtask::deny::check(&root)?,
        Command::Tidy => xtask::tidy::check(&root)?,
        Command::Release { version, out, image } => {
            for path in xtask::release::write_all(&root, &version, &image, &out)? {
                println!("{}", path.display());
            }
        }
        Command::Checksums { out } => println!("{}", xtask::checksums::write(&out)?.display()),
        Command::Test { arguments } => return xtask::tests_total::run(&root, &arguments),
    }
    Ok(ExitCode::SUCCESS)
}
