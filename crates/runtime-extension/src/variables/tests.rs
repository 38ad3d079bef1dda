//! The variables beside the CRDs, the ClusterClass with inline patches, and the page for users.

use super::*;
use serde_json::{Value, json};

fn root(path: &str) -> String {
    let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn schema_of<'a>(all: &'a [VariableDefinition], name: &str) -> &'a Value {
    let found = all.iter().find(|variable| variable.name == name);
    &found.unwrap_or_else(|| panic!("no variable {name}")).schema.open_api_v3_schema
}

/// Fields at a place of an object that no variable of its class is written to, except those that the test names.
fn without_variable(class: Class, object: Object, at: &[&str], except: &[&str]) -> Vec<String> {
    let of_object = |variable: &&Variable| match object {
        Object::Pool => {
            matches!(variable.object, Object::Pool | Object::PoolOfOneType | Object::PoolOfSeveralTypes)
        }
        Object::Cluster
        | Object::ControlPlane
        | Object::EksControlPlane
        | Object::PoolOfOneType
        | Object::PoolOfSeveralTypes
        | Object::Nodes => variable.object == object,
    };
    let written: Vec<&str> = class
        .table()
        .filter(of_object)
        .filter_map(|variable| variable.field.strip_prefix(at)?.first().copied())
        .collect();
    let fields = schema::Schemas::of_crds().unwrap().fields(object, at);
    assert!(!fields.is_empty(), "{object:?} has no fields at {at:?}");
    fields
        .into_iter()
        .filter(|name| ![&written, except].iter().any(|of| of.contains(&name.as_str())))
        .collect()
}

/// A new field is a variable, or is named here with the reason why not.
#[test]
fn every_field_of_a_pool_of_its_nodes_and_of_an_eks_cluster_can_be_set() {
    /// Those of one pool, which no template may have.
    const OF_ONE_POOL: [&str; 5] =
        ["providerID", "providerIDList", "groupName", "launchTemplateName", "adopt"];
    /// That of the class's image, and what an EKS control plane reports.
    const KNOWN_OF_NODES: [&str; 2] = ["family", "cluster"];
    for class in [Class::External, Class::Eks] {
        assert_eq!(without_variable(class, Object::Pool, &[], &OF_ONE_POOL), Vec::<String>::new());
    }
    assert_eq!(without_variable(Class::Eks, Object::Nodes, &[], &KNOWN_OF_NODES), Vec::<String>::new());
    assert_eq!(without_variable(Class::Eks, Object::EksControlPlane, &["eks"], &[]), Vec::<String>::new());
}

