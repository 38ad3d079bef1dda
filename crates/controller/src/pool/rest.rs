//! I10 at run time: what is settled rests. A pass that sees exactly what the pass before it saw has nothing to do and nothing to
//! write, unless a timer of the last plan called for it.
//!
//! Once is no matter: somebody may have written over our status. Twice in a row is a loop, which would cost writes or calls for
//! ever without getting anywhere.

use foo_cloud::model::Timestamp;
use foo_planner::{Desired, Look, Memory, Observed};
use std::fmt::{self, Debug, Write as _};
use std::hash::{DefaultHasher, Hasher as _};

/// What the last pass of a pool saw, and whether it rested.
#[derive(Debug, Default)]
pub(super) struct Rest {
    seen: Option<u64>,
    until: Option<Timestamp>,
    /// Nothing calls for the pass that is under way.
    uncalled: bool,
    busy: u32,
}

impl Rest {
    /// A pass begins at that time with a digest of what it sees ([`digest`]).
    pub(super) fn begins(&mut self, digest: u64, now: Timestamp) {
        let is_same = self.seen.replace(digest) == Some(digest);
        self.uncalled = is_same && self.until.is_none_or(|until| now < until);
    }

    /// It has ended: whether it did or wrote something, and until when it wants to be left alone. Says whether it was the
    /// second in a row that did something which nothing called for.
    pub(super) fn ends(&mut self, did: bool, until: Option<Timestamp>) -> bool {
        self.until = until;
        // One that never began, because there are no credentials, has a reason of its own.
        let uncalled = std::mem::take(&mut self.uncalled);
        self.busy = if did && uncalled { self.busy.saturating_add(1) } else { 0 };
        self.busy >= 2
    }
}

/// Stands for everything that a plan depends on, but for the time and for when things were looked at.
pub(super) fn digest(desired: &Desired, observed: &Observed, memory: &Memory) -> u64 {
    let Observed {
        now: _,
        settled_from: _,
        group,
        template,
        hook,
        strays,
        signals,
        foo_machines,
        machines,
        finalizer,
        moves,
        quarantine,
        recorded_arn,
        shortage,
        causes,
    } = observed;
    let mut digest = Digest(DefaultHasher::new());
    let looks: [&dyn Debug; 3] = [seen(group), seen(template), seen(hook)];
    let whole: [&dyn Debug; 12] = [
        desired,
        memory,
        strays,
        signals,
        foo_machines,
        machines,
        finalizer,
        moves,
        quarantine,
        recorded_arn,
        shortage,
        causes,
    ];
    for part in looks.iter().chain(&whole) {
        // A hasher takes everything.
        let _written = writeln!(digest, "{part:?}");
    }
    digest.0.finish()
}

/// What was seen, without when.
fn seen<T: Debug>(look: &Look<T>) -> &dyn Debug {
    match look {
        Look::At { seen, .. } => seen,
        Look::Unknown | Look::Failed { .. } => look,
    }
}

/// Hashes text as it is written.
struct Digest(DefaultHasher);

impl fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn at(second: u64) -> Timestamp {
        Timestamp::default().plus(Duration::from_secs(second))
    }

    /// Plays passes: what each sees, when, whether it does something; when it wants to be called again.
    fn plays(passes: &[(u64, u64, bool, Option<u64>)]) -> Vec<bool> {
        let mut rest = Rest::default();
        let mut pass = |&(sees, now, did, until): &(u64, u64, bool, Option<u64>)| {
            rest.begins(sees, at(now));
            rest.ends(did, until.map(at))
        };
        passes.iter().map(&mut pass).collect()
    }

    #[test]
    fn what_nothing_calls_for_is_told_of_from_the_second_time() {
        let busy = [(1, 0, true, None), (1, 1, true, None), (1, 2, true, None), (1, 3, true, None)];
        assert_eq!(plays(&busy), [false, false, true, true]);
        let rests_between = [(1, 0, true, None), (1, 1, true, None), (1, 2, false, None), (1, 3, true, None)];
        assert_eq!(plays(&rests_between), [false; 4], "each of them once");
    }

    #[test]
    fn news_and_timers_are_reasons() {
        assert_eq!(plays(&[(1, 0, true, None), (2, 1, true, None), (3, 2, true, None)]), [false; 3]);
        let by_timer = [(1, 0, true, Some(5)), (1, 5, true, Some(9)), (1, 9, true, Some(12))];
        assert_eq!(plays(&by_timer), [false; 3]);
        let too_early = [(1, 0, true, Some(5)), (1, 3, true, Some(5)), (1, 4, true, Some(5))];
        assert_eq!(plays(&too_early), [false, false, true]);
    }
}
