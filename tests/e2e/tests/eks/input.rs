//! What users write wrong: it is named, nothing half made is lost, and nothing of another owner's is touched.

use super::clock::{WAITING, has_condition_in_time};
use super::life::has_nodes;
use super::parts::{SOON_ON_EKS, cluster_in_existing_network, eks_name, has_condition, pool, simulated};
use super::refusals::is_ready;
use anyhow::{Context as _, Result, ensure};
use foo_testbed::world::kinds::{Kind, condition, patch, read};
use foo_testbed::world::{Cluster, SOON};
use foo_testbed::{Probe, World, wait_until};
use serde_json::{Value, json};

/// The add-ons that the cluster has, and one more or another one.
fn addons(coredns: &Value, more: Option<&str>) -> Value {
    let mut all = vec![json!({"name": "vpc-cni"}), json!({"name": "kube-proxy"}), coredns.clone()];
    all.extend(more.map(|name| json!({"name": name})));
    json!({"spec": {"eks": {"addons": all}}})
}

/// An add-on that there is not, one with an unknown value, and one with a value that EKS itself refuses.
pub(crate) async fn addons_that_eks_does_not_have(cluster: &Cluster<'_>) -> Result<()> {
    let coredns = |values: Value| json!({"name": "coredns", "configurationValues": values});
    let plain = json!({"name": "coredns"});
    let before = simulated(cluster).with_context(|| eks_name(cluster))?.addons;
    for (wrong, reason, words) in [
        (addons(&plain, Some("no-such-addon")), "AddonNotOffered", "no-such-addon"),
        (addons(&coredns(json!({"replicas": 2})), None), "AddonConfigurationInvalid", "replicas"),
        (
            addons(&coredns(json!({"replicaCount": "many"})), None),
            "RequestInvalid",
            "schema validation failed",
        ),
    ] {
        cluster.patch(Kind::FooControlPlane, &wrong).await?;
        has_condition_in_time(cluster, WAITING, "AddonsReady", words, |(status, reported, message)| {
            status == "False" && reported == reason && message.contains(words)
        })
        .await?;
    }
    let after = simulated(cluster).with_context(|| eks_name(cluster))?.addons;
    ensure!(before == after, "add-ons changed: {after:#?}");
    cluster.patch(Kind::FooControlPlane, &addons(&plain, None)).await?;
    is_ready(cluster, "AddonsReady").await.map(drop)
}

/// Another Cluster that names the same EKS cluster is refused, and its deletion deletes nothing.
pub(crate) async fn a_second_control_plane_of_that_name(world: &World, cluster: &Cluster<'_>) -> Result<()> {
    let name = eks_name(cluster);
    let before = simulated(cluster).context("no EKS cluster")?;
    let twin = cluster_in_existing_network(world, "twin", "v1.34.0", |object| {
        foo_e2e::set(object, &["spec", "eks", "name"], json!(name));
    })
    .await?;
    has_condition(&twin, "ClusterReady", "the name to be refused", |(status, reason, message)| {
        status == "False" && reason == "ControlPlaneNameNotAllowed" && message.contains("twin_")
    })
    .await?;
    twin.delete().await?;
    twin.is_gone(SOON_ON_EKS).await?;
    let after = simulated(cluster).context("it was deleted")?;
    ensure!((&after.arn, &after.tags) == (&before.arn, &before.tags), "{after:#?}");
    let object = cluster.read(Kind::FooControlPlane).await?.context("no FooControlPlane")?;
    ensure!(condition(&object, "Ready").is_some_and(|(status, ..)| status == "True"), "{object:#}");
    Ok(())
}

/// Two minors above the control plane, with user data that EC2 does not accept: both can be repaired.
pub(crate) async fn a_pool_that_is_too_new_with_user_data_that_is_too_long(
    cluster: &Cluster<'_>,
) -> Result<()> {
    let (client, namespace) = (cluster.world().client(), cluster.namespace());
    let long = json!({
        "family": "AL2023",
        "files": [{"path": "/etc/long", "content": "words that come again and again\n".repeat(600)}],
    });
    let late = pool(cluster, "late", "v1.36.0", 1, long).await?;
    wait_until("the length to be reported", SOON, async || {
        let object = read(client.clone(), Kind::FooNodeConfig, namespace, "late").await?.context("none")?;
        let bytes = object.pointer("/status/userDataBytes").and_then(Value::as_i64);
        Ok(Probe::when(bytes.is_some_and(|bytes| bytes > 16384), || format!("{bytes:?}")))
    })
    .await?;
    let packed = json!({"spec": {"compression": "Gzip"}});
    patch(client.clone(), Kind::FooNodeConfig, namespace, "late", &packed).await?;
    late.wait("the version to be deferred", SOON, |view| {
        view.conditions().any(|(_, status, reason, message)| {
            status == "False" && reason == "WaitingForControlPlane" && message.contains("v1.34.0")
        })
    })
    .await?;
    ensure!(late.view().await?.instances.is_empty(), "nodes that are newer than their control plane");
    late.patch(Kind::MachinePool, &json!({"spec": {"template": {"spec": {"version": "v1.34.0"}}}})).await?;
    has_nodes(cluster, "late", 1).await.map(drop)
}
