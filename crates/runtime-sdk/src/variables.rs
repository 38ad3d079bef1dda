//! Variables of a topology: the user's, and those that Cluster API creates (`builtin`).
//!
//! A template's own variables go before those of the request. Core puts overrides of a MachinePool's or
//! MachineDeployment's topology there, so who reads through [`Variables`] sees them.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Name of the variable that Cluster API creates.
pub const BUILTIN: &str = "builtin";

/// A variable and its value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    /// Name.
    pub name: String,
    /// Value, any JSON.
    pub value: Value,
}

/// Variables that hold for one template.
#[derive(Clone, Copy, Debug)]
pub struct Variables<'a> {
    own: &'a [Variable],
    global: &'a [Variable],
}

/// A variable that is missing or of another type. The text is the same for the same variables.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariableError {
    /// It was not set.
    #[error("variable {0} is not set")]
    Missing(String),
    /// Its value does not fit.
    #[error("variable {name}: {problem}")]
    Unfit {
        /// Name.
        name: String,
        /// What does not fit.
        problem: String,
    },
}

impl<'a> Variables<'a> {
    /// Variables of a template and of the request it is in.
    pub const fn new(own: &'a [Variable], global: &'a [Variable]) -> Self {
        Self { own, global }
    }

    /// The value of a variable, or of a part of it: `machineType`, `network.zones` (names with dots between).
    pub fn value(&self, path: &str) -> Option<&'a Value> {
        let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
        let find = |variables: &'a [Variable]| {
            let value = &variables.iter().find(|variable| variable.name == name)?.value;
            rest.map_or(Some(value), |rest| rest.split('.').try_fold(value, |at, key| at.get(key)))
        };
        // Core splits `builtin` between the two: what is about the template, and what is about the Cluster.
        find(self.own).or_else(|| find(self.global))
    }

    /// A variable as a type.
    ///
    /// # Errors
    ///
    /// When it is missing or does not fit.
    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, VariableError> {
        self.find(path)?.ok_or_else(|| VariableError::Missing(path.to_owned()))
    }

    /// A variable as a type, if it is set.
    ///
    /// # Errors
    ///
    /// When it does not fit.
    pub fn find<T: DeserializeOwned>(&self, path: &str) -> Result<Option<T>, VariableError> {
        self.value(path)
            .map(|value| {
                T::deserialize(value).map_err(|error| VariableError::Unfit {
                    name: path.to_owned(),
                    problem: error.to_string(),
                })
            })
            .transpose()
    }

    /// What Cluster API reports of the Cluster, the control plane and the pool.
    ///
    /// # Errors
    ///
    /// When a value does not fit.
    pub fn builtins(&self) -> Result<Builtins, VariableError> {
        let part = |name: &str| format!("{BUILTIN}.{name}");
        Ok(Builtins {
            cluster: self.find(&part("cluster"))?,
            control_plane: self.find(&part("controlPlane"))?,
            machine_deployment: self.find(&part("machineDeployment"))?,
            machine_pool: self.find(&part("machinePool"))?,
        })
    }
}

/// The variable `builtin`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Builtins {
    /// About the Cluster; always there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterBuiltins>,
    /// About the control plane; only for templates of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<ControlPlaneBuiltins>,
    /// About a MachineDeployment; only for templates of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_deployment: Option<WorkerBuiltins>,
    /// About a MachinePool; only for templates of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_pool: Option<WorkerBuiltins>,
}

/// Labels and annotations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// Labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// About a Cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterBuiltins {
    /// Name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Namespace.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// `metadata.uid`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// Labels and annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Its topology.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<TopologyBuiltins>,
    /// Its network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkBuiltins>,
}

/// About a topology.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TopologyBuiltins {
    /// Kubernetes version that shall run; an upgrade takes its time.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The ClusterClass.
    #[serde(default)]
    pub class_ref: ClassReference,
    /// Name of the ClusterClass, deprecated upstream in favour of `class_ref`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// Namespace of the ClusterClass, deprecated upstream in favour of `class_ref`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub class_namespace: String,
}

/// A ClusterClass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassReference {
    /// Name.
    #[serde(default)]
    pub name: String,
    /// Namespace.
    #[serde(default)]
    pub namespace: String,
}

/// About a Cluster's network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkBuiltins {
    /// Domain of services.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_domain: Option<String>,
    /// Ranges of services.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<String>,
    /// Ranges of pods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pods: Vec<String>,
}

/// About a control plane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ControlPlaneBuiltins {
    /// Kubernetes version that is being reached.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Labels and annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Replicas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Template of its Machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_template: Option<MachineTemplateBuiltins>,
}

/// About the template of a control plane's Machines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineTemplateBuiltins {
    /// Its infrastructure template.
    #[serde(default)]
    pub infrastructure_ref: NamedReference,
}

/// Something with a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedReference {
    /// Name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// About a MachineDeployment or a MachinePool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkerBuiltins {
    /// Kubernetes version that is being reached.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Labels and annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Its class in the ClusterClass.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// Name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its name in the Cluster's topology.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub topology_name: String,
    /// Replicas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
    /// Its bootstrap template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<BootstrapBuiltins>,
    /// Its infrastructure template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infrastructure_ref: Option<NamedReference>,
}

/// About a bootstrap template.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BootstrapBuiltins {
    /// The template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_ref: Option<NamedReference>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn variable(name: &str, value: Value) -> Variable {
        Variable { name: name.to_owned(), value }
    }

    #[test]
    fn the_value_of_a_template_takes_precedence() {
        let own = [variable("size", json!(5))];
        let global = [variable("size", json!(3)), variable("network", json!({"zones": ["a", "b"]}))];
        let variables = Variables::new(&own, &global);
        assert_eq!(variables.get::<u32>("size"), Ok(5));
        assert_eq!(variables.get::<Vec<String>>("network.zones"), Ok(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(variables.find::<u32>("absent"), Ok(None));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let own = [variable("size", json!("three"))];
        let variables = Variables::new(&own, &[]);
        let message = |error: VariableError| error.to_string();
        assert_eq!(
            variables.get::<u32>("size").map_err(message),
            Err("variable size: invalid type: string \"three\", expected u32".to_owned())
        );
        assert_eq!(
            variables.get::<u32>("count").map_err(message),
            Err("variable count is not set".to_owned())
        );
    }

    #[test]
    fn builtins_of_cluster_and_pool_come_together() {
        let own = [variable(BUILTIN, json!({"machinePool": {"topologyName": "spot", "replicas": 4}}))];
        let global =
            [variable(BUILTIN, json!({"cluster": {"name": "c", "topology": {"version": "v1.36.3"}}}))];
        let builtins = Variables::new(&own, &global).builtins().unwrap();
        assert_eq!(builtins.cluster.unwrap().topology.unwrap().version, "v1.36.3");
        let pool = builtins.machine_pool.unwrap();
        assert_eq!((pool.topology_name.as_str(), pool.replicas), ("spot", Some(4)));
    }
}
