//! From a request to what it does to the store, and to the response. Watches are in [`crate::watch`].

use crate::failure::{self, ApiError};
use crate::json::{at, set, text};
use crate::kinds::Kind;
use crate::request::{PatchKind, Request, Verb, View};
use crate::rules::Part;
use crate::rules::{bare, check_same_uid};
use crate::schema::Schema;
use crate::store::{Deletion, Key, Persistence, Store, Writer};
use crate::typed;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

/// A response that is no watch.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) code: u16,
    pub(crate) body: Value,
}

/// Does what the request asks for.
pub(crate) fn serve(store: &mut Store, request: &Request, now: &str) -> Result<Served, ApiError> {
    let kind = Arc::clone(&request.kind);
    let key = request.key();
    let dry_run = request.query("dryRun").is_some_and(|value| value == "All");
    let writer = Writer {
        manager: request.manager(),
        persistence: if dry_run { Persistence::DryRun } else { Persistence::Lasting },
        now: now.to_owned(),
    };
    match request.verb {
        Verb::Get => {
            let object = store.get(&kind, &key).ok_or_else(|| failure::not_found(&kind, &key.1))?;
            Ok(served(200, request, &object))
        }
        Verb::List | Verb::Watch => list(store, request),
        Verb::Create => {
            let object = store.create(&kind, &key.0, body(request)?, &writer)?;
            Ok(served(201, request, &object))
        }
        Verb::Update => {
            let wanted = body(request)?;
            let object = if request.subresource == "scale" {
                let live = store.get(&kind, &key).ok_or_else(|| failure::not_found(&kind, &key.1))?;
                store.replace(&kind, &key, scaled(&live, &wanted), Part::Main, &writer)?
            } else {
                store.replace(&kind, &key, wanted, request.part(), &writer)?
            };
            Ok(served(200, request, &object))
        }
        Verb::Patch if request.patch == PatchKind::Apply => {
            if request.query("fieldManager").is_none() {
                let fault = "fieldManager: Required value: is required for apply patch".to_owned();
                return Err(failure::invalid(&kind, &key.1, &[fault]));
            }
            let existed = store.get(&kind, &key).is_some();
            let force = request.asks("force");
            let object = store.apply(&kind, &key, applied(request)?, request.part(), force, &writer)?;
            Ok(served(if existed { 200 } else { 201 }, request, &object))
        }
        Verb::Patch => {
            let live = store.get(&kind, &key).ok_or_else(|| failure::not_found(&kind, &key.1))?;
            let wanted = if request.subresource == "scale" {
                scaled(&live, &patched(request, &kind, &key, scale(&live))?)
            } else {
                let new = patched(request, &kind, &key, bare(&live))?;
                check_same_uid(&kind, &key.1, text(&new, &["metadata", "uid"]), &live)?;
                new
            };
            let object = store.replace(&kind, &key, wanted, request.part(), &writer)?;
            Ok(served(200, request, &object))
        }
        Verb::Delete => delete(store, request, &key, &writer),
        Verb::DeleteCollection => {
            let objects = store.list(&kind, &request.filter()?);
            for object in &objects {
                delete(store, request, &key_of(object), &writer)?;
            }
            Ok(Served { code: 200, body: list_of(&kind, request.view, &objects, store.version) })
        }
    }
}

fn served(code: u16, request: &Request, object: &Arc<Value>) -> Served {
    let body = match request.subresource {
        "scale" => scale(object),
        _ => view(object, request.view).into_owned(),
    };
    Served { code, body }
}

fn body(request: &Request) -> Result<Value, ApiError> {
    serde_json::from_slice(&request.body).map_err(|error| {
        failure::bad_request(format!("couldn't get version/kind; json parse error: {error}"))
    })
}

