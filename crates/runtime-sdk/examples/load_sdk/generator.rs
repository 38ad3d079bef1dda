//! Calls an extension as core calls it, HTTPS on kept connections, and prints how long responses took and what memory
//! it needed. The server is the program once more, as a process of its own: then its memory is its own.

use foo_runtime_sdk::Extension;
use foo_runtime_sdk::hooks::path;
use foo_runtime_sdk::server::{Files, Options, Server};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

pub(crate) type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Pools of the topology that is sent.
pub(crate) const POOLS: usize = 100;
/// Calls of each hook, one after the other.
const CALLS: usize = 500;
/// Connections that call at the same time.
const CONCURRENT: usize = 200;

/// The folder with the certificate, if this process is the server.
pub(crate) fn folder() -> Option<PathBuf> {
    std::env::args().nth(1).map(PathBuf::from)
}

/// Serves an extension on a free port, which it prints, until it is killed.
pub(crate) async fn serve(extension: Extension, folder: &Path) -> Fallible<()> {
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
    let server = Server::bind(extension, options).await?;
    println!("{}", server.address()?);
    server.run(std::future::pending()).await;
    Ok(())
}

/// The server, as its callers see it. Dropping it ends it.
pub(crate) struct Served {
    began: Instant,
    process: Child,
    address: SocketAddr,
    tls: Arc<ClientConfig>,
    _folder: TempDir,
}

impl Served {
    /// Starts it and waits until it listens.
    pub(crate) fn start() -> Fallible<Self> {
        let folder = tempfile::tempdir()?;
        let tls = certify(folder.path())?;
        let began = Instant::now();
        let mut command = Command::new(std::env::current_exe()?);
        let mut process = command.arg(folder.path()).stdout(Stdio::piped()).spawn()?;
        let mut address = String::new();
        BufReader::new(process.stdout.take().ok_or("no output")?).read_line(&mut address)?;
        let address = address.trim().parse()?;
        Ok(Self { began, process, address, tls, _folder: folder })
    }

    /// The first call: prints how long after the start it gets a response.
    pub(crate) async fn first(&self, (hook, handler): (&str, &str), body: &Bytes) -> Fallible<()> {
        Connection::open(self).await?.call(&path(hook, Some(handler)), body).await?;
        println!("from start to the first response: {:.1?}", self.began.elapsed());
        Ok(())
    }

    /// Calls GeneratePatches and ValidateTopology by the names of their handlers, one call after the other.
    pub(crate) async fn one_by_one(&self, patches: &str, validation: &str, topology: &Bytes) -> Fallible<()> {
        println!("a topology of {POOLS} pools: {} KiB", topology.len() >> 10);
        let mut connection = Connection::open(self).await?;
        for (hook, handler) in [("GeneratePatches", patches), ("ValidateTopology", validation)] {
            let path = path(hook, Some(handler));
            let mut took = Vec::new();
            for _ in 0..CALLS {
                took.push(connection.call(&path, topology).await?);
            }
            print(hook, took);
        }
        println!("peak memory after calls one by one: {}", self.peak()?);
        Ok(())
    }

    /// Calls one hook on many connections at the same time, `each` calls on each.
    pub(crate) async fn all_at_once(
        &self,
        (hook, handler): (&str, &str),
        body: &Bytes,
        each: usize,
    ) -> Fallible<()> {
        let mut connections = Vec::new();
        for _ in 0..CONCURRENT {
            connections.push(Connection::open(self).await?);
        }
        let path = path(hook, Some(handler));
        let began = Instant::now();
        let rounds = connections.iter_mut().map(async |connection| {
            let mut took = Vec::new();
            for _ in 0..each {
                took.push(connection.call(&path, body).await?);
            }
            Fallible::Ok(took)
        });
        let took = futures::future::try_join_all(rounds).await?.concat();
        println!("{CONCURRENT} connections, {} calls: {:.1?}", took.len(), began.elapsed());
        print(&format!("{hook}, all at once"), took);
        println!("peak memory at the end: {}", self.peak()?);
        Ok(())
    }

    /// Peak of its resident memory.
    fn peak(&self) -> Fallible<String> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).ok_or("no VmHWM")?;
        Ok(line.trim_start_matches("VmHWM:").trim().to_owned())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself; then there is no process to kill.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// One kept connection.
struct Connection(SendRequest<Full<Bytes>>);

impl Connection {
    async fn open(server: &Served) -> Fallible<Self> {
        let stream = TcpStream::connect(server.address).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from("localhost")?;
        let stream = TlsConnector::from(Arc::clone(&server.tls)).connect(name, stream).await?;
        let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self(sender))
    }

    /// How long a response took; an error unless it is a `Success`.
    async fn call(&mut self, path: &str, body: &Bytes) -> Fallible<Duration> {
        let began = Instant::now();
        let request = hyper::Request::post(path).header("host", "localhost").body(Full::new(body.clone()))?;
        self.0.ready().await?;
        let response = self.0.send_request(request).await?;
        let response = response.into_body().collect().await?.to_bytes();
        let took = began.elapsed();
        let response: Value = serde_json::from_slice(&response)?;
        if response.get("status").is_some_and(|status| status == "Success") {
            Ok(took)
        } else {
            Err(response.to_string().into())
        }
    }
}

fn print(what: &str, mut took: Vec<Duration>) {
    took.sort();
    let at =
        |share: usize| took.get((took.len() * share / 100).min(took.len() - 1)).copied().unwrap_or_default();
    println!("{what}: {} calls, p50 {:.1?}, p99 {:.1?}", took.len(), at(50), at(99));
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
