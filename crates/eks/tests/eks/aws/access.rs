//! Calls about access entries and pod identity associations.

use super::*;

impl Aws {
    pub(super) fn entry_call(&mut self, principal: &str, change: &EntryChange) -> Answered {
        let mode = self.active()?.authentication_mode;
        if mode == AuthenticationMode::ConfigMap {
            let message = "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP]";
            return Err(refusal(Reason::RequestInvalid, "InvalidRequestException", message));
        }
        match change {
            EntryChange::Create(NewEntry { kind, username, groups, tags }) => {
                self.create_entry(principal, *kind, username.as_deref(), groups, tags)
            }
            EntryChange::Update { username, groups } => {
                let entry = &mut self.entry(principal)?.shown;
                entry.groups = groups.clone().unwrap_or_else(|| entry.groups.clone());
                entry.username = username.clone().unwrap_or_else(|| entry.username.clone());
                Ok(Changed::default())
            }
            EntryChange::Delete => {
                self.entry(principal)?;
                self.state.entries.remove(principal);
                Ok(Changed::default())
            }
            EntryChange::Associate(policy) => {
                let policies = &mut self.entry(principal)?.policies;
                policies.retain(|it| it.arn != policy.arn);
                policies.insert(policy.clone());
                Ok(Changed::default())
            }
            EntryChange::Disassociate(policy) => {
                self.entry(principal)?.policies.retain(|it| it.arn != *policy);
                Ok(Changed::default())
            }
        }
    }

    fn entry(&mut self, principal: &str) -> Result<&mut Entry, Refusal> {
        let entry = self.state.entries.get_mut(principal);
        entry.ok_or_else(|| not_found("The specified principalArn could not be found on this cluster"))
    }

    fn create_entry(
        &mut self,
        principal: &str,
        kind: EntryKind,
        username: Option<&str>,
        groups: &BTreeSet<String>,
        tags: &network::Tags,
    ) -> Answered {
        if self.state.entries.contains_key(principal) {
            return Err(in_use("The specified access entry resource is already in use on this cluster."));
        }
        let name = principal.rsplit('/').next().unwrap();
        let Some(role) = self.state.roles.get(name) else {
            return Err(invalid("The specified principalArn is invalid: invalid principal."));
        };
        let generated = format!("arn:aws:sts::{ACCOUNT}:assumed-role/{name}/{{{{SessionName}}}}");
        let nodes = BTreeSet::from(["system:nodes".to_owned()]);
        let standard = kind == EntryKind::Standard;
        let entry = AccessEntry {
            principal: principal.to_owned(),
            arn: format!("arn:entry/{principal}"),
            kind,
            username: username.map_or(generated, str::to_owned),
            groups: if standard { groups.clone() } else { nodes },
            tags: tags.clone(),
            created: Some(self.dated()),
        };
        let lets_in = role.unique_id.clone();
        let entry = Entry { shown: entry, policies: BTreeSet::new(), lets_in };
        self.state.entries.insert(principal.to_owned(), entry);
        Ok(Changed::default())
    }

    pub(super) fn identity_call(&mut self, change: &PodIdentityChange) -> Answered {
        self.active()?;
        match change {
            PodIdentityChange::Create(NewPodIdentity { namespace, service_account, role_arn, tags }) => {
                let bound =
                    |it: &PodIdentity| it.namespace == *namespace && it.service_account == *service_account;
                if self.state.identities.values().any(bound) {
                    return Err(in_use("Association already exists"));
                }
                let id = self.id("a");
                let identity = PodIdentity {
                    id: id.clone(),
                    arn: format!("arn:aws:eks:eu-central-1:{ACCOUNT}:podidentityassociation/{id}"),
                    namespace: namespace.clone(),
                    service_account: service_account.clone(),
                    role_arn: Some(role_arn.clone()),
                    owner_arn: None,
                    tags: tags.clone(),
                };
                self.state.identities.insert(id.clone(), identity);
                Ok(Changed { id: Some(id), ..Changed::default() })
            }
            PodIdentityChange::Update { id, role_arn } => {
                let identity =
                    self.state.identities.get_mut(id).ok_or_else(|| not_found("no association"))?;
                identity.role_arn = Some(role_arn.clone());
                Ok(Changed::default())
            }
            PodIdentityChange::Delete { id } => self
                .state
                .identities
                .remove(id)
                .map(|_| Changed::default())
                .ok_or_else(|| not_found("no association")),
        }
    }
}
