use super::NOTHING;
use crate::world::{World, content, pool};
use foo_model::names::TAG_INSTALLATION;
use foo_model::{Blocked, Reason};
use foo_planner::Goal;
use foo_planner::desired::{PausedBy, Wanted};
use foo_planner::observed::{Finalizer, LastRead, MoveBlock};
use foo_planner::report::Status;

#[test]
fn the_finalizer_comes_before_anything_in_aws() {
    let mut world = pool().of(1).new_world();
    assert_eq!(world.wants(), ["describe template"], "what only reads leaves nothing behind");
    world.observe_and_plan();
    assert_eq!(world.kube.finalizer, Finalizer::Absent);
    assert_eq!(world.wants(), ["add finalizer", "block move", "create template spec=v1 data=d1"]);
}

#[test]
fn a_pool_is_held_as_soon_as_there_is_something_of_it_and_not_before() {
    let mut world = pool().of(1).new_world();
    world.desired.missing = vec![Blocked::new(Reason::WaitingForMachinePool, "waiting for the owner")];
    world.settle();
    assert_eq!(world.kube.finalizer, Finalizer::Absent, "nothing is created yet");
    world.desired.missing.clear();
    while world.cloud.template.is_none() {
        assert_eq!(world.kube.finalizer, Finalizer::Absent);
        world.observe_and_plan();
    }
    assert_eq!(world.kube.finalizer, Finalizer::Present);
    // A user removes it: there is a group, so it comes back.
    world.settle();
    world.kube.finalizer = Finalizer::Absent;
    assert_eq!(world.wants(), ["add finalizer"]);
    world.desired.missing = vec![Blocked::new(Reason::WaitingForMachinePool, "waiting for the owner")];
    assert_eq!(world.wants(), ["add finalizer"], "whatever is missing");
}

#[test]
fn the_arn_is_recorded_once() {
    let mut world = pool().of(1).running();
    world.kube.recorded_arn = None;
    assert_eq!(world.wants(), ["record ARN"]);
    world.kube.recorded_arn = Some("arn:of:a:group:that:was".to_owned());
    assert_eq!(world.wants(), NOTHING, "it is immutable");
}

#[test]
fn a_paused_pool_is_left_alone_whatever_its_goal() {
    for goal in [Goal::Run, Goal::Remove, Goal::Orphan] {
        let mut world = pool().of(2).running();
        world.desired.pause = Some(PausedBy::Cluster);
        world.desired.goal = goal;
        world.scale_to(7);
        assert_eq!(world.wants(), NOTHING);
        assert_eq!(world.plan_of(0).report.conditions[1].status, Status::True);
    }
}

#[test]
fn what_is_missing_stops_creation_and_nothing_else() {
    let mut world = pool().of(2).running();
    world.desired.missing = vec![Blocked::new(Reason::WaitingForMachinePool, "waiting for the owner")];
    world.desired.template = foo_planner::desired::Wanted::Ready(crate::world::content("v2", "d2"));
    world.set_min_by_hand(1);
    assert_eq!(world.wants(), ["update group min=0"], "repaired, but no new version");
    world.observe_and_plan();
    world.scale_to(5);
    assert_eq!(world.wants(), NOTHING, "no raise");
    world.scale_to(1);
    assert_eq!(world.wants().len(), 1, "a victim");
    world.delete_pool();
    world.settle();
    assert!(world.is_gone(), "a removal needs nothing");
}

#[test]
fn letting_go_takes_finalizers_off_and_touches_nothing_in_aws() {
    let mut world = pool().of(2).running();
    let cloud = world.cloud.group.clone();
    world.desired.goal = Goal::Orphan;
    world.settle();
    assert_eq!(world.kube.finalizer, Finalizer::Absent);
    assert!(world.kube.foo_machines.iter().all(|foo_machine| !foo_machine.has_finalizer));
    assert_eq!(world.cloud.group, cloud);
}

/// The tag of another management cluster on the group.
fn is_elsewhere(world: &mut World) {
    let group = world.cloud.group.as_mut().unwrap();
    group.tags.insert(TAG_INSTALLATION.to_owned(), "elsewhere".to_owned());
}

