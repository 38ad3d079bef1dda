//! What the manifests of objects that adopt something in AWS have in common.

use anyhow::Result;
use foo_api::capi::ContractReference;
use kube::Resource;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Beginning of the key of the tag by which Cluster API Provider AWS finds what it owns.
pub(crate) const CAPA_CLUSTER: &str = "sigs.k8s.io/cluster-api-provider-aws/cluster/";
/// Tag of what CloudFormation created, also for eksctl and the AWS CDK.
pub(crate) const STACK: &str = "aws:cloudformation:stack-name";
/// The longest name of an object whose name is a label's value, too.
pub(crate) const LONGEST_NAME: usize = 63;

/// The name of an object that adopts what has that name in AWS: the same, as far as Kubernetes allows it.
pub(crate) fn object_name(in_aws: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = in_aws.chars().map(allowed).collect();
    let name: String = name.trim_matches('-').chars().take(LONGEST_NAME).collect();
    name.trim_end_matches('-').to_owned()
}

/// The manifest of an object.
pub(crate) fn manifest_of<K: Resource<DynamicType = ()>>(
    namespace: &str,
    name: &str,
    annotations: Option<&BTreeMap<String, String>>,
    spec: &Value,
) -> Value {
    let metadata = match annotations {
        Some(annotations) => json!({ "name": name, "namespace": namespace, "annotations": annotations }),
        None => json!({ "name": name, "namespace": namespace }),
    };
    json!({ "apiVersion": K::api_version(&()), "kind": K::kind(&()), "metadata": metadata, "spec": spec })
}

/// A reference to an object.
pub(crate) fn reference<K: Resource<DynamicType = ()>>(name: &str) -> ContractReference {
    ContractReference {
        api_group: K::group(&()).into_owned(),
        kind: K::kind(&()).into_owned(),
        name: name.to_owned(),
    }
}

/// The fields of a spec that are not as the API server sets them by default.
pub(crate) fn without_defaults<T: Default + Serialize>(spec: &T) -> Result<Value> {
    let fields = |spec: &T| serde_json::to_value(spec);
    let (Value::Object(set), Value::Object(defaults)) = (fields(spec)?, fields(&T::default())?) else {
        return Ok(Value::Null);
    };
    let differs = |(name, value): &(String, Value)| defaults.get(name) != Some(value);
    Ok(Value::Object(set.into_iter().filter(differs).collect::<Map<_, _>>()))
}

/// The value that AWS's name stands for, if the API has it: both have the same names.
pub(crate) fn of_name<T: DeserializeOwned>(name: &str) -> Option<T> {
    serde_json::from_value(Value::from(name)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_object_is_that_in_aws_as_far_as_kubernetes_allows_it() {
        assert_eq!(object_name("Legacy_Workers.1"), "legacy-workers-1");
        assert_eq!(object_name("-a-"), "a");
        assert_eq!(object_name(&format!("{}-b", "a".repeat(62))), "a".repeat(62));
    }
}
