//! AWS shows late what it did, leaves out what it knows, and refuses for a moment what it will do: nothing of it ends a
//! living node undrained, is created twice, or is reported as a failure.

use crate::support::{NS, Pool, World};
use foo_api::FooMachine;
use foo_model::{InstanceId, Process};
use foo_simulator_core::core::mishaps::ZoneState;
use foo_simulator_core::core::settings::{ActivityPages, MetadataTags, ReadOrder};
use foo_simulator_core::{Fault, FaultRule};
use std::time::Duration;

const ZONES: [&str; 3] = ["eu-central-1a", "eu-central-1b", "eu-central-1c"];

impl World {
    /// Whatever AWS may show late or refuse for a moment, it does.
    fn sees_late(&self) {
        let late = |settings: &mut foo_simulator_core::core::Settings| {
            settings.read_lag = Duration::from_secs(5);
            settings.read_order = ReadOrder::AnyOrder;
            settings.instances_appear_after = Duration::from_secs(40);
            settings.tags_appear_after = Duration::from_secs(20);
            settings.versions_appear_after = Duration::from_secs(20);
            settings.rights_appear_after = Duration::from_secs(10);
            settings.instance_metadata_tags = MetadataTags::Enabled;
            settings.activity_pages = ActivityPages::Short;
        };
        self.region.change_settings(late).unwrap();
    }

    /// EC2 leaves out the instances of all zones for so long.
    fn hides_all_instances(&self, time: Duration) {
        for zone in ZONES {
            self.region.leave_out_zone(zone, time).unwrap();
        }
    }

    fn counts(&self, action: &str) -> u64 {
        self.aws.call_counts().iter().filter(|((_, name), _)| name == action).map(|(_, it)| it.calls).sum()
    }
}

