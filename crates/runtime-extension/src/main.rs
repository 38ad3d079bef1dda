//! The extension's process: flags, logs, TLS, then the server.

use anyhow::Context as _;
use clap::Parser;
use foo_cloud::lines::is_harmless;
use foo_runtime_extension::args::{Args, LogFormat};
use foo_runtime_extension::aws::Aws;
use foo_runtime_extension::clouds::Clouds;
use foo_runtime_sdk::server::{Files, Options, Server};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tracing::Subscriber;
use tracing_subscriber::filter::{FilterExt, LevelFilter, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    logs(args.log_format, &args.log_level, std::io::stderr).init();
    // One TLS implementation for the server and AWS; it is an error only if it was chosen before.
    let _chosen = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let options = Options {
        address: args.address,
        admin_address: Some(args.admin_address),
        tls: Files {
            certificate: args.certificates.join("tls.crt"),
            key: args.certificates.join("tls.key"),
            client_authorities: Some(args.client_authorities).filter(|it| !it.is_empty()).map(Into::into),
        },
        grace: Duration::from_secs(args.grace_seconds.into()),
    };
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let clouds = Clouds::new(Arc::new(Aws { endpoint_url: args.aws_endpoint_url }));
    let server =
        Server::bind(foo_runtime_extension::extension(clouds)?, options).await.context("starting")?;
    tracing::info!(address = %server.address()?, "ready for calls of Cluster API");
    let stop = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    server.run(stop).await;
    Ok(())
}

/// What writes log lines. Whatever the level is, they have no bodies of the AWS SDK's requests.
fn logs<W>(format: LogFormat, level: &str, writer: W) -> impl Subscriber + Send + Sync + use<W>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = fmt::layer().with_writer(writer);
    let lines = match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    let harmless = filter_fn(is_harmless).with_max_level_hint(LevelFilter::TRACE);
    let filter = EnvFilter::builder().parse_lossy(level).and(harmless);
    tracing_subscriber::registry().with(lines.with_filter(filter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::Mutex;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn other_crates_log_nothing_below_info() {
        for format in [LogFormat::Text, LogFormat::Json] {
            let written = Written::default();
            let writer = written.clone();
            tracing::subscriber::with_default(logs(format, "trace", move || writer.clone()), || {
                tracing::debug!(target: "aws_smithy_runtime::client", "hush");
                tracing::info!(target: "hyper::proto", "listening");
                tracing::trace!(target: "foo_runtime_extension::clouds", "details");
            });
            let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
            assert!(
                !text.contains("hush") && text.contains("listening") && text.contains("details"),
                "{text}"
            );
        }
    }
}
