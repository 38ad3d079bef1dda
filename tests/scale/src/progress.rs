//! How far a wait is, at which rate, and how much time is left: pure, so that tests need no clock.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

/// The rate is that of this much time before now.
const WINDOW: Duration = Duration::from_mins(2);

/// How far something is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// What is done.
    pub(crate) done: u32,
    /// What there is to do.
    pub(crate) of: u32,
    /// What it is like now, in a few words.
    pub(crate) seen: String,
}

impl Progress {
    /// Of a number that is to become another one, greater or less.
    pub(crate) fn between(from: u32, to: u32, now: u32, seen: String) -> Self {
        let done = if to >= from { now.saturating_sub(from) } else { from.saturating_sub(now) };
        let of = from.abs_diff(to);
        Self { done: done.min(of), of, seen }
    }

    /// Of events, of which each has happened or not.
    pub(crate) fn events(happened: &[bool], seen: String) -> Self {
        Self { done: count(happened.iter().filter(|it| **it).count()), of: count(happened.len()), seen }
    }
}

/// A number of things, as figures have it.
pub(crate) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The progress of one wait.
#[derive(Debug)]
pub(crate) struct Pace {
    what: String,
    deadline: Duration,
    last: Option<Progress>,
    /// When it was seen, and what was done then. The first one is the last that is older than the window.
    seen: VecDeque<(Duration, u32)>,
    /// When what is done changed.
    changed: Duration,
}

impl Pace {
    /// Of a wait that ends with an error after `deadline`.
    pub(crate) fn new(what: &str, deadline: Duration) -> Self {
        Self { what: what.to_owned(), deadline, last: None, seen: VecDeque::new(), changed: Duration::ZERO }
    }

    /// Takes note of what was seen so long after the begin.
    pub(crate) fn note(&mut self, at: Duration, progress: Progress) {
        if self.last.as_ref().is_none_or(|last| last.done != progress.done) {
            self.changed = at;
        }
        self.seen.push_back((at, progress.done));
        while self.seen.get(1).is_some_and(|(second, _)| *second + WINDOW <= at) {
            self.seen.pop_front();
        }
        self.last = Some(progress);
    }

    /// What is done per second. None while that cannot be known, or while nothing advances.
    fn rate(&self) -> Option<f64> {
        let ((from, before), (to, now)) = (self.seen.front()?, self.seen.back()?);
        let time = to.saturating_sub(*from).as_secs_f64();
        let done = now.checked_sub(*before).filter(|done| *done > 0)?;
        (time > 0.0).then(|| f64::from(done) / time)
    }

    /// One line about it, so long after the begin.
    pub(crate) fn line(&self, at: Duration) -> String {
        let mut line = format!("{}: ", self.what);
        // A String takes everything.
        let _written = match &self.last {
            None => write!(line, "in progress"),
            Some(Progress { done, of, seen }) => {
                if let Some(rate) = self.rate() {
                    let left = Duration::try_from_secs_f64(f64::from(of.saturating_sub(*done)) / rate);
                    let left = left.map_or_else(|_| "unknown time".to_owned(), shown);
                    write!(line, "{done} of {of}, {rate:.1} per second, about {left} left; {seen}")
                } else {
                    let still = shown(at.saturating_sub(self.changed));
                    write!(line, "{done} of {of}, unchanged for {still}; {seen}")
                }
            }
        };
        format!("{line} ({} passed, an error after {})", shown(at), shown(self.deadline))
    }
}

/// A time in minutes and seconds.
fn shown(time: Duration) -> String {
    match (time.as_secs() / 60, time.as_secs() % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line after what was done at these seconds.
    fn line(of: u32, seen: &[(u64, u32)], now: u64) -> String {
        let mut pace = Pace::new("scale-out", Duration::from_mins(30));
        for (at, done) in seen {
            let progress = Progress { done: *done, of, seen: "fine".to_owned() };
            pace.note(Duration::from_secs(*at), progress);
        }
        pace.line(Duration::from_secs(now))
    }

    #[test]
    fn the_time_left_follows_from_the_rate() {
        assert_eq!(
            line(1000, &[(0, 0), (15, 60), (30, 120)], 30),
            "scale-out: 120 of 1000, 4.0 per second, about 3 min 40 s left; fine (30 s passed, an error after 30 min 0 s)"
        );
    }

    #[test]
    fn the_rate_is_that_of_the_last_two_minutes() {
        let slow_then_fast = [(0, 0), (600, 10), (660, 70), (720, 130)];
        assert!(line(190, &slow_then_fast, 720).contains("130 of 190, 1.0 per second, about 1 min 0 s left"));
    }

    #[test]
    fn what_does_not_advance_is_named_with_its_time() {
        let line = line(10, &[(0, 0), (20, 9), (100, 9), (200, 9), (300, 9)], 300);
        assert!(line.contains("9 of 10, unchanged for 4 min 40 s; fine"), "{line}");
    }

    #[test]
    fn a_wait_that_has_read_nothing_shows_its_time() {
        let line = line(10, &[], 20);
        assert_eq!(line, "scale-out: in progress (20 s passed, an error after 30 min 0 s)");
    }

    #[test]
    fn progress_counts_up_and_down() {
        let done = |from, to, now| {
            let Progress { done, of, .. } = Progress::between(from, to, now, String::new());
            (done, of)
        };
        assert_eq!([done(0, 10, 4), done(100, 10, 40), done(0, 10, 11)], [(4, 10), (60, 90), (10, 10)]);
        assert_eq!(done(5, 10, 3), (0, 5));
        assert_eq!(Progress::events(&[true, false, true], String::new()).done, 2);
    }
}
