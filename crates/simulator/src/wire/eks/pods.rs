//! Pod identity associations.

use super::requests::{CreatePodIdentity, UpdatePodIdentity};
use super::{page, render};
use crate::core::eks::identities::PodIdentity;
use crate::core::error::AwsResult;
use crate::core::region::Region;
use crate::request::call::Call;
use serde_json::{Value, json};

fn response_with(call: &Call<'_>, it: &PodIdentity) -> Value {
    json!({ "association": render::pod_identity(call.path("name"), it) })
}

pub(super) fn create(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let request: CreatePodIdentity = call.body()?;
    let token = request.client_request_token.clone();
    let (new, session) = request.parts();
    let cluster = call.path("name");
    let made = region.create_pod_identity(cluster, &new, &session, token.as_deref(), &call.principals)?;
    Ok(response_with(call, &made))
}

pub(super) fn list(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let cluster = region.cluster_seen(call.path("name"))?;
    let (namespace, account) = (call.query("namespace"), call.query("serviceAccount"));
    let wanted = |it: &&PodIdentity| {
        namespace.is_none_or(|wanted| wanted == it.namespace)
            && account.is_none_or(|wanted| wanted == it.service_account)
    };
    let found = cluster.pod_identities.values().filter(wanted);
    page::of(
        call,
        "associations",
        found,
        |it| it.id.clone(),
        |it| render::short_pod_identity(&cluster.name, it),
    )
}

pub(super) fn describe(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    region.pod_identity_seen(call.path("name"), call.path("associationId")).map(|it| response_with(call, it))
}

pub(super) fn update(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let (cluster, id) = (call.path("name"), call.path("associationId"));
    let request: UpdatePodIdentity = call.body()?;
    let (role, session) = (request.role_arn.as_deref(), request.session());
    let changed = region.update_pod_identity(cluster, id, role, &session, &call.principals)?;
    Ok(response_with(call, &changed))
}

pub(super) fn delete(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    region
        .delete_pod_identity(call.path("name"), call.path("associationId"))
        .map(|it| response_with(call, &it))
}
