//! Errors of calls, by what to do about them.

use foo_model::{Operation, Reason};
use std::fmt;
use std::time::Duration;

/// A failed call.
///
/// `message` never contains a request id, an encoded authorization message or anything else that differs
/// between two failures with the same cause: conditions show it, and a text that changes in each pass would
/// be written each time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct CloudError {
    /// What was called.
    pub operation: Operation,
    /// What to do about it.
    pub kind: ErrorKind,
    /// AWS's error code, if the response had one.
    pub code: Option<String>,
    /// AWS's message, without its volatile parts.
    pub message: String,
}

/// What an error means to the caller. Bounded: these are metric labels and condition reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::EnumIter)]
pub enum ErrorKind {
    /// Too many requests; slow down.
    Throttled,
    /// The credentials lack the right; a user must act.
    Denied,
    /// No usable credentials, or they expired; a user must act.
    Credentials,
    /// It does not exist.
    NotFound,
    /// The name is in use.
    AlreadyExists,
    /// AWS refuses the request; repeating it is pointless until something changes.
    Invalid,
    /// A limit or quota of the account.
    LimitExceeded,
    /// Another operation uses or changes it right now; try again later.
    InUse,
    /// The request may have been carried out: its response was lost.
    LostResponse,
    /// AWS could not be reached; nothing was carried out.
    Unreachable,
    /// AWS failed on its side.
    Internal,
}

impl From<ErrorKind> for Reason {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Throttled => Self::Throttled,
            ErrorKind::Denied => Self::AccessDenied,
            ErrorKind::Credentials => Self::CredentialsInvalid,
            ErrorKind::NotFound => Self::NotFound,
            ErrorKind::AlreadyExists => Self::AlreadyExists,
            ErrorKind::Invalid => Self::RequestInvalid,
            ErrorKind::LimitExceeded => Self::LimitExceeded,
            ErrorKind::InUse => Self::ResourceInUse,
            ErrorKind::LostResponse => Self::ResponseLost,
            ErrorKind::Unreachable => Self::AwsUnreachable,
            ErrorKind::Internal => Self::AwsInternalError,
        }
    }
}

/// Metric labels and logs use the reasons of conditions.
impl From<ErrorKind> for &'static str {
    fn from(kind: ErrorKind) -> Self {
        Reason::from(kind).as_str()
    }
}

impl CloudError {
    /// An error with its message cleaned of volatile parts.
    pub fn new(operation: Operation, kind: ErrorKind, code: Option<String>, message: &str) -> Self {
        Self { operation, kind, code, message: stable_text(message) }
    }

    /// The call had no response within that time.
    pub fn no_response(operation: Operation, within: Duration) -> Self {
        Self::new(operation, ErrorKind::Unreachable, None, &format!("no response in {} s", within.as_secs()))
    }

    /// The action that AWS's text names. Creations need more than their own: tags and private names of endpoints are
    /// actions too. Used only for messages.
    fn missing_action(&self) -> Option<&str> {
        let (_, after) = self.message.split_once("is not authorized to perform: ")?;
        after.split_whitespace().next().filter(|action| action.contains(':'))
    }

    /// Auto Scaling verifies with the caller's rights whether it could launch from the template, and does not
    /// show which right is missing (Auto Scaling User Guide, "Troubleshoot launch templates"). Used only for
    /// messages.
    fn is_about_the_template(&self) -> bool {
        self.names_the_template() && self.message.to_ascii_lowercase().contains("not authorized")
    }

    /// Whether Auto Scaling refused a group because it could not use its launch template, perhaps because it
    /// does not see it yet. Only the time of the report depends on this text.
    pub fn is_about_no_usable_template(&self) -> bool {
        matches!(self.kind, ErrorKind::Invalid | ErrorKind::NotFound) && self.names_the_template()
    }

    fn names_the_template(&self) -> bool {
        let launches =
            matches!(self.operation, Operation::CreateAutoScalingGroup | Operation::UpdateAutoScalingGroup);
        launches && self.message.to_ascii_lowercase().contains("launch template")
    }

    /// Whether AWS refused this call in particular: it may accept others.
    pub fn is_refusal(&self) -> bool {
        match self.kind {
            ErrorKind::Denied
            | ErrorKind::NotFound
            | ErrorKind::AlreadyExists
            | ErrorKind::Invalid
            | ErrorKind::LimitExceeded
            | ErrorKind::InUse => true,
            ErrorKind::Throttled
            | ErrorKind::Credentials
            | ErrorKind::LostResponse
            | ErrorKind::Unreachable
            | ErrorKind::Internal => false,
        }
    }

    /// Whether the call may have taken effect although it failed.
    pub fn may_have_happened(&self) -> bool {
        matches!(self.kind, ErrorKind::LostResponse | ErrorKind::Internal)
    }
}

