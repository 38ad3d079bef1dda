//! Add-ons.

use super::custom_networking;
use foo_api::cluster::NetworkStatus;
use foo_api::control_plane::{Eks, eks as api};
use foo_eks::desired::{AddonVersion, DesiredAddon};
use foo_model::eks::{AddonSettings, ResolveConflicts};
use serde_json::Value;
use std::collections::BTreeMap;

/// The version that EKS installs by default.
const LATEST: &str = "Latest";

/// The add-ons of the spec, in a cluster with this network, once that is ready.
pub(super) fn addons(
    eks: &Eks,
    network: Option<&NetworkStatus>,
    region: &str,
) -> BTreeMap<String, DesiredAddon> {
    eks.addons.iter().map(|it| (it.name.clone(), addon(it, network, region))).collect()
}

fn addon(it: &api::Addon, network: Option<&NetworkStatus>, region: &str) -> DesiredAddon {
    let mut configuration = it.configuration_values.clone().unwrap_or_default();
    let added = it.custom_networking.then(|| custom_networking::add(&mut configuration, network, region));
    let awaits = added.and_then(Result::err);
    let of_account = |it: &api::AddonPodIdentity| (it.service_account.clone(), it.role_arn.clone());
    DesiredAddon {
        version: match it.version.as_str() {
            LATEST => AddonVersion::Latest,
            version => AddonVersion::Exactly(version.to_owned()),
        },
        settings: AddonSettings {
            configuration: (!configuration.is_empty()).then(|| Value::Object(configuration).to_string()),
            service_account_role: it.service_account_role_arn.clone(),
        },
        pod_identities: it.pod_identities.as_ref().map(|all| all.iter().map(of_account).collect()),
        // The planner creates with OVERWRITE what is updated with PRESERVE.
        conflicts: match it.resolve_conflicts {
            Some(api::ResolveConflicts::None) => ResolveConflicts::None,
            Some(api::ResolveConflicts::Overwrite) => ResolveConflicts::Overwrite,
            Some(api::ResolveConflicts::Preserve) | None => ResolveConflicts::Preserve,
        },
        preserve: it.preserve,
        awaits,
    }
}
