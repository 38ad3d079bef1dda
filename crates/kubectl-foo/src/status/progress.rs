//! What is under way in an object, as far as its status counts it.

use super::Progress;
use foo_api::conditions::{find, is_true};
use foo_api::{FooCluster, FooControlPlane, FooMachinePool};
use foo_model::{Reason, WindowHold};

/// State of a resource of a managed network that exists (`status.network.resources[].state`).
const READY: &str = "Ready";
/// States of resources that are no longer requested.
const NOT_REQUESTED: [&str; 3] = ["Deleting", "Deleted", "NotRequested"];

fn task(task: &str, counted: Option<(u32, u32)>, message: &str) -> Progress {
    let (done, total) = counted.unzip();
    Progress { task: task.to_owned(), done, total, message: message.to_owned() }
}

fn count(number: Option<i32>) -> u32 {
    number.and_then(|number| u32::try_from(number).ok()).unwrap_or_default()
}

/// Launches, the roll-out, and drains of a pool. `draining` is the number of its Machines that are being deleted.
pub(super) fn of_pool(pool: &FooMachinePool, draining: Option<usize>) -> Vec<Progress> {
    let Some(status) = &pool.status else { return Vec::new() };
    let mut all = Vec::new();
    if is_true(&status.conditions, "ScalingUp") {
        let counted = (count(status.ready_replicas), count(status.desired_replicas));
        all.push(task("launching", Some(counted), ""));
    }
    if let Some(rollout) = &status.rollout {
        let counted =
            (count(Some(rollout.updated)), count(Some(rollout.updated)) + count(Some(rollout.outdated)));
        let name = match rollout.phase.as_str() {
            "Finished" => None,
            "OnDelete" if rollout.outdated == 0 => None,
            "OnDelete" => Some("roll-out by deletion"),
            "Paused" => Some("roll-out paused"),
            "AwaitingWindow" => Some("roll-out awaiting its maintenance window"),
            "Waiting" | "Preparing" => Some("preparing a roll-out"),
            "Halted" => Some("roll-out halted"),
            "RollingBack" => Some("rolling back"),
            "RolledBack" => Some("rolled back"),
            _ => Some("rolling out"),
        };
        all.extend(name.map(|name| task(name, Some(counted), &rollout.message)));
    }
    if let Some(draining) = draining.filter(|draining| *draining > 0) {
        all.push(task(&format!("draining {draining}"), None, ""));
    }
    all
}

/// The upgrade of a control plane, another update that EKS is at work on, and add-ons that are not active or wait for a
/// window. EKS upgrades one minor version at a time, and the status does not have the version at which an upgrade of
/// several began: so what is left is shown, and not which step of how many it is.
pub(super) fn of_control_plane(control_plane: &FooControlPlane) -> Vec<Progress> {
    let Some(status) = &control_plane.status else { return Vec::new() };
    let mut all = Vec::new();
    let upgrading = find(&status.conditions, "Upgrading").filter(|it| it.status == "True");
    if let Some(upgrading) = upgrading {
        let more = steps_after(status.version.as_deref(), &control_plane.spec.version);
        let then = match more {
            0 => String::new(),
            1 => "one more minor version follows".to_owned(),
            more => format!("{more} more minor versions follow"),
        };
        all.push(task(&format!("upgrading {}", upgrading.message), None, &then));
    }
    let Some(eks) = &status.eks else { return all };
    let update = eks.record.as_ref().and_then(|record| record.update.as_ref());
    if let Some(update) = update.filter(|update| upgrading.is_none() || update.kind != "version") {
        all.push(task(&crate::explain::update_of(&update.kind), None, ""));
    }
    let addons = control_plane.spec.eks.as_ref().map(|eks| eks.addons.as_slice()).unwrap_or_default();
    let is_active = |name: &str| {
        eks.addons.iter().any(|addon| addon.name == name && addon.status.as_deref() == Some("ACTIVE"))
    };
    let active = addons.iter().filter(|addon| is_active(&addon.name)).count();
    if active < addons.len() && eks.status.is_some() {
        let counted = u32::try_from(active).ok().zip(u32::try_from(addons.len()).ok());
        all.push(task("add-ons", counted, ""));
    }
    let scheduled = find(&status.conditions, "AddonsReady")
        // The reason may be that of an add-on which is worse off.
        .filter(|it| it.message.contains(WindowHold::WORDS));
    all.extend(scheduled.map(|it| task("add-ons awaiting their maintenance window", None, &it.message)));
    all
}

/// How many minor versions an upgrade has to go through after the one under way.
fn steps_after(running: Option<&str>, requested: &str) -> u32 {
    let minor = |version: &str| version.trim_start_matches('v').split('.').nth(1)?.parse::<u32>().ok();
    let left = running.and_then(minor).zip(minor(requested)).map(|(from, to)| to.saturating_sub(from));
    left.unwrap_or_default().saturating_sub(1)
}

/// How much of a managed network exists, while it is being created.
pub(super) fn of_network(cluster: &FooCluster) -> Vec<Progress> {
    let Some(status) = &cluster.status else { return Vec::new() };
    let network = find(&status.conditions, "NetworkReady");
    let creating = network.is_some_and(|it| Reason::parse(&it.reason) == Some(Reason::CreatingNetwork));
    let resources = status.network.as_ref().map(|network| network.resources.as_slice()).unwrap_or_default();
    if !creating || resources.is_empty() {
        return Vec::new();
    }
    let requested = resources.iter().filter(|it| !NOT_REQUESTED.contains(&it.state.as_str()));
    let ready = resources.iter().filter(|it| it.state == READY).count();
    let counted = u32::try_from(ready).ok().zip(u32::try_from(requested.count()).ok());
    vec![task("creating the network", counted, "")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn minor_versions_that_follow_the_one_under_way_are_counted() {
        assert_eq!(steps_after(Some("v1.34.2"), "v1.36.0"), 1);
        assert_eq!(steps_after(Some("1.34.2"), "v1.35.0"), 0);
        assert_eq!(steps_after(Some("v1.34.2"), "v1.34.9"), 0);
        assert_eq!(steps_after(None, "v1.36.0"), 0);
        assert_eq!(steps_after(Some("odd"), "v1.36.0"), 0);
    }

    #[test]
    fn add_ons_that_wait_for_a_window_are_shown_with_what_they_wait_for() {
        let shown = |reason: &str, message: &str| {
            let condition = json!({
                "type": "AddonsReady", "status": "True", "reason": reason, "message": message,
                "lastTransitionTime": "2026-11-21T11:55:00Z",
            });
            let control_plane: FooControlPlane = serde_json::from_value(json!({
                "apiVersion": "controlplane.foo.com/v1alpha1", "kind": "FooControlPlane", "metadata": {"name": "c"},
                "spec": {"version": "v1.34.0", "eks": {"roleARN": "arn:aws:iam::123456789012:role/eks"}},
                "status": {"eks": {"name": "default_c"}, "conditions": [condition]},
            }))
            .unwrap();
            of_control_plane(&control_plane)
        };
        let waits = "waiting for the maintenance window that opens at 2026-11-28 02:00 UTC";
        let failed = format!("coredns is UPDATE_FAILED; {waits}");
        for (reason, message) in [("AwaitingMaintenanceWindow", waits), ("AddonFailed", failed.as_str())] {
            let expected = [task("add-ons awaiting their maintenance window", None, message)];
            assert_eq!(shown(reason, message), expected, "{reason}");
        }
        assert_eq!(shown("AddonFailed", "coredns is UPDATE_FAILED"), []);
    }
}
