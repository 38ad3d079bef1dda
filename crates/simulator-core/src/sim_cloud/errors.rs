//! Refusals of the simulated AWS as `foo_cloud`'s errors, by the table that the real adapter uses.

use crate::core::error::AwsError;
use foo_cloud::{CloudError, ErrorKind, Operation};

/// The error that the adapter reports for this response.
pub(super) fn as_adapter(operation: Operation, error: &AwsError) -> CloudError {
    let kind = ErrorKind::of_code(operation, &error.code, error.status);
    CloudError::new(operation, kind, Some(error.code.clone()), &error.message)
}
