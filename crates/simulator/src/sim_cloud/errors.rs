//! AWS's codes as the controller's error kinds: what the real adapter makes of them.

use crate::core::error::AwsError;
use foo_cloud::{CloudError, ErrorKind, Operation};

/// The error an adapter would report for this answer.
pub(super) fn as_adapter(operation: Operation, error: &AwsError) -> CloudError {
    CloudError::new(operation, kind(error), Some(error.code.clone()), &error.message)
}

fn kind(error: &AwsError) -> ErrorKind {
    match error.code.as_str() {
        "Throttling" | "ThrottlingException" | "RequestLimitExceeded" | "RequestThrottled" => {
            ErrorKind::Throttled
        }
        "AccessDenied" | "AccessDeniedException" | "UnauthorizedOperation" => ErrorKind::Denied,
        "AuthFailure"
        | "ExpiredToken"
        | "ExpiredTokenException"
        | "IncompleteSignature"
        | "InvalidClientTokenId"
        | "MissingAuthenticationToken"
        | "RequestExpired"
        | "SignatureDoesNotMatch"
        | "UnrecognizedClientException" => ErrorKind::Credentials,
        "AlreadyExists" => ErrorKind::AlreadyExists,
        "InvalidInstanceType" => ErrorKind::NotFound,
        "LimitExceeded" | "VersionLimitExceeded" | "TagLimitExceeded" => ErrorKind::LimitExceeded,
        "ResourceInUse" | "ScalingActivityInProgress" | "ResourceContention" | "DependencyViolation" => {
            ErrorKind::InUse
        }
        // Auto Scaling has one code for everything; that a group is missing stands in the text only.
        "ValidationError" if error.message.starts_with("AutoScalingGroup name not found") => {
            ErrorKind::NotFound
        }
        code if code.contains("AlreadyExists") => ErrorKind::AlreadyExists,
        code if code.contains(".NotFound") || code.ends_with("VersionNotFound") => ErrorKind::NotFound,
        _ if error.status >= 500 => ErrorKind::Internal,
        _ => ErrorKind::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_kinds_the_adapter_gives_them() {
        let check = |code: &str, message: &str, expected: ErrorKind| {
            assert_eq!(kind(&AwsError::new(code, message)), expected, "{code}");
        };
        check("Throttling", "", ErrorKind::Throttled);
        check("RequestLimitExceeded", "", ErrorKind::Throttled);
        check("UnauthorizedOperation", "", ErrorKind::Denied);
        check("AlreadyExists", "", ErrorKind::AlreadyExists);
        check("InvalidLaunchTemplateName.AlreadyExistsException", "", ErrorKind::AlreadyExists);
        check("InvalidLaunchTemplateName.NotFoundException", "", ErrorKind::NotFound);
        check("InvalidLaunchTemplateId.VersionNotFound", "", ErrorKind::NotFound);
        check("InvalidInstanceID.NotFound", "", ErrorKind::NotFound);
        check("ResourceInUse", "", ErrorKind::InUse);
        check("ValidationError", &AwsError::no_group("x").message, ErrorKind::NotFound);
        check("ValidationError", &AwsError::no_member("i-1").message, ErrorKind::Invalid);
        assert_eq!(kind(&AwsError::new("InternalFailure", "").status(500)), ErrorKind::Internal);
    }
}
