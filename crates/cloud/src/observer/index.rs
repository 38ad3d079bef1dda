//! The watched groups: the newest observation of each, and when the next one is due. Plain data; time is a
//! parameter.

use super::loops::retry_delay;
use super::members::Members;
use super::views::{Observation, Pace, Seen, Settings};
use crate::FoundGroups;
use crate::error::{CloudError, ErrorKind};
use foo_model::{Group, GroupName, InstanceId, Timestamp};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Names per call (Auto Scaling API Reference, DescribeAutoScalingGroups: at most 100 records).
const NAMES_PER_PAGE: usize = 100;
/// A group that does not exist changes only when it is created, which its creator reports: it is described
/// this many times less often. A pool whose group cannot be created then costs next to nothing.
const ABSENT: u32 = 4;
/// Up to this many pages are swept in one quiet period; beyond, the period grows so that the calls per minute do not.
const PAGES_PER_PERIOD: u32 = 5;
/// Requested observations are moved to the next multiple of this, so that requests of many pools within a
/// moment share a call: at most four calls a second.
const GRID: Duration = Duration::from_millis(250);
/// Pause between the end of an observation and the start of the next one of the same group, however slow AWS
/// responds.
const REST: Duration = Duration::from_millis(500);

/// All watched groups.
#[derive(Debug)]
pub(super) struct Index {
    settings: Settings,
    /// The origin of the grid.
    origin: Instant,
    entries: HashMap<GroupName, Entry>,
    /// Which group an instance belongs to.
    members: Members,
    /// The groups that are not in flight, by due time.
    queue: BTreeSet<(Instant, GroupName)>,
}

#[derive(Debug)]
struct Entry {
    view: Option<Observation>,
    failure: Option<(Timestamp, CloudError)>,
    /// Failed observations since the last successful one.
    failures: u32,
    pace: Pace,
    /// When it last changed, or was reported to have: the period of an active group doubles from there.
    changed: Instant,
    /// The earliest time at which a requested observation may be sent. Monotonic: a wall clock may be set
    /// back.
    wanted: Option<Instant>,
    /// When the next observation is due; `None` while one is in flight.
    due: Option<Instant>,
    /// When the newest observation was sent; before the first, when the watch began.
    observed: Instant,
    /// The same moment by the wall clock.
    since: Timestamp,
    /// When it began to be watched.
    watched: Instant,
    /// Whether it was reported because it has not been observed for too long.
    unobserved: Unobserved,
}

/// Whether waiting callers were notified that the group is not observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unobserved {
    /// They were not.
    No,
    /// They were.
    Reported,
}

/// One call.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) names: Vec<GroupName>,
    /// Wall clock before it was sent.
    pub(super) at: Timestamp,
    /// The same moment by the monotonic clock.
    pub(super) sent: Instant,
}

/// Groups that the manager could not describe for longer than two periods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    /// How many.
    pub groups: usize,
    /// How many of them without a failed call: the cause is unknown.
    pub unexplained: usize,
}

/// The result of a response.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Groups with news.
    pub(super) wakes: Vec<GroupName>,
    /// The ages of the views that this response replaces, or, if it is a failure, would have replaced.
    pub(super) replaced: Vec<Duration>,
}

