//! Settings that the user wrote, merged with the provider's.

use super::names::{GROUPS, KUBERNETES};
use crate::merge;
use crate::refusal::Refusals;
use serde_json::{Map, Value};

/// Adds the user's settings, unless one of them is not a setting or is set already.
pub(super) fn merge(settings: &mut Map<String, Value>, text: &str, refusals: &mut Refusals) -> Option<()> {
    let user = parse(text).map_err(|message| refusals.invalid("extra", message)).ok()?;
    check_names(&user, refusals);
    let both = merge::in_both(&Value::Object(settings.clone()), &Value::Object(user.clone()));
    for path in both {
        refusals.set_twice(
            format!("extra.settings.{path}"),
            "is set by the provider or by another field of the spec",
        );
    }
    merge::deep(settings, user);
    Some(())
}

/// The table `settings`, as early-boot-config takes it out of user data.
pub(super) fn parse(text: &str) -> Result<Map<String, Value>, String> {
    let mut document: toml::Table =
        text.parse().map_err(|error: toml::de::Error| format!("is not TOML: {}", error.message()))?;
    let settings = document.remove("settings").ok_or("must have its settings below [settings]")?;
    if let Some(other) = document.keys().next() {
        return Err(format!("has {other}, which is not below [settings]"));
    }
    match to_json(settings) {
        Some(Value::Object(settings)) => Ok(settings),
        Some(_) => Err("must have a table named settings".into()),
        None => Err("has a date or a number that no setting has".into()),
    }
}

fn to_json(value: toml::Value) -> Option<Value> {
    Some(match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => Value::Number(serde_json::Number::from_f64(number)?),
        toml::Value::Boolean(value) => Value::Bool(value),
        toml::Value::Datetime(_) => return None,
        toml::Value::Array(items) => Value::Array(items.into_iter().map(to_json).collect::<Option<_>>()?),
        toml::Value::Table(fields) => {
            let field = |(name, value)| Some((name, to_json(value)?));
            Value::Object(fields.into_iter().map(field).collect::<Option<_>>()?)
        }
    })
}

fn check_names(settings: &Map<String, Value>, refusals: &mut Refusals) {
    for path in unknown(settings) {
        refusals.invalid(format!("extra.settings.{path}"), "is not a setting of Bottlerocket for Kubernetes");
    }
    let Some(Value::Object(kubernetes)) = settings.get("kubernetes") else { return };
    for name in ["authentication-mode", "bootstrap-token", "standalone-mode"] {
        if kubernetes.contains_key(name) {
            refusals.unsupported(
                format!("extra.settings.kubernetes.{name}"),
                "nodes join with the role of their instance, and only so",
            );
        }
    }
}

/// Paths of settings that Bottlerocket does not know.
pub(super) fn unknown(settings: &Map<String, Value>) -> Vec<String> {
    let groups = settings.keys().filter(|name| !GROUPS.contains(&name.as_str())).cloned();
    let kubernetes = settings.get("kubernetes").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    let kubernetes = kubernetes.filter(|name| !KUBERNETES.contains(&name.as_str()));
    groups.chain(kubernetes.map(|name| format!("kubernetes.{name}"))).collect()
}