#[test]
fn a_group_of_another_installation_is_left_alone_until_a_user_lets_the_provider_adopt_it() {
    let mut world = pool().of(2).running();
    is_elsewhere(&mut world);
    world.desired.template = Wanted::Ready(content("v2", "d2"));
    world.scale_to(1);
    let (group, template) = (world.cloud.group.clone(), world.cloud.template.clone());
    world.desired.identity.adopt_from = Some("nowhere".to_owned());
    for _ in 0..20 {
        world.step();
    }
    assert_eq!((&world.cloud.group, &world.cloud.template), (&group, &template));
    assert_eq!(world.kube.alive().len(), 2, "nothing is drained");
    let plan = world.plan_of(0);
    let ready = &plan.report.conditions[0];
    assert_eq!((ready.status, ready.reason.as_str()), (Status::False, "GroupOfAnotherInstallation"));
    assert!(ready.message.contains("\"elsewhere\", this one is \"here\""), "{}", ready.message);
    assert!(ready.message.contains("infrastructure.foo.com/adopt-from=elsewhere"), "{}", ready.message);

    world.desired.identity.adopt_from = Some("elsewhere".to_owned());
    assert_eq!(
        world.wants(),
        ["tag group infrastructure.foo.com/installation"],
        "and nothing else before that is seen"
    );
    world.observe_and_plan();
    assert_eq!(world.cloud.group.as_ref().unwrap().tags[TAG_INSTALLATION], "here");
    world.settle();
    assert_eq!(world.desired.identity.adopt_from, None, "it is good for once");
    assert_eq!(world.kube.alive().len(), 1);
}

/// A user created a group of the pool's name and gave it the pool's tags, or all but one.
#[test]
fn a_group_that_was_tagged_by_hand_is_neither_adopted_nor_deleted() {
    for recorded in [None, Some("arn:of:a:group:that:was".to_owned())] {
        let mut world = pool().of(2).running();
        world.cloud.group.as_mut().unwrap().tags.remove(TAG_INSTALLATION);
        world.kube.recorded_arn = recorded;
        world.desired.template = Wanted::Ready(content("v2", "d2"));
        world.scale_to(1);
        let (group, template) = (world.cloud.group.clone(), world.cloud.template.clone());
        for _ in 0..20 {
            world.step();
        }
        let plan = world.plan_of(0);
        let said = plan.report.conditions.iter().find(|it| it.reason == Reason::GroupNotOwned).unwrap();
        assert!(said.message.contains("does not have all ownership tags"), "{}", said.message);
        world.delete_pool();
        for _ in 0..40 {
            world.step();
        }
        assert_eq!((&world.cloud.group, &world.cloud.template), (&group, &template));
        assert_eq!(world.kube.finalizer, Finalizer::Absent);
    }
}

#[test]
fn a_group_of_this_pool_that_lost_the_tag_of_its_installation_gets_it_again() {
    let mut world = pool().of(1).running();
    world.cloud.group.as_mut().unwrap().tags.remove(TAG_INSTALLATION);
    assert_eq!(world.wants(), ["tag group infrastructure.foo.com/installation"]);
    world.settle();
    assert_eq!(world.cloud.group.as_ref().unwrap().tags[TAG_INSTALLATION], "here");
}

#[test]
fn the_removal_of_a_pool_leaves_group_and_template_of_another_installation() {
    let mut world = pool().of(2).running();
    is_elsewhere(&mut world);
    let (group, template) = (world.cloud.group.clone(), world.cloud.template.clone());
    world.delete_pool();
    for _ in 0..40 {
        world.step();
    }
    assert_eq!((&world.cloud.group, &world.cloud.template), (&group, &template));
    assert_eq!(world.kube.finalizer, Finalizer::Absent);
}

