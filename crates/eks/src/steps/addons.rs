//! Add-ons: those that are requested exist in the requested version and configuration, and the provider's own that are no longer requested
//! are deleted. What runs on every node comes first.

use crate::draft::{Draft, Weight};
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::steps::addon::{self, Updates};
use crate::steps::windows;
use crate::tags;
use foo_model::Reason;
use foo_model::eks::{Addon, AddonChange, AddonStatus, Change, Cluster, Query, QueryResult};

const KIND: ConditionKind = ConditionKind::AddonsReady;

/// What nodes need before they are Ready, or Pods before they start.
const FIRST: [&str; 3] = ["vpc-cni", "kube-proxy", "eks-pod-identity-agent"];

pub(crate) fn ensure(situation: &Situation<'_>, draft: &mut Draft, cluster: &Cluster, updates: Updates) {
    let desired = &situation.desired.addons;
    let mut settled = true;
    let (first, rest): (Vec<_>, Vec<_>) =
        desired.iter().partition(|(name, _)| FIRST.contains(&name.as_str()));
    for (name, wanted) in first {
        let allowed = updates;
        settled &= addon::ensure(situation, draft, cluster, name, wanted, allowed) == addon::State::Settled;
    }
    let updates = if settled { updates } else { Updates::AfterUpgrade };
    for (name, wanted) in rest {
        addon::ensure(situation, draft, cluster, name, wanted, updates);
    }
    windows::report(situation, draft);
    draft
        .record
        .preserved_addons
        .extend(desired.iter().filter(|(_, it)| it.preserve).map(|(name, _)| name.clone()));
    for (name, _) in desired.iter().filter(|(_, it)| !it.preserve) {
        draft.record.preserved_addons.remove(name);
    }
    draft.record.addon_roles.extend(
        desired
            .iter()
            .filter(|(_, it)| it.settings.service_account_role.is_some())
            .map(|(name, _)| name.clone()),
    );
    remove(situation, draft);
}

/// Whether EKS works on add-ons, is asked to, or is asked about them. One that fails holds nothing up.
pub(crate) fn are_under_way(draft: &Draft) -> bool {
    let of_addons = || draft.notes.iter().filter(|note| note.kind == KIND);
    let asks = of_addons().any(|note| note.reason == Reason::AskingEks);
    let moves = draft.waits.iter().any(|query| matches!(query, Query::Addon { .. }));
    let changes = draft.actions.iter().any(|action| matches!(action.change, Change::Addon { .. }));
    (asks || moves || changes) && !of_addons().any(|note| note.weight == Weight::Failed)
}

/// Deletes add-ons that the provider created and that are no longer requested.
fn remove(situation: &Situation<'_>, draft: &mut Draft) {
    let desired = situation.desired;
    let list = Query::Addons(desired.name.clone());
    let Some(QueryResult::Names(names)) = draft.read(situation, KIND, &list) else { return };
    for name in names.iter().filter(|name| !desired.addons.contains_key(*name)) {
        let query = addon::query(situation, name);
        let Some(QueryResult::Addon(shown)) = draft.read(situation, KIND, &query) else { continue };
        match shown.as_deref() {
            Some(shown) if tags::are_own(desired, &shown.tags) => delete(situation, draft, shown),
            // Not the provider's: once is enough.
            Some(_) | None => drop(draft.read.remove(&query)),
        }
    }
    let is_over = |name: &String| !desired.addons.contains_key(name) && !names.contains(name);
    draft.forget(situation, &list, |record| &mut record.preserved_addons, is_over);
    draft.record.addon_roles.retain(|name| desired.addons.contains_key(name));
    draft.record.addon_versions.retain(|name, _| desired.addons.contains_key(name));
    draft
        .record
        .failed
        .retain(|name, _| name.strip_prefix("addon/").is_none_or(|name| desired.addons.contains_key(name)));
}

fn delete(situation: &Situation<'_>, draft: &mut Draft, shown: &Addon) {
    let message = format!("{} is no longer requested and is being deleted", shown.name);
    draft.note(KIND, Weight::Pending, Reason::ChangingAddons, message);
    let stands_still = addon::waits_for_nodes(shown) && shown.status != AddonStatus::Deleting;
    if shown.status.is_moving() && !stands_still {
        return draft.wait(&addon::query(situation, &shown.name));
    }
    let preserve = draft.record.preserved_addons.contains(&shown.name);
    let change = addon::change(situation, &shown.name, AddonChange::Delete { preserve });
    draft.send(situation, KIND, &change, "it is no longer requested");
}
