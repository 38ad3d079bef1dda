//! Access entries: the provider's own, those that are requested, and one for the role of each pool's instances. Entries that are
//! neither the provider's nor requested stay as they are.

use crate::draft::{Draft, Weight};
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::steps::config::Entries;
use crate::steps::entry;
use crate::steps::principals::{Principals, principals};
use crate::tags;
use foo_model::Reason;
use foo_model::eks::{
    AccessEntry, AuthenticationMode, Change, Cluster, EntryChange, EntryKind, Query, QueryResult,
};

const KIND: ConditionKind = ConditionKind::AccessReady;

/// Creates and updates the requested entries. Whether all are as requested.
pub(crate) fn ensure(situation: &Situation<'_>, draft: &mut Draft, cluster: &Cluster) -> Entries {
    let desired = situation.desired;
    if cluster.authentication_mode == AuthenticationMode::ConfigMap {
        if desired.authentication_mode == AuthenticationMode::ConfigMap && !desired.entries.is_empty() {
            let message = "access entries are requested, and the authentication mode is CONFIG_MAP";
            draft.note(KIND, Weight::Failed, Reason::AccessEntriesImpossible, message);
        }
        return Entries::Incomplete;
    }
    let principals = principals(situation, draft);
    let list = Query::AccessEntries(desired.name.clone());
    let Some(QueryResult::Names(names)) = draft.read(situation, KIND, &list) else {
        return Entries::Incomplete;
    };
    let mut complete = principals.nodes_known;
    for (principal, wanted) in &principals.wanted {
        complete &= entry::ensure(situation, draft, principal, wanted) == Entries::Complete;
    }
    if complete {
        for principal in names.iter().filter(|it| !principals.wanted.contains_key(*it)) {
            remove(situation, draft, &principals, principal);
        }
    }
    let is_over =
        |principal: &String| !principals.wanted.contains_key(principal) && !names.contains(principal);
    draft.forget(situation, &list, |record| &mut record.entry_roles, is_over);
    if complete { Entries::Complete } else { Entries::Incomplete }
}

/// Deletes an entry of the provider that is no longer needed.
fn remove(situation: &Situation<'_>, draft: &mut Draft, principals: &Principals, principal: &str) {
    let query = entry::query(situation, principal);
    let Some(QueryResult::AccessEntry(shown)) = draft.read(situation, KIND, &query) else { return };
    let Some(shown) = shown.as_ref().filter(|it| tags::are_own(situation.desired, &it.tags)) else {
        // Not the provider's: once is enough.
        draft.read.remove(&query);
        return;
    };
    if may_remove(situation, principals, shown) {
        let change = Change::Entry {
            cluster: situation.desired.name.clone(),
            principal: principal.to_owned(),
            change: EntryChange::Delete,
        };
        draft.note(
            KIND,
            Weight::Pending,
            Reason::ChangingAccess,
            format!("the entry of {principal} is being deleted"),
        );
        draft.send(situation, KIND, &change, format!("the entry of {principal} is no longer needed"));
    }
}

/// As long as it is not known who we are, or which roles instances have, the entry may be one that is needed.
fn may_remove(situation: &Situation<'_>, principals: &Principals, shown: &AccessEntry) -> bool {
    match shown.kind {
        EntryKind::Standard => situation.desired.own_principal.is_some(),
        EntryKind::Ec2Linux => principals.nodes_known && situation.desired.nodes_settled,
        EntryKind::Ec2Windows
        | EntryKind::FargateLinux
        | EntryKind::Ec2
        | EntryKind::HybridLinux
        | EntryKind::HyperpodLinux => true,
    }
}
