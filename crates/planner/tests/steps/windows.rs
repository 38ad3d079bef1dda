//! What waits for maintenance windows, and what does not.

use crate::world::{World, content, pool};
use foo_model::{
    Agreement, Blocked, InstanceId, MachineName, Maintenance, NodeState, Reason, Seconds, SignalKind,
};
use foo_planner::action::MachineAction;
use foo_planner::desired::{Rebalance, Wanted};
use foo_planner::observed::Observed;
use foo_planner::report::{Condition, ConditionKind, RolloutPhase, Status};
use foo_planner::{Action, Plan, plan};
use std::time::Duration;

fn deletions(plan: &Plan) -> usize {
    let deletes = |action: &&Action| matches!(action, Action::Machine(MachineAction::DeleteMachine { .. }));
    plan.actions.iter().filter(deletes).count()
}

impl World {
    fn wants_content(&mut self, spec: &str) {
        self.desired.template = Wanted::Ready(content(spec, "d1"));
    }

    /// So many rounds; how many Machines were deleted in them.
    fn deletes_in(&mut self, rounds: usize) -> usize {
        (0..rounds).map(|_| deletions(&self.step())).sum()
    }

    fn condition_of(&mut self, kind: ConditionKind) -> Condition {
        let conditions = self.observe_and_plan().report.conditions;
        conditions.into_iter().find(|it| it.kind == kind).unwrap()
    }

    /// Instances of the group by content: those of `v1`, and others.
    fn by_content(&self) -> (usize, usize) {
        let versions = &self.cloud.template.as_ref().unwrap().versions;
        let first = versions.iter().find(|it| it.spec_hash == Some("v1".into())).map(|it| it.version);
        let group = self.cloud.group.as_ref().unwrap();
        let old = |it: &&foo_model::Instance| it.template.as_ref().map(|(_, version)| *version) == first;
        let living = || group.instances.iter().filter(|it| it.lifecycle.is_capacity());
        let old = living().filter(old).count();
        (old, living().count() - old)
    }
}

#[test]
fn a_roll_out_waits_and_the_planner_wakes_when_the_window_opens() {
    let mut world = pool().of(3).with_surge(1).lacking_at_most(0).running();
    world.opens_in(90_000);
    world.wants_content("v2");
    assert_eq!(world.deletes_in(10), 0);
    let plan = world.observe_and_plan();
    let rollout = plan.report.rollout.clone().unwrap();
    assert_eq!(rollout.phase, RolloutPhase::AwaitingWindow);
    let Maintenance::Window { opens, closes } = world.desired.maintenance else { panic!("no window") };
    let waits = format!("waiting for the maintenance window that opens at {}", opens.to_the_minute());
    assert_eq!(rollout.message, waits);
    assert_eq!(plan.report.next.after, Some(world.now.until(opens)));
    assert_eq!((world.cloud.sizes().desired, world.by_content()), (3, (3, 0)));
    let condition = world.condition_of(ConditionKind::RollingOut);
    assert_eq!((condition.status, condition.reason), (Status::True, Reason::AwaitingMaintenanceWindow));
    assert_eq!(world.condition_of(ConditionKind::Ready).status, Status::True, "it is routine");
    world.now = opens;
    assert_eq!(world.writes(), ["update group max=4 desired=4"], "one second later");
    assert_eq!(world.plan_of(0).report.rollout.unwrap().phase, RolloutPhase::Rolling);
    world.now = closes.minus(Duration::from_secs(2));
    assert_eq!(world.plan_of(0).report.rollout.unwrap().phase, RolloutPhase::Rolling);
    world.now = closes;
    let over = world.plan_of(0).report.rollout.unwrap();
    assert_eq!(
        (over.phase, over.message.as_str()),
        (RolloutPhase::AwaitingWindow, "waiting for the next maintenance window")
    );
}

#[test]
fn expired_instances_wait_as_well() {
    let mut world = pool().of(3).with_surge(1).lacking_at_most(1).living(86_400).running();
    world.opens_in(7_200);
    world.grow_old(86_400);
    assert_eq!(world.deletes_in(10), 0);
    let condition = world.condition_of(ConditionKind::RollingOut);
    assert_eq!(condition.reason, Reason::AwaitingMaintenanceWindow);
    assert!(
        condition.message.contains("have reached the maximum lifetime of 86400 s; waiting for the"),
        "{condition:?}"
    );
    world.opens_in(0);
    assert_eq!(world.deletes_in(100), 3);
}

#[test]
fn what_has_begun_ends_after_the_window() {
    for expires in [false, true] {
        let start = pool().of(3).with_surge(1).lacking_at_most(0).draining_at_most(9);
        let mut world = if expires { start.living(86_400).running() } else { start.running() };
        world.opens_in(0);
        if expires {
            world.grow_old(86_400);
        } else {
            world.wants_content("v2");
        }
        // The successor is launched, and the window closes.
        while world.cloud.existing() < 4 {
            world.step();
        }
        world.opens_in(86_400);
        assert_eq!(world.deletes_in(100), 1, "{}", world.story());
        assert_eq!((world.instances().len(), world.cloud.launched), (3, 4), "{}", world.story());
    }
}

