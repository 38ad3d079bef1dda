//! Hooks, switched on and off, before a simulated AWS.

use super::*;
use crate::testing::{World, topology_request};
use crate::validation::validate;
use foo_cloud::{Groups as _, Networks as _};
use foo_model::names::TAG_CLUSTER;
use foo_model::network::{Change, LoadBalancerKind, Tags};
use foo_simulator_core::core::catalogue::IMAGE_X86_64;
use foo_simulator_core::core::ec2::workload_volumes::WorkloadVolume;
use foo_simulator_core::core::network::{NewLoadBalancer, PRIVATE_SUBNETS};
use foo_simulator_core::{AccessKey, DEFAULT_REGION, Fault, FaultRule, InstanceProfile};
use serde_json::{Value, json};

/// A request of any of the hooks, with one setting.
fn request<T: serde::de::DeserializeOwned>(setting: &str, change: impl FnOnce(&mut Value)) -> T {
    let subnets: Vec<Value> = PRIVATE_SUBNETS.iter().map(|id| json!({"id": id})).collect();
    let images = json!([{"version": "v1.36.3", "id": IMAGE_X86_64}, {"version": "v1.37.0", "id": "ami-0ffffffffffffffff"}]);
    let mut request = json!({
        "settings": {"identities": "default=own", setting: "true"},
        "fromKubernetesVersion": "v1.36.2", "toKubernetesVersion": "v1.36.3", "kubernetesVersion": "v1.36.3",
        "cluster": {
            "metadata": {"name": "c", "namespace": "n", "annotations": {}},
            "spec": {"topology": {
                "version": "v1.36.3",
                "variables": [
                    {"name": "region", "value": DEFAULT_REGION}, {"name": "subnets", "value": subnets},
                    {"name": "images", "value": images}, {"name": "kubeconfigSecret", "value": "external"},
                    {"name": "instanceProfile", "value": "nodes"},
                ],
                "workers": {"machinePools": [{"class": "on-demand", "name": "workers", "replicas": 3}]},
            }},
        },
    });
    change(&mut request);
    serde_json::from_value(request).unwrap()
}

fn blocked(decision: Result<Decision, Failure>) -> Option<String> {
    match decision.unwrap() {
        Decision::Proceed => None,
        waits @ Decision::RetryIn(..) => Some(format!("{waits:?}")),
    }
}

fn breaks_subnets(request: &mut Value) {
    request["cluster"]["spec"]["topology"]["variables"][1]["value"] =
        json!([{"id": "subnet-0ffffffffffffffff"}]);
}

#[tokio::test]
async fn a_cluster_is_blocked_until_aws_has_what_it_names() {
    let world = World::new();
    let create = async |setting: &str, change: fn(&mut Value)| {
        blocked(before_cluster_create(&world.clouds, &request(setting, change)).await)
    };
    assert_eq!(create("preflight", |_| {}).await, None);
    let why = create("preflight", breaks_subnets).await.unwrap();
    assert!(why.contains("subnet subnet-0ffffffffffffffff in eu-central-1 does not exist"), "{why}");
    assert_eq!(create("leftovers", breaks_subnets).await, None, "it is not switched on");
}

/// IAM knows a profile only if it was created.
fn with_profiles(world: &World, profiles: &[(&str, Option<&str>)]) {
    world.aws.put_key(AccessKey { id: "own".to_owned(), secret: "s".to_owned(), policy: None });
    for (name, role) in profiles {
        let role = role.map(str::to_owned);
        if let Some(name) = &role {
            world.aws.put_role(serde_json::from_value(json!({"name": name})).unwrap());
        }
        world.aws.put_instance_profile(InstanceProfile { name: (*name).to_owned(), role });
    }
}

