//! Whether a watch falls behind although it is open and receives bookmarks.
//!
//! The caches of an API server can be many minutes behind etcd, and its watches with them. Their events and bookmarks
//! show old resourceVersions then, while responses to lists and writes, which come from etcd, show new ones. So each
//! watch has to show within a while what any response has shown ([`Progress`]).
//!
//! Kinds that are stored in one etcd share one counter. That is no promise of the API (Kubernetes API Concepts,
//! "Resource versions"), and `--etcd-servers-overrides` of the API server separates some kinds. A list comes from
//! etcd, so one whose version is older than one that was known before shows that the kind has another counter: then
//! nothing is concluded until its next list. A wrong conclusion costs one list.

use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// How long a watch may be behind. The cache of a kind without changes follows etcd by etcd's progress notifications,
/// every ten minutes by default, and bookmarks come each minute.
const LATEST: Duration = Duration::from_mins(12);

/// The newest resourceVersion that a response of the management cluster's API server has shown; 0 before the first
/// one. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Versions(Arc<AtomicU64>);

impl Versions {
    /// The version of the object in this response, if it has one.
    pub(crate) fn saw_in(&self, response: &[u8]) {
        #[derive(Deserialize)]
        struct Shown {
            metadata: Metadata,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Metadata {
            resource_version: String,
        }
        if let Ok(Shown { metadata: Metadata { resource_version } }) = serde_json::from_slice(response) {
            self.saw(&resource_version);
        }
    }

    fn saw(&self, version: &str) -> Option<u64> {
        let version = version.parse::<u64>().ok()?;
        self.0.fetch_max(version, Ordering::Relaxed);
        Some(version)
    }

    fn newest(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What one watch has shown, and has to show.
#[derive(Debug)]
pub(crate) struct Progress {
    newest: Versions,
    /// The newest version when the list began: it must not be older.
    before_list: u64,
    counter: Counter,
    expected: Option<Expected>,
}

/// Whether the kind's versions and the newest one are of the same counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counter {
    Shared,
    Other,
}

/// What the API server had shown at that time.
#[derive(Clone, Copy, Debug)]
struct Expected {
    version: u64,
    since: Instant,
}

/// A watch is behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the watch is at resourceVersion {shown}, and the API server was at {expected} already {} min ago",
    .ago.as_secs() / 60
)]
pub(crate) struct Late {
    shown: u64,
    expected: u64,
    ago: Duration,
}

impl Progress {
    /// Of a watch that has not begun.
    pub(crate) fn new(newest: Versions) -> Self {
        Self { newest, before_list: 0, counter: Counter::Other, expected: None }
    }

    /// The first page of a list is requested.
    pub(crate) fn list_begins(&mut self) {
        self.before_list = self.newest.newest();
    }

    /// All pages of a list of this version were received.
    pub(crate) fn list_ends(&mut self, version: &str) {
        let shared = self.newest.saw(version).is_some_and(|version| version >= self.before_list);
        self.counter = if shared { Counter::Shared } else { Counter::Other };
        self.expected = None;
    }

    /// The watch shows this version now, by an event or a bookmark. An error if the API server had shown a newer one
    /// more than twelve minutes ago.
    pub(crate) fn shows(&mut self, version: &str) -> Result<(), Late> {
        let Some(shown) = self.newest.saw(version).filter(|_| self.counter == Counter::Shared) else {
            return Ok(());
        };
        match self.expected.filter(|expected| shown < expected.version) {
            None => self.expected = Some(Expected { version: self.newest.newest(), since: Instant::now() }),
            Some(Expected { version, since }) if since.elapsed() >= LATEST => {
                return Err(Late { shown, expected: version, ago: since.elapsed() });
            }
            Some(_) => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    /// A watch that began with a list of this version.
    fn listed(newest: &Versions, version: &str) -> Progress {
        let mut progress = Progress::new(newest.clone());
        progress.list_begins();
        progress.list_ends(version);
        progress
    }

    /// A bookmark a minute, each with the version that `shown` returns; after how many the watch is behind.
    async fn minutes_until_late(progress: &mut Progress, shown: impl Fn(u64) -> u64) -> Option<u64> {
        for minute in 0..60 {
            if progress.shows(&shown(minute).to_string()).is_err() {
                return Some(minute);
            }
            tokio::time::sleep(MINUTE).await;
        }
        None
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_that_shows_old_versions_is_behind_after_twelve_minutes() {
        let newest = Versions::default();
        let mut progress = listed(&newest, "100");
        newest
            .saw_in(br#"{"kind": "Lease", "metadata": {"name": "a", "resourceVersion": "105"}, "spec": {}}"#);
        assert_eq!(minutes_until_late(&mut progress, |_| 100).await, Some(12));
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_that_follows_late_or_has_no_changes_is_not_behind() {
        let newest = Versions::default();
        let mut progress = listed(&newest, "100");
        assert_eq!(minutes_until_late(&mut progress, |_| 100).await, None, "nothing has changed");
        let mut progress = listed(&newest, "100");
        newest.saw("200");
        assert_eq!(minutes_until_late(&mut progress, |minute| 100 + minute / 10 * 100).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_concluded_about_a_kind_with_another_counter() {
        let newest = Versions::default();
        newest.saw("1000");
        let mut progress = listed(&newest, "100");
        assert_eq!(minutes_until_late(&mut progress, |_| 100).await, None);
        let mut odd = listed(&newest, "unknown");
        assert_eq!(odd.shows("unknown"), Ok(()));
    }

    #[test]
    fn responses_without_a_version_show_none() {
        let newest = Versions::default();
        for response in
            [&b""[..], b"[]", br#"{"metadata": {}}"#, br#"{"metadata": {"resourceVersion": "x"}}"#]
        {
            newest.saw_in(response);
        }
        assert_eq!(newest.newest(), 0);
    }
}
