//! Lists of everything that is linked into the programs of a release (SBOM), as CycloneDX 1.6 in JSON.
//!
//! Made from `cargo tree` and Cargo.lock alone, so it needs no build and no network, and the same sources give the same
//! bytes: it has no serial number and no time. What only takes part in the build (build scripts, macros, tests) is not in it.

use crate::graph::{self, Crate, Source};
use crate::yaml;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The programs of a release: package and name.
pub const PROGRAMS: [(&str, &str); 3] = [
    ("foo-controller", "foo-manager"),
    ("foo-runtime-extension", "foo-extension"),
    ("kubectl-foo", "kubectl-foo"),
];
/// What is released is built for this target; others link the same crates.
pub const TARGET: &str = "x86_64-unknown-linux-musl";

/// The document for one of [`PROGRAMS`] in a version (`v0.1.0`).
pub fn document(root: &Path, (package, program): (&str, &str), version: &str) -> Result<String> {
    let crates = graph::linked_into(root, package, TARGET)?;
    let sources = graph::sources(root)?;
    let components: Vec<Value> =
        crates.keys().map(|item| component(item, &sources)).collect::<Result<_>>()?;
    let linked = crates.keys().find(|item| item.name == package).context("the program has no package")?;
    let mut dependencies = vec![json!({ "ref": program, "dependsOn": [reference(linked)] })];
    dependencies.extend(crates.iter().map(|(item, on)| {
        let on: Vec<String> = on.iter().map(reference).collect();
        json!({ "ref": reference(item), "dependsOn": on })
    }));
    let document = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": program,
                "name": program,
                "version": version,
                "licenses": [{"expression": env!("CARGO_PKG_LICENSE")}],
            },
            "properties": [{"name": "cargo:target", "value": TARGET}],
        },
        "components": components,
        "dependencies": dependencies,
    });
    let mut text = serde_json::to_string_pretty(&yaml::canonical(&document)).context("writing the SBOM")?;
    text.push('\n');
    Ok(text)
}

/// What other entries call it by.
fn reference(item: &Crate) -> String {
    format!("{}@{}", item.name, item.version)
}

fn component(item: &Crate, sources: &BTreeMap<String, Source>) -> Result<Value> {
    let Crate { name, version, licence, ours } = item;
    let mut fields = vec![
        ("type", json!("library")),
        ("bom-ref", json!(reference(item))),
        ("name", json!(name)),
        ("version", json!(version)),
        // Before SPDX expressions cargo wrote a stroke for OR.
        ("licenses", json!([{"expression": licence.replace('/', " OR ")}])),
    ];
    // Crates of this repository are in no registry.
    if !ours {
        let source = sources.get(&format!("{name} {version}"));
        let checksum = source.and_then(|source| source.checksum.as_ref());
        let checksum = checksum.with_context(|| format!("Cargo.lock has no checksum of {name} {version}"))?;
        fields.push(("hashes", json!([{"alg": "SHA-256", "content": checksum}])));
        fields.push(("purl", json!(purl(name, version))));
    }
    Ok(Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()))
}

/// The package URL of a crate of the registry. A plus sign begins build metadata of a version and has to be escaped.
pub(crate) fn purl(name: &str, version: &str) -> String {
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn parsed() -> Value {
        serde_json::from_str(&document(&crate::root(), PROGRAMS[0], "v0.1.0").unwrap()).unwrap()
    }

    fn components() -> Vec<Value> {
        let document = parsed();
        assert_eq!(document["metadata"]["component"]["version"], "v0.1.0");
        document["components"].as_array().unwrap().clone()
    }

    #[test]
    fn every_component_is_reached_from_the_program() {
        let document = parsed();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let edges: BTreeMap<String, Vec<String>> = document["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| {
                (text(&entry["ref"]), entry["dependsOn"].as_array().unwrap().iter().map(text).collect())
            })
            .collect();
        let mut reached = BTreeSet::new();
        let mut next = vec![text(&document["metadata"]["component"]["bom-ref"])];
        while let Some(at) = next.pop() {
            if reached.insert(at.clone()) {
                next.extend(edges[&at].iter().cloned());
            }
        }
        assert_eq!(reached.len(), edges.len());
        assert_eq!(edges.len(), components().len() + 1);
        let direct = |of: &str| {
            let entry = edges.iter().find(|(name, _)| name.starts_with(&format!("{of}@"))).unwrap();
            entry.1.iter().map(|on| on.split('@').next().unwrap().to_owned()).collect::<BTreeSet<_>>()
        };
        assert!(direct("foo-cloud-adapter").contains("aws-sdk-autoscaling"));
        assert!(direct("foo-planner").iter().all(|name| name != "kube"));
    }

    #[test]
    fn what_the_manager_links_is_listed_and_what_only_builds_or_tests_it_is_not() {
        let components = components();
        let there = |name: &str| components.iter().any(|component| component["name"] == name);
        for name in
            ["foo-controller", "foo-planner", "kube-client", "aws-sdk-ec2", "aws-lc-sys", "rustls", "tokio"]
        {
            assert!(there(name), "{name}");
        }
        for name in
            ["xtask", "foo-testbed", "foo-simulator", "proptest", "stateright", "serde_derive", "cc", "syn"]
        {
            assert!(!there(name), "{name}");
        }
    }

    #[test]
    fn the_plugin_links_neither_the_sdk_nor_the_manager() {
        let plugin = *PROGRAMS.iter().find(|(_, program)| *program == "kubectl-foo").unwrap();
        let document = document(&crate::root(), plugin, "v0.1.0").unwrap();
        assert!(document.contains("\"kube-client\"") && document.contains("\"comfy-table\""));
        assert!(!document.contains("aws-sdk") && !document.contains("foo-controller"));
    }

    #[test]
    fn everything_has_a_version_a_licence_and_unless_it_is_the_workspaces_a_checksum_and_an_address() {
        for component in components() {
            let text =
                |path: &str| component.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
            let name = text("/name");
            assert!(text("/version").starts_with(|c: char| c.is_ascii_digit()), "{name}");
            let licence = text("/licenses/0/expression");
            assert!(!licence.is_empty() && !licence.contains('/'), "{name}: {licence}");
            if name.starts_with("foo-") {
                assert_eq!(licence, "Apache-2.0");
                continue;
            }
            assert_eq!(text("/hashes/0/content").len(), 64, "{name}");
            assert!(text("/purl").starts_with(&format!("pkg:cargo/{name}@")), "{name}");
        }
    }

    #[test]
    fn no_crate_is_listed_twice() {
        let components = components();
        let mut names: Vec<&str> = components.iter().filter_map(|it| it["bom-ref"].as_str()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert_eq!(all, components.len());
    }
}
