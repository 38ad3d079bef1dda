//! The whole state behind one lock: regions, clock, faults, throttling and call counts.

use crate::calls::Calls;
use crate::clock::Clock;
use crate::config::SimulatorConfig;
use crate::core::Region;
use crate::core::chance::Chance;
use crate::core::error::{AwsError, AwsResult};
use crate::faults::{self, CallHead, Fault, Faults};
use crate::iam::Keys;
use crate::throttle::{Buckets, Throttling};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// The simulated world. The lock is held for the length of one operation and never across an await.
#[derive(Debug)]
pub struct World {
    inner: Mutex<Inner>,
    pub(crate) snapshots: Snapshots,
    /// Its configuration at the start.
    pub config: SimulatorConfig,
    /// Other accounts that share its address.
    accounts: Mutex<Vec<Weak<Self>>>,
}

/// What the lock protects.
#[derive(Clone, Debug)]
pub struct Inner {
    /// Virtual time.
    pub clock: Clock,
    pub(crate) regions: BTreeMap<String, Region>,
    pub(crate) faults: Faults,
    /// Keys, roles and sessions.
    pub keys: Keys,
    pub(crate) calls: Calls,
    pub(crate) throttling: Throttling,
    pub(crate) settings: crate::core::Settings,
    buckets: Buckets,
    /// The source of ids of requests and credentials.
    pub request_ids: Chance,
}

/// Copies of the whole world, by name.
#[derive(Debug, Default)]
pub(crate) struct Snapshots {
    by_name: Mutex<BTreeMap<String, Inner>>,
}

impl Snapshots {
    pub(crate) fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Inner>> {
        self.by_name.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What faults and throttling do to a call.
#[derive(Debug)]
pub enum Gate {
    /// It is carried out, after this wait.
    Open(Duration),
    /// It is carried out, but its response is lost.
    ResponseLost,
    /// It is carried out, but its response ends in the middle.
    Truncated,
    /// It is carried out, but its response never comes; the connection stays open.
    Silence,
    /// It is not carried out and gets no response; the connection stays open.
    Hangs,
    /// It is not carried out and gets this response.
    Refused(AwsError),
    /// It is not carried out, and the connection is reset; the caller cannot know that it was not.
    Dropped,
    /// It is not carried out, and the caller knows that.
    Unreachable,
}

/// What happens to the response of a call that is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It arrives.
    Complete,
    /// It is lost.
    Lost,
    /// Only its beginning arrives.
    Truncated,
    /// It never comes, and the connection stays open.
    Never,
}

/// Most regions: callers create regions by naming them, and more would be a mistake or a fuzzer.
const REGION_LIMIT: usize = 64;

impl World {
    pub(crate) fn new(config: SimulatorConfig) -> Self {
        let mut inner = Inner {
            clock: Clock::new(config.pace, config.start),
            regions: BTreeMap::new(),
            faults: Faults::new(config.seed),
            keys: Keys::default(),
            calls: Calls::default(),
            throttling: config.throttling,
            settings: config.settings.clone(),
            buckets: Buckets::default(),
            request_ids: Chance::new(config.seed, "request ids"),
        };
        for key in &config.keys {
            inner.keys.put(key.clone());
        }
        for region in &config.regions {
            drop(inner.region(&config, region));
        }
        Self { inner: Mutex::new(inner), snapshots: Snapshots::default(), config, accounts: Mutex::default() }
    }

    /// A copy of the state, without snapshots and other accounts.
    pub(crate) fn fork(&self) -> Self {
        let inner = Mutex::new(self.lock().clone());
        let (snapshots, config) = (Snapshots::default(), self.config.clone());
        Self { inner, snapshots, config, accounts: Mutex::default() }
    }

    /// Locks the state, also after a thread panicked with the lock.
    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `work` with a region at the present time, for tests and the control API: without faults, throttling and
    /// counts.
    pub fn in_region<T>(&self, region: &str, work: impl FnOnce(&mut Region) -> T) -> AwsResult<T> {
        let mut inner = self.lock();
        let region = inner.region(&self.config, region)?;
        Ok(work(region))
    }

