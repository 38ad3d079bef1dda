//! Plans: their text, and the command with a stand-in for the manager.

use crate::commands::{run, world};
use crate::is_printed;
use foo_api::{FooControlPlane, FooMachinePool, FooPlan};
use foo_apiserver_fake::FakeApiServer;
use kube::ResourceExt as _;
use kubectl_foo::plan::{Plan, Plans, text};
use kubectl_foo::run::Ended;
use serde_json::{Value, json};
use std::time::Duration;

pub(crate) fn plan(of: &Value) -> Plans {
    let mut all = json!({
        "name": "workers", "deletionCount": 0, "launches": 0,
        "ready": {"now": 3, "extreme": 3}, "instances": {"now": 3, "extreme": 3},
        "awsCalls": 0, "seconds": 0, "outcome": "Settled",
        "durations": {"launchSeconds": 170, "measuredLaunches": 3, "drainSeconds": 60},
    });
    let of = of.as_object().unwrap().clone();
    all.as_object_mut().unwrap().extend(of);
    Plans {
        plans: vec![Plan { namespace: "team".to_owned(), plan: serde_json::from_value(all).unwrap() }],
        ..Plans::default()
    }
}

pub(crate) fn of_control_plane(of: &Value) -> Plans {
    let mut all = json!({"name": "prod", "awsCalls": 0, "seconds": 0, "outcome": "Settled"});
    all.as_object_mut().unwrap().extend(of.as_object().unwrap().clone());
    let plan = serde_json::from_value(all).unwrap();
    Plans { control_planes: vec![Plan { namespace: "team".to_owned(), plan }], ..Plans::default() }
}

pub(crate) fn upgrade() -> Value {
    json!({
        "changes": [
            {"field": "addons.coredns.version", "from": "\"the default of EKS\"", "replaces": false},
            {"field": "version", "from": "\"1.34\"", "to": "\"1.36\"", "replaces": false},
        ],
        "settings": [
            {"resource": "add-on kube-proxy", "setting": "version", "desired": "\"v1.36.0-eksbuild.2\"",
             "inAWS": "\"v1.34.1-eksbuild.3\""},
            {"resource": "cluster default_prod-1a2b3c4d", "setting": "version", "desired": "\"1.36\"", "inAWS": "\"1.34\""},
        ],
        "calls": [
            {"afterSeconds": 0, "operation": "DeleteAddon", "why": "it is no longer\nrequested"},
            {"afterSeconds": 1, "operation": "UpdateClusterVersion", "why": "1.36 is requested: from 1.34 to 1.35"},
            {"afterSeconds": 632, "operation": "UpdateClusterVersion", "why": "1.36 is requested: from 1.35 to 1.36"},
        ],
        "awsCalls": 4, "seconds": 1260,
        "notes": ["EKS does not say how long it takes; assumed: 10 min for a version"],
    })
}

pub(crate) fn roll_out() -> Value {
    let deletions = [("workers-0a1b", 171), ("workers-0c2d", 403)];
    let deletions = deletions.map(|(machine, after)| {
        json!({
            "machine": machine, "instanceID": machine.replace("workers", "i"), "afterSeconds": after,
            "why": "Rolling out new content:\nthe instance is outdated",
        })
    });
    json!({
        "changes": [
            {"field": "launchTemplate.image", "from": "\"ami-1\"", "to": "\"ami-2\"", "replaces": true},
            {"field": "launchTemplate.securityGroups", "from": format!("[\"{}\"]", "sg-0123456789abcdef0".repeat(5)),
             "to": "[]", "replaces": true},
            {"field": "group.tags.team", "to": "\"blue\"", "replaces": false},
            {"field": "size.maxSize", "from": "3", "to": "4", "replaces": false},
        ],
        "deletions": deletions, "deletionCount": 3, "launches": 3,
        "instances": {"now": 3, "extreme": 4},
        "actions": [{"name": "CreateTemplateVersion", "times": 1}, {"name": "TerminateInstance", "times": 3}],
        "awsCalls": 4, "seconds": 700, "notes": ["the bootstrap provider may write other user data"],
    })
}

#[test]
fn a_roll_out_is_planned() {
    is_printed("plan-roll-out", &text(&plan(&roll_out())));
}

