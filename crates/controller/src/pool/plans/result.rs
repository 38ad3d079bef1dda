//! From a forecast to the status of a FooPlan.

use crate::plans::whole_seconds;
use foo_api::plan::{
    GivenDurations, NAMED_MACHINES, Outcome, PlannedAction, PlannedChange, PlannedDeletion, PoolPlan, Range,
    RemainingCondition, SettingInAws, UsedDurations,
};
use foo_model::{Machine, NodeState, Reason, count};
use foo_planner::Observed;
use foo_planner::forecast::{self, End, Forecast};
use foo_planner::report::Condition;
use std::time::Duration;

/// Assumed where the pool has no Machine that shows it.
const LAUNCH: Duration = Duration::from_mins(3);
/// Assumed: Cluster API's objects do not show how long earlier drains took.
const DRAIN: Duration = Duration::from_mins(1);
/// EC2 reports an instance as terminated after about this time.
const TERMINATION: Duration = Duration::from_mins(1);
/// A Node that became Ready later had been Ready before.
const LONGEST_LAUNCH: Duration = Duration::from_hours(1);

/// On which durations a forecast is based.
pub(super) struct Durations {
    launch: Duration,
    measured: usize,
    drain: Duration,
}

impl Durations {
    /// Those that the user gave; else of a launch the median of the pool's Machines; else assumptions.
    pub(super) fn of(given: GivenDurations, observed: &Observed) -> Self {
        let seconds = |seconds: i32| Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
        let mut launches: Vec<Duration> = observed.machines.iter().filter_map(launch_of).collect();
        launches.sort();
        let median = launches.get(launches.len() / 2).copied();
        Self {
            launch: given.launch_seconds.map(seconds).or(median).unwrap_or(LAUNCH),
            measured: if given.launch_seconds.is_some() { 0 } else { launches.len() },
            drain: given.drain_seconds.map_or(DRAIN, seconds),
        }
    }

    pub(super) fn for_forecast(&self) -> forecast::Durations {
        forecast::Durations { launch: self.launch, drain: self.drain, termination: TERMINATION }
    }

    fn shown(&self) -> UsedDurations {
        UsedDurations {
            launch_seconds: whole_seconds(self.launch),
            measured_launches: i64::try_from(self.measured).unwrap_or(i64::MAX),
            drain_seconds: whole_seconds(self.drain),
        }
    }
}

/// How long a Machine took to get a Ready Node.
fn launch_of(machine: &Machine) -> Option<Duration> {
    let since = machine.node_since.filter(|_| machine.node == NodeState::Ready)?;
    Some(machine.created.until(since))
        .filter(|launch| (Duration::from_secs(1)..LONGEST_LAUNCH).contains(launch))
}

/// What there is now.
#[derive(Clone, Copy)]
pub(super) struct Present {
    ready: u32,
    instances: u32,
}

impl Present {
    pub(super) fn of(observed: &Observed) -> Self {
        let ready = |machine: &&Machine| machine.node == NodeState::Ready && !machine.deletion.is_deleting();
        let members =
            observed.group.seen().and_then(Option::as_ref).into_iter().flat_map(|group| &group.instances);
        Self {
            ready: count(observed.machines.iter().filter(ready)),
            instances: count(members.filter(|member| member.lifecycle.is_capacity())),
        }
    }
}

/// The status of a FooPlan about a pool. The first are the differences between the specs, and from what AWS has.
pub(super) fn result(
    name: &str,
    (changes, settings): (Vec<PlannedChange>, Vec<SettingInAws>),
    forecast: &Forecast,
    present: Present,
    durations: &Durations,
    assumed: &[&str],
) -> PoolPlan {
    let deletions = forecast.deletions.iter().take(NAMED_MACHINES).map(|deletion| PlannedDeletion {
        machine: deletion.machine.to_string(),
        instance_id: deletion.instance.as_ref().map(ToString::to_string),
        after_seconds: whole_seconds(deletion.after),
        why: deletion.why.clone(),
    });
    let actions = forecast
        .actions
        .iter()
        .filter(|(kind, _)| !kind.is_read())
        .map(|(kind, times)| PlannedAction { name: kind.name().to_owned(), times: i64::from(*times) });
    PoolPlan {
        name: name.to_owned(),
        notes: notes(&changes, forecast, assumed),
        changes,
        settings,
        deletions: deletions.collect(),
        deletion_count: i64::try_from(forecast.deletions.len()).unwrap_or(i64::MAX),
        launches: i64::from(forecast.launches),
        ready: Range { now: i64::from(present.ready), extreme: i64::from(forecast.least_ready) },
        instances: Range { now: i64::from(present.instances), extreme: i64::from(forecast.most_instances) },
        actions: actions.collect(),
        aws_calls: i64::from(forecast.aws_calls),
        seconds: whole_seconds(forecast.takes),
        durations: durations.shown(),
        outcome: match forecast.end {
            End::Settled => Outcome::Settled,
            End::Waiting => Outcome::Waiting,
            End::Unfinished => Outcome::Unfinished,
        },
        remaining: remaining(forecast),
    }
}

/// The conditions that are not as they should be at the end.
fn remaining(forecast: &Forecast) -> Vec<RemainingCondition> {
    forecast
        .remaining()
        .map(|condition| RemainingCondition {
            kind: <&'static str>::from(condition.kind).to_owned(),
            reason: condition.reason.into(),
            message: condition.message.clone(),
        })
        .collect()
}

fn notes(changes: &[PlannedChange], forecast: &Forecast, assumed: &[&str]) -> Vec<String> {
    let mut notes: Vec<String> = assumed.iter().map(|&it| it.to_owned()).collect();
    if changes.iter().any(|change| change.field == "kubernetesVersion" && change.from.is_some()) {
        notes.push(
            "the bootstrap provider may write other user data for the new Kubernetes version".to_owned(),
        );
    }
    let waits = |condition: &Condition| condition.reason == Reason::WaitingForBootstrapData;
    if forecast.remaining().any(waits) {
        notes.push(
            "launches are planned only once the bootstrap provider has written the user data".to_owned(),
        );
    }
    notes
}
