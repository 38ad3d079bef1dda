//! The steps of a refresh at each evaluation of its group: count, wait, replace, end.

use super::{RefreshStatus, Rollback, Treatment, count};
use crate::core::group::model::{Group, LaunchSource, Member, TemplateRef, units};
use crate::core::region::Region;
use crate::core::rules::group::replace::Outgoing;
use crate::core::time::iso_seconds;
use foo_model::{GroupName, InstanceId, LifecycleState, Process, Protection};
use std::collections::BTreeSet;

/// Whether a member is in standby, or retained after an abandoned hook.
fn is_parked(member: &Member) -> bool {
    matches!(member.lifecycle, LifecycleState::Standby | LifecycleState::TerminatingRetained)
}

/// Whether a member stays until its replacement is in service.
fn is_replaced_first(member: &Member) -> bool {
    member.outgoing == Some(Outgoing::Refreshed) && Group::is_outgoing(member)
}

impl Region {
    /// Whether a member has the content that a source would launch.
    pub(super) fn matches(&self, member: &Member, source: &LaunchSource) -> bool {
        let template = |choice: &TemplateRef| {
            let version = self.template_version(choice).ok();
            let made_of = member.template.as_ref().map(|(id, _, version)| (id, *version));
            made_of == version.as_ref().map(|it| (&choice.id, it.number))
        };
        let LaunchSource::Mixed(policy) = source else { return template(source.template()) };
        if policy.overrides.is_empty() {
            return template(&policy.template);
        }
        policy.overrides.iter().any(|choice| {
            template(choice.template.as_ref().unwrap_or(&policy.template))
                && choice.instance_type.as_ref().is_none_or(|it| it == &member.instance_type)
        })
    }

    /// Continues a refresh as far as possible at this moment.
    pub(crate) fn step_refresh(&mut self, name: &GroupName) {
        let now = self.now;
        let timeout = self.settings.refresh_timeout;
        let Some(group) = self.groups.get_mut(name) else { return };
        if group.is_suspended(Process::InstanceRefresh) {
            return;
        }
        let Some(refresh) = group.refresh_mut() else { return };
        if refresh.status == RefreshStatus::Pending {
            refresh.status = RefreshStatus::InProgress;
            refresh.started = Some(now);
            self.publish_refresh(name, "Started", None);
        }
        self.count_replaced(name);
        let Some(group) = self.groups.get(name) else { return };
        let Some(refresh) = group.refresh() else { return };
        let waits = refresh.waits_until.is_some_and(|until| until > now);
        // Members that are terminating have been replaced already.
        let mut members = group.members.values().filter(|it| !it.lifecycle.is_leaving());
        let replacing = group.members.values().any(Group::is_outgoing);
        let settled = members.all(|it| group.serves(it, now) || is_parked(it))
            && group.capacity() >= group.sizes.desired
            && !replacing;
        let moving = |it: &Member| {
            it.lifecycle.is_leaving()
                || (it.lifecycle.is_capacity() && it.lifecycle != LifecycleState::InService)
        };
        let quiet = !replacing && !group.members.values().any(moving);
        let late = refresh.progressed.plus(timeout) <= now;
        match refresh.status {
            RefreshStatus::Cancelling if quiet || late => self.end_refresh(name, RefreshStatus::Cancelled),
            RefreshStatus::Baking if !waits => self.succeed(name),
            RefreshStatus::InProgress | RefreshStatus::RollbackInProgress if waits => {}
            RefreshStatus::InProgress | RefreshStatus::RollbackInProgress => {
                let done = refresh.replaced() >= refresh.goal() && refresh.warm_remaining.is_empty();
                if done && settled {
                    self.complete(name);
                } else if late {
                    self.fail_refresh(name);
                } else if !self.reach_checkpoint(name) {
                    self.replace_next(name);
                }
            }
            _ => {}
        }
    }

