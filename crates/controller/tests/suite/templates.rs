//! Bootstrap data and spec become versions of the launch template. What is replaced for it is in `rollouts.rs`.

use crate::support::{NS, Pool, World, objects};
use foo_api::FooMachinePoolSpec;
use foo_api::pool::{
    BandwidthWeighting, Efa, MixedInstances, MixedInstancesOverride, NetworkInterface, RolloutStrategy,
    Volume,
};
use foo_simulator_core::core::document::Document;
use foo_simulator_core::core::group::model::LaunchSource;
use foo_simulator_core::core::network::SECURITY_GROUP;
use serde_json::json;
use std::time::Duration;

/// The version that new instances of the pool launch from.
fn version(pool: &Pool<'_>) -> String {
    match pool.group().unwrap().source {
        LaunchSource::Template(template) => template.version,
        LaunchSource::Mixed(mixed) => mixed.template.version,
    }
}

fn replaced_by_users(spec: &mut FooMachinePoolSpec) {
    spec.rollout.strategy = RolloutStrategy::OnDelete;
}

#[tokio::test(start_paused = true)]
async fn a_changed_secret_gives_a_new_version_and_replaces_nothing() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let before = pool.instances();
    assert_eq!((version(&pool).as_str(), pool.status().up_to_date_replicas), ("1", Some(2)));
    pool.bootstraps_with(b"#cloud-config\n# with a new token");
    world.settles().await;
    assert_eq!(version(&pool), "2");
    assert_eq!(pool.instances(), before);
    assert_eq!(pool.status().up_to_date_replicas, Some(2), "the same Secret, the same spec");
    assert_eq!(pool.status().launch_template.unwrap().version, 2);
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn with_another_secret_the_instances_are_outdated() {
    let world = World::new().await;
    let pool = world.pool("p").with(replaced_by_users).of(2).await;
    let before = pool.instances();
    world.has(&objects::secret("boot-2", b"#cloud-config 2"));
    pool.edits_machine_pool(|pool| {
        pool.spec.template.spec.bootstrap.data_secret_name = Some("boot-2".to_owned());
    });
    world.settles().await;
    assert_eq!((pool.instances(), version(&pool).as_str()), (before, "2"));
    assert_eq!(pool.status().up_to_date_replicas, Some(0));
    pool.scales_to(3);
    world.settles().await;
    assert_eq!(pool.status().up_to_date_replicas, Some(1));
    pool.is_of(3);
}

#[tokio::test(start_paused = true)]
async fn with_another_type_the_instances_are_outdated_and_back_again() {
    let world = World::new().await;
    let pool = world.pool("p").with(replaced_by_users).of(1).await;
    pool.edits(|spec| spec.instance_type = Some("m7i.xlarge".to_owned()));
    world.settles().await;
    assert_eq!(pool.status().up_to_date_replicas, Some(0));
    pool.edits(|spec| spec.instance_type = Some("m7i.large".to_owned()));
    world.settles().await;
    assert_eq!(pool.status().up_to_date_replicas, Some(1));
}

/// What cluster-autoscaler reads before there is any instance.
async fn check_capacity(
    spec: impl FnOnce(&mut foo_api::FooMachinePoolSpec),
    cpu: &str,
    memory: &str,
    gpus: Option<&str>,
) {
    let world = World::new().await;
    world.pool("p").with(spec).of(0).await;
    let raw = world.server.get_raw::<foo_api::FooMachinePool>(NS, "p").unwrap();
    let capacity = &raw["status"]["capacity"];
    assert_eq!((capacity["cpu"].as_str(), capacity["memory"].as_str()), (Some(cpu), Some(memory)));
    assert_eq!(capacity["nvidia.com/gpu"].as_str(), gpus);
    assert!(capacity.as_object().unwrap().values().all(serde_json::Value::is_string), "{capacity}");
    let node = &raw["status"]["nodeInfo"];
    assert_eq!(
        (node["architecture"].as_str(), node["operatingSystem"].as_str()),
        (Some("amd64"), Some("linux"))
    );
    assert!(world.region.instances().is_empty());
}

