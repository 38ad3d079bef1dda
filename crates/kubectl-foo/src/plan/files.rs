//! Manifests of FooMachinePools, MachinePools, FooControlPlanes and FooClusters, from files as `kubectl apply -f` takes them.

use anyhow::{Context as _, Result, bail};
use foo_api::capi::MachinePool;
use foo_api::{FooCluster, FooControlPlane, FooMachinePool};
use kube::Resource;
use serde_json::Value;
use std::path::Path;

/// Largest manifest that is read, in bytes: the API server takes less.
const LARGEST: u64 = 8 << 20;

/// A kind that plans are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Planned {
    /// FooMachinePool.
    Pool,
    /// MachinePool, of Cluster API.
    MachinePool,
    /// FooControlPlane.
    ControlPlane,
    /// FooCluster.
    Cluster,
}

/// One object of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Its kind.
    pub kind: Planned,
    /// Its name.
    pub name: String,
    /// Its namespace, if the file has it.
    pub namespace: Option<String>,
    /// All of it.
    pub object: Value,
}

/// What is in files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifests {
    /// Objects that can be planned.
    pub planned: Vec<Manifest>,
    /// Kinds and names of the others.
    pub others: Vec<String>,
}

/// The objects of a file, or of standard input if its name is `-`.
///
/// # Errors
/// It cannot be read, or is neither YAML nor JSON.
pub fn read(path: &Path, into: &mut Manifests) -> Result<()> {
    parse(&text(path)?, into).with_context(|| format!("reading {}", path.display()))
}

/// The text of a file, or of standard input if its name is `-`, of at most 8 MiB.
///
/// # Errors
/// It cannot be read, or is longer.
pub fn text(path: &Path) -> Result<String> {
    let shown = path.display().to_string();
    let text = if shown == "-" {
        std::io::read_to_string(std::io::Read::take(std::io::stdin(), LARGEST + 1))
    } else {
        let file = std::fs::File::open(path).with_context(|| format!("reading {shown}"))?;
        std::io::read_to_string(std::io::Read::take(file, LARGEST + 1))
    };
    let text = text.with_context(|| format!("reading {shown}"))?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > LARGEST {
        bail!("{shown} is larger than {LARGEST} bytes");
    }
    Ok(text)
}

/// The objects of a text.
///
/// # Errors
/// It is neither YAML nor JSON, or an object has no name.
pub fn parse(text: &str, into: &mut Manifests) -> Result<()> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(text)?;
    documents.into_iter().try_for_each(|document| add(document, into))
}

/// An object alone, or those of a List.
pub(crate) fn items(document: Value) -> Vec<Value> {
    match document {
        Value::Object(mut list) if list.get("kind").and_then(Value::as_str) == Some("List") => {
            match list.remove("items") {
                Some(Value::Array(all)) => all.into_iter().flat_map(items).collect(),
                _ => Vec::new(),
            }
        }
        object => vec![object],
    }
}

/// Adds an object, or those of a List.
///
/// # Errors
/// It has no kind or no name.
pub fn add(document: Value, into: &mut Manifests) -> Result<()> {
    items(document).into_iter().try_for_each(|object| add_one(object, into))
}

fn add_one(object: Value, into: &mut Manifests) -> Result<()> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, kind, name) = (text("/apiVersion"), text("/kind"), text("/metadata/name"));
    if kind.is_empty() {
        if object.is_null() {
            return Ok(());
        }
        bail!("an object has no kind");
    }
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let planned = if is::<FooMachinePool>(group, &kind) {
        Planned::Pool
    } else if is::<MachinePool>(group, &kind) {
        Planned::MachinePool
    } else if is::<FooControlPlane>(group, &kind) {
        Planned::ControlPlane
    } else if is::<FooCluster>(group, &kind) {
        Planned::Cluster
    } else {
        into.others.push(format!("{kind} {name}"));
        return Ok(());
    };
    if name.is_empty() {
        bail!("a {kind} has no name");
    }
    let namespace = Some(text("/metadata/namespace")).filter(|namespace| !namespace.is_empty());
    into.planned.push(Manifest { kind: planned, name, namespace, object });
    Ok(())
}

fn is<K: Resource<DynamicType = ()>>(group: &str, kind: &str) -> bool {
    K::group(&()) == group && K::kind(&()) == kind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_planned_is_found_among_other_objects() {
        let text = "\
---
apiVersion: infrastructure.foo.com/v1alpha1
kind: FooMachinePool
metadata: {name: workers, namespace: team}
spec: {maxSize: 3}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
---
apiVersion: v1
kind: List
items:
- apiVersion: cluster.x-k8s.io/v1beta2
  kind: MachinePool
  metadata: {name: workers}
- apiVersion: other.example.com/v1
  kind: MachinePool
  metadata: {name: other}
---
apiVersion: controlplane.foo.com/v1alpha1
kind: FooControlPlane
metadata: {name: prod}
---
apiVersion: infrastructure.foo.com/v1alpha1
kind: FooCluster
metadata: {name: net}
---
";
        let mut found = Manifests::default();
        parse(text, &mut found).unwrap();
        let planned: Vec<_> = found.planned.iter().map(|it| (it.kind, it.name.as_str())).collect();
        let expected = [
            (Planned::Pool, "workers"),
            (Planned::MachinePool, "workers"),
            (Planned::ControlPlane, "prod"),
            (Planned::Cluster, "net"),
        ];
        assert_eq!(planned, expected);
        assert_eq!(found.planned[0].namespace.as_deref(), Some("team"));
        assert_eq!(found.planned[1].namespace, None);
        assert_eq!(found.planned[0].object["spec"]["maxSize"], 3);
        assert_eq!(found.others, ["ConfigMap settings", "MachinePool other"]);
    }

    #[test]
    fn json_is_read_as_well_and_what_is_no_object_is_refused() {
        let pool = r#"{"apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooMachinePool", "metadata": {"name": "w"}}"#;
        let mut found = Manifests::default();
        parse(pool, &mut found).unwrap();
        assert_eq!(found.planned.len(), 1);
        for wrong in ["a: [", "a: 1", &pool.replace("\"name\": \"w\"", "")] {
            assert!(parse(wrong, &mut found).is_err(), "{wrong}");
        }
    }
}
