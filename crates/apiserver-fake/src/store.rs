//! The objects, their history, and the rules by which they change.
//!
//! One writer at a time, no I/O, no clock: the time is a parameter of each write. Every write either changes something
//! and takes the next resourceVersion, or changes nothing and takes none.

use crate::failure::{self, ApiError};
use crate::json::{at, set, take, text, texts};
use crate::kinds::{Kind, Kinds};
use crate::ownership::{self, Manager, Managers};
use crate::rules::{
    Part, admit, bare, check_name, check_same_uid, check_types, check_uid, keep_system_fields, limit_apply,
    limit_to, target,
};
use crate::schema::{self, Schema};
use crate::selectors::Filter;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Namespace (empty for none) and name.
pub(crate) type Key = (String, String);

/// Who writes, when, and whether it shall last.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    pub(crate) manager: Manager,
    pub(crate) persistence: Persistence,
    /// RFC 3339, whole seconds.
    pub(crate) now: String,
}

/// Whether a write lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Persistence {
    /// It does.
    Lasting,
    /// `dryRun=All`.
    DryRun,
}

/// What a DELETE requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deletion {
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
    /// `foregroundDeletion`, `orphan`, or neither.
    pub(crate) finalizer: Option<&'static str>,
}

#[derive(Clone, Debug)]
struct Stored {
    /// As clients see it, managedFields included.
    object: Arc<Value>,
    managers: Managers,
}

/// One change of one object.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) version: u64,
    pub(crate) key: Key,
    pub(crate) before: Option<Arc<Value>>,
    /// The new object; for a deletion its last state with the resourceVersion of the deletion.
    pub(crate) object: Arc<Value>,
    pub(crate) deleted: bool,
}

/// Objects and changes of one kind.
#[derive(Debug, Default)]
struct Table {
    objects: BTreeMap<Key, Stored>,
    changes: Vec<Change>,
}

/// Everything that a server stores.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) kinds: Kinds,
    tables: BTreeMap<String, Table>,
    /// The newest resourceVersion.
    pub(crate) version: u64,
    /// Changes up to this one are forgotten.
    pub(crate) compacted: u64,
    made: u64,
    seed: u64,
}

type Written = Result<Arc<Value>, ApiError>;

impl Store {
    pub(crate) fn new(kinds: Kinds, seed: u64) -> Self {
        Self { kinds, tables: BTreeMap::new(), version: 1, compacted: 0, made: 0, seed }
    }

    pub(crate) fn get(&self, kind: &Kind, key: &Key) -> Option<Arc<Value>> {
        Some(Arc::clone(&self.stored(kind, key)?.object))
    }

    fn stored(&self, kind: &Kind, key: &Key) -> Option<&Stored> {
        self.tables.get(&kind.table())?.objects.get(key)
    }

    /// Objects that match, by namespace and name.
    pub(crate) fn list(&self, kind: &Kind, filter: &Filter) -> Vec<Arc<Value>> {
        let objects = self.tables.get(&kind.table()).into_iter().flat_map(|table| table.objects.values());
        objects.map(|stored| &stored.object).filter(|object| filter.matches(object)).map(Arc::clone).collect()
    }

    /// The same as of an earlier resourceVersion.
    pub(crate) fn list_at(&self, kind: &Kind, filter: &Filter, version: u64) -> Vec<Arc<Value>> {
        let Some(table) = self.tables.get(&kind.table()) else { return Vec::new() };
        let mut objects: BTreeMap<&Key, Arc<Value>> =
            table.objects.iter().map(|(key, stored)| (key, Arc::clone(&stored.object))).collect();
        for change in table.changes.iter().rev().take_while(|change| change.version > version) {
            match &change.before {
                Some(before) => drop(objects.insert(&change.key, Arc::clone(before))),
                None => drop(objects.remove(&change.key)),
            }
        }
        objects.into_values().filter(|object| filter.matches(object)).collect()
    }

    /// Changes of a kind in the given range of resourceVersions, the first excluded.
    pub(crate) fn changes(&self, kind: &Kind, after: u64, until: u64) -> &[Change] {
        let changes = self.tables.get(&kind.table()).map_or(&[][..], |table| &table.changes);
        let start = changes.partition_point(|change| change.version <= after);
        let end = changes.partition_point(|change| change.version <= until);
        changes.get(start..end.max(start)).unwrap_or_default()
    }

