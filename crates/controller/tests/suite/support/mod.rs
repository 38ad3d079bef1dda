//! The world of a test: an API server, Cluster API core, AWS and our manager, all in this process and on one clock.
//!
//! * this file: the world and its time;
//! * [`manager`]: our controllers, started, killed and started again;
//! * [`pool`]: one pool, as its user and its tests see it;
//! * [`objects`]: the objects a user writes;
//! * [`another_user`]: what another user creates in AWS.

mod another_user;
mod audit;
mod manager;
pub(crate) mod objects;
mod pool;
mod time;
mod workload;

pub(crate) use pool::Pool;

use audit::Audit;
use foo_apiserver_fake::{DrainTime, FakeApiServer, FakeCore, NodeState, Object, Requests};
use foo_model::InstanceId;
use foo_simulator_core::core::catalogue::Boot;
use foo_simulator_core::{DEFAULT_REGION, RegionHandle, Simulator, SimulatorConfig};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::events::v1::Event;
use manager::{Accounts, Flags, Manager};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;
use time::Time;
use tokio::time::{Instant, sleep};

/// Namespace of everything.
pub(crate) const NS: &str = "default";
/// Id of the management cluster: the uid of its namespace kube-system.
pub(crate) const INSTALLATION: &str = "5ba1e1d0-0000-4000-8000-000000000001";
/// Name of the cluster.
pub(crate) const CLUSTER: &str = "c";
/// Our manager's name in the API server's log.
pub(crate) const MANAGER: &str = "manager";
/// Nothing was written for this long: longer than a launch, a retry of the autoscaler's stabilisation, a sweep.
const QUIET: Duration = Duration::from_secs(90);
/// Nothing in these tests takes longer than this.
const PATIENCE: Duration = Duration::from_mins(30);

/// Everything there is.
pub(crate) struct World {
    pub(crate) server: FakeApiServer,
    pub(crate) core: FakeCore,
    pub(crate) aws: Simulator,
    pub(crate) region: RegionHandle,
    time: Time,
    manager: Option<Manager>,
    audit: Audit,
    flags: Flags,
}

impl World {
    /// A cluster that is ready for pools, and our manager at work.
    pub(crate) async fn new() -> Self {
        let world = Self::empty();
        world.has(&objects::cluster());
        world.has(&objects::foo_cluster());
        world.settles().await;
        world
    }

    /// No object at all but what every cluster has, and our manager at work.
    pub(crate) fn empty() -> Self {
        let aws = Simulator::new(SimulatorConfig::stepped());
        let time = Time::of(&aws);
        Self::on(aws, time, INSTALLATION)
    }

    /// Another management cluster before the same AWS, with a manager of its own. Time passes for both, whichever
    /// waits.
    pub(crate) fn beside(&self, installation: &str) -> Self {
        Self::on(self.aws.clone(), self.time.clone(), installation)
    }

    /// The same management cluster, whose etcd was restored to before the Cluster existed. Its objects get uids that
    /// none had before.
    pub(crate) fn restored(&self) -> Self {
        self.rebuilt(INSTALLATION)
    }

    /// A management cluster of which nothing was left, so that it has another id. Its objects get uids that none had
    /// before.
    pub(crate) fn rebuilt(&self, installation: &str) -> Self {
        let rebuilt = self.beside(installation);
        for number in 0..200 {
            let spec = serde_json::json!({ "controller": {} });
            let name = format!("of-others-{number}");
            rebuilt.has(&objects::identity(&name, spec));
            rebuilt.server.delete::<foo_api::FooClusterIdentity>("", &name).unwrap();
        }
        rebuilt
    }

    fn on(aws: Simulator, time: Time, installation: &str) -> Self {
        let region = aws.region(DEFAULT_REGION);
        let clock = time.clone();
        let server = FakeApiServer::with_clock(move || clock.kubernetes());
        let (clock, cloud) = (time.clone(), region.clone());
        let core = FakeCore::builder(server.client_as("core"))
            .clock(move || clock.kubernetes())
            .nodes(move |provider_id| node_of(&cloud, provider_id))
            .start();
        let mut world = Self {
            audit: Audit::default(),
            flags: Flags::default(),
            manager: None,
            server,
            core,
            aws,
            region,
            time,
        };
        world.has(&objects::kube_system());
        let uid = |namespace: &mut Value| namespace["metadata"]["uid"] = installation.into();
        world.server.corrupt::<Namespace>("", "kube-system", uid).unwrap();
        world.starts_the_manager();
        world
    }

    /// Our manager starts.
    pub(crate) fn starts_the_manager(&mut self) {
        self.starts_the_manager_with(&Accounts::from(&self.aws));
    }

    /// Our manager starts with credentials of another account, whose simulator this is.
    pub(crate) fn starts_the_manager_with_credentials_of(&mut self, aws: &Simulator) {
        self.starts_the_manager_with(&Accounts::from(aws));
    }

    /// Our manager starts, and this key belongs to another account, whose simulator this is.
    pub(crate) fn starts_the_manager_with_key_of(&mut self, key: &str, aws: &Simulator) {
        let of_callers = [(key.to_owned(), aws.clone())].into();
        self.starts_the_manager_with(&Accounts { of_callers, ..Accounts::from(&self.aws) });
    }

