//! A manager of one object, for the tests of domains: it reads, plans, checks, records, sends and remembers, on a clock
//! that only tests move, and what can go wrong in between does so at the calls that they name.
//!
//! A domain's tests implement [`Aws`] for what they send calls to. What has to be true is in the tests: this judges
//! only that each plan obeys the domain's rules, is the same for the same values, and does nothing once it is settled.
#![expect(clippy::panic, clippy::missing_panics_doc, reason = "a failed test panics")]

use crate::action::Action;
use crate::domain::{Domain, Plan};
use crate::outcome::{Outcome, Refusal};
use crate::process::Process;
use crate::report::{Condition, Deletion, Report};
use foo_model::{Reason, Timestamp};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// How long a call takes.
const CALL: Duration = Duration::from_millis(100);
/// The shortest time between two passes of which the first one sent nothing.
const STEP: Duration = Duration::from_millis(50);
/// Most passes until a condition holds.
const PASSES: usize = 4_000;

type ActionOf<A> = <<A as Aws>::Domain as Domain>::Action;
type DesiredOf<A> = <<A as Aws>::Domain as Domain>::Desired;
type ObservedOf<A> = <<A as Aws>::Domain as Domain>::Observed;
type ReportOf<A> = <<A as Aws>::Domain as Domain>::Report;
type KindOf<A> = <ReportOf<A> as Report>::Kind;
type OutcomeOf<A> = Outcome<<ActionOf<A> as Action>::Response>;

/// The AWS of a test.
pub trait Aws: Sized {
    /// Whose calls it carries out.
    type Domain: Domain<Action: Action<Record: Default>>;

    /// The present time.
    fn now(&self) -> Timestamp;

    /// Lets time pass until this moment, unless it is over.
    fn advance(&mut self, to: Timestamp);

    /// Carries a call out, or refuses it.
    fn send(&mut self, action: &ActionOf<Self>) -> OutcomeOf<Self>;

    /// Notes what each pass knows without a read: the time.
    fn observe(&self, observed: &mut ObservedOf<Self>);

    /// Carries out the reads that are due now.
    fn read(&mut self, report: &ReportOf<Self>, observed: &mut ObservedOf<Self>);

    /// When the first read is due, or the next pass.
    fn next(report: &ReportOf<Self>) -> Option<Timestamp>;

    /// Whether a report says that everything is as requested.
    fn is_settled(report: &ReportOf<Self>) -> bool;

    /// What another process knows that takes over.
    fn restarted(desired: &mut DesiredOf<Self>, observed: &mut ObservedOf<Self>);

    /// What is requested after the object was moved to another management cluster.
    fn moved(desired: &mut DesiredOf<Self>);
}

/// What goes wrong with one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The process ends before the call.
    CrashBefore,
    /// The process ends after the call was carried out.
    CrashAfter,
    /// The process ends after the call, and the status is lost as well (a move).
    MoveAfter,
    /// The call is carried out, and its response is lost, or is a failure for this reason.
    LostAfter(Reason),
    /// The call is lost.
    LostBefore,
    /// AWS refuses it once.
    Refused(Reason),
}

/// One object with its manager and its AWS.
pub struct World<A: Aws> {
    /// Its AWS.
    pub aws: A,
    /// What is requested.
    pub desired: DesiredOf<A>,
    /// What the reads showed.
    pub observed: ObservedOf<A>,
    /// The status, and what the process remembers.
    pub process: Process<A::Domain>,
    /// What goes wrong with the call of this number, counted from 0.
    pub faults: BTreeMap<usize, Fault>,
    /// Why the response to every call without another fault is lost, if it is.
    pub silence: Option<Reason>,
    /// How many calls were sent.
    pub sent: usize,
    /// How many plans had actions.
    pub rounds: u32,
    /// The report of the last pass.
    pub report: Option<ReportOf<A>>,
    /// Whether each pass plans twice and compares the plans.
    pub thorough: bool,
    log: Vec<Sent<ActionOf<A>>>,
}

#[derive(Clone, Debug)]
struct Sent<A> {
    at: Timestamp,
    action: A,
    fault: Option<Fault>,
    refusal: Option<Refusal>,
}

impl<A: Aws + Clone> Clone for World<A>
where
    DesiredOf<A>: Clone,
    ObservedOf<A>: Clone,
{
    fn clone(&self) -> Self {
        Self {
            aws: self.aws.clone(),
            desired: self.desired.clone(),
            observed: self.observed.clone(),
            process: self.process.clone(),
            faults: self.faults.clone(),
            silence: self.silence,
            sent: self.sent,
            rounds: self.rounds,
            report: self.report.clone(),
            thorough: self.thorough,
            log: self.log.clone(),
        }
    }
}

/// Its story.
impl<A: Aws> fmt::Debug for World<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.story())
    }
}

impl<A: Aws> World<A> {
    /// A new object, of which nothing was read.
    pub fn of(aws: A, desired: DesiredOf<A>, observed: ObservedOf<A>) -> Self {
        Self {
            aws,
            desired,
            observed,
            process: Process::default(),
            faults: BTreeMap::new(),
            silence: None,
            sent: 0,
            rounds: 0,
            report: None,
            thorough: true,
            log: Vec::new(),
        }
    }

    /// The present time.
    pub fn now(&self) -> Timestamp {
        self.aws.now()
    }

