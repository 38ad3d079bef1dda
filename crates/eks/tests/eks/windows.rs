//! Updates of add-ons that follow EKS wait for maintenance windows; nothing else does.

use crate::world::*;
use foo_calls::report::Status;
use foo_calls::testing::Aws as _;
use foo_eks::desired::*;
use foo_eks::report::ConditionKind::*;
use foo_eks::{CompletedRead, Plan, plan, violations};
use foo_model::eks::*;
use foo_model::*;
use std::time::Duration;

/// EKS's default of kube-proxy for 1.34. It fits 1.35, too, and not 1.36.
const OF_34: &str = "v1.34.1-eksbuild.2";
/// Its default for 1.35.
const OF_35: &str = "v1.35.0-eksbuild.2";

const DAY: Duration = Duration::from_hours(24);

/// A cluster of 1.34 with four add-ons, whose only window opens in a day.
fn closed() -> World {
    let mut world = World::settled(Desired { version: Minor(34), ..desired() });
    world.opens_in(DAY);
    world
}

/// The same after an upgrade to 1.35, which does not wait for the window.
fn upgraded() -> World {
    let mut world = closed();
    world.desired.version = Minor(35);
    world.run_for(Duration::from_hours(1));
    assert_eq!(world.cluster().version, Minor(35), "{}", world.story());
    world
}

fn version(world: &World, addon: &str) -> String {
    world.aws.state().addons.remove(addon).unwrap().version
}

/// What EKS offers of kube-proxy for 1.35.
fn offers() -> Query {
    Query::AddonReleases { addon: "kube-proxy".to_owned(), kubernetes: Minor(35) }
}

/// Windows that never open.
fn unusable() -> Maintenance {
    Maintenance::Unusable(Blocked::new(Reason::MaintenanceWindowsUnusable, "there is no time zone Mars"))
}

fn opening(world: &World) -> Timestamp {
    let Maintenance::Window { opens, .. } = world.desired.maintenance else { panic!("no window") };
    opens
}

#[test]
fn an_addon_that_follows_eks_is_updated_when_the_window_opens() {
    let mut world = upgraded();
    assert_eq!(version(&world, "kube-proxy"), OF_34);
    let (condition, opens) = (world.condition(AddonsReady), opening(&world));
    assert_eq!((condition.status, condition.reason), (Status::True, Reason::AwaitingMaintenanceWindow));
    let message = format!(
        "waiting for the maintenance window that opens at {}; kube-proxy is to be updated from {OF_34} to {OF_35}",
        opens.to_the_minute()
    );
    assert_eq!(condition.message, message);
    let report = world.report.clone().unwrap();
    assert_eq!((report.again_at, report.settled, report.awaits_window), (Some(opens), false, true));
    let sent = world.count("UpdateAddon");
    world.run_until("updating", |it| it.count("UpdateAddon") > sent);
    assert!(opens.until(world.now()) < Duration::from_secs(1) && world.now() >= opens, "{}", world.story());
    world.settle();
    assert_eq!(version(&world, "kube-proxy"), OF_35);
    assert_eq!(world.condition(AddonsReady).reason, Reason::AddonsAsRequested);
}

#[test]
fn an_addon_that_the_new_kubernetes_version_does_not_support_waits_for_no_window() {
    let world = upgraded();
    // What coredns had for 1.34 does not fit 1.35.
    assert_eq!(version(&world, "coredns"), "v1.13.1-eksbuild.1");
    assert!(world.now() < opening(&world));
}

#[test]
fn an_upgrade_by_several_minors_waits_for_no_window() {
    let mut world = closed();
    world.desired.version = Minor(36);
    world.run_until("upgrading to 1.36", |it| it.count("UpdateClusterVersion") == 2);
    assert_eq!(version(&world, "kube-proxy"), OF_35, "that of 1.34 does not fit 1.36");
    world.run_for(Duration::from_hours(3));
    assert!(world.now() < opening(&world));
    assert_eq!(world.cluster().version, Minor(36), "{}", world.story());
    assert_eq!(version(&world, "kube-proxy"), OF_35, "it fits 1.36");
    assert_eq!(world.condition(AddonsReady).reason, Reason::AwaitingMaintenanceWindow);
    assert_eq!(world.condition(Upgrading).reason, Reason::NotUpgrading);
}

#[test]
fn addons_and_the_cluster_are_updated_in_turn_whatever_the_windows_are() {
    for maintenance in [closed().desired.maintenance, unusable()] {
        let mut world = closed();
        world.desired.maintenance = maintenance;
        world.desired.version = Minor(36);
        let counts = |it: &World| (it.count("UpdateAddon"), it.count("UpdateClusterVersion"));
        let end = world.now().plus(Duration::from_hours(3));
        while world.now() < end {
            let (addons, upgrades) = counts(&world);
            let sends = world.pass();
            let (more_addons, more_upgrades) = counts(&world);
            assert!(addons == more_addons || upgrades == more_upgrades, "{}", world.story());
            if !sends && !world.wait() {
                break;
            }
        }
        assert_eq!(world.cluster().version, Minor(36), "{}", world.story());
    }
}

