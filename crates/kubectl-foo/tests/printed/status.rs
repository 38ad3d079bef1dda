//! Trees of clusters.

use crate::pools::{foo_machine, machine, pool};
use crate::{NOW, condition, conditions, is_printed};
use jiff::Timestamp;
use kubectl_foo::capi::Cluster;
use kubectl_foo::status::read::Facts;
use kubectl_foo::status::{Machines, text, tree};
use kubectl_foo::terminal::Width;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn golden(name: &str, facts: &Facts, machines: Machines) {
    let now: Timestamp = NOW.parse().unwrap();
    is_printed(name, &text(&tree(facts, machines, now), Width::Narrow, now));
}

fn read<K: DeserializeOwned>(object: Value) -> K {
    serde_json::from_value(object).unwrap()
}

fn cluster(available: &Value) -> Cluster {
    read(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
        "metadata": {"namespace": "default", "name": "c"},
        "spec": {
            "infrastructureRef": {"apiGroup": "infrastructure.foo.com", "kind": "FooCluster", "name": "c"},
            "controlPlaneRef": {"apiGroup": "controlplane.foo.com", "kind": "FooControlPlane", "name": "c"},
        },
        "status": {"conditions": [available]},
    }))
}

fn foo_cluster<K: DeserializeOwned>(reported: &[Value], resources: &Value) -> K {
    let well = [
        "CredentialsReady",
        "NetworkReady",
        "VPCReady",
        "SubnetsReady",
        "RoutesReady",
        "NATReady",
        "SecurityGroupsReady",
        "EndpointsReady",
    ];
    read(json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooCluster",
        "metadata": {"namespace": "default", "name": "c"},
        "spec": {"region": "eu-central-1", "network": {"managed": {}}},
        "status": {
            "network": {"vpcID": "vpc-1", "resources": resources},
            "conditions": conditions(reported, &well, &["Paused", "Deleting"]),
        },
    }))
}

fn control_plane<K: DeserializeOwned>(reported: &[Value], version: &str, record: &Value, coredns: &str) -> K {
    let well = ["Available", "Initialized", "ClusterReady", "AddonsReady", "AccessReady", "KubeconfigReady"];
    let addon = |name: &str, status: &str| json!({"name": name, "version": "v1", "status": status});
    read(json!({
        "apiVersion": "controlplane.foo.com/v1alpha1", "kind": "FooControlPlane",
        "metadata": {"namespace": "default", "name": "c"},
        "spec": {"version": version, "eks": {
            "roleARN": "arn:aws:iam::123456789012:role/eks", "addons": [{"name": "vpc-cni"}, {"name": "coredns"}],
        }},
        "status": {
            "version": "v1.34.0",
            "eks": {
                "name": "default_c", "status": "ACTIVE", "record": record,
                "addons": [addon("vpc-cni", "ACTIVE"), addon("coredns", coredns)],
            },
            "conditions": conditions(reported, &well, &["Upgrading", "Paused", "Deleting"]),
        },
    }))
}

fn ready(reason: &str) -> Value {
    condition("Ready", "True", reason, "")
}

fn well() -> Facts {
    let names = ["a", "b", "c"];
    Facts {
        clusters: vec![cluster(&condition("Available", "True", "Available", ""))],
        all: true,
        foo_clusters: Some(vec![foo_cluster(&[ready("NetworkAsRequested")], &json!([]))]),
        control_planes: Some(vec![control_plane(
            &[ready("ApiServerReachable")],
            "v1.34.0",
            &json!({}),
            "ACTIVE",
        )]),
        pools: Some(vec![pool(&[ready("Ready")])]),
        foo_machines: Some(names.map(|name| foo_machine(name, &json!({}))).into()),
        machines: Some(names.map(|name| machine(name, false, &Value::Null)).into()),
    }
}

#[test]
fn a_cluster_with_which_all_is_well_is_short() {
    golden("status-well", &well(), Machines::Unsettled);
    golden("status-machines", &well(), Machines::All);
}

