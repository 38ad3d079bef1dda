//! What an instance wrote to its console (EC2 API Reference, GetConsoleOutput), by the AWS CLI.

use crate::access::Reads;
use crate::aws::Aws;
use crate::capi::Machine;
use crate::cluster::{get, region};
use anyhow::{Result, anyhow};
use serde::Deserialize;

/// The console of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Console {
    /// Its id.
    pub instance: String,
    /// What it wrote, at most the last 64 KB.
    pub output: String,
    /// Until when, as AWS writes times.
    pub at: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Response {
    output: Option<String>,
    timestamp: Option<String>,
}

/// Reads the console of a Machine's instance.
///
/// # Errors
/// The Machine does not exist or has no instance, or a right is missing in Kubernetes or AWS.
pub async fn read(
    reads: &Reads<'_>,
    namespace: &str,
    name: &str,
    latest: bool,
    profile: Option<String>,
) -> Result<Console> {
    let machine: Machine = get(reads, namespace, name).await?;
    let id = machine.spec.provider_id.as_deref().and_then(|id| id.rsplit('/').next());
    let id = id.filter(|id| id.starts_with("i-"));
    let instance = id.ok_or_else(|| anyhow!("Machine {name} has no instance yet"))?.to_owned();
    let region = region(reads, namespace, &machine.spec.cluster_name).await?;
    let aws = Aws::new(region, profile);
    let mut command = vec!["ec2", "get-console-output", "--instance-id", instance.as_str()];
    if latest {
        command.push("--latest");
    }
    let Response { output, timestamp } = aws.read(&command).await?;
    Ok(Console { output: output.unwrap_or_default(), at: timestamp, instance })
}

/// The output as lines of text: without colours, and with line ends as here.
pub fn text(console: &Console) -> String {
    let plain = without_sequences(&console.output).replace('\t', "    ");
    let lines: Vec<&str> = plain.lines().map(|line| line.trim_end_matches('\r')).collect();
    if lines.is_empty() { String::new() } else { lines.join("\n") + "\n" }
}

/// Why there is nothing, or how old the output is.
pub fn warning(console: &Console) -> Option<String> {
    let Console { instance, output, at } = console;
    if output.is_empty() {
        return Some(format!(
            "EC2 has no console output of {instance} yet: it keeps it from a few minutes after the start; --latest has it sooner, on Nitro"
        ));
    }
    at.as_ref().map(|at| format!("console output of {instance} until {at}"))
}

/// The text without the control sequences of terminals (ECMA-48: `ESC [`, parameters, one final byte). One that is cut off ends where
/// it is.
fn without_sequences(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let after = after.trim_start_matches(|c: char| ('\u{20}'..='\u{3f}').contains(&c));
        let is_final = |c: &char| ('\u{40}'..='\u{7e}').contains(c);
        rest = after.strip_prefix(|c: char| is_final(&c)).unwrap_or(after);
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn console(output: &str) -> Console {
        let at = (!output.is_empty()).then(|| "2026-11-21T12:00:00.000Z".to_owned());
        Console { instance: "i-1".to_owned(), output: output.to_owned(), at }
    }

    #[test]
    fn colours_and_carriage_returns_are_left_out() {
        let read = console(
            "[  OK  ] \u{1b}[0;32mStarted\u{1b}[0m kubelet.\r\n\u{1b}[Klogin: \u{1b}]0;x\u{7}\u{1b}[3",
        );
        assert_eq!(text(&read), "[  OK  ] Started kubelet.\nlogin: \u{1b}]0;x\u{7}\n");
        assert_eq!(warning(&read).unwrap(), "console output of i-1 until 2026-11-21T12:00:00.000Z");
    }

    #[test]
    fn without_output_a_warning_says_why() {
        assert_eq!(text(&console("")), "");
        assert!(warning(&console("")).unwrap().starts_with("EC2 has no console output of i-1 yet"));
    }
}
