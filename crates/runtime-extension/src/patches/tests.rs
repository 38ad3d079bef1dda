//! Templates of the provider get the values of variables, and others get none.

use super::*;
use foo_runtime_sdk::hooks::{GeneratePatches, PatchType};
use foo_runtime_sdk::{Handler, testing};
use serde_json::json;

fn pool(spec: &Value) -> Value {
    json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooMachinePoolTemplate",
        "metadata": {"name": "foo", "namespace": "n"}, "spec": {"template": {"spec": spec}},
    })
}

fn request(object: &Value, own: &Value, settings: &Value) -> GeneratePatchesRequest {
    let own: Vec<Value> =
        own.as_object().unwrap().iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    serde_json::from_value(json!({
        "settings": settings,
        "variables": [
            {"name": "region", "value": "eu-central-1"}, {"name": "subnets", "value": [{"id": "subnet-1"}]},
            {"name": "instanceProfile", "value": "nodes"}, {"name": "amiID", "value": "ami-1"},
            {"name": "kubeconfigSecret", "value": "external"}, {"name": "instanceType", "value": "m7i.large"},
            {"name": "builtin", "value": {"cluster": {"topology": {"version": "v1.37.0"}}}},
        ],
        "items": [{"uid": "1", "holderReference": {"kind": "MachinePool"}, "object": object, "variables": own}],
    }))
    .unwrap()
}

/// The template after the patch, or why there is none.
fn patched(object: &Value, own: &Value) -> Result<Option<Value>, String> {
    let items =
        generate(&request(object, own, &json!({}))).map_err(|failure| failure.message().to_owned())?;
    let Some(item) = items.first() else { return Ok(None) };
    assert_eq!((items.len(), item.uid.as_str()), (1, "1"));
    let change: Value = serde_json::from_slice(&item.patch).unwrap();
    let mut after = object.clone();
    match item.patch_type {
        PatchType::JSONMergePatch => json_patch::merge(&mut after, &change),
        PatchType::JSONPatch => {
            json_patch::patch(&mut after, &serde_json::from_value::<json_patch::Patch>(change).unwrap())
                .unwrap();
        }
    }
    Ok(Some(after["spec"]["template"]["spec"].clone()))
}

#[test]
fn a_pool_gets_its_own_values_before_those_of_the_cluster() {
    let before = pool(&json!({"instanceType": "x", "ami": {"id": "ami-0"}, "rollout": {"maxSurge": 2}}));
    let after = patched(
        &before,
        &json!({"instanceType": "c7i.large", "sshKeyName": "", "scaleIn": {"policy": "Newest"}}),
    );
    assert_eq!(
        after.unwrap().unwrap(),
        json!({
            "instanceType": "c7i.large", "ami": {"id": "ami-1"}, "iamInstanceProfile": "nodes",
            "rollout": {"maxSurge": 2}, "scaleIn": {"policy": "Newest"},
        })
    );
}

#[test]
fn a_pool_of_several_types_gets_no_single_one() {
    let before = pool(&json!({"mixedInstances": {"overrides": []}, "ami": {"id": "ami-0"}}));
    let own = json!({"instanceTypes": [{"instanceType": "m5.large"}], "onDemandBase": 3, "spot": {}});
    let after = patched(&before, &own).unwrap().unwrap();
    assert_eq!(
        after["mixedInstances"],
        json!({"overrides": [{"instanceType": "m5.large"}], "onDemandBase": 3})
    );
    assert!(after.get("instanceType").is_none() && after.get("spot").is_none());
}

