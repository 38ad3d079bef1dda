//! What happens to an EKS control plane at the request of its user.

use super::{NAME, control_plane, refers};
use crate::support::{CLUSTER, INSTALLATION, NS, World, objects};
use foo_api::capi::Cluster;
use foo_api::names::CONTROL_PLANE_FINALIZER;
use foo_api::{FooCluster, FooControlPlane};
use foo_model::eks::Minor;
use foo_model::names::{CONTROL_PLANE_ID_ANNOTATION, TAG_CLUSTER, TAG_CONTROL_PLANE, TAG_INSTALLATION};
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn a_cluster_is_created_and_its_api_server_responds() {
    let world = World::of_eks(json!({ "addons": [{ "name": "vpc-cni" }, { "name": "kube-proxy" }] })).await;
    let cluster = world.eks_cluster();
    let object = world.eks_object();
    let uid = object.uid().unwrap();
    assert_eq!(cluster.tags.get(TAG_CONTROL_PLANE), Some(&uid));
    assert_eq!(cluster.tags.get(TAG_CLUSTER).map(String::as_str), Some("default/c"));
    assert_eq!(cluster.tags.get(TAG_INSTALLATION).map(String::as_str), Some(INSTALLATION));
    assert_eq!(object.annotations().get(CONTROL_PLANE_ID_ANNOTATION), Some(&uid));
    assert_eq!(object.finalizers(), [CONTROL_PLANE_FINALIZER]);
    assert_eq!(object.spec.control_plane_endpoint.unwrap().port, 443);
    let status = object.status.unwrap();
    assert_eq!(status.version.as_deref(), Some("v1.34.0"));
    assert_eq!(status.versions[0].version, "v1.34.0");
    assert_eq!(status.external_managed_control_plane, Some(true));
    assert_eq!(status.initialization.unwrap().control_plane_initialized, Some(true));
    let eks = status.eks.unwrap();
    assert_eq!((eks.name.as_deref(), eks.arn), (Some(NAME), Some(cluster.arn.clone())));
    assert_eq!(eks.status.as_deref(), Some("ACTIVE"));
    assert!(eks.certificate_authority.is_some() && eks.service_cidr.is_some() && eks.oidc_issuer.is_some());
    assert_eq!(eks.addons.len(), 2);
    let expected: Vec<&str> =
        vec!["subnet-0a00000000000000a", "subnet-0a00000000000000b", "subnet-0a00000000000000c"];
    let subnets: Vec<&str> = cluster.placement.subnets.iter().map(foo_model::SubnetId::as_str).collect();
    assert_eq!(subnets, expected, "the private ones");
    assert!(world.events_on(CLUSTER).contains(&"EksClusterCreated".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn the_version_is_echoed_as_it_was_written() {
    let world = World::fast_eks();
    world.begins_eks("1.34.7-eks-abc", json!({}));
    world.eks_is_ready().await;
    assert_eq!(world.eks_object().status.unwrap().version.as_deref(), Some("1.34.7-eks-abc"));
}

#[tokio::test(start_paused = true)]
async fn an_upgrade_by_two_minors_has_two_steps_and_reports_the_old_version_until_it_is_done() {
    let world = World::of_eks(json!({})).await;
    world.requests_version("v1.36.1");
    world.until("it upgrades", || world.eks_state("Upgrading").starts_with("True")).await;
    assert_eq!(world.eks_object().status.unwrap().version.as_deref(), Some("v1.34.0"));
    let version = || world.eks_object().status.unwrap().version.unwrap();
    let mut seen = vec![version()];
    let done = || version() == "v1.36.1";
    world
        .until("it is upgraded", || {
            if seen.last() != Some(&version()) {
                seen.push(version());
            }
            done()
        })
        .await;
    let minors: Vec<Option<Minor>> = seen.iter().map(|it| Minor::of(it)).collect();
    assert_eq!(minors, [34, 35, 36].map(|minor| Some(Minor(minor))), "{seen:?}");
    world.until("the upgrade ends", || world.eks_state("Upgrading").starts_with("False NotUpgrading")).await;
    let started = world.notes("EksUpgradeStarted");
    assert_eq!(started.len(), 2, "{started:?}");
}

#[tokio::test(start_paused = true)]
async fn an_edit_of_the_configuration_is_carried_out() {
    let world = World::of_eks(json!({})).await;
    world.edits_eks(|eks| eks.zonal_shift = true);
    world.until("it is changed", || world.eks_cluster().zonal_shift).await;
    world.eks_is_ready().await;
    assert!(!world.notes("EksClusterChanged").is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_cluster_is_deleted_with_its_object() {
    let world = World::of_eks(json!({ "oidcProvider": true })).await;
    world.deletes_eks();
    world.until("it is reported", || world.eks_state("Deleting").starts_with("True")).await;
    assert!(world.eks_state("Ready").starts_with("False Deleting"));
    world.eks_is_removed().await;
    assert!(world.region.clusters().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_deletion_before_anything_was_created_calls_no_api() {
    let world = World::fast_eks();
    world.has(&control_plane(CLUSTER, "v1.34.0", json!({})));
    world.waits(Duration::from_mins(1)).await;
    assert_eq!(world.eks_state("ClusterReady"), "False WaitingForCluster");
    world.forgets();
    world.deletes_eks();
    world.eks_is_removed().await;
    assert_eq!(world.aws_calls(), [].into());
}

#[tokio::test(start_paused = true)]
async fn a_whole_cluster_is_deleted_whatever_is_deleted_first() {
    let world = World::of_eks(json!({})).await;
    let pool = world.pool("p").of(1).await;
    // As a namespace that is deleted does it: everything at once.
    world.server.delete::<FooCluster>(NS, CLUSTER).unwrap();
    world.deletes_eks();
    world
        .until("the control plane waits for the pool", || {
            world.eks_state("Deleting") == "True WaitingForPools"
        })
        .await;
    world.waits(Duration::from_mins(20)).await;
    assert_eq!(world.region.clusters().len(), 1, "nodes need their API server to be drained");
    assert!(
        world.eks_state("Available").starts_with("True"),
        "the token is renewed: {}",
        world.eks_summary()
    );
    world.server.delete::<Secret>(NS, "c-kubeconfig").unwrap();
    world
        .until("the kubeconfig is there again: nodes are drained with it", || {
            world.server.get::<Secret>(NS, "c-kubeconfig").is_some()
        })
        .await;
    world.server.delete::<Cluster>(NS, CLUSTER).unwrap();
    world.until("all is deleted", || world.server.get::<Cluster>(NS, CLUSTER).is_none()).await;
    assert!(world.region.clusters().is_empty() && pool.group().is_none());
    assert!(world.eks_object_is_deleted() && world.server.get::<FooCluster>(NS, CLUSTER).is_none());
}

#[tokio::test(start_paused = true)]
async fn the_network_stays_until_the_cluster_in_it_is_deleted() {
    let world = World::of_eks(json!({})).await;
    world.server.delete::<FooCluster>(NS, CLUSTER).unwrap();
    world.waits(Duration::from_mins(2)).await;
    let foo_cluster: FooCluster = world.server.get(NS, CLUSTER).unwrap();
    let conditions = foo_cluster.status.unwrap().conditions;
    let deleting = conditions.iter().find(|it| it.type_ == "Deleting").unwrap();
    assert_eq!(deleting.reason, "WaitingForControlPlaneDeletion");
    world.deletes_eks();
    world.eks_is_removed().await;
    world.until("the FooCluster is deleted", || world.server.get::<FooCluster>(NS, CLUSTER).is_none()).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_happens_while_it_is_paused() {
    let world = World::fast_eks();
    let mut cluster = objects::cluster();
    refers(&mut cluster);
    cluster.spec.paused = Some(true);
    world.has(&cluster);
    world.has(&objects::foo_cluster());
    world.has(&control_plane(CLUSTER, "v1.34.0", json!({})));
    world.waits(Duration::from_mins(3)).await;
    assert!(world.region.clusters().is_empty());
    let status = world.eks_object().status.unwrap();
    let arn = status.eks.and_then(|eks| eks.arn);
    assert_eq!((arn, status.version), (None, None), "nothing was found out");
    world.pauses_eks(false);
    world.eks_is_ready().await;
    // EKS is asked for the last time.
    world.waits(Duration::from_mins(10)).await;
    let before = world.eks_object().status.unwrap();
    world.pauses_eks(true);
    world.waits(Duration::from_secs(5)).await;
    assert_eq!(world.eks_state("Paused"), "True Paused");
    let after = world.eks_object();
    let status = after.status.clone().unwrap();
    assert_eq!((status.eks, status.version, status.ready), (before.eks, before.version, before.ready));
    world.waits(Duration::from_hours(1)).await;
    assert_eq!(world.eks_object().resource_version(), after.resource_version(), "written once");
    world.edits_eks(|eks| eks.zonal_shift = true);
    world.forgets();
    world.waits(Duration::from_mins(3)).await;
    assert!(!world.eks_cluster().zonal_shift);
    assert_eq!(world.aws_writes(), 0);
    world.pauses_eks(false);
    world.until("it continues", || world.eks_cluster().zonal_shift).await;
}

/// clusterctl move takes the object to another management cluster, without its status and with another uid.
#[tokio::test(start_paused = true)]
async fn a_control_plane_whose_status_is_lost_finds_its_cluster_again() {
    let mut world = World::of_eks(json!({ "addons": [{ "name": "vpc-cni" }] })).await;
    let arn = world.eks_cluster().arn;
    world.kills_the_manager();
    let lose = |object: &mut Value| drop(object.as_object_mut().unwrap().remove("status"));
    world.server.corrupt::<FooControlPlane>(NS, CLUSTER, lose).unwrap();
    world.forgets();
    world.starts_the_manager();
    world.eks_is_ready().await;
    assert_eq!(world.eks_object().status.unwrap().eks.unwrap().arn, Some(arn));
    assert_eq!(world.region.clusters().len(), 1);
    assert_eq!(world.aws_calls().get("CreateCluster"), None);
}
