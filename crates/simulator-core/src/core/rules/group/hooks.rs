//! Lifecycle hooks: waits while a member launches or terminates, which other programs end (Auto Scaling User Guide,
//! "Amazon EC2 Auto Scaling lifecycle hooks").
//!
//! The hooks of a transition begin their waits together or one after the other ([`HookOrder`]); the transition
//! continues when the last wait is over. An abandoned wait ends the others.

use crate::core::due::Event;
use crate::core::error::{AwsError, AwsResult};
use crate::core::group::model::Member;
use crate::core::region::Region;
use crate::core::settings::{HookOrder, HooksOf};
use foo_model::{ActivityStatus, GroupName, InstanceId, LifecycleState};
use std::collections::BTreeMap;
use std::time::Duration;

pub use crate::core::group::model::hooks::{
    ActionKey, ActionResult, Hook, HookChange, LifecycleAction, Transition,
};

/// Hooks of a group (Amazon EC2 Auto Scaling quotas).
pub const HOOKS_PER_GROUP: usize = 50;
/// HeartbeatTimeout if none is given (API Reference, PutLifecycleHook).
pub const DEFAULT_HEARTBEAT: Duration = Duration::from_hours(1);
/// Shortest and longest HeartbeatTimeout, in seconds (API Reference, PutLifecycleHook).
const HEARTBEAT: std::ops::RangeInclusive<u64> = 30..=7_200;
/// The parameter with the topic or queue that each wait is reported to.
const TARGET: &str = "NotificationTargetARN";
/// The parameter with the role that the report is sent with.
const ROLE: &str = "RoleARN";
/// The parameter with a text of the report.
const METADATA: &str = "NotificationMetadata";
/// From Pending:Proceed to InService.
const PROCEEDING: Duration = Duration::from_secs(1);

impl Hook {
    fn changed(known: Option<&Self>, change: HookChange) -> AwsResult<Self> {
        check_name(&change.name)?;
        let transition =
            change.transition.or_else(|| known.map(|hook| hook.transition)).ok_or_else(|| {
                AwsError::validation(
                    "A lifecycle transition must be specified when a lifecycle hook is created.",
                )
            })?;
        let heartbeat = match change.heartbeat {
            Some(seconds) if !HEARTBEAT.contains(&u64::from(seconds)) => {
                return Err(AwsError::validation(format!(
                    "HeartbeatTimeout must be between {} and {} seconds.",
                    HEARTBEAT.start(),
                    HEARTBEAT.end()
                )));
            }
            Some(seconds) => Duration::from_secs(u64::from(seconds)),
            None => known.map_or(DEFAULT_HEARTBEAT, |hook| hook.heartbeat),
        };
        let mut notification = known.map(|hook| hook.notification.clone()).unwrap_or_default();
        notification.extend(change.notification);
        if notification.get(TARGET).is_some_and(String::is_empty) {
            // API Reference, PutLifecycleHook: "If you specify an empty string, this overrides the current ARN." The role is for the
            // target alone **(A)**.
            notification.retain(|name, _| name == METADATA);
        }
        Ok(Self {
            transition,
            heartbeat,
            default_result: change
                .default_result
                .or_else(|| known.map(|hook| hook.default_result))
                .unwrap_or(ActionResult::Abandon),
            notification,
            name: change.name,
        })
    }
}

impl Region {
    /// PutLifecycleHook. Waits that have begun keep their timeouts.
    pub fn put_hook(&mut self, group: &GroupName, change: HookChange) -> AwsResult<()> {
        let known = &self.living_group(group)?.hooks;
        if !known.contains_key(&change.name) && known.len() >= HOOKS_PER_GROUP {
            return Err(too_many());
        }
        let hook = Hook::changed(known.get(&change.name), change)?;
        self.check_target(&hook)?;
        if let Some(group) = self.groups.get_mut(group) {
            group.hooks.insert(hook.name.clone(), hook);
        }
        Ok(())
    }

    /// The hooks of a new group.
    pub(crate) fn hooks_of_new(&self, changes: Vec<HookChange>) -> AwsResult<BTreeMap<String, Hook>> {
        if changes.len() > HOOKS_PER_GROUP {
            return Err(too_many());
        }
        let hook_of = |change| {
            let hook = Hook::changed(None, change)?;
            self.check_target(&hook)?;
            Ok((hook.name.clone(), hook))
        };
        changes.into_iter().map(hook_of).collect()
    }

    /// Auto Scaling sends a test message to a target (API Reference, PutLifecycleHook), and needs a role for that.
    fn check_target(&self, hook: &Hook) -> AwsResult<()> {
        let Some(target) = hook.notification.get(TARGET) else { return Ok(()) };
        let role = hook.notification.get(ROLE).map(String::as_str).unwrap_or_default();
        if !role.is_empty() && !self.settings.unreachable_targets.contains(target) {
            return Ok(());
        }
        Err(AwsError::validation(format!(
            "Unable to publish test message to notification target {target} using IAM role {role}. Please check your target and role \
             configuration and try to put lifecycle hook again."
        )))
    }

