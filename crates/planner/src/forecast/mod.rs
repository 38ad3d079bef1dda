//! What will follow from a desired state: `forecast(&Desired, &Observed, &Memory, &Durations) -> Forecast`.
//!
//! The planner plans again and again, as it would, against an idealized pool ([`pool`]) in which every call succeeds, every
//! instance joins and every drain ends, each after a known time. So order, limits and calls are those of the planner
//! itself. A Capacity Block stays as it is now: neither its start nor its end follows from a change. What a forecast cannot know:
//! refusals, capacity that AWS does not have, budgets that hold a drain up, Nodes that do not join, and what others change meanwhile.

mod durations;
mod pool;

pub use durations::Durations;
pub use pool::{LARGEST_POOL, PLANNED_TEMPLATE};

use crate::action::{Action, ActionKind, MachineAction};
use crate::memory::WriteOutcome;
use crate::report::{Condition, ConditionKind, Report, RolloutPhase, RolloutReport, Status};
use crate::summary::capacity_block_ready;
use crate::{Desired, Memory, Observed, plan};
use foo_model::{InstanceId, MachineName, Timestamp};
use pool::Pool;
use std::collections::BTreeMap;
use std::time::Duration;

/// From an action to the next plan: an observation follows a change after about this time.
const TICK: Duration = Duration::from_secs(1);
/// Plans in one forecast, at most: a roll-out needs about five for each instance, if it replaces one by one.
const PLANS: usize = 10_000;
/// Instances in all plans of one forecast: a plan takes longer the more there are. Some seconds of computing.
const PLANNED_INSTANCES: usize = 2_000_000;
/// Plans without any action, one after the other, after which nothing more is expected: only timers run.
const IDLE_PLANS: u32 = 20;

/// What will follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// Machines that are deleted, in order.
    pub deletions: Vec<Deletion>,
    /// Instances that are launched.
    pub launches: u32,
    /// How often each action is carried out.
    pub actions: BTreeMap<ActionKind, u32>,
    /// How many of them are calls that change something in AWS. Some can share one call.
    pub aws_calls: u32,
    /// Instances in service with a Ready Node, at least.
    pub least_ready: u32,
    /// Instances that are launching or in service, at most.
    pub most_instances: u32,
    /// How long it takes.
    pub takes: Duration,
    /// How it ends.
    pub end: End,
    /// The report of the last plan.
    pub report: Report,
    /// What is observed in the end. Ids of instances and of a launch template that the forecast creates are invented.
    pub observed: Observed,
}

/// A Machine that is deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// Its name.
    pub machine: MachineName,
    /// Its instance, if it has one.
    pub instance: Option<InstanceId>,
    /// When, from now.
    pub after: Duration,
    /// Why.
    pub why: String,
}

/// How a forecast ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing is left to do.
    Settled,
    /// Something is left that only a user or another controller can do; the report says what.
    Waiting,
    /// It is not finished after the largest number of plans that a forecast makes.
    Unfinished,
}

/// What will follow from `desired`, beginning with what is `observed` and remembered.
pub fn forecast(desired: &Desired, observed: &Observed, memory: &Memory, durations: &Durations) -> Forecast {
    let start = observed.now;
    let mut pool = Pool::new(desired, observed, durations);
    let mut memory = memory.clone();
    let mut seen = Seen { block: capacity_block_ready(desired, observed), ..Seen::default() };
    let mut idle = 0;
    let mut left = PLANNED_INSTANCES;
    for _ in 0..PLANS {
        let Some(rest) = left.checked_sub(pool.members().max(1)) else { break };
        left = rest;
        let plan = plan(&pool.desired, &pool.observed, &memory);
        memory = plan.memory;
        seen.take_in(&pool, &plan.report);
        let now = pool.observed.now;
        for action in &plan.actions {
            let in_flight = memory.sent(&[action], now);
            pool.carry_out(action);
            memory.completed(in_flight, [(action, WriteOutcome::Done)], now);
            seen.note(action, &pool, start);
        }
        if !plan.actions.is_empty() {
            seen.last_action = now;
            idle = 0;
            pool.advance_to(now.plus(TICK));
            continue;
        }
        if pool.next_effect().is_none() && only_ages(&plan.report, now) && !awaits_window(&plan.report) {
            return seen.into_forecast(start, plan.report, pool);
        }
        let timer = plan.report.next.after.map(|after| now.plus(after.max(TICK)));
        idle += u32::from(pool.next_effect().is_none());
        let Some(next) =
            [timer, pool.next_effect()].into_iter().flatten().min().filter(|_| idle < IDLE_PLANS)
        else {
            return seen.into_forecast(start, plan.report, pool);
        };
        pool.advance_to(next);
    }
    let report = plan(&pool.desired, &pool.observed, &memory).report;
    Forecast { end: End::Unfinished, ..seen.into_forecast(start, report, pool) }
}