/// The body of a server-side apply, which a real server reads as YAML: go-yaml refuses control characters as they are,
/// and turns blanks of the line breaks of other alphabets.
fn applied(request: &Request) -> Result<Value, ApiError> {
    let text = std::str::from_utf8(&request.body).unwrap_or_default();
    let refused = |c: char| matches!(c, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}');
    if text.contains(refused) {
        let message =
            "error decoding YAML: error converting YAML to JSON: yaml: control characters are not allowed";
        return Err(failure::bad_request(message));
    }
    let folded = text.replace(['\u{85}', '\u{2028}', '\u{2029}'], " ");
    let mut read = request.clone();
    read.body = folded.into();
    body(&read)
}

fn key_of(object: &Value) -> Key {
    let part = |name| text(object, &["metadata", name]).unwrap_or_default().to_owned();
    (part("namespace"), part("name"))
}

/// The object in the representation that the client requested.
pub(crate) fn view(object: &Value, view: View) -> Cow<'_, Value> {
    match view {
        View::Full => Cow::Borrowed(object),
        View::Metadata => Cow::Owned(json!({
            "apiVersion": "meta.k8s.io/v1",
            "kind": "PartialObjectMetadata",
            "metadata": object.get("metadata"),
        })),
    }
}

fn list(store: &Store, request: &Request) -> Result<Served, ApiError> {
    let kind = &request.kind;
    let filter = request.filter()?;
    let expired =
        || failure::gone("The provided continue parameter is too old to display a consistent list result.");
    let (version, skip) = match request.query("continue").filter(|token| !token.is_empty()) {
        Some(token) => {
            let (version, skip) = token.split_once('-').ok_or_else(expired)?;
            (version.parse::<u64>().map_err(|_| expired())?, skip.parse::<usize>().map_err(|_| expired())?)
        }
        None => match (request.query("resourceVersion"), request.query("resourceVersionMatch")) {
            (Some(version), Some("Exact")) => (number(version)?, 0),
            (Some(version), _) if number(version)? > store.version => {
                return Err(too_large(version, store.version));
            }
            _ => (store.version, 0),
        },
    };
    if version < store.compacted {
        return Err(expired());
    }
    let objects = if version == store.version {
        store.list(kind, &filter)
    } else {
        store.list_at(kind, &filter, version)
    };
    let limit =
        request.query("limit").and_then(|limit| limit.parse::<usize>().ok()).filter(|limit| *limit > 0);
    let page: Vec<Arc<Value>> =
        objects.iter().skip(skip).take(limit.unwrap_or(usize::MAX)).cloned().collect();
    let mut body = list_of(kind, request.view, &page, version);
    let end = skip + page.len();
    if end < objects.len() {
        set(&mut body, &["metadata", "continue"], json!(format!("{version}-{end}")));
        set(&mut body, &["metadata", "remainingItemCount"], json!(objects.len() - end));
    }
    Ok(Served { code: 200, body })
}

fn list_of(kind: &Kind, shown: View, objects: &[Arc<Value>], version: u64) -> Value {
    let items: Vec<Value> = objects
        .iter()
        .map(|object| {
            let mut item = view(object, shown).into_owned();
            if kind.built_in && shown == View::Full {
                item.as_object_mut().map(|item| (item.remove("apiVersion"), item.remove("kind")));
            }
            item
        })
        .collect();
    let (api_version, name) = match shown {
        View::Full => (kind.api_version(), format!("{}List", kind.kind)),
        View::Metadata => ("meta.k8s.io/v1".to_owned(), "PartialObjectMetadataList".to_owned()),
    };
    let mut list = json!({
        "apiVersion": api_version,
        "kind": name,
        "metadata": { "resourceVersion": version.to_string() },
    });
    // Moved: `json!` would copy all items.
    set(&mut list, &["items"], Value::Array(items));
    list
}

/// A resourceVersion as a number; empty counts as 0.
pub(crate) fn number(version: &str) -> Result<u64, ApiError> {
    if version.is_empty() {
        return Ok(0);
    }
    version.parse().map_err(|_| failure::bad_request(format!("invalid resource version: {version}")))
}

pub(crate) fn too_large(version: &str, newest: u64) -> ApiError {
    let message = format!("Too large resource version: {version}, current: {newest}");
    let mut status = failure::failure(504, "Timeout", message, None);
    status.details = Some(kube::core::response::StatusDetails {
        name: String::new(),
        group: String::new(),
        kind: String::new(),
        uid: String::new(),
        causes: Vec::new(),
        retry_after_seconds: 1,
    });
    status
}

