//! Server-side apply, case by case as the Kubernetes documentation ("Server-Side Apply") has it.

use crate::{Bench, pool, refusal, refused};
use foo_api::FooMachinePool;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::{Value, json};

impl Bench {
    async fn apply(&self, manager: &str, mut fields: Value) -> Result<FooMachinePool, kube::Error> {
        self.send(PatchParams::apply(manager), &mut fields).await
    }

    async fn force(&self, manager: &str, mut fields: Value) -> FooMachinePool {
        self.send(PatchParams::apply(manager).force(), &mut fields).await.unwrap()
    }

    async fn send(&self, params: PatchParams, fields: &mut Value) -> Result<FooMachinePool, kube::Error> {
        typed(fields);
        if fields.get("status").is_some() {
            self.pools.patch_status("a", &params, &Patch::Apply(&*fields)).await
        } else {
            self.pools.patch("a", &params, &Patch::Apply(&*fields)).await
        }
    }

    async fn made() -> Self {
        let bench = Self::clean().await;
        let mut wanted = pool("a");
        wanted.metadata.namespace = None;
        bench
            .pools
            .create(&PostParams { field_manager: Some("user".to_owned()), ..PostParams::default() }, &wanted)
            .await
            .unwrap();
        bench
    }
}

fn typed(fields: &mut Value) {
    if fields.get("metadata").is_none_or(|metadata| metadata.get("name").is_none()) {
        fields["metadata"]["name"] = json!("a");
    }
    fields["apiVersion"] = json!("infrastructure.foo.com/v1alpha1");
    fields["kind"] = json!("FooMachinePool");
}

fn condition(kind: &str, status: &str) -> Value {
    json!({ "type": kind, "status": status, "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z" })
}

fn conditions(object: &FooMachinePool) -> String {
    let all = object.status.iter().flat_map(|status| &status.conditions);
    all.map(|one| format!("{}={}", one.type_, one.status)).collect::<Vec<_>>().join(" ")
}

/// manager, operation and fields of every entry of managedFields.
fn owners(object: &FooMachinePool) -> Vec<(String, String, Value)> {
    let entry = |entry: &k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry| {
        (entry.manager.clone().unwrap(), entry.operation.clone().unwrap(), entry.fields_v1.clone().unwrap().0)
    };
    object.metadata.managed_fields.iter().flatten().map(entry).collect()
}

#[tokio::test]
async fn applying_creates_what_does_not_exist() {
    let bench = Bench::clean().await;
    let made =
        bench.apply("a", json!({ "spec": { "instanceType": "x", "ami": { "id": "i" } } })).await.unwrap();
    assert_eq!(made.metadata.generation, Some(1));
    assert_eq!(
        owners(&made),
        [(
            "a".to_owned(),
            "Apply".to_owned(),
            json!({ "f:spec": { "f:ami": { "f:id": {} }, "f:instanceType": {} } })
        )]
    );
    let log = bench.server.requests().writes();
    assert!(log.iter().all(|request| request.apply && request.manager == "a"));
}

#[tokio::test]
async fn a_manager_is_required_and_a_status_is_not_created() {
    let bench = Bench::clean().await;
    let params = PatchParams::default();
    let mut fields = json!({ "spec": {} });
    assert_eq!(refused(bench.send(params, &mut fields).await), "422 Invalid");
    assert_eq!(refused(bench.apply("a", json!({ "status": {} })).await), "404 NotFound");
}

#[tokio::test]
async fn fields_no_longer_applied_are_removed_unless_another_manager_owns_them() {
    let bench = Bench::made().await;
    bench
        .apply("a", json!({ "metadata": { "labels": { "x": "1", "y": "1" } }, "spec": { "maxSize": 5 } }))
        .await
        .unwrap();
    bench.apply("b", json!({ "metadata": { "labels": { "y": "1" } } })).await.unwrap();
    let after = bench.apply("a", json!({ "metadata": { "labels": {} } })).await.unwrap();
    assert_eq!(serde_json::to_value(after.labels()).unwrap(), json!({ "y": "1" }));
    assert_eq!(after.spec.max_size, None);
    assert_eq!(after.spec.instance_type.as_deref(), Some("m7i.large"), "never owned by a");
    let after = bench.apply("b", json!({})).await.unwrap();
    assert!(after.labels().is_empty());
}

