//! What our calls changed, as long as reads may not show it.

use crate::memory::Effect;
use crate::observed::Observed;
use crate::timing::{LAG, UNSEEN};
use foo_model::Timestamp;
use foo_model::eks::{
    AccessEntry, Addon, AddonChange, AddonStatus, Change, ClusterChange, ClusterStatus, EntryChange,
    EntryKind, InsightsRefresh, NewAddon, NewEntry, NewOidcProvider, NewPodIdentity, OidcChange,
    OidcProvider, PodIdentity, PodIdentityChange, Query, QueryResult, TagChange,
};
use foo_model::network::Tags;
use std::collections::{BTreeMap, BTreeSet};

/// The query whose response a change changes.
pub(crate) fn about(change: &Change) -> Query {
    match change {
        Change::Cluster { cluster, change: ClusterChange::RefreshInsights } => {
            Query::InsightsRefresh(cluster.clone())
        }
        Change::Cluster { cluster, change: ClusterChange::AssociateIdentityProvider(new) } => {
            Query::IdentityProvider { cluster: cluster.clone(), name: new.name.clone() }
        }
        Change::Cluster { cluster, change: ClusterChange::DisassociateIdentityProvider(name) } => {
            Query::IdentityProvider { cluster: cluster.clone(), name: name.clone() }
        }
        Change::Cluster { cluster, .. } => Query::Cluster(cluster.clone()),
        Change::Addon { cluster, name, .. } => Query::Addon { cluster: cluster.clone(), name: name.clone() },
        Change::Entry { cluster, principal, change } => {
            let (cluster, principal) = (cluster.clone(), principal.clone());
            match change {
                EntryChange::Create(_) | EntryChange::Update { .. } | EntryChange::Delete => {
                    Query::AccessEntry { cluster, principal }
                }
                EntryChange::Associate(_) | EntryChange::Disassociate(_) => {
                    Query::AccessPolicies { cluster, principal }
                }
            }
        }
        Change::PodIdentity { cluster, change } => match change {
            PodIdentityChange::Create(_) => Query::PodIdentities(cluster.clone()),
            PodIdentityChange::Update { id, .. } | PodIdentityChange::Delete { id } => {
                Query::PodIdentity { cluster: cluster.clone(), id: id.clone() }
            }
        },
        Change::Tags { .. } => Query::Cluster(change.cluster().unwrap_or_default().to_owned()),
        Change::Oidc(OidcChange::Create(new)) => Query::OidcProvider(new.url.clone()),
        Change::Oidc(OidcChange::Delete { arn }) => Query::OidcProvider(arn.clone()),
    }
}

/// Responses under a change.
pub(crate) struct Overlay<'a> {
    pub(crate) observed: &'a Observed,
    pub(crate) shown: &'a mut BTreeMap<Query, QueryResult>,
}

