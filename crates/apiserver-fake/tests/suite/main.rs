//! The fake server from outside: through kube's client, watchers and controllers.
//!
//! The modules `apply` and `verbs` hold for a real server too: with `FOO_JUDGE=http://127.0.0.1:8001` (a `kubectl
//! proxy` of a throw-away API server that has our CRDs and Cluster API's) they run there; `-- --test-threads=1`, since
//! they share a namespace. Tests that read inside the fake end early then.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what tests share may fail as loudly as the tests do"
)]

mod apply;
mod cluster_api;
mod differential;
mod direct;
mod faults;
mod judge;
mod verbs;
mod watching;

use foo_api::capi::{Machine, MachinePool};
use foo_api::{FooMachine, FooMachinePool};
use foo_apiserver_fake::FakeApiServer;
use kube::Api;
use kube::core::Status;
use serde_json::json;

/// A FooMachinePool as a user writes it.
pub(crate) fn pool(name: &str) -> FooMachinePool {
    parse(json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1",
        "kind": "FooMachinePool",
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "instanceType": "m7i.large", "ami": { "id": "ami-1" } },
    }))
}

/// A FooMachine of an instance.
pub(crate) fn foo_machine(name: &str) -> FooMachine {
    parse(json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1",
        "kind": "FooMachine",
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "providerID": format!("aws:///z/i-{name}"), "instanceID": format!("i-{name}") },
    }))
}

/// A Machine that points to the FooMachine of its name.
pub(crate) fn machine(name: &str) -> Machine {
    parse(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2",
        "kind": "Machine",
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "clusterName": "c" },
    }))
}

/// JSON as a type.
pub(crate) fn parse<K: serde::de::DeserializeOwned>(value: serde_json::Value) -> K {
    serde_json::from_value(value).unwrap()
}

/// A server and typed clients of it.
pub(crate) struct Bench {
    pub(crate) server: FakeApiServer,
    pub(crate) client: kube::Client,
    pub(crate) pools: Api<FooMachinePool>,
    pub(crate) machines: Api<Machine>,
    pub(crate) machine_pools: Api<MachinePool>,
}

impl Bench {
    /// One on the fake, or on the judge if there is one.
    pub(crate) async fn clean() -> Self {
        judge::clean().await;
        Self::new()
    }

    pub(crate) fn new() -> Self {
        let server = FakeApiServer::new();
        let client = judge::client().unwrap_or_else(|| server.client_as("controller"));
        Self {
            pools: Api::namespaced(client.clone(), "default"),
            machines: Api::namespaced(client.clone(), "default"),
            machine_pools: Api::namespaced(client.clone(), "default"),
            client,
            server,
        }
    }
}

/// The refusal in a result.
pub(crate) fn refusal<T: std::fmt::Debug>(result: Result<T, kube::Error>) -> Status {
    match result {
        Err(kube::Error::Api(status)) => *status,
        other => panic!("not refused: {other:?}"),
    }
}

/// `code reason` of the refusal in a result.
pub(crate) fn refused<T: std::fmt::Debug>(result: Result<T, kube::Error>) -> String {
    let status = refusal(result);
    format!("{} {}", status.code, status.reason)
}
