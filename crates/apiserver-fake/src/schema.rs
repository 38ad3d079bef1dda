//! What a kind's fields are: structs, maps, lists with keys, or wholes that are replaced at once.
//!
//! One format for all kinds: the JSON of a CRD's `openAPIV3Schema`. Kinds without a CRD get a few lines of it for what
//! matters here (metadata, conditions); what no schema describes is deduced as the API server does it: objects are
//! maps, lists are replaced whole. [`tidy`] and [`faults`] are pruning, defaulting and validation; CEL is not run.

use serde_json::{Map, Value, json};

/// A place in a schema; nothing if the schema does not cover it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schema<'a>(Option<&'a Value>);

/// How a value is taken apart.
#[derive(Debug)]
pub(crate) enum Shape<'a> {
    /// Not at all.
    Whole,
    /// By field or key.
    Fields,
    /// By item.
    Items(Identity<'a>),
}

/// What distinguishes the items of a list.
#[derive(Debug)]
pub(crate) enum Identity<'a> {
    /// The values of these keys.
    Keys(Vec<&'a str>),
    /// The item itself.
    Itself,
}

impl Identity<'_> {
    /// The edge to an item, as in `FieldsV1`.
    pub(crate) fn edge(&self, item: &Value) -> String {
        match self {
            Self::Itself => format!("v:{item}"),
            Self::Keys(keys) => {
                let chosen: Map<String, Value> = keys
                    .iter()
                    .map(|key| ((*key).to_owned(), item.get(key).cloned().unwrap_or(Value::Null)))
                    .collect();
                format!("k:{}", Value::Object(chosen))
            }
        }
    }
}

impl<'a> Schema<'a> {
    pub(crate) fn of(schema: &'a Value) -> Self {
        Self(Some(schema))
    }

    fn get(self, key: &str) -> Option<&'a Value> {
        self.0.and_then(|schema| schema.get(key))
    }

    /// Whether this is a field with a name of its own, not a key of a map.
    pub(crate) fn names_field(self, name: &str) -> bool {
        self.get("properties").is_some_and(|properties| properties.get(name).is_some())
    }

    pub(crate) fn field(self, name: &str) -> Self {
        let named = self.get("properties").and_then(|properties| properties.get(name));
        Self(named.or_else(|| self.get("additionalProperties").filter(|schema| schema.is_object())))
    }

    pub(crate) fn items(self) -> Self {
        Self(self.get("items"))
    }

    pub(crate) fn shape(self, value: &Value) -> Shape<'a> {
        match value {
            Value::Object(_) => match self.get("x-kubernetes-map-type").and_then(Value::as_str) {
                Some("atomic") => Shape::Whole,
                _ => Shape::Fields,
            },
            Value::Array(_) => match self.get("x-kubernetes-list-type").and_then(Value::as_str) {
                Some("set") => Shape::Items(Identity::Itself),
                Some("map") => Shape::Items(Identity::Keys(self.list_keys())),
                _ => Shape::Whole,
            },
            _ => Shape::Whole,
        }
    }

    fn list_keys(self) -> Vec<&'a str> {
        let keys = self.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
        keys.map(|keys| keys.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
    }
}

/// The schema of a whole object: that of the CRD, or nothing but what all objects have.
pub(crate) fn whole_object(crd: Option<Value>) -> Value {
    let conditions = json!({
        "x-kubernetes-preserve-unknown-fields": true,
        "properties": { "conditions": { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] } },
    });
    let mut schema = crd.unwrap_or_else(|| {
        json!({ "x-kubernetes-preserve-unknown-fields": true, "properties": { "status": conditions, "spec": { "x-kubernetes-preserve-unknown-fields": true } } })
    });
    crate::json::set(&mut schema, &["properties", "metadata"], metadata());
    crate::json::set(&mut schema, &["properties", "apiVersion"], json!({ "type": "string" }));
    crate::json::set(&mut schema, &["properties", "kind"], json!({ "type": "string" }));
    schema
}

fn metadata() -> Value {
    json!({
        "x-kubernetes-preserve-unknown-fields": true,
        "properties": {
            "labels": { "type": "object", "additionalProperties": { "type": "string" } },
            "annotations": { "type": "object", "additionalProperties": { "type": "string" } },
            "finalizers": { "type": "array", "x-kubernetes-list-type": "set", "items": { "type": "string" } },
            "ownerReferences": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["uid"],
                "items": {
                    "type": "object",
                    "x-kubernetes-map-type": "atomic",
                    "x-kubernetes-preserve-unknown-fields": true,
                    "required": ["apiVersion", "kind", "name", "uid"],
                },
            },
        },
    })
}

