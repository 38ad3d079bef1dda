//! The metrics of this crate. Every label is an enum, so their count is bounded.
//! `code` is `ok` or the text of an [`ErrorKind`]. The page docs/operations/metrics.md lists them.

use crate::bucket::Bucket;
use crate::error::ErrorKind;
use crate::initialized::{InitialLabels, Initialized, each};
use foo_model::Operation;
use foo_model::operation::Priority;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::fmt;
use std::time::Duration;
use strum::IntoEnumIterator;

crate::metric_set! {
    /// All metrics of this crate. Clones share the same numbers.
    pub struct Metrics {
        requests: Initialized<CallOutcome, Counter>, "foo_aws_requests", "Finished AWS calls";
        // 10 ms … 41 s: from a cached response to a full set of retries.
        seconds: Initialized<Call, Histogram> =
            Initialized::with(|| Histogram::new(exponential_buckets(0.01, 2.0, 13))),
            "foo_aws_request_seconds", "Duration of AWS calls, without the wait for the client-side rate limit";
        waits: Initialized<WaitLabels, Histogram> =
            Initialized::with(|| Histogram::new(exponential_buckets(0.01, 4.0, 8))),
            "foo_aws_token_wait_seconds", "How long AWS calls waited for the client-side rate limit";
        waiting: Initialized<WaitLabels, Gauge>,
            "foo_aws_calls_waiting", "AWS calls that wait for the client-side rate limit";
        tokens: Initialized<BucketLabel, Gauge>,
            "foo_aws_tokens_left", "Tokens left in the client-side rate limit after the last call";
        rates: Initialized<BucketLabel, Gauge>,
            "foo_aws_rate_percent",
            "Current rate of the client-side rate limit, in percent of the configured rate; below 100 after AWS throttled calls";
        sweeps: Initialized<SweepOutcome, Counter>,
            "foo_observer_sweeps", "DescribeAutoScalingGroups calls of the observer";
        // 1 s … 34 min: from a group that is being worked on to an outage.
        ages: Histogram = Histogram::new(exponential_buckets(1.0, 2.0, 12)),
            "foo_observation_age_seconds", "Age of what is known of a group when it is described again";
    }
}

impl Metrics {
    /// Metrics that are not read, for tests and tools.
    pub fn unregistered() -> Self {
        Self::register(&mut Registry::default())
    }

    pub(crate) fn call_ended(&self, operation: Operation, code: Code, took: Duration) {
        let (service, action) = (operation.service().into(), operation.name());
        self.seconds.of(&Call { service, action }).observe(took.as_secs_f64());
        self.requests.of(&CallOutcome::of(operation, code)).inc();
    }

    /// A call begins to wait for a token.
    pub(crate) fn call_waits(&self, bucket: Bucket, priority: Priority) -> WaitingCall {
        let waiting: Gauge = self.waiting.of(&WaitLabels::of(bucket, priority)).clone();
        waiting.inc();
        WaitingCall(waiting)
    }

    pub(crate) fn token_taken(
        &self,
        bucket: Bucket,
        priority: Priority,
        waited: Duration,
        left: u32,
        rate_percent: u32,
    ) {
        self.waits.of(&WaitLabels::of(bucket, priority)).observe(waited.as_secs_f64());
        let label = BucketLabel { bucket };
        self.tokens.of(&label).set(i64::from(left));
        self.rates.of(&label).set(i64::from(rate_percent));
    }

    pub(crate) fn sweep_ended(&self, code: Code) {
        self.sweeps.of(&SweepOutcome { code }).inc();
    }

    pub(crate) fn observation_aged(&self, age: Duration) {
        self.ages.observe(age.as_secs_f64());
    }
}

/// A call that waits for a token; counted until it is dropped.
pub(crate) struct WaitingCall(Gauge);

impl Drop for WaitingCall {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// How a call ended, as a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Code {
    Ok,
    Failed(ErrorKind),
}

