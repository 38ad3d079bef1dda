//! Lists a kind, then watches it, for ever: what `kube::runtime::watcher` does, with five differences.
//!
//! * It also reports bookmarks ([`WatchItem::Nothing`]): without them the watch of a kind without changes would seem
//!   to be broken.
//! * After a watch that ended with anything except a lost connection it lists again. kube's watcher continues after
//!   an event that it could not read, which is lost then, and requests for ever a version that an API server restored
//!   from a backup does not know.
//! * It lists again, too, when an open watch receives nothing for longer than it may last, or falls behind
//!   ([`Progress`]): kube's watcher waits for ever. The list comes from etcd, which the watch may not follow any
//!   more.
//! * A page that an overloaded API server refused is requested again, and not the whole list: of a long list some
//!   page would always be refused.
//! * It lists only by pages, and has no settings except a label selector.

use crate::received::Received;
use crate::versions::{Late, Progress};
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt};
use kube::api::{ListParams, WatchEvent, WatchParams};
use kube::runtime::watcher::{Error, Event};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::time::Duration;
use tokio::time::timeout;

/// Objects in one page.
const PAGE: u32 = 500;
/// The server ends a watch after this many seconds.
const LASTS: u32 = 290;
/// A watch without data for longer than its maximum duration is a dead connection, or one whose server stalls.
/// Bookmarks come every minute.
const WATCH_TIMEOUT: Duration = Duration::from_mins(5);

/// Why nothing was received.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The API server refused a request, or the connection was lost.
    #[error(transparent)]
    Kube(#[from] Error),
    /// The watch is open, and neither sends anything nor ends.
    #[error("the watch received nothing for {} s", WATCH_TIMEOUT.as_secs())]
    Silent,
    /// The watch shows only what is old.
    #[error(transparent)]
    Late(#[from] Late),
}

/// What the API server sent.
#[derive(Debug)]
pub(super) enum WatchItem<K> {
    /// An event.
    Event(Event<Received<K>>),
    /// A bookmark: nothing has changed.
    Nothing,
}

type Events<K> = BoxStream<'static, kube::Result<WatchEvent<Received<K>>>>;

enum State<K> {
    /// No version is known.
    Start,
    /// Pages of the list are being received.
    Listing { page: std::vec::IntoIter<Received<K>>, next: Option<String>, version: Option<String> },
    /// Everything up to this version is known.
    Known { version: String },
    /// A watch is open that sends changes after this version.
    Watching { version: String, events: Events<K> },
}

/// Follows what this API shows. After an error the stream continues when it is polled again.
pub(super) fn follow<K>(
    api: Api<Received<K>>,
    labels: Option<String>,
    progress: Progress,
) -> impl Stream<Item = Result<WatchItem<K>, Failure>> + Send
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let source = Source { api, labels, progress };
    stream::unfold((source, State::Start), |(mut source, mut state)| async move {
        loop {
            let (received, next) = source.step(state).await;
            state = next;
            if let Some(received) = received {
                return Some((received, (source, state)));
            }
        }
    })
}

/// What is received next, if anything is, and the state after it.
type Step<K> = (Option<Result<WatchItem<K>, Failure>>, State<K>);

fn event_of<K>(event: Event<Received<K>>, state: State<K>) -> Step<K> {
    (Some(Ok(WatchItem::Event(event))), state)
}

fn failed<K>(error: impl Into<Failure>, state: State<K>) -> Step<K> {
    (Some(Err(error.into())), state)
}

/// What is followed, and how far.
struct Source<K> {
    api: Api<Received<K>>,
    labels: Option<String>,
    progress: Progress,
}

