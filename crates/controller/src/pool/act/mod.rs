//! Carries out a checked plan: one action after the other, recording each result at once.

mod cordon;
mod execute;
mod failure_scope;
mod objects;
mod operations;
mod terminate_together;
#[cfg(test)]
mod test_actions;

use super::check::CheckedPlan;
use super::gather::Gathered;
use super::inputs::Inputs;
use super::inputs::aws::Aws;
use super::pass::{ActionFailure, Pass, Remainder};
use super::pools::{LONGEST_BACKLOG, Pools};
use super::reads::Read;
use super::state::PoolState;
use crate::apply;
use crate::clouds::CloudRegion;
use crate::labels::ActionOutcome;
use execute::{Done, Executor};
use failure_scope::Skips;
use foo_api::FooMachinePool;
use foo_cloud::{Made, Operation};
use foo_model::{AwsTime, Hooks, LaunchTemplate, Notifications, Timestamp};
use foo_planner::action::{GroupAction, HookAction, NodeAction, PoolAction, TemplateAction};
use foo_planner::desired::Identity;
use foo_planner::memory::WriteOutcome;
use foo_planner::observed::{Finalizer, LastRead, MoveBlock};
use foo_planner::report::EventTrigger;
use foo_planner::{Action, Plan};
use kube::Api;
use std::borrow::Cow;
use std::time::Duration;
use tokio::time::Instant;

/// How soon there is another pass after AWS could not terminate an instance that is still being launched, or refused a call for the warm
/// pool.
const NOT_YET: Duration = foo_planner::memory::BUSY_FOR;

/// A plan that is being carried out.
struct Acting<'a> {
    inputs: &'a Inputs<'a>,
    region: &'a CloudRegion,
    hands: Executor<'a>,
    /// No action starts after this moment.
    until: Instant,
    /// The result so far.
    pass: Pass,
    /// Actions to skip after failures.
    skips: Skips,
    /// The actions that were carried out.
    carried: Vec<Action>,
}

/// When actions were sent, and what was known then.
struct Sent {
    at: Timestamp,
    /// The launch template, if they change it.
    known: Option<LaunchTemplate>,
}

impl Pools {
    /// Carries out a plan, except for actions that are pointless after a failure.
    pub(super) async fn act(&self, inputs: &Inputs<'_>, plan: CheckedPlan, state: &mut PoolState) -> Pass {
        let plan = plan.into_plan();
        state.memory = plan.memory.clone();
        let Aws::Usable(region, identity) = &inputs.aws else {
            return self.act_without_aws(inputs.gathered, plan).await;
        };
        let mut acting = self.begin(inputs, region, identity, plan).await;
        let actions = acting.pass.plan.actions.clone();
        let mut rest = actions.as_slice();
        while !rest.is_empty() {
            let together = terminate_together::first(rest, &state.calls.alone, self.context.clock.now());
            let (next, later) = rest.split_at(together);
            rest = later;
            let batch = self.due(next, &mut acting, state);
            if batch.is_empty() {
                continue;
            }
            if self.gives_way(&acting, &batch) {
                acting.pass.remainder.add(Remainder::PlanAgain);
                break;
            }
            let (sent, done, now) = self.send(&acting, &batch, state).await;
            for (action, done) in batch.into_iter().zip(done) {
                self.settle(&mut acting, action, done, &sent, state, now);
            }
        }
        let Acting { mut pass, carried, .. } = acting;
        pass.plan.report.events.retain(|event| {
            event.about == EventTrigger::Nothing || carried.iter().any(|action| event.about.is(action))
        });
        pass
    }

