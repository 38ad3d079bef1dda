//! Adoption needs the consent of both sides; what was adopted is retained; and what proves that a cluster is the provider's.

use crate::aws::role_arn;
use crate::world::*;
use foo_eks::desired::{DeletionPolicy, Setting};
use foo_eks::report::ConditionKind::*;
use foo_model::eks::Placement;
use foo_model::eks::*;
use foo_model::names::*;
use foo_model::*;
use std::collections::BTreeSet;
use std::time::Duration;

/// The cluster was made by hand, with the account owner's consent to this Cluster, if any; the FooControlPlane is new.
fn made_by_hand(world: &mut World, consent: Option<&str>) {
    let tags = consent.map(|it| (TAG_ADOPTABLE.to_owned(), it.to_owned()));
    world.aws.retag(tags.into_iter().collect());
    world.moved();
}

/// A cluster that was made by hand, and that the provider adopted.
fn adopted(deletion: Option<DeletionPolicy>) -> World {
    let mut world = World::settled(desired());
    made_by_hand(&mut world, Some("team/prod"));
    world.desired.adoption = Adoption::Allowed;
    world.desired.deletion = deletion;
    world.settle();
    world.assert_complete();
    world
}

/// Nothing is sent for hours, and the condition says why.
fn is_refused(world: &mut World, reason: Reason, text: &str) {
    let sent = world.sent;
    world.run_for(Duration::from_hours(2));
    assert_eq!(world.sent, sent, "{}", world.story());
    world.assert_says(ClusterReady, reason, text);
    assert!(world.report.as_ref().unwrap().cluster.is_none());
}

#[test]
fn a_cluster_without_the_tag_of_its_account_is_not_adopted() {
    let mut world = World::settled(desired());
    made_by_hand(&mut world, None);
    world.desired.adoption = Adoption::Allowed;
    is_refused(&mut world, Reason::AdoptionNotAllowed, "infrastructure.foo.com/adoptable=team/prod");
    world.delete();
    assert!(world.aws.state().cluster.is_some());
}

#[test]
fn consent_to_another_namespace_or_cluster_is_no_consent() {
    for other in ["other/prod", "team/other", "team", "", "team/prod/x", "true", "*"] {
        let mut world = World::settled(desired());
        made_by_hand(&mut world, Some(other));
        world.desired.adoption = Adoption::Allowed;
        is_refused(&mut world, Reason::AdoptionNotAllowed, "adoptable=team/prod");
    }
}

#[test]
fn an_identity_that_does_not_allow_adoption_is_named() {
    let mut world = World::settled(desired());
    made_by_hand(&mut world, Some("team/prod"));
    world.desired.adoption = Adoption::NotAllowed;
    is_refused(&mut world, Reason::AdoptionNotAllowed, "FooClusterIdentity");
    world.desired.adoption = Adoption::NotRequested;
    is_refused(&mut world, Reason::ClusterNotOwned, "did not create");
    world.desired.adoption = Adoption::Allowed;
    world.settle();
    world.assert_complete();
}

#[test]
fn consent_does_not_take_a_cluster_from_its_owner() {
    for tag in [TAG_CONTROL_PLANE, TAG_INSTALLATION] {
        let mut world = World::settled(desired());
        made_by_hand(&mut world, Some("team/prod"));
        world.aws.tag(tag, "foreign");
        world.desired.adoption = Adoption::Allowed;
        world.desired.adopt_from = Some("foreign".to_owned());
        is_refused(&mut world, Reason::ClusterNotOwned, "another owner");
    }
}

#[test]
fn the_deletion_of_an_adopted_cluster_retains_it() {
    for (adoption, deletion) in [
        (Adoption::Allowed, None),
        (Adoption::NotRequested, None),
        (Adoption::NotAllowed, Some(DeletionPolicy::Retain)),
    ] {
        let mut world = adopted(None);
        (world.desired.adoption, world.desired.deletion) = (adoption, deletion);
        world.moved();
        world.delete();
        assert_eq!(world.count("DeleteCluster"), 0);
        assert_eq!(world.aws.state().providers.len(), 1, "the cluster needs it");
        let tags = world.cluster().tags;
        let own = [TAG_CONTROL_PLANE, TAG_CLUSTER, TAG_INSTALLATION, TAG_ADOPTED];
        assert!(own.iter().all(|it| !tags.contains_key(*it)), "{tags:?}");
        assert_eq!(tags.get(TAG_ADOPTABLE).map(String::as_str), Some("team/prod"), "not own to remove");
    }
}

