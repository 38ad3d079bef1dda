//! Events: what calls changed, which of them failed, and what only a user can change.

use super::driver::Driver;
use super::sent::Sent;
use foo_calls::Domain;
use foo_calls::Plan;
use foo_calls::report::Report as _;
use foo_model::reason::Class;
use foo_model::{EventReason, Reason};
use kube::Resource;

/// Of what was carried out, and of each failure when it is a new one.
pub(super) async fn of_calls<D: Driver>(
    driver: &D,
    sent: &[Sent<<D::Domain as Domain>::Action>],
    state: &mut D::State,
) {
    let object = driver.pass().object.object_ref(&());
    for (reason, note) in driver.events(sent) {
        driver.pass().context.events.publish(&object, reason, &note).await;
    }
    for Sent { action, result } in sent {
        let Err(error) = result else { continue };
        let note = format!("{}: {error}", D::named(action));
        D::warned(state)
            .warn(driver.pass().context, driver.pass().object, EventReason::ActionFailed, &note)
            .await;
    }
}

/// Of what only a user can change, besides failed calls: rights to read, quotas, the spec.
pub(super) async fn of_problems<D: Driver>(driver: &mut D, plan: &Plan<D::Domain>, state: &mut D::State) {
    let (failure, worked) = (driver.progress().failure.clone(), driver.progress().worked);
    let (pass, warned) = (driver.pass(), D::warned(state));
    let (context, object) = (pass.context, pass.object);
    if let Some(error) = failure.filter(|error| !Reason::from(error.kind).is_transient()) {
        warned.warn(context, object, Reason::from(error.kind), &error.to_string()).await;
    }
    for condition in plan.report.conditions() {
        let is_wrong = matches!(condition.reason.entry().class, Class::NeedsUser | Class::Fault);
        if is_wrong && D::is_amiss(condition, worked) {
            warned.warn(context, object, condition.reason, &condition.message).await;
        }
    }
}
