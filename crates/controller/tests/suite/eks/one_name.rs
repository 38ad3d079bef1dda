//! Names of EKS clusters. A token is for a name, whatever the region and account: two clusters for which AWS sees the
//! same user or role never share one, and no tenant takes a name of another one.

use super::{ROLE, control_plane, refers};
use crate::support::{CLUSTER, INSTALLATION, NS, World, objects};
use foo_api::FooControlPlane;
use foo_api::capi::Cluster;
use foo_model::names::{EKS_NAME_ANNOTATION, eks_cluster_name};
use foo_simulator_core::{Fault, FaultRule, Simulator, SimulatorConfig};
use k8s_openapi::api::core::v1::Secret;
use kube::{Resource as _, ResourceExt};
use serde_json::{Value, json};
use std::time::Duration;

/// Another tenant's namespace.
const OTHER: &str = "team-b";
/// Another region.
const ELSEWHERE: &str = "us-east-2";
/// A name that the identity allows.
const PROD: &str = "prod";

/// A Cluster on EKS in a namespace and region, with an identity and fields of `spec.eks`.
fn begins_in(world: &World, (namespace, region): (&str, &str), identity: Option<&str>, fields: Value) {
    let mut cluster = objects::cluster();
    refers(&mut cluster);
    let mut infrastructure = objects::foo_cluster();
    region.clone_into(&mut infrastructure.spec.region);
    infrastructure.spec.identity_ref = identity.map(objects::identity_reference);
    let mut control_plane = control_plane(CLUSTER, "v1.34.0", fields);
    for meta in [cluster.meta_mut(), infrastructure.meta_mut(), control_plane.meta_mut()] {
        meta.namespace = Some(namespace.to_owned());
    }
    world.server.create::<Cluster>(&cluster).unwrap();
    world.server.create(&infrastructure).unwrap();
    world.server.create(&control_plane).unwrap();
}

fn object_in(world: &World, namespace: &str) -> FooControlPlane {
    world.server.get(namespace, CLUSTER).unwrap()
}

/// `status reason` of ClusterReady, and its message.
fn cluster_ready(world: &World, namespace: &str) -> (String, String) {
    let conditions = object_in(world, namespace).status.unwrap_or_default().conditions;
    let found = conditions.into_iter().find(|it| it.type_ == "ClusterReady");
    found.map_or_else(Default::default, |it| (format!("{} {}", it.status, it.reason), it.message))
}

fn tokens_in(world: &World, namespace: &str) -> bool {
    world.server.get::<Secret>(namespace, "c-kubeconfig").is_some()
}

/// Names of the EKS clusters of a region of an account.
fn names_at_eks(aws: &Simulator, region: &str) -> Vec<String> {
    aws.region(region).clusters().into_iter().map(|it| it.name).collect()
}

/// The second one is refused, gets no token and creates nothing, and learns nothing of the first one but that it
/// exists.
async fn is_refused(world: &World, namespace: &str) {
    let state_of = || cluster_ready(world, namespace);
    world.until("the second one is refused", || state_of().0 == "False ClusterNameTaken").await;
    world.waits(Duration::from_mins(20)).await;
    assert_eq!(state_of().0, "False ClusterNameTaken");
    assert!(state_of().1.contains("a FooControlPlane in another namespace has"), "{}", state_of().1);
    assert!(!state_of().1.contains(NS), "{}", state_of().1);
    assert!(!tokens_in(world, namespace));
}

#[tokio::test(start_paused = true)]
async fn one_name_in_two_namespaces_and_regions_is_refused_to_the_younger() {
    let world = World::fast_eks();
    let identity = json!({ "controller": {}, "allowedNamespaces": {}, "allowedControlPlaneNames": [PROD] });
    world.has(&objects::identity("default", identity));
    world.begins_eks("v1.34.0", json!({ "name": PROD }));
    world.eks_is_ready().await;
    begins_in(&world, (OTHER, ELSEWHERE), None, json!({ "name": PROD }));
    is_refused(&world, OTHER).await;
    assert_eq!(names_at_eks(&world.aws, ELSEWHERE), Vec::<String>::new());
    assert!(world.eks_state("Ready").starts_with("True"), "{}", world.eks_summary());
    // The first one gives the name up.
    world.deletes_eks();
    world.eks_is_removed().await;
    world.until("the other one begins", || names_at_eks(&world.aws, ELSEWHERE) == [PROD]).await;
}

