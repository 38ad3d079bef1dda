//! A region with a cluster, and short words for what is done with it.

use crate::core::Settings;
use crate::core::eks::Principals;
use crate::core::eks::cluster::{Cluster, ClusterStatus, Update, UpdateStatus};
use crate::core::error::AwsResult;
use crate::core::network::PRIVATE_SUBNETS;
use crate::core::region::Region;
use crate::tests::scene::{Scene, scene_with};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub(super) const ROLE: &str = "arn:aws:iam::123456789012:role/cluster";
pub(super) const NODES: &str = "arn:aws:iam::123456789012:role/nodes";
pub(super) const CALLER: &str = "arn:aws:iam::123456789012:user/manager";

pub(super) struct World(pub(super) Scene);

/// A region without clusters.
pub(super) fn world() -> World {
    world_with(|_| {})
}

pub(super) fn world_with(change: impl FnOnce(&mut Settings)) -> World {
    World(scene_with(change))
}

/// A request, as it comes in JSON.
pub(super) fn request<T: DeserializeOwned>(body: Value) -> T {
    serde_json::from_value(body).expect("a request")
}

/// A request for the cluster `main`, with other fields.
pub(super) fn new_cluster(other: Value) -> Value {
    let mut body = json!({
        "name": "main",
        "roleArn": ROLE,
        "version": "1.33",
        "resourcesVpcConfig": { "subnetIds": PRIVATE_SUBNETS },
        "accessConfig": { "authenticationMode": "API" },
    });
    let Value::Object(other) = other else { panic!("not fields: {other}") };
    body.as_object_mut().expect("an object").extend(other);
    body
}

impl World {
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Region) -> T) -> T {
        self.0.with(work)
    }

    pub(super) fn wait(&self, seconds: u64) -> &Self {
        self.0.wait(seconds);
        self
    }

    pub(super) fn principals(&self) -> Principals {
        self.0.sim.world.lock().keys.principals("123456789012")
    }

    pub(super) fn try_create(&self, other: Value) -> AwsResult<Cluster> {
        let (request, principals) = (request(new_cluster(other)), self.principals());
        self.with(|region| region.create_cluster(&request, CALLER, &principals))
    }

    /// The cluster `main`, ACTIVE.
    pub(super) fn active(&self, other: Value) -> &Self {
        self.try_create(other).expect("created");
        self.wait(600);
        assert_eq!(self.main().status, ClusterStatus::Active);
        self
    }

    pub(super) fn main(&self) -> Cluster {
        self.0.region.cluster("main").expect("it is there")
    }

    pub(super) fn configure(&self, body: Value) -> AwsResult<Update> {
        let request = request(body);
        self.with(|region| region.update_cluster_config("main", &request))
    }

    pub(super) fn upgrade(&self, body: Value) -> AwsResult<Update> {
        let request = request(body);
        self.with(|region| region.update_cluster_version("main", &request))
    }

    pub(super) fn status_of(&self, update: &Update) -> UpdateStatus {
        let addon = update.addon();
        self.with(|region| region.update_seen("main", &update.id, addon).map(|it| it.status)).expect("known")
    }
}