/// In an upgrade each pool gets the image of its version when it is its turn.
#[test]
fn the_image_is_that_of_the_pools_version() {
    let before = pool(&json!({"instanceType": "x", "ami": {"id": "ami-0"}}));
    let images = json!([{"version": "v1.36.3", "id": "ami-36"}, {"version": "v1.37.0", "id": "ami-37"}]);
    let with = |version: &str| {
        let builtin = json!({"machinePool": {"version": version, "topologyName": "workers"}});
        patched(&before, &json!({"images": images, "builtin": builtin}))
            .map(|after| after.unwrap()["ami"]["id"].clone())
    };
    assert_eq!(with("v1.36.3"), Ok(json!("ami-36")));
    assert_eq!(with("v1.37.0"), Ok(json!("ami-37")));
    assert_eq!(
        with("v1.38.0"),
        Err("pool workers: variable images has no image for Kubernetes v1.38.0".to_owned())
    );
    let none = patched(&before, &json!({"amiID": ""}));
    assert_eq!(none, Err("pool : neither the variable images nor amiID names an image".to_owned()));
}

/// The template of a cluster after the patch, with these variables beside those of every request.
fn patched_cluster(own: &Value) -> Result<Value, String> {
    let template = json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooClusterTemplate",
        "metadata": {"name": "foo", "namespace": "n"},
        "spec": {"template": {"spec": {"region": "set-by-variable-0", "network": {"existing": {"subnets": [{"id": "subnet-0"}]}}}}},
    });
    patched(&template, own).map(|after| after.unwrap()["network"].clone())
}

#[test]
fn a_cluster_gets_the_network_of_its_mode() {
    let existing = json!({"existing": {"subnets": [{"id": "subnet-1"}]}});
    assert_eq!(patched_cluster(&json!({})), Ok(existing.clone()));
    let described = json!({"networkMode": "Existing", "managedNetwork": {"nat": "Single"}});
    assert_eq!(patched_cluster(&described), Ok(existing));
    assert_eq!(patched_cluster(&json!({"networkMode": "Managed"})), Ok(json!({"managed": {}})));
    let described = json!({"networkMode": "Managed", "managedNetwork": {"nat": "Single"}, "subnets": [], "vpcID": "vpc-1"});
    assert_eq!(patched_cluster(&described), Ok(json!({"managed": {"nat": "Single"}})));
    let missing = patched_cluster(&json!({"subnets": []}));
    assert_eq!(missing, Err("variable subnets is not set, which networkMode Existing needs".to_owned()));
    let unknown = patched_cluster(&json!({"networkMode": "Shared"})).unwrap_err();
    assert!(unknown.contains("networkMode") && unknown.contains("Shared"), "{unknown}");
}

fn template(group: &str, kind: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": format!("{group}.foo.com/v1alpha1"), "kind": kind,
        "metadata": {"name": "foo", "namespace": "n"}, "spec": {"template": {"spec": spec}},
    })
}

/// The template of an EKS class has a managed network: a Cluster of it may have one that exists.
#[test]
fn a_network_that_exists_takes_the_place_of_a_managed_one() {
    let managed = json!({"region": "set-by-variable-0", "network": {"managed": {}}});
    let managed = template("infrastructure", "FooClusterTemplate", &managed);
    let after = patched(&managed, &json!({"networkMode": "Existing"})).unwrap().unwrap();
    assert_eq!(after["network"], json!({"existing": {"subnets": [{"id": "subnet-1"}]}}));
    let after = patched(&managed, &json!({"networkMode": "Managed"})).unwrap().unwrap();
    assert_eq!(after, json!({"region": "eu-central-1", "network": {"managed": {}}}));
}

/// The mode of a control plane is its template's, and decides which variables it needs.
#[test]
fn a_control_plane_gets_the_values_of_its_mode() {
    let eks = json!({"eks": {"roleARN": "arn:aws:iam::000000000000:role/set-by-variable"}});
    let eks = template("controlplane", "FooControlPlaneTemplate", &eks);
    let role = "arn:aws:iam::123456789012:role/eks";
    let own = json!({"roleARN": role, "addons": [{"name": "coredns"}], "eksTags": {"team": "a"}});
    let after = patched(&eks, &own).unwrap().unwrap();
    let expected = json!({"eks": {"roleARN": role, "addons": [{"name": "coredns"}], "tags": {"team": "a"}}});
    assert_eq!(after, expected);
    assert_eq!(patched(&eks, &json!({})), Err("variable roleARN is not set".to_owned()));
    let external = json!({"external": {"kubeconfigSecretRef": {"name": "set-by-variable"}}});
    let external = template("controlplane", "FooControlPlaneTemplate", &external);
    let after = patched(&external, &own).unwrap().unwrap();
    assert_eq!(after, json!({"external": {"kubeconfigSecretRef": {"name": "external"}}}));
}

