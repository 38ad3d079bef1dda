//! Clusters come and go, with what EKS makes for them in the network.

use super::scene::{ROLE, World, world, world_with};
use crate::Role;
use crate::core::eks::{EksMishap, MishapOf};
use crate::core::network::{PRIVATE_SUBNETS, SECURITY_GROUP, VPC};
use crate::tests::scene::refusal;
use foo_model::eks::{ClusterStatus, IpFamily};
use foo_model::network::{Change, Interface, Peer, Protocol, Rule, SecurityGroup, Tags};
use foo_model::{SecurityGroupId, SubnetId};
use serde_json::{Value, json};
use std::time::Duration;

/// The interfaces of the control plane of `main`.
fn interfaces(world: &World) -> Vec<Interface> {
    let all = world.with(|region| region.network_now()).interfaces;
    all.into_values().filter(|it| it.description == "Amazon EKS main").collect()
}

/// Create takes minutes; the endpoint is there once the cluster is ACTIVE (EKS API Reference, Cluster).
#[test]
fn a_cluster_is_created_in_minutes_and_has_no_endpoint_before() {
    let world = world();
    let cluster = world.try_create(json!({})).expect("created");
    assert_eq!(cluster.status, ClusterStatus::Creating);
    assert_eq!(cluster.server("eu-central-1"), None);
    world.wait(599);
    assert_eq!(world.main().status, ClusterStatus::Creating);
    world.wait(1);
    let main = world.main();
    let server = main.server("eu-central-1").expect("an endpoint");
    assert_eq!(server.endpoint, format!("https://{}.gr7.eu-central-1.eks.amazonaws.com", main.id));
    assert_eq!(
        main.issuer("eu-central-1"),
        format!("https://oidc.eks.eu-central-1.amazonaws.com/id/{}", main.id)
    );
    assert_eq!((main.version.to_string().as_str(), main.family), ("1.33", IpFamily::Ipv4));
    // The VPC has 10.0.0.0/16.
    assert_eq!(main.service_range.to_string(), "172.20.0.0/16");
}

/// EKS User Guide, "View Amazon EKS security group requirements for clusters".
#[test]
fn eks_makes_a_security_group_and_interfaces_that_pin_the_network() {
    let world = world();
    world.active(json!({}));
    let main = world.main();
    let group: SecurityGroup =
        world.with(|region| region.network_now()).security_groups[&main.security_group].clone();
    assert!(group.name.starts_with("eks-cluster-sg-main-"), "{}", group.name);
    assert_eq!(group.tags["kubernetes.io/cluster/main"], "owned");
    assert_eq!(group.tags["aws:eks:cluster-name"], "main");
    let itself = Peer::Group(group.id.clone());
    for rules in [&group.ingress, &group.egress] {
        assert!(rules.iter().any(|it| it.protocol == Protocol::All && it.peer == itself), "{rules:?}");
    }
    let made = interfaces(&world);
    assert_eq!(made.len(), 3);
    assert!(made.iter().all(|it| it.requester_managed && it.groups.contains(&main.security_group)));
    let subnet = SubnetId::new(PRIVATE_SUBNETS[0]);
    let delete = Change::DeleteSubnet { subnet };
    assert_eq!(refusal(world.with(|region| region.change_network(&delete))).0, "DependencyViolation");
    world.with(|region| region.delete_cluster("main")).expect("deleted");
    world.wait(240);
    assert_eq!(world.0.region.cluster("main"), None);
    assert!(interfaces(&world).is_empty());
    let left = world.with(|region| region.network_now()).security_groups;
    assert!(!left.contains_key(&main.security_group));
}

