//! How fast our extension answers for a topology of 100 pools, and what memory it takes: `make bench` prints it. Nothing here
//! fails for being slow.
//!
//! The server is this program once more, as a process of its own, with a simulated AWS inside: the memory of that is counted, too.

use async_trait::async_trait;
use foo_cloud::Cloud;
use foo_runtime_extension::clouds::{Clouds, Connect};
use foo_runtime_extension::settings::Access;
use foo_runtime_sdk::hooks::path;
use foo_runtime_sdk::server::{Files, Options, Server};
use foo_simulator::core::catalogue::IMAGE_X86_64;
use foo_simulator::core::network::PRIVATE_SUBNETS;
use foo_simulator::{DEFAULT_REGION, Simulator, SimulatorConfig};
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

struct Simulated(Simulator);

#[async_trait]
impl Connect for Simulated {
    async fn connect(&self, _: &Access, region: &str) -> anyhow::Result<Arc<dyn Cloud>> {
        Ok(Arc::new(self.0.cloud(region, "own")))
    }
}

/// Serves on free ports, which it prints, until it is killed.
async fn serve(folder: &Path) -> Fallible<()> {
    let options = Options {
        address: SocketAddr::from(([127, 0, 0, 1], 0)),
        admin_address: None,
        tls: Files {
            certificate: folder.join("tls.crt"),
            key: folder.join("tls.key"),
            client_authorities: None,
        },
        grace: Duration::from_secs(1),
    };
    let aws = Simulator::new(SimulatorConfig::scaled(1.0));
    let extension = foo_runtime_extension::extension(Clouds::new(Arc::new(Simulated(aws))))?;
    let server = Server::bind(extension, options).await?;
    println!("{}", server.address()?);
    server.run(std::future::pending()).await;
    Ok(())
}

/// What core sends: the templates of a Cluster with this many pools, two for each, and one for the cluster.
fn topology() -> Bytes {
    let template = |uid: String, api_version: &str, kind: &str, spec: Value, own: Value| {
        json!({
            "uid": uid, "holderReference": {"kind": "MachinePool", "namespace": "n", "name": "pool"},
            "object": {
                "apiVersion": api_version, "kind": kind, "metadata": {"name": "pool", "namespace": "n"},
                "spec": {"template": {"spec": spec}},
            },
            "variables": own,
        })
    };
    let ours = "infrastructure.foo.com/v1alpha1";
    let subnets: Vec<Value> = PRIVATE_SUBNETS.iter().map(|id| json!({"id": id})).collect();
    let network = json!({"region": DEFAULT_REGION, "network": {"subnets": subnets}});
    let mut items = vec![template("cluster".to_owned(), ours, "FooClusterTemplate", network, json!([]))];
    for pool in 0..POOLS {
        let spec = json!({"instanceType": "m7i.large", "ami": {"id": IMAGE_X86_64}, "subnets": subnets});
        let builtin = json!({"machinePool": {
            "topologyName": format!("pool-{pool}"), "replicas": 3, "version": "v1.36.3",
        }});
        let own = json!([
            {"name": "builtin", "value": builtin}, {"name": "tags", "value": {"pool": format!("pool-{pool}")}},
        ]);
        items.push(template(format!("pool-{pool}"), ours, "FooMachinePoolTemplate", spec, own));
        // User data as long as it usually is.
        let config = json!({"files": [{"path": "/etc/motd", "content": "x".repeat(8 << 10)}]});
        let kubeadm = "bootstrap.cluster.x-k8s.io/v1beta2";
        items.push(template(format!("config-{pool}"), kubeadm, "KubeadmConfigTemplate", config, json!([])));
    }
    let cluster = json!({"cluster": {"name": "c", "namespace": "n", "topology": {"version": "v1.36.3"}}});
    let variables = json!([
        {"name": "builtin", "value": cluster}, {"name": "region", "value": DEFAULT_REGION},
        {"name": "subnets", "value": subnets}, {"name": "instanceProfile", "value": "nodes"},
        {"name": "kubeconfigSecret", "value": "external"}, {"name": "instanceType", "value": "m7i.large"},
        {"name": "images", "value": [{"version": "v1.36.3", "id": IMAGE_X86_64}]},
    ]);
    let settings = json!({"identities": "default=own"});
    Bytes::from(json!({"settings": settings, "variables": variables, "items": items}).to_string())
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
    connection.call(&path("DiscoverVariables", Some("variables")), &Bytes::from_static(b"{}")).await?;
    println!("from start to the first answer: {:.1?}", began.elapsed());

    let topology = topology();
    println!("a topology of {POOLS} pools: {} KiB", topology.len() >> 10);
    for (hook, handler) in [("GeneratePatches", "patches"), ("ValidateTopology", "validation")] {
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
    let path = path("ValidateTopology", Some("validation"));
    let rounds = connections.iter_mut().map(async |connection| connection.call(&path, &topology).await);
    let took = futures::future::try_join_all(rounds).await?;
    println!("{CONCURRENT} connections, {} calls: {:.1?}", took.len(), began.elapsed());
    print("ValidateTopology, all at once", took);
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
