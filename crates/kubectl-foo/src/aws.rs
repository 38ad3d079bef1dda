//! Reads from AWS with the user's own credentials, by the AWS CLI (version 1 or 2): it knows profiles, single sign-on and
//! roles as its user has set them up, and a missing right is the user's.

use anyhow::{Context as _, Result, anyhow, bail};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::timeout;

/// How long one command of the AWS CLI may take, all its pages and repetitions included. On a busy machine several at a time take most of
/// a minute to start.
const PATIENCE: Duration = Duration::from_mins(3);

/// What makes both versions of the AWS CLI print for programs: no pager, no questions, errors in one line, UTF-8.
const FOR_PROGRAMS: [(&str, &str); 4] = [
    ("AWS_PAGER", ""),
    ("AWS_CLI_AUTO_PROMPT", "off"),
    ("AWS_CLI_ERROR_FORMAT", "legacy"),
    ("PYTHONIOENCODING", "utf-8"),
];

/// The AWS CLI in a region.
#[derive(Clone, Debug)]
pub struct Aws {
    program: PathBuf,
    region: String,
    profile: Option<String>,
}

impl Aws {
    /// With the credentials of that profile, or those that the AWS CLI finds.
    pub fn new(region: impl Into<String>, profile: Option<String>) -> Self {
        Self { program: PathBuf::from("aws"), region: region.into(), profile }
    }

    /// The region.
    pub fn region(&self) -> &str {
        &self.region
    }

    /// What an operation responds to that input, in AWS's names of fields. Values from objects are passed like this: as arguments the
    /// AWS CLI would take some for options (`--no-verify-ssl`) or for names of files to read (`file://`).
    ///
    /// # Errors
    /// As [`Aws::read`].
    pub async fn ask<T: DeserializeOwned>(&self, service: &str, operation: &str, input: &Value) -> Result<T> {
        self.read(&[service, operation, "--cli-input-json", &input.to_string()]).await
    }

    /// What a command responds; `command` is the service, the operation and its arguments.
    ///
    /// # Errors
    /// The AWS CLI is not on the `PATH`, AWS refuses the call, or there is no response in time.
    pub async fn read<T: DeserializeOwned>(&self, command: &[&str]) -> Result<T> {
        let mut program = Command::new(&self.program);
        program.args(command).args(["--output", "json", "--region", &self.region]);
        if let Some(profile) = &self.profile {
            program.args(["--profile", profile]);
        }
        program.envs(FOR_PROGRAMS).stdin(Stdio::null()).kill_on_drop(true);
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
            bail!("{shown} failed: {}", reason(&String::from_utf8_lossy(&output.stderr)));
        }
        // Of a response without fields nothing is printed.
        let text = if output.stdout.trim_ascii().is_empty() { b"{}" } else { output.stdout.as_slice() };
        serde_json::from_slice(text).with_context(|| format!("reading the output of {shown}"))
    }
}

/// A response of the AWS CLI.
pub(crate) type Response = BTreeMap<String, Value>;

/// The items of a response, which are below that name; none if it has no such name.
pub(crate) fn items<T: DeserializeOwned>(mut response: Response, name: &str) -> Result<Vec<T>> {
    let items = response.remove(name).unwrap_or_else(|| Value::Array(Vec::new()));
    serde_json::from_value(items).with_context(|| format!("reading {name} of the AWS CLI"))
}

/// What was read, or nothing and why.
pub(crate) fn or_unread<T>(read: Result<T>, unread: &mut Vec<String>) -> Option<T> {
    read.map_err(|error| unread.push(format!("{error:#}"))).ok()
}

/// Code and message of what the AWS CLI prints when AWS refuses a call: `An error occurred (Code) when calling the Name operation: message`.
pub fn refusal(text: &str) -> Option<(&str, &str)> {
    let (_, rest) = text.split_once("An error occurred (")?;
    let (code, rest) = rest.split_once(')')?;
    let (_, rest) = rest.split_once(" operation")?;
    // After retries it says so in parentheses.
    let message = rest.strip_prefix(": ").or_else(|| rest.split_once("): ").map(|(_, message)| message));
    Some((code, message.unwrap_or(rest).trim()))
}

/// Why a command failed: AWS's error, or else the last line.
fn reason(errors: &str) -> &str {
    let mut lines = errors.lines().map(str::trim).filter(|line| !line.is_empty());
    let refusal = lines.clone().find(|line| line.contains("An error occurred"));
    refusal.or_else(|| lines.next_back()).unwrap_or("without a reason")
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use serde_json::json;

    /// What an AWS CLI would respond that is this shell script. No file, which another process could just be writing.
    async fn run(script: &str) -> Result<Value> {
        let shell = PathBuf::from("/bin/sh");
        let aws = Aws { program: shell, ..Aws::new("eu-central-1", Some("ops".to_owned())) };
        aws.read(&["-c", script, "aws", "describe-vpcs"]).await
    }

    #[tokio::test]
    async fn the_cli_is_called_for_programs_with_region_and_profile() {
        let script = r#"echo "{\"arguments\": \"$*\", \"pager\": \"$AWS_PAGER\", \"errors\": \"$AWS_CLI_ERROR_FORMAT\"}""#;
        let arguments = "describe-vpcs --output json --region eu-central-1 --profile ops";
        assert_eq!(
            run(script).await.unwrap(),
            json!({"arguments": arguments, "pager": "", "errors": "legacy"})
        );
        assert_eq!(run("exit 0").await.unwrap(), json!({}));
    }

    #[tokio::test]
    async fn values_of_objects_are_no_arguments() {
        let shell = Aws { program: PathBuf::from("/bin/sh"), ..Aws::new("eu-central-1", None) };
        let odd = json!({"InstanceTypes": ["--no-verify-ssl", "file:///etc/passwd", "$(id)"]});
        // The script prints what the AWS CLI would find behind --cli-input-json.
        let found = shell.ask::<Value>("-c", r#"test "$0" = --cli-input-json && printf %s "$1""#, &odd).await;
        assert_eq!(found.unwrap(), odd);
    }

    #[tokio::test]
    async fn a_failure_has_the_reason_of_aws_in_one_line() {
        let failure = async |script: &str| format!("{:#}", run(script).await.unwrap_err());
        let refused = "An error occurred (UnauthorizedOperation) when calling the DescribeVpcs operation: no";
        let script = format!("echo >&2; echo '{refused}' >&2; echo 'Type: Sender' >&2; exit 254");
        assert_eq!(failure(&script).await, format!("aws -c {script} failed: {refused}"));
        let script = "echo 'first' >&2; echo 'Unable to locate credentials' >&2; exit 253";
        assert!(failure(script).await.ends_with(" failed: Unable to locate credentials"));
        assert!(failure("exit 1").await.ends_with(" failed: without a reason"));
        assert!(failure("echo nonsense").await.starts_with("reading the output of aws -c echo nonsense: "));
    }

    #[tokio::test]
    async fn without_the_cli_it_says_so() {
        let aws = Aws { program: PathBuf::from("/no/such/aws"), ..Aws::new("eu-central-1", None) };
        let missing = aws.read::<Value>(&["ec2", "describe-vpcs"]).await.unwrap_err();
        assert!(missing.to_string().starts_with("the AWS CLI is not on the PATH"), "{missing}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_cli_that_never_ends_is_ended() {
        let late = run("exec sleep 600").await.unwrap_err();
        assert!(late.to_string().ends_with(" did not end within 180 s"), "{late}");
    }
}
