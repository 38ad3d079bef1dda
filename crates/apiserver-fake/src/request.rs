//! A request, read from its HTTP form.

use crate::failure::{self, ApiError};
use crate::kinds::{Kind, Kinds};
use crate::ownership::{Manager, Operation};
use crate::rules::Part;
use crate::selectors::Filter;
use crate::store::Key;
use bytes::Bytes;
use http::request::Parts;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What a request does, in the words of RBAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Reads one object.
    Get,
    /// Reads many.
    List,
    /// Follows changes.
    Watch,
    /// POST.
    Create,
    /// PUT.
    Update,
    /// PATCH of any kind, server-side apply included.
    Patch,
    /// Deletes one object.
    Delete,
    /// Deletes all that match.
    DeleteCollection,
}

impl Verb {
    /// Whether it changes something.
    pub fn is_write(self) -> bool {
        !matches!(self, Self::Get | Self::List | Self::Watch)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", format!("{self:?}").to_lowercase())
    }
}

/// How a PATCH is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchKind {
    Merge,
    Json,
    Strategic,
    Apply,
}

/// What the response shall hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Full,
    Metadata,
}

/// A request for a kind the server knows.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) verb: Verb,
    pub(crate) kind: Arc<Kind>,
    pub(crate) namespace: Option<String>,
    /// Empty if the request names no object.
    pub(crate) name: String,
    /// `status`, `scale` or empty.
    pub(crate) subresource: &'static str,
    pub(crate) view: View,
    pub(crate) patch: PatchKind,
    pub(crate) body: Bytes,
    query: BTreeMap<String, String>,
    /// Name of the client, for the log and for faults.
    pub(crate) client: String,
}

/// What a path names; empty texts for what it leaves out.
struct Location<'p> {
    group: &'p str,
    version: &'p str,
    namespace: Option<&'p str>,
    plural: &'p str,
    name: &'p str,
    subresource: &'static str,
}

impl<'p> Location<'p> {
    /// `None` for a path that names no resource.
    fn of(path: &'p str) -> Option<Self> {
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let (group, version, rest) = match segments.as_slice() {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return None,
        };
        let (namespace, plural, rest) = match rest {
            ["namespaces", namespace, plural, rest @ ..] if !matches!(*plural, "status" | "finalize") => {
                (Some(*namespace), *plural, rest)
            }
            [plural, rest @ ..] => (None, *plural, rest),
            [] => return None,
        };
        let (name, subresource) = match rest {
            [] => ("", ""),
            [name] => (*name, ""),
            [name, "status"] => (*name, "status"),
            [name, "scale"] => (*name, "scale"),
            _ => return None,
        };
        Some(Self { group, version, namespace, plural, name, subresource })
    }
}

fn header<'p>(parts: &'p Parts, name: &http::HeaderName) -> &'p str {
    parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// The kind of patch of a content type; built-in kinds take strategic merge patches, too.
fn patch_kind(content_type: &str, built_in: bool) -> Option<PatchKind> {
    match content_type.split(';').next().unwrap_or_default() {
        "application/json-patch+json" => Some(PatchKind::Json),
        "application/strategic-merge-patch+json" if built_in => Some(PatchKind::Strategic),
        "application/apply-patch+yaml" | "application/apply-patch+json" => Some(PatchKind::Apply),
        "application/merge-patch+json" => Some(PatchKind::Merge),
        _ => None,
    }
}

impl Request {
    /// Reads a request; a path that the server does not serve is a 404.
    pub(crate) fn read(kinds: &Kinds, parts: &Parts, body: Bytes, client: &str) -> Result<Self, ApiError> {
        let Location { group, version, namespace, plural, name, subresource } =
            Location::of(parts.uri.path()).ok_or_else(failure::unknown_path)?;
        let kind = kinds.find(group, version, plural).ok_or_else(failure::unknown_path)?;
        let served = match subresource {
            "status" => kind.status,
            "scale" => kind.scale,
            _ => true,
        };
        if !served {
            return Err(failure::unknown_subresource());
        }
        if kind.namespaced != namespace.is_some() && !(name.is_empty() && namespace.is_none()) {
            return Err(failure::unknown_path());
        }
        let query: BTreeMap<String, String> =
            url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes())
                .into_owned()
                .collect();
        let watch = query.get("watch").is_some_and(|watch| matches!(watch.as_str(), "true" | "1"));
        let verb = match (parts.method.as_str(), name.is_empty()) {
            ("GET", true) if watch => Verb::Watch,
            ("GET", true) => Verb::List,
            ("GET", false) => Verb::Get,
            ("POST", true) if namespace.is_some() || !kind.namespaced => Verb::Create,
            ("PUT", false) => Verb::Update,
            ("PATCH", false) => Verb::Patch,
            ("DELETE", false) => Verb::Delete,
            ("DELETE", true) => Verb::DeleteCollection,
            _ => {
                let message = "the server does not allow this method on the requested resource".to_owned();
                return Err(failure::failure(405, "MethodNotAllowed", message, Some((&kind, name))));
            }
        };
        let patch = match patch_kind(header(parts, &http::header::CONTENT_TYPE), kind.built_in) {
            Some(patch) => patch,
            None if verb == Verb::Patch => return Err(failure::unsupported_patch(&kind)),
            None => PatchKind::Merge,
        };
        let view = if header(parts, &http::header::ACCEPT).contains("as=PartialObjectMetadata") {
            View::Metadata
        } else {
            View::Full
        };
        Ok(Self {
            verb,
            kind,
            namespace: namespace.map(ToOwned::to_owned),
            name: name.to_owned(),
            subresource,
            view,
            patch,
            body,
            query,
            client: client.to_owned(),
        })
    }

    pub(crate) fn key(&self) -> Key {
        (self.namespace.clone().unwrap_or_default(), self.name.clone())
    }

    /// Name of the object; of a POST, the one in the body.
    pub(crate) fn object_name(&self) -> String {
        if self.verb != Verb::Create {
            return self.name.clone();
        }
        let body: serde_json::Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let own = |field| crate::json::text(&body, &["metadata", field]);
        own("name").or_else(|| own("generateName")).unwrap_or_default().to_owned()
    }

    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    pub(crate) fn asks(&self, name: &str) -> bool {
        self.query(name).is_some_and(|value| matches!(value, "true" | "1"))
    }

    pub(crate) fn part(&self) -> Part {
        if self.subresource == "status" { Part::Status } else { Part::Main }
    }

    pub(crate) fn filter(&self) -> Result<Filter, ApiError> {
        Filter::new(self.namespace.clone(), self.query("labelSelector"), self.query("fieldSelector"))
    }

    /// Field manager: as named, else the client.
    pub(crate) fn manager(&self) -> Manager {
        let operation = if self.verb == Verb::Patch && self.patch == PatchKind::Apply {
            Operation::Apply
        } else {
            Operation::Update
        };
        Manager {
            name: self.query("fieldManager").unwrap_or(&self.client).to_owned(),
            operation,
            subresource: self.subresource,
        }
    }
}
