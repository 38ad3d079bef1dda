//! A second opinion on a plan, from inputs and outputs alone. It shares no decision with the planner, so that one mistake is not made
//! twice.
//!
//! The controller runs it on every plan and executes no plan that breaks a rule.

mod facts;

use crate::desired::{AddonVersion, DeletionPolicy};
use crate::{Action, Desired, Memory, Observed, Plan, Recorded};
use facts::Facts;
use foo_calls::Violation;
use foo_model::eks::{
    AddonChange, Change, ClusterChange, ClusterStatus, ConfigUpdate, EntryChange, OidcChange,
    PodIdentityChange, TagChange,
};

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
        check(touches_only_own(&facts, change), "changes foreign resources", action);
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
        check(deletes_only_own(&facts, change), "deletes foreign resources", action);
        check(
            is_known(desired, change),
            "creates or updates an add-on that awaits its configuration",
            action,
        );
        check(follows_in_window(&facts, change), "updates an add-on outside of maintenance windows", action);
        let same = plan.actions.iter().filter(|it| it.change == *change);
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
    let Change::Cluster { change: of_cluster, .. } = change else { return false };
    change.updates_cluster() || matches!(of_cluster, ClusterChange::Create(_) | ClusterChange::Delete)
}

fn is_of_this_cluster(desired: &Desired, change: &Change) -> bool {
    change.cluster().is_none_or(|cluster| cluster == desired.name)
}

/// A cluster without our tag is only created, or tagged if it is to be adopted.
fn touches_only_own(facts: &Facts<'_>, change: &Change) -> bool {
    match change {
        Change::Cluster { change: ClusterChange::Create(_), .. }
        | Change::Oidc(OidcChange::Delete { .. }) => true,
        Change::Tags { change: TagChange::Tag(_), .. } => facts.is_own() || facts.may_adopt(),
        Change::Cluster { .. }
        | Change::Addon { .. }
        | Change::Entry { .. }
        | Change::PodIdentity { .. }
        | Change::Tags { .. }
        | Change::Oidc(_) => facts.is_own(),
    }
}

fn may_while_deleting(change: &Change) -> bool {
    match change {
        Change::Cluster { change, .. } => matches!(
            change,
            ClusterChange::Delete | ClusterChange::UpdateConfig(ConfigUpdate::DeletionProtection(false))
        ),
        Change::Tags { .. } | Change::Oidc(OidcChange::Delete { .. }) => true,
        Change::Addon { .. } | Change::Entry { .. } | Change::PodIdentity { .. } | Change::Oidc(_) => false,
    }
}

fn creates_once(facts: &Facts<'_>, change: &Change) -> bool {
    match change {
        Change::Cluster { change: ClusterChange::Create(_), .. } => facts.is_absent(),
        Change::Cluster { change: ClusterChange::AssociateIdentityProvider(new), .. } => {
            facts.lacks_identity_provider(&new.name)
        }
        Change::Addon { name, change: AddonChange::Create(..), .. } => !facts.shows_addon(name),
        Change::Entry { principal, change: EntryChange::Create(_), .. } => !facts.shows_entry(principal),
        Change::Cluster { .. }
        | Change::Addon { .. }
        | Change::Entry { .. }
        | Change::PodIdentity { .. }
        | Change::Tags { .. }
        | Change::Oidc(_) => true,
    }
}

fn is_tagged(desired: &Desired, change: &Change) -> bool {
    change.created_tags().is_none_or(|tags| facts::has_our_tags(desired, tags))
}

/// What cannot be found again without the record is in it before the call.
fn is_recorded(record: &Recorded, change: &Change) -> bool {
    match change {
        Change::Cluster { change, .. } => match change {
            ClusterChange::Create(_) => record.creating_since.is_some(),
            ClusterChange::Delete => record.deleting,
            ClusterChange::UpdateVersion { .. }
            | ClusterChange::UpdateConfig(_)
            | ClusterChange::Encrypt(_)
            | ClusterChange::DisassociateIdentityProvider(_) => is_update_recorded(record),
            ClusterChange::AssociateIdentityProvider(new) => {
                is_update_recorded(record) && record.identity_provider.as_ref() == Some(&new.name)
            }
            ClusterChange::RefreshInsights => true,
        },
        Change::Oidc(OidcChange::Create(_)) => record.oidc_provider.is_some(),
        Change::Addon { .. }
        | Change::Entry { .. }
        | Change::PodIdentity { .. }
        | Change::Tags { .. }
        | Change::Oidc(OidcChange::Delete { .. }) => true,
    }
}

fn is_update_recorded(record: &Recorded) -> bool {
    record.update.as_ref().is_some_and(|it| it.id.is_none())
}

fn is_next_version(facts: &Facts<'_>, change: &Change) -> bool {
    let Change::Cluster { change: ClusterChange::UpdateVersion { version, .. }, .. } = change else {
        return true;
    };
    let next = facts.cluster().map(|cluster| cluster.version.0.saturating_add(1));
    next == Some(version.0) && *version <= facts.desired.version
}

/// The FooControlPlane is being deleted; or EKS could not create the cluster, and no user can have used it.
fn may_delete_cluster(facts: &Facts<'_>, change: &Change) -> bool {
    if !matches!(change, Change::Cluster { change: ClusterChange::Delete, .. }) {
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
    let Change::Entry { principal, change: EntryChange::Delete, .. } = change else { return true };
    facts.desired.own_principal.as_ref() != Some(principal) || facts.is_bound_to_former_role(principal)
}

/// What is without our tag goes only if it is requested, and has to be created again.
fn deletes_only_own(facts: &Facts<'_>, change: &Change) -> bool {
    match change {
        Change::Addon { name, change: AddonChange::Delete { .. }, .. } => facts.is_our_addon(name),
        Change::Entry { principal, change: EntryChange::Delete, .. } => {
            facts.is_our_entry(principal) || facts.is_bound_to_former_role(principal)
        }
        Change::PodIdentity { change: PodIdentityChange::Delete { id }, .. } => facts.is_our_identity(id),
        Change::Oidc(OidcChange::Delete { arn }) => facts.is_our_provider(arn),
        Change::Cluster { change: ClusterChange::DisassociateIdentityProvider(name), .. } => {
            facts.is_our_identity_provider(name)
        }
        Change::Cluster { .. }
        | Change::Addon { .. }
        | Change::Entry { .. }
        | Change::PodIdentity { .. }
        | Change::Tags { .. }
        | Change::Oidc(_) => true,
    }
}

/// An add-on whose configuration depends on what is not there yet is neither created nor updated.
fn is_known(desired: &Desired, change: &Change) -> bool {
    let Change::Addon { name, change: AddonChange::Create(..) | AddonChange::Update(_), .. } = change else {
        return true;
    };
    desired.addons.get(name).is_none_or(|it| it.awaits.is_none())
}

/// The version of an add-on that follows EKS changes in a maintenance window, before an upgrade of the cluster, or because EKS offers only
/// the new one for the cluster's version.
fn follows_in_window(facts: &Facts<'_>, change: &Change) -> bool {
    let Change::Addon { name, change: AddonChange::Update(new), .. } = change else { return true };
    let follows = facts.desired.addons.get(name).is_some_and(|it| it.version == AddonVersion::Latest);
    let Some(present) = facts.addon_version(name).filter(|_| follows) else { return true };
    let Some(version) = new.version.as_deref().filter(|version| *version != present) else { return true };
    facts.is_in_window() || facts.is_to_be_upgraded() || facts.offers_instead(name, present, version)
}
