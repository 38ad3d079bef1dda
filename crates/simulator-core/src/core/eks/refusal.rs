//! EKS's refusals (EKS API Reference, "Common errors" and the errors of each action).

use crate::core::error::AwsError;
use std::fmt::Display;

/// A field that cannot have this value; also an update that changes nothing.
pub(in crate::core) fn invalid(message: impl Into<String>) -> AwsError {
    AwsError::new("InvalidParameterException", message)
}

/// A call that the state of the cluster does not allow.
pub(in crate::core) fn wrong_state(message: impl Into<String>) -> AwsError {
    AwsError::new("InvalidRequestException", message)
}

/// A name that is taken, or a cluster that is busy.
pub(in crate::core) fn in_use(message: impl Into<String>) -> AwsError {
    AwsError::new("ResourceInUseException", message).status(409)
}

/// Something that is not there.
pub(in crate::core) fn not_found(message: impl Into<String>) -> AwsError {
    AwsError::new("ResourceNotFoundException", message).status(404)
}

/// A quota that is used up.
pub(in crate::core) fn too_many(message: impl Into<String>) -> AwsError {
    AwsError::new("ResourceLimitExceededException", message)
}

/// A cluster that is not there.
pub(in crate::core) fn no_cluster(name: impl Display) -> AwsError {
    not_found(format!("No cluster found for name: {name}."))
}
