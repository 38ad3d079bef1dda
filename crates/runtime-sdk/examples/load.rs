//! How fast an extension answers, and what memory it takes: `make bench` prints it. Nothing here fails for being slow.
//!
//! The server is this program once more, as a process of its own: then its memory is its own. It is called as core calls
//! it: HTTPS on kept connections, a topology of 100 pools.

use foo_runtime_sdk::hooks::{
    BeforeClusterCreate, GeneratePatches, GeneratePatchesRequest, GeneratePatchesResponseItem,
    ValidateTopology, ValidateTopologyRequest, path,
};
use foo_runtime_sdk::server::{Files, Options, Server};
use foo_runtime_sdk::variables::Variables;
use foo_runtime_sdk::{Decision, Extension, Failure, Handler, Selector, patch};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

const POOLS: usize = 100;
const CALLS: usize = 500;
const CONCURRENT: usize = 200;
const OURS: Selector<'_> = Selector::of("infrastructure.foo.com", "FooMachinePoolTemplate");

async fn tags(request: GeneratePatchesRequest) -> Result<Vec<GeneratePatchesResponseItem>, Failure> {
    let mut patches = Vec::new();
    for item in request.items.iter().flatten().filter(|item| OURS.matches(&item.object)) {
        let owner: String = Variables::new(&item.variables, &request.variables).get("owner")?;
        let mut wanted = item.object.clone();
        if let Some(tags) = wanted.0.pointer_mut("/spec/template/spec/tags") {
            *tags = json!({"owner": owner});
        }
        patches.extend(patch::between(&item.object, &wanted)?.map(|patch| item.patched(patch)));
    }
    Ok(patches)
}

async fn typed(request: ValidateTopologyRequest) -> Result<(), Failure> {
    let items = request.items.unwrap_or_default();
    let mut ours = items.iter().filter(|item| OURS.matches(&item.object));
    let complete = ours.all(|item| item.object.at("/spec/template/spec/instanceType").is_some());
    if complete { Ok(()) } else { Err(Failure::new("a pool has no instance type")) }
}

/// Serves on free ports, which it prints, until it is killed.
async fn serve(folder: &Path) -> Fallible<()> {
    let free = SocketAddr::from(([127, 0, 0, 1], 0));
    let options = Options {
        address: free,
        admin_address: None,
        tls: Files {
            certificate: folder.join("tls.crt"),
            key: folder.join("tls.key"),
            client_authorities: None,
        },
        grace: Duration::from_secs(1),
    };
    let proceed = |_request| std::future::ready(Ok(Decision::Proceed));
    let handlers = [
        Handler::new(BeforeClusterCreate, "create", proceed),
        Handler::new(GeneratePatches, "tags", tags),
        Handler::new(ValidateTopology, "typed", typed),
    ];
    let server = Server::bind(Extension::new(handlers)?, options).await?;
    println!("{}", server.address()?);
    server.run(std::future::pending()).await;
    Ok(())
}

/// What core sends: the templates of a Cluster with so many pools, two for each.
fn topology() -> Bytes {
    let cluster = json!({"name": "builtin", "value": {"cluster": {"name": "c", "namespace": "n"}}});
    let item = |kind: &str, api_version: &str, pool: usize, spec: Value| {
        json!({
            "uid": format!("{kind}-{pool}"),
            "holderReference": {
                "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachinePool", "namespace": "n",
                "name": format!("pool-{pool}"), "fieldPath": "spec.template.spec.infrastructureRef",
            },
            "object": {
                "apiVersion": api_version, "kind": kind, "metadata": {"name": "pool", "namespace": "n"},
                "spec": {"template": {"spec": spec}},
            },
            "variables": [{"name": "builtin", "value": {"machinePool": {"topologyName": format!("pool-{pool}")}}}],
        })
    };
    let items = (0..POOLS).flat_map(|pool| {
        let subnets: Vec<Value> = (0..3).map(|zone| json!({"id": format!("subnet-{pool}-{zone}")})).collect();
        let ours =
            json!({"instanceType": "m7i.large", "ami": {"id": "ami-0"}, "subnets": subnets, "tags": {}});
        // User data as long as it usually is.
        let config = json!({"files": [{"path": "/etc/motd", "content": "x".repeat(8 << 10)}]});
        [
            item("FooMachinePoolTemplate", "infrastructure.foo.com/v1alpha1", pool, ours),
            item("KubeadmConfigTemplate", "bootstrap.cluster.x-k8s.io/v1beta2", pool, config),
        ]
    });
    let items: Vec<Value> = items.collect();
    let variables = json!([cluster, {"name": "owner", "value": "team-a"}]);
    Bytes::from(json!({"variables": variables, "items": items}).to_string())
}

