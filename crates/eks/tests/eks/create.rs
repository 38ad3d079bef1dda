//! Creation, and whose cluster it is.

use crate::aws::role_arn;
use crate::world::*;
use foo_calls::report::Status;
use foo_eks::Desired;
use foo_eks::report::ConditionKind::*;
use foo_model::eks::*;
use foo_model::names::*;
use foo_model::*;
use foo_simulator_core::STEPPED_START;
use std::collections::BTreeSet;
use std::time::Duration;

#[test]
fn one_cluster_with_all_that_belongs_to_it() {
    let world = World::settled(desired());
    world.assert_complete();
    assert_eq!(world.count("CreateCluster"), 1);
    assert_eq!(world.condition(ClusterReady).reason, Reason::ClusterAsRequested);
    assert_eq!(world.condition(AddonsReady).reason, Reason::AddonsAsRequested);
    assert_eq!(world.condition(AccessReady).reason, Reason::AccessAsRequested);
    assert_eq!(world.condition(Upgrading).reason, Reason::NotUpgrading);
    println!("creation: {} changes, {} reads", world.sent, world.aws.reads.len());
    // Nine minutes of EKS for the cluster, less than one for the add-ons.
    let taken = STEPPED_START.until(world.now());
    assert!(taken < Duration::from_secs(9 * 60 + 50 + 150), "{taken:?}");
}

#[test]
fn the_service_range_that_eks_chose_is_read_and_not_assumed() {
    let world = World::settled(desired());
    let cluster = world.report.as_ref().unwrap().cluster.clone().unwrap();
    assert_eq!(cluster.service_ipv4.as_deref(), Some("10.100.0.0/16"));
}

#[test]
fn the_creators_hidden_admin_is_off_and_an_entry_lets_us_in() {
    let world = World::settled(desired());
    let Some((_, Change::Cluster { change: ClusterChange::Create(cluster), .. })) = world.aws.calls.first()
    else {
        panic!()
    };
    assert!(!cluster.creator_is_admin && !cluster.self_managed_addons);
    let state = world.aws.state();
    assert!(
        state.entries[&role_arn("manager")]
            .policies
            .iter()
            .any(|it| it.arn.ends_with("AmazonEKSClusterAdminPolicy"))
    );
}

/// EKS's own default can be another one: the policy would then differ from it.
#[test]
fn the_upgrade_policy_is_sent_only_if_the_spec_has_one() {
    for upgrade_policy in [None, Some(SupportType::Standard), Some(SupportType::Extended)] {
        let world = World::settled(foo_eks::Desired { upgrade_policy, ..desired() });
        let Some((_, Change::Cluster { change: ClusterChange::Create(cluster), .. })) =
            world.aws.calls.first()
        else {
            panic!()
        };
        assert_eq!(cluster.upgrade_policy, upgrade_policy);
    }
}

/// Regions without zonal shift refuse the field.
#[test]
fn zonal_shift_is_sent_only_if_the_spec_requests_it() {
    for (zonal_shift, sent) in [(false, None), (true, Some(true))] {
        let world = World::settled(foo_eks::Desired { zonal_shift, ..desired() });
        let Some((_, Change::Cluster { change: ClusterChange::Create(cluster), .. })) =
            world.aws.calls.first()
        else {
            panic!()
        };
        assert_eq!(cluster.zonal_shift, sent);
    }
}

#[test]
fn a_cluster_without_entries_keeps_its_creator() {
    let mut desired = desired();
    desired.authentication_mode = AuthenticationMode::ConfigMap;
    let mut world = World::new(desired);
    world.run_for(Duration::from_mins(15));
    let Some((_, Change::Cluster { change: ClusterChange::Create(cluster), .. })) = world.aws.calls.first()
    else {
        panic!()
    };
    assert!(cluster.creator_is_admin);
    world.assert_says(AccessReady, Reason::AccessEntriesImpossible, "CONFIG_MAP");
}

