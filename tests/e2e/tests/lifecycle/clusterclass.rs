//! docs/operations/clusterclass.md, with the topology controller, the kubeadm bootstrap provider, instances and Nodes.

use super::released::versions;
use anyhow::{Context as _, Result, ensure};
use foo_e2e::document::Reader;
use foo_simulator::core::catalogue::IMAGE_X86_64_NEWER;
use foo_testbed::world::kinds::{self, Kind, condition, text};
use foo_testbed::world::{
    AFTER_DRAIN, Cluster, IMAGE, Pool, QUIET_PERIOD, SECURITY_GROUP, SOON, SUBNETS, World, WorldOptions,
    manifests,
};
use foo_testbed::{Probe, nothing_happens, until_quiet, wait_until};
use serde_json::{Value, json};

const PAGE: &str = "docs/operations/clusterclass.md";
/// What kubelets of the two images report. The API server is v1.36.3.
const VERSION: &str = "v1.36.2-eks-0a1b2c3";
const NEXT_VERSION: &str = "v1.36.3-eks-4d5e6f7";

/// The pool of that name in the topology, once it is there.
async fn pool_of<'w>(cluster: &Cluster<'w>, name: &str) -> Result<Pool<'w>> {
    let label = format!("topology.cluster.x-k8s.io/pool-name={name}");
    let waiting = format!("pool {name}");
    wait_until(&waiting, SOON, async || {
        let client = || cluster.world().client();
        let own = kinds::list(client(), Kind::FooMachinePool, cluster.namespace(), &label).await?;
        let cores = kinds::list(client(), Kind::MachinePool, cluster.namespace(), &label).await?;
        Ok(match (cores.first(), own.first()) {
            (Some(core), Some(our)) => {
                Probe::Done(cluster.topology_pool(text(core, "/metadata/name"), text(our, "/metadata/name")))
            }
            _ => Probe::NotYet(format!("{:?}", cluster.read(Kind::Cluster).await?)),
        })
    })
    .await
}

async fn foo_pool_has(pool: &Pool<'_>, pointer: &str, value: &Value) -> Result<()> {
    pool.wait(&format!("{pointer} to be {value}"), SOON, |view| {
        view.foo_pool.as_ref().and_then(|pool| pool.pointer(pointer)) == Some(value)
    })
    .await
    .map(drop)
}

/// Nothing is written, even when the topology controller has compared everything with a dry run again.
async fn is_quiet(cluster: &Cluster<'_>, touch: &str) -> Result<()> {
    let world = cluster.world();
    let written = async || versions(world, cluster.namespace()).await;
    let last = until_quiet("all writes to have ended", 2 * QUIET_PERIOD, SOON, written).await?;
    cluster.patch(Kind::Cluster, &json!({"metadata": {"annotations": {"foo.test/touch": touch}}})).await?;
    nothing_happens("written although nothing changed", QUIET_PERIOD, async || {
        let now = written().await?;
        Ok(Probe::when(now == last, || format!("{last:#?}\n{now:#?}")))
    })
    .await
}

async fn refusal(follower: &Reader<'_>, heading: &str) -> String {
    follower.follow(PAGE, heading).await.err().map(|error| format!("{error:#}")).unwrap_or_default()
}

async fn the_page_works(world: &World, follower: &Reader<'_>, cluster: &Cluster<'_>) -> Result<()> {
    follower.follow(PAGE, "The authority").await?;
    follower.follow(PAGE, "A Cluster of the class").await?;
    let workers = pool_of(cluster, "workers").await?;
    let first = workers.settles_at(2).await?;
    is_quiet(cluster, "settled").await?;

    follower.follow(PAGE, "Add a pool").await?;
    let batch = pool_of(cluster, "batch").await?;
    batch.settles_at(1).await?;
    foo_pool_has(&batch, "/spec/mixedInstances/onDemandPercentage", &json!(0)).await?;
    follower.follow(PAGE, "Remove a pool").await?;
    batch.is_gone(AFTER_DRAIN).await?;

    follower.follow(PAGE, "Change a template").await?;
    foo_pool_has(&workers, "/spec/rollout/maxSurge", &json!(2)).await?;
    assert_eq!(workers.settles_at(2).await?.provider_ids(), first.provider_ids(), "no reason to roll");

    // Together with the next change, so that instances are replaced once.
    follower.follow(PAGE, "Change a variable").await?;
    foo_pool_has(&workers, "/spec/sshKeyName", &json!("operators")).await?;
    follower.follow(PAGE, "Upgrade Kubernetes").await?;
    let upgraded = |machine: &foo_testbed::world::MachineView| {
        let node = machine.node.as_ref();
        node.is_some_and(|node| text(node, "/status/nodeInfo/kubeletVersion") == NEXT_VERSION)
    };
    let rolled = workers.wait("to be upgraded", AFTER_DRAIN, |view| {
        let version = view.machine_pool.as_ref().map(|pool| text(pool, "/spec/template/spec/version"));
        version == Some(NEXT_VERSION) && view.is_settled_at(2) && view.machines.iter().all(upgraded)
    });
    let rolled = rolled.await?;
    ensure!(rolled.provider_ids().iter().all(|id| !first.provider_ids().contains(id)));
    is_quiet(cluster, "upgraded").await?;
    let object = cluster.read(Kind::Cluster).await?.context("no Cluster")?;
    let reconciled = condition(&object, "TopologyReconciled");
    ensure!(reconciled.is_some_and(|(status, ..)| status == "True"), "{reconciled:?}");
    ensure!(workers.replicas().await? == Some(2));
    world.check_nothing_forbidden()
}

