//! A clock that a test sets: that of one process, by a few lines of C which are loaded into it before libc (Linux).
//!
//! Nothing in the product knows of it: it changes what `clock_gettime` returns in the whole process, libraries
//! included.

use crate::commands::run;
use crate::lock;
use anyhow::{Context as _, Result};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

const SOURCE: &str = include_str!("clock.c");

/// Whose clock the infrastructure manager has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ManagerClock {
    /// The machine's.
    #[default]
    Machine,
    /// One that [`World::move_managers_clock`](super::World::move_managers_clock) sets.
    Movable,
}

/// A clock that can be moved while the processes run that have it.
#[derive(Debug)]
pub(super) struct MovedClock {
    library: PathBuf,
    file: PathBuf,
    moved_by: File,
    /// Seconds by which all of its time was moved on.
    ahead: Mutex<i64>,
}

impl MovedClock {
    /// Right at first. Needs a C compiler, as the whole workspace does.
    pub(super) async fn new(folder: &Path) -> Result<Self> {
        let (library, file) = (folder.join("clock.so"), folder.join("clock"));
        let target = library.display().to_string();
        let arguments = ["-shared", "-fPIC", "-O1", "-x", "c", "-o", &target, "-"];
        run(Path::new("cc"), arguments, &[], SOURCE).await.context("compiling the clock")?;
        let moved_by = File::create(&file).with_context(|| format!("creating {}", file.display()))?;
        let clock = Self { library, file, moved_by, ahead: Mutex::new(0) };
        clock.write(1, 0)?;
        clock.set(0)?;
        Ok(clock)
    }

    /// From now on its wall clock differs by this many seconds from the machine's, as if an administrator had set it.
    pub(super) fn set(&self, seconds: i64) -> Result<()> {
        self.write(0, seconds)
    }

    /// Whole seconds pass for it, by all its clocks.
    pub(super) fn advance(&self, by: Duration) -> Result<()> {
        let mut ahead = lock(&self.ahead);
        *ahead = ahead.saturating_add(i64::try_from(by.as_secs())?);
        self.write(1, *ahead)
    }

    /// The order is that of the struct in `clock.c`.
    fn write(&self, place: u64, seconds: i64) -> Result<()> {
        self.moved_by.write_all_at(&seconds.to_ne_bytes(), place * 8).context("moving a clock")
    }

    /// The environment of a process that has it.
    pub(super) fn env(&self) -> [(&'static str, String); 2] {
        [
            ("LD_PRELOAD", self.library.display().to_string()),
            ("FOO_MOVED_CLOCK", self.file.display().to_string()),
        ]
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::time::{SystemTime, UNIX_EPOCH};

    /// How far `date` is from us.
    async fn difference(clock: &MovedClock) -> i64 {
        let env = clock.env();
        let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let printed = run(Path::new("date"), ["+%s"], &env, "").await.unwrap().stdout;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        printed.trim().parse::<i64>().unwrap() - i64::try_from(now).unwrap()
    }

    #[tokio::test]
    async fn a_program_sees_its_clock_moved_both_ways_and_restored() {
        let folder = tempfile::tempdir().unwrap();
        let clock = MovedClock::new(folder.path()).await.unwrap();
        for seconds in [0, 3_600, -86_400, 0] {
            clock.set(seconds).unwrap();
            let seen = difference(&clock).await;
            assert!((seen - seconds).abs() < 60, "{seen} instead of {seconds}");
        }
        clock.set(-60).unwrap();
        clock.advance(Duration::from_hours(1)).unwrap();
        let seen = difference(&clock).await;
        assert!((seen - 3_540).abs() < 60, "{seen}");
    }
}