impl Index {
    pub(super) fn new(settings: Settings, origin: Instant) -> Self {
        Self {
            settings,
            origin,
            entries: HashMap::new(),
            members: Members::default(),
            queue: BTreeSet::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn is_watched(&self, group: &GroupName) -> bool {
        self.entries.contains_key(group)
    }

    pub(super) fn names(&self) -> Vec<GroupName> {
        self.entries.keys().cloned().collect()
    }

    /// Those that began to be watched less than that long before a moment.
    pub(super) fn watched_within(&self, age: Duration, now: Instant) -> impl Iterator<Item = &GroupName> {
        self.entries
            .iter()
            .filter(move |(_, entry)| now.duration_since(entry.watched) < age)
            .map(|(name, _)| name)
    }

    pub(super) fn watch(&mut self, group: &GroupName, wall: Timestamp, now: Instant) {
        if self.entries.contains_key(group) {
            return;
        }
        let entry = Entry {
            view: None,
            failure: None,
            failures: 0,
            pace: Pace::Quiet,
            changed: now,
            wanted: None,
            due: None,
            observed: now,
            watched: now,
            since: wall,
            unobserved: Unobserved::No,
        };
        self.entries.insert(group.clone(), entry);
        // Not at once: a manager that starts watches all its groups within a moment.
        self.set_due(group, Some(self.on_grid(later(now, Duration::from_millis(50)))));
    }

    pub(super) fn forget(&mut self, group: &GroupName) {
        self.set_due(group, None);
        self.entries.remove(group);
        self.members.forget(group);
    }

    pub(super) fn group_of(&self, id: &InstanceId) -> Option<GroupName> {
        self.members.group_of(id)
    }

    pub(super) fn view(&self, group: &GroupName) -> Option<Observation> {
        self.entries.get(group)?.view.clone()
    }

    /// When the newest observation of the group was sent, or, before the first, when the watch began; only if
    /// that is longer ago than two periods.
    pub(super) fn unseen_since(&self, group: &GroupName, now: Instant) -> Option<Timestamp> {
        let entry = self.entries.get(group)?;
        (entry.age(now) > self.two_periods(entry)).then_some(entry.since)
    }

    /// The age of the oldest observation, including groups without one.
    pub(super) fn oldest(&self, now: Instant) -> Option<Duration> {
        self.entries.values().map(|entry| entry.age(now)).max()
    }

    /// How many groups have not been observed for longer than two periods, and for how many of them the cause
    /// is unknown.
    pub(super) fn unseen(&self, now: Instant) -> Unseen {
        let mut unseen = Unseen::default();
        for entry in self.entries.values().filter(|entry| entry.age(now) > self.two_periods(entry)) {
            unseen.groups += 1;
            unseen.unexplained += usize::from(entry.failure.is_none());
        }
        unseen
    }

    /// The groups that have not been observed for longer than two periods and were not reported for that yet.
    pub(super) fn newly_unseen(&mut self, now: Instant) -> Vec<GroupName> {
        let unseen = |(name, entry): (&GroupName, &Entry)| {
            let new = entry.unobserved == Unobserved::No && entry.age(now) > self.two_periods(entry);
            new.then(|| name.clone())
        };
        let names: Vec<GroupName> = self.entries.iter().filter_map(unseen).collect();
        for name in &names {
            if let Some(entry) = self.entries.get_mut(name) {
                entry.unobserved = Unobserved::Reported;
            }
        }
        names
    }

    fn two_periods(&self, entry: &Entry) -> Duration {
        self.longest_period(entry).saturating_mul(2)
    }

    pub(super) fn is_stale(&self, group: &GroupName) -> bool {
        self.entries.get(group).is_some_and(|entry| entry.wanted.is_some())
    }

    pub(super) fn failure(&self, group: &GroupName) -> Option<(Timestamp, CloudError)> {
        self.entries.get(group)?.failure.clone()
    }

    pub(super) fn refusal(&self) -> Option<(Timestamp, CloudError)> {
        let failures = self.entries.values().filter_map(|entry| entry.failure.as_ref());
        let refused =
            failures.filter(|(_, error)| matches!(error.kind, ErrorKind::Denied | ErrorKind::Credentials));
        refused.max_by_key(|(at, _)| *at).cloned()
    }

    pub(super) fn pace(&mut self, group: &GroupName, pace: Pace, now: Instant) {
        let Some(entry) = self.entries.get_mut(group) else { return };
        if entry.pace == pace {
            return;
        }
        entry.pace = pace;
        match pace {
            Pace::Active => {
                entry.changed = now;
                self.due_by(group, later(now, self.settings.active_shortest));
            }
            Pace::Quiet | Pace::Patient
                if entry.view.is_some() && entry.failures == 0 && entry.due.is_some() =>
            {
                let observed = entry.observed;
                self.schedule(group, observed, now);
            }
            Pace::Quiet | Pace::Patient => {}
        }
    }

    /// Requests an observation sent at `from` or later, because something was changed.
    pub(super) fn request(&mut self, group: &GroupName, from: Instant, now: Instant) {
        let from = self.on_grid(from);
        let Some(entry) = self.entries.get_mut(group) else { return };
        entry.changed = now;
        entry.wanted = entry.wanted.max(Some(from));
        self.due_by(group, from);
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.queue.first().map(|(due, _)| *due)
    }

    /// If a group is due: it, and the groups due next that fit into the same call. They are in flight from
    /// now on.
    pub(super) fn take_page(&mut self, now: Instant) -> Option<Vec<GroupName>> {
        if self.next_due()? > now {
            return None;
        }
        let names: Vec<GroupName> =
            self.queue.iter().take(NAMES_PER_PAGE).map(|(_, name)| name.clone()).collect();
        for name in &names {
            self.set_due(name, None);
        }
        Some(names)
    }

    /// All calls in flight are lost; observe again.
    pub(super) fn nothing_in_flight(&mut self, now: Instant) {
        let lost: Vec<GroupName> = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.due.is_none())
            .map(|(name, _)| name.clone())
            .collect();
        for name in lost {
            self.set_due(&name, Some(now));
        }
    }

    /// Applies the response of a page and returns what is new.
    pub(super) fn arrived(
        &mut self,
        page: &Page,
        response: crate::Result<FoundGroups>,
        now: Instant,
    ) -> News {
        match response {
            Ok(observed) => self.observed(page, observed, now),
            Err(error) => self.failed(page, &error, now),
        }
    }

    fn observed(&mut self, page: &Page, observed: FoundGroups, now: Instant) -> News {
        let FoundGroups { groups, odd } = observed;
        let mut found: HashMap<GroupName, Group> =
            groups.into_iter().map(|group| (group.name.clone(), group)).collect();
        let mut news = News::default();
        for name in &page.names {
            if let Some(error) = odd.get(name) {
                // The group exists: its last view stays, and the pauses between its observations grow.
                let alone = Page { names: vec![name.clone()], ..*page };
                let failed = self.failed(&alone, error, now);
                news.wakes.extend(failed.wakes);
                news.replaced.extend(failed.replaced);
                continue;
            }
            let Some(entry) = self.entries.get_mut(name) else { continue };
            // Forgotten and watched again meanwhile, and perhaps observed since. By the monotonic clock: the
            // wall clock may have been set back.
            if entry.observed > page.sent {
                self.due_again(name, now);
                continue;
            }
            news.replaced.extend(entry.view.as_ref().map(|_| entry.age(now)));
            let seen = match found.remove(name) {
                Some(group) => Seen::Present(Arc::new(in_order(group))),
                None => Seen::Absent,
            };
            let changed = entry.take_view(page.at, seen);
            if changed {
                entry.changed = now;
                self.members.seen(name, entry.ids(), now);
            }
            let recovered = entry.failure.take().is_some() || entry.unobserved == Unobserved::Reported;
            entry.unobserved = Unobserved::No;
            entry.failures = 0;
            (entry.observed, entry.since) = (page.sent, page.at);
            let wanted = entry.wanted.take_if(|from| *from <= page.sent).is_some();
            if changed || recovered || wanted {
                news.wakes.push(name.clone());
            }
            self.schedule(name, page.sent, now);
        }
        news
    }

    fn failed(&mut self, page: &Page, error: &CloudError, now: Instant) -> News {
        let before =
            page.names.iter().filter_map(|name| self.entries.get(name)).map(|entry| entry.failures).max();
        let failures = before.unwrap_or(0).saturating_add(1);
        let pause = retry_delay(failures, self.settings.longest_backoff, self.salt(page));
        let mut news = News::default();
        for name in &page.names {
            let Some(entry) = self.entries.get_mut(name) else { continue };
            if entry.observed > page.sent {
                self.due_again(name, now);
                continue;
            }
            news.replaced.extend(entry.view.as_ref().map(|_| entry.age(now)));
            entry.failures = failures;
            let known = entry.failure.replace((page.at, error.clone()));
            if known.is_none_or(|(_, known)| known != *error) {
                news.wakes.push(name.clone());
            }
            // The groups of a failed page stay together, so that they also share the repeated call.
            self.set_due(name, Some(later(now, pause)));
        }
        news
    }

    /// A useless response still schedules the next observation.
    fn due_again(&mut self, group: &GroupName, now: Instant) {
        if self.entries.get(group).is_some_and(|entry| entry.due.is_none()) {
            self.set_due(group, Some(now));
        }
    }

    /// When to observe a group again that was just observed.
    fn schedule(&mut self, group: &GroupName, sent: Instant, now: Instant) {
        let Some(entry) = self.entries.get(group) else { return };
        let period = match entry.pace {
            Pace::Quiet => self.longest_period(entry),
            Pace::Patient => self.settings.patient_period.min(self.longest_period(entry)),
            // As long again as it has not changed: 2, 4, 8, … seconds, however many observations there were
            // in between.
            Pace::Active => now.saturating_duration_since(entry.changed).clamp(
                self.settings.active_shortest,
                self.settings.active_longest.max(self.settings.active_shortest),
            ),
        };
        let regular = later(sent, period).max(later(now, REST));
        let due = entry.wanted.map_or(regular, |from| regular.min(from.max(now)));
        self.set_due(group, Some(due));
    }

    /// The longest time between two observations of a group, if AWS responds.
    fn longest_period(&self, entry: &Entry) -> Duration {
        if entry.is_absent() { self.quiet_period().saturating_mul(ABSENT) } else { self.quiet_period() }
    }

    fn quiet_period(&self) -> Duration {
        let pages = u32::try_from(self.entries.len().div_ceil(NAMES_PER_PAGE)).unwrap_or(u32::MAX);
        let period = self.settings.quiet_period;
        period.max(period.saturating_mul(pages).checked_div(PAGES_PER_PERIOD).unwrap_or(period))
    }

    /// Moves the next observation forward, unless it repeats a failed one: those keep their pause.
    fn due_by(&mut self, group: &GroupName, moment: Instant) {
        let Some(entry) = self.entries.get(group) else { return };
        if entry.failures == 0 && entry.due.is_some_and(|due| due > moment) {
            self.set_due(group, Some(moment));
        }
    }

    fn set_due(&mut self, group: &GroupName, due: Option<Instant>) {
        let Some(entry) = self.entries.get_mut(group) else { return };
        if let Some(before) = entry.due.take() {
            self.queue.remove(&(before, group.clone()));
        }
        entry.due = due;
        self.queue.extend(due.map(|due| (due, group.clone())));
    }

    fn on_grid(&self, moment: Instant) -> Instant {
        let passed = moment.saturating_duration_since(self.origin).as_millis();
        let grid = GRID.as_millis().max(1);
        let up = u64::try_from(passed.div_ceil(grid).saturating_mul(grid)).unwrap_or(u64::MAX);
        later(self.origin, Duration::from_millis(up)).max(moment)
    }

    fn salt(&self, page: &Page) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.settings.seed, page.names.first().map(GroupName::as_str)).hash(&mut hasher);
        hasher.finish()
    }
}

impl Entry {
    fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.observed)
    }

    /// Ids of the members in the newest view.
    fn ids(&self) -> HashSet<InstanceId> {
        match self.view.as_ref().map(|view| &view.seen) {
            Some(Seen::Present(group)) => group.instances.iter().map(|it| it.id.clone()).collect(),
            Some(Seen::Absent) | None => HashSet::new(),
        }
    }

    fn is_absent(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.seen == Seen::Absent)
    }

    /// Replaces the view and returns whether it differs from the one before. An equal group is not kept
    /// twice.
    fn take_view(&mut self, at: Timestamp, seen: Seen) -> bool {
        match &mut self.view {
            Some(view) if view.seen == seen => {
                view.at = at;
                false
            }
            _ => {
                self.view = Some(Observation { at, seen });
                true
            }
        }
    }
}

/// AWS lists members in no particular order; another order is no change.
fn in_order(mut group: Group) -> Group {
    group.instances.sort_by(|a, b| a.id.cmp(&b.id));
    group
}

fn later(moment: Instant, by: Duration) -> Instant {
    moment.checked_add(by).unwrap_or(moment)
}
