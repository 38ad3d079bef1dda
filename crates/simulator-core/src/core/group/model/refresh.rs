//! Instance refreshes.

use super::launch_source::LaunchSource;
use crate::core::group::policies::HealthyRange;
use foo_model::{InstanceId, Timestamp};
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::Duration;

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
    pub(in crate::core) checkpoints: usize,
    /// When its checkpoint delay or its bake time is over.
    pub(in crate::core) waits_until: Option<Timestamp>,
    /// When it last made progress.
    pub(in crate::core) progressed: Timestamp,
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
    pub(in crate::core) fn limit(&self) -> u32 {
        match self.preferences.checkpoints.get(self.checkpoints) {
            Some(percentage) => u32::try_from((u64::from(self.total) * u64::from(*percentage)).div_ceil(100))
                .unwrap_or(u32::MAX),
            None => self.total,
        }
    }

    /// How many members it replaces in total: up to its last checkpoint (API Reference, RefreshPreferences).
    pub(in crate::core) fn goal(&self) -> u32 {
        // A rollback ignores checkpoints.
        let last = self.preferences.checkpoints.last().copied().filter(|_| self.rollback.is_none());
        let last = last.unwrap_or(100);
        u32::try_from((u64::from(self.total) * u64::from(last)).div_ceil(100)).unwrap_or(u32::MAX)
    }

    pub(in crate::core) fn replaced(&self) -> u32 {
        self.total.saturating_sub(u32::try_from(self.remaining.len()).unwrap_or(u32::MAX))
    }
}
