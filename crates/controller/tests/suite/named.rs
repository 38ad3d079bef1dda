//! What objects name in AWS: the lists of their identity limit it, and nothing of another namespace's network can be named.

use crate::support::{CLUSTER, NS, World, objects};
use foo_api::cluster::{ManagedNetwork, Network};
use foo_api::names::CONTROL_PLANE_GROUP;
use foo_api::pool::{FooMachinePoolSpec, UserDataBucket, UserDataStorage, Volume};
use foo_api::{FooCluster, FooControlPlane, FooControlPlaneSpec};
use foo_model::network::{Kind, Scope};
use foo_simulator::core::network::{SECURITY_GROUP, VPC};
use kube::ResourceExt;
use serde_json::{Value, json};
use std::time::Duration;

/// An identity `prod` for everybody with these limits.
fn has_identity(world: &World, limits: &Value) {
    let mut spec = json!({"allowedNamespaces": {}, "controller": {}});
    spec.as_object_mut().unwrap().extend(limits.as_object().unwrap().clone());
    world.has(&objects::identity("prod", spec));
}

/// The same, and a FooCluster that names it.
async fn limited(limits: Value) -> World {
    let world = World::empty();
    has_identity(&world, &limits);
    world.has(&objects::cluster());
    let mut cluster = objects::foo_cluster();
    cluster.spec.identity_ref = Some(objects::identity_reference("prod"));
    world.has(&cluster);
    world.settles().await;
    world
}

/// `status reason` of a condition of a FooCluster, and its message.
fn network_of(world: &World, namespace: &str, name: &str) -> (String, String) {
    let cluster: FooCluster = world.server.get(namespace, name).unwrap();
    let conditions = cluster.status.unwrap_or_default().conditions;
    let ready = conditions.into_iter().find(|condition| condition.type_ == "NetworkReady");
    ready.map_or_else(Default::default, |it| (format!("{} {}", it.status, it.reason), it.message))
}

