//! The state of one region and its rules: plain data, changed by calls and by time.
//!
//! No clock, no async, no I/O, no threads: every operation takes the current time, and first carries out everything
//! that was due until then ([`Region::advance`]). The same seed and the same calls at the same times give the same
//! region, byte for byte.

pub mod catalogue;
pub mod chance;
pub mod document;
mod due;
pub mod ec2;
pub mod eks;
pub mod error;
pub mod events;
pub mod group;
pub mod lookup;
pub mod mishaps;
pub mod network;
pub mod objects;
pub(crate) mod probability;
pub mod region;
pub mod rules;
mod schedule;
pub mod settings;
pub mod sqs;
pub mod ssm;
mod tags;
pub(crate) mod targets;
pub mod time;
mod versioned;
pub mod wildcard;

pub use error::{AwsError, AwsResult};
pub use region::Region;
pub use settings::Settings;
