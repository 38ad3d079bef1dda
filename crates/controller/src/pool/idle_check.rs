//! Verifies I10 at run time: an idle pool causes no work. A pass with the same observations as the one
//! before has nothing to do and nothing to write, unless a timer of the last plan caused it.
//!
//! One exception is harmless: another writer may have overwritten our status. So are a few within a moment:
//! caches trail our own writes. If it continues, it is a loop, which would cost writes or calls for ever.
//!
//! It covers the actions of plans and the status of pools, not the status of FooMachines.

use foo_model::Timestamp;
use foo_model::hook::HookWait;
use foo_planner::memory::{Cordon, Ledger, Purchase, RolloutProgress};
use foo_planner::{Desired, LastRead, Memory, Observed};
use std::fmt::{self, Debug, Write as _};
use std::hash::{DefaultHasher, Hasher as _};
use std::time::Duration;

/// Longer than caches trail writes, unless a watch fails.
const LAG: Duration = Duration::from_mins(1);
/// What repeats less often than this is not a loop.
const LOOPS_WITHIN: Duration = Duration::from_mins(15);

/// What the last pass of a pool observed, and whether the pool is idle.
#[derive(Debug, Default)]
pub(super) struct IdleCheck {
    seen: Option<u64>,
    until: Option<Timestamp>,
    /// Nothing caused the present pass.
    uncalled: bool,
    /// The first and the last pass that did something without a cause.
    busy: Option<(Timestamp, Timestamp)>,
}

impl IdleCheck {
    /// A pass begins, with a digest of its observations ([`digest`]).
    pub(super) fn begins(&mut self, digest: u64, now: Timestamp) {
        let is_same = self.seen.replace(digest) == Some(digest);
        self.uncalled = is_same && self.until.is_none_or(|until| now < until);
        self.busy = self.busy.filter(|(_, last)| self.uncalled && last.until(now) < LOOPS_WITHIN);
    }

    /// Its plan requests another pass after this time.
    pub(super) fn comes_back(&mut self, now: Timestamp, after: Option<Duration>) {
        self.until = after.map(|after| now.plus(after));
    }

    /// It has ended, and did or wrote something or not. Returns whether the pool keeps doing so without a
    /// cause.
    pub(super) fn ends(&mut self, did: bool, now: Timestamp) -> bool {
        // A pool that has no credentials yet has its own condition.
        if !std::mem::take(&mut self.uncalled) || !did {
            return false;
        }
        let (first, _) = *self.busy.get_or_insert((now, now));
        self.busy = Some((first, now));
        first.until(now) >= LAG
    }
}

/// A digest of everything that a plan depends on, without times.
pub(super) fn digest(desired: &Desired, observed: &Observed, memory: &Memory) -> u64 {
    let Observed {
        now: _,
        clocks: _,
        aws_clock: _,
        size_decisions_from: _,
        confirmed_from: _,
        group,
        template,
        stored,
        hook,
        other_hooks,
        notifications,
        ec2_states,
        target_health,
        capacity_block,
        signals,
        foo_machines,
        machines,
        finalizer,
        move_block: moves,
        quarantine,
        recorded_arn,
        recorded_adoption,
        applied,
        launch_failure: shortage,
        termination_causes: causes,
    } = observed;
    let reads: [&dyn Debug; 7] = [
        seen(group),
        seen(template),
        seen(stored),
        seen(hook),
        seen(target_health),
        seen(notifications),
        seen(capacity_block),
    ];
    let remembered = remembered(memory);
    let objects: [&dyn Debug; 15] = [
        desired,
        other_hooks,
        ec2_states,
        signals,
        foo_machines,
        machines,
        finalizer,
        moves,
        quarantine,
        recorded_arn,
        recorded_adoption,
        applied,
        shortage,
        causes,
        &remembered,
    ];
    let mut digest = Digest(DefaultHasher::new());
    for part in reads.iter().chain(&objects) {
        // Writing to a hasher cannot fail.
        let _written = writeln!(digest, "{part:?}");
    }
    digest.0.finish()
}

