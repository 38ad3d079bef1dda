//! What a run measured, as data: a file of JSON for each run, from which the page of figures is written later.
//!
//! A figure has no goal here (those are in `goals.rs`) and no text of its own: the page decides how it is shown.

use anyhow::{Context as _, Result};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a figure measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Measure {
    /// AWS calls per minute of idle pools.
    IdleCalls,
    /// Kubernetes writes per minute of idle pools.
    IdleWrites,
    /// AWS calls from nothing to all instances.
    ScaleOutCalls,
    /// Kubernetes writes from nothing to all instances.
    ScaleOutWrites,
    /// Seconds from nothing to all instances.
    ScaleOutSeconds,
    /// AWS calls from all instances to a tenth of them, with a drain of each.
    ScaleInCalls,
    /// Kubernetes writes from all instances to a tenth of them, with a drain of each.
    ScaleInWrites,
    /// AWS calls per instance from all instances to none, with a drain of each.
    ToZeroCallsEach,
    /// Kubernetes writes per instance from all instances to none, with a drain of each.
    ToZeroWritesEach,
    /// Resident memory of the manager in MB, with full caches and idle pools.
    ResidentMegabytes,
    /// Seconds from the start of a manager until it has reconciled everything.
    RestartSeconds,
    /// AWS calls from the start of a manager until it has reconciled everything.
    RestartCalls,
    /// Seconds from the end of the leader until another replica is the leader.
    FailOverLeaderSeconds,
    /// Seconds from the end of the leader until the first pass of the next one.
    FailOverPassSeconds,
    /// Seconds from the end of the leader until the next one has changed the size of a group.
    FailOverChangeSeconds,
    /// Percent by which a roll-out takes longer than its launches and drains alone.
    RollOutOverLimit,
    /// AWS calls per replaced instance.
    RollOutCallsEach,
    /// Kubernetes writes per replaced instance.
    RollOutWritesEach,
    /// The 99th percentile of the passes of pools in milliseconds: the upper bound of its bucket of the histogram.
    PassP99Milliseconds,
    /// Processor time of the manager per change of one Machine of an idle pool, in milliseconds.
    ChangedMachineMilliseconds,
    /// Seconds from the launch of an instance that a user requested in AWS until it has a FooMachine.
    ChangeSeconds,
}

impl Measure {
    /// What it is called on the page.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::IdleCalls => "AWS calls per minute, idle",
            Self::IdleWrites => "Kubernetes writes per minute, idle",
            Self::ScaleOutCalls => "AWS calls of a scale-out from 0",
            Self::ScaleOutWrites => "Kubernetes writes of a scale-out from 0",
            Self::ScaleOutSeconds => "duration of a scale-out from 0, in s",
            Self::ScaleInCalls => "AWS calls of a scale-in to a tenth, with drains",
            Self::ScaleInWrites => "Kubernetes writes of a scale-in to a tenth, with drains",
            Self::ToZeroCallsEach => "AWS calls per instance of a scale-in to 0, with drains",
            Self::ToZeroWritesEach => "Kubernetes writes per instance of a scale-in to 0, with drains",
            Self::ResidentMegabytes => "resident memory of the manager with full caches, in MB",
            Self::RestartSeconds => "from the start of a manager until all passes are done, in s",
            Self::RestartCalls => "AWS calls from the start of a manager until all passes are done",
            Self::FailOverLeaderSeconds => "from SIGKILL of the leader until another replica leads, in s",
            Self::FailOverPassSeconds => {
                "from SIGKILL of the leader until the first pass of the next one, in s"
            }
            Self::FailOverChangeSeconds => {
                "from SIGKILL of the leader until the next one changes a group, its settle time included, in s"
            }
            Self::RollOutOverLimit => "time of a roll-out beyond its launches and drains alone, in %",
            Self::RollOutCallsEach => "AWS calls per replaced instance",
            Self::RollOutWritesEach => "Kubernetes writes per replaced instance",
            Self::PassP99Milliseconds => {
                "99th percentile of the passes of pools, in ms (upper bound of its bucket)"
            }
            Self::ChangedMachineMilliseconds => "processor time per change of one Machine, in ms",
            Self::ChangeSeconds => "from a launch that a user requested in AWS until its FooMachine, in s",
        }
    }
}

/// The pools of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Fleet {
    /// Number of pools.
    pub(crate) pools: u32,
    /// Instances of each.
    pub(crate) size: u32,
}

