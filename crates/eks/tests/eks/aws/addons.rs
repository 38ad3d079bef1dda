//! Calls about add-ons. coredns needs nodes.

use super::*;

const TAKES: Duration = Duration::from_secs(50);

impl Aws {
    pub(super) fn addon_call(&mut self, change: &Change) -> Answered {
        self.active()?;
        match change {
            Change::CreateAddon { addon, .. } => self.create_addon(addon),
            Change::UpdateAddon { addon, .. } => self.update_addon(addon),
            Change::DeleteAddon { name, .. } => {
                let addon = self.state.addons.get_mut(name).ok_or_else(|| not_found("no such add-on"))?;
                addon.status = AddonStatus::Deleting;
                self.later(TAKES, Due::Addon(name.clone()));
                Ok(Changed::default())
            }
            _ => unreachable!(),
        }
    }

    fn fits(&mut self, addon: &NewAddon) -> Result<(), Refusal> {
        let kubernetes = self.active()?.version;
        let known = releases(&addon.name, kubernetes).iter().any(|it| it.version == addon.version);
        if known { Ok(()) } else { Err(invalid("Addon version specified is not supported")) }
    }

    fn create_addon(&mut self, new: &NewAddon) -> Answered {
        if self.state.addons.contains_key(&new.name) {
            return Err(in_use("Addon already exists."));
        }
        if new.conflicts == ResolveConflicts::Preserve {
            return Err(invalid(
                "Resolve conflicts option preserve is not supported for operation CreateAddon",
            ));
        }
        self.fits(new)?;
        let addon = Addon {
            name: new.name.clone(),
            arn: format!("arn:aws:eks:eu-central-1:{ACCOUNT}:addon/{}", new.name),
            version: new.version.clone(),
            status: AddonStatus::Creating,
            issues: Vec::new(),
            configuration: new.configuration.clone(),
            service_account_role: new.service_account_role.clone(),
            pod_identities: BTreeSet::new(),
            tags: new.tags.clone(),
        };
        self.state.addons.insert(new.name.clone(), addon);
        self.bind(new);
        self.later(TAKES, Due::Addon(new.name.clone()));
        Ok(Changed::default())
    }

    fn update_addon(&mut self, new: &NewAddon) -> Answered {
        self.fits(new)?;
        let addon = self.state.addons.get_mut(&new.name).ok_or_else(|| not_found("no such add-on"))?;
        if addon.status.is_moving() || addon.status == AddonStatus::CreateFailed {
            return Err(in_use("Addon is in another state"));
        }
        addon.version.clone_from(&new.version);
        addon.configuration = new.configuration.clone().or_else(|| addon.configuration.take());
        // Without a role it uses that of the node.
        addon.service_account_role.clone_from(&new.service_account_role);
        addon.status = AddonStatus::Updating;
        self.bind(new);
        self.later(TAKES, Due::Addon(new.name.clone()));
        Ok(Changed::default())
    }

    /// The add-on's own pod identity associations.
    fn bind(&mut self, new: &NewAddon) {
        let Some(wanted) = &new.pod_identities else { return };
        let owner = self.state.addons[&new.name].arn.clone();
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
        self.state.addons.get_mut(&new.name).unwrap().pod_identities = arns;
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
