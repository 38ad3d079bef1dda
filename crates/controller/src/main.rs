//! The manager's process: flags, logs, TLS, then [`foo_controller::run`].

use clap::Parser;
use foo_controller::args::Args;
use foo_controller::run::{self, End};
use foo_controller::{aws, telemetry};
use std::process::ExitCode;
use std::sync::Arc;

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    telemetry::start(args.log_format, &args.log_level);
    // One TLS implementation for both the API server and AWS; this fails only if one was chosen before.
    let _chosen = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let config = args.into_config()?;
    let factory = Arc::new(aws::Aws::new(config.aws_endpoint_url.clone()));
    Ok(match run::run(config, factory).await? {
        End::Stopped => ExitCode::SUCCESS,
        End::LeadLost | End::ClockSetBack => ExitCode::FAILURE,
    })
}
