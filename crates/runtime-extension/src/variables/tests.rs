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

/// A new field of a pool is a variable, or is named here with the reason why not.
#[test]
fn every_field_of_a_pool_can_be_set() {
    /// Those of one pool, which no template may have.
    const OF_ONE_POOL: [&str; 3] = ["providerID", "providerIDList", "groupName"];
    let written = |name: &String| {
        TABLE.iter().any(|variable| {
            !matches!(variable.object, Object::Cluster | Object::ControlPlane)
                && variable.field.first() == Some(&name.as_str())
        })
    };
    let fields = schema::Schemas::of_crds().unwrap().pool_fields();
    let missing: Vec<_> =
        fields.iter().filter(|name| !written(name) && !OF_ONE_POOL.contains(&name.as_str())).collect();
    assert_eq!(missing, Vec::<&String>::new());
}

#[test]
fn schemas_say_what_the_fields_say() {
    let all = definitions().unwrap();
    assert_eq!(schema_of(&all, "region")["pattern"], foo_api::patterns::REGION);
    assert_eq!(schema_of(&all, "identity")["pattern"], format!("^$|{}", foo_api::patterns::OBJECT_NAME));
    assert_eq!(schema_of(&all, "rollout")["properties"]["maxSurge"]["default"], json!(1));
    assert_eq!(schema_of(&all, "rollout")["default"], Value::Null, "the template's own stays");
    let rules = schema_of(&all, "tags")["x-kubernetes-validations"].as_array().unwrap();
    assert!(rules.iter().any(|rule| rule["message"].as_str().unwrap().contains("aws:")));
    for variable in &all {
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

/// A Cluster that changes from one class to the other keeps its variables.
#[test]
fn the_class_with_inline_patches_has_the_same_names_and_defaults() {
    let class: Vec<Value> =
        serde_saphyr::from_multiple(&root("deploy/clusterctl/clusterclass-foo.yaml")).unwrap();
    let all = definitions().unwrap();
    for variable in class[0]["spec"]["variables"].as_array().unwrap() {
        let name = variable["name"].as_str().unwrap();
        let ours = all.iter().find(|ours| ours.name == name).unwrap_or_else(|| panic!("no variable {name}"));
        let schema = &ours.schema.open_api_v3_schema;
        let theirs = &variable["schema"]["openAPIV3Schema"];
        assert_eq!(schema["type"], theirs["type"], "{name}");
        if name == table::AMI_ID {
            assert_eq!(ours.required, Some(false), "there is the variable images");
            continue;
        }
        assert_eq!(json!(ours.required), variable["required"], "{name}");
        if name == network::MANAGED {
            assert_eq!(theirs["default"], json!({}), "as without a value here");
            assert_eq!(schema["default"], Value::Null);
            continue;
        }
        assert_eq!(schema["default"], theirs["default"], "{name}");
    }
}

#[test]
fn every_variable_is_documented_with_its_default() {
    let page = root("docs/extensions/foo.md");
    let rows = page.lines().skip_while(|line| !line.starts_with("| Variable |")).skip(2);
    let documented: Vec<(String, String)> = rows
        .take_while(|line| line.starts_with('|'))
        .map(|row| {
            let cells: Vec<String> = row.split('|').map(|cell| cell.trim().replace('`', "")).collect();
            (cells[1].clone(), cells[2].clone())
        })
        .collect();
    let found: Vec<(String, String)> = definitions()
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
    assert_eq!(documented, found);
}
