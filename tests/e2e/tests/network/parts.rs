//! What the tests of networks share.

use anyhow::{Context as _, Result, ensure};
use foo_e2e::Worlds;
use foo_model::network::Parts;
use foo_testbed::World;
use foo_testbed::world::kinds::{Kind, until_condition};
use foo_testbed::world::network::ids;
use foo_testbed::world::{Cluster, Pool, REGION, WorldOptions, manifests};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// The tests disturb each other: they cause AWS to fail, or change what a region has. They mostly wait, so that two at
/// a time take half as long.
static WORLDS: Worlds<2> = Worlds::new(module_path!());

/// Runs a test in a world that no other caller uses meanwhile.
pub(crate) fn run_alone(test: impl AsyncFnOnce(&'static World) -> Result<()>) {
    WORLDS.run(WorldOptions::default(), test);
}

/// Runs a test in a world that is created for it and ends with it.
pub(crate) fn play_alone(options: WorldOptions, test: impl AsyncFnOnce(&World) -> Result<()>) {
    foo_e2e::alone(async || {
        let world = World::start(options).await?;
        let outcome = test(&world).await.and_then(|()| world.check_nothing_forbidden());
        if outcome.is_err() {
            world.rig().keep_folder();
        }
        outcome
    });
}

/// A network takes minutes on AWS and seconds here.
pub(crate) const SOON_IN_AWS: Duration = Duration::from_mins(3);

/// NAT gateways take this long here.
const NAT_GATEWAY: Duration = Duration::from_secs(4);

/// AWS is quick.
pub(crate) fn quick(world: &World) -> Result<()> {
    world.aws().region().change_settings(|settings| {
        settings.nat_gateway_create = NAT_GATEWAY;
        settings.nat_gateway_delete = NAT_GATEWAY;
    })?;
    Ok(())
}

/// A Cluster with a network of this kind, not waited for.
pub(crate) async fn cluster<'w>(world: &'w World, name: &str, managed: Value) -> Result<Cluster<'w>> {
    let cluster = world.no_cluster(name).await?;
    apply(&cluster, managed).await?;
    Ok(cluster)
}

/// Writes all of a Cluster with a network of this kind.
pub(crate) async fn apply(cluster: &Cluster<'_>, managed: Value) -> Result<()> {
    apply_in(cluster, REGION, &managed).await
}

/// The same in another region.
pub(crate) async fn apply_in(cluster: &Cluster<'_>, region: &str, managed: &Value) -> Result<()> {
    let (world, namespace, name) = (cluster.world(), cluster.namespace(), cluster.name());
    quick(world)?;
    world.apply(&manifests::kubeconfig_secret(namespace, name, world.api().kubeconfig())).await?;
    world.apply(&foo_cluster(namespace, name, region, managed)).await?;
    world.apply(&manifests::foo_control_plane(namespace, name)).await?;
    world.apply(&manifests::cluster(namespace, name)).await
}

/// A FooCluster with a managed network.
fn foo_cluster(namespace: &str, name: &str, region: &str, managed: &Value) -> Value {
    json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooCluster",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"region": region, "network": {"managed": managed}},
    })
}

/// The network of a Cluster in AWS.
pub(crate) fn network(cluster: &Cluster<'_>) -> Result<Parts> {
    cluster.world().aws().network(cluster.namespace(), cluster.name())
}

/// Zones of the instances of a pool.
pub(crate) fn zones(world: &World, pool: &Pool<'_>) -> BTreeSet<String> {
    world.aws().instances_of(&pool.group()).iter().map(|instance| instance.zone.to_string()).collect()
}

/// Waits until the FooCluster shows that its network is ready, for the spec as it is.
pub(crate) async fn is_ready(cluster: &Cluster<'_>) -> Result<Value> {
    has_condition(cluster, "NetworkReady", "the network to be ready", |(status, ..)| status == "True").await
}

/// Waits until a condition of the FooCluster, for the spec as it is, matches.
pub(crate) async fn has_condition(
    cluster: &Cluster<'_>,
    kind: &str,
    what: &str,
    is_so: impl Fn((&str, &str, &str)) -> bool,
) -> Result<Value> {
    let read = async || cluster.read(Kind::FooCluster).await?.context("no FooCluster");
    until_condition(what, SOON_IN_AWS, read, kind, is_so).await
}

/// Nothing is there twice: as many parts as a network of that many zones with one NAT gateway has.
pub(crate) fn has_one_of_each(parts: &Parts, zones: usize, nat_gateways: usize) -> Result<()> {
    let counts = [
        ("VPCs", parts.vpcs.len(), 1),
        ("subnets", parts.subnets.len(), 2 * zones),
        ("internet gateways", parts.internet_gateways.len(), 1),
        ("addresses", parts.addresses.len(), nat_gateways),
        ("NAT gateways", parts.nat_gateways.len(), nat_gateways),
        ("route tables", parts.route_tables.len(), 1 + zones),
        ("security groups", parts.security_groups.len(), 2),
    ];
    for (what, there, wanted) in counts {
        ensure!(there == wanted, "{there} {what} instead of {wanted}: {parts:#?}");
    }
    Ok(())
}

/// Deletes the Cluster and waits until nothing is left of it, here and in AWS.
pub(crate) async fn is_deleted(cluster: &Cluster<'_>) -> Result<()> {
    cluster.delete().await?;
    cluster.is_gone(SOON_IN_AWS).await?;
    let left = ids(&network(cluster)?);
    ensure!(left.is_empty(), "left in AWS: {left:?}");
    Ok(())
}
