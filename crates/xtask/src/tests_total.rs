//! `cargo xtask test`: every test of the workspace, each once, and one last line with the total.
//!
//! Cargo says which test programs there are. Those of the end-to-end tests spend most of their time waiting for real components, all others
//! computing: so there are two lanes, side by side, and in each one program after the other. The second lane begins with the end-to-end
//! tests, and the first one takes part in them when all others are done. The lines of the second lane begin with `| `. Nothing is read
//! but what libtest says.

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::time::Instant;

/// The folder of the package whose tests wait for real components.
const END_TO_END: &str = "tests/e2e";

/// Programs whose tests wait for minutes of AWS, in several worlds: more of them run at a time than there are processors, and they begin
/// first, because the longest program that begins last decides when all is over.
const WAITING: [&str; 1] = ["e2e/eks"];
const WAITING_AT_A_TIME: &str = "4";

/// Runs them. The last line is `N passed, N failed`; the exit code is 0 only if nothing failed.
pub fn run(root: &Path, arguments: &[String]) -> Result<ExitCode> {
    let started = Instant::now();
    let total = Mutex::new(Total::default());
    if arguments.is_empty() {
        whole(root, &total)?;
    } else {
        let mut command = cargo(root);
        listen("", command.args(["test"]).args(arguments), &total)?;
    }
    let total = total.into_inner().unwrap_or_default();
    let mut out = std::io::stdout().lock();
    if !total.failures.is_empty() {
        writeln!(out, "\nfailed:\n  {}", total.failures.join("\n  "))?;
    }
    if total.ignored > 0 {
        writeln!(out, "\n{} ignored", total.ignored)?;
    }
    for (program, seconds) in total.slowest() {
        writeln!(out, "{seconds:>5} s  {program}")?;
    }
    writeln!(out, "\ntests took {} s", started.elapsed().as_secs())?;
    writeln!(out, "{} passed, {} failed", total.passed, total.failed)?;
    let held = total.failed == 0 && total.passed > 0;
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds all test programs, runs the examples of the documentation, then the programs in their lanes.
fn whole(root: &Path, total: &Mutex<Total>) -> Result<()> {
    let (mut end_to_end, others): (Vec<Program>, Vec<Program>) =
        programs(root)?.into_iter().partition(|program| program.folder.ends_with(END_TO_END));
    end_to_end.sort_by_key(|program| !program.waits());
    listen("", cargo(root).args(["test", "--workspace", "--doc", "--no-fail-fast"]), total)?;
    let waiting = Mutex::new(end_to_end.into_iter());
    let next = || waiting.lock().ok().and_then(|mut programs| programs.next());
    std::thread::scope(|scope| {
        let second =
            scope.spawn(|| std::iter::from_fn(next).try_for_each(|program| program.run("| ", total)));
        let first =
            others.into_iter().chain(std::iter::from_fn(next)).try_for_each(|program| program.run("", total));
        let second = second.join().unwrap_or_else(|_| Err(anyhow::anyhow!("the second lane panicked")));
        first.and(second)
    })
}

/// A test program that cargo built.
#[derive(Debug, PartialEq, Eq)]
struct Program {
    /// For people.
    name: String,
    /// Its package's, where cargo would run it.
    folder: PathBuf,
    executable: PathBuf,
}

/// What cargo says of each thing that it built.
#[derive(Deserialize)]
struct Artifact {
    manifest_path: PathBuf,
    target: Target,
    profile: Profile,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

fn programs(root: &Path) -> Result<Vec<Program>> {
    let output = cargo(root)
        .args(["test", "--workspace", "--no-run", "--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("running cargo test --no-run")?;
    ensure!(output.status.success(), "the tests do not build");
    let text = String::from_utf8(output.stdout).context("cargo wrote something else than UTF-8")?;
    Ok(text.lines().filter_map(program).collect())
}

/// The test program that a line of cargo's messages is about, if it is about one.
fn program(line: &str) -> Option<Program> {
    let artifact: Artifact = serde_json::from_str(line).ok()?;
    let executable = artifact.executable.filter(|_| artifact.profile.test)?;
    let folder = artifact.manifest_path.parent()?.to_owned();
    let package = folder.file_name()?.to_string_lossy().into_owned();
    Some(Program { name: format!("{package}/{}", artifact.target.name), folder, executable })
}

impl Program {
    fn waits(&self) -> bool {
        WAITING.contains(&self.name.as_str())
    }

    fn run(&self, lane: &str, total: &Mutex<Total>) -> Result<()> {
        let started = Instant::now();
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        if self.waits() {
            command.env("RUST_TEST_THREADS", WAITING_AT_A_TIME);
        }
        println!("{lane}== {}", self.name);
        listen(lane, &mut command, total)?;
        let took = started.elapsed().as_secs();
        if let Ok(mut total) = total.lock() {
            total.seconds.insert(self.name.clone(), took);
        }
        Ok(())
    }
}

fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// Runs a command, prints what it prints and counts. A command that fails without a failed test is a failure of its own.
fn listen(lane: &str, command: &mut Command, total: &Mutex<Total>) -> Result<()> {
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("starting {command:?}"))?;
    let output = child.stdout.take().context("a command without output")?;
    let mut own = Total::default();
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("reading what a test program prints")?;
        let line = String::from_utf8_lossy(&line);
        println!("{lane}{line}");
        own.read(&line);
    }
    let status = child.wait().context("waiting for a test program")?;
    if !status.success() && own.failed == 0 {
        own.failed = 1;
        own.failures.push(format!("{command:?} ended with {status}: it did not build or was killed"));
    }
    if let Ok(mut total) = total.lock() {
        total.add(own);
    }
    Ok(())
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Total {
    passed: u64,
    failed: u64,
    ignored: u64,
    failures: Vec<String>,
    /// How long each program took.
    seconds: BTreeMap<String, u64>,
}

impl Total {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        self.failures.extend(other.failures);
    }

    /// The ten programs that took longest, the longest first.
    fn slowest(&self) -> Vec<(&str, u64)> {
        let mut all: Vec<(&str, u64)> =
            self.seconds.iter().map(|(name, took)| (name.as_str(), *took)).collect();
        all.sort_by_key(|(_, took)| std::cmp::Reverse(*took));
        all.truncate(10);
        all
    }

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
            let mut own = Total::default();
            own.read(line);
            total.add(own);
        }
        let failures = vec!["a::c".to_owned()];
        assert_eq!(total, Total { passed: 42, failed: 1, ignored: 2, failures, ..Total::default() });
    }

    #[test]
    fn a_test_program_is_what_cargo_built_for_tests() {
        let line = |test: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/x/tests/e2e/Cargo.toml","target":{{"name":"story"}},
                    "profile":{{"test":{test}}},"executable":"/x/story-1"}}"#
            )
        };
        let found = program(&line(true)).unwrap();
        assert_eq!((found.name.as_str(), found.folder.ends_with(END_TO_END)), ("e2e/story", true));
        assert_eq!(program(&line(false)), None);
        assert_eq!(program(r#"{"reason":"build-finished","success":true}"#), None);
    }

    #[test]
    fn a_command_that_is_killed_is_a_failure() {
        let total = Mutex::new(Total::default());
        listen(
            "",
            Command::new("sh").args(["-c", "echo 'test result: ok. 3 passed; 0 failed'; kill -9 $$"]),
            &total,
        )
        .unwrap();
        let total = total.into_inner().unwrap();
        assert_eq!((total.passed, total.failed, total.failures.len()), (3, 1, 1));
    }
}
