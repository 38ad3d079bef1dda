//! What callers send, as the API has it in JSON (EKS API Reference). A field that is not simulated is refused, not ignored.

use super::cluster::{AuthenticationMode, IpFamily, LogType, SupportType};
use super::identities::{AccessScope, EntryType};
use foo_model::network::Tags;
use serde::{Deserialize, Serialize};

macro_rules! request {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields, default)]
        #[expect(missing_docs, reason = "the names are AWS's own")]
        pub struct $name { $(pub $field: $type),* }
    };
}

request!(
    /// VpcConfigRequest.
    VpcConfig {
        subnet_ids: Option<Vec<String>>,
        security_group_ids: Option<Vec<String>>,
        endpoint_public_access: Option<bool>,
        endpoint_private_access: Option<bool>,
        public_access_cidrs: Option<Vec<String>>,
    }
);
request!(
    /// KubernetesNetworkConfigRequest.
    NetworkConfig { service_ipv4_cidr: Option<String>, ip_family: Option<IpFamily> }
);
request!(
    /// LogSetup.
    LogSetup { types: Vec<LogType>, enabled: Option<bool> }
);
request!(
    /// Logging.
    Logging { cluster_logging: Vec<LogSetup> }
);
request!(
    /// CreateAccessConfigRequest; the first field only at creation.
    AccessConfig {
        bootstrap_cluster_creator_admin_permissions: Option<bool>,
        authentication_mode: Option<AuthenticationMode>,
    }
);
request!(
    /// UpgradePolicyRequest.
    UpgradePolicy { support_type: Option<SupportType> }
);
request!(
    /// ZonalShiftConfigRequest.
    ZonalShift { enabled: Option<bool> }
);
request!(
    /// Provider.
    KeyProvider { key_arn: Option<String> }
);
request!(
    /// EncryptionConfig.
    Encryption { resources: Vec<String>, provider: KeyProvider }
);
request!(
    /// CreateCluster.
    NewCluster {
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
    }
);
request!(
    /// UpdateClusterConfig.
    ConfigUpdate {
        resources_vpc_config: Option<VpcConfig>,
        logging: Option<Logging>,
        access_config: Option<AccessConfig>,
        upgrade_policy: Option<UpgradePolicy>,
        zonal_shift_config: Option<ZonalShift>,
        deletion_protection: Option<bool>,
        client_request_token: Option<String>,
    }
);
request!(
    /// UpdateClusterVersion.
    VersionUpdate { version: String, force: Option<bool>, client_request_token: Option<String> }
);
request!(
    /// AssociateEncryptionConfig.
    EncryptionUpdate { encryption_config: Vec<Encryption>, client_request_token: Option<String> }
);
request!(
    /// CreateAccessEntry.
    NewEntry {
        principal_arn: String,
        kubernetes_groups: Option<Vec<String>>,
        tags: Tags,
        client_request_token: Option<String>,
        username: Option<String>,
        r#type: Option<EntryType>,
    }
);
request!(
    /// UpdateAccessEntry.
    EntryUpdate {
        kubernetes_groups: Option<Vec<String>>,
        client_request_token: Option<String>,
        username: Option<String>,
    }
);
request!(
    /// AssociateAccessPolicy.
    NewAssociation { policy_arn: String, access_scope: Option<AccessScope> }
);
request!(
    /// AddonPodIdentityAssociations.
    AddonPodIdentity { service_account: String, role_arn: String }
);
request!(
    /// CreateAddon.
    NewAddon {
        addon_name: String,
        addon_version: Option<String>,
        service_account_role_arn: Option<String>,
        resolve_conflicts: Option<ResolveConflicts>,
        client_request_token: Option<String>,
        tags: Tags,
        configuration_values: Option<String>,
        pod_identity_associations: Option<Vec<AddonPodIdentity>>,
    }
);
request!(
    /// UpdateAddon.
    AddonUpdate {
        addon_version: Option<String>,
        service_account_role_arn: Option<String>,
        resolve_conflicts: Option<ResolveConflicts>,
        client_request_token: Option<String>,
        configuration_values: Option<String>,
        pod_identity_associations: Option<Vec<AddonPodIdentity>>,
    }
);
request!(
    /// CreatePodIdentityAssociation.
    NewPodIdentity {
        namespace: String,
        service_account: String,
        role_arn: String,
        client_request_token: Option<String>,
        tags: Tags,
        disable_session_tags: Option<bool>,
        target_role_arn: Option<String>,
    }
);
request!(
    /// UpdatePodIdentityAssociation.
    PodIdentityUpdate {
        role_arn: Option<String>,
        client_request_token: Option<String>,
        disable_session_tags: Option<bool>,
        target_role_arn: Option<String>,
    }
);
request!(
    /// InsightsFilter.
    InsightsFilter {
        categories: Vec<String>,
        kubernetes_versions: Vec<String>,
        statuses: Vec<String>,
    }
);

/// ResolveConflicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the names are AWS's own")]
pub enum ResolveConflicts {
    Overwrite,
    #[default]
    None,
    Preserve,
}
