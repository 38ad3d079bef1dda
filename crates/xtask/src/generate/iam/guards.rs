//! What narrows the permission for each operation.
//!
//! The policies follow from [`Operation`]: an operation the provider learns must be given a [`Guard`] here before
//! anything compiles.

use foo_cloud::Operation;
use strum::IntoEnumIterator as _;

/// What narrows the permission for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::EnumIter)]
pub(super) enum Guard {
    /// AWS supports neither resources nor tags for it: it only reads.
    ReadOnly,
    /// Creates a group; the request must carry the ownership tag.
    GroupWithOurTag,
    /// Changes a group that carries the ownership tag.
    OwnGroup,
    /// Creates a launch template; the request must carry the ownership tag.
    TemplateWithOurTag,
    /// Changes a launch template that carries the ownership tag.
    OwnTemplate,
    /// Reads and empties a queue that carries our tag.
    TaggedQueue,
    /// Writes an object into a folder of the provider; the request must carry the tag that says who may read it.
    NewObject,
    /// Deletes an object in a folder of the provider.
    OwnObject,
    /// It only reads the names of objects in folders of the provider.
    ReadsObjects,
    /// Reads an SSM parameter.
    Parameter,
    /// It only reads, and only managed networks need it.
    ReadsNetworks,
    /// It only reads, and only the runtime extension needs it, which has rights of its own.
    ReadsOfExtension,
    /// It only reads what EKS offers; AWS supports neither resources nor tags for it.
    OffersOfEks,
    /// It only reads clusters of EKS and what belongs to them.
    ReadsClusters,
    /// It only reads roles, and only control planes need it.
    ReadsRoles,
    /// Creates a cluster of EKS; the request must carry the ownership tag.
    NewCluster,
    /// Changes a cluster of EKS that carries the ownership tag, or creates what belongs to it.
    OwnCluster,
    /// Changes what belongs to a cluster of EKS and carries the ownership tag.
    PartOfCluster,
    /// Adds tags, with the ownership tag among them or to what carries it.
    TagsOfClusters,
    /// Removes tags from what carries the ownership tag.
    UntagsClusters,
    /// It only reads issuers of tokens of service accounts.
    ReadsIssuers,
    /// Creates an issuer; the request must carry the ownership tag.
    NewIssuer,
    /// Deletes an issuer that carries the ownership tag.
    OwnIssuer,
    /// Makes a part of a network out of nothing; the request must carry our tags.
    NewPart,
    /// Creates a part of a network in a VPC; the request must carry our tags.
    NewPartOfVpc,
    /// Creates a part of a network that needs several others; the request must carry our tags.
    NewConnection,
    /// Changes a part of a network that carries our tags.
    OwnPart,
    /// Removes tags, except the provider's, from a part of a network that carries the provider's.
    TagsOfOwnPart,
    /// Deletes a load balancer or target group that a workload cluster created.
    LeftLoadBalancer,
    /// Deletes an interface that a workload cluster created.
    LeftInterface,
}

impl Guard {
    /// The operations with this guard.
    pub(super) fn operations(self) -> Vec<Operation> {
        Operation::iter().filter(|operation| guard(*operation) == self).collect()
    }

    /// The IAM actions of its operations, sorted.
    pub(super) fn actions(self) -> Vec<String> {
        let mut actions: Vec<String> = self.operations().into_iter().map(Operation::iam_action).collect();
        actions.sort();
        actions
    }
}

