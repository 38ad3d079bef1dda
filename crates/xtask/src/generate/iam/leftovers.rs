//! The policy for `deletion.leftovers: Delete`: which resources that workload clusters left in a network the manager may delete
//! with the network. A tag of the controller that created them identifies them.
//!
//! Facts about resources and condition keys: Service Authorization Reference, "Actions, resources, and condition keys for AWS
//! Elastic Load Balancing", "… for AWS Elastic Load Balancing V2" and "… for Amazon EC2".

use super::control_planes::TAG_EKS;
use super::guards::Guard;
use super::networks::TAG_CNI_CLUSTER;
use super::statement::{Statement, allow, has_tag};
use foo_cloud::Operation;

const SECURITY_GROUPS: &str = "arn:*:ec2:*:*:security-group/*";
const ENDPOINTS: &str = "arn:*:ec2:*:*:vpc-endpoint/*";
const INTERFACES: &str = "arn:*:ec2:*:*:network-interface/*";
const BALANCERS: &[&str] =
    &["arn:*:elasticloadbalancing:*:*:loadbalancer/*", "arn:*:elasticloadbalancing:*:*:targetgroup/*"];

/// On resources of the AWS Load Balancer Controller: the name of the cluster (AWS Load Balancer Controller, "Subnet auto-discovery"
/// and its tags).
const TAG_CONTROLLER: &str = "elbv2.k8s.aws/cluster";
/// On load balancers of the cloud controller manager: the Service.
const TAG_SERVICE: &str = "kubernetes.io/service-name";

/// On the endpoint and the group that Amazon GuardDuty creates for its agent (policy `AmazonGuardDutyServiceRolePolicy`).
const TAG_GUARDDUTY: &str = "GuardDutyManaged";

pub(super) fn statements() -> Vec<Statement> {
    let groups = [
        Operation::DeleteSecurityGroup,
        Operation::RevokeSecurityGroupEgress,
        Operation::RevokeSecurityGroupIngress,
    ];
    vec![
        allow(
            "DeleteLeftLoadBalancers",
            Guard::LeftLoadBalancer.actions(),
            BALANCERS,
            Some(has_tag("aws:ResourceTag", TAG_CONTROLLER)),
            "Load balancers and target groups that the AWS Load Balancer Controller of a workload \
             cluster created and left.",
        ),
        allow(
            "DeleteLeftServices",
            Guard::LeftLoadBalancer.actions(),
            BALANCERS,
            Some(has_tag("aws:ResourceTag", TAG_SERVICE)),
            "Load balancers that the cloud controller manager of a workload cluster created for Services.",
        ),
        allow(
            "DeleteLeftInterfaces",
            Guard::LeftInterface.actions(),
            &[INTERFACES],
            Some(has_tag("aws:ResourceTag", TAG_CNI_CLUSTER)),
            "Interfaces that the VPC CNI of a workload cluster left.",
        ),
        allow(
            "DeleteLeftSecurityGroups",
            groups.map(Operation::iam_action).to_vec(),
            &[SECURITY_GROUPS],
            Some(has_tag("aws:ResourceTag", TAG_CONTROLLER)),
            "Security groups of the AWS Load Balancer Controller.",
        ),
        allow(
            "DeleteLeftGroupsOfEks",
            groups.map(Operation::iam_action).to_vec(),
            &[SECURITY_GROUPS],
            Some(has_tag("aws:ResourceTag", TAG_EKS)),
            "Security groups `eks-cluster-sg-…` that Amazon EKS left in a VPC that the manager created.",
        ),
        allow(
            "DeleteEndpointsOfGuardDuty",
            vec![Operation::DeleteVpcEndpoints.iam_action()],
            &[ENDPOINTS],
            Some(has_tag("aws:ResourceTag", TAG_GUARDDUTY)),
            "Endpoints that Amazon GuardDuty (Runtime Monitoring with automated agents) created in a VPC that the manager created. GuardDuty \
             deletes them only when Runtime Monitoring is disabled.",
        ),
        allow(
            "DeleteGroupsOfGuardDuty",
            groups.map(Operation::iam_action).to_vec(),
            &[SECURITY_GROUPS],
            Some(has_tag("aws:ResourceTag", TAG_GUARDDUTY)),
            "The security groups `GuardDutyManagedSecurityGroup-…` of these endpoints.",
        ),
    ]
}
