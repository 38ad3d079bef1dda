//! Logs and traces of the process.
//!
//! * this file: both are started here; [`foo_cloud::lines`] has what never appears in logs;
//! * [`level`]: which lines are logged, which can be changed while the process runs;
//! * [`traces`]: spans, sent with OTLP.
//!
//! Every line that is logged during a reconcile has the span `pass`: controller, object, and the id that `/debug` shows with
//! the plan of that pass. Lines about a FooPlan have the span `plan`. Spans of the target [`foo_cloud::lines::TRACES`], one for
//! each request to AWS and to Kubernetes, exist for traces only.

mod level;
#[cfg(test)]
pub(crate) mod tests;
mod traces;

pub use level::{Changed, LogLevel};

use anyhow::Context as _;
use clap::ValueEnum;
use foo_cloud::lines::is_harmless;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::filter::{FilterExt, LevelFilter, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, fmt};

/// Format of the logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Plain text.
    Text,
    /// One JSON object per line.
    Json,
}

/// What was started.
#[derive(Debug)]
pub struct Telemetry {
    /// Changes which lines are logged.
    pub log_level: LogLevel,
    traces: Option<SdkTracerProvider>,
}

/// Starts logging to standard error, and sending traces to this URL, if there is one. `level` is a filter (`info`,
/// `foo_controller=debug,info`). In a tokio runtime.
///
/// # Errors
/// The URL is none.
pub fn start(format: LogFormat, level: &str, traces_endpoint: Option<&str>) -> anyhow::Result<Telemetry> {
    let (log_level, lines) = logs(format, level, std::io::stderr);
    let traces = match traces_endpoint {
        Some(url) => Some(traces::provider(url).context("--traces-endpoint")?),
        None => None,
    };
    let subscriber = tracing_subscriber::registry().with(lines);
    // A layer that is none would keep every line of every crate from being skipped at no cost.
    match &traces {
        Some(traces) => subscriber.with(traces::spans(traces)).init(),
        None => subscriber.init(),
    }
    Ok(Telemetry { log_level, traces })
}

impl Telemetry {
    /// Sends the spans that were not sent yet. Takes five seconds at most.
    pub async fn end(self) {
        if let Some(traces) = self.traces {
            traces::sent(traces).await;
        }
    }
}

/// What writes log lines, and what changes their level.
fn logs<W>(format: LogFormat, level: &str, writer: W) -> (LogLevel, impl Layer<Registry> + use<W>)
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = fmt::layer().with_writer(writer);
    let lines = match format {
        LogFormat::Text => lines.boxed(),
        // The span of a line is its pass: those within it are not the lines'.
        LogFormat::Json => lines.json().flatten_event(true).with_span_list(false).boxed(),
    };
    let (log_level, filter) = LogLevel::new(level);
    let harmless = filter_fn(is_harmless).with_max_level_hint(LevelFilter::TRACE);
    (log_level, lines.with_filter(filter.and(harmless)))
}