#[test]
fn a_template_gets_no_version_before_its_group_was_seen() {
    let mut world = pool().of(1).running();
    world.desired.template = Wanted::Ready(content("v2", "d2"));
    for view in [LastRead::Unknown, LastRead::Failed { reason: Reason::Throttled, message: String::new() }] {
        world.managers[0].view = view;
        let writes = world.plan_of(0).actions;
        assert!(writes.iter().all(|action| !action.changes_template()), "{writes:?}");
    }
    world.read_group();
    assert_eq!(world.wants(), ["create template version spec=v2 data=d2"]);
}

#[test]
fn a_move_is_blocked_from_the_first_thing_made_until_the_arn_is_recorded() {
    let mut world = pool().of(1).new_world();
    world.desired.missing = vec![Blocked::new(Reason::WaitingForMachinePool, "waiting for the owner")];
    world.settle();
    assert_eq!(world.kube.moves, MoveBlock::Free, "nothing is created yet");
    world.desired.missing.clear();
    while world.cloud.template.is_none() {
        world.observe_and_plan();
    }
    assert_eq!(world.kube.moves, MoveBlock::Blocked);
    while world.kube.recorded_arn.is_none() {
        assert_eq!(world.kube.moves, MoveBlock::Blocked);
        world.observe_and_plan();
    }
    world.settle();
    assert_eq!(world.kube.moves, MoveBlock::Free);
    assert_eq!(world.wants(), NOTHING);
}

#[test]
fn a_paused_pool_records_what_was_made_and_unblocks_its_move() {
    let mut world = pool().of(1).running();
    world.kube.recorded_arn = None;
    world.kube.moves = MoveBlock::Blocked;
    world.desired.pause = Some(PausedBy::Cluster);
    world.scale_to(3);
    assert_eq!(world.wants(), ["record ARN", "unblock move"], "and nothing else");
    world.observe_and_plan();
    assert_eq!(world.wants(), NOTHING);
}

#[test]
fn a_paused_pool_of_which_nothing_was_made_unblocks_its_move_once_that_is_certain() {
    let mut world = pool().of(1).new_world();
    while world.kube.moves == MoveBlock::Free {
        world.observe_and_plan();
    }
    world.desired.pause = Some(PausedBy::Cluster);
    world.managers[0].view = LastRead::Unknown;
    assert_eq!(world.plan_of(0).actions, [], "not read yet");
    world.managers[0].view = LastRead::Failed { reason: Reason::AccessDenied, message: "no".to_owned() };
    assert_eq!(world.plan_of(0).actions, [], "the read failed");
    world.observe_and_plan();
    assert_eq!(world.kube.moves, MoveBlock::Free);
}

/// What is said of a group and a template whose tags name the pool `workers` of the Cluster `ns/prod`, in a pool of that
/// namespace and Cluster.
fn said_of_what_is_another_pools(namespace: &str, cluster: &str) -> [String; 2] {
    let mut world = pool().of(1).running();
    namespace.clone_into(&mut world.desired.identity.namespace);
    cluster.clone_into(&mut world.desired.identity.cluster);
    world.wait(1);
    world.read_group();
    let plan = world.plan_of(0);
    [Reason::GroupNotOwned, Reason::LaunchTemplateNotOwned].map(|reason| {
        let found = plan.report.conditions.iter().find(|condition| condition.reason == reason);
        found.map(|condition| condition.message.clone()).unwrap()
    })
}

#[test]
fn what_is_another_pools_is_left_alone_and_its_owner_is_named() {
    let [group, template] = said_of_what_is_another_pools("ns", "other");
    assert_eq!(
        group,
        "Auto Scaling group ns-prod-workers belongs to FooMachinePool workers of Cluster prod and is left alone; delete this \
         pool and create it again with a spec.groupName of its own"
    );
    assert!(
        template
            .starts_with("launch template ns-prod-workers belongs to FooMachinePool workers of Cluster prod"),
        "{template}"
    );
}

#[test]
fn a_tenant_is_not_shown_the_names_of_another() {
    for said in said_of_what_is_another_pools("tenant", "prod") {
        assert!(
            said.contains(
                "ns-prod-workers belongs to a FooMachinePool of another namespace and is left alone; delete this pool"
            ),
            "{said}"
        );
    }
}
