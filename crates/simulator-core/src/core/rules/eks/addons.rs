//! Add-ons of clusters (EKS API Reference, Addon). Whether one works is worked out when it is read: from what was asked for, the
//! time that has passed, and the nodes of the cluster.

use super::tags::check_tags;
use crate::core::eks::MishapOf;
use crate::core::eks::addon_catalogue::{self, Addon};
use crate::core::eks::cluster::{AddonPhase, AddonSpec, Change, Cluster, ClusterAddon, Update};
use crate::core::eks::principals::Principals;
use crate::core::eks::refusal::{in_use, invalid, not_found};
use crate::core::eks::schema::complaints;
use crate::core::eks::settings::Nodes;
use crate::core::eks::step::EksStep;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use foo_cloud::InstanceState;
use foo_model::eks::{AddonSettings, AddonStatus, Issue, Minor, NewAddon, ResolveConflicts, UpdateType};
use foo_model::network::Tags;

pub(super) fn no_addon(name: &str) -> AwsError {
    not_found(format!("No addon: {name} found in cluster"))
}

/// The version that a request means.
fn version_of(addon: &Addon, asked: Option<&str>, kubernetes: Minor) -> AwsResult<String> {
    let found = match asked {
        Some(version) => addon.release(version).filter(|release| release.fits(kubernetes)),
        None => addon.default_for(kubernetes),
    };
    found
        .map(|release| release.version.to_owned())
        .ok_or_else(|| invalid("Addon version specified is not supported"))
}

/// Configuration values, in JSON or YAML, held against the schema.
fn check_values(addon: &Addon, values: Option<&str>) -> AwsResult<()> {
    let Some(text) = values.filter(|text| !text.is_empty()) else { return Ok(()) };
    let refused =
        |why: &str| invalid(format!("ConfigurationValue provided in request is not supported: {why}"));
    let value: serde_json::Value =
        serde_saphyr::from_str(text).map_err(|_| refused("Values are neither JSON nor YAML"))?;
    let schema = serde_json::from_str(addon.schema).unwrap_or_default();
    let found = complaints(&schema, &value);
    if found.is_empty() {
        return Ok(());
    }
    Err(refused(&format!("Json schema validation failed with error: [{}]", found.join(", "))))
}

fn known(name: &str) -> AwsResult<&'static Addon> {
    addon_catalogue::find(name).ok_or_else(|| invalid("Addon specified is not supported"))
}

impl Region {
    /// CreateAddon.
    ///
    /// # Errors
    /// EKS refuses the call; nothing is created then.
    pub fn create_addon(
        &mut self,
        cluster: &str,
        name: &str,
        new: &NewAddon,
        tags: &Tags,
        token: Option<&str>,
        principals: &Principals,
    ) -> AwsResult<ClusterAddon> {
        const ACTION: &str = "CreateAddon";
        let NewAddon { version, settings, pod_identities, conflicts } = new;
        let request = &(name, new, tags);
        let of = self.cluster_to_change(cluster)?.clone();
        if let Some(made) = self.eks.tokens.made_before(ACTION, cluster, token, request)?
            && let Some(addon) = of.addons.get(name).filter(|it| it.arn == made)
        {
            return Ok(addon.clone());
        }
        let info = known(name)?;
        if of.addons.contains_key(name) {
            return Err(in_use("Addon already exists."));
        }
        if *conflicts == ResolveConflicts::Preserve {
            return Err(invalid(
                "Resolve conflicts option preserve is not supported for operation CreateAddon",
            ));
        }
        let version = version_of(info, version.as_deref(), of.version)?;
        self.check_settings(info, settings, principals)?;
        check_tags(tags)?;
        let uuid = self.eks.chance.uuid();
        let arn = format!("arn:aws:eks:{}:{}:addon/{cluster}/{name}/{uuid}", self.name, self.account);
        let pods = pod_identities.clone().unwrap_or_default();
        let pod_identities = self.bind_addon(cluster, &arn, info.namespace, &pods, principals)?;
        let issue = self.creation_issue(&of, name, *conflicts);
        let addon = ClusterAddon {
            name: name.to_owned(),
            arn: arn.clone(),
            spec: AddonSpec { version, settings: settings.clone(), pod_identities },
            phase: if issue.is_some() { AddonPhase::CreateFailed } else { AddonPhase::Created },
            created: self.now,
            modified: self.now,
            issues: issue.into_iter().collect(),
            tags: tags.clone(),
        };
        let of = self.cluster_to_change(cluster)?;
        if addon.phase == AddonPhase::Created {
            of.unmanaged.remove(name);
        }
        of.addons.insert(name.to_owned(), addon.clone());
        self.eks.tokens.remember(ACTION, cluster, token, request, &arn);
        Ok(addon)
    }