#[test]
fn a_plan_that_waits_says_for_what() {
    let waits = plan(&json!({
        "changes": [{"field": "launchTemplate.image", "from": "\"ami-1\"", "replaces": false}],
        "actions": [{"name": "UpdateGroup", "times": 1}], "awsCalls": 1, "outcome": "Waiting",
        "durations": {"launchSeconds": 180, "measuredLaunches": 0, "drainSeconds": 60},
        "remaining": [
            {"type": "Ready", "reason": "ImageNotFound", "message": "image ami-3: there is\nno such image"},
            {"type": "Paused", "reason": "PausedByAnnotation"},
        ],
    }));
    is_printed("plan-waits", &text(&waits));
}

#[test]
fn an_upgrade_is_planned() {
    is_printed("plan-upgrade", &text(&of_control_plane(&upgrade())));
}

#[test]
fn an_edit_of_a_network_is_planned_before_the_rest() {
    let network = json!({
        "name": "prod", "awsCalls": 2, "seconds": 125, "outcome": "Settled",
        "changes": [{"field": "nat", "from": "\"Single\"", "to": "\"PerZone\"", "replaces": false}],
        "calls": [
            {"afterSeconds": 0, "operation": "AllocateAddress", "why": "address/eu-central-1b does not exist"},
            {"afterSeconds": 1, "operation": "CreateNatGateway", "why": "nat/eu-central-1b does not exist"},
        ],
    });
    let network = Plan { namespace: "team".to_owned(), plan: serde_json::from_value(network).unwrap() };
    let all = Plans { networks: vec![network], ..of_control_plane(&json!({})) };
    assert!(all.change_anything());
    is_printed("plan-network", &text(&all));
}

#[test]
fn an_upgrade_that_is_blocked_says_by_what() {
    let held = of_control_plane(&json!({
        "changes": [{"field": "version", "from": "\"1.34\"", "to": "\"1.36\"", "replaces": false}],
        "outcome": "Waiting",
        "remaining": [{"type": "Upgrading", "reason": "UpgradeBlocked", "message": "upgrade insights speak against 1.35: APIs"}],
    }));
    is_printed("plan-upgrade-blocked", &text(&held));
}

#[test]
fn a_change_without_effect_is_printed_as_what_stays() {
    let older = of_control_plane(&json!({
        "changes": [{"field": "version", "from": "\"1.36\"", "to": "\"1.35\"", "replaces": false}],
        "remaining": [{"type": "Upgrading", "reason": "VersionAboveRequested", "message": "the cluster runs 1.36, 1.35 is requested; it stays so"}],
    }));
    is_printed("plan-older-version", &text(&older));
}

#[test]
fn a_plan_without_anything_to_do_is_short() {
    is_printed("plan-nothing", &text(&plan(&json!({}))));
    is_printed("plan-nothing-of-control-plane", &text(&of_control_plane(&json!({}))));
    assert_eq!(text(&Plans::default()), "there is nothing to plan\n");
}

