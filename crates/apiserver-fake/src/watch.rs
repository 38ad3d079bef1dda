//! Watches: the changes of a kind as a stream of JSON lines.
//!
//! A watch reads from the store's history whenever something happens; nothing is queued for it. So a watch can be
//! deferred (a stale cache), closed, or failed because its resourceVersion is too old, each at an exact change.

use crate::failure::{self, ApiError};
use crate::interference::What;
use crate::request::{Request, View};
use crate::selectors::Filter;
use crate::serve::{number, view};
use crate::server::Shared;
use crate::store::Change;
use bytes::Bytes;
use futures::Stream;
use kube::core::Status;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch::Receiver;
use tokio::time::Instant;

/// How often a quiet watch gets a bookmark, as on a real server.
const BOOKMARK_PERIOD: Duration = Duration::from_mins(1);
/// How long a watch lasts by default; a real server takes 30 to 60 minutes.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(30);

struct Watch {
    shared: Arc<Shared>,
    request: Request,
    filter: Filter,
    /// Everything up to this resourceVersion was sent or need not be.
    cursor: u64,
    /// The number of the last interference that happened before this watch.
    born: u64,
    bookmarks: Bookmarks,
    deadline: Instant,
    next_bookmark: Instant,
    ticks: Receiver<u64>,
    out: VecDeque<Bytes>,
    over: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bookmarks {
    Wanted,
    Unwanted,
}

/// Opens a watch; the stream ends when the watch does.
pub(crate) fn open(
    shared: &Arc<Shared>,
    request: Request,
) -> Result<impl Stream<Item = Bytes> + Send + 'static, ApiError> {
    let filter = request.filter()?;
    let from = number(request.query("resourceVersion").unwrap_or_default())?;
    let timeout = request.query("timeoutSeconds").and_then(|seconds| seconds.parse::<u64>().ok());
    let now = Instant::now();
    let ticks = shared.ticks();
    let mut state = shared.lock();
    let mut out = VecDeque::new();
    let bookmarks = if request.asks("allowWatchBookmarks") { Bookmarks::Wanted } else { Bookmarks::Unwanted };
    let initial = match request.query("sendInitialEvents") {
        Some(_) => request.asks("sendInitialEvents"),
        None => from == 0,
    };
    let newest = state.store.version;
    let cursor = if initial {
        for object in state.store.list(&request.kind, &filter) {
            out.push_back(line("ADDED", &view(&object, request.view)));
        }
        if request.asks("sendInitialEvents") && bookmarks == Bookmarks::Wanted {
            let end = json!({ "k8s.io/initial-events-end": "true" });
            out.push_back(bookmark(&request, newest, Some(end)));
        }
        newest
    } else if from == 0 {
        newest
    } else {
        from
    };
    let mut over = false;
    if cursor < state.store.compacted {
        out.push_back(too_old(cursor));
        over = true;
    }
    let born = state.interfered;
    state.open_watches += 1;
    drop(state);
    let watch = Watch {
        shared: Arc::clone(shared),
        request,
        filter,
        cursor,
        born,
        bookmarks,
        deadline: now + timeout.map_or(DEFAULT_TIMEOUT, Duration::from_secs),
        next_bookmark: now + BOOKMARK_PERIOD,
        ticks,
        out,
        over,
    };
    Ok(futures::stream::unfold(watch, |mut watch| async move {
        let line = watch.next().await?;
        Some((line, watch))
    }))
}

