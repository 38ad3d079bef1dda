//! What follows from the age of instances.

use super::NOTHING;
use crate::world::{World, content, pool};
use foo_model::{Agreement, EventReason, InstanceId, MachineName, NodeState, Reason, Seconds, expires_at};
use foo_planner::action::MachineAction;
use foo_planner::desired::{RolloutPause, Wanted};
use foo_planner::observed::{Observed, Quarantine, Verdict};
use foo_planner::report::{Condition, ConditionKind, Status};
use foo_planner::{Action, Plan, plan};
use std::time::Duration;

const DAY: u32 = 86_400;

/// What happens to a world.
type Change = fn(&mut World);

fn deleted(plan: &Plan) -> Vec<MachineName> {
    let machine = |action: &Action| match action {
        Action::Machine(MachineAction::DeleteMachine { name, .. }) => Some(name.clone()),
        _ => None,
    };
    plan.actions.iter().filter_map(machine).collect()
}

impl World {
    /// The moment of a Machine in the last tenth of its life, from now.
    fn lives_for(&self, id: &InstanceId) -> Duration {
        let machine = self.kube.machine(&self.name_of(id)).unwrap();
        self.now.until(expires_at(machine.created, Seconds(DAY), id))
    }

    fn plan_now(&mut self) -> Plan {
        self.wait(1);
        self.read_group();
        self.plan_of(0)
    }

    fn rolling_out(&mut self) -> Condition {
        let conditions = self.plan_now().report.conditions;
        conditions.into_iter().find(|it| it.kind == ConditionKind::RollingOut).unwrap()
    }

    /// Steps until nothing moves; how many instances served at least, and how many there were at most.
    fn watch_replacements(&mut self) -> (usize, u32) {
        let (mut least, mut most) = (usize::MAX, 0);
        for _ in 0..200 {
            self.step();
            let serves = |name: &&MachineName| {
                self.kube.machine(name).is_some_and(|machine| machine.node == NodeState::Ready)
            };
            least = least.min(self.kube.alive().iter().filter(serves).count());
            most = most.max(self.cloud.existing().max(self.cloud.sizes().desired));
        }
        (least, most)
    }
}

#[test]
fn an_instance_is_replaced_at_its_own_moment_and_the_planner_wakes_then() {
    let mut world = pool().of(5).with_surge(1).lacking_at_most(0).living(DAY).running();
    let plan = world.plan_now();
    let mut moments: Vec<Duration> = world.instances().iter().map(|id| world.lives_for(id)).collect();
    moments.sort();
    assert_eq!(plan.report.next.after, Some(moments[0]));
    assert_eq!(plan.report.next_expiry, Some(world.now.plus(moments[0])));
    assert!(moments[4] > moments[0].saturating_add(Duration::from_mins(10)), "they are spread: {moments:?}");
    world.wait(moments[0].as_secs() - 2);
    assert_eq!(world.writes(), NOTHING, "a second before");
    assert_eq!(world.writes(), ["update group max=6 desired=6"]);
    // Its Machine is deleted once its successor serves, and no other one is due.
    let old: Vec<InstanceId> = world.instances();
    world.observe_and_plan();
    for _ in 0..60 {
        world.step();
    }
    assert_eq!(old.iter().filter(|id| !world.instances().contains(id)).count(), 1);
}

#[test]
fn instances_of_one_age_are_replaced_within_the_limits_of_roll_outs() {
    for (surge, unavailable) in [(1, 0), (0, 1), (2, 1), (0, 0), (3, 0)] {
        let mut world = pool()
            .of(5)
            .with_surge(surge)
            .lacking_at_most(unavailable)
            .draining_at_most(9)
            .living(DAY)
            .running();
        let old = world.instances();
        world.grow_old(DAY);
        let (least, most) = world.watch_replacements();
        let lacking = if (surge, unavailable) == (0, 0) { 1 } else { unavailable };
        assert!(least + usize::try_from(lacking).unwrap() >= 5, "{least} served\n{}", world.story());
        assert!(most <= 5 + surge, "{most} instances\n{}", world.story());
        assert_eq!(world.instances().len(), 5);
        assert!(old.iter().all(|id| !world.instances().contains(id)), "{}", world.story());
        assert_eq!(world.kube.drained.len(), 5, "all were drained");
    }
}

#[test]
fn the_event_says_why() {
    let mut world = pool().of(1).living(DAY).running();
    world.grow_old(DAY);
    let plan = world.plan_now();
    let event = plan.report.events.iter().find(|it| it.reason == EventReason::InstanceExpired).unwrap();
    assert_eq!(
        event.message,
        "Replacing Machine workers-00000001: its instance has reached the maximum lifetime of 86400 s: i-00000001"
    );
    assert_eq!(deleted(&plan), [MachineName::new("workers-00000001")]);
}

#[test]
fn no_instance_expires_without_agreement_of_the_clocks_or_without_a_lifetime() {
    let mut world = pool().of(3).living(DAY).running();
    world.grow_old(DAY);
    world.read_group();
    for clocks in [Agreement::Unknown, Agreement::Differ] {
        let observed = Observed { clocks, ..world.observe(0) };
        let plan = plan(&world.desired, &observed, &world.managers[0].memory);
        assert_eq!(deleted(&plan), [], "{clocks:?}");
        assert_eq!(plan.report.next_expiry.map(|at| at < world.now), Some(true), "the status stays");
    }
    world.desired.rollout.max_lifetime = None;
    let plan = world.plan_now();
    assert_eq!((deleted(&plan), plan.report.next_expiry, plan.report.next.after), (vec![], None, None));
}

