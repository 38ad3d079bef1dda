//! Instance refresh: replaces the members of a group step by step, with checkpoints, a bake time and a way back (Auto Scaling
//! User Guide, "Use an instance refresh to update instances in an Auto Scaling group").

use super::model::{Group, LaunchSource, Member, TemplateRef};
use super::policies::HealthyRange;
use super::replace::Outgoing;
use super::source::SourceSpec;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::core::time::iso_seconds;
use foo_cloud::model::{GroupName, InstanceId, LifecycleState, Process, Protection, Timestamp};
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::Duration;

/// Refreshes of a group that are kept; AWS shows those of the last six weeks.
const KEPT: usize = 100;
/// CheckpointDelay if none is given (API Reference, RefreshPreferences).
const CHECKPOINT_DELAY: Duration = Duration::from_hours(1);
/// MinHealthyPercentage and MaxHealthyPercentage if neither the preferences nor the group say (API Reference,
/// RefreshPreferences).
const DEFAULT_RANGE: HealthyRange = HealthyRange { min: 90, max: 100 };

/// How far a refresh is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[expect(missing_docs, reason = "the names are AWS's own (API Reference, InstanceRefresh)")]
pub enum RefreshStatus {
    Pending,
    InProgress,
    Baking,
    Successful,
    Failed,
    Cancelling,
    Cancelled,
    RollbackInProgress,
    RollbackSuccessful,
    RollbackFailed,
}

/// What a refresh does with members that scale-in may not pick, or that are in standby.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Treatment {
    /// They are replaced (`Refresh`, `Terminate`).
    Replace,
    /// They are passed over (`Ignore`).
    Ignore,
    /// It is waited until they are protected no longer, or back in service (`Wait`).
    #[default]
    Wait,
}

/// RefreshPreferences, with defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Preferences {
    /// MinHealthyPercentage and MaxHealthyPercentage.
    pub range: HealthyRange,
    /// InstanceWarmup.
    pub warmup: Duration,
    /// CheckpointPercentages, rising.
    pub checkpoints: Vec<u32>,
    /// CheckpointDelay.
    pub checkpoint_delay: Duration,
    /// SkipMatching.
    pub skip_matching: bool,
    /// AutoRollback.
    pub auto_rollback: bool,
    /// ScaleInProtectedInstances.
    pub protected: Treatment,
    /// StandbyInstances.
    pub standby: Treatment,
    /// BakeTime.
    pub bake: Duration,
}

/// RefreshPreferences as a caller gives them.
#[derive(Clone, Debug, Default)]
pub struct PreferencesSpec {
    /// MinHealthyPercentage.
    pub min_healthy: Option<u32>,
    /// MaxHealthyPercentage.
    pub max_healthy: Option<u32>,
    /// InstanceWarmup.
    pub warmup: Option<Duration>,
    /// CheckpointPercentages.
    pub checkpoints: Vec<u32>,
    /// CheckpointDelay.
    pub checkpoint_delay: Option<Duration>,
    /// SkipMatching.
    pub skip_matching: bool,
    /// AutoRollback.
    pub auto_rollback: bool,
    /// ScaleInProtectedInstances.
    pub protected: Option<Treatment>,
    /// StandbyInstances.
    pub standby: Option<Treatment>,
    /// BakeTime.
    pub bake: Option<Duration>,
}

/// One instance refresh.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refresh {
    /// Its id.
    pub id: String,
    /// How far it is.
    pub status: RefreshStatus,
    /// Why it is where it is.
    pub reason: Option<String>,
    /// When it began to replace.
    pub started: Option<Timestamp>,
    /// When it was over.
    pub ended: Option<Timestamp>,
    /// Its preferences.
    pub preferences: Preferences,
    /// DesiredConfiguration: what is launched meanwhile, and what the group launches after success.
    pub desired: Option<LaunchSource>,
    /// How many members it set out to replace.
    pub total: u32,
    /// Those that are still there.
    pub remaining: BTreeSet<InstanceId>,
    /// The same for the warm pool.
    pub warm_total: u32,
    /// The same for the warm pool.
    pub warm_remaining: BTreeSet<InstanceId>,
    /// What was done when it turned back.
    pub rollback: Option<Rollback>,
    /// How many replacements serve.
    pub updated: u32,
    /// Checkpoints that were reached.
    checkpoints: usize,
    /// When it goes on behind a checkpoint, or ends baking.
    waits_until: Option<Timestamp>,
    /// When it last came forward.
    progressed: Timestamp,
}

