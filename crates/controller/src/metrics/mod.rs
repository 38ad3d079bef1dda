//! The metrics that the manager publishes. Every label is an enum of [`crate::labels`], so their number
//! is bounded; names of objects never become labels.
//!
//! The cloud's own numbers (`foo_aws_…`, `foo_observer_…`) are in the same registry: see `foo_cloud::metrics`.
//!
//! A new metric is in this file (counted as things happen), in `collectors` (computed at each scrape) or in
//! `cloud/src/metrics.rs`; `stock_names` repeats some under the names that other controllers use. A family with labels is an `Initialized` of `foo-cloud`,
//! whose members exist from the start. Conditions of all kinds are counted at each scrape (`census`,
//! `Reconciler::conditions`); a new condition is a variant of `ConditionType`. The golden list is
//! `tests/golden/metrics.txt`. An alert is in `deploy/monitoring/prometheus_rule.yaml`, with a case in
//! `tests/suite/alerts/cases.rs`; the page for both is docs/operations/metrics.md.

mod collectors;
mod families;
mod label_sets;
mod process;
mod stock_names;

use crate::census::Census;
use crate::clock::KubernetesClock;
use crate::labels::{
    ActionOutcome, AnnouncementOutcome, Controller, EventKind, EventOutcome, Invariant, KubeClient, KubeCode,
    LaunchOutcome, PassResult, RolloutOutcome, Verb, Watched,
};
use crate::overload::Overload;
use crate::passes::{Failing, PassId, Underway};
use crate::pulses::Pulses;
use crate::queue::Queue;
use crate::tasks::Tasks;
use crate::unmanaged_groups::UnmanagedGroups;
use crate::versions::Versions;
pub(crate) use collectors::AwsClocks;
use foo_cloud::initialized::{Initialized, OnDemand};
use foo_model::Severity;
use foo_planner::action::ActionKind;
use label_sets::{
    ActionLabels, AnnouncementKindLabels, AnnouncementLabels, ClientLabels, ControllerLabels, EventLabels,
    InvariantLabels, KindLabels, LaunchLabels, LeaderLabels, LeaseLabels, PassLabels, RequestLabels,
    RolloutLabels, VerbLabels,
};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use strum::IntoEnumIterator;

type Histograms<Labels> = Initialized<Labels, Histogram>;

/// 15 s … 1 h: a launch takes a minute or two; after ten minutes a MachineHealthCheck usually replaces the Machine. The
/// alerts on objectives need bounds at exactly 600 s (launch), 1800 s (drain) and 2400 s (roll-out per instance).
const LAUNCHES: [f64; 9] = [15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0];
/// 1 s … 6 h: from a Node without pods to the age at which a deletion counts as stuck.
const DRAINS: [f64; 10] = [1.0, 10.0, 30.0, 60.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 21600.0];
/// 1 min … 1 day: from one instance to a large pool.
const ROLLOUTS: [f64; 10] = [60.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0, 14400.0, 28800.0, 57600.0, 86400.0];
/// 5 s … 2 h: from a large pool with much surge to one instance at a time with long drains.
const ROLLOUTS_PER_INSTANCE: [f64; 10] = [5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 2400.0, 7200.0];

/// All metrics of the process. Clones share the same numbers.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Mutex<Registry>>,
    cloud: foo_cloud::Metrics,
    observers: foo_cloud::Observers,
    aws_clocks: AwsClocks,
    unmanaged_groups: UnmanagedGroups,
    counted: Counted,
    underway: Underway,
    failing: Failing,
    pulses: Pulses,
    versions: Versions,
    overload: Overload,
    tasks: Tasks,
    queues: BTreeMap<Controller, Queue>,
    census: Census,
}

