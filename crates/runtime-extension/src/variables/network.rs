//! The variables `networkMode` and `managedNetwork`: whether the network exists already, or the provider creates it,
//! and how.

use super::schema::{SchemaError, Schemas};
use super::table::{Class, Object, SUBNETS};
use foo_runtime_sdk::Failure;
use foo_runtime_sdk::variables::Variables;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Name of the variable that chooses.
pub(crate) const MODE: &str = "networkMode";
/// Name of the variable that describes what is created.
pub(crate) const MANAGED: &str = "managedNetwork";

/// Values of [`MODE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Mode {
    Existing,
    Managed,
}

/// Which network a cluster gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Network<'a> {
    /// One that exists: `spec.network.existing` is in variables of its own.
    Existing,
    /// One that the provider creates: `spec.network.managed`, or all of its defaults.
    Managed(Option<&'a Value>),
}

/// Schema of [`MODE`]; no field has its values. A class that creates the control plane creates the network as well.
pub(super) fn mode_schema(class: Class) -> Value {
    let default = match class {
        Class::External => "Existing",
        Class::Eks => "Managed",
    };
    json!({
        "type": "string",
        "enum": ["Existing", "Managed"],
        "default": default,
        "description": "Whether the network exists already (`subnets`, `securityGroups`, `vpcID`), or the provider creates it \
                        (`managedNetwork`).",
    })
}

/// Schema of [`MANAGED`]. It has no default: those of its fields are.
pub(super) fn managed_schema(schemas: &Schemas) -> Result<Value, SchemaError> {
    schemas.at(Object::Cluster, &["network", "managed"])
}

/// Which network the variables ask for. A class whose network is always created (`foo-eks`) has no variable for the
/// mode.
///
/// # Errors
///
/// When `networkMode` has another value, or a network that exists has no subnets.
pub(crate) fn network(variables: Variables<'_>) -> Result<Network<'_>, Failure> {
    let described = variables.value(MANAGED);
    let without = if described.is_some() { Mode::Managed } else { Mode::Existing };
    match variables.find::<Mode>(MODE)?.unwrap_or(without) {
        Mode::Managed => Ok(Network::Managed(described)),
        Mode::Existing => {
            let subnets: Vec<Value> = variables.find(SUBNETS)?.unwrap_or_default();
            if subnets.is_empty() {
                let problem = format!("variable {SUBNETS} is not set, which {MODE} Existing needs");
                return Err(Failure::new(problem));
            }
            Ok(Network::Existing)
        }
    }
}

/// The field `spec.network` of a managed one.
pub(crate) fn managed_field(described: Option<&Value>) -> Value {
    json!({ "managed": described.cloned().unwrap_or_else(|| Value::Object(Map::new())) })
}
