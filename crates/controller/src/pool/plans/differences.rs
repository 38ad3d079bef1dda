//! What differs between the present and the planned state of a pool.
//!
//! All fields of [`Desired`] take part: a new one cannot be forgotten, since the comparison is of their serialized form.

use crate::pool::gather::Gathered;
use foo_api::plan::PlannedChange;
use foo_planner::Desired;
use foo_planner::desired::{Size, Strategy, Wanted};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Whose values are never shown: it has tokens, and even a hash says something about them.
const USER_DATA: &str = "launchTemplate.userData";

/// Fields of the launch template that new instances get, and for which no instance is replaced.
const FOR_NEW_INSTANCES: [&str; 2] = ["launchTemplate.tags.", USER_DATA];

/// The state of a pool.
pub(super) struct View<'a> {
    pub(super) facts: &'a Facts,
    pub(super) desired: &'a Desired,
}

/// What makes instances outdated without being part of a launch template.
pub(super) struct Facts {
    version: Option<String>,
    /// The Secret with the bootstrap data.
    pub(super) secret: Option<String>,
}

impl Facts {
    /// The facts of a pool.
    pub(super) fn of(gathered: &Gathered) -> Self {
        let spec = gathered.machine_pool.as_ref().map(|pool| &pool.spec.template.spec);
        Self {
            version: spec.and_then(|spec| spec.version.clone()),
            secret: spec
                .and_then(|spec| spec.bootstrap.data_secret_name.clone())
                .filter(|name| !name.is_empty()),
        }
    }
}

impl View<'_> {
    /// The value of each field by its path.
    fn fields(&self, with_template: bool) -> BTreeMap<String, String> {
        let Desired {
            identity: _,
            goal: _,
            pause,
            missing: _,
            size,
            template,
            group,
            scale_in,
            rollout,
            remediation,
            interruption,
            timeouts,
            warnings: _,
        } = self.desired;
        let size = match size {
            Size::Unknown => json!({}),
            Size::Replicas { wanted, ceiling } => json!({"replicas": wanted, "max_size": ceiling}),
            Size::External { min, max, published: _ } => json!({"min_size": min, "max_size": max}),
        };
        let template = match template {
            Wanted::Ready(template) if with_template => json!(template.content),
            Wanted::Ready(_) | Wanted::Blocked(_) => json!({}),
        };
        let all = json!({
            "paused": pause.is_some(),
            "size": size,
            "launch_template": template,
            "kubernetes_version": self.facts.version,
            "bootstrap_secret": self.facts.secret,
            "group": group,
            "scale_in": scale_in,
            "roll_out": rollout,
            "remediation": remediation,
            "interruption": interruption,
            "deletion_timeouts": timeouts,
        });
        let mut fields = BTreeMap::new();
        flatten("", &all, &mut fields);
        fields
    }

    fn spec_hash(&self) -> Option<&str> {
        match &self.desired.template {
            Wanted::Ready(template) => Some(template.spec_hash.as_str()),
            Wanted::Blocked(_) => None,
        }
    }
}

/// The fields that differ, by their path. Of a new pool there is no present state.
pub(super) fn differences(present: Option<&View<'_>>, planned: &View<'_>) -> Vec<PlannedChange> {
    // A template that cannot be made yet has no fields to compare: what it waits for is in the conditions.
    let has_template =
        planned.spec_hash().is_some() && present.is_none_or(|present| present.spec_hash().is_some());
    let before = present.map(|present| present.fields(has_template)).unwrap_or_default();
    let after = planned.fields(has_template);
    let outdates = has_template
        && planned.desired.rollout.strategy == Strategy::RollingUpdate
        && present.is_some_and(|present| present.spec_hash() != planned.spec_hash());
    let mut paths: Vec<&String> = before.keys().chain(after.keys()).collect();
    paths.sort();
    paths.dedup();
    let differs = paths.into_iter().filter(|path| before.get(*path) != after.get(*path));
    let mut changes: Vec<PlannedChange> = differs
        .map(|path| PlannedChange {
            field: path.clone(),
            from: before.get(path).cloned(),
            to: after.get(path).cloned(),
            replaces: outdates && replaces(path),
        })
        .collect();
    // User data without a token replaces instances as well.
    if outdates && !changes.iter().any(|change| change.replaces) {
        for change in changes.iter_mut().filter(|change| change.field == USER_DATA) {
            change.replaces = true;
        }
    }
    for change in changes.iter_mut().filter(|change| change.field == USER_DATA) {
        (change.from, change.to) = (None, Some(json!("other user data").to_string()));
    }
    changes
}

fn replaces(path: &str) -> bool {
    let of_content =
        path.starts_with("launchTemplate.") || ["kubernetesVersion", "bootstrapSecret"].contains(&path);
    of_content && !FOR_NEW_INSTANCES.iter().any(|field| path.starts_with(field))
}

/// Lists of values are one field. `Ready` of [`Wanted`] is no part of a path.
fn flatten(path: &str, value: &Value, fields: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(map) if is_ready(map) => {
            for inner in map.values() {
                flatten(path, inner, fields);
            }
        }
        Value::Object(map) => {
            for (name, inner) in map {
                let name = if is_own_field(path) { camel_case(name) } else { name.clone() };
                let below = if path.is_empty() { name } else { format!("{path}.{name}") };
                flatten(&below, inner, fields);
            }
        }
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            fields.insert(path.to_owned(), value.to_string());
        }
    }
}

fn is_ready(map: &Map<String, Value>) -> bool {
    map.len() == 1 && map.contains_key("Ready")
}

/// Whether the names below this path are fields, and not the keys of tags.
fn is_own_field(path: &str) -> bool {
    path.rsplit('.').next() != Some("tags")
}

fn camel_case(name: &str) -> String {
    let mut parts = name.split('_');
    let mut joined = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        joined.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        joined.push_str(letters.as_str());
    }
    joined
}
