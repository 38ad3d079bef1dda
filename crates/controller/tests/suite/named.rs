//! What objects name in AWS: the lists of their identity limit it, and nothing of another namespace's network can be
//! named.

use crate::support::{CLUSTER, NS, World, objects};
use foo_api::capi::Cluster;
use foo_api::cluster::{ManagedNetwork, Network};
use foo_api::in_aws::{Limit, ROWS};
use foo_api::names::CONTROL_PLANE_GROUP;
use foo_api::pool::FooMachinePoolSpec;
use foo_api::{FooCluster, FooControlPlane, FooControlPlaneSpec, FooMachinePool};
use foo_apiserver_fake::Object;
use foo_model::network::{Kind, Scope};
use foo_simulator_core::core::network::{PRIVATE_SUBNETS, PUBLIC_SUBNETS, SECURITY_GROUP, VPC};
use kube::{Resource as _, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// An identity `prod` for all namespaces with these limits.
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
async fn a_list_that_names_what_a_pool_names_allows_it() {
    let world =
        limited(json!({"allowedKeyPairs": ["{namespace}.*"], "allowedSecurityGroups": [SECURITY_GROUP]}))
            .await;
    assert_eq!(network_of(&world, NS, CLUSTER).0, "True NetworkFound");
    let pool = world.pool("p").with(|spec| spec.ssh_key_name = Some(format!("{NS}.key"))).of(1).await;
    pool.is_of(1);
}

/// A FooControlPlane of this namespace with its Cluster and FooCluster, which names the identity `prod`.
fn has_control_plane(world: &World, fields: &Value) {
    has_control_plane_in(world, NS, fields);
}

/// The same in any namespace.
fn has_control_plane_in(world: &World, namespace: &str, fields: &Value) {
    let mut cluster = objects::cluster();
    let mut reference = objects::reference("FooControlPlane", CLUSTER);
    CONTROL_PLANE_GROUP.clone_into(&mut reference.api_group);
    cluster.spec.control_plane_ref = Some(reference);
    let mut infrastructure = objects::foo_cluster();
    infrastructure.spec.identity_ref = Some(objects::identity_reference("prod"));
    let mut eks = json!({"roleARN": "arn:aws:iam::123456789012:role/default/eks"});
    eks.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let spec = json!({"version": "v1.34.0", "eks": eks});
    let spec: FooControlPlaneSpec = serde_json::from_value(spec).unwrap();
    let mut control_plane = objects::placed(FooControlPlane::new(CLUSTER, spec));
    for metadata in [cluster.meta_mut(), infrastructure.meta_mut(), control_plane.meta_mut()] {
        metadata.namespace = Some(namespace.to_owned());
    }
    world.has::<Cluster>(&cluster);
    world.has(&infrastructure);
    world.has(&control_plane);
}

fn cluster_ready(world: &World) -> (String, String) {
    let object: FooControlPlane = world.server.get(NS, CLUSTER).unwrap();
    let conditions = object.status.unwrap_or_default().conditions;
    let ready = conditions.into_iter().find(|condition| condition.type_ == "ClusterReady");
    ready.map_or_else(Default::default, |it| (format!("{} {}", it.status, it.reason), it.message))
}

/// A field that names something in AWS, and what refuses a name that the identity does not list.
struct Named {
    kind: &'static str,
    field: &'static str,
    /// Of the identity.
    limits: Value,
    /// What the object has besides what every object has; `null` leaves a field out.
    spec: Value,
    reason: &'static str,
}

const OTHER_GROUP: &str = "sg-0a00000000000000b";

/// One for each field of each row that has a list.
fn every_field() -> Vec<Named> {
    let cluster = |field, limits, spec, reason| Named { kind: "FooCluster", field, limits, spec, reason };
    let existing = |field, limits, existing: Value, reason| {
        cluster(field, limits, json!({"network": {"existing": existing}}), reason)
    };
    let managed = |field, limits, managed: Value, reason| {
        cluster(field, limits, json!({"network": {"existing": null, "managed": managed}}), reason)
    };
    let pool = |field, limits, spec, reason| Named { kind: "FooMachinePool", field, limits, spec, reason };
    let eks = |field, limits, eks: Value, reason| {
        let spec = json!({ "eks": eks });
        Named { kind: "FooControlPlane", field, limits, spec, reason }
    };
    let rules = || json!([{"name": "r", "protocol": "All", "from": {"securityGroup": OTHER_GROUP}}]);
    let own_subnets = || json!({ "allowedSubnets": PRIVATE_SUBNETS });
    let own_group = || json!({ "allowedSecurityGroups": [SECURITY_GROUP] });
    let roles = || json!({"allowedRoles": ["arn:aws:iam::123456789012:role/{namespace}/*"]});
    let role = "arn:aws:iam::123456789012:role/team-b/pods";
    let hook = || {
        let target = "arn:aws:sqs:eu-central-1:123456789012:team-b_waits";
        json!({"lifecycleHooks": [
            {"name": "h", "transition": "Launching", "notificationTargetARN": target, "roleARN": role},
        ]})
    };
    let keys = || json!({"allowedKMSKeys": ["alias/{namespace}"]});
    let volume = || json!({"sizeGiB": 10, "type": "gp3", "encrypted": true, "kmsKeyID": "alias/team-b"});
    let bucket = |prefix: Value| {
        let s3 = json!({"bucket": "data-team-b", "prefix": prefix});
        json!({"iamInstanceProfile": "default.nodes", "userDataStorage": {"s3": s3}})
    };
    let buckets = || json!({"allowedBuckets": ["data-{namespace}"]});
    let capacity = || json!({"allowedCapacity": ["{namespace}", "cr-a*", "arn:aws:resource-groups:*"]});
    let group = "arn:aws:resource-groups-of-b";
    let no_capacity = "CapacityNotAllowed";
    let (no_vpc, no_subnet, no_group) = ("VpcNotAllowed", "SubnetNotAllowed", "SecurityGroupNotAllowed");
    vec![
        cluster(
            "spec.region",
            json!({"allowedRegions": ["eu-central-1"]}),
            json!({"region": "us-east-1"}),
            "IdentityNotAllowed",
        ),
        existing(
            "spec.network.existing.vpcID",
            json!({"allowedVPCs": ["vpc-1"]}),
            json!({"vpcID": VPC}),
            no_vpc,
        ),
        managed(
            "spec.network.managed.vpcID",
            json!({"allowedVPCs": ["vpc-1"]}),
            json!({"vpcID": VPC, "cidr": "10.0.128.0/17"}),
            no_vpc,
        ),
        existing(
            "spec.network.existing.subnets[].id",
            own_subnets(),
            json!({"subnets": [{"id": PUBLIC_SUBNETS[0]}]}),
            no_subnet,
        ),
        existing(
            "spec.network.existing.subnets[].tags{}",
            own_subnets(),
            json!({"subnets": [{"tags": {"Name": "sim-public-a"}}]}),
            no_subnet,
        ),
        existing(
            "spec.network.existing.securityGroups[].id",
            own_group(),
            json!({"securityGroups": [{"id": OTHER_GROUP}]}),
            no_group,
        ),
        existing(
            "spec.network.existing.securityGroups[].tags{}",
            own_group(),
            json!({"securityGroups": [{"tags": {"team": "b"}}]}),
            no_group,
        ),
        managed(
            "spec.network.managed.securityGroups.additional[].rules[].from.securityGroup",
            own_group(),
            json!({"securityGroups": {"additional": [{"name": "more", "rules": rules()}]}}),
            no_group,
        ),
        managed(
            "spec.network.managed.securityGroups.controlPlane[].from.securityGroup",
            own_group(),
            json!({"securityGroups": {"controlPlane": rules()}}),
            no_group,
        ),
        managed(
            "spec.network.managed.securityGroups.node[].from.securityGroup",
            own_group(),
            json!({"securityGroups": {"node": rules()}}),
            no_group,
        ),
        eks("spec.eks.name", json!({}), json!({"name": "team-b_c"}), "ControlPlaneNameNotAllowed"),
        eks("spec.eks.subnets[]", own_subnets(), json!({"subnets": PUBLIC_SUBNETS}), no_subnet),
        eks("spec.eks.securityGroups[]", own_group(), json!({"securityGroups": [OTHER_GROUP]}), no_group),
        eks("spec.eks.roleARN", roles(), json!({"roleARN": role}), "RoleNotAllowed"),
        eks(
            "spec.eks.addons[].serviceAccountRoleARN",
            roles(),
            json!({"addons": [{"name": "a", "serviceAccountRoleARN": role}]}),
            "RoleNotAllowed",
        ),
        eks(
            "spec.eks.addons[].podIdentities[].roleARN",
            roles(),
            json!({"addons": [{"name": "a", "podIdentities": [{"serviceAccount": "b", "roleARN": role}]}]}),
            "RoleNotAllowed",
        ),
        eks(
            "spec.eks.podIdentityAssociations[].roleARN",
            roles(),
            json!({"podIdentityAssociations": [{"namespace": "a", "serviceAccount": "b", "roleARN": role}]}),
            "RoleNotAllowed",
        ),
        eks(
            "spec.eks.encryption.kmsKeyARN",
            keys(),
            json!({"encryption": {"kmsKeyARN": "arn:aws:kms:eu-central-1:123456789012:key/1"}}),
            "KmsKeyNotAllowed",
        ),
        // That of the FooCluster is listed, another one that the pool names is not.
        pool(
            "spec.securityGroups[].id",
            own_group(),
            json!({"securityGroups": [{"id": OTHER_GROUP}]}),
            no_group,
        ),
        pool(
            "spec.securityGroups[].tags{}",
            own_group(),
            json!({"securityGroups": [{"tags": {"team": "b"}}]}),
            no_group,
        ),
        pool(
            "spec.networkInterfaces[].securityGroups[].id",
            own_group(),
            json!({"networkInterfaces": [{"securityGroups": [{"id": OTHER_GROUP}]}]}),
            no_group,
        ),
        pool(
            "spec.networkInterfaces[].securityGroups[].tags{}",
            own_group(),
            json!({"networkInterfaces": [{"securityGroups": [{"tags": {"team": "b"}}]}]}),
            no_group,
        ),
        pool(
            "spec.iamInstanceProfile",
            json!({"allowedInstanceProfiles": ["{namespace}.*"]}),
            json!({"iamInstanceProfile": "team-b.nodes"}),
            "InstanceProfileNotAllowed",
        ),
        pool("spec.rootVolume.kmsKeyID", keys(), json!({ "rootVolume": volume() }), "KmsKeyNotAllowed"),
        pool(
            "spec.volumes[].kmsKeyID",
            keys(),
            json!({"volumes": [{
                "deviceName": "/dev/sdf", "sizeGiB": 10, "type": "gp3", "encrypted": true, "kmsKeyID": "alias/team-b",
            }]}),
            "KmsKeyNotAllowed",
        ),
        pool(
            "spec.sshKeyName",
            json!({"allowedKeyPairs": ["{namespace}.*"]}),
            json!({"sshKeyName": "team-b.key"}),
            "KeyPairNotAllowed",
        ),
        pool(
            "spec.targetGroups[]",
            json!({"allowedTargetGroups": ["arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/{namespace}/*"]}),
            json!({"targetGroups": ["arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/team-b/1"]}),
            "TargetGroupNotAllowed",
        ),
        pool(
            "spec.classicLoadBalancers[]",
            json!({"allowedTargetGroups": ["web-{namespace}"]}),
            json!({"classicLoadBalancers": ["web-team-b"]}),
            "TargetGroupNotAllowed",
        ),
        pool(
            "spec.vpcLatticeTargetGroups[]",
            json!({"allowedTargetGroups": ["arn:aws:vpc-lattice:eu-central-1:123456789012:targetgroup/tg-0a"]}),
            json!({"vpcLatticeTargetGroups": ["arn:aws:vpc-lattice:eu-central-1:123456789012:targetgroup/tg-0b"]}),
            "TargetGroupNotAllowed",
        ),
        pool(
            "spec.lifecycleHooks[].notificationTargetARN",
            json!({"allowedNotificationTargets": ["arn:aws:sqs:eu-central-1:123456789012:{namespace}_*"]}),
            hook(),
            "NotificationTargetNotAllowed",
        ),
        pool(
            "spec.notifications[].topicARN",
            json!({"allowedNotificationTargets": ["arn:aws:sns:eu-central-1:123456789012:{namespace}_*"]}),
            json!({"notifications": [
                {"topicARN": "arn:aws:sns:eu-central-1:123456789012:team-b_ops", "types": ["Launch"]},
            ]}),
            "NotificationTargetNotAllowed",
        ),
        pool("spec.lifecycleHooks[].roleARN", roles(), hook(), "RoleNotAllowed"),
        pool("spec.userDataStorage.s3.bucket", buckets(), bucket(Value::Null), "BucketNotAllowed"),
        pool(
            "spec.placement.groupName",
            capacity(),
            json!({"placement": {"groupName": "team-b"}}),
            no_capacity,
        ),
        pool("spec.placement.groupID", capacity(), json!({"placement": {"groupID": "pg-1"}}), no_capacity),
        pool(
            "spec.placement.hostResourceGroupARN",
            capacity(),
            json!({"placement": {"hostResourceGroupARN": group}}),
            no_capacity,
        ),
        pool(
            "spec.capacityReservation.block.id",
            capacity(),
            json!({"capacityReservation": {"block": {"id": "cr-1"}}}),
            no_capacity,
        ),
        pool(
            "spec.capacityReservation.id",
            capacity(),
            json!({"capacityReservation": {"id": "cr-1"}}),
            no_capacity,
        ),
        pool(
            "spec.capacityReservation.resourceGroupARN",
            capacity(),
            json!({"capacityReservation": {"resourceGroupARN": group}}),
            no_capacity,
        ),
        pool(
            "spec.licenseConfigurations[]",
            capacity(),
            json!({"licenseConfigurations": ["arn:aws:resource-groups:1", "arn:aws:license-manager:1"]}),
            no_capacity,
        ),
        pool(
            "spec.launchTemplateOverlay.SecondaryInterfaces[].SecondarySubnetId",
            own_subnets(),
            json!({"launchTemplateOverlay": {"SecondaryInterfaces": [{"SecondarySubnetId": "ss-1"}]}}),
            no_subnet,
        ),
        pool(
            "spec.volumes[].snapshotID",
            json!({"allowedSnapshots": ["snap-1"]}),
            json!({"volumes": [{"deviceName": "/dev/sdf", "sizeGiB": 10, "type": "gp3", "snapshotID": "snap-2"}]}),
            "SnapshotNotAllowed",
        ),
        // Whatever the prefix in a bucket.
        pool("spec.userDataStorage.s3.prefix", buckets(), bucket(json!("default/")), "BucketNotAllowed"),
    ]
}

/// Fields that name something within what another field names, which has the list.
const WITHIN: [(&str, &str, &str); 6] = [
    ("FooMachinePool", "spec.subnets[].id", "of the FooCluster's subnets (SubnetOutsideCluster)"),
    ("FooMachinePool", "spec.subnets[].tags{}", "of the FooCluster's subnets"),
    ("FooCluster", "spec.network.managed.zones.names[]", "zones of the region"),
    ("FooCluster", "spec.network.managed.subnets.list[].zone", "zones of the region"),
    ("FooControlPlane", "spec.eks.addons[].name", "add-ons of the cluster"),
    ("FooNodeConfig", "spec.cluster.name", "text of the user data: EKS lets nodes in by their role"),
];

/// A row or a field that is new is missing here.
#[test]
fn every_field_with_a_list_has_a_case() {
    let listed: BTreeSet<(&str, &str)> = ROWS
        .iter()
        .filter(|row| matches!(row.limit, Limit::Listed { .. }))
        .flat_map(|row| row.fields.iter().copied())
        .filter(|(kind, _)| *kind != "FooClusterIdentity")
        .collect();
    let cases = every_field();
    let cases =
        cases.iter().map(|it| (it.kind, it.field)).chain(WITHIN.map(|(kind, field, _)| (kind, field)));
    let mut seen = BTreeSet::new();
    for case in cases {
        assert!(seen.insert(case), "twice: {case:?}");
    }
    assert_eq!(seen, listed);
}

/// RFC 7396.
fn merge(base: &mut Value, patch: &Value) {
    let Some(fields) = patch.as_object() else {
        base.clone_from(patch);
        return;
    };
    if !base.is_object() {
        *base = json!({});
    }
    for (name, field) in fields {
        if field.is_null() {
            base.as_object_mut().unwrap().remove(name);
        } else {
            merge(&mut base[name], field);
        }
    }
}

fn merged<T: Serialize + DeserializeOwned>(spec: &T, patch: &Value) -> T {
    let mut spec = serde_json::to_value(spec).unwrap();
    merge(&mut spec, patch);
    serde_json::from_value(spec).unwrap()
}

/// Conditions of an object that are not true.
fn complaints<K: Object>(world: &World, name: &str) -> Vec<(String, String)> {
    let object = world.server.get_raw::<K>(NS, name).unwrap();
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let text = |it: &Value, field: &str| it[field].as_str().unwrap().to_owned();
    let complains = |it: &&Value| it["status"] == "False";
    conditions.iter().filter(complains).map(|it| (text(it, "reason"), text(it, "message"))).collect()
}

#[tokio::test(start_paused = true)]
async fn resources_that_the_identity_does_not_list_are_not_used() {
    for Named { kind, field, limits, spec, reason } in every_field() {
        let world = World::empty();
        let group = json!({
            "id": OTHER_GROUP, "name": "b", "description": "", "vpc": VPC, "tags": {"team": "b"},
        });
        world.region.put_security_group(serde_json::from_value(group).unwrap()).unwrap();
        has_identity(&world, &limits);
        world.forgets();
        let reported = if kind == "FooControlPlane" {
            has_control_plane(&world, &spec["eks"]);
            world.waits(Duration::from_mins(5)).await;
            complaints::<FooControlPlane>(&world, CLUSTER)
        } else {
            world.has(&objects::cluster());
            let mut cluster = objects::foo_cluster();
            cluster.spec.identity_ref = Some(objects::identity_reference("prod"));
            if kind == "FooCluster" {
                cluster.spec = merged(&cluster.spec, &spec);
            }
            world.has(&cluster);
            world.settles().await;
            if kind == "FooCluster" {
                complaints::<FooCluster>(&world, CLUSTER)
            } else {
                let edit = |it: &mut FooMachinePoolSpec| *it = merged(it, &spec);
                let pool = world.pool("p").with(edit).of(1).await;
                assert_eq!(pool.instances().len(), 0, "{field}");
                complaints::<FooMachinePool>(&world, "p")
            }
        };
        assert!(reported.iter().any(|it| it.0 == reason), "{kind} {field}: not {reason}, but {reported:?}");
        assert!(world.region.clusters().is_empty(), "{field}");
        assert_eq!(world.aws_writes(), 0, "{kind} {field}");
    }
}

/// A FooCluster of another namespace with a network that the provider created.
async fn another_ones_network(world: &World) -> FooCluster {
    let (mut cluster, mut infrastructure) = objects::another_cluster("foreign", None);
    let spec = json!({"zones": {"count": 2}, "egress": "None"});
    let managed: ManagedNetwork = serde_json::from_value(spec).unwrap();
    infrastructure.spec.network = Network { managed: Some(managed), existing: None };
    for metadata in [&mut cluster.metadata, &mut infrastructure.metadata] {
        metadata.namespace = Some("team-b".to_owned());
    }
    world.has(&cluster);
    world.has(&infrastructure);
    let is_ready = || network_of(world, "team-b", "foreign").0.starts_with("True");
    world.until("their network is ready", is_ready).await;
    world.server.get("team-b", "foreign").unwrap()
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
    let foreign = another_ones_network(&world).await;
    let network = foreign.status.clone().unwrap().network.unwrap();
    let vpc = network.vpc_id.clone();
    let mut own = objects::foo_cluster();
    own.spec.identity_ref = Some(objects::identity_reference("prod"));
    own.spec.network = existing(&foreign);
    world.has(&objects::cluster());
    world.has(&own);
    world.settles().await;
    let (reported, message) = network_of(&world, NS, CLUSTER);
    assert_eq!(reported, "False VpcNotAllowed");
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
async fn nothing_is_created_in_a_vpc_of_another_namespace_nor_do_rules_name_its_groups() {
    let world = World::empty();
    let foreign = another_ones_network(&world).await.status.unwrap().network.unwrap();
    world.has(&objects::cluster());
    let rule = |id: &str| json!({"node": [{"name": "r", "protocol": "All", "from": {"securityGroup": id}}]});
    for (managed, reason) in [
        (json!({"vpcID": foreign.vpc_id, "cidr": "10.0.128.0/17"}), "False VpcNotAllowed"),
        (json!({"securityGroups": rule(&foreign.security_groups[0])}), "False SecurityGroupNotAllowed"),
    ] {
        let before = world
            .region
            .with(|region| region.describe_network(Kind::Subnet, &Scope::Vpc(foreign.vpc_id.as_str().into())))
            .unwrap();
        let mut own = objects::foo_cluster();
        own.spec.network =
            Network { managed: Some(serde_json::from_value(managed).unwrap()), existing: None };
        world.has(&own);
        world.waits(Duration::from_mins(2)).await;
        assert_eq!(network_of(&world, NS, CLUSTER).0, reason);
        let after = world
            .region
            .with(|region| region.describe_network(Kind::Subnet, &Scope::Vpc(foreign.vpc_id.as_str().into())))
            .unwrap();
        assert_eq!(before.subnets.len(), after.subnets.len());
        world.server.delete::<FooCluster>(NS, &own.name_any()).unwrap();
        world.waits(Duration::from_mins(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_control_plane_has_no_interfaces_in_subnets_of_another_namespace() {
    let world = World::empty();
    has_identity(&world, &json!({}));
    let foreign = another_ones_network(&world).await.status.unwrap().network.unwrap();
    let subnets: Vec<&str> = foreign.subnets.iter().map(|subnet| subnet.id.as_str()).collect();
    has_control_plane(&world, &json!({ "subnets": subnets }));
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(cluster_ready(&world).0, "False SubnetNotAllowed", "{}", cluster_ready(&world).1);
    assert!(world.region.clusters().is_empty());
}

/// EKS creates it and lets everything in that is in it: the nodes and the control plane of another namespace's cluster.
#[tokio::test(start_paused = true)]
async fn the_security_group_of_an_eks_cluster_of_another_namespace_is_not_used_unless_the_identity_lists_it()
{
    let world = limited(json!({})).await;
    has_control_plane_in(&world, "team-b", &json!({"roleARN": "arn:aws:iam::123456789012:role/team-b/eks"}));
    let shown = || {
        let object: FooControlPlane = world.server.get("team-b", CLUSTER)?;
        object.status?.eks?.cluster_security_group
    };
    world.until("their cluster has its security group", || shown().is_some()).await;
    let group = shown().unwrap();
    let pool = world.pool("p").with(|spec| spec.security_groups = vec![objects::by_id(&group)]).of(1).await;
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False SecurityGroupNotAllowed", "{}", world.summary());
    let message = pool.condition("LaunchTemplateReady").message;
    assert!(message.contains(&group) && !message.contains("team-b"), "{message}");
    assert_eq!(pool.instances().len(), 0);
    let allow = |identity: &mut foo_api::FooClusterIdentity| {
        identity.spec.allowed_security_groups = Some(vec![group.clone(), SECURITY_GROUP.to_owned()]);
    };
    world.server.edit("", "prod", allow).unwrap();
    world.waits(Duration::from_mins(5)).await;
    pool.is_of(1);
}

/// Its VPC is shared, so that the pool could launch there: by its own fields, since its FooCluster names none of it.
#[tokio::test(start_paused = true)]
async fn a_pool_names_no_part_of_a_network_of_another_namespace_in_a_shared_vpc() {
    let world = limited(json!({})).await;
    let (mut cluster, mut infrastructure) = objects::another_cluster("foreign", None);
    let managed = json!({"vpcID": VPC, "cidr": "10.0.192.0/18", "zones": {"count": 2}, "egress": "None"});
    infrastructure.spec.network =
        Network { managed: Some(serde_json::from_value(managed).unwrap()), existing: None };
    for metadata in [&mut cluster.metadata, &mut infrastructure.metadata] {
        metadata.namespace = Some("team-b".to_owned());
    }
    world.has(&cluster);
    world.has(&infrastructure);
    let reported = || network_of(&world, "team-b", "foreign").0;
    world.until("their network is ready", || reported().starts_with("True")).await;
    let foreign: FooCluster = world.server.get("team-b", "foreign").unwrap();
    let network = foreign.status.unwrap().network.unwrap();
    let group = &network.security_groups[0];
    let pool = world.pool("p").with(|spec| spec.security_groups = vec![objects::by_id(group)]).of(1).await;
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False SecurityGroupNotAllowed", "{}", world.summary());
    assert_eq!(pool.instances().len(), 0);
}

/// Its FooCluster was allowed to use the network once; its status still has it.
#[tokio::test(start_paused = true)]
async fn a_pool_stops_launching_into_a_network_that_its_identity_no_longer_lists() {
    let world = World::empty();
    let foreign = another_ones_network(&world).await;
    let network = foreign.status.clone().unwrap().network.unwrap();
    let subnets: Vec<&str> = network.subnets.iter().map(|subnet| subnet.id.as_str()).collect();
    let lists = json!({
        "allowedVPCs": [network.vpc_id], "allowedSubnets": subnets, "allowedSecurityGroups": network.security_groups,
    });
    has_identity(&world, &lists);
    let mut own = objects::foo_cluster();
    own.spec.identity_ref = Some(objects::identity_reference("prod"));
    own.spec.network = existing(&foreign);
    world.has(&objects::cluster());
    world.has(&own);
    world.settles().await;
    let pool = world.pool("p").of(1).await;
    pool.is_of(1);
    let withdraw = |identity: &mut foo_api::FooClusterIdentity| {
        identity.spec.allowed_vpcs = None;
        identity.spec.allowed_subnets = None;
        identity.spec.allowed_security_groups = None;
    };
    world.server.edit("", "prod", withdraw).unwrap();
    world.waits(Duration::from_mins(5)).await;
    let reported = complaints::<FooMachinePool>(&world, "p");
    assert!(reported.iter().any(|it| it.0 == "SubnetNotAllowed"), "{reported:?}");
    assert_eq!(pool.instances().len(), 1, "what runs continues");
}
