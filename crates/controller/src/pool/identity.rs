//! The names of a pool, whether it runs, and what paused it, according to its objects.

use crate::pool::names::group_name;
use foo_api::capi::Cluster;
use foo_api::shared::DeletionPolicy;
use foo_api::{FooMachinePool, names};
use foo_model::names::ADOPT_FROM_ANNOTATION;
use foo_planner::desired::{Goal, Identity, PausedBy};
use kube::ResourceExt;

/// Names of a pool of this Cluster and of what it owns.
pub(super) fn identity(pool: &FooMachinePool, cluster: String, installation: &str) -> Identity {
    Identity {
        namespace: pool.namespace().unwrap_or_default(),
        pool: pool.name_any(),
        group: group_name(pool, &cluster),
        cluster,
        installation: installation.to_owned(),
        // A pool that releases its group must not take it back at once.
        adopt_from: pool
            .annotations()
            .get(ADOPT_FROM_ANNOTATION)
            .filter(|_| goal(pool) != Goal::Retain)
            .cloned(),
    }
}

/// The same while the Cluster is unknown: the pool has no group yet, only its own name.
pub(super) fn without_cluster(pool: &FooMachinePool, installation: &str) -> Identity {
    Identity {
        namespace: pool.namespace().unwrap_or_default(),
        pool: pool.name_any(),
        group: pool.name_any().as_str().into(),
        cluster: String::new(),
        installation: installation.to_owned(),
        adopt_from: None,
    }
}

/// Whether the pool runs or is removed.
pub(super) fn goal(pool: &FooMachinePool) -> Goal {
    match (
        &pool.metadata.deletion_timestamp,
        pool.annotations().contains_key(names::DELETE_FOR_MOVE_ANNOTATION),
    ) {
        (None, _) => Goal::Run,
        (Some(_), true) => Goal::Orphan,
        (Some(_), false) => match pool.spec.deletion_policy {
            DeletionPolicy::Delete => Goal::Remove,
            DeletionPolicy::Retain => Goal::Retain,
        },
    }
}

/// What paused the pool, if it is paused.
pub(super) fn paused_by(pool: &FooMachinePool, cluster: Option<&Cluster>) -> Option<PausedBy> {
    if cluster.is_some_and(Cluster::is_paused) {
        Some(PausedBy::Cluster)
    } else if pool.annotations().contains_key(names::PAUSED_ANNOTATION) {
        Some(PausedBy::Annotation)
    } else {
        None
    }
}
