//! deploy/crd: one file per kind, and the kustomization that lists them.

use super::Generated;
use crate::yaml;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};

pub(crate) const FOLDER: &str = "deploy/crd";

/// The CRDs as they are released.
pub(crate) fn values() -> Result<Vec<Value>> {
    foo_api::crds()
        .iter()
        .map(|crd| {
            let mut value = serde_json::to_value(crd).context("serialising a CRD")?;
            describe_kind(&mut value);
            Ok(value)
        })
        .collect()
}

pub(super) fn files() -> Result<Vec<Generated>> {
    let mut files = Vec::new();
    let mut names = Vec::new();
    for crd in values()? {
        let name = file_name(&crd).context("a CRD without group or plural")?;
        files.push(Generated { path: format!("{FOLDER}/{name}"), text: yaml::document(&crd)? });
        names.push(name);
    }
    let kustomization = json!({
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": names,
    });
    files.push(Generated {
        path: format!("{FOLDER}/kustomization.yaml"),
        text: yaml::document(&kustomization)?,
    });
    Ok(files)
}

fn file_name(crd: &Value) -> Option<String> {
    let spec = crd.get("spec")?;
    let plural = spec.get("names")?.get("plural")?.as_str()?;
    Some(format!("{}_{plural}.yaml", spec.get("group")?.as_str()?))
}

/// `kubectl explain foomachinepools` shows the text at the root of the schema; kube leaves a note on how the type was
/// made there. What the kind is stands at its spec.
fn describe_kind(crd: &mut Value) {
    let versions = crd.pointer_mut("/spec/versions").and_then(Value::as_array_mut);
    for version in versions.into_iter().flatten() {
        let Some(schema) = version.pointer_mut("/schema/openAPIV3Schema") else { continue };
        if let Some(text) = schema.pointer("/properties/spec/description").cloned()
            && let Some(root) = schema.as_object_mut()
        {
            root.insert("description".to_owned(), text);
        }
    }
}