#[tokio::test]
async fn a_cluster_is_blocked_until_the_instance_profiles_of_its_pools_have_a_role() {
    let world = World::new();
    with_profiles(&world, &[]);
    let own = json!({"overrides": [{"name": "instanceProfile", "value": "gpu"}]});
    let another = json!({"class": "on-demand", "name": "gpu", "replicas": 1, "variables": own});
    let create = async || {
        let two = |request: &mut Value| {
            let pools = &mut request["cluster"]["spec"]["topology"]["workers"]["machinePools"];
            pools.as_array_mut().unwrap().push(another.clone());
        };
        blocked(before_cluster_create(&world.clouds, &request("preflight", two)).await)
    };
    let why = create().await.unwrap();
    let missing =
        "pool gpu: instance profile gpu does not exist; pool workers: instance profile nodes does not exist";
    assert!(why.contains(missing), "{why}");
    with_profiles(&world, &[("nodes", Some("of-nodes")), ("gpu", None)]);
    let why = create().await.unwrap();
    assert!(why.contains("pool gpu: instance profile gpu has no role") && !why.contains("nodes"), "{why}");
    with_profiles(&world, &[("gpu", Some("of-gpus"))]);
    assert_eq!(create().await, None);
    let calls = world.aws.calls("GetInstanceProfile");
    assert_eq!(create().await, None);
    assert_eq!(world.aws.calls("GetInstanceProfile"), calls, "from the cache");
}

#[tokio::test]
async fn a_cluster_is_blocked_until_eks_may_use_the_role_of_its_control_plane() {
    let world = World::new();
    with_profiles(&world, &[("nodes", Some("of-nodes"))]);
    let trusting = |name: &str, services: &[&str]| {
        let role = json!({"name": name, "path": "/teams/a/", "services": services});
        world.aws.put_role(serde_json::from_value(role).unwrap());
    };
    let create = async |version: &str, arn: &str| {
        let on_eks = |request: &mut Value| {
            let topology = &mut request["cluster"]["spec"]["topology"];
            topology["version"] = json!(version);
            let variables = topology["variables"].as_array_mut().unwrap();
            variables.retain(|one| !["images", "kubeconfigSecret"].contains(&one["name"].as_str().unwrap()));
            variables.push(json!({"name": "roleARN", "value": arn}));
        };
        blocked(before_cluster_create(&world.clouds, &request("preflight", on_eks)).await)
    };
    let account = world.aws.cloud(DEFAULT_REGION, "own").account().await.unwrap();
    let arn = format!("arn:aws:iam::{account}:role/teams/a/eks");
    let why = create("v1.35.0", &arn).await.unwrap();
    assert!(why.contains(&format!("the control plane: role {arn} does not exist")), "{why}");
    trusting("eks", &["ec2.amazonaws.com"]);
    let why = create("v1.35.0", &arn).await.unwrap();
    assert!(why.contains(&format!("role {arn} does not trust eks.amazonaws.com")), "{why}");
    trusting("eks", &["ec2.amazonaws.com", "eks.amazonaws.com"]);
    assert_eq!(create("v1.35.0", &arn).await, None, "asked again at once");
    let elsewhere = format!("arn:aws:iam::{account}:role/eks");
    let why = create("v1.35.0", &elsewhere).await.unwrap();
    assert!(why.contains(&format!("role {elsewhere} does not exist")), "{why}");
    let why = create("v1.20.0", &arn).await.unwrap();
    assert!(why.contains("EKS does not offer Kubernetes 1.20"), "new clusters cannot have it: {why}");
    world.aws.add_fault(FaultRule::on("GetRole", Fault::Denied));
    assert_eq!(create("v1.35.0", &elsewhere).await, None, "what is not known blocks nothing");
}

#[tokio::test(start_paused = true)]
async fn profiles_that_iam_does_not_return_block_nothing() {
    for fault in [Fault::Denied, Fault::Throttled, Fault::Unreachable, Fault::Hang] {
        let world = World::new();
        with_profiles(&world, &[]);
        world.aws.add_fault(FaultRule::on("GetInstanceProfile", fault.clone()));
        let create = async |change: fn(&mut Value)| {
            blocked(before_cluster_create(&world.clouds, &request("preflight", change)).await)
        };
        assert_eq!(create(|_| {}).await, None, "{fault:?}");
        let why = create(breaks_subnets).await.unwrap();
        assert!(why.contains("subnet-0ffffffffffffffff"), "{fault:?}: {why}");
    }
}

