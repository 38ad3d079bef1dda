//! Metrics whose values are computed when they are scraped: a component that is stuck would not update a
//! counter.

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

/// How long passes have been under way at the time of the scrape: a pass that hangs is visible before it
/// ends.
#[derive(Debug)]
pub(super) struct LongestPass(pub(super) Underway);

impl Collector for LongestPass {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut descriptor = encoder.encode_descriptor(
            "foo_reconcile_longest_seconds",
            "Duration so far of the longest reconcile in progress; 0 if there is none",
            None,
            MetricType::Gauge,
        )?;
        let longest = self.0.longest();
        for controller in Controller::iter() {
            let lasts = longest.get(&controller).copied().unwrap_or_default();
            let labels = ControllerLabels { controller };
            ConstGauge::new(lasts.as_secs_f64()).encode(descriptor.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

/// How long passes over objects have failed.
#[derive(Debug)]
pub(super) struct FailingPasses(pub(super) Failing);

impl Collector for FailingPasses {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut descriptor = encoder.encode_descriptor(
            "foo_reconcile_failing_oldest_seconds",
            "Longest time since the reconciles of an object began to fail, none of which succeeded; 0 if there is none",
            None,
            MetricType::Gauge,
        )?;
        let longest = self.0.longest();
        for controller in Controller::iter() {
            let lasts = longest.get(&controller).copied().unwrap_or_default();
            let labels = ControllerLabels { controller };
            ConstGauge::new(lasts.as_secs_f64()).encode(descriptor.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

/// How long watches have been silent at the time of the scrape: a dead watch would not update a counter.
#[derive(Debug)]
pub(super) struct Silences(pub(super) Pulses);

impl Collector for Silences {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut descriptor = encoder.encode_descriptor(
            "foo_watch_silence_seconds",
            "Time since the watch of this kind received a complete list, an event or a bookmark; the longest one of several watches",
            None,
            MetricType::Gauge,
        )?;
        for (kind, silence) in self.0.silences() {
            ConstGauge::new(silence.as_secs_f64()).encode(descriptor.encode_family(&KindLabels { kind })?)?;
        }
        Ok(())
    }
}

/// Counts objects and their conditions at the time of the scrape.
#[derive(Debug)]
pub(super) struct Objects(pub(super) Census);

impl Collector for Objects {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let kinds = self.0.kinds();
        let help = "Number of objects that this manager reconciles";
        let mut objects = encoder.encode_descriptor("foo_objects", help, None, MetricType::Gauge)?;
        for (kind, counted) in &kinds {
            let Some(number) = counted.objects else { continue };
            let labels = KindLabels { kind: *kind };
            ConstGauge::new(i64::from(number)).encode(objects.encode_family(&labels)?)?;
        }
        let help = "Number of objects by condition, its status, and who has to act on its reason";
        let mut conditions = encoder.encode_descriptor("foo_conditions", help, None, MetricType::Gauge)?;
        for (labels, group) in groups(&kinds) {
            ConstGauge::new(i64::from(group.objects)).encode(conditions.encode_family(&labels)?)?;
        }
        let help = "Longest time that a condition of an object that is not paused has had this status";
        let mut ages =
            encoder.encode_descriptor("foo_condition_oldest_seconds", help, None, MetricType::Gauge)?;
        for (labels, group) in groups(&kinds) {
            ConstGauge::new(group.oldest.as_secs_f64()).encode(ages.encode_family(&labels)?)?;
        }
        let help = "Longest time since the deletion of an object that still exists; 0 if there is none";
        let mut deleting =
            encoder.encode_descriptor("foo_deletion_oldest_seconds", help, None, MetricType::Gauge)?;
        for (kind, counted) in &kinds {
            let labels = KindLabels { kind: *kind };
            ConstGauge::new(counted.deleting.as_secs_f64()).encode(deleting.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

fn groups(kinds: &BTreeMap<Watched, Kind>) -> impl Iterator<Item = (ConditionLabels, Group)> {
    kinds.iter().flat_map(|(kind, counted)| {
        counted.conditions.iter().map(|(Shown { condition, status, class }, group)| {
            (ConditionLabels { kind: *kind, condition: *condition, status, class: *class }, *group)
        })
    })
}

/// How far the manager's clock is from the API server's and from AWS's.
#[derive(Debug)]
pub(super) struct ClockDifference(pub(super) KubernetesClock, pub(super) AwsClocks);

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

impl Collector for ClockDifference {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut descriptor = encoder.encode_descriptor(
            "foo_clock_difference_seconds",
            "Time by which the manager's clock is ahead of another clock; negative if it is behind, 0 while it is unknown",
            None,
            MetricType::Gauge,
        )?;
        let clocks =
            [(Clock::Kubernetes, self.0.found().difference.millis()), (Clock::Aws, self.1.most_ahead())];
        for (clock, millis) in clocks {
            let ahead = Duration::from_millis(millis.unsigned_abs()).as_secs_f64();
            let ahead = if millis < 0 { -ahead } else { ahead };
            ConstGauge::new(ahead).encode(descriptor.encode_family(&ClockLabels { clock })?)?;
        }
        Ok(())
    }
}

/// Groups without a FooMachinePool.
#[derive(Debug)]
pub(super) struct Unmanaged(pub(super) UnmanagedGroups);

impl Collector for Unmanaged {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        ConstGauge::new(i64::try_from(self.0.confirmed()).unwrap_or(i64::MAX)).encode(encoder.encode_descriptor(
            "foo_groups_unmanaged",
            "Auto Scaling groups with the tags of this management cluster whose FooMachinePool does not exist, as of the last check",
            None,
            MetricType::Gauge,
        )?)
    }
}

/// How overdue tasks are.
#[derive(Debug)]
pub(super) struct OverdueTasks(pub(super) Tasks);

impl Collector for OverdueTasks {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut descriptor = encoder.encode_descriptor(
            "foo_task_overdue_seconds",
            "Time by which the most overdue task of this kind is late",
            None,
            MetricType::Gauge,
        )?;
        let overdue = self.0.overdue();
        for task in Task::iter() {
            let by = overdue.get(&task).copied().unwrap_or_default();
            ConstGauge::new(by.as_secs_f64()).encode(descriptor.encode_family(&TaskLabels { task })?)?;
        }
        Ok(())
    }
}

/// Objects that wait for a pass.
#[derive(Debug)]
pub(super) struct Queues(pub(super) BTreeMap<Controller, Queue>);

impl Collector for Queues {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let waiting: Vec<_> = self
            .0
            .iter()
            .map(|(controller, queue)| (ControllerLabels { controller: *controller }, queue.waiting()))
            .collect();
        let help = "Objects that wait to be reconciled";
        let mut depth =
            encoder.encode_descriptor("foo_reconcile_queue_depth", help, None, MetricType::Gauge)?;
        for (labels, waiting) in &waiting {
            let objects = i64::try_from(waiting.objects).unwrap_or(i64::MAX);
            ConstGauge::new(objects).encode(depth.encode_family(labels)?)?;
        }
        let help = "Longest time that an object has been waiting to be reconciled; 0 if none waits";
        let mut oldest =
            encoder.encode_descriptor("foo_reconcile_queue_oldest_seconds", help, None, MetricType::Gauge)?;
        for (labels, waiting) in &waiting {
            ConstGauge::new(waiting.longest.as_secs_f64()).encode(oldest.encode_family(labels)?)?;
        }
        let help = "How long objects waited to be reconciled";
        let mut waits =
            encoder.encode_descriptor("foo_reconcile_queue_seconds", help, None, MetricType::Histogram)?;
        for (controller, queue) in &self.0 {
            queue.waited.encode(waits.encode_family(&ControllerLabels { controller: *controller })?)?;
        }
        Ok(())
    }
}
