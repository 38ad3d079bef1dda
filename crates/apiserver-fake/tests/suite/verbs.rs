//! Plain requests: what they do, and what they are refused for.

use crate::{Bench, judge, machine, parse, pool, refused};
use foo_api::FooMachinePool;
use foo_api::capi::MachinePool;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Secret};
use kube::api::{
    DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams, Preconditions, PropagationPolicy,
    VersionMatch,
};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::finalizer::{Event, finalizer};
use kube::{Api, ResourceExt};
use serde_json::json;
use std::sync::Arc;

fn generation(object: &FooMachinePool) -> i64 {
    object.metadata.generation.unwrap()
}

#[tokio::test]
async fn created_objects_get_what_only_the_server_gives() {
    let bench = Bench::clean().await;
    let mut wanted = pool("a");
    wanted.status = Some(parse(json!({ "ready": true })));
    let made = bench.pools.create(&PostParams::default(), &wanted).await.unwrap();
    assert!(judge::presides() || made.uid().unwrap() == "00000000-0000-4000-8000-000000000001");
    assert!(judge::presides() || made.resource_version().unwrap() == "2");
    assert_eq!(generation(&made), 1);
    assert!(made.creation_timestamp().is_some());
    assert!(made.status.is_none(), "status is a subresource");
    assert_eq!(made.spec.metadata_options.http_put_response_hop_limit, 1, "defaults of the CRD");
    assert_eq!(bench.pools.get("a").await.unwrap(), made);
}

#[tokio::test]
async fn a_name_is_taken_once_and_can_be_generated() {
    let bench = Bench::clean().await;
    bench.pools.create(&PostParams::default(), &pool("a")).await.unwrap();
    assert_eq!(refused(bench.pools.create(&PostParams::default(), &pool("a")).await), "409 AlreadyExists");
    let mut wanted = pool("a");
    wanted.metadata.name = None;
    wanted.metadata.generate_name = Some("p-".to_owned());
    let one = bench.pools.create(&PostParams::default(), &wanted).await.unwrap();
    let two = bench.pools.create(&PostParams::default(), &wanted).await.unwrap();
    assert!(one.name_any().starts_with("p-") && one.name_any().len() == 7);
    assert_ne!(one.name_any(), two.name_any());
    assert_eq!(refused(bench.pools.create(&PostParams::default(), &pool("No_Name")).await), "422 Invalid");
}

#[tokio::test]
async fn unknown_kinds_and_objects_are_not_found() {
    let bench = Bench::clean().await;
    assert_eq!(refused(bench.pools.get("a").await), "404 NotFound");
    let unknown = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Thing"));
    let things: Api<DynamicObject> = Api::namespaced_with(bench.client.clone(), "default", &unknown);
    assert_eq!(refused(things.list(&ListParams::default()).await), "404 Failed to parse error data");
    let configs: Api<ConfigMap> = Api::namespaced(bench.client.clone(), "default");
    let status = Patch::Merge(json!({ "status": {} }));
    assert_eq!(refused(configs.patch_status("a", &PatchParams::default(), &status).await), "404 NotFound");
}

#[tokio::test]
async fn a_put_needs_the_newest_resource_version() {
    let bench = Bench::clean().await;
    let mut old = bench.pools.create(&PostParams::default(), &pool("a")).await.unwrap();
    let mut new = old.clone();
    new.spec.max_size = Some(3);
    let new = bench.pools.replace("a", &PostParams::default(), &new).await.unwrap();
    assert_eq!(generation(&new), 2);
    old.spec.max_size = Some(4);
    assert_eq!(refused(bench.pools.replace("a", &PostParams::default(), &old).await), "409 Conflict");
    old.metadata.resource_version = None;
    assert_eq!(refused(bench.pools.replace("a", &PostParams::default(), &old).await), "422 Invalid");
}

