//! What a pool launched and launches: the versions of its launch template, as AWS has them, and the return to an earlier one.
//!
//! The manager deletes versions that nothing uses once there are more than ten of them (`planner/src/steps/template.rs`).

use super::Rollout;
use super::change::{patch_pool, said};
use crate::access::Reads;
use crate::aws::Aws;
use crate::cluster::{get, region};
use crate::terminal::Width;
use crate::text::{line, table};
use anyhow::{Result, anyhow, bail};
use foo_api::FooMachinePool;
use foo_api::names::{CLUSTER_NAME_LABEL, TOPOLOGY_OWNED_LABEL};
use foo_api::pool::LaunchTemplateStatus;
use foo_model::TemplateHashes;
use foo_model::names::TAG_PREFIX;
use kube::ResourceExt as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Setting with the tags of what is launched.
const TAGS: &str = "TagSpecifications";
/// Stands among the settings for the image of arm64 types, which is a setting of the group.
const ARM64_IMAGE: &str = "ImageId (arm64)";
/// Settings whose values are not shown: they may contain secrets.
const SECRET: [&str; 1] = ["UserData"];

/// The versions that AWS has of a pool's launch template, the newest one first.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// Namespace of the pool.
    pub namespace: String,
    /// Its name.
    pub pool: String,
    /// AWS region.
    pub region: String,
    /// Id of the launch template.
    pub launch_template: String,
    /// The versions.
    pub versions: Vec<Version>,
}

/// A version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    /// Its number.
    pub number: i64,
    /// When it was created, as AWS writes times.
    pub created: String,
    /// How many instances were launched from it.
    pub instances: usize,
    /// Whether new instances are launched from it.
    pub launches: bool,
    /// Hash of its settings, as in `status.rollout.targetHash`.
    pub hash: Option<String>,
    /// Whether this content failed and is not launched again.
    pub failed: bool,
    /// Image.
    pub image: Option<String>,
    /// Image of arm64 types, if they have another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm64_image: Option<String>,
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
    #[serde(default)]
    launch_template_id: String,
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
    let region = region(reads, namespace, cluster).await?;
    let aws = Aws::new(region.as_str(), profile);
    let of_template = json!({"LaunchTemplateId": template.id});
    let (versions, groups) =
        tokio::join!(aws.ask::<Versions>("ec2", "describe-launch-template-versions", &of_template), async {
            let Some(group) = group else { return Ok(Vec::new()) };
            let of_group = json!({"AutoScalingGroupNames": [group]});
            let read = aws.ask::<Groups>("autoscaling", "describe-auto-scaling-groups", &of_group).await;
            read.map(|read| read.auto_scaling_groups)
        });
    Ok(History {
        namespace: namespace.to_owned(),
        pool: name.to_owned(),
        region,
        launch_template: template.id.clone(),
        versions: history(versions?.launch_template_versions, &groups?, template, &failed),
    })
}

