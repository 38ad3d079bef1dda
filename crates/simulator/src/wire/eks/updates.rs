//! Updates of clusters and add-ons.

use super::requests::{Encrypt, UpdateConfig, UpdateVersion, minor};
use super::{page, render};
use crate::core::eks::cluster::Cluster;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::request::call::Call;
use serde_json::Value;

pub(super) fn config(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let (name, request) = (call.path("name"), call.body::<UpdateConfig>()?);
    let token = request.client_request_token.clone();
    let update = |cluster: &Cluster| request.clone().update(cluster);
    region
        .update_cluster_config(name, &request, update, token.as_deref())
        .map(|update| render::update(&update))
}

pub(super) fn version(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let UpdateVersion { version, force, client_request_token: token } = call.body()?;
    let (name, version, force) = (call.path("name"), minor(&version)?, force == Some(true));
    region
        .update_cluster_version(name, version, force, token.as_deref())
        .map(|update| render::update(&update))
}

pub(super) fn encryption(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let request: Encrypt = call.body()?;
    let token = request.client_request_token.clone();
    let key = request.key()?;
    region
        .associate_encryption(call.path("name"), &key, token.as_deref())
        .map(|update| render::update(&update))
}

/// Newest first is not promised: ids are in their own order.
pub(super) fn list(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let ids = region.updates_seen(call.path("name"), call.query("addonName"))?;
    page::of_names(call, "updateIds", ids)
}

pub(super) fn describe(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let update = region.update_seen(call.path("name"), call.path("updateId"), call.query("addonName"))?;
    Ok(render::update(update))
}

/// Only the node phase of clusters in Auto Mode can be cancelled (EKS API Reference, CancelUpdate), and there are none.
pub(super) fn cancel(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    region.update_seen(call.path("name"), call.path("updateId"), None)?;
    Err(AwsError::new("InvalidStateException", "The update cannot be cancelled in its current state."))
}
