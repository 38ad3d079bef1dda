//! The fake and the judge get the same random writes and must agree on every response. Runs only with a judge.
//!
//! `FOO_JUDGE_SEED` and `FOO_JUDGE_ROUNDS` choose which and how many. The writes are applies of several managers to the
//! object and its status, with and without force, merge patches and replacements, over fields of every shape.

use crate::{judge, pool};
use foo_api::FooMachinePool;
use foo_apiserver_fake::FakeApiServer;
use foo_simulator_core::core::chance::Chance;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, DynamicObject};
use serde_json::{Value, json};

/// Choices of fields and values.
struct Dice(Chance);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0.below(sides)
    }

    fn often(&mut self) -> bool {
        self.roll(2) == 0
    }

    fn one_of(&mut self, values: &[Value]) -> Value {
        self.0.pick(values).unwrap().clone()
    }

    /// Some of these fields, each with one of its values.
    fn some(&mut self, fields: &[(&str, &[Value])]) -> Value {
        let mut object = json!({});
        for (name, values) in fields {
            if self.often() {
                object[*name] = self.one_of(values);
            }
        }
        object
    }

    /// Some of these items, in any order.
    fn items(&mut self, items: &[Value]) -> Value {
        let mut chosen: Vec<Value> = items.iter().filter(|_| self.often()).cloned().collect();
        if self.often() {
            chosen.reverse();
        }
        json!(chosen)
    }
}

fn condition(kind: &str, status: &str) -> Value {
    json!({ "type": kind, "status": status, "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z" })
}

fn main_fields(dice: &mut Dice) -> Value {
    let pair = [json!("1"), json!("2")];
    let mut metadata = json!({});
    if dice.often() {
        metadata["labels"] = dice.some(&[("x", &pair), ("y", &pair)]);
    }
    if dice.often() {
        metadata["annotations"] = dice.some(&[("x", &pair), ("y", &pair)]);
    }
    if dice.often() {
        metadata["finalizers"] = dice.items(&[json!("x.io/a"), json!("x.io/b"), json!("x.io/c")]);
    }
    if dice.often() {
        let owner = |uid: &str, block: bool| json!({ "apiVersion": "v1", "kind": "K", "name": uid, "uid": uid, "blockOwnerDeletion": block });
        let block = dice.often();
        metadata["ownerReferences"] = dice.items(&[owner("1", block), owner("2", true)]);
    }
    let mut spec = dice.some(&[
        ("maxSize", &[json!(5), json!(6)]),
        ("providerIDList", &[json!(["1"]), json!(["1", "2"]), json!([])]),
        (
            "metadataOptions",
            &[json!({}), json!({ "httpTokens": "optional" }), json!({ "httpPutResponseHopLimit": 2 })],
        ),
        (
            "rootVolume",
            &[json!({ "sizeGiB": 10 }), json!({ "sizeGiB": 20, "type": "gp3" }), json!({ "type": "gp3" })],
        ),
        ("subnets", &[json!([{ "id": "subnet-1" }]), json!([{ "id": "subnet-1" }, { "id": "subnet-2" }])]),
    ]);
    if dice.often() {
        spec["tags"] = dice.some(&[("a", &pair), ("b", &pair)]);
    }
    if dice.often() {
        let size = dice.one_of(&[json!(1), json!(2)]);
        let volume = |name: &str| json!({ "deviceName": name, "sizeGiB": size });
        spec["volumes"] = dice.items(&[volume("/dev/a"), volume("/dev/b"), volume("/dev/c")]);
    }
    metadata.as_object_mut().unwrap().retain(|_, value| value != &json!([]) && value != &json!({}));
    let mut fields = json!({});
    if metadata != json!({}) {
        fields["metadata"] = metadata;
    }
    if dice.roll(4) > 0 {
        fields["spec"] = spec;
    }
    fields
}

fn status_fields(dice: &mut Dice) -> Value {
    let mut status = dice.some(&[
        ("ready", &[json!(true), json!(false)]),
        ("replicas", &[json!(0), json!(3)]),
        ("capacity", &[json!({}), json!({ "cpu": "1" }), json!({ "cpu": "2", "memory": "1" })]),
        ("initialization", &[json!({}), json!({ "provisioned": true })]),
    ]);
    if dice.often() {
        let ready = dice.one_of(&[condition("Ready", "True"), condition("Ready", "False")]);
        status["conditions"] = dice.items(&[ready, condition("Paused", "False"), condition("Extra", "True")]);
    }
    json!({ "status": status })
}

/// Sets some leaves to null, which removes them in a merge patch.
fn with_holes(dice: &mut Dice, value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, field)| {
                let hole = dice.roll(5) == 0 && name != "metadata" && name != "spec" && name != "status";
                let field = if hole { Value::Null } else { with_holes(dice, field) };
                (name, field)
            })
            .collect(),
        other => other,
    }
}

/// One random write, decided before it is sent to either server.
struct Write {
    summary: String,
    status: bool,
    params: PatchParams,
    patch: Patch<Value>,
}

impl Write {
    fn random(dice: &mut Dice) -> Self {
        let status = dice.often();
        let mut fields = if status { status_fields(dice) } else { main_fields(dice) };
        let manager = dice.0.pick(&["a", "b", "c"]).copied().unwrap();
        let mut params = PatchParams { field_manager: Some(manager.to_owned()), ..PatchParams::default() };
        let patch = if dice.roll(3) > 0 {
            fields["apiVersion"] = json!("infrastructure.foo.com/v1alpha1");
            fields["kind"] = json!("FooMachinePool");
            params.force = dice.often();
            Patch::Apply(fields.clone())
        } else {
            fields = with_holes(dice, fields);
            Patch::Merge(fields.clone())
        };
        let how = if matches!(patch, Patch::Apply(_)) { "apply" } else { "merge" };
        let summary = format!("{how} by {manager}, force {}, status {status}: {fields}", params.force);
        Self { summary, status, params, patch }
    }

