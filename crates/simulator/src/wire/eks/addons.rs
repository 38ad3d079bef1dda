//! Add-ons.

use super::{page, tell};
use crate::core::eks::cluster::{ClusterAddon, Issue};
use crate::core::eks::versions::Minor;
use crate::core::eks::{ADDONS, AddonInfo, AddonStatus, Release};
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::request::call::Call;
use serde_json::{Value, json};

/// An add-on, as it is within an answer.
fn told(cluster: &str, addon: &ClusterAddon, status: AddonStatus, issues: &[Issue]) -> Value {
    let status: &'static str = status.into();
    let mut answer = json!({
        "addonName": addon.name,
        "clusterName": cluster,
        "status": status,
        "addonVersion": addon.spec.version,
        "health": { "issues": issues.iter().map(tell::issue).collect::<Vec<_>>() },
        "addonArn": addon.arn,
        "createdAt": tell::time(addon.created),
        "modifiedAt": tell::time(addon.modified),
        "tags": addon.tags,
        "publisher": "eks",
        "owner": "aws",
    });
    let optional = [
        ("serviceAccountRoleArn", addon.spec.role.as_ref().map(|role| json!(role))),
        ("configurationValues", addon.spec.values.as_ref().map(|values| json!(values))),
        (
            "podIdentityAssociations",
            (!addon.spec.pod_identities.is_empty()).then(|| json!(addon.spec.pod_identities)),
        ),
    ];
    if let Some(answer) = answer.as_object_mut() {
        let there = optional.into_iter().filter_map(|(field, value)| value.map(|it| (field.to_owned(), it)));
        answer.extend(there);
    }
    json!({ "addon": answer })
}

pub(super) fn create(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let cluster = call.path("name");
    let addon = region.create_addon(cluster, &call.body()?, &call.principals)?;
    Ok(told(cluster, &addon, AddonStatus::Creating, &[]))
}

pub(super) fn list(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let names: Vec<String> = region.cluster_seen(call.path("name"))?.addons.keys().cloned().collect();
    page::of_names(call, "addons", names)
}

pub(super) fn describe(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let cluster = call.path("name");
    let (addon, status, issues) = region.addon_seen(cluster, call.path("addonName"))?;
    Ok(told(cluster, addon, status, &issues))
}

pub(super) fn update(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let (cluster, name) = (call.path("name"), call.path("addonName"));
    region.update_addon(cluster, name, &call.body()?, &call.principals).map(|update| tell::update(&update))
}

pub(super) fn delete(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let (cluster, preserve) = (call.path("name"), call.query("preserve") == Some("true"));
    let addon = region.delete_addon(cluster, call.path("addonName"), preserve)?;
    Ok(told(cluster, &addon, AddonStatus::Deleting, &[]))
}

pub(super) fn versions(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let kubernetes: Option<Minor> = match call.query("kubernetesVersion") {
        Some(text) => Some(
            text.parse()
                .map_err(|_| AwsError::new("InvalidParameterException", "unsupported Kubernetes version"))?,
        ),
        None => None,
    };
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