impl Code {
    pub(crate) fn of<T>(result: &crate::Result<T>) -> Self {
        match result {
            Ok(_) => Self::Ok,
            Err(error) => Self::Failed(error.kind),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Call {
    service: &'static str,
    action: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallOutcome {
    service: &'static str,
    action: &'static str,
    priority: &'static str,
    code: Code,
}

impl CallOutcome {
    fn of(operation: Operation, code: Code) -> Self {
        let (service, priority) = (operation.service().into(), operation.priority().into());
        Self { service, action: operation.name(), priority, code }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BucketLabel {
    bucket: Bucket,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WaitLabels {
    bucket: Bucket,
    priority: &'static str,
}

impl WaitLabels {
    fn of(bucket: Bucket, priority: Priority) -> Self {
        Self { bucket, priority: priority.into() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SweepOutcome {
    code: Code,
}

/// With the codes that alerts count: with all of them these would be fifteen hundred series, nearly all of which stay
/// 0.
impl InitialLabels for CallOutcome {
    fn initial() -> Vec<Self> {
        let counted = [ErrorKind::Throttled, ErrorKind::Denied, ErrorKind::Credentials].map(Code::Failed);
        let of = |operation: Operation| counted.map(|code| Self::of(operation, code));
        Operation::iter().flat_map(of).collect()
    }
}

/// None: a histogram has fifteen series, and no alert counts durations of calls.
impl InitialLabels for Call {
    fn initial() -> Vec<Self> {
        Vec::new()
    }
}

/// None: a limit that no call has used has no state that could be shown.
impl InitialLabels for BucketLabel {
    fn initial() -> Vec<Self> {
        Vec::new()
    }
}

/// None, for the same reason.
impl InitialLabels for WaitLabels {
    fn initial() -> Vec<Self> {
        Vec::new()
    }
}

impl InitialLabels for SweepOutcome {
    fn initial() -> Vec<Self> {
        let failed = each(|kind| Self { code: Code::Failed(kind) });
        failed.into_iter().chain([Self { code: Code::Ok }]).collect()
    }
}

impl EncodeLabelValue for Code {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        let text: &'static str = match self {
            Self::Ok => "ok",
            Self::Failed(kind) => (*kind).into(),
        };
        EncodeLabelValue::encode(&text, encoder)
    }
}

impl EncodeLabelValue for Bucket {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        let text: &'static str = self.into();
        EncodeLabelValue::encode(&text, encoder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn the_exposition_has_the_documented_names_and_labels() {
        let mut registry = Registry::default();
        let metrics = Metrics::register(&mut registry);
        metrics.call_ended(
            Operation::DescribeInstances,
            Code::Failed(ErrorKind::Throttled),
            Duration::from_secs(1),
        );
        let waits = metrics.call_waits(Bucket::AutoScaling, Priority::Launch);
        drop(metrics.call_waits(Bucket::Ec2Describe, Priority::Read));
        metrics.token_taken(Bucket::Ec2Describe, Priority::Read, Duration::ZERO, 79, 100);
        metrics.sweep_ended(Code::Ok);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        drop(waits);
        for line in [
            r#"foo_aws_requests_total{service="ec2",action="DescribeInstances",priority="read",code="Throttled"} 1"#,
            r#"foo_aws_request_seconds_count{service="ec2",action="DescribeInstances"} 1"#,
            r#"foo_aws_token_wait_seconds_count{bucket="ec2_describe",priority="read"} 1"#,
            r#"foo_aws_calls_waiting{bucket="auto_scaling",priority="launch"} 1"#,
            r#"foo_aws_calls_waiting{bucket="ec2_describe",priority="read"} 0"#,
            r#"foo_aws_tokens_left{bucket="ec2_describe"} 79"#,
            r#"foo_aws_rate_percent{bucket="ec2_describe"} 100"#,
            r#"foo_observer_sweeps_total{code="ok"} 1"#,
            "foo_observation_age_seconds_count 0",
        ] {
            assert!(text.contains(line), "{line} is missing in\n{text}");
        }
    }
}