    async fn begin<'a>(
        &'a self,
        inputs: &'a Inputs<'a>,
        region: &'a CloudRegion,
        identity: &'a Identity,
        plan: Plan,
    ) -> Acting<'a> {
        let begins = plan.actions.contains(&Action::Pool(PoolAction::AddFinalizer));
        // If the account is unknown, the group's ARN will name it.
        let account = if begins { region.account().await.ok() } else { None };
        let gathered = inputs.gathered;
        let hands = Executor {
            account,
            client: &self.context.client,
            cloud: region.cloud.as_ref(),
            observer: &region.observer,
            pool: &gathered.pool,
            identity,
            machine_pool: gathered.machine_pool.as_ref().and_then(|pool| pool.metadata.name.as_deref()),
            cluster: gathered.cluster.as_deref(),
            machines: &gathered.machines,
            workloads: &self.context.workloads,
        };
        let until = Instant::now() + self.context.settings.pass_deadline;
        let (pass, skips) = (Pass::begin(plan), Skips::default());
        Acting { inputs, region, hands, until, pass, skips, carried: Vec::new() }
    }

    /// Removes the finalizers of a pool that created nothing; nothing else is possible without AWS.
    async fn act_without_aws(&self, gathered: &Gathered, plan: Plan) -> Pass {
        let ends = plan.actions.contains(&Action::Pool(PoolAction::RemoveFinalizer));
        let mut pass = Pass::begin(plan);
        if ends {
            let pools: Api<FooMachinePool> =
                Api::namespaced(self.context.client.clone(), &gathered.namespace());
            let finalizer = foo_api::names::POOL_FINALIZER;
            let removed = apply::remove_finalizer(&pools, gathered.pool.as_ref(), finalizer).await;
            pass.failure = removed
                .err()
                .map(|error| (Action::Pool(PoolAction::RemoveFinalizer), ActionFailure::from(error)));
            pass.tried = 1;
        }
        pass
    }

    /// Those of these actions that are neither skipped nor paused.
    fn due<'a>(&self, actions: &'a [Action], acting: &mut Acting<'_>, state: &PoolState) -> Vec<&'a Action> {
        let mut due = Vec::with_capacity(actions.len());
        for action in actions {
            if acting.skips.includes(action) {
                continue;
            }
            match state.calls.repeats.pause(action, self.context.clock.now()) {
                Some(pause) => {
                    acting.pass.remainder.add(Remainder::Later(pause));
                    acting.skips.raced(action);
                }
                None => due.push(action),
            }
        }
        due
    }

    /// Whether the pass starts no further action, the next ones being these.
    fn gives_way(&self, acting: &Acting<'_>, next: &[&Action]) -> bool {
        let Acting { inputs, region, until, pass, .. } = acting;
        let pool = &inputs.desired.identity;
        if Instant::now() >= *until {
            tracing::warn!(%pool, "the reconcile takes long; the remaining actions are planned again");
            return true;
        }
        // Each pass carries out at least one action: otherwise a pool that always yields would never
        // progress.
        let operation = next.first().and_then(|action| operations::operation_of(action));
        let waits = |operation: Operation| region.backlog(operation.priority()) > LONGEST_BACKLOG;
        if pass.tried > 0 && operation.is_some_and(waits) {
            tracing::debug!(%pool, "the rate limit of the AWS account is used up; the remaining actions are planned again");
            return true;
        }
        if inputs.desired.pause.is_none() && self.caches.is_paused(inputs.gathered) {
            tracing::info!(%pool, "paused during a reconcile; the remaining actions are skipped");
            return true;
        }
        false
    }

    /// Carries out actions, several of which may go in one call. Returns the result of each, in their order,
    /// and when it was known.
    async fn send(
        &self,
        acting: &Acting<'_>,
        batch: &[&Action],
        state: &mut PoolState,
    ) -> (Sent, Vec<Result<Done, ActionFailure>>, Timestamp) {
        // If this pass is cancelled during a call, the memory shows that the call may have happened.
        let at = self.context.clock.now();
        let changes_template = batch.iter().any(|action| action.changes_template());
        let known = state.reads.template.clone().filter(|_| changes_template);
        if batch.iter().any(|action| action.changes_group()) {
            acting.region.observer.invalidate(&acting.inputs.desired.identity.group, at);
        }
        if changes_template {
            state.reads.template_changes();
        }
        let in_flight = state.memory.sent(batch, at);
        let done = match batch {
            [action] => vec![acting.hands.carry_out(action, at).await],
            several => acting.hands.end_together(several).await,
        };
        // A slow response may report something that happened at its very end.
        let now = self.context.clock.now();
        let outcomes_of = batch.iter().zip(&done).flat_map(|(action, done)| outcomes_of(action, done));
        state.memory.completed(in_flight, outcomes_of, now);
        (Sent { at, known: known.and_then(|known| known.value) }, done, now)
    }

    /// Records the result of an action in metrics and memories, and skips later actions accordingly.
    fn settle(
        &self,
        acting: &mut Acting<'_>,
        action: &Action,
        done: Result<Done, ActionFailure>,
        sent: &Sent,
        state: &mut PoolState,
        now: Timestamp,
    ) {
        let (outcome, counted) = judged(&done);
        self.context.metrics.action(action.kind(), counted);
        if outcome == WriteOutcome::Done {
            state.calls.repeats.did(action, now);
        }
        acting.pass.tried += 1;
        if action.changes_warm_pool() {
            state.calls.refused_warm_pool = None;
        }
        // After a refusal, too: AWS refuses what does not fit the group.
        if action.changes_group() {
            acting.region.observer.invalidate(&acting.inputs.desired.identity.group, now);
        }
        match done {
            Ok(done) => Self::completed(acting, action, done, sent, state, now),
            Err(failure) => Self::failed(acting, action, failure, state, now),
        }
    }

    fn completed(
        acting: &mut Acting<'_>,
        action: &Action,
        done: Done,
        sent: &Sent,
        state: &mut PoolState,
        now: Timestamp,
    ) {
        let Acting { inputs, pass, skips, carried, .. } = acting;
        let pool = &inputs.desired.identity;
        match done {
            Done::Template(template) => {
                let value = state.calls.created.completes(template, now);
                state.reads.template = Some(Read { at: sent.at, value });
                state.reads.template_is_own = true;
            }
            done @ (Done::TemplateMade(_) | Done::VersionMade(_)) => {
                pass.plan.report.events.extend(done.warning());
                let dated = inputs.observed.aws_clock.remote(now);
                Self::made(action, done, sent.known.clone(), state, (now, dated));
                carried.push(action.clone());
            }
            Done::NotYet => {
                tracing::debug!(%pool, ?action, "AWS cannot carry out the action yet");
                pass.remainder.add(Remainder::Later(NOT_YET));
                skips.raced(action);
            }
            Done::NotTogether => {
                state.calls.alone.add(action, now);
                pass.remainder.add(Remainder::PlanAgain);
                skips.not_together(action);
            }
            Done::Hook(terms) => {
                state.reads.hook = Some(Read { at: sent.at, value: terms });
                carried.push(action.clone());
            }
            Done::Hooks(Hooks { drain, others }) => {
                state.reads.hook = Some(Read { at: sent.at, value: drain });
                state.reads.other_hooks = others;
                carried.push(action.clone());
            }
            Done::Carried => {
                Self::carried_out(action, state, now);
                // Its record is forgotten now, and no observation of the group reports it.
                let leaves_a_record = matches!(
                    action,
                    Action::Hook(HookAction::DeleteOtherHook { .. })
                        | Action::Group(GroupAction::DeleteNotifications { .. })
                );
                if leaves_a_record {
                    pass.remainder.add(Remainder::PlanAgain);
                }
                carried.push(action.clone());
                tracing::debug!(%pool, ?action, "action done");
            }
            Done::PreconditionFailed(why) => {
                tracing::info!(%pool, ?action, why, "action skipped");
                pass.remainder.add(Remainder::PlanAgain);
                skips.raced(action);
            }
            Done::Cordoned(outcomes) => {
                pass.plan.report.events.extend(cordon::events_of(&outcomes));
            }
        }
    }

    fn failed(
        acting: &mut Acting<'_>,
        action: &Action,
        failure: ActionFailure,
        state: &mut PoolState,
        now: Timestamp,
    ) {
        let Acting { inputs, pass, skips, .. } = acting;
        let pool = &inputs.desired.identity;
        if failure.is_race() {
            tracing::debug!(%pool, %failure, "another writer changed the object first");
            pass.remainder.add(Remainder::PlanAgain);
            skips.raced(action);
            return;
        }
        skips.failed(action, &failure);
        if failure.outcome() == WriteOutcome::MayHaveHappened {
            may_have_changed(action, state);
        }
        if let Some(again) = excused(action, &failure, state, now) {
            tracing::info!(%pool, ?action, %failure, "AWS does not know yet what was created a moment ago");
            pass.remainder.add(Remainder::Later(again));
            return;
        }
        tracing::warn!(%pool, ?action, %failure, "action failed");
        match failure {
            // The planner repeats it with pauses, and everything else continues.
            ActionFailure::Cloud(error) if action.changes_warm_pool() && error.is_refusal() => {
                state.calls.refused_warm_pool = Some(error);
                pass.remainder.add(Remainder::Later(NOT_YET));
            }
            failure => {
                pass.failure.get_or_insert_with(|| (action.clone(), failure));
            }
        }
    }

    /// Records an action that caches or reads may not show yet.
    fn carried_out(action: &Action, state: &mut PoolState, now: Timestamp) {
        match action {
            Action::Group(GroupAction::CreateGroup(group)) => {
                state.reads.hook = Some(Read { at: now, value: group.drain_hook });
                state.reads.other_hooks.clone_from(&group.hooks);
                state.reads.notifications = LastRead::At { at: now, seen: Notifications::new() };
                state.calls.created.group(now);
            }
            Action::Template(TemplateAction::DeleteTemplate { .. }) => {
                state.calls.created.template_is_deleted();
            }
            Action::Hook(HookAction::PutOtherHook { name, hook, .. }) => {
                state.reads.other_hooks.insert(name.clone(), hook.clone());
            }
            Action::Hook(HookAction::DeleteOtherHook { name, .. }) => {
                state.reads.other_hooks.remove(name);
            }
            Action::Group(GroupAction::PutNotifications { topic, types, .. }) => {
                if let LastRead::At { at, seen } = &mut state.reads.notifications {
                    *at = now;
                    seen.insert(topic.clone(), types.clone());
                }
            }
            Action::Group(GroupAction::DeleteNotifications { topic, .. }) => {
                if let LastRead::At { at, seen } = &mut state.reads.notifications {
                    *at = now;
                    seen.remove(topic);
                }
            }
            Action::Pool(PoolAction::RecordApplied { applied }) => {
                state.unconfirmed.applied = Some(applied.clone());
            }
            Action::Pool(PoolAction::AddFinalizer) => state.unconfirmed.finalizer = Some(Finalizer::Present),
            Action::Pool(PoolAction::BlockMove) => state.unconfirmed.moves = Some(MoveBlock::Blocked),
            Action::Pool(PoolAction::UnblockMove) => state.unconfirmed.moves = None,
            Action::Pool(
                PoolAction::RemoveFinalizer
                | PoolAction::ForgetAdoption
                | PoolAction::RecordAdoption
                | PoolAction::ForgetAdopted
                | PoolAction::RecordArn { .. }
                | PoolAction::Quarantine { .. }
                | PoolAction::PublishReplicas { .. },
            )
            | Action::Group(
                GroupAction::UpdateGroup { .. }
                | GroupAction::AdoptGroup { .. }
                | GroupAction::TagGroup { .. }
                | GroupAction::SuspendProcesses { .. }
                | GroupAction::ResumeProcesses { .. }
                | GroupAction::AttachTrafficSources { .. }
                | GroupAction::DetachTrafficSources { .. }
                | GroupAction::PutWarmPool { .. }
                | GroupAction::DeleteWarmPool { .. }
                | GroupAction::DeleteGroup { .. },
            )
            | Action::Template(
                TemplateAction::CreateTemplate { .. }
                | TemplateAction::CreateTemplateVersion { .. }
                | TemplateAction::CopyTemplateVersion { .. }
                | TemplateAction::DeleteTemplateVersions { .. },
            )
            | Action::Read(_)
            | Action::Instance(_)
            | Action::Hook(
                HookAction::PutLifecycleHook { .. }
                | HookAction::DeleteLifecycleHook { .. }
                | HookAction::RecordHeartbeat { .. }
                | HookAction::CompleteLifecycleAction { .. },
            )
            | Action::Machine(_)
            | Action::Object(_)
            | Action::Node(_) => {}
        }
    }

    /// Uses the response of a creation from now on: a read may not show the new object for a while.
    fn made(
        action: &Action,
        done: Done,
        known: Option<LaunchTemplate>,
        state: &mut PoolState,
        (now, dated): (Timestamp, AwsTime),
    ) {
        match (action, done) {
            (
                Action::Template(TemplateAction::CreateTemplate { name, hashes, tags, .. }),
                Done::TemplateMade(Made { made: (id, version), .. }),
            ) => {
                state.calls.created.template((id, version), name, tags, hashes, (now, dated));
                let value = state.calls.created.completes(None, now);
                state.reads.template = Some(Read { at: now, value });
            }
            (
                Action::Template(
                    TemplateAction::CreateTemplateVersion { id, hashes, .. }
                    | TemplateAction::CopyTemplateVersion { id, hashes, .. },
                ),
                Done::VersionMade(Made { made: version, .. }),
            ) => {
                state.calls.created.version(id, version, hashes, (now, dated));
                // Without its earlier versions the template is unknown: it is read again.
                state.reads.template = known.map(|known| {
                    let value = state.calls.created.completes(Some(known), now);
                    Read { at: now, value }
                });
            }
            _ => {}
        }
    }
}