    /// Why the creation of an add-on will fail.
    fn creation_issue(
        &mut self,
        cluster: &Cluster,
        name: &str,
        conflicts: ResolveConflicts,
    ) -> Option<Issue> {
        if let Some(issue) = self.eks_strikes(MishapOf::AddonCreation, &cluster.name, Some(name)) {
            return Some(issue);
        }
        (conflicts == ResolveConflicts::None && cluster.unmanaged.contains(name)).then(|| Issue {
            code: "ConfigurationConflict".to_owned(),
            message: "Conflicts found when trying to apply. Will not continue due to resolve conflicts mode."
                .to_owned(),
            resources: Vec::new(),
        })
    }

    fn check_settings(
        &self,
        info: &Addon,
        settings: &AddonSettings,
        principals: &Principals,
    ) -> AwsResult<()> {
        check_values(info, settings.configuration.as_deref())?;
        let Some(arn) = &settings.service_account_role else { return Ok(()) };
        match self.known_role(arn, principals) {
            Some(_) => Ok(()),
            None => Err(invalid(format!("The role {arn} does not exist."))),
        }
    }

    /// UpdateAddon. What the request leaves out stays, except the role: without one the add-on uses that of the node. Empty
    /// configuration is none.
    ///
    /// # Errors
    /// EKS's refusals; nothing begins then.
    pub fn update_addon(
        &mut self,
        cluster: &str,
        name: &str,
        request: &NewAddon,
        token: Option<&str>,
        principals: &Principals,
    ) -> AwsResult<Update> {
        const ACTION: &str = "UpdateAddon";
        let NewAddon { version, settings, pod_identities, conflicts } = request;
        if let Some(id) = self.eks.tokens.made_before(ACTION, cluster, token, request)? {
            return self.update_seen(cluster, &id, Some(name)).cloned();
        }
        let of = self.cluster_to_change(cluster)?.clone();
        let addon = of.addons.get(name).ok_or_else(|| no_addon(name))?;
        let status = self.addon_status(&of, addon).0;
        if status.is_moving() {
            let status: &str = status.into();
            return Err(in_use(format!(
                "Addon {name} cannot be updated as it is currently in {status} state"
            )));
        }
        let info = known(name)?;
        let mut spec = addon.spec.clone();
        if let Some(version) = version {
            spec.version = version_of(info, Some(version), of.version)?;
        }
        self.check_settings(info, settings, principals)?;
        spec.settings = spec.settings.updated(settings.clone());
        spec.settings.configuration = spec.settings.configuration.filter(|values| !values.is_empty());
        if let Some(pods) = pod_identities {
            spec.pod_identities = self.bind_addon(cluster, &addon.arn, info.namespace, pods, principals)?;
        }
        let conflicts: &str = (*conflicts).into();
        let params = vec![("AddonVersion", spec.version.clone()), ("ResolveConflicts", conflicts.to_owned())];
        let update =
            self.new_update(UpdateType::AddonUpdate, params, Change::Addon(name.to_owned(), Box::new(spec)));
        self.eks_later(self.settings.eks.addon, EksStep::UpdateOver(of.reference(), update.id.clone()));
        let of = self.cluster_to_change(cluster)?;
        of.updates.push(update.clone());
        if let Some(addon) = of.addons.get_mut(name) {
            addon.phase = AddonPhase::Updating;
        }
        self.eks.tokens.remember(ACTION, cluster, token, request, &update.id);
        Ok(update)
    }

    /// An update of an add-on is over.
    pub(super) fn addon_update_over(&mut self, cluster: &str, name: &str, issue: Option<&Issue>) {
        let now = self.now;
        let Some(cluster) = self.eks.clusters.get_mut(&cluster.to_owned()) else { return };
        let Some(addon) = cluster.addons.get_mut(name).filter(|it| it.phase == AddonPhase::Updating) else {
            return;
        };
        addon.phase = if issue.is_some() { AddonPhase::UpdateFailed } else { AddonPhase::Created };
        addon.issues = issue.into_iter().cloned().collect();
        addon.modified = now;
    }

