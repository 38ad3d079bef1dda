//! Some of the same numbers under the names that controllers built with controller-runtime publish, so that dashboards for
//! those show this manager as well.
//!
//! Nothing is counted here. Where controller-runtime distinguishes more (a host, HTTP statuses) or something else
//! (additions to queues), there is no such label or metric. The provider's own names remain the ones to alert on.

use super::families::{counters, family, gauges};
use super::label_sets::{ControllerLabels, PassLabels, RequestLabels};
use crate::labels::{Controller, KubeClient, KubeCode, PassResult, Verb};
use crate::passes::Underway;
use crate::queue::Queue;
use foo_cloud::initialized::Initialized;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
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

    fn durations(&self, controller: Controller) -> Histogram {
        self.pass_seconds.of(&ControllerLabels { controller }).clone()
    }

    fn reconciles(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let labelled = |controller| ControllerLabels { controller };
        let done = [PassResult::Settled, PassResult::Worked, PassResult::Skipped];
        let finished = Controller::iter().flat_map(|controller| {
            let results = [("success", self.finished(controller, &done)), ("error", self.failed(controller))];
            results.map(|(result, count)| ([("controller", controller.into()), ("result", result)], count))
        });
        let help = "Finished reconciles: foo_reconciles_total";
        counters(encoder, "controller_runtime_reconcile", help, finished)?;
        let help = "Reconciles that failed: foo_reconciles_total";
        let failed = Controller::iter().map(|it| (labelled(it), self.failed(it)));
        counters(encoder, "controller_runtime_reconcile_errors", help, failed)?;
        let help = "Reconciles in progress: foo_reconciles_in_flight";
        let workers = Controller::iter().map(|it| (labelled(it), self.in_flight.of(&labelled(it)).get()));
        gauges(encoder, "controller_runtime_active_workers", help, workers)?;
        let help = "Duration of reconciles: foo_reconcile_seconds";
        let durations = Controller::iter().map(|it| (labelled(it), self.durations(it)));
        let name = "controller_runtime_reconcile_time_seconds";
        family(encoder, name, help, MetricType::Histogram, durations)
    }

    fn workqueues(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let queues = || self.queues.iter().map(|(controller, queue)| (of_queue(*controller), queue));
        let help = "Objects that wait to be reconciled: foo_reconcile_queue_depth";
        let depths = queues().map(|(of, it)| (of, i64::try_from(it.waiting().objects).unwrap_or(i64::MAX)));
        gauges(encoder, "workqueue_depth", help, depths)?;
        let help = "How long objects waited: foo_reconcile_queue_seconds";
        let waits = queues().map(|(of, queue)| (of, queue.waited.clone()));
        family(encoder, "workqueue_queue_duration_seconds", help, MetricType::Histogram, waits)?;
        let help = "Duration of reconciles: foo_reconcile_seconds";
        let durations = Controller::iter().map(|it| (of_queue(it), self.durations(it)));
        family(encoder, "workqueue_work_duration_seconds", help, MetricType::Histogram, durations)?;
        let help = "Duration so far of the longest reconcile in progress: foo_reconcile_longest_seconds";
        let longest = self.underway.longest();
        let running = Controller::iter()
            .map(|it| (of_queue(it), longest.get(&it).copied().unwrap_or_default().as_secs_f64()));
        gauges(encoder, "workqueue_longest_running_processor_seconds", help, running)?;
        let help = "Reconciles that are retried: foo_reconciles_total";
        let retries = Controller::iter().map(|it| (of_queue(it), self.failed(it)));
        counters(encoder, "workqueue_retries", help, retries)
    }

    fn requests(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for client in KubeClient::iter() {
            for (verb, code) in Verb::iter().flat_map(|verb| KubeCode::iter().map(move |code| (verb, code))) {
                let count = self.requests.of(&RequestLabels { client, verb, code }).get();
                *counts.entry((status(code), method(verb))).or_default() += count;
            }
        }
        let requests =
            counts.into_iter().map(|((code, method), count)| ([("code", code), ("method", method)], count));
        let help = "Requests to API servers: foo_kube_requests_total";
        counters(encoder, "rest_client_requests", help, requests)
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
