//! One access entry that is to exist.

use crate::draft::{Draft, Weight};
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::steps::config::Entries;
use crate::steps::principals::{Identity, Wanted};
use crate::tags;
use crate::timing::SKEW;
use foo_model::eks::{AccessEntry, AccessPolicy, Change, EntryChange, NewEntry, Query, QueryResult};
use foo_model::{AwsTime, Reason};
use std::collections::BTreeSet;

const KIND: ConditionKind = ConditionKind::AccessReady;

/// The query about an entry.
pub(crate) fn query(situation: &Situation<'_>, principal: &str) -> Query {
    Query::AccessEntry { cluster: situation.desired.name.clone(), principal: principal.to_owned() }
}

pub(crate) fn ensure(
    situation: &Situation<'_>,
    draft: &mut Draft,
    principal: &str,
    wanted: &Wanted,
) -> Entries {
    let Some(QueryResult::AccessEntry(shown)) = draft.read(situation, KIND, &query(situation, principal))
    else {
        return Entries::Incomplete;
    };
    match shown {
        None => create(situation, draft, principal, wanted),
        Some(shown) => keep(situation, draft, shown, wanted),
    }
}

fn create(situation: &Situation<'_>, draft: &mut Draft, principal: &str, wanted: &Wanted) -> Entries {
    let unique_id = match &wanted.identity {
        Identity::Unknown | Identity::Missing => return Entries::Incomplete,
        Identity::Role { unique_id, .. } => Some(unique_id.clone()),
        Identity::Elsewhere => None,
    };
    let change = EntryChange::Create(NewEntry {
        kind: wanted.kind,
        username: wanted.username.clone().filter(|name| !name.is_empty()),
        groups: wanted.groups.clone(),
        tags: tags::all(situation.desired),
    });
    if send(situation, draft, principal, change, format!("{principal} has no access entry")) {
        match unique_id {
            Some(id) => drop(draft.record.entry_roles.insert(principal.to_owned(), id)),
            None => drop(draft.record.entry_roles.remove(principal)),
        }
    }
    Entries::Incomplete
}

fn send(
    situation: &Situation<'_>,
    draft: &mut Draft,
    principal: &str,
    change: EntryChange,
    why: String,
) -> bool {
    draft.note(KIND, Weight::Pending, Reason::ChangingAccess, why.clone());
    let cluster = situation.desired.name.clone();
    let change = Change::Entry { cluster, principal: principal.to_owned(), change };
    draft.send(situation, KIND, &change, why)
}

fn keep(situation: &Situation<'_>, draft: &mut Draft, shown: &AccessEntry, wanted: &Wanted) -> Entries {
    let principal = &shown.principal;
    if let Identity::Role { unique_id, created } = &wanted.identity {
        let bound = draft.record.entry_roles.get(principal);
        if bound.map_or_else(|| is_older(shown, *created), |bound| bound != unique_id) {
            let why =
                format!("the role {principal} was created again, and its entry is bound to the former one");
            send(situation, draft, principal, EntryChange::Delete, why);
            return Entries::Incomplete;
        }
        draft.record.entry_roles.insert(principal.clone(), unique_id.clone());
    }
    if shown.kind != wanted.kind && wanted.contested {
        return Entries::Incomplete;
    }
    if shown.kind != wanted.kind {
        other_kind(situation, draft, shown, wanted);
        return Entries::Incomplete;
    }
    let username = wanted.username.as_ref().filter(|name| !name.is_empty());
    // EKS gives an entry of another type its groups.
    let standard = wanted.kind == foo_model::eks::EntryKind::Standard;
    let is_named = username.is_none_or(|name| *name == shown.username);
    if standard && wanted.only_these && !(is_named && wanted.groups == shown.groups) {
        let change = EntryChange::Update { username: username.cloned(), groups: Some(wanted.groups.clone()) };
        send(situation, draft, principal, change, format!("name or groups of {principal} differ"));
        return Entries::Incomplete;
    }
    match &wanted.policies {
        Some(policies) => ensure_policies(situation, draft, principal, policies, wanted.only_these),
        None => Entries::Complete,
    }
}

/// Whether the entry was there before the role: then it is bound to a former one. That shows what a lost record does not
/// (clusterctl move). IAM and EKS have clocks of their own.
fn is_older(shown: &AccessEntry, role_created: AwsTime) -> bool {
    shown.created.is_some_and(|entry| entry.plus(SKEW) < role_created)
}

/// EKS never changes the type.
fn other_kind(situation: &Situation<'_>, draft: &mut Draft, shown: &AccessEntry, wanted: &Wanted) {
    let (is, not): (&str, &str) = (shown.kind.into(), wanted.kind.into());
    let principal = &shown.principal;
    if !tags::are_own(situation.desired, &shown.tags) {
        let message =
            format!("the entry of {principal} is of type {is} and not {not}, and was not created here");
        return draft.note(KIND, Weight::Failed, Reason::AccessDiffers, message);
    }
    let why = format!("the entry of {principal} is of type {is} and not {not}");
    send(situation, draft, principal, EntryChange::Delete, why);
}

fn ensure_policies(
    situation: &Situation<'_>,
    draft: &mut Draft,
    principal: &str,
    wanted: &BTreeSet<AccessPolicy>,
    only_these: bool,
) -> Entries {
    let cluster = situation.desired.name.clone();
    let query = Query::AccessPolicies { cluster, principal: principal.to_owned() };
    let Some(QueryResult::AccessPolicies(shown)) = draft.read(situation, KIND, &query) else {
        return Entries::Incomplete;
    };
    let mut complete = Entries::Complete;
    for policy in wanted.difference(shown) {
        let why = format!("{principal} lacks a policy, or it holds elsewhere");
        send(situation, draft, principal, EntryChange::Associate(policy.clone()), why);
        complete = Entries::Incomplete;
    }
    let extra = shown.iter().filter(|it| only_these && !wanted.iter().any(|wanted| wanted.arn == it.arn));
    for policy in extra {
        let why = format!("{principal} has a policy that is not requested");
        send(situation, draft, principal, EntryChange::Disassociate(policy.arn.clone()), why);
    }
    complete
}
