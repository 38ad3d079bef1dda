//! Logs.

use crate::args::LogFormat;
use tracing_subscriber::EnvFilter;

/// Starts logging to standard error. `level` is a filter (`info`, `foo_controller=debug,info`).
pub fn start(format: LogFormat, level: &str) {
    // kube logs each failed request at error level by itself; whoever sent it does so with more sense.
    let filter = EnvFilter::builder().parse_lossy(format!("{level},kube_client::client=off"));
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => logs.init(),
        LogFormat::Json => logs.json().flatten_event(true).init(),
    }
}
