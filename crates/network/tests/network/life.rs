//! Edits, drift, failures and deletion with things of others.

use crate::create::assert_complete;
use crate::endpoints::sts;
use crate::faults::assert_gone;
use crate::world::*;
use foo_calls::report::Status;
use foo_model::network::*;
use foo_model::*;
use foo_network::Desired;
use foo_network::desired::*;
use foo_network::report::ConditionKind;
use std::time::Duration;

pub fn settled(desired: Desired) -> World {
    let mut world = World::new(desired);
    world.rest();
    world
}

pub fn calls_since(world: &World, from: usize) -> Vec<&'static str> {
    world.aws.calls[from..].iter().map(|change| change.operation().name()).collect()
}

#[test]
fn the_nat_mode_changes_in_place_and_back() {
    let mut world = settled(desired("abc"));
    for mode in
        [NatMode::Single, NatMode::None, NatMode::Single, NatMode::PerZone, NatMode::None, NatMode::PerZone]
    {
        world.desired.nat = mode;
        world.rest();
        assert_complete(&world);
    }
}

#[test]
fn a_zone_is_added_and_moves_nothing() {
    let mut world = settled(desired("ab"));
    let before = world.aws.parts.clone();
    world.desired = desired("abc");
    world.rest();
    assert_complete(&world);
    assert!(before.subnets.iter().all(|(id, it)| world.aws.parts.subnets.get(id) == Some(it)));
    assert!(before.nat_gateways.keys().all(|id| world.aws.parts.nat_gateways.contains_key(id)));
}

#[test]
fn ipv6_is_switched_on_with_one_range() {
    let mut world = settled(desired("ab"));
    world.desired.ipv6 = true;
    world.rest();
    assert_complete(&world);
    assert_eq!(world.aws.parts.vpcs.values().next().unwrap().ipv6.len(), 1);
    assert!(world.aws.parts.subnets.values().all(|it| it.ipv6.len() == 1));
}

#[test]
fn dual_stack_without_a_way_out_has_ranges_and_no_egress_only_gateway() {
    let six = Destination::V6("::/0".parse().unwrap());
    let private_ways_out = |world: &World| {
        let tables = world.aws.parts.route_tables.values();
        let private = tables.filter(|it| {
            it.tags.get("infrastructure.foo.com/role").is_some_and(|role| role.contains("private"))
        });
        private.filter(|it| it.routes.iter().any(|it| it.destination == six)).count()
    };
    let mut world = settled(Desired { ipv6: true, nat: NatMode::None, ..desired("ab") });
    assert_complete(&world);
    assert!(world.aws.parts.subnets.values().all(|it| it.ipv6.len() == 1 && it.ipv6_on_creation));
    assert_eq!((world.aws.parts.egress_only_gateways.len(), private_ways_out(&world)), (0, 0));
    for _ in 0..2 {
        world.desired.nat = NatMode::Single;
        world.rest();
        assert_eq!((world.aws.parts.egress_only_gateways.len(), private_ways_out(&world)), (1, 2));
        world.desired.nat = NatMode::None;
        world.rest();
        let left = (world.aws.parts.egress_only_gateways.len(), private_ways_out(&world));
        assert_eq!(left, (0, 0), "{}", world.story());
        assert_complete(&world);
    }
    let ready = world.condition(ConditionKind::NetworkReady);
    assert_eq!(ready.status, Status::True, "{ready:?}");
}

#[test]
fn endpoints_and_groups_come_and_go() {
    let mut world = settled(desired("a"));
    world.desired.endpoints = vec![endpoint("s3", DesiredEndpointKind::Gateway)];
    let mut extra = world.desired.security_groups[0].clone();
    extra.name = "extra".to_owned();
    extra.is_for_nodes = false;
    world.desired.security_groups.push(extra);
    world.rest();
    assert_eq!(world.aws.parts.endpoints.len(), 1);
    world.desired.endpoints.clear();
    world.desired.security_groups.pop();
    world.rest();
    assert_eq!(world.aws.parts.endpoints.len(), 0);
    assert_complete(&world);
}

