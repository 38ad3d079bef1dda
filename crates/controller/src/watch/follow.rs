//! Lists a kind, then watches it, for ever: what `kube::runtime::watcher` does, with three differences.
//!
//! * It also reports bookmarks ([`WatchItem::Nothing`]): without them the watch of a kind without changes would
//!   seem to be broken.
//! * After a watch that ended with anything except a lost connection it lists again. kube's watcher continues
//!   after an event that it could not read, which is lost then, and requests for ever a version that an API
//!   server restored from a backup does not know.
//! * It lists only by pages, and has no settings except a label selector.

use crate::received::Received;
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
/// A watch without data for longer than its maximum duration is a dead connection. Bookmarks come every
/// minute.
const WATCH_TIMEOUT: Duration = Duration::from_mins(5);

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
) -> impl Stream<Item = Result<WatchItem<K>, Error>> + Send
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    stream::unfold((api, labels, State::Start), |(api, labels, mut state)| async move {
        loop {
            let (received, next) = step(&api, labels.as_deref(), state).await;
            state = next;
            if let Some(received) = received {
                return Some((received, (api, labels, state)));
            }
        }
    })
}

type Step<K> = (Option<Result<WatchItem<K>, Error>>, State<K>);

fn event_of<K>(event: Event<Received<K>>, state: State<K>) -> Step<K> {
    (Some(Ok(WatchItem::Event(event))), state)
}

fn failed<K>(error: Error, state: State<K>) -> Step<K> {
    (Some(Err(error)), state)
}

async fn step<K>(api: &Api<Received<K>>, labels: Option<&str>, state: State<K>) -> Step<K>
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    match state {
        State::Start => {
            event_of(Event::Init, State::Listing { page: Vec::new().into_iter(), next: None, version: None })
        }
        State::Listing { mut page, next, version } => {
            if let Some(object) = page.next() {
                return event_of(Event::InitApply(object), State::Listing { page, next, version });
            }
            match (next, version) {
                (None, Some(version)) => event_of(Event::InitDone, State::Known { version }),
                (next, _) => list(api, labels, next).await,
            }
        }
        State::Known { version } => {
            let wanted = WatchParams {
                label_selector: labels.map(str::to_owned),
                timeout: Some(LASTS),
                ..WatchParams::default()
            };
            match api.watch(&wanted, &version).await {
                Ok(events) => (None, State::Watching { version, events: events.boxed() }),
                Err(error) => {
                    let state =
                        if is_about_the_version(&error) { State::Start } else { State::Known { version } };
                    failed(Error::WatchStartFailed(error), state)
                }
            }
        }
        State::Watching { version, mut events } => match timeout(WATCH_TIMEOUT, events.next()).await {
            Ok(Some(Ok(event))) => changed(event, events),
            // The connection was lost: everything sent before it was received.
            Ok(Some(Err(error @ kube::Error::ReadEvents(_)))) => {
                failed(Error::WatchFailed(error), State::Known { version })
            }
            Ok(Some(Err(error))) => failed(Error::WatchFailed(error), State::Start),
            // It lasted its full duration.
            Ok(None) => (Some(Ok(WatchItem::Nothing)), State::Known { version }),
            Err(_elapsed) => (None, State::Known { version }),
        },
    }
}

async fn list<K>(api: &Api<Received<K>>, labels: Option<&str>, next: Option<String>) -> Step<K>
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let wanted = ListParams {
        label_selector: labels.map(str::to_owned),
        limit: Some(PAGE),
        continue_token: next,
        ..ListParams::default()
    };
    match api.list(&wanted).await {
        Ok(list) => {
            let version = list.metadata.resource_version.filter(|version| !version.is_empty());
            let next = list.metadata.continue_.filter(|token| !token.is_empty());
            if version.is_none() && next.is_none() {
                return failed(Error::NoResourceVersion, State::Start);
            }
            (None, State::Listing { page: list.items.into_iter(), next, version })
        }
        Err(error) => failed(Error::InitialListFailed(error), State::Start),
    }
}

fn changed<K>(event: WatchEvent<Received<K>>, events: Events<K>) -> Step<K>
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let (event, version) = match event {
        WatchEvent::Added(object) | WatchEvent::Modified(object) => {
            let version = object.resource_version();
            (Event::Apply(object), version)
        }
        WatchEvent::Deleted(object) => {
            let version = object.resource_version();
            (Event::Delete(object), version)
        }
        WatchEvent::Bookmark(mark) => {
            let version = mark.metadata.resource_version;
            return (Some(Ok(WatchItem::Nothing)), State::Watching { version, events });
        }
        WatchEvent::Error(status) => return failed(Error::WatchError(status), State::Start),
    };
    match version.filter(|version| !version.is_empty()) {
        Some(version) => event_of(event, State::Watching { version, events }),
        None => failed(Error::NoResourceVersion, State::Start),
    }
}

/// Whether the API server shows that it does not have this version: 410, or its error for a version of the
/// future.
fn is_about_the_version(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if matches!(status.code, 400 | 410 | 504))
}
