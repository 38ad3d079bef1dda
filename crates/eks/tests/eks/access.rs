//! Access entries, pod identity associations, the OIDC provider.

use crate::aws::{policy_arn, role_arn};
use crate::world::*;
use foo_eks::report::ConditionKind::*;
use foo_model::eks::*;
use foo_model::*;
use std::collections::BTreeSet;
use std::time::Duration;

#[test]
fn entries_are_bound_to_the_unique_id_of_their_role() {
    for role in ["people", "manager", "nodes"] {
        let mut world = World::settled(desired());
        world.aws.make_role(role);
        world.run_for(Duration::from_hours(8));
        world.assert_complete();
        assert_eq!(world.count("DeleteAccessEntry"), 1, "{role}");
    }
}

/// The status says for which role an entry was created; so does the moment of its creation in EKS.
#[test]
fn an_entry_of_a_former_role_is_recognised_after_a_move() {
    for role in ["people", "manager", "nodes"] {
        let mut world = World::settled(desired());
        world.run_for(Duration::from_mins(10));
        world.aws.make_role(role);
        world.moved();
        world.run_for(Duration::from_hours(8));
        world.assert_complete();
        assert_eq!(world.count("DeleteAccessEntry"), 1, "{role}");
    }
}

#[test]
fn entries_stay_after_a_move_and_when_clocks_differ() {
    let mut world = World::settled(desired());
    let entries = world.aws.state().entries;
    let made = entries.values().filter_map(|it| it.shown.created).max().unwrap();
    // IAM's clock is ahead of EKS's.
    world.aws.roles_are_dated = Some(made.plus(Duration::from_mins(1)));
    world.moved();
    world.run_for(Duration::from_hours(8));
    world.assert_complete();
    assert_eq!(world.count("DeleteAccessEntry"), 0);
}

#[test]
fn generated_user_names_are_never_rewritten() {
    let mut world = World::settled(desired());
    world.desired.entries.get_mut(&role_arn("people")).unwrap().username = Some(String::new());
    world.restart();
    world.run_for(Duration::from_hours(8));
    assert_eq!(world.count("UpdateAccessEntry"), 0);
    world.desired.entries.get_mut(&role_arn("people")).unwrap().username = Some("person".to_owned());
    world.settle();
    assert_eq!(world.aws.state().entries[&role_arn("people")].shown.username, "person");
    assert_eq!(world.count("UpdateAccessEntry"), 1);
}

#[test]
fn policies_are_as_requested_and_our_own_stays() {
    let mut world = World::settled(desired());
    let view = |scope| AccessPolicy { arn: policy_arn("AmazonEKSViewPolicy"), scope };
    let people = role_arn("people");
    world.desired.entries.get_mut(&people).unwrap().policies = BTreeSet::from([view(AccessScope::Cluster)]);
    world.settle();
    let narrow = view(AccessScope::Namespaces(BTreeSet::from(["a".to_owned()])));
    world.desired.entries.get_mut(&people).unwrap().policies = BTreeSet::from([narrow.clone()]);
    world.settle();
    assert_eq!(world.aws.state().entries[&people].policies, BTreeSet::from([narrow]));
    world.desired.entries.get_mut(&people).unwrap().policies.clear();
    world.settle();
    assert!(world.aws.state().entries[&people].policies.is_empty());
    assert_eq!(world.aws.state().entries[&role_arn("manager")].policies.len(), 1);
}

#[test]
fn entries_of_pools_go_with_the_last_pool_and_those_of_others_stay() {
    let mut world = World::settled(desired());
    world.aws.create_entry("other");
    world.restart();
    world.desired.node_profiles.clear();
    world.settle();
    assert!(!world.aws.state().entries.contains_key(&role_arn("nodes")));
    assert!(world.aws.state().entries.contains_key(&role_arn("other")));
    world.desired.own_principal = None;
    world.run_for(Duration::from_hours(2));
    assert!(world.aws.state().entries.contains_key(&role_arn("manager")), "who we are is not known");
}

#[test]
fn an_entry_removed_by_hand_is_created_again() {
    let mut world = World::settled(desired());
    world.aws.delete_entry("manager");
    world.run_for(Duration::from_hours(2));
    world.assert_complete();
}

#[test]
fn a_role_that_does_not_exist_yet_is_named_and_waited_for() {
    let mut world = World::new(desired());
    world.aws.remove_role("people");
    world.aws.remove_profile("nodes");
    world.run_for(Duration::from_mins(20));
    world.assert_says(AccessReady, Reason::PrincipalNotFound, "people");
    assert_eq!(world.count("CreateAccessEntry"), 1, "only own");
    world.aws.make_role("people");
    world.aws.put_profile("nodes");
    world.settle();
    world.assert_complete();
}

