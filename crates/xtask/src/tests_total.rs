//! `cargo xtask test`: every test of the workspace, each once, and one last line with the total.
//!
//! Cargo lists the test programs. Those that compute keep all processors busy by themselves: they run first, one after the other, since
//! beside real components they take twice the processor time. Those that wait for real components follow in four lanes, side by side,
//! and in each one program after the other; the lines of three lanes begin with `| `, `: ` and `! `. Only libtest's lines are read. The
//! report ends with what each program took, in wall-clock and in processor time, and the longest tests.

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

/// How the lines of each lane begin in which programs wait.
const LANES: [&str; 4] = ["", "| ", ": ", "! "];

/// Other packages and programs that wait for processes of their own most of the time.
const WAITING_TOO: [&str; 3] = ["testbed/", "cloud-adapter/wire", "runtime-sdk/server"];

/// The programs that take longest begin first, because the longest program that begins last decides when all is over. Those whose
/// clusters keep the processors busy (`runtime`, `install`, `lifecycle`, `runbooks`) alternate with those that mostly wait.
const FIRST: [&str; 12] = [
    "e2e/eks",
    "e2e/runtime",
    "e2e/contract",
    "e2e/autoscaler",
    "e2e/install",
    "e2e/story",
    "e2e/lifecycle",
    "e2e/chaos",
    "e2e/runbooks",
    "e2e/network",
    "e2e/tenants",
    "e2e/identities",
];

/// Programs whose tests wait for minutes of AWS, in several worlds: more of them run at a time than there are processors.
const LONG_WAITS: [&str; 1] = ["e2e/eks"];
const WAITING_AT_A_TIME: &str = "4";

/// Modules of end-to-end tests that only run before a release. `make chaos`: the manager is killed around each change of AWS, and
/// each response is lost, as in the controller's suite on a paused clock in every run. `make conformance`: a cluster that manages itself.
const BEFORE_A_RELEASE: [&str; 2] = ["crashes::", "self_hosted::"];

/// What is compiled with optimisations for a run of all tests, as `make build` compiles it.
const OPTIMISED: [&str; 2] = ["--config", "hack/optimised.toml"];

/// How many of the longest tests the report lists.
const LONGEST: usize = 20;

/// Clock ticks of `/proc/<pid>/stat` in a second: the same on every Linux that Rust supports (`USER_HZ`, proc(5)).
const TICKS: f64 = 100.0;

