//! Serves HTTP pages with limits on what clients can use up, and provides two of them: /livez and /readyz.

use crate::diagnostics::Certificate;
use crate::liveness::Liveness;
use crate::readiness::Readiness;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Health: alive as long as it responds and no problem exists that only a restart solves; ready when nothing
/// is missing.
pub fn health(readiness: Readiness, liveness: Liveness) -> Router {
    Router::new()
        .route("/livez", get(alive))
        .route("/healthz", get(alive))
        .with_state(liveness)
        .merge(Router::new().route("/readyz", get(ready)).with_state(readiness))
}

async fn alive(State(liveness): State<Liveness>) -> Response {
    let wrong = liveness.wrong();
    if wrong.is_empty() {
        return "ok".into_response();
    }
    tracing::error!(?wrong, "the liveness check fails; Kubernetes restarts the container");
    (StatusCode::INTERNAL_SERVER_ERROR, format!("{}\n", wrong.join("; "))).into_response()
}

async fn ready(State(readiness): State<Readiness>) -> Response {
    let missing = readiness.missing();
    if missing.is_empty() {
        return "ok".into_response();
    }
    (StatusCode::SERVICE_UNAVAILABLE, format!("waiting for {}\n", missing.join(", "))).into_response()
}

/// Listens on this address. On Linux the unspecified IPv6 address includes IPv4; a machine without IPv6 has
/// only the latter.
async fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let listener = TcpListener::bind(address).await;
    if listener.is_err() && address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED) {
        return TcpListener::bind((Ipv4Addr::UNSPECIFIED, address.port())).await;
    }
    listener
}

/// Limits of one listener, for all its clients together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Concurrent connections; further ones wait to be accepted.
    pub(crate) connections: usize,
    /// From the last response, or from the start of the connection, to the end of the next request's header.
    pub(crate) header: Duration,
    /// Duration of a whole connection.
    pub(crate) connection: Duration,
}

pub(crate) const BOUNDS: Bounds =
    Bounds { connections: 256, header: Duration::from_secs(10), connection: Duration::from_mins(5) };
/// Bytes of a request's header. No page reads a request's body.
const HEADER_BYTES: usize = 16 * 1024;

/// The protocol of a listener's connections.
#[derive(Clone, Debug)]
pub enum Transport {
    /// Plain HTTP.
    Plain,
    /// HTTP over TLS, and nothing else.
    Tls(Arc<Certificate>),
}

/// Serves a router until the process ends. An address that is in use is an error at once.
pub async fn serve(
    address: SocketAddr,
    router: Router,
    transport: Transport,
) -> std::io::Result<tokio::task::JoinHandle<()>> {
    let listener = listen(address).await?;
    Ok(tokio::spawn(accept_connections(listener, router, transport, BOUNDS)))
}

async fn accept_connections(listener: TcpListener, router: Router, transport: Transport, bounds: Bounds) {
    let slots = Arc::new(Semaphore::new(bounds.connections));
    // Nothing closes the semaphore.
    while let Ok(slot) = Arc::clone(&slots).acquire_owned().await {
        let stream = match listener.accept().await {
            Ok((stream, _peer)) => stream,
            Err(error) => {
                // For example, no file descriptor is left.
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(Duration::from_secs(1)).await;
                continue;
            }
        };
        let connection = connection(stream, router.clone(), transport.clone(), bounds);
        tokio::spawn(async move {
            // A connection that ends with an error is the client's business.
            let _ended = timeout(bounds.connection, connection).await;
            drop(slot);
        });
    }
}

async fn connection(stream: TcpStream, router: Router, transport: Transport, bounds: Bounds) {
    match transport {
        Transport::Plain => speak(stream, router, bounds).await,
        Transport::Tls(certificate) => {
            let shaken = async { certificate.acceptor().await.accept(stream).await };
            if let Ok(Ok(stream)) = timeout(bounds.header, shaken).await {
                speak(stream, router, bounds).await;
            }
        }
    }
}

async fn speak(stream: impl AsyncRead + AsyncWrite + Unpin, router: Router, bounds: Bounds) {
    let _ended = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.header)
        .max_buf_size(HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .await;
}

/// Serves a router on a port of loopback, for tests.
#[cfg(test)]
pub(crate) async fn served(router: Router, transport: Transport) -> SocketAddr {
    served_within(router, transport, BOUNDS).await
}

/// The same with these limits.
#[cfg(test)]
pub(crate) async fn served_within(router: Router, transport: Transport, bounds: Bounds) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(accept_connections(listener, router, transport, bounds));
    address
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    #[tokio::test]
    async fn every_address_is_one_of_ipv4_too() {
        let listener = listen("[::]:0".parse().unwrap()).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
        let (_, peer) = listener.accept().await.unwrap();
        assert!(peer.ip().to_canonical().is_loopback(), "{peer}");
    }

    async fn get(address: SocketAddr, path: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream
            .write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes())
            .await
            .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    async fn health_served(bounds: Bounds, liveness: Liveness) -> SocketAddr {
        served_within(health(Readiness::default(), liveness), Transport::Plain, bounds).await
    }

    #[tokio::test]
    async fn idle_connections_block_others_for_a_moment_only() {
        let header = Duration::from_millis(200);
        let address = health_served(Bounds { connections: 2, header, ..BOUNDS }, Liveness::default()).await;
        let _silent =
            [TcpStream::connect(address).await.unwrap(), TcpStream::connect(address).await.unwrap()];
        let response = timeout(Duration::from_secs(20), get(address, "/readyz")).await.unwrap();
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    }

    #[tokio::test]
    async fn a_problem_that_needs_a_restart_fails_the_liveness_probe() {
        let liveness = Liveness::default();
        let address = health_served(BOUNDS, liveness.clone()).await;
        assert!(get(address, "/livez").await.starts_with("HTTP/1.1 200"));
        liveness.watch_over(|| Some("a pass hangs".to_owned()));
        let response = get(address, "/livez").await;
        assert!(response.starts_with("HTTP/1.1 500") && response.contains("a pass hangs"), "{response}");
        assert!(get(address, "/readyz").await.starts_with("HTTP/1.1 200"));
    }
}
