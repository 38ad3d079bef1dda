//! Topologies before a simulated AWS, and an AWS that does not respond.

use super::*;
use crate::testing::{World, topology_request};
use crate::validation;
use foo_cloud::Networks as _;
use foo_model::network::Change;
use foo_simulator_core::core::catalogue::{IMAGE_ARM64, IMAGE_X86_64};
use foo_simulator_core::core::mishaps::QuotaClass;
use foo_simulator_core::core::network::{PRIVATE_SUBNETS, PUBLIC_SUBNETS};
use foo_simulator_core::{DEFAULT_REGION, Fault, FaultRule};
use serde_json::{Value, json};

/// What is reported of a topology whose one pool was changed.
async fn validate(world: &World, change: impl FnOnce(&mut Value)) -> Result<(), String> {
    let request = topology_request(change);
    validation::validate(&world.clouds, &serde_json::from_value(request).unwrap())
        .await
        .map_err(|failure| failure.message().to_owned())
}

fn pool(request: &mut Value) -> &mut Value {
    &mut request["items"][1]["object"]["spec"]["template"]["spec"]
}

fn cluster(request: &mut Value) -> &mut Value {
    &mut request["items"][0]["object"]["spec"]["template"]["spec"]
}

#[tokio::test]
async fn existing_resources_are_accepted_and_read_once() {
    let world = World::new();
    assert_eq!(validate(&world, |_| {}).await, Ok(()));
    let calls = world.aws.total_calls();
    assert!(calls > 0);
    assert_eq!(validate(&world, |_| {}).await, Ok(()));
    assert_eq!(world.aws.total_calls(), calls, "from the cache");
}

#[tokio::test]
async fn missing_resources_are_named() {
    let world = World::new();
    let region = "eu-central-1";
    let unknown = validate(&world, |it| pool(it)["instanceType"] = json!("m99.large")).await;
    assert_eq!(unknown, Err(format!("pool workers: instance type m99.large in {region} does not exist")));
    let unknown = validate(&world, |it| pool(it)["ami"]["id"] = json!("ami-0ffffffffffffffff")).await;
    assert_eq!(unknown, Err(format!("pool workers: image ami-0ffffffffffffffff in {region} does not exist")));
    let unknown = validate(&world, |it| {
        cluster(it)["network"]["existing"]["subnets"][0]["id"] = json!("subnet-0ffffffffffffffff");
    })
    .await;
    assert_eq!(unknown, Err(format!("subnet subnet-0ffffffffffffffff in {region} does not exist")));
    let unknown = validate(&world, |it| {
        cluster(it)["network"]["existing"]["subnets"] = json!([{"tags": {"role": "none"}}]);
    })
    .await;
    assert_eq!(unknown, Err(format!("a subnet with the tags role=none in {region} does not exist")));
}

#[tokio::test]
async fn images_fit_types_and_subnets_are_the_clusters() {
    let world = World::new();
    let arm = validate(&world, |it| pool(it)["ami"]["id"] = json!(IMAGE_ARM64)).await.unwrap_err();
    assert_eq!(
        arm,
        format!("pool workers: image {IMAGE_ARM64} is for arm64, instance type m7i.large is x86_64")
    );
    let mixed = validate(&world, |it| {
        let types = json!([{"instanceType": "m7i.large"}, {"instanceType": "m7g.large"}]);
        *pool(it) = json!({"mixedInstances": {"overrides": types}, "ami": {"id": IMAGE_X86_64}});
    });
    assert!(mixed.await.unwrap_err().ends_with("is for x86_64, instance type m7g.large is arm64"));
    let public = validate(&world, |it| pool(it)["subnets"] = json!([{"id": PUBLIC_SUBNETS[0]}])).await;
    assert_eq!(
        public,
        Err(format!("pool workers: subnet {} is not one of the cluster's", PUBLIC_SUBNETS[0]))
    );
    let other =
        validate(&world, |it| cluster(it)["network"]["existing"]["vpcID"] = json!("vpc-0fffffffffffffff0"))
            .await
            .unwrap_err();
    assert!(other.contains("not in vpc-0fffffffffffffff0"), "{other}");
}

