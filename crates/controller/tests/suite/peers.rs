//! Bugs of the field's other tools, reproduced on this provider. Each test names the tool and the issue.
//!
//! Elsewhere are CAPA #2574 (`taken.rs`: a scale-in by hand drains) and Cluster API #11392 (`remediation.rs`).

use crate::support::{NS, Pool, World};
use foo_api::capi::Machine;
use foo_api::names::DELETE_MACHINE_ANNOTATION;
use foo_api::pool::Ami;
use foo_model::{InstanceId, LifecycleState};
use foo_simulator_core::core::catalogue::{Boot, IMAGE_X86_64_NEWER};
use foo_simulator_core::core::mishaps::{LaunchMishap, Mishap};
use kube::ResourceExt;
use std::collections::BTreeSet;
use std::time::Duration;

impl Pool<'_> {
    fn types(&self, world: &World) -> BTreeSet<String> {
        let types = self.instances().into_iter().filter_map(|id| world.region.instance(&id));
        types.map(|instance| instance.instance_type.to_string()).collect()
    }

    fn good(&self) -> usize {
        let ready = |machine: &Machine| {
            let mut conditions = machine.status.iter().flat_map(|status| &status.conditions);
            conditions.any(|it| it.type_ == "NodeReady" && it.status == "True")
        };
        self.machines().iter().filter(|it| it.metadata.deletion_timestamp.is_none() && ready(it)).count()
    }
}

/// Placeholders were removed by an absolute write while instances joined: AWS terminated healthy Nodes.
#[tokio::test(start_paused = true)]
async fn cluster_autoscaler_10147_cancelled_launches_delete_no_node_that_joined_meanwhile() {
    for wait in [1, 5, 12, 20, 28] {
        let world = World::new().await;
        let pool = world.pool("p").of(3).await;
        pool.scales_to(9);
        world.waits(Duration::from_secs(wait)).await;
        pool.scales_to(3);
        world.settles().await;
        pool.is_of(3);
        let ended = world.region.instances().into_iter().filter(|instance| !instance.state.is_alive());
        assert_eq!(ended.count(), world.core.drains().len(), "whatever ends was drained");
    }
}

/// The roll-out continued before the old VM was terminated; it removed old Nodes although the new one was not Ready.
#[tokio::test(start_paused = true)]
async fn capz_1484_and_1570_old_nodes_stay_until_the_new_one_serves() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    let before = pool.instances();
    world.region.set_image_boot(IMAGE_X86_64_NEWER, Boot::Fails).unwrap();
    pool.edits(|spec| spec.ami = Ami::of_id(IMAGE_X86_64_NEWER));
    world.waits(Duration::from_mins(15)).await;
    assert!(before.iter().all(|id| pool.instances().contains(id)));
    assert_eq!(pool.group().unwrap().sizes.desired, 4);
    world.region.set_image_boot(IMAGE_X86_64_NEWER, Boot::Succeeds).unwrap();
    for _ in 0..600 {
        world.waits(Duration::from_secs(1)).await;
        assert!(pool.good() >= 3, "{}", world.summary());
        assert!(pool.group().unwrap().sizes.desired <= 4);
    }
    world.settles().await;
    pool.is_of(3);
    assert_eq!(pool.status().up_to_date_replicas, Some(3));
}

/// Images were compared and nothing else: after a change of the VM's size one Node was refreshed.
#[tokio::test(start_paused = true)]
async fn capz_2972_another_type_reaches_every_instance() {
    let world = World::new().await;
    let pool = world.pool("p").of(4).await;
    pool.edits(|spec| spec.instance_type = Some("c7i.large".to_owned()));
    world.settles().await;
    assert_eq!(pool.types(&world), BTreeSet::from(["c7i.large".to_owned()]));
    pool.is_of(4);
}

/// The autoscaler's mark sat on the Machine, and another one was removed.
#[tokio::test(start_paused = true)]
async fn capz_4941_the_marked_machine_is_deleted_and_no_other() {
    let world = World::new().await;
    let pool = world.pool("p").of(5).await;
    let names: Vec<String> = pool.machines().iter().map(ResourceExt::name_any).collect();
    for marked in [&names[3], &names[1]] {
        let mark = |machine: &mut Machine| {
            machine.annotations_mut().insert(DELETE_MACHINE_ANNOTATION.to_owned(), String::new());
        };
        world.server.edit(NS, marked, mark).unwrap();
    }
    pool.scales_to(3);
    world.settles().await;
    let left: Vec<String> = pool.machines().iter().map(ResourceExt::name_any).collect();
    assert_eq!(left, [names[0].clone(), names[2].clone(), names[4].clone()]);
}

/// The size flapped 1, 2, 1, … for ever.
#[tokio::test(start_paused = true)]
async fn capz_5240_the_size_does_not_flap() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    world.drains_take(Duration::from_secs(50));
    pool.scales_to(1);
    let mut sizes = vec![2];
    for _ in 0..900 {
        world.waits(Duration::from_secs(1)).await;
        let size = pool.group().unwrap().sizes.desired;
        if sizes.last() != Some(&size) {
            sizes.push(size);
        }
    }
    assert_eq!(sizes, [2, 1]);
    pool.is_of(1);
}