foo_cloud::metric_set! {
    /// What is counted when it happens.
    struct Counted {
        passes: Initialized<PassLabels, Counter>, "foo_reconciles", "Finished reconciles of an object";
        // 1 ms … 33 s: from an idle pool to a pass full of cloud calls.
        pass_seconds: Histograms<ControllerLabels> =
            Initialized::with(|| Histogram::new(exponential_buckets(0.001, 2.0, 16))),
            "foo_reconcile_seconds", "Duration of reconciles";
        in_flight: Initialized<ControllerLabels, Gauge>, "foo_reconciles_in_flight", "Reconciles in progress";
        events: Initialized<EventLabels, Counter>,
            "foo_events", "Kubernetes events that the manager published or failed to publish";
        /// A hundred and fifty actions, of which no alert counts one: a member appears with its first action.
        actions: OnDemand<ActionLabels, Counter>,
            "foo_plan_actions", "Actions of plans that the manager executed";
        violations: Initialized<InvariantLabels, Counter>,
            "foo_invariant_violations",
            "Plans that the manager refused because they violate an invariant, and pools that do not settle";
        undecodable: Initialized<KindLabels, Counter>,
            "foo_undecodable_objects", "Objects that the manager skips because it cannot decode them";
        watch_errors: Initialized<KindLabels, Counter>,
            "foo_watch_errors", "Errors of watches of the API server";
        watch_stalls: Initialized<KindLabels, Counter>,
            "foo_watch_stalls",
            "Watches that received nothing for five minutes or fell behind, after which the kind was listed again";
        launch_seconds: Histograms<LaunchLabels> = Initialized::with(|| Histogram::new(LAUNCHES)),
            "foo_launch_seconds",
            "Time from the creation of a Machine until its Node was Ready for the first time, or until its deletion before that";
        drain_seconds: Histogram = Histogram::new(DRAINS),
            "foo_drain_seconds",
            "Time from the deletion of a Machine until Cluster API released its instance: hooks, drain and volumes";
        rollout_seconds: Histograms<RolloutLabels> = Initialized::with(|| Histogram::new(ROLLOUTS)),
            "foo_rollout_seconds", "Duration of roll-outs";
        rollout_instance_seconds: Histograms<RolloutLabels> =
            Initialized::with(|| Histogram::new(ROLLOUTS_PER_INSTANCE)),
            "foo_rollout_instance_seconds",
            "Duration of roll-outs, divided by the number of instances that have the new content at the end";
        announcements: Initialized<AnnouncementLabels, Counter>,
            "foo_announcements", "Messages that the manager received from the SQS queue of AWS events";
        announcements_held: Gauge,
            "foo_announcements_held", "Received messages about AWS events that the manager has not acted on yet";
        // 0.25 s … 68 min: from a description to a recommendation that had to wait.
        announcement_seconds: Histograms<AnnouncementKindLabels> =
            Initialized::with(|| Histogram::new(exponential_buckets(0.25, 2.0, 15))),
            "foo_announcement_seconds",
            "Time from an AWS event to the deletion of its message, if the manager acted on it";
        /// By the name of the Lease, which a flag sets: [`Metrics::leads`] is called before anything is served.
        leader: OnDemand<LeaderLabels, Gauge>, "foo_leader", "Whether this replica is the leader (1 or 0)";
        lease: OnDemand<LeaseLabels, Gauge>,
            "leader_election_master_status", "Whether this replica holds the Lease of this name (1 or 0)";
        leader_transitions: Counter,
            "foo_leader_transitions", "Changes of the leader that this replica has seen";
        requests: Initialized<RequestLabels, Counter>,
            "foo_kube_requests", "Requests to the management cluster's API server";
        request_seconds: Histograms<VerbLabels> =
            Initialized::with(|| Histogram::new(exponential_buckets(0.001, 2.0, 15))),
            "foo_kube_request_seconds",
            "Time until the API server began to respond to a request, without the wait for the client-side rate limit";
        wait_seconds: Histograms<ClientLabels> =
            Initialized::with(|| Histogram::new(exponential_buckets(0.001, 4.0, 8))),
            "foo_kube_wait_seconds", "How long requests to the API server waited for the client-side rate limit";
        writes: Counter, "foo_kube_writes", "Requests of the controllers that create, change or delete objects";
        writes_at_once: Gauge<f64, AtomicU64>,
            "foo_kube_writes_at_once",
            "Maximum of concurrent writes of the controllers at present; it falls while the API server is slow";
        live_reads: Counter,
            "foo_kube_live_reads", "Reads of single objects from the API server instead of the caches";
    }
}

