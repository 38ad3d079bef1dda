//! crates/runtime-sdk/examples/minimal.rs, as a process of its own: what a reader of the example gets. And two of it,
//! of which one is killed.

use super::management::{CLUSTER, Kind, Management, on_management};
use super::served::{certify, register};
use super::topology;
use anyhow::{Context as _, Result, ensure};
use foo_testbed::world::SOON;
use foo_testbed::world::kinds::text;
use foo_testbed::{Probe, Process, Signal, free_port, wait_until};
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
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
    async fn start(management: &Management) -> Result<Self> {
        let (folder, port) = (tempfile::tempdir()?, free_port()?);
        certify(management.rig().api().pki(), &folder)?;
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

/// Which replicas a Service sends calls to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    /// Each connection to the next one, whether it runs or not, as until the readiness probe of the killed one has
    /// failed.
    InTurn,
    /// All to the first one; connections to others end.
    First,
}

/// A Service before some ports.
struct Service {
    port: u16,
    route: watch::Sender<Route>,
    /// Bytes that the first one was sent.
    to_first: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl Service {
    async fn start(ports: Vec<u16>) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, free_port()?)).await?;
        let port = listener.local_addr()?.port();
        let (route, routes) = watch::channel(Route::InTurn);
        let to_first = Arc::new(AtomicUsize::new(0));
        let sent = Arc::clone(&to_first);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut open = JoinSet::new();
            for turn in (0..ports.len()).cycle() {
                let Ok((client, _from)) = listener.accept().await else { return };
                let number = if *routes.borrow() == Route::First { 0 } else { turn };
                let Some(&port) = ports.get(number) else { return };
                let sent = (number == 0).then(|| Arc::clone(&sent));
                let mut routes = routes.clone();
                open.spawn(async move {
                    let elsewhere = async {
                        drop(routes.wait_for(|route| *route == Route::First && number != 0).await);
                    };
                    tokio::select! {
                        _ended = relay(client, port, sent) => {}
                        () = elsewhere => {}
                    }
                });
            }
        });
        Ok(Self { port, route, to_first, _tasks: tasks })
    }
}

/// A connection until one side ends it; counts what the client sends.
async fn relay(mut client: TcpStream, port: u16, sent: Option<Arc<AtomicUsize>>) -> std::io::Result<()> {
    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    let (mut from_server, mut to_server) = server.split();
    let (mut from_client, mut to_client) = client.split();
    let requests = async {
        let mut part = vec![0; 16 << 10];
        loop {
            let length = from_client.read(&mut part).await?;
            if length == 0 {
                return Ok(());
            }
            to_server.write_all(&part[..length]).await?;
            if let Some(sent) = &sent {
                sent.fetch_add(length, Ordering::SeqCst);
            }
        }
    };
    tokio::select! {
        ended = requests => ended,
        ended = tokio::io::copy(&mut from_server, &mut to_client) => ended.map(drop),
    }
}

/// The class with a pool, whose template the example patches, and a Cluster of it that lacks its owner.
async fn ownerless_cluster(management: &Management, name: &str) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/crd");
    for file in ["foomachinepools", "foomachinepooltemplates"] {
        let path = root.join(format!("infrastructure.foo.com_{file}.yaml"));
        let crd = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        management.rig().api().apply(&crd).await?;
    }
    management.namespace(name).await?;
    let pool = json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooMachinePoolTemplate",
        "metadata": {"name": topology::CLASS, "namespace": name},
        "spec": {"template": {"spec": {
            "instanceType": "m7i.large", "ami": {"id": "ami-0a000000000000001"}, "tags": {"team": "a"},
        }}},
    });
    management.apply(&pool).await?;
    topology::class(management, name, |class| {
        let mut pools = class["spec"]["workers"]["machineDeployments"].clone();
        pools[0]["infrastructure"]["templateRef"] = json!({
            "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooMachinePoolTemplate", "name": topology::CLASS,
        });
        class["spec"]["workers"]["machinePools"] = pools;
        let external = json!({"generatePatchesExtension": format!("tags.{name}")});
        class["spec"]["patches"] = json!([{"name": "tags", "external": external}]);
    })
    .await?;
    topology::cluster(management, name, name, |cluster| {
        cluster["spec"]["topology"]["workers"] =
            json!({"machinePools": [{"class": "workers", "name": "pool", "replicas": 0}]});
    })
    .await?;
    let blocked = topology::has_condition(management, name, name, &["BeforeClusterCreate", MISSING]).await?;
    ensure!(!topology::is_created(&blocked), "{blocked:#}");
    Ok(())
}

/// It gets its owner; its pool gets the tag, beside those of the template.
async fn continues_with_an_owner(management: &Management, name: &str) -> Result<()> {
    let owner = json!({"metadata": {"annotations": {"example.com/owner": "team-a"}}});
    management.patch(CLUSTER, name, name, &owner).await?;
    wait_until("a tagged pool", SOON, async || {
        let pools = management.list(POOL, name).await?;
        let tags = pools.first().and_then(|pool| pool.pointer("/spec/tags")).unwrap_or(&Value::Null);
        let tagged = text(tags, "/example.com~1managed") == "true" && text(tags, "/team") == "a";
        Ok(Probe::when(tagged, || format!("{pools:?}")))
    })
    .await
}

#[test]
fn the_example_of_the_library_blocks_a_cluster_and_patches_its_pools() {
    on_management(async |management| {
        let replica = Replica::start(management).await?;
        register(management, "minimal", replica.port).await?;
        ownerless_cluster(management, "minimal").await?;
        continues_with_an_owner(management, "minimal").await
    });
}

/// One of them is killed while a call waits for its response: it is frozen before, so that the call cannot end first.
#[test]
fn one_of_two_replicas_is_killed_during_a_call_and_no_cluster_is_lost() {
    on_management(async |management| {
        const NAME: &str = "replicas";
        let (first, second) = (Replica::start(management).await?, Replica::start(management).await?);
        let service = Service::start(vec![first.port, second.port]).await?;
        register(management, NAME, service.port).await?;
        ownerless_cluster(management, NAME).await?;
        first.process.signal(Signal::Freeze)?;
        service.route.send_replace(Route::First);
        let before = service.to_first.load(Ordering::SeqCst);
        // Core repeats the blocking call every 5 s.
        wait_until("a call without a response", SOON, async || {
            let sent = service.to_first.load(Ordering::SeqCst) - before;
            Ok(Probe::when(sent > 0, || format!("{sent} bytes")))
        })
        .await?;
        first.process.kill();
        ensure!(!first.process.is_running(), "the first replica outlived its end");
        service.route.send_replace(Route::InTurn);
        continues_with_an_owner(management, NAME).await?;
        second.process.check_running()
    });
}
