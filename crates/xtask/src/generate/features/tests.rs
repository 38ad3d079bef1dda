use super::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Fields of FooMachinePool's spec that are no features: only the provider writes them.
const NO_FEATURES: [&str; 2] = ["spec.providerID", "spec.providerIDList"];

fn rows() -> impl Iterator<Item = &'static Row> {
    SECTIONS.iter().flat_map(|(_, rows)| *rows)
}

/// All fields of each kind's spec, by the CRDs in deploy/crd (`tests/golden.rs` compares these with that folder); each
/// with whether there are fields below it.
fn fields() -> BTreeMap<String, BTreeMap<String, Below>> {
    let mut kinds = BTreeMap::new();
    for crd in crate::generate::crds().unwrap() {
        let kind = crd["spec"]["names"]["kind"].as_str().unwrap().to_owned();
        let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        let fields: &mut BTreeMap<_, _> = kinds.entry(kind).or_default();
        walk("spec", &schema["properties"]["spec"], fields);
    }
    kinds
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    Fields,
    Nothing,
}

fn walk(path: &str, schema: &Value, found: &mut BTreeMap<String, Below>) {
    if schema["items"].is_object() {
        // A list is there by its own name as well, whatever its items are.
        found.insert(path.to_owned(), Below::Fields);
        return walk(&format!("{path}[]"), &schema["items"], found);
    }
    let below = schema["properties"].as_object();
    found.insert(path.to_owned(), if below.is_some() { Below::Fields } else { Below::Nothing });
    for (name, field) in below.into_iter().flatten() {
        walk(&format!("{path}.{name}"), field, found);
    }
}

/// Whether a path is this field or below it.
fn covers(field: &str, path: &str) -> bool {
    path.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The name of each test in a Rust file: of each function that an attribute marks as one.
fn tests_in(text: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some(rest) = line.strip_prefix("async fn ").or_else(|| line.strip_prefix("fn ")) {
            names.extend(rest.split('(').next().filter(|_| is_test));
            is_test = false;
        }
    }
    names
}

#[test]
fn every_named_field_is_in_the_crds() {
    let kinds = fields();
    let named = rows().flat_map(|row| row.provider.fields());
    let missing: Vec<_> =
        named.filter(|(kind, path)| !kinds.get(*kind).is_some_and(|it| it.contains_key(*path))).collect();
    assert!(missing.is_empty(), "the CRDs have no fields {missing:#?}");
}

#[test]
fn every_field_of_a_pool_has_a_row() {
    let named = rows().flat_map(|row| row.provider.fields()).filter(|(kind, _)| *kind == "FooMachinePool");
    let named: Vec<&str> = named.map(|(_, path)| *path).chain(NO_FEATURES).collect();
    let fields = fields().remove("FooMachinePool").unwrap();
    let ends = fields.iter().filter(|(_, below)| **below == Below::Nothing).map(|(path, _)| path);
    let without: Vec<_> = ends.filter(|path| !named.iter().any(|field| covers(field, path))).collect();
    assert!(without.is_empty(), "no row in features/rows.rs names {without:#?}");
    assert!(!named.contains(&"spec"), "it would be the row of every field");
    for field in NO_FEATURES {
        assert!(fields.contains_key(field), "a pool has no field {field}");
    }
}

#[test]
fn every_named_test_is_there() {
    let mut missing = Vec::new();
    for test in rows().flat_map(|row| row.tests) {
        let (file, name) = test.split_once("::").unwrap_or((test, ""));
        let text = std::fs::read_to_string(crate::root().join(file)).unwrap_or_default();
        if !tests_in(&text).contains(name) {
            missing.push(*test);
        }
    }
    assert!(missing.is_empty(), "there are no tests {missing:#?}");
}

#[test]
fn what_a_pool_can_have_is_tested() {
    for row in rows().filter(|row| !matches!(row.provider, Provider::No(..))) {
        assert!(!row.provider.fields().is_empty(), "no field: {}", row.feature);
        assert!(!row.tests.is_empty(), "no test: {}", row.feature);
    }
}

#[test]
fn features_are_listed_once_and_no_text_breaks_the_table() {
    let mut features = BTreeSet::new();
    for row in rows() {
        assert!(features.insert(row.feature), "{} is listed twice", row.feature);
        assert_eq!(line(row).matches('|').count(), 7, "{}", line(row));
    }
}

#[test]
fn a_field_covers_what_is_below_it_and_no_longer_name() {
    assert!(covers("spec.volumes", "spec.volumes[].sizeGiB"));
    assert!(covers("spec.spot", "spec.spot.maxPrice") && covers("spec.spot", "spec.spot"));
    assert!(!covers("spec.providerID", "spec.providerIDList"));
    assert!(!covers("spec.spot.maxPrice", "spec.spot"));
}

#[test]
fn only_functions_with_an_attribute_are_tests() {
    let text =
        "#[test]\nfn a() {}\n#[tokio::test(start_paused = true)]\n#[expect(x)]\nasync fn b() {}\nfn c() {}\n";
    assert_eq!(tests_in(text), BTreeSet::from(["a", "b"]));
}
