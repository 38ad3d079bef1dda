//! The adapter through the real SDK, over real sockets: against scripted responses, and against the simulator.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking"
)]

mod canned;
mod eks;
mod errors;
mod identities;
mod networks;
mod objects;
mod proxy;
mod queue;
mod roles;
mod shapes;
mod simulator;
