//! Updates the version, one minor at a time and never down.

use crate::draft::{Draft, Weight};
use crate::recorded::UpdateKind;
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::steps::{addons, create, rollback};
use crate::timing::INSIGHTS;
use foo_model::Reason;
use foo_model::eks::{
    Change, Cluster, ClusterChange, Insight, InsightStatus, InsightsRefresh, Minor, Query, QueryResult,
};

const KIND: ConditionKind = ConditionKind::Upgrading;

/// By how many minors kubelets may be older than the API server (Kubernetes, "Version Skew Policy").
const SKEW: u16 = 3;

/// Updates the cluster to the next version, if a newer one is requested and nothing speaks against it.
pub(crate) fn ensure(situation: &Situation<'_>, draft: &mut Draft, cluster: &Cluster) {
    let desired = situation.desired.version;
    if cluster.version > desired {
        let message = format!("the cluster runs {}, {desired} is requested; it stays so", cluster.version);
        return draft.note(KIND, Weight::Idle, Reason::VersionAboveRequested, message);
    }
    rollback::forget(situation, draft);
    if cluster.version == desired {
        return;
    }
    let next = cluster.version.next();
    if addons::are_under_way(draft) {
        let message = format!("the update to {next} waits for the add-ons, which follow each version");
        return draft.note(KIND, Weight::Pending, Reason::ChangingAddons, message);
    }
    if !may_update(situation, draft, next) {
        return;
    }
    let from_to = format!("from {} to {next}", cluster.version);
    let force = situation.desired.force_upgrade;
    let change = Change::Cluster {
        cluster: cluster.name.clone(),
        change: ClusterChange::UpdateVersion { version: next, force },
    };
    if draft.update(
        situation,
        KIND,
        UpdateKind::Version,
        &change,
        format!("{desired} is requested: {from_to}"),
    ) {
        draft.upgrading = Some(from_to);
    }
}

/// Whether nothing speaks against the next version. Says what does.
fn may_update(situation: &Situation<'_>, draft: &mut Draft, next: Minor) -> bool {
    if let Some(oldest) = situation.desired.oldest_kubelet.filter(|it| it.0.saturating_add(SKEW) < next.0) {
        let message =
            format!("nodes run {oldest}, which is more than {SKEW} minor versions older than {next}");
        draft.note(KIND, Weight::Failed, Reason::KubeletsTooOld, message);
        return false;
    }
    is_offered(situation, draft, next)
        && rollback::allows(situation, draft)
        && insights_allow(situation, draft, next)
}

fn is_offered(situation: &Situation<'_>, draft: &mut Draft, next: Minor) -> bool {
    if create::offers_are_hidden(situation) {
        return true;
    }
    let Some(QueryResult::Versions(offers)) = draft.read(situation, KIND, &Query::Versions) else {
        return false;
    };
    if create::offers_version(offers, next) {
        return true;
    }
    draft.note(KIND, Weight::Failed, Reason::VersionNotOffered, create::not_offered(offers, next));
    create::request_offers(situation, draft);
    false
}

/// EKS refuses an update that its insights speak against, unless it is forced.
fn insights_allow(situation: &Situation<'_>, draft: &mut Draft, next: Minor) -> bool {
    if situation.desired.force_upgrade {
        return true;
    }
    let query = Query::Insights(situation.desired.name.clone());
    let response = draft.read(situation, KIND, &query);
    draft.read.remove(&query);
    let Some(QueryResult::Insights(insights)) = response else { return false };
    let blocks = |it: &&Insight| it.status == InsightStatus::Error && it.version.is_none_or(|it| it == next);
    let titles: Vec<&str> = insights.iter().filter(blocks).map(|it| it.name.as_str()).collect();
    let begun = situation.touched(&query);
    if !titles.is_empty() {
        let message = format!("upgrade insights speak against {next}: {}", titles.join("; "));
        draft.note(KIND, Weight::Failed, Reason::UpgradeBlocked, message);
        refresh(situation, draft, &query);
        return false;
    }
    if begun.plus(INSIGHTS) <= situation.now {
        draft.request_read(&query, situation.now);
        draft.note(KIND, Weight::Pending, Reason::AskingEks, "waiting for a refresh of the upgrade insights");
        return false;
    }
    true
}

/// Has EKS work out the insights again, at most once per [`INSIGHTS`]: by itself it does so once a day, and an upgrade would wait for that
/// long after the problem is solved. Without the right to ask for it the insights are read as they are.
fn refresh(situation: &Situation<'_>, draft: &mut Draft, insights: &Query) {
    let read = situation.touched(insights);
    draft.request_read(insights, read.plus(INSIGHTS));
    let cluster = situation.desired.name.clone();
    let query = Query::InsightsRefresh(cluster.clone());
    let response = draft.read(situation, KIND, &query);
    draft.read.remove(&query);
    let Some(QueryResult::InsightsRefresh(refresh)) = response else { return };
    let asked = situation.touched(&query);
    let clock = situation.observed.aws_clock;
    let is_recent = |it: &&InsightsRefresh| {
        clock.local(it.started).plus(INSIGHTS) > asked && asked.plus(INSIGHTS) > situation.now
    };
    match refresh.as_ref().filter(is_recent) {
        Some(refresh) if !refresh.is_over => draft.wait(&query),
        Some(_) if read < asked => draft.request_read(insights, asked),
        Some(_) => draft.wake_at(asked.plus(INSIGHTS)),
        None => {
            let change = Change::Cluster { cluster, change: ClusterChange::RefreshInsights };
            draft.send(situation, KIND, &change, "upgrade insights speak against the update");
        }
    }
}
