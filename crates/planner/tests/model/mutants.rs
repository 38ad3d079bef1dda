//! What a broken planner would do, each with the one rule that it breaks: a rule that finds nothing would hold in every scenario.

use super::manager::{CallOutcome, act};
use super::rules::always;
use super::scenario::{Scenario, Step, Warmth};
use super::scenarios::scenario;
use super::state::{NOW, RENEWAL_WAITS, State, WarmPool};
use foo_model::{GroupChange, LaunchTemplateId, TemplateVersion, Uid};
use foo_planner::action::{GroupAction, MachineAction};
use foo_planner::{Action, Precondition};
use stateright::Model as _;

/// A pool of one instance, whose only manager has seen everything.
fn begin(scenario: &Scenario) -> State {
    let mut state = scenario.init_states().remove(0);
    state.managers[0].sees_group = true;
    state
}

/// The rules that do not hold after the manager has carried out an action, and AWS has done its part in the warm pool.
fn broken_by(scenario: &Scenario, mut state: State, action: impl Into<Action>) -> Vec<&'static str> {
    state.managers[0].intends(vec![action.into()]);
    act(scenario, &mut state, 0, CallOutcome::Completed);
    if state.group.warm_pool.is_some_and(WarmPool::is_unfinished) {
        scenario.happen(&mut state, Step::FitWarmPool);
    }
    let broken = always().into_iter().filter(|rule| !(rule.condition)(scenario, &state));
    broken.map(|rule| rule.name).collect()
}

fn update(change: GroupChange) -> GroupAction {
    GroupAction::UpdateGroup { name: Scenario::name(), change, why: String::new() }
}

#[test]
fn it_lets_the_group_launch_user_data_that_join_while_its_warm_pool_is_filled() {
    let scenario = Scenario { warmth: Warmth::Provider, joining: Some(2), ..scenario("joins", 1) };
    let mut state = begin(&scenario);
    state.group.warm_pool = Some(WarmPool::empty(1));
    let template = Some((LaunchTemplateId::new("lt-1"), TemplateVersion(2), None));
    let change = GroupChange { template, ..GroupChange::default() };
    assert_eq!(broken_by(&scenario, state, update(change)), ["I1 nothing joins the cluster in a warm pool"]);
}

#[test]
fn it_adds_capacity_before_the_outdated_warm_pool_is_deleted() {
    let scenario = Scenario { warmth: Warmth::Provider, surge: 1, ..scenario("raises", 1) };
    let mut state = begin(&scenario);
    (state.content, state.versions, state.group.version) = (2, 2, 2);
    let raise = || update(GroupChange { desired: Some(2), max: Some(2), ..GroupChange::default() });
    let rule = "an outdated warm pool is deleted before more instances are launched";
    assert_eq!(broken_by(&scenario, state.clone(), raise()), [rule]);
    state.managers[0].mind.0.warm_pool_unfit_since = Some(NOW.minus(RENEWAL_WAITS));
    assert!(broken_by(&scenario, state, raise()).is_empty(), "it has waited");
}

#[test]
fn it_deletes_a_warm_pool_of_another_user() {
    let scenario = Scenario { warmth: Warmth::AnotherUser, ..scenario("takes over", 1) };
    let delete = GroupAction::DeleteWarmPool { name: Scenario::name(), why: String::new() };
    assert_eq!(broken_by(&scenario, begin(&scenario), delete), ["I12 a foreign group is not touched"]);
}

#[test]
fn it_replaces_an_instance_that_no_load_balancer_finds_unhealthy() {
    let scenario = Scenario { balanced: true, ..scenario("replaces", 1) };
    let state = begin(&scenario);
    let delete = MachineAction::DeleteMachine {
        name: state.units[0].name(),
        uid: Uid::new("workers-1"),
        only_if: Precondition::SameUid,
        why: String::new(),
    };
    let rule = "nothing is replaced for health that is good or unknown";
    assert_eq!(broken_by(&scenario, state, delete), [rule]);
}
