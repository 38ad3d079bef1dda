//! Add-ons.

use super::requests::{invalid, minor, request};
use super::{page, render};
use crate::core::eks::cluster::{AddonSpec, ClusterAddon};
use crate::core::eks::{ADDONS, AddonInfo, Release};
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::request::call::Call;
use foo_model::eks::{AddonSettings, AddonStatus, Issue, Minor, NewAddon, ResolveConflicts};
use foo_model::network::Tags;
use serde::Deserialize;
use serde_json::{Value, json};

request!(AddonPodIdentity { service_account: String, role_arn: String });
request!(
    /// CreateAddon and UpdateAddon, which has the name in its path and no tags.
    AddonRequest {
        addon_name: Option<String>,
        addon_version: Option<String>,
        service_account_role_arn: Option<String>,
        resolve_conflicts: Option<ResolveConflicts>,
        client_request_token: Option<String>,
        tags: Option<Tags>,
        configuration_values: Option<String>,
        pod_identity_associations: Option<Vec<AddonPodIdentity>>,
    }
);

impl AddonRequest {
    /// Name, add-on and tags of CreateAddon.
    pub(crate) fn creation(self) -> (String, NewAddon, Tags) {
        let of_account = |it: AddonPodIdentity| (it.service_account, it.role_arn);
        let pods = self.pod_identity_associations;
        let new = NewAddon {
            version: self.addon_version,
            settings: AddonSettings {
                configuration: self.configuration_values,
                service_account_role: self.service_account_role_arn,
            },
            pod_identities: pods.map(|all| all.into_iter().map(of_account).collect()),
            conflicts: self.resolve_conflicts.unwrap_or_default(),
        };
        (self.addon_name.unwrap_or_default(), new, self.tags.unwrap_or_default())
    }

    pub(crate) fn update(self) -> AwsResult<NewAddon> {
        if self.addon_name.is_some() || self.tags.is_some() {
            return Err(invalid("UpdateAddon has neither addonName nor tags"));
        }
        Ok(self.creation().1)
    }
}

/// An add-on, as it is within a response.
fn render_one(cluster: &str, addon: &ClusterAddon, status: AddonStatus, issues: &[Issue]) -> Value {
    let status: &'static str = status.into();
    let mut response = json!({
        "addonName": addon.name,
        "clusterName": cluster,
        "status": status,
        "addonVersion": addon.spec.version,
        "health": { "issues": issues },
        "addonArn": addon.arn,
        "createdAt": render::time(addon.created),
        "modifiedAt": render::time(addon.modified),
        "tags": addon.tags,
        "publisher": "eks",
        "owner": "aws",
    });
    let AddonSpec { version: _, settings, pod_identities } = &addon.spec;
    let AddonSettings { configuration, service_account_role } = settings;
    let optional = [
        ("serviceAccountRoleArn", service_account_role.as_ref().map(|role| json!(role))),
        ("configurationValues", configuration.as_ref().map(|values| json!(values))),
        ("podIdentityAssociations", (!pod_identities.is_empty()).then(|| json!(pod_identities))),
    ];
    if let Some(response) = response.as_object_mut() {
        let there = optional.into_iter().filter_map(|(field, value)| value.map(|it| (field.to_owned(), it)));
        response.extend(there);
    }
    json!({ "addon": response })
}

pub(super) fn create(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let cluster = call.path("name");
    let request: AddonRequest = call.body()?;
    let token = request.client_request_token.clone();
    let (name, new, tags) = request.creation();
    let addon = region.create_addon(cluster, &name, &new, &tags, token.as_deref(), &call.principals)?;
    Ok(render_one(cluster, &addon, AddonStatus::Creating, &[]))
}

pub(super) fn list(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let names: Vec<String> = region.cluster_seen(call.path("name"))?.addons.keys().cloned().collect();
    page::of_names(call, "addons", names)
}

