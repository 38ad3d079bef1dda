//! Whole clusters on EKS, on the real components: each simulated EKS cluster has a real kube-apiserver.
//!
//! Each test has a world to itself while it runs.

mod adoption;
mod autoscaler;
mod class;
mod clock;
mod crashes;
mod days;
mod drains;
mod input;
mod life;
mod moves;
mod one_name;
mod orders;
mod parts;
mod quickstart;
mod refusals;
mod self_hosted;
mod tokens;
mod warm_pools;