fn patched(request: &Request, kind: &Kind, key: &Key, live: Value) -> Result<Value, ApiError> {
    match request.patch {
        PatchKind::Json => {
            let patch: json_patch::Patch = serde_json::from_slice(&request.body)
                .map_err(|error| failure::bad_request(format!("error decoding patch: {error}")))?;
            let mut new = live;
            for operation in patch.0 {
                if tests_for_nothing(&operation, &new) {
                    continue;
                }
                json_patch::patch(&mut new, &[operation]).map_err(|error| {
                    let message =
                        format!("the server rejected our request due to an error in our request: {error}");
                    failure::failure(422, "Invalid", message, Some((kind, &key.1)))
                })?;
            }
            Ok(new)
        }
        PatchKind::Strategic => Ok(typed::merge(&live, &body(request)?, Schema::of(&kind.schema))),
        PatchKind::Merge | PatchKind::Apply => {
            let mut new = live;
            json_patch::merge(&mut new, &body(request)?);
            Ok(new)
        }
    }
}

/// The API server takes a field that is not there for null, which RFC 6902 does not; kube's finalizers rely on it.
fn tests_for_nothing(operation: &json_patch::PatchOperation, object: &Value) -> bool {
    match operation {
        json_patch::PatchOperation::Test(test) => {
            test.value.is_null() && object.pointer(test.path.as_str()).is_none()
        }
        _ => false,
    }
}

fn delete(store: &mut Store, request: &Request, key: &Key, writer: &Writer) -> Result<Served, ApiError> {
    let options: Value = if request.body.is_empty() { json!({}) } else { body(request)? };
    let dry_run =
        at(&options, &["dryRun"]).and_then(Value::as_array).is_some_and(|values| !values.is_empty());
    let own = |path: &[&str]| text(&options, path).map(ToOwned::to_owned);
    let policy = text(&options, &["propagationPolicy"]).or_else(|| request.query("propagationPolicy"));
    let deletion = Deletion {
        uid: own(&["preconditions", "uid"]),
        resource_version: own(&["preconditions", "resourceVersion"]),
        finalizer: match policy {
            Some("Foreground") => Some("foregroundDeletion"),
            Some("Orphan") => Some("orphan"),
            _ => None,
        },
    };
    let writer = Writer {
        persistence: if dry_run { Persistence::DryRun } else { writer.persistence },
        ..writer.clone()
    };
    let kind = &request.kind;
    let (object, gone) = store.delete(kind, key, &deletion, &writer)?;
    let body = if gone {
        json!({
            "apiVersion": "v1",
            "kind": "Status",
            "metadata": {},
            "status": "Success",
            "details": {
                "name": key.1,
                "group": kind.group,
                "kind": kind.plural,
                "uid": text(&object, &["metadata", "uid"]),
            },
        })
    } else {
        view(&object, request.view).into_owned()
    };
    Ok(Served { code: 200, body })
}

/// The object's `scale`.
fn scale(object: &Value) -> Value {
    let metadata = |name| at(object, &["metadata", name]).cloned().unwrap_or(Value::Null);
    json!({
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {
            "name": metadata("name"),
            "namespace": metadata("namespace"),
            "uid": metadata("uid"),
            "resourceVersion": metadata("resourceVersion"),
            "creationTimestamp": metadata("creationTimestamp"),
        },
        "spec": { "replicas": at(object, &["spec", "replicas"]).cloned().unwrap_or_else(|| json!(0)) },
        "status": { "replicas": at(object, &["status", "replicas"]).cloned().unwrap_or_else(|| json!(0)) },
    })
}

/// The object with the replicas of a `scale`.
fn scaled(object: &Value, scale: &Value) -> Value {
    let mut new = bare(object);
    for path in [&["spec", "replicas"][..], &["metadata", "resourceVersion"]] {
        if let Some(value) = at(scale, path) {
            set(&mut new, path, value.clone());
        }
    }
    new
}