impl<K> Source<K>
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    async fn step(&mut self, state: State<K>) -> Step<K> {
        match state {
            State::Start => {
                self.progress.list_begins();
                event_of(
                    Event::Init,
                    State::Listing { page: Vec::new().into_iter(), next: None, version: None },
                )
            }
            State::Listing { mut page, next, version } => {
                if let Some(object) = page.next() {
                    return event_of(Event::InitApply(object), State::Listing { page, next, version });
                }
                match (next, version) {
                    (None, Some(version)) => {
                        self.progress.list_ends(&version);
                        event_of(Event::InitDone, State::Known { version })
                    }
                    (next, version) => self.list(next, version).await,
                }
            }
            State::Known { version } => self.watch(version).await,
            State::Watching { version, mut events } => match timeout(WATCH_TIMEOUT, events.next()).await {
                Ok(Some(Ok(event))) => self.changed(event, events),
                // The connection was lost: everything sent before it was received.
                Ok(Some(Err(error @ kube::Error::ReadEvents(_)))) => {
                    failed(Error::WatchFailed(error), State::Known { version })
                }
                Ok(Some(Err(error))) => failed(Error::WatchFailed(error), State::Start),
                // It lasted its full duration.
                Ok(None) => (Some(Ok(WatchItem::Nothing)), State::Known { version }),
                Err(_elapsed) => failed(Failure::Silent, State::Start),
            },
        }
    }

    /// Requests a page: the first one, or the one of this token in a list of this version.
    async fn list(&self, next: Option<String>, version: Option<String>) -> Step<K> {
        let wanted = ListParams {
            label_selector: self.labels.clone(),
            limit: Some(PAGE),
            continue_token: next.clone(),
            ..ListParams::default()
        };
        match self.api.list(&wanted).await {
            Ok(list) => {
                let version = list.metadata.resource_version.filter(|version| !version.is_empty());
                let next = list.metadata.continue_.filter(|token| !token.is_empty());
                if version.is_none() && next.is_none() {
                    return failed(Error::NoResourceVersion, State::Start);
                }
                (None, State::Listing { page: list.items.into_iter(), next, version })
            }
            Err(error) => {
                let state = if is_about_load(&error) {
                    State::Listing { page: Vec::new().into_iter(), next, version }
                } else {
                    State::Start
                };
                failed(Error::InitialListFailed(error), state)
            }
        }
    }

    /// Opens a watch of what changes after this version.
    async fn watch(&self, version: String) -> Step<K> {
        let wanted = WatchParams {
            label_selector: self.labels.clone(),
            timeout: Some(LASTS),
            ..WatchParams::default()
        };
        match self.api.watch(&wanted, &version).await {
            Ok(events) => (None, State::Watching { version, events: events.boxed() }),
            Err(error) => {
                let state =
                    if is_about_the_version(&error) { State::Start } else { State::Known { version } };
                failed(Error::WatchStartFailed(error), state)
            }
        }
    }

    fn changed(&mut self, event: WatchEvent<Received<K>>, events: Events<K>) -> Step<K> {
        let (item, version) = match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                let version = object.resource_version();
                (WatchItem::Event(Event::Apply(object)), version)
            }
            WatchEvent::Deleted(object) => {
                let version = object.resource_version();
                (WatchItem::Event(Event::Delete(object)), version)
            }
            WatchEvent::Bookmark(mark) => (WatchItem::Nothing, Some(mark.metadata.resource_version)),
            WatchEvent::Error(status) => return failed(Error::WatchError(status), State::Start),
        };
        let Some(version) = version.filter(|version| !version.is_empty()) else {
            return failed(Error::NoResourceVersion, State::Start);
        };
        match self.progress.shows(&version) {
            Ok(()) => (Some(Ok(item)), State::Watching { version, events }),
            Err(late) => failed(late, State::Start),
        }
    }
}

/// Whether the API server, or etcd behind it, cannot serve more at present: the same request may succeed later.
fn is_about_load(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if matches!(status.code, 429 | 500 | 503))
}

/// Whether the API server shows that it does not have this version: 410, or its error for a version of the
/// future.
fn is_about_the_version(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if matches!(status.code, 400 | 410 | 504))
}
