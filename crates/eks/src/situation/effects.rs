//! What our calls changed, as long as looks may not show it.

use crate::memory::Effect;
use crate::observed::Observed;
use crate::timing::{LAG, UNSEEN};
use foo_model::Timestamp;
use foo_model::eks::{
    AccessEntry, Addon, AddonChange, AddonStatus, Answer, Change, ClusterChange, ClusterStatus, EntryChange,
    EntryKind, InsightsRefresh, NewAddon, NewEntry, NewOidcProvider, NewPodIdentity, OidcChange,
    OidcProvider, PodIdentity, PodIdentityChange, Question, TagChange,
};
use foo_model::network::Tags;
use std::collections::{BTreeMap, BTreeSet};

/// The question whose answer a change changes.
pub(crate) fn about(change: &Change) -> Question {
    match change {
        Change::Cluster { cluster, change: ClusterChange::RefreshInsights } => {
            Question::InsightsRefresh(cluster.clone())
        }
        Change::Cluster { cluster, .. } => Question::Cluster(cluster.clone()),
        Change::Addon { cluster, name, .. } => {
            Question::Addon { cluster: cluster.clone(), name: name.clone() }
        }
        Change::Entry { cluster, principal, change } => {
            let (cluster, principal) = (cluster.clone(), principal.clone());
            match change {
                EntryChange::Create(_) | EntryChange::Update { .. } | EntryChange::Delete => {
                    Question::AccessEntry { cluster, principal }
                }
                EntryChange::Associate(_) | EntryChange::Disassociate(_) => {
                    Question::AccessPolicies { cluster, principal }
                }
            }
        }
        Change::PodIdentity { cluster, change } => match change {
            PodIdentityChange::Create(_) => Question::PodIdentities(cluster.clone()),
            PodIdentityChange::Update { id, .. } | PodIdentityChange::Delete { id } => {
                Question::PodIdentity { cluster: cluster.clone(), id: id.clone() }
            }
        },
        Change::Tags { .. } => Question::Cluster(change.cluster().unwrap_or_default().to_owned()),
        Change::Oidc(OidcChange::Create(new)) => Question::OidcProvider(new.url.clone()),
        Change::Oidc(OidcChange::Delete { arn }) => Question::OidcProvider(arn.clone()),
    }
}

/// Answers under a change.
pub(super) struct Overlay<'a> {
    pub(super) observed: &'a Observed,
    pub(super) shown: &'a mut BTreeMap<Question, Answer>,
}

