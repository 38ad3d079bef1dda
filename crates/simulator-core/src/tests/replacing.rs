//! Replacements by the group itself: zones out of balance, maximum lifetime, maintenance policies (Auto Scaling User Guide,
//! "Rebalancing activities", "Maximum instance lifetime", "Instance maintenance policy").

use super::scene::{Scene, name, refusal, scene, scene_with};
use crate::core::document::Document;
use crate::core::mishaps::ZoneState;
use crate::core::network::PRIVATE_SUBNETS;
use crate::core::rules::group::members::GracePeriod;
use crate::core::rules::group::operations::{GroupUpdate, NewGroup, SettingsChange};
use crate::core::settings::ProtectionAgainst;
use foo_model::{Decrement, Health, InstanceId, LifecycleState, Process, Protection, SubnetId};
use std::collections::BTreeMap;

impl Scene {
    /// How many members that count as capacity each zone has.
    fn by_zone(&self) -> Vec<usize> {
        let mut zones: BTreeMap<String, usize> =
            ["a", "b", "c"].map(|zone| (format!("eu-central-1{zone}"), 0)).into();
        for member in self.group().members.values().filter(|it| it.lifecycle.is_capacity()) {
            *zones.entry(member.zone.to_string()).or_default() += 1;
        }
        zones.into_values().collect()
    }

    /// Four instances of which zone c has none, because it was broken.
    fn lopsided(&self, protection: Protection) -> &Self {
        self.region.set_zone_state("eu-central-1c", ZoneState::Impaired).expect("a zone");
        let new = NewGroup { new_instances: protection, ..self.pool((0, 4, 8)) };
        self.create(new).expect("a group");
        self.wait(60);
        assert_eq!(self.by_zone(), [2, 2, 0]);
        self.region.set_zone_state("eu-central-1c", ZoneState::Available).expect("a zone");
        self
    }

    fn with_policy(&self, sizes: (u32, u32, u32), min: u32, max: u32) -> &Self {
        let mut new = self.pool(sizes);
        new.settings.stored.insert(
            "InstanceMaintenancePolicy".to_owned(),
            Document::map()
                .with("MinHealthyPercentage", Some(Document::text(min)))
                .with("MaxHealthyPercentage", Some(Document::text(max))),
        );
        self.create(new).expect("a group");
        self.wait(21)
    }

    fn report_unhealthy(&self, ids: &[InstanceId]) {
        for id in ids {
            self.with(|region| region.set_health(id, Health::Unhealthy, GracePeriod::Ignored))
                .expect("a member");
        }
    }

    fn leaving(&self) -> usize {
        self.count(&LifecycleState::Terminating)
    }
}

/// "AZRebalance launches in the small zone before it terminates in the large one."
#[test]
fn a_zone_that_recovers_gets_its_share_and_launches_come_first() {
    let scene = scene();
    scene.lopsided(Protection::Unprotected);
    let mut most = 0;
    for _ in 0..400 {
        scene.wait(1);
        most = most.max(scene.group().members.values().filter(|it| it.lifecycle.is_capacity()).count());
        assert!(scene.count(&LifecycleState::InService) >= 4, "never below desired capacity");
    }
    assert_eq!(most, 5, "one above desired capacity at a time");
    let mut zones = scene.by_zone();
    zones.sort_unstable();
    assert_eq!(zones, [1, 1, 2]);
    let moved = scene.activities().iter().filter(|it| it.cause.contains("to balance instances")).count();
    assert_eq!(moved, 1);
}

/// "It cannot end protected instances (A)."
#[test]
fn rebalancing_spares_protected_instances_by_default() {
    let spared = scene();
    spared.lopsided(Protection::Protected).wait(1_000);
    assert_eq!(spared.by_zone(), [2, 2, 0]);
    let ended = scene_with(|settings| settings.rebalance_protection = ProtectionAgainst::Ignored);
    ended.lopsided(Protection::Protected).wait(1_000);
    assert!(ended.by_zone().into_iter().all(|members| members > 0));
}

