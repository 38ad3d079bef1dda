//! Add-ons.

use crate::aws::role_arn;
use crate::world::*;
use foo_calls::testing::Aws as _;
use foo_eks::desired::*;
use foo_eks::report::ConditionKind::*;
use foo_eks::{plan, violations};
use foo_model::eks::*;
use foo_model::*;
use foo_simulator_core::core::eks::Nodes;
use std::collections::BTreeMap;
use std::time::Duration;

#[test]
fn coredns_without_nodes_does_not_keep_the_cluster_from_being_ready() {
    let mut world = World::new(desired());
    world.aws.set_nodes(Nodes::Instances);
    world.settle();
    assert_eq!(world.condition(ClusterReady).reason, Reason::ClusterAsRequested);
    world.assert_says(AddonsReady, Reason::AddonWaitsForNodes, "coredns");
    let reads = world.aws.reads.len();
    world.run_for(Duration::from_hours(1));
    assert!(world.aws.reads.len() - reads <= 13, "{}", world.aws.reads.len() - reads);
}

#[test]
fn an_addon_that_could_not_be_created_is_deleted_and_created_again() {
    let mut world = World::new(desired());
    world.aws.fail(0, 0, &[("kube-proxy", 2)]);
    world.run_until("failed", |it| it.count("DeleteAddon") == 1);
    world.pass();
    world.assert_says(AddonsReady, Reason::AddonFailed, "ConfigurationConflict");
    world.settle();
    world.assert_complete();
    assert_eq!(world.count("DeleteAddon"), 2);
}

/// A version of coredns for 1.33 that is newer than EKS's default.
const NEWER: &str = "v1.13.2-eksbuild.1";

/// "You can only update one minor version at a time" (EKS User Guide, "Amazon VPC CNI"). The simulated EKS does not insist on it.
#[test]
fn the_vpc_cni_is_updated_one_minor_version_at_a_time() {
    let exactly =
        |version: &str| DesiredAddon { version: AddonVersion::Exactly(version.to_owned()), ..addon() };
    let mut wanted = desired();
    wanted.addons.insert("vpc-cni".to_owned(), exactly("v1.19.6-eksbuild.7"));
    let mut world = World::settled(wanted);
    world.desired.addons.insert("vpc-cni".to_owned(), exactly("v1.21.1-eksbuild.1"));
    world.settle();
    let updates = world.aws.calls.iter().filter_map(|(_, change)| match change {
        Change::Addon { name, change: AddonChange::Update(new), .. } if name == "vpc-cni" => {
            new.version.as_deref()
        }
        _ => None,
    });
    assert_eq!(updates.collect::<Vec<_>>(), ["v1.20.4-eksbuild.2", "v1.21.1-eksbuild.1"]);
}

#[test]
fn an_addon_is_not_downgraded_nor_updated_by_a_newer_default() {
    let mut world = World::settled(desired());
    world.aws.update_addon("coredns", |it| it.version = Some(NEWER.to_owned()));
    world.moved();
    world.settle();
    assert_eq!(world.count("UpdateAddon"), 0);
    assert_eq!(world.process.record.addon_versions["coredns"], (Minor(33), NEWER.to_owned()));
}

#[test]
fn unknown_addons_versions_and_keys_are_named_before_anything_is_sent() {
    let mut desired = desired();
    desired.addons = BTreeMap::from([("nonsense".to_owned(), addon())]);
    let mut world = World::new(desired);
    world.run_for(Duration::from_mins(20));
    world.assert_says(AddonsReady, Reason::AddonNotOffered, "nonsense");
    let exactly = DesiredAddon { version: AddonVersion::Exactly("v9".to_owned()), ..addon() };
    world.desired.addons = BTreeMap::from([("vpc-cni".to_owned(), exactly)]);
    world.run_for(Duration::from_mins(20));
    world.assert_says(AddonsReady, Reason::AddonNotOffered, "v1.21.1-eksbuild.1");
    let configuration = Some("{\"enf\": 1}".to_owned());
    let wrong = DesiredAddon { settings: AddonSettings { configuration, ..addon().settings }, ..addon() };
    world.desired.addons = BTreeMap::from([("vpc-cni".to_owned(), wrong)]);
    world.run_for(Duration::from_mins(20));
    world.assert_says(AddonsReady, Reason::AddonConfigurationInvalid, "enf");
    assert_eq!(world.count("CreateAddon"), 0);
}

