//! The OIDC identity provider whose users the API server knows. EKS has one per cluster and changes none: one that differs is
//! disassociated if this provider associated it, and the requested one is associated when that is done. Without a request nothing is
//! read, unless the record says that there is one of this provider.

use crate::desired::DesiredIdentityProvider;
use crate::draft::{Draft, Weight};
use crate::recorded::UpdateKind;
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::tags;
use foo_model::Reason;
use foo_model::eks::{
    Change, ClusterChange, IdentityProvider, IdentityProviderSettings, IdentityProviderStatus,
    NewIdentityProvider, Query, QueryResult,
};
use std::collections::BTreeSet;

const KIND: ConditionKind = ConditionKind::AccessReady;

/// The claim that has the name of a user if none is named (EKS API Reference, OidcIdentityProviderConfigRequest).
const USERNAME_CLAIM: &str = "sub";

/// An update that is to be made.
pub(crate) struct Due {
    change: ClusterChange,
    why: String,
}

/// All queries about identity providers whose responses an update changes, whether or not they were read.
pub(crate) fn queries(situation: &Situation<'_>) -> BTreeSet<Query> {
    let wanted = situation.desired.identity_provider.iter().map(|it| &it.name);
    let named = wanted.chain(&situation.record.identity_provider).map(|name| query(situation, name));
    let is_one = |it: &&Query| matches!(it, Query::IdentityProviders(_) | Query::IdentityProvider { .. });
    let shown = situation.shown.keys().filter(is_one).cloned();
    named.chain(shown).chain([list(situation)]).collect()
}

fn list(situation: &Situation<'_>) -> Query {
    Query::IdentityProviders(situation.desired.name.clone())
}

/// What is to be done next. Says so, whether or not EKS is free for it.
pub(crate) fn due(situation: &Situation<'_>, draft: &mut Draft) -> Option<Due> {
    let due = next(situation, draft)?;
    draft.note(KIND, Weight::Pending, Reason::ChangingAccess, due.why.clone());
    Some(due)
}

/// Begins what is to be done. Whether it is sent.
pub(crate) fn ensure(situation: &Situation<'_>, draft: &mut Draft, due: Due) -> bool {
    let Due { change, why } = due;
    let associated = if let ClusterChange::AssociateIdentityProvider(new) = &change {
        Some(new.name.clone())
    } else {
        None
    };
    let kind = if associated.is_some() {
        UpdateKind::AssociateIdentityProvider
    } else {
        UpdateKind::DisassociateIdentityProvider
    };
    let change = Change::Cluster { cluster: situation.desired.name.clone(), change };
    let sent = draft.update(situation, KIND, kind, &change, why);
    if sent && associated.is_some() {
        draft.record.identity_provider = associated;
    }
    sent
}

fn next(situation: &Situation<'_>, draft: &mut Draft) -> Option<Due> {
    let wanted = situation.desired.identity_provider.as_ref();
    if let Some(name) = draft.record.identity_provider.clone()
        && wanted.is_none_or(|wanted| wanted.name != name)
    {
        match former(situation, draft, &name) {
            Former::Unknown => return None,
            Former::Stays(due) => return due,
            Former::Gone => {}
        }
    }
    let Some(wanted) = wanted else {
        forget_failures(draft);
        return None;
    };
    let shown = one(situation, draft, &wanted.name)?;
    match shown {
        Some(shown) => keep(situation, draft, shown, wanted),
        None => associate(situation, draft, wanted),
    }
}

fn forget_failures(draft: &mut Draft) {
    for kind in [UpdateKind::AssociateIdentityProvider, UpdateKind::DisassociateIdentityProvider] {
        draft.record.failed.remove(kind.name());
    }
}

fn query(situation: &Situation<'_>, name: &str) -> Query {
    Query::IdentityProvider { cluster: situation.desired.name.clone(), name: name.to_owned() }
}

#[expect(clippy::option_option, reason = "that nothing is known is not that there is none")]
fn one<'s>(
    situation: &'s Situation<'_>,
    draft: &mut Draft,
    name: &str,
) -> Option<Option<&'s IdentityProvider>> {
    let response = draft.read(situation, KIND, &query(situation, name));
    let Some(QueryResult::IdentityProvider(shown)) = response else { return None };
    Some(shown.as_deref())
}

/// The one that this provider associated, and that is no longer requested.
enum Former {
    /// AWS is being asked, or EKS is at work on it.
    Unknown,
    /// It is there; what is to be done about it.
    Stays(Option<Due>),
    /// It does not exist any more, or is another owner's.
    Gone,
}

