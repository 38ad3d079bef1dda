//! Ids are how it knows instances: one that differs by a character, that comes late or stays too long costs a Node or a
//! replica.

use super::WORLD;
use super::writes::{leaves_sizes_alone, only_evicted_from};
use anyhow::Result;
use foo_e2e::autoscaler::{Autoscaler, node_group};
use foo_testbed::on_this_machine;
use foo_testbed::world::kinds::{History, Kind, number, text};
use foo_testbed::world::{AFTER_DRAIN, MachineView, Pool, PoolView, QUIET_PERIOD, REGION, SOON};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// It takes a size that differs from the number of instances for an error after 15 minutes, and an id without a Node
/// too. We hold ourselves to much less.
const PATIENCE: Duration = Duration::from_mins(1);

fn ids(version: &Value) -> Vec<&str> {
    let ids = version.pointer("/spec/providerIDList").and_then(Value::as_array);
    ids.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// In every version the ids were well formed, sorted, and distinguished by their last segments.
fn were_always_good(history: &History) {
    for version in history.versions() {
        let ids = ids(&version);
        assert!(ids.is_sorted(), "{ids:?}");
        let mut last = BTreeSet::new();
        for id in &ids {
            let parts = id.strip_prefix("aws:///").and_then(|rest| rest.split_once('/'));
            let (zone, instance) = parts.unwrap_or_default();
            assert!(
                zone.starts_with(REGION) && instance.starts_with("i-") && !instance.contains('/'),
                "{id}"
            );
            assert!(last.insert(instance), "twice: {ids:?}");
        }
    }
}

/// Follows a pool and shows what is wrong with its list.
#[derive(Default)]
struct Watch {
    listed: BTreeSet<String>,
    ghosts: BTreeMap<String, Instant>,
    wrong_size: Option<Instant>,
}

impl Watch {
    fn check(&mut self, view: &PoolView) {
        let last = |id: &str| id.rsplit('/').next().unwrap_or_default().to_owned();
        let now: BTreeSet<String> = view.provider_ids().into_iter().map(last).collect();
        for id in self.listed.difference(&now) {
            // The instances were read after the list.
            let state = view.instances.get(id).map(String::as_str);
            assert_ne!(state, Some("Running"), "{id} lives and is listed no more: {view}");
        }
        self.ghosts.retain(|id, _| now.contains(id) && !view.instances.contains_key(id));
        for id in now.iter().filter(|id| !view.instances.contains_key(*id)) {
            let since = *self.ghosts.entry(id.clone()).or_insert_with(Instant::now);
            assert!(
                since.elapsed() < on_this_machine(Duration::from_secs(20)),
                "{id} is terminated and still listed: {view}"
            );
        }
        self.listed = now;
        let wanted = view.machine_pool.as_ref().and_then(|pool| number(pool, "/spec/replicas"));
        if i64::try_from(self.listed.len()).ok() == wanted {
            self.wrong_size = None;
        } else {
            let since = *self.wrong_size.get_or_insert_with(Instant::now);
            assert!(
                since.elapsed() < on_this_machine(PATIENCE),
                "for too long not as many as requested: {view}"
            );
        }
    }

    async fn until_settled(&mut self, pool: &Pool<'_>, replicas: usize) -> Result<PoolView> {
        pool.wait(&format!("to settle at {replicas}"), AFTER_DRAIN, |view| {
            self.check(view);
            view.is_settled_at(replicas)
        })
        .await
    }
}

/// Habit 3: a Ready, loaded Node whose id it does not find is "unregistered" to it and is ended undrained.
#[test]
fn ids_are_those_of_the_nodes_so_that_none_is_unregistered() {
    WORLD.run(async |world| {
        let cluster = world.cluster("ca-unregistered").await?;
        let autoscaler = Autoscaler::of(world, &cluster).await?;
        let own = world.history(Kind::FooMachinePool, "ca-unregistered").await?;
        let cores = world.history(Kind::MachinePool, "ca-unregistered").await?;
        let pool = node_group(&cluster, 1).await?;
        pool.settles_at(1).await?;
        autoscaler.set_size(&pool, 3).await?;
        let three = pool.settles_at(3).await?;
        pool.run("web", 3).await?;
        assert_eq!(autoscaler.unregistered(&pool).await?, Vec::<String>::new());

        let mut listed = autoscaler.instances(&pool).await?;
        assert_eq!(listed, three.provider_ids());
        for (machine, foo) in three.machines.iter().zip(&three.foo_machines) {
            let id = text(&machine.object, "/spec/providerID");
            assert_eq!(id, text(foo, "/spec/providerID"));
            assert_eq!(Some(id), machine.node.as_ref().map(|node| text(node, "/spec/providerID")));
            listed.retain(|other| other != id);
        }
        assert_eq!(listed, Vec::<String>::new());
        were_always_good(&own);
        were_always_good(&cores);
        leaves_sizes_alone(world, "ca-unregistered")
    });
}

/// Habit 4: a ghost in the list costs a replica, and so does a live instance beyond the desired replicas that lingers.
#[test]
fn an_id_is_listed_as_long_as_its_instance_lives_and_no_longer() {
    WORLD.run(async |world| {
        let cluster = world.cluster("ca-ghosts").await?;
        let autoscaler = Autoscaler::of(world, &cluster).await?;
        let pool = node_group(&cluster, 3).await?;
        let three = pool.settles_at(3).await?;
        let workload = pool.run("web", 3).await?;
        let victim = &three.machines[0];
        let mut watch = Watch::default();
        autoscaler.scale_down(&pool, &[victim]).await?;
        pool.wait("its drain to wait for the budget", SOON, |view| {
            watch.check(view);
            view.deleting().any(MachineView::waits_for_budget)
        })
        .await?;
        assert_eq!(autoscaler.instances(&pool).await?, three.provider_ids(), "ids stay during a drain");
        workload.allow(3).await?;
        let two = watch.until_settled(&pool, 2).await?;
        only_evicted_from(world, "ca-ghosts", &[victim.node_name()])?;

        // An instance is terminated in EC2: its id is removed, that of a replacement is added.
        let killed = &two.machines[0];
        world.aws().kill_instance(&killed.instance)?;
        pool.wait("its id to be removed", SOON, |view| {
            watch.check(view);
            !view.provider_ids().iter().any(|id| id.ends_with(&killed.instance))
        })
        .await?;
        watch.until_settled(&pool, 2).await?;
        assert_eq!(autoscaler.target_size(&pool).await?, 2);
        leaves_sizes_alone(world, "ca-ghosts")
    });
}

/// Habit 7: at zero it needs an empty list, not none, and the way up again.
#[test]
fn at_zero_the_list_is_empty_and_the_pool_scales_out_again() {
    WORLD.run(async |world| {
        let cluster = world.cluster("ca-zero").await?;
        let autoscaler = Autoscaler::of(world, &cluster).await?;
        let pool = node_group(&cluster, 2).await?;
        let two = pool.settles_at(2).await?;
        let machines: Vec<_> = two.machines.iter().collect();
        autoscaler.scale_down(&pool, &machines).await?;
        let zero = pool.settles_within(0, AFTER_DRAIN).await?;
        let own = zero.foo_pool.unwrap_or_default();
        assert_eq!(own.pointer("/spec/providerIDList"), Some(&json!([])));
        assert_eq!(number(&own, "/status/replicas"), Some(0));
        assert_eq!(autoscaler.instances(&pool).await?, Vec::<String>::new());
        assert_eq!(autoscaler.target_size(&pool).await?, 0);
        assert_eq!(own.pointer("/status/capacity/cpu"), Some(&json!("2")), "it is needed most now");

        autoscaler.set_size(&pool, 1).await?;
        let one = pool.settles_at(1).await?;
        assert_eq!(autoscaler.instances(&pool).await?, one.provider_ids());
        leaves_sizes_alone(world, "ca-zero")
    });
}

/// Habit 8, the other half: its list may be two minutes old. A Machine that is on it and deleted causes no other
/// deletion.
#[test]
fn a_stale_list_deletes_no_other_machine() {
    WORLD.run(async |world| {
        let cluster = world.cluster("ca-old-list").await?;
        let autoscaler = Autoscaler::of(world, &cluster).await?;
        let pool = node_group(&cluster, 2).await?;
        let old = pool.settles_at(2).await?;
        let [deleted, other] = [&old.machines[0], &old.machines[1]];
        world.aws().kill_instance(&deleted.instance)?;
        pool.wait("a replacement", SOON, |view| {
            view.is_settled_at(2) && view.machine_of(&deleted.instance).is_none()
        })
        .await?;
        pool.run("web", 2).await?;
        let outcome = autoscaler.remove_unregistered(&pool, &[deleted]).await;
        assert!(outcome.is_err(), "it found a Machine for a terminated instance");
        pool.stays("as it is", QUIET_PERIOD, |view| view.is_settled_at(2)).await?;

        // And what still exists is deleted, and only that.
        pool.workload("web").allow(2).await?;
        autoscaler.scale_down(&pool, &[other]).await?;
        let one = pool.settles_within(1, AFTER_DRAIN).await?;
        assert!(one.machine_of(&other.instance).is_none(), "{one}");
        only_evicted_from(world, "ca-old-list", &[other.node_name()])?;
        leaves_sizes_alone(world, "ca-old-list")
    });
}
