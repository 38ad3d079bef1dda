//! An extension: handlers with names, checked as core checks them.

use crate::hooks::{
    Discovery, ExtensionHandler, FailurePolicy, GROUP_VERSION, GroupVersionHook, Hook, Request as _,
    Response, ResponseStatus, path,
};
use crate::object::DecodeError;
use crate::settings::SettingsError;
use crate::variables::VariableError;
use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Longest time-out that core accepts of a handler, in seconds.
pub const MAX_TIMEOUT_SECONDS: u32 = 30;

/// Longest handler name: a DNS label (RFC 1123).
const MAX_NAME: usize = 63;

/// A handler's refusal, one plain sentence. The same request gets the same sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    message: String,
}

impl Failure {
    /// A refusal.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// The sentence.
    pub fn message(&self) -> &str {
        &self.message
    }
}

macro_rules! failure_from {
    ($($error:ty),+) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::new(error.to_string())
            }
        }
    )+};
}

failure_from!(DecodeError, SettingsError, VariableError, serde_json::Error);

/// How a call ended, and what is sent.
pub(crate) struct Called {
    /// The response, JSON.
    pub(crate) body: Vec<u8>,
    /// How it ended.
    pub(crate) ended: Ended,
}

/// How a call of a handler ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Success, continue.
    Success,
    /// Success, but core shall wait.
    Retry,
    /// Refused, with this message.
    Failed(String),
}

type Call = dyn Fn(Bytes) -> BoxFuture<'static, Called> + Send + Sync;
type Refuse = dyn Fn(&str) -> Vec<u8> + Send + Sync;

/// One handler: a name, a hook, an async function.
#[derive(Clone)]
pub struct Handler {
    name: String,
    hook: &'static str,
    timeout_seconds: u32,
    failure_policy: FailurePolicy,
    call: Arc<Call>,
    refuse: Arc<Refuse>,
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler").field("name", &self.name).field("hook", &self.hook).finish_non_exhaustive()
    }
}

impl Handler {
    /// A handler of a hook. Its name is a DNS label, unique in the extension; ExtensionConfigs and ClusterClasses know
    /// it as `<name>.<name of the ExtensionConfig>`.
    pub fn new<H, F, R>(hook: H, name: impl Into<String>, function: F) -> Self
    where
        H: Hook,
        F: Fn(H::Request) -> R + Send + Sync + 'static,
        R: Future<Output = Result<H::Output, Failure>> + Send + 'static,
    {
        let _: H = hook;
        let function = Arc::new(function);
        Self {
            name: name.into(),
            hook: H::NAME,
            timeout_seconds: 10,
            failure_policy: FailurePolicy::Fail,
            call: Arc::new(move |body| {
                let function = Arc::clone(&function);
                async move {
                    let request = request::<H>(&body);
                    // A handler may wait for long; its request is not needed until it has responded.
                    drop(body);
                    called::<H>(match request {
                        Ok(request) => function(request).await,
                        Err(failure) => Err(failure),
                    })
                }
                .boxed()
            }),
            refuse: Arc::new(|message| called::<H>(Err(Failure::new(message))).body),
        }
    }

    /// How long core waits for a response: 1 to 30 seconds, 10 by default.
    pub fn timeout_seconds(self, seconds: u32) -> Self {
        Self { timeout_seconds: seconds, ..self }
    }

    /// What core does if it gets no response.
    pub fn failure_policy(self, policy: FailurePolicy) -> Self {
        Self { failure_policy: policy, ..self }
    }

    /// Name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Name of the hook.
    pub fn hook(&self) -> &'static str {
        self.hook
    }

    /// How long core waits.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds.into())
    }

    /// What core does if it gets no response.
    pub(crate) fn policy(&self) -> FailurePolicy {
        self.failure_policy
    }

    /// Calls the function.
    pub(crate) fn call(&self, body: Bytes) -> BoxFuture<'static, Called> {
        (self.call)(body)
    }

    /// A failure response, without calling the function.
    pub(crate) fn refuse(&self, message: &str) -> Vec<u8> {
        (self.refuse)(message)
    }

    fn discovered(&self) -> ExtensionHandler {
        ExtensionHandler {
            name: self.name.clone(),
            request_hook: GroupVersionHook {
                api_version: GROUP_VERSION.to_owned(),
                hook: self.hook.to_owned(),
            },
            timeout_seconds: i32::try_from(self.timeout_seconds).ok(),
            failure_policy: Some(self.failure_policy),
        }
    }
}