impl Metrics {
    /// All metrics, registered. Once per process.
    pub fn new() -> Self {
        let mut registry = Registry::default();
        let cloud = foo_cloud::Metrics::register(&mut registry);
        let observers = foo_cloud::Observers::register(&mut registry);
        let metrics = Self {
            registry: Arc::default(),
            cloud,
            observers,
            aws_clocks: AwsClocks::default(),
            unmanaged_groups: UnmanagedGroups::default(),
            counted: Counted::register(&mut registry),
            underway: Underway::default(),
            failing: Failing::default(),
            pulses: Pulses::default(),
            versions: Versions::default(),
            overload: Overload::default(),
            tasks: Tasks::register(&mut registry),
            queues: Controller::iter().map(|controller| (controller, Queue::default())).collect(),
            census: Census::default(),
        };
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("foo_build", "Version of the manager", build);
        for collector in [
            collectors::objects(metrics.census.clone()),
            collectors::failing_passes(metrics.failing.clone()),
            collectors::longest_pass(metrics.underway.clone()),
            collectors::silences(metrics.pulses.clone()),
            collectors::overdue_tasks(metrics.tasks.clone()),
            collectors::queues(metrics.queues.clone()),
            collectors::unmanaged(metrics.unmanaged_groups.clone()),
        ] {
            registry.register_collector(collector);
        }
        registry.register_collector(Box::new(process::Process));
        registry.register_collector(Box::new(stock_names::StockNames {
            passes: metrics.counted.passes.clone(),
            pass_seconds: metrics.counted.pass_seconds.clone(),
            in_flight: metrics.counted.in_flight.clone(),
            requests: metrics.counted.requests.clone(),
            underway: metrics.underway.clone(),
            queues: metrics.queues.clone(),
        }));
        *metrics.registry.lock().unwrap_or_else(PoisonError::into_inner) = registry;
        metrics
    }

    /// The differences of the API server's clock and of AWS's, measured at each scrape. Once per process.
    pub fn compares(&self, clock: KubernetesClock) {
        let mut registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        registry.register_collector(collectors::clock_difference(clock, self.aws_clocks.clone()));
    }

    /// AWS's clock as each cloud shows it.
    pub(crate) fn aws_clocks(&self) -> AwsClocks {
        self.aws_clocks.clone()
    }

    /// The groups without a FooMachinePool.
    pub fn unmanaged_groups(&self) -> UnmanagedGroups {
        self.unmanaged_groups.clone()
    }

    /// The metrics of the cloud crate, in the same registry.
    pub fn cloud(&self) -> foo_cloud::Metrics {
        self.cloud.clone()
    }

    /// The metrics of the observers of all clouds.
    pub fn observers(&self) -> foo_cloud::Observers {
        self.observers.clone()
    }

