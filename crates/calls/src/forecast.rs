//! What will follow from a desired state: plan after plan, as a manager makes them, against an idealized AWS ([`Ideal`]) in
//! which every call succeeds and everything that takes time ends, each after an assumed time.
//!
//! So the calls and their order are those of the planner itself. What a forecast cannot know: refusals, failures in AWS,
//! and what others change meanwhile. What has not been read yet is not invented: the forecast ends there, and
//! [`End::Unknown`] names the reads.

use crate::action::Action;
use crate::domain::{Domain, Plan};
use crate::outcome::Outcome;
use crate::process::Process;
use foo_model::Timestamp;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

/// From a call, or a read, to the next plan.
const TICK: Duration = Duration::from_secs(1);
/// Plans in one forecast, at most: an EKS cluster that is three versions behind, with ten add-ons, needs about 400.
const PLANS: usize = 4_000;
/// Times in a row that only time passed, after which nothing more is expected.
const IDLE: u32 = 30;

/// An AWS in which everything succeeds.
pub trait Ideal {
    /// Whose calls it carries out.
    type Domain: Domain;
    /// A read that a report asks for.
    type Read: Clone + Debug + PartialEq;
    /// Something that takes time.
    type Work;
    /// What exists.
    type Contents: Clone + Debug + PartialEq;

    /// What exists at this moment.
    fn contents(&self) -> Self::Contents;

    /// Carries out a call at this moment, and returns the response.
    fn carry_out(&mut self, action: &ActionOf<Self>, now: Timestamp) -> ResponseOf<Self>;

    /// What it is working on.
    fn works(&mut self) -> &mut Works<Self::Work>;

    /// A work is done: reads show it.
    fn finish(&mut self, work: Self::Work);

    /// The reads that a report asks for, each with the moment from which on. Those that AWS refused are left out: they
    /// stay so.
    fn reads(report: &ReportOf<Self>, observed: &ObservedOf<Self>) -> Vec<(Self::Read, Timestamp)>;

    /// Takes a read at this moment; `false` if only AWS knows its response.
    fn read(&self, read: &Self::Read, now: Timestamp, observed: &mut ObservedOf<Self>) -> bool;

    /// The next plan is of this moment.
    fn set_now(observed: &mut ObservedOf<Self>, now: Timestamp);

    /// When to plan again even if nothing happens.
    fn again_at(report: &ReportOf<Self>) -> Option<Timestamp>;

    /// Whether a report says that everything is as requested.
    fn is_settled(report: &ReportOf<Self>) -> bool;

    /// Whether a call is a step: one that changes what is requested.
    fn is_step(action: &ActionOf<Self>) -> bool;
}

type ActionOf<I> = <<I as Ideal>::Domain as Domain>::Action;
type ResponseOf<I> = <ActionOf<I> as Action>::Response;
type ObservedOf<I> = <<I as Ideal>::Domain as Domain>::Observed;
type ReportOf<I> = <<I as Ideal>::Domain as Domain>::Report;

/// What will follow.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast<D: Domain, R, C> {
    /// Calls that change something, in order.
    pub steps: Vec<Step<D::Action>>,
    /// How long it takes, until the last change has ended.
    pub takes: Duration,
    /// How it ends.
    pub end: End<R>,
    /// The report of the last plan.
    pub report: D::Report,
    /// What exists now, as far as it is known.
    pub now: C,
    /// What exists in the end. Ids of what the forecast creates are invented.
    pub then: C,
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step<A> {
    /// When it is sent.
    pub at: Timestamp,
    /// The call.
    pub action: A,
}

/// How a forecast ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End<R> {
    /// Everything is as requested.
    Settled,
    /// Something is left that only a user or AWS can do; the report says what.
    Waiting,
    /// What follows depends on these reads, which have not been taken yet.
    Unknown(Vec<R>),
    /// It is not finished after the largest number of plans that a forecast makes.
    Unfinished,
}

/// What an idealized AWS is working on.
#[derive(Clone, Debug)]
pub struct Works<W> {
    due: BTreeMap<Timestamp, Vec<(W, Counts)>>,
    last: Timestamp,
}

/// Whether a forecast takes until a work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Yes.
    Yes,
    /// No: it only brings something to be known.
    No,
}

impl<W> Works<W> {
    /// Nothing.
    pub fn new(now: Timestamp) -> Self {
        Self { due: BTreeMap::new(), last: now }
    }

    /// A change was made.
    fn changed(&mut self, at: Timestamp) {
        self.last = self.last.max(at);
    }

    /// A work begins, and takes this long.
    pub fn begin(&mut self, now: Timestamp, takes: Duration, work: W, counts: Counts) {
        self.due.entry(now.plus(takes)).or_default().push((work, counts));
    }

