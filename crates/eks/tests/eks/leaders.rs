//! Another manager takes over, while reads do not show yet what the one before it did last.

use crate::addons::with_role;
use crate::world::*;
use foo_eks::Desired;
use foo_eks::desired::DesiredAddon;
use foo_model::Adoption;
use foo_model::eks::*;
use foo_model::names::{TAG_ADOPTABLE, TAG_CONTROL_PLANE};
use std::collections::BTreeSet;
use std::time::Duration;

/// How old reads are: less than the manager waits for, and more than three reads of a cluster take that is not found.
const LAG: Duration = Duration::from_secs(14);

/// A manager takes over; it has read everything once, and reads do not show yet what the one before it did last.
fn take_over(world: &mut World) {
    world.restart();
    world.run_for(Duration::from_secs(4));
}

/// Until everything is as requested, and reads show it.
fn rest(world: &mut World) {
    world.run_for(Duration::from_mins(10));
    world.settle();
}

#[test]
fn a_new_leader_removes_tags_that_left_the_spec_though_its_first_reads_do_not_show_them() {
    let mut world = World::settled(desired());
    world.aws.set_lag(LAG);
    world.desired.tags.insert("cost".to_owned(), "blue".to_owned());
    world.run_until("tagged", |it| it.cluster().tags.contains_key("cost"));
    world.desired.tags.remove("cost");
    take_over(&mut world);
    assert!(world.process.record.tag_keys.contains("cost"), "{}", world.story());
    rest(&mut world);
    assert!(!world.cluster().tags.contains_key("cost"), "{}", world.story());
    assert_eq!(world.process.record.tag_keys, BTreeSet::from(["team".to_owned()]));
}

#[test]
fn a_new_leader_forgets_keys_of_tags_once_a_read_that_is_new_enough_does_not_show_them() {
    let mut world = World::settled(desired());
    world.desired.tags.insert("cost".to_owned(), "blue".to_owned());
    world.settle();
    world.aws.untag("cost");
    world.desired.tags.remove("cost");
    take_over(&mut world);
    assert!(world.process.record.tag_keys.contains("cost"), "{}", world.story());
    rest(&mut world);
    assert_eq!(world.process.record.tag_keys, BTreeSet::from(["team".to_owned()]));
    assert_eq!(world.count("UntagResource"), 0, "{}", world.story());
}

#[test]
fn a_new_leader_deletes_an_oidc_provider_that_its_first_reads_do_not_show() {
    let mut world = World::settled(Desired { oidc_provider: false, ..desired() });
    world.aws.set_lag(LAG);
    world.desired.oidc_provider = true;
    world.run_until("created", |it| it.aws.state().providers.len() == 1);
    world.desired.oidc_provider = false;
    take_over(&mut world);
    rest(&mut world);
    assert!(world.aws.state().providers.is_empty(), "{}", world.story());
    assert_eq!(world.process.record.oidc_provider, None);
}

#[test]
fn a_new_leader_takes_a_role_away_that_its_first_reads_do_not_show() {
    let mut world = World::settled(desired());
    world.aws.set_lag(LAG);
    world.desired.addons.insert("vpc-cni".to_owned(), with_role());
    world.run_until("updated", |it| it.count("UpdateAddon") == 1);
    world.desired.addons.insert("vpc-cni".to_owned(), addon());
    take_over(&mut world);
    rest(&mut world);
    let settings = world.aws.state().addons.remove("vpc-cni").unwrap().settings;
    assert_eq!(settings.service_account_role, None, "{}", world.story());
    assert!(world.process.record.addon_roles.is_empty());
}

#[test]
fn a_new_leader_preserves_the_objects_of_an_addon_that_its_first_reads_do_not_show() {
    let mut world = World::settled(desired());
    let created = world.count("CreateAddon");
    world.aws.set_lag(LAG);
    let preserved = DesiredAddon { preserve: true, ..addon() };
    world.desired.addons.insert("metrics-server".to_owned(), preserved);
    world.run_until("created", |it| it.count("CreateAddon") > created);
    world.desired.addons.remove("metrics-server");
    take_over(&mut world);
    rest(&mut world);
    assert!(!world.aws.state().addons.contains_key("metrics-server"), "{}", world.story());
    let deletions = world.aws.calls.iter().filter_map(|(_, it)| match it {
        Change::Addon { change: AddonChange::Delete { preserve }, .. } => Some(*preserve),
        _ => None,
    });
    assert_eq!(deletions.collect::<Vec<bool>>(), [true], "{}", world.story());
}

#[test]
fn a_new_leader_deletes_a_cluster_that_its_first_reads_do_not_show() {
    let mut world = World::new(desired());
    world.aws.set_lag(LAG);
    world.run_until("recorded", |it| it.process.record.arn.is_some());
    world.restart();
    world.delete();
    world.assert_gone();
    assert_eq!(world.count("DeleteCluster"), 1, "{}", world.story());
}

#[test]
fn a_new_leader_releases_a_cluster_that_its_first_reads_do_not_show_as_adopted() {
    let mut world = World::settled(desired());
    world.aws.retag([(TAG_ADOPTABLE.to_owned(), "team/prod".to_owned())].into());
    world.moved();
    world.desired.adoption = Adoption::Allowed;
    world.desired.deletion = None;
    world.aws.set_lag(LAG);
    world.run_until("adopted", |it| it.cluster().tags.contains_key(TAG_CONTROL_PLANE));
    world.restart();
    world.delete();
    assert_eq!(world.count("DeleteCluster"), 0, "{}", world.story());
    assert!(!world.cluster().tags.contains_key(TAG_CONTROL_PLANE), "{}", world.story());
}