/// Anyone with rights in the account can remove the tag that says so, and no read may have shown that yet.
#[test]
fn the_mark_of_an_adopted_cluster_is_put_back_and_its_loss_deletes_nothing() {
    let mut world = adopted(None);
    world.aws.untag(TAG_ADOPTED);
    world.run_for(Duration::from_hours(2));
    let mark = world.cluster().tags.get(TAG_ADOPTED).cloned();
    assert_eq!(mark.as_deref(), Some("true"), "{}", world.story());
    world.aws.untag(TAG_ADOPTED);
    world.delete();
    assert_eq!(world.count("DeleteCluster"), 0, "{}", world.story());
    // One that the provider created never gets it.
    let mut world = World::settled(desired());
    world.run_for(Duration::from_hours(2));
    assert!(!world.cluster().tags.contains_key(TAG_ADOPTED));
}

/// The Cluster stays, and no user confirmed the deletion of its EKS cluster.
#[test]
fn a_deletion_that_is_not_confirmed_deletes_nothing_own_and_waits_for_nothing_foreign() {
    let unconfirmed = || foo_eks::Desired { deletion_confirmed: false, ..desired() };
    let mut world = World::settled(unconfirmed());
    world.desired.being_deleted = true;
    let sent = world.sent;
    world.run_for(Duration::from_hours(2));
    assert_eq!(world.sent, sent, "{}", world.story());
    world.assert_says(Deleting, Reason::DeletionNotConfirmed, "infrastructure.foo.com/deletion-allowed");
    world.desired.deletion_confirmed = true;
    world.delete();
    world.assert_gone();
    // Of another owner.
    let mut world = World::settled(unconfirmed());
    world.aws.tag(TAG_CONTROL_PLANE, "foreign");
    world.moved();
    world.delete();
    assert!(world.aws.state().cluster.is_some());
}

#[test]
fn an_adopted_cluster_is_deleted_only_if_the_spec_says_so() {
    let mut world = adopted(Some(DeletionPolicy::Delete));
    world.delete();
    world.assert_gone();
    // Without words a cluster is deleted that the provider created.
    let mut world =
        World::settled(foo_eks::Desired { deletion: None, adoption: Adoption::Allowed, ..desired() });
    world.delete();
    world.assert_gone();
}

#[test]
fn the_protection_of_an_adopted_cluster_is_never_switched_off() {
    let mut world = adopted(Some(DeletionPolicy::Delete));
    world.aws.configure(ConfigUpdate::DeletionProtection(true));
    world.desired.left_open = [Setting::DeletionProtection].into();
    (world.desired.may_unprotect, world.desired.being_deleted) = (true, true);
    world.run_for(Duration::from_hours(1));
    world.assert_says(Deleting, Reason::ClusterProtected, "protection");
    assert!(world.cluster().deletion_protection);
}

#[test]
fn the_id_in_an_annotation_gives_no_access_to_a_cluster_of_another_cluster() {
    for foreign in ["other/prod", "team/other"] {
        let mut world = World::settled(desired());
        world.aws.tag(TAG_CLUSTER, foreign);
        world.moved();
        is_refused(&mut world, Reason::ClusterNotOwned, "another owner");
        let said = world.condition(ClusterReady).message;
        assert!(!said.contains("1111") && !said.contains(foreign), "{said}");
    }
    let mut world = World::settled(desired());
    world.aws.tag(TAG_CLUSTER, "other/prod");
    world.moved();
    let sent = world.sent;
    world.delete();
    assert_eq!(world.sent, sent);
}

#[test]
fn a_deletion_goes_by_the_namespace_since_the_name_of_the_cluster_may_be_lost() {
    let mut world = World::settled(desired());
    "team/prod-control-plane".clone_into(&mut world.desired.cluster);
    world.delete();
    world.assert_gone();
}

