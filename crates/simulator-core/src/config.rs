//! The configuration at the start of a simulator.

use crate::clock::{Pace, STEPPED_START};
use crate::core::Settings;
use crate::iam::AccessKey;
use crate::throttle::Throttling;
use foo_model::Timestamp;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{SystemTime, UNIX_EPOCH};

/// The configuration at the start of a simulator. All of it can be changed later, except seed, account and address.
#[derive(Clone, Debug)]
pub struct SimulatorConfig {
    /// Seed of ids, delays and choices.
    pub seed: u64,
    /// How time passes.
    pub pace: Pace,
    /// Where virtual time starts.
    pub start: Timestamp,
    /// Settings of its regions.
    pub settings: Settings,
    /// How calls are throttled.
    pub throttling: Throttling,
    /// The account: 12 digits.
    pub account: String,
    /// Regions that exist from the start; others appear when they are first used.
    pub regions: Vec<String>,
    /// Known access keys; as long as there is none, every signature is accepted.
    pub keys: Vec<AccessKey>,
    /// Address to listen on; port 0 chooses a free one.
    pub listen: SocketAddr,
}

/// The default account.
pub const DEFAULT_ACCOUNT: &str = "123456789012";
/// The default region.
pub const DEFAULT_REGION: &str = "eu-central-1";

impl Default for SimulatorConfig {
    /// Real time, AWS-like delays and throttling, a free port on the loopback interface.
    fn default() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            seed: 1,
            pace: Pace::Scaled { factor: 1.0 },
            start: Timestamp(i64::try_from(now.as_millis()).unwrap_or(0)),
            settings: Settings::default(),
            throttling: Throttling::default(),
            account: DEFAULT_ACCOUNT.to_owned(),
            regions: vec![DEFAULT_REGION.to_owned()],
            keys: Vec::new(),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        }
    }
}

impl SimulatorConfig {
    /// For tests: time starts at a fixed moment and only advances on request; no throttling, because its buckets
    /// would never refill.
    pub fn stepped() -> Self {
        Self { pace: Pace::Stepped, start: STEPPED_START, throttling: Throttling::OFF, ..Self::default() }
    }

    /// For tests and demos in real time: `factor` virtual seconds pass in each real one; no throttling.
    pub fn scaled(factor: f64) -> Self {
        Self { pace: Pace::Scaled { factor }, throttling: Throttling::OFF, ..Self::default() }
    }

    /// This configuration with another seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
}
