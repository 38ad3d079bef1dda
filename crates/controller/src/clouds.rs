//! The clouds: one per (credentials, region), created at its first use and dropped with its last user.
//!
//! Each has its observer, which a task of its own drives, and its lookups. Which implementation of the cloud
//! it is depends on the [`CloudFactory`]; only `run` knows the one that calls AWS.
//!
//! Credentials are identified by their content: a rotated key is another cloud. When the last cluster and
//! pool have switched to the new one, the old one ends, together with every refusal that was remembered for
//! it. So nothing here needs to be invalidated.

use crate::clock::{self, Clock};
use crate::credentials::Credentials;
use crate::labels::Task;
use crate::leader::Leadership;
use crate::metrics::{AwsClocks, Metrics};
use crate::tasks::Tasks;
use async_trait::async_trait;
use foo_cloud::metered::{Accounts, Allowance};
use foo_cloud::observer::Settings;
use foo_cloud::{
    AwsClock, Cloud, ClusterReads, Limits, Lookups, Metered, NetworkReads, NotificationReads, ObjectReads,
    Observer, Observers, Queue, ReservationReads, TargetReads, Watchdog,
};
use foo_model::operation::Priority;
use foo_model::{Agreement, Aws, Comparison, GroupName};
use futures::{Stream, StreamExt};
use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;
use tokio::sync::{OnceCell, mpsc};
use tokio::task::JoinHandle;
use tokio_util::task::AbortOnDropHandle;

/// Capacity of the channel that carries group names from all observers to the pool controller. Each observer
/// keeps its own pending names, each once, until there is room here.
const WAKES_IN_TRANSIT: usize = 64;
/// The pool controller receives a name within this time, unless it is stuck.
const TAKEN_WITHIN: Duration = Duration::from_mins(5);

/// Identifies a cloud: credentials and region.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CloudKey {
    /// The credentials, identified by [`Credentials::name`].
    pub credentials: String,
    /// The AWS region.
    pub region: String,
}

impl CloudKey {
    /// These credentials in that region.
    pub fn of(credentials: &Credentials, region: impl Into<String>) -> Self {
        Self { credentials: credentials.name(), region: region.into() }
    }
}

impl CloudKey {
    /// Whether these are the manager's own credentials.
    pub fn is_managers_own(&self) -> bool {
        self.credentials == crate::credentials::Credentials::default().name()
    }
}

impl fmt::Display for CloudKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.credentials, self.region)
    }
}

/// A group and the cloud that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKey {
    /// The cloud.
    pub cloud: CloudKey,
    /// The group.
    pub group: GroupName,
}

impl GroupKey {
    /// The group in that cloud.
    pub fn of(cloud: &CloudKey, group: &GroupName) -> Self {
        Self { cloud: cloud.clone(), group: group.clone() }
    }
}

/// Something changed about this group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupChanged {
    /// The cloud of the group.
    pub cloud: CloudKey,
    /// The group.
    pub group: GroupName,
}

/// Connects to clouds.
#[async_trait]
pub trait CloudFactory: Send + Sync {
    /// A cloud for these credentials and this region, wrapped in `metering` ([`Metering::around`]). Sends no
    /// call: the first caller finds out whether AWS accepts the credentials.
    async fn connect(
        &self,
        credentials: &Credentials,
        region: &str,
        metering: &Metering,
    ) -> Result<Arc<dyn Cloud>, ConnectError>;

    /// A queue of the manager's own account in that region, wrapped in `metering`
    /// ([`Metering::around_queue`]).
    async fn connect_queue(
        &self,
        queue: &QueueAddress,
        metering: &Metering,
    ) -> Result<Arc<dyn Queue>, ConnectError>;
}

/// Identifies a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueAddress {
    /// Its region.
    pub region: String,
    /// Its URL.
    pub url: String,
}

