//! What must hold after each of its habits, whatever the habit.

use anyhow::{Result, ensure};
use foo_testbed::world::World;
use foo_testbed::{PodDeath, PodEnd};

/// The managers wrote no size of a MachinePool: it belongs to the autoscaler.
pub(crate) fn leaves_sizes_alone(world: &World, namespace: &str) -> Result<()> {
    let writes = world.writes()?;
    let sizes: Vec<_> = writes
        .iter()
        .filter(|write| write.namespace == namespace && write.resource.starts_with("machinepools"))
        .collect();
    ensure!(sizes.is_empty(), "we wrote to MachinePools: {sizes:#?}");
    ensure!(
        writes.iter().any(|write| write.namespace == namespace),
        "the audit log shows no write of the managers"
    );
    Ok(())
}

/// How pods of a namespace ended so far.
pub(crate) fn deaths(world: &World, namespace: &str) -> Vec<PodDeath> {
    let mut deaths = world.kubelets().deaths();
    deaths.retain(|death| death.namespace == namespace);
    deaths
}

/// Every pod that ended did so because it was evicted, and from one of these Nodes.
pub(crate) fn only_evicted_from(world: &World, namespace: &str, nodes: &[&str]) -> Result<()> {
    let wrong: Vec<PodDeath> = deaths(world, namespace)
        .into_iter()
        .filter(|death| death.end != PodEnd::Evicted || !nodes.contains(&death.node.as_str()))
        .collect();
    ensure!(wrong.is_empty(), "pods ended that should not have: {wrong:#?}");
    Ok(())
}
