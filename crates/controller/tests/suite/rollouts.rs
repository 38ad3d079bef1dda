//! Outdated instances are replaced, and new content that does not work is marked as failed.

use crate::images::both_architectures;
use crate::support::{CLUSTER, NS, Pool, World, objects};
use foo_api::capi::{Cluster, ContractReference, Machine};
use foo_api::control_plane::{External, FooControlPlaneSpec, SecretReference};
use foo_api::pool::{
    Ami, DataVolume, ImageIds, MixedInstances, MixedInstancesOverride, RolloutFailurePolicy, RolloutStrategy,
    Spot, Volume,
};
use foo_api::{FooControlPlane, FooMachinePoolSpec};
use foo_model::names::{QUARANTINE_ANNOTATION, ROLLOUT_PAUSED_ANNOTATION};
use foo_simulator_core::core::catalogue::{
    Boot, IMAGE_ARM64, IMAGE_ARM64_NEWER, IMAGE_X86_64, IMAGE_X86_64_NEWER,
};
use foo_simulator_core::core::network::{PRIVATE_SUBNETS, SECURITY_GROUP};
use foo_simulator_core::core::settings::ProtectionAgainst;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::ResourceExt;
use std::collections::BTreeSet;
use std::time::Duration;

impl Pool<'_> {
    /// Images of its instances.
    fn images(&self, world: &World) -> BTreeSet<String> {
        let images = self.instances().into_iter().filter_map(|id| world.region.instance(&id));
        images.map(|instance| instance.image.to_string()).collect()
    }

    /// How many of its Machines are not going and have a Ready Node.
    fn serving(&self) -> usize {
        let serves = |machine: &Machine| {
            let conditions = machine.status.iter().flat_map(|status| &status.conditions);
            machine.metadata.deletion_timestamp.is_none()
                && conditions.clone().any(|it| it.type_ == "NodeReady" && it.status == "True")
        };
        self.machines().iter().filter(|machine| serves(machine)).count()
    }

    fn phase(&self) -> String {
        self.status().rollout.map(|rollout| rollout.phase).unwrap_or_default()
    }

    fn requests_image(&self, image: &str) {
        self.edits(|spec| spec.ami = Ami::of_id(image));
    }

    /// Waits for this phase; the fewest Machines that served, and the most instances there were, meanwhile.
    async fn reaches(&self, world: &World, phase: &str) -> (usize, u32) {
        let (mut fewest, mut most) = (usize::MAX, 0);
        for _ in 0..(4 * 3_600) {
            world.waits(Duration::from_secs(1)).await;
            fewest = fewest.min(self.serving());
            most = most.max(self.group().map_or(0, |group| group.sizes.desired));
            if self.phase() == phase {
                return (fewest, most);
            }
        }
        panic!("never {phase}\n{}", world.summary());
    }
}

fn fails_to_boot(world: &World) {
    world.region.set_image_boot(IMAGE_X86_64_NEWER, Boot::Fails).unwrap();
}

#[tokio::test(start_paused = true)]
async fn another_image_replaces_everything_and_nothing_is_missing_meanwhile() {
    let world = World::new().await;
    let pool = world.pool("p").of(5).await;
    world.drains_take(Duration::from_secs(40));
    world.forgets();
    pool.requests_image(IMAGE_X86_64_NEWER);
    pool.reaches(&world, "Rolling").await;
    let (fewest, most) = pool.reaches(&world, "Finished").await;
    assert_eq!((fewest, most), (5, 6));
    world.settles().await;
    assert_eq!(pool.images(&world), BTreeSet::from([IMAGE_X86_64_NEWER.to_owned()]));
    assert_eq!(pool.status().up_to_date_replicas, Some(5));
    pool.is_of(5);
    assert_eq!(world.core.drains().len(), 5);
    let calls = world.aws.call_counts();
    let of = |name: &str| {
        calls.iter().filter(|((_, action), _)| action == name).map(|(_, count)| count.calls).sum::<u64>()
    };
    assert_eq!((of("TerminateInstanceInAutoScalingGroup"), of("CompleteLifecycleAction")), (5, 5));
    assert_eq!(of("UpdateAutoScalingGroup"), 3, "the version, one more, back to the old maximum: {calls:?}");
}