/// The manager could not connect to a cloud.
#[derive(Debug, thiserror::Error)]
#[error("no connection to AWS with credentials {key}")]
pub struct ConnectError {
    /// Which cloud.
    pub key: CloudKey,
    /// Why.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// Limits and metrics that wrap every cloud.
#[derive(Clone)]
pub struct Metering {
    /// Client-side limits.
    pub limits: Limits,
    /// Where calls are counted.
    pub metrics: foo_cloud::Metrics,
    /// Changes are sent only while this is true.
    pub leadership: Leadership,
    /// The request budget that calls use; a cloud may have its own.
    pub allowance: Option<Arc<Allowance>>,
    /// Where connections note when AWS dated its responses.
    pub clock: AwsClock,
}

impl Metering {
    /// The cloud with limits and metrics.
    pub fn around<C: Cloud + 'static>(&self, cloud: C) -> Arc<dyn Cloud> {
        Arc::new(self.metered(cloud))
    }

    /// The queue with metrics.
    pub fn around_queue<Q: Queue + 'static>(&self, queue: Q) -> Arc<dyn Queue> {
        Arc::new(self.metered(queue))
    }

    fn metered<C>(&self, inner: C) -> Metered<C> {
        let leadership = self.leadership.clone();
        let metered = Metered::new(Arc::new(inner), self.limits, self.metrics.clone());
        let metered = metered.permitted_by(Arc::new(move || leadership.holds()));
        match &self.allowance {
            Some(allowance) => metered.drawing_from(Arc::clone(allowance)),
            None => metered,
        }
    }
}

/// One cloud and what all its users share.
pub struct CloudRegion {
    /// Which cloud.
    pub key: CloudKey,
    /// For changes, and for reads that nothing shares. Limited and measured.
    pub cloud: Arc<dyn Cloud>,
    /// The shared view of all groups.
    pub observer: Arc<Observer>,
    /// Facts that rarely change.
    pub lookups: Lookups,
    /// The shared reads of networks.
    pub networks: NetworkReads,
    /// The shared reads of EKS clusters.
    pub clusters: ClusterReads,
    /// The shared lists of user data in S3.
    pub objects: ObjectReads,
    /// What groups report to topics.
    pub notifications: NotificationReads,
    /// The health of targets.
    pub targets: TargetReads,
    /// Capacity Reservations.
    pub reservations: ReservationReads,
    account: OnceCell<String>,
    caller: OnceCell<String>,
    allowance: Arc<Allowance>,
    clock: AwsClock,
    clocks: AwsClocks,
    _tasks: [AbortOnDropHandle<()>; 3],
}

impl CloudRegion {
    /// How long a call of this priority that starts now would wait because calls that are as urgent or more already wait
    /// for the account's limits.
    pub fn backlog(&self, priority: Priority) -> Duration {
        self.allowance.backlog(priority)
    }

    /// AWS's clock, compared with the manager's by the responses to all calls with these credentials. Logs when the
    /// clocks begin or cease to agree.
    pub fn clock(&self) -> Comparison<Aws> {
        if let Some(news) = self.clock.news() {
            log_difference(&news, &self.key);
        }
        self.clock.found()
    }

    /// The account that all calls go to; asked once, at first need.
    pub async fn account(&self) -> foo_cloud::Result<&str> {
        self.account.get_or_try_init(|| self.cloud.account()).await.map(String::as_str)
    }

    /// ARN of the user or session that all calls are made as; asked once, at first need.
    pub async fn caller(&self) -> foo_cloud::Result<&str> {
        self.caller.get_or_try_init(|| self.cloud.caller()).await.map(String::as_str)
    }
}

/// AWS's clock begins or ceases to agree with the manager's.
fn log_difference(found: &Comparison<Aws>, cloud: &CloudKey) {
    let ahead = found.difference.millis();
    if found.agreement == Agreement::Agree {
        tracing::info!(%cloud, ahead_milliseconds = ahead, "the clocks of the manager and of AWS agree");
    } else {
        let (how_far, direction) = clock::in_words(ahead);
        tracing::error!(
            %cloud,
            ahead_milliseconds = ahead,
            "the manager's clock is {how_far} {direction} AWS's: nothing is deleted or replaced because of the age of what AWS dated until the clocks agree"
        );
    }
}

impl Drop for CloudRegion {
    fn drop(&mut self) {
        self.clocks.forget(&self.clock);
        tracing::info!(cloud = %self.key, "disconnected: no cluster and no pool uses this account and region any more");
    }
}

impl fmt::Debug for CloudRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CloudRegion").field("key", &self.key).finish_non_exhaustive()
    }
}