    /// DeleteLifecycleHook. Its outstanding actions are completed first: ABANDON for launching instances, CONTINUE for
    /// terminating ones (API Reference, DeleteLifecycleHook).
    pub fn delete_hook(&mut self, name: &GroupName, hook: &str) -> AwsResult<()> {
        let group = self.living_group(name)?;
        let Some(known) = group.hooks.get(hook) else { return Err(no_hook(hook)) };
        let result = match known.transition {
            Transition::Launching => ActionResult::Abandon,
            Transition::Terminating => ActionResult::Continue,
        };
        let waiting: Vec<InstanceId> = group
            .members
            .values()
            .chain(group.warm.values())
            .filter(|member| member.waits.contains_key(hook))
            .map(|member| member.id.clone())
            .collect();
        if let Some(group) = self.groups.get_mut(name) {
            group.hooks.remove(hook);
        }
        for id in waiting {
            self.end_wait(name, &id, hook, result, "by user request");
        }
        Ok(())
    }

    /// CompleteLifecycleAction.
    pub fn complete_action(
        &mut self,
        name: &GroupName,
        hook: &str,
        key: &ActionKey,
        result: ActionResult,
    ) -> AwsResult<()> {
        let id = self.waiting_member(name, hook, key)?;
        self.end_wait(name, &id, hook, result, "by user request");
        Ok(())
    }

    /// RecordLifecycleActionHeartbeat: the heartbeat timeout starts again, within the global timeout.
    pub fn record_heartbeat(&mut self, name: &GroupName, hook: &str, key: &ActionKey) -> AwsResult<()> {
        let id = self.waiting_member(name, hook, key)?;
        let now = self.now;
        if let Some(action) = self.member_mut(name, &id).and_then(|member| member.waits.get_mut(hook)) {
            action.expires = now.plus(action.heartbeat).min(action.limit);
            let event = Event::HookExpired(id, action.token.clone());
            let when = action.expires;
            self.due.at(when, event);
        }
        Ok(())
    }

    fn waiting_member(&self, name: &GroupName, hook: &str, key: &ActionKey) -> AwsResult<InstanceId> {
        let group = self.living_group(name)?;
        if !group.hooks.contains_key(hook) {
            return Err(no_hook(hook));
        }
        let found = match key {
            ActionKey::Instance(id) => group.member(id).filter(|member| member.waits.contains_key(hook)),
            ActionKey::Token(token) => group
                .members
                .values()
                .chain(group.warm.values())
                .find(|member| member.waits.get(hook).is_some_and(|action| action.token == *token)),
        };
        found.map(|member| member.id.clone()).ok_or_else(|| {
            let what = match key {
                ActionKey::Instance(id) => format!("instance ID {id}"),
                ActionKey::Token(token) => format!("token {token}"),
            };
            AwsError::validation(format!("No active Lifecycle Action found with {what}"))
        })
    }

    /// Begins the waits of a transition; `false` if the group has no hook for it.
    pub(crate) fn begin_waits(&mut self, name: &GroupName, id: &InstanceId, transition: Transition) -> bool {
        let Some(group) = self.groups.get(name) else { return false };
        let dead = self.instances.get(id).is_none_or(|instance| !instance.state.is_alive());
        if transition == Transition::Terminating && dead && self.settings.hooks_of_dead == HooksOf::Skipped {
            return false;
        }
        let hooks: Vec<Hook> =
            group.hooks.values().filter(|hook| hook.transition == transition).cloned().collect();
        self.begin_waits_for(name, id, transition, hooks)
    }

    /// Begins the waits for these hooks; with [`HookOrder::OneByOne`] only the first.
    fn begin_waits_for(
        &mut self,
        name: &GroupName,
        id: &InstanceId,
        transition: Transition,
        hooks: Vec<Hook>,
    ) -> bool {
        let together = match self.settings.hook_order {
            HookOrder::Together => hooks.len(),
            HookOrder::OneByOne => 1,
        };
        let now = self.now;
        let mut waits = BTreeMap::new();
        for hook in hooks.into_iter().take(together) {
            let action = LifecycleAction {
                token: self.chance.uuid(),
                expires: now.plus(hook.heartbeat),
                limit: now.plus(hook.longest_wait()),
                heartbeat: hook.heartbeat,
                default_result: hook.default_result,
            };
            self.due.at(action.expires, Event::HookExpired(id.clone(), action.token.clone()));
            self.publish_wait(name, id, &hook, &action.token);
            waits.insert(hook.name, action);
        }
        let begun = !waits.is_empty();
        if let Some(member) = self.member_mut(name, id)
            && begun
        {
            member.waits = waits;
            member.lifecycle = match transition {
                Transition::Launching => LifecycleState::PendingWait,
                Transition::Terminating => LifecycleState::TerminatingWait,
            };
        }
        begun
    }

