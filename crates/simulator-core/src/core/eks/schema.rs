//! Holds configuration values against the JSON schema of an add-on: as much of JSON Schema (draft 7) as the schemas of the
//! catalogue use.

use serde_json::{Map, Value};

/// What is wrong with a value, as EKS says it: where, and what. Nothing if it fits.
pub(in crate::core) fn complaints(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check("$", schema, value, &mut found);
    found
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn check(at: &str, schema: &Value, value: &Value, found: &mut Vec<String>) {
    let kind = kind_of(value);
    let expected: Vec<&str> = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(one)) => vec![one.as_str()],
        _ => vec![kind],
    };
    if !expected.contains(&kind) {
        found.push(format!("{at}: {kind} found, {} expected", expected.join(", ")));
        return;
    }
    if let Some(Value::Array(values)) = schema.get("enum")
        && !values.contains(value)
    {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        found.push(format!("{at}: does not have a value in the enumeration [{}]", values.join(", ")));
    }
    match value {
        Value::Object(members) => check_members(at, schema, members, found),
        Value::Array(items) => {
            let Some(of_items) = schema.get("items") else { return };
            for (number, item) in items.iter().enumerate() {
                check(&format!("{at}[{number}]"), of_items, item, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn check_members(at: &str, schema: &Value, members: &Map<String, Value>, found: &mut Vec<String>) {
    let known = schema.get("properties");
    let others = schema.get("additionalProperties");
    for (name, member) in members {
        let here = format!("{at}.{name}");
        match known.and_then(|known| known.get(name)).or(others) {
            Some(Value::Bool(false)) => found.push(format!(
                "{here}: is not defined in the schema and the schema does not allow additional properties"
            )),
            Some(schema) => check(&here, schema, member, found),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::eks::addon_catalogue::{CATALOGUE, find};
    use serde_json::json;

    #[test]
    fn values_are_held_against_the_schema() {
        let schema = find("coredns").expect("in the catalogue").schema;
        let schema: Value = serde_json::from_str(schema).expect("JSON");
        assert_eq!(complaints(&schema, &json!({ "replicaCount": 3, "affinity": null })), [""; 0]);
        let bad = json!({ "replicaCount": "3", "autoScaling": { "on": true }, "tolerations": [1] });
        assert_eq!(
            complaints(&schema, &bad),
            [
                "$.autoScaling.on: is not defined in the schema and the schema does not allow additional properties",
                "$.replicaCount: string found, integer expected",
                "$.tolerations[0]: integer found, object expected",
            ]
        );
        assert_eq!(complaints(&schema, &Value::Null), ["$: null found, object expected"]);
    }

    #[test]
    fn every_schema_is_json_and_every_version_of_kubernetes_has_each_add_on() {
        for addon in CATALOGUE {
            serde_json::from_str::<Value>(addon.schema).expect(addon.name);
            for offer in crate::core::eks::versions::offers() {
                assert!(addon.default_for(offer.version).is_some(), "{} {}", addon.name, offer.version);
            }
        }
        let proxy = find("kube-proxy").and_then(|it| it.default_for(foo_model::eks::Minor(34)));
        assert_eq!(proxy.map(|it| it.version), Some("v1.34.1-eksbuild.2"));
    }
}