#[test]
fn an_image_takes_the_place_of_a_recommended_one() {
    let ami = json!({"recommended": {"family": "AL2023"}});
    let before = pool(&json!({"instanceType": "x", "ami": ami}));
    let image = |own: &Value| patched(&before, own).map(|after| after.unwrap()["ami"].clone());
    let followed = image(&json!({"amiID": "", "imagePolicy": "Latest"}));
    assert_eq!(followed, Ok(json!({"recommended": {"family": "AL2023"}, "policy": "Latest"})));
    assert_eq!(image(&json!({"imagePolicy": "Latest"})), Ok(json!({"id": "ami-1"})));
    let images = json!({"images": [{"version": "v1.37.0", "id": "ami-37"}], "imagePolicy": "Pinned"});
    assert_eq!(image(&images), Ok(json!({"id": "ami-37"})));
}

#[test]
fn nodes_get_their_pools_own_labels_and_taints() {
    let before = template("bootstrap", "FooNodeConfigTemplate", &json!({"family": "Bottlerocket"}));
    let taints = json!([{"key": "dedicated", "effect": "NoSchedule"}]);
    let after =
        patched(&before, &json!({"nodeLabels": {"team": "a"}, "nodeTaints": taints})).unwrap().unwrap();
    assert_eq!(after, json!({"family": "Bottlerocket", "labels": {"team": "a"}, "taints": taints}));
    let problem = patched(&before, &json!({"nodeTaints": [{"key": "a", "effect": "Never"}]})).unwrap_err();
    assert!(problem.contains("FooNodeConfigTemplate foo cannot be read"), "{problem}");
}

#[test]
fn templates_of_others_and_finished_ones_are_not_patched() {
    let finished =
        json!({"instanceType": "m7i.large", "ami": {"id": "ami-1"}, "iamInstanceProfile": "nodes"});
    assert_eq!(patched(&pool(&finished), &json!({})), Ok(None));
    let mut other = pool(&json!({"instanceType": "x"}));
    other["apiVersion"] = json!("infrastructure.example.com/v1");
    assert_eq!(patched(&other, &json!({})), Ok(None));
}

#[test]
fn values_of_the_wrong_type_are_failures_that_name_them() {
    let before = pool(&json!({"instanceType": "x", "ami": {"id": "ami-0"}}));
    let problem = patched(&before, &json!({"maxSize": "many"})).unwrap_err();
    assert!(
        problem.contains("FooMachinePoolTemplate foo cannot be read") && problem.contains("many"),
        "{problem}"
    );
    let problem = patched(&before, &json!({"images": "ami-1"})).unwrap_err();
    assert!(problem.contains("variable images: invalid type"), "{problem}");
    let mut bare = request(&before, &json!({}), &json!({}));
    bare.variables.clear();
    let failure = generate(&bare).unwrap_err();
    assert_eq!(failure.message(), "variable instanceProfile is not set");
    let failure = generate(&request(&before, &json!({}), &json!({"chekcs": "Off"}))).unwrap_err();
    assert!(failure.message().contains("unknown field `chekcs`"), "{failure}");
}

#[tokio::test]
async fn the_same_request_gets_the_same_response() {
    let handler = Handler::new(GeneratePatches, "patches", |request| std::future::ready(generate(&request)));
    let before = pool(&json!({"instanceType": "x", "ami": {"id": "ami-0"}}));
    testing::assert_deterministic(&handler, &request(&before, &json!({}), &json!({}))).await;
}
