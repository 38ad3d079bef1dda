//! The metrics that the manager publishes. Every label is an enum of [`crate::labels`], so their number
//! is bounded; names of objects never become labels.
//!
//! | metric | labels | meaning |
//! |---|---|---|
//! | `foo_reconciles_total` | controller, result | finished passes over an object |
//! | `foo_reconcile_seconds` | controller | how long a pass took |
//! | `foo_reconciles_in_flight` | controller | passes under way |
//! | `foo_reconcile_longest_seconds` | controller | how long the oldest pass has been under way |
//! | `foo_reconcile_failing_oldest_seconds` | controller | for how long all passes over an object have failed |
//! | `foo_events_total` | severity, outcome | Kubernetes events |
//! | `foo_plan_actions_total` | action, outcome | executed actions of plans |
//! | `foo_objects` | kind | objects that are reconciled |
//! | `foo_conditions`, `foo_condition_oldest_seconds` | kind, condition, status, class | their conditions: how many objects, and the longest time |
//! | `foo_deletion_oldest_seconds` | kind | how long ago the first one was deleted that is still there; also of Machines of our pools |
//! | `foo_invariant_violations_total` | invariant | plans that were refused because they would have violated an invariant; pools whose passes do not come to rest (I10) |
//! | `foo_undecodable_objects_total` | kind | objects that were skipped because they could not be decoded |
//! | `foo_watch_errors_total` | kind | failures of watches |
//! | `foo_watch_silence_seconds` | kind | how long the most silent watch of this kind has received nothing valid |
//! | `foo_task_restarts_total` | task | tasks beside the controllers that were started again |
//! | `foo_task_overdue_seconds` | task | how overdue the most overdue task is |
//! | `foo_leader` | lease | 1 in the replica that leads |
//! | `leader_election_master_status` | name | the same by the name of the Lease, as in client-go |
//! | `foo_leader_transitions_total` | | changes of the Lease's holder |
//! | `foo_reconcile_queue_depth`, `…_queue_oldest_seconds`, `…_queue_seconds` | controller | objects that wait for a pass |
//! | `foo_clock_difference_seconds` | clock | how far the manager's clock is ahead of another one |
//! | `foo_build_info` | version | the version of the binary |
//! | `process_…` | | what the kernel reports about this process |
//! | `foo_announcements_total` | kind, outcome | messages of the queue of events |
//! | `foo_announcements_held` | | messages that wait to be acted on |
//! | `foo_announcement_seconds` | kind | from an event to the deletion of its message, when it was acted on |
//! | `foo_kube_requests_total` | client, verb, code | requests to the API server |
//! | `foo_kube_request_seconds` | client, verb | time to the first byte of their answers, without the wait for the limit |
//! | `foo_kube_wait_seconds` | client | how long requests waited for the client-side limit |
//! | `foo_kube_writes_at_once` | | how many writes the controllers send at the same time at most, by how fast the API server answers |
//! | `foo_kube_writes_total` | | requests of the controllers that change something |
//! | `foo_kube_live_reads_total` | | GETs of single objects by the controllers, past the caches |
//!
//! The cloud's own numbers (`foo_aws_…`, `foo_observer_…`) are in the same registry: see `foo_cloud::metrics`.
//!
//! A new metric is in this file or in `cloud/src/metrics.rs`. A family with labels is an `Initialized` of `foo-cloud`,
//! whose members exist from the start. Conditions of all kinds are counted at each scrape (`census`,
//! `Reconciler::conditions`); a new condition is a variant of `ConditionType`. The golden list is
//! `tests/golden/metrics.txt`. An alert is in `deploy/monitoring/prometheus_rule.yaml`, with a case in
//! `tests/suite/alerts/cases.rs`; the page for both is docs/operations/metrics.md.

mod collectors;
mod label_sets;
mod process;

