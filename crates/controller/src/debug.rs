//! What `/debug/pools` shows: the last plan of each pool, with its report.
//!
//! Secrets never leave this module: bootstrap data in a plan is replaced by its length.

use foo_model::Timestamp;
use foo_planner::Plan;
use foo_planner::report::{ConditionKind, Status};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Namespace and name of a pool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolName {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
}

/// The last pass over each pool. Clones share the same registry.
#[derive(Clone, Debug, Default)]
pub struct DebugPools {
    passes: Arc<Mutex<BTreeMap<PoolName, LastPass>>>,
}

#[derive(Debug)]
struct LastPass {
    at: Timestamp,
    plan: Arc<Plan>,
    failure: Option<String>,
}

impl DebugPools {
    /// Records the end of a pass over a pool. `failure` says what stopped the execution of the plan, if
    /// anything did.
    pub fn record(&self, pool: PoolName, at: Timestamp, plan: Arc<Plan>, failure: Option<String>) {
        self.lock().insert(pool, LastPass { at, plan, failure });
    }

    /// The pool was deleted.
    pub fn forget(&self, pool: &PoolName) {
        self.lock().remove(pool);
    }

    /// Number of pools per condition and status, by their last reports.
    pub fn count_conditions(&self) -> BTreeMap<(ConditionKind, &'static str), i64> {
        let mut counts = BTreeMap::new();
        for pass in self.lock().values() {
            for condition in &pass.plan.report.conditions {
                *counts.entry((condition.kind, status_text(condition.status))).or_default() += 1;
            }
        }
        counts
    }

    /// The pools as JSON; only those of one namespace, or the one with one name, when requested.
    pub fn to_json(&self, namespace: Option<&str>, name: Option<&str>) -> Value {
        let passes = self.lock();
        let wanted = passes.iter().filter(|(pool, _)| {
            namespace.is_none_or(|namespace| namespace == pool.namespace)
                && name.is_none_or(|name| name == pool.name)
        });
        wanted.map(|(pool, pass)| entry(pool, pass)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PoolName, LastPass>> {
        self.passes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A condition's status in Kubernetes' spelling.
pub fn status_text(status: Status) -> &'static str {
    match status {
        Status::True => "True",
        Status::False => "False",
        Status::Unknown => "Unknown",
    }
}

fn entry(pool: &PoolName, pass: &LastPass) -> Value {
    let mut plan = serde_json::to_value(&*pass.plan).unwrap_or_else(|error| json!(error.to_string()));
    redact(&mut plan);
    json!({
        "namespace": pool.namespace,
        "name": pool.name,
        "at": crate::clock::shown(pass.at).to_string(),
        "failure": pass.failure,
        "plan": plan,
    })
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

    #[test]
    fn bootstrap_data_is_never_shown() {
        let mut plan =
            json!({"actions": [{"CreateTemplate": {"content": {"user_data": [115, 51], "key": 1}}}]});
        redact(&mut plan);
        assert_eq!(
            plan,
            json!({"actions": [{"CreateTemplate": {"content": {"user_data": "2 bytes", "key": 1}}}]})
        );
    }
}