pub(super) fn describe(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let cluster = call.path("name");
    let (addon, status, issues) = region.addon_seen(cluster, call.path("addonName"))?;
    Ok(render_one(cluster, addon, status, &issues))
}

pub(super) fn update(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let (cluster, name) = (call.path("name"), call.path("addonName"));
    let request: AddonRequest = call.body()?;
    let token = request.client_request_token.clone();
    let new = request.update()?;
    region
        .update_addon(cluster, name, &new, token.as_deref(), &call.principals)
        .map(|update| render::update(&update))
}

pub(super) fn delete(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let (cluster, preserve) = (call.path("name"), call.query("preserve") == Some("true"));
    let addon = region.delete_addon(cluster, call.path("addonName"), preserve)?;
    Ok(render_one(cluster, &addon, AddonStatus::Deleting, &[]))
}

pub(super) fn versions(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let kubernetes = call.query("kubernetesVersion").map(minor).transpose()?;
    let named = call.query("addonName");
    if let Some(name) = named.filter(|name| !ADDONS.iter().any(|it| it.name == *name)) {
        return Err(AwsError::new(
            "InvalidParameterException",
            format!("Addon {name} specified is not supported"),
        ));
    }
    let any = |field: &str, value: &str| {
        let wanted = call.queries(field);
        wanted.is_empty() || wanted.iter().any(|it| it == value)
    };
    let minors: Vec<Minor> = region
        .settings
        .eks
        .versions
        .iter()
        .map(|offer| offer.version)
        .filter(|version| kubernetes.is_none_or(|wanted| wanted == *version))
        .collect();
    let found = ADDONS.iter().filter(|it| named.is_none_or(|name| name == it.name));
    let found = found.filter(|it| any("types", it.kind) && any("publishers", "eks") && any("owners", "aws"));
    page::of(
        call,
        "addons",
        found,
        |it| it.name.to_owned(),
        |addon| {
            let shown = |it: &&Release| minors.iter().any(|minor| it.fits(*minor));
            let releases = addon.releases.iter().rev().filter(shown);
            let releases: Vec<Value> = releases.map(|it| release(addon, it, &minors)).collect();
            json!({
                "addonName": addon.name,
                "type": addon.kind,
                "addonVersions": releases,
                "publisher": "eks",
                "owner": "aws",
                "defaultNamespace": addon.namespace,
            })
        },
    )
}

fn release(addon: &AddonInfo, release: &Release, minors: &[Minor]) -> Value {
    let compatibilities: Vec<Value> = minors
        .iter()
        .filter(|minor| release.fits(**minor))
        .map(|minor| {
            let default = addon.default_for(*minor).is_some_and(|it| it.version == release.version);
            json!({ "clusterVersion": minor, "platformVersions": ["*"], "defaultVersion": default })
        })
        .collect();
    json!({
        "addonVersion": release.version,
        "architecture": ["amd64", "arm64"],
        "computeTypes": ["ec2", "hybrid"],
        "compatibilities": compatibilities,
        "requiresConfiguration": false,
        "requiresIamPermissions": addon.rights.is_some(),
    })
}

pub(super) fn configuration(_: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let (name, version) =
        (call.query("addonName").unwrap_or_default(), call.query("addonVersion").unwrap_or_default());
    let addon = ADDONS.iter().find(|it| it.name == name);
    let Some((addon, release)) = addon.and_then(|it| it.release(version).map(|release| (it, release))) else {
        return Err(AwsError::new("InvalidParameterException", "Addon version specified is not supported"));
    };
    let pods: Vec<Value> = addon
        .rights
        .iter()
        .map(|(account, policies)| json!({ "serviceAccount": account, "recommendedManagedPolicies": policies }))
        .collect();
    Ok(json!({
        "addonName": addon.name,
        "addonVersion": release.version,
        "configurationSchema": addon.schema,
        "podIdentityConfiguration": pods,
    }))
}
