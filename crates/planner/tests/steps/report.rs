use crate::world::{Launches, pool};
use foo_model::{Blocked, LifecycleState, Reason};
use foo_planner::report::{ConditionKind, Pace, Status};

#[test]
fn an_idle_pool_does_nothing_and_reports_the_same_for_hours() {
    let mut world = pool().of(3).running();
    world.read_group();
    let first = world.plan_of(0);
    let memory = world.managers[0].memory.clone();
    for _ in 0..100 {
        world.wait(60);
        world.read_group();
        let plan = world.plan_of(0);
        assert_eq!(plan.actions, []);
        assert_eq!(plan.report, first.report);
        assert_eq!(world.managers[0].memory, memory);
    }
    assert_eq!((first.report.next.pace, first.report.next.after), (Pace::Quiet, None));
}

#[test]
fn at_most_three_names_are_listed() {
    let mut world = pool().of(6).draining_at_most(9).running();
    for name in world.kube.alive() {
        world.kube.held_up.insert(name);
    }
    world.scale_to(1);
    world.observe_and_plan();
    let plan = world.observe_and_plan();
    assert_eq!(
        plan.report.conditions[0].message,
        "waiting for Cluster API to drain 5 Machines: workers-00000001, workers-00000002, workers-00000003 and 2 more"
    );
}

#[test]
fn a_drain_alone_requests_no_passes() {
    let mut world = pool().of(2).running();
    let name = world.kube.alive()[0].clone();
    world.kube.held_up.insert(name.clone());
    world.delete_machine(&name);
    let plan = world.observe_and_plan();
    assert_eq!((plan.report.next.pace, plan.report.next.after), (Pace::Quiet, None));
}

#[test]
fn an_id_stays_listed_until_its_instance_is_gone() {
    let mut world = pool().of(2).running();
    let id = world.instances()[0].clone();
    let listed = |world: &mut crate::world::World| {
        world.wait(1);
        world.read_group();
        let report = world.plan_of(0).report;
        report.provider_ids.unwrap().iter().any(|listed| listed.ends_with(id.as_str()))
    };
    for state in
        [LifecycleState::Terminating, LifecycleState::TerminatingWait, LifecycleState::TerminatingProceed]
    {
        world.put(0, state);
        assert!(listed(&mut world));
    }
    world.kill(&id);
    assert!(listed(&mut world), "EC2 was not asked yet");
    world.observe_and_plan();
    assert!(!listed(&mut world));
}

#[test]
fn the_autoscalers_condition_is_there_only_for_its_warnings() {
    let mut world = pool().of(1).running();
    assert_eq!(world.plan_of(0).report.conditions.len(), 11);
    world.desired.warnings = vec![
        Blocked::new(Reason::AutoscalerAnnotationsInvalid, "max is below min"),
        Blocked::new(Reason::MultipleMachinePools, "MachinePool b names it, too"),
    ];
    let report = world.plan_of(0).report;
    let last = report.conditions.last().unwrap();
    assert_eq!((last.kind, last.status), (ConditionKind::AutoscalerReady, Status::False));
    assert_eq!(
        (report.conditions[0].status, report.conditions[0].message.as_str()),
        (Status::True, "1 of 1 instance in service; warning: MachinePool b names it, too")
    );
}

#[test]
fn provisioned_needs_a_group_and_an_instance_if_one_is_wanted_for() {
    assert!(pool().of(0).running().plan_of(0).report.provisioned);
    let mut world = pool().of(1).new_world();
    while world.cloud.group.is_none() {
        assert!(!world.observe_and_plan().report.provisioned);
    }
    assert!(!world.observe_and_plan().report.provisioned, "no instance yet");
    world.cloud.launch(world.now);
    assert!(!world.observe_and_plan().report.provisioned, "it may never come up");
    world.cloud.put_in_service(world.now);
    assert!(world.observe_and_plan().report.provisioned);
}

