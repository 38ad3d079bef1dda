//! Notifications: those that the spec names, and those of the group, from a list that all pools share.

use super::observe;
use crate::clouds::CloudRegion;
use crate::identities::Limits;
use crate::pool::state::PoolState;
use foo_api::pool as api;
use foo_cloud::{Freshness, Seen};
use foo_model::{Applied, Blocked, NotificationType, Notifications, Reason, Timestamp, TopicArn};
use foo_planner::desired::{Desired, Goal};
use foo_planner::observed::LastRead;
use std::time::Duration;

/// How old the list may be: what another user changes of a pool's notifications harms no instance.
const EVERY: Duration = Duration::from_hours(6);

/// Whether the identity allows all topics.
pub(super) fn allowed(spec: &api::FooMachinePoolSpec, limits: &Limits) -> Result<(), Blocked> {
    spec.notifications.iter().try_for_each(|it| limits.notification_target(&it.topic_arn))
}

/// The notifications of the spec.
pub(super) fn notifications(spec: &api::FooMachinePoolSpec) -> Notifications {
    let name = |it: &api::NotificationType| match it {
        api::NotificationType::Launch => NotificationType::Launch,
        api::NotificationType::LaunchError => NotificationType::LaunchError,
        api::NotificationType::Terminate => NotificationType::Terminate,
        api::NotificationType::TerminateError => NotificationType::TerminateError,
    };
    let one =
        |it: &api::Notification| (TopicArn::new(it.topic_arn.as_str()), it.types.iter().map(name).collect());
    spec.notifications.iter().map(one).collect()
}

/// How old the list may be. One that was read before this manager had settled may not show what its predecessor requested of topics
/// that have left the spec.
fn max_age(desired: &Desired, applied: &Applied, now: Timestamp, settled_from: Timestamp) -> Duration {
    let left = desired.group.no_longer_named(applied).notification_topics;
    if now >= settled_from && !left.is_empty() { settled_from.until(now).min(EVERY) } else { EVERY }
}

/// Reads those of the group if the spec has some, or had some, and the last read is too old. Returns what keeps them from being
/// read, if a user can change that.
pub(super) async fn read(
    region: &CloudRegion,
    desired: &Desired,
    applied: &Applied,
    state: &mut PoolState,
    now: Timestamp,
    settled_from: Timestamp,
) -> Option<Blocked> {
    let wants = desired.group.notifications.as_ref().is_some_and(|wanted| !wanted.is_empty());
    let concerned = wants || !applied.notification_topics.is_empty();
    let runs = desired.goal == Goal::Run && desired.pause.is_none();
    if !runs || !concerned {
        // What is known stays: what this manager changed is newer than the list of all pools.
        return None;
    }
    let name = &desired.identity.group;
    let exists = region.observer.view(name).is_some_and(|view| matches!(view.seen, Seen::Present(_)));
    let last = state.reads.notifications.seen_at();
    let age = max_age(desired, applied, now, settled_from);
    if !exists || last.is_some_and(|at| at.until(now) < age) {
        return None;
    }
    // What this manager changed since the list was read is newer.
    match region.notifications.all(Freshness::Within(age)).await.fresh() {
        Ok(Some(list)) if last.is_none_or(|at| list.began > at) => {
            let seen = list.value.get(name).cloned().unwrap_or_default();
            state.reads.notifications = LastRead::At { at: list.began, seen };
            None
        }
        Ok(_) => None,
        Err(error) => {
            let reason = Reason::from(error.kind);
            state.reads.notifications = observe::failed(&error);
            (!reason.is_transient()).then(|| Blocked::new(reason, error.to_string()))
        }
    }
}