/// Where a refresh stood when it turned back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rollback {
    /// Why.
    pub reason: String,
    /// When.
    pub started: Timestamp,
    /// PercentageComplete at that moment.
    pub percentage: u32,
    /// InstancesToUpdate at that moment.
    pub remaining: u32,
}

impl RefreshStatus {
    /// Whether it still does something.
    pub fn is_active(self) -> bool {
        matches!(
            self,
            Self::Pending | Self::InProgress | Self::Baking | Self::Cancelling | Self::RollbackInProgress
        )
    }
}

impl Refresh {
    /// PercentageComplete.
    pub fn percentage(&self) -> u32 {
        self.updated.saturating_mul(100).checked_div(self.total).unwrap_or(100)
    }

    /// InstancesToUpdate.
    pub fn to_update(&self) -> u32 {
        self.total.saturating_sub(self.updated)
    }

    /// When the passing of time alone lets it go on, or gives it up.
    pub(crate) fn next_step(&self, timeout: Duration) -> Option<Timestamp> {
        if !self.status.is_active() {
            return None;
        }
        self.waits_until.or_else(|| Some(self.progressed.plus(timeout)))
    }

    /// How many members it may have touched by now: up to the next checkpoint.
    fn limit(&self) -> u32 {
        match self.preferences.checkpoints.get(self.checkpoints) {
            Some(percentage) => u32::try_from((u64::from(self.total) * u64::from(*percentage)).div_ceil(100))
                .unwrap_or(u32::MAX),
            None => self.total,
        }
    }

    /// How many members it replaces in all: up to its last checkpoint (API Reference, RefreshPreferences).
    fn goal(&self) -> u32 {
        let last = self.preferences.checkpoints.last().copied().unwrap_or(100);
        u32::try_from((u64::from(self.total) * u64::from(last)).div_ceil(100)).unwrap_or(u32::MAX)
    }

    fn replaced(&self) -> u32 {
        self.total.saturating_sub(count(self.remaining.len()))
    }
}

impl Group {
    /// The refresh that is going on.
    pub fn refresh(&self) -> Option<&Refresh> {
        self.refreshes.last().filter(|refresh| refresh.status.is_active())
    }

    fn refresh_mut(&mut self) -> Option<&mut Refresh> {
        self.refreshes.last_mut().filter(|refresh| refresh.status.is_active())
    }

    /// What is launched now: a refresh's desired configuration unless it is on its way back.
    pub(crate) fn launches(&self) -> &LaunchSource {
        let onward = |refresh: &&Refresh| refresh.status != RefreshStatus::RollbackInProgress;
        self.refresh().filter(onward).and_then(|refresh| refresh.desired.as_ref()).unwrap_or(&self.source)
    }
}

impl Region {
    /// StartInstanceRefresh with the strategy `Rolling`. Returns its id.
    ///
    /// # Errors
    /// `InstanceRefreshInProgress`, `ValidationError`.
    pub fn start_refresh(
        &mut self,
        name: &GroupName,
        desired: Option<SourceSpec>,
        spec: PreferencesSpec,
    ) -> AwsResult<String> {
        let group = self.living_group(name)?;
        if group.refresh().is_some() {
            return Err(AwsError::new(
                "InstanceRefreshInProgress",
                "An Instance Refresh is already in progress and blocks the execution of this Instance Refresh.",
            ));
        }
        let preferences = Preferences::of(spec, group)?;
        let current = group.source.clone();
        let desired = match desired {
            Some(desired) => Some(self.resolve_source(desired, Some(&current))?),
            None => None,
        };
        if preferences.auto_rollback && desired.as_ref().is_none_or(floats) {
            return Err(AwsError::validation(
                "AutoRollback needs a DesiredConfiguration whose launch template version is a number.",
            ));
        }
        let wanted = desired.as_ref().unwrap_or(&current);
        let group = self.living_group(name)?;
        let stays = |member: &&Member| !member.lifecycle.is_leaving();
        let counts = |member: &&Member| !preferences.skip_matching || !self.matches(member, wanted);
        let remaining: BTreeSet<InstanceId> =
            group.members.values().filter(stays).filter(counts).map(|it| it.id.clone()).collect();
        let warm_remaining: BTreeSet<InstanceId> =
            group.warm.values().filter(stays).filter(counts).map(|it| it.id.clone()).collect();
        let id = self.chance.uuid();
        let refresh = Refresh {
            id: id.clone(),
            status: RefreshStatus::Pending,
            reason: None,
            started: None,
            ended: None,
            preferences,
            desired,
            total: count(remaining.len()),
            remaining,
            warm_total: count(warm_remaining.len()),
            warm_remaining,
            rollback: None,
            updated: 0,
            checkpoints: 0,
            waits_until: None,
            progressed: self.now,
        };
        if let Some(group) = self.groups.get_mut(name) {
            if group.refreshes.len() >= KEPT {
                group.refreshes.remove(0);
            }
            group.refreshes.push(refresh);
        }
        self.wake_soon(name);
        Ok(id)
    }

