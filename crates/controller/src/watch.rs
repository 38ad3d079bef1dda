//! How every watch is built.
//!
//! [`Watch`] lists and watches one kind, keeps a cache of it, and names the objects that changed in a way that matters.
//!
//! * **Scope**: the namespace of `--namespace`; `--watch-filter` for the kinds that are reconciled, as in Cluster API,
//!   never for those that are only read.
//! * **Guarded** ([`Watch::guarded`], for what users write): an object that cannot be decoded is left out, with a
//!   Warning event on it and a log line; the others go on. What *we* must see completely (FooMachines, Machines: an
//!   instance without a visible Machine counts as one that never had any) is watched without guard, so that one broken
//!   object stops the controller rather than mislead it.
//! * **Pruned**: managedFields, which are half of an object's metadata, are dropped.
//! * **Changes**: see [`changes`]. Failures are logged, counted and retried here and never reach the controller, which
//!   would hold back the changes of all its other watches too.
//!
//! kube's shared streams are not used: they drop deletes (kube-rs#1590) and can stall for ever.

mod changes;
mod filled;

pub use changes::Passing;
pub use filled::{Filled, WatchEnded};

use crate::Context;
use crate::events::Events;
use crate::metrics::{Metrics, Watched};
use changes::Changes;
use foo_api::names::WATCH_LABEL;
use foo_planner::report::Severity;
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt};
use kube::api::ObjectMeta;
use kube::core::{DeserializeGuard, NamespaceResourceScope};
use kube::runtime::reflector::{self, Store};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

/// A kind under watch: what a `Controller` takes.
pub struct Watch<K: Resource<DynamicType = ()> + Clone + 'static> {
    /// The cache; complete once it is filled.
    pub store: Store<K>,
    /// Whether the cache has been filled once: the only way to ask that of it.
    pub filled: Filled,
    /// Objects that changed, for `for_stream`, `owns_stream` and `watches_stream`. Must be polled for the cache to be
    /// filled; never yields an error.
    pub changes: BoxStream<'static, Result<K, watcher::Error>>,
}

/// Which objects of a kind are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those this manager looks after: `--watch-filter` applies.
    Ours,
    /// All.
    All,
    /// Those with this label (a label selector).
    Labelled(&'static str),
}

/// Bounds of every kind that is watched.
pub trait Object:
    Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static
{
}
impl<K> Object for K where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static
{
}

impl<K: Object + Resource<Scope = NamespaceResourceScope>> Watch<K> {
    /// Watches a kind that users write. `passing` says which changes matter.
    pub fn guarded(context: &Context, kind: Watched, which: Which, passing: Passing) -> Self {
        let events = watcher(api::<DeserializeGuard<K>>(context), config(context, which))
            .modify(|object| prune(object.meta_mut()))
            .default_backoff();
        let mut invalid = Invalid::new(context, kind);
        Self::new(context, kind, passing, events, move |object| match object.0 {
            Ok(object) => Decoded::Object(object),
            Err(error) => {
                invalid.report::<K>(&error.metadata, &error.error);
                Decoded::Broken(Box::new(error.metadata))
            }
        })
    }

    /// Watches a kind whose objects must all be readable.
    pub fn strict(context: &Context, kind: Watched, which: Which, passing: Passing) -> Self {
        Self::strict_over(context, kind, api(context), config(context, which), passing)
    }
}

impl<K: Object> Watch<K> {
    /// [`Watch::strict`], of whatever this API shows: a kind without namespaces, or one other namespace.
    pub fn strict_over(
        context: &Context,
        kind: Watched,
        api: Api<K>,
        config: watcher::Config,
        passing: Passing,
    ) -> Self {
        let events = watcher(api, config).modify(|object| prune(object.meta_mut())).default_backoff();
        Self::new(context, kind, passing, events, Decoded::Object)
    }

    fn new<W: Send + 'static>(
        context: &Context,
        kind: Watched,
        passing: Passing,
        events: impl Stream<Item = Result<watcher::Event<W>, watcher::Error>> + Send + 'static,
        mut decode: impl FnMut(W) -> Decoded<K> + Send + 'static,
    ) -> Self {
        let (store, writer) = reflector::store();
        let name: &'static str = kind.into();
        let (mut changes, filled) = Changes::new(writer, passing);
        let is_filled = filled.clone();
        context.readiness.wait_for(format!("{}/{name}", K::plural(&())), move || is_filled.now());
        let metrics = context.metrics.clone();
        let touched = events.flat_map(move |event| {
            let touched = match event {
                Ok(event) => changes.take(decode_event(event, &mut decode)),
                Err(error) => {
                    log_failure(&metrics, kind, &error);
                    Vec::new()
                }
            };
            stream::iter(touched.into_iter().map(|object| Ok(Arc::unwrap_or_clone(object))))
        });
        Self { store, filled, changes: touched.boxed() }
    }
}