    /// Counts the members that were replaced and the replacements in service.
    fn count_replaced(&mut self, name: &GroupName) {
        let now = self.now;
        let Some(group) = self.groups.get_mut(name) else { return };
        let serving = units(group.members.values().filter(|it| group.serves(it, now)));
        let largest = group.members.values().map(|it| it.weight).max().unwrap_or(1).max(1);
        let stays = |member: Option<&Member>| member.is_some_and(|it| !it.lifecycle.is_leaving());
        let Some(refresh) = group.refresh() else { return };
        let gone: Vec<InstanceId> =
            refresh.remaining.iter().filter(|id| !stays(group.members.get(*id))).cloned().collect();
        let warm_gone: Vec<InstanceId> =
            refresh.warm_remaining.iter().filter(|id| !stays(group.warm.get(*id))).cloned().collect();
        // In members, not in units of capacity.
        let missing = group.sizes.desired.saturating_sub(serving).div_ceil(largest);
        let Some(refresh) = group.refresh_mut() else { return };
        for id in gone {
            refresh.remaining.remove(&id);
        }
        let came_forward = !warm_gone.is_empty();
        for id in warm_gone {
            refresh.warm_remaining.remove(&id);
        }
        let updated = refresh.replaced().saturating_sub(missing).max(refresh.updated);
        if updated > refresh.updated || came_forward {
            refresh.updated = updated;
            refresh.progressed = now;
        }
    }

    /// Stops at a checkpoint that was reached; `true` if it waits there.
    fn reach_checkpoint(&mut self, name: &GroupName) -> bool {
        let now = self.now;
        let Some(refresh) = self.groups.get_mut(name).and_then(Group::refresh_mut) else { return false };
        let Some(percentage) = refresh.preferences.checkpoints.get(refresh.checkpoints).copied() else {
            refresh.waits_until = None;
            return false;
        };
        if refresh.updated < refresh.limit() {
            refresh.waits_until = None;
            return false;
        }
        refresh.checkpoints += 1;
        let until = now.plus(refresh.preferences.checkpoint_delay);
        refresh.waits_until = Some(until);
        // The checkpoint delay does not count towards the timeout.
        refresh.progressed = until;
        self.publish_refresh(name, "Checkpoint Reached", Some(percentage));
        true
    }

    fn replace_next(&mut self, name: &GroupName) {
        let Some(group) = self.groups.get(name) else { return };
        let Some(refresh) = group.refresh() else { return };
        let (range, preferences) = (refresh.preferences.range, refresh.preferences.clone());
        let touched =
            refresh.replaced() + count(group.members.values().filter(|it| is_replaced_first(it)).count());
        let allowed = usize::try_from(refresh.limit().saturating_sub(touched)).unwrap_or(usize::MAX);
        let (mut passed_over, mut parked, mut next) = (Vec::new(), Vec::new(), Vec::new());
        for id in &refresh.remaining {
            let Some(member) = group.members.get(id) else { continue };
            let treatment = match (&member.lifecycle, member.protection) {
                (LifecycleState::Standby, _) => preferences.standby,
                (LifecycleState::InService, Protection::Protected) => preferences.protected,
                (LifecycleState::InService, Protection::Unprotected) => Treatment::Replace,
                _ => Treatment::Wait,
            };
            match treatment {
                Treatment::Replace if member.lifecycle == LifecycleState::Standby => parked.push(id.clone()),
                Treatment::Replace if member.outgoing.is_none() => next.push((member.launched, id.clone())),
                Treatment::Ignore => passed_over.push(id.clone()),
                Treatment::Replace | Treatment::Wait => {}
            }
        }
        let warm: Vec<InstanceId> = refresh.warm_remaining.iter().cloned().collect();
        next.sort();
        let next: Vec<InstanceId> = next.into_iter().map(|(_, id)| id).take(allowed).collect();
        let passes = !passed_over.is_empty();
        if let Some(refresh) = self.groups.get_mut(name).and_then(Group::refresh_mut) {
            for id in passed_over {
                refresh.remaining.remove(&id);
                refresh.total = refresh.total.saturating_sub(1);
            }
        }
        let cause = format!(
            "At {} an instance was taken out of service in response to an instance refresh.",
            iso_seconds(self.now)
        );
        for id in parked.into_iter().chain(warm) {
            self.begin_leaving(name, &id, &cause);
        }
        self.replace_within(name, &next, range, Outgoing::Refreshed);
        if passes {
            self.wake(name, self.now);
        }
    }

