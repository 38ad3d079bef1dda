//! The status of a FooControlPlane, by Cluster API's contract for control planes.

use foo_api::conditions::{self, NewCondition};
use foo_api::control_plane::{ControlPlaneInitialization, ControlPlaneVersion};
use foo_api::{FooControlPlane, FooControlPlaneStatus};
use foo_model::{Blocked, Reason};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

/// What a pass learned about the API server.
pub(super) enum Seen {
    /// It responds and has this version.
    Version(String),
    /// It cannot be used, for this reason.
    Blocked(Blocked),
    /// It was not checked.
    NotLooked,
}

/// How long before the expiry of its credentials the status warns.
const SOON: SignedDuration = SignedDuration::from_hours(30 * 24);

/// The other inputs of the status.
#[derive(Default)]
pub(super) struct Facts {
    /// Whether it is paused.
    pub(super) paused: bool,
    /// What its deletion waits for, if it is being deleted.
    pub(super) deleting: Option<Blocked>,
    /// The problem of the kubeconfig; `None` when it was not checked.
    pub(super) kubeconfig: Option<Result<Option<Timestamp>, Blocked>>,
}

/// Status, reason and message for a kubeconfig that was checked.
fn judged(
    secret: &str,
    checked: &Result<Option<Timestamp>, Blocked>,
    now: Timestamp,
) -> (&'static str, String, String) {
    let remedy = "put a kubeconfig with newer ones there";
    match checked {
        Err(blocked) => ("False", blocked.reason.into(), blocked.message.clone()),
        Ok(Some(end)) if *end <= now => {
            let message = format!("the credentials in Secret {secret} expired at {end}: {remedy}");
            ("False", Reason::KubeconfigExpired.into(), message)
        }
        Ok(Some(end)) if end.duration_since(now) <= SOON => {
            let message = format!("the credentials in Secret {secret} expire at {end}: {remedy}");
            ("True", Reason::KubeconfigExpiresSoon.into(), message)
        }
        Ok(_) => ("True", Reason::KubeconfigValid.into(), String::new()),
    }
}

/// The same as in the present status.
fn as_before(before: &Condition) -> (&'static str, String, String) {
    let status = match before.status.as_str() {
        "True" => "True",
        "False" => "False",
        _ => "Unknown",
    };
    (status, before.reason.clone(), before.message.clone())
}

/// The status.
pub(super) fn status(
    control_plane: &FooControlPlane,
    seen: &Seen,
    facts: &Facts,
    now: Timestamp,
) -> FooControlPlaneStatus {
    let old = control_plane.status.clone().unwrap_or_default();
    let version = match seen {
        Seen::Version(version) => Some(spelled(&control_plane.spec.version, version)),
        Seen::Blocked(_) | Seen::NotLooked => old.version.clone(),
    };
    // Once true it stays true, as the contract requires: an API server that is unreachable for a moment is
    // still initialised.
    let initialized = old.ready == Some(true) || matches!(seen, Seen::Version(_));
    FooControlPlaneStatus {
        initialization: Some(ControlPlaneInitialization { control_plane_initialized: Some(initialized) }),
        ready: Some(initialized),
        initialized: Some(initialized),
        external_managed_control_plane: Some(true),
        versions: version.iter().map(|version| ControlPlaneVersion { version: version.clone() }).collect(),
        version,
        eks: None,
        conditions: conditions::merge(
            &old.conditions,
            &wanted(control_plane, &old, seen, facts, now),
            control_plane.metadata.generation,
            now,
        ),
    }
}

/// The version in the spelling of the spec if both are the same: Cluster API compares them as texts, and a
/// server may report a build suffix (`v1.36.3-eks-abc`) or the spec omit one. A pre-release of Kubernetes is
/// a different version than the release.
fn spelled(wanted: &str, reported: &str) -> String {
    fn parts(version: &str) -> (&str, &str) {
        let bare = version.trim_start_matches('v');
        let (core, suffix) =
            bare.find(['-', '+']).and_then(|at| bare.split_at_checked(at)).unwrap_or((bare, ""));
        let is_pre_release = ["-alpha", "-beta", "-rc"].iter().any(|kind| suffix.starts_with(kind));
        let suffix = suffix.split('+').next().unwrap_or_default();
        (core, if is_pre_release { suffix } else { "" })
    }
    if parts(wanted) == parts(reported) {
        // A spec that was stored before versions were validated may lack the v.
        return if wanted.starts_with('v') { wanted.to_owned() } else { format!("v{wanted}") };
    }
    reported.to_owned()
}

