//! The objects of deploy/default, as kustomize makes them.

use crate::sources::{label, read};
use crate::yaml;
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::path::Path;

/// What a kustomization of deploy/ may have. The last three are those of deploy/default, and done here.
const KNOWN: [&str; 6] = ["apiVersion", "kind", "resources", "labels", "transformers", "images"];

/// All objects of deploy/default, without its image.
pub(super) fn default(root: &Path) -> Result<Vec<Value>> {
    let mut objects = Vec::new();
    collect(root, "deploy/default", &mut objects)?;
    for object in &mut objects {
        let name = object.pointer("/metadata/name").and_then(Value::as_str);
        let provider = provider(name.context("an object without a name")?);
        label(object, provider);
    }
    Ok(objects)
}

/// Which provider has an object of this name, if clusterctl installs it.
fn provider(name: &str) -> &'static str {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if begins(&["foocontrolplane", "foo-control-plane-"]) || name == "foo-kubeadm-bootstrap" {
        "control-plane-foo"
    } else if begins(&["foonodeconfig", "foo-bootstrap-"]) {
        "bootstrap-foo"
    } else {
        "infrastructure-foo"
    }
}

fn collect(root: &Path, folder: &str, objects: &mut Vec<Value>) -> Result<()> {
    let path = format!("{folder}/kustomization.yaml");
    let kustomization: Value =
        serde_saphyr::from_str(&read(root, &path)?).with_context(|| format!("reading {path}"))?;
    let fields = kustomization.as_object().with_context(|| format!("{path} is no object"))?;
    if let Some(unknown) = fields.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        bail!("{path} has {unknown}, which the chart would not have");
    }
    for resource in fields.get("resources").and_then(Value::as_array).into_iter().flatten() {
        let resource = resource.as_str().with_context(|| format!("a resource of {path} is no text"))?;
        let resource = match resource.strip_prefix("../") {
            Some(beside) => format!("deploy/{beside}"),
            None => format!("{folder}/{resource}"),
        };
        if root.join(&resource).is_dir() {
            collect(root, &resource, objects)?;
        } else {
            let parsed = yaml::parse(&read(root, &resource)?);
            objects.extend(parsed.with_context(|| format!("reading {resource}"))?);
        }
    }
    Ok(())
}
