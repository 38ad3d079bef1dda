//! Faults on demand: which requests go wrong, and how.
//!
//! A rule names requests by verb, kind, name, subresource and client, lets the first few pass, and then strikes a
//! number of times, each request or each nth. The first rule that strikes decides; delays add up. Watches have faults
//! of their own in [`crate::Watches`]; here only their start can be refused.

use crate::failure::ApiError;
use crate::request::{Request, Verb};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What goes wrong.
#[derive(Clone, Debug, PartialEq)]
enum FaultEffect {
    /// Refused with this status; nothing is done.
    Refused(u16),
    /// The connection breaks before the request is done.
    LostRequest,
    /// The connection breaks after the request was done.
    LostResponse,
    /// It takes longer.
    Delayed(Duration),
}

/// A rule under construction; [`crate::FakeApiServer::inject`] puts it to work.
#[derive(Clone, Debug)]
pub struct Fault {
    verbs: Vec<Verb>,
    kind: Option<String>,
    name: Option<String>,
    subresource: Option<String>,
    client: Option<String>,
    manager: Option<String>,
    skip: u64,
    every: u64,
    times: u64,
    outcome: FaultEffect,
    retry_after: u32,
}

impl Fault {
    fn new(outcome: FaultEffect) -> Self {
        Self {
            verbs: Vec::new(),
            kind: None,
            name: None,
            subresource: None,
            client: None,
            manager: None,
            skip: 0,
            every: 1,
            times: 1,
            outcome,
            retry_after: 0,
        }
    }

    /// Refuse with an HTTP status and the reason that belongs to it; on a watch, 410 comes as an ERROR event.
    pub fn status(code: u16) -> Self {
        Self::new(FaultEffect::Refused(code))
    }

    /// 409, as if another user or controller had just written.
    pub fn conflict() -> Self {
        Self::status(409)
    }

    /// 429 with `Retry-After` in seconds.
    pub fn too_many_requests(retry_after: u32) -> Self {
        Self { retry_after, ..Self::status(429) }
    }

    /// 500.
    pub fn internal_error() -> Self {
        Self::status(500)
    }

    /// 503.
    pub fn unavailable() -> Self {
        Self::status(503)
    }

    /// 410: the resourceVersion is too old.
    pub fn gone() -> Self {
        Self::status(410)
    }

    /// The connection breaks before anything was done.
    pub fn lost_request() -> Self {
        Self::new(FaultEffect::LostRequest)
    }

    /// Everything is done, but the client never gets the response.
    pub fn lost_response() -> Self {
        Self::new(FaultEffect::LostResponse)
    }

    /// Everything is done, later, on tokio's clock.
    pub fn delay(by: Duration) -> Self {
        Self::new(FaultEffect::Delayed(by))
    }

    /// Only requests of this verb; call it again for more verbs.
    #[must_use]
    pub fn on(mut self, verb: Verb) -> Self {
        self.verbs.push(verb);
        self
    }

    /// Only writes.
    #[must_use]
    pub fn on_writes(mut self) -> Self {
        self.verbs.extend([Verb::Create, Verb::Update, Verb::Patch, Verb::Delete, Verb::DeleteCollection]);
        self
    }

    /// Only this kind (`FooMachinePool`; `*` stands for any text).
    #[must_use]
    pub fn kind(mut self, pattern: &str) -> Self {
        self.kind = Some(pattern.to_owned());
        self
    }

    /// Only objects of this name (`*` stands for any text). The name of a POST is that in its body.
    #[must_use]
    pub fn name(mut self, pattern: &str) -> Self {
        self.name = Some(pattern.to_owned());
        self
    }

    /// Only this subresource; the empty text stands for the object itself.
    #[must_use]
    pub fn subresource(mut self, subresource: &str) -> Self {
        self.subresource = Some(subresource.to_owned());
        self
    }

    /// Only requests of this client (see [`crate::FakeApiServer::client_as`]).
    #[must_use]
    pub fn client(mut self, pattern: &str) -> Self {
        self.client = Some(pattern.to_owned());
        self
    }

    /// Only requests of this field manager.
    #[must_use]
    pub fn manager(mut self, pattern: &str) -> Self {
        self.manager = Some(pattern.to_owned());
        self
    }

    /// Let this many pass first.
    #[must_use]
    pub fn skip(mut self, count: u64) -> Self {
        self.skip = count;
        self
    }

    /// After those that pass first, let all pass except each `nth`, from 1 on.
    #[must_use]
    pub fn every(mut self, nth: u64) -> Self {
        self.every = nth.max(1);
        self
    }

    /// Strike this often; once by default.
    #[must_use]
    pub fn times(mut self, count: u64) -> Self {
        self.times = count;
        self
    }

