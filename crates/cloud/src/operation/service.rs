//! The service of each operation, and the limit that its calls count towards.

use super::Operation;
use strum::{EnumIter, IntoStaticStr};

/// The service an operation belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Service {
    /// Amazon EC2 Auto Scaling.
    AutoScaling,
    /// Amazon EC2.
    Ec2,
    /// AWS STS.
    Sts,
    /// Amazon SQS.
    Sqs,
    /// Elastic Load Balancing, both APIs: classic load balancers, and the others.
    ElasticLoadBalancing,
    /// Service Quotas.
    ServiceQuotas,
    /// Systems Manager.
    Ssm,
    /// Amazon EKS.
    Eks,
    /// AWS IAM.
    Iam,
    /// Amazon S3.
    S3,
}

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
    /// EKS calls that only read.
    EksDescribe,
    /// EKS calls that change something.
    EksMutate,
    /// Every IAM call, of all regions of the account: IAM is one service for all of them, and its limits are
    /// unpublished.
    Iam,
}

impl Operation {
    /// AWS's name for the operation.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The service it belongs to. One table of all operations, hence its length.
    pub fn service(self) -> Service {
        match self {
            Self::DescribeAutoScalingGroups
            | Self::CreateAutoScalingGroup
            | Self::UpdateAutoScalingGroup
            | Self::CreateOrUpdateTags
            | Self::SuspendProcesses
            | Self::ResumeProcesses
            | Self::SetInstanceProtection
            | Self::TerminateInstanceInAutoScalingGroup
            | Self::DescribeLifecycleHooks
            | Self::PutLifecycleHook
            | Self::RecordLifecycleActionHeartbeat
            | Self::CompleteLifecycleAction
            | Self::DeleteAutoScalingGroup
            | Self::DescribeScalingActivities => Service::AutoScaling,
            Self::CreateLaunchTemplate
            | Self::CreateLaunchTemplateVersion
            | Self::DescribeLaunchTemplates
            | Self::DescribeLaunchTemplateVersions
            | Self::DeleteLaunchTemplateVersions
            | Self::DeleteLaunchTemplate
            | Self::DescribeInstances
            | Self::DescribeInstanceTypes
            | Self::DescribeImages
            | Self::DescribeSubnets
            | Self::DescribeSecurityGroups
            | Self::DescribeVolumes
            | Self::DescribeVpcs
            | Self::DescribeVpcAttribute
            | Self::DescribeInternetGateways
            | Self::DescribeEgressOnlyInternetGateways
            | Self::DescribeAddresses
            | Self::DescribeNatGateways
            | Self::DescribeRouteTables
            | Self::DescribeVpcEndpoints
            | Self::DescribeNetworkInterfaces
            | Self::DescribeAvailabilityZones
            | Self::CreateVpc
            | Self::ModifyVpcAttribute
            | Self::AssociateVpcCidrBlock
            | Self::DisassociateVpcCidrBlock
            | Self::DeleteVpc
            | Self::CreateSubnet
            | Self::ModifySubnetAttribute
            | Self::AssociateSubnetCidrBlock
            | Self::DeleteSubnet
            | Self::CreateInternetGateway
            | Self::AttachInternetGateway
            | Self::DetachInternetGateway
            | Self::DeleteInternetGateway
            | Self::CreateEgressOnlyInternetGateway
            | Self::DeleteEgressOnlyInternetGateway
            | Self::AllocateAddress
            | Self::ReleaseAddress
            | Self::CreateNatGateway
            | Self::DeleteNatGateway
            | Self::CreateRouteTable
            | Self::CreateRoute
            | Self::ReplaceRoute
            | Self::DeleteRoute
            | Self::AssociateRouteTable
            | Self::ReplaceRouteTableAssociation
            | Self::DisassociateRouteTable
            | Self::DeleteRouteTable
            | Self::CreateSecurityGroup
            | Self::AuthorizeSecurityGroupIngress
            | Self::AuthorizeSecurityGroupEgress
            | Self::RevokeSecurityGroupIngress
            | Self::RevokeSecurityGroupEgress
            | Self::UpdateSecurityGroupRuleDescriptionsIngress
            | Self::DeleteSecurityGroup
            | Self::CreateVpcEndpoint
            | Self::ModifyVpcEndpoint
            | Self::DeleteVpcEndpoints
            | Self::CreateTags
            | Self::DeleteTags
            | Self::DeleteNetworkInterface => Service::Ec2,
            Self::DescribeLoadBalancers
            | Self::DescribeTargetGroups
            | Self::DescribeTags
            | Self::DeleteLoadBalancer
            | Self::DeleteTargetGroup => Service::ElasticLoadBalancing,
            Self::PutObject | Self::ListObjectsV2 | Self::DeleteObject => Service::S3,
            Self::GetServiceQuota => Service::ServiceQuotas,
            Self::GetParameter => Service::Ssm,
            Self::GetCallerIdentity => Service::Sts,
            Self::ReceiveMessage | Self::DeleteMessageBatch | Self::ChangeMessageVisibility => Service::Sqs,
            Self::DescribeCluster
            | Self::ListUpdates
            | Self::DescribeUpdate
            | Self::ListInsights
            | Self::DescribeInsightsRefresh
            | Self::StartInsightsRefresh
            | Self::ListAddons
            | Self::DescribeAddon
            | Self::ListAccessEntries
            | Self::DescribeAccessEntry
            | Self::ListAssociatedAccessPolicies
            | Self::ListPodIdentityAssociations
            | Self::DescribePodIdentityAssociation
            | Self::DescribeClusterVersions
            | Self::DescribeAddonVersions
            | Self::DescribeAddonConfiguration
            | Self::CreateCluster
            | Self::UpdateClusterVersion
            | Self::UpdateClusterConfig
            | Self::AssociateEncryptionConfig
            | Self::DeleteCluster
            | Self::CreateAddon
            | Self::UpdateAddon
            | Self::DeleteAddon
            | Self::CreateAccessEntry
            | Self::UpdateAccessEntry
            | Self::DeleteAccessEntry
            | Self::AssociateAccessPolicy
            | Self::DisassociateAccessPolicy
            | Self::CreatePodIdentityAssociation
            | Self::UpdatePodIdentityAssociation
            | Self::DeletePodIdentityAssociation
            | Self::TagResource
            | Self::UntagResource => Service::Eks,
            Self::GetRole
            | Self::GetInstanceProfile
            | Self::GetOpenIDConnectProvider
            | Self::CreateOpenIDConnectProvider
            | Self::DeleteOpenIDConnectProvider => Service::Iam,
        }
    }

