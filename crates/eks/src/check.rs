//! A second opinion on a plan, from inputs and outputs alone. It shares no decision with the planner, so that one mistake is not made
//! twice.
//!
//! The controller runs it on every plan and executes no plan that breaks a rule.

mod facts;

use crate::desired::DeletionPolicy;
use crate::{Action, Desired, Memory, Observed, Plan, Recorded};
use facts::Facts;
use foo_calls::Violation;
use foo_model::eks::{Change, ClusterStatus, ConfigUpdate};

/// The rules that a plan breaks; empty for every plan that may be carried out. `recorded` and `memory` are what went into the plan.
pub fn violations(
    desired: &Desired,
    observed: &Observed,
    recorded: &Recorded,
    memory: &Memory,
    plan: &Plan,
) -> Vec<Violation> {
    let facts = Facts::new(desired, observed, recorded, memory);
    let mut found = Vec::new();
    let mut check = |holds: bool, rule: &str, action: &Action| {
        if !holds {
            found.push(Violation(format!("{rule}: {:?}", action.change)));
        }
    };
    for action in &plan.actions {
        let change = &action.change;
        check(!desired.paused, "acts while paused", action);
        check(is_of_this_cluster(desired, change), "acts on another cluster", action);
        check(touches_only_ours(&facts, change), "touches what is not ours", action);
        check(
            !desired.being_deleted || may_while_deleting(change),
            "creates or changes while deleting",
            action,
        );
        check(creates_once(&facts, change), "creates what exists", action);
        check(is_tagged(desired, change), "creates without our tags", action);
        check(is_recorded(&plan.record, change), "sends what is not recorded", action);
        check(is_next_version(&facts, change), "skips a version or goes back", action);
        check(may_delete_cluster(&facts, change), "deletes a cluster without cause", action);
        check(may_delete_entry(&facts, change), "deletes our own entry", action);
        check(deletes_only_ours(&facts, change), "deletes what is not ours", action);
        let same = plan.actions.iter().filter(|it| it.change.without_token() == change.without_token());
        check(same.count() == 1, "does the same twice", action);
        if moves_cluster(change) {
            let others = plan.actions.iter().filter(|it| moves_cluster(&it.change));
            check(others.count() == 1, "changes the cluster twice at once", action);
            check(facts.is_idle(), "changes a cluster that EKS works on", action);
        }
    }
    found
}

/// Whether EKS works on the cluster itself afterwards.
fn moves_cluster(change: &Change) -> bool {
    change.updates_cluster() || matches!(change, Change::CreateCluster { .. } | Change::DeleteCluster { .. })
}

fn is_of_this_cluster(desired: &Desired, change: &Change) -> bool {
    match change {
        Change::CreateCluster { cluster, .. } => cluster.name == desired.name,
        Change::UpdateClusterVersion { cluster, .. }
        | Change::UpdateClusterConfig { cluster, .. }
        | Change::AssociateEncryptionConfig { cluster, .. }
        | Change::DeleteCluster { cluster }
        | Change::StartInsightsRefresh { cluster }
        | Change::CreateAddon { cluster, .. }
        | Change::UpdateAddon { cluster, .. }
        | Change::DeleteAddon { cluster, .. }
        | Change::CreateAccessEntry { cluster, .. }
        | Change::UpdateAccessEntry { cluster, .. }
        | Change::DeleteAccessEntry { cluster, .. }
        | Change::AssociateAccessPolicy { cluster, .. }
        | Change::DisassociateAccessPolicy { cluster, .. }
        | Change::CreatePodIdentityAssociation { cluster, .. }
        | Change::UpdatePodIdentityAssociation { cluster, .. }
        | Change::DeletePodIdentityAssociation { cluster, .. } => *cluster == desired.name,
        Change::TagResource { arn, .. } | Change::UntagResource { arn, .. } => {
            arn.ends_with(&format!("/{}", desired.name))
        }
        Change::CreateOpenIDConnectProvider { .. } | Change::DeleteOpenIDConnectProvider { .. } => true,
    }
}

