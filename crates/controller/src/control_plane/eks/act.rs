//! Events about the calls of an EKS cluster.

use crate::calls::Sent;
use foo_eks::Action;
use foo_model::eks::{Change, ClusterChange};
use foo_model::{EventReason, some_names};

/// Events about calls that were carried out, one for each kind of change.
pub(super) fn events(sent: &[Sent<Action>]) -> Vec<(EventReason, String)> {
    let reasons = [
        EventReason::EksClusterCreated,
        EventReason::EksUpgradeStarted,
        EventReason::EksClusterChanged,
        EventReason::EksClusterDeleted,
    ];
    let mut events = Vec::new();
    for reason in reasons {
        let of = sent.iter().filter(|sent| sent.result.is_ok() && reason_of(&sent.action.change) == reason);
        let mut calls: Vec<String> = of.map(|sent| in_words(&sent.action)).collect();
        calls.sort();
        if !calls.is_empty() {
            events.push((reason, some_names(calls.iter().map(String::as_str))));
        }
    }
    events
}

/// The call, and why it is sent.
pub(super) fn in_words(action: &Action) -> String {
    format!("{} ({})", action.change.operation(), action.why)
}

fn reason_of(change: &Change) -> EventReason {
    match change {
        Change::Cluster { change, .. } => match change {
            ClusterChange::Create(_) => EventReason::EksClusterCreated,
            ClusterChange::UpdateVersion { .. } => EventReason::EksUpgradeStarted,
            ClusterChange::Delete => EventReason::EksClusterDeleted,
            ClusterChange::UpdateConfig(_)
            | ClusterChange::Encrypt(_)
            | ClusterChange::AssociateIdentityProvider(_)
            | ClusterChange::DisassociateIdentityProvider(_)
            | ClusterChange::RefreshInsights => EventReason::EksClusterChanged,
        },
        Change::Addon { .. }
        | Change::Entry { .. }
        | Change::PodIdentity { .. }
        | Change::Tags { .. }
        | Change::Oidc(_) => EventReason::EksClusterChanged,
    }
}
