//! Identifiers as types of their own, so that two of them cannot be swapped.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps the text as it is.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }
            /// The text itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }
    };
}

text_id! {
    /// Name of an Auto Scaling group: 1–255 characters, unique per account and region.
    GroupName
}
text_id! {
    /// EC2 instance id (`i-` and 8 or 17 hexadecimal digits).
    InstanceId
}
text_id! {
    /// EC2 launch template id (`lt-…`).
    LaunchTemplateId
}
text_id! {
    /// EC2 subnet id (`subnet-…`).
    SubnetId
}
text_id! {
    /// EC2 security group id (`sg-…`).
    SecurityGroupId
}
text_id! {
    /// ARN of a target group of Elastic Load Balancing (`arn:aws:elasticloadbalancing:…:targetgroup/…`).
    TargetGroupArn
}
text_id! {
    /// ARN of a target group of VPC Lattice (`arn:aws:vpc-lattice:…:targetgroup/tg-…`).
    LatticeTargetGroupArn
}
text_id! {
    /// Name of a Classic Load Balancer: up to 32 letters, digits and `-`, unique per account and region.
    LoadBalancerName
}
text_id! {
    /// ARN of an SNS topic (`arn:aws:sns:…`).
    TopicArn
}
text_id! {
    /// Name of a lifecycle hook: 1–255 letters, digits, `-`, `_` and `/`, unique per group.
    HookName
}
text_id! {
    /// EC2 VPC id (`vpc-…`).
    VpcId
}
text_id! {
    /// Internet gateway id (`igw-…`).
    InternetGatewayId
}
text_id! {
    /// Egress-only internet gateway id (`eigw-…`).
    EgressOnlyGatewayId
}
text_id! {
    /// Allocation id of an Elastic IP address (`eipalloc-…`).
    AllocationId
}
text_id! {
    /// NAT gateway id (`nat-…`).
    NatGatewayId
}
text_id! {
    /// Route table id (`rtb-…`).
    RouteTableId
}
text_id! {
    /// Id of an association of a route table (`rtbassoc-…`) or of a range (`vpc-cidr-assoc-…`).
    AssociationId
}
text_id! {
    /// VPC endpoint id (`vpce-…`).
    EndpointId
}
text_id! {
    /// Network interface id (`eni-…`).
    InterfaceId
}
text_id! {
    /// Prefix list id (`pl-…`).
    PrefixListId
}
text_id! {
    /// EC2 image id (`ami-…`).
    ImageId
}
text_id! {
    /// EC2 instance type (`m7i.large`).
    InstanceType
}
text_id! {
    /// Availability Zone name (`eu-central-1a`).
    Zone
}
text_id! {
    /// Name of a FooMachine, and of the CAPI Machine that core makes for it: the two are always equal.
    MachineName
}
text_id! {
    /// metadata.uid of a Kubernetes object.
    Uid
}
text_id! {
    /// Hash of a piece of wanted content, with the version of the hashing scheme in front (`v1-…`).
    SpecHash
}

impl TargetGroupArn {
    /// The name of the target group (`…:targetgroup/<name>/<id>`), or the whole text if it is no such ARN.
    pub fn name(&self) -> &str {
        let path = self.0.split_once(":targetgroup/").map(|(_, path)| path);
        path.and_then(|path| path.split('/').next()).unwrap_or(&self.0)
    }
}

/// Number of a launch template version: 1 and up, never reused (EC2 User Guide, "Manage launch template versions").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TemplateVersion(pub i64);

impl fmt::Display for TemplateVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl InstanceId {
    /// The provider id that the AWS cloud provider writes into `Node.spec.providerID`: `aws:///<zone>/<id>`.
    /// Cluster API and cluster-autoscaler compare it character by character.
    pub fn provider_id(&self, zone: &Zone) -> String {
        format!("aws:///{zone}/{self}")
    }
}