/// Reads show neither that it was created nor that it is gone: only the responses do.
#[test]
fn an_endpoint_that_is_deleted_before_reads_show_it_is_deleted_once() {
    let mut world = settled(desired("a"));
    world.aws.show_new_parts_after(Duration::from_mins(1));
    world.desired.endpoints = vec![endpoint("s3", DesiredEndpointKind::Gateway)];
    world.run_until("created", |it| it.aws.parts.endpoints.len() == 1);
    let (from, began) = (world.aws.calls.len(), world.aws.now);
    world.desired.endpoints.clear();
    world.settle();
    assert_eq!(calls_since(&world, from), ["DeleteVpcEndpoints"], "{}", world.story());
    assert!(world.aws.parts.endpoints.is_empty());
    let took = began.until(world.aws.now);
    assert!(took < Duration::from_mins(1), "{took:?}");
}

#[test]
fn tags_of_the_user_come_and_go_and_those_of_others_stay() {
    let mut world = settled(desired("a"));
    world.aws.by_hand(|parts| {
        parts.vpcs.values_mut().for_each(|it| drop(it.tags.insert("foreign".into(), "1".into())));
    });
    world.desired.tags = Tags::from([("cost".to_owned(), "blue".to_owned())]);
    let from = world.aws.calls.len();
    world.rest();
    let tags = &world.aws.parts.vpcs.values().next().unwrap().tags;
    assert_eq!((tags.get("team"), tags["cost"].as_str(), tags["foreign"].as_str()), (None, "blue", "1"));
    assert_eq!(calls_since(&world, from), ["DeleteTags", "CreateTags"], "for all parts at once");
}

pub fn of_role<'a>(world: &'a World, role: &str) -> &'a Tags {
    let has = |tags: &Tags| tags.get("infrastructure.foo.com/role").is_some_and(|it| it == role);
    let parts = &world.aws.parts;
    let subnets = parts.subnets.values().map(|it| &it.tags);
    subnets.chain(parts.security_groups.values().map(|it| &it.tags)).find(|tags| has(tags)).unwrap()
}

/// What Karpenter and the AWS Load Balancer Controller look for, at each part by itself.
#[test]
fn tags_of_one_subnet_and_of_one_group_come_and_go_and_are_changed_back() {
    const KARPENTER: &str = "karpenter.sh/discovery";
    let own = || Tags::from([(KARPENTER.to_owned(), "blue".to_owned())]);
    let mut wanted = desired("ab");
    let private = wanted.subnets.iter().position(|it| it.key == "private/eu-central-1a").unwrap();
    wanted.subnets[private].tags = own();
    let mut world = settled(wanted);
    let (a, b) = ("subnet/private/eu-central-1a", "subnet/private/eu-central-1b");
    let has = |world: &World, role: &str| of_role(world, role).get(KARPENTER).cloned();
    assert_eq!((has(&world, a).as_deref(), has(&world, b)), (Some("blue"), None), "it is created with it");
    // A person gives another subnet the same tag, and a group, too.
    world.aws.by_hand(|parts| {
        for subnet in parts.subnets.values_mut().filter(|it| it.tags["infrastructure.foo.com/role"] == b) {
            subnet.tags.insert(KARPENTER.to_owned(), "green".to_owned());
        }
    });
    // The group gets it later, and the subnet loses the tag for load balancers.
    world.desired.security_groups[0].tags = own();
    let elb = "kubernetes.io/role/internal-elb";
    world.desired.subnets[private].tags.insert(elb.to_owned(), "0".to_owned());
    world.rest();
    assert_eq!(has(&world, "security-group/node").as_deref(), Some("blue"));
    assert_eq!(has(&world, "security-group/controlPlane"), None);
    assert_eq!((of_role(&world, a)[elb].as_str(), of_role(&world, b)[elb].as_str()), ("0", "1"));
    // Drift.
    world.aws.by_hand(|parts| {
        parts.security_groups.values_mut().for_each(|it| drop(it.tags.remove(KARPENTER)));
    });
    world.aws.advance(world.now().plus(Duration::from_mins(10)));
    world.sweep();
    world.rest();
    assert_eq!(has(&world, "security-group/node").as_deref(), Some("blue"));
    // Without them in the spec, also after a restart: only what this provider set is removed.
    world.desired.subnets[private].tags.clear();
    world.desired.security_groups[0].tags.clear();
    world.restart();
    world.rest();
    assert_eq!((has(&world, a), has(&world, "security-group/node")), (None, None));
    assert_eq!(has(&world, b).as_deref(), Some("green"), "a person's");
    assert_eq!(of_role(&world, a)[elb], "1");
    assert!(world.process.record.own_tag_keys.is_empty());
    world.delete();
    assert_gone(&world);
}

