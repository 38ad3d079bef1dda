//! The habits that cost Nodes elsewhere: taking back too much, counting down twice, restarting halfway, flapping.

use super::WORLD;
use super::writes::{deaths, leaves_sizes_alone, only_evicted_from};
use anyhow::Result;
use foo_e2e::autoscaler::{Autoscaler, MARK, in_bounds, node_group};
use foo_testbed::world::kinds::{Kind, text};
use foo_testbed::world::{
    AFTER_DRAIN, GROUP_LABEL, MachineView, Pool, PoolView, QUIET_PERIOD, REGION, SOON, World,
};
use foo_testbed::{Join, NodeSpec, Probe, wait_until};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// With a provider that does not react it changes its mind twice a second.
const BETWEEN_CHANGES: Duration = Duration::from_millis(500);

/// Room for this many instances of a type in each zone.
fn set_room(world: &World, instance_type: &str, room: Option<u32>) -> Result<()> {
    for zone in ["a", "b", "c"] {
        world.aws().region().set_capacity_limit(&format!("{REGION}{zone}"), instance_type, room)?;
    }
    Ok(())
}

fn desired(view: &PoolView) -> Option<u32> {
    view.group.as_ref().map(|group| group.sizes.desired)
}

fn is_deleting(view: &PoolView, machine: &MachineView) -> bool {
    view.machine_of(&machine.instance).is_some_and(MachineView::is_deleting)
}

/// Habit 1: 2→4 was asked for, one Node has come and runs a pod; on the time-out it asks for 2, and ten seconds later
/// for 4 again.
#[test]
fn a_cancelled_scale_out_spares_the_node_that_joined() {
    WORLD.run(async |world| {
        let instance_type = "m6i.large";
        set_room(world, instance_type, Some(1))?;
        let cluster = world.cluster("ca-takes-back").await?;
        let autoscaler = Autoscaler::of(world, &cluster).await?;
        let pool = cluster
            .pool_with("workers", 2, |machine_pool, foo| {
                in_bounds(machine_pool, "0", "10");
                foo["spec"]["instanceType"] = json!(instance_type);
            })
            .await?;
        pool.settles_at(2).await?;
        autoscaler.set_size(&pool, 4).await?;
        let three = pool.wait("one of the two to come", SOON, |view| view.good().count() == 3).await?;
        pool.run("web", 3).await?;

        autoscaler.set_size(&pool, 2).await?;
        pool.wait("what never launched to be cancelled", SOON, |view| desired(view) == Some(3)).await?;
        pool.stays("with all that came", QUIET_PERIOD, |view| {
            view.good().count() == 3 && desired(view) == Some(3)
        })
        .await?;

        set_room(world, instance_type, None)?;
        autoscaler.set_size(&pool, 4).await?;
        let four = pool.settles_at(4).await?;
        assert!(four.instances_of_machines().is_superset(&three.instances_of_machines()), "{four}");
        assert_eq!(deaths(world, "ca-takes-back"), []);
        leaves_sizes_alone(world, "ca-takes-back")
    });
}

/// Habit 1 when AWS has no capacity at all: 4→8 was asked for, nothing came, and on the time-out it asks for 0, against
/// a list that is out of date.
#[test]
fn an_excessive_scale_in_in_a_shortage_spares_serving_machines_unless_marked() {
    WORLD.run(async |world| {
        // No other test of this world launches any.
        let instance_type = "c7i.large";
        let cluster = world.cluster("ca-shortage").await?;
        let autoscaler = Autoscaler::of(world, &cluster).await?;
        let pool = cluster
            .pool_with("workers", 4, |machine_pool, foo| {
                in_bounds(machine_pool, "0", "10");
                foo["spec"]["instanceType"] = json!(instance_type);
            })
            .await?;
        let four = pool.settles_at(4).await?;
        let workload = pool.run("web", 4).await?;
        set_room(world, instance_type, Some(0))?;
        autoscaler.set_size(&pool, 8).await?;
        pool.wait("eight to be asked for", SOON, |view| desired(view) == Some(8)).await?;

        autoscaler.set_size(&pool, 0).await?;
        pool.wait("what never launched to be cancelled", SOON, |view| desired(view) == Some(4)).await?;
        let foo_machine_pool = autoscaler.api(Kind::FooMachinePool);
        wait_until("the pool to report what it keeps", SOON, async || {
            let seen = serde_json::to_value(foo_machine_pool.get(&pool.name().pool).await?)?;
            let ready = format!("{:#}", seen["status"]["conditions"]);
            Ok(Probe::when(ready.contains("4 serving nodes are kept until"), || ready.clone()))
        })
        .await?;
        pool.stays("with all that serve", QUIET_PERIOD, |view| {
            view.good().count() == 4 && desired(view) == Some(4)
        })
        .await?;

        // What it means it marks.
        workload.allow(4).await?;
        autoscaler.set_size(&pool, 4).await?;
        let victim = &four.machines[1];
        autoscaler.scale_down(&pool, &[victim]).await?;
        let three = pool.settles_within(3, AFTER_DRAIN).await?;
        assert!(three.instances_of_machines().is_subset(&four.instances_of_machines()), "{three}");
        assert!(!three.instances_of_machines().contains(&victim.instance), "{three}");
        set_room(world, instance_type, None)?;
        only_evicted_from(world, "ca-shortage", &[victim.node_name()])?;
        leaves_sizes_alone(world, "ca-shortage")
    });
}

