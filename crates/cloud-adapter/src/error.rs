//! From the SDK's errors to those of `foo-cloud`: by error code and by where the call broke, never by message text.
//!
//! What a code means is in `kind_of`; for one operation only, in `kind_during`. The simulator's `sim_cloud/errors.rs`
//! has the same table. A new kind is an `ErrorKind` with its `Reason` in `cloud/src/error.rs`.

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
    let kind = code.map_or(ErrorKind::Invalid, |code| kind_of(operation, code, 400));
    CloudError::new(operation, kind, code.map(str::to_owned), message)
}

/// AWS responded with an error.
fn refused(operation: Operation, error: &aws_smithy_types::error::ErrorMetadata, status: u16) -> CloudError {
    let kind = match error.code() {
        Some(code) => kind_of(operation, code, status),
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
        let kind = match kind_of(operation, &refused.code, refused.status) {
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
        let kind = refused.code().map(|code| kind_of(operation, code, 400));
        return kind.filter(|kind| matches!(kind, ErrorKind::Throttled | ErrorKind::Internal));
    }
    let unanswered = causes(credentials).any(|error| {
        let texts = error.downcast_ref::<ConnectorError>();
        texts.is_some_and(|broken| broken.is_timeout() || broken.is_io())
    });
    unanswered.then_some(ErrorKind::Unreachable)
}

/// The meaning of an error code (Auto Scaling API Reference, "Common Errors"; EC2 API Reference, "Error
/// codes"; API References of Elastic Load Balancing and Service Quotas). One table of all codes, hence its length.
fn kind_of(operation: Operation, code: &str, status: u16) -> ErrorKind {
    if let Some(kind) = kind_during(operation, code) {
        return kind;
    }
    match code {
        "Throttling"
        | "ThrottlingException"
        | "ThrottledException"
        | "RequestThrottled"
        | "RequestThrottledException"
        | "RequestLimitExceeded"
        | "TooManyRequestsException"
        | "BandwidthLimitExceeded"
        | "DependencyThrottle"
        | "EC2ThrottledException"
        | "KmsThrottled"
        | "KMS.ThrottlingException"
        | "OverLimit"
        | "PriorRequestNotComplete"
        | "SlowDown" => ErrorKind::Throttled,
        "AccessDenied"
        | "AccessDeniedException"
        | "UnauthorizedOperation"
        | "NotAuthorized"
        | "DependencyAccessDeniedException"
        | "OptInRequired"
        | "Blocked"
        | "PendingVerification" => ErrorKind::Denied,
        "AuthFailure"
        | "ExpiredToken"
        | "ExpiredTokenException"
        | "IncompleteSignature"
        // S3's for the next.
        | "InvalidAccessKeyId"
        | "InvalidClientTokenId"
        | "InvalidIdentityToken"
        | "InvalidIdentityTokenException"
        | "InvalidSignatureException"
        | "InvalidToken"
        | "MissingAuthenticationToken"
        | "MissingAuthenticationTokenException"
        | "RequestExpired"
        | "RequestTimeTooSkewed"
        | "SignatureDoesNotMatch"
        | "UnrecognizedClientException" => ErrorKind::Credentials,
        // IAM's, about two changes of one entity.
        "ConcurrentModification"
        | "DependencyViolation"
        // About a gateway that was attached a moment ago.
        | "Gateway.NotAttached"
        // S3's: another write or a deletion of the object came between.
        | "ConditionalRequestConflict"
        | "IncorrectInstanceState"
        | "IncorrectState"
        | "IdempotentCallInProgress"
        | "InvalidState"
        | "InvalidVpcState"
        | "OperationAborted"
        | "ResourceContention"
        | "ResourceInUse"
        | "ResourceInUseException"
        | "ScalingActivityInProgress"
        | "InstanceRefreshInProgress" => ErrorKind::InUse,
        "InternalError"
        | "InternalFailure"
        // The identity provider did not respond to STS.
        | "IDPCommunicationError"
        | "IDPCommunicationErrorException"
        | "InternalServerError"
        | "ServerException"
        // IAM did not reach the issuer of OpenID Connect tokens.
        | "OpenIdIdpCommunicationError"
        | "ServiceException"
        | "ServiceLinkedRoleFailure"
        | "ServiceUnavailable"
        | "ServiceUnavailableException"
        | "Unavailable" => ErrorKind::Internal,
        "RequestTimeout" | "RequestTimeoutException" if operation.is_mutation() => ErrorKind::LostResponse,
        "InvalidAMIID.Unavailable"
        | "QueueDoesNotExist"
        | "AWS.SimpleQueueService.NonExistentQueue"
        // IAM's.
        | "NoSuchEntity"
        // S3's. An object that does not exist is no error in the calls of this crate.
        | "NoSuchBucket"
        | "NoSuchResourceException" => ErrorKind::NotFound,
        // Another subnet has the range, perhaps the same subnet from an earlier attempt.
        "InvalidSubnet.Conflict" | "Resource.AlreadyAssociated" => ErrorKind::AlreadyExists,
        "InsufficientAddressCapacity" | "ResourceCountExceeded" | "ServiceQuotaExceededException" => {
            ErrorKind::LimitExceeded
        }
        _ if code.ends_with("NotFound") || code.ends_with("NotFoundException") => ErrorKind::NotFound,
        _ if code.ends_with("AlreadyExists") || code.ends_with("AlreadyExistsException") => {
            ErrorKind::AlreadyExists
        }
        _ if code.ends_with(".Duplicate") => ErrorKind::AlreadyExists,
        _ if code.ends_with(".InUse") => ErrorKind::InUse,
        _ if code.ends_with("LimitExceeded") || code.ends_with("LimitExceededException") => {
            ErrorKind::LimitExceeded
        }
        _ if status >= 500 => ErrorKind::Internal,
        _ => ErrorKind::Invalid,
    }
}

/// Codes whose meaning in one operation differs from that in all others.
fn kind_during(operation: Operation, code: &str) -> Option<ErrorKind> {
    match (operation, code) {
        // The name is taken. Of all other operations the code says that EKS is at work on the cluster or add-on.
        (
            Operation::CreateCluster
            | Operation::CreateAccessEntry
            | Operation::CreatePodIdentityAssociation,
            "ResourceInUseException",
        )
        // There is an object with the key.
        | (Operation::PutObject, "PreconditionFailed") => Some(ErrorKind::AlreadyExists),
        // EC2 has other codes for a known type in a wrong place; here the only input is the type's name.
        (Operation::DescribeInstanceTypes, "InvalidInstanceType")
        // The resource to detach is not attached.
        | (Operation::DetachInternetGateway, "Gateway.NotAttached") => Some(ErrorKind::NotFound),
        // A NAT gateway or load balancer that is being deleted still has the address. EC2 returns the same
        // code for unusable credentials, but reads detect those.
        (Operation::ReleaseAddress, "AuthFailure")
        // "Network interface 'eni-…' is currently in use." (gruntwork-io/cloud-nuke#431 and #1132). The only input is an id that
        // a look showed, so no other value can be meant.
        | (Operation::DeleteNetworkInterface, "InvalidParameterValue") => Some(ErrorKind::InUse),
        _ => None,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_their_kinds() {
        use ErrorKind::{
            AlreadyExists, Credentials, Denied, InUse, Internal, Invalid, LimitExceeded, NotFound, Throttled,
        };
        for (code, kind) in [
            ("Throttling", Throttled),
            ("RequestLimitExceeded", Throttled),
            ("AccessDenied", Denied),
            ("UnauthorizedOperation", Denied),
            ("ExpiredToken", Credentials),
            ("AuthFailure", Credentials),
            ("AlreadyExists", AlreadyExists),
            ("InvalidLaunchTemplateName.AlreadyExistsException", AlreadyExists),
            ("LimitExceeded", LimitExceeded),
            ("VersionLimitExceeded", LimitExceeded),
            ("InvalidLaunchTemplateId.NotFound", NotFound),
            ("InvalidLaunchTemplateId.VersionNotFound", NotFound),
            ("InvalidLaunchTemplateName.NotFoundException", NotFound),
            ("InvalidAMIID.NotFound", NotFound),
            ("InvalidAMIID.Unavailable", NotFound),
            ("QueueDoesNotExist", NotFound),
            ("ReceiptHandleIsInvalid", Invalid),
            ("InvalidSubnetID.NotFound", NotFound),
            ("InvalidGroup.NotFound", NotFound),
            ("ResourceInUse", InUse),
            ("ScalingActivityInProgress", InUse),
            ("ResourceContention", InUse),
            ("ValidationError", Invalid),
            ("InvalidInstanceType", Invalid),
            ("IdempotentParameterMismatch", Invalid),
            ("InvalidAction", Invalid),
            ("ServiceUnavailable", Internal),
            ("IDPCommunicationError", Internal),
            ("InvalidIdentityToken", Credentials),
            ("InvalidSignatureException", Credentials),
            ("IdempotentCallInProgress", InUse),
            ("OverLimit", Throttled),
            ("KmsThrottled", Throttled),
            ("SlowDown", Throttled),
            ("NoSuchBucket", NotFound),
            ("PermanentRedirect", Invalid),
            ("ConditionalRequestConflict", InUse),
        ] {
            assert_eq!(kind_of(Operation::CreateAutoScalingGroup, code, 400), kind, "{code}");
        }
        assert_eq!(kind_of(Operation::DescribeInstanceTypes, "InvalidInstanceType", 400), NotFound);
        assert_eq!(kind_of(Operation::DescribeInstanceTypes, "Whatever", 500), Internal);
    }

    #[test]
    fn codes_of_eks_have_their_kinds() {
        use ErrorKind::{
            AlreadyExists, Denied, InUse, Internal, Invalid, LimitExceeded, NotFound, Throttled,
        };
        for (operation, code, kind) in [
            (Operation::CreateCluster, "ResourceInUseException", AlreadyExists),
            (Operation::CreateAccessEntry, "ResourceInUseException", AlreadyExists),
            (Operation::CreatePodIdentityAssociation, "ResourceInUseException", AlreadyExists),
            (Operation::CreateAddon, "ResourceInUseException", InUse),
            (Operation::UpdateClusterVersion, "ResourceInUseException", InUse),
            (Operation::DeleteCluster, "ResourceInUseException", InUse),
            (Operation::DescribeCluster, "ResourceNotFoundException", NotFound),
            (Operation::TagResource, "NotFoundException", NotFound),
            (Operation::TagResource, "BadRequestException", Invalid),
            (Operation::DescribeCluster, "TooManyRequestsException", Throttled),
            (Operation::DescribeCluster, "ThrottlingException", Throttled),
            (Operation::CreateCluster, "InvalidParameterException", Invalid),
            (Operation::CreateAccessEntry, "InvalidRequestException", Invalid),
            (Operation::UpdateClusterVersion, "InvalidStateException", Invalid),
            (Operation::CreateCluster, "ResourceLimitExceededException", LimitExceeded),
            (Operation::CreateCluster, "UnsupportedAvailabilityZoneException", Invalid),
            (Operation::CreateCluster, "ClientException", Invalid),
            (Operation::CreateCluster, "ServerException", Internal),
            (Operation::CreateCluster, "ServiceUnavailableException", Internal),
            (Operation::CreateCluster, "AccessDeniedException", Denied),
        ] {
            assert_eq!(kind_of(operation, code, 400), kind, "{operation:?} {code}");
        }
    }

    #[test]
    fn codes_of_networks_have_their_kinds() {
        use ErrorKind::{
            AlreadyExists, Credentials, Denied, InUse, Internal, Invalid, LimitExceeded, NotFound, Throttled,
        };
        for (operation, code, kind) in [
            (Operation::DeleteVpc, "DependencyViolation", InUse),
            (Operation::DeleteInternetGateway, "DependencyViolation", InUse),
            (Operation::ReleaseAddress, "InvalidIPAddress.InUse", InUse),
            (Operation::DeleteNetworkInterface, "InvalidNetworkInterface.InUse", InUse),
            (Operation::DeleteNetworkInterface, "InvalidParameterValue", InUse),
            (Operation::DeleteNetworkInterface, "InvalidNetworkInterfaceID.NotFound", NotFound),
            (Operation::DeleteVpc, "InvalidParameterValue", Invalid),
            (Operation::DeleteSecurityGroup, "InvalidGroup.InUse", InUse),
            (Operation::ReleaseAddress, "AuthFailure", InUse),
            (Operation::AllocateAddress, "AuthFailure", Credentials),
            (Operation::AssociateVpcCidrBlock, "IncorrectState", InUse),
            (Operation::CreateSubnet, "InvalidVpcState", InUse),
            (Operation::CreateNatGateway, "Gateway.NotAttached", InUse),
            (Operation::DetachInternetGateway, "Gateway.NotAttached", NotFound),
            (Operation::CreateVpc, "VpcLimitExceeded", LimitExceeded),
            (Operation::AllocateAddress, "AddressLimitExceeded", LimitExceeded),
            (Operation::AllocateAddress, "InsufficientAddressCapacity", LimitExceeded),
            (Operation::CreateNatGateway, "NatGatewayLimitExceeded", LimitExceeded),
            (Operation::AuthorizeSecurityGroupIngress, "RulesPerSecurityGroupLimitExceeded", LimitExceeded),
            (Operation::CreateVpcEndpoint, "VpcEndpointLimitExceeded", LimitExceeded),
            (Operation::CreateSubnet, "InvalidVpcID.NotFound", NotFound),
            (Operation::DeleteNatGateway, "NatGatewayNotFound", NotFound),
            (Operation::DeleteRoute, "InvalidRoute.NotFound", NotFound),
            (Operation::DisassociateRouteTable, "InvalidAssociationID.NotFound", NotFound),
            (Operation::RevokeSecurityGroupEgress, "InvalidPermission.NotFound", NotFound),
            (Operation::UpdateSecurityGroupRuleDescriptionsIngress, "InvalidPermission.NotFound", NotFound),
            (Operation::DeleteLoadBalancer, "LoadBalancerNotFound", NotFound),
            (Operation::DeleteTargetGroup, "TargetGroupNotFound", NotFound),
            (Operation::GetServiceQuota, "NoSuchResourceException", NotFound),
            (Operation::CreateSubnet, "InvalidSubnet.Conflict", AlreadyExists),
            (Operation::CreateSecurityGroup, "InvalidGroup.Duplicate", AlreadyExists),
            (Operation::AuthorizeSecurityGroupEgress, "InvalidPermission.Duplicate", AlreadyExists),
            (Operation::CreateRoute, "RouteAlreadyExists", AlreadyExists),
            (Operation::AttachInternetGateway, "Resource.AlreadyAssociated", AlreadyExists),
            (Operation::DeleteTargetGroup, "ResourceInUse", InUse),
            (Operation::DeleteNetworkInterface, "OperationNotPermitted", Invalid),
            (Operation::CreateVpc, "InvalidVpc.Range", Invalid),
            (Operation::CreateNatGateway, "IdempotentParameterMismatch", Invalid),
            (Operation::DescribeTags, "DependencyThrottle", Throttled),
            (Operation::GetServiceQuota, "ServiceException", Internal),
            (Operation::GetServiceQuota, "DependencyAccessDeniedException", Denied),
            (Operation::CreateVpc, "UnauthorizedOperation", Denied),
            (Operation::GetInstanceProfile, "NoSuchEntity", NotFound),
            (Operation::CreateOpenIDConnectProvider, "EntityAlreadyExists", AlreadyExists),
            (Operation::CreateOpenIDConnectProvider, "LimitExceeded", LimitExceeded),
            (Operation::CreateOpenIDConnectProvider, "ConcurrentModification", InUse),
            (Operation::CreateOpenIDConnectProvider, "OpenIdIdpCommunicationError", Internal),
            (Operation::CreateOpenIDConnectProvider, "InvalidInput", Invalid),
        ] {
            assert_eq!(kind_of(operation, code, 400), kind, "{operation:?} {code}");
        }
    }
}