#[tokio::test]
async fn each_of_two_architectures_has_its_image() {
    let world = World::new();
    let of = |types: &Value, ami: &Value| {
        let spec = json!({"mixedInstances": {"overrides": types}, "ami": ami});
        move |it: &mut Value| *pool(it) = spec.clone()
    };
    let ids = |x86_64: &str, arm64: &str| json!({"ids": {"x86_64": x86_64, "arm64": arm64}});
    let set = |architecture: &str| {
        let few = json!({"architecture": architecture, "vcpuCount": {"min": 2}, "memoryMiB": {"min": 4096}});
        json!({ "requirements": few })
    };
    let named = json!([{"instanceType": "m7i.large"}, {"instanceType": "m7g.large"}]);
    for types in [&named, &json!([set("x86_64"), set("arm64")])] {
        for ami in [ids(IMAGE_X86_64, IMAGE_ARM64), json!({"recommended": {"family": "AL2023"}})] {
            assert_eq!(validate(&world, of(types, &ami)).await, Ok(()), "{types} {ami}");
        }
    }
    let swapped = validate(&world, of(&named, &ids(IMAGE_ARM64, IMAGE_X86_64))).await.unwrap_err();
    for (image, has, name, runs) in
        [(IMAGE_ARM64, "arm64", "m7i.large", "x86_64"), (IMAGE_X86_64, "x86_64", "m7g.large", "arm64")]
    {
        let expected = format!("image {image} is for {has}, instance type {name} is {runs}");
        assert!(swapped.contains(&expected), "{swapped}");
    }
}

#[tokio::test]
async fn replicas_that_find_no_addresses_are_refused() {
    let world = World::new();
    let replicas =
        |it: &mut Value| it["items"][1]["variables"][0]["value"]["machinePool"]["replicas"] = json!(100_000);
    let refused = validate(&world, replicas).await.unwrap_err();
    let subnets = PRIVATE_SUBNETS.join(", ");
    assert_eq!(
        refused,
        format!(
            "pool workers: too few free addresses in {subnets} for 100001 instances, those of a roll-out included"
        )
    );
}

#[tokio::test]
async fn a_missing_image_of_the_requested_version_is_reported() {
    let world = World::new();
    let images = |it: &mut Value| {
        let images = json!([{"version": "v1.36.3", "id": IMAGE_X86_64}]);
        it["variables"].as_array_mut().unwrap().push(json!({"name": "images", "value": images}));
        it["variables"][0]["value"]["cluster"]["topology"]["version"] = json!("v1.37.0");
    };
    let missing = "pool workers: variable images has no image for Kubernetes v1.37.0".to_owned();
    assert_eq!(validate(&world, images).await, Err(missing));
    let waiting = |it: &mut Value| {
        images(it);
        it["settings"]["waitForImages"] = json!("true");
    };
    assert_eq!(validate(&world, waiting).await, Ok(()), "the hook waits for it");
}

/// A topology whose network the provider creates.
fn managed(network: Value) -> impl FnOnce(&mut Value) {
    move |it| cluster(it)["network"] = json!({"managed": network})
}