/// A world with the kubeadm bootstrap provider, and kubelets whose versions have a suffix.
async fn start() -> Result<World> {
    let kubelet_versions =
        [(IMAGE, VERSION), (IMAGE_X86_64_NEWER, NEXT_VERSION)].map(|(a, b)| (a.to_owned(), b.to_owned()));
    let kubelet_versions = kubelet_versions.into();
    World::start(WorldOptions { kubeadm_bootstrap: true, kubelet_versions, ..WorldOptions::default() }).await
}

/// A reader of the page who creates a Cluster of that name, in a namespace of the same name, and of that version.
async fn follower<'w>(world: &'w World, cluster: &str, version: &str) -> Result<Reader<'w>> {
    let kubeconfig = manifests::kubeconfig_secret(cluster, cluster, world.api().kubeconfig());
    world.apply(&kubeconfig).await?;
    let follower = Reader::of_release(world).await?;
    let subnets = SUBNETS.map(|id| format!("{{id: {id}}}")).join(", ");
    let variables = format!(
        "export CLUSTER={cluster} NAMESPACE={cluster} VERSION={version} NEXT_VERSION={NEXT_VERSION}\n\
         export NEXT_AMI_ID={IMAGE_X86_64_NEWER} AWS_REGION={} FOO_SUBNETS='[{subnets}]'\n\
         export FOO_SECURITY_GROUPS='[{{id: {SECURITY_GROUP}}}]' FOO_AMI_ID={IMAGE}\n\
         export FOO_INSTANCE_PROFILE=nodes.foo.com FOO_KUBECONFIG_SECRET={}",
        foo_testbed::world::REGION,
        manifests::existing_kubeconfig(cluster),
    );
    follower.run(&variables).await?;
    Ok(follower)
}

#[test]
fn the_page_on_cluster_classes_works_from_the_first_pool_to_an_upgrade() {
    foo_e2e::alone(async || {
        let world = start().await?;
        let cluster = world.no_cluster("classy").await?;
        let follower = follower(&world, "classy", VERSION).await?;
        let result = the_page_works(&world, &follower, &cluster).await;
        if result.is_err() {
            world.rig().keep_folder();
        }
        result
    });
}

/// Why the page has that.
#[test]
fn a_topology_with_a_plain_version_is_stuck_with_kubelets_that_have_a_suffix() {
    foo_e2e::alone(async || {
        let world = start().await?;
        let cluster = world.no_cluster("plain").await?;
        let follower = follower(&world, "plain", "v1.36.2").await?;
        let work = async {
            follower.follow(PAGE, "The authority").await?;
            follower.follow(PAGE, "A Cluster of the class").await?;
            pool_of(&cluster, "workers").await?.settles_at(2).await?;
            follower.follow(PAGE, "Change a variable").await?;
            let refused = refusal(&follower, "Upgrade Kubernetes").await;
            ensure!(refused.contains("completing a previous upgrade"), "{refused}");
            let workers = pool_of(&cluster, "workers").await?;
            let before = workers.settles_at(2).await?;
            follower.follow(PAGE, "Versions with a suffix").await?;
            wait_until("the control plane to have the whole version", AFTER_DRAIN, async || {
                let object = cluster.read(Kind::Cluster).await?.context("no Cluster")?;
                let control_plane = text(&object, "/spec/controlPlaneRef/name");
                let of = Kind::FooControlPlane;
                let found = kinds::read(world.client(), of, "plain", control_plane).await?;
                let found = found.context("no FooControlPlane")?;
                let reconciled = condition(&object, "TopologyReconciled");
                let done = text(&found, "/spec/version") == NEXT_VERSION
                    && reconciled.is_some_and(|(status, ..)| status == "True");
                Ok(Probe::when(done, || format!("{reconciled:?}")))
            })
            .await?;
            let after = workers.settles_at(2).await?;
            ensure!(after.provider_ids().iter().all(|id| !before.provider_ids().contains(id)));
            Ok(())
        };
        let result = work.await;
        if result.is_err() {
            world.rig().keep_folder();
        }
        result
    });
}

/// The right that the release gives a manager of Cluster API's.
#[test]
fn without_the_released_role_the_bootstrap_provider_writes_no_user_data() {
    foo_e2e::alone(async || {
        let world = start().await?;
        let cluster = world.no_cluster("bound").await?;
        let follower = follower(&world, "bound", VERSION).await?;
        let binding = ["get", "clusterrolebinding", "foo-kubeadm-bootstrap", "--output=json"];
        let mut binding: Value = serde_json::from_str(&world.api().kubectl(binding).await?)?;
        world.api().kubectl(["delete", "clusterrolebinding", "foo-kubeadm-bootstrap"]).await?;

        follower.follow(PAGE, "The authority").await?;
        follower.follow(PAGE, "A Cluster of the class").await?;
        let log = world.rig().folder().join("capi/kubeadm-bootstrap.log");
        wait_until("the bootstrap provider to be refused", SOON, async || {
            let log = std::fs::read_to_string(&log)?;
            let refused = log.lines().find(|line| line.contains("failed to read control plane version"));
            let seen =
                refused.is_some_and(|line| line.contains("foocontrolplanes") && line.contains("forbidden"));
            Ok(Probe::when(seen, || format!("{refused:?}")))
        })
        .await?;
        let workers = pool_of(&cluster, "workers").await?;
        let secret = "/spec/template/spec/bootstrap/dataSecretName";
        let view = workers.view().await?;
        ensure!(view.machine_pool.as_ref().is_some_and(|pool| text(pool, secret).is_empty()), "{view}");

        if let Some(metadata) = binding["metadata"].as_object_mut() {
            metadata.retain(|key, _| ["name", "labels"].contains(&key.as_str()));
        }
        world.apply(&binding).await?;
        workers.settles_at(2).await.map(drop)
    });
}
