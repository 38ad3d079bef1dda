//! Warm pools (Auto Scaling User Guide, "Warm pools for Amazon EC2 Auto Scaling").

use super::scene::{Scene, name, refusal, scene};
use crate::core::rules::group::hooks::{ActionKey, ActionResult, HookChange, Transition};
use crate::core::rules::group::operations::Deletion;
use crate::core::rules::group::refresh::{PreferencesSpec, RefreshStatus};
use crate::core::rules::group::warm_pool::{PoolState, WarmPoolChange};
use foo_cloud::InstanceState;
use foo_model::{Decrement, InstanceId, LifecycleState};

impl Scene {
    pub(super) fn put_pool(&self, change: WarmPoolChange) -> &Self {
        self.with(|region| region.put_warm_pool(&name("pool"), change)).expect("a warm pool");
        self
    }

    /// The states of the warm pool's members, as AWS writes them.
    fn warm(&self) -> Vec<String> {
        let group = self.group();
        let mut states: Vec<String> = group.warm.values().map(|member| group.state_name(member)).collect();
        states.sort();
        states
    }

    pub(super) fn warm_ids(&self) -> Vec<InstanceId> {
        self.group().warm.into_keys().collect()
    }

    fn state_of(&self, id: &InstanceId) -> Option<InstanceState> {
        self.region.instance(id).map(|instance| instance.state)
    }

    /// Origin and destination of all published lifecycle actions and launches of an instance.
    fn ways(&self, kind: &str) -> Vec<(String, String)> {
        let events = self.region.events_after(0).into_iter().map(|(_, event)| event);
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        events
            .filter(|event| event["detail-type"] == serde_json::json!(kind))
            .map(|event| (text(&event["detail"]["Origin"]), text(&event["detail"]["Destination"])))
            .collect()
    }
}

fn three_at_most() -> WarmPoolChange {
    WarmPoolChange { max_prepared: Some(Some(5)), ..WarmPoolChange::default() }
}

#[test]
fn instances_are_prepared_and_stopped_beside_the_group() {
    let scene = scene();
    scene.settled_pool((0, 2, 8)).put_pool(three_at_most());
    scene.wait(22);
    assert_eq!(scene.warm(), ["Warmed:Pending:Proceed"; 3]);
    scene.wait(11);
    assert_eq!(scene.warm(), ["Warmed:Stopped"; 3]);
    assert!(scene.warm_ids().iter().all(|id| scene.state_of(id) == Some(InstanceState::Stopped)));
    assert_eq!(scene.group().capacity(), 2, "they are no capacity");
    assert_eq!(scene.region.in_service_instances().len(), 2);
}

#[test]
fn a_scale_out_takes_them_first_and_they_are_faster() {
    let scene = scene();
    scene.settled_pool((0, 2, 8)).put_pool(three_at_most()).wait(60);
    let prepared = scene.warm_ids();
    scene.set_desired(4).expect("set");
    scene.wait(9);
    assert_eq!(scene.in_service().len(), 4);
    assert_eq!(scene.in_service().iter().filter(|id| prepared.contains(id)).count(), 2);
    assert_eq!(scene.warm(), ["Warmed:Stopped"], "5 prepared in all");
    assert!(
        scene
            .activities()
            .iter()
            .any(|it| it.description.starts_with("Launching a new EC2 instance from warm pool: i-"))
    );
    assert!(
        scene
            .ways("EC2 Instance Launch Successful")
            .contains(&("WarmPool".to_owned(), "AutoScalingGroup".to_owned()))
    );
}

#[test]
fn a_scale_out_beyond_the_pool_launches_the_rest() {
    let scene = scene();
    scene
        .settled_pool((0, 0, 8))
        .put_pool(WarmPoolChange { max_prepared: Some(Some(1)), ..three_at_most() })
        .wait(60);
    scene.set_desired(3).expect("set");
    scene.wait(10);
    assert_eq!(scene.in_service().len(), 1);
    scene.wait(20);
    assert_eq!(scene.in_service().len(), 3);
}

#[test]
fn the_pool_follows_its_sizes() {
    let scene = scene();
    scene.settled_pool((0, 1, 4)).put_pool(WarmPoolChange::default()).wait(60);
    assert_eq!(scene.warm().len(), 3, "up to the maximum");
    scene.put_pool(WarmPoolChange { max_prepared: Some(Some(2)), ..WarmPoolChange::default() }).wait(60);
    assert_eq!(scene.warm().len(), 1);
    scene.put_pool(WarmPoolChange { min_size: Some(2), ..WarmPoolChange::default() }).wait(60);
    assert_eq!(scene.warm().len(), 2, "at least its minimum");
    scene.put_pool(WarmPoolChange { max_prepared: Some(None), ..WarmPoolChange::default() }).wait(60);
    assert_eq!(scene.warm().len(), 3, "-1 takes it back");
}

