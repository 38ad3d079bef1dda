//! What happens to a management cluster in its life: moves to another one, upgrades, ClusterClasses. Every page of
//! docs/ that shows how is followed to the letter.

#[path = "lifecycle/clusterclass.rs"]
mod clusterclass;
#[path = "lifecycle/moves.rs"]
mod moves;
#[path = "lifecycle/released.rs"]
mod released;
#[path = "lifecycle/upgrade.rs"]
mod upgrade;
