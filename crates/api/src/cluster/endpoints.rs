//! VPC endpoints of a network that the provider creates.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A VPC endpoint, or the few that one service needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("has(self.name) != has(self.service)").message("set either name or service"),
    validation = Rule::new("!has(self.type) || has(self.service)")
        .message("type can be set only with service: that of a name is known")
)]
pub struct Endpoint {
    /// The AWS service. Set either this or `service`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<EndpointName>,
    /// Full name of any other service, for example `com.amazonaws.eu-central-1.kms`. Set either this or `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128), regex(pattern = r"^[a-z0-9]+([.-][a-z0-9]+)*$"))]
    pub service: Option<String>,
    /// Type of the endpoint of `service`. Default: `Interface`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub endpoint_type: Option<EndpointType>,
}

/// The AWS service. Set either this or `service`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum EndpointName {
    /// Amazon S3, where the layers of ECR's images are (gateway, free of charge).
    S3,
    /// Amazon DynamoDB (gateway, free of charge).
    DynamoDB,
    /// Amazon ECR: two endpoints, `ecr.api` and `ecr.dkr`. Images need `S3`, too.
    ECR,
    /// Amazon EC2: the cloud provider and the network plugin of nodes call it.
    EC2,
    /// AWS STS: identities of nodes and of Pods.
    STS,
    /// AWS Systems Manager: three endpoints, `ssm`, `ssmmessages` and `ec2messages`.
    SSM,
    /// Amazon EC2 Auto Scaling.
    AutoScaling,
    /// Amazon EKS.
    EKS,
    /// Amazon EKS Pod Identity (`eks-auth`).
    EKSAuth,
    /// Elastic Load Balancing: load balancers for Services.
    ElasticLoadBalancing,
    /// Amazon SQS.
    SQS,
    /// Amazon CloudWatch Logs.
    Logs,
}

/// Type of the endpoint of `service`. Default: `Interface`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum EndpointType {
    /// A network interface in one private subnet of each zone. Costs money by the hour and by the gigabyte.
    #[default]
    Interface,
    /// A route in the route tables of the private subnets.
    Gateway,
}
