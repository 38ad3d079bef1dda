//! The controllers as a whole, in process: the real controllers over a Kubernetes API server in memory, a stand-in for
//! Cluster API core and the simulated AWS, on a paused clock. Ten minutes of a pool's life take milliseconds.
//!
//! Each test checks at its end, by [`support::World`], that no Machine lost its instance undrained and that no plan was
//! refused. What needs real components is in `tests/e2e`.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what tests share may fail as loudly as the tests do"
)]

mod adopted;
mod ages;
mod alerts;
mod announcements;
mod api_faults;
mod aws_refuses;
mod bad_input;
mod by_hand;
mod capacity_blocks;
mod clocks;
mod clusters;
mod control_plane;
mod cordon;
mod eks;
mod eventual;
mod external_size;
mod fairness;
mod harness;
mod hooks;
mod identities;
mod images;
mod installations;
mod kstatus;
mod life;
mod machines;
mod milestones;
mod moves;
mod named;
mod networks;
mod node_config;
mod odd_objects;
mod order;
mod overload;
mod pause;
mod peers;
mod plans;
mod remediation;
mod restarts;
mod retained;
mod rollouts;
mod same_group;
mod scale_in;
mod scopes;
mod settled;
mod slow_lists;
mod support;
mod taken;
mod targets;
mod templates;
mod tenants;
mod unmanaged;
mod upkeep;
mod user_data;
mod warm_pools;
mod watches;
mod windows;