fn former(situation: &Situation<'_>, draft: &mut Draft, name: &str) -> Former {
    // EKS may still be about to show it; just after the update the last read is of before it.
    let associates = |kind: UpdateKind| kind == UpdateKind::AssociateIdentityProvider;
    if situation.record.update.as_ref().is_some_and(|it| associates(it.kind)) {
        return Former::Unknown;
    }
    match one(situation, draft, name) {
        None => Former::Unknown,
        Some(Some(shown)) if tags::are_own(situation.desired, &shown.tags) => {
            let why = format!("the identity provider {name} is no longer requested");
            Former::Stays(disassociate(situation, draft, shown, why))
        }
        Some(Some(_) | None) => {
            let query = query(situation, name);
            let is_it = |it: &String| it == name;
            if !draft.forget(situation, &query, |record| &mut record.identity_provider, is_it) {
                draft.note_unread(KIND, &query);
                return Former::Unknown;
            }
            draft.read.remove(&query);
            Former::Gone
        }
    }
}

fn disassociate(
    situation: &Situation<'_>,
    draft: &mut Draft,
    shown: &IdentityProvider,
    why: String,
) -> Option<Due> {
    let change = ClusterChange::DisassociateIdentityProvider(shown.name.clone());
    (!moves(situation, draft, shown)).then_some(Due { change, why })
}

/// Whether EKS is at work on it. An update of this provider is followed by its id.
fn moves(situation: &Situation<'_>, draft: &mut Draft, shown: &IdentityProvider) -> bool {
    if shown.status == IdentityProviderStatus::Active {
        return false;
    }
    if situation.record.update.is_none() {
        let status: &str = shown.status.into();
        let message = format!("the identity provider {} is {status}", shown.name);
        draft.note(KIND, Weight::Pending, Reason::ChangingAccess, message);
        draft.wait(&query(situation, &shown.name));
    }
    true
}

/// It exists: it is as requested, or it is another owner's and stays, or it has to go first.
fn keep(
    situation: &Situation<'_>,
    draft: &mut Draft,
    shown: &IdentityProvider,
    wanted: &DesiredIdentityProvider,
) -> Option<Due> {
    let name = &shown.name;
    let is_own = tags::are_own(situation.desired, &shown.tags);
    if is_own {
        draft.record.identity_provider = Some(name.clone());
    }
    let differs = differences(&wanted.settings, &shown.settings).join(", ");
    if differs.is_empty() {
        if !moves(situation, draft, shown) {
            forget_failures(draft);
        }
        return None;
    }
    let why = format!("the identity provider {name}: {differs} differs");
    if is_own {
        return disassociate(situation, draft, shown, why);
    }
    let message = format!(
        "{why}; it was not associated by this FooControlPlane, and EKS changes none: it is not touched"
    );
    draft.note(KIND, Weight::Failed, Reason::AccessDiffers, message);
    draft.awaited.insert(query(situation, name));
    None
}

/// There is none of that name: it is associated, unless there is another one.
fn associate(situation: &Situation<'_>, draft: &mut Draft, wanted: &DesiredIdentityProvider) -> Option<Due> {
    let list = list(situation);
    let Some(QueryResult::Names(names)) = draft.read(situation, KIND, &list) else { return None };
    for name in names.iter().filter(|name| **name != wanted.name) {
        let Some(shown) = one(situation, draft, name)? else { continue };
        if tags::are_own(situation.desired, &shown.tags) {
            let why = format!("the identity provider {name} is no longer requested");
            return disassociate(situation, draft, shown, why);
        }
        let message = format!(
            "the cluster has the identity provider {name}, which was not associated by this FooControlPlane; EKS has one per cluster, and \
             it is not touched"
        );
        draft.note(KIND, Weight::Failed, Reason::AccessDiffers, message);
        // As soon as it is disassociated, the requested one is associated.
        draft.awaited.insert(query(situation, name));
        draft.awaited.insert(list.clone());
        return None;
    }
    let new = new(situation.desired, wanted);
    let why = format!("the cluster has no identity provider {}", wanted.name);
    Some(Due { change: ClusterChange::AssociateIdentityProvider(Box::new(new)), why })
}

/// What is sent to associate it.
pub(crate) fn new(desired: &crate::Desired, wanted: &DesiredIdentityProvider) -> NewIdentityProvider {
    let DesiredIdentityProvider { name, settings } = wanted.clone();
    NewIdentityProvider { name, settings, tags: tags::all(desired) }
}