#[tokio::test]
async fn spec_and_status_are_written_apart() {
    let bench = Bench::clean().await;
    let made = bench.pools.create(&PostParams::default(), &pool("a")).await.unwrap();
    let mut changed = made.clone();
    changed.spec.max_size = Some(9);
    changed.labels_mut().insert("l".to_owned(), "v".to_owned());
    changed.status = Some(parse(json!({ "ready": true, "replicas": 1 })));
    let after = bench.pools.replace_status("a", &PostParams::default(), &changed).await.unwrap();
    assert_eq!((after.spec.max_size, after.labels().len()), (None, 0));
    assert_eq!(after.status.as_ref().unwrap().ready, Some(true));
    assert_eq!(generation(&after), 1, "status does not count");
    let patch = Patch::Merge(json!({ "status": { "replicas": 7 }, "spec": { "maxSize": 2 } }));
    let after = bench.pools.patch("a", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!((after.spec.max_size, after.status.unwrap().replicas), (Some(2), Some(1)));
    assert_eq!(after.metadata.generation, Some(2));
}

#[tokio::test]
async fn metadata_does_not_change_the_generation_and_an_empty_patch_writes_nothing() {
    let bench = Bench::clean().await;
    bench.pools.create(&PostParams::default(), &pool("a")).await.unwrap();
    let label = Patch::Merge(json!({ "metadata": { "labels": { "a": "b" } } }));
    let once = bench.pools.patch("a", &PatchParams::default(), &label).await.unwrap();
    let again = bench.pools.patch("a", &PatchParams::default(), &label).await.unwrap();
    assert_eq!(generation(&once), 1);
    assert_eq!(once.resource_version(), again.resource_version());
    let same = bench.pools.replace("a", &PostParams::default(), &again).await.unwrap();
    assert_eq!(same.resource_version(), once.resource_version());
    if !judge::presides() {
        assert_eq!(bench.server.requests().writes().changing().count(), 2);
    }
}

#[tokio::test]
async fn json_patches_test_and_change() {
    let bench = Bench::clean().await;
    bench.pools.create(&PostParams::default(), &pool("a")).await.unwrap();
    let patch = |value| Patch::<()>::Json(parse(value));
    let good = patch(json!([
        { "op": "test", "path": "/spec/instanceType", "value": "m7i.large" },
        { "op": "replace", "path": "/spec/instanceType", "value": "m7i.xlarge" },
    ]));
    let after = bench.pools.patch("a", &PatchParams::default(), &good).await.unwrap();
    assert_eq!(after.spec.instance_type.as_deref(), Some("m7i.xlarge"));
    assert_eq!(refused(bench.pools.patch("a", &PatchParams::default(), &good).await), "422 Invalid");
}

#[tokio::test]
async fn strategic_patches_are_for_built_in_kinds_only() {
    let bench = Bench::clean().await;
    bench.pools.create(&PostParams::default(), &pool("a")).await.unwrap();
    let patch = Patch::Strategic(json!({ "metadata": { "labels": { "a": "b" } } }));
    assert_eq!(
        refused(bench.pools.patch("a", &PatchParams::default(), &patch).await),
        "415 UnsupportedMediaType"
    );
}

#[tokio::test]
async fn the_schema_prunes_and_refuses() {
    let bench = Bench::clean().await;
    bench.pools.create(&PostParams::default(), &pool("a")).await.unwrap();
    let typo = Patch::Merge(json!({ "spec": { "maxSiez": 3 } }));
    let after = bench.pools.patch("a", &PatchParams::default(), &typo).await.unwrap();
    assert_eq!(after.metadata.generation, Some(1), "an unknown field is dropped");
    let text = Patch::Merge(json!({ "spec": { "maxSize": "three" } }));
    assert_eq!(refused(bench.pools.patch("a", &PatchParams::default(), &text).await), "422 Invalid");
    let twice = json!([
        { "type": "Ready", "status": "True", "reason": "A", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z" },
        { "type": "Ready", "status": "False", "reason": "B", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z" },
    ]);
    let twice = Patch::Merge(json!({ "status": { "conditions": twice } }));
    assert_eq!(refused(bench.pools.patch_status("a", &PatchParams::default(), &twice).await), "422 Invalid");
}

#[tokio::test]
async fn an_object_exists_until_its_last_finalizer_is_removed() {
    let bench = Bench::clean().await;
    let mut wanted = machine("m");
    wanted.finalizers_mut().extend(["a/x".to_owned(), "a/y".to_owned()]);
    bench.machines.create(&PostParams::default(), &wanted).await.unwrap();
    let held = bench.machines.delete("m", &DeleteParams::default()).await.unwrap().left().unwrap();
    assert!(held.metadata.deletion_timestamp.is_some());
    assert_eq!(held.metadata.generation, Some(2));
    let again = bench.machines.delete("m", &DeleteParams::default()).await.unwrap().left().unwrap();
    assert_eq!(again.resource_version(), held.resource_version());
    let finalizers = |list: serde_json::Value| Patch::Merge(json!({ "metadata": { "finalizers": list } }));
    let more = finalizers(json!(["a/x", "a/y", "a/z"]));
    assert_eq!(refused(bench.machines.patch("m", &PatchParams::default(), &more).await), "422 Invalid");
    bench.machines.patch("m", &PatchParams::default(), &finalizers(json!(["a/y"]))).await.unwrap();
    assert!(bench.machines.get_opt("m").await.unwrap().is_some());
    bench.machines.patch("m", &PatchParams::default(), &finalizers(json!([]))).await.unwrap();
    assert!(bench.machines.get_opt("m").await.unwrap().is_none());
    assert_eq!(refused(bench.machines.delete("m", &DeleteParams::default()).await), "404 NotFound");
}

#[tokio::test]
async fn deletions_have_preconditions_and_policies() {
    let bench = Bench::clean().await;
    let made = bench.machines.create(&PostParams::default(), &machine("m")).await.unwrap();
    let uid = |uid: &str| Preconditions { uid: Some(uid.to_owned()), resource_version: None };
    let wrong = DeleteParams::default().preconditions(uid("other"));
    assert_eq!(refused(bench.machines.delete("m", &wrong).await), "409 Conflict");
    let old = Preconditions { uid: None, resource_version: Some("1".to_owned()) };
    let old = DeleteParams::default().preconditions(old);
    assert_eq!(refused(bench.machines.delete("m", &old).await), "409 Conflict");
    let right = DeleteParams {
        propagation_policy: Some(PropagationPolicy::Foreground),
        ..DeleteParams::default().preconditions(uid(&made.uid().unwrap()))
    };
    let held = bench.machines.delete("m", &right).await.unwrap().left().unwrap();
    assert_eq!(held.finalizers(), ["foregroundDeletion"]);
    bench.machines.create(&PostParams::default(), &machine("n")).await.unwrap();
    let gone = bench.machines.delete("n", &DeleteParams::background()).await.unwrap();
    assert!(gone.right().unwrap().is_success());
}

#[tokio::test]
async fn kubes_finalizers_work_on_it() {
    let bench = Bench::clean().await;
    bench.pools.create(&PostParams::default(), &pool("a")).await.unwrap();
    let run = |object: FooMachinePool| {
        let pools = bench.pools.clone();
        async move {
            finalizer(&pools, "foo.com/pool", Arc::new(object), |event| async move {
                let action = kube::runtime::controller::Action::await_change();
                match event {
                    Event::Apply(_) | Event::Cleanup(_) => Ok::<_, std::io::Error>(action),
                }
            })
            .await
        }
    };
    run(bench.pools.get("a").await.unwrap()).await.unwrap();
    assert_eq!(bench.pools.get("a").await.unwrap().finalizers(), ["foo.com/pool"]);
    bench.pools.delete("a", &DeleteParams::default()).await.unwrap();
    run(bench.pools.get("a").await.unwrap()).await.unwrap();
    assert!(bench.pools.get_opt("a").await.unwrap().is_none());
}

#[tokio::test]
async fn lists_select_and_page() {
    let bench = Bench::clean().await;
    for (name, zone) in [("a", "1"), ("b", "1"), ("c", "2"), ("d", "2"), ("e", "")] {
        let mut machine = machine(name);
        if !zone.is_empty() {
            machine.labels_mut().insert("zone".to_owned(), zone.to_owned());
        }
        bench.machines.create(&PostParams::default(), &machine).await.unwrap();
    }
    let names = async |params: ListParams| -> String {
        bench.machines.list(&params).await.unwrap().iter().map(ResourceExt::name_any).collect()
    };
    for (selector, found) in [
        ("zone=1", "ab"),
        ("zone==2", "cd"),
        ("zone!=1", "cde"),
        ("zone", "abcd"),
        ("!zone", "e"),
        ("zone in (1, 2),zone!=2", "ab"),
        ("zone notin (1,2)", "e"),
    ] {
        assert_eq!(names(ListParams::default().labels(selector)).await, found, "{selector}");
    }
    assert_eq!(names(ListParams::default().fields("metadata.name=b")).await, "b");
    assert_eq!(names(ListParams::default().fields("metadata.namespace=other")).await, "");
    assert_eq!(
        refused(bench.machines.list(&ListParams::default().fields("spec.clusterName=c")).await),
        "400 BadRequest"
    );
    let first = bench.machines.list(&ListParams::default().limit(2)).await.unwrap();
    assert_eq!(first.metadata.remaining_item_count, Some(3));
    bench.machines.delete("c", &DeleteParams::default()).await.unwrap();
    let token = first.metadata.continue_.unwrap();
    assert_eq!(
        names(ListParams::default().limit(9).continue_token(&token)).await,
        "cde",
        "pages of one moment"
    );
    let before =
        ListParams::default().at(&first.metadata.resource_version.unwrap()).matching(VersionMatch::Exact);
    assert_eq!(names(before).await, "abcde");
    if judge::presides() {
        return;
    }
    bench.server.compact();
    let late = ListParams::default().continue_token(&token);
    assert_eq!(refused(bench.machines.list(&late).await), "410 Expired");
}

#[tokio::test]
async fn metadata_alone_can_be_read() {
    let bench = Bench::clean().await;
    bench.pools.create(&PostParams::default(), &pool("a")).await.unwrap();
    let one = bench.pools.get_metadata("a").await.unwrap();
    assert_eq!(one.types.unwrap().kind, "PartialObjectMetadata");
    assert!(one.metadata.managed_fields.is_some());
    let all = bench.pools.list_metadata(&ListParams::default()).await.unwrap();
    assert_eq!(all.items.len(), 1);
}

#[tokio::test]
async fn secrets_leases_and_cluster_scoped_kinds_work() {
    let bench = Bench::clean().await;
    let client = bench.client.clone();
    let secrets: Api<Secret> = Api::namespaced(client.clone(), "default");
    let secret: Secret = parse(json!({ "metadata": { "name": "s" }, "stringData": { "value": "hello" } }));
    let made = secrets.create(&PostParams::default(), &secret).await.unwrap();
    assert_eq!(made.data.unwrap()["value"].0, b"hello");
    let leases: Api<Lease> = Api::namespaced(client.clone(), "default");
    let lease: Lease = parse(json!({ "metadata": { "name": "l" }, "spec": { "holderIdentity": "me" } }));
    let made = leases.create(&PostParams::default(), &lease).await.unwrap();
    let mut taken = made.clone();
    taken.spec.as_mut().unwrap().holder_identity = Some("you".to_owned());
    leases.replace("l", &PostParams::default(), &taken).await.unwrap();
    assert_eq!(refused(leases.replace("l", &PostParams::default(), &made).await), "409 Conflict");
    let nodes: Api<Node> = Api::all(client.clone());
    let node = Node {
        metadata: ObjectMeta { name: Some("n".to_owned()), ..ObjectMeta::default() },
        ..Node::default()
    };
    nodes.create(&PostParams::default(), &node).await.unwrap();
    assert_eq!(Api::<Node>::all(client).list(&ListParams::default()).await.unwrap().items.len(), 1);
}

#[tokio::test]
async fn dry_runs_leave_no_trace_and_scale_writes_replicas() {
    let bench = Bench::clean().await;
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    bench.pools.create(&dry, &pool("a")).await.unwrap();
    assert!(bench.pools.get_opt("a").await.unwrap().is_none());
    let wanted: MachinePool = parse(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachinePool",
        "metadata": { "name": "mp", "namespace": "default" }, "spec": { "clusterName": "c" },
    }));
    bench.machine_pools.create(&PostParams::default(), &wanted).await.unwrap();
    let five = Patch::Merge(json!({ "spec": { "replicas": 5 } }));
    bench.machine_pools.patch_scale("mp", &PatchParams::default(), &five).await.unwrap();
    assert_eq!(bench.machine_pools.get("mp").await.unwrap().spec.replicas, Some(5));
    assert_eq!(bench.machine_pools.get_scale("mp").await.unwrap().spec.unwrap().replicas, Some(5));
}

#[tokio::test]
async fn discovery_serves_what_clients_request() {
    let client = Bench::clean().await.client;
    assert_eq!(client.apiserver_version().await.unwrap().major, "1");
    let kind = GroupVersionKind::gvk("infrastructure.foo.com", "v1alpha1", "FooMachine");
    let found = kube::discovery::pinned_kind(&client, &kind);
    assert_eq!(found.await.unwrap().0.plural, "foomachines");
}
