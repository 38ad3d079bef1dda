//! Decides whether an add-on that follows EKS may be updated to another version now: the provider begins such an update in a maintenance
//! window. What the spec requests itself begins at once. So do two updates that cannot wait: of an add-on whose version EKS does not offer
//! for the cluster's Kubernetes version, since it may fail at any time; and of each one while a newer Kubernetes version is requested,
//! which the present versions need not support.

use crate::desired::{AddonVersion, DesiredAddon};
use crate::draft::{Draft, Weight};
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::steps::releases;
use foo_model::WindowHold;
use foo_model::eks::{Addon, Cluster};

const KIND: ConditionKind = ConditionKind::AddonsReady;

/// The version that an add-on which exists is to have for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The requested one.
    Requested(String),
    /// The one that it has, while the update to the requested one waits for a window.
    Held(String),
}

impl Target {
    pub(crate) fn version(&self) -> &str {
        match self {
            Self::Requested(version) | Self::Held(version) => version,
        }
    }
}

/// The version that an add-on is to have for now. `None`: not known yet, or EKS offers none, which the condition shows.
pub(crate) fn target(
    situation: &Situation<'_>,
    draft: &mut Draft,
    cluster: &Cluster,
    shown: &Addon,
    wanted: &DesiredAddon,
) -> Option<Target> {
    let version = releases::version(situation, draft, cluster, &shown.name, wanted, Some(shown))?;
    let is_held = wanted.version == AddonVersion::Latest
        && version != shown.version
        && cluster.version >= situation.desired.version
        && hold(situation).is_some()
        && !releases::replaces_withdrawn(situation, draft, cluster, shown, &version);
    if !is_held {
        return Some(Target::Requested(version));
    }
    draft.held.push(format!("{} is to be updated from {} to {version}", shown.name, shown.version));
    Some(Target::Held(shown.version.clone()))
}

fn hold<'a>(situation: &Situation<'a>) -> Option<WindowHold<'a>> {
    situation.desired.maintenance.hold(situation.now, situation.observed.clocks)
}

/// Reports all updates that wait in one text, first what they wait for, and plans again when that may have come.
pub(crate) fn report(situation: &Situation<'_>, draft: &mut Draft) {
    let Some(hold) = hold(situation).filter(|_| !draft.held.is_empty()) else { return };
    let message = format!("{hold}; {}", draft.held.join("; "));
    draft.note(KIND, weight(hold), hold.reason(), message);
    if let Some(at) = hold.again_at(situation.now) {
        draft.wake_at(at);
    }
}

fn weight(hold: WindowHold<'_>) -> Weight {
    match hold {
        WindowHold::Unusable(_) => Weight::Failed,
        WindowHold::Opens(_) | WindowHold::Over | WindowHold::Clocks => Weight::Scheduled,
    }
}
