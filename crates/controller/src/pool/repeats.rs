//! Actions without effect are repeated with back-off: an action that is planned again for the very same
//! observation has changed nothing visible, and costs a call each time. [`crate::pool::idle_check::digest`]
//! distinguishes observations.

use foo_model::Timestamp;
use foo_planner::Action;
use foo_planner::action::HookAction;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// Reads trail writes: this many repetitions have no pause.
const FREE: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// The actions on a pool for the last observation.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    view: u64,
    done: HashMap<u64, (u32, Timestamp)>,
}

impl Repeats {
    /// A pass begins with this observation.
    pub(super) fn sees(&mut self, view: u64) {
        if self.view != view {
            *self = Self { view, done: HashMap::new() };
        }
    }

    /// How long an action has to wait because it had no effect before.
    pub(super) fn pause(&self, action: &Action, now: Timestamp) -> Option<Duration> {
        let (times, last) = *self.done.get(&key(action)).filter(|_| writes(action))?;
        let doublings = times.checked_sub(FREE)?.min(10);
        let pause = FIRST_PAUSE.saturating_mul(1 << doublings).min(LONGEST_PAUSE);
        let left = pause.saturating_sub(last.until(now));
        (!left.is_zero()).then_some(left)
    }

    /// An action was carried out.
    pub(super) fn did(&mut self, action: &Action, now: Timestamp) {
        let (times, _) = self.done.get(&key(action)).copied().unwrap_or_default();
        self.done.insert(key(action), (times.saturating_add(1), now));
    }
}

/// Reads and heartbeats have their own pace.
fn writes(action: &Action) -> bool {
    match action {
        Action::Read(_) | Action::Hook(HookAction::RecordHeartbeat { .. }) => false,
        Action::Hook(
            HookAction::PutLifecycleHook { .. }
            | HookAction::DeleteLifecycleHook { .. }
            | HookAction::PutOtherHook { .. }
            | HookAction::DeleteOtherHook { .. }
            | HookAction::CompleteLifecycleAction { .. },
        )
        | Action::Pool(_)
        | Action::Object(_)
        | Action::Template(_)
        | Action::Group(_)
        | Action::Instance(_)
        | Action::Machine(_)
        | Action::Node(_) => true,
    }
}

fn key(action: &Action) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{action:?}").hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_planner::action::{GroupAction, ReadAction};
    use std::collections::BTreeMap;

    fn tag(value: &str) -> Action {
        Action::Group(GroupAction::TagGroup {
            name: "g".into(),
            tags: BTreeMap::from([("k".to_owned(), value.to_owned())]),
        })
    }

    /// How often an action is carried out in an hour in which it is planned every two seconds.
    fn done_in_an_hour(view: impl Fn(u64) -> u64, action: &Action) -> u32 {
        let mut repeats = Repeats::default();
        let mut done = 0;
        for second in (0..3_600).step_by(2) {
            let now = Timestamp::default().plus(Duration::from_secs(second));
            repeats.sees(view(second));
            if repeats.pause(action, now).is_none() {
                repeats.did(action, now);
                done += 1;
            }
        }
        done
    }

    #[test]
    fn actions_without_effect_back_off() {
        let times = done_in_an_hour(|_| 7, &tag("v"));
        assert!((10..25).contains(&times), "{times}");
    }

    #[test]
    fn actions_on_news_and_reads_are_never_delayed() {
        assert_eq!(done_in_an_hour(|second| second, &tag("v")), 1_800);
        assert_eq!(done_in_an_hour(|_| 7, &Action::Read(ReadAction::DescribeLaunchTemplate)), 1_800);
        let mut repeats = Repeats::default();
        for _ in 0..9 {
            repeats.did(&tag("v"), Timestamp(0));
        }
        assert_eq!(repeats.pause(&tag("w"), Timestamp(0)), None, "another action");
    }
}
