//! Decides whether EKS has the cluster ready to be configured, and what to do with one that it could not create.

use crate::draft::{Draft, Weight};
use crate::report::ConditionKind;
use crate::situation::Situation;
use foo_model::Reason;
use foo_model::eks::{Change, Cluster, ClusterChange, ClusterStatus, Issue};

const KIND: ConditionKind = ConditionKind::ClusterReady;

/// Whether the cluster is ACTIVE, or is being updated.
pub(crate) fn is_active(situation: &Situation<'_>, draft: &mut Draft, cluster: &Cluster) -> bool {
    match cluster.status {
        ClusterStatus::Pending | ClusterStatus::Creating => {
            draft.note(KIND, Weight::Pending, Reason::CreatingCluster, "EKS creates the cluster");
            draft.wait(&situation.query());
            false
        }
        ClusterStatus::Failed => {
            failed(situation, draft, cluster);
            false
        }
        ClusterStatus::Deleting => {
            if !draft.record.deleting {
                let message = "the cluster is being deleted in EKS";
                draft.note(KIND, Weight::Failed, Reason::ClusterDeletedInEks, message);
            } else if let Some(failed) = draft.record.failed.get("cluster").map(|it| it.message.clone()) {
                let message = format!("{failed}; it is being deleted, to be created again");
                draft.note(KIND, Weight::Failed, Reason::ClusterFailed, message);
            }
            draft.wait(&situation.query());
            false
        }
        ClusterStatus::Active | ClusterStatus::Updating => {
            draft.record.failed.remove("cluster");
            true
        }
    }
}

/// EKS could not create it: it is deleted and created again, unless a user may have used it.
fn failed(situation: &Situation<'_>, draft: &mut Draft, cluster: &Cluster) {
    let issues = in_words(&cluster.health);
    let message = format!("EKS could not create the cluster: {issues}");
    draft.note(KIND, Weight::Failed, Reason::ClusterFailed, message.clone());
    let used =
        draft.record.active_once || cluster.endpoint.is_some() || cluster.certificate_authority.is_some();
    if used || situation.distrusted(&situation.query()).is_some() {
        return;
    }
    let change = Change::Cluster { cluster: cluster.name.clone(), change: ClusterChange::Delete };
    if draft.send(situation, KIND, &change, "its creation failed") && !draft.record.deleting {
        draft.record.deleting = true;
        draft.fails(situation.now, "cluster", "creation", message);
    }
}

/// Issues as EKS words them.
pub(crate) fn in_words(issues: &[Issue]) -> String {
    let lines: Vec<String> = issues
        .iter()
        .map(|issue| {
            let of = if issue.resources.is_empty() {
                String::new()
            } else {
                format!(" ({})", issue.resources.join(", "))
            };
            format!("{}: {}{of}", issue.code, issue.message)
        })
        .collect();
    if lines.is_empty() { "EKS does not say why".to_owned() } else { lines.join("; ") }
}
