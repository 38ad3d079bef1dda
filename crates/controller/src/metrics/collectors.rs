//! Metrics whose values are computed when they are scraped: a component that is stuck would not update a
//! counter.

use super::families::{family, gauges};
use super::label_sets::{ClockLabels, ConditionLabels, ControllerLabels, KindLabels};
use crate::census::{Census, Group, Kind, Shown};
use crate::clock::KubernetesClock;
use crate::labels::{Clock, Controller, Task, TaskLabels, Watched};
use crate::passes::{Failing, Underway};
use crate::pulses::Pulses;
use crate::queue::Queue;
use crate::tasks::Tasks;
use crate::unmanaged_groups::UnmanagedGroups;
use foo_cloud::AwsClock;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use strum::IntoEnumIterator;

/// What a scrape computes.
struct AtScrape<F>(F);

impl<F> fmt::Debug for AtScrape<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtScrape").finish_non_exhaustive()
    }
}

impl<F: Fn(DescriptorEncoder<'_>) -> fmt::Result + Send + Sync + 'static> Collector for AtScrape<F> {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        (self.0)(encoder)
    }
}

fn at_scrape(
    compute: impl Fn(DescriptorEncoder<'_>) -> fmt::Result + Send + Sync + 'static,
) -> Box<dyn Collector> {
    Box::new(AtScrape(compute))
}

/// One member for each controller; 0 s for one that is not listed.
fn by_controller(times: &BTreeMap<Controller, Duration>) -> impl Iterator<Item = (ControllerLabels, f64)> {
    let of = |controller: Controller| times.get(&controller).copied().unwrap_or_default().as_secs_f64();
    Controller::iter().map(move |controller| (ControllerLabels { controller }, of(controller)))
}

/// How long passes have been under way at the time of the scrape: a pass that hangs is visible before it
/// ends.
pub(super) fn longest_pass(underway: Underway) -> Box<dyn Collector> {
    let help = "Duration so far of the longest reconcile in progress; 0 if there is none";
    at_scrape(move |mut encoder| {
        gauges(&mut encoder, "foo_reconcile_longest_seconds", help, by_controller(&underway.longest()))
    })
}

/// How long passes over objects have failed.
pub(super) fn failing_passes(failing: Failing) -> Box<dyn Collector> {
    let help = "Longest time since the reconciles of an object began to fail, none of which succeeded; 0 if there is none";
    at_scrape(move |mut encoder| {
        gauges(&mut encoder, "foo_reconcile_failing_oldest_seconds", help, by_controller(&failing.longest()))
    })
}

/// How long watches have been silent at the time of the scrape: a dead watch would not update a counter.
pub(super) fn silences(pulses: Pulses) -> Box<dyn Collector> {
    let help = "Time since the watch of this kind received a complete list, an event or a bookmark; the longest one of several watches";
    at_scrape(move |mut encoder| {
        let silences = pulses.silences().into_iter();
        let members = silences.map(|(kind, silence)| (KindLabels { kind }, silence.as_secs_f64()));
        gauges(&mut encoder, "foo_watch_silence_seconds", help, members)
    })
}

/// Counts objects and their conditions at the time of the scrape.
pub(super) fn objects(census: Census) -> Box<dyn Collector> {
    at_scrape(move |mut encoder| {
        let kinds = census.kinds();
        let of_kind = |kind: &Watched| KindLabels { kind: *kind };
        let help = "Number of objects that this manager reconciles";
        let numbers = kinds.iter().filter_map(|(kind, it)| Some((of_kind(kind), i64::from(it.objects?))));
        gauges(&mut encoder, "foo_objects", help, numbers)?;
        let help = "Number of objects by condition, its status, and who has to act on its reason";
        let numbers = groups(&kinds).map(|(labels, group)| (labels, i64::from(group.objects)));
        gauges(&mut encoder, "foo_conditions", help, numbers)?;
        let help = "Longest time that a condition of an object that is not paused has had this status";
        let ages = groups(&kinds).map(|(labels, group)| (labels, group.oldest.as_secs_f64()));
        gauges(&mut encoder, "foo_condition_oldest_seconds", help, ages)?;
        let help = "Longest time since the deletion of an object that still exists; 0 if there is none";
        let ages = kinds.iter().map(|(kind, counted)| (of_kind(kind), counted.deleting.as_secs_f64()));
        gauges(&mut encoder, "foo_deletion_oldest_seconds", help, ages)
    })
}

fn groups(kinds: &BTreeMap<Watched, Kind>) -> impl Iterator<Item = (ConditionLabels, Group)> {
    kinds.iter().flat_map(|(kind, counted)| {
        counted.conditions.iter().map(|(Shown { condition, status, class }, group)| {
            (ConditionLabels { kind: *kind, condition: *condition, status, class: *class }, *group)
        })
    })
}

/// AWS's clock as each connected cloud shows it. Clones share the list.
#[derive(Clone, Debug, Default)]
pub(crate) struct AwsClocks(Arc<Mutex<Vec<AwsClock>>>);

impl AwsClocks {
    /// That of a cloud that was just connected.
    pub(crate) fn add(&self, clock: &AwsClock) {
        self.lock().push(clock.clone());
    }

    /// That of a cloud that nothing uses any more.
    pub(crate) fn forget(&self, clock: &AwsClock) {
        self.lock().retain(|known| !known.is(clock));
    }

    /// Milliseconds by which the manager's clock is ahead of the one that differs most.
    fn most_ahead(&self) -> i64 {
        let ahead = self.lock().iter().map(|clock| clock.found().difference.millis()).collect::<Vec<_>>();
        ahead.into_iter().max_by_key(|ahead| ahead.unsigned_abs()).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<AwsClock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How far the manager's clock is from the API server's and from AWS's.
pub(super) fn clock_difference(kubernetes: KubernetesClock, aws: AwsClocks) -> Box<dyn Collector> {
    let help = "Time by which the manager's clock is ahead of another clock; negative if it is behind, 0 while it is unknown";
    at_scrape(move |mut encoder| {
        let clocks =
            [(Clock::Kubernetes, kubernetes.found().difference.millis()), (Clock::Aws, aws.most_ahead())];
        let members = clocks.into_iter().map(|(clock, millis)| {
            let ahead = Duration::from_millis(millis.unsigned_abs()).as_secs_f64();
            (ClockLabels { clock }, if millis < 0 { -ahead } else { ahead })
        });
        gauges(&mut encoder, "foo_clock_difference_seconds", help, members)
    })
}

/// Groups without a FooMachinePool.
pub(super) fn unmanaged(groups: UnmanagedGroups) -> Box<dyn Collector> {
    let help = "Auto Scaling groups with the tags of this management cluster whose FooMachinePool does not exist, as of the last check";
    at_scrape(move |mut encoder| {
        let gauge = encoder.encode_descriptor("foo_groups_unmanaged", help, None, MetricType::Gauge)?;
        ConstGauge::new(i64::try_from(groups.confirmed()).unwrap_or(i64::MAX)).encode(gauge)
    })
}

/// How overdue tasks are.
pub(super) fn overdue_tasks(tasks: Tasks) -> Box<dyn Collector> {
    let help = "Time by which the most overdue task of this kind is late";
    at_scrape(move |mut encoder| {
        let overdue = tasks.overdue();
        let by = |task: Task| overdue.get(&task).copied().unwrap_or_default().as_secs_f64();
        let members = Task::iter().map(|task| (TaskLabels { task }, by(task)));
        gauges(&mut encoder, "foo_task_overdue_seconds", help, members)
    })
}

/// Objects that wait for a pass.
pub(super) fn queues(queues: BTreeMap<Controller, Queue>) -> Box<dyn Collector> {
    at_scrape(move |mut encoder| {
        let waiting = queues.iter().map(|(controller, queue)| (*controller, queue.waiting()));
        let waiting: Vec<_> = waiting.collect();
        let depths = waiting.iter().map(|(controller, waiting)| {
            let objects = i64::try_from(waiting.objects).unwrap_or(i64::MAX);
            (ControllerLabels { controller: *controller }, objects)
        });
        gauges(&mut encoder, "foo_reconcile_queue_depth", "Objects that wait to be reconciled", depths)?;
        let help = "Longest time that an object has been waiting to be reconciled; 0 if none waits";
        let longest: BTreeMap<_, _> =
            waiting.iter().map(|(controller, waiting)| (*controller, waiting.longest)).collect();
        gauges(&mut encoder, "foo_reconcile_queue_oldest_seconds", help, by_controller(&longest))?;
        let help = "How long objects waited to be reconciled";
        let waits = queues.iter().map(|(controller, queue)| {
            let labels = ControllerLabels { controller: *controller };
            (labels, queue.waited.clone())
        });
        family(&mut encoder, "foo_reconcile_queue_seconds", help, MetricType::Histogram, waits)
    })
}
