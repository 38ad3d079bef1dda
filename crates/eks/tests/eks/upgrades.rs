//! Configuration and versions: one update at a time.

use crate::world::*;
use foo_eks::report::ConditionKind::*;
use foo_model::eks::*;
use foo_model::*;
use std::collections::BTreeSet;
use std::time::Duration;

#[test]
fn three_minors_are_three_updates_and_addons_follow_each() {
    let mut world = World::settled(desired());
    world.desired.version = Minor(36);
    world.run_until("upgrading", |it| it.count("UpdateClusterVersion") == 1);
    world.run_for(Duration::from_mins(2));
    let report = world.report.clone().unwrap();
    assert!(report.upgrading);
    assert_eq!(report.cluster.unwrap().version, Minor(33), "the old one until the update is done");
    assert_eq!(world.condition(Upgrading).reason, Reason::UpgradingControlPlane);
    world.settle();
    world.assert_complete();
    assert_eq!(world.count("UpdateClusterVersion"), 3);
    assert_eq!(world.aws.state().addons["coredns"].version, "v1.14.3-eksbuild.3");
    let in_order: Vec<String> = world
        .aws
        .calls
        .iter()
        .filter_map(|(_, it)| match it {
            Change::Cluster { change: ClusterChange::UpdateVersion { version, .. }, .. } => {
                Some(version.to_string())
            }
            Change::Addon { name, change: AddonChange::Update(addon), .. } if name == "kube-proxy" => {
                addon.version.clone()
            }
            _ => None,
        })
        .collect();
    let expected =
        ["1.34", "v1.34.1-eksbuild.2", "1.35", "v1.35.0-eksbuild.2", "1.36", "v1.36.0-eksbuild.14"];
    assert_eq!(in_order, expected, "kube-proxy is never more than a version behind");
    let last = |world: &World, name: &str| {
        world
            .aws
            .calls
            .iter()
            .rposition(|(_, it)| match it {
                Change::Addon { name: of, change: AddonChange::Update(_), .. } => of == name,
                _ => false,
            })
            .unwrap()
    };
    assert!(last(&world, "kube-proxy") < last(&world, "coredns"));
    // One version of the VPC CNI runs on all of them.
    for (name, configuration) in [("vpc-cni", r#"{"env":{"A":"1"}}"#), ("coredns", r#"{"replicaCount":3}"#)] {
        world.desired.addons.get_mut(name).unwrap().settings.configuration = Some(configuration.to_owned());
    }
    world.settle();
    assert!(last(&world, "vpc-cni") < last(&world, "coredns"));
}

#[test]
fn a_version_above_the_requested_is_reported_and_not_fought() {
    let mut world = World::settled(desired());
    world.aws.update_version(Minor(34));
    world.aws.update_version(Minor(35));
    let sent = world.sent;
    world.run_for(Duration::from_hours(3));
    world.assert_says(Upgrading, Reason::VersionAboveRequested, "1.35");
    assert_eq!(world.count("UpdateClusterVersion"), 0);
    assert!(
        world.aws.calls[sent..]
            .iter()
            .all(|(_, it)| matches!(it, Change::Addon { change: AddonChange::Update(_), .. }))
    );
}

/// In milliseconds.
const HALF_HOUR: i64 = 1_800_000;

#[test]
fn a_roll_back_by_a_person_is_not_fought_until_the_spec_changes() {
    let mut world = World::settled(desired());
    world.desired.version = Minor(34);
    world.settle();
    world.aws.update_version(Minor(33));
    world.run_for(Duration::from_hours(24));
    assert_eq!(world.count("UpdateClusterVersion"), 1);
    world.assert_says(Upgrading, Reason::VersionRolledBack, "1.34");
    world.moved();
    world.run_for(Duration::from_hours(1));
    assert_eq!(world.count("UpdateClusterVersion"), 1, "nor after a move");
    world.desired.version = Minor(33);
    world.settle();
    world.desired.version = Minor(34);
    world.settle();
    assert_eq!(world.count("UpdateClusterVersion"), 2);
    world.assert_complete();
}

#[test]
fn insights_that_block_are_shown_with_their_titles_unless_forced() {
    let mut world = World::settled(desired());
    world.aws.set_insights(&BLOCKING);
    world.desired.version = Minor(34);
    world.run_for(Duration::from_hours(1));
    world.assert_says(Upgrading, Reason::UpgradeBlocked, "Deprecated APIs");
    assert_eq!(world.count("UpdateClusterVersion"), 0);
    world.desired.force_upgrade = true;
    world.settle();
    world.assert_complete();
}

#[test]
fn kubelets_that_are_too_old_are_named() {
    let mut world = World::settled(desired());
    world.desired.oldest_kubelet = Some(Minor(31));
    world.desired.version = Minor(35);
    world.run_for(Duration::from_hours(1));
    assert_eq!(world.cluster().version, Minor(34));
    world.assert_says(Upgrading, Reason::KubeletsTooOld, "1.31");
}

#[test]
fn active_just_after_a_call_is_not_the_end_of_the_update() {
    let mut world = World::settled(desired());
    world.desired.access.public = false;
    world.desired.logging = BTreeSet::from([LogType::Audit]);
    world.desired.zonal_shift = true;
    world.desired.encryption_key = Some("arn:aws:kms:eu-central-1:1:key/k".to_owned());
    world.settle();
    world.assert_complete();
    assert_eq!(world.count("UpdateClusterConfig"), 3);
    assert_eq!(world.count("AssociateEncryptionConfig"), 1);
    assert!(!world.story().contains("update in progress"), "{}", world.story());
}

#[test]
fn token_reuse_there_and_back_and_there_again() {
    let mut world = World::settled(desired());
    for shift in [true, false, true, false] {
        world.desired.zonal_shift = shift;
        world.settle();
        assert_eq!(world.cluster().zonal_shift, shift);
    }
    assert_eq!(world.count("UpdateClusterConfig"), 4);
}

#[test]
fn an_update_whose_response_was_lost_is_found_in_the_list() {
    for fault in
        [Fault::LostAfter(Reason::ResponseLost), Fault::CrashAfter, Fault::LostBefore, Fault::CrashBefore]
    {
        for ahead in [-HALF_HOUR, 0, HALF_HOUR] {
            let mut world = World::new(desired());
            world.aws.ahead = ahead;
            world.settle();
            world.faults.insert(world.sent, fault);
            world.desired.version = Minor(34);
            world.settle();
            world.assert_complete();
            assert_eq!(world.aws.state().updates.len(), 1, "{fault:?} {ahead}\n{}", world.story());
            assert!(!world.story().contains("update in progress"), "{}", world.story());
        }
    }
}

/// Another update of the same kind ended a while ago: by a clock that is half an hour ahead it would have begun after the call.
#[test]
fn an_earlier_update_is_not_taken_for_the_one_whose_response_was_lost() {
    for ahead in [-HALF_HOUR, 0, HALF_HOUR] {
        let mut world = World::new(desired());
        world.aws.ahead = ahead;
        world.settle();
        world.desired.version = Minor(34);
        world.settle();
        world.run_for(Duration::from_mins(10));
        world.faults.insert(world.sent, Fault::LostBefore);
        world.desired.version = Minor(35);
        world.settle();
        world.assert_complete();
        assert_eq!(world.aws.state().updates.len(), 2, "{ahead}\n{}", world.story());
        assert_eq!(world.count("UpdateClusterVersion"), 2, "{ahead}\n{}", world.story());
    }
}

#[test]
fn an_update_that_fails_is_reported_and_retried_later() {
    let mut world = World::settled(desired());
    world.aws.fail(0, 1, &[]);
    world.desired.placement = Some(placement(&["subnet-a2", "subnet-b"]));
    world.run_until("failed", |it| it.condition(ClusterReady).reason == Reason::ClusterUpdateFailed);
    world.assert_says(ClusterReady, Reason::ClusterUpdateFailed, "no free addresses");
    world.settle();
    world.assert_complete();
}

#[test]
fn the_authentication_mode_goes_one_step_at_a_time_and_entries_come_before_the_last() {
    let mut desired = desired();
    desired.authentication_mode = AuthenticationMode::ConfigMap;
    desired.entries.clear();
    let mut world = World::new(desired);
    world.run_for(Duration::from_mins(15));
    world.desired.authentication_mode = AuthenticationMode::Api;
    world.desired.entries = crate::world::desired().entries;
    world.settle();
    world.assert_complete();
    let modes: Vec<AuthenticationMode> = world
        .aws
        .calls
        .iter()
        .filter_map(|(_, it)| match it {
            Change::Cluster {
                change: ClusterChange::UpdateConfig(ConfigUpdate::AuthenticationMode(mode)),
                ..
            } => Some(*mode),
            _ => None,
        })
        .collect();
    assert_eq!(modes, [AuthenticationMode::ApiAndConfigMap, AuthenticationMode::Api]);
    let last_entry = world
        .aws
        .calls
        .iter()
        .rposition(|(_, it)| matches!(it, Change::Entry { change: EntryChange::Create(_), .. }));
    let last_mode = world.aws.calls.iter().rposition(|(_, it)| it.updates_cluster());
    assert!(last_entry < last_mode);
}

#[test]
fn a_second_certificate_authority_is_in_the_report() {
    let mut world = World::settled(desired());
    world.aws.set_authority("Y2ExY2Ey");
    world.run_for(Duration::from_mins(16));
    let cluster = world.report.clone().unwrap().cluster.unwrap();
    assert_eq!(cluster.certificate_authority.as_deref(), Some("Y2ExY2Ey"));
}

#[test]
fn the_config_map_is_not_left_behind_before_it_is_known_who_we_are() {
    let mut desired = desired();
    desired.authentication_mode = AuthenticationMode::ApiAndConfigMap;
    let mut world = World::settled(desired);
    world.aws.delete_entry("manager");
    world.desired.own_principal = None;
    world.desired.authentication_mode = AuthenticationMode::Api;
    world.run_for(Duration::from_hours(2));
    assert_eq!(world.cluster().authentication_mode, AuthenticationMode::ApiAndConfigMap);
    world.assert_says(ClusterReady, Reason::UpdatingCluster, "who calls AWS");
    world.desired.own_principal = Some(crate::aws::role_arn("manager"));
    world.settle();
    world.assert_complete();
}

/// Insights that keep the cluster from 1.34.
const BLOCKING: [&str; 1] = ["Deprecated APIs removed in Kubernetes v1.34"];

#[test]
fn an_upgrade_continues_soon_after_a_blocking_insight_was_resolved() {
    let mut world = World::settled(desired());
    world.aws.set_insights(&BLOCKING);
    world.desired.version = Minor(34);
    world.run_for(Duration::from_hours(3));
    let refreshes = world.count("StartInsightsRefresh");
    assert!((2..=13).contains(&refreshes), "{refreshes}");
    world.aws.mend_insights();
    let mended = world.now();
    world.run_until("upgrading", |it| it.count("UpdateClusterVersion") == 1);
    let taken = mended.until(world.now());
    assert!(taken < Duration::from_mins(20), "{taken:?}");
}

#[test]
fn insights_are_read_without_the_right_to_refresh_them() {
    let mut world = World::settled(desired());
    world.aws.set_insights(&BLOCKING);
    world.aws.deny("StartInsightsRefresh");
    world.aws.deaf.insert(Query::InsightsRefresh("prod".to_owned()));
    world.desired.version = Minor(34);
    world.run_for(Duration::from_hours(1));
    world.assert_says(Upgrading, Reason::UpgradeBlocked, "Deprecated APIs");
    world.aws.set_insights(&[]);
    let mended = world.now();
    world.run_until("upgrading", |it| it.count("UpdateClusterVersion") == 1);
    assert!(mended.until(world.now()) < Duration::from_mins(20));
}
