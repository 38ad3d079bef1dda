//! How low the desired replicas have been, and for how long: both limit an unmarked scale-in.
//!
//! A lowered target may be raised again a moment later: cluster-autoscaler cancels more than it requested
//! when AWS has no capacity. So this is no history; for each size it holds since when the desired replicas
//! have not been higher. It starts from zero when lost: then the desired replicas count as just lowered.

use foo_model::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// A target that is lowered in more steps than this within the window is remembered in less detail, and
/// delays the scale-in longer.
const STEPS: usize = 32;

/// Since when the desired replicas have not been higher than these sizes. The lowest size is the present one;
/// a lower size has a later time.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecentTargets(BTreeMap<u32, Timestamp>);

impl RecentTargets {
    /// Records the present desired replicas. Of the sizes that are older than `window` only the lowest is
    /// kept.
    pub(crate) fn record(&mut self, target: u32, now: Timestamp, window: Duration) {
        let since = self.0.range(..=target).next_back().map_or(now, |(_, since)| *since);
        self.0 = self.0.split_off(&target);
        self.0.insert(target, since);
        if let Some(steady) = self.steady(now, window) {
            self.0.retain(|size, _| *size <= steady);
        }
        while self.0.len() > STEPS {
            let next = self.0.keys().nth(1).copied();
            next.and_then(|next| self.0.remove(&next));
        }
    }

    /// The lowest size that the desired replicas have not exceeded for `window`; `None` if that is unknown.
    pub(crate) fn steady(&self, now: Timestamp, window: Duration) -> Option<u32> {
        self.0.iter().find(|(_, since)| since.plus(window) <= now).map(|(size, _)| *size)
    }

    /// When the first and the last of the smaller sizes will have lasted for the window.
    pub(crate) fn steps(
        &self,
        below: u32,
        now: Timestamp,
        window: Duration,
    ) -> Option<(Timestamp, Timestamp)> {
        let mut steps =
            self.0.range(..below).map(|(_, since)| since.plus(window)).filter(|until| *until > now);
        let last = steps.next()?;
        Some((steps.next_back().unwrap_or(last), last))
    }

    /// The sizes, without times.
    pub fn sizes(&self) -> Vec<u32> {
        self.0.keys().copied().collect()
    }

    /// All times, for tests that let time pass.
    pub fn times_mut(&mut self) -> impl Iterator<Item = &mut Timestamp> {
        self.0.values_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_mins(35);

    fn minute(minute: i64) -> Timestamp {
        Timestamp(minute * 60_000)
    }

    fn heard(targets: &[(i64, u32)]) -> RecentTargets {
        let mut memory = RecentTargets::default();
        for (at, target) in targets {
            memory.record(*target, minute(*at), WINDOW);
        }
        memory
    }

    #[test]
    fn a_lowered_target_is_steady_when_it_has_lasted() {
        let targets = heard(&[(0, 8), (40, 0)]);
        assert_eq!(targets.steady(minute(40), WINDOW), Some(8));
        assert_eq!(targets.steady(minute(74), WINDOW), Some(8));
        assert_eq!(targets.steady(minute(75), WINDOW), Some(0));
        assert_eq!(targets.steps(4, minute(41), WINDOW), Some((minute(75), minute(75))));
    }

    #[test]
    fn each_step_down_has_a_time_of_its_own() {
        let targets = heard(&[(0, 8), (40, 5), (60, 2)]);
        assert_eq!(targets.steady(minute(75), WINDOW), Some(5));
        assert_eq!(targets.steady(minute(95), WINDOW), Some(2));
        assert_eq!(targets.steps(8, minute(60), WINDOW), Some((minute(75), minute(95))));
        assert_eq!(targets.steps(5, minute(60), WINDOW), Some((minute(95), minute(95))));
    }

    #[test]
    fn a_target_that_rises_again_has_been_no_higher_since_it_was_lowered_below() {
        let targets = heard(&[(0, 8), (40, 0), (45, 4)]);
        assert_eq!(targets.sizes(), [4, 8]);
        assert_eq!(targets.steady(minute(75), WINDOW), Some(4), "never above four since minute 40");
        assert_eq!(heard(&[(0, 8), (40, 0), (45, 8)]).steady(minute(200), WINDOW), Some(8));
    }

    #[test]
    fn what_is_lost_starts_again() {
        let targets = heard(&[(40, 0)]);
        assert_eq!(targets.steady(minute(74), WINDOW), None);
        assert_eq!(targets.steady(minute(75), WINDOW), Some(0));
    }

    #[test]
    fn it_stays_small_and_errs_on_the_side_of_keeping() {
        let steps: Vec<(i64, u32)> = (0..200).map(|step| (0, 1_000 - step)).collect();
        let mut targets = heard(&steps);
        assert_eq!(targets.sizes().len(), STEPS);
        targets.record(100, minute(10), WINDOW);
        assert!(targets.steady(minute(36), WINDOW).is_some_and(|size| size >= 801));
        targets.record(100, minute(60), WINDOW);
        assert_eq!(targets.sizes(), [100]);
    }
}
