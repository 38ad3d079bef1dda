//! Our CRDs keep the rules of Cluster API's contracts, and a few that follow from how its code really behaves.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests: what is not as expected is a failure"
)]

use foo_api::crds;
use serde_json::{Value, json};

/// Group, kind, and the CRD as JSON.
fn all() -> Vec<(String, Value)> {
    crds()
        .iter()
        .map(|crd| (crd.spec.names.kind.clone(), serde_json::to_value(crd).expect("a CRD is JSON")))
        .collect()
}

fn crd(kind: &str) -> Value {
    all().into_iter().find(|(name, _)| name == kind).unwrap_or_else(|| panic!("no {kind}")).1
}

fn schema(crd: &Value) -> &Value {
    &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
}

fn field(kind: &str, path: &str) -> Value {
    let crd = crd(kind);
    let pointer = format!("/properties/{}", path.replace('.', "/properties/"));
    schema(&crd).pointer(&pointer).unwrap_or_else(|| panic!("{kind} has no {path}")).clone()
}

/// Calls `visit` with every schema below, and its path.
fn walk(path: &str, schema: &Value, visit: &mut dyn FnMut(&str, &Value)) {
    visit(path, schema);
    for (name, below) in schema["properties"].as_object().into_iter().flatten() {
        walk(&format!("{path}.{name}"), below, visit);
    }
    for (key, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
        if schema[key].is_object() {
            walk(&format!("{path}{suffix}"), &schema[key], visit);
        }
    }
}

/// Every path for which `wrong` is true, in all CRDs.
fn find(wrong: impl Fn(&str, &Value) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for (kind, crd) in all() {
        walk(&kind, schema(&crd), &mut |path, schema| {
            if wrong(path, schema) {
                found.push(path.to_owned());
            }
        });
    }
    found
}

const NONE: [&str; 0] = [];

/// `contract.CalculateCRDName`: `lower(plural(kind)).group`. Its plural of words that end in `r`, `l`, `e`, `g`, `n` is the
/// word with an `s`, of those in `ty` it has `ties`; a kind with another end needs a read of flect's rules first.
#[test]
fn names_are_those_that_core_calculates() {
    for (kind, crd) in all() {
        let singular = kind.to_lowercase();
        let plural = match singular.strip_suffix("ty") {
            Some(stem) => format!("{stem}ties"),
            None => format!("{singular}s"),
        };
        let is_known = singular.ends_with(['r', 'l', 'e', 'g', 'n']) || singular.ends_with("ty");
        assert!(is_known, "{kind}: what is flect's plural?");
        let group = crd["spec"]["group"].as_str().unwrap_or_default();
        assert_eq!(crd["metadata"]["name"], format!("{plural}.{group}"));
        assert_eq!(crd["spec"]["names"]["plural"], plural);
    }
}

#[test]
fn every_kind_carries_the_contract_label_for_its_only_version() {
    for (kind, crd) in all() {
        let versions = crd["spec"]["versions"].as_array().cloned().unwrap_or_default();
        assert_eq!(versions.len(), 1, "{kind}");
        assert_eq!(versions[0]["name"], "v1alpha1");
        assert_eq!((&versions[0]["served"], &versions[0]["storage"]), (&json!(true), &json!(true)));
        let labels = crd["metadata"]["labels"].as_object().cloned().unwrap_or_default();
        let contracts: Vec<_> =
            labels.iter().filter(|(key, _)| key.starts_with("cluster.x-k8s.io/v1")).collect();
        // With two contract labels core's choice would be random.
        assert_eq!(contracts, [(&"cluster.x-k8s.io/v1beta2".to_owned(), &json!("v1alpha1"))], "{kind}");
    }
}

