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