impl fmt::Display for CloudError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = self.operation.iam_action();
        match (&self.kind, &self.code) {
            _ if self.is_about_the_template() => write!(
                f,
                "{action}: {}: one of ec2:RunInstances, ec2:CreateTags, iam:PassRole for the role of the nodes, or the use \
                 of the image is missing (statements LaunchFromOwnTemplates to GiveNodesTheirRole of the IAM policy; the \
                 parameter LaunchVpcs of its stack has to name the VPC of an existing network)",
                self.message
            ),
            (ErrorKind::Denied, _) => {
                let missing = self.missing_action().unwrap_or(&action);
                write!(f, "the IAM action {missing} is missing: {}", self.message)
            }
            (_, Some(code)) => write!(f, "{action}: {code}: {}", self.message),
            (kind, None) => {
                let kind: &'static str = (*kind).into();
                write!(f, "{action}: {kind}: {}", self.message)
            }
        }
    }
}

/// The text without what differs between failures: request ids, encoded authorization messages, and names of
/// role sessions, which change with each refresh of credentials.
///
/// A UUID becomes `…`, so does a session's name in `assumed-role/<role>/<session>`, and everything after
/// "Encoded authorization failure message:". Long texts are cut at 512 characters.
pub fn stable_text(text: &str) -> String {
    const ENCODED: &str = "Encoded authorization failure message:";
    let text = text.find(ENCODED).and_then(|at| text.get(..at)).unwrap_or(text);
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let core = word.trim_matches(|c: char| !c.is_ascii_hexdigit());
        let word = if is_uuid(core) { word.replace(core, "…") } else { word.to_owned() };
        words.push(without_session(&word));
    }
    words.join(" ").chars().take(512).collect()
}

fn without_session(word: &str) -> String {
    const ROLE: &str = ":assumed-role/";
    let Some((before, rest)) = word.split_once(ROLE) else { return word.to_owned() };
    let Some((role, session)) = rest.split_once('/') else { return word.to_owned() };
    let end = session.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "+=,.@_-".contains(c));
    format!("{before}{ROLE}{role}/…{end}")
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
    fn a_message_is_the_same_whatever_the_session_of_the_role() {
        let failed = |session: &str| {
            stable_text(&format!("User: arn:aws:sts::1:assumed-role/manager/{session} is not authorized"))
        };
        let first = failed("eks-c-foo-manager-0d9f3a77-5c3b-4d6e-8d5e-3c2f1a0b9c8d");
        assert_eq!(first, failed("web-identity-token-1767225600000"));
        assert_eq!(first, "User: arn:aws:sts::1:assumed-role/manager/… is not authorized");
        assert_eq!(stable_text("\"arn:aws:sts::1:assumed-role/r/s\""), "\"arn:aws:sts::1:assumed-role/r/…\"");
        assert_eq!(stable_text("role arn:aws:iam::1:role/r"), "role arn:aws:iam::1:role/r");
    }

    #[test]
    fn a_group_that_may_not_launch_from_its_template_names_what_may_be_missing() {
        for (kind, message) in [
            (ErrorKind::Denied, "You are not authorized to use launch template: lt-1"),
            (
                ErrorKind::Invalid,
                "You must use a valid fully-formed launch template. You are not authorized to perform this operation. \
                 Encoded authorization failure message: AbCd",
            ),
        ] {
            let text = CloudError::new(Operation::CreateAutoScalingGroup, kind, None, message).to_string();
            for named in [
                "ec2:RunInstances",
                "ec2:CreateTags",
                "iam:PassRole",
                "the image",
                "LaunchFromOwnTemplates",
                "LaunchVpcs",
            ] {
                assert!(text.contains(named), "{text}");
            }
        }
        let other =
            CloudError::new(Operation::DeleteAutoScalingGroup, ErrorKind::Denied, None, "not authorized");
        assert!(
            other.to_string().starts_with("the IAM action autoscaling:DeleteAutoScalingGroup is missing")
        );
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

    #[test]
    fn the_iam_action_that_aws_names_is_believed() {
        for (text, named) in [
            ("User: u is not authorized to perform: ec2:CreateTags on resource: r", "ec2:CreateTags"),
            ("User: u is not authorized to perform: route53:Associate on resource: r", "route53:Associate"),
            ("User: u is not authorized to perform: this operation", "ec2:CreateVpcEndpoint"),
            ("User: u is not authorized to perform: ", "ec2:CreateVpcEndpoint"),
        ] {
            let denied = CloudError::new(Operation::CreateVpcEndpoint, ErrorKind::Denied, None, text);
            assert_eq!(denied.to_string(), format!("the IAM action {named} is missing: {}", text.trim_end()));
        }
    }
}
