//! What a pool launched and launches: the versions of its launch template, as AWS has them, and the return to an earlier one.
//!
//! The manager deletes versions that nothing uses once there are more than ten of them (`planner/src/steps/template.rs`).

use super::Rollout;
use crate::access::{FIELD_MANAGER, Reads};
use crate::aws::Aws;
use crate::cluster::{get, region};
use crate::refused::{Request, refused, resource};
use crate::terminal::Width;
use crate::text::{line, table};
use anyhow::{Result, anyhow, bail};
use foo_api::FooMachinePool;
use foo_api::names::CLUSTER_NAME_LABEL;
use foo_model::TemplateHashes;
use foo_model::names::TAG_PREFIX;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt as _};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Setting with the tags of what is launched.
const TAGS: &str = "TagSpecifications";
/// Settings whose values are not shown: they may contain secrets.
const SECRET: [&str; 1] = ["UserData"];

/// The versions that AWS has of a pool's launch template, the newest one first.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// Namespace of the pool.
    pub namespace: String,
    /// Its name.
    pub pool: String,
    /// Id of the launch template.
    pub launch_template: String,
    /// The versions.
    pub versions: Vec<Version>,
}

/// A version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    /// Its number.
    pub number: i64,
    /// When it was created, as AWS writes times.
    pub created: String,
    /// How many instances were launched from it.
    pub instances: usize,
    /// Whether new instances are launched from it.
    pub requested: bool,
    /// Hash of its settings, as in `status.rollout.targetHash`.
    pub hash: Option<String>,
    /// Whether this content failed and is not launched again.
    pub failed: bool,
    /// Image.
    pub image: Option<String>,
    /// Instance type; of several the first one.
    pub instance_type: Option<String>,
    /// In which settings it differs from the version before, in AWS's names.
    pub changes: Vec<String>,
    /// Its settings.
    #[serde(skip)]
    settings: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Versions {
    launch_template_versions: Vec<Shown>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Shown {
    version_number: i64,
    #[serde(default)]
    create_time: String,
    #[serde(default)]
    version_description: String,
    #[serde(default)]
    launch_template_data: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Groups {
    auto_scaling_groups: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Group {
    #[serde(default)]
    instances: Vec<Member>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Member {
    launch_template: Option<Specification>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Specification {
    version: Option<String>,
}

/// Reads the history of a pool.
///
/// # Errors
/// The pool does not exist or has no launch template yet, or a right is missing in Kubernetes or AWS.
pub async fn read(
    reads: &Reads<'_>,
    namespace: &str,
    name: &str,
    profile: Option<String>,
) -> Result<History> {
    let pool: FooMachinePool = get(reads, namespace, name).await?;
    let cluster = pool.labels().get(CLUSTER_NAME_LABEL);
    let cluster = cluster.ok_or_else(|| anyhow!("FooMachinePool {name} belongs to no Cluster yet"))?;
    let status = pool.status.as_ref();
    let template = status.and_then(|it| it.launch_template.as_ref());
    let template = template.ok_or_else(|| anyhow!("FooMachinePool {name} has no launch template yet"))?;
    let failed: Vec<String> = Rollout::of(&pool, None).failed.into_iter().map(|it| it.hash).collect();
    let group = status.and_then(|it| it.auto_scaling_group.as_ref()).map(|it| it.name.as_str());
    let aws = Aws::new(region(reads, namespace, cluster).await?, profile);
    let of_template = ["ec2", "describe-launch-template-versions", "--launch-template-id", &template.id];
    let of_group = [
        "autoscaling",
        "describe-auto-scaling-groups",
        "--auto-scaling-group-names",
        group.unwrap_or_default(),
    ];
    let (versions, groups) = tokio::join!(aws.read::<Versions>(&of_template), async {
        match group {
            Some(_) => aws.read::<Groups>(&of_group).await.map(|read| read.auto_scaling_groups),
            None => Ok(Vec::new()),
        }
    });
    Ok(History {
        namespace: namespace.to_owned(),
        pool: name.to_owned(),
        launch_template: template.id.clone(),
        versions: history(versions?.launch_template_versions, &groups?, template.version, &failed),
    })
}

/// The versions, the newest one first, each with what differs from the one before.
fn history(mut shown: Vec<Shown>, groups: &[Group], requested: i64, failed: &[String]) -> Vec<Version> {
    shown.sort_by_key(|it| it.version_number);
    let mut instances: BTreeMap<i64, usize> = BTreeMap::new();
    let members = groups.iter().flat_map(|group| &group.instances);
    for version in members.filter_map(|it| it.launch_template.as_ref()?.version.as_ref()?.parse().ok()) {
        let count = instances.entry(version).or_default();
        *count = count.saturating_add(1);
    }
    let mut versions: Vec<Version> = Vec::new();
    for it in shown {
        let settings = comparable(it.launch_template_data);
        let changes = versions.last().map(|before| changes(&before.settings, &settings));
        let text = |name: &str| settings.get(name).and_then(Value::as_str).map(str::to_owned);
        let hash = TemplateHashes::parse(&it.version_description).map(|hashes| hashes.spec.to_string());
        versions.push(Version {
            failed: hash.as_ref().is_some_and(|hash| failed.contains(hash)),
            hash,
            number: it.version_number,
            created: it.create_time,
            instances: instances.get(&it.version_number).copied().unwrap_or_default(),
            requested: it.version_number == requested,
            image: text("ImageId"),
            instance_type: text("InstanceType"),
            changes: changes.unwrap_or_default(),
            settings,
        });
    }
    versions.reverse();
    versions
}

/// Settings without tags of the provider, which change with each version.
fn comparable(mut settings: Map<String, Value>) -> Map<String, Value> {
    let of_provider =
        |tag: &Value| tag.get("Key").and_then(Value::as_str).is_some_and(|key| key.starts_with(TAG_PREFIX));
    let specifications = settings.get_mut(TAGS).and_then(Value::as_array_mut);
    for tags in specifications.into_iter().flatten().filter_map(|it| it.get_mut("Tags")?.as_array_mut()) {
        tags.retain(|tag| !of_provider(tag));
    }
    settings
}

/// In what two versions differ: values of single settings, and the names of others.
fn changes(before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<String> {
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort();
    names.dedup();
    let differ = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
    let change = |name: &String| {
        let value = |of: &Map<String, Value>| match of.get(name) {
            None => Some("none".to_owned()),
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Bool(_) | Value::Number(_)) => of.get(name).map(Value::to_string),
            Some(_) => None,
        };
        match (value(before), value(after)) {
            (Some(from), Some(to)) if !SECRET.contains(&name.as_str()) => format!("{name}: {from} -> {to}"),
            _ => name.clone(),
        }
    };
    differ.map(change).collect()
}

/// The history as text. Ends with a new line.
pub fn text(history: &History, width: Width) -> String {
    let History { namespace, pool, launch_template, versions } = history;
    let mut text = String::new();
    line(&mut text, &format!("FooMachinePool {namespace}/{pool}, launch template {launch_template}"));
    let row = |it: &Version| {
        let mark = match (it.requested, it.failed) {
            (true, true) => "* failed",
            (true, false) => "*",
            (false, true) => " failed",
            (false, false) => "",
        };
        let what = match it.changes.as_slice() {
            [] => String::new(),
            changes => changes.join("; "),
        };
        let image = it.image.clone().unwrap_or_default();
        let instance_type = it.instance_type.clone().unwrap_or_default();
        let mut row =
            vec![format!("{}{mark}", it.number), it.created.clone(), it.instances.to_string(), what];
        if width == Width::Wide {
            row.splice(3..3, [it.hash.clone().unwrap_or_default(), image, instance_type]);
        }
        row
    };
    let rows: Vec<Vec<String>> = versions.iter().map(row).collect();
    let lines = if width == Width::Wide {
        let rows = rows.into_iter().filter_map(|row| <[String; 7]>::try_from(row).ok()).collect();
        table(["VERSION", "CREATED", "INSTANCES", "HASH", "IMAGE", "TYPE", "CHANGED"], rows)
    } else {
        let rows = rows.into_iter().filter_map(|row| <[String; 4]>::try_from(row).ok()).collect();
        table(["VERSION", "CREATED", "INSTANCES", "CHANGED"], rows)
    };
    for one in &lines {
        line(&mut text, one);
    }
    text
}

/// What a return to an earlier version changes in the spec of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undo {
    /// The version.
    pub version: i64,
    /// The patch of the FooMachinePool.
    pub patch: Value,
    /// What it changes, in words.
    pub changes: Vec<String>,
    /// Settings that differ and that it does not change.
    pub left: Vec<String>,
}

/// The return to a version, or to the newest one before the requested one with another image or instance type that did not fail.
///
/// # Errors
/// AWS does not have such a version, or nothing of the spec would change.
pub fn undo(history: &History, pool: &FooMachinePool, to: Option<i64>) -> Result<Undo> {
    let now = history.versions.iter().find(|it| it.requested);
    let now =
        now.ok_or_else(|| anyhow!("AWS does not have the version that new instances are launched from"))?;
    let differs = |it: &&Version| (&it.image, &it.instance_type) != (&now.image, &now.instance_type);
    let target = match to {
        Some(number) => history.versions.iter().find(|it| it.number == number),
        None => history.versions.iter().filter(|it| it.number < now.number && !it.failed).find(differs),
    };
    let target = target.ok_or_else(|| match to {
        Some(number) => anyhow!("AWS has no version {number} of launch template {}", history.launch_template),
        None => anyhow!("there is no earlier version with another image or instance type"),
    })?;
    if target.failed {
        bail!(
            "the content of version {} has failed: kubectl foo rollout retry has it launched again",
            target.number
        );
    }
    let (mut spec, mut done) = (Map::new(), Vec::new());
    if let Some(image) = target.image.as_ref().filter(|_| target.image != now.image) {
        // Of several ways to name an image a spec has one.
        let ami =
            json!({"id": image, "ssmParameter": null, "lookup": null, "recommended": null, "policy": null});
        spec.insert("ami".to_owned(), ami);
        let from = now.image.as_deref().unwrap_or("none");
        let pinned = if pool.spec.ami.id.is_none() { ", which is not looked up any more" } else { "" };
        done.push(format!("spec.ami.id: {from} -> {image}{pinned}"));
    }
    let mut left = Vec::new();
    for change in changes(&now.settings, &target.settings) {
        let name = change.split(':').next().unwrap_or_default();
        match (name, &target.instance_type) {
            ("ImageId", _) => {}
            ("InstanceType", Some(to)) if pool.spec.instance_type.is_some() => {
                spec.insert("instanceType".to_owned(), json!(to));
                let from = now.instance_type.as_deref().unwrap_or("none");
                done.push(format!("spec.instanceType: {from} -> {to}"));
            }
            _ => left.push(name.to_owned()),
        }
    }
    if spec.is_empty() {
        let other = if left.is_empty() { String::new() } else { format!(", only {}", left.join(", ")) };
        bail!("version {} has the same image and instance type as the requested one{other}", target.number);
    }
    Ok(Undo { version: target.number, patch: json!({"spec": spec}), changes: done, left })
}

/// Returns to an earlier version, or only says what that would change.
///
/// # Errors
/// As [`undo`], or the right to patch FooMachinePools is missing.
pub async fn carry_out(
    reads: &Reads<'_>,
    history: &History,
    to: Option<i64>,
    dry_run: bool,
) -> Result<(String, Option<String>)> {
    let History { namespace, pool: name, .. } = history;
    let pool: FooMachinePool = get(reads, namespace, name).await?;
    let undo = undo(history, &pool, to)?;
    let resource = resource::<FooMachinePool>();
    let pools: Api<FooMachinePool> = Api::namespaced(reads.client.clone(), namespace);
    let params =
        PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), dry_run, ..PatchParams::default() };
    let request = Request { verb: "patch", resource: &resource, namespace: Some(namespace) };
    let patched = pools.patch(name, &params, &Patch::Merge(&undo.patch)).await;
    patched.map_err(|error| refused(request, error))?;
    let how = if dry_run { " (dry run)" } else { "" };
    let mut text = String::new();
    line(
        &mut text,
        &format!("foomachinepool.infrastructure.foo.com/{name} as version {}{how}", undo.version),
    );
    for change in &undo.changes {
        line(&mut text, &format!("  {change}"));
    }
    let warning = (!undo.left.is_empty()).then(|| {
        format!("version {} also differs in {}, which is not changed", undo.version, undo.left.join(", "))
    });
    Ok((text, warning))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(number: i64, image: &str, user_data: &str, hash: &str) -> Shown {
        let tags = json!([{"ResourceType": "instance", "Tags": [
            {"Key": "infrastructure.foo.com/hash", "Value": hash}, {"Key": "team", "Value": "a"},
        ]}]);
        let data = json!({
            "ImageId": image, "InstanceType": "m7i.large", "UserData": user_data, TAGS: tags,
            "MetadataOptions": {"HttpTokens": "required"},
        });
        let data = data.as_object().unwrap().clone();
        Shown {
            version_number: number,
            create_time: format!("2026-11-2{number}T00:00:00Z"),
            version_description: format!("foo spec=v1-{hash} data=v1-{hash}"),
            launch_template_data: data,
        }
    }

    fn read() -> History {
        let versions = vec![
            shown(4, "ami-0", "b2xk", "h0"),
            shown(3, "ami-2", "c2VjcmV0", "h3"),
            shown(1, "ami-1", "b2xk", "h1"),
            shown(2, "ami-2", "b2xk", "h2"),
        ];
        let groups: Vec<Group> = serde_json::from_value(json!([{"Instances": [
            {"LaunchTemplate": {"Version": "3"}}, {"LaunchTemplate": {"Version": "2"}}, {"LaunchTemplate": {"Version": "3"}}, {},
        ]}]))
        .unwrap();
        History {
            namespace: "team".to_owned(),
            pool: "workers".to_owned(),
            launch_template: "lt-1".to_owned(),
            versions: history(versions, &groups, 3, &["v1-h0".to_owned()]),
        }
    }

    fn pool(spec: &Value) -> FooMachinePool {
        FooMachinePool::new("workers", serde_json::from_value(spec.clone()).unwrap())
    }

    #[test]
    fn versions_have_their_instances_and_what_changed_without_secrets() {
        let printed = text(&read(), Width::Narrow);
        let expected = "\
FooMachinePool team/workers, launch template lt-1
VERSION   CREATED               INSTANCES  CHANGED
4 failed  2026-11-24T00:00:00Z  0          ImageId: ami-2 -> ami-0; UserData
3*        2026-11-23T00:00:00Z  2          UserData
2         2026-11-22T00:00:00Z  1          ImageId: ami-1 -> ami-2
1         2026-11-21T00:00:00Z  0
";
        assert_eq!(printed, expected);
        assert!(text(&read(), Width::Wide).contains("v1-h1  ami-1  m7i.large"));
        assert!(!serde_json::to_string(&read()).unwrap().contains("c2VjcmV0"));
    }

    #[test]
    fn an_undo_changes_image_and_type_and_names_what_else_differs() {
        let looked_up =
            pool(&json!({"ami": {"recommended": {"family": "AL2023"}}, "instanceType": "m7i.large"}));
        let found = undo(&read(), &looked_up, None).unwrap();
        assert_eq!((found.version, found.left), (1, vec!["UserData".to_owned()]));
        assert_eq!(found.changes, ["spec.ami.id: ami-2 -> ami-1, which is not looked up any more"]);
        let ami =
            json!({"id": "ami-1", "ssmParameter": null, "lookup": null, "recommended": null, "policy": null});
        assert_eq!(found.patch, json!({"spec": {"ami": ami}}));
        let same = undo(&read(), &looked_up, Some(2)).unwrap_err().to_string();
        assert_eq!(
            same,
            "version 2 has the same image and instance type as the requested one, only UserData"
        );
        assert!(undo(&read(), &looked_up, Some(4)).unwrap_err().to_string().contains("version 4 has failed"));
        assert!(undo(&read(), &looked_up, Some(9)).unwrap_err().to_string().contains("no version 9"));
    }
}
