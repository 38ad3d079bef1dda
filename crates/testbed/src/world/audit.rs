//! What our managers asked of the API server, from its own audit log: the only witness who did a thing, and the way to
//! show that nobody wrote anything.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::json;
use std::path::Path;

const LOG: &str = "audit.log";

/// A request that changed something, or tried to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Full name of the service account.
    pub user: String,
    /// `create`, `patch`, `update` or `delete`.
    pub verb: String,
    /// Resource, with its subresource if there is one (`foomachines/status`).
    pub resource: String,
    /// Namespace of the object.
    pub namespace: String,
    /// Name of the object.
    pub name: String,
    /// HTTP status of the answer.
    pub code: u16,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    user: User,
    verb: String,
    object_ref: Option<Object>,
    response_status: Option<Answer>,
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
struct Answer {
    code: u16,
}

/// Writes the policy and names the flags.
pub(super) fn apiserver_args(folder: &Path) -> Result<Vec<String>> {
    let policy = json!({
        "apiVersion": "audit.k8s.io/v1", "kind": "Policy",
        "omitStages": ["RequestReceived", "ResponseStarted"],
        "rules": [
            {
                "level": "Metadata", "verbs": ["create", "update", "patch", "delete", "deletecollection"],
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
    let path = folder.join(LOG);
    let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    // The last line may be half written.
    let events = text.lines().filter_map(|line| serde_json::from_str::<Event>(line).ok());
    Ok(events.map(request).collect())
}

fn request(event: Event) -> Request {
    let Object { resource, subresource, namespace, name } = event.object_ref.unwrap_or_default();
    Request {
        user: event.user.username,
        verb: event.verb,
        resource: if subresource.is_empty() { resource } else { format!("{resource}/{subresource}") },
        namespace,
        name,
        code: event.response_status.map_or(0, |answer| answer.code),
    }
}