/// A cluster without our tag is only created, or tagged if it is to be adopted.
fn touches_only_ours(facts: &Facts<'_>, change: &Change) -> bool {
    match change {
        Change::CreateCluster { .. } | Change::DeleteOpenIDConnectProvider { .. } => true,
        Change::TagResource { .. } => facts.is_ours() || facts.may_adopt(),
        Change::UpdateClusterVersion { .. }
        | Change::UpdateClusterConfig { .. }
        | Change::AssociateEncryptionConfig { .. }
        | Change::StartInsightsRefresh { .. }
        | Change::DeleteCluster { .. }
        | Change::CreateAddon { .. }
        | Change::UpdateAddon { .. }
        | Change::DeleteAddon { .. }
        | Change::CreateAccessEntry { .. }
        | Change::UpdateAccessEntry { .. }
        | Change::DeleteAccessEntry { .. }
        | Change::AssociateAccessPolicy { .. }
        | Change::DisassociateAccessPolicy { .. }
        | Change::CreatePodIdentityAssociation { .. }
        | Change::UpdatePodIdentityAssociation { .. }
        | Change::DeletePodIdentityAssociation { .. }
        | Change::UntagResource { .. }
        | Change::CreateOpenIDConnectProvider { .. } => facts.is_ours(),
    }
}

fn may_while_deleting(change: &Change) -> bool {
    match change {
        Change::UpdateClusterConfig { update, .. } => *update == ConfigUpdate::DeletionProtection(false),
        Change::TagResource { .. }
        | Change::DeleteCluster { .. }
        | Change::UntagResource { .. }
        | Change::DeleteOpenIDConnectProvider { .. } => true,
        Change::CreateCluster { .. }
        | Change::UpdateClusterVersion { .. }
        | Change::AssociateEncryptionConfig { .. }
        | Change::StartInsightsRefresh { .. }
        | Change::CreateAddon { .. }
        | Change::UpdateAddon { .. }
        | Change::DeleteAddon { .. }
        | Change::CreateAccessEntry { .. }
        | Change::UpdateAccessEntry { .. }
        | Change::DeleteAccessEntry { .. }
        | Change::AssociateAccessPolicy { .. }
        | Change::DisassociateAccessPolicy { .. }
        | Change::CreatePodIdentityAssociation { .. }
        | Change::UpdatePodIdentityAssociation { .. }
        | Change::DeletePodIdentityAssociation { .. }
        | Change::CreateOpenIDConnectProvider { .. } => false,
    }
}

fn creates_once(facts: &Facts<'_>, change: &Change) -> bool {
    match change {
        Change::CreateCluster { .. } => facts.is_absent(),
        Change::CreateAddon { addon, .. } => !facts.shows_addon(&addon.name),
        Change::CreateAccessEntry { principal, .. } => !facts.shows_entry(principal),
        Change::UpdateClusterVersion { .. }
        | Change::UpdateClusterConfig { .. }
        | Change::AssociateEncryptionConfig { .. }
        | Change::StartInsightsRefresh { .. }
        | Change::DeleteCluster { .. }
        | Change::UpdateAddon { .. }
        | Change::DeleteAddon { .. }
        | Change::UpdateAccessEntry { .. }
        | Change::DeleteAccessEntry { .. }
        | Change::AssociateAccessPolicy { .. }
        | Change::DisassociateAccessPolicy { .. }
        | Change::CreatePodIdentityAssociation { .. }
        | Change::UpdatePodIdentityAssociation { .. }
        | Change::DeletePodIdentityAssociation { .. }
        | Change::TagResource { .. }
        | Change::UntagResource { .. }
        | Change::CreateOpenIDConnectProvider { .. }
        | Change::DeleteOpenIDConnectProvider { .. } => true,
    }
}

fn is_tagged(desired: &Desired, change: &Change) -> bool {
    let tags = match change {
        Change::CreateCluster { cluster, .. } => &cluster.tags,
        Change::CreateAddon { addon, .. } => &addon.tags,
        Change::CreateAccessEntry { tags, .. }
        | Change::CreatePodIdentityAssociation { tags, .. }
        | Change::CreateOpenIDConnectProvider { tags, .. } => tags,
        Change::UpdateClusterVersion { .. }
        | Change::UpdateClusterConfig { .. }
        | Change::AssociateEncryptionConfig { .. }
        | Change::StartInsightsRefresh { .. }
        | Change::DeleteCluster { .. }
        | Change::UpdateAddon { .. }
        | Change::DeleteAddon { .. }
        | Change::UpdateAccessEntry { .. }
        | Change::DeleteAccessEntry { .. }
        | Change::AssociateAccessPolicy { .. }
        | Change::DisassociateAccessPolicy { .. }
        | Change::UpdatePodIdentityAssociation { .. }
        | Change::DeletePodIdentityAssociation { .. }
        | Change::TagResource { .. }
        | Change::UntagResource { .. }
        | Change::DeleteOpenIDConnectProvider { .. } => return true,
    };
    facts::has_our_tags(desired, tags)
}

