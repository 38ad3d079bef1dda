//! Walks over objects by their schema: which fields they have, how two differ, merging and removing.
//!
//! The rules are those of `structured-merge-diff` (packages `typed` and `merge`), the library behind server-side apply.

use crate::fields::{FieldSet, field_edge};
use crate::schema::{Identity, Schema, Shape};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The fields a value has.
pub(crate) fn fields_of(value: &Value, schema: Schema<'_>) -> FieldSet {
    let mut set = FieldSet::default();
    match (schema.shape(value), value) {
        (Shape::Fields, Value::Object(map)) => {
            for (name, field) in map {
                let mut child = fields_of(field, schema.field(name));
                let hollow = field.is_null() || field.as_object().is_some_and(Map::is_empty);
                child.member |= hollow || !schema.names_field(name);
                set.add(field_edge(name), child);
            }
        }
        (Shape::Items(identity), Value::Array(items)) => {
            for item in items {
                let mut child = fields_of(item, schema.items());
                child.member = true;
                set.add(identity.edge(item), child);
            }
        }
        _ => set.member = true,
    }
    set
}

/// How one object differs from another.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) added: FieldSet,
    pub(crate) modified: FieldSet,
    pub(crate) removed: FieldSet,
}

/// Compares two objects field by field.
pub(crate) fn compare(old: &Value, new: &Value, schema: Schema<'_>) -> Comparison {
    let mut result = Comparison::default();
    compare_at(Some(old), Some(new), schema, &mut Vec::new(), &mut result);
    result
}

fn compare_at(
    old: Option<&Value>,
    new: Option<&Value>,
    schema: Schema<'_>,
    path: &mut Vec<String>,
    result: &mut Comparison,
) {
    let Some(sample) = new.filter(|new| !new.is_null()).or(old).or(new) else { return };
    let children = match schema.shape(sample) {
        Shape::Whole => None,
        Shape::Fields => by_field(old).zip(by_field(new)).map(|(old, new)| (old, new, None)),
        Shape::Items(identity) => by_item(old, &identity)
            .zip(by_item(new, &identity))
            .map(|(old, new)| (old, new, Some(schema.items()))),
    };
    let Some((old_children, new_children, items)) =
        children.filter(|(old, new, _)| !old.is_empty() || !new.is_empty())
    else {
        match (old, new) {
            (None, Some(_)) => result.added.insert(path),
            (Some(_), None) => result.removed.insert(path),
            (Some(old), Some(new)) if old != new => result.modified.insert(path),
            _ => {}
        }
        return;
    };
    let edges: BTreeSet<&String> = old_children.keys().chain(new_children.keys()).collect();
    for edge in edges {
        let below = items.unwrap_or_else(|| schema.field(edge.strip_prefix("f:").unwrap_or(edge)));
        path.push(edge.clone());
        compare_at(old_children.get(edge).copied(), new_children.get(edge).copied(), below, path, result);
        path.pop();
    }
    match (old, new) {
        (None, Some(_)) => result.added.insert(path),
        (Some(_), None) => result.removed.insert(path),
        _ => {}
    }
}

/// The fields of an object; none of nothing; no response for what is not an object.
fn by_field(value: Option<&Value>) -> Option<BTreeMap<String, &Value>> {
    match value {
        None | Some(Value::Null) => Some(BTreeMap::new()),
        Some(Value::Object(map)) => Some(map.iter().map(|(name, field)| (field_edge(name), field)).collect()),
        Some(_) => None,
    }
}

fn by_item<'v>(value: Option<&'v Value>, identity: &Identity<'_>) -> Option<BTreeMap<String, &'v Value>> {
    match value {
        None | Some(Value::Null) => Some(BTreeMap::new()),
        Some(Value::Array(items)) => Some(items.iter().map(|item| (identity.edge(item), item)).collect()),
        Some(_) => None,
    }
}

/// What is live, with everything that is applied laid over it.
pub(crate) fn merge(live: &Value, applied: &Value, schema: Schema<'_>) -> Value {
    match (schema.shape(applied), live, applied) {
        (Shape::Fields, Value::Object(live), Value::Object(applied)) => {
            let mut merged = live.clone();
            for (name, field) in applied {
                let below = schema.field(name);
                let value = live.get(name).map_or_else(|| field.clone(), |old| merge(old, field, below));
                merged.insert(name.clone(), value);
            }
            Value::Object(merged)
        }
        (Shape::Items(identity), Value::Array(live), Value::Array(applied)) => {
            Value::Array(merge_items(live, applied, &identity, schema.items()))
        }
        _ => applied.clone(),
    }
}

/// Items take the order in which they are applied; those that only live has keep their place between them.
fn merge_items(live: &[Value], applied: &[Value], identity: &Identity<'_>, schema: Schema<'_>) -> Vec<Value> {
    let with_edge =
        |items: &'_ [Value]| -> Vec<String> { items.iter().map(|item| identity.edge(item)).collect() };
    let (old_edges, new_edges) = (with_edge(live), with_edge(applied));
    let old: BTreeMap<&String, &Value> = old_edges.iter().zip(live).collect();
    let new: BTreeSet<&String> = new_edges.iter().collect();
    let mut shared = new_edges.iter().filter(|edge| old.contains_key(edge)).peekable();
    let mut left = old_edges.iter().zip(live).peekable();
    let mut merged = Vec::new();
    let mut placed = BTreeSet::new();
    for (edge, item) in new_edges.iter().zip(applied) {
        // What of the live list comes before this item.
        while let Some((live_edge, live_item)) = left.peek() {
            if !new.contains(live_edge) {
                merged.push((*live_item).clone());
            } else if *live_edge == edge || (shared.peek() == Some(live_edge) && !placed.contains(live_edge))
            {
                break;
            }
            left.next();
        }
        if left.peek().is_some_and(|(live_edge, _)| *live_edge == edge) {
            left.next();
        }
        if shared.peek() == Some(&edge) {
            shared.next();
        }
        placed.insert(edge);
        merged.push(old.get(edge).map_or_else(|| item.clone(), |live| merge(live, item, schema)));
    }
    merged.extend(left.filter(|(edge, _)| !new.contains(edge)).map(|(_, item)| item.clone()));
    merged
}

/// The value without the given fields. What is emptied by that becomes null, as in the original: so an empty map that
/// is applied where a filled one was is refused by most schemas.
pub(crate) fn without(value: &Value, unwanted: &FieldSet, schema: Schema<'_>) -> Value {
    let keep = |edge: &str, child: &Value, below: Schema<'_>| {
        if unwanted.has(edge) {
            return None;
        }
        match unwanted.children.get(edge) {
            None => Some(child.clone()),
            Some(deeper) => Some(without(child, deeper, below)),
        }
    };
    match (schema.shape(value), value) {
        (Shape::Fields, Value::Object(map)) => {
            let kept: Map<String, Value> = map
                .iter()
                .filter_map(|(name, field)| {
                    Some((name.clone(), keep(&field_edge(name), field, schema.field(name))?))
                })
                .collect();
            if kept.is_empty() { Value::Null } else { Value::Object(kept) }
        }
        (Shape::Items(identity), Value::Array(items)) => {
            let kept: Vec<Value> =
                items.iter().filter_map(|item| keep(&identity.edge(item), item, schema.items())).collect();
            if kept.is_empty() { Value::Null } else { Value::Array(kept) }
        }
        _ => value.clone(),
    }
}
