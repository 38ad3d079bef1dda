//! What `/debug/pools`, `/debug/clusters` and the like show: of each object its last pass, and its last plan with its
//! report.
//!
//! Secrets never leave this module: bootstrap data in a plan is replaced by its length.

use crate::labels::{Controller, PassResult};
use crate::passes::PassId;
use foo_model::Timestamp;
use kube::ResourceExt;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use strum::EnumIter;

/// A page below `/debug`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumIter)]
pub enum Page {
    /// FooMachinePools.
    Pools,
    /// FooClusters.
    Clusters,
    /// FooControlPlanes, of both modes.
    ControlPlanes,
    /// FooNodeConfigs.
    NodeConfigs,
    /// FooClusterIdentities.
    Identities,
}

impl Page {
    /// Where it is served.
    pub fn path(self) -> &'static str {
        match self {
            Self::Pools => "/debug/pools",
            Self::Clusters => "/debug/clusters",
            Self::ControlPlanes => "/debug/control-planes",
            Self::NodeConfigs => "/debug/node-configs",
            Self::Identities => "/debug/identities",
        }
    }

    /// The page with the objects of a controller.
    pub fn of(controller: Controller) -> Self {
        match controller {
            Controller::Pool => Self::Pools,
            Controller::Cluster => Self::Clusters,
            Controller::ControlPlane | Controller::Eks => Self::ControlPlanes,
            Controller::NodeConfig => Self::NodeConfigs,
            Controller::Identity => Self::Identities,
        }
    }
}

/// An object of a page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    page: Page,
    namespace: String,
    name: String,
}

impl Key {
    /// The key of an object of this controller.
    pub fn of(controller: Controller, object: &impl ResourceExt) -> Self {
        let namespace = object.namespace().unwrap_or_default();
        Self { page: Page::of(controller), namespace, name: object.name_any() }
    }

    /// The same by its names.
    pub fn named(controller: Controller, namespace: Option<&str>, name: &str) -> Self {
        let namespace = namespace.unwrap_or_default().to_owned();
        Self { page: Page::of(controller), namespace, name: name.to_owned() }
    }
}

/// The last passes over all objects. Clones share the same record.
#[derive(Clone, Debug, Default)]
pub struct Debug {
    entries: Arc<Mutex<BTreeMap<Key, Entry>>>,
}

#[derive(Debug, Default)]
struct Entry {
    pass: Option<Pass>,
    planned: Option<Planned>,
}

/// A pass that came to an end. One that an object's back-off skipped is none.
#[derive(Clone, Debug)]
pub struct Pass {
    /// Its id, which its log lines have.
    pub id: PassId,
    /// When it ended.
    pub at: Timestamp,
    /// Its result.
    pub result: PassResult,
    /// The error that ended it early.
    pub error: Option<String>,
    /// When the object has its next pass at the latest, if nothing names it before.
    pub next: Option<Duration>,
}

/// A plan, and how far it was carried out.
struct Planned {
    /// The pass, once it has ended.
    pass: Option<PassId>,
    at: Timestamp,
    plan: Arc<dyn Plan>,
    failure: Option<String>,
}

/// What can be shown as JSON.
pub trait Plan: Send + Sync {
    /// As JSON, with secrets.
    fn to_json(&self) -> Value;
}

impl<T: Serialize + Send + Sync> Plan for T {
    fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_else(|error| json!(error.to_string()))
    }
}

impl Debug {
    /// Records the end of a pass over an object.
    pub fn passed(&self, key: Key, pass: Pass) {
        let mut entries = self.lock();
        let entry = entries.entry(key).or_default();
        if let Some(planned) = &mut entry.planned {
            planned.pass.get_or_insert(pass.id);
        }
        entry.pass = Some(pass);
    }

    /// Records the last plan of a pass. `failure` shows what stopped its execution, if anything did.
    pub fn planned(&self, key: Key, at: Timestamp, plan: Arc<dyn Plan>, failure: Option<String>) {
        self.lock().entry(key).or_default().planned = Some(Planned { pass: None, at, plan, failure });
    }

    /// The object was deleted.
    pub fn forget(&self, key: &Key) {
        self.lock().remove(key);
    }

    /// Objects of this controller other than these were deleted.
    pub fn keep_only<K: ResourceExt>(&self, controller: Controller, objects: &[Arc<K>]) {
        let kept: BTreeSet<Key> = objects.iter().map(|object| Key::of(controller, object.as_ref())).collect();
        self.lock().retain(|key, _| key.page != Page::of(controller) || kept.contains(key));
    }

