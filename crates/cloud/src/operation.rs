//! The API operations the provider can call: one list for metrics, limits, errors and the IAM policy.

use foo_model::network::{Change, Kind};
use strum::{EnumIter, IntoStaticStr};

/// One AWS API operation. Its text is AWS's name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, IntoStaticStr)]
#[expect(
    missing_docs,
    reason = "the names are AWS's own (API references of Amazon EC2 Auto Scaling, Amazon EC2, Amazon SQS and AWS IAM)"
)]
pub enum Operation {
    DescribeAutoScalingGroups,
    CreateAutoScalingGroup,
    UpdateAutoScalingGroup,
    CreateOrUpdateTags,
    SuspendProcesses,
    ResumeProcesses,
    SetInstanceProtection,
    TerminateInstanceInAutoScalingGroup,
    DescribeLifecycleHooks,
    PutLifecycleHook,
    RecordLifecycleActionHeartbeat,
    CompleteLifecycleAction,
    DeleteAutoScalingGroup,
    DescribeScalingActivities,
    CreateLaunchTemplate,
    CreateLaunchTemplateVersion,
    DescribeLaunchTemplates,
    DescribeLaunchTemplateVersions,
    DeleteLaunchTemplateVersions,
    DeleteLaunchTemplate,
    DescribeInstances,
    DescribeInstanceTypes,
    DescribeImages,
    DescribeSubnets,
    DescribeSecurityGroups,
    DescribeVolumes,
    DescribeVpcs,
    DescribeVpcAttribute,
    DescribeInternetGateways,
    DescribeEgressOnlyInternetGateways,
    DescribeAddresses,
    DescribeNatGateways,
    DescribeRouteTables,
    DescribeVpcEndpoints,
    DescribeNetworkInterfaces,
    DescribeAvailabilityZones,
    CreateVpc,
    ModifyVpcAttribute,
    AssociateVpcCidrBlock,
    DisassociateVpcCidrBlock,
    DeleteVpc,
    CreateSubnet,
    ModifySubnetAttribute,
    AssociateSubnetCidrBlock,
    DeleteSubnet,
    CreateInternetGateway,
    AttachInternetGateway,
    DetachInternetGateway,
    DeleteInternetGateway,
    CreateEgressOnlyInternetGateway,
    DeleteEgressOnlyInternetGateway,
    AllocateAddress,
    ReleaseAddress,
    CreateNatGateway,
    DeleteNatGateway,
    CreateRouteTable,
    CreateRoute,
    ReplaceRoute,
    DeleteRoute,
    AssociateRouteTable,
    ReplaceRouteTableAssociation,
    DisassociateRouteTable,
    DeleteRouteTable,
    CreateSecurityGroup,
    AuthorizeSecurityGroupIngress,
    AuthorizeSecurityGroupEgress,
    RevokeSecurityGroupIngress,
    RevokeSecurityGroupEgress,
    UpdateSecurityGroupRuleDescriptionsIngress,
    DeleteSecurityGroup,
    CreateVpcEndpoint,
    ModifyVpcEndpoint,
    DeleteVpcEndpoints,
    CreateTags,
    DeleteTags,
    DeleteNetworkInterface,
    DescribeLoadBalancers,
    DescribeTargetGroups,
    /// Operations of Elastic Load Balancing.
    DescribeTags,
    DeleteLoadBalancer,
    DeleteTargetGroup,
    GetServiceQuota,
    GetParameter,
    GetInstanceProfile,
    GetRole,
    GetOpenIDConnectProvider,
    CreateOpenIDConnectProvider,
    DeleteOpenIDConnectProvider,
    GetCallerIdentity,
    ReceiveMessage,
    DeleteMessageBatch,
    ChangeMessageVisibility,
}

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
    /// AWS Identity and Access Management.
    Iam,
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
    /// Every SQS call. AWS hardly limits standard queues; this limit prevents a loop of ours from causing
    /// costs.
    Sqs,
    /// Calls of Elastic Load Balancing and Service Quotas, whose limits are unpublished, sent when a network is
    /// created or deleted; and those of Systems Manager, which limits an account to 40 per second.
    Rare,
    /// Every IAM call, of all regions of the account: IAM is one service for all of them, and its limits are unpublished.
    Iam,
}