/// "Processes that can be suspended: … AZRebalance."
#[test]
fn a_suspended_rebalance_leaves_zones_as_they_are() {
    let scene = scene();
    scene.lopsided(Protection::Unprotected);
    scene.with(|region| region.suspend_processes(&name("pool"), &[Process::AZRebalance])).expect("suspended");
    scene.wait(1_000);
    assert_eq!(scene.by_zone(), [2, 2, 0]);
}

/// A zone without capacity is not rebalanced into, and nothing is ended for it.
#[test]
fn rebalancing_into_a_zone_without_capacity_ends_nothing() {
    let scene = scene();
    scene.lopsided(Protection::Unprotected);
    scene.region.set_capacity_limit("eu-central-1c", "m7i.large", Some(0)).expect("a limit");
    let before = scene.in_service();
    scene.wait(2_000);
    assert_eq!(scene.in_service(), before);
}

#[test]
fn members_of_a_zone_the_group_has_left_are_moved() {
    let scene = scene();
    scene.settled_pool((0, 3, 6));
    let update = GroupUpdate {
        subnets: Some(PRIVATE_SUBNETS.into_iter().take(2).map(SubnetId::from).collect()),
        ..GroupUpdate::default()
    };
    scene.with(|region| region.update_group(&name("pool"), update)).expect("updated");
    scene.wait(300);
    let mut zones = scene.by_zone();
    assert_eq!(zones.pop(), Some(0));
    assert_eq!(zones.iter().sum::<usize>(), 3);
}

/// "balanced-only": a zone that is short of capacity is waited for.
#[test]
fn balanced_only_does_not_make_up_for_a_zone_in_others() {
    let scene = scene();
    let mut new = scene.pool((0, 6, 9));
    let strategy =
        Document::map().with("CapacityDistributionStrategy", Some(Document::text("balanced-only")));
    new.settings.stored.insert("AvailabilityZoneDistribution".to_owned(), strategy);
    scene.region.set_zone_state("eu-central-1c", ZoneState::Impaired).expect("a zone");
    scene.create(new).expect("a group");
    scene.wait(120);
    assert_eq!(scene.by_zone(), [1, 1, 0]);
    scene.region.set_zone_state("eu-central-1c", ZoneState::Available).expect("a zone");
    scene.wait(400);
    assert_eq!(scene.by_zone(), [2, 2, 2]);
}

/// "Protection does not help against: … max instance lifetime (A: the last)."
#[test]
fn what_has_lived_too_long_is_replaced_a_tenth_at_a_time() {
    let scene = scene();
    let mut new = scene.pool((0, 20, 30));
    new.new_instances = Protection::Protected;
    new.settings.stored.insert("MaxInstanceLifetime".to_owned(), Document::text(86_400));
    scene.create(new).expect("a group");
    scene.wait(86_399);
    let old = scene.in_service();
    assert_eq!(old.len(), 20);
    let mut least = 20;
    for _ in 0..600 {
        scene.wait(1);
        least = least.min(scene.count(&LifecycleState::InService));
    }
    assert_eq!(least, 18);
    assert!(scene.in_service().iter().all(|id| !old.contains(id)) && scene.in_service().len() == 20);
}

#[test]
fn max_instance_lifetime_spares_the_protected_if_configured_and_knows_its_limits() {
    let scene = scene_with(|settings| settings.max_lifetime_protection = ProtectionAgainst::Respected);
    let mut new = scene.pool((0, 2, 4));
    new.new_instances = Protection::Protected;
    new.settings.stored.insert("MaxInstanceLifetime".to_owned(), Document::text(86_400));
    scene.create(new).expect("a group");
    scene.wait(21);
    let before = scene.in_service();
    scene.wait(90_000);
    assert_eq!(scene.in_service(), before);
    let change = |seconds: &str| {
        let stored = [("MaxInstanceLifetime".to_owned(), Document::text(seconds))].into();
        let update = GroupUpdate {
            settings: SettingsChange { stored, ..SettingsChange::default() },
            ..GroupUpdate::default()
        };
        scene.with(|region| region.update_group(&name("pool"), update))
    };
    assert_eq!(refusal(change("60")).0, "ValidationError");
    change("0").expect("0 takes it back");
    assert_eq!(scene.group().settings.policies.lifetime, None);
}

