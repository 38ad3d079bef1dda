//! AWS's codes as the controller's error kinds: what the real adapter makes of them.

use crate::core::error::AwsError;
use foo_cloud::{CloudError, ErrorKind, Operation};

/// The error an adapter would report for this answer.
pub(super) fn as_adapter(operation: Operation, error: &AwsError) -> CloudError {
    CloudError::new(operation, kind(operation, error), Some(error.code.clone()), &error.message)
}

/// By code alone, as the adapter does it: Auto Scaling's `ValidationError` is `Invalid`, whatever its text says.
fn kind(operation: Operation, error: &AwsError) -> ErrorKind {
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
        "ResourceInUse" | "ScalingActivityInProgress" | "ResourceContention" | "DependencyViolation" => {
            ErrorKind::InUse
        }
        // "unexpectedError" is the one code of a version that stays, because it is the default version.
        "InternalFailure" | "InternalError" | "ServiceUnavailable" | "Unavailable" | "unexpectedError" => {
            ErrorKind::Internal
        }
        "InvalidInstanceType" if operation == Operation::DescribeInstanceTypes => ErrorKind::NotFound,
        code if code.ends_with("AlreadyExists") || code.ends_with("AlreadyExistsException") => {
            ErrorKind::AlreadyExists
        }
        "QueueDoesNotExist" => ErrorKind::NotFound,
        code if code.ends_with("NotFound") || code.ends_with("NotFoundException") => ErrorKind::NotFound,
        code if code.ends_with("LimitExceeded") => ErrorKind::LimitExceeded,
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
            assert_eq!(kind(Operation::DescribeInstances, &AwsError::new(code, message)), expected, "{code}");
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
        check("ValidationError", &AwsError::no_group("x").message, ErrorKind::Invalid);
        check("ValidationError", &AwsError::no_member("i-1").message, ErrorKind::Invalid);
        check("InternalFailure", "", ErrorKind::Internal);
        check("VersionLimitExceeded", "", ErrorKind::LimitExceeded);
    }
}
