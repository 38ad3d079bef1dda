//! The only way to publish Kubernetes events.
//!
//! The process has one recorder, because a recorder aggregates repetitions only within itself. Callers
//! publish transitions, not states. A lost event is logged and counted, never an error: nothing may depend on
//! it.

use crate::labels::EventOutcome;
use crate::metrics::Metrics;
use foo_model::{EventReason, Severity};
use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Name of the manager in events.
const CONTROLLER: &str = "cluster-api-provider-foo";
/// Maximum time to publish one event.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest note that the API server accepts, in bytes.
const LONGEST_NOTE: usize = 1024;
/// Longest reason and action that the API server accepts, in bytes.
const LONGEST_WORD: usize = 128;

/// Publishes events. Clones share one recorder.
#[derive(Clone)]
pub struct Events {
    recorder: Recorder,
    metrics: Metrics,
    /// Uids and versions of the objects that were last reported as unreadable, newest last: several controllers watch
    /// one kind.
    unreadable: Arc<Mutex<VecDeque<(String, String)>>>,
}

/// Reports of unreadable objects that are remembered. One that is forgotten is reported again, by each of its watches
/// at most once.
const REPORTS: usize = 1000;

impl Events {
    /// `instance` distinguishes the replicas of the manager; usually the pod's name.
    pub fn new(client: Client, instance: &str, metrics: Metrics) -> Self {
        let reporter = Reporter { controller: CONTROLLER.to_owned(), instance: Some(instance.to_owned()) };
        Self { recorder: Recorder::new(client, reporter), metrics, unreadable: Arc::default() }
    }

    /// Whether no watch of this process has reported this version of an object as unreadable yet; it counts as reported
    /// from now on.
    pub(crate) fn is_first_report(&self, uid: &str, version: &str) -> bool {
        let report = (uid.to_owned(), version.to_owned());
        let mut reports = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        if reports.contains(&report) {
            return false;
        }
        if reports.len() >= REPORTS {
            reports.pop_front();
        }
        reports.push_back(report);
        true
    }

    /// Publishes that something happened to `object` (`object.object_ref(&())`); `note` is a sentence.
    pub async fn publish(&self, object: &ObjectReference, reason: impl Into<EventReason>, note: &str) {
        let reason: EventReason = reason.into();
        let (severity, reason) = (reason.severity(), reason.as_str());
        let event = Event {
            type_: match severity {
                Severity::Normal => EventType::Normal,
                Severity::Warning => EventType::Warning,
            },
            reason: cut(reason, LONGEST_WORD).to_owned(),
            note: Some(cut(note, LONGEST_NOTE).to_owned()),
            // The recorder treats two events as the same when action and reason are equal, whatever their
            // notes say, and keeps the first note. With the note as action it aggregates only equal texts.
            action: cut(if note.is_empty() { reason } else { note }, LONGEST_WORD).to_owned(),
            secondary: None,
        };
        let outcome = match tokio::time::timeout(PATIENCE, self.recorder.publish(&event, object)).await {
            Ok(Ok(())) => EventOutcome::Published,
            Ok(Err(error)) => {
                tracing::warn!(%error, reason, object = object.name, "could not publish an event");
                EventOutcome::Lost
            }
            Err(_elapsed) => {
                tracing::warn!(reason, object = object.name, "could not publish an event in time");
                EventOutcome::Lost
            }
        };
        self.metrics.event(severity, outcome);
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}

/// The first `bytes` bytes of the text, without splitting a character.
fn cut(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(cut("short", 10), "short");
        assert_eq!(cut("grüße", 3), "gr");
        assert_eq!(cut("grüße", 4), "grü");
        assert_eq!(cut("", 0), "");
    }
}