    /// The test causes managers to count this many violations of invariants.
    pub(crate) fn provokes(&mut self, violations: u64) {
        self.audit.provoked = violations;
    }

    /// Our manager starts again on a machine whose clock is ahead by that many minutes.
    pub(crate) fn restarts_the_manager_with_clock_ahead(&mut self, minutes: i64) {
        self.kills_the_manager();
        self.flags.clock.starts(minutes * 60_000);
        self.starts_the_manager();
    }

    /// The clock of our manager's machine is set this many minutes ahead of the true one.
    pub(crate) fn sets_the_managers_clock_ahead(&self, minutes: i64) {
        self.flags.clock.moves_to(minutes * 60_000);
    }

    /// AWS's clock, or those of everything else, are set: AWS's is this many minutes further ahead than before, or
    /// behind. Our manager starts again.
    pub(crate) fn sets_the_clock_of_aws_ahead(&mut self, minutes: i64) {
        self.kills_the_manager();
        let by = Duration::from_mins(minutes.unsigned_abs());
        if minutes < 0 {
            self.time.leaves_aws_behind(by);
        } else {
            self.aws.step(by);
        }
        self.starts_the_manager();
    }

    /// AWS's clock is set forward while our manager runs.
    pub(crate) fn sets_the_clock_of_aws_forward(&self, minutes: u64) {
        self.aws.step(Duration::from_mins(minutes));
    }

    /// Our manager starts again with `--watch-filter`.
    pub(crate) fn restarts_the_manager_for(&mut self, watch_filter: &str) {
        self.kills_the_manager();
        self.flags.watch_filter = Some(watch_filter.to_owned());
        self.starts_the_manager();
    }

    /// Our manager starts again without the controller of EKS clusters: only the test writes what these report.
    pub(crate) fn restarts_the_manager_without_eks(&mut self) {
        self.kills_the_manager();
        self.flags.without_eks = true;
        self.starts_the_manager();
    }

    /// Our manager starts again with `--require-identity`.
    pub(crate) fn restarts_the_manager_requiring_identities(&mut self) {
        self.kills_the_manager();
        self.flags.require_identity = true;
        self.starts_the_manager();
    }

    /// Our manager starts again with `--namespace`.
    pub(crate) fn restarts_the_manager_in(&mut self, namespace: &str) {
        self.kills_the_manager();
        self.flags.namespace = Some(namespace.to_owned());
        self.starts_the_manager();
    }

    /// What credentials of another account see.
    pub(crate) fn another_account(&self) -> Simulator {
        Simulator::new(SimulatorConfig {
            account: "999999999999".to_owned(),
            start: self.aws.now(),
            ..SimulatorConfig::stepped()
        })
    }

    fn starts_the_manager_with(&mut self, accounts: &Accounts) {
        self.manager = Some(Manager::start(&self.server, accounts, self.time.clone(), &self.flags));
    }

    /// What a controller of our manager is given, for one that a test runs by itself.
    pub(crate) fn context(&self) -> foo_controller::Context {
        manager::context(&self.server, &Accounts::from(&self.aws), self.time.clone(), &self.flags)
    }

    /// The manager is killed in the middle of whatever it does.
    pub(crate) fn kills_the_manager(&mut self) {
        if let Some(manager) = self.manager.take() {
            self.audit.violations += manager.metrics().invariant_violations();
        }
    }

    /// The manager is asked to shut down, and does.
    pub(crate) async fn stops_the_manager(&mut self) {
        if let Some(manager) = self.manager.take() {
            self.audit.violations += manager.metrics().invariant_violations();
            manager.stop().await;
        }
    }

    /// A user writes this object.
    pub(crate) fn has<K: Object>(&self, object: &K) {
        self.server.create(object).unwrap();
    }

