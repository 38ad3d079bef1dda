//! The warm pool of a group that is to be adopted. Those instances are not among its members, so the provider deletes it once the group
//! launches from the pool's launch template, and creates it again.

use super::found::{Group, WarmPool};
use foo_api::pool::{self, WarmPoolState};

/// What happens with a warm pool.
pub(super) const RENEWED: &str = "once the group launches from the pool's launch template, the instances of its warm pool are \
    terminated, and others launched. The provider does not delete the Nodes of those that had joined before: a cloud controller manager does";

/// The warm pool that the FooMachinePool gets; `None` if the group has none. The user writes the bootstrap Secret, or a FooNodeConfig does.
///
/// # Errors
/// Why it cannot have it, and what to do.
pub(super) fn warm_pool(group: &Group, has_own_secret: bool) -> Result<Option<pool::WarmPool>, String> {
    let Some(found) = group.warm_pool_configuration.as_ref().filter(|found| found.status.is_none()) else {
        return Ok(None);
    };
    let WarmPool { min_size, max_group_prepared_capacity, pool_state, instance_reuse_policy, status: _ } =
        found;
    let refused = |why: &str| Err(format!("the group has a warm pool {why}: delete it"));
    match pool_state.as_deref() {
        _ if instance_reuse_policy.reuse_on_scale_in => {
            return refused("to which a scale-in returns instances that were Nodes");
        }
        None | Some("Stopped") => {}
        Some("Running") => return refused("of running instances, which may be Nodes with Pods"),
        Some(other) => return refused(&format!("of instances that wait as {other}")),
    }
    if has_own_secret {
        return refused(
            "whose instances have to wait before they join the cluster, as those of a FooNodeConfig do",
        );
    }
    // Without a limit it is the maximum size, which the provider changes.
    let most = max_group_prepared_capacity.filter(|most| *most >= 0).unwrap_or(group.max_size).max(*min_size);
    if most == 0 {
        return refused("in which no instance can wait");
    }
    Ok(Some(pool::WarmPool {
        min_size: *min_size,
        max_prepared_capacity: Some(most),
        state: WarmPoolState::Stopped,
    }))
}
