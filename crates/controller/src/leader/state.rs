//! The rules of the election: what a candidate does next, given what it has read and its own clock.
//!
//! Pure: no clock, no I/O. Moments are monotonic local time; the wall-clock times in a Lease are for users
//! only.
//!
//! Why two candidates never lead at the same moment, whatever is delayed or lost:
//! * Every write carries the resourceVersion that it is based on, so it takes effect only if no other write
//!   came in between.
//! * A leader works until [`Timing::renew_deadline`] after it *sent* its last acknowledged write.
//! * Another candidate writes only after it has seen the same resourceVersion for the whole lease duration by
//!   its own clock (the rule of client-go), and that version cannot have been seen before it was sent.
//! * A user may have deleted the Lease under a leader. The candidate that finds no Lease creates one, but
//!   does not lead because of that: it waits for the lease duration like all others, and then replaces the
//!   Lease that it created. That the Lease was absent for that long would not be sufficient, since it may
//!   have been created and deleted in between. Only a leader continues to lead with a Lease that it
//!   recreated.
//! * A Lease with a candidate's name does not make that candidate the leader either: it may be an old write
//!   that arrived late.
//! * A leader that reads the Lease with another holder, or with none, stops at once: another client has
//!   interfered.
//! * The renew deadline is shorter than the lease duration. The difference covers clocks that run at
//!   different rates, and calls that were sent just before the end.
//!
//! A lost response, a delayed write that arrives late, or a change by a third party only make others wait
//! longer.

use std::time::Duration;

/// Monotonic local time since some start.
pub type Moment = Duration;

/// The periods of the election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timing {
    /// How long others wait after the last write of a leader.
    pub lease_duration: Duration,
    /// How long a leader works after its last acknowledged write; shorter than the lease duration.
    pub renew_deadline: Duration,
    /// Time between two attempts; shorter than the renew deadline.
    pub retry_period: Duration,
}

/// The fields of the Lease that matter here.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The holder; none after a release.
    pub holder: Option<String>,
    /// The holder's lease duration.
    pub duration: Duration,
    /// How often the holder has changed.
    pub transitions: i32,
    /// The resourceVersion of the object.
    pub version: String,
}

/// What the driver does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Read the Lease, then call [`Election::was_read`].
    Read,
    /// Create or replace the Lease, then call [`Election::was_written`].
    Write(Write),
    /// Wait for that long.
    Sleep(Duration),
    /// Leadership is lost for good: all work must have ended by now.
    Stop,
}

/// A Lease to be written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Write {
    /// The version that it replaces; `None` creates the Lease, and fails if it exists.
    pub replaces: Option<String>,
    /// The new holder; none in a release.
    pub holder: Option<String>,
    /// How long others have to wait.
    pub duration: Duration,
    /// How often the holder has changed.
    pub transitions: i32,
    /// Whether the write changes the holder.
    pub change: Change,
}

/// Whether a write changes the holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// A new holder.
    Acquire,
    /// The same holder.
    Renew,
}

/// The result of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// It took effect; contains the new record.
    Done(Record),
    /// Another client wrote in between.
    Conflict,
    /// It failed, or its result is unknown.
    Failed,
}

/// One candidate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Election {
    me: String,
    timing: Timing,
    seen: Option<Seen>,
    /// Whether the write under way only creates the Lease.
    making: Making,
    /// Leads until that moment.
    until: Option<Moment>,
    /// When the write under way was sent.
    sent: Option<Moment>,
    not_before: Moment,
    phase: Phase,
}

/// Whether a write only creates a missing Lease, which does not make its writer the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Making {
    Yes,
    No,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// The Lease has to be read before anything else.
    Unsure,
    /// The Lease was read or written, and nothing has contradicted it since.
    Informed,
    /// Leadership was lost.
    Over,
}

/// The Lease as last read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Seen {
    record: Record,
    /// When this version was read for the first time.
    first: Moment,
}

/// The API server refuses a Lease of less.
const LEAST_DURATION: Duration = Duration::from_secs(1);

impl Election {
    /// A candidate. `me` must differ from every other candidate's name, including those of earlier processes.
    pub fn new(me: impl Into<String>, timing: Timing) -> Self {
        Self {
            me: me.into(),
            timing,
            seen: None,
            making: Making::No,
            until: None,
            sent: None,
            not_before: Moment::ZERO,
            phase: Phase::Unsure,
        }
    }

    /// Whether this candidate leads at that moment.
    pub fn leads(&self, now: Moment) -> bool {
        self.until.is_some_and(|until| now < until)
    }

    /// Until when this candidate leads if nothing else happens.
    pub fn leads_until(&self) -> Option<Moment> {
        self.until
    }

    /// The holder of the Lease, as last read.
    pub fn holder(&self) -> Option<&str> {
        self.seen.as_ref()?.record.holder.as_deref()
    }

    /// What to do next. Not to be called while a read or write is under way.
    pub fn next(&mut self, now: Moment) -> Step {
        if self.until.is_some_and(|until| now >= until) {
            self.until = None;
            self.phase = Phase::Over;
        }
        match self.phase {
            Phase::Over => Step::Stop,
            Phase::Unsure | Phase::Informed if now < self.not_before => self.sleep(self.not_before, now),
            Phase::Unsure => Step::Read,
            Phase::Informed => self.informed(now),
        }
    }

    /// The Lease was read: its record, or none if it does not exist.
    pub fn was_read(&mut self, now: Moment, record: Option<Record>) {
        self.phase = Phase::Informed;
        let others = record.as_ref().is_some_and(|record| record.holder.as_deref() != Some(self.me.as_str()));
        self.see(now, record);
        if others && self.until.take().is_some() {
            self.phase = Phase::Over;
        }
    }

