//! The status of a FooNodeConfig, by Cluster API's contract for bootstrap providers.

use super::facts::Facts;
use foo_api::conditions::{self, NewCondition};
use foo_api::node_config::BootstrapInitialization;
use foo_api::{FooNodeConfig, FooNodeConfigStatus};
use foo_model::{Blocked, Reason};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;

/// Status, reason and message of a condition.
type Verdict = (&'static str, String, String);

/// The status.
pub(super) fn status(config: &FooNodeConfig, facts: &Facts, now: Timestamp) -> FooNodeConfigStatus {
    let old = config.status.clone().unwrap_or_default();
    let made = facts.made.as_ref().and_then(|made| made.as_ref().ok());
    // Once true it stays true, as the contract requires: the Secret keeps what was written last.
    let created = old.ready == Some(true) || made.is_some();
    let bytes = made.and_then(|bytes| i32::try_from(*bytes).ok());
    FooNodeConfigStatus {
        initialization: Some(BootstrapInitialization { data_secret_created: Some(created) }),
        ready: Some(created),
        data_secret_name: created.then(|| config.name_any()),
        user_data_bytes: bytes.or(old.user_data_bytes),
        conditions: conditions::merge(&old.conditions, &wanted(&old, facts), config.metadata.generation, now),
    }
}

fn wanted(old: &FooNodeConfigStatus, facts: &Facts) -> Vec<NewCondition> {
    let of = |kind: &str, (status, reason, message): Verdict| NewCondition {
        kind: kind.to_owned(),
        status,
        reason,
        message,
    };
    let (paused, why) = if facts.paused { ("True", Reason::Paused) } else { ("False", Reason::NotPaused) };
    let (ready, deleting) = match &facts.deleting {
        Some(waits) => {
            let ready = ("False", Reason::Deleting.into(), waits.message.clone());
            (ready, ("True", waits.reason.into(), waits.message.clone()))
        }
        None => (ready(old, facts), ("False", Reason::NotDeleting.into(), String::new())),
    };
    vec![
        of("Ready", ready),
        of("DataSecretAvailable", available(old, facts)),
        of("Paused", (paused, why.into(), String::new())),
        of("Deleting", deleting),
    ]
}

/// Whether the user data is what the spec and the cluster ask for.
fn ready(old: &FooNodeConfigStatus, facts: &Facts) -> Verdict {
    match &facts.made {
        Some(Ok(_)) => ("True", Reason::UserDataReady.into(), String::new()),
        Some(Err(blocked)) => refused(blocked),
        None => as_before(old, "Ready"),
    }
}

/// Whether there is user data, perhaps that of an earlier spec.
fn available(old: &FooNodeConfigStatus, facts: &Facts) -> Verdict {
    match &facts.made {
        Some(Ok(_)) => ("True", Reason::DataSecretWritten.into(), String::new()),
        Some(Err(blocked)) if old.ready != Some(true) || blocked.reason == Reason::DataSecretNotOwned => {
            refused(blocked)
        }
        Some(Err(_)) => ("True", Reason::DataSecretOutdated.into(), OUTDATED.to_owned()),
        None => as_before(old, "DataSecretAvailable"),
    }
}

const OUTDATED: &str =
    "the Secret has the user data that was written last; see condition Ready for why it is not written again";

fn refused(blocked: &Blocked) -> Verdict {
    ("False", blocked.reason.into(), blocked.message.clone())
}

/// The same as in the present status.
fn as_before(old: &FooNodeConfigStatus, kind: &str) -> Verdict {
    let unknown =
        || ("Unknown", Reason::NotChecked.into(), "not checked while paused or being deleted".to_owned());
    conditions::find(&old.conditions, kind).map_or_else(unknown, repeated)
}

fn repeated(before: &Condition) -> Verdict {
    let status = match before.status.as_str() {
        "True" => "True",
        "False" => "False",
        _ => "Unknown",
    };
    (status, before.reason.clone(), before.message.clone())
}
