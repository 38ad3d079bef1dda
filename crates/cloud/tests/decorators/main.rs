//! What this crate puts around a cloud, against a scripted one, in paused time.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking, as tests do")]

mod clusters;
mod lookups;
mod metered;
mod networks;
mod observer;
mod support;