    /// CancelInstanceRefresh. What is being replaced is brought to an end unless the caller does not wait for it.
    ///
    /// # Errors
    /// `ActiveInstanceRefreshNotFound`.
    pub fn cancel_refresh(&mut self, name: &GroupName, waits: bool) -> AwsResult<String> {
        self.living_group(name)?;
        let refresh = self.groups.get_mut(name).and_then(Group::refresh_mut).ok_or_else(not_found)?;
        refresh.status = RefreshStatus::Cancelling;
        refresh.waits_until = None;
        refresh.reason = Some("Cancelled due to user request.".to_owned());
        let id = refresh.id.clone();
        if !waits {
            self.end_refresh(name, RefreshStatus::Cancelled);
        }
        self.wake_soon(name);
        Ok(id)
    }

    /// RollbackInstanceRefresh: what has been replaced is replaced again, by what the group launched before.
    ///
    /// # Errors
    /// `ActiveInstanceRefreshNotFound`; `IrreversibleInstanceRefresh` without a desired configuration, or if one of both
    /// templates has no fixed version.
    pub fn rollback_refresh(&mut self, name: &GroupName) -> AwsResult<String> {
        let group = self.living_group(name)?;
        let refresh = group.refresh().ok_or_else(not_found)?;
        let turning = refresh.status == RefreshStatus::RollbackInProgress;
        if turning || refresh.desired.as_ref().is_none_or(floats) || floats(&group.source) {
            return Err(AwsError::new(
                "IrreversibleInstanceRefresh",
                "The instance refresh cannot be rolled back: it has no desired configuration, or a launch template \
                 version is not a number.",
            ));
        }
        let id = refresh.id.clone();
        self.turn_back(name, "Rollback due to user request.");
        self.wake_soon(name);
        Ok(id)
    }

