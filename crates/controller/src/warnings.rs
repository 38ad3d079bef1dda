//! Warnings in the message of `Ready` of objects other than pools, and once as events. Those of pools come from the planner.

use crate::Context;
use foo_api::conditions;
use foo_model::Blocked;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

const READY: &str = "Ready";

/// Adds warnings to the message of `Ready`, as in pools.
pub(crate) fn add_to_ready(conditions: &mut [Condition], warnings: &[Blocked]) {
    let Some(ready) = conditions.iter_mut().find(|condition| condition.type_ == READY) else { return };
    for warning in warnings {
        let before = std::mem::take(&mut ready.message);
        ready.message = if before.is_empty() {
            format!("warning: {}", warning.message)
        } else {
            format!("{before}; warning: {}", warning.message)
        };
    }
}

/// Publishes an event about each warning that the former `Ready` did not have.
pub(crate) async fn publish_new(
    context: &Context,
    object: &ObjectReference,
    old: &[Condition],
    warnings: &[Blocked],
) {
    let before = conditions::find(old, READY).map(|ready| ready.message.as_str()).unwrap_or_default();
    for warning in warnings.iter().filter(|warning| !before.contains(&warning.message)) {
        context.events.publish(object, warning.reason, &warning.message).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_api::conditions::NewCondition;
    use foo_model::Reason;

    #[test]
    fn warnings_follow_the_message_of_ready() {
        let of = |message: &str| {
            let ready = NewCondition {
                kind: READY.to_owned(),
                status: "True",
                reason: "R".to_owned(),
                message: message.to_owned(),
            };
            let mut conditions = conditions::merge(&[], &[ready], None, jiff::Timestamp::UNIX_EPOCH);
            let warnings = [Blocked::new(Reason::ClocksDiffer, "a"), Blocked::new(Reason::ClocksDiffer, "b")];
            add_to_ready(&mut conditions, &warnings);
            conditions[0].message.clone()
        };
        assert_eq!(of(""), "warning: a; warning: b");
        assert_eq!(of("all is well"), "all is well; warning: a; warning: b");
    }
}
