//! The objects of docs/eks.md and a pool, applied in any order and again and again, and deleted in any order.

use super::parts::{SOON_ON_EKS, eks_name, pool_objects, prepare_iam, run_alone, simulated};
use anyhow::{Context as _, Result, ensure};
use foo_model::eks::ClusterStatus;
use foo_testbed::world::kinds::{self, Kind, condition, text};
use foo_testbed::world::{AFTER_DRAIN, Cluster, MachineView, QUIET_PERIOD, SOON, World};
use foo_testbed::{Probe, wait_until};
use kube::Api;
use kube::api::{ApiResource, DynamicObject};
use kube::core::TypeMeta;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// The pool of each cluster, of one instance.
const POOL: &str = "workers";
/// How often a GitOps tool applies everything.
const AGAIN: Duration = Duration::from_secs(5);
/// The parts of a pool in the order of [`objects`].
const OF_POOL: [usize; 3] = [3, 4, 5];

/// Cluster, FooCluster and FooControlPlane of the page's example under another name, and MachinePool, FooMachinePool
/// and FooNodeConfig of a pool.
fn objects(cluster: &Cluster<'_>) -> Result<Vec<Value>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/eks.md");
    let text = std::fs::read_to_string(&page).context("reading the page")?;
    let example = text.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
    let example = example.context("the page has no example")?;
    ensure!(example.contains("name: blue") && example.contains("namespace: team-a"), "{example}");
    let example = example.replace("blue", cluster.name()).replace("team-a", cluster.namespace());
    let mut objects: Vec<Value> = serde_saphyr::from_multiple(&example)?;
    ensure!(objects.len() == OF_POOL[0], "the example has {} objects", objects.len());
    objects.extend(pool_objects(cluster, POOL, "v1.34.0", 1, &json!({"family": "AL2023"}))?);
    Ok(objects)
}

/// An object as it is in the management cluster.
async fn read(world: &World, object: &Value) -> Result<DynamicObject> {
    let types: TypeMeta = serde_json::from_value(object.clone())?;
    let resource = ApiResource::from_gvk(&(&types).try_into()?);
    let namespace = text(object, "/metadata/namespace");
    let objects: Api<DynamicObject> = Api::namespaced_with(world.client(), namespace, &resource);
    Ok(objects.get(text(object, "/metadata/name")).await?)
}

/// Number of calls that changed something.
pub(crate) fn changes(world: &World) -> u64 {
    let reads = ["Describe", "Get", "List", "Assume"];
    let calls = world.aws().calls().into_iter();
    calls
        .filter(|(action, _)| !reads.iter().any(|read| action.starts_with(read)))
        .map(|(_, count)| count)
        .sum()
}

/// The generation of each object.
async fn generations(world: &World, objects: &[Value]) -> Result<BTreeMap<String, Option<i64>>> {
    let mut found = BTreeMap::new();
    for object in objects {
        let part = |pointer| text(object, pointer);
        let name = format!("{} {}/{}", part("/kind"), part("/metadata/namespace"), part("/metadata/name"));
        found.insert(name, read(world, object).await?.metadata.generation);
    }
    Ok(found)
}

async fn apply(world: &World, objects: &[Value]) -> Result<()> {
    for object in objects {
        world.apply(object).await?;
    }
    Ok(())
}

/// Whether everything of the cluster is ready and its pool has its Node.
async fn is_whole(cluster: &Cluster<'_>) -> Result<Probe<()>> {
    let world = cluster.world();
    let Some(server) = world.cluster_servers().api(&eks_name(cluster)) else {
        return Ok(Probe::NotYet("it has no API server".to_owned()));
    };
    world.finds_nodes_on(cluster.name(), &server);
    let object = cluster.read(Kind::FooControlPlane).await?.context("no FooControlPlane")?;
    let all = ["Ready", "AddonsReady", "AccessReady"];
    let is = |kind: &&str| condition(&object, kind).is_some_and(|(status, ..)| status == "True");
    let pool = cluster.existing_pool(POOL).view().await?;
    Ok(Probe::when(all.iter().all(is) && pool.is_settled_at(1), || {
        let reported = object.pointer("/status/conditions").map_or_else(String::new, Value::to_string);
        format!("{reported}\n{pool}")
    }))
}

