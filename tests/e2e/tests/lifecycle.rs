//! What happens to a management cluster in its life: moves to another one, upgrades, ClusterClasses. Every page of
//! docs/ that shows how is followed to the letter.

mod clusterclass;
mod moves;
mod released;
mod upgrade;
