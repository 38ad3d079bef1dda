//! The names of a pool, whether it runs, and what paused it, according to its objects.

use crate::pool::names::group_name;
use foo_api::capi::Cluster;
use foo_api::shared::DeletionPolicy;
use foo_api::{FooMachinePool, names};
use foo_model::names::{ADOPT_FROM_ANNOTATION, ADOPTED_ANNOTATION};
use foo_planner::desired::{Goal, Identity, PausedBy};
use kube::ResourceExt;

/// Names of a pool of this Cluster and of what it owns.
pub(super) fn identity(pool: &FooMachinePool, cluster: String, installation: &str) -> Identity {
    let group = group_name(pool, &cluster);
    let named = pool.spec.launch_template_name.clone();
    Identity {
        namespace: pool.namespace().unwrap_or_default(),
        pool: pool.name_any(),
        template: named.unwrap_or_else(|| group.as_str().to_owned()),
        group,
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
        template: pool.name_any(),
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
        (Some(_), false) => match deletion_policy(pool) {
            DeletionPolicy::Delete => Goal::Remove,
            DeletionPolicy::Retain => Goal::Retain,
        },
    }
}

/// What becomes of the group when the pool is deleted: an adopted one stays unless the spec says otherwise.
fn deletion_policy(pool: &FooMachinePool) -> DeletionPolicy {
    let adopted = adopts(pool) || was_adopted(pool);
    let default = if adopted { DeletionPolicy::Retain } else { DeletionPolicy::Delete };
    pool.spec.deletion_policy.unwrap_or(default)
}

/// Whether the pool is to adopt a group, or adopted the one that it has. A pool that created its group has nothing to adopt.
pub(super) fn adopts(pool: &FooMachinePool) -> bool {
    pool.spec.adopt && (pool.spec.provider_id.is_none() || was_adopted(pool))
}

/// Whether the pool's group was adopted, according to the pool.
pub(super) fn was_adopted(pool: &FooMachinePool) -> bool {
    pool.annotations().contains_key(ADOPTED_ANNOTATION)
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