/// Applies everything in this order, and again and again until all of it is ready. With a pause after the pool's
/// objects if they are first: they show what they wait for.
async fn applied_in<'w>(
    world: &'w World,
    name: &str,
    order: [usize; 6],
) -> Result<(Cluster<'w>, Vec<Value>)> {
    let cluster = world.no_cluster(name).await?;
    let all = objects(&cluster)?;
    let ordered: Vec<Value> = order.iter().filter_map(|index| all.get(*index).cloned()).collect();
    let (first, rest) = ordered.split_at(OF_POOL.len());
    apply(world, first).await?;
    if order.iter().take(OF_POOL.len()).all(|index| OF_POOL.contains(index)) {
        let waits = |reported: Option<(&str, &str, &str)>| {
            reported.is_some_and(|(status, reason, _)| status == "False" && reason.starts_with("WaitingFor"))
        };
        let pool = cluster.existing_pool(POOL);
        pool.wait("to report what is missing", SOON, |view| waits(view.condition("Ready"))).await?;
    }
    apply(world, rest).await?;
    let mut applied = Instant::now();
    wait_until(&format!("{name} to be whole"), SOON_ON_EKS, async || {
        if applied.elapsed() > AGAIN {
            apply(world, &ordered).await?;
            applied = Instant::now();
        }
        is_whole(&cluster).await
    })
    .await?;
    Ok((cluster, ordered))
}

/// Waits until the FooCluster or FooControlPlane that is being deleted shows what it waits for.
async fn waits_for(cluster: &Cluster<'_>, kind: Kind, reason: &str) -> Result<()> {
    wait_until(&format!("{kind:?} of {} to report {reason}", cluster.name()), SOON, async || {
        let object = cluster.read(kind).await?.with_context(|| format!("no {kind:?}"))?;
        let reported = condition(&object, "Deleting");
        Ok(Probe::when(reported.is_some_and(|(_, reported, _)| reported == reason), || {
            format!("{reported:?}")
        }))
    })
    .await
}

fn is_untouched(cluster: &Cluster<'_>) -> Result<()> {
    let status = simulated(cluster).map(|it| it.status);
    ensure!(status == Some(ClusterStatus::Active), "the EKS cluster is {status:?}");
    Ok(())
}

fn nothing_is_left(cluster: &Cluster<'_>) -> Result<()> {
    let aws = cluster.world().aws();
    ensure!(simulated(cluster).is_none(), "the EKS cluster is left");
    let left = aws.leftovers(&cluster.pool_name(POOL).group());
    ensure!(left.is_empty(), "left in AWS: {left:?}");
    let left = foo_testbed::world::network::ids(&aws.network(cluster.namespace(), cluster.name())?);
    ensure!(left.is_empty(), "left in AWS: {left:?}");
    Ok(())
}

async fn delete(cluster: &Cluster<'_>, kind: Kind) -> Result<()> {
    kinds::delete(cluster.world().client(), kind, cluster.namespace(), cluster.name()).await
}

/// The FooCluster is deleted by hand, then the MachinePool, whose pods a budget defers, and the Cluster.
async fn deleted_with_the_foo_cluster_first(cluster: &Cluster<'_>) -> Result<()> {
    let pool = cluster.existing_pool(POOL);
    let web = pool.run("web", 1).await?;
    delete(cluster, Kind::FooCluster).await?;
    waits_for(cluster, Kind::FooCluster, "WaitingForPools").await?;
    pool.delete().await?;
    pool.wait("for the budget", SOON, |view| view.machines.iter().any(MachineView::waits_for_budget)).await?;
    web.allow(1).await?;
    pool.is_gone(AFTER_DRAIN).await?;
    let server = cluster.world().cluster_servers().api(&eks_name(cluster)).context("no API server")?;
    let undrained = server.kubelets().undrained();
    ensure!(undrained.is_empty(), "pods were lost with their instance: {undrained:#?}");
    waits_for(cluster, Kind::FooCluster, "WaitingForControlPlaneDeletion").await?;
    is_untouched(cluster)?;
    cluster.delete().await?;
    cluster.is_gone(SOON_ON_EKS).await?;
    nothing_is_left(cluster)
}

