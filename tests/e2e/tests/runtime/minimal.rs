//! crates/runtime-sdk/examples/minimal.rs, as a process of its own: what a reader of the example gets. And two of it, of
//! which one dies.

use crate::served::{certify, register};
use crate::stage::{CLUSTER, Kind, Stage, on_stage};
use crate::topology;
use anyhow::{Context as _, Result, ensure};
use foo_testbed::world::kinds::text;
use foo_testbed::{Probe, Process, free_port, wait_until};
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

const PROGRAM: &str = env!("CARGO_BIN_EXE_foo-minimal-extension");
const READY: Duration = Duration::from_secs(10);
const MISSING: &str = "the annotation example.com/owner is missing";
const POOL: Kind = Kind("infrastructure.foo.com", "v1alpha1", "FooMachinePool");

/// One process of the example.
struct Replica {
    process: Process,
    port: u16,
    _folder: TempDir,
}

impl Replica {
    async fn start(stage: &Stage) -> Result<Self> {
        let (folder, port) = (tempfile::tempdir()?, free_port()?);
        certify(stage.rig().api().pki(), &folder)?;
        let path = |name: &str| folder.path().join(name).display().to_string();
        let args = [format!("127.0.0.1:{port}"), path("tls.crt"), path("tls.key")];
        let process = Process::start("minimal", Path::new(PROGRAM), args, &[], &folder.path().join("log"))?;
        wait_until("the example to listen", READY, async || {
            process.check_running()?;
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
            Ok(Probe::Done(()))
        })
        .await?;
        Ok(Self { process, port, _folder: folder })
    }
}

/// A Service before some ports: connections go to them in turn, whether somebody is there or not, as they do until the
/// dead one's readiness probe has failed.
async fn service(ports: Vec<u16>) -> Result<(u16, JoinSet<()>)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, free_port()?)).await?;
    let port = listener.local_addr()?.port();
    let turn = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((mut client, _from)) = listener.accept().await {
            let next = turn.fetch_add(1, Ordering::Relaxed);
            let Some(&port) = ports.get(next % ports.len()) else { return };
            connections.spawn(async move {
                if let Ok(mut server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await {
                    drop(copy_bidirectional(&mut client, &mut server).await);
                }
            });
        }
    });
    Ok((port, tasks))
}

/// The class with a pool, whose template the example patches, and a Cluster of it that lacks its owner.
async fn ownerless_cluster(stage: &Stage, name: &str) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/crd");
    for file in ["foomachinepools", "foomachinepooltemplates"] {
        let path = root.join(format!("infrastructure.foo.com_{file}.yaml"));
        let crd = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        stage.rig().api().apply(&crd).await?;
    }
    stage.namespace(name).await?;
    let pool = json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooMachinePoolTemplate",
        "metadata": {"name": topology::CLASS, "namespace": name},
        "spec": {"template": {"spec": {
            "instanceType": "m7i.large", "ami": {"id": "ami-0a000000000000001"}, "tags": {"team": "a"},
        }}},
    });
    stage.apply(&pool).await?;
    topology::class(stage, name, |class| {
        let mut pools = class["spec"]["workers"]["machineDeployments"].clone();
        pools[0]["infrastructure"]["templateRef"] = json!({
            "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooMachinePoolTemplate", "name": topology::CLASS,
        });
        class["spec"]["workers"]["machinePools"] = pools;
        let external = json!({"generatePatchesExtension": format!("tags.{name}")});
        class["spec"]["patches"] = json!([{"name": "tags", "external": external}]);
    })
    .await?;
    topology::cluster(stage, name, name, |cluster| {
        cluster["spec"]["topology"]["workers"] =
            json!({"machinePools": [{"class": "workers", "name": "pool", "replicas": 0}]});
    })
    .await?;
    let blocked = topology::says(stage, name, name, &["BeforeClusterCreate", MISSING]).await?;
    ensure!(!topology::is_created(&blocked), "{blocked:#}");
    Ok(())
}

/// It gets its owner; its pool gets the tag, beside those of the template.
async fn goes_on_with_an_owner(stage: &Stage, name: &str) -> Result<()> {
    let owner = json!({"metadata": {"annotations": {"example.com/owner": "team-a"}}});
    stage.patch(CLUSTER, name, name, &owner).await?;
    wait_until("a tagged pool", foo_testbed::world::SOON, async || {
        let pools = stage.list(POOL, name).await?;
        let tags = pools.first().and_then(|pool| pool.pointer("/spec/tags")).unwrap_or(&Value::Null);
        let tagged = text(tags, "/example.com~1managed") == "true" && text(tags, "/team") == "a";
        Ok(Probe::when(tagged, || format!("{pools:?}")))
    })
    .await
}

#[test]
fn the_example_of_the_library_holds_a_cluster_and_patches_its_pools() {
    on_stage(async |stage| {
        let replica = Replica::start(stage).await?;
        register(stage, "minimal", replica.port).await?;
        ownerless_cluster(stage, "minimal").await?;
        goes_on_with_an_owner(stage, "minimal").await
    });
}

#[test]
fn of_two_replicas_one_dies_and_no_cluster_is_lost() {
    on_stage(async |stage| {
        let (first, second) = (Replica::start(stage).await?, Replica::start(stage).await?);
        let (port, _service) = service(vec![first.port, second.port]).await?;
        register(stage, "replicas", port).await?;
        ownerless_cluster(stage, "replicas").await?;
        first.process.kill();
        goes_on_with_an_owner(stage, "replicas").await?;
        second.process.check_running()
    });
}
