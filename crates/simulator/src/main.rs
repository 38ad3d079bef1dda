//! `foo-sim`: the simulated AWS as a program.

use anyhow::Context as _;
use clap::Parser;
use foo_simulator::{AccessKey, DEFAULT_ACCOUNT, DEFAULT_REGION, Handle, Pace, SimulatorConfig, Throttling};
use std::io::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

/// Simulates AWS in one process: Auto Scaling, EC2, Elastic Load Balancing, EKS, IAM, S3, Service Quotas, SQS, SSM and STS, for tests
/// and demos.
///
/// Point any AWS SDK at it with AWS_ENDPOINT_URL; without --key it accepts any access key. Its control API is
/// at /_sim: GET /_sim/state, GET /_sim/calls, POST /_sim/clock, POST /_sim/faults, …
#[derive(Debug, Parser)]
#[command(version)]
struct Flags {
    /// Address and port to listen on; port 0 chooses a free port.
    #[arg(long, env = "FOO_SIM_LISTEN", default_value = "127.0.0.1:4566")]
    listen: SocketAddr,
    /// Region that exists from the start; can be repeated. Other regions are created when they are first
    /// used.
    #[arg(long, default_value = DEFAULT_REGION)]
    region: Vec<String>,
    /// AWS account id, 12 digits.
    #[arg(long, default_value = DEFAULT_ACCOUNT)]
    account: String,
    /// Speed of the virtual clock: virtual seconds per real second, at most 1000000.
    #[arg(long, default_value_t = 1.0, value_parser = parse_factor)]
    factor: f64,
    /// Stop the virtual clock; it then advances only by POST /_sim/clock.
    #[arg(long, conflicts_with = "factor")]
    stepped: bool,
    /// Seed of the random ids, delays and choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Virtual seconds that an instance takes from its launch to InService.
    #[arg(long, default_value_t = 20.0, value_parser = parse_seconds)]
    launch_seconds: f64,
    /// Virtual seconds that a termination takes.
    #[arg(long, default_value_t = 15.0, value_parser = parse_seconds)]
    terminate_seconds: f64,
    /// Percentage, 0 to 100, by which the times of single launches and terminations vary.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=100))]
    spread_percent: u32,
    /// Maximum virtual seconds until a group notices that one of its instances was terminated.
    #[arg(long, default_value_t = 30.0, value_parser = parse_seconds)]
    health_check_seconds: f64,
    /// Virtual seconds by which responses of Describe calls are out of date.
    #[arg(long, default_value_t = 0.0, value_parser = parse_seconds)]
    read_lag_seconds: f64,
    /// Access key with all permissions, as ID:SECRET; can be repeated. With at least one key the simulator
    /// verifies signatures and refuses unknown keys.
    #[arg(long, value_parser = parse_key)]
    key: Vec<AccessKey>,
    /// Never throttle calls.
    #[arg(long)]
    no_throttling: bool,
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|error| format!("{error}"))?;
    Duration::try_from_secs_f64(seconds).map(|_| seconds).map_err(|error| error.to_string())
}

fn parse_key(text: &str) -> Result<AccessKey, String> {
    match text.split_once(':') {
        Some((id, secret)) if !id.is_empty() && !secret.is_empty() => {
            Ok(AccessKey { id: id.to_owned(), secret: secret.to_owned(), policy: None })
        }
        _ => Err("must be ID:SECRET".to_owned()),
    }
}

fn parse_factor(text: &str) -> Result<f64, String> {
    let factor: f64 = text.parse().map_err(|error| format!("{error}"))?;
    if factor > 0.0 && factor <= 1e6 {
        Ok(factor)
    } else {
        Err("must be above 0 and at most 1000000".to_owned())
    }
}

impl Flags {
    fn config(self) -> SimulatorConfig {
        let mut config = SimulatorConfig {
            seed: self.seed,
            pace: if self.stepped { Pace::Stepped } else { Pace::Scaled { factor: self.factor } },
            account: self.account,
            regions: self.region,
            keys: self.key,
            listen: self.listen,
            ..SimulatorConfig::default()
        };
        if self.no_throttling {
            config.throttling = Throttling::OFF;
        }
        config.settings.launch = Duration::from_secs_f64(self.launch_seconds);
        config.settings.terminate = Duration::from_secs_f64(self.terminate_seconds);
        config.settings.spread_percent = self.spread_percent;
        config.settings.health_check = Duration::from_secs_f64(self.health_check_seconds);
        config.settings.read_lag = Duration::from_secs_f64(self.read_lag_seconds);
        config
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
    let config = Flags::parse().config();
    let listen = config.listen;
    let handle = Handle::start(config).await.with_context(|| format!("could not listen on {listen}"))?;
    // Programs that start the simulator wait for this line.
    let mut out = std::io::stdout();
    writeln!(out, "listening on {}", handle.endpoint())
        .and_then(|()| out.flush())
        .context("could not write to stdout")?;
    tokio::select! {
        () = handle.finished() => anyhow::bail!("the server stopped"),
        signal = tokio::signal::ctrl_c() => signal.context("cannot wait for signals"),
        () = terminated() => Ok(()),
    }
}

/// SIGTERM.
async fn terminated() {
    match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    }
}
