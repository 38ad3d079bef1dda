//! The calls of a plan are sent, all at the same time; what became of each is noted as soon as it is known.

use super::driver::Driver;
use super::pass::Pass;
use super::sent::{Sent, outcome_of};
use crate::labels::ActionOutcome;
use foo_calls::{Action as _, Domain};
use futures::{StreamExt, stream};
use std::sync::Arc;

/// Sends calls of which none waits for another one.
pub(super) async fn send_all<D: Driver>(
    driver: &D,
    actions: &[<D::Domain as Domain>::Action],
    state: &mut D::State,
) -> Vec<Sent<<D::Domain as Domain>::Action>> {
    let Pass { context, region, .. } = driver.pass();
    let clock = &context.clock;
    // If this future is dropped, all of them may have been carried out.
    D::process(state).sent(actions, clock.now());
    let calls = stream::iter(actions.to_vec()).map(|action| {
        let cloud = Arc::clone(&region.cloud);
        async move { Sent { result: D::send(cloud, &action).await, action } }
    });
    let mut calls = calls.buffer_unordered(D::AT_ONCE);
    let mut all = Vec::with_capacity(actions.len());
    while let Some(sent) = calls.next().await {
        let outcome = if sent.result.is_ok() { ActionOutcome::Done } else { ActionOutcome::Failed };
        context.metrics.aws_change(sent.action.operation(), outcome);
        if let Err(error) = &sent.result {
            let about = D::named(&sent.action);
            tracing::warn!(about, %error, "AWS did not change {} as requested", D::WHAT);
        }
        D::process(state).ended(&sent.action, clock.now(), outcome_of(&sent.result));
        all.push(sent);
    }
    all
}
