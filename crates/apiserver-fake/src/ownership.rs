//! Who owns which field: the rules of server-side apply, and of all other writes.
//!
//! Follows `merge/update.go` of `structured-merge-diff` step by step; see also the Kubernetes documentation,
//! "Server-Side Apply". Versions of one kind are not converted into each other: each kind is served in one.

use crate::fields::FieldSet;
use crate::schema::Schema;
use crate::typed::{compare, fields_of, merge, without};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How a manager wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    /// Server-side apply.
    Apply,
    /// Anything else.
    Update,
}

/// A manager: the same name is another one for another operation and for another subresource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Manager {
    pub(crate) name: String,
    pub(crate) operation: Operation,
    pub(crate) subresource: &'static str,
}

/// What a manager owns, and since when.
#[derive(Clone, Debug)]
pub(crate) struct Owned {
    pub(crate) fields: FieldSet,
    pub(crate) time: String,
}

/// The managers of one object.
pub(crate) type Managers = BTreeMap<Manager, Owned>;

/// Fields that others own and an apply without force would change: manager and path.
pub(crate) type Conflicts = Vec<(Manager, String)>;

/// Whether two lists are equal, whenever they were written.
pub(crate) fn same(one: &Managers, other: &Managers) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|((a, left), (b, right))| a == b && left.fields == right.fields)
}

/// Ownership after a write that is not an apply: the writer owns what it changed.
pub(crate) fn update(
    old: &Value,
    new: &Value,
    schema: Schema<'_>,
    managers: &Managers,
    writer: &Manager,
    now: &str,
) -> Managers {
    let difference = compare(old, new, schema);
    let changed = difference.modified.union(&difference.added);
    let mut result = lose(managers, writer, &changed, &difference.removed);
    let before = result.get(writer).map(|owned| owned.fields.clone()).unwrap_or_default();
    let fields = before.difference(&difference.removed).union(&changed).without_system_fields();
    if fields != before {
        result.insert(writer.clone(), Owned { fields, time: now.to_owned() });
    }
    result.retain(|_, owned| !owned.fields.is_empty());
    result
}

/// The object and its owners after `applied` was applied by `writer`.
pub(crate) fn apply(
    live: &Value,
    applied: &Value,
    schema: Schema<'_>,
    managers: &Managers,
    writer: &Manager,
    force: bool,
    now: &str,
) -> Result<(Value, Managers), Conflicts> {
    let fields = fields_of(applied, schema);
    let merged = merge(live, applied, schema);
    let last = managers.get(writer).map(|owned| owned.fields.clone()).unwrap_or_default();
    let mut result = managers.clone();
    result.insert(writer.clone(), Owned { fields: fields.clone(), time: now.to_owned() });
    // System fields count while pruning: the name is kept by being applied, and lost with all other metadata if not.
    let new = prune(&merged, schema, &result, &last);
    let fields = fields.without_system_fields();
    match managers.get(writer).filter(|_| fields == last) {
        Some(unchanged) => result.insert(writer.clone(), unchanged.clone()),
        None => result.insert(writer.clone(), Owned { fields, time: now.to_owned() }),
    };
    let difference = compare(live, &new, schema);
    let changed = difference.modified.union(&difference.added);
    let conflicts: Conflicts = result
        .iter()
        .filter(|(manager, _)| *manager != writer)
        .flat_map(|(manager, owned)| {
            let paths = owned.fields.intersection(&changed).paths();
            paths.into_iter().map(|path| (manager.clone(), path))
        })
        .collect();
    if !force && !conflicts.is_empty() {
        return Err(conflicts);
    }
    let mut result = lose(&result, writer, &changed, &difference.removed);
    result.retain(|_, owned| !owned.fields.is_empty());
    Ok((new, result))
}

/// All managers but the writer lose what was changed or removed.
fn lose(managers: &Managers, writer: &Manager, changed: &FieldSet, removed: &FieldSet) -> Managers {
    let mut result = managers.clone();
    for (_, owned) in result.iter_mut().filter(|(manager, _)| *manager != writer) {
        owned.fields = owned.fields.difference(changed).difference(removed);
    }
    result
}

/// Removes what the writer applied last time and no longer applies, unless another manager owns it.
fn prune(merged: &Value, schema: Schema<'_>, managers: &Managers, last: &FieldSet) -> Value {
    if last.is_empty() {
        return merged.clone();
    }
    let all = |value: &Value| fields_of(value, schema).with_named_parents(schema);
    let last = last.with_named_parents(schema);
    let remove = |set: &FieldSet| without(merged, set, schema);
    let owned = managers.values().fold(FieldSet::default(), |all, owned| all.union(&owned.fields));
    let pruned = remove(&last);
    let kept = all(&pruned).union(&owned.with_named_parents(schema));
    let pruned = remove(&all(merged).difference(&kept));
    let gone = all(merged).difference(&all(&pruned)).intersection(&last);
    remove(&gone)
}

/// `metadata.managedFields`.
pub(crate) fn render(managers: &Managers, api_version: &str) -> Value {
    managers
        .iter()
        .map(|(manager, owned)| {
            let mut entry = json!({
                "manager": manager.name,
                "operation": match manager.operation {
                    Operation::Apply => "Apply",
                    Operation::Update => "Update",
                },
                "apiVersion": api_version,
                "time": owned.time,
                "fieldsType": "FieldsV1",
                "fieldsV1": owned.fields.to_fields_v1(),
            });
            if !manager.subresource.is_empty() {
                crate::json::set(&mut entry, &["subresource"], json!(manager.subresource));
            }
            entry
        })
        .collect()
}
