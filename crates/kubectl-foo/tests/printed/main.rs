//! What the plugin prints, to the letter. `UPDATE_GOLDEN=1 cargo test -p kubectl-foo` writes it again; read it then.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what tests share may fail as loudly as the tests do"
)]

mod adoptions;
mod cluster_adoptions;
mod commands;
mod control_planes;
mod diffs;
mod drains;
mod node_configs;
mod orphans;
mod plans;
mod pools;
mod preflight;
mod process;
mod rollouts;
mod status;

use k8s_openapi::api::core::v1::Event;
use serde_json::{Value, json};

const NOW: &str = "2026-11-21T12:00:00Z";

/// The text is that in the golden file.
fn is_printed(name: &str, text: &str) {
    let path = format!("{}/tests/golden/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    similar_asserts::assert_eq!(text, &std::fs::read_to_string(&path).unwrap_or_default());
}

fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({
        "type": kind, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": "2026-11-21T11:55:00Z",
    })
}

/// These conditions, and of the others those that show that all is well: `True`, or `False` because nothing is under
/// way.
fn conditions(reported: &[Value], well: &[&str], quiet: &[&str]) -> Vec<Value> {
    let well = well.iter().map(|kind| condition(kind, "True", "Fine", ""));
    let quiet = quiet.iter().map(|kind| condition(kind, "False", &format!("Not{kind}"), ""));
    let others = well.chain(quiet).filter(|other| reported.iter().all(|it| it["type"] != other["type"]));
    reported.iter().cloned().chain(others).collect()
}

fn event(kind: &str, at: &str, reason: &str, message: &str) -> Event {
    serde_json::from_value(json!({
        "metadata": {"name": "e", "namespace": "default"}, "involvedObject": {"uid": "pool"},
        "type": kind, "reason": reason, "message": message, "eventTime": at,
    }))
    .unwrap()
}