/// FooControlPlane and FooCluster are deleted by hand, the MachinePool after them: both wait for it, and then go
/// without the Cluster.
async fn deleted_with_the_pool_last(cluster: &Cluster<'_>) -> Result<()> {
    let pool = cluster.existing_pool(POOL);
    let (at, name) = (format!("--namespace={}", cluster.namespace()), cluster.name());
    let confirm = ["annotate", "foocontrolplane", name, &at, "infrastructure.foo.com/deletion-allowed="];
    cluster.world().api().kubectl(confirm).await?;
    delete(cluster, Kind::FooControlPlane).await?;
    delete(cluster, Kind::FooCluster).await?;
    waits_for(cluster, Kind::FooControlPlane, "WaitingForPools").await?;
    waits_for(cluster, Kind::FooCluster, "WaitingForPools").await?;
    is_untouched(cluster)?;
    let view = pool.view().await?;
    ensure!(view.good().count() == 1, "{view}");
    pool.delete().await?;
    wait_until("all of it but the Cluster to be deleted", SOON_ON_EKS, async || {
        let control_plane = cluster.read(Kind::FooControlPlane).await?;
        let foo_cluster = cluster.read(Kind::FooCluster).await?;
        let left: Vec<_> = control_plane.iter().chain(&foo_cluster).collect();
        Ok(Probe::when(left.is_empty(), || {
            format!("{:?}", left.iter().map(|it| condition(it, "Deleting")).collect::<Vec<_>>())
        }))
    })
    .await?;
    nothing_is_left(cluster)?;
    cluster.delete().await?;
    cluster.is_gone(SOON_ON_EKS).await
}

/// A user deletes everything at once, the Secret by which Cluster API reaches the Nodes with it.
async fn deleted_with_its_namespace(cluster: &Cluster<'_>) -> Result<()> {
    let (world, namespace) = (cluster.world(), cluster.namespace());
    world.api().kubectl(["delete", "namespace", namespace, "--wait=false"]).await?;
    wait_until(&format!("namespace {namespace} to be deleted"), SOON_ON_EKS, async || {
        let get = ["get", "namespace", namespace, "--ignore-not-found", "--output=jsonpath={.status}"];
        let left = world.api().kubectl(get).await?;
        Ok(Probe::when(left.is_empty(), || left))
    })
    .await?;
    nothing_is_left(cluster)
}

/// What an administrator prepares: roles, and addresses for three networks with three gateways each, which are quick.
fn prepare(world: &World) -> Result<()> {
    prepare_iam(world);
    world.aws().simulator().put_role(serde_json::from_value(json!({"name": "developers"}))?);
    let quick = Duration::from_secs(4);
    world.aws().region().change_settings(|settings| {
        settings.network_quotas.addresses = 20;
        settings.nat_gateway_create = quick;
        settings.nat_gateway_delete = quick;
    })?;
    Ok(())
}

#[test]
fn a_cluster_may_be_applied_in_any_order_again_and_again_and_be_deleted_in_any_order() {
    run_alone(async |world| {
        prepare(world)?;
        let ((infrastructure, first), (pool, second), (all, third)) = tokio::try_join!(
            applied_in(world, "order-one", [5, 3, 4, 2, 1, 0]),
            applied_in(world, "order-two", [1, 4, 0, 5, 2, 3]),
            applied_in(world, "order-three", [4, 2, 5, 0, 3, 1]),
        )?;
        let objects = [first, second, third].concat();
        let (before, made) = (generations(world, &objects).await?, changes(world));
        for _ in 0..2 {
            apply(world, &objects).await?;
            tokio::time::sleep(QUIET_PERIOD).await;
        }
        let after = generations(world, &objects).await?;
        ensure!(after == before, "changed while idle: {before:?} {after:?}");
        ensure!(changes(world) == made, "AWS was changed while idle: {:?}", world.aws().calls());

        tokio::try_join!(
            deleted_with_the_foo_cluster_first(&infrastructure),
            deleted_with_the_pool_last(&pool),
            deleted_with_its_namespace(&all),
        )?;
        Ok(())
    });
}