#[tokio::test]
async fn a_managed_network_that_cannot_be_is_refused_before_it_is_created() {
    let world = World::new();
    assert_eq!(validate(&world, managed(json!({}))).await, Ok(()));
    for (network, expected) in [
        (json!({"cidr": "8.8.0.0/16"}), "8.8.0.0/16 is a public range"),
        (
            json!({"cidr": "10.0.0.0/16", "secondaryCIDRs": ["10.0.1.0/24"]}),
            "10.0.0.0/16 and 10.0.1.0/24 overlap",
        ),
        (json!({"cidr": "10.0.0.0/24", "subnets": {"sizes": {"private": 25}}}), "in 1 of 3 zones"),
        (
            json!({"zones": {"names": ["eu-central-1z"]}}),
            "region eu-central-1 has no Availability Zone eu-central-1z",
        ),
        (json!({"zones": {"count": 6}}), "region eu-central-1 has fewer than 6 Availability Zones"),
    ] {
        let refused = validate(&world, managed(network)).await.unwrap_err();
        assert!(refused.starts_with("the managed network: ") && refused.contains(expected), "{refused}");
    }
    let isolated = validate(&world, |it| {
        managed(json!({"endpoints": [{"name": "S3"}]}))(it);
        cluster(it)["region"] = json!("us-iso-east-1");
    });
    assert!(isolated.await.unwrap_err().contains("endpoints in region us-iso-east-1 are not known"));
}

/// A network that has been begun has its share: only new ones are measured.
#[tokio::test]
async fn quotas_are_for_managed_networks_that_are_new() {
    let world = World::new();
    let cloud = world.aws.cloud(DEFAULT_REGION, "own");
    let create = async |cluster: &str| {
        let tags = [(TAG_CLUSTER.to_owned(), cluster.to_owned())].into();
        let cidr = "10.8.0.0/16".parse().unwrap();
        cloud.change_network(&Change::CreateVpc { cidr, ipv6: false, tags }).await
    };
    let full = "the managed network: the quota of 5 VPCs in eu-central-1 leaves no room for 1 more";
    for _ in 0..4 {
        create("n/other").await.unwrap();
    }
    assert_eq!(validate(&world, managed(json!({}))).await, Err(full.to_owned()));
    let in_existing_vpc = managed(json!({"vpcID": "vpc-0123", "cidr": "10.0.0.0/16"}));
    assert_eq!(validate(&world, in_existing_vpc).await, Ok(()), "it needs no VPC");
    let world_of_addresses = World::new();
    let elsewhere = world_of_addresses.aws.cloud(DEFAULT_REGION, "own");
    for _ in 0..3 {
        elsewhere.change_network(&Change::AllocateAddress { tags: [].into() }).await.unwrap();
    }
    let addresses = validate(&world_of_addresses, managed(json!({}))).await.unwrap_err();
    assert_eq!(
        addresses,
        "the managed network: the quota of 5 Elastic IP addresses in eu-central-1 leaves no room for 3 more"
    );
    let one = managed(json!({"nat": "Single"}));
    assert_eq!(validate(&world_of_addresses, one).await, Ok(()), "one NAT gateway has room");
}

#[tokio::test]
async fn a_managed_network_that_was_begun_is_not_measured_again() {
    let world = World::new();
    let cloud = world.aws.cloud(DEFAULT_REGION, "own");
    for cluster in ["n/c", "n/other", "n/other", "n/other"] {
        let tags = [(TAG_CLUSTER.to_owned(), cluster.to_owned())].into();
        let cidr = "10.8.0.0/16".parse().unwrap();
        cloud.change_network(&Change::CreateVpc { cidr, ipv6: false, tags }).await.unwrap();
    }
    assert_eq!(validate(&world, managed(json!({}))).await, Ok(()));
    let calls = world.aws.total_calls();
    assert_eq!(validate(&world, managed(json!({}))).await, Ok(()));
    assert_eq!(world.aws.total_calls(), calls, "it is remembered");
}

#[tokio::test]
async fn zones_and_quotas_of_networks_are_read_once_for_all_clusters() {
    let world = World::new();
    let named = |name: &'static str| {
        move |it: &mut Value| {
            managed(json!({}))(it);
            it["variables"][0]["value"]["cluster"]["name"] = json!(name);
        }
    };
    let (a, b) = tokio::join!(validate(&world, named("a")), validate(&world, named("b")));
    assert_eq!((a, b), (Ok(()), Ok(())));
    assert_eq!(world.aws.calls("DescribeAvailabilityZones"), 1);
    let (quotas, calls) = (world.aws.calls("GetServiceQuota"), world.aws.total_calls());
    assert_eq!(validate(&world, named("a")).await, Ok(()));
    assert_eq!(world.aws.total_calls(), calls + 1, "only whether it has begun");
    assert_eq!((quotas, world.aws.calls("GetServiceQuota")), (5, 5), "four of networks, one of vCPUs");
}