#[test]
fn sizes_remediation_and_announcements_wait_for_no_window() {
    let mut world =
        pool().of(4).with_surge(1).lacking_at_most(1).with_rebalance(Rebalance::Replace).running();
    world.opens_in(86_400);
    world.wants_content("v2");
    world.deletes_in(10);
    world.scale_to(6);
    world.deletes_in(20);
    assert_eq!(world.by_content(), (4, 2), "new instances have the new content");
    // An autoscaler gets the Machine that it marked.
    let marked = world.kube.alive()[5].clone();
    world.mark(&marked);
    world.scale_to(5);
    world.deletes_in(20);
    assert_eq!((world.instances().len(), world.by_content()), (5, (4, 1)), "{}", world.story());
    let name = world.kube.alive()[0].clone();
    world.kube.machine_mut(&name).unwrap().unhealthy = Some("its kubelet is dead".to_owned());
    world.deletes_in(30);
    assert!(!world.kube.alive().contains(&name), "{}", world.story());
    for kind in [SignalKind::Retirement, SignalKind::Interruption] {
        let id = world.instances()[0].clone();
        world.announce(kind, &id);
        world.deletes_in(40);
        assert!(!world.instances().contains(&id), "{kind:?}\n{}", world.story());
    }
    assert_eq!(world.instances().len(), 5, "{}", world.story());
    assert_eq!(world.by_content(), (1, 4), "the roll-out has not begun\n{}", world.story());
}

#[test]
fn content_that_fails_outside_of_windows_is_not_launched_again() {
    let mut world = pool().of(3).with_surge(1).rolling_back().running();
    world.opens_in(86_400);
    world.kube.broken.insert("v2".into());
    world.wants_content("v2");
    world.deletes_in(5);
    world.scale_to(4);
    world.deletes_in(400);
    assert_eq!(world.kube.quarantine.len(), 1, "{}", world.story());
    assert_eq!(world.by_content(), (4, 0), "what does not serve is replaced\n{}", world.story());
}

#[test]
fn without_capacity_before_its_window_a_roll_out_has_not_failed() {
    let mut world = pool().of(3).with_surge(1).running();
    world.opens_in(86_400);
    world.wants_content("v2");
    world.deletes_in(5);
    world.cloud.launches = crate::world::Launches::Fail;
    world.scale_to(4);
    world.deletes_in(400);
    assert_eq!(world.kube.quarantine, [], "{}", world.story());
}

#[test]
fn windows_that_cannot_be_used_never_open_and_say_so() {
    let mut world = pool().of(2).running();
    let message = "spec.maintenanceWindows: the IANA time zone database has no time zone \"Mars\"";
    let blocked = Blocked::new(Reason::MaintenanceWindowsUnusable, message);
    world.desired.maintenance = Maintenance::Unusable(blocked);
    assert_eq!(world.condition_of(ConditionKind::Ready).status, Status::True, "nothing waits");
    world.wants_content("v2");
    assert_eq!(world.deletes_in(10), 0);
    let ready = world.condition_of(ConditionKind::Ready);
    assert_eq!((ready.status, ready.reason), (Status::False, Reason::MaintenanceWindowsUnusable));
    assert!(ready.message.ends_with(message), "{ready:?}");
}

#[test]
fn while_the_clocks_differ_no_window_is_open() {
    let mut world = pool().of(2).running();
    world.opens_in(86_400);
    world.wants_content("v2");
    world.deletes_in(5);
    world.opens_in(0);
    world.wait(1);
    world.read_group();
    for (clocks, begins) in [(Agreement::Differ, false), (Agreement::Agree, true)] {
        let observed = Observed { clocks, ..world.observe(0) };
        let plan = plan(&world.desired, &observed, &world.managers[0].memory);
        assert_eq!(deletions(&plan) == 1, begins, "{clocks:?}: {:#?}", plan.report.rollout);
    }
}

/// A Machine that is down for another reason makes no room for replacements outside of windows.
#[test]
fn nothing_is_replaced_instead_of_what_is_missing() {
    let mut world = pool().of(3).lacking_at_most(2).draining_at_most(9).running();
    world.opens_in(86_400);
    world.desired.rollout.ready_timeout = Seconds(1_000_000);
    world.wants_content("v2");
    world.deletes_in(5);
    world.kube.machine_mut(&MachineName::new("workers-00000001")).unwrap().node = NodeState::NotReady;
    assert_eq!(world.deletes_in(20), 0, "{}", world.story());
    assert!(world.instances().contains(&InstanceId::new("i-00000001")));
}
