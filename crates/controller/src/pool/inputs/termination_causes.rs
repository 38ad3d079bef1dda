//! Why AWS terminates instances that the provider did not terminate.
//!
//! A health check, an instance refresh that a user started, rebalancing, a user in the console: a waiting
//! instance seems the same in all cases. The group's scaling activities have the cause, which costs a call;
//! it is sent once for all newly waiting instances.

use crate::clouds::CloudRegion;
use crate::pool::gather::Gathered;
use crate::pool::reads::Reads;
use foo_cloud::error::stable_text;
use foo_cloud::observer::Seen;
use foo_model::{Activity, GroupName, InstanceId, LifecycleState};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum of one call (DescribeScalingActivities, MaxRecords).
const ACTIVITIES: u32 = 100;
/// In AWS's text the time comes first, and the cause follows these words.
const BECAUSE: &str = "in response to ";

/// Why AWS terminates waiting instances whose Machines were not deleted, as far as AWS reports it.
pub(in crate::pool) async fn of_waiting(
    region: &CloudRegion,
    group: &GroupName,
    gathered: &Gathered,
    reads: &mut Reads,
) -> BTreeMap<InstanceId, String> {
    let waiting = waiting(region, group);
    reads.termination_causes.retain(|id, _| waiting.contains(id));
    let taken: BTreeSet<InstanceId> =
        taken(&waiting, gathered).filter(|id| !reads.termination_causes.contains_key(id)).collect();
    if !taken.is_empty() {
        let activities = match region.cloud.describe_activities(group, ACTIVITIES).await {
            Ok(activities) => activities,
            Err(error) => {
                tracing::debug!(%group, %error, "could not read the scaling activities for causes of terminations");
                Vec::new()
            }
        };
        reads.termination_causes.extend(taken.into_iter().map(|id| {
            let cause = cause(&activities, &id);
            (id, cause)
        }));
    }
    reads.termination_causes.iter().filter_map(|(id, cause)| Some((id.clone(), cause.clone()?))).collect()
}

/// Instances that wait for their termination.
fn waiting(region: &CloudRegion, group: &GroupName) -> BTreeSet<InstanceId> {
    match region.observer.view(group).map(|view| view.seen) {
        Some(Seen::Present(group)) => group
            .instances
            .iter()
            .filter(|instance| instance.lifecycle == LifecycleState::TerminatingWait)
            .map(|instance| instance.id.clone())
            .collect(),
        Some(Seen::Absent) | None => BTreeSet::new(),
    }
}

/// Those of them whose Machines are not being deleted: the others need no explanation.
fn taken<'a>(
    waiting: &'a BTreeSet<InstanceId>,
    gathered: &'a Gathered,
) -> impl Iterator<Item = InstanceId> + 'a {
    let lives = |name: &str| {
        gathered.machines.iter().any(|machine| {
            machine.metadata.name.as_deref() == Some(name) && machine.metadata.deletion_timestamp.is_none()
        })
    };
    gathered
        .foo_machines
        .iter()
        .filter(move |foo_machine| foo_machine.metadata.name.as_deref().is_some_and(lives))
        .map(|foo_machine| InstanceId::new(foo_machine.spec.instance_id.as_str()))
        .filter(|id| waiting.contains(id))
}

/// The newest termination of this instance (the list is newest first), without the time.
fn cause(activities: &[Activity], id: &InstanceId) -> Option<String> {
    let ends = |activity: &&Activity| {
        activity.description.starts_with("Terminating") && activity.description.contains(id.as_str())
    };
    let cause = activities.iter().find(ends)?.cause.trim().trim_end_matches('.');
    let short = cause.rsplit_once(BECAUSE).map_or(cause, |(_, reason)| reason);
    let short = short.split_once(".  At ").map_or(short, |(first, _)| first);
    (!short.is_empty()).then(|| stable_text(short))
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_model::ActivityStatus;

    fn activity(description: &str, cause: &str) -> Activity {
        Activity {
            id: String::new(),
            status: ActivityStatus::InProgress,
            description: description.to_owned(),
            cause: cause.to_owned(),
            status_message: String::new(),
            started: foo_model::AwsTime::default(),
        }
    }

    #[test]
    fn a_cause_is_reported_without_its_time() {
        let activities = [
            activity(
                "Launching a new EC2 instance: i-2",
                "At 2026-01-01T00:00:00Z an instance was launched.",
            ),
            activity(
                "Terminating EC2 instance: i-1",
                "At 2026-01-01T00:00:00Z an instance was taken out of service in response to an instance refresh.",
            ),
            activity(
                "Terminating EC2 instance: i-3",
                "At 2026-01-01T00:00:00Z a user request.  At 2026-01-01T00:00:01Z an instance was taken out of service \
                 in response to a difference between desired and actual capacity, shrinking the capacity from 2 to 1.  \
                 At 2026-01-01T00:00:02Z instance i-3 was selected for termination.",
            ),
        ];
        let cause_of = |id: &str| cause(&activities, &InstanceId::new(id));
        assert_eq!(cause_of("i-1").as_deref(), Some("an instance refresh"));
        let shrinking =
            "a difference between desired and actual capacity, shrinking the capacity from 2 to 1";
        assert_eq!(cause_of("i-3").as_deref(), Some(shrinking));
        assert_eq!(cause_of("i-2"), None, "launched, not terminated");
    }
}
