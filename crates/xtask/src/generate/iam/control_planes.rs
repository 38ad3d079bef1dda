//! The policy for control planes on EKS: clusters with what belongs to them, and what they need of IAM.
//!
//! Facts about resources and condition keys: Service Authorization Reference, "Actions, resources, and condition keys for Amazon
//! Elastic Kubernetes Service" and "… for AWS Identity and Access Management (IAM)", compared with their tables of June 2026.

use super::guards::Guard;
use super::pools::NODE_ROLES;
use super::statement::{Statement, adopts, allow, creates, has_tag, is_owned};
use foo_cloud::Operation;
use serde_json::{Value, json};

pub(super) const CLUSTERS: &str = "arn:*:eks:*:*:cluster/*";
/// Their ARNs contain the name of the cluster: `<kind>/<cluster>/…` (Service Authorization Reference, "Resource types defined by
/// Amazon Elastic Kubernetes Service").
pub(super) const PARTS: [&str; 4] = [
    "arn:*:eks:*:*:addon/*/*",
    "arn:*:eks:*:*:access-entry/*/*",
    PODS,
    "arn:*:eks:*:*:identityproviderconfig/*/*",
];
const PODS: &str = "arn:*:eks:*:*:podidentityassociation/*/*";
/// On the security group that Amazon EKS creates for a control plane: the name of that.
pub(super) const TAG_EKS: &str = "aws:eks:cluster-name";
/// Roles and instance profiles that are read.
pub(super) const ROLES: &str = "arn:*:iam::*:role/*";
pub(super) const PROFILES: &str = "arn:*:iam::*:instance-profile/*";
/// Roles that EKS may get, and that pods may get through add-ons and pod identity associations. Whoever may make a control plane
/// chooses both the role and the service account, and so gets the rights of every role with such a name.
pub(super) const CLUSTER_ROLES: &str = "arn:*:iam::*:role/*.eks.infrastructure.foo.com";
pub(super) const POD_ROLES: &str = "arn:*:iam::*:role/*.pods.infrastructure.foo.com";
/// Issuers of EKS clusters, in all partitions.
const ISSUERS: &str = "arn:*:iam::*:oidc-provider/oidc.eks.*";

pub(super) fn statements() -> Vec<Statement> {
    let mut statements = of_reads();
    statements.extend(of_clusters());
    statements.extend(of_parts());
    statements.extend(of_roles());
    statements.extend(of_issuers());
    statements
}

/// The policy for the adoption of clusters that exist.
pub(super) fn adoption() -> Vec<Statement> {
    vec![allow(
        "AdoptClusters",
        vec![Operation::TagResource.iam_action()],
        &[CLUSTERS],
        Some(adopts()),
        "Only clusters that the owner of the account tagged for their adoption. Once a cluster has the ownership tag, the policy for control \
         planes allows the rest.",
    )]
}

/// The resource types of EKS.
fn everything() -> Vec<&'static str> {
    [CLUSTERS].into_iter().chain(PARTS).collect()
}

fn of_reads() -> Vec<Statement> {
    vec![
        allow(
            "DescribeWhatEksOffers",
            Guard::OffersOfEks.actions(),
            &["*"],
            None,
            "Versions of Kubernetes and of add-ons. AWS supports neither resources nor conditions for these actions. They only read.",
        ),
        allow(
            "DescribeClusters",
            Guard::ReadsClusters.actions(),
            &everything(),
            None,
            "Also of clusters of others: the manager has to see that a name is taken, and by whom. They only read.",
        ),
        allow(
            "ReadRoles",
            [Operation::GetRole, Operation::GetInstanceProfile].map(Operation::iam_action).to_vec(),
            &[ROLES, PROFILES],
            None,
            "The role of each pool's instance profile, for which there is an access entry, the roles in `accessEntries`, and the manager's own: \
             their ARNs, and the unique ids by which EKS knows them. `accessEntries` may name any role of the account, so a policy that is \
             narrower has to fit yours.",
        ),
    ]
}

fn of_clusters() -> Vec<Statement> {
    vec![
        // A new cluster has no resource that a policy could name.
        allow(
            "CreateClusters",
            Guard::NewCluster.actions(),
            &["*"],
            Some(is_owned("aws:RequestTag")),
            "A cluster can only be created with its ownership tag.",
        ),
        allow(
            "ChangeOwnClusters",
            Guard::OwnCluster.actions(),
            &[CLUSTERS],
            Some(is_owned("aws:ResourceTag")),
            "Clusters without the ownership tag cannot be changed or deleted, and get no add-ons, access entries, pod identity \
             associations and identity providers.",
        ),
        allow(
            "TagClusters",
            Guard::TagsOfClusters.actions(),
            &everything(),
            Some(creates()),
            "AWS requires it for creations with tags; for an adoption it is not enough. AWS does not distinguish a creation from tags for a \
             cluster that exists: this limits mistakes of the manager, but not an attacker with its credentials. The parameter \
             `ControlPlaneNames` of the stack limits both.",
        ),
        allow(
            "UntagOwnClusters",
            [Operation::TagResource, Operation::UntagResource].map(Operation::iam_action).to_vec(),
            &everything(),
            Some(is_owned("aws:ResourceTag")),
            "Tags of the user that change or go, and the ownership tags of a cluster that is retained.",
        ),
    ]
}

