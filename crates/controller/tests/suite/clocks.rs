//! The manager's clock is wrong, or AWS's: ages of Kubernetes objects are measured by the API server's clock, those of
//! what AWS dates by AWS's.

use crate::support::World;
use foo_api::FooMachinePoolSpec;
use foo_simulator_core::core::mishaps::{LaunchMishap, Mishap};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use std::time::Duration;

/// Nodes must join within ten minutes.
fn soon(spec: &mut FooMachinePoolSpec) {
    spec.remediation.join_timeout_seconds = 600;
    spec.remediation.unhealthy_limit = IntOrString::Int(10);
    spec.remediation.max_in_flight = IntOrString::Int(10);
}

impl World {
    /// The next instances' Nodes never join.
    fn no_node_joins(&self, instances: u32) {
        let mishap = LaunchMishap {
            group: None,
            zone: None,
            skip: 0,
            times: Some(instances),
            mishap: Mishap::NeverJoins,
        };
        self.region.set_launch_mishaps(vec![mishap]).unwrap();
    }

    fn terminations(&self) -> u64 {
        let counts = self.aws.call_counts();
        let ends = counts.iter().filter(|((_, action), _)| action.starts_with("Terminate"));
        ends.map(|(_, count)| count.calls).sum()
    }
}

async fn a_start_with_a_clock_ahead_by(minutes: i64) {
    let mut world = World::new().await;
    world.restarts_the_manager_with_clock_ahead(minutes);
    world.no_node_joins(2);
    let pool = world.pool("p").with(soon).begins_with(2);
    world.waits(Duration::from_mins(8)).await;
    let (instances, ends) = (world.region.groups()[0].members.len(), world.terminations());
    assert_eq!((instances, ends), (2, 0), "clock ahead by {minutes} min");
    let ready = pool.condition("Ready");
    assert!(ready.message.contains("the manager's clock is more than 20 minutes"), "{}", ready.message);
    assert!(world.events_on("p").contains(&"ClocksDiffer".to_owned()));
    let metrics = world.metrics().exposition().unwrap();
    let of_clock = |line: &&str| line.starts_with("foo_clock_difference_seconds{");
    let difference: f64 =
        metrics.lines().find(of_clock).unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    let ahead = Duration::from_mins(minutes.unsigned_abs()).as_secs_f64();
    assert!((difference.abs() - ahead).abs() < 2.0, "{difference}");
    // What waits is done when the clocks agree.
    world.restarts_the_manager_with_clock_ahead(0);
    world.waits(Duration::from_mins(6)).await;
    assert_eq!(world.terminations(), 2, "they never joined");
    world.settles().await;
    world.pool("p").is_of(2);
}

#[tokio::test(start_paused = true)]
async fn a_manager_that_starts_with_a_clock_half_an_hour_ahead_replaces_no_young_machine() {
    a_start_with_a_clock_ahead_by(30).await;
}

