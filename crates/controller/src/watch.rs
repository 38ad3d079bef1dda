//! Builds all watches.
//!
//! [`Watch`] lists and watches one kind, keeps a cache of it, and names the objects whose changes are
//! relevant.
//!
//! * **Scope**: the namespace of `--namespace`; `--watch-filter` for the kinds that are reconciled, as in
//!   Cluster API, never for kinds that are only read.
//! * **Unreadable objects** ([`Received`]): managedFields are dropped before anything is decoded, and only
//!   the object that cannot be decoded is left out: the others of its list are used, and a log line names it.
//!   * [`Watch::lenient`], for what users write: it is left out, with a Warning event on it.
//!   * [`Watch::strict`], for what *we* must see completely (FooMachines, Machines: an instance without a visible
//!     Machine counts as one that never had any): it is remembered ([`Watch::unreadable`]), and nothing is decided in
//!     its namespace.
//! * **Changes**: see [`changes`]. Failures are logged, counted and retried here and never reach the
//!   controller, which would otherwise delay the changes of all its other watches, too.
//! * **Stalls**: a watch that is open and receives nothing for five minutes, or shows only what is older than twelve
//!   minutes ([`crate::versions`]), is counted, logged, and replaced by a list.
//! * **Pulse**: a watch that has received nothing valid from the API server for ten minutes, not even a
//!   list or a bookmark, leaves the manager unready ([`crate::pulses`]).
//!
//! kube's shared streams are not used: they drop deletions (kube-rs#1590) and can stall for ever.

mod by_name;
mod changes;
mod follow;
mod unreadable;

pub use crate::filled::{Filled, WatchEnded};
pub use crate::received::{Odd, Received};
pub use by_name::ByName;
pub use changes::{ChangeFilter, StatusInput};
pub use unreadable::Unreadable;

use crate::Context;
use crate::events::Events;
use crate::labels::Watched;
use crate::metrics::Metrics;
use crate::pulses::LONGEST_SILENCE;
use crate::versions::Progress;
use changes::{Changes, nothing};
use follow::{Failure, WatchItem, follow};
use foo_api::names::WATCH_LABEL;
use foo_model::EventReason;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use kube::api::ObjectMeta;
use kube::core::NamespaceResourceScope;
use kube::runtime::reflector::{self, ObjectRef, Store};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::sync::Arc;

/// A watched kind: what a `Controller` takes.
pub struct Watch<K: Resource<DynamicType = ()> + Clone + 'static> {
    /// The cache; complete once it is filled.
    pub store: Store<K>,
    /// The same objects, indexed by namespace and name.
    pub by_name: ByName<K>,
    /// Whether the cache has been filled once. Use nothing else to find out.
    pub filled: Filled,
    /// Objects that cannot be decoded; always empty in a lenient watch, which leaves them out.
    pub unreadable: Unreadable,
    /// Objects that changed, for `for_stream`, `owns_stream` and `watches_stream`. Must be polled for the cache to be
    /// filled; never yields an error.
    pub changes: BoxStream<'static, Result<K, watcher::Error>>,
    /// The kind, as metrics name it.
    pub kind: Watched,
}

/// Which objects of a kind are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The ones that this manager reconciles: `--watch-filter` applies.
    Ours,
    /// All.
    All,
    /// The ones with this label (a label selector).
    Labelled(&'static str),
}

/// Trait bounds of every kind that is watched.
pub trait Object:
    Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static
{
}
impl<K> Object for K where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static
{
}

impl<K: Object + Resource<Scope = NamespaceResourceScope>> Watch<K> {
    /// Watches a kind that users write. `passing` shows which changes are relevant.
    pub fn lenient(context: &Context, kind: Watched, which: Scope, passing: ChangeFilter) -> Self {
        let labels = labels(context, which);
        Self::new(context, kind, passing, nothing, api(context), labels, Odds::AreLeftOut)
    }

    /// The same for a kind of whose status only `input` is relevant.
    pub fn lenient_with_status(
        context: &Context,
        kind: Watched,
        which: Scope,
        input: StatusInput<K>,
    ) -> Self {
        let (passing, labels) = (ChangeFilter::AllButStatus, labels(context, which));
        Self::new(context, kind, passing, input, api(context), labels, Odds::AreLeftOut)
    }

    /// Watches a kind whose objects must all be readable.
    pub fn strict(context: &Context, kind: Watched, which: Scope, passing: ChangeFilter) -> Self {
        let labels = labels(context, which);
        Self::new(context, kind, passing, nothing, api(context), labels, Odds::AreRemembered)
    }
}

impl<K: Object> Watch<K> {
    /// [`Watch::strict`] for any API: a kind without namespaces, or one other namespace.
    pub fn strict_over(
        context: &Context,
        kind: Watched,
        api: Api<Received<K>>,
        passing: ChangeFilter,
    ) -> Self {
        Self::new(context, kind, passing, nothing, api, None, Odds::AreRemembered)
    }