#[tokio::test(start_paused = true)]
async fn a_network_is_new_again_an_hour_after_it_was_seen() {
    let world = World::new();
    let cloud = world.aws.cloud(DEFAULT_REGION, "own");
    let mut made = Vec::new();
    for cluster in ["n/c", "n/other", "n/other", "n/other"] {
        let tags = [(TAG_CLUSTER.to_owned(), cluster.to_owned())].into();
        let cidr = "10.8.0.0/16".parse().unwrap();
        let parts = cloud.change_network(&Change::CreateVpc { cidr, ipv6: false, tags }).await.unwrap();
        made.extend(parts.vpcs.into_keys());
    }
    assert_eq!(validate(&world, managed(json!({}))).await, Ok(()));
    cloud.change_network(&Change::DeleteVpc { vpc: made[0].clone() }).await.unwrap();
    let tags = [(TAG_CLUSTER.to_owned(), "n/other".to_owned())].into();
    let cidr = "10.8.0.0/16".parse().unwrap();
    cloud.change_network(&Change::CreateVpc { cidr, ipv6: false, tags }).await.unwrap();
    tokio::time::advance(Duration::from_mins(61)).await;
    let refused = validate(&world, managed(json!({}))).await.unwrap_err();
    assert!(refused.contains("the quota of 5 VPCs"), "{refused}");
}

#[tokio::test]
async fn pools_together_keep_within_the_quota_of_vcpus() {
    let world = World::new();
    let region = world.aws.region(DEFAULT_REGION);
    region.set_vcpu_quota(QuotaClass::Standard, Some(5)).unwrap();
    region.set_vcpu_quota(QuotaClass::SpotStandard, Some(6)).unwrap();
    let refused = "pool workers: 6 vCPUs are requested, and the account's quota L-1216C47A \
                   (Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances) is 5";
    assert_eq!(validate(&world, |_| {}).await, Err(refused.to_owned()));
    assert_eq!(validate(&world, |it| pool(it)["spot"] = json!({})).await, Ok(()), "three of 2 vCPUs each");
    let mixed = |percentage: u32| {
        move |it: &mut Value| {
            let types = json!([{"instanceType": "m7i.xlarge"}, {"instanceType": "m7i.large"}]);
            let mixed = json!({"overrides": types, "onDemandBase": 1, "onDemandPercentage": percentage});
            *pool(it) = json!({"mixedInstances": mixed, "ami": {"id": IMAGE_X86_64}});
        }
    };
    assert_eq!(validate(&world, mixed(50)).await, Ok(()), "two on demand, of the smaller type");
    assert_eq!(validate(&world, mixed(100)).await, Err(refused.to_owned()));
    let denied = World::new();
    denied.aws.region(DEFAULT_REGION).set_vcpu_quota(QuotaClass::Standard, Some(5)).unwrap();
    denied.aws.add_fault(FaultRule::on("GetServiceQuota", Fault::Denied));
    assert_eq!(validate(&denied, |_| {}).await, Ok(()), "an account without the permission is not refused");
    assert_eq!(world.aws.calls("GetServiceQuota"), 2, "each quota is asked for once");
}

/// The pool `workers` is `c-workers` in AWS; beside it there is a new pool, `new`.
fn beside(spec: Value) -> impl FnOnce(&mut Value) {
    move |it| {
        let mut new = it["items"][1].clone();
        it["items"][1]["variables"][0]["value"]["machinePool"]["infrastructureRef"] =
            json!({"name": "c-workers"});
        new["object"]["spec"]["template"]["spec"] = spec;
        new["variables"][0]["value"]["machinePool"] = json!({
            "topologyName": "new", "replicas": 1, "version": "v1.36.3", "infrastructureRef": {"name": "c-new"},
        });
        it["items"].as_array_mut().unwrap().push(new);
    }
}