/// All clouds in use. Their users own them.
pub struct Clouds {
    factory: Arc<dyn CloudFactory>,
    metering: Metering,
    settings: Settings,
    clock: Arc<dyn Clock>,
    accounts: Accounts,
    tasks: Tasks,
    observers: Observers,
    clocks: AwsClocks,
    regions: Mutex<HashMap<CloudKey, Weak<CloudRegion>>>,
    wakes: mpsc::Sender<GroupChanged>,
    woken: Arc<Mutex<mpsc::Receiver<GroupChanged>>>,
}

impl Clouds {
    /// No cloud yet.
    pub fn new(
        factory: Arc<dyn CloudFactory>,
        limits: Limits,
        settings: Settings,
        clock: Arc<dyn Clock>,
        leadership: Leadership,
        metrics: &Metrics,
    ) -> Self {
        let (wakes, woken) = mpsc::channel(WAKES_IN_TRANSIT);
        Self {
            factory,
            metering: Metering {
                limits,
                metrics: metrics.cloud(),
                leadership,
                allowance: None,
                clock: AwsClock::with(Arc::clone(&clock)),
            },
            accounts: Accounts::default(),
            tasks: metrics.tasks().clone(),
            observers: metrics.observers(),
            clocks: metrics.aws_clocks(),
            settings,
            clock,
            regions: Mutex::default(),
            wakes,
            woken: Arc::new(Mutex::new(woken)),
        }
    }

    /// The cloud; connects and starts its observer if it has no user yet. It lasts as long as the returned
    /// value. A failure is not remembered.
    pub async fn get(
        &self,
        credentials: &Credentials,
        region: &str,
    ) -> Result<Arc<CloudRegion>, ConnectError> {
        let key = CloudKey::of(credentials, region);
        if let Some(there) = self.regions().get(&key).and_then(Weak::upgrade) {
            return Ok(there);
        }
        let allowance = Arc::new(Allowance::new(self.metering.limits, self.accounts.clone(), region));
        let clock = AwsClock::with(Arc::clone(&self.clock));
        let metering = Metering {
            allowance: Some(Arc::clone(&allowance)),
            clock: clock.clone(),
            ..self.metering.clone()
        };
        let cloud = self.factory.connect(credentials, region, &metering).await?;
        let mut regions = self.regions();
        // Another task may have been faster; then this connection, which has sent nothing, is dropped.
        if let Some(there) = regions.get(&key).and_then(Weak::upgrade) {
            return Ok(there);
        }
        regions.retain(|_, region| region.strong_count() > 0);
        self.clocks.add(&clock);
        let made = self.observed(key.clone(), cloud, allowance, clock);
        regions.insert(key, Arc::downgrade(&made));
        Ok(made)
    }

    /// How many clouds are in use.
    pub fn in_use(&self) -> usize {
        self.regions().values().filter(|region| region.strong_count() > 0).count()
    }

    /// All clouds that are in use.
    pub fn connected(&self) -> Vec<Arc<CloudRegion>> {
        self.regions().values().filter_map(Weak::upgrade).collect()
    }

    /// The clouds of a region that are in use.
    pub fn connected_in(&self, region: &str) -> Vec<Arc<CloudRegion>> {
        let regions = self.regions();
        let here = regions.iter().filter(|(key, _)| key.region == region);
        here.filter_map(|(_, cloud)| cloud.upgrade()).collect()
    }

    /// Reports a group as changed. If there is no room in the channel, the read that the caller requested
    /// reports it soon.
    pub fn wake(&self, wake: GroupChanged) {
        if let Err(error) = self.wakes.try_send(wake) {
            tracing::debug!(%error, "could not register a group with the observer");
        }
    }

    /// A connection to a queue. Its responses are compared in [`Self::clock_of_queues`].
    pub async fn queue(&self, queue: &QueueAddress) -> Result<Arc<dyn Queue>, ConnectError> {
        self.factory.connect_queue(queue, &self.metering).await
    }

    /// AWS's clock, compared with the manager's by the responses about queues.
    pub fn clock_of_queues(&self) -> Comparison<Aws> {
        self.metering.clock.found()
    }

