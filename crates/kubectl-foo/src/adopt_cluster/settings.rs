//! Settings of EKS that no FooControlPlane has, by AWS's name.

use serde_json::Value;
use std::collections::BTreeMap;

/// Fields of EKS's responses that are no settings.
const NO_SETTINGS: [&str; 18] = [
    "addonArn",
    "clusterName",
    "externalId",
    "marketplaceInformation",
    "modifiedAt",
    "owner",
    "publisher",
    "tags",
    "certificateAuthority",
    "clientRequestToken",
    "createdAt",
    "endpoint",
    "health",
    "id",
    "identityProviderConfigArn",
    "platformVersion",
    "status",
    // On with EKS Auto Mode, which is named by itself.
    "storageConfig",
];

/// Settings of a part of EKS that the spec does not have.
pub(super) fn settings<'a>(
    of: &str,
    others: &'a BTreeMap<String, Value>,
) -> impl Iterator<Item = String> + 'a {
    let of = of.to_owned();
    let is_one = |name: &str, value: &Value| !NO_SETTINGS.contains(&name) && is_set(value);
    let set = others.iter().filter(move |(name, value)| is_one(name, value));
    set.map(move |(name, _)| format!("{name} of the {of}: a FooControlPlane does not have it"))
}

/// Whether a setting has another value than nothing.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Array(items) => items.iter().any(is_set),
        Value::Object(fields) => fields.values().any(is_set),
        Value::String(text) => !text.is_empty(),
        Value::Number(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_off_or_empty_is_no_setting() {
        for (value, expected) in [
            (json!({"enabled": false}), false),
            (json!([]), false),
            (json!([{"cidrs": []}]), false),
            (json!(""), false),
            (json!(0), true),
            (json!({"remoteNodeNetworks": [{"cidrs": ["10.1.0.0/16"]}]}), true),
        ] {
            assert_eq!(is_set(&value), expected, "{value}");
        }
    }
}