/// Core lists `<infrastructureMachineKind>List` at the group and version of the FooMachinePool.
#[test]
fn machines_are_served_where_core_reads_them() {
    let (pool, machine) = (crd("FooMachinePool"), crd("FooMachine"));
    assert_eq!(pool["spec"]["group"], machine["spec"]["group"]);
    assert_eq!(pool["spec"]["versions"][0]["name"], machine["spec"]["versions"][0]["name"]);
    // Without a listKind the API server takes `<kind>List`.
    assert!(
        machine["spec"]["names"]["listKind"].is_null()
            || machine["spec"]["names"]["listKind"] == "FooMachineList"
    );
}

/// Core v1.14 panics in every pass over a MachinePool whose infrastructure has a failureReason or failureMessage.
#[test]
fn there_are_no_terminal_failures() {
    assert_eq!(find(|path, _| path.ends_with(".failureReason") || path.ends_with(".failureMessage")), NONE);
}

/// Kubernetes knows int32 and int64; anything else is ignored with a warning.
#[test]
fn integers_have_a_format_that_kubernetes_knows() {
    assert_eq!(
        find(|_, schema| schema["type"] == "integer"
            && !["int32", "int64"].contains(&schema["format"].as_str().unwrap_or_default())),
        NONE
    );
    assert_eq!(
        find(|_, schema| schema["format"].as_str().is_some_and(|format| format.starts_with("uint"))),
        NONE
    );
}

/// A literal null in an enum is refused by the API server's structural schema rules.
#[test]
fn enums_have_no_null_and_are_strings() {
    assert_eq!(
        find(|_, schema| schema["enum"]
            .as_array()
            .is_some_and(|values| values.iter().any(|value| !value.is_string()))),
        NONE
    );
}

#[test]
fn schemas_are_structural() {
    let combined =
        |schema: &Value| ["oneOf", "anyOf", "allOf", "not", "$ref"].iter().any(|key| !schema[*key].is_null());
    assert_eq!(find(|_, schema| combined(schema)), NONE);
    // An object without a schema of its content drops everything that is put into it. One means just that: there is
    // nothing to define.
    let closed = |path: &str, schema: &Value| {
        schema["type"] == "object"
            && schema["properties"].is_null()
            && schema["additionalProperties"].is_null()
            && !path.ends_with(".metadata")
            && path != "FooClusterIdentity.spec.controller"
            && schema["x-kubernetes-preserve-unknown-fields"] != true
    };
    assert_eq!(find(closed), NONE);
    // A number or a text has no type of its own.
    let untyped =
        |_: &str, schema: &Value| schema["type"].is_null() && schema["x-kubernetes-int-or-string"] != true;
    assert_eq!(find(untyped), NONE);
}

/// Lists are owned item by item only where keys show what an item is; the rest is replaced as a whole by each apply.
#[test]
fn condition_lists_are_maps_by_type() {
    let conditions = find(|path, _| path.ends_with("status.conditions"));
    // The status of a FooPlan is written once.
    let with_status: Vec<_> =
        all().into_iter().filter(|(kind, _)| !kind.ends_with("Template") && kind != "FooPlan").collect();
    assert_eq!(conditions.len(), with_status.len());
    let wrong = find(|path, schema| {
        path.ends_with("status.conditions")
            && (schema["x-kubernetes-list-type"] != "map"
                || schema["x-kubernetes-list-map-keys"] != json!(["type"]))
    });
    assert_eq!(wrong, NONE);
}

/// A key of a list-map has to be required, or else have a default.
#[test]
fn keys_of_map_lists_are_required() {
    let wrong = find(|_, schema| {
        let keys = schema["x-kubernetes-list-map-keys"].as_array().cloned().unwrap_or_default();
        let required = schema["items"]["required"].as_array().cloned().unwrap_or_default();
        keys.iter().any(|key| {
            !required.contains(key)
                && schema["items"]["properties"][key.as_str().unwrap_or_default()]["default"].is_null()
        })
    });
    assert_eq!(wrong, NONE);
}