fn of_parts() -> Vec<Statement> {
    let of_addons = [Operation::CreateAddon, Operation::UpdateAddon, Operation::DeleteAddon];
    let of_groups = [
        Operation::AuthorizeSecurityGroupIngress,
        Operation::RevokeSecurityGroupIngress,
        Operation::DeleteSecurityGroup,
    ];
    vec![
        allow(
            "ConnectGroupsOfClusters",
            of_groups.map(Operation::iam_action).to_vec(),
            &["arn:*:ec2:*:*:security-group/*"],
            Some(has_tag("aws:ResourceTag", TAG_EKS)),
            "The rule for traffic of nodes in the security group that EKS created (`clusterSecurityGroup: Connected` of a managed network), and \
             the deletion of such a group that EKS could not delete because nodes were connected with it. The parameter `ControlPlaneNames` of \
             the stack limits which ones. Remove the statement if no FooCluster has that.",
        ),
        allow(
            "ChangeOwnPartsOfClusters",
            Guard::PartOfCluster.actions(),
            &PARTS,
            Some(is_owned("aws:ResourceTag")),
            "Add-ons, access entries, pod identity associations and identity providers without the ownership tag cannot be changed or \
             deleted: tag those of a cluster that you let the provider adopt, as far as it is to change them.",
        ),
        allow(
            "ChangeIdentitiesOfAddons",
            of_addons.map(Operation::iam_action).to_vec(),
            &[PODS],
            None,
            "Pod identity associations that EKS makes and deletes together with an add-on, and does not tag. AWS requires these actions for \
             the cluster or the add-on as well, so that this statement alone allows nothing.",
        ),
    ]
}

fn of_roles() -> Vec<Statement> {
    let pass = |sid, role, services: Value, why| {
        let condition = Some(json!({"StringEquals": {"iam:PassedToService": services}}));
        allow(sid, vec!["iam:PassRole".to_owned()], &[role], condition, why)
    };
    vec![
        pass(
            "GiveClustersTheirRole",
            CLUSTER_ROLES,
            json!("eks.amazonaws.com"),
            "The role of the control plane (`eks.roleARN`): one whose name ends in `.eks.infrastructure.foo.com`. Name your roles like \
             that, or replace the resource by their ARNs.",
        ),
        pass(
            "GivePodsTheirRole",
            POD_ROLES,
            json!(["eks.amazonaws.com", "pods.eks.amazonaws.com"]),
            "Roles of add-ons and of pod identity associations: those whose names end in `.pods.infrastructure.foo.com`. Never extend it \
             to all roles: a user who may make a control plane chooses the service account that gets the role.",
        ),
        pass(
            "LetNodesIn",
            NODE_ROLES,
            json!(["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]),
            "AWS requires iam:PassRole for access entries of type `EC2_LINUX`, which let nodes in, and passes the role to EC2 (Service \
             Authorization Reference, CreateAccessEntry). Entries of this type for roles with other names need their ARNs here.",
        ),
        allow(
            "FirstUseOfEks",
            vec!["iam:CreateServiceLinkedRole".to_owned()],
            &["arn:*:iam::*:role/aws-service-role/eks.amazonaws.com/AWSServiceRoleForAmazonEKS"],
            Some(json!({"StringEquals": {"iam:AWSServiceName": "eks.amazonaws.com"}})),
            "AWS creates this role with the first cluster of an account, with the rights of the caller.",
        ),
    ]
}

fn of_issuers() -> Vec<Statement> {
    vec![
        allow(
            "ReadIssuers",
            Guard::ReadsIssuers.actions(),
            &[ISSUERS],
            None,
            "`eks.oidcProvider`: whether IAM knows the issuer of a cluster. It only reads.",
        ),
        allow(
            "CreateIssuers",
            vec![
                Operation::CreateOpenIDConnectProvider.iam_action(),
                "iam:TagOpenIDConnectProvider".to_owned(),
            ],
            &[ISSUERS],
            Some(is_owned("aws:RequestTag")),
            "Only issuers of EKS clusters, and only with the ownership tag. AWS requires the second action for the tags.",
        ),
        allow(
            "DeleteOwnIssuers",
            Guard::OwnIssuer.actions(),
            &[ISSUERS],
            Some(is_owned("aws:ResourceTag")),
            "Issuers without the ownership tag cannot be deleted.",
        ),
    ]
}
