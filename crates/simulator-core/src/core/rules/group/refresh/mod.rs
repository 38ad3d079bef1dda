//! Instance refresh: replaces the members of a group step by step, with checkpoints, a bake time and a rollback (Auto
//! Scaling User Guide, "Use an instance refresh to update instances in an Auto Scaling group").

mod calls;
mod steps;

use crate::core::error::{AwsError, AwsResult};
use crate::core::group::model::{Group, LaunchSource};
use crate::core::group::policies::HealthyRange;
use std::time::Duration;

pub use crate::core::group::model::refresh::{
    Preferences, PreferencesSpec, Refresh, RefreshStatus, Rollback, Treatment,
};

/// How many refreshes of a group are kept; AWS shows those of the last six weeks.
const KEPT: usize = 100;
/// CheckpointDelay if none is given (API Reference, RefreshPreferences).
const CHECKPOINT_DELAY: Duration = Duration::from_hours(1);
/// MinHealthyPercentage and MaxHealthyPercentage if neither the preferences nor the group set them (API Reference,
/// RefreshPreferences).
const DEFAULT_RANGE: HealthyRange = HealthyRange { min: 90, max: 100 };

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