#[test]
fn expired_instances_wait_and_the_condition_says_for_what() {
    let failed: Change = |world| {
        world.kube.quarantine = vec![Quarantine {
            hash: "v1".into(),
            message: "Machine m: its Node has not joined".to_owned(),
            verdict: Verdict::Stands,
        }];
    };
    let content: Change = |world| {
        let blocked = foo_model::Blocked::new(Reason::ImageNotFound, "image ami-1 does not exist");
        world.desired.template = Wanted::Blocked(blocked);
    };
    let paused: Change = |world| world.desired.rollout.paused = Some(RolloutPause::ByUser);
    let cases: [(Change, Reason, &str); 3] = [
        (paused, Reason::ExpiryWaiting, "they are replaced once roll-outs are no longer paused"),
        (
            failed,
            Reason::RolloutHalted,
            "they are not replaced while the content of the spec counts as failed",
        ),
        (
            content,
            Reason::ExpiryWaiting,
            "they are replaced once the group launches instances with the content of the spec",
        ),
    ];
    for (prevents, reason, waits) in cases {
        let mut world = pool().of(2).with_surge(1).living(DAY).running();
        world.grow_old(DAY);
        prevents(&mut world);
        assert_eq!(deleted(&world.plan_now()), [], "{waits}");
        let condition = world.rolling_out();
        assert_eq!((condition.status, condition.reason), (Status::True, reason), "{condition:?}");
        let said = format!("2 instances have reached the maximum lifetime of 86400 s; {waits}");
        assert!(condition.message.ends_with(&said), "{condition:?}");
        assert_eq!(world.cloud.sizes().desired, 2, "no successor is launched");
    }
}

#[test]
fn without_room_for_a_successor_the_pool_is_not_ready_and_says_so() {
    let mut fixed = pool().of(2).with_surge(1).lacking_at_most(0).with_ceiling(2).living(DAY).running();
    let external = pool().with_surge(1).lacking_at_most(0).living(DAY);
    let mut external = external.managed_by_another_controller(2, 4).running();
    for world in [&mut fixed, &mut external] {
        world.grow_old(DAY);
        let plan = world.plan_now();
        assert_eq!(deleted(&plan), []);
        let ready = &plan.report.conditions[0];
        assert_eq!((ready.status, ready.reason), (Status::False, Reason::ReplacingExpired), "{ready:?}");
        assert!(ready.message.contains("cannot replace an instance"), "{ready:?}");
        // With an instance that may be unavailable there is room; another controller keeps the size.
        world.desired.rollout.max_unavailable = foo_planner::desired::IntOrPercent::Count(1);
        let (_, most) = world.watch_replacements();
        assert_eq!((world.instances().len(), most), (2, 2), "{}", world.story());
        assert!(!world.instances().contains(&InstanceId::new("i-00000001")), "{}", world.story());
    }
}

#[test]
fn a_roll_out_comes_first_and_replaces_expired_instances_itself() {
    let mut world = pool().of(3).with_surge(1).lacking_at_most(0).living(DAY).running();
    world.grow_old(DAY);
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    for _ in 0..150 {
        let plan = world.step();
        let expired = plan.report.events.iter().any(|event| event.reason == EventReason::InstanceExpired);
        assert!(!expired, "{:#?}", plan.report.events);
    }
    assert_eq!(world.cloud.launched, 6, "each is replaced once\n{}", world.story());
}

#[test]
fn where_a_user_replaces_outdated_instances_expired_ones_are_replaced_all_the_same() {
    let mut world = pool().of(3).replaced_by_another_controller().living(DAY).running();
    world.desired.template = Wanted::Ready(content("v2", "d1"));
    world.settle();
    world.grow_old_alone(&MachineName::new("workers-00000002"), DAY);
    let condition = world.rolling_out();
    assert_eq!(condition.reason, Reason::ReplacingExpired);
    assert!(condition.message.contains("delete outdated Machines"), "{condition:?}");
    world.settle();
    assert_eq!(world.cloud.launched, 4);
    assert!(!world.instances().contains(&InstanceId::new("i-00000002")));
}

/// A successor that does not work stops the replacements by the limits; nothing is recorded as failed, and nothing goes back.
#[test]
fn a_successor_that_fails_says_nothing_about_the_content() {
    let mut world = pool().of(3).with_surge(1).lacking_at_most(0).rolling_back().living(DAY).running();
    world.kube.broken.insert("v1".into());
    world.grow_old(DAY);
    for _ in 0..200 {
        let plan = world.step();
        assert_eq!(deleted(&plan), [], "{}", world.story());
        assert_eq!(world.kube.quarantine, []);
    }
    assert_eq!(world.instances().len(), 4);
}

#[test]
fn an_adopted_instance_that_cannot_be_drained_does_not_expire() {
    let mut world = pool().of(2).living(DAY).running();
    world.grow_old(DAY);
    world.read_group();
    let mut observed = world.observe(0);
    let foo_planner::LastRead::At { seen: Some(group), .. } = &mut observed.group else { panic!("no group") };
    group.tags = world.desired.identity.adopted_tags();
    for instance in &mut group.instances {
        instance.template = Some(("lt-others".into(), foo_model::TemplateVersion(1)));
    }
    for foo_machine in &mut observed.foo_machines {
        foo_machine.spec_hash = None;
    }
    observed.machines[0].node = NodeState::None;
    let plan = plan(&world.desired, &observed, &world.managers[0].memory);
    assert!(!deleted(&plan).contains(&observed.machines[0].name), "{:#?}", plan.actions);
}
