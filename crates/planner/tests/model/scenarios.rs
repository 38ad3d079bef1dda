//! The scenarios.

use super::explore;
use super::rules::reach;
use super::scenario::{Scenario, Warmth, Whose};
use super::state::Budget;
use foo_planner::desired::OnFailure;

/// How far to go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Daily,
    Deep,
}

fn depth() -> Depth {
    if std::env::var("PLANNER_MODEL").is_ok_and(|value| value == "deep") { Depth::Deep } else { Depth::Daily }
}

/// The budget every day, and the deep one.
fn budget(daily: Budget, deep: Budget) -> Budget {
    match depth() {
        Depth::Daily => daily,
        Depth::Deep => deep,
    }
}

/// Nothing happens, and one Machine may be lacking.
pub(crate) fn scenario(name: &'static str, size: u8) -> Scenario {
    Scenario {
        name,
        size,
        targets: Vec::new(),
        surge: 0,
        unavailable: 1,
        drains: 1,
        broken: false,
        expired: 0,
        on_failure: OnFailure::Halt,
        whose: Whose::Own,
        warmth: Warmth::None,
        joining: None,
        balanced: false,
        connected: false,
        budget: Budget::default(),
        hurried: true,
        cap: 2,
        launches: size,
        reaches: Vec::new(),
    }
}

#[test]
fn an_autoscaler_marks_and_shrinks() {
    let none = Budget::default();
    explore(Scenario {
        targets: vec![2],
        hurried: depth() == Depth::Daily,
        budget: budget(
            Budget { targets: 1, marks: 2, faults: 1, lates: 1, ..none },
            Budget { targets: 1, marks: 2, faults: 2, lates: 2, ..none },
        ),
        reaches: vec![
            reach::rest(),
            reach::end(),
            reach::marked_victim(),
            reach::late_sight(),
            reach::lost_effect(),
        ],
        ..scenario("shrink", 3)
    });
}

#[test]
fn a_mark_alone_removes_nothing() {
    let none = Budget::default();
    explore(Scenario {
        hurried: depth() == Depth::Daily,
        budget: budget(Budget { marks: 2, faults: 1, ..none }, Budget { marks: 3, faults: 2, ..none }),
        reaches: vec![reach::marked()],
        ..scenario("mark", 2)
    });
}

