//! Creates the cluster.

use crate::draft::{Draft, Weight};
use crate::hash;
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::steps::placement;
use crate::tags;
use crate::timing::MISSING;
use foo_model::Reason;
use foo_model::eks::{
    AuthenticationMode, Change, ClusterChange, Minor, NewCluster, Placement, Query, QueryResult, Support,
    VersionOffer,
};

const KIND: ConditionKind = ConditionKind::ClusterReady;

/// There is no cluster: it is created, unless it was there and went.
pub(crate) fn create(situation: &Situation<'_>, draft: &mut Draft) {
    if draft.record.active_once {
        let message = "the cluster is gone, though it was not deleted here; it is not created again";
        draft.note(KIND, Weight::Failed, Reason::ClusterGone, message);
        return;
    }
    begin_again(draft);
    let Some(placement) = placement::at_creation(situation, draft) else { return };
    if !is_offered(situation, draft) || is_to_wait(situation, draft) {
        return;
    }
    let desired = situation.desired;
    let attempt = draft.record.attempts.to_string();
    let token = hash::token(&[&desired.id, &desired.uid, "cluster", &attempt]);
    let cluster = Box::new(new_cluster(situation, placement));
    // After a crash the content may be another one, and EKS refuses a token with other content.
    let token = hash::token(&[&token, &hash::content(&cluster)]);
    draft.note(KIND, Weight::Pending, Reason::CreatingCluster, "EKS is asked to create the cluster");
    let change = Change::Cluster { cluster: desired.name.clone(), change: ClusterChange::Create(cluster) };
    if draft.send_with(situation, KIND, change, token, "there is no such cluster") {
        // Whatever an annotation that was copied from another object says: what is created here is not adopted.
        draft.record.adopted = false;
        draft.record.creating_since.get_or_insert(situation.now);
    }
}

/// The cluster of the attempt before is gone, or never came.
fn begin_again(draft: &mut Draft) {
    let record = &mut draft.record;
    if record.arn.is_some() || record.deleting {
        record.arn = None;
        record.deleting = false;
        record.creating_since = None;
        record.update = None;
        record.attempts = record.attempts.saturating_add(1);
        record.failed.retain(|name, _| name == "cluster");
        record.adopted = false;
        record.entry_roles.clear();
        record.addon_versions.clear();
        record.tag_keys.clear();
        record.identity_provider = None;
        draft.memory.missing.clear();
    }
}

/// Whether the versions that EKS offers cannot be read at all: the right is missing, or the partition does not have the call. Then EKS says
/// itself that it does not offer a version.
pub(crate) fn offers_are_hidden(situation: &Situation<'_>) -> bool {
    let failed = situation.observed.failed.get(&Query::Versions);
    let is_known = situation.observed.reads.contains_key(&Query::Versions);
    let is_final = |reason: Reason| matches!(reason, Reason::AccessDenied | Reason::RequestInvalid);
    !is_known && failed.is_some_and(|it| is_final(it.refusal.reason))
}

fn is_offered(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    if offers_are_hidden(situation) {
        return true;
    }
    let Some(QueryResult::Versions(offers)) = draft.read(situation, KIND, &Query::Versions) else {
        return false;
    };
    let version = situation.desired.version;
    if offers_version(offers, version) {
        return true;
    }
    draft.note(KIND, Weight::Failed, Reason::VersionNotOffered, not_offered(offers, version));
    request_offers(situation, draft);
    false
}

/// Whether EKS runs clusters of this version.
pub(crate) fn offers_version(offers: &[VersionOffer], version: Minor) -> bool {
    offers.iter().any(|it| it.version == version && it.support != Support::Unsupported)
}

/// The sentence about a version that is not offered.
pub(crate) fn not_offered(offers: &[VersionOffer], version: Minor) -> String {
    let usable = offers.iter().filter(|it| it.support != Support::Unsupported);
    let mut versions: Vec<Minor> = usable.map(|it| it.version).collect();
    versions.sort_unstable();
    let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
    format!("EKS does not offer Kubernetes {version}; it offers {}", versions.join(", "))
}

/// EKS offers more versions as time goes by.
pub(crate) fn request_offers(situation: &Situation<'_>, draft: &mut Draft) {
    let begun = situation.touched(&Query::Versions);
    draft.request_read(&Query::Versions, begun.plus(MISSING));
}

/// A creation that failed in EKS is tried again after a while.
fn is_to_wait(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    let Some(content) = draft.record.failed.get("cluster").map(|it| it.content.clone()) else { return false };
    draft.is_to_wait(situation, KIND, Reason::ClusterFailed, "cluster", &content)
}

fn new_cluster(situation: &Situation<'_>, placement: Placement) -> NewCluster {
    let desired = situation.desired;
    // A right that no entry shows is not wanted, except where there are no entries, or none for us: EKS accepts no entry for a role
    // whose path is missing, and the manager would have no access to its own cluster.
    let creator_is_admin = desired.authentication_mode == AuthenticationMode::ConfigMap
        || desired.own_principal.is_none()
        || desired.own_principal_is_guessed;
    NewCluster {
        version: Some(desired.version),
        role_arn: desired.role_arn.clone(),
        placement,
        access: desired.access.clone(),
        service_ipv4: desired.service_ipv4.clone(),
        ip_family: desired.ip_family,
        authentication_mode: desired.authentication_mode,
        creator_is_admin,
        self_managed_addons: false,
        logging: desired.logging.clone(),
        encryption_key: desired.encryption_key.clone(),
        upgrade_policy: desired.upgrade_policy,
        zonal_shift: desired.zonal_shift.then_some(true),
        deletion_protection: desired.deletion_protection,
        scaling_tier: desired.scaling_tier,
        tags: tags::all(desired),
    }
}