#[test]
fn kinds_that_are_no_templates_have_a_status_subresource() {
    for (kind, crd) in all() {
        let subresource = !crd["spec"]["versions"][0]["subresources"]["status"].is_null();
        assert_eq!(subresource, !kind.ends_with("Template"), "{kind}");
    }
}

#[test]
fn rules_have_messages_and_transition_rules_need_an_old_value() {
    let wrong = find(|_, schema| {
        schema["x-kubernetes-validations"].as_array().into_iter().flatten().any(|rule| {
            let text = |key: &str| rule[key].as_str().unwrap_or_default().to_owned();
            let balanced = |open: char, close: char| {
                text("rule").matches(open).count() == text("rule").matches(close).count()
            };
            text("rule").is_empty()
                || text("message").is_empty()
                || !balanced('(', ')')
                || !balanced('[', ']')
        })
    });
    assert_eq!(wrong, NONE);
    // Items of a list without keys have no past: such a rule would be refused by the API server.
    let in_plain_lists = find(|_, schema| {
        let keyed = schema["x-kubernetes-list-type"] == "map";
        let mut compares = false;
        if schema["items"].is_object() && !keyed {
            walk("", &schema["items"], &mut |_, below| {
                compares |= below["x-kubernetes-validations"].to_string().contains("oldSelf");
            });
        }
        compares
    });
    assert_eq!(in_plain_lists, NONE);
}

/// Contract of InfraMachinePool: fields, types, and whether core's code reads them as such.
#[test]
fn pools_keep_the_contract_of_infra_machine_pools() {
    let check = |path: &str, kind: &str| assert_eq!(field("FooMachinePool", path)["type"], kind, "{path}");
    check("spec.providerID", "string");
    check("spec.providerIDList", "array");
    let id = &field("FooMachinePool", "spec.providerIDList")["items"];
    assert_eq!((&id["type"], &id["minLength"], &id["maxLength"]), (&json!("string"), &json!(1), &json!(512)));
    check("status.ready", "boolean");
    check("status.initialization.provisioned", "boolean");
    check("status.replicas", "integer");
    check("status.infrastructureMachineKind", "string");
    check("status.conditions", "array");
}

/// cluster-autoscaler reads both as maps of strings: one number, and the whole map counts for nothing.
#[test]
fn annotations_for_the_autoscaler_are_strings() {
    assert_eq!(field("FooMachinePool", "status.capacity")["additionalProperties"]["type"], "string");
    let info = field("FooMachinePool", "status.nodeInfo");
    for name in ["architecture", "operatingSystem"] {
        assert_eq!(info["properties"][name]["type"], "string", "{name}");
        assert!(info["required"].as_array().is_some_and(|all| all.contains(&json!(name))), "{name}");
    }
}

#[test]
fn machines_keep_the_contract_of_infra_machines() {
    let check = |path: &str, kind: &str| assert_eq!(field("FooMachine", path)["type"], kind, "{path}");
    check("spec.providerID", "string");
    check("status.initialization.provisioned", "boolean");
    check("status.ready", "boolean");
    check("status.failureDomain", "string");
    check("status.interruptible", "boolean");
    let address = &field("FooMachine", "status.addresses")["items"]["properties"];
    assert_eq!((&address["type"]["type"], &address["address"]["type"]), (&json!("string"), &json!("string")));
}

/// In contract v1beta2 failure domains are a list; a map means v1beta1.
#[test]
fn clusters_keep_the_contract_of_infra_clusters() {
    let domains = field("FooCluster", "status.failureDomains");
    assert_eq!(
        (&domains["type"], &domains["x-kubernetes-list-map-keys"]),
        (&json!("array"), &json!(["name"]))
    );
    assert_eq!(domains["items"]["properties"]["controlPlane"]["type"], "boolean");
    assert_eq!(field("FooCluster", "status.initialization.provisioned")["type"], "boolean");
    assert_eq!(field("FooCluster", "spec.controlPlaneEndpoint")["properties"]["port"]["type"], "integer");
}

