//! The server as an HTTP service: what `kube::Client` talks to.

use crate::faults::Strike;
use crate::kinds::Kinds;
use crate::log::{Ending, Recorded};
use crate::request::{Request, Verb};
use crate::serve::serve;
use crate::server::FakeApiServer;
use crate::watch;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use http::Response;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use kube::client::Body;
use kube::core::Status;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::io;
use std::task::{Context, Poll};

/// Body of a response.
pub type ResponseBody = UnsyncBoxBody<Bytes, Infallible>;

impl tower::Service<http::Request<Body>> for FakeApiServer {
    type Response = Response<ResponseBody>;
    type Error = io::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let server = self.clone();
        Box::pin(async move {
            let shared = std::sync::Arc::clone(&server.shared);
            let mut response = server.response(request).await?;
            let now = shared.now().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
            if let Ok(date) = http::HeaderValue::from_str(&now) {
                response.headers_mut().insert(http::header::DATE, date);
            }
            Ok(response)
        })
    }
}

impl FakeApiServer {
    async fn response(self, request: http::Request<Body>) -> Result<Response<ResponseBody>, io::Error> {
        let (parts, body) = request.into_parts();
        let body = body.collect_bytes().await.map_err(io::Error::other)?;
        let kinds = self.shared.lock().store.kinds.clone();
        if let Some(found) = discovery(&kinds, parts.uri.path()) {
            return Ok(whole(200, &found));
        }
        let request = match Request::read(&kinds, &parts, body, &self.client) {
            Ok(request) => request,
            Err(status) => return Ok(refused(&status)),
        };
        let verdict = self.shared.lock().faults.verdict(&request);
        if !verdict.delay.is_zero() {
            tokio::time::sleep(verdict.delay).await;
        }
        let lost = || io::Error::new(io::ErrorKind::ConnectionReset, "connection reset by peer (injected)");
        match verdict.strike {
            Some(Strike::Refused(status)) => {
                // A real server sends 410 to a watch inside the stream.
                let streamed = request.verb == Verb::Watch && status.code == 410;
                self.record(&request, Ending::Responded(status.code), false);
                Ok(if streamed {
                    lines(stream::iter([watch::error_line(&status)]))
                } else {
                    refused(&status)
                })
            }
            Some(Strike::LostRequest) => {
                self.record(&request, Ending::LostRequest, false);
                Err(lost())
            }
            Some(Strike::LostResponse) => {
                if request.verb != Verb::Watch {
                    let (_, changed) = self.shared.with_store(|store, now| serve(store, &request, now));
                    self.record(&request, Ending::LostResponse, changed);
                }
                Err(lost())
            }
            None => Ok(self.obey(request)),
        }
    }

    fn obey(&self, request: Request) -> Response<ResponseBody> {
        if request.verb == Verb::Watch {
            self.record(&request, Ending::Responded(200), false);
            return match watch::open(&self.shared, request) {
                Err(status) => refused(&status),
                Ok(events) => lines(events),
            };
        }
        let (result, changed) = self.shared.with_store(|store, now| serve(store, &request, now));
        let (code, response) = match result {
            Ok(response) => (response.code, whole(response.code, &response.body)),
            Err(status) => (status.code, refused(&status)),
        };
        self.record(&request, Ending::Responded(code), changed);
        response
    }

    fn record(&self, request: &Request, ending: Ending, changed: bool) {
        self.shared.lock().log.push(Recorded::new(request, ending, changed));
    }
}

/// What a client asks to find out what is served; nothing for paths of objects.
fn discovery(kinds: &Kinds, path: &str) -> Option<Value> {
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let (group, version) = match segments.as_slice() {
        ["version"] => return Some(version()),
        ["readyz" | "livez" | "healthz"] => return Some(json!("ok")),
        ["api", version] => ("", *version),
        ["apis", group, version] => (*group, *version),
        _ => return None,
    };
    let resources: Vec<Value> = kinds
        .of_version(group, version)
        .map(|kind| {
            json!({
                "name": kind.plural,
                "singularName": kind.kind.to_lowercase(),
                "namespaced": kind.namespaced,
                "kind": kind.kind,
                "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
            })
        })
        .collect();
    let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    (!resources.is_empty()).then(|| {
        json!({
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": group_version,
            "resources": resources,
        })
    })
}

fn version() -> Value {
    json!({
        "major": "1",
        "minor": "33",
        "gitVersion": "v1.33.0",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "2026-01-01T00:00:00Z",
        "goVersion": "none",
        "compiler": "none",
        "platform": "memory",
    })
}

fn refused(status: &Status) -> Response<ResponseBody> {
    if status.reason.is_empty() {
        return respond(status.code, stream::iter([Bytes::from(format!("{}\n", status.message))]));
    }
    let mut body = serde_json::to_value(status).unwrap_or_default();
    crate::json::set(&mut body, &["kind"], json!("Status"));
    crate::json::set(&mut body, &["apiVersion"], json!("v1"));
    let mut response = whole(status.code, &body);
    let wait = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
    if wait > 0 {
        response.headers_mut().insert(http::header::RETRY_AFTER, wait.into());
    }
    response
}

fn whole(code: u16, body: &Value) -> Response<ResponseBody> {
    respond(code, stream::iter([Bytes::from(body.to_string())]))
}

fn lines(events: impl futures::Stream<Item = Bytes> + Send + 'static) -> Response<ResponseBody> {
    respond(200, events)
}

fn respond(code: u16, chunks: impl futures::Stream<Item = Bytes> + Send + 'static) -> Response<ResponseBody> {
    let body = StreamBody::new(chunks.map(|chunk| Ok(Frame::data(chunk)))).boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() =
        http::StatusCode::from_u16(code).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    response
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    response
}
