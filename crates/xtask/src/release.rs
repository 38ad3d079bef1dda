//! `cargo xtask release`: the folder that `clusterctl init` installs from.
//!
//! Two providers, one manager: the infrastructure provider runs the pool and cluster controllers, the control-plane
//! provider runs the control-plane controller, each with its own Deployment, ServiceAccount and the rights it needs.
//! Everything comes from the files in deploy/; the same version gives the same bytes. No kubectl and no kustomize.

use crate::generate::rbac::{self, Controller, Provider};
use crate::{checksums, generate, provenance, sbom, yaml};
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where released images are, unless said otherwise.
pub const IMAGE: &str = "registry.foo.com/cluster-api-provider-foo";

/// One of the two providers, as clusterctl sees it.
struct Entry {
    provider: Provider,
    /// Folder of the provider in a repository, and value of its label.
    label: &'static str,
    components: &'static str,
    /// API group of its CRDs.
    group: &'static str,
    controllers: &'static [Controller],
    /// What stands in the place of `foo-` in the names of deploy/.
    prefix: &'static str,
    /// Its Lease: both managers may be in one namespace (`clusterctl init --target-namespace`).
    lease: &'static str,
    /// Objects of deploy/rbac for others.
    for_others: &'static [&'static str],
    /// Its admission policies in deploy/policy.
    policies: &'static [&'static str],
    /// Templates for users: the name of each, and the files of deploy/clusterctl it is put together from.
    templates: &'static [(&'static str, &'static [&'static str])],
}

const METADATA: (&str, &[&str]) = ("metadata.yaml", &["metadata.yaml"]);

/// clusterctl finds flavours and ClusterClasses by the names of these files.
const TEMPLATES: &[(&str, &[&str])] = &[
    ("cluster-template.yaml", &["templates/cluster.yaml", "templates/pool.yaml"]),
    ("cluster-template-spot.yaml", &["templates/cluster.yaml", "templates/pool-spot.yaml"]),
    ("cluster-template-mixed.yaml", &["templates/cluster.yaml", "templates/pool-mixed.yaml"]),
    ("cluster-template-topology.yaml", &["templates/topology.yaml"]),
    ("clusterclass-foo.yaml", &["clusterclass-foo.yaml"]),
];

const ENTRIES: [Entry; 2] = [
    Entry {
        provider: Provider::Infrastructure,
        label: "infrastructure-foo",
        components: "infrastructure-components.yaml",
        group: foo_api::names::INFRASTRUCTURE_GROUP,
        controllers: &[Controller::Pool, Controller::Cluster],
        prefix: "foo-",
        lease: "controller-leader-election-foo",
        for_others: &["cluster_autoscaler_role.yaml"],
        policies: &[
            "cluster_templates.yaml",
            "crds.yaml",
            "machines.yaml",
            "manager_machines.yaml",
            "protection.yaml",
        ],
        templates: TEMPLATES,
    },
    Entry {
        provider: Provider::ControlPlane,
        label: "control-plane-foo",
        components: "control-plane-components.yaml",
        group: foo_api::names::CONTROL_PLANE_GROUP,
        controllers: &[Controller::ControlPlane],
        prefix: "foo-control-plane-",
        lease: "controller-leader-election-foo-control-plane",
        for_others: &["kubeadm_bootstrap_role.yaml", "kubeadm_bootstrap_role_binding.yaml"],
        policies: &["control_plane_templates.yaml", "control_plane_secrets.yaml"],
        templates: &[],
    },
];

/// Writes what clusterctl installs ([`write()`]), the SBOMs of the programs in `<out>/<program>/<version>/`, the statement
/// of provenance, and the checksums of everything in `out`. Returns the paths of all files written.
pub fn write_all(root: &Path, version: &str, image: &str, out: &Path) -> Result<Vec<PathBuf>> {
    let mut written = write(root, version, image, out)?;
    for program in sbom::PROGRAMS {
        let (_, name) = program;
        let folder = out.join(name).join(version);
        emptied(&folder)?;
        std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        let path = folder.join(format!("{name}.cdx.json"));
        std::fs::write(&path, sbom::document(root, program, version)?)
            .with_context(|| format!("writing {}", path.display()))?;
        written.push(path);
    }
    written.push(provenance::write(root, version, image, out)?);
    written.push(checksums::write(out)?);
    Ok(written)
}