/// Drops fields the schema does not know and fills in its defaults, as the API server does for custom resources.
pub(crate) fn tidy(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(fields) => {
            let open = schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true));
            let properties = schema.get("properties").and_then(Value::as_object);
            let others = schema.get("additionalProperties");
            if let (Some(properties), false, None) = (properties, open, others) {
                fields.retain(|name, _| properties.contains_key(name));
            }
            for (name, below) in properties.into_iter().flatten() {
                if let Some(default) = below.get("default") {
                    let missing = match fields.get(name) {
                        None => true,
                        Some(Value::Null) => below.get("nullable") != Some(&Value::Bool(true)),
                        Some(_) => false,
                    };
                    if missing {
                        fields.insert(name.clone(), default.clone());
                    }
                }
                if let Some(field) = fields.get_mut(name) {
                    tidy(field, below);
                }
            }
            if let Some(below) = others.filter(|schema| schema.is_object()) {
                let named =
                    |name: &String| properties.is_some_and(|properties| properties.contains_key(name));
                for (_, field) in fields.iter_mut().filter(|(name, _)| !named(name)) {
                    tidy(field, below);
                }
            }
        }
        Value::Array(items) => {
            if let Some(below) = schema.get("items") {
                for item in items {
                    tidy(item, below);
                }
            }
        }
        _ => {}
    }
}

/// Fields the schema does not know, as paths: server-side apply refuses them, other writes lose them.
pub(crate) fn undeclared(value: &Value, schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    find_undeclared(value, schema, "", &mut found);
    found
}

fn find_undeclared(value: &Value, schema: &Value, path: &str, found: &mut Vec<String>) {
    let open = schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true));
    let place = Schema::of(schema);
    match value {
        Value::Object(fields) => {
            let closed =
                schema.get("properties").is_some() && schema.get("additionalProperties").is_none() && !open;
            for (name, field) in fields {
                match place.field(name).0 {
                    Some(below) => find_undeclared(field, below, &format!("{path}.{name}"), found),
                    None if closed => found.push(format!("{path}.{name}")),
                    None => {}
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if let Some(below) = place.items().0 {
                    find_undeclared(item, below, &format!("{path}[{index}]"), found);
                }
            }
        }
        _ => {}
    }
}

/// What the schema forbids in a value, one text for each fault.
pub(crate) fn faults(value: &Value, schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(value, schema, "", &mut found);
    found
}

fn check(value: &Value, schema: &Value, path: &str, found: &mut Vec<String>) {
    if value.is_null() {
        if schema.get("nullable") != Some(&Value::Bool(true)) && schema.get("type").is_some() {
            found.push(format!("{path}: Invalid value: \"null\": must not be null"));
        }
        return;
    }
    if schema.get("x-kubernetes-int-or-string") != Some(&Value::Bool(true))
        && let Some(wanted) = schema.get("type").and_then(Value::as_str)
        && !has_type(value, wanted)
    {
        found.push(format!("{path}: Invalid value: {value}: must be of type {wanted}"));
        return;
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        found.push(format!("{path}: Unsupported value: {value}"));
    }
    check_bounds(value, schema, path, found);
    match value {
        Value::Object(fields) => {
            for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
                if let Some(name) = name.as_str().filter(|name| !fields.contains_key(*name)) {
                    found.push(format!("{path}.{name}: Required value"));
                }
            }
            let place = Schema::of(schema);
            for (name, field) in fields {
                if let Some(below) = place.field(name).0 {
                    check(field, below, &format!("{path}.{name}"), found);
                }
            }
        }
        Value::Array(items) => {
            if let Shape::Items(identity) = Schema::of(schema).shape(value) {
                let mut edges: Vec<String> = items.iter().map(|item| identity.edge(item)).collect();
                edges.sort();
                let all = edges.len();
                edges.dedup();
                if edges.len() < all {
                    found.push(format!("{path}: Duplicate value"));
                }
            }
            if let Some(below) = schema.get("items") {
                for (index, item) in items.iter().enumerate() {
                    check(item, below, &format!("{path}[{index}]"), found);
                }
            }
        }
        _ => {}
    }
}

fn check_bounds(value: &Value, schema: &Value, path: &str, found: &mut Vec<String>) {
    let size = match value {
        Value::String(text) => Some((text.chars().count(), "minLength", "maxLength")),
        Value::Array(items) => Some((items.len(), "minItems", "maxItems")),
        Value::Object(fields) => Some((fields.len(), "minProperties", "maxProperties")),
        _ => None,
    };
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
    if let Some((size, least, most)) = size {
        let size = u64::try_from(size).unwrap_or(u64::MAX);
        if bound(least).is_some_and(|least| size < least) {
            found.push(format!("{path}: Invalid value: {value}: fewer than {least}"));
        }
        if bound(most).is_some_and(|most| size > most) {
            found.push(format!("{path}: Invalid value: more than {most}"));
        }
    }
    if let Some(number) = value.as_f64() {
        let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
        if bound("minimum").is_some_and(|least| number < least) {
            found.push(format!("{path}: Invalid value: {value}: below minimum"));
        }
        if bound("maximum").is_some_and(|most| number > most) {
            found.push(format!("{path}: Invalid value: {value}: above maximum"));
        }
    }
}

fn has_type(value: &Value, wanted: &str) -> bool {
    match wanted {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => true,
    }
}
