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

/// How old a read may become while others fail that may succeed when they are repeated: one failure must not stop a roll-out.
const KEPT: Duration = Duration::from_mins(2);

/// Reads it if the pool asks for it and the last read is too old. Returns what keeps it from being read, if a user can change
/// that.
pub(super) async fn read(
    region: &CloudRegion,
    desired: &Desired,
    state: &mut PoolState,
    now: Timestamp,
) -> Option<Blocked> {
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
            let reason = Reason::from(error.kind);
            let is_recent = |at: Timestamp| at.until(now) < KEPT;
            if !(reason.is_transient() && state.reads.target_health.seen_at().is_some_and(is_recent)) {
                state.reads.target_health = observe::failed(&error);
            }
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
    let reads = arns.map(async |arn| (arn, region.targets.health(arn, freshness).await));
    let mut seen = BTreeMap::new();
    let mut oldest: Option<Timestamp> = None;
    for (arn, known) in futures::future::join_all(reads).await {
        let Some(read) = known.fresh()? else { return Ok(LastRead::Unknown) };
        oldest = Some(oldest.map_or(read.began, |at| at.min(read.began)));
        seen.insert(arn.clone(), Targets::clone(&read.value));
    }
    Ok(oldest.map_or(LastRead::Unknown, |at| LastRead::At { at, seen }))
}
