//! Whole commands on the API server stand-in: which requests they send, and what they say when one is refused.

use crate::is_printed;
use crate::pools::{foo_machine, machine, pool};
use clap::{CommandFactory as _, Parser as _};
use foo_api::capi::Cluster;
use foo_api::{FooMachine, FooMachinePool, FooNodeConfig};
use foo_apiserver_fake::{FakeApiServer, Fault, Verb};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Event, Node, Pod};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{ApiResource, DeleteParams, DynamicObject, PostParams};
use kubectl_foo::access::{Access, Reads};
use kubectl_foo::args::Cli;
use kubectl_foo::capi::Machine;
use kubectl_foo::drains::{Drain, Source, read, workload};
use kubectl_foo::refused::Usage;
use kubectl_foo::run::{Ended, on};
use kubectl_foo::terminal::{Out, Screen};
use serde_json::{Value, json};
use std::time::Duration;

/// A cluster with a pool of two, in the namespace `default`.
pub(crate) fn world() -> FakeApiServer {
    let server = FakeApiServer::new();
    server.register(&definition("apps", "Namespaced", "Deployment", "deployments"));
    let cluster: Cluster = serde_json::from_value(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": {"namespace": "default", "name": "c"},
        "spec": {"infrastructureRef": {"apiGroup": "infrastructure.foo.com", "kind": "FooCluster", "name": "c"}},
    }))
    .unwrap();
    server.create(&cluster).unwrap();
    let pool = server.create(&pool(&[crate::condition("Ready", "True", "Ready", "")])).unwrap();
    for name in ["a", "b"] {
        let mut foo_machine = foo_machine(name, &json!({}));
        foo_machine.metadata.owner_references.iter_mut().flatten().for_each(|owner| {
            owner.uid = pool.metadata.uid.clone().unwrap();
        });
        foo_machine.metadata.labels.clone_from(&pool.metadata.labels);
        server.create::<FooMachine>(&foo_machine).unwrap();
        let mut machine = machine(name, false, &Value::Null);
        machine.metadata.labels.clone_from(&pool.metadata.labels);
        server.create::<Machine>(&machine).unwrap();
    }
    server
}

/// How a command ended, and what it printed to both outputs.
pub(crate) struct Ran {
    pub(crate) ended: Result<Ended, anyhow::Error>,
    pub(crate) output: String,
    pub(crate) errors: String,
}

impl Ran {
    pub(crate) fn error(&self) -> String {
        self.ended.as_ref().err().map(|error| format!("{error:#}")).unwrap_or_default()
    }
}

/// Runs it as a user with that name; in the namespace `default` unless it has `-A`.
pub(crate) async fn run(server: &FakeApiServer, command: &str) -> Ran {
    let cli = Cli::try_parse_from(["kubectl-foo"].into_iter().chain(command.split(' '))).unwrap();
    let access = Access { client: server.client(), namespace: "default".to_owned() };
    let namespace = (!cli.cluster.all_namespaces).then_some("default");
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let ended =
        on(&access, namespace, cli.command, &mut Out::new(&mut output, &mut errors, Screen::Lines)).await;
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { ended, output: text(output), errors: text(errors) }
}

/// The kinds that were listed, each as often as it was.
fn listed(server: &FakeApiServer) -> Vec<String> {
    let lists = server.requests().verb(Verb::List);
    let mut kinds: Vec<String> = lists.iter().map(|request| request.kind.clone()).collect();
    kinds.sort();
    kinds
}

#[tokio::test]
async fn every_kind_is_listed_once() {
    for (command, kinds) in [
        ("explain -A", "Event FooControlPlane FooMachine FooMachinePool FooNodeConfig Machine"),
        ("explain workers", "Event FooMachine FooMachinePool Machine"),
        ("status", "Cluster FooCluster FooControlPlane FooMachine FooMachinePool Machine"),
        ("drains", "FooMachine Machine"),
        ("drains c", "Cluster FooMachine Machine"),
        ("drains foomp/workers", "FooMachine FooMachinePool Machine"),
        ("rollout status --watch=false", "FooMachinePool MachinePool"),
        ("events -A", "Event"),
        (
            "support-bundle",
            "Cluster Deployment Event FooCluster FooControlPlane FooMachine FooMachinePool FooNodeConfig Machine MachinePool",
        ),
        ("events c", "Cluster Event FooControlPlane FooMachinePool FooNodeConfig Machine MachinePool"),
    ] {
        let server = world();
        let ran = run(&server, command).await;
        assert_eq!(ran.error(), "", "{command}");
        assert_eq!(ran.errors, "", "{command}");
        assert_eq!(listed(&server).join(" "), kinds, "{command}");
        assert!(server.requests().writes().is_empty(), "{command}");
    }
}

