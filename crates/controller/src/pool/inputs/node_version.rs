//! Nodes whose kubelets spell the Kubernetes version in another way than the topology of their Cluster. Cluster API
//! compares the two character by character (topology controller, `IsMachinePoolUpgrading`): with another suffix, or
//! none, it considers the pool as being upgraded for ever, and refuses every other version.

use crate::pool::gather::Gathered;
use foo_model::{Blocked, Reason};
use kube::ResourceExt;
use std::collections::BTreeSet;

/// Label on objects that the topology controller created.
const TOPOLOGY_OWNED: &str = "topology.cluster.x-k8s.io/owned";

/// The warning about it: once all instances are up to date, because in an upgrade the two differ for a while.
pub(in crate::pool) fn warning(gathered: &Gathered) -> Option<Blocked> {
    let pool = gathered.machine_pool.as_ref().filter(|pool| pool.labels().contains_key(TOPOLOGY_OWNED))?;
    let status = gathered.pool.status.as_ref()?;
    if status.replicas.is_none() || status.replicas != status.up_to_date_replicas {
        return None;
    }
    let wanted = pool.spec.template.spec.version.as_deref()?;
    let versions = pool.status.iter().flat_map(|status| &status.versions);
    let reported: BTreeSet<&str> =
        versions.map(|it| it.version.as_str()).filter(|it| !it.is_empty()).collect();
    let mut reported = reported.into_iter();
    let (Some(reported), None) = (reported.next(), reported.next()) else { return None };
    (reported != wanted && number(reported) == number(wanted)).then(|| {
        let message = format!(
            "the Nodes report Kubernetes version {reported}, and the topology requests {wanted}: Cluster API considers the pool as \
             being upgraded, and refuses other versions, until spec.topology.version of the Cluster is {reported}"
        );
        Blocked::new(Reason::NodeVersionDiffers, message)
    })
}

/// The version without its suffix.
fn number(version: &str) -> Option<&str> {
    version.split(['-', '+']).next()
}