#[test]
fn control_planes_keep_their_contract() {
    let check = |path: &str, kind: &str| assert_eq!(field("FooControlPlane", path)["type"], kind, "{path}");
    check("spec.version", "string");
    check("status.version", "string");
    check("status.initialization.controlPlaneInitialized", "boolean");
    // The reason why Cluster API drains the Nodes of pools.
    check("status.externalManagedControlPlane", "boolean");
    check("spec.controlPlaneEndpoint.host", "string");
    let versions = field("FooControlPlane", "status.versions");
    assert_eq!(versions["items"]["properties"]["version"]["type"], "string");
    // Replicas would promise a scale subresource.
    let schema = crd("FooControlPlane");
    assert!(schema["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["replicas"].is_null());
}

#[test]
fn node_configs_keep_the_contract_of_bootstrap_providers() {
    let check = |path: &str, kind: &str| assert_eq!(field("FooNodeConfig", path)["type"], kind, "{path}");
    check("status.dataSecretName", "string");
    check("status.initialization.dataSecretCreated", "boolean");
    check("status.ready", "boolean");
    check("status.conditions", "array");
}

#[test]
fn templates_have_metadata_and_the_spec_of_their_kind() {
    for (kind, crd) in all().into_iter().filter(|(kind, _)| kind.ends_with("Template")) {
        let template = schema(&crd)["properties"]["spec"]["properties"]["template"]["properties"].clone();
        assert!(template["metadata"]["properties"]["labels"].is_object(), "{kind}");
        assert!(template["spec"]["properties"].is_object(), "{kind}");
    }
}

/// clusterctl provider contract, "Move": identities are above all clusters, and go along with each.
#[test]
fn identities_are_moved_with_what_they_own() {
    let crd = crd("FooClusterIdentity");
    assert_eq!(crd["spec"]["scope"], "Cluster");
    assert_eq!(crd["metadata"]["labels"]["clusterctl.cluster.x-k8s.io/move-hierarchy"], "");
}

/// Short names and columns, as users see them. A change here is a change of the interface.
#[test]
fn printer_columns_of_kubectl_get() {
    let mut shown = String::new();
    for (kind, crd) in all() {
        let names = crd["spec"]["names"]["shortNames"].as_array().cloned().unwrap_or_default();
        let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
        let columns =
            crd["spec"]["versions"][0]["additionalPrinterColumns"].as_array().cloned().unwrap_or_default();
        let columns: Vec<String> = columns
            .iter()
            .map(|column| {
                let wide = if column["priority"].as_i64().unwrap_or(0) > 0 { " (wide)" } else { "" };
                format!("{}{wide}", column["name"].as_str().unwrap_or_default())
            })
            .collect();
        shown.push_str(&[kind.as_str(), &names.join(","), &columns.join(", ")].join(" | "));
        shown.push('\n');
    }
    let expected = "\
FooCluster | fooc | Cluster, Region, Ready, Status, Age
FooClusterTemplate | fooct |
FooClusterIdentity | fooci | Secret, Role, Source, Ready, Status, Age
FooMachine | foom | Cluster, Pool, Instance, Zone, State, Age, Type (wide), Template (wide)
FooMachinePool | foomp | Cluster, Desired, Replicas, Ready, Up-To-Date, Status, Age, Version (wide), Type (wide), Group (wide), Template (wide)
FooMachinePoolTemplate | foompt |
FooPlan | foopl | Pool, ControlPlane, Network, Replaced, Launched, Seconds, Error, Age
FooControlPlane | foocp | Cluster, Version, Available, Status, Endpoint (wide), Age
FooControlPlaneTemplate | foocpt |
FooNodeConfig | foonc | Cluster, Family, Ready, Status, Age, Secret (wide), Bytes (wide)
FooNodeConfigTemplate | foonct |
";
    assert_eq!(shown.replace("| \n", "|\n"), expected);
}