/// Something that a person changes by hand.
fn meddle(world: &mut World, what: &str) {
    world.aws.by_hand(|parts| match what {
        "route" => parts.route_tables.values_mut().filter(|it| !it.main).for_each(|it| it.routes.truncate(1)),
        "rule" => {
            let groups = parts.security_groups.values_mut().filter(|it| it.name.ends_with("controlPlane"));
            groups.for_each(|it| {
                it.ingress.pop_first();
                let peer = Peer::V4("0.0.0.0/0".parse().unwrap());
                it.ingress.insert(Rule {
                    protocol: Protocol::Tcp(22, 22),
                    peer,
                    description: "by hand".into(),
                });
            });
        }
        "tag" => parts.subnets.values_mut().for_each(|it| drop(it.tags.remove("kubernetes.io/role/elb"))),
        "association" => parts.route_tables.values_mut().for_each(|it| it.associations.clear()),
        "attribute" => parts.subnets.values_mut().for_each(|it| it.public_ip_on_launch ^= true),
        "attachment" => parts.internet_gateways.values_mut().for_each(|it| it.vpc = None),
        other => panic!("{other}"),
    });
}

const MEDDLING: [&str; 6] = ["route", "rule", "tag", "association", "attribute", "attachment"];

#[test]
fn what_is_changed_by_hand_is_changed_back() {
    for what in MEDDLING {
        let mut world = settled(desired("ab"));
        let before = world.aws.parts.clone();
        meddle(&mut world, what);
        assert_ne!(before, world.aws.parts, "{what}");
        world.rest();
        assert_complete(&world);
        assert_eq!(before.security_groups, world.aws.parts.security_groups, "{what}");
        assert_eq!(before.subnets, world.aws.parts.subnets, "{what}");
    }
}

#[test]
fn manual_changes_are_only_reported_under_warn() {
    for what in MEDDLING {
        let mut world = settled(Desired { drift: DriftPolicy::Warn, ..desired("ab") });
        meddle(&mut world, what);
        let (meddled, sent) = (world.aws.parts.clone(), world.sent);
        world.rest();
        assert_eq!(world.aws.parts, meddled, "{what}\n{}", world.story());
        assert_eq!(world.sent, sent);
        let ready = world.condition(ConditionKind::NetworkReady);
        assert_eq!((ready.status, ready.reason), (Status::True, Reason::NetworkDrifted), "{what}");
        assert!(!ready.message.is_empty());
        // An edit is still made.
        world.desired.nat = NatMode::Single;
        world.run_until("one NAT gateway", |it| {
            it.aws.parts.nat_gateways.values().filter(|it| it.state != NatState::Deleted).count() == 1
        });
    }
}

#[test]
fn what_is_deleted_by_hand_is_created_again() {
    let mut world = settled(desired("ab"));
    for _ in 0..2 {
        let ids: Vec<_> = world.aws.parts.nat_gateways.keys().cloned().collect();
        for id in &ids {
            world.aws.delete_nat(id);
        }
        world.aws.by_hand(|parts| {
            parts.route_tables.retain(|_, it| it.main);
            parts.security_groups.retain(|_, it| it.name == "default");
        });
        world.rest();
        world.rest();
        assert_complete(&world);
    }
}

