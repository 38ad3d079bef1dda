//! Each file of `tests/scenarios` as a test.

use super::commands::{self, POOL_OPTIONS};
use super::{reference, stage};
use similar::TextDiff;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

macro_rules! scenarios {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];

        $(#[test]
        fn $name() {
            prints_what_it_printed(stringify!($name));
        })*
    };
}

scenarios! {
    adopted
    another_installation
    architectures
    autoscaler_scale_in
    autoscaler_shortage
    autoscaler_reverts
    bootstrap_missing
    create
    expiry
    foo_machine_deleted
    foreign_group
    group_deleted_by_hand
    healthy
    instance_detached
    instance_not_found
    instance_vanished
    interruption
    interruption_at_ceiling
    interruption_undrained
    leaving_by_aws
    lost_responses
    machine_deleted
    machine_deleted_with_surge
    maintenance_window
    managed_by_another_controller
    moved_away
    no_capacity
    paused
    policy_newest
    protection_lost
    rebalance
    rebalance_ignored
    remediation
    removal
    removal_denied
    restart
    restored
    retained
    retirement
    rollout
    rollout_fails
    rollout_rolls_back
    rollout_stopped
    scale_in
    scale_up
    settings_drift
    tags_lost
    template_blocked
    template_change
    warm_pool
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios")
}

/// The names of all files, without `.txt`.
fn files() -> BTreeSet<String> {
    let paths = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

fn prints_what_it_printed(test: &str) {
    let file = format!("{}.txt", test.replace('_', "-"));
    let before = std::fs::read_to_string(folder().join(&file)).unwrap();
    let after = stage::play(&file, &before).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    is_golden(&file, &before, &after);
}

/// Fails with what differs, or writes it.
fn is_golden(file: &str, before: &str, after: &str) {
    if before == after {
        return;
    }
    let path = folder().join(file);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, after).unwrap();
        return;
    }
    let diff = TextDiff::from_lines(before, after);
    panic!(
        "`UPDATE_GOLDEN=1 cargo test -p foo-planner scenarios` accepts this:\n{}",
        diff.unified_diff().context_radius(3).header(file, "what it prints now")
    );
}

#[test]
fn every_file_is_a_test() {
    let tests: BTreeSet<String> = NAMES.iter().map(|name| name.replace('_', "-")).collect();
    assert_eq!(files(), tests, "the list in tests/scripts/scenarios.rs");
}

#[test]
fn the_reference_lists_what_the_table_has() {
    let before = std::fs::read_to_string(folder().join("README.md")).unwrap_or_default();
    is_golden("README.md", &before, &reference::written());
}

/// What no scenario says is not tested by any, so a change of it would go unnoticed.
#[test]
fn every_command_and_option_is_used() {
    let scripts: Vec<String> = files()
        .iter()
        .map(|file| std::fs::read_to_string(folder().join(format!("{file}.txt"))).unwrap())
        .collect();
    let lines =
        || scripts.iter().flat_map(|script| script.lines()).filter(|line| !line.starts_with(['#', '|']));
    let said: BTreeSet<&str> = lines().filter_map(|line| line.split_whitespace().next()).collect();
    let unused: Vec<&str> =
        commands::all().map(|command| command.name).filter(|name| !said.contains(name)).collect();
    assert_eq!(unused, [""; 0], "commands");
    let options: BTreeSet<&str> = lines()
        .filter(|line| line.starts_with("pool "))
        .flat_map(str::split_whitespace)
        .filter_map(|word| Some(word.split_once('=')?.0))
        .collect();
    let unused: Vec<&str> =
        POOL_OPTIONS.iter().map(|option| option.name).filter(|name| !options.contains(name)).collect();
    assert_eq!(unused, [""; 0], "options of pool");
}

#[test]
fn names_are_there_once() {
    let names: Vec<&str> = commands::all().map(|command| command.name).collect();
    let distinct: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(distinct.len(), names.len(), "{names:?}");
    let options: Vec<&str> = POOL_OPTIONS.iter().map(|option| option.name).collect();
    let distinct: BTreeSet<&str> = options.iter().copied().collect();
    assert_eq!(distinct.len(), options.len(), "{options:?}");
}
