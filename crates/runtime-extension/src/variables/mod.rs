//! Variables of topologies: what each is written to, and whether it has to be given. Their schemas are cut from our
//! CRDs (`schema`), so a variable accepts what its field accepts.
//!
//! The ClusterClasses with inline patches have the same names and defaults, as far as they go (a test compares them),
//! so a Cluster can change from one to the other.
//!
//! A new variable is a row in `table.rs`; for users without the extension also in
//! `deploy/clusterctl/clusterclass-foo.yaml` or `clusterclass-foo-eks.yaml`. It is in the tables of
//! docs/extensions/foo.md and docs/reference/template-variables.md.

pub(crate) mod images;
pub(crate) mod network;
mod schema;
mod table;

pub(crate) use schema::SchemaError;
pub(crate) use table::{Class, Object, Presence, SUBNETS, Variable, written_to};

use foo_runtime_sdk::hooks::{VariableDefinition, VariableSchema};
use serde_json::{Map, Value};

/// All variables of a class, as DiscoverVariables returns them.
///
/// # Errors
///
/// When a CRD has no such field: the table and the CRDs are of one build, so a test would have failed.
pub(crate) fn definitions(class: Class) -> Result<Vec<VariableDefinition>, SchemaError> {
    let schemas = schema::Schemas::of_crds()?;
    let mut all: Vec<VariableDefinition> =
        class.table().map(|variable| definition(variable, &schemas)).collect::<Result<_, _>>()?;
    all.push(of(images::IMAGES, false, images::schema(&schemas)?));
    all.push(of(network::MODE, false, network::mode_schema(class)));
    all.push(of(network::MANAGED, false, network::managed_schema(&schemas)?));
    Ok(all)
}

fn definition(variable: &Variable, schemas: &schema::Schemas) -> Result<VariableDefinition, SchemaError> {
    let mut found = schemas.at(variable.object, variable.field)?;
    if let Some(fields) = found.as_object_mut() {
        // A default of the whole field would replace that of the template.
        fields.remove("default");
        match variable.presence {
            Presence::Required | Presence::Optional => {}
            Presence::EmptyMeansNone => schema::allow_empty(fields),
            Presence::Default(json) => {
                let default: Value = serde_json::from_str(json)
                    .map_err(|_error| SchemaError::Default(variable.name.to_owned()))?;
                if default.as_array().is_some_and(|items| !items.is_empty()) {
                    schema::drop_rules_of_items(fields);
                }
                fields.insert("default".to_owned(), default);
            }
        }
    }
    Ok(of(variable.name, variable.presence == Presence::Required, found))
}

fn of(name: &str, required: bool, schema: Value) -> VariableDefinition {
    VariableDefinition {
        name: name.to_owned(),
        required: Some(required),
        deprecated_v1beta1_metadata: None,
        schema: VariableSchema { open_api_v3_schema: schema },
        unknown: Map::new(),
    }
}

#[cfg(test)]
mod tests;
