//! Requests in JSON, read into the model's types (EKS API Reference). A field that is not simulated is refused, not ignored.

use crate::core::eks::cluster::Cluster;
use crate::core::eks::versions::not_offered;
use crate::core::error::{AwsError, AwsResult};
use crate::core::rules::eks::PodSession;
use foo_model::eks::{
    AccessPolicy, AccessScope, AuthenticationMode, ConfigUpdate, EndpointAccess, EntryKind,
    IdentityProviderSettings, IpFamily, LogType, Minor, NewCluster, NewEntry, NewIdentityProvider,
    NewPodIdentity, Placement, ScalingTier, SupportType,
};
use foo_model::network::Tags;
use foo_model::{SecurityGroupId, SubnetId};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

macro_rules! request {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields, default)]
        pub(crate) struct $name { $(pub(crate) $field: $type),* }
    };
}

pub(super) use request;

request!(VpcConfig {
    subnet_ids: Option<BTreeSet<SubnetId>>,
    security_group_ids: Option<BTreeSet<SecurityGroupId>>,
    endpoint_public_access: Option<bool>,
    endpoint_private_access: Option<bool>,
    public_access_cidrs: Option<BTreeSet<String>>,
});
request!(NetworkConfig { service_ipv4_cidr: Option<String>, ip_family: Option<IpFamily> });
request!(LogSetup { types: Vec<LogType>, enabled: Option<bool> });
request!(Logging { cluster_logging: Vec<LogSetup> });
request!(
    /// The first field only at creation.
    AccessConfig {
        bootstrap_cluster_creator_admin_permissions: Option<bool>,
        authentication_mode: Option<AuthenticationMode>,
    }
);
request!(UpgradePolicy { support_type: Option<SupportType> });
request!(ZonalShift { enabled: Option<bool> });
request!(ControlPlaneScaling { tier: Option<ScalingTier> });
request!(KeyProvider { key_arn: Option<String> });
request!(Encryption { resources: Vec<String>, provider: KeyProvider });
request!(CreateCluster {
    name: String,
    version: Option<String>,
    role_arn: String,
    resources_vpc_config: VpcConfig,
    kubernetes_network_config: NetworkConfig,
    logging: Logging,
    client_request_token: Option<String>,
    tags: Tags,
    encryption_config: Vec<Encryption>,
    access_config: AccessConfig,
    bootstrap_self_managed_addons: Option<bool>,
    upgrade_policy: UpgradePolicy,
    zonal_shift_config: ZonalShift,
    deletion_protection: Option<bool>,
    control_plane_scaling_config: ControlPlaneScaling,
});
request!(UpdateConfig {
    resources_vpc_config: Option<VpcConfig>,
    logging: Option<Logging>,
    access_config: Option<AccessConfig>,
    upgrade_policy: Option<UpgradePolicy>,
    zonal_shift_config: Option<ZonalShift>,
    deletion_protection: Option<bool>,
    control_plane_scaling_config: Option<ControlPlaneScaling>,
    client_request_token: Option<String>,
});
request!(UpdateVersion { version: String, force: Option<bool>, client_request_token: Option<String> });
request!(Encrypt { encryption_config: Vec<Encryption>, client_request_token: Option<String> });
request!(CreateEntry {
    principal_arn: String,
    kubernetes_groups: Option<BTreeSet<String>>,
    tags: Tags,
    client_request_token: Option<String>,
    username: Option<String>,
    r#type: Option<EntryKind>,
});
request!(UpdateEntry {
    kubernetes_groups: Option<BTreeSet<String>>,
    client_request_token: Option<String>,
    username: Option<String>,
});
request!(Scope { r#type: String, namespaces: BTreeSet<String> });
request!(Associate { policy_arn: String, access_scope: Option<Scope> });
request!(CreatePodIdentity {
    namespace: String,
    service_account: String,
    role_arn: String,
    client_request_token: Option<String>,
    tags: Tags,
    disable_session_tags: Option<bool>,
    target_role_arn: Option<String>,
});
request!(UpdatePodIdentity {
    role_arn: Option<String>,
    client_request_token: Option<String>,
    disable_session_tags: Option<bool>,
    target_role_arn: Option<String>,
});

request!(
    /// The name of an identity provider configuration, with its type.
    NamedProvider { r#type: String, name: String }
);
request!(Oidc {
    identity_provider_config_name: String,
    issuer_url: String,
    client_id: String,
    username_claim: Option<String>,
    username_prefix: Option<String>,
    groups_claim: Option<String>,
    groups_prefix: Option<String>,
    required_claims: BTreeMap<String, String>,
});
request!(AssociateProvider { oidc: Option<Oidc>, tags: Tags, client_request_token: Option<String> });
request!(DescribeProvider { identity_provider_config: NamedProvider });
request!(DisassociateProvider {
    identity_provider_config: NamedProvider,
    client_request_token: Option<String>,
});

pub(super) fn invalid(message: &str) -> AwsError {
    AwsError::new("InvalidParameterException", message)
}

fn nothing() -> AwsError {
    invalid("Invalid type for cluster update.")
}

/// A version as EKS names those that it offers.
pub(crate) fn minor(text: &str) -> AwsResult<Minor> {
    text.parse().map_err(|_| not_offered())
}

impl Logging {
    /// The logs that are on after a request.
    fn after(&self, before: &BTreeSet<LogType>) -> BTreeSet<LogType> {
        let mut logs = before.clone();
        for LogSetup { types, enabled } in &self.cluster_logging {
            match enabled {
                Some(true) => logs.extend(types),
                Some(false) | None => logs.retain(|log| !types.contains(log)),
            }
        }
        logs
    }
}

/// The key of an encryption config; at most one, for Secrets.
fn key_of(configs: Vec<Encryption>) -> AwsResult<Option<String>> {
    let mut configs = configs.into_iter();
    let Some(Encryption { resources, provider }) = configs.next() else { return Ok(None) };
    if configs.next().is_some() {
        return Err(invalid("Only one encryptionConfig can be specified."));
    }
    if resources != ["secrets"] {
        return Err(invalid("The resources of an encryptionConfig must be [secrets]."));
    }
    Ok(Some(provider.key_arn.unwrap_or_default()))
}

impl CreateCluster {
    pub(crate) fn cluster(self) -> AwsResult<NewCluster> {
        let VpcConfig {
            subnet_ids,
            security_group_ids,
            endpoint_public_access,
            endpoint_private_access,
            public_access_cidrs,
        } = self.resources_vpc_config;
        Ok(NewCluster {
            version: self.version.as_deref().map(minor).transpose()?,
            role_arn: self.role_arn,
            placement: Placement {
                subnets: subnet_ids.unwrap_or_default(),
                security_groups: security_group_ids.unwrap_or_default(),
            },
            access: EndpointAccess {
                public: endpoint_public_access.unwrap_or(true),
                private: endpoint_private_access.unwrap_or(false),
                public_cidrs: public_access_cidrs.unwrap_or_default(),
            },
            service_ipv4: self.kubernetes_network_config.service_ipv4_cidr,
            ip_family: self.kubernetes_network_config.ip_family.unwrap_or(IpFamily::Ipv4),
            authentication_mode: self
                .access_config
                .authentication_mode
                .unwrap_or(AuthenticationMode::ConfigMap),
            creator_is_admin: self.access_config.bootstrap_cluster_creator_admin_permissions.unwrap_or(true),
            self_managed_addons: self.bootstrap_self_managed_addons.unwrap_or(true),
            logging: self.logging.after(&BTreeSet::new()),
            encryption_key: key_of(self.encryption_config)?,
            upgrade_policy: self.upgrade_policy.support_type,
            zonal_shift: self.zonal_shift_config.enabled,
            deletion_protection: self.deletion_protection.unwrap_or(false),
            scaling_tier: self.control_plane_scaling_config.tier,
            tags: self.tags,
        })
    }
}

impl UpdateConfig {
    /// The one type of update that a request is, of a cluster that is as it is now.
    pub(crate) fn update(self, present: &Cluster) -> AwsResult<ConfigUpdate> {
        let Self {
            resources_vpc_config,
            logging,
            access_config,
            upgrade_policy,
            zonal_shift_config,
            deletion_protection,
            control_plane_scaling_config,
            client_request_token: _,
        } = self;
        let of_vpc = resources_vpc_config.map(|vpc| vpc.updates(present)).unwrap_or_default();
        let others = [
            logging.map(|logging| Ok(ConfigUpdate::Logging(logging.after(&present.logs)))),
            access_config
                .map(|it| it.authentication_mode.map(ConfigUpdate::AuthenticationMode).ok_or_else(nothing)),
            upgrade_policy.map(|it| it.support_type.map(ConfigUpdate::UpgradePolicy).ok_or_else(nothing)),
            zonal_shift_config.map(|it| it.enabled.map(ConfigUpdate::ZonalShift).ok_or_else(nothing)),
            deletion_protection.map(|enabled| Ok(ConfigUpdate::DeletionProtection(enabled))),
            control_plane_scaling_config.map(|it| it.tier.map(ConfigUpdate::ScalingTier).ok_or_else(nothing)),
        ];
        let mut all = of_vpc.into_iter().map(Ok).chain(others.into_iter().flatten());
        match (all.next(), all.next()) {
            (Some(update), None) => update,
            (None, _) => Err(nothing()),
            (Some(_), Some(_)) => Err(invalid("Only one type of update can be allowed.")),
        }
    }
}

impl VpcConfig {
    fn updates(self, present: &Cluster) -> Vec<ConfigUpdate> {
        let Self {
            subnet_ids: subnets,
            security_group_ids: security_groups,
            endpoint_public_access: public,
            endpoint_private_access: private,
            public_access_cidrs: cidrs,
        } = self;
        let mut updates = Vec::new();
        if subnets.is_some() || security_groups.is_some() {
            updates.push(ConfigUpdate::Placement { subnets, security_groups });
        }
        if public.is_some() || private.is_some() || cidrs.is_some() {
            updates.push(ConfigUpdate::Access(EndpointAccess {
                public: public.unwrap_or(present.endpoint.public),
                private: private.unwrap_or(present.endpoint.private),
                public_cidrs: cidrs.unwrap_or_default(),
            }));
        }
        updates
    }
}

impl Encrypt {
    pub(crate) fn key(self) -> AwsResult<String> {
        key_of(self.encryption_config)?.ok_or_else(|| invalid("encryptionConfig cannot be empty."))
    }
}

impl CreateEntry {
    pub(crate) fn entry(self) -> NewEntry {
        NewEntry {
            kind: self.r#type.unwrap_or_default(),
            username: self.username,
            groups: self.kubernetes_groups.unwrap_or_default(),
            tags: self.tags,
        }
    }
}

impl Associate {
    pub(crate) fn policy(self) -> AwsResult<AccessPolicy> {
        let Scope { r#type, namespaces } =
            self.access_scope.ok_or_else(|| invalid("accessScope cannot be empty."))?;
        let scope = match r#type.as_str() {
            "cluster" if namespaces.is_empty() => AccessScope::Cluster,
            "cluster" => return Err(invalid("Namespaces are given for the type namespace only.")),
            "namespace" => AccessScope::Namespaces(namespaces),
            other => return Err(invalid(&format!("The type of an accessScope cannot be {other}."))),
        };
        Ok(AccessPolicy { arn: self.policy_arn, scope })
    }
}

impl CreatePodIdentity {
    pub(crate) fn parts(self) -> (NewPodIdentity, PodSession) {
        let new = NewPodIdentity {
            namespace: self.namespace,
            service_account: self.service_account,
            role_arn: self.role_arn,
            tags: self.tags,
        };
        let (disable_session_tags, target_role_arn) = (self.disable_session_tags, self.target_role_arn);
        (new, PodSession { disable_session_tags, target_role_arn })
    }
}

impl NamedProvider {
    /// The name, of the one type that there is.
    pub(crate) fn oidc(self) -> AwsResult<String> {
        if self.r#type == "oidc" {
            return Ok(self.name);
        }
        Err(invalid("The type of an identity provider config must be oidc."))
    }
}

impl AssociateProvider {
    pub(crate) fn provider(self) -> AwsResult<NewIdentityProvider> {
        let Oidc {
            identity_provider_config_name: name,
            issuer_url,
            client_id,
            username_claim,
            username_prefix,
            groups_claim,
            groups_prefix,
            required_claims,
        } = self.oidc.ok_or_else(|| invalid("oidc cannot be empty."))?;
        let settings = IdentityProviderSettings {
            issuer_url,
            client_id,
            username_claim,
            username_prefix,
            groups_claim,
            groups_prefix,
            required_claims,
        };
        Ok(NewIdentityProvider { name, settings, tags: self.tags })
    }
}

impl UpdatePodIdentity {
    pub(crate) fn session(&self) -> PodSession {
        PodSession {
            disable_session_tags: self.disable_session_tags,
            target_role_arn: self.target_role_arn.clone(),
        }
    }
}
