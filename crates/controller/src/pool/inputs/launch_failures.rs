//! Why capacity is missing: AWS's message, read only while a group is short of capacity.
//!
//! A scaling activity has a message and no code, so this is the one place that may recognise a message; the planner
//! gets an enum beside the text (`launch_failure` in `planner/src/input/observed.rs`). A new cause is also a `Reason`
//! with the place `CapacityAvailable`, an arm of `capacity` in `planner/src/summary/conditions.rs` (`Ready` repeats
//! it), a case in the scenario `no-capacity.txt` with its command in `planner/tests/scripts/commands.rs`, the
//! simulator's `core/rules/group/launch.rs`, and a line in docs/troubleshooting.md.

use crate::clouds::CloudRegion;
use crate::pool::reads::{Read, Reads};
use foo_cloud::error::stable_text;
use foo_model::{Activity, ActivityStatus, AwsTime, GroupName, Timestamp};
use std::time::Duration;

/// A launch takes a minute or two; before that there is no failure to read.
const PATIENCE: Duration = Duration::from_mins(1);
/// AWS repeats failed launches after minutes, so its message does not change faster.
const ASK_AGAIN: Duration = Duration::from_mins(3);
/// Enough to find the last failure among successful launches.
const ACTIVITIES: u32 = 20;

/// AWS's message about the last failed launch; `None` unless a shortage lasts.
pub(in crate::pool) async fn last_message(
    region: &CloudRegion,
    group: &GroupName,
    short_since: Option<Timestamp>,
    reads: &mut Reads,
    now: Timestamp,
) -> Option<String> {
    let Some(since) = short_since.filter(|since| since.until(now) >= PATIENCE) else {
        reads.launch_failure = None;
        return None;
    };
    if let Some(known) = &reads.launch_failure
        && known.at.until(now) < ASK_AGAIN
    {
        return known.value.clone();
    }
    if reads.launch_failure.is_none() {
        // A user may have deleted or changed the template; the sweep of all templates comes too late.
        reads.template_changes();
    }
    let words = match region.cloud.describe_activities(group, ACTIVITIES).await {
        Ok(activities) => last_failure(&activities, region.clock().remote(since)),
        Err(error) => {
            tracing::debug!(%group, %error, "could not read the scaling activities for failed launches");
            None
        }
    };
    reads.launch_failure = Some(Read { at: now, value: words.clone() });
    words
}

/// The newest failure since the shortage began (or a moment before: the failure causes the shortage); the
/// list is newest first.
fn last_failure(activities: &[Activity], since: AwsTime) -> Option<String> {
    let recent = |activity: &&Activity| activity.started.until(since) < PATIENCE;
    let failed =
        activities.iter().filter(recent).find(|activity| activity.status == ActivityStatus::Failed)?;
    // Encoded authorization messages have kilobytes and differ between launches.
    Some(stable_text(&failed.status_message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_failure_is_reported() {
        let activity = |status, words: &str, started| Activity {
            id: String::new(),
            status,
            description: String::new(),
            cause: String::new(),
            status_message: words.to_owned(),
            started: AwsTime::from_millis(started),
        };
        let activities = [
            activity(ActivityStatus::InProgress, "", 500_000),
            activity(ActivityStatus::Failed, "no capacity in eu-central-1a", 400_000),
            activity(ActivityStatus::Failed, "older", 0),
        ];
        let since = AwsTime::from_millis(410_000);
        assert_eq!(last_failure(&activities, since).as_deref(), Some("no capacity in eu-central-1a"));
        assert_eq!(last_failure(&activities[2..], since), None, "from before the shortage");
    }
}