/// Everything that a bundle must not contain is in some field of some object.
#[tokio::test]
async fn a_support_bundle_has_all_objects_and_no_secret() {
    let server = world();
    let deployment: Deployment = serde_json::from_value(json!({
        "metadata": {"namespace": "foo-system", "name": "manager", "labels": {"cluster.x-k8s.io/provider": "infrastructure-foo"}},
        "spec": {"replicas": 2, "selector": {}, "template": {"spec": {"containers": [{"name": "m", "image": "foo:v1"}]}}},
    }))
    .unwrap();
    server.create(&deployment).unwrap();
    let node_config: FooNodeConfig = serde_json::from_value(json!({
        "apiVersion": "bootstrap.foo.com/v1alpha1", "kind": "FooNodeConfig",
        "metadata": {"namespace": "default", "name": "linux", "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": "secret-1", "example.com/note": "secret-2",
            "infrastructure.foo.com/known": "kept-1",
        }},
        "spec": {
            "family": "AL2023", "labels": {"team": "kept-2"}, "preCommands": ["echo secret-3"],
            "files": [{"path": "/etc/secret-4", "content": "secret-5"}], "extra": "a: secret-6",
        },
    }))
    .unwrap();
    server.create(&node_config).unwrap();
    let mut cluster = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": {"namespace": "default", "name": "d"},
    });
    cluster["spec"] = json!({"topology": {
        "classRef": {"name": "kept-3"}, "variables": [{"name": "kept-4", "value": {"deep": ["secret-7", 7]}}],
        "workers": {"machinePools": [{"name": "kept-5", "variables": {"overrides": [{"name": "o", "value": "secret-8"}]}}]},
    }});
    let clusters: Api<DynamicObject> =
        Api::namespaced_with(server.client(), "default", &ApiResource::erase::<Cluster>(&()));
    clusters.create(&PostParams::default(), &serde_json::from_value(cluster).unwrap()).await.unwrap();
    let edited = server.edit("default", "workers", |pool: &mut FooMachinePool| {
        pool.status.get_or_insert_default().conditions[0].message =
            "AKIAIOSFODNN7EXAMPLE is kept-6".to_owned();
    });
    edited.unwrap();

    let writes = server.requests().writes().count();
    let ran = run(&server, "support-bundle -o json").await;
    assert_eq!(server.requests().writes().count(), writes);
    assert_eq!((ran.error(), ran.errors.as_str()), (String::new(), ""));
    assert!(!ran.output.contains("secret-") && !ran.output.contains("AKIA"), "{}", ran.output);
    for kept in 1..=6 {
        assert!(ran.output.contains(&format!("kept-{kept}")), "kept-{kept} is missing: {}", ran.output);
    }
    let bundle: Value = serde_json::from_str(&ran.output).unwrap();
    assert_eq!(bundle["objects"]["FooMachine"].as_array().unwrap().len(), 2);
    assert_eq!(bundle["objects"]["Cluster"][1]["spec"]["topology"]["variables"][0]["value"]["deep"][1], 7);
    assert_eq!(
        bundle["providers"][0],
        json!({"deployment": "foo-system/manager", "images": ["foo:v1"], "ready": 0, "replicas": 2})
    );
    assert!(listed(&server).iter().all(|kind| kind != "Secret"));

    server.inject(Fault::status(403).kind("Machine").always());
    let ran = run(&server, "support-bundle").await;
    assert_eq!(ran.error(), "");
    assert!(ran.errors.contains("warning: could not list machines.cluster.x-k8s.io"), "{}", ran.errors);
    assert!(ran.output.contains("incomplete:\n- \"could not list machines"), "{}", ran.output);
}