    /// Forgets the history: watches from before now get responses with 410.
    pub(crate) fn compact(&mut self) {
        self.compacted = self.version;
        for table in self.tables.values_mut() {
            table.changes.clear();
        }
    }

    /// POST.
    pub(crate) fn create(
        &mut self,
        kind: &Kind,
        namespace: &str,
        mut body: Value,
        writer: &Writer,
    ) -> Written {
        check_types(kind, &mut body)?;
        if text(&body, &["metadata", "resourceVersion"]).is_some_and(|version| !version.is_empty()) {
            return Err(failure::bad_request("resourceVersion should not be set on objects to be created"));
        }
        let name = match text(&body, &["metadata", "name"]).filter(|name| !name.is_empty()) {
            Some(name) => name.to_owned(),
            None => match text(&body, &["metadata", "generateName"]) {
                Some(prefix) => format!("{prefix}{}", self.suffix()),
                None => {
                    return Err(failure::invalid(
                        kind,
                        "",
                        &["metadata.name: Required value: name or generateName is required".to_owned()],
                    ));
                }
            },
        };
        set(&mut body, &["metadata", "name"], json!(name));
        if kind.status {
            take(&mut body, &["status"]);
        }
        take(&mut body, &["metadata", "managedFields"]);
        admit(kind, &name, &mut body)?;
        let managers = owners_after(kind, &json!({}), &body, &Managers::new(), writer);
        self.insert(kind, (namespace.to_owned(), name), body, managers, writer)
    }

