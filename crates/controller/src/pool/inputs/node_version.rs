//! Nodes whose kubelets spell the Kubernetes version in another way than the topology of their Cluster
//! ([`MachinePool::version_spelled_otherwise`](foo_api::capi::MachinePool::version_spelled_otherwise)).

use crate::pool::gather::Gathered;
use foo_model::{Blocked, Reason};

/// The warning about it: once all instances are up to date, because in an upgrade the two differ for a while.
pub(in crate::pool) fn warning(gathered: &Gathered) -> Option<Blocked> {
    let pool = gathered.machine_pool.as_ref()?;
    let status = gathered.pool.status.as_ref()?;
    if status.replicas.is_none() || status.replicas != status.up_to_date_replicas {
        return None;
    }
    let (reported, wanted) = pool.version_spelled_otherwise()?;
    let message = format!(
        "the Nodes report Kubernetes version {reported}, and the topology requests {wanted}: Cluster API considers the pool as \
         being upgraded, and refuses other versions, until spec.topology.version of the Cluster is {reported}"
    );
    Some(Blocked::new(Reason::NodeVersionDiffers, message))
}
