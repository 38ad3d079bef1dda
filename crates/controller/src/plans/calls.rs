//! From a forecast of calls to the status of a FooPlan.

use super::fields::{Fields, Resources, differences, in_aws};
use super::{in_words, whole_seconds};
use foo_api::plan::{CallsPlan, NAMED_CALLS, Outcome, PlannedCall, RemainingCondition};
use foo_calls::forecast::{End, Forecast};
use foo_calls::report::Condition;
use foo_calls::{Action as _, Domain};
use foo_model::{Blocked, Timestamp};

/// What a forecast is about.
pub(crate) struct About<'a> {
    /// Name of the object.
    pub(crate) name: &'a str,
    /// What is requested at present, or why nothing is.
    pub(crate) before: Result<Fields, Blocked>,
    /// What is planned to be requested.
    pub(crate) after: Fields,
    /// Whether the object is paused.
    pub(crate) is_paused: bool,
    /// When the forecast begins.
    pub(crate) now: Timestamp,
}

/// The status. `why` of a call is its action's; `resources`: what exists with its settings; `remaining`: the conditions that are
/// not as they should be at the end.
pub(crate) fn result<'r, D: Domain, R, C: PartialEq, K: Copy + Into<&'static str> + 'r>(
    about: About<'_>,
    forecast: &Forecast<D, R, C>,
    why: impl Fn(&D::Action) -> String,
    resources: impl Fn(&C) -> Resources,
    remaining: impl Iterator<Item = &'r Condition<K>>,
    mut notes: Vec<String>,
) -> CallsPlan {
    let About { name, before, after, is_paused, now } = about;
    if is_paused {
        notes.insert(0, "the object is paused: nothing is done until that ends".to_owned());
    }
    let changes = match before {
        Ok(before) => differences(&before, &after),
        Err(blocked) => {
            let reason = in_words(&blocked);
            notes.push(format!("what differs is not known, since the present spec is not usable: {reason}"));
            Vec::new()
        }
    };
    let calls = forecast.steps.iter().take(NAMED_CALLS).map(|step| PlannedCall {
        after_seconds: whole_seconds(now.until(step.at)),
        operation: step.action.operation().to_owned(),
        why: why(&step.action),
    });
    CallsPlan {
        name: name.to_owned(),
        changes,
        settings: match forecast.end {
            // Most plans of large networks change nothing.
            _ if forecast.now == forecast.then => Vec::new(),
            End::Settled | End::Waiting | End::Unknown(_) => {
                in_aws(&resources(&forecast.now), &resources(&forecast.then))
            }
            // The last values that it foresees may be those of a moment.
            End::Unfinished => Vec::new(),
        },
        calls: calls.collect(),
        aws_calls: i64::try_from(forecast.steps.len()).unwrap_or(i64::MAX),
        seconds: whole_seconds(forecast.takes),
        outcome: match forecast.end {
            End::Settled => Outcome::Settled,
            End::Waiting | End::Unknown(_) => Outcome::Waiting,
            End::Unfinished => Outcome::Unfinished,
        },
        // Of what is paused nothing is known.
        remaining: if is_paused { Vec::new() } else { remaining.map(shown).collect() },
        notes,
    }
}

fn shown<K: Copy + Into<&'static str>>(condition: &Condition<K>) -> RemainingCondition {
    let kind: &'static str = condition.kind.into();
    RemainingCondition {
        kind: kind.to_owned(),
        reason: condition.reason.into(),
        message: condition.message.clone(),
    }
}
