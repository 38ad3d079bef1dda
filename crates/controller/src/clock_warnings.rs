//! Warnings about the manager's clock: in the message of `Ready` of every object for which AWS is called, and once as
//! an event.
//!
//! Pools have texts of their own (`pool/inputs/clock.rs`): for them it matters which decisions wait.

use crate::Context;
use crate::clock::in_words;
use foo_api::conditions;
use foo_model::{Agreement, Blocked, Comparison, Reason};
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

const READY: &str = "Ready";

/// A warning if the clocks do not agree. `other` names the other clock, and shows what follows.
pub(crate) fn warning<C>(found: &Comparison<C>, other: &str) -> Option<Blocked> {
    (found.agreement == Agreement::Differ).then(|| {
        let (how_far, direction) = in_words(found.difference.millis());
        Blocked::new(Reason::ClocksDiffer, format!("the manager's clock is {how_far} {direction} {other}"))
    })
}

/// The warnings for an object for which AWS is called in this region, if it is known.
pub(crate) fn of(context: &Context, region: Option<&str>) -> Vec<Blocked> {
    let kubernetes = warning(&context.kubernetes_clock.found(), "the API server's: synchronize both");
    let clouds = region.map(|region| context.clouds.connected_in(region)).unwrap_or_default();
    let aws = clouds.iter().find_map(|cloud| {
        let region = &cloud.key.region;
        let other = format!("AWS's in {region}; AWS refuses signatures with a wrong time: synchronize both");
        warning(&cloud.clock(), &other)
    });
    kubernetes.into_iter().chain(aws).collect()
}

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
