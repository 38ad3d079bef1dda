//! The task that reads the queue: receives, attributes, hides and deletes messages.

use super::event::{self, Event, Parsed};
use super::pending::{Due, HIDDEN, PendingMessage, Wait};
use super::{Announcements, GroupKey};
use crate::clock::Clock;
use crate::clouds::{CloudRegion, Clouds, GroupChanged, QueueAddress};
use crate::labels::{AnnouncementOutcome, EventKind, Task};
use crate::metrics::Metrics;
use foo_cloud::observer::Seen;
use foo_cloud::queue::{BATCH, LONGEST_WAIT};
use foo_cloud::retry::{Jitter, RetryDelays};
use foo_cloud::{CloudError, Message, Operation, Queue, Receipt, Watchdog};
use foo_model::{InstanceId, Signal, SignalKind, Timestamp};
use futures::StreamExt;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// A message with an announcement about something unknown returns to the queue until it is this old. A new
/// instance becomes known seconds after its group is observed; after this time the sweep has seen it long
/// ago.
const UNKNOWN_FOR: Duration = Duration::from_mins(15);
/// The same for messages without an announcement: a queue has many of them, most about other resources, and
/// they save at most one sweep.
const NEWS_FOR: Duration = Duration::from_mins(5);
/// The same for messages that wait for a pool; a pool that gets no pass for so long has other problems.
const WAITS_FOR: Duration = Duration::from_mins(15);
/// How long an interruption of something unknown is hidden, the first few times: it leaves two minutes.
const PARKED_SHORTLY: (Duration, u32) = (Duration::from_secs(5), 6);
/// How long other announcements about unknown instances, and messages that cannot be parsed, are hidden.
const PARKED: Duration = Duration::from_mins(1);
/// How long a recommendation that waits for its pool is hidden: it is valid for an hour.
const ADVICE_HIDDEN: Duration = Duration::from_mins(10);
/// The same for a retirement, which is days ahead.
const RETIREMENT_HIDDEN: Duration = Duration::from_hours(1);
/// A message that cannot be parsed is deleted after it was received this often. A dead-letter queue takes it
/// earlier if its maxReceiveCount is lower.
const UNREADABLE_TIMES: u32 = 60;
/// How much of such a message is logged, in characters.
const QUOTED: usize = 1_000;
/// Pauses after consecutive failures. There is only one reader, so they need no jitter.
const DELAYS: RetryDelays = RetryDelays { longest: Duration::from_mins(1), jitter: Jitter::None };
/// If an empty response comes sooner than this, long polling does not work, and the reader waits itself.
const TOO_SOON: Duration = Duration::from_secs(1);
/// Timeout of every call: longer than the wait for messages and the SDK's own limits.
const LONGEST_CALL: Duration = Duration::from_mins(2);
/// How long messages to delete are collected, so that one call deletes several.
const COLLECTED: Duration = Duration::from_millis(100);

/// How long the reader may take at its end to make its messages visible.
const LAST_CALLS: Duration = Duration::from_secs(2);
/// Concurrent calls at the end.
const AT_ONCE: usize = 16;

/// Reads a queue until `shutdown` resolves. Messages that were received and not deleted return to the queue
/// for the next leader: at once if the reader can make them visible in time, otherwise when their hidden time
/// ends.
pub async fn run(
    announcements: Announcements,
    clouds: Arc<Clouds>,
    clock: Arc<dyn Clock>,
    metrics: Metrics,
    queue: QueueAddress,
    shutdown: impl Future<Output = ()> + Send,
) {
    let (receiving, settling) = (Watchdog::default(), Watchdog::default());
    let reader = Reader { announcements, clouds, clock, metrics, receiving, settling };
    let tasks = reader.metrics.tasks();
    tasks.watch(Task::Announcements, &"receiving", &reader.receiving);
    tasks.watch(Task::Announcements, &"settling", &reader.settling);
    tokio::select! {
        () = shutdown => drop(timeout(LAST_CALLS, reader.return_message(&queue)).await),
        // Pools work without events, so the manager must not end because of them.
        () = tasks.keep_up(Task::Announcements, &queue.url, || reader.read(&queue)) => {}
    }
}

struct Reader {
    announcements: Announcements,
    clouds: Arc<Clouds>,
    clock: Arc<dyn Clock>,
    metrics: Metrics,
    receiving: Watchdog,
    settling: Watchdog,
}

/// What happens to a message right away.
enum Disposition {
    /// It waits, or becomes visible again later.
    Nothing,
    /// It is deleted.
    Delete,
    /// It becomes visible again after this time.
    Hide(Duration),
}

