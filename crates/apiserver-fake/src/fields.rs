//! Sets of fields, as server-side apply owns them, and their `FieldsV1` form.
//!
//! A set is a tree. Its edges are written as in `metadata.managedFields`: `f:<name>` for a field, `k:{…}` for an item
//! of a list by its keys, `v:<value>` for an item of a set. Nothing here knows a schema, except through the caller.

use crate::schema::Schema;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A set of paths into an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSet {
    pub(crate) member: bool,
    pub(crate) children: BTreeMap<String, Self>,
}

/// The edge to a field of an object.
pub(crate) fn field_edge(name: &str) -> String {
    format!("f:{name}")
}

impl FieldSet {
    pub(crate) fn is_empty(&self) -> bool {
        !self.member && self.children.values().all(Self::is_empty)
    }

    pub(crate) fn insert(&mut self, path: &[String]) {
        match path.split_first() {
            None => self.member = true,
            Some((edge, rest)) => self.children.entry(edge.clone()).or_default().insert(rest),
        }
    }

    pub(crate) fn add(&mut self, edge: String, child: Self) {
        if !child.is_empty() {
            self.children.insert(edge, child);
        }
    }

    /// Whether the path of this single edge is in the set.
    pub(crate) fn has(&self, edge: &str) -> bool {
        self.children.get(edge).is_some_and(|child| child.member)
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        let mut result = self.clone();
        result.member |= other.member;
        for (edge, child) in &other.children {
            let merged = result.children.get(edge).map_or_else(|| child.clone(), |left| left.union(child));
            result.children.insert(edge.clone(), merged);
        }
        result
    }

    pub(crate) fn difference(&self, other: &Self) -> Self {
        self.combine(other, |left, right| left && !right)
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        self.combine(other, |left, right| left && right)
    }

    fn combine(&self, other: &Self, keep: fn(bool, bool) -> bool) -> Self {
        let empty = Self::default();
        let mut result = Self { member: keep(self.member, other.member), children: BTreeMap::new() };
        for (edge, child) in &self.children {
            result.add(edge.clone(), child.combine(other.children.get(edge).unwrap_or(&empty), keep));
        }
        result
    }

    /// The set with every named field (not: key of a map, item of a list) on the way to a member made a member.
    pub(crate) fn with_named_parents(&self, schema: Schema<'_>) -> Self {
        let mut result = Self { member: self.member, children: BTreeMap::new() };
        for (edge, child) in &self.children {
            let (below, named) = match edge.strip_prefix("f:") {
                Some(name) => (schema.field(name), schema.names_field(name)),
                None => (schema.items(), false),
            };
            let mut deeper = child.with_named_parents(below);
            deeper.member |= named && !child.is_empty();
            result.add(edge.clone(), deeper);
        }
        result
    }

    /// Fields that no manager can own.
    pub(crate) fn without_system_fields(mut self) -> Self {
        self.member = false;
        self.children.remove("f:apiVersion");
        self.children.remove("f:kind");
        if let Some(mut metadata) = self.children.remove("f:metadata") {
            metadata.member = false;
            for name in [
                "name",
                "namespace",
                "creationTimestamp",
                "selfLink",
                "uid",
                "generation",
                "managedFields",
                "resourceVersion",
                "generateName",
                "deletionTimestamp",
                "deletionGracePeriodSeconds",
            ] {
                metadata.children.remove(&field_edge(name));
            }
            self.add("f:metadata".to_owned(), metadata);
        }
        self
    }

    /// The form in `managedFields[].fieldsV1`.
    pub(crate) fn to_fields_v1(&self) -> Value {
        let mut map = Map::new();
        for (edge, child) in &self.children {
            let mut below = child.to_fields_v1();
            if let (true, false, Value::Object(object)) =
                (child.member, child.children.is_empty(), &mut below)
            {
                object.insert(".".to_owned(), Value::Object(Map::new()));
            }
            map.insert(edge.clone(), below);
        }
        Value::Object(map)
    }

    /// The members, written as the API server writes them in a conflict (`.spec.replicas`).
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect_paths("", &mut paths);
        paths
    }

    fn collect_paths(&self, prefix: &str, paths: &mut Vec<String>) {
        if self.member {
            paths.push(prefix.to_owned());
        }
        for (edge, child) in &self.children {
            let step = match edge.split_once(':') {
                Some(("f", name)) => format!(".{name}"),
                Some(("k", keys)) => format!(
                    "[{}]",
                    keys.trim_matches(['{', '}']).replacen("\":", "=", 1).replacen('"', "", 1)
                ),
                Some((_, value)) => format!("[={value}]"),
                None => edge.clone(),
            };
            child.collect_paths(&format!("{prefix}{step}"), paths);
        }
    }
}
