//! Turns what was found and what is written into a plan into conditions. Decides nothing.

use crate::draft::{Draft, Note, Weight};
use crate::report::{Condition, ConditionKind};
use crate::situation::Situation;
use crate::steps::wait::in_words;
use crate::tags;
use foo_calls::report::{Deletion, Status};
use foo_model::Reason;
use foo_model::eks::{Addon, Cluster, ClusterStatus, Query, QueryResult};
use strum::IntoEnumIterator as _;

/// How many things a message names.
const NAMED: usize = 4;

pub(crate) fn conditions(situation: &Situation<'_>, draft: &Draft, deletion: Deletion) -> Vec<Condition> {
    if situation.desired.paused {
        return Vec::new();
    }
    ConditionKind::iter().map(|kind| one(situation, draft, deletion, kind)).collect()
}

fn condition(kind: ConditionKind, status: Status, reason: Reason, message: String) -> Condition {
    Condition { kind, status, reason, message }
}

fn one(situation: &Situation<'_>, draft: &Draft, deletion: Deletion, kind: ConditionKind) -> Condition {
    let deletes = situation.desired.being_deleted;
    if kind == ConditionKind::Deleting {
        return deleting(situation, draft, deletion);
    }
    if deletes {
        return condition(kind, Status::False, Reason::Deleting, String::new());
    }
    if kind == ConditionKind::Upgrading
        && let Some(from_to) = &draft.upgrading
    {
        return condition(kind, Status::True, Reason::UpgradingControlPlane, from_to.clone());
    }
    let notes = sorted(draft, kind);
    if let Some(worst) = notes.first() {
        return condition(kind, status(worst), worst.reason, message(&notes));
    }
    if !is_ready_to_configure(situation) && kind != ConditionKind::ClusterReady {
        return condition(kind, Status::False, Reason::WaitingForEksCluster, String::new());
    }
    good(situation, kind)
}

/// The status of a condition whose worst note this is.
fn status(worst: &Note) -> Status {
    match (worst.reason, worst.weight) {
        (Reason::AskingEks, _) => Status::Unknown,
        (_, Weight::Failed | Weight::Pending | Weight::Idle) => Status::False,
        (_, Weight::Scheduled) => Status::True,
    }
}

fn is_ready_to_configure(situation: &Situation<'_>) -> bool {
    cluster(situation).is_some_and(|it| matches!(it.status, ClusterStatus::Active | ClusterStatus::Updating))
}

fn good(situation: &Situation<'_>, kind: ConditionKind) -> Condition {
    let (status, reason) = match kind {
        ConditionKind::ClusterReady => {
            let health = cluster(situation).map(|it| it.health).unwrap_or_default();
            if !health.is_empty() {
                return condition(kind, Status::False, Reason::ClusterUnhealthy, in_words(&health));
            }
            (Status::True, Reason::ClusterAsRequested)
        }
        ConditionKind::Upgrading => (Status::False, Reason::NotUpgrading),
        ConditionKind::AddonsReady => (Status::True, Reason::AddonsAsRequested),
        ConditionKind::AccessReady => (Status::True, Reason::AccessAsRequested),
        ConditionKind::Deleting => (Status::False, Reason::NotDeleting),
    };
    condition(kind, status, reason, String::new())
}

fn deleting(situation: &Situation<'_>, draft: &Draft, deletion: Deletion) -> Condition {
    let kind = ConditionKind::Deleting;
    if !situation.desired.being_deleted {
        return condition(kind, Status::False, Reason::NotDeleting, String::new());
    }
    let notes = sorted(draft, kind);
    match notes.first().filter(|_| deletion == Deletion::Pending) {
        Some(worst) => condition(kind, Status::True, worst.reason, message(&notes)),
        None => condition(kind, Status::True, Reason::DeletingCluster, String::new()),
    }
}

fn sorted(draft: &Draft, kind: ConditionKind) -> Vec<&Note> {
    let mut notes: Vec<&Note> = draft.notes.iter().filter(|it| it.kind == kind).collect();
    notes.sort_by_key(|it| (it.weight, says_little(it)));
    notes
}

/// That something is being read, or in progress, says less than a response of AWS.
fn says_little(note: &Note) -> u8 {
    match note.reason {
        Reason::AskingEks => 2,
        Reason::CreatingCluster
        | Reason::UpdatingCluster
        | Reason::ChangingAddons
        | Reason::ChangingAccess
        | Reason::DeletingCluster => 1,
        _ => 0,
    }
}

/// The first few texts, each once.
fn message(notes: &[&Note]) -> String {
    let mut texts: Vec<&str> = Vec::new();
    for note in notes {
        if !note.message.is_empty() && !texts.contains(&note.message.as_str()) {
            texts.push(&note.message);
        }
    }
    let more = texts.len().saturating_sub(NAMED);
    let shown: Vec<&str> = texts.into_iter().take(NAMED).collect();
    let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join("; "))
}

/// The cluster as it is shown, if it is the provider's.
pub(crate) fn cluster(situation: &Situation<'_>) -> Option<Box<Cluster>> {
    let cluster = situation.cluster().flatten()?;
    tags::are_own(situation.desired, &cluster.tags).then(|| Box::new(cluster.clone()))
}

/// Add-ons that are requested or the provider's.
pub(crate) fn addons(situation: &Situation<'_>) -> Vec<Addon> {
    let desired = situation.desired;
    let of_cluster =
        |query: &Query| matches!(query, Query::Addon { cluster, .. } if *cluster == desired.name);
    let shown = situation.shown.iter().filter(|(query, _)| of_cluster(query));
    let addons = shown.filter_map(|(_, response)| {
        let QueryResult::Addon(addon) = response else { return None };
        addon.as_deref()
    });
    let own = |it: &&Addon| desired.addons.contains_key(&it.name) || tags::are_own(desired, &it.tags);
    if cluster(situation).is_none() {
        return Vec::new();
    }
    addons.filter(own).cloned().collect()
}
