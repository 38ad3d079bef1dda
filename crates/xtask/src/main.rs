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
    /// Write the generated files: CRDs, RBAC, IAM policy, reference pages, pictures
    Generate {
        /// Only check that they are up to date
        #[arg(long)]
        check: bool,
    },
    /// Let cargo-deny check licences, banned and duplicate crates, their sources and advisories, without network
    Deny,
    /// Write what the RustSec advisory database says about the crates in Cargo.lock to hack/advisories.toml
    Advisories {
        /// Path of a clone of the database
        #[arg(long)]
        from: PathBuf,
    },
    /// Check what no compiler checks: paths of one machine, broken links, unfinished code, words not to use
    Tidy,
    /// Print lines per crate, long functions and files that need each other
    Measure {
        /// Another work tree than this one
        folder: Option<PathBuf>,
    },
    /// Write a release: the folders that clusterctl installs from, SBOMs, the statement of provenance, checksums
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
    /// Write the image of a release folder, in OCI's layout, for each Linux platform whose programs are there, and run
    /// what is in it
    Image {
        /// Version of the release, for instance v0.1.0
        #[arg(long)]
        version: String,
        /// The folder
        #[arg(long, default_value = "dist")]
        out: PathBuf,
    },
    /// Write the Krew manifest of the kubectl plugin of a release folder, beside the plugin's archives
    Krew {
        /// Version of the release, for instance v0.1.0
        #[arg(long)]
        version: String,
        /// The folder
        #[arg(long, default_value = "dist")]
        out: PathBuf,
        /// Where the folder is published
        #[arg(long, default_value = xtask::krew::URL)]
        url: String,
    },
    /// Write the documentation as a book, with mdBook
    Book {
        /// The folder, which is emptied
        #[arg(long, default_value = "target/book")]
        out: PathBuf,
        /// Where the files of the repository are published
        #[arg(long, default_value = xtask::book::REPOSITORY)]
        repository: String,
    },
    /// Complete the statement of provenance of a release folder and write the checksums of everything in it
    Checksums {
        /// The folder
        #[arg(long, default_value = "dist")]
        out: PathBuf,
    },
    /// Run `cargo test` on the workspace and end with one line that says how many tests passed and failed
    Test {
        /// Names of end-to-end programs (`e2e/story`; `e2e/`: all), or arguments for `cargo test`; none: all tests
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
        Command::Deny => xtask::deny::check(&root, jiff::Zoned::now().date())?,
        Command::Advisories { from } => println!("{}", xtask::advisories::write(&root, &from)?.display()),
        Command::Tidy => xtask::tidy::check(&root)?,
        Command::Measure { folder } => println!("{}", xtask::measure::of(&folder.unwrap_or(root))?),
        Command::Release { version, out, image } => {
            for path in xtask::release::write_all(&root, &version, &image, &out)? {
                println!("{}", path.display());
            }
        }
        Command::Image { version, out } => {
            println!("{}", xtask::image::write(&root, &version, &out)?.display());
            for line in xtask::image::check(&version, &out)? {
                println!("{line}");
            }
        }
        Command::Krew { version, out, url } => {
            println!("{}", xtask::krew::write(&version, &out, &url)?.display());
        }
        Command::Book { out, repository } => {
            println!("{}", xtask::book::write(&root, &out, &repository)?.display());
        }
        Command::Checksums { out } => {
            xtask::provenance::complete(&out)?;
            println!("{}", xtask::checksums::write(&out)?.display());
        }
        Command::Test { arguments } => return xtask::tests_total::run(&root, &arguments),
    }
    Ok(ExitCode::SUCCESS)
}
