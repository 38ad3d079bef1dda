//! The control API for networks.

use super::clusters;
use super::outcome::{Outcome, Refusal, done, parse, value_of};
use crate::core::error::AwsResult;
use crate::simulator::RegionHandle;
use http::Method;
use serde::Serialize;
use serde_json::json;

pub(super) fn of_region(region: &RegionHandle, method: &Method, path: &[&str], body: &[u8]) -> Outcome {
    match (method.as_str(), path) {
        ("GET", ["network"]) => Ok(region.network()),
        ("DELETE", ["network"]) => done(region.empty_network()),
        ("DELETE", ["network", id]) => done(region.delete_behind_back(id)),
        ("POST", ["network-interfaces"]) => created_id(region.put_stranger_interface(parse(body)?)),
        ("POST", ["load-balancers"]) => created_id(region.put_load_balancer(parse(body)?)),
        ("GET", ["nat-faults"]) => value_of(region.nat_mishaps()),
        ("PUT", ["nat-faults"]) => done(region.set_nat_mishaps(parse(body)?)),
        _ => clusters::of_region(region, method, path, body),
    }
}

/// The answer with the id of a new part.
fn created_id<T: Serialize>(result: AwsResult<T>) -> Outcome {
    result.map(|id| json!({ "id": id })).map_err(|error| Refusal::Bad(error.to_string()))
}
