//! Some of the same numbers under the names that controllers built with controller-runtime publish, so that dashboards for
//! those show this manager as well.
//!
//! Nothing is counted here. Where controller-runtime distinguishes more (a host, HTTP statuses) or something else
//! (additions to queues), there is no such label or metric. The provider's own names remain the ones to alert on.

use super::label_sets::{ControllerLabels, PassLabels, RequestLabels};
use crate::labels::{Controller, KubeClient, KubeCode, PassResult, Verb};
use crate::passes::Underway;
use crate::queue::Queue;
use foo_cloud::initialized::Initialized;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use std::collections::BTreeMap;
use std::fmt;
use strum::IntoEnumIterator;

/// Reads the provider's own metrics at each scrape.
#[derive(Debug)]
pub(super) struct StockNames {
    pub(super) passes: Initialized<PassLabels, Counter>,
    pub(super) pass_seconds: Initialized<ControllerLabels, Histogram>,
    pub(super) in_flight: Initialized<ControllerLabels, Gauge>,
    pub(super) requests: Initialized<RequestLabels, Counter>,
    pub(super) underway: Underway,
    pub(super) queues: BTreeMap<Controller, Queue>,
}

/// client-go's labels have the name of a queue; here each controller has one.
type Labels = [(&'static str, &'static str); 2];

fn of_queue(controller: Controller) -> Labels {
    let name = controller.into();
    [("name", name), ("controller", name)]
}

impl Collector for StockNames {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.reconciles(&mut encoder)?;
        self.workqueues(&mut encoder)?;
        self.requests(&mut encoder)
    }
}

impl StockNames {
    fn finished(&self, controller: Controller, results: &[PassResult]) -> u64 {
        let of = |result: &PassResult| self.passes.of(&PassLabels { controller, result: *result }).get();
        results.iter().map(of).sum()
    }

    /// Reconciles that are retried because they failed.
    fn failed(&self, controller: Controller) -> u64 {
        self.finished(controller, &[PassResult::Failed, PassResult::GivenUp])
    }

    fn reconciles(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Finished reconciles: foo_reconciles_total";
        let name = "controller_runtime_reconcile";
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for controller in Controller::iter() {
            let done = [PassResult::Settled, PassResult::Worked, PassResult::Skipped];
            let results = [("success", self.finished(controller, &done)), ("error", self.failed(controller))];
            for (result, count) in results {
                let labels = [("controller", controller.into()), ("result", result)];
                ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
            }
        }
        let help = "Reconciles that failed: foo_reconciles_total";
        let name = "controller_runtime_reconcile_errors";
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for controller in Controller::iter() {
            let labels = ControllerLabels { controller };
            ConstCounter::new(self.failed(controller)).encode(family.encode_family(&labels)?)?;
        }
        let help = "Reconciles in progress: foo_reconciles_in_flight";
        let name = "controller_runtime_active_workers";
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for controller in Controller::iter() {
            let labels = ControllerLabels { controller };
            let workers = self.in_flight.of(&labels).get();
            ConstGauge::new(workers).encode(family.encode_family(&labels)?)?;
        }
        let help = "Duration of reconciles: foo_reconcile_seconds";
        let name = "controller_runtime_reconcile_time_seconds";
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
        for controller in Controller::iter() {
            let labels = ControllerLabels { controller };
            self.pass_seconds.of(&labels).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn workqueues(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Objects that wait to be reconciled: foo_reconcile_queue_depth";
        let mut family = encoder.encode_descriptor("workqueue_depth", help, None, MetricType::Gauge)?;
        for (controller, queue) in &self.queues {
            let depth = i64::try_from(queue.waiting().objects).unwrap_or(i64::MAX);
            ConstGauge::new(depth).encode(family.encode_family(&of_queue(*controller))?)?;
        }
        let help = "How long objects waited: foo_reconcile_queue_seconds";
        let name = "workqueue_queue_duration_seconds";
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
        for (controller, queue) in &self.queues {
            queue.waited.encode(family.encode_family(&of_queue(*controller))?)?;
        }
        let help = "Duration of reconciles: foo_reconcile_seconds";
        let name = "workqueue_work_duration_seconds";
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
        for controller in Controller::iter() {
            let labels = ControllerLabels { controller };
            self.pass_seconds.of(&labels).encode(family.encode_family(&of_queue(controller))?)?;
        }
        let help = "Duration so far of the longest reconcile in progress: foo_reconcile_longest_seconds";
        let name = "workqueue_longest_running_processor_seconds";
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        let longest = self.underway.longest();
        for controller in Controller::iter() {
            let seconds = longest.get(&controller).copied().unwrap_or_default().as_secs_f64();
            ConstGauge::new(seconds).encode(family.encode_family(&of_queue(controller))?)?;
        }
        let help = "Reconciles that are retried: foo_reconciles_total";
        let mut family = encoder.encode_descriptor("workqueue_retries", help, None, MetricType::Counter)?;
        for controller in Controller::iter() {
            let retries = self.failed(controller);
            ConstCounter::new(retries).encode(family.encode_family(&of_queue(controller))?)?;
        }
        Ok(())
    }

    fn requests(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for client in KubeClient::iter() {
            for (verb, code) in Verb::iter().flat_map(|verb| KubeCode::iter().map(move |code| (verb, code))) {
                let count = self.requests.of(&RequestLabels { client, verb, code }).get();
                *counts.entry((status(code), method(verb))).or_default() += count;
            }
        }
        let help = "Requests to API servers: foo_kube_requests_total";
        let mut family =
            encoder.encode_descriptor("rest_client_requests", help, None, MetricType::Counter)?;
        for ((code, method), count) in counts {
            let labels = [("code", code), ("method", method)];
            ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

/// One status for each kind of response.
fn status(code: KubeCode) -> &'static str {
    match code {
        KubeCode::Ok => "200",
        KubeCode::OtherClient => "400",
        KubeCode::Forbidden => "403",
        KubeCode::NotFound => "404",
        KubeCode::Conflict => "409",
        KubeCode::Gone => "410",
        KubeCode::Invalid => "422",
        KubeCode::TooManyRequests => "429",
        KubeCode::Server => "500",
        KubeCode::NoAnswer => "<error>",
    }
}

fn method(verb: Verb) -> &'static str {
    match verb {
        Verb::Get | Verb::List | Verb::Watch => "GET",
        Verb::Create => "POST",
        Verb::Update => "PUT",
        Verb::Patch | Verb::Apply => "PATCH",
        Verb::Delete => "DELETE",
    }
}