#[test]
fn a_part_that_lost_our_tag_is_neither_touched_nor_created_twice() {
    let mut world = settled(desired("a"));
    world.aws.by_hand(|parts| parts.subnets.values_mut().for_each(|it| it.tags.clear()));
    let before = world.aws.parts.subnets.clone();
    world.aws.advance(world.aws.now.plus(Duration::from_mins(5)));
    world.sweep();
    world.run_until("said", |it| {
        it.condition(ConditionKind::SubnetsReady).reason == Reason::NetworkTagRemoved
    });
    assert_eq!(world.aws.parts.subnets, before);
}

#[test]
fn nat_gateways_that_fail_are_replaced_with_exponential_back_off() {
    let mut world = World::new(desired("a"));
    world.aws.fail_nats(3);
    world.run_until("failed", |it| it.condition(ConditionKind::NatReady).reason == Reason::NatGatewayFailed);
    assert!(world.condition(ConditionKind::NatReady).message.contains("InternalError"));
    world.rest();
    assert_complete(&world);
    assert_eq!(world.aws.parts.nat_gateways.len(), 4);
    world.delete();
    assert_gone(&world);
}

#[test]
fn zones_that_do_not_exist_are_named_before_anything_is_created() {
    let mut world = World::new(desired("az"));
    world.pass();
    world.wait();
    world.pass();
    assert_eq!(world.condition(ConditionKind::SubnetsReady).reason, Reason::ZoneNotFound);
    assert_eq!(world.sent, 0);
}

#[test]
fn a_vpc_of_another_installation_is_left_alone_until_it_is_released() {
    let mut world = settled(desired("a"));
    world.desired.installation = "there".to_owned();
    world.restart();
    let sent = world.sent;
    world.run_until("said", |it| {
        let vpc = it.condition(ConditionKind::VpcReady);
        vpc.reason == Reason::NetworkOfAnotherInstallation
    });
    world.desired.nat = NatMode::None;
    world.pass();
    assert_eq!(world.sent, sent);
    world.desired.adopt_from = Some("here".to_owned());
    world.rest();
    assert_complete(&world);
}

#[test]
fn nothing_is_done_while_paused_and_nothing_deleted_when_retained() {
    let mut world = World::new(Desired { paused: true, ..desired("a") });
    world.pass();
    assert_eq!(world.sent, 0);
    let mut world = settled(Desired { deletion: DeletionPolicy::Retain, ..desired("a") });
    let (before, sent) = (world.aws.parts.clone(), world.sent);
    world.delete();
    assert_eq!((world.aws.parts == before, world.sent), (true, sent));
}

#[test]
fn what_is_not_the_clusters_is_never_touched() {
    let mut world = settled(Desired { leftovers: Leftovers::Delete, ..desired("a") });
    let subnet = world.aws.parts.subnets.keys().next().unwrap().clone();
    let interface = world.aws.interface(&subnet, "database of a user");
    world.desired.being_deleted = true;
    let later = world.aws.now.plus(Duration::from_mins(30));
    world.run_until("blocked", |it| it.aws.now > later);
    assert!(world.aws.parts.interfaces.contains_key(&interface));
    let report = world.report.clone().unwrap();
    assert_eq!(report.foreign.len(), 1);
    let deleting = world.condition(ConditionKind::Deleting);
    assert!(deleting.message.contains("(database of a user)"), "{deleting:?}");
    world.aws.by_hand(|parts| drop(parts.interfaces.remove(&interface)));
    world.delete();
    assert_gone(&world);
}

