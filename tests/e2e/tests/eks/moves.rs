//! `clusterctl move` of a cluster on EKS: while its add-ons are being created, and back when idle.

use super::parts::{
    SOON_ON_EKS, cluster, eks_name, has_its_server, is_deleted, pool_objects, run_alone, simulated,
};
use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use foo_e2e::document::Reader;
use foo_model::names::{TAG_INSTALLATION, TOKEN_EXPIRES_ANNOTATION};
use foo_simulator::{Fault, FaultRule};
use foo_testbed::world::kinds::{self, Kind, condition, text};
use foo_testbed::world::{Cluster, ManagementCluster, SOON};
use foo_testbed::{ApiServer, Probe, wait_until};
use k8s_openapi::api::core::v1::Namespace;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::{Value, json};
use std::time::Duration;

const PAGE: &str = "docs/operations/move.md";
/// Namespace and Cluster.
const NAME: &str = "eks-mover";
const MOVE: &str = "clusterctl move --namespace \"$NAMESPACE\" --to-kubeconfig \"$TARGET_KUBECONFIG\"";

/// Waits until a condition of the FooControlPlane of that name and namespace in a management cluster is true.
pub(crate) async fn is_true(client: &Client, name: &str, kind: &str) -> Result<()> {
    wait_until(&format!("{kind} to be true"), SOON_ON_EKS, async || {
        let object = kinds::read(client.clone(), Kind::FooControlPlane, name, name).await?;
        let object = object.context("no FooControlPlane")?;
        let reported = condition(&object, kind);
        Ok(Probe::when(reported.is_some_and(|(status, ..)| status == "True"), || format!("{reported:?}")))
    })
    .await
}

/// The kubeconfig that Cluster API reads in a management cluster.
pub(crate) async fn kubeconfig(client: &Client, cluster: &str) -> Result<String> {
    let name = format!("{cluster}-kubeconfig");
    let secret = kinds::read(client.clone(), Kind::Secret, cluster, &name).await?.context("no Secret")?;
    Ok(String::from_utf8(BASE64.decode(text(&secret, "/data/value"))?)?)
}

pub(crate) async fn has_access(kubeconfig: &str) -> Result<()> {
    let parsed = Kubeconfig::from_yaml(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default()).await?;
    let namespaces: Api<Namespace> = Api::all(Client::try_from(config)?);
    ensure!(namespaces.get_opt("kube-system").await?.is_some(), "it shows no kube-system");
    Ok(())
}

/// The token in the Secret is about to end: the manager of this management cluster replaces it by one that lets its
/// bearer in.
async fn renews_tokens(client: &Client) -> Result<()> {
    let before = kubeconfig(client, NAME).await?;
    let soon = jiff::Timestamp::now() + Duration::from_mins(2);
    let ends = json!({"metadata": {"annotations": {TOKEN_EXPIRES_ANNOTATION: soon.to_string()}}});
    kinds::patch(client.clone(), Kind::Secret, NAME, &format!("{NAME}-kubeconfig"), &ends).await?;
    let after = wait_until("the token to be renewed", SOON, async || {
        let now = kubeconfig(client, NAME).await?;
        Ok(if now == before { Probe::NotYet("it is the one before".to_owned()) } else { Probe::Done(now) })
    })
    .await?;
    has_access(&after).await
}

async fn installation(api: &ApiServer) -> Result<String> {
    api.kubectl(["get", "namespace", "kube-system", "--output=jsonpath={.metadata.uid}"]).await
}

/// The one EKS cluster has the management cluster's tag, and one of each thing.
async fn belongs_to(cluster: &Cluster<'_>, api: &ApiServer, id: &str, entries: usize) -> Result<()> {
    let clusters = cluster.world().aws().region().clusters();
    ensure!(clusters.iter().filter(|it| it.name == eks_name(cluster)).count() == 1);
    let it = simulated(cluster).context("no EKS cluster")?;
    ensure!(it.id == id, "it was recreated");
    ensure!(it.entries.len() == entries, "access entries: {:?}", it.entries.keys());
    let addons: Vec<&String> = it.addons.keys().collect();
    ensure!(addons == ["coredns", "kube-proxy", "vpc-cni"], "{addons:?}");
    let installation = installation(api).await?;
    ensure!(it.tags.get(TAG_INSTALLATION) == Some(&installation), "{:?}", it.tags);
    Ok(())
}