/// The memory, without times: repeating an action only because it was just done is a loop.
fn remembered(memory: &Memory) -> String {
    let Memory {
        ledger: Ledger { changed_at: _, created, template, warm_pool, base, desired: expected, leaving },
        excess_since,
        short_since,
        starved_at,
        targets,
        template_due_since,
        template_refused_since,
        warm_pool_unfit_since,
        refused_warm_pool,
        left_warm_pool,
        foreign_since: _,
        suspended_for,
        purchase,
        stored: _,
        busy: _,
        deleted_machines,
        created_machines,
        rollout: progress,
        round,
        rebalanced_at: _,
        hook_waits: holds,
        cordons,
    } = memory;
    let known = |RolloutProgress { hash, since: _, available, ready, relapses, waiting_since: _ }: &RolloutProgress| {
        format!("{hash:?} {available:?} {ready:?} {relapses:?}")
    };
    let kept = |HookWait { since: _, last_heartbeat: _, completed, confirmed }: &HookWait| {
        (completed.is_some(), *confirmed)
    };
    let done = |Cordon { at: _, done }: &Cordon| *done;
    let buys = |it: &Purchase| (it.on_demand_base, it.on_demand_percentage, it.changed.is_some());
    let parts: [&dyn Debug; 14] = [
        &purchase.as_ref().map(buys),
        &(created.is_some(), warm_pool.is_some(), base, expected.map(|(expected, _)| expected)),
        &leaving.keys(),
        &(template_refused_since.is_some(), suspended_for),
        &(excess_since.is_some(), short_since.is_some(), template_due_since.is_some()),
        &(warm_pool_unfit_since.is_some(), refused_warm_pool.is_some(), left_warm_pool),
        &template.as_ref().map(|(id, version, _)| (id, version)),
        &(starved_at.is_some(), targets.sizes()),
        &deleted_machines.keys(),
        &created_machines.keys(),
        &progress.as_ref().map(known),
        round,
        &holds.iter().map(|(id, hold)| (id, kept(hold))).collect::<Vec<_>>(),
        &cordons.iter().map(|(id, cordon)| (id, done(cordon))).collect::<Vec<_>>(),
    ];
    format!("{parts:?}")
}

/// A value that was observed, without the time.
fn seen<T: Debug>(read: &LastRead<T>) -> &dyn Debug {
    match read {
        LastRead::At { seen, .. } => seen,
        LastRead::Unknown | LastRead::Failed { .. } => read,
    }
}

/// Hashes text while it is written.
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
    use foo_model::InstanceId;

    fn at(second: u64) -> Timestamp {
        Timestamp::default().plus(Duration::from_secs(second))
    }

    /// Runs passes: what each sees, when, whether it does something, when it requests the next one.
    fn run_passes(passes: &[(u64, u64, bool, Option<u64>)]) -> Vec<bool> {
        let mut rest = IdleCheck::default();
        let mut pass = |&(sees, now, did, after): &(u64, u64, bool, Option<u64>)| {
            rest.begins(sees, at(now));
            rest.comes_back(at(now), after.map(Duration::from_secs));
            rest.ends(did, at(now))
        };
        passes.iter().map(&mut pass).collect()
    }

    #[test]
    fn repeated_passes_without_a_cause_are_reported() {
        let busy = [(1, 0, true, None), (1, 10, true, None), (1, 30, true, None), (1, 70, true, None)];
        assert_eq!(run_passes(&busy), [false, false, false, true]);
        let between = [(1, 0, true, None), (1, 10, true, None), (1, 20, false, None), (1, 70, true, None)];
        assert_eq!(
            run_passes(&between),
            [false, false, false, true],
            "a pool that waits for a read is not idle"
        );
        let rare = [(1, 0, true, None), (1, 10, true, None), (1, 1000, true, None), (1, 2000, true, None)];
        assert_eq!(run_passes(&rare), [false; 4], "each of them once");
    }

    #[test]
    fn the_time_of_an_action_is_not_part_of_it() {
        let ended = |id: &str, second: u64| {
            let mut memory = Memory::default();
            memory.ledger.changed_at = Some(at(second));
            memory.ledger.leaving.insert(InstanceId::new(id), at(second));
            memory
        };
        assert_eq!(remembered(&ended("i-1", 1)), remembered(&ended("i-1", 2)));
        assert_ne!(remembered(&ended("i-1", 1)), remembered(&ended("i-2", 1)));
        let tagged =
            Memory { ledger: Ledger { changed_at: Some(at(3)), ..Ledger::default() }, ..Memory::default() };
        assert_eq!(remembered(&tagged), remembered(&Memory::default()));
    }

    #[test]
    fn news_and_timers_are_reasons() {
        assert_eq!(run_passes(&[(1, 0, true, None), (2, 80, true, None), (3, 160, true, None)]), [false; 3]);
        let by_timer = [(1, 0, true, Some(50)), (1, 50, true, Some(90)), (1, 140, true, Some(90))];
        assert_eq!(run_passes(&by_timer), [false; 3]);
        let early = [(1, 0, true, Some(500)), (1, 30, true, Some(500)), (1, 100, true, Some(500))];
        assert_eq!(run_passes(&early), [false, false, true]);
    }
}
