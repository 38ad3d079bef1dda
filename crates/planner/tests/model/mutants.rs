//! What a broken planner would do, each with the one rule that it breaks: a rule that finds nothing would hold in every scenario.

use super::manager::{CallOutcome, act};
use super::rules::always;
use super::scenario::{Scenario, Step, Warmth};
use super::scenarios::scenario;
use super::state::{Budget, Foo, Mach, NOW, RENEWAL_WAITS, State, WarmPool};
use foo_model::{GroupChange, LaunchTemplateId, TemplateVersion, Uid};
use foo_planner::action::{GroupAction, HookAction, MachineAction};
use foo_planner::{Action, Precondition};
use stateright::Model as _;

/// A pool whose only manager has seen everything.
fn begin(scenario: &Scenario) -> State {
    let mut state = scenario.init_states().remove(0);
    state.managers[0].sees_group = true;
    state
}

const NOTHING_SOUND_IS_REPLACED: &str =
    "nothing is replaced that is as wanted, young, and not known to be unhealthy";

/// A pool of one instance behind a load balancer. AWS may take the instance, and a user may remove the target group.
fn connected(name: &'static str) -> Scenario {
    let budget = Budget { takes: 1, detachments: 1, ..Budget::default() };
    Scenario { balanced: true, connected: true, budget, ..scenario(name, 1) }
}

/// AWS takes the instance, and connections to it drain.
fn taken(scenario: &Scenario) -> State {
    let mut state = begin(scenario);
    scenario.happen(&mut state, Step::Take(1));
    state
}

/// The Machine of this instance is replaced.
fn replaces(state: &State, number: usize) -> MachineAction {
    MachineAction::DeleteMachine {
        name: state.units[number - 1].name(),
        uid: uid(),
        only_if: Precondition::SameUid,
        why: String::new(),
    }
}

/// The hook of the first instance is completed.
fn completes(state: &State) -> HookAction {
    let id = state.units[0].id();
    HookAction::CompleteLifecycleAction { group: Scenario::name(), id, why: String::new() }
}

/// The world does not compare it.
fn uid() -> Uid {
    Uid::new("uid")
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
    let replacement = replaces(&state, 1);
    assert_eq!(broken_by(&scenario, state, replacement), [NOTHING_SOUND_IS_REPLACED]);
}

#[test]
fn it_replaces_an_instance_that_has_not_expired() {
    let scenario = Scenario { expired: 1, ..scenario("replaces too early", 2) };
    let state = begin(&scenario);
    let (expired, young) = (replaces(&state, 1), replaces(&state, 2));
    assert!(broken_by(&scenario, state.clone(), expired).is_empty());
    assert_eq!(broken_by(&scenario, state, young), [NOTHING_SOUND_IS_REPLACED]);
}

#[test]
fn it_continues_a_termination_while_connections_drain() {
    let scenario = connected("cuts");
    let mut state = taken(&scenario);
    let unit = &mut state.units[0];
    (unit.machine, unit.foo, unit.drained) = (Mach::LetGo, Foo::Deleting, true);
    let complete = completes(&state);
    let rule = "connections drain before an instance is terminated";
    assert_eq!(broken_by(&scenario, state.clone(), complete.clone()), [rule]);
    scenario.happen(&mut state, Step::Disconnect);
    assert!(broken_by(&scenario, state, complete).is_empty(), "its hook has begun");
}

#[test]
fn it_excludes_a_machine_from_draining_while_connections_to_its_instance_drain() {
    let scenario = connected("excludes");
    let state = taken(&scenario);
    let exclude = MachineAction::ExcludeFromDraining { name: state.units[0].name(), uid: uid() };
    assert_eq!(broken_by(&scenario, state, exclude), ["I1 only released instances are ended, drained"]);
}

#[test]
fn it_detaches_a_target_group_that_the_spec_names() {
    let scenario = connected("detaches");
    let mut state = begin(&scenario);
    let sources = Scenario::traffic_sources(true);
    let detach = GroupAction::DetachTrafficSources { name: Scenario::name(), sources };
    let rule = "what stays is deregistered only from a target group that the spec no longer names";
    assert_eq!(broken_by(&scenario, state.clone(), detach.clone()), [rule]);
    scenario.happen(&mut state, Step::Detach);
    assert!(broken_by(&scenario, state, detach).is_empty(), "the spec no longer names it");
}