#[test]
fn running_and_hibernated_pools() {
    for (state, name, ec2) in [
        (PoolState::Running, "Warmed:Running", InstanceState::Running),
        (PoolState::Hibernated, "Warmed:Hibernated", InstanceState::Stopped),
    ] {
        let scene = scene();
        scene
            .settled_pool((0, 0, 1))
            .put_pool(WarmPoolChange { state: Some(state), ..WarmPoolChange::default() });
        scene.wait(60);
        assert_eq!(scene.warm(), [name]);
        assert_eq!(scene.state_of(&scene.warm_ids()[0]), Some(ec2));
    }
}

#[test]
fn hooks_run_on_the_way_into_the_pool_and_out_of_it() {
    let scene = scene();
    scene.settled_pool((0, 0, 2));
    let hook = HookChange {
        name: "boot".to_owned(),
        transition: Some(Transition::Launching),
        heartbeat: Some(60),
        ..HookChange::default()
    };
    scene.with(|region| region.put_hook(&name("pool"), hook)).expect("a hook");
    scene.put_pool(WarmPoolChange { max_prepared: Some(Some(1)), ..WarmPoolChange::default() }).wait(25);
    assert_eq!(scene.warm(), ["Warmed:Pending:Wait"]);
    let complete = |id: &InstanceId| {
        let key = ActionKey::Instance(id.clone());
        scene
            .with(|region| region.complete_action(&name("pool"), "boot", &key, ActionResult::Continue))
            .expect("completed");
    };
    let id = scene.warm_ids().remove(0);
    complete(&id);
    scene.wait(20);
    assert_eq!(scene.warm(), ["Warmed:Stopped"]);
    scene.set_desired(1).expect("set");
    scene.wait(10);
    complete(&id);
    scene.wait(2);
    assert_eq!(scene.in_service(), [id]);
    let way = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    assert_eq!(
        scene.ways("EC2 Instance-launch Lifecycle Action"),
        [way("EC2", "WarmPool"), way("WarmPool", "AutoScalingGroup")]
    );
}

#[test]
fn a_reuse_policy_brings_instances_back_on_scale_in() {
    let scene = scene();
    scene.settled_pool((0, 2, 3));
    let reuse =
        WarmPoolChange { reuse: Some(true), max_prepared: Some(Some(2)), ..WarmPoolChange::default() };
    scene.put_pool(reuse).wait(30);
    let before = scene.in_service();
    scene.set_desired(1).expect("set");
    scene.wait(15);
    assert_eq!(scene.warm(), ["Warmed:Stopped"]);
    assert!(before.contains(&scene.warm_ids()[0]));
    scene.set_desired(2).expect("set");
    scene.wait(10);
    assert_eq!(scene.in_service(), before);
}

/// "This operation cannot be called on instances in a warm pool" (API Reference, TerminateInstanceInAutoScalingGroup).
#[test]
fn warm_instances_are_not_the_groups_to_terminate_but_are_replaced_when_they_die() {
    let scene = scene();
    scene.settled_pool((0, 0, 1)).put_pool(WarmPoolChange::default()).wait(60);
    let id = scene.warm_ids().remove(0);
    let refused = scene.with(|region| region.terminate_member(&id, Decrement::Replace));
    assert_eq!(refusal(refused).0, "ValidationError");
    scene.region.kill_instance(&id).expect("killed");
    scene.wait(120);
    assert_eq!(scene.warm(), ["Warmed:Stopped"]);
    assert_ne!(scene.warm_ids(), [id]);
}

#[test]
fn a_deleted_pool_empties_itself_and_a_group_with_one_is_in_use() {
    let scene = scene();
    scene.settled_pool((0, 0, 2)).put_pool(WarmPoolChange::default()).wait(60);
    let delete = |how| scene.with(|region| region.delete_group(&name("pool"), how));
    assert_eq!(refusal(delete(Deletion::IfEmpty)).0, "ResourceInUse");
    scene.with(|region| region.delete_warm_pool(&name("pool"), false)).expect("deleted");
    assert!(scene.group().warm_pool.is_some_and(|pool| pool.deleting));
    scene.wait(30);
    assert!(scene.group().warm_pool.is_none() && scene.group().warm.is_empty());
    let again = scene.with(|region| region.delete_warm_pool(&name("pool"), false));
    assert_eq!(refusal(again).0, "ValidationError");
    scene.put_pool(WarmPoolChange::default()).wait(60);
    delete(Deletion::Forced).expect("with its warm pool");
    scene.wait(60);
    assert!(scene.region.group("pool").is_none());
}