#[tokio::test(start_paused = true)]
async fn capacity_is_known_before_any_instance_exists() {
    check_capacity(|_| {}, "2", "8192Mi", None).await;
}

#[tokio::test(start_paused = true)]
async fn gpus_are_known_before_any_instance_exists() {
    let spec = |spec: &mut foo_api::FooMachinePoolSpec| spec.instance_type = Some("g5.xlarge".to_owned());
    check_capacity(spec, "4", "16384Mi", Some("1")).await;
}

#[tokio::test(start_paused = true)]
async fn a_mix_offers_the_least_of_its_types() {
    let spec = |spec: &mut foo_api::FooMachinePoolSpec| {
        let types = ["m7i.xlarge", "c7i.large", "r7i.large"];
        let overrides = types.map(MixedInstancesOverride::of_type).into_iter().collect();
        spec.instance_type = None;
        spec.mixed_instances =
            Some(MixedInstances { overrides, on_demand_percentage: 100, ..MixedInstances::default() });
    };
    check_capacity(spec, "2", "4096Mi", None).await;
}

#[tokio::test(start_paused = true)]
async fn types_that_are_chosen_by_their_attributes_offer_what_these_guarantee() {
    let spec = |spec: &mut foo_api::FooMachinePoolSpec| {
        by_attributes(spec, &json!({"vcpuCount": {"min": 3, "max": 8}, "memoryMiB": {"min": 6000}}));
    };
    check_capacity(spec, "3", "6000Mi", None).await;
    let spec = |spec: &mut foo_api::FooMachinePoolSpec| {
        let gpus = json!({
            "vcpuCount": {"min": 4}, "memoryMiB": {"min": 8192},
            "acceleratorCount": {"min": 1}, "acceleratorManufacturers": ["nvidia"],
        });
        by_attributes(spec, &gpus);
    };
    check_capacity(spec, "4", "8192Mi", Some("1")).await;
}

fn by_attributes(spec: &mut FooMachinePoolSpec, requirements: &serde_json::Value) {
    spec.instance_type = None;
    let mixed = json!({"overrides": [{"requirements": requirements}]});
    spec.mixed_instances = Some(serde_json::from_value(mixed).unwrap());
}

/// The provider names no type: AWS chooses among those that have the attributes, and the status shows what it chose. Other attributes
/// concern new instances.
#[tokio::test(start_paused = true)]
async fn aws_launches_types_with_the_attributes_and_others_when_they_change() {
    let world = World::new().await;
    let large = |spec: &mut FooMachinePoolSpec| {
        by_attributes(spec, &json!({"vcpuCount": {"min": 4, "max": 4}, "memoryMiB": {"min": 16384}}));
    };
    let pool = world.pool("p").with(large).of(2).await;
    let chosen = |pool: &Pool<'_>| pool.status().instance_types;
    assert_eq!(chosen(&pool), [("m7i.xlarge".to_owned(), 2)].into());
    assert_eq!(pool.status().instance_type, None);
    let updates = || world.aws.calls("UpdateAutoScalingGroup");
    let before = updates();
    world.waits(Duration::from_mins(30)).await;
    assert_eq!(updates(), before, "what AWS returns is what was requested");
    pool.edits(|spec| {
        by_attributes(spec, &json!({"vcpuCount": {"min": 2, "max": 2}, "memoryMiB": {"min": 8192}}));
    });
    world.settles().await;
    assert_eq!(chosen(&pool), [("m7i.xlarge".to_owned(), 2)].into(), "no instance is replaced");
    pool.scales_to(3);
    world.settles().await;
    let types = chosen(&pool);
    assert_eq!((types.len(), types["m7i.xlarge"], types.values().sum::<i32>()), (2, 2, 3), "{types:?}");
    assert!(world.core.drains().is_empty());
}

