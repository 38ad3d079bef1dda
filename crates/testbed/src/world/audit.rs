//! What our managers asked of the API server, from its own audit log: the only witness who did a thing, and the way to
//! show that nothing was written, and nothing requested that a role does not allow.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const LOG: &str = "audit.log";

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Full name of the service account.
    pub user: String,
    /// `get`, `list`, `watch`, `create`, `patch`, `update` or `delete`.
    pub verb: String,
    /// Resource, with its subresource if there is one (`foomachines/status`).
    pub resource: String,
    /// Namespace of the object.
    pub namespace: String,
    /// Name of the object.
    pub name: String,
    /// HTTP status of the response.
    pub code: u16,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    user: User,
    verb: String,
    object_ref: Option<Object>,
    response_status: Option<Response>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct User {
    username: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Object {
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Deserialize)]
struct Response {
    code: u16,
}

/// Writes the policy and names the flags.
pub(super) fn apiserver_args(folder: &Path) -> Result<Vec<String>> {
    let policy = json!({
        "apiVersion": "audit.k8s.io/v1", "kind": "Policy",
        "omitStages": ["RequestReceived", "ResponseStarted"],
        "rules": [
            {
                "level": "Metadata",
                "userGroups": ["system:serviceaccounts:foo-system", "system:serviceaccounts:foo-control-plane-system"],
            },
            {"level": "None"},
        ],
    });
    let path = folder.join("audit-policy.json");
    crate::pki::write(&path, &policy.to_string())?;
    Ok(vec![
        format!("--audit-policy-file={}", path.display()),
        format!("--audit-log-path={}", folder.join(LOG).display()),
        "--audit-log-mode=blocking".to_owned(),
    ])
}

pub(super) fn writes(folder: &Path) -> Result<Vec<Request>> {
    Ok(events(folder)?
        .filter(|event| !["get", "list", "watch"].contains(&event.verb.as_str()))
        .map(request)
        // Questions that are put as objects.
        .filter(|request| !["tokenreviews", "subjectaccessreviews"].contains(&request.resource.as_str()))
        .collect())
}

pub(super) fn forbidden(folder: &Path) -> Result<Vec<Request>> {
    Ok(events(folder)?.filter(is_forbidden).map(request).collect())
}

/// Requests for which there is no right at all: the same, for an object of whatever name, was never allowed. An API
/// server that has just started knows no roles yet, and refuses everything.
pub(super) fn never_allowed(folder: &Path) -> Result<Vec<Request>> {
    let of = |event: &Event| {
        let object = event.object_ref.as_ref();
        let part = |part: fn(&Object) -> &String| object.map(part).cloned().unwrap_or_default();
        let what = (part(|it| &it.resource), part(|it| &it.subresource), part(|it| &it.namespace));
        (event.user.username.clone(), event.verb.clone(), what)
    };
    let allowed: BTreeSet<_> =
        events(folder)?.filter(|event| !is_forbidden(event)).map(|event| of(&event)).collect();
    let never = |event: &Event| is_forbidden(event) && !allowed.contains(&of(event));
    Ok(events(folder)?.filter(never).map(request).collect())
}

/// Whether the authorizer denied it. A status of 403 may also come from admission, for instance in a namespace that is
/// being deleted.
fn is_forbidden(event: &Event) -> bool {
    event.annotations.get("authorization.k8s.io/decision").is_some_and(|decision| decision == "forbid")
}

fn events(folder: &Path) -> Result<impl Iterator<Item = Event>> {
    let path = folder.join(LOG);
    let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    // The last line may be half written.
    let events: Vec<Event> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    Ok(events.into_iter())
}

fn request(event: Event) -> Request {
    let Object { resource, subresource, namespace, name } = event.object_ref.unwrap_or_default();
    Request {
        user: event.user.username,
        verb: event.verb,
        resource: if subresource.is_empty() { resource } else { format!("{resource}/{subresource}") },
        namespace,
        name,
        code: event.response_status.map_or(0, |response| response.code),
    }
}
