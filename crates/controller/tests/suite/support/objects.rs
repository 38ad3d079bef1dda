//! What a user writes.

use super::{CLUSTER, NS};
use foo_api::capi::{
    Bootstrap, Cluster, ClusterSpec, ContractReference, MachinePool, MachinePoolSpec, MachineTemplate,
    MachineTemplateSpec,
};
use foo_api::cluster::{ExistingNetwork, Network};
use foo_api::identity::{IdentityReference, secret_keys};
use foo_api::names::{CLUSTER_NAME_LABEL, SECRET_VALUE_KEY};
use foo_api::pool::Ami;
use foo_api::shared::NetworkReference;
use foo_api::{FooCluster, FooClusterIdentity, FooClusterSpec, FooMachinePool, FooMachinePoolSpec};
use foo_simulator_core::DEFAULT_REGION;
use foo_simulator_core::core::catalogue::IMAGE_X86_64;
use foo_simulator_core::core::network::{PRIVATE_SUBNETS, SECURITY_GROUP};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::ResourceExt;
use serde_json::Value;
use std::collections::BTreeMap;

/// A reference by id.
pub(crate) fn by_id(id: &str) -> NetworkReference {
    NetworkReference { id: Some(id.to_owned()), ..NetworkReference::default() }
}

/// A reference to an object of the provider.
pub(crate) fn reference(kind: &str, name: &str) -> ContractReference {
    ContractReference {
        api_group: foo_api::names::INFRASTRUCTURE_GROUP.to_owned(),
        kind: kind.to_owned(),
        name: name.to_owned(),
    }
}

/// The Cluster.
pub(crate) fn cluster() -> Cluster {
    let infrastructure_ref = Some(reference("FooCluster", CLUSTER));
    placed(Cluster::new(CLUSTER, ClusterSpec { infrastructure_ref, ..ClusterSpec::default() }))
}

/// Its infrastructure: the private subnets and the security group every region has.
pub(crate) fn foo_cluster() -> FooCluster {
    let existing = ExistingNetwork {
        subnets: PRIVATE_SUBNETS.map(by_id).into(),
        security_groups: vec![by_id(SECURITY_GROUP)],
        ..ExistingNetwork::default()
    };
    let network = Network { existing: Some(existing), ..Network::default() };
    let spec = FooClusterSpec {
        region: DEFAULT_REGION.to_owned(),
        identity_ref: None,
        network,
        control_plane_endpoint: None,
    };
    placed(FooCluster::new(CLUSTER, spec))
}

/// Another Cluster with its infrastructure, which names this identity, or none.
pub(crate) fn another_cluster(name: &str, identity: Option<&str>) -> (Cluster, FooCluster) {
    let (mut cluster, mut infrastructure) = (self::cluster(), foo_cluster());
    cluster.metadata.name = Some(name.to_owned());
    cluster.spec.infrastructure_ref = Some(reference("FooCluster", name));
    infrastructure.metadata.name = Some(name.to_owned());
    infrastructure.spec.identity_ref = identity.map(identity_reference);
    (cluster, infrastructure)
}

/// Names an identity.
pub(crate) fn identity_reference(name: &str) -> IdentityReference {
    IdentityReference { name: name.to_owned() }
}

/// An identity.
pub(crate) fn identity(name: &str, spec: Value) -> FooClusterIdentity {
    FooClusterIdentity::new(name, serde_json::from_value(spec).unwrap())
}

/// A Secret with static keys, in the manager's namespace.
pub(crate) fn keys(name: &str, id: &str) -> Secret {
    let mut secret = placed(Secret::default());
    secret.metadata.name = Some(name.to_owned());
    let data = [(secret_keys::ACCESS_KEY_ID, id), (secret_keys::SECRET_ACCESS_KEY, "hush")];
    let bytes = |text: &str| ByteString(text.as_bytes().to_vec());
    secret.data = Some(data.map(|(key, text)| (key.to_owned(), bytes(text))).into());
    secret
}

/// The spec of an ordinary pool.
pub(crate) fn pool_spec() -> FooMachinePoolSpec {
    FooMachinePoolSpec {
        instance_type: Some("m7i.large".to_owned()),
        ami: Ami::of_id(IMAGE_X86_64),
        ..FooMachinePoolSpec::default()
    }
}

/// A FooMachinePool.
pub(crate) fn foo_machine_pool(name: &str, spec: FooMachinePoolSpec) -> FooMachinePool {
    placed(FooMachinePool::new(name, spec))
}

/// The MachinePool of that name, with its bootstrap Secret.
pub(crate) fn machine_pool(name: &str, replicas: i32) -> MachinePool {
    let template = MachineTemplateSpec {
        bootstrap: Bootstrap { data_secret_name: Some(secret_name(name)), ..Bootstrap::default() },
        infrastructure_ref: reference("FooMachinePool", name),
        version: Some("v1.36.3".to_owned()),
        deletion: None,
        min_ready_seconds: None,
    };
    let spec = MachinePoolSpec {
        cluster_name: CLUSTER.to_owned(),
        replicas: Some(replicas),
        template: MachineTemplate { spec: template },
        failure_domains: Vec::new(),
    };
    placed(MachinePool::new(name, spec))
}

/// Name of a pool's bootstrap Secret.
pub(crate) fn secret_name(pool: &str) -> String {
    format!("{pool}-boot")
}

/// A Secret with this under the key `value`.
pub(crate) fn secret(name: &str, value: &[u8]) -> Secret {
    let mut secret = placed(Secret::default());
    secret.metadata.name = Some(name.to_owned());
    secret.labels_mut().insert(CLUSTER_NAME_LABEL.to_owned(), CLUSTER.to_owned());
    secret.data = Some(BTreeMap::from([(SECRET_VALUE_KEY.to_owned(), ByteString(value.to_vec()))]));
    secret
}

/// The object, in the namespace of everything.
pub(crate) fn placed<K: ResourceExt>(mut object: K) -> K {
    object.meta_mut().namespace = Some(NS.to_owned());
    object
}

/// The namespace that identifies the management cluster.
pub(crate) fn kube_system() -> Namespace {
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some("kube-system".to_owned());
    namespace
}