    /// DeleteAddon. With `preserve` its objects stay in the cluster, and EKS no longer manages them.
    ///
    /// # Errors
    /// There is none.
    pub fn delete_addon(&mut self, cluster: &str, name: &str, preserve: bool) -> AwsResult<ClusterAddon> {
        let of = self.cluster_to_change(cluster)?;
        let reference = of.reference();
        let addon = of.addons.get_mut(name).ok_or_else(|| no_addon(name))?;
        let first = addon.phase != AddonPhase::Deleting;
        addon.phase = AddonPhase::Deleting;
        let deleted = addon.clone();
        if preserve {
            of.unmanaged.insert(name.to_owned());
        }
        if first {
            self.eks_later(self.settings.eks.addon, EksStep::AddonDeleted(reference, name.to_owned()));
        }
        Ok(deleted)
    }

    /// An add-on is gone, and the pod identity associations that belong to it.
    pub(super) fn addon_deleted(&mut self, cluster: &str, name: &str) {
        let Some(cluster) = self.eks.clusters.get_mut(&cluster.to_owned()) else { return };
        if let Some(addon) = cluster.addons.remove(name) {
            cluster.pod_identities.retain(|_, it| it.owner.as_ref() != Some(&addon.arn));
        }
    }

    /// An add-on with its status and what is wrong with it.
    ///
    /// # Errors
    /// There is none.
    pub fn addon_seen(
        &self,
        cluster: &str,
        name: &str,
    ) -> AwsResult<(&ClusterAddon, AddonStatus, Vec<Issue>)> {
        let cluster = self.cluster_seen(cluster)?;
        let addon = cluster.addons.get(name).ok_or_else(|| no_addon(name))?;
        let (status, issues) = self.addon_status(cluster, addon);
        Ok((addon, status, issues))
    }

    /// The status of an add-on, and what is wrong with it.
    pub fn addon_status(&self, cluster: &Cluster, addon: &ClusterAddon) -> (AddonStatus, Vec<Issue>) {
        let issues = || addon.issues.clone();
        let creating = self.is_younger(addon.created, self.settings.eks.addon);
        match addon.phase {
            AddonPhase::Deleting => (AddonStatus::Deleting, Vec::new()),
            AddonPhase::Updating => (AddonStatus::Updating, Vec::new()),
            AddonPhase::Created | AddonPhase::CreateFailed if creating => (AddonStatus::Creating, Vec::new()),
            AddonPhase::CreateFailed => (AddonStatus::CreateFailed, issues()),
            AddonPhase::UpdateFailed => (AddonStatus::UpdateFailed, issues()),
            AddonPhase::Created if !addon.issues.is_empty() => (AddonStatus::Degraded, issues()),
            AddonPhase::Created => self.working(cluster, addon),
        }
    }

    /// Whether an add-on works that nothing is wrong with: some need nodes.
    fn working(&self, cluster: &Cluster, addon: &ClusterAddon) -> (AddonStatus, Vec<Issue>) {
        let needs_nodes = addon_catalogue::find(&addon.name).is_some_and(|info| info.needs_nodes);
        if !needs_nodes || self.has_nodes(&cluster.name) {
            return (AddonStatus::Active, Vec::new());
        }
        let issue = Issue {
            code: "InsufficientNumberOfReplicas".to_owned(),
            message: "The add-on is unhealthy because it doesn't have the desired number of replicas."
                .to_owned(),
            resources: Vec::new(),
        };
        let patient = self.is_younger(addon.created, self.settings.eks.addon_patience);
        (if patient { AddonStatus::Creating } else { AddonStatus::Degraded }, vec![issue])
    }

    /// Whether an instance runs that is tagged as a node of a cluster, or nodes are assumed.
    fn has_nodes(&self, cluster: &str) -> bool {
        if self.settings.eks.nodes == Nodes::Assumed {
            return true;
        }
        let tag = format!("kubernetes.io/cluster/{cluster}");
        self.instances().any(|it| it.state == InstanceState::Running && it.tags.contains_key(&tag))
    }
}
