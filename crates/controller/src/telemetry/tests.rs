//! What is logged, in which form, and what traces consist of.

use super::traces::{Client, provider, sent, spans};
use super::*;
use crate::client;
use crate::clock::KubernetesClock;
use crate::labels::{Controller, PassResult};
use crate::leader::Leadership;
use crate::metrics::Metrics;
use crate::passes::{self, Underway};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use foo_cloud::SystemClock;
use http::{Request, Response};
use kube::client::Body;
use opentelemetry_http::HttpClient as _;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Attribute;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;
use tower::BoxError;
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing::{Dispatch, Instrument as _, Subscriber};
use tracing_subscriber::registry::LookupSpan;

/// What was logged.
#[derive(Clone, Default)]
pub(crate) struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What is logged, what changes it, and what logs.
pub(crate) fn logged(
    format: LogFormat,
    level: &str,
) -> (Written, LogLevel, impl Subscriber + for<'s> LookupSpan<'s> + Send + Sync + use<>) {
    let written = Written::default();
    let writer = written.clone();
    let (log_level, lines) = logs(format, level, move || writer.clone());
    (written, log_level, tracing_subscriber::registry().with(lines))
}

/// Sends this thread's lines and spans there until the guard is dropped.
///
/// While a process has a single subscriber, tracing-core asks the one of the thread that reaches a line first, and skips that
/// line for all threads if there is none. Two that want nothing and stay prevent that.
pub(crate) fn set_default(subscriber: impl Subscriber + Send + Sync) -> DefaultGuard {
    static OTHERS: LazyLock<[Dispatch; 2]> =
        LazyLock::new(|| [Dispatch::new(NoSubscriber::new()), Dispatch::new(NoSubscriber::new())]);
    LazyLock::force(&OTHERS);
    tracing::subscriber::set_default(subscriber)
}

/// One that changes nothing.
pub(crate) fn log_level() -> LogLevel {
    LogLevel::new("info").0
}

#[test]
fn responses_that_kube_cannot_decode_are_never_logged() {
    for format in [LogFormat::Text, LogFormat::Json] {
        for level in [
            "trace",
            "kube_client=trace",
            "kube_client::client=trace,info",
            "kube_client::client::builder=trace",
        ] {
            let (written, _level, subscriber) = logged(format, level);
            {
                let _logging = set_default(subscriber);
                tracing::warn!(target: "kube_client::client", "hush, {:?}", "error");
                tracing::error!(target: "kube_client::client::builder", "hush");
                if level == "trace" {
                    tracing::warn!(target: "foo_controller::x", "hello");
                }
            }
            let text = written.text();
            assert!(!text.contains("hush"), "{level}: {text}");
            assert_eq!(text.contains("hello"), level == "trace", "{level}: {text}");
        }
    }
}

/// What other crates log below info has bodies and headers.
#[test]
fn other_crates_log_nothing_below_info() {
    let (written, _level, subscriber) = logged(LogFormat::Text, "trace");
    assert_eq!(subscriber.max_level_hint(), Some(LevelFilter::TRACE));
    {
        let _logging = set_default(subscriber);
        tracing::debug!(target: "aws_smithy_runtime::client", "hush");
        tracing::trace!(target: "hyper::proto", "hush");
        tracing::info!(target: "hyper::proto", "listening");
        tracing::trace!(target: "foo_planner::plan", "details");
    }
    let text = written.text();
    assert!(!text.contains("hush") && text.contains("listening") && text.contains("details"), "{text}");
}

/// Lines that no filter wants cost nothing: they are switched off where they are.
#[test]
fn lines_below_the_level_are_not_even_filtered() {
    let (_written, _level, subscriber) = logged(LogFormat::Json, "info");
    assert_eq!(subscriber.max_level_hint(), Some(LevelFilter::INFO));
}

#[test]
fn a_line_has_the_controller_the_object_and_the_id_of_its_pass() {
    let (written, _level, subscriber) = logged(LogFormat::Json, "info");
    // With traces, spans of requests exist as well.
    let subscriber = subscriber.with(tracing_subscriber::fmt::layer().with_writer(io::sink));
    let id = Underway::default().begins(Controller::Pool);
    {
        let _logging = set_default(subscriber);
        let pass = passes::span(Controller::Pool, &passes::named(Some("team-a"), "workers"), id);
        let request = tracing::info_span!(target: foo_cloud::lines::TRACES, "aws");
        pass.in_scope(|| request.in_scope(|| tracing::info!(instances = 3, "launching")));
    }
    let line: Value = serde_json::from_str(&written.text()).unwrap();
    assert_eq!((&line["message"], &line["instances"]), (&"launching".into(), &3.into()));
    let span = &line["span"];
    assert_eq!((&span["name"], &span["controller"]), (&"pass".into(), &"pool".into()));
    assert_eq!((&span["object"], &span["pass"]), (&"team-a/workers".into(), &id.to_string().into()));
}

#[tokio::test(start_paused = true)]
async fn the_level_of_the_projects_own_modules_is_changed_for_a_time() {
    let (written, level, subscriber) = logged(LogFormat::Text, "foo_eks=error,info");
    let _logging = set_default(subscriber);
    let lines = |say: &dyn Fn()| {
        let before = written.text().len();
        say();
        written.text()[before..].lines().count()
    };
    let debug = || {
        tracing::debug!(target: "foo_controller::pool", "details");
        tracing::debug!(target: "foo_eks::steps", "details");
        tracing::debug!(target: "hyper::proto", "authorization: Bearer t");
    };
    assert_eq!(lines(&debug), 0);
    level.change("debug", None).unwrap();
    assert_eq!(lines(&debug), 2);
    level.change("foo_controller=debug", Some(Duration::from_mins(1))).unwrap();
    assert_eq!(lines(&debug), 1);
    assert_eq!(serde_json::to_value(level.shown()).unwrap()["secondsLeft"], 60);
    // The end of the first change does not end the second one, and that of the second one does.
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(lines(&debug), 0);
    level.change("trace", None).unwrap();
    assert_eq!(lines(&debug), 2);
    let shown = serde_json::to_value(level.reset()).unwrap();
    assert_eq!((lines(&debug), &shown["filter"]), (0, &"foo_eks=error,info".into()));
}

