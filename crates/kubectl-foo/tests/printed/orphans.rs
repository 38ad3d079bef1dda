//! What `kubectl foo orphans` prints for resources with the provider's tags.

use crate::commands::{run, world};
use crate::is_printed;
use foo_api::FooCluster;
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kubectl_foo::orphans::{Objects, Resource, orphans, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const OWN: &str = "this-management-cluster";

/// A resource of Cluster `team/prod`, with tags by the last part of their keys.
fn resource(kind: &str, id: &str, tags: &[(&str, &str)]) -> Resource {
    let tags = tags.iter().chain(&[("cluster", "team/prod")]);
    let tags = tags.map(|(key, value)| (format!("infrastructure.foo.com/{key}"), (*value).to_owned()));
    Resource {
        region: "eu-central-1".to_owned(),
        kind: kind.to_owned(),
        id: id.to_owned(),
        tags: tags.collect(),
    }
}

fn object<K: serde::de::DeserializeOwned>(kind: &str, content: &Value) -> K {
    let group = if kind == "FooControlPlane" { "controlplane.foo.com" } else { "infrastructure.foo.com" };
    let mut object = json!({"apiVersion": format!("{group}/v1alpha1"), "kind": kind});
    object.as_object_mut().unwrap().extend(content.as_object().unwrap().clone());
    serde_json::from_value(object).unwrap()
}

/// A pool with a group, a network that was moved here, and a control plane.
fn objects() -> Objects {
    let of_prod = |name: &str, uid: &str| json!({"namespace": "team", "name": name, "uid": uid, "labels": {"cluster.x-k8s.io/cluster-name": "prod"}});
    let mut moved = of_prod("prod", "uid-here");
    moved["annotations"] = json!({"infrastructure.foo.com/network-id": "network-1"});
    let group =
        json!({"autoScalingGroup": {"name": "workers", "desiredCapacity": 1, "minSize": 0, "maxSize": 1}});
    let eks = json!({"version": "v1.36.0", "eks": {"roleARN": "arn:aws:iam::123456789012:role/eks"}});
    let pool = json!({
        "metadata": of_prod("workers", "pool-1"), "status": group,
        "spec": {"ami": {"id": "ami-1"}, "instanceType": "m7i.large"},
    });
    let control_plane = json!({"metadata": of_prod("prod", "control-plane-1"), "spec": eks});
    let cluster = json!({"metadata": moved, "spec": {"region": "eu-central-1", "network": {"managed": {}}}});
    Objects {
        installation: OWN.to_owned(),
        pools: vec![object("FooMachinePool", &pool)],
        control_planes: vec![object("FooControlPlane", &control_plane)],
        clusters: vec![object("FooCluster", &cluster)],
    }
}

#[test]
fn what_belongs_to_nothing_is_listed_with_its_price() {
    let own = ("installation", OWN);
    let found = orphans(
        &[
            // These have their objects.
            resource("auto-scaling-group", "workers", &[("pool", "workers"), own]),
            resource("launch-template", "lt-1", &[("pool", "workers")]),
            resource("vpc", "vpc-1", &[("network", "network-1"), own]),
            resource("eks-cluster", "team_prod-1", &[("control-plane", "control-plane-1"), own]),
            // Whose consent it is to be adopted, and nothing else.
            Resource {
                tags: BTreeMap::from([("infrastructure.foo.com/adoptable".to_owned(), "team/x".to_owned())]),
                ..resource("eks-cluster", "foreign", &[])
            },
            // An older group of the pool, and what a removed finalizer left.
            resource("auto-scaling-group", "workers-before", &[("pool", "workers"), own]),
            resource("auto-scaling-group", "gone", &[("pool", "gone"), own]),
            resource("launch-template", "lt-2", &[("pool", "gone")]),
            resource("volume", "vol-1", &[("pool", "gone")]),
            resource("natgateway", "nat-1", &[("network", "network-0"), own]),
            resource("eks-cluster", "old", &[("control-plane", "control-plane-0"), own]),
            resource("auto-scaling-group", "kept", &[("pool", "kept"), ("installation", "retained")]),
            Resource {
                tags: BTreeMap::from([("infrastructure.foo.com/pool".to_owned(), "workers".to_owned())]),
                ..resource("instance", "i-1", &[])
            },
            // Of another management cluster.
            resource(
                "auto-scaling-group",
                "foreign-group",
                &[("pool", "foreign-group"), ("installation", "another")],
            ),
        ],
        &objects(),
    );
    assert_eq!(found.of_other_installations, 1);
    is_printed("orphans", &text(&found));
}

/// What a group has is where the group is.
#[test]
fn instances_of_a_retained_or_foreign_group_are_as_their_group() {
    let found = orphans(
        &[
            resource("auto-scaling-group", "kept", &[("pool", "kept"), ("installation", "retained")]),
            resource("instance", "i-1", &[("pool", "kept")]),
            resource(
                "auto-scaling-group",
                "foreign-group",
                &[("pool", "foreign"), ("installation", "another")],
            ),
            resource("instance", "i-2", &[("pool", "foreign")]),
            resource("launch-template", "lt-2", &[("pool", "foreign")]),
        ],
        &objects(),
    );
    assert_eq!(found.of_other_installations, 3);
    let why: Vec<(&str, &str)> = found.orphans.iter().map(|it| (it.id.as_str(), it.why.as_str())).collect();
    let retained = "it was retained when its pool was deleted (deletionPolicy)";
    assert_eq!(why, [("kept", retained), ("i-1", retained)]);
}

#[test]
fn where_everything_has_its_object_that_is_said() {
    let own = resource("vpc", "vpc-1", &[("network", "network-1"), ("installation", OWN)]);
    let mut found = orphans(&[own], &objects());
    found.regions = vec!["eu-central-1".to_owned(), "eu-west-1".to_owned()];
    assert_eq!(text(&found), "no orphans in eu-central-1, eu-west-1\n");
}

/// It may have what would be called an orphan.
#[tokio::test]
async fn an_object_that_cannot_be_decoded_is_an_error() {
    let server = world();
    let namespace: Namespace = serde_json::from_value(json!({"metadata": {"name": "kube-system"}})).unwrap();
    server.create(&namespace).unwrap();
    let clusters: Api<DynamicObject> =
        Api::namespaced_with(server.client(), "default", &ApiResource::erase::<FooCluster>(&()));
    let newer = json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooCluster",
        "metadata": {"name": "newer", "namespace": "default"},
        "spec": {"region": "eu-central-1", "network": {"managed": {"cidr": "10.0.0.0/16"}}},
    });
    clusters.create(&PostParams::default(), &serde_json::from_value(newer).unwrap()).await.unwrap();
    let condition = json!({
        "type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": "in a form to come",
    });
    let status = Patch::Merge(json!({"status": {"conditions": [condition]}}));
    clusters.patch_status("newer", &PatchParams::default(), &status).await.unwrap();
    let ran = run(&server, "orphans -A").await;
    assert!(ran.error().contains("FooCluster newer cannot be read"), "{}", ran.error());
}