    /// A pool of that name.
    pub(crate) fn pool<'w>(&'w self, name: &str) -> Pool<'w> {
        Pool::new(self, name)
    }

    /// So much time passes.
    pub(crate) async fn waits(&self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            sleep(Duration::from_millis(100).min(end - Instant::now())).await;
            self.time.catch_up();
            self.audit.check(&self.region, &self.core);
        }
    }

    /// So much time passes, in steps of seconds: for hours in which hardly anything happens.
    pub(crate) async fn waits_long(&self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            sleep(Duration::from_secs(2).min(end - Instant::now())).await;
            self.time.catch_up();
        }
    }

    /// Waits until this is so.
    pub(crate) async fn until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < PATIENCE, "not in {PATIENCE:?}: {what}\n{}", self.summary());
            self.waits(Duration::from_millis(100)).await;
        }
    }

    /// Waits until nothing is being drained and nothing has been written, in Kubernetes or in AWS, for a while.
    pub(crate) async fn settles(&self) {
        let began = Instant::now();
        let (mut seen, mut since) = (self.everything_written(), began);
        while since.elapsed() < QUIET {
            assert!(began.elapsed() < PATIENCE, "it does not settle\n{}", self.summary());
            self.waits(Duration::from_secs(1)).await;
            let now = self.everything_written();
            if now != seen || !self.core.draining().is_empty() {
                (seen, since) = (now, Instant::now());
            }
        }
    }

    fn everything_written(&self) -> (u64, u64) {
        (self.server.resource_version(), self.aws_writes())
    }

    /// Calls of AWS that change something, by whomever.
    pub(crate) fn aws_writes(&self) -> u64 {
        let reads =
            |action: &str| ["Describe", "Get", "List", "Receive"].iter().any(|read| action.starts_with(read));
        let counts = self.aws.call_counts();
        counts.iter().filter(|((_, action), _)| !reads(action)).map(|(_, count)| count.calls).sum()
    }

    /// For so long others read of EC2 what the limits allow, and each call waits for ten seconds.
    pub(crate) fn uses_up_calls_for(&self, time: Duration) {
        if let Some(manager) = &self.manager {
            manager.uses_up_calls_for(time);
        }
    }

    /// What our manager asked of the API server since the last [`World::forgets`].
    pub(crate) fn requests(&self) -> Requests {
        self.server.requests().client(MANAGER)
    }

    /// Counts of requests and calls start again.
    pub(crate) fn forgets(&self) {
        self.server.reset_counts();
        self.aws.reset_calls();
    }

    /// Reasons of all events on the object of that name.
    pub(crate) fn events_on(&self, name: &str) -> Vec<String> {
        let events = self.server.objects::<Event>();
        let on = |event: &Event| event.regarding.as_ref().is_some_and(|on| on.name.as_deref() == Some(name));
        events.into_iter().filter(on).filter_map(|event| event.reason).collect()
    }

    /// What was reported that reason.
    pub(crate) fn notes(&self, reason: &str) -> Vec<String> {
        let of = |event: &Event| event.reason.as_deref() == Some(reason);
        self.server.objects::<Event>().into_iter().filter(of).filter_map(|event| event.note).collect()
    }

    /// Our manager starts again, and reads this queue.
    pub(crate) fn restarts_the_manager_with_queue(&mut self, url: &str) {
        self.kills_the_manager();
        self.flags.queue = Some(url.to_owned());
        self.starts_the_manager();
    }

    /// Our manager's numbers.
    pub(crate) fn metrics(&self) -> &foo_controller::metrics::Metrics {
        self.manager.as_ref().expect("it runs").metrics()
    }

    /// What our manager still waits for.
    pub(crate) fn missing(&self) -> Vec<String> {
        self.manager.as_ref().expect("it runs").readiness().missing()
    }

    /// Credentials with which our manager is connected to AWS.
    pub(crate) fn clouds(&self) -> Vec<String> {
        self.manager.as_ref().expect("it runs").clouds()
    }

    /// Who has called AWS since the last [`World::forgets`]: access key ids, ARNs of roles, or [`MANAGER`].
    pub(crate) fn callers(&self) -> BTreeSet<String> {
        self.aws.call_counts_by_caller().into_keys().map(|(caller, _, _)| caller).collect()
    }

    /// A user terminates an instance in EC2.
    pub(crate) fn kills_instance(&self, id: &InstanceId) {
        self.audit.excuse(id);
        self.region.kill_instance(id).unwrap();
    }

    /// This instance is terminated with pods on it, which cannot be prevented.
    pub(crate) fn excuses(&self, id: &InstanceId) {
        self.audit.excuse(id);
    }

    /// Drains take this long from now on.
    pub(crate) fn drains_take(&self, time: Duration) {
        self.core.set_drain_time(DrainTime::Takes(time));
    }

    /// Everything, for developers who read why a test failed.
    pub(crate) fn summary(&self) -> String {
        let pools = self.server.objects::<foo_api::FooMachinePool>();
        let conditions: Vec<String> = pools
            .iter()
            .flat_map(|pool| pool.status.iter().flat_map(|status| &status.conditions))
            .map(|c| format!("{}={} {} {}", c.type_, c.status, c.reason, c.message))
            .collect();
        let groups: Vec<String> = self
            .region
            .groups()
            .iter()
            .map(|group| format!("{} {:?} {} members", group.name, group.sizes, group.members.len()))
            .collect();
        let calls: Vec<String> = self
            .aws
            .recent_calls()
            .iter()
            .rev()
            .take(10)
            .map(|call| format!("{} {} {}", call.at.0, call.action, call.outcome))
            .collect();
        format!("{conditions:#?}\n{groups:?}\n{calls:#?}\ncore: {:?}", self.core.errors())
    }
}

/// What the workload cluster reports: a Node for each instance that runs.
fn node_of(region: &RegionHandle, provider_id: &str) -> NodeState {
    let id = InstanceId::new(provider_id.rsplit('/').next().unwrap_or_default());
    let runs = region.in_service_instances().into_iter().find(|instance| instance.id == id);
    match runs {
        Some(instance) if instance.boots == Boot::Succeeds => NodeState::Ready,
        _ => NodeState::Absent,
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.kills_the_manager();
        self.audit.verdict(&self.core);
    }
}
