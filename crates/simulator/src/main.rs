//! `foo-sim`: the simulated AWS as a program.

use anyhow::Context as _;
use clap::Parser;
use foo_simulator::{
    AccessKey, DEFAULT_ACCOUNT, DEFAULT_REGION, Pace, Simulator, SimulatorConfig, Throttling,
};
use std::io::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

/// An AWS in one process: Auto Scaling, EC2 and STS for tests and demos.
///
/// Point any AWS SDK at it with AWS_ENDPOINT_URL; any access key will do. Control API: GET /_sim/state, /_sim/calls,
/// POST /_sim/clock, /_sim/faults, …
#[derive(Debug, Parser)]
#[command(version)]
struct Flags {
    /// Address to listen on; port 0 takes a free one.
    #[arg(long, env = "FOO_SIM_LISTEN", default_value = "127.0.0.1:4566")]
    listen: SocketAddr,
    /// Region that exists from the start; can be given several times. Others appear when they are first used.
    #[arg(long, default_value = DEFAULT_REGION)]
    region: Vec<String>,
    /// The account: 12 digits.
    #[arg(long, default_value = DEFAULT_ACCOUNT)]
    account: String,
    /// Virtual seconds per real second.
    #[arg(long, default_value_t = 1.0, value_parser = parse_factor)]
    factor: f64,
    /// Stop the clock; it then moves only by POST /_sim/clock.
    #[arg(long, conflicts_with = "factor")]
    stepped: bool,
    /// Seed of ids, delays and choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Virtual seconds from the start of a launch to InService.
    #[arg(long, default_value_t = 20.0, value_parser = parse_seconds)]
    launch_seconds: f64,
    /// Virtual seconds from the start of a termination to its end.
    #[arg(long, default_value_t = 15.0, value_parser = parse_seconds)]
    terminate_seconds: f64,
    /// Percent by which single launches and terminations differ from that.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=100))]
    spread_percent: u32,
    /// Most virtual seconds until a group notices that a member died.
    #[arg(long, default_value_t = 30.0, value_parser = parse_seconds)]
    health_check_seconds: f64,
    /// Virtual seconds by which the answers of Describe calls lag behind.
    #[arg(long, default_value_t = 0.0, value_parser = parse_seconds)]
    read_lag_seconds: f64,
    /// Access key that is known, as ID:SECRET, with all permissions; can be given several times. Signatures are verified
    /// as soon as there is one.
    #[arg(long, value_parser = parse_key)]
    key: Vec<AccessKey>,
    /// Never throttle.
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
    let handle = Simulator::start(config).await.with_context(|| format!("cannot listen on {listen}"))?;
    // Programs that start this one wait for this line.
    let mut out = std::io::stdout();
    writeln!(out, "listening on {}", handle.endpoint())
        .and_then(|()| out.flush())
        .context("cannot write to stdout")?;
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
