//! Calls about the cluster and IAM.

use super::*;
use foo_model::eks::AuthenticationMode::{Api, ApiAndConfigMap, ConfigMap};

const CREATES: Duration = Duration::from_mins(9);
const UPDATES: Duration = Duration::from_mins(4);
const UPGRADES: Duration = Duration::from_mins(12);
const DELETES: Duration = Duration::from_mins(3);
/// How long the cluster still reads ACTIVE after an update was accepted.
const SHOWS: Duration = Duration::from_secs(20);

impl Aws {
    pub(super) fn carry_out(&mut self, change: &Change) -> Answered {
        match change {
            Change::Cluster { cluster, change } => self.cluster_call(cluster, change),
            Change::Tags { change, .. } => {
                let tags = &mut self.known()?.tags;
                match change {
                    TagChange::Tag(new) => tags.extend(new.clone()),
                    TagChange::Untag(keys) => tags.retain(|key, _| !keys.contains(key)),
                }
                Ok(Changed::default())
            }
            Change::Oidc(OidcChange::Create(NewOidcProvider { url, client_ids, tags })) => {
                let url = url.trim_start_matches("https://").to_owned();
                let arn = format!("arn:aws:iam::{ACCOUNT}:oidc-provider/{url}");
                if self.state.providers.contains_key(&arn) {
                    return Err(refusal(Reason::AlreadyExists, "EntityAlreadyExists", "it exists"));
                }
                let provider = OidcProvider {
                    arn: arn.clone(),
                    url,
                    client_ids: client_ids.clone(),
                    tags: tags.clone(),
                };
                self.state.providers.insert(arn.clone(), provider);
                Ok(Changed { id: Some(arn), ..Changed::default() })
            }
            Change::Oidc(OidcChange::Delete { arn }) => self
                .state
                .providers
                .remove(arn)
                .map(|_| Changed::default())
                .ok_or_else(|| not_found("no provider")),
            Change::Addon { name, change, .. } => self.addon_call(name, change),
            Change::Entry { principal, change, .. } => self.entry_call(principal, change),
            Change::PodIdentity { change, .. } => self.identity_call(change),
        }
    }

    fn cluster_call(&mut self, cluster: &str, change: &ClusterChange) -> Answered {
        match change {
            ClusterChange::Create(new) => self.create(cluster, new),
            ClusterChange::UpdateVersion { version, force } => self.version(change, *version, *force),
            ClusterChange::UpdateConfig(update) => {
                self.check_config(update)?;
                let kind = match update {
                    ConfigUpdate::Access(_) => "EndpointAccessUpdate",
                    ConfigUpdate::Placement { .. } => "VpcConfigUpdate",
                    ConfigUpdate::Logging(_) => "LoggingUpdate",
                    ConfigUpdate::AuthenticationMode(_) => "AccessConfigUpdate",
                    ConfigUpdate::UpgradePolicy(_) => "UpgradePolicyUpdate",
                    ConfigUpdate::ZonalShift(_) => "ZonalShiftConfigUpdate",
                    ConfigUpdate::DeletionProtection(_) => "DeletionProtectionUpdate",
                };
                self.begin(change, kind, UPDATES)
            }
            ClusterChange::Encrypt(_) => {
                if self.active()?.encryption_key.is_some() {
                    return Err(invalid("encryption is configured already"));
                }
                self.begin(change, "AssociateEncryptionConfig", UPDATES)
            }
            ClusterChange::Delete => self.delete(),
            ClusterChange::RefreshInsights => {
                self.active()?;
                self.insights_refresh = Some(InsightsRefresh { started: self.dated(), is_over: false });
                self.later(Duration::from_mins(1), Due::InsightsRefreshed);
                Ok(Changed::default())
            }
        }
    }

    fn known(&mut self) -> Result<&mut Cluster, Refusal> {
        self.state.cluster.as_mut().ok_or_else(|| not_found("No cluster found for name"))
    }

    /// A cluster that takes changes.
    pub(super) fn active(&mut self) -> Result<&mut Cluster, Refusal> {
        let cluster = self.known()?;
        match cluster.status {
            ClusterStatus::Active | ClusterStatus::Updating => Ok(cluster),
            _ => Err(refusal(Reason::RequestInvalid, "InvalidRequestException", "Cluster is not ACTIVE")),
        }
    }