    /// Whether a member is what a source would launch.
    fn matches(&self, member: &Member, source: &LaunchSource) -> bool {
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

    /// Goes on with a refresh as far as it can at this moment.
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
            self.tell_refresh(name, "Started", None);
        }
        self.count_replaced(name);
        let Some(group) = self.groups.get(name) else { return };
        let Some(refresh) = group.refresh() else { return };
        let waits = refresh.waits_until.is_some_and(|until| until > now);
        let settled =
            group.members.values().all(|it| group.serves(it, now) || it.lifecycle == LifecycleState::Standby)
                && group.capacity() >= group.sizes.desired
                && !group.members.values().any(Group::is_outgoing);
        match refresh.status {
            RefreshStatus::Cancelling if settled => self.end_refresh(name, RefreshStatus::Cancelled),
            RefreshStatus::Baking if !waits => self.succeed(name),
            RefreshStatus::InProgress | RefreshStatus::RollbackInProgress if waits => {}
            RefreshStatus::InProgress | RefreshStatus::RollbackInProgress => {
                let done = refresh.replaced() >= refresh.goal() && refresh.warm_remaining.is_empty();
                if done && settled {
                    self.complete(name);
                } else if refresh.progressed.plus(timeout) <= now {
                    self.fail_refresh(name);
                } else if !self.reach_checkpoint(name) {
                    self.replace_next(name);
                }
            }
            _ => {}
        }
    }

    /// Finds out which members are gone and how many replacements serve.
    fn count_replaced(&mut self, name: &GroupName) {
        let now = self.now;
        let Some(group) = self.groups.get_mut(name) else { return };
        let serving = count(group.members.values().filter(|it| group.serves(it, now)).count());
        let stays = |member: Option<&Member>| member.is_some_and(|it| !it.lifecycle.is_leaving());
        let Some(refresh) = group.refresh() else { return };
        let gone: Vec<InstanceId> =
            refresh.remaining.iter().filter(|id| !stays(group.members.get(*id))).cloned().collect();
        let warm_gone: Vec<InstanceId> =
            refresh.warm_remaining.iter().filter(|id| !stays(group.warm.get(*id))).cloned().collect();
        let missing = group.sizes.desired.saturating_sub(serving);
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
        // It is not to blame for waiting.
        refresh.progressed = until;
        self.tell_refresh(name, "Checkpoint Reached", Some(percentage));
        true
    }

    fn replace_next(&mut self, name: &GroupName) {
        let Some(group) = self.groups.get(name) else { return };
        let Some(refresh) = group.refresh() else { return };
        let (range, preferences) = (refresh.preferences.range, refresh.preferences.clone());
        let touched = refresh.replaced()
            + count(group.members.values().filter(|it| it.outgoing == Some(Outgoing::Refreshed)).count());
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

    /// All replacements serve.
    fn complete(&mut self, name: &GroupName) {
        let now = self.now;
        let Some(refresh) = self.groups.get_mut(name).and_then(Group::refresh_mut) else { return };
        refresh.updated = refresh.goal();
        let last = refresh.preferences.checkpoints.get(refresh.checkpoints).copied();
        if let Some(percentage) = last {
            refresh.checkpoints += 1;
            self.tell_refresh(name, "Checkpoint Reached", Some(percentage));
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

    /// It has not come forward for too long.
    fn fail_refresh(&mut self, name: &GroupName) {
        let Some(refresh) = self.groups.get_mut(name).and_then(Group::refresh_mut) else { return };
        // AWS documents that a refresh fails after an hour without success, but no text.
        let reason = "Replacements did not come into service in time.";
        refresh.reason = Some(reason.to_owned());
        match (refresh.status, refresh.preferences.auto_rollback) {
            (RefreshStatus::RollbackInProgress, _) => self.end_refresh(name, RefreshStatus::RollbackFailed),
            (_, true) => self.turn_back(name, reason),
            (_, false) => self.end_refresh(name, RefreshStatus::Failed),
        }
    }

    /// Replaces what a refresh has launched by what the group launched before.
    fn turn_back(&mut self, name: &GroupName, reason: &str) {
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
        self.tell_refresh(name, "Rollback Started", None);
        self.wake(name, now);
    }

    /// A refresh is over.
    pub(crate) fn end_refresh(&mut self, name: &GroupName, status: RefreshStatus) {
        let now = self.now;
        let word = match status {
            RefreshStatus::Successful => "Succeeded",
            RefreshStatus::Cancelled => "Cancelled",
            RefreshStatus::RollbackSuccessful => "Rollback Succeeded",
            RefreshStatus::RollbackFailed => "Rollback Failed",
            _ => "Failed",
        };
        self.tell_refresh(name, word, None);
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

impl Preferences {
    fn of(spec: PreferencesSpec, group: &Group) -> AwsResult<Self> {
        let default = group.settings.policies.maintenance.unwrap_or(DEFAULT_RANGE);
        let (min, max) = match (spec.min_healthy, spec.max_healthy) {
            (None, None) => (default.min, default.max),
            (min, max) => (min.unwrap_or(default.min), max.unwrap_or(default.max)),
        };
        let rising = spec.checkpoints.windows(2).all(|pair| matches!(pair, [a, b] if a < b));
        if !rising || spec.checkpoints.iter().any(|it| !(1..=100).contains(it)) {
            return Err(AwsError::validation(
                "CheckpointPercentages must be between 1 and 100, in ascending order.",
            ));
        }
        Ok(Self {
            range: HealthyRange::new(min, max)?,
            // (API Reference, RefreshPreferences: the default warmup, or else the health check grace period.)
            warmup: spec.warmup.or(group.settings.policies.warmup).unwrap_or(group.settings.grace),
            checkpoints: spec.checkpoints,
            checkpoint_delay: spec.checkpoint_delay.unwrap_or(CHECKPOINT_DELAY),
            skip_matching: spec.skip_matching,
            auto_rollback: spec.auto_rollback,
            protected: spec.protected.unwrap_or_default(),
            standby: spec.standby.unwrap_or_default(),
            bake: spec.bake.unwrap_or_default(),
        })
    }
}

/// Whether a source launches whatever version its template has by then.
fn floats(source: &LaunchSource) -> bool {
    source.template().version.starts_with('$')
}

fn not_found() -> AwsError {
    AwsError::new(
        "ActiveInstanceRefreshNotFound",
        "No in progress or pending Instance Refresh found for the group.",
    )
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
