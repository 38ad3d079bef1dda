//! Whether the group has the warm pool of the spec. `Ready` does not depend on it: the pool works without one.

use super::parts::{condition, many};
use crate::desired::{Goal, Wanted};
use crate::report::{Condition, ConditionKind, Status};
use crate::situation::{Situation, Unwanted, View, WarmPoolState, is_overdue, warm_pool};
use foo_model::names::WAITS_IN_WARM_POOL_ANNOTATION;
use foo_model::{Group, Reason, WarmPool};

/// What a user has to do about a warm pool that the provider leaves alone.
pub(super) const OF_ANOTHER_USER: &str = "another user created the group's warm pool, whose instances may be Nodes with Pods: drain these and delete it";

/// Present while the spec names a warm pool, or the provider has one.
pub(super) fn warm_pool_ready(situation: &Situation<'_>) -> Option<Condition> {
    let kind = ConditionKind::WarmPoolReady;
    if situation.desired.goal != Goal::Run {
        return None;
    }
    let View::Own(group) = situation.view else {
        let named = situation.desired.group.warm_pool.is_some();
        return named.then(|| condition(kind, Status::Unknown, Reason::NoGroup, ""));
    };
    let updating = |message: &str| (Reason::WarmPoolUpdating, message.to_owned());
    let state = warm_pool(situation, group);
    let (reason, message) = match state {
        WarmPoolState::Unmanaged => return None,
        WarmPoolState::Ready => {
            return Some(condition(kind, Status::True, Reason::WarmPoolReady, filling(group)));
        }
        WarmPoolState::Blocked => (Reason::UserDataDoesNotWait, joins(situation)),
        WarmPoolState::Foreign => {
            (Reason::WarmPoolNotOwned, format!("{OF_ANOTHER_USER}, or remove spec.warmPool"))
        }
        WarmPoolState::Unread => updating("about to be created, once the group is read again"),
        WarmPoolState::Waiting => updating("waiting until the group launches from the content of the spec"),
        WarmPoolState::Due(_) if group.warm_pool.is_some() => updating("about to be changed"),
        WarmPoolState::Due(_) => updating("about to be created"),
        WarmPoolState::Unwanted(Unwanted::Joins) => {
            (Reason::UserDataDoesNotWait, format!("about to be deleted: {}", joins(situation)))
        }
        WarmPoolState::Unwanted(Unwanted::LeftSpec) => {
            updating("about to be deleted: the spec no longer names it")
        }
        WarmPoolState::Unwanted(Unwanted::Outdated) => updating(
            "about to be deleted and created again: its instances may have other launch template versions than the group",
        ),
        WarmPoolState::Deleting => updating("waiting for AWS to delete it"),
    };
    let message = format!("{message}{}{}", refused(situation, state), late(situation, group));
    Some(condition(kind, Status::False, reason, message))
}

/// How many instances it lacks, if there are fewer than the spec demands.
fn filling(group: &Group) -> String {
    let lacking = group.warm_pool.filter(|pool| pool.size < pool.settings.min_size);
    lacking.map_or_else(String::new, |pool| {
        format!("{} of {} in it", pool.size, many(pool.settings.min_size, "instance"))
    })
}

fn refused(situation: &Situation<'_>, state: WarmPoolState) -> &'static str {
    if matches!(state, WarmPoolState::Unwanted(_)) && situation.memory.refused_warm_pool.is_some() {
        "; AWS has not accepted that yet, as always while instances are launching or terminating"
    } else {
        ""
    }
}

fn late(situation: &Situation<'_>, group: &Group) -> String {
    if !is_overdue(situation) {
        return String::new();
    }
    let is_filled = group.warm_pool.is_some_and(WarmPool::launches);
    let emptied = if is_filled { "" } else { "it gets no instances any more, and " };
    format!(
        "; that takes long, so {emptied}roll-outs no longer wait for it, and may replace instances that the group takes from it once more"
    )
}

/// Why instances that wait would join the cluster.
fn joins(situation: &Situation<'_>) -> String {
    match &situation.desired.template {
        Wanted::Ready(wanted) if wanted.waits_in_warm_pool => {
            "the group launches earlier content, whose user data may not wait in a warm pool before they join the cluster".to_owned()
        }
        Wanted::Ready(_) | Wanted::Blocked(_) => format!(
            "the bootstrap Secret has no annotation {WAITS_IN_WARM_POOL_ANNOTATION}: \"true\", so instances in a warm pool would join \
             the cluster; that of a FooNodeConfig with joinWhenInService has it"
        ),
    }
}
