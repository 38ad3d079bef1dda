//! The planner against every order of events of small worlds, by the model checker stateright.
//!
//! A [`scenario`] is an idle pool, or a group of another tool that the pool adopts, and a budget of what may happen to it. From each state everything that can happen next
//! happens: AWS and Cluster API take one step of their own ([`scenario`], which knows nothing of the planner), people and bad
//! days spend their budget, a manager reads and plans, or its next action gets its outcome, or time passes. The plan is
//! made by the real [`foo_planner::plan`], judged by the real [`foo_planner::violations`], carried out action by action with
//! the real [`foo_planner::Memory::completed`]; between any two actions everything else may happen, the manager's death and a
//! successor included. An old leader finishes its plan and begins one more.
//!
//! There are no events to lose or to double: a pass may happen at any time, and may fail to for any time (I6). A read shows
//! the group as it is, or, within the budget, as it was before a manager's last write to it; the same for the caches of
//! objects. Reads do not go back.
//!
//! # Which rule is which invariant
//!
//! | | always, in the truth ([`rules`]) |
//! |---|---|
//! | I1 | an instance is terminated, and released by its hook, only when released and drained; no write makes AWS terminate one that has Pods and waits for nothing; a finalizer outlives its instance; no Machine is excluded from draining while its instance runs; no instance joins the cluster in the provider's warm pool, which is deleted undrained |
//! | I2 | desired capacity is never below the lowest target; that no write goes below what the read showed is the checker's |
//! | I3 | lowest target − maxUnavailable are available, less what AWS or a person took |
//! | I4 | neither instances nor desired capacity exceed the highest target + maxSurge |
//! | I5 | no manager completes a hook twice, or ends an instance twice; that each is completed at all is I11's way to rest |
//! | I6, I11 | from every 100th state, by its hash, all of the undisturbed work ends at the desired replicas, whatever happened before; no launch is wasted |
//! | I7 | no more Machines are chosen than are too many, marked or not |
//! | I8 | Machines that drain by our choice keep to one budget, and I2, I3, I4 and I7 hold, with two managers at work |
//! | I9 | the group never gets content that is recorded as failed |
//! | I10 | a pass over an idle world does nothing |
//! | I12 | a foreign group is not written to, nor a warm pool of another user whose instances run |
//!
//! Beside them, no plan may break a rule of the checker; while the group would take an outdated instance from its warm pool, capacity
//! waits a minute, and a replacement ten; no Machine is replaced unless its instance is outdated, or has expired, or a load balancer is known
//! to find it unhealthy; no manager asks AWS to continue a termination while connections to the instance drain, or detaches a target group
//! that the spec names, which would deregister instances whose Machines stay. An idle group has the warm pool and the target group of the
//! spec; the warm pool with an instance of its own version, or none if the user data do not wait. Each scenario names
//! what must be reachable, so that none is empty; [`mutants`] shows I1, I12 and the rules after it broken.
//!
//! # Deregistration
//!
//! The provider deregisters no instance by itself (docs/decisions/0029-health-of-targets.md): AWS does, when a termination begins, before
//! the hook; and when the provider detaches a target group that the spec no longer names. Connections drain until a step ends that, at any
//! time and after any number of ticks. So a Machine that is deleted is drained first, and its connections drain afterwards; of an
//! instance that AWS takes both happen at the same time.
//!
//! # How it is bounded
//!
//! By scenario: 1 to 3 instances at the start, one change of content, one or two of the desired replicas, one or two marks, one instance
//! lost to AWS, one person's deletion, one removal of the warm pool or of the target group, one unhealthy target, one fault (a crash, a lost request or response), one hand-over, one late read. Within
//! that it is exhaustive: the state space is finite, because time is relative ([`state`]) and moves in ticks of half a minute.
//! A warm pool has one instance, or none. AWS may take it although it is deleting the warm pool, and delete that at any time, or
//! refuse to. From one minute of waiting for that, a tick leads to ten.
//! Of an adopted group, what AWS terminates before there is a hook goes undrained: no action of the provider could change that.
//! AWS waits for the connections of an instance that terminates only while its target group is attached: with one that was just detached,
//! they are cut.
//! Among instances that are in the same state the first one moves first, except in drains. Instances come in service at once
//! and Machines go right after their FooMachines, except in the deep run. Not here: the making, the removal and the retention of a pool, rebalancing between zones, the end of the wait for a Node that is
//! never found, what a predecessor recorded of waits, announcements of instances that leave the warm pool,
//! what a load balancer finds of instances that drain, external sizes, heartbeats, lost protection, disruption budgets that hold a drain; random interleavings have these
//! (`tests/properties`). Nor a warm pool that an old leader is still creating while the content joins (`tests/steps/warm_pools.rs`), nor a crash while the only instance is on trial: such a roll-out counts as finished afterwards.
//!
//! `make model` goes deeper, with `PLANNER_MODEL=deep`: more faults, late reads and changes at once, in minutes.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod manager;
mod mutants;
mod rules;
mod scenario;
mod scenarios;
mod state;

use scenario::{Scenario, Step};
use state::State;
use stateright::{Checker as _, HasDiscoveries, Model as _};
use std::time::Instant;

/// Explores a scenario to its end, or to the first rule that is broken.
fn explore(scenario: Scenario) {
    let start = Instant::now();
    let name = scenario.name;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let model = scenario.clone();
    let checker = scenario.checker().threads(threads).finish_when(HasDiscoveries::AnyFailures);
    let checker = checker.spawn_bfs().join();
    println!(
        "{name}: {} states, {} steps, {} deep, {:.1} s",
        checker.unique_state_count(),
        checker.state_count(),
        checker.max_depth(),
        start.elapsed().as_secs_f32()
    );
    for (property, path) in checker.discoveries() {
        if !model.property(property).expectation.discovery_is_failure() {
            continue;
        }
        let last = path.last_state().clone();
        let why = rules::settle(&model, &last).err().unwrap_or_default();
        let steps: Vec<String> = path.into_vec().iter().map(|(state, step)| shown(state, *step)).collect();
        panic!("{name}: \"{property}\" does not hold after\n{}\n{last:#?}\n{why}", steps.join("\n"));
    }
    checker.assert_properties();
}

/// A step, with the action if it is one of a plan.
fn shown(state: &State, step: Option<Step>) -> String {
    match step {
        Some(Step::Act(index, outcome)) => {
            let pending = state.managers[index].pending.as_ref();
            format!("Act({index}, {outcome:?}): {:?}", pending.map(|pending| &pending.rest()[0]))
        }
        Some(step) => format!("{step:?}"),
        None => String::new(),
    }
}
