//! One file of the released ClusterClass `foo-eks`: from nothing to Nodes that are Ready in two pools, through two
//! minor versions, and back to nothing. Versions are spelled as by kubelets of EKS's images, which is what Cluster API
//! compares.

use super::parts::{
    NODE_ROLE, SOON_ON_EKS, has_condition, has_its_server, is_deleted, prepare_iam, run_alone, runs,
    simulated,
};
use anyhow::{Context as _, Result, ensure};
use foo_e2e::document::Reader;
use foo_e2e::version_is_accepted;
use foo_testbed::world::kinds::{self, Kind, number, text};
use foo_testbed::world::{Cluster, Pool, QUIET_PERIOD, RELEASE, World};
use foo_testbed::{Probe, nothing_happens, until_quiet, wait_until};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const NAME: &str = "one-file";

const PAGE: &str = "docs/operations/clusterclass.md";

/// The version of the kubelets with another build: what a user guessed before there was a Node.
const GUESSED: &str = "v1.34.2-eks-0000000";

/// What kubelets of the recommended images report.
pub(crate) const VERSIONS: [&str; 3] = ["v1.34.2-eks-113cf36", "v1.35.1-eks-5d4a308", "v1.36.0-eks-802817d"];

/// The pools, each with its number of replicas.
const POOLS: [(&str, usize); 2] = [("workers", 2), ("batch", 1)];

/// AWS recommends an image of each family for each version.
pub(crate) fn publish_images(world: &World) -> Result<()> {
    foo_testbed::publish_images(world.aws().region(), &VERSIONS)
}

/// What clusterctl generates from the flavour `eks`, with a network of two zones, a second pool, and what each pool
/// sets for itself.
async fn file(world: &World, version: &str) -> Result<Vec<Value>> {
    let (provider, version) =
        (format!("--infrastructure=foo:{RELEASE}"), format!("--kubernetes-version={version}"));
    let namespace = format!("--target-namespace={NAME}");
    let args = ["generate", "cluster", NAME, "--flavor=eks", "--worker-machine-count=2", &provider];
    let yaml = world.rig().clusterctl(args.into_iter().chain([version.as_str(), &namespace])).await?;
    let mut objects: Vec<Value> = serde_saphyr::from_multiple(&yaml)?;
    let cluster =
        objects.iter_mut().find(|object| text(object, "/kind") == "Cluster").context("no Cluster")?;
    // Both pools are upgraded at the same time.
    let concurrency = "topology.cluster.x-k8s.io/upgrade-concurrency";
    foo_e2e::set(cluster, &["metadata", "annotations", concurrency], json!("2"));
    let topology = cluster.pointer_mut("/spec/topology").context("no topology")?;
    let own = [
        ("managedNetwork", json!({"zones": {"count": 2}, "egress": "None"})),
        ("instanceProfile", json!(NODE_ROLE)),
        ("nodeLabels", json!({"team": "a"})),
        ("logging", json!(["audit"])),
    ];
    let variables = topology["variables"].as_array_mut().context("no variables")?;
    variables.retain(|variable| own.iter().all(|(name, _)| text(variable, "/name") != *name));
    variables.extend(own.map(|(name, value)| json!({"name": name, "value": value})));
    let pools = topology.pointer_mut("/workers/machinePools").and_then(Value::as_array_mut);
    pools.context("no pools")?.push(json!({
        "class": "mixed", "name": "batch", "replicas": 1,
        "variables": {"overrides": [
            {"name": "onDemandBase", "value": 0}, {"name": "onDemandPercentage", "value": 0},
            {"name": "nodeTaints", "value": [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]},
        ]},
    }));
    Ok(objects)
}

/// A pool of the topology, once the topology controller has made it.
async fn pool<'w>(cluster: &Cluster<'w>, name: &str) -> Result<Pool<'w>> {
    let label = format!("topology.cluster.x-k8s.io/pool-name={name}");
    let client = || cluster.world().client();
    wait_until(&format!("pool {name}"), SOON_ON_EKS, async || {
        let own = kinds::list(client(), Kind::FooMachinePool, NAME, &label).await?;
        let cores = kinds::list(client(), Kind::MachinePool, NAME, &label).await?;
        Ok(match (cores.first(), own.first()) {
            (Some(core), Some(our)) => {
                Probe::Done(cluster.topology_pool(text(core, "/metadata/name"), text(our, "/metadata/name")))
            }
            _ => Probe::NotYet(format!("{:?}", cluster.read(Kind::Cluster).await?)),
        })
    })
    .await
}