impl From<&Change> for Operation {
    fn from(change: &Change) -> Self {
        match change {
            Change::CreateVpc { .. } => Self::CreateVpc,
            Change::ModifyVpcAttribute { .. } => Self::ModifyVpcAttribute,
            Change::DisassociateVpcCidrBlock { .. } => Self::DisassociateVpcCidrBlock,
            Change::DeleteVpc { .. } => Self::DeleteVpc,
            Change::CreateSubnet { .. } => Self::CreateSubnet,
            Change::ModifySubnetAttribute { .. } => Self::ModifySubnetAttribute,
            Change::AssociateSubnetCidrBlock { .. } => Self::AssociateSubnetCidrBlock,
            Change::DeleteSubnet { .. } => Self::DeleteSubnet,
            Change::CreateInternetGateway { .. } => Self::CreateInternetGateway,
            Change::AttachInternetGateway { .. } => Self::AttachInternetGateway,
            Change::DetachInternetGateway { .. } => Self::DetachInternetGateway,
            Change::DeleteInternetGateway { .. } => Self::DeleteInternetGateway,
            Change::CreateEgressOnlyInternetGateway { .. } => Self::CreateEgressOnlyInternetGateway,
            Change::DeleteEgressOnlyInternetGateway { .. } => Self::DeleteEgressOnlyInternetGateway,
            Change::AllocateAddress { .. } => Self::AllocateAddress,
            Change::ReleaseAddress { .. } => Self::ReleaseAddress,
            Change::CreateNatGateway { .. } => Self::CreateNatGateway,
            Change::DeleteNatGateway { .. } => Self::DeleteNatGateway,
            Change::CreateRouteTable { .. } => Self::CreateRouteTable,
            Change::CreateRoute { .. } => Self::CreateRoute,
            Change::ReplaceRoute { .. } => Self::ReplaceRoute,
            Change::DeleteRoute { .. } => Self::DeleteRoute,
            Change::AssociateRouteTable { .. } => Self::AssociateRouteTable,
            Change::ReplaceRouteTableAssociation { .. } => Self::ReplaceRouteTableAssociation,
            Change::DisassociateRouteTable { .. } => Self::DisassociateRouteTable,
            Change::DeleteRouteTable { .. } => Self::DeleteRouteTable,
            Change::CreateSecurityGroup { .. } => Self::CreateSecurityGroup,
            Change::AuthorizeSecurityGroupIngress { .. } => Self::AuthorizeSecurityGroupIngress,
            Change::AuthorizeSecurityGroupEgress { .. } => Self::AuthorizeSecurityGroupEgress,
            Change::RevokeSecurityGroupIngress { .. } => Self::RevokeSecurityGroupIngress,
            Change::RevokeSecurityGroupEgress { .. } => Self::RevokeSecurityGroupEgress,
            Change::UpdateSecurityGroupRuleDescriptionsIngress { .. } => {
                Self::UpdateSecurityGroupRuleDescriptionsIngress
            }
            Change::DeleteSecurityGroup { .. } => Self::DeleteSecurityGroup,
            Change::CreateVpcEndpoint { .. } => Self::CreateVpcEndpoint,
            Change::ModifyVpcEndpoint { .. } => Self::ModifyVpcEndpoint,
            Change::DeleteVpcEndpoints { .. } => Self::DeleteVpcEndpoints,
            Change::CreateTags { .. } => Self::CreateTags,
            Change::DeleteTags { .. } => Self::DeleteTags,
            Change::DeleteNetworkInterface { .. } => Self::DeleteNetworkInterface,
            Change::AssociateVpcCidrBlock { .. } | Change::AssociateVpcIpv6 { .. } => {
                Self::AssociateVpcCidrBlock
            }
            Change::DeleteLoadBalancer { .. } => Self::DeleteLoadBalancer,
            Change::DeleteTargetGroup { .. } => Self::DeleteTargetGroup,
        }
    }
}

impl From<Kind> for Operation {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Vpc => Self::DescribeVpcs,
            Kind::VpcAttributes => Self::DescribeVpcAttribute,
            Kind::Subnet => Self::DescribeSubnets,
            Kind::InternetGateway => Self::DescribeInternetGateways,
            Kind::EgressOnlyGateway => Self::DescribeEgressOnlyInternetGateways,
            Kind::Address => Self::DescribeAddresses,
            Kind::NatGateway => Self::DescribeNatGateways,
            Kind::RouteTable => Self::DescribeRouteTables,
            Kind::SecurityGroup => Self::DescribeSecurityGroups,
            Kind::Endpoint => Self::DescribeVpcEndpoints,
            Kind::Interface => Self::DescribeNetworkInterfaces,
            Kind::LoadBalancer => Self::DescribeLoadBalancers,
            Kind::TargetGroup => Self::DescribeTargetGroups,
            Kind::Zone => Self::DescribeAvailabilityZones,
        }
    }
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
            Self::GetServiceQuota => Service::ServiceQuotas,
            Self::GetParameter => Service::Ssm,
            Self::GetInstanceProfile
            | Self::GetRole
            | Self::GetOpenIDConnectProvider
            | Self::CreateOpenIDConnectProvider
            | Self::DeleteOpenIDConnectProvider => Service::Iam,
            Self::GetCallerIdentity => Service::Sts,
            Self::ReceiveMessage | Self::DeleteMessageBatch | Self::ChangeMessageVisibility => Service::Sqs,
        }
    }

    /// Whether it changes anything in AWS. Receiving a message does: it hides the message from other readers.
    pub fn is_mutation(self) -> bool {
        !["Describe", "Get"].iter().any(|read| self.name().starts_with(read))
    }

    /// The bucket that it uses.
    pub fn bucket(self) -> Bucket {
        match (self.service(), self.is_mutation()) {
            (Service::AutoScaling, _) => Bucket::AutoScaling,
            (Service::Ec2, false) | (Service::Sts, _) => Bucket::Ec2Describe,
            (Service::Ec2, true) => Bucket::Ec2Mutate,
            (Service::Sqs, _) => Bucket::Sqs,
            (Service::ElasticLoadBalancing | Service::ServiceQuotas | Service::Ssm, _) => Bucket::Rare,
            (Service::Iam, _) => Bucket::Iam,
        }
    }

    /// The IAM action a policy must allow for it (`autoscaling:CreateAutoScalingGroup`).
    pub fn iam_action(self) -> String {
        let service: &'static str = self.service().into();
        // Batches are allowed by the action for one message (Service Authorization Reference, "Actions, resources, and
        // condition keys for Amazon SQS").
        let name = self.name();
        format!("{service}:{}", name.strip_suffix("Batch").unwrap_or(name))
    }
}