/// The results of an action for the planner's memory: one for each Node that was to be cordoned.
fn outcomes_of<'a>(
    action: &'a Action,
    done: &Result<Done, ActionFailure>,
) -> Vec<(Cow<'a, Action>, WriteOutcome)> {
    let Ok(Done::Cordoned(nodes)) = done else {
        return vec![(Cow::Borrowed(action), judged(done).0)];
    };
    let outcome_of = |(cordon, done): &(cordon::Cordon, cordon::CordonResult)| {
        let node = [(cordon.instance.clone(), cordon.machine.clone())].into();
        let outcome = if done.is_ok() { WriteOutcome::Done } else { WriteOutcome::Refused };
        (Cow::Owned(NodeAction::CordonNodes { nodes: node }.into()), outcome)
    };
    nodes.iter().map(outcome_of).collect()
}

/// The result of an action for the planner's memory and for the metrics.
fn judged(done: &Result<Done, ActionFailure>) -> (WriteOutcome, ActionOutcome) {
    match done {
        Ok(Done::Cordoned(outcomes)) if outcomes.iter().any(|(_, done)| done.is_err()) => {
            (WriteOutcome::Refused, ActionOutcome::Failed)
        }
        Ok(
            Done::Carried
            | Done::TemplateMade(_)
            | Done::VersionMade(_)
            | Done::Template(_)
            | Done::Hook(_)
            | Done::Hooks(_)
            | Done::Cordoned(_),
        ) => (WriteOutcome::Done, ActionOutcome::Done),
        Ok(Done::NotYet) => (WriteOutcome::NotYet, ActionOutcome::Refused),
        Ok(Done::NotTogether | Done::PreconditionFailed(_)) => {
            (WriteOutcome::Refused, ActionOutcome::Refused)
        }
        Err(failure) => (failure.outcome(), ActionOutcome::Failed),
    }
}

/// What a call with a lost response may have set counts as set, and is read or sent again: if it leaves the spec now, it is removed.
fn may_have_changed(action: &Action, state: &mut PoolState) {
    match action {
        Action::Hook(HookAction::PutOtherHook { .. } | HookAction::DeleteOtherHook { .. }) => {
            state.reads.hook = None;
        }
        Action::Group(GroupAction::PutNotifications { topic, .. }) => {
            if let LastRead::At { seen, .. } = &mut state.reads.notifications {
                seen.entry(topic.clone()).or_default().clear();
            }
        }
        _ => {}
    }
}

/// When to repeat a call that AWS refused only because something was just created.
fn excused(action: &Action, failure: &ActionFailure, state: &PoolState, now: Timestamp) -> Option<Duration> {
    match failure {
        ActionFailure::Cloud(error) => state.calls.created.excuses(action, error, now),
        ActionFailure::Kubernetes(_) => None,
    }
}