/// Waits until all pools are settled with kubelets of a version; the Nodes of each pool.
async fn have_nodes(cluster: &Cluster<'_>, version: &str) -> Result<BTreeMap<&'static str, Vec<Value>>> {
    let mut nodes = BTreeMap::new();
    for (name, replicas) in POOLS {
        let what = format!("to have {replicas} Nodes of {version}");
        let pool = pool(cluster, name).await?;
        let view = pool.wait(&what, 2 * SOON_ON_EKS, |view| {
            let runs = |node: &Value| text(node, "/status/nodeInfo/kubeletVersion") == version;
            view.is_settled_at(replicas)
                && view.machines.iter().all(|machine| machine.node.as_ref().is_some_and(runs))
        });
        let view = view.await.with_context(|| {
            format!("refused by the API server: {:?}", cluster.world().cluster_servers().refused_nodes())
        })?;
        nodes.insert(name, view.machines.into_iter().filter_map(|machine| machine.node).collect());
    }
    Ok(nodes)
}

fn ids(nodes: &BTreeMap<&'static str, Vec<Value>>) -> BTreeSet<String> {
    nodes.values().flatten().map(|node| text(node, "/spec/providerID").to_owned()).collect()
}

/// Waits until Cluster API shows that the topology is as requested.
async fn is_reconciled(cluster: &Cluster<'_>) -> Result<()> {
    wait_until("the topology to be as requested", SOON_ON_EKS, async || {
        let object = cluster.read(Kind::Cluster).await?.context("no Cluster")?;
        let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
        let is_it = |condition: &&Value| text(condition, "/type") == "TopologyReconciled";
        let reported = conditions.into_iter().flatten().find(is_it).cloned().unwrap_or_default();
        let of_now = number(&reported, "/observedGeneration") == number(&object, "/metadata/generation");
        Ok(Probe::when(text(&reported, "/status") == "True" && of_now, || format!("{reported:#}")))
    })
    .await
}

/// Generations and versions of all that the topology controller and our managers write.
async fn versions(cluster: &Cluster<'_>) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for kind in
        [Kind::FooCluster, Kind::FooControlPlane, Kind::FooMachinePool, Kind::FooMachine, Kind::MachinePool]
    {
        for object in kinds::list(cluster.world().client(), kind, NAME, "").await? {
            let version = format!(
                "generation {:?}, version {}",
                number(&object, "/metadata/generation"),
                text(&object, "/metadata/resourceVersion")
            );
            found.insert(format!("{kind:?} {}", text(&object, "/metadata/name")), version);
        }
    }
    Ok(found)
}

/// Nothing is written, even when the topology controller has compared everything by a dry run again: what our managers
/// write does not belong to it.
async fn is_still(cluster: &Cluster<'_>, touch: &str) -> Result<()> {
    // EKS reports add-ons as degraded while Nodes are replaced, and is asked again half a minute later.
    addons_are_ready(cluster).await?;
    let written = async || versions(cluster).await;
    let last = until_quiet("all writes to have ended", 2 * QUIET_PERIOD, SOON_ON_EKS, written).await?;
    ensure!(last.keys().any(|name| name.starts_with("FooControlPlane")), "{last:#?}");
    cluster.patch(Kind::Cluster, &json!({"metadata": {"annotations": {"foo.test/touch": touch}}})).await?;
    nothing_happens("written although nothing changed", QUIET_PERIOD, async || {
        let now = written().await?;
        Ok(Probe::when(now == last, || format!("{last:#?}\n{now:#?}")))
    })
    .await
}

async fn addons_are_ready(cluster: &Cluster<'_>) -> Result<Value> {
    has_condition(cluster, "AddonsReady", "the add-ons to be ready", |(status, ..)| status == "True").await
}

/// The values of the variables are in the objects, and in the Nodes.
async fn matches_the_variables(
    cluster: &Cluster<'_>,
    nodes: &BTreeMap<&'static str, Vec<Value>>,
) -> Result<()> {
    let labelled = |node: &Value| text(node, "/metadata/labels/team") == "a";
    ensure!(nodes.values().flatten().all(labelled), "{nodes:#?}");
    let tainted = |node: &Value| {
        node.pointer("/spec/taints").is_some_and(|taints| taints.to_string().contains("dedicated"))
    };
    ensure!(nodes["batch"].iter().all(tainted) && !nodes["workers"].iter().any(tainted), "{nodes:#?}");
    let control_plane = addons_are_ready(cluster).await?;
    ensure!(control_plane.pointer("/spec/eks/logging") == Some(&json!(["audit"])), "{control_plane:#}");
    let addons: Vec<&str> = control_plane
        .pointer("/status/eks/addons")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|addon| text(addon, "/name"))
        .collect();
    ensure!(addons.len() == 3, "{addons:?}");
    has_condition(cluster, "AccessReady", "access to be ready", |(status, ..)| status == "True")
        .await
        .map(drop)
}

