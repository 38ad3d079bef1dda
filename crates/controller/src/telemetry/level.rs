//! Which lines are logged, and changes of that while the process runs.

use foo_cloud::lines::OWN;
use serde::Serialize;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use tokio_util::task::AbortOnDropHandle;
use tracing_subscriber::layer::Filter;
use tracing_subscriber::{EnvFilter, Registry, reload};

/// For how long a change is in force if nothing else is requested.
const DEFAULT_TIME: Duration = Duration::from_mins(30);
/// The longest time.
const LONGEST_TIME: Duration = Duration::from_hours(24);

/// Which lines are logged. Clones change the same.
#[derive(Clone)]
pub struct LogLevel {
    handle: reload::Handle<EnvFilter, Registry>,
    /// What the process was started with.
    at_start: Arc<str>,
    changed: Arc<Mutex<Option<Change>>>,
}

/// A change that is in force.
struct Change {
    filter: String,
    until: Instant,
    /// Ends it.
    _timer: AbortOnDropHandle<()>,
}

/// What is logged at the moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    /// The filter.
    filter: String,
    /// For how long; `None` for the filter that the process was started with.
    seconds_left: Option<u64>,
}

/// Why a filter is not set.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Invalid {
    /// It is no filter.
    #[error("{0:?} is neither a level (info, debug, trace) nor <module>=<level>")]
    Filter(String),
    /// Other modules log nothing below info: some log credentials there.
    #[error("the level of {0:?} cannot be changed: only modules that begin with foo_")]
    Module(String),
    /// The time is too long, or 0.
    #[error("the time must be from 1 s to {} h", LONGEST_TIME.as_secs() / 3600)]
    Time,
}

impl LogLevel {
    /// The filter of the lines.
    pub(super) fn new(at_start: &str) -> (Self, impl Filter<Registry> + use<>) {
        let (filter, handle) = reload::Layer::new(parsed(at_start));
        (Self { handle, at_start: at_start.into(), changed: Arc::default() }, filter)
    }

    /// What is logged.
    pub fn shown(&self) -> Changed {
        match &*self.lock() {
            Some(change) => {
                let left = change.until.saturating_duration_since(Instant::now());
                Changed { filter: change.filter.clone(), seconds_left: Some(left.as_secs()) }
            }
            None => Changed { filter: self.at_start.to_string(), seconds_left: None },
        }
    }

    /// Logs more for a time (default 30 minutes, at most 24 hours): `level` is a level of all the project's own modules,
    /// from info up, or a list of `<module>=<level>`.
    ///
    /// # Errors
    /// `level` is none, or names another module; the time is too long.
    pub fn change(&self, level: &str, time: Option<Duration>) -> Result<Changed, Invalid> {
        let time = time.unwrap_or(DEFAULT_TIME);
        if time < Duration::from_secs(1) || time > LONGEST_TIME {
            return Err(Invalid::Time);
        }
        let filter = self.with(level)?;
        let Some(until) = Instant::now().checked_add(time) else { return Err(Invalid::Time) };
        let this = self.clone();
        let timer = AbortOnDropHandle::new(tokio::spawn(async move {
            sleep_until(until).await;
            this.end(|change| change.until == until);
        }));
        let mut changed = self.lock();
        self.set(&filter);
        tracing::info!(filter, seconds = time.as_secs(), "the log level was changed");
        *changed = Some(Change { filter, until, _timer: timer });
        drop(changed);
        Ok(self.shown())
    }

    /// Logs what the process was started with.
    pub fn reset(&self) -> Changed {
        self.end(|_| true);
        self.shown()
    }

    /// Ends the change that is in force, if it is that one.
    fn end(&self, is_it: impl FnOnce(&Change) -> bool) {
        let mut changed = self.lock();
        if changed.take_if(|change| is_it(change)).is_some() {
            tracing::info!(filter = %self.at_start, "the log level is the one of the start again");
            self.set(&self.at_start);
        }
    }

    /// The filter of the start with other levels.
    fn with(&self, level: &str) -> Result<String, Invalid> {
        let invalid = || Invalid::Filter(level.to_owned());
        let mut own = Vec::new();
        let mut kept: Vec<&str> = self.at_start.split(',').collect();
        for part in level.split(',').map(str::trim) {
            let (module, of) = part.split_once('=').unwrap_or((OWN, part));
            if !module.starts_with(OWN) {
                return Err(Invalid::Module(module.to_owned()));
            }
            let is_name =
                |name: &str| name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_:".contains(&it));
            // A lower level would hide this change as well.
            if !is_name(module) || !["info", "debug", "trace"].contains(&of) {
                return Err(invalid());
            }
            kept.retain(|kept| module != OWN || !kept.trim().starts_with(OWN));
            own.push(format!("{module}={of}"));
        }
        Ok(kept.into_iter().map(str::to_owned).chain(own).collect::<Vec<_>>().join(","))
    }

    /// Fails only if the subscriber does not exist any more; then nothing is logged.
    fn set(&self, filter: &str) {
        let _none = self.handle.reload(parsed(filter));
    }

    fn lock(&self) -> MutexGuard<'_, Option<Change>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn parsed(filter: &str) -> EnvFilter {
    EnvFilter::builder().parse_lossy(filter)
}

impl fmt::Debug for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogLevel").field("shown", &self.shown()).finish_non_exhaustive()
    }
}
