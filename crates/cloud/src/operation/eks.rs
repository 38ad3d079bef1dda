//! The operations of EKS's questions and changes.

use super::Operation;
use foo_model::eks::{
    AddonChange, Change, ClusterChange, EntryChange, OidcChange, PodIdentityChange, Question, TagChange,
};

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
            Change::Cluster { change, .. } => match change {
                ClusterChange::Create(_) => Self::CreateCluster,
                ClusterChange::UpdateVersion { .. } => Self::UpdateClusterVersion,
                ClusterChange::UpdateConfig(_) => Self::UpdateClusterConfig,
                ClusterChange::Encrypt(_) => Self::AssociateEncryptionConfig,
                ClusterChange::RefreshInsights => Self::StartInsightsRefresh,
                ClusterChange::Delete => Self::DeleteCluster,
            },
            Change::Addon { change, .. } => match change {
                AddonChange::Create(..) => Self::CreateAddon,
                AddonChange::Update(_) => Self::UpdateAddon,
                AddonChange::Delete { .. } => Self::DeleteAddon,
            },
            Change::Entry { change, .. } => match change {
                EntryChange::Create(_) => Self::CreateAccessEntry,
                EntryChange::Update { .. } => Self::UpdateAccessEntry,
                EntryChange::Delete => Self::DeleteAccessEntry,
                EntryChange::Associate(_) => Self::AssociateAccessPolicy,
                EntryChange::Disassociate(_) => Self::DisassociateAccessPolicy,
            },
            Change::PodIdentity { change, .. } => match change {
                PodIdentityChange::Create(_) => Self::CreatePodIdentityAssociation,
                PodIdentityChange::Update { .. } => Self::UpdatePodIdentityAssociation,
                PodIdentityChange::Delete { .. } => Self::DeletePodIdentityAssociation,
            },
            Change::Tags { change, .. } => match change {
                TagChange::Tag(_) => Self::TagResource,
                TagChange::Untag(_) => Self::UntagResource,
            },
            Change::Oidc(change) => match change {
                OidcChange::Create(_) => Self::CreateOpenIDConnectProvider,
                OidcChange::Delete { .. } => Self::DeleteOpenIDConnectProvider,
            },
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
        let change =
            Operation::from(&Change::Cluster { cluster: "c".to_owned(), change: ClusterChange::Delete });
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
        let change = Change::Oidc(OidcChange::Delete { arn: "a".to_owned() });
        assert_eq!(Operation::from(&change).name(), change.operation());
    }
}