    /// Begins the bake time or ends the refresh, when all replacements are in service.
    fn complete(&mut self, name: &GroupName) {
        let now = self.now;
        let Some(refresh) = self.groups.get_mut(name).and_then(Group::refresh_mut) else { return };
        refresh.updated = refresh.goal();
        let last = refresh.preferences.checkpoints.get(refresh.checkpoints).copied();
        if let Some(percentage) = last {
            refresh.checkpoints += 1;
            self.publish_refresh(name, "Checkpoint Reached", Some(percentage));
        }
        let Some(refresh) = self.groups.get_mut(name).and_then(Group::refresh_mut) else { return };
        if refresh.status == RefreshStatus::RollbackInProgress {
            return self.end_refresh(name, RefreshStatus::RollbackSuccessful);
        }
        if refresh.preferences.bake.is_zero() {
            return self.succeed(name);
        }
        refresh.status = RefreshStatus::Baking;
        refresh.waits_until = Some(now.plus(refresh.preferences.bake));
    }

    fn succeed(&mut self, name: &GroupName) {
        if let Some(group) = self.groups.get_mut(name)
            && let Some(desired) = group.refresh().and_then(|refresh| refresh.desired.clone())
        {
            group.source = desired;
        }
        self.end_refresh(name, RefreshStatus::Successful);
    }

    /// Fails a refresh that has made no progress for too long.
    fn fail_refresh(&mut self, name: &GroupName) {
        let Some(refresh) = self.groups.get_mut(name).and_then(Group::refresh_mut) else { return };
        // AWS documents that a refresh fails after an hour without success, but no text.
        let reason = "Replacements did not come into service in time.";
        refresh.reason = Some(reason.to_owned());
        match (refresh.status, refresh.preferences.auto_rollback) {
            (RefreshStatus::RollbackInProgress, _) => self.end_refresh(name, RefreshStatus::RollbackFailed),
            (_, true) => self.roll_back(name, reason),
            (_, false) => self.end_refresh(name, RefreshStatus::Failed),
        }
    }

    /// Replaces the members that a refresh has launched with what the group launched before.
    pub(super) fn roll_back(&mut self, name: &GroupName, reason: &str) {
        let now = self.now;
        let Some(group) = self.groups.get(name) else { return };
        let stays = |member: &&Member| !member.lifecycle.is_leaving() && !self.matches(member, &group.source);
        let remaining: BTreeSet<InstanceId> =
            group.members.values().filter(stays).map(|it| it.id.clone()).collect();
        let warm: BTreeSet<InstanceId> = group.warm.values().filter(stays).map(|it| it.id.clone()).collect();
        let Some(group) = self.groups.get_mut(name) else { return };
        for member in group.members.values_mut().filter(|it| it.outgoing == Some(Outgoing::Refreshed)) {
            member.outgoing = None;
        }
        group.troubles.clear();
        let Some(refresh) = group.refresh_mut() else { return };
        refresh.rollback = Some(Rollback {
            reason: reason.to_owned(),
            started: now,
            percentage: refresh.percentage(),
            remaining: refresh.to_update(),
        });
        refresh.status = RefreshStatus::RollbackInProgress;
        refresh.reason = Some(reason.to_owned());
        (refresh.total, refresh.remaining) = (count(remaining.len()), remaining);
        (refresh.warm_total, refresh.warm_remaining) = (count(warm.len()), warm);
        (refresh.updated, refresh.waits_until, refresh.progressed) = (0, None, now);
        refresh.checkpoints = refresh.preferences.checkpoints.len();
        self.publish_refresh(name, "Rollback Started", None);
        self.wake(name, now);
    }

    /// Ends a refresh with this status.
    pub(crate) fn end_refresh(&mut self, name: &GroupName, status: RefreshStatus) {
        let now = self.now;
        let event = match status {
            RefreshStatus::Successful => "Succeeded",
            RefreshStatus::Cancelled => "Cancelled",
            RefreshStatus::RollbackSuccessful => "Rollback Succeeded",
            RefreshStatus::RollbackFailed => "Rollback Failed",
            _ => "Failed",
        };
        self.publish_refresh(name, event, None);
        let Some(group) = self.groups.get_mut(name) else { return };
        for member in group.members.values_mut().filter(|it| it.outgoing == Some(Outgoing::Refreshed)) {
            member.outgoing = None;
        }
        if let Some(refresh) = group.refresh_mut() {
            refresh.status = status;
            refresh.ended = Some(now);
            refresh.waits_until = None;
        }
    }
}
