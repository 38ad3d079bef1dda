//! Logs.

use crate::args::LogFormat;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

/// Starts logging to standard error. `level` is a filter (`info`, `foo_controller=debug,info`).
pub fn start(format: LogFormat, level: &str) {
    logs(format, level, std::io::stderr).init();
}

pub(crate) fn logs<W>(format: LogFormat, level: &str, writer: W) -> impl Subscriber + Send + Sync + use<W>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = fmt::layer().with_writer(writer);
    let lines = match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry()
        .with(EnvFilter::builder().parse_lossy(level))
        .with(filter_fn(is_harmless))
        .with(lines)
}

/// Never logs kube's client, whatever the filter is. This keeps Secrets out of the log: kube logs the whole
/// of every response that it cannot decode. (It logs each failed request as well, which the caller does with
/// more context.)
fn is_harmless(metadata: &Metadata<'_>) -> bool {
    !metadata.target().starts_with("kube_client")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::io;
    use std::sync::{Arc, Mutex};

    /// What was logged.
    #[derive(Clone, Default)]
    pub(crate) struct Written(pub(crate) Arc<Mutex<Vec<u8>>>);

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
    fn responses_that_kube_cannot_decode_are_never_logged() {
        for format in [LogFormat::Text, LogFormat::Json] {
            for level in [
                "trace",
                "kube_client=trace",
                "kube_client::client=trace,info",
                "kube_client::client::builder=trace",
            ] {
                let written = Written::default();
                let writer = written.clone();
                tracing::subscriber::with_default(logs(format, level, move || writer.clone()), || {
                    tracing::warn!(target: "kube_client::client", "hush, {:?}", "error");
                    tracing::error!(target: "kube_client::client::builder", "hush");
                    if level == "trace" {
                        tracing::warn!(target: "foo_controller::x", "hello");
                    }
                });
                let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
                assert!(!text.contains("hush"), "{level}: {text}");
                assert_eq!(text.contains("hello"), level == "trace", "{level}: {text}");
            }
        }
    }
}