    /// The next work that is done by then.
    fn done(&mut self, now: Timestamp) -> Option<W> {
        let mut entry = self.due.first_entry().filter(|entry| *entry.key() <= now)?;
        let at = *entry.key();
        let done = entry.get_mut().pop();
        if entry.get().is_empty() {
            entry.remove();
        }
        let (work, counts) = done?;
        if counts == Counts::Yes {
            self.changed(at);
        }
        Some(work)
    }

    /// When the next work is done; `None` if there is none.
    fn next(&self) -> Option<Timestamp> {
        self.due.keys().next().copied()
    }
}

/// What will follow from `desired`, beginning with what is `observed`, and what a process remembers.
pub fn forecast<I: Ideal>(
    ideal: I,
    desired: &<I::Domain as Domain>::Desired,
    observed: ObservedOf<I>,
    process: Process<I::Domain>,
    start: Timestamp,
) -> Forecast<I::Domain, I::Read, I::Contents> {
    let before = ideal.contents();
    let mut future = Future { desired, ideal, observed, process, now: start, steps: Vec::new(), idle: 0 };
    let mut plan = future.plan();
    for _ in 0..PLANS {
        if let Some(end) = future.follow(&plan) {
            return future.into_forecast(start, end, plan, before);
        }
        plan = future.plan();
    }
    future.into_forecast(start, End::Unfinished, plan, before)
}

/// A manager in the future, and its AWS.
struct Future<'a, I: Ideal> {
    desired: &'a <I::Domain as Domain>::Desired,
    ideal: I,
    observed: ObservedOf<I>,
    process: Process<I::Domain>,
    now: Timestamp,
    steps: Vec<Step<ActionOf<I>>>,
    /// How often in a row time only passed.
    idle: u32,
}

impl<I: Ideal> Future<'_, I> {
    fn plan(&self) -> Plan<I::Domain> {
        // What violates an invariant is not carried out: such a plan sends nothing and says so.
        self.process.plan(self.desired, &self.observed).0
    }

    /// Does what a manager does with a plan. Returns how the forecast ends, if nothing more can be foreseen.
    fn follow(&mut self, plan: &Plan<I::Domain>) -> Option<End<I::Read>> {
        self.process.accept(plan);
        if I::is_settled(&plan.report) {
            return Some(End::Settled);
        }
        if !plan.actions.is_empty() {
            self.send(plan);
            return (self.idle >= IDLE).then_some(End::Waiting);
        }
        let reads = I::reads(&plan.report, &self.observed);
        let (mut unknown, mut taken) = (Vec::new(), false);
        for (read, _) in reads.iter().filter(|(_, from)| *from <= self.now) {
            if self.ideal.read(read, self.now, &mut self.observed) {
                taken = true;
            } else {
                unknown.push(read.clone());
            }
        }
        if !unknown.is_empty() {
            return Some(End::Unknown(unknown));
        }
        let done = self.ideal.works().next();
        if done.is_none() {
            self.idle += 1;
        }
        let later = reads.into_iter().map(|(_, from)| from).chain(I::again_at(&plan.report)).chain(done);
        let next = if taken { Some(self.now.plus(TICK)) } else { later.filter(|at| *at > self.now).min() };
        match next.filter(|_| self.idle < IDLE) {
            Some(next) => self.advance_to(next),
            None => return Some(End::Waiting),
        }
        None
    }

    fn send(&mut self, plan: &Plan<I::Domain>) {
        self.process.sent(&plan.actions, self.now);
        let before = self.steps.len();
        for action in &plan.actions {
            let response = self.ideal.carry_out(action, self.now);
            self.process.ended(action, self.now, Outcome::Done(response));
            if I::is_step(action) {
                self.ideal.works().changed(self.now);
                self.steps.push(Step { at: self.now, action: action.clone() });
            }
        }
        self.idle = if self.steps.len() > before { 0 } else { self.idle + 1 };
        self.advance_to(self.now.plus(TICK));
    }

    fn advance_to(&mut self, now: Timestamp) {
        while let Some(work) = self.ideal.works().done(now) {
            self.ideal.finish(work);
        }
        I::set_now(&mut self.observed, now);
        self.now = now;
    }

    fn into_forecast(
        mut self,
        start: Timestamp,
        end: End<I::Read>,
        plan: Plan<I::Domain>,
        now: I::Contents,
    ) -> Forecast<I::Domain, I::Read, I::Contents> {
        let takes = start.until(self.ideal.works().last.max(start));
        let then = self.ideal.contents();
        Forecast { steps: self.steps, takes, end, report: plan.report, now, then }
    }
}
