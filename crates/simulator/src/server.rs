//! HTTP: one listener for AWS's protocols and, under `/_sim/`, for the control API.

use crate::control;
use crate::page;
use crate::simulator::Simulator;
use crate::wire::sigv4::SignedRequest;
use crate::wire::{self, WireResponse};
use bytes::Bytes;
use foo_model::Timestamp;
use http::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::error::Error as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Largest request body in bytes, far above AWS's own limits.
const BODY_LIMIT: usize = 8 * 1024 * 1024;

/// Who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Callers of the account.
    Callers,
    /// EKS itself.
    Eks,
}

/// Makes the server reset the connection without a response.
#[derive(Debug, thiserror::Error)]
#[error("the connection is dropped on purpose")]
struct Dropped;

/// Makes the server end the connection in the middle of a response.
#[derive(Debug, thiserror::Error)]
#[error("the response is truncated on purpose")]
struct CutOff;

/// Accepts connections until the task is aborted; open connections end with it.
pub(crate) async fn serve(listener: TcpListener, simulator: Simulator, side: Side) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let simulator = simulator.clone();
                    connections.spawn(connection(stream, simulator, side));
                }
                Err(error) => {
                    tracing::warn!(%error, "could not accept a connection");
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, simulator: Simulator, side: Side) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "could not set TCP_NODELAY");
    }
    let service = service_fn(move |request| {
        let simulator = simulator.clone();
        Box::pin(async move { respond(&simulator, side, request).await })
    });
    let mut connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service);
    let ended = std::future::poll_fn(|context| connection.poll_without_shutdown(context)).await;
    let mut stream = connection.into_parts().io.into_inner();
    let closed = match ended {
        // A reset (RST) instead of an orderly end: callers must survive it.
        Err(error) if error.source().is_some_and(<dyn std::error::Error>::is::<Dropped>) => {
            stream.set_zero_linger()
        }
        Err(error) => {
            tracing::debug!(%error, "connection ended");
            Ok(())
        }
        Ok(()) => stream.shutdown().await,
    };
    if let Err(error) = closed {
        tracing::debug!(%error, "could not close a connection");
    }
}

async fn respond(
    simulator: &Simulator,
    side: Side,
    request: Request<Incoming>,
) -> Result<Response<ResponseBody>, Dropped> {
    let (head, body) = request.into_parts();
    // Requests of AWS's protocols to a path of the page have parameters or a signature.
    if side == Side::Callers
        && head.method == Method::GET
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
    if side == Side::Callers && head.uri.path().starts_with(control::PREFIX) {
        let response = control::respond(simulator, &head.method, head.uri.path(), &body);
        return Ok(plain(response.status, "application/json", response.body));
    }
    let authorization = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let simulator = match wire::signature::scope(authorization, query) {
        Ok(scope) => simulator.account_of(&scope.caller),
        Err(_) => simulator.clone(),
    };
    let request = SignedRequest {
        method: &head.method,
        path: head.uri.path(),
        query,
        headers: &head.headers,
        body: &body,
        received: simulator.real_time(),
    };
    let target = head.headers.get(wire::json::TARGET).and_then(|value| value.to_str().ok());
    let response = match target {
        _ if side == Side::Eks => wire::of_eks::respond(&simulator.world, &request),
        Some(target) => wire::json::respond(&simulator.world, request, target).await,
        None if wire::s3::is_s3(&request) => wire::s3::respond(&simulator.world, request).await,
        None if wire::rest::is_rest(&request) => wire::rest::respond(&simulator.world, request).await,
        None => wire::respond_to_verified(&simulator.world, request).await,
    };
    let mut response = response_of(response)?;
    if let Some(date) = date(simulator.real_time()) {
        response.headers_mut().insert(DATE, date);
    }
    Ok(response)
}

/// When a response was sent, as HTTP writes it (RFC 9110, section 5.6.7): callers sign tokens by it.
fn date(at: Timestamp) -> Option<HeaderValue> {
    let at = jiff::Timestamp::from_millisecond(at.0).ok()?;
    HeaderValue::from_str(&at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()).ok()
}

fn response_of(response: WireResponse) -> Result<Response<ResponseBody>, Dropped> {
    match response {
        WireResponse::Dropped => Err(Dropped),
        WireResponse::Truncated { status, body, content_type } => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let mut response = plain(status, content_type, body);
            response.body_mut().truncate();
            Ok(response)
        }
        WireResponse::Object { status, body, request_id } => {
            let mut response = identified(status, wire::XML, String::new(), &request_id);
            *response.body_mut() = ResponseBody::from(Bytes::from(body));
            Ok(response)
        }
        WireResponse::Xml { status, body, request_id } => {
            Ok(identified(status, wire::XML, body, &request_id))
        }
        WireResponse::Json { status, body, request_id, content_type, query_error, error_type } => {
            let mut response = identified(status, content_type, body, &request_id);
            if let Some(value) = query_error.and_then(|error| HeaderValue::from_str(&error).ok()) {
                response.headers_mut().insert("x-amzn-query-error", value);
            }
            if let Some(kind) = error_type.and_then(|kind| HeaderValue::from_str(&kind).ok()) {
                response.headers_mut().insert("x-amzn-errortype", kind);
            }
            Ok(response)
        }
    }
}

/// A response of AWS, with its request id.
fn identified(
    status: u16,
    content_type: &'static str,
    body: String,
    request_id: &str,
) -> Response<ResponseBody> {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = plain(status, content_type, body);
    if let Ok(value) = HeaderValue::from_str(request_id) {
        response.headers_mut().insert("x-amzn-requestid", value);
    }
    response
}

fn plain(status: StatusCode, content_type: &'static str, body: String) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// The end of a response's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Complete.
    Whole,
    /// In the middle, after hyper has flushed the first half.
    Cut,
    /// In the middle; hyper has flushed the first half.
    CutAndFlushed,
}

/// A body that may be shorter than its Content-Length.
struct ResponseBody {
    rest: Bytes,
    length: u64,
    end: End,
}

impl ResponseBody {
    /// Removes the second half.
    fn truncate(&mut self) {
        self.rest.truncate(self.rest.len() / 2);
        self.end = End::Cut;
    }
}

impl From<String> for ResponseBody {
    fn from(text: String) -> Self {
        Self::from(Bytes::from(text))
    }
}

impl From<Bytes> for ResponseBody {
    fn from(rest: Bytes) -> Self {
        Self { length: u64::try_from(rest.len()).unwrap_or(u64::MAX), rest, end: End::Whole }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = CutOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CutOff>>> {
        if !self.rest.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.rest)))));
        }
        match self.end {
            End::Whole => Poll::Ready(None),
            End::Cut => {
                // hyper flushes when a body is pending: without this pause all of it would be lost.
                self.end = End::CutAndFlushed;
                context.waker().wake_by_ref();
                Poll::Pending
            }
            End::CutAndFlushed => Poll::Ready(Some(Err(CutOff))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.end == End::Whole
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.length)
    }
}