/// Writes `<out>/<provider>/<version>/…` for both providers and returns the paths of all files.
pub fn write(root: &Path, version: &str, image: &str, out: &Path) -> Result<Vec<PathBuf>> {
    check_version(root, version)?;
    let mut written = Vec::new();
    for entry in &ENTRIES {
        let folder = out.join(entry.label).join(version);
        emptied(&folder)?;
        std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        let mut files = vec![(entry.components.to_owned(), components(root, entry, version, image)?)];
        for (name, parts) in [METADATA].iter().chain(entry.templates) {
            let parts: Vec<String> = parts
                .iter()
                .map(|part| read(root, &format!("deploy/clusterctl/{part}")))
                .collect::<Result<_>>()?;
            files.push(((*name).to_owned(), parts.join("---\n")));
        }
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
            written.push(path);
        }
    }
    Ok(written)
}

/// What an earlier run left there is not part of this release: checksums would vouch for it.
fn emptied(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("emptying {}", folder.display()))?;
    }
    Ok(())
}

/// clusterctl wants a semantic version with a `v`, of a series that metadata.yaml names.
fn check_version(root: &Path, version: &str) -> Result<()> {
    let numbers = version.strip_prefix('v').and_then(|rest| {
        let core = rest.split(['-', '+']).next()?;
        let numbers: Vec<u64> = core.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        <[u64; 3]>::try_from(numbers).ok()
    });
    let Some([major, minor, _]) = numbers else {
        bail!("{version:?} is no version like v0.1.0");
    };
    let metadata = yaml::parse(&read(root, "deploy/clusterctl/metadata.yaml")?)?;
    let series = metadata.iter().filter_map(|m| m.get("releaseSeries")?.as_array()).flatten();
    let field = |series: &Value, name: &str| series.get(name).and_then(Value::as_u64);
    ensure!(
        series.into_iter().any(|s| field(s, "major") == Some(major) && field(s, "minor") == Some(minor)),
        "deploy/clusterctl/metadata.yaml has no release series {major}.{minor}"
    );
    Ok(())
}

fn read(root: &Path, path: &str) -> Result<String> {
    std::fs::read_to_string(root.join(path)).with_context(|| format!("reading {path}"))
}

/// Files of deploy/ that both providers are made from. The roles that differ are cut from the table instead.
const SHARED: [&str; 7] = [
    "deploy/manager/namespace.yaml",
    "deploy/rbac/service_account.yaml",
    "deploy/rbac/role_binding.yaml",
    "deploy/rbac/leader_election_role.yaml",
    "deploy/rbac/leader_election_role_binding.yaml",
    "deploy/rbac/diagnostics_roles.yaml",
    "deploy/manager/manager.yaml",
];

/// Those for the provider that calls AWS.
const FOR_AWS: [&str; 2] =
    ["deploy/rbac/identity_secrets_role.yaml", "deploy/rbac/identity_secrets_role_binding.yaml"];

fn components(root: &Path, entry: &Entry, version: &str, image: &str) -> Result<String> {
    let mut shared = yaml::parse(&rbac::manager_role(entry.controllers))?;
    let for_aws: &[&str] = if entry.provider == Provider::Infrastructure { &FOR_AWS } else { &[] };
    for path in SHARED.iter().chain(for_aws) {
        shared.extend(yaml::parse(&read(root, path)?).with_context(|| format!("in {path}"))?);
    }
    rename(&mut shared, entry.prefix);
    for object in &mut shared {
        adapt(object, entry, &format!("{image}:{version}"));
    }
    let mut objects: Vec<Value> = generate::crds()?
        .into_iter()
        .filter(|crd| crd.pointer("/spec/group").and_then(Value::as_str) == Some(entry.group))
        .collect();
    objects.extend(shared);
    objects.extend(yaml::parse(&rbac::core_role(entry.provider))?);
    for name in entry.policies {
        objects.extend(yaml::parse(&read(root, &format!("deploy/policy/{name}"))?)?);
    }
    for name in entry.for_others {
        objects.extend(yaml::parse(&read(root, &format!("deploy/rbac/{name}"))?)?);
    }
    for object in &mut objects {
        label(object, entry.label);
    }
    // clusterctl sorts by kind itself; a stable order of our own makes two releases comparable.
    objects.sort_by_key(|object| {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        (rank(&text("/kind")), text("/metadata/name"))
    });
    yaml::documents(&objects)
}

