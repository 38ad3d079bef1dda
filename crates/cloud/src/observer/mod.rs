//! One observer per (credentials, region), shared by all pools.
//!
//! It describes all watched groups in as few calls as possible, keeps the newest observation of each, and
//! reports the groups with news. An idle pool costs it no call of its own: one page carries up to 100
//! groups, and a page that must be sent anyway is filled with the groups that would be due next.
//!
//! It changes nothing in AWS and decides nothing. A view is never wrong, only old: each has the time *before*
//! its call was sent, and a caller that changes a group reports that ([`Observer::invalidate`]) and compares.
//!
//! * `index`: what is watched, what was observed, what is due when (plain data, time is a parameter);
//! * `details`, `templates`: the same for instances by id and for launch templates;
//! * `wakes`: the stream of group names;
//! * this file: the driver, the only place that calls the cloud or sleeps.

mod details;
mod index;
mod loops;
mod members;
mod templates;
mod views;
mod wakes;

pub use details::InstanceReport;
pub use index::Unseen;
pub use views::{Observation, Pace, Seen, Settings};
pub use wakes::Wakes;

use crate::clock::Clock;
use crate::error::CloudError;
use crate::metrics::{Code, Metrics};
use crate::{Cloud, TemplateSummary, Watchdog};
use details::Details;
use foo_model::{GroupName, InstanceId, LaunchTemplateId, Operation, TemplateRecord, Timestamp};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use index::{Index, Page};
use loops::{LONGEST_CALL, Watchdogs, earlier, in_time, retry_delay};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use templates::Templates;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use wakes::WakeSet;

/// Pages in flight at once: a page that hangs until its timeout must not stop the others, and more than a few
/// would only discover together that AWS is impaired.
const PAGES_IN_FLIGHT: usize = 3;
/// Before the first list of templates: pools that wait for it begin to be watched within moments of each other.
const FIRST_LIST: Duration = Duration::from_millis(100);
/// Pools wait for the first list: no longer than an interruption of a spot instance leaves time for.
const FIRST_LIST_WITHIN: Duration = Duration::from_secs(10);
/// Ids per DescribeInstances call. AWS documents no maximum; other projects request 500 at a time.
const IDS_PER_CALL: usize = 500;

type LatestVersions = BTreeMap<LaunchTemplateId, TemplateRecord>;

/// The shared observer. All methods except [`Observer::run`] return at once and never call AWS.
pub struct Observer {
    cloud: Arc<dyn Cloud>,
    clock: Arc<dyn Clock>,
    settings: Settings,
    metrics: Metrics,
    state: Mutex<State>,
    wakes: Arc<WakeSet>,
    groups_changed: Notify,
    details_changed: Notify,
    templates_changed: Notify,
    watchdogs: Watchdogs,
}

struct State {
    index: Index,
    details: Details,
    templates: Templates,
}

impl Observer {
    /// An observer without groups. Nothing happens until [`Observer::run`] is polled.
    pub fn new(cloud: Arc<dyn Cloud>, settings: Settings, clock: Arc<dyn Clock>) -> Self {
        let state = State {
            index: Index::new(settings.clone(), Instant::now()),
            details: Details::default(),
            templates: Templates::default(),
        };
        Self {
            cloud,
            clock,
            settings,
            metrics: Metrics::unregistered(),
            state: Mutex::new(state),
            wakes: Arc::default(),
            groups_changed: Notify::new(),
            details_changed: Notify::new(),
            templates_changed: Notify::new(),
            watchdogs: Watchdogs::default(),
        }
    }

    /// The same observer, counting into these metrics.
    #[must_use]
    pub fn with_metrics(mut self, metrics: Metrics) -> Self {
        self.metrics = metrics;
        self
    }

    /// Observes for ever. May be dropped at any point and called again; two at a time are harmless but
    /// useless.
    pub async fn run(&self) {
        let now = Instant::now();
        {
            let mut state = self.state();
            state.index.nothing_in_flight(now);
            state.details.nothing_in_flight();
        }
        tokio::join!(self.sweep_groups(), self.fetch_instances(), self.list_templates());
    }