/// The Machines of the cluster in a management cluster, with their Nodes, once there is one that runs.
async fn machines(client: &Client) -> Result<Vec<(String, String)>> {
    wait_until("the Machine to run", SOON_ON_EKS, async || {
        let machines = kinds::list(client.clone(), Kind::Machine, NAME, "").await?;
        let running = machines.iter().filter(|it| text(it, "/status/phase") == "Running");
        let ids: Vec<_> = running
            .map(|it| (text(it, "/spec/providerID").to_owned(), text(it, "/status/nodeRef/name").to_owned()))
            .collect();
        let is_one = ids.len() == 1 && machines.len() == 1;
        Ok(if is_one { Probe::Done(ids) } else { Probe::NotYet(format!("{machines:#?}")) })
    })
    .await
}

async fn reader<'w>(cluster: &Cluster<'w>, other: &ManagementCluster) -> Result<Reader<'w>> {
    let reader = Reader::of(cluster.world().rig()).await?;
    let target = other.api().kubeconfig_path();
    reader.run(&format!("export NAMESPACE={NAME} TARGET_KUBECONFIG={}", target.display())).await?;
    Ok(reader)
}

/// Adds a pool where the cluster is now.
async fn has_a_pool(reader: &Reader<'_>, cluster: &Cluster<'_>) -> Result<()> {
    let objects = pool_objects(cluster, "workers", "v1.34.0", 1, &json!({"family": "AL2023"}))?;
    let objects: Vec<String> = objects.iter().map(Value::to_string).collect();
    let apply = "kubectl --kubeconfig \"$TARGET_KUBECONFIG\" apply --filename - <<'EOF'";
    reader.run(&format!("{apply}\n{}\nEOF", objects.join("\n---\n"))).await.map(drop)
}

#[test]
fn a_cluster_is_moved_during_creation_and_back_when_idle_without_duplicates() {
    run_alone(async |world| {
        let other = world.another_management_cluster("eks-target").await?;
        let (here, there) = (world.client(), other.api().client());
        let throttled = world.aws().fails(FaultRule::on("CreateAddon", Fault::Throttled));
        let cluster = cluster(world, NAME, "v1.34.0").await?;
        let reader = reader(&cluster, &other).await?;
        wait_until("EKS to create the cluster", SOON_ON_EKS, async || {
            Ok(Probe::when(simulated(&cluster).is_some(), || "there is none".to_owned()))
        })
        .await?;
        let refused = reader.run(MOVE).await;
        let why = refused.err().map_or_else(String::new, |error| format!("{error:#}"));
        ensure!(why.contains("cannot start the move operation"), "clusterctl moved it: {why}");

        // In the middle: the API server responds, and there is no add-on yet.
        has_its_server(&cluster).await?;
        cluster.is_provisioned().await?;
        let id = simulated(&cluster).context("no EKS cluster")?.id;
        reader.follow(PAGE, "Move").await?;
        drop(throttled);
        has_a_pool(&reader, &cluster).await?;
        for kind in ["Ready", "AccessReady", "AddonsReady"] {
            is_true(&there, NAME, kind).await?;
        }
        let nodes = machines(&there).await?;
        belongs_to(&cluster, other.api(), &id, 2).await?;
        has_access(&kubeconfig(&there, NAME).await?).await?;
        renews_tokens(&there).await?;
        ensure!(cluster.read(Kind::FooControlPlane).await?.is_none(), "it is left at the source");

        // Back, when idle.
        let (source, target) = (other.api().kubeconfig_path(), world.api().kubeconfig_path());
        let turned = format!("export KUBECONFIG={} TARGET_KUBECONFIG={}", source.display(), target.display());
        reader.run(&turned).await?;
        reader.follow(PAGE, "Move").await?;
        for kind in ["Ready", "AccessReady", "AddonsReady"] {
            is_true(&here, NAME, kind).await?;
        }
        ensure!(machines(&here).await? == nodes, "other Nodes");
        belongs_to(&cluster, world.api(), &id, 2).await?;
        renews_tokens(&here).await?;
        is_deleted(&cluster).await
    });
}
