use super::NOTHING;
use crate::world::{World, content, pool};
use foo_model::{Health, InstanceId, InstancesMix, MachineName, NodeState, OnDemandStrategy, SpotStrategy};
use foo_planner::Action;
use foo_planner::action::MachineAction;
use foo_planner::desired::Wanted;

/// The order in which Machines would go if the desired replicas were zero.
fn order(world: &mut World) -> Vec<String> {
    world.wait(1);
    world.read_group();
    world.scale_to(0);
    let plan = world.plan_of(0);
    plan.actions
        .iter()
        .filter_map(|action| match action {
            Action::Machine(MachineAction::DeleteMachine { name, .. }) => {
                Some(name.as_str().trim_start_matches("workers-0000000").to_owned())
            }
            _ => None,
        })
        .collect()
}

fn name(number: u32) -> MachineName {
    MachineName::new(format!("workers-{number:08x}"))
}

#[test]
fn the_order_is_mark_health_no_node_outdated_zone_policy_name() {
    // Zones by number: 1 b, 2 c, 3 a, 4 b, 5 c, 6 a, 7 b.
    let mut world = pool().of(7).draining_at_most(9).replaced_by_another_controller().running();
    world.mark(&name(6));
    let unhealthy = world.instances()[1].clone();
    world.cloud.instance_mut(&unhealthy).unwrap().health = Health::Unhealthy;
    world.kube.machine_mut(&name(5)).unwrap().node = NodeState::None;
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    world.settle();
    let outdated = world.instances()[2].clone();
    for id in world.instances().into_iter().filter(|id| *id != outdated) {
        let version = foo_model::TemplateVersion(2);
        world.cloud.instance_mut(&id).unwrap().template.as_mut().unwrap().1 = version;
    }
    world.cloud.record(world.now);
    world.kube.machine_mut(&name(5)).unwrap().node = NodeState::None;
    // Left are 1, 4 and 7, all in zone b; 4 is the oldest of them.
    world.kube.machine_mut(&name(4)).unwrap().created.0 -= 100_000;
    assert_eq!(order(&mut world), ["6", "2", "5", "3", "4", "1", "7"]);
}

#[test]
fn the_fullest_zone_gives_first_and_the_policy_decides_among_equals() {
    let mut world = pool().of(4).draining_at_most(9).running();
    assert_eq!(order(&mut world), ["1", "2", "3", "4"], "b has two, then all have one");
    let mut world = pool().of(4).draining_at_most(9).taking_the_newest().running();
    assert_eq!(order(&mut world), ["4", "3", "2", "1"]);
}

#[test]
fn of_those_that_never_joined_the_one_that_waited_longest_goes_whatever_zone_and_policy() {
    // Zones by number: 1 b, 2 c, 3 a, 4 b: zone b is the fullest, and 4 the newest in it.
    let mut world = pool().of(4).draining_at_most(9).taking_the_newest().running();
    for number in [2, 4] {
        world.kube.machine_mut(&name(number)).unwrap().node = NodeState::None;
    }
    world.kube.machine_mut(&name(2)).unwrap().created.0 -= 900_000;
    assert_eq!(order(&mut world)[..2], ["2", "4"], "4 may still join");
}

#[test]
fn unmarked_victims_keep_to_the_limit_of_concurrent_drains() {
    let mut world = pool().of(6).draining_at_most(2).running();
    for number in [1, 2, 3] {
        world.kube.held_up.insert(name(number));
    }
    world.scale_to(1);
    assert_eq!(world.writes().len(), 2);
    world.observe_and_plan();
    assert_eq!(world.writes(), NOTHING);
    // A drain that a person started counts too.
    world.kube.held_up.clear();
    world.kube.drain(world.now, &world.cloud);
    world.delete_machine(&name(6));
    let deletions: Vec<String> =
        world.writes().into_iter().filter(|word| word.starts_with("delete Machine")).collect();
    assert_eq!(deletions.len(), 1, "{deletions:?}");
}

#[test]
fn more_marks_than_excess_take_only_the_excess() {
    let mut world = pool().of(5).running();
    for number in 1..=4 {
        world.mark(&name(number));
    }
    world.scale_to(3);
    assert_eq!(world.writes().len(), 2);
}

#[test]
fn a_ceiling_below_the_target_is_the_target_and_the_precondition_keeps_what_is_written() {
    let mut world = pool().of(5).running();
    world.desired.size = foo_planner::desired::Size::Replicas { wanted: 5, ceiling: Some(4) };
    let words = world.writes();
    assert!(words[0].contains("[ReplicasAtMost { replicas: 5 }]"), "{words:?}");
    world.settle();
    assert_eq!(world.cloud.existing(), 4);
}

/// After another purchase mix AWS launches before it ends: a choice of the provider beside AWS's own would cost another instance.
#[test]
fn what_aws_replaces_after_another_purchase_mix_is_left_to_it_for_a_quarter_of_an_hour() {
    let mix = |percentage| InstancesMix {
        overrides: vec![],
        on_demand_base: 0,
        on_demand_percentage: percentage,
        on_demand_strategy: OnDemandStrategy::Prioritized,
        spot_strategy: SpotStrategy::LowestPrice,
        spot_max_price: None,
    };
    let beyond = |changes: bool| {
        let mut world = pool().of(2).running();
        let buys = |world: &mut World, percentage| {
            world.desired.group.mix = Some(mix(percentage));
            world.cloud.group.as_mut().unwrap().mix = Some(mix(percentage));
            world.cloud.record(world.now);
        };
        buys(&mut world, 100);
        world.observe_and_plan();
        if changes {
            buys(&mut world, 0);
        }
        world.observe_and_plan();
        let now = world.now;
        let mut new = world.cloud.group.as_ref().unwrap().instances[0].clone();
        new.id = InstanceId::new("i-00000099");
        world.cloud.group.as_mut().unwrap().instances.push(new);
        world.cloud.record(now);
        world
    };
    let chosen = |world: &mut World| {
        for _ in 0..4 {
            world.observe_and_plan();
            world.kube.make_machines(world.now);
            world.kube.join_nodes(world.now, &world.cloud);
        }
        3 - world.kube.alive().len()
    };
    assert_eq!(chosen(&mut beyond(false)), 1, "a user attached one");
    let mut world = beyond(true);
    assert_eq!(chosen(&mut world), 0);
    assert_eq!(
        world.cloud.sizes().desired,
        2,
        "raised to what is there, it would keep what AWS is about to end"
    );
    world.wait(13 * 60);
    assert_eq!(chosen(&mut world), 0);
    world.wait(2 * 60);
    assert_eq!(chosen(&mut world), 1, "AWS does not end it");
}