/// The request in a body, if it is one of the hook, in the version that is served.
fn request<H: Hook>(body: &[u8]) -> Result<H::Request, Failure> {
    let no_request = |problem: &str| Failure::new(format!("the request is no {}Request: {problem}", H::NAME));
    let unreadable = |error: serde_json::Error| {
        // Without line and column: they depend on how core writes JSON, not on what is wrong.
        no_request(error.to_string().split(" at line ").next().unwrap_or_default())
    };
    let read: Result<H::Request, _> = serde_json::from_slice(body);
    let found = match &read {
        Ok(request) => request.type_meta().clone(),
        // A request of another hook hardly fits: that it is of another one is more helpful than which field is missing.
        Err(_) => serde_json::from_slice(body).map_err(unreadable)?,
    };
    if !found.kind.is_empty() && found.kind != format!("{}Request", H::NAME) {
        return Err(no_request(&format!("its kind is {:?}", found.kind)));
    }
    if !found.api_version.is_empty() && found.api_version != GROUP_VERSION {
        return Err(no_request(&format!(
            "its version is {:?}, served is {GROUP_VERSION}",
            found.api_version
        )));
    }
    read.map_err(unreadable)
}

fn called<H: Hook>(result: Result<H::Output, Failure>) -> Called {
    let mut response = match result {
        Ok(output) => H::respond(output),
        Err(failure) => {
            let mut response = H::Response::default();
            response.set_status(ResponseStatus::Failure, failure.message);
            response
        }
    };
    response.set_type(H::NAME);
    let ended = match response.status() {
        (ResponseStatus::Failure, message) => Ended::Failed(message.to_owned()),
        (ResponseStatus::Success, _message) if response.retry_after_seconds() > 0 => Ended::Retry,
        (ResponseStatus::Success, _message) => Ended::Success,
    };
    // Responses are made of texts, numbers and JSON values: writing them cannot fail.
    Called { body: serde_json::to_vec(&response).unwrap_or_default(), ended }
}

/// A runtime extension: its handlers by path.
#[derive(Clone, Debug)]
pub struct Extension {
    by_path: BTreeMap<String, Handler>,
}

/// An extension that core would refuse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidExtension {
    /// A name that is no DNS label.
    #[error(
        "handler {0:?}: a name has 1 to 63 lower-case letters, digits and dashes, and begins and ends with a letter or digit"
    )]
    Name(String),
    /// Two handlers of one name.
    #[error("two handlers are called {0:?}: names are unique in an extension")]
    Twice(String),
    /// A time-out that core does not accept.
    #[error("handler {name:?}: a time-out of {seconds} s; core accepts 1 to 30")]
    Timeout {
        /// The handler.
        name: String,
        /// What was asked for.
        seconds: u32,
    },
    /// A handler of the hook that this crate serves.
    #[error("handler {0:?}: Discovery responds with the registered handlers")]
    Discovery(String),
}

impl Extension {
    /// An extension with these handlers; several may serve one hook, core calls them in turn.
    ///
    /// # Errors
    ///
    /// What core would refuse at discovery, so that it is seen at start and not in a condition. (Core accepts a
    /// time-out of 0 as well and takes it for 10 seconds; here it is refused.)
    pub fn new(handlers: impl IntoIterator<Item = Handler>) -> Result<Self, InvalidExtension> {
        let mut by_path = BTreeMap::new();
        let mut names = std::collections::BTreeSet::new();
        for handler in handlers {
            if !is_label(&handler.name) {
                return Err(InvalidExtension::Name(handler.name));
            }
            if handler.hook == Discovery::NAME {
                return Err(InvalidExtension::Discovery(handler.name));
            }
            if !(1..=MAX_TIMEOUT_SECONDS).contains(&handler.timeout_seconds) {
                return Err(InvalidExtension::Timeout {
                    seconds: handler.timeout_seconds,
                    name: handler.name,
                });
            }
            if !names.insert(handler.name.clone()) {
                return Err(InvalidExtension::Twice(handler.name));
            }
            by_path.insert(path(handler.hook, Some(&handler.name)), handler);
        }
        let handlers: Vec<_> = by_path.values().map(Handler::discovered).collect();
        let discovery =
            Handler::new(Discovery, "discovery", move |_request| std::future::ready(Ok(handlers.clone())));
        by_path.insert(path(Discovery::NAME, None), discovery);
        Ok(Self { by_path })
    }

    /// The handler at a path.
    pub fn at(&self, path: &str) -> Option<&Handler> {
        self.by_path.get(path)
    }

    /// All paths that are served.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.by_path.keys().map(String::as_str)
    }
}