#[tokio::test]
async fn a_cluster_is_blocked_while_aws_refuses_the_credentials() {
    let world = World::new();
    let rule = FaultRule::on("GetCallerIdentity", Fault::Denied);
    let number = world.aws.add_fault(rule);
    let create = async || blocked(before_cluster_create(&world.clouds, &request("preflight", |_| {})).await);
    let why = create().await.unwrap();
    assert!(why.contains("identity default: "), "{why}");
    world.aws.remove_fault(number);
    assert_eq!(create().await, None);
    world.aws.add_fault(FaultRule::on("GetCallerIdentity", Fault::Unreachable));
    assert_eq!(create().await, None, "an outage of AWS blocks nothing");
}

#[tokio::test]
async fn workers_are_blocked_until_their_image_exists() {
    let world = World::new();
    let upgrade = async |setting: &str, version: &str| {
        let to = |request: &mut Value| request["toKubernetesVersion"] = json!(version);
        blocked(before_workers_upgrade(&world.clouds, &request(setting, to)).await)
    };
    assert_eq!(upgrade("waitForImages", "v1.36.3").await, None);
    let why = upgrade("waitForImages", "v1.37.0").await.unwrap();
    assert!(
        why.contains("pool workers: image ami-0ffffffffffffffff in eu-central-1 does not exist"),
        "{why}"
    );
    let why = upgrade("waitForImages", "v1.38.0").await.unwrap();
    assert!(why.contains("pool workers: variable images has no image for Kubernetes v1.38.0"), "{why}");
    assert_eq!(upgrade("preflight", "v1.38.0").await, None, "it is not switched on");
    let others = world.aws.calls("DescribeSubnets") + world.aws.calls("GetInstanceProfile");
    assert_eq!(others, 0, "nothing but images");
}

/// The hook gets variables only; what the templates look up, ValidateTopology has shown before.
#[tokio::test]
async fn workers_are_blocked_until_the_image_that_they_look_up_exists() {
    let world = World::new();
    let upgrade = async |version: &str| {
        let to = |request: &mut Value| {
            request["toKubernetesVersion"] = json!(version);
            let variables = &mut request["cluster"]["spec"]["topology"]["variables"];
            variables.as_array_mut().unwrap().retain(|one| one["name"] != "images");
        };
        blocked(before_workers_upgrade(&world.clouds, &request("waitForImages", to)).await)
    };
    assert_eq!(upgrade("v1.99.0").await, None, "what was not seen blocks nothing");
    let shown = topology_request(|it| {
        it["settings"]["waitForImages"] = json!("true");
        let spec = &mut it["items"][1]["object"]["spec"]["template"]["spec"];
        spec["ami"] = json!({"recommended": {"family": "AL2023"}});
    });
    validate(&world.clouds, &serde_json::from_value(shown).unwrap()).await.unwrap();
    let why = upgrade("v1.99.0").await.unwrap();
    let parameter =
        "/aws/service/eks/optimized-ami/1.99/amazon-linux-2023/x86_64/standard/recommended/image_id";
    assert!(why.contains(&format!("pool workers: SSM parameter {parameter}: there is no such")), "{why}");
    assert_eq!(upgrade("v1.36.3").await, None);
}

#[test]
fn the_annotation_blocks_workers_if_it_is_switched_on() {
    let pause = |setting: &str, key: &str| {
        let annotated = |request: &mut Value| request["cluster"]["metadata"]["annotations"][key] = json!("");
        blocked(after_control_plane_upgrade(&request(setting, annotated)))
    };
    assert!(pause("pauseWorkers", PAUSE_WORKERS_ANNOTATION).unwrap().contains(PAUSE_WORKERS_ANNOTATION));
    assert_eq!(pause("pauseWorkers", "another"), None);
    assert_eq!(pause("preflight", PAUSE_WORKERS_ANNOTATION), None);
}

/// A Cluster can always be deleted: what is not known blocks nothing.
#[tokio::test]
async fn unknown_resources_block_no_deletion() {
    let world = World::new();
    let delete = async |setting: &str, change: fn(&mut Value)| {
        blocked(before_cluster_delete(&world.clouds, &request(setting, change)).await)
    };
    let annotated: fn(&mut Value) = |request| {
        request["cluster"]["metadata"]["annotations"][WAIT_FOR_LEFTOVERS_ANNOTATION] = json!("");
        breaks_subnets(request);
    };
    assert_eq!(delete("leftovers", annotated).await, None);
    assert_eq!(delete("preflight", annotated).await, None);
}

