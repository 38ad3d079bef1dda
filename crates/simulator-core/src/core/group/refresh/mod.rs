//! Instance refresh: replaces the members of a group step by step, with checkpoints, a bake time and a rollback (Auto
//! Scaling User Guide, "Use an instance refresh to update instances in an Auto Scaling group").

mod calls;
mod steps;

use super::model::{Group, LaunchSource};
use super::policies::HealthyRange;
use crate::core::error::{AwsError, AwsResult};
use foo_model::{InstanceId, Timestamp};
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::Duration;

/// How many refreshes of a group are kept; AWS shows those of the last six weeks.
const KEPT: usize = 100;
/// CheckpointDelay if none is given (API Reference, RefreshPreferences).
const CHECKPOINT_DELAY: Duration = Duration::from_hours(1);
/// MinHealthyPercentage and MaxHealthyPercentage if neither the preferences nor the group set them (API Reference,
/// RefreshPreferences).
const DEFAULT_RANGE: HealthyRange = HealthyRange { min: 90, max: 100 };

/// Status of a refresh.
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
    /// They are skipped (`Ignore`).
    Ignore,
    /// The refresh waits until they are no longer protected, or back in service (`Wait`).
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
    /// CheckpointPercentages, ascending.
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

/// RefreshPreferences as in a request.
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
    /// Its status.
    pub status: RefreshStatus,
    /// Why it has this status.
    pub reason: Option<String>,
    /// When it began to replace.
    pub started: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// Its preferences.
    pub preferences: Preferences,
    /// DesiredConfiguration: what the group launches during the refresh, and after its success.
    pub desired: Option<LaunchSource>,
    /// How many members it was to replace when it started.
    pub total: u32,
    /// The members that it has not replaced yet.
    pub remaining: BTreeSet<InstanceId>,
    /// The same for the warm pool.
    pub warm_total: u32,
    /// The same for the warm pool.
    pub warm_remaining: BTreeSet<InstanceId>,
    /// State at the beginning of its rollback, if it has one.
    pub rollback: Option<Rollback>,
    /// How many replacements are in service.
    pub updated: u32,
    /// How many checkpoints it has reached.
    checkpoints: usize,
    /// When its checkpoint delay or its bake time is over.
    waits_until: Option<Timestamp>,
    /// When it last made progress.
    progressed: Timestamp,
}

/// State of a refresh at the beginning of its rollback.
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
    /// Whether it is not over yet.
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

    /// When it continues or fails without any other change.
    pub(crate) fn next_step(&self, timeout: Duration) -> Option<Timestamp> {
        if !self.status.is_active() {
            return None;
        }
        self.waits_until.or_else(|| Some(self.progressed.plus(timeout)))
    }

    /// How many members it may have replaced when it reaches the next checkpoint.
    fn limit(&self) -> u32 {
        match self.preferences.checkpoints.get(self.checkpoints) {
            Some(percentage) => u32::try_from((u64::from(self.total) * u64::from(*percentage)).div_ceil(100))
                .unwrap_or(u32::MAX),
            None => self.total,
        }
    }

    /// How many members it replaces in total: up to its last checkpoint (API Reference, RefreshPreferences).
    fn goal(&self) -> u32 {
        // A rollback ignores checkpoints.
        let last = self.preferences.checkpoints.last().copied().filter(|_| self.rollback.is_none());
        let last = last.unwrap_or(100);
        u32::try_from((u64::from(self.total) * u64::from(last)).div_ceil(100)).unwrap_or(u32::MAX)
    }

    fn replaced(&self) -> u32 {
        self.total.saturating_sub(count(self.remaining.len()))
    }
}

impl Group {
    /// The refresh in progress.
    pub fn refresh(&self) -> Option<&Refresh> {
        self.refreshes.last().filter(|refresh| refresh.status.is_active())
    }

    fn refresh_mut(&mut self) -> Option<&mut Refresh> {
        self.refreshes.last_mut().filter(|refresh| refresh.status.is_active())
    }

    /// What the group launches now: the desired configuration of its refresh, unless that is rolling back or
    /// cancelling.
    pub(crate) fn launches(&self) -> &LaunchSource {
        let onward =
            |refresh: &&Refresh| refresh.rollback.is_none() && refresh.status != RefreshStatus::Cancelling;
        self.refresh().filter(onward).and_then(|refresh| refresh.desired.as_ref()).unwrap_or(&self.source)
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

/// Whether a source refers to `$Latest` or `$Default`, so that the launched version can change.
fn uses_moving_version(source: &LaunchSource) -> bool {
    source.template().version.starts_with('$')
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