#[test]
fn what_is_under_way_has_its_progress_and_what_is_not_well_its_reason() {
    let mut facts = well();
    let resource = |role: &str, state: &str| json!({"role": role, "state": state});
    let resources = json!([
        resource("vpc", "Ready"),
        resource("nat/a", "Pending"),
        resource("subnet/private/old", "Deleted")
    ]);
    let creating = "being created: nat/a";
    let network = [
        condition("Ready", "False", "CreatingNetwork", creating),
        condition("NetworkReady", "False", "CreatingNetwork", creating),
        condition("NATReady", "False", "CreatingNetwork", creating),
    ];
    facts.foo_clusters = Some(vec![foo_cluster(&network, &resources)]);
    let upgrading = [
        ready("ApiServerReachable"),
        condition("Upgrading", "True", "UpgradingControlPlane", "from 1.34 to 1.35"),
        condition(
            "AccessReady",
            "False",
            "RoleNotUsable",
            "CreateAccessEntry: the principal\ndoes not exist",
        ),
    ];
    let record =
        json!({"update": {"kind": "version", "content": "x", "id": "1", "since": "2026-11-21T11:48:00Z"}});
    facts.control_planes = Some(vec![control_plane(&upgrading, "v1.36.0", &record, "UPDATING")]);
    facts.clusters = vec![cluster(&condition(
        "Available",
        "False",
        "NotAvailable",
        "* InfrastructureReady:\n  * waiting",
    ))];

    let mut rolling = pool(&[
        ready("RollingOut"),
        condition("ScalingUp", "True", "InstancesLaunching", ""),
        condition("RollingOut", "True", "RollingOut", "1 of 3 instances updated"),
        condition("CapacityAvailable", "False", "InstancesNotLaunched", "AWS says: no capacity"),
    ]);
    let status = rolling.status.as_mut().unwrap();
    status.ready_replicas = Some(2);
    status.rollout = Some(read(json!({
        "phase": "Rolling", "targetHash": "v1-x", "updated": 1, "outdated": 2, "message": "waiting for the Node of c",
    })));
    facts.pools = Some(vec![rolling]);
    let draining = json!({"nodeRef": {"name": "node-a"}, "conditions": [
        condition("Deleting", "True", "DrainingNode", "Drain not completed yet"),
        condition("Ready", "False", "NotReady", ""),
    ]});
    facts.machines = Some(vec![
        machine("a", true, &draining),
        machine("b", false, &Value::Null),
        machine("c", false, &json!({})),
    ]);
    golden("status-under-way", &facts, Machines::Unsettled);
}

/// docs/images/status-watch.svg shows this text.
#[test]
fn a_roll_out_is_shown_with_the_machines_that_it_replaces() {
    let mut rolling = pool(&[
        condition("Ready", "True", "RollingOut", ""),
        condition("RollingOut", "True", "RollingOut", "2 of 4 instances updated"),
    ]);
    let status = rolling.status.as_mut().unwrap();
    (status.replicas, status.ready_replicas, status.up_to_date_replicas) = (Some(4), Some(3), Some(2));
    status.rollout = Some(read(json!({
        "phase": "Rolling", "targetHash": "v1-x", "updated": 2, "outdated": 2,
        "message": "waiting for Cluster API to drain workers-0a1b",
    })));
    let outdated =
        json!({"conditions": [condition("UpToDate", "False", "Outdated", "launched from version 6")]});
    let draining = json!({"nodeRef": {"name": "node-a"}, "conditions": [
        condition("Deleting", "True", "DrainingNode", "Drain not completed yet"),
        condition("Ready", "True", "Ready", ""),
    ]});
    let serving = json!({"nodeRef": {"name": "node-c"}, "conditions": [
        condition("Ready", "True", "Ready", ""),
        condition("NodeReady", "True", "NodeReady", ""),
    ]});
    rolling.metadata.labels = Some([("cluster.x-k8s.io/cluster-name".to_owned(), "prod".to_owned())].into());
    let mut facts = Facts {
        pools: Some(vec![rolling]),
        foo_machines: Some(vec![
            foo_machine("workers-0a1b", &outdated),
            foo_machine("workers-0c2d", &outdated),
            foo_machine("workers-0e3f", &json!({})),
            foo_machine("workers-0f4a", &json!({})),
        ]),
        machines: Some(vec![
            machine("workers-0a1b", true, &draining),
            machine("workers-0c2d", false, &serving),
            machine("workers-0e3f", false, &Value::Null),
            machine("workers-0f4a", false, &Value::Null),
        ]),
        ..well()
    };
    let named = "prod";
    let cluster = &mut facts.clusters[0];
    cluster.metadata.name = Some(named.to_owned());
    cluster.spec.infrastructure_ref.as_mut().unwrap().name = named.to_owned();
    cluster.spec.control_plane_ref.as_mut().unwrap().name = named.to_owned();
    facts.foo_clusters.as_mut().unwrap()[0].metadata.name = Some(named.to_owned());
    facts.control_planes.as_mut().unwrap()[0].metadata.name = Some(named.to_owned());
    golden("status-rolling", &facts, Machines::Unsettled);
}