#[tokio::test(start_paused = true)]
async fn a_roll_out_of_the_only_instance_is_judged_although_the_manager_crashed_in_its_middle() {
    let mut world = World::new().await;
    let alone = |spec: &mut FooMachinePoolSpec| {
        spec.rollout.max_surge = IntOrString::Int(0);
        spec.rollout.max_unavailable = IntOrString::Int(1);
    };
    let before = world.pool("p").with(alone).of(1).await.instances();
    fails_to_boot(&world);
    world.pool("p").requests_image(IMAGE_X86_64_NEWER);
    let replaced = |world: &World| {
        let now = world.pool("p").instances();
        now.len() == 1 && now != before
    };
    world.until("the old one is deleted", || replaced(&world)).await;
    world.kills_the_manager();
    world.waits(Duration::from_mins(1)).await;
    world.starts_the_manager();
    world.pool("p").reaches(&world, "Halted").await;
    assert_eq!(world.notes("RolloutFailed").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn surge_and_shares_make_it_faster() {
    let world = World::new().await;
    let wide = |spec: &mut FooMachinePoolSpec| {
        spec.rollout.max_surge = IntOrString::String("25%".to_owned());
        spec.rollout.max_unavailable = IntOrString::String("25%".to_owned());
    };
    let pool = world.pool("p").with(wide).of(10).await;
    pool.requests_image(IMAGE_X86_64_NEWER);
    pool.reaches(&world, "Rolling").await;
    let (fewest, most) = pool.reaches(&world, "Finished").await;
    assert!(fewest >= 8, "25 % of 10, rounded down, may be missing: {fewest}");
    assert!(most <= 13, "25 % of 10, rounded up, may be there: {most}");
    world.settles().await;
    pool.is_of(10);
}

#[tokio::test(start_paused = true)]
async fn a_bad_image_halts_and_new_instances_get_the_image_before() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    let before = pool.instances();
    fails_to_boot(&world);
    pool.requests_image(IMAGE_X86_64_NEWER);
    pool.reaches(&world, "Rolling").await;
    let (fewest, most) = pool.reaches(&world, "Halted").await;
    assert_eq!((fewest, most), (3, 4), "one canary");
    let condition = pool.condition("RollingOut");
    assert_eq!((condition.status.as_str(), condition.reason.as_str()), ("True", "RolloutHalted"));
    assert!(condition.message.contains("has not joined after 1200 s"), "{}", condition.message);
    assert!(world.events_on("p").contains(&"RolloutFailed".to_owned()));
    assert!(before.iter().all(|id| pool.instances().contains(id)), "no serving instance was terminated");
    pool.scales_to(5);
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(pool.serving(), 5, "failed instances are replaced\n{}", world.summary());
    let newer = pool.instances().into_iter().filter(|id| !before.contains(id));
    let images: Vec<String> =
        newer.filter_map(|id| world.region.instance(&id)).map(|it| it.image.to_string()).collect();
    assert_eq!(images.iter().filter(|image| *image == IMAGE_X86_64_NEWER).count(), 1, "{images:?}");
    // What the user requests next is tried.
    pool.requests_image(IMAGE_X86_64);
    world.settles().await;
    let record = pool.object().annotations().get(QUARANTINE_ANNOTATION).cloned().unwrap();
    assert!(record.starts_with("over "), "remembered as nothing to go back to: {record}");
    assert_eq!(pool.images(&world), BTreeSet::from([IMAGE_X86_64.to_owned()]));
    pool.is_of(5);
    assert!(before.iter().all(|id| pool.instances().contains(id)));
}

#[tokio::test(start_paused = true)]
async fn a_bad_image_is_rolled_back_with_the_user_data_of_today() {
    let world = World::new().await;
    let back = |spec: &mut FooMachinePoolSpec| spec.rollout.on_failure = RolloutFailurePolicy::Rollback;
    let pool = world.pool("p").with(back).of(3).await;
    let before = pool.instances();
    fails_to_boot(&world);
    pool.requests_image(IMAGE_X86_64_NEWER);
    pool.reaches(&world, "Rolling").await;
    pool.bootstraps_with(b"#cloud-config\n# with a new token");
    let (fewest, _) = pool.reaches(&world, "RolledBack").await;
    assert_eq!(fewest, 3);
    world.settles().await;
    assert_eq!((pool.instances(), pool.status().up_to_date_replicas), (before, Some(0)));
    assert_eq!(pool.state_of("Ready"), "True");
    assert_eq!(pool.state_of("RollingOut"), "False RolledBack");
    // The next instance has the image before and the token of today.
    let template = world.region.templates().into_iter().find(|it| it.name == pool.group_name()).unwrap();
    let newest = template.versions.values().last().unwrap();
    let data = format!("{:?}", newest.data);
    assert!(data.contains(IMAGE_X86_64), "{data}");
    let status = pool.status().launch_template.unwrap();
    assert_eq!(status.version, newest.number.0, "it is the one that is launched");
    // A user who wants another attempt removes the record.
    world.region.set_image_boot(IMAGE_X86_64_NEWER, Boot::Succeeds).unwrap();
    pool.edits_object(|pool| {
        pool.annotations_mut().remove(QUARANTINE_ANNOTATION);
    });
    world.settles().await;
    assert_eq!(pool.images(&world), BTreeSet::from([IMAGE_X86_64_NEWER.to_owned()]));
    pool.is_of(3);
}

/// The launch template has the image of x86_64, the group that of arm64.
#[tokio::test(start_paused = true)]
async fn a_bad_image_of_arm64_types_is_rolled_back_as_well() {
    let world = World::new().await;
    let ami = |arm64: &str| {
        let ids = ImageIds { x86_64: IMAGE_X86_64.to_owned(), arm64: arm64.to_owned() };
        Ami { ids: Some(ids), ..Ami::default() }
    };
    let back = |spec: &mut FooMachinePoolSpec| spec.rollout.on_failure = RolloutFailurePolicy::Rollback;
    let pool = world.pool("p").with(both_architectures(&world, ami(IMAGE_ARM64))).with(back).of(4).await;
    let (before, images) = (pool.instances(), pool.booted(&world));
    world.region.set_image_boot(IMAGE_ARM64_NEWER, Boot::Fails).unwrap();
    pool.edits(|spec| spec.ami = ami(IMAGE_ARM64_NEWER));
    pool.reaches(&world, "Rolling").await;
    pool.reaches(&world, "RolledBack").await;
    world.settles().await;
    assert_eq!((pool.instances(), pool.booted(&world)), (before, images.clone()));
    pool.scales_to(5);
    world.settles().await;
    assert_eq!((pool.instances().len(), pool.booted(&world)), (5, images), "with the image before");
}

/// The types of a group are not part of a version: those of x86_64, which the failed content added, do not boot the image of before.
#[tokio::test(start_paused = true)]
async fn a_rollback_to_arm64_alone_that_aws_refuses_replaces_nothing_until_the_user_goes_back() {
    let world = World::new().await;
    let arm64_alone = |spec: &mut FooMachinePoolSpec| {
        let overrides = vec![MixedInstancesOverride::of_type("m7g.large")];
        spec.instance_type = None;
        spec.mixed_instances =
            Some(MixedInstances { overrides, on_demand_percentage: 100, ..MixedInstances::default() });
        spec.ami = Ami::of_id(IMAGE_ARM64);
        spec.rollout.on_failure = RolloutFailurePolicy::Rollback;
    };
    let pool = world.pool("p").with(arm64_alone).of(3).await;
    let (before, images) = (pool.instances(), pool.booted(&world));
    fails_to_boot(&world);
    let ids = ImageIds { x86_64: IMAGE_X86_64_NEWER.to_owned(), arm64: IMAGE_ARM64.to_owned() };
    pool.edits(both_architectures(&world, Ami { ids: Some(ids), ..Ami::default() }));
    pool.reaches(&world, "Rolling").await;
    pool.reaches(&world, "Preparing").await;
    world.until("it is reported", || pool.state_of("AutoScalingGroupReady") == "False RequestInvalid").await;
    let message = pool.condition("AutoScalingGroupReady").message;
    assert!(message.contains("does not match the architecture"), "{message}");
    world.waits(Duration::from_mins(10)).await;
    assert!(before.iter().all(|id| pool.instances().contains(id)), "{}", world.summary());
    pool.edits(arm64_alone);
    // AWS refused the call until now, so the next attempt comes after a pause.
    world.waits(Duration::from_mins(10)).await;
    world.settles().await;
    pool.is_of(3);
    assert_eq!(pool.booted(&world), images);
}

#[tokio::test(start_paused = true)]
async fn a_repeatedly_killed_manager_completes_the_roll_out() {
    let mut world = World::new().await;
    world.pool("p").of(4).await;
    world.drains_take(Duration::from_secs(30));
    world.pool("p").requests_image(IMAGE_X86_64_NEWER);
    for wait in [3, 11, 17, 24, 31, 38, 29, 22, 41, 16] {
        world.waits(Duration::from_secs(wait)).await;
        assert!(world.pool("p").serving() >= 4);
        world.kills_the_manager();
        world.waits(Duration::from_secs(2)).await;
        world.starts_the_manager();
    }
    world.settles().await;
    let pool = world.pool("p");
    assert_eq!(pool.images(&world), BTreeSet::from([IMAGE_X86_64_NEWER.to_owned()]));
    pool.is_of(4);
}

#[tokio::test(start_paused = true)]
async fn quick_edits_are_one_roll_out_and_an_edit_back_costs_at_most_the_canary() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    let before = pool.instances();
    for kind in ["m7i.xlarge", "c7i.large", "r7i.large", "m7i.large"] {
        pool.edits(|spec| spec.instance_type = Some(kind.to_owned()));
        world.waits(Duration::from_secs(3)).await;
    }
    world.settles().await;
    pool.is_of(3);
    assert!(before.iter().filter(|id| pool.instances().contains(id)).count() >= 2);
    assert_eq!(pool.status().up_to_date_replicas, Some(3));
}

