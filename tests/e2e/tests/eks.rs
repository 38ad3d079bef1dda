//! Whole clusters on EKS, on the real components: each simulated EKS cluster has a real kube-apiserver.
//!
//! Each test has a world to itself while it runs.

#[path = "eks/autoscaler.rs"]
mod autoscaler;
#[path = "eks/crashes.rs"]
mod crashes;
#[path = "eks/life.rs"]
mod life;
#[path = "eks/moves.rs"]
mod moves;
#[path = "eks/orders.rs"]
mod orders;
#[path = "eks/parts.rs"]
mod parts;