/// Otherwise a Cluster could set only one of two fields.
#[test]
fn no_class_has_two_variables_of_one_name() {
    for class in [Class::External, Class::Eks] {
        let all = definitions(class).unwrap();
        let names: std::collections::BTreeSet<&str> =
            all.iter().map(|variable| variable.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
    }
}

#[test]
fn schemas_match_the_fields() {
    let all = definitions(Class::External).unwrap();
    assert_eq!(schema_of(&all, "region")["pattern"], foo_api::patterns::REGION);
    assert_eq!(schema_of(&all, "identity")["pattern"], format!("^$|{}", foo_api::patterns::OBJECT_NAME));
    assert_eq!(schema_of(&all, "rollout")["properties"]["maxSurge"]["default"], json!(1));
    assert_eq!(schema_of(&all, "rollout")["default"], Value::Null, "the template's own stays");
    let rules = schema_of(&all, "tags")["x-kubernetes-validations"].as_array().unwrap();
    assert!(rules.iter().any(|rule| rule["message"].as_str().unwrap().contains("aws:")));
    for variable in all.into_iter().chain(definitions(Class::Eks).unwrap()) {
        let schema = &variable.schema.open_api_v3_schema;
        assert!(schema["description"].is_string(), "{}", variable.name);
        assert!(schema["type"].is_string(), "{}: {schema}", variable.name);
        let text = schema.to_string();
        assert!(
            !text.contains("nullable") && !text.contains("x-kubernetes-list"),
            "{}: {text}",
            variable.name
        );
    }
}

/// The variables of the ClusterClass in a file of deploy/clusterctl.
fn inline(file: &str) -> Vec<Value> {
    let objects: Vec<Value> =
        serde_saphyr::from_multiple(&root(&format!("deploy/clusterctl/{file}"))).unwrap();
    objects[0]["spec"]["variables"].as_array().unwrap().clone()
}

/// A Cluster that changes from one class to the other keeps its variables.
#[test]
fn the_classes_with_inline_patches_have_the_same_names_and_defaults() {
    for (class, file) in
        [(Class::External, "clusterclass-foo.yaml"), (Class::Eks, "clusterclass-foo-eks.yaml")]
    {
        let all = definitions(class).unwrap();
        for variable in inline(file) {
            let name = variable["name"].as_str().unwrap();
            let own = all.iter().find(|own| own.name == name).unwrap_or_else(|| panic!("no variable {name}"));
            let schema = &own.schema.open_api_v3_schema;
            let inline = &variable["schema"]["openAPIV3Schema"];
            assert_eq!(schema["type"], inline["type"], "{name}");
            if (class, name) == (Class::External, table::AMI_ID) {
                assert_eq!(own.required, Some(false), "there is the variable images");
                continue;
            }
            assert_eq!(json!(own.required), variable["required"], "{name}");
            if name == network::MANAGED {
                assert_eq!(inline["default"], json!({}), "as without a value here");
                assert_eq!(schema["default"], Value::Null);
                continue;
            }
            assert_eq!(schema["default"], inline["default"], "{name}");
        }
    }
}

/// Structure, names, limits and inner defaults of a schema; not its texts, patterns and rules.
fn shape(schema: &Value) -> Value {
    const OF_SHAPE: [&str; 12] = [
        "type",
        "enum",
        "required",
        "default",
        "minItems",
        "maxItems",
        "maxProperties",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "x-kubernetes-preserve-unknown-fields",
    ];
    let mut kept = Map::new();
    for (key, value) in schema.as_object().unwrap() {
        let value = match key.as_str() {
            "properties" => {
                value.as_object().unwrap().iter().map(|(name, field)| (name.clone(), shape(field))).collect()
            }
            "items" | "additionalProperties" => shape(value),
            // Their order means nothing.
            "required" | "enum" => {
                let mut names = value.as_array().unwrap().clone();
                names.sort_by_key(Value::to_string);
                Value::Array(names)
            }
            key if OF_SHAPE.contains(&key) => value.clone(),
            _ => continue,
        };
        kept.insert(key.clone(), value);
    }
    Value::Object(kept)
}

/// What the class with inline patches writes by hand, it writes as our API has it.
#[test]
fn the_schemas_of_the_eks_class_with_inline_patches_are_those_of_the_api() {
    let all = definitions(Class::Eks).unwrap();
    let by_hand = inline("clusterclass-foo-eks.yaml");
    for name in
        ["endpointAccess", "addons", "accessEntries", "logging", "nodeLabels", "nodeTaints", "imagePolicy"]
    {
        let inline = by_hand.iter().find(|variable| variable["name"] == name).unwrap();
        similar_asserts::assert_eq!(
            shape(&inline["schema"]["openAPIV3Schema"]),
            shape(schema_of(&all, name)),
            "{name}"
        );
    }
}

/// The table below a heading of the page beside what the class has.
fn is_documented(class: Class, heading: &str) {
    let page = root("docs/extensions/foo.md");
    let section = page.split("\n## ").find(|section| section.starts_with(heading)).unwrap();
    let rows = section.lines().skip_while(|line| !line.starts_with("| Variable |")).skip(2);
    let documented: Vec<(String, String)> = rows
        .take_while(|line| line.starts_with('|'))
        .map(|row| {
            let cells: Vec<String> = row.split('|').map(|cell| cell.trim().replace('`', "")).collect();
            (cells[1].clone(), cells[2].clone())
        })
        .collect();
    let found: Vec<(String, String)> = definitions(class)
        .unwrap()
        .into_iter()
        .map(|variable| {
            let default = match variable.schema.open_api_v3_schema.get("default") {
                Some(value) => value.to_string(),
                None if variable.required == Some(true) => "required".to_owned(),
                None => String::new(),
            };
            (variable.name, default)
        })
        .collect();
    similar_asserts::assert_eq!(documented, found);
}

#[test]
fn every_variable_is_documented_with_its_default() {
    is_documented(Class::External, "Variables\n");
    is_documented(Class::Eks, "Variables of EKS clusters\n");
}

/// The real core refused the variable `addons` with them.
#[test]
fn lists_with_a_default_have_no_rules_of_items() {
    for class in [Class::External, Class::Eks] {
        for variable in definitions(class).unwrap() {
            let schema = variable.schema.open_api_v3_schema;
            let has_default = schema["default"].as_array().is_some_and(|items| !items.is_empty());
            let rules = schema.pointer("/items/x-kubernetes-validations");
            assert!(!has_default || rules.is_none(), "{}: {rules:?}", variable.name);
        }
    }
}
