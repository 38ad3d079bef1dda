//! Lists the objects of a tree: six kinds, each once.

use crate::access::{Reads, meant};
use crate::asked::{Asked, Kind, of_kind};
use crate::capi::{Cluster, Machine};
use anyhow::Result;
use foo_api::names::CLUSTER_NAME_LABEL;
use foo_api::{FooCluster, FooControlPlane, FooMachine, FooMachinePool};

/// The objects of some clusters.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The Clusters that are asked for.
    pub clusters: Vec<Cluster>,
    /// Whether these are all Clusters there: then objects that belong to none of them are shown, too.
    pub all: bool,
    /// FooClusters; `None`, here and below: they could not be read.
    pub foo_clusters: Option<Vec<FooCluster>>,
    /// Control planes.
    pub control_planes: Option<Vec<FooControlPlane>>,
    /// Pools.
    pub pools: Option<Vec<FooMachinePool>>,
    /// FooMachines.
    pub foo_machines: Option<Vec<FooMachine>>,
    /// Machines.
    pub machines: Option<Vec<Machine>>,
}

/// The Clusters that are asked for, all if none is named, with the objects of this provider that belong to them. A kind
/// that may not be listed is a warning, except Clusters.
///
/// # Errors
/// A Cluster does not exist, or Clusters may not be listed.
pub async fn read(reads: &Reads<'_>, asked: &[Asked]) -> Result<Facts> {
    let names = of_kind(asked, Kind::Cluster).unwrap_or_default();
    let selector = (!names.is_empty()).then(|| format!("{CLUSTER_NAME_LABEL} in ({})", names.join(",")));
    let selector = selector.as_deref();
    let (clusters, foo_clusters, control_planes, pools, foo_machines, machines) = tokio::join!(
        reads.list(None),
        // These may have no label yet.
        reads.list(None),
        reads.list(None),
        reads.list(selector),
        reads.list(selector),
        reads.list(selector),
    );
    Ok(Facts {
        clusters: meant(clusters?, reads.namespace, &names)?,
        all: names.is_empty(),
        foo_clusters: reads.or_warn(foo_clusters),
        control_planes: reads.or_warn(control_planes),
        pools: reads.or_warn(pools),
        foo_machines: reads.or_warn(foo_machines),
        machines: reads.or_warn(machines),
    })
}