/// A cluster security group that something else has stays behind.
#[test]
fn the_security_group_stays_while_something_else_has_it() {
    let world = world();
    world.active(json!({}));
    let group = world.main().security_group;
    let new =
        serde_json::from_value(json!({ "subnet": PRIVATE_SUBNETS[0], "groups": [group] })).expect("new");
    world.with(|region| region.put_foreign_interface(new)).expect("made");
    world.with(|region| region.delete_cluster("main")).expect("deleted");
    world.wait(240);
    let left = world.with(|region| region.network_now()).security_groups;
    assert!(left.contains_key::<SecurityGroupId>(&group));
}

/// EC2 does not delete a group that a rule of another group names, so EKS cannot either.
#[test]
fn the_security_group_stays_while_a_rule_of_another_group_names_it() {
    let world = world();
    world.active(json!({}));
    let group = world.main().security_group;
    let vpc = world.with(|region| region.network_now()).security_groups[&group].vpc.clone();
    let (name, description, tags) = ("nodes".to_owned(), "nodes".to_owned(), Tags::new());
    let create = Change::CreateSecurityGroup { vpc, name, description, tags };
    let created = world.with(|region| region.change_network(&create)).expect("created").security_groups;
    let nodes = created.into_keys().next().expect("a group");
    let peer = Peer::Group(group.clone());
    let rules = [Rule { protocol: Protocol::All, peer, description: String::new() }].into();
    let authorize = Change::AuthorizeSecurityGroupIngress { group: nodes, rules };
    world.with(|region| region.change_network(&authorize)).expect("authorized");
    world.with(|region| region.delete_cluster("main")).expect("deleted");
    world.wait(240);
    assert_eq!(world.0.region.cluster("main"), None);
    let left = world.with(|region| region.network_now()).security_groups;
    assert!(left.contains_key::<SecurityGroupId>(&group));
}

#[test]
fn a_region_without_zonal_shift_refuses_the_field() {
    let world = world_with(|settings| settings.eks.zonal_shift = false);
    let create = |fields: Value| world.try_create(fields);
    for enabled in [true, false] {
        let refused = create(json!({ "zonalShiftConfig": { "enabled": enabled } })).expect_err("refused");
        assert_eq!(refused.code, "InvalidParameterException");
    }
    create(json!({})).expect("made");
}

#[test]
fn guardduty_creates_an_endpoint_for_nodes_and_leaves_it_behind() {
    let world = world_with(|settings| settings.guardduty = true);
    world.active(json!({}));
    world.0.settled_pool((1, 1, 1));
    let endpoints = || world.with(|region| region.network_now()).endpoints;
    assert!(endpoints().is_empty(), "an instance that is no node");
    let id = world.0.in_service().remove(0);
    world.with(|region| {
        region.tag_instance(&id, "kubernetes.io/cluster/main", "owned");
        region.guard_instance(&id);
        region.guard_instance(&id);
    });
    let made: Vec<String> = endpoints().into_values().map(|it| it.service).collect();
    assert_eq!(made, ["com.amazonaws.eu-central-1.guardduty-data"]);
    let groups = world.with(|region| region.network_now()).security_groups;
    assert!(groups.values().any(|it| it.name.starts_with("GuardDutyManagedSecurityGroup-vpc-")));
}

