//! The health of the pool's instances in target groups, from reads that all pools behind a target group share.

use super::observe;
use crate::clouds::CloudRegion;
use crate::pool::state::PoolState;
use foo_cloud::{CloudError, Freshness, Seen};
use foo_model::{Blocked, Reason, TargetGroupArn, Targets, Timestamp};
use foo_planner::desired::Desired;
use foo_planner::observed::LastRead;
use foo_planner::target_health::max_age;
use std::collections::BTreeMap;
use std::time::Duration;

/// A pass that the planner requested for a read comes no earlier than the read is due.
const TIMER: Duration = Duration::from_secs(1);

/// Reads it if the pool asks for it and the last read is too old. Returns what keeps it from being read, if a user can change
/// that.
pub(super) async fn read(region: &CloudRegion, desired: &Desired, state: &mut PoolState) -> Option<Blocked> {
    let view = region.observer.view(&desired.identity.group);
    let group = view.as_ref().and_then(|view| match &view.seen {
        Seen::Present(group) => Some(&**group),
        Seen::Absent => None,
    });
    let Some(age) = max_age(desired, group, &state.reads.target_health) else {
        state.reads.target_health = LastRead::Unknown;
        return None;
    };
    let arns = desired.group.target_groups.iter().flatten();
    match of_all(region, arns, Freshness::Within(age.saturating_sub(TIMER))).await {
        Ok(read) => {
            state.reads.target_health = read;
            None
        }
        Err(error) => {
            state.reads.target_health = observe::failed(&error);
            let reason = Reason::from(error.kind);
            (!reason.is_transient()).then(|| Blocked::new(reason, error.to_string()))
        }
    }
}

/// The targets of each target group, as old as the oldest of these reads.
async fn of_all<'a>(
    region: &CloudRegion,
    arns: impl Iterator<Item = &'a TargetGroupArn>,
    freshness: Freshness,
) -> Result<LastRead<BTreeMap<TargetGroupArn, Targets>>, CloudError> {
    let mut seen = BTreeMap::new();
    let mut oldest: Option<Timestamp> = None;
    for arn in arns {
        let Some(read) = region.targets.health(arn, freshness).await.fresh()? else {
            return Ok(LastRead::Unknown);
        };
        oldest = Some(oldest.map_or(read.began, |at| at.min(read.began)));
        seen.insert(arn.clone(), Targets::clone(&read.value));
    }
    Ok(oldest.map_or(LastRead::Unknown, |at| LastRead::At { at, seen }))
}