impl Overlay<'_> {
    /// Whether looks may not show the change yet. What we created ourselves may never have been looked at.
    fn hides(&self, question: &Question, at: Timestamp) -> bool {
        self.observed.looks.get(question).is_none_or(|look| look.begun < at.plus(LAG))
    }

    /// Sets an answer that a look does not show yet, asked for or not.
    fn set(&mut self, question: Question, at: Timestamp, answer: Answer) -> bool {
        let hidden = self.hides(&question, at);
        if hidden {
            self.shown.insert(question, answer);
        }
        hidden
    }

    fn names(&mut self, question: &Question, at: Timestamp, change: impl FnOnce(&mut BTreeSet<String>)) {
        if self.hides(question, at)
            && let Some(Answer::Names(names)) = self.shown.get_mut(question)
        {
            change(names);
        }
    }

    /// Applies an effect. Whether a later look may still not show it.
    pub(super) fn apply(&mut self, effect: &Effect) -> bool {
        let about = about(&effect.action.change);
        let at = effect.at;
        match &effect.action.change {
            Change::Cluster { change, .. } => match change {
                ClusterChange::Create(_) => self.created(about, effect),
                ClusterChange::Delete => self.cluster(&about, at, |it| it.status = ClusterStatus::Deleting),
                ClusterChange::RefreshInsights => {
                    let started = self.observed.aws_clock.theirs(at);
                    let refresh = InsightsRefresh { started, is_over: false };
                    self.set(about, at, Answer::InsightsRefresh(Some(refresh)))
                }
                // The record has the update; when that is over, the cluster is looked at again.
                ClusterChange::UpdateVersion { .. }
                | ClusterChange::UpdateConfig(_)
                | ClusterChange::Encrypt(_) => self.hides(&about, at),
            },
            Change::Tags { change, .. } => self.cluster(&about, at, |it| match change {
                TagChange::Tag(tags) => it.tags.extend(tags.clone()),
                TagChange::Untag(keys) => it.tags.retain(|key, _| !keys.contains(key)),
            }),
            Change::Addon { cluster, name, change } => {
                self.addon(about, at, &Question::Addons(cluster.clone()), name, change)
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
                self.set(Question::OidcProvider(arn), at, Answer::OidcProvider(Some(provider)))
            }
            Change::Oidc(OidcChange::Delete { .. }) => self.set(about, at, Answer::OidcProvider(None)),
        }
    }

    fn created(&mut self, about: Question, effect: &Effect) -> bool {
        let unseen = self.observed.looks.get(&about).is_none_or(|look| look.begun < effect.at.plus(UNSEEN));
        let absent = !matches!(self.shown.get(&about), Some(Answer::Cluster(Some(_))));
        if unseen && absent && effect.response.cluster.is_some() {
            self.shown.insert(about, Answer::Cluster(effect.response.cluster.clone()));
        }
        unseen
    }

    fn cluster(
        &mut self,
        about: &Question,
        at: Timestamp,
        change: impl FnOnce(&mut foo_model::eks::Cluster),
    ) -> bool {
        let hides = self.hides(about, at);
        if hides && let Some(Answer::Cluster(Some(cluster))) = self.shown.get_mut(about) {
            change(cluster);
        }
        hides
    }

    fn addon(
        &mut self,
        about: Question,
        at: Timestamp,
        list: &Question,
        name: &str,
        change: &AddonChange,
    ) -> bool {
        let former = self.shown.get(&about);
        let former = if let Some(Answer::Addon(addon)) = former { addon.clone() } else { None };
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
        self.set(about, at, Answer::Addon(addon))
    }

    fn entry(
        &mut self,
        about: Question,
        at: Timestamp,
        cluster: &str,
        principal: &str,
        change: &EntryChange,
    ) -> bool {
        let list = Question::AccessEntries(cluster.to_owned());
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
                    Question::AccessPolicies { cluster: cluster.to_owned(), principal: principal.to_owned() };
                let has_policies = *kind == EntryKind::Standard;
                let unseen = self.set(policies, at, Answer::AccessPolicies(BTreeSet::new())) && has_policies;
                self.names(&list, at, |names| {
                    names.insert(principal.to_owned());
                });
                self.set(about, at, Answer::AccessEntry(Some(entry))) || unseen
            }
            EntryChange::Update { username, groups } => {
                let hides = self.hides(&about, at);
                if hides && let Some(Answer::AccessEntry(Some(entry))) = self.shown.get_mut(&about) {
                    entry.groups = groups.clone().unwrap_or_else(|| entry.groups.clone());
                    entry.username = username.clone().unwrap_or_else(|| entry.username.clone());
                }
                hides
            }
            EntryChange::Delete => {
                self.names(&list, at, |names| {
                    names.remove(principal);
                });
                self.set(about, at, Answer::AccessEntry(None))
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
        about: &Question,
        at: Timestamp,
        change: impl FnOnce(&mut BTreeSet<foo_model::eks::AccessPolicy>),
    ) -> bool {
        let hides = self.hides(about, at);
        if hides && let Some(Answer::AccessPolicies(policies)) = self.shown.get_mut(about) {
            change(policies);
        }
        hides
    }

    fn identity(
        &mut self,
        about: Question,
        at: Timestamp,
        cluster: &str,
        change: &PodIdentityChange,
        created: Option<String>,
    ) -> bool {
        let list = Question::PodIdentities(cluster.to_owned());
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
                let one = Question::PodIdentity { cluster: cluster.to_owned(), id };
                let hides = self.set(one, at, Answer::PodIdentities(vec![identity]));
                hides || self.hides(&list, at)
            }
            PodIdentityChange::Update { role_arn, .. } => self.listed(&about, at, |one| {
                for it in one {
                    it.role_arn = Some(role_arn.clone());
                }
            }),
            PodIdentityChange::Delete { id } => {
                self.listed(&list, at, |all| all.retain(|it| it.id != *id));
                let hides = self.set(about, at, Answer::PodIdentities(Vec::new()));
                hides && self.hides(&list, at)
            }
        }
    }

    fn listed(
        &mut self,
        question: &Question,
        at: Timestamp,
        change: impl FnOnce(&mut Vec<PodIdentity>),
    ) -> bool {
        let hides = self.hides(question, at);
        if hides && let Some(Answer::PodIdentities(all)) = self.shown.get_mut(question) {
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
