//! `--namespace` and `--watch-filter`: what a manager reconciles, and what it leaves to others.

use crate::support::{CLUSTER, NS, World, objects};
use foo_api::capi::Cluster;
use foo_api::control_plane::{External, SecretReference};
use foo_api::names::{CLUSTER_NAME_LABEL, WATCH_LABEL};
use foo_api::{FooCluster, FooControlPlane, FooControlPlaneSpec, FooMachine, FooMachinePool};
use foo_apiserver_fake::Recorded;
use kube::ResourceExt;
use std::time::Duration;

fn control_plane(name: &str) -> FooControlPlane {
    let reference = SecretReference { name: "k".to_owned() };
    let spec = FooControlPlaneSpec {
        version: "v1.36.3".to_owned(),
        control_plane_endpoint: None,
        external: Some(External { kubeconfig_secret_ref: reference }),
        eks: None,
    };
    objects::placed(FooControlPlane::new(name, spec))
}

fn labelled<K: ResourceExt>(mut object: K) -> K {
    object.labels_mut().insert(WATCH_LABEL.to_owned(), "team".to_owned());
    object
}

#[tokio::test(start_paused = true)]
async fn with_a_watch_filter_only_labelled_objects_are_reconciled() {
    let mut world = World::empty();
    world.restarts_the_manager_for("team");
    // What is only read needs no label, as in Cluster API.
    for name in ["own", "foreign"] {
        let (cluster, infrastructure) = objects::another_cluster(name, None);
        world.has(&cluster);
        let mut control_plane = control_plane(name);
        if name == "own" {
            world.has(&labelled(infrastructure));
            control_plane = labelled(control_plane);
        } else {
            world.has(&infrastructure);
        }
        world.has(&control_plane);
    }
    for (name, own) in [("p", true), ("q", false)] {
        let mut data = objects::secret(&objects::secret_name(name), b"#cloud-config");
        data.labels_mut().insert(CLUSTER_NAME_LABEL.to_owned(), "own".to_owned());
        world.has(&data);
        let pool = objects::foo_machine_pool(name, objects::pool_spec());
        if own {
            world.has(&labelled(pool));
        } else {
            world.has(&pool);
        }
        let mut machine_pool = objects::machine_pool(name, 1);
        machine_pool.spec.cluster_name = "own".to_owned();
        world.has(&machine_pool);
    }
    world.settles().await;
    let of_cluster = |name: &str| world.server.get::<FooCluster>(NS, name).unwrap();
    assert_eq!(of_cluster("own").status.and_then(|status| status.ready), Some(true));
    let foreign = of_cluster("foreign");
    assert!(foreign.status.is_none() && foreign.finalizers().is_empty());
    let of_plane = |name: &str| world.server.get::<FooControlPlane>(NS, name).unwrap().status;
    assert!(of_plane("own").is_some() && of_plane("foreign").is_none());
    let of_pool = |name: &str| world.server.get::<FooMachinePool>(NS, name).unwrap();
    assert!(!of_pool("p").finalizers().is_empty());
    assert!(of_pool("q").status.is_none() && of_pool("q").finalizers().is_empty());
    let machines = world.server.list::<FooMachine>(NS);
    assert_eq!(machines.len(), 1);
    // Core's and other tools' filters find them by the same label.
    assert_eq!(machines[0].labels().get(WATCH_LABEL).map(String::as_str), Some("team"));
    assert_eq!(world.region.groups().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn with_a_namespace_only_its_objects_are_reconciled() {
    let mut world = World::empty();
    world.restarts_the_manager_in("elsewhere");
    world.has(&objects::cluster());
    world.has(&objects::foo_cluster());
    world.has(&control_plane(CLUSTER));
    world.pool("p").begins_with(1);
    world.waits(Duration::from_mins(10)).await;
    assert!(world.server.get::<FooCluster>(NS, CLUSTER).unwrap().status.is_none());
    assert!(world.server.get::<FooControlPlane>(NS, CLUSTER).unwrap().status.is_none());
    assert!(world.server.get::<FooMachinePool>(NS, "p").unwrap().status.is_none());
    assert!(world.region.groups().is_empty());
    let asked = world.requests();
    // Secrets of identities are in the manager's own namespace, wherever it reconciles objects.
    let is_outside = |one: &&Recorded| one.namespace.as_deref() == Some(NS) && one.kind != "Secret";
    let outside: Vec<_> = asked.iter().filter(is_outside).collect();
    assert!(outside.is_empty(), "{outside:?}");

    world.restarts_the_manager_in(NS);
    world.waits(Duration::from_mins(1)).await;
    world.settles().await;
    world.pool("p").is_of(1);
    assert!(world.server.get::<FooControlPlane>(NS, CLUSTER).unwrap().status.is_some());
    let cluster: Cluster = world.server.get(NS, CLUSTER).unwrap();
    assert!(cluster.infrastructure_provisioned());
}
