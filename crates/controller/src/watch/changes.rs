//! Which events of a watch are relevant, as plain data: events in, changed objects out.
//!
//! kube's own predicates are not enough:
//! * they forget what they saw after a while, so that a list after a quiet hour names every object, and they
//!   drop the deletion of an object whose other fields are unchanged;
//! * they name objects while a list is still being received, before the cache contains them, and kube drops a
//!   pass over an object that the cache does not contain;
//! * they never name an object that was deleted while no watch was open (kube-rs: 410 desync).

use super::by_name::ByName;
use crate::filled::{Filled, Filling, filled};
use kube::api::ObjectMeta;
use kube::runtime::reflector::{ObjectRef, store::Writer};
use kube::runtime::watcher;
use kube::{Resource, ResourceExt};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Which changes of an object are passed on; deletions always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeFilter {
    /// Changes of generation, finalizers, labels, annotations, owner references or the deletion time: of
    /// everything except the status. For kinds whose status the controller itself writes, so that its own
    /// writes do not trigger a pass.
    AllButStatus,
    /// Every new version. For kinds whose status is an input.
    EveryVersion,
}

/// Hashes the part of an object's status that is an input. With it, a change of another part is not passed on.
pub type StatusInput<K> = fn(&K, &mut DefaultHasher);

/// An event, as far as it could be read.
#[derive(Debug)]
pub(super) enum Event<K> {
    ListStarts,
    Listed(K),
    ListEnds,
    Changed(K),
    Deleted(K),
    /// The object was deleted, or cannot be read any more.
    Gone(Box<ObjectMeta>),
    Nothing,
}

/// The cache's writer, and what was passed on last of each object.
pub(super) struct Changes<K: Resource<DynamicType = ()> + Clone + 'static> {
    writer: Writer<K>,
    by_name: ByName<K>,
    filling: Filling,
    passing: ChangeFilter,
    /// What is passed on besides `passing`.
    input: StatusInput<K>,
    seen: HashMap<ObjectRef<K>, u64>,
}

impl<K: Resource<DynamicType = ()> + Clone + 'static> Changes<K> {
    /// Starts with an empty cache. Also returns the signal that the cache is filled.
    pub(super) fn new(writer: Writer<K>, passing: ChangeFilter, input: StatusInput<K>) -> (Self, Filled) {
        let (filling, filled) = filled();
        (Self { writer, by_name: ByName::default(), filling, passing, input, seen: HashMap::new() }, filled)
    }

    /// The cache's objects by name.
    pub(super) fn by_name(&self) -> ByName<K> {
        self.by_name.clone()
    }

    /// Updates the cache, then returns the objects that need a pass.
    pub(super) fn take(&mut self, event: Event<K>) -> Vec<Arc<K>> {
        match event {
            Event::Nothing => Vec::new(),
            Event::ListStarts => {
                self.writer.apply_watcher_event(&watcher::Event::Init);
                Vec::new()
            }
            Event::Listed(object) => {
                self.writer.apply_watcher_event(&watcher::Event::InitApply(object));
                Vec::new()
            }
            Event::ListEnds => self.list_ends(),
            Event::Changed(object) => {
                let changed = self.is_news(&object);
                let key = ObjectRef::from_obj(&object);
                self.writer.apply_watcher_event(&watcher::Event::Apply(object));
                let Some(object) = self.writer.as_reader().get(&key) else { return Vec::new() };
                self.by_name.insert(Arc::clone(&object));
                if changed { vec![object] } else { Vec::new() }
            }
            Event::Deleted(object) => self.deleted(object),
            Event::Gone(metadata) => {
                let mut key = ObjectRef::new(metadata.name.as_deref().unwrap_or_default());
                key.namespace = metadata.namespace;
                match self.writer.as_reader().get(&key) {
                    Some(object) => self.deleted(Arc::unwrap_or_clone(object)),
                    None => Vec::new(),
                }
            }
        }
    }

    fn list_ends(&mut self) -> Vec<Arc<K>> {
        let store = self.writer.as_reader();
        let before = store.state();
        self.writer.apply_watcher_event(&watcher::Event::InitDone);
        let now = store.state();
        self.by_name.replace(now.clone());
        self.filling.done();
        let mut touched: Vec<Arc<K>> = now.into_iter().filter(|object| self.is_news(object)).collect();
        for object in before {
            let key = ObjectRef::from_obj(&*object);
            if store.get(&key).is_none() {
                self.seen.remove(&key);
                touched.push(object);
            }
        }
        touched
    }

    fn deleted(&mut self, object: K) -> Vec<Arc<K>> {
        self.seen.remove(&ObjectRef::from_obj(&object));
        self.writer.apply_watcher_event(&watcher::Event::Delete(object.clone()));
        self.by_name.remove(&object);
        vec![Arc::new(object)]
    }

    /// Whether a relevant field differs from what was passed on last; records it.
    fn is_news(&mut self, object: &K) -> bool {
        let print = fingerprint(object, self.passing, self.input);
        self.seen.insert(ObjectRef::from_obj(object), print) != Some(print)
    }
}