/// Everything that EKS refuses, in its words; nothing is created then.
#[test]
fn what_cannot_be_a_cluster_is_refused_with_eks_words() {
    let world = world();
    let subnets = |ids: &[&str]| json!({ "resourcesVpcConfig": { "subnetIds": ids } });
    let table: [(Value, &str, &str); 9] = [
        (json!({ "name": "-a" }), "InvalidParameterException", "cluster name"),
        (json!({ "version": "1.99" }), "InvalidParameterException", "unsupported Kubernetes version"),
        (json!({ "roleArn": "arn:aws:iam::1:role/x" }), "InvalidParameterException", "could not be assumed"),
        (subnets(&PRIVATE_SUBNETS[..1]), "InvalidParameterException", "at least two different AZs"),
        (subnets(&["subnet-1", PRIVATE_SUBNETS[0]]), "InvalidParameterException", "InvalidSubnetID.NotFound"),
        (
            json!({ "resourcesVpcConfig": {
                "subnetIds": PRIVATE_SUBNETS, "endpointPublicAccess": false, "endpointPrivateAccess": false,
            }}),
            "InvalidParameterException",
            "Private and public endpoint access cannot be false",
        ),
        (
            json!({ "resourcesVpcConfig": { "subnetIds": PRIVATE_SUBNETS, "publicAccessCidrs": ["10.1.0.0/16"] }}),
            "InvalidParameterException",
            "invalid in publicAccessCidrs: [10.1.0.0/16]",
        ),
        (
            json!({ "kubernetesNetworkConfig": { "serviceIpv4Cidr": "10.0.0.0/16" } }),
            "InvalidParameterException",
            "overlaps",
        ),
        (
            json!({ "resourcesVpcConfig": { "subnetIds": PRIVATE_SUBNETS, "securityGroupIds": ["sg-1"] }}),
            "InvalidParameterException",
            "InvalidGroup.NotFound",
        ),
    ];
    for (other, code, words) in table {
        let before = world.with(|region| region.network_now());
        let (found, message) = refusal(world.try_create(other.clone()));
        assert_eq!(found, code, "{other}");
        assert!(message.contains(words), "{other}: {message}");
        assert_eq!(world.with(|region| region.network_now()), before, "a refusal makes nothing");
    }
    world.active(json!({}));
    assert_eq!(
        refusal(world.try_create(json!({}))),
        ("ResourceInUseException".into(), "Cluster already exists with name: main".into())
    );
}

#[test]
fn zones_without_control_planes_are_refused() {
    let world = world();
    world.with(|region| region.set_zone_id(&"eu-central-1a".into(), "use1-az3"));
    assert_eq!(refusal(world.try_create(json!({}))).0, "UnsupportedAvailabilityZoneException");
    assert_eq!(world.with(|region| region.valid_zones()), ["eu-central-1b", "eu-central-1c"]);
}

/// "Role … could not be assumed": the role is not there yet, or its trust is another's (hashicorp/terraform-provider-aws).
#[test]
fn a_role_that_was_just_created_or_trusts_another_is_refused() {
    let world = world_with(|settings| settings.eks.roles_appear_after = Duration::from_secs(10));
    let role = |services: &[&str]| {
        serde_json::from_value::<Role>(json!({ "name": "cluster", "services": services })).expect("a role")
    };
    world.0.sim.put_role(role(&["ec2.amazonaws.com"]));
    world.wait(60);
    assert!(refusal(world.try_create(json!({}))).1.contains("could not be assumed"));
    world.0.sim.remove_role("cluster");
    assert!(refusal(world.try_create(json!({}))).1.contains("does not exist"));
    world.0.sim.put_role(role(&["eks.amazonaws.com"]));
    assert!(refusal(world.try_create(json!({}))).1.contains("could not be assumed"));
    world.wait(10);
    world.try_create(json!({ "roleArn": ROLE })).expect("it is known now");
}

/// EKS API Reference, `clientRequestToken`.
#[test]
fn the_same_token_creates_once_and_another_request_with_it_is_refused() {
    let world = world();
    let first = world.try_create(json!({ "clientRequestToken": "t" })).expect("created");
    let second = world.try_create(json!({ "clientRequestToken": "t" })).expect("the same");
    assert_eq!(first.id, second.id);
    let other = world.try_create(json!({ "clientRequestToken": "t", "version": "1.34" }));
    assert_eq!(refusal(other).0, "InvalidParameterException");
}

