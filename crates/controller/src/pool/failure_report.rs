//! Adds a failed or refused action to the report of its plan.
//!
//! The planner reports what is true; it cannot know that AWS refuses its requests. Here a refusal becomes
//! part of the conditions, as texts that stay the same while the cause does.

use super::pass::{ActionFailure, Pass};
use crate::labels::Invariant;
use crate::metrics::Metrics;

use foo_cloud::{CloudError, ErrorKind};
use foo_model::{Blocked, Reason};
use foo_planner::action::{GroupAction, ReadAction};
use foo_planner::check::{Rule, Violation};
use foo_planner::desired::{Desired, Wanted};
use foo_planner::report::{Condition, ConditionKind, Event, EventTrigger, Status};
use foo_planner::{Action, Plan, Report};

/// What a report has besides the failure of its pass.
pub(super) struct Unseen {
    /// An action that AWS refused in an earlier pass, if nothing is known since.
    pub(super) refused_before: Option<(Action, CloudError)>,
    /// Why AWS refused the last call for the warm pool.
    pub(super) refused_warm_pool: Option<CloudError>,
    /// Why the details of instances are unavailable.
    pub(super) details: Option<CloudError>,
}

/// Adds to the report of a pass what failed and what it could not observe; `region` is where AWS is called.
pub(super) fn add(pass: &mut Pass, unseen: &Unseen, region: &str) {
    let report = &mut pass.plan.report;
    // What follows may be about the credentials, too, and matters more.
    if let Some(error) = &unseen.refused_warm_pool {
        put_error(report, [ConditionKind::WarmPoolReady], error, region);
    }
    if let Some((action, failure)) = &pass.failure {
        failed(report, action, failure, region);
    }
    if let Some((action, error)) = &unseen.refused_before {
        refusal(report, action, error, region);
    }
    if let Some(error) = &unseen.details {
        blind(report, error);
    }
}

/// An action failed; `region` is where AWS is called.
fn failed(report: &mut Report, action: &Action, failure: &ActionFailure, region: &str) {
    match failure {
        ActionFailure::Cloud(error) => refusal(report, action, error, region),
        ActionFailure::Kubernetes(_) => {
            let what = action.kind();
            let message = format!("{what} failed: {failure}");
            put(report, ConditionKind::Ready, Reason::KubernetesRequestFailed, message);
        }
    }
}

/// AWS refused an action, or did not respond, in that region.
fn refusal(report: &mut Report, action: &Action, error: &CloudError, region: &str) {
    put_error(report, concerned(action).into_iter().chain([ConditionKind::Ready]), error, region);
}

/// The conditions have what AWS refused, and `CredentialsReady` as well if a right is missing.
fn put_error(
    report: &mut Report,
    kinds: impl IntoIterator<Item = ConditionKind>,
    error: &CloudError,
    region: &str,
) {
    let credentials = matches!(error.kind, ErrorKind::Denied | ErrorKind::Credentials);
    let credentials = credentials.then_some(ConditionKind::CredentialsReady);
    let message = in_words(error, region);
    for kind in kinds.into_iter().chain(credentials) {
        put(report, kind, error.kind.into(), message.clone());
    }
}

/// The message for a failed call. If AWS does not respond, the region may be misspelt, which nothing else
/// would show.
pub(super) fn in_words(error: &CloudError, region: &str) -> String {
    match error.kind {
        ErrorKind::Unreachable | ErrorKind::LostResponse => {
            crate::cluster::unreachable(region, &error.to_string())
        }
        _ => error.to_string(),
    }
}

/// The same for failed lookups of the desired state.
pub(super) fn place(desired: &mut Desired, region: &str) {
    let template = blocked(&mut desired.template);
    for blocked in template.into_iter().chain(blocked(&mut desired.group.settings.subnets)) {
        if blocked.reason == Reason::AwsUnreachable {
            blocked.message = crate::cluster::unreachable(region, &blocked.message);
        }
    }
}

fn blocked<T>(wanted: &mut Wanted<T>) -> Option<&mut Blocked> {
    match wanted {
        Wanted::Ready(_) => None,
        Wanted::Blocked(blocked) => Some(blocked),
    }
}

/// The credentials lack the right to describe instances: their FooMachines can never become ready.
fn blind(report: &mut Report, error: &CloudError) {
    let reason = error.kind.into();
    for kind in [ConditionKind::CredentialsReady, ConditionKind::Ready] {
        put(report, kind, reason, error.to_string());
    }
}

/// The plan would break an invariant: nothing of it is carried out, and logs, metrics and an event report it.
pub(super) fn refused(plan: &mut Plan, violations: &[Violation], metrics: &Metrics) {
    let text: Vec<String> = violations.iter().map(ToString::to_string).collect();
    let message = format!(
        "Internal error: the plan violates an invariant and was not carried out, please report: {}",
        text.join("; ")
    );
    tracing::error!(actions = ?plan.actions, "{message}");
    for violation in violations {
        metrics.invariant_violated(invariant(violation));
    }
    plan.actions.clear();
    plan.report.events = vec![Event {
        reason: Reason::InvalidPlan.into(),
        message: message.clone(),
        about: EventTrigger::Nothing,
    }];
    put(&mut plan.report, ConditionKind::Ready, Reason::InvalidPlan, message);
}

fn concerned(action: &Action) -> Option<ConditionKind> {
    match action {
        Action::Object(_) | Action::Template(_) | Action::Read(ReadAction::DescribeLaunchTemplate) => {
            Some(ConditionKind::LaunchTemplateReady)
        }
        Action::Group(GroupAction::PutWarmPool { .. } | GroupAction::DeleteWarmPool { .. }) => {
            Some(ConditionKind::WarmPoolReady)
        }
        Action::Group(_)
        | Action::Instance(_)
        | Action::Hook(_)
        | Action::Read(ReadAction::DescribeLifecycleHook { .. }) => {
            Some(ConditionKind::AutoScalingGroupReady)
        }
        Action::Read(ReadAction::DescribeInstances { .. })
        | Action::Pool(_)
        | Action::Machine(_)
        | Action::Node(_) => None,
    }
}

fn put(report: &mut Report, kind: ConditionKind, reason: Reason, message: String) {
    let failed = Condition { kind, status: Status::False, reason, message };
    match report.conditions.iter_mut().find(|condition| condition.kind == kind) {
        Some(condition) => *condition = failed,
        None => report.conditions.push(failed),
    }
}

fn invariant(violation: &Violation) -> Invariant {
    match violation.rule() {
        Rule::EndsOnlyReleased | Rule::DeletesOnlyWithCause => Invariant::I1,
        Rule::DesiredCoversExisting | Rule::ExternalSize => Invariant::I2,
        Rule::StaysAvailable | Rule::ReplacesInWindows => Invariant::I3,
        Rule::RaisesWithinDesired => Invariant::I4,
        Rule::CompletesOnlyDrained => Invariant::I5,
        Rule::VictimsWithinExcess => Invariant::I7,
        Rule::SettledFirst => Invariant::I8,
        Rule::LaunchesNoQuarantined | Rule::LaunchesImagesOfVersion => Invariant::I9,
        Rule::FinalizerFirst | Rule::FinalizersLast => Invariant::I11,
        Rule::OwnOnly | Rule::HandsOff => Invariant::I12,
    }
}
