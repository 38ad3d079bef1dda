//! Prints roll-outs.

use super::{Failed, FailedState, Rollout, Rollouts};
use crate::text::{line, one_line, section};

/// The roll-outs as text. Ends with a new line.
pub fn text(all: &Rollouts) -> String {
    if all.rollouts.is_empty() {
        return "no FooMachinePools found\n".to_owned();
    }
    all.rollouts.iter().map(one).collect()
}

fn one(rollout: &Rollout) -> String {
    let Rollout { namespace, pool, phase, updated, outdated, .. } = rollout;
    let message = one_line(&rollout.message);
    let message = if message.is_empty() { message } else { format!(": {message}") };
    let counted = format!("{updated} of {} updated", updated.saturating_add(*outdated));
    let paused = if rollout.paused && phase != "Paused" { "; paused" } else { "" };
    let mut text = String::new();
    line(&mut text, &format!("FooMachinePool {namespace}/{pool} {phase}, {counted}{paused}{message}"));
    let failed = |failed: &Failed| {
        let state = match failed.state {
            FailedState::Requested => "",
            FailedState::NoLongerRequested => " (no longer requested)",
            FailedState::RollbackFailed => " (its rollback failed as well)",
        };
        format!("{}{state}: {}", failed.hash, one_line(&failed.message))
    };
    let failed: Vec<String> = rollout.failed.iter().map(failed).collect();
    section(&mut text, "Failed content, not launched again until kubectl foo rollout retry", &failed);
    text
}
