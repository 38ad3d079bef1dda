//! Pod identity associations. Those of add-ons belong to the add-ons; those that are neither the provider's nor requested stay as they are.

use crate::draft::{Draft, Weight};
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::tags;
use foo_model::Reason;
use foo_model::eks::{Addon, Change, NewPodIdentity, PodIdentity, PodIdentityChange, Query, QueryResult};
use std::collections::BTreeMap;

const KIND: ConditionKind = ConditionKind::AccessReady;

pub(crate) fn ensure(situation: &Situation<'_>, draft: &mut Draft) {
    let desired = situation.desired;
    let Some(all) = list(situation, draft, KIND) else { return };
    for ((namespace, account), role) in &desired.pod_identities {
        let shown = all.iter().find(|it| it.namespace == *namespace && it.service_account == *account);
        match shown {
            None => create(situation, draft, namespace, account, role),
            Some(shown) if shown.owner_arn.is_some() => {
                let message = format!("the association of {namespace}/{account} belongs to an add-on");
                draft.note(KIND, Weight::Failed, Reason::AccessDiffers, message);
            }
            Some(shown) => keep(situation, draft, shown, role),
        }
    }
    let requested = |it: &PodIdentity| {
        desired.pod_identities.contains_key(&(it.namespace.clone(), it.service_account.clone()))
    };
    for shown in all.iter().filter(|it| it.owner_arn.is_none() && !requested(it)) {
        remove(situation, draft, shown);
    }
}

fn list<'s>(
    situation: &'s Situation<'_>,
    draft: &mut Draft,
    kind: ConditionKind,
) -> Option<&'s [PodIdentity]> {
    let query = Query::PodIdentities(situation.desired.name.clone());
    let Some(QueryResult::PodIdentities(all)) = draft.read(situation, kind, &query) else { return None };
    Some(all)
}

fn query(situation: &Situation<'_>, id: &str) -> Query {
    Query::PodIdentity { cluster: situation.desired.name.clone(), id: id.to_owned() }
}

/// The association with its role and tags, which a list does not show.
#[expect(clippy::option_option, reason = "that nothing is known is not that there is none")]
fn one<'s>(
    situation: &'s Situation<'_>,
    draft: &mut Draft,
    kind: ConditionKind,
    id: &str,
) -> Option<Option<&'s PodIdentity>> {
    let response = draft.read(situation, kind, &query(situation, id));
    let Some(QueryResult::PodIdentities(one)) = response else { return None };
    Some(one.first())
}

fn send(situation: &Situation<'_>, draft: &mut Draft, change: PodIdentityChange, why: String) {
    draft.note(KIND, Weight::Pending, Reason::ChangingAccess, why.clone());
    let change = Change::PodIdentity { cluster: situation.desired.name.clone(), change };
    draft.send(situation, KIND, &change, why);
}

fn create(situation: &Situation<'_>, draft: &mut Draft, namespace: &str, account: &str, role: &str) {
    let change = PodIdentityChange::Create(NewPodIdentity {
        namespace: namespace.to_owned(),
        service_account: account.to_owned(),
        role_arn: role.to_owned(),
        tags: tags::all(situation.desired),
    });
    send(situation, draft, change, format!("{namespace}/{account} has no pod identity association"));
}

fn keep(situation: &Situation<'_>, draft: &mut Draft, shown: &PodIdentity, role: &str) {
    let Some(Some(full)) = one(situation, draft, KIND, &shown.id) else { return };
    if full.role_arn.as_deref() != Some(role) {
        let change = PodIdentityChange::Update { id: shown.id.clone(), role_arn: role.to_owned() };
        let why = format!("the role of {}/{} differs", shown.namespace, shown.service_account);
        send(situation, draft, change, why);
    }
}

fn remove(situation: &Situation<'_>, draft: &mut Draft, shown: &PodIdentity) {
    let Some(full) = one(situation, draft, KIND, &shown.id) else { return };
    match full.filter(|it| tags::are_own(situation.desired, &it.tags)) {
        Some(_) => {
            let change = PodIdentityChange::Delete { id: shown.id.clone() };
            let why = format!("{}/{} is no longer requested", shown.namespace, shown.service_account);
            send(situation, draft, change, why);
        }
        // Not the provider's: once is enough.
        None => drop(draft.read.remove(&query(situation, &shown.id))),
    }
}

/// The associations that belong to an add-on: ARN of the role by service account. `None`: not known yet.
pub(crate) fn of_addon(
    situation: &Situation<'_>,
    draft: &mut Draft,
    kind: ConditionKind,
    addon: &Addon,
) -> Option<BTreeMap<String, String>> {
    if addon.pod_identities.is_empty() {
        return Some(BTreeMap::new());
    }
    let all = list(situation, draft, kind)?;
    let mut roles = BTreeMap::new();
    let mut complete = true;
    for shown in all.iter().filter(|it| it.owner_arn.as_deref() == Some(&addon.arn)) {
        match one(situation, draft, kind, &shown.id) {
            Some(Some(full)) => {
                let role = full.role_arn.clone().unwrap_or_default();
                roles.insert(shown.service_account.clone(), role);
            }
            Some(None) => {}
            None => complete = false,
        }
    }
    complete.then_some(roles)
}
