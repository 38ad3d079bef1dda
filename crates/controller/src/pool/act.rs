//! A plan is carried out: one action after the other, what each brought about noted at once.

use super::execute::{Done, Failure, Hands};
use super::gather::Gathered;
use super::holdup::HoldUps;
use super::pass::{Pass, Sight};
use super::reconcile::{LONGEST_BACKLOG, Pools};
use super::state::PoolState;
use super::{cordon, overlay, together};
use crate::clouds::CloudRegion;
use crate::metrics::ActionOutcome;
use foo_cloud::Made;
use foo_cloud::model::{LaunchTemplate, Timestamp};
use foo_planner::desired::Desired;
use foo_planner::memory::Outcome;
use foo_planner::report::About;
use foo_planner::{Action, Memory, Observed, Plan};
use std::time::Duration;
use tokio::time::Instant;

/// How soon AWS is asked again to end an instance that is still being launched.
const NOT_YET: Duration = foo_planner::memory::BUSY_FOR;

impl Pools {
    /// Carries a plan out, but for what a failure holds up.
    pub(super) async fn act(
        &self,
        desired: &Desired,
        observed: &Observed,
        mut plan: Plan,
        gathered: &Gathered,
        region: &CloudRegion,
        state: &mut PoolState,
    ) -> Pass {
        let violations = foo_planner::check::violations(desired, observed, &state.memory, &plan);
        if !violations.is_empty() {
            overlay::refused(&mut plan, &violations, &self.context.metrics);
        }
        state.memory = plan.memory.clone();
        let begins = plan.actions.contains(&Action::AddFinalizer);
        // Where it cannot be told, the group's ARN will.
        let account = if begins { region.account().await.ok() } else { None };
        let hands = Hands {
            account,
            client: &self.context.client,
            cloud: region.cloud.as_ref(),
            observer: &region.observer,
            pool: &gathered.pool,
            identity: &desired.identity,
            machine_pool: gathered.machine_pool.as_ref().and_then(|pool| pool.metadata.name.as_deref()),
            cluster: gathered.cluster.as_deref(),
            machines: &gathered.machines,
            metrics: &self.context.metrics,
        };
        let mut pass =
            Pass { failure: None, raced: false, acted: false, sight: Sight::Had, again: None, plan };
        let actions = pass.plan.actions.clone();
        let until = Instant::now() + self.context.settings.pass_deadline;
        let mut holds = HoldUps::default();
        let mut carried: Vec<&Action> = Vec::new();
        let mut rest = actions.as_slice();
        while !rest.is_empty() {
            let (now_due, later) =
                rest.split_at(together::first(rest, &state.alone, self.context.clock.now()));
            rest = later;
            let batch = self.due(now_due, &mut holds, &mut pass, state);
            if batch.is_empty() {
                continue;
            }
            if Instant::now() >= until {
                tracing::warn!(pool = %desired.identity, "the reconcile takes long; the remaining actions are planned again");
                pass.raced = true;
                break;
            }
            // One action in each pass: a pool that always gave way would never get anything done.
            if pass.acted && region.backlog() > LONGEST_BACKLOG {
                tracing::debug!(pool = %desired.identity, "the rate limit of the AWS account is used up; the remaining actions are planned again");
                pass.raced = true;
                break;
            }
            if desired.pause.is_none() && self.caches.is_paused(gathered) {
                tracing::info!(pool = %desired.identity, "paused during a reconcile; the remaining actions are skipped");
                pass.raced = true;
                break;
            }
            // Whoever drops this pass in the middle of a call leaves behind that it may have happened.
            let sent = self.context.clock.now();
            let changes_template = batch.iter().any(|action| action.changes_template());
            let known = if changes_template { state.template.clone() } else { None };
            let before = Self::foresee(&batch, desired, region, state, sent);
            let done = match batch.as_slice() {
                [action] => vec![hands.carry_out(action, sent).await],
                several => hands.end_together(several).await,
            };
            if let Some(before) = before {
                state.memory = before;
            }
            // An answer that took long may tell of something that was done at its very end.
            let now = self.context.clock.now();
            for (action, done) in batch.into_iter().zip(done) {
                let (outcome, counted) = judged(action, &done);
                self.context.metrics.action(action.into(), counted);
                state.memory.note(action, outcome, now);
                if outcome == Outcome::Done {
                    state.repeats.did(action, now);
                }
                pass.acted = true;
                // After a refusal, too: AWS refuses what does not fit the group as it is.
                if action.changes_group() {
                    region.observer.look_after(&desired.identity.group, now);
                }
                let excused = excused(action, &done, state, now);
                match done {
                    Ok(Done::Template(template)) => {
                        state.template = Some((sent, state.made.completes(template, now)));
                    }
                    Ok(done @ (Done::TemplateMade(_) | Done::VersionMade(_))) => {
                        pass.plan.report.events.extend(done.warning());
                        let known = known.clone().and_then(|(_, template)| template);
                        Self::made(action, done, known, state, now);
                        carried.push(action);
                    }
                    Ok(Done::NotYet) => {
                        tracing::debug!(pool = %desired.identity, ?action, "AWS cannot carry out the action yet");
                        pass.again = Some(NOT_YET);
                        holds.raced(action);
                    }
                    Ok(Done::NotTogether) => {
                        state.alone.add(action, now);
                        pass.raced = true;
                        holds.not_together(action);
                    }
                    Ok(Done::Hook(terms)) => {
                        state.hook = Some((sent, terms));
                        carried.push(action);
                    }
                    Ok(Done::Carried) => {
                        Self::carried_out(action, state, now);
                        carried.push(action);
                        tracing::debug!(pool = %desired.identity, ?action, "action done");
                    }
                    Ok(Done::Overtaken(_)) => {
                        pass.raced = true;
                        holds.raced(action);
                    }
                    Ok(Done::Cordoned(outcomes)) => {
                        for (cordon, done) in &outcomes {
                            state.memory.note_cordon(&cordon.instance, done.is_ok(), now);
                        }
                        pass.plan.report.events.extend(cordon::told(&outcomes));
                    }
                    Err(failure) if failure.is_race() => {
                        tracing::debug!(pool = %desired.identity, %failure, "another writer changed the object first");
                        pass.raced = true;
                        holds.raced(action);
                    }
                    Err(failure) if excused.is_some() => {
                        tracing::info!(pool = %desired.identity, ?action, %failure, "AWS does not know yet what was created a moment ago");
                        pass.again = excused;
                        holds.failed(action, &failure);
                    }
                    Err(failure) => {
                        tracing::warn!(pool = %desired.identity, ?action, %failure, "action failed");
                        holds.failed(action, &failure);
                        if pass.failure.is_none() {
                            overlay::failed(&mut pass.plan.report, action, &failure, &region.key.region);
                            pass.failure = Some((action.clone(), failure));
                        }
                    }
                }
            }
        }
        pass.plan.report.events.retain(|event| {
            event.about == About::Nothing || carried.iter().any(|action| event.about.is(action))
        });
        pass
    }

