//! From the SDK's errors to those of `foo-cloud`: by error code (`cloud/src/codes.rs`) and by where the call broke, never by
//! message text.

use aws_credential_types::provider::error::CredentialsError;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::{ConnectorError, SdkError};
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use foo_cloud::{CloudError, ErrorKind, Operation};
use std::error::Error;

/// A required field of a response is missing or has an impossible value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gap(pub(crate) &'static str);

impl Gap {
    pub(crate) fn during(self, operation: Operation) -> CloudError {
        CloudError::new(
            operation,
            ErrorKind::Internal,
            None,
            &format!("the response has no usable {}", self.0),
        )
    }
}

/// The error of a call that failed.
pub(crate) fn of<E>(operation: Operation, error: &SdkError<E, HttpResponse>) -> CloudError
where
    E: ProvideErrorMetadata + Error + 'static,
{
    tracing::debug!(operation = operation.name(), error = chain(error), "AWS call failed");
    match error {
        SdkError::ServiceError(response) => {
            refused(operation, response.err().meta(), response.raw().status().as_u16())
        }
        SdkError::ResponseError(_) if operation.is_mutation() => CloudError::new(
            operation,
            ErrorKind::LostResponse,
            None,
            "the response could not be read to its end",
        ),
        SdkError::ResponseError(_) => {
            CloudError::new(operation, ErrorKind::Internal, None, "the response could not be read")
        }
        _ => broken(operation, error),
    }
}

/// No credentials could be obtained to sign this call.
pub(crate) fn unsigned(operation: Operation, error: &CredentialsError) -> CloudError {
    tracing::debug!(operation = operation.name(), error = chain(error), "no credentials");
    broken(operation, error)
}

/// AWS's error for one of several things, within a response that is a success as a whole.
pub(crate) fn of_item(operation: Operation, code: Option<&str>, message: &str) -> CloudError {
    let kind = code.map_or(ErrorKind::Invalid, |code| ErrorKind::of_code(operation, code, 400));
    CloudError::new(operation, kind, code.map(str::to_owned), message)
}

/// AWS responded with an error.
fn refused(operation: Operation, error: &aws_smithy_types::error::ErrorMetadata, status: u16) -> CloudError {
    let kind = match error.code() {
        Some(code) => ErrorKind::of_code(operation, code, status),
        None => kind_without_code(status),
    };
    let no_message = || format!("HTTP status {status} without a message");
    let message = error.message().map_or_else(no_message, str::to_owned);
    CloudError::new(operation, kind, error.code().map(str::to_owned), &message)
}

/// The call failed before a response came. The texts are the adapter's: those of the network contain addresses and
/// differ from one failure to the next.
fn broken(operation: Operation, error: &(dyn Error + 'static)) -> CloudError {
    if let Some(refused) = find::<Refused>(error) {
        let kind = match ErrorKind::of_code(operation, &refused.code, refused.status) {
            // AWS did not refuse the call; it was never sent.
            kind @ (ErrorKind::Throttled | ErrorKind::Internal) => kind,
            _ => ErrorKind::Credentials,
        };
        return CloudError::new(operation, kind, None, &refused.to_string());
    }
    if let Some(credentials) = find::<CredentialsError>(error) {
        let kind = match credentials {
            CredentialsError::ProviderTimedOut(_) => ErrorKind::Unreachable,
            _ => passing(operation, credentials).unwrap_or(ErrorKind::Credentials),
        };
        return CloudError::new(
            operation,
            kind,
            None,
            &format!("no usable credentials: {}", chain(credentials)),
        );
    }
    if find::<hyper_util::client::legacy::Error>(error)
        .is_some_and(hyper_util::client::legacy::Error::is_connect)
    {
        return CloudError::new(operation, ErrorKind::Unreachable, None, "no connection to the endpoint");
    }
    if operation.is_mutation() {
        CloudError::new(
            operation,
            ErrorKind::LostResponse,
            None,
            "no response; the call may have been carried out",
        )
    } else {
        CloudError::new(operation, ErrorKind::Unreachable, None, "no response")
    }
}

/// Why no credentials could be obtained, if the cause is transient: STS or the identity provider did not
/// respond, or failed on its side. The message "no usable credentials" would make a user search for a
/// configuration error.
fn passing(operation: Operation, credentials: &CredentialsError) -> Option<ErrorKind> {
    if let Some(refused) = find::<
        aws_sdk_sts::operation::assume_role_with_web_identity::AssumeRoleWithWebIdentityError,
    >(credentials)
    {
        let kind = refused.code().map(|code| ErrorKind::of_code(operation, code, 400));
        return kind.filter(|kind| matches!(kind, ErrorKind::Throttled | ErrorKind::Internal));
    }
    let unanswered = causes(credentials).any(|error| {
        let texts = error.downcast_ref::<ConnectorError>();
        texts.is_some_and(|broken| broken.is_timeout() || broken.is_io())
    });
    unanswered.then_some(ErrorKind::Unreachable)
}

/// A response that does not come from AWS: a proxy's page, or an emulator's.
fn kind_without_code(status: u16) -> ErrorKind {
    match status {
        401 => ErrorKind::Credentials,
        403 => ErrorKind::Denied,
        429 => ErrorKind::Throttled,
        400..=499 => ErrorKind::Invalid,
        _ => ErrorKind::Internal,
    }
}

/// STS refused a role.
#[derive(Debug, thiserror::Error)]
#[error("role {role} cannot be assumed: {code}: {message}")]
pub(crate) struct Refused {
    pub(crate) role: String,
    /// AWS's error code.
    pub(crate) code: String,
    pub(crate) message: String,
    /// HTTP status.
    pub(crate) status: u16,
}

/// The first error of that type in the chain.
pub(crate) fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    causes(error).find_map(|error| error.downcast_ref())
}

/// The messages of the chain, without the repetitions that are common in nested errors.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut texts: Vec<String> = causes(error).map(ToString::to_string).collect();
    texts.dedup();
    texts.join(": ")
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error: &&'a (dyn Error + 'static)| error.source())
}