/// The versions, the newest one first, each with what differs from the one before.
fn history(
    mut shown: Vec<Shown>,
    groups: &[Group],
    template: &LaunchTemplateStatus,
    failed: &[String],
) -> Vec<Version> {
    shown.sort_by_key(|it| it.version_number);
    let mut instances: BTreeMap<i64, usize> = BTreeMap::new();
    let launched =
        groups.iter().flat_map(|group| &group.instances).filter_map(|it| it.launch_template.as_ref());
    // An adopted group has instances of another template.
    let own = launched.filter(|it| it.launch_template_id == template.id);
    for version in own.filter_map(|it| it.version.as_ref()?.parse().ok()) {
        let count = instances.entry(version).or_default();
        *count = count.saturating_add(1);
    }
    let mut versions: Vec<Version> = Vec::new();
    for it in shown {
        let hashes = TemplateHashes::parse(&it.version_description);
        let arm64_image = hashes.as_ref().and_then(|hashes| Some(hashes.arm64_image.as_ref()?.to_string()));
        let mut settings = comparable(it.launch_template_data);
        settings.extend(arm64_image.iter().map(|image| (ARM64_IMAGE.to_owned(), json!(image))));
        let changes = versions.last().map(|before| changes(&before.settings, &settings));
        let text = |name: &str| settings.get(name).and_then(Value::as_str).map(str::to_owned);
        let hash = hashes.map(|hashes| hashes.spec.to_string());
        versions.push(Version {
            failed: hash.as_ref().is_some_and(|hash| failed.contains(hash)),
            hash,
            number: it.version_number,
            created: it.create_time,
            instances: instances.get(&it.version_number).copied().unwrap_or_default(),
            launches: it.version_number == template.version,
            image: text("ImageId"),
            arm64_image,
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
    let History { namespace, pool, launch_template, versions, .. } = history;
    let mut text = String::new();
    line(&mut text, &format!("FooMachinePool {namespace}/{pool}, launch template {launch_template}"));
    let number = |it: &Version| {
        let launches = if it.launches { "*" } else { "" };
        let failed = if it.failed { " failed" } else { "" };
        format!("{}{launches}{failed}", it.number)
    };
    let (created, instances) = (|it: &Version| it.created.clone(), |it: &Version| it.instances.to_string());
    let changed = |it: &Version| it.changes.join("; ");
    let lines = match width {
        Width::Narrow => {
            let row = |it: &Version| [number(it), created(it), instances(it), changed(it)];
            table(["VERSION", "CREATED", "INSTANCES", "CHANGED"], versions.iter().map(row).collect())
        }
        Width::Wide => {
            let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
            let row = |it: &Version| {
                let [hash, image, kind] = [&it.hash, &it.image, &it.instance_type].map(or_empty);
                [number(it), created(it), instances(it), hash, image, kind, changed(it)]
            };
            let head = ["VERSION", "CREATED", "INSTANCES", "HASH", "IMAGE", "TYPE", "CHANGED"];
            table(head, versions.iter().map(row).collect())
        }
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
    /// Those of its images that the spec does not have.
    pub images: Vec<String>,
    /// The patch of the FooMachinePool.
    pub patch: Value,
    /// What it changes, in words.
    pub changes: Vec<String>,
    /// Settings that differ from those that new instances are launched with, and that it does not change.
    pub left: Vec<String>,
}

/// The return to a version. Without one: to the version that new instances are launched from, if the spec requests another image or
/// instance type, for example because that failed; otherwise to the newest earlier one with another image or instance type that did
/// not fail.
///
/// # Errors
/// The spec follows from a topology, the manager has not reported on it, AWS does not have such a version, or nothing would change.
pub fn undo(history: &History, pool: &FooMachinePool, to: Option<i64>) -> Result<Undo> {
    if pool.labels().contains_key(TOPOLOGY_OWNED_LABEL) {
        bail!(
            "the spec of FooMachinePool {} follows from the topology of its Cluster: change that",
            history.pool
        );
    }
    let status = pool.status.as_ref();
    if status.is_none_or(|it| it.observed_generation != pool.metadata.generation) {
        bail!("the manager has not reported on the newest spec of FooMachinePool {} yet", history.pool);
    }
    let looked_up = status.and_then(|it| it.image.as_ref());
    let image = pool.spec.ami.id.clone().or_else(|| Some(looked_up?.id.clone()));
    let arm64_image = looked_up.and_then(|it| Some(it.arm64.as_ref()?.id.clone()));
    let instance_type = &pool.spec.instance_type;
    let has_images = |it: &Version| it.image == image && it.arm64_image == arm64_image;
    // Of a pool with several types the template has one that does not count.
    let differs =
        |it: &&Version| !has_images(it) || instance_type.is_some() && it.instance_type != *instance_type;
    let launches = history.versions.iter().find(|it| it.launches);
    let launches = launches
        .ok_or_else(|| anyhow!("AWS does not have the version that new instances are launched from"))?;
    // AWS chose the types of a version without one, by attributes that the spec does not have any more.
    let has_type = |it: &Version| instance_type.is_none() || it.instance_type.is_some();
    let fits_types = |it: &Version| it.arm64_image.is_some() == arm64_image.is_some();
    let usable = |it: &&Version| !it.failed && has_type(it) && fits_types(it) && differs(it);
    let target = match to {
        Some(number) => history.versions.iter().find(|it| it.number == number),
        None => Some(launches)
            .filter(usable)
            .or_else(|| history.versions.iter().filter(|it| it.number < launches.number).find(usable)),
    };
    let target = target.ok_or_else(|| match to {
        Some(number) => anyhow!("AWS has no version {number} of launch template {}", history.launch_template),
        None => anyhow!("there is no earlier version with another image or instance type that did not fail"),
    })?;
    if target.failed {
        bail!(
            "the content of version {} has failed, and is not launched until kubectl foo rollout retry",
            target.number
        );
    }
    if !fits_types(target) {
        bail!(
            "version {} has images of other architectures than the instance types of the spec: change spec.ami and spec.mixedInstances",
            target.number
        );
    }
    let mut found = Undo {
        version: target.number,
        images: Vec::new(),
        patch: Value::Null,
        changes: Vec::new(),
        left: Vec::new(),
    };
    let mut spec = Map::new();
    if let Some(to) = target.image.as_ref().filter(|_| !has_images(target)) {
        let arm64 = arm64_image.as_ref().zip(target.arm64_image.as_ref());
        let pairs = std::iter::once((image.as_ref(), to)).chain(arm64.map(|(from, to)| (Some(from), to)));
        let changed: Vec<_> = pairs.filter(|(from, to)| *from != Some(*to)).collect();
        found.images = changed.iter().map(|(_, to)| (*to).clone()).collect();
        let from_to = |(from, to): &(Option<&String>, &String)| {
            format!("{} -> {to}", from.map_or("none", String::as_str))
        };
        let changed: Vec<String> = changed.iter().map(from_to).collect();
        let names_ids = pool.spec.ami.id.is_some() || pool.spec.ami.ids.is_some();
        let pinned = if names_ids { "" } else { ", which is not looked up any more" };
        let (field, id, ids) = match arm64 {
            Some((_, arm64)) => ("ids", Value::Null, json!({"x86_64": to, "arm64": arm64})),
            None => ("id", json!(to), Value::Null),
        };
        found.changes.push(format!("spec.ami.{field}: {}{pinned}", changed.join(", ")));
        // Of several ways to name an image a spec has one.
        let ami = json!({
            "id": id, "ids": ids, "ssmParameter": null, "lookup": null, "recommended": null, "policy": null,
        });
        spec.insert("ami".to_owned(), ami);
    }
    if let (Some(from), Some(to)) = (instance_type, &target.instance_type)
        && from != to
    {
        spec.insert("instanceType".to_owned(), json!(to));
        found.changes.push(format!("spec.instanceType: {from} -> {to}"));
    }
    let others = changes(&launches.settings, &target.settings);
    let others = others.iter().map(|change| change.split(':').next().unwrap_or_default().to_owned());
    let of_spec = ["ImageId", ARM64_IMAGE, "InstanceType"];
    found.left = others.filter(|name| !of_spec.contains(&name.as_str())).collect();
    if spec.is_empty() {
        let what = if instance_type.is_some() { "image and instance type" } else { "image" };
        bail!("the spec has the {what} of version {} already", target.number);
    }
    // A change of another user in between is not overwritten.
    let version = pool.metadata.resource_version.as_ref().map(|it| json!({"resourceVersion": it}));
    found.patch = match version {
        Some(metadata) => json!({"metadata": metadata, "spec": spec}),
        None => json!({"spec": spec}),
    };
    Ok(found)
}

/// Returns to an earlier version, or only says what that would change. What was done, and a warning.
///
/// # Errors
/// As [`undo`]; the image does not exist any more, or the right to patch FooMachinePools is missing.
pub async fn carry_out(
    reads: &Reads<'_>,
    history: &History,
    to: Option<i64>,
    dry_run: bool,
    profile: Option<String>,
) -> Result<(String, Option<String>)> {
    let History { namespace, pool: name, region, .. } = history;
    let pool: FooMachinePool = get(reads, namespace, name).await?;
    let undo = undo(history, &pool, to)?;
    let aws = Aws::new(region.as_str(), profile);
    for image in &undo.images {
        let read: Value = aws.ask("ec2", "describe-images", &json!({"ImageIds": [image]})).await?;
        let state = read.pointer("/Images/0/State").and_then(Value::as_str).unwrap_or("not found");
        if state != "available" {
            bail!("image {image} of version {} cannot be launched any more: it is {state}", undo.version);
        }
    }
    patch_pool(reads.client, namespace, name, &undo.patch, dry_run).await?;
    let how = if dry_run { "would return" } else { "returned" };
    let what = match (undo.images.is_empty(), undo.changes.len()) {
        (false, 1) => "image",
        (true, _) => "instance type",
        (false, _) => "image and instance type",
    };
    let mut text = String::new();
    line(&mut text, &said(name, &format!("{how} to the {what} of version {}", undo.version)));
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
    use foo_api::pool::Arm64ImageStatus;

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

    fn of(template: &str, version: &str) -> Value {
        json!({"LaunchTemplate": {"LaunchTemplateId": template, "Version": version}})
    }

    /// Version 4 failed, and 3 is launched; its group has an instance of another template.
    fn read() -> History {
        let versions = vec![
            shown(4, "ami-0", "b2xk", "h0"),
            shown(3, "ami-2", "c2VjcmV0", "h3"),
            shown(1, "ami-1", "b2xk", "h1"),
            shown(2, "ami-2", "b2xk", "h2"),
        ];
        let instances = [of("lt-1", "3"), of("lt-1", "2"), of("lt-1", "3"), of("lt-old", "1"), json!({})];
        let groups: Vec<Group> = serde_json::from_value(json!([{"Instances": instances}])).unwrap();
        let template =
            LaunchTemplateStatus { id: "lt-1".to_owned(), version: 3, spec_hash: "v1-h3".to_owned() };
        History {
            namespace: "team".to_owned(),
            pool: "workers".to_owned(),
            region: "eu-central-1".to_owned(),
            launch_template: "lt-1".to_owned(),
            versions: history(versions, &groups, &template, &["v1-h0".to_owned()]),
        }
    }

    /// A pool on whose newest spec the manager has reported.
    fn pool(spec: &Value) -> FooMachinePool {
        let mut pool = FooMachinePool::new("workers", serde_json::from_value(spec.clone()).unwrap());
        pool.metadata.generation = Some(2);
        let found = json!({"id": "ami-2", "source": "x", "resolvedAt": "2026-11-21T00:00:00Z"});
        pool.status = Some(serde_json::from_value(json!({"observedGeneration": 2, "image": found})).unwrap());
        pool
    }

    const WITHOUT_LOOKUP: [&str; 5] = ["ids", "ssmParameter", "lookup", "recommended", "policy"];

    fn ami(id: &str) -> Value {
        let mut ami: Map<String, Value> =
            WITHOUT_LOOKUP.iter().map(|it| ((*it).to_owned(), Value::Null)).collect();
        ami.insert("id".to_owned(), json!(id));
        Value::Object(ami)
    }

    #[test]
    fn values_that_may_be_secret_are_in_no_form() {
        for width in [Width::Narrow, Width::Wide] {
            assert!(!text(&read(), width).contains("c2VjcmV0"));
        }
        assert!(!serde_json::to_string(&read()).unwrap().contains("c2VjcmV0"));
    }

    #[test]
    fn an_undo_changes_image_and_type_and_names_what_else_differs() {
        let looked_up =
            pool(&json!({"ami": {"recommended": {"family": "AL2023"}}, "instanceType": "m7i.large"}));
        let found = undo(&read(), &looked_up, None).unwrap();
        assert_eq!((found.version, found.left), (1, vec!["UserData".to_owned()]));
        assert_eq!(found.changes, ["spec.ami.id: ami-2 -> ami-1, which is not looked up any more"]);
        assert_eq!(found.patch, json!({"spec": {"ami": ami("ami-1")}}));
        let refused = |to| undo(&read(), &looked_up, Some(to)).unwrap_err().to_string();
        assert_eq!(refused(2), "the spec has the image and instance type of version 2 already");
        assert!(refused(4).starts_with("the content of version 4 has failed"), "{}", refused(4));
        assert!(refused(9).contains("no version 9"));
    }

    /// What new instances are launched from is the fallback then, and the way back.
    #[test]
    fn an_undo_of_a_failed_spec_returns_to_what_is_launched() {
        let failed = pool(&json!({"ami": {"id": "ami-0"}, "instanceType": "m7i.large"}));
        for to in [None, Some(3)] {
            let found = undo(&read(), &failed, to).unwrap();
            assert_eq!((found.version, found.patch), (3, json!({"spec": {"ami": ami("ami-2")}})));
        }
    }

    #[test]
    fn an_undo_waits_for_the_manager_and_leaves_topologies_alone() {
        let spec = json!({"ami": {"id": "ami-0"}, "instanceType": "m7i.large"});
        let mut edited = pool(&spec);
        edited.metadata.generation = Some(3);
        assert!(undo(&read(), &edited, None).unwrap_err().to_string().contains("has not reported"));
        let mut of_topology = pool(&spec);
        of_topology.metadata.labels = Some([(TOPOLOGY_OWNED_LABEL.to_owned(), String::new())].into());
        assert!(undo(&read(), &of_topology, None).unwrap_err().to_string().contains("topology"));
        let mut seen = pool(&spec);
        seen.metadata.resource_version = Some("7".to_owned());
        assert_eq!(undo(&read(), &seen, None).unwrap().patch["metadata"], json!({"resourceVersion": "7"}));
    }

    /// The group has the image of arm64 types, and the description of the version records it.
    #[test]
    fn an_undo_returns_to_the_images_of_both_architectures() {
        let mut before = shown(1, "ami-1", "b2xk", "h1");
        before.version_description += " arm64=ami-7";
        let mut now = shown(2, "ami-1", "b2xk", "h2");
        now.version_description += " arm64=ami-8";
        let template =
            LaunchTemplateStatus { id: "lt-1".to_owned(), version: 2, spec_hash: "v1-h2".to_owned() };
        let versions = history(vec![before, now], &[], &template, &[]);
        assert_eq!(versions[0].changes, ["ImageId (arm64): ami-7 -> ami-8"]);
        let both = History { versions, ..read() };
        let types = json!([{"instanceType": "m7i.large"}, {"instanceType": "m7g.large"}]);
        let ids = json!({"x86_64": "ami-1", "arm64": "ami-8"});
        let mut mixed = pool(&json!({"ami": {"ids": ids}, "mixedInstances": {"overrides": types}}));
        let image = mixed.status.as_mut().unwrap().image.as_mut().unwrap();
        "ami-1".clone_into(&mut image.id);
        image.arm64 = Some(Arm64ImageStatus { id: "ami-8".to_owned(), source: "image ami-8".to_owned() });
        let found = undo(&both, &mixed, None).unwrap();
        assert_eq!(found.changes, ["spec.ami.ids: ami-8 -> ami-7"]);
        assert_eq!(found.images, ["ami-7"], "the other one is in use");
        let ids = json!({"x86_64": "ami-1", "arm64": "ami-7"});
        let ami = &found.patch["spec"]["ami"];
        assert_eq!((&ami["ids"], &ami["id"], found.left), (&ids, &Value::Null, Vec::<String>::new()));
        let refused = undo(&read(), &mixed, Some(1)).unwrap_err().to_string();
        assert!(refused.starts_with("version 1 has images of other architectures"), "{refused}");
    }

    #[test]
    fn of_several_types_only_the_image_counts() {
        let types = json!([{"instanceType": "m7i.xlarge"}, {"instanceType": "m7a.xlarge"}]);
        let mixed = pool(&json!({"ami": {"id": "ami-2"}, "mixedInstances": {"overrides": types}}));
        let found = undo(&read(), &mixed, None).unwrap();
        assert_eq!(found.patch, json!({"spec": {"ami": ami("ami-1")}}));
        let same = undo(&read(), &mixed, Some(3)).unwrap_err().to_string();
        assert_eq!(same, "the spec has the image of version 3 already");
    }
}
