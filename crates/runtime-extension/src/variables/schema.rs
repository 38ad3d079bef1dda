//! Schemas of variables, cut from the CRDs of the templates: what they accept, their descriptions and inner defaults.

use super::table::Object;
use foo_api::{FooClusterTemplate, FooControlPlaneTemplate, FooMachinePoolTemplate, FooNodeConfigTemplate};
use kube::CustomResourceExt;
use serde_json::{Map, Value, json};

/// What Cluster API's schemas of variables know (v1.14, `JSONSchemaProps` of `core/v1beta2`). The rest of a CRD's
/// schema is about merging and about `null`, which means nothing in a variable.
const KNOWN: [&str; 25] = [
    "additionalProperties",
    "default",
    "description",
    "enum",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "pattern",
    "properties",
    "required",
    "type",
    "uniqueItems",
    "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

/// A variable has no schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SchemaError {
    /// The CRD has no such field.
    #[error("the CRD of {0} has no field {1}")]
    NoField(&'static str, String),
    /// A CRD cannot be written as JSON.
    #[error("the CRD of {0} cannot be written as JSON")]
    NoJson(&'static str),
    /// A default is not JSON.
    #[error("the default of variable {0} is not JSON")]
    Default(String),
}

/// Schemas of what is below `spec.template.spec` of each template.
#[derive(Debug)]
pub(super) struct Schemas {
    cluster: Value,
    control_plane: Value,
    pool: Value,
    nodes: Value,
}

impl Schemas {
    /// Those of the CRDs of this build.
    pub(super) fn of_crds() -> Result<Self, SchemaError> {
        Ok(Self {
            cluster: spec_of::<FooClusterTemplate>("FooClusterTemplate")?,
            control_plane: spec_of::<FooControlPlaneTemplate>("FooControlPlaneTemplate")?,
            pool: spec_of::<FooMachinePoolTemplate>("FooMachinePoolTemplate")?,
            nodes: spec_of::<FooNodeConfigTemplate>("FooNodeConfigTemplate")?,
        })
    }

    /// The schema of a field, as a variable can have it.
    pub(super) fn at(&self, object: Object, field: &[&str]) -> Result<Value, SchemaError> {
        let (kind, schema) = match object {
            Object::Cluster => ("FooClusterTemplate", &self.cluster),
            Object::ControlPlane | Object::EksControlPlane => {
                ("FooControlPlaneTemplate", &self.control_plane)
            }
            Object::Pool | Object::PoolOfOneType | Object::PoolOfSeveralTypes => {
                ("FooMachinePoolTemplate", &self.pool)
            }
            Object::Nodes => ("FooNodeConfigTemplate", &self.nodes),
        };
        let found = field.iter().try_fold(schema, |at, name| at.get("properties")?.get(name));
        found.map(known).ok_or_else(|| SchemaError::NoField(kind, field.join(".")))
    }

    /// Names of the fields at that place.
    #[cfg(test)]
    pub(super) fn fields(&self, object: Object, field: &[&str]) -> Vec<String> {
        let schema = match object {
            Object::Cluster => &self.cluster,
            Object::ControlPlane | Object::EksControlPlane => &self.control_plane,
            Object::Pool | Object::PoolOfOneType | Object::PoolOfSeveralTypes => &self.pool,
            Object::Nodes => &self.nodes,
        };
        let at = field.iter().fold(schema, |at, name| &at["properties"][name]);
        at["properties"].as_object().into_iter().flat_map(|fields| fields.keys().cloned()).collect()
    }
}

fn spec_of<K: CustomResourceExt>(kind: &'static str) -> Result<Value, SchemaError> {
    let crd = serde_json::to_value(K::crd()).map_err(|_error| SchemaError::NoJson(kind))?;
    let path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/template/properties/spec";
    crd.pointer(path).cloned().ok_or_else(|| SchemaError::NoField(kind, "spec.template.spec".to_owned()))
}

/// A schema without what Cluster API does not know. Limits are written without a fraction: they are whole numbers to
/// it, and it reads no `10000.0` as one.
fn known(schema: &Value) -> Value {
    let Some(fields) = schema.as_object() else { return schema.clone() };
    let kept = fields.iter().filter(|(key, _)| KNOWN.contains(&key.as_str())).map(|(key, value)| {
        let value = match key.as_str() {
            "properties" => {
                let fields = value.as_object().into_iter().flatten();
                Value::Object(fields.map(|(name, field)| (name.clone(), known(field))).collect())
            }
            "items" | "additionalProperties" => known(value),
            "maximum" | "minimum" => whole(value),
            _ => value.clone(),
        };
        (key.clone(), value)
    });
    Value::Object(kept.collect())
}

fn whole(number: &Value) -> Value {
    let text = number.to_string();
    text.strip_suffix(".0")
        .and_then(|whole| whole.parse::<i64>().ok())
        .map_or_else(|| number.clone(), Value::from)
}

/// Removes the rules of a list's items. Core (v1.14) judges the default of a variable as if it were a whole object,
/// so that it cannot compile them, and refuses the variable. The API server judges the object that gets the value by
/// the same rules.
pub(super) fn drop_rules_of_items(fields: &mut Map<String, Value>) {
    if let Some(items) = fields.get_mut("items").and_then(Value::as_object_mut) {
        items.remove("x-kubernetes-validations");
    }
}

/// A text or list that may be empty, too, and is by default.
pub(super) fn allow_empty(fields: &mut Map<String, Value>) {
    if fields.get("type").is_some_and(|of| of == "array") {
        fields.remove("minItems");
        fields.insert("default".to_owned(), json!([]));
        return;
    }
    fields.remove("minLength");
    if let Some(Value::String(pattern)) = fields.get_mut("pattern") {
        *pattern = format!("^$|{pattern}");
    }
    fields.insert("default".to_owned(), json!(""));
}
