//! What can go wrong with a call, sorted by what to do about it.

use crate::operation::Operation;
use std::fmt;
use strum::IntoStaticStr;

/// A failed call.
///
/// `message` never holds a request id, an encoded authorization message or anything else that differs between two
/// failures for the same reason: conditions carry it, and a text that changes on each pass would be written each time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct CloudError {
    /// What was called.
    pub operation: Operation,
    /// What to do about it.
    pub kind: ErrorKind,
    /// AWS's error code, if the answer had one.
    pub code: Option<String>,
    /// AWS's words, without their volatile parts.
    pub message: String,
}

/// What an error means to the caller. Bounded: these are metric labels and condition reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, strum::EnumIter)]
pub enum ErrorKind {
    /// Too many requests; slow down.
    Throttled,
    /// The credentials lack the right; a human must act.
    Denied,
    /// No usable credentials, or they expired; a human must act.
    Credentials,
    /// The thing does not exist.
    NotFound,
    /// The name is taken.
    AlreadyExists,
    /// AWS refuses the request as it stands; repeating it cannot help until something changes.
    Invalid,
    /// A limit or quota of the account.
    LimitExceeded,
    /// Something else uses or changes the thing right now; try again later.
    InUse,
    /// The request may or may not have been carried out: its answer never came.
    LostAnswer,
    /// AWS could not be reached; nothing was carried out.
    Unreachable,
    /// AWS failed on its side.
    Internal,
}

impl CloudError {
    /// An error with its message cleaned of volatile parts.
    pub fn new(operation: Operation, kind: ErrorKind, code: Option<String>, message: &str) -> Self {
        Self { operation, kind, code, message: stable_text(message) }
    }

    /// Whether the call may have taken effect although it failed.
    pub fn may_have_happened(&self) -> bool {
        matches!(self.kind, ErrorKind::LostAnswer | ErrorKind::Internal)
    }
}

impl fmt::Display for CloudError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = self.operation.iam_action();
        match (&self.kind, &self.code) {
            (ErrorKind::Denied, _) => write!(f, "the IAM action {action} is missing: {}", self.message),
            (_, Some(code)) => write!(f, "{action}: {code}: {}", self.message),
            (kind, None) => {
                let kind: &'static str = kind.into();
                write!(f, "{action}: {kind}: {}", self.message)
            }
        }
    }
}

/// The text without what differs from one failure to the next: request ids and encoded authorization messages.
///
/// A word of hexadecimal digits in UUID form becomes `…`; so does everything after "Encoded authorization failure
/// message:". Long texts are cut at 512 characters.
fn stable_text(text: &str) -> String {
    const ENCODED: &str = "Encoded authorization failure message:";
    let text = text.find(ENCODED).and_then(|at| text.get(..at)).unwrap_or(text);
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let core = word.trim_matches(|c: char| !c.is_ascii_hexdigit());
        if is_uuid(core) { words.push(word.replace(core, "…")) } else { words.push(word.to_owned()) }
    }
    words.join(" ").chars().take(512).collect()
}

fn is_uuid(word: &str) -> bool {
    word.len() == 36
        && word.char_indices().all(|(at, c)| match at {
            8 | 13 | 18 | 23 => c == '-',
            _ => c.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_the_same_whatever_the_request_id() {
        let failed = |id: &str| {
            CloudError::new(
                Operation::CreateAutoScalingGroup,
                ErrorKind::Internal,
                Some("InternalFailure".into()),
                &format!("We failed (RequestId: {id}, sorry)"),
            )
            .to_string()
        };
        assert_eq!(
            failed("0d9f3a77-5c3b-4d6e-8d5e-3c2f1a0b9c8d"),
            failed("aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee")
        );
        assert!(failed("aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee").contains("(RequestId: …, sorry)"));
    }

    #[test]
    fn a_denied_call_names_the_iam_action() {
        let denied = CloudError::new(
            Operation::CreateLaunchTemplate,
            ErrorKind::Denied,
            Some("UnauthorizedOperation".into()),
            "You are not authorized. Encoded authorization failure message: AbCd1234",
        );
        assert_eq!(
            denied.to_string(),
            "the IAM action ec2:CreateLaunchTemplate is missing: You are not authorized."
        );
    }
}