/// Of a kind whose status is no input, or as a whole.
pub(super) fn nothing<K>(_: &K, _: &mut DefaultHasher) {}

fn fingerprint<K: Resource<DynamicType = ()>>(
    object: &K,
    passing: ChangeFilter,
    input: StatusInput<K>,
) -> u64 {
    let mut hasher = DefaultHasher::new();
    object.uid().hash(&mut hasher);
    input(object, &mut hasher);
    match passing {
        ChangeFilter::EveryVersion => object.resource_version().hash(&mut hasher),
        ChangeFilter::AllButStatus => {
            let metadata = object.meta();
            metadata.generation.hash(&mut hasher);
            metadata.finalizers.hash(&mut hasher);
            metadata.labels.hash(&mut hasher);
            metadata.annotations.hash(&mut hasher);
            metadata.deletion_timestamp.is_some().hash(&mut hasher);
            for owner in object.owner_references() {
                (&owner.uid, &owner.api_version, &owner.kind, &owner.name, owner.controller)
                    .hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::ConfigMap;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};
    use kube::runtime::reflector;

    fn map(name: &str, version: u32) -> ConfigMap {
        let mut map = ConfigMap::default();
        map.metadata.name = Some(name.into());
        map.metadata.uid = Some(format!("uid-{name}"));
        map.metadata.resource_version = Some(version.to_string());
        map.metadata.generation = Some(1);
        map
    }

    fn changes(passing: ChangeFilter) -> Changes<ConfigMap> {
        Changes::new(reflector::store().1, passing, nothing).0
    }

    fn names(objects: &[Arc<ConfigMap>]) -> Vec<String> {
        let mut names: Vec<_> = objects.iter().map(|object| object.name_any()).collect();
        names.sort();
        names
    }

    fn list(changes: &mut Changes<ConfigMap>, objects: Vec<ConfigMap>) -> Vec<String> {
        assert!(changes.take(Event::ListStarts).is_empty());
        for object in objects {
            assert!(
                changes.take(Event::Listed(object)).is_empty(),
                "nothing is named before the cache knows it"
            );
        }
        names(&changes.take(Event::ListEnds))
    }

    #[test]
    fn a_list_names_what_is_new_what_changed_and_what_vanished() {
        let mut changes = changes(ChangeFilter::EveryVersion);
        assert_eq!(list(&mut changes, vec![map("a", 1), map("b", 1), map("c", 1)]), ["a", "b", "c"]);
        assert_eq!(list(&mut changes, vec![map("a", 1), map("b", 2)]), ["b", "c"]);
        assert_eq!(list(&mut changes, vec![map("a", 1), map("b", 2)]), [""; 0]);
        assert_eq!(list(&mut changes, vec![map("a", 1), map("b", 2), map("c", 9)]), ["c"]);
    }

    #[test]
    fn a_new_status_alone_is_no_change_unless_it_is_an_input() {
        for (passing, passed) in [(ChangeFilter::AllButStatus, 0), (ChangeFilter::EveryVersion, 1)] {
            let mut changes = changes(passing);
            list(&mut changes, vec![map("a", 1)]);
            assert_eq!(changes.take(Event::Changed(map("a", 2))).len(), passed, "{passing:?}");
        }
    }

    #[test]
    fn the_part_of_a_status_that_is_an_input_is_a_change() {
        let input: StatusInput<ConfigMap> = |map, hasher| map.data.hash(hasher);
        let mut changes = Changes::new(reflector::store().1, ChangeFilter::AllButStatus, input).0;
        list(&mut changes, vec![map("a", 1)]);
        assert!(changes.take(Event::Changed(map("a", 2))).is_empty());
        let mut reported = map("a", 3);
        reported.data = Some([("a".into(), "b".into())].into());
        assert_eq!(changes.take(Event::Changed(reported.clone())).len(), 1);
        assert!(changes.take(Event::Changed(reported)).is_empty());
    }

    #[test]
    fn metadata_that_decisions_depend_on_is_a_change() {
        type Edit = fn(&mut ConfigMap);
        let edits: [Edit; 6] = [
            |map| map.metadata.generation = Some(2),
            |map| map.metadata.finalizers = Some(vec!["f".into()]),
            |map| map.metadata.labels = Some([("a".into(), "b".into())].into()),
            |map| map.metadata.annotations = Some([("a".into(), "b".into())].into()),
            |map| map.metadata.owner_references = Some(vec![OwnerReference::default()]),
            |map| {
                map.metadata.deletion_timestamp = Some(Time(jiff::Timestamp::UNIX_EPOCH));
            },
        ];
        for (at, edit) in edits.into_iter().enumerate() {
            let mut changes = changes(ChangeFilter::AllButStatus);
            list(&mut changes, vec![map("a", 1)]);
            let mut edited = map("a", 2);
            edit(&mut edited);
            assert_eq!(changes.take(Event::Changed(edited)).len(), 1, "edit {at}");
        }
    }

    #[test]
    fn a_deletion_is_always_named_and_so_is_the_successor() {
        let mut changes = changes(ChangeFilter::AllButStatus);
        list(&mut changes, vec![map("a", 1)]);
        assert_eq!(names(&changes.take(Event::Deleted(map("a", 1)))), ["a"]);
        assert_eq!(names(&changes.take(Event::Changed(map("a", 1)))), ["a"]);
    }

    #[test]
    fn lookups_by_name_return_what_the_cache_contains() {
        let mut changes = changes(ChangeFilter::AllButStatus);
        let by_name = changes.by_name();
        let found = |head: &str| names(&by_name.beginning_with("", head, |_| true));
        list(&mut changes, vec![map("p-1", 1), map("p-2", 1), map("q-1", 1)]);
        assert_eq!(found("p-"), ["p-1", "p-2"]);
        changes.take(Event::Changed(map("p-3", 2)));
        changes.take(Event::Deleted(map("p-1", 3)));
        changes.take(Event::Gone(Box::new(map("q-1", 3).metadata)));
        assert_eq!(found(""), ["p-2", "p-3"]);
        // A new status names no object, and the index has it nevertheless.
        assert!(changes.take(Event::Changed(map("p-2", 4))).is_empty());
        let newest = by_name.all_in("", |map| map.name_any() == "p-2");
        assert_eq!(newest[0].resource_version().as_deref(), Some("4"));
        assert_eq!(by_name.all_in("elsewhere", |_| true).len(), 0);
        list(&mut changes, vec![map("p-3", 2), map("r", 5)]);
        assert_eq!(found(""), names(&changes.writer.as_reader().state()));
        assert_eq!(found(""), ["p-3", "r"]);
    }

    #[test]
    fn an_object_that_cannot_be_read_any_more_leaves_the_cache() {
        let mut changes = changes(ChangeFilter::AllButStatus);
        list(&mut changes, vec![map("a", 1)]);
        let store = changes.writer.as_reader();
        assert_eq!(names(&changes.take(Event::Gone(Box::new(map("a", 2).metadata)))), ["a"]);
        assert!(store.is_empty());
        assert!(changes.take(Event::Gone(Box::new(map("b", 2).metadata))).is_empty());
        assert_eq!(names(&changes.take(Event::Changed(map("a", 3)))), ["a"]);
    }
}