    /// Strike until the rule is withdrawn.
    #[must_use]
    pub fn always(self) -> Self {
        self.times(u64::MAX)
    }

    fn concerns(&self, request: &Request) -> bool {
        let fits = |pattern: &Option<String>, text: &str| {
            pattern.as_deref().is_none_or(|pattern| matches(pattern, text))
        };
        (self.verbs.is_empty() || self.verbs.contains(&request.verb))
            && fits(&self.kind, &request.kind.kind)
            && fits(&self.name, &request.object_name())
            && fits(&self.subresource, request.subresource)
            && fits(&self.client, &request.client)
            && fits(&self.manager, &request.manager().name)
    }
}

/// A rule at work. Dropping the handle leaves it at work.
#[derive(Clone, Debug)]
pub struct Injected {
    pub(crate) id: u64,
    struck: Arc<AtomicU64>,
}

impl Injected {
    /// How often it has struck.
    pub fn struck(&self) -> u64 {
        self.struck.load(Ordering::SeqCst)
    }
}

/// What happens to one request.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) delay: Duration,
    pub(crate) strike: Option<Strike>,
}

/// The fault that strikes a request.
#[derive(Debug)]
pub(crate) enum Strike {
    Refused(ApiError),
    LostRequest,
    LostResponse,
}

#[derive(Debug)]
struct Rule {
    id: u64,
    fault: Fault,
    seen: u64,
    struck: Arc<AtomicU64>,
}

/// The rules at work.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    rules: Vec<Rule>,
    added: u64,
}

impl Faults {
    pub(crate) fn add(&mut self, fault: Fault) -> Injected {
        self.added += 1;
        let struck = Arc::new(AtomicU64::new(0));
        self.rules.push(Rule { id: self.added, fault, seen: 0, struck: Arc::clone(&struck) });
        Injected { id: self.added, struck }
    }

    pub(crate) fn remove(&mut self, id: u64) {
        self.rules.retain(|rule| rule.id != id);
    }

    pub(crate) fn clear(&mut self) {
        self.rules.clear();
    }

    /// What happens to a request; counts it.
    pub(crate) fn verdict(&mut self, request: &Request) -> Verdict {
        let mut verdict = Verdict::default();
        for rule in self.rules.iter_mut().filter(|rule| rule.fault.concerns(request)) {
            let decided = verdict.strike.is_some() && !matches!(rule.fault.outcome, FaultEffect::Delayed(_));
            if decided {
                continue;
            }
            rule.seen += 1;
            let turn = rule.seen.saturating_sub(rule.fault.skip);
            let strikes = turn / rule.fault.every;
            if turn == 0 || !turn.is_multiple_of(rule.fault.every) || strikes > rule.fault.times {
                continue;
            }
            rule.struck.fetch_add(1, Ordering::SeqCst);
            match &rule.fault.outcome {
                FaultEffect::Delayed(by) => verdict.delay += *by,
                FaultEffect::LostRequest => verdict.strike = Some(Strike::LostRequest),
                FaultEffect::LostResponse => verdict.strike = Some(Strike::LostResponse),
                FaultEffect::Refused(code) => {
                    let status = refusal(*code, rule.fault.retry_after, request);
                    verdict.strike = Some(Strike::Refused(status));
                }
            }
        }
        verdict
    }
}

fn refusal(code: u16, retry_after: u32, request: &Request) -> ApiError {
    let name = request.object_name();
    let about = |reason: &str, message: &str| {
        crate::failure::failure(code, reason, message.to_owned(), Some((&request.kind, &name)))
    };
    let mut status = match code {
        404 => crate::failure::not_found(&request.kind, &name),
        409 if request.verb == Verb::Create => crate::failure::already_exists(&request.kind, &name),
        409 => crate::failure::modified(&request.kind, &name),
        401 => about("Unauthorized", "Unauthorized"),
        403 => about("Forbidden", "access denied (injected)"),
        410 => about("Expired", "too old resource version (injected)"),
        422 => about("Invalid", "invalid (injected)"),
        429 => about("TooManyRequests", "Too many requests, please try again later."),
        503 => about("ServiceUnavailable", "the server is currently unable to handle the request"),
        504 => about("Timeout", "request did not complete within the allotted timeout"),
        _ => about("InternalError", "Internal error occurred (injected)"),
    };
    if let Some(details) = status.details.as_mut().filter(|_| retry_after > 0) {
        details.retry_after_seconds = retry_after;
    }
    status
}

/// Whether a text fits a pattern in which `*` stands for any text.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, rest)) => text.strip_prefix(head).is_some_and(|tail| {
            rest.is_empty()
                || tail
                    .char_indices()
                    .map(|(at, _)| at)
                    .chain([tail.len()])
                    .any(|at| tail.get(at..).is_some_and(|tail| matches(rest, tail)))
        }),
    }
}