#[test]
fn an_addon_whose_configuration_is_not_known_yet_is_neither_created_nor_changed() {
    let mut wanted = desired();
    let awaits = Some("subnet pods/a".to_owned());
    wanted.addons.insert("vpc-cni".to_owned(), DesiredAddon { awaits: awaits.clone(), ..addon() });
    let mut world = World::new(wanted);
    world.run_for(Duration::from_hours(1));
    world.assert_says(AddonsReady, Reason::WaitingForSubnets, "vpc-cni waits for subnet pods/a");
    let exists = |world: &World, name: &str| world.aws.state().addons.contains_key(name);
    assert!(!exists(&world, "vpc-cni") && exists(&world, "kube-proxy"));
    world.desired.addons.insert("vpc-cni".to_owned(), addon());
    world.settle();
    assert!(exists(&world, "vpc-cni"));
    let settings =
        AddonSettings { configuration: Some("{\"env\": {\"A\": \"1\"}}".to_owned()), ..addon().settings };
    world.desired.addons.insert("vpc-cni".to_owned(), DesiredAddon { settings, awaits, ..addon() });
    world.run_for(Duration::from_hours(1));
    world.assert_says(AddonsReady, Reason::WaitingForSubnets, "vpc-cni");
    assert_eq!((world.count("UpdateAddon"), world.count("DeleteAddon")), (0, 0));
}

fn awaiting() -> DesiredAddon {
    DesiredAddon { awaits: Some("subnet pods/a".to_owned()), ..addon() }
}

pub fn with_role() -> DesiredAddon {
    let service_account_role = Some(role_arn("app"));
    DesiredAddon { settings: AddonSettings { service_account_role, ..addon().settings }, ..addon() }
}

#[test]
fn an_addon_that_eks_works_on_is_waited_for_whatever_it_awaits() {
    let addons = BTreeMap::from([("vpc-cni".to_owned(), addon())]);
    let mut world = World::new(Desired { addons, ..desired() });
    world.run_until("creating", |it| it.condition(AddonsReady).message.contains("vpc-cni is CREATING"));
    world.desired.addons.insert("vpc-cni".to_owned(), awaiting());
    world.pass();
    world.assert_says(AddonsReady, Reason::ChangingAddons, "vpc-cni is CREATING");
}

#[test]
fn an_addon_that_could_not_be_created_is_reported_whatever_it_awaits() {
    let addons = BTreeMap::from([("vpc-cni".to_owned(), addon())]);
    let mut world = World::new(Desired { addons, ..desired() });
    world.aws.fail(0, 0, &[("vpc-cni", 1)]);
    world.run_until("creating", |it| it.condition(AddonsReady).message.contains("vpc-cni is CREATING"));
    world.desired.addons.insert("vpc-cni".to_owned(), awaiting());
    world.run_until("failed", |it| it.condition(AddonsReady).reason == Reason::AddonFailed);
    world.assert_says(AddonsReady, Reason::AddonFailed, "ConfigurationConflict");
}

#[test]
fn an_addon_that_exists_and_awaits_its_configuration_holds_nothing_else_up() {
    let mut world = World::settled(desired());
    world.desired.addons.insert("vpc-cni".to_owned(), awaiting());
    world.desired.addons.insert("coredns".to_owned(), with_role());
    world.desired.version = Minor(34);
    world.run_for(Duration::from_hours(3));
    assert_eq!(world.aws.cluster().unwrap().version, Minor(34), "{}", world.story());
    let role = &world.aws.state().addons["coredns"].settings.service_account_role;
    assert_eq!(*role, Some(role_arn("app")), "{}", world.story());
    world.assert_says(AddonsReady, Reason::WaitingForSubnets, "vpc-cni waits for subnet pods/a");
}

#[test]
fn an_update_of_an_addon_that_awaits_its_configuration_breaks_a_rule() {
    let mut world = World::settled(desired());
    world.aws.observe(&mut world.observed);
    let mut known = world.desired.clone();
    known.addons.insert("vpc-cni".to_owned(), with_role());
    let (record, memory) = (&world.process.record, &world.process.memory);
    let update = plan(&known, &world.observed, record, memory);
    assert_eq!(update.actions.len(), 1, "{:#?}", update.report);
    let broken = |desired: &Desired| violations(desired, &world.observed, record, memory, &update).len();
    assert_eq!(broken(&known), 0);
    known.addons.insert("vpc-cni".to_owned(), awaiting());
    assert_eq!(broken(&known), 1);
}

#[test]
fn own_addons_that_are_no_longer_requested_are_deleted_and_others_stay() {
    let mut world = World::settled(desired());
    world.aws.create_addon("metrics-server", "v0.8.0-eksbuild.3", None);
    world.restart();
    world.desired.addons.get_mut("coredns").unwrap().preserve = true;
    world.settle();
    world.desired.addons.remove("coredns");
    world.settle();
    assert!(world.aws.state().addons.contains_key("metrics-server"));
    assert!(!world.aws.state().addons.contains_key("coredns"));
    let preserved =
        |it: &Change| matches!(it, Change::Addon { change: AddonChange::Delete { preserve: true }, .. });
    assert!(world.aws.calls.iter().any(|(_, it)| preserved(it)));
}