/// What a forecast has come to so far.
#[derive(Default)]
struct Seen {
    /// What the pool's Capacity Block means now; the pool of the forecast has none.
    block: Option<Condition>,
    deletions: Vec<Deletion>,
    actions: BTreeMap<ActionKind, u32>,
    aws_calls: u32,
    least_ready: Option<u32>,
    most_instances: u32,
    last_action: Timestamp,
}

impl Seen {
    fn take_in(&mut self, pool: &Pool, report: &Report) {
        self.most_instances = self.most_instances.max(pool.capacity());
        if let Some(counts) = report.counts {
            self.least_ready = Some(self.least_ready.map_or(counts.ready, |least| least.min(counts.ready)));
        }
    }

    fn note(&mut self, action: &Action, pool: &Pool, start: Timestamp) {
        *self.actions.entry(action.kind()).or_default() += 1;
        self.aws_calls += u32::from(changes_aws(action));
        if let Action::Machine(MachineAction::DeleteMachine { name, why, .. }) = action {
            self.deletions.push(Deletion {
                machine: name.clone(),
                instance: pool.instance_of(name),
                after: start.until(pool.observed.now),
                why: why.clone(),
            });
        }
    }

    fn into_forecast(self, start: Timestamp, mut report: Report, pool: Pool) -> Forecast {
        report.conditions.extend(self.block);
        let waits = !only_ages(&report, pool.observed.now) && report.next.after.is_some();
        let waits = waits || !is_as_desired(&report);
        Forecast {
            deletions: self.deletions,
            launches: pool.launches,
            actions: self.actions,
            aws_calls: self.aws_calls,
            least_ready: self.least_ready.unwrap_or_default(),
            most_instances: self.most_instances,
            takes: start.until(self.last_action.max(pool.last_effect)),
            end: if waits { End::Waiting } else { End::Settled },
            report,
            observed: pool.observed,
        }
    }
}

/// Whether a roll-out begins when a maintenance window opens.
fn awaits_window(report: &Report) -> bool {
    report.rollout.as_ref().is_some_and(|rollout| rollout.phase == RolloutPhase::AwaitingWindow)
}

/// Whether the next thing to happen is that an instance reaches its lifetime. That follows from no change, and it never
/// ends: each instance that is launched reaches its own.
fn only_ages(report: &Report, now: Timestamp) -> bool {
    let next = report.next.after.map(|after| now.plus(after));
    next.zip(report.next_expiry).is_some_and(|(next, expiry)| next >= expiry && expiry > now)
}

/// Whether an action is a call that changes something in AWS.
fn changes_aws(action: &Action) -> bool {
    match action {
        Action::Object(_)
        | Action::Template(_)
        | Action::Group(_)
        | Action::Instance(_)
        | Action::Hook(_) => true,
        Action::Pool(_) | Action::Read(_) | Action::Machine(_) | Action::Node(_) => false,
    }
}

impl Forecast {
    /// The conditions at the end that are not those of a pool with nothing left to do.
    pub fn remaining(&self) -> impl Iterator<Item = &Condition> {
        self.report.conditions.iter().filter(|condition| !is_settled(condition))
    }
}

/// Whether a report has nothing that the pool waits for.
fn is_as_desired(report: &Report) -> bool {
    let rolled_out =
        |rollout: &RolloutReport| matches!(rollout.phase, RolloutPhase::Finished | RolloutPhase::RolledBack);
    report.rollout.as_ref().is_none_or(rolled_out) && report.conditions.iter().all(is_settled)
}

fn is_settled(condition: &Condition) -> bool {
    match condition.kind {
        ConditionKind::Ready
        | ConditionKind::LaunchTemplateReady
        | ConditionKind::AutoScalingGroupReady
        | ConditionKind::CapacityAvailable
        | ConditionKind::CredentialsReady
        | ConditionKind::AutoscalerReady
        | ConditionKind::WarmPoolReady
        | ConditionKind::CapacityBlockReady => condition.status == Status::True,
        ConditionKind::RollingOut
        | ConditionKind::ScalingUp
        | ConditionKind::ScalingDown
        | ConditionKind::Remediating
        | ConditionKind::Paused
        | ConditionKind::Deleting => condition.status == Status::False,
    }
}