#[tokio::test]
async fn only_valid_levels_of_own_modules_are_accepted() {
    let level = log_level();
    for wrong in
        ["", "loud", "5", "hyper=trace", "foo_eks", "foo_eks=", "foo_eks[x]=debug", "debug,hyper=debug"]
    {
        level.change(wrong, None).unwrap_err();
    }
    for seconds in [0, 25 * 3600] {
        level.change("debug", Some(Duration::from_secs(seconds))).unwrap_err();
    }
    assert_eq!(serde_json::to_value(level.shown()).unwrap()["filter"], "info");
}

type Bodies = Arc<Mutex<Vec<Bytes>>>;

/// A collector, its address, and what it received.
async fn collector() -> (String, Bodies) {
    let bodies = Bodies::default();
    let keep = |State(bodies): State<Bodies>, body: Bytes| async move { bodies.lock().unwrap().push(body) };
    let router = Router::new().route("/v1/traces", post(keep)).with_state(Arc::clone(&bodies));
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}/v1/traces", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, bodies)
}

fn received(bodies: &Bodies) -> BTreeMap<String, Span> {
    let requests = bodies.lock().unwrap().clone();
    let requests = requests.into_iter().map(|body| ExportTraceServiceRequest::decode(body).unwrap());
    let scopes = requests.flat_map(|it| it.resource_spans).flat_map(|it| it.scope_spans);
    scopes.flat_map(|it| it.spans).map(|span| (span.name.clone(), span)).collect()
}

fn attribute(span: &Span, key: &str) -> Option<Attribute> {
    span.attributes.iter().find(|it| it.key == key)?.value.clone()?.value
}

/// An API server that responds with 404.
fn kubernetes() -> kube::Client {
    let server = tower::service_fn(|_: Request<Body>| async {
        let status = br#"{"kind": "Status", "code": 404, "reason": "NotFound"}"#.to_vec();
        Ok::<_, BoxError>(Response::builder().status(404).body(Body::from(status))?)
    });
    let clock = KubernetesClock::with(Arc::new(SystemClock::start()));
    client::over(server, Leadership::always(), clock, Metrics::new())
}

#[tokio::test]
async fn a_pass_is_a_trace_with_a_span_for_each_request() {
    let (url, bodies) = collector().await;
    let provider = provider(&url).unwrap();
    let tracing = set_default(tracing_subscriber::registry().with(spans(&provider)));
    let id = Underway::default().begins(Controller::Eks);
    let pass = passes::span(Controller::Eks, "team-a/main", id);
    let read = async {
        let request = Request::get("/api/v1/namespaces/team-a/secrets/a").body(Vec::new()).unwrap();
        kubernetes().request_text(request).await.unwrap_err();
        tracing::info!("a line is no event of a trace");
    };
    read.instrument(pass.clone()).await;
    passes::ends(&pass, PassResult::Failed);
    drop(pass);
    drop(tracing);
    sent(provider).await;

    let spans = received(&bodies);
    assert_eq!(spans.keys().collect::<Vec<_>>(), ["kubernetes get", "pass"]);
    let (pass, request) = (&spans["pass"], &spans["kubernetes get"]);
    assert_eq!((&request.parent_span_id, &request.trace_id), (&pass.span_id, &pass.trace_id));
    let text = |text: &str| Some(Attribute::StringValue(text.to_owned()));
    assert_eq!(attribute(pass, "object"), text("team-a/main"));
    assert_eq!(attribute(pass, "pass"), text(&id.to_string()));
    assert_eq!(attribute(pass, "result"), text("failed"));
    assert_eq!(attribute(request, "http.response.status_code"), Some(Attribute::IntValue(404)));
    assert_eq!(attribute(request, "url.path"), text("/api/v1/namespaces/team-a/secrets/a"));
    assert!(pass.events.is_empty() && [pass, request].iter().all(|it| it.status.as_ref().unwrap().code == 2));
}

#[tokio::test(start_paused = true)]
async fn a_collector_that_does_not_respond_is_logged_once() {
    let (written, _level, logs) = logged(LogFormat::Text, "info");
    let _logging = set_default(logs);
    let client = Client::new().unwrap();
    let send = async |url: &str| client.send_bytes(Request::post(url).body(Bytes::new()).unwrap()).await;
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let silent = format!("http://{}/v1/traces", listener.local_addr().unwrap());
    let (url, _bodies) = collector().await;
    send(&silent).await.unwrap_err();
    drop(listener);
    send(&silent).await.unwrap_err();
    assert_eq!(send(&url.replace("traces", "metrics")).await.unwrap().status(), 404);
    send(&url).await.unwrap();
    send(&url).await.unwrap();
    let text = written.text();
    assert_eq!(text.matches("traces cannot be sent").count(), 1, "{text}");
    assert_eq!(text.matches("accepts traces again").count(), 1, "{text}");
}

#[tokio::test]
async fn an_endpoint_that_cannot_receive_traces_is_refused() {
    for wrong in [
        "collector",
        "http://",
        "/v1/traces",
        "collector:4318",
        "grpc://collector:4317/v1/traces",
        "http://collector:4318",
        "http://user:password@collector:4318/v1/traces",
    ] {
        assert!(provider(wrong).is_err(), "{wrong}");
    }
}
