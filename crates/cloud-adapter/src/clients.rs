//! The SDK's clients that make up one cloud.

use crate::token::Signer;

/// The clients of a cloud: the services of one identity in one region.
#[derive(Clone, Debug)]
pub struct AwsCloud {
    pub(crate) autoscaling: Clients<aws_sdk_autoscaling::Client>,
    pub(crate) ec2: Clients<aws_sdk_ec2::Client>,
    /// Classic load balancers.
    pub(crate) classic: Clients<aws_sdk_elasticloadbalancing::Client>,
    /// All other load balancers.
    pub(crate) balancers: Clients<aws_sdk_elasticloadbalancingv2::Client>,
    pub(crate) eks: Clients<aws_sdk_eks::Client>,
    pub(crate) iam: Clients<aws_sdk_iam::Client>,
    /// Its changes may be repeated: they have the same effect once and twice.
    pub(crate) s3: aws_sdk_s3::Client,
    pub(crate) quotas: aws_sdk_servicequotas::Client,
    pub(crate) ssm: aws_sdk_ssm::Client,
    pub(crate) sts: aws_sdk_sts::Client,
    /// Signs the tokens of EKS clusters.
    pub(crate) signer: Signer,
}

/// Two clients of the same service.
#[derive(Clone, Debug)]
pub(crate) struct Clients<C> {
    /// Repeats calls that failed for a transient reason: for reads, and for changes that carry a client
    /// token.
    pub(crate) repeating: C,
    /// Sends once: for all other changes. A second TerminateInstanceInAutoScalingGroup after a lost response
    /// could shrink the group twice; the caller reads the group first.
    pub(crate) once: C,
}
