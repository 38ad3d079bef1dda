//! What core asked, and when; and handlers that hold core until a test lets it continue.

use anyhow::{Result, ensure};
use foo_runtime_sdk::hooks::Hook;
use foo_runtime_sdk::{Decision, Handler};
use foo_testbed::world::kinds::text;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The message of a blocking hook.
pub(crate) const BLOCKED: &str = "the test has not opened this step";
/// How long core is asked to wait with the next call.
pub(crate) const RETRY: Duration = Duration::from_secs(2);

/// A hook, and the version it was called about (empty for hooks that are not about one).
pub(crate) type Step = (&'static str, String);

/// One call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) step: Step,
    pub(crate) request: Value,
    responded_at: Instant,
    blocked: bool,
}

/// All calls, in order. Clones share one book.
#[derive(Clone, Default)]
pub(crate) struct Book(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    calls: Vec<Call>,
    open: BTreeSet<Step>,
}

impl Book {
    /// A handler of a blocking hook that blocks each of its steps until it is opened.
    pub(crate) fn holding<H: Hook<Output = Decision>>(&self, hook: H) -> Handler {
        let book = self.clone();
        Handler::new(hook, H::NAME.to_lowercase(), move |request: H::Request| {
            let blocked = book.enter(H::NAME, &request);
            std::future::ready(Ok(if blocked {
                Decision::retry_in(RETRY, BLOCKED)
            } else {
                Decision::Proceed
            }))
        })
    }

    /// Writes a call down that gets a response at once.
    pub(crate) fn note(&self, hook: &'static str, request: &impl Serialize) {
        self.pages().open.insert((hook, String::new()));
        self.enter(hook, request);
    }

    /// From now on a step does not block.
    pub(crate) fn open(&self, hook: &'static str, version: &str) {
        self.pages().open.insert((hook, version.to_owned()));
    }

    /// The calls of one hook.
    pub(crate) fn of(&self, hook: &str) -> Vec<Call> {
        self.pages().calls.iter().filter(|call| call.step.0 == hook).cloned().collect()
    }

    /// The steps in the order of their first call, without those hooks.
    pub(crate) fn steps_without(&self, hooks: &[&str]) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        for call in &self.pages().calls {
            if !hooks.contains(&call.step.0) && !steps.contains(&call.step) {
                steps.push(call.step.clone());
            }
        }
        steps
    }

    /// Fails if core called a blocking step again before the requested time.
    pub(crate) fn check_waits(&self) -> Result<()> {
        // Core's clock starts when it has read the response, this one when it is written: a little earlier.
        let calls = self.pages().calls.clone();
        for (index, call) in calls.iter().enumerate().filter(|(_, call)| call.blocked) {
            let again = calls.iter().skip(index + 1).find(|later| later.step.0 == call.step.0);
            let waited = again.map(|again| again.responded_at.duration_since(call.responded_at));
            ensure!(waited.is_none_or(|waited| waited >= RETRY), "{:?} again after {waited:?}", call.step);
        }
        Ok(())
    }

    fn enter(&self, hook: &'static str, request: &impl Serialize) -> bool {
        let request = serde_json::to_value(request).unwrap_or_default();
        let version = ["/toKubernetesVersion", "/kubernetesVersion"].map(|pointer| text(&request, pointer));
        let step = (hook, version.concat());
        let mut pages = self.pages();
        let blocked = !pages.open.contains(&step) && !pages.open.contains(&(hook, String::new()));
        pages.calls.push(Call { step, request, responded_at: Instant::now(), blocked });
        blocked
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
