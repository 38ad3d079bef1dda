//! What the tests of networks share.

use anyhow::{Context as _, Result, ensure};
use foo_e2e::Stages;
use foo_model::network::Parts;
use foo_testbed::world::kinds::{Kind, condition, text};
use foo_testbed::world::network::ids;
use foo_testbed::world::{Cluster, REGION, WorldOptions, manifests};
use foo_testbed::{Probe, World, wait_until};
use serde_json::{Value, json};
use std::time::Duration;

/// All tests disturb each other: they count calls, kill the manager, or make AWS fail.
pub(crate) static STAGE: Stages<1> = Stages::new();

/// A network takes minutes on AWS and seconds here.
pub(crate) const MADE: Duration = Duration::from_mins(3);

/// NAT gateways take this long here.
const NAT_GATEWAY: Duration = Duration::from_secs(4);

/// A manager whose Lease ends soon after its crash.
pub(crate) fn options() -> WorldOptions {
    let mut options = WorldOptions::default();
    for (flag, seconds) in [("lease-duration", 3), ("renew-deadline", 2), ("retry-period", 1)] {
        options.manager_args.push(format!("--leader-elect-{flag}={seconds}s"));
    }
    options
}

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
    quick(world)?;
    let cluster = world.no_cluster(name).await?;
    world.apply(&manifests::kubeconfig_secret(name, name, world.api().kubeconfig())).await?;
    world.apply(&foo_cluster(name, name, REGION, managed)).await?;
    world.apply(&manifests::foo_control_plane(name, name)).await?;
    world.apply(&manifests::cluster(name, name)).await?;
    Ok(cluster)
}

/// A FooCluster with a managed network.
#[expect(clippy::needless_pass_by_value, reason = "callers write it on the spot")]
pub(crate) fn foo_cluster(namespace: &str, name: &str, region: &str, managed: Value) -> Value {
    json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooCluster",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"region": region, "network": {"managed": managed}},
    })
}

/// The network of a Cluster in AWS.
pub(crate) async fn network(cluster: &Cluster<'_>) -> Result<Parts> {
    cluster.world().aws().network(cluster.namespace(), cluster.name()).await
}

/// Waits until the FooCluster says that its network is ready, for the spec as it is.
pub(crate) async fn is_ready(cluster: &Cluster<'_>) -> Result<Value> {
    says(cluster, "NetworkReady", "the network to be ready", |(status, ..)| status == "True").await
}

/// Waits until a condition of the FooCluster, for the spec as it is, says something.
pub(crate) async fn says(
    cluster: &Cluster<'_>,
    kind: &str,
    what: &str,
    is_so: impl Fn((&str, &str, &str)) -> bool,
) -> Result<Value> {
    wait_until(what, MADE, async || {
        let object = cluster.read(Kind::FooCluster).await?.context("no FooCluster")?;
        let said = condition(&object, kind);
        if said.is_some_and(&is_so) && is_observed(&object, kind) {
            return Ok(Probe::Done(object));
        }
        let all = object.pointer("/status/conditions").map_or_else(String::new, Value::to_string);
        Ok(Probe::NotYet(all))
    })
    .await
}

fn is_observed(object: &Value, kind: &str) -> bool {
    let generation = object.pointer("/metadata/generation");
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    conditions.is_some_and(|conditions| {
        let of_kind = conditions.iter().find(|condition| text(condition, "/type") == kind);
        of_kind.is_some_and(|condition| condition.get("observedGeneration") == generation)
    })
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
pub(crate) async fn goes(cluster: &Cluster<'_>) -> Result<()> {
    cluster.delete().await?;
    cluster.is_gone(MADE).await?;
    let left = ids(&network(cluster).await?);
    ensure!(left.is_empty(), "left in AWS: {left:?}");
    Ok(())
}