/// Habit 2: what it marked and counted down, and what has no deletionTimestamp when its patience ends, it counts down
/// again. So neither a drain that waits nor the provider's limit of drains delays a marked Machine's deletion.
#[test]
fn marked_machines_are_deleted_at_once_so_that_none_is_counted_down_twice() {
    WORLD.run(async |world| {
        let cluster = world.cluster("ca-counts-twice").await?;
        let autoscaler = Autoscaler::of(world, &cluster).await?;
        let pool = cluster
            .pool_with("workers", 4, |machine_pool, foo| {
                in_bounds(machine_pool, "0", "10");
                foo["spec"]["scaleIn"] = json!({"maxConcurrentDrains": 1});
            })
            .await?;
        let four = pool.settles_at(4).await?;
        let workload = pool.run("web", 4).await?;
        let [first, second] = [&four.machines[1], &four.machines[2]];
        autoscaler.scale_down(&pool, &[first, second]).await?;
        let asked = Instant::now();
        pool.wait("both to be deleted", SOON, |view| is_deleting(view, first) && is_deleting(view, second))
            .await?;
        assert!(asked.elapsed() < Duration::from_mins(1), "{:?}", asked.elapsed());
        assert!(!autoscaler.counts_down_again(&pool, &[first, second]).await?);
        pool.stays("with both instances", QUIET_PERIOD, |view| view.instances.len() == 4).await?;

        workload.allow(4).await?;
        let two = pool.settles_within(2, AFTER_DRAIN).await?;
        let left = two.instances_of_machines();
        assert!(!left.contains(&first.instance) && !left.contains(&second.instance), "{two}");
        assert_eq!(autoscaler.target_size(&pool).await?, 2);
        only_evicted_from(world, "ca-counts-twice", &[first.node_name(), second.node_name()])?;
        leaves_sizes_alone(world, "ca-counts-twice")
    });
}

/// Its two writes are two: between them, and when the second fails, nothing happens.
#[test]
fn a_removed_mark_deletes_nothing() {
    WORLD.run(async |world| {
        let cluster = world.cluster("ca-fails").await?;
        let autoscaler = Autoscaler::of(world, &cluster).await?;
        let pool = node_group(&cluster, 2).await?;
        let two = pool.settles_at(2).await?;
        pool.run("web", 2).await?;
        let history = world.history(Kind::Machine, "ca-fails").await?;
        autoscaler.fails_to_scale_down(&pool, &[&two.machines[0]]).await?;
        pool.stays("as it was", QUIET_PERIOD, |view| view.good().count() == 2).await?;
        let after = pool.settles_at(2).await?;
        assert_eq!(after.instances_of_machines(), two.instances_of_machines());
        assert_eq!(deaths(world, "ca-fails"), []);
        let is_marked = |machine: &Value| machine["metadata"]["annotations"].get(MARK).is_some();
        assert!(history.versions().iter().any(is_marked), "it never marked anything");
        assert!(!after.machines.iter().any(|machine| is_marked(&machine.object)), "{after}");
        leaves_sizes_alone(world, "ca-fails")
    });
}

/// Decides, for one pool, whether Nodes join.
fn let_join(world: &World, pool: &Pool<'_>, joins: &Arc<AtomicBool>) {
    let (group, joins) = (pool.group(), Arc::clone(joins));
    world.kubelets().adjust(|options| {
        let others = Arc::clone(&options.join);
        options.join = Arc::new(move |node: &NodeSpec| {
            let own = node.labels.get(GROUP_LABEL) == Some(&group);
            if own && !joins.load(Ordering::Relaxed) { Join::Never } else { others(node) }
        });
    });
}

fn launches(world: &World, pool: &Pool<'_>) -> usize {
    let activities = world.aws().region().activities(&pool.group());
    activities.iter().filter(|activity| activity.description.starts_with("Launching")).count()
}

