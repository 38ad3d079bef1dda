//! Traces: one for each reconcile, and one for each FooPlan, with a span for every request to AWS and to Kubernetes. Requests
//! beside them (the observers' reads, leader election) are traces of their own.
//!
//! Spans are sent in batches with OTLP over HTTP, by a thread of the SDK; they are dropped while the collector does not
//! accept them, which is logged once.

use anyhow::ensure;
use async_trait::async_trait;
use bytes::Bytes;
use foo_cloud::lines::OWN;
use http::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use opentelemetry::trace::TracerProvider;
use opentelemetry::{Key, KeyValue};
use opentelemetry_http::hyper::HyperClient;
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::registry::LookupSpan;

/// How long the collector may take to respond.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Name of the service in all spans, unless OpenTelemetry's variables name another.
const SERVICE: &str = "foo-manager";

/// Sends spans to this URL.
///
/// # Errors
/// It is none of http or https with a path, or has a password: errors and lines of a log show it.
pub(super) fn provider(url: &str) -> anyhow::Result<SdkTracerProvider> {
    let uri: http::Uri = url.parse()?;
    ensure!(
        matches!(uri.scheme_str(), Some("http" | "https")),
        "it begins with neither http:// nor https://"
    );
    ensure!(uri.path() != "/", "it has no path: collectors receive traces at /v1/traces");
    let has_user = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
    ensure!(!has_user, "it has a user: set OTEL_EXPORTER_OTLP_HEADERS instead");
    let exporter =
        SpanExporter::builder().with_http().with_http_client(Client::new()?).with_endpoint(url).build()?;
    let detected = Resource::builder().build();
    let text = |key: &'static str| detected.get(&Key::new(key)).map(|value| value.to_string());
    let mut resource =
        Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    if text("service.name").is_none_or(|name| name.starts_with("unknown_service")) {
        resource = resource.with_service_name(SERVICE);
    }
    if let (None, Ok(pod)) = (text("service.instance.id"), std::env::var("POD_NAME")) {
        resource = resource.with_attribute(KeyValue::new("service.instance.id", pod));
    }
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build())
}

/// Makes spans of the project's own crates those of traces. Log lines are none of their events: an exporter's own would
/// make further ones.
pub(super) fn spans<S>(provider: &SdkTracerProvider) -> impl Layer<S> + use<S>
where
    S: Subscriber + for<'s> LookupSpan<'s> + Send + Sync,
{
    let own = filter_fn(|metadata| metadata.is_span() && metadata.target().starts_with(OWN))
        .with_max_level_hint(LevelFilter::INFO);
    tracing_opentelemetry::layer()
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_target(false)
        .with_tracer(provider.tracer(SERVICE))
        .with_filter(own)
}

/// Sends what was not sent yet.
pub(super) async fn sent(provider: SdkTracerProvider) {
    // It blocks until the exporter's thread is done, which waits for tasks of this runtime.
    let _ended = tokio::task::spawn_blocking(move || provider.shutdown()).await;
}

/// Sends in a task of the runtime: the SDK's thread is outside of it.
#[derive(Debug)]
pub(super) struct Client {
    inner: HyperClient<HttpsConnector<HttpConnector>>,
    runtime: Handle,
    /// Whether the last batch was not accepted.
    failing: AtomicBool,
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.inner.clone();
        let response = self.runtime.spawn(async move { client.send_bytes(request).await }).await?;
        let error = match &response {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("the collector responded with {}", response.status())),
            Err(error) => Some(error.to_string()),
        };
        self.note(error.as_deref());
        response
    }
}

impl Client {
    /// In a runtime.
    pub(super) fn new() -> std::io::Result<Self> {
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(rustls::crypto::aws_lc_rs::default_provider())?
            .https_or_http()
            .enable_http1()
            .build();
        let inner = HyperClient::new(connector, TIMEOUT, None);
        Ok(Self { inner, runtime: Handle::current(), failing: AtomicBool::new(false) })
    }

    /// Logs that the collector accepts nothing any more, or accepts spans again.
    fn note(&self, error: Option<&str>) {
        match (error, self.failing.swap(error.is_some(), Ordering::Relaxed)) {
            (Some(error), false) => {
                tracing::warn!(
                    error,
                    "traces cannot be sent; they are dropped until the collector accepts them"
                );
            }
            (None, true) => tracing::info!("the collector accepts traces again"),
            (Some(_), true) | (None, false) => {}
        }
    }
}
