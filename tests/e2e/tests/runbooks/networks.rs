//! docs/operations/runbooks/restored.md, "Networks and control planes": a Cluster that was created after the snapshot.

use super::restored::restores;
use super::{PATIENCE, RESTORED, run_alone};
use anyhow::{Context as _, Result, ensure};
use foo_e2e::document::Reader;
use foo_model::names::{TAG_CLUSTER, TAG_CONTROL_PLANE, TAG_NETWORK};
use foo_simulator::core::eks::cluster::Cluster as Simulated;
use foo_testbed::CONTROL_PLANE_ROLE;
use foo_testbed::world::kinds::{Kind, until_condition};
use foo_testbed::world::network::ids;
use foo_testbed::world::{Cluster, REGION, World, manifests};
use serde_json::{Value, json};

/// Namespace and Cluster.
const NAME: &str = "taken-back";

/// What its user has in Git.
fn files() -> [Value; 3] {
    let role = format!("arn:aws:iam::{}:role/{CONTROL_PLANE_ROLE}", foo_simulator::DEFAULT_ACCOUNT);
    let foo_cluster = json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooCluster",
        "metadata": {"name": NAME, "namespace": NAME},
        "spec": {"region": REGION, "network": {"managed": {"zones": {"count": 2}, "egress": "None"}}},
    });
    let control_plane = json!({
        "apiVersion": "controlplane.foo.com/v1alpha1", "kind": "FooControlPlane",
        "metadata": {"name": NAME, "namespace": NAME},
        "spec": {"version": "v1.34.0", "eks": {"roleARN": role}},
    });
    [manifests::cluster(NAME, NAME), foo_cluster, control_plane]
}

async fn applies_the_files(world: &World) -> Result<()> {
    for object in files() {
        world.apply(&object).await?;
    }
    Ok(())
}

/// Waits until a condition is as expected.
async fn has_condition(
    cluster: &Cluster<'_>,
    kind: Kind,
    name: &str,
    is_so: impl Fn((&str, &str, &str)) -> bool,
) -> Result<()> {
    let read = async || cluster.read(kind).await?.with_context(|| format!("no {kind:?}"));
    until_condition(&format!("{name} of the {kind:?}"), PATIENCE, read, name, is_so).await?;
    Ok(())
}

async fn is_ready(cluster: &Cluster<'_>) -> Result<()> {
    has_condition(cluster, Kind::FooCluster, "NetworkReady", |(status, ..)| status == "True").await?;
    has_condition(cluster, Kind::FooControlPlane, "ClusterReady", |(status, ..)| status == "True").await?;
    has_condition(cluster, Kind::FooControlPlane, "Available", |(status, ..)| status == "True").await
}

/// The EKS clusters that have the tag of the Cluster.
fn eks_clusters(world: &World) -> Vec<Simulated> {
    let of = format!("{NAME}/{NAME}");
    let clusters = world.aws().region().clusters();
    clusters.into_iter().filter(|it| it.tags.get(TAG_CLUSTER) == Some(&of)).collect()
}

/// Ids of everything of the Cluster in AWS.
fn in_aws(world: &World) -> Result<(Vec<String>, Vec<String>)> {
    let clusters = eks_clusters(world).into_iter().map(|it| it.id).collect();
    Ok((ids(&world.aws().network(NAME, NAME)?), clusters))
}

/// The values that the page reads out of AWS's tags.
async fn knows_the_ids(world: &World, reader: &Reader<'_>) -> Result<()> {
    let network = world.aws().network(NAME, NAME)?;
    let vpc = network.vpcs.values().next().context("no VPC")?;
    let network_id = vpc.tags.get(TAG_NETWORK).context("the VPC has no id")?;
    let cluster = eks_clusters(world).into_iter().next().context("no EKS cluster")?;
    let control_plane_id = cluster.tags.get(TAG_CONTROL_PLANE).context("the EKS cluster has no id")?;
    let exported = format!(
        "export NAMESPACE={NAME} FOO_CLUSTER={NAME} CONTROL_PLANE={NAME} NETWORK_ID={network_id} \
         CONTROL_PLANE_ID={control_plane_id}"
    );
    reader.run(&exported).await.map(drop)
}

#[test]
fn a_cluster_that_a_snapshot_does_not_know_is_applied_again_and_taken_over_and_nothing_is_created_twice() {
    run_alone(async |world| {
        foo_testbed::prepare_eks(world.aws().simulator());
        let cluster = world.no_cluster(NAME).await?;
        let snapshot = world.api().snapshot("before-the-cluster").await?;
        applies_the_files(world).await?;
        is_ready(&cluster).await?;
        let before = in_aws(world)?;
        ensure!(before.1.len() == 1, "{before:?}");

        restores(world, &snapshot).await?;
        ensure!(cluster.read(Kind::Cluster).await?.is_none(), "the store is the old one");
        applies_the_files(world).await?;
        for manager in [world.manager(), world.control_plane_manager(), world.bootstrap_manager()] {
            manager.start().await?;
        }
        let is = |reason: &'static str| {
            move |(status, it, _): (&str, &str, &str)| status == "False" && it == reason
        };
        has_condition(&cluster, Kind::FooCluster, "NetworkReady", is("EarlierNetworkExists")).await?;
        has_condition(&cluster, Kind::FooControlPlane, "ClusterReady", is("ClusterNotOwned")).await?;
        assert_eq!(in_aws(world)?, before, "nothing is created");

        let reader = Reader::of(world.rig()).await?;
        knows_the_ids(world, &reader).await?;
        reader.follow(RESTORED, "Networks and control planes").await?;
        is_ready(&cluster).await?;
        assert_eq!(in_aws(world)?, before, "one network and one EKS cluster, those from before");

        cluster.delete().await?;
        cluster.is_gone(PATIENCE).await?;
        let left = in_aws(world)?;
        ensure!(left.0.is_empty() && left.1.is_empty(), "left in AWS: {left:?}");
        Ok(())
    });
}
