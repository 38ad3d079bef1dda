//! Every field we read of Cluster API's objects exists in the upstream CRDs, with a type we can read.
//!
//! The fields are not listed here: the types themselves are deserialised from a source that is the upstream schema
//! ([`schema_source`]). serde asks it for each field by name, so a new field is checked as soon as it exists.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests: what is not as expected is a failure"
)]

mod schema_source;

use super::common;
use foo_api::capi::{Cluster, Machine, MachinePool};
use kube::Resource;
use schema_source::{Amount, read};
use serde::de::DeserializeOwned;
use serde_json::Value;

fn schema<K: Resource<DynamicType = ()>>() -> Value {
    let path = common::tools().join(format!("capi/crds/{}_{}.yaml", K::group(&()), K::plural(&())));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let crd: Value =
        serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let versions = crd["spec"]["versions"].as_array().expect("a CRD has versions");
    let version = K::version(&());
    let served = versions.iter().find(|v| v["name"] == *version && v["served"] == true);
    served.unwrap_or_else(|| panic!("{} is not served at {version}", K::kind(&())))["schema"]["openAPIV3Schema"]
        .clone()
}

/// Reads the kind from an object with every field upstream has, and from one with only the fields it requires.
fn check<K: Resource<DynamicType = ()> + DeserializeOwned>(at_least: &[&str]) {
    let schema = schema::<K>();
    let full = read::<K>(&schema, Amount::Everything);
    assert!(full.problems.is_empty(), "{}:\n{}", K::kind(&()), full.problems.join("\n"));
    for path in at_least {
        assert!(
            full.fields.iter().any(|field| field == path),
            "{path} was not asked for: {:#?}",
            full.fields
        );
    }
    let minimal = read::<K>(&schema, Amount::OnlyRequired);
    assert!(
        minimal.problems.is_empty(),
        "{} with required fields only:\n{}",
        K::kind(&()),
        minimal.problems.join("\n")
    );
}

#[test]
fn cluster() {
    check::<Cluster>(&[
        "spec.infrastructureRef.kind",
        "spec.clusterNetwork.services.cidrBlocks",
        "status.initialization.infrastructureProvisioned",
    ]);
}

/// The kubectl plugin shows more of a Cluster than the manager reads.
#[test]
fn cluster_of_the_plugin() {
    check::<kubectl_foo::capi::Cluster>(&["spec.controlPlaneRef.kind", "status.conditions[].status"]);
}

/// The same of a Machine.
#[test]
fn machine_of_the_plugin() {
    check::<kubectl_foo::capi::Machine>(&[
        "spec.version",
        "spec.infrastructureRef.name",
        "status.nodeRef.name",
        "status.conditions[].status",
    ]);
}

#[test]
fn machine_pool() {
    check::<MachinePool>(&[
        "spec.replicas",
        "spec.template.spec.bootstrap.configRef.kind",
        "spec.template.spec.bootstrap.dataSecretName",
        "spec.template.spec.deletion.nodeDrainTimeoutSeconds",
        "spec.failureDomains",
    ]);
}

#[test]
fn machine() {
    check::<Machine>(&["spec.infrastructureRef.name", "status.nodeRef.name", "status.conditions[].status"]);
}

/// The check itself: without these it could pass by reading nothing.
mod the_check {
    use super::*;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its shape matters")]
    struct View {
        name: String,
        count: Option<i32>,
        #[serde(default)]
        conditions: Vec<Condition>,
    }

    fn problems(schema: &Value, amount: Amount) -> Vec<String> {
        read::<View>(schema, amount).problems
    }

    fn upstream(name: &Value, count: &Value, required: &[&str]) -> Value {
        json!({"type": "object", "required": required, "properties": {
            "name": name, "count": count,
            "conditions": {"type": "array", "items": {"type": "object", "properties": {
                "type": {"type": "string"}, "status": {"type": "string"}, "reason": {"type": "string"},
                "message": {"type": "string"}, "observedGeneration": {"type": "integer", "format": "int64"},
                "lastTransitionTime": {"type": "string", "format": "date-time"},
            }}},
        }})
    }

    #[test]
    fn finds_nothing_where_the_shapes_agree() {
        let schema =
            upstream(&json!({"type": "string"}), &json!({"type": "integer", "format": "int32"}), &["name"]);
        assert_eq!(problems(&schema, Amount::Everything), Vec::<String>::new());
        assert_eq!(problems(&schema, Amount::OnlyRequired), Vec::<String>::new());
    }

    #[test]
    fn finds_missing_fields_other_types_and_what_upstream_may_leave_out() {
        let string = json!({"type": "string"});
        let integer = json!({"type": "integer", "format": "int32"});
        let mut without = upstream(&string, &integer, &["name"]);
        without["properties"].as_object_mut().unwrap().remove("count");
        assert!(problems(&without, Amount::Everything)[0].contains("count: upstream has no such field"));
        let other = upstream(&integer, &integer, &["name"]);
        assert!(problems(&other, Amount::Everything)[0].contains("name: we read string, upstream has int32"));
        let wide = upstream(&string, &json!({"type": "integer", "format": "int64"}), &["name"]);
        assert!(problems(&wide, Amount::Everything)[0].contains("count: we read int32, upstream has int64"));
        let optional = upstream(&string, &integer, &[]);
        assert!(problems(&optional, Amount::OnlyRequired)[0].contains("missing field `name`"));
    }
}