    /// Ends a wait with the hook's default result, unless a heartbeat has extended it.
    pub(crate) fn expire_wait(&mut self, id: &InstanceId, token: &str) {
        let Some(name) = self.group_of(id) else { return };
        let Some(member) = self.groups.get(&name).and_then(|group| group.member(id)) else { return };
        let over =
            member.waits.iter().find(|(_, action)| action.token == token && action.expires <= self.now);
        let Some((hook, action)) = over else { return };
        let (hook, result) = (hook.clone(), action.default_result);
        self.end_wait(&name, id, &hook, result, "Heartbeat Timeout");
    }

    fn end_wait(&mut self, name: &GroupName, id: &InstanceId, hook: &str, result: ActionResult, why: &str) {
        let Some(member) = self.member_mut(name, id) else { return };
        let Some(action) = member.waits.remove(hook) else { return };
        if result == ActionResult::Abandon {
            member.waits.clear();
        }
        if !member.waits.is_empty() {
            return;
        }
        let launching = member.lifecycle == LifecycleState::PendingWait;
        if result == ActionResult::Continue && self.begin_next_wait(name, id, hook, launching) {
            return;
        }
        let Some(member) = self.member_mut(name, id) else { return };
        match (launching, result) {
            (true, ActionResult::Continue) => {
                member.lifecycle = LifecycleState::PendingProceed;
                let activity = member.activity;
                let when = self.now.plus(PROCEEDING);
                self.due.at(when, Event::Launched(id.clone(), activity));
            }
            (true, ActionResult::Abandon) => {
                // AWS documents that it terminates and replaces the instance, but not the text of the activity.
                let message = format!(
                    "Instance failed to complete user's Lifecycle Action: Lifecycle Action with token {} was abandoned: \
                     {why}",
                    action.token
                );
                self.abandon_launch(name, id, message);
            }
            (false, ActionResult::Abandon) if member.returns => {
                // An instance returns to the warm pool only if its hooks were completed.
                member.returns = false;
                self.proceed_leaving(name, id);
            }
            (false, ActionResult::Abandon) if self.retains(name) => {
                if let Some(member) = self.member_mut(name, id) {
                    member.lifecycle = LifecycleState::TerminatingRetained;
                }
            }
            (false, _) => self.proceed_leaving(name, id),
        }
    }

    /// With [`HookOrder::OneByOne`], begins the wait for the next hook after one whose wait is over.
    fn begin_next_wait(&mut self, name: &GroupName, id: &InstanceId, over: &str, launching: bool) -> bool {
        if self.settings.hook_order == HookOrder::Together {
            return false;
        }
        let transition = if launching { Transition::Launching } else { Transition::Terminating };
        let Some(group) = self.groups.get(name) else { return false };
        let behind = |hook: &&Hook| hook.transition == transition && hook.name.as_str() > over;
        let hooks: Vec<Hook> = group.hooks.values().filter(behind).cloned().collect();
        self.begin_waits_for(name, id, transition, hooks)
    }

    /// Whether instances whose terminating hook was abandoned are kept (API Reference, InstanceLifecyclePolicy:
    /// `RetentionTriggers.TerminateHookAbandon`).
    fn retains(&self, name: &GroupName) -> bool {
        self.groups.get(name).is_some_and(|group| group.settings.policies.retains_abandoned)
    }

    /// Terminates an instance whose launching hook was abandoned; the group launches another one.
    fn abandon_launch(&mut self, name: &GroupName, id: &InstanceId, message: String) {
        let activity = self.member_mut(name, id).and_then(|member| member.activity.take());
        self.end_activity(name, activity, ActivityStatus::Cancelled, Some(message));
        let at = crate::core::time::iso_seconds(self.now);
        let cause = format!(
            "At {at} an instance was taken out of service in response to a lifecycle action that was abandoned."
        );
        self.begin_leaving(name, id, &cause);
        self.wake_soon(name);
    }

    /// A member of a group or of its warm pool.
    pub(crate) fn member_mut(&mut self, name: &GroupName, id: &InstanceId) -> Option<&mut Member> {
        self.groups.get_mut(name)?.member_mut(id)
    }
}

/// 1–255 letters, digits, `-`, `_` and `/` (API Reference, PutLifecycleHook).
fn check_name(name: &str) -> AwsResult<()> {
    let fits = (1..=255).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/'));
    if fits {
        return Ok(());
    }
    Err(AwsError::validation(format!(
        "1 validation error detected: Value '{name}' at 'lifecycleHookName' failed to satisfy constraint: Member must \
         satisfy regular expression pattern: [A-Za-z0-9\\-_\\/]+"
    )))
}

fn too_many() -> AwsError {
    let message = format!("Cannot create more than {HOOKS_PER_GROUP} lifecycle hooks per AutoScalingGroup.");
    AwsError::new("LimitExceeded", message)
}

fn no_hook(hook: &str) -> AwsError {
    AwsError::validation(format!("No Lifecycle Hook found with name {hook}"))
}
