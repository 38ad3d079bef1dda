//! The engine of calls against every order of events of small worlds, by the model checker stateright.
//!
//! A world has a domain of one or two boxes ([`domain`]), which are created and, at any moment that a user chooses,
//! deleted. Beside them is a box of another owner. From each state everything that can happen next happens ([`world`]):
//! a manager reads, plans, writes the status, sends, each in a step of its own; a call is carried out and its response
//! arrives or is lost, or it is refused, or never arrives; a read shows what was before; a pass is cancelled; the
//! manager crashes; a second one begins while calls of the first one are still sent; time passes. The plan is created,
//! remembered and accounted for by the real [`foo_calls::Process`].
//!
//! | property | in the truth, always |
//! |---|---|
//! | nothing is created twice | no two own boxes have the same role |
//! | nothing recorded is forgotten | the status names every own box, by its id or as about to be created; when the object may be removed, no own box exists or can appear |
//! | nothing foreign is touched | no call is about the box of another owner |
//! | no plan breaks a rule | the domain's check agrees with every plan |
//!
//! # How it is bounded
//!
//! By time, faults and stale reads ([`Budget`]). A call arrives within a tick or never; a read shows everything that
//! happened before its tick. A manager that no longer leads writes no status and begins no plan, but its recorded calls
//! may still be sent during that tick.
//!
//! Engines with one of three errors ([`Engine`]) break the properties: the model is not empty.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod domain;
mod world;

use stateright::{Checker as _, HasDiscoveries, Model as _};
use std::time::Instant;
use world::{Budget, Engine, FORGOTTEN, Scenario};

fn scenario(name: &'static str, boxes: u8, budget: Budget) -> Scenario {
    Scenario { name, boxes, budget, engine: Engine::Sound }
}

/// One box through everything.
fn one() -> Scenario {
    scenario("one box", 1, Budget { ticks: 5, faults: 2, stale: 1 })
}

/// Two boxes: of two calls at the same time each has its own outcome.
fn two() -> Scenario {
    scenario("two boxes", 2, Budget { ticks: 4, faults: 1, stale: 1 })
}

/// Explores a scenario to its end.
fn explore(scenario: &Scenario) {
    let start = Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let checker = scenario.clone().checker().threads(threads).finish_when(HasDiscoveries::AnyFailures);
    let checker = checker.spawn_bfs().join();
    println!(
        "{}: {} states, {} deep, {:.1} s",
        scenario.name,
        checker.unique_state_count(),
        checker.max_depth(),
        start.elapsed().as_secs_f32()
    );
    for (property, path) in checker.discoveries() {
        if scenario.property(property).expectation.discovery_is_failure() {
            let last = path.last_state().clone();
            let steps: Vec<String> = path.into_actions().iter().map(|step| format!("{step:?}")).collect();
            panic!("\"{property}\" does not hold after\n{}\n{last:#?}", steps.join("\n"));
        }
    }
    checker.assert_properties();
}

/// The property that an engine breaks first.
fn broken(engine: Engine) -> Vec<&'static str> {
    let checker = Scenario { engine, ..one() }.checker().finish_when(HasDiscoveries::AnyFailures);
    let found = checker.spawn_bfs().join().discoveries();
    found.into_keys().filter(|property| one().property(property).expectation.discovery_is_failure()).collect()
}

#[test]
fn one_box_is_created_once_and_deleted_whatever_happens() {
    explore(&one());
}

#[test]
fn two_boxes_are_created_once_and_deleted_whatever_happens() {
    explore(&two());
}

#[test]
fn an_engine_that_writes_the_record_after_the_call_forgets() {
    assert_eq!(broken(Engine::RecordsAfterwards), [FORGOTTEN]);
}

#[test]
fn an_engine_that_takes_a_failure_for_a_success_forgets() {
    assert_eq!(broken(Engine::TakesFailureForSuccess), [FORGOTTEN]);
}

#[test]
fn an_engine_that_does_not_remember_what_it_sends_forgets() {
    assert_eq!(broken(Engine::ForgetsWhatIsSent), [FORGOTTEN]);
}
