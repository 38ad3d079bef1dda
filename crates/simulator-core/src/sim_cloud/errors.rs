//! AWS's codes as `foo_cloud`'s error kinds, as the real adapter maps them.

use crate::core::error::AwsError;
use foo_cloud::{CloudError, ErrorKind, Operation};

/// The error that the adapter reports for this response.
pub(super) fn as_adapter(operation: Operation, error: &AwsError) -> CloudError {
    CloudError::new(operation, kind(operation, error), Some(error.code.clone()), &error.message)
}

/// By code alone, as in the adapter: Auto Scaling's `ValidationError` is always `Invalid`.
fn kind(operation: Operation, error: &AwsError) -> ErrorKind {
    if let Some(kind) = kind_during(operation, &error.code) {
        return kind;
    }
    match error.code.as_str() {
        "Throttling"
        | "ThrottlingException"
        | "RequestLimitExceeded"
        | "RequestThrottled"
        | "TooManyRequestsException" => ErrorKind::Throttled,
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
        "ResourceInUse"
        | "ResourceInUseException"
        | "ConcurrentModification"
        | "DeleteConflict"
        | "ScalingActivityInProgress"
        | "ResourceContention"
        | "DependencyViolation"
        | "Gateway.NotAttached"
        | "IncorrectState" => ErrorKind::InUse,
        "InvalidSubnet.Conflict" | "Resource.AlreadyAssociated" => ErrorKind::AlreadyExists,
        // "unexpectedError" is the code for a version that cannot be deleted because it is the default one.
        "InternalFailure" | "InternalError" | "ServiceUnavailable" | "Unavailable" | "unexpectedError" => {
            ErrorKind::Internal
        }
        code if code.ends_with("AlreadyExists") || code.ends_with("AlreadyExistsException") => {
            ErrorKind::AlreadyExists
        }
        "QueueDoesNotExist" | "NoSuchEntity" | "NoSuchBucket" => ErrorKind::NotFound,
        code if code.ends_with("NotFound") || code.ends_with("NotFoundException") => ErrorKind::NotFound,
        code if code.ends_with(".Duplicate") => ErrorKind::AlreadyExists,
        code if code.ends_with(".InUse") => ErrorKind::InUse,
        code if code.ends_with("LimitExceeded") || code.ends_with("LimitExceededException") => {
            ErrorKind::LimitExceeded
        }
        _ if error.status >= 500 => ErrorKind::Internal,
        _ => ErrorKind::Invalid,
    }
}

/// Codes whose meaning in one operation differs from that in all others.
fn kind_during(operation: Operation, code: &str) -> Option<ErrorKind> {
    match (operation, code) {
        (Operation::DescribeInstanceTypes, "InvalidInstanceType")
        | (Operation::DetachInternetGateway, "Gateway.NotAttached") => Some(ErrorKind::NotFound),
        // The name is taken.
        (
            Operation::CreateCluster
            | Operation::CreateAccessEntry
            | Operation::CreatePodIdentityAssociation,
            "ResourceInUseException",
        )
        | (Operation::PutObject, "PreconditionFailed") => Some(ErrorKind::AlreadyExists),
        (Operation::ReleaseAddress, "AuthFailure")
        // An interface that is in use; nothing else about one id can be wrong.
        | (Operation::DeleteNetworkInterface, "InvalidParameterValue") => Some(ErrorKind::InUse),
        _ => None,
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
        check("InvalidGroup.Duplicate", "", ErrorKind::AlreadyExists);
        check("InvalidIPAddress.InUse", "", ErrorKind::InUse);
        check("AuthFailure", "", ErrorKind::Credentials);
        check("NoSuchEntity", "", ErrorKind::NotFound);
        check("EntityAlreadyExists", "", ErrorKind::AlreadyExists);
        check("ResourceInUseException", "", ErrorKind::InUse);
        check("ResourceNotFoundException", "", ErrorKind::NotFound);
        check("ResourceLimitExceededException", "", ErrorKind::LimitExceeded);
        check("TooManyRequestsException", "", ErrorKind::Throttled);
        check("InvalidStateException", "", ErrorKind::Invalid);
    }

    #[test]
    fn some_codes_mean_something_else_in_one_operation() {
        let kind = |operation, code: &str| super::kind(operation, &AwsError::new(code, ""));
        assert_eq!(kind(Operation::ReleaseAddress, "AuthFailure"), ErrorKind::InUse);
        assert_eq!(kind(Operation::CreateCluster, "ResourceInUseException"), ErrorKind::AlreadyExists);
        assert_eq!(kind(Operation::UpdateClusterVersion, "ResourceInUseException"), ErrorKind::InUse);
        assert_eq!(kind(Operation::DetachInternetGateway, "Gateway.NotAttached"), ErrorKind::NotFound);
        assert_eq!(kind(Operation::CreateNatGateway, "Gateway.NotAttached"), ErrorKind::InUse);
    }
}
