//! Clients of API servers: limited, measured, and without hidden retries.
//!
//! kube's own retries are off: they repeat any request up to 15 times over minutes, POSTs included, within
//! what seems to be one call. Here each call is sent once; the controllers have their own back-off.
//!
//! The client sends no request whose path is not made of valid names ([`path`]), reads no response beyond a sensible
//! length ([`longest_response`]), sends as many writes of the controllers at a time as the API server responds in
//! time and nothing while the API server asks to wait ([`pace`]), and sends applied objects in a form that the API
//! server can read ([`yaml`]).
//!
//! Only the client of the Lease does not wait when it is asked to: it has a priority level of its own
//! (`deploy/manager/flow_schema.yaml`), and sends one request in two seconds. The API server asks for up to 32 seconds,
//! and after ten without a renewal the leader has to stop.

mod pace;
mod path;
mod yaml;

use crate::clock::{KubernetesClock, compare};
use crate::labels::{KubeClient, KubeCode, Verb};
use crate::leader::Leadership;
use crate::metrics::Metrics;
use crate::received::repaired;
use governor::{DefaultDirectRateLimiter, Quota};
use http::{Method, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited};
use kube::client::{Body, ClientBuilder};
use kube::{Client, Config};
use pace::{Pace, Turn};
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tokio_util::task::AbortOnDropHandle;
use tower::{BoxError, Layer, Service};
use tracing::field::Empty;
use tracing::{Instrument, Span};

/// Limit of requests to an API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Sustained requests per second.
    pub per_second: NonZeroU32,
    /// Largest burst.
    pub burst: NonZeroU32,
}

impl Limit {
    fn limiter(self) -> Arc<DefaultDirectRateLimiter> {
        let quota = Quota::per_second(self.per_second).allow_burst(self.burst);
        Arc::new(DefaultDirectRateLimiter::direct(quota))
    }
}

/// How long connecting to an API server may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a response may take to begin; the API server itself times out after 60 seconds.
const TIMEOUT: Duration = Duration::from_secs(65);
/// How long a connection may be without traffic: longer than any watch, which the server ends after at most five
/// minutes.
const READ_TIMEOUT: Duration = Duration::from_secs(320);

/// A client without limit and without a condition on writes.
pub fn client(config: Config, purpose: KubeClient, metrics: Metrics) -> kube::Result<Client> {
    build(
        config,
        &Meter { purpose, limiter: None, leadership: None, clock: None, pace: Pace::default(), metrics },
    )
}

/// The client of the election: without limit, since a Lease must not wait, and with a connection of its own, which no
/// response to the controllers occupies.
pub fn of_the_lease(config: Config, clock: KubernetesClock, metrics: Metrics) -> kube::Result<Client> {
    let (purpose, clock) = (KubeClient::Lease, Some(clock));
    build(config, &Meter { purpose, limiter: None, leadership: None, clock, pace: Pace::default(), metrics })
}

/// A limited client that writes whether or not this process leads: for reviews, which store nothing.
pub fn limited(config: Config, purpose: KubeClient, limit: Limit, metrics: Metrics) -> kube::Result<Client> {
    build(
        config,
        &Meter {
            purpose,
            limiter: Some(limit.limiter()),
            leadership: None,
            clock: None,
            pace: Pace::default(),
            metrics,
        },
    )
}

/// The controllers' client: limited, and writing only while this process leads. It refuses a write that would
/// be sent after the end of the leadership.
pub fn leading(
    config: Config,
    limit: Limit,
    leadership: Leadership,
    clock: KubernetesClock,
    metrics: Metrics,
) -> kube::Result<Client> {
    let (limiter, leadership, clock) = (Some(limit.limiter()), Some(leadership), Some(clock));
    build(
        config,
        &Meter { purpose: KubeClient::Work, limiter, leadership, clock, pace: Pace::default(), metrics },
    )
}

