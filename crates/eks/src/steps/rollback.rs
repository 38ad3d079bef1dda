//! A person may roll the version back for some days after an upgrade (EKS User Guide, "Roll back a cluster version"). That is not
//! fought: the same version is not updated to again until another one was requested.

use crate::draft::{Draft, Weight};
use crate::recorded::RecordedRollback;
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::steps::updates;
use foo_model::Reason;
use foo_model::eks::{Query, QueryResult, Update, UpdateStatus, UpdateType};

const KIND: ConditionKind = ConditionKind::Upgrading;

/// Another version than that which was rolled back is requested now: the roll-back is over with.
pub(crate) fn forget(situation: &Situation<'_>, draft: &mut Draft) {
    if let Some(rollback) = &mut draft.record.rollback
        && rollback.refused != Some(situation.desired.version)
    {
        rollback.refused = None;
    }
}

/// Whether the newest update of the version was none back.
pub(crate) fn allows(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    let list = Query::Updates(situation.desired.name.clone());
    let cluster = situation.begun(&situation.query());
    if situation.begun(&list) < cluster.map(|it| it.minus(crate::timing::LAG))
        && situation.begun(&list).is_some()
    {
        // The list is older than what is known of the cluster.
        draft.request_read(&list, situation.now);
        draft.note(KIND, Weight::Pending, Reason::AskingEks, "waiting for a read of the cluster's updates");
        return false;
    }
    let response = draft.read(situation, KIND, &list);
    draft.read.remove(&list);
    let Some(QueryResult::Names(ids)) = response else { return false };
    let Some(shown) = updates::all(situation, draft, KIND, ids.iter()) else { return false };
    let of_version = shown.into_iter().filter(|it| is_of_version(it));
    let newest = of_version.max_by_key(|it| (it.created, it.id.clone()));
    let Some(back) = newest.filter(|it| it.kind == Some(UpdateType::VersionRollback)) else { return true };
    let desired = situation.desired.version;
    let known = draft.record.rollback.as_ref().filter(|it| it.update == back.id);
    let refused = known.map_or(Some(desired), |it| it.refused);
    draft.record.rollback = Some(RecordedRollback { update: back.id.clone(), refused });
    if refused != Some(desired) {
        return true;
    }
    let message = format!("the update to {desired} was rolled back ({}); it is not repeated", back.id);
    draft.note(KIND, Weight::Idle, Reason::VersionRolledBack, message);
    false
}

fn is_of_version(update: &Update) -> bool {
    let counts = match update.status {
        UpdateStatus::InProgress | UpdateStatus::Successful => true,
        UpdateStatus::Failed | UpdateStatus::Cancelled => false,
    };
    counts && matches!(update.kind, Some(UpdateType::VersionUpdate | UpdateType::VersionRollback))
}
