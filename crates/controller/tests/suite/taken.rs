//! Instances that AWS terminates by itself: the group's hook keeps them until Cluster API has drained their Nodes.

use crate::support::{NS, Pool, World};
use foo_api::FooMachine;
use foo_api::capi::Machine;
use foo_cloud::Groups as _;
use foo_cloud::retry::jittered;
use foo_model::{InstanceId, LifecycleState, Protection};
use foo_simulator_core::core::rules::group::hooks::{ActionKey, ActionResult, HookChange, Transition};
use foo_simulator_core::core::rules::group::refresh::{PreferencesSpec, RefreshStatus, Treatment};
use foo_simulator_core::{BucketSize, DEFAULT_REGION, Fault, FaultRule, Probability, Throttling};
use std::time::Duration;
use tokio::time::{Instant, sleep};

impl World {
    /// The group's health check, or a user, finds an instance unhealthy: AWS replaces it.
    fn finds_unhealthy(&self, id: &InstanceId) {
        self.region.find_unhealthy(id).unwrap();
    }

    fn calls_of(&self, action: &str) -> u64 {
        let counts = self.aws.call_counts();
        counts.iter().filter(|((_, name), _)| name == action).map(|(_, count)| count.calls).sum()
    }

    fn lives(&self, id: &InstanceId) -> bool {
        self.region.instance(id).is_some_and(|instance| instance.state.is_alive())
    }
}

