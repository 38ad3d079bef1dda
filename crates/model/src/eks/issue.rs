//! What EKS says is wrong with something.

use serde::{Deserialize, Serialize};

/// Something that EKS says is wrong with a cluster, an add-on or an update.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Issue {
    /// EKS's code, for example `Ec2SubnetNotFound`.
    pub code: String,
    /// EKS's words.
    pub message: String,
    /// What it is about.
    #[serde(rename = "resourceIds", default)]
    pub resources: Vec<String>,
}
