//! Decides whether there is a cluster of that name, and whose it is. A cluster is never taken over by its name.

use crate::Desired;
use crate::draft::{Draft, Weight};
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::tags;
use crate::timing::CONFIRM;
use foo_model::eks::{Change, Cluster, TagChange};
use foo_model::names::{
    ADOPT_FROM_ANNOTATION, CONTROL_PLANE_ID_ANNOTATION, TAG_CLUSTER, TAG_CONTROL_PLANE, TAG_INSTALLATION,
};
use foo_model::network::Tags;
use foo_model::{Blocked, Reason};

/// What is known of the cluster.
pub(crate) enum Standing<'s> {
    /// AWS is being asked.
    Unknown,
    /// There is none.
    Absent,
    /// It is the provider's, and may be changed.
    Ours(&'s Cluster),
    /// It is the provider's, but has another management cluster's tag.
    Elsewhere,
    /// It is not the provider's.
    NotOurs,
}

/// Whose the cluster is. Says so if it may not be touched; adopts it if that is requested and allowed.
pub(crate) fn standing<'s>(situation: &'s Situation<'_>, draft: &mut Draft) -> Standing<'s> {
    let kind = topic(situation);
    let query = situation.query();
    if draft.read(situation, kind, &query).is_none() && situation.cluster().flatten().is_none() {
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

/// A cluster that existed is gone when several reads in a row do not find it.
fn absent<'s>(situation: &Situation<'_>, draft: &mut Draft) -> Standing<'s> {
    let record = &situation.record;
    let existed = record.arn.is_some() || record.deleting || record.active_once;
    if !existed || situation.is_missing() {
        return Standing::Absent;
    }
    let last = situation.memory.missing.last().copied().unwrap_or(situation.now);
    draft.request_read(&situation.query(), last.plus(CONFIRM));
    draft.note(
        topic(situation),
        Weight::Pending,
        Reason::AskingEks,
        "EKS does not show the cluster; it is read again",
    );
    Standing::Unknown
}

fn whose<'s>(situation: &'s Situation<'_>, draft: &mut Draft, cluster: &'s Cluster) -> Standing<'s> {
    let desired = situation.desired;
    let other = cluster.tags.get(TAG_INSTALLATION).filter(|it| **it != desired.installation);
    if tags::are_own(desired, &cluster.tags) {
        return match other {
            Some(other) => elsewhere(situation, draft, cluster, other),
            None => Standing::Ours(cluster),
        };
    }
    if !cluster.tags.contains_key(TAG_CONTROL_PLANE) && other.is_none() && !desired.being_deleted {
        unowned(situation, draft, cluster);
    } else {
        let message = anothers(desired, cluster);
        draft.note(topic(situation), Weight::Failed, Reason::ClusterNotOwned, message);
    }
    Standing::NotOurs
}

/// A cluster without tags of an owner is adopted if the spec requests it, the identity allows it, and so does the owner of the account.
fn unowned(situation: &Situation<'_>, draft: &mut Draft, cluster: &Cluster) {
    let desired = situation.desired;
    let kind = topic(situation);
    let name = &cluster.name;
    let blocked = if desired.adoption.is_requested() {
        let what = format!("the EKS cluster {name}");
        desired.adoption.refusal(&what, &cluster.tags, &desired.cluster)
    } else {
        let message = format!(
            "an EKS cluster {name} exists that this FooControlPlane did not create; it is not touched"
        );
        Some(Blocked::new(Reason::ClusterNotOwned, message))
    };
    match blocked {
        Some(Blocked { reason, message }) => draft.note(kind, Weight::Failed, reason, message),
        None => tag(situation, draft, cluster, tags::adopted(desired), "adopted: it has no owner"),
    }
}

/// Says of a cluster with an owner's tags what this Cluster's users may know.
fn anothers(desired: &Desired, cluster: &Cluster) -> String {
    let name = &cluster.name;
    let is_of_this_cluster = cluster.tags.get(TAG_CLUSTER) == Some(&desired.cluster)
        && cluster.tags.get(TAG_INSTALLATION) == Some(&desired.installation);
    let owner = cluster.tags.get(TAG_CONTROL_PLANE).filter(|_| is_of_this_cluster);
    match owner {
        Some(owner) if desired.neighbours.contains(owner) => {
            format!(
                "the EKS cluster {name} belongs to another FooControlPlane of this Cluster; it is not touched"
            )
        }
        Some(_) => format!(
            "the EKS cluster {name} was created for an earlier FooControlPlane of this Cluster, which does not exist any more; it is not \
             touched, and no second one is created. To take it back, set the annotation {CONTROL_PLANE_ID_ANNOTATION} of this \
             FooControlPlane to the value of the cluster's tag {TAG_CONTROL_PLANE}: kubectl annotate --overwrite foocontrolplane \
             <name> {CONTROL_PLANE_ID_ANNOTATION}=<value>"
        ),
        None => format!("an EKS cluster {name} exists that belongs to another owner; it is not touched"),
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
        tag(situation, draft, cluster, tags::own(desired), &format!("adopted from {other}"));
    } else {
        let message = format!(
            "{} belongs to the management cluster {other}, this one is {}; nothing is changed. If that one no longer manages it, set the \
             annotation {ADOPT_FROM_ANNOTATION}={other} on this FooControlPlane",
            cluster.name, desired.installation
        );
        draft.note(topic(situation), Weight::Failed, Reason::ClusterOfAnotherInstallation, message);
    }
    Standing::Elsewhere
}

/// Adoption is tagging.
fn tag(situation: &Situation<'_>, draft: &mut Draft, cluster: &Cluster, tags: Tags, why: &str) {
    if situation.distrusted(&situation.query()).is_some() {
        return;
    }
    let change = Change::Tags { arn: cluster.arn.clone(), change: TagChange::Tag(tags) };
    let kind = topic(situation);
    draft.note(kind, Weight::Pending, Reason::UpdatingCluster, "the cluster is being adopted");
    draft.send(situation, kind, &change, why);
}
