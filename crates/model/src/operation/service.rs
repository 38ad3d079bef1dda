//! The service of each operation, and its right in IAM.

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
            | Self::DescribeNotificationConfigurations
            | Self::PutNotificationConfiguration
            | Self::DeleteNotificationConfiguration
            | Self::PutWarmPool
            | Self::DeleteWarmPool
            | Self::AttachTrafficSources
            | Self::DetachTrafficSources
            | Self::SetInstanceProtection
            | Self::TerminateInstanceInAutoScalingGroup
            | Self::DescribeLifecycleHooks
            | Self::PutLifecycleHook
            | Self::DeleteLifecycleHook
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
            | Self::DescribeCapacityReservations
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
            | Self::DescribeTargetHealth
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
            | Self::ListIdentityProviderConfigs
            | Self::DescribeIdentityProviderConfig
            | Self::DescribeClusterVersions
            | Self::DescribeAddonVersions
            | Self::DescribeAddonConfiguration
            | Self::CreateCluster
            | Self::UpdateClusterVersion
            | Self::UpdateClusterConfig
            | Self::AssociateEncryptionConfig
            | Self::AssociateIdentityProviderConfig
            | Self::DisassociateIdentityProviderConfig
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
