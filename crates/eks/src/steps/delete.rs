//! Deletes the cluster and then its OIDC provider; or releases a cluster with the deletion policy `Retain`. Add-ons, entries and associations go with the
//! cluster.

use crate::desired::DeletionPolicy;
use crate::draft::{Draft, Weight};
use crate::recorded::UpdateKind;
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::steps::begin::{self, Standing};
use crate::steps::{oidc, updates};
use crate::tags;
use crate::timing::{CONFIRM, UNSEEN};
use foo_calls::report::Deletion;
use foo_model::Reason;
use foo_model::eks::{Change, Cluster, ClusterChange, ClusterStatus, ConfigUpdate, TagChange};

const KIND: ConditionKind = ConditionKind::Deleting;
/// What a deletion waits for that would take the cluster from a Cluster that stays.
pub const UNCONFIRMED: &str = "the Cluster is not being deleted, and Cluster API no longer drains its Machines: delete the Cluster, or \
                               confirm the deletion of the EKS cluster with the annotation infrastructure.foo.com/deletion-allowed on \
                               this FooControlPlane";

pub(crate) fn delete(situation: &Situation<'_>, draft: &mut Draft) -> Deletion {
    match begin::standing(situation, draft) {
        Standing::Unknown | Standing::Elsewhere => Deletion::Pending,
        Standing::NotOurs => foreign(situation, draft),
        Standing::Absent => absent(situation, draft),
        Standing::Ours(cluster) => {
            own(situation, draft, cluster);
            Deletion::Pending
        }
    }
}

fn own(situation: &Situation<'_>, draft: &mut Draft, cluster: &Cluster) {
    if stays(situation, cluster) {
        return retain(situation, draft, cluster);
    }
    if !situation.desired.deletion_confirmed {
        draft.note(KIND, Weight::Failed, Reason::DeletionNotConfirmed, UNCONFIRMED);
        return draft.wait(&situation.query());
    }
    oidc::remember(situation, draft, cluster);
    if cluster.status == ClusterStatus::Deleting {
        draft.note(KIND, Weight::Pending, Reason::DeletingCluster, "EKS deletes the cluster");
        return draft.wait(&situation.query());
    }
    if matches!(cluster.status, ClusterStatus::Creating | ClusterStatus::Pending) {
        let message = "EKS still creates the cluster, and deletes none before that is done";
        draft.note(KIND, Weight::Pending, Reason::DeletingCluster, message);
        return draft.wait(&situation.query());
    }
    if !updates::is_free(situation, draft, cluster) || is_protected(situation, draft, cluster) {
        return;
    }
    draft.note(KIND, Weight::Pending, Reason::DeletingCluster, "EKS is asked to delete the cluster");
    let change = Change::Cluster { cluster: cluster.name.clone(), change: ClusterChange::Delete };
    if draft.send(situation, KIND, &change, "the FooControlPlane is being deleted") {
        draft.record.deleting = true;
    }
}

/// What was adopted stays unless the spec says otherwise.
fn stays(situation: &Situation<'_>, cluster: &Cluster) -> bool {
    match situation.desired.deletion {
        Some(DeletionPolicy::Retain) => true,
        Some(DeletionPolicy::Delete) => false,
        None => was_adopted(situation, cluster),
    }
}

/// By its tags, or by what was recorded of them: anyone with rights in the account can remove a tag.
fn was_adopted(situation: &Situation<'_>, cluster: &Cluster) -> bool {
    tags::were_adopted(&cluster.tags) || situation.record.adopted
}

/// Our tags go, and with them all claims, also to the OIDC provider, which the cluster needs, and to its identity provider.
fn retain(situation: &Situation<'_>, draft: &mut Draft, cluster: &Cluster) {
    let keys = tags::adopted(situation.desired).into_keys().collect();
    draft.record.oidc_provider = None;
    draft.record.identity_provider = None;
    let change = Change::Tags { arn: cluster.arn.clone(), change: TagChange::Untag(keys) };
    draft.note(
        KIND,
        Weight::Pending,
        Reason::DeletingCluster,
        "our tags are being removed; the cluster stays",
    );
    draft.send(situation, KIND, &change, "the cluster is to stay");
}

fn is_protected(situation: &Situation<'_>, draft: &mut Draft, cluster: &Cluster) -> bool {
    if !cluster.deletion_protection {
        return false;
    }
    if !situation.desired.may_unprotect || was_adopted(situation, cluster) {
        let message = "deletion protection of the cluster is on";
        draft.note(KIND, Weight::Failed, Reason::ClusterProtected, message);
        return true;
    }
    let change = ClusterChange::UpdateConfig(ConfigUpdate::DeletionProtection(false));
    let change = Change::Cluster { cluster: cluster.name.clone(), change };
    draft.note(KIND, Weight::Pending, Reason::DeletingCluster, "deletion protection is being switched off");
    let kind = UpdateKind::DeletionProtection;
    draft.update(situation, KIND, kind, &change, "the cluster is to be deleted");
    true
}

/// A creation that was begun may still show up; after that there is no cluster.
fn absent(situation: &Situation<'_>, draft: &mut Draft) -> Deletion {
    let record = &situation.record;
    let begun = situation.desired.begun_before || record.creating_since.is_some() || record.attempts > 0;
    let since = situation.record.creating_since.map(|since| since.plus(UNSEEN));
    let is_missing = situation.is_missing();
    let last = situation.memory.missing.last().copied().unwrap_or(situation.now);
    let seen_late = since.is_some_and(|since| last < since);
    if begun && (!is_missing || seen_late) {
        draft.note(
            KIND,
            Weight::Pending,
            Reason::AskingEks,
            "the provider reads whether the cluster was created",
        );
        let next = last.plus(CONFIRM);
        draft.request_read(
            &situation.query(),
            since.filter(|_| is_missing).map_or(next, |since| since.max(next)),
        );
        return Deletion::Pending;
    }
    gone(situation, draft)
}

/// A cluster of this name has another owner, or none: nothing of it is the provider's, unless the manager before this one adopted it after
/// the last read.
fn foreign(situation: &Situation<'_>, draft: &mut Draft) -> Deletion {
    let query = situation.query();
    let calls = &situation.memory.calls;
    if calls.shows_all(situation.begun(&query)) {
        return gone(situation, draft);
    }
    draft.notes.clear();
    draft.request_read(&query, calls.shows_all_from().unwrap_or(situation.now));
    draft.note_unread(KIND, &query);
    Deletion::Pending
}

/// There is no cluster of the provider: what is left is the OIDC provider.
fn gone(situation: &Situation<'_>, draft: &mut Draft) -> Deletion {
    draft.notes.clear();
    let keeps = situation.desired.deletion == Some(DeletionPolicy::Retain);
    match draft.record.oidc_provider.clone().filter(|_| !keeps) {
        Some(arn) if !oidc::remove(situation, draft, KIND, &arn) => Deletion::Pending,
        Some(_) | None => Deletion::Done,
    }
}
