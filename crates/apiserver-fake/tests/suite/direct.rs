//! The user's hand.

use crate::{Bench, pool};
use foo_api::FooMachinePool;
use foo_api::capi::MachinePool;
use kube::ResourceExt;
use serde_json::json;

#[tokio::test]
async fn the_hand_leaves_no_trace_in_the_log_and_passes_faults() {
    let bench = Bench::new();
    let fault = bench.server.inject(foo_apiserver_fake::Fault::unavailable().always());
    let mut wanted = pool("a");
    wanted.status = Some(crate::parse(json!({ "ready": true })));
    let made = bench.server.create(&wanted).unwrap();
    assert_eq!(made.status.unwrap().ready, Some(true), "the status as well");
    let edited =
        bench.server.edit("default", "a", |pool: &mut FooMachinePool| pool.spec.max_size = Some(2)).unwrap();
    assert_eq!(edited.metadata.generation, Some(2));
    assert_eq!(bench.server.list::<FooMachinePool>("default").len(), 1);
    assert!(bench.server.list::<FooMachinePool>("other").is_empty());
    assert!(bench.server.delete::<FooMachinePool>("default", "a").unwrap());
    assert!(bench.server.objects::<FooMachinePool>().is_empty());
    assert!(bench.server.requests().is_empty());
    assert_eq!(fault.struck(), 0);
}

#[tokio::test]
async fn an_edit_through_a_view_keeps_what_the_view_does_not_show() {
    let bench = Bench::new();
    let client = bench.server.client();
    let whole = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachinePool",
        "metadata": { "name": "mp" },
        "spec": { "clusterName": "c", "template": { "spec": { "clusterName": "c", "taints": [1] } } },
    });
    let request = http::Request::post("/apis/cluster.x-k8s.io/v1beta2/namespaces/default/machinepools")
        .body(whole.to_string().into_bytes());
    client.request::<serde_json::Value>(request.unwrap()).await.unwrap();
    let after =
        bench.server.edit("default", "mp", |pool: &mut MachinePool| pool.spec.replicas = Some(4)).unwrap();
    assert_eq!(after.spec.replicas, Some(4));
    let raw = bench.server.get_raw::<MachinePool>("default", "mp").unwrap();
    assert_eq!(raw["spec"]["template"]["spec"]["taints"], json!([1]));
    let before = bench.server.resource_version();
    bench.server.edit("default", "mp", |_: &mut MachinePool| {}).unwrap();
    assert_eq!(bench.server.resource_version(), before);
}

#[tokio::test]
async fn edits_can_change_spec_and_status_at_once() {
    let bench = Bench::new();
    bench.server.create(&pool("a")).unwrap();
    let after = bench
        .server
        .edit("default", "a", |pool: &mut FooMachinePool| {
            pool.spec.max_size = Some(1);
            pool.status = Some(crate::parse(json!({ "replicas": 3 })));
            pool.labels_mut().insert("a".to_owned(), "b".to_owned());
        })
        .unwrap();
    assert_eq!((after.spec.max_size, after.status.clone().unwrap().replicas), (Some(1), Some(3)));
    assert_eq!(after.labels()["a"], "b");
}
