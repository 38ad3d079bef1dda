//! The middle of a pass: plan, check and act, again as long as an action brought what the next plan needs.
//!
//! Nothing is read here but what is looked at again, and nothing is published.

use super::check::CheckedPlan;
use super::inputs::aws::Aws;
use super::inputs::{Freshness, Inputs, observe, replacement_rules};
use super::output::failure_report::{self, Unseen};
use super::pass::{Observation, Pass};
use super::pools::Pools;
use super::state::{PoolState, Tenure, Watching};
use super::{idle_check, tenure};
use crate::clouds::GroupKey;
use foo_api::FooMachinePool;
use foo_cloud::CloudError;
use foo_cloud::observer::Pace as Looks;
use foo_model::Reason;
use foo_planner::action::{PoolAction, ReadAction};
use foo_planner::observed::Look;
use foo_planner::report::Pace;
use foo_planner::{Action, Plan};
use kube_runtime::reflector::ObjectRef;

/// Plans in one pass: finalizer and template, a look at the template, the group, and one to spare. Each is a plan of
/// its own because the next one needs what the one before brought about.
const PLANS: usize = 5;

impl Pools {
    /// Plans, checks and acts, again as long as an action brought what the next plan needs.
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
            self.look_again(inputs, state).await;
        }
    }

    /// What follows from a pass for its report and for how its group is looked at.
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
            Look::Unknown if matches!(state.watching, Watching::Here(..)) => Observation::Pending,
            Look::At { .. } if stands.is_some() => Observation::Stale,
            Look::Unknown | Look::Failed { .. } | Look::At { .. } => Observation::Known,
        };
        state.calls.refused = pass.refused().or_else(|| stands.clone());
        let details = observe::denied_details(&region.observer, &pass.plan.report);
        failure_report::add(&mut pass, &Unseen { refused_before: stands, details }, &region.key.region);
        tenure::log_owner(state, key, tenure::owner_by_tags(identity, &inputs.observed));
        if state.tenure == Tenure::Own {
            let place = GroupKey::of(&region.key, &identity.group);
            let answers = &pass.plan.report.announcements;
            self.context.announcements.pass_ended(&place, inputs.observed.group.seen_at(), answers);
            region.observer.pace(&identity.group, pace(inputs, &pass));
        }
        pass
    }
}

/// A pass begins; the first one takes over what the status tells of a roll-out.
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

/// What to do, as far as it can be done with what is known of AWS.
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
        // Nothing but the end of a pool that never began.
        Aws::Unknown | Aws::Unusable(_) => {
            if plan.actions != [Action::Pool(PoolAction::RemoveFinalizer)] {
                plan.actions.clear();
            }
        }
    }
    plan
}

/// What is read of a template is not believed before the account is known, however often it is read.
fn believes_template(inputs: &Inputs<'_>) -> bool {
    !matches!(inputs.observed.template, Look::Failed { .. })
}

/// Whether an action brought about something the next plan needs and no watch will announce.
fn needs_another_plan(inputs: &Inputs<'_>, pass: &Pass) -> bool {
    let brings_news = |action: &Action| {
        matches!(
            action,
            Action::Read(ReadAction::DescribeLaunchTemplate | ReadAction::DescribeLifecycleHook { .. })
        ) || action.changes_template()
    };
    believes_template(inputs) && pass.is_complete() && pass.plan.actions.iter().any(brings_news)
}

/// What AWS refused in an earlier pass, if this one had no fresh look to plan by and leaves it as it was. A status that
/// forgot it would be written twice for each try.
fn refusal_that_stands(inputs: &Inputs<'_>, pass: &Pass, state: &PoolState) -> Option<(Action, CloudError)> {
    let is_seen = inputs.freshness == Freshness::Fresh && pass.is_clear();
    let at = matches!(inputs.observed.group, Look::At { .. });
    state.calls.refused.clone().filter(|_| at && !is_seen && !pass.tries())
}

/// How closely to look at the group: a pool that fails is left alone until its next try.
fn pace(inputs: &Inputs<'_>, pass: &Pass) -> Looks {
    // Looking closely at another account changes nothing.
    if inputs.account_mismatch.as_ref().is_some_and(|mismatch| mismatch.reason == Reason::WrongAccount) {
        return Looks::Quiet;
    }
    match (&pass.failure, pass.observation, pass.plan.report.next.pace) {
        (None, Observation::Known | Observation::Pending, Pace::Active) => Looks::Active,
        (None, Observation::Known | Observation::Pending, Pace::Patient) => Looks::Patient,
        (None | Some(_), _, _) => Looks::Quiet,
    }
}