    /// The watchdogs of its loops, including that of [`Observer::guard`], each with the name of what it
    /// observes.
    pub fn watchdogs(&self) -> [(&'static str, &Watchdog); 4] {
        let Watchdogs { groups, instances, templates, guard } = &self.watchdogs;
        [("groups", groups), ("instances", instances), ("launch templates", templates), ("guard", guard)]
    }

    /// The groups with news since they were last reported: content, failure, a requested observation,
    /// instance details or the launch template. Each is reported once, however much is new; the news can be
    /// read before the name arrives here. For one consumer: with several, each name goes to one of them. Ends
    /// with the observer.
    pub fn wakes(&self) -> Wakes {
        Wakes::new(Arc::clone(&self.wakes))
    }

    /// Starts to watch a group; no effect if it is watched.
    pub fn watch(&self, group: &GroupName) {
        let wall = self.clock.now();
        let first = {
            let mut state = self.state();
            let first = state.index.is_empty();
            state.index.watch(group, wall, Instant::now());
            first
        };
        self.groups_changed.notify_one();
        if first {
            self.templates_changed.notify_one();
        }
    }

    /// Stops watching a group and forgets everything known of it and of its instances.
    pub fn forget(&self, group: &GroupName) {
        let mut state = self.state();
        state.index.forget(group);
        state.details.forget(group);
        state.templates.forget(group);
        self.wakes.remove(group);
    }

    /// The newest observation of a watched group; `None` before the first.
    pub fn view(&self, group: &GroupName) -> Option<Observation> {
        self.state().index.view(group)
    }

    /// Whether the group is watched.
    pub fn is_watched(&self, group: &GroupName) -> bool {
        self.state().index.is_watched(group)
    }

    /// The watched group in which an instance was last observed; it stays known for an hour after it left.
    pub fn group_of(&self, id: &InstanceId) -> Option<GroupName> {
        self.state().index.group_of(id)
    }

    /// Since when a watched group has not been observed, if that is longer than two periods; a period is the
    /// longest time between two observations while AWS responds. Monotonic: no step of the wall clock hides
    /// it or causes it.
    pub fn unseen_since(&self, group: &GroupName) -> Option<Timestamp> {
        self.state().index.unseen_since(group, Instant::now())
    }

    /// How many groups have not been observed for longer than two periods.
    pub fn unseen(&self) -> Unseen {
        self.state().index.unseen(Instant::now())
    }

    /// The age of the oldest of the newest observations of all watched groups; a group without one counts
    /// from the begin of its watch.
    pub fn oldest(&self) -> Option<Duration> {
        self.state().index.oldest(Instant::now())
    }

    /// Reports groups that have not been observed for longer than two periods, for ever: a caller that waits for
    /// news of them learns that there are none. Poll it apart from [`Observer::run`], whose end or standstill
    /// it detects.
    pub async fn guard(&self) {
        let pause = self.settings.quiet_period.max(Duration::from_secs(2)) / 4;
        loop {
            self.watchdogs.guard.expects(pause);
            sleep(pause).await;
            let mut state = self.state();
            let unseen = state.index.newly_unseen(Instant::now());
            if !unseen.is_empty() {
                tracing::error!(groups = unseen.len(), "could not describe groups for two periods");
            }
            self.wakes.add(unseen);
        }
    }

    /// Whether a requested observation ([`Observer::invalidate`]) is still to come.
    pub fn is_stale(&self, group: &GroupName) -> bool {
        self.state().index.is_stale(group)
    }

    /// The last failed observation of this group, if none has succeeded since, and when it was sent.
    pub fn failure(&self, group: &GroupName) -> Option<(Timestamp, CloudError)> {
        self.state().index.failure(group)
    }

    /// The newest observation of a group that AWS denied, if none of that group has succeeded since, and when
    /// it was sent.
    pub fn refusal(&self) -> Option<(Timestamp, CloudError)> {
        self.state().index.refusal()
    }

    /// Sets how often a group is observed.
    pub fn pace(&self, group: &GroupName, pace: Pace) {
        self.state().index.pace(group, pace, Instant::now());
        self.groups_changed.notify_one();
    }

    /// Something was changed in the group at that time: its view is stale. Requests a new one after AWS had
    /// [`Settings::settle`] to carry the change out, and reports the group when it arrives, changed or not. A
    /// time in the future counts as now.
    pub fn invalidate(&self, group: &GroupName, changed_at: Timestamp) {
        let wall = self.clock.now();
        let changed_at = changed_at.min(wall);
        let wait = wall.until(changed_at.plus(self.settings.settle));
        let now = Instant::now();
        self.state().index.request(group, now.checked_add(wait).unwrap_or(now), now);
        self.groups_changed.notify_one();
    }

    /// What EC2 last reported about an instance, and when it was requested.
    pub fn details(&self, id: &InstanceId) -> Option<(Timestamp, InstanceReport)> {
        self.state().details.get(id)
    }

    /// Requests unknown details of these instances of the group, and known ones that are not newer than
    /// `newer_than`; reports the group when they arrive. Requests already in flight are not repeated.
    pub fn request_details(&self, group: &GroupName, ids: &[InstanceId], newer_than: Option<Timestamp>) {
        let mut state = self.state();
        if !state.index.is_watched(group) {
            return;
        }
        state.details.want(group, ids, newer_than);
        drop(state);
        self.details_changed.notify_one();
    }

    /// Forgets the details of all instances of the group except these.
    pub fn retain_details(&self, group: &GroupName, ids: &BTreeSet<InstanceId>) {
        self.state().details.retain(group, ids);
    }

    /// The last failed request of instance details, if none has succeeded since, and when it was sent.
    pub fn details_failure(&self) -> Option<(Timestamp, CloudError)> {
        self.state().details.failure()
    }

    /// The template of a group has this name: changes of it are reported as changes of the group. Known without that for a
    /// template with the group's name.
    pub fn names_template(&self, group: &GroupName, name: &str) {
        self.state().templates.belongs_to(name, group);
    }

    /// Our launch template with this name and when it was observed; the inner `None` means that there is none.
    pub fn template(&self, name: &str) -> Option<(Timestamp, Option<TemplateSummary>)> {
        self.state().templates.get(name)
    }

    /// The latest version of our launch template with this name, as the lists of all templates show it, and when
    /// the newest of these was requested. A manager that just started learns from two calls about all idle pools what
    /// they need to know.
    pub fn latest_version(&self, name: &str) -> Option<(Timestamp, TemplateSummary, TemplateRecord)> {
        self.state().templates.latest(name)
    }

    /// Whether the first list of templates is under way: it is worth waiting for. When it ends, or fails, all groups
    /// are reported.
    pub fn lists_templates_first(&self) -> bool {
        let state = self.state();
        !state.index.is_empty() && state.templates.are_pending()
    }

    async fn sweep_groups(&self) {
        let mut in_flight = FuturesUnordered::new();
        loop {
            while in_flight.len() < PAGES_IN_FLIGHT
                && let Some(names) = self.take_page()
            {
                in_flight.push(self.describe_page(names));
            }
            let next = if in_flight.len() < PAGES_IN_FLIGHT { self.state().index.next_due() } else { None };
            let call_deadline =
                if in_flight.is_empty() { None } else { Instant::now().checked_add(LONGEST_CALL) };
            self.watchdogs.groups.expects_at(earlier(next, call_deadline));
            tokio::select! {
                Some(()) = in_flight.next() => {}
                () = until(next) => {}
                () = self.groups_changed.notified() => {}
            }
        }
    }

    fn take_page(&self) -> Option<Vec<GroupName>> {
        self.state().index.take_page(Instant::now())
    }

    async fn describe_page(&self, names: Vec<GroupName>) {
        let page = Page { names, at: self.clock.now(), sent: Instant::now() };
        let call = self.cloud.describe_groups(&page.names);
        let response = in_time(Operation::DescribeAutoScalingGroups, call).await;
        if let Err(error) = &response {
            tracing::warn!(%error, groups = page.names.len(), "could not describe Auto Scaling groups");
        }
        self.metrics.sweep_ended(Code::of(&response));
        // Wakes are added under the same lock: a group that is forgotten meanwhile must not be reported
        // afterwards.
        let mut state = self.state();
        let news = state.index.arrived(&page, response, Instant::now());
        self.wakes.add(news.wakes);
        drop(state);
        for age in news.replaced {
            self.metrics.observation_aged(age);
        }
    }

    async fn fetch_instances(&self) {
        let mut failures = 0;
        loop {
            let omitted = self.state().details.retry_omitted(self.clock.now());
            if !self.state().details.is_wanted() {
                let pause = omitted.map(|due| self.clock.now().until(due));
                let again = pause.and_then(|pause| Instant::now().checked_add(pause));
                self.watchdogs.instances.expects_at(again);
                tokio::select! {
                    () = self.details_changed.notified() => {}
                    () = until(again) => {}
                }
                self.watchdogs.instances.expects(self.settings.details_window);
                // Pools that learn of their instances from the same page request details within moments of
                // each other.
                sleep(self.settings.details_window).await;
                continue;
            }
            let at = self.clock.now();
            let ids = self.state().details.take(at, IDS_PER_CALL);
            if ids.is_empty() {
                continue;
            }
            self.watchdogs.instances.expects(LONGEST_CALL);
            let response = in_time(Operation::DescribeInstances, self.cloud.describe_instances(&ids)).await;
            failures = count_failures(failures, &response);
            {
                let mut state = self.state();
                self.wakes.add(state.details.arrived(&ids, at, response));
            }
            if failures > 0 {
                let pause = self.backoff(failures);
                self.watchdogs.instances.expects(pause);
                sleep(pause).await;
            }
        }
    }

    async fn list_templates(&self) {
        let mut failures = 0;
        let mut pause =
            if self.state().templates.are_pending() { FIRST_LIST } else { self.settings.templates_period };
        loop {
            if self.state().index.is_empty() {
                self.watchdogs.templates.rests();
                self.templates_changed.notified().await;
                continue;
            }
            self.watchdogs.templates.expects(pause);
            sleep(pause).await;
            self.watchdogs.templates.expects(LONGEST_CALL);
            let at = self.clock.now();
            let (response, latest) = if self.state().templates.are_pending() {
                self.first_list().await
            } else {
                let list = self.cloud.describe_templates_tagged(&self.settings.template_tag);
                (in_time(Operation::DescribeLaunchTemplates, list).await, None)
            };
            failures = count_failures(failures, &response);
            {
                let mut state = self.state();
                if let Some(latest) = latest {
                    state.templates.latest_arrived(latest);
                }
                let changed = match state.templates.arrived(at, response) {
                    templates::Changed::All => state.index.names(),
                    templates::Changed::Some(mut names) => {
                        // The template of a pool that was just created may have been deleted before any list showed it.
                        let age = 2 * self.settings.templates_period;
                        let recent = state.index.watched_within(age, Instant::now());
                        names.extend(recent.filter(|group| state.templates.lack(group)).cloned());
                        names
                    }
                };
                self.wakes.add(changed.into_iter().filter(|group| state.index.is_watched(group)));
            }
            let period = self.settings.templates_period;
            // Nothing waits for this list: while AWS is impaired it is requested with back-off.
            pause = if failures > 0 { retry_delay(failures, period, self.settings.seed) } else { period };
        }
    }

    /// The list of all our templates, and their latest versions. Pools wait for it, so it ends soon; without it each
    /// reads its own.
    async fn first_list(&self) -> (crate::Result<Vec<TemplateSummary>>, Option<LatestVersions>) {
        const LIST: Operation = Operation::DescribeLaunchTemplates;
        let lists = async {
            let found = self.cloud.describe_templates_tagged(&self.settings.template_tag).await?;
            let ids: BTreeSet<LaunchTemplateId> = found.iter().map(|it| it.id.clone()).collect();
            if ids.is_empty() {
                return Ok((found, None));
            }
            let latest = self.cloud.describe_latest_versions(&ids).await?;
            Ok((found, Some(latest)))
        };
        match timeout(FIRST_LIST_WITHIN, lists).await {
            Ok(Ok((found, latest))) => (Ok(found), latest),
            Ok(Err(error)) => (Err(error), None),
            Err(_elapsed) => (Err(CloudError::no_response(LIST, FIRST_LIST_WITHIN)), None),
        }
    }

    fn backoff(&self, failures: u32) -> Duration {
        retry_delay(failures, self.settings.longest_backoff, self.settings.seed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code that holds the lock can panic halfway through a change, so the data behind a poisoned lock
        // is sound.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.wakes.close();
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Consecutive failures.
fn count_failures<T>(before: u32, response: &crate::Result<T>) -> u32 {
    match response {
        Ok(_) => 0,
        Err(error) => {
            tracing::warn!(%error, "could not describe Auto Scaling groups");
            before.saturating_add(1)
        }
    }
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
