//! A server with certificates of its own, and a client that trusts them.

use bytes::Bytes;
use foo_runtime_sdk::Extension;
use foo_runtime_sdk::metrics::Metrics;
use foo_runtime_sdk::server::{Files, Options, Server};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_util::sync::CancellationToken;

/// Who signs, and a certificate for `localhost`.
pub(crate) struct Authority {
    root: Arc<CertifiedIssuer<'static, KeyPair>>,
    leaf: (String, String),
    client: Option<(CertificateDer<'static>, PrivateKeyDer<'static>)>,
}

fn signed(root: &CertifiedIssuer<'static, KeyPair>) -> (rcgen::Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, root).unwrap();
    (certificate, key)
}

impl Authority {
    /// A new one.
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let root = Arc::new(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap());
        let (certificate, key) = signed(&root);
        Self { leaf: (certificate.pem(), key.serialize_pem()), root, client: None }
    }

    /// Trusts the same servers, and shows a certificate of `clients`.
    pub(crate) fn with_client(&self, clients: &Self) -> Self {
        let (certificate, key) = signed(&clients.root);
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        Self {
            root: Arc::clone(&self.root),
            leaf: self.leaf.clone(),
            client: Some((certificate.der().clone(), key)),
        }
    }

    fn client_config(&self) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        match &self.client {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                builder.with_client_auth_cert(vec![certificate.clone()], key.clone_key()).unwrap()
            }
        }
    }
}

/// A server that runs.
pub(crate) struct Running {
    /// Its counters.
    pub(crate) metrics: Arc<Metrics>,
    address: SocketAddr,
    admin: SocketAddr,
    files: TempDir,
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl Running {
    /// On free ports of loopback.
    pub(crate) async fn start(
        extension: Extension,
        authority: &Authority,
        clients: Option<&Authority>,
    ) -> Self {
        let files = tempfile::tempdir().unwrap();
        let path = |name: &str| files.path().join(name);
        std::fs::write(path("tls.crt"), &authority.leaf.0).unwrap();
        std::fs::write(path("tls.key"), &authority.leaf.1).unwrap();
        let client_authorities: Option<PathBuf> = clients.map(|clients| {
            std::fs::write(path("clients.crt"), clients.root.pem()).unwrap();
            path("clients.crt")
        });
        let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
        let options = Options {
            address: loopback,
            admin_address: Some(loopback),
            tls: Files { certificate: path("tls.crt"), key: path("tls.key"), client_authorities },
            grace: Duration::from_secs(30),
        };
        let server = Server::bind(extension, options).await.unwrap();
        let (address, admin) = (server.address().unwrap(), server.admin_address().unwrap().unwrap());
        let metrics = server.metrics();
        let stop = CancellationToken::new();
        let task = tokio::spawn(server.run(stop.clone().cancelled_owned()));
        Self { metrics, address, admin, files, stop, task }
    }

    /// Another certificate, while its key is still the old one.
    pub(crate) fn write_certificate(&self, authority: &Authority) {
        std::fs::write(self.files.path().join("tls.crt"), &authority.leaf.0).unwrap();
    }

    /// The key of the other certificate.
    pub(crate) fn write_key(&self, authority: &Authority) {
        std::fs::write(self.files.path().join("tls.key"), &authority.leaf.1).unwrap();
    }

    /// Status of a probe; 0 without a response.
    pub(crate) async fn probe(&self, path: &str) -> u16 {
        let Ok(stream) = TcpStream::connect(self.admin).await else { return 0 };
        let request = hyper::Request::get(path).header("host", "localhost").body(Full::default()).unwrap();
        send(stream, request).await.map_or(0, |(status, _body)| status)
    }

    /// Stops it.
    pub(crate) fn begin_to_stop(&self) {
        self.stop.cancel();
    }

    /// Stops it and waits until it has.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }
}

/// A call as core sends it: its own connection, trusting the authority's root.
pub(crate) async fn post(
    running: &Running,
    authority: &Authority,
    path: &str,
    body: Vec<u8>,
) -> Result<(u16, Value), Box<dyn Error + Send + Sync>> {
    let stream = TcpStream::connect(running.address).await?;
    let connector = TlsConnector::from(Arc::new(authority.client_config()));
    let stream = connector.connect(ServerName::try_from("localhost")?, stream).await?;
    let request =
        hyper::Request::post(path).header("host", "localhost").body(Full::new(Bytes::from(body)))?;
    let (status, body) = send(stream, request).await?;
    Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
}

async fn send(
    stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    request: hyper::Request<Full<Bytes>>,
) -> Result<(u16, Bytes), Box<dyn Error + Send + Sync>> {
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let driving = tokio::spawn(connection);
    let response = sender.send_request(request).await?;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await?.to_bytes();
    drop(sender);
    driving.abort();
    Ok((status, body))
}