    fn create(&mut self, name: &str, new: &NewCluster) -> Answered {
        if self.state.cluster.is_some() {
            return Err(in_use("Cluster already exists with name"));
        }
        if self.roles_known_from > self.now {
            return Err(invalid("Role with arn: cluster, could not be assumed: Error in role params"));
        }
        if new.authentication_mode == ConfigMap && !new.creator_is_admin {
            return Err(invalid("bootstrapClusterCreatorAdminPermissions must be true"));
        }
        if let Some(zone) =
            zones(&new.placement.subnets).iter().find(|it| WITHOUT_CONTROL_PLANES.contains(&it.as_str()))
        {
            let message = format!(
                "Cannot create cluster because {zone}, the targeted availability zone, does not currently have sufficient \
                 capacity to support the cluster. Retry and choose from these availability zones: eu-central-1a, \
                 eu-central-1b, eu-central-1c"
            );
            return Err(refusal(Reason::RequestInvalid, "UnsupportedAvailabilityZoneException", &message));
        }
        let id = self.id("cluster");
        let cluster = Cluster {
            name: name.to_owned(),
            arn: format!("arn:aws:eks:eu-central-1:{ACCOUNT}:cluster/{name}"),
            status: ClusterStatus::Creating,
            version: new.version.unwrap_or(Minor(35)),
            platform_version: Some("eks.1".to_owned()),
            created: Some(self.dated()),
            endpoint: None,
            certificate_authority: None,
            role_arn: new.role_arn.clone(),
            vpc: None,
            placement: new.placement.clone(),
            cluster_security_group: None,
            access: new.access.clone(),
            service_ipv4: Some(new.service_ipv4.clone().unwrap_or_else(|| "10.100.0.0/16".to_owned())),
            service_ipv6: None,
            ip_family: new.ip_family,
            oidc_issuer: Some(format!("https://oidc.eks.eu-central-1.amazonaws.com/id/{id}")),
            authentication_mode: new.authentication_mode,
            logging: new.logging.clone(),
            encryption_key: new.encryption_key.clone(),
            upgrade_policy: new.upgrade_policy.unwrap_or(SupportType::Extended),
            zonal_shift: new.zonal_shift == Some(true),
            deletion_protection: new.deletion_protection,
            auto_mode: false,
            tags: new.tags.clone(),
            health: Vec::new(),
        };
        self.state.cluster = Some(cluster.clone());
        self.later(CREATES, Due::Created);
        Ok(Changed { cluster: Some(Box::new(cluster)), ..Changed::default() })
    }

    fn version(&mut self, change: &ClusterChange, version: Minor, force: bool) -> Answered {
        let current = self.active()?.version;
        if version != current.next() {
            return Err(invalid(&format!(
                "Unsupported Kubernetes minor version update from {current} to {version}"
            )));
        }
        let blocks = |it: &Insight| it.status == InsightStatus::Error;
        if !force && self.insights.iter().any(blocks) {
            return Err(refusal(Reason::RequestInvalid, "InvalidStateException", "insights"));
        }
        self.begin(change, "VersionUpdate", UPGRADES)
    }

    fn check_config(&mut self, update: &ConfigUpdate) -> Result<(), Refusal> {
        let cluster = self.active()?;
        let same = match update {
            ConfigUpdate::Access(it) => cluster.access == *it,
            ConfigUpdate::Placement { subnets, security_groups } => {
                let placement = &cluster.placement;
                subnets.as_ref().is_none_or(|it| placement.subnets == *it)
                    && security_groups.as_ref().is_none_or(|it| placement.security_groups == *it)
            }
            ConfigUpdate::Logging(it) => cluster.logging == *it,
            ConfigUpdate::AuthenticationMode(it) => cluster.authentication_mode == *it,
            ConfigUpdate::UpgradePolicy(it) => cluster.upgrade_policy == *it,
            ConfigUpdate::ZonalShift(it) => cluster.zonal_shift == *it,
            ConfigUpdate::DeletionProtection(it) => cluster.deletion_protection == *it,
        };
        if same {
            return Err(invalid("Cluster is already at the desired configuration"));
        }
        if let ConfigUpdate::Placement { subnets: Some(subnets), .. } = update
            && zones(subnets) != zones(&cluster.placement.subnets)
        {
            return Err(invalid("Provided subnets belong to the wrong AZs."));
        }
        if let ConfigUpdate::AuthenticationMode(mode) = update {
            let step = matches!(
                (cluster.authentication_mode, mode),
                (ConfigMap, ApiAndConfigMap) | (ApiAndConfigMap, Api)
            );
            if !step {
                return Err(invalid("Unsupported authentication mode update"));
            }
        }
        Ok(())
    }

    fn begin(&mut self, change: &ClusterChange, kind: &str, takes: Duration) -> Answered {
        self.active()?;
        if self.state.updates.iter().any(|it| it.status == UpdateStatus::InProgress) {
            return Err(in_use(&format!("Cannot {kind} because cluster currently has update in progress")));
        }
        let update = Update {
            id: self.id("update"),
            kind: kind.to_owned(),
            status: UpdateStatus::InProgress,
            errors: Vec::new(),
            created: Some(self.dated()),
        };
        self.state.updates.push(update.clone());
        self.later(SHOWS, Due::UpdateShows);
        self.later(takes, Due::UpdateOver(update.id.clone(), Box::new(change.clone())));
        Ok(Changed { update: Some(update), ..Changed::default() })
    }

    fn delete(&mut self) -> Answered {
        if self.state.updates.iter().any(|it| it.status == UpdateStatus::InProgress) {
            return Err(in_use("Cluster has an update in progress"));
        }
        let cluster = self.known()?;
        if matches!(cluster.status, ClusterStatus::Creating) {
            return Err(in_use("Cluster is CREATING"));
        }
        if cluster.deletion_protection && cluster.status != ClusterStatus::Failed {
            return Err(refusal(Reason::RequestInvalid, "InvalidRequestException", "deletion protection"));
        }
        if cluster.status != ClusterStatus::Deleting {
            cluster.status = ClusterStatus::Deleting;
            self.later(DELETES, Due::Deleted);
        }
        Ok(Changed::default())
    }

    pub(super) fn later(&mut self, wait: Duration, due: Due) {
        self.due.push((self.now.plus(wait), due));
    }
}
