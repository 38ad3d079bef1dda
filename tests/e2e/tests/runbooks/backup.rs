//! docs/operations/runbooks/restored.md, of objects from a backup: they come back with new uids, without status and
//! without owner references, as Velero restores them. Machines and FooMachines stay out, as on the page.

use super::{PATIENCE, continues, ever_deleting, machines, members, run_alone, stops_and_pauses};
use anyhow::{Context as _, Result, ensure};
use foo_e2e::document::Reader;
use foo_testbed::world::kinds::{self, Kind, text};
use foo_testbed::world::{SOON, World};
use foo_testbed::{Probe, wait_until};
use serde_json::{Value, json};

const NAMESPACE: &str = "backup";
/// In the order in which they come back.
const BACKED_UP: [Kind; 6] = [
    Kind::Secret,
    Kind::Cluster,
    Kind::FooCluster,
    Kind::FooControlPlane,
    Kind::FooMachinePool,
    Kind::MachinePool,
];
/// What Velero leaves out of the metadata of what it restores, beside the status.
const LEFT_OUT: [&str; 7] = [
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "ownerReferences",
];

async fn back_up(world: &World) -> Result<Vec<(Kind, Value)>> {
    let mut saved = Vec::new();
    for kind in BACKED_UP {
        let objects = kinds::list(world.client(), kind, NAMESPACE, "").await?;
        ensure!(!objects.is_empty(), "no {kind:?}");
        saved.extend(objects.into_iter().map(|object| (kind, object)));
    }
    Ok(saved)
}

/// Everything of the namespace is deleted without any change in AWS: what is left when a management cluster was lost.
async fn is_lost(world: &World) -> Result<()> {
    let change = json!({"metadata": {
        "finalizers": null,
        "annotations": {"infrastructure.foo.com/deletion-allowed": ""},
    }});
    wait_until("the objects to be lost", SOON, async || {
        let mut left = Vec::new();
        for kind in BACKED_UP.into_iter().chain([Kind::Machine, Kind::FooMachine]) {
            for object in kinds::list(world.client(), kind, NAMESPACE, "").await? {
                let name = text(&object, "/metadata/name");
                kinds::patch(world.client(), kind, NAMESPACE, name, &change).await?;
                kinds::delete(world.client(), kind, NAMESPACE, name).await?;
                left.push(format!("{kind:?} {name}"));
            }
        }
        Ok(Probe::when(left.is_empty(), || left.join(", ")))
    })
    .await
}

async fn restore(world: &World, saved: Vec<(Kind, Value)>) -> Result<()> {
    for (kind, mut object) in saved {
        let metadata =
            object.pointer_mut("/metadata").and_then(Value::as_object_mut).context("no metadata")?;
        metadata.retain(|field, _| !LEFT_OUT.contains(&field.as_str()));
        object.as_object_mut().context("no object")?.remove("status");
        let api = kind.api(world.client(), NAMESPACE);
        let created = api.create(&kube::api::PostParams::default(), &serde_json::from_value(object)?).await;
        created.with_context(|| format!("restoring a {kind:?}"))?;
    }
    Ok(())
}

/// `clusterctl move` and the garbage collector find it by its owner.
async fn the_kubeconfig_has_an_owner(world: &World) -> Result<()> {
    wait_until("the kubeconfig to have an owner", SOON, async || {
        let secret = kinds::read(world.client(), Kind::Secret, NAMESPACE, "backup-kubeconfig").await?;
        let owner = secret.as_ref().map(|secret| text(secret, "/metadata/ownerReferences/0/kind"));
        Ok(Probe::when(owner == Some("FooControlPlane"), || format!("{owner:?}")))
    })
    .await
}

#[test]
fn pools_from_a_backup_find_their_groups_again_and_no_instance_is_replaced() {
    run_alone(async |world| {
        let cluster = world.cluster(NAMESPACE).await?;
        let pool = cluster.pool("workers", 2).await?;
        let before = pool.settles_at(2).await?;
        let workload = pool.run("web", 2).await?;
        workload.allow(1).await?;
        let instances = members(world, &pool);
        let launched = world.aws().calls_of("CreateAutoScalingGroup");

        let reader = Reader::of(world.rig()).await?;
        stops_and_pauses(world, &reader, NAMESPACE).await?;
        let saved = back_up(world).await?;
        is_lost(world).await?;
        restore(world, saved).await?;
        let restored = pool.view().await?;
        ensure!(restored.machines.is_empty() && restored.foo_machines.is_empty(), "{restored}");
        let history = world.history(Kind::Machine, NAMESPACE).await?;
        continues(world, &reader, NAMESPACE).await?;

        let after = pool.settles_within(2, PATIENCE).await?;
        assert_eq!(members(world, &pool), instances);
        assert_eq!(machines(&after), machines(&before), "Machines of the same names, on the same Nodes");
        assert_eq!(world.aws().calls_of("CreateAutoScalingGroup"), launched);
        ensure!(ever_deleting(&history.versions()).is_empty());
        cluster.is_provisioned().await?;
        the_kubeconfig_has_an_owner(world).await?;
        workload.is_ready(2).await?;
        // And it is managed: what is desired comes.
        pool.scale(3).await?;
        pool.settles_within(3, PATIENCE).await?;
        ensure!(instances.is_subset(&members(world, &pool)));
        Ok(())
    });
}