#[test]
fn an_update_that_failed_is_tried_again_in_the_next_window() {
    let mut world = upgraded();
    world.aws.fail_updates_of("kube-proxy", 2);
    world.opens_in(Duration::ZERO);
    let sent = world.count("UpdateAddon");
    // The second one fails when the window is over.
    world.run_until("sent again", |it| it.count("UpdateAddon") == sent + 2);
    world.opens_in(DAY);
    world.run_for(Duration::from_hours(12));
    assert_eq!(world.count("UpdateAddon"), sent + 2, "it is not reverted\n{}", world.story());
    world.assert_says(AddonsReady, Reason::AddonFailed, "kube-proxy is UPDATE_FAILED");
    world.assert_says(AddonsReady, Reason::AddonFailed, "waiting for the maintenance window");
    assert!(world.process.record.failed.contains_key("addon/kube-proxy"));
    world.settle();
    assert_eq!(version(&world, "kube-proxy"), OF_35);
    assert!(world.now() >= opening(&world), "{}", world.story());
}

/// What is planned if EKS offers these versions of kube-proxy, its default first.
fn planned(world: &World, versions: &[&str]) -> Plan {
    let release = |version: &&str| AddonRelease {
        version: (*version).to_owned(),
        default: false,
        requires_configuration: false,
        requires_iam: false,
    };
    let mut observed = world.observed.clone();
    world.aws.observe(&mut observed);
    let response = QueryResult::AddonReleases(versions.iter().map(release).collect());
    observed.reads.insert(offers(), CompletedRead { begun: world.now(), response });
    plan(&world.desired, &observed, &world.process.record, &world.process.memory)
}

#[test]
fn what_eks_no_longer_offers_is_requested_no_longer_and_kept_no_longer() {
    let world = upgraded();
    let newer = "v1.35.1-eksbuild.1";
    for (versions, target) in [
        (&[newer, OF_35, OF_34][..], Some(OF_35)),
        (&[newer, OF_34][..], Some(newer)),
        (&[newer][..], None),
        (&[][..], Some(OF_35)),
    ] {
        let plan = planned(&world, versions);
        let shown = plan.report.conditions.iter().find(|it| it.kind == AddonsReady).unwrap();
        let waits = target.is_some_and(|it| shown.message.ends_with(&format!("from {OF_34} to {it}")));
        assert_eq!(waits, target.is_some(), "{versions:?}: {shown:?}");
        assert_eq!(plan.actions.is_empty(), waits, "{versions:?}: {:?}", plan.actions);
    }
}

#[test]
fn what_the_spec_requests_begins_while_it_is_unknown_what_eks_offers() {
    let mut world = upgraded();
    world.aws.deaf.insert(offers());
    world.restart();
    let configuration = r#"{"mode":"ipvs"}"#;
    let kube_proxy = world.desired.addons.get_mut("kube-proxy").unwrap();
    kube_proxy.settings.configuration = Some(configuration.to_owned());
    world.run_for(Duration::from_mins(30));
    let shown = world.aws.state().addons.remove("kube-proxy").unwrap();
    assert_eq!(shown.settings.configuration.as_deref(), Some(configuration), "{}", world.story());
    assert_eq!(shown.version, OF_34);
}

#[test]
fn all_updates_that_wait_are_named_behind_the_moment() {
    let mut world = upgraded();
    let others = [
        ("coredns", "v1.13.2-eksbuild.1"),
        ("eks-pod-identity-agent", "v1.3.8-eksbuild.2"),
        ("vpc-cni", "v1.21.1-eksbuild.1"),
    ];
    for (name, version) in others {
        world.aws.update_addon(name, |it| it.version = Some(version.to_owned()));
    }
    world.run_for(Duration::from_hours(12));
    let message = world.condition(AddonsReady).message;
    assert!(message.starts_with("waiting for the maintenance window that opens at"), "{message}");
    for (name, version) in others.into_iter().chain([("kube-proxy", OF_34)]) {
        assert!(message.contains(&format!("{name} is to be updated from {version} to ")), "{message}");
    }
}