    /// Those of these actions that nothing holds up.
    fn due<'a>(
        &self,
        actions: &'a [Action],
        holds: &mut HoldUps,
        pass: &mut Pass,
        state: &PoolState,
    ) -> Vec<&'a Action> {
        let mut due = Vec::with_capacity(actions.len());
        for action in actions {
            if holds.hold(action) {
                continue;
            }
            match state.repeats.pause(action, self.context.clock.now()) {
                Some(pause) => {
                    pass.again = Some(pass.again.map_or(pause, |again| again.min(pause)));
                    holds.raced(action);
                }
                None => due.push(action),
            }
        }
        due
    }

    /// An action was carried out, of which the caches or reads may not tell yet.
    fn carried_out(action: &Action, state: &mut PoolState, now: Timestamp) {
        match action {
            Action::CreateGroup(group) => {
                state.hook = Some((now, Some(group.hook)));
                state.made.group(now);
            }
            Action::DeleteTemplate { .. } => state.made.template_is_gone(),
            Action::AddFinalizer => state.held = true,
            Action::BlockMove => state.move_blocked = true,
            Action::UnblockMove => state.move_blocked = false,
            _ => {}
        }
    }

    /// What a creation answered is known from now on: a read may not show it for a while.
    fn made(
        action: &Action,
        done: Done,
        known: Option<LaunchTemplate>,
        state: &mut PoolState,
        now: Timestamp,
    ) {
        match (action, done) {
            (
                Action::CreateTemplate { name, hashes, tags, .. },
                Done::TemplateMade(Made { made: (id, version), .. }),
            ) => {
                state.made.template((id, version), name, tags, hashes, now);
                state.template = Some((now, state.made.completes(None, now)));
            }
            (
                Action::CreateTemplateVersion { id, hashes, .. }
                | Action::CopyTemplateVersion { id, hashes, .. },
                Done::VersionMade(Made { made: version, .. }),
            ) => {
                state.made.version(id, version, hashes, now);
                // Without the versions before it nobody knows the template: it is read.
                state.template = known.map(|known| (now, state.made.completes(Some(known), now)));
            }
            _ => {}
        }
    }

    /// Notes that a call of AWS may happen, before it is sent, and returns the memory as it was.
    fn foresee(
        actions: &[&Action],
        desired: &Desired,
        region: &CloudRegion,
        state: &mut PoolState,
        now: Timestamp,
    ) -> Option<Memory> {
        let before = state.memory.clone();
        let mut foreseen = false;
        for action in actions {
            let completes = matches!(action, Action::CompleteHook { .. });
            if !action.changes_group() && !action.changes_template() && !completes {
                continue;
            }
            foreseen = true;
            state.memory.note(action, Outcome::MayHaveHappened, now);
            if action.changes_group() {
                region.observer.look_after(&desired.identity.group, now);
            }
            if action.changes_template() {
                state.template = None;
            }
        }
        foreseen.then_some(before)
    }
}

/// How an action went, for the planner's memory and for the metrics.
fn judged(action: &Action, done: &Result<Done, Failure>) -> (Outcome, ActionOutcome) {
    match done {
        Ok(Done::Cordoned(outcomes)) if outcomes.iter().any(|(_, done)| done.is_err()) => {
            (Outcome::Refused, ActionOutcome::Failed)
        }
        Ok(
            Done::Carried
            | Done::TemplateMade(_)
            | Done::VersionMade(_)
            | Done::Template(_)
            | Done::Hook(_)
            | Done::Cordoned(_),
        ) => (Outcome::Done, ActionOutcome::Done),
        Ok(Done::NotYet) => (Outcome::NotYet, ActionOutcome::Refused),
        Ok(Done::NotTogether) => (Outcome::Refused, ActionOutcome::Refused),
        Ok(Done::Overtaken(why)) => {
            tracing::info!(?action, why, "action skipped");
            (Outcome::Refused, ActionOutcome::Refused)
        }
        Err(failure) => (failure.outcome(), ActionOutcome::Failed),
    }
}

/// When to try again what AWS refused only because something is young.
fn excused(
    action: &Action,
    done: &Result<Done, Failure>,
    state: &PoolState,
    now: Timestamp,
) -> Option<Duration> {
    match done {
        Err(Failure::Cloud(error)) => state.made.excuses(action, error, now),
        Ok(_) | Err(Failure::Kubernetes(_)) => None,
    }
}
