//! The order of the questions.

use crate::capacity_block;
use crate::desired::{Desired, Goal};
use crate::draft::Draft;
use crate::memory::Memory;
use crate::observed::Observed;
use crate::situation::{Situation, announcement_states, next_expiry, window_hold};
use crate::steps::{
    ends, expire, group, hooks, interrupt, machines, objects, own, remediate, remove, replace, retain, size,
    template, victims, warm_pool,
};
use crate::summary;
use crate::{Plan, report, target_health};
use std::time::Duration;

/// How soon a pool is planned again whose clocks do not agree: what waits for that is not urgent.
const CLOCKS_AGAIN: Duration = Duration::from_secs(30);
/// The shortest pause between two passes for the health of targets.
const HEALTH_AGAIN: Duration = Duration::from_secs(5);

/// Decides what to do next about one pool.
///
/// Total and deterministic: every combination of values has exactly one plan. The caller carries out the
/// actions in order and records the result of each in the returned memory with [`Memory::completed`].
pub fn plan(desired: &Desired, observed: &Observed, memory: &Memory) -> Plan {
    let memory = memory.absorbed(observed);
    let in_force = capacity_block::in_force(desired, observed);
    let desired: &Desired = &in_force;
    let situation = Situation::new(desired, observed, &memory);
    let mut draft = Draft::new(memory.clone());
    let knows_awss = observed.aws_clock.agreement.proves_ages();
    if !(situation.knows_ages() && knows_awss) {
        draft.wake_at(observed.now.plus(CLOCKS_AGAIN));
    }
    for at in capacity_block::wakes(desired, observed) {
        draft.wake_at(at);
    }
    size::update_timers(&situation, &mut draft);
    template::update_timers(&situation, &mut draft);
    warm_pool::update_timers(&situation, &mut draft);
    if desired.pause.is_none() {
        decide(&situation, &mut draft);
    } else {
        // No new instance can have become available meanwhile.
        draft.memory.rollout = None;
        own::unblock_move(&situation, &mut draft);
    }
    finish(&situation, draft)
}

fn decide(situation: &Situation<'_>, draft: &mut Draft) {
    let goal = situation.desired.goal;
    if goal != Goal::Orphan && own::is_to_be_adopted(situation) {
        own::adopt(situation, draft);
        if goal == Goal::Run {
            own::ensure_finalizer(situation, draft);
        }
        return;
    }
    let recorded = own::record_adoption(situation, draft);
    match goal {
        Goal::Run if own::adopt_unowned(situation, draft) => own::ensure_finalizer(situation, draft),
        // With the record, the pool retains its group.
        Goal::Remove if recorded || own::awaits_group(situation) => {}
        Goal::Run => {
            own::record_arn(situation, draft);
            own::forget_adoption(situation, draft);
            machines::reconcile_machines(situation, draft);
            read_targets_again(situation, draft);
            hooks::serve(situation, draft);
            group::create_or_repair(situation, draft);
            victims::choose(situation, draft);
            interrupt::replace_at_risk(situation, draft);
            interrupt::cordon(situation, draft);
            if replace::judge(situation, draft) {
                remediate::remediate(situation, draft);
                replace::replace(situation, draft);
                expire::expire(situation, draft);
            }
            wake_at_window(situation, draft);
            size::adjust(situation, draft);
            ends::end_released(situation, draft);
            hooks::provide(situation, draft);
            template::provide(situation, draft);
            objects::restore(situation, draft);
            template::prune(situation, draft);
            // After the pruning, which waits for everything else: AWS may refuse a warm pool for good.
            warm_pool::provide(situation, draft);
            own::record_applied(situation, draft);
            own::block_move(situation, draft);
            own::ensure_finalizer(situation, draft);
        }
        Goal::Remove => {
            remove::remove(situation, draft);
            hooks::serve(situation, draft);
        }
        Goal::Retain => {
            retain::retain(situation, draft);
            hooks::serve(situation, draft);
        }
        Goal::Orphan => own::release_pool(situation, draft),
    }
}

/// Elastic Load Balancing announces no change of a target's health.
fn read_targets_again(situation: &Situation<'_>, draft: &mut Draft) {
    let read = &situation.observed.target_health;
    let Some(age) = target_health::max_age(situation.desired, situation.view.group(), read) else { return };
    let now = situation.observed.now;
    // A read that failed is repeated, but not in each moment.
    draft.wake_at(read.seen_at().unwrap_or(now).plus(age).max(now.plus(HEALTH_AGAIN)));
}

/// Plans again when a maintenance window opens or closes, if that matters.
fn wake_at_window(situation: &Situation<'_>, draft: &mut Draft) {
    let replaces = situation.rollout.phase.is_replacing() || situation.expiry.due > 0;
    let now = situation.observed.now;
    let changes = situation.desired.maintenance.changes(now);
    let again = window_hold(situation).and_then(|hold| hold.again_at(now));
    for at in changes.into_iter().chain(again).filter(|_| replaces) {
        draft.wake_at(at);
    }
}

fn finish(situation: &Situation<'_>, mut draft: Draft) -> Plan {
    let events = std::mem::take(&mut draft.events);
    let conditions = summary::conditions(situation, &draft);
    let next = summary::next_observation(situation, &draft);
    let memory = draft.memory.clone();
    let machines = summary::machines(situation, &draft);
    let actions = draft.into_actions(&situation.desired.identity.group, situation.observed.now);
    let report = report::Report {
        conditions,
        provisioned: summary::provisioned(situation),
        counts: summary::counts(situation),
        provider_ids: summary::provider_ids(situation),
        machines,
        outside: summary::outside(situation),
        announcements: announcement_states(situation),
        template: summary::template(situation),
        rollout: summary::rollout(situation),
        next_expiry: next_expiry(situation),
        events,
        next,
    };
    Plan { actions, report, memory }
}
