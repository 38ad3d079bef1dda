//! Updates of add-ons that follow EKS wait for maintenance windows.

use crate::support::{CLUSTER, NS, World};
use crate::windows::window;
use foo_api::FooControlPlane;
use foo_api::maintenance::MaintenanceWindow;
use foo_model::names::ROLLOUT_NOW_ANNOTATION;
use kube::ResourceExt;
use serde_json::json;
use std::time::Duration;

/// EKS's default of kube-proxy for 1.34, which fits 1.35, too.
const OF_34: &str = "v1.34.1-eksbuild.2";
/// Its default for 1.35.
const OF_35: &str = "v1.35.0-eksbuild.2";

/// Versions of vpc-cni for 1.33, each a minor version newer than the one before. The last one is EKS's default.
const CNI: [&str; 3] = ["v1.18.6-eksbuild.1", "v1.19.6-eksbuild.7", "v1.20.4-eksbuild.2"];

impl World {
    /// The version of kube-proxy in EKS.
    fn kube_proxy(&self) -> String {
        self.addon("kube-proxy")
    }

    /// The version of an add-on in EKS.
    fn addon(&self, name: &str) -> String {
        self.eks_cluster().addons[name].spec.version.clone()
    }

    /// How many updates of an add-on EKS has begun.
    fn updates_of(&self, name: &str) -> usize {
        self.eks_cluster().updates.iter().filter(|update| update.addon() == Some(name)).count()
    }

    async fn updates_kube_proxy(&self) {
        self.until("kube-proxy is updated", || self.kube_proxy() == OF_35).await;
    }

    async fn awaits_a_window(&self) {
        self.until("it waits", || self.eks_state("AddonsReady") == "True AwaitingMaintenanceWindow").await;
    }

    fn message_of(&self, kind: &str) -> String {
        self.eks_condition(CLUSTER, kind).1
    }

    fn edits_eks_object(&self, edit: impl FnOnce(&mut FooControlPlane)) {
        self.server.edit(NS, CLUSTER, edit).unwrap();
    }
}

/// A control plane with a window of an hour that opens this many minutes from now, upgraded at once.
async fn upgraded(minutes: i64, zone: &str) -> World {
    let world = World::of_eks(json!({ "addons": [{ "name": "kube-proxy" }, { "name": "vpc-cni" }] })).await;
    let window = window(&world, minutes, zone);
    world.edits_eks(|eks| eks.maintenance_windows = vec![window]);
    world.requests_version("v1.35.0");
    let version = || world.eks_object().status.unwrap().version.unwrap();
    world.until("it is upgraded", || version() == "v1.35.0").await;
    world
}

#[tokio::test(start_paused = true)]
async fn an_addon_that_follows_eks_is_updated_when_the_window_opens() {
    let world = upgraded(60, "Europe/Berlin").await;
    world.awaits_a_window().await;
    let message = world.message_of("AddonsReady");
    assert!(message.starts_with("waiting for the maintenance window that opens at 20"), "{message}");
    assert!(message.ends_with(&format!("kube-proxy is to be updated from {OF_34} to {OF_35}")), "{message}");
    assert!(world.eks_state("Ready").starts_with("True"));
    world.waits(Duration::from_mins(5)).await;
    let before = world.eks_object().resource_version();
    world.forgets();
    world.waits_long(Duration::from_mins(30)).await;
    let reads: u64 = world.aws_calls().values().sum();
    assert!(reads <= 30 / 5 + 2, "{:?}", world.aws_calls());
    assert_eq!((world.aws_writes(), world.kube_proxy().as_str()), (0, OF_34));
    assert_eq!(world.eks_object().resource_version(), before, "{}", world.eks_summary());
    world.updates_kube_proxy().await;
    world.eks_is_ready().await;
    world.until("it is reported", || world.eks_state("AddonsReady") == "True AddonsAsRequested").await;
}

