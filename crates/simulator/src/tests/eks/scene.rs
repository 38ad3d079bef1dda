//! A region with a cluster, and short words for what is done with it.

use crate::core::Settings;
use crate::core::eks::Principals;
use crate::core::eks::cluster::{Cluster, Update};
use crate::core::eks::identities::AccessEntry;
use crate::core::error::{AwsError, AwsResult};
use crate::core::network::PRIVATE_SUBNETS;
use crate::core::region::Region;
use crate::tests::scene::{Scene, scene_with};
use crate::wire::eks::requests::{CreateCluster, CreateEntry, UpdateConfig, UpdateVersion, minor};
use foo_model::eks::{ClusterStatus, UpdateStatus};
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

/// The same; what cannot be read is refused.
pub(super) fn request_of<T: DeserializeOwned>(body: Value) -> AwsResult<T> {
    serde_json::from_value(body)
        .map_err(|error| AwsError::new("InvalidParameterException", error.to_string()))
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
        let (request, principals) = (request::<CreateCluster>(new_cluster(other)), self.principals());
        let (name, token) = (request.name.clone(), request.client_request_token.clone());
        let new = request.cluster()?;
        self.with(|region| region.create_cluster(&name, &new, token.as_deref(), CALLER, &principals))
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

    pub(super) fn try_entry(&self, body: Value) -> AwsResult<AccessEntry> {
        let (request, principals) = (request::<CreateEntry>(body), self.principals());
        let principal = request.principal_arn.clone();
        let new = request.entry();
        self.with(|region| region.create_access_entry("main", &principal, &new, None, &principals))
    }

    pub(super) fn configure(&self, body: Value) -> AwsResult<Update> {
        let request = request::<UpdateConfig>(body);
        let token = request.client_request_token.clone();
        let update = |cluster: &Cluster| request.clone().update(cluster);
        self.with(|region| region.update_cluster_config("main", &request, update, token.as_deref()))
    }

    pub(super) fn upgrade(&self, body: Value) -> AwsResult<Update> {
        let UpdateVersion { version, force, client_request_token: token } = request(body);
        let version = minor(&version)?;
        self.with(|region| {
            region.update_cluster_version("main", version, force == Some(true), token.as_deref())
        })
    }

    pub(super) fn status_of(&self, update: &Update) -> UpdateStatus {
        let addon = update.addon();
        self.with(|region| region.update_seen("main", &update.id, addon).map(|it| it.status)).expect("known")
    }
}