#[test]
fn a_cluster_of_before_a_restore_is_named_with_the_way_to_take_it_back() {
    let mut world = World::settled(desired());
    world.moved();
    "2222".clone_into(&mut world.desired.id);
    world.desired.neighbours = ["1111".to_owned()].into();
    is_refused(&mut world, Reason::ClusterNotOwned, "another FooControlPlane of this Cluster");
    world.desired.neighbours.clear();
    is_refused(&mut world, Reason::ClusterNotOwned, "does not exist any more");
    let said = world.condition(ClusterReady).message;
    assert!(said.contains("infrastructure.foo.com/control-plane-id=<value>"), "{said}");
    assert!(!said.contains("1111"), "{said}");
    "1111".clone_into(&mut world.desired.id);
    world.settle();
    assert_eq!(world.count("CreateCluster"), 1);
}

#[test]
fn adoption_is_tagging_and_what_can_never_change_is_named() {
    let mut world = World::settled(desired());
    world.desired.role_arn = role_arn("other");
    world.aws.delete_entry("manager");
    made_by_hand(&mut world, Some("team/prod"));
    world.desired.adoption = Adoption::Allowed;
    world.run_for(Duration::from_hours(1));
    world.assert_says(ClusterReady, Reason::ClusterDiffers, "the role is");
    assert_eq!(world.cluster().tags.get(TAG_CONTROL_PLANE), Some(&"1111".to_owned()));
    assert_eq!(world.cluster().tags.get(TAG_ADOPTED), Some(&"true".to_owned()));
    world.assert_complete();
    assert_eq!(world.count("CreateCluster"), 1);
}

#[test]
fn a_cluster_that_is_taken_over_keeps_what_the_spec_says_nothing_about() {
    let mut world = World::new(desired());
    world.aws.create(NewCluster {
        version: Some(Minor(33)),
        role_arn: role_arn("cluster"),
        placement: Placement {
            security_groups: BTreeSet::from([SecurityGroupId::new("sg-foreign")]),
            ..placement(&["subnet-a2", "subnet-b2"])
        },
        access: EndpointAccess { public: false, private: true, public_cidrs: BTreeSet::new() },
        service_ipv4: None,
        ip_family: IpFamily::Ipv4,
        authentication_mode: AuthenticationMode::ConfigMap,
        creator_is_admin: true,
        self_managed_addons: false,
        logging: BTreeSet::from([LogType::Audit]),
        encryption_key: None,
        upgrade_policy: None,
        zonal_shift: Some(true),
        deletion_protection: true,
        scaling_tier: Some(ScalingTier::Xl),
        tags: [(TAG_ADOPTABLE.to_owned(), "team/prod".to_owned())].into(),
    });
    world.aws.create_addon("vpc-cni", "v1.20.4-eksbuild.2", Some("{\"env\":{\"A\":\"1\"}}"));
    let before = world.cluster();
    world.desired.adoption = Adoption::Allowed;
    world.desired.left_open = [
        Setting::Access,
        Setting::Subnets,
        Setting::SecurityGroups,
        Setting::AuthenticationMode,
        Setting::Logging,
        Setting::ZonalShift,
        Setting::DeletionProtection,
    ]
    .into();
    world.settle();
    let after = world.cluster();
    assert_eq!(
        after.authentication_mode,
        AuthenticationMode::ApiAndConfigMap,
        "entries beside the ConfigMap"
    );
    let ignored = |it: Cluster| Cluster {
        tags: network::Tags::new(),
        authentication_mode: AuthenticationMode::Api,
        ..it
    };
    assert_eq!(ignored(after), ignored(before), "{}", world.story());
    let cni = &world.aws.state().addons["vpc-cni"];
    assert!(cni.settings.configuration.as_deref().unwrap().contains("\"A\""));
    // What the spec says is done.
    world.desired.left_open.remove(&Setting::Subnets);
    world.settle();
    let placed = world.cluster().placement;
    assert_eq!(placed.subnets, placement(&["subnet-a", "subnet-b"]).subnets);
    assert_eq!(placed.security_groups, BTreeSet::from([SecurityGroupId::new("sg-foreign")]));
}