impl Pool<'_> {
    fn waits(&self, id: &InstanceId) -> bool {
        self.group().is_some_and(|group| {
            group.members.get(id).is_some_and(|member| member.lifecycle.name() == "Terminating:Wait")
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_pool_has_its_whole_life_cycle_while_reads_of_aws_lag() {
    let world = World::new().await;
    world.sees_late();
    let pool = world.pool("p").of(3).await;
    pool.is_of(3);
    assert_eq!(world.counts("CreateLaunchTemplate"), 1);
    assert_eq!(world.counts("CreateLaunchTemplateVersion"), 0, "what is not visible yet is not made again");
    pool.scales_to(6);
    world.settles().await;
    pool.is_of(6);
    world.region.leave_out_zone(ZONES[0], Duration::from_mins(3)).unwrap();
    pool.edits(|spec| spec.instance_type = Some("m7i.xlarge".to_owned()));
    // The roll-out waits quietly for an instance of that zone.
    world.waits(Duration::from_mins(3)).await;
    world.settles().await;
    pool.is_of(6);
    assert_eq!(world.counts("CreateLaunchTemplateVersion"), 1);
    let victim = pool.instances()[0].clone();
    world.region.find_unhealthy(&victim).unwrap();
    pool.scales_to(2);
    world.settles().await;
    pool.is_of(2);
    assert_eq!(world.notes("ActionFailed"), Vec::<String>::new(), "nothing of it is a failure");
    pool.is_deleted();
    world.settles().await;
    pool.left_nothing();
}

#[tokio::test(start_paused = true)]
async fn interrupted_instances_are_drained_while_ec2_omits_their_zone() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    world.drains_take(Duration::from_mins(10));
    world.hides_all_instances(Duration::from_mins(15));
    let victim = pool.instances()[0].clone();
    world.region.find_unhealthy(&victim).unwrap();
    world.waits(Duration::from_mins(9)).await;
    assert!(pool.waits(&victim), "it lives, and its node is being drained");
    let excluded = pool.machines().iter().any(|it| {
        it.metadata.annotations.iter().flatten().any(|(key, _)| key.contains("exclude-node-draining"))
    });
    assert!(!excluded);
    world.settles().await;
    let has_left = pool.group().is_some_and(|group| !group.members.contains_key(&victim));
    assert!(has_left, "it was drained");
    assert_eq!(pool.foo_machines().len(), 4, "its end has not been reported yet");
    world.waits(Duration::from_mins(6)).await;
    world.settles().await;
    pool.is_of(3);
}

#[tokio::test(start_paused = true)]
async fn an_instance_in_service_that_ec2_does_not_know_yet_gets_its_addresses_when_it_does() {
    let world = World::new().await;
    let late = Duration::from_mins(3);
    world.region.change_settings(|settings| settings.instances_appear_after = late).unwrap();
    let pool = world.pool("p").begins_with(2);
    world.until("they are in service", || pool.instances().len() == 2).await;
    world.waits(Duration::from_mins(1)).await;
    let ready = || {
        let machines = world.server.list::<FooMachine>(NS);
        let addressed = |it: &FooMachine| it.status.as_ref().is_some_and(|it| !it.addresses.is_empty());
        machines.iter().filter(|it| addressed(it)).count()
    };
    assert_eq!(ready(), 0, "EC2 does not know them");
    // It is asked after pauses that grow to half of the time for which it has not known them.
    world.waits(Duration::from_mins(4)).await;
    assert_eq!(ready(), 2);
    world.settles().await;
    assert_eq!(ready(), 2);
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn an_instance_under_launch_is_terminated_once_aws_allows_it_without_a_failure() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    pool.scales_to(4);
    world.until("they are launched", || pool.group().is_some_and(|it| it.members.len() == 4)).await;
    world.waits(Duration::from_secs(3)).await;
    pool.scales_to(1);
    world.settles().await;
    pool.is_of(1);
    assert_eq!(world.notes("ActionFailed"), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn launches_that_aws_suspended_are_resumed_when_the_spec_changes() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    let day = Duration::from_mins(10);
    world.region.change_settings(|settings| settings.administrative_suspension = day).unwrap();
    for zone in ZONES {
        world.region.set_zone_state(zone, ZoneState::Impaired).unwrap();
    }
    pool.scales_to(2);
    let suspended = || pool.group().is_some_and(|it| it.suspended.contains_key(&Process::Launch));
    world.until("AWS suspends launches", suspended).await;
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(pool.state_of("CapacityAvailable"), "False LaunchSuspended");
    let message = pool.condition("CapacityAvailable").message;
    assert!(message.contains("Administratively suspended"), "{message}");
    for zone in ZONES {
        world.region.set_zone_state(zone, ZoneState::Available).unwrap();
    }
    world.waits(Duration::from_mins(5)).await;
    assert!(suspended(), "nothing else is requested yet");
    pool.scales_to(3);
    world.settles().await;
    pool.is_of(3);
    assert!(!suspended());
}

#[tokio::test(start_paused = true)]
async fn a_template_that_auto_scaling_does_not_find_is_named_after_a_minute() {
    let world = World::new().await;
    let fault = Fault::Error {
        code: "ValidationError".to_owned(),
        status: 400,
        message: "You must use a valid fully-formed launch template. Could not find the specified version 1 for the launch \
                  template with ID lt-1."
            .to_owned(),
    };
    let rule = world.aws.add_fault(FaultRule::on("CreateAutoScalingGroup", fault));
    let pool = world.pool("p").begins_with(2);
    world.waits(Duration::from_secs(50)).await;
    assert!(world.aws.calls("CreateAutoScalingGroup") > 3, "it is tried again soon");
    assert_eq!(world.notes("ActionFailed"), Vec::<String>::new(), "it may be young");
    world.waits(Duration::from_mins(1)).await;
    assert_eq!(world.notes("ActionFailed").len(), 1);
    let condition = pool.condition("AutoScalingGroupReady");
    assert_eq!(
        (condition.status.as_str(), condition.reason.as_str()),
        ("False", "RequestInvalid"),
        "{condition:?}"
    );
    assert!(condition.message.contains("Could not find the specified version 1"), "{}", condition.message);
    world.aws.remove_fault(rule);
    world.waits(Duration::from_mins(7)).await;
    world.settles().await;
    pool.is_of(2);
}