fn rank(kind: &str) -> u8 {
    match kind {
        "Namespace" => 0,
        "CustomResourceDefinition" => 1,
        "ServiceAccount" => 2,
        "Role" | "ClusterRole" => 3,
        "RoleBinding" | "ClusterRoleBinding" => 4,
        _ => 5,
    }
}

/// Gives the objects, and whatever refers to them by name, the provider's prefix.
fn rename(objects: &mut [Value], prefix: &str) {
    let names: BTreeMap<String, String> = objects
        .iter()
        .filter_map(|object| object.pointer("/metadata/name")?.as_str())
        .filter_map(|name| Some((name.to_owned(), format!("{prefix}{}", name.strip_prefix("foo-")?))))
        .collect();
    for object in objects {
        replace(object, &names);
    }
}

fn replace(value: &mut Value, names: &BTreeMap<String, String>) {
    match value {
        Value::String(text) => {
            if let Some(new) = names.get(text) {
                text.clone_from(new);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, names)),
        Value::Object(map) => map.values_mut().for_each(|item| replace(item, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What a release has and `kubectl apply -k` cannot have: the provider's controllers, its image, clusterctl's variables.
fn adapt(object: &mut Value, entry: &Entry, image: &str) {
    match object.get("kind").and_then(Value::as_str) {
        Some("ServiceAccount") if entry.provider == Provider::Infrastructure => {
            if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                // IAM roles for service accounts; empty means none. The default is a pair of quotes because clusterctl
                // takes an empty default for none at all and then insists on a value.
                metadata.insert(
                    "annotations".to_owned(),
                    json!({"eks.amazonaws.com/role-arn": "${FOO_IAM_ROLE_ARN:=''}"}),
                );
            }
        }
        Some("Deployment") => {
            let path = "/spec/template/spec/containers/0";
            let Some(container) = object.pointer_mut(path).and_then(Value::as_object_mut) else { return };
            container.insert("image".to_owned(), json!(image));
            container.insert("imagePullPolicy".to_owned(), json!("IfNotPresent"));
            if entry.provider == Provider::ControlPlane {
                // It talks to Kubernetes only.
                if let Some(env) = container.get_mut("env").and_then(Value::as_array_mut) {
                    env.retain(|variable| variable.pointer("/valueFrom/secretKeyRef").is_none());
                }
            } else if let Some(env) = container.get_mut("env").and_then(Value::as_array_mut) {
                // As above, empty means none.
                env.push(json!({"name": "FOO_EVENTS_QUEUE_URL", "value": "${FOO_EVENTS_QUEUE_URL:=''}"}));
            }
            let flags: Vec<&str> = entry.controllers.iter().map(|controller| controller.flag()).collect();
            if let Some(args) = container.get_mut("args").and_then(Value::as_array_mut) {
                args.push(json!(format!("--controllers={}", flags.join(","))));
                args.push(json!(format!("--leader-election-id={}", entry.lease)));
                args.push(json!("--log-format=${FOO_LOG_FORMAT:=json}"));
            }
        }
        _ => {}
    }
}

fn label(object: &mut Value, provider: &str) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let labels = metadata.entry("labels").or_insert_with(|| json!({}));
    if let Some(labels) = labels.as_object_mut() {
        labels.insert("cluster.x-k8s.io/provider".to_owned(), json!(provider));
    }
}

#[cfg(test)]
mod build_tests;
#[cfg(test)]
mod tests;
