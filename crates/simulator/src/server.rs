//! HTTP: one listener for AWS's protocols and, under `/_sim/`, for the control API.

use crate::control;
use crate::page;
use crate::simulator::Simulator;
use crate::wire::{self, WireAnswer, WireRequest};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Largest request body: far above anything AWS takes.
const BODY_LIMIT: usize = 8 * 1024 * 1024;

/// The connection is to be closed without an answer.
#[derive(Debug, thiserror::Error)]
#[error("the connection is dropped on purpose")]
struct Dropped;

/// Accepts connections until the task is aborted; open connections end with it.
pub(crate) async fn serve(listener: TcpListener, simulator: Simulator) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let simulator = simulator.clone();
                    connections.spawn(connection(stream, simulator));
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, simulator: Simulator) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let service = service_fn(move |request| {
        let simulator = simulator.clone();
        async move { answer(&simulator, request).await }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(%error, "connection ended");
    }
}

async fn answer(simulator: &Simulator, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Dropped> {
    let (head, body) = request.into_parts();
    // AWS's protocols never ask for a path of the page without parameters and without a signature.
    if head.method == Method::GET
        && head.uri.query().is_none()
        && !head.headers.contains_key(AUTHORIZATION)
        && let Some(asset) = page::asset(head.uri.path())
    {
        return Ok(plain(StatusCode::OK, asset.content_type, asset.text.to_owned()));
    }
    let Ok(body) = Limited::new(body, BODY_LIMIT).collect().await else {
        return Ok(plain(StatusCode::PAYLOAD_TOO_LARGE, "text/plain", "request body too large".to_owned()));
    };
    let body = body.to_bytes();
    let query = head.uri.query().unwrap_or_default();
    if head.uri.path().starts_with(control::PREFIX) {
        let answer = control::answer(simulator, &head.method, head.uri.path(), &body);
        return Ok(plain(answer.status, "application/json", answer.body));
    }
    let authorization = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    match wire::answer(&simulator.world, WireRequest { authorization, query, body: &body }).await {
        WireAnswer::Dropped => Err(Dropped),
        WireAnswer::Xml { status, body, request_id } => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let mut response = plain(status, "text/xml;charset=UTF-8", body);
            if let Ok(value) = HeaderValue::from_str(&request_id) {
                response.headers_mut().insert("x-amzn-requestid", value);
            }
            Ok(response)
        }
    }
}

fn plain(status: StatusCode, content_type: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