#[test]
fn the_target_goes_down_and_up_again() {
    let none = Budget::default();
    explore(Scenario {
        targets: vec![1, 2],
        launches: 3,
        budget: budget(
            Budget { targets: 2, marks: 1, faults: 1, ..none },
            Budget { targets: 2, marks: 1, faults: 1, lates: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::end(), reach::lost_effect()],
        ..scenario("down and up", 2)
    });
}

#[test]
fn it_grows_during_a_fail_over() {
    let none = Budget::default();
    explore(Scenario {
        targets: if depth() == Depth::Daily { vec![3] } else { vec![2, 3] },
        launches: 3,
        budget: budget(
            Budget { targets: 1, hand_overs: 1, faults: 1, ..none },
            Budget { targets: 2, hand_overs: 1, faults: 1, lates: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::two_at_work()],
        ..scenario("grow", 1)
    });
}

#[test]
fn two_managers_shrink_it() {
    let none = Budget::default();
    explore(Scenario {
        targets: vec![1],
        budget: budget(
            Budget { targets: 1, hand_overs: 1, lates: 1, ..none },
            Budget { targets: 1, hand_overs: 1, faults: 1, lates: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::end(), reach::two_at_work(), reach::late_sight()],
        ..scenario("two shrink", 3)
    });
}

#[test]
fn a_roll_out_with_surge() {
    let none = Budget::default();
    explore(Scenario {
        surge: 1,
        unavailable: 0,
        launches: 4,
        hurried: depth() == Depth::Daily,
        budget: budget(
            Budget { edits: 1, faults: 1, lates: 1, ..none },
            Budget { edits: 1, faults: 2, lates: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::surge(), reach::renewed(), reach::lost_effect()],
        ..scenario("roll-out with surge", 2)
    });
}

#[test]
fn a_roll_out_in_place() {
    let none = Budget::default();
    explore(Scenario {
        launches: 4,
        budget: budget(
            Budget { edits: 1, faults: 1, ..none },
            Budget { edits: 1, faults: 1, lates: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::renewed(), reach::lost_effect()],
        ..scenario("roll-out in place", 2)
    });
}

#[test]
fn two_managers_roll_out() {
    let none = Budget::default();
    explore(Scenario {
        surge: 1,
        unavailable: 0,
        launches: 4,
        budget: budget(
            Budget { edits: 1, hand_overs: 1, ..none },
            Budget { edits: 1, hand_overs: 1, lates: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::renewed(), reach::two_at_work()],
        ..scenario("two roll out", 2)
    });
}

#[test]
fn a_roll_out_while_the_target_changes() {
    let none = Budget::default();
    explore(Scenario {
        surge: 1,
        unavailable: 0,
        targets: vec![1],
        launches: 4,
        budget: budget(
            Budget { edits: 1, targets: 1, ..none },
            Budget { edits: 1, targets: 1, faults: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::renewed()],
        ..scenario("roll-out and target", 2)
    });
}

#[test]
fn content_that_fails_is_rolled_back() {
    let none = Budget::default();
    explore(Scenario {
        surge: 1,
        unavailable: 0,
        broken: true,
        on_failure: OnFailure::Rollback,
        cap: 4,
        launches: 4,
        budget: budget(
            Budget { edits: 1, faults: 1, ..none },
            Budget { edits: 1, faults: 2, lates: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::quarantine()],
        ..scenario("rolled back", 2)
    });
}

#[test]
fn content_that_fails_halts() {
    let none = Budget::default();
    explore(Scenario {
        targets: vec![3],
        broken: true,
        cap: 4,
        launches: 4,
        budget: budget(
            Budget { edits: 1, targets: 1, ..none },
            Budget { edits: 1, targets: 1, faults: 1, ..none },
        ),
        reaches: vec![reach::quarantine(), reach::launch_after_quarantine()],
        ..scenario("halted", 2)
    });
}

#[test]
fn content_that_fails_in_the_only_instance_is_rolled_back() {
    let none = Budget::default();
    explore(Scenario {
        targets: vec![2],
        broken: true,
        on_failure: OnFailure::Rollback,
        cap: 4,
        launches: if depth() == Depth::Daily { 3 } else { 5 },
        budget: budget(Budget { edits: 1, ..none }, Budget { edits: 1, targets: 1, ..none }),
        reaches: vec![reach::rest(), reach::quarantine()],
        ..scenario("the only one", 1)
    });
}

#[test]
fn aws_ends_an_instance() {
    let none = Budget::default();
    explore(Scenario {
        targets: vec![1],
        launches: 3,
        budget: budget(
            Budget { takes: 1, faults: 1, ..none },
            Budget { takes: 1, targets: 1, faults: 1, lates: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::completion()],
        ..scenario("taken", 2)
    });
}

#[test]
fn instances_expire_with_surge() {
    let none = Budget::default();
    explore(Scenario {
        surge: 1,
        unavailable: 0,
        expired: 2,
        launches: 4,
        budget: budget(
            Budget { hand_overs: 1, faults: 1, ..none },
            Budget { hand_overs: 1, faults: 1, lates: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::surge(), reach::all_young(), reach::lost_effect()],
        ..scenario("expiry with surge", 2)
    });
}

#[test]
fn instances_expire_in_place_while_the_content_changes() {
    let none = Budget::default();
    explore(Scenario {
        expired: 1,
        targets: if depth() == Depth::Daily { Vec::new() } else { vec![1] },
        // The successor, and then both with the new content.
        launches: 5,
        budget: budget(
            Budget { edits: 1, faults: 1, ..none },
            Budget { edits: 1, targets: 1, faults: 1, lates: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::all_young(), reach::renewed()],
        ..scenario("expiry in place", 2)
    });
}

#[test]
fn an_instance_dies() {
    let none = Budget::default();
    explore(Scenario {
        targets: vec![1],
        launches: 3,
        budget: budget(
            Budget { deaths: 1, targets: 1, faults: 1, ..none },
            Budget { deaths: 1, targets: 1, faults: 2, ..none },
        ),
        reaches: vec![reach::rest(), reach::burial()],
        ..scenario("dead", 2)
    });
}

#[test]
fn a_person_deletes_a_machine() {
    let none = Budget::default();
    explore(Scenario {
        surge: 1,
        targets: if depth() == Depth::Daily { vec![1] } else { vec![1, 3] },
        launches: 4,
        budget: budget(
            Budget { deletions: 1, targets: 1, lates: 1, ..none },
            Budget { deletions: 1, targets: 1, faults: 1, lates: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::end()],
        ..scenario("deleted", 2)
    });
}

/// Step by step, while AWS takes an instance and the user begins the roll-out at any time.
#[test]
fn a_group_of_another_tool_is_adopted() {
    let none = Budget::default();
    explore(Scenario {
        whose: Whose::Adoptable,
        surge: 1,
        unavailable: 0,
        launches: 5,
        budget: budget(
            Budget { edits: 1, faults: 1, lates: 1, ..none },
            Budget { edits: 1, faults: 1, lates: 1, takes: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::adopted(), reach::renewed_after_adoption()],
        ..scenario("adopted", 2)
    });
}

#[test]
fn a_group_is_adopted_while_aws_takes_an_instance() {
    let none = Budget::default();
    explore(Scenario {
        whose: Whose::Adoptable,
        launches: 3,
        // Already a second manager has more states than 24 GB hold.
        budget: Budget { takes: 1, faults: 1, ..none },
        reaches: vec![reach::rest(), reach::adopted(), reach::taken_before_the_hook()],
        ..scenario("adopted and taken", 1)
    });
}

#[test]
fn an_adopted_group_shrinks_under_two_managers() {
    let none = Budget::default();
    explore(Scenario {
        whose: Whose::Adoptable,
        targets: vec![1],
        budget: budget(
            Budget { targets: 1, hand_overs: 1, ..none },
            Budget { targets: 1, hand_overs: 1, faults: 1, lates: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::end(), reach::two_at_work()],
        ..scenario("adopted and shrunk", 2)
    });
}

/// AWS deletes the outdated warm pool at any time, or too late.
#[test]
fn a_roll_out_renews_the_warm_pool() {
    let none = Budget::default();
    explore(Scenario {
        warmth: Warmth::Provider,
        surge: 1,
        unavailable: 0,
        // One of the new content, and one that is outdated.
        launches: 3,
        budget: budget(
            Budget { edits: 1, faults: 1, ..none },
            Budget { edits: 1, faults: 1, lates: 1, denials: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::renewed(), reach::renewed_warm_pool(), reach::took_outdated()],
        ..scenario("warm roll-out", 1)
    });
}

/// The spec is edited back later, in the deep run.
#[test]
fn user_data_that_join_are_not_launched_into_a_warm_pool_whatever_the_spec_names() {
    let none = Budget::default();
    explore(Scenario {
        warmth: Warmth::Provider,
        joining: Some(2),
        launches: if depth() == Depth::Daily { 3 } else { 5 },
        budget: budget(
            Budget { edits: 1, toggles: 1, denials: 1, ..none },
            Budget { edits: 2, toggles: 1, denials: 1, faults: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::joining_without_warm_pool(), reach::refused_deletion()],
        ..scenario("warm and joining", 1)
    });
}

/// Too many states for every day: there, the property tests play this.
#[test]
fn the_target_rises_while_the_warm_pool_is_renewed() {
    if depth() == Depth::Daily {
        return;
    }
    let none = Budget::default();
    explore(Scenario {
        warmth: Warmth::Provider,
        targets: vec![2],
        // Both of the new content, the second one before that, and one that is outdated.
        launches: 5,
        budget: Budget { edits: 1, targets: 1, ..none },
        reaches: vec![reach::rest(), reach::renewed(), reach::renewed_warm_pool()],
        ..scenario("warm and growing", 1)
    });
}

#[test]
fn two_managers_create_and_delete_a_warm_pool() {
    let none = Budget::default();
    explore(Scenario {
        budget: budget(
            Budget { toggles: 2, hand_overs: 1, lates: 1, ..none },
            Budget { toggles: 2, hand_overs: 1, faults: 1, lates: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::new_warm_pool(), reach::two_at_work()],
        ..scenario("warm in turns", 1)
    });
}

#[test]
fn a_warm_pool_of_another_user_whose_instances_run_is_not_touched() {
    let none = Budget::default();
    explore(Scenario {
        warmth: Warmth::AnotherUser,
        joining: Some(2),
        launches: 2,
        budget: budget(
            Budget { edits: 1, toggles: 1, ..none },
            Budget { edits: 1, toggles: 2, faults: 1, lates: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::named_foreign_warm_pool()],
        ..scenario("warm of another user", 1)
    });
}

/// Unhealthy in its target group, while the health cannot be read at times.
#[test]
fn an_instance_becomes_unhealthy() {
    let none = Budget::default();
    explore(Scenario {
        balanced: true,
        launches: if depth() == Depth::Daily { 3 } else { 5 },
        budget: budget(
            Budget { unhealthy: 1, unread: 1, faults: 1, ..none },
            Budget { unhealthy: 1, unread: 1, faults: 1, edits: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::end(), reach::replaced_unhealthy(), reach::unread_health()],
        ..scenario("unhealthy", 2)
    });
}

/// The Node drains first, then the connections do, and then the hook follows.
#[test]
fn connections_drain_before_an_instance_is_terminated() {
    let none = Budget::default();
    explore(Scenario {
        balanced: true,
        connected: true,
        targets: vec![1],
        budget: budget(
            Budget { targets: 1, faults: 1, ..none },
            Budget { targets: 1, hand_overs: 1, faults: 1, lates: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::end(), reach::drained_first(), reach::lost_effect()],
        ..scenario("deregistered", 2)
    });
}

/// AWS begins with the connections, and the Node drains at the same time.
#[test]
fn aws_deregisters_an_instance_and_ends_it() {
    let none = Budget::default();
    explore(Scenario {
        balanced: true,
        connected: true,
        launches: if depth() == Depth::Daily { 2 } else { 3 },
        budget: budget(
            Budget { takes: 1, faults: 1, ..none },
            Budget { takes: 1, hand_overs: 1, faults: 1, lates: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::completion(), reach::drains_beside(), reach::drained_beside()],
        ..scenario("deregistered and taken", if depth() == Depth::Daily { 1 } else { 2 })
    });
}

#[test]
fn the_target_group_is_removed_while_the_target_goes_down() {
    let none = Budget::default();
    explore(Scenario {
        balanced: true,
        connected: true,
        targets: vec![1],
        budget: budget(
            Budget { detachments: 1, targets: 1, faults: 1, ..none },
            Budget { detachments: 1, targets: 1, hand_overs: 1, faults: 1, lates: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::end(), reach::deregistered(), reach::detached()],
        ..scenario("detached and shrunk", 2)
    });
}

#[test]
fn the_target_group_is_removed_while_an_instance_is_unhealthy() {
    let none = Budget::default();
    explore(Scenario {
        balanced: true,
        connected: true,
        launches: 3,
        budget: budget(
            Budget { detachments: 1, unhealthy: 1, ..none },
            Budget { detachments: 1, unhealthy: 1, unread: 1, faults: 1, ..none },
        ),
        reaches: vec![reach::rest(), reach::replaced_unhealthy(), reach::deregistered(), reach::detached()],
        ..scenario("detached and unhealthy", 2)
    });
}

#[test]
fn foreign_group() {
    explore_a_foreign_group("foreign", Whose::Nobodys);
}

#[test]
fn the_group_of_another_installation() {
    explore_a_foreign_group("elsewhere", Whose::AnotherInstallations);
}

fn explore_a_foreign_group(name: &'static str, whose: Whose) {
    let none = Budget::default();
    explore(Scenario {
        targets: vec![1],
        whose,
        budget: budget(
            Budget { edits: 1, targets: 1, faults: 1, ..none },
            Budget { edits: 1, targets: 1, faults: 2, hand_overs: 1, ..none },
        ),
        reaches: vec![reach::unmanaged_excess()],
        ..scenario(name, 2)
    });
}