#[test]
fn what_could_not_be_read_or_belongs_to_nothing_is_named() {
    let mut facts = well();
    facts.machines = None;
    facts.control_planes = None;
    facts.foo_clusters = Some(Vec::new());
    let mut other = facts.clusters[0].clone();
    other.metadata.name = Some("other".to_owned());
    other.spec.paused = Some(true);
    let reference = other.spec.control_plane_ref.as_mut().unwrap();
    (reference.kind, reference.api_group) =
        ("KubeadmControlPlane".to_owned(), "controlplane.cluster.x-k8s.io".to_owned());
    other.spec.infrastructure_ref = None;
    facts.clusters.push(other);
    let mut alone = pool(&[ready("Ready")]);
    alone.metadata.labels = None;
    alone.metadata.uid = Some("other".to_owned());
    alone.metadata.name = Some("alone".to_owned());
    facts.pools.as_mut().unwrap().push(alone);
    golden("status-incomplete", &facts, Machines::Unsettled);
    golden("status-none", &Facts { all: true, ..Facts::default() }, Machines::Unsettled);
}

/// What is not known is left empty, as the version of a Machine without Node.
#[test]
fn a_wide_tree_has_what_objects_are_in_aws_and_as_nodes() {
    let now: Timestamp = NOW.parse().unwrap();
    let mut facts = well();
    let arn = "arn:aws:autoscaling:eu-central-1:123456789012:autoScalingGroup:0a1b:autoScalingGroupName/default-c-workers";
    for pool in facts.pools.iter_mut().flatten() {
        pool.spec.provider_id = Some(arn.to_owned());
        let status = pool.status.as_mut().unwrap();
        (status.instance_type, status.version) = (Some("m7i.large".to_owned()), Some("v1.34.0".to_owned()));
        let template = json!({"id": "lt-0a1b", "version": 7, "specHash": "v1-b"});
        status.launch_template = Some(read(template));
    }
    for control_plane in facts.control_planes.iter_mut().flatten() {
        let eks = control_plane.status.as_mut().unwrap().eks.as_mut().unwrap();
        eks.arn = Some("arn:aws:eks:eu-central-1:123456789012:cluster/default_c".to_owned());
    }
    let mut launching = foo_machine("c", &json!({}));
    launching.status = None;
    let older = foo_machine("b", &json!({"launchTemplateVersion": 6, "failureDomain": "eu-central-1b"}));
    facts.foo_machines = Some(vec![foo_machine("a", &json!({"launchTemplateVersion": 7})), older, launching]);
    for machine in
        facts.machines.iter_mut().flatten().filter(|machine| machine.metadata.name.as_deref() != Some("c"))
    {
        machine.spec.version = Some("v1.34.2".to_owned());
    }
    facts.machines.as_mut().unwrap()[2] = machine("c", false, &json!({}));
    let all = tree(&facts, Machines::All, now);
    is_printed("status-wide", &text(&all, Width::Wide, now));
    let printed = serde_json::to_value(&all).unwrap();
    let pool = &printed["objects"][0]["objects"][2];
    assert_eq!((&pool["arn"], &pool["objects"][0]["version"]), (&json!(arn), &json!("v1.34.2")), "{pool:#}");
    assert_eq!(pool["objects"][2].get("zone"), None, "what is not known is absent");
}