/// "Health check failures: terminate and launch" is the default; a policy above 100 % launches first.
#[test]
fn a_maintenance_policy_launches_before_it_ends_the_unhealthy() {
    let scene = scene();
    scene.with_policy((0, 4, 4), 100, 150);
    let sick: Vec<InstanceId> = scene.in_service().into_iter().take(3).collect();
    scene.report_unhealthy(&sick);
    scene.wait(5);
    assert_eq!(scene.leaving(), 0);
    assert_eq!(scene.count(&LifecycleState::Pending), 2, "150 % of 4: two at a time, above the maximum");
    scene.wait(120);
    assert!(sick.iter().all(|id| !scene.in_service().contains(id)));
    assert_eq!(scene.in_service().len(), 4);
}

#[test]
fn without_a_maintenance_policy_the_unhealthy_go_first_and_at_once() {
    let scene = scene();
    scene.settled_pool((0, 4, 4));
    scene.report_unhealthy(&scene.in_service()[..3]);
    scene.wait(1);
    assert_eq!(scene.leaving(), 3);
}

#[test]
fn a_maintenance_policy_needs_both_percentages_within_their_limits() {
    for (min, max) in [("90", "99"), ("101", "120"), ("50", "180"), ("x", "100")] {
        let scene = scene();
        let mut new = scene.pool((0, 1, 1));
        new.settings.stored.insert(
            "InstanceMaintenancePolicy".to_owned(),
            Document::map()
                .with("MinHealthyPercentage", Some(Document::text(min)))
                .with("MaxHealthyPercentage", Some(Document::text(max))),
        );
        assert_eq!(refusal(scene.create(new)).0, "ValidationError", "{min} {max}");
    }
}

#[test]
fn two_instances_move_to_a_zone_that_recovers_late() {
    let scene = scene();
    let mut new = scene.pool((0, 2, 4));
    new.subnets.truncate(2);
    scene.region.set_capacity_limit("eu-central-1b", "m7i.large", Some(0)).expect("a limit");
    scene.create(new).expect("a group");
    scene.wait(600);
    assert_eq!(scene.by_zone(), [2, 0, 0]);
    scene.region.set_capacity_limit("eu-central-1b", "m7i.large", None).expect("lifted");
    scene.wait(3600);
    assert_eq!(scene.by_zone(), [1, 1, 0]);
}

#[test]
fn an_instance_in_standby_does_not_delay_the_rebalancing_of_the_others() {
    let scene = scene();
    let mut new = scene.pool((0, 4, 8));
    new.subnets.truncate(2);
    scene.region.set_zone_state("eu-central-1b", ZoneState::Impaired).expect("a zone");
    scene.create(new).expect("a group");
    scene.wait(30);
    let oldest = scene.group().members.into_values().min_by_key(|it| (it.launched, it.id.clone()));
    let id = oldest.expect("a member").id;
    scene
        .with(|region| region.enter_standby(&name("pool"), std::slice::from_ref(&id), Decrement::Shrink))
        .expect("in standby");
    scene.wait(20);
    scene.region.set_zone_state("eu-central-1b", ZoneState::Available).expect("a zone");
    scene.wait(3600);
    let group = scene.group();
    let serving = group.members.values().filter(|it| it.lifecycle == LifecycleState::InService);
    let in_b = serving.filter(|it| it.zone.as_str() == "eu-central-1b").count();
    assert!((1..=2).contains(&in_b), "{in_b}");
    assert_eq!(group.members[&id].lifecycle, LifecycleState::Standby);
}