/// Runs them. The last line is `N passed, N failed`; the exit code is 0 only if nothing failed.
pub fn run(root: &Path, arguments: &[String]) -> Result<ExitCode> {
    let started = Instant::now();
    let total = Mutex::new(Total::default());
    if arguments.is_empty() {
        whole(root, &total)?;
    } else {
        let mut command = cargo(root);
        add(&total, listen("", command.args(OPTIMISED).arg("test").args(arguments))?.0);
    }
    let total = total.into_inner().unwrap_or_default();
    let mut out = std::io::stdout().lock();
    total.report(&mut out)?;
    if total.ignored > 0 {
        writeln!(out, "\n{} ignored", total.ignored)?;
    }
    writeln!(out, "\ntests took {} s", started.elapsed().as_secs())?;
    if !total.failures.is_empty() {
        // Near the end, where a record that keeps only the last lines has them.
        writeln!(out, "failed:\n  {}", total.failures.join("\n  "))?;
    }
    writeln!(out, "{} passed, {} failed", total.passed, total.failed)?;
    let held = total.failed == 0 && total.passed > 0;
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds all test programs, runs the examples of the documentation, then the programs in their lanes.
fn whole(root: &Path, total: &Mutex<Total>) -> Result<()> {
    let programs = programs(root)?;
    for name in FIRST.iter().chain(&LONG_WAITS).chain(&WAITING_TOO) {
        ensure!(programs.iter().any(|it| it.name.starts_with(name)), "no test program is called {name}");
    }
    let (mut waiting, computing): (Vec<Program>, Vec<Program>) =
        programs.into_iter().partition(Program::waits);
    waiting.sort_by_key(Program::place);
    add(
        total,
        listen("", cargo(root).args(OPTIMISED).args(["test", "--workspace", "--doc", "--no-fail-fast"]))?.0,
    );
    computing.into_iter().try_for_each(|program| program.run("", total))?;
    let waiting = Mutex::new(waiting.into_iter());
    let next = || waiting.lock().ok().and_then(|mut programs| programs.next());
    std::thread::scope(|scope| {
        let next = &next;
        let lanes = LANES.map(|lane| {
            scope.spawn(move || std::iter::from_fn(next).try_for_each(|program| program.run(lane, total)))
        });
        lanes
            .into_iter()
            .try_for_each(|lane| lane.join().map_err(|_| anyhow::anyhow!("a lane panicked")).flatten())
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
        .args(OPTIMISED)
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
        self.is_end_to_end() || WAITING_TOO.iter().any(|name| self.name.starts_with(name))
    }

    fn is_end_to_end(&self) -> bool {
        self.folder.ends_with(END_TO_END)
    }

    /// Its place among the programs that wait, the first one first.
    fn place(&self) -> usize {
        FIRST.iter().position(|name| *name == self.name).unwrap_or(FIRST.len())
    }

    fn run(&self, lane: &str, total: &Mutex<Total>) -> Result<()> {
        let started = Instant::now();
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        // How long each test takes is still unstable in libtest, which reads this variable as the compiler does.
        command.env("RUSTC_BOOTSTRAP", "1").args(["-Z", "unstable-options", "--report-time"]);
        if self.is_end_to_end() {
            command.args(BEFORE_A_RELEASE.iter().flat_map(|module| ["--skip", module]));
        }
        if LONG_WAITS.contains(&self.name.as_str()) {
            command.env("RUST_TEST_THREADS", WAITING_AT_A_TIME);
        }
        println!("{lane}== {}", self.name);
        let (mut own, processor) = listen(lane, &mut command)?;
        let names = own.tests.iter_mut().map(|(_, name)| name).chain(&mut own.failures);
        names.for_each(|name| *name = format!("{} {name}", self.name));
        let wall = started.elapsed().as_secs();
        own.programs.insert(self.name.clone(), Took { wall, processor });
        add(total, own);
        println!("{lane}== {} took {wall} s", self.name);
        Ok(())
    }
}

fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// Runs a command, prints what it prints and counts. A command that fails without a failed test is a failure of its own. Also returns
/// its processor time in seconds, where that can be known.
fn listen(lane: &str, command: &mut Command) -> Result<(Total, Option<f64>)> {
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
    let processor = processor_time(child.id());
    let status = child.wait().context("waiting for a test program")?;
    if !status.success() && own.failed == 0 {
        own.failed = 1;
        own.failures.push(format!("{command:?} ended with {status}: it did not build or was killed"));
    }
    Ok((own, processor))
}

/// Adds what a command printed to the total of all lanes.
fn add(total: &Mutex<Total>, own: Total) {
    if let Ok(mut total) = total.lock() {
        total.add(own);
    }
}

/// Processor time, in seconds, of a process that has closed its output and was not waited for, and of the children that it waited for.
/// It may take a moment until it has ended: what it uses meanwhile is little.
fn processor_time(process: u32) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The second field is a name in parentheses, which may contain anything; utime, stime, cutime and cstime are fields 14 to 17.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(4).map(str::parse::<f64>);
    Some(ticks.sum::<Result<f64, _>>().ok()? / TICKS)
}

/// What a program took, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Took {
    wall: u64,
    processor: Option<f64>,
}

#[derive(Debug, Default, PartialEq)]
struct Total {
    passed: u64,
    failed: u64,
    ignored: u64,
    failures: Vec<String>,
    /// How long each program took.
    programs: BTreeMap<String, Took>,
    /// How long each test took, in seconds.
    tests: Vec<(f64, String)>,
}