#[tokio::test(start_paused = true)]
async fn a_roll_out_is_paused_and_resumed_by_annotation() {
    let world = World::new().await;
    let pool = world.pool("p").of(4).await;
    pool.requests_image(IMAGE_X86_64_NEWER);
    world.until("the canary serves", || pool.status().up_to_date_replicas == Some(1)).await;
    pool.edits_object(|pool| {
        pool.annotations_mut().insert(ROLLOUT_PAUSED_ANNOTATION.to_owned(), String::new());
    });
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(pool.phase(), "Paused");
    let images = pool.images(&world);
    assert_eq!(images.len(), 2, "neither rolled back nor continued: {images:?}");
    world.forgets();
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(world.aws_writes(), 0);
    pool.edits_object(|pool| {
        pool.annotations_mut().remove(ROLLOUT_PAUSED_ANNOTATION);
    });
    world.settles().await;
    assert_eq!(pool.images(&world), BTreeSet::from([IMAGE_X86_64_NEWER.to_owned()]));
    pool.is_of(4);
}

#[tokio::test(start_paused = true)]
async fn on_delete_replaces_what_users_delete() {
    let world = World::new().await;
    let by_people = |spec: &mut FooMachinePoolSpec| spec.rollout.strategy = RolloutStrategy::OnDelete;
    let pool = world.pool("p").with(by_people).of(2).await;
    pool.requests_image(IMAGE_X86_64_NEWER);
    world.settles().await;
    assert_eq!((pool.phase().as_str(), pool.status().up_to_date_replicas), ("OnDelete", Some(0)));
    let outdated = |machine: &foo_api::FooMachine| {
        let mut conditions = machine.status.iter().flat_map(|status| &status.conditions);
        conditions.any(|it| it.type_ == "UpToDate" && it.status == "False")
    };
    assert!(world.server.list::<foo_api::FooMachine>(NS).iter().all(outdated), "each is marked");
    assert_eq!(pool.state_of("Ready"), "True");
    world.server.delete::<Machine>(NS, &pool.machines()[0].name_any()).unwrap();
    world.settles().await;
    assert_eq!(pool.status().up_to_date_replicas, Some(1));
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn the_size_changes_during_a_roll_out() {
    let world = World::new().await;
    let pool = world.pool("p").of(6).await;
    world.drains_take(Duration::from_secs(40));
    pool.requests_image(IMAGE_X86_64_NEWER);
    world.until("the canary serves", || pool.status().up_to_date_replicas == Some(1)).await;
    pool.scales_to(3);
    world.waits(Duration::from_secs(90)).await;
    pool.scales_to(7);
    world.settles().await;
    assert_eq!(pool.images(&world), BTreeSet::from([IMAGE_X86_64_NEWER.to_owned()]));
    pool.is_of(7);
}

#[tokio::test(start_paused = true)]
async fn a_roll_out_without_room_is_reported_and_exceeds_no_limit() {
    let world = World::new().await;
    let full = |spec: &mut FooMachinePoolSpec| spec.max_size = Some(2);
    let pool = world.pool("p").with(full).of(2).await;
    pool.requests_image(IMAGE_X86_64_NEWER);
    world.settles().await;
    let condition = pool.condition("RollingOut");
    assert!(condition.message.contains("cannot replace an instance"), "{}", condition.message);
    assert_eq!(pool.serving(), 2);
    pool.edits(|spec| spec.rollout.max_unavailable = IntOrString::Int(1));
    world.settles().await;
    assert_eq!(pool.images(&world), BTreeSet::from([IMAGE_X86_64_NEWER.to_owned()]));
    pool.is_of(2);
}

/// A FooControlPlane that runs this version; the Cluster names it.
fn control_plane_runs(world: &World, version: &str) {
    let status = |plane: &mut FooControlPlane| {
        plane.status.get_or_insert_default().version = Some(version.to_owned());
    };
    if world.server.get::<FooControlPlane>(NS, CLUSTER).is_none() {
        let kubeconfig_secret_ref = SecretReference { name: "kubeconfig".to_owned() };
        let spec = FooControlPlaneSpec {
            version: version.to_owned(),
            control_plane_endpoint: None,
            external: Some(External { kubeconfig_secret_ref }),
            eks: None,
        };
        world.has(&objects::placed(FooControlPlane::new(CLUSTER, spec)));
        let name = |cluster: &mut Cluster| {
            let reference = ContractReference {
                api_group: "controlplane.foo.com".to_owned(),
                kind: "FooControlPlane".to_owned(),
                name: CLUSTER.to_owned(),
            };
            cluster.spec.control_plane_ref = Some(reference);
        };
        world.server.edit(NS, CLUSTER, name).unwrap();
    }
    world.server.edit(NS, CLUSTER, status).unwrap();
}

#[tokio::test(start_paused = true)]
async fn version_and_image_wait_for_the_control_plane() {
    let world = World::new().await;
    control_plane_runs(&world, "v1.36.3");
    let pool = world.pool("p").of(2).await;
    let before = pool.instances();
    pool.edits_machine_pool(|pool| pool.spec.template.spec.version = Some("v1.37.0".to_owned()));
    pool.requests_image(IMAGE_X86_64_NEWER);
    world.waits(Duration::from_mins(5)).await;
    let condition = pool.condition("LaunchTemplateReady");
    assert_eq!((condition.status.as_str(), condition.reason.as_str()), ("False", "WaitingForControlPlane"));
    assert!(
        condition.message.contains("v1.36.3") && condition.message.contains("v1.37.0"),
        "{}",
        condition.message
    );
    assert_eq!(pool.instances(), before);
    // What exists continues meanwhile.
    pool.scales_to(3);
    world.waits(Duration::from_mins(2)).await;
    assert_eq!((pool.instances().len(), pool.images(&world).len()), (3, 1));
    control_plane_runs(&world, "v1.37.0");
    world.waits(Duration::from_secs(40)).await;
    world.settles().await;
    assert_eq!(pool.images(&world), BTreeSet::from([IMAGE_X86_64_NEWER.to_owned()]));
    pool.is_of(3);
}

#[tokio::test(start_paused = true)]
async fn tags_roll_nothing() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let before = pool.instances();
    pool.edits(|spec| {
        spec.tags.insert("team".to_owned(), "blue".to_owned());
    });
    world
        .server
        .edit(NS, CLUSTER, |cluster: &mut foo_api::FooCluster| {
            cluster.annotations_mut().insert("touched".to_owned(), "yes".to_owned());
        })
        .unwrap();
    world.settles().await;
    assert_eq!((pool.instances(), pool.phase().as_str()), (before, "Finished"));
}

