//! The recording of a run: one exchange per line, as JSON, redacted before it is written.

use crate::redact::redacted;
use anyhow::{Context as _, Result};
use foo_cloud_adapter::{Exchange, Recorder};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One line of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Id of the belief that it was sent for; `prepare` and `clean` for what belongs to none.
    pub belief: String,
    /// Whether it is one of several reads that wait for a change to show.
    pub waits: bool,
    /// The service as the credential scope has it (`autoscaling`).
    pub service: String,
    /// The region.
    pub region: String,
    /// AWS's name of the operation.
    pub operation: String,
    /// HTTP method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The header `x-amz-target`.
    pub target: Option<String>,
    /// The header `content-type` of the request.
    pub content_type: Option<String>,
    /// Body of the request.
    pub request: String,
    /// HTTP status.
    pub status: u16,
    /// Body of the response.
    pub response: String,
    /// From the request until the response was read, in milliseconds.
    pub millis: u64,
}

/// Where a run records. Clones are the same recording.
#[derive(Clone)]
pub struct Journal(Arc<Mutex<State>>);

struct State {
    out: Box<dyn Write + Send>,
    belief: String,
    waits: bool,
    /// The first line that could not be written.
    failed: Option<std::io::Error>,
}

impl Journal {
    /// A recording that is written to `out`, line by line.
    pub fn to(out: impl Write + Send + 'static) -> Self {
        let state = State { out: Box::new(out), belief: "prepare".to_owned(), waits: false, failed: None };
        Self(Arc::new(Mutex::new(state)))
    }

    /// The recorder for the cloud that the run calls.
    pub fn recorder(&self) -> Recorder {
        let journal = self.clone();
        Recorder::new(move |exchange| journal.state().record(exchange))
    }

    /// What follows is sent for this belief.
    pub(crate) fn begin(&self, belief: &str) {
        let mut state = self.state();
        belief.clone_into(&mut state.belief);
        state.waits = false;
    }

    /// Whether what follows waits for a change to show.
    pub(crate) fn waits(&self, waits: bool) {
        self.state().waits = waits;
    }

    /// Fails if the recording is not complete.
    pub fn finish(&self) -> Result<()> {
        match self.state().failed.take() {
            Some(error) => Err(error).context("the recording could not be written"),
            None => Ok(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn record(&mut self, exchange: Exchange) {
        let entry = self.entry(exchange);
        let written = serde_json::to_string(&entry).map_err(std::io::Error::from);
        let written = written.and_then(|line| writeln!(self.out, "{line}")).and_then(|()| self.out.flush());
        if let Err(error) = written {
            self.failed.get_or_insert(error);
        }
    }

    fn entry(&self, exchange: Exchange) -> Entry {
        let Exchange {
            service,
            region,
            operation,
            method,
            path,
            target,
            content_type,
            request,
            status,
            response,
            took,
        } = exchange;
        Entry {
            belief: self.belief.clone(),
            waits: self.waits,
            service,
            region,
            operation,
            method,
            path: redacted(&path),
            target,
            content_type,
            request: redacted(&request),
            status,
            response: redacted(&response),
            millis: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// The lines of a recording.
pub fn read(path: &Path) -> Result<Vec<Entry>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            serde_json::from_str(line).with_context(|| format!("{}, line {}", path.display(), index + 1))
        })
        .collect()
}