/// An upgrade that was interrupted left half of the pool behind, and half of production out of service.
#[tokio::test(start_paused = true)]
async fn capz_5546_an_upgrade_with_every_accident_is_neither_partial_nor_an_outage() {
    let mut world = World::new().await;
    world.pool("p").of(6).await;
    world.drains_take(Duration::from_secs(25));
    let versions = ["v1.36.4", "v1.36.5"];
    for (at, version) in versions.iter().enumerate() {
        world.pool("p").edits_machine_pool(|pool| {
            pool.spec.template.spec.version = Some((*version).to_owned());
        });
        world.waits(Duration::from_secs(50)).await;
        world.kills_the_manager();
        world.waits(Duration::from_secs(20)).await;
        world.starts_the_manager();
        for _ in 0..60 {
            world.waits(Duration::from_secs(1)).await;
            assert!(world.pool("p").good() >= 6, "round {at}\n{}", world.summary());
        }
    }
    world.settles().await;
    let pool = world.pool("p");
    pool.is_of(6);
    assert_eq!(pool.status().up_to_date_replicas, Some(6));
    assert_eq!(pool.status().rollout.unwrap().outdated, 0);
}

/// A refresh continued with a token that had expired meanwhile: its Nodes never joined.
#[tokio::test(start_paused = true)]
async fn capa_5543_new_instances_have_the_token_of_the_moment() {
    let world = World::new().await;
    let pool = world.pool("p").of(4).await;
    world.drains_take(Duration::from_mins(3));
    pool.edits(|spec| spec.instance_type = Some("c7i.large".to_owned()));
    world.until("the canary is there", || pool.status().up_to_date_replicas == Some(1)).await;
    pool.bootstraps_with(b"#cloud-config\n# with a new token");
    world.waits(Duration::from_secs(10)).await;
    let seen: BTreeSet<InstanceId> = pool.group().unwrap().members.into_keys().collect();
    world.settles().await;
    let launched: Vec<i64> = pool
        .group()
        .unwrap()
        .members
        .into_values()
        .filter(|member| !seen.contains(&member.id))
        .filter_map(|member| {
            world
                .server
                .list::<foo_api::FooMachine>(NS)
                .into_iter()
                .find(|it| it.spec.instance_id == member.id.as_str())
        })
        .filter_map(|machine| machine.status?.launch_template_version)
        .collect();
    let newest = pool.status().launch_template.unwrap().version;
    assert!(
        !launched.is_empty() && launched.iter().all(|version| *version == newest),
        "{launched:?} {newest}"
    );
    pool.is_of(4);
}

/// A new Secret and a new image were two roll-outs.
#[tokio::test(start_paused = true)]
async fn capa_5797_secret_and_image_at_once_are_one_roll_out() {
    let world = World::new().await;
    let pool = world.pool("p").of(4).await;
    world.has(&crate::support::objects::secret("boot-2", b"#cloud-config 2"));
    pool.edits_machine_pool(|pool| {
        pool.spec.template.spec.bootstrap.data_secret_name = Some("boot-2".to_owned());
    });
    world.waits(Duration::from_secs(4)).await;
    pool.edits(|spec| spec.ami = Ami::of_id(IMAGE_X86_64_NEWER));
    world.settles().await;
    pool.is_of(4);
    // The canary of the first change may have been launched: it is replaced, nothing else twice.
    assert!(world.core.drains().len() <= 5, "{:?}", world.core.drains());
    assert_eq!(pool.status().up_to_date_replicas, Some(4));
}

/// The hook of an instance that never joined was not completed, and the group waited an hour for it.
#[tokio::test(start_paused = true)]
async fn nth_575_an_instance_that_never_joined_is_released_at_once() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    let mishap =
        LaunchMishap { group: None, zone: None, skip: 0, times: Some(1), mishap: Mishap::NeverJoins };
    world.region.set_launch_mishaps(vec![mishap]).unwrap();
    let known = pool.instances();
    pool.scales_to(2);
    world.until("it is in service", || pool.instances().len() == 2 && pool.machines().len() == 2).await;
    let never = pool.instances().into_iter().find(|id| !known.contains(id)).unwrap();
    world.region.find_unhealthy(&never).unwrap();
    world.waits(Duration::from_secs(75)).await;
    let member = pool.group().unwrap().members.get(&never).map(|member| member.lifecycle.clone());
    assert!(member.is_none_or(|it| it != LifecycleState::TerminatingWait), "{}", world.summary());
    world.settles().await;
    pool.is_of(2);
}

/// The hook was completed before the pods were evicted.
#[tokio::test(start_paused = true)]
async fn nth_355_the_hook_waits_for_the_whole_drain() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    world.core.set_drain_time(foo_apiserver_fake::DrainTime::UntilReleased);
    let victim = pool.instances()[0].clone();
    world.region.find_unhealthy(&victim).unwrap();
    world.waits(Duration::from_hours(3)).await;
    let lifecycle = pool.group().unwrap().members[&victim].lifecycle.clone();
    assert_eq!(lifecycle, LifecycleState::TerminatingWait);
    world.core.release_drains();
    world.settles().await;
    pool.is_of(2);
}

/// A termination that came before the Node was known was dropped.
#[tokio::test(start_paused = true)]
async fn lifecycle_manager_282_an_instance_terminated_before_it_is_known_is_not_forgotten() {
    for wait in [1_200, 2_300, 3_100, 9_000, 15_000] {
        let world = World::new().await;
        let pool = world.pool("p").of(1).await;
        let known = pool.instances();
        pool.scales_to(2);
        world.waits(Duration::from_millis(wait)).await;
        let newcomer = pool.group().unwrap().members.into_keys().find(|id| !known.contains(id));
        if let Some(newcomer) = newcomer {
            let end = |region: &mut foo_simulator_core::core::Region| {
                region.terminate_member(&newcomer, foo_model::Decrement::Replace)
            };
            drop(world.region.with(end).unwrap());
        }
        world.settles().await;
        pool.is_of(2);
    }
}