    fn insert(
        &mut self,
        kind: &Kind,
        key: Key,
        mut body: Value,
        managers: Managers,
        writer: &Writer,
    ) -> Written {
        check_name(kind, &key.1)?;
        match text(&body, &["metadata", "namespace"]) {
            Some(namespace) if !namespace.is_empty() && namespace != key.0 => {
                return Err(failure::bad_request(format!(
                    "the namespace of the provided object does not match the namespace sent on the request ({namespace} != {})",
                    key.0
                )));
            }
            _ => {}
        }
        if self.stored(kind, &key).is_some() {
            return Err(failure::already_exists(kind, &key.1));
        }
        for name in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"] {
            take(&mut body, &["metadata", name]);
        }
        if kind.namespaced {
            set(&mut body, &["metadata", "namespace"], json!(key.0));
        } else {
            take(&mut body, &["metadata", "namespace"]);
        }
        set(&mut body, &["metadata", "creationTimestamp"], json!(writer.now));
        let uid = format!("{:08x}-0000-4000-8000-{:012x}", self.seed, self.made + 1);
        set(&mut body, &["metadata", "uid"], json!(uid));
        if kind.generation {
            set(&mut body, &["metadata", "generation"], json!(1));
        }
        if writer.persistence == Persistence::DryRun {
            return Ok(Arc::new(body));
        }
        self.made += 1;
        Ok(self.commit(kind, key, None, body, managers, false))
    }

    /// PUT of the object or of its status; also what a patch ends in. The body must carry the whole object.
    pub(crate) fn replace(
        &mut self,
        kind: &Kind,
        key: &Key,
        mut body: Value,
        part: Part,
        writer: &Writer,
    ) -> Written {
        check_types(kind, &mut body)?;
        let stored = self.stored(kind, key).ok_or_else(|| failure::not_found(kind, &key.1))?.clone();
        let live = bare(&stored.object);
        match text(&body, &["metadata", "resourceVersion"]).filter(|version| !version.is_empty()) {
            None if !kind.unconditional_put => {
                let fault =
                    "metadata.resourceVersion: Invalid value: 0: must be specified for an update".to_owned();
                return Err(failure::invalid(kind, &key.1, &[fault]));
            }
            Some(version) if Some(version) != text(&live, &["metadata", "resourceVersion"]) => {
                return Err(failure::modified(kind, &key.1));
            }
            _ => {}
        }
        check_uid(kind, &key.1, text(&body, &["metadata", "uid"]), &live)?;
        if text(&body, &["metadata", "name"]).is_some_and(|name| name != key.1) {
            return Err(failure::bad_request("the name of the object does not match the name on the URL"));
        }
        let mut new = limit_to(part, kind, body, &live);
        keep_system_fields(&mut new, &live);
        admit(kind, &key.1, &mut new)?;
        let managers = owners_after(kind, &live, &new, &stored.managers, writer);
        self.update(kind, key, &stored, new, managers, writer)
    }

    /// Server-side apply.
    pub(crate) fn apply(
        &mut self,
        kind: &Kind,
        key: &Key,
        mut body: Value,
        part: Part,
        force: bool,
        writer: &Writer,
    ) -> Written {
        check_types(kind, &mut body)?;
        if at(&body, &["metadata", "managedFields"]).is_some_and(|fields| !fields.is_null()) {
            return Err(failure::bad_request("metadata.managedFields must be nil"));
        }
        if text(&body, &["metadata", "name"]).is_some_and(|name| name != key.1) {
            return Err(failure::bad_request("the name of the object does not match the name on the URL"));
        }
        let undeclared = schema::undeclared(&body, &kind.schema);
        if !undeclared.is_empty() {
            return Err(failure::undeclared(kind, key, &undeclared));
        }
        let stored = self.stored(kind, key).cloned();
        if stored.is_none() && part == Part::Status {
            return Err(failure::not_found(kind, &key.1));
        }
        let version = take(&mut body, &["metadata", "resourceVersion"]);
        let live = stored.as_ref().map(|stored| bare(&stored.object));
        match (&live, version.as_ref().and_then(Value::as_str)) {
            (None, Some(_)) => return Err(failure::not_found(kind, &key.1)),
            (Some(live), Some(version)) if text(live, &["metadata", "resourceVersion"]) != Some(version) => {
                return Err(failure::modified(kind, &key.1));
            }
            _ => {}
        }
        let uid = text(&body, &["metadata", "uid"]).map(ToOwned::to_owned);
        if let (Some(_), None) = (&uid, &live) {
            return Err(failure::conflict(kind, &key.1, "uid mismatch: the object does not exist"));
        }
        let start = live.unwrap_or_else(|| json!({ "apiVersion": kind.api_version(), "kind": kind.kind }));
        check_same_uid(kind, &key.1, uid.as_deref(), &start)?;
        let applied = limit_apply(part, kind, body);
        let none = Managers::new();
        let before = stored.as_ref().map_or(&none, |stored| &stored.managers);
        let schema = Schema::of(&kind.schema);
        let (new, managers) =
            ownership::apply(&start, &applied, schema, before, &writer.manager, force, &writer.now)
                .map_err(|conflicts| failure::apply_conflict(kind, &conflicts))?;
        if text(&new, &["metadata", "name"]).is_none() {
            let message = format!(
                "the name of the object ({} based on URL) was undeterminable: name must be provided",
                key.1
            );
            return Err(failure::bad_request(message));
        }
        if let Some(stored) = stored {
            let mut new = limit_to(part, kind, new, &start);
            keep_system_fields(&mut new, &start);
            admit(kind, &key.1, &mut new)?;
            self.update(kind, key, &stored, new, managers, writer)
        } else {
            let mut new = new;
            admit(kind, &key.1, &mut new)?;
            self.insert(kind, key.clone(), new, managers, writer)
        }
    }

    /// DELETE. The flag is true if the object was removed.
    pub(crate) fn delete(
        &mut self,
        kind: &Kind,
        key: &Key,
        deletion: &Deletion,
        writer: &Writer,
    ) -> Result<(Arc<Value>, bool), ApiError> {
        let stored = self.stored(kind, key).ok_or_else(|| failure::not_found(kind, &key.1))?.clone();
        let mut object = bare(&stored.object);
        let live = |field: &str| text(&object, &["metadata", field]);
        for (what, wanted, found) in [
            ("UID", &deletion.uid, live("uid")),
            ("ResourceVersion", &deletion.resource_version, live("resourceVersion")),
        ] {
            if let Some(wanted) = wanted.as_deref().filter(|wanted| Some(*wanted) != found) {
                let found = found.unwrap_or_default();
                let why = format!(
                    "Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"
                );
                return Err(failure::conflict(kind, &key.1, &why));
            }
        }
        let deleting = live("deletionTimestamp").is_some();
        let mut finalizers: Vec<String> =
            texts(&object, &["metadata", "finalizers"]).into_iter().map(ToOwned::to_owned).collect();
        if let Some(finalizer) = deletion.finalizer.filter(|_| !deleting)
            && !finalizers.iter().any(|present| present == finalizer)
        {
            finalizers.push(finalizer.to_owned());
            set(&mut object, &["metadata", "finalizers"], json!(finalizers));
        }
        if deleting || writer.persistence == Persistence::DryRun {
            return Ok((stored.object, false));
        }
        if finalizers.is_empty() {
            return Ok((
                self.commit(kind, key.clone(), Some(&stored), object, stored.managers.clone(), true),
                true,
            ));
        }
        set(&mut object, &["metadata", "deletionTimestamp"], json!(writer.now));
        set(&mut object, &["metadata", "deletionGracePeriodSeconds"], json!(0));
        if let Some(generation) = at(&object, &["metadata", "generation"]).and_then(Value::as_i64) {
            set(&mut object, &["metadata", "generation"], json!(generation + 1));
        }
        Ok((self.commit(kind, key.clone(), Some(&stored), object, stored.managers.clone(), false), false))
    }

    /// The end of every write to an existing object.
    fn update(
        &mut self,
        kind: &Kind,
        key: &Key,
        stored: &Stored,
        mut new: Value,
        managers: Managers,
        writer: &Writer,
    ) -> Written {
        let live = bare(&stored.object);
        let deleting = text(&live, &["metadata", "deletionTimestamp"]).is_some();
        let finalizers = texts(&new, &["metadata", "finalizers"]);
        let before = texts(&live, &["metadata", "finalizers"]);
        if deleting && finalizers.iter().any(|finalizer| !before.contains(finalizer)) {
            let fault = "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted";
            return Err(failure::invalid(kind, &key.1, &[fault.to_owned()]));
        }
        let gone = deleting && finalizers.is_empty();
        if kind.generation && target(kind, &new) != target(kind, &live) {
            let generation =
                at(&live, &["metadata", "generation"]).and_then(Value::as_i64).unwrap_or_default();
            set(&mut new, &["metadata", "generation"], json!(generation + 1));
        }
        if new == live && ownership::same(&managers, &stored.managers) {
            return Ok(Arc::clone(&stored.object));
        }
        if writer.persistence == Persistence::DryRun {
            return Ok(Arc::new(new));
        }
        Ok(self.commit(kind, key.clone(), Some(stored), new, managers, gone))
    }

    fn commit(
        &mut self,
        kind: &Kind,
        key: Key,
        before: Option<&Stored>,
        mut object: Value,
        managers: Managers,
        deleted: bool,
    ) -> Arc<Value> {
        self.version += 1;
        set(&mut object, &["metadata", "resourceVersion"], json!(self.version.to_string()));
        if !managers.is_empty() {
            let rendered = ownership::render(&managers, &kind.api_version());
            set(&mut object, &["metadata", "managedFields"], rendered);
        }
        let object = Arc::new(object);
        let table = self.tables.entry(kind.table()).or_default();
        if deleted {
            table.objects.remove(&key);
        } else {
            table.objects.insert(key.clone(), Stored { object: Arc::clone(&object), managers });
        }
        table.changes.push(Change {
            version: self.version,
            key,
            before: before.map(|stored| Arc::clone(&stored.object)),
            object: Arc::clone(&object),
            deleted,
        });
        object
    }

    /// Changes an object's JSON as it is shown.
    pub(crate) fn corrupt(
        &mut self,
        kind: &Kind,
        key: &Key,
        change: impl FnOnce(&mut Value),
    ) -> Result<(), ApiError> {
        let before = self.stored(kind, key).cloned().ok_or_else(|| failure::not_found(kind, &key.1))?;
        let mut object = (*before.object).clone();
        change(&mut object);
        // Without owners of fields: they would be shown again.
        self.commit(kind, key.clone(), Some(&before), object, Managers::new(), false);
        let stored = self.tables.get_mut(&kind.table()).and_then(|table| table.objects.get_mut(key));
        if let Some(stored) = stored {
            stored.managers = before.managers;
        }
        Ok(())
    }

    /// Five characters for `generateName`, from those Kubernetes uses; never the same twice in a row.
    fn suffix(&self) -> String {
        const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let mut number = (self.made + 1).wrapping_mul(7_368_787) ^ self.seed;
        let base = u64::try_from(ALPHABET.len()).unwrap_or(1);
        (0..5)
            .filter_map(|_| {
                let digit = usize::try_from(number % base).ok()?;
                number /= base;
                ALPHABET.get(digit).copied().map(char::from)
            })
            .collect()
    }
}

fn owners_after(kind: &Kind, live: &Value, new: &Value, before: &Managers, writer: &Writer) -> Managers {
    ownership::update(live, new, Schema::of(&kind.schema), before, &writer.manager, &writer.now)
}

impl Kind {
    fn table(&self) -> String {
        format!("{}/{}", self.resource(), self.version)
    }
}