    /// Decides what happens to a call, and counts it if it is not carried out.
    pub fn gate(&self, call: &CallHead<'_>) -> Gate {
        let mut inner = self.lock();
        let now = inner.clock.now();
        let fault = inner.faults.take_for(call);
        let gate = match fault {
            None => {
                let Inner { buckets, throttling, .. } = &mut *inner;
                if buckets.admit(throttling, now, call.region, call.service, call.action) {
                    Gate::Open(Duration::ZERO)
                } else {
                    Gate::Refused(faults::throttled(call.service))
                }
            }
            Some(Fault::Delay { millis }) => Gate::Open(Duration::from_millis(millis)),
            Some(Fault::Error { code, status, message }) => {
                let error = AwsError::new(code, message);
                let status = if status == 0 { error.status } else { status };
                Gate::Refused(error.status(status))
            }
            Some(Fault::Denied) => Gate::Refused(faults::denied(call, &self.config.account)),
            Some(Fault::Throttled) => Gate::Refused(faults::throttled(call.service)),
            Some(Fault::DroppedBefore) => Gate::Dropped,
            Some(Fault::DroppedAfter) => Gate::ResponseLost,
            Some(Fault::Hang) => Gate::Hangs,
            Some(Fault::HangAfter) => Gate::Silence,
            Some(Fault::Truncated) => Gate::Truncated,
            Some(Fault::Unreachable) => Gate::Unreachable,
        };
        match gate {
            Gate::Refused(mut error) => {
                if error.message.contains("{request-id}") {
                    error.message = error.message.replace("{request-id}", &inner.request_ids.uuid());
                }
                inner.calls.record(now, call, &error.code);
                Gate::Refused(error)
            }
            Gate::Dropped => {
                inner.calls.record(now, call, "DroppedBefore");
                Gate::Dropped
            }
            Gate::Unreachable => {
                inner.calls.record(now, call, "Unreachable");
                Gate::Unreachable
            }
            Gate::Hangs => {
                inner.calls.record(now, call, "Hang");
                Gate::Hangs
            }
            open @ (Gate::Open(_) | Gate::ResponseLost | Gate::Truncated | Gate::Silence) => open,
        }
    }

    /// Carries out a call that passed the gate, and counts it.
    pub fn carry_out<T>(
        &self,
        call: &CallHead<'_>,
        ending: Ending,
        work: impl FnOnce(&mut Region) -> AwsResult<T>,
    ) -> AwsResult<T> {
        self.carry_out_anywhere(call, ending, |inner| {
            let region = inner.region(&self.config, call.region)?;
            region.begin_reads();
            work(region)
        })
    }

    /// Carries out a call that is not limited to a region, and counts it.
    pub fn carry_out_anywhere<T>(
        &self,
        call: &CallHead<'_>,
        ending: Ending,
        work: impl FnOnce(&mut Inner) -> AwsResult<T>,
    ) -> AwsResult<T> {
        let mut inner = self.lock();
        let result = work(&mut inner);
        let now = inner.clock.now();
        let outcome = match &result {
            _ if ending == Ending::Lost => "DroppedAfter",
            _ if ending == Ending::Truncated => "Truncated",
            _ if ending == Ending::Never => "HangAfter",
            Ok(_) => "OK",
            Err(error) => &error.code,
        };
        inner.calls.record(now, call, outcome);
        result
    }

    /// Counts a call that was refused because of its signature.
    pub fn record_refusal(&self, call: &CallHead<'_>, error: &AwsError) {
        let mut inner = self.lock();
        let now = inner.clock.now();
        inner.calls.record(now, call, &error.code);
    }

    /// The id of a new request.
    pub fn request_id(&self) -> String {
        self.lock().request_ids.uuid()
    }

    pub(crate) fn account(&self) -> &str {
        &self.config.account
    }

    /// Adds another account that shares the address of this one.
    pub(crate) fn add_account(&self, other: &Arc<Self>) {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(other));
    }

    /// The other account that knows this key, unless this one does.
    pub(crate) fn account_of(&self, caller: &str) -> Option<Arc<Self>> {
        let knows = |world: &Self| world.lock().keys.get(caller).is_some();
        if knows(self) {
            return None;
        }
        let accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.iter().filter_map(Weak::upgrade).find(|other| knows(other))
    }

    /// ARN of a caller.
    pub fn arn_of(&self, caller: &str) -> String {
        self.lock().keys.identity(&self.config.account, caller).0
    }
}

impl Inner {
    /// A region at the present time, created when it is first used.
    pub fn region(&mut self, config: &SimulatorConfig, name: &str) -> AwsResult<&mut Region> {
        let now = self.clock.now();
        if !self.regions.contains_key(name) {
            let fits = name.len() <= 32
                && name.contains('-')
                && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
            if !fits || self.regions.len() >= REGION_LIMIT {
                return Err(AwsError::new(
                    "SignatureDoesNotMatch",
                    format!("Credential should be scoped to a valid region, not '{name}'."),
                )
                .status(403));
            }
            let region = Region::new(name, &config.account, config.seed, self.settings.clone(), now);
            self.regions.insert(name.to_owned(), region);
        }
        let region = self
            .regions
            .get_mut(name)
            .ok_or_else(|| AwsError::new("InternalFailure", "no such region").status(500))?;
        region.advance(now);
        Ok(region)
    }

    /// Fills all token buckets.
    pub(crate) fn refill_buckets(&mut self) {
        self.buckets.clear();
    }
}
