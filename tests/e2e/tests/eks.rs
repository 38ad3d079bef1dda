//! Whole clusters on EKS, on the real components: each simulated EKS cluster has a real kube-apiserver.
//!
//! Each test has a world to itself while it runs.

#[path = "eks/class.rs"]
mod class;
#[path = "eks/life.rs"]
mod life;
#[path = "eks/parts.rs"]
mod parts;