#[tokio::test(start_paused = true)]
async fn a_manager_that_starts_with_a_clock_half_an_hour_behind_launches_what_is_requested_and_no_more() {
    a_start_with_a_clock_ahead_by(-30).await;
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_while_the_manager_runs_replaces_no_young_machine() {
    for minutes in [30, -30] {
        let world = World::new().await;
        world.no_node_joins(2);
        let pool = world.pool("p").with(soon).begins_with(2);
        world.waits(Duration::from_mins(1)).await;
        world.sets_the_managers_clock_ahead(minutes);
        world.waits(Duration::from_mins(7)).await;
        let (instances, ends) = (world.region.groups()[0].members.len(), world.terminations());
        assert_eq!((instances, ends), (2, 0), "clock set by {minutes} min");
        // The manager's clock follows a step back at half speed; then what waits is done.
        world.sets_the_managers_clock_ahead(0);
        world.waits(Duration::from_mins(40)).await;
        world.settles().await;
        pool.is_of(2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_roll_out_continues_whatever_the_managers_clock_shows() {
    for minutes in [30, -30] {
        let mut world = World::new().await;
        world.pool("p").of(3).await;
        world.restarts_the_manager_with_clock_ahead(minutes);
        let pool = world.pool("p");
        world.waits(Duration::from_mins(1)).await;
        pool.edits(|spec| spec.instance_type = Some("m7i.xlarge".to_owned()));
        world.settles().await;
        pool.is_of(3);
        assert_eq!(pool.status().up_to_date_replicas, Some(3), "clock ahead by {minutes} min");
    }
}

impl World {
    /// Seconds by which the manager's clock is ahead of another one.
    fn difference_to(&self, clock: &str) -> f64 {
        let metrics = self.metrics().exposition().unwrap();
        let name = format!("foo_clock_difference_seconds{{clock=\"{clock}\"}} ");
        metrics.lines().find_map(|line| line.strip_prefix(&name)).unwrap().parse().unwrap()
    }

    fn prunes(&self) -> u64 {
        let counts = self.aws.call_counts();
        let prunes = counts.iter().filter(|((_, action), _)| action == "DeleteLaunchTemplateVersions");
        prunes.map(|(_, count)| count.calls).sum()
    }
}

/// More launch template versions than are kept, made within two minutes.
async fn many_versions(world: &World) {
    for number in 0..14 {
        world.pool("p").edits(|spec| drop(spec.tags.insert("number".to_owned(), number.to_string())));
        world.waits(Duration::from_secs(8)).await;
    }
}

/// AWS's clock is half an hour off: nothing is as old as it seems. The pool reports it, and continues with what no age
/// decides.
async fn a_pool_while_awss_clock_is_ahead_by(minutes: i64) -> World {
    let mut world = World::new().await;
    world.sets_the_clock_of_aws_ahead(minutes);
    let pool = world.pool("p").of(2).await;
    many_versions(&world).await;
    world.waits(Duration::from_mins(18)).await;
    assert_eq!((world.prunes(), world.terminations()), (0, 0), "AWS's clock ahead by {minutes} min");
    pool.is_of(2);
    let ready = pool.condition("Ready");
    assert!(ready.message.contains("AWS's in eu-central-1"), "{}", ready.message);
    assert!(!ready.message.contains("API server"), "{}", ready.message);
    assert!(world.events_on("p").contains(&"ClocksDiffer".to_owned()), "{:?}", world.events_on("p"));
    let ahead = Duration::from_mins(minutes.unsigned_abs()).as_secs_f64();
    let ahead = if minutes < 0 { ahead } else { -ahead };
    assert!((world.difference_to("aws") - ahead).abs() < 2.0, "{}", world.difference_to("aws"));
    assert!(world.difference_to("kubernetes").abs() < 2.0);
    world
}

/// The clocks agree again: their difference is no longer reported, and what waited is done.
async fn the_clocks_agree_again(world: &World) {
    let pool = world.pool("p");
    world.waits(Duration::from_mins(20)).await;
    world.settles().await;
    assert!(!pool.condition("Ready").message.contains("clock"), "{}", pool.condition("Ready").message);
    assert!(world.difference_to("aws").abs() < 2.0, "{}", world.difference_to("aws"));
    assert_eq!(world.prunes(), 1);
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn while_awss_clock_is_half_an_hour_behind_nothing_is_pruned() {
    let world = a_pool_while_awss_clock_is_ahead_by(-30).await;
    world.sets_the_clock_of_aws_forward(30);
    the_clocks_agree_again(&world).await;
}

#[tokio::test(start_paused = true)]
async fn while_awss_clock_is_half_an_hour_ahead_nothing_is_pruned() {
    let mut world = a_pool_while_awss_clock_is_ahead_by(30).await;
    world.sets_the_clock_of_aws_ahead(-30);
    the_clocks_agree_again(&world).await;
}

/// Without prejudice to the age of anything: roll-outs and scaling continue.
#[tokio::test(start_paused = true)]
async fn a_small_difference_to_awss_clock_is_corrected() {
    for minutes in [-4, 4] {
        let mut world = World::new().await;
        world.sets_the_clock_of_aws_ahead(minutes);
        let pool = world.pool("p").of(1).await;
        many_versions(&world).await;
        // The last version but ten is 12 minutes old at the most, by any clock that dated it.
        world.waits(Duration::from_mins(11)).await;
        assert_eq!(world.prunes(), 0, "AWS's clock ahead by {minutes} min");
        world.waits(Duration::from_mins(25)).await;
        assert_eq!(world.prunes(), 1, "AWS's clock ahead by {minutes} min");
        assert!(!pool.condition("Ready").message.contains("clock"), "{}", pool.condition("Ready").message);
    }
}
