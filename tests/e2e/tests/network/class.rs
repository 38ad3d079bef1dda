//! A Cluster of the released ClusterClass whose variables ask for a network: to nodes in three zones, and back to
//! nothing.

use super::parts::{SOON_IN_AWS, has_one_of_each, network, play_alone, quick, zones};
use anyhow::{Context as _, Result, ensure};
use foo_testbed::world::kinds::{self, Kind, condition, text};
use foo_testbed::world::network::ids;
use foo_testbed::world::{Cluster, Pool, RELEASE, WorldOptions, manifests};
use foo_testbed::{Probe, wait_until};
use serde_json::{Value, json};

const NAME: &str = "classy";

/// Namespace and name of the Cluster, and its Secrets.
async fn prepare(cluster: &Cluster<'_>) -> Result<()> {
    let (world, api) = (cluster.world(), cluster.world().api());
    quick(world)?;
    world.apply(&manifests::kubeconfig_secret(NAME, NAME, api.kubeconfig())).await?;
    world.apply(&manifests::authority_secret(NAME, NAME, api.pki().ca_pem())).await
}

/// What clusterctl generates from the flavour `topology`, with a network of this kind in place of the subnets that
/// exist.
async fn generate(cluster: &Cluster<'_>, managed: Value) -> Result<Vec<Value>> {
    let provider = format!("--infrastructure=foo:{RELEASE}");
    let (version, namespace) =
        (format!("--kubernetes-version={}", manifests::VERSION), format!("--target-namespace={NAME}"));
    let args = ["generate", "cluster", NAME, "--flavor=topology", "--worker-machine-count=3"];
    let args = args.into_iter().chain([provider.as_str(), &version, &namespace]);
    let yaml = cluster.world().rig().clusterctl(args).await?;
    let mut objects: Vec<Value> = serde_saphyr::from_multiple(&yaml)?;
    let found = objects.iter_mut().find(|object| text(object, "/kind") == "Cluster");
    let variables = found.and_then(|cluster| cluster.pointer_mut("/spec/topology/variables"));
    let variables = variables.and_then(Value::as_array_mut).context("no variables")?;
    let own = [
        ("networkMode", json!("Managed")),
        ("managedNetwork", managed),
        ("kubeconfigSecret", json!(manifests::existing_kubeconfig(NAME))),
    ];
    let replaced =
        |name: &str| ["subnets", "securityGroups"].contains(&name) || own.iter().any(|(own, _)| *own == name);
    variables.retain(|variable| !replaced(text(variable, "/name")));
    variables.extend(own.map(|(name, value)| json!({"name": name, "value": value})));
    Ok(objects)
}

/// Its only pool, once the topology controller has made it.
async fn pool<'w>(cluster: &Cluster<'w>) -> Result<Pool<'w>> {
    let client = || cluster.world().client();
    wait_until("the pool of the topology", SOON_IN_AWS, async || {
        let own = kinds::list(client(), Kind::FooMachinePool, NAME, "").await?;
        let cores = kinds::list(client(), Kind::MachinePool, NAME, "").await?;
        Ok(match (cores.first(), own.first()) {
            (Some(core), Some(our)) => {
                Probe::Done(cluster.topology_pool(text(core, "/metadata/name"), text(our, "/metadata/name")))
            }
            _ => Probe::NotYet(format!("{:?}", cluster.read(Kind::Cluster).await?)),
        })
    })
    .await
}

#[test]
fn a_cluster_of_the_class_gets_a_network_by_a_variable_and_leaves_none() {
    // User data is written by the kubeadm bootstrap provider.
    let options = WorldOptions { kubeadm_bootstrap: true, ..WorldOptions::default() };
    play_alone(options, async |world| {
        let cluster = world.no_cluster(NAME).await?;
        prepare(&cluster).await?;
        for object in generate(&cluster, json!({"tags": {"team": "platform"}})).await? {
            world.apply(&object).await?;
        }
        let workers = pool(&cluster).await?;
        workers.settles_within(3, SOON_IN_AWS).await?;
        cluster.is_provisioned().await?;
        wait_until("the topology to be as requested", SOON_IN_AWS, async || {
            let object = cluster.read(Kind::Cluster).await?.context("no Cluster")?;
            let reconciled = condition(&object, "TopologyReconciled");
            let done = reconciled.is_some_and(|(status, ..)| status == "True");
            Ok(Probe::when(done, || format!("{reconciled:?}")))
        })
        .await?;
        // All defaults: three zones, a NAT gateway in each, nodes in all of them.
        let parts = network(&cluster)?;
        has_one_of_each(&parts, 3, 3)?;
        let tagged = parts.subnets.values().all(|it| it.tags.get("team").is_some_and(|it| it == "platform"));
        ensure!(tagged, "{:#?}", parts.subnets);
        let zones = zones(world, &workers);
        ensure!(zones.len() == 3, "{zones:?}");

        cluster.delete().await?;
        cluster.is_gone(SOON_IN_AWS).await?;
        let left = ids(&network(&cluster)?);
        ensure!(left.is_empty(), "left in AWS: {left:?}");
        Ok(())
    });
}