/// One kept connection.
struct Connection(SendRequest<Full<Bytes>>);

impl Connection {
    async fn open(address: SocketAddr, tls: &Arc<ClientConfig>) -> Fallible<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from("localhost")?;
        let stream = TlsConnector::from(Arc::clone(tls)).connect(name, stream).await?;
        let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self(sender))
    }

    async fn call(&mut self, path: &str, body: &Bytes) -> Fallible<Duration> {
        let began = Instant::now();
        let request = hyper::Request::post(path).header("host", "localhost").body(Full::new(body.clone()))?;
        self.0.ready().await?;
        let response = self.0.send_request(request).await?;
        let answer = response.into_body().collect().await?.to_bytes();
        let took = began.elapsed();
        let answer: Value = serde_json::from_slice(&answer)?;
        if answer.get("status").is_some_and(|status| status == "Success") {
            Ok(took)
        } else {
            Err(answer.to_string().into())
        }
    }
}

fn print(what: &str, mut took: Vec<Duration>) {
    took.sort();
    let at =
        |share: usize| took.get((took.len() * share / 100).min(took.len() - 1)).copied().unwrap_or_default();
    println!("{what}: {} calls, p50 {:.1?}, p99 {:.1?}", took.len(), at(50), at(99));
}

/// Peak of the server's resident memory.
fn peak(server: &Child) -> Fallible<String> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id()))?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim_start_matches("VmHWM:").trim().to_owned())
}

/// Writes a certificate into a folder; returns who trusts it.
fn certify(folder: &Path) -> Fallible<Arc<ClientConfig>> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let key = KeyPair::generate()?;
    let certificate = CertificateParams::new(vec!["localhost".to_owned()])?.signed_by(&key, &authority)?;
    std::fs::write(folder.join("tls.crt"), certificate.pem())?;
    std::fs::write(folder.join("tls.key"), key.serialize_pem())?;
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone())?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

async fn measure(folder: &Path) -> Fallible<()> {
    let tls = certify(folder)?;
    let began = Instant::now();
    let mut command = Command::new(std::env::current_exe()?);
    let mut server = command.arg(folder).stdout(Stdio::piped()).spawn()?;
    let outcome = calls(&mut server, &tls, began).await;
    server.kill()?;
    server.wait()?;
    outcome
}

async fn calls(server: &mut Child, tls: &Arc<ClientConfig>, began: Instant) -> Fallible<()> {
    let mut address = String::new();
    BufReader::new(server.stdout.take().ok_or("no output")?).read_line(&mut address)?;
    let address: SocketAddr = address.trim().parse()?;
    let mut connection = Connection::open(address, tls).await?;
    let cluster = Bytes::from(json!({"cluster": {"metadata": {"name": "c", "namespace": "n"}}}).to_string());
    let create = path("BeforeClusterCreate", Some("create"));
    connection.call(&create, &cluster).await?;
    println!("from start to the first answer: {:.1?}", began.elapsed());

    let topology = topology();
    println!("a topology of {POOLS} pools: {} KiB", topology.len() >> 10);
    for (hook, handler) in [("GeneratePatches", "tags"), ("ValidateTopology", "typed")] {
        let path = path(hook, Some(handler));
        let mut took = Vec::new();
        for _ in 0..CALLS {
            took.push(connection.call(&path, &topology).await?);
        }
        print(hook, took);
    }
    println!("peak memory after calls one by one: {}", peak(server)?);

    let mut connections = Vec::new();
    for _ in 0..CONCURRENT {
        connections.push(Connection::open(address, tls).await?);
    }
    let began = Instant::now();
    let rounds = connections.iter_mut().map(async |connection| {
        let mut took = Vec::new();
        for _ in 0..10 {
            took.push(connection.call(&create, &cluster).await?);
        }
        Fallible::Ok(took)
    });
    let took = futures::future::try_join_all(rounds).await?.concat();
    println!("{CONCURRENT} connections, {} calls: {:.1?}", took.len(), began.elapsed());
    print("BeforeClusterCreate, all at once", took);
    println!("peak memory at the end: {}", peak(server)?);
    Ok(())
}

#[tokio::main]
async fn main() -> Fallible<()> {
    if let Some(folder) = std::env::args().nth(1) {
        return serve(Path::new(&folder)).await;
    }
    let folder = tempfile::tempdir()?;
    measure(folder.path()).await
}
