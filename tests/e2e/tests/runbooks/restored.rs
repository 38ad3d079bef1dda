//! docs/operations/runbooks/restored.md: etcd is restored from a snapshot, AWS is not.

use super::{PATIENCE, RESTORED, continues, ever_deleting, members, run_alone, stops_and_pauses};
use anyhow::{Context as _, Result, ensure};
use foo_e2e::document::Reader;
use foo_testbed::PodEnd;
use foo_testbed::world::World;
use foo_testbed::world::kinds::Kind;
use serde_json::json;

/// Everything that runs is killed, and the store is that of the snapshot.
pub(crate) async fn restores(world: &World, snapshot: &std::path::Path) -> Result<()> {
    world.manager().kill();
    world.control_plane_manager().kill();
    world.bootstrap_manager().kill();
    world.rig().capi()?.kill();
    world.api().restore(snapshot).await?;
    world.rig().capi()?.restart(world.api()).await
}

/// Two pools grew after the snapshot. One is given AWS's number again, as the page describes, and nothing happens to
/// it; of the other as many as are too many are drained, and nothing else is. Its Nodes are on another API server:
/// kubelets register once, and would not recreate Nodes that are not in a snapshot.
#[test]
fn after_a_restore_of_etcd_what_is_compared_stays_and_what_is_not_is_drained() {
    run_alone(async |world| {
        let (workload, _controllers) = world.rig().another_cluster("restored").await?;
        let (cluster, kubelets) = world.cluster_elsewhere("restored", &workload).await?;
        cluster.is_provisioned().await?;
        let compared = cluster.pool("compared", 1).await?;
        let forgotten = cluster.pool("forgotten", 1).await?;
        // Unmarked shrinking is carried out at once.
        let at_once = json!({"spec": {"scaleIn": {"stabilizationSeconds": 0}}});
        compared.patch(Kind::FooMachinePool, &at_once).await?;
        forgotten.patch(Kind::FooMachinePool, &at_once).await?;
        compared.settles_at(1).await?;
        forgotten.settles_at(1).await?;
        let snapshot = world.api().snapshot("snapshot").await?;
        compared.scale(3).await?;
        forgotten.scale(2).await?;
        compared.settles_within(3, PATIENCE).await?;
        forgotten.settles_within(2, PATIENCE).await?;
        let (kept, grown) = (members(world, &compared), members(world, &forgotten));
        let served = [compared.run("web", 3).await?, forgotten.run("api", 2).await?];
        for workload in &served {
            workload.allow(1).await?;
        }

        restores(world, &snapshot).await?;
        assert_eq!(compared.replicas().await?, Some(1), "the store is the old one");
        let reader = Reader::of(world.rig()).await?;
        stops_and_pauses(world, &reader, "restored").await?;
        let desired = world.aws().group(&compared.group()).context("no group")?.sizes.desired;
        reader.run(&format!("export NAMESPACE=restored POOL=compared DESIRED={desired}")).await?;
        let printed = reader.follow(RESTORED, "Compare").await?;
        ensure!(printed.contains("compared") && printed.contains("forgotten"), "{printed}");
        let history = world.history(Kind::Machine, "restored").await?;
        continues(world, &reader, "restored").await?;

        compared.settles_within(3, PATIENCE).await?;
        assert_eq!(members(world, &compared), kept, "the instances are those from before");
        let shrunk = forgotten.settles_within(1, PATIENCE).await?;
        let left = members(world, &forgotten);
        ensure!(left.is_subset(&grown), "launched again: {left:?} of {grown:?}");
        let drained = ever_deleting(&history.versions());
        ensure!(
            drained.len() == 1 && drained.iter().all(|name| name.starts_with("forgotten-")),
            "{drained:?}"
        );
        ensure!(shrunk.machines.iter().all(|machine| !drained.contains(&machine.name)));
        assert_eq!(members(world, &compared), kept);
        let deaths = kubelets.deaths();
        ensure!(deaths.iter().any(|death| death.end == PodEnd::Evicted), "no pod was evicted: {deaths:?}");
        ensure!(kubelets.undrained().is_empty(), "{:?}", kubelets.undrained());
        for (workload, pods) in served.iter().zip([3, 2]) {
            workload.is_ready(pods).await?;
        }
        Ok(())
    });
}