/// What CAPA loops on: orders of lists, defaults that AWS fills in, tags of others, names for ids.
#[tokio::test(start_paused = true)]
async fn defaults_that_aws_returns_are_no_difference() {
    type Change = fn(&mut FooMachinePoolSpec);
    let specs: [Change; 6] = [
        |_| {},
        |spec| {
            spec.subnets = PRIVATE_SUBNETS.iter().rev().map(|id| objects::by_id(id)).collect();
            spec.security_groups = vec![objects::by_id(SECURITY_GROUP), objects::by_id(SECURITY_GROUP)];
        },
        |spec| {
            let volume = Volume { size_gib: 50, ..Volume::default() };
            spec.root_volume = Some(volume.clone());
            spec.volumes = ["/dev/xvdc", "/dev/xvdb"]
                .map(|name| DataVolume {
                    device_name: name.to_owned(),
                    snapshot_id: None,
                    volume: volume.clone(),
                })
                .into();
        },
        |spec| {
            let types = ["m7i.large", "c7i.large", "r7i.large"];
            let overrides = types.map(MixedInstancesOverride::of_type).into();
            spec.instance_type = None;
            spec.mixed_instances =
                Some(MixedInstances { overrides, on_demand_base: 1, ..MixedInstances::default() });
        },
        |spec| spec.spot = Some(Spot { max_price: Some("0.10".to_owned()) }),
        |spec| {
            spec.tags =
                [("b", "2"), ("a", ""), ("Name", "other")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
            spec.ssh_key_name = Some("key".to_owned());
        },
    ];
    for (at, change) in specs.into_iter().enumerate() {
        let mut world = World::new().await;
        let group = world.pool("p").with(change).of(2).await.group_name();
        let before = world.pool("p").instances();
        world.forgets();
        world.waits(Duration::from_mins(25)).await;
        world.kills_the_manager();
        world.starts_the_manager();
        world.waits(Duration::from_mins(5)).await;
        assert_eq!(world.aws_writes(), 0, "spec {at}: {:?}", world.aws.call_counts());
        let template = world.region.templates().into_iter().find(|it| it.name == group).unwrap();
        assert_eq!(template.versions.len(), 1, "spec {at}");
        assert_eq!(world.pool("p").instances(), before, "spec {at}");
    }
}

/// Auto Scaling API Reference, InstancesDistribution: AWS replaces instances by itself, launching before it ends.
#[tokio::test(start_paused = true)]
async fn another_purchase_mix_is_replaced_by_aws_alone_and_drained() {
    let world = World::new().await;
    world
        .region
        .change_settings(|settings| settings.mix_change_protection = ProtectionAgainst::Ignored)
        .unwrap();
    let mixed = |percentage: i32| MixedInstances {
        overrides: vec![MixedInstancesOverride::of_type("m7i.large")],
        on_demand_percentage: percentage,
        ..MixedInstances::default()
    };
    let pool = world.pool("p").with(|spec| spec.mixed_instances = Some(mixed(100))).of(3).await;
    let before: BTreeSet<_> = pool.instances().into_iter().collect();
    world.drains_take(Duration::from_secs(40));
    world.forgets();
    pool.edits(|spec| spec.mixed_instances = Some(mixed(0)));
    world.waits(Duration::from_mins(12)).await;
    world.settles().await;
    pool.is_of(3);
    assert!(pool.instances().iter().all(|id| !before.contains(id)), "{}", world.summary());
    assert_eq!(world.core.drains().len(), 3, "each once, drained");
    assert_eq!(world.notes("MachineDeleted"), Vec::<String>::new(), "none of our choice");
    assert_eq!(world.aws.calls("TerminateInstanceInAutoScalingGroup"), 0);
}