#[tokio::test]
async fn a_load_balancer_of_the_cluster_blocks_its_deletion_if_it_is_annotated() {
    let world = World::new();
    let balancer = |name: &str, cluster: &str| NewLoadBalancer {
        name: name.to_owned(),
        kind: LoadBalancerKind::Network,
        subnets: [PRIVATE_SUBNETS[0].into()].into(),
        groups: [].into(),
        internet_facing: false,
        deletion_protection: false,
        target_groups: [].into(),
        tags: [(format!("kubernetes.io/cluster/{cluster}"), "owned".to_owned())].into(),
    };
    let region = world.aws.region(DEFAULT_REGION);
    let delete = async |change: fn(&mut Value)| {
        blocked(before_cluster_delete(&world.clouds, &request("leftovers", change)).await)
    };
    let annotated: fn(&mut Value) = |request| {
        request["cluster"]["metadata"]["annotations"][WAIT_FOR_LEFTOVERS_ANNOTATION] = json!("");
    };
    region.put_load_balancer(balancer("foreign", "other")).unwrap();
    assert_eq!(delete(annotated).await, None);
    let arn = region.put_load_balancer(balancer("web", "c")).unwrap();
    let why = delete(annotated).await.unwrap();
    assert!(why.contains("left in AWS: load balancers web; delete their Services"), "{why}");
    assert_eq!(delete(|_| {}).await, None, "no annotation requests to wait");
    let (kind, name) = (LoadBalancerKind::Network, "web".to_owned());
    let cloud = world.aws.cloud(DEFAULT_REGION, "own");
    cloud.change_network(&Change::DeleteLoadBalancer { kind, name, arn: Some(arn) }).await.unwrap();
    assert_eq!(delete(annotated).await, None);
}

/// The FooControlPlane may give the EKS cluster any name; the provider tags the Cluster's groups with it.
#[tokio::test]
async fn leftovers_are_found_by_the_name_at_eks() {
    let world = World::new();
    let region = world.aws.region(DEFAULT_REGION);
    let tags: Tags = [("kubernetes.io/cluster/at-eks".to_owned(), "owned".to_owned())].into();
    let volume = region.put_volume(WorkloadVolume { size_gib: 1, attached: None, tags }).unwrap();
    let delete = async || {
        let annotated = request("leftovers", |request| {
            request["cluster"]["metadata"]["annotations"][WAIT_FOR_LEFTOVERS_ANNOTATION] = json!("");
        });
        blocked(before_cluster_delete(&world.clouds, &annotated).await)
    };
    assert_eq!(delete().await, None, "that name is unknown");
    world.runs("pool", 1).await;
    let why = delete().await.unwrap();
    assert!(why.contains(&format!("volumes {volume}")), "{why}");
}