#[test]
fn a_creation_fails_when_configured_or_no_address_is_free() {
    let world = world();
    let issue = json!({ "code": "AccessDenied", "message": "no" });
    let mishap = json!({ "what": "Creation", "issue": issue });
    let mishap: EksMishap = serde_json::from_value(mishap).expect("a mishap");
    assert_eq!(mishap.what, MishapOf::Creation);
    world.0.region.set_eks_mishaps(vec![mishap]).expect("set");
    world.try_create(json!({ "deletionProtection": true })).expect("begun");
    world.wait(600);
    let main = world.main();
    assert_eq!((main.status, main.health[0].code.as_str()), (ClusterStatus::Failed, "AccessDenied"));
    assert!(world.0.region.eks_mishaps().is_empty());
    world
        .with(|region| region.delete_cluster("main"))
        .expect("a failed one can be deleted, protected or not");
    world.wait(240);
    let full = SubnetId::new(PRIVATE_SUBNETS[1]);
    world.with(|region| region.fill_subnet(&full));
    world.try_create(json!({})).expect("begun");
    assert!(interfaces(&world).is_empty());
    world.wait(600);
    let main = world.main();
    assert_eq!(
        (main.status, main.health[0].code.as_str()),
        (ClusterStatus::Failed, "InsufficientFreeAddresses")
    );
}

#[test]
fn a_cluster_that_is_protected_or_busy_is_not_deleted() {
    let world = world();
    world.try_create(json!({ "deletionProtection": true })).expect("created");
    let delete = || world.with(|region| region.delete_cluster("main"));
    assert_eq!(refusal(delete()).0, "ResourceInUseException");
    world.wait(600);
    assert_eq!(refusal(delete()).0, "InvalidRequestException");
    world.configure(json!({ "deletionProtection": false })).expect("begun");
    assert_eq!(refusal(delete()).0, "ResourceInUseException");
    world.wait(180);
    assert_eq!(delete().expect("deleted").status, ClusterStatus::Deleting);
    assert_eq!(delete().expect("again").status, ClusterStatus::Deleting);
    world.wait(240);
    assert_eq!(refusal(delete()).0, "ResourceNotFoundException");
    // What was still to happen to the old one does not happen to a new one of its name.
    world.try_create(json!({})).expect("created");
    world.wait(599);
    assert_eq!(world.main().status, ClusterStatus::Creating);
}

#[test]
fn a_new_cluster_is_not_found_for_a_while_and_reads_lag() {
    let world = world_with(|settings| settings.eks.clusters_appear_after = Duration::from_secs(5));
    world.try_create(json!({})).expect("created");
    assert_eq!(
        refusal(world.with(|region| region.cluster_seen("main").cloned())).0,
        "ResourceNotFoundException"
    );
    world.wait(5);
    assert!(world.with(|region| region.cluster_seen("main").is_ok()));
    let lagging = world_with(|settings| settings.read_lag = Duration::from_secs(3));
    lagging.active(json!({}));
    let seen = || lagging.with(|region| region.cluster_seen("main").map(|it| it.status)).expect("seen");
    assert_eq!(seen(), ClusterStatus::Creating);
    lagging.wait(3);
    assert_eq!(seen(), ClusterStatus::Active);
}

#[test]
fn a_snapshot_keeps_clusters_and_their_tokens() {
    let world = world();
    world.try_create(json!({ "clientRequestToken": "t" })).expect("created");
    world.0.sim.take_snapshot("before").expect("taken");
    let id = world.main().id;
    world.wait(600);
    world.with(|region| region.delete_cluster("main")).expect("deleted");
    world.0.sim.restore_snapshot("before").expect("restored");
    assert_eq!(world.main().status, ClusterStatus::Creating);
    assert_eq!(world.try_create(json!({ "clientRequestToken": "t" })).expect("the same").id, id);
}

#[test]
fn the_default_security_group_of_the_scene_can_be_given_too() {
    let world = world();
    world.active(json!({ "resourcesVpcConfig": {
        "subnetIds": PRIVATE_SUBNETS, "securityGroupIds": [SECURITY_GROUP],
    }}));
    assert_eq!(world.main().vpc.as_str(), VPC);
    assert!(interfaces(&world).iter().all(|it| it.groups.len() == 2));
}
