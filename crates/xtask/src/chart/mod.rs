//! The Helm chart of a release: the objects of deploy/default, with values where installations differ.
//!
//! * [`objects`]: what `kubectl kustomize deploy/default` prints, made without kubectl; a test compares both;
//! * [`values`]: the values, with the defaults that deploy/ has, and their schema;
//! * this file: which part of which object a value sets.
//!
//! CRDs are templates, so that `helm upgrade` changes them, and stay when the chart is uninstalled: with a CRD its objects are
//! deleted, and with them what they have in AWS.

mod marks;
mod objects;
mod values;

use crate::archive::{Archive, compressed};
use crate::yaml;
use anyhow::{Context as _, Result, ensure};
use marks::Marks;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use values::CONTAINER;

/// Folder in a release, beside those of the programs.
pub const FOLDER: &str = "chart";
const NAME: &str = "cluster-api-provider-foo";
/// The namespace in deploy/.
const NAMESPACE: &str = "foo-system";

/// Name of the chart's archive.
pub fn archive_name(version: &str) -> String {
    format!("{NAME}-{}.tgz", version.trim_start_matches('v'))
}

/// Writes `<out>/chart/<version>/cluster-api-provider-foo-<version>.tgz`, and returns its path. `image` is the image of the
/// manager, without tag.
pub fn write(root: &Path, version: &str, image: &str, out: &Path) -> Result<PathBuf> {
    let folder = out.join(FOLDER).join(version);
    crate::sources::emptied(&folder)?;
    std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let mut archive = Archive::default();
    for (path, text) in files(root, version, image)? {
        archive.file(&format!("{NAME}/{path}"), 0o644, text.as_bytes())?;
    }
    let path = folder.join(archive_name(version));
    std::fs::write(&path, compressed(&archive.bytes()?)?)
        .with_context(|| format!("writing {}", path.display()))?;
    Ok(path)
}

/// The files of the chart, by their paths in it.
fn files(root: &Path, version: &str, image: &str) -> Result<Vec<(String, String)>> {
    let all = objects::default(root)?;
    let manager =
        all.iter().find(|it| kind(it) == "Deployment").context("deploy/default has no Deployment")?;
    let values = values::text(manager, image)?;
    let schema = serde_json::to_string_pretty(&values::schema()).context("writing the schema")?;
    let chart = json!({
        "apiVersion": "v2",
        "name": NAME,
        "type": "application",
        "description": "Cluster API provider for AWS Auto Scaling groups",
        "version": version.trim_start_matches('v'),
        "appVersion": version,
        "kubeVersion": ">=1.30.0-0",
    });
    let mut files = vec![
        ("Chart.yaml".to_owned(), yaml::document(&chart)?),
        ("LICENSE".to_owned(), crate::sources::read(root, "LICENSE")?),
        ("values.yaml".to_owned(), values),
        ("values.schema.json".to_owned(), schema + "\n"),
    ];
    for file in ["crds", "policies", "manager"] {
        let mut marks = Marks::default();
        let objects: Vec<Value> = all
            .iter()
            .filter(|object| file_of(kind(object)) == Some(file))
            .map(|object| template(object.clone(), &mut marks))
            .collect::<Result<_>>()?;
        files.push((format!("templates/{file}.yaml"), marks.resolved(&yaml::documents(&objects)?)?));
    }
    Ok(files)
}

/// Which file of the chart has objects of this kind.
fn file_of(kind: &str) -> Option<&'static str> {
    match kind {
        // `helm install --create-namespace` creates it.
        "Namespace" => None,
        "CustomResourceDefinition" => Some("crds"),
        _ if kind.starts_with("ValidatingAdmissionPolicy") => Some("policies"),
        _ => Some("manager"),
    }
}

fn kind(object: &Value) -> &str {
    object.get("kind").and_then(Value::as_str).unwrap_or_default()
}

/// An object with marks where templates are to be.
fn template(mut object: Value, marks: &mut Marks) -> Result<Value> {
    let text = object.to_string();
    ensure!(!text.contains("{{"), "an object has what Helm takes for a template: {text}");
    in_the_namespace_of_the_release(&mut object, marks)?;
    match kind(&object) {
        "CustomResourceDefinition" => {
            let metadata = fields(&mut object, "/metadata")?;
            metadata.entry("annotations").or_insert_with(|| json!({}));
            let annotations = fields(&mut object, "/metadata/annotations")?;
            annotations.insert("helm.sh/resource-policy".to_owned(), json!("keep"));
        }
        "ServiceAccount" => {
            let annotations = marks.if_set(".Values.serviceAccount.annotations");
            fields(&mut object, "/metadata")?.insert("annotations".to_owned(), annotations);
        }
        "Deployment" => with_values(&mut object, marks)?,
        _ => {}
    }
    Ok(object)
}

/// Whatever names the namespace of deploy/ names that of the release.
fn in_the_namespace_of_the_release(value: &mut Value, marks: &mut Marks) -> Result<()> {
    match value {
        Value::String(text) if text == NAMESPACE => *value = marks.text("{{ .Release.Namespace }}"),
        Value::String(text) => ensure!(!text.contains(NAMESPACE), "{NAMESPACE} within a text: {text}"),
        Value::Array(items) => {
            for item in items {
                in_the_namespace_of_the_release(item, marks)?;
            }
        }
        Value::Object(fields) => {
            for field in fields.values_mut() {
                in_the_namespace_of_the_release(field, marks)?;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}

/// The Deployment with what users may set.
fn with_values(deployment: &mut Value, marks: &mut Marks) -> Result<()> {
    fields(deployment, "/spec")?.insert("replicas".to_owned(), marks.text("{{ .Values.replicas }}"));
    let pod = fields(deployment, "/spec/template/spec")?;
    pod.insert("tolerations".to_owned(), marks.if_set(".Values.tolerations"));
    for (field, value) in [
        ("affinity", ".Values.affinity"),
        ("imagePullSecrets", ".Values.imagePullSecrets"),
        ("nodeSelector", ".Values.nodeSelector"),
        ("priorityClassName", ".Values.priorityClassName"),
        ("topologySpreadConstraints", ".Values.topologySpreadConstraints"),
    ] {
        ensure!(!pod.contains_key(field), "deploy/ sets {field}: the chart needs it as a default");
        pod.insert(field.to_owned(), marks.if_set(value));
    }
    let container = fields(deployment, CONTAINER)?;
    let image = "{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:\
                 {{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}";
    container.insert("image".to_owned(), marks.text(image));
    container.insert("resources".to_owned(), marks.if_set(".Values.resources"));
    for (field, value) in [("args", ".Values.extraArgs"), ("env", ".Values.extraEnv")] {
        let list = container.get_mut(field).and_then(Value::as_array_mut);
        list.with_context(|| format!("deploy/ has no {field}"))?.push(marks.items(value));
    }
    Ok(())
}

fn fields<'a>(object: &'a mut Value, pointer: &str) -> Result<&'a mut Map<String, Value>> {
    object.pointer_mut(pointer).and_then(Value::as_object_mut).with_context(|| format!("no {pointer}"))
}
