//! Networks that a FooCluster has made for it, on the real components.
//!
//! Each test has a world to itself while it runs.

#[path = "network/class.rs"]
mod class;
#[path = "network/crashes.rs"]
mod crashes;
#[path = "network/life.rs"]
mod life;
#[path = "network/moves.rs"]
mod moves;
#[path = "network/parts.rs"]
mod parts;
