//! User data, rendered and read back: goldens per family, refusals with their messages, properties; what its scripts do.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod golden;
mod properties;
mod reading;
mod refusals;
mod sample;
mod waiting;