/// The groups and instances that an event is about, as far as they are known.
struct Attributed {
    groups: Vec<(GroupKey, Arc<CloudRegion>)>,
    instances: Vec<(GroupKey, InstanceId)>,
    unknown: bool,
}

impl Reader {
    async fn read(&self, address: &QueueAddress) {
        self.settling.rests();
        let mut failures = 0;
        let queue = loop {
            self.receiving.expects(LONGEST_CALL);
            match timeout(LONGEST_CALL, self.clouds.queue(address)).await {
                Ok(Ok(queue)) => break queue,
                Ok(Err(error)) => {
                    tracing::warn!(%error, queue = address.url, "could not connect to the SQS queue of AWS events");
                }
                Err(_elapsed) => {
                    tracing::warn!(
                        queue = address.url,
                        "connecting to the SQS queue of AWS events takes too long"
                    );
                }
            }
            failures += 1;
            pause(&self.receiving, after(failures)).await;
        };
        tracing::info!(queue = address.url, "receiving AWS events from the SQS queue");
        tokio::join!(self.receive(queue.as_ref()), self.settle(queue.as_ref()));
    }

    async fn receive(&self, queue: &dyn Queue) {
        let mut failures = 0;
        loop {
            let asked = Instant::now();
            let received = queue.receive(LONGEST_WAIT, HIDDEN);
            match in_time(&self.receiving, Operation::ReceiveMessage, received).await {
                Ok(messages) => {
                    if failures > 0 {
                        tracing::info!(failures, "receiving AWS events from the SQS queue again");
                    }
                    failures = 0;
                    if messages.is_empty() && asked.elapsed() < TOO_SOON {
                        pause(&self.receiving, TOO_SOON).await;
                    }
                    self.handle(queue, messages, asked).await;
                }
                Err(error) => {
                    failures += 1;
                    tracing::warn!(%error, failures, "could not receive AWS events from the SQS queue; changes in AWS are still seen by describing the groups");
                    pause(&self.receiving, after(failures)).await;
                }
            }
            self.metrics.announcements_held(self.announcements.pending().len());
        }
    }

    /// Handles received messages: first those that concern pools, then the calls for the others.
    async fn handle(&self, queue: &dyn Queue, messages: Vec<Message>, asked: Instant) {
        let mut over = Vec::new();
        let mut hidden = Vec::new();
        for message in messages {
            match self.disposition(&message, asked) {
                Disposition::Nothing => {}
                Disposition::Delete => over.push(message.receipt),
                Disposition::Hide(time) => hidden.push((message.receipt, time)),
            }
        }
        for batch in over.chunks(BATCH) {
            self.delete(&self.receiving, queue, batch).await;
        }
        for (receipt, time) in hidden {
            self.hide(&self.receiving, queue, &receipt, time).await;
        }
    }

    fn disposition(&self, message: &Message, asked: Instant) -> Disposition {
        match event::parse(&message.body) {
            Ok(Parsed::Event(event)) => self.disposition_of_event(message, &event, asked),
            Ok(Parsed::Irrelevant) => {
                self.count(EventKind::Other, AnnouncementOutcome::Irrelevant);
                Disposition::Delete
            }
            Err(error) if message.receives >= UNREADABLE_TIMES => {
                let text: String = message.body.chars().take(QUOTED).collect();
                tracing::warn!(%error, id = message.id, text, "deleting a message that cannot be decoded");
                self.count(EventKind::Other, AnnouncementOutcome::SetAside);
                Disposition::Delete
            }
            Err(error) => {
                tracing::warn!(%error, id = message.id, receives = message.receives, "could not decode a message; it is received again later");
                self.count(EventKind::Other, AnnouncementOutcome::Unreadable);
                Disposition::Hide(PARKED)
            }
        }
    }

    fn disposition_of_event(&self, message: &Message, event: &Event, asked: Instant) -> Disposition {
        let now = self.clock.now();
        let known = self.attribute(event);
        if known.groups.is_empty() {
            return self.disposition_of_unknown(message, event, now);
        }
        tracing::debug!(?event, "received an AWS event");
        let then = self.note(message, event, &known, now, asked);
        self.announcements.0.changed.notify_one();
        for (place, region) in known.groups {
            region.observer.invalidate(&place.group, now);
            self.clouds.wake(GroupChanged { cloud: place.cloud, group: place.group });
        }
        then
    }

