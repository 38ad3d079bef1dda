//! One call: from a path and a body to a response, in time.
//!
//! Core waits for a handler as long as the handler declared at discovery. Without a response by then it has only an
//! error of its HTTP client to show. So a handler that is late gets a response a little earlier, by one sentence that
//! core can show: a `Failure`, or, for a handler with failure policy `Ignore`, an HTTP error. Core never ignores a
//! `Failure`, and with `Ignore` a broken extension stops nothing. A handler that panics gets a response in the same
//! way, and so does one for which there was no room ([`crate::server::ROOM`]).

use crate::about;
use crate::extension::{Ended, Extension, Handler};
use crate::hooks::FailurePolicy;
use crate::metrics::{CallOutcome, Metrics};
use bytes::Bytes;
use http::StatusCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tracing::Instrument as _;

/// A response to core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status; core takes anything but 200 for an extension that cannot be called.
    pub status: StatusCode,
    /// A response of the hook if the status is 200, otherwise a sentence.
    pub body: Vec<u8>,
}

/// Calls handlers.
#[derive(Debug)]
pub struct Dispatcher {
    extension: Extension,
    metrics: Arc<Metrics>,
}

impl Dispatcher {
    /// Of an extension.
    pub fn new(extension: Extension, metrics: Arc<Metrics>) -> Self {
        Self { extension, metrics }
    }

    /// The handler at a path.
    pub fn handler(&self, path: &str) -> Option<&Handler> {
        self.extension.at(path)
    }

    /// Calls the handler with a body; `asked` is the time-out that core names in the address, if it does.
    ///
    /// The time counts from `received`: the time spent on reading the body is part of it.
    pub async fn call(
        &self,
        handler: &Handler,
        body: Bytes,
        asked: Option<Duration>,
        received: Instant,
    ) -> Reply {
        self.call_keeping(handler, body, asked, received, ()).await
    }

    /// The same; `kept` is dropped when the handler has ended, which is not before it gets a response.
    pub(crate) async fn call_keeping(
        &self,
        handler: &Handler,
        body: Bytes,
        asked: Option<Duration>,
        received: Instant,
        kept: impl Send + 'static,
    ) -> Reply {
        let span = tracing::info_span!(
            "hook",
            hook = handler.hook(),
            handler = handler.name(),
            cluster = %about::cluster(&body),
        );
        let deadline = received + patience(handler.timeout(), asked);
        // A task of its own: a function that blocks its thread does not block the response.
        let call = handler.call(body).instrument(span.clone());
        let task = tokio::spawn(async move {
            let called = call.await;
            drop(kept);
            called
        });
        let abort = task.abort_handle();
        let (reply, outcome) = match tokio::time::timeout_at(deadline, task).await {
            Ok(Ok(called)) => {
                let outcome = match &called.ended {
                    Ended::Success => CallOutcome::Success,
                    Ended::Retry => CallOutcome::Retry,
                    Ended::Failed(message) => {
                        span.in_scope(|| tracing::warn!(message, "the handler returned a failure"));
                        CallOutcome::Failure
                    }
                };
                (Reply { status: StatusCode::OK, body: called.body }, outcome)
            }
            Ok(Err(_panicked)) => {
                span.in_scope(|| tracing::error!("the handler panicked"));
                (broken(handler, &format!("handler {} failed inside", handler.name())), CallOutcome::Panic)
            }
            Err(_late) => {
                abort.abort();
                span.in_scope(|| tracing::warn!("the handler did not respond in time"));
                let seconds = handler.timeout().as_secs();
                let sentence = format!("handler {} did not respond within its {seconds} s", handler.name());
                (broken(handler, &sentence), CallOutcome::Late)
            }
        };
        self.metrics.called(handler.hook(), outcome, received.elapsed());
        reply
    }

    /// A request that did not get as far as a handler.
    pub(crate) fn refused(&self, hook: &'static str, received: Instant) {
        self.metrics.called(hook, CallOutcome::Refused, received.elapsed());
    }

    /// The response to a call that found no room. Core repeats it, as after every failure, with growing pauses.
    pub(crate) fn busy(&self, handler: &Handler, received: Instant) -> Reply {
        tracing::warn!(hook = handler.hook(), handler = handler.name(), "too many calls at the same time");
        self.metrics.called(handler.hook(), CallOutcome::Busy, received.elapsed());
        let name = handler.name();
        broken(
            handler,
            &format!("handler {name} did not get its turn in time: too many calls at the same time"),
        )
    }
}

