//! What a domain gives to be run.

use super::pass::{Ended, Pass, Progress, ReadOnly};
use super::sent::Sent;
use super::warned::Warned;
use crate::apply;
use crate::labels::Controller;
use foo_calls::report::{Condition, Report};
use foo_calls::{Action, Domain, Plan, Process};
use foo_cloud::{Cloud, CloudError};
use foo_model::{Blocked, EventReason, Timestamp};
use kube::Resource;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// A plan, and its input.
pub(crate) struct Turn<'a, D: Domain> {
    pub(crate) desired: &'a D::Desired,
    pub(crate) observed: &'a D::Observed,
    pub(crate) plan: &'a Plan<D>,
    /// When it was created.
    pub(crate) now: Timestamp,
    /// Whether the pass ends with it, whatever it asks for.
    pub(crate) is_last: bool,
}

type ActionOf<D> = <<D as Driver>::Domain as Domain>::Action;
type ResponseOf<D> = <ActionOf<D> as Action>::Response;
type ConditionOf<D> = Condition<<<<D as Driver>::Domain as Domain>::Report as Report>::Kind>;

/// One pass over an object of a domain.
pub(crate) trait Driver: Send + Sync + Sized {
    /// Its planner.
    type Domain: Domain;
    /// The object.
    type Object: Resource<DynamicType = ()> + Clone + Send + Sync + 'static;
    /// What is remembered of the object between passes.
    type State: Send;
    /// Reads whose time has come.
    type Reads: Send;

    /// Calls at a time.
    const AT_ONCE: usize;
    /// What AWS is called for, with an article.
    const WHAT: &'static str;
    /// Its controller.
    const CONTROLLER: Controller;
    /// When the record of a plan is written that only reads.
    const READ_ONLY: ReadOnly;

    fn pass(&self) -> &Pass<'_, Self::Object>;
    /// Whether nothing may be changed at present: the object is paused, was moved, or the goal is no longer the same.
    fn is_left_alone(&self, newest: &Self::Object) -> bool;
    fn progress(&mut self) -> &mut Progress;
    fn process(state: &mut Self::State) -> &mut Process<Self::Domain>;
    fn warned(state: &mut Self::State) -> &mut Warned;

    /// The input of the next plan.
    fn observed(&self, state: &Self::State, now: Timestamp) -> <Self::Domain as Domain>::Observed;

    /// What is requested, as far as the spec and the known facts determine it.
    fn desired(
        &self,
        observed: &<Self::Domain as Domain>::Observed,
        state: &Self::State,
    ) -> Result<<Self::Domain as Domain>::Desired, Blocked>;

    /// Reads again what may have changed, if that is why nothing could be planned; whether there is anything new to
    /// plan with.
    fn read_again(
        &mut self,
        _blocked: &Blocked,
        _observed: &<Self::Domain as Domain>::Observed,
        _state: &mut Self::State,
        _now: Timestamp,
    ) -> impl Future<Output = bool> + Send {
        async { false }
    }

    /// Publishes why nothing can be done.
    fn blocked(
        &mut self,
        blocked: Blocked,
        state: &mut Self::State,
    ) -> impl Future<Output = Result<Ended, apply::Error>> + Send;

    /// Notes what is read from now on, by what a plan asks for.
    fn notes(&self, plan: &Plan<Self::Domain>, state: &mut Self::State, now: Timestamp);

    /// The reads that a plan asks for, as far as they are due and were not taken in this pass. `None`: there are none.
    fn due(&self, plan: &Plan<Self::Domain>, now: Timestamp) -> Option<Self::Reads>;

    /// Takes them.
    fn take(
        &mut self,
        reads: Self::Reads,
        state: &mut Self::State,
        now: Timestamp,
    ) -> impl Future<Output = ()> + Send;

    /// Publishes a plan before it is carried out: its record is in the status afterwards.
    fn publish(
        &mut self,
        turn: &Turn<'_, Self::Domain>,
        state: &mut Self::State,
    ) -> impl Future<Output = Result<(), apply::Error>> + Send;

    /// Publishes the last plan, and accepts it.
    fn conclude(
        &mut self,
        turn: &Turn<'_, Self::Domain>,
        state: &mut Self::State,
    ) -> impl Future<Output = Result<(), apply::Error>> + Send;

    /// Sends one call.
    fn send(
        cloud: Arc<dyn Cloud>,
        action: &ActionOf<Self>,
    ) -> impl Future<Output = Result<ResponseOf<Self>, CloudError>> + Send;

    /// What a call is about, for events and logs.
    fn named(action: &ActionOf<Self>) -> String;

    /// Events about calls that were carried out.
    fn events(&self, sent: &[Sent<ActionOf<Self>>]) -> Vec<(EventReason, String)>;

    /// Whether a condition reports that something is not as requested, and no event about a call did. `worked`:
    /// something was sent.
    fn is_amiss(condition: &ConditionOf<Self>, worked: bool) -> bool;

    /// Takes the permission to adopt away, if what it is about is this management cluster's by now.
    fn forget_adoption(
        &self,
        turn: &Turn<'_, Self::Domain>,
    ) -> impl Future<Output = Result<(), kube::Error>> + Send;

    /// When a pass has to follow, besides the time in the plan.
    fn timers(&self, turn: &Turn<'_, Self::Domain>, state: &Self::State) -> Vec<Duration>;
}
