//! A cluster as a tree: Cluster, control plane, network, pools, Machines; what is under way, and why something is not
//! well. [`read`] lists the objects, `tree` makes the tree, `text` prints it.

mod progress;
pub mod read;
mod text;
mod tree;

pub use text::text;
pub use tree::tree;

use jiff::Timestamp;
use serde::Serialize;

/// The clusters that are asked for.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// A tree for each Cluster, by namespace and name; then objects of this provider that belong to none of them.
    pub objects: Vec<Branch>,
}

/// One object with what belongs to it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Branch {
    /// Its kind.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Status of its condition `Ready`, of a Cluster `Available`: `True`, `False` or `Unknown`. Absent if nothing
    /// reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<String>,
    /// Since when it has that status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// What it has in AWS and as a Node, beside the summary.
    #[serde(flatten)]
    pub details: Details,
    /// What it is: versions, numbers of instances.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// What is under way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<Progress>,
    /// Why it is not well; of a Machine, what it waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// Of a pool: number of Machines with which all is well, and which are not among `objects`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machines_well: Option<usize>,
    /// What belongs to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<Self>,
}

/// The further columns of an object: what is absent is not known, or objects of its kind do not have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// Instance type of a Machine; of a pool with several, the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    /// Availability Zone of a Machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Node of a Machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Kubernetes version: of a Machine that of its kubelet, of a control plane that of its API server, of a pool the one
    /// that its MachinePool requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Launch template version that a Machine was launched from, or that a pool launches new instances from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launch_template_version: Option<i64>,
    /// ARN of the Auto Scaling group or EKS cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arn: Option<String>,
}

/// Work under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// What is done: `launching`, `draining`, `rolling out`, `upgrading from 1.34 to 1.35`.
    pub task: String,
    /// How many are done, if they are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<u32>,
    /// Of how many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u32>,
    /// What it waits for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// Which Machines a tree has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machines {
    /// All of them.
    All,
    /// Those with which something is under way or wrong; the others are counted.
    Unsettled,
}