    fn new(
        context: &Context,
        kind: Watched,
        passing: ChangeFilter,
        input: StatusInput<K>,
        api: Api<Received<K>>,
        labels: Option<String>,
        odds: Odds,
    ) -> Self {
        let (store, writer) = reflector::store();
        let name: &'static str = kind.into();
        let (mut changes, filled) = Changes::new(writer, passing, input);
        let by_name = changes.by_name();
        let metrics = context.metrics.clone();
        let pulse = metrics.pulses().of(kind);
        let (is_filled, is_heard) = (filled.clone(), pulse.clone());
        context.readiness.wait_for(format!("{}/{name}", K::plural(&())), move || {
            is_filled.now() && is_heard.silence() < LONGEST_SILENCE
        });
        let unreadable = Unreadable::default();
        let mut decode = Decode::new(Invalid::new(context, kind), odds, unreadable.clone());
        let progress = Progress::new(metrics.versions().clone());
        let touched = follow(api, labels, progress).default_backoff().flat_map(move |received| {
            let touched = match received {
                Ok(WatchItem::Nothing) => {
                    pulse.beats();
                    Vec::new()
                }
                Ok(WatchItem::Event(event)) => {
                    // A list that has only begun may never complete.
                    if !matches!(event, watcher::Event::Init | watcher::Event::InitApply(_)) {
                        pulse.beats();
                    }
                    let (event, then) = decode.event::<K>(event);
                    let touched = changes.take(event);
                    decode.then(then);
                    touched
                }
                Err(error) => {
                    log_failure(&metrics, kind, &error);
                    Vec::new()
                }
            };
            stream::iter(touched.into_iter().map(|object| Ok(Arc::unwrap_or_clone(object))))
        });
        Self { store, by_name, filled, unreadable, changes: touched.boxed(), kind }
    }
}

impl<K: Object> Debug for Watch<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("kind", &K::kind(&())).finish_non_exhaustive()
    }
}

/// What to do with objects that cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Odds {
    AreLeftOut,
    AreRemembered,
}

/// Separates unreadable objects from the others. Its record is never behind the cache: an object is recorded
/// before it leaves the cache, and removed from the record after it is in the cache again.
struct Decode {
    invalid: Invalid,
    odds: Odds,
    unreadable: Unreadable,
    /// Unreadable objects of the list that is being received.
    listed: Vec<Odd>,
}

/// What to do after the cache has been updated.
enum Then {
    Nothing,
    /// Remove this object from the record: it can be read, or was deleted.
    Forget {
        namespace: Option<String>,
        name: String,
        uid: String,
    },
    /// Replace the record by the unreadable objects of the complete list.
    ForgetOthers,
}

impl Decode {
    fn new(invalid: Invalid, odds: Odds, unreadable: Unreadable) -> Self {
        Self { invalid, odds, unreadable, listed: Vec::new() }
    }

    fn event<K: Object>(&mut self, event: watcher::Event<Received<K>>) -> (changes::Event<K>, Then) {
        match event {
            watcher::Event::Init => {
                self.listed.clear();
                (changes::Event::ListStarts, Then::Nothing)
            }
            watcher::Event::InitDone => (changes::Event::ListEnds, Then::ForgetOthers),
            watcher::Event::InitApply(Received::Object(object)) => {
                (changes::Event::Listed(object), Then::Nothing)
            }
            watcher::Event::InitApply(Received::Odd(odd)) => {
                self.found::<K>(&odd);
                self.listed.push(*odd);
                (changes::Event::Nothing, Then::Nothing)
            }
            watcher::Event::Apply(Received::Object(object)) => {
                let then = forget(object.meta());
                (changes::Event::Changed(object), then)
            }
            watcher::Event::Apply(Received::Odd(odd)) => {
                self.found::<K>(&odd);
                (changes::Event::Gone(Box::new(odd.metadata)), Then::Nothing)
            }
            watcher::Event::Delete(Received::Object(object)) => {
                let then = forget(object.meta());
                (changes::Event::Deleted(object), then)
            }
            watcher::Event::Delete(Received::Odd(odd)) => {
                let then = forget(&odd.metadata);
                (changes::Event::Gone(Box::new(odd.metadata)), then)
            }
        }
    }

    fn then(&mut self, then: Then) {
        match then {
            Then::Nothing => {}
            Then::Forget { namespace, name, uid } => {
                self.unreadable.remove(namespace.as_deref(), &name);
                self.invalid.reported.forget(&uid);
            }
            Then::ForgetOthers => {
                let listed = std::mem::take(&mut self.listed);
                self.invalid.reported.forget_others(&listed);
                if self.odds == Odds::AreRemembered {
                    self.unreadable.replace(listed);
                }
            }
        }
    }

    fn found<K: Object>(&mut self, odd: &Odd) {
        self.invalid.report::<K>(&odd.metadata, &odd.error);
        if self.odds == Odds::AreRemembered {
            self.unreadable.insert(odd);
        }
    }
}

fn forget(metadata: &ObjectMeta) -> Then {
    Then::Forget {
        namespace: metadata.namespace.clone(),
        name: metadata.name.clone().unwrap_or_default(),
        uid: metadata.uid.clone().unwrap_or_default(),
    }
}