#[test]
fn roles_not_yet_propagated_are_waited_for_and_then_named() {
    let mut world = World::new(desired());
    world.aws.show_roles_after(Duration::from_secs(70));
    world.run_until("refused", |it| it.count("CreateCluster") == 2);
    world.pass();
    world.assert_says(ClusterReady, Reason::RoleNotUsable, "could not be assumed");
    world.settle();
    world.assert_complete();
    assert!(world.count("CreateCluster") <= 9, "{}", world.count("CreateCluster"));

    let mut world = World::new(desired());
    world.aws.show_roles_after(Duration::from_hours(10));
    world.run_for(Duration::from_mins(30));
    world.assert_says(ClusterReady, Reason::RoleNotUsable, "could not be assumed");
    let calls = world.count("CreateCluster");
    assert!((14..25).contains(&calls), "two minutes often, then less and less: {calls}");
}

#[test]
fn a_foreign_cluster_of_the_same_name_is_never_touched() {
    for owner in [None, Some("2222")] {
        let mut world = World::settled(desired());
        let tags = owner.map(|it| (TAG_CONTROL_PLANE.to_owned(), it.to_owned()));
        world.aws.retag(tags.into_iter().collect());
        world.moved();
        let sent = world.sent;
        world.desired.version = Minor(34);
        world.run_for(Duration::from_hours(2));
        assert_eq!(world.sent, sent);
        world.assert_says(ClusterReady, Reason::ClusterNotOwned, "prod");
        assert!(world.report.as_ref().unwrap().cluster.is_none());
        world.delete();
        assert_eq!(world.sent, sent);
    }
}

#[test]
fn another_management_cluster_has_to_give_it_up_first() {
    let mut world = World::settled(desired());
    world.desired.installation = "there".to_owned();
    world.moved();
    let sent = world.sent;
    world.run_for(Duration::from_hours(1));
    assert_eq!(world.sent, sent);
    world.assert_says(ClusterReady, Reason::ClusterOfAnotherInstallation, "here");
    world.desired.adopt_from = Some("here".to_owned());
    world.settle();
    assert_eq!(world.cluster().tags.get(TAG_INSTALLATION), Some(&"there".to_owned()));
}

#[test]
fn a_version_that_is_not_offered_is_named() {
    let mut desired = desired();
    desired.version = Minor(38);
    let mut world = World::new(desired);
    world.run_for(Duration::from_hours(1));
    assert_eq!(world.sent, 0);
    world.assert_says(ClusterReady, Reason::VersionNotOffered, "1.31, 1.32, 1.33");
    assert!(world.aws.reads.len() < 30);
}

#[test]
fn a_creation_that_failed_is_deleted_and_tried_again_later_and_later() {
    let mut world = World::new(desired());
    world.aws.fail(2, 0, &[]);
    world.run_until("failed", |it| it.count("DeleteCluster") == 1);
    world.pass();
    world.assert_says(ClusterReady, Reason::ClusterFailed, "Ec2SubnetNotFound");
    world.settle();
    world.assert_complete();
    assert_eq!(world.count("CreateCluster"), 3);
    let tokens: BTreeSet<String> = world
        .aws
        .calls
        .iter()
        .zip(&world.aws.sent_tokens)
        .filter_map(|((_, it), token)| token.clone().filter(|_| it.creates_cluster()))
        .collect();
    assert_eq!(tokens.len(), 3, "each attempt has its own");
}

#[test]
fn a_cluster_that_was_active_is_not_created_again() {
    let mut world = World::settled(desired());
    world.aws.delete();
    world.run_for(Duration::from_hours(1));
    assert_eq!(world.count("CreateCluster"), 1);
    world.assert_says(ClusterReady, Reason::ClusterGone, "not created again");
    world.delete();
    world.assert_gone();
}

#[test]
fn nothing_happens_without_subnets_or_while_paused() {
    let mut world = World::new(desired());
    world.desired.placement = None;
    world.run_for(Duration::from_mins(20));
    world.assert_says(ClusterReady, Reason::WaitingForSubnets, "subnets");
    world.desired.placement = Some(placement(&["subnet-a"]));
    world.run_for(Duration::from_mins(20));
    world.assert_says(ClusterReady, Reason::WaitingForSubnets, "only subnet-a");
    world.desired.placement = desired().placement;
    world.desired.paused = true;
    world.pass();
    let report = world.report.as_ref().unwrap();
    assert!(world.sent == 0 && report.conditions.is_empty() && report.reads.is_empty());
}