    /// Whether it changes anything in AWS. Receiving a message does: it hides the message from other readers.
    pub fn is_mutation(self) -> bool {
        !["Describe", "Get", "List"].iter().any(|read| self.name().starts_with(read))
    }

    /// The bucket that it uses.
    pub fn bucket(self) -> Bucket {
        match (self.service(), self.is_mutation()) {
            (Service::AutoScaling, _) => Bucket::AutoScaling,
            (Service::Ec2, false) | (Service::Sts, _) => Bucket::Ec2Describe,
            (Service::Ec2, true) => Bucket::Ec2Mutate,
            (Service::Sqs, _) => Bucket::Sqs,
            (Service::ElasticLoadBalancing | Service::ServiceQuotas | Service::Ssm | Service::S3, _) => {
                Bucket::Rare
            }
            (Service::Eks, false) => Bucket::EksDescribe,
            (Service::Eks, true) => Bucket::EksMutate,
            (Service::Iam, _) => Bucket::Iam,
        }
    }

    /// The IAM action a policy must allow for it (`autoscaling:CreateAutoScalingGroup`).
    pub fn iam_action(self) -> String {
        let service: &'static str = self.service().into();
        // Batches are allowed by the action for one message (Service Authorization Reference, "Actions, resources, and
        // condition keys for Amazon SQS").
        let name = match self {
            // Its right has the name of its first version.
            Self::ListObjectsV2 => "ListBucket",
            other => other.name(),
        };
        format!("{service}:{}", name.strip_suffix("Batch").unwrap_or(name))
    }
}