/// A change of `spec.topology.version` and of nothing else: first the control plane, then the pools, every Node another
/// one.
async fn is_upgraded(
    cluster: &Cluster<'_>,
    version: &str,
    before: &BTreeSet<String>,
) -> Result<BTreeSet<String>> {
    let upgrade = json!({"spec": {"topology": {"version": version}}});
    version_is_accepted(SOON_ON_EKS, async || cluster.patch(Kind::Cluster, &upgrade).await).await?;
    runs(cluster, version).await?;
    let after = ids(&have_nodes(cluster, version).await?);
    ensure!(before.is_disjoint(&after), "Nodes of before the upgrade to {version}: {before:?}, {after:?}");
    is_reconciled(cluster).await?;
    Ok(after)
}

#[test]
fn one_file_creates_a_whole_cluster_that_is_upgraded_by_its_version_and_leaves_nothing() {
    run_alone(async |world| {
        prepare_iam(world);
        publish_images(world)?;
        let cluster = world.no_cluster(NAME).await?;
        for object in file(world, VERSIONS[0]).await? {
            world.apply(&object).await?;
        }
        has_its_server(&cluster).await?;
        let nodes = have_nodes(&cluster, VERSIONS[0]).await?;
        cluster.is_provisioned().await?;
        matches_the_variables(&cluster, &nodes).await?;
        is_reconciled(&cluster).await?;
        is_still(&cluster, "made").await?;

        let mut members = ids(&nodes);
        for version in VERSIONS.iter().skip(1) {
            members = is_upgraded(&cluster, version, &members).await?;
        }
        is_still(&cluster, "upgraded").await?;
        let minor = simulated(&cluster).context("no cluster")?.version;
        ensure!(minor.to_string() == "1.36", "{minor}");
        is_deleted(&cluster).await
    });
}

/// Waits until the pools report which version their Nodes have.
async fn name_the_version_of_their_nodes(cluster: &Cluster<'_>) -> Result<()> {
    for (name, _) in POOLS {
        let pool = pool(cluster, name).await?;
        let reported = |view: &foo_testbed::world::PoolView| {
            view.condition("Ready").is_some_and(|(_, _, message)| message.contains(VERSIONS[0]))
        };
        pool.wait("to report which version its Nodes have", SOON_ON_EKS, reported).await?;
    }
    Ok(())
}

/// Waits until all Nodes are others than these.
async fn are_replaced(cluster: &Cluster<'_>, before: &BTreeSet<String>) -> Result<()> {
    for (name, replicas) in POOLS {
        let pool = pool(cluster, name).await?;
        let others = |view: &foo_testbed::world::PoolView| {
            view.is_settled_at(replicas) && view.provider_ids().iter().all(|id| !before.contains(*id))
        };
        pool.wait("to have other Nodes", 2 * SOON_ON_EKS, others).await?;
    }
    Ok(())
}

/// A user did not know the build of the kubelets. With the block of commands the topology gets it, and each Node is
/// replaced once.
#[test]
fn a_guessed_version_is_corrected_by_that_of_the_nodes_with_one_replacement() {
    run_alone(async |world| {
        prepare_iam(world);
        publish_images(world)?;
        let cluster = world.no_cluster(NAME).await?;
        for object in file(world, GUESSED).await? {
            world.apply(&object).await?;
        }
        has_its_server(&cluster).await?;
        let before = ids(&have_nodes(&cluster, VERSIONS[0]).await?);
        name_the_version_of_their_nodes(&cluster).await?;
        let history = world.history(Kind::Machine, NAME).await?;
        let machines = || -> BTreeSet<String> {
            history.versions().iter().map(|it| text(it, "/metadata/name").to_owned()).collect()
        };
        let first = machines();

        let reader = Reader::of(world.rig()).await?;
        reader.run(&format!("export NAMESPACE={NAME} CLUSTER={NAME}")).await?;
        reader.follow(PAGE, "Take over the version of the Nodes").await?;
        let object = cluster.read(Kind::Cluster).await?.context("no Cluster")?;
        assert_eq!(text(&object, "/spec/topology/version"), VERSIONS[0]);
        are_replaced(&cluster, &before).await?;
        is_reconciled(&cluster).await?;
        is_still(&cluster, "taken over").await?;
        let replaced = machines().difference(&first).count();
        assert_eq!(replaced, POOLS.iter().map(|(_, replicas)| replicas).sum::<usize>(), "each once");
        is_deleted(&cluster).await
    });
}
