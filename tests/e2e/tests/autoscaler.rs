//! Life with cluster-autoscaler: a stand-in sends exactly its writes in its order, on the real Cluster API, and no
//! habit of it costs a Node that it did not mean.
#![expect(clippy::indexing_slicing, reason = "a field that is missing is a failed test")]

#[path = "autoscaler/behavior.rs"]
mod behavior;
#[path = "autoscaler/from_zero.rs"]
mod from_zero;
#[path = "autoscaler/ids.rs"]
mod ids;
#[path = "autoscaler/rights.rs"]
mod rights;
#[path = "autoscaler/writes.rs"]
mod writes;
