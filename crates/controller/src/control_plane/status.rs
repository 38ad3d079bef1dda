//! The status of a FooControlPlane, by Cluster API's contract for control planes.

use foo_api::conditions::{self, Wanted};
use foo_api::control_plane::{ControlPlaneInitialization, ControlPlaneVersion};
use foo_api::{FooControlPlane, FooControlPlaneStatus};
use foo_planner::desired::Blocked;

/// What a pass saw of the API server.
pub(super) enum Seen {
    /// It answers and has this version.
    Version(String),
    /// It cannot be used, and why.
    Blocked(Blocked),
    /// Nobody looked.
    NotLooked,
}

/// The status.
pub(super) fn status(
    control_plane: &FooControlPlane,
    seen: &Seen,
    paused: bool,
    now: jiff::Timestamp,
) -> FooControlPlaneStatus {
    let old = control_plane.status.clone().unwrap_or_default();
    let version = match seen {
        Seen::Version(version) => Some(spelled(&control_plane.spec.version, version)),
        Seen::Blocked(_) | Seen::NotLooked => old.version.clone(),
    };
    // Sticky, as the contract wants it: an API server that is away for a moment is still initialised.
    let initialized = old.ready == Some(true) || matches!(seen, Seen::Version(_));
    FooControlPlaneStatus {
        initialization: Some(ControlPlaneInitialization { control_plane_initialized: Some(initialized) }),
        ready: Some(initialized),
        initialized: Some(initialized),
        external_managed_control_plane: Some(true),
        versions: version.iter().map(|version| ControlPlaneVersion { version: version.clone() }).collect(),
        version,
        conditions: conditions::merge(
            &old.conditions,
            &wanted(&old, seen, paused),
            control_plane.metadata.generation,
            now,
        ),
    }
}

/// The version in the spelling of the spec when it is the same one: Cluster API compares them as texts, and a server may
/// report a build suffix (`v1.36.3-eks-abc`) or the spec leave one out.
fn spelled(wanted: &str, reported: &str) -> String {
    fn core(version: &str) -> &str {
        let bare = version.trim_start_matches('v');
        bare.find(['-', '+']).and_then(|at| bare.get(..at)).unwrap_or(bare)
    }
    if core(wanted) == core(reported) { wanted.to_owned() } else { reported.to_owned() }
}

fn wanted(old: &FooControlPlaneStatus, seen: &Seen, paused: bool) -> Vec<Wanted> {
    let (status, reason, message) = match seen {
        Seen::Version(_) => ("True", "ApiServerAnswers".to_owned(), String::new()),
        Seen::Blocked(blocked) => ("False", blocked.reason.clone(), blocked.message.clone()),
        Seen::NotLooked if conditions::is_true(&old.conditions, "Available") => {
            ("True", "ApiServerAnswers".to_owned(), String::new())
        }
        Seen::NotLooked => ("False", "Paused".to_owned(), "not looked at while paused".to_owned()),
    };
    let of = |kind: &str, status, reason: String, message| Wanted {
        kind: kind.to_owned(),
        status,
        reason,
        message,
    };
    let (paused, why) = if paused { ("True", "Paused") } else { ("False", "NotPaused") };
    vec![
        of("Available", status, reason.clone(), message.clone()),
        of("Ready", status, reason, message),
        of("Paused", paused, why.to_owned(), String::new()),
    ]
}

#[cfg(test)]
mod tests {
    use super::spelled;

    #[test]
    fn the_same_version_is_spelled_as_in_the_spec() {
        assert_eq!(spelled("v1.36.3", "v1.36.3-eks-abc"), "v1.36.3");
        assert_eq!(spelled("v1.36.3-eks-abc", "v1.36.3"), "v1.36.3-eks-abc");
        assert_eq!(spelled("v1.36.3", "v1.35.9"), "v1.35.9");
    }
}