    /// The Lease could not be read.
    pub fn was_not_read(&mut self, now: Moment) {
        self.retry_later(now);
    }

    /// The write under way ended.
    pub fn was_written(&mut self, now: Moment, written: Written) {
        let sent = self.sent.take();
        match (written, sent) {
            (Written::Done(record), Some(sent)) => {
                self.see(now, Some(record));
                if self.making == Making::Yes {
                    self.phase = Phase::Informed;
                    return;
                }
                let until = sent.saturating_add(self.timing.renew_deadline);
                // A late response must not revive a leadership that has ended: work has stopped.
                let revived = self.until.is_some_and(|until| now >= until);
                if !revived && now < until {
                    self.until = Some(until);
                    self.phase = Phase::Informed;
                    self.not_before = sent.saturating_add(self.timing.retry_period);
                } else {
                    self.retry_later(now);
                }
            }
            (Written::Conflict, Some(_)) => self.phase = Phase::Unsure,
            (Written::Failed, Some(_)) | (_, None) => self.retry_later(now),
        }
    }

    /// The last write of a candidate whose work has ended, so that others need not wait longer than they must. `None`
    /// if the Lease is not its own.
    ///
    /// A leader empties the Lease. A candidate that only created it leaves it for the rest of its own wait: until then
    /// one may still lead by a Lease that was deleted.
    pub fn release(&mut self, now: Moment) -> Option<Write> {
        let leads = self.leads(now);
        let never_led = self.until.is_none() && self.phase != Phase::Over;
        self.until = None;
        self.phase = Phase::Over;
        let seen = self.seen.as_ref()?;
        let own = seen.record.holder.as_deref() == Some(self.me.as_str());
        let (holder, duration) = match (own, leads, never_led) {
            // As in client-go: readers that do not know empty holders wait a second.
            (true, true, _) => (None, LEAST_DURATION),
            (true, false, true) => {
                let left = seen.first.saturating_add(seen.record.duration).saturating_sub(now);
                let seconds = left.as_secs().saturating_add(u64::from(left.subsec_nanos() > 0));
                (Some(self.me.clone()), Duration::from_secs(seconds).max(LEAST_DURATION))
            }
            (true, false, false) | (false, _, _) => return None,
        };
        Some(Write {
            replaces: Some(seen.record.version.clone()),
            holder,
            duration,
            transitions: seen.record.transitions,
            change: Change::Renew,
        })
    }

    fn informed(&mut self, now: Moment) -> Step {
        let mut making = Making::No;
        let write = match &self.seen {
            None => {
                making = if self.leads(now) { Making::No } else { Making::Yes };
                self.acquire(None, 0)
            }
            Some(seen) => {
                let record = &seen.record;
                let version = Some(record.version.clone());
                match record.holder.as_deref() {
                    Some(holder) if holder == self.me && self.leads(now) => Write {
                        replaces: version,
                        holder: Some(self.me.clone()),
                        duration: self.timing.lease_duration,
                        transitions: record.transitions,
                        change: Change::Renew,
                    },
                    None | Some("") => self.acquire(version, record.transitions.saturating_add(1)),
                    Some(holder) => {
                        let changes = i32::from(holder != self.me);
                        let expires = seen.first.saturating_add(record.duration);
                        if now < expires {
                            return self.read_again(expires, now);
                        }
                        self.acquire(version, record.transitions.saturating_add(changes))
                    }
                }
            }
        };
        self.sent = Some(now);
        self.making = making;
        Step::Write(write)
    }

    /// Reads the Lease again before `free`, the moment at which it expires, to notice both a release and a
    /// renewal.
    fn read_again(&mut self, free: Moment, now: Moment) -> Step {
        self.phase = Phase::Unsure;
        self.not_before = free.min(now.saturating_add(self.timing.retry_period));
        self.sleep(self.not_before, now)
    }

    fn acquire(&self, replaces: Option<String>, transitions: i32) -> Write {
        Write {
            replaces,
            holder: Some(self.me.clone()),
            duration: self.timing.lease_duration,
            transitions,
            change: Change::Acquire,
        }
    }

    fn see(&mut self, now: Moment, record: Option<Record>) {
        let known = self.seen.take();
        self.seen = record.map(|record| match known {
            Some(known) if known.record.version == record.version => known,
            _ => Seen { record, first: now },
        });
    }

    fn retry_later(&mut self, now: Moment) {
        self.phase = Phase::Unsure;
        self.not_before = now.saturating_add(self.timing.retry_period);
    }

    /// The same candidate with all its moments that much earlier.
    #[cfg(test)]
    pub(super) fn aged(&mut self, by: Duration) {
        let moments = [
            self.seen.as_mut().map(|seen| &mut seen.first),
            self.until.as_mut(),
            self.sent.as_mut(),
            Some(&mut self.not_before),
        ];
        for moment in moments.into_iter().flatten() {
            *moment = moment.saturating_sub(by);
        }
    }

    /// Its name.
    #[cfg(test)]
    pub(super) fn name(&self) -> &str {
        &self.me
    }

    /// Its name, to be renamed.
    #[cfg(test)]
    pub(super) fn name_mut(&mut self) -> &mut String {
        &mut self.me
    }

    /// The Lease as last read, to be renamed.
    #[cfg(test)]
    pub(super) fn record_mut(&mut self) -> Option<&mut Record> {
        self.seen.as_mut().map(|seen| &mut seen.record)
    }

    /// Waits, but never past the end of the leadership.
    fn sleep(&self, wake: Moment, now: Moment) -> Step {
        let wake = self.until.map_or(wake, |until| wake.min(until));
        Step::Sleep(wake.saturating_sub(now))
    }
}
