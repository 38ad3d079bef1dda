//! Images that the provider looks up: found, recorded, kept or followed, and what happens if a lookup fails.

use crate::plans::as_json;
use crate::support::{CLUSTER, MANAGER, NS, Pool, World, objects};
use foo_api::names::CLUSTER_NAME_LABEL;
use foo_api::pool::{
    Ami, ImageFamily, ImageIds, ImageLookup, ImagePolicy, MixedInstances, MixedInstancesOverride,
    RecommendedImage,
};
use foo_api::{FooMachinePool, FooMachinePoolSpec};
use foo_apiserver_fake::Fault as ApiFault;
use foo_model::names::IMAGE_ANNOTATION;
use foo_simulator_core::core::catalogue::{
    Boot, IMAGE_ARM64, IMAGE_ARM64_NEWER, IMAGE_X86_64, IMAGE_X86_64_NEWER,
};
use foo_simulator_core::core::group::model::LaunchSource;
use foo_simulator_core::{Fault, FaultRule};
use kube::ResourceExt;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A parameter of the user's.
const PARAMETER: &str = "/images/node";
/// Longer than an idle pool takes to see another image.
const A_WHILE: Duration = Duration::from_mins(25);

fn parameter(name: &str, policy: ImagePolicy) -> impl FnOnce(&mut FooMachinePoolSpec) {
    let ami = Ami { ssm_parameter: Some(name.to_owned()), policy: Some(policy), ..Ami::default() };
    move |spec| spec.ami = ami
}

fn recommended(spec: &mut FooMachinePoolSpec, family: ImageFamily) {
    let recommended = RecommendedImage { family, variant: None };
    spec.ami = Ami { recommended: Some(recommended), ..Ami::default() };
}

fn publish(world: &World, name: &str, image: &str) {
    world.region.publish_parameter(name, image).unwrap();
}