#[tokio::test]
async fn fields_of_another_manager_conflict_unless_equal_or_forced() {
    let bench = Bench::made().await;
    bench.apply("a", json!({ "spec": { "maxSize": 5 } })).await.unwrap();
    let status = refusal(bench.apply("b", json!({ "spec": { "maxSize": 6 } })).await);
    assert_eq!(status.code, 409);
    assert_eq!(status.message, "Apply failed with 1 conflict: conflict with \"a\": .spec.maxSize");
    assert_eq!(status.details.unwrap().causes[0].reason, "FieldManagerConflict");
    bench.apply("b", json!({ "spec": { "maxSize": 5 } })).await.unwrap();
    assert_eq!(refusal(bench.apply("a", json!({ "spec": { "maxSize": 7 } })).await).code, 409, "shared now");
    let after = bench.force("b", json!({ "spec": { "maxSize": 8 } })).await;
    assert_eq!(after.spec.max_size, Some(8));
    assert!(!owners(&after).iter().any(|(manager, ..)| manager == "a"), "a owns nothing any more");
    let after = bench.apply("a", json!({})).await.unwrap();
    assert_eq!(after.spec.max_size, Some(8), "what was dropped is not removed");
}

#[tokio::test]
async fn other_writes_take_ownership_of_what_they_change() {
    let bench = Bench::made().await;
    let status = refusal(bench.apply("a", json!({ "spec": { "instanceType": "other" } })).await);
    assert_eq!(
        status.message,
        "Apply failed with 1 conflict: conflict with \"user\" using infrastructure.foo.com/v1alpha1: .spec.instanceType"
    );
    bench.apply("a", json!({ "spec": { "maxSize": 5 } })).await.unwrap();
    let patch = Patch::Merge(json!({ "spec": { "maxSize": 6 } }));
    bench
        .pools
        .patch("a", &PatchParams { field_manager: Some("b".to_owned()), ..PatchParams::default() }, &patch)
        .await
        .unwrap();
    let after = bench.apply("a", json!({})).await.unwrap();
    assert_eq!(after.spec.max_size, Some(6), "b owns it now");
    let same_name = refusal(bench.apply("b", json!({ "spec": { "maxSize": 7 } })).await);
    assert_eq!(same_name.code, 409, "the same name with another operation is another manager");
}

#[tokio::test]
async fn conditions_are_owned_one_by_one() {
    let bench = Bench::made().await;
    let apply = |manager: &'static str, list: Value| {
        bench.apply(manager, json!({ "status": { "conditions": list } }))
    };
    apply("a", json!([condition("Ready", "False"), condition("Paused", "False")])).await.unwrap();
    let after = apply("b", json!([condition("Extra", "True")])).await.unwrap();
    assert_eq!(conditions(&after), "Ready=False Paused=False Extra=True");
    let after = apply("a", json!([condition("Ready", "True")])).await.unwrap();
    assert_eq!(conditions(&after), "Ready=True Extra=True");
    assert_eq!(refusal(apply("b", json!([condition("Ready", "False")])).await).code, 409);
    let after = apply("a", json!([])).await.unwrap();
    assert_eq!(conditions(&after), "Extra=True");
    assert!(owners(&after).iter().all(|(manager, ..)| manager != "a"));
}

#[tokio::test]
async fn finalizers_and_owners_are_merged_item_by_item() {
    let bench = Bench::made().await;
    let owner = |uid: &str| json!({ "apiVersion": "v1", "kind": "K", "name": uid, "uid": uid });
    let metadata = |finalizer: &str, uid: &str| json!({ "metadata": { "finalizers": [finalizer], "ownerReferences": [owner(uid)] } });
    bench.apply("a", metadata("x/a", "1")).await.unwrap();
    let after = bench.apply("b", metadata("x/b", "2")).await.unwrap();
    assert_eq!(after.finalizers(), ["x/a", "x/b"]);
    assert_eq!(after.owner_references().len(), 2);
    let after = bench.apply("a", json!({})).await.unwrap();
    assert_eq!(after.finalizers(), ["x/b"]);
    assert_eq!(after.owner_references()[0].uid, "2");
}

#[tokio::test]
async fn plain_lists_are_owned_whole() {
    let bench = Bench::made().await;
    let ids = |list: &[&str]| json!({ "spec": { "providerIDList": list } });
    bench.apply("a", ids(&["1", "2"])).await.unwrap();
    assert_eq!(refusal(bench.apply("b", ids(&["3"])).await).code, 409);
    let after = bench.apply("a", ids(&["2"])).await.unwrap();
    assert_eq!(after.spec.provider_id_list.unwrap(), ["2"]);
}

#[tokio::test]
async fn spec_and_status_have_owners_of_their_own() {
    let bench = Bench::made().await;
    bench.apply("a", json!({ "spec": { "maxSize": 5 } })).await.unwrap();
    let after = bench.apply("a", json!({ "status": { "ready": true } })).await.unwrap();
    assert_eq!(after.spec.max_size, Some(5), "applying the status removes nothing of the spec");
    let params = PatchParams::apply("a");
    let mut both = json!({ "spec": { "maxSize": 5 }, "status": null });
    typed(&mut both);
    both["status"] = json!({ "ready": false });
    let after = bench.pools.patch("a", &params, &Patch::Apply(&both)).await.unwrap();
    assert_eq!(after.status.unwrap().ready, Some(true), "status is ignored here");
    assert_eq!(
        owners(&bench.pools.get("a").await.unwrap()).iter().filter(|(manager, ..)| manager == "a").count(),
        2
    );
}

