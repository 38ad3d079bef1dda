//! Decides whether there is a cluster of that name, and whose it is. A cluster is never taken over by its name.

use crate::draft::{Draft, Weight};
use crate::marks;
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::timing::{CONFIRM, GONE};
use foo_model::Reason;
use foo_model::eks::{Change, Cluster};
use foo_model::names::{TAG_CONTROL_PLANE, TAG_INSTALLATION};

/// What is known of the cluster.
pub(crate) enum Standing<'s> {
    /// AWS is being asked.
    Unknown,
    /// There is none.
    Absent,
    /// It is ours, and may be changed.
    Ours(&'s Cluster),
    /// It is ours, but has another management cluster's tag.
    Elsewhere,
    /// It is not ours.
    NotOurs,
}

/// Whose the cluster is. Says so if it may not be touched; adopts it if that is requested.
pub(crate) fn standing<'s>(situation: &'s Situation<'_>, draft: &mut Draft) -> Standing<'s> {
    let kind = topic(situation);
    let question = situation.question();
    if draft.read(situation, kind, &question).is_none() && situation.cluster().flatten().is_none() {
        return Standing::Unknown;
    }
    match situation.cluster() {
        None => Standing::Unknown,
        Some(None) => absent(situation, draft),
        Some(Some(cluster)) => whose(situation, draft, cluster),
    }
}

/// Which condition speaks of the cluster.
pub(crate) fn topic(situation: &Situation<'_>) -> ConditionKind {
    if situation.desired.being_deleted { ConditionKind::Deleting } else { ConditionKind::ClusterReady }
}

/// A cluster that existed is gone when several looks in a row do not find it.
fn absent<'s>(situation: &Situation<'_>, draft: &mut Draft) -> Standing<'s> {
    let record = &situation.record;
    let existed = record.arn.is_some() || record.deleting || record.active_once;
    let missing = &situation.memory.missing;
    if !existed || missing.len() >= GONE {
        return Standing::Absent;
    }
    let last = missing.last().copied().unwrap_or(situation.now);
    draft.look(&situation.question(), last.plus(CONFIRM));
    draft.note(
        topic(situation),
        Weight::Pending,
        Reason::AskingEks,
        "EKS does not show the cluster; it is asked again",
    );
    Standing::Unknown
}

fn whose<'s>(situation: &Situation<'_>, draft: &mut Draft, cluster: &'s Cluster) -> Standing<'s> {
    let desired = situation.desired;
    let kind = topic(situation);
    let owner = cluster.tags.get(TAG_CONTROL_PLANE);
    let installation = cluster.tags.get(TAG_INSTALLATION);
    match owner {
        Some(owner) if *owner == desired.id => {}
        None if desired.adopt && !desired.being_deleted => {
            if let Some(other) = installation.filter(|it| **it != desired.installation) {
                return elsewhere(situation, draft, cluster, other);
            }
            adopt(situation, draft, cluster, "adopted: nobody else manages it");
            return Standing::NotOurs;
        }
        other => {
            let of = other
                .map_or_else(String::new, |other| format!(" and is managed by the control plane {other}"));
            let message = format!(
                "there is an EKS cluster {} already, which is not this one's{of}; it is not touched",
                cluster.name
            );
            draft.note(kind, Weight::Failed, Reason::ClusterNotOurs, message);
            return Standing::NotOurs;
        }
    }
    match installation {
        Some(other) if *other != desired.installation => elsewhere(situation, draft, cluster, other),
        Some(_) | None => Standing::Ours(cluster),
    }
}

/// Another management cluster manages it, unless it gave it up to this one.
fn elsewhere<'s>(
    situation: &Situation<'_>,
    draft: &mut Draft,
    cluster: &Cluster,
    other: &str,
) -> Standing<'s> {
    let desired = situation.desired;
    if desired.adopt_from.as_deref() == Some(other) {
        adopt(situation, draft, cluster, &format!("adopted from {other}"));
    } else {
        let message = format!(
            "{} belongs to the management cluster {other}, this one is {}; nothing is changed",
            cluster.name, desired.installation
        );
        draft.note(topic(situation), Weight::Failed, Reason::ClusterOfAnotherInstallation, message);
    }
    Standing::Elsewhere
}

/// Adoption is tagging.
fn adopt(situation: &Situation<'_>, draft: &mut Draft, cluster: &Cluster, why: &str) {
    if situation.distrusted(&situation.question()).is_some() {
        return;
    }
    let change = Change::TagResource { arn: cluster.arn.clone(), tags: marks::ours(situation.desired) };
    let kind = topic(situation);
    draft.note(kind, Weight::Pending, Reason::UpdatingCluster, "the cluster is being adopted");
    draft.send(situation, kind, &change, why);
}
