//! EKS control planes: from nothing to an API server that responds, and back to nothing.

mod accidents;
mod adoption;
mod clocks;
mod connection;
mod crashes;
mod figures;
mod life;
mod many;
mod names;
mod one_name;
mod plans;
mod protection;
mod tokens;
mod windows;

use crate::support::{CLUSTER, NS, World, objects};
use foo_api::capi::Cluster;
use foo_api::control_plane::Eks;
use foo_api::names::{CONTROL_PLANE_GROUP, DELETION_ALLOWED_ANNOTATION};
use foo_api::{FooControlPlane, FooControlPlaneSpec};
use foo_simulator_core::core::eks::cluster::Cluster as EksCluster;
use kube::ResourceExt;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Name of the EKS cluster.
const NAME: &str = "default_c-2f5c62a2";
/// Role of the control plane.
const ROLE: &str = "arn:aws:iam::123456789012:role/eks";

/// A FooControlPlane with these fields of `spec.eks`.
pub(crate) fn control_plane(name: &str, version: &str, fields: Value) -> FooControlPlane {
    let mut eks = json!({ "roleARN": ROLE });
    if let (Value::Object(eks), Value::Object(fields)) = (&mut eks, fields) {
        eks.extend(fields);
    }
    let spec = FooControlPlaneSpec {
        version: version.to_owned(),
        control_plane_endpoint: None,
        external: None,
        eks: Some(serde_json::from_value(eks).unwrap()),
    };
    objects::placed(FooControlPlane::new(name, spec))
}

/// The Cluster of that name refers to the FooControlPlane of the same name.
pub(crate) fn refers(cluster: &mut Cluster) {
    let mut reference = objects::reference("FooControlPlane", &cluster.name_any());
    CONTROL_PLANE_GROUP.clone_into(&mut reference.api_group);
    cluster.spec.control_plane_ref = Some(reference);
}

impl World {
    /// A world in which EKS does not take its time.
    pub(crate) fn fast_eks() -> Self {
        let world = Self::empty();
        let shorten = |settings: &mut foo_simulator_core::core::Settings| {
            settings.eks.create = Duration::from_secs(40);
            settings.eks.delete = Duration::from_secs(40);
            settings.eks.version_update = Duration::from_secs(40);
            settings.eks.config_update = Duration::from_secs(40);
            settings.eks.identity_provider_update = Duration::from_secs(40);
            settings.eks.addon = Duration::from_secs(10);
            settings.eks.policies_apply_spread = Duration::from_secs(30);
        };
        world.region.change_settings(shorten).unwrap();
        world
    }

    /// A Cluster with an EKS control plane is begun.
    fn begins_eks(&self, version: &str, fields: Value) {
        let mut cluster = objects::cluster();
        refers(&mut cluster);
        self.has(&cluster);
        self.has(&objects::foo_cluster());
        self.has(&control_plane(CLUSTER, version, fields));
    }

    /// The same, and everything is as requested.
    pub(crate) async fn of_eks(fields: Value) -> Self {
        let world = Self::fast_eks();
        world.begins_eks("v1.34.0", fields);
        world.eks_is_ready().await;
        world
    }

    pub(crate) async fn eks_is_ready(&self) {
        let all = ["Available", "ClusterReady", "AddonsReady", "AccessReady", "KubeconfigReady", "Ready"];
        let is_ready = || all.iter().all(|kind| self.eks_state(kind).starts_with("True"));
        self.until("the control plane is ready", || {
            let ready = is_ready();
            if !ready && std::env::var("EKS_TRACE").is_ok() {
                println!("{}", self.eks_summary());
            }
            ready
        })
        .await;
    }

    pub(crate) fn eks_object(&self) -> FooControlPlane {
        self.server.get(NS, CLUSTER).unwrap()
    }

    /// `status reason` of a condition; empty if there is none.
    pub(crate) fn eks_state(&self, kind: &str) -> String {
        self.eks_condition(CLUSTER, kind).0
    }

    /// The same of any FooControlPlane, and the message.
    fn eks_condition(&self, name: &str, kind: &str) -> (String, String) {
        let object: Option<FooControlPlane> = self.server.get(NS, name);
        let conditions = object.and_then(|it| it.status).unwrap_or_default().conditions;
        let condition = conditions.into_iter().find(|condition| condition.type_ == kind);
        condition.map_or_else(Default::default, |it| (format!("{} {}", it.status, it.reason), it.message))
    }

    pub(crate) fn eks_summary(&self) -> String {
        let conditions = self.eks_object().status.unwrap_or_default().conditions;
        let words =
            conditions.iter().map(|it| format!("{}={} {} {}", it.type_, it.status, it.reason, it.message));
        words.collect::<Vec<_>>().join("\n")
    }

    fn edits_eks(&self, edit: impl FnOnce(&mut Eks)) {
        let set = |object: &mut FooControlPlane| edit(object.spec.eks.as_mut().unwrap());
        self.server.edit(NS, CLUSTER, set).unwrap();
    }

    pub(crate) fn requests_version(&self, version: &str) {
        let set = |object: &mut FooControlPlane| version.clone_into(&mut object.spec.version);
        self.server.edit(NS, CLUSTER, set).unwrap();
    }

    fn pauses_eks(&self, paused: bool) {
        let pause = |cluster: &mut Cluster| cluster.spec.paused = Some(paused);
        self.server.edit(NS, CLUSTER, pause).unwrap();
    }

    /// A user deletes the FooControlPlane, and confirms that the Cluster stays without its EKS cluster.
    fn deletes_eks(&self) {
        let confirm = |object: &mut FooControlPlane| {
            object.annotations_mut().insert(DELETION_ALLOWED_ANNOTATION.to_owned(), String::new());
        };
        self.server.edit(NS, CLUSTER, confirm).unwrap();
        self.deletes_eks_by_mistake();
    }

    fn deletes_eks_by_mistake(&self) {
        self.server.delete::<FooControlPlane>(NS, CLUSTER).unwrap();
    }

    pub(crate) fn eks_object_is_deleted(&self) -> bool {
        self.server.get::<FooControlPlane>(NS, CLUSTER).is_none()
    }

    async fn eks_is_removed(&self) {
        self.until("the FooControlPlane is deleted", || self.eks_object_is_deleted()).await;
    }

    pub(crate) fn eks_cluster(&self) -> EksCluster {
        self.region.cluster(NAME).unwrap()
    }

    /// Calls of AWS since the last [`World::forgets`], by action.
    fn aws_calls(&self) -> BTreeMap<String, u64> {
        let counts = self.aws.call_counts().into_iter();
        counts.map(|((_, action), count)| (action, count.calls)).collect()
    }
}
