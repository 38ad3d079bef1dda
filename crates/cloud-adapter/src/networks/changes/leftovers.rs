//! Deletes interfaces, load balancers and target groups that workload clusters left in a VPC.

use super::calls::{done, never};
use crate::AwsCloud;
use foo_cloud::{Operation, Result};
use foo_model::InterfaceId;
use foo_model::network::{LoadBalancerKind, Parts};

pub(super) async fn delete_interface(client: &aws_sdk_ec2::Client, interface: &InterfaceId) -> Result<Parts> {
    let call = client.delete_network_interface().network_interface_id(interface.as_str());
    done(Operation::DeleteNetworkInterface, call.send().await)
}

/// AWS reports success for one that does not exist.
pub(super) async fn delete_load_balancer(
    cloud: &AwsCloud,
    kind: LoadBalancerKind,
    name: &str,
    arn: Option<&str>,
) -> Result<Parts> {
    const OPERATION: Operation = Operation::DeleteLoadBalancer;
    match (kind, arn) {
        (LoadBalancerKind::Classic, _) => {
            let call = cloud.classic.once.delete_load_balancer().load_balancer_name(name);
            done(OPERATION, call.send().await)
        }
        (
            LoadBalancerKind::Application | LoadBalancerKind::Network | LoadBalancerKind::Gateway,
            Some(arn),
        ) => {
            let call = cloud.balancers.once.delete_load_balancer().load_balancer_arn(arn);
            done(OPERATION, call.send().await)
        }
        (LoadBalancerKind::Application | LoadBalancerKind::Network | LoadBalancerKind::Gateway, None) => {
            Err(never(OPERATION, "a load balancer that is not a classic one is deleted by its ARN"))
        }
    }
}

pub(super) async fn delete_target_group(
    client: &aws_sdk_elasticloadbalancingv2::Client,
    arn: &str,
) -> Result<Parts> {
    let call = client.delete_target_group().target_group_arn(arn);
    done(Operation::DeleteTargetGroup, call.send().await)
}
