//! `cargo xtask test`: the tests of the workspace, each once, and one last line with the total.
//!
//! Cargo lists the test programs. Those that compute keep all processors busy by themselves: they run first, one after the other, since
//! beside real components they take twice the processor time. Those that wait for real components follow in three lanes, side by side,
//! and in each one program after the other; the lines of two lanes begin with `| ` and `: `. Only libtest's lines are read. The
//! report ends with what each program took, in wall-clock and in processor time, and the longest tests.
//!
//! The end-to-end tests are compiled as one program, and each of its modules is run and reported as a program of its own: `e2e/story`
//! is the module `story`.
//!
//! `cargo xtask test --before-a-release` runs the tests that are left out of every other run, `cargo xtask test e2e/story e2e/eks` these
//! programs, and `cargo xtask test e2e/` all that are end to end.

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

/// The program with the tests of [`END_TO_END`]. Each of its modules runs as a process of its own, because a world that tests share
/// stays until their process ends.
const END_TO_END_PROGRAM: &str = "e2e/e2e";

/// How the names of those processes begin.
const END_TO_END_NAMES: &str = "e2e/";

/// How the lines of each lane begin in which programs wait. Three lanes keep two processors busy; with four, tests only wait for
/// each other, and deadlines with them.
const LANES: [&str; 3] = ["", "| ", ": "];

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
const WAITING_AT_A_TIME: &str = "3";

/// The argument that runs [`BEFORE_A_RELEASE`] instead of everything else.
const ONLY_BEFORE_A_RELEASE: &str = "--before-a-release";

/// Tests that only run before a release (`make release-tests`), by program, and what shows the same in every run: mostly tests of the
/// provider alone, on a paused clock. The end-to-end tests are the longest ones.
const BEFORE_A_RELEASE: [(&str, &[&str]); 10] = [
    (
        "controller/suite",
        // Prometheus evaluates each alert and each panel, and its promtool takes minutes to build. In every run, `alerts` checks that the
        // metrics, labels, values and bounds exist that alerts and panels name.
        &[
            "alerts::cases::",
            "alerts::dashboards::every_query_can_be_parsed",
            "alerts::dashboards::every_panel_shows_something",
            "alerts::recorded::",
        ],
    ),
    (
        "e2e/eks",
        &[
            // The controller's suite: eks::adoption; the plugin's tests: printed::adoptions.
            "adoption::",
            // On real components: eks/life and eks/quickstart without a class; network/class, lifecycle/clusterclass, install/templates.
            "class::",
            // The controller's suite: eks::crashes, each call instead of each change.
            "crashes::",
            // The controller's suite: eks::tokens, eks::plans, eks::clocks.
            "days::",
            // The controller's suite: eks::tokens; on real components: eks/life, eks/quickstart use the kubeconfig.
            "life::the_kubeconfig",
            // The controller's suite: moves, eks::crashes; on real components: lifecycle/moves.
            "moves::",
            // The controller's suite: eks::one_name, that no two clusters have one name. That tokens differ by it: nothing else.
            "one_name::",
            // The controller's suite: order, eks::life; on real components: contract/order.
            "orders::",
            // On real components: eks/moves and lifecycle/moves, between two management clusters.
            "self_hosted::",
        ],
    ),
    // The controller's suite: networks::crashes, each call instead of each change.
    ("e2e/network", &["crashes::"]),
    // The controller's suite: peers::capz_5546, of each accident; on real components: the kills in each story, chaos::a_bad_image.
    ("e2e/chaos", &["storms_of_accidents"]),
    // The plugin's tests: preflight of networks and EKS; with the AWS CLI on real components: contract/preflight, of pools.
    ("e2e/contract", &["preflight::preflight_reads"]),
    // On real components: each removal in its order. That a removal in the wrong order can be completed: nothing else.
    ("e2e/install", &["kustomize::a_removal_that_hangs"]),
    (
        "e2e/autoscaler",
        // Scenarios of the planner: autoscaler-scale-in, autoscaler-shortage, autoscaler-reverts; the controller's suite: scale_in.
        &[
            "behavior::a_cancelled_scale_out",
            "behavior::a_deletion_continues",
            "behavior::instances_that_never_join",
        ],
    ),
    // What Cluster API does with such a version, without the provider.
    ("e2e/lifecycle", &["clusterclass::a_topology_with_a_plain_version"]),
    // On real components: runtime/extension_installed; lifecycle/upgrade, of the provider. What core does: runtime/failures.
    ("e2e/runtime", &["extension_upgraded::", "restart::"]),
    // The controller's suite: restarts, retained, same_group, networks::restores; on real components: runbooks/crds and restored.
    ("e2e/runbooks", &["backup::", "networks::"]),
];

/// What is compiled with optimisations for a run of all tests, as `make build` compiles it.
const OPTIMISED: [&str; 2] = ["--config", "hack/optimised.toml"];

/// The unit tests of libraries are compiled without [`OPTIMISED`]: those of foo-controller run for seconds, and take a third of the
/// processor time to compile then. No other test program needs that library, so it is not compiled once more for them.
const UNIT_TESTS: [&str; 1] = ["--lib"];