/// Other credentials, and the same role in the end.
#[tokio::test(start_paused = true)]
async fn one_name_with_two_identities_of_one_role_is_refused_to_the_younger() {
    let world = World::fast_eks();
    let names = json!([PROD]);
    let keys = json!({ "secret": { "name": "keys" } });
    world.has(&objects::identity("keys", keys));
    world.has(&objects::keys("keys", "AKIDKEYS"));
    for (name, source) in [("one", Value::Null), ("two", json!({ "name": "keys" }))] {
        let mut role = json!({ "arn": "arn:aws:iam::123456789012:role/shared" });
        if !source.is_null() {
            role["source"] = source;
        }
        let spec = json!({ "role": role, "allowedNamespaces": {}, "allowedControlPlaneNames": names });
        world.has(&objects::identity(name, spec));
    }
    begins_in(&world, (NS, "eu-central-1"), Some("one"), json!({ "name": PROD }));
    let state_of = || cluster_ready(&world, NS).0;
    world.until("the first one is there", || state_of() == "True ClusterAsRequested").await;
    begins_in(&world, (OTHER, ELSEWHERE), Some("two"), json!({ "name": PROD }));
    is_refused(&world, OTHER).await;
    assert_eq!(names_at_eks(&world.aws, ELSEWHERE), Vec::<String>::new());
}

/// The path of a role is known from the chain of one identity, and not of the other one, which may not read its role.
#[tokio::test(start_paused = true)]
async fn one_name_with_two_identities_of_one_role_with_a_path_is_refused_to_the_younger() {
    let world = World::fast_eks();
    let session = world.aws.role_session("shared", "two", world.aws.now()).unwrap();
    let limits = json!({ "allowedNamespaces": {}, "allowedControlPlaneNames": [PROD] });
    let role = json!({ "role": { "arn": "arn:aws:iam::123456789012:role/p/shared" } });
    let keys = json!({ "secret": { "name": "keys" } });
    world.has(&objects::keys("keys", &session.id));
    for (name, mut spec) in [("one", role), ("two", keys)] {
        spec.as_object_mut().unwrap().extend(limits.as_object().unwrap().clone());
        world.has(&objects::identity(name, spec));
    }
    begins_in(&world, (NS, "eu-central-1"), Some("one"), json!({ "name": PROD }));
    let state_of = || cluster_ready(&world, NS).0;
    world.until("the first one is there", || state_of() == "True ClusterAsRequested").await;
    world.aws.add_fault(FaultRule::on("GetRole", Fault::Denied).for_caller(&session.id));
    begins_in(&world, (OTHER, ELSEWHERE), Some("two"), json!({ "name": PROD }));
    is_refused(&world, OTHER).await;
    assert_eq!(names_at_eks(&world.aws, ELSEWHERE), Vec::<String>::new());
}

/// EKS accepts no access entry for an ARN without the role's path: the manager would have no access to its own cluster.
#[tokio::test(start_paused = true)]
async fn the_creator_is_administrator_if_the_path_of_its_role_cannot_be_read() {
    for denied in [false, true] {
        let world = World::fast_eks();
        let session = world.aws.role_session("shared", "two", world.aws.now()).unwrap();
        let keys = json!({ "secret": { "name": "keys" }, "allowedNamespaces": {}, "allowedControlPlaneNames": [PROD] });
        world.has(&objects::keys("keys", &session.id));
        world.has(&objects::identity("two", keys));
        if denied {
            world.aws.add_fault(FaultRule::on("GetRole", Fault::Denied).for_caller(&session.id));
        }
        begins_in(&world, (NS, "eu-central-1"), Some("two"), json!({ "name": PROD }));
        world.until("it is created", || world.region.cluster(PROD).is_some()).await;
        assert_eq!(world.region.cluster(PROD).unwrap().creator_is_admin, denied);
    }
}