/// Writes the status of the FooPlan as the manager does; returns what was asked.
pub(crate) async fn responds(server: &FakeApiServer, status: Value) -> FooPlan {
    let created = async {
        loop {
            if let Some(plan) = server.list::<FooPlan>("default").into_iter().next() {
                return plan;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let asked = tokio::time::timeout(Duration::from_secs(30), created).await.unwrap();
    let name = asked.metadata.name.clone().unwrap();
    server
        .edit("default", &name, |plan: &mut FooPlan| {
            plan.status = Some(serde_json::from_value(status.clone()).unwrap());
        })
        .unwrap();
    asked
}

pub(crate) fn planned() -> Value {
    let plan = plan(&roll_out());
    json!({"pool": serde_json::to_value(&plan.plans[0].plan).unwrap()})
}

#[tokio::test(start_paused = true)]
async fn the_pool_of_the_cluster_is_planned_and_nothing_is_left() {
    let server = world();
    let (ran, asked) = tokio::join!(run(&server, "plan workers --launch 2m"), responds(&server, planned()));
    assert_eq!((ran.error().as_str(), ran.errors.as_str()), ("", ""));
    assert!(ran.output.starts_with("FooMachinePool default/workers\nChanges:\n"), "{}", ran.output);
    assert_eq!(asked.spec.objects.len(), 1);
    let object = &asked.spec.objects[0];
    assert_eq!((&object["kind"], &object["metadata"]["name"]), (&json!("FooMachinePool"), &json!("workers")));
    assert_eq!(object["metadata"].get("managedFields"), None);
    assert_eq!(asked.spec.durations.unwrap().launch_seconds, Some(120));
    assert!(server.list::<FooPlan>("default").is_empty(), "it is deleted");
}

#[tokio::test(start_paused = true)]
async fn a_file_is_completed_by_the_api_server_and_not_stored() {
    let server = world();
    let file = std::env::temp_dir().join(format!("kubectl-foo-plan-{}.yaml", std::process::id()));
    std::fs::write(
        &file,
        "apiVersion: infrastructure.foo.com/v1alpha1\nkind: FooMachinePool\nmetadata: {name: workers}\n\
         spec: {maxSize: 9}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n",
    )
    .unwrap();
    let before = server.resource_version();
    let command = format!("plan -f {} --exit-code -o json", file.display());
    let (ran, asked) = tokio::join!(run(&server, &command), responds(&server, planned()));
    std::fs::remove_file(&file).unwrap();
    assert_eq!(ran.error(), "");
    assert!(matches!(ran.ended, Ok(Ended::Changes)));
    assert!(ran.errors.contains("ConfigMap other is not planned"), "{}", ran.errors);
    let printed: Value = serde_json::from_str(&ran.output).unwrap();
    assert_eq!(printed["plans"][0]["deletionCount"], 3);
    let object = &asked.spec.objects[0];
    assert_eq!(object["spec"]["maxSize"], 9);
    assert_ne!(object["spec"]["instanceType"], Value::Null, "what the file does not name is as it is stored");
    // Three writes: the FooPlan, its status, its deletion.
    assert!(server.resource_version() <= before + 3, "the pool was not changed");
}

#[tokio::test(start_paused = true)]
async fn a_control_plane_is_planned_from_a_file_and_as_it_is() {
    let server = world();
    let control_plane = json!({
        "apiVersion": "controlplane.foo.com/v1alpha1", "kind": "FooControlPlane",
        "metadata": {"namespace": "default", "name": "prod"},
        "spec": {"version": "v1.34.0", "eks": {"roleARN": "arn:aws:iam::123456789012:role/eks"}},
    });
    server.create::<FooControlPlane>(&serde_json::from_value(control_plane).unwrap()).unwrap();
    let file = std::env::temp_dir().join(format!("kubectl-foo-upgrade-{}.yaml", std::process::id()));
    std::fs::write(
        &file,
        "apiVersion: controlplane.foo.com/v1alpha1\nkind: FooControlPlane\nmetadata: {name: prod}\n\
         spec: {version: v1.36.0}\n",
    )
    .unwrap();
    let status = json!({"controlPlane": {"name": "prod", "awsCalls": 1, "seconds": 600, "outcome": "Settled",
        "calls": [{"afterSeconds": 0, "operation": "UpdateClusterVersion", "why": "1.36 is requested"}]}});
    let of_file = format!("plan --exit-code -f {}", file.display());
    for (command, version) in [(of_file.as_str(), "v1.36.0"), ("plan --exit-code foocp/prod", "v1.34.0")] {
        let (ran, asked) = tokio::join!(run(&server, command), responds(&server, status.clone()));
        assert_eq!((ran.error().as_str(), ran.errors.as_str()), ("", ""), "{command}");
        assert!(matches!(ran.ended, Ok(Ended::Changes)), "{command}");
        assert!(ran.output.starts_with("FooControlPlane default/prod\nWhat follows:\n"), "{}", ran.output);
        let objects = &asked.spec.objects;
        assert_eq!((objects.len(), &objects[0]["kind"]), (1, &json!("FooControlPlane")));
        assert_eq!(objects[0]["spec"]["version"], version, "{command}");
    }
    std::fs::remove_file(&file).unwrap();
}

/// A file with a whole cluster: what cannot be planned is named, and the rest is planned.
#[tokio::test(start_paused = true)]
async fn objects_that_are_not_planned_do_not_block_the_others() {
    let server = world();
    let file = std::env::temp_dir().join(format!("kubectl-foo-whole-{}.yaml", std::process::id()));
    std::fs::write(
        &file,
        "apiVersion: infrastructure.foo.com/v1alpha1\nkind: FooCluster\nmetadata: {name: new}\n\
         spec: {region: eu-central-1, network: {managed: {}}}\n---\n\
         apiVersion: infrastructure.foo.com/v1alpha1\nkind: FooCluster\nmetadata: {name: existing}\n\
         spec: {region: eu-central-1, network: {existing: {vpcID: vpc-1, subnets: [{id: subnet-1}]}}}\n---\n\
         apiVersion: controlplane.foo.com/v1alpha1\nkind: FooControlPlane\nmetadata: {name: external}\n\
         spec: {version: v1.34.0, external: {kubeconfigSecretRef: {name: kubeconfig}}}\n---\n\
         apiVersion: infrastructure.foo.com/v1alpha1\nkind: FooMachinePool\nmetadata: {name: workers}\n\
         spec: {maxSize: 9}\n",
    )
    .unwrap();
    let command = format!("plan -f {}", file.display());
    let ran = async {
        let ran = run(&server, &command).await;
        assert_eq!(ran.error(), "");
        ran
    };
    let (ran, asked) = tokio::join!(ran, responds(&server, planned()));
    std::fs::remove_file(&file).unwrap();
    assert_eq!(asked.spec.objects[0]["kind"], "FooMachinePool");
    for expected in [
        "FooCluster new is not planned: it does not exist yet",
        "FooCluster existing is not planned: its network is not created by the provider",
        "FooControlPlane external is not planned: it is not in mode eks",
    ] {
        assert!(ran.errors.contains(expected), "{}", ran.errors);
    }
}

/// As `kubectl apply` does it: what it applied before, and the file does not have any more, is removed.
#[tokio::test(start_paused = true)]
async fn a_field_that_is_removed_from_the_file_is_removed_in_the_plan() {
    let server = world();
    let applied =
        json!({"metadata": {"name": "workers"}, "spec": {"maxSize": 5, "instanceType": "m7i.large"}});
    server
        .edit("default", "workers", |pool: &mut FooMachinePool| {
            pool.spec.max_size = Some(5);
            let annotation = "kubectl.kubernetes.io/last-applied-configuration".to_owned();
            pool.annotations_mut().insert(annotation, applied.to_string());
        })
        .unwrap();
    let file = std::env::temp_dir().join(format!("kubectl-foo-removed-{}.yaml", std::process::id()));
    std::fs::write(
        &file,
        "apiVersion: infrastructure.foo.com/v1alpha1\nkind: FooMachinePool\nmetadata: {name: workers}\n\
         spec: {instanceType: m7i.xlarge}\n",
    )
    .unwrap();
    let command = format!("plan -f {}", file.display());
    let (ran, asked) = tokio::join!(run(&server, &command), responds(&server, planned()));
    std::fs::remove_file(&file).unwrap();
    assert_eq!(ran.error(), "");
    let spec = &asked.spec.objects[0]["spec"];
    assert_eq!((&spec["instanceType"], spec.get("maxSize")), (&json!("m7i.xlarge"), None), "{spec}");
}

#[tokio::test(start_paused = true)]
async fn failures_are_one_line_and_leave_nothing() {
    let server = world();
    let error = json!({"error": "the Auto Scaling group has not been read yet; try again in a minute"});
    let (ran, _) = tokio::join!(run(&server, "plan workers"), responds(&server, error));
    let expected = "no plan for FooMachinePool default/workers: the Auto Scaling group has not been read yet; try again in a \
                    minute";
    assert_eq!(ran.error(), expected);
    assert!(server.list::<FooPlan>("default").is_empty());
    let ran = run(&server, "plan workers").await;
    assert!(ran.error().starts_with("no plan for FooMachinePool default/workers: "), "{}", ran.error());
    assert!(ran.error().contains("does it run, and does it reconcile this object?"), "{}", ran.error());
    assert!(server.list::<FooPlan>("default").is_empty());
    for (command, expected) in [
        ("plan none", "FooMachinePool none not found in namespace default"),
        ("plan -f /no/such", "reading /no/such: No such file or directory (os error 2)"),
        ("plan workers --drain 0s", "--drain must be between 1s and 24h"),
    ] {
        assert_eq!(run(&server, command).await.error(), expected, "{command}");
    }
}