fn is_label(name: &str) -> bool {
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    name.len() <= MAX_NAME
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        && ends(name.chars().next())
        && ends(name.chars().next_back())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decision;
    use crate::hooks::{BeforeClusterCreate, BeforeClusterDelete};
    use crate::testing;
    use serde_json::{Value, json};

    fn handler(name: &str) -> Handler {
        Handler::new(BeforeClusterCreate, name, |_request| async { Ok(Decision::Proceed) })
    }

    async fn output(extension: &Extension, path: &str, body: Value) -> Value {
        let called = extension.at(path).expect("a handler").call(body.to_string().into_bytes().into()).await;
        serde_json::from_slice(&called.body).expect("JSON")
    }

    #[test]
    fn handlers_that_core_would_refuse_are_refused() {
        let long = "a".repeat(64);
        for (handlers, error) in [
            (vec![handler("")], InvalidExtension::Name(String::new())),
            (vec![handler("Quota")], InvalidExtension::Name("Quota".to_owned())),
            (vec![handler("a.b")], InvalidExtension::Name("a.b".to_owned())),
            (vec![handler("-a")], InvalidExtension::Name("-a".to_owned())),
            (vec![handler(&long)], InvalidExtension::Name(long.clone())),
            (vec![handler("a"), handler("a")], InvalidExtension::Twice("a".to_owned())),
            (
                vec![handler("a").timeout_seconds(31)],
                InvalidExtension::Timeout { name: "a".to_owned(), seconds: 31 },
            ),
            (
                vec![Handler::new(Discovery, "a", |_request| async { Ok(vec![]) })],
                InvalidExtension::Discovery("a".to_owned()),
            ),
        ] {
            assert_eq!(Extension::new(handlers).map(|_extension| ()), Err(error));
        }
    }

    #[tokio::test]
    async fn discovery_names_what_was_registered() {
        let deletion = Handler::new(BeforeClusterDelete, "last", |_request| async { Ok(Decision::Proceed) })
            .timeout_seconds(5)
            .failure_policy(FailurePolicy::Ignore);
        let extension = Extension::new([handler("quota"), deletion]).unwrap();
        let found = output(&extension, &path("Discovery", None), json!({})).await;
        assert_eq!(found["kind"], "DiscoveryResponse");
        assert_eq!(found["status"], "Success");
        assert_eq!(
            found["handlers"],
            json!([
                {
                    "name": "quota",
                    "requestHook": {"apiVersion": GROUP_VERSION, "hook": "BeforeClusterCreate"},
                    "timeoutSeconds": 10,
                    "failurePolicy": "Fail",
                },
                {
                    "name": "last",
                    "requestHook": {"apiVersion": GROUP_VERSION, "hook": "BeforeClusterDelete"},
                    "timeoutSeconds": 5,
                    "failurePolicy": "Ignore",
                },
            ])
        );
    }

    #[tokio::test]
    async fn a_decision_becomes_seconds_and_a_message() {
        for (decision, seconds, message) in [
            (Decision::Proceed, 0, Value::Null),
            (Decision::retry_in(Duration::from_millis(1), "no quota"), 1, json!("no quota")),
            (Decision::retry_in(Duration::from_millis(30_001), "no quota"), 31, json!("no quota")),
            (Decision::retry_in(Duration::MAX, "never"), i32::MAX, json!("never")),
        ] {
            let handler = Handler::new(BeforeClusterCreate, "quota", move |_request| {
                std::future::ready(Ok(decision.clone()))
            });
            let extension = Extension::new([handler]).unwrap();
            let found =
                output(&extension, &path("BeforeClusterCreate", Some("quota")), json!({"cluster": {}})).await;
            assert_eq!((&found["status"], &found["retryAfterSeconds"]), (&json!("Success"), &json!(seconds)));
            assert_eq!(found.get("message").cloned().unwrap_or_default(), message);
        }
    }

    #[tokio::test]
    async fn a_request_that_cannot_be_read_is_a_failure_with_a_stable_sentence() {
        let extension = Extension::new([handler("quota")]).unwrap();
        let found =
            output(&extension, &path("BeforeClusterCreate", Some("quota")), json!({"other": 1})).await;
        assert_eq!(found["status"], "Failure");
        assert_eq!(found["message"], "the request is no BeforeClusterCreateRequest: missing field `cluster`");
    }

    #[tokio::test]
    async fn another_kind_or_version_is_refused() {
        for (body, problem) in [
            (json!({"kind": "DiscoveryRequest", "cluster": {}}), "its kind is \"DiscoveryRequest\""),
            (json!({"apiVersion": "hooks.runtime.cluster.x-k8s.io/v1", "cluster": {}}), "its version is"),
            (json!("text"), "invalid type: string \"text\""),
        ] {
            let found = testing::call(&handler("quota"), &body).await;
            assert_eq!(found["status"], "Failure");
            let message = found["message"].as_str().unwrap_or_default();
            assert!(message.contains(problem), "{message}");
        }
    }
}