/// [`leading`] on top of an existing service, without limit: for tests of whole controllers.
pub fn over<S, B>(service: S, leadership: Leadership, clock: KubernetesClock, metrics: Metrics) -> Client
where
    S: Service<Request<Body>, Response = Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let (leadership, clock) = (Some(leadership), Some(clock));
    let meter =
        Meter { purpose: KubeClient::Work, limiter: None, leadership, clock, pace: Pace::default(), metrics };
    Client::new(meter.layer(service), "default")
}

/// How API servers of workload clusters are connected to. Clones connect in the same way.
#[derive(Clone)]
pub struct Workloads(Arc<dyn Fn(Config) -> kube::Result<Client> + Send + Sync>);

impl Workloads {
    /// Over the network; requests are measured, and never go through the proxy in the manager's environment, which is
    /// for AWS.
    pub fn over_the_network(metrics: Metrics) -> Self {
        Self::by(move |mut config| {
            config.proxy_url = None;
            client(config, KubeClient::Workload, metrics.clone())
        })
    }

    /// By this function: for tests of whole controllers, whose clock is no network's.
    pub fn by(connect: impl Fn(Config) -> kube::Result<Client> + Send + Sync + 'static) -> Self {
        Self(Arc::new(connect))
    }

    /// A client of the API server in this configuration.
    ///
    /// # Errors
    /// The configuration has certificates or keys that cannot be used.
    pub fn connect(&self, config: Config) -> kube::Result<Client> {
        self.0(config)
    }
}

impl std::fmt::Debug for Workloads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workloads").finish_non_exhaustive()
    }
}

fn build(mut config: Config, meter: &Meter) -> kube::Result<Client> {
    config.default_retry = false;
    config.connect_timeout = Some(CONNECT);
    config.read_timeout = Some(READ_TIMEOUT);
    Ok(ClientBuilder::try_from(config)?.with_layer(meter).build())
}

type ResponseBody = UnsyncBoxBody<bytes::Bytes, BoxError>;

/// What happens around each request.
#[derive(Clone)]
struct Meter {
    purpose: KubeClient,
    limiter: Option<Arc<DefaultDirectRateLimiter>>,
    leadership: Option<Leadership>,
    /// Compared by the responses, if they are the management cluster's.
    clock: Option<KubernetesClock>,
    /// Room for the controllers' writes, and how long the API server asked to wait.
    pace: Pace,
    metrics: Metrics,
}

/// Fails a request that got no response in time.
#[derive(Debug, thiserror::Error)]
enum NoResponse {
    #[error("this process does not lead any more")]
    NotLeading,
    #[error("the API server did not respond within {} s", TIMEOUT.as_secs())]
    TooLate,
    #[error("not sent: the API server has been slow for {} s, and other writes wait for it", TIMEOUT.as_secs())]
    NoRoom,
    #[error("not sent: the API server has asked to wait for {} s, because of its load", TIMEOUT.as_secs())]
    AskedToWait,
    #[error("not sent: a name in it is no name of a Kubernetes object")]
    NoSuchName,
}

impl<S> Layer<S> for Meter {
    type Service = Metered<S>;

    fn layer(&self, inner: S) -> Metered<S> {
        Metered { inner: Arc::new(Mutex::new(inner)), meter: self.clone() }
    }
}

/// Waits for the limit, then sends, then counts.
///
/// The lock is never held across an `.await`, and each request has a task of its own. A fair lock is handed to the
/// request that waits longest, also if no task polls that one: a watch is not polled during the pass of its own
/// controller, whose requests would wait behind it for ever, and with them all others. kube has such a lock too, around
/// the token in a file.
struct Metered<S> {
    inner: Arc<Mutex<S>>,
    meter: Meter,
}

