//! From a forecast to the status of a FooPlan.

use super::Foreseen;
use super::differences::differences;
use crate::plans::{in_words, whole_seconds};
use foo_api::plan::{ControlPlanePlan, NAMED_CALLS, Outcome, PlannedCall, RemainingCondition};
use foo_eks::Desired;
use foo_eks::forecast::{ADDON, CONFIG_UPDATE, CREATION, End, Forecast, Step, VERSION_UPDATE};
use foo_model::Blocked;
use foo_model::eks::{Change, ClusterChange};
use std::time::Duration;

/// The status of a FooPlan about a control plane. `before`: what is requested at present.
pub(super) fn result(name: &str, before: Result<Desired, Blocked>, foreseen: &Foreseen) -> ControlPlanePlan {
    let Foreseen { desired, observed, forecast } = foreseen;
    let calls = forecast.steps.iter().take(NAMED_CALLS).map(|Step { at, action }| PlannedCall {
        after_seconds: whole_seconds(observed.now.until(*at)),
        operation: action.change.operation().name().to_owned(),
        why: action.why.clone(),
    });
    let mut notes = notes(desired, forecast);
    let changes = match before {
        Ok(before) => differences(&before, desired),
        Err(blocked) => {
            notes.push(format!(
                "what differs is not known, since the present spec is not usable: {}",
                in_words(&blocked)
            ));
            Vec::new()
        }
    };
    ControlPlanePlan {
        name: name.to_owned(),
        changes,
        calls: calls.collect(),
        aws_calls: i64::try_from(forecast.steps.len()).unwrap_or(i64::MAX),
        seconds: whole_seconds(forecast.takes),
        outcome: match forecast.end {
            End::Settled => Outcome::Settled,
            End::Waiting | End::Unknown(_) => Outcome::Waiting,
            End::Unfinished => Outcome::Unfinished,
        },
        remaining: remaining(forecast),
        notes,
    }
}

/// The conditions that are not as they should be at the end.
fn remaining(forecast: &Forecast) -> Vec<RemainingCondition> {
    if forecast.end == End::Settled {
        return Vec::new();
    }
    forecast
        .remaining()
        .map(|condition| RemainingCondition {
            kind: <&'static str>::from(condition.kind).to_owned(),
            reason: condition.reason.into(),
            message: condition.message.clone(),
        })
        .collect()
}

fn notes(desired: &Desired, forecast: &Forecast) -> Vec<String> {
    let mut notes = Vec::new();
    if desired.paused {
        notes.push("the control plane is paused: nothing is done until that ends".to_owned());
    }
    if !forecast.steps.is_empty() {
        notes.push(format!(
            "EKS does not say how long it takes; assumed: {} for a version, {} for the configuration, {} for an add-on, {} for a new \
             cluster",
            minutes(VERSION_UPDATE),
            minutes(CONFIG_UPDATE),
            minutes(ADDON),
            minutes(CREATION)
        ));
    }
    let upgrades = forecast.steps.iter().filter(|step| is_upgrade(&step.action.change)).count();
    if upgrades > 1 {
        notes.push(
            "EKS has upgrade insights about the next version only: those about later ones may still hold the upgrade up".to_owned(),
        );
    }
    notes
}

fn is_upgrade(change: &Change) -> bool {
    matches!(change, Change::Cluster { change: ClusterChange::UpdateVersion { .. }, .. })
}

fn minutes(duration: Duration) -> String {
    format!("{} min", duration.as_secs() / 60)
}