    async fn send(&self, api: &Api<DynamicObject>) -> Result<DynamicObject, kube::Error> {
        if self.status {
            api.patch_status("a", &self.params, &self.patch).await
        } else {
            api.patch("a", &self.params, &self.patch).await
        }
    }
}

/// What must be the same: the object without what only time and chance give, or the refusal.
fn essence(result: Result<DynamicObject, kube::Error>) -> Value {
    match result {
        Ok(object) => {
            let mut object = serde_json::to_value(object).unwrap();
            let metadata = object["metadata"].as_object_mut().unwrap();
            for field in ["uid", "resourceVersion", "creationTimestamp", "namespace"] {
                metadata.remove(field);
            }
            if let Some(Value::Array(entries)) = metadata.get_mut("managedFields") {
                for entry in entries.iter_mut() {
                    entry.as_object_mut().unwrap().remove("time");
                }
                entries.sort_by_key(|entry| {
                    format!("{} {} {}", entry["manager"], entry["operation"], entry["subresource"])
                });
            }
            object
        }
        Err(kube::Error::Api(status)) if status.code == 409 => {
            let mut lines: Vec<&str> = status.message.lines().collect();
            lines.sort_unstable();
            json!({ "code": 409, "lines": lines })
        }
        Err(kube::Error::Api(status)) => json!({ "code": status.code, "message": status.message }),
        Err(other) => panic!("no response: {other}"),
    }
}

fn version(object: &Result<DynamicObject, kube::Error>) -> Option<String> {
    object.as_ref().ok().and_then(|object| object.metadata.resource_version.clone())
}

async fn agree(round: u64, judge: &Api<DynamicObject>) -> Result<(), String> {
    let server = FakeApiServer::new();
    let resource = ApiResource::erase::<FooMachinePool>(&());
    let fake: Api<DynamicObject> = Api::namespaced_with(server.client(), "default", &resource);
    judge::clean().await;
    let made: DynamicObject = crate::parse(serde_json::to_value(pool("a")).unwrap());
    let params = PostParams { field_manager: Some("user".to_owned()), ..PostParams::default() };
    let (mut old_from_judge, mut old_from_fake) = (None, None);
    let mut story = Vec::new();
    let (from_judge, from_fake) = (judge.create(&params, &made).await, fake.create(&params, &made).await);
    compare(&mut story, "create".to_owned(), from_judge, from_fake, &mut old_from_judge, &mut old_from_fake)?;
    let mut dice = Dice(Chance::of(round));
    for _ in 0..14 {
        let write = Write::random(&mut dice);
        let (from_judge, from_fake) = (write.send(judge).await, write.send(&fake).await);
        compare(&mut story, write.summary, from_judge, from_fake, &mut old_from_judge, &mut old_from_fake)?;
    }
    let delete = async |api: &Api<DynamicObject>| -> Result<Option<Option<i64>>, kube::Error> {
        let answer = api.delete("a", &DeleteParams::default()).await?;
        Ok(answer.left().map(|held| held.metadata.generation))
    };
    let (from_judge, from_fake) = (delete(judge).await, delete(&fake).await);
    if from_judge.as_ref().ok() == from_fake.as_ref().ok() {
        Ok(())
    } else {
        Err(format!("round {round}: deletion: {from_judge:?} / {from_fake:?}"))
    }
}

fn compare(
    story: &mut Vec<String>,
    summary: String,
    from_judge: Result<DynamicObject, kube::Error>,
    from_fake: Result<DynamicObject, kube::Error>,
    old_from_judge: &mut Option<String>,
    old_from_fake: &mut Option<String>,
) -> Result<(), String> {
    story.push(summary);
    let moved = (
        version(&from_judge).filter(|new| old_from_judge.as_ref() != Some(new)),
        version(&from_fake).filter(|new| old_from_fake.as_ref() != Some(new)),
    );
    *old_from_judge = version(&from_judge).or_else(|| old_from_judge.take());
    *old_from_fake = version(&from_fake).or_else(|| old_from_fake.take());
    let (from_judge, from_fake) = (essence(from_judge), essence(from_fake));
    // An empty list of metadata that an apply leaves lingers unseen on the judge until a later write, which then counts
    // as one; the fake drops it at once. So the judge may write where the fake does not, but not the other way round.
    let refused_alike =
        from_judge.get("message").is_some() && from_judge.get("code") == from_fake.get("code");
    if (from_judge == from_fake || refused_alike) && (moved.0.is_some() || moved.1.is_none()) {
        return Ok(());
    }
    Err(format!(
        "{}\n judge {:?}: {from_judge}\n fake  {:?}: {from_fake}",
        story.join("\n"),
        moved.0,
        moved.1
    ))
}

#[tokio::test]
async fn the_fake_agrees_with_kube_apiserver() {
    let Some(client) = judge::client() else { return };
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (first, rounds) = (number("FOO_JUDGE_SEED", 0), number("FOO_JUDGE_ROUNDS", 50));
    let api: Api<DynamicObject> =
        Api::namespaced_with(client, "default", &ApiResource::erase::<FooMachinePool>(&()));
    let mut failures = Vec::new();
    for round in first..first + rounds {
        if let Err(difference) = agree(round, &api).await {
            failures.push(format!("round {round}:\n{difference}"));
        }
    }
    failures.sort_by_key(String::len);
    for failure in failures.iter().take(5) {
        eprintln!("{failure}\n");
    }
    assert!(failures.is_empty(), "{} of {rounds} rounds differ", failures.len());
}
