//! What our calls changed, as long as looks may not show it.

use crate::memory::Effect;
use crate::observed::Observed;
use crate::timing::{LAG, UNSEEN};
use foo_model::Timestamp;
use foo_model::eks::{
    AccessEntry, Addon, AddonStatus, Answer, Change, ClusterStatus, EntryKind, InsightsRefresh, NewAddon,
    OidcProvider, PodIdentity, Question,
};
use std::collections::{BTreeMap, BTreeSet};

/// The question whose answer a change changes.
pub(crate) fn about(change: &Change) -> Question {
    match change {
        Change::CreateCluster { cluster, .. } => Question::Cluster(cluster.name.clone()),
        Change::UpdateClusterVersion { cluster, .. }
        | Change::UpdateClusterConfig { cluster, .. }
        | Change::AssociateEncryptionConfig { cluster, .. }
        | Change::DeleteCluster { cluster } => Question::Cluster(cluster.clone()),
        Change::CreateAddon { cluster, addon, .. } | Change::UpdateAddon { cluster, addon, .. } => {
            Question::Addon { cluster: cluster.clone(), name: addon.name.clone() }
        }
        Change::DeleteAddon { cluster, name, .. } => {
            Question::Addon { cluster: cluster.clone(), name: name.clone() }
        }
        Change::CreateAccessEntry { cluster, principal, .. }
        | Change::UpdateAccessEntry { cluster, principal, .. }
        | Change::DeleteAccessEntry { cluster, principal } => {
            Question::AccessEntry { cluster: cluster.clone(), principal: principal.clone() }
        }
        Change::AssociateAccessPolicy { cluster, principal, .. }
        | Change::DisassociateAccessPolicy { cluster, principal, .. } => {
            Question::AccessPolicies { cluster: cluster.clone(), principal: principal.clone() }
        }
        Change::CreatePodIdentityAssociation { cluster, .. } => Question::PodIdentities(cluster.clone()),
        Change::UpdatePodIdentityAssociation { cluster, id, .. }
        | Change::DeletePodIdentityAssociation { cluster, id } => {
            Question::PodIdentity { cluster: cluster.clone(), id: id.clone() }
        }
        Change::StartInsightsRefresh { cluster } => Question::InsightsRefresh(cluster.clone()),
        // Only clusters are tagged after their creation.
        Change::TagResource { arn, .. } | Change::UntagResource { arn, .. } => {
            Question::Cluster(arn.rsplit('/').next().unwrap_or(arn).to_owned())
        }
        Change::CreateOpenIDConnectProvider { url, .. } => Question::OidcProvider(url.clone()),
        Change::DeleteOpenIDConnectProvider { arn } => Question::OidcProvider(arn.clone()),
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
            Change::CreateCluster { .. } => {
                let unseen = self.observed.looks.get(&about).is_none_or(|look| look.begun < at.plus(UNSEEN));
                let absent = !matches!(self.shown.get(&about), Some(Answer::Cluster(Some(_))));
                if unseen && absent && effect.response.cluster.is_some() {
                    self.shown.insert(about, Answer::Cluster(effect.response.cluster.clone()));
                }
                unseen
            }
            Change::DeleteCluster { .. } => {
                self.cluster(&about, at, |it| it.status = ClusterStatus::Deleting)
            }
            Change::StartInsightsRefresh { .. } => {
                let refresh = InsightsRefresh { started: self.observed.aws_clock.theirs(at), is_over: false };
                self.set(about, at, Answer::InsightsRefresh(Some(refresh)))
            }
            Change::TagResource { tags, .. } => self.cluster(&about, at, |it| it.tags.extend(tags.clone())),
            Change::UntagResource { keys, .. } => {
                self.cluster(&about, at, |it| it.tags.retain(|key, _| !keys.contains(key)))
            }
            Change::UpdateClusterVersion { .. }
            | Change::UpdateClusterConfig { .. }
            | Change::AssociateEncryptionConfig { .. } => {
                // The record has the update; when that is over, the cluster is looked at again.
                self.hides(&about, at)
            }
            Change::CreateAddon { .. } | Change::UpdateAddon { .. } | Change::DeleteAddon { .. } => {
                self.addon(about, at, &effect.action.change)
            }
            Change::CreateAccessEntry { .. }
            | Change::UpdateAccessEntry { .. }
            | Change::DeleteAccessEntry { .. }
            | Change::AssociateAccessPolicy { .. }
            | Change::DisassociateAccessPolicy { .. } => self.entry(about, at, &effect.action.change),
            Change::CreatePodIdentityAssociation { .. }
            | Change::UpdatePodIdentityAssociation { .. }
            | Change::DeletePodIdentityAssociation { .. } => self.identity(about, effect),
            Change::CreateOpenIDConnectProvider { url, client_ids, tags } => {
                let Some(arn) = effect.response.id.clone() else { return false };
                let url = url.trim_start_matches("https://").to_owned();
                let provider = OidcProvider {
                    arn: arn.clone(),
                    url,
                    client_ids: client_ids.clone(),
                    tags: tags.clone(),
                };
                self.set(Question::OidcProvider(arn), at, Answer::OidcProvider(Some(provider)))
            }
            Change::DeleteOpenIDConnectProvider { .. } => self.set(about, at, Answer::OidcProvider(None)),
        }
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

    fn addon(&mut self, about: Question, at: Timestamp, change: &Change) -> bool {
        let former = self.shown.get(&about);
        let former = if let Some(Answer::Addon(addon)) = former { addon.clone() } else { None };
        let list = about.cluster().map(|cluster| Question::Addons(cluster.to_owned()));
        match change {
            Change::CreateAddon { addon, .. } => {
                if let Some(list) = list {
                    self.names(&list, at, |names| {
                        names.insert(addon.name.clone());
                    });
                }
                self.set(about, at, Answer::Addon(Some(Box::new(created(addon)))))
            }
            Change::UpdateAddon { addon, .. } => {
                let updated = former.map(|former| Box::new(updated(*former, addon)));
                self.set(about, at, Answer::Addon(updated))
            }
            _ => {
                let deleting =
                    former.map(|former| Box::new(Addon { status: AddonStatus::Deleting, ..*former }));
                self.set(about, at, Answer::Addon(deleting))
            }
        }
    }

    fn entry(&mut self, about: Question, at: Timestamp, change: &Change) -> bool {
        let list = about.cluster().map(|cluster| Question::AccessEntries(cluster.to_owned()));
        match change {
            Change::CreateAccessEntry { cluster, principal, kind, username, groups, tags, .. } => {
                let entry = AccessEntry {
                    principal: principal.clone(),
                    arn: String::new(),
                    kind: *kind,
                    username: username.clone().unwrap_or_default(),
                    groups: groups.clone(),
                    tags: tags.clone(),
                    // Our clock is not EKS's.
                    created: None,
                };
                let policies =
                    Question::AccessPolicies { cluster: cluster.clone(), principal: principal.clone() };
                let has_policies = *kind == EntryKind::Standard;
                let unseen = self.set(policies, at, Answer::AccessPolicies(BTreeSet::new())) && has_policies;
                if let Some(list) = list {
                    self.names(&list, at, |names| {
                        names.insert(principal.clone());
                    });
                }
                self.set(about, at, Answer::AccessEntry(Some(entry))) || unseen
            }
            Change::UpdateAccessEntry { username, groups, .. } => {
                let hides = self.hides(&about, at);
                if hides && let Some(Answer::AccessEntry(Some(entry))) = self.shown.get_mut(&about) {
                    entry.groups.clone_from(groups);
                    entry.username = username.clone().unwrap_or_else(|| entry.username.clone());
                }
                hides
            }
            Change::DeleteAccessEntry { principal, .. } => {
                if let Some(list) = list {
                    self.names(&list, at, |names| {
                        names.remove(principal);
                    });
                }
                self.set(about, at, Answer::AccessEntry(None))
            }
            Change::AssociateAccessPolicy { policy, .. } => self.policies(&about, at, |policies| {
                policies.retain(|it| it.arn != policy.arn);
                policies.insert(policy.clone());
            }),
            Change::DisassociateAccessPolicy { policy, .. } => {
                self.policies(&about, at, |policies| policies.retain(|it| it.arn != *policy))
            }
            _ => false,
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

    fn identity(&mut self, about: Question, effect: &Effect) -> bool {
        let at = effect.at;
        let Some(cluster) = about.cluster().map(str::to_owned) else { return false };
        let list = Question::PodIdentities(cluster.clone());
        match &effect.action.change {
            Change::CreatePodIdentityAssociation { namespace, service_account, role_arn, tags, .. } => {
                let Some(id) = effect.response.id.clone() else { return self.hides(&list, at) };
                let identity = PodIdentity {
                    id: id.clone(),
                    arn: String::new(),
                    namespace: namespace.clone(),
                    service_account: service_account.clone(),
                    role_arn: Some(role_arn.clone()),
                    owner_arn: None,
                    tags: tags.clone(),
                };
                if self.hides(&list, at)
                    && let Some(Answer::PodIdentities(all)) = self.shown.get_mut(&list)
                {
                    all.retain(|it| it.id != id);
                    all.push(identity.clone());
                }
                let one = Question::PodIdentity { cluster, id };
                let hides = self.set(one, at, Answer::PodIdentities(vec![identity]));
                hides || self.hides(&list, at)
            }
            Change::UpdatePodIdentityAssociation { role_arn, .. } => {
                let hides = self.hides(&about, at);
                if hides && let Some(Answer::PodIdentities(one)) = self.shown.get_mut(&about) {
                    for it in one.iter_mut() {
                        it.role_arn = Some(role_arn.clone());
                    }
                }
                hides
            }
            Change::DeletePodIdentityAssociation { id, .. } => {
                if self.hides(&list, at)
                    && let Some(Answer::PodIdentities(all)) = self.shown.get_mut(&list)
                {
                    all.retain(|it| it.id != *id);
                }
                let hides = self.set(about, at, Answer::PodIdentities(Vec::new()));
                hides && self.hides(&list, at)
            }
            _ => false,
        }
    }
}

fn created(addon: &NewAddon) -> Addon {
    Addon {
        name: addon.name.clone(),
        arn: String::new(),
        version: addon.version.clone(),
        status: AddonStatus::Creating,
        issues: Vec::new(),
        configuration: addon.configuration.clone(),
        service_account_role: addon.service_account_role.clone(),
        pod_identities: BTreeSet::new(),
        tags: addon.tags.clone(),
    }
}

fn updated(former: Addon, addon: &NewAddon) -> Addon {
    Addon {
        version: addon.version.clone(),
        status: AddonStatus::Updating,
        issues: Vec::new(),
        configuration: addon.configuration.clone().or(former.configuration),
        service_account_role: addon.service_account_role.clone(),
        ..former
    }
}
