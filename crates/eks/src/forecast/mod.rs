//! What will follow from a desired cluster: `forecast(&Desired, &Observed, &Recorded, &Memory) -> Forecast`.
//!
//! The planner plans again and again, as it would, against an idealized EKS ([`ideal`]) in which every call succeeds and
//! every update ends, each after an assumed time. So the calls and their order are those of the planner itself. What a
//! forecast cannot know: refusals, updates that fail in EKS, findings about versions that follow the next one, and what
//! others change meanwhile.
//!
//! What has not been read yet is not invented: the forecast ends there, and [`End::Unknown`] names the queries.

mod ideal;

pub use ideal::{ADDON, CONFIG_UPDATE, CREATION, DELETION, VERSION_UPDATE};

use crate::action::Action;
use crate::memory::Memory;
use crate::observed::CompletedRead;
use crate::report::{Condition, ConditionKind, ReadRequest};
use crate::situation::situation;
use crate::{Desired, Eks, Observed, Plan, Recorded, Report};
use foo_calls::report::Status;
use foo_calls::{Outcome, Process};
use foo_model::eks::{Change, ClusterChange, Query};
use foo_model::{Reason, Timestamp};
use ideal::Ideal;
use std::time::Duration;

/// From a call to the next plan.
const TICK: Duration = Duration::from_secs(1);
/// Plans in one forecast, at most: a cluster that is three versions behind, with ten add-ons, needs about 400.
const PLANS: usize = 4_000;
/// Times in a row that only time passed, after which nothing more is expected.
const IDLE: u32 = 30;

/// What will follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// Calls that change something, in order.
    pub steps: Vec<Step>,
    /// How long it takes, until the last update ends.
    pub takes: Duration,
    /// How it ends.
    pub end: End,
    /// The report of the last plan.
    pub report: Report,
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// When it is sent.
    pub at: Timestamp,
    /// The call.
    pub action: Action,
}

/// How a forecast ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Everything is as requested.
    Settled,
    /// Something is left that only a user or AWS can do; the report says what.
    Waiting,
    /// What follows depends on queries that no read has answered yet.
    Unknown(Vec<Query>),
    /// It is not finished after the largest number of plans that a forecast makes.
    Unfinished,
}

/// What will follow from `desired`, beginning with what is `observed`, recorded and remembered.
pub fn forecast(desired: &Desired, observed: &Observed, recorded: &Recorded, memory: &Memory) -> Forecast {
    let mut future = Future {
        desired,
        ideal: Ideal::new(&situation(desired, observed, recorded, memory)),
        observed: observed.clone(),
        process: Process { record: recorded.clone(), memory: memory.clone() },
        steps: Vec::new(),
        idle: 0,
    };
    // As if all that is known were read now: a list may be older than what it lists.
    future.observed.reads.extend(future.ideal.reads(observed.now));
    let mut plan = future.plan();
    for _ in 0..PLANS {
        if let Some(end) = future.follow(&plan) {
            return future.into_forecast(observed.now, end, plan.report);
        }
        plan = future.plan();
    }
    future.into_forecast(observed.now, End::Unfinished, plan.report)
}

/// A manager in the future, and its EKS.
struct Future<'a> {
    desired: &'a Desired,
    ideal: Ideal<'a>,
    observed: Observed,
    process: Process<Eks>,
    steps: Vec<Step>,
    /// How often in a row time only passed.
    idle: u32,
}

impl Future<'_> {
    fn plan(&self) -> Plan {
        // What violates an invariant is not carried out: such a plan sends nothing and says so.
        self.process.plan(self.desired, &self.observed).0
    }

    /// Does what a manager does with a plan. Returns how the forecast ends, if nothing more can be foreseen.
    fn follow(&mut self, plan: &Plan) -> Option<End> {
        self.process.accept(plan);
        if plan.report.settled {
            return Some(End::Settled);
        }
        if !plan.actions.is_empty() {
            self.send(plan);
            return (self.idle >= IDLE).then_some(End::Waiting);
        }
        match self.read(&plan.report) {
            Read::Nothing => {}
            Read::Something => {
                self.observed.now = self.observed.now.plus(TICK);
                return None;
            }
            Read::Unknown(queries) => return Some(End::Unknown(queries)),
        }
        if self.ideal.next().is_none() {
            self.idle += 1;
        }
        let Some(next) = self.next(&plan.report).filter(|_| self.idle < IDLE) else {
            return Some(End::Waiting);
        };
        self.ideal.advance_to(next);
        self.observed.now = next;
        None
    }

    fn send(&mut self, plan: &Plan) {
        let now = self.observed.now;
        self.process.sent(&plan.actions, now);
        let mut changes = false;
        for action in &plan.actions {
            let response = self.ideal.carry_out(action, now);
            self.process.ended(action, now, Outcome::Done(response));
            if !is_refresh(&action.change) {
                changes = true;
                self.steps.push(Step { at: now, action: action.clone() });
            }
        }
        self.idle = if changes { 0 } else { self.idle + 1 };
        self.observed.now = now.plus(TICK);
    }

    /// Takes the reads that are due.
    fn read(&mut self, report: &Report) -> Read {
        let now = self.observed.now;
        let due: Vec<Query> =
            self.answerable(report).filter(|it| it.from <= now).map(|it| it.query.clone()).collect();
        let (mut unknown, mut read) = (Vec::new(), Read::Nothing);
        for query in due {
            match self.ideal.read(&query) {
                Some(response) => {
                    read = Read::Something;
                    self.observed.reads.insert(query, CompletedRead { begun: now, response });
                }
                None => unknown.push(query),
            }
        }
        if unknown.is_empty() { read } else { Read::Unknown(unknown) }
    }

    /// Reads that a plan asks for. What AWS refused to answer stays so.
    fn answerable<'r>(&self, report: &'r Report) -> impl Iterator<Item = &'r ReadRequest> {
        report.reads.iter().filter(|read| !self.observed.failed.contains_key(&read.query))
    }

    /// The next moment at which anything happens.
    fn next(&self, report: &Report) -> Option<Timestamp> {
        let now = self.observed.now;
        let reads = self.answerable(report).map(|read| read.from);
        reads.chain(report.again_at).chain(self.ideal.next()).filter(|at| *at > now).min()
    }

    fn into_forecast(self, start: Timestamp, end: End, report: Report) -> Forecast {
        let Self { ideal, steps, .. } = self;
        Forecast { steps, takes: start.until(ideal.last_change.max(start)), end, report }
    }
}

/// What reads came to.
enum Read {
    Nothing,
    Something,
    /// Only AWS knows these.
    Unknown(Vec<Query>),
}

/// That EKS works out its insights again changes nothing of the cluster.
fn is_refresh(change: &Change) -> bool {
    matches!(change, Change::Cluster { change: ClusterChange::RefreshInsights, .. })
}

impl Forecast {
    /// The conditions at the end that are not those of a cluster with nothing left to do.
    pub fn remaining(&self) -> impl Iterator<Item = &Condition> {
        self.report.conditions.iter().filter(|condition| !is_settled(condition))
    }
}

fn is_settled(condition: &Condition) -> bool {
    match condition.kind {
        ConditionKind::ClusterReady | ConditionKind::AddonsReady | ConditionKind::AccessReady => {
            condition.status == Status::True
        }
        ConditionKind::Upgrading => condition.reason == Reason::NotUpgrading,
        ConditionKind::Deleting => condition.status == Status::False,
    }
}