#[tokio::test]
async fn objects_are_found_by_both_ways_of_naming_them() {
    let server = world();
    for command in
        ["explain workers", "explain foomp workers", "explain foomachinepools.infrastructure.foo.com/workers"]
    {
        let ran = run(&server, command).await;
        assert!(
            ran.output.contains("FooMachinePool default/workers of Cluster c"),
            "{command}: {}",
            ran.error()
        );
    }
    let status = run(&server, "status c").await.output;
    assert!(status.starts_with("NAME") && status.contains("Cluster default/c"), "{status}");
    assert!(status.contains("2 Machines") && status.contains("FooCluster c"), "{status}");
    let json: Value = serde_json::from_str(&run(&server, "status cluster/c -o json").await.output).unwrap();
    assert_eq!(json["objects"][0]["objects"][1]["machinesWell"], 2, "{json:#}");
}

/// An event as client-go's older recorder writes it, one as this provider does, and one with few fields.
fn events(server: &FakeApiServer) {
    let about = |kind: &str, name: &str| {
        let version =
            if kind == "Machine" { "cluster.x-k8s.io/v1beta2" } else { "infrastructure.foo.com/v1alpha1" };
        json!({"apiVersion": version, "kind": kind, "namespace": "default", "name": name})
    };
    let repeated = json!({
        "metadata": {"namespace": "default", "name": "one"}, "involvedObject": about("Machine", "a"),
        "type": "Warning", "reason": "FailedDrainNode", "message": "error draining\nNode", "count": 3,
        "firstTimestamp": "2026-11-21T11:00:00Z", "lastTimestamp": "2026-11-21T11:40:00Z",
        "source": {"component": "machine-controller"},
    });
    let single = json!({
        "metadata": {"namespace": "default", "name": "two"}, "involvedObject": about("FooMachinePool", "workers"),
        "type": "Normal", "reason": "ScaledUp", "message": "from 1 to 2", "eventTime": "2026-11-21T11:50:00.000000Z",
        "reportingComponent": "cluster-api-provider-foo", "reportingInstance": "manager-0", "action": "from 1 to 2",
    });
    let unnamed = json!({
        "metadata": {"namespace": "default", "name": "three"}, "involvedObject": about("Machine", "b"),
        "type": "Normal", "reason": "Known", "message": "of no controller", "lastTimestamp": "2026-11-21T11:55:00Z",
    });
    for event in [repeated, single, unnamed] {
        server.create::<Event>(&serde_json::from_value(event).unwrap()).unwrap();
    }
}

#[tokio::test]
async fn wide_output_has_further_columns_and_asks_for_nothing_more() {
    let server = world();
    events(&server);
    for (command, column, kinds) in [
        ("status c", "TEMPLATE", "Cluster FooCluster FooControlPlane FooMachine FooMachinePool Machine"),
        ("events", "FIRST SEEN", "Event"),
        ("rollout status --watch=false", "m7i.large", "FooMachinePool MachinePool"),
        ("drains", "no Machine is being deleted", "FooMachine Machine"),
    ] {
        let before = listed(&server).len();
        let edited = server.edit("default", "workers", |pool: &mut FooMachinePool| {
            pool.status.get_or_insert_default().instance_type = Some("m7i.large".to_owned());
        });
        edited.unwrap();
        let wide = run(&server, &format!("{command} -o wide")).await;
        assert_eq!((wide.error().as_str(), wide.errors.as_str()), ("", ""), "{command}");
        assert!(wide.output.contains(column), "{command}: {}", wide.output);
        assert_eq!(listed(&server).len() - before, kinds.split(' ').count(), "{command}");
        let narrow = run(&server, command).await.output;
        assert_eq!(narrow.contains(column), command == "drains", "{command}: {narrow}");
    }
    assert!(server.requests().writes().is_empty());
    let json: Value = serde_json::from_str(&run(&server, "events -o json").await.output).unwrap();
    assert_eq!(json["events"][0]["firstAt"], "2026-11-21T11:00:00Z", "{json:#}");
    assert_eq!(json["events"][1]["source"], "cluster-api-provider-foo", "{json:#}");
}