    /// All metrics in the OpenMetrics text format.
    pub fn exposition(&self) -> Result<String, fmt::Error> {
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry)?;
        Ok(text)
    }

    /// A pass starts; set the result on the guard when it ends.
    pub fn pass_starts(&self, controller: Controller) -> PassInFlight {
        self.counted.in_flight.of(&ControllerLabels { controller }).inc();
        PassInFlight {
            metrics: self.clone(),
            controller,
            id: self.underway.begins(controller),
            started: tokio::time::Instant::now(),
            result: None,
        }
    }

    /// The passes under way.
    pub fn underway(&self) -> &Underway {
        &self.underway
    }

    /// The objects whose passes fail.
    pub fn failing(&self) -> &Failing {
        &self.failing
    }

    /// How many passes of a controller had this result so far.
    pub fn passes(&self, controller: Controller, result: PassResult) -> u64 {
        self.counted.passes.of(&PassLabels { controller, result }).get()
    }

    /// An event was published or lost.
    pub fn event(&self, severity: Severity, outcome: EventOutcome) {
        self.counted.events.of(&EventLabels { severity: severity.into(), outcome }).inc();
    }

    /// An action of a plan was executed.
    pub fn action(&self, action: ActionKind, outcome: ActionOutcome) {
        self.counted.actions.get_or_create(&ActionLabels { action: action.name(), outcome }).inc();
    }

    /// A change of a network or of an EKS cluster was sent; its label is AWS's name of the operation.
    pub fn aws_change(&self, operation: &'static str, outcome: ActionOutcome) {
        self.counted.actions.get_or_create(&ActionLabels { action: operation, outcome }).inc();
    }

    /// A Machine's Node became Ready for the first time, or the Machine was deleted before.
    pub fn launched(&self, outcome: LaunchOutcome, took: Duration) {
        self.counted.launch_seconds.of(&LaunchLabels { outcome }).observe(took.as_secs_f64());
    }

    /// Cluster API released the instance of a Machine so long after the Machine's deletion.
    pub fn drained(&self, took: Duration) {
        self.counted.drain_seconds.observe(took.as_secs_f64());
    }

    /// A roll-out ended, with this number of instances that have the new content.
    pub fn rolled_out(&self, outcome: RolloutOutcome, took: Duration, instances: u32) {
        let labels = RolloutLabels { outcome };
        self.counted.rollout_seconds.of(&labels).observe(took.as_secs_f64());
        let each = took.as_secs_f64() / f64::from(instances.max(1));
        self.counted.rollout_instance_seconds.of(&labels).observe(each);
    }

    /// A plan was refused.
    pub fn invariant_violated(&self, invariant: Invariant) {
        self.counted.violations.of(&InvariantLabels { invariant }).inc();
    }

    /// How many plans were refused so far, all invariants together.
    pub fn invariant_violations(&self) -> u64 {
        Invariant::iter()
            .map(|invariant| self.counted.violations.of(&InvariantLabels { invariant }).get())
            .sum()
    }

    /// An object could not be read.
    pub fn undecodable(&self, kind: Watched) {
        self.counted.undecodable.of(&KindLabels { kind }).inc();
    }

    /// A watch failed.
    pub fn watch_failed(&self, kind: Watched) {
        self.counted.watch_errors.of(&KindLabels { kind }).inc();
    }

    /// A watch received nothing for too long, or fell behind.
    pub fn watch_stalled(&self, kind: Watched) {
        self.counted.watch_stalls.of(&KindLabels { kind }).inc();
    }

    /// How many watches of this kind stalled so far.
    pub fn watch_stalls(&self, kind: Watched) -> u64 {
        self.counted.watch_stalls.of(&KindLabels { kind }).get()
    }

    /// How many errors watches of this kind had so far.
    pub fn watch_errors(&self, kind: Watched) -> u64 {
        self.counted.watch_errors.of(&KindLabels { kind }).get()
    }

    /// The newest version that the API server has shown.
    pub(crate) fn versions(&self) -> &Versions {
        &self.versions
    }

    /// When the API server last refused a request because of its load.
    pub(crate) fn overload(&self) -> &Overload {
        &self.overload
    }

    /// When each watch last received something valid.
    pub fn pulses(&self) -> &Pulses {
        &self.pulses
    }

    /// The tasks beside the controllers.
    pub fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// The caches whose objects are counted.
    pub fn census(&self) -> &Census {
        &self.census
    }

    /// The objects of a controller that wait for a pass.
    pub fn queue(&self, controller: Controller) -> Queue {
        self.queues.get(&controller).cloned().unwrap_or_default()
    }

    /// Whether this replica leads; with the name of the Lease if it takes part in an election.
    pub fn leads(&self, lease: Option<&str>, leads: bool) {
        let of = LeaderLabels { lease: lease.unwrap_or_default().to_owned() };
        self.counted.leader.get_or_create(&of).set(i64::from(leads));
        if let Some(name) = lease {
            self.counted.lease.get_or_create(&LeaseLabels { name: name.to_owned() }).set(i64::from(leads));
        }
    }

    /// A counter for the task that sees changes of the Lease's holder.
    pub fn leader_transitions(&self) -> Counter {
        self.counted.leader_transitions.clone()
    }

    /// A message of the queue of events was handled like this.
    pub fn announcement(&self, kind: EventKind, outcome: AnnouncementOutcome) {
        self.counted.announcements.of(&AnnouncementLabels { kind, outcome }).inc();
    }

    /// How many messages of this kind were handled like this so far.
    pub fn announcements(&self, kind: EventKind, outcome: AnnouncementOutcome) -> u64 {
        self.counted.announcements.of(&AnnouncementLabels { kind, outcome }).get()
    }

    /// The number of messages that wait to be acted on.
    pub fn announcements_held(&self, messages: usize) {
        self.counted.announcements_held.set(i64::try_from(messages).unwrap_or(i64::MAX));
    }

    /// A message was acted on this long after its event.
    pub fn announcement_took(&self, kind: EventKind, took: Duration) {
        self.counted.announcement_seconds.of(&AnnouncementKindLabels { kind }).observe(took.as_secs_f64());
    }

    /// A request waited for the client-side limit.
    pub fn kube_waited(&self, client: KubeClient, waited: Duration) {
        self.counted.wait_seconds.of(&ClientLabels { client }).observe(waited.as_secs_f64());
    }

    /// How many writes the controllers may send at the same time.
    pub fn kube_writes_at_once(&self, room: f64) {
        self.counted.writes_at_once.set(room);
    }

    /// A request to the API server ended.
    pub fn kube_request(&self, client: KubeClient, verb: Verb, code: KubeCode, took: Duration) {
        self.counted.requests.of(&RequestLabels { client, verb, code }).inc();
        self.counted.request_seconds.of(&VerbLabels { client, verb }).observe(took.as_secs_f64());
        match (client, verb) {
            (KubeClient::Work, verb) if verb.writes() => {
                self.counted.writes.inc();
            }
            (KubeClient::Work, Verb::Get) => {
                self.counted.live_reads.inc();
            }
            (KubeClient::Work | KubeClient::Lease | KubeClient::Workload | KubeClient::Review, _) => {}
        }
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// A pass under way. If it is dropped without a result (cancelled, panicked) it counts as
/// [`PassResult::Aborted`].
#[derive(Debug)]
pub struct PassInFlight {
    metrics: Metrics,
    controller: Controller,
    id: PassId,
    started: tokio::time::Instant,
    result: Option<PassResult>,
}

impl PassInFlight {
    /// Its id.
    pub fn id(&self) -> PassId {
        self.id
    }

    /// Sets the result of the pass.
    pub fn ends(mut self, result: PassResult) {
        self.result = Some(result);
    }
}

impl Drop for PassInFlight {
    fn drop(&mut self) {
        let controller = self.controller;
        let labels = ControllerLabels { controller };
        self.metrics.underway.ends(self.id);
        self.metrics.counted.in_flight.of(&labels).dec();
        self.metrics.counted.pass_seconds.of(&labels).observe(self.started.elapsed().as_secs_f64());
        let result = self.result.unwrap_or(PassResult::Aborted);
        self.metrics.counted.passes.of(&PassLabels { controller, result }).inc();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_planner::Action;
    use foo_planner::action::PoolAction;

    /// Dashboards and alerts depend on these names; `UPDATE_GOLDEN=1` rewrites the list. Nothing has happened yet: what
    /// an alert counts is there nevertheless. The exceptions name themselves here.
    #[test]
    fn the_names_are_as_documented() {
        let metrics = Metrics::new();
        metrics.compares(KubernetesClock::with(Arc::new(foo_cloud::SystemClock::start())));
        metrics.action(Action::from(PoolAction::AddFinalizer).kind(), ActionOutcome::Done);
        metrics.leads(Some("lease"), true);
        let _pulse = metrics.pulses().of(Watched::Machine);
        let text = metrics.exposition().unwrap();
        let mut names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# HELP ")).collect();
        names.sort_unstable();
        let names = format!("{}\n", names.join("\n"));
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/metrics.txt");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(path, &names).unwrap();
        }
        assert_eq!(names, std::fs::read_to_string(path).unwrap_or_default());
    }

    #[test]
    fn stock_names_have_the_same_numbers() {
        let metrics = Metrics::new();
        metrics.pass_starts(Controller::Pool).ends(PassResult::Settled);
        metrics.pass_starts(Controller::Pool).ends(PassResult::Worked);
        metrics.pass_starts(Controller::Pool).ends(PassResult::Failed);
        let _in_progress = metrics.pass_starts(Controller::Eks);
        for code in [KubeCode::Ok, KubeCode::Conflict, KubeCode::NoAnswer] {
            metrics.kube_request(KubeClient::Work, Verb::Apply, code, Duration::from_millis(1));
        }
        metrics.kube_request(KubeClient::Work, Verb::Patch, KubeCode::Ok, Duration::from_millis(1));
        let text = metrics.exposition().unwrap();
        for line in [
            r#"controller_runtime_reconcile_total{controller="pool",result="success"} 2"#,
            r#"controller_runtime_reconcile_total{controller="pool",result="error"} 1"#,
            r#"controller_runtime_reconcile_errors_total{controller="pool"} 1"#,
            r#"controller_runtime_active_workers{controller="eks"} 1"#,
            r#"controller_runtime_reconcile_time_seconds_count{controller="pool"} 3"#,
            r#"workqueue_depth{name="pool",controller="pool"} 0"#,
            r#"workqueue_queue_duration_seconds_count{name="pool",controller="pool"} 0"#,
            r#"workqueue_work_duration_seconds_count{name="pool",controller="pool"} 3"#,
            r#"workqueue_longest_running_processor_seconds{name="pool",controller="pool"} 0.0"#,
            r#"workqueue_retries_total{name="pool",controller="pool"} 1"#,
            r#"rest_client_requests_total{code="200",method="PATCH"} 2"#,
            r#"rest_client_requests_total{code="409",method="PATCH"} 1"#,
            r#"rest_client_requests_total{code="<error>",method="PATCH"} 1"#,
        ] {
            assert!(text.lines().any(|it| it == line), "{line} is missing in\n{text}");
        }
    }
}
