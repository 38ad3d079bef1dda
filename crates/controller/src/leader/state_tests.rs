//! Every transition of the election. Every interleaving of two candidates: `model_tests`.

use super::state::{Change, Election, Moment, Record, Step, Timing, Write, Written};
use std::time::Duration;

const TIMING: Timing = Timing { lease_duration: s(15), renew_deadline: s(10), retry_period: s(2) };

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn holder_is(holder: &str, version: u32) -> Record {
    Record {
        holder: Some(holder.into()),
        duration: TIMING.lease_duration,
        transitions: 3,
        version: version.to_string(),
    }
}

fn released() -> Record {
    Record { holder: None, ..holder_is("", 0) }
}

fn written(election: &mut Election, now: Moment) -> Write {
    match election.next(now) {
        Step::Write(write) => write,
        other => panic!("expected a write, not {other:?}"),
    }
}

/// A candidate that became the leader by a write sent at 0.
fn leader() -> Election {
    let mut me = Election::new("me", TIMING);
    assert_eq!(me.next(s(0)), Step::Read);
    me.was_read(s(0), Some(released()));
    let write = written(&mut me, s(0));
    assert_eq!((write.replaces.as_deref(), write.change), (Some("0"), Change::Acquire));
    me.was_written(s(0), Written::Done(holder_is("me", 1)));
    assert!(me.leads(s(0)));
    me
}

#[test]
fn a_candidate_that_creates_a_lease_waits_for_the_leader_of_a_deleted_one() {
    let mut me = Election::new("me", TIMING);
    me.was_read(s(0), None);
    let write = written(&mut me, s(0));
    assert_eq!((write.replaces, write.holder.as_deref()), (None, Some("me")));
    me.was_written(s(0), Written::Done(holder_is("me", 1)));
    for now in [0, 2, 4, 6, 8, 10, 12] {
        assert!(!me.leads(s(now)));
        assert_eq!(me.next(s(now)), Step::Sleep(s(2)), "at {now}");
        me.was_read(s(now + 2), Some(holder_is("me", 1)));
    }
    me.was_read(s(15), Some(holder_is("me", 1)));
    let write = written(&mut me, s(15));
    assert_eq!((write.replaces.as_deref(), write.change), (Some("1"), Change::Acquire));
    me.was_written(s(15), Written::Done(holder_is("me", 2)));
    assert!(me.leads(s(15)));
}

#[test]
fn a_leader_recreates_its_deleted_lease_at_once() {
    let mut me = leader();
    written(&mut me, s(2));
    me.was_written(s(2), Written::Conflict);
    me.was_read(s(3), None);
    assert_eq!(written(&mut me, s(3)).replaces, None);
    assert!(me.leads(s(9)));
}

#[test]
fn a_released_lease_is_taken_at_once() {
    for holder in [None, Some(String::new())] {
        let mut me = Election::new("me", TIMING);
        me.was_read(s(0), Some(Record { holder, ..holder_is("", 7) }));
        let write = written(&mut me, s(0));
        assert_eq!(write.replaces.as_deref(), Some("7"));
        assert_eq!((write.change, write.transitions), (Change::Acquire, 4));
    }
}

#[test]
fn another_holders_lease_is_read_until_it_has_not_changed_for_its_duration() {
    let mut me = Election::new("me", TIMING);
    me.was_read(s(100), Some(holder_is("other", 7)));
    for now in [100, 102, 104, 106, 108, 110] {
        assert_eq!(me.next(s(now)), Step::Sleep(s(2)), "at {now}");
        assert_eq!(me.next(s(now + 2)), Step::Read);
        me.was_read(s(now + 2), Some(holder_is("other", 7)));
    }
    assert_eq!(me.next(s(114)), Step::Sleep(s(2)).min_sleep(s(1)), "wakes when it expires");
    assert_eq!(me.next(s(115)), Step::Read, "one last read");
    me.was_read(s(115), Some(holder_is("other", 7)));
    assert_eq!(written(&mut me, s(115)).replaces.as_deref(), Some("7"));
}

#[test]
fn a_renewal_by_the_holder_restarts_the_wait() {
    let mut me = Election::new("me", TIMING);
    me.was_read(s(100), Some(holder_is("other", 7)));
    me.was_read(s(114), Some(holder_is("other", 8)));
    assert!(matches!(me.next(s(128)), Step::Sleep(_)));
    assert_eq!(me.next(s(129)), Step::Read);
    me.was_read(s(129), Some(holder_is("other", 8)));
    assert_eq!(written(&mut me, s(129)).replaces.as_deref(), Some("8"));
}

#[test]
fn the_holders_own_duration_counts() {
    let mut me = Election::new("me", TIMING);
    me.was_read(s(0), Some(Record { duration: s(60), ..holder_is("other", 7) }));
    assert!(matches!(me.next(s(59)), Step::Sleep(_)));
    me.was_read(s(60), Some(Record { duration: s(60), ..holder_is("other", 7) }));
    assert!(matches!(me.next(s(60)), Step::Write(_)));
}