/// All other tests, and the examples.
const OTHER_TESTS: [&str; 4] = ["--bins", "--examples", "--test", "*"];

/// [`END_TO_END_PROGRAM`] alone.
const END_TO_END_TESTS: [&str; 2] = ["--test", "e2e"];

/// How many arguments of a command a message has: names of tests may follow.
const SHOWN: usize = 5;

/// How many of the longest tests the report lists.
const LONGEST: usize = 20;

/// Clock ticks of `/proc/<pid>/stat` in a second: the same on every Linux that Rust supports (`USER_HZ`, proc(5)).
const TICKS: f64 = 100.0;

/// Runs them. The last line is `N passed, N failed`; the exit code is 0 only if nothing failed.
pub fn run(root: &Path, arguments: &[String]) -> Result<ExitCode> {
    let started = Instant::now();
    let total = Mutex::new(Total::default());
    let when = if arguments == [ONLY_BEFORE_A_RELEASE] { When::BeforeARelease } else { When::Always };
    if arguments.is_empty() || when == When::BeforeARelease {
        whole(root, when, &total)?;
    } else if arguments.iter().all(|argument| argument.starts_with(END_TO_END_NAMES)) {
        end_to_end(root, arguments, &total)?;
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

/// Which tests run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// All but [`BEFORE_A_RELEASE`].
    Always,
    /// [`BEFORE_A_RELEASE`] alone.
    BeforeARelease,
}

/// Builds all test programs, runs the examples of the documentation, then the programs in their lanes. Before a release: only the
/// programs that have tests for that.
fn whole(root: &Path, when: When, total: &Mutex<Total>) -> Result<()> {
    let mut programs = programs(root, when)?;
    for name in FIRST.iter().chain(&LONG_WAITS).chain(&WAITING_TOO) {
        ensure!(programs.iter().any(|it| it.name.starts_with(name)), "no test program is called {name}");
    }
    if when == When::BeforeARelease {
        programs.retain(|program| !program.before_a_release().is_empty());
    }
    let (waiting, computing): (Vec<Program>, Vec<Program>) = programs.into_iter().partition(Program::waits);
    if when == When::Always {
        let examples = ["test", "--workspace", "--doc", "--no-fail-fast"];
        add(total, listen("", cargo(root).args(OPTIMISED).args(examples))?.0);
    }
    computing.into_iter().try_for_each(|program| program.run("", when, total))?;
    in_lanes(waiting, when, total)
}

/// Builds and runs the end-to-end programs whose names begin like one of these, as a run of all tests does.
fn end_to_end(root: &Path, names: &[String], total: &Mutex<Total>) -> Result<()> {
    let mut programs = built(root, &OPTIMISED, &END_TO_END_TESTS)?;
    let is_called = |program: &Program, name: &str| program.name.starts_with(name);
    for name in names {
        ensure!(programs.iter().any(|program| is_called(program, name)), "no test program is called {name}");
    }
    programs.retain(|program| names.iter().any(|name| is_called(program, name)));
    in_lanes(programs, When::Always, total)
}

/// Runs programs that wait, in their lanes.
fn in_lanes(mut waiting: Vec<Program>, when: When, total: &Mutex<Total>) -> Result<()> {
    waiting.sort_by_key(Program::place);
    let waiting = Mutex::new(waiting.into_iter());
    let next = || waiting.lock().ok().and_then(|mut programs| programs.next());
    std::thread::scope(|scope| {
        let next = &next;
        let lanes = LANES.map(|lane| {
            scope.spawn(move || {
                std::iter::from_fn(next).try_for_each(|program| program.run(lane, when, total))
            })
        });
        lanes
            .into_iter()
            .try_for_each(|lane| lane.join().map_err(|_| anyhow::anyhow!("a lane panicked")).flatten())
    })
}

/// A test program that cargo built, or a module of it.
#[derive(Debug, PartialEq, Eq)]
struct Program {
    /// For people.
    name: String,
    /// Its package's, where cargo would run it.
    folder: PathBuf,
    executable: PathBuf,
    /// The module whose tests it runs; `None`: it runs all.
    module: Option<Module>,
}

/// A module at the root of a test program.
#[derive(Debug, PartialEq, Eq)]
struct Module {
    name: String,
    /// Names of its tests as seen from there.
    tests: Vec<String>,
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

fn programs(root: &Path, when: When) -> Result<Vec<Program>> {
    let mut programs = match when {
        When::Always => built(root, &[], &UNIT_TESTS)?,
        // None of these is a unit test of a library.
        When::BeforeARelease => Vec::new(),
    };
    programs.extend(built(root, &OPTIMISED, &OTHER_TESTS)?);
    Ok(programs)
}

/// The test programs that cargo builds of these targets with these settings.
fn built(root: &Path, settings: &[&str], targets: &[&str]) -> Result<Vec<Program>> {
    let output = cargo(root)
        .args(settings)
        .args(["test", "--workspace", "--no-run", "--message-format", "json-render-diagnostics"])
        .args(targets)
        .stderr(Stdio::inherit())
        .output()
        .context("running cargo test --no-run")?;
    ensure!(output.status.success(), "the tests do not build");
    let text = String::from_utf8(output.stdout).context("cargo wrote something else than UTF-8")?;
    let mut programs = Vec::new();
    for built in text.lines().filter_map(program) {
        programs.extend(built.processes()?);
    }
    Ok(programs)
}

/// The test program that a line of cargo's messages is about, if it is about one.
fn program(line: &str) -> Option<Program> {
    let artifact: Artifact = serde_json::from_str(line).ok()?;
    let executable = artifact.executable.filter(|_| artifact.profile.test)?;
    let folder = artifact.manifest_path.parent()?.to_owned();
    let package = folder.file_name()?.to_string_lossy().into_owned();
    Some(Program { name: format!("{package}/{}", artifact.target.name), folder, executable, module: None })
}

impl Program {
    /// What is run of it, each part as a process of its own.
    fn processes(self) -> Result<Vec<Self>> {
        if self.name != END_TO_END_PROGRAM {
            return Ok(vec![self]);
        }
        let output = Command::new(&self.executable)
            .current_dir(&self.folder)
            .args(["--list", "--format", "terse"])
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| format!("listing the tests of {}", self.name))?;
        ensure!(output.status.success(), "{} does not list its tests", self.name);
        self.modules(&String::from_utf8_lossy(&output.stdout))
    }

    /// Each of its modules. `list`: libtest's lines, `module::test: test`.
    fn modules(&self, list: &str) -> Result<Vec<Self>> {
        let mut modules = BTreeMap::<&str, Vec<String>>::new();
        for path in list.lines().filter_map(|line| line.strip_suffix(": test")) {
            let (module, test) = path.split_once("::").with_context(|| format!("{path} is in no module"))?;
            modules.entry(module).or_default().push(test.to_owned());
        }
        let process = |(module, tests): (&str, Vec<String>)| Self {
            name: format!("{END_TO_END_NAMES}{module}"),
            folder: self.folder.clone(),
            executable: self.executable.clone(),
            module: Some(Module { name: module.to_owned(), tests }),
        };
        Ok(modules.into_iter().map(process).collect())
    }

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

    /// What selects its tests that only run before a release.
    fn before_a_release(&self) -> &'static [&'static str] {
        let own = BEFORE_A_RELEASE.iter().find(|(program, _)| *program == self.name);
        own.map_or(&[], |(_, tests)| tests)
    }

    /// libtest's arguments for the tests that run now.
    fn selection(&self, when: When) -> Vec<String> {
        let before = self.before_a_release();
        match (&self.module, when) {
            (None, When::Always) => {
                before.iter().flat_map(|tests| ["--skip", tests]).map(str::to_owned).collect()
            }
            (None, When::BeforeARelease) => before.iter().copied().map(str::to_owned).collect(),
            (Some(module), _) => {
                let only_before = |test: &str| before.iter().any(|tests| test.starts_with(tests));
                let now = |test: &&String| only_before(test) == (when == When::BeforeARelease);
                let names = module.tests.iter().filter(now).map(|test| format!("{}::{test}", module.name));
                // Exactly: names of other modules contain this one's. Its own is that of no test: without a name, libtest runs all.
                ["--exact".to_owned(), module.name.clone()].into_iter().chain(names).collect()
            }
        }
    }

    /// The name of one of its tests as seen from its module.
    fn within<'n>(&self, test: &'n str) -> &'n str {
        let module = self.module.as_ref();
        module.and_then(|it| test.strip_prefix(it.name.as_str())?.strip_prefix("::")).unwrap_or(test)
    }

    fn run(&self, lane: &str, when: When, total: &Mutex<Total>) -> Result<()> {
        let started = Instant::now();
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        // How long each test takes is still unstable in libtest, which reads this variable as the compiler does.
        command.env("RUSTC_BOOTSTRAP", "1").args(["-Z", "unstable-options", "--report-time"]);
        command.args(self.selection(when));
        if LONG_WAITS.contains(&self.name.as_str()) {
            command.env("RUST_TEST_THREADS", WAITING_AT_A_TIME);
        }
        println!("{lane}== {}", self.name);
        let (mut own, processor) = listen(lane, &mut command)?;
        let names = own.tests.iter_mut().map(|(_, name)| name).chain(&mut own.failures);
        names.for_each(|name| *name = format!("{} {}", self.name, self.within(name)));
        let wall = started.elapsed().as_secs();
        own.programs.insert(self.name.clone(), Took { wall, processor });
        if when == When::BeforeARelease && own.passed == 0 && own.failed == 0 {
            own.failed = 1;
            own.failures.push(format!("{} has none of {:?}", self.name, self.before_a_release()));
        }
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
        let shown: Vec<_> =
            std::iter::once(command.get_program()).chain(command.get_args().take(SHOWN)).collect();
        own.failures.push(format!("{shown:?} ended with {status}: it did not build or was killed"));
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
mod tests;
