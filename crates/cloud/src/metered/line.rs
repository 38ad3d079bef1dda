//! The calls that wait for a token of one bucket, and which of them gets the next one.
//!
//! The most urgent call does, and of equally urgent ones the one that has waited longest. Every fourth token goes to the
//! call that has waited longest of all, so that no call waits for ever: the call that has waited nth longest gets one of
//! the next 4 n tokens.
//!
//! No time and no tokens here: see [`super::bucket`].

use foo_model::operation::Priority;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// One token of this many goes to the call that has waited longest, however urgent others are.
const SHARE_OF_LONGEST: u32 = 4;

/// The waiting calls of one bucket.
#[derive(Debug, Default)]
pub(super) struct Line(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// The most urgent first. Each is notified when it may be its turn.
    calls: BTreeMap<Ticket, Arc<Notify>>,
    /// Number of the next ticket.
    next_number: u64,
    /// Tokens in a row that the call that had waited longest did not get.
    passed_over: u32,
}

/// A place in the line. Its order is that of priorities, then of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ticket {
    priority: Priority,
    number: u64,
}

/// A call that waits. It leaves the line when dropped, with or without a token.
#[derive(Debug)]
pub(super) struct Place<'a> {
    line: &'a Line,
    ticket: Ticket,
    turn: Arc<Notify>,
}

impl Line {
    /// A call begins to wait.
    pub(super) fn join(&self, priority: Priority) -> Place<'_> {
        let mut waiting = self.waiting();
        let ticket = Ticket { priority, number: waiting.next_number };
        waiting.next_number = waiting.next_number.saturating_add(1);
        let turn = Arc::new(Notify::new());
        waiting.calls.insert(ticket, Arc::clone(&turn));
        Place { line: self, ticket, turn }
    }

    /// How many calls wait that are at least as urgent.
    pub(super) fn ahead_of(&self, priority: Priority) -> u32 {
        let count = self.waiting().calls.keys().filter(|ticket| ticket.priority <= priority).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Whose turn it is.
    fn next(&self) -> Option<Ticket> {
        let longest_is_due = self.passed_over.saturating_add(1) >= SHARE_OF_LONGEST;
        if longest_is_due { self.longest() } else { self.calls.keys().next().copied() }
    }

    fn longest(&self) -> Option<Ticket> {
        self.calls.keys().min_by_key(|ticket| ticket.number).copied()
    }
}

impl Place<'_> {
    /// What `take` returns, if it is this call's turn. With a token the caller drops the place.
    pub(super) fn in_turn<T, E>(&self, take: impl FnOnce() -> Result<T, E>) -> Option<Result<T, E>> {
        let mut waiting = self.line.waiting();
        if waiting.next() != Some(self.ticket) {
            return None;
        }
        let taken = take();
        if taken.is_ok() {
            let was_longest = waiting.longest() == Some(self.ticket);
            waiting.passed_over = if was_longest { 0 } else { waiting.passed_over.saturating_add(1) };
        }
        Some(taken)
    }

    /// Returns when it may have become this call's turn.
    pub(super) async fn is_notified(&self) {
        self.turn.notified().await;
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut waiting = self.line.waiting();
        waiting.calls.remove(&self.ticket);
        let next = waiting.next().and_then(|ticket| waiting.calls.get(&ticket));
        if let Some(turn) = next {
            turn.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The priorities of waiting calls in the order in which they get tokens.
    fn served(line: &Line, mut places: Vec<Place<'_>>) -> Vec<Priority> {
        let mut order = Vec::new();
        while !places.is_empty() {
            let its_turn = |place: &Place<'_>| place.in_turn(|| Ok::<(), ()>(())).is_some();
            let at = places.iter().position(its_turn).expect("the turn of one of them");
            order.push(places.remove(at).ticket.priority);
        }
        assert_eq!(line.ahead_of(Priority::Read), 0);
        order
    }

    #[test]
    fn the_most_urgent_call_is_served_first_and_every_fourth_token_goes_to_the_longest_wait() {
        use Priority::{Hook, Launch, Read, Settings, Termination};
        let line = Line::default();
        let joined = [Read, Read, Settings, Launch, Launch, Termination, Termination, Hook, Hook];
        let places = joined.map(|priority| line.join(priority)).into();
        let order = served(&line, places);
        assert_eq!(order, [Hook, Hook, Termination, Read, Termination, Launch, Launch, Read, Settings]);
    }

    #[test]
    fn equally_urgent_calls_are_served_in_the_order_of_time() {
        let line = Line::default();
        let places: Vec<Place<'_>> = (0..9).map(|_| line.join(Priority::Launch)).collect();
        for place in places {
            assert_eq!(place.in_turn(|| Ok::<(), ()>(())), Some(Ok(())));
        }
    }

    #[test]
    fn a_call_without_a_token_keeps_its_turn() {
        let line = Line::default();
        let (read, hook) = (line.join(Priority::Read), line.join(Priority::Hook));
        assert_eq!(read.in_turn(|| Ok::<(), ()>(())), None, "the other one is more urgent");
        for _ in 0..9 {
            assert_eq!(hook.in_turn(|| Err::<(), ()>(())), Some(Err(())));
        }
        drop(hook);
        assert_eq!(read.in_turn(|| Ok::<(), ()>(())), Some(Ok(())));
    }

    #[test]
    fn urgent_calls_without_end_leave_a_quarter_of_the_tokens_to_others() {
        let line = Line::default();
        let mut reads: Vec<Place<'_>> = (0..5).map(|_| line.join(Priority::Read)).collect();
        let (mut hooks, mut tokens) = (0, 0);
        while let Some(read) = reads.first() {
            tokens += 1;
            let hook = line.join(Priority::Hook);
            if hook.in_turn(|| Ok::<(), ()>(())).is_some() {
                hooks += 1;
            } else {
                assert_eq!(read.in_turn(|| Ok::<(), ()>(())), Some(Ok(())));
                drop(reads.remove(0));
            }
        }
        assert_eq!((tokens, hooks), (20, 15));
    }

    #[test]
    fn only_calls_that_are_at_least_as_urgent_are_ahead() {
        let line = Line::default();
        let _places =
            [Priority::Hook, Priority::Launch, Priority::Launch, Priority::Read].map(|it| line.join(it));
        assert_eq!(
            [Priority::Hook, Priority::Termination, Priority::Launch, Priority::Read]
                .map(|it| line.ahead_of(it)),
            [1, 1, 3, 4]
        );
    }
}
