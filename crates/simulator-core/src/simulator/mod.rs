//! The API of the simulator for tests and programs: time, faults, call counts, regions.

mod authentication;
mod clusters;
mod metadata;
mod networks;
mod region;

pub use region::{NodeInstance, RegionHandle};

use crate::calls::{CallCount, CallRecord};
use crate::clock::Pace;
use crate::config::SimulatorConfig;
use crate::core::Region;
use crate::faults::FaultRule;
use crate::iam::AccessKey;
use crate::iam::directory::InstanceProfile;
use crate::iam::roles::Role;
use crate::service::Service;
use crate::sim_cloud::{SimCloud, SimQueue};
use crate::throttle::Throttling;
use crate::world::World;
use foo_model::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A simulated AWS. Clones are handles of the same one.
#[derive(Clone, Debug)]
pub struct Simulator {
    /// Its state.
    pub world: Arc<World>,
}

impl Simulator {
    /// A simulator without HTTP.
    pub fn new(config: SimulatorConfig) -> Self {
        Self { world: Arc::new(World::new(config)) }
    }

    /// An independent copy.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self { world: Arc::new(self.world.fork()) }
    }

    /// From now on both are accounts of one AWS: a request to the address of either goes to the account that knows its caller's key.
    pub fn shares_address_with(&self, other: &Self) {
        self.world.add_account(&other.world);
        other.world.add_account(&self.world);
    }

    /// The account that a caller belongs to: another one only if that one alone knows its key.
    pub fn account_of(&self, caller: &str) -> Self {
        Self { world: self.world.account_of(caller).unwrap_or_else(|| Arc::clone(&self.world)) }
    }

    /// One of its regions, created when it is first used.
    pub fn region(&self, name: &str) -> RegionHandle {
        RegionHandle::new(Arc::clone(&self.world), name)
    }

    /// A cloud for the controller, without SDK or HTTP. Faults, throttling and counts apply as over HTTP.
    pub fn cloud(&self, region: &str, caller: &str) -> SimCloud {
        SimCloud::new(Arc::clone(&self.world), region, caller)
    }

    /// A queue for the controller, without SDK or HTTP. It need not exist.
    pub fn queue(&self, region: &str, name: &str, caller: &str) -> SimQueue {
        SimQueue::new(self.cloud(region, caller), name)
    }

    /// Virtual time.
    pub fn now(&self) -> Timestamp {
        self.world.lock().clock.now()
    }

    /// The callers' time, by which signatures are checked and responses dated: real time plus what [`Self::pass`] added.
    pub fn real_time(&self) -> Timestamp {
        self.world.lock().clock.real()
    }

    /// Advances virtual time. Each region carries out what became due when it is used next.
    pub fn step(&self, by: Duration) {
        self.world.lock().clock.step(by);
    }

    /// Advances virtual time, and the time of responses and signatures: callers must advance their clocks as much.
    pub fn pass(&self, by: Duration) {
        self.world.lock().clock.pass(by);
    }

    /// How virtual time passes.
    pub fn pace(&self) -> Pace {
        self.world.lock().clock.pace()
    }

    /// Changes how virtual time passes.
    pub fn set_pace(&self, pace: Pace) {
        self.world.lock().clock.set_pace(pace);
    }

    /// When the next scheduled event of any region is due.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.world.lock().regions.values().filter_map(Region::next_due).min()
    }

    /// Adds a fault rule and returns its number.
    pub fn add_fault(&self, rule: FaultRule) -> u64 {
        self.world.lock().faults.add(rule)
    }

    /// Removes a fault rule; `false` if it is used up or unknown.
    pub fn remove_fault(&self, number: u64) -> bool {
        self.world.lock().faults.remove(number)
    }

    /// Removes all fault rules.
    pub fn clear_faults(&self) {
        self.world.lock().faults.clear();
    }

    /// The fault rules in force.
    pub fn faults(&self) -> Vec<(u64, FaultRule)> {
        self.world.lock().faults.rules()
    }

    /// Numbers of calls by service and action.
    pub fn call_counts(&self) -> BTreeMap<(Service, String), CallCount> {
        self.world.lock().calls.counts()
    }

    /// Numbers of calls by caller, service and action.
    pub fn call_counts_by_caller(&self) -> BTreeMap<(String, Service, String), CallCount> {
        self.world.lock().calls.by_caller()
    }

    /// Number of calls of an action.
    pub fn calls(&self, action: &str) -> u64 {
        self.world.lock().calls.count(action)
    }

    /// Number of all calls.
    pub fn total_calls(&self) -> u64 {
        self.world.lock().calls.total()
    }

    /// The latest calls, at most 1,000, oldest first.
    pub fn recent_calls(&self) -> Vec<CallRecord> {
        self.world.lock().calls.recent()
    }

    /// Sets all counts to zero.
    pub fn reset_calls(&self) {
        self.world.lock().calls.reset();
    }

    /// Adds an access key, or replaces the one with that id. While there is any, signatures are verified.
    pub fn put_key(&self, key: AccessKey) {
        self.world.lock().keys.put(key);
    }

    /// Removes an access key; `false` if it is unknown. Without any key every signature is accepted.
    pub fn remove_key(&self, id: &str) -> bool {
        self.world.lock().keys.remove(id)
    }

    /// The access keys that are known.
    pub fn keys(&self) -> Vec<AccessKey> {
        self.world.lock().keys.all()
    }

    /// Adds a role, or replaces the one of that name.
    pub fn put_role(&self, role: Role) {
        let mut inner = self.world.lock();
        let now = inner.clock.now();
        inner.keys.put_role(role, now);
    }

    /// Removes a role; `false` if it is unknown. Its sessions remain valid until they expire.
    pub fn remove_role(&self, name: &str) -> bool {
        self.world.lock().keys.remove_role(name)
    }

    /// The roles that are known.
    pub fn roles(&self) -> Vec<Role> {
        self.world.lock().keys.roles()
    }

    /// Adds an instance profile, or replaces the one of that name.
    pub fn put_instance_profile(&self, profile: InstanceProfile) {
        self.world.lock().keys.directory.profiles.insert(profile.name.clone(), profile);
    }

    /// Removes an instance profile; `false` if there was none of that name.
    pub fn remove_instance_profile(&self, name: &str) -> bool {
        self.world.lock().keys.directory.profiles.remove(name).is_some()
    }

    /// The instance profiles that a caller created.
    pub fn instance_profiles(&self) -> Vec<InstanceProfile> {
        self.world.lock().keys.directory.profiles.values().cloned().collect()
    }

    /// The unique id of a role, if there is one of that name.
    pub fn role_unique_id(&self, name: &str) -> Option<String> {
        let inner = self.world.lock();
        let role = inner.keys.role(name)?;
        let account = &self.world.config.account;
        inner.keys.principals(account).role(&role.arn(account)).map(|role| role.unique_id)
    }

    /// Ends all sessions of roles at once, and returns how many there were.
    pub fn expire_sessions(&self) -> usize {
        self.world.lock().keys.expire_sessions()
    }

    /// How calls are throttled.
    pub fn throttling(&self) -> Throttling {
        self.world.lock().throttling
    }

    /// Changes how calls are throttled, and fills all buckets.
    pub fn set_throttling(&self, throttling: Throttling) {
        let mut inner = self.world.lock();
        inner.throttling = throttling;
        inner.refill_buckets();
    }

    /// Names of the regions that exist.
    pub fn region_names(&self) -> Vec<String> {
        self.world.lock().regions.keys().cloned().collect()
    }

    /// Everything, as JSON.
    pub fn state(&self) -> serde_json::Value {
        let regions: BTreeMap<String, serde_json::Value> =
            self.region_names().into_iter().map(|name| (name.clone(), self.region(&name).state())).collect();
        serde_json::json!({ "now": self.now(), "pace": self.pace(), "regions": regions })
    }
}