#[test]
fn a_subnet_that_does_not_exist_is_not_taken_for_a_role() {
    let said = |message: &str| {
        let mut world = World::new(desired());
        world.aws.refuse("CreateCluster", "InvalidParameterException", message);
        world.run_for(Duration::from_mins(1));
        world.condition(ClusterReady).reason
    };
    assert_eq!(said("The subnet ID 'subnet-a' does not exist"), Reason::RequestInvalid);
    assert_eq!(said("The role arn:aws:iam::1:role/x does not exist"), Reason::RoleNotUsable);
}

#[test]
fn a_cluster_is_created_although_the_versions_that_eks_offers_cannot_be_read() {
    let mut world = World::new(desired());
    world.aws.deaf.insert(Query::Versions);
    world.settle();
    world.assert_complete();
    world.desired.version = Minor(34);
    world.settle();
    world.assert_complete();
}

#[test]
fn whoever_may_be_known_by_a_wrong_arn_keeps_access_to_its_new_cluster() {
    let first = |world: &World| match &world.aws.calls.first().unwrap().1 {
        Change::Cluster { change: ClusterChange::Create(cluster), .. } => cluster.creator_is_admin,
        other => panic!("{other:?}"),
    };
    for guessed in [true, false] {
        let mut world = World::new(Desired { own_principal_is_guessed: guessed, ..desired() });
        world.settle();
        assert_eq!(first(&world), guessed);
    }
}

#[test]
fn a_key_that_the_manager_may_not_use_is_a_missing_right() {
    let mut desired = desired();
    desired.encryption_key = Some("arn:aws:kms:eu-central-1:1:key/k".to_owned());
    let mut world = World::new(desired);
    let message = "User not authorized to perform kms:CreateGrant.";
    world.aws.refuse("CreateCluster", "InvalidRequestException", message);
    world.run_for(Duration::from_mins(10));
    world.assert_says(
        ClusterReady,
        Reason::AccessDenied,
        "give the manager kms:DescribeKey and kms:CreateGrant",
    );
}

/// Amazon EKS User Guide, "Encrypt Kubernetes secrets with KMS": of a key whose policy leaves that to IAM.
#[test]
fn a_cluster_is_created_with_its_key_once_the_manager_may_use_it() {
    let mut world = World::new(Desired { encryption_key: Some(KEY.to_owned()), ..desired() });
    world.aws.set_keys_need_rights(true);
    world.run_for(Duration::from_mins(30));
    world.assert_says(ClusterReady, Reason::AccessDenied, MISSING);
    assert_eq!(world.condition(ClusterReady).status, Status::False);
    assert!(world.aws.state().cluster.is_none());
    world.aws.set_keys_need_rights(false);
    world.settle();
    world.assert_complete();
    assert_eq!(world.cluster().encryption_key.as_deref(), Some(KEY));
}

/// The cluster serves all the while.
#[test]
fn a_cluster_that_exists_gets_its_key_once_the_manager_may_use_it() {
    let mut world = World::settled(desired());
    world.aws.set_keys_need_rights(true);
    world.desired.encryption_key = Some(KEY.to_owned());
    world.run_for(Duration::from_mins(30));
    world.assert_says(ClusterReady, Reason::AccessDenied, MISSING);
    assert_eq!(world.cluster().encryption_key, None);
    world.aws.set_keys_need_rights(false);
    world.settle();
    world.assert_complete();
    assert_eq!(world.cluster().encryption_key.as_deref(), Some(KEY));
}

const KEY: &str = "arn:aws:kms:eu-central-1:1:key/k";
/// What the user reads.
const MISSING: &str = "User not authorized to perform kms:DescribeKey: give the manager kms:DescribeKey and kms:CreateGrant for \
                       the key of spec.eks.encryption";

#[test]
fn a_role_that_a_key_may_exclude_is_reported_with_the_key() {
    let mut world = World::new(desired());
    let message = "Role with arn: x, could not be assumed because it does not exist or the trusted entity is not correct";
    world.aws.refuse("CreateCluster", "InvalidParameterException", message);
    world.run_for(Duration::from_mins(10));
    world.assert_says(ClusterReady, Reason::RoleNotUsable, "policy of the KMS key");
}