#[tokio::test(start_paused = true)]
async fn what_a_pool_names_and_its_identity_does_not_list_is_never_launched() {
    type Edit = fn(&mut FooMachinePoolSpec);
    let cases: [(Value, Edit, &str, &str); 4] = [
        (
            json!({"allowedKeyPairs": ["{namespace}.*"]}),
            |spec| spec.ssh_key_name = Some("team-b.key".to_owned()),
            "KeyPairNotAllowed",
            "team-b.key",
        ),
        (
            json!({"allowedKMSKeys": ["alias/{namespace}"]}),
            |spec| {
                let volume =
                    json!({"sizeGiB": 10, "type": "gp3", "encrypted": true, "kmsKeyID": "alias/team-b"});
                spec.root_volume = Some(serde_json::from_value::<Volume>(volume).unwrap());
            },
            "KmsKeyNotAllowed",
            "alias/team-b",
        ),
        (
            json!({"allowedBuckets": ["data-{namespace}"]}),
            |spec| {
                spec.iam_instance_profile = Some("workers.nodes.infrastructure.foo.com".to_owned());
                let s3 = UserDataBucket { bucket: "data-team-b".to_owned(), prefix: None };
                spec.user_data_storage = Some(UserDataStorage { s3 });
            },
            "BucketNotAllowed",
            "data-team-b",
        ),
        (
            // That of the FooCluster is listed, another one that the pool names is not.
            json!({"allowedSecurityGroups": [SECURITY_GROUP]}),
            |spec| spec.security_groups = vec![objects::by_id("sg-0a00000000000000b")],
            "SecurityGroupNotAllowed",
            "sg-0a00000000000000b",
        ),
    ];
    for (limits, edit, reason, named) in cases {
        let world = limited(limits).await;
        let group =
            json!({"id": "sg-0a00000000000000b", "name": "b", "description": "", "vpc": VPC, "tags": {}});
        world.region.put_security_group(serde_json::from_value(group).unwrap()).unwrap();
        let pool = world.pool("p").with(edit).of(1).await;
        assert_eq!(pool.says("LaunchTemplateReady"), format!("False {reason}"), "{}", world.in_words());
        assert!(pool.condition("LaunchTemplateReady").message.contains(named), "{}", world.in_words());
        assert_eq!((pool.instances().len(), world.aws_writes()), (0, 0), "{reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_names_what_a_pool_names_allows_it() {
    let world =
        limited(json!({"allowedKeyPairs": ["{namespace}.*"], "allowedSecurityGroups": [SECURITY_GROUP]}))
            .await;
    assert_eq!(network_of(&world, NS, CLUSTER).0, "True NetworkFound");
    let pool = world.pool("p").with(|spec| spec.ssh_key_name = Some(format!("{NS}.key"))).of(1).await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn an_existing_network_has_to_be_in_a_vpc_and_groups_that_the_identity_lists() {
    for (limits, reason) in [
        (json!({"allowedVPCs": ["vpc-1"]}), "False VpcNotAllowed"),
        (json!({"allowedSecurityGroups": ["sg-1"]}), "False SecurityGroupNotAllowed"),
    ] {
        let world = limited(limits).await;
        assert_eq!(network_of(&world, NS, CLUSTER).0, reason);
    }
}

/// A FooControlPlane of this namespace with its Cluster and FooCluster, which names the identity `prod`.
fn has_control_plane(world: &World, fields: &Value) {
    let mut cluster = objects::cluster();
    let mut reference = objects::reference("FooControlPlane", CLUSTER);
    CONTROL_PLANE_GROUP.clone_into(&mut reference.api_group);
    cluster.spec.control_plane_ref = Some(reference);
    world.has(&cluster);
    let mut infrastructure = objects::foo_cluster();
    infrastructure.spec.identity_ref = Some(objects::identity_reference("prod"));
    world.has(&infrastructure);
    let mut eks = json!({"roleARN": "arn:aws:iam::123456789012:role/default/eks"});
    eks.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let spec = json!({"version": "v1.34.0", "eks": eks});
    let spec: FooControlPlaneSpec = serde_json::from_value(spec).unwrap();
    world.has(&objects::placed(FooControlPlane::new(CLUSTER, spec)));
}

fn cluster_ready(world: &World) -> (String, String) {
    let object: FooControlPlane = world.server.get(NS, CLUSTER).unwrap();
    let conditions = object.status.unwrap_or_default().conditions;
    let ready = conditions.into_iter().find(|condition| condition.type_ == "ClusterReady");
    ready.map_or_else(Default::default, |it| (format!("{} {}", it.status, it.reason), it.message))
}

#[tokio::test(start_paused = true)]
async fn a_control_plane_names_only_what_its_identity_lists() {
    let other = "arn:aws:iam::123456789012:role/team-b/pods";
    let key = "arn:aws:kms:eu-central-1:123456789012:key/1";
    let roles = json!({"allowedRoles": ["arn:aws:iam::123456789012:role/{namespace}/*"]});
    for (limits, fields, reason) in [
        (&roles, json!({"roleARN": other}), "False RoleNotAllowed"),
        (&roles, json!({"addons": [{"name": "a", "serviceAccountRoleARN": other}]}), "False RoleNotAllowed"),
        (
            &roles,
            json!({"addons": [{"name": "a", "podIdentities": [{"serviceAccount": "b", "roleARN": other}]}]}),
            "False RoleNotAllowed",
        ),
        (
            &roles,
            json!({"podIdentityAssociations": [{"namespace": "a", "serviceAccount": "b", "roleARN": other}]}),
            "False RoleNotAllowed",
        ),
        (&json!({"allowedKMSKeys": []}), json!({"encryption": {"kmsKeyARN": key}}), "False KmsKeyNotAllowed"),
        (
            &json!({"allowedSubnets": ["subnet-1"]}),
            json!({"subnets": ["subnet-2"]}),
            "False SubnetNotAllowed",
        ),
    ] {
        let world = World::empty();
        has_identity(&world, limits);
        has_control_plane(&world, &fields.clone());
        world.waits(Duration::from_mins(5)).await;
        assert_eq!(cluster_ready(&world).0, reason, "{fields} {}", cluster_ready(&world).1);
        assert!(world.region.clusters().is_empty(), "{fields}");
    }
}

/// A FooCluster of another namespace with a network that the provider created.
async fn another_ones_network(world: &World) -> FooCluster {
    let (mut cluster, mut infrastructure) = objects::another_cluster("theirs", None);
    let spec = json!({"zones": {"count": 2}, "egress": "None"});
    let managed: ManagedNetwork = serde_json::from_value(spec).unwrap();
    infrastructure.spec.network = Network { managed: Some(managed), existing: None };
    for metadata in [&mut cluster.metadata, &mut infrastructure.metadata] {
        metadata.namespace = Some("team-b".to_owned());
    }
    world.has(&cluster);
    world.has(&infrastructure);
    let is_ready = || network_of(world, "team-b", "theirs").0.starts_with("True");
    world.until("their network is ready", is_ready).await;
    world.server.get("team-b", "theirs").unwrap()
}

fn existing(cluster: &FooCluster) -> Network {
    let status = cluster.status.clone().unwrap().network.unwrap();
    let subnets: Vec<Value> = status.subnets.iter().map(|it| json!({"id": it.id})).collect();
    serde_json::from_value(json!({"existing": {"subnets": subnets}})).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_network_of_another_namespace_is_not_used_unless_the_identity_lists_it() {
    let world = World::empty();
    has_identity(&world, &json!({}));
    let theirs = another_ones_network(&world).await;
    let network = theirs.status.clone().unwrap().network.unwrap();
    let vpc = network.vpc_id.clone();
    let mut ours = objects::foo_cluster();
    ours.spec.identity_ref = Some(objects::identity_reference("prod"));
    ours.spec.network = existing(&theirs);
    world.has(&objects::cluster());
    world.has(&ours);
    world.settles().await;
    let (said, message) = network_of(&world, NS, CLUSTER);
    assert_eq!(said, "False VpcNotAllowed");
    assert!(message.contains(&vpc) && !message.contains("team-b"), "{message}");
    let allow =
        |identity: &mut foo_api::FooClusterIdentity| identity.spec.allowed_vpcs = Some(vec![vpc.clone()]);
    world.server.edit("", "prod", allow).unwrap();
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(network_of(&world, NS, CLUSTER).0, "False SubnetNotAllowed", "nor are its parts");
    let allow = |identity: &mut foo_api::FooClusterIdentity| {
        identity.spec.allowed_subnets =
            Some(network.subnets.iter().map(|subnet| subnet.id.clone()).collect());
        identity.spec.allowed_security_groups = Some(network.security_groups.clone());
    };
    world.server.edit("", "prod", allow).unwrap();
    world.waits(Duration::from_mins(2)).await;
    assert!(network_of(&world, NS, CLUSTER).0.starts_with("True"), "{:?}", network_of(&world, NS, CLUSTER));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_made_in_a_vpc_of_another_namespace_nor_do_rules_name_its_groups() {
    let world = World::empty();
    let theirs = another_ones_network(&world).await.status.unwrap().network.unwrap();
    world.has(&objects::cluster());
    let rule = |id: &str| json!({"node": [{"name": "r", "protocol": "All", "from": {"securityGroup": id}}]});
    for (managed, reason) in [
        (json!({"vpcID": theirs.vpc_id, "cidr": "10.0.128.0/17"}), "False VpcNotAllowed"),
        (json!({"securityGroups": rule(&theirs.security_groups[0])}), "False SecurityGroupNotAllowed"),
    ] {
        let before = world
            .region
            .with(|region| region.describe_network(Kind::Subnet, &Scope::Vpc(theirs.vpc_id.as_str().into())))
            .unwrap();
        let mut ours = objects::foo_cluster();
        ours.spec.network =
            Network { managed: Some(serde_json::from_value(managed).unwrap()), existing: None };
        world.has(&ours);
        world.waits(Duration::from_mins(2)).await;
        assert_eq!(network_of(&world, NS, CLUSTER).0, reason);
        let after = world
            .region
            .with(|region| region.describe_network(Kind::Subnet, &Scope::Vpc(theirs.vpc_id.as_str().into())))
            .unwrap();
        assert_eq!(before.subnets.len(), after.subnets.len());
        world.server.delete::<FooCluster>(NS, &ours.name_any()).unwrap();
        world.waits(Duration::from_mins(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_control_plane_has_no_interfaces_in_subnets_of_another_namespace() {
    let world = World::empty();
    has_identity(&world, &json!({}));
    let theirs = another_ones_network(&world).await.status.unwrap().network.unwrap();
    let subnets: Vec<&str> = theirs.subnets.iter().map(|subnet| subnet.id.as_str()).collect();
    has_control_plane(&world, &json!({ "subnets": subnets }));
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(cluster_ready(&world).0, "False SubnetNotAllowed", "{}", cluster_ready(&world).1);
    assert!(world.region.clusters().is_empty());
}