#[test]
fn a_leader_renews_every_retry_period_from_when_it_sent() {
    let mut me = leader();
    assert_eq!(me.next(s(0)), Step::Sleep(s(2)));
    let write = written(&mut me, s(2));
    assert_eq!((write.replaces.as_deref(), write.change, write.transitions), (Some("1"), Change::Renew, 3));
    me.was_written(s(5), Written::Done(holder_is("me", 2)));
    assert_eq!(me.leads_until(), Some(s(12)), "counted from when it was sent");
    assert_eq!(written(&mut me, s(5)).replaces.as_deref(), Some("2"));
}

#[test]
fn failures_do_not_extend_a_leadership_and_it_ends_in_time() {
    let mut me = leader();
    let mut now = s(2);
    while me.leads(now) {
        match me.next(now) {
            Step::Write(_) => me.was_written(now, Written::Failed),
            Step::Read => me.was_not_read(now),
            Step::Sleep(pause) => {
                assert!(now + pause <= s(10), "never sleeps past the end");
                now += pause;
            }
            Step::Stop => break,
        }
    }
    assert_eq!(now, s(10));
    assert_eq!(me.next(s(10)), Step::Stop);
    assert_eq!(me.next(s(99)), Step::Stop, "for good");
}

#[test]
fn after_a_failure_the_lease_is_read_before_it_is_written_again() {
    let mut me = leader();
    written(&mut me, s(2));
    me.was_written(s(3), Written::Failed);
    assert_eq!(me.next(s(3)), Step::Sleep(s(2)));
    assert_eq!(me.next(s(5)), Step::Read);
    // The write had taken effect nevertheless.
    me.was_read(s(5), Some(holder_is("me", 2)));
    assert_eq!(me.leads_until(), Some(s(10)), "reading extends nothing");
    assert_eq!(written(&mut me, s(5)).replaces.as_deref(), Some("2"));
}

#[test]
fn after_a_conflict_the_lease_is_read_at_once() {
    let mut me = leader();
    written(&mut me, s(2));
    me.was_written(s(2), Written::Conflict);
    assert_eq!(me.next(s(2)), Step::Read);
}

#[test]
fn a_leader_that_sees_another_holder_or_none_stops_at_once() {
    for seen in [holder_is("other", 9), released()] {
        let mut me = leader();
        written(&mut me, s(2));
        me.was_written(s(2), Written::Conflict);
        me.was_read(s(3), Some(seen));
        assert!(!me.leads(s(3)));
        assert_eq!(me.next(s(3)), Step::Stop);
    }
}

#[test]
fn a_late_response_makes_no_leader() {
    let mut me = Election::new("me", TIMING);
    me.was_read(s(0), Some(released()));
    written(&mut me, s(0));
    me.was_written(s(10), Written::Done(holder_is("me", 1)));
    assert!(!me.leads(s(10)));
    // The Lease has its name, but another candidate may have led in between: it waits as for any other
    // holder.
    assert_eq!(me.next(s(12)), Step::Read);
    me.was_read(s(12), Some(holder_is("me", 1)));
    assert!(matches!(me.next(s(12)), Step::Sleep(_)));
    me.was_read(s(25), Some(holder_is("me", 1)));
    assert_eq!(written(&mut me, s(25)).change, Change::Acquire);
    me.was_written(s(26), Written::Done(holder_is("me", 2)));
    assert!(me.leads(s(26)));
}

#[test]
fn a_lost_leadership_is_not_revived_by_a_late_response() {
    let mut me = leader();
    written(&mut me, s(9));
    me.was_written(s(11), Written::Done(holder_is("me", 2)));
    assert!(!me.leads(s(11)), "work has stopped at 10");
    assert_eq!(me.next(s(11)), Step::Stop);
}

#[test]
fn a_release_empties_the_lease_and_ends_everything() {
    let mut me = leader();
    let write = me.release(s(3)).expect("a release");
    assert_eq!((write.holder, write.replaces.as_deref(), write.duration), (None, Some("1"), s(1)));
    assert!(!me.leads(s(3)));
    assert_eq!(me.next(s(3)), Step::Stop);
    assert_eq!(leader().release(s(10)), None, "nothing is left to release");
    assert_eq!(Election::new("me", TIMING).release(s(0)), None);
}

#[test]
fn a_candidate_that_created_the_lease_and_does_not_lead_yet_leaves_it_for_the_rest_of_its_wait() {
    let mut me = Election::new("me", TIMING);
    me.was_read(s(0), None);
    written(&mut me, s(0));
    me.was_written(s(0), Written::Done(holder_is("me", 1)));
    assert!(!me.leads(s(4)));
    let write = me.release(s(4)).expect("a release");
    assert_eq!((write.holder.as_deref(), write.replaces.as_deref()), (Some("me"), Some("1")));
    assert_eq!(write.duration, s(11), "one may lead by a deleted Lease until then");
    assert_eq!(me.next(s(4)), Step::Stop);
    let mut standby = Election::new("me", TIMING);
    standby.was_read(s(0), Some(holder_is("other", 7)));
    assert_eq!(standby.release(s(1)), None, "it is another's");
}

trait MinSleep {
    fn min_sleep(self, most: Duration) -> Step;
}

impl MinSleep for Step {
    fn min_sleep(self, most: Duration) -> Step {
        match self {
            Self::Sleep(pause) => Self::Sleep(pause.min(most)),
            other => other,
        }
    }
}