#[tokio::test(start_paused = true)]
async fn one_name_in_two_accounts_is_two_users_and_works() {
    let mut world = World::fast_eks();
    let foreign =
        Simulator::new(SimulatorConfig { account: "210987654321".to_owned(), ..SimulatorConfig::stepped() });
    let shorten = |settings: &mut foo_simulator_core::core::Settings| settings.eks.create = Duration::ZERO;
    foreign.region(ELSEWHERE).change_settings(shorten).unwrap();
    world.kills_the_manager();
    world.starts_the_manager_with_key_of("AKIDFOREIGN", &foreign);
    let names = json!([PROD]);
    let spec = json!({ "controller": {}, "allowedNamespaces": {}, "allowedControlPlaneNames": names });
    world.has(&objects::identity("default", spec));
    let spec =
        json!({ "secret": { "name": "keys" }, "allowedNamespaces": {}, "allowedControlPlaneNames": names });
    world.has(&objects::identity("foreign", spec));
    world.has(&objects::keys("keys", "AKIDFOREIGN"));
    world.begins_eks("v1.34.0", json!({ "name": PROD }));
    world
        .until("there is a cluster in the one account", || names_at_eks(&world.aws, "eu-central-1") == [PROD])
        .await;
    let role = ROLE.replace("123456789012", "210987654321");
    begins_in(&world, (OTHER, ELSEWHERE), Some("foreign"), json!({ "name": PROD, "roleARN": role }));
    world.until("and in the other one", || names_at_eks(&foreign, ELSEWHERE) == [PROD]).await;
}

