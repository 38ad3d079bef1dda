//! The server: HTTPS for core, and plain HTTP for probes and metrics on another port.
//!
//! It works without a Kubernetes client. What it bounds, and by how much:
//!
//! | | |
//! |---|---|
//! | body of a request | [`BODY_LIMIT`] |
//! | time to send a request's head, and to shake hands | [`HEAD_PATIENCE`] |
//! | connections at a time | [`CONNECTIONS`]; more wait |
//! | bodies that are read or handled at a time | [`ROOM`]; more calls wait, before their bodies are read |
//! | a handler | what it declared at discovery, the time that a call waited included |

mod room;
mod tls;

pub use room::ROOM;
pub use tls::{Files, PERIOD as CERTIFICATE_PERIOD, TlsError};

use crate::dispatch::{Dispatcher, Reply, go_duration};
use crate::extension::{Extension, Handler};
use crate::metrics::{Metrics, NO_HOOK};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, Method, Request, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use room::Room;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tls::Current;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Largest body of a request, in bytes. Core sets no bound of its own on what it sends; on what it reads it has one of
/// 20 MiB, which is taken here as well. A request of GeneratePatches has a Cluster's templates: two for the control
/// plane, one for the infrastructure and two for each pool, at most 1.5 MiB each in etcd, and 10 KiB as a rule. So 100
/// pools need 2 MiB.
pub const BODY_LIMIT: usize = 20 << 20;

/// Longest time for a handshake, and for the head of a request.
pub const HEAD_PATIENCE: Duration = Duration::from_secs(10);

/// Connections at a time. Core keeps a few open and reuses them.
pub const CONNECTIONS: usize = 512;

/// Largest buffer of a connection, in bytes: bodies are collected outside of it, and idle connections keep it.
const BUFFER: usize = 64 << 10;

/// How long a body is thrown away whose call finds no room: a client that has sent all of it reads the response for
/// sure.
const CLEARING: Duration = Duration::from_millis(100);

/// Where and how to serve.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where core calls.
    pub address: SocketAddr,
    /// Where probes and metrics are served, without TLS: `/healthz`, `/readyz`, `/metrics`.
    pub admin_address: Option<SocketAddr>,
    /// Certificates.
    pub tls: Files,
    /// How long a shutdown waits for calls under way.
    pub grace: Duration,
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    admin: Option<TcpListener>,
    acceptor: TlsAcceptor,
    certificate: Arc<Current>,
    shared: Arc<Shared>,
    grace: Duration,
}

#[derive(Debug)]
struct Shared {
    dispatcher: Dispatcher,
    metrics: Arc<Metrics>,
    room: Room,
    stopping: AtomicBool,
}

/// A server that cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Certificates.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The port.
    #[error("listening on {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
}

impl Server {
    /// Reads the certificates and opens the ports.
    ///
    /// # Errors
    ///
    /// When certificates cannot be used or a port is taken.
    pub async fn bind(extension: Extension, options: Options) -> Result<Self, StartError> {
        let certificate = Arc::new(Current::read(options.tls)?);
        let acceptor = TlsAcceptor::from(Arc::new(tls::config(Arc::clone(&certificate))?));
        let metrics = Arc::new(Metrics::new());
        let dispatcher = Dispatcher::new(extension, Arc::clone(&metrics));
        Ok(Self {
            listener: listen(options.address).await?,
            admin: match options.admin_address {
                Some(address) => Some(listen(address).await?),
                None => None,
            },
            acceptor,
            certificate,
            shared: Arc::new(Shared {
                dispatcher,
                metrics,
                room: Room::new(),
                stopping: AtomicBool::new(false),
            }),
            grace: options.grace,
        })
    }

    /// Where core calls; the port is the real one where 0 was asked for.
    ///
    /// # Errors
    ///
    /// When the system does not report it.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Where probes and metrics are served.
    ///
    /// # Errors
    ///
    /// When the system does not report it.
    pub fn admin_address(&self) -> std::io::Result<Option<SocketAddr>> {
        self.admin.as_ref().map(TcpListener::local_addr).transpose()
    }

    /// Counters.
    pub fn metrics(&self) -> Arc<Metrics> {
        Arc::clone(&self.shared.metrics)
    }

    /// Serves until `stop` is ready; then `/readyz` fails, nothing new is accepted, and what is under way gets a
    /// response, for at most the time of grace.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { listener, admin, acceptor, certificate, shared, grace } = self;
        let ending = CancellationToken::new();
        let renewing = tokio::spawn(certificate.keep(Arc::clone(&shared.metrics)));
        let admin = admin.map(|listener| {
            let router = admin_router(Arc::clone(&shared));
            tokio::spawn(async move { axum::serve(listener, router).await })
        });
        let connections = TaskTracker::new();
        let accepting = accept(listener, acceptor, Arc::clone(&shared), connections.clone(), ending.clone());
        tokio::select! {
            () = accepting => {}
            () = stop => {}
        }
        tracing::info!("stopping: accepting no new connections");
        shared.stopping.store(true, Ordering::SeqCst);
        ending.cancel();
        connections.close();
        if tokio::time::timeout(grace, connections.wait()).await.is_err() {
            tracing::warn!("calls in progress were cancelled after the grace period");
        }
        renewing.abort();
        if let Some(admin) = admin {
            admin.abort();
        }
    }
}

/// Listens on this address. On Linux the unspecified IPv6 address includes IPv4; a machine without IPv6 has only the
/// latter.
async fn listen(address: SocketAddr) -> Result<TcpListener, StartError> {
    let listener = TcpListener::bind(address).await;
    let listener = match listener {
        Err(_) if address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED) => {
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, address.port())).await
        }
        listener => listener,
    };
    listener.map_err(|source| StartError::Listen { address, source })
}