    /// The process ends; another one takes over.
    pub fn restart(&mut self) {
        self.process = Process::new(self.process.record.clone());
        A::restarted(&mut self.desired, &mut self.observed);
    }

    /// The object was moved: another one, without its status, and another process.
    pub fn moved(&mut self) {
        self.process = Process::default();
        A::moved(&mut self.desired);
        self.restart();
    }

    /// One pass. Whether it sent anything.
    pub fn pass(&mut self) -> bool {
        self.aws.observe(&mut self.observed);
        let (plan, violations) = self.process.plan(&self.desired, &self.observed);
        assert!(violations.is_empty(), "{violations:#?}\n{}", self.story());
        if self.thorough {
            let (again, _) = self.process.plan(&self.desired, &self.observed);
            assert_eq!(plan, again, "the same values give the same plan");
        }
        let Plan { actions, report, .. } = &plan;
        assert!(!A::is_settled(report) || actions.is_empty(), "settled means no actions");
        self.process.accept(&plan);
        self.report = Some(plan.report);
        if plan.actions.is_empty() {
            return false;
        }
        self.rounds += 1;
        for action in plan.actions {
            if !self.act(&action) {
                self.restart();
                break;
            }
        }
        true
    }

    /// Sends one call. Whether the process still runs afterwards.
    fn act(&mut self, action: &ActionOf<A>) -> bool {
        let fault = self.faults.remove(&self.sent).or_else(|| self.silence.map(Fault::LostAfter));
        self.sent += 1;
        self.aws.advance(self.now().plus(CALL));
        let now = self.now();
        self.process.sent(std::slice::from_ref(action), now);
        let refusal = |reason, message: &str| Refusal { reason, code: None, message: message.to_owned() };
        let outcome = match fault {
            Some(Fault::CrashBefore) => None,
            Some(Fault::LostBefore) => Some(Outcome::Lost(refusal(Reason::ResponseLost, "lost"))),
            Some(Fault::Refused(reason)) => Some(Outcome::Refused(refusal(reason, "refused"))),
            Some(Fault::CrashAfter | Fault::MoveAfter | Fault::LostAfter(_)) | None => {
                Some(self.aws.send(action))
            }
        };
        let refused = match &outcome {
            Some(Outcome::Refused(refusal) | Outcome::Lost(refusal)) => Some(refusal.clone()),
            Some(Outcome::Done(_)) | None => None,
        };
        self.log.push(Sent { at: now, action: action.clone(), fault, refusal: refused });
        match (fault, outcome) {
            (Some(Fault::CrashBefore | Fault::CrashAfter), _) | (_, None) => return false,
            (Some(Fault::MoveAfter), _) => {
                self.moved();
                return false;
            }
            (Some(Fault::LostAfter(reason)), _) => {
                self.process.ended(action, now, Outcome::Lost(refusal(reason, "lost")));
            }
            (_, Some(outcome)) => self.process.ended(action, now, outcome),
        }
        true
    }

    /// Carries out the reads that are due, or lets time pass until some are. Whether there was anything to wait for.
    pub fn wait(&mut self) -> bool {
        let Some(report) = &self.report else { return false };
        let Some(next) = A::next(report) else { return false };
        self.aws.advance(next.max(self.aws.now().plus(STEP)));
        self.aws.read(report, &mut self.observed);
        true
    }

    /// Passes until a condition holds.
    pub fn run_until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        for _ in 0..PASSES {
            let sends = self.pass();
            if done(self) {
                return;
            }
            if !sends && !self.wait() {
                break;
            }
        }
        panic!("not {what}:\n{}\n{:#?}\n{:#?}", self.story(), self.report, self.process.record);
    }

    /// Passes until everything is as requested.
    pub fn settle(&mut self) {
        self.run_until("settled", |it| it.report.as_ref().is_some_and(A::is_settled));
    }

    /// Lets time pass.
    pub fn run_for(&mut self, time: Duration) {
        let end = self.now().plus(time);
        while self.now() < end {
            if !self.pass() && !self.wait() {
                break;
            }
        }
    }

    /// Passes until nothing of the object is left. It is being deleted already.
    pub fn run_until_deleted(&mut self) {
        self.run_until("deleted", |it| it.report.as_ref().is_some_and(|it| it.deletion() == Deletion::Done));
    }

    /// A condition of the last report.
    pub fn condition(&self, kind: KindOf<A>) -> Condition<KindOf<A>>
    where
        KindOf<A>: Clone,
    {
        let conditions = self.report.as_ref().map_or(&[][..], Report::conditions);
        let found = conditions.iter().find(|it| it.kind == kind);
        found.cloned().unwrap_or_else(|| panic!("no such condition: {:#?}", self.report))
    }

    /// The calls that were sent, each with what went wrong.
    pub fn story(&self) -> String {
        let mut story = String::new();
        for Sent { at, action, fault, refusal } in &self.log {
            let _infallible = write!(story, "{} {action:?}", at.0);
            if let Some(fault) = fault {
                let _infallible = write!(story, " {fault:?}");
            }
            if let Some(Refusal { code, message, .. }) = refusal {
                let _infallible = write!(story, " refused {code:?} {message}");
            }
            story.push('\n');
        }
        story
    }
}

/// The result of a future that waits for nothing, as calls of a simulated AWS in the same process do.
pub fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("it waits for something"),
    }
}
