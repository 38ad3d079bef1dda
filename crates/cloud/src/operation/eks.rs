//! The operations of EKS's questions and changes.

use super::Operation;
use foo_model::eks::{Change, Question};

impl From<&Question> for Operation {
    fn from(question: &Question) -> Self {
        match question {
            Question::Cluster(_) => Self::DescribeCluster,
            Question::Updates(_) => Self::ListUpdates,
            Question::Update { .. } => Self::DescribeUpdate,
            Question::Insights(_) => Self::ListInsights,
            Question::InsightsRefresh(_) => Self::DescribeInsightsRefresh,
            Question::Addons(_) => Self::ListAddons,
            Question::Addon { .. } => Self::DescribeAddon,
            Question::AccessEntries(_) => Self::ListAccessEntries,
            Question::AccessEntry { .. } => Self::DescribeAccessEntry,
            Question::AccessPolicies { .. } => Self::ListAssociatedAccessPolicies,
            Question::PodIdentities(_) => Self::ListPodIdentityAssociations,
            Question::PodIdentity { .. } => Self::DescribePodIdentityAssociation,
            Question::Versions => Self::DescribeClusterVersions,
            Question::AddonReleases { .. } => Self::DescribeAddonVersions,
            Question::AddonSchema { .. } => Self::DescribeAddonConfiguration,
            Question::Role(_) => Self::GetRole,
            Question::InstanceProfile(_) => Self::GetInstanceProfile,
            Question::OidcProvider(_) => Self::GetOpenIDConnectProvider,
        }
    }
}

impl From<&Change> for Operation {
    fn from(change: &Change) -> Self {
        match change {
            Change::CreateCluster { .. } => Self::CreateCluster,
            Change::UpdateClusterVersion { .. } => Self::UpdateClusterVersion,
            Change::UpdateClusterConfig { .. } => Self::UpdateClusterConfig,
            Change::AssociateEncryptionConfig { .. } => Self::AssociateEncryptionConfig,
            Change::DeleteCluster { .. } => Self::DeleteCluster,
            Change::StartInsightsRefresh { .. } => Self::StartInsightsRefresh,
            Change::CreateAddon { .. } => Self::CreateAddon,
            Change::UpdateAddon { .. } => Self::UpdateAddon,
            Change::DeleteAddon { .. } => Self::DeleteAddon,
            Change::CreateAccessEntry { .. } => Self::CreateAccessEntry,
            Change::UpdateAccessEntry { .. } => Self::UpdateAccessEntry,
            Change::DeleteAccessEntry { .. } => Self::DeleteAccessEntry,
            Change::AssociateAccessPolicy { .. } => Self::AssociateAccessPolicy,
            Change::DisassociateAccessPolicy { .. } => Self::DisassociateAccessPolicy,
            Change::CreatePodIdentityAssociation { .. } => Self::CreatePodIdentityAssociation,
            Change::UpdatePodIdentityAssociation { .. } => Self::UpdatePodIdentityAssociation,
            Change::DeletePodIdentityAssociation { .. } => Self::DeletePodIdentityAssociation,
            Change::TagResource { .. } => Self::TagResource,
            Change::UntagResource { .. } => Self::UntagResource,
            Change::CreateOpenIDConnectProvider { .. } => Self::CreateOpenIDConnectProvider,
            Change::DeleteOpenIDConnectProvider { .. } => Self::DeleteOpenIDConnectProvider,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::{Bucket, Service};

    #[test]
    fn lists_and_descriptions_are_no_changes() {
        let read = Operation::from(&Question::Updates("c".to_owned()));
        let change = Operation::from(&Change::DeleteCluster { cluster: "c".to_owned() });
        assert_eq!((read.is_mutation(), read.bucket()), (false, Bucket::EksDescribe));
        assert_eq!((change.is_mutation(), change.bucket()), (true, Bucket::EksMutate));
        assert_eq!(change.iam_action(), "eks:DeleteCluster");
    }

    #[test]
    fn calls_of_iam_for_eks_have_a_bucket_of_their_own() {
        let read = Operation::from(&Question::Role("r".to_owned()));
        assert_eq!((read.service(), read.bucket(), read.is_mutation()), (Service::Iam, Bucket::Iam, false));
        assert_eq!(read.iam_action(), "iam:GetRole");
    }

    #[test]
    fn a_change_is_named_as_its_operation() {
        let change = Change::DeleteOpenIDConnectProvider { arn: "a".to_owned() };
        assert_eq!(Operation::from(&change).name(), <&str>::from(&change));
    }
}