/// The status has the type of the spec, and attributes name none.
#[tokio::test(start_paused = true)]
async fn with_attributes_instead_of_a_type_the_status_names_no_type() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    assert_eq!(pool.status().instance_type.as_deref(), Some("m7i.large"));
    pool.edits(|spec| by_attributes(spec, &json!({"vcpuCount": {"min": 2}, "memoryMiB": {"min": 8192}})));
    world.settles().await;
    assert_eq!(pool.status().instance_type, None);
}

#[tokio::test(start_paused = true)]
async fn attributes_that_no_type_has_are_reported_with_the_words_of_aws() {
    let world = World::new().await;
    let huge = |spec: &mut FooMachinePoolSpec| {
        by_attributes(spec, &json!({"vcpuCount": {"min": 4000}, "memoryMiB": {"min": 1}}));
    };
    let pool = world.pool("p").with(huge).begins_with(1);
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(pool.state_of("Ready"), "False InstancesNotLaunched");
    assert!(pool.status().instance_types.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_image_of_another_architecture_than_the_attributes_is_refused() {
    let world = World::new().await;
    let arm = |spec: &mut FooMachinePoolSpec| {
        let requirements =
            json!({"architecture": "arm64", "vcpuCount": {"min": 2}, "memoryMiB": {"min": 4096}});
        by_attributes(spec, &requirements);
    };
    let pool = world.pool("p").with(arm).of(1).await;
    assert_eq!(pool.state_of("Ready"), "False ArchitectureMismatch");
    let message = pool.condition("Ready").message;
    let which = "instance type of mixedInstances.overrides[0].requirements runs arm64";
    assert!(message.contains(which), "{message}");
    assert!(pool.group().is_none());
}

#[tokio::test(start_paused = true)]
async fn capacity_is_known_even_while_the_secret_is_missing() {
    let world = World::new().await;
    let pool = world.pool("p").without_secret(0);
    world.settles().await;
    assert_eq!(pool.status().capacity["cpu"], "2");
}

/// EC2 API Reference, ValidationWarning: a template that will not launch is created nevertheless.
#[tokio::test(start_paused = true)]
async fn a_warning_of_ec2_about_a_template_is_reported_once() {
    let world = World::new().await;
    let greedy = |spec: &mut FooMachinePoolSpec| {
        spec.root_volume = Some(Volume { iops: Some(79_000), size_gib: 8, ..Volume::default() });
    };
    world.pool("p").with(greedy).begins_with(1);
    world.waits(Duration::from_mins(20)).await;
    let events = world.notes("LaunchTemplateWarning");
    let [one] = events.as_slice() else { panic!("{events:?}\n{}", world.summary()) };
    assert!(one.starts_with("EC2 created the launch template and warns: "), "{one}");
    assert!(one.to_lowercase().contains("iops"), "{one}");
    assert_eq!(world.pool("q").of(1).await.instances().len(), 1);
    assert_eq!(world.notes("LaunchTemplateWarning").len(), 1, "nothing of the other");
}

/// A pool of m7i.large is refused for this reason, and launches an instance of another type; what the launch template has then.
async fn launches_with_another_type(world: &World, pool: &Pool<'_>, reason: &str, other: &str) -> Document {
    let refused = || pool.find_condition("LaunchTemplateReady").filter(|it| it.reason == reason);
    world.until("the type has none", || refused().is_some()).await;
    let message = refused().unwrap().message;
    assert!(message.contains("m7i.large does not support"), "{message}");
    pool.edits(|spec| spec.instance_type = Some(other.to_owned()));
    world.settles().await;
    pool.is_of(1);
    newest_data(world)
}

/// What the newest version of the only launch template has.
fn newest_data(world: &World) -> Document {
    let templates = world.region.templates();
    let newest = templates.iter().flat_map(|template| template.versions.values()).next_back().unwrap();
    newest.data.document.clone()
}

#[tokio::test(start_paused = true)]
async fn an_overlay_is_in_the_launch_template_and_its_tags_replace_nothing() {
    let world = World::new().await;
    let overlay = |team: &str| {
        json!({
            "EbsOptimized": true,
            "BlockDeviceMappings": [{"DeviceName": "/dev/xvdb", "NoDevice": ""}],
            "TagSpecifications": [{"ResourceType": "network-interface", "Tags": [{"Key": "team", "Value": team}]}],
        })
    };
    let set = |spec: &mut FooMachinePoolSpec, team: &str| {
        spec.launch_template_overlay = serde_json::from_value(overlay(team)).unwrap();
    };
    let pool = world.pool("p").with(|spec| set(spec, "a")).of(1).await;
    let before = pool.instances();
    let team = || {
        let data = newest_data(&world);
        assert_eq!(data.get_text(&["ebsOptimized"]), Some("true"));
        assert_eq!(data.get_list(&["blockDeviceMappingSet"])[0].get_text(&["noDevice"]), Some(""));
        let tagged = data.get_list(&["tagSpecificationSet"]).iter();
        let of_interfaces = tagged.filter(|it| it.get_text(&["resourceType"]) == Some("network-interface"));
        let values = of_interfaces.flat_map(|it| it.get_list(&["tagSet"])).map(|it| it.get_text(&["value"]));
        values.map(|value| value.unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(team(), ["a"]);
    pool.edits(|spec| set(spec, "b"));
    world.settles().await;
    assert_eq!((team(), pool.instances()), (vec!["b".to_owned()], before));
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn a_pool_with_efa_launches_with_the_interfaces_of_its_type() {
    let world = World::new().await;
    let pool = world.pool("p").with(|spec| {
        spec.instance_type = Some("m7i.large".to_owned());
        spec.efa = Some(Efa::default());
    });
    let pool = pool.begins_with(1);
    let launched = launches_with_another_type(&world, &pool, "EfaNotSupported", "p4d.24xlarge").await;
    let interfaces = launched.get_list(&["networkInterfaceSet"]).len();
    let capacity = pool.status().capacity;
    assert_eq!((interfaces, capacity["vpc.amazonaws.com/efa"].as_str()), (5, "4"));
}

#[tokio::test(start_paused = true)]
async fn a_pool_with_additional_network_interfaces_needs_a_type_that_has_room_for_them() {
    let world = World::new().await;
    let pool = world.pool("p").with(|spec| {
        spec.instance_type = Some("m7i.large".to_owned());
        let security_groups = vec![objects::by_id(SECURITY_GROUP)];
        let with_groups = NetworkInterface { security_groups, ..NetworkInterface::default() };
        spec.network_interfaces =
            vec![with_groups, NetworkInterface { count: 2, ..NetworkInterface::default() }];
    });
    let pool = pool.begins_with(1);
    let reason = "NetworkInterfacesNotSupported";
    let launched = launches_with_another_type(&world, &pool, reason, "m7i.xlarge").await;
    let interfaces = launched.get_list(&["networkInterfaceSet"]).len();
    let standard = pool.status().max_pods.map(|known| known.standard);
    assert_eq!((interfaces, standard), (4, Some(16)), "one of the four is for Pods, with 14 addresses");
    pool.edits(|spec| {
        spec.network_interfaces[0].security_groups = vec![objects::by_id("sg-nowhere")];
    });
    let refused = || pool.find_condition("LaunchTemplateReady").filter(|it| it.status == "False");
    world.until("the security group does not exist", || refused().is_some()).await;
    assert_eq!(refused().unwrap().reason, "SecurityGroupNotFound");
}

#[tokio::test(start_paused = true)]
async fn a_pool_with_a_bandwidth_weighting_needs_a_type_that_offers_it() {
    let world = World::new().await;
    let pool = world.pool("p").with(|spec| {
        spec.instance_type = Some("m7i.large".to_owned());
        spec.bandwidth_weighting = Some(BandwidthWeighting::Vpc1);
    });
    let pool = pool.begins_with(1);
    let reason = "BandwidthWeightingNotSupported";
    let launched = launches_with_another_type(&world, &pool, reason, "m8i.large").await;
    let weighting = launched.get_text(&["networkPerformanceOptions", "bandwidthWeighting"]);
    assert_eq!(weighting, Some("vpc-1"));
}
