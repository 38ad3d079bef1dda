//! The API server's refusals, with the codes, reasons and words of the real one.

use crate::kinds::Kind;
use crate::ownership::{Conflicts, Operation};
use kube::core::response::{Status, StatusCause, StatusDetails, StatusSummary};

/// The error that the server returns instead of doing something; `kube::Error::Api` has the same content.
pub type ApiError = Box<Status>;

/// A refusal about an object or about a kind (empty name).
pub(crate) fn failure(code: u16, reason: &str, message: String, about: Option<(&Kind, &str)>) -> ApiError {
    let details = about.map(|(kind, name)| StatusDetails {
        name: name.to_owned(),
        group: kind.group.clone(),
        kind: kind.plural.clone(),
        uid: String::new(),
        causes: Vec::new(),
        retry_after_seconds: 0,
    });
    Box::new(Status {
        status: Some(StatusSummary::Failure),
        code,
        message,
        metadata: None,
        reason: reason.to_owned(),
        details,
    })
}

/// A path that is not served: the real server responds in plain text, without a reason.
pub(crate) fn unknown_path() -> ApiError {
    failure(404, "", "404 page not found".to_owned(), None)
}

/// A subresource that the kind does not have.
pub(crate) fn unknown_subresource() -> ApiError {
    failure(404, "NotFound", "the server could not find the requested resource".to_owned(), None)
}

pub(crate) fn not_found(kind: &Kind, name: &str) -> ApiError {
    failure(404, "NotFound", format!("{} \"{name}\" not found", kind.resource()), Some((kind, name)))
}

pub(crate) fn already_exists(kind: &Kind, name: &str) -> ApiError {
    failure(
        409,
        "AlreadyExists",
        format!("{} \"{name}\" already exists", kind.resource()),
        Some((kind, name)),
    )
}

/// The conflict of a write with a resourceVersion that is not the newest.
pub(crate) fn modified(kind: &Kind, name: &str) -> ApiError {
    conflict(
        kind,
        name,
        "the object has been modified; please apply your changes to the latest version and try again",
    )
}

pub(crate) fn conflict(kind: &Kind, name: &str, why: &str) -> ApiError {
    failure(
        409,
        "Conflict",
        format!("Operation cannot be fulfilled on {} \"{name}\": {why}", kind.resource()),
        Some((kind, name)),
    )
}

pub(crate) fn invalid(kind: &Kind, name: &str, faults: &[String]) -> ApiError {
    let what =
        if kind.group.is_empty() { kind.kind.clone() } else { format!("{}.{}", kind.kind, kind.group) };
    let mut status = failure(
        422,
        "Invalid",
        format!("{what} \"{name}\" is invalid: {}", faults.join(", ")),
        Some((kind, name)),
    );
    if let Some(details) = &mut status.details {
        details.kind.clone_from(&kind.kind);
    }
    status
}

pub(crate) fn bad_request(message: impl Into<String>) -> ApiError {
    failure(400, "BadRequest", message.into(), None)
}

/// The refusal of an apply of fields that the schema does not have.
pub(crate) fn undeclared(kind: &Kind, key: &(String, String), fields: &[String]) -> ApiError {
    let causes: Vec<String> =
        fields.iter().map(|field| format!("{field}: field not declared in schema")).collect();
    let about = format!("{}/{}; {}, Kind={}", key.0, key.1, kind.api_version(), kind.kind);
    let message = format!("failed to create typed patch object ({about}): {}", causes.join("; "));
    failure(500, "InternalError", message, Some((kind, &key.1)))
}

pub(crate) fn unsupported_patch(kind: &Kind) -> ApiError {
    failure(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml".to_owned(),
        Some((kind, "")),
    )
}

pub(crate) fn gone(message: &str) -> ApiError {
    failure(410, "Expired", message.to_owned(), None)
}

/// The refusal of an apply without force.
pub(crate) fn apply_conflict(kind: &Kind, conflicts: &Conflicts) -> ApiError {
    let causes: Vec<StatusCause> = conflicts
        .iter()
        .map(|(manager, path)| {
            let through = match manager.subresource {
                "" => String::new(),
                subresource => format!(" with subresource \"{subresource}\""),
            };
            let by = match manager.operation {
                Operation::Apply => String::new(),
                Operation::Update => format!(" using {}", kind.api_version()),
            };
            StatusCause {
                reason: "FieldManagerConflict".to_owned(),
                message: format!("conflict with \"{}\"{through}{by}", manager.name),
                field: path.clone(),
            }
        })
        .collect();
    let mut lines: Vec<String> = Vec::new();
    for cause in &causes {
        let head = cause.message.replacen("conflict", "conflicts", 1) + ":";
        if !lines.contains(&head) {
            lines.push(head);
        }
        lines.push(format!("- {}", cause.field));
    }
    let message = match causes.as_slice() {
        [only] => format!("Apply failed with 1 conflict: {}: {}", only.message, only.field),
        all => format!("Apply failed with {} conflicts: {}", all.len(), lines.join("\n")),
    };
    let mut status = failure(409, "Conflict", message, None);
    status.details = Some(StatusDetails {
        name: String::new(),
        group: String::new(),
        kind: String::new(),
        uid: String::new(),
        causes,
        retry_after_seconds: 0,
    });
    status
}
