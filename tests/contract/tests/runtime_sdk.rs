//! The Rust types of the Runtime SDK against upstream's own: a Go program of hack/tools writes empty and filled samples
//! of every request and response of Cluster API's catalogue. The crate's types read each and write it again, the same
//! to the letter except the order of fields; and the catalogue has the same hooks, neither more nor fewer.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests")]

use super::common;
use foo_runtime_sdk::hooks::{self, CATALOGUE, Hook, Row, path};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// What upstream declares of a hook.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Upstream {
    name: String,
    path: String,
    blocking: bool,
    empty_request: Value,
    full_request: Value,
    empty_response: Value,
    full_response: Value,
}

fn upstream() -> BTreeMap<String, Upstream> {
    let program = common::tools().join("capi-hooks");
    let output = Command::new(&program).output().unwrap_or_else(|error| {
        panic!("{}: {error}; build the test tools with hack/tools/build.sh", program.display())
    });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let hooks = lines.lines().map(|line| serde_json::from_str::<Upstream>(line).unwrap());
    hooks.map(|hook| (hook.name.clone(), hook)).collect()
}

#[test]
fn the_catalogue_is_upstreams() {
    let own: BTreeMap<&str, bool> =
        CATALOGUE.iter().map(|Row { name, blocking }| (*name, *blocking)).collect();
    let upstream = upstream();
    let hooks: BTreeMap<&str, bool> =
        upstream.values().map(|hook| (hook.name.as_str(), hook.blocking)).collect();
    assert_eq!(own, hooks);
    for hook in upstream.values() {
        let handler = (hook.name != "Discovery").then_some("handler");
        assert_eq!(path(&hook.name, handler), hook.path);
    }
}

/// Reads a value as a type and writes it again.
fn again<T: serde::Serialize + serde::de::DeserializeOwned>(what: &str, value: &Value) {
    let read: T =
        serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{what}: {error}\n{value}"));
    assert_eq!(serde_json::to_value(&read).unwrap(), *value, "{what}");
}

/// Both samples of request and response; a filled one has no unknown fields.
fn both<H: Hook>(hook: H) {
    let _: H = hook;
    let upstream = &upstream()[H::NAME];
    again::<H::Request>("an empty request", &upstream.empty_request);
    again::<H::Request>("a filled request", &upstream.full_request);
    again::<H::Response>("an empty response", &upstream.empty_response);
    again::<H::Response>("a filled response", &upstream.full_response);
    knows_all::<H::Request>(&upstream.full_request);
    knows_all::<H::Response>(&upstream.full_response);
}

/// Unknown fields are kept apart, so a type with no fields at all would write everything again. `Debug` shows it.
fn knows_all<T: serde::de::DeserializeOwned + std::fmt::Debug>(value: &Value) {
    let read: T = serde_json::from_value(value.clone()).unwrap();
    let shown = format!("{read:?}");
    let unknown = shown.split("unknown: {").skip(1).find(|rest| !rest.starts_with('}'));
    assert!(unknown.is_none(), "an unknown field: {:.100}", unknown.unwrap_or_default());
}

macro_rules! samples {
    ($($test:ident $hook:ident),+ $(,)?) => {$(
        #[test]
        fn $test() {
            both(hooks::$hook);
        }
    )+};
}

samples! {
    discovery_is_upstreams Discovery,
    before_cluster_create_is_upstreams BeforeClusterCreate,
    after_control_plane_initialized_is_upstreams AfterControlPlaneInitialized,
    before_cluster_upgrade_is_upstreams BeforeClusterUpgrade,
    before_control_plane_upgrade_is_upstreams BeforeControlPlaneUpgrade,
    after_control_plane_upgrade_is_upstreams AfterControlPlaneUpgrade,
    before_workers_upgrade_is_upstreams BeforeWorkersUpgrade,
    after_workers_upgrade_is_upstreams AfterWorkersUpgrade,
    after_cluster_upgrade_is_upstreams AfterClusterUpgrade,
    before_cluster_delete_is_upstreams BeforeClusterDelete,
    generate_patches_is_upstreams GeneratePatches,
    validate_topology_is_upstreams ValidateTopology,
    discover_variables_is_upstreams DiscoverVariables,
    generate_upgrade_plan_is_upstreams GenerateUpgradePlan,
    can_update_machine_is_upstreams CanUpdateMachine,
    can_update_machine_set_is_upstreams CanUpdateMachineSet,
    update_machine_is_upstreams UpdateMachine,
}
