//! The target lifecycle state in instance metadata (Auto Scaling User Guide, "Retrieve the target lifecycle state through
//! instance metadata").

use super::scene::{Scene, scene};
use crate::core::rules::group::warm_pool::{PoolState, WarmPoolChange};
use foo_cloud::InstanceState;
use foo_model::{Decrement, InstanceId};

impl Scene {
    fn only_warm(&self) -> InstanceId {
        let warm = self.warm_ids();
        assert_eq!(warm.len(), 1);
        warm[0].clone()
    }

    fn target(&self, id: &InstanceId) -> Option<String> {
        self.region.target_lifecycle_state(id)
    }
}

#[test]
fn the_target_is_the_warm_pool_from_the_launch_until_the_instance_is_to_serve() {
    for (state, target) in [
        (PoolState::Stopped, "Warmed:Stopped"),
        (PoolState::Running, "Warmed:Running"),
        (PoolState::Hibernated, "Warmed:Hibernated"),
    ] {
        let scene = scene();
        scene.settled_pool((0, 0, 1));
        scene.put_pool(WarmPoolChange { state: Some(state), ..WarmPoolChange::default() }).wait(2);
        let id = scene.only_warm();
        assert_eq!(scene.target(&id).as_deref(), Some(target), "it is launching");
        scene.wait(60);
        assert_eq!(scene.target(&id).as_deref(), Some(target));
        scene.set_desired(1).expect("set");
        scene.wait(1);
        assert_eq!(scene.target(&id).as_deref(), Some("InService"));
        scene.wait(30);
        assert_eq!(scene.in_service(), [id]);
    }
}

#[test]
fn the_target_of_a_stopped_instance_is_service_before_it_runs_again() {
    let scene = scene();
    scene.settled_pool((0, 0, 1)).put_pool(WarmPoolChange::default()).wait(60);
    let id = scene.only_warm();
    scene.set_desired(1).expect("set");
    scene.wait(1);
    let state = scene.region.instance(&id).map(|instance| instance.state);
    assert_eq!(state, Some(InstanceState::Pending));
    assert_eq!(scene.target(&id).as_deref(), Some("InService"));
}

#[test]
fn the_target_of_a_member_is_service_until_it_leaves() {
    let scene = scene();
    scene.settled_pool((0, 1, 1));
    let id = scene.in_service().remove(0);
    assert_eq!(scene.target(&id).as_deref(), Some("InService"));
    scene.with(|region| region.terminate_member(&id, Decrement::Shrink)).expect("terminating");
    scene.wait(1);
    assert_eq!(scene.target(&id).as_deref(), Some("Terminated"));
    scene.wait(60);
    assert_eq!(scene.target(&id), None, "it is in no group");
}

#[test]
fn an_instance_that_a_scale_in_returns_has_the_warm_pool_as_its_target() {
    let scene = scene();
    scene.settled_pool((0, 1, 1));
    let id = scene.in_service().remove(0);
    scene.put_pool(WarmPoolChange { reuse: Some(true), ..WarmPoolChange::default() });
    scene.set_desired(0).expect("set");
    scene.wait(1);
    assert_eq!(scene.target(&id).as_deref(), Some("Warmed:Stopped"));
}