impl Handler {
    /// How long a call waits for room: half of its time, since the other half is needed to respond.
    pub(crate) fn time_for_turn(&self, asked: Option<Duration>) -> Duration {
        patience(self.timeout(), asked) / 2
    }
}

/// The response for a handler that has none.
fn broken(handler: &Handler, sentence: &str) -> Reply {
    match handler.policy() {
        FailurePolicy::Fail => Reply { status: StatusCode::OK, body: handler.refuse(sentence) },
        FailurePolicy::Ignore => {
            Reply { status: StatusCode::SERVICE_UNAVAILABLE, body: sentence.as_bytes().to_vec() }
        }
    }
}

/// How long a handler may take: what it declared, or less if core requests that, less a twentieth for the way (50 ms to
/// 500 ms).
fn patience(declared: Duration, asked: Option<Duration>) -> Duration {
    let whole = asked.map_or(declared, |asked| asked.min(declared));
    let way = (whole / 20).clamp(Duration::from_millis(50), Duration::from_millis(500));
    whole.saturating_sub(way)
}

/// A duration as Go writes it: `10s`, `1m30s`, `1.5s`, `500ms`.
pub(crate) fn go_duration(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(end);
        let unit_end = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        let seconds = match unit {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        let part = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?;
        total = total.checked_add(part)?;
        rest = tail;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::{BeforeClusterCreate, path};
    use crate::{Decision, Failure};
    use serde_json::{Value, json};

    fn dispatcher(handler: Handler) -> Dispatcher {
        Dispatcher::new(Extension::new([handler]).unwrap(), Arc::new(Metrics::new()))
    }

    async fn called(dispatcher: &Dispatcher, asked: Option<Duration>) -> Reply {
        let handler = dispatcher.handler(&path("BeforeClusterCreate", Some("slow"))).unwrap();
        let body = json!({"cluster": {"metadata": {"name": "c", "namespace": "n"}}}).to_string();
        dispatcher.call(handler, body.into(), asked, Instant::now()).await
    }

    fn never() -> Handler {
        Handler::new(BeforeClusterCreate, "slow", |_request| async {
            std::future::pending::<()>().await;
            Ok(Decision::Proceed)
        })
    }

    #[expect(clippy::manual_assert, reason = "a handler with a fault in it")]
    fn panicking() -> Handler {
        Handler::new(BeforeClusterCreate, "slow", |request| async move {
            if request.cluster.name() == "c" {
                panic!("with a secret in its text");
            }
            Ok::<_, Failure>(Decision::Proceed)
        })
    }

    fn sentence(reply: &Reply) -> (StatusCode, Value) {
        let value = serde_json::from_slice(&reply.body)
            .unwrap_or_else(|_no_json| Value::from(String::from_utf8_lossy(&reply.body).into_owned()));
        (reply.status, value)
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_handler_gets_a_response_before_the_timeout_of_core() {
        let dispatcher = dispatcher(never().timeout_seconds(4));
        let started = Instant::now();
        let (status, body) = sentence(&called(&dispatcher, None).await);
        assert_eq!(started.elapsed(), Duration::from_millis(3800));
        assert_eq!((status, &body["status"]), (StatusCode::OK, &json!("Failure")));
        assert_eq!(body["message"], "handler slow did not respond within its 4 s");
        // Core may ask for less than was declared.
        let started = Instant::now();
        called(&dispatcher, Some(Duration::from_secs(1))).await;
        assert_eq!(started.elapsed(), Duration::from_millis(950));
    }

    #[tokio::test(start_paused = true)]
    async fn failures_are_ignored_where_the_handler_requests_it() {
        for handler in [never(), panicking()] {
            let dispatcher = dispatcher(handler.failure_policy(FailurePolicy::Ignore));
            let (status, _body) = sentence(&called(&dispatcher, None).await);
            assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        }
    }

    #[tokio::test]
    async fn a_panic_is_a_failure_without_its_text() {
        let (status, body) = sentence(&called(&dispatcher(panicking()), None).await);
        assert_eq!((status, &body["status"]), (StatusCode::OK, &json!("Failure")));
        assert_eq!(body["message"], "handler slow failed inside");
    }

    #[test]
    fn durations_are_read_as_go_writes_them() {
        for (text, milliseconds) in
            [("10s", 10_000), ("1m30s", 90_000), ("1.5s", 1_500), ("500ms", 500), ("1h0m0s", 3_600_000)]
        {
            assert_eq!(go_duration(text), Some(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "10", "s", "ten", "1y", "1..5s", "-1s"] {
            assert_eq!(go_duration(text), None, "{text}");
        }
    }
}