    /// The changed groups of all clouds. For one consumer at a time.
    pub fn wakes(&self) -> Wakes {
        Wakes(Arc::clone(&self.woken))
    }

    fn observed(
        &self,
        key: CloudKey,
        cloud: Arc<dyn Cloud>,
        allowance: Arc<Allowance>,
        clock: AwsClock,
    ) -> Arc<CloudRegion> {
        let observer = Observer::new(Arc::clone(&cloud), self.settings.clone(), Arc::clone(&self.clock))
            .with_metrics(self.metering.metrics.clone());
        let observer = Arc::new(observer);
        self.observers.asks(&observer);
        for (what, watchdog) in observer.watchdogs() {
            self.tasks.watch(Task::Observer, &format_args!("{what}, {key}"), watchdog);
        }
        let tasks = [self.drive(&observer, &key), self.guard(&observer, &key), self.forward(&observer, &key)];
        tracing::info!(cloud = %key, "connected to AWS");
        Arc::new(CloudRegion {
            key,
            lookups: Lookups::new(Arc::clone(&cloud)),
            networks: NetworkReads::new(Arc::clone(&cloud), Arc::clone(&self.clock)),
            clusters: ClusterReads::new(Arc::clone(&cloud), Arc::clone(&self.clock)),
            objects: ObjectReads::new(Arc::clone(&cloud), Arc::clone(&self.clock)),
            notifications: NotificationReads::new(Arc::clone(&cloud), Arc::clone(&self.clock)),
            targets: TargetReads::new(Arc::clone(&cloud), Arc::clone(&self.clock)),
            reservations: ReservationReads::new(Arc::clone(&cloud), Arc::clone(&self.clock)),
            cloud,
            observer,
            account: OnceCell::new(),
            caller: OnceCell::new(),
            allowance,
            clock,
            clocks: self.clocks.clone(),
            _tasks: tasks.map(AbortOnDropHandle::new),
        })
    }

    /// Without it every pool would wait and nothing would show why.
    fn drive(&self, observer: &Arc<Observer>, key: &CloudKey) -> JoinHandle<()> {
        let (tasks, observer, key) = (self.tasks.clone(), Arc::clone(observer), key.clone());
        tokio::spawn(async move { tasks.keep_up(Task::Observer, &key, || observer.run()).await })
    }

    fn guard(&self, observer: &Arc<Observer>, key: &CloudKey) -> JoinHandle<()> {
        let (tasks, observer, key) = (self.tasks.clone(), Arc::clone(observer), key.clone());
        tokio::spawn(async move { tasks.keep_up(Task::Observer, &key, || observer.guard()).await })
    }

    fn forward(&self, observer: &Arc<Observer>, key: &CloudKey) -> JoinHandle<()> {
        let (tasks, observer, key) = (self.tasks.clone(), Arc::clone(observer), key.clone());
        let (watchdog, to) = (Watchdog::default(), self.wakes.clone());
        tasks.watch(Task::Wakes, &key, &watchdog);
        tokio::spawn(async move {
            let run = || forward(observer.wakes(), &key, &to, &watchdog);
            tasks.keep_up(Task::Wakes, &key, run).await;
        })
    }

    fn regions(&self) -> MutexGuard<'_, HashMap<CloudKey, Weak<CloudRegion>>> {
        self.regions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Clouds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clouds").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Stream of [`GroupChanged`]s of all clouds, including those that are connected later.
#[derive(Debug)]
pub struct Wakes(Arc<Mutex<mpsc::Receiver<GroupChanged>>>);

impl Stream for Wakes {
    type Item = GroupChanged;

    fn poll_next(self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<Option<GroupChanged>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).poll_recv(context)
    }
}

async fn forward(
    mut names: foo_cloud::observer::Wakes,
    cloud: &CloudKey,
    to: &mpsc::Sender<GroupChanged>,
    watchdog: &Watchdog,
) {
    loop {
        watchdog.rests();
        let Some(group) = names.next().await else { return };
        watchdog.expects(TAKEN_WITHIN);
        if to.send(GroupChanged { cloud: cloud.clone(), group }).await.is_err() {
            // The receiver was dropped: the process ends.
            watchdog.rests();
            return std::future::pending().await;
        }
    }
}