#[tokio::test]
async fn events_are_shown_with_their_controllers_if_there_is_room() {
    let server = world();
    events(&server);
    is_printed("events", &run(&server, "events").await.output);
    is_printed("events-wide", &run(&server, "events -o wide").await.output);
}

#[tokio::test]
async fn what_does_not_exist_or_fit_is_an_error() {
    let server = world();
    let missing = run(&server, "explain foomp missing").await;
    assert_eq!(missing.error(), "FooMachinePool missing not found in namespace default");
    assert!(!missing.ended.is_err_and(|error| error.is::<Usage>()));
    for command in ["status x", "drains x", "events x"] {
        assert_eq!(
            run(&server, command).await.error(),
            "Cluster x not found in namespace default",
            "{command}"
        );
    }
    for command in ["explain pod/x", "status c -A", "rollout pause foomp", "drains foonc/x"] {
        let ran = run(&server, command).await;
        assert!(ran.ended.is_err_and(|error| error.is::<Usage>()), "{command}: {}", ran.output);
    }
}

#[tokio::test]
async fn the_missing_right_is_named() {
    let server = world();
    server.inject(Fault::status(403).kind("Machine").always());
    server.inject(Fault::status(403).kind("Event").always());
    let explained = run(&server, "explain").await;
    assert!(
        explained.error().contains("list machines.cluster.x-k8s.io in namespace default"),
        "{}",
        explained.error()
    );
    // The rest of a tree is of use without Machines.
    let status = run(&server, "status").await;
    assert_eq!(status.error(), "");
    assert!(status.errors.contains("warning: could not list machines.cluster.x-k8s.io"), "{}", status.errors);
    assert!(status.output.contains("FooMachinePool workers") && !status.output.contains("2 Machines"));
    let events = run(&server, "events -A").await;
    assert!(events.error().contains("list events in all namespaces"), "{}", events.error());
}

