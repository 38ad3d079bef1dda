//! Differences: their text, and the command with a stand-in for the manager.

use crate::commands::{Ran, run, world};
use crate::is_printed;
use crate::plans::{of_control_plane, plan, planned, responds, roll_out, upgrade};
use foo_api::{FooControlPlane, FooPlan};
use foo_apiserver_fake::{FakeApiServer, Fault};
use kubectl_foo::diff::{Comparison, Diffs, text};
use kubectl_foo::plan::Plans;
use kubectl_foo::run::Ended;
use serde_json::{Value, json};

/// Plans of all kinds: a network, control planes and pools.
fn plans(network: &Value, control_planes: &[Value], pools: &[Value]) -> Plans {
    let mut all = Plans { networks: of_control_plane(network).control_planes, ..Plans::default() };
    all.control_planes.extend(control_planes.iter().flat_map(|it| of_control_plane(it).control_planes));
    all.plans.extend(pools.iter().flat_map(|it| plan(it).plans));
    all
}

fn results(diffs: &Diffs) -> Vec<Comparison> {
    diffs.objects.iter().map(|diff| diff.result).collect()
}

#[test]
fn what_differs_is_printed_and_what_is_equal_is_a_line() {
    let drift = json!({
        "name": "drifted", "awsCalls": 3, "seconds": 300,
        "settings": [
            {"resource": "cluster default_drifted", "setting": "access.publicCidrs", "desired": "[\"203.0.113.0/24\"]",
             "inAWS": format!("[{}]", ["\"10.0.0.0/8\""; 9].join(","))},
            {"resource": "cluster default_drifted", "setting": "logging", "desired": "[\"audit\"]", "inAWS": "[]"},
        ],
        "calls": [
            {"afterSeconds": 0, "operation": "UpdateClusterConfig", "why": "logging differs"},
            {"afterSeconds": 300, "operation": "UpdateAddon", "why": "kube-proxy:\nthe version differs"},
        ],
        "notes": ["EKS does not say how long it takes"],
    });
    let tags = json!({
        "name": "tagged", "settings": [
            {"resource": "Auto Scaling group default-c-tagged", "setting": "tags.by\nhand", "inAWS": "\"two\\nlines\""},
            {"resource": "Auto Scaling group default-c-tagged", "setting": "tags.team", "desired": "\"blue\""},
        ], "actions": [{"name": "TagGroup", "times": 1}], "awsCalls": 1, "outcome": "Waiting",
        "remaining": [{"type": "AutoscalerReady", "reason": "AutoscalerNotReady", "message": "no\nannotation"}],
    });
    let mut rolled = roll_out();
    rolled["actions"].as_array_mut().unwrap().push(json!({"name": "DeleteMachine", "times": 3}));
    let equal = [json!({"name": "a"}), json!({"name": "b"})];
    let pools = [equal[0].clone(), equal[1].clone(), rolled, tags];
    let diffs = Diffs::of(&plans(&json!({}), &[upgrade(), drift], &pools), &[]);
    let (equal, different) = (Comparison::Equal, Comparison::Different);
    assert_eq!(results(&diffs), [equal, different, different, equal, equal, different, different]);
    assert!(diffs.differ());
    assert_eq!(diffs.unknown(), Vec::<String>::new());
    is_printed("diff", &text(&diffs));
}

#[test]
fn equal_objects_are_a_line_each() {
    let diffs = Diffs::of(&plans(&json!({}), &[json!({})], &[json!({})]), &[]);
    assert!(!diffs.differ() && diffs.unknown().is_empty());
    is_printed("diff-none", &text(&diffs));
    assert_eq!(text(&Diffs::default()), "there is nothing to compare\n");
}

/// A change that is under way in AWS needs no call any more.
#[test]
fn another_value_in_aws_is_a_difference_although_nothing_is_left_to_do() {
    let setting =
        json!({"resource": "cluster c", "setting": "version", "desired": "\"1.35\"", "inAWS": "\"1.34\""});
    let under_way = json!({"settings": [setting]});
    let one = std::slice::from_ref(&under_way);
    let diffs = Diffs::of(&plans(&under_way, one, one), &[]);
    assert_eq!(results(&diffs), [Comparison::Different; 3]);
    let printed = serde_json::to_value(&diffs).unwrap();
    assert_eq!(printed["objects"][2]["settings"], under_way["settings"]);
}