#[test]
fn credentials_that_are_refused_are_the_reason() {
    let mut world = pool().of(1).running();
    let message = "the IAM action autoscaling:DescribeAutoScalingGroups is missing".to_owned();
    world.managers[0].view =
        foo_planner::LastRead::Failed { reason: Reason::AccessDenied, message: message.clone() };
    let report = world.plan_of(0).report;
    assert_eq!(
        (report.conditions[0].reason.as_str(), &report.conditions[0].message),
        ("AccessDenied", &message)
    );
    assert_eq!(
        (report.conditions[2].kind, report.conditions[2].status),
        (ConditionKind::CredentialsReady, Status::False)
    );
    assert_eq!((report.counts, report.provider_ids), (None, None), "what was published stays");
}

#[test]
fn a_restart_of_the_manager_makes_no_pool_unready() {
    let mut world = pool().of(2).running();
    world.restart(0);
    for _ in 0..5 {
        let plan = world.observe_and_plan();
        assert_eq!(plan.report.conditions[0].status, Status::True, "{:?}", plan.report.conditions[0]);
    }
}

#[test]
fn a_target_above_the_ceiling_is_reported() {
    let mut world = pool().of(2).running();
    let shown = |world: &mut crate::world::World| {
        let conditions = world.plan_of(0).report.conditions;
        let up = conditions.iter().find(|one| one.kind == ConditionKind::ScalingUp).unwrap();
        (up.status, up.reason, conditions[0].reason, conditions[0].message.clone())
    };
    assert_eq!((shown(&mut world).1.as_str(), shown(&mut world).2.as_str()), ("NotScalingUp", "Ready"));
    world.desired.size = foo_planner::desired::Size::Replicas { wanted: 5, ceiling: Some(2) };
    let (status, reason, ready, message) = shown(&mut world);
    assert_eq!(
        (status, reason.as_str(), ready.as_str()),
        (Status::False, "MaxSizeReached", "ReadyAtMaxSize")
    );
    assert!(message.ends_with("the MachinePool requests 5 replicas, but spec.maxSize is 2"), "{message}");
}

#[test]
fn a_first_read_that_fails_is_the_reason_whatever_its_cause() {
    let (no, unknown) = (Status::False, Status::Unknown);
    for (reason, status) in
        [(Reason::WrongAccount, no), (Reason::IdentityNotAllowed, no), (Reason::Throttled, unknown)]
    {
        let mut world = pool().of(1).running();
        world.restart(0);
        world.managers[0].view = foo_planner::LastRead::Failed { reason, message: "so AWS says".to_owned() };
        let report = world.plan_of(0).report;
        assert_eq!(report.conditions[0].reason, reason);
        assert_eq!(
            (report.conditions[2].kind, report.conditions[2].status),
            (ConditionKind::CredentialsReady, status)
        );
    }
}

#[test]
fn content_that_fails_in_the_only_instance_is_marked_as_failed() {
    let mut world = pool().of(1).running();
    world.kube.broken.insert("v2".into());
    world.desired.template = foo_planner::desired::Wanted::Ready(crate::world::content("v2", "d1"));
    for _ in 0..10 {
        world.step();
    }
    assert!(world.kube.quarantine.is_empty(), "it may still join");
    world.wait(700);
    world.observe_and_plan();
    assert_eq!(world.kube.quarantine.first().map(|it| it.hash.as_str()), Some("v2"));
}

/// Capacity that was never launched is not reported as instances over the desired number.
#[test]
fn cancelled_launches_are_not_reported_as_instances() {
    let mut world = pool().of(4).running();
    world.cloud.launches = Launches::Fail;
    world.scale_to(8);
    world.observe_and_plan();
    assert_eq!(world.cloud.sizes().desired, 8, "{}", world.story());
    world.scale_to(4);
    world.wait(1);
    world.read_group();
    let ready = world.plan_of(0).report.conditions[0].message.clone();
    assert!(ready.starts_with("desired capacity is 8 and is lowered to 4"), "{ready}");
}
