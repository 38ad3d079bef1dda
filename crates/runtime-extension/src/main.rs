//! The extension's process: flags, logs, TLS, then the server.

use anyhow::Context as _;
use clap::Parser;
use foo_runtime_extension::args::{Args, LogFormat};
use foo_runtime_extension::aws::Aws;
use foo_runtime_extension::clouds::Clouds;
use foo_runtime_sdk::server::{Files, Options, Server};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    logs(args.log_format, &args.log_level);
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

fn logs(format: LogFormat, level: &str) {
    let filter = EnvFilter::builder().parse_lossy(level);
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => lines.init(),
        LogFormat::Json => lines.json().flatten_event(true).init(),
    }
}
