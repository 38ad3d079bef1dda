//! Why the API server refused a request, in one line: the missing right by its name, not a dump of the response.

use anyhow::{Error, anyhow};
use std::fmt;

/// Arguments that do not fit together. The process then ends with the status 2, as for an unknown flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// A request, as RBAC names it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The verb: `list`, `get`, `patch`.
    pub verb: &'a str,
    /// Plural and group: `foomachines.infrastructure.foo.com`, `events`.
    pub resource: &'a str,
    /// Its namespace; `None` for all.
    pub namespace: Option<&'a str>,
}

impl fmt::Display for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verb, resource, namespace } = self;
        match namespace {
            Some(namespace) => write!(f, "{verb} {resource} in namespace {namespace}"),
            None => write!(f, "{verb} {resource} in all namespaces"),
        }
    }
}

/// The resource of a kind, as RBAC and `kubectl auth can-i` name it.
pub fn resource<K: kube::Resource<DynamicType = ()>>() -> String {
    let (plural, group) = (K::plural(&()), K::group(&()));
    if group.is_empty() { plural.into_owned() } else { format!("{plural}.{group}") }
}

/// A request that may succeed when it is sent again: the API server was not reached, or failed for a reason of its own.
#[derive(Debug)]
pub struct Transient(String);

impl fmt::Display for Transient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Transient {}

/// Why a request failed, for a user. A [`Transient`] if it may succeed later.
pub fn refused(request: Request<'_>, error: kube::Error) -> Error {
    let kube::Error::Api(status) = error else {
        return Transient(format!("could not {request}: {}", in_words(&error))).into();
    };
    if status.code == 429 || status.code >= 500 {
        return Transient(format!("could not {request}: {}", status.message)).into();
    }
    match status.code {
        401 => anyhow!("the API server does not accept the credentials of the kubeconfig"),
        403 => match user(&status.message) {
            Some(user) => anyhow!("missing right: {request} (user {user})"),
            None => anyhow!("could not {request}: {}", status.message),
        },
        404 if request.verb == "list" => {
            anyhow!("the cluster does not have the resource {}", request.resource)
        }
        _ => anyhow!("could not {request}: {}", status.message),
    }
}

/// The user in the words with which RBAC refuses a request. Other refusals, such as a quota's, name none.
fn user(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("is forbidden: User \"")?;
    rest.split_once('"').map(|(user, _)| user)
}

/// An error and what caused it, each text once: some errors repeat their cause.
pub fn in_words(error: &(dyn std::error::Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        if !words.contains(&text) {
            words = format!("{words}: {text}");
        }
        next = cause.source();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::Status;

    fn is_refused(verb: &str, code: u16, message: &str, as_text: &str) {
        let request =
            Request { verb, resource: "foomachines.infrastructure.foo.com", namespace: Some("team") };
        let status = Status { code, message: message.to_owned(), ..Status::default() };
        assert_eq!(refused(request, kube::Error::Api(Box::new(status))).to_string(), as_text);
    }

    #[test]
    fn a_missing_right_is_named() {
        let rbac = "foomachines.infrastructure.foo.com is forbidden: User \"jane\" cannot list resource \"foomachines\" in API \
                    group \"infrastructure.foo.com\" in the namespace \"team\"";
        let right = "missing right: list foomachines.infrastructure.foo.com in namespace team (user jane)";
        is_refused("list", 403, rbac, right);
        let quota = "could not patch foomachines.infrastructure.foo.com in namespace team: exceeded quota";
        is_refused("patch", 403, "exceeded quota", quota);
        let everywhere = Request { verb: "list", resource: "events", namespace: None };
        assert_eq!(everywhere.to_string(), "list events in all namespaces");
    }

    #[test]
    fn other_refusals_are_one_line() {
        is_refused(
            "list",
            404,
            "page not found",
            "the cluster does not have the resource foomachines.infrastructure.foo.com",
        );
        is_refused(
            "get",
            404,
            "not found",
            "could not get foomachines.infrastructure.foo.com in namespace team: not found",
        );
        is_refused(
            "list",
            401,
            "Unauthorized",
            "the API server does not accept the credentials of the kubeconfig",
        );
    }

    #[test]
    fn a_cause_is_named_once() {
        #[derive(Debug)]
        struct Outer(std::io::Error);
        impl fmt::Display for Outer {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "ServiceError: {}", self.0)
            }
        }
        impl std::error::Error for Outer {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                Some(&self.0)
            }
        }
        assert_eq!(in_words(&Outer(std::io::Error::other("refused"))), "ServiceError: refused");
    }
}
