//! Calls by hook and outcome, in the OpenMetrics format.

#![expect(clippy::disallowed_types, reason = "a member appears with the first call; no alert counts them")]

use crate::hooks::CATALOGUE;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::fmt;
use std::time::Duration;

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum CallOutcome {
    /// Continue.
    Success,
    /// Call again later.
    Retry,
    /// The handler refuses.
    Failure,
    /// The handler took too long.
    Late,
    /// The handler panicked.
    Panic,
    /// No handler was called, since too many calls came at the same time.
    Busy,
    /// No handler was called: a body over the bound, an address that is not served.
    Refused,
}

impl EncodeLabelValue for CallOutcome {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        EncodeLabelValue::encode(&<&str>::from(self), encoder)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    hook: &'static str,
    outcome: CallOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct HookLabel {
    hook: &'static str,
}

/// The hook of a request that names none.
pub(crate) const NO_HOOK: &str = "none";

/// Counters of a server.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    calls: Family<Labels, Counter>,
    seconds: Family<HookLabel, Histogram>,
    certificate_failures: Counter,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// All at zero.
    pub fn new() -> Self {
        let mut registry = Registry::default();
        let calls = Family::<Labels, Counter>::default();
        let seconds = Family::<HookLabel, Histogram>::new_with_constructor(|| {
            Histogram::new([0.001, 0.005, 0.02, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0])
        });
        let certificate_failures = Counter::default();
        registry.register("runtime_extension_calls", "Calls by hook and outcome", calls.clone());
        registry.register("runtime_extension_call_seconds", "Time to a response, by hook", seconds.clone());
        registry.register(
            "runtime_extension_certificate_failures",
            "Times that changed certificate files could not be used; the ones before stay in use",
            certificate_failures.clone(),
        );
        Self { registry, calls, seconds, certificate_failures }
    }

    pub(crate) fn called(&self, hook: &'static str, outcome: CallOutcome, took: Duration) {
        debug_assert!(
            hook == NO_HOOK || CATALOGUE.iter().any(|row| row.name == hook),
            "labels are from the catalogue"
        );
        self.calls.get_or_create(&Labels { hook, outcome }).inc();
        self.seconds.get_or_create(&HookLabel { hook }).observe(took.as_secs_f64());
    }

    pub(crate) fn certificate_failed(&self) {
        self.certificate_failures.inc();
    }

    /// Calls that ended so.
    pub fn calls(&self, hook: &'static str, outcome: CallOutcome) -> u64 {
        self.calls.get_or_create(&Labels { hook, outcome }).get()
    }

    /// All of them as text.
    ///
    /// # Errors
    ///
    /// When the encoder fails, which it does not for these types.
    pub fn encode(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