#[test]
fn what_the_spec_requests_of_an_addon_begins_at_once() {
    let mut world = upgraded();
    let configuration = r#"{"mode":"ipvs"}"#;
    let kube_proxy = world.desired.addons.get_mut("kube-proxy").unwrap();
    kube_proxy.settings.configuration = Some(configuration.to_owned());
    world.run_for(Duration::from_mins(10));
    let shown = world.aws.state().addons.remove("kube-proxy").unwrap();
    assert_eq!(
        (shown.settings.configuration.as_deref(), shown.version.as_str()),
        (Some(configuration), OF_34)
    );
    assert_eq!(world.condition(AddonsReady).reason, Reason::AwaitingMaintenanceWindow);
    world.desired.addons.get_mut("kube-proxy").unwrap().version = AddonVersion::Exactly(OF_35.to_owned());
    world.desired.addons.insert("metrics-server".to_owned(), addon());
    world.desired.addons.remove("eks-pod-identity-agent");
    world.run_for(Duration::from_hours(4));
    assert!(world.now() < opening(&world));
    let state = world.aws.state();
    assert_eq!(state.addons["kube-proxy"].version, OF_35, "{}", world.story());
    assert!(state.addons.contains_key("metrics-server"));
    assert!(!state.addons.contains_key("eks-pod-identity-agent"), "{}", world.story());
    assert_eq!(world.condition(AddonsReady).reason, Reason::AddonsAsRequested);
}

#[test]
fn a_version_that_another_user_installed_is_reverted_in_the_window() {
    let mut world = closed();
    let older = "v1.33.3-eksbuild.10";
    world.aws.update_addon("kube-proxy", |it| it.version = Some(older.to_owned()));
    world.run_for(Duration::from_hours(12));
    assert_eq!(version(&world, "kube-proxy"), older, "{}", world.story());
    world.assert_says(AddonsReady, Reason::AwaitingMaintenanceWindow, older);
    world.settle();
    assert_eq!(version(&world, "kube-proxy"), OF_34);
    assert!(world.now() >= opening(&world));
}

#[test]
fn waiting_costs_no_call_that_an_idle_cluster_does_not_cost() {
    let mut world = upgraded();
    let (message, reads, sent) = (world.condition(AddonsReady), world.aws.reads.len(), world.sent);
    world.run_for(Duration::from_hours(12));
    let read = &world.aws.reads[reads..];
    assert!(read.len() <= 12 * 12 + 1, "{}", read.len());
    let of_offers = read.iter().filter(|(_, query)| *query == offers()).count();
    assert!(of_offers > 1, "EKS may withdraw a version meanwhile: {read:?}");
    assert_eq!((world.condition(AddonsReady), world.sent), (message, sent));
}

#[test]
fn no_window_is_open_while_the_clocks_may_differ() {
    let mut world = upgraded();
    let opens = world.opens_in(Duration::ZERO);
    world.observed.clocks = Agreement::Unknown;
    let sent = world.sent;
    world.run_for(Duration::from_mins(10));
    assert_eq!(world.sent, sent, "{}", world.story());
    world.assert_says(AddonsReady, Reason::AwaitingMaintenanceWindow, "until the clocks agree");
    world.observed.clocks = Agreement::Agree;
    world.settle();
    assert_eq!(version(&world, "kube-proxy"), OF_35);
    assert!(opens.until(world.now()) < Duration::from_hours(1));
}

#[test]
fn an_update_that_does_not_begin_before_the_window_closes_waits_for_the_next_one() {
    let mut world = upgraded();
    let opens = world.now().minus(Duration::from_hours(2));
    world.desired.maintenance = Maintenance::Window { opens, closes: world.now() };
    let sent = world.sent;
    world.run_for(Duration::from_mins(10));
    assert_eq!(world.sent, sent, "{}", world.story());
    world.assert_says(AddonsReady, Reason::AwaitingMaintenanceWindow, "the next maintenance window");
}

#[test]
fn windows_that_cannot_be_used_are_reported_and_never_open() {
    let mut world = upgraded();
    world.desired.maintenance = unusable();
    let sent = world.sent;
    world.run_for(DAY);
    assert_eq!(world.sent, sent, "{}", world.story());
    world.assert_says(AddonsReady, Reason::MaintenanceWindowsUnusable, "no time zone Mars; kube-proxy");
    assert_eq!(world.condition(AddonsReady).status, Status::False);
}

#[test]
fn an_update_outside_of_windows_breaks_a_rule() {
    let mut world = upgraded();
    world.aws.observe(&mut world.observed);
    let open = Desired { maintenance: Maintenance::Always, ..world.desired.clone() };
    let (record, memory) = (&world.process.record, &world.process.memory);
    let update = plan(&open, &world.observed, record, memory);
    assert_eq!(update.actions.len(), 1);
    let broken = |desired: &Desired| -> Vec<String> {
        let found = violations(desired, &world.observed, record, memory, &update);
        found.into_iter().map(|it| it.to_string()).collect()
    };
    assert_eq!(broken(&open), Vec::<String>::new());
    let found = broken(&world.desired);
    assert!(found[0].starts_with("updates an add-on outside of maintenance windows"), "{found:?}");
    assert_eq!(found.len(), 1);
}
