//! When a read may drop what is on record.
//!
//! A record names what a manager set in AWS: a key of a tag, a provider, a rule in a group of another owner. It is there so that the
//! provider removes that once the spec no longer requests it. A read that does not show it may be older than the call that set it. Dropped
//! because of such a read, it would stay in AWS for ever. So a record is dropped because of a read by [`Calls::forget`] only, or after
//! [`Calls::shows_all`].
//!
//! Two kinds of records need no such read: one that has the time of its call, which a read has to be later than (creations of a network
//! whose response was lost), and one that only delays calls (what failed, and how often).

use crate::action::Action;
use crate::calls::Calls;
use foo_model::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// Names on record.
pub trait Names {
    /// One of them: a key of a tag, a name, an id, an ARN.
    type Name;

    /// Keeps those for which this is true.
    fn keep(&mut self, is_kept: impl FnMut(&Self::Name) -> bool);
}

impl<T: Ord> Names for BTreeSet<T> {
    type Name = T;

    fn keep(&mut self, is_kept: impl FnMut(&T) -> bool) {
        self.retain(is_kept);
    }
}

/// The keys are the names.
impl<K: Ord, V> Names for BTreeMap<K, V> {
    type Name = K;

    fn keep(&mut self, mut is_kept: impl FnMut(&K) -> bool) {
        self.retain(|name, _| is_kept(name));
    }
}

impl<T> Names for Option<T> {
    type Name = T;

    fn keep(&mut self, is_kept: impl FnMut(&T) -> bool) {
        *self = self.take().filter(is_kept);
    }
}

impl<A: Action> Calls<A> {
    /// From when on a read has to begin to show the effects of all calls to which this process has no response: those of the manager before
    /// it, which may have sent calls until this process planned first, and its own whose response was lost. `None`: it has not planned yet.
    pub fn shows_all_from(&self) -> Option<Timestamp> {
        let lost = self.failures.iter().filter_map(|it| it.lost_at).max();
        self.started.max(lost).map(|at| at.plus(A::LAG))
    }

    /// Whether a read that began at this time shows the effects of all these calls; `None`: there was no read.
    pub fn shows_all(&self, begun: Option<Timestamp>) -> bool {
        self.shows_all_from().is_some_and(|from| begun >= Some(from))
    }

    /// Drops the names on record for which `is_over` is true: neither the spec nor a read that began at this time has them. A read that may
    /// not show all drops none. Then this returns from when on a read has to begin that may, if there is such a name.
    pub fn forget<N: Names>(
        &self,
        begun: Option<Timestamp>,
        record: &mut N,
        mut is_over: impl FnMut(&N::Name) -> bool,
    ) -> Option<Timestamp> {
        let shows_all = self.shows_all(begun);
        let mut waits = false;
        record.keep(|name| {
            let is_over = is_over(name);
            waits |= is_over && !shows_all;
            !(is_over && shows_all)
        });
        self.shows_all_from().filter(|_| waits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backoff::Backoff;
    use crate::outcome::{Outcome, Refusal};
    use foo_model::Reason;
    use serde::{Deserialize, Serialize};
    use std::time::Duration;

    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    struct Call;

    impl Action for Call {
        type Response = ();
        type Record = ();

        const LAG: Duration = Duration::from_secs(30);

        fn operation(&self) -> &'static str {
            "Call"
        }

        fn repeats(&self, earlier: &Self) -> bool {
            self == earlier
        }

        fn busy(_reason: Reason) -> Option<Backoff> {
            None
        }
    }

    const START: Timestamp = Timestamp(1_000_000);

    fn begun() -> Calls<Call> {
        let mut calls = Calls::default();
        calls.begin(&(), START);
        calls
    }

    fn after(seconds: u64) -> Timestamp {
        START.plus(Duration::from_secs(seconds))
    }

    #[test]
    fn only_a_read_that_began_a_delay_of_aws_after_the_first_plan_drops_what_is_on_record() {
        let calls = begun();
        let mut keys = BTreeSet::from(["a", "b"]);
        for early in [None, Some(after(0)), Some(after(29))] {
            assert_eq!(calls.forget(early, &mut keys, |key| *key == "a"), Some(after(30)));
            assert_eq!(keys.len(), 2);
        }
        assert_eq!(calls.forget(Some(after(30)), &mut keys, |key| *key == "a"), None);
        assert_eq!(keys, BTreeSet::from(["b"]));
    }

    #[test]
    fn without_anything_to_drop_no_read_is_needed() {
        assert_eq!(begun().forget(None, &mut Some("a"), |_| false), None);
        assert_eq!(begun().forget(None, &mut BTreeMap::<&str, u8>::new(), |_| true), None);
    }

    #[test]
    fn a_call_whose_response_was_lost_may_have_set_it_again() {
        let mut calls = begun();
        let refusal = Refusal { reason: Reason::ResponseLost, code: None, message: String::new() };
        calls.ended(&Call, START.plus(Duration::from_mins(10)), Outcome::Lost(refusal));
        let mut name = Some("a");
        assert_eq!(calls.forget(Some(after(629)), &mut name, |_| true), Some(after(630)));
        assert_eq!(calls.forget(Some(after(630)), &mut name, |_| true), None);
        assert_eq!(name, None);
    }

    #[test]
    fn a_refusal_of_its_repetition_does_not_say_that_a_lost_call_did_not_set_it() {
        let mut calls = begun();
        let refusal = |reason| Refusal { reason, code: None, message: String::new() };
        calls.ended(&Call, after(600), Outcome::Lost(refusal(Reason::ResponseLost)));
        calls.ended(&Call, after(605), Outcome::Refused(refusal(Reason::AccessDenied)));
        let mut name = Some("a");
        assert_eq!(calls.forget(Some(after(629)), &mut name, |_| true), Some(after(630)));
        assert_eq!(calls.forget(Some(after(630)), &mut name, |_| true), None, "the refused call set nothing");
        assert_eq!(name, None);
    }

    #[test]
    fn a_process_that_has_not_planned_yet_drops_nothing() {
        let mut name = Some("a");
        assert_eq!(Calls::<Call>::default().forget(Some(after(3_600)), &mut name, |_| true), None);
        assert_eq!(name, Some("a"));
    }
}
