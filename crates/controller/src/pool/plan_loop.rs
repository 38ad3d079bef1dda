//! The middle of a pass: plan, check and act, again as long as an action provides what the next plan needs.
//!
//! It reads only what an action changed, and publishes nothing.

use super::check::CheckedPlan;
use super::failure_report::{self, Unseen};
use super::inputs::aws::Aws;
use super::inputs::{Freshness, Inputs, observe, replacement_rules};
use super::pass::{Observation, Pass};
use super::pools::Pools;
use super::state::{PoolState, Tenure, Watching};
use super::{idle_check, tenure};
use crate::clouds::GroupKey;
use foo_api::FooMachinePool;
use foo_cloud::CloudError;
use foo_cloud::observer::Pace as ReadPace;
use foo_model::Reason;
use foo_planner::action::{ObjectAction, PoolAction, ReadAction};
use foo_planner::observed::LastRead;
use foo_planner::report::Pace;
use foo_planner::{Action, Plan};
use kube_runtime::reflector::ObjectRef;

/// Maximum of plans in one pass: finalizer and template, a read of the template, the group, and one to spare.
/// Each needs what the one before provided.
const PLANS: usize = 5;

impl Pools {
    /// Plans, checks and acts, again as long as an action provides what the next plan needs.
    pub(super) async fn plan_and_act(
        &self,
        key: &ObjectRef<FooMachinePool>,
        inputs: &mut Inputs<'_>,
        state: &mut PoolState,
    ) -> Pass {
        begin(inputs, state);
        let (mut events, mut tried, mut plans) = (Vec::new(), 0, 0);
        loop {
            let plan = plan(inputs, state);
            let plan = CheckedPlan::of(plan, inputs, &state.memory, &self.context.metrics);
            let mut pass = self.act(inputs, plan, state).await;
            plans += 1;
            if plans == PLANS || !needs_another_plan(inputs, &pass) {
                return self.finish(key, inputs, pass.after(events, tried), state);
            }
            events.append(&mut pass.plan.report.events);
            tried += pass.tried;
            self.read_again(inputs, state).await;
        }
    }

    /// Completes a pass: its report, and how often its group is observed.
    fn finish(
        &self,
        key: &ObjectRef<FooMachinePool>,
        inputs: &Inputs<'_>,
        mut pass: Pass,
        state: &mut PoolState,
    ) -> Pass {
        let Aws::Usable(region, identity) = &inputs.aws else { return pass };
        let stands = refusal_that_stands(inputs, &pass, state);
        pass.observation = match inputs.observed.group {
            LastRead::Unknown if matches!(state.watching, Watching::Here(..)) => Observation::Pending,
            LastRead::At { .. } if stands.is_some() => Observation::Stale,
            LastRead::Unknown | LastRead::Failed { .. } | LastRead::At { .. } => Observation::Known,
        };
        state.calls.refused = pass.refused().or_else(|| stands.clone());
        if state.memory.refused_warm_pool.is_none() {
            state.calls.refused_warm_pool = None;
        }
        let details = observe::denied_details(&region.observer, &pass.plan.report);
        let refused_warm_pool = state.calls.refused_warm_pool.clone();
        let unseen = Unseen { refused_before: stands, refused_warm_pool, details };
        failure_report::add(&mut pass, &unseen, &region.key.region);
        tenure::log_owner(state, key, tenure::owner_by_tags(identity, &inputs.observed));
        if state.tenure == Tenure::Own {
            let place = GroupKey::of(&region.key, &identity.group);
            let states = &pass.plan.report.announcements;
            self.context.announcements.pass_ended(&place, inputs.observed.group.seen_at(), states);
            region.observer.pace(&identity.group, pace(inputs, &pass));
        }
        pass
    }
}

/// Begins a pass; the first one resumes the roll-out that the status shows.
fn begin(inputs: &Inputs<'_>, state: &mut PoolState) {
    if let Aws::Usable(..) = inputs.aws {
        let now = inputs.observed.now;
        if state.started.is_none() {
            state.started = Some(now);
            state.memory.rollout = replacement_rules::resumed(inputs.gathered, now);
        }
        let view = idle_check::digest(&inputs.desired, &inputs.observed, &state.memory);
        state.idle.begins(view, now);
        state.calls.repeats.sees(view);
    }
}

/// The plan, as far as AWS can be used.
fn plan(inputs: &Inputs<'_>, state: &mut PoolState) -> Plan {
    let mut plan = foo_planner::plan(&inputs.desired, &inputs.observed, &state.memory);
    match inputs.aws {
        Aws::Usable(..) => {
            state.idle.comes_back(inputs.observed.now, plan.report.next.after);
            if !believes_template(inputs) {
                plan.actions
                    .retain(|action| !matches!(action, Action::Read(ReadAction::DescribeLaunchTemplate)));
            }
        }
        // Only the release of a pool that created nothing.
        Aws::Unknown | Aws::Unusable(_) => {
            // It stored nothing either: that needs AWS.
            plan.actions.retain(|action| !matches!(action, Action::Object(_)));
            if plan.actions != [Action::Pool(PoolAction::RemoveFinalizer)] {
                plan.actions.clear();
            }
        }
    }
    plan
}

/// Whether a read of the template counts: not before the account is known.
fn believes_template(inputs: &Inputs<'_>) -> bool {
    !matches!(inputs.observed.template, LastRead::Failed { .. })
}

/// Whether an action provided something that the next plan needs and no watch reports.
fn needs_another_plan(inputs: &Inputs<'_>, pass: &Pass) -> bool {
    let brings_news = |action: &Action| {
        matches!(
            action,
            Action::Read(ReadAction::DescribeLaunchTemplate | ReadAction::DescribeLifecycleHook { .. })
        ) || action.changes_template()
            || matches!(action, Action::Object(ObjectAction::StoreUserData { .. }))
    };
    believes_template(inputs) && pass.is_complete() && pass.plan.actions.iter().any(brings_news)
}

/// What AWS refused in an earlier pass, if this pass had no fresh observation and leaves everything as it
/// was. Otherwise the status would be written twice for each attempt.
fn refusal_that_stands(inputs: &Inputs<'_>, pass: &Pass, state: &PoolState) -> Option<(Action, CloudError)> {
    let is_seen = inputs.freshness == Freshness::Fresh && pass.is_clear();
    let at = matches!(inputs.observed.group, LastRead::At { .. });
    state.calls.refused.clone().filter(|_| at && !is_seen && !pass.tries())
}

/// How often to observe the group: a pool that fails is left alone until its next attempt.
fn pace(inputs: &Inputs<'_>, pass: &Pass) -> ReadPace {
    // Frequent observations of another account are pointless.
    if inputs.account_mismatch.as_ref().is_some_and(|mismatch| mismatch.reason == Reason::WrongAccount) {
        return ReadPace::Quiet;
    }
    match (&pass.failure, pass.observation, pass.plan.report.next.pace) {
        (None, Observation::Known | Observation::Pending, Pace::Active) => ReadPace::Active,
        (None, Observation::Known | Observation::Pending, Pace::Patient) => ReadPace::Patient,
        (None | Some(_), _, _) => ReadPace::Quiet,
    }
}