/// Habit 5: instances that never become Nodes are removed, first unmarked and then marked, and with a provider that
/// does not react it changes its mind twice a second.
#[test]
fn instances_that_never_join_are_deleted_at_once_and_flapping_launches_few() {
    WORLD.run(async |world| {
        let cluster = world.cluster("ca-flaps").await?;
        let autoscaler = Autoscaler::of(world, &cluster).await?;
        let pool = node_group(&cluster, 0).await?;
        let joins = Arc::new(AtomicBool::new(false));
        let_join(world, &pool, &joins);
        pool.settles_at(0).await?;

        let came = |view: &PoolView| {
            view.machines.iter().any(|it| text(&it.object, "/status/phase") == "Provisioned")
        };
        autoscaler.set_size(&pool, 1).await?;
        pool.wait("an instance without a Node", SOON, came).await?;
        autoscaler.set_size(&pool, 0).await?;
        let asked = Instant::now();
        pool.wait("it to go", SOON, |view| view.machines.iter().all(MachineView::is_deleting)).await?;
        // Not after the time that a registered Node is given.
        assert!(asked.elapsed() < Duration::from_secs(40), "{:?}", asked.elapsed());
        pool.settles_at(0).await?;

        autoscaler.set_size(&pool, 1).await?;
        let one = pool.wait("an instance without a Node", SOON, came).await?;
        autoscaler.remove_unregistered(&pool, &[&one.machines[0]]).await?;
        pool.settles_at(0).await?;
        assert_eq!(autoscaler.target_size(&pool).await?, 0);

        let before = launches(world, &pool);
        for _ in 0..10 {
            for size in [1, 0] {
                autoscaler.set_size(&pool, size).await?;
                tokio::time::sleep(BETWEEN_CHANGES).await;
            }
        }
        pool.settles_at(0).await?;
        let launched = launches(world, &pool) - before;
        // A successor may join before its predecessor is deleted (rollout.maxSurge), so it is not one at a time.
        assert!(launched <= 5, "{launched} launches for 10 changes of mind");

        joins.store(true, Ordering::Relaxed);
        autoscaler.set_size(&pool, 1).await?;
        pool.settles_at(1).await?;
        leaves_sizes_alone(world, "ca-flaps")
    });
}

/// Habit 6: it is restarted in the middle of a deletion: taint and cordon go, the mark and the lower size stay.
#[test]
fn a_deletion_continues_when_the_autoscaler_restarts() {
    WORLD.run(async |world| {
        let cluster = world.cluster("ca-restarts").await?;
        let autoscaler = Autoscaler::of(world, &cluster).await?;
        let pool = node_group(&cluster, 3).await?;
        let three = pool.settles_at(3).await?;
        let workload = pool.run("web", 3).await?;
        let victim = &three.machines[1];
        autoscaler.scale_down(&pool, &[victim]).await?;
        pool.wait("its drain to wait for the budget", SOON, |view| {
            view.deleting().any(MachineView::waits_for_budget)
        })
        .await?;
        autoscaler.restarts(&[victim]).await?;
        pool.stays("draining only that one", QUIET_PERIOD, |view| {
            is_deleting(view, victim) && view.deleting().count() == 1 && view.instances.len() == 3
        })
        .await?;
        workload.allow(3).await?;
        let two = pool.settles_within(2, AFTER_DRAIN).await?;
        assert!(!two.instances_of_machines().contains(&victim.instance), "{two}");
        assert!(two.instances_of_machines().is_subset(&three.instances_of_machines()), "{two}");
        only_evicted_from(world, "ca-restarts", &[victim.node_name()])?;
        leaves_sizes_alone(world, "ca-restarts")
    });
}

/// Habit 8, one half: it does not know that another user or controller decides on the size. Then its writes come to
/// nothing.
#[test]
fn where_another_controller_scales_writes_of_the_autoscaler_have_no_effect() {
    WORLD.run(async |world| {
        let cluster = world.cluster("ca-ignores").await?;
        let autoscaler = Autoscaler::of(world, &cluster).await?;
        let pool = cluster
            .pool_with("workers", 2, |machine_pool, foo| {
                in_bounds(machine_pool, "0", "10");
                machine_pool["metadata"]["annotations"]["cluster.x-k8s.io/replicas-managed-by"] =
                    json!("external-autoscaler");
                foo["spec"]["autoscaling"] = json!({"minSize": 2, "maxSize": 5});
            })
            .await?;
        let two = pool.settles_at(2).await?;
        pool.run("web", 2).await?;
        for change in ["more", "less"] {
            match change {
                "more" => autoscaler.set_size(&pool, 4).await?,
                _ => autoscaler.scale_down(&pool, &[&two.machines[0]]).await?,
            }
            pool.wait("the size to be AWS's again", SOON, |view| view.is_settled_at(2)).await?;
            pool.stays("at AWS's size", QUIET_PERIOD, |view| {
                desired(view) == Some(2) && view.good().count() == 2
            })
            .await?;
        }
        assert_eq!(pool.view().await?.instances_of_machines(), two.instances_of_machines());
        assert_eq!(deaths(world, "ca-ignores"), []);
        Ok(())
    });
}