impl Watch {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(line) = self.out.pop_front() {
                return Some(line);
            }
            if self.over {
                return None;
            }
            self.ticks.mark_unchanged();
            if self.meets(What::Stall) {
                self.over = self.ticks.changed().await.is_err();
                continue;
            }
            self.collect();
            if !self.out.is_empty() || self.over {
                continue;
            }
            tokio::select! {
                biased;
                changed = self.ticks.changed() => self.over = changed.is_err(),
                () = tokio::time::sleep_until(self.deadline) => {
                    self.add_bookmark();
                    self.over = true;
                }
                () = tokio::time::sleep_until(self.next_bookmark) => self.add_bookmark(),
            }
        }
    }

    fn add_bookmark(&mut self) {
        self.next_bookmark = Instant::now() + BOOKMARK_PERIOD;
        if self.bookmarks == Bookmarks::Wanted && !self.meets(What::NoBookmarks) {
            self.out.push_back(bookmark(&self.request, self.cursor, None));
        }
    }

    /// Whether a test does this to the watch at present.
    fn meets(&self, what: What) -> bool {
        let state = self.shared.lock();
        state.interferences.iter().any(|one| one.what == what && one.concerns(&self.request))
    }

    /// Takes what happened since the last time, as far as this watch may see it.
    fn collect(&mut self) {
        let shared = Arc::clone(&self.shared);
        let state = shared.lock();
        let mut until = state.store.version;
        for interference in state.interferences.iter().filter(|one| one.concerns(&self.request)) {
            match interference.what {
                What::Hold(version) => until = until.min(version.max(self.cursor)),
                What::Close if interference.id > self.born => self.over = true,
                What::Expire if interference.id > self.born => {
                    self.out.push_back(too_old(self.cursor));
                    self.over = true;
                }
                What::Close | What::Expire | What::Stall | What::NoBookmarks => {}
            }
        }
        if self.over {
            return;
        }
        if self.cursor < state.store.compacted {
            self.out.push_back(too_old(self.cursor));
            self.over = true;
            return;
        }
        for change in state.store.changes(&self.request.kind, self.cursor, until) {
            self.out.extend(event(change, &self.filter, self.request.view));
        }
        self.cursor = self.cursor.max(until);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.open_watches = state.open_watches.saturating_sub(1);
    }
}

/// A change as seen through a filter: what moves into it is ADDED, what moves out of it DELETED.
fn event(change: &Change, filter: &Filter, shown: View) -> Option<Bytes> {
    let before = change.before.as_ref().is_some_and(|object| filter.matches(object));
    let after = !change.deleted && filter.matches(&change.object);
    let shows = |kind| Some(line(kind, &view(&change.object, shown)));
    match (before, after) {
        (false, false) => None,
        (false, true) => shows("ADDED"),
        (true, true) => shows("MODIFIED"),
        (true, false) if change.deleted => shows("DELETED"),
        (true, false) => {
            // The last state that matched, with the resourceVersion of the change.
            let mut last = change.before.as_ref().map(|object| view(object, shown).into_owned())?;
            crate::json::copy(&mut last, &change.object, &["metadata", "resourceVersion"]);
            Some(line("DELETED", &last))
        }
    }
}

fn bookmark(request: &Request, version: u64, annotations: Option<Value>) -> Bytes {
    let mut object = json!({
        "apiVersion": request.kind.api_version(),
        "kind": request.kind.kind,
        "metadata": { "resourceVersion": version.to_string(), "creationTimestamp": null },
    });
    if request.view == View::Metadata {
        crate::json::set(&mut object, &["apiVersion"], json!("meta.k8s.io/v1"));
        crate::json::set(&mut object, &["kind"], json!("PartialObjectMetadata"));
    }
    if let Some(annotations) = annotations {
        crate::json::set(&mut object, &["metadata", "annotations"], annotations);
    }
    line("BOOKMARK", &object)
}

fn too_old(version: u64) -> Bytes {
    error_line(&failure::gone(&format!("too old resource version: {version}")))
}

/// An ERROR event.
pub(crate) fn error_line(status: &Status) -> Bytes {
    let mut object = serde_json::to_value(status).unwrap_or_default();
    crate::json::set(&mut object, &["kind"], json!("Status"));
    crate::json::set(&mut object, &["apiVersion"], json!("v1"));
    line("ERROR", &object)
}

/// An event. The object is written as it is: `json!` would copy it first, for each watch that it is sent to.
fn line(kind: &'static str, object: &Value) -> Bytes {
    Bytes::from(format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n"))
}