/// What cannot be found again without the record is in it before the call.
fn is_recorded(record: &Recorded, change: &Change) -> bool {
    match change {
        Change::CreateCluster { .. } => record.creating_since.is_some(),
        Change::DeleteCluster { .. } => record.deleting,
        Change::CreateOpenIDConnectProvider { .. } => record.oidc_provider.is_some(),
        Change::UpdateClusterVersion { .. }
        | Change::UpdateClusterConfig { .. }
        | Change::AssociateEncryptionConfig { .. } => {
            record.update.as_ref().is_some_and(|it| it.id.is_none())
        }
        Change::StartInsightsRefresh { .. }
        | Change::CreateAddon { .. }
        | Change::UpdateAddon { .. }
        | Change::DeleteAddon { .. }
        | Change::CreateAccessEntry { .. }
        | Change::UpdateAccessEntry { .. }
        | Change::DeleteAccessEntry { .. }
        | Change::AssociateAccessPolicy { .. }
        | Change::DisassociateAccessPolicy { .. }
        | Change::CreatePodIdentityAssociation { .. }
        | Change::UpdatePodIdentityAssociation { .. }
        | Change::DeletePodIdentityAssociation { .. }
        | Change::TagResource { .. }
        | Change::UntagResource { .. }
        | Change::DeleteOpenIDConnectProvider { .. } => true,
    }
}

fn is_next_version(facts: &Facts<'_>, change: &Change) -> bool {
    let Change::UpdateClusterVersion { version, .. } = change else { return true };
    let next = facts.cluster().map(|cluster| cluster.version.0.saturating_add(1));
    next == Some(version.0) && *version <= facts.desired.version
}

/// The FooControlPlane is being deleted; or EKS could not create the cluster, and nobody can have used it.
fn may_delete_cluster(facts: &Facts<'_>, change: &Change) -> bool {
    if !matches!(change, Change::DeleteCluster { .. }) {
        return true;
    }
    let may_go = match facts.desired.deletion {
        Some(DeletionPolicy::Delete) => true,
        Some(DeletionPolicy::Retain) => false,
        None => !facts.was_adopted(),
    };
    let requested = facts.desired.being_deleted && facts.desired.deletion_confirmed && may_go;
    let Some(cluster) = facts.cluster() else { return false };
    let never_used = cluster.status == ClusterStatus::Failed
        && cluster.endpoint.is_none()
        && cluster.certificate_authority.is_none()
        && !facts.recorded.active_once;
    (requested && !cluster.deletion_protection) || never_used
}

/// Our own entry goes only if it is bound to a role that does not exist any more.
fn may_delete_entry(facts: &Facts<'_>, change: &Change) -> bool {
    let Change::DeleteAccessEntry { principal, .. } = change else { return true };
    facts.desired.own_principal.as_ref() != Some(principal) || facts.is_bound_to_former_role(principal)
}

/// What is without our tag goes only if it is requested, and has to be created again.
fn deletes_only_ours(facts: &Facts<'_>, change: &Change) -> bool {
    match change {
        Change::DeleteAddon { name, .. } => facts.is_our_addon(name),
        Change::DeleteAccessEntry { principal, .. } => {
            facts.is_our_entry(principal) || facts.is_bound_to_former_role(principal)
        }
        Change::DeletePodIdentityAssociation { id, .. } => facts.is_our_identity(id),
        Change::DeleteOpenIDConnectProvider { arn } => facts.is_our_provider(arn),
        Change::CreateCluster { .. }
        | Change::UpdateClusterVersion { .. }
        | Change::UpdateClusterConfig { .. }
        | Change::AssociateEncryptionConfig { .. }
        | Change::StartInsightsRefresh { .. }
        | Change::DeleteCluster { .. }
        | Change::CreateAddon { .. }
        | Change::UpdateAddon { .. }
        | Change::CreateAccessEntry { .. }
        | Change::UpdateAccessEntry { .. }
        | Change::AssociateAccessPolicy { .. }
        | Change::DisassociateAccessPolicy { .. }
        | Change::CreatePodIdentityAssociation { .. }
        | Change::UpdatePodIdentityAssociation { .. }
        | Change::TagResource { .. }
        | Change::UntagResource { .. }
        | Change::CreateOpenIDConnectProvider { .. } => true,
    }
}
