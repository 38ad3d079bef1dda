//! The services that are simulated.

use serde::{Deserialize, Serialize};

/// A service of AWS, by the name in the credential scope of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
        }
    }

    /// The service of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::AutoScaling, Self::Ec2, Self::Sts, Self::Sqs, Self::Ssm]
            .into_iter()
            .find(|service| service.name() == name)
    }
}
