//! The fields of what an EKS cluster is to be, as a FooPlan shows what differs.

use crate::plans::fields::{self, Fields};
use foo_api::maintenance::MaintenanceWindow;
use foo_eks::Desired;
use foo_eks::desired::{AddonVersion, DesiredAddon};
use foo_model::eks::AddonSettings;
use serde_json::{Map, Value, json};

/// What users decide. What is known besides the spec is the same in both states, and when windows are open depends on the time: those of
/// the spec are compared.
pub(super) fn fields(desired: &Desired, windows: &[MaintenanceWindow]) -> Fields {
    let Desired {
        name: _,
        id: _,
        uid: _,
        begun_before: _,
        cluster: _,
        installation: _,
        adopt_from: _,
        adoption,
        neighbours: _,
        left_open: _,
        partition: _,
        region: _,
        account: _,
        own_principal: _,
        own_principal_is_guessed: _,
        version,
        force_upgrade,
        oldest_kubelet: _,
        role_arn,
        placement,
        subnet_choice: _,
        known_subnets: _,
        access,
        service_ipv4,
        ip_family,
        authentication_mode,
        logging,
        encryption_key,
        upgrade_policy,
        zonal_shift,
        scaling_tier,
        deletion_protection,
        may_unprotect: _,
        entries,
        node_profiles: _,
        nodes_settled: _,
        addons,
        maintenance: _,
        pod_identities,
        oidc_provider,
        identity_provider,
        tags,
        deletion,
        being_deleted: _,
        deletion_confirmed: _,
        paused,
    } = desired;
    let addons: Map<String, Value> = addons.iter().map(|(name, it)| (name.clone(), addon(it))).collect();
    let pod_identities: Map<String, Value> = pod_identities
        .iter()
        .map(|((namespace, account), role)| (format!("{namespace}/{account}"), json!(role)))
        .collect();
    let windows = Some(windows).filter(|all| !all.is_empty());
    fields::fields(&json!({
        "adoption": adoption,
        "version": version,
        "force_upgrade": force_upgrade,
        "role_arn": role_arn,
        "placement": placement,
        "access": access,
        "service_ipv4": service_ipv4,
        "ip_family": ip_family,
        "authentication_mode": authentication_mode,
        "logging": logging,
        "encryption_key": encryption_key,
        "upgrade_policy": upgrade_policy,
        "zonal_shift": zonal_shift,
        "scaling_tier": scaling_tier,
        "deletion_protection": deletion_protection,
        "entries": entries,
        "addons": addons,
        "maintenance_windows": windows,
        "pod_identities": pod_identities,
        "oidc_provider": oidc_provider,
        "identity_provider": identity_provider,
        "tags": tags,
        "deletion": deletion,
        "paused": paused,
    }))
}

fn addon(wanted: &DesiredAddon) -> Value {
    let DesiredAddon { version, settings, pod_identities, conflicts, preserve, awaits } = wanted;
    let AddonSettings { configuration, service_account_role } = settings;
    let version = match version {
        AddonVersion::Latest => "the default of EKS",
        AddonVersion::Exactly(version) => version,
    };
    json!({
        "version": version,
        "configuration": configuration,
        "service_account_role": service_account_role,
        "pod_identities": pod_identities,
        "conflicts": conflicts,
        "preserve": preserve,
        "awaits": awaits,
    })
}
