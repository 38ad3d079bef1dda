//! Instance metadata that Auto Scaling writes.

use super::RegionHandle;
use crate::core::group::model::{Group, Member};
use foo_model::{InstanceId, LifecycleState};

impl RegionHandle {
    /// The item `autoscaling/target-lifecycle-state` in the metadata of an instance: the steady state that it has in its group, or
    /// that it is on the way to. Nothing, which is HTTP status 404 on the instance, if it is in no group.
    pub fn target_lifecycle_state(&self, id: &InstanceId) -> Option<String> {
        let target = self.with(|region| {
            let group = region.group(region.instance(id)?.group.as_ref()?)?;
            group.member(id).map(|member| target_state(group, member))
        });
        target.ok().flatten()
    }
}

/// Auto Scaling User Guide, "Retrieve the target lifecycle state through instance metadata".
fn target_state(group: &Group, member: &Member) -> String {
    let is_warm = group.warm.contains_key(&member.id);
    let waiting = || {
        let state = member.rests.or_else(|| group.warm_pool.map(|pool| pool.state)).unwrap_or_default();
        let name: &'static str = state.into();
        format!("Warmed:{name}")
    };
    match &member.lifecycle {
        LifecycleState::Warmed => waiting(),
        LifecycleState::Pending
        | LifecycleState::PendingWait
        | LifecycleState::PendingProceed
        | LifecycleState::InService
        | LifecycleState::ReplacingRootVolume => {
            if is_warm {
                waiting()
            } else {
                "InService".to_owned()
            }
        }
        LifecycleState::Terminating
        | LifecycleState::TerminatingWait
        | LifecycleState::TerminatingProceed
        | LifecycleState::TerminatingRetained
        | LifecycleState::Terminated => {
            if member.returns {
                waiting()
            } else if is_warm {
                "Warmed:Terminated".to_owned()
            } else {
                "Terminated".to_owned()
            }
        }
        LifecycleState::Detaching | LifecycleState::Detached => "Detached".to_owned(),
        LifecycleState::EnteringStandby | LifecycleState::Standby => "Standby".to_owned(),
        LifecycleState::Other(name) => name.clone(),
    }
}
