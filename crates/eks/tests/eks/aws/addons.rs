//! Calls about add-ons. coredns needs nodes.

use super::*;

const TAKES: Duration = Duration::from_secs(50);

impl Aws {
    pub(super) fn addon_call(&mut self, name: &str, change: &AddonChange) -> Answered {
        self.active()?;
        match change {
            AddonChange::Create(new, tags) => self.create_addon(name, new, tags),
            AddonChange::Update(new) => self.update_addon(name, new),
            AddonChange::Delete { .. } => {
                let addon = self.state.addons.get_mut(name).ok_or_else(|| not_found("no such add-on"))?;
                addon.status = AddonStatus::Deleting;
                self.later(TAKES, Due::Addon(name.to_owned()));
                Ok(Changed::default())
            }
        }
    }

    fn fits(&mut self, name: &str, new: &NewAddon) -> Result<String, Refusal> {
        let kubernetes = self.active()?.version;
        let version = new.version.clone().unwrap_or_default();
        let known = releases(name, kubernetes).iter().any(|it| it.version == version);
        if known { Ok(version) } else { Err(invalid("Addon version specified is not supported")) }
    }

    fn create_addon(&mut self, name: &str, new: &NewAddon, tags: &network::Tags) -> Answered {
        if self.state.addons.contains_key(name) {
            return Err(in_use("Addon already exists."));
        }
        if new.conflicts == ResolveConflicts::Preserve {
            return Err(invalid(
                "Resolve conflicts option preserve is not supported for operation CreateAddon",
            ));
        }
        let addon = Addon {
            name: name.to_owned(),
            arn: format!("arn:aws:eks:eu-central-1:{ACCOUNT}:addon/{name}"),
            version: self.fits(name, new)?,
            status: AddonStatus::Creating,
            issues: Vec::new(),
            settings: new.settings.clone(),
            pod_identities: BTreeSet::new(),
            tags: tags.clone(),
        };
        self.state.addons.insert(name.to_owned(), addon);
        self.bind(name, new);
        self.later(TAKES, Due::Addon(name.to_owned()));
        Ok(Changed::default())
    }

    fn update_addon(&mut self, name: &str, new: &NewAddon) -> Answered {
        let version = self.fits(name, new)?;
        let addon = self.state.addons.get_mut(name).ok_or_else(|| not_found("no such add-on"))?;
        if addon.status.is_moving() || addon.status == AddonStatus::CreateFailed {
            return Err(in_use("Addon is in another state"));
        }
        addon.version = version;
        let AddonSettings { configuration, service_account_role } = new.settings.clone();
        addon.settings.configuration = configuration.or_else(|| addon.settings.configuration.take());
        // Without a role it uses that of the node.
        addon.settings.service_account_role = service_account_role;
        addon.status = AddonStatus::Updating;
        self.bind(name, new);
        self.later(TAKES, Due::Addon(name.to_owned()));
        Ok(Changed::default())
    }

    /// The add-on's own pod identity associations.
    fn bind(&mut self, name: &str, new: &NewAddon) {
        let Some(wanted) = &new.pod_identities else { return };
        let owner = self.state.addons[name].arn.clone();
        self.state.identities.retain(|_, it| it.owner_arn.as_ref() != Some(&owner));
        let mut arns = BTreeSet::new();
        for (service_account, role) in wanted {
            let id = self.id("a");
            let arn = format!("arn:aws:eks:eu-central-1:{ACCOUNT}:podidentityassociation/{id}");
            arns.insert(arn.clone());
            let identity = PodIdentity {
                id: id.clone(),
                arn,
                namespace: "kube-system".to_owned(),
                service_account: service_account.clone(),
                role_arn: Some(role.clone()),
                owner_arn: Some(owner.clone()),
                tags: network::Tags::new(),
            };
            self.state.identities.insert(id, identity);
        }
        self.state.addons.get_mut(name).unwrap().pod_identities = arns;
    }

    pub(super) fn addon_due(&mut self, name: &str) {
        let nodes = self.nodes;
        let Some(addon) = self.state.addons.get_mut(name) else { return };
        let fails = self.addons_that_fail.get_mut(name).filter(|it| **it > 0);
        match addon.status {
            AddonStatus::Deleting => drop(self.state.addons.remove(name)),
            AddonStatus::Creating if fails.is_some() => {
                *fails.unwrap() -= 1;
                addon.status = AddonStatus::CreateFailed;
                let code = "ConfigurationConflict".to_owned();
                addon.issues = vec![Issue { code, message: "conflicts".to_owned(), resources: vec![] }];
            }
            AddonStatus::Creating | AddonStatus::Updating if name == "coredns" && !nodes => {
                let code = "InsufficientNumberOfReplicas".to_owned();
                addon.issues = vec![Issue { code, message: "no nodes".to_owned(), resources: vec![] }];
            }
            AddonStatus::Creating | AddonStatus::Updating => {
                addon.status = AddonStatus::Active;
                addon.issues.clear();
            }
            _ => {}
        }
    }
}
