//! Reads from AWS with the user's own credentials, by the AWS CLI (version 1 or 2): it knows profiles, single sign-on and
//! roles as its user has set them up, and a missing right is the user's.

use anyhow::{Context as _, Result, anyhow, bail};
use serde::de::DeserializeOwned;
use std::io::ErrorKind;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::timeout;

/// How long one command of the AWS CLI may take, all its pages and repetitions included.
const PATIENCE: Duration = Duration::from_mins(1);

/// The AWS CLI in a region.
#[derive(Clone, Debug)]
pub struct Aws {
    region: String,
    profile: Option<String>,
}

impl Aws {
    /// With the credentials of that profile, or those that the AWS CLI finds.
    pub fn new(region: impl Into<String>, profile: Option<String>) -> Self {
        Self { region: region.into(), profile }
    }

    /// The region.
    pub fn region(&self) -> &str {
        &self.region
    }

    /// What a command responds; `command` is the service, the operation and its arguments.
    ///
    /// # Errors
    /// The AWS CLI is not on the `PATH`, AWS refuses the call, or there is no response in time.
    pub async fn read<T: DeserializeOwned>(&self, command: &[&str]) -> Result<T> {
        let mut program = Command::new("aws");
        program.args(command).args(["--output", "json", "--region", &self.region]);
        if let Some(profile) = &self.profile {
            program.args(["--profile", profile]);
        }
        program.env("AWS_PAGER", "").stdin(Stdio::null()).kill_on_drop(true);
        let shown = format!("aws {}", command.iter().take(2).copied().collect::<Vec<_>>().join(" "));
        let output = timeout(PATIENCE, program.output())
            .await
            .map_err(|_late| anyhow!("{shown} did not end within {} s", PATIENCE.as_secs()))?;
        let output = output.map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                anyhow!("the AWS CLI is not on the PATH: this command reads from AWS with `aws`")
            }
            _ => anyhow!("could not start {shown}: {error}"),
        })?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            let last = errors.lines().map(str::trim).rfind(|line| !line.is_empty());
            bail!("{shown} failed: {}", last.unwrap_or("without a reason"));
        }
        serde_json::from_slice(&output.stdout).with_context(|| format!("reading the output of {shown}"))
    }
}
