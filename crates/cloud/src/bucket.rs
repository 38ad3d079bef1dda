//! The limit that the calls of each operation count towards.

use foo_model::operation::{Operation, Service};
use strum::{EnumIter, IntoStaticStr};

/// Which token bucket an operation uses.
///
/// Auto Scaling has one bucket for all actions of an account and region, of unpublished size; EC2 has one per action
/// family (EC2 Developer Guide, "Request throttling for the Amazon EC2 API").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Bucket {
    /// Every Auto Scaling call.
    AutoScaling,
    /// EC2 calls that only read, and the one STS call of each connection.
    Ec2Describe,
    /// EC2 calls that change something.
    Ec2Mutate,
    /// Every SQS call. AWS hardly limits standard queues; this limit prevents a faulty loop from causing
    /// costs.
    Sqs,
    /// Calls of Elastic Load Balancing and Service Quotas, whose limits are unpublished, sent when a network is created
    /// or deleted; those of Systems Manager, which limits an account to 40 per second; and those of S3, which takes
    /// thousands per second, sent when user data changes.
    Rare,
    /// Reads of the health of targets: one per target group and minute, four while an instance is not healthy. AWS's
    /// limit is unpublished.
    TargetHealth,
    /// EKS calls that only read.
    EksDescribe,
    /// EKS calls that change something.
    EksMutate,
    /// Every IAM call, of all regions of the account: IAM is one service for all of them, and its limits are
    /// unpublished.
    Iam,
}

impl Bucket {
    /// The bucket that an operation uses.
    pub(crate) fn of(operation: Operation) -> Self {
        if operation == Operation::DescribeTargetHealth {
            return Self::TargetHealth;
        }
        match (operation.service(), operation.is_mutation()) {
            (Service::AutoScaling, _) => Self::AutoScaling,
            (Service::Ec2, false) | (Service::Sts, _) => Self::Ec2Describe,
            (Service::Ec2, true) => Self::Ec2Mutate,
            (Service::Sqs, _) => Self::Sqs,
            (Service::ElasticLoadBalancing | Service::ServiceQuotas | Service::Ssm | Service::S3, _) => {
                Self::Rare
            }
            (Service::Eks, false) => Self::EksDescribe,
            (Service::Eks, true) => Self::EksMutate,
            (Service::Iam, _) => Self::Iam,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_eks_and_iam_have_buckets_of_their_own() {
        let bucket = |operation: Operation| (Bucket::of(operation), operation.is_mutation());
        assert_eq!(bucket(Operation::ListUpdates), (Bucket::EksDescribe, false));
        assert_eq!(bucket(Operation::DeleteCluster), (Bucket::EksMutate, true));
        assert_eq!(bucket(Operation::GetRole), (Bucket::Iam, false));
    }

    #[test]
    fn actions_of_iam_are_named_after_their_service() {
        assert_eq!(Operation::DeleteCluster.iam_action(), "eks:DeleteCluster");
        assert_eq!(Operation::GetRole.iam_action(), "iam:GetRole");
    }
}