    fn disposition_of_unknown(&self, message: &Message, event: &Event, now: Timestamp) -> Disposition {
        let announces = event.signal.is_some() || event.withdraws;
        let worth = if announces { UNKNOWN_FOR } else { NEWS_FOR };
        // Without agreement of the clocks it may be young.
        let age = self.clouds.clock_of_queues().age(message.sent, now);
        if age.is_some_and(|age| age >= worth) {
            tracing::debug!(?event, "deleting an AWS event about an unknown instance or group");
            self.count(event.kind, AnnouncementOutcome::Unknown);
            return Disposition::Delete;
        }
        self.count(event.kind, AnnouncementOutcome::Parked);
        let (shortly, times) = PARKED_SHORTLY;
        match event.signal {
            Some(SignalKind::Interruption) if message.receives <= times => Disposition::Hide(shortly),
            Some(_) => Disposition::Hide(PARKED),
            // It stays hidden since its receipt, which costs no call.
            None => Disposition::Nothing,
        }
    }

    /// Records what a message announces, and keeps it until the pool has acted on it.
    fn note(
        &self,
        message: &Message,
        event: &Event,
        known: &Attributed,
        now: Timestamp,
        asked: Instant,
    ) -> Disposition {
        let mut pending = self.announcements.pending();
        for (place, id) in &known.instances {
            match event.signal {
                Some(kind) => pending.announce(place, id, Signal { kind, at: event.time }),
                None if event.withdraws => pending.withdraw(place, id, event.time),
                None => {}
            }
        }
        // Interruptions always wait here; others beyond the maximum return to the queue, and pools act on
        // them nevertheless.
        let hide_for = match event.signal {
            Some(SignalKind::Interruption | SignalKind::LeavesWarmPool) | None => HIDDEN,
            Some(SignalKind::Rebalance) => ADVICE_HIDDEN,
            Some(SignalKind::Retirement) => RETIREMENT_HIDDEN,
        };
        if pending.is_full() && event.signal != Some(SignalKind::Interruption) {
            self.count(event.kind, AnnouncementOutcome::Parked);
            return if hide_for == HIDDEN { Disposition::Nothing } else { Disposition::Hide(hide_for) };
        }
        let observed = known.groups.iter().map(|(place, _)| Wait::Observed(place.clone(), now));
        let handled = known.instances.iter().filter(|(place, id)| pending.is_announced(place, id));
        let handled = handled.filter(|_| event.signal.is_some());
        let handled = handled.map(|(place, id)| Wait::Handled(place.clone(), id.clone()));
        let waits = observed.chain(handled).collect();
        // A retirement is days ahead, so it waits without limit; so does a recommendation, until it expires.
        let until = match event.signal {
            Some(SignalKind::Retirement | SignalKind::Rebalance) => None,
            Some(SignalKind::Interruption | SignalKind::LeavesWarmPool) | None => Some(now.plus(WAITS_FOR)),
        };
        let age = self.clouds.clock_of_queues().age(message.sent, now);
        pending.add(PendingMessage {
            waits,
            receipt: message.receipt.clone(),
            kind: event.kind,
            time: event.time,
            partly_unknown: known.unknown && age.is_none_or(|age| age < UNKNOWN_FOR),
            hide_for,
            until,
            received: asked,
            hidden_until: asked.checked_add(HIDDEN).unwrap_or(asked),
        });
        Disposition::Nothing
    }

    /// The known groups and instances that an event is about. Makes no call.
    fn attribute(&self, event: &Event) -> Attributed {
        let mut places: BTreeMap<GroupKey, Arc<CloudRegion>> = BTreeMap::new();
        let mut instances = Vec::new();
        let regions = self.clouds.connected_in(&event.region);
        let find = |id: &InstanceId| {
            regions.iter().find_map(|region| {
                let group = region.observer.group_of(id)?;
                let place = GroupKey::of(&region.key, &group);
                is_of_account(region, &place, &event.account).then(|| (place, Arc::clone(region)))
            })
        };
        for id in &event.instances {
            if let Some((place, region)) = find(id) {
                instances.push((place.clone(), id.clone()));
                places.insert(place, region);
            }
        }
        if let Some(group) = &event.group {
            for region in &regions {
                let place = GroupKey::of(&region.key, group);
                if region.observer.is_watched(group) && is_of_account(region, &place, &event.account) {
                    // No observation shows the instances of a warm pool.
                    if event.signal == Some(SignalKind::LeavesWarmPool) {
                        instances.extend(event.instances.iter().map(|id| (place.clone(), id.clone())));
                    }
                    places.insert(place, Arc::clone(region));
                }
            }
        }
        Attributed {
            unknown: instances.len() < event.instances.len(),
            groups: places.into_iter().collect(),
            instances,
        }
    }