/// A plan with nothing to do is not one of an object that is as desired.
#[test]
fn what_is_blocked_paused_or_not_known_is_not_equal() {
    let paused = json!({"notes": ["the object is paused: nothing is done\nuntil that ends"]});
    let blocked = json!({
        "name": "blocked", "outcome": "Waiting",
        "remaining": [{"type": "Upgrading", "reason": "UpgradeBlocked", "message": "upgrade insights speak against 1.35: APIs"}],
    });
    let older = json!({
        "name": "older",
        "remaining": [{"type": "Upgrading", "reason": "VersionAboveRequested", "message": "the cluster runs 1.36, 1.35 is requested"}],
    });
    let waits = json!({"outcome": "Waiting"});
    let diffs =
        Diffs::of(&plans(&paused, &[blocked, older], &[waits]), &["missing right: list x".to_owned()]);
    assert_eq!(results(&diffs), [Comparison::Unknown; 4]);
    assert!(!diffs.differ());
    let unknown = [
        "missing right: list x",
        "FooCluster team/prod is not known to be as desired",
        "FooControlPlane team/blocked is not known to be as desired",
        "FooControlPlane team/older is not known to be as desired",
        "FooMachinePool team/workers is not known to be as desired",
    ];
    assert_eq!(diffs.unknown(), unknown);
    is_printed("diff-unknown", &text(&diffs));
}

/// Runs it while the manager responds to one FooPlan with this status.
async fn ran(server: &FakeApiServer, command: &str, status: Value) -> (Ran, FooPlan) {
    tokio::join!(run(server, command), responds(server, status))
}

fn pool(of: &Value) -> Value {
    json!({"pool": serde_json::to_value(&plan(of).plans[0].plan).unwrap()})
}

#[tokio::test(start_paused = true)]
async fn the_exit_status_is_that_of_what_differs() {
    let server = world();
    let (equal, asked) = ran(&server, "diff workers", pool(&json!({}))).await;
    assert_eq!(equal.output, "FooMachinePool default/workers: no differences\n");
    assert_eq!((equal.error().as_str(), equal.errors.as_str()), ("", ""));
    assert_eq!(equal.ended.unwrap(), Ended::Done);
    assert_eq!(asked.spec.objects[0]["metadata"]["name"], "workers");
    assert_eq!(asked.spec.durations, None);
    assert!(server.list::<FooPlan>("default").is_empty(), "it is deleted");

    let (different, _) = ran(&server, "diff", planned()).await;
    assert!(different.output.starts_with("FooMachinePool default/workers\nChanged in the spec:\n"));
    assert_eq!(different.ended.unwrap(), Ended::Changes);

    let waits =
        json!({"outcome": "Waiting", "remaining": [{"type": "Paused", "reason": "PausedByAnnotation"}]});
    let (unknown, _) = ran(&server, "diff foomp/workers", pool(&waits)).await;
    assert!(unknown.output.ends_with("Not known to be as desired:\n  Paused: PausedByAnnotation\n"));
    assert_eq!(unknown.error(), "FooMachinePool default/workers is not known to be as desired");

    let error = json!({"error": "the Auto Scaling group has not been read yet; try again in a minute"});
    let (failed, _) = ran(&server, "diff workers", error).await;
    assert_eq!(failed.output, "");
    assert!(failed.error().starts_with("no plan for FooMachinePool default/workers: the Auto Scaling group"));
    let missing = run(&server, "diff fooc/none").await.error();
    assert_eq!(missing, "FooCluster none not found in namespace default");
}

/// Without the right to list a kind, its objects may differ.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_not_equal() {
    let server = world();
    server.inject(Fault::status(403).kind("FooControlPlane").always());
    let (ran, _) = ran(&server, "diff -o json", pool(&json!({}))).await;
    assert!(ran.error().contains("list foocontrolplanes.controlplane.foo.com"), "{}", ran.error());
    let printed: Value = serde_json::from_str(&ran.output).unwrap();
    assert_eq!(printed["objects"][0]["result"], "Equal", "{printed:#}");
    let not_compared = printed["notCompared"][0].as_str().unwrap();
    assert!(not_compared.contains("list foocontrolplanes.controlplane.foo.com"), "{printed:#}");
}

