//! Prints roll-outs.

use super::{Failed, FailedState, Rollout, Rollouts};
use crate::terminal::Width;
use crate::text::{line, one_line, section};

/// The roll-outs as text. Ends with a new line.
pub fn text(all: &Rollouts, width: Width) -> String {
    if all.rollouts.is_empty() {
        return "no FooMachinePools found\n".to_owned();
    }
    all.rollouts.iter().map(|rollout| of_one(rollout, width)).collect()
}

/// One roll-out as text. Ends with a new line.
pub fn of_one(rollout: &Rollout, width: Width) -> String {
    let Rollout { namespace, pool, phase, updated, outdated, .. } = rollout;
    let message = one_line(&rollout.message);
    let message = if message.is_empty() { message } else { format!(": {message}") };
    let counted = format!("{updated} of {} updated", updated.saturating_add(*outdated));
    let paused = if rollout.paused && phase != "Paused" { "; paused" } else { "" };
    let mut text = String::new();
    line(&mut text, &format!("FooMachinePool {namespace}/{pool} {phase}, {counted}{paused}{message}"));
    if width == Width::Wide {
        line(&mut text, &launched(rollout));
    }
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

/// What new instances are launched from, as far as it is known; empty if nothing is.
fn launched(rollout: &Rollout) -> String {
    let target = Some(&rollout.target_hash).filter(|hash| !hash.is_empty());
    let template = rollout.launch_template.as_ref();
    let known: Vec<String> = [
        target.map(|hash| format!("target {hash}")),
        template.map(|template| format!("launch template {} version {}", template.id, template.version)),
        rollout.instance_type.clone(),
        rollout.version.as_ref().map(|version| format!("Kubernetes {version}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    if known.is_empty() { String::new() } else { format!("  {}", known.join(", ")) }
}