impl<S, B> Service<Request<Body>> for Metered<S>
where
    S: Service<Request<Body>, Response = Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        // The inner service becomes ready in the call, after the wait for the limit.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let inner = Arc::clone(&self.inner);
        let Meter { purpose, limiter, leadership, clock, pace, metrics } = self.meter.clone();
        let verb = verb(&request);
        let span = request_span(purpose, verb, &request);
        let sends = async move {
            if !path::is_sound(request.method(), request.uri()) {
                return Err(NoResponse::NoSuchName.into());
            }
            let request = if verb == Verb::Apply {
                let (parts, body) = request.into_parts();
                Request::from_parts(parts, Body::from(yaml::readable_as_yaml(body.collect_bytes().await?)))
            } else {
                request
            };
            let longest = longest_response(purpose, verb);
            if let Some(limiter) = limiter {
                let asked = Instant::now();
                limiter.until_ready().await;
                metrics.kube_waited(purpose, asked.elapsed());
                Span::current().record("foo.wait_seconds", asked.elapsed().as_secs_f64());
            }
            let turn = its_turn(&pace, purpose, verb).await?;
            // After all waits: the leadership may have ended meanwhile.
            if verb.writes() && leadership.is_some_and(|leadership| !leadership.holds()) {
                return Err(NoResponse::NotLeading.into());
            }
            let sent = Instant::now();
            let response = in_its_own_task(inner, request).await;
            let asked_to_wait = response.as_ref().ok().and_then(retry_after);
            match turn {
                Turns::Write(turn) => {
                    turn.completed(response.as_ref().ok().map(Response::status), asked_to_wait);
                    metrics.kube_writes_at_once(pace.room());
                }
                Turns::Other => pace.is_to_wait(asked_to_wait),
                Turns::Lease => {}
            }
            let code = response.as_ref().map_or(KubeCode::NoAnswer, |response| response.status().into());
            metrics.kube_request(purpose, verb, code, sent.elapsed());
            if purpose == KubeClient::Work && code == KubeCode::TooManyRequests {
                metrics.overload().refused();
            }
            let (parts, body) = response?.into_parts();
            if let Some(clock) = clock {
                compare(&clock, sent, &parts.headers);
            }
            let body = Limited::new(body, longest);
            if longest == usize::MAX {
                return Ok(Response::from_parts(parts, body.boxed_unsync()));
            }
            let read = timeout(TIMEOUT, body.collect()).await;
            let body = read.map_err(|_elapsed| NoResponse::TooLate)??.to_bytes();
            if verb.writes() && matches!(purpose, KubeClient::Work | KubeClient::Lease) {
                metrics.versions().saw_in(&body);
            }
            let body = Full::new(repaired(body)).map_err(|never| match never {});
            Ok(Response::from_parts(parts, body.boxed_unsync()))
        };
        Box::pin(async move {
            let response = sends.instrument(span.clone()).await;
            record(&span, response.as_ref().ok().map(Response::status));
            response
        })
    }
}

/// The span of a request, with attributes of OpenTelemetry's conventions for HTTP. Without the server: it is the management
/// cluster's, or the one of the Cluster that the pass is about.
fn request_span(purpose: KubeClient, verb: Verb, request: &Request<Body>) -> Span {
    let (verb, client): (&str, &str) = (verb.into(), purpose.into());
    tracing::info_span!(
        target: foo_cloud::lines::TRACES, "kubernetes", otel.name = format_args!("kubernetes {verb}"), otel.kind = "client",
        foo.client = client, http.request.method = request.method().as_str(), url.path = request.uri().path(),
        http.response.status_code = Empty, foo.wait_seconds = Empty, otel.status_code = Empty
    )
}

fn record(span: &Span, status: Option<http::StatusCode>) {
    if let Some(status) = status {
        // OpenTelemetry has no unsigned numbers: they would be texts.
        span.record("http.response.status_code", i64::from(status.as_u16()));
    }
    if status.is_none_or(|status| !status.is_success()) {
        span.record("otel.status_code", "ERROR");
    }
}

/// Sends a request in a task of its own, which ends with this future, or when no response has begun in time.
async fn in_its_own_task<S, B>(
    service: Arc<Mutex<S>>,
    request: Request<Body>,
) -> Result<Response<B>, BoxError>
where
    S: Service<Request<Body>, Response = Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: Send + 'static,
{
    let response = async move {
        let mut request = request;
        let sent = std::future::poll_fn(|context| {
            let mut service = service.lock().unwrap_or_else(PoisonError::into_inner);
            ready!(service.poll_ready(context))?;
            let request = std::mem::replace(&mut request, Request::new(Body::empty()));
            Poll::Ready(Ok(service.call(request)))
        });
        sent.await.map_err(|error: S::Error| error.into())?.await.map_err(Into::into)
    };
    let task = tokio::spawn(timeout(TIMEOUT, response).in_current_span());
    AbortOnDropHandle::new(task).await?.map_err(|_elapsed| NoResponse::TooLate)?
}