/// An identity gets the role of another one: from then on a token of either namespace would open both clusters.
#[tokio::test(start_paused = true)]
async fn clusters_whose_roles_become_one_get_no_token() {
    let world = World::fast_eks();
    let role = |name: &str| json!({ "arn": format!("arn:aws:iam::123456789012:role/{name}") });
    for name in ["one", "two"] {
        let spec = json!({ "role": role(name), "allowedNamespaces": {}, "allowedControlPlaneNames": [PROD] });
        world.has(&objects::identity(name, spec));
    }
    begins_in(&world, (NS, "eu-central-1"), Some("one"), json!({ "name": PROD }));
    begins_in(&world, (OTHER, ELSEWHERE), Some("two"), json!({ "name": PROD }));
    let are =
        |reported: &str| [NS, OTHER].iter().all(|namespace| cluster_ready(&world, namespace).0 == reported);
    world.until("both are there", || are("True ClusterAsRequested")).await;
    let becomes = |name: &str| {
        let arn = role(name)["arn"].as_str().unwrap().to_owned();
        let edit = move |identity: &mut foo_api::FooClusterIdentity| {
            identity.spec.role.as_mut().unwrap().arn = arn;
        };
        world.server.edit("", "two", edit).unwrap();
    };
    becomes("one");
    world.until("both are stopped", || are("False ClusterNameTaken")).await;
    let secret = |namespace: &str| {
        world.server.get::<Secret>(namespace, "c-kubeconfig").unwrap().metadata.resource_version
    };
    world.waits(Duration::from_mins(1)).await;
    let before = (secret(NS), secret(OTHER));
    world.forgets();
    world.waits(Duration::from_mins(40)).await;
    assert_eq!((secret(NS), secret(OTHER)), before, "no token is renewed");
    assert_eq!(world.aws_writes(), 0);
    for namespace in [NS, OTHER] {
        let (_, message) = cluster_ready(&world, namespace);
        assert!(message.contains("a FooControlPlane in another namespace has"), "{message}");
    }
    becomes("two");
    world.until("both continue", || are("True ClusterAsRequested")).await;
    assert_ne!(secret(NS), before.0);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_does_not_begin_with_the_namespace_needs_the_identity_to_allow_it() {
    let world = World::fast_eks();
    let foreign = format!("{OTHER}_blue");
    world.begins_eks("v1.34.0", json!({ "name": foreign }));
    let state_of = || cluster_ready(&world, NS);
    world.until("it is refused", || state_of().0 == "False ControlPlaneNameNotAllowed").await;
    assert!(
        state_of().1.contains("\"default_\"") && state_of().1.contains("allowedControlPlaneNames"),
        "{}",
        state_of().1
    );
    world.waits(Duration::from_mins(10)).await;
    assert!(world.region.clusters().is_empty() && !tokens_in(&world, NS));
    let spec = json!({ "controller": {}, "allowedNamespaces": {}, "allowedControlPlaneNames": ["team-b_*"] });
    world.has(&objects::identity("default", spec));
    world.eks_is_ready().await;
    assert_eq!(names_at_eks(&world.aws, "eu-central-1"), [foreign]);
}

#[tokio::test(start_paused = true)]
async fn a_tenant_takes_no_name_from_another_one_by_naming_it_first() {
    let world = World::fast_eks();
    let name = eks_cluster_name(NS, CLUSTER, INSTALLATION);
    begins_in(&world, (OTHER, "eu-central-1"), None, json!({ "name": name }));
    let state_of = || cluster_ready(&world, OTHER).0;
    world.until("it is refused", || state_of() == "False ControlPlaneNameNotAllowed").await;
    world.begins_eks("v1.34.0", json!({}));
    world.eks_is_ready().await;
    assert_eq!(names_at_eks(&world.aws, "eu-central-1"), [name]);
    assert_eq!(state_of(), "False ControlPlaneNameNotAllowed");
}

/// While pools of a cluster that is being deleted are drained its token is renewed; not so one for a name that is not
/// its own.
#[tokio::test(start_paused = true)]
async fn a_name_of_another_tenant_gets_no_token_by_deletion_either() {
    let world = World::of_eks(json!({})).await;
    let name = world.eks_cluster().name;
    begins_in(&world, (OTHER, ELSEWHERE), None, json!({ "name": name }));
    let state_of = || cluster_ready(&world, OTHER).0;
    world.until("it is refused", || state_of() == "False ControlPlaneNameNotAllowed").await;
    let mut pool = objects::foo_machine_pool("p", objects::pool_spec());
    pool.metadata.namespace = Some(OTHER.to_owned());
    pool.labels_mut().insert(foo_api::names::CLUSTER_NAME_LABEL.to_owned(), CLUSTER.to_owned());
    pool.finalizers_mut().push("example.com/stays".to_owned());
    world.server.create(&pool).unwrap();
    // A tenant who may write the status, too.
    let arn = format!("arn:aws:eks:{ELSEWHERE}:123456789012:cluster/{name}");
    let forge = |object: &mut Value| {
        object["status"]["eks"]["arn"] = json!(arn);
        object["status"]["eks"]["certificateAuthority"] = json!("Q0E=");
        object["spec"]["controlPlaneEndpoint"] = json!({ "host": "127.0.0.1", "port": 1 });
    };
    world.server.corrupt::<FooControlPlane>(OTHER, CLUSTER, forge).unwrap();
    world.server.delete::<FooControlPlane>(OTHER, CLUSTER).unwrap();
    world.waits(Duration::from_mins(5)).await;
    assert!(!tokens_in(&world, OTHER));
}

#[tokio::test(start_paused = true)]
async fn two_management_clusters_have_different_default_names_and_a_moved_cluster_keeps_its_own() {
    const THERE: &str = "5ba1e1d0-0000-4000-8000-000000000002";
    let world = World::of_eks(json!({})).await;
    let name = world.eks_cluster().name;
    assert_eq!(world.eks_object().annotations()[EKS_NAME_ANNOTATION], name);
    let beside = world.beside(THERE);
    beside.begins_eks("v1.34.0", json!({}));
    let default = eks_cluster_name(NS, CLUSTER, THERE);
    assert_ne!(default, name);
    beside.until("it has another cluster", || beside.region.cluster(&default).is_some()).await;
    // What clusterctl move leaves of an object: annotations, and no status.
    let third = world.beside("5ba1e1d0-0000-4000-8000-000000000003");
    let mut cluster = objects::cluster();
    refers(&mut cluster);
    third.has(&cluster);
    third.has(&objects::foo_cluster());
    let mut moved = control_plane(CLUSTER, "v1.34.0", json!({}));
    moved.annotations_mut().clone_from(world.eks_object().annotations());
    third.has(&moved);
    let state_of = || cluster_ready(&third, NS).0;
    third.until("it finds the cluster", || state_of() == "False ClusterOfAnotherInstallation").await;
    assert_eq!(third.eks_object().status.unwrap().eks.unwrap().name, Some(name));
    assert_eq!(world.region.clusters().len(), 2);
}