/// Takes connections for ever.
async fn accept(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    shared: Arc<Shared>,
    connections: TaskTracker,
    ending: CancellationToken,
) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let router = hook_router(shared);
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _peer)) => stream,
            Err(error) => {
                // Too many open files, or a client that disconnected: neither ends a server.
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let connection = connection(stream, acceptor.clone(), router.clone(), ending.clone());
        connections.spawn(async move {
            connection.await;
            drop(place);
        });
    }
}

/// One connection, until it or the server ends.
async fn connection(stream: TcpStream, acceptor: TlsAcceptor, router: Router, ending: CancellationToken) {
    let shaken = tokio::select! {
        shaken = tokio::time::timeout(HEAD_PATIENCE, acceptor.accept(stream)) => shaken,
        () = ending.cancelled() => return,
    };
    let stream = match shaken {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            tracing::debug!(%error, "TLS handshake failed");
            return;
        }
        Err(_late) => return,
    };
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE).max_buf_size(BUFFER);
    let serving = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    tokio::pin!(serving);
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = ending.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection failed");
    }
}

/// What core calls.
fn hook_router(shared: Arc<Shared>) -> Router {
    Router::new().fallback(hook).with_state(shared)
}

async fn hook(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    let received = Instant::now();
    let dispatcher = &shared.dispatcher;
    let path = request.uri().path().to_owned();
    let Some(handler) = dispatcher.handler(&path) else {
        dispatcher.refused(NO_HOOK, received);
        return plain(StatusCode::NOT_FOUND, "no handler is served here");
    };
    if request.method() != Method::POST {
        dispatcher.refused(handler.hook(), received);
        return plain(StatusCode::METHOD_NOT_ALLOWED, "hooks are called by POST");
    }
    let asked = request.uri().query().and_then(asked_timeout);
    let mut body = request.into_body();
    // Core sends the length of its bodies. One without a length may become as long as any.
    let length = body.size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(BODY_LIMIT);
    if length > BODY_LIMIT {
        return too_large(dispatcher, handler, received);
    }
    let Some(taken) = shared.room.take(length, received + handler.time_for_turn(asked)).await else {
        // Late or early does not matter to the response.
        drop(tokio::time::timeout(CLEARING, clear(&mut body)).await);
        return closing(reply(dispatcher.busy(handler, received)));
    };
    match tokio::time::timeout_at(received + handler.timeout(), read(&mut body, length)).await {
        Ok(Some(body)) => reply(dispatcher.call_keeping(handler, body, asked, received, taken).await),
        Ok(None) => too_large(dispatcher, handler, received),
        Err(_late) => {
            dispatcher.refused(handler.hook(), received);
            plain(StatusCode::REQUEST_TIMEOUT, "the request's body did not come in time")
        }
    }
}

fn too_large(dispatcher: &Dispatcher, handler: &Handler, received: Instant) -> Response {
    dispatcher.refused(handler.hook(), received);
    closing(plain(StatusCode::PAYLOAD_TOO_LARGE, "the request's body is over 20 MiB, or it broke off"))
}

/// A body in one piece; `None` if it is too long or breaks off.
async fn read(body: &mut Body, length: usize) -> Option<Bytes> {
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(part) = frame.ok()?.into_data() else { continue };
        if whole.len() + part.len() > BODY_LIMIT {
            return None;
        }
        if whole.is_empty() {
            // Not before something came: who only announces that much comes has not sent it yet.
            whole.reserve_exact(length);
        }
        whole.extend_from_slice(&part);
    }
    Some(whole.into())
}

/// Throws a body away.
async fn clear(body: &mut Body) {
    while let Some(Ok(_part)) = body.frame().await {}
}

fn reply(Reply { status, body }: Reply) -> Response {
    respond(status, if status == StatusCode::OK { "application/json" } else { "text/plain" }, body)
}

/// A response after which the connection ends: what is left of the request's body is not read.
fn closing(mut response: Response) -> Response {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// The time-out that core puts into the address: `timeout=10s`.
fn asked_timeout(query: &str) -> Option<Duration> {
    query.split('&').find_map(|pair| pair.strip_prefix("timeout=")).and_then(go_duration)
}

fn plain(status: StatusCode, sentence: &'static str) -> Response {
    respond(status, "text/plain", sentence.as_bytes().to_vec())
}

fn respond(status: StatusCode, kind: &'static str, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Probes and metrics.
fn admin_router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route(
            "/readyz",
            get(|State(shared): State<Arc<Shared>>| async move {
                if shared.stopping.load(Ordering::SeqCst) {
                    (StatusCode::SERVICE_UNAVAILABLE, "stopping")
                } else {
                    (StatusCode::OK, "ok")
                }
            }),
        )
        .route(
            "/metrics",
            get(|State(shared): State<Arc<Shared>>| async move {
                match shared.metrics.encode() {
                    Ok(text) => respond(
                        StatusCode::OK,
                        "application/openmetrics-text; version=1.0.0; charset=utf-8",
                        text.into_bytes(),
                    ),
                    Err(_never) => plain(StatusCode::INTERNAL_SERVER_ERROR, "metrics cannot be written"),
                }
            }),
        )
        .with_state(shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_address_is_one_of_ipv4_too() {
        let listener = listen("[::]:0".parse().unwrap()).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
        let (_, peer) = listener.accept().await.unwrap();
        assert!(peer.ip().to_canonical().is_loopback(), "{peer}");
    }
}
