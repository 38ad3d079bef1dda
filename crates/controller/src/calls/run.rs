//! A pass: read, plan, check, publish what is about to be sent, send, publish what became of it.

use super::driver::{Driver, Turn};
use super::events;
use super::pass::{CONTINUE, Ended, Goal, ReadOnly};
use super::send::send_all;
use super::sent::Sent;
use crate::apply;
use crate::debug;
use crate::labels::Invariant;
use foo_calls::report::{Deletion, Report as _};
use foo_calls::{Domain, Plan, Process};
use foo_model::operation::Priority;
use kube::{Resource as _, ResourceExt as _};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Plans in one pass: what each of them reads or sends is what the next one needs. The longest way from nothing to a
/// network, or back, is a third of this.
const PLANS: usize = 40;
/// With more calls of the account waiting than this, a pass does not continue to its next plan.
const LONGEST_BACKLOG: Duration = Duration::from_secs(5);
/// No pass follows the one before sooner than this, whatever its plan requests.
const SHORTEST: Duration = Duration::from_secs(1);

/// Plans and sends for as long as one leads to the other, with the reads that plans ask for in between.
pub(crate) async fn run<D: Driver>(mut driver: D, state: &mut D::State) -> Result<Ended, apply::Error> {
    let mut sent = Vec::new();
    for turn in 0..PLANS {
        let now = driver.pass().context.clock.now();
        let observed = driver.observed(state, now);
        let desired = match driver.desired(&observed, state) {
            Ok(desired) => desired,
            Err(blocked) => {
                if driver.read_again(&blocked, &observed, state, now).await {
                    continue;
                }
                return driver.blocked(blocked, state).await;
            }
        };
        let plan = checked(&driver, &desired, &observed, D::process(state));
        driver.notes(&plan, state, now);
        let last = turn + 1 == PLANS || gives_way(&mut driver, turn);
        let sends = !last && !plan.actions.is_empty();
        let reads = if last || sends { None } else { driver.due(&plan, now) };
        let plan = if last { D::process(state).not_sent(plan) } else { plan };
        let turn = Turn { desired: &desired, observed: &observed, plan: &plan, now, is_last: last };
        if !sends && reads.is_none() {
            driver.conclude(&turn, state).await?;
            return conclude(driver, &turn, &sent, state).await;
        }
        let recorded = sends || D::READ_ONLY == ReadOnly::Published;
        if recorded && !D::process(state).is_recorded(&plan) {
            driver.publish(&turn, state).await?;
        }
        if recorded {
            D::process(state).accept(&plan);
        } else {
            D::process(state).remember(&plan);
        }
        if let Some(reads) = reads {
            driver.take(reads, state, now).await;
        } else {
            driver.progress().worked = true;
            sent.append(&mut send_all(&driver, &plan.actions, state).await);
        }
    }
    Ok(Ended { worked: true, after: CONTINUE, gone: false })
}

/// The plan, if it breaks no invariant; otherwise one that does nothing and shows why.
fn checked<D: Driver>(
    driver: &D,
    desired: &<D::Domain as Domain>::Desired,
    observed: &<D::Domain as Domain>::Observed,
    process: &Process<D::Domain>,
) -> Plan<D::Domain> {
    let (plan, violations) = process.plan(desired, observed);
    for violation in &violations {
        let name = driver.pass().object.name_any();
        tracing::error!(name, %violation, "a plan for {} is refused: it breaks an invariant; please report this", D::WHAT);
        driver.pass().context.metrics.invariant_violated(Invariant::I12);
    }
    plan
}

/// Whether no further plan is carried out in this pass.
fn gives_way<D: Driver>(driver: &mut D, turn: usize) -> bool {
    let name = driver.pass().object.name_any();
    if Instant::now() >= driver.progress().until {
        tracing::warn!(name, "the reconcile takes long; the rest is planned again");
        return true;
    }
    if turn > 0 && driver.pass().region.backlog(Priority::Read) > LONGEST_BACKLOG {
        tracing::debug!(name, "the rate limit of the AWS account is used up; the rest is planned again");
        return true;
    }
    // Paused in the middle, or moved: from here on nothing may be changed. With another spec, what this pass would do
    // may be what the user reverts. The generation changes when the pass itself publishes an endpoint, with which it
    // ends.
    driver.pass().newest().is_none_or(|newest| {
        newest.meta().generation != driver.pass().object.meta().generation || driver.is_left_alone(&newest)
    })
}

/// After the last plan: events, the debug page, and when the next pass is.
async fn conclude<D: Driver>(
    mut driver: D,
    turn: &Turn<'_, D::Domain>,
    sent: &[Sent<<D::Domain as Domain>::Action>],
    state: &mut D::State,
) -> Result<Ended, apply::Error> {
    let Turn { plan, now, .. } = *turn;
    events::of_calls(&driver, sent, state).await;
    events::of_problems(&mut driver, plan, state).await;
    driver.forget_adoption(turn).await?;
    let failure = driver.progress().failure.as_ref().map(ToString::to_string);
    let key = debug::Key::of(D::CONTROLLER, driver.pass().object);
    driver.pass().context.debug.planned(key, now, Arc::new(plan.clone()), failure);
    let gone = driver.pass().goal == Goal::Delete && plan.report.deletion() == Deletion::Done;
    let timers = driver.timers(turn, state);
    let after = timers.into_iter().fold(driver.pass().context.settings.sync_period, Ord::min);
    Ok(Ended { worked: driver.progress().worked, after: after.max(SHORTEST), gone })
}