    /// The objects of a page as JSON; only those of one namespace, or the one with one name, when requested.
    pub fn to_json(&self, page: Page, namespace: Option<&str>, name: Option<&str>) -> Value {
        let entries = self.lock();
        let wanted = entries.iter().filter(|(key, _)| {
            key.page == page
                && namespace.is_none_or(|namespace| namespace == key.namespace)
                && name.is_none_or(|name| name == key.name)
        });
        wanted.map(|(key, entry)| entry.to_json(key)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn to_json(&self, key: &Key) -> Value {
        let mut shown = Map::new();
        if !key.namespace.is_empty() {
            shown.insert("namespace".to_owned(), json!(key.namespace));
        }
        shown.insert("name".to_owned(), json!(key.name));
        if let Some(pass) = &self.pass {
            let result: &'static str = pass.result.into();
            let next = pass.next.map(|next| next.as_secs());
            let pass = json!({
                "id": pass.id.to_string(), "at": text(pass.at), "result": result, "error": pass.error,
                "nextSeconds": next,
            });
            shown.insert("pass".to_owned(), pass);
        }
        if let Some(planned) = &self.planned {
            let mut plan = planned.plan.to_json();
            redact(&mut plan);
            shown.insert("at".to_owned(), json!(text(planned.at)));
            shown.insert("planPass".to_owned(), json!(planned.pass.map(|id| id.to_string())));
            shown.insert("failure".to_owned(), json!(planned.failure));
            shown.insert("plan".to_owned(), plan);
        }
        Value::Object(shown)
    }
}

fn text(at: Timestamp) -> String {
    crate::clock::shown(at).to_string()
}

impl fmt::Debug for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Planned").field("at", &self.at).finish_non_exhaustive()
    }
}

/// Replaces bootstrap data, wherever it appears, by its length: it contains join tokens.
fn redact(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                match (key.as_str(), field) {
                    ("user_data", field) => {
                        *field = json!(format!("{} bytes", field.as_array().map_or(0, Vec::len)));
                    }
                    (_, field) => redact(field),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::Underway;

    #[test]
    fn a_plan_is_shown_with_its_pass_and_without_bootstrap_data() {
        let debug = Debug::default();
        let plan = json!({"actions": [{"CreateTemplate": {"content": {"user_data": [115, 51], "key": 1}}}]});
        let key = Key::named(Controller::Pool, Some("a"), "p");
        debug.planned(key.clone(), Timestamp(0), Arc::new(plan), None);
        let shown = debug.to_json(Page::Pools, Some("a"), None);
        assert_eq!(
            shown[0]["plan"],
            json!({"actions": [{"CreateTemplate": {"content": {"user_data": "2 bytes", "key": 1}}}]})
        );
        assert_eq!(debug.to_json(Page::Pools, Some("b"), None), json!([]));
        assert_eq!(debug.to_json(Page::Clusters, None, None), json!([]));
        assert_eq!(shown[0]["planPass"], Value::Null);
        let underway = Underway::default();
        let ids = [underway.begins(Controller::Pool), underway.begins(Controller::Pool)];
        for id in ids {
            let pass = Pass { id, at: Timestamp(1), result: PassResult::Worked, error: None, next: None };
            debug.passed(key.clone(), pass);
        }
        let shown = debug.to_json(Page::Pools, None, None);
        // The second one planned nothing.
        assert_eq!(shown[0]["planPass"], ids[0].to_string());
        assert_eq!(shown[0]["pass"]["id"], ids[1].to_string());
        debug.forget(&key);
        assert_eq!(debug.to_json(Page::Pools, None, None), json!([]));
    }

    #[test]
    fn both_modes_of_control_planes_are_on_one_page() {
        let debug = Debug::default();
        for (controller, name) in [(Controller::ControlPlane, "external"), (Controller::Eks, "eks")] {
            let key = Key::named(controller, Some("a"), name);
            let next = Some(Duration::from_mins(10));
            let id = Underway::default().begins(controller);
            debug.passed(key, Pass { id, at: Timestamp(0), result: PassResult::Settled, error: None, next });
        }
        let shown = debug.to_json(Page::ControlPlanes, None, None);
        assert_eq!((&shown[0]["name"], &shown[1]["name"]), (&json!("eks"), &json!("external")));
        assert_eq!(shown[0]["pass"]["nextSeconds"], 600);
    }
}
