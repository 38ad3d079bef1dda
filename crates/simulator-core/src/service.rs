//! The simulated services.

use serde::{Deserialize, Serialize};
use strum::{EnumIter, IntoEnumIterator as _};

/// A service of AWS, by the name in the credential scope of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, EnumIter)]
#[serde(rename_all = "lowercase")]
pub enum Service {
    /// Amazon EC2 Auto Scaling.
    AutoScaling,
    /// Amazon EC2.
    Ec2,
    /// AWS Security Token Service.
    Sts,
    /// Amazon SQS.
    Sqs,
    /// AWS Systems Manager Parameter Store.
    Ssm,
    /// Elastic Load Balancing: the API of classic load balancers and that of all others.
    ElasticLoadBalancing,
    /// Service Quotas.
    ServiceQuotas,
    /// Amazon EKS.
    Eks,
    /// AWS Identity and Access Management.
    Iam,
    /// Amazon S3.
    S3,
}

impl Service {
    /// Its name in credential scopes and IAM actions.
    pub fn name(self) -> &'static str {
        match self {
            Self::AutoScaling => "autoscaling",
            Self::Ec2 => "ec2",
            Self::Sts => "sts",
            Self::Sqs => "sqs",
            Self::Ssm => "ssm",
            Self::ElasticLoadBalancing => "elasticloadbalancing",
            Self::ServiceQuotas => "servicequotas",
            Self::Eks => "eks",
            Self::Iam => "iam",
            Self::S3 => "s3",
        }
    }

    /// The service with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::iter().find(|service| service.name() == name)
    }
}