/// The guard of each operation: one table, hence its length.
pub(super) fn guard(operation: Operation) -> Guard {
    match operation {
        Operation::DescribeAutoScalingGroups
        | Operation::DescribeLifecycleHooks
        | Operation::DescribeScalingActivities
        | Operation::DescribeLaunchTemplates
        | Operation::DescribeLaunchTemplateVersions
        | Operation::DescribeInstances
        | Operation::DescribeInstanceTypes
        | Operation::DescribeImages
        | Operation::DescribeSubnets
        | Operation::DescribeSecurityGroups
        | Operation::DescribeCapacityReservations
        | Operation::DescribeTargetHealth
        | Operation::DescribeNotificationConfigurations
        | Operation::GetCallerIdentity => Guard::ReadOnly,
        Operation::CreateAutoScalingGroup => Guard::GroupWithOurTag,
        Operation::UpdateAutoScalingGroup
        | Operation::CreateOrUpdateTags
        | Operation::SuspendProcesses
        | Operation::ResumeProcesses
        | Operation::PutNotificationConfiguration
        | Operation::DeleteNotificationConfiguration
        | Operation::PutWarmPool
        | Operation::DeleteWarmPool
        | Operation::AttachTrafficSources
        | Operation::DetachTrafficSources
        | Operation::SetInstanceProtection
        | Operation::TerminateInstanceInAutoScalingGroup
        | Operation::PutLifecycleHook
        | Operation::DeleteLifecycleHook
        | Operation::RecordLifecycleActionHeartbeat
        | Operation::CompleteLifecycleAction
        | Operation::DeleteAutoScalingGroup => Guard::OwnGroup,
        Operation::DescribeVpcs
        | Operation::DescribeVpcAttribute
        | Operation::DescribeInternetGateways
        | Operation::DescribeEgressOnlyInternetGateways
        | Operation::DescribeAddresses
        | Operation::DescribeNatGateways
        | Operation::DescribeRouteTables
        | Operation::DescribeVpcEndpoints
        | Operation::DescribeNetworkInterfaces
        | Operation::DescribeAvailabilityZones
        | Operation::DescribeLoadBalancers
        | Operation::DescribeTargetGroups
        | Operation::DescribeTags
        | Operation::GetServiceQuota => Guard::ReadsNetworks,
        Operation::PutObject => Guard::NewObject,
        Operation::DeleteObject => Guard::OwnObject,
        Operation::ListObjectsV2 => Guard::ReadsObjects,
        Operation::GetParameter => Guard::Parameter,
        Operation::DescribeVolumes | Operation::GetInstanceProfile => Guard::ReadsOfExtension,
        Operation::DescribeClusterVersions
        | Operation::DescribeAddonVersions
        | Operation::DescribeAddonConfiguration => Guard::OffersOfEks,
        Operation::DescribeCluster
        | Operation::ListUpdates
        | Operation::DescribeUpdate
        | Operation::ListInsights
        | Operation::DescribeInsightsRefresh
        | Operation::ListAddons
        | Operation::DescribeAddon
        | Operation::ListAccessEntries
        | Operation::DescribeAccessEntry
        | Operation::ListAssociatedAccessPolicies
        | Operation::ListPodIdentityAssociations
        | Operation::DescribePodIdentityAssociation
        | Operation::ListIdentityProviderConfigs
        | Operation::DescribeIdentityProviderConfig => Guard::ReadsClusters,
        Operation::GetRole => Guard::ReadsRoles,
        Operation::CreateCluster => Guard::NewCluster,
        Operation::UpdateClusterVersion
        | Operation::UpdateClusterConfig
        | Operation::AssociateEncryptionConfig
        | Operation::AssociateIdentityProviderConfig
        | Operation::DeleteCluster
        | Operation::StartInsightsRefresh
        | Operation::CreateAddon
        | Operation::CreateAccessEntry
        | Operation::CreatePodIdentityAssociation => Guard::OwnCluster,
        Operation::UpdateAddon
        | Operation::DeleteAddon
        | Operation::UpdateAccessEntry
        | Operation::DeleteAccessEntry
        | Operation::AssociateAccessPolicy
        | Operation::DisassociateAccessPolicy
        | Operation::UpdatePodIdentityAssociation
        | Operation::DeletePodIdentityAssociation
        | Operation::DisassociateIdentityProviderConfig => Guard::PartOfCluster,
        Operation::TagResource => Guard::TagsOfClusters,
        Operation::UntagResource => Guard::UntagsClusters,
        Operation::GetOpenIDConnectProvider => Guard::ReadsIssuers,
        Operation::CreateOpenIDConnectProvider => Guard::NewIssuer,
        Operation::DeleteOpenIDConnectProvider => Guard::OwnIssuer,
        Operation::CreateVpc | Operation::CreateInternetGateway | Operation::AllocateAddress => {
            Guard::NewPart
        }
        Operation::CreateSubnet | Operation::CreateRouteTable | Operation::CreateSecurityGroup => {
            Guard::NewPartOfVpc
        }
        Operation::CreateEgressOnlyInternetGateway
        | Operation::CreateNatGateway
        | Operation::CreateVpcEndpoint => Guard::NewConnection,
        Operation::ModifyVpcAttribute
        | Operation::AssociateVpcCidrBlock
        | Operation::DisassociateVpcCidrBlock
        | Operation::DeleteVpc
        | Operation::ModifySubnetAttribute
        | Operation::AssociateSubnetCidrBlock
        | Operation::DeleteSubnet
        | Operation::AttachInternetGateway
        | Operation::DetachInternetGateway
        | Operation::DeleteInternetGateway
        | Operation::DeleteEgressOnlyInternetGateway
        | Operation::ReleaseAddress
        | Operation::DeleteNatGateway
        | Operation::CreateRoute
        | Operation::ReplaceRoute
        | Operation::DeleteRoute
        | Operation::AssociateRouteTable
        | Operation::ReplaceRouteTableAssociation
        | Operation::DisassociateRouteTable
        | Operation::DeleteRouteTable
        | Operation::AuthorizeSecurityGroupIngress
        | Operation::AuthorizeSecurityGroupEgress
        | Operation::RevokeSecurityGroupIngress
        | Operation::RevokeSecurityGroupEgress
        | Operation::UpdateSecurityGroupRuleDescriptionsIngress
        | Operation::DeleteSecurityGroup
        | Operation::ModifyVpcEndpoint
        | Operation::DeleteVpcEndpoints
        | Operation::CreateTags => Guard::OwnPart,
        Operation::DeleteTags => Guard::TagsOfOwnPart,
        Operation::DeleteNetworkInterface => Guard::LeftInterface,
        Operation::DeleteLoadBalancer | Operation::DeleteTargetGroup => Guard::LeftLoadBalancer,
        Operation::CreateLaunchTemplate => Guard::TemplateWithOurTag,
        Operation::CreateLaunchTemplateVersion
        | Operation::DeleteLaunchTemplateVersions
        | Operation::DeleteLaunchTemplate => Guard::OwnTemplate,
        Operation::ReceiveMessage | Operation::DeleteMessageBatch | Operation::ChangeMessageVisibility => {
            Guard::TaggedQueue
        }
    }
}