impl Fleet {
    /// One pool of this many instances.
    pub(crate) fn one_pool(size: u32) -> Self {
        Self { pools: 1, size }
    }

    /// The instances of all its pools.
    pub(crate) fn instances(self) -> u32 {
        self.pools.saturating_mul(self.size)
    }
}

impl fmt::Display for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pools {
            1 => write!(f, "one pool of {}", self.size),
            pools => write!(f, "{pools} pools of {}", self.size),
        }
    }
}

/// One measured value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figure {
    /// What was measured.
    pub(crate) measure: Measure,
    /// With which pools.
    pub(crate) fleet: Fleet,
    /// The value, in the unit of its measure.
    pub(crate) value: f64,
}

/// What is drawn as a line over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Story {
    /// From nothing to all instances.
    ScaleOut,
    /// The leader is killed while a pool has work.
    FailOver,
    /// All instances are replaced.
    RollOut,
}

/// How counts changed over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TimeLine {
    /// What happened.
    pub(crate) story: Story,
    /// With which pools.
    pub(crate) fleet: Fleet,
    /// Each count.
    pub(crate) counts: Vec<Count>,
    /// What happened at a moment.
    pub(crate) marks: Vec<Moment>,
}

/// A count over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Count {
    /// What is counted.
    pub(crate) name: String,
    /// Seconds since the begin, and the count from then on.
    pub(crate) points: Vec<(f64, f64)>,
}

/// What happened at a moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Moment {
    /// Seconds since the begin.
    pub(crate) at: f64,
    /// What happened.
    pub(crate) name: String,
}

/// The machine of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// Model of its processors.
    pub(crate) processor: String,
    /// Number of processors that the run could use.
    pub(crate) cores: usize,
    /// Memory in MB.
    pub(crate) memory_megabytes: u64,
    /// Release of the kernel.
    pub(crate) kernel: String,
}

impl Machine {
    /// This machine, as Linux describes it. What cannot be read is empty or 0.
    fn here() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let kilobytes =
            field(&read("/proc/meminfo"), "MemTotal").trim_end_matches("kB").trim().parse::<u64>();
        Self {
            processor: field(&read("/proc/cpuinfo"), "model name"),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            memory_megabytes: kilobytes.map_or(0, |kilobytes| kilobytes / 1024),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { processor, cores, memory_megabytes, kernel } = self;
        write!(f, "{processor}, {cores} cores, {memory_megabytes} MB, Linux {kernel}")
    }
}

/// The value of the first line `name : value`.
fn field(text: &str, name: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'));
    line.unwrap_or_default().trim().to_owned()
}

/// The sources that were built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sources {
    /// The commit; empty where git cannot report it.
    pub(crate) commit: String,
    /// Whether files differ from it.
    pub(crate) changed: bool,
}

impl Sources {
    fn here() -> Self {
        let git = |arguments: &[&str]| {
            let output = Command::new("git").current_dir(xtask::root()).args(arguments).output().ok()?;
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let commit = git(&["rev-parse", "HEAD"]).unwrap_or_default();
        Self { commit, changed: git(&["status", "--porcelain"]).is_none_or(|files| !files.is_empty()) }
    }
}

impl fmt::Display for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commit: String = self.commit.chars().take(12).collect();
        let commit = if commit.is_empty() { "unknown" } else { commit.as_str() };
        write!(f, "{commit}{}", if self.changed { ", with changes" } else { "" })
    }
}

/// One run of `foo-bench`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// When it began.
    pub(crate) began: Timestamp,
    /// Where.
    pub(crate) machine: Machine,
    /// Of which sources.
    pub(crate) sources: Sources,
    /// Cargo's profile of the manager's program: the name of the folder in which it is, for instance `release`.
    pub(crate) build: String,
    /// What it measured, in order.
    pub(crate) figures: Vec<Figure>,
    /// What it observed over time, in order.
    pub(crate) time_lines: Vec<TimeLine>,
    /// What a reader of its figures has to know, for instance that a manager ended.
    pub(crate) notes: Vec<String>,
}