impl Pool<'_> {
    fn waiting(&self) -> Vec<InstanceId> {
        let members = self.group().into_iter().flat_map(|group| group.members.into_values());
        members
            .filter(|member| member.lifecycle == LifecycleState::TerminatingWait)
            .map(|member| member.id)
            .collect()
    }

    /// How long AWS waits for the next heartbeat, at the least.
    fn time_left(&self, world: &World) -> Duration {
        let members = self.group().into_iter().flat_map(|group| group.members.into_values());
        let waits = members.flat_map(|member| member.waits.into_values());
        let now = world.region.with(|region| region.now()).unwrap();
        waits.map(|wait| now.until(wait.expires)).min().unwrap_or(Duration::MAX)
    }

    fn machine_of(&self, id: &InstanceId) -> Machine {
        let suffix = &id.as_str()[2..];
        self.machines().into_iter().find(|it| it.metadata.name.iter().any(|it| it.ends_with(suffix))).unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn instances_that_aws_terminates_are_drained_and_the_hook_is_completed_once() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    world.drains_take(Duration::from_mins(5));
    let victim = pool.instances()[0].clone();
    let machine = pool.machine_of(&victim).metadata.name.unwrap();
    world.forgets();
    world.finds_unhealthy(&victim);
    world
        .until("its Machine is deleted", || pool.machine_of(&victim).metadata.deletion_timestamp.is_some())
        .await;
    world.waits(Duration::from_mins(4)).await;
    assert_eq!(pool.waiting(), std::slice::from_ref(&victim), "it waits for its drain");
    assert_eq!(pool.instances().len(), 3, "its replacement does not wait");
    let status = world.server.get::<FooMachine>(NS, &machine).unwrap().status.unwrap();
    let hook = status.drain_hook.expect("the hook is in the status");
    assert!(hook.deadline.0 > hook.since.0);
    let events = world.notes("InstanceTerminatedByAws");
    assert!(
        matches!(events.as_slice(), [one] if one.contains("health")),
        "with AWS's reason, once: {events:?}"
    );
    assert_eq!(world.calls_of("DescribeScalingActivities"), 1, "asked once");
    world.settles().await;
    pool.is_of(3);
    assert!(!world.lives(&victim));
    assert_eq!((world.calls_of("CompleteLifecycleAction"), world.calls_of("PutLifecycleHook")), (1, 0));
    assert!(world.core.retired_nodes().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_group_is_created_with_its_hook() {
    let mut world = World::new().await;
    world.pool("p").of(2).await;
    assert_eq!((world.calls_of("PutLifecycleHook"), world.calls_of("DescribeLifecycleHooks")), (0, 0));
    assert_eq!(world.pool("p").group().unwrap().hooks.len(), 1);
    // A manager that ends in the middle of the creation leaves no group without.
    let rule = world.aws.add_fault(FaultRule::on("CreateAutoScalingGroup", Fault::DroppedAfter));
    world.pool("q").begins_with(1);
    world.until("there is a group", || world.pool("q").group().is_some()).await;
    world.kills_the_manager();
    world.aws.remove_fault(rule);
    assert_eq!(world.pool("q").group().unwrap().hooks.len(), 1);
    world.starts_the_manager();
    world.settles().await;
    world.pool("q").is_of(1);
    assert_eq!(world.calls_of("PutLifecycleHook"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_long_drain_is_kept_alive_by_heartbeats_across_restarts() {
    let mut world = World::new().await;
    world.pool("p").of(2).await;
    world.drains_take(Duration::from_hours(5));
    let victims = world.pool("p").instances();
    for victim in &victims {
        world.finds_unhealthy(victim);
    }
    for _ in 0..4 {
        world.waits(Duration::from_mins(59)).await;
        world.kills_the_manager();
        world.waits(Duration::from_mins(10)).await;
        world.starts_the_manager();
        assert_eq!(world.pool("p").waiting(), victims);
    }
    world.waits(Duration::from_mins(40)).await;
    let pool = world.pool("p");
    assert!(pool.waiting().is_empty());
    let beats = world.calls_of("RecordLifecycleActionHeartbeat");
    assert!((20..=40).contains(&beats), "{beats}: one each in twenty minutes, and after a restart");
    world.settles().await;
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn hooks_of_others_are_never_changed_and_the_providers_is_restored() {
    let mut world = World::new().await;
    let group = world.pool("p").of(2).await.group_name();
    let foreign = HookChange {
        name: "foreign".to_owned(),
        transition: Some(Transition::Terminating),
        heartbeat: Some(7_200),
        ..HookChange::default()
    };
    world.region.with(|region| region.put_hook(&group.clone().into(), foreign)).unwrap().unwrap();
    let victim = world.pool("p").instances()[0].clone();
    world.finds_unhealthy(&victim);
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(world.pool("p").waiting(), std::slice::from_ref(&victim), "the other hook has not ended");
    assert_eq!(world.calls_of("DeleteLifecycleHook"), 0);
    let key = ActionKey::Instance(victim.clone());
    let complete = |region: &mut foo_simulator_core::core::Region| {
        region.complete_action(&group.clone().into(), "foreign", &key, ActionResult::Continue)
    };
    world.region.with(complete).unwrap().expect("the foreign hook still waits");
    world.settles().await;
    world.region.with(|region| region.delete_hook(&group.clone().into(), "foo-drain")).unwrap().unwrap();
    world.kills_the_manager();
    world.starts_the_manager();
    world.settles().await;
    let pool = world.pool("p");
    let hooks: Vec<String> = pool.group().unwrap().hooks.into_keys().collect();
    assert_eq!(hooks, ["foo-drain", "foreign"]);
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn peers_capa_2574_a_scale_in_by_hand_with_protection_removed_drains() {
    let world = World::new().await;
    let pool = world.pool("p").of(4).await;
    let ids = pool.instances();
    let name = pool.group_name().into();
    let by_hand = |region: &mut foo_simulator_core::core::Region| {
        region.set_protection(&name, &ids, Protection::Unprotected)?;
        for id in &ids[..2] {
            region.terminate_member(id, foo_model::Decrement::Shrink)?;
        }
        Ok::<_, foo_simulator_core::core::AwsError>(())
    };
    world.region.with(by_hand).unwrap().unwrap();
    world.settles().await;
    pool.is_of(4);
    assert_eq!(world.core.drains().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn many_at_once_are_all_drained() {
    let world = World::new().await;
    let pool = world.pool("p").of(30).await;
    world.drains_take(Duration::from_mins(30));
    for id in pool.instances() {
        world.finds_unhealthy(&id);
    }
    world.waits(Duration::from_mins(25)).await;
    assert_eq!(pool.waiting().len(), 30);
    world.settles().await;
    pool.is_of(30);
    assert_eq!(world.core.drains().len(), 30);
}

#[tokio::test(start_paused = true)]
async fn an_instance_refresh_by_another_user_is_drained_and_never_cancelled() {
    let world = World::new().await;
    let pool = world.pool("p").of(4).await;
    world.drains_take(Duration::from_mins(2));
    let before = pool.instances();
    let preferences = PreferencesSpec {
        min_healthy: Some(50),
        protected: Some(Treatment::Replace),
        ..PreferencesSpec::default()
    };
    let name = pool.group_name().into();
    world.region.with(|region| region.start_refresh(&name, None, preferences)).unwrap().unwrap();
    world.waits(Duration::from_mins(30)).await;
    world.settles().await;
    pool.is_of(4);
    assert!(pool.instances().iter().all(|id| !before.contains(id)), "all were replaced");
    let refreshes = pool.group().unwrap().refreshes;
    assert_eq!(refreshes.iter().map(|it| it.status).collect::<Vec<_>>(), [RefreshStatus::Successful]);
    assert_eq!(world.calls_of("CancelInstanceRefresh"), 0);
    assert_eq!(world.core.drains().len(), 4);
    let events = world.notes("InstanceTerminatedByAws");
    assert_eq!(events.len(), 4);
    assert!(events.iter().all(|note| note.contains("(an instance refresh)")), "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn an_instance_that_terminates_during_its_drain_is_released() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    world.drains_take(Duration::from_hours(20));
    let victim = pool.instances()[0].clone();
    world.finds_unhealthy(&victim);
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(pool.waiting(), std::slice::from_ref(&victim));
    world.kills_instance(&victim);
    world.waits(Duration::from_mins(3)).await;
    assert!(pool.waiting().is_empty());
    assert!(world.events_on("p").contains(&"InstanceMissing".to_owned()), "{:?}", world.events_on("p"));
    world.settles().await;
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn a_pool_is_removed_while_an_instance_waits() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    world.drains_take(Duration::from_mins(10));
    world.finds_unhealthy(&pool.instances()[0]);
    world.waits(Duration::from_mins(1)).await;
    pool.is_deleted();
    world.settles().await;
    pool.left_nothing();
    assert_eq!(world.core.drains().len(), 4, "the replacement, too");
}

#[tokio::test(start_paused = true)]
async fn a_drain_that_never_ends_is_cut_short_with_a_warning_before_aws_does_it() {
    let mut world = World::new().await;
    let victim = world.pool("p").of(1).await.instances()[0].clone();
    world.drains_take(Duration::from_hours(100));
    world.finds_unhealthy(&victim);
    world.waits(Duration::from_mins(2)).await;
    let machine = world.pool("p").machine_of(&victim).metadata.name.unwrap();
    // 47 hours pass in no time: what a restarted manager knows of them is in the status.
    world.kills_the_manager();
    let since = |machine: &mut FooMachine| {
        let hook = machine.status.as_mut().and_then(|status| status.drain_hook.as_mut()).expect("a hook");
        hook.since.0 -= Duration::from_hours(47);
    };
    world.server.edit(NS, &machine, since).unwrap();
    world.starts_the_manager();
    world.waits(Duration::from_mins(50)).await;
    assert!(world.lives(&victim));
    world.excuses(&victim);
    world.waits(Duration::from_mins(8)).await;
    assert!(!world.lives(&victim));
    let events = world.events_on("p");
    assert!(events.contains(&"DrainIncomplete".to_owned()), "{events:?}");
    world.settles().await;
    world.pool("p").is_of(1);
}

/// Half of all calls is refused for two hours: what waits is kept alive nevertheless.
#[tokio::test(start_paused = true)]
async fn heartbeats_are_sent_in_a_throttling_storm() {
    let world = World::new().await;
    let pool = world.pool("p").of(12).await;
    world.drains_take(Duration::from_mins(135));
    let half = Probability::try_from(0.5).unwrap();
    world.aws.add_fault(FaultRule::on_everything(Fault::Throttled).with_probability(half));
    for id in pool.instances() {
        world.finds_unhealthy(&id);
    }
    world.waits(Duration::from_mins(5)).await;
    world.forgets();
    let mut nearest = Duration::MAX;
    for _ in 0..115 {
        world.waits(Duration::from_mins(1)).await;
        assert_eq!(pool.waiting().len(), 12);
        nearest = nearest.min(pool.time_left(&world));
    }
    // `make bench` shows it.
    println!(
        "heartbeats of 12 instances in 115 minutes, every second call throttled: {} calls of {} that would do; the nearest \
         timeout was {} minutes away, of 60",
        world.calls_of("RecordLifecycleActionHeartbeat"),
        12 * 115 / 20,
        nearest.as_secs() / 60
    );
    assert!(nearest > Duration::from_mins(15), "{nearest:?}: none is late");
    world.aws.clear_faults();
    world.waits(Duration::from_mins(15)).await;
    world.settles().await;
    pool.is_of(12);
    assert_eq!(world.core.drains().len(), 12);
}

/// Another client of the account sends calls all the time, for an hour: it uses up the limit of Auto Scaling calls.
async fn uses_up_the_account(world: &World) {
    let cloud = world.aws.cloud(DEFAULT_REGION, "another-client");
    let end = Instant::now() + Duration::from_hours(1);
    for call in 0_u32.. {
        while cloud.describe_groups(&["of-others".into()]).await.is_ok() {}
        if Instant::now() >= end {
            return;
        }
        sleep(jittered(Duration::from_millis(150), &call)).await;
    }
}

/// The present rate of Auto Scaling calls, in percent of the configured one.
fn rate_of_auto_scaling(world: &World) -> u32 {
    let text = world.metrics().exposition().unwrap();
    let rate = r#"foo_aws_rate_percent{bucket="auto_scaling"} "#;
    text.lines().find_map(|line| line.strip_prefix(rate)).unwrap().parse().unwrap()
}

/// Drains of six instances last longer than the hour, those of four end in the middle of it.
#[tokio::test(start_paused = true)]
async fn heartbeats_and_completions_are_never_late_while_another_client_uses_up_the_account() {
    let world = World::new().await;
    let (slow, quick) = (world.pool("slow").of(6).await, world.pool("quick").of(4).await);
    for (pool, drain) in [(&slow, 90), (&quick, 40)] {
        world.drains_take(Duration::from_mins(drain));
        for id in pool.instances() {
            world.finds_unhealthy(&id);
        }
        world.waits(Duration::from_mins(5)).await;
    }
    world.forgets();
    let limit = BucketSize { burst: 10.0, per_second: 2.0 };
    world.aws.set_throttling(Throttling { autoscaling: Some(limit), ..Throttling::OFF });
    let (mut nearest, mut lowest_rate, mut minutes_late) = (Duration::MAX, 100, 0);
    let observes = async {
        for minute in 1..=60 {
            world.waits(Duration::from_mins(1)).await;
            assert_eq!(slow.waiting().len(), 6, "minute {minute}");
            nearest = nearest.min(slow.time_left(&world)).min(quick.time_left(&world));
            lowest_rate = lowest_rate.min(rate_of_auto_scaling(&world));
            let are_drained = world.core.draining().len() == slow.waiting().len();
            minutes_late += u32::from(are_drained && !quick.waiting().is_empty());
        }
    };
    tokio::join!(uses_up_the_account(&world), observes);
    // `make bench` shows it.
    println!(
        "an hour in which another client uses up the account: {} heartbeats and {} completions were sent, of which about 24 \
         and 4 would do; the nearest timeout was {} minutes away, of 60; {minutes_late} minutes until the last completion",
        world.calls_of("RecordLifecycleActionHeartbeat"),
        world.calls_of("CompleteLifecycleAction"),
        nearest.as_secs() / 60,
    );
    assert!(nearest > Duration::from_mins(15), "{nearest:?}: no heartbeat is late");
    assert!(quick.waiting().is_empty() && minutes_late <= 10, "completed after {minutes_late} minutes");
    assert!(lowest_rate <= 50, "{lowest_rate}: the manager slows down");
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(rate_of_auto_scaling(&world), 100, "the rate recovers within two minutes");
    world.aws.set_throttling(Throttling::OFF);
    world.waits(Duration::from_mins(30)).await;
    world.settles().await;
    slow.is_of(6);
    quick.is_of(4);
}
