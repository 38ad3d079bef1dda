//! Networks that a FooCluster has made for it, on the real components.
//!
//! Tests that make AWS or the manager fail have a world to themselves while they run.

#[path = "network/crashes.rs"]
mod crashes;
#[path = "network/life.rs"]
mod life;
#[path = "network/moves.rs"]
mod moves;
#[path = "network/parts.rs"]
mod parts;