#[test]
fn a_pool_that_is_being_deleted_takes_no_settings() {
    let scene = scene();
    scene.settled_pool((0, 0, 2)).put_pool(WarmPoolChange::default()).wait(2);
    assert!(!scene.warm_ids().is_empty(), "while its instances are launched");
    scene.with(|region| region.delete_warm_pool(&name("pool"), true)).expect("deleting");
    let refused = scene.with(|region| region.put_warm_pool(&name("pool"), WarmPoolChange::default()));
    assert_eq!(refusal(refused).0, "ValidationError");
    scene.wait(60);
    assert!(scene.group().warm_pool.is_none());
    scene.put_pool(WarmPoolChange::default());
}

#[test]
fn the_size_of_a_pool_is_the_number_of_its_instances() {
    let scene = scene();
    scene.settled_pool((0, 0, 2)).put_pool(WarmPoolChange::default());
    scene.wait(60);
    assert_eq!(scene.group().warm_count(), 2);
    scene.put_pool(WarmPoolChange { max_prepared: Some(Some(1)), ..WarmPoolChange::default() }).wait(60);
    assert_eq!(scene.group().warm_count(), 1);
}

#[test]
fn an_instance_refresh_renews_the_pool_too() {
    let scene = scene();
    scene.settled_pool((0, 1, 3)).put_pool(WarmPoolChange::default()).wait(60);
    let before = scene.warm_ids();
    scene
        .with(|region| region.start_refresh(&name("pool"), None, PreferencesSpec::default()))
        .expect("started");
    let refused = scene.with(|region| region.put_warm_pool(&name("pool"), WarmPoolChange::default()));
    assert_eq!(refusal(refused).0, "InstanceRefreshInProgress");
    scene.wait(200);
    assert!(scene.warm_ids().iter().all(|id| !before.contains(id)));
    assert_eq!(scene.warm(), ["Warmed:Stopped"; 2]);
    let status = scene.group().refreshes.last().map(|refresh| refresh.status);
    assert_eq!(status, Some(RefreshStatus::Successful));
}

/// Nothing returns into a pool that is being deleted: it would stay for ever.
#[test]
fn a_return_into_a_pool_that_is_gone_ends_instead() {
    let scene = scene();
    scene.settled_pool((0, 2, 8));
    let hook = HookChange {
        name: "drain".to_owned(),
        transition: Some(Transition::Terminating),
        ..HookChange::default()
    };
    scene.with(|region| region.put_hook(&name("pool"), hook)).expect("a hook");
    scene.put_pool(WarmPoolChange { reuse: Some(true), max_prepared: Some(Some(2)), ..three_at_most() });
    scene.set_desired(1).expect("set");
    scene.wait(1);
    let members = scene.group().members.into_values();
    let waiting: Vec<InstanceId> =
        members.filter(|it| it.lifecycle == LifecycleState::TerminatingWait).map(|it| it.id).collect();
    assert_eq!(waiting.len(), 1);
    scene.with(|region| region.delete_warm_pool(&name("pool"), true)).expect("deleting");
    scene.wait(60);
    for id in waiting {
        let key = ActionKey::Instance(id);
        scene
            .with(|region| region.complete_action(&name("pool"), "drain", &key, ActionResult::Continue))
            .expect("completed");
    }
    scene.wait(60);
    let group = scene.group();
    assert_eq!((group.warm_pool, group.warm.len(), group.members.len()), (None, 0, 1));
}

/// A launch that comes back while its first activity's end is still due belongs to the newer activity.
#[test]
fn the_end_of_an_earlier_launch_does_not_touch_an_instance_that_came_back() {
    let scene = scene();
    scene.settled_pool((0, 1, 8));
    let reused = WarmPoolChange { reuse: Some(true), max_prepared: Some(Some(1)), ..three_at_most() };
    scene.put_pool(reused).wait(60);
    scene.set_desired(8).expect("set");
    scene.wait(1);
    scene.put_pool(WarmPoolChange { max_prepared: Some(Some(8)), ..WarmPoolChange::default() });
    scene.wait(11);
    scene.set_desired(1).expect("set");
    scene.wait(120);
    assert_eq!(scene.warm(), ["Warmed:Stopped"; 7]);
    for id in scene.warm_ids() {
        assert_eq!(scene.state_of(&id), Some(InstanceState::Stopped));
    }
}

#[test]
fn nothing_is_started_in_a_zone_that_cannot() {
    let scene = scene();
    scene.settled_pool((0, 0, 8)).put_pool(three_at_most()).wait(60);
    for zone in ["a", "b", "c"] {
        scene
            .region
            .set_zone_state(&format!("eu-central-1{zone}"), crate::core::mishaps::ZoneState::Impaired)
            .expect("a zone");
    }
    scene.set_desired(2).expect("set");
    scene.wait(100);
    assert!(scene.in_service().is_empty());
}
