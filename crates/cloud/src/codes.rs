//! What AWS's error codes mean, by code and never by message text: one table, for AWS itself and for the simulated one.
//!
//! What a code means is in `kind_of`; for one operation only, in `kind_during`. A new kind is an `ErrorKind` with its `Reason`
//! in `error.rs`.

use crate::error::ErrorKind;
use foo_model::Operation;

impl ErrorKind {
    /// What an error code of AWS means. `status`: that of HTTP, for codes that are not known.
    pub fn of_code(operation: Operation, code: &str, status: u16) -> Self {
        kind_of(operation, code, status)
    }
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
        // IAM's: something still belongs to the entity.
        | "DeleteConflict"
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
        | "Unavailable"
        // EC2's for a version of a launch template that cannot be deleted because it is the default one.
        | "unexpectedError" => ErrorKind::Internal,
        "RequestTimeout" | "RequestTimeoutException" if operation.is_mutation() => ErrorKind::LostResponse,
        "InvalidAMIID.Unavailable"
        | "QueueDoesNotExist"
        | "AWS.SimpleQueueService.NonExistentQueue"
        // IAM's.
        | "NoSuchEntity"
        // S3's. An object that does not exist is no error of `Objects`.
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
            ("DeleteConflict", InUse),
            ("unexpectedError", Internal),
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
