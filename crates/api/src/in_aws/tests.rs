use super::nothing::NOTHING;
use super::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

type Fields = BTreeSet<(String, String)>;

/// Every field of every spec that holds a text, or whatever its schema leaves open. Those of a template are those of its kind.
fn texts() -> Fields {
    let mut found = Fields::new();
    for crd in crate::crds() {
        let kind = crd.spec.names.kind.clone();
        let schema = serde_json::to_value(&crd.spec.versions[0].schema).unwrap();
        let (kind, pointer) = match kind.strip_suffix("Template") {
            Some(of) => (of.to_owned(), "/properties/spec/properties/template/properties/spec"),
            None => (kind, "/properties/spec"),
        };
        let spec = schema["openAPIV3Schema"].pointer(pointer).unwrap();
        walk(&kind, "spec", spec, &mut found);
    }
    found
}

fn walk(kind: &str, path: &str, schema: &Value, found: &mut Fields) {
    if let Some(fields) = schema["properties"].as_object() {
        for (name, field) in fields {
            walk(kind, &format!("{path}.{name}"), field, found);
        }
        return;
    }
    match schema["type"].as_str() {
        Some("boolean" | "integer" | "number") => {}
        Some("array") => walk(kind, &format!("{path}[]"), &schema["items"], found),
        Some("object") if schema["additionalProperties"].is_object() => {
            walk(kind, &format!("{path}{{}}"), &schema["additionalProperties"], found);
        }
        Some("string") if schema["enum"].is_array() => {}
        _ => drop(found.insert((kind.to_owned(), path.to_owned()))),
    }
}

/// Whether a path is this one, or below it if that ends in `.*`.
fn covers(listed: &str, path: &str) -> bool {
    match listed.strip_suffix(".*") {
        Some(above) => path.strip_prefix(above).is_some_and(|rest| rest.starts_with(['.', '[', '{'])),
        None => listed == path,
    }
}

#[test]
fn a_field_has_a_row_or_a_reason_why_it_names_nothing_in_aws() {
    let with_row = ROWS.iter().flat_map(|row| row.fields);
    let listed: Vec<_> = with_row.chain(NOTHING.iter().flat_map(|(_, fields)| *fields)).collect();
    let texts = texts();
    let places = |(kind, path): &(String, String)| {
        listed.iter().filter(|(of, listed)| of == kind && covers(listed, path)).count()
    };
    let without: Vec<_> = texts.iter().filter(|field| places(field) == 0).collect();
    assert!(
        without.is_empty(),
        "these fields may name something in AWS: give each a row in in_aws/rows.rs, and a limit of the FooClusterIdentity that the \
         manager enforces; or a reason in in_aws/nothing.rs: {without:#?}"
    );
    let twice: Vec<_> = texts.iter().filter(|field| places(field) > 1).collect();
    assert!(twice.is_empty(), "{twice:#?}");
    let exists = |kind: &str, listed: &str| texts.iter().any(|(of, path)| of == kind && covers(listed, path));
    let gone: Vec<_> = listed.iter().filter(|(kind, listed)| !exists(kind, listed)).collect();
    assert!(gone.is_empty(), "no such fields: {gone:#?}");
}

#[test]
fn everything_that_can_be_named_has_one_row() {
    let things: BTreeSet<Thing> = ROWS.iter().map(|row| row.thing).collect();
    assert_eq!(things.len(), ROWS.len());
    // Exhaustive by the compiler in `allowed`.
    assert!(Thing::Tag.row().is_some());
}

/// The lists of the spec of an identity, by the field.
fn lists() -> BTreeSet<String> {
    let crd = crate::crds().into_iter().find(|crd| crd.spec.names.kind == "FooClusterIdentity").unwrap();
    let schema = serde_json::to_value(&crd.spec.versions[0].schema).unwrap();
    let spec = &schema["openAPIV3Schema"]["properties"]["spec"]["properties"];
    let fields = spec.as_object().unwrap().keys();
    fields.filter(|name| name.starts_with("allowed") && *name != "allowedNamespaces").cloned().collect()
}

#[test]
fn each_list_of_an_identity_limits_what_one_row_says() {
    let mut of_rows = BTreeMap::new();
    for row in ROWS {
        if let Limit::Listed { field, .. } = row.limit {
            assert_eq!(of_rows.insert(field.to_owned(), row.thing), None, "{field}");
        }
    }
    assert_eq!(of_rows.keys().cloned().collect::<BTreeSet<_>>(), lists());
    for (field, thing) in &of_rows {
        let spec: FooClusterIdentitySpec =
            serde_json::from_value(json!({"controller": {}, field: ["one"]})).unwrap();
        assert_eq!(spec.allowed(*thing), Some(["one".to_owned()].as_slice()), "{field}");
        let others = ROWS.iter().map(|row| row.thing).filter(|other| other != thing);
        assert!(others.into_iter().all(|other| spec.allowed(other).is_none()), "{field}");
    }
}

#[test]
fn an_entry_is_a_name_or_how_names_begin() {
    for (entry, name, expected) in [
        ("workers", "workers", true),
        ("workers", "workers2", false),
        ("team-a.*", "team-a.gpu", true),
        ("team-a.*", "team-a", false),
        ("*", "anything", true),
        ("{namespace}.*", "team-a.gpu", true),
        ("{namespace}.*", "team-b.gpu", false),
        ("arn:aws:iam::1:role/{namespace}/*", "arn:aws:iam::1:role/team-a/pods", true),
        ("arn:aws:iam::1:role/{namespace}/*", "arn:aws:iam::1:role/team-a2/pods", false),
    ] {
        assert_eq!(is_about(entry, "team-a", name), expected, "{entry} {name}");
    }
}
