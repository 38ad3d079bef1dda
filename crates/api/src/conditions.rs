//! Conditions in the form of `metav1.Condition`, and when two lists of them say the same.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

/// A condition to write; the time of its last transition is added by [`merge`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCondition {
    /// Type.
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: &'static str,
    /// CamelCase reason; never empty.
    pub reason: String,
    /// Sentence for people.
    pub message: String,
}

/// The new list: in the order of `wanted`, keeping the transition time of each condition whose status stays.
pub fn merge(
    old: &[Condition],
    wanted: &[NewCondition],
    observed_generation: Option<i64>,
    now: Timestamp,
) -> Vec<Condition> {
    wanted
        .iter()
        .map(|want| {
            let before = old.iter().find(|c| c.type_ == want.kind && c.status == want.status);
            Condition {
                type_: want.kind.clone(),
                status: want.status.to_owned(),
                reason: want.reason.clone(),
                message: want.message.clone(),
                observed_generation,
                last_transition_time: before.map_or(Time(now), |c| c.last_transition_time.clone()),
            }
        })
        .collect()
}

/// The condition of that type.
pub fn find<'c>(conditions: &'c [Condition], kind: &str) -> Option<&'c Condition> {
    conditions.iter().find(|condition| condition.type_ == kind)
}

/// Status of the condition of that type.
pub fn is_true(conditions: &[Condition], kind: &str) -> bool {
    find(conditions, kind).is_some_and(|condition| condition.status == "True")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(status: &'static str, reason: &str) -> NewCondition {
        NewCondition { kind: "Ready".into(), status, reason: reason.into(), message: String::new() }
    }

    #[test]
    fn the_transition_time_changes_with_the_status_only() {
        let early = Timestamp::from_second(1).unwrap();
        let late = Timestamp::from_second(2).unwrap();
        let first = merge(&[], &[ready("False", "A")], Some(1), early);
        let second = merge(&first, &[ready("False", "B")], Some(2), late);
        assert_eq!(second[0].last_transition_time, Time(early));
        assert_eq!(second[0].reason, "B");
        let third = merge(&second, &[ready("True", "C")], Some(2), late);
        assert_eq!(third[0].last_transition_time, Time(late));
    }
}