impl Overlay<'_> {
    /// Whether reads may not show the change yet. What the provider created itself may never have been read.
    fn hides(&self, query: &Query, at: Timestamp) -> bool {
        self.observed.reads.get(query).is_none_or(|read| read.begun < at.plus(LAG))
    }

    /// Sets a response that a read does not show yet, asked for or not.
    fn set(&mut self, query: Query, at: Timestamp, response: QueryResult) -> bool {
        let hidden = self.hides(&query, at);
        if hidden {
            self.shown.insert(query, response);
        }
        hidden
    }

    fn names(&mut self, query: &Query, at: Timestamp, change: impl FnOnce(&mut BTreeSet<String>)) {
        if self.hides(query, at)
            && let Some(QueryResult::Names(names)) = self.shown.get_mut(query)
        {
            change(names);
        }
    }

    /// Applies an effect. Whether a later read may still not show it.
    pub(crate) fn apply(&mut self, effect: &Effect) -> bool {
        let about = about(&effect.action.change);
        let at = effect.at;
        match &effect.action.change {
            Change::Cluster { change, .. } => match change {
                ClusterChange::Create(_) => self.created(about, effect),
                ClusterChange::Delete => self.cluster(&about, at, |it| it.status = ClusterStatus::Deleting),
                ClusterChange::RefreshInsights => {
                    let started = self.observed.aws_clock.remote(at);
                    let refresh = InsightsRefresh { started, is_over: false };
                    self.set(about, at, QueryResult::InsightsRefresh(Some(refresh)))
                }
                // The record has the update; when that is over, what it changed is read again.
                ClusterChange::UpdateVersion { .. }
                | ClusterChange::UpdateConfig(_)
                | ClusterChange::Encrypt(_)
                | ClusterChange::AssociateIdentityProvider(_)
                | ClusterChange::DisassociateIdentityProvider(_) => self.hides(&about, at),
            },
            Change::Tags { change, .. } => self.cluster(&about, at, |it| match change {
                TagChange::Tag(tags) => it.tags.extend(tags.clone()),
                TagChange::Untag(keys) => it.tags.retain(|key, _| !keys.contains(key)),
            }),
            Change::Addon { cluster, name, change } => {
                self.addon(about, at, &Query::Addons(cluster.clone()), name, change)
            }
            Change::Entry { cluster, principal, change } => self.entry(about, at, cluster, principal, change),
            Change::PodIdentity { cluster, change } => {
                self.identity(about, at, cluster, change, effect.response.id.clone())
            }
            Change::Oidc(OidcChange::Create(NewOidcProvider { url, client_ids, tags })) => {
                let Some(arn) = effect.response.id.clone() else { return false };
                let provider = OidcProvider {
                    arn: arn.clone(),
                    url: url.trim_start_matches("https://").to_owned(),
                    client_ids: client_ids.clone(),
                    tags: tags.clone(),
                };
                self.set(Query::OidcProvider(arn), at, QueryResult::OidcProvider(Some(provider)))
            }
            Change::Oidc(OidcChange::Delete { .. }) => self.set(about, at, QueryResult::OidcProvider(None)),
        }
    }

    fn created(&mut self, about: Query, effect: &Effect) -> bool {
        let unseen = self.observed.reads.get(&about).is_none_or(|read| read.begun < effect.at.plus(UNSEEN));
        let absent = !matches!(self.shown.get(&about), Some(QueryResult::Cluster(Some(_))));
        if unseen && absent && effect.response.cluster.is_some() {
            self.shown.insert(about, QueryResult::Cluster(effect.response.cluster.clone()));
        }
        unseen
    }

    fn cluster(
        &mut self,
        about: &Query,
        at: Timestamp,
        change: impl FnOnce(&mut foo_model::eks::Cluster),
    ) -> bool {
        let hides = self.hides(about, at);
        if hides && let Some(QueryResult::Cluster(Some(cluster))) = self.shown.get_mut(about) {
            change(cluster);
        }
        hides
    }

    fn addon(&mut self, about: Query, at: Timestamp, list: &Query, name: &str, change: &AddonChange) -> bool {
        let former = self.shown.get(&about);
        let former = if let Some(QueryResult::Addon(addon)) = former { addon.clone() } else { None };
        let addon = match change {
            AddonChange::Create(new, tags) => {
                self.names(list, at, |names| {
                    names.insert(name.to_owned());
                });
                Some(Box::new(created(name, new, tags)))
            }
            AddonChange::Update(new) => former.map(|former| Box::new(updated(*former, new))),
            AddonChange::Delete { .. } => {
                former.map(|former| Box::new(Addon { status: AddonStatus::Deleting, ..*former }))
            }
        };
        self.set(about, at, QueryResult::Addon(addon))
    }

    fn entry(
        &mut self,
        about: Query,
        at: Timestamp,
        cluster: &str,
        principal: &str,
        change: &EntryChange,
    ) -> bool {
        let list = Query::AccessEntries(cluster.to_owned());
        match change {
            EntryChange::Create(NewEntry { kind, username, groups, tags }) => {
                let entry = AccessEntry {
                    principal: principal.to_owned(),
                    arn: String::new(),
                    kind: *kind,
                    username: username.clone().unwrap_or_default(),
                    groups: groups.clone(),
                    tags: tags.clone(),
                    // Our clock is not EKS's.
                    created: None,
                };
                let policies =
                    Query::AccessPolicies { cluster: cluster.to_owned(), principal: principal.to_owned() };
                let has_policies = *kind == EntryKind::Standard;
                let unseen =
                    self.set(policies, at, QueryResult::AccessPolicies(BTreeSet::new())) && has_policies;
                self.names(&list, at, |names| {
                    names.insert(principal.to_owned());
                });
                self.set(about, at, QueryResult::AccessEntry(Some(entry))) || unseen
            }
            EntryChange::Update { username, groups } => {
                let hides = self.hides(&about, at);
                if hides && let Some(QueryResult::AccessEntry(Some(entry))) = self.shown.get_mut(&about) {
                    entry.groups = groups.clone().unwrap_or_else(|| entry.groups.clone());
                    entry.username = username.clone().unwrap_or_else(|| entry.username.clone());
                }
                hides
            }
            EntryChange::Delete => {
                self.names(&list, at, |names| {
                    names.remove(principal);
                });
                self.set(about, at, QueryResult::AccessEntry(None))
            }
            EntryChange::Associate(policy) => self.policies(&about, at, |policies| {
                policies.retain(|it| it.arn != policy.arn);
                policies.insert(policy.clone());
            }),
            EntryChange::Disassociate(policy) => {
                self.policies(&about, at, |policies| policies.retain(|it| it.arn != *policy))
            }
        }
    }

    fn policies(
        &mut self,
        about: &Query,
        at: Timestamp,
        change: impl FnOnce(&mut BTreeSet<foo_model::eks::AccessPolicy>),
    ) -> bool {
        let hides = self.hides(about, at);
        if hides && let Some(QueryResult::AccessPolicies(policies)) = self.shown.get_mut(about) {
            change(policies);
        }
        hides
    }

    fn identity(
        &mut self,
        about: Query,
        at: Timestamp,
        cluster: &str,
        change: &PodIdentityChange,
        created: Option<String>,
    ) -> bool {
        let list = Query::PodIdentities(cluster.to_owned());
        match change {
            PodIdentityChange::Create(NewPodIdentity { namespace, service_account, role_arn, tags }) => {
                let Some(id) = created else { return self.hides(&list, at) };
                let identity = PodIdentity {
                    id: id.clone(),
                    arn: String::new(),
                    namespace: namespace.clone(),
                    service_account: service_account.clone(),
                    role_arn: Some(role_arn.clone()),
                    owner_arn: None,
                    tags: tags.clone(),
                };
                self.listed(&list, at, |all| {
                    all.retain(|it| it.id != id);
                    all.push(identity.clone());
                });
                let one = Query::PodIdentity { cluster: cluster.to_owned(), id };
                let hides = self.set(one, at, QueryResult::PodIdentities(vec![identity]));
                hides || self.hides(&list, at)
            }
            PodIdentityChange::Update { role_arn, .. } => self.listed(&about, at, |one| {
                for it in one {
                    it.role_arn = Some(role_arn.clone());
                }
            }),
            PodIdentityChange::Delete { id } => {
                self.listed(&list, at, |all| all.retain(|it| it.id != *id));
                let hides = self.set(about, at, QueryResult::PodIdentities(Vec::new()));
                hides && self.hides(&list, at)
            }
        }
    }

    fn listed(&mut self, query: &Query, at: Timestamp, change: impl FnOnce(&mut Vec<PodIdentity>)) -> bool {
        let hides = self.hides(query, at);
        if hides && let Some(QueryResult::PodIdentities(all)) = self.shown.get_mut(query) {
            change(all);
        }
        hides
    }
}

fn created(name: &str, new: &NewAddon, tags: &Tags) -> Addon {
    let NewAddon { version, settings, pod_identities: _, conflicts: _ } = new;
    Addon {
        name: name.to_owned(),
        arn: String::new(),
        version: version.clone().unwrap_or_default(),
        status: AddonStatus::Creating,
        issues: Vec::new(),
        settings: settings.clone(),
        pod_identities: BTreeSet::new(),
        tags: tags.clone(),
    }
}

fn updated(former: Addon, new: &NewAddon) -> Addon {
    let NewAddon { version, settings, pod_identities: _, conflicts: _ } = new;
    Addon {
        version: version.clone().unwrap_or(former.version),
        status: AddonStatus::Updating,
        issues: Vec::new(),
        settings: former.settings.updated(settings.clone()),
        ..former
    }
}