    /// Deletes messages that are done or too old, and extends the hidden time of the others.
    async fn settle(&self, queue: &dyn Queue) {
        loop {
            let (wall, now) = (self.clock.now(), Instant::now());
            let due = self.announcements.pending().due(wall, now);
            let next = due.next;
            let busy = self.carry_out(queue, due, wall).await;
            self.metrics.announcements_held(self.announcements.pending().len());
            if busy {
                // Messages whose time was extended, or could not be, have a new due time.
                pause(&self.settling, COLLECTED).await;
                continue;
            }
            let changed = self.announcements.0.changed.notified();
            self.settling.expects_at(next);
            match next {
                Some(next) => drop(timeout(next.saturating_duration_since(now), changed).await),
                None => changed.await,
            }
            pause(&self.settling, COLLECTED).await;
        }
    }

    async fn carry_out(&self, queue: &dyn Queue, due: Due, wall: Timestamp) -> bool {
        let busy = !due.hide.is_empty();
        for (number, receipt, time) in due.hide {
            let until = Instant::now().checked_add(time);
            let hidden =
                in_time(&self.settling, Operation::ChangeMessageVisibility, queue.hide(&receipt, time));
            match (hidden.await, until) {
                (Ok(()), Some(until)) => self.announcements.pending().set_hidden_until(number, until),
                (Ok(()), None) => {}
                (Err(error), _) => {
                    // It becomes visible again, which is as good.
                    tracing::debug!(%error, "could not extend the visibility timeout of a message");
                    self.announcements.pending().forget_message(number);
                }
            }
        }
        let mut receipts = Vec::new();
        for message in due.done {
            let happened = self.clouds.clock_of_queues().local(message.time);
            self.metrics.announcement_took(message.kind, happened.until(wall));
            if message.partly_unknown {
                self.count(message.kind, AnnouncementOutcome::Parked);
                self.hide(&self.settling, queue, &message.receipt, PARKED).await;
                continue;
            }
            self.count(message.kind, AnnouncementOutcome::Acted);
            receipts.push(message.receipt);
        }
        for message in due.expired {
            tracing::warn!(kind = ?message.kind, waits = ?message.waits, "deleting an AWS event that was not acted on in time");
            self.count(message.kind, AnnouncementOutcome::Expired);
            receipts.push(message.receipt);
        }
        for batch in receipts.chunks(BATCH) {
            self.delete(&self.settling, queue, batch).await;
        }
        busy
    }

    /// Makes all waiting messages visible: another manager is about to lead.
    async fn return_message(&self, address: &QueueAddress) {
        let Ok(queue) = self.clouds.queue(address).await else { return };
        let receipts = self.announcements.pending().receipts();
        let shown =
            receipts.iter().map(|receipt| self.hide(&self.settling, queue.as_ref(), receipt, Duration::ZERO));
        futures::stream::iter(shown).for_each_concurrent(AT_ONCE, |shown| shown).await;
    }

    async fn hide(&self, watchdog: &Watchdog, queue: &dyn Queue, receipt: &Receipt, time: Duration) {
        let hidden = in_time(watchdog, Operation::ChangeMessageVisibility, queue.hide(receipt, time));
        if let Err(error) = hidden.await {
            tracing::debug!(%error, "could not change the visibility timeout of a message; it is received again after the present one");
        }
    }

    /// A message that cannot be deleted returns; handling it twice is harmless.
    async fn delete(&self, watchdog: &Watchdog, queue: &dyn Queue, receipts: &[Receipt]) {
        let deleted = in_time(watchdog, Operation::DeleteMessageBatch, queue.delete(receipts));
        if let Err(error) = deleted.await {
            tracing::warn!(%error, messages = receipts.len(), "could not delete messages; they are received again");
        }
    }

    fn count(&self, kind: EventKind, outcome: AnnouncementOutcome) {
        self.metrics.announcement(kind, outcome);
    }
}

/// Group names and ids do not name the account; the ARN in the observation does.
fn is_of_account(region: &CloudRegion, place: &GroupKey, account: &str) -> bool {
    match region.observer.view(&place.group).map(|view| view.seen) {
        Some(Seen::Present(group)) => group.arn.split(':').nth(4).is_none_or(|it| it == account),
        Some(Seen::Absent) | None => true,
    }
}

/// The result of a call, or an error after the timeout.
async fn in_time<T>(
    watchdog: &Watchdog,
    operation: Operation,
    call: impl Future<Output = foo_cloud::Result<T>>,
) -> foo_cloud::Result<T> {
    watchdog.expects(LONGEST_CALL);
    let response = timeout(LONGEST_CALL, call).await;
    response.unwrap_or_else(|_elapsed| Err(CloudError::no_response(operation, LONGEST_CALL)))
}

async fn pause(watchdog: &Watchdog, time: Duration) {
    watchdog.expects(time);
    sleep(time).await;
}

fn after(failures: u32) -> Duration {
    DELAYS.after(failures, 0, &())
}
