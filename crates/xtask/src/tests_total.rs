//! `cargo xtask test`: `cargo test` on the whole workspace, each test once, and one last line with the total.
//!
//! Only counts what libtest says; which tests there are and how they run is cargo's business.

use anyhow::{Context as _, Result};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// Runs them. The last line is `N passed, N failed`; the exit code is 0 only if nothing failed.
pub fn run(root: &Path, arguments: &[String]) -> Result<ExitCode> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let started = Instant::now();
    let mut command = Command::new(cargo);
    command.current_dir(root).arg("test");
    if arguments.is_empty() {
        // A total is worth something only if a failure does not end the run.
        command.args(["--workspace", "--no-fail-fast"]);
    } else {
        command.args(arguments);
    }
    let mut child = command.stdout(Stdio::piped()).spawn().context("running cargo test")?;
    let output = child.stdout.take().context("cargo test without output")?;
    let mut total = Total::default();
    let mut out = std::io::stdout().lock();
    for line in BufReader::new(output).lines() {
        let line = line.context("reading the output of cargo test")?;
        writeln!(out, "{line}")?;
        total.read(&line);
    }
    let status = child.wait().context("waiting for cargo test")?;
    if !status.success() && total.failed == 0 {
        writeln!(out, "\ncargo test failed without a failed test: something did not build or was killed")?;
        total.failed = 1;
    }
    if !total.failures.is_empty() {
        writeln!(out, "\nfailed:\n  {}", total.failures.join("\n  "))?;
    }
    if total.ignored > 0 {
        writeln!(out, "\n{} ignored", total.ignored)?;
    }
    writeln!(out, "\ntests took {} s", started.elapsed().as_secs())?;
    writeln!(out, "{} passed, {} failed", total.passed, total.failed)?;
    let held = status.success() && total.failed == 0 && total.passed > 0;
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Total {
    passed: u64,
    failed: u64,
    ignored: u64,
    failures: Vec<String>,
}

impl Total {
    /// `test result: ok. 3 passed; 0 failed; 0 ignored; …` and `test name ... FAILED`.
    fn read(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            for part in counts.split(['.', ';']) {
                match part.trim().split_once(' ') {
                    Some((number, "passed")) => self.passed += number.parse().unwrap_or(0),
                    Some((number, "failed")) => self.failed += number.parse().unwrap_or(0),
                    Some((number, "ignored")) => self.ignored += number.parse().unwrap_or(0),
                    _ => {}
                }
            }
        } else if let Some(name) =
            line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED"))
        {
            self.failures.push(name.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_all_binaries_are_added() {
        let mut total = Total::default();
        for line in [
            "running 3 tests",
            "test a::b ... ok",
            "test a::c ... FAILED",
            "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: ok. 40 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 1.25s",
            "test result: what somebody's test printed",
        ] {
            total.read(line);
        }
        let failures = vec!["a::c".to_owned()];
        assert_eq!(total, Total { passed: 42, failed: 1, ignored: 2, failures });
    }
}