#[tokio::test(start_paused = true)]
async fn a_watched_status_is_printed_again_when_it_changes() {
    let server = world();
    let access = Access { client: server.client(), namespace: "default".to_owned() };
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let mut out = Out::new(&mut output, &mut errors, Screen::Lines);
    let command = Cli::try_parse_from(["kubectl-foo", "status", "--watch"]).unwrap().command;
    let watched =
        tokio::time::timeout(Duration::from_secs(40), on(&access, Some("default"), command, &mut out));
    let happens = async {
        tokio::time::sleep(Duration::from_secs(12)).await;
        server.inject(Fault::internal_error().kind("Cluster"));
        tokio::time::sleep(Duration::from_secs(10)).await;
        let edited = server.edit("default", "workers", |pool: &mut FooMachinePool| {
            pool.status.get_or_insert_default().ready_replicas = Some(2);
        });
        edited.unwrap();
    };
    let (ended, ()) = tokio::join!(watched, happens);
    assert!(ended.is_err(), "it ended by itself");
    let (output, errors) = (String::from_utf8(output).unwrap(), String::from_utf8(errors).unwrap());
    assert_eq!(output.matches("Cluster default/c").count(), 2, "{output}");
    assert!(output.contains("3 ready") && output.contains("2 ready"), "{output}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.starts_with("warning: could not list clusters.cluster.x-k8s.io"), "{errors}");
}

#[tokio::test]
async fn roll_outs_are_paused_resumed_and_retried_by_annotations() {
    let server = world();
    let annotation = |name: &str| {
        let pool: FooMachinePool = server.get("default", "workers").unwrap();
        pool.metadata.annotations.unwrap_or_default().get(&format!("infrastructure.foo.com/{name}")).cloned()
    };
    let output = async |command: &str| run(&server, &format!("rollout {command} workers")).await.output;
    let said = |what: &str| format!("foomachinepool.infrastructure.foo.com/workers {what}\n");
    assert_eq!(output("pause").await, said("roll-out paused"));
    assert_eq!(annotation("rollout-paused").as_deref(), Some("true"));
    assert_eq!(output("pause").await, said("roll-out is paused already"));
    assert_eq!(output("resume").await, said("roll-out resumed"));
    assert_eq!(annotation("rollout-paused"), None);
    assert_eq!(output("resume").await, said("roll-out is not paused"));
    assert_eq!(output("retry").await, said("no content has failed"));
    let edited = server.edit("default", "workers", |pool: &mut FooMachinePool| {
        let annotations = pool.metadata.annotations.get_or_insert_default();
        annotations.insert("infrastructure.foo.com/quarantine".to_owned(), "v1-a: no Node".to_owned());
    });
    edited.unwrap();
    assert_eq!(output("retry").await, said("failed content is tried again"));
    assert_eq!(annotation("quarantine"), None);
    assert_eq!(server.requests().writes().count(), 3);
    server.inject(Fault::status(403).kind("FooMachinePool").on(Verb::Patch).always());
    let refused = run(&server, "rollout pause workers").await.error();
    assert!(
        refused.contains("patch foomachinepools.infrastructure.foo.com in namespace default"),
        "{refused}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_status_of_a_roll_out_says_how_it_ended() {
    let server = world();
    let phase = |phase: &str, outdated: i32| {
        let phase = phase.to_owned();
        let edited = server.edit("default", "workers", move |pool: &mut FooMachinePool| {
            let generation = pool.metadata.generation;
            let status = pool.status.get_or_insert_default();
            status.observed_generation = generation;
            let rollout = json!({"phase": phase, "targetHash": "v1-a", "updated": 2, "outdated": outdated});
            status.rollout = Some(serde_json::from_value(rollout).unwrap());
            let record = if phase == "Halted" { "v1-a: no Node" } else { "" };
            let annotations = pool.metadata.annotations.get_or_insert_default();
            annotations.insert("infrastructure.foo.com/quarantine".to_owned(), record.to_owned());
        });
        edited.unwrap();
    };
    let ended = async |flags: &str| run(&server, &format!("rollout status{flags}")).await.ended.unwrap();
    phase("Finished", 0);
    assert_eq!(ended("").await, Ended::Done);
    phase("Halted", 1);
    assert_eq!(ended("").await, Ended::Unfinished);
    assert_eq!(ended(" --watch=false").await, Ended::Done);
    phase("Rolling", 1);
    assert_eq!(ended(" --timeout 12s").await, Ended::Unfinished);
    let without_limit = ended(" --timeout 0s");
    assert!(tokio::time::timeout(Duration::from_hours(1), without_limit).await.is_err());
    // The manager has not reported since `rollout retry`.
    phase("Halted", 1);
    run(&server, "rollout retry workers").await.ended.unwrap();
    assert_eq!(ended(" --timeout 12s").await, Ended::Unfinished);
    let status = run(&server, "rollout status --watch=false").await.output;
    assert!(status.contains("Unobserved") && status.contains("tried again"), "{status}");
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_roll_out_survives_a_restart_of_the_api_server() {
    let server = world();
    let waits = async { run(&server, "rollout status --timeout 20s").await };
    let restarts = async {
        tokio::time::sleep(Duration::from_secs(7)).await;
        server.inject(Fault::internal_error().kind("FooMachinePool"));
    };
    let (ran, ()) = tokio::join!(waits, restarts);
    assert_eq!(ran.error(), "");
    assert!(ran.errors.contains("warning: could not list foomachinepools"), "{}", ran.errors);
    assert!(ran.errors.contains("the timeout is over"), "{}", ran.errors);
    server.inject(Fault::status(403).kind("FooMachinePool").always());
    assert!(run(&server, "rollout status").await.ended.is_err());
}

#[tokio::test]
async fn drains_of_all_pools_are_those_of_their_machines() {
    let server = world();
    let mut other = machine("other", true, &json!({}));
    other.metadata.finalizers = Some(vec!["x.com/x".to_owned()]);
    server.create::<Machine>(&other).unwrap();
    let machines: Api<Machine> = Api::namespaced(server.client(), "default");
    machines.delete("other", &DeleteParams::default()).await.unwrap();
    let drains = async |of: &str| run(&server, &format!("drains {of}")).await.output;
    assert!(drains("machines").await.contains("default/other"));
    assert!(drains("clusters").await.contains("default/other"));
    assert_eq!(drains("foomachinepools").await, "no Machine is being deleted\n");
}

#[tokio::test]
async fn pods_of_a_draining_node_are_read_in_the_workload_cluster() {
    let server = FakeApiServer::new();
    server.register(&budgets());
    server.register(&nodes());
    let node: Node = serde_json::from_value(json!({
        "metadata": {"name": "node"}, "spec": {"providerID": "aws:///eu-central-1a/i-a"},
    }))
    .unwrap();
    server.create(&node).unwrap();
    for (name, node) in [("here", "node"), ("elsewhere", "other")] {
        let pod: Pod = serde_json::from_value(json!({
            "metadata": {"namespace": "default", "name": name}, "spec": {"nodeName": node, "containers": []},
        }))
        .unwrap();
        server.create(&pod).unwrap();
    }
    let drain_of = |node: &str, provider_id: &str| {
        let deleting = json!({"nodeRef": {"name": node}, "conditions": [
            crate::condition("Deleting", "True", "DrainingNode", "Drain not completed yet\n* Pod a/named: waits"),
        ]});
        let mut machine = machine("a", true, &deleting);
        machine.spec.provider_id = Some(provider_id.to_owned());
        read::drain(&machine, None)
    };
    let client = server.client();
    let now = crate::NOW.parse().unwrap();
    let mut drain = drain_of("node", "aws:///eu-central-1a/i-a");
    let reads = Reads::new(&client, Some("default"));
    workload::of_nodes(&client, vec![&mut drain], now, &reads, "Cluster c").await.unwrap();
    let pods = |drain: &Drain| drain.pods.iter().map(|it| it.pod.clone()).collect::<Vec<_>>();
    assert_eq!((drain.source, pods(&drain)), (Source::WorkloadCluster, vec!["default/here".to_owned()]));
    assert!(server.requests().writes().is_empty());
    assert_eq!(reads.warnings(), Vec::<String>::new());
    // The kubeconfig is of another cluster, whose Nodes may even have the same names.
    for (node, provider_id, warning) in [
        ("missing", "aws:///eu-central-1a/i-a", "Node missing does not exist there"),
        ("node", "aws:///eu-central-1a/i-b", "Node node is of another instance there"),
    ] {
        let reads = Reads::new(&client, Some("default"));
        let mut drain = drain_of(node, provider_id);
        workload::of_nodes(&client, vec![&mut drain], now, &reads, "Cluster c").await.unwrap();
        assert_eq!((drain.source, pods(&drain)), (Source::ClusterApi, vec!["a/named".to_owned()]));
        assert!(reads.warnings().concat().contains(warning));
    }
    server.inject(Fault::status(403).kind("PodDisruptionBudget").always());
    let reads = Reads::new(&client, Some("default"));
    let refused = workload::of_nodes(&client, vec![&mut drain], now, &reads, "").await.unwrap_err();
    assert!(refused.to_string().contains("list poddisruptionbudgets.policy in all namespaces"), "{refused}");
}

/// The stand-in serves kinds of Kubernetes as it would those of a CRD.
fn budgets() -> CustomResourceDefinition {
    definition("policy", "Namespaced", "PodDisruptionBudget", "poddisruptionbudgets")
}

fn nodes() -> CustomResourceDefinition {
    definition("", "Cluster", "Node", "nodes")
}

fn definition(group: &str, scope: &str, kind: &str, plural: &str) -> CustomResourceDefinition {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    serde_json::from_value(json!({
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": scope,
            "names": {"kind": kind, "plural": plural},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    }))
    .unwrap()
}

#[test]
fn the_help_of_every_command() {
    let mut root = Cli::command();
    root.build();
    let mut text = String::new();
    help(&mut root, &mut text);
    is_printed("help", &text);
}

fn help(command: &mut clap::Command, text: &mut String) {
    for line in command.render_long_help().to_string().lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push('\n');
    for below in command.get_subcommands_mut() {
        text.extend(["--- ", below.get_bin_name().unwrap_or_default(), "\n"]);
        help(below, text);
    }
}