#[test]
fn without_the_right_to_read_roles_entries_are_created_all_the_same() {
    let mut world = World::new(desired());
    for role in ["people", "manager"] {
        world.aws.deaf.insert(Query::Role(role.to_owned()));
    }
    world.run_for(Duration::from_mins(30));
    world.assert_complete();
    assert_eq!(world.condition(AccessReady).reason, Reason::AccessDenied);
}

#[test]
fn associations_follow_the_spec() {
    let mut world = World::settled(desired());
    let app = ("team".to_owned(), "app".to_owned());
    world.desired.pod_identities.insert(app.clone(), role_arn("people"));
    world.settle();
    let of = |world: &World| world.aws.state().identities.values().next().cloned();
    assert_eq!(of(&world).unwrap().role_arn, Some(role_arn("people")));
    world.desired.pod_identities.remove(&app);
    world.desired.oidc_provider = false;
    world.settle();
    assert!(of(&world).is_none() && world.aws.state().providers.is_empty());
}

#[test]
fn a_policy_that_is_listed_with_two_scopes_is_not_rewritten_for_ever() {
    let mut world = World::settled(desired());
    let view = |scope| AccessPolicy { arn: policy_arn("AmazonEKSViewPolicy"), scope };
    let narrow = AccessScope::Namespaces(BTreeSet::from(["a".to_owned()]));
    let people = role_arn("people");
    world.desired.entries.get_mut(&people).unwrap().policies =
        BTreeSet::from([view(AccessScope::Cluster), view(narrow)]);
    let before = world.count("AssociateAccessPolicy");
    world.settle();
    world.run_for(Duration::from_hours(8));
    assert_eq!(world.count("AssociateAccessPolicy") - before, 1, "{}", world.story());
    assert_eq!(world.aws.state().entries[&people].policies, BTreeSet::from([view(AccessScope::Cluster)]));
}

#[test]
fn our_own_right_holds_in_the_whole_cluster_whatever_the_spec_lists() {
    let mut world = World::settled(desired());
    let manager = role_arn("manager");
    let own = world.aws.state().entries[&manager].policies.clone();
    let admin = own.iter().next().unwrap().arn.clone();
    let narrow = AccessScope::Namespaces(BTreeSet::from(["a".to_owned()]));
    let listed = foo_eks::desired::DesiredEntry {
        policies: BTreeSet::from([AccessPolicy { arn: admin, scope: narrow }]),
        ..entry()
    };
    world.desired.entries.insert(manager.clone(), listed);
    let before = world.count("AssociateAccessPolicy");
    world.settle();
    world.run_for(Duration::from_hours(8));
    assert_eq!(world.count("AssociateAccessPolicy"), before, "{}", world.story());
    assert_eq!(world.aws.state().entries[&manager].policies, own);
}

#[test]
fn the_role_of_nodes_listed_as_another_type_is_named_and_nodes_are_not_locked_out() {
    let mut world = World::settled(desired());
    let nodes = role_arn("nodes");
    world.desired.entries.insert(nodes.clone(), entry());
    world.run_for(Duration::from_hours(2));
    assert_eq!(world.aws.state().entries[&nodes].shown.kind, EntryKind::Ec2Linux);
    assert_eq!(world.count("DeleteAccessEntry"), 0);
    world.assert_says(AccessReady, Reason::AccessDiffers, "EC2_LINUX");
    // The other way round: a pool comes whose role a person has.
    let mut world = World::new(desired());
    world.desired.node_profiles.clear();
    world.desired.entries.insert(nodes.clone(), entry());
    world.settle();
    world.desired.node_profiles.insert("nodes".to_owned());
    world.run_for(Duration::from_hours(2));
    assert_eq!(world.aws.state().entries[&nodes].shown.kind, EntryKind::Standard);
    world.assert_says(AccessReady, Reason::AccessDiffers, "EC2_LINUX");
}

#[test]
fn the_entry_of_nodes_stays_while_instances_of_an_earlier_template_may_live() {
    let mut world = World::settled(desired());
    world.aws.make_role("others");
    world.aws.put_profile("others");
    world.desired.node_profiles = BTreeSet::from(["others".to_owned()]);
    world.desired.nodes_settled = false;
    world.run_for(Duration::from_hours(8));
    let entered = |world: &World, role: &str| world.aws.state().entries.contains_key(&role_arn(role));
    assert!(entered(&world, "nodes") && entered(&world, "others"));
    world.desired.nodes_settled = true;
    world.run_for(Duration::from_hours(1));
    assert!(!entered(&world, "nodes") && entered(&world, "others"));
}
