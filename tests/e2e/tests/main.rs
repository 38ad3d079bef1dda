//! All end-to-end tests as one program: to link the test bed takes longer than to compile the tests.
//!
//! Each module has worlds of its own, which stay until their process ends. So `cargo xtask test` runs each module as a
//! process of its own and lists it like a program: `e2e/story` is the module `story`. How to add one: name it here.

mod admission;
mod autoscaler;
mod chaos;
mod contract;
mod eks;
mod identities;
mod install;
mod lifecycle;
mod manager;
mod network;
mod runbooks;
mod runtime;
mod story;
mod tenants;
mod upstream;