#[test]
fn in_the_users_vpc_only_our_parts_come_and_go() {
    let mut world = users_vpc();
    let (vpcs, gateways) = (world.aws.parts.vpcs.clone(), world.aws.parts.internet_gateways.clone());
    world.run_until("complete", |it| it.condition(ConditionKind::RoutesReady).status == Status::True);
    let vpc = world.condition(ConditionKind::VpcReady);
    assert_eq!(vpc.reason, Reason::VpcDnsDisabled, "{vpc:?}");
    world.aws.by_hand(|parts| parts.vpcs.values_mut().for_each(|it| it.dns_hostnames = Some(true)));
    let later = world.aws.now.plus(Duration::from_mins(31));
    world.run_until("ready", |it| it.aws.now > later && it.report.as_ref().is_some_and(|it| it.settled));
    assert_eq!(world.aws.parts.subnets.len(), 4);
    assert_eq!(world.aws.parts.internet_gateways, gateways);
    world.delete();
    assert_eq!(world.aws.parts.vpcs.len(), vpcs.len());
    assert_eq!(world.aws.parts.internet_gateways, gateways);
    let parts = &world.aws.parts;
    assert_eq!((parts.subnets.len(), parts.route_tables.len(), parts.security_groups.len()), (0, 1, 1));
}

#[test]
fn a_network_that_was_never_begun_is_deleted_without_a_call() {
    let mut world = World::new(desired("a"));
    world.delete();
    assert_eq!(world.sent, 0);
}

#[test]
fn a_deletion_in_the_middle_of_a_creation_leaves_nothing() {
    for at in 0..19 {
        let mut world = World::new(desired("a"));
        world.run_until("so far", |it| it.sent >= at);
        world.delete();
        assert_gone(&world);
    }
}

/// After a move the planner does not know how many attempts there were: for the token of an earlier one AWS returns a gateway that is deleted.
#[test]
fn a_token_of_before_a_move_is_not_used_for_ever() {
    let mut world = World::new(desired("a"));
    world.aws.fail_nats(2);
    world.run_until("a second gateway", |it| it.aws.parts.nat_gateways.len() == 2);
    world.process.record = foo_network::Recorded::default();
    world.restart();
    world.rest();
    assert_complete(&world);
    world.process.record = foo_network::Recorded::default();
    world.restart();
    world.desired.nat = NatMode::None;
    world.rest();
    world.desired.nat = NatMode::PerZone;
    let sent = world.sent;
    world.rest();
    assert_complete(&world);
    assert!(world.sent - sent < 10, "{}", world.story());
}

#[test]
fn endpoints_that_fail_are_replaced_with_exponential_back_off() {
    let mut world = World::new(desired("a"));
    world.desired.endpoints = vec![sts(&["private/eu-central-1a"])];
    world.aws.fail_endpoints(3);
    let start = world.aws.now;
    world.run_until("failed", |it| {
        it.condition(ConditionKind::EndpointsReady).reason == Reason::EndpointFailed
    });
    assert!(world.condition(ConditionKind::EndpointsReady).message.contains("no room"), "as AWS says it");
    world.rest();
    assert_complete(&world);
    let creations: Vec<_> =
        world.aws.calls.iter().filter(|it| matches!(it, Change::CreateVpcEndpoint { .. })).collect();
    assert_eq!(creations.len(), 4, "{}", world.story());
    assert!(creations.windows(2).all(|it| it[0] != it[1]), "each attempt has a token of its own");
    assert!(start.until(world.aws.now).as_secs() > 30 + 60 + 120);
    let endpoint = world.aws.parts.endpoints.values().next().unwrap();
    assert_eq!(endpoint.state, EndpointState::Available);
    world.delete();
    assert_gone(&world);
}

/// The process ends right after a failed endpoint was deleted: the next one makes another at once.
#[test]
fn a_crash_in_the_middle_of_a_replacement_costs_seconds() {
    let mut world = World::new(desired("a"));
    world.desired.endpoints = vec![sts(&["private/eu-central-1a"])];
    world.aws.fail_endpoints(1);
    world.run_until("deleted", |it| {
        it.aws.calls.iter().any(|it| matches!(it, Change::DeleteVpcEndpoints { .. }))
    });
    world.restart();
    let start = world.aws.now;
    world.run_until("created again", |it| {
        it.aws.parts.endpoints.values().any(|it| it.state == EndpointState::Pending)
    });
    // 20 s is what AWS takes to delete one here.
    assert!(start.until(world.aws.now).as_secs() <= 20 + 10, "{}", world.story());
    world.rest();
    assert_complete(&world);
}
