//! Calls: counts by caller and action, and the latest ones with their outcomes.

use crate::faults::CallHead;
use crate::service::Service;
use foo_model::Timestamp;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

/// How many of the latest calls are kept.
const RECENT: usize = 1_000;

/// Number of calls of one action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CallCount {
    /// All of them, refused ones included.
    pub calls: u64,
    /// Those that were refused or lost.
    pub failures: u64,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallRecord {
    /// Virtual time of the call.
    pub at: Timestamp,
    /// The caller: access key id, or name of an in-process cloud.
    pub caller: String,
    /// Its region.
    pub region: String,
    /// Its service.
    pub service: Service,
    /// Its action.
    pub action: String,
    /// `OK`, an error code, or `Dropped…`.
    pub outcome: String,
}

/// All calls since the start or the last reset.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    counts: BTreeMap<(Service, String), CallCount>,
    by_caller: BTreeMap<(String, Service, String), CallCount>,
    recent: VecDeque<CallRecord>,
}

impl Calls {
    pub(crate) fn record(&mut self, at: Timestamp, call: &CallHead<'_>, outcome: &str) {
        let action = (call.service, call.action.to_owned());
        let caller = (call.caller.to_owned(), call.service, call.action.to_owned());
        for count in [self.counts.entry(action).or_default(), self.by_caller.entry(caller).or_default()] {
            count.calls += 1;
            count.failures += u64::from(outcome != "OK");
        }
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(CallRecord {
            at,
            caller: call.caller.to_owned(),
            region: call.region.to_owned(),
            service: call.service,
            action: call.action.to_owned(),
            outcome: outcome.to_owned(),
        });
    }

    pub(crate) fn counts(&self) -> BTreeMap<(Service, String), CallCount> {
        self.counts.clone()
    }

    pub(crate) fn by_caller(&self) -> BTreeMap<(String, Service, String), CallCount> {
        self.by_caller.clone()
    }

    pub(crate) fn count(&self, action: &str) -> u64 {
        self.counts.iter().filter(|((_, name), _)| name == action).map(|(_, count)| count.calls).sum()
    }

    pub(crate) fn total(&self) -> u64 {
        self.counts.values().map(|count| count.calls).sum()
    }

    pub(crate) fn recent(&self) -> Vec<CallRecord> {
        self.recent.iter().cloned().collect()
    }

    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }
}
