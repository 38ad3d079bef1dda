//! Who may call, and what: access keys with secrets and policies. Not IAM's API, only its effect on calls.
//!
//! As long as no key is known everybody may do everything, as if the simulator had no IAM.

pub(crate) mod asks;
pub(crate) mod policy;
pub(crate) mod refusals;

use policy::Policy;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An access key of an IAM user; the user is called like the key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessKey {
    /// Access key id.
    pub id: String,
    /// Secret access key: signatures are checked with it. Never given out again.
    #[serde(skip_serializing)]
    pub secret: String,
    /// What it allows; everything if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
}

/// The keys that are known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    by_id: BTreeMap<String, Arc<AccessKey>>,
}

impl Keys {
    /// No key is known: signatures are not checked.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Adds a key, or replaces the one of that id.
    pub(crate) fn put(&mut self, key: AccessKey) {
        self.by_id.insert(key.id.clone(), Arc::new(key));
    }

    pub(crate) fn remove(&mut self, id: &str) -> bool {
        self.by_id.remove(id).is_some()
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<AccessKey>> {
        self.by_id.get(id).cloned()
    }

    pub(crate) fn all(&self) -> Vec<AccessKey> {
        self.by_id.values().map(|key| AccessKey::clone(key)).collect()
    }
}