#[tokio::test]
async fn a_pool_that_shrinks_makes_no_room_in_the_quota_of_another_family() {
    let world = World::new();
    world.runs("c-workers", 5).await;
    world.aws.region(DEFAULT_REGION).set_vcpu_quota(QuotaClass::SpotStandard, Some(0)).unwrap();
    let new = json!({"instanceType": "m7i.large", "spot": {}, "ami": {"id": IMAGE_X86_64}});
    let refused = validate(&world, beside(new)).await.unwrap_err();
    assert!(
        refused.starts_with("pool new: 2 vCPUs are requested, and the account's quota L-34B43A08"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_growing_pool_causes_no_finding_of_others() {
    let world = World::new();
    world.runs("c-workers", 3).await;
    world.aws.region(DEFAULT_REGION).set_vcpu_quota(QuotaClass::Standard, Some(5)).unwrap();
    let spot = json!({"instanceType": "m7i.large", "spot": {}, "ami": {"id": IMAGE_X86_64}});
    assert_eq!(validate(&world, beside(spot)).await, Ok(()));
    let on_demand = json!({"instanceType": "m7i.large", "ami": {"id": IMAGE_X86_64}});
    let refused = validate(&world, beside(on_demand)).await.unwrap_err();
    assert!(refused.starts_with("pools new, workers: 8 vCPUs are requested"), "{refused}");
}

/// A cluster must not stand still because AWS does.
#[tokio::test(start_paused = true)]
async fn without_a_response_of_aws_nothing_is_refused() {
    for fault in [Fault::Hang, Fault::Throttled, Fault::Denied, Fault::Unreachable] {
        let world = World::new();
        for action in ["DescribeImages", "DescribeInstanceTypes", "DescribeSubnets"] {
            world.aws.add_fault(FaultRule::on(action, fault.clone()));
        }
        let began = tokio::time::Instant::now();
        assert_eq!(
            validate(&world, |it| pool(it)["instanceType"] = json!("m99.large")).await,
            Ok(()),
            "{fault:?}"
        );
        assert!(began.elapsed() <= DEADLINE, "{fault:?}: {:?}", began.elapsed());
    }
}

/// What AWS does return counts, whatever else gets no response.
#[tokio::test]
async fn a_partial_response_still_refuses() {
    let world = World::new();
    world.aws.add_fault(FaultRule::on("DescribeSubnets", Fault::Denied));
    let refused = validate(&world, |it| pool(it)["instanceType"] = json!("m99.large")).await;
    assert!(refused.unwrap_err().contains("m99.large"));
}

/// One operation that hangs does not use up the time of the others.
#[tokio::test(start_paused = true)]
async fn each_operation_that_hangs_leaves_the_others_their_time() {
    type Change = fn(&mut Value);
    let subnet = |it: &mut Value| {
        cluster(it)["network"]["existing"]["subnets"][0]["id"] = json!("subnet-0ffffffffffffffff");
    };
    let image = |it: &mut Value| pool(it)["ami"]["id"] = json!("ami-0ffffffffffffffff");
    let cases: [(&str, Change, &str); 3] = [
        ("DescribeImages", subnet, "subnet-0ffffffffffffffff"),
        ("DescribeInstanceTypes", subnet, "subnet-0ffffffffffffffff"),
        ("DescribeSubnets", image, "ami-0ffffffffffffffff"),
    ];
    for (hanging, change, expected) in cases {
        let world = World::new();
        world.aws.add_fault(FaultRule::on(hanging, Fault::Hang));
        let began = tokio::time::Instant::now();
        let refused = validate(&world, change).await.unwrap_err();
        assert!(refused.contains(expected), "{hanging}: {refused}");
        assert!(began.elapsed() < Duration::from_secs(2), "{hanging}: {:?}", began.elapsed());
        let (began, calls) = (tokio::time::Instant::now(), world.aws.calls(hanging));
        validate(&world, change).await.unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(1), "{hanging}: {:?}", began.elapsed());
        assert_eq!(world.aws.calls(hanging), calls, "{hanging}: not asked again at once");
    }
}

/// Service Quotas without a route to it: the call hangs, and what was found before stays found.
#[tokio::test(start_paused = true)]
async fn quotas_without_a_response_hide_no_finding_and_are_not_read_again_at_once() {
    let world = World::new();
    world.aws.add_fault(FaultRule::on("GetServiceQuota", Fault::Hang));
    let missing = |it: &mut Value| pool(it)["ami"]["id"] = json!("ami-0ffffffffffffffff");
    for network in [None, Some(json!({"zones": {"names": ["eu-central-1z"]}}))] {
        let change = |it: &mut Value| {
            missing(it);
            if let Some(network) = &network {
                managed(network.clone())(it);
            }
        };
        let began = tokio::time::Instant::now();
        let refused = validate(&world, change).await.unwrap_err();
        assert!(refused.contains("image ami-0ffffffffffffffff"), "{refused}");
        assert_eq!(refused.contains("no Availability Zone eu-central-1z"), network.is_some(), "{refused}");
        assert!(began.elapsed() < DEADLINE, "{:?}", began.elapsed());
        let (began, calls) = (tokio::time::Instant::now(), world.aws.calls("GetServiceQuota"));
        validate(&world, change).await.unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
        assert_eq!(world.aws.calls("GetServiceQuota"), calls);
    }
}

/// The deadline of all together may pass: only what got no response by then is not known.
#[tokio::test(start_paused = true)]
async fn findings_before_the_deadline_count() {
    let world = World::new();
    world.aws.region(DEFAULT_REGION).set_vcpu_quota(QuotaClass::Standard, Some(5)).unwrap();
    world.aws.add_fault(FaultRule::on("DescribeAutoScalingGroups", Fault::Hang));
    let began = tokio::time::Instant::now();
    let refused = validate(&world, |it| pool(it)["ami"]["id"] = json!("ami-0ffffffffffffffff")).await;
    let expected = "pool workers: image ami-0ffffffffffffffff in eu-central-1 does not exist";
    assert_eq!(refused, Err(expected.to_owned()), "whether the pool grows is not known");
    assert!(began.elapsed() >= DEADLINE, "{:?}", began.elapsed());
}

#[tokio::test]
async fn settings_decide_whether_aws_is_called_and_what_follows() {
    for (key, value, expected) in
        [("checks", "Off", 0), ("identities", "team-a=own", 0), ("checks", "Warn", 1)]
    {
        let world = World::new();
        let wrong = |it: &mut Value| {
            pool(it)["instanceType"] = json!("m99.large");
            it["settings"][key] = json!(value);
        };
        assert_eq!(validate(&world, wrong).await, Ok(()), "{key}={value}");
        assert_eq!(world.aws.calls("DescribeInstanceTypes"), expected, "{key}={value}");
    }
    let world = World::new();
    let unknown = validate(&world, |it| it["settings"]["cheks"] = json!("Off")).await.unwrap_err();
    assert!(unknown.contains("unknown field `cheks`"), "{unknown}");
}

#[tokio::test]
async fn topologies_of_other_providers_are_ignored() {
    let world = World::new();
    let other = validate(&world, |it| {
        it["items"][0]["object"]["apiVersion"] = json!("infrastructure.example.com/v1");
        pool(it)["instanceType"] = json!(7);
    });
    assert_eq!(other.await, Ok(()));
    let unreadable = validate(&world, |it| pool(it)["instanceType"] = json!(7)).await.unwrap_err();
    assert!(unreadable.starts_with("FooMachinePoolTemplate pool cannot be read: "), "{unreadable}");
}

#[test]
fn regions_that_would_be_another_host_are_not_called() {
    assert!(is_region("eu-central-1"));
    for bad in ["", "eu.example.com", "EU", "a/b", "a@b"] {
        assert!(!is_region(bad), "{bad}");
    }
}

/// The control plane is on EKS, with a change; the Cluster is to reach a version.
async fn validate_on_eks(
    world: &World,
    version: &str,
    change: impl FnOnce(&mut Value),
) -> Result<(), String> {
    validate(world, |it| {
        let spec = json!({"version": version, "eks": {"roleARN": "arn:aws:iam::123456789012:role/eks"}});
        let template = json!({
            "apiVersion": "controlplane.foo.com/v1alpha1", "kind": "FooControlPlaneTemplate",
            "metadata": {"name": "c", "namespace": "n"}, "spec": {"template": {"spec": spec}},
        });
        it["items"].as_array_mut().unwrap().push(json!({"holderReference": {}, "object": template}));
        it["variables"][0]["value"]["cluster"]["topology"]["version"] = json!(version);
        change(it);
    })
    .await
}

#[tokio::test]
async fn a_control_plane_on_eks_has_a_version_that_eks_offers() {
    let world = World::new();
    assert_eq!(validate_on_eks(&world, "v1.35.0", |_| {}).await, Ok(()));
    let why = validate_on_eks(&world, "v1.99.1", |_| {}).await.unwrap_err();
    assert!(why.starts_with("EKS does not offer Kubernetes 1.99 in eu-central-1; it offers 1."), "{why}");
    let old = validate_on_eks(&world, "v1.20.0", |_| {}).await;
    assert_eq!(old, Ok(()), "clusters that run what EKS does not offer any more can still be changed");
    let another = World::new();
    another.aws.add_fault(FaultRule::on("DescribeClusterVersions", Fault::Denied));
    assert_eq!(
        validate_on_eks(&another, "v1.99.1", |_| {}).await,
        Ok(()),
        "what is not known refuses nothing"
    );
}

#[tokio::test]
async fn a_control_plane_on_eks_has_subnets_in_two_zones() {
    const WHY: &str = "the control plane: EKS needs subnets in two zones, and ";
    let world = World::new();
    let existing = |it: &mut Value, ids: &[&str]| {
        let subnets: Vec<Value> = ids.iter().map(|id| json!({"id": id})).collect();
        cluster(it)["network"]["existing"]["subnets"] = json!(subnets);
    };
    let own = |it: &mut Value, ids: &[&str]| {
        it["items"][2]["object"]["spec"]["template"]["spec"]["eks"]["subnets"] = json!(ids);
    };
    let (one_zone, two_zones) =
        ([PRIVATE_SUBNETS[0], PUBLIC_SUBNETS[0]], [PRIVATE_SUBNETS[0], PRIVATE_SUBNETS[1]]);
    let in_one = format!("{WHY}all of its subnets are in eu-central-1a");
    let why = validate_on_eks(&world, "v1.35.0", |it| existing(it, &one_zone)).await;
    assert_eq!(why, Err(in_one.clone()));
    assert_eq!(validate_on_eks(&world, "v1.35.0", |it| existing(it, &two_zones)).await, Ok(()));
    assert_eq!(validate_on_eks(&world, "v1.35.0", |it| own(it, &one_zone)).await, Err(in_one.clone()));
    let mixed = |it: &mut Value| {
        existing(it, &one_zone);
        own(it, &two_zones);
    };
    assert_eq!(validate_on_eks(&world, "v1.35.0", mixed).await, Ok(()), "its own take precedence");
    let why =
        validate_on_eks(&world, "v1.35.0", |it| own(it, &["subnet-0ffffffffffffffff"])).await.unwrap_err();
    assert_eq!(why, "the control plane: subnet subnet-0ffffffffffffffff in eu-central-1 does not exist");
    // Without EKS one zone is enough.
    assert_eq!(validate(&world, |it| existing(it, &one_zone)).await, Ok(()));
    for (managed, expected) in [
        (json!({}), Ok(())),
        (json!({"zones": {"count": 1}}), Err(format!("{WHY}the managed network has one zone"))),
        (json!({"zones": {"names": ["eu-central-1a"]}}), Err(in_one)),
    ] {
        let network = |it: &mut Value| cluster(it)["network"] = json!({"managed": managed.clone()});
        assert_eq!(validate_on_eks(&world, "v1.35.0", network).await, expected, "{managed}");
    }
}

/// The parameter of the image that is recommended for a minor version.
fn recommended_for(minor: &str) -> String {
    let name = format!(
        "/aws/service/eks/optimized-ami/{minor}/amazon-linux-2023/x86_64/standard/recommended/image_id"
    );
    format!("SSM parameter {name}")
}

fn recommended(request: &mut Value) {
    pool(request)["ami"] = json!({"recommended": {"family": "AL2023"}});
}

fn reaches(request: &mut Value, version: &str) {
    request["variables"][0]["value"]["cluster"]["topology"]["version"] = json!(version);
}

#[tokio::test]
async fn images_that_pools_look_up_exist_for_the_version_that_they_are_to_reach() {
    let world = World::new();
    assert_eq!(validate(&world, recommended).await, Ok(()));
    let arm = |it: &mut Value| {
        recommended(it);
        pool(it)["instanceType"] = json!("m7g.large");
    };
    assert_eq!(validate(&world, arm).await, Ok(()), "it is looked up for the architecture of the types");
    let next = |it: &mut Value| {
        recommended(it);
        reaches(it, "v1.99.0");
    };
    let none = format!("pool workers: {}: there is no such parameter", recommended_for("1.99"));
    assert_eq!(validate(&world, next).await, Err(none));
    let waits = |it: &mut Value| {
        next(it);
        it["settings"]["waitForImages"] = json!("true");
    };
    assert_eq!(validate(&world, waits).await, Ok(()), "the hook waits for it");
    let lookup = |it: &mut Value| {
        pool(it)["ami"] = json!({"lookup": {"owner": "self", "name": "node-{version}-*"}});
        reaches(it, "v1.37.0");
    };
    let why = validate(&world, lookup).await.unwrap_err();
    let newest = "newest image of owner self with name \"node-1.37-*\" for x86_64: there is none";
    assert!(why.contains(newest), "{why}");
}

#[tokio::test]
async fn a_running_pool_has_its_image_whatever_a_lookup_returns() {
    let world = World::new();
    let has = |it: &mut Value| {
        recommended(it);
        reaches(it, "v1.99.0");
        let builtin = &mut it["items"][1]["variables"][0]["value"]["machinePool"];
        builtin["version"] = json!("v1.99.0");
        builtin["infrastructureRef"] = json!({"name": "c-workers-1"});
    };
    let none = format!("pool workers: {}: there is no such parameter", recommended_for("1.99"));
    assert_eq!(validate(&world, has).await, Err(none.clone()), "it is new");
    world.runs("c-others-1", 1).await;
    assert_eq!(validate(&world, has).await, Err(none), "another pool runs");
    world.runs("c-workers-1", 1).await;
    assert_eq!(validate(&world, has).await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn lookups_without_a_response_refuse_nothing() {
    for fault in [Fault::Denied, Fault::Throttled, Fault::Unreachable, Fault::Hang] {
        let world = World::new();
        world.aws.add_fault(FaultRule::on("GetParameter", fault.clone()));
        let next = |it: &mut Value| {
            recommended(it);
            reaches(it, "v1.99.0");
        };
        assert_eq!(validate(&world, next).await, Ok(()), "{fault:?}");
        let both = |it: &mut Value| {
            next(it);
            cluster(it)["network"]["existing"]["subnets"][0]["id"] = json!("subnet-0ffffffffffffffff");
        };
        let why = validate(&world, both).await.unwrap_err();
        assert!(why.contains("subnet-0ffffffffffffffff"), "{fault:?}: {why}");
    }
}