/// Volumes are found by the cluster's name alone, load balancers in the VPC that has the network's tag.
#[tokio::test]
async fn leftovers_of_a_managed_network_and_volumes_are_found() {
    let world = World::new();
    let (region, cloud) = (world.aws.region(DEFAULT_REGION), world.aws.cloud(DEFAULT_REGION, "own"));
    let owned = |key: &str, value: &str| -> Tags { [(key.to_owned(), value.to_owned())].into() };
    let delete = async || {
        let asked = request("leftovers", |request| {
            request["cluster"]["metadata"]["annotations"][WAIT_FOR_LEFTOVERS_ANNOTATION] = json!("");
            let variables = &mut request["cluster"]["spec"]["topology"]["variables"];
            let variables = variables.as_array_mut().unwrap();
            variables.retain(|variable| variable["name"] != "subnets");
            variables.push(json!({"name": "networkMode", "value": "Managed"}));
        });
        before_cluster_delete(&world.clouds, &asked).await.unwrap()
    };
    assert_eq!(delete().await, Decision::Proceed, "there is no network yet");
    let tags = owned("kubernetes.io/cluster/c", "owned");
    let volume = |attached| WorkloadVolume { size_gib: 1, attached, tags: tags.clone() };
    region.put_volume(volume(Some(("i-1".to_owned(), true)))).unwrap();
    assert_eq!(delete().await, Decision::Proceed, "it is deleted with its instance");
    let volume = region.put_volume(volume(Some(("i-1".to_owned(), false)))).unwrap();
    let left =
        |what: &str| Decision::retry_in(AWS_CHANGES, format!("workloads of the Cluster left in AWS: {what}"));
    let of_volume = format!("volumes {volume}; delete their PersistentVolumeClaims");
    assert_eq!(delete().await, left(&of_volume));

    let create = Change::CreateVpc {
        cidr: "10.8.0.0/16".parse().unwrap(),
        ipv6: false,
        tags: owned(TAG_CLUSTER, "n/c"),
    };
    let vpc = cloud.change_network(&create).await.unwrap().vpcs.into_keys().next().unwrap();
    let create = Change::CreateSubnet {
        vpc,
        zone: "eu-central-1a".into(),
        cidr: "10.8.0.0/24".parse().unwrap(),
        ipv6: None,
        tags: Tags::new(),
    };
    let subnet = cloud.change_network(&create).await.unwrap().subnets.into_keys().next().unwrap();
    let balancer = NewLoadBalancer {
        name: "web".to_owned(),
        kind: LoadBalancerKind::Network,
        subnets: [subnet].into(),
        groups: [].into(),
        internet_facing: false,
        deletion_protection: false,
        target_groups: [].into(),
        tags: tags.clone(),
    };
    region.put_load_balancer(balancer).unwrap();
    let both =
        format!("load balancers web; volumes {volume}; delete their Services and PersistentVolumeClaims");
    assert_eq!(delete().await, left(&both));
    world.aws.add_fault(FaultRule::on("DescribeVolumes", Fault::Denied));
    assert_eq!(delete().await, left("load balancers web; delete their Services"), "one of two results");
}

/// No group has the name of its EKS cluster, but the VPC of its managed network does.
#[tokio::test]
async fn leftovers_of_a_cluster_on_eks_without_pools_are_found_by_the_tags_of_its_network() {
    let world = World::new();
    let (region, cloud) = (world.aws.region(DEFAULT_REGION), world.aws.cloud(DEFAULT_REGION, "own"));
    let delete = async || {
        let asked = request("leftovers", |request| {
            request["cluster"]["metadata"]["annotations"][WAIT_FOR_LEFTOVERS_ANNOTATION] = json!("");
            let variables = &mut request["cluster"]["spec"]["topology"]["variables"];
            let variables = variables.as_array_mut().unwrap();
            variables.retain(|variable| variable["name"] != "subnets");
            variables.push(json!({"name": "networkMode", "value": "Managed"}));
        });
        before_cluster_delete(&world.clouds, &asked).await.unwrap()
    };
    let of_eks: Tags = [("kubernetes.io/cluster/n_c-0badcafe".to_owned(), "owned".to_owned())].into();
    let volume = WorkloadVolume { size_gib: 1, attached: None, tags: of_eks.clone() };
    let volume = region.put_volume(volume).unwrap();
    assert_eq!(delete().await, Decision::Proceed, "nothing shows which cluster it belongs to");
    let create = async |cluster: &str| {
        let mut tags = of_eks.clone();
        tags.insert(TAG_CLUSTER.to_owned(), cluster.to_owned());
        let create = Change::CreateVpc { cidr: "10.8.0.0/16".parse().unwrap(), ipv6: false, tags };
        cloud.change_network(&create).await.unwrap();
    };
    create("n/another").await;
    assert_eq!(delete().await, Decision::Proceed, "the network of another Cluster");
    create("n/c").await;
    let left = format!(
        "workloads of the Cluster left in AWS: volumes {volume}; delete their PersistentVolumeClaims"
    );
    assert_eq!(delete().await, Decision::retry_in(AWS_CHANGES, left));
}

#[tokio::test]
async fn clusters_of_other_providers_are_accepted() {
    let world = World::new();
    let other: fn(&mut Value) = |request| {
        request["cluster"]["spec"]["topology"]["variables"] = json!([{"name": "zone", "value": "a"}]);
    };
    assert_eq!(blocked(before_cluster_create(&world.clouds, &request("preflight", other)).await), None);
    assert_eq!(blocked(before_workers_upgrade(&world.clouds, &request("waitForImages", other)).await), None);
    assert_eq!(blocked(before_cluster_delete(&world.clouds, &request("leftovers", other)).await), None);
    assert_eq!(world.aws.total_calls(), 0);
}