impl Run {
    /// The runs in the files of a folder, the earliest first.
    pub(crate) fn all_in(folder: &Path) -> Result<Vec<Self>> {
        let mut runs = Vec::new();
        for entry in std::fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let reading = || format!("reading {}", path.display());
                let text = std::fs::read_to_string(&path).with_context(reading)?;
                runs.push(serde_json::from_str(&text).with_context(reading)?);
            }
        }
        runs.sort_by_key(|run: &Self| run.began);
        Ok(runs)
    }

    /// Name of its file.
    fn file(&self) -> String {
        format!("{}.json", self.began.strftime("%Y%m%dT%H%M%SZ"))
    }
}

/// Prints what a run measures, and keeps it for its file.
#[derive(Debug)]
pub(crate) struct Recorder {
    run: Mutex<Run>,
}

impl Recorder {
    /// Begins a run with this program as manager.
    pub(crate) fn begin(manager: &Path) -> Self {
        let build = manager.parent().and_then(Path::file_name).unwrap_or_default();
        let run = Run {
            began: Timestamp::now(),
            machine: Machine::here(),
            sources: Sources::here(),
            build: build.to_string_lossy().into_owned(),
            figures: Vec::new(),
            time_lines: Vec::new(),
            notes: Vec::new(),
        };
        println!("{}; sources: {}; build of the manager: {}", run.machine, run.sources, run.build);
        Self { run: Mutex::new(run) }
    }

    /// A measured value.
    pub(crate) fn figure(&self, measure: Measure, fleet: Fleet, value: f64) {
        self.locked().figures.push(Figure { measure, fleet, value });
    }

    /// What was observed over time.
    pub(crate) fn time_line(&self, time_line: TimeLine) {
        self.locked().time_lines.push(time_line);
    }

    /// What a reader of the figures has to know; also printed.
    pub(crate) fn note(&self, text: &str) {
        println!("  note: {text}");
        self.locked().notes.push(text.to_owned());
    }

    /// Writes the file of the run into a folder, and returns its path.
    pub(crate) fn save(&self, folder: &Path) -> Result<PathBuf> {
        let run = self.locked();
        std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        let path = folder.join(run.file());
        let text = serde_json::to_string_pretty(&*run)?;
        std::fs::write(&path, text + "\n").with_context(|| format!("writing {}", path.display()))?;
        Ok(path)
    }

    fn locked(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
pub(crate) mod test_support {
    use super::*;

    /// A run that began this many seconds after 1970, with these figures.
    pub(crate) fn run(began: i64, figures: Vec<Figure>) -> Run {
        let machine = Machine {
            processor: "a processor".to_owned(),
            cores: 2,
            memory_megabytes: 8_000,
            kernel: "6.1".to_owned(),
        };
        Run {
            began: Timestamp::from_second(began).unwrap(),
            machine,
            sources: Sources { commit: "0123456789abcdef".to_owned(), changed: true },
            build: "release".to_owned(),
            figures,
            time_lines: Vec::new(),
            notes: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_the_same_after_it_was_written_and_read() {
        let fleet = Fleet { pools: 20, size: 10 };
        let mut run = test_support::run(0, vec![Figure { measure: Measure::IdleCalls, fleet, value: 2.25 }]);
        let counts = vec![Count { name: "instances".to_owned(), points: vec![(0.0, 1.0), (2.5, 3.0)] }];
        let marks = vec![Moment { at: 16.5, name: "another replica leads".to_owned() }];
        run.time_lines.push(TimeLine { story: Story::FailOver, fleet, counts, marks });
        run.notes.push("a note".to_owned());
        let text = serde_json::to_string(&run).unwrap();
        assert!(
            text.contains(r#""measure":"idle-calls","fleet":{"pools":20,"size":10},"value":2.25"#),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Run>(&text).unwrap(), run);
    }

    #[test]
    fn the_file_of_a_run_is_named_after_its_begin() {
        assert_eq!(test_support::run(0, Vec::new()).file(), "19700101T000000Z.json");
    }

    #[test]
    fn the_build_is_named_after_the_folder_of_the_program() {
        let recorder = Recorder::begin(Path::new("target/x86_64-unknown-linux-musl/release/foo-manager"));
        assert_eq!(recorder.locked().build, "release");
    }

    #[test]
    fn a_field_is_what_follows_the_first_colon_of_its_line() {
        let text = "processor\t: 0\nmodel name\t: A: B\nMemTotal:       16384 kB\n";
        assert_eq!(
            [field(text, "model name"), field(text, "MemTotal"), field(text, "none")],
            ["A: B", "16384 kB", ""]
        );
    }
}
