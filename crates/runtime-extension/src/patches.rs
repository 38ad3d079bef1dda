//! GeneratePatches: the templates with the values of the variables. Only our own templates are touched, and only fields
//! that a variable is written to.

use crate::settings::Settings;
use crate::variables::images;
use crate::variables::network::{self, Network};
use crate::variables::{Object as Target, Presence, Variable, written_to};
use foo_api::names::{BOOTSTRAP_GROUP, CONTROL_PLANE_GROUP, INFRASTRUCTURE_GROUP};
use foo_api::{FooClusterTemplate, FooControlPlaneTemplate, FooMachinePoolTemplate, FooNodeConfigTemplate};
use foo_runtime_sdk::hooks::{
    GeneratePatchesRequest, GeneratePatchesRequestItem, GeneratePatchesResponseItem,
};
use foo_runtime_sdk::variables::{VariableError, Variables};
use foo_runtime_sdk::{Failure, Object, Selector, patch};
use serde_json::{Map, Value, json};

/// Templates of clusters.
pub(crate) const CLUSTERS: Selector<'_> = Selector::of(INFRASTRUCTURE_GROUP, "FooClusterTemplate");
/// Templates of control planes.
pub(crate) const CONTROL_PLANES: Selector<'_> = Selector::of(CONTROL_PLANE_GROUP, "FooControlPlaneTemplate");
/// Templates of pools.
pub(crate) const POOLS: Selector<'_> = Selector::of(INFRASTRUCTURE_GROUP, "FooMachinePoolTemplate");
/// Templates of node configurations.
const NODES: Selector<'_> = Selector::of(BOOTSTRAP_GROUP, "FooNodeConfigTemplate");

/// The image that the templates of our ClusterClasses name: none exists under it.
const NO_IMAGE: &str = "ami-0";

/// A patch for each template of the provider that does not match the variables yet.
///
/// # Errors
///
/// When a variable is missing or of another type than its field.
pub(crate) fn generate(
    request: &GeneratePatchesRequest,
) -> Result<Vec<GeneratePatchesResponseItem>, Failure> {
    let _known: Settings = Settings::of(&request.settings)?;
    let mut patches = Vec::new();
    for item in request.items.iter().flatten() {
        if !is_own(&item.object) {
            // Most of what is sent is of others, and is not copied.
            continue;
        }
        let variables = Variables::new(&item.variables, &request.variables);
        if let Some(wanted) = wanted(item, variables)? {
            patches.extend(patch::between_objects(&item.object, &wanted)?.map(|patch| item.patched(patch)));
        }
    }
    Ok(patches)
}

fn is_own(object: &Object) -> bool {
    [BOOTSTRAP_GROUP, CONTROL_PLANE_GROUP, INFRASTRUCTURE_GROUP].contains(&object.group())
}

/// The template with the values of the variables; `None` for those of others.
fn wanted(item: &GeneratePatchesRequestItem, variables: Variables<'_>) -> Result<Option<Object>, Failure> {
    let mut object = item.object.clone();
    if CLUSTERS.matches(&object) {
        write(&mut object, &[Target::Cluster], variables)?;
        match network::network(variables)? {
            Network::Managed(described) => {
                set(&mut object, &["network"], network::managed_field(described));
            }
            Network::Existing => remove(&mut object, "/spec/template/spec/network", "managed"),
        }
        object.decode::<FooClusterTemplate>()?;
    } else if CONTROL_PLANES.matches(&object) {
        let mode = if object.at("/spec/template/spec/eks").is_some() {
            Target::EksControlPlane
        } else {
            Target::ControlPlane
        };
        write(&mut object, &[mode], variables)?;
        object.decode::<FooControlPlaneTemplate>()?;
    } else if POOLS.matches(&object) {
        let types = if object.at("/spec/template/spec/mixedInstances").is_some() {
            Target::PoolOfSeveralTypes
        } else {
            Target::PoolOfOneType
        };
        write(&mut object, &[Target::Pool, types], variables)?;
        write_image(&mut object, variables).map_err(|failure| {
            Failure::new(format!("pool {}: {}", pool_name(variables), failure.message()))
        })?;
        object.decode::<FooMachinePoolTemplate>()?;
    } else if NODES.matches(&object) {
        write(&mut object, &[Target::Nodes], variables)?;
        object.decode::<FooNodeConfigTemplate>()?;
    } else {
        return Ok(None);
    }
    Ok(Some(object))
}

/// A pool's name in the topology.
pub(crate) fn pool_name(variables: Variables<'_>) -> String {
    let name = variables.find::<String>("builtin.machinePool.topologyName");
    name.ok().flatten().unwrap_or_default()
}

/// The Kubernetes version that a pool has: in an upgrade that of the Cluster, as soon as it is the pool's turn.
pub(crate) fn pool_version(variables: Variables<'_>) -> Result<String, VariableError> {
    match variables.find("builtin.machinePool.version")? {
        Some(version) => Ok(version),
        None => Ok(variables.find("builtin.cluster.topology.version")?.unwrap_or_default()),
    }
}

fn write(object: &mut Object, targets: &[Target], variables: Variables<'_>) -> Result<(), Failure> {
    for variable in targets.iter().copied().flat_map(written_to) {
        if let Some(value) = value_of(variable, variables)? {
            set(object, variable.field, value.clone());
        }
    }
    Ok(())
}

/// What is written; `None` leaves the template's own.
fn value_of<'a>(variable: &Variable, variables: Variables<'a>) -> Result<Option<&'a Value>, Failure> {
    let value = variables.value(variable.name);
    match (variable.presence, value) {
        (Presence::Required, None) => Err(VariableError::Missing(variable.name.to_owned()).into()),
        (Presence::EmptyMeansNone, Some(Value::String(text))) if text.is_empty() => Ok(None),
        (Presence::EmptyMeansNone, Some(Value::Array(list))) if list.is_empty() => Ok(None),
        (
            Presence::Required | Presence::Optional | Presence::EmptyMeansNone | Presence::Default(_),
            value,
        ) => Ok(value),
    }
}

fn write_image(object: &mut Object, variables: Variables<'_>) -> Result<(), Failure> {
    if let Some(id) = images::image(variables, &pool_version(variables)?)? {
        // Whatever else the template sets for its image: only one may be set.
        set(object, &["ami"], json!({"id": id}));
    }
    if object.at("/spec/template/spec/ami/id").is_some_and(|id| id == NO_IMAGE) {
        return Err(Failure::new("neither the variable images nor amiID names an image"));
    }
    Ok(())
}

/// Writes a field below `spec.template.spec`, and what it is in.
fn set(object: &mut Object, field: &[&str], value: Value) {
    let mut at = &mut object.0;
    for name in ["spec", "template", "spec"].iter().chain(field) {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        let Value::Object(fields) = at else { return };
        at = fields.entry(*name).or_insert(Value::Null);
    }
    *at = value;
}

/// Removes a field from what the path leads to.
fn remove(object: &mut Object, path: &str, field: &str) {
    if let Some(Value::Object(fields)) = object.0.pointer_mut(path) {
        fields.remove(field);
    }
}

#[cfg(test)]
mod tests;