/// The objects of a cache that are affected.
pub fn refs_of<K: Object>(store: &Store<K>, is_concerned: impl Fn(&K) -> bool) -> Vec<ObjectRef<K>> {
    store.state_filter(is_concerned).iter().map(|object| ObjectRef::from_obj(object.as_ref())).collect()
}

/// The API of a kind, in the namespaces that this manager reconciles.
fn api<K: Object + Resource<Scope = NamespaceResourceScope>>(context: &Context) -> Api<Received<K>> {
    match &context.settings.namespace {
        Some(namespace) => Api::namespaced(context.client.clone(), namespace),
        None => Api::all(context.client.clone()),
    }
}

/// The label selector of a watch.
fn labels(context: &Context, which: Scope) -> Option<String> {
    match (which, &context.settings.watch_filter) {
        (Scope::Ours, Some(value)) => Some(format!("{WATCH_LABEL}={value}")),
        (Scope::Ours, None) | (Scope::All, _) => None,
        (Scope::Labelled(selector), _) => Some(selector.to_owned()),
    }
}

fn log_failure(metrics: &Metrics, kind: Watched, error: &Failure) {
    metrics.watch_failed(kind);
    match error {
        // Routine: the server ends watches that fell behind (410), and the kind is listed again.
        Failure::Kube(watcher::Error::WatchError(status)) if status.code == 410 => {
            tracing::debug!(?kind, "the watch expired; listing again");
        }
        Failure::Kube(error) => tracing::warn!(?kind, %error, "the watch failed; retrying"),
        Failure::Silent | Failure::Late(_) => {
            metrics.watch_stalled(kind);
            tracing::warn!(?kind, %error, "the watch stalled; listing again");
        }
    }
}

/// Reports objects that cannot be decoded, once for each version of each.
struct Invalid {
    events: Events,
    metrics: Metrics,
    kind: Watched,
    reported: Reported,
}

/// By uid, the version that was reported; only for objects that are unreadable now.
#[derive(Debug, Default)]
struct Reported(HashMap<String, String>);

impl Reported {
    /// Whether this version of the object has not been reported; records it.
    fn is_news(&mut self, metadata: &ObjectMeta) -> bool {
        let uid = metadata.uid.clone().unwrap_or_default();
        let version = metadata.resource_version.clone().unwrap_or_default();
        self.0.insert(uid, version.clone()) != Some(version)
    }

    fn forget(&mut self, uid: &str) {
        self.0.remove(uid);
    }

    /// Only these are unreadable now: objects that were deleted while no watch was open are forgotten, too.
    fn forget_others(&mut self, listed: &[Odd]) {
        let listed: HashSet<&str> =
            listed.iter().map(|odd| odd.metadata.uid.as_deref().unwrap_or_default()).collect();
        self.0.retain(|uid, _| listed.contains(uid.as_str()));
    }
}

impl Invalid {
    fn new(context: &Context, kind: Watched) -> Self {
        Self {
            events: context.events.clone(),
            metrics: context.metrics.clone(),
            kind,
            reported: Reported::default(),
        }
    }

    fn report<K: Object>(&mut self, metadata: &ObjectMeta, error: &str) {
        if !self.reported.is_news(metadata) {
            return;
        }
        self.metrics.undecodable(self.kind);
        tracing::warn!(
            kind = ?self.kind, namespace = metadata.namespace, name = metadata.name, error,
            "could not decode the object; it is not reconciled"
        );
        let (uid, version) = (metadata.uid.as_deref(), metadata.resource_version.as_deref());
        if !self.events.is_first_report(uid.unwrap_or_default(), version.unwrap_or_default()) {
            return;
        }
        let object = k8s_openapi::api::core::v1::ObjectReference {
            api_version: Some(K::api_version(&()).into_owned()),
            kind: Some(K::kind(&()).into_owned()),
            name: metadata.name.clone(),
            namespace: metadata.namespace.clone(),
            uid: metadata.uid.clone(),
            ..Default::default()
        };
        let events = self.events.clone();
        let note = format!("This object cannot be read and is ignored: {error}");
        tokio::spawn(async move { events.publish(&object, EventReason::UnreadableObject, &note).await });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn odd(uid: &str, version: &str) -> Odd {
        let metadata = ObjectMeta {
            uid: Some(uid.to_owned()),
            resource_version: Some(version.to_owned()),
            ..ObjectMeta::default()
        };
        Odd { metadata, error: "odd".to_owned() }
    }

    #[test]
    fn reports_about_deleted_odd_objects_are_forgotten() {
        let mut reported = Reported::default();
        assert!(reported.is_news(&odd("a", "1").metadata) && reported.is_news(&odd("b", "1").metadata));
        assert!(!reported.is_news(&odd("a", "1").metadata), "once for each version");
        assert!(reported.is_news(&odd("a", "2").metadata));
        reported.is_news(&odd("c", "1").metadata);
        reported.forget("c");
        // Deleted while no watch was open: only the next list shows it.
        reported.forget_others(&[odd("a", "2")]);
        assert_eq!(reported.0.into_iter().collect::<Vec<_>>(), [("a".to_owned(), "2".to_owned())]);
    }
}