/// What differs, if what is left out is what EKS takes for it.
fn differences(wanted: &IdentityProviderSettings, shown: &IdentityProviderSettings) -> Vec<&'static str> {
    let IdentityProviderSettings {
        issuer_url,
        client_id,
        username_claim: _,
        username_prefix: _,
        groups_claim,
        groups_prefix,
        required_claims,
    } = wanted;
    let no_groups = groups_claim.is_none() && shown.groups_claim.is_none();
    let all = [
        ("the issuer", issuer(issuer_url) == issuer(&shown.issuer_url)),
        ("the client", *client_id == shown.client_id),
        ("the claim with the name of users", username_claim(wanted) == username_claim(shown)),
        ("the prefix of users", username_prefix(wanted) == username_prefix(shown)),
        ("the claim with groups", *groups_claim == shown.groups_claim),
        // Without a claim it means nothing.
        ("the prefix of groups", no_groups || *groups_prefix == shown.groups_prefix),
        ("the required claims", *required_claims == shown.required_claims),
    ];
    all.into_iter().filter(|(_, same)| !same).map(|(what, _)| what).collect()
}

/// With and without a `/` at the end it is the same.
fn issuer(url: &str) -> &str {
    url.strip_suffix('/').unwrap_or(url)
}

fn username_claim(settings: &IdentityProviderSettings) -> &str {
    settings.username_claim.as_deref().unwrap_or(USERNAME_CLAIM)
}

/// Claims besides `email` have a prefix if none is named (EKS API Reference, OidcIdentityProviderConfigRequest).
fn username_prefix(settings: &IdentityProviderSettings) -> String {
    let by_default = || match username_claim(settings) {
        "email" => String::new(),
        _ => format!("{}#", issuer(&settings.issuer_url)),
    };
    match settings.username_prefix.as_deref() {
        // No prefix (EKS API Reference, OidcIdentityProviderConfigRequest).
        Some("-") => String::new(),
        // EKS's default has the issuer as it was given.
        Some(prefix) => match prefix.strip_suffix("/#") {
            Some(issuer) => format!("{issuer}#"),
            None => prefix.to_owned(),
        },
        None => by_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> IdentityProviderSettings {
        IdentityProviderSettings {
            issuer_url: "https://id.example.com".to_owned(),
            client_id: "kubernetes".to_owned(),
            ..IdentityProviderSettings::default()
        }
    }

    #[test]
    fn what_eks_fills_in_differs_in_nothing() {
        let shown = IdentityProviderSettings {
            username_claim: Some("sub".to_owned()),
            username_prefix: Some("https://id.example.com#".to_owned()),
            ..settings()
        };
        assert_eq!(differences(&settings(), &shown), [""; 0]);
        let email = || IdentityProviderSettings { username_claim: Some("email".to_owned()), ..settings() };
        assert_eq!(differences(&email(), &email()), [""; 0]);
        let bare = IdentityProviderSettings { username_prefix: Some("-".to_owned()), ..email() };
        assert_eq!(differences(&bare, &email()), [""; 0], "addresses have no prefix by default");
        let slash =
            IdentityProviderSettings { issuer_url: "https://id.example.com/".to_owned(), ..settings() };
        assert_eq!(differences(&settings(), &slash), [""; 0]);
        let filled = IdentityProviderSettings {
            username_prefix: Some("https://id.example.com/#".to_owned()),
            ..slash.clone()
        };
        assert_eq!(differences(&slash, &filled), [""; 0]);
        let prefix = IdentityProviderSettings { groups_prefix: Some("g:".to_owned()), ..settings() };
        assert_eq!(differences(&settings(), &prefix), [""; 0], "there is no claim with groups");
        assert_eq!(
            differences(&settings(), &email()),
            ["the claim with the name of users", "the prefix of users"]
        );
    }

    #[test]
    fn every_other_setting_is_compared() {
        let text = || Some("x".to_owned());
        for (shown, what) in [
            (IdentityProviderSettings { issuer_url: "https://x".to_owned(), ..settings() }, "the issuer"),
            (IdentityProviderSettings { client_id: "x".to_owned(), ..settings() }, "the client"),
            (IdentityProviderSettings { groups_claim: text(), ..settings() }, "the claim with groups"),
            (
                IdentityProviderSettings { groups_claim: text(), groups_prefix: text(), ..settings() },
                "the prefix of groups",
            ),
            (
                IdentityProviderSettings {
                    required_claims: [("hd".to_owned(), "example.com".to_owned())].into(),
                    ..settings()
                },
                "the required claims",
            ),
        ] {
            assert!(differences(&settings(), &shown).contains(&what), "{what}");
        }
    }
}
