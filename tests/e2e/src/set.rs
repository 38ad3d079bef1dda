use serde_json::{Value, json};

/// Sets a field, and creates the objects around it that are missing.
pub fn set(object: &mut Value, path: &[&str], value: Value) {
    let mut place = object;
    for key in path {
        if !place.is_object() {
            *place = json!({});
        }
        let Some(fields) = place.as_object_mut() else { return };
        place = fields.entry(*key).or_insert(Value::Null);
    }
    *place = value;
}