#[tokio::test(start_paused = true)]
async fn documents_have_the_same_facts() {
    let server = world();
    let (json, _) = ran(&server, "diff workers -o json", planned()).await;
    let (yaml, _) = ran(&server, "diff workers -o yaml", planned()).await;
    let printed: Value = serde_json::from_str(&json.output).unwrap();
    let diff = &printed["objects"][0];
    assert_eq!((&diff["kind"], &diff["result"]), (&json!("FooMachinePool"), &json!("Different")), "{diff:#}");
    assert_eq!(diff["changes"], roll_out()["changes"]);
    assert_eq!(diff["actions"][1], json!({"name": "TerminateInstance", "times": 3}));
    assert!(yaml.output.contains("result: Different") && yaml.output.contains("field: launchTemplate.image"));
    assert_eq!(json.ended.unwrap(), Ended::Changes);
}

/// What the provider has nothing of in AWS is a warning; what it does not know yet is not equal.
#[tokio::test(start_paused = true)]
async fn files_are_compared_as_they_are_planned() {
    let server = world();
    let file = std::env::temp_dir().join(format!("kubectl-foo-diff-{}.yaml", std::process::id()));
    let command = format!("diff -f {}", file.display());
    let manifests = "apiVersion: infrastructure.foo.com/v1alpha1\nkind: FooMachinePool\nmetadata: {name: workers}\n\
                     spec: {maxSize: 9}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n---\n\
                     apiVersion: infrastructure.foo.com/v1alpha1\nkind: FooCluster\nmetadata: {name: existing}\n\
                     spec: {region: eu-central-1, network: {existing: {vpcID: vpc-1, subnets: [{id: subnet-1}]}}}\n";
    std::fs::write(&file, manifests).unwrap();
    let (equal, asked) = ran(&server, &command, pool(&json!({}))).await;
    assert_eq!(asked.spec.objects[0]["spec"]["maxSize"], 9);
    assert_eq!(equal.error(), "");
    assert_eq!(equal.ended.unwrap(), Ended::Done);
    for expected in ["ConfigMap other is not planned", "FooCluster existing is not planned"] {
        assert!(equal.errors.contains(expected), "{}", equal.errors);
    }
    let new = "---\napiVersion: infrastructure.foo.com/v1alpha1\nkind: FooCluster\nmetadata: {name: new}\n\
               spec: {region: eu-central-1, network: {managed: {}}}\n";
    std::fs::write(&file, format!("{manifests}{new}")).unwrap();
    let (unknown, _) = ran(&server, &command, pool(&json!({}))).await;
    std::fs::remove_file(&file).unwrap();
    assert_eq!(unknown.error(), "FooCluster new is not planned: it does not exist yet");
}

#[tokio::test(start_paused = true)]
async fn a_control_plane_with_another_content_in_aws_differs() {
    let server = world();
    let control_plane = json!({
        "apiVersion": "controlplane.foo.com/v1alpha1", "kind": "FooControlPlane",
        "metadata": {"namespace": "default", "name": "prod"},
        "spec": {"version": "v1.34.0", "eks": {"roleARN": "arn:aws:iam::123456789012:role/eks"}},
    });
    server.create::<FooControlPlane>(&serde_json::from_value(control_plane).unwrap()).unwrap();
    let status = json!({"controlPlane": {"name": "prod", "awsCalls": 1, "seconds": 300, "outcome": "Settled",
        "calls": [{"afterSeconds": 0, "operation": "UpdateClusterConfig", "why": "logging differs"}]}});
    let (ran, asked) = ran(&server, "diff foocp/prod", status).await;
    assert_eq!(asked.spec.objects[0]["kind"], "FooControlPlane");
    assert!(
        ran.output.contains("UpdateClusterConfig") && ran.output.contains("logging differs"),
        "{}",
        ran.output
    );
    assert_eq!(ran.ended.unwrap(), Ended::Changes);
}
