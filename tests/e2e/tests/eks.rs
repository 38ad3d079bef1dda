//! Whole clusters on EKS, on the real components: each simulated EKS cluster has a real kube-apiserver.
//!
//! Each test has a world to itself while it runs.

#[path = "eks/adoption.rs"]
mod adoption;
#[path = "eks/autoscaler.rs"]
mod autoscaler;
#[path = "eks/class.rs"]
mod class;
#[path = "eks/clock.rs"]
mod clock;
#[path = "eks/crashes.rs"]
mod crashes;
#[path = "eks/days.rs"]
mod days;
#[path = "eks/drains.rs"]
mod drains;
#[path = "eks/input.rs"]
mod input;
#[path = "eks/life.rs"]
mod life;
#[path = "eks/moves.rs"]
mod moves;
#[path = "eks/one_name.rs"]
mod one_name;
#[path = "eks/orders.rs"]
mod orders;
#[path = "eks/parts.rs"]
mod parts;
#[path = "eks/quickstart.rs"]
mod quickstart;
#[path = "eks/refusals.rs"]
mod refusals;
#[path = "eks/self_hosted.rs"]
mod self_hosted;
#[path = "eks/tokens.rs"]
mod tokens;
#[path = "contract/user_of_aws.rs"]
mod user_of_aws;
#[path = "eks/warm_pools.rs"]
mod warm_pools;