impl<K: Object> Debug for Watch<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("kind", &K::kind(&())).finish_non_exhaustive()
    }
}

/// What became of an object on its way in.
enum Decoded<K> {
    Object(K),
    Broken(Box<ObjectMeta>),
}

fn decode_event<K, W>(
    event: watcher::Event<W>,
    decode: &mut impl FnMut(W) -> Decoded<K>,
) -> changes::Event<K> {
    match event {
        watcher::Event::Init => changes::Event::ListStarts,
        watcher::Event::InitDone => changes::Event::ListEnds,
        watcher::Event::InitApply(object) => match decode(object) {
            Decoded::Object(object) => changes::Event::Listed(object),
            Decoded::Broken(_) => changes::Event::Nothing,
        },
        watcher::Event::Apply(object) => match decode(object) {
            Decoded::Object(object) => changes::Event::Changed(object),
            Decoded::Broken(metadata) => changes::Event::Gone(metadata),
        },
        watcher::Event::Delete(object) => match decode(object) {
            Decoded::Object(object) => changes::Event::Deleted(object),
            Decoded::Broken(metadata) => changes::Event::Gone(metadata),
        },
    }
}

/// The API of a kind, in the namespaces this manager looks at.
fn api<K>(context: &Context) -> Api<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    match &context.settings.namespace {
        Some(namespace) => Api::namespaced(context.client.clone(), namespace),
        None => Api::all(context.client.clone()),
    }
}

fn config(context: &Context, which: Which) -> watcher::Config {
    let config = watcher::Config::default();
    match (which, &context.settings.watch_filter) {
        (Which::Ours, Some(value)) => config.labels(&format!("{WATCH_LABEL}={value}")),
        (Which::Ours, None) | (Which::All, _) => config,
        (Which::Labelled(selector), _) => config.labels(selector),
    }
}

fn prune(metadata: &mut ObjectMeta) {
    metadata.managed_fields = None;
}

fn log_failure(metrics: &Metrics, kind: Watched, error: &watcher::Error) {
    metrics.watch_failed(kind);
    match error {
        // Routine: the server ends watches that fell behind (410) and the list starts anew.
        watcher::Error::WatchError(status) if status.code == 410 => {
            tracing::debug!(?kind, "the watch is too old; listing again");
        }
        error => tracing::warn!(?kind, %error, "watch failed; trying again"),
    }
}

/// Tells about objects that cannot be decoded, once for each version of each.
struct Invalid {
    events: Events,
    metrics: Metrics,
    kind: Watched,
    told: HashMap<String, String>,
}

impl Invalid {
    fn new(context: &Context, kind: Watched) -> Self {
        Self { events: context.events.clone(), metrics: context.metrics.clone(), kind, told: HashMap::new() }
    }

    fn report<K: Object>(&mut self, metadata: &ObjectMeta, error: &str) {
        let uid = metadata.uid.clone().unwrap_or_default();
        let version = metadata.resource_version.clone().unwrap_or_default();
        if self.told.insert(uid, version.clone()).is_some_and(|told| told == version) {
            return;
        }
        self.metrics.undecodable(self.kind);
        tracing::warn!(
            kind = ?self.kind, namespace = metadata.namespace, name = metadata.name, error,
            "the object cannot be read and is left alone"
        );
        let object = k8s_openapi::api::core::v1::ObjectReference {
            api_version: Some(K::api_version(&()).into_owned()),
            kind: Some(K::kind(&()).into_owned()),
            name: metadata.name.clone(),
            namespace: metadata.namespace.clone(),
            uid: metadata.uid.clone(),
            ..Default::default()
        };
        let events = self.events.clone();
        let note = format!("This object cannot be read and is left alone: {error}");
        tokio::spawn(
            async move { events.publish(&object, Severity::Warning, "UndecodableObject", &note).await },
        );
    }
}

/// The objects of a cache that satisfy a condition, in the order of their names.
pub fn find_all<K: Object>(store: &Store<K>, wanted: impl Fn(&K) -> bool) -> Vec<Arc<K>> {
    let mut found = store.state_filter(|object| wanted(object));
    found.sort_by_cached_key(|object| (object.namespace(), object.name_any()));
    found
}