#[test]
fn configuration_roles_and_associations_of_an_addon_are_kept_as_requested() {
    let mut world = World::settled(desired());
    let wanted = DesiredAddon {
        settings: AddonSettings {
            configuration: Some("{\"env\": {\"A\": \"1\"}}".to_owned()),
            ..AddonSettings::default()
        },
        pod_identities: Some(BTreeMap::from([("aws-node".to_owned(), role_arn("app"))])),
        conflicts: ResolveConflicts::Preserve,
        ..addon()
    };
    world.desired.addons.insert("vpc-cni".to_owned(), wanted);
    world.settle();
    assert_eq!(world.aws.state().addons["vpc-cni"].pod_identities.len(), 1);
    assert_eq!(world.count("UpdateAddon"), 1, "{}", world.story());
    world.desired.addons.insert("vpc-cni".to_owned(), addon());
    world.settle();
    assert_eq!(world.aws.state().addons["vpc-cni"].settings.configuration.as_deref(), Some("{}"));
    assert_eq!(world.count("UpdateAddon"), 2, "{}", world.story());
}

#[test]
fn what_an_addon_in_conflict_found_in_the_cluster_stays_there() {
    let mut world = World::new(desired());
    let careful = DesiredAddon { conflicts: ResolveConflicts::None, ..addon() };
    world.desired.addons.insert("kube-proxy".to_owned(), careful);
    world.aws.fail(0, 0, &[("kube-proxy", 1)]);
    // What is left of the first attempt is in the way of the second.
    world.run_until("twice", |it| it.count("DeleteAddon") == 2);
    let preserved = world.aws.calls.iter().filter_map(|(_, it)| match it {
        Change::Addon { change: AddonChange::Delete { preserve }, .. } => Some(*preserve),
        _ => None,
    });
    assert_eq!(preserved.collect::<Vec<bool>>(), [true, true], "objects of another owner are not deleted");
    world.desired.addons.insert("kube-proxy".to_owned(), addon());
    world.settle();
    world.assert_complete();
}

#[test]
fn an_addon_that_waits_for_nodes_is_deleted_when_it_is_no_longer_requested() {
    let mut world = World::new(desired());
    world.aws.set_nodes(Nodes::Instances);
    world.settle();
    world.desired.addons.remove("coredns");
    world.run_for(Duration::from_hours(1));
    assert!(!world.aws.state().addons.contains_key("coredns"), "{}", world.story());
}

#[test]
fn an_addon_that_waited_for_nodes_is_seen_to_be_active_soon_after_they_came() {
    let mut world = World::new(desired());
    world.aws.set_nodes(Nodes::Instances);
    world.settle();
    world.run_for(Duration::from_hours(3));
    world.aws.set_nodes(Nodes::Assumed);
    let came = world.now();
    let active = |it: &World| it.condition(AddonsReady).reason == Reason::AddonsAsRequested;
    world.run_until("active", active);
    let taken = came.until(world.now());
    assert!(taken <= Duration::from_mins(11), "{taken:?}");
}

#[test]
fn an_update_keeps_the_role_that_the_spec_says_nothing_about() {
    for own in [true, false] {
        let mut world = World::settled(desired());
        world.aws.update_addon("kube-proxy", |it| it.settings.service_account_role = Some(role_arn("cni")));
        if !own {
            let Addon { arn, tags, .. } = world.aws.state().addons.remove("kube-proxy").unwrap();
            let change = TagChange::Untag(tags.into_keys().collect());
            world.aws.person(&Change::Tags { arn, change });
        }
        world.restart();
        world.desired.version = Minor(34);
        world.settle();
        let Addon { version, settings, .. } = world.aws.state().addons.remove("kube-proxy").unwrap();
        assert_eq!(version, "v1.34.1-eksbuild.2");
        assert_eq!(settings.service_account_role, Some(role_arn("cni")), "{own}\n{}", world.story());
    }
}

#[test]
fn a_role_that_the_spec_no_longer_names_is_taken_away_at_once() {
    let mut world = World::new(desired());
    world.desired.addons.insert("vpc-cni".to_owned(), with_role());
    world.settle();
    let role = |world: &World| world.aws.state().addons["vpc-cni"].settings.service_account_role.clone();
    assert_eq!(role(&world), Some(role_arn("app")));
    world.restart();
    world.desired.addons.insert("vpc-cni".to_owned(), addon());
    world.settle();
    assert_eq!(role(&world), None, "{}", world.story());
    assert_eq!(world.count("UpdateAddon"), 1);
    assert!(world.process.record.addon_roles.is_empty(), "a role that a user adds now stays");
}
