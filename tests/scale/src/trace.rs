//! Counts over time, noted while a wait reads them.

use crate::progress::count;
use crate::record::{Count, Fleet, Moment, Story, TimeLine};
use foo_testbed::world::PoolView;
use foo_testbed::world::kinds::number;
use std::time::{Duration, Instant};

/// Two values of a count that changes all the time are at least this far apart: a time line of an hour stays small.
const APART: Duration = Duration::from_secs(1);

/// A time line while it grows.
#[derive(Debug)]
pub(crate) struct Trace {
    began: Instant,
    counts: Vec<Count>,
    marks: Vec<Moment>,
}

impl Trace {
    /// Begins now.
    pub(crate) fn begin() -> Self {
        Self { began: Instant::now(), counts: Vec::new(), marks: Vec::new() }
    }

    /// Time since its begin.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Takes note of a count as it is now.
    fn count(&mut self, name: &str, value: u32) {
        self.count_at(self.elapsed(), name, f64::from(value));
    }

    fn count_at(&mut self, at: Duration, name: &str, value: f64) {
        let at = at.as_secs_f64();
        let Some(count) = self.counts.iter_mut().find(|count| count.name == name) else {
            self.counts.push(Count { name: name.to_owned(), points: vec![(at, value)] });
            return;
        };
        let is_news = count.points.last().is_none_or(|(last, before)| {
            let changed = (before - value).abs() > f64::EPSILON;
            changed && at - last >= APART.as_secs_f64()
        });
        if is_news {
            count.points.push((at, value));
        }
    }

    /// Takes note of what a pool is like now.
    pub(crate) fn pool(&mut self, view: &PoolView) {
        let desired = view.group.as_ref().map_or(0, |group| group.sizes.desired);
        self.count("desired capacity", desired);
        self.count("Machines that run with a Ready Node", count(view.good().count()));
        self.count("Machines that are being deleted", count(view.deleting().count()));
        self.count("up-to-date replicas", up_to_date(view));
    }

    /// Takes note of what happens now, if it is the first time. Returns how long after the begin it happened first.
    pub(crate) fn mark(&mut self, name: &str) -> f64 {
        if let Some(known) = self.marks.iter().find(|mark| mark.name == name) {
            return known.at;
        }
        let at = self.elapsed().as_secs_f64();
        self.marks.push(Moment { at, name: name.to_owned() });
        at
    }

    /// Whether this has happened.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.marks.iter().any(|mark| mark.name == name)
    }

    /// The time line up to now. Every count is valid until then.
    pub(crate) fn end(self, story: Story, fleet: Fleet) -> TimeLine {
        let at = self.elapsed().as_secs_f64();
        let Self { began: _, mut counts, marks } = self;
        for count in &mut counts {
            count.points.extend(count.points.last().map(|(_, value)| (at, *value)));
        }
        TimeLine { story, fleet, counts, marks }
    }
}

/// How many of a pool's instances are of its present content. Until the manager has seen a change, what it counts is of
/// the former one.
pub(crate) fn up_to_date(view: &PoolView) -> u32 {
    let of = |path: &str| view.foo_pool.as_ref().and_then(|pool| number(pool, path));
    let is_seen = of("/status/observedGeneration") == of("/metadata/generation");
    let number = of("/status/upToDateReplicas").filter(|_| is_seen).unwrap_or_default();
    u32::try_from(number).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_noted_when_it_changes_but_not_more_often_than_once_a_second() {
        let mut trace = Trace::begin();
        for (at, value) in [(0, 0.0), (500, 0.0), (1_200, 3.0), (1_500, 4.0), (2_300, 5.0), (9_000, 5.0)] {
            trace.count_at(Duration::from_millis(at), "instances", value);
        }
        let TimeLine { counts, .. } = trace.end(Story::ScaleOut, Fleet::one_pool(5));
        let points = &counts.first().unwrap().points;
        assert_eq!(points.get(..3).unwrap(), [(0.0, 0.0), (1.2, 3.0), (2.3, 5.0)]);
        assert_eq!(
            (points.len(), points.last().unwrap().1),
            (4, 5.0),
            "the last value is valid until the end"
        );
    }

    #[test]
    fn what_happens_twice_is_marked_once() {
        let mut trace = Trace::begin();
        let first = trace.mark("it leads");
        assert!(trace.has("it leads") && !trace.has("it acts"));
        assert_eq!(trace.mark("it leads").to_bits(), first.to_bits());
        assert_eq!(trace.end(Story::FailOver, Fleet::one_pool(5)).marks.len(), 1);
    }
}
