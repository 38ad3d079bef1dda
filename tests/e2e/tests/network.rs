//! Networks that a FooCluster has made for it, on the real components.
//!
//! Each test has a world to itself while it runs.

mod class;
mod crashes;
mod life;
mod moves;
mod parts;