/// "You can only update one minor version at a time" (EKS User Guide, "Amazon VPC CNI"): the second update waits for a window of its own,
/// because the first one ends after its window has closed.
#[tokio::test(start_paused = true)]
async fn each_step_of_the_vpc_cni_waits_for_a_window() {
    let world = World::fast_eks();
    world.begins_eks("v1.33.0", json!({ "addons": [{ "name": "vpc-cni", "version": CNI[0] }] }));
    world.eks_is_ready().await;
    // An update takes longer than a window stays open; EKS shows the add-on as CREATING for that long, too.
    world.region.change_settings(|settings| settings.eks.addon = Duration::from_mins(20)).unwrap();
    let start = world.context().clock.now();
    let opens_in = |minutes: i64| MaintenanceWindow {
        duration_seconds: 900,
        ..window(&world, minutes, "Europe/Berlin")
    };
    let windows = vec![opens_in(40), opens_in(80)];
    world.edits_eks(|eks| {
        eks.maintenance_windows = windows;
        eks.addons[0].version = "Latest".to_owned();
    });
    for (done, step) in CNI.windows(2).enumerate() {
        world.waits_long(Duration::from_mins(20)).await;
        world.awaits_a_window().await;
        let message = world.message_of("AddonsReady");
        let waits = format!("vpc-cni is to be updated from {} to {}", step[0], step[1]);
        assert!(message.ends_with(&waits), "{message}");
        assert_eq!((world.addon("vpc-cni").as_str(), world.updates_of("vpc-cni")), (step[0], done));
        world.waits_long(Duration::from_mins(10)).await;
        assert_eq!(world.updates_of("vpc-cni"), done, "no window is open");
        world.until("the next step begins", || world.updates_of("vpc-cni") > done).await;
    }
    world.waits_long(Duration::from_mins(20)).await;
    world.until("it is reported", || world.eks_state("AddonsReady") == "True AddonsAsRequested").await;
    assert_eq!(world.addon("vpc-cni"), CNI[2]);
    let updates = world.eks_cluster().updates.into_iter().filter(|it| it.addon() == Some("vpc-cni"));
    let began: Vec<u64> = updates.map(|it| start.until(it.created).as_secs() / 60).collect();
    assert!(matches!(began.as_slice(), [39..=41, 79..=81]), "in minutes: {began:?}");
}

#[tokio::test(start_paused = true)]
async fn an_annotation_opens_the_windows_until_it_is_removed() {
    let world = upgraded(600, "Europe/Berlin").await;
    world.awaits_a_window().await;
    world.edits_eks_object(|object| {
        object.annotations_mut().insert(ROLLOUT_NOW_ANNOTATION.to_owned(), String::new());
    });
    world.updates_kube_proxy().await;
    let ready = world.message_of("Ready");
    assert!(ready.contains("until the annotation infrastructure.foo.com/rollout-now is removed"), "{ready}");
    assert_eq!(world.notes("MaintenanceWindowsIgnored").len(), 1);
    world.edits_eks_object(|object| drop(object.annotations_mut().remove(ROLLOUT_NOW_ANNOTATION)));
    world.waits(Duration::from_mins(1)).await;
    assert!(!world.message_of("Ready").contains("warning"), "{}", world.eks_summary());
}

#[tokio::test(start_paused = true)]
async fn an_unknown_time_zone_is_reported_and_no_addon_is_updated() {
    let world = upgraded(0, "Mars/Base").await;
    let unusable = || world.eks_state("AddonsReady") == "False MaintenanceWindowsUnusable";
    world.until("it is reported", unusable).await;
    for kind in ["AddonsReady", "Ready"] {
        let message = world.message_of(kind);
        assert!(
            message.contains("spec.eks.maintenanceWindows: the IANA time zone database has no"),
            "{message}"
        );
    }
    assert!(world.eks_state("Ready").starts_with("True"));
    let events = world.notes("MaintenanceWindowsUnusable");
    let is_of_addons = |note: &String| note.contains("kube-proxy is to be updated");
    assert!(!events.is_empty() && !events.iter().any(is_of_addons), "{events:?}");
    assert_eq!(world.kube_proxy(), OF_34);
    world.edits_eks(|eks| eks.maintenance_windows.clear());
    world.updates_kube_proxy().await;
}

#[tokio::test(start_paused = true)]
async fn while_the_clocks_differ_no_window_is_open() {
    let mut world = upgraded(20, "Europe/Berlin").await;
    world.awaits_a_window().await;
    // By its clock the window is open.
    world.restarts_the_manager_with_clock_ahead(30);
    let waits = || world.message_of("AddonsReady").starts_with("waiting until the clocks agree");
    world.until("it waits for the clocks", waits).await;
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(world.kube_proxy(), OF_34);
    world.restarts_the_manager_with_clock_ahead(0);
    world.updates_kube_proxy().await;
}