/// What a request waited for before it was sent.
enum Turns {
    /// For room, and as long as the API server asked to.
    Write(Turn),
    /// As long as the API server asked to.
    Other,
    /// For nothing.
    Lease,
}

/// Waits until a request may be sent. This is no wait for the client-side limit, which users can raise.
async fn its_turn(pace: &Pace, purpose: KubeClient, verb: Verb) -> Result<Turns, NoResponse> {
    match purpose {
        KubeClient::Lease => Ok(Turns::Lease),
        KubeClient::Work if verb.writes() => {
            let turn = timeout(TIMEOUT, pace.turn()).await;
            Ok(Turns::Write(turn.map_err(|_elapsed| NoResponse::NoRoom)?))
        }
        KubeClient::Work | KubeClient::Workload | KubeClient::Review => {
            let accepted = timeout(TIMEOUT, pace.accepts()).await;
            accepted.map_err(|_elapsed| NoResponse::AskedToWait)?;
            Ok(Turns::Other)
        }
    }
}

/// How long a server asks to wait.
fn retry_after<B>(response: &Response<B>) -> Option<Duration> {
    let seconds = response.headers().get(http::header::RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// Maximum number of bytes read from a response. The API server of a workload cluster is any server that a
/// kubeconfig names.
fn longest_response(purpose: KubeClient, verb: Verb) -> usize {
    const KIB: usize = 1024;
    match (purpose, verb) {
        // The response of `/version`.
        (KubeClient::Workload, verb) if !verb.writes() => 64 * KIB,
        // A Node; etcd stores no object of more than 1.5 MiB.
        (KubeClient::Workload, _) => 2 * KIB * KIB,
        (KubeClient::Work | KubeClient::Lease, Verb::List | Verb::Watch) => usize::MAX,
        // A user with groups and other attributes.
        (KubeClient::Review, _) => 256 * KIB,
        (KubeClient::Work | KubeClient::Lease, _) => 8 * KIB * KIB,
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

/// Whether a path names all objects of a kind: `/api/v1[/namespaces/<ns>]/<plural>`, or the same below
/// `/apis/<group>/<version>`.
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

    /// A client for that purpose and a server that responds to every request with this body.
    fn responding_with(purpose: KubeClient, body: Vec<u8>) -> Client {
        let response = move |_: Request<Body>| {
            let body = body.clone();
            async move { Ok(Response::new(Body::from(body))) }
        };
        of_server(purpose, response)
    }

    async fn asked(client: &Client, path: &str) -> Result<String, kube::Error> {
        client.request_text(Request::get(path).body(Vec::new()).unwrap()).await
    }

    #[tokio::test]
    async fn responses_are_read_up_to_their_largest_size() {
        const MIB: usize = 1024 * 1024;
        let long = || vec![b' '; 9 * MIB];
        let workload = responding_with(KubeClient::Workload, vec![b' '; 65 * 1024]);
        asked(&workload, "/version").await.unwrap_err();
        let work = responding_with(KubeClient::Work, long());
        asked(&work, "/api/v1/namespaces/ns/secrets/a").await.unwrap_err();
        assert_eq!(asked(&work, "/api/v1/namespaces/ns/secrets?limit=500").await.unwrap().len(), 9 * MIB);
        let short = responding_with(KubeClient::Workload, vec![b' '; 1024]);
        assert_eq!(asked(&short, "/version").await.unwrap().len(), 1024);
    }

    /// A client for that purpose and this server.
    fn of_server<S, R>(purpose: KubeClient, respond: S) -> Client
    where
        S: Fn(Request<Body>) -> R + Send + 'static,
        R: Future<Output = Result<Response<Body>, BoxError>> + Send + 'static,
    {
        let (pace, metrics) = (Pace::default(), Metrics::new());
        let meter = Meter { purpose, limiter: None, leadership: None, clock: None, pace, metrics };
        Client::new(meter.layer(tower::service_fn(respond)), "default")
    }

    #[tokio::test]
    async fn a_request_that_is_not_polled_any_more_stops_no_other() {
        // As kube's lock around the token in a file: it is handed to who waits longest.
        let token = Arc::new(tokio::sync::Mutex::new(()));
        let arrived = Arc::new(tokio::sync::Semaphore::new(0));
        let server = {
            let (token, arrived) = (Arc::clone(&token), Arc::clone(&arrived));
            move |_request| {
                let (token, arrived) = (Arc::clone(&token), Arc::clone(&arrived));
                async move {
                    arrived.add_permits(1);
                    let _read = token.lock().await;
                    Ok(Response::new(Body::from(b"{}".to_vec())))
                }
            }
        };
        let client = of_server(KubeClient::Work, server);
        let held = token.lock().await;
        let mut watch = std::pin::pin!(asked(&client, "/version"));
        while arrived.available_permits() == 0 {
            assert!(futures::poll!(watch.as_mut()).is_pending());
            tokio::task::yield_now().await;
        }
        drop(held);
        let other = timeout(Duration::from_secs(10), asked(&client, "/version")).await;
        assert_eq!(other.expect("it waits for the first one").unwrap(), "{}");
    }

    /// Drops the permit with the request that holds it.
    fn that_never_responds(requests: &Arc<tokio::sync::Semaphore>) -> Client {
        let requests = Arc::clone(requests);
        of_server(KubeClient::Work, move |_request| {
            let requests = Arc::clone(&requests);
            async move {
                let _one = requests.acquire_owned().await;
                std::future::pending().await
            }
        })
    }

    #[tokio::test]
    async fn a_request_whose_caller_does_not_wait_any_more_is_cancelled() {
        let requests = Arc::new(tokio::sync::Semaphore::new(1));
        let client = that_never_responds(&requests);
        {
            let mut request = std::pin::pin!(asked(&client, "/version"));
            while requests.available_permits() == 1 {
                assert!(futures::poll!(request.as_mut()).is_pending());
                tokio::task::yield_now().await;
            }
        }
        let cancelled = timeout(Duration::from_secs(10), requests.acquire()).await;
        drop(cancelled.expect("it is still under way").unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_gets_no_response_ends() {
        let client = that_never_responds(&Arc::new(tokio::sync::Semaphore::new(1)));
        let response = timeout(TIMEOUT * 2, asked(&client, "/version")).await;
        let error = response.expect("it waits for longer").unwrap_err();
        assert!(error.to_string().contains("did not respond within 65 s"), "{error}");
    }

    /// How long the second of two reads waits after a response with `Retry-After` to the first.
    async fn waits_after_a_refusal(purpose: KubeClient) -> Duration {
        let client = of_server(purpose, |_request| async {
            let refusal = Response::builder().status(429).header("Retry-After", "8");
            Ok(refusal.body(Body::from(b"{}".to_vec())).unwrap())
        });
        let began = Instant::now();
        for _ in 0..2 {
            asked(&client, "/version").await.unwrap_err();
        }
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn every_client_except_that_of_the_lease_waits_when_the_api_server_asks_to() {
        for purpose in [KubeClient::Work, KubeClient::Workload, KubeClient::Review] {
            assert_eq!(waits_after_a_refusal(purpose).await, Duration::from_secs(8), "{purpose:?}");
        }
        assert_eq!(waits_after_a_refusal(KubeClient::Lease).await, Duration::ZERO);
    }

    #[tokio::test]
    async fn a_request_with_an_invalid_name_is_not_sent() {
        let client = responding_with(KubeClient::Work, b"{}".to_vec());
        let secrets: kube::Api<k8s_openapi::api::core::v1::Secret> = kube::Api::namespaced(client, "ns");
        let error = secrets.get("?watch=true&x=").await.unwrap_err();
        assert!(error.to_string().contains("not sent"), "{error}");
        secrets.get("boot").await.unwrap();
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