use crate::census::Census;
use crate::clock::KubernetesClock;
use crate::labels::{
    ActionOutcome, AnnouncementOutcome, Controller, EventKind, EventOutcome, Invariant, KubeClient, KubeCode,
    PassResult, Verb, Watched,
};
use crate::passes::{Failing, PassId, Underway};
use crate::pulses::Pulses;
use crate::queue::Queue;
use crate::tasks::Tasks;
use crate::unmanaged_groups::UnmanagedGroups;
pub(crate) use collectors::AwsClocks;
use collectors::{
    ClockDifference, FailingPasses, LongestPass, Objects, OverdueTasks, Queues, Silences, Unmanaged,
};
use foo_cloud::initialized::{Initialized, OnDemand};
use foo_model::Severity;
use foo_planner::action::ActionKind;
use label_sets::{
    ActionLabels, AnnouncementKindLabels, AnnouncementLabels, ClientLabels, ControllerLabels, EventLabels,
    InvariantLabels, KindLabels, LeaderLabels, LeaseLabels, PassLabels, RequestLabels, VerbLabels,
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

/// All metrics of the process. Clones share the same numbers.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Mutex<Registry>>,
    cloud: foo_cloud::Metrics,
    observers: foo_cloud::Observers,
    aws_clocks: AwsClocks,
    unmanaged_groups: UnmanagedGroups,
    passes: Initialized<PassLabels, Counter>,
    pass_seconds: Histograms<ControllerLabels>,
    underway: Underway,
    failing: Failing,
    in_flight: Initialized<ControllerLabels, Gauge>,
    events: Initialized<EventLabels, Counter>,
    /// A hundred and fifty actions, of which no alert counts one: a member appears with its first action.
    actions: OnDemand<ActionLabels, Counter>,
    violations: Initialized<InvariantLabels, Counter>,
    undecodable: Initialized<KindLabels, Counter>,
    watch_errors: Initialized<KindLabels, Counter>,
    pulses: Pulses,
    tasks: Tasks,
    queues: BTreeMap<Controller, Queue>,
    census: Census,
    /// By the name of the Lease, which a flag sets: [`Metrics::leads`] is called before anything is served.
    leader: OnDemand<LeaderLabels, Gauge>,
    lease: OnDemand<LeaseLabels, Gauge>,
    leader_transitions: Counter,
    announcements: Initialized<AnnouncementLabels, Counter>,
    announcements_held: Gauge,
    announcement_seconds: Histograms<AnnouncementKindLabels>,
    requests: Initialized<RequestLabels, Counter>,
    request_seconds: Histograms<VerbLabels>,
    wait_seconds: Histograms<ClientLabels>,
    writes: Counter,
    writes_at_once: Gauge<f64, AtomicU64>,
    live_reads: Counter,
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
            passes: Initialized::new(),
            // 1 ms … 33 s: from a pool at rest to a pass full of cloud calls.
            pass_seconds: Initialized::with(|| Histogram::new(exponential_buckets(0.001, 2.0, 16))),
            underway: Underway::default(),
            failing: Failing::default(),
            in_flight: Initialized::new(),
            events: Initialized::new(),
            actions: OnDemand::default(),
            violations: Initialized::new(),
            undecodable: Initialized::new(),
            watch_errors: Initialized::new(),
            pulses: Pulses::default(),
            tasks: Tasks::default(),
            queues: Controller::iter().map(|controller| (controller, Queue::default())).collect(),
            census: Census::default(),
            leader: OnDemand::default(),
            lease: OnDemand::default(),
            leader_transitions: Counter::default(),
            announcements: Initialized::new(),
            announcements_held: Gauge::default(),
            // 0.25 s … 68 min: from a description to a recommendation that had to wait.
            announcement_seconds: Initialized::with(|| Histogram::new(exponential_buckets(0.25, 2.0, 15))),
            requests: Initialized::new(),
            request_seconds: Initialized::with(|| Histogram::new(exponential_buckets(0.001, 2.0, 15))),
            wait_seconds: Initialized::with(|| Histogram::new(exponential_buckets(0.001, 4.0, 8))),
            writes: Counter::default(),
            writes_at_once: Gauge::default(),
            live_reads: Counter::default(),
        };
        metrics.register(&mut registry);
        registry.register_collector(Box::new(Objects(metrics.census.clone())));
        registry.register_collector(Box::new(FailingPasses(metrics.failing.clone())));
        registry.register_collector(Box::new(LongestPass(metrics.underway.clone())));
        registry.register_collector(Box::new(Silences(metrics.pulses.clone())));
        registry.register_collector(Box::new(OverdueTasks(metrics.tasks.clone())));
        registry.register_collector(Box::new(Queues(metrics.queues.clone())));
        registry.register_collector(Box::new(Unmanaged(metrics.unmanaged_groups.clone())));
        registry.register_collector(Box::new(process::Process));
        *metrics.registry.lock().unwrap_or_else(PoisonError::into_inner) = registry;
        metrics
    }

    fn register(&self, registry: &mut Registry) {
        self.register_work(registry);
        self.register_announcements(registry);
        self.register_leadership(registry);
        self.register_requests(registry);
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("foo_build", "Version of the manager", build);
    }

    /// Metrics of controllers and tasks.
    fn register_work(&self, registry: &mut Registry) {
        self.passes.register(registry, "foo_reconciles", "Finished reconciles of an object");
        self.pass_seconds.register(registry, "foo_reconcile_seconds", "Duration of reconciles");
        self.in_flight.register(registry, "foo_reconciles_in_flight", "Reconciles in progress");
        self.events.register(
            registry,
            "foo_events",
            "Kubernetes events that the manager published or failed to publish",
        );
        registry.register(
            "foo_plan_actions",
            "Actions of plans that the manager executed",
            self.actions.clone(),
        );
        self.violations.register(
            registry,
            "foo_invariant_violations",
            "Plans that the manager refused because they violate an invariant, and pools that do not settle",
        );
        self.undecodable.register(
            registry,
            "foo_undecodable_objects",
            "Objects that the manager skips because it cannot decode them",
        );
        self.tasks.restarts.register(
            registry,
            "foo_task_restarts",
            "Tasks that the manager restarted because they ended or took too long",
        );
        self.watch_errors.register(registry, "foo_watch_errors", "Errors of watches of the API server");
    }

    /// Metrics of the queue of AWS events.
    fn register_announcements(&self, registry: &mut Registry) {
        self.announcements.register(
            registry,
            "foo_announcements",
            "Messages that the manager received from the SQS queue of AWS events",
        );
        registry.register(
            "foo_announcements_held",
            "Received messages about AWS events that the manager has not acted on yet",
            self.announcements_held.clone(),
        );
        self.announcement_seconds.register(
            registry,
            "foo_announcement_seconds",
            "Time from an AWS event to the deletion of its message, if the manager acted on it",
        );
    }

    fn register_leadership(&self, registry: &mut Registry) {
        registry.register("foo_leader", "Whether this replica is the leader (1 or 0)", self.leader.clone());
        registry.register(
            "leader_election_master_status",
            "Whether this replica holds the Lease of this name (1 or 0)",
            self.lease.clone(),
        );
        registry.register(
            "foo_leader_transitions",
            "Changes of the leader that this replica has seen",
            self.leader_transitions.clone(),
        );
    }

    /// Metrics of requests to the management cluster's API server.
    fn register_requests(&self, registry: &mut Registry) {
        self.requests.register(
            registry,
            "foo_kube_requests",
            "Requests to the management cluster's API server",
        );
        self.request_seconds.register(registry, "foo_kube_request_seconds", "Time until the API server began to answer a request, without the wait for the client-side rate limit");
        self.wait_seconds.register(
            registry,
            "foo_kube_wait_seconds",
            "How long requests to the API server waited for the client-side rate limit",
        );
        registry.register(
            "foo_kube_writes",
            "Requests of the controllers that create, change or delete objects",
            self.writes.clone(),
        );
        registry.register(
            "foo_kube_writes_at_once",
            "Maximum of concurrent writes of the controllers at present; it falls while the API server is slow",
            self.writes_at_once.clone(),
        );
        registry.register(
            "foo_kube_live_reads",
            "Reads of single objects from the API server instead of the caches",
            self.live_reads.clone(),
        );
    }

    /// The differences of the API server's clock and of AWS's, measured at each scrape. Once per process.
    pub fn compares(&self, clock: KubernetesClock) {
        let mut registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        registry.register_collector(Box::new(ClockDifference(clock, self.aws_clocks.clone())));
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
        self.in_flight.of(&ControllerLabels { controller }).inc();
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
        self.passes.of(&PassLabels { controller, result }).get()
    }

    /// An event was published or lost.
    pub fn event(&self, severity: Severity, outcome: EventOutcome) {
        self.events.of(&EventLabels { severity: severity.into(), outcome }).inc();
    }

    /// An action of a plan was executed.
    pub fn action(&self, action: ActionKind, outcome: ActionOutcome) {
        self.actions.get_or_create(&ActionLabels { action: action.name(), outcome }).inc();
    }

    /// A change of a network or of an EKS cluster was sent; its label is AWS's name of the operation.
    pub fn aws_change(&self, operation: &'static str, outcome: ActionOutcome) {
        self.actions.get_or_create(&ActionLabels { action: operation, outcome }).inc();
    }

    /// A plan was refused.
    pub fn invariant_violated(&self, invariant: Invariant) {
        self.violations.of(&InvariantLabels { invariant }).inc();
    }

    /// How many plans were refused so far, all invariants together.
    pub fn invariant_violations(&self) -> u64 {
        Invariant::iter().map(|invariant| self.violations.of(&InvariantLabels { invariant }).get()).sum()
    }

    /// An object could not be read.
    pub fn undecodable(&self, kind: Watched) {
        self.undecodable.of(&KindLabels { kind }).inc();
    }

    /// A watch failed.
    pub fn watch_failed(&self, kind: Watched) {
        self.watch_errors.of(&KindLabels { kind }).inc();
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
        self.leader.get_or_create(&of).set(i64::from(leads));
        if let Some(name) = lease {
            self.lease.get_or_create(&LeaseLabels { name: name.to_owned() }).set(i64::from(leads));
        }
    }

    /// A counter for the task that sees changes of the Lease's holder.
    pub fn leader_transitions(&self) -> Counter {
        self.leader_transitions.clone()
    }

    /// A message of the queue of events was handled like this.
    pub fn announcement(&self, kind: EventKind, outcome: AnnouncementOutcome) {
        self.announcements.of(&AnnouncementLabels { kind, outcome }).inc();
    }

    /// How many messages of this kind were handled like this so far.
    pub fn announcements(&self, kind: EventKind, outcome: AnnouncementOutcome) -> u64 {
        self.announcements.of(&AnnouncementLabels { kind, outcome }).get()
    }

    /// The number of messages that wait to be acted on.
    pub fn announcements_held(&self, messages: usize) {
        self.announcements_held.set(i64::try_from(messages).unwrap_or(i64::MAX));
    }

    /// A message was acted on this long after its event.
    pub fn announcement_took(&self, kind: EventKind, took: Duration) {
        self.announcement_seconds.of(&AnnouncementKindLabels { kind }).observe(took.as_secs_f64());
    }

    /// A request waited for the client-side limit.
    pub fn kube_waited(&self, client: KubeClient, waited: Duration) {
        self.wait_seconds.of(&ClientLabels { client }).observe(waited.as_secs_f64());
    }

    /// How many writes the controllers may send at the same time.
    pub fn kube_writes_at_once(&self, room: f64) {
        self.writes_at_once.set(room);
    }

    /// A request to the API server ended.
    pub fn kube_request(&self, client: KubeClient, verb: Verb, code: KubeCode, took: Duration) {
        self.requests.of(&RequestLabels { client, verb, code }).inc();
        self.request_seconds.of(&VerbLabels { client, verb }).observe(took.as_secs_f64());
        match (client, verb) {
            (KubeClient::Work, verb) if verb.writes() => {
                self.writes.inc();
            }
            (KubeClient::Work, Verb::Get) => {
                self.live_reads.inc();
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
        self.metrics.in_flight.of(&labels).dec();
        self.metrics.pass_seconds.of(&labels).observe(self.started.elapsed().as_secs_f64());
        let result = self.result.unwrap_or(PassResult::Aborted);
        self.metrics.passes.of(&PassLabels { controller, result }).inc();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_planner::Action;
    use foo_planner::action::PoolAction;

    /// Dashboards and alerts depend on these names; `UPDATE_GOLDEN=1` rewrites the list. Nothing has happened yet: what an
    /// alert counts is there nevertheless. The exceptions name themselves here.
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
}
