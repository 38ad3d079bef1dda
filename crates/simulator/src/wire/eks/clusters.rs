//! Clusters.

use super::requests::CreateCluster;
use super::{page, render};
use crate::core::error::AwsResult;
use crate::core::region::Region;
use crate::request::call::Call;
use serde_json::{Value, json};

pub(super) fn create(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let request: CreateCluster = call.body()?;
    let (name, token) = (request.name.clone(), request.client_request_token.clone());
    let new = request.cluster()?;
    let cluster = region.create_cluster(&name, &new, token.as_deref(), call.caller, &call.principals)?;
    Ok(json!({ "cluster": render::cluster(region, &cluster) }))
}

pub(super) fn list(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    page::of_names(call, "clusters", region.cluster_names())
}

pub(super) fn describe(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let cluster = region.cluster_seen(call.path("name"))?;
    Ok(json!({ "cluster": render::cluster(region, cluster) }))
}

pub(super) fn delete(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let cluster = region.delete_cluster(call.path("name"))?;
    Ok(json!({ "cluster": render::cluster(region, &cluster) }))
}

/// Managed node groups are not simulated: no cluster has any.
pub(super) fn no_node_groups(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    region.cluster_seen(call.path("name")).map(|_| json!({ "nodegroups": [] }))
}

/// Neither are Fargate profiles.
pub(super) fn no_fargate_profiles(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    region.cluster_seen(call.path("name")).map(|_| json!({ "fargateProfileNames": [] }))
}