#[tokio::test]
async fn applying_the_same_again_is_no_write() {
    let bench = Bench::made().await;
    let fields = json!({ "spec": { "maxSize": 5, "tags": { "a": "b" } } });
    let once = bench.apply("a", fields.clone()).await.unwrap();
    let again = bench.apply("a", fields.clone()).await.unwrap();
    assert_eq!(once.resource_version(), again.resource_version());
    let shared = bench.apply("b", fields).await.unwrap();
    assert_ne!(once.resource_version(), shared.resource_version(), "a new owner is a change");
    assert_eq!(once.metadata.generation, shared.metadata.generation);
}

#[tokio::test]
async fn a_resource_version_or_uid_in_an_apply_is_a_precondition() {
    let bench = Bench::made().await;
    let with = |field: &str, value: &str| json!({ "metadata": { field: value } });
    assert_eq!(refused(bench.apply("a", with("resourceVersion", "1")).await), "409 Conflict");
    assert_eq!(refused(bench.apply("a", with("uid", "other")).await), "422 Invalid");
    let mut fields = json!({ "metadata": { "managedFields": [] } });
    typed(&mut fields);
    assert_eq!(
        refused(bench.pools.patch("a", &PatchParams::apply("a"), &Patch::Apply(&fields)).await),
        "400 BadRequest"
    );
}

#[tokio::test]
async fn ownership_is_written_as_the_real_server_writes_it() {
    let bench = Bench::made().await;
    let after =
        bench.apply("a", json!({ "status": { "conditions": [condition("Ready", "True")] } })).await.unwrap();
    let (_, _, fields) = owners(&after).into_iter().find(|(manager, ..)| manager == "a").unwrap();
    assert_eq!(
        fields,
        json!({ "f:status": { "f:conditions": { "k:{\"type\":\"Ready\"}": {
            ".": {}, "f:lastTransitionTime": {}, "f:message": {}, "f:reason": {}, "f:status": {}, "f:type": {},
        } } } })
    );
    let entry = after
        .metadata
        .managed_fields
        .unwrap()
        .into_iter()
        .find(|entry| entry.manager.as_deref() == Some("a"));
    assert_eq!(entry.unwrap().subresource.as_deref(), Some("status"));
}

#[tokio::test]
async fn an_applied_field_that_the_schema_does_not_have_is_an_error() {
    let bench = Bench::made().await;
    let status = refusal(bench.apply("a", json!({ "spec": { "maxSiez": 3 } })).await);
    assert_eq!(status.code, 500);
    assert!(status.message.ends_with(".spec.maxSiez: field not declared in schema"), "{}", status.message);
}

#[tokio::test]
async fn an_empty_map_applied_over_owned_entries_is_refused() {
    // The merge empties the map to null, and the schema requires an object: leave the field out instead.
    let bench = Bench::made().await;
    bench.apply("a", json!({ "status": { "capacity": { "cpu": "1" } } })).await.unwrap();
    assert_eq!(refused(bench.apply("a", json!({ "status": { "capacity": {} } })).await), "422 Invalid");
    let after = bench.apply("a", json!({ "status": {} })).await.unwrap();
    assert!(after.status.is_none_or(|status| status.capacity.is_empty()));
}

#[tokio::test]
async fn an_apply_without_a_name_is_refused_once_it_drops_its_metadata() {
    let bench = Bench::made().await;
    bench.apply("a", json!({ "metadata": { "labels": { "x": "1" } } })).await.unwrap();
    let nameless = json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooMachinePool", "spec": { "maxSize": 3 },
    });
    let sent = bench.pools.patch("a", &PatchParams::apply("a"), &Patch::Apply(&nameless)).await;
    assert_eq!(refused(sent), "400 BadRequest");
    bench.apply("a", json!({ "spec": { "maxSize": 3 } })).await.unwrap();
}

/// The server reads an applied object as YAML, JSON though it is.
#[tokio::test]
async fn characters_outside_yaml_are_refused_and_unicode_line_breaks_become_blanks() {
    let bench = Bench::made().await;
    let message = |text: &str| {
        let mut ready = condition("Ready", "True");
        ready["message"] = json!(text);
        json!({ "status": { "conditions": [ready] } })
    };
    for control in ["\u{7f}", "\u{80}", "\u{93}", "\u{9f}", "\u{ffff}"] {
        match bench.apply("m", message(control)).await {
            Err(kube::Error::Api(status)) => assert_eq!(status.code, 400, "{status:?}"),
            other => panic!("{control:?}: {other:?}"),
        }
    }
    let applied = bench.force("m", message("a\u{85}b\u{2028}c ä\u{1}")).await;
    assert_eq!(applied.status.unwrap().conditions[0].message, "a b c ä\u{1}");
}
