//! After a restore to before the FooCluster existed: a Cluster has one network, and what proves whose it is.

use crate::world::*;
use foo_model::*;
use foo_network::report::ConditionKind;
use std::time::Duration;

const NETWORK_ID: &str = "infrastructure.foo.com/network-id";

/// The same Cluster was applied again: another FooCluster, without status and annotation.
fn applied_again(world: &mut World) {
    "22222222".clone_into(&mut world.desired.network_id);
    "22222222".clone_into(&mut world.desired.uid);
    world.process.record = foo_network::Recorded::default();
    world.restart();
    (world.desired.begun_before, world.desired.being_deleted) = (false, false);
}

fn runs_for(world: &mut World, time: Duration) {
    let end = world.aws.now.plus(time);
    while world.aws.now < end {
        let sent = world.sent;
        world.pass();
        if sent == world.sent && !world.wait() {
            break;
        }
    }
}

/// Nothing is sent for hours, also by the next process, which finds the id in the annotation.
fn is_held(world: &mut World, reason: Reason) -> String {
    let sent = world.sent;
    for _ in 0..2 {
        runs_for(world, Duration::from_hours(1));
        assert_eq!(world.sent, sent, "{}", world.story());
        assert_eq!(world.condition(ConditionKind::NetworkReady).reason, reason);
        world.restart();
    }
    runs_for(world, Duration::from_mins(5));
    world.condition(ConditionKind::NetworkReady).message
}

#[test]
fn a_second_network_of_a_cluster_is_not_begun_and_the_first_is_restored_by_its_id() {
    for mut world in [World::new(desired("ab")), users_vpc()] {
        world.aws.by_hand(|parts| parts.vpcs.values_mut().for_each(|vpc| vpc.dns_hostnames = Some(true)));
        world.settle();
        let (first, vpcs) = (world.desired.network_id.clone(), world.aws.parts.vpcs.len());
        applied_again(&mut world);
        let said = is_held(&mut world, Reason::EarlierNetworkExists);
        assert!(said.contains(NETWORK_ID) && said.contains("kubectl annotate"), "{said}");
        assert!(!said.contains(&first) && !said.contains("22222222"), "{said}");
        world.desired.network_id = first;
        world.restart();
        world.settle();
        assert_eq!(world.aws.parts.vpcs.len(), vpcs);
        world.delete();
        assert!(world.aws.parts.subnets.is_empty());
    }
}

#[test]
fn a_network_that_was_just_deleted_or_is_anothers_holds_nothing_back() {
    let mut world = World::new(desired("ab"));
    world.settle();
    let old = world.observed.clone();
    world.delete();
    applied_again(&mut world);
    // Reads of before the deletion, which all clusters of the region share.
    world.observed.tagged = old.tagged;
    world.settle();
    assert_eq!(world.aws.parts.vpcs.len(), 1);

    for other in ["installation", "cluster"] {
        let mut world = World::new(desired("a"));
        world.settle();
        applied_again(&mut world);
        match other {
            "installation" => "there".clone_into(&mut world.desired.installation),
            _ => "team/other".clone_into(&mut world.desired.cluster),
        }
        world.settle();
        assert_eq!(world.aws.parts.vpcs.len(), 2, "{other}");
        let report = world.report.clone().unwrap();
        assert_eq!(report.namesake, other == "installation");
        let ready = world.condition(ConditionKind::NetworkReady);
        assert_eq!(ready.status, foo_calls::report::Status::True);
        assert_eq!(ready.message.contains(foo_network::report::NAMESAKE), other == "installation");
        assert!(!ready.message.contains("vpc-"), "it may be another tenant's: {}", ready.message);
        world.delete();
        assert_eq!(world.aws.parts.vpcs.len(), 1, "{other}");
    }
}

#[test]
fn the_id_in_an_annotation_gives_no_access_to_the_network_of_another_cluster() {
    for foreign in ["other/prod", "team/other"] {
        let mut world = World::new(desired("a"));
        world.settle();
        let before = world.aws.parts.clone();
        foreign.clone_into(&mut world.desired.cluster);
        world.process.record = foo_network::Recorded::default();
        world.restart();
        let said = is_held(&mut world, Reason::NetworkOfAnotherCluster);
        assert!(!said.contains("11111111"), "{said}");
        let sent = world.sent;
        if foreign == "other/prod" {
            world.delete();
            assert_eq!(world.sent, sent);
        }
        assert_eq!(world.aws.parts.vpcs, before.vpcs);
        assert_eq!(world.aws.parts.subnets, before.subnets);
    }
}

/// Each process lives for 23 s. The first one ends after the record is written and before the VPC is created.
#[test]
fn a_creation_that_was_never_sent_is_not_waited_for_again_by_each_process() {
    for call in [0, 1, 3] {
        let mut world = World::new(desired("a"));
        world.faults.insert(call, Fault::CrashBefore);
        let end = world.aws.now.plus(Duration::from_mins(5));
        while world.sent <= call {
            world.pass();
            world.wait();
        }
        let sent = world.sent;
        while world.aws.now < end && world.sent == sent {
            lives_for(&mut world, Duration::from_secs(23));
        }
        assert!(world.sent > sent, "call {call}: nothing was sent for minutes");
        world.settle();
        assert_eq!(world.aws.parts.vpcs.len(), 1);
    }
}

fn lives_for(world: &mut World, time: Duration) {
    let end = world.aws.now.plus(time);
    while world.aws.now < end {
        let sent = world.sent;
        world.pass();
        let report = world.report.clone().unwrap();
        let next = report.reads.iter().map(|it| it.from).chain(report.again_at).min();
        if sent != world.sent {
            continue;
        }
        match next {
            Some(next) if next < end => drop(world.wait()),
            Some(_) | None => world.aws.advance(end),
        }
    }
    world.restart();
}

/// The name of a security group is unique in its VPC: a second request is refused, and makes no second group.
#[test]
fn the_creation_of_a_security_group_is_sent_again_at_once() {
    for fault in
        [Fault::CrashBefore, Fault::CrashAfter, Fault::LostBefore, Fault::LostAfter(Reason::ResponseLost)]
    {
        let mut world = World::new(desired("a"));
        let is_next = |it: &World| it.aws.parts.subnets.len() == 2;
        world.run_until("subnets", is_next);
        let groups =
            |it: &World| it.aws.parts.security_groups.values().filter(|it| it.name != "default").count();
        while groups(&world) < 2 {
            let (sent, before) = (world.sent, groups(&world));
            if before == 0 {
                world.faults.insert(sent, fault);
            }
            world.pass();
            if sent == world.sent {
                world.faults.remove(&sent);
                world.wait();
            }
        }
        world.settle();
        assert_eq!(groups(&world), 2, "{}", world.story());
    }
}
