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
    let traces = Some(args.traces_endpoint.as_str()).filter(|url| !url.is_empty());
    let telemetry = telemetry::start(args.log_format, &args.log_level, traces)?;
    // One TLS implementation for both the API server and AWS; this fails only if one was chosen before.
    let _chosen = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let config = args.into_config()?;
    let factory = Arc::new(aws::Aws::new(config.aws_endpoint_url.clone()));
    Ok(match run::run(config, factory, telemetry.log_level.clone()).await? {
        End::Stopped => {
            telemetry.end().await;
            ExitCode::SUCCESS
        }
        // At once: another replica may lead.
        End::LeadLost | End::ClockSetBack => ExitCode::FAILURE,
    })
}
