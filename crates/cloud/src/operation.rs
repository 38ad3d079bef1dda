//! The API operations the provider can call: one list for metrics, limits, errors and the IAM policy.

use strum::{EnumIter, IntoStaticStr};

/// One AWS API operation. Its text is AWS's name of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, IntoStaticStr)]
#[expect(
    missing_docs,
    reason = "the names are AWS's own (API references of Amazon EC2 Auto Scaling, Amazon EC2 and Amazon SQS)"
)]
pub enum Operation {
    DescribeAutoScalingGroups,
    CreateAutoScalingGroup,
    UpdateAutoScalingGroup,
    CreateOrUpdateTags,
    DeleteTags,
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
}

/// Which token bucket an operation draws from.
///
/// Auto Scaling has one bucket for all actions of an account and region, of unpublished size; EC2 has one per action
/// family (EC2 Developer Guide, "Request throttling for the Amazon EC2 API").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Bucket {
    /// Every Auto Scaling call.
    AutoScaling,
    /// EC2 calls that only read, and the one STS call that a connection makes.
    Ec2Describe,
    /// EC2 calls that change something.
    Ec2Mutate,
    /// Every SQS call. AWS limits standard queues hardly at all; this limit keeps a loop of ours from costing money.
    Sqs,
}

impl Operation {
    /// AWS's name of the operation.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The service it belongs to.
    pub fn service(self) -> Service {
        match self {
            Self::DescribeAutoScalingGroups
            | Self::CreateAutoScalingGroup
            | Self::UpdateAutoScalingGroup
            | Self::CreateOrUpdateTags
            | Self::DeleteTags
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
            | Self::DescribeSecurityGroups => Service::Ec2,
            Self::GetCallerIdentity => Service::Sts,
            Self::ReceiveMessage | Self::DeleteMessageBatch | Self::ChangeMessageVisibility => Service::Sqs,
        }
    }

    /// Whether it changes anything in AWS. A message that is received is hidden from others.
    pub fn is_mutation(self) -> bool {
        !["Describe", "Get"].iter().any(|read| self.name().starts_with(read))
    }

    /// The bucket it draws from.
    pub fn bucket(self) -> Bucket {
        match (self.service(), self.is_mutation()) {
            (Service::AutoScaling, _) => Bucket::AutoScaling,
            (Service::Ec2, false) | (Service::Sts, _) => Bucket::Ec2Describe,
            (Service::Ec2, true) => Bucket::Ec2Mutate,
            (Service::Sqs, _) => Bucket::Sqs,
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
