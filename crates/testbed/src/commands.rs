//! Runs a command-line program to its end, as a user would, and returns what it printed.

use crate::process::{FRUGAL, aws_variables};
use anyhow::{Context as _, Result, bail};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// What a program printed before it ended with status 0.
#[derive(Clone, Debug)]
pub struct Printed {
    /// Standard output.
    pub stdout: String,
    /// Standard error (clusterctl reports its progress there).
    pub stderr: String,
}

/// Runs `program` to its end; an error, with all it printed, unless it ends with status 0.
///
/// `env` is added to our own environment and [`FRUGAL`]. The program is killed if the future is dropped.
pub async fn run<A, S>(program: &Path, args: A, env: &[(&str, &str)], stdin: &str) -> Result<Printed>
where
    A: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let mut command = Command::new(program);
    command.args(args);
    for name in aws_variables() {
        command.env_remove(name);
    }
    command.envs(FRUGAL).envs(env.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let shown = format!("{:?}", command.as_std());
    let mut child = command.spawn().with_context(|| format!("running {shown}"))?;
    let pipe = child.stdin.take();
    let feed = async {
        if let Some(mut pipe) = pipe {
            // Not an error: a program need not read what it is given, and reports itself what was wrong with it.
            drop(pipe.write_all(stdin.as_bytes()).await);
        }
    };
    // Together: a program that prints while it reads would otherwise wait for us, and we for it.
    let ((), output) = tokio::join!(feed, child.wait_with_output());
    let output = output.with_context(|| format!("running {shown}"))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        bail!("{shown}: {}\n{stdout}{stderr}", output.status);
    }
    Ok(Printed { stdout, stderr })
}

/// A program of this workspace, built into the folder of the program that runs.
pub fn beside_us(name: &str) -> Result<PathBuf> {
    // Programs are in target/<profile>, test binaries in target/<profile>/deps.
    let us = std::env::current_exe().context("our own path")?;
    let found = us.ancestors().skip(1).take(2).map(|folder| folder.join(name)).find(|path| path.is_file());
    found.with_context(|| {
        format!(
            "there is no {name} beside {}. Build it with the features the tests use: `make build`",
            us.display()
        )
    })
}
