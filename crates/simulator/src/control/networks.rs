//! The control API for networks, and for volumes that other users make.

use super::clusters;
use super::result::{ControlError, ControlResult, done, parse, removed, value_of};
use crate::core::ec2::workload_volumes::WorkloadVolume;
use crate::core::error::AwsResult;
use crate::simulator::RegionHandle;
use foo_model::InstanceId;
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;

/// A volume that a driver in a workload cluster creates.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewVolume {
    size_gib: u32,
    /// The instance that it is attached to.
    #[serde(default)]
    instance: Option<InstanceId>,
    /// Whether EC2 deletes it with that instance.
    #[serde(default)]
    delete_on_termination: bool,
    #[serde(default)]
    tags: BTreeMap<String, String>,
}

pub(super) fn of_region(region: &RegionHandle, method: &Method, path: &[&str], body: &[u8]) -> ControlResult {
    match (method.as_str(), path) {
        ("GET", ["network"]) => Ok(region.network()),
        ("DELETE", ["network"]) => done(region.empty_network()),
        ("DELETE", ["network", id]) => done(region.delete_as_another_user(id)),
        ("POST", ["network-interfaces"]) => created_id(region.put_foreign_interface(parse(body)?)),
        ("POST", ["load-balancers"]) => created_id(region.put_load_balancer(parse(body)?)),
        ("POST", ["lattice-target-groups"]) => created_id(region.put_lattice_target_group()),
        ("POST", ["volumes"]) => create_volume(region, parse(body)?),
        ("DELETE", ["volumes", id]) => {
            removed(region.delete_volume(id).map_err(|error| ControlError::Bad(error.to_string()))?)
        }
        ("GET", ["nat-faults"]) => value_of(region.nat_mishaps()),
        ("PUT", ["nat-faults"]) => done(region.set_nat_mishaps(parse(body)?)),
        _ => clusters::of_region(region, method, path, body),
    }
}

fn create_volume(region: &RegionHandle, new: NewVolume) -> ControlResult {
    if let Some(id) = new.instance.as_ref().filter(|id| region.instance(id).is_none()) {
        return Err(ControlError::Bad(format!("There is no instance {id}.")));
    }
    if new.delete_on_termination && new.instance.is_none() {
        return Err(ControlError::Bad("delete_on_termination needs an instance.".to_owned()));
    }
    let attached = new.instance.map(|id| (id.to_string(), new.delete_on_termination));
    created_id(region.put_volume(WorkloadVolume { size_gib: new.size_gib, attached, tags: new.tags }))
}

/// The response with the id of a new part.
fn created_id<T: Serialize>(result: AwsResult<T>) -> ControlResult {
    result.map(|id| json!({ "id": id })).map_err(|error| ControlError::Bad(error.to_string()))
}
