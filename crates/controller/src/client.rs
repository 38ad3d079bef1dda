//! Clients of API servers: limited, measured, and without hidden retries.
//!
//! kube's own retries are off: they repeat any request up to 15 times over minutes, POSTs included, inside what looks
//! like one call. Here a failed call is a failed call; the controllers have their own back-off.

use crate::leader::Leadership;
use crate::metrics::{KubeClient, KubeCode, Metrics, Verb};
use governor::{DefaultDirectRateLimiter, Quota};
use http::{Method, Request, Response};
use kube::client::{Body, ClientBuilder};
use kube::{Client, Config};
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;
use tower::{BoxError, Layer, Service};

/// Requests per second to an API server; a burst may be larger for a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Sustained requests per second.
    pub per_second: NonZeroU32,
    /// Largest burst.
    pub burst: NonZeroU32,
}

/// How long connecting to an API server may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an answer may take to begin; the API server itself gives up after 60 seconds.
const ANSWER: Duration = Duration::from_secs(65);
/// How long a connection may be silent: longer than any watch, which the server ends after at most five minutes.
const SILENCE: Duration = Duration::from_secs(320);

/// A client without limit and condition.
pub fn client(config: Config, purpose: KubeClient, metrics: Metrics) -> kube::Result<Client> {
    build(config, &Meter { purpose, limiter: None, leadership: None, metrics })
}

/// The controllers' client: limited, and writing only while this process leads. A write that would be sent after the end
/// of the leadership is not sent.
pub fn leading(
    config: Config,
    limit: Limit,
    leadership: Leadership,
    metrics: Metrics,
) -> kube::Result<Client> {
    let quota = Quota::per_second(limit.per_second).allow_burst(limit.burst);
    let limiter = Some(Arc::new(DefaultDirectRateLimiter::direct(quota)));
    build(config, &Meter { purpose: KubeClient::Work, limiter, leadership: Some(leadership), metrics })
}

fn build(mut config: Config, meter: &Meter) -> kube::Result<Client> {
    config.default_retry = false;
    config.connect_timeout = Some(CONNECT);
    config.read_timeout = Some(SILENCE);
    Ok(ClientBuilder::try_from(config)?.with_layer(meter).build())
}

/// What happens around each request.
#[derive(Clone)]
struct Meter {
    purpose: KubeClient,
    limiter: Option<Arc<DefaultDirectRateLimiter>>,
    leadership: Option<Leadership>,
    metrics: Metrics,
}

/// A request that got no answer.
#[derive(Debug, thiserror::Error)]
enum NotAnswered {
    #[error("this process does not lead any more")]
    NotLeading,
    #[error("the API server did not answer within {} s", ANSWER.as_secs())]
    TooLate,
}

impl<S> Layer<S> for Meter {
    type Service = Metered<S>;

    fn layer(&self, inner: S) -> Metered<S> {
        Metered { inner: Arc::new(tokio::sync::Mutex::new(inner)), meter: self.clone() }
    }
}

/// Waits for the limit, then sends, then counts.
struct Metered<S> {
    inner: Arc<tokio::sync::Mutex<S>>,
    meter: Meter,
}

impl<S, B> Service<Request<Body>> for Metered<S>
where
    S: Service<Request<Body>, Response = Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        // The inner service is made ready in the call, after the wait for the limit.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let inner = Arc::clone(&self.inner);
        let Meter { purpose, limiter, leadership, metrics } = self.meter.clone();
        let verb = verb(&request);
        Box::pin(async move {
            if let Some(limiter) = limiter {
                let asked = Instant::now();
                limiter.until_ready().await;
                metrics.kube_waited(purpose, asked.elapsed());
            }
            if verb.writes() && leadership.is_some_and(|leadership| !leadership.holds()) {
                return Err(NotAnswered::NotLeading.into());
            }
            let sent = Instant::now();
            let answer = {
                let mut inner = inner.lock().await;
                std::future::poll_fn(|context| inner.poll_ready(context)).await.map_err(Into::into)?;
                inner.call(request)
            };
            let answer = match tokio::time::timeout(ANSWER, answer).await {
                Ok(answer) => answer.map_err(Into::into),
                Err(_elapsed) => Err(NotAnswered::TooLate.into()),
            };
            let code = answer.as_ref().map_or(KubeCode::NoAnswer, |answer| answer.status().into());
            metrics.kube_request(purpose, verb, code, sent.elapsed());
            answer
        })
    }
}

fn verb<B>(request: &Request<B>) -> Verb {
    let query = request.uri().query().unwrap_or_default();
    match *request.method() {
        Method::GET if query.contains("watch=true") || query.contains("watch=1") => Verb::Watch,
        Method::GET if is_collection(request.uri().path()) => Verb::List,
        Method::POST => Verb::Create,
        Method::PUT => Verb::Update,
        Method::DELETE => Verb::Delete,
        Method::PATCH => {
            let apply = request.headers().get(http::header::CONTENT_TYPE).is_some_and(|kind| {
                kind.to_str().is_ok_and(|kind| kind.starts_with("application/apply-patch"))
            });
            if apply { Verb::Apply } else { Verb::Patch }
        }
        _ => Verb::Get,
    }
}

/// Whether a path names all objects of a kind: `/api/v1[/namespaces/<ns>]/<plural>`, `/apis/<group>/<version>…` alike.
fn is_collection(path: &str) -> bool {
    let mut parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let prefix = if parts.first() == Some(&"apis") { 3 } else { 2 };
    parts.drain(..prefix.min(parts.len()));
    matches!(parts.as_slice(), ["namespaces", _, _] | [_])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(method: Method, uri: &str) -> Verb {
        verb(&Request::builder().method(method).uri(uri).body(()).unwrap())
    }

    #[test]
    fn requests_are_named_by_their_verb_in_rbac() {
        assert_eq!(of(Method::GET, "/api/v1/namespaces/a/secrets/b"), Verb::Get);
        assert_eq!(of(Method::GET, "/api/v1/namespaces/a/secrets?limit=5"), Verb::List);
        assert_eq!(of(Method::GET, "/apis/x.io/v1/foos"), Verb::List);
        assert_eq!(of(Method::GET, "/apis/x.io/v1/foos?watch=true&x=y"), Verb::Watch);
        assert_eq!(of(Method::GET, "/version"), Verb::Get);
        assert_eq!(of(Method::PATCH, "/apis/x.io/v1/namespaces/a/foos/b/status"), Verb::Patch);
    }
}
