//! Decides which of several pools that name the same group it belongs to. Decided again in each pass, before
//! anything else.
//!
//! Compares only pools of this manager, and only where they use the same credentials. For all others the
//! planner uses the group's ownership tags.

use super::gather::{Caches, Gathered, cluster_name};
use super::names::{group_name, group_of_arn};
use super::pools::Pools;
use super::state::PoolState;
use crate::clouds::{CloudKey, CloudRegion};
use foo_api::FooMachinePool;
use foo_cloud::observer::Seen;
use foo_model::{Blocked, GroupName, Reason};
use foo_planner::Observed;
use foo_planner::desired::{ANOTHER_NAME, Identity};
use kube::ResourceExt;
use kube_runtime::reflector::ObjectRef;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How soon a pool whose group belongs to another pool checks again: no watch reports that the other one is
/// gone.
pub(super) const ASK_AGAIN: Duration = Duration::from_secs(30);

/// The claim of a pool to a group; the smallest wins.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Claim {
    /// The group's tags name the pool.
    tagged: Reverse<bool>,
    /// The pool has recorded the group's ARN.
    recorded: Reverse<bool>,
    /// The pool was created first.
    made: Option<k8s_openapi::jiff::Timestamp>,
    uid: Option<String>,
}

/// Another pool has the group.
pub(super) struct Taken {
    /// The reason for the users of this pool. It names nothing in another namespace.
    pub(super) blocked: Blocked,
    /// The other pool.
    pub(super) by: Identity,
}

/// The other owner of the pool's group or launch template, according to its tags.
pub(super) fn owner_by_tags(identity: &Identity, observed: &Observed) -> Option<Identity> {
    let group = observed.group.seen().and_then(Option::as_ref).map(|group| &group.tags);
    let template = observed.template.seen().and_then(Option::as_ref).map(|template| &template.tags);
    let tags = [group, template].into_iter().flatten().find(|tags| !identity.owns(tags))?;
    Identity::owner_by(identity.group.clone(), tags)
}

/// Logs, once, who owns the group. Conditions may not name objects in another namespace.
pub(super) fn log_owner(state: &mut PoolState, of: &ObjectRef<FooMachinePool>, owner: Option<Identity>) {
    if let Some(owner) = owner.as_ref().filter(|_| state.reported.owner != owner) {
        tracing::info!(
            pool = %of, group = %owner.group, %owner, cluster = owner.cluster,
            "its Auto Scaling group or launch template belongs to another FooMachinePool"
        );
    }
    state.reported.owner = owner;
}

impl Pools {
    /// The other pool that has the pool's group, if one has.
    pub(super) fn taken(&self, gathered: &Gathered, region: &CloudRegion) -> Option<Taken> {
        let identity = gathered.identity.as_ref()?;
        let others = self.caches.pools_that_name(&identity.group, &gathered.pool);
        if others.is_empty() {
            return None;
        }
        let tags = match region.observer.view(&identity.group).map(|view| view.seen) {
            Some(Seen::Present(group)) => group.tags.clone(),
            Some(Seen::Absent) | None => BTreeMap::new(),
        };
        let own = claim(&gathered.pool, identity, &tags);
        let competing = others.into_iter().filter(|(pool, _)| self.calls(pool, &identity.group, &region.key));
        let (first, other) = competing
            .map(|(pool, cluster)| {
                let rival = Identity {
                    namespace: pool.namespace().unwrap_or_default(),
                    pool: pool.name_any(),
                    cluster,
                    group: identity.group.clone(),
                    template: identity.template.clone(),
                    installation: identity.installation.clone(),
                    adopt_from: None,
                };
                (claim(&pool, &rival, &tags), rival)
            })
            .min_by(|(a, _), (b, _)| a.cmp(b))?;
        (first < own).then(|| {
            let blocked = Blocked::new(
                Reason::GroupNameTaken,
                format!(
                    "Auto Scaling group {} belongs to {}; {ANOTHER_NAME}",
                    identity.group,
                    identity.other_in_words(&other)
                ),
            );
            Taken { blocked, by: other }
        })
    }

    /// Whether that pool uses this cloud, or did when its group was last observed.
    fn calls(&self, pool: &FooMachinePool, group: &GroupName, cloud: &CloudKey) -> bool {
        let to = self.access_of(pool, self.caches.foo_cluster_of(pool).as_deref());
        match to {
            Ok(Some(to)) => to.key() == *cloud,
            Ok(None) | Err(_) => self.states.pools_of(cloud, group).contains(&ObjectRef::from_obj(pool)),
        }
    }
}

fn claim(pool: &FooMachinePool, identity: &Identity, tags: &BTreeMap<String, String>) -> Claim {
    let recorded = pool.spec.provider_id.as_deref().and_then(group_of_arn);
    Claim {
        tagged: Reverse(identity.owns(tags)),
        recorded: Reverse(recorded == Some(identity.group.as_str())),
        made: pool.metadata.creation_timestamp.as_ref().map(|at| at.0),
        uid: pool.uid(),
    }
}

impl Caches {
    /// The other pools with a group of that name, in any region, and their clusters.
    fn pools_that_name(&self, group: &GroupName, but: &FooMachinePool) -> Vec<(Arc<FooMachinePool>, String)> {
        let names = |pool: &FooMachinePool| {
            if pool.metadata.uid == but.metadata.uid {
                return None;
            }
            if let Some(name) = &pool.spec.group_name
                && name != group.as_str()
            {
                return None;
            }
            let cluster = cluster_name(pool, None)?;
            (group_name(pool, &cluster) == *group).then_some(cluster)
        };
        let pools = self.pools.state_filter(|pool| names(pool).is_some());
        pools.into_iter().filter_map(|pool| names(&pool).map(|cluster| (pool, cluster))).collect()
    }
}