impl Total {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        self.failures.extend(other.failures);
        self.tests.extend(other.tests);
        self.programs.extend(other.programs);
    }

    /// What took how long: every program, and the longest tests, the longest first.
    fn report(&self, out: &mut impl std::io::Write) -> std::io::Result<()> {
        let mut programs: Vec<_> = self.programs.iter().collect();
        programs.sort_by_key(|(_, took)| std::cmp::Reverse(took.wall));
        writeln!(out, "\n seconds  processor  program")?;
        for (name, Took { wall, processor }) in programs {
            let processor = processor.map_or_else(String::new, |seconds| format!("{seconds:.0}"));
            writeln!(out, "{wall:>8}  {processor:>9}  {name}")?;
        }
        let mut tests: Vec<_> = self.tests.iter().collect();
        tests.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        writeln!(out, "\n seconds  test")?;
        for (seconds, name) in tests.into_iter().take(LONGEST) {
            writeln!(out, "{seconds:>8.1}  {name}")?;
        }
        Ok(())
    }

    /// `test result: ok. 3 passed; 0 failed; 0 ignored; …` and `test name ... FAILED <1.234s>`.
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
        } else if let Some((name, outcome)) =
            line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... "))
        {
            let (outcome, seconds) = match outcome.split_once(" <") {
                Some((outcome, seconds)) => {
                    (outcome, seconds.strip_suffix("s>").and_then(|it| it.parse().ok()))
                }
                None => (outcome, None),
            };
            if outcome == "FAILED" {
                self.failures.push(name.to_owned());
            }
            self.tests.extend(seconds.map(|seconds| (seconds, name.to_owned())));
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
            "test a::b ... ok <0.250s>",
            "test a::c ... FAILED <12.500s>",
            "test a::d ... FAILED",
            "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: ok. 40 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 1.25s",
            "test result: what a test printed",
        ] {
            let mut own = Total::default();
            own.read(line);
            total.add(own);
        }
        let failures = vec!["a::c".to_owned(), "a::d".to_owned()];
        let tests = vec![(0.25, "a::b".to_owned()), (12.5, "a::c".to_owned())];
        assert_eq!(total, Total { passed: 42, failed: 1, ignored: 2, failures, tests, ..Total::default() });
    }

    #[test]
    fn the_report_names_programs_and_the_longest_tests() {
        let mut total = Total::default();
        total.programs.insert("a/short".to_owned(), Took { wall: 2, processor: Some(1.6) });
        total.programs.insert("a/long".to_owned(), Took { wall: 30, processor: None });
        total.tests = (0..30_u8).map(|n| (f64::from(n), format!("test_{n}"))).collect();
        let mut out = Vec::new();
        total.report(&mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = out.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), 1 + 2 + 1 + LONGEST, "{out}");
        assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), ["30", "a/long"]);
        assert_eq!(lines[2].split_whitespace().collect::<Vec<_>>(), ["2", "2", "a/short"]);
        assert_eq!(lines[4].split_whitespace().collect::<Vec<_>>(), ["29.0", "test_29"]);
    }

    #[test]
    fn the_processor_time_of_a_program_includes_that_of_its_children() {
        let work = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let script = format!("sh -c '{work}'; {work}");
        let (_, took) = listen("", Command::new("sh").args(["-c", &script])).unwrap();
        assert!(took.is_none_or(|seconds| seconds > 0.0), "{took:?}");
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
        assert_eq!((found.name.as_str(), found.is_end_to_end(), found.waits()), ("e2e/story", true, true));
        assert_eq!(program(&line(false)), None);
        assert_eq!(program(r#"{"reason":"build-finished","success":true}"#), None);
    }

    #[test]
    fn a_command_that_is_killed_is_a_failure() {
        let script = "echo 'test result: ok. 3 passed; 0 failed'; kill -9 $$";
        let (total, _) = listen("", Command::new("sh").args(["-c", script])).unwrap();
        assert_eq!((total.passed, total.failed, total.failures.len()), (3, 1, 1));
    }
}