impl Pool<'_> {
    /// The image of all its instances; panics if they have several.
    fn image(&self, world: &World) -> String {
        let instances = self.instances();
        let images: BTreeSet<String> = instances
            .iter()
            .filter_map(|id| world.region.instance(id))
            .map(|it| it.image.to_string())
            .collect();
        assert_eq!(images.len(), 1, "{images:?}");
        images.into_iter().next().unwrap()
    }

    /// The images of its instances, by their types.
    pub(crate) fn booted(&self, world: &World) -> BTreeMap<String, BTreeSet<String>> {
        let mut images: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for instance in self.instances().iter().filter_map(|id| world.region.instance(id)) {
            images.entry(instance.instance_type.to_string()).or_default().insert(instance.image.to_string());
        }
        images
    }

    /// The record in the annotation.
    fn annotation(&self) -> Option<String> {
        self.object().annotations().get(IMAGE_ANNOTATION).cloned()
    }

    fn runs(&self, version: &str) {
        self.edits_machine_pool(|pool| pool.spec.template.spec.version = Some(version.to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_recommended_image_is_found_and_recorded() {
    let world = World::new().await;
    let path = "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id";
    publish(&world, path, IMAGE_X86_64_NEWER);
    let pool = world.pool("p").with(|spec| recommended(spec, ImageFamily::Al2023)).of(2).await;
    pool.is_of(2);
    assert_eq!(pool.image(&world), IMAGE_X86_64_NEWER);
    let image = pool.status().image.unwrap();
    assert_eq!((image.id.as_str(), image.version.as_deref()), (IMAGE_X86_64_NEWER, Some("v1.36.3")));
    assert_eq!(image.source, format!("SSM parameter {path}"));
    let reported = format!("image {IMAGE_X86_64_NEWER} from SSM parameter {path}");
    assert_eq!(world.notes("ImageResolved"), [reported]);
}

/// The user data of a new pool is written once its MachinePool exists; a plan needs none, whatever reads it.
#[tokio::test(start_paused = true)]
async fn a_plan_of_a_new_pool_with_a_recommended_image_has_its_launches() {
    let world = World::new().await;
    publish(
        &world,
        "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id",
        IMAGE_X86_64,
    );
    publish(&world, "/aws/service/bottlerocket/aws-k8s-1.36/x86_64/latest/image_id", IMAGE_X86_64);
    world.pool("other").of(1).await;
    for family in [ImageFamily::Al2023, ImageFamily::Bottlerocket] {
        let mut spec = objects::pool_spec();
        recommended(&mut spec, family);
        let mut pool = objects::foo_machine_pool("new", spec);
        pool.labels_mut().insert(CLUSTER_NAME_LABEL.to_owned(), CLUSTER.to_owned());
        let mut machine_pool = as_json(&objects::machine_pool("new", 2));
        machine_pool["spec"]["template"]["spec"]["bootstrap"] =
            json!({"configRef": {"apiGroup": "bootstrap.foo.com", "kind": "FooNodeConfig", "name": "new"}});
        let plan = world.plans(vec![as_json(&pool), machine_pool]).await.pool.unwrap();
        assert_eq!(plan.launches, 2, "{plan:#?}");
        assert!(plan.remaining.is_empty() && plan.notes.len() == 2, "{plan:#?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_image_of_instances_with_gpus_has_their_drivers() {
    let world = World::new().await;
    publish(&world, "/aws/service/bottlerocket/aws-k8s-1.36/x86_64/latest/image_id", IMAGE_X86_64);
    let path = "/aws/service/bottlerocket/aws-k8s-1.36-nvidia/x86_64/latest/image_id";
    publish(&world, path, IMAGE_X86_64_NEWER);
    let gpus = |spec: &mut FooMachinePoolSpec| {
        spec.instance_type = Some("g5.xlarge".to_owned());
        recommended(spec, ImageFamily::Bottlerocket);
    };
    let pool = world.pool("p").with(gpus).of(1).await;
    assert_eq!(pool.image(&world), IMAGE_X86_64_NEWER);
    assert!(pool.status().image.unwrap().source.contains("-nvidia"));
}

#[tokio::test(start_paused = true)]
async fn the_newest_image_of_an_owner_fits_the_instance_types() {
    let world = World::new().await;
    let newest = |spec: &mut FooMachinePoolSpec| {
        spec.instance_type = Some("m7g.large".to_owned());
        let lookup =
            ImageLookup { owner: "self".to_owned(), name: "foo-node-*".to_owned(), architecture: None };
        spec.ami = Ami { lookup: Some(lookup), ..Ami::default() };
    };
    world.region.set_image_available(IMAGE_ARM64_NEWER, false).unwrap();
    let pool = world.pool("p").with(newest).of(1).await;
    assert_eq!(pool.image(&world), IMAGE_ARM64);
    assert_eq!(
        pool.status().image.unwrap().source,
        "newest image of owner self with name \"foo-node-*\" for arm64"
    );
}

#[tokio::test(start_paused = true)]
async fn a_new_pool_waits_for_its_image_and_names_what_is_missing() {
    let world = World::new().await;
    let pool = world.pool("p").with(parameter("/images/{version}/{arch}", ImagePolicy::Pinned)).of(2).await;
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False ImageNotFound");
    assert_eq!(pool.state_of("Ready"), "False ImageNotFound");
    let reported = "SSM parameter /images/1.36/x86_64: there is no such parameter";
    assert_eq!(pool.condition("Ready").message, reported);
    assert!(pool.group().is_none());
    let version = world.server.resource_version();
    world.forgets();
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(world.server.resource_version(), version, "status churn");
    assert!(world.aws.calls("GetParameter") <= 11, "{:?}", world.aws.call_counts());
    publish(&world, "/images/1.36/x86_64", IMAGE_X86_64);
    world.waits(Duration::from_mins(4)).await;
    pool.is_of(2);
    assert_eq!(pool.image(&world), IMAGE_X86_64);
}

#[tokio::test(start_paused = true)]
async fn a_value_that_is_no_image_is_not_reported() {
    let world = World::new().await;
    publish(&world, PARAMETER, "hush-hush");
    let pool = world.pool("p").with(parameter(PARAMETER, ImagePolicy::Latest)).of(1).await;
    let message = pool.condition("Ready").message;
    assert_eq!(message, format!("SSM parameter {PARAMETER}: its value is not the id of an image"));
    let object = serde_json::to_string(&pool.object()).unwrap();
    assert!(!object.contains("hush"), "{object}");
    assert!(pool.group().is_none());
}

/// Instance types of both architectures. AWS has one instance of x86_64 in each zone, and more of arm64.
pub(crate) fn both_architectures(world: &World, ami: Ami) -> impl FnOnce(&mut FooMachinePoolSpec) {
    for zone in ["eu-central-1a", "eu-central-1b", "eu-central-1c"] {
        world.region.set_capacity_limit(zone, "m7i.large", Some(1)).unwrap();
    }
    let overrides = ["m7i.large", "m7g.large"].map(MixedInstancesOverride::of_type).into();
    let mixed = MixedInstances { overrides, on_demand_percentage: 100, ..MixedInstances::default() };
    move |spec| {
        spec.instance_type = None;
        spec.mixed_instances = Some(mixed);
        spec.ami = ami;
    }
}

/// Each type with this image.
fn booted(x86_64: &str, arm64: &str) -> BTreeMap<String, BTreeSet<String>> {
    [("m7i.large", x86_64), ("m7g.large", arm64)]
        .map(|(name, image)| (name.to_owned(), BTreeSet::from([image.to_owned()])))
        .into()
}

#[tokio::test(start_paused = true)]
async fn types_of_both_architectures_boot_an_image_each_and_the_newest_one_is_rolled_out() {
    let world = World::new().await;
    publish(&world, "/images/x86_64", IMAGE_X86_64);
    publish(&world, "/images/arm64", IMAGE_ARM64);
    let ami = Ami {
        ssm_parameter: Some("/images/{arch}".to_owned()),
        policy: Some(ImagePolicy::Latest),
        ..Ami::default()
    };
    let pool = world.pool("p").with(both_architectures(&world, ami)).of(4).await;
    pool.is_of(4);
    assert_eq!(pool.booted(&world), booted(IMAGE_X86_64, IMAGE_ARM64));
    let status = pool.status();
    let image = status.image.unwrap();
    let arm64 = image.arm64.unwrap();
    assert_eq!((image.id.as_str(), image.source.as_str()), (IMAGE_X86_64, "SSM parameter /images/x86_64"));
    assert_eq!((arm64.id.as_str(), arm64.source.as_str()), (IMAGE_ARM64, "SSM parameter /images/arm64"));
    assert_eq!(status.node_info, None);
    let reported = format!(
        "image {IMAGE_X86_64} from SSM parameter /images/x86_64; for arm64: image {IMAGE_ARM64} from SSM parameter /images/arm64"
    );
    assert_eq!(world.notes("ImageResolved"), [reported]);
    world.forgets();
    world.waits(Duration::from_mins(25)).await;
    assert_eq!(world.aws_writes(), 0, "{:?}", world.aws.call_counts());
    publish(&world, "/images/arm64", IMAGE_ARM64_NEWER);
    world.waits_long(A_WHILE).await;
    world.settles().await;
    pool.is_of(4);
    assert_eq!(pool.status().up_to_date_replicas, Some(4));
    let events = world.notes("ImageResolved");
    assert!(events.iter().any(|it| it.ends_with(&format!("; before: {IMAGE_ARM64}"))), "{events:?}");
    // Which of the types AWS launched depends on what it had at each moment.
    let (boots, expected) = (pool.booted(&world), booted(IMAGE_X86_64, IMAGE_ARM64_NEWER));
    assert_eq!(boots["m7g.large"], expected["m7g.large"]);
    assert!(boots.iter().all(|(name, images)| expected[name] == *images), "{boots:?}");
}

/// A set of attributes of each architecture. AWS has one instance of arm64 in each zone, and more of x86_64, which is dearer.
fn sets_of_both_architectures(world: &World, ami: Ami) -> impl FnOnce(&mut FooMachinePoolSpec) {
    for zone in ["eu-central-1a", "eu-central-1b", "eu-central-1c"] {
        world.region.set_capacity_limit(zone, "m7g.large", Some(1)).unwrap();
    }
    let set = |architecture: &str| {
        let only = |number: u32| json!({"min": number, "max": number});
        let attributes = json!({
            "architecture": architecture, "vcpuCount": only(2), "memoryMiB": only(8192), "allowedInstanceTypes": ["m7*"],
        });
        json!({ "requirements": attributes })
    };
    let mixed: MixedInstances =
        serde_json::from_value(json!({"overrides": [set("arm64"), set("x86_64")]})).unwrap();
    move |spec| {
        spec.instance_type = None;
        spec.mixed_instances = Some(mixed);
        spec.ami = ami;
    }
}

/// The group names the image of arm64 for one of the sets. One image for both would leave one of them without types.
#[tokio::test(start_paused = true)]
async fn sets_of_attributes_of_both_architectures_boot_an_image_each() {
    let world = World::new().await;
    let ids = |arm64: &str| {
        let ids = ImageIds { x86_64: IMAGE_X86_64.to_owned(), arm64: arm64.to_owned() };
        Ami { ids: Some(ids), ..Ami::default() }
    };
    let pool = world.pool("p").with(sets_of_both_architectures(&world, ids(IMAGE_ARM64))).of(4).await;
    assert_eq!(pool.booted(&world), booted(IMAGE_X86_64, IMAGE_ARM64));
    let status = pool.status();
    let chosen = [("m7g.large".to_owned(), 3), ("m7i.large".to_owned(), 1)];
    assert_eq!(status.instance_types, chosen.into());
    assert_eq!((status.node_info, status.instance_type, status.capacity["cpu"].as_str()), (None, None, "2"));
    world.forgets();
    world.waits(Duration::from_mins(30)).await;
    assert_eq!(world.aws_writes(), 0, "AWS returns what was requested: {:?}", world.aws.call_counts());
    pool.edits(|spec| spec.ami = ids(IMAGE_ARM64_NEWER));
    world.settles().await;
    pool.is_of(4);
    assert_eq!(pool.status().up_to_date_replicas, Some(4));
    // Which of the types AWS launched depends on what it had at each moment.
    let expected = booted(IMAGE_X86_64, IMAGE_ARM64_NEWER);
    assert!(pool.booted(&world).iter().all(|(name, images)| expected[name] == *images));
    let LaunchSource::Mixed(mixed) = pool.group().unwrap().source else { panic!("no mix") };
    let images: Vec<_> = mixed.overrides.iter().map(|set| set.image().map(|it| it.to_string())).collect();
    assert_eq!(images, [Some(IMAGE_ARM64_NEWER.to_owned()), None]);
    pool.edits(|spec| spec.ami = Ami::of_id(IMAGE_X86_64_NEWER));
    world.settles().await;
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False ArchitectureMismatch");
    let message = pool.condition("LaunchTemplateReady").message;
    let which = "instance type of mixedInstances.overrides[0].requirements runs arm64";
    assert!(message.contains(which), "{message}");
}

#[tokio::test(start_paused = true)]
async fn ids_of_both_architectures_are_recorded_and_one_id_for_both_is_refused() {
    let world = World::new().await;
    let ids = ImageIds { x86_64: IMAGE_X86_64.to_owned(), arm64: IMAGE_ARM64.to_owned() };
    let ids = Ami { ids: Some(ids), ..Ami::default() };
    let pool = world.pool("p").with(both_architectures(&world, ids)).of(4).await;
    assert_eq!(pool.booted(&world), booted(IMAGE_X86_64, IMAGE_ARM64));
    assert_eq!(
        world.notes("ImageResolved"),
        [format!("image {IMAGE_X86_64}; for arm64: image {IMAGE_ARM64}")]
    );
    let before = pool.instances();
    pool.edits(|spec| spec.ami = Ami::of_id(IMAGE_X86_64_NEWER));
    world.settles().await;
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False ArchitectureMismatch");
    let message = pool.condition("LaunchTemplateReady").message;
    assert!(message.contains("instance type m7g.large runs arm64"), "{message}");
    assert_eq!(pool.instances(), before);
}

#[tokio::test(start_paused = true)]
async fn a_second_architecture_takes_the_first_one_out_of_the_status() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    assert_eq!(pool.status().node_info.unwrap().architecture, "amd64");
    let ids = ImageIds { x86_64: IMAGE_X86_64.to_owned(), arm64: IMAGE_ARM64.to_owned() };
    pool.edits(both_architectures(&world, Ami { ids: Some(ids), ..Ami::default() }));
    world.settles().await;
    assert_eq!(pool.status().node_info, None);
}

#[tokio::test(start_paused = true)]
async fn a_pinned_image_stays_and_costs_no_call() {
    let mut world = World::new().await;
    publish(&world, PARAMETER, IMAGE_X86_64);
    world.pool("p").with(parameter(PARAMETER, ImagePolicy::Pinned)).of(2).await;
    publish(&world, PARAMETER, IMAGE_X86_64_NEWER);
    world.forgets();
    world.waits_long(Duration::from_hours(2)).await;
    world.kills_the_manager();
    world.starts_the_manager();
    world.settles().await;
    let pool = world.pool("p");
    pool.scales_to(3);
    world.settles().await;
    pool.is_of(3);
    assert_eq!(pool.image(&world), IMAGE_X86_64);
    assert_eq!(world.aws.calls("GetParameter"), 0, "{:?}", world.aws.call_counts());
    // A user who wants the new one requests it.
    pool.edits(|spec| spec.ami.policy = Some(ImagePolicy::Latest));
    world.waits(Duration::from_mins(5)).await;
    world.settles().await;
    assert_eq!(pool.image(&world), IMAGE_X86_64_NEWER);
}

#[tokio::test(start_paused = true)]
async fn the_latest_image_is_rolled_out_like_any_other() {
    let world = World::new().await;
    publish(&world, PARAMETER, IMAGE_X86_64);
    let pool = world.pool("p").with(parameter(PARAMETER, ImagePolicy::Latest)).of(3).await;
    let before = pool.instances();
    world.region.set_image_boot(IMAGE_X86_64_NEWER, Boot::Fails).unwrap();
    publish(&world, PARAMETER, IMAGE_X86_64_NEWER);
    world.waits_long(Duration::from_hours(1)).await;
    assert_eq!(pool.status().rollout.unwrap().phase, "Halted", "{}", world.summary());
    assert!(
        before.iter().all(|id| pool.instances().contains(id)),
        "one canary, and no serving instance was terminated"
    );
    // AWS takes the image back.
    publish(&world, PARAMETER, IMAGE_X86_64);
    world.waits_long(A_WHILE).await;
    world.settles().await;
    pool.is_of(3);
    assert_eq!(pool.image(&world), IMAGE_X86_64);
    world.region.set_image_boot(IMAGE_X86_64_NEWER, Boot::Succeeds).unwrap();
    let newer = |spec: &mut FooMachinePoolSpec| spec.ssh_key_name = Some("k".to_owned());
    pool.edits(newer);
    publish(&world, PARAMETER, IMAGE_X86_64_NEWER);
    world.waits_long(A_WHILE).await;
    world.settles().await;
    assert_eq!(pool.image(&world), IMAGE_X86_64_NEWER);
    let events = world.notes("ImageResolved");
    assert!(events.iter().any(|it| it.ends_with(&format!("; before: {IMAGE_X86_64}"))), "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn another_kubernetes_version_is_another_lookup_and_rolls_nothing_before_it_succeeds() {
    let world = World::new().await;
    publish(&world, "/images/1.36", IMAGE_X86_64);
    let pool = world.pool("p").with(parameter("/images/{version}", ImagePolicy::Pinned)).of(2).await;
    let before = pool.instances();
    pool.runs("v1.37.0");
    world.settles().await;
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False ImageNotFound");
    let message = pool.condition("LaunchTemplateReady").message;
    assert!(message.contains("/images/1.37"), "{message}");
    assert_eq!((pool.instances(), pool.image(&world)), (before, IMAGE_X86_64.to_owned()));
    pool.scales_to(3);
    world.settles().await;
    assert_eq!((pool.instances().len(), pool.image(&world)), (3, IMAGE_X86_64.to_owned()));
    publish(&world, "/images/1.37", IMAGE_X86_64_NEWER);
    world.waits(Duration::from_mins(2)).await;
    world.settles().await;
    pool.is_of(3);
    assert_eq!(pool.image(&world), IMAGE_X86_64_NEWER);
    assert_eq!(pool.status().image.unwrap().version.as_deref(), Some("v1.37.0"));
}

#[tokio::test(start_paused = true)]
async fn a_pool_survives_the_loss_of_its_parameter_and_reports_it() {
    let mut world = World::new().await;
    publish(&world, PARAMETER, IMAGE_X86_64);
    world.pool("p").with(parameter(PARAMETER, ImagePolicy::Latest)).of(2).await;
    let denied = world.aws.add_fault(FaultRule::on("GetParameter", Fault::Denied));
    world.kills_the_manager();
    world.starts_the_manager();
    world.settles().await;
    let pool = world.pool("p");
    assert_eq!(pool.state_of("Ready"), "True");
    let message = pool.condition("Ready").message;
    assert!(message.contains(&format!("the pool keeps image {IMAGE_X86_64}")), "{message}");
    assert!(message.contains("ssm:GetParameter"), "the action that is missing: {message}");
    assert_eq!(world.notes("ImageLookupFailed").len(), 1);
    pool.scales_to(3);
    world.settles().await;
    pool.is_of(3);
    assert_eq!(pool.image(&world), IMAGE_X86_64);
    world.aws.remove_fault(denied);
    // It names an image that these instances cannot boot.
    publish(&world, PARAMETER, IMAGE_ARM64);
    world.waits_long(A_WHILE).await;
    let message = pool.condition("Ready").message;
    assert!(message.contains("is built for arm64"), "{message}");
    assert_eq!(
        (pool.state_of("LaunchTemplateReady"), pool.image(&world)),
        ("True".to_owned(), IMAGE_X86_64.to_owned())
    );
    publish(&world, PARAMETER, IMAGE_X86_64);
    world.waits_long(A_WHILE).await;
    assert_eq!(pool.condition("Ready").message, "3 of 3 instances in service");
}

/// Two results in a row: the first is recorded, and the manager is killed before it used it.
#[tokio::test(start_paused = true)]
async fn the_recorded_image_is_launched_after_a_crash_although_aws_names_another() {
    let mut world = World::new().await;
    publish(&world, PARAMETER, IMAGE_X86_64);
    let refused = world.aws.add_fault(FaultRule::on("CreateLaunchTemplate", Fault::Unreachable));
    world.pool("p").with(parameter(PARAMETER, ImagePolicy::Pinned)).begins_with(2);
    world.until("the template is tried", || world.aws.calls("CreateLaunchTemplate") > 0).await;
    world.kills_the_manager();
    publish(&world, PARAMETER, IMAGE_X86_64_NEWER);
    world.aws.remove_fault(refused);
    world.starts_the_manager();
    world.settles().await;
    let pool = world.pool("p");
    pool.is_of(2);
    assert_eq!(pool.image(&world), IMAGE_X86_64);
}

/// The API server responds like this to every write of the record.
async fn check_unrecorded(fault: fn() -> ApiFault) {
    let world = World::new().await;
    publish(&world, PARAMETER, IMAGE_X86_64);
    let fault = fault().on_writes().kind("FooMachinePool").manager("foo/pool-image");
    let fault = world.server.inject(fault.client(MANAGER).always());
    let pool = world.pool("p").with(parameter(PARAMETER, ImagePolicy::Pinned)).begins_with(1);
    world.waits(Duration::from_mins(2)).await;
    assert!(fault.struck() > 0);
    assert!(pool.annotation().is_none() && pool.group().is_none());
    assert!(world.region.templates().is_empty());
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False ImageNotRecorded");
    world.server.heal();
    world.settles().await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_launched_from_an_image_that_cannot_be_recorded() {
    check_unrecorded(ApiFault::internal_error).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_launched_while_conflicts_prevent_the_record() {
    check_unrecorded(ApiFault::conflict).await;
}

#[tokio::test(start_paused = true)]
async fn a_record_whose_response_was_lost_is_used_once_read() {
    let world = World::new().await;
    publish(&world, PARAMETER, IMAGE_X86_64);
    let fault = ApiFault::lost_response().on_writes().kind("FooMachinePool").manager("foo/pool-image");
    let fault = world.server.inject(fault.client(MANAGER).always());
    let pool = world.pool("p").with(parameter(PARAMETER, ImagePolicy::Pinned)).of(1).await;
    assert_eq!(fault.struck(), 1);
    pool.is_of(1);
    assert_eq!(pool.image(&world), IMAGE_X86_64);
}

#[tokio::test(start_paused = true)]
async fn a_record_survives_the_loss_of_the_status_and_that_of_the_annotation() {
    let mut world = World::new().await;
    publish(&world, PARAMETER, IMAGE_X86_64);
    world.pool("p").with(parameter(PARAMETER, ImagePolicy::Pinned)).of(1).await;
    publish(&world, PARAMETER, IMAGE_X86_64_NEWER);
    let recorded = world.pool("p").annotation();
    assert!(recorded.is_some());
    // As `clusterctl move` does, and then as `kubectl replace` does.
    let lost: [fn(&mut FooMachinePool); 2] =
        [|pool| pool.status = None, |pool| drop(pool.annotations_mut().remove(IMAGE_ANNOTATION))];
    for lose in lost {
        world.kills_the_manager();
        world.server.edit::<FooMachinePool>(NS, "p", lose).unwrap();
        world.starts_the_manager();
        world.settles().await;
        let pool = world.pool("p");
        assert_eq!((pool.image(&world), pool.annotation()), (IMAGE_X86_64.to_owned(), recorded.clone()));
        assert_eq!(pool.status().image.unwrap().id, IMAGE_X86_64);
    }
}

#[tokio::test(start_paused = true)]
async fn a_pool_that_names_an_image_again_forgets_the_record() {
    let world = World::new().await;
    publish(&world, PARAMETER, IMAGE_X86_64);
    let pool = world.pool("p").with(parameter(PARAMETER, ImagePolicy::Pinned)).of(1).await;
    pool.edits(|spec| spec.ami = Ami::of_id(IMAGE_X86_64));
    world.settles().await;
    assert_eq!((pool.annotation(), pool.status().image), (None, None));
    publish(&world, PARAMETER, IMAGE_X86_64_NEWER);
    // Results are shared for ten minutes.
    world.waits(Duration::from_mins(11)).await;
    pool.edits(parameter(PARAMETER, ImagePolicy::Pinned));
    world.settles().await;
    assert_eq!(pool.image(&world), IMAGE_X86_64_NEWER);
}