fn wanted(
    control_plane: &FooControlPlane,
    old: &FooControlPlaneStatus,
    seen: &Seen,
    facts: &Facts,
    now: Timestamp,
) -> Vec<NewCondition> {
    let (status, reason, message) = match seen {
        Seen::Version(_) => ("True", Reason::ApiServerReachable.into(), String::new()),
        Seen::Blocked(blocked) => ("False", blocked.reason.into(), blocked.message.clone()),
        Seen::NotLooked => conditions::find(&old.conditions, "Available").map_or_else(
            || {
                let message = "not checked while paused or being deleted".to_owned();
                ("False", Reason::NotChecked.into(), message)
            },
            as_before,
        ),
    };
    let of = |kind: &str, status, reason: String, message| NewCondition {
        kind: kind.to_owned(),
        status,
        reason,
        message,
    };
    let (paused, why) = if facts.paused { ("True", Reason::Paused) } else { ("False", Reason::NotPaused) };
    let (ready, deleting) = match &facts.deleting {
        Some(waits) => (
            of("Ready", "False", Reason::Deleting.into(), waits.message.clone()),
            of("Deleting", "True", waits.reason.into(), waits.message.clone()),
        ),
        None => (
            of("Ready", status, reason.clone(), message.clone()),
            of("Deleting", "False", Reason::NotDeleting.into(), String::new()),
        ),
    };
    let secret = super::relations::users_secret(control_plane).unwrap_or_default();
    let (good, why_good, words) = match &facts.kubeconfig {
        Some(checked) => judged(secret, checked, now),
        None => conditions::find(&old.conditions, "KubeconfigReady")
            .map_or_else(|| ("Unknown", Reason::NotChecked.into(), String::new()), as_before),
    };
    let kubeconfig = of("KubeconfigReady", good, why_good, words);
    vec![
        of("Available", status, reason, message),
        ready,
        kubeconfig,
        of("Paused", paused, why.into(), String::new()),
        deleting,
    ]
}

/// The change of the kubeconfig's state that deserves an event.
pub(super) fn news(control_plane: &FooControlPlane, status: &FooControlPlaneStatus) -> Option<Blocked> {
    const WITH_EVENT: [Reason; 3] =
        [Reason::KubeconfigExpiresSoon, Reason::KubeconfigExpired, Reason::KubeconfigSecretWrongType];
    let reason = |conditions: &[Condition]| {
        conditions::find(conditions, "KubeconfigReady").and_then(|found| Reason::parse(&found.reason))
    };
    let now = conditions::find(&status.conditions, "KubeconfigReady")?;
    let before = control_plane.status.as_ref().and_then(|status| reason(&status.conditions));
    let reason =
        Reason::parse(&now.reason).filter(|reason| WITH_EVENT.contains(reason) && before != Some(*reason))?;
    Some(Blocked::new(reason, now.message.as_str()))
}

#[cfg(test)]
mod tests {
    use super::spelled;

    #[test]
    fn the_same_version_is_spelled_as_in_the_spec() {
        assert_eq!(spelled("v1.36.3", "v1.36.3-eks-abc"), "v1.36.3");
        assert_eq!(spelled("v1.36.3-eks-abc", "v1.36.3"), "v1.36.3-eks-abc");
        assert_eq!(spelled("v1.36.3", "v1.35.9"), "v1.35.9");
        assert_eq!(spelled("1.36.3", "v1.36.3"), "v1.36.3");
    }

    #[test]
    fn a_pre_release_is_not_the_release() {
        assert_eq!(spelled("v1.36.0", "v1.36.0-rc.1"), "v1.36.0-rc.1");
        assert_eq!(spelled("v1.36.0-rc.1", "v1.36.0"), "v1.36.0");
        assert_eq!(spelled("v1.36.0-rc.1", "v1.36.0-rc.0"), "v1.36.0-rc.0");
        assert_eq!(spelled("v1.36.0-rc.1", "v1.36.0-rc.1+k3s1"), "v1.36.0-rc.1");
    }
}
