//! The manager is killed around every single call of a network's life cycle, and every response is lost once: nothing
//! is created twice, and nothing is left.

use super::{Census, census, small, tagged};
use crate::support::World;
use foo_simulator_core::{Fault, FaultRule};
use std::collections::BTreeMap;
use std::time::Duration;

/// Until reads have shown all of a network that is ready.
const SEEN: Duration = Duration::from_secs(45);

/// The calls that change something, and how many of each there are, in a life without accidents.
fn changes(world: &World) -> BTreeMap<String, u32> {
    let reads = |action: &str| ["Describe", "Get"].iter().any(|read| action.starts_with(read));
    let calls = world.ec2_calls().into_iter().filter(|(action, _)| !reads(action));
    calls.map(|(action, count)| (action, u32::try_from(count).unwrap())).collect()
}

/// What a network consists of, and the calls of its creation and of its deletion.
async fn without_accidents() -> (Census, BTreeMap<String, u32>, BTreeMap<String, u32>) {
    let world = World::fast();
    world.forgets();
    world.begins_network(small());
    world.network_gets_ready().await;
    let whole = census(&tagged(&world.region));
    let creation = changes(&world);
    world.waits(SEEN).await;
    world.forgets();
    world.deletes_network();
    world.network_is_removed().await;
    (whole, creation, changes(&world))
}

/// Each call of these once.
fn each(calls: &BTreeMap<String, u32>) -> impl Iterator<Item = (&str, u32)> {
    calls.iter().flat_map(|(action, count)| (0..*count).map(move |nth| (action.as_str(), nth)))
}

impl World {
    /// A region in which nothing takes minutes: what is waited for is not what these tests are about.
    fn fast() -> Self {
        let world = Self::empty();
        let shorten = |settings: &mut foo_simulator_core::core::Settings| {
            settings.nat_gateway_create = Duration::from_secs(10);
            settings.nat_gateway_delete = Duration::from_secs(10);
        };
        world.region.change_settings(shorten).unwrap();
        world
    }

    /// A network in it that is ready.
    async fn fast_network() -> Self {
        let world = Self::fast();
        world.begins_network(small());
        world.network_gets_ready().await;
        world.waits(SEEN).await;
        world
    }

    /// This happens to the nth call of an action.
    fn strikes(&self, action: &str, nth: u32, fault: Fault) {
        self.aws.add_fault(FaultRule::on(action, fault).after(nth).times(1));
    }

    async fn has_been_struck(&self, what: &str) {
        self.until(what, || self.aws.faults().is_empty()).await;
    }

    fn is_whole(&self, whole: &Census, what: &str) {
        assert_eq!(&census(&tagged(&self.region)), whole, "{what}\n{:#?}", self.network_status());
    }

    /// Everything that is left of a deleted network, by any creator.
    fn is_clean(&self, what: &str) {
        let left = census(&tagged(&self.region));
        assert!(left.is_empty(), "{what}: {left:?} is left");
    }
}

/// The manager is killed while it waits for the response to this call, which was carried out or not.
async fn crashes_while_creating(whole: &Census, action: &str, nth: u32, fault: &Fault) {
    let what = format!("{action} {nth} {fault:?}");
    let mut world = World::fast();
    world.strikes(action, nth, fault.clone());
    world.begins_network(small());
    world.has_been_struck(&what).await;
    world.kills_the_manager();
    world.waits(Duration::from_secs(20)).await;
    world.starts_the_manager();
    world.network_gets_ready().await;
    world.is_whole(whole, &what);
}

async fn crashes_while_deleting(action: &str, nth: u32, fault: &Fault) {
    let what = format!("{action} {nth} {fault:?}");
    let mut world = World::fast_network().await;
    world.strikes(action, nth, fault.clone());
    world.deletes_network();
    world.has_been_struck(&what).await;
    world.kills_the_manager();
    world.waits(Duration::from_secs(20)).await;
    world.starts_the_manager();
    world.network_is_removed().await;
    world.is_clean(&what);
}

#[tokio::test(start_paused = true)]
async fn a_crash_after_any_call_of_its_creation_duplicates_nothing() {
    let (whole, creation, _) = without_accidents().await;
    assert!(creation.values().sum::<u32>() > 25, "{creation:?}");
    for (action, nth) in each(&creation) {
        crashes_while_creating(&whole, action, nth, &Fault::HangAfter).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_before_any_call_of_its_creation_is_recovered_from() {
    let (whole, creation, _) = without_accidents().await;
    for (action, nth) in each(&creation) {
        crashes_while_creating(&whole, action, nth, &Fault::Hang).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_around_any_call_of_its_deletion_leaves_nothing() {
    let (_, _, deletion) = without_accidents().await;
    assert!(deletion.values().sum::<u32>() > 10, "{deletion:?}");
    for (action, nth) in each(&deletion) {
        for fault in [Fault::Hang, Fault::HangAfter] {
            crashes_while_deleting(action, nth, &fault).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_response_to_any_call_of_its_creation_duplicates_nothing() {
    let (whole, creation, _) = without_accidents().await;
    for (action, nth) in each(&creation) {
        for fault in [Fault::DroppedAfter, Fault::DroppedBefore] {
            let what = format!("{action} {nth} {fault:?}");
            let world = World::fast();
            world.strikes(action, nth, fault);
            world.begins_network(small());
            world.network_gets_ready().await;
            assert!(world.aws.faults().is_empty(), "{what} was never sent");
            world.is_whole(&whole, &what);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_response_to_any_call_of_its_deletion_leaves_nothing() {
    let (_, _, deletion) = without_accidents().await;
    for (action, nth) in each(&deletion) {
        for fault in [Fault::DroppedAfter, Fault::DroppedBefore] {
            let what = format!("{action} {nth} {fault:?}");
            let world = World::fast_network().await;
            world.strikes(action, nth, fault);
            world.deletes_network();
            world.network_is_removed().await;
            assert!(world.aws.faults().is_empty(), "{what} was never sent");
            world.is_clean(&what);
        }
    }
}

/// The next manager's clock is another one, and AWS's a third: what was recorded is as old as it is.
#[tokio::test(start_paused = true)]
async fn a_creation_that_a_manager_with_another_clock_finds_is_not_repeated() {
    let (whole, ..) = without_accidents().await;
    for (manager, aws) in [(30, 0), (-30, 0), (0, 30), (0, -30)] {
        for action in ["CreateVpc", "AllocateAddress", "CreateSubnet"] {
            let what = format!("{action}, clocks ahead by {manager} and {aws} min");
            let mut world = World::fast();
            world.sets_the_clock_of_aws_ahead(aws);
            world.strikes(action, 0, Fault::HangAfter);
            world.begins_network(small());
            world.has_been_struck(&what).await;
            world.restarts_the_manager_with_clock_ahead(manager);
            world.network_gets_ready().await;
            world.waits(SEEN).await;
            world.is_whole(&whole, &what);
        }
    }
}
