//! What delays the deletion of Machines, per Pod. [`read`] lists Machines and, in their workload clusters, Pods and
//! budgets; [`message`] reads what Cluster API reports, [`pods`] judges Pods, `text` prints it.

pub mod message;
mod pods;
pub mod read;
mod text;
pub mod workload;

pub use pods::waits;
pub use text::text;

use jiff::Timestamp;
use serde::Serialize;

/// All Machines that are being deleted.
#[derive(Clone, Debug, Serialize)]
pub struct Drains {
    /// By namespace, Cluster and name.
    pub drains: Vec<Drain>,
}

/// The deletion of one Machine.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Drain {
    /// Namespace of the Machine.
    pub namespace: String,
    /// Its Cluster.
    pub cluster: String,
    /// Its name.
    pub machine: String,
    /// Its Node, if one has joined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Its instance, if that is known.
    #[serde(rename = "providerID", skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// Since when it is being deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Since when Cluster API has been draining its Node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain_since: Option<Timestamp>,
    /// When what Cluster API waits for is over at the latest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Deadline>,
    /// Reason of the Machine's condition `Deleting`: `DrainingNode` while Pods are evicted.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What Cluster API reports beside Pods, in one line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Where `pods` are from.
    pub source: Source,
    /// Pods that are still on the Node, and that the drain waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pods: Vec<Wait>,
    /// Number of further Pods that Cluster API counts without naming them.
    #[serde(skip_serializing_if = "is_zero")]
    pub unnamed_pods: u32,
}

/// The end of a drain, or of the wait for volumes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Deadline {
    /// When.
    pub at: Timestamp,
    /// What happens then.
    pub then: String,
}

/// Where Pods are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Source {
    /// The condition of the Machine, which names a few Pods for each cause.
    ClusterApi,
    /// The workload cluster.
    WorkloadCluster,
}

/// A Pod that a drain waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Wait {
    /// `<namespace>/<name>`.
    pub pod: String,
    /// The PodDisruptionBudget that does not allow its eviction, `<namespace>/<name>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
    /// Why it is still there.
    pub why: String,
    /// What controls it, `<kind>/<name>`. Only the workload cluster has this, and the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// When it was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Timestamp>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(value: &u32) -> bool {
    *value == 0
}
